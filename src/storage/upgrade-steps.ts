/**
 * What changed from one version of the data to the next, as conversions of entries: a new map of version n + 1 is made of
 * one of version n (copy-map.ts). A step that is released is never changed; it reads layouts that exist nowhere else any
 * more, so they are written down here.
 *
 *   5 ─▶ 6   entries of runs of finished orders and of trades have their sub-account
 *   6 ─▶ 7   where the journal begins stands in the map, and its size in the checkpoint; an order's row has what is in
 *            force of a child that is released in part, and the part of it that was not matched
 *   7 ─▶ 8   trades stand in blocks (trade-blocks.ts): those of before in blocks of one; a tally carries the facts that it
 *            has not hashed yet: before, it hashed each at once
 *   8 ─▶ 9   finished orders stand in blocks (order-blocks.ts): those of before in blocks of one; whatever leads to one
 *            has its place
 *   9 ─▶ 10  a run of trades has the number of older sides of its list; a market has a minimum notional, the default; other
 *            decisions follow from the same inputs, so the journal of before ends here
 *   10 ─▶ 11 an order is its record of the schema, in its table and in its block; signed texts have a table of their own
 *   11 ─▶ 12 an oracle price has whether it came since the start, totals have the credits of the backstop; units of tokens in their vaults are
 *             summed up from the deposits; the other new tables are empty
 *   12 ─▶ 13 a withdrawal has the part of it that is locked in isolated lots, which is nothing; the new tables are empty
 *   13 ─▶ 14 a rebalancing pool has what the potential rose by unpaid, nothing; what deposits brought to a chain less what
 *            withdrawals took begins with what its vault has, as nothing older is kept; a market has the part of its last match
 *            counts for a mark, nothing. The table of used texts is
 *            new and empty: of requests from before, clearing has the rows and not the texts (docs/funds.md)
 *            No units are reserved for withdrawals that wait, until the first pass over their queue
 *   14 ─▶ 15 the journal has inputs and configs a row that only nodes of a cluster write: nothing of before has one; a user
 *            has whether a dead-man timer runs, no
 *   15 ─▶ 16 an order has the slots of its quote set and of its protection group, none; the tables of quote sets are new and empty
 *            The tables of cursors of EVM chains are new and empty too: the first start that leads reads the files of before
 *            (chain/cursor-rows.ts). So is that of signatures of the last hour: of before, rows are counted (chain/approved-before.ts)
 *
 * Only tables are converted. Records of the journal are read by the rules of their time, so the journal of the new map
 * begins with the one that the tables reflect (journal.ts).
 */

import { droppedTokens } from '../clearing/registry/registry-assets.ts';
import { COUNTED_MATCH, TRADE } from '../clearing/row-layouts.ts';
import { type NetDepositRow, NO_MATCH, type Tables, type VaultTokenRow } from '../clearing/rows.ts';
import { mulDivFloor, powerOfTen } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import { MINIMUM_NOTIONAL, ORDER_LIFE_NS } from '../core/limits.ts';
import { TIF, TRIGGER_STATE } from '../core/order-terms.ts';
import { type Amount18, ONE_18, type Sequence, type TimestampNs } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { ByteReader } from '../schema/byte-reader.ts';
import { ByteWriter } from '../schema/byte-writer.ts';
import { OrderRecord, OrderRecord15, type OrderRecord15Fields } from '../schema/generated/messages.ts';
import { bytes, type Field, hex32, i128, safe, struct, text, u8, u32, u64 } from '../schema/row-fields.ts';
import type { Convert } from './copy-map.ts';
import type { Entry, StorageReader } from './environment.ts';
import { checkFrame, decodeFrame, encodeFrame } from './frames.ts';
import { endOf, KeyWriter, keyWriter, TABLE, TRADE_SIDE } from './key-layout.ts';
import { decodeRow, encodeRow } from './row-tables.ts';
import {
  decodeRun,
  encodeRun,
  encodeTradeRun,
  FINISHED_RUNS,
  type FinishedPlace,
  type LastTradeRun,
  LIST_NAME_BYTES,
  listNameOf,
  olderThan,
  type SidePlace,
  TRADE_RUNS,
} from './runs.ts';
import { signedTextBlocks } from './signed-texts.ts';

const SAFE_BYTES = 8;
/** Table and market. */
const MARKET_PREFIX_BYTES = 5;
const NOTHING = new Uint8Array(SAFE_BYTES);

