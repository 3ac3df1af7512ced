/**
 * The state of clearing: every durable fact in memory, plus the little that is not durable (test hooks, fills waiting
 * for their unit, verdicts on their way). Plain data; the rules live in the files named after them.
 *
 * Invariants
 *   (1) A balance is never negative, but by a forced withdrawal (AMB-85), and `claims` of an asset is the sum of owned and locked over all balances and of its
 *       legs over all positions: base legs of the asset, quote legs of USD.
 *   (2) claims + faucet + backstop credits + rebalancing pool = vault holdings, per asset, after every batch (AMB-116). An
 *       asset in address form has what is isolated of its token, an index what is pooled.
 *   (3) What a balance holds is the sum of what the live orders that spend it need, at the fees in force (AMB-52).
 *   (4) Live orders are exactly the records with `end` 0; finished ones wait in `dirty` for a checkpoint and are gone.
 *   Guarded by checks.ts.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../core/hex.ts';
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import { type HashKey, hashKeyOf } from '../core/key-words.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { Side } from '../core/order-terms.ts';
import { type Amount18, type Sequence, type TimestampNs, ZERO_18 } from '../core/units.ts';
import type { AssetTerms } from '../risk/asset-terms.ts';
import type { ExposureEntry, ExposureQueue } from '../risk/exposure-queue.ts';
import type { Legs } from '../risk/position.ts';
import type { PriceSource } from '../risk/prices.ts';
import type { ReservedByBuys } from '../risk/reservation.ts';
import type { RiskTerms } from '../risk/risk-terms.ts';
import { FinishedOrders } from './finished-orders.ts';
import { ChainCursors } from './funds/chain-cursors.ts';
import { LotBook, type OwnedLots } from './funds/lot-book.ts';
import type { PooledHour } from './funds/pooled-hour.ts';
import { SettlementBook } from './funds/settlement-book.ts';
import { SignedApprovals } from './funds/signed-approvals.ts';
import { UsedTexts } from './funds/used-texts.ts';
import { WithdrawalBook, type WithdrawalSlot } from './funds/withdrawal-book.ts';
import type { MarketInput, MatchedInput, RejectFill } from './inputs.ts';
import { type AccountWatch, Detection } from './liquidation/detection.ts';
import type { WatchList } from './liquidation/watch-list.ts';
import { ClearingOrders, type MarketOrders, type OrderIndex } from './live-orders.ts';
import type { OutcomeRecorder } from './outcomes.ts';
import { DEFAULT_SETTINGS, type Settings } from './registry/settings.ts';
import type {
  AdlUsageRow,
  AssetRow,
  BackstopRow,
  ConfigRow,
  CountedMatch,
  CursorEventRow,
  DepositRow,
  LeadershipRow,
  LiquidationRow,
  PayoutReserveRow,
  PriceRow,
  ProtectionRow,
  QuoteSetRow,
  SettlementRow,
  SignedApprovalRow,
  SignedTextRow,
  SubAccountRow,
  TallyName,
  TradeRow,
  UnclaimedRow,
  UsedTextRow,
  UserRow,
  VaultDeviationRow,
  VaultTokenRow,
  WithdrawalUsageRow,
} from './rows.ts';
import { SignerConfigs } from './signers/signer-configs.ts';
import { Tally } from './tally.ts';
import type { TriggerHeap } from './trigger-heaps.ts';

/** What margin needs of one asset; of USD there is none. Sums are derived, kept with each change (AMB-54). */
export interface RiskSlot {
  readonly asset: AssetId;
  /** The terms of the risk row in force. */
  risk: RiskTerms;
  /** The oracle price of the price row. */
  oracle: PriceSource | null;
  /** Whether an oracle price was accepted since the node started (AMB-110). */
  isPricedSinceStart: boolean;
  mark: PriceSource | null;
  /** USD: what a match has to be worth to set the mark (MON-06); 0 for any. */
  markMinimum: Amount18;
  /** Sums of positive and negative base legs over all users; neither is negative. */
  credits: Amount18;
  borrows: Amount18;
  /** Positions with a base leg, of all users, in no particular order. Derived. */
  readonly open: Set<PositionSlot>;
  /** Sum of spot balances in margin accounts, locks excluded (CAP-08). */
  collateral: Amount18;
  /** What a leg was worth at `termsNs`, or null when something has changed since. */
  terms: AssetTerms | null;
  termsNs: TimestampNs;
  /** Accounts with borrows that hold the asset (liquidation/detection.ts). Derived. */
  readonly watchers: WatchList;
}

