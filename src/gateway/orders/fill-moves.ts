/** What a fill moves until clearing has booked it: spot balances of the order's account, or the legs of its position. */
import { must } from '../../core/assert.ts';
import { type AssetId, USD } from '../../core/ids.ts';
import { SIDE } from '../../core/order-terms.ts';
import type { Amount18 } from '../../core/units.ts';
import type { Holds, SpotMove } from './holds.ts';
import type { LiveOrder } from './live-order.ts';
import type { LegMove, Position } from './margin-account.ts';

export type FillMove =
  | ({ readonly kind: 'spot' } & SpotMove)
  | ({ readonly kind: 'legs'; readonly position: Position } & LegMove);

/** @param fill.fee USD, negative for a rebate: on top of what a buy pays, out of what a sell gets (AMB-30). */
export function fillMove(
  order: LiveOrder,
  { base, notional, fee }: { readonly base: Amount18; readonly notional: Amount18; readonly fee: Amount18 },
  holds: Holds,
): FillMove {
  const isBuy = order.terms.side === SIDE.buy;
  const usd = (isBuy ? notional + fee : notional - fee) as Amount18;
  if (order.balance === null) {
    const { position } = must(order.seat, 'a margin order has its seat');
    return isBuy ? { kind: 'legs', position, base, quote: -usd } : { kind: 'legs', position, base: -base, quote: usd };
  }
  const { user, subAccount } = order.terms;
  const asset: AssetId = isBuy ? order.market.definition.assetId : USD;
  const to = holds.balance({ user, subAccount, asset });
  const [debit, credit] = isBuy ? [usd, base] : [base, usd];
  return { kind: 'spot', from: order.balance, debit, to, credit };
}

export function pendMove(move: FillMove, holds: Holds): void {
  if (move.kind === 'spot') holds.pend(move);
  else move.position.account.pend(move.position, move);
}

/** @param confirmedAt the count of clearing's words when it said so. */
export function confirmMove(move: FillMove, holds: Holds, confirmedAt: number): void {
  if (move.kind === 'spot') holds.confirm(move, confirmedAt);
  else move.position.account.confirm(move.position, move, confirmedAt);
}

export function rollBackMove(move: FillMove, holds: Holds): void {
  if (move.kind === 'spot') holds.rollBack(move);
  else move.position.account.rollBack(move.position, move);
}
