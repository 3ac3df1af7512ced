/**
 * The tables of clearing: how a row comes into memory at a start, and which rows a checkpoint writes. One entry a table;
 * the row types are in rows.ts, keys and bytes in src/storage.
 *
 *   start        loadState / StateLoader: row after row, table by table in LOAD_ORDER, each table in key order
 *   checkpoint   canCheckpoint? ─▶ drainDirtyRows ─▶ storage writes them ─▶ the next checkpoint begins empty
 *
 * A checkpoint reflects the journal up to the last applied batch, so it is taken between batches and only when nothing
 * lives that rows do not carry: held inputs, test faults, a match group that is not complete.
 */
import { add18 } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import type { HashKey } from '../core/key-words.ts';
import { balanceRow, balanceSlot, emptyAccount, placeOwned, SPOT_ACCOUNT, totalsOf } from './balances.ts';
import { cursorRow } from './funds/chain-cursors.ts';
import { depositCounterKey } from './funds/deposits.ts';
import { PooledHour } from './funds/pooled-hour.ts';
import { isLiveSettlement } from './funds/settlement-book.ts';
import { placeUnclaimed, unclaimedRow } from './funds/unclaimed.ts';
import { deviationKey } from './funds/vault-deviations.ts';
import { isHolding } from './hooks.ts';
import { liquidationRow, placeLiquidation } from './liquidation/liquidation-rows.ts';
import type { ClearingOrder } from './live-orders.ts';
import { addLiveOrder } from './orders.ts';
import { placeLegs, positionRow, positionSlot } from './positions.ts';
import { protectionKey } from './protections.ts';
import { placeQuoteSet } from './quote-set-slots.ts';
import { placeAsset } from './registry/registry-assets.ts';
import { placeConfig } from './registry/registry-config.ts';
import { marketRow, placeMarket } from './registry/registry-markets.ts';
import { markRow, placeMark, placePrice } from './risks.ts';
import type { BalanceRow, OrderRow, RowWrite, TableName, Tables } from './rows.ts';
import { type AssetTotals, type ClearingState, createClearingState, DIRTY_NAMES, type Sha256 } from './state.ts';
import { fireAll } from './triggers.ts';

interface ClearingTable<Row> {
  /** Places a row of a checkpoint in memory. @throws InvariantError when it contradicts the rows before it. */
  readonly load: (state: ClearingState, row: Row) => unknown;
  /** The rows that changed since the last call, whole; they count as unchanged from then on. */
  readonly takeChanged: (state: ClearingState) => Row[];
}

/** Empties the set. */
function taken<Changed, Row>(changed: Set<Changed>, rowOf: (one: Changed) => Row): Row[] {
  const rows = Array.from(changed, rowOf);
  changed.clear();
  return rows;
}

