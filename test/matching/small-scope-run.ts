/**
 * The exhaustive run to any depth as a command; docs/matching.md has what it found.
 *
 *   node dist/test/matching/small-scope-run.js [--depth 4] [--rules plain,prevented,collar] [--part 1/1] [--record FILE]
 *
 * All commands but the last of a sequence are walked at once, with the ends of every state (by part 1, if there are
 * several). The last commands come in slices of states: a part takes every n-th slice, and what stands in the record is
 * not walked again, so a run may be stopped and goes on. Progress goes to stderr, what was counted to stdout and to the
 * record, a JSON line each. Exits with 1 at the first difference, with the sequence that shows it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { RAW_MAX } from '../../src/core/limits.ts';
import { type Scope, SMALL_SCOPE } from '../support/small-scope.ts';
import { type Road, SmallScopeWalk } from '../support/small-scope-walk.ts';

const SLICE_ROADS = 1_000;

const RULES: Readonly<Record<string, Partial<Scope>>> = {
  plain: { isPrevented: false, collar: [1, RAW_MAX] },
  prevented: { isPrevented: true, collar: [1, RAW_MAX] },
  collar: { isPrevented: true, collar: [101, 100] },
};

/** `slice` 0: all but the last commands. */
interface Counted {
  readonly rules: string;
  readonly depth: number;
  readonly slice: number;
  readonly of: number;
  readonly states: number;
  readonly sequences: number;
}

const { values } = parseArgs({
  options: {
    depth: { type: 'string', default: '4' },
    rules: { type: 'string', default: Object.keys(RULES).join(',') },
    part: { type: 'string', default: '1/1' },
    record: { type: 'string' },
  },
});
const depth = Number(values.depth);
const [part, parts] = values.part.split('/').map(Number) as [number, number];
const done = new Set(recorded().map(({ rules, depth: of, slice }) => `${rules} ${of} ${slice}`));

for (const rules of values.rules.split(',')) walk(rules);

function recorded(): Counted[] {
  const file = values.record;
  if (file === undefined || !existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Counted);
}

function count(counted: Counted): void {
  const line = JSON.stringify(counted);
  process.stdout.write(`${line}\n`);
  if (values.record !== undefined) appendFileSync(values.record, `${line}\n`);
}

function walk(rules: string): void {
  const small = new SmallScopeWalk({ ...SMALL_SCOPE, ...RULES[rules], depth });
  const { counts } = small;
  let roads: readonly Road[] = [[]];
  const hasEnds = part === 1 && !done.has(`${rules} ${depth} 0`);
  for (let length = 1; length < depth; length++) {
    const from = roads;
    roads = from.flatMap((road, at) => {
      if (at % 100 === 0) process.stderr.write(`${rules}, ${length} commands: ${at} of ${from.length} states\n`);
      return small.extend(road, hasEnds);
    });
  }
  const of = Math.ceil(roads.length / SLICE_ROADS);
  if (hasEnds) count({ rules, depth, slice: 0, of, states: roads.length, sequences: counts.sequences });
  for (let slice = part; slice <= of; slice += parts) {
    if (done.has(`${rules} ${depth} ${slice}`)) continue;
    const before = counts.sequences;
    const mine = roads.slice((slice - 1) * SLICE_ROADS, slice * SLICE_ROADS);
    for (const road of mine) small.extend(road, false);
    const sequences = counts.sequences - before;
    count({ rules, depth, slice, of, states: mine.length, sequences });
    process.stderr.write(`${rules}, slice ${slice} of ${of}: ${sequences} sequences\n`);
  }
}
