/**
 * A text frame that a client sends on `/control` (wire.md 10.1, 10.3, CTL-01 to CTL-03).
 *
 *   v0   {"CreateOrderRequest":{…}}                       exactly one tag
 *   v1   {"type":"request","channel":"control","request_id":"r-1","data":{"CreateOrderRequest":{…}}}
 *
 * A frame tells its version by its own shape: on a v1 socket the bare v0 form is legal too.
 *
 * A client finds its answer by tag, asset and order id, so a frame that is well-formed JSON but broken in shape still
 * yields them where they can be found; then the caller answers `Rejected` in the correlated shape (wire.md 10.2).
 */
import type { Reject } from '../core/reject.ts';
import { JsonCursor } from './json-cursor.ts';
import { choiceShape, objectShape } from './json-shape.ts';
import { isJsonObject, type JsonValue, parseJson } from './json-tree.ts';
import { type CancelRequest, readCancel } from './signed-cancel.ts';
import { type CreateRequest, readCreate } from './signed-order.ts';
import { type ReplaceRequest, readReplace } from './signed-replace.ts';
import { STRING_DECODED_MAX } from './signed-text.ts';

/** The single actions, which have a response of their own. */
export type ControlAction = 'create' | 'replace' | 'cancel';

interface FrameHead {
  readonly version: 0 | 1;
  /** Null on v0 and when none was given. */
  readonly requestId: string | null;
}

type ControlBody =
  | { readonly kind: 'create'; readonly request: CreateRequest }
  | { readonly kind: 'replace'; readonly request: ReplaceRequest }
  | { readonly kind: 'cancel'; readonly request: CancelRequest }
  | { readonly kind: 'batch-create' | 'batch-replace' };

export interface MalformedFrame extends FrameHead {
  readonly kind: 'malformed';
  readonly reject: Reject;
  /** What a correlated answer needs, or null when it cannot be found. */
  readonly correlation: Correlation | null;
}

export interface Correlation {
  readonly action: ControlAction;
  readonly orderId: string;
  /** As received: the answer repeats it letter by letter. */
  readonly assetText: string;
}

export type ControlFrame = (FrameHead & ControlBody) | MalformedFrame;

const REQUEST_ID_MAX = 256;
const TAGS = [
  'CreateOrderRequest',
  'CancelOrderRequest',
  'ReplaceOrderRequest',
  'BatchCreateRequest',
  'BatchReplaceRequest',
] as const;
type Tag = (typeof TAGS)[number];
const TAGGED = choiceShape(TAGS);
/** Both versions in one shape. The envelope's other two members are tolerated, as a client may mirror a reply. */
const FRAME = objectShape('refuse', [
  'CreateOrderRequest?',
  'CancelOrderRequest?',
  'ReplaceOrderRequest?',
  'BatchCreateRequest?',
  'BatchReplaceRequest?',
  'type?',
  'channel?',
  'request_id?',
  'data?',
  'timestamp_ns?',
  'error?',
]);

const frameCursor = new JsonCursor();

/** The frame that is the whole of bytes[start … end). Never throws; what cannot be read is `malformed`. */
export function decodeControlFrame(bytes: Uint8Array, start: number, end: number): ControlFrame {
  const cursor = frameCursor;
  cursor.reset(bytes, start, end);
  const frame = readFrame(cursor);
  if (cursor.finish() && frame !== null) return frame;
  return salvage(bytes.subarray(start, end), cursor.reject());
}

/** @returns null exactly when the cursor has failed. */
function readFrame(cursor: JsonCursor): ControlFrame | null {
  let body: ControlBody | null = null;
  let requestId: string | null = null;
  let tags = 0;
  let envelopeMembers = 0;
  let hasType = false;
  cursor.enterObject();
  for (let name = cursor.nextMember(FRAME); name !== null; name = cursor.nextMember(FRAME)) {
    if (isTag(name)) {
      tags += 1;
      body = readBody(cursor, name);
      continue;
    }
    envelopeMembers += 1;
    if (name === 'data') body = readData(cursor);
    else if (name === 'type') hasType = readExactly(cursor, 'request');
    else if (name === 'channel') readExactly(cursor, 'control');
    else if (name === 'request_id') requestId = cursor.readNull() ? null : cursor.readString(REQUEST_ID_MAX);
    else cursor.skipValue();
  }
  if (tags + (envelopeMembers > 0 ? 1 : 0) !== 1) cursor.fail('expected exactly one request', null);
  if (tags === 0 && !hasType) cursor.fail('a missing member', 'type');
  if (body === null) cursor.fail('a missing member', 'data');
  if (cursor.hasFailed || body === null) return null;
  return { version: tags === 1 ? 0 : 1, requestId, ...body };
}

function isTag(name: string): name is Tag {
  return TAGGED.indexOf.has(name);
}

function readData(cursor: JsonCursor): ControlBody | null {
  let body: ControlBody | null = null;
  cursor.enterObject();
  for (let tag = cursor.nextMember(TAGGED); tag !== null; tag = cursor.nextMember(TAGGED)) body = readBody(cursor, tag);
  return body;
}

function readExactly(cursor: JsonCursor, word: string): boolean {
  if (cursor.readString(REQUEST_ID_MAX) !== word) cursor.fail(`expected "${word}"`);
  return true;
}

/** @returns null exactly when the cursor has failed. */
function readBody(cursor: JsonCursor, tag: Tag): ControlBody | null {
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
    case 'BatchCreateRequest':
      cursor.skipValue();
      return { kind: 'batch-create' };
    case 'BatchReplaceRequest':
      cursor.skipValue();
      return { kind: 'batch-replace' };
  }
}

// ---- the cold path: whom to answer

/** Where each action keeps what its answer is correlated by. */
const CORRELATED: readonly {
  readonly tag: Tag;
  readonly action: ControlAction;
  readonly orderId: readonly string[];
  readonly asset: readonly string[];
}[] = [
  { tag: 'CreateOrderRequest', action: 'create', orderId: ['order', 'order_id'], asset: ['order', 'base_asset'] },
  { tag: 'ReplaceOrderRequest', action: 'replace', orderId: ['request', 'order_id'], asset: ['asset_id'] },
  { tag: 'CancelOrderRequest', action: 'cancel', orderId: ['cancel', 'order_id'], asset: ['cancel', 'asset_id'] },
];

function salvage(text: Uint8Array, fault: Reject): MalformedFrame {
  const tree = parseJson(text, { fractions: 'text' });
  const root = tree.ok ? tree.value : null;
  const data = at(root, ['data']);
  const requestId = at(root, ['request_id']);
  const version = data === undefined && requestId === undefined && at(root, ['type']) === undefined ? 0 : 1;
  return {
    kind: 'malformed',
    version,
    requestId: typeof requestId === 'string' && requestId.length <= REQUEST_ID_MAX ? requestId : null,
    reject: fault,
    correlation: correlationOf(version === 0 ? root : data),
  };
}

function correlationOf(body: JsonValue | undefined): Correlation | null {
  for (const { tag, action, orderId, asset } of CORRELATED) {
    const id = at(body, [tag, ...orderId]);
    const assetText = at(body, [tag, ...asset]);
    if (isEchoable(id) && isEchoable(assetText)) return { action, orderId: id, assetText };
  }
  return null;
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
