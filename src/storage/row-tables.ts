/**
 * The tables of rows under a key of their own: one description of each, from which keys and bytes follow.
 *
 * A layout names the members of the row in the order in which their fields are written; each field defines the bytes of
 * its value (byte-writer.ts). The compiler holds a layout to its row: a member without a field, or a field of another
 * type, does not compile (brands are not checked: Plain).
 *
 * A changed layout is another version of the data: it needs a step of its own in upgrade-steps.ts, and the layout of before
 * is written down there.
 */
import type {
  AccountPlace,
  AdlMinute,
  AssetQuantity,
  CountedMatch,
  MarketPlace,
  MarketRow,
  NodeOrder,
  OrderRow,
  PooledCredit,
  PriceRow,
  SignedTextRow,
  TableName,
  Tables,
  TokenDefinition,
  TradeRow,
  TradeSide,
} from '../clearing/rows.ts';
import type { RegisteredSigner, Thresholds } from '../clearing/signers/signer-config.ts';
import type { AssetId } from '../core/ids.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import type { ByteWriter } from './byte-writer.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { type KeyWriter, TABLE, type Table } from './key-layout.ts';
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
  safe,
  struct,
  text,
  u8,
  u32,
  u64,
} from './row-fields.ts';

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

/** The same bytes as a text; only the type differs. */
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

const SIGNER: Field<RegisteredSigner> = struct<RegisteredSigner>({
  scheme: text,
  key: bytes,
  weight: u32,
  addedNs: u64,
  expiresAtNs: optional(u64),
  maxSigningWindowNs: optional(u64),
});

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
};

/** Rows under a key of their own. Trades, signed texts and finished orders lie in blocks. */
export type RowTableName = Exclude<TableName, 'trade' | 'signedText'>;

interface RowTable<Row> {
  readonly table: Table;
  key(keys: KeyWriter, row: Row): Uint8Array;
  readonly layout: Field<Row>;
}

