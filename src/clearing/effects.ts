/**
 * What clearing says: the closed union of its effects. They leave the clearing thread only after the batch that caused
 * them is flushed (design: decide at once, publish when durable).
 *
 * Order within a batch: effects stand in the order of their inputs; the balances and positions that an input changed
 * follow what the input did, and come before the reply to it; `marketRiskChanged` and `marketDecided` come at the end of
 * the batch, once per market.
 */
import type { AssetId, UserId } from '../core/ids.ts';
import type { RollbackReason, Side } from '../core/order-terms.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { PriceSource } from '../risk/prices.ts';
import type {
  AssetQuantity,
  AssetRow,
  BalanceRow,
  ConfigRow,
  DepositRow,
  MarketRow,
  NodeOrder,
  OrderRow,
  PositionRow,
  PriceRow,
  ProtectionRow,
  SettlementRow,
  SignerConfigRow,
  SubAccountRow,
  TradeRow,
  UserRow,
  WithdrawalRow,
} from './rows.ts';

interface FillConfirmed {
  readonly kind: 'fillConfirmed';
  readonly trade: TradeRow;
}

/** Both sides of a refused fill; a reason is never 0. */
export interface FillRolledBackEffect {
  readonly kind: 'fillRolledBack';
  readonly marketIndex: number;
  readonly tradeId: Sequence;
  readonly makerOrder: Sequence;
  readonly takerOrder: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly matchedNs: TimestampNs;
  readonly makerReason: RollbackReason;
  readonly takerReason: RollbackReason;
  readonly takerSide: Side;
}

/** Absolute, at most once per balance and run of markets' inputs. */
interface BalanceChanged {
  readonly kind: 'balanceChanged';
  readonly row: BalanceRow;
}

/** Absolute, at most once per position and run of markets' inputs. With both legs at 0 it is gone. */
interface PositionChanged {
  readonly kind: 'positionChanged';
  readonly row: PositionRow;
}

/** A market's figures for margin beside its risk row and oracle: at most once per batch, after all positions. */
export interface MarketRiskChangedEffect {
  readonly kind: 'marketRiskChanged';
  readonly marketIndex: number;
  readonly mark: PriceSource | null;
  /** Sums of margin base legs over all users, neither negative (AMB-54). */
  readonly credits: Amount18;
  readonly borrows: Amount18;
  /** What there is to lend (MON-10), not negative. */
  readonly holdings: Amount18;
}

/** Everything that the market sent up to these numbers is applied, and every fill of it decided. */
export interface MarketDecidedEffect {
  readonly kind: 'marketDecided';
  readonly marketIndex: number;
  readonly throughTradeId: Sequence;
  readonly throughSequence: Sequence;
  readonly timeNs: TimestampNs;
}

/** An order that clearing ended at a restart (AMB-110). That a filled order has ended follows from its fills. */
interface OrderEnded {
  readonly kind: 'orderEnded';
  readonly row: OrderRow;
}

export interface RegistryChanged {
  readonly kind: 'registryChanged';
  readonly change:
    | { readonly table: 'asset'; readonly row: AssetRow }
    | { readonly table: 'market'; readonly row: MarketRow }
    | { readonly table: 'config'; readonly row: ConfigRow };
}

/** A user became known, or its row changed. Sub-accounts 0 and 1 exist from the first one on. */
interface UserChanged {
  readonly kind: 'userChanged';
  readonly row: UserRow;
}

/** The signers of an account were configured, or one was added. */
interface SignersChanged {
  readonly kind: 'signersChanged';
  readonly row: SignerConfigRow;
  /** The count in the user's row. */
  readonly configNonce: number;
}

/** A sub-account was created or renamed. */
interface SubAccountChanged {
  readonly kind: 'subAccountChanged';
  readonly row: SubAccountRow;
}

/** A protection group has other limits, was reset, or is gone. */
interface ProtectionChanged {
  readonly kind: 'protectionChanged';
  readonly row: ProtectionRow;
}

/** A flat position was folded into spot USD (POS-04, POS-05). */
interface PositionCleared {
  readonly kind: 'positionCleared';
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly timeNs: TimestampNs;
}

