/**
 * The tables of rows under a key of their own: one description of each, from which keys and bytes follow.
 *
 * A layout names the members of the row in the order in which their fields are written; each field says how its value lies
 * in the bytes (byte-writer.ts). The compiler holds a layout to its row: a member without a field, or a field of another
 * type, does not compile (Plain says how far).
 *
 * A changed layout is another version of the data: it needs a step of its own in upgrade-steps.ts, and the layout of before
 * is written down there.
 */
import type { MarketRow, PriceRow, TableName, Tables, TokenDefinition, TradeRow, TradeSide } from '../clearing/rows.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { decodeFrame, encodeFrame } from './frames.ts';
import { type KeyWriter, TABLE, type Table } from './key-layout.ts';
import { orderCodec } from './row-codecs-orders.ts';

/** How a value lies in bytes. */
export interface Field<T> {
  write(to: ByteWriter, value: T): void;
  read(from: ByteReader): T;
}

const u8 = field(
  (to, value: number) => to.u8(value),
  (from) => from.u8(),
);
const u32 = field(
  (to, value: number) => to.u32(value),
  (from) => from.u32(),
);
const i32 = field(
  (to, value: number) => to.i32(value),
  (from) => from.i32(),
);
/** A safe integer from 0. */
const safe = field(
  (to, value: number) => to.safe(value),
  (from) => from.safe(),
);
/** Nanoseconds and nonces. */
const u64 = field(
  (to, value: bigint) => to.u64(value),
  (from) => from.u64(),
);
/** An amount of an account, in 10^-18 units. */
const i128 = field(
  (to, value: bigint) => to.i128(value),
  (from) => from.i128(),
);
/** An integer without a bound of its own: its decimal digits. */
const integer = field(
  (to, value: bigint) => to.integer(value),
  (from) => from.integer(),
);
const flag = field(
  (to, value: boolean) => to.flag(value),
  (from) => from.flag(),
);
const text = field(
  (to, value: string) => to.text(value),
  (from) => from.text(),
);
const bytes = field(
  (to, value: Uint8Array) => to.bytes(value),
  (from) => from.bytes(),
);
/** Hex digits of 32 bytes: users, tokens, transactions, digests. */
const hex32 = field(
  (to, value: string) => to.hex(value, 32),
  (from) => from.hex(32),
);
/** Hex digits of the 9 bytes of a chain id. */
const hex9 = field(
  (to, value: string) => to.hex(value, 9),
  (from) => from.hex(9),
);

function field<T>(write: (to: ByteWriter, value: T) => void, read: (from: ByteReader) => T): Field<T> {
  return { write, read };
}

/** The type below a brand or a set of literals: fields do not know `Sequence` or `Side`, they know numbers. */
type Plain<T> = T extends string ? string : T extends number ? number : T extends bigint ? bigint : T;

/** A field for each member, in the order in which they are written. */
type Layout<Row> = { readonly [K in keyof Row]-?: Field<Plain<Row[K]>> | Field<Row[K]> };

/** A flag, and the value behind it unless it is null. */
function optional<T>({ write, read }: Field<T>): Field<T | null> {
  return {
    write: (to, value) => to.optional(value, (present) => write(to, present)),
    read: (from) => from.optional(() => read(from)),
  };
}

/** A count, and the values behind it. */
function list<T>({ write, read }: Field<T>): Field<readonly T[]> {
  return {
    write: (to, values) => {
      to.u32(values.length);
      for (const value of values) write(to, value);
    },
    read: (from) => Array.from({ length: from.u32() }, () => read(from)),
  };
}

/** The members one behind the other. */
function struct<Row extends object>(layout: Layout<Row>): Field<Row> {
  const members = Object.entries(layout) as [keyof Row, Field<Row[keyof Row]>][];
  return {
    write: (to, row) => {
      for (const [name, { write }] of members) write(to, row[name]);
    },
    read: (from) => {
      const row: Partial<Row> = {};
      for (const [name, { read }] of members) row[name] = read(from);
      return row as Row;
    },
  };
}

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

const JUMP: Field<NonNullable<PriceRow['jump']>> = struct<NonNullable<PriceRow['jump']>>({
  price: integer,
  source: text,
});

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

/** Rows under a key of their own; trades lie in blocks. */
export type RowTableName = Exclude<TableName, 'trade'>;

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
    layout: orderCodec,
  },
  user: {
    table: TABLE.user,
    key: (keys, row) => keys.user(row.user),
    layout: struct<Tables['user']>({
      user: hex32,
      isMarketMaker: flag,
      configNonce: safe,
      transferNonce: u64,
      closePositionNonce: u64,
    }),
  },
  subAccount: {
    table: TABLE.subAccount,
    key: (keys, row) => keys.subAccount(row.user, row.subAccount),
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
    key: (keys, row) => keys.market(row.definition.marketIndex),
    layout: struct<Tables['market']>({
      definition: DEFINITION,
      sequence: safe,
      lastTradeId: safe,
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
