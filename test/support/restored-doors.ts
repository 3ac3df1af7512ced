/**
 * Two front doors that were told the same restored orders, one of them word by word into memory, the other one as the
 * node does it: asleep where that may be. Whatever is said to both, both say the same.
 */
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { RecordSink } from '../../src/clearing/effect-codec.ts';
import { RestoredOrderWord, readRestoredRow } from '../../src/clearing/restored-word.ts';
import type { OrderRow } from '../../src/clearing/rows.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../src/core/ids.ts';
import type { MarketDefinition } from '../../src/core/market-definition.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  type OrderKind,
  type Side,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
  type TriggerState,
} from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { type Views, viewsOf } from '../../src/core/views.ts';
import { DoorRestore } from '../../src/gateway/door-restore.ts';
import { KeptOrderBytes } from '../../src/gateway/kept-orders.ts';
import { OrderManager } from '../../src/gateway/orders/order-manager.ts';
import type { KeptOrders } from '../../src/gateway/orders/sleepers.ts';
import { riskTerms } from '../../src/risk/risk-terms.ts';
import { BTC, ETH, MARKETS, riskRow, source, usd } from './margin-desk.ts';
import { NO_HISTORY, NOW, RecordingSink } from './order-desk.ts';

export const USERS: readonly UserId[] = ['a', 'b', 'c'].map((digit) => digit.repeat(64) as UserId);
export const ASSETS: readonly AssetId[] = [ETH, BTC];
export const LOT = 1_000;
/** Where a tape has its word. */
export const WORD_AT = 8;

/** An order to be restored, in small numbers. */
export interface Wish {
  readonly user: number;
  readonly market: number;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly isMargin: boolean;
  readonly isReduceOnly: boolean;
  /** Null for one without a trigger. */
  readonly waits: TriggerState | null;
  readonly lots: number;
  readonly filled: number;
  /** Counted back among the orders of its user and market; 0 for none. */
  readonly parent: number;
  /** Comes so much later in the queue than its name says. */
  readonly later: number;
}

export interface Restored {
  readonly row: OrderRow;
  readonly user: UserId;
  readonly definition: MarketDefinition;
}

/** Keeps the last word that was written. */
export class WordTape implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(1_024), 0, 1_024);
  claim(): number {
    return WORD_AT;
  }
  commit(): void {}
}

/** One front door, and what it has said. */
export class RestoredDoor {
  readonly sink: RecordingSink = new RecordingSink();
  readonly manager: OrderManager;

  constructor(kept?: KeptOrders) {
    this.manager = new OrderManager({ sink: this.sink, history: NO_HISTORY, ...(kept === undefined ? {} : { kept }) });
    for (const asset of ASSETS) {
      this.manager.restoreMarket(definitionOf(asset), 1_000);
      this.manager.margin.onRiskChanged(asset, riskTerms(riskRow(90, 95, 1_000_000)));
      this.manager.margin.onOraclePrice(asset, source(usd(2_000)));
    }
    for (const user of USERS) {
      for (const subAccount of [0, 1]) {
        for (const asset of [USD, ...ASSETS]) {
          this.manager.onBalanceChanged({ user, subAccount, asset, owned: usd(5_000), locked: usd(0) });
        }
      }
      this.manager.margin.onPositionChanged({
        ...{ user, subAccount: 1, asset: ETH, base: usd(3), quote: usd(-6_000), entry: usd(6_000) },
      });
    }
  }

  /** Everything that was said since the last time. */
  said(): string {
    const { events, trades, answers, releases, reductions } = this.sink;
    const text = inspect([events, trades, answers, releases, reductions], { depth: 9 });
    for (const list of [events, trades, answers, releases, reductions]) list.length = 0;
    return text;
  }
}

export function definitionOf(asset: AssetId): MarketDefinition {
  const definition = MARKETS[asset];
  assert.ok(definition !== undefined);
  return definition;
}

export class RestoredDoors {
  readonly awake: RestoredDoor = new RestoredDoor();
  readonly kept: KeptOrderBytes = new KeptOrderBytes(7n);
  readonly asleep: RestoredDoor = new RestoredDoor(this.kept);
  readonly orders: readonly Restored[];
  /** Orders that the second one kept as bytes. */
  readonly slept: number;

