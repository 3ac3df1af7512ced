// tier: quick
/** The watch of one kind of events over plain providers: majority, finality, once, restarts, gaps, reorganisations. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { CursorStore, decodeCursor } from '../../src/chain/event-cursor.ts';
import { OFFER_MAX } from '../../src/chain/event-watch.ts';
import { majorityHead } from '../../src/chain/range-verdict.ts';
import { RECENT_MAX } from '../../src/clearing/funds/chain-cursor.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ALICE, BOB } from '../support/names.ts';
import {
  EvmFixture,
  FAULTS,
  PLAIN_CHAIN,
  PLAIN_TOKEN,
  PLAIN_VAULT,
  SimulatedFixture,
  type WatchFixture,
} from '../support/plain-evm.ts';
import { propertyParameters, storyOf } from '../support/property.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PEOPLE = [ALICE, BOB, 'c3'.repeat(32) as UserId];

async function started(providers = 3, confirmations = 1): Promise<EvmFixture> {
  const fixture = new EvmFixture(providers, confirmations);
  await fixture.start();
  return fixture;
}

/** What holds for the watch of every kind of chain is tested over the providers of each. */
const KINDS = { 'an EVM chain': EvmFixture, 'a simulated chain': SimulatedFixture } as const;

for (const [kind, Fixture] of Object.entries(KINDS)) {
  const started = async (providers = 3, confirmations = 1): Promise<WatchFixture> => {
    const fixture: WatchFixture = new Fixture(providers, confirmations);
    await fixture.start();
    return fixture;
  };

  suite(`event watch of ${kind}`, () => {
    for (const [name, confirmations] of [
      ['chain 1', 4],
      ['chain 42161', 15],
      ['chain 143', 15],
      ['chain 8453', 10],
    ] as const) {
      test(`${name}: not credited with ${confirmations - 1} confirmations, credited with ${confirmations} at the next poll (DEP-08, DEP-17 to DEP-20)`, async () => {
        const fixture = await started(3, confirmations);
        fixture.chain.mine(7);
        fixture.chain.deposit([ALICE, 5n]);
        fixture.chain.mine(confirmations - 2);
        await fixture.settle();
        assert.deepEqual(fixture.credits.credited, []);
        fixture.chain.mine(1);
        await fixture.watch.poll();
        assert.deepEqual(fixture.credits.credited, [`${ALICE}/0/5`]);
      });
    }

    test('AMB-84: a silent provider agrees with none: one of two is no majority, two of three are', async () => {
      for (const [configured, silent, credits] of [
        [2, 1, 0],
        [3, 1, 1],
        [3, 2, 0],
        [5, 2, 1],
        [4, 2, 0],
      ] as const) {
        const fixture = await started(configured);
        for (const provider of fixture.providers.slice(0, silent)) provider.fault = 'unreachable';
        fixture.chain.deposit([ALICE, 5n]);
        await fixture.settle();
        assert.equal(fixture.credits.credited.length, credits, `${silent} of ${configured} are silent`);
      }
    });

    test('DEP-10: a restart reads again what was not saved and credits nothing twice', async () => {
      const fixture = await started();
      for (let index = 0; index < 5; index += 1) {
        fixture.chain.deposit([ALICE, 5n], [BOB, BigInt(index + 1)]);
        await fixture.settle();
      }
      for (const lost of [1, 2, 100]) {
        await fixture.start(lost);
        fixture.chain.deposit([BOB, 9n]);
        await fixture.settle();
        assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
      }
    });

    test('while clearing is busy nothing is lost, and the order of each user stays', async () => {
      const fixture = await started();
      const many = Array.from({ length: 2 * OFFER_MAX + 7 }, (_, index): [UserId, bigint] => [
        ALICE,
        BigInt(index + 1),
      ]);
      fixture.chain.deposit(...many);
      for (const refuses of [1, OFFER_MAX, 3]) {
        fixture.credits.refuses = refuses;
        await fixture.settle();
      }
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
    });

    test('AMB-74: a deposit that vanishes after finality stops the chain, also after a restart, until it is resumed', async () => {
      const fixture = await started(3, 2);
      fixture.chain.mine(5);
      fixture.chain.deposit([ALICE, 5n]);
      fixture.chain.mine(3);
      await fixture.settle();
      fixture.chain.reorg(5, false);
      fixture.chain.deposit([BOB, 6n]);
      fixture.chain.mine(3);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, [`${ALICE}/0/5`]);
      assert.equal(fixture.watch.state().stopped?.reason, 'reorg');
      assert.equal(fixture.watch.state().stopped?.deposits, 1);
      assert.ok(fixture.alarms.includes('booked events vanished'));

      await fixture.start();
      await fixture.settle();
      assert.equal(fixture.credits.credited.length, 1, 'a stopped chain credits nothing after a restart');

      await fixture.resume();
      await fixture.settle();
      // The counter of the vanished deposit credits nothing more (DEP-10).
      fixture.chain.deposit([ALICE, 7n]);
      fixture.chain.deposit([ALICE, 8n]);
      fixture.chain.mine(1);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, [`${ALICE}/0/5`, `${BOB}/0/6`, `${ALICE}/1/8`]);
      assert.equal(fixture.watch.state().stopped, null);
    });

    test('AMB-74: a final deposit that comes again in another block goes on without a stop and is credited once', async () => {
      const fixture = await started(3, 2);
      fixture.chain.mine(5);
      fixture.chain.deposit([ALICE, 5n]);
      fixture.chain.mine(3);
      await fixture.settle();
      fixture.chain.reorg(4, true);
      fixture.chain.deposit([BOB, 6n]);
      fixture.chain.mine(3);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, [`${ALICE}/0/5`, `${BOB}/0/6`]);
      assert.deepEqual([fixture.watch.state().stopped, fixture.alarms], [null, ['final blocks were replaced']]);
    });

    test('AMB-74: a final deposit that a reorganisation moves into a block that is not final, and a second one drops, stops the chain, after a restart too', async () => {
      for (const restarts of [false, true]) {
        const fixture = await started(3, 4);
        fixture.chain.mine(5);
        fixture.chain.deposit([ALICE, 5n]);
        fixture.chain.mine(3);
        await fixture.settle();
        assert.equal(fixture.credits.credited.length, 1);
        // Block 6 is another one, and the deposit comes again in block 10 of 10: final is 7.
        fixture.chain.reorg(4, false);
        fixture.chain.deposit([ALICE, 5n]);
        await fixture.settle();
        assert.equal(fixture.watch.state().stopped, null);
        assert.equal(fixture.saved.at(-1)?.missing.length, 1, 'booked, and not read again');
        if (restarts) await fixture.start();
        fixture.chain.reorg(1, false);
        await fixture.settle();
        assert.equal(fixture.watch.state().stopped?.reason, 'reorg');
        assert.equal(fixture.watch.state().stopped?.deposits, 1);
        assert.deepEqual(await fixture.resume(), [`${ALICE}/0/${PLAIN_TOKEN}/5`]);
        await fixture.settle();
        assert.deepEqual([fixture.watch.state().stopped, fixture.credits.credited.length], [null, 1]);
      }
    });

    test('a resumption waits for a majority that decides what has vanished', async () => {
      const fixture = await started(3, 1);
      fixture.chain.mine(5);
      fixture.chain.deposit([ALICE, 5n]);
      await fixture.settle();
      fixture.chain.reorg(1, false);
      await fixture.watch.poll();
      // The other kinds of events are polled next, and must not book what a stopped chain shows.
      assert.equal(fixture.watch.state().stopped?.reason, 'reorg', 'by the poll that sees it');
      for (const provider of fixture.providers.slice(1)) provider.fault = 'unreachable';
      assert.equal(await fixture.watch.vanished(0), null);
      assert.notEqual(fixture.watch.state().stopped, null);
      for (const provider of fixture.providers) provider.fault = 'none';
      assert.equal((await fixture.resume()).length, 1);
    });

    test('property: whatever a minority does, and however often it restarts, the credits are the final deposits (DEP-07 to DEP-10)', async () => {
      const steps = ['mine', 'deposit', 'reorg', 'restart', 'fault', 'busy', 'poll', 'silence'] as const;
      await fc.assert(
        fc.asyncProperty(storyOf(steps, [10, 120]), fc.integer({ min: 1, max: 5 }), async (story, confirmations) => {
          const fixture = await started(3, confirmations);
          for (const [step, pick] of story) {
            await played(fixture, steps[step] ?? 'poll', pick);
            const final = fixture.chain.deposits(fixture.chain.head - confirmations + 1);
            for (const user of PEOPLE) {
              const credited = ofUser(fixture.credits.credited, user);
              assert.deepEqual(credited, ofUser(final, user).slice(0, credited.length));
            }
          }
          for (const provider of fixture.providers) provider.fault = 'none';
          fixture.credits.refuses = 0;
          fixture.chain.mine(confirmations);
          await fixture.settle();
          assert.deepEqual([...fixture.credits.credited].sort(), [...fixture.chain.deposits()].sort());
          assert.deepEqual([fixture.watch.state().stopped, fixture.alarms], [null, []]);
        }),
        propertyParameters(150),
      );
    });
  });
}

