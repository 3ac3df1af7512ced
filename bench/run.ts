/**
 * Runs the benchmarks: `node dist/bench/run.js [--small] [NAME…]`. Names select files by part of their name. Each
 * prints its table and writes bench/results/<name>.json; a wrong result throws and fails the run.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tuneCompiler } from '../src/runtime/compiler.ts';
import { type BenchResult, report, type Scale } from './bench-kit.ts';

interface Bench {
  run(scale: Scale): Promise<BenchResult>;
}

const { values, positionals } = parseArgs({
  options: { small: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const scale: Scale = values.small ? 'small' : 'full';
const folder = new URL('.', import.meta.url);
const files = readdirSync(fileURLToPath(folder))
  .filter((file) => file.endsWith('.bench.js'))
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .sort();

tuneCompiler();
if (files.length === 0) {
  process.stderr.write(`no benchmark matches ${positionals.join(', ')}\n`);
  process.exit(64);
}
for (const file of files) {
  const bench = (await import(new URL(file, folder).href)) as Bench;
  report(await bench.run(scale));
}
