/**
 * From tables to memory: a state made from the rows of a checkpoint, one at a time.
 *
 *   add(row) ─▶ add(row) ─▶ … ─▶ finish() ─▶ the state
 *
 * Rows come table by table in LOAD_ORDER, each table in key order. Orders come last: by then everything else is what it
 * will be.
 */
import { add18 } from '../core/arithmetic.ts';
import { assert, must, unreachable } from '../core/assert.ts';
import type { HashKey } from '../core/key-words.ts';
import { balanceSlot, emptyAccount, placeOwned, totalsOf } from './balances.ts';
import { depositCounterKey } from './funds/deposits.ts';
import { addLiveOrder } from './orders.ts';
import { placeLegs, positionSlot } from './positions.ts';
import { placeAsset } from './registry/registry-assets.ts';
import { placeConfig } from './registry/registry-config.ts';
import { placeMarket } from './registry/registry-markets.ts';
import { placeMark, placePrice } from './risks.ts';
import type {
  AssetTotalsRow,
  BalanceRow,
  DepositRow,
  OrderRow,
  PositionRow,
  RowWrite,
  SubAccountRow,
  TableName,
} from './rows.ts';
import { type ClearingState, createClearingState, type Sha256 } from './state.ts';

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
 * @param rows table by table in LOAD_ORDER, each table in key order. Finished orders, signed texts and trades may be left out; of
 *   deposits, all are needed, or the last of each user and chain.
 * @param sha256 as createClearingState's.
 * @throws InvariantError when the rows contradict each other.
 */
export function loadState(rows: Iterable<RowWrite>, sha256?: Sha256): ClearingState {
  const loader = new StateLoader(sha256);
  for (const row of rows) loader.add(row);
  return loader.finish();
}

export class StateLoader {
  /** Of the rows that were added so far. */
  readonly state: ClearingState;

  /** @param sha256 @param key as createClearingState's. */
  constructor(sha256?: Sha256, key?: HashKey) {
    this.state = createClearingState(sha256, key);
  }

  /** The next row. @throws InvariantError when it contradicts those before it. */
  add(write: RowWrite): void {
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
        loadOrder(state, write.row);
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
      case 'signedText':
        break;
      default:
        unreachable(write);
    }
  }

  /** All rows were added. */
  finish(): ClearingState {
    this.state.touchedRisks.clear();
    return this.state;
  }
}

function loadOrder(state: ClearingState, row: OrderRow): void {
  if (row.end !== 0) return;
  const market = must(state.markets[row.marketIndex], 'the market of an order is loaded');
  assert(row.parentSequence < row.orderSequence, 'a parent is admitted before its children');
  addLiveOrder(state, market, row);
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
