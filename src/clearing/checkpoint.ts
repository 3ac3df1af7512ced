/**
 * Between memory and tables: which rows a checkpoint writes, and a state made from rows.
 *
 * A checkpoint reflects the journal up to the last applied batch, so it is taken between batches and only when nothing
 * lives that rows do not carry: held inputs, test faults, a unit that is not complete.
 */
import { add18 } from '../core/arithmetic.ts';
import { assert, must, unreachable } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import { balanceRow, balanceSlot, emptyAccount, placeOwned, totalsOf } from './balances.ts';
import { depositCounterKey } from './deposits.ts';
import { isHolding } from './hooks.ts';
import { addLiveOrder, addStoredOrder } from './orders.ts';
import { placeLegs, positionRow, positionSlot } from './positions.ts';
import { placeAsset } from './registry-assets.ts';
import { placeConfig } from './registry-config.ts';
import { marketRow, placeMarket } from './registry-markets.ts';
import { markRow, placeMark, placePrice } from './risks.ts';
import type {
  AssetTotalsRow,
  BalanceRow,
  DepositRow,
  LoadedRow,
  MarketRow,
  OrderRow,
  PositionRow,
  RowWrite,
  StoredOrders,
  SubAccountRow,
  TableName,
  TallyRow,
  UserRow,
} from './rows.ts';
import { SpentBalances } from './spent-balances.ts';
import { type AssetTotals, type ClearingState, createClearingState, portableSha256, type Sha256 } from './state.ts';
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
  return inSets + finishedOrders.length + trades.length + deposits.length;
}

function totalsRow(totals: AssetTotals): AssetTotalsRow {
  return { asset: totals.asset, vaultHoldings: totals.vaultHoldings, faucet: totals.faucet };
}

/** Every row that changed since the last call, whole; forgets that they changed. Finished orders leave memory here. */
export function drainDirtyRows(state: ClearingState): RowWrite[] {
  assert(canCheckpoint(state), 'a checkpoint is taken when rows say everything');
  fireAll(state);
  const { dirty } = state;
  const rows: RowWrite[] = [];
  for (const slot of dirty.users) rows.push({ table: 'user', row: slot.row });
  for (const slot of dirty.subAccounts) rows.push({ table: 'subAccount', row: slot.row });
  for (const slot of dirty.balances) rows.push({ table: 'balance', row: balanceRow(slot) });
  for (const slot of dirty.positions) rows.push({ table: 'position', row: positionRow(slot) });
  for (const id of dirty.assets) rows.push({ table: 'asset', row: must(state.assets.get(id), 'a dirty asset exists') });
  for (const market of dirty.markets) rows.push({ table: 'market', row: marketRow(market) });
  for (const slot of dirty.orders) rows.push({ table: 'order', row: slot.row });
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
  dirty.finishedOrders = [];
  dirty.trades = [];
  dirty.deposits = [];
  for (const set of [dirty.users, dirty.subAccounts, dirty.balances, dirty.orders, dirty.assets]) set.clear();
  for (const set of [dirty.markets, dirty.prices, dirty.configs, dirty.totals, dirty.tallies]) set.clear();
  for (const set of [dirty.positions, dirty.marks]) set.clear();
}

/** In which order tables are fed to `loadState`: a row comes after the rows that it names. */
export const LOAD_ORDER: readonly TableName[] = [
  'user',
  'subAccount',
  'asset',
  'market',
  'balance',
  'position',
  'order',
  'price',
  'mark',
  'deposit',
  'config',
  'totals',
  'tally',
];

/**
 * The state that the rows of a checkpoint describe.
 *
 * @param rows table by table in LOAD_ORDER, each table in key order. Finished orders and trades may be left out; of
 *   deposits, all are needed, or the last of each user and chain.
 * @param sha256 as createClearingState's.
 * @throws InvariantError when the rows contradict each other.
 */
