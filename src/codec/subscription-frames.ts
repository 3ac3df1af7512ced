/**
 * Frames of the service on the multiplexed market-data socket (wire-additions.md 10.2 to 10.4).
 *
 * The data of a channel is formatted once for all its readers. A frame of one subscription differs from another's in its
 * sequence only, so the bytes of an update are made once and the number is written into them before each send:
 *
 *   │ free │ {"type":"update", … ,"sequence":│ 1 2 │,"timestamp_ns":…,"data":{…}}│
 *          └ moves with the number of digits        └ fixed
 */
import { assert } from '../core/assert.ts';
import { crc32c } from '../core/crc32c.ts';
import type { AssetId } from '../core/ids.ts';
import type { BookLevel, DepthLevels, ShownPrices } from '../core/market-figures.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { errorObject } from './error-envelope.ts';
import { quote, quoteOrNull } from './json-writer.ts';
import { amountOrNull, levelOrNull, type MarketText, rawText } from './market-data-json.ts';
import type { SubscribedChannel, SubscriptionOptions } from './subscription-requests.ts';

/** Levels of each side in a checksum. */
export const CHECKSUM_LEVELS = 10;
/** Levels of both sides in one snapshot frame. */
const SNAPSHOT_LEVELS_MAX = 5_000;
const DIGITS_MAX = 16;
const DIGIT_0 = 0x30;

/** What a frame of a subscription is about. */
interface FrameHead {
  readonly type: 'snapshot' | 'update';
  readonly channel: SubscribedChannel;
  readonly assetId: AssetId;
  /** Seconds; 0 except for klines. */
  readonly width: number;
  /** Node time of the state carried. */
  readonly timestampNs: TimestampNs;
}

/** A frame that is made once for all its readers. */
export interface NumberedFrame {
  readonly byteLength: number;
  /** The bytes for a reader whose number this is; valid until the next call. */
  of(sequence: number): Uint8Array;
}

/** A frame for all subscriptions, each with its own sequence. The bytes of `of` are valid until the next call. */
export class SequencedFrame implements NumberedFrame {
  readonly #bytes: Buffer;
  readonly #headLength: number;
  #digits = 1;
  #frame: Uint8Array;

  /** @param data JSON, ASCII. */
  constructor({ type, channel, assetId, width, timestampNs }: FrameHead, data: string) {
    const interval = width === 0 ? '' : `"interval_s":${width},`;
    const head = `{"type":"${type}","channel":"${channel}","asset_id":"${assetId}",${interval}"sequence":`;
    const tail = `,"timestamp_ns":${timestampNs},"data":${data}}`;
    this.#headLength = head.length;
    this.#bytes = Buffer.allocUnsafe(DIGITS_MAX + head.length + tail.length);
    this.#bytes.write(head, DIGITS_MAX - 1, 'latin1');
    this.#bytes.write(tail, DIGITS_MAX + head.length, 'latin1');
    this.#frame = this.#bytes.subarray(DIGITS_MAX - 1);
  }

  get byteLength(): number {
    return this.#frame.byteLength;
  }

  /** @param sequence from 1, a safe integer. */
  of(sequence: number): Uint8Array {
    let digits = 1;
    for (let power = 10; power <= sequence; power *= 10) digits += 1;
    if (digits !== this.#digits) this.#moveHead(digits);
    let rest = sequence;
    const end = DIGITS_MAX + this.#headLength;
    for (let at = end - 1; at >= end - digits; at -= 1) {
      const next = Math.floor(rest / 10);
      this.#bytes[at] = DIGIT_0 + (rest - next * 10);
      rest = next;
    }
    return this.#frame;
  }

  #moveHead(digits: number): void {
    assert(digits <= DIGITS_MAX, 'a sequence is a safe integer');
    const from = DIGITS_MAX - this.#digits;
    this.#bytes.copyWithin(DIGITS_MAX - digits, from, from + this.#headLength);
    this.#digits = digits;
    this.#frame = this.#bytes.subarray(DIGITS_MAX - digits);
  }
}

/**
 * The checksum of a book: CRC-32C of its best bids, `|`, and its best asks, best first, as decimal strings.
 *
 * @param top the best levels of each side, price, quantity, …; more than CHECKSUM_LEVELS are left out.
 */
export function bookChecksum(market: MarketText, { bids, asks }: Pick<DepthLevels, 'bids' | 'asks'>): number {
  // mutant: checksum-sides
  return crc32c(Buffer.from(`${sideText(market, bids)}|${sideText(market, asks)}`, 'latin1'));
}

function sideText({ priceDecimals, quantityDecimals }: MarketText, levels: readonly number[]): string {
  const texts: string[] = [];
  for (let at = 0; at + 1 < levels.length && texts.length < CHECKSUM_LEVELS; at += 2) {
    texts.push(`${rawText(levels[at] ?? 0, priceDecimals)}:${rawText(levels[at + 1] ?? 0, quantityDecimals)}`);
  }
  return texts.join(',');
}

/** Form of prices and quantities in depth. */
export type DepthNumbers = SubscriptionOptions['numbers'];

/** Data of a depth update. @param checksum null where none is due. */
export function depthUpdateData(
  market: MarketText,
  levels: DepthLevels,
  numbers: DepthNumbers,
  checksum: number | null,
): string {
  return `{${depthMembers(market, levels, numbers)},"checksum":${checksum}}`;
}