/** In the order in which a start loads them: a row comes after the rows that it names, orders come last. */
const TABLES: { readonly [T in TableName]: ClearingTable<Tables[T]> } = {
  user: {
    load: (state, row) => {
      const slot = { row, subAccounts: new Map() };
      state.users.set(row.user, slot);
      if (row.hasTimer) state.timers.add(slot);
    },
    takeChanged: ({ dirty }) => taken(dirty.users, ({ row }) => row),
  },
  subAccount: {
    load: (state, row) => {
      const user = must(state.users.get(row.user), 'the user of a sub-account is loaded');
      user.subAccounts.set(row.subAccount, emptyAccount(row));
    },
    takeChanged: ({ dirty }) => taken(dirty.subAccounts, ({ row }) => row),
  },
  asset: {
    load: placeAsset,
    takeChanged: ({ dirty, assets }) => taken(dirty.assets, (id) => must(assets.get(id), 'a dirty asset exists')),
  },
  market: {
    load: placeMarket,
    takeChanged: ({ dirty }) => taken(dirty.markets, marketRow),
  },
  balance: {
    load: loadBalance,
    takeChanged: ({ dirty }) => taken(dirty.balances, balanceRow),
  },
  position: {
    load: (state, row) => {
      const account = state.users.get(row.user)?.subAccounts.get(row.subAccount);
      const slot = positionSlot(state, must(account, 'the sub-account of a position is loaded'), row.asset);
      placeLegs(state, slot, { base: row.base, quote: row.quote, entry: row.entry });
    },
    takeChanged: ({ dirty }) => taken(dirty.positions, positionRow),
  },
  lot: {
    load: (state, row) => {
      const user = must(state.users.get(row.user), 'the user of a lot is loaded');
      state.lots.load(row, balanceSlot(state, user, SPOT_ACCOUNT, row.asset));
    },
    takeChanged: ({ dirty, lots }) => taken(dirty.lots, (key) => lots.row(key)),
  },
  price: {
    load: placePrice,
    takeChanged: ({ dirty, prices }) => taken(dirty.prices, (id) => must(prices.get(id), 'a dirty price exists')),
  },
  mark: {
    load: placeMark,
    takeChanged: ({ dirty }) => taken(dirty.marks, markRow),
  },
  deposit: {
    load: (state, { chainId, user, depositNonce }) => {
      const key = depositCounterKey(chainId, user);
      state.depositCounters.set(key, Math.max(state.depositCounters.get(key) ?? 0, depositNonce + 1));
    },
    takeChanged: ({ dirty }) => dirty.deposits.splice(0),
  },
  pooledCredits: {
    load: (state, row) => state.pooledHours.set(row.asset, new PooledHour(row)),
    takeChanged: ({ dirty, pooledHours }) =>
      taken(dirty.pooledHours, (asset) => must(pooledHours.get(asset), 'a dirty hour exists').row),
  },
  unclaimed: {
    load: placeUnclaimed,
    takeChanged: (state) => taken(state.dirty.unclaimed, (key) => unclaimedRow(state, key)),
  },
  config: {
    load: placeConfig,
    takeChanged: ({ dirty, configs }) => taken(dirty.configs, (key) => must(configs.get(key), 'a dirty object exists')),
  },
  totals: {
    load: (state, { asset, ...sums }) => {
      Object.assign(totalsOf(state, asset), sums);
    },
    takeChanged: ({ dirty }) => taken(dirty.totals, totalsRow),
  },
  rebalancingPool: {
    load: (state, { asset, amount, unpaid }) => {
      Object.assign(totalsOf(state, asset), { rebalancingPool: amount, rebalancingUnpaid: unpaid });
    },
    takeChanged: ({ dirty }) => taken(dirty.rebalancingPools, poolRow),
  },
  netDeposit: {
    load: ({ netDeposits }, { chainId, asset, amount }) => {
      netDeposits.set(asset, (netDeposits.get(asset) ?? new Map()).set(chainId, amount));
    },
    takeChanged: ({ dirty, netDeposits }) =>
      taken(dirty.netDeposits, (key) => {
        const [asset, chainId] = key.split('/') as [AssetId, ChainId];
        return { chainId, asset, amount: must(netDeposits.get(asset)?.get(chainId), 'dirty net deposits exist') };
      }),
  },
  tally: {
    load: (state, row) => state.tallies[row.name].restore(row),
    takeChanged: ({ dirty }) => taken(dirty.tallies, ({ row }) => row),
  },
  liquidation: {
    load: placeLiquidation,
    takeChanged: ({ dirty }) => taken(dirty.liquidations, liquidationRow),
  },
  backstop: {
    load: ({ backstopRows }, row) => backstopRows.set(row.index, row),
    takeChanged: ({ dirty, backstopRows }) =>
      taken(dirty.backstopRows, (index) => must(backstopRows.get(index), 'a dirty row exists')),
  },
  adlUsage: {
    load: ({ adlUsage }, row) => adlUsage.set(row.marketIndex, row),
    takeChanged: ({ dirty, adlUsage }) =>
      taken(dirty.adlUsage, (index) => must(adlUsage.get(index), 'a dirty row exists')),
  },
  quoteSet: {
    load: placeQuoteSet,
    takeChanged: ({ dirty }) => taken(dirty.quoteSets, ({ row }) => row),
  },
  withdrawal: {
    load: (state, row) => {
      if (row.status === 'gone') state.withdrawals.seen(row.sequence);
      else state.withdrawals.add(row);
    },
    takeChanged: ({ dirty }) => taken(dirty.withdrawals, ({ row }) => row),
  },
  vaultToken: {
    load: (state, row) => state.vaultTokens.set(`${row.token}@${row.chainId}`, row),
    takeChanged: ({ dirty, vaultTokens }) =>
      taken(dirty.vaultTokens, (key) => must(vaultTokens.get(key), 'dirty units exist')),
  },
  vaultDeviation: {
    load: ({ vaultDeviations }, row) => {
      if (row.missing !== 0n || row.accepted !== 0n) vaultDeviations.set(deviationKey(row.asset, row.chainId), row);
    },
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.vaultDeviations.values()];
      dirty.vaultDeviations.clear();
      return rows;
    },
  },
  payoutReserve: {
    load: ({ payoutReserves }, row) => {
      if (row.isClaimed) payoutReserves.set(`${row.token}@${row.chainId}`, row);
    },
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.payoutReserves.values()];
      dirty.payoutReserves.clear();
      return rows;
    },
  },
  withdrawalCounter: {
    load: (state, { chainId, user, next }) => {
      state.withdrawalCounters.set(`${chainId}/${user}`, next);
      state.withdrawals.moved(user, chainId);
    },
    takeChanged: ({ dirty, withdrawalCounters }) =>
      taken(dirty.withdrawalCounters, (key) =>
        counterRow(key, must(withdrawalCounters.get(key), 'a dirty counter exists')),
      ),
  },
  forcedCounter: {
    load: (state, { chainId, user, next }) => state.forcedCounters.set(`${chainId}/${user}`, next),
    takeChanged: ({ dirty, forcedCounters }) =>
      taken(dirty.forcedCounters, (key) => counterRow(key, must(forcedCounters.get(key), 'a dirty counter exists'))),
  },
  withdrawalUsage: {
    load: (state, row) => state.withdrawalUsage.set(`${row.user}/${row.asset}`, row),
    takeChanged: ({ dirty, withdrawalUsage }) =>
      taken(dirty.withdrawalUsage, (key) => must(withdrawalUsage.get(key), 'a dirty usage exists')),
  },
  signers: {
    load: (state, row) => state.signers.place(row),
    takeChanged: ({ dirty, signers }) =>
      taken(dirty.signers, (user) => must(signers.rowOf(user), 'a dirty row exists')),
  },
  settlement: {
    load: (state, row) => {
      if (isLiveSettlement(row)) state.settlements.add(row);
    },
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.settlements.values()];
      dirty.settlements.clear();
      return rows;
    },
  },
  settlementCounter: {
    load: (state, { chainId, user, subAccount, next }) =>
      state.settlementCounters.set(`${chainId}/${user}/${subAccount}`, next),
    takeChanged: ({ dirty, settlementCounters }) =>
      taken(dirty.settlementCounters, (key) =>
        settlementCounterRow(key, must(settlementCounters.get(key), 'a dirty counter exists')),
      ),
  },
  chainCursor: {
    load: ({ chainCursors }, row) => chainCursors.load(row),
    takeChanged: (state) => taken(state.dirty.chainCursors, (key) => cursorRow(state, key)),
  },
  cursorEvent: {
    load: ({ chainCursors }, row) => chainCursors.loadEvent(row),
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.cursorEvents.values()];
      dirty.cursorEvents.clear();
      return rows;
    },
  },
  signedApproval: {
    load: ({ signedApprovals }, row) => signedApprovals.load(row),
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.signedApprovals.values()];
      dirty.signedApprovals.clear();
      return rows;
    },
  },
  usedText: {
    load: ({ usedTexts }, row) => {
      if (row.status !== 'gone') usedTexts.set(row);
    },
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.usedTexts.values()];
      dirty.usedTexts.clear();
      return rows;
    },
  },
  protection: {
    load: ({ protections }, row) => {
      if (!row.isGone) protections.set(protectionKey(row), row);
    },
    takeChanged: ({ dirty }) => {
      const rows = [...dirty.protections.values()];
      dirty.protections.clear();
      return rows;
    },
  },
  order: {
    load: loadOrder,
    takeChanged: ({ dirty, orders }) => {
      const rows = [...orders.takeDirty(), ...dirty.finishedOrders];
      dirty.finishedOrders.clear();
      return rows;
    },
  },
  signedText: {
    load: () => undefined,
    takeChanged: ({ markets }) => markets.flatMap((market) => market.signedTexts.splice(0)),
  },
  trade: {
    load: () => undefined,
    takeChanged: ({ dirty }) => dirty.trades.splice(0),
  },
};

