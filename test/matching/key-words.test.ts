// tier: quick
/** The keyed hash of user and order id: known answers, and ids that were made to meet (AMB-07). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseOrderId } from '../../src/core/ids.ts';
import { hashKeyOf, hashWords } from '../../src/core/key-words.ts';
import { MarketFixture } from '../support/market-fixture.ts';

/** Of HalfSipHash-1-3, as the Linux kernel tests its own: of so many bytes 0, 1, 2, … under the key 0, 1, … 7. */
const ANSWERS: readonly (readonly [number, number])[] = [
  [7, 0x9d38d9d6],
  [11, 0x959246ee],
  [15, 0xd0257b04],
  [27, 0xab64afd3],
  [63, 0x87178304],
];
const ID_BYTES = 12;
const SEEDS = [0n, 1n, 0x0706050403020100n, 0xffffffffffffffffn, 0x243f6a8885a308d3n];

const IS_ID_BYTE: readonly boolean[] = Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9+/=_.:-]/.test(String.fromCharCode(byte)),
);

function isIdWord(word: number): boolean {
  return [0, 8, 16, 24].every((shift) => IS_ID_BYTE[(word >>> shift) & 0xff]);
}

/** A step of the hash that stood here once: it can be undone, and nothing in it was secret. */
function oldStep(hash: number): number {
  const product = Math.imul(hash, 0x9e3779b1);
  return product ^ (product >>> 15);
}

/** Ids of twelve bytes with one first word and, in the hash that stood here once, one value of the other two. */
function idsMadeToMeet(count: number): Int32Array[] {
  const first = Buffer.from('meet').readInt32LE();
  const letters = Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
  const ids: Int32Array[] = [];
  const second = Buffer.alloc(4);
  for (let number = 0; ids.length < count; number++) {
    for (let at = 0, rest = number; at < 4; at++, rest = Math.floor(rest / letters.length))
      second[at] = letters[rest % letters.length] as number;
    const word = second.readInt32LE();
    const third = 0x5eed5eed ^ oldStep(ID_BYTES ^ word);
    if (isIdWord(third)) ids.push(Int32Array.of(first, word, third));
  }
  return ids;
}

/** Ids that differ in the upper bits of their words alone: what a multiplication keeps in the upper bits. */
function idsOfUpperBits(): Int32Array[] {
  const uppers = [0x30, 0x31, 0x41, 0x42, 0x51, 0x52, 0x61, 0x62, 0x71, 0x72];
  const low = 0x616161;
  return uppers.flatMap((a) =>
    uppers.flatMap((b) => uppers.map((c) => Int32Array.of((a << 24) | low, (b << 24) | low, (c << 24) | low))),
  );
}

/** The most that have the same leading bits, and the most that have the same last ones. */
function pileUp(hashes: readonly number[], bits: number): number {
  const counts = new Map<string, number>();
  for (const hash of hashes)
    for (const end of [`first ${hash >>> (32 - bits)}`, `last ${hash & ((1 << bits) - 1)}`])
      counts.set(end, (counts.get(end) ?? 0) + 1);
  return Math.max(...counts.values());
}

suite('hashes of keys', () => {
  test('are those of HalfSipHash-1-3, of a user and the bytes of an id', () => {
    const key = hashKeyOf(0x0706050403020100n);
    for (const [length, answer] of ANSWERS) {
      const bytes = Uint8Array.from({ length: length + 1 }, (_, at) => (at === length ? length : at));
      const words = new Int32Array(bytes.buffer);
      const idBytes = length - 3;
      const user = (words[0] as number) ^ (idBytes << 25);
      assert.equal(hashWords(key, user, words, 1, idBytes) >>> 0, answer, `${length} bytes`);
    }
  });

  test('do not depend on what lies behind the last byte', () => {
    const key = hashKeyOf(7n);
    for (let bytes = 1; bytes <= 8; bytes++) {
      const [clean, dirty] = [new Int32Array(2), new Int32Array(2).fill(-1)];
      for (const words of [clean, dirty]) new Uint8Array(words.buffer, 0, bytes).fill(0x61);
      assert.equal(hashWords(key, 3, clean, 0, bytes), hashWords(key, 3, dirty, 0, bytes));
    }
  });

  test('spread ids that were made to meet, under every key (AMB-07)', () => {
    for (const ids of [idsMadeToMeet(1_000), idsOfUpperBits()])
      for (const seed of SEEDS) {
        const key = hashKeyOf(seed);
        const hashes = ids.map((id) => hashWords(key, 5, id, 0, ID_BYTES));
        assert.equal(ids.length, 1_000);
        assert.ok(new Set(hashes).size >= 998, `${new Set(hashes).size} hashes of 1,000 ids under ${seed}`);
        assert.ok(pileUp(hashes, 10) <= 12, `${pileUp(hashes, 10)} of 1,000 ids in one of 1,024 places under ${seed}`);
      }
  });

  test('differ under any two keys, of which each bit counts', () => {
    const id = Int32Array.of(0x61616161, 0x62626262, 0x63636363);
    const hashes = Array.from({ length: 64 }, (_, bit) => hashWords(hashKeyOf(1n << BigInt(bit)), 5, id, 0, ID_BYTES));
    assert.equal(new Set(hashes).size, 64);
  });
});

suite('a market whose user makes ids that meet', () => {
  test('goes on, and has each of them (AMB-07, AMB-08)', () => {
    const ids = idsMadeToMeet(1_500).map((words) => Buffer.from(words.buffer).toString('latin1'));
    const fixture = new MarketFixture({ firstCapacity: 8 });
    for (const id of ids) {
      assert.equal(parseOrderId(id), id);
      fixture.buy(id, 1, 10);
      fixture.cancel(id);
    }
    for (const id of ids) {
      const told = fixture.buy(id, 1, 10).map(([kind, , , code]) => [kind, code]);
      assert.deepEqual(told, [['createRefused', 'DUPLICATE_ORDER']], id);
    }
  });
});
