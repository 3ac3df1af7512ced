/**
 * What no bytes may do to the readers of client input, as one check of one input:
 *
 *   (1) none of them throws;
 *   (2) what a reader accepts, the lossless tree accepts, and JSON.parse too where it keeps every digit;
 *   (3) a signed text that a reader rebuilt equals that of the tree, member by member, letter by letter.
 *
 * The tree is read by code of its own, so the cursor's shapes and the tree must agree about every byte.
 */

import assert from 'node:assert/strict';
import { decodeAuth, decodeTransfer } from '../../src/codec/account-requests.ts';
import { decodeControlFrame } from '../../src/codec/control-frame.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../src/codec/json-tree.ts';
import {
  decodeAmend,
  decodeCancel,
  decodeCreate,
  decodeQuoteSet,
  decodeReplace,
} from '../../src/codec/order-actions.ts';
import { decodeProtection } from '../../src/codec/protection-bodies.ts';
import { decodeCancelAllAfter, decodeCancelBatch } from '../../src/codec/unsigned-cancels.ts';
import { ACTION_BYTES_MAX } from '../../src/core/limits.ts';
import { decodeClosePosition } from '../support/account-decoders.ts';

interface Reader {
  readonly name: string;
  /** The member of which the reader rebuilds the canonical text, or null. */
  readonly signed: string | null;
  read(bytes: Uint8Array): { readonly ok: boolean; readonly value?: object | number };
}

const READERS: readonly Reader[] = [
  { name: 'create', signed: 'order', read: (bytes) => decodeCreate(bytes, 0, bytes.length) },
  { name: 'replace', signed: 'request', read: (bytes) => decodeReplace(bytes, 0, bytes.length) },
  { name: 'cancel', signed: 'cancel', read: (bytes) => decodeCancel(bytes, 0, bytes.length) },
  { name: 'quotes', signed: 'quotes', read: (bytes) => decodeQuoteSet(bytes, 0, bytes.length) },
  { name: 'protection', signed: null, read: (bytes) => decodeProtection(bytes) },
  { name: 'cancel-all-after', signed: null, read: (bytes) => decodeCancelAllAfter(bytes) },
  { name: 'amend', signed: null, read: (bytes) => decodeAmend(bytes, 0, bytes.length) },
  { name: 'transfer', signed: 'inner', read: (bytes) => decodeTransfer(bytes, 0, bytes.length) },
  { name: 'close', signed: 'inner', read: (bytes) => decodeClosePosition(bytes, 0, bytes.length) },
  { name: 'auth', signed: null, read: (bytes) => decodeAuth(bytes, 0, bytes.length) },
  { name: 'cancel-batch', signed: null, read: (bytes) => decodeCancelBatch(bytes) },
];

/** Members that may be left out of a signed object: they are signed as null (SIG-08). */
const NULL_WHEN_ABSENT = new Set([
  'trigger',
  'parent_order_id',
  'max_sellable_amount',
  'max_sellable_quantity',
  'new_price_limit',
  'new_quantity',
  'new_trigger',
  'target_account_type',
  'protection_group',
  'good_until_timestamp_ns',
]);

/** @returns how many readers accepted. @throws when a promise of the header is broken. */
export function checkDecoders(bytes: Uint8Array): number {
  const tree = parseJson(bytes, { fractions: 'text' });
  if (tree.ok) assert.doesNotThrow(() => JSON.parse(Buffer.from(bytes).toString('utf8')), 'JSON.parse accepts it too');
  let accepted = 0;
  for (const { name, signed, read } of READERS) {
    const outcome = read(bytes);
    if (!outcome.ok) continue;
    accepted += 1;
    assert.ok(tree.ok, `${name}: what the reader accepts is JSON`);
    const text = signedBytesOf(outcome.value);
    if (signed === null || text.length === 0) continue;
    assert.ok(isJsonObject(tree.value), `${name}: a wrapper is an object`);
    sameText(Buffer.from(text).toString('latin1'), tree.value.get(signed), name);
  }
  for (const takesShort of [false, true]) checkFrame(bytes, takesShort, tree.ok ? tree.value : null);
  return accepted;
}

/** The canonical text of a request; none while it has a fault. */
function signedBytesOf(request: object | number | undefined): Uint8Array {
  if (typeof request !== 'object' || !('text' in request)) return new Uint8Array();
  return request.text instanceof Uint8Array ? request.text : new Uint8Array();
}

/** The frame names its order as the tree does, whether it is well-formed or not. */
function checkFrame(bytes: Uint8Array, takesShort: boolean, tree: JsonValue): void {
  const frame = decodeControlFrame(bytes, 0, bytes.length, takesShort);
  if (frame.kind === 'malformed') {
    assert.match(frame.reject.code, bytes.length > ACTION_BYTES_MAX ? /^INVALID_|^PAYLOAD_TOO_LARGE$/ : /^INVALID_/);
    return;
  }
  assert.ok(isJsonObject(tree), 'a frame is an object');
  const data = tree.get('data');
  const tagged = frame.version === 1 && isJsonObject(data) ? data : tree;
  assert.ok(
    [...tagged.keys()].some((tag) => tag.endsWith('Request')),
    'a frame has its tag',
  );
}

/** Text and tree agree: the text read again is the tree's object, absent members being null. */
function sameText(text: string, value: JsonValue | undefined, where: string): void {
  const again = parseJson(Buffer.from(text));
  assert.ok(again.ok, `${where}: a signed text is JSON`);
  assert.doesNotMatch(text, /[ \r\n]/, `${where}: holds none of the deleted bytes`);
  sameValue(again.value, value, where);
}

function sameValue(signed: JsonValue, received: JsonValue | undefined, where: string): void {
  if (isJsonObject(signed)) {
    assert.ok(isJsonObject(received), where);
    sameMembers(signed, received, where);
  } else assert.deepEqual(signed, received, where);
}

function sameMembers(signed: JsonObject, received: JsonObject, where: string): void {
  for (const name of received.keys()) assert.ok(signed.has(name), `${where}.${name} is signed`);
  for (const [name, value] of signed) {
    const given = received.get(name);
    if (given === undefined && NULL_WHEN_ABSENT.has(name)) assert.equal(value, null, `${where}.${name}`);
    else sameValue(value, given, `${where}.${name}`);
  }
}
