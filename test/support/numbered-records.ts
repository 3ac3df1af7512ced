/** Records whose length and every word follow from their number, so that a reader can check all of them. */
import type { Views } from '../../src/core/views.ts';

/** 8 … 256 bytes, in no simple rhythm. */
export function numberedBytes(number: number): number {
  return 8 + ((Math.imul(number, 0x9e3779b1) >>> 8) % 249);
}

export function fillNumbered(views: Views, at: number, bytes: number, number: number): void {
  const words = bytes >> 2;
  for (let index = 0; index < words; index++) views.i32[(at >> 2) + index] = (number + index) | 0;
}

export function isNumbered(views: Views, at: number, bytes: number, number: number): boolean {
  if (bytes !== numberedBytes(number)) return false;
  const words = bytes >> 2;
  for (let index = 0; index < words; index++) {
    if (views.i32[(at >> 2) + index] !== ((number + index) | 0)) return false;
  }
  return true;
}
