/** Labelled figures: their table, and the comparison of two sets of them. */
import type { Circumstances } from './machine.ts';

export interface Figure {
  readonly label: string;
  readonly value: number;
  readonly unit: string;
}

/** What a measurement writes as JSON, at least. */
export interface Measurement extends Partial<Circumstances> {
  readonly name: string;
  readonly rows: readonly Figure[];
}

/** A figure in four significant digits or as a whole number. */
function figureText(value: number): string {
  const digits = Math.abs(value) >= 1_000 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function figureTable(rows: readonly Figure[]): string {
  const width = Math.max(0, ...rows.map((row) => row.label.length));
  return rows
    .map((row) => `  ${row.label.padEnd(width)}  ${figureText(row.value).padStart(14)} ${row.unit}\n`)
    .join('');
}

function isFigure(value: unknown): value is Figure {
  const { label, value: figure, unit } = (value ?? {}) as Partial<Figure>;
  return typeof label === 'string' && (typeof figure === 'number' || figure === null) && typeof unit === 'string';
}

/** A figure that was no number, null in JSON, is NaN again. @returns null for a text that is no measurement. */
export function parseMeasurement(text: string): Measurement | null {
  let value: Partial<Measurement> | null = null;
  try {
    value = JSON.parse(text) as Partial<Measurement> | null;
  } catch {
    return null;
  }
  const { name, rows } = (value ?? {}) as Partial<Measurement>;
  if (typeof name !== 'string' || !Array.isArray(rows) || !rows.every(isFigure)) return null;
  return { ...value, name, rows: rows.map((row) => ({ ...row, value: row.value ?? Number.NaN })) };
}

/** Differences of circumstance that make figures other than ratios incomparable. */
function differences(before: Measurement, after: Measurement): readonly string[] {
  const of = ({ machine }: Measurement): Readonly<Record<string, string>> => ({
    cpu: machine?.cpu ?? 'unknown',
    cores: String(machine?.cores ?? 'unknown'),
    'version of Node.js': machine?.node ?? 'unknown',
  });
  const [a, b] = [of(before), of(after)];
  return Object.keys(a)
    .filter((name) => a[name] !== b[name])
    .map((name) => `${name}: ${a[name]}, then ${b[name]}`);
}

function headOf(name: string, { commit, date, load }: Measurement): string {
  return `${name}  commit ${commit ?? 'unknown'}, ${date ?? 'date unknown'}, load ${load?.join(' ') ?? 'unknown'}\n`;
}

/** A table of the figures that two measurements have in common, and what only one of them has. */
export function comparison(before: Measurement, after: Measurement): string {
  const old = new Map(before.rows.map((row) => [row.label, row]));
  const both = after.rows.filter(({ label, unit }) => old.get(label)?.unit === unit);
  const width = Math.max(0, ...both.map(({ label }) => label.length));
  const lines = both.map(({ label, value, unit }) => {
    const was = old.get(label)?.value ?? Number.NaN;
    const change = was === 0 ? '' : `${(value / was).toFixed(3)} ×`;
    return `  ${label.padEnd(width)}  ${figureText(was).padStart(12)}  ${figureText(value).padStart(12)} ${unit.padEnd(8)}  ${change.padStart(10)}\n`;
  });
  const common = new Set(both.map(({ label }) => label));
  const only = (rows: readonly Figure[], name: string): string =>
    rows
      .filter(({ label }) => !common.has(label))
      .map(({ label }) => `  only in ${name}: ${label}\n`)
      .join('');
  const warnings = differences(before, after).map((each) => `  not comparable but as ratios, ${each}\n`);
  return [
    headOf('A', before),
    headOf('B', after),
    ...warnings,
    ...lines,
    only(before.rows, 'A'),
    only(after.rows, 'B'),
  ].join('');
}
