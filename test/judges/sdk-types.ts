/**
 * Frozen judge: the SDK's types of replies as they were declared by hand, before they came from the shapes.
 * test/client/sdk-types.test.ts asserts that each and its successor are assignable to each other.
 */
import type { JsonObject } from '../../src/codec/json-tree.ts';
import type { SignerKey } from '../../src/codec/signatures.ts';
import type { BookDecimals } from '../../src/core/arithmetic.ts';

type SideWord = 'Buy' | 'Sell';

export interface OperationResponse {
  readonly orderId: string;
  readonly status: 'Received' | 'Rejected';
  readonly reason: string | null;
  readonly processedAtNs: bigint | null;
  readonly detail?: RejectionDetail;
  readonly timing?: ActionTiming;
}

export interface RejectionDetail {
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
  readonly authorizationRevision?: bigint | null;
}

export interface ActionTiming {
  readonly receivedNs: bigint;
  readonly verifiedNs: bigint | null;
  readonly sentNs: bigint | null;
  readonly matchedNs: bigint | null;
  readonly answeredNs: bigint;
}

export interface BatchResult {
  readonly orderId: string;
  readonly status: 'Received' | 'Rejected';
  readonly reason: string | null;
}

export interface Market extends BookDecimals {
  readonly assetId: string;
  readonly tickSize: string;
  readonly minOrderSize: string;
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly status: string;
}

