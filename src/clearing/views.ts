/**
 * What the operator API reads from clearing (operator-api.md 4.7, 6): plain objects in wire form. They show what is
 * applied; the shell serves them after the flush.
 */
import { notional18, quantity18, subtract18, tradingFee18 } from '../core/arithmetic.ts';
import { format18 } from '../core/decimal.ts';
import { type AssetId, compareAssetIds, USD, type UserId } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { type Amount18, HOUR_NS, type TimestampNs } from '../core/units.ts';
import { emptySums, figuresOf } from '../risk/account.ts';
import { isOpen } from '../risk/position.ts';
import { marginSumsOf } from './account-margin.ts';
import { allBalances, askingUser } from './balances.ts';
import { heldOf } from './holds.ts';
import { accountOfRow, capitalOf } from './liquidation/backstop-capital.ts';
import { allPositions } from './positions.ts';
import type { BackstopRow } from './rows.ts';
import type { ClearingState, PositionSlot, SubAccountSlot } from './state.ts';
import { undecidedFillsOf } from './undecided-fills.ts';

type View = Readonly<Record<string, unknown>>;

interface LedgerSums {
  spot: bigint;
  legs: bigint;
  locks: bigint;
  fees: bigint;
  backstop: bigint;
}

/** Counts balances anew, so the answer does not rest on the running sums. A job: a unit is a balance or a position. */
function* countBalances(state: ClearingState): Generator<number, Map<string, LedgerSums>> {
  const { fee_account: feeAccount, backstop_account: backstopAccount } = state.settings;
  const sums = new Map<string, LedgerSums>();
  for (const slot of allBalances(state)) {
    const sum = sumsOf(sums, slot.asset);
    sum.locks += slot.locked;
    if (slot.user === feeAccount) sum.fees += slot.owned;
    else if (slot.user === backstopAccount) sum.backstop += slot.owned;
    else sum.spot += slot.owned;
    yield 1;
  }
  for (const { asset, legs } of allPositions(state)) {
    sumsOf(sums, asset).legs += legs.base;
    sumsOf(sums, USD).legs += legs.quote;
    yield 1;
  }
  return sums;
}

function sumsOf(sums: Map<string, LedgerSums>, asset: string): LedgerSums {
  const known = sums.get(asset);
  if (known !== undefined) return known;
  const fresh: LedgerSums = { spot: 0n, legs: 0n, locks: 0n, fees: 0n, backstop: 0n };
  sums.set(asset, fresh);
  return fresh;
}

/**
 * `GET /operator/ledger`, as a job. Pools, isolated lots and dust have no entries as long as nothing of them is booked; the
 * backstop's own spot balance is its capital.
 */
export function* ledgerView(state: ClearingState): Generator<number, View> {
  const sums = yield* countBalances(state);
  const assets = [...state.totals.values()].sort((a, b) => compareAssetIds(a.asset, b.asset));
  const entries = assets.map((totals): [string, View] => {
    const sum = sumsOf(sums, totals.asset);
    const capital = sum.backstop + totals.backstopCredits;
    const claims = sum.spot + sum.legs + sum.locks + sum.fees + capital + totals.faucet;
    return [
      totals.asset,
      {
        spot: format18(sum.spot),
        margin_legs: format18(sum.legs),
        locks: format18(sum.locks),
        fees: format18(sum.fees),
        rebalancing_pool: '0',
        backstop_capital: format18(capital as Amount18),
        isolated: '0',
        faucet: format18(totals.faucet),
        dust: '0',
        claims: format18(claims),
        vault_holdings: format18(totals.vaultHoldings),
        difference: format18(claims - totals.vaultHoldings),
      },
    ];
  });
  return { assets: Object.fromEntries(entries) };
}

/** Balances of one sub-account: empty ones are left out except USD (AMB-72). */
function balancesView(account: SubAccountSlot): View {
  const slots = [...account.balances.values()].filter(
    (slot) => slot.asset === USD || slot.owned !== 0n || slot.locked !== 0n || heldOf(slot) !== 0n,
  );
  slots.sort((a, b) => compareAssetIds(a.asset, b.asset));
  const shown = new Map<string, View>([[USD, { owned: '0', held: '0', locked: '0' }]]);
  for (const slot of slots) {
    const { owned, locked } = slot;
    shown.set(slot.asset, { owned: format18(owned), held: format18(heldOf(slot)), locked: format18(locked) });
  }
  return Object.fromEntries(shown);
}

/** Positions of one sub-account with the fills that clearing has and has not decided; empty ones are left out. */
function positionsView(state: ClearingState, account: SubAccountSlot): View {
  const slots = [...account.positions.values()].sort((a, b) => compareAssetIds(a.asset, b.asset));
  const entries = slots.flatMap((slot): [string, View][] => {
    const pending = pendingLegs(state, slot);
    if (!isOpen(slot.legs) && !isOpen(pending)) return [];
    const { base, quote } = slot.legs;
    const pendingText = { pending_base: format18(pending.base), pending_quote: format18(pending.quote) };
    return [[slot.asset, { base: format18(base), quote: format18(quote), ...pendingText }]];
  });
  return Object.fromEntries(entries);
}

