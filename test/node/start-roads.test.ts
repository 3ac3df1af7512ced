// tier: quick, 3 s
/** A start on tables alone, and one that has to replay first: what comes out of them, and what does not (AMB-110). */
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { suite, test } from 'node:test';
import type { Durability, Recovery } from '../../src/clearing/durability.ts';
import { recoverState } from '../../src/clearing/recovery.ts';
import type { RowWrite, SignedText } from '../../src/clearing/rows.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { drainDirtyRows } from '../../src/clearing/tables.ts';
import { InvariantError } from '../../src/core/assert.ts';
import type { Sequence } from '../../src/core/units.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { makeLargeRows } from '../support/large-rows.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const SIZE = { users: 40, orders: 2_000, triggers: 400, children: 300, leftovers: 20 };

function start(durability: Durability): SimulatedNode {
  const node = new SimulatedNode({
    durability,
    forged: new Set(),
    startNs: SIMULATION_START_NS,
    seed: 1,
    checkpointAfter: 1_000,
  });
  node.settle();
  return node;
}

/** Everything that a start sends, as its receivers have it, and what clearing has. */
function outcome(durability: Durability): unknown {
  const node = start(durability);
  const users = [...node.clearing.ledger.users.keys()];
  return {
    books: node.bookHashes(),
    hash: stateHash(node.clearing.ledger),
    orders: node.gateway.orders.ordersInMemory,
    inventories: users.map((user) => node.gateway.orders.inventory(user, null)),
  };
}

/** A directory of a node that was killed with records behind its checkpoint. */
async function killed(): Promise<string> {
  const directory = temporaryDirectory();
  await makeLargeRows(directory, SIZE);
  const durability = new LmdbDurability(directory);
  const node = start(durability);
  for (const { definition } of node.clearing.ledger.markets) {
    const body = { taker_fee_rate: definition.takerFeeRate + 100 };
    node.commandAll([{ kind: 'putMarket', method: 'patch', assetId: definition.assetId, body }]);
  }
  await durability.close();
  return directory;
}

/** The last order of the tables is not what was written. */
class DamagedAtTheEnd implements Durability {
  readonly written: string[] = [];
  readonly #inner: Durability;

  constructor(inner: Durability) {
    this.#inner = inner;
  }

  recover(): Recovery {
    const recovery = this.#inner.recover();
    return { ...recovery, rows: cutOff(recovery.rows) };
  }

  append(): Sequence {
    this.written.push('record');
    return 0 as Sequence;
  }

  checkpoint(): void {
    this.written.push('checkpoint');
  }

  prune(): boolean {
    return true;
  }

  get lastRecord(): Durability['lastRecord'] {
    return this.#inner.lastRecord;
  }

  get journalSize(): Durability['journalSize'] {
    return this.#inner.journalSize;
  }

  rememberedIds(): [] {
    return [];
  }

  idWatermarks(): [] {
    return [];
  }

  signedText(marketIndex: number, orderSequence: Sequence): SignedText | null {
    return this.#inner.signedText(marketIndex, orderSequence);
  }

  close(): void {}
}

function* cutOff(rows: Iterable<RowWrite>): Generator<RowWrite> {
  let orders = 0;
  for (const row of rows) {
    if (row.table === 'order') orders += 1;
    if (orders === SIZE.orders) throw new InvariantError('storage: a row is damaged');
    yield row;
  }
}

suite('the paths of a start', () => {
  test('give the same books, the same gateway and the same state', async () => {
    const directory = await killed();
    const other = temporaryDirectory();
    cpSync(directory, other, { recursive: true });
    // What lies behind the checkpoint of the other goes into its tables before it starts.
    const before = new LmdbDurability(other);
    const { state, sequence, timeNs } = recoverState(before);
    const { batchCount } = before.recover();
    assert.ok(batchCount > 0, 'something lies behind the checkpoint');
    before.checkpoint({ timeNs, sequence, clean: false, stateHash: null }, drainDirtyRows(state));
    await before.close();

    const [replaying, walking] = [new LmdbDurability(directory), new LmdbDurability(other)];
    assert.deepEqual([replaying.recover().batchCount, walking.recover().batchCount], [batchCount, 0]);
    assert.deepEqual(outcome(walking), outcome(replaying));
    await replaying.close();
    await walking.close();
  });

  test('end where a row is damaged: nothing is opened, nothing is written', async () => {
    const directory = temporaryDirectory();
    await makeLargeRows(directory, SIZE);
    const inner = new LmdbDurability(directory);
    const damaged = new DamagedAtTheEnd(inner);
    assert.throws(() => start(damaged), /a row is damaged/);
    assert.deepEqual(damaged.written, []);
    await inner.close();
  });
});
