/** `ringbook replay-flow`: the command around replay-flow.ts: files, progress, summary. */
import { readFileSync } from 'node:fs';
import { type Options, Presets, SingleBar } from 'cli-progress';
import { withoutByteOrderMark } from '../core/byte-order-mark.ts';
import { parseAssetId } from '../core/ids.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  CliError,
  type Command,
  checkAddress,
  EXIT,
  operatorToken,
  parseOptions,
  positiveInteger,
  TOKEN_HELP,
  usageError,
} from './command.ts';
import { type FlowBookRow, type FlowEvent, parseBook, parseFlow } from './flow-format.ts';
import { ReplayDifference, type ReplayPace, type ReplayReport, replayFlow } from './replay-flow.ts';
import { syntheticFlow } from './synthetic-flow.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  verify: { type: 'string' },
  synthetic: { type: 'string' },
  events: { type: 'string', default: '1000' },
  market: { type: 'string' },
  paced: { type: 'boolean', default: false },
  speed: { type: 'string', default: '1' },
  rate: { type: 'string' },
  window: { type: 'string', default: '64' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

interface Source {
  readonly events: readonly FlowEvent[];
  readonly book: readonly FlowBookRow[] | null;
}

function sourceOf(positionals: readonly string[], values: Values): Source {
  if (values.synthetic !== undefined) {
    if (positionals.length > 0) throw usageError('give a FILE or --synthetic SEED, not both');
    const seed = values.synthetic === '0' ? 0 : positiveInteger(values.synthetic, '--synthetic');
    if (seed > 0xffff_ffff) throw usageError('--synthetic takes a seed below 2^32');
    return syntheticFlow(seed, positiveInteger(values.events, '--events'));
  }
  const [path] = positionals;
  if (path === undefined || positionals.length !== 1) {
    throw usageError('which flow? ringbook replay-flow FILE, or ringbook replay-flow --synthetic 7');
  }
  const book = values.verify === undefined ? null : parseBook(textOf(values.verify));
  return { events: parseFlow(textOf(path)), book };
}

function textOf(path: string): string {
  try {
    return Buffer.from(withoutByteOrderMark(readFileSync(path))).toString('utf8');
  } catch {
    throw usageError(`${path} cannot be read`);
  }
}

function paceOf(values: Values): ReplayPace {
  if (values.rate !== undefined) return { kind: 'rate', perSecond: positiveInteger(values.rate, '--rate') };
  return values.paced ? { kind: 'recorded', speed: positiveInteger(values.speed, '--speed') } : { kind: 'fast' };
}

interface Progress {
  step(done: number): void;
  stop(): void;
}

/** A bar on a terminal; otherwise a line per tenth. Both on standard error. */
function progressOf(total: number): Progress {
  if (process.stderr.isTTY) {
    const options: Options = { format: '{bar} {percentage}%  {value}/{total} events  {duration_formatted}' };
    const bar = new SingleBar({ ...options, stream: process.stderr }, Presets.shades_classic);
    bar.start(total, 0);
    return { step: (done) => bar.update(done), stop: () => bar.stop() };
  }
  let tenths = 0;
  return {
    step(done) {
      if (Math.floor((10 * done) / total) === tenths) return;
      tenths = Math.floor((10 * done) / total);
      process.stderr.write(`${done} of ${total} events\n`);
    },
    stop() {},
  };
}

export function summaryOf(report: ReplayReport): string {
  const seconds = report.elapsedMs / 1_000;
  const at = (percentile: number): string => `${report.latency.getValueAtPercentile(percentile)}`;
  const lines = [
    ['market', report.assetId],
    ['events', `${report.events} in ${seconds.toFixed(3)} s, ${Math.round(report.events / seconds)} a second`],
    ['traded', `${report.tradedQuantity} for ${report.tradedNotional} USD, confirmed`],
    ['expected', `${report.expectedQuantity} for ${report.expectedNotional} USD`],
    ['answers, µs', `p50 ${at(50)}  p90 ${at(90)}  p99 ${at(99)}  p99.9 ${at(99.9)}  max ${report.latency.maxValue}`],
    ['rejects', String(report.rejects.length)],
  ];
  if (report.comparedRows > 0) lines.push(['compared', `${report.comparedRows} books of ten levels, all the same`]);
  const table = lines.map(([label = '', text]) => `${label.padEnd(12)}  ${text}\n`).join('');
  return table + report.rejects.map((line) => `  ${line}\n`).join('');
}

export const replayFlowCommand: Command = {
  name: 'replay-flow',
  summary: 'send a recorded order flow through a running node',
  help: `usage: ringbook replay-flow FILE [--verify BOOK.csv] [options]
       ringbook replay-flow --synthetic SEED [--events N] [options]

Makes a market and two users through the operator API (dev and test profiles), sends the flow as signed orders over
/control, and ends with a summary. With a book it compares the node's ten best levels after every event and stops at
the first difference; a synthetic flow brings its own book.

  --verify BOOK.csv  recorded book to compare with
  --synthetic SEED   make a flow from a seed instead of reading one
  --events N         its length             (default 1000)
  --market ID        asset to use           (default: the first unused one from 1000)
  --paced            at the recorded times; --speed N makes them N times as fast
  --rate N           N events a second
  --window N         actions in flight      (default 64)
${ADDRESS_HELP}
${TOKEN_HELP}

example:
  ringbook replay-flow --synthetic 7 --events 2000
  ringbook replay-flow aapl-flow.csv --verify aapl-book.csv
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const { events, book } = sourceOf(positionals, values);
    const assetId = values.market === undefined ? null : parseAssetId(values.market);
    if (values.market !== undefined && assetId === null) throw usageError(`"${values.market}" is no asset id`);
    const progress = progressOf(events.length);
    try {
      const report = await replayFlow({
        oms: checkAddress(values.oms, 'oms'),
        mds: checkAddress(values.mds, 'mds'),
        ops: checkAddress(values.ops, 'ops'),
        operatorToken: operatorToken(),
        events,
        book,
        ...(assetId === null ? {} : { assetId }),
        pace: paceOf(values),
        window: positiveInteger(values.window, '--window'),
        onProgress: progress.step,
      });
      progress.stop();
      process.stdout.write(summaryOf(report));
      return report.rejects.length === 0 ? EXIT.done : EXIT.fault;
    } catch (error) {
      progress.stop();
      if (error instanceof ReplayDifference) throw new CliError(EXIT.fault, error.message);
      throw error;
    }
  },
};
