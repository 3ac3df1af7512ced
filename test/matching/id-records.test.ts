// tier: quick, 3 s
/** Records of ids found through their table, beside a plain map: while they are there, not before and not after (AMB-08, AMB-25). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { IdTable, nextPlace } from '../../src/core/id-table.ts';
import { hashKeyOf, hashWords } from '../../src/core/key-words.ts';
import { NONE } from '../../src/core/pools.ts';
import { IdRecords } from '../../src/matching/id-records.ts';

const USER = 7;
const ID_BYTES = 8;
const KEY = hashKeyOf(1n);

/** Numbers in turn, the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 4_294_967_296) * below);
  };
}

class Memory {
  readonly records = new IdRecords();
  readonly table: IdTable;
  readonly words: Int32Array = new Int32Array(2);
  readonly #hashBits: number;

  constructor(capacity: number, hashBits: number) {
    this.table = new IdTable(capacity);
    this.#hashBits = hashBits;
  }

  /** The id's words lie in `words` after it. Fewer bits: more ids that share a hash. */
  hashOf(id: number): number {
    this.words[0] = id;
    this.words[1] = 0x3d3d3d3d;
    if (this.#hashBits === 0) return 0x5eed;
    return hashWords(KEY, USER, this.words, 0, ID_BYTES) & ~((1 << (32 - this.#hashBits)) - 1);
  }

  add(id: number): number {
    const hash = this.hashOf(id);
    const record = this.records.add(USER, 1, 0, 0, this.words, 0, ID_BYTES);
    this.table.add(hash, record);
    return record;
  }

  find(id: number): number {
    return this.findBy(this.hashOf(id));
  }

  /** The id with its words in `words`. */
  findBy(hash: number, user = USER): number {
    const places = this.table.placesOf(hash);
    const { cells } = places;
    for (let place = places.placeOf(hash); cells[place + 1] !== 0; place = nextPlace(place)) {
      const record = cells[place + 1] as number;
      if (cells[place] === hash && this.records.equals(record, user, this.words, 0, ID_BYTES)) return record;
    }
    return NONE;
  }

  remove(id: number, record: number): void {
    this.table.remove(this.hashOf(id), record);
    this.records.release(record);
  }
}

/** @param batch steps after which memory is touched ahead, as at the end of a batch. */
function play(memory: Memory, steps: number, ids: number, batch = steps): void {
  const below = dice(ids);
  const known = new Map<number, number>();
  for (let step = 0; step < steps; step++) {
    if (step % batch === batch - 1) {
      memory.records.touchAhead();
      memory.table.touchAhead();
    }
    const id = below(ids);
    const record = known.get(id);
    assert.equal(memory.find(id), record ?? NONE, `id ${id} at step ${step}`);
    if (record === undefined) known.set(id, memory.add(id));
    else if (below(3) === 0) {
      memory.remove(id, record);
      known.delete(id);
      assert.equal(memory.find(id), NONE);
    }
  }
  for (const [id, record] of known) assert.equal(memory.find(id), record);
}

suite('ids of the past', () => {
  test('an id is found from when it is added until it is taken out, young or old (AMB-08)', () => {
    play(new Memory(8, 32), 60_000, 20_000);
  });

  test('memory that is touched ahead, often or rarely, changes no id', () => {
    for (const batch of [16, 256, 20_000]) play(new Memory(8, 32), 60_000, 20_000, batch);
  });

  test('the same with the table of a large market', () => {
    play(new Memory(65_536, 32), 120_000, 60_000);
  });

  test('ids that share a hash are distinguished by their bytes', () => {
    play(new Memory(8, 12), 30_000, 20_000);
  });

  for (const hashBits of [0, 1, 3]) {
    test(`thousands of ids with one of ${2 ** hashBits} hashes stay right, young and old (AMB-07, AMB-08)`, () => {
      play(new Memory(8, hashBits), 20_000, 6_000);
    });
  }

  test('ids with one hash take no more memory than others, and give it back to new ones (AMB-07)', () => {
    const [same, usual] = [new Memory(1_024, 0), new Memory(1_024, 32)];
    for (let id = 0; id < 20_000; id++) for (const memory of [same, usual]) memory.add(id);
    assert.ok(same.table.bytes <= usual.table.bytes, `${same.table.bytes} bytes, usual are ${usual.table.bytes}`);
    const full = same.table.bytes;
    const kept: number[] = [];
    const churned = new Memory(1_024, 0);
    for (let id = 0; id < 12_000; id++) {
      kept.push(churned.add(id));
      if (id >= 2_000) churned.remove(id - 2_000, kept[id - 2_000] as number);
    }
    assert.ok(churned.table.bytes < full / 2, `${churned.table.bytes} bytes for 2,000 ids, ${full} for 20,000`);
    for (let id = 0; id < 12_000; id++) assert.equal(churned.find(id), id < 10_000 ? NONE : kept[id]);
  });

  test('ids that share their first bits, whatever their number of bits, cost memory for themselves alone', () => {
    for (let shared = 1; shared < 32; shared++) {
      const memory = new Memory(8, 32);
      const hashes: number[] = [];
      const records: number[] = [];
      for (let id = 0; id < 600; id++) {
        hashes.push(memory.hashOf(id) >>> shared);
        records.push(memory.records.add(USER, 1, 0, 0, memory.words, 0, ID_BYTES));
        memory.table.add(hashes[id] as number, records[id] as number);
      }
      assert.ok(memory.table.bytes < 600 * 200, `${shared} bits: ${memory.table.bytes} bytes`);
      for (let id = 0; id < 600; id++) {
        memory.hashOf(id);
        assert.equal(memory.findBy(hashes[id] as number), records[id]);
      }
      for (let id = 0; id < 600; id++) memory.table.remove(hashes[id] as number, records[id] as number);
      for (let id = 0; id < 600; id++) {
        memory.hashOf(id);
        assert.equal(memory.findBy(hashes[id] as number), NONE);
      }
    }
  });

  test('another user has the same id', () => {
    const memory = new Memory(8, 32);
    memory.add(1);
    assert.equal(memory.findBy(memory.hashOf(1), USER + 1), NONE);
  });
});
