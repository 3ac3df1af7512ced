/** Random days of a market and its users, played on a clearing world and on the plain ledger beside it. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import {
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  SIDE,
  type Side,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerKind,
} from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import { ALICE, BOB, CAROL, CHAIN, ClearingWorld, ETH, effectsOf, TOKEN, USD } from './clearing-world.ts';
import { PlainClearing, type PlainOrder } from './plain-clearing.ts';

export const USERS: readonly UserId[] = [ALICE, BOB, CAROL];
const ASSETS: readonly AssetId[] = [USD, ETH];

type Size = Pick<PlainOrder, 'kind' | 'price' | 'quantity' | 'amount' | 'budget'>;
/** What happens next. Orders are picked by number among those that live. */
export type Step =
  | (Pick<PlainOrder, 'user' | 'subAccount' | 'side' | 'tif' | 'maxFeeRate' | 'forged'> & {
      readonly kind: 'create';
      readonly size: Size;
      readonly triggerKind: TriggerKind;
      readonly parent: number | null;
    })
  | {
      readonly kind: 'match';
      readonly makers: readonly number[];
      readonly taker: number;
      readonly price: number;
      readonly quantity: number;
    }
  | { readonly kind: 'replace'; readonly order: number; readonly price: number; readonly quantity: number }
  | { readonly kind: 'end'; readonly order: number; readonly end: OrderEnd }
  | { readonly kind: 'release-order'; readonly order: number }
  | { readonly kind: 'cover'; readonly order: number }
  | {
      readonly kind: 'faucet';
      readonly user: UserId;
      readonly subAccount: number;
      readonly asset: AssetId;
      readonly amount: number;
    }
  | { readonly kind: 'deposit'; readonly user: UserId; readonly baseUnits: bigint; readonly nonceStep: number }
  | {
      readonly kind: 'transfer';
      readonly user: UserId;
      readonly from: number;
      readonly asset: AssetId;
      readonly amount: bigint;
    }
  | { readonly kind: 'fees'; readonly taker: number; readonly maker: number };
type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>;

const who = fc.constantFrom(...USERS);
const pick = fc.nat({ max: 1_000 });
/** Prices around 10.00, in cents, and quantities around 1, in 1e-4: small, so that money runs out and orders overfill. */
const price = fc.integer({ min: 980, max: 1_020 });
const quantity = fc.integer({ min: 1, max: 30_000 });

/** Quote integers, in 1e-4 USD: what one to three lots of 1 cost. */
const money = fc.integer({ min: 1, max: 300_000 });
const none = fc.constant(0);
const someMoney = fc.oneof(none, money);
const sizes = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant(ORDER_KIND.limit), price, quantity, amount: none, budget: none }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant(ORDER_KIND.marketBase),
      price: none,
      quantity,
      amount: someMoney,
      budget: someMoney,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant(ORDER_KIND.marketQuote),
      price: none,
      quantity: fc.oneof(none, quantity),
      amount: money,
      budget: fc.oneof(none, quantity),
    }),
  },
);
const create = fc.record({
  kind: fc.constant('create' as const),
  size: sizes,
  triggerKind: fc.constantFrom(TRIGGER.none, TRIGGER.none, TRIGGER.none, TRIGGER.above, TRIGGER.below),
  parent: fc.option(pick, { freq: 4 }),
  user: who,
  subAccount: fc.constantFrom(0, 0, 0, 1),
  side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
  tif: fc.constantFrom(TIF.gtc, TIF.gtc, TIF.gtc, TIF.ioc, TIF.fok),
  maxFeeRate: fc.constantFrom(1_000, 1_000, 1_000, 450, 100),
  forged: fc.constantFrom(false, false, false, false, false, true),
});
const match = fc.record({
  kind: fc.constant('match' as const),
  makers: fc.array(pick, { minLength: 1, maxLength: 4 }),
  taker: pick,
  price,
  quantity: fc.integer({ min: 1, max: 20_000 }),
});
const replace = fc.record({ kind: fc.constant('replace' as const), order: pick, price, quantity });
const end = fc.record({
  kind: fc.constant('end' as const),
  order: pick,
  end: fc.constantFrom(ORDER_END.userRequested, ORDER_END.immediateOrCancel, ORDER_END.filled),
});
const release = fc.record({ kind: fc.constant('release-order' as const), order: pick });
const cover = fc.record({ kind: fc.constant('cover' as const), order: pick });
const faucet = fc.record({
  kind: fc.constant('faucet' as const),
  user: who,
  subAccount: fc.constantFrom(0, 1),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.integer({ min: -20, max: 60 }),
});
const deposit = fc.record({
  kind: fc.constant('deposit' as const),
  user: who,
  baseUnits: fc.bigInt({ min: 0n, max: 50_000_000n }),
  nonceStep: fc.constantFrom(0, 0, 0, -1, 1),
});
const transfer = fc.record({
  kind: fc.constant('transfer' as const),
  user: who,
  from: fc.constantFrom(0, 1),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.bigInt({ min: 0n, max: 30n * 10n ** 18n }),
});
const fees = fc.record({
  kind: fc.constant('fees' as const),
  taker: fc.integer({ min: 0, max: 900 }),
  maker: fc.integer({ min: -900, max: 900 }),
});

