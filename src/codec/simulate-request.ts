/** The body of `POST /account/simulate/{user_id}` (wire.md 7.16, G12): integers of 18 decimals as strings. */
import type { AssetId } from '../core/ids.ts';
import { SIDE, type Side } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { Amount18 } from '../core/units.ts';
import { decodeShape } from './shape-reader.ts';
import { SIMULATE_REQUEST, type SimulateRead } from './shapes/account-shapes.ts';

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
  const read = decodeShape(SIMULATE_REQUEST, body);
  if (!read.ok) return read;
  const { subAccount, trade, pendingTransfers } = read.value;
  const size = BigInt(trade.size);
  const price = BigInt(trade.limitPrice ?? 0);
  if (size === 0n || size > AMOUNT_MAX) return invalid('size', 'a size above zero that an account can hold');
  if (price > AMOUNT_MAX) return invalid('limit_price', 'out of range');
  const transfers = transfersOf(pendingTransfers ?? []);
  if (!transfers.ok) return transfers;
  return accepted({
    subAccount,
    asset: trade.asset.id,
    side: trade.isBuy ? SIDE.buy : SIDE.sell,
    isSpot: trade.tradeType === 'spot',
    size: size as Amount18,
    price: price === 0n ? null : (price as Amount18),
    transfers: transfers.value,
  });
}

function transfersOf(pending: NonNullable<SimulateRead['pendingTransfers']>): Outcome<SimulateRequest['transfers']> {
  if (pending.length > PENDING_TRANSFERS_MAX) return invalid('pending_transfers', `at most ${PENDING_TRANSFERS_MAX}`);
  const transfers: { readonly asset: AssetId; readonly amount: bigint }[] = [];
  for (const given of pending) {
    const amount = BigInt(given.amount);
    if (amount > AMOUNT_MAX || amount < -AMOUNT_MAX) {
      return invalid('pending_transfers', 'out of range');
    }
    transfers.push({ asset: given.asset.id, amount });
  }
  return accepted(transfers);
}

function invalid(field: string, message: string): { readonly ok: false; readonly reject: ReturnType<typeof reject> } {
  return rejected(reject('INVALID_REQUEST', message, field));
}
