/**
 * Building blocks of the wire's shapes: JSON Schema objects, built with TypeBox, each with the TypeScript type of the
 * value that it describes and of the value that a reader makes of it.
 *
 *   shapes ─▶ shape-reader.ts           reads requests into values with the names inside the node, 400 with the member
 *          ─▶ canonical-text.ts         the signed bytes of an action
 *          ─▶ reply-writer.ts           the bytes of a reply
 *          ─▶ client/reply-reader.ts    the SDK's value of a reply
 *          ─▶ http/api/…                /api-doc.json and /async-api.json
 *          ─▶ tests                     every reply of a running node is validated against its shape
 *
 * The compiler checks a shape against the type that the code uses: `Shape<View>` is assignable only from a schema with
 * every member of `View` in its type. Declarations are generated file by file (isolatedDeclarations), so the type is
 * written out and the schema must fit it.
 *
 * A shape with a `title` is a component of the documents and is referred to by that name. By default an object skips
 * unknown members; a closed one rejects them, as inside everything that is signed (AMB-02).
 *
 * Integers beyond 2^53 are `bigint`, marked by `format`: `uint64` or `int64`. Never convert them to a double.
 *
 * What the node does with a member stands beside it, in words that begin with `x-` and are not published (INNER_WORDS):
 *
 *   x-inside   its name in the node, where that is not the name on the wire in camel case; '' for a member that is only checked
 *   x-as       the type that it is read into, such as `user`. DomainTypes has those that shape-reader.ts reads; those of the
 *              generated readers of orders are in schemas/wire-types.ts
 *   x-sent     of an object: its members in the order in which a missing one is named, where that is not the signed order
 *   x-parse, x-expected   of operators' bodies: the function that reads a value, and what a refusal expects (src/operator/body-shapes.ts)
 *   x-before   of a reply: what stands for the member where a service of before does not send it
 *
 * In a reply they give the names and types of the SDK, and of the views that the node writes it from (reply-writer.ts,
 * client/reply-reader.ts): '' is a member that the SDK does not have.
 */

import type { TObject, TOptional, TProperties, TSchema } from '@sinclair/typebox';
import { EARLIEST_NS, SECOND_NS, type TimestampNs } from '../../core/units.ts';
import type { AdditionalSigner, SignerKey } from '../signatures.ts';
import type { SpelledAddress, SpelledAsset, SpelledChain, SpelledUser } from '../signed-text.ts';
import { Type } from './type-builder.ts';

declare const INSIDE: unique symbol;

/** A mark for the compiler alone. */
interface Carrier<Inside> {
  readonly [INSIDE]?: Inside;
}

/** A schema of values of type `T`, of each of which a reader makes an `Inside` (shape-reader.ts). */
export type Shape<T = unknown, Inside = T> = TSchema & { readonly static: T } & Carrier<Inside>;

/** What a reader makes of a value of this schema. */
export type InsideOf<S extends TSchema> =
  S extends Carrier<infer Inside> ? (unknown extends Inside ? S['static'] : Inside) : S['static'];

/** The values of `x-as` that shape-reader.ts reads, and what it makes of a member with it. */
export interface DomainTypes {
  readonly user: SpelledUser;
  readonly asset: SpelledAsset;
  /** An asset of the form `<token>@<chain id>`. */
  readonly token: SpelledAsset;
  readonly address: SpelledAddress;
  readonly chain: SpelledChain;
  /** A base-10 text below 2^256. */
  readonly 'u256 text': string;
  /** 64 bytes, or none. */
  readonly signature: Uint8Array;
  readonly nanoseconds: TimestampNs;
  readonly 'signer key': SignerKey;
  readonly 'co-signers': readonly AdditionalSigner[];
}

