/** The figures of a measurement as labelled rows, which can be compared, and as a table for a terminal. */
import type { Figure } from './figures.ts';
import type { Latency, LoadResult, Timed } from './plan.ts';
import type { SweepReport, SweepStep } from './sweep.ts';

const TIMED_LABELS: Readonly<Record<Timed, string>> = {
  create: 'create to Received',
  replace: 'replace to Received',
  cancel: 'cancel to Received',
  batch: 'batch to its last answer',
  pending: 'fill Pending',
  confirmed: 'fill Confirmed',
  depth: 'depth update',
  refused: 'refused',
};
const PERCENTILES = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
  ['max', 'max'],
] as const;
const WIDTH = 10;
const LABEL_WIDTH = 34;

/** Pairs of label and latency of a step, replies first, then hops, then the generator. */
export function latenciesOf(result: LoadResult): readonly (readonly [string, Latency])[] {
  const timed = (Object.keys(TIMED_LABELS) as Timed[]).flatMap((kind): [string, Latency][] => {
    const latency = result.latencies[kind];
    return latency === undefined ? [] : [[TIMED_LABELS[kind], latency]];
  });
  return [...timed, ...Object.entries(result.hops), ['generator late', result.lateness]];
}

export function rejectedCount({ rejections }: LoadResult): number {
  return Object.values(rejections).reduce((sum, count) => sum + count, 0);
}

function rowsOfStep({ label, result }: SweepStep): readonly Figure[] {
  if (result === null) return [];
  const latencies = latenciesOf(result).flatMap(([name, latency]) =>
    PERCENTILES.map(
      ([member, text]): Figure => ({ label: `${label}, ${name}, ${text}`, value: latency[member], unit: 'µs' }),
    ),
  );
  const counts: Figure[] = [
    { label: `${label}, received`, value: result.perSecond, unit: '/s' },
    { label: `${label}, rejected`, value: rejectedCount(result), unit: 'orders' },
    { label: `${label}, unanswered`, value: result.unanswered, unit: 'orders' },
  ];
  const { cpu } = result;
  return [
    ...latencies,
    ...counts,
    ...(cpu === null ? [] : [{ label: `${label}, CPU of all threads`, value: cpu.total, unit: 'µs/order' }]),
  ];
}

export function rowsOf({ steps }: SweepReport): readonly Figure[] {
  return steps.flatMap(rowsOfStep);
}

/** Why steps have no figures, one line each. */
export function sweepFaults({ steps }: SweepReport): readonly string[] {
  return steps.flatMap(({ label, fault }) => (fault === null ? [] : [`${label}: no figures, ${fault}`]));
}

function cells(texts: readonly string[]): string {
  return texts.map((text) => text.padStart(WIDTH)).join('');
}

function remarksOf({ unanswered, closed, firstRejection, cpu, ...result }: LoadResult): readonly string[] {
  const rejected = Object.entries(result.rejections).map(([code, count]) => `${count} ${code}`);
  return [
    `received ${Math.round(result.perSecond)}/s`,
    ...(rejected.length === 0 ? [] : [`rejected: ${rejected.join(', ')}`]),
    ...(unanswered === 0 ? [] : [`${unanswered} not answered${closed === null ? '' : `: ${closed}`}`]),
    ...(cpu === null ? [] : [`CPU ${cpu.total.toFixed(1)} µs/order`]),
    ...(result.ledger === null ? [] : [result.ledger]),
  ];
}

function stepText({ label, result, fault }: SweepStep): string {
  if (result === null) return `\n${label}\n  no figures: ${fault ?? ''}\n`;
  const rows = latenciesOf(result).map(([name, { count, ...latency }]) => {
    const figures = PERCENTILES.map(([member]) => String(latency[member]));
    return `  ${name.padEnd(LABEL_WIDTH)}${cells([String(count), ...figures])}\n`;
  });
  return `\n${label}: ${remarksOf(result).join('; ')}\n${rows.join('')}`;
}

/** All in microseconds. */
export function sweepText(report: SweepReport): string {
  const { target, commit, date, machine, load, loadAfter } = report;
  const head = [
    `${target.oms}  version ${target.version ?? 'unknown'}, commit ${target.commit ?? 'unknown'}; generator ${commit}`,
    `${date}  ${machine.cpu}, ${machine.cores} cores, Node.js ${machine.node}, load ${load[0]} before, ${loadAfter[0]} after`,
    '',
    `  ${'µs, from the time a message was due'.padEnd(LABEL_WIDTH)}${cells(['count', ...PERCENTILES.map(([, text]) => text)])}`,
  ];
  return `${head.join('\n')}\n${report.steps.map(stepText).join('')}`;
}
