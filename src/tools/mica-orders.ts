/**
 * Order records in the terms of MiCA (EXP-04): the events of orders of the row log by the fields of Commission Delegated
 * Regulation (EU) 2025/416, Annex, Table 2. What each field is made of, or that the venue does not have it, is MICA_FIELDS, of
 * which docs/reference/exports.md is made.
 *
 * One record for each event of an order, for each confirmed execution of it, and for each entry that a revision of a quote set
 * changed, in the order of the journal. A field that a row does not have is as in the record of the order before it. Times have
 * microseconds, rounded down, and beside them the nanoseconds of the row.
 */
import { must } from '../core/assert.ts';
import { formatRaw } from '../core/decimal.ts';
import { FILL_STATUS } from '../core/order-terms.ts';
import type { ExportRow, MarketScales } from './export-columns.ts';
import { isoTime } from './iso-time.ts';
import type { Cells, Column } from './table-writers.ts';

/** The kinds of rows of which records are made. */
export const MICA_KINDS: readonly string[] = ['order', 'quote_set', 'fill'];

/** An event of one order, made of a row. */
interface OrderEvent {
  readonly row: ExportRow;
  readonly event: string;
  readonly orderId: string;
  readonly orderSequence: number;
  readonly side: unknown;
  /** Decimals. */
  readonly limitPrice: string | null;
  readonly stopPrice: string | null;
  readonly quantity: string | null;
  readonly remaining: string | null;
  readonly tradePrice: string | null;
  readonly tradedQuantity: string | null;
}

interface MicaField {
  /** As the Annex has it, in short. */
  readonly field: string;
  readonly section: string;
  /** What it is made of, or why the venue does not have it. */
  readonly source: string;
  /** Its members of a record; none: the venue does not have it. */
  readonly members: readonly MicaMember[];
}

interface MicaMember {
  readonly name: string;
  readonly of: (event: OrderEvent) => string | boolean | null;
}

const member = (name: string, of: MicaMember['of']): MicaMember => ({ name, of });
const words = (names: Readonly<Record<string, string>>, value: unknown): string | null => names[String(value)] ?? null;

const VALIDITY = { GTC: 'GTCA', GTD: 'GTDT', IOC: 'IOCV', FOK: 'FOKV' };
const SIDES = { Buy: 'BUYI', Sell: 'SELL' };
const ROLES = { Maker: 'PASV', Taker: 'AGRE' };
const EVENTS: Readonly<Record<string, string>> = {
  accepted: 'NEWO',
  refused: 'REMO',
  replaced: 'REME',
  cut: 'REMA',
  triggered: 'TRIG',
  activated: 'TRIG',
  cancel_pending: 'CHME',
  restored: 'CHMA',
};
/** What a revision of a quote set does to an entry; one that it kept is no event. */
const ENTRY_EVENTS: Readonly<Record<string, string>> = {
  created: 'NEWO',
  resized: 'REME',
  left: 'CAME',
  out: 'CAME',
  refused: 'REMO',
};
const ENDS: Readonly<Record<string, string>> = { Filled: 'FILL', Expired: 'EXPI', UserRequested: 'CAME' };

const none = (section: string, field: string, source: string): MicaField => ({ section, field, source, members: [] });

const PARTIES = 'A. Parties';
const CAPACITY = 'B. Capacity and liquidity provision';
const TIME = 'C. Date and time';
const VALIDITY_SECTION = 'D. Validity and restrictions';
const PRIORITY = 'E. Priority and sequence';
const IDENTITY = 'F. Identification';
const EVENT = 'G. Events';
const TYPE = 'H. Type';
const PRICES = 'I. Prices';
const INSTRUCTIONS = 'J. Instructions';
const NO_CODE = 'Not held: the venue has no LEI and no code of a person. Join it by `client`.';

