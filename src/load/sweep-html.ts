/**
 * A measurement as one HTML file without scripts and without anything from elsewhere: tables, percentile curves, latency by
 * rate, and a heat map over time for each step, as inline SVG.
 */
import { bandBeginUs } from './latencies.ts';
import type { HeatMap, Latency, LoadResult } from './plan.ts';
import type { SweepReport, SweepStep } from './sweep.ts';
import { latenciesOf, rejectedCount, sweepFaults } from './sweep-text.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #d0d7de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #30363d; } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; } h3 { font-size: 1rem; margin-bottom: .2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--faint); } th:first-child, td:first-child { text-align: left; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 11px; } .axis { stroke: var(--faint); } .fault { color: #cf222e; }
`;
const COLOURS = ['#0969da', '#1a7f37', '#bf8700', '#cf222e', '#8250df', '#1b7c83', '#bc4c00', '#6e7781'];
const WIDTH = 860;
const HEIGHT = 320;
const LEFT = 64;
const BOTTOM = 28;
const TOP = 8;
/** Half of the last label of an axis. */
const RIGHT = 24;
/** 99.999 %: five nines of the logarithmic axis. */
const NINES_MAX = 5;

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** @param us microseconds. */
function timeText(us: number): string {
  if (us >= 1e6) return `${(us / 1e6).toPrecision(3)} s`;
  return us >= 1_000 ? `${(us / 1_000).toPrecision(3)} ms` : `${Math.round(us)} µs`;
}

/** Values of a logarithmic axis: a pixel position of each. */
class LogAxis {
  readonly #from: number;
  readonly #span: number;
  readonly #pixels: number;

  constructor(values: readonly number[], pixels: number) {
    const positive = values.filter((value) => value > 0).map(Math.log10);
    this.#from = Math.floor(Math.min(...positive, 6));
    this.#span = Math.max(1, Math.ceil(Math.max(...positive, this.#from + 1)) - this.#from);
    this.#pixels = pixels;
  }

  at(value: number): number {
    return ((Math.log10(Math.max(value, 10 ** this.#from)) - this.#from) / this.#span) * this.#pixels;
  }

  /** Powers of ten. */
  get ticks(): readonly number[] {
    return Array.from({ length: this.#span + 1 }, (_, index) => 10 ** (this.#from + index));
  }
}

interface Line {
  readonly label: string;
  readonly points: readonly (readonly [x: number, us: number])[];
}

/** @param ticks of the x axis: position 0 … 1 and label. */
function chart(lines: readonly Line[], ticks: readonly (readonly [number, string])[]): string {
  const axis = new LogAxis(
    lines.flatMap(({ points }) => points.map(([, us]) => us)),
    HEIGHT,
  );
  const x = (share: number): number => LEFT + share * (WIDTH - LEFT - 8);
  const y = (us: number): number => TOP + HEIGHT - axis.at(us);
  const bottom = TOP + HEIGHT;
  const grid = [
    ...axis.ticks.map(
      (us) =>
        `<line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${y(us)}" y2="${y(us)}"/>` +
        `<text x="${LEFT - 6}" y="${y(us) + 4}" text-anchor="end">${timeText(us)}</text>`,
    ),
    ...ticks.map(
      ([share, text]) =>
        `<line class="axis" x1="${x(share)}" x2="${x(share)}" y1="${TOP}" y2="${bottom}"/>` +
        `<text x="${x(share)}" y="${bottom + 16}" text-anchor="middle">${escapeHtml(text)}</text>`,
    ),
  ];
  const drawn = lines.map(({ label, points }, index) => {
    const colour = COLOURS[index % COLOURS.length];
    const path = points.map(([share, us]) => `${x(share).toFixed(1)},${y(us).toFixed(1)}`).join(' ');
    const key = `<text x="${LEFT + 10}" y="${TOP + 14 * (index + 1)}" style="fill:${colour}">${escapeHtml(label)}</text>`;
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${path}"><title>${escapeHtml(label)}</title></polyline>${key}`;
  });
  return `<svg viewBox="0 0 ${WIDTH + RIGHT} ${bottom + BOTTOM}" role="img">${grid.join('')}${drawn.join('')}</svg>`;
}

/** Position of a percentile on an axis of nines: 90 % at one, 99 % at two. */
function ninesShare(percentile: number): number {
  return percentile >= 100 ? 1 : Math.min(1, -Math.log10(1 - percentile / 100) / NINES_MAX);
}

const NINES: readonly (readonly [number, string])[] = ['0', '90', '99', '99.9', '99.99', '99.999'].map(
  (text, index) => [index / NINES_MAX, `${text} %`] as const,
);

function percentileChart(measured: readonly (readonly [string, Latency])[]): string {
  const lines = measured.map(([label, { curve }]) => ({
    label,
    points: curve.map(([percentile, us]) => [ninesShare(percentile), us] as const),
  }));
  return chart(lines, NINES);
}

/** Latency against the offered rate, on logarithmic axes. */
function rateChart(steps: readonly SweepStep[]): string {
  const measured = steps.flatMap(({ perSecond, result }) => {
    const create = result?.latencies.create;
    return perSecond === null || create === undefined ? [] : [{ perSecond, create }];
  });
  if (measured.length < 2) return '';
  const from = Math.log10(measured[0]?.perSecond ?? 1);
  const span = Math.log10(measured.at(-1)?.perSecond ?? 10) - from;
  const share = (perSecond: number): number => (span === 0 ? 0 : (Math.log10(perSecond) - from) / span);
  const lines = (['p50', 'p99', 'p999'] as const).map((member) => ({
    label: member === 'p999' ? 'p99.9' : member,
    points: measured.map(({ perSecond, create }) => [share(perSecond), create[member]] as const),
  }));
  return `<h2>Latency by offered rate</h2>${chart(
    lines,
    measured.map(({ perSecond }) => [share(perSecond), `${perSecond}/s`]),
  )}`;
}

