// tier: full, 5 s
/**
 * A day of which every venue has had one: leveraged longs, a price 40 % lower at once, a thin book. The whole node on one
 * thread; after every tenth of a second all that must hold is checked, and at the end each dollar is somewhere.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CONFIRMED, initialOf } from '../../src/clearing/account-margin.ts';
import { checkLedger } from '../../src/clearing/checks.ts';
import type { SubAccountSlot } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import { SIDE, type Side, TIF } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { SIMULATION_START_NS, SimulatedNode, simulatedUser } from '../support/simulated-node.ts';
import { hasStoodBelow } from './invariants.ts';
import { createOf } from './signing.ts';

const ETH = '12' as AssetId;
const E18 = 10n ** 18n;
const TENTH_NS = 100_000_000n;
const SECOND_NS = 10n * TENTH_NS;
const SEED = 40;

/** Long 1 at 2000 each, with 230 to 1400 USD. */
const LONGS: readonly UserId[] = Array.from({ length: 40 }, (_, at) => simulatedUser(0x10 + at));
const DEPOSIT_FIRST = 230;
const DEPOSIT_STEP = 30;
/** Short 4 each, well funded. */
const SHORTS: readonly UserId[] = Array.from({ length: 10 }, (_, at) => simulatedUser(0x60 + at));
const MAKER = simulatedUser(0x80);
const BUYER = simulatedUser(0x81);
const ALL: readonly UserId[] = [...LONGS, ...SHORTS, MAKER, BUYER];

function depositOf(at: number): number {
  return DEPOSIT_FIRST + DEPOSIT_STEP * at;
}

class Crash {
  node: SimulatedNode;
  readonly #durability = new MemoryDurability();
  #orders = 0;
  #lives = 0;
  deposited = 0n;

  constructor() {
    this.node = this.#start(SIMULATION_START_NS);
    this.#openMarket();
    for (const [at, user] of LONGS.entries()) this.#deposit(user, depositOf(at));
    for (const user of SHORTS) this.#deposit(user, 10_000);
    for (const user of [MAKER, BUYER]) this.#deposit(user, 1_000_000);
    for (const [at, user] of LONGS.entries()) {
      this.order(SHORTS[at % SHORTS.length] ?? MAKER, SIDE.sell, 2_000, 1);
      this.order(user, SIDE.buy, 2_000, 1);
    }
    this.node.settle();
    for (const user of LONGS) assert.equal(this.base(user), E18, 'every long is open');
  }

  #start(startNs: bigint): SimulatedNode {
    this.#lives += 1;
    const life = { seed: SEED + this.#lives, durability: this.#durability, forged: new Set<string>() };
    return new SimulatedNode({ ...life, startNs, checkpointAfter: 200 });
  }

  #openMarket(): void {
    const { node } = this;
    node.command({ kind: 'putAsset', method: 'put', assetId: USD, body: { symbol: 'USD' } });
    node.command({ kind: 'putAsset', method: 'put', assetId: ETH, body: { symbol: 'ETH' } });
    const risk = { collateral_factor: 90, liability_factor: 95 };
    node.command({ kind: 'putRisk', method: 'put', assetId: ETH, body: risk });
    const market = { book_price_decimals: 2, book_quantity_decimals: 4, maker_fee_rate: 0, taker_fee_rate: 0 };
    node.command({ kind: 'putMarket', method: 'put', assetId: ETH, body: market });
    this.oracle(2_000);
  }

  #deposit(user: UserId, usd: number): void {
    const body = { user_id: user, sub_account: 1, asset_id: USD, amount: String(usd) };
    this.node.command({ kind: 'faucet', body });
    this.deposited += BigInt(usd) * E18;
  }

  oracle(price: number): void {
    this.node.command({ kind: 'setPrices', body: { prices: [{ asset_id: ETH, price: String(price) }] } });
  }

  /** A limit order of a margin account. */
  order(user: UserId, side: Side, price: number, quantity: number): void {
    this.#orders += 1;
    const wish = { price: price * 100, quantity: Math.round(quantity * 10_000), tif: TIF.gtc };
    const place = { market: ETH, side, account: 1, isSpot: false, reduceOnly: false };
    const request = createOf({ id: `crash-${this.#orders}`, ...place, wish }, user, this.node.nowNs);
    let code = 'no answer';
    this.node.gateway.entry.submit(
      { kind: 'create', request },
      { user, connection: 1, isControl: true },
      ({ refusal }) => {
        code = refusal?.code ?? 'Received';
      },
    );
    this.node.drain();
    assert.equal(code, 'Received');
  }

  /** What is killed here comes up on the same disk, with a price. */
  kill(price: number): void {
    this.node = this.#start(this.node.nowNs);
    this.oracle(price);
  }

  account(user: UserId): SubAccountSlot {
    const found = this.node.clearing.ledger.users.get(user)?.subAccounts.get(1);
    assert.ok(found !== undefined);
    return found;
  }

  base(user: UserId): bigint {
    return this.account(user).positions.get(ETH)?.legs.base ?? 0n;
  }

  /** Spot USD and quote legs of a user's account. */
  usd(user: UserId): bigint {
    const { balances, positions } = this.account(user);
    return (balances.get(USD)?.owned ?? 0n) + (positions.get(ETH)?.legs.quote ?? 0n);
  }

  /** Tenths of a second, or longer parts of it, each with all that follows from it, and what must hold then. */
  pass(parts: number, partNs = TENTH_NS): void {
    for (let part = 0; part < parts; part += 1) {
      this.node.pass(partNs);
      this.node.settleLiquidations();
      this.check();
    }
  }

  check(): void {
    const { ledger } = this.node.clearing;
    checkLedger(ledger);
    const nowNs = this.node.nowNs as TimestampNs;
    const backstop = ledger.users.get(ledger.settings.backstop_account);
    for (const { index, state } of ledger.backstopRows.values()) {
      const account = backstop?.subAccounts.get(index);
      if (state === 'closed' || account === undefined) continue;
      const { initialOracle, initialMark } = initialOf(account, nowNs, CONFIRMED);
      assert.ok(initialOracle >= 0n && initialMark >= 0n, `row ${index} is below its initial margin`);
    }
    for (const user of ALL) {
      const account = this.account(user);
      assert.ok(account.liquidation !== null || !hasStoodBelow(account, nowNs), `${user} is below and not liquidated`);
    }
    this.checkGateway();
  }

  /** At rest the gateway's positions are those of clearing. */
  checkGateway(): void {
    for (const user of ALL) {
      const position = this.node.gateway.orders.margin.accounts.find(user, 1)?.find(ETH);
      assert.equal(position?.base ?? 0n, this.base(user), `the position of ${user}`);
    }
  }

  get openRows(): number {
    return [...this.node.clearing.ledger.backstopRows.values()].filter(({ state }) => state !== 'closed').length;
  }

  /** Credits given and not returned, less what the backstop has earned: what the crash has cost it. */
  get capital(): bigint {
    const { totals, users, settings } = this.node.clearing.ledger;
    const spot = users.get(settings.backstop_account)?.subAccounts.get(0)?.balances.get(USD)?.owned ?? 0n;
    return spot + (totals.get(USD)?.backstopCredits ?? 0n);
  }
}