export interface UpgradeStep {
  readonly from: number;
  /** @param source the whole map of version `from`, for entries that others are converted with. */
  convert(source: StorageReader): Convert;
  /** Entries of a table that is new in the next version, in the order of their keys. */
  added?(source: StorageReader): Iterable<Entry>;
}

export const UPGRADE_STEPS: readonly UpgradeStep[] = [
  { from: 5, convert: (source) => (entry, to) => withSubAccounts(source, entry, to) },
  { from: 6, convert: () => withActivated },
  { from: 7, convert: () => withBlocksAndPieces },
  { from: 8, convert: () => withOrderBlocks },
  { from: 9, convert: () => withOlderAndNotional() },
  { from: 10, convert: () => withRecords, added: signedTextsOf10 },
  { from: 11, convert: () => withLiquidation, added: vaultTokensOf11 },
  { from: 12, convert: () => withIsolated },
  { from: 13, convert: () => to14, added: addedIn14 },
  { from: 14, convert: () => to15 },
  { from: 15, convert: () => to16 },
];

const withSubAccounts = (source: StorageReader, entry: Entry, to: Parameters<Convert>[1]): Uint8Array => {
  const { key } = entry;
  if (key[0] === TABLE.finishedRun) {
    const { marketIndex } = listNameOf(key);
    const items = decodeRun(entry, FINISHED_5.read).map((item) => {
      const key = keyWriter().ofMarket(TABLE.orderBlock, marketIndex, item.orderSequence);
      return { ...item, subAccount: checkFrame(key, rowBytes(source, key))[ORDER_6.subAccount] as number };
    });
    return encodeRun(to, key, items, FINISHED_8.write);
  }
  if (key[0] !== TABLE.tradeRun) return entry.value;
  const { marketIndex } = listNameOf(key);
  const items = decodeRun(entry, TRADE_5.read).map((item) => {
    const tradeKey = keyWriter().ofMarket(TABLE.tradeBlock, marketIndex, item.tradeId);
    const { maker, taker } = decodeFrame(tradeKey, rowBytes(source, tradeKey), TRADE.read);
    return { ...item, subAccount: (item.side === TRADE_SIDE.maker ? maker : taker).subAccount };
  });
  return encodeRun(to, key, items, TRADE_RUNS.write);
};

function rowBytes(source: StorageReader, key: Uint8Array): Uint8Array {
  return must(source.get(key), 'storage: the row of an entry of a run is there');
}

type Finished5 = Omit<Finished8, 'subAccount'>;
/** An entry of a finished run in version 5. */
const FINISHED_5: Field<Finished5> = struct<Finished5>({ timestampNs: u64, orderId: text, orderSequence: safe });

/** An entry of a trade run in version 5. */
const TRADE_5: Field<SidePlace> = struct<SidePlace>({ matchedNs: u64, tradeId: safe, side: u8 });

/**
 * Places in an order's row of versions 5 and 6: ids of any length stand before its terms and before its figures, which
 * begin with the lots that are enabled.
 */
const ORDER_6 = {
  subAccount: 53,
  idLength: 54,
  id: 58,
  tif: 2,
  triggerState: 48,
  parent: 49,
  parentIdLength: 57,
  parentId: 61,
  filled: 64,
};

/**
 * Versions 5 and 6 took all that was enabled of a released child for released, and ended one that never rests with its
 * last match: what it had not filled was dropped.
 */
function withActivated({ key, value }: Entry, to: ByteWriter): Uint8Array {
  if (key[0] !== TABLE.openOrder && key[0] !== TABLE.orderBlock) return value;
  const body = checkFrame(key, value);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const terms = ORDER_6.id + view.getUint32(ORDER_6.idLength);
  const figures = terms + ORDER_6.parentId + view.getUint32(terms + ORDER_6.parentIdLength);
  const isChild = view.getBigUint64(terms + ORDER_6.parent) !== 0n;
  const isReleased = body[terms + ORDER_6.triggerState] === TRIGGER_STATE.live;
  const isActivated = isChild && isReleased;
  const tif = body[terms + ORDER_6.tif];
  const neverRests = tif === TIF.ioc || tif === TIF.fok;
  const left = view.getBigUint64(figures) - view.getBigUint64(figures + ORDER_6.filled);
  const enabled = body.subarray(figures, figures + SAFE_BYTES);
  return encodeFrame(to, key, () => {
    to.raw(body.subarray(1, figures + SAFE_BYTES));
    to.raw(isActivated ? enabled : NOTHING);
    to.u64(isActivated && neverRests && left > 0n ? left : 0n);
    to.raw(body.subarray(figures + SAFE_BYTES));
  });
}

