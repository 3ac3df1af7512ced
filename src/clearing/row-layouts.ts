/**
 * The layout of every row: its members in the order in which they are written. Bytes on disk (src/storage/row-tables.ts) and the
 * lines of the state hash (state-hash.ts) follow from it, so what is a member of a row is kept and hashed, or does not compile.
 *
 * The compiler holds a layout to its row: a member without a field, or a field of another type, does not compile (brands are not
 * checked: Plain).
 *
 * A changed layout is another version of the data: it needs a step of its own in src/storage/upgrade-steps.ts, and the layout of before
 * is written down there.
 */

import type { AssetId } from '../core/ids.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import {
  bytes,
  type Field,
  flag,
  hex9,
  hex32,
  i32,
  i128,
  integer,
  list,
  optional,
  type Struct,
  safe,
  struct,
  text,
  u8,
  u32,
  u64,
} from '../schema/row-fields.ts';
import type {
  AccountPlace,
  AdlMinute,
  AssetQuantity,
  CountedMatch,
  CursorAnchor,
  CursorStop,
  MarketPlace,
  MarketRow,
  NodeOrder,
  OrderRow,
  PooledCredit,
  PriceRow,
  QuoteFill,
  SignedTextRow,
  TableName,
  Tables,
  TokenDefinition,
  TradeRow,
  TradeSide,
} from './rows.ts';
import type { ConfiguredSigner, Thresholds } from './signers/signer-config.ts';

const TOKEN: Field<TokenDefinition> = struct<TokenDefinition>({
  token: hex32,
  chainId: hex9,
  decimals: u8,
  maxDeposits: optional(integer),
  max1hrDeposits: optional(integer),
  minWeight: integer,
  minFirstDepositBaseUnits: integer,
});

const DEFINITION: Field<MarketRow['definition']> = struct<MarketRow['definition']>({
  marketIndex: u32,
  assetId: text,
  priceDecimals: u8,
  quantityDecimals: u8,
  tickSize: safe,
  minimumQuantity: safe,
  makerFeeRate: i32,
  takerFeeRate: i32,
  status: u8,
  selfTradePrevention: flag,
  priceCollar: optional(integer),
  minimumNotional: integer,
});

export const COUNTED_MATCH: Field<CountedMatch> = struct<CountedMatch>({
  takerOrder: safe,
  timeNs: u64,
  notional: i128,
});

const JUMP: Field<NonNullable<PriceRow['jump']>> = struct<NonNullable<PriceRow['jump']>>({
  price: integer,
  source: text,
});

const MARKET_PLACE: Field<MarketPlace> = struct<MarketPlace>({ marketIndex: u32, sequence: safe });

/** As text: its brand alone is different. */
const ASSET: Field<AssetId> = text as Field<AssetId>;

const NODE_ORDER: Field<NodeOrder> = struct<NodeOrder>({
  orderId: text,
  marketIndex: u32,
  side: u8,
  price: safe,
  quantity: safe,
  isSpot: flag,
});

const ASSET_QUANTITY: Field<AssetQuantity> = struct<AssetQuantity>({ asset: text, quantity: i128 });

const ACCOUNT_PLACE: Field<AccountPlace> = struct<AccountPlace>({ user: hex32, subAccount: u8 });

const THRESHOLDS: Field<Thresholds> = struct<Thresholds>({ low: u32, medium: u32, high: u32 });

const SIGNER: Field<ConfiguredSigner> = struct<ConfiguredSigner>({
  scheme: text,
  key: bytes,
  weight: u32,
  addedNs: u64,
  expiresAtNs: optional(u64),
  maxSigningWindowNs: optional(u64),
});

const CURSOR_ANCHOR: Field<CursorAnchor> = struct<CursorAnchor>({ number: safe, hash: hex32 });

const CURSOR_STOP: Field<CursorStop> = struct<CursorStop>({ reason: text, next: safe, deposits: safe });

const QUOTE_FILL: Field<QuoteFill> = struct<QuoteFill>({ side: u8, price: safe, lots: safe });

const ADL_MINUTE: Field<AdlMinute> = struct<AdlMinute>({ minute: u32, quantity: i128 });

const POOLED_CREDIT: Field<PooledCredit> = struct<PooledCredit>({ timeNs: u64, amount: i128 });

const TRADE_SIDE: Field<TradeSide> = struct<TradeSide>({
  user: hex32,
  subAccount: u8,
  orderId: text,
  orderSequence: safe,
  fee: i128,
});

/** A trade as it lies in its block (trade-blocks.ts). */
export const TRADE: Field<TradeRow> = struct<TradeRow>({
  marketIndex: u32,
  tradeId: safe,
  price: safe,
  quantity: safe,
  matchedNs: u64,
  takerSide: u8,
  isLiquidation: flag,
  isAutoDeleverage: flag,
  maker: TRADE_SIDE,
  taker: TRADE_SIDE,
});

