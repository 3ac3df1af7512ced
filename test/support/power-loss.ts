/**
 * Images that a power loss could leave, from a recorded trace of a real life (io-shim.ts):
 *
 *   write ── write ── sync ── write through ── mark ── write ── ✂
 *   on the disk: what a sync covered, what was written through, and any of the rest, sector by sector
 *
 * A disk that lies reports syncs that it did not do: what is written through is there, what lies behind it may be not.
 */

import type { TracedCall } from './io-shim.ts';
import type { SeededRandom } from './simulation.ts';

const SECTOR_BYTES = 512;
const PAGE_BYTES = 4_096;

export interface Image {
  readonly bytes: Buffer;
  /** What had been promised when the power went. */
  readonly record: number;
  readonly checkpoint: number;
  /** After which call. */
  readonly call: number;
}

interface Piece {
  readonly offset: number;
  readonly bytes: Buffer;
}

class Disk {
  #durable: Buffer = Buffer.alloc(1 << 20);
  #length = 0;
  #unsynced: Piece[] = [];

  write(piece: Piece): void {
    this.#unsynced.push(piece);
  }

  sync(): void {
    for (const piece of this.#unsynced) this.writeThrough(piece);
    this.#unsynced = [];
  }

  writeThrough({ offset, bytes }: Piece): void {
    const end = offset + bytes.length;
    if (end > this.#durable.length) {
      const grown = Buffer.alloc(2 * end);
      this.#durable.copy(grown);
      this.#durable = grown;
    }
    bytes.copy(this.#durable, offset);
    this.#length = Math.max(this.#length, end);
  }

  /** Any of what no sync covered arrived: whole writes, pages or sectors of them, in any order. */
  afterPowerLoss(random: SeededRandom): Buffer {
    const image = new Disk();
    image.writeThrough({ offset: 0, bytes: this.#durable.subarray(0, this.#length) });
    const grain = [Number.MAX_SAFE_INTEGER, PAGE_BYTES, SECTOR_BYTES][random.below(3)] ?? PAGE_BYTES;
    for (const { offset, bytes } of this.#unsynced) {
      for (let at = 0; at < bytes.length; at += grain) {
        if (random.below(2) === 0) continue;
        image.writeThrough({ offset: offset + at, bytes: bytes.subarray(at, at + grain) });
      }
    }
    return Buffer.from(image.#durable.subarray(0, image.#length));
  }
}

/** As many images as requested, each after a call of the trace that is drawn; all of the same trace, in its order. */
export function* powerLosses(
  trace: readonly TracedCall[],
  { images, random, lies }: { readonly images: number; readonly random: SeededRandom; readonly lies: boolean },
): Generator<Image> {
  const cuts = Array.from({ length: images }, () => random.below(trace.length)).sort((a, b) => a - b);
  const disk = new Disk();
  const promised: Promised = { record: 0, checkpoint: 0 };
  let next = 0;
  for (const [call, traced] of trace.entries()) {
    if (traced.kind === 'write') disk.write(traced);
    else if (traced.kind === 'writeThrough') disk.writeThrough(traced);
    else if (traced.kind === 'sync' && !lies) disk.sync();
    else if (traced.kind === 'mark') takeMark(traced.text, promised);
    for (; cuts[next] === call; next += 1) {
      yield { bytes: disk.afterPowerLoss(random), ...promised, call };
    }
  }
}

/** What had been reported as durable. */
export interface Promised {
  record: number;
  checkpoint: number;
}

export function takeMark(text: string, promised: Promised): void {
  const [what, sequence] = text.split(' ');
  if (what === 'record') promised.record = Number(sequence);
  if (what === 'checkpoint') promised.checkpoint = Number(sequence);
}