function heatChart({ columns, columnMs, from }: HeatMap): string {
  const bands = Math.max(1, ...columns.map((column) => column.length));
  const most = Math.max(1, ...columns.flat());
  const cell = { width: (WIDTH - LEFT) / Math.max(1, columns.length), height: Math.min(12, HEIGHT / bands) };
  const height = TOP + bands * cell.height;
  const y = (index: number): number => height - (index + 1) * cell.height;
  const cells = columns.flatMap((column, at) =>
    column.flatMap((count, index) => {
      if (count === 0) return [];
      const opacity = (0.15 + (0.85 * Math.log1p(count)) / Math.log1p(most)).toFixed(2);
      const text = `${((at * columnMs) / 1_000).toFixed(2)} s, from ${timeText(bandBeginUs(from + index))}: ${count}`;
      const place = `x="${(LEFT + at * cell.width).toFixed(1)}" y="${y(index).toFixed(1)}"`;
      const size = `width="${cell.width.toFixed(1)}" height="${cell.height.toFixed(1)}"`;
      return [`<rect ${place} ${size} fill="#cf222e" fill-opacity="${opacity}"><title>${text}</title></rect>`];
    }),
  );
  const labels = Array.from({ length: Math.ceil(bands / 4) }, (_, each) => each * 4).map(
    (index) =>
      `<text x="${LEFT - 6}" y="${(y(index) + cell.height).toFixed(1)}" text-anchor="end">${timeText(bandBeginUs(from + index))}</text>`,
  );
  const seconds = `<text x="${WIDTH}" y="${height + 16}" text-anchor="end">${((columns.length * columnMs) / 1_000).toFixed(1)} s</text>`;
  const zero = `<text x="${LEFT}" y="${height + 16}">0 s</text>`;
  return `<svg viewBox="0 0 ${WIDTH} ${height + BOTTOM}" role="img">${labels.join('')}${cells.join('')}${zero}${seconds}</svg>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (tag: 'th' | 'td', texts: readonly string[]): string =>
    `<tr>${texts.map((text) => `<${tag}>${escapeHtml(text)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table>${line('th', head)}${rows.map((row) => line('td', row)).join('')}</table></div>`;
}

function summary(steps: readonly SweepStep[]): string {
  const head = ['step', 'received/s', 'p50', 'p99', 'p99.9', 'max', 'rejected', 'unanswered', 'CPU/order'];
  const rows = steps.map(({ label, result }) => {
    const create = result?.latencies.create;
    if (result === null) return [label, ...head.slice(1).map(() => '–')];
    const latency =
      create === undefined ? ['–', '–', '–', '–'] : [create.p50, create.p99, create.p999, create.max].map(timeText);
    const cpu = result.cpu === null ? '–' : timeText(result.cpu.total);
    return [
      label,
      String(Math.round(result.perSecond)),
      ...latency,
      String(rejectedCount(result)),
      String(result.unanswered),
      cpu,
    ];
  });
  return table(head, rows);
}

function details(result: LoadResult): string {
  const head = ['', 'count', 'p50', 'p90', 'p99', 'p99.9', 'p99.99', 'max'];
  const rows = latenciesOf(result).map(([name, { count, p50, p90, p99, p999, p9999, max }]) => [
    name,
    String(count),
    ...[p50, p90, p99, p999, p9999, max].map(timeText),
  ]);
  return table(head, rows);
}

function stepSection({ label, perSecond, result, fault }: SweepStep): string {
  const title = `<h2>${escapeHtml(label)}</h2>`;
  if (result === null) return `${title}<p class="fault">No figures: ${escapeHtml(fault ?? '')}</p>`;
  const timed = latenciesOf(result).filter(([, { count }]) => count > 0);
  const heat =
    perSecond === null || result.heat.columns.length === 0
      ? ''
      : `<h3>Creates over time: latency by the time at which they were due</h3>${heatChart(result.heat)}`;
  return `${title}${details(result)}<h3>Percentiles</h3>${percentileChart(timed)}${heat}`;
}

export function sweepHtml(report: SweepReport): string {
  const { target, commit, date, machine, load, loadAfter, steps } = report;
  const first = steps.find(({ perSecond }) => perSecond !== null)?.flow;
  const swept = steps.filter(({ flow, perSecond }) => flow === first && perSecond !== null);
  const creates = swept.flatMap(({ label, result }) => {
    const create = result?.latencies.create;
    return create === undefined ? [] : [[label, create] as const];
  });
  const circumstances = [
    ['node', `${target.oms}, version ${target.version ?? 'unknown'}, commit ${target.commit ?? 'unknown'}`],
    ['generator', `commit ${commit}, ${date}`],
    [
      'machine',
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryMiB} MiB, ${machine.os}, Node.js ${machine.node}`,
    ],
    ['load averages', `${load.join(' ')} before, ${loadAfter.join(' ')} after`],
  ] as const;
  const faults = sweepFaults(report).map((fault) => `<p class="fault">${escapeHtml(fault)}</p>`);
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>ringbook bench control, ${escapeHtml(date)}</title><style>${STYLE}</style></head>
<body>
<h1>ringbook bench control</h1>
${table(['', ''], circumstances)}
<p>Latencies count from the time at which a message was due. The generator's own delay is part of them and has a row of its own.</p>
${faults.join('\n')}
${summary(steps)}
${creates.length === 0 ? '' : `<h2>Percentiles of creates, by rate</h2>${percentileChart(creates)}`}
${rateChart(swept)}
${steps.map(stepSection).join('\n')}
</body>
</html>
`;
}
