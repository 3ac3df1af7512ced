/**
 * The clearing engine as a function: state + batch → effects. One batch is one journal record; the shell appends and
 * flushes the record, then releases the effects. The same batches give the same state and the same effects anywhere.
 *
 *   inputs ──verdictsNeeded──▶ shell verifies ──▶ Batch {time, inputs, verdicts} ──applyBatch──▶ effects
 *
 * How inputs are cut into batches changes nothing but what is published once per batch, which is `marketDecided` and how
 * balances and positions are after a run of markets' inputs, and the times that are a batch's.
 *
 * A broken promise throws InvariantError, and the node must stop (operator-api.md 1).
 */
import { must, unreachable } from '../core/assert.ts';
import type { UserId } from '../core/ids.ts';
import { ORDER_FLAG, SIGNATURE_VERDICT } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { changeUser, ensureUser, flushChangedBalances } from './balances.ts';
import { assertConserved, assertPoolCovered } from './checks.ts';
import type { Effect } from './effects.ts';
import { applyChainStep } from './funds/chain-cursors.ts';
import { applyClosePosition } from './funds/close-position.ts';
import { convertLots } from './funds/deposit-caps.ts';
import { applyCreditUnclaimed, applyDeposit, applyFaucet } from './funds/deposits.ts';
import { applyForcedWithdrawal } from './funds/forced-withdrawals.ts';
import {
  applySettle,
  applySettled,
  applySettlementLapsed,
  applySettlementRefused,
  applySettlementSigned,
  applySettlementVanished,
} from './funds/settlements.ts';
import { applyRename } from './funds/sub-accounts.ts';
import { applyTransfer } from './funds/transfers.ts';
import { applyAcceptDeviation, applyVaultDeviation } from './funds/vault-deviations.ts';
import {
  applyApprovalLapsed,
  applyApprovalSigned,
  applyCancelWithdrawal,
  applyPayoutVanished,
  applyVaultCheckpoint,
  applyWithdraw,
  applyWithdrawalsDue,
  applyWithdrew,
} from './funds/withdrawals.ts';
import { hooksView, setFault, setHold } from './hooks.ts';
import {
  type Batch,
  type ClearingInput,
  type Created,
  isOfMarket,
  type MarketInput,
  type NodeInput,
  type OwnInput,
  type PatchUser,
  type QuoteSetAppliedInput,
} from './inputs.ts';
import { markTimer } from './leader-marks.ts';
import { applyHandover, applyTakeover } from './leadership.ts';
import { applyBackstopStep } from './liquidation/backstop.ts';
import { applyAccountCleared, applyLiquidationStep, applyNodeOrderRefused } from './liquidation/rounds.ts';
import { applyRelease, takeMarketInput } from './market-inputs.ts';
import { keptSignedText, recordVerdict } from './orders.ts';
import { operatorFact, recordFacts } from './outcome-facts.ts';
import { flushChangedPositions } from './positions.ts';
import { applyDeleteProtection, applyPutProtection, applyResetProtection } from './protections.ts';
import { applySetPrices } from './registry/prices.ts';
import { applyPutAsset, applyPutRisk } from './registry/registry-assets.ts';
import { applyPutConfig } from './registry/registry-config.ts';
import { applyPutMarket } from './registry/registry-markets.ts';
import { applyRestarted } from './restart.ts';
import { flushTouchedRisks } from './risks.ts';
import type { OrderRow, RevisionTerms, SignedText } from './rows.ts';
import { applyAddSigner } from './signers/add-signer.ts';
import { isSigned } from './signers/signer-configs.ts';
import type { ClearingMarket, ClearingState } from './state.ts';
import { fireSome } from './triggers.ts';
import { userView } from './views.ts';

/** Records of fired orders that a turn updates, beside two for each of its inputs: so the work ends under any load. */
export const FIRED_PER_TURN = 256;

type Reply = Outcome<Readonly<Record<string, unknown>>>;

/** An order with an unverified signature. */
interface UnverifiedOrder {
  /**
   * Price and quantity are those in force, which a replace may have changed. An accessor, valid until a batch is
   * applied.
   */
  readonly row: OrderRow;
  /** What was signed; null when a checkpoint has written it, and memory holds it no more. */
  readonly signed: SignedText | null;
}

/** A revision of a quote set with an unverified signature, as it is in force or is to be applied. */
export interface UnverifiedQuoteSet {
  readonly set: RevisionTerms;
}

/**
 * Orders whose signature must be verified before these inputs are applied: each once in its life, when its first
 * fill arrives (GEN-05). Node-made orders never.
 *
 * @param sets takes the revisions of quote sets of which an entry has its first fill, each once (QTE-07).
 */