/** Versions 5 to 7 had one trade under each key, and tallies with nothing pending. */
function withBlocksAndPieces({ key, value }: Entry, to: ByteWriter): Uint8Array {
  const [table] = key;
  if (table !== TABLE.tradeBlock && table !== TABLE.tally) return value;
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    if (table === TABLE.tradeBlock) to.u32(1);
    to.raw(body);
    if (table === TABLE.tally) to.u32(0);
  });
}

/** An entry of a finished run in versions 6 to 8. */
interface Finished8 extends FinishedPlace {
  readonly orderSequence: Sequence;
  readonly subAccount: number;
}

const FINISHED_8: Field<Finished8> = struct<Finished8>({
  timestampNs: u64,
  orderId: text,
  orderSequence: safe,
  subAccount: u8,
});

/** Up to version 8 a finished order had a key of its own: its sequence, which is the place of a block of one. */
function withOrderBlocks(entry: Entry, to: ByteWriter): Uint8Array {
  const { key, value } = entry;
  if (key[0] === TABLE.orderBlock) {
    const row = checkFrame(key, value);
    return encodeFrame(to, key, () => {
      to.u32(1);
      to.raw(row);
    });
  }
  if (key[0] === TABLE.finishedRun) {
    const items = decodeRun(entry, FINISHED_8.read).map((item) => ({ ...item, block: item.orderSequence }));
    return encodeRun(to, key, items, FINISHED_RUNS.write);
  }
  if (key[0] !== TABLE.finishedById) return value;
  const sequence = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(sequence);
    to.raw(sequence);
  });
}

/** A run of trades of versions 6 to 9 lacks the number of older sides: runs of a list come oldest first. */
function withOlderAndNotional(): Convert {
  let list: Uint8Array = new Uint8Array();
  let last: LastTradeRun | null = null;
  return (entry, to) => {
    const { key, value } = entry;
    if (key[0] === TABLE.market) return withMinimumNotional(entry, to);
    if (key[0] !== TABLE.tradeRun) return value;
    const name = key.subarray(0, LIST_NAME_BYTES);
    if (Buffer.compare(name, list) !== 0) [list, last] = [Uint8Array.from(name), null];
    const items = decodeRun(entry, TRADE_RUNS.read);
    const [newest, oldest] = [must(items[0], 'a run holds something'), must(items.at(-1), 'a run holds something')];
    const older = olderThan(last, oldest);
    last = { place: newest, older, count: items.length };
    return encodeTradeRun(to, key, { older, items });
  };
}

/** The minimum stands between the definition and the two sequences at the end of a market's row. */
function withMinimumNotional({ key, value }: Entry, to: ByteWriter): Uint8Array {
  const body = checkFrame(key, value).subarray(1);
  const definitionEnd = body.length - 2 * SAFE_BYTES;
  return encodeFrame(to, key, () => {
    to.raw(body.subarray(0, definitionEnd));
    to.integer(MINIMUM_NOTIONAL);
    to.raw(body.subarray(definitionEnd));
  });
}

type Member10 =
  | 'marketIndex'
  | 'orderSequence'
  | 'prioritySequence'
  | 'user'
  | 'subAccount'
  | 'orderId'
  | 'side'
  | 'kind'
  | 'tif'
  | 'flags'
  | 'price'
  | 'quantity'
  | 'amount'
  | 'budget'
  | 'triggerKind'
  | 'triggerPrice'
  | 'triggerState'
  | 'parentSequence'
  | 'enabledQuantity'
  | 'activatedQuantity'
  | 'droppedQuantity'
  | 'maxFeeRate'
  | 'creationNs'
  | 'timestampNs'
  | 'goodUntilNs'
  | 'admittedNs'
  | 'lastUpdateNs'
  | 'filledQuantity'
  | 'filledNotional'
  | 'fees'
  | 'end'
  | 'faultReason'
  | 'verdict';

/** An order in versions 7 to 10. */
interface Order10 extends Pick<OrderRecord15Fields, Member10> {
  readonly parentId: string;
  readonly expiryNs: TimestampNs;
  readonly text: string;
  readonly signatures: Uint8Array;
}

