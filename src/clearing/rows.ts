/**
 * The durable facts of the node, row by row: what clearing holds in memory and storage keeps in its tables.
 *
 * A row is a plain immutable value. Clearing replaces rows and remembers which keys became dirty; storage encodes and
 * decodes them (src/storage/row-tables.ts) and knows the key layout. Nothing else describes what is persisted.
 */
import type { AssetId, ChainId, OrderId, UserId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type {
  OrderEnd,
  OrderKind,
  RollbackReason,
  Side,
  SignatureVerdict,
  Tif,
  TriggerKind,
  TriggerState,
} from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { AccountType } from '../risk/account-types.ts';
import type { Legs } from '../risk/position.ts';
import type { PriceSource } from '../risk/prices.ts';

export type SubAccountKind = AccountType['kind'];

/** One user: flags and counters. Sub-accounts 0 and 1 exist for every user row (AMB-63). */
export interface UserRow {
  readonly user: UserId;
  readonly isMarketMaker: boolean;
  readonly configNonce: number;
  /** Last applied nonce per action domain (NON-06); 0 is none. u64. */
  readonly transferNonce: bigint;
  readonly closePositionNonce: bigint;
}

export interface SubAccountRow {
  readonly user: UserId;
  readonly subAccount: number;
  readonly kind: SubAccountKind;
  readonly name: string;
  /** Set for isolated accounts only. */
  readonly asset: AssetId | null;
}

/** Spot balance: `owned` is what inventory shows, holds included; `locked` has left it (AMB-72). Never negative. */
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

/** An order, live or finished, with its confirmed figures only. Key: (marketIndex, orderSequence). */
export interface OrderRow {
  readonly marketIndex: number;
  /** Market sequence of its admission: the node's own name of the order, unique per market for ever. */
  readonly orderSequence: Sequence;
  /** Market sequence that gives it its place in the queue: admission, or the replace or restore that moved it back. */
  readonly prioritySequence: Sequence;
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: OrderId;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  /** In force: the signed values, or those of the last applied replace. 0 for market orders. */
  readonly price: RawPrice;
  /** 0 for a quote-sized order without a base cap. */
  readonly quantity: RawQuantity;
  /** Quote integer of scale 10^-quantity decimals: the cap of a base-sized buy or the target; 0 for none (AMB-05). */
  readonly amount: number;
  /** What the front door let it use: quote of a buy, base of a sell; 0 for no such bound (AMB-39). */
  readonly budget: number;
  /** In force while dormant or fired; what was released keeps the one that released it. */
  readonly triggerKind: TriggerKind;
  readonly triggerPrice: RawPrice;
  readonly triggerState: TriggerState;
  /** A child's parent: its name, and its id as signed; 0 and '' for none. */
  readonly parentSequence: Sequence | 0;
  readonly parentId: OrderId | '';
  /** Of a child: lots its parent's confirmed fills have activated; of every other order its quantity (AMB-29). */
  readonly enabledQuantity: number;
  /** Of a child that is not released whole: lots that its market has put in force. 0 for every other order (AMB-29). */
  readonly activatedQuantity: number;
  /** Of an IOC, FOK or market child: lots that its market put in force and nobody matched; nothing is held for them (AMB-29). */
  readonly droppedQuantity: number;
  readonly maxFeeRate: number;
  readonly creationNs: TimestampNs;
  /** creation, raised to the timestamp of the last applied replace (AMB-18). */
  readonly timestampNs: TimestampNs;
  /** 0n unless GTD: the client's instant, shown as `good_until_timestamp_ns`. */
  readonly goodUntilNs: TimestampNs;
  /** Earlier of good-until and creation + 30 days. */
  readonly expiryNs: TimestampNs;
  readonly admittedNs: TimestampNs;
  readonly lastUpdateNs: TimestampNs;
  /** Confirmed fills: raw quantity, exact notional, fees paid (negative: rebates). */
  readonly filledQuantity: number;
  readonly filledNotional: Amount18;
  readonly fees: Amount18;
  /** 0 while live. */
  readonly end: OrderEnd | 0;
  /** The reason when `end` is atFault; on a live order the fault whose cancel is on its way (AMB-32); else 0. */
  readonly faultReason: RollbackReason;
  /** What the signature check said, once asked: at the order's first fill (GEN-05). Node-made orders stay at 0. */
  readonly verdict: SignatureVerdict;
  /** Canonical signed text and the 64-byte signature of the create; empty for node-made orders. */
  readonly text: string;
  readonly signature: Uint8Array;
}

/** Live orders of a market as a start finds them: bytes somewhere, out of which the row at a place can be read. */
export interface StoredOrders {
  /** The row, made anew. Its place is given up: what lies there is not asked for again. */
  take(place: number): OrderRow;
  /**
   * The row to look at, valid until the next look at any order. Its members are read when they are asked: it is not a
   * plain value, so it is neither kept nor spread.
   */
  look(place: number): OrderRow;
  /** The rows at these places, which rise, each valid until the next; looks at single orders do not end it. */
  looks(places: Iterable<number>): Iterable<OrderRow>;
  /** Which of the rows of users, in the order in which they were read, is that of a look's user; -1 where nobody counted. */
  userOf(look: OrderRow): number;
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

/** Where a market stands. `sequence` and `lastTradeId` never go backwards. */
export interface MarketRow {
  readonly definition: MarketDefinition;
  readonly sequence: Sequence;
  readonly lastTradeId: Sequence;
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

/** Chains, vaults, settlers, settings and other small operator objects: JSON by kind and key, kept as given. */
export interface ConfigRow {
  readonly kind: 'chain' | 'vault' | 'settler' | 'settings' | 'withdrawal-delay';
  readonly key: string;
  readonly json: string;
}

/** Sums that are not the users': what makes the ledger add up (operator-api.md 6, `GET /operator/ledger`). */
export interface AssetTotalsRow {
  readonly asset: AssetId;
  /** Everything that deposits brought and the vaults hold. */
  readonly vaultHoldings: Amount18;
  /** Negative of what the faucet credited. */
  readonly faucet: Amount18;
}

export type TallyName = 'trades' | 'rolled_back_fills' | 'finished_orders' | 'deposits';

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

/** Every table with the row it holds. The fee account is an ordinary user row with balances. */
export interface Tables {
  user: UserRow;
  subAccount: SubAccountRow;
  balance: BalanceRow;
  position: PositionRow;
  order: OrderRow;
  trade: TradeRow;
  asset: AssetRow;
  market: MarketRow;
  price: PriceRow;
  mark: MarkRow;
  deposit: DepositRow;
  config: ConfigRow;
  totals: AssetTotalsRow;
  tally: TallyRow;
}
export type TableName = keyof Tables;

/** What a checkpoint writes: changed rows, whole. Nothing is ever deleted except finished orders past their 30 days. */
export type RowWrite = { readonly [T in TableName]: { readonly table: T; readonly row: Tables[T] } }[TableName];

/** A row as a start reads it. That of a stored order is valid until the next row, all of it. */
export type LoadedRow =
  | RowWrite
  | {
      readonly table: 'storedOrder';
      readonly stored: StoredOrders;
      readonly place: number;
      /** A look, valid until the next row. */
      readonly row: OrderRow;
    };