export function verdictsNeeded(
  state: ClearingState,
  inputs: readonly ClearingInput[],
  sets: UnverifiedQuoteSet[] = [],
): readonly UnverifiedOrder[] {
  const needed: UnverifiedOrder[] = [];
  const markets: (UnverifiedInMarket | undefined)[] = [];
  const unverifiedOf = ({ marketIndex }: MarketInput): UnverifiedInMarket => {
    const known = markets[marketIndex];
    if (known !== undefined) return known;
    const market = must(state.markets[marketIndex], 'a market sends events only after clearing made it');
    const unverified = new UnverifiedInMarket(market, state.verdicts, { needed, sets });
    markets[marketIndex] = unverified;
    return unverified;
  };
  for (const input of state.hooks.waiting) unverifiedOf(input).see(input);
  for (const input of inputs) {
    if (!isOfMarket(input)) continue;
    const market = unverifiedOf(input);
    market.see(input);
    if (input.kind !== 'matched') continue;
    market.require(input.makerOrder);
    market.require(input.takerOrder);
  }
  return needed;
}

/** Unverified orders of a market: those that live, and those that are not applied yet. */
class UnverifiedInMarket {
  readonly #market: ClearingMarket;
  /** Verdicts that are there already. */
  readonly #verdicts: ReadonlyMap<Sequence, boolean> | undefined;
  readonly #needed: UnverifiedOrder[];
  readonly #sets: UnverifiedQuoteSet[];
  /** Live orders that were required. */
  readonly #required = new Set<Sequence>();
  /**
   * What is not applied yet, one sequence after the other (market-inputs.ts), from `#first` on: a new order has that of
   * its input. Null where it was required, or is something else.
   */
  readonly #waiting: (Created | QuoteSetAppliedInput | null)[] = [];
  /** The last revision of each set that is not applied yet, by user and slot. */
  readonly #revisions = new Map<string, QuoteSetAppliedInput>();
  /** Revisions that were required. */
  readonly #requiredSets = new Set<Sequence>();
  #first: number | null = null;

  constructor(
    market: ClearingMarket,
    verdicts: ClearingState['verdicts'],
    to: { readonly needed: UnverifiedOrder[]; readonly sets: UnverifiedQuoteSet[] },
  ) {
    this.#market = market;
    this.#verdicts = verdicts.get(market.definition.marketIndex);
    this.#needed = to.needed;
    this.#sets = to.sets;
  }

  see(input: MarketInput): void {
    this.#first ??= input.sequence;
    if (input.kind === 'quoteSetApplied') {
      // Each of its sequences may be an entry.
      for (let taken = 0; taken < input.sequences; taken += 1) this.#waiting.push(input);
      this.#revisions.set(`${input.user}/${input.slot}`, input);
    } else this.#waiting.push(input.kind === 'created' ? input : null);
  }

  require(order: Sequence): void {
    const at = this.#first === null ? -1 : order - this.#first;
    if (at >= 0) this.#requireWaiting(order, at);
    else this.#requireLive(order);
  }

  #requireWaiting(order: Sequence, at: number): void {
    const input = this.#waiting[at];
    if (input?.kind === 'quoteSetApplied') {
      this.#requireSet(input.user, input.slot);
      return;
    }
    if (input?.sequence !== order) return;
    this.#waiting[at] = null;
    // mutant: signature-of-same-batch
    this.#need(input.order, input);
  }

  #requireLive(order: Sequence): void {
    const row = this.#market.orders.get(order);
    if (row === undefined || row.verdict !== SIGNATURE_VERDICT.unknown || this.#required.has(order)) return;
    if (row.quoteSet !== 0) {
      this.#requireSet(row.user, row.quoteSet);
      return;
    }
    this.#required.add(order);
    this.#need(row, keptSignedText(this.#market, order));
  }

  /** The revision that will be in force when the fill is applied: inputs are seen in the order in which they are. */
  #requireSet(user: UserId, slot: number): void {
    const key = `${user}/${slot}`;
    // mutant: verdict-of-revision
    const set = this.#revisions.get(key) ?? this.#market.quoteSets.get(key)?.row;
    if (set === undefined || set.sequence === 0 || this.#requiredSets.has(set.sequence)) return;
    if ('verdict' in set && set.verdict !== SIGNATURE_VERDICT.unknown) return;
    this.#requiredSets.add(set.sequence);
    const { sequence, setId, revisionNs, goodUntilNs, maxFeeRate, subAccount, flags, text, signatures } = set;
    const { marketIndex } = this.#market.definition;
    const appliedNs = 'timeNs' in set ? set.timeNs : set.appliedNs;
    const terms = {
      marketIndex,
      user,
      sequence,
      setId,
      appliedNs,
      revisionNs,
      goodUntilNs,
      maxFeeRate,
      subAccount,
      flags,
    };
    if (this.#verdicts?.has(sequence) !== true) this.#sets.push({ set: { ...terms, text, signatures } });
  }

  #need(row: OrderRow, signed: SignedText | null): void {
    if (isUnverified(row) && this.#verdicts?.has(row.orderSequence) !== true) this.#needed.push({ row, signed });
  }
}