export const ORDER_10: Field<Order10> = struct<Order10>({
  marketIndex: u32,
  orderSequence: safe,
  prioritySequence: safe,
  user: hex32,
  subAccount: u8,
  orderId: text,
  side: u8,
  kind: u8,
  tif: u8,
  flags: u32,
  price: safe,
  quantity: safe,
  amount: safe,
  budget: safe,
  triggerKind: u8,
  triggerPrice: safe,
  triggerState: u8,
  parentSequence: safe,
  parentId: text,
  enabledQuantity: safe,
  activatedQuantity: safe,
  droppedQuantity: safe,
  maxFeeRate: safe,
  creationNs: u64,
  timestampNs: u64,
  goodUntilNs: u64,
  expiryNs: u64,
  admittedNs: u64,
  lastUpdateNs: u64,
  filledQuantity: safe,
  filledNotional: i128,
  fees: i128,
  end: u8,
  faultReason: u8,
  verdict: u8,
  text,
  signatures: bytes,
});

/** In a block, each order of versions 9 and 10 has the byte of its own layout before it. */
function readBlock10(from: ByteReader): Order10 {
  from.u8();
  return ORDER_10.read(from);
}

function ordersIn({ key, value }: Entry): Order10[] {
  return key[0] === TABLE.openOrder ? [decodeFrame(key, value, ORDER_10.read)] : decodeRun({ key, value }, readBlock10);
}

const U32_MAX = 0xffff_ffff;

const RECORD_15: Views = viewsOf(new ArrayBuffer(OrderRecord15.bytes), 0, OrderRecord15.bytes);

function writeOrder15(to: ByteWriter, row: OrderRecord15Fields): void {
  OrderRecord15.write(RECORD_15, 0, row);
  to.raw(RECORD_15.u8);
}

/** @throws InvariantError where the facts of the row do not fit a record. */
function recordOf10({ parentId, expiryNs, text: signed, signatures, ...order }: Order10): OrderRecord15Fields {
  const lifeEndNs = order.creationNs + ORDER_LIFE_NS;
  const derivedNs = order.goodUntilNs !== 0n && order.goodUntilNs < lifeEndNs ? order.goodUntilNs : lifeEndNs;
  const parentIdAt = parentId === '' ? 0 : signed.indexOf(parentId);
  const fits = expiryNs === derivedNs && parentIdAt >= 0 && order.flags <= 0xffff;
  assert(fits, `storage: order ${order.orderSequence} of market ${order.marketIndex} has a record`);
  const maxFeeRate = Math.min(order.maxFeeRate, U32_MAX);
  return { ...order, maxFeeRate, parentIdAt, parentIdBytes: parentId.length };
}

/** The parts of a row of version 10 that are its record. */
function withRecords(entry: Entry, to: ByteWriter): Uint8Array {
  const { key, value } = entry;
  if (key[0] === TABLE.openOrder) {
    const row = recordOf10(decodeFrame(key, value, ORDER_10.read));
    return encodeFrame(to, key, () => writeOrder15(to, row));
  }
  if (key[0] !== TABLE.orderBlock) return value;
  return encodeRun(to, key, ordersIn(entry).map(recordOf10), writeOrder15);
}

/** Where the order of a text stands: in the table of open orders under its sequence, or in a block. */
interface TextPlaces {
  readonly sequences: number[];
  /** Sequence of an order's block, or OPEN. */
  readonly blocks: number[];
}

const OPEN = -1;
const TEXT_CHUNK_BYTES = 1 << 20;
const ENTRIES_PER_STEP = 256;

/** The texts of live and finished orders, which stood in their rows, by market and sequence. */
function* signedTextsOf10(source: StorageReader): Generator<Entry, void, undefined> {
  const markets = new Map<number, TextPlaces>();
  for (const table of [TABLE.openOrder, TABLE.orderBlock]) {
    const from = keyWriter().table(table);
    for (const entry of source.entries({ from, to: endOf(from), perStep: ENTRIES_PER_STEP })) {
      for (const { marketIndex, orderSequence, signatures } of ordersIn(entry)) {
        // Orders that the node made are not signed.
        if (signatures.length === 0) continue;
        const places = markets.get(marketIndex) ?? { sequences: [], blocks: [] };
        markets.set(marketIndex, places);
        places.sequences.push(orderSequence);
        places.blocks.push(table === TABLE.openOrder ? OPEN : sequenceIn(entry.key));
      }
    }
  }
  const to = new ByteWriter(TEXT_CHUNK_BYTES);
  for (const marketIndex of [...markets.keys()].sort((a, b) => a - b)) {
    const places = must(markets.get(marketIndex), 'storage: a market has its places');
    yield* signedTextBlocks(to, new KeyWriter(to), marketIndex, textsAt(source, marketIndex, places));
  }
}

