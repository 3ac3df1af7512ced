/** The body of `POST /account/simulate/{user_id}` (wire.md 7.16, G12): integers of 18 decimals as strings. */
import { type AssetId, parseAssetId } from '../core/ids.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { Amount18 } from '../core/units.ts';
import { SIMULATE_REQUEST, type SimulateBody } from './shapes/account-shapes.ts';
import { readShape } from './shapes/read-shape.ts';

export interface SimulateRequest {
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly side: Side;
  readonly isSpot: boolean;
  /** Greater than zero. */
  readonly size: Amount18;
  /** USD per unit; null for a trade at the market's price. */
  readonly price: Amount18 | null;
  /** Negative for withdrawals. */
  readonly transfers: readonly { readonly asset: AssetId; readonly amount: bigint }[];
}

/** Maximum number of transfers of one simulation. */
export const PENDING_TRANSFERS_MAX = 100;
const AMOUNT_MAX = (1n << 127n) - 1n;

export function decodeSimulateRequest(body: Uint8Array): Outcome<SimulateRequest> {
  const read = readShape(SIMULATE_REQUEST, body);
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
