/**
 * Test hooks that inject an order or a fill that no client could send (operator-api.md 7.3 `inject_order`,
 * `inject_fill`): an order bypasses the gateway's checks, a fill the market's matching. Clearing still checks
 * everything (FIL-09 to FIL-11).
 */
import type { ActionReply } from '../clearing/inputs.ts';
import { type JsonWritable, writeJson } from '../codec/json-writer.ts';
import { decodeCreate } from '../codec/order-actions.ts';
import { CREATE_REQUEST } from '../codec/shapes/order-shapes.ts';
import { defaulted, inside, optional, type Shape, words } from '../codec/shapes/shape-kit.ts';
import type { AssetId } from '../core/ids.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { SKIPPED_CHECKS } from '../gateway/orders/entry/pending-requests.ts';
import type { OrderToFill } from '../order/fill-injection.ts';
import { readBody } from './body-reader.ts';
import { ASSET, BODY_INSTANT, body, integer, list, ORDER, parsed, USER } from './body-shapes.ts';
import { seenByAll } from './operator-change.ts';
import type { OpsParts } from './ops-parts.ts';

const RAW = integer(1, Number.MAX_SAFE_INTEGER);
/** Read as a request to create an order is: the body was parsed strictly, so its text is what was sent. */
const WRAPPER = parsed(CREATE_REQUEST, (value) => ({ text: writeJson(value as JsonWritable) }), 'a create wrapper');
const ORDER_TO_FILL = body({ user_id: inside('user', USER), order_id: inside('orderId', ORDER) });

const INJECT_ORDER = body({
  kind: words('inject_order'),
  wrapper: WRAPPER,
  skip: defaulted(list(words(...SKIPPED_CHECKS)), []),
});
const INJECT_FILL = body({
  kind: words('inject_fill'),
  asset_id: inside('asset', ASSET),
  maker: ORDER_TO_FILL,
  taker: ORDER_TO_FILL,
  price: RAW,
  quantity: RAW,
  /** Now, where it is left out. */
  matched_at_ns: inside('matchedNs', optional({ ...BODY_INSTANT, maximum: (1n << 63n) - 1n } as Shape<bigint>)),
});

const ORDER_NOT_FOUND: Reject = reject('ORDER_NOT_FOUND', 'there is no such live order');

/** @returns the reject of the gateway or the market, otherwise an empty reply. */
export async function injectOrder(parts: OpsParts, value: unknown): Promise<ActionReply> {
  const read = readBody(INJECT_ORDER, value, 'fault');
  if (!read.ok) return read;
  const skips = new Set(read.value.skip);
  const bytes = Buffer.from(read.value.wrapper.text);
  const request = decodeCreate(bytes, 0, bytes.length);
  if (!request.ok) return request;
  const refusal = await new Promise<Reject | null>((resolve) => {
    parts.gateway.entry.inject(request.value, skips, (answer) => resolve(answer.refusal));
  });
  await seenByAll(parts);
  return refusal === null ? accepted({}) : rejected(refusal);
}

export async function injectFill(parts: OpsParts, value: unknown): Promise<ActionReply> {
  const read = readBody(INJECT_FILL, value, 'fault');
  if (!read.ok) return read;
  const { asset, maker, taker, price, quantity, matchedNs = null } = read.value;
  const market = parts.gateway.registry.rows().definitions.get(asset);
  if (market === undefined) return rejected(reject('MARKET_NOT_FOUND', `there is no market of asset ${asset}`));
  const isLive = (order: OrderToFill): boolean => isOpen(parts, asset, order);
  if (!isLive(maker) || !isLive(taker)) return rejected(ORDER_NOT_FOUND);
  const { marketIndex } = market;
  const refusal = parts.gateway.entry.injectFill({ marketIndex, maker, taker, price, quantity, matchedNs });
  await seenByAll(parts);
  return refusal === null ? accepted({}) : rejected(refusal);
}

function isOpen(parts: OpsParts, asset: AssetId, { user, orderId }: OrderToFill): boolean {
  const record = parts.gateway.queries.order(user, asset, orderId);
  return record.ok && OPEN.has(record.value.status);
}

const OPEN: ReadonlySet<string> = new Set(['Open', 'PartiallyFilled']);

/** The shapes of these bodies, for documents. */
export const INJECT_BODIES: Readonly<Record<'order' | 'fill', Shape>> = {
  order: INJECT_ORDER,
  fill: INJECT_FILL,
};
