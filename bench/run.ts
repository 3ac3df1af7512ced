/**
 * Runs the benchmarks, lists them, or compares two results: `node dist/bench/run.js --help`. Each benchmark prints its
 * table and writes bench/results/<name>.json; a wrong result throws and fails the run.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { comparison, type Measurement, parseMeasurement } from '../src/load/figures.ts';
import { tuneCompiler } from '../src/runtime/compiler.ts';
import { type BenchOptions, type BenchResult, report, type Scale } from './bench-kit.ts';

interface Bench {
  run(scale: Scale, options: BenchOptions): Promise<BenchResult>;
}

const HELP = `usage: npm run bench -- [options] [NAME…]
       npm run bench -- --compare A.json B.json

Runs the benchmarks with one of the NAMEs in their name, or all, one after the other. Each prints its table and writes
bench/results/<name>.json with commit, date, machine and load. Nothing else should run on the machine.

  --list             the benchmarks, one line each
  --small            a short run of each: a functional check, not a measurement
  --rounds N         rounds of a benchmark that has rounds   (control, trace, cluster)
  --seconds N        counted seconds of each of its runs     (control, trace, cluster)
  --parts LIST       only these parts of it, with commas     (control, trace, cluster)
  --compare A B      a table of two results, with ratios

docs/latency.md explains the benchmark of /control; "ringbook bench --help" measures any node.
`;
const USAGE = 64;

const { values, positionals } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
    compare: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    parts: { type: 'string' },
  },
  allowPositionals: true,
});
const folder = new URL('.', import.meta.url);
const files = readdirSync(fileURLToPath(folder))
  .filter((file) => file.endsWith('.bench.js'))
  .sort();

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(USAGE);
}

/** The first sentence of the comment that begins a file. */
function purposeOf(file: string): string {
  const text = readFileSync(new URL(file, folder), 'utf8');
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? '';
  const [paragraph = ''] = comment
    .replaceAll(/^ *\* ?/gm, '')
    .trim()
    .split(/\n\s*\n/);
  return /^.*?[.?](?=\s|$)/.exec(paragraph.replaceAll(/\s+/g, ' '))?.[0] ?? paragraph;
}

function list(): string {
  const names = files.map((file) => file.replace('.bench.js', ''));
  const width = Math.max(...names.map((name) => name.length));
  return files.map((file, index) => `${(names[index] ?? '').padEnd(width)}  ${purposeOf(file)}\n`).join('');
}

function measurement(path: string): Measurement {
  return parseMeasurement(readFileSync(path, 'utf8')) ?? fail(`${path} is no result of a benchmark`);
}

function count(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9][0-9]{0,3}$/.test(text)) fail(`--${name} takes a whole number from 1 to 9999, not "${text}"`);
  return Number(text);
}

function optionsOf(): BenchOptions {
  const [rounds, seconds] = [count(values.rounds, 'rounds'), count(values.seconds, 'seconds')];
  return {
    ...(rounds === undefined ? {} : { rounds }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(values.parts === undefined ? {} : { parts: values.parts.split(',') }),
  };
}

async function runAll(scale: Scale, options: BenchOptions): Promise<void> {
  const chosen = files.filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)));
  if (chosen.length === 0) fail(`no benchmark matches ${positionals.join(', ')}; --list prints them`);
  tuneCompiler();
  for (const file of chosen) {
    const bench = (await import(new URL(file, folder).href)) as Bench;
    report(await bench.run(scale, options));
  }
}

if (values.help) process.stdout.write(HELP);
else if (values.list) process.stdout.write(list());
else if (values.compare) {
  const [before, after, ...more] = positionals;
  if (before === undefined || after === undefined || more.length > 0) fail('--compare takes two results');
  process.stdout.write(comparison(measurement(before), measurement(after)));
} else await runAll(values.small ? 'small' : 'full', optionsOf());
