/**
 * A live order. After a start its row lies in its table's bytes until somebody wants it: then it is read, once.
 *
 *   stored ──row──▶ plain ──row = …──▶ plain
 *
 * What it is tied to is looked up when that is asked for: most of the orders that a start links wait for a price that
 * does not come today, and finding account and balances of 200,000 of them takes a second.
 */
import { must } from '../core/assert.ts';
import { type Amount18, ZERO_18 } from '../core/units.ts';
import type { OrderRow, StoredOrders } from './rows.ts';
import type {
  BalanceSlot,
  Filled,
  MarketSlot,
  OrderExposure,
  OrderSlot,
  OrderTies,
  PositionSlot,
  SubAccountSlot,
} from './state.ts';
import type { WaitingTrigger } from './trigger-heaps.ts';

export class LiveOrderSlot implements OrderSlot {
  readonly market: MarketSlot;
  spend: Amount18 = ZERO_18;
  exposure: OrderExposure | null = null;
  waits: WaitingTrigger | null = null;
  planned: Filled | null = null;
  private plain: OrderRow | null = null;
  private stored: StoredOrders | null = null;
  private place = 0;
  private ties: OrderTies | null;

  /** @param ties null: looked up when they are asked for. */
  constructor(market: MarketSlot, ties: OrderTies | null) {
    this.market = market;
    this.ties = ties;
  }

  get account(): SubAccountSlot {
    return (this.ties ?? this.tie()).account;
  }

  get position(): PositionSlot | null {
    return (this.ties ?? this.tie()).position;
  }

  get base(): BalanceSlot {
    return (this.ties ?? this.tie()).base;
  }

  get usd(): BalanceSlot {
    return (this.ties ?? this.tie()).usd;
  }

  get row(): OrderRow {
    return this.plain ?? this.unpack();
  }

  set row(row: OrderRow) {
    this.plain = row;
    this.stored = null;
  }

  get isStored(): boolean {
    return this.stored !== null;
  }

  look(): OrderRow {
    return this.plain ?? must(this.stored, 'an order has its row').look(this.place);
  }

  /** Its row is what the bytes at this place say, until it is asked for. */
  store(stored: StoredOrders, place: number): void {
    this.stored = stored;
    this.place = place;
  }

  private tie(): OrderTies {
    this.ties = this.market.tiesOf(this.row);
    return this.ties;
  }

  private unpack(): OrderRow {
    const row = must(this.stored, 'an order has its row').take(this.place);
    this.plain = row;
    this.stored = null;
    return row;
  }
}
