/**
 * Frames of the private socket `GET /user/ws`, in the form of those of `GET /ws` (PRV-01, PRV-02, wire-additions.md 18).
 *
 *   {"type":"auth","user_id":"…","token":"…"}
 *   {"type":"subscribe","id":"s-1","channels":[{"name":"orders","resume":{"sequence":41}}]}
 *   {"type":"unsubscribe","id":"s-2","channels":[{"name":"orders"}]}
 *   {"type":"ping","id":"p-1"}
 *
 * A fault of a frame rejects all of it.
 */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { isJsonObject, type JsonValue, MemberReader, parseJson } from './json-tree.ts';
import { quote, quoteOrNull } from './json-writer.ts';

export type PrivateChannel = 'orders' | 'trades' | 'positions' | 'account_stats' | 'account_events' | 'at_risk';

const PRIVATE_CHANNELS: readonly PrivateChannel[] = [
  'orders',
  'trades',
  'positions',
  'account_stats',
  'account_events',
  'at_risk',
];

interface PrivateItem {
  readonly name: PrivateChannel;
  /** Continue behind this number; null: begin with a snapshot. */
  readonly resume: number | null;
}

export type PrivateRequest =
  | { readonly type: 'ping' }
  | { readonly type: 'auth'; readonly userText: string; readonly token: string }
  | { readonly type: 'subscribe' | 'unsubscribe'; readonly items: readonly PrivateItem[] };

/** A frame as it was read; `id` is null when it was not given or is not valid. */
interface PrivateFrame {
  readonly id: string | null;
  readonly request: Outcome<PrivateRequest>;
}

const TYPES = ['auth', 'subscribe', 'unsubscribe', 'ping'] as const;
const ID_LENGTH_MAX = 64;
const TEXT_LENGTH_MAX = 512;
const VALUES_MAX = 64;
const NOT_TEXT: Reject = reject('INVALID_REQUEST', 'frames are text with one JSON object');

export function readPrivateFrame(bytes: Uint8Array, isBinary: boolean): PrivateFrame {
  if (isBinary) return { id: null, request: rejected(NOT_TEXT) };
  const tree = parseJson(bytes, { fractions: 'text', valuesMax: VALUES_MAX });
  if (!tree.ok) return { id: null, request: tree };
  if (!isJsonObject(tree.value)) return { id: null, request: rejected(NOT_TEXT) };
  const reader = new MemberReader(tree.value);
  const id = reader.has('id') ? reader.string('id') : '';
  const isValid = id !== '' && id.length <= ID_LENGTH_MAX;
  if (reader.has('id') && !isValid) reader.fail('id', `expected a string of 1 to ${ID_LENGTH_MAX} characters`, '');
  return { id: isValid ? id : null, request: readRequest(reader) };
}

function readRequest(reader: MemberReader): Outcome<PrivateRequest> {
  const given = reader.string('type');
  const type = TYPES.find((one) => one === given);
  if (type === undefined) reader.fail('type', `expected one of ${TYPES.join(', ')}`, '');
  const isAuth = type === 'auth';
  const userText = isAuth ? reader.string('user_id') : '';
  const token = isAuth ? reader.string('token') : '';
  const isList = type === 'subscribe' || type === 'unsubscribe';
  const listed = isList ? reader.array('channels') : [];
  if (isList && (listed.length < 1 || listed.length > PRIVATE_CHANNELS.length)) {
    reader.fail('channels', `expected 1 to ${PRIVATE_CHANNELS.length} items`, []);
  }
  const fault = reader.finish('refuse');
  if (fault !== null || type === undefined) return rejected(fault ?? NOT_TEXT);
  if (type === 'ping') return accepted({ type });
  if (type === 'auth') {
    const isShort = userText.length <= TEXT_LENGTH_MAX && token.length <= TEXT_LENGTH_MAX;
    return accepted(isShort ? { type, userText, token } : { type, userText: '', token: '' });
  }
  const items: PrivateItem[] = [];
  for (const [index, value] of listed.entries()) {
    const item = readItem(value, type === 'subscribe');
    if (!item.ok) {
      const { field } = item.reject;
      const path = `channels[${index}]`;
      return rejected({ ...item.reject, field: field === undefined ? path : `${path}.${field}` });
    }
    if (items.some(({ name }) => name === item.value.name)) {
      return rejected(reject('INVALID_REQUEST', 'a channel is named once', `channels[${index}].name`));
    }
    items.push(item.value);
  }
  return accepted({ type, items });
}

/** @param hasOptions an unsubscribe names the channel only. */
function readItem(value: JsonValue, hasOptions: boolean): Outcome<PrivateItem> {
  if (!isJsonObject(value)) return rejected(reject('INVALID_REQUEST', 'expected an object'));
  const reader = new MemberReader(value);
  const given = reader.string('name');
  const name = PRIVATE_CHANNELS.find((channel) => channel === given);
  if (name === undefined) reader.fail('name', `expected one of ${PRIVATE_CHANNELS.join(', ')}`, '');
  const asked = hasOptions && reader.has('resume') ? reader.object('resume') : null;
  const fault = reader.finish('refuse');
  if (fault !== null || name === undefined) return rejected(fault ?? NOT_TEXT);
  if (asked === null) return accepted({ name, resume: null });
  const inner = new MemberReader(asked);
  const resume = inner.integer('sequence', 0, Number.MAX_SAFE_INTEGER);
  const wrong = inner.finish('refuse');
  return wrong === null ? accepted({ name, resume }) : rejected({ ...wrong, field: `resume.${wrong.field ?? ''}` });
}

/** A frame of a subscription. @param data JSON. */
export function privateFrame(
  type: 'snapshot' | 'update',
  channel: PrivateChannel,
  sequence: number,
  timestampNs: TimestampNs,
  data: string,
): string {
  return `{"type":"${type}","channel":"${channel}","sequence":${sequence},"timestamp_ns":${timestampNs},"data":${data}}`;
}

/** What a frame of a client could not do for one channel. */
export interface PrivateItemError {
  readonly name: PrivateChannel;
  readonly code: 'RATE_LIMITED' | 'SERVICE_UNAVAILABLE' | 'PRICING_UNAVAILABLE' | 'NOT_SUBSCRIBED';
  readonly message: string;
}

/** The first frame of an authenticated socket, and the answer to `subscribe` and `unsubscribe`. @param id undefined: no such member. */
export function privateSubscriptions(
  names: Iterable<PrivateChannel>,
  errors: readonly PrivateItemError[],
  id?: string | null,
): string {
  const channels = [...names].map((name) => `{"name":"${name}"}`);
  const faults = errors.map(
    ({ name, code, message }) => `{"name":"${name}","code":"${code}","message":${quote(message)}}`,
  );
  const tail = id === undefined ? '' : `,"id":${quoteOrNull(id)}`;
  return `{"type":"subscriptions","channels":[${channels.join(',')}],"errors":[${faults.join(',')}]${tail}}`;
}

/** The last frame of a reader that is too slow. */
export const PRIVATE_RESYNC =
  '{"type":"error","id":null,"error":{"code":"RESYNC_REQUIRED","message":"the stream fell behind","retryable":true}}';
