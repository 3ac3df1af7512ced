/**
 * Keys as 32-bit words: how users and order ids are read where they lie, hashed and compared, without a string.
 *
 * A field of n bytes is ceil(n / 4) little-endian words; of the last one only the field's own bytes count. An order id
 * has no zero byte and its length is kept beside it, so equal words and equal length are equal bytes. Typed arrays lay
 * words out in the machine's order, which is little-endian wherever Node runs; the engine asserts it.
 *
 * What others choose is hashed with a key that nobody outside knows, so that nobody can aim at one bucket. `mixWord` and
 * `finishHash` have no key and are for what is not a table of such keys.
 */

const FINAL_ROUNDS = 3;

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

/** 64 bits that nobody outside knows, as two words. */
export interface HashKey {
  readonly low: number;
  readonly high: number;
  /** Odd numbers that follow from them, for `hashUser`. */
  readonly first: number;
  readonly second: number;
}

/** The key of the lower 64 bits of a seed. */
export function hashKeyOf(seed: bigint): HashKey {
  const [low, high] = [Number(BigInt.asIntN(32, seed)), Number(BigInt.asIntN(32, seed >> 32n))];
  return { low, high, first: finishHash(low) | 1, second: finishHash(high) | 1 };
}

/**
 * A keyed hash of a user's 32 bytes at word `at`: its first two words, each times a number that nobody knows. Of its leading
 * bits, keys that nobody made for it share some no more often than twice as often as random ones. To make keys that share
 * them under every number, the lower bits of both words have to agree, all but as many as are to be shared: for a table of a
 * million places 40 and more, and so many attempts for each, by as many registered users. An id is anybody's own choice,
 * and is hashed with more care.
 *
 * @returns 32 bits, signed.
 */
export function hashUser(key: HashKey, words: Int32Array, at: number): number {
  return (Math.imul(words[at] as number, key.first) + Math.imul(words[at + 1] as number, key.second)) | 0;
}

/** The hash by which a market finds the id (1 to 64 bytes at word `idAt`) of a user (at word `userAt`): 32 bits, signed. */
export function hashId(key: HashKey, words: Int32Array, userAt: number, idAt: number, idBytes: number): number {
  return hashWords(key, hashUser(key, words, userAt), words, idAt, idBytes);
}

/**
 * A keyed hash of a number, a user's hash, and of the `bytes` bytes (1 to 64) at word `at`: HalfSipHash-1-3, whose words are
 * `user ^ bytes << 25` and those of the field. Whoever does not know the key cannot choose ids that meet more often than
 * random ones. Written out in one piece: every command passes here, and a round that is a function would have to return
 * four words.
 *
 * @returns 32 bits, signed.
 */
export function hashWords(key: HashKey, user: number, words: Int32Array, at: number, bytes: number): number {
  let v0 = key.low;
  let v1 = key.high;
  let v2 = key.low ^ 0x6c796765;
  let v3 = key.high ^ 0x74656462;
  const last = at + ((bytes - 1) >>> 2);
  let word = user ^ (bytes << 25);
  for (let next = at; ; next++) {
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    // mutant: keyed-id-hash
    v0 ^= word;
    if (next > last) break;
    word = words[next] as number;
    if (next === last) word &= lastWordMask(bytes);
  }
  v2 ^= 0xff;
  for (let round = 0; round < FINAL_ROUNDS; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
  }
  return v1 ^ v3;
}
