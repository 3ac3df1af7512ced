// tier: quick
/** What clearing publishes of the accounts at risk, in which steps, and what operators read of them (AMB-45, AMB-62). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  ACCOUNTS_AT_RISK_MAX,
  ACCOUNTS_PER_STEP,
  AT_RISK_INTERVAL_MS,
  AtRiskAccounts,
  type AtRiskResult,
} from '../../src/clearing/liquidation/at-risk-accounts.ts';
import { setLiquidation } from '../../src/clearing/liquidation/liquidation-rows.ts';
import { assetTermsOf } from '../../src/clearing/risks.ts';
import type { SubAccountSlot } from '../../src/clearing/state.ts';
import { must } from '../../src/core/assert.ts';
import { format18 } from '../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import type { AtRiskFigures } from '../../src/core/market-figures.ts';
import { ONE_18 } from '../../src/core/units.ts';
import { DutyCycle } from '../../src/runtime/duty-cycle.ts';
import { MarginWorld } from '../support/margin-world.ts';
import { ALICE, BOB, BTC, CAROL, ETH, USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';

type View = Readonly<Record<string, unknown>>;

class AtRiskWorld {
  readonly margin: MarginWorld = MarginWorld.make();
  readonly accounts: AtRiskAccounts = new AtRiskAccounts();
  nowMs = 0;
  /** What every step takes. */
  stepMs = 0;

  slot(user: UserId, subAccount = 1): SubAccountSlot {
    return must(this.margin.state.users.get(user)?.subAccounts.get(subAccount), 'the account exists');
  }

  /** Account 1 of the user with this much USD, long `quantity` of ETH bought at 2000 from Bob. */
  long(user: UserId, usd: string, quantity = 1): SubAccountSlot {
    assert.ok(this.margin.fund(user, USD, usd, 1).ok);
    const trade = { buyer: { user }, seller: { user: BOB }, price: 2_000, quantity };
    assert.equal(this.margin.trade(trade), 'confirmed');
    return this.slot(user);
  }

  /** The oracle of ETH, when the last trade is no mark any more. */
  price(usd: string): void {
    this.margin.pass(61_000_000_000n);
    this.margin.prices({ [ETH]: usd });
  }

  /** Bob sells to all. */
  static withCounterparty(): AtRiskWorld {
    const world = new AtRiskWorld();
    assert.ok(world.margin.fund(BOB, USD, '100000000', 1).ok);
    return world;
  }

  poll(): AtRiskResult | null {
    const times = {
      nowNs: () => this.margin.nowNs,
      elapsedMs: () => {
        this.nowMs += this.stepMs;
        return this.nowMs;
      },
    };
    return this.accounts.poll(this.margin.state, times);
  }

  /** The next pass, from its interval on. */
  pass(): AtRiskResult {
    this.nowMs += 10 * AT_RISK_INTERVAL_MS;
    for (let polls = 1; polls < 1_000; polls += 1) {
      const result = this.poll();
      if (result !== null) return result;
      this.nowMs += 5;
    }
    throw new Error('a pass ends');
  }

  query(limit = ACCOUNTS_AT_RISK_MAX): View {
    return DutyCycle.unwatched.finish(this.accounts.query(limit, this.margin.nowNs));
  }
}

function textOf({ changed }: AtRiskResult): unknown {
  if (changed === null) return null;
  const side = ({ quantity, liquidationPrice }: (typeof changed.assets)[number]['long']): string =>
    `${format18(quantity)} @ ${liquidationPrice === null ? null : format18(liquidationPrice)}`;
  return changed.assets.map(({ assetId, long, short }) => [assetId, side(long), side(short)]);
}

