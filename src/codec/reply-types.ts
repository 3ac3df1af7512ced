/**
 * What the SDK has for the replies of the service (wire.md 7, 8), as their shapes give it. Amounts in human units stay decimal
 * strings, exactly as sent; raw book integers are numbers (safe by contract); nanoseconds are bigints.
 */
import type { BookDecimals } from '../core/arithmetic.ts';

/** The reply to create, replace and cancel. `Received` means accepted, not filled. */
export interface OperationResponse {
  readonly orderId: string;
  readonly status: 'Received' | 'Rejected';
  readonly reason: string | null;
  readonly processedAtNs: bigint | null;
  /** Why an action over `/control` was rejected; absent in all other replies. */
  readonly detail?: RejectionDetail;
  /** Only on request. */
  readonly timing?: ActionTiming;
}

/** Why an action was rejected. */
export interface RejectionDetail {
  /** An error code, as in an error envelope. */
  readonly code: string;
  /** The invalid member; null if it is not one member. */
  readonly field: string | null;
  /** For people; may change. */
  readonly message: string;
  /** Of an amend made for another revision: the one of the order, null if it was not changed since its create. */
  readonly authorizationRevision?: bigint | null;
}

/** When an action passed each hop, on the node's clock; null for a hop it did not reach. */
export interface ActionTiming {
  readonly receivedNs: bigint;
  readonly verifiedNs: bigint | null;
  readonly sentNs: bigint | null;
  readonly matchedNs: bigint | null;
  readonly answeredNs: bigint;
}

/** The result for one order of a batch. */
export interface BatchResult {
  readonly orderId: string;
  readonly status: 'Received' | 'Rejected';
  /** An error code in PascalCase, null if the order was received. */
  readonly reason: string | null;
}

export interface Market extends BookDecimals {
  readonly assetId: string;
  readonly tickSize: string;
  readonly minOrderSize: string;
  /** 1e-6 of notional; the maker's may be negative. */
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly status: string;
}

export interface OrderRecord {
  readonly orderId: string;
  readonly assetId: string;
  readonly side: 'Buy' | 'Sell';
  readonly limitPrice: string | null;
  readonly quantity: string | null;
  /** USD of an order that is sized in quote. */
  readonly amount: string | null;
  readonly triggerAbovePrice: string | null;
  readonly triggerBelowPrice: string | null;
  readonly parentId: string | null;
  readonly confirmedFilledQuantity: string;
  readonly pendingFilledQuantity: string;
  /** USD for the filled quantities, without fees: divided by them, the average price. */
  readonly confirmedFilledAmount: string;
  readonly pendingFilledAmount: string;
  /** USD, negative is a rebate. */
  readonly confirmedTradingFees: string;
  readonly pendingTradingFees: string;
  readonly isReduceOnly: boolean;
  readonly goodUntilNs: bigint | null;
  readonly status: string;
  readonly timestampNs: bigint;
  /** The quote set that the order is an entry of; null of every other order. */
  readonly quoteSetId: string | null;
}

export interface UserTrade {
  readonly assetId: string;
  readonly orderId: string;
  readonly tradeId: number;
  readonly price: string;
  readonly quantity: string;
  readonly timestampNs: bigint;
  readonly isMaker: boolean;
  readonly isBuyer: boolean;
  readonly status: 'Pending' | 'Confirmed' | 'Rollbacked';
  readonly rollbackReason: string | null;
  /** USD, negative is a rebate; null if the service omitted it. */
  readonly tradingFee: string | null;
  /** The node sold or bought for an account below its maintenance margin: yours or the counterparty's. */
  readonly isLiquidation: boolean;
  /** Your position was closed against the backstop, outside of the book and without a fee. */
  readonly isAutoDeleverage: boolean;
  readonly subAccount: number;
}

export interface PublicTrade {
  readonly assetId: string;
  readonly tradeId: number;
  readonly price: string;
  readonly quantity: string;
  readonly timestampNs: bigint;
  readonly buyerIsMaker: boolean;
}

/** One price level, human decimals. In a diff quantity `"0"` removes the level. */
export interface DepthLevel {
  readonly price: string;
  readonly quantity: string;
}

export interface Kline {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  /** Quote notional. */
  readonly volume: string;
  readonly openTimestampNs: bigint;
  readonly closeTimestampNs: bigint;
}

export interface Ticker {
  readonly assetId: string;
  readonly lastPrice: string | null;
  readonly open: string | null;
  readonly high: string | null;
  readonly low: string | null;
  readonly volume: string;
  readonly priceChange: string | null;
  readonly priceChangePercent: string | null;
  readonly timestampNs: bigint;
  /** USD: the last trade, or the oracle price when that is older than a minute; null without a stored price. */
  readonly markPrice: string | null;
  /** The oracle price, USD. */
  readonly indexPrice: string | null;
  readonly bestBid: DepthLevel | null;
  readonly bestAsk: DepthLevel | null;
  /** Null for a market that never had a position. */
  readonly openInterest: OpenInterest | null;
}