suite('event watch', () => {
  test('DEP-21: the number of confirmations is read at each poll', async () => {
    const fixture = await started(1, 10);
    fixture.chain.deposit([ALICE, 5n]);
    fixture.chain.mine(1);
    await fixture.settle();
    assert.equal(fixture.credits.offers, 0);
    fixture.confirmations = 2;
    await fixture.settle();
    assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
  });

  for (const fault of FAULTS) {
    if (fault === 'none') continue;
    test(`DEP-07, AMB-84: one of three that ${fault} changes nothing; two that do so differently credit nothing untrue`, async () => {
      const fixture = await started(3, 2);
      const [first, second] = fixture.providers;
      assert.ok(first !== undefined && second !== undefined);
      first.fault = fault;
      fixture.chain.deposit([ALICE, 5n], [BOB, 6n]);
      fixture.chain.mine(4);
      fixture.chain.deposit([ALICE, 7n]);
      fixture.chain.mine(1);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());

      second.fault = fault;
      fixture.chain.deposit([BOB, 8n]);
      fixture.chain.mine(1);
      await fixture.settle();
      const credited = fixture.chain.deposits().slice(0, fault === 'refuses' ? 4 : 3);
      assert.deepEqual(fixture.credits.credited, credited);
      assert.equal(fixture.watch.state().stopped?.reason, fault === 'forked' ? 'reorg' : undefined);

      second.fault = 'none';
      await fixture.resume();
      fixture.chain.deposit([BOB, 9n]);
      fixture.chain.mine(3);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
    });
  }

  test('AMB-84: two of four that falsify alike are no majority, and neither are the two others', async () => {
    for (const fault of ['forges', 'forked'] as const) {
      const fixture = await started(4);
      for (const provider of fixture.providers.slice(0, 2)) {
        provider.fault = fault;
        provider.salt = 'aaaaaaaa';
      }
      fixture.chain.deposit([ALICE, 5n]);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, []);
      for (const provider of fixture.providers) provider.fault = 'none';
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
    }
  });

  test('the head is the highest block that more than half have reached', () => {
    assert.equal(majorityHead([5, 9, 7]), 7);
    assert.equal(majorityHead([5, 9]), 5);
    assert.equal(majorityHead([9, null, null]), -1);
    assert.equal(majorityHead([1_000_000, 7, null]), 7);
  });

  test('deposits made while the node was down are found in ranges, in the order of the chain', async () => {
    const fixture = await started();
    fixture.chain.mine(3_000);
    for (let index = 0; index < 40; index += 1) {
      fixture.chain.deposit([PEOPLE[index % 3] ?? ALICE, BigInt(index + 1)]);
      fixture.chain.mine(index);
    }
    const polls = await fixture.settle();
    assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
    assert.ok(polls < 10, `${polls} polls`);
  });

  test('providers that refuse long ranges are asked for shorter ones, and all is read', async () => {
    const fixture = await started();
    for (const provider of fixture.providers) provider.fault = 'refuses';
    fixture.chain.mine(50);
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
  });

  test('DEP-09: a reorganisation before finality moves a deposit or drops it, and only what is final is credited', async () => {
    const fixture = await started(3, 4);
    fixture.chain.deposit([ALICE, 5n]);
    fixture.chain.mine(2);
    await fixture.settle();
    fixture.chain.reorg(3, false);
    fixture.chain.deposit([ALICE, 6n]);
    fixture.chain.mine(2);
    await fixture.settle();
    fixture.chain.reorg(3, true);
    fixture.chain.mine(4);
    await fixture.settle();
    assert.deepEqual(fixture.credits.credited, [`${ALICE}/0/6`]);
    assert.deepEqual(fixture.alarms, []);
  });

  test('a final deposit that comes again with another amount stops the chain', async () => {
    const fixture = await started(1, 1);
    fixture.chain.mine(5);
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    fixture.chain.reorg(1, false);
    fixture.chain.reorg(1, false);
    fixture.chain.blocks.pop();
    fixture.chain.deposit([ALICE, 50n]);
    await fixture.settle();
    assert.equal(fixture.watch.state().stopped?.reason, 'reorg');
    assert.deepEqual(fixture.credits.credited, [`${ALICE}/0/5`]);
  });

  test('a chain that a majority moves below everything remembered is stopped', async () => {
    const fixture = await started();
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    for (const provider of fixture.providers.slice(0, 2)) {
      provider.fault = 'forked';
      provider.salt = 'abcd';
    }
    fixture.chain.deposit([BOB, 6n]);
    await fixture.settle();
    assert.deepEqual(fixture.watch.state().stopped, { reason: 'reorg', block: -1, deposits: 1 });
    assert.equal(fixture.credits.credited.length, 1);
  });

  test('AMB-74: a cursor ahead of clearing leaves a gap; the user is read again from the first block', async () => {
    const fixture = await started(3, 1);
    fixture.chain.deposit([BOB, 3n]);
    fixture.chain.deposit([ALICE, 5n]);
    await fixture.settle();
    // Another ledger, older than the cursor: it has credited nothing.
    const other = new EvmFixture(3, 1);
    other.chain.blocks = fixture.chain.blocks;
    other.saved.push(...fixture.saved);
    await other.start();
    other.chain.deposit([ALICE, 7n]);
    await other.settle();
    assert.deepEqual(other.credits.credited, [`${ALICE}/0/5`, `${ALICE}/1/7`]);
    assert.equal(other.watch.state().stopped, null);
  });

  test('a gap that no search closes stops the chain; nothing behind it is credited', async () => {
    const fixture = await started();
    fixture.chain.deposit([ALICE, 5n]);
    fixture.chain.deposit([ALICE, 6n]);
    for (const provider of fixture.providers.slice(0, 2)) provider.fault = 'omits';
    await fixture.settle();
    fixture.nowMs += 60_000;
    await fixture.settle();
    assert.equal(fixture.watch.state().stopped, null, 'its log may be late');
    await fixture.settleLate();
    assert.equal(fixture.watch.state().stopped?.reason, 'gap');
    assert.deepEqual(fixture.credits.credited, []);
    for (const provider of fixture.providers) provider.fault = 'none';
    await fixture.resume();
    await fixture.settle();
    assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
  });

  test('CHN-04: a deposit whose log all providers show late is credited when the blocks are read again, once', async () => {
    const fixture = await started(3, 1);
    fixture.chain.mine(3);
    const block = fixture.chain.deposit([ALICE, 5n], [BOB, 6n]);
    for (const provider of fixture.providers) provider.hides = block;
    fixture.chain.mine(3);
    await fixture.settle();
    assert.deepEqual([fixture.credits.credited, fixture.watch.state().processed], [[], fixture.chain.head]);
    assert.equal(fixture.watch.readAgain(1), fixture.chain.head);
    await fixture.settle();
    assert.deepEqual(fixture.credits.credited, [], 'it is hidden still');
    for (const provider of fixture.providers) provider.hides = null;
    for (let time = 0; time < 3; time += 1) {
      fixture.watch.readAgain(1);
      await fixture.settle();
      assert.deepEqual(fixture.credits.credited, fixture.chain.deposits());
    }
    // It is part of the cursor: a reorganisation has to show it again.
    assert.equal(fixture.saved.at(-1)?.recent.length, 2);
    fixture.chain.reorg(4, false);
    fixture.chain.mine(2);
    await fixture.settle();
    assert.equal(fixture.watch.state().stopped?.deposits, 2);
    assert.equal(fixture.watch.readAgain(1), null, 'a stopped chain reads nothing');
  });

  test('CHN-04: a later deposit of a user whose earlier one is hidden waits for it for minutes, and the chain does not stop', async () => {
    const fixture = await started(3, 1);
    const block = fixture.chain.deposit([ALICE, 5n]);
    for (const provider of fixture.providers) provider.hides = block;
    await fixture.settle();
    fixture.chain.deposit([ALICE, 7n], [BOB, 8n]);
    for (let second = 0; second < 100; second += 1) {
      await fixture.settle();
      fixture.nowMs += 1_000;
    }
    assert.deepEqual([ofUser(fixture.credits.credited, ALICE), fixture.watch.state().stopped], [[], null]);
    for (const provider of fixture.providers) provider.hides = null;
    fixture.nowMs += 60_000;
    await fixture.settle();
    await fixture.settle();
    assert.deepEqual([...fixture.credits.credited].sort(), [...fixture.chain.deposits()].sort());
  });

  test('property: whatever a majority hides for a while, and whenever blocks are read again, each deposit is booked once (CHN-04)', async () => {
    const steps = ['mine', 'deposit', 'hide', 'show', 'again', 'restart', 'poll'] as const;
    await fc.assert(
      fc.asyncProperty(storyOf(steps, [10, 80]), async (story) => {
        const fixture = await started(3, 1);
        for (const [step, pick] of story) {
          const name = steps[step] ?? 'poll';
          if (name === 'hide') for (const one of fixture.providers.slice(pick % 3)) one.hides = fixture.chain.head;
          else if (name === 'show') for (const one of fixture.providers) one.hides = null;
          else if (name === 'again') fixture.watch.readAgain(1 + (pick % Math.max(fixture.chain.head, 1)));
          else await played(fixture, name, pick);
          for (const user of PEOPLE) {
            const credited = ofUser(fixture.credits.credited, user);
            assert.deepEqual(credited, ofUser(fixture.chain.deposits(), user).slice(0, credited.length));
          }
        }
        for (const one of fixture.providers) one.hides = null;
        await fixture.settle();
        fixture.watch.readAgain(1);
        await fixture.settleLate();
        assert.deepEqual([...fixture.credits.credited].sort(), [...fixture.chain.deposits()].sort());
        const recent = fixture.saved.at(-1)?.recent ?? [];
        assert.equal(new Set(recent.map(({ what }) => what)).size, recent.length, 'none is remembered twice');
        assert.equal(fixture.watch.state().stopped, null);
      }),
      propertyParameters(150),
    );
  });

  test('the cursor survives as it was, in a file that is whole or refused, and its memory is bounded', async () => {
    const store = new CursorStore(temporaryDirectory());
    assert.equal(await store.load(PLAIN_CHAIN, 'deposit'), null);
    const fixture = await started(1);
    const many = Array.from({ length: 9_000 }, (_, index): [UserId, bigint] => [ALICE, BigInt(index + 1)]);
    fixture.chain.deposit(...many.slice(0, 10));
    for (let rounds = 0; rounds < 3; rounds += 1) {
      fixture.chain.blocks = fixture.chain.blocks.slice(0, 1);
      const fresh = await started(1);
      fresh.chain.deposit(...many.slice(0, 20));
      for (let index = 0; index < 400; index += 1) {
        fresh.chain.deposit([BOB, 1n]);
        await fresh.settle();
      }
      const cursor = fresh.saved.at(-1);
      assert.ok(cursor !== undefined && cursor.anchors.length <= 256 && cursor.recent.length <= RECENT_MAX);
      await store.save(PLAIN_CHAIN, 'deposit', cursor);
      assert.deepEqual(await store.load(PLAIN_CHAIN, 'deposit'), cursor);
    }
    for (const text of ['', '{}', '[]', `{"format":1,"vault":"${PLAIN_VAULT}","nextBlock":-1}`, '{"format":2}']) {
      assert.throws(() => decodeCursor(text), /cursor of a chain is damaged/);
    }
  });
});

