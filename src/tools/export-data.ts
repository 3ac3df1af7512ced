/**
 * What a data directory holds, as JSON lines: for audits, for other programs, and to rebuild a directory from. Of a node
 * that runs, everything up to one journal sequence.
 *
 *   journal    {"sequence":1,"time_ns":"…","hash":"…","payload":"…base64"}                     from the first record
 *              with "epoch":1 behind the time, where several machines hold the journal
 *   trades     {"market":"2","trade_id":7,"price":…,"maker":{…},"taker":{…},…}                by market and trade id
 *   balances   {"user_id":"…","sub_account":0,"asset_id":"2","owned":"1.5","locked":"0"}      by user, account, asset
 *   positions  {"user_id":"…","sub_account":1,"asset_id":"2","base":"-0.5","quote":"1500"}     likewise
 *
 * Integers that may exceed 2^53 and all amounts are strings.
 */
import { createReadStream, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { recoverState } from '../clearing/recovery.ts';
import type { TradeRow, TradeSide } from '../clearing/rows.ts';
import type { ClearingState, SubAccountSlot } from '../clearing/state.ts';
import { must } from '../core/assert.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import { toHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { oldestWithin } from '../storage/data-files.ts';
import type { StorageReader } from '../storage/environment.ts';
import { History } from '../storage/history.ts';
import { type CopiedRecord, journalBounds, readJournal } from '../storage/journal.ts';
import { recoveryOf } from '../storage/lmdb-durability.ts';
import { StorageError } from '../storage/storage-error.ts';
import { type Audit, type Progress, withReader } from './audit-data.ts';
import { rebuildData } from './copy-data.ts';

export const EXPORTS = ['journal', 'trades', 'balances', 'positions'] as const;
export type ExportName = (typeof EXPORTS)[number];

const TRADES_PER_STEP = 512;
const REPORT_LINES = 1_000;

/** Lines without their ends. */
export function* exportLines(
  reader: StorageReader,
  what: ExportName,
  progress: Progress = () => undefined,
): Generator<string, void, undefined> {
  const { firstSequence, lastSequence } = journalBounds(reader);
  const of = what === 'journal' && lastSequence > 0 ? lastSequence - firstSequence + 1 : 0;
  let lines = 0;
  for (const line of linesOf(reader, what)) {
    yield line;
    lines += 1;
    if (lines % REPORT_LINES === 0 || lines === of) progress('exporting', lines, of);
  }
}

function linesOf(reader: StorageReader, what: ExportName): Iterable<string> {
  if (what === 'journal') return journalLines(reader);
  const { state } = recoverState({ recover: () => recoveryOf(reader) });
  if (what === 'trades') return tradeLines(reader, state);
  return what === 'balances' ? balanceLines(state) : positionLines(state);
}

function* journalLines(reader: StorageReader): Generator<string> {
  const { firstSequence, lastSequence } = journalBounds(reader);
  if (lastSequence === 0) return;
  for (const { sequence, timeNs, epoch, hash, payload } of readJournal(reader, firstSequence)) {
    const record = {
      sequence,
      time_ns: `${timeNs}`,
      ...(epoch === 0 ? {} : { epoch }),
      hash: toHex(hash),
      payload: Buffer.from(payload).toString('base64'),
    };
    yield JSON.stringify(record);
    // Records that a running node appends meanwhile are not of this export.
    if (sequence === lastSequence) return;
  }
}

function* tradeLines(reader: StorageReader, state: ClearingState): Generator<string> {
  for (const trade of tradesOf(reader, state)) yield JSON.stringify(tradeMembers(state, trade));
}

/** Trades of the tables, then trades that the journal behind them confirms, market by market. */
export function* tradesOf(reader: StorageReader, state: ClearingState): Generator<TradeRow, void, undefined> {
  const history = new History(reader);
  for (const { definition } of state.markets) {
    const { marketIndex } = definition;
    const behind = state.dirty.trades.filter((trade) => trade.marketIndex === marketIndex);
    const first = behind[0]?.tradeId ?? Number.POSITIVE_INFINITY;
    let after = 0 as Sequence;
    for (;;) {
      const trades = history.marketTradesAfter(marketIndex, after, TRADES_PER_STEP);
      for (const trade of trades) if (trade.tradeId < first) yield trade;
      after = trades.at(-1)?.tradeId ?? after;
      if (trades.length < TRADES_PER_STEP || after >= first) break;
    }
    yield* behind;
  }
}

/** The members of a line of trades. */
type TradeMembers = {
  readonly market: string;
  readonly trade_id: number;
  readonly price: string;
  readonly quantity: string;
  readonly matched_ns: string;
  readonly taker_side: 'Buy' | 'Sell';
  readonly maker: Readonly<Record<string, unknown>>;
  readonly taker: Readonly<Record<string, unknown>>;
};

export function tradeMembers(state: ClearingState, trade: TradeRow): TradeMembers {
  const { definition } = must(state.markets[trade.marketIndex], 'a trade is of a known market');
  const side = (of: TradeSide) => ({
    user_id: of.user,
    sub_account: of.subAccount,
    order_id: of.orderId,
    fee: format18(of.fee),
  });
  return {
    market: definition.assetId,
    trade_id: trade.tradeId,
    price: formatRaw(trade.price, definition.priceDecimals),
    quantity: formatRaw(trade.quantity, definition.quantityDecimals),
    matched_ns: `${trade.matchedNs}`,
    taker_side: trade.takerSide === SIDE.buy ? 'Buy' : 'Sell',
    maker: side(trade.maker),
    taker: side(trade.taker),
  };
}

function* balanceLines(state: ClearingState): Generator<string> {
  for (const { user, subAccount, account } of accountsOf(state)) {
    for (const [asset, { owned, locked }] of [...account.balances].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (owned === 0n && locked === 0n) continue;
      const amounts = { owned: format18(owned), locked: format18(locked) };
      yield JSON.stringify({ user_id: user, sub_account: subAccount, asset_id: asset, ...amounts });
    }
  }
}

function* positionLines(state: ClearingState): Generator<string> {
  for (const { user, subAccount, account } of accountsOf(state)) {
    for (const [asset, { legs }] of [...account.positions].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const amounts = { base: format18(legs.base), quote: format18(legs.quote) };
      yield JSON.stringify({ user_id: user, sub_account: subAccount, asset_id: asset, ...amounts });
    }
  }
}

/** By user, then by number. */
export function* accountsOf(
  state: ClearingState,
): Generator<{ user: UserId; subAccount: number; account: SubAccountSlot }> {
  for (const user of [...state.users.keys()].sort()) {
    const accounts = [...(state.users.get(user)?.subAccounts ?? [])].sort(([a], [b]) => a - b);
    for (const [subAccount, account] of accounts) yield { user, subAccount, account };
  }
}

/**
 * Makes a data directory of the journal of another, or of an exported one.
 *
 * @param snapshot where the rebuild begins, for a journal that was pruned; null: the source's own, where it has one.
 */
export async function rebuildFrom(
  source: string,
  to: string,
  snapshot: string | null,
  progress: Progress,
): Promise<Audit> {
  if (statSync(source, { throwIfNoEntry: false })?.isDirectory() === false)
    return rebuildData(readExportedJournal(source), { to, snapshot, beside: null }, progress);
  return withReader(source, (reader) => {
    const { firstSequence, lastSequence } = journalBounds(reader);
    if (firstSequence === 0) throw new StorageError(`${source} has an empty journal`);
    const own = firstSequence === 1 ? undefined : oldestWithin(source, firstSequence, lastSequence);
    const from = { to, snapshot: snapshot ?? own?.path ?? null, beside: source };
    return rebuildData(readJournal(reader, firstSequence), from, progress);
  });
}

/** The records of an exported journal. @throws StorageError at a line that is none. */
async function* readExportedJournal(path: string): AsyncGenerator<CopiedRecord> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    yield recordOf(text, `${path}:${line}`);
  }
}

function recordOf(text: string, where: string): CopiedRecord {
  try {
    const { sequence, time_ns, epoch = 0, hash, payload } = JSON.parse(text) as Record<string, unknown>;
    if (typeof sequence !== 'number' || typeof time_ns !== 'string') throw new TypeError('no sequence or time');
    if (typeof epoch !== 'number') throw new TypeError('no epoch');
    if (typeof hash !== 'string' || typeof payload !== 'string') throw new TypeError('no hash or payload');
    return {
      sequence,
      timeNs: BigInt(time_ns) as TimestampNs,
      epoch,
      hash: new Uint8Array(Buffer.from(hash, 'hex')),
      payload: new Uint8Array(Buffer.from(payload, 'base64')),
    };
  } catch (error) {
    throw new StorageError(`${where} is no record of a journal: ${String(error)}`);
  }
}
