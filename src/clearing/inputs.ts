/**
 * The closed union of clearing's inputs, as plain exact values. A batch of them is one journal record;
 * the same batches give the same state on any machine.
 *
 * Inputs of a market carry its contiguous sequence and its own time. Inputs of the node carry a request number, which
 * comes back in the reply. The time of a decision is the batch's.
 *
 * Not here: how an input travels or is stored.
 */

import type { SignerKey } from '../codec/signatures.ts';
import type { AssetId, ChainId, OrderId, UserId } from '../core/ids.ts';
import type { RollbackReason } from '../core/order-terms.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Amount18, Sequence, TimestampNs } from '../core/units.ts';
import type {
  MatchedFields,
  OrderActivatedFields,
  OrderCancelPendingFields,
  OrderEndedFields,
  OrderReplacedFields,
  OrderRestoredFields,
  OrderTriggeredFields,
  ProtectionEndedFields,
  ProtectionTriggeredFields,
  QuoteSetAppliedFields,
  QuoteSetChangeFields,
  QuoteSetEndedFields,
  TradeIdsReservedFields,
} from '../schema/generated/messages.ts';
import type { CursorStep } from './funds/chain-cursor.ts';
import type { GivenPrice } from './registry/prices.ts';
import type { AssetChange } from './registry/registry-assets.ts';
import type { ConfigChange } from './registry/registry-config.ts';
import type { MarketChange } from './registry/registry-markets.ts';
import type { RiskParameters } from './registry/risk-parameters.ts';
import type { AccountPlace, CursorKind, MarketPlace, OrderRow, ProtectionLimits, SignedText } from './rows.ts';
import type { SignerSetup } from './signers/deposit-config.ts';
import type { SignedBy } from './signers/signer-config.ts';

interface FromMarket {
  readonly marketIndex: number;
  /** Contiguous per market. */
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
}

/** An order as it was admitted, and what was signed. */
interface Admission extends FromMarket, SignedText {
  /**
   * The record at its admission: sequences, times and, of a child, its parent's sequence; all of it enabled. It may be an
   * accessor over the bytes of the batch, which is valid while the batch is applied.
   */
  readonly order: OrderRow;
}

export interface Created extends Admission {
  readonly kind: 'created';
}

/** A crossing post-only: it leaves a record in status `Canceled` and nothing live (AMB-16). */
export interface CreateRefused extends Admission {
  readonly kind: 'createRefused';
}

/** An applied replace: the values now in force (AMB-18, AMB-19). */
export type Replaced = Omit<OrderReplacedFields, 'requestId'>;

/** The order is off the book for good. Not sent when the last lot is matched: that follows from the fills. */
export type Ended = Omit<OrderEndedFields, 'remaining' | 'requestId'>;

/** After a rollback the order is in the book again, perhaps with another place in the queue (AMB-32). */
export type Restored = Omit<OrderRestoredFields, 'quantity'>;

/** The trigger fired: `quantity` lots may be released, of a child what is activated, which can be 0 (AMB-28, AMB-29). */
export type Triggered = Omit<OrderTriggeredFields, 'triggerPrice'>;

/** Released, `quantity` lots of it altogether: from here on it is an order of the main book. */
export type Activated = OrderActivatedFields;

/** A cancel came while all of it was pending: it never comes back, not after a restart either (AMB-23). */
export type CancelPending = OrderCancelPendingFields;

/** A match; `timeNs` is the match time and the fee rates are those in force then (AMB-41). */
export type MatchedInput = Omit<MatchedFields, 'takerSide'>;

/** Trade ids for auto-deleveraging; they are used when this is applied, or never (AMB-59). */
export type TradeIdsReservedInput = TradeIdsReservedFields;

/** A group of orders has traded as much as it may: its members rest no longer from here on, and their ends follow (MMP-03). */
export type ProtectionTriggeredInput = ProtectionTriggeredFields;

/** Rollbacks have ended the freeze of this trip. */
export type ProtectionEndedInput = ProtectionEndedFields;
/** What a quote set did to an entry. */
export type QuoteSetChangeInput = QuoteSetChangeFields;

/** A quote set is in force, with all that it did to its entries (QTE-03, QTE-07). It takes `sequences` sequences. */
export interface QuoteSetAppliedInput
  extends FromMarket,
    SignedText,
    Omit<
      QuoteSetAppliedFields,
      'sequence' | 'timeNs' | 'marketIndex' | 'requestId' | 'signature' | 'textBytes' | 'signaturesBytes' | 'changes'
    > {
  readonly kind: 'quoteSetApplied';
  readonly changes: readonly QuoteSetChangeInput[];
}

