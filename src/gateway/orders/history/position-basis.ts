/**
 * What a user's positions cost: average cost of confirmed trades, by sub-account, asset and target (wire-additions.md 8.4).
 *
 *   trades in the tables ─▶ BasisFolds (history thread): a piece of them a question, kept ─┐
 *   trades in memory ───────────────────────────────────────────────────────────────────────┴▶ BasisPlan ─▶ rows
 *
 * The trades of a user in a market are added oldest first, each once: what was added is kept, so that the next read adds
 * only what is new. A question adds at most BASIS_TRADES_MAX of them, however many there are, and is repeated.
 *
 * A trade has the target of its order. The record of a finished order is gone after 30 days or behind 100,000 others, and
 * is not found when a later order has its id: a trade that is first added after that counts as spot in a spot account and
 * as margin in any other.
 *
 * Not here: prices, what is shown (user-read-routes.ts).
 */
import { notional18, quantity18 } from '../../../core/arithmetic.ts';
import { must } from '../../../core/assert.ts';
import { type AssetId, compareAssetIds, type UserId } from '../../../core/ids.ts';
import type { MarketDefinition } from '../../../core/market-definition.ts';
import { ORDER_FLAG } from '../../../core/order-terms.ts';
import { type Amount18, ONE_18 } from '../../../core/units.ts';
import type { Markets } from '../book/markets.ts';
import type { UserTradeEvent } from '../book/order-events.ts';
import { userTradeOfRow } from '../book/trade-view.ts';
import type { HistorySnapshot, HistoryTrade } from './order-history.ts';
import type { UncheckpointedHistory } from './uncheckpointed.ts';

/** Trades that one question adds: some 25 ms of the history thread where each is of another order. */
export const BASIS_TRADES_MAX = 512;
/** Positions that are kept on the history thread between reads: some 10 MB. */
const KEPT_LINES_MAX = 65_536;
/** What a kept market costs beside its positions, in positions. */
const FOLD_LINES = 4;

/** One position, of one sub-account and target in one market. */
export interface BasisLine {
  readonly subAccount: number;
  readonly isSpot: boolean;
  /** Below 0 for a short; never in spot. */
  readonly quantity: bigint;
  /** USD, not negative. */
  readonly cost: bigint;
}

/** A trade as far as it moves a position. */
export type BasisTrade = Pick<UserTradeEvent, 'subAccount' | 'isBuyer' | 'price' | 'quantity'> & {
  readonly isSpot: boolean;
};

/** Average cost of the positions of a user in one market. */
export class CostBasis {
  readonly #lines = new Map<number, BasisLine>();

  constructor(lines: readonly BasisLine[] = []) {
    for (const line of lines) this.#lines.set(keyOf(line), line);
  }

  get lines(): readonly BasisLine[] {
    return [...this.#lines.values()];
  }

  get size(): number {
    return this.#lines.size;
  }

  add(trade: BasisTrade, definition: MarketDefinition): void {
    const { subAccount, isSpot, isBuyer } = trade;
    const traded = quantity18(trade.quantity, definition.quantityDecimals);
    const notional = notional18(trade.price, trade.quantity, definition);
    const { quantity, cost } = this.#lines.get(keyOf(trade)) ?? { quantity: 0n, cost: 0n };
    const held = positionSize(quantity);
    const signed = isBuyer ? traded : -traded;
    const set = (next: Pick<BasisLine, 'quantity' | 'cost'>): void => {
      this.#lines.set(keyOf(trade), { subAccount, isSpot, ...next });
    };
    if (quantity === 0n || quantity > 0n === isBuyer) {
      if (isBuyer || !isSpot) set({ quantity: quantity + signed, cost: cost + notional });
      return;
    }
    if (traded < held) {
      // mutant: basis-reduction
      set({ quantity: quantity + signed, cost: cost - (cost * traded) / held });
      return;
    }
    const rest = isSpot ? 0n : quantity + signed;
    // The price of the trade, exact: its notional has a multiple of its quantity.
    set({ quantity: rest, cost: (notional * positionSize(rest)) / traded });
  }
}

/** A question about the tables. */
export interface BasisRequest {
  readonly kind: 'basis';
  readonly user: UserId;
  /** Markets that are not answered yet. */
  readonly marketIndexes: readonly number[];
  /** The user's accounts of the kind spot. */
  readonly spotAccounts: readonly number[];
}

/** A market as the tables have it. */
interface BasisOfMarket {
  readonly marketIndex: number;
  /** The tables have all confirmed trades up to this one. */
  readonly lastTradeId: number;
  readonly lines: readonly BasisLine[];
}

export interface BasisAnswer {
  readonly kind: 'basis';
  /** The first of the question's markets; fewer than all: the others need another question. */
  readonly markets: readonly BasisOfMarket[];
}

interface Fold {
  readonly basis: CostBasis;
  /** The oldest sides of the list, which are in `basis`. */
  sides: number;
}

/** What was added of the tables, by user and market: the least recently read goes first. */
export class BasisFolds {
  readonly #folds = new Map<string, Fold>();
  readonly #tradesMax: number;
  #lines = 0;

