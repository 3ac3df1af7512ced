/**
 * Writes members of requests into the tables of schemas/control.fbs with the `flatbuffers` package, for the generated writers
 * of generated/order-table-writers.ts.
 */
import type { Builder } from 'flatbuffers';
import { type FieldLayout, type TableLayout, VTABLE_HEAD_BYTES } from '../codec/flat-layout.ts';
import {
  Condition,
  CoSigner,
  Details,
  Limit,
  MarketBase,
  MarketQuote,
  Quote,
  Side,
  TimeInForce,
  Trigger,
  TriggerForm,
} from '../codec/generated/control-tables.ts';
import type { LimitDetails, NewTrigger, OrderDetails, Trigger as SignedTrigger } from '../codec/order-details.ts';
import type { QuoteEntries } from '../codec/quote-entries.ts';
import { type AdditionalSigner, SCHEMES } from '../codec/signatures.ts';
import type { SpelledUser } from '../codec/signed-text.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import { SIDE, type Side as SideCode, TIF, type Tif } from '../core/order-terms.ts';
import { invalidArgument } from './errors.ts';

const TIF_VALUE: Readonly<Record<Tif, number>> = {
  [TIF.gtc]: TimeInForce.GTC,
  [TIF.gtd]: TimeInForce.GTD,
  [TIF.ioc]: TimeInForce.IOC,
  [TIF.fok]: TimeInForce.FOK,
};
const CONDITION_VALUE = { PriceAbove: Condition.PriceAbove, PriceBelow: Condition.PriceBelow } as const;
export const SIDE_VALUE: Readonly<Record<SideCode, number>> = { [SIDE.buy]: Side.Buy, [SIDE.sell]: Side.Sell };
export const DETAILS_TYPE: Readonly<Record<OrderDetails['kind'], number>> = {
  limit: Details.Limit,
  'market-base': Details.MarketBase,
  'market-quote': Details.MarketQuote,
};

/**
 * A field with its value: of a scalar the value, of a reference the offset that the builder gave, 0 for an absent one.
 */
export type TableMember = readonly [field: FieldLayout, value: number | bigint | boolean];
/** The offset of something that was written. */
type Offset = number;

export function detailsTable(builder: Builder, details: OrderDetails): Offset {
  switch (details.kind) {
    case 'limit':
      return limitTable(builder, details);
    case 'market-base':
      return tableOf(builder, MarketBase.table, [
        [MarketBase.quantity, BigInt(details.quantity)],
        [MarketBase.maxSellableAmount, rawOrUnset(details.maxSellableAmount)],
        [MarketBase.fillOrKill, details.fillOrKill],
      ]);
    case 'market-quote':
      return tableOf(builder, MarketQuote.table, [
        [MarketQuote.quantity, BigInt(details.amount)],
        [MarketQuote.maxSellableQuantity, rawOrUnset(details.maxSellableQuantity)],
        [MarketQuote.fillOrKill, details.fillOrKill],
      ]);
  }
}

function limitTable(builder: Builder, details: LimitDetails): Offset {
  return tableOf(builder, Limit.table, [
    [Limit.limitPrice, BigInt(details.limitPrice)],
    [Limit.quantity, BigInt(details.quantity)],
    [Limit.timeInForce, TIF_VALUE[details.tif]],
    [Limit.postOnly, details.postOnly],
    [Limit.timestampNs, details.goodUntilNs ?? 0n],
  ]);
}

/** A trigger of either kind; 0 for none. */
export function triggerOrNone(builder: Builder, trigger: SignedTrigger | null): Offset {
  if (trigger === null) return 0;
  const { parentOrderId, condition } = trigger;
  return tableOf(builder, Trigger.table, [
    [Trigger.parentOrderId, parentOrderId === null ? 0 : builder.createString(parentOrderId)],
    [Trigger.condition, CONDITION_VALUE[condition.direction]],
    [Trigger.price, BigInt(condition.price)],
  ]);
}

/** The form in which the trigger of a replace is signed. */
export function formOf(trigger: NewTrigger | null): number {
  return trigger?.shape === 'wrapped' ? TriggerForm.Wrapped : TriggerForm.Bare;
}

/** Null is 0 in a table. */
export function rawOrUnset(raw: number | null): bigint {
  if (raw === null) return 0n;
  if (raw === 0) throw invalidArgument('a raw figure lies in 1 … 2^53-1');
  return BigInt(raw);
}

export function userVector(builder: Builder, { id, text }: SpelledUser): Offset {
  if (text !== id) throw invalidArgument('a signer is spelled with 64 lower-case hex digits');
  return builder.createByteVector(must(parseHex(id, 32), 'a user id is 32 bytes of hex'));
}

/** A text; 0 for none. */
export function textOrNone(builder: Builder, text: string | null): Offset {
  return text === null ? 0 : builder.createString(text);
}

/** A vector of structs `Quote`. */
export function quotesVector(builder: Builder, entries: QuoteEntries): Offset {
  builder.startVector(Quote.bytes, entries.length / 2, 8);
  for (const figure of entries.toReversed()) builder.addInt64(BigInt(figure));
  return builder.endVector();
}

/** Bytes, absent where there are none. */
export function bytesOrNone(builder: Builder, bytes: Uint8Array): Offset {
  return bytes.length === 0 ? 0 : builder.createByteVector(bytes);
}

/** Co-signers, absent where there are none. */
export function coSignersOrNone(builder: Builder, signers: readonly AdditionalSigner[]): Offset {
  if (signers.length === 0) return 0;
  return listOf(
    builder,
    signers.map((signer) => coSignerTable(builder, signer)),
  );
}

function coSignerTable(builder: Builder, { scheme, key, signature }: AdditionalSigner): Offset {
  const references: TableMember[] = [
    [CoSigner.key, builder.createByteVector(key)],
    [CoSigner.signature, builder.createByteVector(signature)],
  ];
  return tableOf(builder, CoSigner.table, [...references, [CoSigner.scheme, SCHEMES.indexOf(scheme)]]);
}

/** A list of tables that were written. */
export function listOf(builder: Builder, items: readonly Offset[]): Offset {
  builder.startVector(4, items.length, 4);
  for (const item of items.toReversed()) builder.addOffset(item);
  return builder.endVector();
}

/**
 * Writes a table, the widest fields first, so that none is lost between them. What it refers to was written before; values
 * that are a field's initial one stay absent.
 */
export function tableOf(builder: Builder, layout: TableLayout, entries: readonly TableMember[]): Offset {
  builder.startObject(layout.fields.length);
  for (const [field, value] of entries.toSorted(([a], [b]) => b.alignment - a.alignment))
    addField(builder, field, value);
  return builder.endObject();
}

function addField(
  builder: Builder,
  { slot, kind, bytes, initial }: FieldLayout,
  value: number | bigint | boolean,
): void {
  const index = (slot - VTABLE_HEAD_BYTES) / 2;
  if (kind !== 'scalar' && kind !== 'union-type') builder.addFieldOffset(index, Number(value), 0);
  else if (bytes === 8) builder.addFieldInt64(index, BigInt.asIntN(64, BigInt(value)), BigInt(initial));
  else if (bytes === 4) builder.addFieldInt32(index, Number(value), initial);
  else if (bytes === 2) builder.addFieldInt16(index, Number(value), initial);
  else builder.addFieldInt8(index, Number(value), initial);
}
