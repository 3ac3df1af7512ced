/**
 * Plays random days on a clearing world and on the plain machines beside it. The world's market and gateway are played
 * here: what clearing sends them is kept until a step of the day answers it. After every step both sides step each
 * account and each backstop row until nothing changes, and must have published and left the same.
 */

import assert from 'node:assert/strict';
import { allBalances } from '../../src/clearing/balances.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { allPositions } from '../../src/clearing/positions.ts';
import type { TradeRow } from '../../src/clearing/rows.ts';
import { format18 } from '../../src/core/decimal.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../src/core/ids.ts';
import {
  isAtFault,
  MARKET_STATUS,
  ORDER_END,
  ORDER_FLAG,
  type OrderEnd,
  ROLLBACK_REASON,
  SIDE,
  type Side,
  TIF,
} from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, Sequence } from '../../src/core/units.ts';
import { isOpen } from '../../src/risk/position.ts';
import { effectsOf, FEES, reasonsOf } from './clearing-world.ts';
import {
  ACCOUNTS,
  type LiquidationStep,
  type LiquidationStepOf,
  MAKERS,
  PRICES,
  TRADERS,
} from './liquidation-steps.ts';
import { MarginWorld } from './margin-world.ts';
import { BTC, ETH } from './names.ts';
import {
  ceilOf,
  E18,
  LOT,
  magnitudeOf,
  type PlainAccount,
  PlainAccounts,
  type PlainLegs,
  RAW_PRICE,
} from './plain-accounts.ts';
import { PlainBackstop } from './plain-backstop.ts';
import { accountKey, type PlainEffect, PlainLiquidation, type PlainNodeOrder } from './plain-liquidation.ts';

export const BACKSTOP = '7d59c5623dd40a74aa4d5a32ac645d3b3f95daeae4c22be25476dd6a486f7382' as UserId;
const TAKER_RATE = 500n;
const SECOND_NS = 1_000_000_000n;
const ASSETS: readonly AssetId[] = [ETH, BTC];
/** What a fill moves in an account. */
interface PlainMove {
  readonly asset: AssetId;
  /** Signed. */
  readonly delta: bigint;
  readonly notional: bigint;
  readonly fee: bigint;
  readonly isSpot: boolean;
}

/** An account and a row come to rest within so many steps. */
const STEPS_MAX = 400;

type Tally = Map<string, number>;

export class LiquidationPlayer {
  readonly world: MarginWorld = MarginWorld.make();
  readonly plain: PlainAccounts = new PlainAccounts();
  readonly #expected: PlainEffect[] = [];
  readonly #published: PlainEffect[] = [];
  readonly liquidation: PlainLiquidation;
  readonly backstop: PlainBackstop;
  /** Orders of the node that its gateway has not answered for. */
  readonly #sent: PlainNodeOrder[] = [];
  readonly #toClear: { readonly user: UserId; readonly subAccount: number }[] = [];
  /** What happened, by name. */
  readonly tally: Tally;

  constructor(tally: Tally = new Map()) {
    this.tally = tally;
    const { plain: accounts } = this;
    const effects = this.#expected;
    this.backstop = new PlainBackstop({ accounts, user: BACKSTOP, effects });
    this.liquidation = new PlainLiquidation({
      accounts,
      backstopUser: BACKSTOP,
      effects,
      takeOver: (account) => this.backstop.takeOver(account),
    });
    accounts.addMarket(ETH, { cf: 90, lf: 95 }, 500);
    accounts.addMarket(BTC, { cf: 95, lf: 96, factors: [900_000] }, 500);
    accounts.now = this.world.nowNs;
    for (const asset of ASSETS) this.#setOracle(asset, PRICES[asset] ?? 0, false);
    for (const maker of MAKERS) {
      this.#fund(maker, 1, 1_000_000_000);
      this.#fundAsset(maker, BTC, 100_000);
      this.#fundAsset(maker, ETH, 100_000);
    }
    for (const user of TRADERS) {
      this.#isolate(user);
      for (const account of ACCOUNTS) this.#fund(user, account, 100);
    }
  }

