/**
 * What every row begins with, read from its bytes: rows are encoded with their members in one order (row-kinds.ts), so that
 * nothing behind the first of them has to be parsed.
 */
import { must } from '../../core/assert.ts';

interface RowHead {
  readonly sequence: number;
  readonly index: number;
  readonly timeNs: bigint;
  readonly kind: string;
  /** Of a private row. */
  readonly chain: RowLink | null;
}

/** The place of a private row among those of its user. */
export interface RowLink {
  /** 64 hex digits. */
  readonly user: string;
  readonly n: number;
  /** 64 hex digits: the leaf hash of row n − 1. */
  readonly previous: string;
}

/** The order, or quote set, that a row is of. */
export interface RowOrder {
  readonly assetId: string;
  /** As it stands in JSON. */
  readonly orderId: string;
}

const HEAD =
  /^\{"v":1,"sequence":"([0-9]{1,16})","index":([0-9]{1,10}),"time_ns":"([0-9]{1,20})","kind":"([a-z_]+)"(?:,"user":"([0-9a-f]{64})","n":([0-9]{1,16}),"previous":"([0-9a-f]{64})")?/;
/** Longer than any head. */
const HEAD_BYTES = 400;
/** The members of an order come right behind its head. */
const ORDER_BYTES = 900;
const ORDER = /,"asset_id":"((?:[^"\\]|\\.)*)".{0,80}?,"(?:order_id|set_id)":"((?:[^"\\]|\\.)*)"/;
const OF_ORDERS: ReadonlySet<string> = new Set(['order', 'fill', 'quote_set']);

/** @throws InvariantError for what is no row. */
export function rowHead(row: Uint8Array): RowHead {
  const [, sequence, index, timeNs = '', kind = '', user, n, previous = ''] = must(
    HEAD.exec(latin1(row, HEAD_BYTES)),
    'evidence: a row begins with its head',
  );
  const chain = user === undefined ? null : { user, n: Number(n), previous };
  return { sequence: Number(sequence), index: Number(index), timeNs: BigInt(timeNs), kind, chain };
}

/** Null for a row that is of none. */
export function rowOrder(row: Uint8Array, kind: string): RowOrder | null {
  if (!OF_ORDERS.has(kind)) return null;
  const [, assetId, orderId] = ORDER.exec(latin1(row, ORDER_BYTES)) ?? [];
  return assetId === undefined || orderId === undefined ? null : { assetId, orderId };
}

function latin1(row: Uint8Array, bytesMax: number): string {
  return Buffer.from(row.buffer, row.byteOffset, Math.min(row.length, bytesMax)).toString('latin1');
}
