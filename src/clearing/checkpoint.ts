/**
 * From memory to tables: which rows a checkpoint writes. The way back is in loading.ts.
 *
 * A checkpoint reflects the journal up to the last applied batch, so it is taken between batches and only when nothing
 * lives that rows do not carry: held inputs, test faults, a unit that is not complete.
 */
import { assert, must } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import { balanceRow } from './balances.ts';
import { isHolding } from './hooks.ts';
import { positionRow } from './positions.ts';
import { marketRow } from './registry/registry-markets.ts';
import { markRow } from './risks.ts';
import type { AssetTotalsRow, RowWrite } from './rows.ts';
import type { AssetTotals, ClearingState } from './state.ts';
import { fireAll } from './triggers.ts';

/** Whether the rows would say everything: false while a test hook or an incomplete unit is in force. */
export function canCheckpoint(state: ClearingState): boolean {
  const { hooks } = state;
  const hooked = isHolding(hooks) || hooks.faults.length > 0 || hooks.waiting.length > 0;
  return !hooked && state.markets.every((market) => market.unit.length === 0);
}

/** How much the next checkpoint would write. */
export function dirtyRowCount(state: ClearingState): number {
  const { finishedOrders, trades, deposits, ...sets } = state.dirty;
  const inSets = Object.values(sets).reduce((sum, set) => sum + set.size, 0);
  const orders = state.orders.dirtyCount + finishedOrders.length + signedTextCount(state);
  return inSets + orders + trades.length + deposits.length;
}

function signedTextCount({ markets }: ClearingState): number {
  return markets.reduce((sum, { signedTexts }) => sum + signedTexts.length, 0);
}

function totalsRow(totals: AssetTotals): AssetTotalsRow {
  return { asset: totals.asset, vaultHoldings: totals.vaultHoldings, faucet: totals.faucet };
}

/**
 * Every row that changed since the last call, whole; they are unchanged from here on. Finished orders and signed texts leave
 * memory here.
 *
 * @returns rows of orders are accessors, valid until the next input is applied.
 */
export function drainDirtyRows(state: ClearingState): RowWrite[] {
  assert(canCheckpoint(state), 'a checkpoint is taken when rows say everything');
  // What is among those is dirty, and is not put there again.
  const { changedBalances, changedPositions, touchedMarkets } = state;
  const isBetweenBatches = changedBalances.length + changedPositions.length + touchedMarkets.size === 0;
  assert(isBetweenBatches, 'a checkpoint is taken between batches');
  fireAll(state);
  const { dirty } = state;
  const rows: RowWrite[] = [];
  for (const slot of dirty.users) rows.push({ table: 'user', row: slot.row });
  for (const slot of dirty.subAccounts) rows.push({ table: 'subAccount', row: slot.row });
  for (const slot of dirty.balances) rows.push({ table: 'balance', row: balanceRow(slot) });
  for (const slot of dirty.positions) rows.push({ table: 'position', row: positionRow(slot) });
  for (const id of dirty.assets) rows.push({ table: 'asset', row: must(state.assets.get(id), 'a dirty asset exists') });
  for (const market of dirty.markets) rows.push({ table: 'market', row: marketRow(market) });
  for (const market of state.markets) {
    for (const row of market.signedTexts) rows.push({ table: 'signedText', row });
    market.signedTexts = [];
  }
  for (const row of state.orders.takeDirty()) rows.push({ table: 'order', row });
  for (const row of dirty.finishedOrders) rows.push({ table: 'order', row });
  for (const row of dirty.trades) rows.push({ table: 'trade', row });
  for (const id of dirty.prices) rows.push({ table: 'price', row: must(state.prices.get(id), 'a dirty price exists') });
  for (const slot of dirty.marks) rows.push({ table: 'mark', row: markRow(slot) });
  for (const row of dirty.deposits) rows.push({ table: 'deposit', row });
  for (const key of dirty.configs) {
    rows.push({ table: 'config', row: must(state.configs.get(key), 'a dirty object exists') });
  }
  for (const totals of dirty.totals) rows.push({ table: 'totals', row: totalsRow(totals) });
  for (const tally of dirty.tallies) rows.push({ table: 'tally', row: tally.row });
  forget(state);
  return rows;
}

function forget(state: ClearingState): void {
  const { dirty } = state;
  dirty.finishedOrders.clear();
  dirty.trades = [];
  dirty.deposits = [];
  for (const set of [dirty.users, dirty.subAccounts, dirty.balances, dirty.assets]) set.clear();
  for (const set of [dirty.markets, dirty.prices, dirty.configs, dirty.totals, dirty.tallies]) set.clear();
  for (const set of [dirty.positions, dirty.marks]) set.clear();
}

/** An order id that is taken for 30 days after its creation (AMB-08). */
export interface Tombstone {
  readonly marketIndex: number;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly creationNs: TimestampNs;
  /** Whether a cancel of it is answered ALREADY_CANCELLED (AMB-23). */
  readonly wasCancelled: boolean;
}

/** Stands for ids that had to make room: creates signed at or before it may be replays (AMB-08). */
export interface IdWatermark {
  readonly marketIndex: number;
  readonly user: UserId;
  readonly creationNs: TimestampNs;
}
