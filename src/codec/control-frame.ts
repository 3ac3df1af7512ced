/**
 * A text frame received on `/control` (wire.md 10.1, 10.3, CTL-01 to CTL-03).
 *
 *   v0   {"CreateOrderRequest":{…}}                       exactly one tag
 *   v1   {"type":"request","channel":"control","request_id":"r-1","data":{"CreateOrderRequest":{…}}}
 *   short, on v1 sockets   {"request_id":"r-1","data":{"CreateOrderRequest":{…}}}     (wire-additions.md 2.2)
 *
 * The version follows from the frame's shape: on a v1 socket the bare v0 form is legal too. A v1 socket takes of `type` and
 * `channel` both or neither.
 *
 * A client matches replies by tag, asset and order id, so a frame that is well-formed JSON with an invalid shape still
 * yields them where possible, for a batch those of every item; the caller then replies `Rejected` in the correlated
 * shape (wire.md 10.2). A batch that is rejected as a whole for its size or a repeated id yields none (AMB-122), and
 * neither does a malformed text of more than SALVAGED_BYTES_MAX: the search would cost more than the parsing. The fault of a
 * short request is one error with the path of the member, whatever its request.
 *
 * A frame is limited like the body of the same request (limits.ts); a longer one is rejected as PAYLOAD_TOO_LARGE
 * before it is parsed.
 */
import { ACTION_BYTES_MAX, BATCH_ITEMS_MAX, SALVAGED_BYTES_MAX } from '../core/limits.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { JsonCursor, outerMembers } from './json-cursor.ts';
import { choiceShape, type ObjectShape, objectShape } from './json-shape.ts';
import { isJsonObject, type JsonValue, parseJson } from './json-tree.ts';
import {
  type AmendRequest,
  type CancelRequest,
  type CreateRequest,
  type QuoteSetRequest,
  type ReplaceRequest,
  readAmend,
  readCancel,
  readCreate,
  readQuoteSet,
  readReplace,
} from './order-actions.ts';
import { CREATE_LISTS, type OrderBatch, REPLACE_LISTS, readBatchCreate, readBatchReplace } from './order-batches.ts';
import { STRING_DECODED_MAX } from './signed-text.ts';
import { readUnsigned, type UnsignedRequest } from './unsigned-cancels.ts';

/** The single actions, each with its own response. */
export type ControlAction = 'create' | 'replace' | 'cancel' | 'amend' | 'quotes';

interface JsonHead {
  readonly version: 0 | 1;
  /** Null on v0 and when the request has none. */
  readonly requestId: string | null;
  /** A short request: what is refused before the rules of order, account and market is an error; false unless given. */
  readonly isShort?: boolean;
}

/** Of FlatBuffers (binary-frame.ts). */
interface BinaryHead {
  readonly version: 'binary';
  /** 0 when the request has none. */
  readonly requestId: bigint;
}

/** The form of a frame with the id of its request: the address of its replies. */
export type FrameHead = JsonHead | BinaryHead;

export type ControlBody =
  | { readonly kind: 'create'; readonly request: CreateRequest }
  | { readonly kind: 'replace'; readonly request: ReplaceRequest }
  | { readonly kind: 'cancel'; readonly request: CancelRequest }
  | { readonly kind: 'amend'; readonly request: AmendRequest }
  | { readonly kind: 'quotes'; readonly request: QuoteSetRequest }
  | { readonly kind: 'batch-create'; readonly batch: OrderBatch<CreateRequest> }
  | { readonly kind: 'batch-replace'; readonly batch: OrderBatch<ReplaceRequest> }
  | UnsignedRequest;

export interface MalformedBody {
  readonly kind: 'malformed';
  readonly reject: Reject;
  /** The orders that a reply can identify; empty if none was found. */
  readonly correlations: readonly Correlation[];
  /** Whether every order of the frame is among them; otherwise an error frame must be sent as well. */
  readonly isAllFound: boolean;
  /** Of a short request: the member at fault from the tag on, if one is; null unless given. */
  readonly path?: string | null;
}

export interface Correlation {
  readonly action: ControlAction;
  /** Of a quote set its id. */
  readonly orderId: string;
  /** Of a quote set that was read. */
  readonly revisionNs?: TimestampNs;
  /** As received: the reply repeats it exactly. */
  readonly assetText: string;
}

export type MalformedFrame = JsonHead & MalformedBody;
export type JsonFrame = JsonHead & (ControlBody | MalformedBody);
export type BinaryFrame = BinaryHead & (ControlBody | MalformedBody);
export type ControlFrame = JsonFrame | BinaryFrame;

