/**
 * A row of an order, looked at in its bytes: each member is read where it lies, whenever it is asked.
 *
 * What the codec of orders says field by field (row-codecs-orders.ts) stands here once more, as places. Two ids of any
 * length make them move: a is the length of the order's id, b of its parent's, c of the signed text.
 *
 *   0 version 1 │ 1 market 4 │ 5 order 8 │ 13 priority 8 │ 21 user 32 │ 53 sub-account 1 │ 54 length 4, order id a
 *   58+a         side 1 │ kind 1 │ tif 1 │ flags 4 │ price 8 │ quantity 8 │ amount 8 │ budget 8 │ trigger: kind 1, price 8,
 *                state 1 │ parent 8 │ length 4, parent id b
 *   119+a+b      enabled 8 │ activated 8 │ dropped 8 │ fee rate 8 │ creation, timestamp, good until, expiry, admitted, last update:
 *                8 each │ filled 8 │ notional 16 │ fees 16 │ end 1 │ fault 1 │ verdict 1 │ length 4, text c │ length 4, signature │ CRC 4
 */
import type { OrderRow } from '../clearing/rows.ts';
import { assert } from '../core/assert.ts';
import type { OrderId, UserId } from '../core/ids.ts';
import type {
  OrderEnd,
  OrderKind,
  RollbackReason,
  Side,
  SignatureVerdict,
  Tif,
  TriggerKind,
  TriggerState,
} from '../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../core/units.ts';
import { LAYOUT_VERSION } from './frames.ts';
import type { UserOrdinals } from './user-ordinals.ts';

const U32 = 0x1_0000_0000;
const USER_AT = 21;
const USER_BYTES = 32;
const ID_LENGTH_AT = 54;
const ID_AT = 58;
const TERMS_BYTES = 61;
const FIGURES_BYTES = 127;

/** Bytes in which rows lie. */
export interface RowBytes {
  readonly bytes: Buffer;
  /** Over the same bytes. */
  readonly view: DataView;
}

export function rowBytes(bytes: Buffer): RowBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** It points at one order at a time. */
export class OrderLook implements OrderRow {
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #at = 0;
  #terms = 0;
  #figures = 0;

  /**
   * The row that begins at `at` and ends, without its checksum, at `to`.
   *
   * @throws InvariantError when it is not as long as its layout says.
   */
  open(lies: RowBytes, at: number, to: number): void {
    this.point(lies, at);
    assert(this.endAt() === to, 'storage: an order is as long as its layout says');
  }

  /** One that was opened there before. */
  point({ bytes, view }: RowBytes, at: number): void {
    assert(bytes[at] === LAYOUT_VERSION, 'storage: a row of a known layout');
    this.#bytes = bytes;
    this.#view = view;
    this.#at = at;
    this.#terms = at + ID_AT + view.getUint32(at + ID_LENGTH_AT);
    this.#figures = this.#terms + TERMS_BYTES + view.getUint32(this.#terms + TERMS_BYTES - 4);
  }

  /** Where the row ends if its lengths are right. */
  endAt(): number {
    const signatureAt = this.#figures + FIGURES_BYTES + this.#textBytes();
    return signatureAt + 4 + this.#view.getUint32(signatureAt);
  }

