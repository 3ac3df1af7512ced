/**
 * The markets at the gateway, with figures of each: the definition in force, how far its events were received and
 * decided, the best resting prices seen. Follows clearing's registry.
 *
 * Not here: orders (live-orders.ts), trades that clearing has not decided (fill-view.ts).
 */
import { must } from '../../../core/assert.ts';
import type { AssetId } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import {
  ORDER_KIND,
  type OrderEnd,
  type OrderKind,
  type RollbackReason,
  SIDE,
  type Side,
  TIF,
  type Tif,
  TRIGGER_STATE,
  type TriggerState,
} from '../../../core/order-terms.ts';
import { NONE } from '../../../core/pools.ts';
import type { RawPrice } from '../../../core/units.ts';

// The best resting order of each side of a market among those that the gateway has seen, which has no book: a hint for
// the budget of a market order where no price of the asset is known (AMB-39). It is checked at its use: one that does not
// rest any more is dropped, and there is none until an event of another order of the market. So an order costs a
// comparison when it comes, and nothing when it goes. One that crosses the best of the other side is about to match, and
// is not seen. Not here: the book itself (src/matching).

/** What is read of an order: whether a part of it rests, and at which price. */
interface RestingFigures {
  readonly index: number;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly price: RawPrice;
  readonly quantity: number;
  readonly filledQuantity: number;
  readonly pendingQuantity: number;
  readonly triggerState: TriggerState;
  readonly end: OrderEnd | 0;
  readonly faultReason: RollbackReason;
  readonly isClosed: boolean;
}

class BestSeen {
  readonly #best: [RestingFigures | null, RestingFigures | null] = [null, null];

  /** An order that may rest now, or at another price. */
  see(order: RestingFigures): void {
    if (!rests(order)) return;
    const { side } = order;
    const other = this.price(side === SIDE.buy ? SIDE.sell : SIDE.buy);
    if (other !== 0 && !isBetter(side, other, order.price)) return;
    const best = this.price(side);
    if (best === 0 || isBetter(side, order.price, best)) this.#best[side] = order;
  }

  /** The order leaves memory. */
  forget({ index, side }: Pick<RestingFigures, 'index' | 'side'>): void {
    if (this.#best[side]?.index === index) this.#best[side] = null;
  }

  /** The price of the best order of a side; 0 if none is known. */
  price(side: Side): RawPrice | 0 {
    const best = this.#best[side];
    if (best === null) return 0;
    if (rests(best)) return best.price;
    this.#best[side] = null;
    return 0;
  }
}

function isBetter(side: Side, price: number, than: number): boolean {
  return side === SIDE.buy ? price > than : price < than;
}

/** Whether, as far as is known here, a part of the order is left and nothing has ended it. */
function rests(order: RestingFigures): boolean {
  const { kind, tif } = order;
  const mayRest = kind === ORDER_KIND.limit && (tif === TIF.gtc || tif === TIF.gtd);
  const isLive = order.triggerState === TRIGGER_STATE.live && order.end === 0 && order.faultReason === 0;
  return mayRest && isLive && !order.isClosed && order.pendingQuantity + order.filledQuantity < order.quantity;
}

export interface MarketSlot {
  definition: MarketDefinition;
  readonly bestSeen: BestSeen;
  /** The last match received; 0 before the first since the start. */
  lastTradeId: number;
  /**
   * Index of a child that never rests, a part of which is being matched: no event but its fills has arrived since; or
   * NONE.
   */
  entering: number;
  /** The last market sequence received from the market itself. */
  seenSequence: number;
  /** The last market sequence that clearing has decided and flushed. */
  decidedSequence: number;
}

export class Markets {
  /** By market index. */
  readonly #slots: (MarketSlot | undefined)[] = [];
  readonly #byAsset = new Map<AssetId, MarketSlot>();

  /** A new market, or a new definition of a known one. */
  set(definition: MarketDefinition): MarketSlot {
    const known = this.#slots[definition.marketIndex];
    if (known !== undefined) {
      known.definition = definition;
      return known;
    }
    const slot: MarketSlot = {
      definition,
      bestSeen: new BestSeen(),
      lastTradeId: 0,
      entering: NONE,
      seenSequence: 0,
      decidedSequence: 0,
    };
    this.#slots[definition.marketIndex] = slot;
    this.#byAsset.set(definition.assetId, slot);
    return slot;
  }

  find(asset: AssetId): MarketSlot | undefined {
    return this.#byAsset.get(asset);
  }

  all(): Iterable<MarketSlot> {
    return this.#byAsset.values();
  }

  /** Whether each market was received as far as clearing has decided it: clearing may be ahead, on a ring of its own. */
  get areDecided(): boolean {
    for (const { seenSequence, decidedSequence } of this.#byAsset.values()) {
      if (seenSequence < decidedSequence) return false;
    }
    return true;
  }

  withIndex(marketIndex: number): MarketSlot | undefined {
    return this.#slots[marketIndex];
  }

  at(marketIndex: number): MarketSlot {
    return must(this.#slots[marketIndex], 'a message names a market of the registry');
  }
}