suite('the aggregate of what is at risk', () => {
  test('STR-06, AMB-62: each side has its quantity and the average price; it follows prices and ends empty', () => {
    const world = AtRiskWorld.withCounterparty();
    // 300 − 2001 + 0.9 × price: the fee of 0.05 % is a USD. With 400 the account is safe.
    const risky = [world.long(ALICE, '301'), world.long(CAROL, '400'), world.slot(BOB)];
    world.price('1911');
    for (const account of risky) world.accounts.judged(account, true);
    assert.deepEqual(textOf(world.pass()), null, 'a surplus of 19.9 is above a tenth of 191.1');
    world.price('1910');
    for (const account of risky) world.accounts.judged(account, true);
    const first = world.pass();
    assert.deepEqual(textOf(first), [[ETH, '1 @ 1888.888888888888888888', '0 @ null']]);
    assert.equal(first.changed?.timestampNs, world.margin.nowNs);
    world.price('1750');
    for (const account of risky) world.accounts.judged(account, true);
    // (1700 + 1601) / 0.9 / 2: each account’s own price, not what it would take to close.
    assert.deepEqual(textOf(world.pass()), [[ETH, '2 @ 1833.888888888888888888', '0 @ null']]);
    world.price('2100');
    for (const account of risky) world.accounts.judged(account, false);
    assert.deepEqual(textOf(world.pass()), []);
  });

  test('AMB-62: it is published when it has changed, once a second, and costs nothing while nothing has', () => {
    const world = AtRiskWorld.withCounterparty();
    const account = world.long(ALICE, '250');
    world.price('1930');
    assert.equal(world.accounts.isDue(world.nowMs), false);
    world.accounts.judged(account, true);
    assert.ok(world.accounts.isDue(world.nowMs), 'a barrier waits for it');
    assert.notEqual(textOf(must(world.poll(), 'the first pass waits for nothing')), null);
    assert.equal(world.accounts.isDue(world.nowMs), false);
    world.price('1920');
    world.accounts.judged(account, true);
    world.nowMs += AT_RISK_INTERVAL_MS - 1;
    assert.equal(world.poll(), null);
    world.nowMs += 1;
    assert.deepEqual(must(world.poll(), 'a second later').changed, null, 'the price that liquidates is the same');
    world.nowMs += AT_RISK_INTERVAL_MS;
    assert.equal(world.poll(), null, 'no account was judged');
    world.accounts.judged(world.slot(BOB), false);
    assert.equal(world.poll(), null, 'an account that is safe and was safe changes nothing');
  });

  test('decisions-liquidation 26: an account below maintenance is in it, the backstop is not', () => {
    const world = AtRiskWorld.withCounterparty();
    const backstop = world.margin.state.settings.backstop_account as UserId;
    const accounts = [world.long(ALICE, '250'), world.long(backstop, '250', 1)];
    world.price('1000');
    for (const account of accounts) world.accounts.judged(account, true);
    const result = world.pass();
    assert.deepEqual(result.counts, { atRisk: 1, shielded: 0 });
    assert.deepEqual(textOf(result), [[ETH, '1 @ 1945.555555555555555555', '0 @ null']]);
  });

  test('AMB-45: an account that only a broken credit shields is counted as shielded', () => {
    const world = AtRiskWorld.withCounterparty();
    const account = world.long(ALICE, '250');
    assert.ok(world.margin.fund(ALICE, BTC, '0.1', 1).ok);
    world.margin.pass(3_601_000_000_000n);
    for (let update = 0; update < 3; update += 1) world.price('1000');
    world.accounts.judged(account, true);
    assert.deepEqual(world.pass().counts, { atRisk: 1, shielded: 1 });
  });
});

