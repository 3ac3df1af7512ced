/**
 * Building blocks of the shapes of operators' bodies. A shape says how a member is written, for the document, and into what it is
 * read (body-reader.ts): `x-parse` is the function that reads it, which no document has.
 */
import type { TOptional, TProperties, TSchema } from '@sinclair/typebox';
import {
  ASSET_ID_GIVEN,
  closed,
  DECIMAL,
  described,
  INSTANT,
  type InsideOf,
  ORDER_ID_GIVEN,
  type Shape,
  USER_ID_GIVEN,
} from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';
import { format18, parseDecimal18 } from '../core/decimal.ts';
import {
  type AssetId,
  type ChainId,
  type OrderId,
  parseAddress,
  parseAssetId,
  parseChainId,
  parseOrderId,
  parseUserId,
  type UserId,
} from '../core/ids.ts';
import type { Amount18 } from '../core/units.ts';

/** A shape whose values `parse` makes into a value of the node; null: it is not of this form. */
export function parsed<S extends TSchema, T>(
  shape: S,
  parse: (value: unknown) => T | null,
  expected: string,
): Shape<S['static'], T> {
  return { ...shape, 'x-parse': parse, 'x-expected': expected } as TSchema as Shape<S['static'], T>;
}

/** A string that `parse` reads. */
export function parsedText<T>(shape: TSchema, parse: (text: string) => T | null, expected: string): Shape<string, T> {
  return parsed(shape as Shape<string>, (value) => (typeof value === 'string' ? parse(value) : null), expected);
}

type NameInside<Name, S> = S extends { readonly 'x-inside': infer Own } ? Own & string : Name;
type Needed<S extends TSchema> =
  S extends TOptional<TSchema> ? (S extends { readonly default: unknown } ? true : false) : true;

/** What is read of an object: members without default may be absent. */
type BodyInside<P extends TProperties> = {
  readonly [Name in keyof P as Needed<P[Name]> extends true ? NameInside<Name, P[Name]> : never]: InsideOf<P[Name]>;
} & {
  readonly [Name in keyof P as Needed<P[Name]> extends true ? never : NameInside<Name, P[Name]>]?: InsideOf<P[Name]>;
};

/** An object of a body, with its members in the order in which they are read. */
export function body<P extends TProperties>(properties: P): Shape<unknown, BodyInside<P>> {
  return closed(properties) as TSchema as Shape<unknown, BodyInside<P>>;
}

export function integer(minimum: number, maximum: number): Shape<number> {
  return Type.Integer({ minimum, maximum });
}

/** A list that an operator sends. */
export function list<S extends TSchema>(items: S): Shape<readonly S['static'][], readonly InsideOf<S>[]> {
  return Type.Unsafe({ type: 'array', items, maxItems: LIST_LENGTH_MAX });
}

export function integers(minimum: number, maximum: number): Shape<readonly number[]> {
  return list(integer(minimum, maximum));
}

const LIST_LENGTH_MAX = 1_024;
const TEXT_LENGTH_MAX = 256;

export const ANY_TEXT: Shape<string> = Type.String({ maxLength: TEXT_LENGTH_MAX });

interface AmountBounds {
  readonly min?: bigint;
  readonly max?: bigint;
}

function within<T extends bigint>(value: T | null, { min, max }: AmountBounds): T | null {
  if (value === null || (min !== undefined && value < min)) return null;
  return max !== undefined && value > max ? null : value;
}

/** A human decimal string with at most 18 fractional digits. */
export function decimal(bounds: AmountBounds): Shape<string, Amount18> {
  const parse = (text: string): Amount18 | null => within(parseDecimal18(text) as Amount18 | null, bounds);
  return parsedText(DECIMAL, parse, 'a decimal string in range');
}

const INTEGER_FORM = /^(?:0|-?[1-9][0-9]{0,77})$/;

/** The same, stored as its shortest text. */
export function normalDecimal(bounds: AmountBounds): Shape<string, string> {
  const parse = (text: string): string | null => {
    const amount = within(parseDecimal18(text), bounds);
    return amount === null ? null : format18(amount as Amount18);
  };
  return parsedText(DECIMAL, parse, 'a decimal string in range');
}

/** An integer in base 10, as a string; null for anything else. */
export function wholeOf(value: unknown, bounds: AmountBounds): bigint | null {
  return typeof value === 'string' && INTEGER_FORM.test(value) ? within(BigInt(value), bounds) : null;
}

export function integerText(bounds: AmountBounds): Shape<string, bigint> {
  const shape = Type.String({ pattern: INTEGER_FORM.source, description: 'base-10 integer as a string' });
  return parsedText(shape, (text) => wholeOf(text, bounds), 'an integer string in range');
}

/** How a chain id is described where another text is given. */
export const CHAIN_ID_WORDS = 'a chain id of 18 hex digits';

export const USER: Shape<string, UserId> = parsedText(USER_ID_GIVEN, parseUserId, 'a user id');
export const ASSET: Shape<string, AssetId> = parsedText(ASSET_ID_GIVEN, parseAssetId, 'an asset id');
export const ORDER: Shape<string, OrderId> = parsedText(ORDER_ID_GIVEN, parseOrderId, 'an order id');
export const CHAIN: Shape<string, ChainId> = parsedText(
  Type.String({ pattern: '^(?:0[xX])?[0-9a-fA-F]{18}$', description: '18 hex digits' }),
  parseChainId,
  CHAIN_ID_WORDS,
);
export const ADDRESS: Shape<string, string> = parsedText(
  Type.String({
    pattern: '^(?:0[xX])?(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})$',
    description: '40 hex digits, or 64 with zeros on the right',
  }),
  parseAddress,
  'an address',
);
export const BODY_INSTANT: Shape<bigint> = described(INSTANT, 'nanoseconds; passes 2^53') as TSchema as Shape<bigint>;

/** `true`, which confirms what the call is going to do. */
export const CONFIRMED: Shape<boolean, true> = parsed(
  Type.Boolean({ enum: [true] }) as Shape<boolean>,
  (value) => (value === true ? true : null),
  'true',
);
