/** Values of the tables that operators fill: assets, markets, prices, configuration. Fields in the order written. */
import type { AssetRow, ConfigRow, MarketRow, MarkRow, PriceRow, TokenDefinition } from '../clearing/rows.ts';
import type { AssetId, ChainId } from '../core/ids.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { MarketStatus } from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { RowCodec } from './row-codecs.ts';

export const assetCodec: RowCodec<AssetRow> = {
  write(to, row) {
    to.text(row.assetId);
    to.optional(row.symbol, (symbol) => to.text(symbol));
    to.text(row.settingsJson);
    to.u32(row.tokens.length);
    for (const token of row.tokens) writeToken(to, token);
    to.optional(row.riskJson, (json) => to.text(json));
  },
  read(from) {
    return {
      assetId: from.text() as AssetId,
      symbol: from.optional(() => from.text()),
      settingsJson: from.text(),
      tokens: Array.from({ length: from.u32() }, () => readToken(from)),
      riskJson: from.optional(() => from.text()),
    };
  },
};

function writeToken(to: ByteWriter, token: TokenDefinition): void {
  to.hex(token.token, 32);
  to.hex(token.chainId, 9);
  to.u8(token.decimals);
  to.optional(token.maxDeposits, (amount) => to.integer(amount));
  to.optional(token.max1hrDeposits, (amount) => to.integer(amount));
  to.integer(token.minWeight);
  to.integer(token.minFirstDepositBaseUnits);
}

function readToken(from: ByteReader): TokenDefinition {
  return {
    token: from.hex(32),
    chainId: from.hex(9) as ChainId,
    decimals: from.u8(),
    maxDeposits: from.optional(() => from.integer() as Amount18),
    max1hrDeposits: from.optional(() => from.integer() as Amount18),
    minWeight: from.integer() as Amount18,
    minFirstDepositBaseUnits: from.integer(),
  };
}

export const marketCodec: RowCodec<MarketRow> = {
  write(to, row) {
    writeDefinition(to, row.definition);
    to.safe(row.sequence);
    to.safe(row.lastTradeId);
  },
  read(from) {
    return {
      definition: readDefinition(from),
      sequence: from.safe() as Sequence,
      lastTradeId: from.safe() as Sequence,
    };
  },
};

function writeDefinition(to: ByteWriter, definition: MarketDefinition): void {
  to.u32(definition.marketIndex);
  to.text(definition.assetId);
  to.u8(definition.priceDecimals);
  to.u8(definition.quantityDecimals);
  to.safe(definition.tickSize);
  to.safe(definition.minimumQuantity);
  to.i32(definition.makerFeeRate);
  to.i32(definition.takerFeeRate);
  to.u8(definition.status);
  to.flag(definition.selfTradePrevention);
  to.optional(definition.priceCollar, (collar) => to.integer(collar));
  to.integer(definition.minimumNotional);
}

function readDefinition(from: ByteReader): MarketDefinition {
  return {
    marketIndex: from.u32(),
    assetId: from.text() as AssetId,
    priceDecimals: from.u8(),
    quantityDecimals: from.u8(),
    tickSize: from.safe() as RawPrice,
    minimumQuantity: from.safe() as RawQuantity,
    makerFeeRate: from.i32(),
    takerFeeRate: from.i32(),
    status: from.u8() as MarketStatus,
    selfTradePrevention: from.flag(),
    priceCollar: from.optional(() => from.integer()),
    minimumNotional: from.integer() as Amount18,
  };
}

export const priceCodec: RowCodec<PriceRow> = {
  write(to, row) {
    to.text(row.asset);
    to.integer(row.price);
    to.u64(row.publishNs);
    to.text(row.source);
    to.optional(row.jump, (jump) => {
      to.integer(jump.price);
      to.text(jump.source);
    });
    to.flag(row.isTripped);
    to.u32(row.goodUpdates);
  },
  read(from) {
    return {
      asset: from.text() as AssetId,
      price: from.integer() as Amount18,
      publishNs: from.u64() as TimestampNs,
      source: from.text(),
      jump: from.optional(() => ({ price: from.integer() as Amount18, source: from.text() })),
      isTripped: from.flag(),
      goodUpdates: from.u32(),
    };
  },
};

export const markCodec: RowCodec<MarkRow> = {
  write(to, row) {
    to.text(row.asset);
    to.integer(row.price);
    to.u64(row.timeNs);
    to.flag(row.isTripped);
    to.u32(row.goodUpdates);
  },
  read(from) {
    return {
      asset: from.text() as AssetId,
      price: from.integer() as Amount18,
      timeNs: from.u64() as TimestampNs,
      isTripped: from.flag(),
      goodUpdates: from.u32(),
    };
  },
};

export const configCodec: RowCodec<ConfigRow> = {
  write(to, row) {
    to.text(row.kind);
    to.text(row.key);
    to.text(row.json);
  },
  read(from) {
    return { kind: from.text() as ConfigRow['kind'], key: from.text(), json: from.text() };
  },
};
