/**
 * The records of a journal as JSON that people read (EXP-05): each input with the names of its members, words instead of the
 * numbers of vocabularies, amounts as exact decimals, bytes as hex.
 *
 *   {"sequence":7,"time":"2026-11-29T09:41:26.123456789Z","time_ns":"…","hash":"…",
 *    "inputs":[{"kind":"matched","market_index":0,"market":"2","trade_id":7,…}],
 *    "verdicts":[{"order":3,"market_index":0,"market":"2","valid":true}]}
 *
 * with "epoch":1 behind the time, where several machines hold the journal. `price` and `quantity` of a market's inputs are raw
 * integers of its book, as on the wire. A record is what was decided about, not what was decided: that are the rows of the
 * row log. Nothing can be restored from these lines; `exportLines` (export-data.ts) writes those.
 */
import type { Batch, ClearingInput } from '../clearing/inputs.ts';
import { decodeBatch } from '../clearing/journal-batch.ts';
import { plainRow } from '../clearing/rows.ts';
import { format18 } from '../core/decimal.ts';
import { toHex } from '../core/hex.ts';
import {
  FILL_GROUP,
  MARKET_STATUS_WORD,
  ORDER_END_WORD,
  ORDER_FLAG,
  ORDER_KIND,
  PROTECTION_LIMIT_WORD,
  QUOTE_CHANGE,
  ROLLBACK_REASON_WORD,
  SIDE_WORD,
  SIGNATURE_VERDICT,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../core/order-terms.ts';
import type { Amount18, Sequence } from '../core/units.ts';
import { OrderRecordView } from '../schema/generated/messages.ts';
import type { StorageReader } from '../storage/environment.ts';
import { journalBounds, journalTimeAt, readJournal } from '../storage/journal.ts';
import type { JournalRecord } from '../storage/journal-record.ts';
import { StorageError } from '../storage/storage-error.ts';
import type { Progress } from './audit-data.ts';
import { isoTime } from './iso-time.ts';
import { marketsOfTables } from './market-tables.ts';

/** Where a range begins or ends: a record, or the first one at or after a time. */
export type JournalPlace = { readonly sequence: number } | { readonly timeNs: bigint };

export interface JournalRange {
  /** Inclusive; null: the oldest record that there is. */
  readonly from: JournalPlace | null;
  /** Exclusive; null: up to the newest record of now. */
  readonly to: JournalPlace | null;
}

type Members = Readonly<Record<string, unknown>>;
type Words = Readonly<Record<number, string | null>>;

const REPORT_RECORDS = 1_000;

/** Names of all members of T, however deep, whose values are amounts. */
type AmountNames<T> = T extends string | number | bigint | boolean | null | undefined | Uint8Array
  ? never
  : T extends readonly (infer Entry)[]
    ? AmountNames<Entry>
    : {
        [Name in keyof T & string]-?:
          | ([Extract<T[Name], Amount18>] extends [never] ? never : Name)
          | AmountNames<T[Name]>;
      }[keyof T & string];

/** The members that are amounts of 18 decimals: the compiler lists those of an input; a record of an order has two more. */
const AMOUNTS: Readonly<Record<AmountNames<ClearingInput> | 'filledNotional' | 'fees', true>> = {
  amount: true,
  amountIn: true,
  amountOut: true,
  fees: true,
  filledNotional: true,
  max1hrDeposits: true,
  maxDeposits: true,
  maxNotional: true,
  maxQuantity: true,
  minFillNotional: true,
  minWeight: true,
  minimumNotional: true,
  minimumQuantity: true,
  missing: true,
  price: true,
  priceCollar: true,
  setAside: true,
  tickSize: true,
};

function wordsOf(vocabulary: Readonly<Record<string, number>>): Words {
  return Object.fromEntries(Object.entries(vocabulary).map(([word, number]) => [number, word]));
}

/** The words of the members that are numbers of a vocabulary. 0, where it has none, is null. */
const WORDS: Readonly<Record<string, Words>> = {
  side: SIDE_WORD,
  takerSide: SIDE_WORD,
  kind: wordsOf(ORDER_KIND),
  tif: wordsOf(TIF),
  triggerKind: wordsOf(TRIGGER),
  triggerState: wordsOf(TRIGGER_STATE),
  end: { ...ORDER_END_WORD, 0: null },
  faultReason: ROLLBACK_REASON_WORD,
  reason: ROLLBACK_REASON_WORD,
  verdict: wordsOf(SIGNATURE_VERDICT),
  limit: PROTECTION_LIMIT_WORD,
  change: wordsOf(QUOTE_CHANGE),
  group: wordsOf(FILL_GROUP),
  status: MARKET_STATUS_WORD,
};

/**
 * The lines of a range, without their ends.
 *
 * @throws StorageError when the range begins before the oldest record that there is; InvariantError at the first damaged record.
 */
export function* readableJournal(
  reader: StorageReader,
  range: JournalRange,
  progress: Progress = () => undefined,
): Generator<string, void, undefined> {
  const { from, to } = boundsOf(reader, range);
  if (from >= to) return;
  // One that is younger than the tables has its index alone.
  const markets = new Map([...marketsOfTables(reader)].map(({ marketIndex, assetId }) => [marketIndex, assetId]));
  let next = from;
  try {
    for (const record of readJournal(reader, from as Sequence)) {
      yield JSON.stringify(readableRecord(record, markets));
      next = record.sequence + 1;
      const count = next - from;
      if (count % REPORT_RECORDS === 0 || next >= to) progress('exporting', count, to - from);
      if (next >= to) return;
    }
  } catch (error) {
    const { firstSequence } = journalBounds(reader);
    if (firstSequence <= next) throw error;
    throw new StorageError(`record ${next} was pruned meanwhile: the journal begins with record ${firstSequence} now`);
  }
}

/** Sequences: `from` is inclusive, `to` is not. */
function boundsOf(reader: StorageReader, { from, to }: JournalRange): { readonly from: number; readonly to: number } {
  const { firstSequence, lastSequence } = journalBounds(reader);
  if (lastSequence === 0) return { from: 0, to: 0 };
  const end = to === null ? lastSequence + 1 : Math.min(placeOf(reader, to), lastSequence + 1);
  if (from === null) return { from: firstSequence, to: end };
  const isBefore =
    'sequence' in from
      ? from.sequence < firstSequence
      : firstSequence > 1 && from.timeNs < journalTimeAt(reader, firstSequence);
  if (isBefore) {
    const time = isoTime(journalTimeAt(reader, firstSequence));
    throw new StorageError(
      `the journal begins with record ${firstSequence} of ${time}: what was before is pruned. Export from there on, ` +
        'or from a backup that is older',
    );
  }
  return { from: placeOf(reader, from), to: end };
}

/** The sequence of a place, which may lie one behind the last record. */
function placeOf(reader: StorageReader, place: JournalPlace): number {
  const { firstSequence, lastSequence } = journalBounds(reader);
  if ('sequence' in place) return Math.min(place.sequence, lastSequence + 1);
  // Times of records never decrease (clock.ts): the first one at or after the time is found by halving.
  let low: number = firstSequence;
  let high = lastSequence + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (journalTimeAt(reader, middle as Sequence) < place.timeNs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One record. @param markets base assets by market index. */
export function readableRecord(
  { sequence, timeNs, epoch, hash, payload }: JournalRecord,
  markets: ReadonlyMap<number, string>,
): Members {
  const { inputs, verdicts }: Batch = decodeBatch(payload);
  return {
    sequence,
    time: isoTime(timeNs),
    time_ns: `${timeNs}`,
    ...(epoch === 0 ? {} : { epoch }),
    hash: toHex(hash),
    inputs: inputs.map((input) => readable(input, markets)),
    verdicts: verdicts.map((verdict) => readable(verdict, markets)),
  };
}

function readable(value: object, markets: ReadonlyMap<number, string>): Members {
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    members[snakeOf(name)] = readableMember(name, member, markets);
    const market = name === 'marketIndex' ? markets.get(Number(member)) : undefined;
    if (market !== undefined) members['market'] = market;
  }
  return members;
}

function readableMember(name: string, value: unknown, markets: ReadonlyMap<number, string>): unknown {
  if (typeof value === 'bigint') return name in AMOUNTS ? format18(value) : `${value}`;
  if (typeof value === 'number') return name === 'flags' ? flagsOf(value) : wordOf(name, value);
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof OrderRecordView) return readable(plainRow(value), markets);
  if (Array.isArray(value)) return value.map((entry: unknown) => readableMember('', entry, markets));
  return typeof value === 'object' && value !== null ? readable(value, markets) : value;
}

/** A number that is not of the vocabulary stays one: a readable journal is read when something is wrong. */
function wordOf(name: string, value: number): number | string | null {
  const words = WORDS[name];
  return words !== undefined && value in words ? (words[value] ?? null) : value;
}

function flagsOf(bits: number): readonly string[] {
  return Object.entries(ORDER_FLAG).flatMap(([flag, bit]) => ((bits & bit) === 0 ? [] : [snakeOf(flag)]));
}

/** `orderId` as `order_id`. */
export function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