function isUnverified(row: OrderRow): boolean {
  return row.verdict === SIGNATURE_VERDICT.unknown && (row.flags & ORDER_FLAG.nodeMade) === 0;
}

/** Applies a batch and appends what follows from it to `effects`. Assets in balance are asserted at its end (AMB-116). */
export function applyBatch(state: ClearingState, batch: Batch, effects: Effect[]): void {
  state.outcomes?.begin();
  for (const verdict of batch.verdicts) recordVerdict(state, verdict);
  for (const input of batch.inputs) {
    applyInput(state, input, batch.timeNs, effects);
  }
  settleBatch(state, batch.timeNs, effects);
  state.outcomes?.close();
  if (state.firing.size > 0) fireSome(state, FIRED_PER_TURN + 2 * batch.inputs.length);
}

/** What follows once from all that the inputs of a batch changed. */
export function settleBatch(state: ClearingState, timeNs: TimestampNs, effects: Effect[]): void {
  // Fills of a batch move the same balances many times: published when all are applied, or before the reply to a request.
  publishChanged(state, effects);
  for (const totals of state.touchedTotals) {
    assertConserved(totals);
    assertPoolCovered(totals);
  }
  state.touchedTotals.clear();
  flushTouchedRisks(state, effects);
  for (const market of state.touchedMarkets) {
    market.isTouched = false;
    effects.push({
      kind: 'marketDecided',
      marketIndex: market.definition.marketIndex,
      throughTradeId: market.decidedTradeId,
      throughSequence: market.decidedSequence,
      timeNs,
    });
  }
  state.touchedMarkets.clear();
}

function publishChanged(state: ClearingState, effects: Effect[]): void {
  flushChangedBalances(state, effects);
  flushChangedPositions(state, effects);
}

function applyInput(state: ClearingState, input: ClearingInput, nowNs: TimestampNs, effects: Effect[]): void {
  const { outcomes } = state;
  if (outcomes === null) {
    decideInput(state, input, nowNs, effects);
    return;
  }
  outcomes.noCause();
  const before = effects.length;
  decideInput(state, input, nowNs, effects);
  recordFacts(state, outcomes, effects, before);
}

function decideInput(state: ClearingState, input: ClearingInput, nowNs: TimestampNs, effects: Effect[]): void {
  if (isOfMarket(input)) {
    takeMarketInput(state, input, nowNs, effects);
    return;
  }
  if (isOwn(input)) {
    applyOwnInput(state, input, nowNs, effects);
    publishChanged(state, effects);
    return;
  }
  const outcome = applyNodeInput(state, input, nowNs, effects);
  // These may free room below a cap.
  if (input.kind === 'putAsset' || input.kind === 'withdrew') convertLots(state, nowNs, effects);
  // What is set aside for a request is freed by its reply: the balances that it changed come before that.
  publishChanged(state, effects);
  effects.push({ kind: 'replied', request: input.request, outcome });
}

function isOwn(input: NodeInput): input is OwnInput {
  switch (input.kind) {
    case 'restarted':
    case 'takeover':
    case 'handover':
    case 'liquidationStep':
    case 'backstopStep':
    case 'withdrawalsDue':
    case 'lotsDue':
      return true;
    default:
      return false;
  }
}

function applyOwnInput(state: ClearingState, input: OwnInput, nowNs: TimestampNs, effects: Effect[]): void {
  if (input.kind === 'restarted') applyRestarted(state, input, nowNs, effects);
  else if (input.kind === 'takeover') applyTakeover(state, input, nowNs, effects);
  else if (input.kind === 'handover') applyHandover(state, input);
  else if (input.kind === 'liquidationStep') applyLiquidationStep(state, input, nowNs, effects);
  else if (input.kind === 'backstopStep') applyBackstopStep(state, input, nowNs, effects);
  else if (input.kind === 'lotsDue') convertLots(state, nowNs, effects);
  else applyWithdrawalsDue(state, nowNs, effects);
}

