/**
 * Runs: the lists of a user's finished orders and trades, as pieces that one checkpoint each has added.
 *
 *   list of (user, market)   │ run │ run │ run │ …       each under the place of its newest entry when it was written
 *                               └─ entry, entry, … at most RUN_ENTRIES_MAX, newest first
 *
 * Runs may overlap: an order that rested for long comes late with an early timestamp. A reader opens runs from the newest
 * place down and merges those that are open; a run with a place older than the current entry stays closed, so a page
 * of n entries opens n runs at most, and one per market.
 *
 * Invariants
 *   (1) No entry of a run is newer than the place in its key; entries go (finished-orders.ts), the key stays.
 *   (2) An entry is in one run.
 *
 * Not here: what an entry leads to (history.ts), how entries go.
 */
import { must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { ByteReader } from '../schema/byte-reader.ts';
import type { ByteWriter } from '../schema/byte-writer.ts';
import { type Field, safe, struct, text, u8, u64 } from '../schema/row-fields.ts';
import type { Entry, StorageReader } from './environment.ts';
import { checkFrame, decodeFrame, encodeFrame } from './frames.ts';
import { endOf, type KeyWriter, keyWriter, type ListName, TABLE, type TradeSideIndex } from './key-layout.ts';
import type { BlockPlace } from './order-blocks.ts';
import type { CountTable } from './user-counts.ts';

/** About 10 KB of entries. */
export const RUN_ENTRIES_MAX = 256;
const RUNS_PER_STEP = 8;
/** Table, user, market. */
export const LIST_NAME_BYTES = 37;

export type RunTable = typeof TABLE.finishedRun | typeof TABLE.tradeRun;

/** Sorts finished orders of a user in a market. */
export interface FinishedPlace {
  readonly timestampNs: TimestampNs;
  readonly orderId: OrderId;
}
export interface FinishedEntry extends FinishedPlace {
  readonly orderSequence: Sequence;
  /** Where its record lies (order-blocks.ts). */
  readonly block: BlockPlace;
  /** So that pages of some sub-accounts need no row of the others. */
  readonly subAccount: number;
}

/** Sorts sides of trades of a user in a market, and names them. */
export interface SidePlace {
  readonly matchedNs: TimestampNs;
  readonly tradeId: Sequence;
  readonly side: TradeSideIndex;
}
export interface TradeEntry extends SidePlace {
  readonly subAccount: number;
}

/** How a kind of list is sorted. */
interface RunOrder<Place> {
  readonly table: RunTable;
  /** To the end of a key. */
  writePlace(to: ByteWriter, place: Place): void;
  readPlace(from: ByteReader): Place;
  /** Below 0 when `a` is newer. */
  compare(a: Place, b: Place): number;
}

/** One kind of list. */
export interface RunKind<Place, Item extends Place> extends RunOrder<Place>, Field<Item> {
  /** What the lists of several markets are merged by: `compare` without what only separates entries of one market. */
  compareRanks(a: Place, b: Place): number;
  readonly counts: CountTable;
  /** The items of a run. */
  decode(run: Entry): readonly Item[];
}

const TRADE_PLACE: Field<SidePlace> = struct<SidePlace>({ matchedNs: u64, tradeId: safe, side: u8 });

/** By timestamp, then order id (PAG-02, AMB-18). */
export const FINISHED_RUNS: RunKind<FinishedPlace, FinishedEntry> = {
  table: TABLE.finishedRun,
  decode: (run) => decodeRun(run, FINISHED_RUNS.read),
  counts: TABLE.finishedCount,
  writePlace: (to, { timestampNs, orderId }) => {
    to.u64(timestampNs);
    to.ascii(orderId);
  },
  readPlace: (from) => ({ timestampNs: from.u64() as TimestampNs, orderId: from.ascii() as OrderId }),
  ...struct<FinishedEntry>({ timestampNs: u64, orderId: text, orderSequence: safe, block: safe, subAccount: u8 }),
  compare: compareFinished,
  compareRanks: compareFinished,
};

function compareFinished(a: FinishedPlace, b: FinishedPlace): number {
  // mutant: history-order
  if (a.timestampNs !== b.timestampNs) return a.timestampNs > b.timestampNs ? -1 : 1;
  if (a.orderId === b.orderId) return 0;
  return a.orderId > b.orderId ? -1 : 1;
}

function compareTrades(a: SidePlace, b: SidePlace): number {
  if (a.matchedNs !== b.matchedNs) return a.matchedNs > b.matchedNs ? -1 : 1;
  return b.tradeId - a.tradeId;
}

/** By match time, then trade id (PAG-03); the taker's side first. */
export const TRADE_RUNS: RunKind<SidePlace, TradeEntry> = {
  table: TABLE.tradeRun,
  decode: (run) => decodeTradeRun(run).items,
  counts: TABLE.tradeCount,
  writePlace: TRADE_PLACE.write,
  readPlace: TRADE_PLACE.read,
  ...struct<TradeEntry>({ matchedNs: u64, tradeId: safe, side: u8, subAccount: u8 }),
  compare: (a, b) => compareTrades(a, b) || b.side - a.side,
  compareRanks: compareTrades,
};

/** Sorts the items and cuts them into runs. @returns their keys and what belongs under each. */
export function* cutIntoRuns<Place, Item extends Place>(
  keys: KeyWriter,
  kind: RunOrder<Place>,
  name: ListName,
  items: readonly Item[],
): Generator<{ readonly key: Uint8Array; readonly items: readonly Item[] }, void, undefined> {
  const sorted = [...items].sort(kind.compare);
  for (let start = 0; start < sorted.length; start += RUN_ENTRIES_MAX) {
    const run = sorted.slice(start, start + RUN_ENTRIES_MAX);
    const [newest] = run;
    if (newest === undefined) return;
    yield { key: keys.run(kind.table, name, (to) => kind.writePlace(to, newest)), items: run };
  }
}

/** The items in their order, in pieces of so many bytes; one that is longer is a piece of its own. */
export function* cutByBytes<Item>(
  items: Iterable<Item>,
  bytesMax: number,
  bytesOf: (item: Item) => number,
): Generator<readonly Item[], void, undefined> {
  let piece: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const more = bytesOf(item);
    if (bytes + more > bytesMax && piece.length > 0) {
      yield piece;
      piece = [];
      bytes = 0;
    }
    piece.push(item);
    bytes += more;
  }
  if (piece.length > 0) yield piece;
}