/** What only orders do. */
export const moves: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: create },
  { weight: 10, arbitrary: match },
  { weight: 2, arbitrary: replace },
  { weight: 2, arbitrary: end },
  { weight: 4, arbitrary: release },
  { weight: 1, arbitrary: cover },
);
const funds = fc.oneof(
  { weight: 4, arbitrary: faucet },
  { weight: 2, arbitrary: deposit },
  { weight: 2, arbitrary: transfer },
  { weight: 1, arbitrary: fees },
);
export const step: fc.Arbitrary<Step> = fc.oneof({ weight: 3, arbitrary: moves }, { weight: 1, arbitrary: funds });

/** Drives a world and, when there is one, the plain ledger beside it. */
export class Player {
  readonly world: ClearingWorld = ClearingWorld.withMarket({ maker_fee_rate: -50 });
  readonly plain: PlainClearing = new PlainClearing();
  /** Orders that a market would still speak of: not ended by it, and not filled. */
  private names: Sequence[] = [];
  private readonly depositNonces = new Map<UserId, number>();
  private transferNonce = 0n;

  constructor() {
    this.plain.fees = { maker: -50, taker: 450 };
    for (const user of USERS) {
      for (const asset of ASSETS) this.faucet(user, 0, asset, 40);
    }
  }

  private faucet(user: UserId, subAccount: number, asset: AssetId, amount: number): void {
    const outcome = this.world.fund(user, asset, String(amount), subAccount);
    assert.equal(outcome.ok, this.plain.faucet(user, subAccount, asset, BigInt(amount) * 10n ** 18n));
  }

  private live(at: number): Sequence | undefined {
    this.names = this.names.filter((name) => this.world.order(name) !== undefined || this.isWaiting(name));
    return this.names[at % Math.max(1, this.names.length)];
  }

  private isWaiting(name: Sequence): boolean {
    const { waiting } = this.world.state.hooks;
    return waiting.some((input) => input.kind === 'created' && input.sequence === name);
  }

  play(step: Step): void {
    switch (step.kind) {
      case 'create':
        this.create(step);
        break;
      case 'match':
        this.match(step);
        break;
      case 'replace':
        this.replace(step);
        break;
      case 'end':
        this.end(step);
        break;
      case 'release-order':
        this.release(step);
        break;
      case 'cover':
        this.cover(step);
        break;
      case 'faucet':
        this.faucet(step.user, step.subAccount, step.asset, step.amount);
        break;
      case 'deposit':
        this.deposit(step);
        break;
      case 'transfer':
        this.transfer(step);
        break;
      case 'fees':
        this.setFees(step);
        break;
    }
  }

  private create(step: StepOf<'create'>): void {
    const { kind: _, forged, size, parent: at, triggerKind, ...others } = step;
    const tif = size.kind === ORDER_KIND.limit || others.tif === TIF.fok ? others.tif : TIF.ioc;
    const terms = { ...others, ...size, tif };
    const { sequence } = this.world.next();
    if (forged) this.world.forged.add(`0/${sequence}`);
    const parent = size.kind === ORDER_KIND.marketQuote || at === null ? 0 : this.parentAt(at);
    const trigger = { triggerKind, triggerPrice: triggerKind === TRIGGER.none ? 0 : 1_000 };
    if (parent === 0) this.world.create({ ...terms, ...trigger });
    else this.world.createChild(parent, { ...terms, ...trigger });
    this.plain.create(sequence, { ...terms, parent, waits: triggerKind !== TRIGGER.none, forged });
    this.names.push(sequence);
  }

  /** A limit order that is live in clearing and has no trigger; else none. */
  private parentAt(at: number): Sequence | 0 {
    const name = this.live(at);
    const row = name === undefined ? undefined : this.world.order(name);
    // IOC and FOK are over before anybody can name them.
    const rests = row?.tif === TIF.gtc || row?.tif === TIF.gtd;
    const canBeParent = rests && row?.kind === ORDER_KIND.limit && row.triggerKind === TRIGGER.none;
    return canBeParent && name !== undefined ? name : 0;
  }