export function totalsRow({ asset, vaultHoldings, faucet, backstopCredits }: AssetTotals): Tables['totals'] {
  return { asset, vaultHoldings, faucet, backstopCredits };
}

export function poolRow({
  asset,
  rebalancingPool: amount,
  rebalancingUnpaid: unpaid,
}: AssetTotals): Tables['rebalancingPool'] {
  return { asset, amount, unpaid };
}

/** @param key `<chain>/<user>`. */
export function counterRow(key: string, next: number): Tables['withdrawalCounter'] {
  const [chainId, user] = key.split('/') as [ChainId, UserId];
  return { chainId, user, next };
}

/** @param key `<chain>/<user>/<sub-account>`. */
export function settlementCounterRow(key: string, next: number): Tables['settlementCounter'] {
  const [chainId, user, subAccount] = key.split('/') as [ChainId, UserId, string];
  return { chainId, user, subAccount: Number(subAccount), next };
}

function loadBalance(state: ClearingState, row: BalanceRow): void {
  const user = must(state.users.get(row.user), 'the user of a balance is loaded');
  const slot = balanceSlot(state, user, row.subAccount, row.asset);
  placeOwned(state, slot, row.owned);
  slot.locked = row.locked;
  slot.totals.claims = add18(slot.totals.claims, add18(row.owned, row.locked));
}

