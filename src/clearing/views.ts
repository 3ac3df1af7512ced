/**
 * What the operator API reads from clearing (operator-api.md 4.7, 6): plain objects in wire form. They show what is
 * applied; the shell serves them after the flush.
 */
import { mulDivFloor, notional18, powerOfTen, quantity18, subtract18, tradingFee18 } from '../core/arithmetic.ts';
import { must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import { type AssetId, compareAssetIds, isToken, USD, type UserId } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { HOUR_NS, ONE_18, type TimestampNs } from '../core/units.ts';
import { emptySums, figuresOf } from '../risk/account.ts';
import { isOpen } from '../risk/position.ts';
import { marginSumsOf } from './account-margin.ts';
import { allBalances, askingUser, SPOT_ACCOUNT } from './balances.ts';
import { heldOf } from './holds.ts';
import { accountOfRow, capitalOf } from './liquidation/backstop-capital.ts';
import { allPositions } from './positions.ts';
import { tokenKey } from './registry/registry-assets.ts';
import type { BackstopRow } from './rows.ts';
import type { ClearingState, PositionSlot, SubAccountSlot, UserSlot } from './state.ts';
import { undecidedFillsOf } from './undecided-fills.ts';

type View = Readonly<Record<string, unknown>>;

interface LedgerSums {
  spot: bigint;
  isolated: bigint;
  legs: bigint;
  locks: bigint;
  fees: bigint;
  backstop: bigint;
  /** These three of the running sums. */
  faucet: bigint;
  pool: bigint;
  credited: bigint;
  /** Units of its tokens in their vaults. */
  held: bigint;
}

/** Counts balances anew, so the answer does not rest on the running sums. A job: a unit is a balance or a position. */
function* countBalances(state: ClearingState): Generator<number, Map<AssetId, LedgerSums>> {
  const { fee_account: feeAccount, backstop_account: backstopAccount } = state.settings;
  const sums = new Map<AssetId, LedgerSums>();
  for (const slot of allBalances(state)) {
    const sum = sumsOf(state, sums, slot.asset);
    sum.locks += slot.locked;
    if (slot.user === feeAccount) sum.fees += slot.owned;
    else if (slot.user === backstopAccount) sum.backstop += slot.owned;
    else if (isToken(slot.asset)) sum.isolated += slot.owned;
    else sum.spot += slot.owned;
    yield 1;
  }
  for (const { asset, legs } of allPositions(state)) {
    sumsOf(state, sums, asset).legs += legs.base;
    sumsOf(state, sums, USD).legs += legs.quote;
    yield 1;
  }
  for (const { asset, faucet, backstopCredits, rebalancingPool, vaultHoldings } of state.totals.values()) {
    const sum = sumsOf(state, sums, asset);
    sum.faucet += faucet;
    sum.backstop += backstopCredits;
    sum.pool += rebalancingPool;
    sum.credited += vaultHoldings;
  }
  for (const { asset, token, chainId, baseUnits } of state.vaultTokens.values()) {
    const decimals = must(
      state.tokenDecimals.get(tokenKey(token, chainId)),
      'the decimals of a token are kept for ever',
    );
    sumsOf(state, sums, asset).held += mulDivFloor(baseUnits, ONE_18, powerOfTen(decimals));
  }
  return sums;
}

/** A token on its chain counts with the asset that it is of. */
function sumsOf(state: ClearingState, sums: Map<AssetId, LedgerSums>, asset: AssetId): LedgerSums {
  const of = state.vaultTokens.get(asset)?.asset ?? state.tokens.get(asset)?.asset ?? asset;
  const known = sums.get(of);
  if (known !== undefined) return known;
  const sums0 = { spot: 0n, isolated: 0n, legs: 0n, locks: 0n, fees: 0n, backstop: 0n };
  const fresh: LedgerSums = { ...sums0, faucet: 0n, pool: 0n, credited: 0n, held: 0n };
  sums.set(of, fresh);
  return fresh;
}

/** Sums by name, as text. */
export interface LedgerView {
  readonly assets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * `GET /operator/ledger`, as a job. Isolated balances of a token count with its asset, and so do its units; the
 * backstop's own spot balance is part of its capital. Dust is what units are worth beyond what was credited for them:
 * only tokens of more than 18 decimals have it.
 */
export function* ledgerView(state: ClearingState): Generator<number, LedgerView> {
  const sums = yield* countBalances(state);
  const entries = [...sums].sort(([a], [b]) => compareAssetIds(a, b));
  return { assets: Object.fromEntries(entries.map(([asset, sum]) => [asset, ledgerEntry(sum)])) };
}

function ledgerEntry(sum: LedgerSums): Readonly<Record<string, string>> {
  const { spot, legs, locks, fees, pool, backstop, isolated, faucet, credited, held } = sum;
  const dust = held - credited;
  const claims = spot + legs + locks + fees + pool + backstop + isolated + faucet + dust;
  return {
    spot: format18(spot),
    margin_legs: format18(legs),
    locks: format18(locks),
    fees: format18(fees),
    rebalancing_pool: format18(pool),
    backstop_capital: format18(backstop),
    isolated: format18(isolated),
    faucet: format18(faucet),
    dust: format18(dust),
    claims: format18(claims),
    vault_holdings: format18(held),
    difference: format18(claims - held),
  };
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
    isolated_lots: lotsView(user),
    withdrawal_usage: usageView(state, id, nowNs),
    action_nonces: { transfer: row.transferNonce, close_position: row.closePositionNonce },
  });
}

/** Isolated lots of account 0 without what withdrawals have locked, by token, then oldest first. */
function lotsView({ subAccounts }: UserSlot): readonly View[] {
  const slots = [...(subAccounts.get(SPOT_ACCOUNT)?.balances.values() ?? [])].filter(({ lots }) => lots !== null);
  slots.sort((a, b) => compareAssetIds(a.asset, b.asset));
  return slots.flatMap(({ asset, lots }) =>
    (lots?.shown() ?? []).map(({ amount, creditedNs }) => {
      return { asset, amount: format18(amount), credited_at_ns: creditedNs };
    }),
  );
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
function pendingFillCount(state: ClearingState): number {
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