/** The aggregate by the definitions, over every account and with nothing kept (wire.md G14). */
function plainAggregate({ state, nowNs }: MarginWorld): unknown {
  const factors: Readonly<Record<string, readonly [cf: bigint, lf: bigint]>> = { [ETH]: [90n, 95n], [BTC]: [95n, 96n] };
  const sums = new Map<string, { quantity: bigint; priced: bigint; weighed: bigint }>();
  const floor = (n: bigint, d: bigint): bigint => (n < 0n ? -((-n + d - 1n) / d) : n / d);
  for (const { subAccounts } of state.users.values()) {
    for (const { balances, positions } of subAccounts.values()) {
      const amounts = [...balances.values()].map(({ asset, owned }) => [asset as string, owned as bigint] as const);
      for (const { asset, legs } of positions.values()) amounts.push([asset, legs.base], [USD, legs.quote]);
      const weight = (asset: string, amount: bigint): bigint => {
        const [cf, lf] = factors[asset] ?? [100n, 100n];
        return amount < 0n ? 200n - lf : cf;
      };
      const price = (asset: string, amount: bigint): bigint => {
        const risk = state.risks.get(asset as AssetId);
        if (asset === USD || risk === undefined) return ONE_18;
        const { oracle, mark } = assetTermsOf(risk, nowNs).prices;
        return amount < 0n === oracle < mark ? oracle : mark;
      };
      const surplusOf = ([asset, amount]: readonly [string, bigint]): bigint =>
        floor(amount * price(asset, amount) * weight(asset, amount), 100n * ONE_18);
      const surplus = amounts.reduce((sum, one) => sum + surplusOf(one), 0n);
      const worth = amounts.reduce((sum, [asset, amount]) => sum + floor(amount * price(asset, amount), ONE_18), 0n);
      const borrows = amounts.some(([, amount]) => amount < 0n);
      if (!borrows || (surplus >= 0n && 10n * surplus >= worth - surplus)) continue;
      for (const { asset, legs } of positions.values()) {
        if (legs.base === 0n) continue;
        const own = amounts.filter(([of]) => of === asset);
        const rest = own.reduce((sum, one) => sum - surplusOf(one), surplus);
        const slope = own.reduce((sum, [, amount]) => sum + amount * weight(asset, amount), 0n);
        const [n, d] = slope < 0n ? [rest, -slope] : [-rest, slope];
        const liquidated = d === 0n ? 0n : floor(n * 100n * ONE_18, d);
        const side = `${asset} ${legs.base < 0n ? 'short' : 'long'}`;
        const sum = sums.get(side) ?? { quantity: 0n, priced: 0n, weighed: 0n };
        sums.set(side, sum);
        const quantity = legs.base < 0n ? -legs.base : legs.base;
        sum.quantity += quantity;
        if (liquidated <= 0n) continue;
        sum.priced += quantity;
        sum.weighed += quantity * liquidated;
      }
    }
  }
  const shown = [...sums].map(([side, { quantity, priced, weighed }]) => [
    side,
    quantity,
    priced === 0n ? null : weighed / priced,
  ]);
  return shown.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

/** The same of what was published. */
function publishedAggregate(view: AtRiskFigures): unknown {
  const sides = view.assets.flatMap(({ assetId, long, short }) =>
    (
      [
        ['long', long],
        ['short', short],
      ] as const
    )
      .filter(([, { quantity }]) => quantity > 0n)
      .map(([side, { quantity, liquidationPrice }]) => [`${assetId} ${side}`, quantity, liquidationPrice]),
  );
  return sides.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

suite('the aggregate is what a walk through all accounts gives', () => {
  let published = 0;

  test('STR-06, AMB-62: after any trades and prices, fed by detection alone', () => {
    const users = [ALICE, CAROL, 'd4'.repeat(32) as UserId];
    const move = fc.record({
      user: fc.nat(2),
      market: fc.nat(1),
      isLong: fc.boolean(),
      size: fc.integer({ min: 1, max: 30 }),
      price: fc.integer({ min: 70, max: 140 }),
    });
    fc.assert(
      fc.property(fc.array(move, { minLength: 5, maxLength: 25 }), (moves) => {
        const world = AtRiskWorld.withCounterparty();
        const { margin, accounts } = world;
        for (const user of users) assert.ok(margin.fund(user, USD, '600', 1).ok);
        let last: AtRiskFigures = { timestampNs: margin.nowNs, assets: [] };
        for (const { user, market, isLong, size, price } of moves) {
          const unit = market === 0 ? 2_000 : 50_000;
          const quantity = market === 0 ? size / 10 : size / 250;
          const [one, other] = [{ user: users[user] ?? ALICE }, { user: BOB }];
          const terms = { price: unit, quantity: Number(quantity.toFixed(4)), marketIndex: market };
          margin.trade(isLong ? { buyer: one, seller: other, ...terms } : { buyer: other, seller: one, ...terms });
          margin.pass(61_000_000_000n);
          margin.prices({ [market === 0 ? ETH : BTC]: String((unit * price) / 100) });
          const { detection } = margin.state;
          while (!detection.scan(margin.nowNs, 1_000));
          while (!detection.judge(margin.state, margin.nowNs, 1_000, (account, may) => accounts.judged(account, may)));
          accounts.pricesMoved();
          world.nowMs += 10 * AT_RISK_INTERVAL_MS;
          const result = world.poll();
          if (result?.changed != null) {
            last = result.changed;
            published += 1;
          }
          assert.deepEqual(publishedAggregate(last), plainAggregate(margin));
        }
      }),
      propertyParameters(),
    );
  });

  test('the histories bring accounts close to liquidation', () => {
    assert.ok(published > 50, `${published} aggregates were published`);
  });
});

suite('the steps of a pass', () => {
  test('a pass looks at a bounded number of accounts in a step, with a pause after it, and takes a tenth of the thread at most', () => {
    const world = AtRiskWorld.withCounterparty();
    const users = Array.from({ length: 2 * ACCOUNTS_PER_STEP + 1 }, (_, at) => at.toString(16).padStart(64, '0'));
    for (const user of users) {
      assert.ok(world.margin.fund(user as UserId, USD, '1', 1).ok);
      world.accounts.judged(world.slot(user as UserId), true);
    }
    world.stepMs = 3;
    world.price('1');
    const startMs = world.nowMs;
    const steps: number[] = [];
    for (let polls = 0; polls < 100; polls += 1) {
      const before = world.nowMs;
      const result = world.poll();
      if (world.nowMs > before + world.stepMs) steps.push(world.nowMs - startMs);
      if (result !== null) break;
      world.nowMs += 1;
    }
    assert.equal(steps.length, 3, 'two whole steps and the rest');
    for (const [at, ms] of steps.entries()) assert.ok(at === 0 || ms - (steps[at - 1] ?? 0) >= 4);
    // Slower steps: 3 × 300 ms of work.
    world.stepMs = 300;
    for (const user of users) world.accounts.judged(world.slot(user as UserId), true);
    world.nowMs += AT_RISK_INTERVAL_MS;
    while (world.poll() === null);
    const endMs = world.nowMs;
    for (const user of users) world.accounts.judged(world.slot(user as UserId), true);
    world.stepMs = 0;
    for (world.nowMs = endMs + 8 * 900; world.poll() === null; world.nowMs += 5);
    assert.ok(world.nowMs - endMs >= 9 * 900, `${world.nowMs - endMs} ms after a pass of 900 ms`);
  });
});

suite('what operators read', () => {
  test('AMB-62, AMB-45: accounts with the smallest surplus come first, with their figures and the state of their liquidation', () => {
    const world = AtRiskWorld.withCounterparty();
    const [alice, carol] = [world.long(ALICE, '301'), world.long(CAROL, '410', 2)];
    world.price('1900');
    for (const account of [alice, carol]) world.accounts.judged(account, true);
    assert.deepEqual(world.query(), { timestamp_ns: 0n, accounts_at_risk: 0, shielded_accounts: 0, accounts: [] });
    world.pass();
    const startedNs = world.margin.nowNs;
    const row = { user: CAROL, subAccount: 1, startedNs, round: 2, roundNs: startedNs, through: [], ordered: [] };
    setLiquidation(world.margin.state, carol, { ...row, stage: 'waiting', order: null });
    const position = (base: string, quote: string, price: string): View => ({
      [ETH]: { base, quote, mark_price: '1900', liquidation_price: price },
    });
    const ofCarol = {
      user_id: CAROL,
      sub_account: 1,
      maintenance_surplus: '-172',
      maintenance_requirement: '380',
      is_shielded: false,
      liquidation: { stage: 'waiting', round: 2, started_ns: startedNs, order_id: null },
      positions: position('2', '-4002', '1995.555555555555555555'),
    };
    const ofAlice = {
      user_id: ALICE,
      sub_account: 1,
      maintenance_surplus: '10',
      maintenance_requirement: '190',
      is_shielded: false,
      liquidation: null,
      positions: position('1', '-2001', '1888.888888888888888888'),
    };
    const counts = { timestamp_ns: world.margin.nowNs, accounts_at_risk: 2, shielded_accounts: 0 };
    assert.deepEqual(world.query(), { ...counts, accounts: [ofCarol, ofAlice] });
    assert.deepEqual(world.query(1), { ...counts, accounts: [ofCarol] });
  });

  test('they are the figures of the query, not of the pass: an account that is safe again is left out', () => {
    const world = AtRiskWorld.withCounterparty();
    world.accounts.judged(world.long(ALICE, '301'), true);
    world.price('1800');
    world.pass();
    assert.equal((world.query()['accounts'] as readonly View[]).length, 1);
    world.price('2500');
    assert.deepEqual(world.query()['accounts'], []);
  });
});