function sequenceIn(key: Uint8Array): number {
  return new ByteReader(key.subarray(MARKET_PREFIX_BYTES)).safe();
}

/** Market by market, each text in the order of the sequences. */
function* textsAt(
  source: StorageReader,
  marketIndex: number,
  { sequences, blocks }: TextPlaces,
): Generator<Order10, void, undefined> {
  const order = Uint32Array.from(sequences.keys()).sort((a, b) => (sequences[a] as number) - (sequences[b] as number));
  let open: { readonly block: number; readonly orders: readonly Order10[] } = { block: OPEN, orders: [] };
  for (const index of order) {
    const sequence = sequences[index] as number;
    const block = blocks[index] as number;
    const table = block === OPEN ? TABLE.openOrder : TABLE.orderBlock;
    if (block === OPEN || open.block !== block) {
      const key = keyWriter().ofMarket(table, marketIndex, block === OPEN ? sequence : block);
      open = { block, orders: ordersIn({ key, value: rowBytes(source, key) }) };
    }
    const found = open.orders.find(({ orderSequence }) => orderSequence === sequence);
    yield must(found, 'storage: an order is in its block');
  }
}

/** In each of these tables the new member is the last one of its row. */
function withLiquidation({ key, value }: Entry, to: Parameters<Convert>[1]): Uint8Array {
  if (key[0] !== TABLE.price && key[0] !== TABLE.totals) return value;
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(body);
    if (key[0] === TABLE.price) to.flag(false);
    else to.integer(0n);
  });
}

/** Before version 13 no deposit was isolated: the new member is the last one of its row. */
function withIsolated({ key, value }: Entry, to: Parameters<Convert>[1]): Uint8Array {
  if (key[0] !== TABLE.withdrawal) return value;
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(body);
    to.i128(0n);
  });
}

/** Tables of version 13 whose rows have another layout in version 14, and how a row is converted. */
const TABLES_14: ReadonlyMap<number, Convert> = new Map([
  [TABLE.rebalancingPool, withUnpaid],
  [TABLE.market, withMatch],
]);

function to14(entry: Entry, to: Parameters<Convert>[1]): Uint8Array {
  return TABLES_14.get(entry.key[0] as number)?.(entry, to) ?? entry.value;
}

/** Entries of the tables that are new in version 14, in the order of their keys. */
function* addedIn14(source: StorageReader): Generator<Entry, void, undefined> {
  yield* netDepositsOf13(source);
}

/** Tables of version 14 whose rows have another layout in version 15, and how a row is converted. */
const TABLES_15: ReadonlyMap<number, Convert> = new Map([[TABLE.user, withoutTimer]]);

function to15(entry: Entry, to: Parameters<Convert>[1]): Uint8Array | null {
  return TABLES_15.get(entry.key[0] as number)?.(entry, to) ?? entry.value;
}

/** Tables of version 15 whose rows have another layout in version 16, and how a row is converted. */
const TABLES_16: ReadonlyMap<number, Convert> = new Map([
  [TABLE.openOrder, orderTo16],
  [TABLE.orderBlock, blockTo16],
]);

function to16(entry: Entry, to: Parameters<Convert>[1]): Uint8Array | null {
  return TABLES_16.get(entry.key[0] as number)?.(entry, to) ?? entry.value;
}

/** The new members stand behind all others: no quote set, no group. */
const NEW_IN_16 = new Uint8Array(OrderRecord.bytes - OrderRecord15.bytes);

function orderTo16({ key, value }: Entry, to: Parameters<Convert>[1]): Uint8Array {
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(body);
    to.raw(NEW_IN_16);
  });
}

function blockTo16(entry: Entry, to: Parameters<Convert>[1]): Uint8Array {
  const records = decodeRun(entry, (from) => from.raw(OrderRecord15.bytes));
  return encodeRun(to, entry.key, records, (into, record) => {
    into.raw(record);
    into.raw(NEW_IN_16);
  });
}