function ofUser(names: readonly string[], user: UserId): readonly string[] {
  return names.filter((name) => name.startsWith(user));
}

/** One step of a run; at most one provider is at fault, except for silence. */
async function played(fixture: WatchFixture, step: string, pick: number): Promise<void> {
  const { chain, providers, credits } = fixture;
  switch (step) {
    case 'mine':
      chain.mine(1 + (pick % 7));
      return;
    case 'deposit': {
      const user = PEOPLE[pick % 3] ?? ALICE;
      chain.deposit([user, BigInt(1 + (pick % 1_000))], [BOB, 3n]);
      return;
    }
    case 'reorg': {
      // Never a final block.
      const depth = Math.min(pick % fixture.confirmations, chain.head);
      if (depth > 0) chain.reorg(depth, pick % 2 === 0);
      return;
    }
    case 'restart':
      await fixture.start(pick % 4);
      return;
    case 'fault': {
      for (const provider of providers) provider.fault = 'none';
      const provider = providers[pick % providers.length];
      if (provider !== undefined) provider.fault = fixture.faults[(pick >>> 4) % fixture.faults.length] ?? 'none';
      return;
    }
    case 'silence':
      for (const provider of providers) provider.fault = 'unreachable';
      return;
    case 'busy':
      credits.refuses = pick % 5;
      return;
    default:
      await fixture.watch.poll();
  }
}
