// tier: quick
/** The watch of an EVM chain whose cursors are rows of the journal: restarts, takeovers, and the files of before. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { CursorMoved, CursorRows, type StepReply } from '../../src/chain/cursor-rows.ts';
import type { CursorKeeper } from '../../src/chain/event-cursor.ts';
import { type EventCursor, freshCursor, STEP_EVENTS_MAX } from '../../src/clearing/funds/chain-cursor.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { ClearingWorld, PlainTables, reply } from '../support/clearing-world.ts';
import { ALICE, BOB } from '../support/names.ts';
import { EvmFixture, PLAIN_CHAIN, PLAIN_TOKEN, PLAIN_VAULT } from '../support/plain-evm.ts';
import { propertyParameters, storyOf } from '../support/property.ts';

/** A watch over plain providers, and two nodes that apply the same records; a restart goes on with the rows of the other one. */
class RowsFixture extends EvmFixture {
  #nodes: readonly [Node, Node] = [opened(), opened()];
  /** So many of the next steps are not accepted. */
  refuses = 0;
  records = 0;
  asked = 0;
  file: EventCursor | null = null;

  protected override keeper(): CursorKeeper {
    const [killed, next] = this.#nodes;
    const [leader, standby] = [killed.world, next.world];
    assert.equal(stateHash(leader.state), stateHash(standby.state), 'nodes that applied the same records are equal');
    killed.tables.checkpoint(leader.state);
    leader.state = killed.tables.load();
    assert.equal(stateHash(leader.state), stateHash(standby.state), 'a node that was killed is as it was');
    this.#nodes = [next, killed];
    return new CursorRows({
      page: async (chainId, event, from) => standby.state.chainCursors.page({ chainId, event }, from),
      step: async (step): Promise<StepReply> => {
        if (this.refuses > 0) {
          this.refuses -= 1;
          return null;
        }
        this.records += 1;
        const [kept] = this.#nodes.map(({ world }) => {
          const answer = reply(world.send({ kind: 'chainStep', request: 1, ...step }));
          assert.ok(answer.ok);
          return answer.value as unknown as StepReply;
        });
        return kept ?? null;
      },
      files: { load: async () => this.file },
      isEnding: () => false,
    });
  }

  get cursor(): EventCursor | null {
    return this.#nodes[0].world.state.chainCursors.find({ chainId: PLAIN_CHAIN, event: 'deposit' });
  }
}

interface Node {
  readonly world: ClearingWorld;
  readonly tables: PlainTables;
}

function opened(): Node {
  const world = new ClearingWorld();
  const body = { kind: 'evm', rpc_urls: ['http://127.0.0.1:1'], approval_validity_s: 3_600 };
  world.send({ kind: 'putConfig', request: 1, config: 'chain', key: PLAIN_CHAIN, method: 'put', body });
  return { world, tables: new PlainTables() };
}

async function started(providers = 3, confirmations = 1): Promise<RowsFixture> {
  const fixture = new RowsFixture(providers, confirmations);
  await fixture.start();
  return fixture;
}

