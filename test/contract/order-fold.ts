/**
 * One user's orders from its streams alone: a fold of the frames of `/orders` and of the trade stream, started from
 * nothing or from a re-read (wire.md 9.8). It shares nothing with the SDK.
 *
 *   re-read (orders, confirmed trades) ─┐
 *   Created, Replaced, Canceled, … ─────┼─▶ view: order id ─▶ status, price, quantity, confirmed quantity
 *   Pending, Confirmed, Rollbacked ─────┘
 *
 * Frames may repeat what the re-read returned: the socket is opened first. Once nothing is pending any more the view
 * equals what REST reads return.
 */
import assert from 'node:assert/strict';

type Row = Readonly<Record<string, unknown>>;

/** Of a crossing post-only only the end is published (AMB-128), so its figures are not in the streams. */
const UNTOLD = '?';

interface Seen {
  /** Human decimals. */
  price: string | null;
  quantity: string | null;
  isWaiting: boolean;
  /** Set once the order has ended. */
  end: string | null;
}

/** Decimals of price and quantity per market. */
export type DecimalsOf = (asset: string) => readonly [price: number, quantity: number];

const STATUS_OF_REASON: Readonly<Record<string, string>> = {
  Filled: 'Filled',
  Expired: 'Expired',
  ImmediateOrCancel: 'Canceled',
  FillOrKill: 'Canceled',
  RolledBack: 'Canceled',
};

/** Shortest exact decimals of a raw integer. */
export function human(raw: number, decimals: number): string {
  const digits = String(raw).padStart(decimals + 1, '0');
  const [whole, part] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const trimmed = part.replace(/0+$/, '');
  return trimmed === '' ? whole : `${whole}.${trimmed}`;
}

/** Sum of human decimals with at most 18 digits behind the point. */
function sum(quantities: readonly string[]): string {
  let total = 0n;
  for (const text of quantities) {
    const [whole = '0', part = ''] = text.split('.');
    total += BigInt(whole) * 10n ** 18n + BigInt(part.padEnd(18, '0'));
  }
  const digits = total.toString().padStart(19, '0');
  const part = digits.slice(-18).replace(/0+$/, '');
  return part === '' ? digits.slice(0, -18) : `${digits.slice(0, -18)}.${part}`;
}

const keyOf = (asset: unknown, id: unknown): string => `${String(asset)}/${String(id)}`;

export class OrderFold {
  readonly #decimalsOf: DecimalsOf;
  readonly #orders = new Map<string, Seen>();
  /** Trade and order: a self-trade is two fills of one trade. */
  readonly #fills = new Map<string, { readonly order: string; readonly quantity: string; status: string }>();

  constructor(decimalsOf: DecimalsOf) {
    this.#decimalsOf = decimalsOf;
  }

  /** Rows of the orders reads. */
  startOrders(rows: readonly Row[]): void {
    for (const row of rows) {
      const status = String(row['status']);
      const hasEnded = !['Open', 'PartiallyFilled', 'Untriggered'].includes(status);
      this.#orders.set(keyOf(row['base_asset'], row['order_id']), {
        price: row['limit_price'] as string | null,
        quantity: row['quantity'] as string | null,
        isWaiting: status === 'Untriggered',
        end: hasEnded ? status : null,
      });
    }
  }

  /** Rows of the trades reads: confirmed ones. */
  startTrades(rows: readonly Row[]): void {
    for (const row of rows) this.trade(row);
  }

  /** A frame of `/orders`, parsed. */
  event(frame: Row): void {
    const [[tag = '', told] = []] = Object.entries(frame) as [string, Row][];
    if (told === undefined || tag.endsWith('Failed')) return;
    if (tag === 'Created') {
      this.#created(told['user_order'] as Row);
      return;
    }
    const key = keyOf(told['asset_id'], told['order_id']);
    const order = this.#orders.get(key) ?? { price: UNTOLD, quantity: UNTOLD, isWaiting: false, end: null };
    this.#orders.set(key, order);
    if (tag === 'Replaced') this.#replaced(order, told);
    else if (tag === 'Triggered') order.isWaiting = false;
    else if (tag === 'Canceled') order.end = 'Canceled';
    else if (tag === 'Removed')
      order.end = STATUS_OF_REASON[String(told['reason'])] ?? assert.fail(String(told['reason']));
    else assert.fail(`no event is called ${tag}`);
  }

  /** A frame of the trade stream, parsed. */
  trade(frame: Row): void {
    const order = keyOf(frame['asset_id'], frame['order_id']);
    const key = `${order} ${String(frame['trade_id'])} ${String(frame['is_buyer'])}`;
    const status = String(frame['status']);
    const known = this.#fills.get(key);
    // A pending fill that the re-read shows as confirmed was published before.
    if (known === undefined) this.#fills.set(key, { order, quantity: String(frame['quantity']), status });
    else if (status !== 'Pending') known.status = status;
  }

  /** Fills that are neither confirmed nor rolled back. */
  get pending(): number {
    return [...this.#fills.values()].filter(({ status }) => status === 'Pending').length;
  }

  /** One line an order, by id: `Open 3000 0.1 0`. */
  view(): ReadonlyMap<string, string> {
    const confirmed = new Map<string, string[]>();
    for (const { order, quantity, status } of this.#fills.values()) {
      if (status === 'Confirmed') confirmed.set(order, [...(confirmed.get(order) ?? []), quantity]);
    }
    const lines = [...this.#orders].map(([key, { price, quantity, isWaiting, end }]): [string, string] => {
      const filled = sum(confirmed.get(key) ?? []);
      const live = isWaiting ? 'Untriggered' : filled === '0' ? 'Open' : 'PartiallyFilled';
      return [key, `${end ?? live} ${price} ${quantity} ${filled}`];
    });
    return new Map(lines.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #created(order: Row): void {
    const asset = String(order['base_asset']);
    const key = keyOf(asset, order['order_id']);
    if (this.#orders.has(key)) return;
    const [priceDecimals, quantityDecimals] = this.#decimalsOf(asset);
    const { Limit: limit, Market: market } = order['details'] as { Limit?: Row; Market?: Row };
    const { BaseAsset: base } = (market?.['quantity'] ?? {}) as { BaseAsset?: Row };
    const quantity = limit?.['quantity'] ?? base?.['quantity'];
    this.#orders.set(key, {
      price: limit === undefined ? null : human(Number(limit['limit_price']), priceDecimals),
      quantity: quantity === undefined ? null : human(Number(quantity), quantityDecimals),
      isWaiting: order['trigger'] !== null,
      end: null,
    });
  }

  #replaced(order: Seen, told: Row): void {
    const [priceDecimals, quantityDecimals] = this.#decimalsOf(String(told['asset_id']));
    order.price = human(Number(told['new_price']), priceDecimals);
    order.quantity = human(Number(told['new_quantity']), quantityDecimals);
  }
}

/** The same lines from what REST reads return. @param like figures that were never published are not compared. */
export function viewOfRecords(rows: readonly Row[], like: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const lines = rows.map((row): [string, string] => {
    const { status, limit_price: price, quantity, confirmed_filled_quantity: filled } = row;
    const key = keyOf(row['base_asset'], row['order_id']);
    const isTold = like.get(key)?.includes(UNTOLD) !== true;
    return [key, isTold ? `${status} ${price} ${quantity} ${filled}` : `${status} ${UNTOLD} ${UNTOLD} ${filled}`];
  });
  return new Map(lines.sort(([a], [b]) => (a < b ? -1 : 1)));
}