export const REQUEST_ID_MAX = 256;
const SHORT_REQUEST_ID_MAX = 64;
const TAGS = [
  'CreateOrderRequest',
  'CancelOrderRequest',
  'ReplaceOrderRequest',
  'BatchCreateRequest',
  'BatchReplaceRequest',
  'AmendOrderRequest',
  'QuoteSetRequest',
  'CancelAllRequest',
  'CancelBatchRequest',
  'CancelAllAfterRequest',
] as const;
export type Tag = (typeof TAGS)[number];
export const TAGGED: ObjectShape<Tag> = choiceShape(TAGS);
type EnvelopeMember = 'type' | 'channel' | 'request_id' | 'data' | 'timestamp_ns' | 'error';
/** Both versions in one shape. The envelope's other two members are accepted, because a client may mirror a reply. */
export const FRAME: ObjectShape<Tag | EnvelopeMember> = objectShape('refuse', [
  'CreateOrderRequest?',
  'CancelOrderRequest?',
  'ReplaceOrderRequest?',
  'BatchCreateRequest?',
  'BatchReplaceRequest?',
  'AmendOrderRequest?',
  'QuoteSetRequest?',
  'CancelAllRequest?',
  'CancelBatchRequest?',
  'CancelAllAfterRequest?',
  'type?',
  'channel?',
  'request_id?',
  'data?',
  'timestamp_ns?',
  'error?',
]);

export const LONG_ACTION: Reject = reject(
  'PAYLOAD_TOO_LARGE',
  `a frame of one action has at most ${ACTION_BYTES_MAX} bytes`,
);
const NO_REQUEST = { version: 0, requestId: null, correlations: [], isAllFound: false } as const;

const frameCursor = new JsonCursor();

/**
 * Decodes the frame in bytes[start … end), of at most BODY_BYTES_MAX bytes. Never throws; an unreadable frame is `malformed`.
 *
 * @param takesShort whether it came on a v1 socket.
 */
export function decodeControlFrame(bytes: Uint8Array, start: number, end: number, takesShort = false): JsonFrame {
  const length = end - start;
  const cursor = frameCursor;
  cursor.reset(bytes, start, end);
  const frame = readFrame(cursor, length > ACTION_BYTES_MAX, takesShort);
  if (cursor.finish() && frame !== null) return frame;
  const fault = cursor.reject();
  const path = cursor.path();
  const text = bytes.subarray(start, end);
  const tree = length > SALVAGED_BYTES_MAX ? null : parseJson(text, { fractions: 'text' });
  // mutant: short-unparsed
  if (tree?.ok !== true) {
    const head = takesShort ? headOfShort(text) : null;
    const short = head === null ? {} : { ...head, path: belowData(path) };
    return { kind: 'malformed', reject: fault, ...NO_REQUEST, ...short };
  }
  return salvage(tree.value, fault, takesShort ? path : undefined);
}

/** @param isLong whether it exceeds the limit of a single action. @returns null exactly when the cursor has failed. */
function readFrame(cursor: JsonCursor, isLong: boolean, takesShort: boolean): JsonFrame | null {
  let body: ControlBody | null = null;
  let requestId: string | null = null;
  let tags = 0;
  let envelopeMembers = 0;
  let hasType = false;
  let hasChannel = false;
  let stranger: string | null = null;
  cursor.enterObject();
  for (let name = cursor.nextMember(FRAME); name !== null; name = cursor.nextMember(FRAME)) {
    if (isTag(name)) {
      tags += 1;
      body = readBody(cursor, name, isLong);
      continue;
    }
    envelopeMembers += 1;
    if (name === 'data') body = readData(cursor, isLong);
    else if (name === 'type') hasType = readExactly(cursor, 'request');
    else if (name === 'channel') hasChannel = readExactly(cursor, 'control');
    else if (name === 'request_id') requestId = cursor.readNull() ? null : cursor.readString(REQUEST_ID_MAX);
    else {
      stranger = name;
      cursor.skipValue();
    }
  }
  if (tags + (envelopeMembers > 0 ? 1 : 0) !== 1) cursor.fail('expected exactly one request', null);
  const isShort = takesShort && tags === 0 && !(hasType && hasChannel);
  if (isShort) checkShort(cursor, requestId, stranger, hasType ? 'channel' : hasChannel ? 'type' : null);
  else if (tags === 0 && !hasType) cursor.fail('a missing member', 'type');
  if (body === null) cursor.fail('a missing member', 'data');
  if (cursor.hasFailed || body === null) return null;
  if (isShort) return { version: 1, requestId, isShort, ...body };
  return { version: tags === 1 ? 0 : 1, requestId, ...body };
}

