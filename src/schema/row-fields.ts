/**
 * What layouts of rows are made of: fields, and what puts fields together. A row is written, read, and printed for the state
 * hash by the same layout.
 */
import { assert } from '../core/assert.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { FactText } from './fact-text.ts';

/** How a value lies in bytes. */
export interface Field<T> {
  write(to: ByteWriter, value: T): void;
  read(from: ByteReader): T;
  /** As a part of a line of the state hash; values that differ print differently. */
  print(to: FactText, value: T): void;
}

/** Texts that print as they are. */
const PLAIN = /^[^|"\\\n]+$/;

export const u8: Field<number> = field(
  (to, value: number) => to.u8(value),
  (from) => from.u8(),
  (to, value) => to.number(value),
);
export const u32: Field<number> = field(
  (to, value: number) => to.u32(value),
  (from) => from.u32(),
  (to, value) => to.number(value),
);
export const i32: Field<number> = field(
  (to, value: number) => to.i32(value),
  (from) => from.i32(),
  (to, value) => to.number(value),
);
/** A safe integer from 0. */
export const safe: Field<number> = field(
  (to, value: number) => to.safe(value),
  (from) => from.safe(),
  (to, value) => to.number(value),
);
/** Nanoseconds and nonces. */
export const u64: Field<bigint> = field(
  (to, value: bigint) => to.u64(value),
  (from) => from.u64(),
  (to, value) => to.nanoseconds(value),
);
/** An amount of an account, in 10^-18 units. */
export const i128: Field<bigint> = field(
  (to, value: bigint) => to.i128(value),
  (from) => from.i128(),
  (to, value) => to.amount(value),
);
/** An integer without a bound of its own: its decimal digits. */
export const integer: Field<bigint> = field(
  (to, value: bigint) => to.integer(value),
  (from) => from.integer(),
  (to, value) => to.amount(value),
);
export const flag: Field<boolean> = field(
  (to, value: boolean) => to.flag(value),
  (from) => from.flag(),
  (to, value) => to.text(`${value}`),
);
export const text: Field<string> = field(
  (to, value: string) => to.text(value),
  (from) => from.text(),
  (to, value) => to.text(PLAIN.test(value) ? value : JSON.stringify(value)),
);
export const bytes: Field<Uint8Array> = field(
  (to, value: Uint8Array) => to.bytes(value),
  (from) => from.bytes(),
  (to, value) => to.hex(value),
);
/** 32 bytes: a digest. */
export const raw32: Field<Uint8Array> = field(
  (to, value: Uint8Array) => {
    assert(value.length === 32, 'storage: a digest has 32 bytes');
    to.raw(value);
  },
  (from) => from.raw(32),
  (to, value) => to.hex(value),
);
/** Hex digits of 32 bytes: users, tokens, transactions, digests. */
export const hex32: Field<string> = field(
  (to, value: string) => to.hex(value, 32),
  (from) => from.hex(32),
  (to, value) => to.text(value),
);
/** Hex digits of the 9 bytes of a chain id. */
export const hex9: Field<string> = field(
  (to, value: string) => to.hex(value, 9),
  (from) => from.hex(9),
  (to, value) => to.text(value),
);

function field<T>(
  write: (to: ByteWriter, value: T) => void,
  read: (from: ByteReader) => T,
  print: (to: FactText, value: T) => void,
): Field<T> {
  return { write, read, print };
}

/** The type below a brand or a set of literals: fields are of numbers, not of `Sequence` or `Side`. */
type Plain<T> = T extends string ? string : T extends number ? number : T extends bigint ? bigint : T;

/** A field for each member, in the order in which they are written. */
type Layout<Row> = { readonly [K in keyof Row]-?: Field<Plain<Row[K]>> | Field<Row[K]> };

/** A flag, and the value behind it unless it is null. */
export function optional<T>({ write, read, print }: Field<T>): Field<T | null> {
  return {
    print: (to, value) => {
      if (value === null) to.text('');
      else print(to, value);
    },
    write: (to, value) => to.optional(value, (present) => write(to, present)),
    read: (from) => from.optional(() => read(from)),
  };
}

/** A count, and the values behind it. */
export function list<T>({ write, read, print }: Field<T>): Field<readonly T[]> {
  return {
    print: (to, values) => {
      to.number(values.length);
      for (const value of values) print(to, value);
    },
    write: (to, values) => {
      to.u32(values.length);
      for (const value of values) write(to, value);
    },
    read: (from) => Array.from({ length: from.u32() }, () => read(from)),
  };
}

/** A layout of several members. */
export interface Struct<Row> extends Field<Row> {
  /** Prints without some of its members. */
  without(left: readonly (keyof Row)[]): Pick<Field<Row>, 'print'>;
}

/** The members one behind the other. */
export function struct<Row extends object>(layout: Layout<Row>): Struct<Row> {
  const members = Object.entries(layout) as [keyof Row, Field<Row[keyof Row]>][];
  const printing =
    (printed: typeof members): Field<Row>['print'] =>
    (to, row) => {
      for (const [name, { print }] of printed) print(to, row[name]);
    };
  return {
    write: (to, row) => {
      for (const [name, { write }] of members) write(to, row[name]);
    },
    read: (from) => {
      const row: Partial<Row> = {};
      for (const [name, { read }] of members) row[name] = read(from);
      return row as Row;
    },
    print: printing(members),
    without: (left) => ({ print: printing(members.filter(([name]) => !left.includes(name))) }),
  };
}