export interface DepositLanded {
  readonly kind: 'depositLanded';
  readonly row: DepositRow;
}

/** A withdrawal was requested, or went on, or ended (withdrawals.ts). */
interface WithdrawalChanged {
  readonly kind: 'withdrawalChanged';
  readonly row: WithdrawalRow;
}

/** The chain has paid: WDR-26. */
interface WithdrawalCompleted {
  readonly kind: 'withdrawalCompleted';
  readonly row: WithdrawalRow;
  /** The normalized payout. */
  readonly amount: Amount18;
  readonly timeNs: TimestampNs;
}

/** A settlement was requested, or went on, or ended (settlements.ts). */
interface SettlementChanged {
  readonly kind: 'settlementChanged';
  readonly row: SettlementRow;
}

interface TransferDone {
  readonly kind: 'transferDone';
  readonly user: UserId;
  readonly sourceIndex: number;
  readonly targetIndex: number;
  readonly asset: AssetId;
  readonly amount: Amount18;
  readonly timeNs: TimestampNs;
}

interface PriceAccepted {
  readonly kind: 'priceAccepted';
  readonly row: PriceRow;
}

/** What the backstop has taken over of an account (BKS-02). */
export interface TakenOver {
  /** The sub-account of the backstop. */
  readonly index: number;
  /** Credited by the backstop for this account. */
  readonly provisional: Amount18;
  /** What the holdings were worth below zero, at the prices of maintenance; 0 for an account that could pay. */
  readonly shortfall: Amount18;
  /** Positions, signed. */
  readonly taken: readonly AssetQuantity[];
}

/**
 * From `begun` to `ended` an account takes no new order that does not reduce, and nothing leaves it (AMB-57). Sent for every
 * account under liquidation at a start.
 */
export interface LiquidationChanged {
  readonly kind: 'liquidationChanged';
  readonly user: UserId;
  readonly subAccount: number;
  readonly stage: 'begun' | 'ended';
  /** Set when the liquidation ended with a take-over; absent when the account is healthy. */
  readonly takenOver?: TakenOver;
  readonly timeNs: TimestampNs;
}

/** All live orders of the account are to be cancelled; the answer is an `accountCleared` (LIQ-04). May come again. */
export interface CancelAccount {
  readonly kind: 'cancelAccount';
  readonly user: UserId;
  readonly subAccount: number;
  readonly timeNs: TimestampNs;
}

/**
 * An order that the node sends for an account: immediate-or-cancel, reduce-only unless spot. It is answered by its
 * admission, or by a `nodeOrderRefused`.
 */
export interface NodeOrderSent extends NodeOrder {
  readonly kind: 'nodeOrder';
  readonly user: UserId;
  readonly subAccount: number;
  readonly isLiquidation: boolean;
  readonly timeNs: TimestampNs;
}

/** The market is to give away so many trade ids; the answer is a `tradeIdsReserved`. */
interface TradeIdsWanted {
  readonly kind: 'tradeIdsWanted';
  readonly marketIndex: number;
  readonly count: number;
}

/** A trade of auto-deleveraging: no order of the book is part of it, and no public price is made of it (AMB-59). */
export interface Deleveraged {
  readonly kind: 'deleveraged';
  readonly trade: TradeRow;
  readonly timeNs: TimestampNs;
}

/** The answer to a node input: the object of the operator API in wire form, or a reject. */
interface Replied {
  readonly kind: 'replied';
  readonly request: number;
  readonly outcome: Outcome<Readonly<Record<string, unknown>>>;
}

export type Effect =
  | FillConfirmed
  | FillRolledBackEffect
  | BalanceChanged
  | PositionChanged
  | MarketRiskChangedEffect
  | MarketDecidedEffect
  | OrderEnded
  | RegistryChanged
  | UserChanged
  | SignersChanged
  | SubAccountChanged
  | ProtectionChanged
  | PositionCleared
  | DepositLanded
  | TransferDone
  | WithdrawalChanged
  | WithdrawalCompleted
  | SettlementChanged
  | PriceAccepted
  | LiquidationChanged
  | CancelAccount
  | NodeOrderSent
  | TradeIdsWanted
  | Deleveraged
  | Replied;