suite('cursors of EVM chains in rows', () => {
  test('another node goes on where this one was: no block is read from the first one again, and nothing is credited twice', async () => {
    const fixture = await started();
    fixture.chain.mine(40);
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    const { cursor } = fixture;
    assert.equal(cursor?.nextBlock, 42);
    await fixture.start();
    assert.equal(fixture.watch.state().processed, 41);
    fixture.chain.deposit([BOB, 6n]);
    const offers = fixture.credits.offers;
    await fixture.settle();
    assert.equal(fixture.credits.offers, offers + 1, 'nothing of before is offered again');
    assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
  });

  test('AMB-74: the stop of a chain is a fact of every node', async () => {
    const fixture = await started(3, 2);
    fixture.chain.mine(5);
    fixture.chain.deposit([ALICE, 5n]);
    fixture.chain.mine(3);
    await fixture.settle();
    fixture.chain.reorg(5, false);
    fixture.chain.deposit([BOB, 6n]);
    fixture.chain.mine(3);
    await fixture.settle();
    assert.equal(fixture.watch.state().stopped?.reason, 'reorg');
    for (let kill = 0; kill < 2; kill += 1) {
      await fixture.start();
      await fixture.settle();
      assert.equal(fixture.watch.state().stopped?.deposits, 1);
      assert.equal(fixture.credits.credited.length, 1);
    }
    assert.deepEqual(await fixture.resume(), [`${ALICE}/0/${PLAIN_TOKEN}/5`]);
    await fixture.start();
    await fixture.settle();
    assert.deepEqual([fixture.watch.state().stopped, fixture.credits.credited.length], [null, 2]);
  });

  test('an idle chain writes a record at most once in the interval, and one that is read quickly once in 256 ranges', async () => {
    const fixture = await started(1);
    fixture.savedEveryMs = 60_000;
    await fixture.start();
    await fixture.settle();
    for (let block = 0; block < 600; block += 1) {
      fixture.chain.mine(1);
      fixture.nowMs += 1_000;
      await fixture.settle();
    }
    // Ten minutes: begin, and one for each minute or two.
    assert.ok(fixture.records >= 8 && fixture.records <= 12, `${fixture.records} records`);
    const before = fixture.records;
    for (let block = 0; block < 300; block += 1) {
      fixture.chain.mine(1);
      await fixture.settle();
    }
    assert.equal(fixture.records - before, 1);
    await fixture.watch.close();
    assert.equal(fixture.cursor?.nextBlock, 901, 'an orderly stop reads nothing again');
  });

  test('while clearing does not take a step the watch waits, and goes on', async () => {
    const fixture = await started(1);
    fixture.refuses = 2;
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    assert.equal(fixture.cursor?.recent.length, 1);
  });

  test('a watch whose cursor another one has moved is opened again', async () => {
    const fixture = await started(1);
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    const stale = fixture.watch;
    await fixture.start();
    fixture.chain.deposit([ALICE, 6n]);
    await fixture.settle();
    fixture.chain.deposit([ALICE, 7n]);
    await assert.rejects(async () => {
      for (let polls = 0; polls < 5; polls += 1) await stale.poll();
    }, CursorMoved);
  });

  test('more events than a step has room for, of one block and of many', async () => {
    const fixture = await started(3);
    const many = Array.from({ length: 2 * STEP_EVENTS_MAX + 7 }, (_, at) => [ALICE, BigInt(at + 1)] as const);
    fixture.chain.deposit(...many);
    for (let at = 0; at < STEP_EVENTS_MAX + 3; at += 1) fixture.chain.deposit([BOB, 1n]);
    await fixture.settle();
    assert.deepEqual([...fixture.credits.credited].sort(), [...fixture.chain.deposits()].sort());
    assert.equal(fixture.cursor?.recent.length, 3 * STEP_EVENTS_MAX + 10);
    await fixture.start();
    fixture.chain.mine(1);
    await fixture.settle();
    assert.equal(fixture.watch.state().processed, fixture.chain.head);
  });

  test('the file of an earlier version is read once, and its stop stays', async () => {
    const fixture = new RowsFixture(1);
    fixture.chain.mine(9);
    const stopped = { reason: 'reorg', block: 3, deposits: 1 } as const;
    const anchors = [4, 7].map((number) => ({ number, hash: fixture.chain.blocks[number]?.hash ?? '' }));
    fixture.file = { ...freshCursor(PLAIN_VAULT), nextBlock: 8, anchors, stopped };
    await fixture.start();
    assert.deepEqual(fixture.watch.state().stopped, stopped);
    assert.deepEqual(fixture.cursor, fixture.file);
    await fixture.resume();
    await fixture.start();
    await fixture.settle();
    assert.deepEqual([fixture.watch.state().stopped, fixture.watch.state().processed], [null, 9]);
  });

  test('of a file with more events than a step has room for the newest are taken, with the anchors behind which they are', async () => {
    const anchors = Array.from({ length: 200 }, (_, at) => ({ number: at * 10, hash: 'ab'.repeat(32) }));
    const nameOf = (at: number): string => `${ALICE}/${at}/${PLAIN_TOKEN}/1`;
    const recent = Array.from({ length: 1_900 }, (_, at) => ({ block: at + 1, what: nameOf(at) }));
    const stopped = { reason: 'gap', block: 3, deposits: 1 } as const;
    const file = { ...freshCursor(PLAIN_VAULT), nextBlock: 1_991, anchors, recent, stopped };
    const fixture = new RowsFixture(1);
    fixture.file = file;
    await fixture.start();
    const { cursor: taken } = fixture;
    assert.ok(taken !== null && taken.recent.length <= STEP_EVENTS_MAX && taken.recent.length > STEP_EVENTS_MAX - 20);
    assert.deepEqual([taken.recent.at(-1), taken.anchors.at(-1)], [recent.at(-1), anchors.at(-1)]);
    assert.ok((taken.recent[0]?.block ?? 0) > (taken.anchors[0]?.number ?? 0));
    assert.deepEqual(taken.stopped, stopped);

    const crowded = new RowsFixture(1);
    const missing = Array.from({ length: STEP_EVENTS_MAX + 1 }, (_, at) => ({ what: nameOf(at), until: 0 }));
    crowded.file = { ...file, missing };
    await crowded.start();
    assert.deepEqual(crowded.cursor, { ...freshCursor(PLAIN_VAULT), stopped }, 'read from the first block');
  });

  test('property: over takeovers and kills at any point the credits are the final deposits, and the positions of all nodes are equal', async () => {
    const steps = ['mine', 'deposit', 'reorg', 'takeover', 'busy', 'poll'] as const;
    await fc.assert(
      fc.asyncProperty(storyOf(steps, [10, 80]), fc.integer({ min: 1, max: 4 }), async (story, confirmations) => {
        const fixture = await started(3, confirmations);
        for (const [step, pick] of story) {
          const name = steps[step] ?? 'poll';
          if (name === 'mine') fixture.chain.mine(1 + (pick % 7));
          else if (name === 'deposit') fixture.chain.deposit([ALICE, BigInt(1 + pick)], [BOB, 3n]);
          else if (name === 'takeover') await fixture.start();
          else if (name === 'busy') fixture.credits.refuses = pick % 5;
          else if (name === 'poll') await fixture.watch.poll();
          else {
            const depth = Math.min(pick % confirmations, fixture.chain.head);
            if (depth > 0) fixture.chain.reorg(depth, pick % 2 === 0);
          }
        }
        fixture.credits.refuses = 0;
        fixture.chain.mine(confirmations);
        await fixture.settle();
        await fixture.start();
        await fixture.settle();
        assert.deepEqual([...fixture.credits.credited].sort(), [...fixture.chain.deposits()].sort());
        assert.deepEqual([fixture.watch.state().stopped, fixture.alarms], [null, []]);
      }),
      propertyParameters(60),
    );
  });
});