/** No dead-man timer was kept: the new member is the last one of a user's row. */
function withoutTimer({ key, value }: Entry, to: Parameters<Convert>[1]): Uint8Array {
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(body);
    to.u8(0);
  });
}

/** The new member is the last one of its row. */
function withUnpaid({ key, value }: Entry, to: Parameters<Convert>[1]): Uint8Array {
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(body);
    to.i128(0n);
  });
}

/** No match was counted: the new member is the last one of a market's row. */
function withMatch({ key, value }: Entry, to: Parameters<Convert>[1]): Uint8Array {
  const body = checkFrame(key, value).subarray(1);
  return encodeFrame(to, key, () => {
    to.raw(body);
    COUNTED_MATCH.write(to, NO_MATCH);
  });
}

/** What vaults have of each asset, by chain: of deposits and payouts longer ago than a day nothing else is kept. */
function* netDepositsOf13(source: StorageReader): Generator<Entry, void, undefined> {
  const decimals = new Map<string, number>();
  for (const row of rowsOf(source, 'asset')) {
    for (const [token, digits] of droppedTokens(row)) decimals.set(token, digits);
    for (const { token, chainId, decimals: digits } of row.tokens) decimals.set(`${token}@${chainId}`, digits);
  }
  const rows = new Map<string, NetDepositRow>();
  for (const { token, chainId, asset, baseUnits } of rowsOf(source, 'vaultToken')) {
    const digits = must(decimals.get(`${token}@${chainId}`), 'storage: the decimals of a token are kept for ever');
    const amount = mulDivFloor(baseUnits, ONE_18, powerOfTen(digits));
    const key = `${chainId}/${asset}`;
    rows.set(key, { chainId, asset, amount: ((rows.get(key)?.amount ?? 0n) + amount) as Amount18 });
  }
  const to = new ByteWriter(TEXT_CHUNK_BYTES);
  const entries = [...rows.values()].map((row) => {
    const key = Uint8Array.from(keyWriter().assetOnChain(TABLE.netDeposit, row.chainId, row.asset));
    return { key, value: Uint8Array.from(encodeRow(to, 'netDeposit', key, row)) };
  });
  yield* entries.sort((a, b) => Buffer.compare(a.key, b.key));
}

/**
 * What the deposits brought, by token. A deposit of version 11 names its asset and chain, not its token: of several tokens of
 * an asset on one chain the first has all.
 */
function* vaultTokensOf11(source: StorageReader): Generator<Entry, void, undefined> {
  const tokens = new Map<string, { readonly row: VaultTokenRow; readonly decimals: number }>();
  for (const { assetId, tokens: ofAsset } of rowsOf(source, 'asset')) {
    for (const { token, chainId, decimals } of ofAsset) {
      const key = `${assetId}@${chainId}`;
      if (!tokens.has(key)) tokens.set(key, { row: { token, chainId, asset: assetId, baseUnits: 0n }, decimals });
    }
  }
  for (const { asset, chainId, amount } of rowsOf(source, 'deposit')) {
    const known = tokens.get(`${asset}@${chainId}`);
    if (known === undefined || amount === 0n) continue;
    const baseUnits = known.row.baseUnits + mulDivFloor(amount, powerOfTen(known.decimals), ONE_18);
    tokens.set(`${asset}@${chainId}`, { ...known, row: { ...known.row, baseUnits } });
  }
  const rows = [...tokens.values()].map(({ row }) => row).filter(({ baseUnits }) => baseUnits > 0n);
  rows.sort((a, b) => (a.chainId + a.token < b.chainId + b.token ? -1 : 1));
  const to = new ByteWriter(TEXT_CHUNK_BYTES);
  for (const row of rows) {
    const key = keyWriter().onChain(TABLE.vaultToken, row.chainId, row.token);
    yield { key, value: encodeRow(to, 'vaultToken', key, row) };
  }
}

/** Rows of a table whose layout is that of today. */
function* rowsOf<T extends 'asset' | 'deposit' | 'vaultToken'>(source: StorageReader, table: T): Generator<Tables[T]> {
  const from = keyWriter().table(TABLE[table]);
  for (const { key, value } of source.entries({ from, to: endOf(from), perStep: ENTRIES_PER_STEP })) {
    yield decodeRow(table, key, value);
  }
}
