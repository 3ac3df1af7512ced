/** A u64 of a message from its two words: no bigint is made for it. */
import type { Views } from '../core/views.ts';

export function writeWords(v: Views, at: number, high: number, low: number): void {
  v.u32[at >>> 2] = low;
  v.u32[(at >>> 2) + 1] = high;
}
