/** Frozen judge: how unsigned bodies were read over a tree, before readers were built from their shapes. */
import { parseJson } from '../../src/codec/json-tree.ts';
import { RENAME_REQUEST, SIMULATE_REQUEST } from '../../src/codec/shapes/account-shapes.ts';
import { CANCEL_ALL_AFTER_REQUEST, CANCEL_BATCH_REQUEST } from '../../src/codec/shapes/order-shapes.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import { MARKET_REQUEST } from '../../src/codec/shapes/registry-shapes.ts';
import type { Shape } from '../../src/codec/shapes/shape-kit.ts';
import type { SpelledAsset } from '../../src/codec/signed-text.ts';
import { PENDING_TRANSFERS_MAX, type SimulateRequest } from '../../src/codec/simulate-request.ts';

import { must } from '../../src/core/assert.ts';
import { type AssetId, parseAssetId, parseOrderId } from '../../src/core/ids.ts';
import { COLD_VALUES_MAX, DEAD_MAN_MS_MAX, DEAD_MAN_MS_MIN } from '../../src/core/limits.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../src/core/outcome.ts';
import { reject } from '../../src/core/reject.ts';
import type { Amount18 } from '../../src/core/units.ts';

interface SimulateBody {
  readonly sub_account: number;
  readonly trade: {
    readonly asset: string;
    readonly is_buy: boolean;
    readonly size: string;
    readonly limit_price?: string | null;
    readonly trade_type?: 'margin' | 'spot';
  };
  readonly pending_transfers?: readonly { readonly asset: string; readonly amount: string }[];
}

type CancelBatchBody = { readonly order_ids: readonly string[]; readonly asset_id?: string | null } | readonly string[];

/**
 * Reads one JSON text.
 *
 * @returns INVALID_REQUEST with the invalid member.
 */
export function readShape<T>(shape: Shape, text: Uint8Array): Outcome<T> {
  const tree = parseJson(text, { fractions: 'text', valuesMax: COLD_VALUES_MAX });
  return tree.ok ? (checkShape(shape, tree.value) as Outcome<T>) : tree;
}

const AMOUNT_MAX = (1n << 127n) - 1n;

export function decodeSimulateRequest(body: Uint8Array): Outcome<SimulateRequest> {
  const read = readShape<SimulateBody>(SIMULATE_REQUEST, body);
  if (!read.ok) return read;
  const { sub_account: subAccount, trade, pending_transfers: pending = [] } = read.value;
  const asset = parseAssetId(trade.asset);
  const size = BigInt(trade.size);
  const price = trade.limit_price === undefined || trade.limit_price === null ? 0n : BigInt(trade.limit_price);
  if (asset === null) return invalid('asset', 'an asset id is expected');
  if (size === 0n || size > AMOUNT_MAX) return invalid('size', 'a size above zero that an account can hold');
  if (price > AMOUNT_MAX) return invalid('limit_price', 'out of range');
  const transfers = transfersOf(pending);
  if (!transfers.ok) return transfers;
  return accepted({
    subAccount,
    asset,
    side: trade.is_buy ? SIDE.buy : SIDE.sell,
    isSpot: trade.trade_type === 'spot',
    size: size as Amount18,
    price: price === 0n ? null : (price as Amount18),
    transfers: transfers.value,
  });
}

function transfersOf(pending: NonNullable<SimulateBody['pending_transfers']>): Outcome<SimulateRequest['transfers']> {
  if (pending.length > PENDING_TRANSFERS_MAX) return invalid('pending_transfers', `at most ${PENDING_TRANSFERS_MAX}`);
  const transfers: { readonly asset: AssetId; readonly amount: bigint }[] = [];
  for (const given of pending) {
    const asset = parseAssetId(given.asset);
    const amount = BigInt(given.amount);
    if (asset === null) return invalid('pending_transfers', 'an asset id is expected');
    if (amount > AMOUNT_MAX || amount < -AMOUNT_MAX) {
      return invalid('pending_transfers', 'out of range');
    }
    transfers.push({ asset, amount });
  }
  return accepted(transfers);
}

function invalid(field: string, message: string): { readonly ok: false; readonly reject: ReturnType<typeof reject> } {
  return rejected(reject('INVALID_REQUEST', message, field));
}

// `POST /orders/cancel-all-after` (docs/safety.md): `{"timeout_ms":60000}` starts the user's dead-man timer, 0 ends it.

const BAD_TIMEOUT = reject(
  'INVALID_REQUEST',
  `timeout_ms is 0 or an integer from ${DEAD_MAN_MS_MIN} to ${DEAD_MAN_MS_MAX}`,
  'timeout_ms',
);

/** @returns milliseconds: 0, or from DEAD_MAN_MS_MIN to DEAD_MAN_MS_MAX; INVALID_REQUEST with the field. */
export function decodeCancelAllAfter(body: Uint8Array): Outcome<number> {
  const read = readShape<{ readonly timeout_ms: number }>(CANCEL_ALL_AFTER_REQUEST, body);
  if (!read.ok) return read;
  const timeoutMs = read.value.timeout_ms;
  return timeoutMs !== 0 && timeoutMs < DEAD_MAN_MS_MIN ? rejected(BAD_TIMEOUT) : accepted(timeoutMs);
}

export function decodeCancelBatch(body: Uint8Array): Outcome<object> {
  const read = readShape<CancelBatchBody>(CANCEL_BATCH_REQUEST, body);
  if (!read.ok) return read;
  const texts = isList(read.value) ? read.value : read.value.order_ids;
  const asset = isList(read.value) ? null : (read.value.asset_id ?? null);
  return accepted({
    asked: texts.length,
    orderIds: [...new Set(texts)].map(parseOrderId).filter((id) => id !== null),
    assetId: asset === null ? null : parseAssetId(asset),
  });
}

function isList(body: CancelBatchBody): body is readonly string[] {
  return Array.isArray(body);
}

/**
 * `{"assets":[…]}` of `POST /registry/decimals` and its update: asset ids in any accepted spelling, kept as received,
 * because the reply repeats them.
 */
export function decodeAssetList(body: Uint8Array, shape: Shape): Outcome<readonly SpelledAsset[]> {
  const list = readShape<{ readonly assets: readonly string[] }>(shape, body);
  return list.ok ? accepted(list.value.assets.map((text) => ({ id: assetOf(text), text }))) : list;
}

/** `{"asset_id":"12"}` of `POST /market/create`. */
export function decodeMarketAsset(body: Uint8Array): Outcome<AssetId> {
  const request = readShape<{ readonly asset_id: string }>(MARKET_REQUEST, body);
  return request.ok ? accepted(assetOf(request.value.asset_id)) : request;
}

function assetOf(text: string): AssetId {
  return must(parseAssetId(text), 'the shape admits nothing but asset ids');
}

export function decodeRename(body: Uint8Array): Outcome<string> {
  const request = readShape<{ readonly name: string }>(RENAME_REQUEST, body);
  return request.ok ? accepted(request.value.name) : request;
}