/** Credits and borrows of an asset over all margin positions, in its units. */
export interface OpenInterest {
  readonly long: string;
  readonly short: string;
  /** When either changed last. */
  readonly timestampNs: bigint;
}

export type Inventory = ReadonlyMap<number, SubAccount>;

export interface SubAccount {
  readonly kind: string;
  readonly name: string;
  /** Asset id to human decimal. */
  readonly spot: ReadonlyMap<string, string>;
}

export interface Position {
  readonly assetId: string;
  readonly subAccount: number;
  readonly side: 'long' | 'short' | 'closed';
  readonly size: string;
  /** USD: proceeds of sells minus costs of buys, including fees. */
  readonly quoteCredits: string;
  readonly quoteLiabilities: string;
  readonly entryPrice: string | null;
  readonly markPrice: string | null;
  readonly unrealizedPnl: string | null;
  readonly margin: string | null;
  readonly leverage: string | null;
  readonly liquidationPrice: string | null;
}

export interface MarginFigures {
  readonly equity: string;
  /** Available for more risk, after subtracting open orders. */
  readonly available: string;
  readonly utilized: string;
  readonly maintenanceSurplus: string;
  readonly leverage: string | null;
  readonly isSolvent: boolean;
  readonly isLiquidatable: boolean;
  /** Of the initial requirement. */
  readonly initialSurplus: string;
  readonly unrealizedPnl: string;
  /** Null while a price is missing. */
  readonly maintenanceRequirement: string | null;
  /** Why figures of this account are not complete; empty when they are. */
  readonly warnings: readonly MarginWarning[];
}

/** A price that is missing, or that is too old, so that the last stored one counts. */
export interface MarginWarning {
  readonly code: string;
  /** For people; may change. */
  readonly message: string;
  readonly assetId: string | null;
}

/** By sub-account. */
export type MarginAccounts = ReadonlyMap<number, MarginFigures>;

/** One order that would close a position: raw book units, to be signed as a reduce-only market order. */
export interface CloseOrder {
  readonly assetId: string;
  readonly side: 'Buy' | 'Sell';
  readonly quantity: number;
  readonly oraclePrice: string;
  readonly subAccount: number;
}

export interface ClosePreview {
  readonly orders: readonly CloseOrder[];
  /** Assets without a price, with the reason. */
  readonly errors: ReadonlyMap<string, string>;
}

export interface Simulation {
  readonly equity: string;
  readonly available: string;
  readonly maintenanceSurplus: string;
  readonly leverage: string | null;
  readonly marginRequired: string;
  readonly marginImpact: string;
  readonly isSolvent: boolean;
  /** Whether the service would accept the order. */
  readonly isAccepted: boolean;
  readonly liquidationPrice: string | null;
}

/** One side of an asset over all accounts close to liquidation. */
export interface SideAtRisk {
  readonly quantity: string;
  /** Average by quantity; null when no price above zero liquidates one of the accounts. */
  readonly liquidationPrice: string | null;
}

export interface AtRisk {
  readonly timestampNs: bigint;
  /** By asset; those with nothing at risk are left out. */
  readonly assets: ReadonlyMap<string, { readonly long: SideAtRisk; readonly short: SideAtRisk }>;
}

/** An order as market data shows it. */
export interface UserOrder extends OrderRecord {
  readonly subAccount: number;
  /** Target spot, else margin. */
  readonly isSpot: boolean;
  readonly lastUpdateNs: bigint;
  /** Of an amend: the time of the last replace or amend; null if there was none. */
  readonly revisionNs: bigint | null;
}

/** A sub-account that the user named. */
export interface SubAccountName {
  readonly subAccount: number;
  readonly name: string;
}

/**
 * What a position cost: average cost of confirmed trades, without fees and transfers. An estimate, not inventory. Decimal strings,
 * truncated to 18 decimals.
 */
export interface PositionBasis {
  readonly subAccount: number;
  readonly assetId: string;
  /** The target of the orders. */
  readonly domain: 'margin' | 'spot';
  /** Null in spot. */
  readonly side: 'long' | 'short' | null;
  readonly quantity: string;
  /** USD. */
  readonly cost: string;
  /** USD per unit; null in spot. */
  readonly entryPrice: string | null;
  /** USD per unit; null in margin. */
  readonly averageAcquisitionPrice: string | null;
  /** Null without a stored price, and then so is what follows from it. */
  readonly markPrice: string | null;
  /** USD. */
  readonly unrealizedPnl: string | null;
}

/** A change of one balance (LDG-01). Decimal strings. */
export interface LedgerRow {
  /** The number of the row among all rows of the user in the row log: ledger rows are some of them. */
  readonly n: number;
  /** The journal record that decided it. */
  readonly sequence: number;
  /** The time of that record. */
  readonly timestampNs: bigint;
  readonly subAccount: number;
  /** `0` for USD. */
  readonly asset: string;
  /** The market whose position has this leg; null for a spot balance. */
  readonly leg: string | null;
  /** Why it changed, like `trade`, `trading_fee`, `deposit`. */
  readonly kind: string;
  /** Signed. */
  readonly amount: string;
  /** Locks included, signed. */
  readonly balanceAfter: string;
  readonly reference: string | null;
}

