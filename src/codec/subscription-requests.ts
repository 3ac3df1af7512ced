/**
 * Frames of a client on the multiplexed market-data socket (wire-additions.md 10.1).
 *
 *   {"type":"subscribe","id":"s-1","channels":[{"name":"depth","asset_ids":["12"],"checksum_every":1}]}
 *   {"type":"unsubscribe","id":"s-2","channels":[{"name":"depth","asset_ids":["12"]}]}
 *   {"type":"ping","id":"p-1"}
 *
 * A fault of the frame rejects all of it. Whether a market exists is not a matter of the frame.
 */
import { parseInterval } from '../core/kline-intervals.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isJsonObject, type JsonValue, MemberReader, parseJson } from './json-tree.ts';

export type SubscribedChannel = 'depth' | 'bbo' | 'trades' | 'klines' | 'ticker' | 'prices';

/** How a subscription is served. A member of a channel that does not have it has its default. */
export interface SubscriptionOptions {
  readonly name: SubscribedChannel;
  /** Klines only: as given, and its width in seconds; '' and 0 elsewhere. */
  readonly interval: string;
  readonly width: number;
  /** Depth only. */
  readonly numbers: 'number' | 'string';
  /** Depth only: a checksum on every n-th update; 0 on snapshots only. */
  readonly checksumEvery: number;
}

export interface SubscriptionItem extends SubscriptionOptions {
  /** As given. */
  readonly assetIds: readonly string[];
}

export interface ItemsRequest {
  readonly type: 'subscribe' | 'unsubscribe';
  readonly items: readonly SubscriptionItem[];
}

type SubscriptionRequest = { readonly type: 'ping' } | ItemsRequest;

/** A frame as it was read; `id` is null when it was not given or is not valid. */
export interface ClientFrame {
  readonly id: string | null;
  readonly request: Outcome<SubscriptionRequest>;
}

const CHANNELS: readonly SubscribedChannel[] = ['depth', 'bbo', 'trades', 'klines', 'ticker', 'prices'];
const ITEMS_MAX = 20;
const ASSETS_MAX = 100;
const ID_LENGTH_MAX = 64;
/** The longest spelling of an asset has some 130 characters. */
const ASSET_LENGTH_MAX = 160;
const CHECKSUM_EVERY_MAX = 1_000;
const CHECKSUM_EVERY_DEFAULT = 10;
/** Values of the largest frame. */
const VALUES_MAX = ITEMS_MAX * (ASSETS_MAX + 8) + 8;

const NOT_TEXT: Reject = reject('INVALID_REQUEST', 'frames are text with one JSON object');
export const BINARY_FRAME: ClientFrame = { id: null, request: rejected(NOT_TEXT) };

export function readClientFrame(bytes: Uint8Array): ClientFrame {
  // Fractions have their member and the id of the frame in the answer.
  const tree = parseJson(bytes, { fractions: 'text', valuesMax: VALUES_MAX });
  if (!tree.ok) return { id: null, request: tree };
  if (!isJsonObject(tree.value)) return BINARY_FRAME;
  const reader = new MemberReader(tree.value);
  const id = reader.has('id') ? reader.string('id') : '';
  if (reader.has('id') && (id === '' || id.length > ID_LENGTH_MAX)) {
    reader.fail('id', `expected a string of 1 to ${ID_LENGTH_MAX} characters`, '');
  }
  const isValid = id !== '' && id.length <= ID_LENGTH_MAX;
  return { id: isValid ? id : null, request: readRequest(reader) };
}

function readRequest(reader: MemberReader): Outcome<SubscriptionRequest> {
  const type = reader.string('type');
  if (type !== 'subscribe' && type !== 'unsubscribe' && type !== 'ping') {
    reader.fail('type', 'expected subscribe, unsubscribe or ping', '');
  }
  const listed = type === 'ping' ? [] : reader.array('channels');
  if (type !== 'ping' && (listed.length < 1 || listed.length > ITEMS_MAX)) {
    reader.fail('channels', `expected 1 to ${ITEMS_MAX} items`, []);
  }
  const fault = reader.finish('refuse');
  if (fault !== null) return rejected(fault);
  if (type === 'ping') return accepted({ type });
  const items: SubscriptionItem[] = [];
  for (const [index, value] of listed.entries()) {
    const item = readItem(value, type === 'subscribe');
    if (!item.ok) return rejected(within(item.reject, `channels[${index}]`));
    items.push(item.value);
  }
  return accepted({ type: type === 'subscribe' ? type : 'unsubscribe', items });
}

/** @param hasOptions an unsubscribe names the subscription only. */
function readItem(value: JsonValue, hasOptions: boolean): Outcome<SubscriptionItem> {
  if (!isJsonObject(value)) return rejected(reject('INVALID_REQUEST', 'expected an object'));
  const reader = new MemberReader(value);
  const given = reader.string('name');
  const name = CHANNELS.find((channel) => channel === given);
  if (name === undefined) reader.fail('name', `expected one of ${CHANNELS.join(', ')}`, '');
  const assetIds = readAssets(reader);
  const isDepth = name === 'depth' && hasOptions;
  const { interval, width } = name === 'klines' ? readInterval(reader) : { interval: '', width: 0 };
  const numbers = isDepth ? readNumbers(reader) : 'number';
  const checksumEvery = isDepth ? readChecksumEvery(reader) : CHECKSUM_EVERY_DEFAULT;
  const fault = reader.finish('refuse');
  if (fault !== null || name === undefined) return rejected(fault ?? NOT_TEXT);
  return accepted({ name, assetIds, interval, width, numbers, checksumEvery });
}

function readAssets(reader: MemberReader): readonly string[] {
  const assets = reader.array('asset_ids');
  const texts = assets.filter((asset) => typeof asset === 'string' && asset.length <= ASSET_LENGTH_MAX);
  if (texts.length === assets.length && texts.length >= 1 && texts.length <= ASSETS_MAX) return texts as string[];
  return reader.fail('asset_ids', `expected 1 to ${ASSETS_MAX} asset ids`, []);
}

function readInterval(reader: MemberReader): { readonly interval: string; readonly width: number } {
  const interval = reader.string('interval');
  const width = parseInterval(interval);
  if (width.ok) return { interval, width: width.value };
  return reader.fail('interval', width.reject.message, { interval, width: 0 });
}

function readNumbers(reader: MemberReader): 'number' | 'string' {
  const numbers = reader.has('numbers') ? reader.string('numbers') : 'number';
  if (numbers === 'number' || numbers === 'string') return numbers;
  return reader.fail('numbers', 'expected number or string', 'number');
}

function readChecksumEvery(reader: MemberReader): number {
  return reader.has('checksum_every')
    ? reader.integer('checksum_every', 0, CHECKSUM_EVERY_MAX)
    : CHECKSUM_EVERY_DEFAULT;
}

/** The fault of an item, with the path of its member. */
function within(fault: Reject, path: string): Reject {
  return { ...fault, field: fault.field === undefined ? path : `${path}.${fault.field}` };
}
