// tier: quick

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, ROLLBACK_REASON, SIDE, TIF } from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { ClearingWorld, DAYS_30, effectsOf, FEES, reasonsOf } from '../support/clearing-world.ts';
import { ALICE, BOB, CAROL, ETH, USD } from '../support/names.ts';

const E18 = 10n ** 18n;
const R = ROLLBACK_REASON;

/** Alice has 10,000 USD and Bob 10 ETH. */
function funded(market: Readonly<Record<string, unknown>> = {}): ClearingWorld {
  const world = ClearingWorld.withMarket(market);
  world.fund(ALICE, USD, '10000');
  world.fund(BOB, ETH, '10');
  return world;
}

suite('fills', () => {
  test('a fill moves base and USD, and both fees go to the fee account (AMB-30, AMB-41)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell });
    const taker = world.create({ user: ALICE, side: SIDE.buy });
    const effects = world.match(maker, taker, 10_000);
    // 1 ETH at 2000: the buyer pays 2000 + 0.9, the seller receives 2000 − 0.2.
    assert.equal(world.owned(ALICE, USD), 10_000n * E18 - 2_000n * E18 - (9n * E18) / 10n);
    assert.equal(world.owned(ALICE, ETH), E18);
    assert.equal(world.owned(BOB, ETH), 9n * E18);
    assert.equal(world.owned(BOB, USD), 2_000n * E18 - (2n * E18) / 10n);
    assert.equal(world.owned(FEES, USD), (11n * E18) / 10n);
    const [confirmed] = effectsOf(effects, 'fillConfirmed');
    assert.equal(confirmed?.trade.takerSide, SIDE.buy);
    assert.equal(confirmed?.trade.taker.fee, (9n * E18) / 10n);
    assert.equal(confirmed?.trade.maker.fee, (2n * E18) / 10n);
  });

  test('effects of a fill: the trade, then every balance once, then the mark and the decision (FIL-04, AMB-36)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell });
    const taker = world.create({ user: ALICE, side: SIDE.buy });
    const effects = world.match(maker, taker, 10_000).filter((effect) => effect.kind !== 'userChanged');
    assert.deepEqual(
      effects.map((effect) => effect.kind),
      ['fillConfirmed', ...Array.from({ length: 5 }, () => 'balanceChanged'), 'marketRiskChanged', 'marketDecided'],
    );
    const [decided] = effectsOf(effects, 'marketDecided');
    assert.equal(decided?.throughTradeId, 1);
    assert.equal(decided?.throughSequence, 3);
  });

  test('fills of one batch publish each balance once, as it is after all; what they and a request changed comes before its reply', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 40_000 });
    const taker = world.create({ user: ALICE, side: SIDE.buy, quantity: 40_000 });
    const fill = (ahead: number) =>
      world.matchInput(maker, taker, 10_000, { ...world.next(0, ahead), tradeId: ahead as Sequence });
    const ask = {
      kind: 'faucet' as const,
      request: world.request(),
      body: { user_id: ALICE, sub_account: 0, asset_id: USD, amount: '5' },
    };
    const effects = world.send(fill(1), fill(2), ask, fill(3));
    const told = (from: number, to: number) =>
      effectsOf(effects.slice(from, to), 'balanceChanged').map(({ row }) => row);
    const replied = effects.findIndex((effect) => effect.kind === 'replied');
    const third = effects.findLastIndex((effect) => effect.kind === 'fillConfirmed');
    const [first, second] = [told(0, replied), told(third, effects.length)];
    assert.deepEqual(told(replied, third), []);
    for (const rows of [first, second]) {
      const names = rows.map(({ user, asset }) => `${user}/${asset}`);
      assert.deepEqual([names.length, new Set(names).size], [5, 5]);
    }
    const ofAlice = (rows: typeof first) => rows.find(({ user, asset }) => user === ALICE && asset === ETH)?.owned;
    assert.deepEqual([ofAlice(first), ofAlice(second)], [2n * E18, 3n * E18]);
    assert.equal(world.owned(ALICE, ETH), 3n * E18);
  });

  test('a fee is rounded up and a rebate down, both against the user (AMB-41, EX-27)', () => {
    const world = funded({ book_price_decimals: 4, book_quantity_decimals: 10, maker_fee_rate: -50 });
    const maker = world.create({ user: BOB, side: SIDE.sell, price: 12_345, quantity: 3_333_333_333 });
    const taker = world.create({ user: ALICE, side: SIDE.buy, price: 12_345, quantity: 3_333_333_333 });
    const effects = world.match(maker, taker, 3_333_333_333, { price: 12_345 as RawPrice });
    const [confirmed] = effectsOf(effects, 'fillConfirmed');
    assert.equal(confirmed?.trade.taker.fee, 185_174_999_981_483n);
    assert.equal(confirmed?.trade.maker.fee, -20_574_999_997_942n);
    assert.equal(world.owned(FEES, USD), 185_174_999_981_483n - 20_574_999_997_942n);
  });

  test('a buy of 1.5 at 2000 holds 3001.5 USD and a sell its base, less as fills confirm (AMB-52, EX-27)', () => {
    const world = funded({ taker_fee_rate: 500 });
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 15_000 });
    const taker = world.create({ user: ALICE, side: SIDE.buy, quantity: 15_000 });
    assert.equal(world.held(ALICE, USD), (30_015n * E18) / 10n);
    assert.equal(world.held(BOB, ETH), (15n * E18) / 10n);
    world.match(maker, taker, 5_000);
    assert.equal(world.held(ALICE, USD), 2_001n * E18);
    world.end(taker, ORDER_END.userRequested);
    assert.equal(world.held(ALICE, USD), 0n);
  });

  test('an order ends as filled when its last lot is confirmed, with exact figures', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 20_000 });
    const taker = world.create({ user: ALICE, side: SIDE.buy });
    world.match(maker, taker, 10_000);
    assert.equal(world.order(taker), undefined);
    assert.equal(world.finished(taker)?.end, ORDER_END.filled);
    assert.equal(world.finished(taker)?.filledNotional, 2_000n * E18);
    assert.equal(world.finished(taker)?.fees, (9n * E18) / 10n);
    assert.equal(world.order(maker)?.filledQuantity, 10_000);
  });

  test('a self-match is booked: only the fees leave (STP off, AMB-35)', () => {
    const world = funded();
    world.fund(ALICE, ETH, '1');
    const maker = world.create({ user: ALICE, side: SIDE.sell });
    const taker = world.create({ user: ALICE, side: SIDE.buy });
    world.match(maker, taker, 10_000);
    assert.equal(world.owned(ALICE, ETH), E18);
    assert.equal(world.owned(ALICE, USD), 10_000n * E18 - (11n * E18) / 10n);
  });

  test('a match older than five minutes has no side at fault, one of exactly five minutes stands (FIL-12, FIL-16, AMB-33)', () => {
    for (const [late, expected] of [
      [1n, [[R.staleMatch, R.staleMatch]]],
      [0n, []],
    ] as const) {
      const world = funded();
      const maker = world.create({ user: BOB, side: SIDE.sell });
      const taker = world.create({ user: ALICE });
      const input = world.matchInput(maker, taker, 10_000);
      world.nowNs = (world.nowNs + 300_000_000_000n + late) as TimestampNs;
      assert.deepEqual(reasonsOf(world.send(input)), expected);
      assert.equal(world.order(maker)?.faultReason, late === 0n ? undefined : R.none);
    }
  });

  test('a forged signature fails its owner, at the first fill and every later one (FIL-09, GEN-05)', () => {
    const world = funded();
    world.forged.add('0/1');
    const maker = world.create({ user: BOB, side: SIDE.sell });
    const taker = world.create({ user: ALICE });
    assert.deepEqual(reasonsOf(world.match(maker, taker, 4_000)), [[R.invalidSignature, R.counterpartyAtFault]]);
    assert.deepEqual(reasonsOf(world.match(maker, taker, 4_000)), [[R.invalidSignature, R.counterpartyAtFault]]);
    assert.equal(world.journal.flatMap((batch) => batch.verdicts).length, 2, 'each signature is judged once');
  });

  test('a node-made order that the node has not outstanding fails, and is not verified (AMB-57)', () => {
    const world = funded();
    const made = ORDER_FLAG.isSpot | ORDER_FLAG.nodeMade;
    const maker = world.create({ user: BOB, side: SIDE.sell, flags: made });
    const taker = world.create({ user: ALICE, flags: made });
    const reasons = [[R.invalidSignature, R.invalidSignature]];
    assert.deepEqual(reasonsOf(world.match(maker, taker, 10_000)), reasons);
    assert.deepEqual(
      world.journal.flatMap((batch) => batch.verdicts),
      [],
    );
  });

  test('price, side, fee rate, life and account are checked against the signed terms (FIL-10, AMB-09)', () => {
    const cases: readonly (readonly [string, (world: ClearingWorld) => ReturnType<ClearingWorld['send']>, number[]])[] =
      [
        [
          'above a buy’s limit',
          (w) => w.match(w.create({ user: BOB, side: SIDE.sell }), w.create(), 1, { price: 200_001 as RawPrice }),
          [R.counterpartyAtFault, R.invalidOrder],
        ],
        [
          'below a sell’s limit',
          (w) => w.match(w.create({ user: BOB, side: SIDE.sell }), w.create(), 1, { price: 199_999 as RawPrice }),
          [R.invalidOrder, R.counterpartyAtFault],
        ],
        ['two buys', (w) => w.match(w.create({ user: BOB }), w.create(), 1), [R.invalidOrder, R.invalidOrder]],
        [
          'a rate above the taker’s limit',
          (w) => w.match(w.create({ user: BOB, side: SIDE.sell }), w.create({ maxFeeRate: 449 }), 1),
          [R.counterpartyAtFault, R.invalidOrder],
        ],
        [
          'a rate above the maker’s limit',
          (w) => w.match(w.create({ user: BOB, side: SIDE.sell, maxFeeRate: 99 }), w.create(), 1),
          [R.invalidOrder, R.counterpartyAtFault],
        ],
        [
          'a margin order',
          (w) => w.match(w.create({ user: BOB, side: SIDE.sell, flags: 0 }), w.create(), 1),
          [R.invalidOrder, R.counterpartyAtFault],
        ],
        [
          'matched after it was good',
          (w) => {
            const goodUntilNs = (w.nowNs - 1n) as TimestampNs;
            return w.match(w.create({ user: BOB, side: SIDE.sell, tif: TIF.gtd, goodUntilNs }), w.create(), 1);
          },
          [R.invalidOrder, R.counterpartyAtFault],
        ],
        [
          'matched 30 days after its creation',
          (w) => {
            const creationNs = (w.nowNs - DAYS_30 - 1n) as TimestampNs;
            return w.match(w.create({ user: BOB, side: SIDE.sell, creationNs }), w.create(), 1);
          },
          [R.invalidOrder, R.counterpartyAtFault],
        ],
      ];
    for (const [name, run, expected] of cases) assert.deepEqual(reasonsOf(run(funded())), [expected], name);
  });

  test('more than the quantity in force is an overfill (FIL-11, AMB-19)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 50_000 });
    const taker = world.create({ user: ALICE, quantity: 10_000 });
    world.match(maker, taker, 9_999);
    assert.deepEqual(reasonsOf(world.match(maker, taker, 2)), [[R.counterpartyAtFault, R.overfill]]);
    assert.equal(effectsOf(world.match(maker, taker, 1), 'fillConfirmed').length, 1);
  });

  test('a replace changes what the next fill is judged against, not the last one (AMB-19)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 20_000 });
    const taker = world.create({ user: ALICE, quantity: 20_000 });
    world.match(maker, taker, 10_000);
    world.replace(maker, {
      prioritySequence: maker,
      price: 210_000 as RawPrice,
      quantity: 15_000 as RawQuantity,
      timestampNs: (world.nowNs + 5n) as TimestampNs,
    });
    assert.equal(world.order(maker)?.timestampNs, world.nowNs + 5n);
    assert.deepEqual(reasonsOf(world.match(maker, taker, 5_000)), [[R.invalidOrder, R.counterpartyAtFault]]);
    const over = world.match(maker, world.create({ user: ALICE, price: 210_000 }), 5_001, {
      price: 210_000 as RawPrice,
    });
    assert.deepEqual(reasonsOf(over), [[R.overfill, R.counterpartyAtFault]]);
  });

  test('each party answers for its own inventory, to the last unit (FIL-14, FIL-15, SUB-02, AMB-33)', () => {
    const cases: readonly (readonly [string, string, readonly (readonly number[])[]])[] = [
      ['2000.9', '1', []],
      ['2000.899999999999999999', '1', [[R.counterpartyAtFault, R.insufficientInventory]]],
      ['2000.9', '0.999999999999999999', [[R.insufficientInventory, R.counterpartyAtFault]]],
      ['2000.899999999999999999', '0.5', [[R.insufficientInventory, R.insufficientInventory]]],
    ];
    for (const [usd, eth, expected] of cases) {
      const world = ClearingWorld.withMarket();
      world.fund(ALICE, USD, usd);
      world.fund(BOB, ETH, eth);
      const maker = world.create({ user: BOB, side: SIDE.sell });
      const taker = world.create({ user: ALICE });
      assert.deepEqual(reasonsOf(world.match(maker, taker, 10_000)), expected, `${usd} ${eth}`);
    }
  });

  test('a stale or missing price does not stop spot (SUB-03)', () => {
    const world = funded();
    assert.equal(world.state.prices.size, 0);
    const effects = world.match(world.create({ user: BOB, side: SIDE.sell }), world.create(), 10_000);
    assert.equal(effectsOf(effects, 'fillConfirmed').length, 1);
  });

  test('a rolled back fill changes no balance and no filled figure, and what follows goes on (FIL-05, AMB-32)', () => {
    const world = funded();
    const maker = world.create({ user: CAROL, side: SIDE.sell });
    const taker = world.create({ user: ALICE });
    const effects = world.match(maker, taker, 10_000);
    assert.deepEqual(reasonsOf(effects), [[R.insufficientInventory, R.counterpartyAtFault]]);
    assert.deepEqual(effectsOf(effects, 'balanceChanged'), []);
    assert.equal(world.order(taker)?.filledQuantity, 0);
    assert.equal(world.order(maker)?.faultReason, R.insufficientInventory);
    world.end(maker, ORDER_END.atFault, R.insufficientInventory);
    assert.equal(world.finished(maker)?.faultReason, R.insufficientInventory);
    const again = world.match(world.create({ user: BOB, side: SIDE.sell }), taker, 10_000);
    assert.equal(effectsOf(again, 'fillConfirmed').length, 1);
  });

  test('a fill-or-kill is cleared whole or not at all (TIF-06, AMB-34, EX-25)', () => {
    const run = (secondHas: string) => {
      const world = funded();
      world.fund(CAROL, ETH, secondHas);
      const first = world.create({ user: BOB, side: SIDE.sell, price: 200_000, quantity: 10_000 });
      const second = world.create({ user: CAROL, side: SIDE.sell, price: 201_000, quantity: 20_000 });
      const taker = world.create({ user: ALICE, price: 201_000, quantity: 25_000, tif: TIF.fok });
      const before = world.match(first, taker, 10_000, { group: 1 });
      assert.deepEqual(effectsOf(before, 'fillConfirmed'), [], 'undecided until the unit is complete');
      assert.equal(effectsOf(before, 'marketDecided')[0]?.throughTradeId, 0);
      const effects = world.match(second, taker, 15_000, { group: 2, price: 201_000 as RawPrice });
      return { world, effects, first, second };
    };
    const { world, effects, first, second } = run('1.4999');
    assert.deepEqual(reasonsOf(effects), [
      [R.counterpartyAtFault, R.counterpartyAtFault],
      [R.insufficientInventory, R.counterpartyAtFault],
    ]);
    assert.equal(world.owned(ALICE, USD), 10_000n * E18);
    assert.equal(world.order(first)?.faultReason, R.none);
    assert.equal(world.order(second)?.faultReason, R.insufficientInventory);
    assert.equal(effectsOf(run('1.5').effects, 'fillConfirmed').length, 2);
  });

  test('a taker whose money ends within its unit is at fault in all of it (AMB-34)', () => {
    const world = funded();
    world.fund(ALICE, USD, '-7000');
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 20_000 });
    const taker = world.create({ user: ALICE, quantity: 20_000, tif: TIF.fok });
    world.match(maker, taker, 10_000, { group: 1 });
    assert.deepEqual(reasonsOf(world.match(maker, taker, 10_000, { group: 2 })), [
      [R.counterpartyAtFault, R.insufficientInventory],
      [R.counterpartyAtFault, R.insufficientInventory],
    ]);
  });

  test('a market that publishes filled before it receives a rollback has not ended its order (AMB-19, AMB-32 e)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell, quantity: 20_000 });
    world.match(maker, world.create({ user: CAROL }), 10_000);
    world.replace(maker, {
      prioritySequence: maker,
      price: 200_000 as RawPrice,
      quantity: 10_000 as RawQuantity,
      timestampNs: world.nowNs,
    });
    world.end(maker, ORDER_END.filled);
    assert.equal(world.order(maker)?.filledQuantity, 0);
    const back = world.next();
    world.send({ kind: 'restored', ...back, order: maker, prioritySequence: back.sequence });
    assert.equal(world.order(maker)?.prioritySequence, back.sequence);
  });

  test('a crossing post-only leaves a finished record and nothing live (AMB-16)', () => {
    const world = funded();
    const input = { kind: 'createRefused' as const, ...world.admission() };
    world.send(input);
    assert.equal(world.order(input.sequence), undefined);
    assert.equal(world.finished(input.sequence)?.end, ORDER_END.postOnlyWouldCross);
    assert.equal(world.held(ALICE, USD), 0n);
  });

  test('a gap in a market’s sequence, a repeated trade id and an unjudged signature stop the node (AMB-36)', () => {
    const world = funded();
    const maker = world.create({ user: BOB, side: SIDE.sell });
    const taker = world.create();
    world.match(maker, taker, 1);
    assert.throws(() => world.match(maker, taker, 1, { sequence: 9 as Sequence }), InvariantError);
    assert.throws(() => world.match(maker, taker, 1, { tradeId: 1 as Sequence }), InvariantError);
  });

  test('the fee account is an ordinary user and may trade (AMB-41)', () => {
    const world = funded();
    world.fund(FEES as UserId, USD, '2000.9');
    world.match(world.create({ user: BOB, side: SIDE.sell }), world.create({ user: FEES }), 10_000);
    assert.equal(world.owned(FEES, USD), (11n * E18) / 10n);
    assert.equal(world.owned(FEES, ETH), E18);
  });
});
