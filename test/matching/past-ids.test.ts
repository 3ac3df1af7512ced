/** The memory of finished ids beside a plain map: found while it is there, not before and not after (AMB-08, AMB-25). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { IdRecords } from '../../src/matching/id-records.ts';
import { hashWords } from '../../src/matching/key-words.ts';
import { PastIds } from '../../src/matching/past-ids.ts';
import { NONE } from '../../src/matching/pools.ts';

const USER = 7;
const ID_BYTES = 8;

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
  readonly past: PastIds;
  readonly words: Int32Array = new Int32Array(2);
  private readonly hashBits: number;

  constructor(capacity: number, hashBits: number) {
    this.past = new PastIds(this.records, capacity);
    this.hashBits = hashBits;
  }

  /** The id's words lie in `words` after it. Fewer bits: more ids that share a hash. */
  hashOf(id: number): number {
    this.words[0] = id;
    this.words[1] = 0x3d3d3d3d;
    return hashWords(1, this.words, 0, ID_BYTES) & ~((1 << (32 - this.hashBits)) - 1);
  }

  add(id: number): number {
    const hash = this.hashOf(id);
    const record = this.records.add(USER, 1, 0, 0, this.words, 0, ID_BYTES);
    this.past.add(hash, record);
    return record;
  }

  find(id: number): number {
    return this.past.find(this.hashOf(id), USER, this.words, 0, ID_BYTES);
  }

  remove(id: number, record: number): void {
    this.past.remove(this.hashOf(id), record);
    this.records.release(record);
  }
}

function play(memory: Memory, steps: number, ids: number): void {
  const below = dice(ids);
  const known = new Map<number, number>();
  for (let step = 0; step < steps; step++) {
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

  test('the same with the table of a large market', () => {
    play(new Memory(65_536, 32), 120_000, 60_000);
  });

  test('ids that share a hash are told apart by their bytes', () => {
    play(new Memory(8, 12), 30_000, 20_000);
  });

  test('another user has the same id', () => {
    const memory = new Memory(8, 32);
    memory.add(1);
    assert.equal(memory.past.find(memory.hashOf(1), USER + 1, memory.words, 0, ID_BYTES), NONE);
  });
});