  /** One step of an order that waits: it fires, then it is released; of a live one, once more of it is enabled. */
  private release(step: StepOf<'release-order'>): void {
    const order = this.live(step.order);
    const row = order === undefined ? undefined : this.world.order(order);
    if (order === undefined || row === undefined || row.triggerKind === TRIGGER.none) return;
    if (row.triggerState !== TRIGGER_STATE.fired) this.world.triggered(order, row.enabledQuantity);
    else {
      this.world.activated(order, row.enabledQuantity);
      this.plain.release(order, row.enabledQuantity);
    }
  }

  /** Children are enabled as the plain ledger counts it (AMB-29). */
  compareEnabled(): void {
    for (const [name, order] of this.plain.orders) {
      assert.equal(this.world.order(name)?.enabledQuantity, this.plain.enabled(order), `order ${name}`);
    }
  }

  private cover(step: StepOf<'cover'>): void {
    const order = this.live(step.order);
    if (order !== undefined) this.world.covered(order);
  }

  private match(step: StepOf<'match'>): void {
    const taker = this.live(step.taker);
    const makers = step.makers.map((at) => this.live(at)).filter((name) => name !== undefined && name !== taker);
    if (taker === undefined || makers.length === 0) return;
    // A market never matches more of an order than it has left, but for an injected fill; so does this one now and then.
    const fok = this.plain.orders.get(taker)?.tif === TIF.fok;
    const unit = fok ? makers : makers.slice(0, 1);
    const fills = unit.map((maker) => ({ maker: maker as Sequence, quantity: Math.ceil(step.quantity / unit.length) }));
    const expected = this.plain.decide(fills, taker, step.price);
    const told: unknown[] = [];
    fills.forEach((fill, at) => {
      const place = fills.length === 1 ? 0 : at === fills.length - 1 ? 2 : 1;
      const effects = this.world.match(fill.maker, taker, fill.quantity, {
        price: step.price as RawPrice,
        unit: place,
        makerFeeRate: this.plain.fees.maker,
        takerFeeRate: this.plain.fees.taker,
      });
      told.push(...effectsOf(effects, 'fillConfirmed').map(() => 'confirmed'));
      told.push(...effectsOf(effects, 'fillRolledBack').map((fill) => [fill.makerReason, fill.takerReason]));
    });
    if (this.compares) assert.deepEqual(told, expected);
  }

  /** False while fills are held: then only the end is compared. */
  compares: boolean = true;

  private replace(step: StepOf<'replace'>): void {
    const order = this.live(step.order);
    if (order === undefined || this.plain.orders.get(order)?.kind !== ORDER_KIND.limit) return;
    this.world.replace(order, {
      prioritySequence: this.world.next().sequence,
      price: step.price as RawPrice,
      quantity: step.quantity as RawQuantity,
      timestampNs: this.world.nowNs,
    });
    this.plain.replace(order, step.price, step.quantity);
  }

  private end(step: StepOf<'end'>): void {
    const order = this.live(step.order);
    if (order === undefined) return;
    const isMarket = this.plain.orders.get(order)?.kind !== ORDER_KIND.limit;
    const said = isMarket ? step.end : ORDER_END.userRequested;
    this.world.end(order, said);
    const expected = this.plain.orders.has(order) ? this.plain.end(order, said) : null;
    if (this.compares) assert.equal(this.world.finished(order)?.end, expected);
    this.names = this.names.filter((name) => name !== order);
  }

  private deposit(step: StepOf<'deposit'>): void {
    const next = this.depositNonces.get(step.user) ?? 0;
    const depositNonce = next + step.nonceStep;
    if (depositNonce < 0) return;
    if (step.nonceStep === 0) {
      this.depositNonces.set(step.user, next + 1);
      this.plain.credit(step.user, 0, USD, step.baseUnits * 10n ** 12n);
    }
    this.world.send({
      kind: 'deposit',
      request: this.world.request(),
      chainId: CHAIN as never,
      tx: String(depositNonce).padStart(64, '0'),
      logIndex: USERS.indexOf(step.user),
      user: step.user,
      token: TOKEN,
      baseUnits: step.baseUnits,
      depositNonce,
    });
  }

  private transfer(step: StepOf<'transfer'>): void {
    this.transferNonce += 1n;
    const { user, from, asset, amount } = step;
    const effects = this.world.send({
      kind: 'transfer',
      request: this.world.request(),
      user,
      sourceIndex: from,
      targetIndex: 1 - from,
      asset,
      amount: amount as Amount18,
      targetType: null,
      nonce: this.transferNonce,
    });
    const done = effectsOf(effects, 'transferDone').length === 1;
    assert.equal(done, this.plain.transfer(user, from, 1 - from, asset, amount));
  }

  private setFees(step: StepOf<'fees'>): void {
    const maker = Math.max(step.maker, -step.taker);
    this.world.put('putMarket', ETH, { maker_fee_rate: maker, taker_fee_rate: step.taker }, 'patch');
    this.plain.fees = { maker, taker: step.taker };
  }
}