/** @param missing the one of `type` and `channel` that is not there, if the other is. */
function checkShort(
  cursor: JsonCursor,
  requestId: string | null,
  stranger: string | null,
  missing: string | null,
): void {
  if (missing !== null) cursor.fail('`type` and `channel` are both given, or neither', missing);
  if (stranger !== null) cursor.fail('an unknown member', stranger);
  // mutant: short-request-id
  if (requestId === null || requestId === '' || isLongerThan(requestId, SHORT_REQUEST_ID_MAX)) {
    cursor.fail(`expected a string of 1 to ${SHORT_REQUEST_ID_MAX} characters`, 'request_id');
  }
}

/** Whether it has more characters, those beyond the basic plane counted once. */
function isLongerThan(text: string, most: number): boolean {
  return text.length > most && (text.length > 2 * most || [...text].length > most);
}

export function isTag(name: string): name is Tag {
  return TAGGED.indexOf.has(name);
}

function readData(cursor: JsonCursor, isLong: boolean): ControlBody | null {
  let body: ControlBody | null = null;
  cursor.enterObject();
  for (let tag = cursor.nextMember(TAGGED); tag !== null; tag = cursor.nextMember(TAGGED)) {
    body = readBody(cursor, tag, isLong);
  }
  return body;
}

function readExactly(cursor: JsonCursor, word: string): boolean {
  if (cursor.readString(REQUEST_ID_MAX) !== word) cursor.fail(`expected "${word}"`);
  return true;
}

/** @returns null exactly when the cursor has failed. */
function readBody(cursor: JsonCursor, tag: Tag, isLong: boolean): ControlBody | null {
  if (isLong && tag !== 'BatchCreateRequest' && tag !== 'BatchReplaceRequest') cursor.refuse(LONG_ACTION);
  switch (tag) {
    case 'CreateOrderRequest': {
      const request = readCreate(cursor);
      return request === null ? null : { kind: 'create', request };
    }
    case 'ReplaceOrderRequest': {
      const request = readReplace(cursor);
      return request === null ? null : { kind: 'replace', request };
    }
    case 'CancelOrderRequest': {
      const request = readCancel(cursor);
      return request === null ? null : { kind: 'cancel', request };
    }
    case 'AmendOrderRequest': {
      const request = readAmend(cursor);
      return request === null ? null : { kind: 'amend', request };
    }
    case 'QuoteSetRequest': {
      const request = readQuoteSet(cursor);
      return request === null ? null : { kind: 'quotes', request };
    }
    case 'CancelAllRequest':
    case 'CancelBatchRequest':
    case 'CancelAllAfterRequest':
      return readUnsigned(cursor, tag);
    case 'BatchCreateRequest': {
      const batch = readBatchCreate(cursor);
      return batch === null ? null : { kind: 'batch-create', batch };
    }
    case 'BatchReplaceRequest': {
      const batch = readBatchReplace(cursor);
      return batch === null ? null : { kind: 'batch-replace', batch };
    }
  }
}

// ---- the cold path: correlation of malformed frames

/** For each action the members that identify its reply, and the members that contain its batches. */
const CORRELATED: readonly {
  readonly tag: Tag;
  readonly action: ControlAction;
  readonly orderId: readonly string[];
  readonly asset: readonly string[];
  /** Where the asset is in another form of the request. */
  readonly inner?: readonly string[];
  readonly batch: { readonly tag: Tag; readonly lists: readonly string[] } | null;
}[] = [
  {
    tag: 'CreateOrderRequest',
    action: 'create',
    orderId: ['order', 'order_id'],
    asset: ['order', 'base_asset'],
    batch: { tag: 'BatchCreateRequest', lists: CREATE_LISTS },
  },
  {
    tag: 'ReplaceOrderRequest',
    action: 'replace',
    orderId: ['request', 'order_id'],
    asset: ['asset_id'],
    inner: ['request', 'base_asset'],
    batch: { tag: 'BatchReplaceRequest', lists: REPLACE_LISTS },
  },
  {
    tag: 'CancelOrderRequest',
    action: 'cancel',
    orderId: ['cancel', 'order_id'],
    asset: ['cancel', 'asset_id'],
    batch: null,
  },
  {
    tag: 'AmendOrderRequest',
    action: 'amend',
    orderId: ['request', 'order_id'],
    asset: ['request', 'base_asset'],
    batch: null,
  },
  {
    tag: 'QuoteSetRequest',
    action: 'quotes',
    orderId: ['quotes', 'set_id'],
    asset: ['quotes', 'base_asset'],
    batch: null,
  },
];