/** Every field, in the order of the Annex. */
export const MICA_FIELDS: readonly MicaField[] = [
  none(PARTIES, 'Submitting entity', NO_CODE),
  none(PARTIES, 'Direct electronic access', 'Not held: users sign for themselves.'),
  {
    section: PARTIES,
    field: 'Client',
    source:
      'The public key of the user, `user` of the row: neither LEI nor national id, which the venue does not have.',
    members: [member('client', ({ row }) => String(row['user']))],
  },
  none(PARTIES, 'Investment decision, execution decision', NO_CODE),
  none(PARTIES, 'Non-executing entity', 'Not held: orders are not routed through others.'),
  none(CAPACITY, 'Trading capacity', 'Not held.'),
  none(
    CAPACITY,
    'Liquidity provision',
    'Not in rows of orders: whether a user is a market maker is a setting of the venue.',
  ),
  {
    section: TIME,
    field: 'Date and time',
    source: 'When its market decided the event, `event_ns`, else the time of the record, `time_ns`.',
    members: [
      member('date_time', ({ row }) => micro(timeOf(row))),
      member('date_time_ns', ({ row }) => `${timeOf(row)}`),
    ],
  },
  {
    section: VALIDITY_SECTION,
    field: 'Validity period',
    source: '`time_in_force`: GTCA, GTDT, IOCV or FOKV.',
    members: [member('validity_period', ({ row }) => words(VALIDITY, row['time_in_force']))],
  },
  none(VALIDITY_SECTION, 'Order restriction', 'None: there are no sessions and no auctions.'),
  {
    section: VALIDITY_SECTION,
    field: 'Validity period and time',
    source: '`good_until_ns`. Every order ends 30 days after its creation at the latest.',
    members: [
      member('validity_date_time', ({ row }) =>
        row['good_until_ns'] === undefined ? null : micro(ns(row, 'good_until_ns')),
      ),
      member('validity_date_time_ns', ({ row }) =>
        row['good_until_ns'] === undefined ? null : `${ns(row, 'good_until_ns')}`,
      ),
    ],
  },
  none(
    PRIORITY,
    'Priority time stamp',
    'Not in rows: priority is price, then the sequence of the market; an amend that takes away keeps it.',
  ),
  none(PRIORITY, 'Priority size', 'None: size gives no priority.'),
  {
    section: PRIORITY,
    field: 'Sequence number',
    source: '`sequence` and `index` of the row: the order of all events of the venue.',
    members: [member('sequence_number', ({ row }) => `${row['sequence']}.${row['index']}`)],
  },
  none(IDENTITY, 'Trading platform, MIC', 'Not held.'),
  {
    section: IDENTITY,
    field: 'Order book code',
    source: '`asset_id`: a market is the book of its base asset against USD.',
    members: [member('order_book', ({ row }) => String(row['asset_id']))],
  },
  none(IDENTITY, 'Crypto-asset, DTI', 'Not held. Join it by `order_book`.'),
  {
    section: IDENTITY,
    field: 'Order identification code (field 19)',
    source:
      '`asset_id` and `order_sequence`, never used again; and the id that the user gave, `order_id`, which may be.',
    members: [
      member('order_code', ({ row, orderSequence }) => `${row['asset_id']}/${orderSequence}`),
      member('client_order_id', ({ orderId }) => orderId),
    ],
  },
  {
    section: EVENT,
    field: 'Order event',
    source:
      '`event` and `reason`: NEWO, REMO (refused), REME (replaced, resized), REMA (cut by the venue), TRIG, CHME (a cancel waits for pending fills), CHMA (restored after a fill was rolled back), CAME (cancelled by its user), CAMO (by the venue), EXPI, PARF for each confirmed execution and then FILL at the end of a filled order. A match that clearing rolled back is no execution.',
    members: [
      member('order_event', ({ event }) => event),
      member('reason', ({ row }) => (row['reason'] === undefined ? null : String(row['reason']))),
    ],
  },
  {
    section: TYPE,
    field: 'Order type',
    source: '`order_type`: Limit, MarketBase (sized in the base asset) or MarketQuote (in USD).',
    members: [member('order_type', ({ row }) => (row['order_type'] === undefined ? null : String(row['order_type'])))],
  },
  {
    section: TYPE,
    field: 'Order type classification',
    source: 'STOP where the row has `trigger`, else LMTO of a limit order; none of a market order.',
    members: [
      member('order_class', ({ row }) =>
        row['trigger'] !== undefined ? 'STOP' : row['order_type'] === 'Limit' ? 'LMTO' : null,
      ),
    ],
  },
  {
    section: PRICES,
    field: 'Limit price',
    source: '`price`.',
    members: [member('limit_price', ({ limitPrice }) => limitPrice)],
  },
  none(PRICES, 'Additional limit price, pegged limit price', 'None: there are no such orders.'),
  {
    section: PRICES,
    field: 'Stop price',
    source: '`trigger_price`.',
    members: [member('stop_price', ({ stopPrice }) => stopPrice)],
  },
  {
    section: PRICES,
    field: 'Transaction price',
    source: '`price` of a confirmed fill.',
    members: [member('transaction_price', ({ tradePrice }) => tradePrice)],
  },
  none(PRICES, 'Price currency, currency of leg 2', 'Always USD, asset 0 of the venue.'),
  none(PRICES, 'Price notation', 'Always an amount of USD for one unit.'),
  {
    section: INSTRUCTIONS,
    field: 'Buy-sell indicator',
    source: '`side`.',
    members: [member('buy_sell', ({ side }) => words(SIDES, side))],
  },
  none(INSTRUCTIONS, 'Order status (field 31)', 'Follows from the event: no order is implied, indicative or routed.'),
  none(
    INSTRUCTIONS,
    'Quantity notation, quantity currency',
    'Always units of the base asset; of MarketQuote the amount is USD and not in this file.',
  ),
  {
    section: INSTRUCTIONS,
    field: 'Initial quantity',
    source: '`quantity`, what is filled included.',
    members: [member('initial_quantity', ({ quantity }) => quantity)],
  },
  {
    section: INSTRUCTIONS,
    field: 'Remaining quantity, displayed quantity',
    source:
      '`quantity` less `filled_quantity`, where the row has both; of an entry of a quote set what rests. All of it is displayed.',
    members: [member('remaining_quantity', ({ remaining }) => remaining)],
  },
  {
    section: INSTRUCTIONS,
    field: 'Traded quantity',
    source: '`quantity` of a confirmed fill.',
    members: [member('traded_quantity', ({ tradedQuantity }) => tradedQuantity)],
  },
  none(
    INSTRUCTIONS,
    'Minimum acceptable and minimum executable quantity',
    'None: there are no such orders; FOK is a validity.',
  ),
  {
    section: INSTRUCTIONS,
    field: 'Passive only',
    source: '`post_only`.',
    members: [member('passive_only', ({ row }) => (row['kind'] === 'fill' ? null : row['post_only'] === true))],
  },
  {
    section: INSTRUCTIONS,
    field: 'Passive or aggressive',
    source: '`role` of a confirmed fill: PASV or AGRE.',
    members: [member('passive_aggressive', ({ row }) => words(ROLES, row['role']))],
  },
  none(INSTRUCTIONS, 'Self-execution prevention', 'A setting of the market: an export of config has it.'),
  {
    section: INSTRUCTIONS,
    field: 'Strategy linked order (field 44)',
    source: '`parent_id`: the order whose fills enable it.',
    members: [
      member('linked_order_id', ({ row }) => (row['parent_id'] === undefined ? null : String(row['parent_id']))),
    ],
  },
  none(INSTRUCTIONS, 'Routing strategy', 'None: orders are not routed.'),
  {
    section: INSTRUCTIONS,
    field: 'Transaction identification code (field 46)',
    source: '`asset_id` and `trade_id` of a confirmed fill.',
    members: [
      member('transaction_code', ({ row }) =>
        row['kind'] === 'fill' ? `${row['asset_id']}/${row['trade_id']}` : null,
      ),
    ],
  },
  none(
    'K. Trading phases',
    'Trading phase, indicative auction price and volume',
    'None: trading is continuous, there are no auctions.',
  ),
];