/** The values of `x-as` of a reply, and what the SDK has for a member with it. */
interface ReplyTypes {
  /** A base-10 text. */
  readonly whole: bigint;
  /** `0x` and hex. */
  readonly 'hex amount': bigint;
  /** An integer up to 2^64 − 1. */
  readonly u64: bigint;
  /** One of words to which a newer service may add some: any text is taken. */
  readonly 'open word': string;
  /** A map whose names are whole numbers. */
  readonly 'by number': ReadonlyMap<number, unknown>;
}

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type NameInside<Name, S> = S extends { readonly 'x-inside': infer Own } ? Own : Camel<Name>;
type MemberInside<S extends TSchema> =
  S extends TOptional<TSchema>
    ? S extends { readonly default: unknown }
      ? InsideOf<S>
      : InsideOf<S> | (S extends { readonly 'x-unset': string } ? undefined : null)
    : InsideOf<S>;

/** What a reader makes of an object: an optional member that is absent is null, one of `leftOut` undefined. */
type ObjectInside<Properties extends TProperties> = {
  readonly [Name in keyof Properties as Exclude<NameInside<Name, Properties[Name]> & string, ''>]: MemberInside<
    Properties[Name]
  >;
};

/** An object with what a reader makes of it. */
type ObjectOf<Properties extends TProperties> = TObject<Properties> & Carrier<ObjectInside<Properties>>;

/** Words of a shape that are for the node alone: no document and no reader of trees heeds them. */
export const INNER_WORDS: readonly string[] = ['x-inside', 'x-as', 'x-sent', 'x-parse', 'x-expected', 'x-before'];

/** The name in the node of a member: '' for one that is only checked. */
export function nameInside(name: string, shape: TSchema): string {
  return (
    (shape['x-inside'] as string | undefined) ?? name.replace(/_([a-z0-9])/g, (_, next: string) => next.toUpperCase())
  );
}

/** Gives a shape its name in the documents. */
export function named<T, Inside = T>(title: string, description: string, shape: Shape<T, Inside>): Shape<T, Inside> {
  return { ...shape, title, description };
}

/** The same shape with a description for its place of use. */
export function described<S extends TSchema>(shape: S, description: string): S {
  return shape.title === undefined
    ? { ...shape, description }
    : (Type.Unsafe({ allOf: [shape], description }) as TSchema as S);
}

/** A member with this name in the node; '' for one that is only checked. */
export function inside<const Name extends string, S extends TSchema>(
  name: Name,
  shape: S,
): S & { readonly 'x-inside': Name } {
  return { ...shape, 'x-inside': name };
}

/** A shape whose values are read into a type of the node. */
export function readAs<Name extends keyof DomainTypes, S extends TSchema>(
  type: Name,
  shape: S,
): Shape<S['static'], DomainTypes[Name]>;
export function readAs<Name extends keyof ReplyTypes, S extends TSchema>(
  type: Name,
  shape: S,
): Shape<S['static'], ReplyTypes[Name]>;
export function readAs<S extends TSchema>(type: string, shape: S): S;
export function readAs(type: string, shape: TSchema): TSchema {
  return { ...shape, 'x-as': type };
}

/** A member of a reply that the SDK does not have. */
export function unread<S extends TSchema>(shape: S): S & { readonly 'x-inside': '' } {
  return inside('', shape);
}

/** A member of a reply for which this value stands where a service of before does not send it. */
export function before<T, Inside, Value>(value: Value, shape: Shape<T, Inside>): Shape<T, Inside | Value> {
  return { ...shape, 'x-before': value };
}

/** One of words to which a newer service may add some. */
export function openWord<S extends TSchema>(shape: S): Shape<S['static'], string> {
  return readAs('open word', shape);
}

/** The object names a missing member in this order, which is not that of its signed text. */
export function sent<S extends TSchema>(order: readonly string[], shape: S): S {
  return { ...shape, 'x-sent': order };
}

export function nullable<S extends TSchema>(shape: S): Shape<S['static'] | null, InsideOf<S> | null> {
  return Type.Unsafe({ anyOf: [shape, Type.Null()] });
}

/** An optional member. */
export function optional<S extends TSchema>(shape: S): TOptional<S> {
  return Type.Optional(shape as TSchema) as unknown as TOptional<S>;
}