export function loadState(rows: Iterable<LoadedRow>, sha256: Sha256 = portableSha256): ClearingState {
  const state = createClearingState(sha256);
  const loading: Loading = { state, spender: null };
  for (const write of rows) load(loading, write);
  state.touchedRisks.clear();
  return state;
}

interface Loading {
  readonly state: ClearingState;
  /** From the first order on: all users are there by then. */
  spender: SpentBalances | null;
}

function load(loading: Loading, write: LoadedRow): void {
  const { state } = loading;
  switch (write.table) {
    case 'user':
      loadUser(state, write.row);
      break;
    case 'subAccount':
      loadSubAccount(state, write.row);
      break;
    case 'asset':
      placeAsset(state, write.row);
      break;
    case 'market':
      loadMarket(state, write.row);
      break;
    case 'balance':
      loadBalance(state, write.row);
      break;
    case 'position':
      loadPosition(state, write.row);
      break;
    case 'order':
      loadOrder(state, write.row);
      break;
    case 'storedOrder':
      loadStoredOrder(loading, write.row, write.stored, write.place);
      break;
    case 'price':
      placePrice(state, write.row);
      break;
    case 'mark':
      placeMark(state, write.row);
      break;
    case 'deposit':
      loadDeposit(state, write.row);
      break;
    case 'config':
      placeConfig(state, write.row);
      break;
    case 'totals':
      loadTotals(state, write.row);
      break;
    case 'tally':
      loadTally(state, write.row);
      break;
    case 'trade':
      break;
    default:
      unreachable(write);
  }
}

function loadUser(state: ClearingState, row: UserRow): void {
  state.users.set(row.user, { row, subAccounts: new Map() });
}

function loadSubAccount(state: ClearingState, row: SubAccountRow): void {
  const user = must(state.users.get(row.user), 'the user of a sub-account is loaded');
  user.subAccounts.set(row.subAccount, emptyAccount(row));
}

function loadMarket(state: ClearingState, row: MarketRow): void {
  placeMarket(state, row);
}

function loadBalance(state: ClearingState, row: BalanceRow): void {
  const user = must(state.users.get(row.user), 'the user of a balance is loaded');
  const slot = balanceSlot(state, user, row.subAccount, row.asset);
  placeOwned(slot, row.owned);
  slot.locked = row.locked;
  slot.totals.claims = add18(slot.totals.claims, add18(row.owned, row.locked));
}

function loadPosition(state: ClearingState, row: PositionRow): void {
  const account = state.users.get(row.user)?.subAccounts.get(row.subAccount);
  const slot = positionSlot(state, must(account, 'the sub-account of a position is loaded'), row.asset);
  placeLegs(state, slot, { base: row.base, quote: row.quote, entry: row.entry });
}

function loadOrder(state: ClearingState, row: OrderRow): void {
  if (row.end !== 0) return;
  addLiveOrder(state, must(state.markets[row.marketIndex], 'the market of an order is loaded'), row);
}

function loadStoredOrder(loading: Loading, row: OrderRow, stored: StoredOrders, place: number): void {
  const { end, marketIndex } = row;
  if (end !== 0) return;
  loading.spender ??= new SpentBalances(loading.state);
  const market = must(loading.state.markets[marketIndex], 'the market of an order is loaded');
  addStoredOrder(market, loading.spender, row, stored, place);
}

function loadDeposit(state: ClearingState, row: DepositRow): void {
  const key = depositCounterKey(row.chainId, row.user);
  state.depositCounters.set(key, Math.max(state.depositCounters.get(key) ?? 0, row.depositNonce + 1));
}

function loadTotals(state: ClearingState, row: AssetTotalsRow): void {
  const totals = totalsOf(state, row.asset);
  totals.vaultHoldings = row.vaultHoldings;
  totals.faucet = row.faucet;
}

function loadTally(state: ClearingState, row: TallyRow): void {
  state.tallies[row.name].restore(row);
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