/** Newest first. */
export interface LedgerPage {
  readonly rows: readonly LedgerRow[];
  readonly limit: number;
  readonly hasNextPage: boolean;
  /** `before` of the next page, which may be empty; null at the oldest row that is kept. */
  readonly nextBefore: number | null;
}

/** What a sub-account was called, by its given or its default name, and is called now. */
export interface Renaming {
  readonly oldName: string;
  readonly newName: string;
}

/** A withdrawal of the queue; an approved one has what the vault asks for. */
export interface Withdrawal {
  /** `<token>@<chain id>`. */
  readonly asset: string;
  /** As the node writes amounts: hex unless its setting `amount_text` is decimal. */
  readonly amount: string;
  readonly nonce: number;
  readonly target: string;
  readonly status: string;
  /** When it was requested: names the row in a cancel. */
  readonly requestedNs: bigint;
  /** One for each administrator of the quorum; empty unless approved. */
  readonly approvals: readonly { readonly signature: string; readonly expiry: number; readonly epochHash: string }[];
}

/** The next numbers of a chain that no live row holds. */
export interface NextNonces {
  readonly withdrawal: number;
  /** By sub-account. */
  readonly settlements: ReadonlyMap<number, number>;
}

/** A token of an asset on one chain. Caps are 18-decimal units; 2^256 − 1 is none. */
export interface RegisteredToken {
  readonly assetId: string;
  /** `<64 hex>@<18 hex>`. */
  readonly address: string;
  readonly symbol: string | null;
  readonly decimals: number;
  readonly maxDeposits: bigint;
  readonly max1hrDeposits: bigint;
}

/** How an indexed asset is called, and by which tokens it is deposited. */
export interface AssetName {
  readonly index: number;
  readonly symbol: string;
  readonly name: string;
  readonly assetClass: string;
  readonly representations: readonly string[];
}

/** What an asset that is held at a venue counts for (wire-additions.md 9.5). */
export interface NettingParameter {
  readonly asset: string;
  readonly venue: string;
  readonly venueAsset: string;
  /** In 1e-6. */
  readonly cost: number;
  /** In 1e-6. */
  readonly residual: number;
}

/** The reply to a quote set: how many entries were created, changed, kept, cancelled. */
export interface QuoteSetResponse {
  readonly setId: string;
  /** Null where it could not be read. */
  readonly revisionNs: bigint | null;
  /** `Rejected` with counts: what the set adds was refused as a whole, what it takes away was applied. */
  readonly status: 'Received' | 'Rejected';
  readonly reason: string | null;
  readonly created: number;
  readonly changed: number;
  readonly kept: number;
  readonly cancelled: number;
  /** Entries that were left out. */
  readonly refused: readonly { readonly side: 'Buy' | 'Sell'; readonly price: number; readonly reason: string }[];
  /** Under load a newer set of this id was applied in its place. */
  readonly superseded: boolean;
  readonly processedAtNs: bigint;
  /** Why a set over `/control` was rejected; absent in all other replies. */
  readonly detail?: RejectionDetail;
  /** Only on request. */
  readonly timing?: ActionTiming;
}

/** What is read of a quote set's response; absent parts are null. */
export interface QuoteSetReply extends Omit<QuoteSetResponse, 'detail' | 'timing'> {
  readonly timing: ActionTiming | null;
}

/** What is read of an operation response; absent parts are null. */
export interface OperationReply extends Omit<OperationResponse, 'detail' | 'timing'> {
  readonly timing: ActionTiming | null;
}

/** A row of `/openinterest`: null for a market that never had a position. */
export interface OpenInterestRow {
  readonly assetId: string;
  readonly long: string | null;
  readonly short: string | null;
  readonly timestampNs: bigint | null;
}

/** The figures of margin accounts, and the warnings of all of them. */
export interface MarginReply {
  readonly accounts: ReadonlyMap<number, Omit<MarginFigures, 'warnings'>>;
  readonly warnings: readonly (MarginWarning & { readonly subAccount: number })[];
}

/** Tokens by their address, by asset. */
export type RegistryReply = ReadonlyMap<string, ReadonlyMap<string, Omit<RegisteredToken, 'assetId' | 'address'>>>;

/** An approval as it is sent. */
export interface ApprovalReply {
  readonly inner: { readonly nonce: number; readonly signature: string };
  readonly expiry: number;
}

/** A protection group as its user sees it. */
export interface ProtectionState {
  readonly group: string;
  readonly windowMs: number;
  readonly frozenMs: number;
  readonly maxFills: number | null;
  readonly maxQuantity: string | null;
  readonly maxNotional: string | null;
  readonly minFillNotional: string;
  readonly liveOrders: number;
  readonly isFrozen: boolean;
  readonly frozenUntilNs: bigint | null;
}
