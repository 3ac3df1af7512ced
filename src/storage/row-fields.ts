/**
 * What layouts of rows are made of: fields, and what puts fields together. A row is written and read by the same
 * layout.
 */
import { assert } from '../core/assert.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** How a value lies in bytes. */
export interface Field<T> {
  write(to: ByteWriter, value: T): void;
  read(from: ByteReader): T;
}

export const u8: Field<number> = field(
  (to, value: number) => to.u8(value),
  (from) => from.u8(),
);
export const u32: Field<number> = field(
  (to, value: number) => to.u32(value),
  (from) => from.u32(),
);
export const i32: Field<number> = field(
  (to, value: number) => to.i32(value),
  (from) => from.i32(),
);
/** A safe integer from 0. */
export const safe: Field<number> = field(
  (to, value: number) => to.safe(value),
  (from) => from.safe(),
);
/** Nanoseconds and nonces. */
export const u64: Field<bigint> = field(
  (to, value: bigint) => to.u64(value),
  (from) => from.u64(),
);
/** An amount of an account, in 10^-18 units. */
export const i128: Field<bigint> = field(
  (to, value: bigint) => to.i128(value),
  (from) => from.i128(),
);
/** An integer without a bound of its own: its decimal digits. */
export const integer: Field<bigint> = field(
  (to, value: bigint) => to.integer(value),
  (from) => from.integer(),
);
export const flag: Field<boolean> = field(
  (to, value: boolean) => to.flag(value),
  (from) => from.flag(),
);
export const text: Field<string> = field(
  (to, value: string) => to.text(value),
  (from) => from.text(),
);
export const bytes: Field<Uint8Array> = field(
  (to, value: Uint8Array) => to.bytes(value),
  (from) => from.bytes(),
);
/** 32 bytes: a digest. */
export const raw32: Field<Uint8Array> = field(
  (to, value: Uint8Array) => {
    assert(value.length === 32, 'storage: a digest has 32 bytes');
    to.raw(value);
  },
  (from) => from.raw(32),
);
/** Hex digits of 32 bytes: users, tokens, transactions, digests. */
export const hex32: Field<string> = field(
  (to, value: string) => to.hex(value, 32),
  (from) => from.hex(32),
);
/** Hex digits of the 9 bytes of a chain id. */
export const hex9: Field<string> = field(
  (to, value: string) => to.hex(value, 9),
  (from) => from.hex(9),
);

function field<T>(write: (to: ByteWriter, value: T) => void, read: (from: ByteReader) => T): Field<T> {
  return { write, read };
}

/** The type below a brand or a set of literals: fields are of numbers, not of `Sequence` or `Side`. */
type Plain<T> = T extends string ? string : T extends number ? number : T extends bigint ? bigint : T;

/** A field for each member, in the order in which they are written. */
type Layout<Row> = { readonly [K in keyof Row]-?: Field<Plain<Row[K]>> | Field<Row[K]> };

/** A flag, and the value behind it unless it is null. */
export function optional<T>({ write, read }: Field<T>): Field<T | null> {
  return {
    write: (to, value) => to.optional(value, (present) => write(to, present)),
    read: (from) => from.optional(() => read(from)),
  };
}

/** A count, and the values behind it. */
export function list<T>({ write, read }: Field<T>): Field<readonly T[]> {
  return {
    write: (to, values) => {
      to.u32(values.length);
      for (const value of values) write(to, value);
    },
    read: (from) => Array.from({ length: from.u32() }, () => read(from)),
  };
}

/** The members one behind the other. */
export function struct<Row extends object>(layout: Layout<Row>): Field<Row> {
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