  constructor(tradesMax: number = BASIS_TRADES_MAX) {
    this.#tradesMax = tradesMax;
  }

  answer(snapshot: HistorySnapshot, { user, marketIndexes, spotAccounts }: BasisRequest): BasisAnswer {
    const markets: BasisOfMarket[] = [];
    let left = this.#tradesMax;
    for (const marketIndex of marketIndexes) {
      const query = { user, marketIndex, subAccounts: null };
      const { total } = snapshot.trades(query, 0, 0);
      const lastTradeId = snapshot.lastTradeId(marketIndex);
      if (total === 0) {
        markets.push({ marketIndex, lastTradeId, lines: [] });
        continue;
      }
      const name = `${user}/${marketIndex}`;
      const fold = this.#folds.get(name) ?? { basis: new CostBasis(), sides: 0 };
      const count = Math.min(total - fold.sides, left);
      const before = this.#folds.has(name) ? fold.basis.size + FOLD_LINES : 0;
      const { rows } = snapshot.trades(query, total - fold.sides - count, count);
      addOldestFirst(fold.basis, rows, snapshot, { user, spotAccounts });
      fold.sides += count;
      left -= count;
      this.#keep(name, fold, before);
      if (fold.sides < total) break;
      markets.push({ marketIndex, lastTradeId, lines: fold.basis.lines });
    }
    return { kind: 'basis', markets };
  }

  #keep(name: string, fold: Fold, before: number): void {
    this.#folds.delete(name);
    this.#folds.set(name, fold);
    this.#lines += fold.basis.size + FOLD_LINES - before;
    for (const [other, { basis }] of this.#folds) {
      if (this.#lines <= KEPT_LINES_MAX || other === name) return;
      this.#folds.delete(other);
      this.#lines -= basis.size + FOLD_LINES;
    }
  }
}

/** @param rows newest first. */
function addOldestFirst(
  basis: CostBasis,
  rows: readonly HistoryTrade[],
  snapshot: HistorySnapshot,
  { user, spotAccounts }: Pick<BasisRequest, 'user' | 'spotAccounts'>,
): void {
  const targets = new Map<number, boolean>();
  const isSpotOrder = ({ row, isMaker }: HistoryTrade): boolean => {
    if (row.isAutoDeleverage) return false;
    const { orderId, orderSequence, subAccount } = isMaker ? row.maker : row.taker;
    const known = targets.get(orderSequence);
    if (known !== undefined) return known;
    const flags = snapshot.orderFlags(user, row.marketIndex, orderId, orderSequence);
    const isSpot = flags === null ? spotAccounts.includes(subAccount) : (flags & ORDER_FLAG.isSpot) !== 0;
    targets.set(orderSequence, isSpot);
    return isSpot;
  };
  for (const entry of [...rows].reverse()) {
    const definition = snapshot.definition(entry.row.marketIndex);
    const trade = userTradeOfRow(entry.row, entry.isMaker, definition);
    basis.add({ ...trade, isSpot: isSpotOrder(entry) }, definition);
  }
}

/** A row of the reply before prices; its quantity is not 0. */
export interface BasisRow extends BasisLine {
  readonly assetId: AssetId;
}

/** One read: what memory has when it is planned, and the tables' part as it comes. */
export class BasisPlan {
  readonly #markets: Markets;
  readonly #user: UserId;
  readonly #spotAccounts: readonly number[];
  /** Sides of trades in memory, by market. */
  readonly #held = new Map<number, HeldSide[]>();
  readonly #bases = new Map<number, CostBasis>();
  #marketIndexes: readonly number[];
  #toAdd: HeldSide[] = [];