  /** Of its user, or -1. */
  ordinalIn(users: UserOrdinals): number {
    return users.find(this.#bytes, this.#at + USER_AT);
  }

  /** Lengths and bytes of its texts, for who hands them on as they lie. */
  get orderIdBytes(): number {
    return this.#terms - this.#at - ID_AT;
  }
  get parentIdBytes(): number {
    return this.#figures - this.#terms - TERMS_BYTES;
  }
  copyUser(to: Uint8Array, at: number): void {
    this.#copy(this.#at + USER_AT, USER_BYTES, to, at);
  }
  copyOrderId(to: Uint8Array, at: number): void {
    this.#copy(this.#at + ID_AT, this.orderIdBytes, to, at);
  }
  copyParentId(to: Uint8Array, at: number): void {
    this.#copy(this.#terms + TERMS_BYTES, this.parentIdBytes, to, at);
  }

  get marketIndex(): number {
    return this.#view.getUint32(this.#at + 1);
  }
  get orderSequence(): Sequence {
    return this.#safe(this.#at + 5) as Sequence;
  }
  get prioritySequence(): Sequence {
    return this.#safe(this.#at + 13) as Sequence;
  }
  get user(): UserId {
    return this.#bytes.hexSlice(this.#at + USER_AT, this.#at + USER_AT + USER_BYTES) as UserId;
  }
  get subAccount(): number {
    return this.#view.getUint8(this.#at + 53);
  }
  get orderId(): OrderId {
    return this.#bytes.utf8Slice(this.#at + ID_AT, this.#terms) as OrderId;
  }
  get side(): Side {
    return this.#view.getUint8(this.#terms) as Side;
  }
  get kind(): OrderKind {
    return this.#view.getUint8(this.#terms + 1) as OrderKind;
  }
  get tif(): Tif {
    return this.#view.getUint8(this.#terms + 2) as Tif;
  }
  get flags(): number {
    return this.#view.getUint32(this.#terms + 3);
  }
  get price(): RawPrice {
    return this.#safe(this.#terms + 7) as RawPrice;
  }
  get quantity(): RawQuantity {
    return this.#safe(this.#terms + 15) as RawQuantity;
  }
  get amount(): number {
    return this.#safe(this.#terms + 23);
  }
  get budget(): number {
    return this.#safe(this.#terms + 31);
  }
  get triggerKind(): TriggerKind {
    return this.#view.getUint8(this.#terms + 39) as TriggerKind;
  }
  get triggerPrice(): RawPrice {
    return this.#safe(this.#terms + 40) as RawPrice;
  }
  get triggerState(): TriggerState {
    return this.#view.getUint8(this.#terms + 48) as TriggerState;
  }
  get parentSequence(): Sequence | 0 {
    return this.#safe(this.#terms + 49) as Sequence | 0;
  }
  get parentId(): OrderId | '' {
    const at = this.#terms + TERMS_BYTES;
    return at === this.#figures ? '' : (this.#bytes.utf8Slice(at, this.#figures) as OrderId);
  }
  get enabledQuantity(): number {
    return this.#safe(this.#figures);
  }
  get activatedQuantity(): number {
    return this.#safe(this.#figures + 8);
  }
  get droppedQuantity(): number {
    return this.#safe(this.#figures + 16);
  }
  get maxFeeRate(): number {
    return this.#safe(this.#figures + 24);
  }
  get creationNs(): TimestampNs {
    return this.#time(this.#figures + 32);
  }
  get timestampNs(): TimestampNs {
    return this.#time(this.#figures + 40);
  }
  get goodUntilNs(): TimestampNs {
    return this.#time(this.#figures + 48);
  }
  get expiryNs(): TimestampNs {
    return this.#time(this.#figures + 56);
  }
  get admittedNs(): TimestampNs {
    return this.#time(this.#figures + 64);
  }
  get lastUpdateNs(): TimestampNs {
    return this.#time(this.#figures + 72);
  }
  get filledQuantity(): number {
    return this.#safe(this.#figures + 80);
  }
  get filledNotional(): Amount18 {
    return this.#amount(this.#figures + 88);
  }
  get fees(): Amount18 {
    return this.#amount(this.#figures + 104);
  }
  get end(): OrderEnd | 0 {
    return this.#view.getUint8(this.#figures + 120) as OrderEnd | 0;
  }
  get faultReason(): RollbackReason {
    return this.#view.getUint8(this.#figures + 121) as RollbackReason;
  }
  get verdict(): SignatureVerdict {
    return this.#view.getUint8(this.#figures + 122) as SignatureVerdict;
  }
  get text(): string {
    const at = this.#figures + FIGURES_BYTES;
    return this.#bytes.utf8Slice(at, at + this.#textBytes());
  }
  get signature(): Uint8Array {
    const at = this.#figures + FIGURES_BYTES + this.#textBytes();
    return new Uint8Array(this.#bytes.subarray(at + 4, this.endAt()));
  }

  /** Byte by byte: there are few. */
  #copy(from: number, byteLength: number, to: Uint8Array, at: number): void {
    const bytes = this.#bytes;
    for (let index = 0; index < byteLength; index += 1) to[at + index] = bytes[from + index] as number;
  }

  #textBytes(): number {
    return this.#view.getUint32(this.#figures + FIGURES_BYTES - 4);
  }

  #safe(at: number): number {
    const high = this.#view.getUint32(at);
    const low = this.#view.getUint32(at + 4);
    // Most are small: as integers they are cheaper than as doubles, wherever they go from here.
    if (high === 0) return low;
    const value = high * U32 + low;
    assert(Number.isSafeInteger(value), 'storage: a safe integer was written');
    return value;
  }

  #time(at: number): TimestampNs {
    return this.#view.getBigUint64(at) as TimestampNs;
  }

  /** Most amounts fit the lower half: no shift, which would allocate. */
  #amount(at: number): Amount18 {
    const high = this.#view.getBigInt64(at);
    const low = this.#view.getBigUint64(at + 8);
    return (high === 0n ? low : (high << 64n) | low) as Amount18;
  }
}