  #count(name: string): void {
    this.tally.set(name, (this.tally.get(name) ?? 0) + 1);
  }

  // ---- the beginning

  #fund(user: UserId, account: number, usd: number): void {
    assert.ok(this.world.fund(user, USD, String(usd), account).ok);
    this.plain.credit(this.plain.account(user, account, account === 2 ? ETH : null), USD, BigInt(usd) * E18);
  }

  #fundAsset(user: UserId, asset: AssetId, units: number): void {
    assert.ok(this.world.fund(user, asset, String(units), 1).ok);
    this.plain.credit(this.plain.account(user, 1), asset, BigInt(units) * E18);
  }

  /** Sub-account 2 of a trader: isolated, of ETH. */
  #isolate(user: UserId): void {
    assert.ok(this.world.fund(user, USD, '1').ok);
    const targetType = { kind: 'isolated_margin' as const, asset: ETH };
    assert.ok(this.world.transfer({ user, targetIndex: 2, targetType, amount: '1' }).ok);
    this.plain.credit(this.plain.account(user, 2, ETH), USD, E18);
  }

  // ---- steps

  play(step: LiquidationStep): void {
    this.#perform(step);
    this.#run();
    this.compare();
  }

  #perform(step: LiquidationStep): void {
    switch (step.kind) {
      case 'fund':
        this.#fund(step.user, step.account, step.usd);
        break;
      case 'trade':
        this.#trade(step);
        break;
      case 'oracle':
        this.#oracle(step);
        break;
      case 'pass':
        this.world.pass(step.ns);
        this.plain.now = this.world.nowNs;
        break;
      case 'risk': {
        const body = { collateral_factor: step.cf, liability_factor: step.lf };
        assert.ok(this.world.put('putRisk', step.asset, body, 'patch').ok);
        const { risk } = this.plain.market(step.asset);
        risk.row = { ...risk.row, cf: step.cf, lf: step.lf };
        break;
      }
      case 'status': {
        const status = (['Active', 'CancelOnly', 'Halted'] as const)[step.status];
        assert.ok(this.world.put('putMarket', step.asset, { status }, 'patch').ok);
        this.plain.market(step.asset).status = step.status;
        break;
      }
      case 'maxAdl': {
        const maxAdl = step.hundredths === null ? null : BigInt(step.hundredths) * 10n ** 16n;
        const text = maxAdl === null ? null : format18(maxAdl as Amount18);
        assert.ok(this.world.put('putAsset', step.asset, { max_adl: text }, 'patch').ok);
        this.plain.market(step.asset).maxAdl = maxAdl;
        break;
      }
      case 'resolve':
        this.#resolve(step);
        break;
      case 'clear':
        this.#clear();
        break;
      case 'rounds':
        for (let second = 0; second < step.seconds; second += 1) this.#round();
        break;
      case 'restart':
        this.#restart(step);
        break;
    }
  }

  /** Everything is answered, nothing is filled, and a second goes by. */
  #round(): void {
    while (this.#toClear.length > 0) this.#clear();
    this.#run();
    while (this.#sent.length > 0) {
      this.#resolve({ kind: 'resolve', fills: [], refusal: 'none', better: 0, with: null });
      this.#run();
    }
    this.world.pass(SECOND_NS);
    this.plain.now = this.world.nowNs;
    this.#run();
  }

  #setOracle(asset: AssetId, price: number, isNew = true): void {
    if (isNew) {
      // A price is newer than the one before.
      this.world.pass(1n);
      this.plain.now = this.world.nowNs;
      const body = { prices: [{ asset_id: asset, price: String(price) }] };
      this.#publish(this.world.send({ kind: 'setPrices', request: this.world.request(), body }));
    }
    const market = this.plain.market(asset);
    market.risk.oracle(BigInt(price) * E18, this.plain.now, this.plain.now);
    market.isUpdated = true;
  }

  #oracle({ asset, level, traded }: LiquidationStepOf<'oracle'>): void {
    const price = ((PRICES[asset] ?? 0) * level) / 100;
    this.#setOracle(asset, price);
    if (traded === null) return;
    const [buyer, seller] = MAKERS;
    const at = Math.round((price * (100 + traded)) / 100);
    this.#book({ buyer: [buyer, 1], seller: [seller, 1], asset, price: at, lots: 1, isSpot: false });
  }

  #trade({ user, account, asset, side, size, with: other, isSpot }: LiquidationStepOf<'trade'>): void {
    if (account === 2 && asset !== ETH) return;
    const { oracle } = this.plain.terms(asset);
    // All of what ten times 100 USD buy, at most.
    const lots = Math.max(1, Math.floor((size * 1_000 * 100) / Number(oracle / E18)));
    const against = other === null || other === user ? MAKERS[0] : other;
    const own = [user, account] as const;
    const place = { asset, price: Number(oracle / E18), lots, isSpot };
    if (side === SIDE.buy) this.#book({ buyer: own, seller: [against, 1], ...place });
    else this.#book({ buyer: [against, 1], seller: own, ...place });
  }

  /** A trade of two users; clearing decides whether it is confirmed, the plain accounts take it when it is. */
  #book(trade: {
    readonly buyer: readonly [UserId, number];
    readonly seller: readonly [UserId, number];
    readonly asset: AssetId;
    readonly price: number;
    readonly lots: number;
    readonly isSpot: boolean;
  }): boolean {
    const { asset, price, lots, isSpot } = trade;
    const marketIndex = this.plain.market(asset).index;
    const side = ([user, subAccount]: readonly [UserId, number]) => ({ user, subAccount, isSpot });
    const maker = this.world.place(SIDE.sell, side(trade.seller), price, lots / 10_000, marketIndex);
    const taker = this.world.place(SIDE.buy, side(trade.buyer), price, lots / 10_000, marketIndex);
    const effects = this.world.match(maker, taker, lots, { marketIndex, price: (price * 100) as RawPrice });
    this.#publish(effects);
    for (const order of [maker, taker]) {
      if (this.world.order(order, marketIndex) === undefined) continue;
      this.#endOrder(marketIndex, order, ORDER_END.userRequested);
    }
    this.#decide(marketIndex);
    if (effectsOf(effects, 'fillConfirmed').length === 0) return false;
    const rawPrice = price * 100;
    this.#take(trade.seller, asset, -lots, rawPrice, 0n, isSpot);
    this.#take(trade.buyer, asset, lots, rawPrice, TAKER_RATE, isSpot);
    this.plain.market(asset).risk.traded(BigInt(rawPrice) * RAW_PRICE, this.plain.now, this.plain.now);
    return true;
  }

  /** One side of a confirmed fill, and its fee. */
  #take(
    [user, subAccount]: readonly [UserId, number],
    asset: AssetId,
    lots: number,
    rawPrice: number,
    rate: bigint,
    isSpot: boolean,
  ): void {
    const account = this.plain.account(user, subAccount);
    const delta = BigInt(lots) * LOT;
    const notional = (magnitudeOf(delta) * BigInt(rawPrice) * RAW_PRICE) / E18;
    const fee = ceilOf(notional * rate, 1_000_000n);
    this.plain.credit(this.plain.account(FEES, 0), USD, fee);
    this.#move(account, { asset, delta, notional, fee, isSpot });
  }

  #move(account: PlainAccount, { asset, delta, notional, fee, isSpot }: PlainMove): void {
    if (!isSpot) {
      this.plain.trade(account, asset, delta, notional, fee);
      return;
    }
    this.plain.credit(account, asset, delta);
    this.plain.credit(account, USD, (delta > 0n ? -notional : notional) - fee);
  }

  /** Whether a fill of the node takes from the maintenance surplus at a price that the oracle does not give (LIQ-12). */
  #raisesRisk({ user, subAccount, asset, side, isSpot }: PlainNodeOrder, lots: number, price: number): boolean {
    const account = this.plain.account(user, subAccount);
    const sells = side === SIDE.sell;
    const amount = BigInt(lots) * LOT;
    const notional = (amount * BigInt(price) * RAW_PRICE) / E18;
    const fee = ceilOf(notional * TAKER_RATE, 1_000_000n);
    const after: PlainAccount = { ...account, spot: new Map(account.spot), legs: new Map(account.legs) };
    this.#move(after, { asset, delta: sells ? -amount : amount, notional, fee, isSpot });
    if (this.plain.maintenanceOf(after) >= this.plain.maintenanceOf(account)) return false;
    return this.plain.isWorseThanOracle(asset, sells, price);
  }

  #endOrder(marketIndex: number, order: Sequence, end: OrderEnd): void {
    this.#publish(
      this.world.send({
        kind: 'ended',
        ...this.world.next(marketIndex),
        order,
        end,
        faultReason: ROLLBACK_REASON.none,
      }),
    );
  }

  #decide(marketIndex: number): void {
    this.plain.decided.set(marketIndex, this.world.state.markets[marketIndex]?.sequence ?? 0);
  }

  // ---- the gateway and the market of the node's orders

  #clear(): void {
    const account = this.#toClear.shift();
    if (account === undefined) return;
    const through = this.plain.markets.map(({ index }) => ({
      marketIndex: index,
      sequence: (this.world.state.markets[index]?.sequence ?? 0) as Sequence,
    }));
    this.#publish(this.world.send({ kind: 'accountCleared', request: this.world.request(), ...account, through }));
    this.liquidation.cleared(
      accountKey(account),
      new Map(through.map(({ marketIndex, sequence }) => [marketIndex, sequence])),
    );
    this.#count('cleared');
  }

  #resolve({ fills, refusal, better, with: other }: LiquidationStepOf<'resolve'>): void {
    const order = this.#sent.shift();
    if (order === undefined) return;
    const { user, subAccount, orderId, asset } = order;
    const isHalted = this.plain.market(asset).status === MARKET_STATUS.halted;
    if (refusal !== 'none' || isHalted) {
      this.#count('node order refused');
      const isFinal = refusal === 'final' && !isHalted;
      const request = this.world.request();
      const refused = { kind: 'nodeOrderRefused' as const, request, orderId: orderId as OrderId, isFinal };
      this.#publish(this.world.send({ ...refused, user, subAccount }));
      this.#over(order, isFinal);
      return;
    }
    const marketIndex = this.plain.market(asset).index;
    const name = this.#admit(order, marketIndex);
    let left = order.quantity;
    for (const percent of fills) {
      const lots = Math.min(left, Math.max(1, Math.floor((order.quantity * percent) / 100)));
      if (
        lots === 0 ||
        !this.#fill(order, name, { lots, better, against: other === null || other === user ? MAKERS[0] : other })
      )
        break;
      left -= lots;
    }
    if (this.world.order(name, marketIndex) !== undefined) {
      this.#endOrder(marketIndex, name, ORDER_END.immediateOrCancel);
    }
    this.#decide(marketIndex);
    this.#count(
      left === 0 ? 'node order filled' : left === order.quantity ? 'node order unfilled' : 'node order filled in part',
    );
    this.#over(order);
  }

  #admit(order: PlainNodeOrder, marketIndex: number): Sequence {
    const flags =
      ORDER_FLAG.nodeMade |
      (order.isSpot ? ORDER_FLAG.isSpot : ORDER_FLAG.reduceOnly) |
      (order.isLiquidation ? ORDER_FLAG.liquidation : 0);
    return this.world.create(
      {
        user: order.user,
        subAccount: order.subAccount,
        orderId: order.orderId as OrderId,
        side: order.side,
        flags,
        tif: TIF.ioc,
        price: order.price,
        quantity: order.quantity,
        signatures: new Uint8Array(0),
        maxFeeRate: 1_000_000,
      },
      marketIndex,
    );
  }

  /** A resting order of the counterparty meets it. @returns whether the fill was confirmed. */
  #fill(
    order: PlainNodeOrder,
    name: Sequence,
    { lots, better, against }: { readonly lots: number; readonly better: number; readonly against: UserId },
  ): boolean {
    const marketIndex = this.plain.market(order.asset).index;
    const sign = order.side === SIDE.buy ? -1 : 1;
    const price = Math.max(1, Math.round((order.price * (100 + sign * better)) / 100));
    const makerSide: Side = order.side === SIDE.buy ? SIDE.sell : SIDE.buy;
    const { isSpot } = order;
    const maker = this.world.place(makerSide, { user: against, isSpot }, price / 100, lots / 10_000, marketIndex);
    const judged = order.isLiquidation ? this.liquidation.judge(order, lots) : ROLLBACK_REASON.none;
    const raises = judged === ROLLBACK_REASON.none && this.#raisesRisk(order, lots, price);
    const expected = raises ? ROLLBACK_REASON.invalidOrder : judged;
    const effects = this.world.match(maker, name, lots, { marketIndex, price: price as RawPrice });
    this.#publish(effects);
    if (this.world.order(maker, marketIndex) !== undefined) {
      this.#endOrder(marketIndex, maker, ORDER_END.userRequested);
    }
    const [reasons] = reasonsOf(effects);
    if (reasons !== undefined) {
      const [makerReason, own] = reasons;
      this.#count(`fill of the node ${own}`);
      const isPricing = makerReason === ROLLBACK_REASON.pricingFailure && this.plain.terms(order.asset).broken;
      if (isAtFault(makerReason) && !isPricing)
        assert.notEqual(against, MAKERS[0], 'a maker with money is at no fault');
      assert.equal(own === ROLLBACK_REASON.counterpartyAtFault ? ROLLBACK_REASON.none : own, expected);
      return false;
    }
    assert.equal(expected, ROLLBACK_REASON.none, 'what is against the rules is rolled back');
    const lotsOf = (isBuyer: boolean): number => (isBuyer ? lots : -lots);
    this.#take([against, 1], order.asset, lotsOf(makerSide === SIDE.buy), price, 0n, isSpot);
    this.#take([order.user, order.subAccount], order.asset, lotsOf(order.side === SIDE.buy), price, TAKER_RATE, isSpot);
    const { risk } = this.plain.market(order.asset);
    risk.traded(BigInt(price) * RAW_PRICE, this.plain.now, this.plain.now);
    const [confirmed] = effectsOf(effects, 'fillConfirmed');
    assert.equal(confirmed?.trade.isLiquidation, order.isLiquidation);
    this.#count(order.isLiquidation ? 'liquidation fill' : 'clip fill');
    return true;
  }

  #over(order: PlainNodeOrder, wasTried = true): void {
    if (order.user === BACKSTOP) this.backstop.orderEnded(order.subAccount);
    else this.liquidation.orderEnded(accountKey(order), wasTried);
  }

  #restart({ clean }: LiquidationStepOf<'restart'>): void {
    this.#sent.length = 0;
    this.#toClear.length = 0;
    this.plain.startedNs = this.plain.now;
    for (const market of this.plain.markets) {
      market.risk.restarted();
      market.isUpdated = false;
    }
    this.liquidation.restarted();
    this.backstop.restarted();
    this.#publish(this.world.send({ kind: 'restarted', clean }));
    for (const { index } of this.plain.markets) this.#decide(index);
    // The gateway learns of every live row when it starts, and clears the accounts anew.
    for (const { account, stage } of this.liquidation.rows.values()) {
      if (stage === 'cancelling') this.#toClear.push({ user: account.user, subAccount: account.subAccount });
    }
    this.#count('restart');
  }

  // ---- both machines, until nothing changes

  #run(): void {
    const before = this.backstop.rows.size;
    for (const account of this.plain.held()) this.#runAccount(account);
    if (this.backstop.rows.size > before) this.#count('taken over');
    for (const index of this.#indices()) this.#runRow(index);
  }

  #indices(): readonly number[] {
    return [...this.backstop.rows.keys()].sort((a, b) => a - b);
  }

  #runAccount(account: PlainAccount): void {
    const { user, subAccount } = account;
    let steps = 0;
    while (this.liquidation.step(account)) steps += 1;
    this.#drive(steps, () => this.world.send({ kind: 'liquidationStep', user, subAccount }));
  }

  #runRow(index: number): void {
    let steps = 0;
    while (this.backstop.step(index)) steps += 1;
    this.#drive(steps, () => this.world.send({ kind: 'backstopStep', index }));
  }

  /** The node's steps may be larger or smaller than the plain ones: both go on until nothing changes. */
  #drive(plainSteps: number, send: () => Effect[]): void {
    let before = this.#rows();
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const effects = send();
      this.#publish(effects);
      const after = this.#rows();
      const isAtRest = effects.length === 0 && after.every((row, at) => row === before[at]);
      if (isAtRest && after.length === before.length && step >= plainSteps) return;
      before = after;
    }
    assert.fail(`no rest after ${STEPS_MAX} steps`);
  }

  /** Rows are values: one that changes is another one. */
  #rows(): readonly unknown[] {
    const { liquidations, backstopRows, adlUsage } = this.world.state;
    return [...[...liquidations].map(({ liquidation }) => liquidation), ...backstopRows.values(), ...adlUsage.values()];
  }

  #publish(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case 'tradeIdsWanted':
          this.#reserve(effect.marketIndex, effect.count);
          break;
        case 'cancelAccount':
          this.#toClear.push({ user: effect.user, subAccount: effect.subAccount });
          this.#published.push({ kind: 'cancelAccount', account: accountKey(effect) });
          break;
        case 'liquidationChanged':
          this.#count(`liquidation ${effect.stage}`);
          this.#published.push({ kind: 'liquidationChanged', account: accountKey(effect), stage: effect.stage });
          break;
        case 'nodeOrder': {
          const { kind: _, marketIndex, timeNs: __, ...order } = effect;
          const sent: PlainNodeOrder = { ...order, asset: this.plain.markets[marketIndex]?.asset ?? USD };
          this.#sent.push(sent);
          this.#published.push({ kind: 'nodeOrder', order: sent });
          break;
        }
        case 'positionCleared':
          // That of a row which closes is in no decision.
          if (effect.user === BACKSTOP) break;
          this.#published.push({ kind: 'positionCleared', account: accountKey(effect), asset: effect.asset });
          break;
        case 'deleveraged':
          this.#deleveraged(effect.trade);
          break;
        default:
          break;
      }
    }
  }

  /** The market answers with ids that follow its last trade. */
  #reserve(marketIndex: number, count: number): void {
    const firstTradeId = ((this.world.state.markets[marketIndex]?.lastTradeId ?? 0) + 1) as Sequence;
    const reserved = { kind: 'tradeIdsReserved' as const, ...this.world.next(marketIndex), firstTradeId, count };
    this.#publish(this.world.send(reserved));
    this.#decide(marketIndex);
  }

  #deleveraged(trade: TradeRow): void {
    const { marketIndex, tradeId, price, quantity, takerSide, maker, taker } = trade;
    assert.ok(trade.isAutoDeleverage && !trade.isLiquidation && maker.fee === 0n && taker.fee === 0n);
    const id = `${marketIndex}/${tradeId}`;
    assert.ok(!this.#adlIds.has(id) && maker.orderId.startsWith('sys-adl-') && taker.orderId.startsWith('sys-adl-'));
    this.#adlIds.add(id);
    this.#count('deleveraged');
    const [buyer, seller] = takerSide === SIDE.buy ? [taker, maker] : [maker, taker];
    this.#published.push({
      kind: 'deleveraged',
      asset: this.plain.markets[marketIndex]?.asset ?? USD,
      price,
      quantity,
      buyer: accountKey(buyer),
      seller: accountKey(seller),
    });
  }

  readonly #adlIds = new Set<string>();

  // ---- what must be the same

  compare(): void {
    assert.deepEqual(this.#published, this.#expected);
    this.#published.length = 0;
    this.#expected.length = 0;
    assert.deepEqual(holdingsIn(this.world), plainHoldings(this.plain));
    assert.deepEqual(liquidationsIn(this.world), plainLiquidations(this.liquidation));
    assert.deepEqual(backstopIn(this.world), plainBackstop(this.backstop));
    assert.equal(this.world.state.totals.get(USD)?.backstopCredits ?? 0n, this.backstop.credits);
    this.#checkConserved();
    this.#checkProtected();
  }

  /** Per asset all that is held was given by the faucet, or is a credit of the backstop (AMB-116). */
  #checkConserved(): void {
    for (const asset of [USD, ...ASSETS]) {
      let sum = asset === USD ? this.backstop.credits : 0n;
      for (const { owned, asset: of } of allBalances(this.world.state)) if (of === asset) sum += owned;
      for (const { legs, asset: of } of allPositions(this.world.state)) {
        if (of === asset) sum += legs.base;
        if (asset === USD) sum += legs.quote;
      }
      assert.equal(sum, -(this.world.state.totals.get(asset)?.faucet ?? 0n), `asset ${asset}`);
    }
  }

  /**
   * No account of the backstop is left below its initial margin with prices known, be it that a counterparty was closed or
   * that collateral was posted: none has negative equity and an open position while another one is on the other side.
   */
  #checkProtected(): void {
    for (const { account, state, order } of this.backstop.rows.values()) {
      if (state === 'closed' || order !== null || !this.plain.hasOracleRound(account)) continue;
      if (this.plain.assetsOf(account).some((asset) => this.plain.terms(asset).broken)) continue;
      assert.ok(!this.plain.isBelowInitial(account), `${accountKey(account)} is below its initial margin`);
    }
  }
}

