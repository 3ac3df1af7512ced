/**
 * Keys as 32-bit words: users and order ids are read, hashed and compared where they lie, without creating strings.
 *
 * A field of n bytes is ceil(n / 4) little-endian words; only the field's own bytes of the last word count. An order id
 * contains no zero byte and is stored with its length, so equal words and equal length mean equal bytes. Typed arrays
 * use the machine's byte order, which is little-endian on every platform of Node; the engine asserts it.
 *
 * Values that clients choose are hashed with a secret key, so that no client can construct collisions. `mixWord` and
 * `finishHash` have no key and are for other uses.
 */

const FINAL_ROUNDS = 3;

export function wordCount(bytes: number): number {
  return (bytes + 3) >>> 2;
}

/** Mask of the field's own bits in its last word, for a field of `bytes` bytes. */
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

/** 64 secret bits, as two words. */
export interface HashKey {
  readonly low: number;
  readonly high: number;
  /** Odd numbers derived from them, for `hashUser`. */
  readonly first: number;
  readonly second: number;
}

/** The key of the lower 64 bits of a seed. */
export function hashKeyOf(seed: bigint): HashKey {
  const [low, high] = [Number(BigInt.asIntN(32, seed)), Number(BigInt.asIntN(32, seed >> 32n))];
  return { low, high, first: finishHash(low) | 1, second: finishHash(high) | 1 };
}

/**
 * A keyed hash of a user's 32 bytes at word `at`: its first two words, each multiplied by a secret number. Random keys
 * share leading bits of it at most twice as often as those of a random function. Constructing keys that share them for
 * every secret requires equal low bits in both words, less the number of bits to be shared: for a table of a million
 * places more than 40 bits, so about 2^40 attempts for each of many registered users. An order id can be chosen freely,
 * so it is hashed with a stronger function.
 *
 * @returns 32 bits, signed.
 */
export function hashUser(key: HashKey, words: Int32Array, at: number): number {
  return (Math.imul(words[at] as number, key.first) + Math.imul(words[at + 1] as number, key.second)) | 0;
}

/**
 * The hash by which a market finds the id (1 to 64 bytes at word `idAt`) of a user (at word `userAt`): 32 bits, signed.
 */
export function hashId(key: HashKey, words: Int32Array, userAt: number, idAt: number, idBytes: number): number {
  return hashWords(key, hashUser(key, words, userAt), words, idAt, idBytes);
}

/**
 * A keyed hash of a number, a user's hash, and of the `bytes` bytes (1 to 64) at word `at`: HalfSipHash-1-3 over the
 * words `user ^ bytes << 25` and those of the field. Without the key it is infeasible to choose ids that collide more
 * often than random ones. The rounds are written inline: this runs for every command, and a function would have to
 * return four words.
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