export interface AssetTotals {
  readonly asset: AssetId;
  vaultHoldings: Amount18;
  /** Negative of what the faucet credited. */
  faucet: Amount18;
  /** For USD: what the backstop has received and has not returned, negative. */
  backstopCredits: Amount18;
  /** Fees of rebalancing less rebates, signed. */
  rebalancingPool: Amount18;
  /** What the potential of the curve rose by without being paid for (MON-03). */
  rebalancingUnpaid: Amount18;
  /** Sum of owned, locked and margin legs: kept with each change, recounted by checks.ts. */
  claims: Amount18;
}

/** One balance. What it holds is derived from live orders (holds.ts) and is not part of the row. */
export interface BalanceSlot {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly totals: AssetTotals;
  readonly account: SubAccountSlot;
  /** Set where it is collateral: not USD, in a margin account. */
  readonly collateral: RiskSlot | null;
  owned: Amount18;
  locked: Amount18;
  /** The isolated lots in it; null if there are none. */
  lots: OwnedLots | null;
  /** Held by orders that sell; 0 for USD. */
  heldBySells: Amount18;
  /** For USD: what buys may spend of it, by market; null before the first. */
  buys: ReservedByBuys<ClearingMarket> | null;
  /** What a plan would leave (fill-plan.ts); null outside of judging. */
  planned: Amount18 | null;
  /** Whether it is among the changed ones of the current input. */
  isChanged: boolean;
  /** Its number in the outcomes of a record (outcomes.ts); means nothing unless it has that place there. */
  outcomeAt: number;
}

/** One position. A slot stays when its legs are gone: that is the same fact as none. */
export interface PositionSlot {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly account: SubAccountSlot;
  /** The totals of the base leg's asset and of USD, the quote. */
  readonly totals: AssetTotals;
  readonly usdTotals: AssetTotals;
  readonly risk: RiskSlot;
  legs: Legs;
  /** What a plan would leave (fill-plan.ts); null outside of judging. */
  planned: Legs | null;
  /** Whether it is among the changed ones of the current input. */
  isChanged: boolean;
  /** As that of a balance. */
  outcomeAt: number;
}

export interface SubAccountSlot {
  row: SubAccountRow;
  /** Null unless the account is under liquidation. */
  liquidation: LiquidationRow | null;
  /** The state of detection (detection.ts); null before the account has had a position. Derived. */
  watch: AccountWatch | null;
  /** These three begin as maps that all accounts share, and are the account's own once something is in them. */
  balances: Map<AssetId, BalanceSlot>;
  /** Two of the balances again: the one of USD, and the one that was looked up last; null before there is one. */
  usd: BalanceSlot | null;
  recent: BalanceSlot | null;
  /** Empty in a Spot account. */
  positions: Map<AssetId, PositionSlot>;
  /** Exposure of open orders, by side, then by their key (exposures.ts). Empty in a Spot account. Derived. */
  exposures: readonly [ExposureBooks, ExposureBooks];
}

/** What orders net against, or the market of reduce-only ones. */
export type ExposureKey = PositionSlot | BalanceSlot | ClearingMarket;
type ExposureBooks = Map<ExposureKey, BookExposure>;

/**
 * Open orders of one margin account on one side of one book, in the order of their admission (AMB-50): those that are
 * reduce-only, or all others.
 */