export interface OrderRecord {
  readonly orderId: string;
  readonly assetId: string;
  readonly side: SideWord;
  readonly limitPrice: string | null;
  readonly quantity: string | null;
  readonly amount: string | null;
  readonly triggerAbovePrice: string | null;
  readonly triggerBelowPrice: string | null;
  readonly parentId: string | null;
  readonly confirmedFilledQuantity: string;
  readonly pendingFilledQuantity: string;
  readonly confirmedFilledAmount: string;
  readonly pendingFilledAmount: string;
  readonly confirmedTradingFees: string;
  readonly pendingTradingFees: string;
  readonly isReduceOnly: boolean;
  readonly goodUntilNs: bigint | null;
  readonly status: string;
  readonly timestampNs: bigint;
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
  readonly tradingFee: string | null;
  readonly isLiquidation: boolean;
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

export interface DepthLevel {
  readonly price: string;
  readonly quantity: string;
}

export interface Depth {
  readonly asks: readonly DepthLevel[];
  readonly bids: readonly DepthLevel[];
  readonly sequenceNumber: number;
}

export interface Kline {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
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
  readonly markPrice: string | null;
  readonly indexPrice: string | null;
  readonly bestBid: DepthLevel | null;
  readonly bestAsk: DepthLevel | null;
  readonly openInterest: OpenInterest | null;
}

export interface OpenInterest {
  readonly long: string;
  readonly short: string;
  readonly timestampNs: bigint;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly limit: number;
  readonly nextPage: number | null;
}

export interface KlinePage extends Page<Kline> {
  readonly width: number | null;
  readonly truncatedBeforeNs: bigint | null;
}

export type Inventory = ReadonlyMap<number, SubAccount>;

export interface SubAccount {
  readonly kind: string;
  readonly name: string;
  readonly spot: ReadonlyMap<string, string>;
}

export interface PublicTradeEvent {
  readonly status: 'Pending' | 'Confirmed' | 'Rollbacked';
  readonly trade: PublicTrade;
}

export interface Position {
  readonly assetId: string;
  readonly subAccount: number;
  readonly side: 'long' | 'short' | 'closed';
  readonly size: string;
  readonly quoteCredits: string;
  readonly quoteLiabilities: string;
  readonly entryPrice: string | null;
  readonly markPrice: string | null;
  readonly unrealizedPnl: string | null;
  readonly margin: string | null;
  readonly leverage: string | null;
  readonly liquidationPrice: string | null;
}

export interface PositionChange extends Position {
  readonly timestampNs: bigint;
}

export interface MarginFigures {
  readonly equity: string;
  readonly available: string;
  readonly utilized: string;
  readonly maintenanceSurplus: string;
  readonly leverage: string | null;
  readonly isSolvent: boolean;
  readonly isLiquidatable: boolean;
  readonly initialSurplus: string;
  readonly unrealizedPnl: string;
  readonly maintenanceRequirement: string | null;
  readonly warnings: readonly MarginWarning[];
}

export interface MarginWarning {
  readonly code: string;
  readonly message: string;
  readonly assetId: string | null;
}

export type MarginAccounts = ReadonlyMap<number, MarginFigures>;

export interface CloseOrder {
  readonly assetId: string;
  readonly side: SideWord;
  readonly quantity: number;
  readonly oraclePrice: string;
  readonly subAccount: number;
}

export interface ClosePreview {
  readonly orders: readonly CloseOrder[];
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
  readonly isAccepted: boolean;
  readonly liquidationPrice: string | null;
}

export interface SideAtRisk {
  readonly quantity: string;
  readonly liquidationPrice: string | null;
}

export interface AtRisk {
  readonly timestampNs: bigint;
  readonly assets: ReadonlyMap<string, { readonly long: SideAtRisk; readonly short: SideAtRisk }>;
}

export type AccountEvent =
  | {
      readonly kind: 'DepositLanded' | 'WithdrawalCompleted';
      readonly asset: string;
      readonly amount18: bigint;
      readonly chainId: string;
      readonly nonce: bigint;
      readonly timestampNs: bigint;
    }
  | {
      readonly kind: 'PositionCleared';
      readonly asset: string;
      readonly subAccount: number;
      readonly timestampNs: bigint;
    }
  | {
      readonly kind: 'SubAccountAssetTransferred';
      readonly asset: string;
      readonly amount18: bigint;
      readonly sourceIndex: number;
      readonly targetIndex: number;
      readonly timestampNs: bigint;
    };

export interface Renaming {
  readonly oldName: string;
  readonly newName: string;
}

export interface Withdrawal {
  readonly asset: string;
  readonly amount: string;
  readonly nonce: number;
  readonly target: string;
  readonly status: string;
  readonly requestedNs: bigint;
  readonly approvals: readonly { readonly signature: string; readonly expiry: number; readonly epochHash: string }[];
}

export interface NextNonces {
  readonly withdrawal: number;
  readonly settlements: ReadonlyMap<number, number>;
}

export interface SettlementApproval {
  readonly nonce: number;
  readonly signature: string;
  readonly expiry: number;
}

export interface RegisteredSigner extends SignerKey {
  readonly weight: number;
  readonly expiresAtNs: bigint | null;
  readonly maxSigningWindowNs: bigint | null;
}

export interface MultisigConfig {
  readonly masterWeight: number;
  readonly signers: readonly RegisteredSigner[];
  readonly thresholds: { readonly low: number; readonly medium: number; readonly high: number };
  readonly configNonce: number;
}

export interface RegisteredToken {
  readonly assetId: string;
  readonly address: string;
  readonly symbol: string | null;
  readonly decimals: number;
  readonly maxDeposits: bigint;
  readonly max1hrDeposits: bigint;
}

export interface AssetName {
  readonly index: number;
  readonly symbol: string;
  readonly name: string;
  readonly assetClass: string;
  readonly representations: readonly string[];
}

export interface NettingParameter {
  readonly asset: string;
  readonly venue: string;
  readonly venueAsset: string;
  readonly cost: number;
  readonly residual: number;
}

export interface MarketPage extends Page<Market> {
  readonly symbols: ReadonlyMap<string, AssetName>;
}

export interface UserOrder extends OrderRecord {
  readonly subAccount: number;
  readonly isSpot: boolean;
  readonly lastUpdateNs: bigint;
  readonly revisionNs: bigint | null;
}

export interface AccountTrade extends UserTrade {
  readonly subAccount: number;
}

export interface SubAccountName {
  readonly subAccount: number;
  readonly name: string;
}

export interface PositionBasis {
  readonly subAccount: number;
  readonly assetId: string;
  readonly domain: 'margin' | 'spot';
  readonly side: 'long' | 'short' | null;
  readonly quantity: string;
  readonly cost: string;
  readonly entryPrice: string | null;
  readonly averageAcquisitionPrice: string | null;
  readonly markPrice: string | null;
  readonly unrealizedPnl: string | null;
}

interface OrderEventCommon {
  readonly orderId: string;
  readonly timestampNs: bigint;
}

interface OrderOfMarket extends OrderEventCommon {
  readonly assetId: string;
}

export type OrderEvent =
  | (OrderOfMarket & { readonly kind: 'Created'; readonly order: JsonObject })
  | (OrderOfMarket & { readonly kind: 'Canceled'; readonly reason: string | null })
  | (OrderOfMarket & {
      readonly kind: 'Removed';
      readonly reason: string;
      readonly filledQuantity: number;
      readonly confirmedQuantity: number;
    })
  | (OrderOfMarket & { readonly kind: 'Replaced'; readonly newPrice: number; readonly newQuantity: number })
  | (OrderOfMarket & {
      readonly kind: 'Amended';
      readonly newQuantity: number;
      readonly remainingQuantity: number;
      readonly revisionNs: bigint;
    })
  | (OrderOfMarket & {
      readonly kind: 'Triggered';
      readonly triggerPrice: number;
      readonly quantity: number | null;
    })
  | (OrderEventCommon & {
      readonly kind: 'CreateFailed' | 'ReplaceFailed' | 'CancelFailed' | 'AmendFailed';
      readonly reason: string | null;
    });