function applyNodeInput(
  state: ClearingState,
  input: Exclude<NodeInput, OwnInput>,
  nowNs: TimestampNs,
  effects: Effect[],
): Reply {
  const refusal = isSigned(input) ? state.signers.refuseAction(input, nowNs) : null;
  if (refusal !== null) return rejected(refusal);
  switch (input.kind) {
    case 'putAsset':
      return applyPutAsset(state, input, effects);
    case 'putRisk':
      return applyPutRisk(state, input, effects);
    case 'putMarket':
      return applyPutMarket(state, input, effects);
    case 'patchUser':
      return applyPatchUser(state, input, nowNs, effects);
    case 'markTimer':
      markTimer(state, input);
      return accepted({});
    case 'putConfig':
      return applyPutConfig(state, input, effects);
    case 'setPrices':
      return applySetPrices(state, input, nowNs, effects);
    case 'faucet':
      return applyFaucet(state, input, effects);
    case 'deposit':
      return applyDeposit(state, input, nowNs, effects);
    case 'creditUnclaimed':
      return applyCreditUnclaimed(state, input, nowNs, effects);
    case 'vaultDeviation':
      return applyVaultDeviation(state, input);
    case 'acceptDeviation':
      return applyAcceptDeviation(state, input);
    case 'transfer':
      return applyTransfer(state, input, nowNs, effects);
    case 'withdraw':
      return applyWithdraw(state, input, nowNs, effects);
    case 'cancelWithdrawal':
      return applyCancelWithdrawal(state, input, nowNs, effects);
    case 'vaultCheckpoint':
      return applyVaultCheckpoint(state, input, nowNs, effects);
    case 'approvalSigned':
      return applyApprovalSigned(state, input, nowNs, effects);
    case 'approvalLapsed':
      return applyApprovalLapsed(state, input, nowNs, effects);
    case 'withdrew':
      return applyWithdrew(state, input, nowNs, effects);
    case 'settle':
      return applySettle(state, input, nowNs, effects);
    case 'settlementSigned':
      return applySettlementSigned(state, input, nowNs, effects);
    case 'settlementRefused':
      return applySettlementRefused(state, input, nowNs, effects);
    case 'settlementLapsed':
      return applySettlementLapsed(state, input, nowNs, effects);
    case 'settled':
      return applySettled(state, input, nowNs, effects);
    case 'payoutVanished':
      return applyPayoutVanished(state, input, effects);
    case 'settlementVanished':
      return applySettlementVanished(state, input, nowNs, effects);
    case 'forcedWithdrawal':
      return applyForcedWithdrawal(state, input, nowNs, effects);
    case 'chainStep':
      return applyChainStep(state, input, nowNs);
    case 'closePosition':
      return applyClosePosition(state, input, nowNs, effects);
    case 'addSigner':
      return applyAddSigner(state, input, nowNs, effects);
    case 'renameSubAccount':
      return applyRename(state, input, effects);
    case 'putProtection':
      return applyPutProtection(state, input, effects);
    case 'deleteProtection':
      return applyDeleteProtection(state, input, nowNs, effects);
    case 'resetProtection':
      return applyResetProtection(state, input, effects);
    case 'hold':
      setHold(state.hooks, input.asset);
      return accepted(hooksView(state));
    case 'release':
      applyRelease(state, input, nowNs, effects);
      return accepted(hooksView(state));
    case 'fault':
      setFault(state.hooks, input.fault);
      return accepted(hooksView(state));
    case 'accountCleared':
      applyAccountCleared(state, input);
      return accepted({});
    case 'nodeOrderRefused':
      applyNodeOrderRefused(state, input);
      return accepted({});
    case 'statement':
      state.outcomes?.fact({ kind: 'statement', subject: input.subject, text: input.text });
      return accepted({});
    case 'operatorCall':
      state.outcomes?.fact(operatorFact(input));
      return accepted({});
    case 'clockMoved':
      return accepted({});
    default:
      return unreachable(input);
  }
}

/** `PUT /operator/users/{user_id}`: also for a key never seen (operator-api.md 4.7). */
function applyPatchUser(state: ClearingState, input: PatchUser, nowNs: TimestampNs, effects: Effect[]): Reply {
  const { user, isMarketMaker } = input;
  const slot = ensureUser(state, user, effects);
  if (slot.row.isMarketMaker !== isMarketMaker) changeUser(state, slot, { ...slot.row, isMarketMaker }, effects);
  return userView(state, user, nowNs);
}