export interface BookExposure {
  readonly key: ExposureKey;
  readonly side: Side;
  readonly market: ClearingMarket;
  /** The position of margin orders; null for spot buys. */
  readonly position: PositionSlot | null;
  readonly risk: RiskSlot;
  /** Its orders, those that wait for a trigger too. */
  readonly entries: Map<OrderIndex, ExposureEntry<OrderIndex>>;
  /** Released orders without a limit price, and the price that they count at, USD, 18 decimals. */
  readonly unpriced: Set<OrderIndex>;
  price: bigint;
  readonly queue: ExposureQueue<OrderIndex>;
}

export interface UserSlot {
  row: UserRow;
  readonly subAccounts: Map<number, SubAccountSlot>;
}

export interface ClearingMarket {
  definition: MarketDefinition;
  /** The sequence of the last input that arrived, whether it is applied or waits behind a held fill. */
  sequence: Sequence;
  lastTradeId: Sequence;
  match: CountedMatch;
  /** The sequence of the last input that was applied. */
  decidedSequence: Sequence;
  /** The tables have no order that was admitted after it. */
  writtenSequence: Sequence;
  decidedTradeId: Sequence;
  readonly orders: MarketOrders;
  /** What was signed of orders that were admitted, or refused, since the last checkpoint: sequences rise. */
  signedTexts: SignedTextRow[];
  /** By `<user>/<slot>`. */
  readonly quoteSets: Map<string, QuoteSetSlot>;
  /** Keys of sets by the names of their revisions in force. Derived. */
  readonly revisions: Map<Sequence, string>;
  /** Dormant orders by their triggers, those above first (AMB-28). Derived. */
  readonly triggers: readonly [TriggerHeap, TriggerHeap];
  /** The order with ORDER_FLAG.entering, until an event of the market is about something else; or NONE. Derived. */
  entering: OrderIndex;
  /** Fills of a fill-or-kill match that are not complete yet (AMB-34). */
  fillGroup: MatchedInput[];
  /** Whether a held fill of this market waits, so that everything after it waits too. */
  waiting: boolean;
  /** Whether an input of it was applied in this batch: then it is among the touched and the dirty ones. */
  isTouched: boolean;
}

export interface QuoteSetSlot {
  row: QuoteSetRow;
  /** Lots by price of each side, read from the text at its first fill; null before. Derived. */
  signed: readonly [ReadonlyMap<number, number>, ReadonlyMap<number, number>] | null;
  /** Its live orders. Derived. */
  readonly entries: Set<Sequence>;
}

/** A token of an asset, by `<token>@<chain>`. */
export interface TokenState {
  readonly asset: AssetId;
  readonly decimals: number;
  /** Caps of what is pooled, 18 decimals; null for none. */
  readonly maxDeposits: Amount18 | null;
  readonly max1hrDeposits: Amount18 | null;
}

interface FaultInForce extends RejectFill {
  skip: number;
  count: number;
}

/** operator-api.md 7.3. In memory only: a node that restarts holds nothing. */
export interface Hooks {
  holdsAll: boolean;
  readonly heldAssets: Set<AssetId>;
  /** Fills that may still pass while the hold stays. */
  passes: number;
  /** Inputs of all markets behind held fills, in arrival order. */
  waiting: MarketInput[];
  faults: FaultInForce[];
}

/**
 * What the next checkpoint writes, beside changed orders (live-orders.ts) and signed texts. Sets hold what is written whole
 * from its slot; lists hold finished facts.
 */
