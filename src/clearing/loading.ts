/**
 * From tables to memory: a state made from the rows of a checkpoint, one at a time, so that whoever reads them may do
 * something else with a row, or between two of them.
 *
 *   add(row) ─▶ add(row) ─▶ … ─▶ finish() ─▶ the state
 *
 * Rows come table by table in LOAD_ORDER, each table in key order. Orders come last: by then everything else is what it
 * will be.
 */
import { add18 } from '../core/arithmetic.ts';
import { assert, must, unreachable } from '../core/assert.ts';
import { balanceSlot, emptyAccount, placeOwned, totalsOf } from './balances.ts';
import { depositCounterKey } from './funds/deposits.ts';
import { LoadedHolds } from './loaded-holds.ts';
import { isLeftByRestart } from './order-ends.ts';
import { addLiveOrder, addStoredOrder } from './orders.ts';
import { placeLegs, positionSlot } from './positions.ts';
import { placeAsset } from './registry/registry-assets.ts';
import { placeConfig } from './registry/registry-config.ts';
import { placeMarket } from './registry/registry-markets.ts';
import type { ReplayReach } from './replay-reach.ts';
import { placeMark, placePrice } from './risks.ts';
import type {
  AssetTotalsRow,
  BalanceRow,
  DepositRow,
  LoadedRow,
  PositionRow,
  SubAccountRow,
  TableName,
} from './rows.ts';
import { type ClearingState, createClearingState, portableSha256, type Sha256 } from './state.ts';

/** In which order tables are fed to a loader: a row comes after the rows that it names. */
export const LOAD_ORDER: readonly TableName[] = [
  'user',
  'subAccount',
  'asset',
  'market',
  'balance',
  'position',
  'price',
  'mark',
  'deposit',
  'config',
  'totals',
  'tally',
  'order',
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
  const loader = new StateLoader(sha256);
  for (const row of rows) loader.add(row);
  return loader.finish();
}

export type LoadedOrder = Extract<LoadedRow, { table: 'order' | 'storedOrder' }>;
export type OtherRow = Exclude<LoadedRow, LoadedOrder>;

export class StateLoader {
  /** Of the rows that were added so far. */
  readonly state: ClearingState;
  readonly #reach: ReplayReach | null;
  /** From the first order on: all users are there by then. */
  #holds: LoadedHolds | null = null;

  /** @param sha256 as createClearingState's. @param reach of the journal behind the rows; null when there is none. */
  constructor(sha256: Sha256 = portableSha256, reach: ReplayReach | null = null) {
    this.state = createClearingState(sha256);
    this.#reach = reach;
  }

  /** The next row. @throws InvariantError when it contradicts those before it. */
  add(write: LoadedRow): void {
    const { state } = this;
    switch (write.table) {
      case 'user':
        state.users.set(write.row.user, { row: write.row, subAccounts: new Map() });
        break;
      case 'subAccount':
        loadSubAccount(state, write.row);
        break;
      case 'asset':
        placeAsset(state, write.row);
        break;
      case 'market':
        placeMarket(state, write.row);
        break;
      case 'balance':
        loadBalance(state, write.row);
        break;
      case 'position':
        loadPosition(state, write.row);
        break;
      case 'order':
      case 'storedOrder':
        this.addOrder(write);
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
        state.tallies[write.row.name].restore(write.row);
        break;
      case 'trade':
        break;
      default:
        unreachable(write);
    }
  }

  /**
   * The next row, of an order.
   *
   * @returns whether it lives and neither the journal behind it nor the restart changes it. @throws InvariantError as `add`.
   */
  addOrder(write: LoadedOrder): boolean {
    const { state } = this;
    const { row } = write;
    if (row.end !== 0) return false;
    const market = must(state.markets[row.marketIndex], 'the market of an order is loaded');
    assert(row.parentSequence < row.orderSequence, 'a parent is admitted before its children');
    const isReached = this.#reach?.reaches(row) === true;
    if (write.table === 'order') {
      addLiveOrder(state, market, row);
      return !isReached && isLeftByRestart(row, false);
    }
    this.#holds ??= new LoadedHolds(state);
    return addStoredOrder(market, this.#holds, write, isReached);
  }

  /** All rows were added. */
  finish(): ClearingState {
    this.#holds?.settle();
    this.state.touchedRisks.clear();
    return this.state;
  }
}

function loadSubAccount(state: ClearingState, row: SubAccountRow): void {
  const user = must(state.users.get(row.user), 'the user of a sub-account is loaded');
  user.subAccounts.set(row.subAccount, emptyAccount(row));
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

function loadDeposit(state: ClearingState, row: DepositRow): void {
  const key = depositCounterKey(row.chainId, row.user);
  state.depositCounters.set(key, Math.max(state.depositCounters.get(key) ?? 0, row.depositNonce + 1));
}

function loadTotals(state: ClearingState, row: AssetTotalsRow): void {
  const totals = totalsOf(state, row.asset);
  totals.vaultHoldings = row.vaultHoldings;
  totals.faucet = row.faucet;
}
