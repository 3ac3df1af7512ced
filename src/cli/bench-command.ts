/** `ringbook bench`: measures `/control` of a running node, compares measurements, and draws one as HTML. */
import { accessSync, constants, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { withoutByteOrderMark } from '../core/byte-order-mark.ts';
import { parseAssetId } from '../core/ids.ts';
import { comparison, type Measurement, parseMeasurement } from '../load/figures.ts';
import { FLOWS, type Flow } from '../load/plan.ts';
import {
  checkSize,
  type OwnUsers,
  RATE_MAX,
  SECONDS_MAX,
  type SweepOptions,
  SweepSetupError,
  sweep,
} from '../load/sweep.ts';
import { sweepHtml } from '../load/sweep-html.ts';
import { rowsOf, sweepFaults, sweepText } from '../load/sweep-text.ts';
import { cpuTimes } from '../load/thread-cpu.ts';
import {
  ADDRESS_OPTIONS,
  CliError,
  type Command,
  checkAddress,
  EXIT,
  type ExitCode,
  operatorToken,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';

const OPTIONS = {
  target: ADDRESS_OPTIONS.oms,
  mds: ADDRESS_OPTIONS.mds,
  ops: ADDRESS_OPTIONS.ops,
  key: { type: 'string', multiple: true },
  market: { type: 'string' },
  price: { type: 'string' },
  account: { type: 'string' },
  rates: { type: 'string' },
  seconds: { type: 'string', default: '5' },
  flows: { type: 'string' },
  bare: { type: 'boolean', default: false },
  pid: { type: 'string' },
  json: { type: 'string' },
  html: { type: 'string' },
  compare: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

const ACCOUNT_MAX = 255;
/** Between two lines of progress where they cannot replace each other. */
const PROGRESS_MS = 5_000;

function ratesOf(text: string | undefined): readonly number[] | null {
  if (text === undefined) return null;
  const rates = text.split(',').map((each) => positiveInteger(each, '--rates'));
  const isAscending = rates.every((rate, index) => rate > (rates[index - 1] ?? 0));
  if (!isAscending || (rates.at(-1) ?? 0) > RATE_MAX) {
    throw usageError(`--rates takes orders a second in ascending order, up to ${RATE_MAX}: --rates 1000,3000`);
  }
  return rates;
}

function flowsOf(text: string | undefined, isOwn: boolean): readonly Flow[] {
  if (text === undefined) return FLOWS.filter((flow) => !isOwn || flow !== 'margin');
  return text.split(',').map((word) => {
    const flow = FLOWS.find((each) => each === word);
    if (flow === undefined) throw usageError(`--flows takes ${FLOWS.join(', ')}, not "${word}"`);
    return flow;
  });
}

function ownUsersOf({ key = [], market, price, account, rates }: Values): OwnUsers | null {
  const [seller, buyer, ...more] = key;
  if (seller === undefined) {
    if (market !== undefined || price !== undefined || account !== undefined) {
      throw usageError('--market, --price and --account go with two users of your own: --key SELLER --key BUYER');
    }
    return null;
  }
  if (buyer === undefined || more.length > 0) throw usageError('two users trade: --key SELLER --key BUYER');
  if (market === undefined || price === undefined || rates === undefined)
    throw usageError('--key needs --market ID and --price PRICE, and --rates LIST within the budgets of both users');
  const assetId = parseAssetId(market);
  if (assetId === null) throw usageError(`"${market}" is no asset id`);
  const number = account === undefined || account === '0' ? 0 : positiveInteger(account, '--account');
  if (number > ACCOUNT_MAX) throw usageError(`--account is 0 to ${ACCOUNT_MAX}`);
  return { keyFiles: [seller, buyer], assetId, price, account: number };
}

/** Lines on standard error; on a terminal the progress of a step is one line that changes. */
function progress(): Pick<SweepOptions, 'onStep' | 'onProgress'> & { end(): void } {
  const { isTTY } = process.stderr;
  const clear = isTTY ? '\r\u001b[K' : '';
  let lastMs = performance.now();
  return {
    onStep: (text) => void process.stderr.write(`${clear}${text}\n`),
    onProgress(text) {
      if (!isTTY && performance.now() - lastMs < PROGRESS_MS) return;
      lastMs = performance.now();
      process.stderr.write(isTTY ? `${clear}  ${text}` : `  ${text}\n`);
    },
    end: () => void process.stderr.write(clear),
  };
}

function optionsOf(values: Values): Omit<SweepOptions, 'onStep' | 'onProgress'> {
  const own = ownUsersOf(values);
  const rates = ratesOf(values.rates);
  const seconds = positiveInteger(values.seconds, '--seconds');
  if (seconds > SECONDS_MAX) throw usageError(`--seconds is 1 to ${SECONDS_MAX}`);
  try {
    checkSize(rates ?? [], seconds);
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
  return {
    oms: checkAddress(values.target, 'target'),
    mds: checkAddress(values.mds, 'mds'),
    ops: checkAddress(values.ops, 'ops'),
    operatorToken: operatorToken(),
    own,
    flows: flowsOf(values.flows, own !== null),
    rates,
    seconds,
    isBare: values.bare,
    pid: pidOf(values.pid),
  };
}

/** @throws CliError 64 for a file that could not be written after the measurement. */
function checkWritable(path: string | undefined): void {
  if (path === undefined) return;
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    throw usageError(`${path} cannot be written: its folder is missing or not writable`);
  }
}

/** @throws CliError 64 for a process whose threads cannot be read. */
function pidOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const pid = positiveInteger(text, '--pid');
  if (cpuTimes(pid) === null)
    throw usageError(`--pid: there is no process ${pid} on this machine whose threads can be read`);
  return pid;
}

async function measure(values: Values): Promise<ExitCode> {
  checkWritable(values.json);
  checkWritable(values.html);
  const { end, ...listeners } = progress();
  const report = await sweep({ ...optionsOf(values), ...listeners }).catch((error: unknown) => {
    if (error instanceof SweepSetupError) throw new CliError(EXIT.fault, error.message);
    throw error;
  });
  end();
  process.stdout.write(sweepText(report));
  if (values.json !== undefined) {
    writeFileSync(values.json, `${JSON.stringify({ ...report, rows: rowsOf(report) }, null, 1)}\n`);
  }
  if (values.html !== undefined) writeFileSync(values.html, sweepHtml(report));
  const faults = sweepFaults(report);
  for (const fault of faults) process.stderr.write(`ringbook: ${fault}\n`);
  return faults.length === 0 ? EXIT.done : EXIT.fault;
}

function measurementOf(path: string): Measurement {
  let text = '';
  try {
    text = Buffer.from(withoutByteOrderMark(readFileSync(path))).toString('utf8');
  } catch {
    throw usageError(`${path} cannot be read`);
  }
  const measurement = parseMeasurement(text);
  if (measurement === null)
    throw usageError(`${path} is no measurement: it was not written by --json or "npm run bench"`);
  return measurement;
}

export const benchCommand: Command = {
  name: 'bench',
  summary: 'measure /control of a running node, step by step past its saturation',
  help: `usage: ringbook bench control [--target URL] [options]
       ringbook bench --compare A.json B.json

Sends signed orders over /control at a steady rate, in steps, and prints how long they took from the time at which each was due:
to Received, to fills Pending and Confirmed, to the depth update, hop by hop within the node. Before that, the rate that the node
reaches with 256 orders in flight; without --rates the steps are 10 % to 150 % of it. Batches, cancels, replaces and margin orders are measured at the
lowest rate. Nothing else should run on the machine. A step during which the generator itself was late has no figures, and the
exit code is 1.

  --target URL       order service          (default http://127.0.0.1:3032)
  --mds URL          market-data service    (default http://127.0.0.1:8011)
  --ops URL          operator API           (default http://127.0.0.1:9464)
  --rates LIST       orders a second, ascending, with commas
  --seconds N        of each step, after a warm-up of half of it  (default 5, at most ${SECONDS_MAX})
  --flows LIST       of ${FLOWS.join(', ')}: the first has every rate
  --bare             only replies: neither streams nor hop times, which cost the node something
  --pid N            process of a node on this machine: CPU time of its threads per order
  --json FILE        write everything, with commit, date, machine and load
  --html FILE        write one page with percentile curves and heat maps
  --compare          a table of two files of --json, with ratios

On a dev node a market, two users and their funds are made through the operator API, with the token in
RINGBOOK_OPERATOR_TOKEN or in the file RINGBOOK_OPERATOR_TOKEN_FILE (default: that of the dev profile), and budgets are lifted until the end. On any other node:

  --key SELLER --key BUYER   key files of two users with funds and without open orders in the market; what a step leaves is cancelled
  --market ID --price PRICE  where they trade: within the spread, so that no order of others trades
  --rates LIST               within the budgets of both users; the saturation is not measured
  --account N                sub-account of their spot orders   (default 0)

example:
  ringbook bench control --rates 1000,3000 --html report.html
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    if (values.compare) {
      const [before, after, ...more] = positionals;
      if (before === undefined || after === undefined || more.length > 0) throw usageError('--compare takes two files');
      process.stdout.write(comparison(measurementOf(before), measurementOf(after)));
      return EXIT.done;
    }
    if (positionals.length !== 1 || positionals[0] !== 'control')
      throw usageError('bench measures one thing: ringbook bench control');
    return measure(values);
  },
};