/** The text that a user signed, as it lies in its block (signed-texts.ts), whose key has the market. */
export const SIGNED_TEXT: Field<Omit<SignedTextRow, 'marketIndex'>> = struct<Omit<SignedTextRow, 'marketIndex'>>({
  orderSequence: safe,
  signatures: bytes,
  text,
});

/** A record at a multiple of 8, as its fields need it: in a value it begins anywhere. */
const RECORD: Views = viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes);

/** An order, live or finished: the bytes of its record. */
export const ORDER: Field<OrderRow> = {
  write(to, row) {
    if (row instanceof OrderRecordView) to.raw(row.v.u8.subarray(row.at, row.at + OrderRecord.bytes));
    else {
      OrderRecord.write(RECORD, 0, row);
      to.raw(RECORD.u8);
    }
  },
  read(from) {
    from.copyTo(RECORD.u8, 0, OrderRecord.bytes);
    return OrderRecord.read(RECORD, 0);
  },
  print(to, row) {
    if (row instanceof OrderRecordView) OrderRecord.hash(row.v, row.at, to);
    else {
      OrderRecord.write(RECORD, 0, row);
      OrderRecord.hash(RECORD, 0, to);
    }
  },
};

/** Rows under a key of their own. Trades, signed texts and finished orders lie in blocks. */
export type RowTableName = Exclude<TableName, 'trade' | 'signedText'>;

/** Rows of members; a row of `order` is a record. */
export type StructTable = Exclude<RowTableName, 'order'>;