/** An optional member that stands for this value when it is absent, in its signed text too. */
export function defaulted<T, Inside>(
  shape: Shape<T, Inside>,
  value: T,
): TOptional<Shape<T, Inside>> & { readonly default: T } {
  return Type.Optional({ ...shape, default: value }) as unknown as TOptional<Shape<T, Inside>> & {
    readonly default: T;
  };
}

/** A signed member that may be null, and is left out of the signed text then: any other signs as null. */
export function leftOut<S extends TSchema>(
  shape: S,
): TOptional<Shape<S['static'] | null, InsideOf<S> | null>> & { readonly 'x-unset': string } {
  const unset = { 'x-unset': 'left out of the signed text' };
  return { ...optional(nullable(shape)), ...unset };
}

/** An object that rejects unknown members. */
export function closed<Properties extends TProperties>(properties: Properties): ObjectOf<Properties> {
  return Type.Object(properties, { additionalProperties: false });
}

/** An object that skips unknown members. */
export function open<Properties extends TProperties>(properties: Properties): ObjectOf<Properties> {
  return Type.Object(properties);
}

export function listOf<S extends TSchema>(
  items: S,
  bounds: { minItems?: number; maxItems?: number } = {},
): Shape<readonly S['static'][], readonly InsideOf<S>[]> {
  return Type.Unsafe({ type: 'array', items, ...bounds });
}

/** An object with ids as member names. Read as a Map: an object would reorder index-like names. */
export function mapOf<S extends TSchema>(
  namePattern: string,
  values: S,
): Shape<ReadonlyMap<string, S['static']>, ReadonlyMap<string, InsideOf<S>>> {
  return Type.Unsafe({
    type: 'object',
    propertyNames: { type: 'string', pattern: namePattern },
    additionalProperties: values,
  });
}

/** An object with whole numbers as member names. */
export function mapByNumber<S extends TSchema>(
  namePattern: string,
  values: S,
): Shape<ReadonlyMap<string, S['static']>, ReadonlyMap<number, InsideOf<S>>> {
  return readAs('by number', mapOf(namePattern, values)) as TSchema as Shape<never, ReadonlyMap<number, InsideOf<S>>>;
}

/** One of several string constants. */
export function words<const Word extends string>(...all: readonly Word[]): Shape<Word> {
  return Type.Unsafe<Word>({ type: 'string', enum: [...all] });
}

type Members = Readonly<Record<string, TSchema>>;
type ChoiceInside<All extends Members> = {
  readonly [Tag in keyof All]: { readonly [Own in Tag]: InsideOf<All[Tag]> };
}[keyof All];

/** An externally tagged union: an object with exactly one of the members. */
export function choice<const All extends Members>(members: All): Shape<unknown, ChoiceInside<All>> {
  const objects = Object.entries(members).map(([tag, value]) => closed({ [tag]: value }));
  return Type.Unsafe({ oneOf: objects });
}

export function either<const All extends readonly TSchema[]>(
  ...shapes: All
): Shape<All[number]['static'], InsideOf<All[number]>> {
  return Type.Unsafe({ anyOf: [...shapes] });
}

// ---- the atoms of the wire (wire.md 2)

export const TEXT: Shape<string> = Type.String();
export const FLAG: Shape<boolean> = Type.Boolean();
export const NULL: Shape<null> = Type.Null();

