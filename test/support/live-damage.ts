/**
 * Damage to a map while a node uses it, from a seed: what a disk, a stray write or an administrator can do to the file
 * under a running process. It is aimed at pages that are in use, as random bytes of a young map mostly hit free ones.
 *
 * The node goes on writing meanwhile, so what was aimed at may have been replaced before it is hit: then it is harmless.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { InvariantError } from '../../src/core/assert.ts';
import { TABLE, type Table, tableName } from '../../src/storage/key-layout.ts';
import { leavesOf, type Piece, pageBytesOf } from './map-leaves.ts';
import type { SeededRandom } from './simulation.ts';

const BITS = 8;
const META_BYTES = 176;
const SECTOR_BYTES = 512;
/** Places where a file is cut. */
const CUTS = 1_000;
/** A page that the node writes over while it is looked at is looked at again. */
const LOOKS = 50;

/** One way to damage the file at `path`, of which `earlier` are the bytes before the node started. @returns what was done, in words. */
export type LiveDamage = (path: string, random: SeededRandom, earlier: Buffer) => string;

const MONEY: readonly Table[] = [TABLE.balance, TABLE.position, TABLE.subAccount, TABLE.totals];
const HISTORY: readonly Table[] = [
  TABLE.tradeBlock,
  TABLE.tradeRun,
  TABLE.orderBlock,
  TABLE.signedText,
  TABLE.finishedRun,
  TABLE.finishedById,
  TABLE.idRun,
  TABLE.idList,
  TABLE.finishedCount,
  TABLE.tradeCount,
];

/** A bit of the key or the value of an open order. */
const flippedOrder: LiveDamage = (path, random) => flipIn(path, random, TABLE.openOrder);

const flippedMoney: LiveDamage = (path, random) => flipIn(path, random, oneOf(MONEY, random));

const flippedHistory: LiveDamage = (path, random) => flipIn(path, random, oneOf(HISTORY, random));

/** A bit of the last record of the journal, or of one not far before it. */
const flippedTail: LiveDamage = (path, random) => flipIn(path, random, TABLE.journal, 1 + random.below(4));

const flippedMeta: LiveDamage = (path, random) => {
  const page = random.below(2);
  return changing(path, (file) => flip(file, page * file.pageBytes + random.below(META_BYTES), random));
};

const swappedLeaves: LiveDamage = (path, random) =>
  changing(path, (file) => {
    const pages = file.leaves();
    const [a, b] = [oneOf(pages, random), oneOf(pages, random)];
    swap(file, a, b);
    return `pages ${a} and ${b} swapped`;
  });

const emptiedLeaf: LiveDamage = (path, random) =>
  changing(path, (file) => {
    const page = oneOf(file.leaves(), random);
    const from = SECTOR_BYTES * random.below(file.pageBytes / SECTOR_BYTES);
    file.writePage(page, file.page(page).fill(0, from));
    return `page ${page} empty from byte ${from}`;
  });

/** A page as it was before the node started: a write that was reported as done and is not. */
const staleLeaf: LiveDamage = (path, random, earlier) =>
  changing(path, (file) => {
    const { pageBytes } = file;
    const page = oneOf(file.leaves(), random);
    const before = earlier.subarray(page * pageBytes, (page + 1) * pageBytes);
    if (before.length === pageBytes) file.writePage(page, Buffer.from(before));
    return `page ${page} as it was before the start`;
  });

/** An access behind the new end through mapped memory gets SIGBUS. */
const cutFile: LiveDamage = (path, random) =>
  changing(path, (file) => {
    const length = Math.floor((file.byteLength * random.below(CUTS)) / CUTS);
    file.cut(length);
    return `cut after ${length} bytes`;
  });

/** Swaps the nth and the mth leaf of a map, which may be open. */
export function swapLeaves(path: string, nth: number, mth: number): void {
  changing(path, (file) => {
    const { [nth]: a, [mth]: b } = file.leaves();
    if (a === undefined || b === undefined) throw new Error('there are fewer leaves');
    swap(file, a, b);
    return '';
  });
}

function swap(file: FileInUse, a: number, b: number): void {
  const [bytesOfA, bytesOfB] = [file.page(a), file.page(b)];
  file.writePage(a, bytesOfB);
  file.writePage(b, bytesOfA);
}

/** In turn, beginning with those of which a run of the tests does a few. */
export const LIVE_DAMAGES: readonly LiveDamage[] = [
  flippedOrder,
  cutFile,
  flippedTail,
  flippedMoney,
  swappedLeaves,
  flippedHistory,
  emptiedLeaf,
  staleLeaf,
  flippedMeta,
];

function oneOf<T>(all: readonly T[], random: SeededRandom): T {
  const one = all[random.below(Math.max(1, all.length))];
  if (one === undefined) throw new Error('there is nothing to damage');
  return one;
}

/** @param last only so many entries from the end of the table. */
/** A bit of an entry of this table, of one of the last ones if `last` is set. */
export function flipIn(
  path: string,
  random: SeededRandom,
  table: Table,
  last: number = Number.POSITIVE_INFINITY,
): string {
  return changing(path, (file) => {
    const pieces = file.entries(table).slice(-2 * last);
    if (pieces.length === 0) return `nothing: ${tableName(table)} is empty`;
    const { at, byteLength } = oneOf(pieces, random);
    return `${tableName(table)}: ${flip(file, at + random.below(byteLength), random)}`;
  });
}

function flip(file: FileInUse, at: number, random: SeededRandom): string {
  const bit = random.below(BITS);
  const byte = file.bytes(at, 1);
  byte[0] = (byte[0] ?? 0) ^ (1 << bit);
  file.write(at, byte);
  return `bit ${bit} of byte ${at} (page ${Math.floor(at / file.pageBytes)}) flipped`;
}

function changing(path: string, change: (file: FileInUse) => string): string {
  const descriptor = openSync(path, 'r+');
  try {
    return change(new FileInUse(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

class FileInUse {
  readonly pageBytes: number;
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.pageBytes = looking(() => pageBytesOf(descriptor));
  }

  get byteLength(): number {
    return fstatSync(this.#descriptor).size;
  }

  bytes(at: number, byteLength: number): Buffer {
    const bytes = Buffer.alloc(byteLength);
    readSync(this.#descriptor, bytes, 0, byteLength, at);
    return bytes;
  }

  write(at: number, bytes: Buffer): void {
    writeSync(this.#descriptor, bytes, 0, bytes.length, at);
  }

  page(page: number): Buffer {
    return this.bytes(page * this.pageBytes, this.pageBytes);
  }

  writePage(page: number, bytes: Buffer): void {
    this.write(page * this.pageBytes, bytes);
  }

  cut(byteLength: number): void {
    ftruncateSync(this.#descriptor, byteLength);
  }

  /** Pages that hold entries, of any table. */
  leaves(): readonly number[] {
    return looking(() => Array.from(leavesOf(this.#descriptor), ({ page }) => page));
  }

  /** Where the entries of a table are, in its order: of each the key, and the value in the leaf or in pages of its own. */
  entries(table: Table): readonly Piece[] {
    return looking(() => {
      const entries = Array.from(leavesOf(this.#descriptor), (leaf) => leaf.entries).flat();
      return entries.filter((entry) => entry.table === table).flatMap(({ key, value }) => [key, value]);
    });
  }
}

/** What is read beside a writer may contradict itself. */
function looking<T>(look: () => T): T {
  for (let tries = 1; ; tries += 1) {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof InvariantError) || tries === LOOKS) throw error;
    }
  }
}