export const ROW_LAYOUTS: { readonly [T in StructTable]: Struct<Tables[T]> } & { readonly order: Field<OrderRow> } = {
  order: ORDER,
  user: struct<Tables['user']>({
    user: hex32,
    isMarketMaker: flag,
    configNonce: safe,
    transferNonce: u64,
    closePositionNonce: u64,
    hasTimer: flag,
  }),
  subAccount: struct<Tables['subAccount']>({
    user: hex32,
    subAccount: u8,
    kind: text,
    name: text,
    asset: optional(text),
  }),
  balance: struct<Tables['balance']>({
    user: hex32,
    subAccount: u8,
    asset: text,
    owned: i128,
    locked: i128,
  }),
  position: struct<Tables['position']>({
    user: hex32,
    subAccount: u8,
    asset: text,
    base: i128,
    quote: i128,
    entry: integer,
  }),
  asset: struct<Tables['asset']>({
    assetId: text,
    symbol: optional(text),
    settingsJson: text,
    tokens: list(TOKEN),
    riskJson: optional(text),
  }),
  market: struct<Tables['market']>({
    definition: DEFINITION,
    sequence: safe,
    lastTradeId: safe,
    match: COUNTED_MATCH,
  }),
  price: struct<Tables['price']>({
    asset: text,
    price: integer,
    publishNs: u64,
    source: text,
    jump: optional(JUMP),
    isTripped: flag,
    goodUpdates: u32,
    isSinceStart: flag,
  }),
  mark: struct<Tables['mark']>({
    asset: text,
    price: integer,
    timeNs: u64,
    isTripped: flag,
    goodUpdates: u32,
  }),
  deposit: struct<Tables['deposit']>({
    chainId: hex9,
    tx: hex32,
    logIndex: u32,
    user: hex32,
    asset: text,
    amount: i128,
    depositNonce: safe,
    creditedNs: u64,
  }),
  withdrawal: struct<Tables['withdrawal']>({
    user: hex32,
    place: u8,
    sequence: safe,
    chainId: hex9,
    token: hex32,
    asset: text,
    amount: i128,
    fee: i128,
    payout: integer,
    target: hex32,
    nonce: safe,
    isExplicit: flag,
    status: text,
    requestedNs: u64,
    dueNs: u64,
    endedNs: u64,
    validUntil: safe,
    epochHash: text,
    signatures: list(text),
    isolated: i128,
  }),
  vaultToken: struct<Tables['vaultToken']>({ token: hex32, chainId: hex9, asset: text, baseUnits: integer }),
  withdrawalCounter: struct<Tables['withdrawalCounter']>({ chainId: hex9, user: hex32, next: safe }),
  forcedCounter: struct<Tables['forcedCounter']>({ chainId: hex9, user: hex32, next: safe }),
  withdrawalUsage: struct<Tables['withdrawalUsage']>({ user: hex32, asset: text, usage: i128, startedNs: u64 }),
  signers: struct<Tables['signers']>({
    user: hex32,
    isUnfunded: flag,
    masterWeight: u32,
    thresholds: THRESHOLDS,
    setNs: u64,
    signers: list(SIGNER),
  }),
  lot: struct<Tables['lot']>({
    user: hex32,
    asset: text,
    place: u8,
    sequence: safe,
    amount: i128,
    creditedNs: u64,
  }),
  pooledCredits: struct<Tables['pooledCredits']>({ asset: text, credits: list(POOLED_CREDIT) }),
  unclaimed: struct<Tables['unclaimed']>({
    chainId: hex9,
    user: hex32,
    counter: safe,
    token: hex32,
    baseUnits: integer,
    tx: hex32,
    logIndex: u32,
    credited: flag,
  }),
  rebalancingPool: struct<Tables['rebalancingPool']>({ asset: text, amount: i128, unpaid: i128 }),
  vaultDeviation: struct<Tables['vaultDeviation']>({ chainId: hex9, asset: text, missing: i128, accepted: i128 }),
  payoutReserve: struct<Tables['payoutReserve']>({
    token: hex32,
    chainId: hex9,
    asset: text,
    units: integer,
    free: integer,
    isClaimed: flag,
  }),
  netDeposit: struct<Tables['netDeposit']>({ chainId: hex9, asset: text, amount: i128 }),
  settlement: struct<Tables['settlement']>({
    user: hex32,
    place: u8,
    subAccount: u8,
    chainId: hex9,
    mode: text,
    tokenOut: hex32,
    assetOut: text,
    amountOut: i128,
    baseUnitsOut: integer,
    tokenIn: hex32,
    assetIn: text,
    amountIn: i128,
    baseUnitsIn: integer,
    settler: hex32,
    nonce: safe,
    status: text,
    requestedNs: u64,
    validFrom: safe,
    validUntil: safe,
    signature: text,
  }),
  settlementCounter: struct<Tables['settlementCounter']>({ chainId: hex9, user: hex32, subAccount: u8, next: safe }),
  chainCursor: struct<Tables['chainCursor']>({
    chainId: hex9,
    event: text,
    vault: text,
    nextBlock: safe,
    anchors: list(CURSOR_ANCHOR),
    stopped: optional(CURSOR_STOP),
    revision: safe,
  }),
  cursorEvent: struct<Tables['cursorEvent']>({
    chainId: hex9,
    event: text,
    place: u32,
    state: text,
    block: safe,
    what: text,
    until: safe,
  }),
  signedApproval: struct<Tables['signedApproval']>({
    place: u32,
    kind: text,
    chainId: hex9,
    user: hex32,
    subAccount: u8,
    nonce: safe,
    validUntil: safe,
    token: hex32,
    baseUnits: integer,
    signedNs: u64,
    isGone: flag,
  }),
  usedText: struct<Tables['usedText']>({
    user: hex32,
    place: u32,
    kind: text,
    digest: hex32,
    chainId: hex9,
    subAccount: u8,
    nonce: optional(safe),
    expiresNs: u64,
    owner: hex32,
    sequence: safe,
    requestedNs: u64,
    status: text,
    endedNs: u64,
    isPaid: flag,
    floorOf: text,
  }),
  config: struct<Tables['config']>({
    kind: text,
    key: text,
    json: text,
  }),
  totals: struct<Tables['totals']>({
    asset: text,
    vaultHoldings: integer,
    faucet: integer,
    backstopCredits: integer,
  }),
  tally: struct<Tables['tally']>({
    name: text,
    count: safe,
    digest: hex32,
    pending: bytes,
  }),
  liquidation: struct<Tables['liquidation']>({
    user: hex32,
    subAccount: u8,
    startedNs: u64,
    round: u32,
    roundNs: u64,
    stage: text,
    through: list(MARKET_PLACE),
    ordered: list(ASSET),
    order: optional(NODE_ORDER),
  }),
  backstop: struct<Tables['backstop']>({
    index: u8,
    sourceUser: hex32,
    sourceIndex: u8,
    startedNs: u64,
    state: text,
    provisional: i128,
    posted: i128,
    taken: list(ASSET_QUANTITY),
    takenSpot: list(ASSET_QUANTITY),
    adlClosed: list(ASSET_QUANTITY),
    clipNs: u64,
    order: optional(NODE_ORDER),
    adlMarket: optional(u32),
    counterparties: list(ACCOUNT_PLACE),
  }),
  protection: struct<Tables['protection']>({
    user: hex32,
    marketIndex: u32,
    slot: u8,
    group: text,
    windowMs: u32,
    frozenMs: u32,
    maxFills: optional(u32),
    maxQuantity: optional(i128),
    maxNotional: optional(i128),
    minFillNotional: i128,
    trip: safe,
    endedTrip: safe,
    frozenUntilNs: u64,
    isGone: flag,
  }),
  quoteSet: struct<Tables['quoteSet']>({
    marketIndex: u32,
    user: hex32,
    slot: u8,
    setId: text,
    sequence: safe,
    appliedNs: u64,
    revisionNs: u64,
    markNs: u64,
    goodUntilNs: u64,
    maxFeeRate: u32,
    subAccount: u8,
    flags: u32,
    protectionGroup: u8,
    isOver: flag,
    lastNumber: safe,
    markFloorNs: u64,
    numberFloor: safe,
    verdict: u8,
    fills: list(QUOTE_FILL),
    signatures: bytes,
    text,
  }),
  adlUsage: struct<Tables['adlUsage']>({ marketIndex: u32, minutes: list(ADL_MINUTE) }),
};
