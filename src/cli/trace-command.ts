/**
 * `ringbook trace`: watches a node that was started with RINGBOOK_TRACE=1 for some seconds, and prints why its late
 * answers were late, and the pauses of its threads (docs/latency.md).
 */
import { OperatorClient } from '../client/operator.ts';
import { HOP } from '../core/hops.ts';
import { PAUSE } from '../runtime/trace-log.ts';
import {
  ADDRESS_OPTIONS,
  CliError,
  type Command,
  checkAddress,
  EXIT,
  operatorToken,
  parseOptions,
  TOKEN_HELP,
  usageError,
} from './command.ts';
import { textTable } from './table.ts';
import { CAUSES, type CauseRow, explainTail, type LatencyTail } from './tail-causes.ts';
import { decodeEntries, type Path, pathsOf, type ThreadTrace, type TraceEntry } from './tail-paths.ts';

/** A thread keeps 65,536 records: some 8,000 actions of the gateway's. */
const READ_EVERY_MS = 200;
const SECONDS_MAX = 600;
const TAIL_FRACTION = 0.99;

export interface Recording {
  readonly threads: readonly ThreadTrace[];
  /** Records that were overwritten before they were read. */
  readonly lost: number;
}

/** Records that the threads write from now on, until `isOver` returns true. */
export async function recordTrace(operator: OperatorClient, isOver: () => boolean): Promise<Recording> {
  const entries = new Map<string, TraceEntry[]>();
  let lost = 0;
  let { next } = await operator.trace(null);
  for (let isLast = false; !isLast; ) {
    await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
    isLast = isOver();
    const reply = await operator.trace(next);
    next = reply.next;
    for (const part of reply.threads) {
      lost += part.lost;
      const known = entries.get(part.thread) ?? [];
      for (const entry of decodeEntries(part.records)) known.push(entry);
      entries.set(part.thread, known);
    }
  }
  return { threads: [...entries].map(([thread, own]) => ({ thread, entries: own })), lost };
}

/** The nearest rank of ascending values; 0 of none. */
export function rankOf(ascending: readonly number[], fraction: number): number {
  return ascending[Math.max(0, Math.ceil(fraction * ascending.length) - 1)] ?? 0;
}

/** The time that every answer took, ascending. */
export function answerTimes(paths: readonly Path[]): readonly number[] {
  return paths.map(({ tookUs }) => tookUs).sort((a, b) => a - b);
}

function ms(us: number): string {
  return (us / 1_000).toFixed(us < 10_000 ? 2 : 1);
}

const HOP_NAMES: ReadonlyMap<number | string, string> = new Map<number | string, string>([
  ['arrived', 'arrived'],
  ...Object.entries(HOP).map(([name, hop]): [number, string] => [hop, name]),
]);

/** The hops with their milliseconds since the first. */
function pathLine({ steps, beganUs }: Path): string {
  return steps.map(({ hop, atUs }) => `${HOP_NAMES.get(hop)} ${ms(atUs - beganUs)}`).join(', ');
}

function exampleOf({ cause, worst }: CauseRow): string {
  return worst === null ? '' : `${cause}: ${ms(worst.path.tookUs)} ms\n  ${pathLine(worst.path)}\n`;
}

export function causeTable({ late, boundUs, causes }: LatencyTail): string {
  const rows = causes.map(({ cause, answers, share, worst }) => [
    cause,
    String(answers),
    `${(share * 100).toFixed(1)} %`,
    worst === null ? '-' : ms(worst.path.tookUs),
    CAUSES[cause],
  ]);
  const titles = ['cause', 'answers', 'time', 'worst, ms', ''];
  const head = `${late} answers took ${ms(boundUs)} ms or more\n`;
  return head + textTable([titles, ...rows], new Set([1, 2, 3]));
}

const PAUSES: readonly (readonly [number, string])[] = [
  [PAUSE.runQueue, 'run queue'],
  [PAUSE.collector, 'collector'],
  [PAUSE.ringFull, 'ring full'],
  [HOP.flushed, 'flush'],
  [HOP.confirmed, 'batch of clearing'],
  [HOP.checkpoint, 'checkpoint'],
];