interface Dirty {
  readonly users: Set<UserSlot>;
  readonly subAccounts: Set<SubAccountSlot>;
  readonly balances: Set<BalanceSlot>;
  readonly assets: Set<AssetId>;
  readonly markets: Set<ClearingMarket>;
  readonly positions: Set<PositionSlot>;
  readonly prices: Set<AssetId>;
  readonly marks: Set<RiskSlot>;
  readonly configs: Set<string>;
  readonly totals: Set<AssetTotals>;
  readonly tallies: Set<Tally>;
  readonly liquidations: Set<SubAccountSlot>;
  readonly backstopRows: Set<number>;
  readonly adlUsage: Set<number>;
  readonly quoteSets: Set<QuoteSetSlot>;
  readonly withdrawals: Set<WithdrawalSlot>;
  /** Keys of their maps. */
  readonly vaultTokens: Set<string>;
  readonly withdrawalCounters: Set<string>;
  readonly forcedCounters: Set<string>;
  readonly withdrawalUsage: Set<string>;
  readonly signers: Set<UserId>;
  /** By LotBook.keyOf. */
  readonly lots: Set<string>;
  readonly pooledHours: Set<AssetId>;
  readonly unclaimed: Set<string>;
  readonly rebalancingPools: Set<AssetTotals>;
  /** By `<asset>/<chain>`. */
  readonly netDeposits: Set<string>;
  /** By `<asset>/<chain>`. */
  readonly vaultDeviations: Map<string, VaultDeviationRow>;
  /** By `token@chain`; a row that is gone says so. */
  readonly payoutReserves: Map<string, PayoutReserveRow>;
  /** By `<user>/<place>`: a place may be used again before a checkpoint. */
  readonly settlements: Map<string, SettlementRow>;
  readonly settlementCounters: Set<string>;
  /** By `<user>/<place>`: a place may be used again before a checkpoint. */
  readonly usedTexts: Map<string, UsedTextRow>;
  /** By `<chain>/<kind>`. */
  readonly chainCursors: Set<string>;
  /** By place. */
  readonly signedApprovals: Map<number, SignedApprovalRow>;
  /** By `<chain>/<kind>/<place>`: a place may be used again before a checkpoint. */
  readonly cursorEvents: Map<string, CursorEventRow>;
  /** By `<user>/<market>/<slot>`: a slot may be used again before a checkpoint. */
  readonly protections: Map<string, ProtectionRow>;
  finishedOrders: FinishedOrders;
  /** Entries of quote sets that left them without a fill, and that a checkpoint has seen live. */
  forgottenEntries: FinishedOrders;
  trades: TradeRow[];
  deposits: DepositRow[];
}

