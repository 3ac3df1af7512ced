/**
 * The liquidation of one account (service spec 3.6, LIQ-03 to LIQ-07, LIQ-10, AMB-57): what each input makes of its row.
 *
 *                  ┌──────────────────────── at roundNs + interval ────────────────────────┐
 *                  ▼                                                                       │
 *   none ─▶ cancelling ──accountCleared──▶ settling ──all decided──▶ ordering ──no more──▶ waiting
 *                                                                    │     ▲
 *                                                              order sent  │ order over
 *                                                                    ▼     │
 *                                                                   outstanding
 *
 *   none         the account is not under liquidation
 *   cancelling   its live orders are being cancelled (LIQ-04)
 *   settling     it has none; fills of them that were matched before are not all decided: nothing can be sized yet
 *   ordering     one position after the other gets its order, the largest first (LIQ-05)
 *   outstanding  stage `ordering` with an order that is not over
 *   waiting      the round is over, the next one begins by the node's clock
 *
 * A row ends as soon as the account is not to be liquidated any more (LIQ-03), but not while an order is outstanding or
 * an `accountCleared` is pending: an answer for a liquidation that is over would be taken for that of the next.
 * After the last round, or without an open position, the backstop takes the account over (take-over.ts), which ends the
 * row too.
 *
 * A round counts when every open position with a usable price has had its order. One of a halted market gets none: the
 * round is repeated at the interval under its number, and nothing is taken over meanwhile. One without a price gets none
 * either, and goes with the account when that is taken over (MON-11). Before all that the account holds has had a price
 * since the start of the node, or an hour after it, nothing begins and nothing is ordered (AMB-110).
 *
 * A step is decided by the state and the time of its batch alone, so a step too many changes nothing. When a step is due is
 * `isStepDue`; steps are made by pacing.ts.
 *
 * Not here: which accounts are looked at (detection.ts), the figures (src/risk/liquidation.ts), what a fill of such an
 * order is checked for (fill-checks.ts).
 */
import { must } from '../../core/assert.ts';
import type { AssetId } from '../../core/ids.ts';
import { MARKET_STATUS, SIDE, type Side } from '../../core/order-terms.ts';
import { MILLISECOND_NS, type RawPrice, type RawQuantity, type TimestampNs } from '../../core/units.ts';
import { isLiquidatable } from '../../risk/account.ts';
import { isMarginType } from '../../risk/account-types.ts';
import { liquidationPrice, liquidationReference, wholeLots } from '../../risk/liquidation.ts';
import { magnitude } from '../../risk/position.ts';
import { hasOracleRound, maintenanceOf } from '../account-margin.ts';
import type { Effect } from '../effects.ts';
import type { AccountCleared, LiquidationStep, NodeOrderRefused } from '../inputs.ts';
import { assetTermsOf } from '../risks.ts';
import type { LiquidationRow, LiquidationStage, MarketPlace } from '../rows.ts';
import type { ClearingMarket, ClearingState, PositionSlot, SubAccountSlot } from '../state.ts';
import { isBackstop, nodeOrderId, nodeOrderOver, setLiquidation } from './liquidation-rows.ts';
import { takeOver } from './take-over.ts';

/** An account at one time, and where what follows goes. */
interface Case {
  readonly state: ClearingState;
  readonly account: SubAccountSlot;
  readonly nowNs: TimestampNs;
  readonly effects: Effect[];
}

/** Where an account stands; `outstanding` is stage `ordering` with an order. */
type Situation = 'none' | Exclude<LiquidationStage, 'ended'> | 'outstanding';
/** What a step does in each situation. The row is there in all but `none`. */
type Step = (of: Case, row: LiquidationRow) => void;

const nothing: Step = () => undefined;
const STEPS: Readonly<Record<Situation, Step>> = {
  none: nothing,
  // mutant: answer-of-this-liquidation
  cancelling: nothing,
  settling: unlessHealthy((of, row) => {
    if (isSettled(of.state, row)) order(of, { ...row, stage: 'ordering', through: [] });
  }),
  ordering: unlessHealthy(order),
  outstanding: nothing,
  waiting: unlessHealthy((of, row) => {
    if (isRoundDue(of.state, row, of.nowNs)) nextRound(of, row);
  }),
};
/** What a start makes of each stage: orders of the node are over, and cancels are requested again. */
const RESTARTED: Readonly<Record<LiquidationStage, LiquidationStage>> = {
  cancelling: 'cancelling',
  settling: 'cancelling',
  ordering: 'ordering',
  waiting: 'waiting',
  ended: 'ended',
};

