/**
 * The rows of liquidation and of the backstop, and the orders that the node has outstanding for them: at most one a row.
 *
 *   sent (effect `nodeOrder`) ─▶ row.order ─▶ admitted: compared with it ─▶ over ─▶ row.order null, the row may go on
 *                                         └─▶ not admitted (`nodeOrderRefused`) ─┘
 *
 * An order with ORDER_FLAG.nodeMade that is not the outstanding one of its account is not the node's: its fills fail.
 *
 * Not here: when an order is sent (rounds.ts, backstop.ts).
 */
import { assert, must } from '../../core/assert.ts';
import type { OrderId, UserId } from '../../core/ids.ts';
import { ORDER_FLAG, ORDER_KIND, TIF } from '../../core/order-terms.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { BackstopRow, LiquidationRow, NodeOrder, OrderRow } from '../rows.ts';
import type { ClearingMarket, ClearingState, SubAccountSlot } from '../state.ts';

/** Whether it is a sub-account of the backstop: those are not liquidated, they are worked off. */
export function isBackstop(state: ClearingState, user: UserId): boolean {
  return user === state.settings.backstop_account;
}

/** A row of a checkpoint; one that has ended is none. */
export function placeLiquidation(state: ClearingState, row: LiquidationRow): void {
  if (row.stage === 'ended') return;
  const found = state.users.get(row.user)?.subAccounts.get(row.subAccount);
  const account = must(found, 'the sub-account of a liquidation is loaded');
  account.liquidation = row;
  state.liquidations.add(account);
}

/** The row of an account; where there is none, the row with which a checkpoint replaces the last one. */
export function liquidationRow({ row, liquidation }: SubAccountSlot): LiquidationRow {
  if (liquidation !== null) return liquidation;
  const { user, subAccount } = row;
  const atRest = { startedNs: 0n as TimestampNs, round: 0, roundNs: 0n as TimestampNs, through: [], ordered: [] };
  return { user, subAccount, ...atRest, stage: 'ended', order: null };
}

/** Whether a row may end: nothing of it is on its way. */
export function mayEnd(row: LiquidationRow): boolean {
  return row.order === null && row.stage !== 'cancelling';
}

/** Sets the row of an account; null: its liquidation is over. */
export function setLiquidation(state: ClearingState, account: SubAccountSlot, row: LiquidationRow | null): void {
  account.liquidation = row;
  if (row === null) state.liquidations.delete(account);
  else state.liquidations.add(account);
  state.dirty.liquidations.add(account);
}

export function setBackstopRow(state: ClearingState, row: BackstopRow): void {
  state.backstopRows.set(row.index, row);
  state.dirty.backstopRows.add(row.index);
}

/**
 * The id of the next order of the node in a market, unique per user and market: the sequence moves with each admission and
 * never goes backwards.
 */
export function nodeOrderId(kind: 'liq' | 'clip', { row }: SubAccountSlot, { sequence }: ClearingMarket): OrderId {
  return `sys-${kind}-${row.subAccount}-${sequence}` as OrderId;
}

/** Where an outstanding order of an account stands, and how it is taken off. */
interface Holder {
  readonly order: NodeOrder | null;
  readonly isLiquidation: boolean;
  readonly clear: () => void;
}

function holderOf(state: ClearingState, user: UserId, subAccount: number): Holder | null {
  const row = isBackstop(state, user) ? state.backstopRows.get(subAccount) : undefined;
  if (row !== undefined) {
    const clear = (): void => setBackstopRow(state, { ...row, order: null });
    return { order: row.order, isLiquidation: false, clear };
  }
  const account = state.users.get(user)?.subAccounts.get(subAccount);
  const liquidation = account?.liquidation ?? null;
  if (account === undefined || liquidation === null) return null;
  const clear = (): void => setLiquidation(state, account, { ...liquidation, order: null });
  return { order: liquidation.order, isLiquidation: true, clear };
}

/** Whether a node-made order is, in all its terms, the outstanding one of its account. */
export function isOutstanding(state: ClearingState, row: OrderRow): boolean {
  assert((row.flags & ORDER_FLAG.nodeMade) !== 0, 'orders of users are signed');
  const holder = holderOf(state, row.user, row.subAccount);
  if (holder === null || holder.order === null) return false;
  const { orderId, marketIndex, side, price, quantity, isSpot } = holder.order;
  const terms = isSpot ? ORDER_FLAG.isSpot : ORDER_FLAG.reduceOnly;
  const flags = ORDER_FLAG.nodeMade | terms | (holder.isLiquidation ? ORDER_FLAG.liquidation : 0);
  return (
    row.orderId === orderId &&
    row.marketIndex === marketIndex &&
    row.side === side &&
    row.price === price &&
    row.quantity === quantity &&
    row.flags === flags &&
    row.kind === ORDER_KIND.limit &&
    row.tif === TIF.ioc
  );
}

/**
 * A node-made order is over, or was not admitted: if it is the outstanding one, its row may go on. @returns whether it
 * was.
 */
export function nodeOrderOver(
  state: ClearingState,
  { user, subAccount, orderId }: { readonly user: UserId; readonly subAccount: number; readonly orderId: OrderId },
): boolean {
  const holder = holderOf(state, user, subAccount);
  if (holder?.order?.orderId !== orderId) return false;
  holder.clear();
  return true;
}