/** The value of a run; of a list of whatever `write` writes. */
export function encodeRun<Item>(
  to: ByteWriter,
  key: Uint8Array,
  items: readonly Item[],
  write: (to: ByteWriter, item: Item) => void,
): Uint8Array {
  return encodeFrame(to, key, () => {
    to.u32(items.length);
    for (const item of items) write(to, item);
  });
}

/** The rank of a run that does not follow the ones before it in its list, and of every run after it. */
export const UNRANKED: number = Number.MAX_SAFE_INTEGER;

/** A run of sides of trades. */
export interface TradeRun {
  /** How many sides of its list are older than it, or UNRANKED. */
  readonly older: number;
  readonly items: readonly TradeEntry[];
}

/** The value of a run of sides of trades, which never changes. */
export function encodeTradeRun(to: ByteWriter, key: Uint8Array, { older, items }: TradeRun): Uint8Array {
  return encodeFrame(to, key, () => {
    to.safe(older);
    to.u32(items.length);
    for (const item of items) TRADE_RUNS.write(to, item);
  });
}

export function decodeTradeRun({ key, value }: Entry): TradeRun {
  return decodeFrame(key, value, (from) => {
    const older = from.safe();
    return { older, items: Array.from({ length: from.u32() }, () => TRADE_RUNS.read(from)) };
  });
}

/** The last run of a list so far. */
export interface LastTradeRun {
  readonly place: SidePlace;
  readonly older: number;
  readonly count: number;
}

/** Null for a list without runs. */
export function lastTradeRun(reader: StorageReader, { user, marketIndex }: ListName): LastTradeRun | null {
  const from = keyWriter().ofUser(TABLE.tradeRun, user, marketIndex);
  const [entry] = reader.range({ from, to: endOf(from), newestFirst: true, limit: 1 });
  if (entry === undefined) return null;
  const body = new ByteReader(checkFrame(entry.key, entry.value).subarray(1));
  const place = TRADE_PLACE.read(new ByteReader(entry.key.subarray(LIST_NAME_BYTES)));
  return { place, older: body.safe(), count: body.u32() };
}

