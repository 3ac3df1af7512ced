// tier: quick
/** When detection works and steps are made: in pieces, spaced, and until nothing is left (LIQ-01, LIQ-02). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Pacing } from '../../../src/clearing/liquidation/pacing.ts';
import type { UserId } from '../../../src/core/ids.ts';
import { SECOND_NS } from '../../../src/core/units.ts';
import { MARK_STALE_NS } from '../../../src/risk/prices.ts';
import { MarginWorld } from '../../support/margin-world.ts';
import { ALICE, BOB, ETH, USD } from '../../support/names.ts';

/** A world with its pacing, and time that the test moves. */
class PacedWorld {
  readonly world: MarginWorld = MarginWorld.make();
  readonly pacing: Pacing = new Pacing();
  elapsedMs = 0;
  /** What a look at the time takes. */
  msPerLook = 0;
  judged = 0;
  scans = 0;

  /** One turn of clearing's thread. @returns the users of the steps that were made, and applied. */
  turn(): readonly string[] {
    const times = {
      nowNs: this.world.nowNs,
      elapsedMs: () => {
        this.elapsedMs += this.msPerLook;
        return this.elapsedMs;
      },
    };
    const steps = this.pacing.poll(this.world.state, times, {
      judged: () => {
        this.judged += 1;
      },
      pricesMoved: () => {
        this.scans += 1;
      },
    });
    if (steps.length > 0) {
      this.world.send(...steps);
      this.pacing.stateChanged();
    }
    return steps.map((step) => (step.kind === 'liquidationStep' ? step.user : 'backstop'));
  }

  /** Turns without a pause, until there is no more work that can go on. @returns the steps. */
  turns(): readonly string[] {
    const steps = [...this.turn()];
    while (this.pacing.hasMore(this.world.state)) steps.push(...this.turn());
    return steps;
  }

  after(ms: number): readonly string[] {
    this.elapsedMs += ms;
    return this.turns();
  }

  /** So many users are short 1 ETH at 2000 with 300 USD each; Bob is long. */
  shorts(count: number): void {
    const { world } = this;
    world.fund(BOB, USD, '100000000', 1);
    for (let at = 0; at < count; at += 1) {
      const user = (at === 0 ? ALICE : at.toString(16).padStart(4, '0').repeat(16)) as UserId;
      world.fund(user, USD, '300', 1);
      assert.equal(world.trade({ buyer: { user: BOB }, seller: { user }, price: 2000, quantity: 1 }), 'confirmed');
    }
    world.pass(MARK_STALE_NS + 1n);
    this.after(10);
    this.judged = 0;
    this.scans = 0;
  }
}

suite('pacing of detection and steps', () => {
  test('LIQ-02: prices of 10 ms are one check, by time that passes, be the clock standing', () => {
    const paced = new PacedWorld();
    paced.shorts(1);
    for (const price of ['2100', '2150', '2180', '2200']) {
      paced.world.prices({ [ETH]: price });
      assert.deepEqual(paced.turns(), []);
      assert.ok(paced.pacing.isWorking(paced.world.state), 'the node is not at rest');
    }
    assert.deepEqual(paced.after(9), []);
    assert.deepEqual(paced.after(1), [ALICE]);
    assert.deepEqual([paced.scans, paced.judged], [1, 1]);
    assert.equal(paced.world.state.liquidations.size, 1);
    assert.equal(paced.pacing.isWorking(paced.world.state), false);
  });

  test('LIQ-01: without any message, an interval of the clock finds what has gone stale', () => {
    const paced = new PacedWorld();
    paced.shorts(1);
    const { world } = paced;
    const spot = { user: BOB, subAccount: 0, isSpot: true };
    world.fund(BOB, USD, '9000');
    world.fund(BOB, ETH, '1');
    for (let trade = 0; trade < 4; trade += 1) world.trade({ buyer: spot, seller: spot, price: 2000, quantity: 0.1 });
    world.prices({ [ETH]: '2200' });
    assert.deepEqual(paced.after(10), [], 'the mark of 2000 counts');
    world.pass(MARK_STALE_NS + 1n);
    assert.deepEqual(paced.after(9), []);
    assert.deepEqual(paced.after(1), [ALICE]);
  });

  test('AMB-57: a round that waits goes on when the clock has moved by the interval', () => {
    const paced = new PacedWorld();
    paced.shorts(1);
    const { world } = paced;
    world.prices({ [ETH]: '2200' });
    paced.after(10);
    world.put('putMarket', ETH, { status: 'Halted' }, 'patch');
    world.send({ kind: 'accountCleared', request: world.request(), user: ALICE, subAccount: 1, through: [] });
    paced.pacing.stateChanged();
    assert.deepEqual(paced.turns(), [ALICE], 'as soon as the account is cleared');
    assert.deepEqual(paced.after(5_000), [], 'the clock stands');
    paced.after(10);
    assert.deepEqual(paced.pacing.counts(world.state), { liquidating: 1, blocked: 1 }, 'for operators');
    world.pass(SECOND_NS);
    assert.deepEqual(paced.after(10), [ALICE]);
  });

  test('LIQ-02: a fall that concerns many is worked off in slices of the thread, and each account gets its step once', () => {
    const paced = new PacedWorld();
    paced.shorts(150);
    paced.world.prices({ [ETH]: '2200' });
    paced.elapsedMs += 10;
    paced.msPerLook = 0.6;
    const steps: string[] = [];
    let turns = 0;
    do {
      const judged = paced.judged;
      steps.push(...paced.turn());
      turns += 1;
      assert.ok(paced.judged - judged <= 128, 'a slice is bounded by time');
    } while (paced.pacing.hasMore(paced.world.state));
    assert.deepEqual([steps.length, new Set(steps).size, paced.world.state.liquidations.size], [150, 150, 150]);
    assert.ok(turns >= 5, `${turns} turns: a batch takes 32 steps`);
  });
});