/** Requests may use several spellings of an id; replies use only one (AMB-12). */
export const USER_ID: Shape<string> = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Ed25519 public key, 64 lower-case hex digits',
});
export const USER_ID_GIVEN: Shape<string, SpelledUser> = readAs(
  'user',
  Type.String({
    pattern: '^(?:0[xX])?[0-9a-fA-F]{64}$',
    description: 'Ed25519 public key, 64 hex digits',
  }),
);
export const ASSET_ID: Shape<string> = Type.String({
  pattern: '^(?:(?:0|[1-9][0-9]{0,4})|[0-9a-f]{64}@[0-9a-f]{18})$',
  description: 'an index, or <64 hex>@<18 hex>; a market has the id of its asset',
});
/** `<address>@<chain>` in every accepted spelling: 20 or 32 bytes of address, `0x` and capitals on either half. */
const TOKEN_GIVEN = '(?:0[xX])?(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})@(?:0[xX])?[0-9a-fA-F]{18}';
const INDEX_TO_65535 = '0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]';
export const ASSET_ID_GIVEN: Shape<string, SpelledAsset> = readAs(
  'asset',
  Type.String({
    pattern: `^(?:${INDEX_TO_65535}|${TOKEN_GIVEN})$`,
    description: 'an asset: an index from 0 to 65535, or <address>@<chain id>',
  }),
);
export const TOKEN_ID: Shape<string> = Type.String({
  pattern: '^[0-9a-f]{64}@[0-9a-f]{18}$',
  description: 'a token or contract on its chain: <64 hex, right-padded>@<18 hex>',
});
export const ORDER_ID: Shape<string> = Type.String({
  pattern: '^[A-Za-z0-9+/=_\\-.:]{1,64}$',
  description: "yours, unique per user and market; the node's own begin with sys-",
});
export const ORDER_ID_GIVEN: Shape<string> = readAs(
  'order id',
  Type.String({
    pattern: '^(?!sys-)[A-Za-z0-9+/=_\\-.:]{1,64}$',
    description: '1 to 64 of A-Z a-z 0-9 + / = _ - . : and not sys-…',
  }),
);
/** A decimal string in human units; may be negative. */
export const DECIMAL: Shape<string> = Type.String({
  pattern: '^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?$',
  description: 'decimal string, human units',
});
/** A base-10 integer as a string. */
export const WHOLE: Shape<string> = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,77})$',
  description: 'base-10 integer as a string',
});
export const NANOSECONDS: Shape<bigint> = Type.Unsafe<bigint>({
  type: 'integer',
  format: 'uint64',
  minimum: 0,
  description: 'nanoseconds since 1970; passes 2^53, never send it through a double',
});
/** Of a request: what `isOfOtherUnit` takes for another unit is excluded (MCH-11). */
export const INSTANT: Shape<bigint, TimestampNs> = readAs(
  'nanoseconds',
  Type.Unsafe<bigint>({
    type: 'integer',
    format: 'uint64',
    minimum: 0,
    not: { minimum: SECOND_NS, maximum: EARLIEST_NS - 1n },
    description: 'nanoseconds since 1970; passes 2^53, never send it through a double',
  }),
);
export const U64: Shape<bigint> = Type.Unsafe<bigint>({ type: 'integer', format: 'uint64', minimum: 0 });
export const RAW: Shape<number> = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'raw book units: human × 10^decimals of the market',
});
export const COUNT: Shape<number> = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const DECIMALS: Shape<number> = Type.Integer({ minimum: -128, maximum: 127 });
export const SUB_ACCOUNT: Shape<number> = Type.Integer({ minimum: 0, maximum: 255, description: 'sub-account index' });
export const SIDE_WORDS: Shape<'Buy' | 'Sell'> = words('Buy', 'Sell');

/** An array of bytes as integers. */
export function byteList(count: number): Shape<readonly number[]> {
  return listOf(Type.Integer({ minimum: 0, maximum: 255 }), { minItems: count, maxItems: count });
}

export const SIGNATURE: Shape<readonly number[]> = described(
  byteList(64),
  'Ed25519 over the canonical bytes: 64 integers from 0 to 255',
);

// ---- walking through a shape

/** The alternatives of a shape, those of its alternatives among them; itself if it has none. One with a type of the node is one. */
export function alternativesOf(shape: TSchema): readonly TSchema[] {
  const all = (shape['anyOf'] ?? shape['oneOf'] ?? shape['allOf']) as readonly TSchema[] | undefined;
  return all?.flatMap((one) => (one['x-as'] === undefined ? alternativesOf(one) : [one])) ?? [shape];
}

/** Whether an object of this shape may lack the member. */
export function isOptional(shape: TSchema, name: string): boolean {
  return !((shape['required'] ?? []) as readonly string[]).includes(name);
}