export interface ClearingState {
  /** Records what is decided, for the row log; null where none is kept. No part of the state: it decides nothing. */
  outcomes: OutcomeRecorder | null;
  readonly sha256: Sha256;
  readonly users: Map<UserId, UserSlot>;
  readonly orders: ClearingOrders;
  /** By market index. */
  readonly markets: ClearingMarket[];
  readonly marketOfAsset: Map<AssetId, ClearingMarket>;
  readonly assets: Map<AssetId, AssetRow>;
  /** Derived from `assets`. */
  readonly tokens: Map<string, TokenState>;
  /** The decimals of every token that an asset has or ever had; derived from `assets`. */
  readonly tokenDecimals: Map<string, number>;
  readonly prices: Map<AssetId, PriceRow>;
  /** By `<kind>/<key>`. */
  readonly configs: Map<string, ConfigRow>;
  /** Derived from the settings row. */
  settings: Settings;
  /** When the node started last; 0 before its second start. Derived from a row of configs. */
  startedNs: TimestampNs;
  /** Derived from a row of configs. */
  leadership: LeadershipRow;
  /** Users with a dead-man timer. Derived from their rows; empty on one machine. */
  readonly timers: Set<UserSlot>;
  readonly totals: Map<AssetId, AssetTotals>;
  /** Derived from risk rows, prices, balances and positions, except the marks. */
  readonly risks: Map<AssetId, RiskSlot>;
  readonly tallies: Readonly<Record<TallyName, Tally>>;
  /** Next deposit counter by `<chain>/<user>`. */
  readonly depositCounters: Map<string, number>;
  /** Accounts under liquidation: those with a row. */
  readonly liquidations: Set<SubAccountSlot>;
  /** Which others are to be. Derived. */
  readonly detection: Detection;
  /** By the index of the backstop's sub-account. */
  readonly backstopRows: Map<number, BackstopRow>;
  /** By market index. */
  readonly adlUsage: Map<number, AdlUsageRow>;
  readonly withdrawals: WithdrawalBook;
  /** By `token@chain`. */
  readonly vaultTokens: Map<string, VaultTokenRow>;
  /** Reserves of tokens with withdrawals that could not be paid yet, by `token@chain` (MON-04). */
  readonly payoutReserves: Map<string, PayoutReserveRow>;
  /** Vaults that lack something, by `<asset>/<chain>` (MON-05). */
  readonly vaultDeviations: Map<string, VaultDeviationRow>;
  /** What deposits brought less what withdrawals took, by asset and chain (MON-03). */
  readonly netDeposits: Map<AssetId, Map<ChainId, Amount18>>;
  /** Executed withdrawals by `<chain>/<user>`. */
  readonly withdrawalCounters: Map<string, number>;
  /** Forced withdrawals by `<chain>/<user>`. */
  readonly forcedCounters: Map<string, number>;
  /** Users with negative balances in account 0, with the number of these balances. Derived. */
  readonly debtors: Map<UserId, number>;
  /** By `<user>/<asset>`. */
  readonly withdrawalUsage: Map<string, WithdrawalUsageRow>;
  readonly signers: SignerConfigs;
  readonly lots: LotBook;
  /** What was pooled of a token in the last hour, by its address form. */
  readonly pooledHours: Map<AssetId, PooledHour>;
  /** By `<chain>/<user>/<counter>`. */
  readonly unclaimed: Map<string, UnclaimedRow>;
  /** How many of them there are, by chain and by `<chain>/<user>`. Derived. */
  readonly unclaimedCounts: Map<string, number>;
  readonly settlements: SettlementBook;
  /** Executed settlements by `<chain>/<user>/<sub-account>`. */
  readonly settlementCounters: Map<string, number>;
  readonly usedTexts: UsedTexts;
  /** How far EVM chains are processed. */
  readonly chainCursors: ChainCursors;
  /** Those of the last hour. */
  readonly signedApprovals: SignedApprovals;
  /** By `<user>/<market>/<slot>`. */
  readonly protections: Map<string, ProtectionRow>;
  /** How many live orders a group has, by the same; none is left out. Derived. */
  readonly protectedOrders: Map<string, number>;
  /** Sum of negative quote legs, as a positive amount. Derived. */
  usdBorrows: Amount18;
  readonly hooks: Hooks;
  /** By market index: verdicts on the signatures of orders that are not applied yet. */
  readonly verdicts: Map<number, Map<Sequence, boolean>>;
  readonly dirty: Dirty;
  /** What changed and is not published yet, each once. */
  readonly changedBalances: BalanceSlot[];
  readonly changedPositions: PositionSlot[];
  /** Markets and assets that the current batch touched; of risks those with a changed mark or interest. */
  readonly touchedRisks: Set<RiskSlot>;
  readonly touchedMarkets: Set<ClearingMarket>;
  readonly touchedTotals: Set<AssetTotals>;
  /** Markets with fired orders that are still dormant in their records (trigger-heaps.ts). Derived. */
  readonly firing: Set<ClearingMarket>;
}

const NO_LEADERSHIP: LeadershipRow = { epoch: 0, node: '', run: '', oms: null, mds: null, handover: null };

/** Everything that a checkpoint takes from `dirty`. */
export const DIRTY_NAMES: readonly (keyof Dirty)[] = Object.keys(emptyDirty()) as (keyof Dirty)[];