/** How many sides are older than a run that begins at `oldest`, which comes after `last` in its list. */
export function olderThan(last: LastTradeRun | null, oldest: SidePlace): number {
  if (last === null) return 0;
  const follows = TRADE_RUNS.compare(oldest, last.place) < 0;
  return follows && last.older !== UNRANKED ? last.older + last.count : UNRANKED;
}

export function decodeRun<Item>({ key, value }: Entry, read: (from: ByteReader) => Item): Item[] {
  return decodeFrame(key, value, (from) => Array.from({ length: from.u32() }, () => read(from)));
}

/** The user and the market of the run of that key. */
export function listNameOf(runKey: Uint8Array): ListName {
  const from = new ByteReader(runKey);
  from.u8();
  return { user: from.hex(32) as UserId, marketIndex: from.u32() };
}

/** The runs of one list, still encoded, by their places. */
function runsOf(
  reader: StorageReader,
  table: RunTable,
  { user, marketIndex }: ListName,
  newestFirst: boolean,
): Generator<Entry, void, undefined> {
  const from = keyWriter().ofUser(table, user, marketIndex);
  return reader.entries({ from, to: endOf(from), newestFirst, perStep: RUNS_PER_STEP });
}

export interface Listed<Item> {
  readonly marketIndex: number;
  readonly item: Item;
}

/** The runs of one market: those still closed, and the place of the first of them. */
interface ClosedRuns<Place> {
  readonly marketIndex: number;
  readonly runs: Generator<Entry, void, undefined>;
  readonly first: Entry;
  readonly place: Place;
}

interface OpenRun<Item> {
  readonly marketIndex: number;
  readonly items: readonly Item[];
  next: number;
}

/** What a user's lists in these markets hold, newest first; of equals the one of the higher market index first. */
export function* newestFirst<Place, Item extends Place>(
  reader: StorageReader,
  kind: RunKind<Place, Item>,
  user: UserId,
  markets: readonly number[],
): Generator<Listed<Item>, void, undefined> {
  const closed = markets.flatMap((marketIndex) => {
    return closedRuns(kind, marketIndex, runsOf(reader, kind.table, { user, marketIndex }, true));
  });
  const open: OpenRun<Item>[] = [];
  const compareOpen = (a: OpenRun<Item>, b: OpenRun<Item>) =>
    kind.compareRanks(itemOf(a), itemOf(b)) || b.marketIndex - a.marketIndex || kind.compare(itemOf(a), itemOf(b));
  for (;;) {
    const run = leastOf(closed, (a, b) => kind.compareRanks(a.place, b.place));
    const list = leastOf(open, compareOpen);
    if (run !== undefined && (list === undefined || kind.compareRanks(run.place, itemOf(list)) <= 0)) {
      open.push({ marketIndex: run.marketIndex, items: kind.decode(run.first), next: 0 });
      closed.splice(closed.indexOf(run), 1, ...closedRuns(kind, run.marketIndex, run.runs));
    } else if (list !== undefined) {
      yield { marketIndex: list.marketIndex, item: itemOf(list) };
      list.next += 1;
      if (list.next === list.items.length) open.splice(open.indexOf(list), 1);
    } else return;
  }
}

/** None when the runs are at their end. */
function closedRuns<Place, Item extends Place>(
  kind: RunKind<Place, Item>,
  marketIndex: number,
  runs: Generator<Entry, void, undefined>,
): readonly ClosedRuns<Place>[] {
  const first = runs.next().value;
  if (first === undefined) return [];
  const place = kind.readPlace(new ByteReader(first.key.subarray(LIST_NAME_BYTES)));
  return [{ marketIndex, runs, first, place }];
}

function itemOf<Item>({ items, next }: OpenRun<Item>): Item {
  return must(items[next], 'storage: a run holds something');
}

export function leastOf<T>(values: readonly T[], compare: (a: T, b: T) => number): T | undefined {
  let least = values[0];
  for (const value of values) if (least !== undefined && compare(value, least) < 0) least = value;
  return least;
}
