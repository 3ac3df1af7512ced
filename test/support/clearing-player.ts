/** Plays random days of a market and its users on a clearing world and on the plain ledger beside it. */

import assert from 'node:assert/strict';
import { format18 } from '../../src/core/decimal.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, ORDER_KIND, SIDE, TIF, TRIGGER, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { ASSETS, type Step, type StepOf, USERS } from './clearing-steps.ts';
import { CHAIN, ClearingWorld, effectsOf, TOKEN } from './clearing-world.ts';
import { ETH, USD } from './names.ts';
import { PlainClearing, type PlainFill } from './plain-clearing.ts';
import { widestBand } from './plain-risk.ts';

/** Drives a world and, when there is one, the plain ledger beside it. */
export class Player {
  readonly world: ClearingWorld = ClearingWorld.withMarket({ maker_fee_rate: -50 });
  readonly plain: PlainClearing = new PlainClearing();
  /** Orders that a market may still send events about: not ended by it, and not filled. */
  #names: Sequence[] = [];
  readonly #depositNonces = new Map<UserId, number>();
  #transferNonce = 0n;

  constructor() {
    this.plain.fees = { maker: -50, taker: 450 };
    for (const user of USERS) {
      for (const asset of ASSETS) this.#faucet(user, 0, asset, 40);
      this.#faucet(user, 1, USD, 3);
    }
    this.plain.now = this.world.nowNs;
    this.#oracle({ kind: 'oracle', cents: 1_000, ageNs: 0n });
  }

  #oracle({ cents, ageNs }: StepOf<'oracle'>): void {
    const of = this.world.nowNs - ageNs;
    const price = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
    const prices = [{ asset_id: ETH, price, publish_time_ns: of }];
    const effects = this.world.send({ kind: 'setPrices', request: this.world.request(), body: { prices } });
    const isAccepted = effectsOf(effects, 'priceAccepted').length === 1;
    assert.equal(isAccepted, this.#lastOracleNs === null || of > this.#lastOracleNs);
    if (!isAccepted) return;
    this.#lastOracleNs = of;
    this.plain.risk.oracle(BigInt(cents) * 10n ** 16n, of, this.world.nowNs);
  }

  #lastOracleNs: bigint | null = null;

