/**
 * The durable facts of the node, row by row: what clearing holds in memory and storage keeps in its tables.
 *
 * A row is a plain immutable value; records of orders alone are changed in place. Clearing keeps which rows became
 * dirty; their layouts are in row-layouts.ts, their keys in src/storage/row-tables.ts. Nothing else describes
 * what is persisted.
 */
import type { AssetId, ChainId, OrderId, UserId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { Side, SignatureVerdict } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { AccountType } from '../risk/account-types.ts';
import type { Legs } from '../risk/position.ts';
import type { PriceSource } from '../risk/prices.ts';
import { OrderRecord, type OrderRecordFields, OrderRecordView } from '../schema/generated/messages.ts';
import type { SignerConfig } from './signers/signer-config.ts';

type SubAccountKind = AccountType['kind'];

/** One user: flags and counters. Sub-accounts 0 and 1 exist for every user row (AMB-63). */
export interface UserRow {
  readonly user: UserId;
  readonly isMarketMaker: boolean;
  readonly configNonce: number;
  /** Last applied nonce per action domain (NON-06); 0 is none. u64. */
  readonly transferNonce: bigint;
  readonly closePositionNonce: bigint;
  /** Whether a dead-man timer of the user runs. Kept by nodes of a cluster alone, for a takeover. */
  readonly hasTimer: boolean;
}

export interface SubAccountRow {
  readonly user: UserId;
  readonly subAccount: number;
  readonly kind: SubAccountKind;
  readonly name: string;
  /** Set for isolated accounts only. */
  readonly asset: AssetId | null;
}

/** Sub-accounts 0 and 1, which every user has (AMB-63). */
export const GIVEN_SUB_ACCOUNTS: ReadonlyMap<number, Pick<SubAccountRow, 'kind' | 'name' | 'asset'>> = new Map([
  [0, { kind: 'spot', name: 'Spot', asset: null }],
  [1, { kind: 'cross_margin', name: 'Margin', asset: null }],
]);

/** The name of another sub-account until its user gives it one. */
export function defaultAccountName(index: number): string {
  return `Account ${index}`;
}

/** Whether it is one of the first two, unchanged. */
export function isGiven(row: SubAccountRow): boolean {
  const given = GIVEN_SUB_ACCOUNTS.get(row.subAccount);
  return given !== undefined && given.kind === row.kind && given.name === row.name && given.asset === row.asset;
}

/**
 * Spot balance: `owned` is what inventory shows, holds included; `locked` has left it (AMB-72). Never negative, but for
 * `owned` of account 0 after a forced withdrawal (AMB-85).
 */
export interface BalanceRow {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly owned: Amount18;
  readonly locked: Amount18;
}

/** The legs of one asset in a margin account (AMB-30). With both at 0 it is the same fact as none. */
export interface PositionRow extends Legs {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
}

/**
 * An order, live or finished, with its confirmed figures only. Key: (marketIndex, orderSequence). A row is a plain value
 * or an accessor over the bytes of a record (OrderRecordView), which is valid until the order changes.
 */
export type OrderRow = Readonly<OrderRecordFields>;

/** The row as a plain value, which stays as it is. */
export function plainRow(row: OrderRow): OrderRow {
  return row instanceof OrderRecordView ? OrderRecord.read(row.v, row.at) : row;
}

/** What was signed of an order: canonical text, ASCII, and all signatures of it (codec/stored-signatures.ts). */
export interface SignedText {
  readonly text: string;
  readonly signatures: Uint8Array;
}

/** The signed text of an order, immutable. Orders that the node made have none. Key: (marketIndex, orderSequence). */
export interface SignedTextRow extends SignedText {
  readonly marketIndex: number;
  readonly orderSequence: Sequence;
}

export interface TradeSide {
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly orderSequence: Sequence;
  /** USD, negative is a rebate. */
  readonly fee: Amount18;
}

/** A confirmed trade. Key: (marketIndex, tradeId). */
export interface TradeRow {
  readonly marketIndex: number;
  readonly tradeId: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly matchedNs: TimestampNs;
  readonly takerSide: Side;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
  readonly maker: TradeSide;
  readonly taker: TradeSide;
}

export interface TokenDefinition {
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly chainId: ChainId;
  readonly decimals: number;
  readonly maxDeposits: Amount18 | null;
  readonly max1hrDeposits: Amount18 | null;
  readonly minWeight: Amount18;
  readonly minFirstDepositBaseUnits: bigint;
}

/** One asset; the risk row is the public JSON object of wire.md 7.3 (its 21 keys), or null before it is configured. */
export interface AssetRow {
  readonly assetId: AssetId;
  readonly symbol: string | null;
  /** `rebalancing` and `max_adl` as given to the operator API, and the decimals of tokens it had before, in JSON. */
  readonly settingsJson: string;
  readonly tokens: readonly TokenDefinition[];
  readonly riskJson: string | null;
}

/**
 * The confirmed part of one match, which decides whether it is enough for a mark (MON-06). Empty where no minimum
 * applies.
 */
export interface CountedMatch {
  readonly takerOrder: Sequence;
  readonly timeNs: TimestampNs;
  /** USD. */
  readonly notional: Amount18;
}

export const NO_MATCH: CountedMatch = {
  takerOrder: 0 as Sequence,
  timeNs: 0n as TimestampNs,
  notional: 0n as Amount18,
};

/** Where a market stands. `sequence` and `lastTradeId` never go backwards. */
export interface MarketRow {
  readonly definition: MarketDefinition;
  readonly sequence: Sequence;
  readonly lastTradeId: Sequence;
  readonly match: CountedMatch;
}

/** Last oracle price of an asset (AMB-108), with its breaker (CB-03, AMB-44). */
export interface PriceRow {
  readonly asset: AssetId;
  readonly price: Amount18;
  readonly publishNs: TimestampNs;
  readonly source: string;
  /** A price refused as a jump since then, which a second source may confirm; null when there is none. */
  readonly jump: { readonly price: Amount18; readonly source: string } | null;
  readonly isTripped: boolean;
  readonly goodUpdates: number;
  /** Whether it was accepted since the node started (AMB-110). */
  readonly isSinceStart: boolean;
}

/** Price of a market's last confirmed trade, with its breaker (AMB-43). */
export interface MarkRow extends PriceSource {
  readonly asset: AssetId;
}

/**
 * A deposit that was acted on, so that it is credited once (DEP-10, AMB-74). Key: (chain, tx, logIndex). `amount` is 0
 * for one that could not be credited; `asset` is then the token's address form.
 */
export interface DepositRow {
  readonly chainId: ChainId;
  /** 64 hex. */
  readonly tx: string;
  readonly logIndex: number;
  readonly user: UserId;
  readonly asset: AssetId;
  readonly amount: Amount18;
  /** The vault's per-user counter before the deposit. */
  readonly depositNonce: number;
  readonly creditedNs: TimestampNs;
}

/**
 * Where a withdrawal stands (withdrawals.ts has the transitions); `signing` is `filled` on the wire, `gone` is not
 * there.
 */
export type WithdrawalStatus =
  | 'queued'
  | 'filled'
  | 'signing'
  | 'approved'
  | 'executed'
  | 'expired'
  | 'cancelled'
  | 'gone';

/** A withdrawal from account 0 (wire.md 7.18). Key: (user, place). */
export interface WithdrawalRow {
  readonly user: UserId;
  /** 0 to 63; used again by a later request once this one has ended. */
  readonly place: number;
  /** Rises with every request; what is left of a request that was filled in part has the same. */
  readonly sequence: number;
  readonly chainId: ChainId;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly asset: AssetId;
  /** Both are locked while it lives. */
  readonly amount: Amount18;
  readonly fee: Amount18;
  /**
   * The part of amount and fee that is locked in isolated lots of the token, amount first; the pool has the rest
   * (AMB-73).
   */
  readonly isolated: Amount18;
  /** Base units that the vault pays. */
  readonly payout: bigint;
  /** 64 hex, right-padded. */
  readonly target: string;
  /** The vault's counter `withdrawalCounts(user)` for this withdrawal. */
  readonly nonce: number;
  /** Whether the request named the nonce: then it stays (AMB-80). */
  readonly isExplicit: boolean;
  readonly status: WithdrawalStatus;
  readonly requestedNs: TimestampNs;
  /** When its delay is over. */
  readonly dueNs: TimestampNs;
  /** 0n while it lives. */
  readonly endedNs: TimestampNs;
  /** The last second in which the approval is valid; 0 before it is to be signed. */
  readonly validUntil: number;
  /** 64 hex; '' before. */
  readonly epochHash: string;
  /** Signatures of the administrators, 130 hex each; empty before it is approved. */
  readonly signatures: readonly string[];
}

/** Units of a token in its vault, as confirmed events say (AMB-116). Key: token@chain. */
export interface VaultTokenRow {
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly chainId: ChainId;
  readonly asset: AssetId;
  readonly baseUnits: bigint;
}

/**
 * The part of a token's free units that is kept for withdrawals that could not be paid yet (MON-04). Key: token@chain.
 * Without claims it is the same fact as none.
 */
export interface PayoutReserveRow {
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly chainId: ChainId;
  readonly asset: AssetId;
  /**
   * Base units: of the reserve, and those that were free when it was counted last, the reserve included. Neither is
   * negative.
   */
  readonly units: bigint;
  readonly free: bigint;
  readonly isClaimed: boolean;
}

/** What the vault of a chain lacks of an asset (MON-05). Key: (chain, asset). Two times 0 is the same fact as none. */
export interface VaultDeviationRow {
  readonly chainId: ChainId;
  readonly asset: AssetId;
  /**
   * By how much the chain shows less than the ledger has, and the part of it that an operator accepts: 18 decimals, not
   * negative.
   */
  readonly missing: Amount18;
  readonly accepted: Amount18;
}

/** Where a settlement stands (settlements.ts has the transitions). */
export type SettlementStatus = 'locked' | 'approved' | 'executed' | 'expired' | 'refused';

/** A settlement of a sub-account with a vault (wire.md 7.19). Key: (user, place). */
export interface SettlementRow {
  readonly user: UserId;
  /** 0 to 63; used again by a later request once this one has ended. */
  readonly place: number;
  readonly subAccount: number;
  readonly chainId: ChainId;
  readonly mode: 'spot' | 'margin';
  /** 64 hex, right-padded. */
  readonly tokenOut: string;
  readonly assetOut: AssetId;
  /** Locked while it lives. */
  readonly amountOut: Amount18;
  /** What the vault sends. */
  readonly baseUnitsOut: bigint;
  /** 64 hex, right-padded. */
  readonly tokenIn: string;
  readonly assetIn: AssetId;
  readonly amountIn: Amount18;
  /** What the vault takes. */
  readonly baseUnitsIn: bigint;
  readonly settler: UserId;
  /** The vault's counter `settlementCounts(user, account)` for this settlement. */
  readonly nonce: number;
  readonly status: SettlementStatus;
  readonly requestedNs: TimestampNs;
  /** Seconds: the later of the node's clock and the last confirmed block at the request. */
  readonly validFrom: number;
  /** Seconds, as signed. */
  readonly validUntil: number;
  /** 130 hex of one administrator; '' before it is approved. */
  readonly signature: string;
}

/** `live` while the row that the text has made is; then how that ended. `gone` is the same fact as no row. */
export type UsedTextStatus = 'live' | 'executed' | 'cancelled' | 'expired' | 'gone';

/** A signed text that was accepted (funds/used-texts.ts, MON-01). Key: (user, place). */
export interface UsedTextRow {
  /** The user that signed it. */
  readonly user: UserId;
  readonly place: number;
  /** `floor`: no text, but the nonces below `nonce` are refused. */
  readonly kind: 'withdrawal' | 'cancel' | 'settlement' | 'makerOrder' | 'floor';
  /** SHA-256 of the signed bytes: 64 hex. */
  readonly digest: string;
  readonly chainId: ChainId;
  /** The sub-account of a settlement; 0 for other actions. */
  readonly subAccount: number;
  /** The value as it was signed; null if the text has none. */
  readonly nonce: number | null;
  /** The value as it was signed, u64; 0 if the text has none. */
  readonly expiresNs: bigint;
  /** The row that it made: its user, the sequence of a withdrawal or the place of a settlement, and when that was. */
  readonly owner: UserId;
  readonly sequence: number;
  readonly requestedNs: TimestampNs;
  readonly status: UsedTextStatus;
  /** 0 while it is live. */
  readonly endedNs: TimestampNs;
  /** Whether a part of the row was paid. */
  readonly isPaid: boolean;
  /** The kind of texts of a floor; else ''. */
  readonly floorOf: string;
}

/** An approval that was signed within the last hour (funds/signed-approvals.ts). Key: place. */
export interface SignedApprovalRow {
  readonly place: number;
  readonly kind: 'withdrawal' | 'settlement';
  readonly chainId: ChainId;
  readonly user: UserId;
  /** Of a settlement; else 0. */
  readonly subAccount: number;
  readonly nonce: number;
  /** Seconds. */
  readonly validUntil: number;
  /** What leaves the vault: 64 hex, right-padded, and its base units. */
  readonly token: string;
  readonly baseUnits: bigint;
  /** Of the record that has the signature. */
  readonly signedNs: TimestampNs;
  /** It is over an hour old, and nothing stands in this place. */
  readonly isGone: boolean;
}

/** One kind of events of a vault. `forced`: without the node, of a vault in escape mode. */
export type CursorKind = 'deposit' | 'withdrawal' | 'settlement' | 'forced';

/** How far one kind of events of an EVM chain is processed (funds/chain-cursors.ts). Key: (chain, kind). */
export interface ChainCursorRow {
  readonly chainId: ChainId;
  readonly event: CursorKind;
  /** 40 hex. */
  readonly vault: string;
  readonly nextBlock: number;
  /** Ascending. */
  readonly anchors: readonly CursorAnchor[];
  /** Why nothing more is booked until the operator resumes the chain (AMB-74); null: it is. */
  readonly stopped: CursorStop | null;
  /** One more with each step. */
  readonly revision: number;
}

/** A processed block. */
export interface CursorAnchor {
  readonly number: number;
  /** 64 hex. */
  readonly hash: string;
}

export interface CursorStop {
  readonly reason: 'reorg' | 'gap' | 'unmatched';
  /** The first block that is not known to be as it was. */
  readonly next: number;
  /** Events that are not there. */
  readonly deposits: number;
}

/** A booked event that its chain has to show, again after a reorganisation. Key: (chain, kind, place). */
export interface CursorEventRow {
  readonly chainId: ChainId;
  readonly event: CursorKind;
  readonly place: number;
  /** `missing`: a reorganisation took its place away. `gone`: nothing stands in this place any more. */
  readonly state: 'recent' | 'missing' | 'gone';
  /** Of a recent one, else 0. */
  readonly block: number;
  /** Its name (chain/event-cursor.ts); empty of one that is gone. */
  readonly what: string;
  /** Of a missing settlement, seconds: later it does not come again. 0: not known yet, and of any other event. */
  readonly until: number;
}

/** The vault's counter of executed settlements, from its events. Key: (chain, user, sub-account). */
interface SettlementCounterRow {
  readonly chainId: ChainId;
  readonly user: UserId;
  readonly subAccount: number;
  readonly next: number;
}

/** The vault's counter of a user's executed withdrawals, as confirmed events say. Key: (chain, user). */
interface WithdrawalCounterRow {
  readonly chainId: ChainId;
  readonly user: UserId;
  readonly next: number;
}

/** The same counter of forced withdrawals (AMB-85). Key: (chain, user). */
interface ForcedCounterRow {
  readonly chainId: ChainId;
  readonly user: UserId;
  readonly next: number;
}

/** Withdrawal usage of an account and asset (AMB-77); 0 is the same fact as none. Key: (user, asset). */
export interface WithdrawalUsageRow {
  readonly user: UserId;
  readonly asset: AssetId;
  /** 18 decimals. */
  readonly usage: Amount18;
  /** The first accrual after the last reset. */
  readonly startedNs: TimestampNs;
}

/**
 * An isolated lot: what a deposit over a cap has left of itself as `token@chain` in account 0 (AMB-73). With amount 0 it
 * is the same fact as none. Key: (user, place, asset).
 */
export interface LotRow {
  readonly user: UserId;
  /** The address form. */
  readonly asset: AssetId;
  /** 0 to LOTS_PER_TOKEN − 1; used again. */
  readonly place: number;
  /** Rises with the age order of the lots of a token; used again when all later ones are gone. */
  readonly sequence: number;
  /** Locks of withdrawals included. */
  readonly amount: Amount18;
  readonly creditedNs: TimestampNs;
}

/** An amount that was pooled at a time. */
export interface PooledCredit {
  readonly timeNs: TimestampNs;
  readonly amount: Amount18;
}

/** What was pooled of a token in the last hour, oldest first (caps.ts). Key: token@chain. */
export interface PooledCreditsRow {
  /** The address form. */
  readonly asset: AssetId;
  readonly credits: readonly PooledCredit[];
}

/**
 * A deposit that advanced its counter and credited nothing: of an unregistered token, or too large (AMB-74). `credited`
 * is the same fact as no row. Key: (chain, user, counter).
 */
export interface UnclaimedRow {
  readonly chainId: ChainId;
  readonly user: UserId;
  /** The vault's counter before the deposit. */
  readonly counter: number;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly baseUnits: bigint;
  /** 64 hex. */
  readonly tx: string;
  readonly logIndex: number;
  readonly credited: boolean;
}

/**
 * Fees of rebalancing less rebates; two times 0 is the same fact as none (MON-03). Below 0 in data of before version 14
 * alone.
 */
interface RebalancingPoolRow {
  readonly asset: AssetId;
  readonly amount: Amount18;
  /** What the potential rose by without being paid for, 0 at least. */
  readonly unpaid: Amount18;
}

/** What deposits of an asset brought to a chain less what withdrawals took there, signed (MON-03). Key: (chain, asset). */
export interface NetDepositRow {
  readonly chainId: ChainId;
  readonly asset: AssetId;
  readonly amount: Amount18;
}

/** Chains, vaults, settlers, settings and other small operator objects: JSON by kind and key, kept as given. */
export interface ConfigRow {
  /**
   * No operator configures these: `start` is when the node started last, `{"started_ns":"…"}`, `leadership` who leads
   * (Leadership), absent on one machine.
   */
  readonly kind: 'chain' | 'vault' | 'settler' | 'settings' | 'withdrawal-delay' | 'start' | 'leadership';
  readonly key: string;
  readonly json: string;
}

/** The node that leads, or led last, as the JSON of its row. */
export interface LeadershipRow {
  /** 0 where no takeover was ever journaled. */
  readonly epoch: number;
  /** Name of the node; '' of epoch 0. */
  readonly node: string;
  readonly run: string;
  /** Addresses for clients; null for none. */
  readonly oms: string | null;
  readonly mds: string | null;
  /** Whether it has handed over, and to which node; a node of null is any. */
  readonly handover: { readonly to: string | null } | null;
}

/** A place in the sequence of a market. */
export interface MarketPlace {
  readonly marketIndex: number;
  readonly sequence: Sequence;
}

/**
 * An immediate-or-cancel limit order that the node has sent for an account, until it is known to be over (AMB-57,
 * AMB-60).
 */
export interface NodeOrder {
  readonly orderId: OrderId;
  readonly marketIndex: number;
  readonly side: Side;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly isSpot: boolean;
}

/** Where the liquidation of an account stands (liquidation/rounds.ts). `ended` is the same fact as no row. */
export type LiquidationStage = 'cancelling' | 'settling' | 'ordering' | 'waiting' | 'ended';

/** An account under liquidation. Key: (user, subAccount). */
export interface LiquidationRow {
  readonly user: UserId;
  readonly subAccount: number;
  readonly startedNs: TimestampNs;
  /** From 1 to the setting `liquidation_rounds`. */
  readonly round: number;
  /** When this round began. */
  readonly roundNs: TimestampNs;
  readonly stage: LiquidationStage;
  /** In stage `settling`: what the markets had published when the account had no live order any more. */
  readonly through: readonly MarketPlace[];
  /** Assets of the positions that have had their order in this round. */
  readonly ordered: readonly AssetId[];
  /** The outstanding order. */
  readonly order: NodeOrder | null;
}

/** A sub-account by its owner and index. */
export interface AccountPlace {
  readonly user: UserId;
  readonly subAccount: number;
}

/** An amount of an asset, in 10^-18 units. */
export interface AssetQuantity {
  readonly asset: AssetId;
  readonly quantity: Amount18;
}

/**
 * What the backstop has taken over of one account, in a sub-account of its own (BKS-02). Key: index, the number of that
 * sub-account. A `closed` row stays until its index is used again.
 */
export interface BackstopRow {
  readonly index: number;
  readonly sourceUser: UserId;
  readonly sourceIndex: number;
  readonly startedNs: TimestampNs;
  readonly state: 'working' | 'deleveraging' | 'closed';
  /** USD credited at the take-over, and posted as a last resort (BKS-03, BKS-07). */
  readonly provisional: Amount18;
  readonly posted: Amount18;
  /** Base legs, and spot balances beside USD, as taken over: what a clip is a fraction of (AMB-60). */
  readonly taken: readonly AssetQuantity[];
  readonly takenSpot: readonly AssetQuantity[];
  /** What auto-deleveraging closed of each position. */
  readonly adlClosed: readonly AssetQuantity[];
  /** When the last clip was sent; 0 before the first. */
  readonly clipNs: TimestampNs;
  /** The outstanding clip. */
  readonly order: NodeOrder | null;
  /** The market that is to give away trade ids for auto-deleveraging; null when none is. */
  readonly adlMarket: number | null;
  /** Counterparties that were searched for those trades, of a market with more positions than a step looks at. */
  readonly counterparties: readonly AccountPlace[];
}

/** What auto-deleveraging closed in a minute since the epoch, in 10^-18 units of the asset. */
export interface AdlMinute {
  readonly minute: number;
  readonly quantity: Amount18;
}

/** What auto-deleveraging closed in a market in the last 24 hours, oldest minute first (ADL-06). Key: marketIndex. */
export interface AdlUsageRow {
  readonly marketIndex: number;
  readonly minutes: readonly AdlMinute[];
}

/** Lots that a revision of a quote set has traded at a price of a side, confirmed. */
export interface QuoteFill {
  readonly side: Side;
  readonly price: RawPrice;
  readonly lots: number;
}

/** A quote set of a user in a market (quote-sets.ts). Key: (marketIndex, user, slot). */
export interface QuoteSetRow extends SignedText {
  readonly marketIndex: number;
  readonly user: UserId;
  /** 1 to 4. */
  readonly slot: number;
  readonly setId: string;
  /** Market sequence of the revision in force, which names it; 0 when there is none: the set is over. */
  readonly sequence: Sequence;
  readonly appliedNs: TimestampNs;
  readonly revisionNs: TimestampNs;
  /** No revision up to it is applied (QTE-09). */
  readonly markNs: TimestampNs;
  /** 0 for none. */
  readonly goodUntilNs: TimestampNs;
  readonly maxFeeRate: number;
  readonly subAccount: number;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  /** 0 for none. */
  readonly protectionGroup: number;
  readonly isOver: boolean;
  /** The largest number of an entry's id. */
  readonly lastNumber: number;
  /** Of names that its slot and others had before. */
  readonly markFloorNs: TimestampNs;
  readonly numberFloor: number;
  /** Of the revision in force. */
  readonly verdict: SignatureVerdict;
  /** Of the revision in force: what confirmed fills have taken of it. */
  readonly fills: readonly QuoteFill[];
}

/** What is verified of a revision of a quote set against its text. */
export type RevisionTerms = Pick<
  QuoteSetRow,
  | 'marketIndex'
  | 'user'
  | 'sequence'
  | 'setId'
  | 'appliedNs'
  | 'revisionNs'
  | 'goodUntilNs'
  | 'maxFeeRate'
  | 'subAccount'
  | 'flags'
  | 'text'
  | 'signatures'
>;

/** Sums that are not the users': what makes the ledger add up (operator-api.md 6, `GET /operator/ledger`). */
export interface AssetTotalsRow {
  readonly asset: AssetId;
  /** Everything that deposits brought and the vaults hold. */
  readonly vaultHoldings: Amount18;
  /** Negative of what the faucet credited. */
  readonly faucet: Amount18;
  /** For USD: what the backstop has received out of its restaked capital and has not returned, negative (AMB-58). */
  readonly backstopCredits: Amount18;
}

export type TallyName =
  | 'trades'
  | 'rolled_back_fills'
  | 'finished_orders'
  | 'signed_texts'
  | 'deposits'
  | 'unclaimed_credits';

/**
 * Append-only facts in one number and one digest: they leave memory, but the state hash still covers them. Key: name.
 * `digest` is 64 hex digits, of all facts but those in `pending`, which are not yet enough to be hashed (tally.ts).
 */
export interface TallyRow {
  readonly name: TallyName;
  readonly count: number;
  readonly digest: string;
  readonly pending: Uint8Array;
}

/** The signers of an account for which something was configured; every other has the default. Key: user. */
export interface SignerConfigRow extends SignerConfig {
  readonly user: UserId;
  /** It was configured before clearing knew its user: places of these are limited (add-signer.ts). */
  readonly isUnfunded: boolean;
}

/** Limits of a group, as its user sets them (MMP-01); null: no such limit, but there is one at least. */
export interface ProtectionLimits {
  readonly windowMs: number;
  /** 0: until it is reset. */
  readonly frozenMs: number;
  readonly maxFills: number | null;
  /** Base, 18 decimals. */
  readonly maxQuantity: Amount18 | null;
  /** USD, 18 decimals, as the next. */
  readonly maxNotional: Amount18 | null;
  readonly minFillNotional: Amount18;
}

/** A group that protects a market maker (protections.ts). Key: (user, market, slot). */
export interface ProtectionRow extends ProtectionLimits {
  readonly user: UserId;
  readonly marketIndex: number;
  /** 1 to 8; used again. */
  readonly slot: number;
  /** 1 to 16 characters of an order id. */
  readonly group: string;
  /** Sequence of the last trip in its market, and of the last one whose freeze was ended; 0 for none. */
  readonly trip: Sequence;
  readonly endedTrip: Sequence;
  /** When the freeze of the last trip ends by itself; 0: never. */
  readonly frozenUntilNs: TimestampNs;
  /** It was removed: the same fact as no row. */
  readonly isGone: boolean;
}

export interface Tables {
  user: UserRow;
  subAccount: SubAccountRow;
  balance: BalanceRow;
  position: PositionRow;
  order: OrderRow;
  signedText: SignedTextRow;
  trade: TradeRow;
  asset: AssetRow;
  market: MarketRow;
  price: PriceRow;
  mark: MarkRow;
  deposit: DepositRow;
  config: ConfigRow;
  totals: AssetTotalsRow;
  tally: TallyRow;
  liquidation: LiquidationRow;
  backstop: BackstopRow;
  adlUsage: AdlUsageRow;
  quoteSet: QuoteSetRow;
  withdrawal: WithdrawalRow;
  vaultToken: VaultTokenRow;
  payoutReserve: PayoutReserveRow;
  vaultDeviation: VaultDeviationRow;
  withdrawalCounter: WithdrawalCounterRow;
  forcedCounter: ForcedCounterRow;
  withdrawalUsage: WithdrawalUsageRow;
  signers: SignerConfigRow;
  lot: LotRow;
  pooledCredits: PooledCreditsRow;
  unclaimed: UnclaimedRow;
  rebalancingPool: RebalancingPoolRow;
  netDeposit: NetDepositRow;
  settlement: SettlementRow;
  settlementCounter: SettlementCounterRow;
  usedText: UsedTextRow;
  chainCursor: ChainCursorRow;
  cursorEvent: CursorEventRow;
  signedApproval: SignedApprovalRow;
  protection: ProtectionRow;
}
export type TableName = keyof Tables;

/**
 * What a checkpoint writes and a start reads: rows, whole. Nothing is ever deleted except finished orders past their 30
 * days, with their signed texts, and what `isForgotten`.
 */
export type RowWrite = {
  readonly [T in TableName]: {
    readonly table: T;
    readonly row: Tables[T];
    /** Of an order that may be among the open ones of the tables: it is there no more, and among no others. */
    readonly isForgotten?: boolean;
  };
}[TableName];