/** From 2000 to 1200, where a market maker has bids for three; the last trade is at 1205. */
function crash(world: Crash): void {
  for (const [price, quantity] of [
    [1_195, 1],
    [1_180, 1],
    [1_150, 1],
  ] as const) {
    world.order(MAKER, SIDE.buy, price, quantity);
  }
  world.oracle(1_200);
  world.order(MAKER, SIDE.sell, 1_205, 0.001);
  world.order(BUYER, SIDE.buy, 1_205, 0.001);
  world.node.settleLiquidations();
}

/** Longs that are below maintenance when ETH is worth no more than this. */
function fallenAt(price: number): ReadonlySet<UserId> {
  return new Set(LONGS.filter((_, at) => depositOf(at) - 2_000 + 0.9 * price < 0));
}

function checkEnd(world: Crash, fallen: ReadonlySet<UserId>): void {
  const { ledger } = world.node.clearing;
  assert.equal(ledger.liquidations.size, 0, 'no liquidation is left');
  for (const user of LONGS) {
    const expected = fallen.has(user) ? 0n : E18;
    assert.equal(world.base(user), expected, `${user}: who fell below maintenance is out, who did not is in`);
  }
}

suite('a crash of 40 % into a thin book', () => {
  test('each account below maintenance is closed, no other is touched, and no dollar is lost or made (LIQ-01 to LIQ-07, BKS-01 to BKS-07, ADL-01 to ADL-09, AMB-116)', () => {
    const world = new Crash();
    crash(world);
    world.pass(50);
    checkEnd(world, fallenAt(1_205));
    assert.ok(world.openRows > 0, 'a thin book does not absorb it');
    assert.ok(world.capital < 0n, 'the backstop has given credits');
    // It goes on falling: what the backstop holds lacks margin, and profitable shorts are closed.
    world.oracle(1_100);
    world.pass(66, SECOND_NS);
    checkEnd(world, fallenAt(1_100));
    // A buyer comes back: the backstop sells the rest in clips.
    world.oracle(1_100);
    world.order(BUYER, SIDE.buy, 1_100, 40);
    world.pass(70, SECOND_NS);
    assert.equal(world.openRows, 0, 'the backstop has sold all that it took over');
    checkEnd(world, fallenAt(1_100));
    let usd = world.capital;
    let base = 0n;
    for (const user of ALL) {
      usd += world.usd(user);
      base += world.base(user);
    }
    assert.deepEqual([usd, base], [world.deposited, 0n], 'each dollar is somewhere, to the unit');
  });

  test('killed at any time within it, the node ends it all the same (AMB-110, LIQ-04, BKS-02)', () => {
    for (const tenths of [1, 4, 11, 23, 31, 45]) {
      const world = new Crash();
      crash(world);
      world.pass(tenths);
      world.kill(1_200);
      for (let trade = 0; trade < 3; trade += 1) {
        world.order(MAKER, SIDE.sell, 1_205, 0.001);
        world.order(BUYER, SIDE.buy, 1_205, 0.001);
      }
      world.pass(80);
      checkEnd(world, fallenAt(1_205));
      checkLedger(world.node.clearing.ledger);
    }
  });

  test('the same crash gives the same state', () => {
    const hashes = [0, 1].map(() => {
      const world = new Crash();
      crash(world);
      world.pass(60);
      return stateHash(world.node.clearing.ledger);
    });
    assert.equal(hashes[0], hashes[1]);
  });
});