/** What interrupted each thread, or kept clearing busy: count, milliseconds of all, median, 99th percentile, longest. */
export function pauseTable(threads: readonly ThreadTrace[]): string {
  const rows = threads.flatMap(({ thread, entries }) =>
    PAUSES.flatMap(([code, name]) => {
      const times = entries.filter((entry) => entry.code === code).map(({ value }) => value);
      if (times.length === 0) return [];
      times.sort((a, b) => a - b);
      const total = times.reduce((sum, us) => sum + us, 0);
      return [
        [
          thread,
          name,
          String(times.length),
          ...[total, rankOf(times, 0.5), rankOf(times, 0.99)].map(ms),
          ms(times.at(-1) ?? 0),
        ],
      ];
    }),
  );
  if (rows.length === 0) return '';
  return textTable([['thread', 'pause', 'count', 'ms', 'p50', 'p99', 'longest'], ...rows], new Set([2, 3, 4, 5, 6]));
}

/** The whole report. @param boundUs null: the 99th percentile. */
export function traceReport({ threads, lost }: Recording, boundUs: number | null): string {
  const paths = pathsOf(threads);
  const times = answerTimes(paths);
  if (times.length === 0) return 'no action was answered meanwhile\n';
  const [p50, p90, p99, p999] = [0.5, 0.9, TAIL_FRACTION, 0.999].map((fraction) => ms(rankOf(times, fraction)));
  const tail = explainTail(threads, paths, boundUs ?? rankOf(times, TAIL_FRACTION));
  return [
    `${times.length} answers, in the node: p50 ${p50}, p90 ${p90}, p99 ${p99}, p99.9 ${p999}, longest ${ms(times.at(-1) ?? 0)} ms\n`,
    lost === 0 ? '' : `${lost} records were overwritten before they were read\n`,
    `\n${causeTable(tail)}\n`,
    tail.causes.map(exampleOf).join(''),
    `\n${pauseTable(threads)}`,
  ].join('');
}

export const traceCommand: Command = {
  name: 'trace',
  summary: 'show why late answers of a traced node were late',
  help: `usage: ringbook trace [options]

Watches a node that was started with RINGBOOK_TRACE=1, then prints how long its single creates, replaces and cancels took from
the socket to the answer, the causes of the late ones with the worst example of each, and the pauses of every thread.

  --seconds N        how long it watches, at most ${SECONDS_MAX}  (default 10)
  --above MS         answers that took so many milliseconds or more are late  (default: the 99th percentile)
  --ops URL          operator API           (default http://127.0.0.1:9464)
${TOKEN_HELP}

example:
  ringbook trace --seconds 30 --above 5
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, {
      ops: ADDRESS_OPTIONS.ops,
      seconds: { type: 'string', default: '10' },
      above: { type: 'string' },
    });
    if (positionals.length > 0) throw usageError('trace takes options only');
    const seconds = numberOf(values.seconds, '--seconds');
    if (seconds > SECONDS_MAX) throw usageError(`--seconds is at most ${SECONDS_MAX}`);
    const boundUs = values.above === undefined ? null : numberOf(values.above, '--above') * 1_000;
    const token = operatorToken();
    const operator = new OperatorClient(checkAddress(values.ops, 'ops'), token);
    try {
      const endMs = performance.now() + seconds * 1_000;
      const recording = await recordTrace(operator, () => performance.now() >= endMs);
      if (recording.threads.length === 0) throw new CliError(EXIT.fault, 'the node has no threads');
      process.stdout.write(traceReport(recording, boundUs));
    } finally {
      operator.close();
    }
    return EXIT.done;
  },
};

/** A number above zero. @throws CliError 64. */
function numberOf(text: string, name: string): number {
  if (!/^[0-9]{1,6}(?:\.[0-9]{1,3})?$/.test(text) || Number(text) === 0)
    throw usageError(`${name} takes a number above zero, not "${text}"`);
  return Number(text);
}