function situationOf(row: LiquidationRow | null): Situation {
  if (row === null || row.stage === 'ended') return 'none';
  return row.order === null ? row.stage : 'outstanding';
}

/** What is next for an account. */
export function applyLiquidationStep(
  state: ClearingState,
  { user, subAccount }: LiquidationStep,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  const account = state.users.get(user)?.subAccounts.get(subAccount);
  if (account === undefined) return;
  const of: Case = { state, account, nowNs, effects };
  const row = account.liquidation;
  if (row === null) begin(of);
  else STEPS[situationOf(row)](of, row);
}

/** Whether a step would change something for an account under liquidation, its health apart. */
export function isStepDue(state: ClearingState, row: LiquidationRow, nowNs: TimestampNs): boolean {
  const situation = situationOf(row);
  if (situation === 'settling') return isSettled(state, row);
  if (situation === 'waiting') return isRoundDue(state, row, nowNs);
  return situation === 'ordering';
}

/**
 * Whether the round is over and will be repeated: a position that has a price had no order, in a halted market or before all
 * prices came. One without a price keeps nothing waiting (MON-11).
 */
export function isRoundBlocked(
  account: SubAccountSlot,
  { stage, ordered }: LiquidationRow,
  nowNs: TimestampNs,
): boolean {
  if (stage !== 'waiting') return false;
  return !openPositions(account).every((slot) => ordered.includes(slot.asset) || isUnpriced(slot, nowNs));
}

/** Whether no price is usable that an order of the node for the position could be derived from. */
function isUnpriced({ risk, legs }: PositionSlot, nowNs: TimestampNs): boolean {
  return liquidationReference(closingSide(legs), risk, nowNs) === null;
}

function closingSide({ base }: PositionSlot['legs']): Side {
  return base > 0n ? SIDE.sell : SIDE.buy;
}

/** The account has no live order any more (LIQ-04). */
export function applyAccountCleared(state: ClearingState, input: AccountCleared): void {
  const account = state.users.get(input.user)?.subAccounts.get(input.subAccount);
  const row = account?.liquidation ?? null;
  if (account === undefined || row?.stage !== 'cancelling') return;
  setLiquidation(state, account, { ...row, stage: 'settling', through: input.through });
}

/** An order of the node was not admitted. One that was not even tried is sent again, in the same round. */
export function applyNodeOrderRefused(state: ClearingState, input: NodeOrderRefused): void {
  if (!nodeOrderOver(state, input) || input.isFinal) return;
  const account = state.users.get(input.user)?.subAccounts.get(input.subAccount);
  const row = account?.liquidation ?? null;
  if (account === undefined || row === null) return;
  setLiquidation(state, account, { ...row, stage: 'waiting', ordered: row.ordered.slice(0, -1) });
}

/** A start: an order that was outstanding is over, and counts as not sent, be some of it filled or not. */
export function restartLiquidations(state: ClearingState): void {
  for (const account of state.liquidations) {
    const row = must(account.liquidation, 'an account under liquidation has a row');
    const ordered = row.order === null ? row.ordered : row.ordered.slice(0, -1);
    setLiquidation(state, account, { ...row, stage: RESTARTED[row.stage], through: [], ordered, order: null });
  }
}

/** Whether the account is one that may be liquidated, and is to be (LIQ-03). */
export function isToBeLiquidated(state: ClearingState, account: SubAccountSlot, nowNs: TimestampNs): boolean {
  if (!isMarginType(account.row) || isBackstop(state, account.row.user)) return false;
  return isLiquidatable(maintenanceOf(account, nowNs));
}

function begin(of: Case): void {
  const { state, account, nowNs, effects } = of;
  // mutant: liquidation-begins-below
  if (!isToBeLiquidated(state, account, nowNs) || !hasOracleRound(state, account, nowNs)) return;
  const { user, subAccount } = account.row;
  effects.push({ kind: 'liquidationChanged', user, subAccount, stage: 'begun', timeNs: nowNs });
  cancel(of, { user, subAccount, startedNs: nowNs, round: 1 });
}

/** A round begins with the cancels. */
function cancel(
  { state, account, nowNs, effects }: Case,
  round: Pick<LiquidationRow, 'user' | 'subAccount' | 'startedNs' | 'round'>,
): void {
  const { user, subAccount } = round;
  const row: LiquidationRow = {
    ...round,
    roundNs: nowNs,
    stage: 'cancelling',
    through: [],
    ordered: [],
    order: null,
  };
  setLiquidation(state, account, row);
  effects.push({ kind: 'cancelAccount', user, subAccount, timeNs: nowNs });
}

