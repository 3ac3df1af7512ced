/** Damage that a disk can do to a file, from a seed, and what became of it. */
import type { SeededRandom } from './simulation.ts';

const PAGE_BYTES = 4_096;
const BITS = 8;
const RECORD_MAGIC = 'RBJ\u0001';
const RECORD_HEADER_BYTES = 64;

/** One way to damage a file. @returns the damaged bytes and, in words, what was done. */
export type Damage = (bytes: Buffer, random: SeededRandom) => { readonly bytes: Buffer; readonly what: string };

export const flippedBit: Damage = (bytes, random) => {
  const damaged = Buffer.from(bytes);
  const at = random.below(bytes.length);
  const bit = random.below(BITS);
  damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
  return { bytes: damaged, what: `bit ${bit} of byte ${at} (page ${Math.floor(at / PAGE_BYTES)}) flipped` };
};

export const swappedPages: Damage = (bytes, random) => {
  const damaged = Buffer.from(bytes);
  const pages = bytes.length / PAGE_BYTES;
  const [a, b] = [random.below(pages), random.below(pages)];
  bytes.copy(damaged, a * PAGE_BYTES, b * PAGE_BYTES, (b + 1) * PAGE_BYTES);
  bytes.copy(damaged, b * PAGE_BYTES, a * PAGE_BYTES, (a + 1) * PAGE_BYTES);
  return { bytes: damaged, what: `pages ${a} and ${b} swapped` };
};

/** The file ends too early, anywhere. */
export const cutFile: Damage = (bytes, random) => {
  const length = random.below(bytes.length);
  return { bytes: Buffer.from(bytes.subarray(0, length)), what: `cut after ${length} bytes` };
};

/** A page, or its second part, holds zeros: a write that was lost, or torn. */
export const emptyPage: Damage = (bytes, random) => {
  const damaged = Buffer.from(bytes);
  const page = random.below(bytes.length / PAGE_BYTES);
  const from = page * PAGE_BYTES + 512 * random.below(PAGE_BYTES / 512);
  damaged.fill(0, from, (page + 1) * PAGE_BYTES);
  return { bytes: damaged, what: `page ${page} empty from byte ${from}` };
};

export const DAMAGES: readonly Damage[] = [flippedBit, flippedBit, swappedPages, cutFile, emptyPage];

/** A page as an earlier version of the file had it: a write that never reached the disk. */
export function stalePage(earlier: Buffer): Damage {
  return (bytes, random) => {
    const damaged = Buffer.from(bytes);
    const pages = Math.min(bytes.length, earlier.length) / PAGE_BYTES;
    const page = random.below(pages);
    earlier.copy(damaged, page * PAGE_BYTES, page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
    return { bytes: damaged, what: `page ${page} as it was before` };
  };
}

/** A bit of the payload of every journal record flipped, in use or not. */
export function damagedRecords(bytes: Uint8Array): Buffer {
  const damaged = Buffer.from(bytes);
  for (
    let at = damaged.indexOf(RECORD_MAGIC, 0, 'latin1');
    at >= 0;
    at = damaged.indexOf(RECORD_MAGIC, at + 1, 'latin1')
  ) {
    const inPayload = at + RECORD_HEADER_BYTES;
    if (inPayload < damaged.length) damaged[inPayload] = (damaged[inPayload] ?? 0) ^ 1;
  }
  return damaged;
}
