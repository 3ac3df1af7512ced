/**
 * Common parts of the benchmarks: the type of a result, rounds that alternate between contenders, medians, and output
 * (a table on stdout, bench/results/<name>.json).
 *
 * A benchmark is a file `bench/<name>.bench.ts` that exports `run(scale)`. It checks its own result (a count, a
 * checksum, a state hash) and describes the check in `checks`; a wrong result throws.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Figure, figureTable } from '../src/load/figures.ts';
import { circumstances } from '../src/load/machine.ts';

/** `small` takes a second or two and runs in CI; `full` is for quoted figures. */
export type Scale = 'small' | 'full';

export type BenchRow = Figure;

/** What the command line sets for the benchmarks that have it; omitted members follow from the scale. */
export interface BenchOptions {
  readonly rounds?: number;
  /** Counted seconds of each run; a warm-up of half of it precedes. */
  readonly seconds?: number;
  /** Names of the parts to measure. */
  readonly parts?: readonly string[];
}

export interface BenchResult {
  readonly name: string;
  readonly rows: readonly BenchRow[];
  /** The check that the measured work was done, with its hash or count. */
  readonly checks: string;
}

export interface Contender {
  readonly label: string;
  /** One round. @returns the figure of that round. */
  round(): Promise<number> | number;
}

/**
 * Runs every contender once per round, in turn, so that other load affects all of them; the first round is a warm-up
 * and does not count.
 *
 * @returns the figures of each contender, in the order given.
 */
export async function interleave(contenders: readonly Contender[], rounds: number): Promise<number[][]> {
  const figures: number[][] = contenders.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const figure = await contender.round();
      if (round > 0) figures[index]?.push(figure);
    }
  }
  return figures;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** @param fraction - 0 … 1; the nearest rank. */
export function percentile(values: readonly number[], fraction: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(0, Math.ceil(fraction * sorted.length) - 1);
  return sorted[rank] ?? Number.NaN;
}

/** Memory of a process in pages of 4 KiB that are resident. Linux only. */
export function residentMiB(pid: number): number {
  return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4_096) / 1_048_576;
}

/** A running 32-bit hash over words: the same words in the same order give the same value. */
export function mixChecksum(checksum: number, word: number): number {
  return (Math.imul(checksum ^ word, 0x9e3779b1) + 0x7f4a7c15) | 0;
}

export function checksumText(checksum: number): string {
  return (checksum >>> 0).toString(16).padStart(8, '0');
}

/** Prints the table and writes `bench/results/<name>.json` below the working directory. */
export function report(result: BenchResult): void {
  process.stdout.write(`${result.name}\n${figureTable(result.rows)}  checked: ${result.checks}\n`);
  const folder = join('bench', 'results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${result.name}.json`);
  writeFileSync(file, `${JSON.stringify({ ...result, ...circumstances() }, null, 2)}\n`);
}