function emptyDirty(): Dirty {
  return {
    users: new Set(),
    subAccounts: new Set(),
    balances: new Set(),
    assets: new Set(),
    markets: new Set(),
    positions: new Set(),
    prices: new Set(),
    marks: new Set(),
    configs: new Set(),
    totals: new Set(),
    tallies: new Set(),
    liquidations: new Set(),
    backstopRows: new Set(),
    adlUsage: new Set(),
    quoteSets: new Set(),
    withdrawals: new Set(),
    vaultTokens: new Set(),
    withdrawalCounters: new Set(),
    forcedCounters: new Set(),
    withdrawalUsage: new Set(),
    signers: new Set(),
    lots: new Set(),
    pooledHours: new Set(),
    unclaimed: new Set(),
    rebalancingPools: new Set(),
    netDeposits: new Set(),
    payoutReserves: new Map(),
    vaultDeviations: new Map(),
    settlements: new Map(),
    settlementCounters: new Set(),
    usedTexts: new Map(),
    chainCursors: new Set(),
    signedApprovals: new Map(),
    cursorEvents: new Map(),
    protections: new Map(),
    finishedOrders: new FinishedOrders(),
    forgottenEntries: new FinishedOrders(),
    trades: [],
    deposits: [],
  };
}

/** SHA-256 as 64 hex digits. */
export type Sha256 = (bytes: Uint8Array) => string;

/** In plain code: the same digits, an order of magnitude later. */
export function portableSha256(bytes: Uint8Array): string {
  return toHex(sha256(bytes));
}

/**
 * The state of an empty data directory.
 *
 * @param sha256 a faster one, where there is one. @param key of the hashes of users and order ids, which clients choose: a
 *   secret of the process. It changes no result.
 */
export function createClearingState(sha256: Sha256 = portableSha256, key: HashKey = hashKeyOf(0n)): ClearingState {
  const dirty = emptyDirty();
  const withdrawalCounters = new Map<string, number>();
  return {
    outcomes: null,
    sha256,
    users: new Map(),
    orders: new ClearingOrders(key),
    markets: [],
    marketOfAsset: new Map(),
    assets: new Map(),
    tokens: new Map(),
    tokenDecimals: new Map(),
    prices: new Map(),
    configs: new Map(),
    settings: DEFAULT_SETTINGS,
    startedNs: 0n as TimestampNs,
    leadership: NO_LEADERSHIP,
    timers: new Set(),
    totals: new Map(),
    risks: new Map(),
    tallies: {
      trades: new Tally('trades'),
      rolled_back_fills: new Tally('rolled_back_fills'),
      finished_orders: new Tally('finished_orders'),
      signed_texts: new Tally('signed_texts'),
      deposits: new Tally('deposits'),
      unclaimed_credits: new Tally('unclaimed_credits'),
    },
    depositCounters: new Map(),
    liquidations: new Set(),
    detection: new Detection(),
    backstopRows: new Map(),
    adlUsage: new Map(),
    withdrawals: new WithdrawalBook(withdrawalCounters),
    vaultTokens: new Map(),
    netDeposits: new Map(),
    payoutReserves: new Map(),
    vaultDeviations: new Map(),
    withdrawalCounters,
    forcedCounters: new Map(),
    debtors: new Map(),
    withdrawalUsage: new Map(),
    signers: new SignerConfigs(),
    lots: new LotBook(dirty.lots),
    pooledHours: new Map(),
    unclaimed: new Map(),
    unclaimedCounts: new Map(),
    settlements: new SettlementBook(),
    settlementCounters: new Map(),
    usedTexts: new UsedTexts(),
    chainCursors: new ChainCursors(),
    signedApprovals: new SignedApprovals(),
    protections: new Map(),
    protectedOrders: new Map(),
    usdBorrows: ZERO_18,
    hooks: { holdsAll: false, heldAssets: new Set(), passes: 0, waiting: [], faults: [] },
    verdicts: new Map(),
    dirty,
    changedBalances: [],
    changedPositions: [],
    touchedRisks: new Set(),
    touchedMarkets: new Set(),
    touchedTotals: new Set(),
    firing: new Set(),
  };
}