/** The mark of a quote set was raised, or it ended (QTE-09). */
export type QuoteSetEndedInput = QuoteSetEndedFields;

export type MarketInput =
  | Created
  | CreateRefused
  | Replaced
  | Ended
  | Restored
  | Triggered
  | Activated
  | CancelPending
  | MatchedInput
  | TradeIdsReservedInput
  | ProtectionTriggeredInput
  | ProtectionEndedInput
  | QuoteSetAppliedInput
  | QuoteSetEndedInput;

/** Whether the input is an event of a market. By its kind: to look for a member in so many shapes of objects is slow. */
export function isOfMarket(input: ClearingInput): input is MarketInput {
  switch (input.kind) {
    case 'created':
    case 'matched':
    case 'ended':
    case 'replaced':
    case 'restored':
    case 'triggered':
    case 'activated':
    case 'cancelPending':
    case 'createRefused':
    case 'tradeIdsReserved':
    case 'protectionTriggered':
    case 'protectionEnded':
    case 'quoteSetApplied':
    case 'quoteSetEnded':
      return true;
    default:
      input satisfies NodeInput;
      return false;
  }
}

/** An action of a user. The signatures were verified before; clearing judges the weight again (MSG-37). */
interface Signed {
  /** Absent: the master key alone. */
  readonly signedBy?: SignedBy;
}

/** An action whose signed text is accepted once (MON-01). */
interface UsedOnce {
  /** SHA-256 of the signed bytes: 64 hex. */
  readonly text: string;
}

interface FromNode {
  /** Echoed in the reply; means nothing to clearing. */
  readonly request: number;
  /** Name of the operator's token by which it was asked (LDG-03); absent where no operator asked. Means nothing to clearing. */
  readonly by?: string;
}