/** Each of those tables: its byte, the key of a row, the row's layout. */
export const ROW_TABLES: { readonly [T in RowTableName]: RowTable<Tables[T]> } = {
  order: {
    table: TABLE.openOrder,
    key: (keys, row) => keys.ofMarket(TABLE.openOrder, row.marketIndex, row.orderSequence),
    layout: ORDER,
  },
  user: {
    table: TABLE.user,
    key: (keys, row) => keys.user(TABLE.user, row.user),
    layout: struct<Tables['user']>({
      user: hex32,
      isMarketMaker: flag,
      configNonce: safe,
      transferNonce: u64,
      closePositionNonce: u64,
      hasTimer: flag,
    }),
  },
  subAccount: {
    table: TABLE.subAccount,
    key: (keys, row) => keys.subAccount(TABLE.subAccount, row.user, row.subAccount),
    layout: struct<Tables['subAccount']>({
      user: hex32,
      subAccount: u8,
      kind: text,
      name: text,
      asset: optional(text),
    }),
  },
  balance: {
    table: TABLE.balance,
    key: (keys, row) => keys.balance(row.user, row.subAccount, row.asset),
    layout: struct<Tables['balance']>({
      user: hex32,
      subAccount: u8,
      asset: text,
      owned: i128,
      locked: i128,
    }),
  },
  position: {
    table: TABLE.position,
    key: (keys, row) => keys.position(row.user, row.subAccount, row.asset),
    layout: struct<Tables['position']>({
      user: hex32,
      subAccount: u8,
      asset: text,
      base: i128,
      quote: i128,
      entry: integer,
    }),
  },
  asset: {
    table: TABLE.asset,
    key: (keys, row) => keys.named(TABLE.asset, row.assetId),
    layout: struct<Tables['asset']>({
      assetId: text,
      symbol: optional(text),
      settingsJson: text,
      tokens: list(TOKEN),
      riskJson: optional(text),
    }),
  },
  market: {
    table: TABLE.market,
    key: (keys, row) => keys.numbered(TABLE.market, row.definition.marketIndex),
    layout: struct<Tables['market']>({
      definition: DEFINITION,
      sequence: safe,
      lastTradeId: safe,
      match: COUNTED_MATCH,
    }),
  },
  price: {
    table: TABLE.price,
    key: (keys, row) => keys.named(TABLE.price, row.asset),
    layout: struct<Tables['price']>({
      asset: text,
      price: integer,
      publishNs: u64,
      source: text,
      jump: optional(JUMP),
      isTripped: flag,
      goodUpdates: u32,
      isSinceStart: flag,
    }),
  },
  mark: {
    table: TABLE.mark,
    key: (keys, row) => keys.named(TABLE.mark, row.asset),
    layout: struct<Tables['mark']>({
      asset: text,
      price: integer,
      timeNs: u64,
      isTripped: flag,
      goodUpdates: u32,
    }),
  },
  deposit: {
    table: TABLE.deposit,
    key: (keys, row) => keys.deposit(row.chainId, row.tx, row.logIndex),
    layout: struct<Tables['deposit']>({
      chainId: hex9,
      tx: hex32,
      logIndex: u32,
      user: hex32,
      asset: text,
      amount: i128,
      depositNonce: safe,
      creditedNs: u64,
    }),
  },
  withdrawal: {
    table: TABLE.withdrawal,
    key: (keys, row) => keys.placed(TABLE.withdrawal, row.user, row.place),
    layout: struct<Tables['withdrawal']>({
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
  },
  vaultToken: {
    table: TABLE.vaultToken,
    key: (keys, row) => keys.onChain(TABLE.vaultToken, row.chainId, row.token),
    layout: struct<Tables['vaultToken']>({ token: hex32, chainId: hex9, asset: text, baseUnits: integer }),
  },
  withdrawalCounter: {
    table: TABLE.withdrawalCounter,
    key: (keys, row) => keys.onChain(TABLE.withdrawalCounter, row.chainId, row.user),
    layout: struct<Tables['withdrawalCounter']>({ chainId: hex9, user: hex32, next: safe }),
  },
  forcedCounter: {
    table: TABLE.forcedCounter,
    key: (keys, row) => keys.onChain(TABLE.forcedCounter, row.chainId, row.user),
    layout: struct<Tables['forcedCounter']>({ chainId: hex9, user: hex32, next: safe }),
  },
  withdrawalUsage: {
    table: TABLE.withdrawalUsage,
    key: (keys, row) => keys.withdrawalUsage(row.user, row.asset),
    layout: struct<Tables['withdrawalUsage']>({ user: hex32, asset: text, usage: i128, startedNs: u64 }),
  },
  signers: {
    table: TABLE.signers,
    key: (keys, row) => keys.user(TABLE.signers, row.user),
    layout: struct<Tables['signers']>({
      user: hex32,
      isUnfunded: flag,
      masterWeight: u32,
      thresholds: THRESHOLDS,
      setNs: u64,
      signers: list(SIGNER),
    }),
  },
  lot: {
    table: TABLE.lot,
    key: (keys, row) => keys.lot(row.user, row.place, row.asset),
    layout: struct<Tables['lot']>({
      user: hex32,
      asset: text,
      place: u8,
      sequence: safe,
      amount: i128,
      creditedNs: u64,
    }),
  },
  pooledCredits: {
    table: TABLE.pooledCredits,
    key: (keys, row) => keys.named(TABLE.pooledCredits, row.asset),
    layout: struct<Tables['pooledCredits']>({ asset: text, credits: list(POOLED_CREDIT) }),
  },
  unclaimed: {
    table: TABLE.unclaimed,
    key: (keys, row) => keys.unclaimed(row.chainId, row.user, row.counter),
    layout: struct<Tables['unclaimed']>({
      chainId: hex9,
      user: hex32,
      counter: safe,
      token: hex32,
      baseUnits: integer,
      tx: hex32,
      logIndex: u32,
      credited: flag,
    }),
  },
  rebalancingPool: {
    table: TABLE.rebalancingPool,
    key: (keys, row) => keys.named(TABLE.rebalancingPool, row.asset),
    layout: struct<Tables['rebalancingPool']>({ asset: text, amount: i128, unpaid: i128 }),
  },
  vaultDeviation: {
    table: TABLE.vaultDeviation,
    key: (keys, row) => keys.assetOnChain(TABLE.vaultDeviation, row.chainId, row.asset),
    layout: struct<Tables['vaultDeviation']>({ chainId: hex9, asset: text, missing: i128, accepted: i128 }),
  },
  payoutReserve: {
    table: TABLE.payoutReserve,
    key: (keys, row) => keys.onChain(TABLE.payoutReserve, row.chainId, row.token),
    layout: struct<Tables['payoutReserve']>({
      token: hex32,
      chainId: hex9,
      asset: text,
      units: integer,
      free: integer,
      isClaimed: flag,
    }),
  },
  netDeposit: {
    table: TABLE.netDeposit,
    key: (keys, row) => keys.assetOnChain(TABLE.netDeposit, row.chainId, row.asset),
    layout: struct<Tables['netDeposit']>({ chainId: hex9, asset: text, amount: i128 }),
  },
  settlement: {
    table: TABLE.settlement,
    key: (keys, row) => keys.placed(TABLE.settlement, row.user, row.place),
    layout: struct<Tables['settlement']>({
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
  },
  settlementCounter: {
    table: TABLE.settlementCounter,
    key: (keys, row) => keys.settlementCounter(row.chainId, row.user, row.subAccount),
    layout: struct<Tables['settlementCounter']>({ chainId: hex9, user: hex32, subAccount: u8, next: safe }),
  },
  usedText: {
    table: TABLE.usedText,
    key: (keys, row) => keys.usedText(row.user, row.place),
    layout: struct<Tables['usedText']>({
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
  },
  config: {
    table: TABLE.config,
    key: (keys, row) => keys.config(row.kind, row.key),
    layout: struct<Tables['config']>({
      kind: text,
      key: text,
      json: text,
    }),
  },
  totals: {
    table: TABLE.totals,
    key: (keys, row) => keys.named(TABLE.totals, row.asset),
    layout: struct<Tables['totals']>({
      asset: text,
      vaultHoldings: integer,
      faucet: integer,
      backstopCredits: integer,
    }),
  },
  tally: {
    table: TABLE.tally,
    key: (keys, row) => keys.named(TABLE.tally, row.name),
    layout: struct<Tables['tally']>({
      name: text,
      count: safe,
      digest: hex32,
      pending: bytes,
    }),
  },
  liquidation: {
    table: TABLE.liquidation,
    key: (keys, row) => keys.subAccount(TABLE.liquidation, row.user, row.subAccount),
    layout: struct<Tables['liquidation']>({
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
  },
  backstop: {
    table: TABLE.backstop,
    key: (keys, row) => keys.numbered(TABLE.backstop, row.index),
    layout: struct<Tables['backstop']>({
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
  },
  adlUsage: {
    table: TABLE.adlUsage,
    key: (keys, row) => keys.numbered(TABLE.adlUsage, row.marketIndex),
    layout: struct<Tables['adlUsage']>({ marketIndex: u32, minutes: list(ADL_MINUTE) }),
  },
};

/** @returns the row's value, a piece of `to`. */
export function encodeRow<T extends RowTableName>(
  to: ByteWriter,
  table: T,
  key: Uint8Array,
  row: Tables[T],
): Uint8Array {
  return encodeFrame(to, key, () => ROW_TABLES[table].layout.write(to, row));
}

/** @throws InvariantError when the checksum or the layout is not what was written. */
export function decodeRow<T extends RowTableName>(table: T, key: Uint8Array, value: Uint8Array): Tables[T] {
  return decodeFrame(key, value, (from) => ROW_TABLES[table].layout.read(from));
}