const MEMBERS: readonly MicaMember[] = MICA_FIELDS.flatMap(({ members }) => members);
export const MICA_COLUMNS: readonly Column[] = MEMBERS.map(({ name }) => {
  return { name, type: name === 'passive_only' ? 'flag' : 'text', meaning: 'docs/reference/exports.md has the table.' };
});

/** The records of a row of MICA_KINDS; none for one that is no event of an order. */
export function micaRecords(row: ExportRow, scales: MarketScales): Cells[] {
  return eventsOf(row, scales).map((event) => MEMBERS.map(({ of }) => of(event)));
}

function eventsOf(row: ExportRow, scales: MarketScales): OrderEvent[] {
  const market = must(scales.get(String(row['asset_id'])), 'a market of a row is in the data directory');
  const priceOf = (raw: unknown): string | null =>
    raw === undefined || raw === 0 ? null : formatRaw(Number(raw), market.priceDecimals);
  const quantityOf = (raw: unknown): string | null =>
    raw === undefined ? null : formatRaw(Number(raw), market.quantityDecimals);
  const nothing = {
    limitPrice: null,
    stopPrice: null,
    quantity: null,
    remaining: null,
    tradePrice: null,
    tradedQuantity: null,
  };
  const named = {
    row,
    orderId: String(row['order_id']),
    orderSequence: Number(row['order_sequence']),
    side: row['side'],
  };
  if (row['kind'] === 'order') {
    const has = row['quantity'] !== undefined && row['filled_quantity'] !== undefined;
    const terms = {
      limitPrice: priceOf(row['price']),
      stopPrice: priceOf(row['trigger_price']),
      quantity: quantityOf(row['quantity']),
    };
    const remaining = has ? quantityOf(Number(row['quantity']) - Number(row['filled_quantity'])) : null;
    return [{ ...named, ...nothing, ...terms, remaining, event: orderEvent(row) }];
  }
  if (row['kind'] === 'fill') {
    if (row['status'] !== FILL_STATUS.confirmed) return [];
    const trade = { tradePrice: priceOf(row['price']), tradedQuantity: quantityOf(row['quantity']) };
    return [{ ...named, ...nothing, ...trade, event: 'PARF' }];
  }
  const entries = (row['entries'] ?? []) as readonly (readonly [string, number, string, number, number, number])[];
  return entries.flatMap(([change, number, side, price, rests, order]) => {
    const event = ENTRY_EVENTS[change];
    if (event === undefined) return [];
    const terms = { limitPrice: priceOf(price), remaining: quantityOf(rests) };
    return [{ ...nothing, ...terms, row, event, side, orderId: `${row['set_id']}:${number}`, orderSequence: order }];
  });
}

function orderEvent(row: ExportRow): string {
  const event = String(row['event']);
  if (event !== 'ended') return must(EVENTS[event], `an event of an order has a code: ${event}`);
  return ENDS[String(row['reason'])] ?? 'CAMO';
}

function ns(row: ExportRow, name: string): bigint {
  return BigInt(String(row[name]));
}

function timeOf(row: ExportRow): bigint {
  return ns(row, row['event_ns'] === undefined ? 'time_ns' : 'event_ns');
}

/** Rounded down. */
function micro(timeNs: bigint): string {
  return `${isoTime(timeNs).slice(0, -4)}Z`;
}
