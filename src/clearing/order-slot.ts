/**
 * A live order. After a start its row lies in its table's bytes until somebody wants it: then it is read, once.
 *
 *   stored ──row──▶ plain ──row = …──▶ plain
 */
import { must } from '../core/assert.ts';
import { type Amount18, type RawPrice, ZERO_18 } from '../core/units.ts';
import type { OrderRow, StoredOrders } from './rows.ts';
import type {
  BalanceSlot,
  Filled,
  MarketSlot,
  OrderSlot,
  PositionSlot,
  PressingOrders,
  SubAccountSlot,
} from './state.ts';
import type { WaitingTrigger } from './trigger-heaps.ts';

/** What an order is tied to for life. */
export type OrderTies = Pick<OrderSlot, 'market' | 'account' | 'position' | 'base' | 'usd'>;

export class LiveOrderSlot implements OrderSlot {
  readonly market: MarketSlot;
  readonly account: SubAccountSlot;
  readonly position: PositionSlot | null;
  readonly base: BalanceSlot;
  readonly usd: BalanceSlot;
  spend: Amount18 = ZERO_18;
  pressing: PressingOrders | null = null;
  openLots = -1;
  openPrice: RawPrice | 0 = 0;
  waits: WaitingTrigger | null = null;
  planned: Filled | null = null;
  private plain: OrderRow | null = null;
  private stored: StoredOrders | null = null;
  private place = 0;

  constructor({ market, account, position, base, usd }: OrderTies) {
    this.market = market;
    this.account = account;
    this.position = position;
    this.base = base;
    this.usd = usd;
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

  private unpack(): OrderRow {
    const row = must(this.stored, 'an order has its row').take(this.place);
    this.plain = row;
    this.stored = null;
    return row;
  }
}