/** Everything held, as text by account and asset: spot, and legs with their cost. What is empty is left out. */
function holdingsIn({ state }: MarginWorld): Readonly<Record<string, string>> {
  const held: Record<string, string> = {};
  for (const { owned, user, subAccount, asset } of allBalances(state)) {
    if (owned !== 0n) held[`${user}/${subAccount} ${asset}`] = String(owned);
  }
  for (const { legs, user, subAccount, asset } of allPositions(state)) {
    if (isOpen(legs)) held[`${user}/${subAccount} leg ${asset}`] = legsText(legs);
  }
  return sorted(held);
}

function legsText({ base, quote, entry }: PlainLegs): string {
  return `${base} ${quote} ${entry}`;
}

function sorted(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function plainHoldings({ accounts }: PlainAccounts): Readonly<Record<string, string>> {
  const held: Record<string, string> = {};
  for (const account of accounts.values()) {
    for (const [asset, owned] of account.spot)
      if (owned !== 0n) held[`${accountKey(account)} ${asset}`] = String(owned);
    for (const [asset, legs] of account.legs) {
      if (isOpen(legs)) held[`${accountKey(account)} leg ${asset}`] = legsText(legs);
    }
  }
  return sorted(held);
}

function liquidationsIn({ state }: MarginWorld): Readonly<Record<string, string>> {
  const rows: Record<string, string> = {};
  for (const { liquidation } of state.liquidations) {
    if (liquidation === null) continue;
    const { startedNs, round, roundNs, stage, order } = liquidation;
    rows[accountKey(liquidation)] = rowText([startedNs, round, roundNs, stage, order?.orderId]);
  }
  return sorted(rows);
}

function plainLiquidations({ rows }: PlainLiquidation): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [key, { startedNs, round, roundNs, stage, order }] of rows) {
    texts[key] = rowText([startedNs, round, roundNs, stage, order?.orderId]);
  }
  return sorted(texts);
}

function rowText(parts: readonly unknown[]): string {
  return parts.map((part) => String(part ?? '-')).join(' ');
}

function backstopIn({ state }: MarginWorld): Readonly<Record<string, string>> {
  const rows: Record<string, string> = {};
  for (const row of state.backstopRows.values()) {
    const { index, sourceUser, sourceIndex, order, adlClosed } = row;
    const source = accountKey({ user: sourceUser, subAccount: sourceIndex });
    const closed = adlClosed.map(({ asset, quantity }) => `${asset}:${quantity}`);
    rows[index] = rowText([source, row.state, row.provisional, row.posted, closed.sort(), order?.orderId]);
  }
  return sorted(rows);
}

function plainBackstop({ rows }: PlainBackstop): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const { index, source, state, provisional, posted, adlClosed, order } of rows.values()) {
    const closed = [...adlClosed].map(([asset, quantity]) => `${asset}:${quantity}`);
    texts[index] = rowText([source, state, provisional, posted, closed.sort(), order?.orderId]);
  }
  return sorted(texts);
}
