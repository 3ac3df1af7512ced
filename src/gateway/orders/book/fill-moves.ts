/** What a fill moves until clearing has booked it: spot balances of the order's account, or the legs of its position. */
import { must } from '../../../core/assert.ts';
import { type AssetId, USD } from '../../../core/ids.ts';
import { SIDE } from '../../../core/order-terms.ts';
import type { Amount18 } from '../../../core/units.ts';
import { usdDelta } from '../../../risk/position.ts';
import type { Holds, SpotMove } from '../balances/holds.ts';
import type { LegMove, Position } from '../margin/margin-account.ts';
import type { LiveOrder } from './live-order.ts';

export type FillMove =
  | ({ readonly kind: 'spot' } & SpotMove)
  | ({ readonly kind: 'legs'; readonly position: Position } & LegMove);

/** @param fill.fee USD, negative for a rebate. */
export function fillMove(
  order: LiveOrder,
  {
    base,
    notional,
    fee,
    isMaker,
  }: { readonly base: Amount18; readonly notional: Amount18; readonly fee: Amount18; readonly isMaker: boolean },
  holds: Holds,
): FillMove {
  const isBuy = order.side === SIDE.buy;
  const delta = isBuy ? base : -base;
  const usd = usdDelta(delta, notional, fee);
  const { balance: from } = order;
  if (from === null) {
    const { position } = must(order.exposure, 'a margin order has its position');
    return { kind: 'legs', position, base: delta, quote: usd, isMaker };
  }
  const { user, subAccount } = order;
  const asset: AssetId = isBuy ? order.market.definition.assetId : USD;
  const to = holds.balance({ user, subAccount, asset });
  const [debit, credit] = isBuy ? [-usd as Amount18, base] : [base, usd as Amount18];
  return { kind: 'spot', from, debit, to, credit };
}

export function pendMove(move: FillMove, holds: Holds): void {
  if (move.kind === 'spot') holds.pend(move);
  else move.position.account.pend(move.position, move);
}

/** @param confirmedAt the count of clearing's events at its confirmation. */
export function confirmMove(move: FillMove, holds: Holds, confirmedAt: number): void {
  if (move.kind === 'spot') holds.confirm(move, confirmedAt);
  else move.position.account.confirm(move.position, move, confirmedAt);
}

export function rollBackMove(move: FillMove, holds: Holds): void {
  if (move.kind === 'spot') holds.rollBack(move);
  else move.position.account.rollBack(move.position, move);
}
