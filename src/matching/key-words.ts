/**
 * Keys as 32-bit words: how users and order ids are read where they lie, hashed and compared, without a string.
 *
 * A field of n bytes is ceil(n / 4) little-endian words; of the last one only the field's own bytes count. An order id
 * has no zero byte and its length is kept beside it, so equal words and equal length are equal bytes. Typed arrays lay
 * words out in the machine's order, which is little-endian wherever Node runs; the engine asserts it.
 *
 * Hashes start from a seed that the composition root may choose, so that nobody outside can aim at one bucket.
 */

export function wordCount(bytes: number): number {
  return (bytes + 3) >>> 2;
}

/** The bits of a field's last word that belong to it, of a field of `bytes` bytes. */
export function lastWordMask(bytes: number): number {
  const rest = bytes & 3;
  return rest === 0 ? -1 : (1 << (rest << 3)) - 1;
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

/** A hash of the `bytes` bytes at word `at`. Two chains, of the even and the odd words, run side by side. */
export function hashWords(seed: number, words: Int32Array, at: number, bytes: number): number {
  let even = seed;
  let odd = bytes;
  const last = at + ((bytes - 1) >>> 2);
  let word = at;
  for (; word + 1 < last; word += 2) {
    even = stirred(even ^ (words[word] as number));
    odd = stirred(odd ^ (words[word + 1] as number));
  }
  if (word < last) even = stirred(even ^ (words[word] as number));
  odd = stirred(odd ^ ((words[last] as number) & lastWordMask(bytes)));
  return stirred(stirred(even) ^ odd);
}

/** Multiplies, and lets the upper bits into the lower ones. */
function stirred(hash: number): number {
  const product = Math.imul(hash, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** A hash of two words that nobody can shape at will. */
export function hashPair(seed: number, first: number, second: number): number {
  return stirred(stirred(seed ^ first) ^ second);
}

/** A hash of a safe integer of either sign. */
export function hashNumber(value: number): number {
  const low = value | 0;
  return finishHash(mixWord(low, Math.floor(value / 4_294_967_296) | 0));
}