/** Data of the frames of a depth snapshot, in order: each has at most SNAPSHOT_LEVELS_MAX levels, best first. */
export function depthSnapshotData(market: MarketText, book: DepthLevels, numbers: DepthNumbers): string[] {
  const parts: string[] = [];
  const { asks, bids, sequenceNumber } = book;
  let ask = 0;
  let bid = 0;
  do {
    const half = SNAPSHOT_LEVELS_MAX;
    const asksLeft = asks.length - ask;
    const bidsLeft = bids.length - bid;
    // Arrays have two entries for a level. A side that has less than its half leaves the rest to the other.
    const asksTaken = Math.min(asksLeft, Math.max(half, 2 * half - bidsLeft));
    const bidsTaken = Math.min(bidsLeft, 2 * half - asksTaken);
    const levels = { asks: asks.slice(ask, ask + asksTaken), bids: bids.slice(bid, bid + bidsTaken), sequenceNumber };
    ask += asksTaken;
    bid += bidsTaken;
    const isLast = ask === asks.length && bid === bids.length;
    const checksum = isLast ? bookChecksum(market, book) : null;
    parts.push(`{${depthMembers(market, levels, numbers)},"more":${!isLast},"checksum":${checksum}}`);
  } while (ask < asks.length || bid < bids.length);
  return parts;
}

function depthMembers(market: MarketText, levels: DepthLevels, numbers: DepthNumbers): string {
  const asks = levelsJson(market, levels.asks, numbers);
  const bids = levelsJson(market, levels.bids, numbers);
  return `"asks":[${asks}],"bids":[${bids}],"sequence_number":${levels.sequenceNumber}`;
}

function levelsJson(
  { priceDecimals, quantityDecimals }: MarketText,
  levels: readonly number[],
  numbers: DepthNumbers,
): string {
  const mark = numbers === 'string' ? '"' : '';
  const texts: string[] = [];
  for (let at = 0; at + 1 < levels.length; at += 2) {
    const price = rawText(levels[at] ?? 0, priceDecimals);
    texts.push(`[${mark}${price}${mark},${mark}${rawText(levels[at + 1] ?? 0, quantityDecimals)}${mark}]`);
  }
  return texts.join(',');
}

/** Data of `bbo`. */
export function bestData(
  market: MarketText,
  best: { readonly bid: BookLevel | null; readonly ask: BookLevel | null; readonly sequenceNumber: number },
): string {
  const bid = levelOrNull(market, best.bid);
  return `{"bid":${bid},"ask":${levelOrNull(market, best.ask)},"sequence_number":${best.sequenceNumber}}`;
}

/** Data of `prices`. */
export function pricesData({ mark, oracle }: ShownPrices): string {
  const source = mark === null ? 'null' : `"${mark.source}"`;
  return (
    `{"mark_price":${amountOrNull(mark?.price ?? null)},"mark_source":${source},` +
    `"mark_timestamp_ns":${mark?.timeNs ?? 'null'},"oracle_price":${amountOrNull(oracle?.price ?? null)},` +
    `"oracle_timestamp_ns":${oracle?.timeNs ?? 'null'}}`
  );
}

/** What a frame of a client could not do for one subscription. */
export interface ItemError {
  readonly name: SubscribedChannel;
  /** As given. */
  readonly assetId: string;
  readonly code: 'MARKET_NOT_FOUND' | 'RATE_LIMITED' | 'TOO_MANY_SUBSCRIPTIONS' | 'NOT_SUBSCRIBED';
  readonly message: string;
}

/** A subscription in force. */
interface ListedSubscription {
  readonly options: SubscriptionOptions;
  readonly assetId: AssetId;
}

/** The first frame of a socket, and the answer to `subscribe` and `unsubscribe`. @param id undefined: no such member. */
export function subscriptionsFrame(
  listed: Iterable<ListedSubscription>,
  errors: readonly ItemError[],
  id?: string | null,
): string {
  const groups = new Map<string, AssetId[]>();
  for (const { options, assetId } of listed) {
    const key = optionsText(options);
    const assets = groups.get(key);
    if (assets === undefined) groups.set(key, [assetId]);
    else assets.push(assetId);
  }
  const channels = [...groups].map(([key, assets]) => key.replace('[]', `[${assets.map(quote).join(',')}]`));
  const faults = errors.map(
    ({ name, assetId, code, message }) =>
      `{"name":"${name}","asset_id":${quote(assetId)},"code":"${code}","message":${quote(message)}}`,
  );
  const tail = id === undefined ? '' : `,"id":${quoteOrNull(id)}`;
  return `{"type":"subscriptions","channels":[${channels.join(',')}],"errors":[${faults.join(',')}]${tail}}`;
}

/** The item without its assets. */
function optionsText({ name, interval, numbers, checksumEvery }: SubscriptionOptions): string {
  const depth = name === 'depth' ? `,"numbers":"${numbers}","checksum_every":${checksumEvery}` : '';
  const klines = name === 'klines' ? `,"interval":"${interval}"` : '';
  return `{"name":"${name}","asset_ids":[]${depth}${klines}}`;
}

/** The answer to a frame that could not be taken. */
export function requestErrorFrame(id: string | null, fault: Reject): string {
  return `{"type":"error","id":${quoteOrNull(id)},"error":${errorObject(fault)}}`;
}

export function pingAnswer(id: string | null): string {
  return id === null ? '{"type":"pong"}' : `{"type":"pong","id":${quote(id)}}`;
}
