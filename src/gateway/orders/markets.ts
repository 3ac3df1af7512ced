/** The markets as the front door knows them, with what it keeps per market. Follows clearing's registry. */
import { must } from '../../core/assert.ts';
import type { AssetId } from '../../core/ids.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { BestSeen } from './best-seen.ts';
import type { LiveOrder } from './live-order.ts';
import type { PendingTrade } from './trade-view.ts';

export interface MarketSlot {
  definition: MarketDefinition;
  readonly bestSeen: BestSeen;
  /** Matches that clearing has not decided, by trade id. */
  readonly pendingTrades: Map<number, PendingTrade>;
  /** A part of a child that never rests is being matched: nothing but its fills has been heard since. */
  entering: LiveOrder | null;
  /** The last market sequence heard from the market itself. */
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
      pendingTrades: new Map(),
      entering: null,
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

  at(marketIndex: number): MarketSlot {
    return must(this.#slots[marketIndex], 'a message names a market of the registry');
  }
}