  constructor(
    {
      markets,
      uncheckpointed,
    }: { readonly markets: Markets; readonly uncheckpointed: Pick<UncheckpointedHistory, 'tradesOf'> },
    { user, marketIndexes, spotAccounts }: Omit<BasisRequest, 'kind'>,
  ) {
    this.#markets = markets;
    this.#user = user;
    this.#spotAccounts = spotAccounts;
    this.#marketIndexes = marketIndexes;
    for (const side of uncheckpointed.tradesOf(user)) {
      const known = this.#held.get(side.marketIndex);
      if (known === undefined) this.#held.set(side.marketIndex, [side]);
      else known.push(side);
    }
  }

  /** The next question to the tables; null when it has all their trades. */
  get request(): BasisRequest | null {
    if (this.#marketIndexes.length === 0) return null;
    const marketIndexes = this.#marketIndexes;
    return { kind: 'basis', user: this.#user, marketIndexes, spotAccounts: this.#spotAccounts };
  }

  take({ markets }: BasisAnswer): void {
    this.#marketIndexes = this.#marketIndexes.slice(markets.length);
    for (const { marketIndex, lastTradeId, lines } of markets) {
      this.#bases.set(marketIndex, new CostBasis(lines));
      // mutant: basis-of-memory
      const newer = (this.#held.get(marketIndex) ?? []).filter(({ trade }) => trade.tradeId > lastTradeId);
      this.#toAdd = this.#toAdd.concat(newer.sort(compareHeld));
    }
  }

  /** Adds at most so many trades of memory. @returns whether there are more. */
  add(most: number): boolean {
    for (const { marketIndex, trade, isSpot } of this.#toAdd.slice(0, most)) {
      const basis = must(this.#bases.get(marketIndex), 'a trade is added to its market');
      basis.add({ ...trade, isSpot }, this.#markets.at(marketIndex).definition);
    }
    this.#toAdd = this.#toAdd.slice(most);
    return this.#toAdd.length > 0;
  }

  /** By sub-account, asset and target. @param subAccounts null: all. */
  rows(subAccounts: readonly number[] | null): readonly BasisRow[] {
    const rows: BasisRow[] = [];
    for (const [marketIndex, basis] of this.#bases) {
      const { assetId } = this.#markets.at(marketIndex).definition;
      for (const line of basis.lines) {
        const isWanted = subAccounts === null || subAccounts.includes(line.subAccount);
        if (isWanted && line.quantity !== 0n) rows.push({ assetId, ...line });
      }
    }
    return rows.sort(
      (a, b) =>
        a.subAccount - b.subAccount || compareAssetIds(a.assetId, b.assetId) || Number(a.isSpot) - Number(b.isSpot),
    );
  }
}

type HeldSide = ReturnType<UncheckpointedHistory['tradesOf']>[number];

/** The order in which the tables give trades; for a self-match, the maker's side is the older one. */
function compareHeld(a: HeldSide, b: HeldSide): number {
  return a.trade.tradeId - b.trade.tradeId || Number(b.trade.isMaker) - Number(a.trade.isMaker);
}

/** USD per unit, truncated to 18 decimals. @param quantity above 0. */
export function averagePrice(cost: bigint, quantity: bigint): Amount18 {
  return ((cost * ONE_18) / quantity) as Amount18;
}

/** USD at that mark, truncated to 18 decimals. */
export function unrealizedPnl({ quantity, cost }: BasisLine, mark: Amount18): Amount18 {
  return (((mark - averagePrice(cost, positionSize(quantity))) * quantity) / ONE_18) as Amount18;
}

function keyOf({ subAccount, isSpot }: Pick<BasisLine, 'subAccount' | 'isSpot'>): number {
  return 2 * subAccount + Number(isSpot);
}

export function positionSize(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
