/**
 * Test hooks that inject an order or a fill that no client could send (operator-api.md 7.3 `inject_order`,
 * `inject_fill`): an order bypasses the gateway's checks, a fill the market's matching. Clearing still checks
 * everything (FIL-09 to FIL-11).
 */
import type { Reply } from '../clearing/inputs.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';
import { type CreateRequest, decodeCreate } from '../codec/order-actions.ts';
import { type AssetId, type OrderId, parseAssetId, parseOrderId, parseUserId, USD, type UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { isOfOtherUnit, OTHER_UNIT_TEXT } from '../core/units.ts';
import { SKIPPED_CHECKS, type SkippedCheck } from '../gateway/orders/entry/pending-requests.ts';
import type { OrderToFill } from '../order/fill-injection.ts';
import { BodyReader } from './body-reader.ts';
import { seenByAll } from './operator-change.ts';
import type { OpsParts } from './ops-parts.ts';

const RAW = { min: 1, max: Number.MAX_SAFE_INTEGER };
const NS_MAX = (1n << 63n) - 1n;
const ORDER_NOT_FOUND: Reject = reject('ORDER_NOT_FOUND', 'there is no such live order');

/** @returns the reject of the gateway or the market, otherwise an empty reply. */
export async function injectOrder(parts: OpsParts, value: unknown): Promise<Reply> {
  const reader = new BodyReader(value, ['kind', 'wrapper', 'skip'], 'fault.');
  const wrapper = reader.raw('wrapper');
  if (wrapper === undefined) reader.fail('wrapper', 'a create wrapper is expected');
  const skips = readSkips(reader);
  if (reader.failure !== null) return reader.failure;
  const request = readWrapper(wrapper);
  if (!request.ok) return request;
  const refusal = await new Promise<Reject | null>((resolve) => {
    parts.gateway.entry.inject(request.value, skips, (answer) => resolve(answer.refusal));
  });
  await seenByAll(parts);
  return refusal === null ? accepted({}) : rejected(refusal);
}

function readSkips(reader: BodyReader): ReadonlySet<SkippedCheck> {
  const words = reader.list('skip', []);
  const known = words.filter((word): word is SkippedCheck => SKIPPED_CHECKS.some((check) => check === word));
  if (known.length < words.length) reader.fail('skip', `a list of ${SKIPPED_CHECKS.join(', ')} is expected`);
  return new Set(known);
}

/** The body was parsed strictly, so serializing it again yields the wrapper that was sent. */
function readWrapper(wrapper: unknown): Outcome<CreateRequest> {
  const bytes = Buffer.from(writeJson(wrapper as JsonWritable));
  return decodeCreate(bytes, 0, bytes.length);
}

export async function injectFill(parts: OpsParts, value: unknown): Promise<Reply> {
  const names = ['kind', 'asset_id', 'maker', 'taker', 'price', 'quantity', 'matched_at_ns'];
  const reader = new BodyReader(value, names, 'fault.');
  const asset = reader.form('asset_id', parseAssetId, 'an asset id is', undefined, USD);
  const maker = readOrder(reader, 'maker');
  const taker = readOrder(reader, 'taker');
  const price = reader.integer('price', RAW, undefined);
  const quantity = reader.integer('quantity', RAW, undefined);
  const matchedNs = readInstant(reader);
  if (reader.failure !== null) return reader.failure;
  const market = parts.gateway.registry.rows().definitions.get(asset);
  if (market === undefined) return rejected(reject('MARKET_NOT_FOUND', `there is no market of asset ${asset}`));
  const isLive = (order: OrderToFill): boolean => isOpen(parts, asset, order);
  if (!isLive(maker) || !isLive(taker)) return rejected(ORDER_NOT_FOUND);
  const { marketIndex } = market;
  const refusal = parts.gateway.entry.injectFill({ marketIndex, maker, taker, price, quantity, matchedNs });
  await seenByAll(parts);
  return refusal === null ? accepted({}) : rejected(refusal);
}

function readOrder(reader: BodyReader, name: 'maker' | 'taker'): OrderToFill {
  const order = new BodyReader(reader.raw(name), ['user_id', 'order_id'], `fault.${name}.`);
  const user = order.form('user_id', parseUserId, 'a user id is', undefined, '' as UserId);
  const orderId = order.form('order_id', parseOrderId, 'an order id is', undefined, '' as OrderId);
  if (order.failure !== null) reader.keep(order.failure.reject);
  return { user, orderId };
}

/** The match time of the injected fill; null: now. */
function readInstant(reader: BodyReader): bigint | null {
  const value = reader.raw('matched_at_ns');
  if (value === undefined) return null;
  if (typeof value !== 'bigint' || value < 0n || value > NS_MAX) {
    reader.fail('matched_at_ns', 'an integer of nanoseconds is expected');
  } else if (isOfOtherUnit(value)) reader.fail('matched_at_ns', `matched_at_ns ${OTHER_UNIT_TEXT}`);
  else return value;
  return null;
}

function isOpen(parts: OpsParts, asset: AssetId, { user, orderId }: OrderToFill): boolean {
  const record = parts.gateway.queries.order(user, asset, orderId);
  return record.ok && OPEN.has(record.value.status);
}

const OPEN: ReadonlySet<string> = new Set(['Open', 'PartiallyFilled']);
