/** A strict reader of the Prometheus text format: what it does not understand fails the test. */
import assert from 'node:assert/strict';

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([+-]?(?:Inf|[0-9.]+(?:e[+-]?[0-9]+)?))$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;

export interface Family {
  readonly type: string;
  readonly samples: Map<string, number>;
}

/** Families by name; samples by `name{label="value",…}` with labels sorted. */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  assert.ok(text.endsWith('\n'), 'the text ends with a line feed');
  const families = new Map<string, Family>();
  const helped = new Set<string>();
  let current: [string, Family] | null = null;
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const help = new RegExp(`^# HELP (${NAME}) \\S.*$`).exec(line)?.[1];
    const typed = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram)$`).exec(line);
    if (help !== undefined) {
      assert.ok(!helped.has(help), `${help} is described once`);
      helped.add(help);
      current = null;
    } else if (typed?.[1] !== undefined && typed[2] !== undefined) {
      assert.ok(helped.has(typed[1]) && !families.has(typed[1]), `${typed[1]} is typed once, after its help`);
      current = [typed[1], { type: typed[2], samples: new Map() }];
      families.set(...current);
    } else {
      assert.ok(current !== null, `a sample stands under its family: ${line}`);
      addSample(current, line);
    }
  }
  for (const [name, family] of families) if (family.type === 'histogram') checkHistogram(name, family);
  return families;
}

function addSample([family, { type, samples }]: [string, Family], line: string): void {
  const match = SAMPLE.exec(line);
  assert.ok(match !== null, `this is a sample: ${line}`);
  const [, name = '', labels = '', value = ''] = match;
  const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => family + part) : [family];
  assert.ok(names.includes(name), `${name} belongs to ${family}`);
  const key = `${name}{${readLabels(labels).sort().join(',')}}`;
  assert.ok(!samples.has(key), `${key} is there once`);
  const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
  assert.ok(!Number.isNaN(number) && (type !== 'counter' || number >= 0), line);
  samples.set(key, number);
}

function readLabels(text: string): string[] {
  const labels: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const match = LABEL.exec(rest);
    assert.ok(match !== null, `these are labels: ${rest}`);
    labels.push(`${match[1]}="${match[2]}"`);
    rest = rest.slice(match[0].length);
  }
  return labels;
}

/** Per label set: bounds rise, counts do not fall, and the last bucket, +Inf, equals the count. */
function checkHistogram(name: string, { samples }: Family): void {
  const series = new Map<string, [number, number][]>();
  for (const [key, value] of samples) {
    const le = /le="([^"]+)"/.exec(key)?.[1];
    if (le === undefined) continue;
    const rest = key
      .slice(`${name}_bucket`.length)
      .replace(/,?le="[^"]+"/, '')
      .replace('{,', '{');
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    series.set(rest, [...(series.get(rest) ?? []), [bound, value]]);
  }
  for (const [labels, buckets] of series) {
    for (const [at, [bound, count]] of buckets.entries()) {
      const before = buckets[at - 1];
      assert.ok(before === undefined || (before[0] < bound && before[1] <= count), `${name}${labels} is cumulative`);
    }
    const last = buckets.at(-1);
    assert.equal(last?.[0], Number.POSITIVE_INFINITY, `${name}${labels} ends with +Inf`);
    assert.equal(samples.get(`${name}_count${labels}`), last?.[1], `${name}${labels} counts its buckets`);
    assert.ok(samples.has(`${name}_sum${labels}`), `${name}${labels} has a sum`);
  }
}