/** One member that an operator's call has changed: its path, and its JSON before and after; null where there was or is none. */
export interface MemberChange {
  readonly member: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A call of an operator has changed something: journaled behind the change, for those who read the journal (LDG-03). Changes nothing. */
export interface OperatorCall extends FromNode {
  readonly kind: 'operatorCall';
  readonly by: string;
  readonly method: string;
  /** As it was requested, without its query. */
  readonly path: string;
  readonly changes: readonly MemberChange[];
}

/** The venue states something, which becomes a row of the row log (EVD-01, LIA-04). Changes nothing. */
interface Statement extends FromNode {
  readonly kind: 'statement';
  /** What it is about. */
  readonly subject: string;
  /** Often a signed note. */
  readonly text: string;
}

/** PUT replaces the whole object, PATCH the members given (operator-api.md 2). */
export type Method = 'put' | 'patch';

/** Members that are left out keep what they are (PATCH) or get their default (PUT). */
export interface PutAsset extends FromNode {
  readonly kind: 'putAsset';
  readonly method: Method;
  readonly assetId: AssetId;
  readonly change: AssetChange;
}

export interface PutRisk extends FromNode {
  readonly kind: 'putRisk';
  readonly method: Method;
  readonly assetId: AssetId;
  readonly change: Partial<RiskParameters>;
}

export interface PutMarket extends FromNode {
  readonly kind: 'putMarket';
  /** `create`: a user's request (AMB-130); leaves a market that exists as it is. */
  readonly method: Method | 'create';
  readonly assetId: AssetId;
  readonly change: MarketChange;
}

export interface PatchUser extends FromNode {
  readonly kind: 'patchUser';
  readonly user: UserId;
  readonly isMarketMaker: boolean;
}

/** A dead-man timer of the user runs from now on, or none does; when it is over is the gateway's to know (cluster.md 8). */
export interface MarkTimer extends FromNode {
  readonly kind: 'markTimer';
  readonly user: UserId;
  readonly runs: boolean;
}

/** Chains, vaults, settlers, settings, withdrawal delays. */
export interface PutConfig extends FromNode {
  readonly kind: 'putConfig';
  readonly change: ConfigChange;
}

export interface SetPrices extends FromNode {
  readonly kind: 'setPrices';
  readonly prices: readonly GivenPrice[];
}

/** Credits a spot balance out of nothing, or takes it back with a negative amount. */
export interface Faucet extends FromNode {
  readonly kind: 'faucet';
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly amount: Amount18;
}

/** A confirmed deposit event of a vault. */
export interface Deposit extends FromNode {
  readonly kind: 'deposit';
  readonly chainId: ChainId;
  /** 64 hex. */
  readonly tx: string;
  readonly logIndex: number;
  readonly user: UserId;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly baseUnits: bigint;
  /** The vault's per-user counter before the deposit: contiguous per user and chain. */
  readonly depositNonce: number;
  /** False where no signature can ever be of the user's key (MON-14); absent: true. */
  readonly hasKey?: boolean;
  /** What it configures, with a verified signature; absent: nothing (MSG-04). */
  readonly setup?: SignerSetup;
}

/** An operator credits a deposit that was not credited when it came (AMB-74). */
export interface CreditUnclaimed extends FromNode {
  readonly kind: 'creditUnclaimed';
  readonly chainId: ChainId;
  readonly user: UserId;
  /** The vault's counter before the deposit. */
  readonly counter: number;
}

/**
 * A majority of the providers of a chain shows that its vault holds so much less of an asset than the events booked up to
 * the same block say (MON-05). Sent when it has changed.
 */
export interface VaultDeviation extends FromNode {
  readonly kind: 'vaultDeviation';
  readonly chainId: ChainId;
  readonly asset: AssetId;
  /** 18 decimals, not negative; 0: it holds enough. */
  readonly missing: Amount18;
}

/** An operator accepts that so much is missing: approvals go on (MON-05). */
export interface AcceptDeviation extends FromNode {
  readonly kind: 'acceptDeviation';
  readonly chainId: ChainId;
  readonly asset: AssetId;
  /** 18 decimals, not negative. */
  readonly amount: Amount18;
}

/** A lot may be pooled by the time of the batch: made by clearing's own actor (AMB-73). */
interface LotsDue {
  readonly kind: 'lotsDue';
}

/** What a sub-account is to be, as signed (wire.md 7.17); its shape was checked before. */
export type TargetType =
  | { readonly kind: 'spot' | 'cross_margin'; readonly asset: null }
  | { readonly kind: 'isolated_margin'; readonly asset: AssetId };

/** A withdrawal of account 0 (wire.md 7.18). */
export interface Withdraw extends FromNode, Signed, UsedOnce {
  readonly kind: 'withdraw';
  readonly user: UserId;
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly chainId: ChainId;
  readonly amount: Amount18;
  /** 64 hex, right-padded. */
  readonly target: string;
  /** null: the smallest one free. */
  readonly nonce: number | null;
  /** Whether the gateway could not set the amount aside beside open orders (AMB-112). */
  readonly isShort: boolean;
}

/** Cancels a row that is queued or filled. */
export interface CancelWithdrawal extends FromNode, Signed, UsedOnce {
  readonly kind: 'cancelWithdrawal';
  readonly user: UserId;
  readonly token: string;
  readonly chainId: ChainId;
  readonly nonce: number;
  /** When the row was requested; null: the live row of that number, whichever it is. */
  readonly requestedNs: TimestampNs | null;
}

/** Something of a withdrawal is due by the time of the batch: made by clearing's own actor. */
interface WithdrawalsDue {
  readonly kind: 'withdrawalsDue';
}

/** A checkpoint of a chain (AMB-79). */
export interface VaultCheckpoint extends FromNode {
  readonly kind: 'vaultCheckpoint';
  readonly chainId: ChainId;
  /** The time of the last confirmed block, seconds. */
  readonly blockTime: number;
}

/** The signatures of all administrators of the quorum on a row that is to be signed. */
export interface ApprovalSigned extends FromNode {
  readonly kind: 'approvalSigned';
  readonly user: UserId;
  readonly place: number;
  readonly sequence: number;
  /** 130 hex each. */
  readonly signatures: readonly string[];
}

/** An approval can never be used any more, as confirmed blocks show (WDR-10). */
export interface ApprovalLapsed extends FromNode {
  readonly kind: 'approvalLapsed';
  readonly user: UserId;
  readonly place: number;
  readonly sequence: number;
  /** The time of a confirmed block, seconds. */
  readonly blockTime: number;
  /** The vault's counter of the user at that block. */
  readonly counter: number;
}

/** A confirmed `Withdrew` event of a vault. */
export interface Withdrew extends FromNode {
  readonly kind: 'withdrew';
  readonly chainId: ChainId;
  readonly user: UserId;
  /** 64 hex, right-padded. */
  readonly token: string;
  /** The vault's counter before the withdrawal. */
  readonly nonce: number;
  readonly baseUnits: bigint;
}

/** A settlement of a sub-account with the vault of a chain; the maker's signature was checked before (wire.md 7.19). */
export interface Settle extends FromNode, Signed, UsedOnce {
  readonly kind: 'settle';
  readonly user: UserId;
  readonly subAccount: number;
  readonly chainId: ChainId;
  /** 64 hex, right-padded; null: the registered one. */
  readonly vault: string | null;
  readonly mode: 'spot' | 'margin';
  /** 64 hex, right-padded. */
  readonly tokenOut: string;
  readonly amountOut: Amount18;
  /** 64 hex, right-padded. */
  readonly tokenIn: string;
  readonly amountIn: Amount18;
  readonly settler: UserId;
  /** The market maker whose order was attached (AMB-137); null without one. */
  readonly maker: UserId | null;
  /** SHA-256 of what the maker signed, 64 hex, and its expiry; null without one. */
  readonly makerOrder: { readonly text: string; readonly expiresNs: bigint } | null;
  /** null: the next managed one (STL-05). */
  readonly nonce: number | null;
  /** The time in the request; null if it has none. */
  readonly expiresNs: bigint | null;
  /** The time of the last confirmed block of the chain, seconds. */
  readonly blockTime: number;
  /** Why no approval is signed now: only a text that was accepted before is answered (MON-01). null: they are. */
  readonly notReady: string | null;
  /** Why the gateway could not set the amount aside beside open orders (AMB-112); null: it has. */
  readonly shortfall: 'INSUFFICIENT_INVENTORY' | 'INSUFFICIENT_MARGIN' | null;
}

/** What names a settlement: the time of its request tells it from an earlier one in the same place. */
export interface SettlementName {
  readonly user: UserId;
  readonly place: number;
  readonly requestedNs: TimestampNs;
}

/** The signature of an administrator over exactly the row. */
export interface SettlementSigned extends FromNode, SettlementName {
  readonly kind: 'settlementSigned';
  /** 130 hex. */
  readonly signature: string;
}

/** The signer has refused a row that it has never signed. */
export interface SettlementRefused extends FromNode, SettlementName {
  readonly kind: 'settlementRefused';
}

/** An approval can never be used any more, as confirmed blocks show (AMB-82). */
export interface SettlementLapsed extends FromNode, SettlementName {
  readonly kind: 'settlementLapsed';
  /** The time of a confirmed block, seconds. */
  readonly blockTime: number;
  /** The vault's counter of user and sub-account at that block. */
  readonly counter: number;
}

/** A `Settled` event of a vault. */
export interface Settled extends FromNode {
  readonly kind: 'settled';
  readonly chainId: ChainId;
  readonly user: UserId;
  readonly subAccount: number;
  /** The vault's counter before the settlement. */
  readonly nonce: number;
  /** Tokens: 64 hex, right-padded. */
  readonly tokenOut: string;
  readonly baseUnitsOut: bigint;
  readonly tokenIn: string;
  readonly baseUnitsIn: bigint;
  readonly mode: 'spot' | 'margin';
  readonly settler: UserId;
}

/** What a booked event is that the chain has no longer, with the vault's counter now. */
interface VanishedEvent extends FromNode {
  readonly chainId: ChainId;
  readonly user: UserId;
  /** The nonce of the event. */
  readonly nonce: number;
  /** The counter of the user's withdrawals, or of the settlements of the sub-account. */
  readonly counter: number;
}

/** A booked `Withdrew` event that a reorganisation has dropped, at the resumption of its chain. */
export interface PayoutVanished extends VanishedEvent {
  readonly kind: 'payoutVanished';
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly baseUnits: bigint;
}

/** The same of a `Settled` event whose approval has ended. */
export interface SettlementVanished extends VanishedEvent {
  readonly kind: 'settlementVanished';
  readonly subAccount: number;
  /** Tokens: 64 hex, right-padded. */
  readonly tokenOut: string;
  readonly baseUnitsOut: bigint;
  readonly tokenIn: string;
  readonly baseUnitsIn: bigint;
}

/** How far a kind of events of an EVM chain is processed goes on (funds/chain-cursors.ts). */
export interface ChainStep extends FromNode {
  readonly kind: 'chainStep';
  readonly chainId: ChainId;
  readonly event: CursorKind;
  /** Of the cursor that it follows; 0: there is none. */
  readonly revision: number;
  readonly step: CursorStep;
}

/** A confirmed forced withdrawal of a vault in escape mode. */
export interface ForcedWithdrawal extends FromNode {
  readonly kind: 'forcedWithdrawal';
  readonly chainId: ChainId;
  readonly user: UserId;
  /** 64 hex, right-padded. */
  readonly token: string;
  /** The vault's counter of the user's forced withdrawals before this one. */
  readonly nonce: number;
  readonly baseUnits: bigint;
}

/** Between two spot balances of one user. */
export interface Transfer extends FromNode, Signed {
  readonly kind: 'transfer';
  readonly user: UserId;
  readonly sourceIndex: number;
  readonly targetIndex: number;
  readonly asset: AssetId;
  readonly amount: Amount18;
  /** Set when the target is to be created (TRF-05, TRF-06). */
  readonly targetType: TargetType | null;
  /** Why the gateway could not set the amount aside beside open orders (AMB-112); null or absent: it has. */
  readonly shortfall?: 'INSUFFICIENT_INVENTORY' | 'INSUFFICIENT_MARGIN' | null;
  /** u64. */
  readonly nonce: bigint;
}

/** Folds the quote leg of a flat position into spot USD (POS-04). */
export interface ClosePosition extends FromNode, Signed {
  readonly kind: 'closePosition';
  readonly user: UserId;
  readonly account: number;
  readonly asset: AssetId;
  /** Spot USD that the gateway has set aside for a negative quote leg (AMB-112); absent: as much as is available. */
  readonly setAside?: Amount18;
  /** u64. */
  readonly nonce: bigint;
}

/** Adds a signer to the account (MSG-39). */
export interface AddSigner extends FromNode, Signed {
  readonly kind: 'addSigner';
  readonly user: UserId;
  readonly signer: SignerKey;
  /** u32, at least 1. */
  readonly weight: number;
  /** The signer expires so long after the time of the batch; null never. u64. */
  readonly sessionDurationNs: bigint | null;
  /** The `config_nonce` that the change follows (NON-05). */
  readonly ceNonce: number;
}

/** Unsigned: the session is checked before (SUB-14). */
export interface RenameSubAccount extends FromNode {
  readonly kind: 'renameSubAccount';
  readonly user: UserId;
  readonly index: number;
  readonly name: string;
}

/** What names a protection group to its user; unsigned, the session is checked before (MMP-01). */
interface OfProtection extends FromNode {
  readonly user: UserId;
  /** The base asset of the market. */
  readonly asset: AssetId;
  readonly group: string;
}

/** Creates the group or replaces its limits. */
export interface PutProtection extends OfProtection {
  readonly kind: 'putProtection';
  readonly terms: ProtectionLimits;
}

export interface DeleteProtection extends OfProtection {
  readonly kind: 'deleteProtection';
}

/** Ends its freeze. */
export interface ResetProtection extends OfProtection {
  readonly kind: 'resetProtection';
  /** The last trip that the gateway has seen; 0 for none. */
  readonly trip: Sequence;
}

/** Fills of one asset, or all, are not decided; what a market sends after a held fill waits behind it. */
interface Hold extends FromNode {
  readonly kind: 'hold';
  readonly asset: AssetId | 'all';
}

/** `fills` null ends all holds; a number lets so many fills pass and keeps the hold. */
export interface Release extends FromNode {
  readonly kind: 'release';
  readonly fills: number | null;
}

/** The next fills fail for a party (operator-api.md 7.3 `reject_fill`). */
export interface RejectFill {
  readonly party: 'maker' | 'taker' | 'both';
  readonly reason: RollbackReason;
  readonly asset: AssetId | null;
  readonly skip: number;
  readonly count: number;
}

/** null clears the faults not yet used. */
interface Fault extends FromNode {
  readonly kind: 'fault';
  readonly fault: RejectFill | null;
}

/** The clock was moved by hand. Changes nothing; journaled, it keeps a restart from putting the clock back. */
interface ClockMoved extends FromNode {
  readonly kind: 'clockMoved';
}

/** The node started on this journal. After an unclean stop sequences jump over what may have been announced. */
export interface Restarted {
  readonly kind: 'restarted';
  readonly clean: boolean;
}

/** The first record of an epoch: a node leads from here on (leadership.ts, cluster.md 5). */
export interface Takeover {
  readonly kind: 'takeover';
  /** One more than the number of the record before. */
  readonly epoch: number;
  /** Name of the node. */
  readonly node: string;
  /** Random for each process. */
  readonly run: string;
  /** Whether the record before is a handover: then no sequence jumps. */
  readonly clean: boolean;
  /** Addresses for clients; null for none. */
  readonly oms: string | null;
  readonly mds: string | null;
}

/** The last record of a leader, which has drained and stored everything. */
export interface Handover {
  readonly kind: 'handover';
  /** Name of the node that is to take over at once; null: any. */
  readonly to: string | null;
}

/**
 * The gateway has no live order of the account any more, and receives no fill of one: whatever the markets publish up to
 * these sequences may still concern it, and nothing after (LIQ-04).
 */
export interface AccountCleared extends FromNode {
  readonly kind: 'accountCleared';
  readonly user: UserId;
  readonly subAccount: number;
  readonly through: readonly MarketPlace[];
}

/**
 * An order of the node was not admitted, and nothing of it lives. `isFinal`: it was tried and refused; else it was not
 * tried, because there was no room for it or its market was closed or halted.
 */
export interface NodeOrderRefused extends FromNode {
  readonly kind: 'nodeOrderRefused';
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly isFinal: boolean;
}

/** Decides, by the state and the time of the batch alone, what is next for an account (liquidation/rounds.ts). */
export interface LiquidationStep {
  readonly kind: 'liquidationStep';
  readonly user: UserId;
  readonly subAccount: number;
}

/** Counterparties of auto-deleveraging that were searched in a market, before the step that they are for; perhaps none. */
export interface FoundCounterparties {
  readonly marketIndex: number;
  /** At most ADL_TRADES_MAX. */
  readonly accounts: readonly AccountPlace[];
}

/** The same for a sub-account of the backstop (liquidation/backstop.ts). */
export interface BackstopStep {
  readonly kind: 'backstopStep';
  readonly index: number;
  /** The counterparties in markets with more positions than one step visits; absent if there is no such market. */
  readonly found?: readonly FoundCounterparties[];
}

/** What clearing's own thread adds to a batch; without a reply. */
export type OwnInput = Restarted | Takeover | Handover | LiquidationStep | BackstopStep | WithdrawalsDue | LotsDue;

/** Inputs that a user signed. */
export type SignedInput = Transfer | ClosePosition | Withdraw | CancelWithdrawal | Settle | AddSigner;

export type NodeInput =
  | PutAsset
  | PutRisk
  | PutMarket
  | PatchUser
  | MarkTimer
  | PutConfig
  | SetPrices
  | Faucet
  | Deposit
  | CreditUnclaimed
  | VaultDeviation
  | AcceptDeviation
  | Withdraw
  | CancelWithdrawal
  | VaultCheckpoint
  | ApprovalSigned
  | ApprovalLapsed
  | Withdrew
  | Settle
  | SettlementSigned
  | SettlementRefused
  | SettlementLapsed
  | Settled
  | PayoutVanished
  | SettlementVanished
  | ForcedWithdrawal
  | ChainStep
  | Transfer
  | ClosePosition
  | AddSigner
  | RenameSubAccount
  | PutProtection
  | DeleteProtection
  | ResetProtection
  | Hold
  | Release
  | Fault
  | ClockMoved
  | OperatorCall
  | Statement
  | AccountCleared
  | NodeOrderRefused
  | OwnInput;

export type ClearingInput = MarketInput | NodeInput;

/** The result of the signature check on one order, which is made once. Journaled with the batch that needed it. */
export interface FillVerdict {
  readonly marketIndex: number;
  readonly order: Sequence;
  readonly valid: boolean;
}

/** What one journal record holds. */
export interface Batch {
  /** The time at which clearing took the batch. */
  readonly timeNs: TimestampNs;
  readonly inputs: readonly ClearingInput[];
  readonly verdicts: readonly FillVerdict[];
}

/** Leaves out a member of each variant of a union. */
type OmitEach<Union, Name extends PropertyKey> = Union extends unknown ? Omit<Union, Name> : never;

/** A command to clearing; its request number is the node's. */
export type OperatorCommand = OmitEach<Exclude<NodeInput, OwnInput>, 'request'>;
/** The answer to a command: its members as the operator API answers, or why it was refused. */
export type ActionReply = Outcome<Readonly<Record<string, unknown>>>;