/**
 * The head of a text that is no JSON or too long to be parsed again; null when it is no short request, has no request id or
 * several, or is too broken to say.
 */
function headOfShort(text: Uint8Array): JsonHead | null {
  const members = outerMembers(text, 0, text.length, FRAME.names.length);
  const idAt = members?.get('request_id');
  if (members === null || idAt === undefined || idAt < 0 || !isShortRequest([...members.keys()])) return null;
  const cursor = frameCursor;
  cursor.reset(text, idAt, text.length);
  const requestId = cursor.readString(REQUEST_ID_MAX);
  return cursor.hasFailed ? null : { version: 1, requestId, isShort: true };
}

/** @param path of the fault; undefined: no short request is taken. */
function salvage(root: JsonValue, fault: Reject, path: string | null | undefined): MalformedFrame {
  const data = at(root, ['data']);
  const id = at(root, ['request_id']);
  const requestId = typeof id === 'string' && id.length <= REQUEST_ID_MAX ? id : null;
  if (path !== undefined && isJsonObject(root) && isShortRequest([...root.keys()])) {
    return malformedShort(data, requestId, fault, path);
  }
  const version = data === undefined && id === undefined && at(root, ['type']) === undefined ? 0 : 1;
  return { kind: 'malformed', version, requestId, reject: fault, ...found(version === 0 ? root : data) };
}

/** What is neither a raw wrapper nor the full form. @param names of its members. */
function isShortRequest(names: readonly string[]): boolean {
  return !names.some(isTag) && !(names.includes('type') && names.includes('channel'));
}

/** The path from the tag on. */
function belowData(path: string | null): string | null {
  return path?.startsWith('data.') === true ? path.slice('data.'.length) : path;
}

/** Of its orders the only one is kept, or that of the item at fault. */
function malformedShort(
  data: JsonValue | undefined,
  requestId: string | null,
  fault: Reject,
  path: string | null,
): MalformedFrame {
  const below = belowData(path);
  return {
    ...{ kind: 'malformed', version: 1, requestId, isShort: true, reject: fault, isAllFound: false, path: below },
    correlations: namedAtFault(data, below),
  };
}

/** The order of the request, or of the item that the path leads into; none where its id cannot be repeated. */
function namedAtFault(data: JsonValue | undefined, path: string | null): readonly Correlation[] {
  const index = /^[A-Za-z]+(?:\.[a-z]+)?\[(\d{1,3})\]/.exec(path ?? '')?.[1];
  for (const { tag, action, orderId, batch } of CORRELATED) {
    const list = batch === null ? [] : itemsOf(at(data, [batch.tag]), batch.lists);
    const id = at(index === undefined ? at(data, [tag]) : list[Number(index)], orderId);
    if (isEchoable(id)) return [{ action, orderId: id, assetText: '' }];
  }
  return [];
}

/** The orders of a malformed request. A list that no batch may have is not correlated item by item. */
function found(body: JsonValue | undefined): Pick<MalformedFrame, 'correlations' | 'isAllFound'> {
  for (const { tag, action, orderId, asset, inner = asset, batch } of CORRELATED) {
    const items = [at(body, [tag]), ...(batch === null ? [] : itemsOf(at(body, [batch.tag]), batch.lists))];
    const correlations: Correlation[] = [];
    for (const item of items) {
      const id = at(item, orderId);
      const assetText = at(item, asset) ?? at(item, inner);
      if (isEchoable(id) && isEchoable(assetText)) correlations.push({ action, orderId: id, assetText });
    }
    const asked = items.filter((item) => item !== undefined).length;
    if (correlations.length > 0) return { correlations, isAllFound: correlations.length === asked };
  }
  return { correlations: [], isAllFound: false };
}

function itemsOf(batch: JsonValue | undefined, lists: readonly string[]): readonly JsonValue[] {
  const candidates = [batch, ...lists.map((list) => at(batch, [list]))];
  const list = candidates.find((candidate) => Array.isArray(candidate));
  return Array.isArray(list) && list.length <= BATCH_ITEMS_MAX ? list : [];
}

function isEchoable(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.length <= STRING_DECODED_MAX;
}

function at(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let node = value;
  for (const name of path) {
    if (!isJsonObject(node)) return undefined;
    node = node.get(name);
  }
  return node;
}
