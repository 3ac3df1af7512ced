/**
 * The loop of the backstop over what it has taken over (service spec 3.6.8, BKS-04 to BKS-07, AMB-60): what each step
 * makes of a row, by the state and the time of the batch alone, one piece at a time.
 *
 *   an order is outstanding, or trade ids are requested ──▶ wait
 *   1  net     a position that another row has on the other side: closed against it at the mark
 *   2  clip    a second after the last one: the largest holding, an immediate-or-cancel order at the liquidation price
 *   3  close   nothing is left to sell: quote legs fold, what lacks is posted, USD returns to the capital
 *   4  check   surplus below zero: deleverage; no counterparty, or the cap reached: post up to 2 %
 *
 * A row that is deleveraging is checked before it is clipped. After a start nothing but netting happens before each asset
 * had an oracle price; while one is circuit-broken the row is clipped as far as there are prices, and neither closed nor
 * checked.
 *
 * States and transitions: backstop-states.ts. Not here: the trades of auto-deleveraging (deleveraging.ts).
 */

import { add18, mulDivFloor, smaller, subtract18 } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import { parseDecimal18 } from '../../core/decimal.ts';
import { type AssetId, compareAssetIds, USD } from '../../core/ids.ts';
import { LEDGER_ENTRY } from '../../core/ledger-entries.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { SIDE } from '../../core/order-terms.ts';
import { type Amount18, ONE_18, SECOND_NS, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import {
  clipQuantity,
  collateralToBuffer,
  hasBuffer,
  isBelowInitialMargin,
  liquidationPrice,
  liquidationReference,
} from '../../risk/liquidation.ts';
import { afterFill, isOpen, magnitude, NO_LEGS } from '../../risk/position.ts';
import { marginSumsOf } from '../account-margin.ts';
import { accountBalance, balanceSlot, ensureUser, SPOT_ACCOUNT, setOwned } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { BackstopStep, FoundCounterparties } from '../inputs.ts';
import { setLegs } from '../positions.ts';
import { assetTermsOf, riskSlot } from '../risks.ts';
import type { BackstopRow, NodeOrder } from '../rows.ts';
import type { ClearingState, PositionSlot, SubAccountSlot } from '../state.ts';
import { accountOfRow, giveCredit, liveRows, returnUsd } from './backstop-capital.ts';
import { type Holding, holdingsOf, isPriced, isUnwound, isUpdated, largestFirst } from './backstop-holdings.ts';
import { nextBackstopState } from './backstop-states.ts';
import { NO_REQUEST, requestDeleveraging } from './deleveraging.ts';
import { nodeOrderId, setBackstopRow } from './liquidation-rows.ts';
import { quantityOf } from './take-over.ts';

/** From clip to clip of a row (AMB-60). */
const CLIP_INTERVAL_NS: bigint = SECOND_NS;

/** A row that is worked off, with its account as it stands. */
interface Work {
  readonly row: BackstopRow;
  readonly account: SubAccountSlot;
  readonly holdings: readonly Holding[];
  readonly nowNs: TimestampNs;
}

type Step =
  | { readonly kind: 'wait' | 'close' | 'restore' | 'deleverage' }
  | { readonly kind: 'net'; readonly asset: AssetId }
  | { readonly kind: 'clip'; readonly order: NodeOrder };

const WAIT: Step = { kind: 'wait' };

function workOf(state: ClearingState, index: number, nowNs: TimestampNs): Work | null {
  const row = state.backstopRows.get(index);
  if (row === undefined || row.state === 'closed') return null;
  const account = accountOfRow(state, row);
  assert(account !== undefined, 'a row of the backstop has its sub-account');
  return { row, account, holdings: holdingsOf(account), nowNs };
}

/** Whether a step of the row would do anything now: for the pacing, which is not part of a decision. */
export function isBackstopStepDue(state: ClearingState, { index }: BackstopRow, nowNs: TimestampNs): boolean {
  const work = workOf(state, index, nowNs);
  return work !== null && nextStep(state, work).kind !== 'wait';
}

/** Whether that step would deleverage, and may need counterparties that were searched for it. */
export function isDeleverageDue(state: ClearingState, { index }: BackstopRow, nowNs: TimestampNs): boolean {
  const work = workOf(state, index, nowNs);
  return work !== null && nextStep(state, work).kind === 'deleverage';
}

/** What is next for a sub-account of the backstop: nothing for one without a live row. */
export function applyBackstopStep(
  state: ClearingState,
  { index, found = [] }: BackstopStep,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const work = workOf(state, index, nowNs);
  if (work === null) return;
  const step = nextStep(state, work);
  switch (step.kind) {
    case 'wait':
      return;
    case 'net':
      net(state, step.asset, nowNs);
      return;
    case 'clip':
      sendClip(state, work, step.order, effects);
      return;
    case 'close':
      close(state, work, effects);
      return;
    case 'restore':
      setBackstopRow(state, { ...work.row, state: nextBackstopState(work.row.state, 'restored') });
      return;
    case 'deleverage':
      deleverageOrPost(state, work, found, effects);
  }
}

function nextStep(state: ClearingState, work: Work): Step {
  const { row, holdings, nowNs } = work;
  if (row.order !== null || row.adlMarket !== null) return WAIT;
  const netted = nettable(state, work);
  if (netted !== null) return { kind: 'net', asset: netted };
  // mutant: backstop-waits-for-prices
  if (!isUpdated(state, holdings, nowNs)) return WAIT;
  const clip = row.state === 'deleveraging' && isPriced(holdings, nowNs) ? null : clipOf(state, work);
  if (clip !== null) return { kind: 'clip', order: clip };
  if (isUnwound(state, holdings, nowNs)) return canClose(state, work) ? { kind: 'close' } : WAIT;
  return isPriced(holdings, nowNs) ? check(work) : WAIT;
}

function check({ row, account, nowNs }: Work): Step {
  const sums = marginSumsOf(account, nowNs);
  // mutant: backstop-escalates
  if (row.state === 'working') return isBelowInitialMargin(sums) ? { kind: 'deleverage' } : WAIT;
  return hasBuffer(sums) ? { kind: 'restore' } : { kind: 'deleverage' };
}

// ---- netting

/**
 * Positions of an asset that can be netted, the oldest row first. Left out are those of rows with an outstanding order,
 * which counts on what its row has, and those that no leg could hold the proceeds of.
 */
function nettingPositions(state: ClearingState, asset: AssetId, mark: Amount18): readonly PositionSlot[] {
  return liveRows(state).flatMap((row) => {
    const position = row.order === null ? accountOfRow(state, row)?.positions.get(asset) : undefined;
    if (position === undefined || position.legs.base === 0n) return [];
    const { base, quote } = position.legs;
    const isHeld = magnitude(quote) + magnitude(mulDivFloor(base, mark, ONE_18)) <= AMOUNT18_MAX;
    return isHeld ? [position] : [];
  });
}

/** An asset with a price in which this row is on one side and another row on the other; null if there is none. */
function nettable(state: ClearingState, { account, holdings, nowNs }: Work): AssetId | null {
  for (const { risk, isSpot } of holdings) {
    const { mark, isBroken } = assetTermsOf(risk, nowNs).prices;
    if (isSpot || !risk.isPricedSinceStart || isBroken) continue;
    const positions = nettingPositions(state, risk.asset, mark);
    const own = positions.find((position) => position.account === account);
    if (own === undefined) continue;
    if (positions.some(({ legs }) => legs.base < 0n !== own.legs.base < 0n)) return risk.asset;
  }
  return null;
}

/**
 * Closes the longs of an asset against its shorts, over all rows, the oldest of each side first, at the mark (BKS-04):
 * without a trade, a fee or an id.
 */
function net(state: ClearingState, asset: AssetId, nowNs: TimestampNs): void {
  const { mark } = assetTermsOf(riskSlot(state, asset), nowNs).prices;
  const positions = nettingPositions(state, asset, mark);
  const longs = positions.filter(({ legs }) => legs.base > 0n);
  const shorts = positions.filter(({ legs }) => legs.base < 0n);
  let [at, against] = [0, 0];
  state.outcomes?.cause(LEDGER_ENTRY.netting, '');
  for (;;) {
    const long = longs[at];
    const short = shorts[against];
    if (long === undefined || short === undefined) return;
    const base = smaller(long.legs.base, subtract18(ZERO_18, short.legs.base));
    const notional = mulDivFloor(base, mark, ONE_18) as Amount18;
    // mutant: netting-both-sides
    setLegs(state, long, afterFill(long.legs, -base, notional, ZERO_18));
    setLegs(state, short, afterFill(short.legs, base, notional, ZERO_18));
    if (long.legs.base === 0n) at += 1;
    if (short.legs.base === 0n) against += 1;
  }
}

// ---- clips

/**
 * The clip that is due: of the largest holding that has a price; null where none is, or the last one was less than a
 * second ago.
 */
function clipOf(state: ClearingState, { row, account, holdings, nowNs }: Work): NodeOrder | null {
  // mutant: clip-interval
  if (nowNs < row.clipNs + CLIP_INTERVAL_NS) return null;
  const fraction = settingOf(state.settings.backstop_clip_fraction);
  const usd = settingOf(state.settings.backstop_clip_usd);
  if (fraction === 0n || usd === 0n) return null;
  for (const { market, risk, isSpot, amount } of largestFirst(state, holdings, nowNs)) {
    const side = amount < 0n ? SIDE.buy : SIDE.sell;
    const reference = liquidationReference(side, risk, nowNs);
    if (reference === null) continue;
    const taken = quantityOf(isSpot ? row.takenSpot : row.taken, risk.asset);
    const quantity = clipQuantity({ taken, open: amount, fraction, usd, reference }, market.definition);
    if (quantity === 0) continue;
    const price = liquidationPrice(side, reference, risk.risk, market.definition);
    const { marketIndex } = market.definition;
    return { orderId: nodeOrderId('clip', account, market), marketIndex, side, price, quantity, isSpot };
  }
  return null;
}

function settingOf(text: string): bigint {
  const value = parseDecimal18(text);
  assert(value !== null && value >= 0n, 'settings hold decimals');
  return value;
}

function sendClip(state: ClearingState, { row, account, nowNs }: Work, order: NodeOrder, effects: Effect[]): void {
  setBackstopRow(state, { ...row, clipNs: nowNs, order });
  const { user, subAccount } = account.row;
  effects.push({ kind: 'nodeOrder', user, subAccount, ...order, isLiquidation: false, timeNs: nowNs });
}

// ---- auto-deleveraging and posting

/** Escalates (BKS-06); where no market can deleverage, posts what lacks while the surplus is below zero (BKS-07). */
function deleverageOrPost(
  state: ClearingState,
  { row, account, nowNs }: Work,
  found: readonly FoundCounterparties[],
  effects: Effect[],
): void {
  const requested = requestDeleveraging(state, account, { found, nowNs }, effects);
  // The search was for another market than it is now: the next step comes with what is found there.
  if (requested === 'unsearched') return;
  if (requested !== 'none') {
    setBackstopRow(state, { ...row, state: nextBackstopState(row.state, 'belowMargin'), ...requested });
    return;
  }
  const sums = marginSumsOf(account, nowNs);
  // mutant: posting-last-resort
  if (!isBelowInitialMargin(sums)) {
    setBackstopRow(state, { ...row, state: nextBackstopState(row.state, 'restored') });
    return;
  }
  const posted = giveCredit(state, account, collateralToBuffer(sums));
  setBackstopRow(state, { ...row, state: nextBackstopState(row.state, 'posted'), posted: add18(row.posted, posted) });
}

// ---- closing

/** What the account is worth in USD when its quote legs are folded. */
function foldedUsd({ balances, positions }: SubAccountSlot): Amount18 {
  let usd = balances.get(USD)?.owned ?? ZERO_18;
  for (const { legs } of positions.values()) usd = add18(usd, legs.quote);
  return usd;
}

/** Whether account 0 of the backstop can hold what returns to it, beside its own. */
function canClose(state: ClearingState, { account, holdings }: Work): boolean {
  const own = state.users.get(account.row.user)?.subAccounts.get(SPOT_ACCOUNT)?.balances;
  return [
    { asset: USD, amount: foldedUsd(account) },
    ...holdings.map(({ risk, amount }) => ({ asset: risk.asset, amount })),
  ].every(({ asset, amount }) => (own?.get(asset)?.owned ?? 0n) + amount <= AMOUNT18_MAX);
}

/**
 * Closes the row: quote legs fold into USD, what lacks is posted (BKS-07), USD returns to the capital, and what could not
 * be sold goes to account 0 in kind. The index is free for another account.
 */
function close(state: ClearingState, { row, account, holdings, nowNs }: Work, effects: Effect[]): void {
  const { user, subAccount } = account.row;
  const usd = foldedUsd(account);
  // mutant: posting-at-close
  const posted = giveCredit(state, account, (usd < 0n ? -usd : 0n) as Amount18);
  const left = foldedUsd(account);
  state.outcomes?.cause(LEDGER_ENTRY.backstopClose, '');
  // In numeric order: in a map they are in the order in which they came, which a restart does not keep.
  for (const slot of [...account.positions.values()].sort((a, b) => compareAssetIds(a.asset, b.asset))) {
    if (!isOpen(slot.legs)) continue;
    setLegs(state, slot, NO_LEGS);
    effects.push({ kind: 'positionCleared', user, subAccount, asset: slot.asset, timeNs: nowNs });
  }
  setOwned(state, accountBalance(state, account, USD), left);
  returnUsd(state, account, effects);
  state.outcomes?.cause(LEDGER_ENTRY.backstopClose, '');
  const backstop = ensureUser(state, user, effects);
  for (const { risk, amount } of holdings) {
    const own = balanceSlot(state, backstop, SPOT_ACCOUNT, risk.asset);
    setOwned(state, own, add18(own.owned, amount));
    setOwned(state, accountBalance(state, account, risk.asset), ZERO_18);
  }
  const closed = nextBackstopState(row.state, 'emptied');
  setBackstopRow(state, { ...row, state: closed, posted: add18(row.posted, posted) });
}

/** The node has started: no clip is outstanding any more, and no trade ids will come. */
export function restartBackstop(state: ClearingState): void {
  for (const row of state.backstopRows.values()) {
    if (row.order !== null || row.adlMarket !== null) setBackstopRow(state, { ...row, order: null, ...NO_REQUEST });
  }
}
