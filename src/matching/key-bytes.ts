/**
 * Keys as 32-bit words: how users and order ids are read where they lie, hashed and compared, without a string.
 *
 * A field of n bytes is ceil(n / 4) little-endian words, the last filled with zeros. An order id has no zero byte and
 * its length is kept beside it, so equal words and equal length are equal bytes. Typed arrays lay words out in the
 * machine's order, which is little-endian wherever Node runs; the engine asserts it.
 *
 * Hashes start from a seed that the composition root may choose, so that nobody outside can aim at one bucket.
 */

/** A view of the last array asked for: reading words at odd offsets of one ring allocates nothing. */
export class KeyReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(this.#bytes.buffer);

  viewOf(bytes: Uint8Array): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    return this.#view;
  }
}

export function wordCount(bytes: number): number {
  return (bytes + 3) >>> 2;
}

/** The word at `at`, of which only `bytes` (1 … 4) belong to the field. */
export function wordAt(view: DataView, at: number, bytes: number): number {
  if (bytes >= 4) return view.getUint32(at, true);
  let word = view.getUint8(at);
  if (bytes > 1) word |= view.getUint8(at + 1) << 8;
  if (bytes > 2) word |= view.getUint8(at + 2) << 16;
  return word;
}

/** One step of a 32-bit hash (MurmurHash3). */
export function mixWord(hash: number, word: number): number {
  const scrambled = Math.imul(word, 0xcc9e2d51);
  const mixed = hash ^ Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

/** Spreads the last bits; 32 bits, signed. */
export function finishHash(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** A hash of a safe integer of either sign. */
export function hashNumber(value: number): number {
  const low = value | 0;
  return finishHash(mixWord(low, Math.floor(value / 4_294_967_296) | 0));
}