  #pass(ns: bigint): void {
    this.world.nowNs = (this.world.nowNs + ns) as TimestampNs;
    this.plain.now = this.world.nowNs;
  }

  #setRisk({ kind: _, ...row }: StepOf<'risk'>): void {
    assert.ok(this.world.put('putAsset', ETH, { mark_band: null }, 'patch').ok);
    const text = (amount: bigint | null): string | null => (amount === null ? null : amount.toString());
    const body = {
      collateral_factor: row.cf,
      liability_factor: row.lf,
      initial_margin_clamps: row.clamps,
      initial_margin_factors: row.factors,
      max_spot_open_interest: text(row.spotCap),
      max_total_open_interest_notional: text(row.interestCap),
      max_collateral: text(row.collateralCap),
      isolated_only: row.isolatedOnly,
      min_sub_account_balance: row.minimum.toString(),
      max_utilization: row.utilization.toString(),
    };
    assert.ok(this.world.put('putRisk', ETH, body).ok);
    // A band wider than the factors permit is refused, and what follows from them stays (MON-06).
    const { band } = row;
    const widest = widestBand(row);
    const isTaken = band === null || band === 'none' || band.n * widest.d <= widest.n * band.d;
    const given = band === null || band === 'none' ? band : format18(((band.n * 10n ** 18n) / band.d) as Amount18);
    assert.equal(this.world.put('putAsset', ETH, { mark_band: given }, 'patch').ok, isTaken);
    const minimum = { mark_min_notional: format18(row.markMinimum as Amount18) };
    assert.ok(this.world.put('putAsset', ETH, minimum, 'patch').ok);
    this.plain.risk.row = { ...row, band: isTaken ? band : null };
  }

  #close({ user, account }: StepOf<'close'>): void {
    this.#closeNonce += 1n;
    const nonce = this.#closeNonce;
    const request = this.world.request();
    const effects = this.world.send({ kind: 'closePosition', request, user, account, asset: ETH, nonce });
    const done = effectsOf(effects, 'positionCleared').length === 1;
    assert.equal(done, this.plain.closePosition(user, account));
  }

  #closeNonce = 0n;

  /** A reduce-only order over the whole position, at a price that others meet. */
  #flatten({ user, account }: StepOf<'flatten'>): void {
    const { base } = this.plain.position(user, account);
    if (base === 0n) return;
    const side = base > 0n ? SIDE.sell : SIDE.buy;
    const quantity = Number((base > 0n ? base : -base) / 10n ** 14n);
    this.#create({
      kind: 'create',
      user,
      side,
      place: { subAccount: account, isSpot: false, reduceOnly: true },
      size: { kind: ORDER_KIND.limit, price: side === SIDE.buy ? 1_020 : 980, quantity, amount: 0, budget: 0 },
      tif: TIF.gtc,
      triggerKind: TRIGGER.none,
      parent: null,
      maxFeeRate: 1_000,
      forged: false,
    });
  }

  #faucet(user: UserId, subAccount: number, asset: AssetId, amount: number): void {
    const outcome = this.world.fund(user, asset, String(amount), subAccount);
    assert.equal(outcome.ok, this.plain.faucet(user, subAccount, asset, BigInt(amount) * 10n ** 18n));
  }

  /** While fills are held, the plain ledger is what the market believes: it sends no event about an ended order. */
  #live(at: number): Sequence | undefined {
    this.#names = this.#names.filter((name) => this.plain.orders.has(name) && this.#isThere(name));
    return this.#names[at % Math.max(1, this.#names.length)];
  }

  #isThere(name: Sequence): boolean {
    return this.world.order(name) !== undefined || this.#isWaiting(name);
  }

  #isWaiting(name: Sequence): boolean {
    const { waiting } = this.world.state.hooks;
    return waiting.some((input) => input.kind === 'created' && input.sequence === name);
  }

  play(step: Step): void {
    switch (step.kind) {
      case 'create':
        this.#create(step);
        break;
      case 'match':
        this.#match(step);
        break;
      case 'replace':
        this.#replace(step);
        break;
      case 'end':
        this.#end(step);
        break;
      case 'release-order':
        this.#release(step);
        break;
      case 'cover':
        this.#cover(step);
        break;
      case 'faucet':
        this.#faucet(step.user, step.subAccount, step.asset, step.amount);
        break;
      case 'deposit':
        this.#deposit(step);
        break;
      case 'transfer':
        this.#transfer(step);
        break;
      case 'fees':
        this.#setFees(step);
        break;
      case 'flatten':
        this.#flatten(step);
        break;
      case 'close':
        this.#close(step);
        break;
      case 'oracle':
        this.#oracle(step);
        break;
      case 'pass':
        this.#pass(step.ns);
        break;
      case 'risk':
        this.#setRisk(step);
        break;
    }
  }

  #create(step: StepOf<'create'>): void {
    const { kind: _, forged, size, parent: at, triggerKind, place, ...others } = step;
    if (this.plain.kindOf(step.user, place.subAccount) === null) return;
    // The exposure of a market order is in the worked examples; here orders of margin accounts have a limit.
    const isMargin = this.plain.kindOf(step.user, place.subAccount) !== 'spot';
    if ((isMargin || !place.isSpot) && size.kind !== ORDER_KIND.limit) return;
    const tif = size.kind === ORDER_KIND.limit || others.tif === TIF.fok ? others.tif : TIF.ioc;
    const { subAccount, isSpot, reduceOnly } = place;
    const flags = (isSpot ? ORDER_FLAG.isSpot : 0) | (reduceOnly ? ORDER_FLAG.reduceOnly : 0);
    const terms = { ...others, ...size, tif, subAccount, flags };
    const { sequence } = this.world.next();
    if (forged) this.world.forged.add(`0/${sequence}`);
    // What a part of a child that never rests releases is in the examples; here children rest (AMB-29).
    const canBeChild = size.kind === ORDER_KIND.limit && tif === TIF.gtc;
    const parent = canBeChild && at !== null ? this.#parentAt(at) : 0;
    const trigger = { triggerKind, triggerPrice: triggerKind === TRIGGER.none ? 0 : 1_000 };
    if (parent === 0) this.world.create({ ...terms, ...trigger });
    else this.world.createChild(parent, { ...terms, ...trigger });
    this.plain.create(sequence, {
      ...others,
      ...size,
      ...place,
      tif,
      parent,
      waits: triggerKind !== TRIGGER.none,
      forged,
    });
    this.#names.push(sequence);
  }

  /** A limit order that is live in clearing and has no trigger; else none. */
  #parentAt(at: number): Sequence | 0 {
    const name = this.#live(at);
    const row = name === undefined ? undefined : this.world.order(name);
    // IOC and FOK have ended before a command can name them.
    const rests = row?.tif === TIF.gtc || row?.tif === TIF.gtd;
    const canBeParent = rests && row?.kind === ORDER_KIND.limit && row.triggerKind === TRIGGER.none;
    return canBeParent && name !== undefined ? name : 0;
  }

  /** One step of an order that waits: it fires, then it is released; of a live one, once more of it is enabled. */
  #release(step: StepOf<'release-order'>): void {
    const order = this.#live(step.order);
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

  #cover(step: StepOf<'cover'>): void {
    const order = this.#live(step.order);
    if (order !== undefined) this.world.cancelPending(order);
  }

  #match(step: StepOf<'match'>): void {
    const taker = this.#live(step.taker);
    if (taker === undefined) return;
    const makers = step.makers
      .map((at) => (step.isHonest ? this.#crossing(taker, at) : this.#live(at)))
      .filter((name): name is Sequence => name !== undefined && name !== taker);
    const [first] = makers;
    if (first === undefined) return;
    const fok = this.plain.orders.get(taker)?.tif === TIF.fok;
    const unit = fok ? makers : [first];
    const lots = Math.ceil(step.quantity / unit.length);
    const maker = this.plain.orders.get(first);
    const isLimit = maker?.kind === ORDER_KIND.limit;
    const price = step.isHonest && isLimit ? maker.price : step.price;
    const fills = unit.map((name) => ({
      maker: name,
      quantity: step.isHonest ? Math.min(lots, this.#lotsOf(name), this.#lotsOf(taker)) : lots,
    }));
    this.#matchUnit({ fills, taker, price });
  }

  /** An order that would match the taker, counted from `at`. */
  #crossing(taker: Sequence, at: number): Sequence | undefined {
    const own = this.plain.orders.get(taker);
    const names = this.#names.filter((name) => {
      const other = this.plain.orders.get(name);
      if (own === undefined || other === undefined || own.waits || other.waits || other.side === own.side) return false;
      if (other.kind !== ORDER_KIND.limit || own.kind !== ORDER_KIND.limit) return true;
      return own.side === SIDE.buy ? own.price >= other.price : own.price <= other.price;
    });
    return names[at % Math.max(1, names.length)];
  }

  /** Lots that the order may still trade; at least 1, so that a match is one. */
  #lotsOf(name: Sequence): number {
    const order = this.plain.orders.get(name);
    if (order === undefined || order.quantity === 0) return 1;
    return Math.max(1, this.plain.enabled(order) - order.filled);
  }

  #matchUnit({ fills, taker, price }: { fills: readonly PlainFill[]; taker: Sequence; price: number }): void {
    const expected = this.plain.decide(fills, taker, price);
    const told: unknown[] = [];
    fills.forEach((fill, at) => {
      const place = fills.length === 1 ? 0 : at === fills.length - 1 ? 2 : 1;
      const effects = this.world.match(fill.maker, taker, fill.quantity, {
        price: price as RawPrice,
        group: place,
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

  #replace(step: StepOf<'replace'>): void {
    const order = this.#live(step.order);
    if (order === undefined || this.plain.orders.get(order)?.kind !== ORDER_KIND.limit) return;
    this.world.replace(order, {
      prioritySequence: this.world.next().sequence,
      price: step.price as RawPrice,
      quantity: step.quantity as RawQuantity,
      timestampNs: this.world.nowNs,
    });
    this.plain.replace(order, step.price, step.quantity);
  }

  #end(step: StepOf<'end'>): void {
    const order = this.#live(step.order);
    if (order === undefined) return;
    const isMarket = this.plain.orders.get(order)?.kind !== ORDER_KIND.limit;
    const said = isMarket ? step.end : ORDER_END.userRequested;
    this.world.end(order, said);
    const expected = this.plain.orders.has(order) ? this.plain.end(order, said) : null;
    if (this.compares) assert.equal(this.world.finished(order)?.end, expected);
    this.#names = this.#names.filter((name) => name !== order);
  }

  #deposit(step: StepOf<'deposit'>): void {
    const next = this.#depositNonces.get(step.user) ?? 0;
    const depositNonce = next + step.nonceStep;
    if (depositNonce < 0) return;
    if (step.nonceStep === 0) {
      this.#depositNonces.set(step.user, next + 1);
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

  #transfer(step: StepOf<'transfer'>): void {
    this.#transferNonce += 1n;
    const { user, from, to, type, asset, amount } = step;
    const effects = this.world.send({
      kind: 'transfer',
      request: this.world.request(),
      user,
      sourceIndex: from,
      targetIndex: to,
      asset,
      amount: amount as Amount18,
      targetType:
        type === null ? null : type === 'isolated_margin' ? { kind: type, asset: ETH } : { kind: type, asset: null },
      nonce: this.#transferNonce,
    });
    const done = effectsOf(effects, 'transferDone').length === 1;
    const kinds = { spot: 'spot', cross_margin: 'cross', isolated_margin: 'isolated' } as const;
    const plainType = type === null ? null : kinds[type];
    assert.equal(done, this.plain.transfer({ user, from, to, type: plainType, asset, amount }));
  }

  #setFees(step: StepOf<'fees'>): void {
    const maker = Math.max(step.maker, -step.taker);
    this.world.put('putMarket', ETH, { maker_fee_rate: maker, taker_fee_rate: step.taker }, 'patch');
    this.plain.fees = { maker, taker: step.taker };
  }
}