/** @returns null of one that is over. */
function loadOrder(state: ClearingState, row: OrderRow): ClearingOrder | null {
  if (row.end !== 0) return null;
  const market = must(state.markets[row.marketIndex], 'the market of an order is loaded');
  assert(row.parentSequence < row.orderSequence, 'a parent is admitted before its children');
  return addLiveOrder(state, market, row);
}

// ---- a start

/** The order of tables at a start; signed texts and trades are history and stay where they are. */
export const LOAD_ORDER: readonly TableName[] = (Object.keys(TABLES) as TableName[]).filter(
  (table) => table !== 'signedText' && table !== 'trade',
);

/**
 * The state that the rows of a checkpoint describe.
 *
 * @param rows table by table in LOAD_ORDER, each table in key order. Finished orders, signed texts and trades may be left
 *   out; of deposits, all are needed, or the last of each user and chain.
 * @param sha256 as createClearingState's.
 * @throws InvariantError when the rows contradict each other.
 */
export function loadState(rows: Iterable<RowWrite>, sha256?: Sha256): ClearingState {
  const loader = new StateLoader(sha256);
  for (const row of rows) loader.add(row);
  return loader.finish();
}

/** A state made from the rows of a checkpoint, one at a time. */
export class StateLoader {
  /** The state that consists of the rows added so far. */
  readonly state: ClearingState;

  /** @param sha256 @param key as createClearingState's. */
  constructor(sha256?: Sha256, key?: HashKey) {
    this.state = createClearingState(sha256, key);
  }

  /** The next row. @throws InvariantError when it contradicts those before it. */
  add({ table, row }: RowWrite): void {
    // A RowWrite has the row of its table.
    (TABLES[table] as ClearingTable<Tables[TableName]>).load(this.state, row);
  }

  /** The next row, of an order. @returns null of one that is over. @throws InvariantError as `add`. */
  addOrder(row: OrderRow): ClearingOrder | null {
    return loadOrder(this.state, row);
  }

  /** All rows but those of orders were added. */
  finish(): ClearingState {
    this.state.touchedRisks.clear();
    return this.state;
  }
}

// ---- a checkpoint

/** Whether the rows hold every durable fact: false while a test hook or an incomplete match group is in force. */
export function canCheckpoint(state: ClearingState): boolean {
  const { hooks } = state;
  const hooked = isHolding(hooks) || hooks.faults.length > 0 || hooks.waiting.length > 0;
  return !hooked && state.markets.every((market) => market.fillGroup.length === 0);
}

/** How many rows the next checkpoint would write. */
export function dirtyRowCount({ dirty, orders, markets }: ClearingState): number {
  // After every batch: it allocates nothing.
  let count = orders.dirtyCount;
  for (const name of DIRTY_NAMES) {
    const changed = dirty[name];
    count += 'size' in changed ? changed.size : changed.length;
  }
  for (const { signedTexts } of markets) count += signedTexts.length;
  return count;
}

/**
 * Every row that changed since the last call, whole; they count as unchanged from here on. Finished orders and signed texts
 * leave memory here.
 *
 * @returns rows of orders are accessors, valid until the next input is applied.
 */
export function drainDirtyRows(state: ClearingState): RowWrite[] {
  assert(canCheckpoint(state), 'a checkpoint is taken when rows hold everything');
  // What is among those is dirty, and is not put there again.
  const { changedBalances, changedPositions, touchedMarkets } = state;
  const isBetweenBatches = changedBalances.length + changedPositions.length + touchedMarkets.size === 0;
  assert(isBetweenBatches, 'a checkpoint is taken between batches');
  fireAll(state);
  const rows: RowWrite[] = [];
  for (const [table, { takeChanged }] of Object.entries(TABLES)) {
    for (const row of takeChanged(state)) rows.push({ table, row } as RowWrite);
  }
  for (const row of state.dirty.forgottenEntries) rows.push({ table: 'order', row, isForgotten: true });
  state.dirty.forgottenEntries.clear();
  for (const market of state.markets) market.writtenSequence = market.decidedSequence;
  return rows;
}
