// tier: quick
/** Deposits over their caps, isolated lots, and what withdrawals take of them; every step is checked by a full recount. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { lotsDueNs } from '../../../src/clearing/funds/deposit-caps.ts';
import { LOTS_PER_TOKEN } from '../../../src/clearing/funds/lot-book.ts';
import { CREDITS_MAX, PooledHour } from '../../../src/clearing/funds/pooled-hour.ts';
import { stateHash } from '../../../src/clearing/state-hash.ts';
import { format18 } from '../../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../../src/core/ids.ts';
import { type Amount18, HOUR_NS, SECOND_NS, type TimestampNs } from '../../../src/core/units.ts';
import { CapsWorld, LOTS, units } from '../../support/caps-world.ts';
import {
  acceptedValue,
  CHAIN,
  codeOf,
  effectsOf,
  PlainTables,
  reply,
  T0,
  TOKEN,
} from '../../support/clearing-world.ts';
import { ALICE, BOB, USD } from '../../support/names.ts';

const MINUTE_NS = 60n * SECOND_NS;

suite('caps of deposits', () => {
  test('EX-19: the table, line by line (DEP-12, DEP-13, DEP-14, DEP-15, AMB-73)', () => {
    const world = CapsWorld.opened(1_000, 300);
    const step = (ns: bigint, deposit: number): readonly [string, string] => {
      world.at(ns);
      if (deposit > 0) {
        const effects = world.deposit(units(deposit));
        const landed = effectsOf(effects, 'depositLanded')[0]?.row;
        assert.equal(landed?.amount, units(deposit));
      }
      return world.funds();
    };
    assert.deepEqual(step(0n, 250), ['250', '0']);
    assert.deepEqual(step(10n * MINUTE_NS, 60), ['250', '60']);
    assert.deepEqual(step(20n * MINUTE_NS, 50), ['300', '60']);
    assert.deepEqual(step(HOUR_NS - SECOND_NS, 1), ['300', '61']);
    assert.deepEqual(world.lots(), [
      ['60', 10n * MINUTE_NS],
      ['1', HOUR_NS - SECOND_NS],
    ]);
    assert.deepEqual(step(HOUR_NS - 1n, 0), ['300', '61']);
    assert.equal(lotsDueNs(world.state, world.nowNs), T0 + HOUR_NS, 'due when the 250 leave the hour');
    const converting = world.at(HOUR_NS);
    assert.deepEqual(world.funds(), ['361', '0']);
    assert.deepEqual(effectsOf(converting, 'depositLanded'), [], 'a conversion is no event');
    assert.equal(effectsOf(converting, 'balanceChanged').length, 2);
    assert.deepEqual(step(HOUR_NS + MINUTE_NS, 640), ['361', '640']);
    world.caps(1_000, 2_000);
    assert.deepEqual(world.funds(), ['361', '640']);
    assert.equal(lotsDueNs(world.state, world.nowNs), null, 'time alone does not help');
    world.caps(2_000, 2_000);
    assert.deepEqual(world.funds(), ['1001', '0'], 'a raised cap converts at once');
  });

  test('EX-19: the withdrawal of another user makes room for the last lot (DEP-15, AMB-73)', () => {
    const world = CapsWorld.opened(1_000, 2_000);
    world.deposit(units(361), BOB);
    world.deposit(units(640));
    assert.deepEqual(world.funds(), ['0', '640']);
    assert.equal(codeOf(reply(world.withdraw(units(1), BOB))), null);
    assert.deepEqual(world.funds(), ['0', '640'], 'a lock makes no room');
    world.execute(BOB);
    assert.deepEqual(world.funds(), ['640', '0']);
    assert.deepEqual(world.funds(BOB), ['360', '0']);
    const { spot, isolated, vault_holdings: held } = world.ledger();
    assert.deepEqual([spot, isolated, held], ['1000', '0', '1000']);
  });

  test('EX-01: what deposits of other decimals are worth, to the digit (GEN-11, AMT-06, AMB-116)', () => {
    const cases: readonly (readonly [bigint, number, bigint])[] = [
      [1_234_567n, 6, 1_234_567_000_000_000_000n],
      [1n, 8, 10_000_000_000n],
      [1_999_999n, 24, 1n],
      [123_456_789_012_345_678_901n, 20, 1_234_567_890_123_456_789n],
    ];
    for (const [baseUnits, decimals, credited] of cases) {
      for (const cap of [null, 0]) {
        const world = CapsWorld.opened(cap, null, decimals);
        const landed = effectsOf(world.deposit(baseUnits), 'depositLanded')[0]?.row;
        assert.equal(landed?.amount, credited);
        assert.equal(landed?.asset, cap === null ? USD : LOTS);
      }
    }
    const world = CapsWorld.opened(null, null, 24);
    for (const baseUnits of [1_600_000n, 1_600_000n]) world.deposit(baseUnits);
    const { spot, dust, vault_holdings: held } = world.ledger();
    const raw = format18(1n as Amount18);
    assert.deepEqual([spot, dust, held], ['0.000000000000000002', raw, '0.000000000000000003']);
  });

  test('an older lot that does not fit holds back no newer one, and equal is allowed (AMB-73)', () => {
    const world = CapsWorld.opened(100, null);
    world.deposit(units(90));
    world.deposit(units(50), BOB);
    world.deposit(units(12));
    world.deposit(units(11));
    world.caps(112, null);
    assert.deepEqual(world.funds(), ['102', '11']);
    assert.deepEqual(world.funds(BOB), ['0', '50']);
    world.caps(151, null);
    assert.deepEqual(
      [world.funds(), world.funds(BOB)],
      [
        ['113', '0'],
        ['0', '50'],
      ],
      'the 11 fits, the 50 does not',
    );
    world.caps(163, null);
    assert.deepEqual(world.funds(BOB), ['50', '0']);
  });

  test('the total is net of withdrawals, the hour is gross, and a conversion is a credit of its time (AMB-73)', () => {
    const world = CapsWorld.opened(null, 100);
    world.deposit(units(100));
    world.paidOut(units(100));
    world.at(MINUTE_NS);
    world.deposit(units(60));
    assert.deepEqual(world.funds(), ['0', '60'], 'what was paid out still counts in the hour');
    world.at(HOUR_NS);
    assert.deepEqual(world.funds(), ['60', '0']);
    world.at(2n * HOUR_NS - 1n);
    world.deposit(units(41));
    assert.deepEqual(world.funds(), ['60', '41'], 'the conversion counts from its own time');
    world.at(2n * HOUR_NS);
    assert.deepEqual(world.funds(), ['101', '0']);
  });

  test('a token without an asset keeps its lots as they are until it is registered again (AMB-73)', () => {
    const world = CapsWorld.opened(0, null);
    world.deposit(units(5));
    acceptedValue(world.put('putAsset', USD, { tokens: [] }, 'patch'));
    assert.deepEqual(world.funds(), ['0', '5']);
    assert.equal(world.ledger()['isolated'], '5');
    const other = { tokens: [{ token: TOKEN, chain_id: CHAIN, decimals: 18 }] };
    assert.equal(codeOf(world.put('putAsset', '5' as AssetId, other)), 'INVALID_REQUEST', 'its units are of another');
    world.caps(null, null);
    assert.deepEqual(world.funds(), ['5', '0']);
  });
});

suite('isolated lots', () => {
  test('are not fungible with the pool, no collateral, and stay in account 0 (DEP-14, DEP-15, AMB-66, AMB-108)', () => {
    const world = CapsWorld.opened(10, null);
    world.deposit(units(10));
    world.deposit(units(30));
    const transfer = { kind: 'transfer', user: ALICE, sourceIndex: 0, targetIndex: 1, amount: units(1) } as const;
    const move = (asset: AssetId, nonce: bigint): string | null => {
      const terms = { ...transfer, amount: transfer.amount as Amount18, asset, targetType: null, nonce };
      return codeOf(reply(world.send({ ...terms, request: world.request() })));
    };
    assert.equal(move(LOTS, 1n), 'INVALID_REQUEST');
    assert.equal(move(USD, 1n), null);
    assert.deepEqual(world.funds(), ['9', '30']);
    world.caps(40, null);
    assert.deepEqual(world.funds(), ['39', '0']);
    assert.equal(move(USD, 2n), null, 'pooled, it is what any deposit is');
  });

  test('a withdrawal takes lots first, then the pool; each part returns to where it came from (AMB-73, AMB-76)', () => {
    const world = CapsWorld.opened(100, null);
    world.deposit(units(100));
    world.deposit(units(30));
    world.at(SECOND_NS);
    world.deposit(units(20));
    assert.equal(codeOf(reply(world.withdraw(units(45)))), null);
    assert.deepEqual(world.funds(), ['100', '5']);
    assert.deepEqual(world.lots(), [['5', SECOND_NS]], 'the oldest first');
    assert.equal(world.ledger()['locks'], '45');
    world.caps(1_000, null);
    assert.deepEqual(world.funds(), ['105', '0'], 'what is not locked is pooled');
    world.caps(100, null);
    world.cancel(0);
    assert.deepEqual(world.funds(), ['105', '45']);
    assert.deepEqual(world.lots(), [
      ['30', 0n],
      ['15', SECOND_NS],
    ]);
    world.paidOut(units(60));
    assert.deepEqual(world.funds(), ['90', '0']);
    const { spot, isolated, locks, vault_holdings: held } = world.ledger();
    assert.deepEqual([spot, isolated, locks, held], ['90', '0', '0', '90']);
  });

  test('a fee comes out of lots too, and is pooled; what is over returns (AMB-73, AMB-76)', () => {
    const world = CapsWorld.opened(0, null, 6);
    world.deposit(100_000_000n);
    world.rates({ mode: 'fixed', deposit_rate: '0', withdrawal_rate: '0.01' });
    world.paidOut(units(50) + 5n);
    assert.deepEqual(world.funds(), ['0', '49.499999999999999999'], '0.5 and 1 raw of fee, 5 raw came back');
    const { rebalancing_pool: pool, isolated, vault_holdings: held } = world.ledger();
    assert.deepEqual([pool, isolated, held], ['0.500000000000000001', '49.499999999999999999', '50']);
  });

  test('what backs lots fills no withdrawal of the pool (DEP-14, WDR-05)', () => {
    const world = CapsWorld.opened(100, null);
    world.deposit(units(100), BOB);
    world.deposit(units(80));
    world.fund(BOB, USD, '50');
    world.withdraw(units(150), BOB);
    const rows = (user: UserId): readonly string[] =>
      world.state.withdrawals.ofUser(user).map(({ row }) => `${format18(row.amount)} ${row.status}`);
    assert.deepEqual(rows(BOB), ['100 filled', '50 queued']);
    world.withdraw(units(80));
    assert.deepEqual(rows(ALICE), ['80 filled'], 'the head of the line, which cannot be paid, is passed over (MON-04)');
    assert.deepEqual(rows(BOB), ['100 filled', '50 queued']);
  });

  test('a lot that orders hold or that is sold follows its balance (AMB-73)', () => {
    const world = CapsWorld.opened(0, null);
    world.deposit(units(30));
    acceptedValue(world.put('putMarket', LOTS, { book_price_decimals: 2, book_quantity_decimals: 4 }));
    world.fund(BOB, USD, '1000');
    const ask = world.create({ side: 1, price: 100, quantity: 100_000 });
    world.caps(1_000, null);
    assert.deepEqual(world.funds(), ['20', '10'], 'an order holds 10');
    world.caps(0, null);
    const bid = world.create({ user: BOB, side: 0, price: 100, quantity: 40_000 });
    world.match(ask, bid, 40_000, { price: 100 as never });
    assert.deepEqual(world.funds(BOB)[1], '4');
    assert.deepEqual(world.lots(BOB), [], 'what was bought is no lot');
    assert.deepEqual(world.lots(), [['6', 0n]]);
    world.end(ask, 1);
    world.caps(1_000, null);
    assert.deepEqual(world.funds()[1], '0');
    assert.deepEqual(world.funds(BOB)[1], '4');
    world.paidOut(units(3), BOB);
    assert.deepEqual(world.funds(BOB)[1], '1', 'it leaves on its chain like a lot');
  });

  test(`a user has ${LOTS_PER_TOKEN} lots of a token: the next deposit joins the youngest, and nothing is lost (AMB-73)`, () => {
    const world = CapsWorld.opened(0, null);
    for (let count = 0; count <= LOTS_PER_TOKEN; count += 1) {
      world.at(BigInt(count) * SECOND_NS);
      world.deposit(units(2));
    }
    const lots = world.lots();
    assert.equal(lots.length, LOTS_PER_TOKEN);
    assert.deepEqual(lots.at(-1), ['4', BigInt(LOTS_PER_TOKEN) * SECOND_NS]);
    assert.equal(world.funds()[1], String(2 * (LOTS_PER_TOKEN + 1)));
    world.deposit(units(1), BOB);
    assert.equal(world.lots(BOB).length, 1, 'of each user');
  });

  test('rows are the state: loaded from a checkpoint, everything goes on alike (AMB-73)', () => {
    const world = CapsWorld.opened(100, 60);
    world.deposit(units(60));
    for (const [at, amount] of [5, 9, 3].entries()) {
      world.at(BigInt(at) * MINUTE_NS);
      world.deposit(units(amount), at === 1 ? BOB : ALICE);
    }
    world.withdraw(units(2));
    const tables = new PlainTables();
    tables.checkpoint(world.state);
    const [before, hash] = [world.state, stateHash(world.state)];
    world.state = tables.load();
    assert.equal(stateHash(world.state), hash);
    assert.equal(lotsDueNs(world.state, world.nowNs), lotsDueNs(before, world.nowNs));
    world.at(HOUR_NS);
    assert.deepEqual(
      [world.funds(), world.funds(BOB)],
      [
        ['66', '0'],
        ['9', '0'],
      ],
    );
    tables.checkpoint(world.state);
    const again = tables.load();
    assert.equal(stateHash(again), stateHash(world.state));
    assert.equal(again.lots.size, 1, 'what is locked');
  });
});

suite('what was pooled in an hour', () => {
  const asset = LOTS;
  const at = (ns: bigint): TimestampNs => (T0 + ns) as TimestampNs;

  test('a credit counts while it is younger than 3600 s, to the nanosecond (DEP-13)', () => {
    const hour = new PooledHour({ asset, credits: [] });
    hour.add(at(0n), 5n as Amount18);
    hour.add(at(1n), 7n as Amount18);
    hour.add(at(1n), 1n as Amount18);
    assert.deepEqual(hour.row.credits.length, 2);
    assert.equal(hour.pooled(at(HOUR_NS - 1n)), 13n);
    assert.equal(hour.fallsTo(8n, at(HOUR_NS - 1n)), at(HOUR_NS));
    assert.equal(hour.fallsTo(0n, at(HOUR_NS - 1n)), at(HOUR_NS + 1n));
    assert.equal(hour.pooled(at(HOUR_NS)), 8n);
    assert.equal(hour.pooled(at(HOUR_NS + 1n)), 0n);
  });

  test('more different times than there is room for count at most 4 s longer, never shorter (DEP-13)', () => {
    const hour = new PooledHour({ asset, credits: [] });
    const stepNs = HOUR_NS / 3_000n;
    const credits: TimestampNs[] = [];
    const sum = (younger: bigint, nowNs: TimestampNs): bigint =>
      credits.reduce((all, timeNs) => (nowNs - timeNs < younger ? all + 1n : all), 0n);
    for (let count = 0n; count < 5_000n; count += 1n) {
      const nowNs = at(count * stepNs);
      credits.push(nowNs);
      hour.add(nowNs, 1n as Amount18);
      assert.ok(hour.row.credits.length <= CREDITS_MAX);
      if (count % 100n !== 0n) continue;
      const pooled = hour.pooled(nowNs);
      assert.ok(pooled >= sum(HOUR_NS, nowNs), 'no credit is forgotten');
      assert.ok(pooled <= sum(HOUR_NS + 4n * SECOND_NS, nowNs), 'none counts much longer');
    }
  });
});