function unlessHealthy(step: Step): Step {
  return (of, row) => {
    if (isToBeLiquidated(of.state, of.account, of.nowNs)) step(of, row);
    else end(of);
  };
}

function end({ state, account, nowNs, effects }: Case): void {
  const { user, subAccount } = account.row;
  setLiquidation(state, account, null);
  effects.push({ kind: 'liquidationChanged', user, subAccount, stage: 'ended', timeNs: nowNs });
}

/** Whether everything is decided that was published when the account was cleared. */
function isSettled({ markets }: ClearingState, { through }: LiquidationRow): boolean {
  return through.every(({ marketIndex, sequence }: MarketPlace) => {
    const market = markets[marketIndex];
    return market === undefined || (market.decidedSequence >= sequence && market.fillGroup.length === 0);
  });
}

function isRoundDue({ settings }: ClearingState, { roundNs }: LiquidationRow, nowNs: TimestampNs): boolean {
  return nowNs >= roundNs + BigInt(settings.liquidation_interval_ms) * MILLISECOND_NS;
}

function nextRound(of: Case, row: LiquidationRow): void {
  const { user, subAccount, startedNs, round } = row;
  const next = isRoundBlocked(of.account, row, of.nowNs)
    ? round
    : Math.min(round + 1, of.state.settings.liquidation_rounds);
  cancel(of, { user, subAccount, startedNs, round: next });
}

function openPositions({ positions }: SubAccountSlot): readonly PositionSlot[] {
  return [...positions.values()].filter(({ legs }) => legs.base !== 0n);
}

/** An order for a position as it could be sent now. */
interface Orderable {
  readonly asset: AssetId;
  readonly market: ClearingMarket;
  readonly side: Side;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  /** |base| × mark, USD, times 10^18. */
  readonly size: bigint;
}

/** null: its market is halted, it has no usable price, or it is less than a lot. */
function orderableOf({ state, nowNs }: Case, { asset, risk, legs }: PositionSlot): Orderable | null {
  const market = must(state.marketOfAsset.get(asset), 'a position is of an asset with a market');
  const { definition } = market;
  const side = closingSide(legs);
  const reference = liquidationReference(side, risk, nowNs);
  if (definition.status === MARKET_STATUS.halted || reference === null) return null;
  const quantity = wholeLots(legs.base, definition);
  if (quantity === 0) return null;
  const price = liquidationPrice(side, reference, risk.risk, definition);
  return { asset, market, side, price, quantity, size: magnitude(legs.base) * assetTermsOf(risk, nowNs).prices.mark };
}

/** The order of the largest position that has had none in this round; without one, the round is over. */
function order(of: Case, row: LiquidationRow): void {
  const { account, nowNs } = of;
  const positions = openPositions(account);
  const all = positions.flatMap((slot) => orderableOf(of, slot) ?? []);
  const isPriced = hasOracleRound(of.state, account, nowNs);
  const open = isPriced ? all.filter(({ asset }) => !row.ordered.includes(asset)) : [];
  // mutant: largest-position-first
  const largest = open.reduce<Orderable | null>(
    (best, one) => (best === null || comesFirst(one, best) ? one : best),
    null,
  );
  if (largest !== null) {
    send(of, row, largest);
    return;
  }
  // mutant: take-over-with-prices
  const unpriced = positions.filter((slot) => isUnpriced(slot, nowNs));
  const isWhole = isPriced && all.length + unpriced.length === positions.length;
  const isLast = positions.length === 0 || row.round >= of.state.settings.liquidation_rounds;
  // mutant: take-over-after-last-round
  if (isWhole && isLast && takeOver(of.state, account, nowNs, of.effects)) return;
  setLiquidation(of.state, account, { ...row, stage: 'waiting' });
}

function comesFirst(one: Orderable, other: Orderable): boolean {
  if (one.size !== other.size) return one.size > other.size;
  return one.market.definition.marketIndex < other.market.definition.marketIndex;
}

/** Reduce-only, opposite, at full size (LIQ-05). */
function send({ state, account, nowNs, effects }: Case, row: LiquidationRow, what: Orderable): void {
  const { asset, market, side, price, quantity } = what;
  const { marketIndex } = market.definition;
  const sent = { orderId: nodeOrderId('liq', account, market), marketIndex, side, price, quantity, isSpot: false };
  setLiquidation(state, account, { ...row, stage: 'ordering', ordered: [...row.ordered, asset], order: sent });
  const { user, subAccount } = account.row;
  effects.push({ kind: 'nodeOrder', user, subAccount, ...sent, isLiquidation: true, timeNs: nowNs });
}