  constructor(wishes: readonly Wish[]) {
    this.orders = ordersOf(wishes);
    const [tape, word] = [new WordTape(), new RestoredOrderWord()];
    const restore = new DoorRestore(this.asleep.manager, this.kept);
    for (const { row } of [...this.orders].sort((a, b) => a.row.prioritySequence - b.row.prioritySequence)) {
      word.set(row, row.parentSequence);
      word.write(tape);
      this.awake.manager.restoreOrder(readRestoredRow(tape.views, WORD_AT));
      restore.order(tape.views, WORD_AT);
    }
    this.slept = this.kept.count;
    this.both((manager) => {
      manager.margin.onRestored();
      for (const asset of ASSETS) manager.onMarketOpened(definitionOf(asset).marketIndex);
    });
  }

  /** Does the same to both. @returns what came of it, which is the same. */
  both<T>(act: (manager: OrderManager) => T): T {
    const [one, other] = [attempt(() => act(this.awake.manager)), attempt(() => act(this.asleep.manager))];
    assert.equal(inspect(other, { depth: 9 }), inspect(one, { depth: 9 }));
    assert.equal(this.asleep.said(), this.awake.said());
    assert.equal(this.asleep.manager.ordersInMemory, this.awake.manager.ordersInMemory);
    if (one instanceof Error) throw one;
    return one as T;
  }
}

function attempt(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error instanceof Error ? new Error(error.message) : error;
  }
}

function ordersOf(wishes: readonly Wish[]): readonly Restored[] {
  const orders: Restored[] = [];
  for (const wish of wishes) {
    const asset = ASSETS[wish.market % ASSETS.length] as AssetId;
    const user = USERS[wish.user % USERS.length] as UserId;
    const definition = definitionOf(asset);
    const own = orders.filter((order) => order.user === user && order.definition === definition);
    const parent = wish.parent === 0 ? undefined : own.at(-wish.parent);
    const isParent = parent !== undefined && parent.row.parentSequence === 0;
    const row = restoredRow(wish, orders.length, { user, definition }, isParent ? parent.row : null);
    orders.push({ row, user, definition });
  }
  return orders;
}

/** Of one user and market; no parent: null. */
export function restoredRow(
  wish: Wish,
  index: number,
  { user, definition }: Pick<Restored, 'user' | 'definition'>,
  parent: OrderRow | null,
): OrderRow {
  const isChild = parent !== null;
  const waits = wish.waits ?? (isChild || wish.kind !== ORDER_KIND.limit ? TRIGGER_STATE.dormant : null);
  const quantity = wish.kind === ORDER_KIND.marketQuote ? 0 : wish.lots * LOT;
  const state = waits ?? TRIGGER_STATE.live;
  const isLive = state === TRIGGER_STATE.live;
  const filled = isLive && quantity > 0 ? Math.min(wish.filled, wish.lots - 1) * LOT : 0;
  const sequence = (10 + index) as Sequence;
  const price = wish.kind === ORDER_KIND.limit ? 150_000 + 100 * (index % 7) : 0;
  const nowNs = (NOW + BigInt(index % 3)) as TimestampNs;
  return {
    marketIndex: definition.marketIndex,
    orderSequence: sequence,
    prioritySequence: (sequence + wish.later) as Sequence,
    user,
    subAccount: wish.isMargin ? 1 : index % 2,
    orderId: `order-${index}` as OrderId,
    side: wish.side,
    kind: wish.kind,
    tif: wish.kind === ORDER_KIND.limit ? TIF.gtc : TIF.ioc,
    flags: wish.isMargin ? (wish.isReduceOnly ? ORDER_FLAG.reduceOnly : 0) : ORDER_FLAG.isSpot,
    price: price as RawPrice,
    quantity: quantity as RawQuantity,
    amount: wish.kind === ORDER_KIND.marketQuote ? wish.lots * LOT : 0,
    budget: 0,
    triggerKind: waits === null ? TRIGGER.none : TRIGGER.above,
    triggerPrice: (waits === null ? 0 : 210_000) as RawPrice,
    triggerState: state,
    parentSequence: parent?.orderSequence ?? 0,
    parentId: parent?.orderId ?? '',
    enabledQuantity: parent?.filledQuantity ?? quantity,
    activatedQuantity: isChild && isLive ? Math.max(filled, quantity - LOT) : 0,
    droppedQuantity: 0,
    maxFeeRate: 500,
    creationNs: NOW,
    timestampNs: nowNs,
    goodUntilNs: 0n as TimestampNs,
    expiryNs: (NOW + 1_000_000n) as TimestampNs,
    admittedNs: NOW,
    lastUpdateNs: nowNs,
    filledQuantity: filled,
    filledNotional: usd((filled / 10_000) * 1_500),
    fees: usd(0),
    end: 0,
    faultReason: 0,
    verdict: 0,
    text: '',
    signature: new Uint8Array(),
  };
}