function pendingLegs(state: ClearingState, slot: PositionSlot): { readonly base: bigint; readonly quote: bigint } {
  let base = 0n;
  let quote = 0n;
  for (const { order, fill, isMaker } of undecidedFillsOf(state, slot)) {
    const { definition } = order.market;
    const notional = notional18(fill.price, fill.quantity, definition);
    const fee = tradingFee18(notional, isMaker ? fill.makerFeeRate : fill.takerFeeRate);
    const sign = order.row.side === SIDE.buy ? 1n : -1n;
    base += sign * quantity18(fill.quantity, definition.quantityDecimals);
    quote -= sign * notional + fee;
  }
  return { base, quote };
}

/**
 * `GET /operator/users/{user_id}` as far as it is clearing's; the gateway adds `pressure`, `sessions` and `streams`.
 *
 * @param isInSession a session makes a user known as long as it lives, with accounts 0 and 1 (AMB-139).
 * @returns USER_NOT_FOUND for a key never seen.
 */
export function userView(state: ClearingState, id: UserId, nowNs: TimestampNs, isInSession = false): Outcome<View> {
  const user = isInSession ? askingUser(state, id) : state.users.get(id);
  if (user === undefined) return rejected(reject('USER_NOT_FOUND', 'this user was never seen'));
  const accounts = [...user.subAccounts.values()].map((account): [string, View] => {
    const { subAccount, kind, name, asset } = account.row;
    const view = { kind, name, ...(asset === null ? {} : { asset }), balances: balancesView(account) };
    return [String(subAccount), { ...view, positions: positionsView(state, account) }];
  });
  const { row } = user;
  return accepted({
    user_id: id,
    is_mm: row.isMarketMaker,
    config_nonce: row.configNonce,
    sub_accounts: Object.fromEntries(accounts),
    isolated_lots: [],
    withdrawal_usage: usageView(state, id, nowNs),
    action_nonces: { transfer: row.transferNonce, close_position: row.closePositionNonce },
  });
}

/** Usage by asset; an hour after its first accrual it is 0, which is not shown. */
function usageView(state: ClearingState, user: UserId, nowNs: TimestampNs): View {
  const entries: [string, View][] = [];
  for (const asset of state.assets.keys()) {
    const row = state.withdrawalUsage.get(`${user}/${asset}`);
    if (row === undefined || row.usage === 0n || nowNs - row.startedNs >= HOUR_NS) continue;
    entries.push([asset, { usage: format18(row.usage), started_at_ns: row.startedNs }]);
  }
  return Object.fromEntries(entries);
}

/** Matches that are not decided: held ones and those of units that are not complete. */
export function pendingFillCount(state: ClearingState): number {
  const waiting = state.hooks.waiting.filter((input) => input.kind === 'matched').length;
  return state.markets.reduce((sum, market) => sum + market.fillGroup.length, waiting);
}

/** The clearing part of `counts` in `GET /operator/state`. */
export function countsView(state: ClearingState): Readonly<Record<string, number>> {
  let subAccounts = 0;
  for (const user of state.users.values()) subAccounts += user.subAccounts.size;
  return {
    users: state.users.size,
    sub_accounts: subAccounts,
    open_orders: state.markets.reduce((sum, market) => sum + market.orders.size, 0),
    pending_fills: pendingFillCount(state),
    confirmed_trades: state.tallies.trades.count,
    rolled_back_fills: state.tallies.rolled_back_fills.count,
    deposits: state.tallies.deposits.count,
  };
}

/**
 * `GET /operator/backstop`: capital, and every sub-account that was ever taken over, by index. Equity is at the mark, the
 * requirement at the binding price.
 */
export function backstopView(state: ClearingState, nowNs: TimestampNs): View {
  const rows = [...state.backstopRows.values()].sort((a, b) => a.index - b.index);
  return {
    account: state.settings.backstop_account,
    capital: format18(capitalOf(state)),
    sub_accounts: rows.map((row) => backstopRowView(row, accountOfRow(state, row), nowNs)),
  };
}

function backstopRowView(row: BackstopRow, account: SubAccountSlot | undefined, nowNs: TimestampNs): View {
  const spot = [...(account?.balances.values() ?? [])].filter(({ owned }) => owned !== 0n);
  const positions = [...(account?.positions.values() ?? [])].filter(({ legs }) => isOpen(legs));
  const { equity, initialSurplus, bindingEquity } = figuresOf(
    account === undefined ? emptySums() : marginSumsOf(account, nowNs),
  );
  return {
    index: row.index,
    source_user: row.sourceUser,
    source_index: row.sourceIndex,
    state: row.state,
    spot: byAsset(spot, ({ owned }) => format18(owned)),
    positions: byAsset(positions, ({ legs }) => ({ base: format18(legs.base), quote: format18(legs.quote) })),
    provisional_collateral: format18(row.provisional),
    posted_collateral: format18(row.posted),
    equity: format18(equity),
    im_surplus: format18(initialSurplus),
    im_requirement: format18(subtract18(bindingEquity, initialSurplus)),
    adl_closed: byAsset(row.adlClosed, ({ quantity }) => format18(quantity)),
  };
}

/** An object by asset, in the numeric order of assets. */
function byAsset<Entry extends { readonly asset: AssetId }>(
  entries: readonly Entry[],
  value: (entry: Entry) => unknown,
): View {
  const sorted = [...entries].sort((a, b) => compareAssetIds(a.asset, b.asset));
  return Object.fromEntries(sorted.map((entry) => [entry.asset, value(entry)]));
}
