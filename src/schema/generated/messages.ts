/** Generated from schemas/messages.fbs by `npm run generate`. Do not edit. */
import type { OrderId, UserId } from '../../core/ids.ts';
import type { FillGroup, OrderEnd, ProtectionLimit, OrderKind, QuoteChangeKind, RollbackReason, Side, SignatureVerdict, Tif, TriggerKind, TriggerState } from '../../core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../core/units.ts';
import type { Views } from '../../core/views.ts';
import { copyStruct, type FieldSink, plainJson, readBytes, readText, readUser, writeBytes, writeTextField, writeUser } from '../fields.ts';
import { readInt128, writeInt128 } from '../int128.ts';

/** The plain form of OrderRecord. */
export interface OrderRecordFields {
  /** Market sequence of its admission, unique per market for ever; 0 before it is admitted. */
  readonly orderSequence: Sequence;
  /** Market sequence that gives it its place in the queue: admission, or the replace or restore that moved it back. */
  readonly prioritySequence: Sequence;
  /** Sequence of the parent of a child; 0 for none. */
  readonly parentSequence: Sequence | 0;
  /**
   * In force: the signed values, or those of the last applied replace. Of a market order in a margin account that waited for no
   * trigger the price beyond which it is not matched (MON-07); else 0.
   */
  readonly price: RawPrice;
  /** In force. 0 for a quote-sized order without a base cap. */
  readonly quantity: RawQuantity;
  /** Quote integer of scale 10^-quantity decimals: the cap of a base-sized buy or the target; 0 for none (AMB-05). */
  readonly amount: number;
  /** What its reservation lets it use: quote of a buy, base of a sell; 0 for no such bound (AMB-39). */
  readonly budget: number;
  /** In force while dormant or fired; a released order keeps the one that released it. */
  readonly triggerPrice: RawPrice;
  /** Of a child: lots its parent's confirmed fills have activated; of every other order its quantity (AMB-29). */
  readonly enabledQuantity: number;
  /** Of a child that is not fully released: lots that its market has put in force. 0 for every other order (AMB-29). */
  readonly activatedQuantity: number;
  /** Of an IOC, FOK or market child: lots put in force that found no match; nothing is held for them (AMB-29). */
  readonly droppedQuantity: number;
  /** Confirmed fills: raw quantity, exact notional, fees paid (negative: rebates). */
  readonly filledQuantity: number;
  readonly filledNotional: Amount18;
  readonly fees: Amount18;
  readonly creationNs: TimestampNs;
  /** Creation, raised to the timestamp of the last applied replace (AMB-18). */
  readonly timestampNs: TimestampNs;
  /**
   * 0 unless GTD: the client's instant, shown as `good_until_timestamp_ns`. The order expires at the earlier of this and
   * creation + 30 days.
   */
  readonly goodUntilNs: TimestampNs;
  readonly admittedNs: TimestampNs;
  readonly lastUpdateNs: TimestampNs;
  /** A limit above every rate is kept as the largest uint. */
  readonly maxFeeRate: number;
  readonly marketIndex: number;
  readonly subAccount: number;
  /** Where the id of its parent stands in the signed text; `parent_id_bytes` is its length, 0 for no parent. */
  readonly parentIdAt: number;
  /** Bits of ORDER_FLAG. */
  readonly flags: number;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly triggerKind: TriggerKind;
  readonly triggerState: TriggerState;
  /** 0 while live. */
  readonly end: OrderEnd | 0;
  /** The reason when `end` is atFault; on a live order the fault for which its cancel is pending (AMB-32); else 0. */
  readonly faultReason: RollbackReason;
  /**
   * Result of the signature check, made at the order's first fill (GEN-05). A node-made order is
   * compared with the outstanding one of its account at its admission.
   */
  readonly verdict: SignatureVerdict;
  readonly parentIdBytes: number;
  readonly user: UserId;
  readonly orderId: OrderId;
  /**
   * Of an entry of a quote set the slot of its set in this user and market, 1 to 4; else 0 (QTE-06). An entry has no text of its own.
   */
  readonly quoteSet: number;
  /** The slot of the protection group in this user and market, 1 to 8; 0 for none (MMP-02). */
  readonly protectionGroup: number;
}

/**
 * The durable record of one order, live or finished, with its confirmed figures only: in memory, in messages, in the
 * journal and in its table the same bytes. Named by (market_index, order_sequence). Bytes of `order_id` behind its
 * length are zero, so equal orders are equal bytes. Signed text and signature are not part of it.
 */
export const OrderRecord = {
  bytes: 296,
  orderSequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setOrderSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  parentSequence: (v: Views, at: number): Sequence | 0 => v.f64[(at + 16) >>> 3] as Sequence | 0,
  setParentSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 24) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 32) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  amount: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setAmount: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  budget: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setBudget: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): RawPrice => v.f64[(at + 56) >>> 3] as RawPrice,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  enabledQuantity: (v: Views, at: number): number => v.f64[(at + 64) >>> 3] as number,
  setEnabledQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  activatedQuantity: (v: Views, at: number): number => v.f64[(at + 72) >>> 3] as number,
  setActivatedQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 72) >>> 3] = value;
  },
  droppedQuantity: (v: Views, at: number): number => v.f64[(at + 80) >>> 3] as number,
  setDroppedQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 80) >>> 3] = value;
  },
  filledQuantity: (v: Views, at: number): number => v.f64[(at + 88) >>> 3] as number,
  setFilledQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 88) >>> 3] = value;
  },
  filledNotionalAt: 96,
  filledNotional: (v: Views, at: number): Amount18 => readInt128(v, at + 96) as Amount18,
  setFilledNotional: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 96, value);
  },
  feesAt: 112,
  fees: (v: Views, at: number): Amount18 => readInt128(v, at + 112) as Amount18,
  setFees: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 112, value);
  },
  creationNsAt: 128,
  creationNs: (v: Views, at: number): TimestampNs => v.u64[(at + 128) >>> 3] as TimestampNs,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 128) >>> 3] = value;
  },
  creationNsHigh: (v: Views, at: number): number => v.u32[(at + 132) >>> 2] as number,
  creationNsLow: (v: Views, at: number): number => v.u32[(at + 128) >>> 2] as number,
  setCreationNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 128) >>> 2] = low;
    v.u32[(at + 132) >>> 2] = high;
  },
  timestampNsAt: 136,
  timestampNs: (v: Views, at: number): TimestampNs => v.u64[(at + 136) >>> 3] as TimestampNs,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 136) >>> 3] = value;
  },
  timestampNsHigh: (v: Views, at: number): number => v.u32[(at + 140) >>> 2] as number,
  timestampNsLow: (v: Views, at: number): number => v.u32[(at + 136) >>> 2] as number,
  setTimestampNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 136) >>> 2] = low;
    v.u32[(at + 140) >>> 2] = high;
  },
  goodUntilNsAt: 144,
  goodUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 144) >>> 3] as TimestampNs,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 144) >>> 3] = value;
  },
  goodUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 148) >>> 2] as number,
  goodUntilNsLow: (v: Views, at: number): number => v.u32[(at + 144) >>> 2] as number,
  setGoodUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 144) >>> 2] = low;
    v.u32[(at + 148) >>> 2] = high;
  },
  admittedNsAt: 152,
  admittedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 152) >>> 3] as TimestampNs,
  setAdmittedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 152) >>> 3] = value;
  },
  admittedNsHigh: (v: Views, at: number): number => v.u32[(at + 156) >>> 2] as number,
  admittedNsLow: (v: Views, at: number): number => v.u32[(at + 152) >>> 2] as number,
  setAdmittedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 152) >>> 2] = low;
    v.u32[(at + 156) >>> 2] = high;
  },
  lastUpdateNsAt: 160,
  lastUpdateNs: (v: Views, at: number): TimestampNs => v.u64[(at + 160) >>> 3] as TimestampNs,
  setLastUpdateNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 160) >>> 3] = value;
  },
  lastUpdateNsHigh: (v: Views, at: number): number => v.u32[(at + 164) >>> 2] as number,
  lastUpdateNsLow: (v: Views, at: number): number => v.u32[(at + 160) >>> 2] as number,
  setLastUpdateNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 160) >>> 2] = low;
    v.u32[(at + 164) >>> 2] = high;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 168) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 168) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 172) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 172) >>> 2] = value;
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 176) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 176) >>> 1] = value;
  },
  parentIdAt: (v: Views, at: number): number => v.u16[(at + 178) >>> 1] as number,
  setParentIdAt: (v: Views, at: number, value: number): void => {
    v.u16[(at + 178) >>> 1] = value;
  },
  flags: (v: Views, at: number): number => v.u16[(at + 180) >>> 1] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u16[(at + 180) >>> 1] = value;
  },
  side: (v: Views, at: number): Side => v.u8[at + 182] as Side,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 182] = value;
  },
  kind: (v: Views, at: number): OrderKind => v.u8[at + 183] as OrderKind,
  setKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 183] = value;
  },
  tif: (v: Views, at: number): Tif => v.u8[at + 184] as Tif,
  setTif: (v: Views, at: number, value: number): void => {
    v.u8[at + 184] = value;
  },
  triggerKind: (v: Views, at: number): TriggerKind => v.u8[at + 185] as TriggerKind,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 185] = value;
  },
  triggerState: (v: Views, at: number): TriggerState => v.u8[at + 186] as TriggerState,
  setTriggerState: (v: Views, at: number, value: number): void => {
    v.u8[at + 186] = value;
  },
  end: (v: Views, at: number): OrderEnd | 0 => v.u8[at + 187] as OrderEnd | 0,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 187] = value;
  },
  faultReason: (v: Views, at: number): RollbackReason => v.u8[at + 188] as RollbackReason,
  setFaultReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 188] = value;
  },
  verdict: (v: Views, at: number): SignatureVerdict => v.u8[at + 189] as SignatureVerdict,
  setVerdict: (v: Views, at: number, value: number): void => {
    v.u8[at + 189] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 190] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 190] = value;
  },
  parentIdBytes: (v: Views, at: number): number => v.u8[at + 191] as number,
  setParentIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 191] = value;
  },
  userAt: 192,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 192),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 192, value);
  },
  orderIdAt: 224,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 224, v.u8[at + 190] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 190] = writeTextField(v, at + 224, 64, value);
  },
  quoteSet: (v: Views, at: number): number => v.u32[(at + 288) >>> 2] as number,
  setQuoteSet: (v: Views, at: number, value: number): void => {
    v.u32[(at + 288) >>> 2] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u32[(at + 292) >>> 2] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u32[(at + 292) >>> 2] = value;
  },
  read: (v: Views, at: number): OrderRecordFields => ({
    orderSequence: v.f64[at >>> 3] as Sequence,
    prioritySequence: v.f64[(at + 8) >>> 3] as Sequence,
    parentSequence: v.f64[(at + 16) >>> 3] as Sequence | 0,
    price: v.f64[(at + 24) >>> 3] as RawPrice,
    quantity: v.f64[(at + 32) >>> 3] as RawQuantity,
    amount: v.f64[(at + 40) >>> 3] as number,
    budget: v.f64[(at + 48) >>> 3] as number,
    triggerPrice: v.f64[(at + 56) >>> 3] as RawPrice,
    enabledQuantity: v.f64[(at + 64) >>> 3] as number,
    activatedQuantity: v.f64[(at + 72) >>> 3] as number,
    droppedQuantity: v.f64[(at + 80) >>> 3] as number,
    filledQuantity: v.f64[(at + 88) >>> 3] as number,
    filledNotional: readInt128(v, at + 96) as Amount18,
    fees: readInt128(v, at + 112) as Amount18,
    creationNs: v.u64[(at + 128) >>> 3] as TimestampNs,
    timestampNs: v.u64[(at + 136) >>> 3] as TimestampNs,
    goodUntilNs: v.u64[(at + 144) >>> 3] as TimestampNs,
    admittedNs: v.u64[(at + 152) >>> 3] as TimestampNs,
    lastUpdateNs: v.u64[(at + 160) >>> 3] as TimestampNs,
    maxFeeRate: v.u32[(at + 168) >>> 2] as number,
    marketIndex: v.u32[(at + 172) >>> 2] as number,
    subAccount: v.u16[(at + 176) >>> 1] as number,
    parentIdAt: v.u16[(at + 178) >>> 1] as number,
    flags: v.u16[(at + 180) >>> 1] as number,
    side: v.u8[at + 182] as Side,
    kind: v.u8[at + 183] as OrderKind,
    tif: v.u8[at + 184] as Tif,
    triggerKind: v.u8[at + 185] as TriggerKind,
    triggerState: v.u8[at + 186] as TriggerState,
    end: v.u8[at + 187] as OrderEnd | 0,
    faultReason: v.u8[at + 188] as RollbackReason,
    verdict: v.u8[at + 189] as SignatureVerdict,
    parentIdBytes: v.u8[at + 191] as number,
    user: readUser(v, at + 192),
    orderId: readText(v, at + 224, v.u8[at + 190] as number) as OrderId,
    quoteSet: v.u32[(at + 288) >>> 2] as number,
    protectionGroup: v.u32[(at + 292) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: OrderRecordFields): void => {
    v.f64[at >>> 3] = fields.orderSequence;
    v.f64[(at + 8) >>> 3] = fields.prioritySequence;
    v.f64[(at + 16) >>> 3] = fields.parentSequence;
    v.f64[(at + 24) >>> 3] = fields.price;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.f64[(at + 40) >>> 3] = fields.amount;
    v.f64[(at + 48) >>> 3] = fields.budget;
    v.f64[(at + 56) >>> 3] = fields.triggerPrice;
    v.f64[(at + 64) >>> 3] = fields.enabledQuantity;
    v.f64[(at + 72) >>> 3] = fields.activatedQuantity;
    v.f64[(at + 80) >>> 3] = fields.droppedQuantity;
    v.f64[(at + 88) >>> 3] = fields.filledQuantity;
    writeInt128(v, at + 96, fields.filledNotional);
    writeInt128(v, at + 112, fields.fees);
    v.u64[(at + 128) >>> 3] = fields.creationNs;
    v.u64[(at + 136) >>> 3] = fields.timestampNs;
    v.u64[(at + 144) >>> 3] = fields.goodUntilNs;
    v.u64[(at + 152) >>> 3] = fields.admittedNs;
    v.u64[(at + 160) >>> 3] = fields.lastUpdateNs;
    v.u32[(at + 168) >>> 2] = fields.maxFeeRate;
    v.u32[(at + 172) >>> 2] = fields.marketIndex;
    v.u16[(at + 176) >>> 1] = fields.subAccount;
    v.u16[(at + 178) >>> 1] = fields.parentIdAt;
    v.u16[(at + 180) >>> 1] = fields.flags;
    v.u8[at + 182] = fields.side;
    v.u8[at + 183] = fields.kind;
    v.u8[at + 184] = fields.tif;
    v.u8[at + 185] = fields.triggerKind;
    v.u8[at + 186] = fields.triggerState;
    v.u8[at + 187] = fields.end;
    v.u8[at + 188] = fields.faultReason;
    v.u8[at + 189] = fields.verdict;
    v.u8[at + 191] = fields.parentIdBytes;
    writeUser(v, at + 192, fields.user);
    v.u8[at + 190] = writeTextField(v, at + 224, 64, fields.orderId);
    v.u32[(at + 288) >>> 2] = fields.quoteSet;
    v.u32[(at + 292) >>> 2] = fields.protectionGroup;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 296),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.f64[(at + 48) >>> 3] as number);
    to.number(v.f64[(at + 56) >>> 3] as number);
    to.number(v.f64[(at + 64) >>> 3] as number);
    to.number(v.f64[(at + 72) >>> 3] as number);
    to.number(v.f64[(at + 80) >>> 3] as number);
    to.number(v.f64[(at + 88) >>> 3] as number);
    to.amount(readInt128(v, at + 96));
    to.amount(readInt128(v, at + 112));
    to.nanoseconds(v.u64[(at + 128) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 136) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 144) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 152) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 160) >>> 3] as bigint);
    to.number(v.u32[(at + 168) >>> 2] as number);
    to.number(v.u32[(at + 172) >>> 2] as number);
    to.number(v.u16[(at + 176) >>> 1] as number);
    to.number(v.u16[(at + 178) >>> 1] as number);
    to.number(v.u16[(at + 180) >>> 1] as number);
    to.number(v.u8[at + 182] as number);
    to.number(v.u8[at + 183] as number);
    to.number(v.u8[at + 184] as number);
    to.number(v.u8[at + 185] as number);
    to.number(v.u8[at + 186] as number);
    to.number(v.u8[at + 187] as number);
    to.number(v.u8[at + 188] as number);
    to.number(v.u8[at + 189] as number);
    to.number(v.u8[at + 191] as number);
    to.text(readUser(v, at + 192));
    to.text(readText(v, at + 224, v.u8[at + 190] as number));
    to.number(v.u32[(at + 288) >>> 2] as number);
    to.number(v.u32[(at + 292) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderRecord.read(v, at)),
} as const;

/** The bytes of a OrderRecord as an object: its members are read and written where they lie. */
export class OrderRecordView implements OrderRecordFields {
  v: Views;
  at: number;

  /** @param at a multiple of 8. */
  constructor(v: Views, at: number) {
    this.v = v;
    this.at = at;
  }

  /** Market sequence of its admission, unique per market for ever; 0 before it is admitted. */
  get orderSequence(): Sequence {
    return this.v.f64[this.at >>> 3] as Sequence;
  }
  set orderSequence(value: Sequence) {
    this.v.f64[this.at >>> 3] = value;
  }

  /** Market sequence that gives it its place in the queue: admission, or the replace or restore that moved it back. */
  get prioritySequence(): Sequence {
    return this.v.f64[(this.at + 8) >>> 3] as Sequence;
  }
  set prioritySequence(value: Sequence) {
    this.v.f64[(this.at + 8) >>> 3] = value;
  }

  /** Sequence of the parent of a child; 0 for none. */
  get parentSequence(): Sequence | 0 {
    return this.v.f64[(this.at + 16) >>> 3] as Sequence | 0;
  }
  set parentSequence(value: Sequence | 0) {
    this.v.f64[(this.at + 16) >>> 3] = value;
  }

  /**
   * In force: the signed values, or those of the last applied replace. Of a market order in a margin account that waited for no
   * trigger the price beyond which it is not matched (MON-07); else 0.
   */
  get price(): RawPrice {
    return this.v.f64[(this.at + 24) >>> 3] as RawPrice;
  }
  set price(value: RawPrice) {
    this.v.f64[(this.at + 24) >>> 3] = value;
  }

  /** In force. 0 for a quote-sized order without a base cap. */
  get quantity(): RawQuantity {
    return this.v.f64[(this.at + 32) >>> 3] as RawQuantity;
  }
  set quantity(value: RawQuantity) {
    this.v.f64[(this.at + 32) >>> 3] = value;
  }

  /** Quote integer of scale 10^-quantity decimals: the cap of a base-sized buy or the target; 0 for none (AMB-05). */
  get amount(): number {
    return this.v.f64[(this.at + 40) >>> 3] as number;
  }
  set amount(value: number) {
    this.v.f64[(this.at + 40) >>> 3] = value;
  }

  /** What its reservation lets it use: quote of a buy, base of a sell; 0 for no such bound (AMB-39). */
  get budget(): number {
    return this.v.f64[(this.at + 48) >>> 3] as number;
  }
  set budget(value: number) {
    this.v.f64[(this.at + 48) >>> 3] = value;
  }

  /** In force while dormant or fired; a released order keeps the one that released it. */
  get triggerPrice(): RawPrice {
    return this.v.f64[(this.at + 56) >>> 3] as RawPrice;
  }
  set triggerPrice(value: RawPrice) {
    this.v.f64[(this.at + 56) >>> 3] = value;
  }

  /** Of a child: lots its parent's confirmed fills have activated; of every other order its quantity (AMB-29). */
  get enabledQuantity(): number {
    return this.v.f64[(this.at + 64) >>> 3] as number;
  }
  set enabledQuantity(value: number) {
    this.v.f64[(this.at + 64) >>> 3] = value;
  }

  /** Of a child that is not fully released: lots that its market has put in force. 0 for every other order (AMB-29). */
  get activatedQuantity(): number {
    return this.v.f64[(this.at + 72) >>> 3] as number;
  }
  set activatedQuantity(value: number) {
    this.v.f64[(this.at + 72) >>> 3] = value;
  }

  /** Of an IOC, FOK or market child: lots put in force that found no match; nothing is held for them (AMB-29). */
  get droppedQuantity(): number {
    return this.v.f64[(this.at + 80) >>> 3] as number;
  }
  set droppedQuantity(value: number) {
    this.v.f64[(this.at + 80) >>> 3] = value;
  }

  /** Confirmed fills: raw quantity, exact notional, fees paid (negative: rebates). */
  get filledQuantity(): number {
    return this.v.f64[(this.at + 88) >>> 3] as number;
  }
  set filledQuantity(value: number) {
    this.v.f64[(this.at + 88) >>> 3] = value;
  }

  get filledNotional(): Amount18 {
    return readInt128(this.v, this.at + 96) as Amount18;
  }
  set filledNotional(value: Amount18) {
    writeInt128(this.v, this.at + 96, value);
  }

  get fees(): Amount18 {
    return readInt128(this.v, this.at + 112) as Amount18;
  }
  set fees(value: Amount18) {
    writeInt128(this.v, this.at + 112, value);
  }

  get creationNs(): TimestampNs {
    return this.v.u64[(this.at + 128) >>> 3] as TimestampNs;
  }
  set creationNs(value: TimestampNs) {
    this.v.u64[(this.at + 128) >>> 3] = value;
  }

  /** Creation, raised to the timestamp of the last applied replace (AMB-18). */
  get timestampNs(): TimestampNs {
    return this.v.u64[(this.at + 136) >>> 3] as TimestampNs;
  }
  set timestampNs(value: TimestampNs) {
    this.v.u64[(this.at + 136) >>> 3] = value;
  }

  /**
   * 0 unless GTD: the client's instant, shown as `good_until_timestamp_ns`. The order expires at the earlier of this and
   * creation + 30 days.
   */
  get goodUntilNs(): TimestampNs {
    return this.v.u64[(this.at + 144) >>> 3] as TimestampNs;
  }
  set goodUntilNs(value: TimestampNs) {
    this.v.u64[(this.at + 144) >>> 3] = value;
  }

  get admittedNs(): TimestampNs {
    return this.v.u64[(this.at + 152) >>> 3] as TimestampNs;
  }
  set admittedNs(value: TimestampNs) {
    this.v.u64[(this.at + 152) >>> 3] = value;
  }

  get lastUpdateNs(): TimestampNs {
    return this.v.u64[(this.at + 160) >>> 3] as TimestampNs;
  }
  set lastUpdateNs(value: TimestampNs) {
    this.v.u64[(this.at + 160) >>> 3] = value;
  }

  /** A limit above every rate is kept as the largest uint. */
  get maxFeeRate(): number {
    return this.v.u32[(this.at + 168) >>> 2] as number;
  }
  set maxFeeRate(value: number) {
    this.v.u32[(this.at + 168) >>> 2] = value;
  }

  get marketIndex(): number {
    return this.v.u32[(this.at + 172) >>> 2] as number;
  }
  set marketIndex(value: number) {
    this.v.u32[(this.at + 172) >>> 2] = value;
  }

  get subAccount(): number {
    return this.v.u16[(this.at + 176) >>> 1] as number;
  }
  set subAccount(value: number) {
    this.v.u16[(this.at + 176) >>> 1] = value;
  }

  /** Where the id of its parent stands in the signed text; `parent_id_bytes` is its length, 0 for no parent. */
  get parentIdAt(): number {
    return this.v.u16[(this.at + 178) >>> 1] as number;
  }
  set parentIdAt(value: number) {
    this.v.u16[(this.at + 178) >>> 1] = value;
  }

  /** Bits of ORDER_FLAG. */
  get flags(): number {
    return this.v.u16[(this.at + 180) >>> 1] as number;
  }
  set flags(value: number) {
    this.v.u16[(this.at + 180) >>> 1] = value;
  }

  get side(): Side {
    return this.v.u8[this.at + 182] as Side;
  }
  set side(value: Side) {
    this.v.u8[this.at + 182] = value;
  }

  get kind(): OrderKind {
    return this.v.u8[this.at + 183] as OrderKind;
  }
  set kind(value: OrderKind) {
    this.v.u8[this.at + 183] = value;
  }

  get tif(): Tif {
    return this.v.u8[this.at + 184] as Tif;
  }
  set tif(value: Tif) {
    this.v.u8[this.at + 184] = value;
  }

  get triggerKind(): TriggerKind {
    return this.v.u8[this.at + 185] as TriggerKind;
  }
  set triggerKind(value: TriggerKind) {
    this.v.u8[this.at + 185] = value;
  }

  get triggerState(): TriggerState {
    return this.v.u8[this.at + 186] as TriggerState;
  }
  set triggerState(value: TriggerState) {
    this.v.u8[this.at + 186] = value;
  }

  /** 0 while live. */
  get end(): OrderEnd | 0 {
    return this.v.u8[this.at + 187] as OrderEnd | 0;
  }
  set end(value: OrderEnd | 0) {
    this.v.u8[this.at + 187] = value;
  }

  /** The reason when `end` is atFault; on a live order the fault for which its cancel is pending (AMB-32); else 0. */
  get faultReason(): RollbackReason {
    return this.v.u8[this.at + 188] as RollbackReason;
  }
  set faultReason(value: RollbackReason) {
    this.v.u8[this.at + 188] = value;
  }

  /**
   * Result of the signature check, made at the order's first fill (GEN-05). A node-made order is
   * compared with the outstanding one of its account at its admission.
   */
  get verdict(): SignatureVerdict {
    return this.v.u8[this.at + 189] as SignatureVerdict;
  }
  set verdict(value: SignatureVerdict) {
    this.v.u8[this.at + 189] = value;
  }

  get parentIdBytes(): number {
    return this.v.u8[this.at + 191] as number;
  }
  set parentIdBytes(value: number) {
    this.v.u8[this.at + 191] = value;
  }

  get user(): UserId {
    return readUser(this.v, this.at + 192);
  }
  set user(value: UserId) {
    writeUser(this.v, this.at + 192, value);
  }

  get orderId(): OrderId {
    return readText(this.v, this.at + 224, this.v.u8[this.at + 190] as number) as OrderId;
  }
  set orderId(value: OrderId) {
    this.v.u8[this.at + 190] = writeTextField(this.v, this.at + 224, 64, value);
  }

  /**
   * Of an entry of a quote set the slot of its set in this user and market, 1 to 4; else 0 (QTE-06). An entry has no text of its own.
   */
  get quoteSet(): number {
    return this.v.u32[(this.at + 288) >>> 2] as number;
  }
  set quoteSet(value: number) {
    this.v.u32[(this.at + 288) >>> 2] = value;
  }

  /** The slot of the protection group in this user and market, 1 to 8; 0 for none (MMP-02). */
  get protectionGroup(): number {
    return this.v.u32[(this.at + 292) >>> 2] as number;
  }
  set protectionGroup(value: number) {
    this.v.u32[(this.at + 292) >>> 2] = value;
  }

  toJSON(): unknown {
    return OrderRecord.toJson(this.v, this.at);
  }
}

/** The plain form of OrderRecord15. */
export interface OrderRecord15Fields {
  readonly orderSequence: Sequence;
  readonly prioritySequence: Sequence;
  readonly parentSequence: Sequence | 0;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly amount: number;
  readonly budget: number;
  readonly triggerPrice: RawPrice;
  readonly enabledQuantity: number;
  readonly activatedQuantity: number;
  readonly droppedQuantity: number;
  readonly filledQuantity: number;
  readonly filledNotional: Amount18;
  readonly fees: Amount18;
  readonly creationNs: TimestampNs;
  readonly timestampNs: TimestampNs;
  readonly goodUntilNs: TimestampNs;
  readonly admittedNs: TimestampNs;
  readonly lastUpdateNs: TimestampNs;
  readonly maxFeeRate: number;
  readonly marketIndex: number;
  readonly subAccount: number;
  readonly parentIdAt: number;
  readonly flags: number;
  readonly side: Side;
  readonly kind: OrderKind;
  readonly tif: Tif;
  readonly triggerKind: TriggerKind;
  readonly triggerState: TriggerState;
  readonly end: OrderEnd | 0;
  readonly faultReason: RollbackReason;
  readonly verdict: SignatureVerdict;
  readonly parentIdBytes: number;
  readonly user: UserId;
  readonly orderId: OrderId;
}

/** The record in data of versions 11 to 15: without quote set and protection group. */
export const OrderRecord15 = {
  bytes: 288,
  orderSequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setOrderSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  parentSequence: (v: Views, at: number): Sequence | 0 => v.f64[(at + 16) >>> 3] as Sequence | 0,
  setParentSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 24) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 32) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  amount: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setAmount: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  budget: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setBudget: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): RawPrice => v.f64[(at + 56) >>> 3] as RawPrice,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  enabledQuantity: (v: Views, at: number): number => v.f64[(at + 64) >>> 3] as number,
  setEnabledQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  activatedQuantity: (v: Views, at: number): number => v.f64[(at + 72) >>> 3] as number,
  setActivatedQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 72) >>> 3] = value;
  },
  droppedQuantity: (v: Views, at: number): number => v.f64[(at + 80) >>> 3] as number,
  setDroppedQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 80) >>> 3] = value;
  },
  filledQuantity: (v: Views, at: number): number => v.f64[(at + 88) >>> 3] as number,
  setFilledQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 88) >>> 3] = value;
  },
  filledNotionalAt: 96,
  filledNotional: (v: Views, at: number): Amount18 => readInt128(v, at + 96) as Amount18,
  setFilledNotional: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 96, value);
  },
  feesAt: 112,
  fees: (v: Views, at: number): Amount18 => readInt128(v, at + 112) as Amount18,
  setFees: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 112, value);
  },
  creationNsAt: 128,
  creationNs: (v: Views, at: number): TimestampNs => v.u64[(at + 128) >>> 3] as TimestampNs,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 128) >>> 3] = value;
  },
  creationNsHigh: (v: Views, at: number): number => v.u32[(at + 132) >>> 2] as number,
  creationNsLow: (v: Views, at: number): number => v.u32[(at + 128) >>> 2] as number,
  setCreationNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 128) >>> 2] = low;
    v.u32[(at + 132) >>> 2] = high;
  },
  timestampNsAt: 136,
  timestampNs: (v: Views, at: number): TimestampNs => v.u64[(at + 136) >>> 3] as TimestampNs,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 136) >>> 3] = value;
  },
  timestampNsHigh: (v: Views, at: number): number => v.u32[(at + 140) >>> 2] as number,
  timestampNsLow: (v: Views, at: number): number => v.u32[(at + 136) >>> 2] as number,
  setTimestampNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 136) >>> 2] = low;
    v.u32[(at + 140) >>> 2] = high;
  },
  goodUntilNsAt: 144,
  goodUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 144) >>> 3] as TimestampNs,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 144) >>> 3] = value;
  },
  goodUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 148) >>> 2] as number,
  goodUntilNsLow: (v: Views, at: number): number => v.u32[(at + 144) >>> 2] as number,
  setGoodUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 144) >>> 2] = low;
    v.u32[(at + 148) >>> 2] = high;
  },
  admittedNsAt: 152,
  admittedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 152) >>> 3] as TimestampNs,
  setAdmittedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 152) >>> 3] = value;
  },
  admittedNsHigh: (v: Views, at: number): number => v.u32[(at + 156) >>> 2] as number,
  admittedNsLow: (v: Views, at: number): number => v.u32[(at + 152) >>> 2] as number,
  setAdmittedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 152) >>> 2] = low;
    v.u32[(at + 156) >>> 2] = high;
  },
  lastUpdateNsAt: 160,
  lastUpdateNs: (v: Views, at: number): TimestampNs => v.u64[(at + 160) >>> 3] as TimestampNs,
  setLastUpdateNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 160) >>> 3] = value;
  },
  lastUpdateNsHigh: (v: Views, at: number): number => v.u32[(at + 164) >>> 2] as number,
  lastUpdateNsLow: (v: Views, at: number): number => v.u32[(at + 160) >>> 2] as number,
  setLastUpdateNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 160) >>> 2] = low;
    v.u32[(at + 164) >>> 2] = high;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 168) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 168) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 172) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 172) >>> 2] = value;
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 176) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 176) >>> 1] = value;
  },
  parentIdAt: (v: Views, at: number): number => v.u16[(at + 178) >>> 1] as number,
  setParentIdAt: (v: Views, at: number, value: number): void => {
    v.u16[(at + 178) >>> 1] = value;
  },
  flags: (v: Views, at: number): number => v.u16[(at + 180) >>> 1] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u16[(at + 180) >>> 1] = value;
  },
  side: (v: Views, at: number): Side => v.u8[at + 182] as Side,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 182] = value;
  },
  kind: (v: Views, at: number): OrderKind => v.u8[at + 183] as OrderKind,
  setKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 183] = value;
  },
  tif: (v: Views, at: number): Tif => v.u8[at + 184] as Tif,
  setTif: (v: Views, at: number, value: number): void => {
    v.u8[at + 184] = value;
  },
  triggerKind: (v: Views, at: number): TriggerKind => v.u8[at + 185] as TriggerKind,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 185] = value;
  },
  triggerState: (v: Views, at: number): TriggerState => v.u8[at + 186] as TriggerState,
  setTriggerState: (v: Views, at: number, value: number): void => {
    v.u8[at + 186] = value;
  },
  end: (v: Views, at: number): OrderEnd | 0 => v.u8[at + 187] as OrderEnd | 0,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 187] = value;
  },
  faultReason: (v: Views, at: number): RollbackReason => v.u8[at + 188] as RollbackReason,
  setFaultReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 188] = value;
  },
  verdict: (v: Views, at: number): SignatureVerdict => v.u8[at + 189] as SignatureVerdict,
  setVerdict: (v: Views, at: number, value: number): void => {
    v.u8[at + 189] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 190] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 190] = value;
  },
  parentIdBytes: (v: Views, at: number): number => v.u8[at + 191] as number,
  setParentIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 191] = value;
  },
  userAt: 192,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 192),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 192, value);
  },
  orderIdAt: 224,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 224, v.u8[at + 190] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 190] = writeTextField(v, at + 224, 64, value);
  },
  read: (v: Views, at: number): OrderRecord15Fields => ({
    orderSequence: v.f64[at >>> 3] as Sequence,
    prioritySequence: v.f64[(at + 8) >>> 3] as Sequence,
    parentSequence: v.f64[(at + 16) >>> 3] as Sequence | 0,
    price: v.f64[(at + 24) >>> 3] as RawPrice,
    quantity: v.f64[(at + 32) >>> 3] as RawQuantity,
    amount: v.f64[(at + 40) >>> 3] as number,
    budget: v.f64[(at + 48) >>> 3] as number,
    triggerPrice: v.f64[(at + 56) >>> 3] as RawPrice,
    enabledQuantity: v.f64[(at + 64) >>> 3] as number,
    activatedQuantity: v.f64[(at + 72) >>> 3] as number,
    droppedQuantity: v.f64[(at + 80) >>> 3] as number,
    filledQuantity: v.f64[(at + 88) >>> 3] as number,
    filledNotional: readInt128(v, at + 96) as Amount18,
    fees: readInt128(v, at + 112) as Amount18,
    creationNs: v.u64[(at + 128) >>> 3] as TimestampNs,
    timestampNs: v.u64[(at + 136) >>> 3] as TimestampNs,
    goodUntilNs: v.u64[(at + 144) >>> 3] as TimestampNs,
    admittedNs: v.u64[(at + 152) >>> 3] as TimestampNs,
    lastUpdateNs: v.u64[(at + 160) >>> 3] as TimestampNs,
    maxFeeRate: v.u32[(at + 168) >>> 2] as number,
    marketIndex: v.u32[(at + 172) >>> 2] as number,
    subAccount: v.u16[(at + 176) >>> 1] as number,
    parentIdAt: v.u16[(at + 178) >>> 1] as number,
    flags: v.u16[(at + 180) >>> 1] as number,
    side: v.u8[at + 182] as Side,
    kind: v.u8[at + 183] as OrderKind,
    tif: v.u8[at + 184] as Tif,
    triggerKind: v.u8[at + 185] as TriggerKind,
    triggerState: v.u8[at + 186] as TriggerState,
    end: v.u8[at + 187] as OrderEnd | 0,
    faultReason: v.u8[at + 188] as RollbackReason,
    verdict: v.u8[at + 189] as SignatureVerdict,
    parentIdBytes: v.u8[at + 191] as number,
    user: readUser(v, at + 192),
    orderId: readText(v, at + 224, v.u8[at + 190] as number) as OrderId,
  }),
  write: (v: Views, at: number, fields: OrderRecord15Fields): void => {
    v.f64[at >>> 3] = fields.orderSequence;
    v.f64[(at + 8) >>> 3] = fields.prioritySequence;
    v.f64[(at + 16) >>> 3] = fields.parentSequence;
    v.f64[(at + 24) >>> 3] = fields.price;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.f64[(at + 40) >>> 3] = fields.amount;
    v.f64[(at + 48) >>> 3] = fields.budget;
    v.f64[(at + 56) >>> 3] = fields.triggerPrice;
    v.f64[(at + 64) >>> 3] = fields.enabledQuantity;
    v.f64[(at + 72) >>> 3] = fields.activatedQuantity;
    v.f64[(at + 80) >>> 3] = fields.droppedQuantity;
    v.f64[(at + 88) >>> 3] = fields.filledQuantity;
    writeInt128(v, at + 96, fields.filledNotional);
    writeInt128(v, at + 112, fields.fees);
    v.u64[(at + 128) >>> 3] = fields.creationNs;
    v.u64[(at + 136) >>> 3] = fields.timestampNs;
    v.u64[(at + 144) >>> 3] = fields.goodUntilNs;
    v.u64[(at + 152) >>> 3] = fields.admittedNs;
    v.u64[(at + 160) >>> 3] = fields.lastUpdateNs;
    v.u32[(at + 168) >>> 2] = fields.maxFeeRate;
    v.u32[(at + 172) >>> 2] = fields.marketIndex;
    v.u16[(at + 176) >>> 1] = fields.subAccount;
    v.u16[(at + 178) >>> 1] = fields.parentIdAt;
    v.u16[(at + 180) >>> 1] = fields.flags;
    v.u8[at + 182] = fields.side;
    v.u8[at + 183] = fields.kind;
    v.u8[at + 184] = fields.tif;
    v.u8[at + 185] = fields.triggerKind;
    v.u8[at + 186] = fields.triggerState;
    v.u8[at + 187] = fields.end;
    v.u8[at + 188] = fields.faultReason;
    v.u8[at + 189] = fields.verdict;
    v.u8[at + 191] = fields.parentIdBytes;
    writeUser(v, at + 192, fields.user);
    v.u8[at + 190] = writeTextField(v, at + 224, 64, fields.orderId);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 288),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.f64[(at + 48) >>> 3] as number);
    to.number(v.f64[(at + 56) >>> 3] as number);
    to.number(v.f64[(at + 64) >>> 3] as number);
    to.number(v.f64[(at + 72) >>> 3] as number);
    to.number(v.f64[(at + 80) >>> 3] as number);
    to.number(v.f64[(at + 88) >>> 3] as number);
    to.amount(readInt128(v, at + 96));
    to.amount(readInt128(v, at + 112));
    to.nanoseconds(v.u64[(at + 128) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 136) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 144) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 152) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 160) >>> 3] as bigint);
    to.number(v.u32[(at + 168) >>> 2] as number);
    to.number(v.u32[(at + 172) >>> 2] as number);
    to.number(v.u16[(at + 176) >>> 1] as number);
    to.number(v.u16[(at + 178) >>> 1] as number);
    to.number(v.u16[(at + 180) >>> 1] as number);
    to.number(v.u8[at + 182] as number);
    to.number(v.u8[at + 183] as number);
    to.number(v.u8[at + 184] as number);
    to.number(v.u8[at + 185] as number);
    to.number(v.u8[at + 186] as number);
    to.number(v.u8[at + 187] as number);
    to.number(v.u8[at + 188] as number);
    to.number(v.u8[at + 189] as number);
    to.number(v.u8[at + 191] as number);
    to.text(readUser(v, at + 192));
    to.text(readText(v, at + 224, v.u8[at + 190] as number));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderRecord15.read(v, at)),
} as const;

/** The plain form of NewOrder. */
export interface NewOrderFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly order: OrderRecordFields;
  readonly signature: Uint8Array;
  readonly textBytes: number;
  readonly signaturesBytes: number;
}

/**
 * A create that passed the gateway: the record of the order as far as it is known before its admission (sequences,
 * `admitted_ns` and `last_update_ns` are 0). Tail: `text_bytes` of canonical signed text, then `signatures_bytes` of all
 * signatures where co-signers have signed (codec/stored-signatures.ts); 0: the master alone, and `signature` is its. On its way
 * to a market, and nowhere else, the hash of its id follows: the last four bytes of the message, at a multiple of 4.
 */
export const NewOrder = {
  typeId: 1,
  bytes: 384,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  orderAt: 16,
  order: (v: Views, at: number): OrderRecordFields => OrderRecord.read(v, at + 16),
  setOrder: (v: Views, at: number, value: OrderRecordFields): void => {
    OrderRecord.write(v, at + 16, value);
  },
  signatureAt: 312,
  signatureLength: 64,
  signature: (v: Views, at: number): Uint8Array => readBytes(v, at + 312, 64),
  setSignature: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at + 312, 64, value);
  },
  textBytes: (v: Views, at: number): number => v.u16[(at + 376) >>> 1] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 376) >>> 1] = value;
  },
  signaturesBytes: (v: Views, at: number): number => v.u16[(at + 378) >>> 1] as number,
  setSignaturesBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 378) >>> 1] = value;
  },
  read: (v: Views, at: number): NewOrderFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: OrderRecord.read(v, at + 16),
    signature: readBytes(v, at + 312, 64),
    textBytes: v.u16[(at + 376) >>> 1] as number,
    signaturesBytes: v.u16[(at + 378) >>> 1] as number,
  }),
  write: (v: Views, at: number, fields: NewOrderFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    OrderRecord.write(v, at + 16, fields.order);
    writeBytes(v, at + 312, 64, fields.signature);
    v.u16[(at + 376) >>> 1] = fields.textBytes;
    v.u16[(at + 378) >>> 1] = fields.signaturesBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 384),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    OrderRecord.hash(v, at + 16, to);
    to.hex(v.u8.subarray(at + 312, at + 376));
    to.number(v.u16[(at + 376) >>> 1] as number);
    to.number(v.u16[(at + 378) >>> 1] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(NewOrder.read(v, at)),
} as const;

/** The plain form of ReplaceOrder. */
export interface ReplaceOrderFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly timestampNs: TimestampNs;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly triggerPrice: RawPrice;
  readonly roomToTake: number;
  readonly roomToRest: number;
  readonly marketIndex: number;
  readonly triggerKind: TriggerKind;
  readonly nodeMade: boolean;
  readonly isComplete: boolean;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly idHash: number;
}

/**
 * A replace that passed the gateway; 0 leaves price, quantity or trigger unchanged. `node_made`: a reduction
 * by the node itself: the order keeps its timestamp (AMB-61). `is_complete`: no figure is 0, and a trigger of 0 means that the
 * order does not wait for one. `id_hash` is what the market finds user and id by; its key
 * is new at every start, so no message with it is kept.
 * `room_to_take` and `room_to_rest`: of a reduce-only order the lots by which it may reduce its position, if it matches at once
 * and if it rests (MON-09); else 2^53 − 1.
 */
export const ReplaceOrder = {
  typeId: 2,
  bytes: 176,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  timestampNsAt: 16,
  timestampNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  timestampNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  timestampNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setTimestampNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 24) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 32) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): RawPrice => v.f64[(at + 40) >>> 3] as RawPrice,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  roomToTake: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setRoomToTake: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  roomToRest: (v: Views, at: number): number => v.f64[(at + 56) >>> 3] as number,
  setRoomToRest: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 64) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 64) >>> 2] = value;
  },
  triggerKind: (v: Views, at: number): TriggerKind => v.u8[at + 68] as TriggerKind,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 68] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 69] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 69] = value;
  },
  nodeMade: (v: Views, at: number): boolean => v.u8[at + 70] !== 0,
  setNodeMade: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 70] = value ? 1 : 0;
  },
  isComplete: (v: Views, at: number): boolean => v.u8[at + 71] !== 0,
  setIsComplete: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 71] = value ? 1 : 0;
  },
  userAt: 72,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 72),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 72, value);
  },
  orderIdAt: 104,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 104, v.u8[at + 69] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 69] = writeTextField(v, at + 104, 64, value);
  },
  idHash: (v: Views, at: number): number => v.i32[(at + 168) >>> 2] as number,
  setIdHash: (v: Views, at: number, value: number): void => {
    v.i32[(at + 168) >>> 2] = value;
  },
  read: (v: Views, at: number): ReplaceOrderFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    timestampNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    price: v.f64[(at + 24) >>> 3] as RawPrice,
    quantity: v.f64[(at + 32) >>> 3] as RawQuantity,
    triggerPrice: v.f64[(at + 40) >>> 3] as RawPrice,
    roomToTake: v.f64[(at + 48) >>> 3] as number,
    roomToRest: v.f64[(at + 56) >>> 3] as number,
    marketIndex: v.u32[(at + 64) >>> 2] as number,
    triggerKind: v.u8[at + 68] as TriggerKind,
    nodeMade: v.u8[at + 70] !== 0,
    isComplete: v.u8[at + 71] !== 0,
    user: readUser(v, at + 72),
    orderId: readText(v, at + 104, v.u8[at + 69] as number) as OrderId,
    idHash: v.i32[(at + 168) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: ReplaceOrderFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    v.u64[(at + 16) >>> 3] = fields.timestampNs;
    v.f64[(at + 24) >>> 3] = fields.price;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.f64[(at + 40) >>> 3] = fields.triggerPrice;
    v.f64[(at + 48) >>> 3] = fields.roomToTake;
    v.f64[(at + 56) >>> 3] = fields.roomToRest;
    v.u32[(at + 64) >>> 2] = fields.marketIndex;
    v.u8[at + 68] = fields.triggerKind;
    v.u8[at + 70] = fields.nodeMade ? 1 : 0;
    v.u8[at + 71] = fields.isComplete ? 1 : 0;
    writeUser(v, at + 72, fields.user);
    v.u8[at + 69] = writeTextField(v, at + 104, 64, fields.orderId);
    v.i32[(at + 168) >>> 2] = fields.idHash;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 176),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.f64[(at + 48) >>> 3] as number);
    to.number(v.f64[(at + 56) >>> 3] as number);
    to.number(v.u32[(at + 64) >>> 2] as number);
    to.number(v.u8[at + 68] as number);
    to.number(v.u8[at + 70] as number);
    to.number(v.u8[at + 71] as number);
    to.text(readUser(v, at + 72));
    to.text(readText(v, at + 104, v.u8[at + 69] as number));
    to.number(v.i32[(at + 168) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(ReplaceOrder.read(v, at)),
} as const;

/** The plain form of AmendOrder. */
export interface AmendOrderFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly timestampNs: TimestampNs;
  readonly expectedNs: TimestampNs;
  readonly quantity: RawQuantity;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly expectsRevision: boolean;
  readonly idHash: number;
}

/**
 * An amend that passed the gateway: the total becomes `quantity`, if that is less, and if the order's revision is
 * `expected_ns`; without `expects_revision`, if it was not changed since its create (wire-additions.md 4). `id_hash` as in a ReplaceOrder.
 */
export const AmendOrder = {
  typeId: 7,
  bytes: 152,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  timestampNsAt: 16,
  timestampNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  timestampNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  timestampNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setTimestampNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  expectedNsAt: 24,
  expectedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 24) >>> 3] as TimestampNs,
  setExpectedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  expectedNsHigh: (v: Views, at: number): number => v.u32[(at + 28) >>> 2] as number,
  expectedNsLow: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setExpectedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 24) >>> 2] = low;
    v.u32[(at + 28) >>> 2] = high;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 32) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  userAt: 44,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 44),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 44, value);
  },
  orderIdAt: 76,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 76, v.u8[at + 140] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 140] = writeTextField(v, at + 76, 64, value);
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 140] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 140] = value;
  },
  expectsRevision: (v: Views, at: number): boolean => v.u8[at + 141] !== 0,
  setExpectsRevision: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 141] = value ? 1 : 0;
  },
  idHash: (v: Views, at: number): number => v.i32[(at + 144) >>> 2] as number,
  setIdHash: (v: Views, at: number, value: number): void => {
    v.i32[(at + 144) >>> 2] = value;
  },
  read: (v: Views, at: number): AmendOrderFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    timestampNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    expectedNs: v.u64[(at + 24) >>> 3] as TimestampNs,
    quantity: v.f64[(at + 32) >>> 3] as RawQuantity,
    marketIndex: v.u32[(at + 40) >>> 2] as number,
    user: readUser(v, at + 44),
    orderId: readText(v, at + 76, v.u8[at + 140] as number) as OrderId,
    expectsRevision: v.u8[at + 141] !== 0,
    idHash: v.i32[(at + 144) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: AmendOrderFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    v.u64[(at + 16) >>> 3] = fields.timestampNs;
    v.u64[(at + 24) >>> 3] = fields.expectedNs;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.u32[(at + 40) >>> 2] = fields.marketIndex;
    writeUser(v, at + 44, fields.user);
    v.u8[at + 140] = writeTextField(v, at + 76, 64, fields.orderId);
    v.u8[at + 141] = fields.expectsRevision ? 1 : 0;
    v.i32[(at + 144) >>> 2] = fields.idHash;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 152),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 24) >>> 3] as bigint);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.u32[(at + 40) >>> 2] as number);
    to.text(readUser(v, at + 44));
    to.text(readText(v, at + 76, v.u8[at + 140] as number));
    to.number(v.u8[at + 141] as number);
    to.number(v.i32[(at + 144) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(AmendOrder.read(v, at)),
} as const;

/** The plain form of CancelOrder. */
export interface CancelOrderFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly marketIndex: number;
  readonly hold: boolean;
  readonly end: OrderEnd;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly idHash: number;
}

/**
 * A cancel that passed the gateway; `hold`: on the control channel, where it may wait for its create. `end` is
 * the OrderEnd that it gives the order: the user's, or the node's own. `id_hash` as in a ReplaceOrder.
 */
export const CancelOrder = {
  typeId: 3,
  bytes: 128,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  hold: (v: Views, at: number): boolean => v.u8[at + 20] !== 0,
  setHold: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 20] = value ? 1 : 0;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 21] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 21] = value;
  },
  end: (v: Views, at: number): OrderEnd => v.u8[at + 22] as OrderEnd,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 22] = value;
  },
  userAt: 24,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 24),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 24, value);
  },
  orderIdAt: 56,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 56, v.u8[at + 21] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 21] = writeTextField(v, at + 56, 64, value);
  },
  idHash: (v: Views, at: number): number => v.i32[(at + 120) >>> 2] as number,
  setIdHash: (v: Views, at: number, value: number): void => {
    v.i32[(at + 120) >>> 2] = value;
  },
  read: (v: Views, at: number): CancelOrderFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 16) >>> 2] as number,
    hold: v.u8[at + 20] !== 0,
    end: v.u8[at + 22] as OrderEnd,
    user: readUser(v, at + 24),
    orderId: readText(v, at + 56, v.u8[at + 21] as number) as OrderId,
    idHash: v.i32[(at + 120) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: CancelOrderFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    v.u32[(at + 16) >>> 2] = fields.marketIndex;
    v.u8[at + 20] = fields.hold ? 1 : 0;
    v.u8[at + 22] = fields.end;
    writeUser(v, at + 24, fields.user);
    v.u8[at + 21] = writeTextField(v, at + 56, 64, fields.orderId);
    v.i32[(at + 120) >>> 2] = fields.idHash;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 128),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.u32[(at + 16) >>> 2] as number);
    to.number(v.u8[at + 20] as number);
    to.number(v.u8[at + 22] as number);
    to.text(readUser(v, at + 24));
    to.text(readText(v, at + 56, v.u8[at + 21] as number));
    to.number(v.i32[(at + 120) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(CancelOrder.read(v, at)),
} as const;

/** The plain form of CancelAllOrders. */
export interface CancelAllOrdersFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly beforeNs: TimestampNs;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly end: OrderEnd;
  readonly sideOnly: number;
  readonly protectionGroup: number;
}

/**
 * Cancels every order of a user in a market whose timestamp is below `before_ns`; 0: all of them (AMB-18). `side_only`: 1 buys, 2
 * sells, 0 both. `protection_group`: its members alone; 0: every order. It raises the high-water marks of the user's quote sets in
 * its scope to the time of the command, or to what is just below `before_ns`, and ends those that it leaves without a side (QTE-09).
 */
export const CancelAllOrders = {
  typeId: 4,
  bytes: 64,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  beforeNsAt: 16,
  beforeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setBeforeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  beforeNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  beforeNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setBeforeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  userAt: 28,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 28),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 28, value);
  },
  end: (v: Views, at: number): OrderEnd => v.u8[at + 60] as OrderEnd,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 60] = value;
  },
  sideOnly: (v: Views, at: number): number => v.u8[at + 61] as number,
  setSideOnly: (v: Views, at: number, value: number): void => {
    v.u8[at + 61] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u8[at + 62] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 62] = value;
  },
  read: (v: Views, at: number): CancelAllOrdersFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    beforeNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
    user: readUser(v, at + 28),
    end: v.u8[at + 60] as OrderEnd,
    sideOnly: v.u8[at + 61] as number,
    protectionGroup: v.u8[at + 62] as number,
  }),
  write: (v: Views, at: number, fields: CancelAllOrdersFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    v.u64[(at + 16) >>> 3] = fields.beforeNs;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
    writeUser(v, at + 28, fields.user);
    v.u8[at + 60] = fields.end;
    v.u8[at + 61] = fields.sideOnly;
    v.u8[at + 62] = fields.protectionGroup;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.u32[(at + 24) >>> 2] as number);
    to.text(readUser(v, at + 28));
    to.number(v.u8[at + 60] as number);
    to.number(v.u8[at + 61] as number);
    to.number(v.u8[at + 62] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(CancelAllOrders.read(v, at)),
} as const;

/** The plain form of QuoteSetEntry. */
export interface QuoteSetEntryFields {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
}

/** Price and size of an entry of a quote set: what shall rest. */
export const QuoteSetEntry = {
  bytes: 16,
  price: (v: Views, at: number): RawPrice => v.f64[at >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 8) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  read: (v: Views, at: number): QuoteSetEntryFields => ({
    price: v.f64[at >>> 3] as RawPrice,
    quantity: v.f64[(at + 8) >>> 3] as RawQuantity,
  }),
  write: (v: Views, at: number, fields: QuoteSetEntryFields): void => {
    v.f64[at >>> 3] = fields.price;
    v.f64[(at + 8) >>> 3] = fields.quantity;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(QuoteSetEntry.read(v, at)),
} as const;

/** The plain form of ApplyQuoteSet. */
export interface ApplyQuoteSetFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly revisionNs: TimestampNs;
  readonly goodUntilNs: TimestampNs;
  readonly boughtSeen: number;
  readonly soldSeen: number;
  readonly maxFeeRate: number;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly setId: string;
  readonly signature: Uint8Array;
  readonly subAccount: number;
  readonly flags: number;
  readonly textBytes: number;
  readonly signaturesBytes: number;
  readonly bids: number;
  readonly asks: number;
  readonly protectionGroup: number;
  readonly onlyTakes: boolean;
}

/**
 * A quote set that passed the gateway (QTE-01 to QTE-05). Tail: `bids` and then `asks` of QuoteSetEntry, each best price first; then
 * `text_bytes` of the canonical signed text and `signatures_bytes` of all signatures, as in a NewOrder.
 * 
 * The gateway fills all of it. It has checked: signature and weight, signer, shape (prices ordered, best bid below best ask), age of the
 * revision, decimals, tick, lot, minimum, fee limit, good-until, target, group; it holds what the set makes rest, or has found the
 * margin, for `bids` and `asks` as they are here. Where it refuses what the set adds (QTE-04) it sends the whole set with `only_takes`: then
 * prices that left and smaller quantities are applied, and nothing else.
 * `bought_seen` and `sold_seen`: lots of fills (`Matched`, as maker or taker) of this set that the gateway has seen since the node started,
 * as src/order/quote-lots.ts counts them; the market takes off what it has matched beyond that, farthest price first (QTE-01).
 * `flags`: postOnly, and isSpot of a spot target. `good_until_ns`: 0 for null. The slot is the market's to give.
 * 
 * The market answers with a QuoteSetApplied with the request, or with a MarketAck with a reject code, and then nothing has changed:
 * REQUEST_TOO_OLD (not above the high-water mark), TOO_MANY_QUOTES (the user has four other sets that live),
 * INVALID_ORDER (another target, while the set has entries).
 */
export const ApplyQuoteSet = {
  typeId: 8,
  bytes: 208,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  revisionNsAt: 16,
  revisionNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setRevisionNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  revisionNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  revisionNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setRevisionNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  goodUntilNsAt: 24,
  goodUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 24) >>> 3] as TimestampNs,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  goodUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 28) >>> 2] as number,
  goodUntilNsLow: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setGoodUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 24) >>> 2] = low;
    v.u32[(at + 28) >>> 2] = high;
  },
  boughtSeen: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setBoughtSeen: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  soldSeen: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setSoldSeen: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 52) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 52) >>> 2] = value;
  },
  userAt: 56,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 56),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 56, value);
  },
  setIdAt: 88,
  setIdLength: 40,
  setId: (v: Views, at: number): string => readText(v, at + 88, v.u8[at + 202] as number),
  setSetId: (v: Views, at: number, value: string): void => {
    v.u8[at + 202] = writeTextField(v, at + 88, 40, value);
  },
  signatureAt: 128,
  signatureLength: 64,
  signature: (v: Views, at: number): Uint8Array => readBytes(v, at + 128, 64),
  setSignature: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at + 128, 64, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 192) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 192) >>> 1] = value;
  },
  flags: (v: Views, at: number): number => v.u16[(at + 194) >>> 1] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u16[(at + 194) >>> 1] = value;
  },
  textBytes: (v: Views, at: number): number => v.u16[(at + 196) >>> 1] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 196) >>> 1] = value;
  },
  signaturesBytes: (v: Views, at: number): number => v.u16[(at + 198) >>> 1] as number,
  setSignaturesBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 198) >>> 1] = value;
  },
  bids: (v: Views, at: number): number => v.u8[at + 200] as number,
  setBids: (v: Views, at: number, value: number): void => {
    v.u8[at + 200] = value;
  },
  asks: (v: Views, at: number): number => v.u8[at + 201] as number,
  setAsks: (v: Views, at: number, value: number): void => {
    v.u8[at + 201] = value;
  },
  setIdBytes: (v: Views, at: number): number => v.u8[at + 202] as number,
  setSetIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 202] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u8[at + 203] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 203] = value;
  },
  onlyTakes: (v: Views, at: number): boolean => v.u8[at + 204] !== 0,
  setOnlyTakes: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 204] = value ? 1 : 0;
  },
  read: (v: Views, at: number): ApplyQuoteSetFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    revisionNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    goodUntilNs: v.u64[(at + 24) >>> 3] as TimestampNs,
    boughtSeen: v.f64[(at + 32) >>> 3] as number,
    soldSeen: v.f64[(at + 40) >>> 3] as number,
    maxFeeRate: v.u32[(at + 48) >>> 2] as number,
    marketIndex: v.u32[(at + 52) >>> 2] as number,
    user: readUser(v, at + 56),
    setId: readText(v, at + 88, v.u8[at + 202] as number),
    signature: readBytes(v, at + 128, 64),
    subAccount: v.u16[(at + 192) >>> 1] as number,
    flags: v.u16[(at + 194) >>> 1] as number,
    textBytes: v.u16[(at + 196) >>> 1] as number,
    signaturesBytes: v.u16[(at + 198) >>> 1] as number,
    bids: v.u8[at + 200] as number,
    asks: v.u8[at + 201] as number,
    protectionGroup: v.u8[at + 203] as number,
    onlyTakes: v.u8[at + 204] !== 0,
  }),
  write: (v: Views, at: number, fields: ApplyQuoteSetFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    v.u64[(at + 16) >>> 3] = fields.revisionNs;
    v.u64[(at + 24) >>> 3] = fields.goodUntilNs;
    v.f64[(at + 32) >>> 3] = fields.boughtSeen;
    v.f64[(at + 40) >>> 3] = fields.soldSeen;
    v.u32[(at + 48) >>> 2] = fields.maxFeeRate;
    v.u32[(at + 52) >>> 2] = fields.marketIndex;
    writeUser(v, at + 56, fields.user);
    v.u8[at + 202] = writeTextField(v, at + 88, 40, fields.setId);
    writeBytes(v, at + 128, 64, fields.signature);
    v.u16[(at + 192) >>> 1] = fields.subAccount;
    v.u16[(at + 194) >>> 1] = fields.flags;
    v.u16[(at + 196) >>> 1] = fields.textBytes;
    v.u16[(at + 198) >>> 1] = fields.signaturesBytes;
    v.u8[at + 200] = fields.bids;
    v.u8[at + 201] = fields.asks;
    v.u8[at + 203] = fields.protectionGroup;
    v.u8[at + 204] = fields.onlyTakes ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 208),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 24) >>> 3] as bigint);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.u32[(at + 48) >>> 2] as number);
    to.number(v.u32[(at + 52) >>> 2] as number);
    to.text(readUser(v, at + 56));
    to.text(readText(v, at + 88, v.u8[at + 202] as number));
    to.hex(v.u8.subarray(at + 128, at + 192));
    to.number(v.u16[(at + 192) >>> 1] as number);
    to.number(v.u16[(at + 194) >>> 1] as number);
    to.number(v.u16[(at + 196) >>> 1] as number);
    to.number(v.u16[(at + 198) >>> 1] as number);
    to.number(v.u8[at + 200] as number);
    to.number(v.u8[at + 201] as number);
    to.number(v.u8[at + 203] as number);
    to.number(v.u8[at + 204] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(ApplyQuoteSet.read(v, at)),
} as const;

/** The plain form of EndQuoteSet. */
export interface EndQuoteSetFields {
  readonly requestId: number;
  readonly receivedNs: TimestampNs;
  readonly beforeNs: TimestampNs;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly setId: string;
  readonly subAccount: number;
  readonly anyAccount: boolean;
  readonly end: OrderEnd;
  readonly sideOnly: number;
  readonly protectionGroup: number;
}

/**
 * Cancels what lives of quote sets of a user and raises their high-water marks to the time of the command (QTE-09): of the set with
 * this id; without an id of every set of the sub-account, or with `any_account` of the user. The bounds are those of CancelAllOrders: with
 * one of them only entries within are cancelled and no set ends, but the mark of the whole set is raised, with `before_ns` to what is
 * before it. The answer is a MarketAck behind the events; a set that is not known is ORDER_NOT_FOUND.
 */
export const EndQuoteSet = {
  typeId: 9,
  bytes: 112,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  receivedNsAt: 8,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  beforeNsAt: 16,
  beforeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setBeforeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  beforeNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  beforeNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setBeforeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  userAt: 28,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 28),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 28, value);
  },
  setIdAt: 60,
  setIdLength: 40,
  setId: (v: Views, at: number): string => readText(v, at + 60, v.u8[at + 102] as number),
  setSetId: (v: Views, at: number, value: string): void => {
    v.u8[at + 102] = writeTextField(v, at + 60, 40, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 100) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 100) >>> 1] = value;
  },
  setIdBytes: (v: Views, at: number): number => v.u8[at + 102] as number,
  setSetIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 102] = value;
  },
  anyAccount: (v: Views, at: number): boolean => v.u8[at + 103] !== 0,
  setAnyAccount: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 103] = value ? 1 : 0;
  },
  end: (v: Views, at: number): OrderEnd => v.u8[at + 104] as OrderEnd,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 104] = value;
  },
  sideOnly: (v: Views, at: number): number => v.u8[at + 105] as number,
  setSideOnly: (v: Views, at: number, value: number): void => {
    v.u8[at + 105] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u8[at + 106] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 106] = value;
  },
  read: (v: Views, at: number): EndQuoteSetFields => ({
    requestId: v.f64[at >>> 3] as number,
    receivedNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    beforeNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
    user: readUser(v, at + 28),
    setId: readText(v, at + 60, v.u8[at + 102] as number),
    subAccount: v.u16[(at + 100) >>> 1] as number,
    anyAccount: v.u8[at + 103] !== 0,
    end: v.u8[at + 104] as OrderEnd,
    sideOnly: v.u8[at + 105] as number,
    protectionGroup: v.u8[at + 106] as number,
  }),
  write: (v: Views, at: number, fields: EndQuoteSetFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.receivedNs;
    v.u64[(at + 16) >>> 3] = fields.beforeNs;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
    writeUser(v, at + 28, fields.user);
    v.u8[at + 102] = writeTextField(v, at + 60, 40, fields.setId);
    v.u16[(at + 100) >>> 1] = fields.subAccount;
    v.u8[at + 103] = fields.anyAccount ? 1 : 0;
    v.u8[at + 104] = fields.end;
    v.u8[at + 105] = fields.sideOnly;
    v.u8[at + 106] = fields.protectionGroup;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 112),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.u32[(at + 24) >>> 2] as number);
    to.text(readUser(v, at + 28));
    to.text(readText(v, at + 60, v.u8[at + 102] as number));
    to.number(v.u16[(at + 100) >>> 1] as number);
    to.number(v.u8[at + 103] as number);
    to.number(v.u8[at + 104] as number);
    to.number(v.u8[at + 105] as number);
    to.number(v.u8[at + 106] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(EndQuoteSet.read(v, at)),
} as const;

/** The plain form of ReleaseOrder. */
export interface ReleaseOrderFields {
  readonly receivedNs: TimestampNs;
  readonly order: number;
  readonly triggered: number;
  readonly quantity: number;
  readonly budget: number;
  readonly roomToTake: number;
  readonly roomToRest: number;
  readonly bound: number;
  readonly marketIndex: number;
  readonly end: OrderEnd | 0;
}

/**
 * The gateway's answer to a trigger that fired: it holds what `quantity` lots need, or the order ends with `end`, an
 * OrderEnd that is not 0 (AMB-28). `triggered` is the sequence of the OrderTriggered that it answers, 0 for what was
 * restored at boot; `budget` bounds a market order as that of a NewOrder does, and `bound` as its price; 0 for none.
 * The rooms are those of a ReplaceOrder.
 */
export const ReleaseOrder = {
  typeId: 5,
  bytes: 72,
  receivedNsAt: 0,
  receivedNs: (v: Views, at: number): TimestampNs => v.u64[at >>> 3] as TimestampNs,
  setReceivedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  receivedNsHigh: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  receivedNsLow: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setReceivedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[at >>> 2] = low;
    v.u32[(at + 4) >>> 2] = high;
  },
  order: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  triggered: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setTriggered: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  budget: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setBudget: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  roomToTake: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setRoomToTake: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  roomToRest: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setRoomToRest: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  bound: (v: Views, at: number): number => v.f64[(at + 56) >>> 3] as number,
  setBound: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 64) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 64) >>> 2] = value;
  },
  end: (v: Views, at: number): OrderEnd | 0 => v.u8[at + 68] as OrderEnd | 0,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 68] = value;
  },
  read: (v: Views, at: number): ReleaseOrderFields => ({
    receivedNs: v.u64[at >>> 3] as TimestampNs,
    order: v.f64[(at + 8) >>> 3] as number,
    triggered: v.f64[(at + 16) >>> 3] as number,
    quantity: v.f64[(at + 24) >>> 3] as number,
    budget: v.f64[(at + 32) >>> 3] as number,
    roomToTake: v.f64[(at + 40) >>> 3] as number,
    roomToRest: v.f64[(at + 48) >>> 3] as number,
    bound: v.f64[(at + 56) >>> 3] as number,
    marketIndex: v.u32[(at + 64) >>> 2] as number,
    end: v.u8[at + 68] as OrderEnd | 0,
  }),
  write: (v: Views, at: number, fields: ReleaseOrderFields): void => {
    v.u64[at >>> 3] = fields.receivedNs;
    v.f64[(at + 8) >>> 3] = fields.order;
    v.f64[(at + 16) >>> 3] = fields.triggered;
    v.f64[(at + 24) >>> 3] = fields.quantity;
    v.f64[(at + 32) >>> 3] = fields.budget;
    v.f64[(at + 40) >>> 3] = fields.roomToTake;
    v.f64[(at + 48) >>> 3] = fields.roomToRest;
    v.f64[(at + 56) >>> 3] = fields.bound;
    v.u32[(at + 64) >>> 2] = fields.marketIndex;
    v.u8[at + 68] = fields.end;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 72),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.nanoseconds(v.u64[at >>> 3] as bigint);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.f64[(at + 48) >>> 3] as number);
    to.number(v.f64[(at + 56) >>> 3] as number);
    to.number(v.u32[(at + 64) >>> 2] as number);
    to.number(v.u8[at + 68] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(ReleaseOrder.read(v, at)),
} as const;

/** The plain form of CommandNote. */
export interface CommandNoteFields {
  readonly marketIndex: number;
  readonly kind: number;
}

/**
 * Stands before commands of the same market, in the same ring. `kind` (COMMAND_NOTE): 1, the levels of what follows are
 * told together; 2, now; 3, the answer to the next command says when it was taken up.
 */
export const CommandNote = {
  typeId: 6,
  bytes: 8,
  marketIndex: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u8[at + 4] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 4] = value;
  },
  read: (v: Views, at: number): CommandNoteFields => ({
    marketIndex: v.u32[at >>> 2] as number,
    kind: v.u8[at + 4] as number,
  }),
  write: (v: Views, at: number, fields: CommandNoteFields): void => {
    v.u32[at >>> 2] = fields.marketIndex;
    v.u8[at + 4] = fields.kind;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 8),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u8[at + 4] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(CommandNote.read(v, at)),
} as const;

/** The plain form of OrderAdmitted. */
export interface OrderAdmittedFields {
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly marketIndex: number;
  readonly refusal: number;
}

/**
 * A create is accepted (`refusal` 0), or rejected with its id consumed. Tail: the NewOrder, whole, with the record as it
 * is from here on: its sequence, priority and times, and the sequence of its parent.
 */
export const OrderAdmitted = {
  typeId: 10,
  bytes: 24,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  refusal: (v: Views, at: number): number => v.u16[(at + 20) >>> 1] as number,
  setRefusal: (v: Views, at: number, value: number): void => {
    v.u16[(at + 20) >>> 1] = value;
  },
  read: (v: Views, at: number): OrderAdmittedFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 16) >>> 2] as number,
    refusal: v.u16[(at + 20) >>> 1] as number,
  }),
  write: (v: Views, at: number, fields: OrderAdmittedFields): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.u32[(at + 16) >>> 2] = fields.marketIndex;
    v.u16[(at + 20) >>> 1] = fields.refusal;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 24),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.u32[(at + 16) >>> 2] as number);
    to.number(v.u16[(at + 20) >>> 1] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderAdmitted.read(v, at)),
} as const;

/** The plain form of Matched. */
export interface MatchedFields {
  readonly kind: 'matched';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly tradeId: Sequence;
  readonly makerOrder: Sequence;
  readonly takerOrder: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly marketIndex: number;
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly takerSide: Side;
  readonly group: FillGroup;
}

export const Matched = {
  typeId: 11,
  bytes: 72,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  tradeId: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): Sequence => v.f64[(at + 24) >>> 3] as Sequence,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): Sequence => v.f64[(at + 32) >>> 3] as Sequence,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 40) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 48) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 56) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 56) >>> 2] = value;
  },
  makerFeeRate: (v: Views, at: number): number => v.i32[(at + 60) >>> 2] as number,
  setMakerFeeRate: (v: Views, at: number, value: number): void => {
    v.i32[(at + 60) >>> 2] = value;
  },
  takerFeeRate: (v: Views, at: number): number => v.i32[(at + 64) >>> 2] as number,
  setTakerFeeRate: (v: Views, at: number, value: number): void => {
    v.i32[(at + 64) >>> 2] = value;
  },
  takerSide: (v: Views, at: number): Side => v.u8[at + 68] as Side,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 68] = value;
  },
  group: (v: Views, at: number): FillGroup => v.u8[at + 69] as FillGroup,
  setGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 69] = value;
  },
  read: (v: Views, at: number): MatchedFields => ({
    kind: 'matched',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    tradeId: v.f64[(at + 16) >>> 3] as Sequence,
    makerOrder: v.f64[(at + 24) >>> 3] as Sequence,
    takerOrder: v.f64[(at + 32) >>> 3] as Sequence,
    price: v.f64[(at + 40) >>> 3] as RawPrice,
    quantity: v.f64[(at + 48) >>> 3] as RawQuantity,
    marketIndex: v.u32[(at + 56) >>> 2] as number,
    makerFeeRate: v.i32[(at + 60) >>> 2] as number,
    takerFeeRate: v.i32[(at + 64) >>> 2] as number,
    takerSide: v.u8[at + 68] as Side,
    group: v.u8[at + 69] as FillGroup,
  }),
  write: (v: Views, at: number, fields: Omit<MatchedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.tradeId;
    v.f64[(at + 24) >>> 3] = fields.makerOrder;
    v.f64[(at + 32) >>> 3] = fields.takerOrder;
    v.f64[(at + 40) >>> 3] = fields.price;
    v.f64[(at + 48) >>> 3] = fields.quantity;
    v.u32[(at + 56) >>> 2] = fields.marketIndex;
    v.i32[(at + 60) >>> 2] = fields.makerFeeRate;
    v.i32[(at + 64) >>> 2] = fields.takerFeeRate;
    v.u8[at + 68] = fields.takerSide;
    v.u8[at + 69] = fields.group;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 72),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.f64[(at + 48) >>> 3] as number);
    to.number(v.u32[(at + 56) >>> 2] as number);
    to.number(v.i32[(at + 60) >>> 2] as number);
    to.number(v.i32[(at + 64) >>> 2] as number);
    to.number(v.u8[at + 68] as number);
    to.number(v.u8[at + 69] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(Matched.read(v, at)),
} as const;

/** The plain form of OrderEnded. */
export interface OrderEndedFields {
  readonly kind: 'ended';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly order: Sequence;
  readonly remaining: number;
  readonly requestId: number;
  readonly marketIndex: number;
  readonly end: OrderEnd;
  readonly faultReason: RollbackReason;
}

export const OrderEnded = {
  typeId: 12,
  bytes: 48,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  order: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  remaining: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setRemaining: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  requestId: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  end: (v: Views, at: number): OrderEnd => v.u8[at + 44] as OrderEnd,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 44] = value;
  },
  faultReason: (v: Views, at: number): RollbackReason => v.u8[at + 45] as RollbackReason,
  setFaultReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 45] = value;
  },
  read: (v: Views, at: number): OrderEndedFields => ({
    kind: 'ended',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: v.f64[(at + 16) >>> 3] as Sequence,
    remaining: v.f64[(at + 24) >>> 3] as number,
    requestId: v.f64[(at + 32) >>> 3] as number,
    marketIndex: v.u32[(at + 40) >>> 2] as number,
    end: v.u8[at + 44] as OrderEnd,
    faultReason: v.u8[at + 45] as RollbackReason,
  }),
  write: (v: Views, at: number, fields: Omit<OrderEndedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.order;
    v.f64[(at + 24) >>> 3] = fields.remaining;
    v.f64[(at + 32) >>> 3] = fields.requestId;
    v.u32[(at + 40) >>> 2] = fields.marketIndex;
    v.u8[at + 44] = fields.end;
    v.u8[at + 45] = fields.faultReason;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.u32[(at + 40) >>> 2] as number);
    to.number(v.u8[at + 44] as number);
    to.number(v.u8[at + 45] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderEnded.read(v, at)),
} as const;

/** The plain form of OrderReplaced. */
export interface OrderReplacedFields {
  readonly kind: 'replaced';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly order: Sequence;
  readonly prioritySequence: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly timestampNs: TimestampNs;
  readonly requestId: number;
  readonly triggerPrice: RawPrice;
  readonly marketIndex: number;
  readonly triggerKind: TriggerKind;
  readonly isCut: boolean;
}

/**
 * The values now in force; the trigger while the order waits for one, else 0. `is_cut`, of an entry of a quote set: `quantity` lots
 * were taken off what rests of it, and so off its total in each receiver's own count: a fill that is undone meanwhile changes none of them.
 */
export const OrderReplaced = {
  typeId: 13,
  bytes: 80,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  order: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): Sequence => v.f64[(at + 24) >>> 3] as Sequence,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 32) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 40) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  timestampNsAt: 48,
  timestampNs: (v: Views, at: number): TimestampNs => v.u64[(at + 48) >>> 3] as TimestampNs,
  setTimestampNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 48) >>> 3] = value;
  },
  timestampNsHigh: (v: Views, at: number): number => v.u32[(at + 52) >>> 2] as number,
  timestampNsLow: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setTimestampNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 48) >>> 2] = low;
    v.u32[(at + 52) >>> 2] = high;
  },
  requestId: (v: Views, at: number): number => v.f64[(at + 56) >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 56) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): RawPrice => v.f64[(at + 64) >>> 3] as RawPrice,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 72) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 72) >>> 2] = value;
  },
  triggerKind: (v: Views, at: number): TriggerKind => v.u8[at + 76] as TriggerKind,
  setTriggerKind: (v: Views, at: number, value: number): void => {
    v.u8[at + 76] = value;
  },
  isCut: (v: Views, at: number): boolean => v.u8[at + 77] !== 0,
  setIsCut: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 77] = value ? 1 : 0;
  },
  read: (v: Views, at: number): OrderReplacedFields => ({
    kind: 'replaced',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: v.f64[(at + 16) >>> 3] as Sequence,
    prioritySequence: v.f64[(at + 24) >>> 3] as Sequence,
    price: v.f64[(at + 32) >>> 3] as RawPrice,
    quantity: v.f64[(at + 40) >>> 3] as RawQuantity,
    timestampNs: v.u64[(at + 48) >>> 3] as TimestampNs,
    requestId: v.f64[(at + 56) >>> 3] as number,
    triggerPrice: v.f64[(at + 64) >>> 3] as RawPrice,
    marketIndex: v.u32[(at + 72) >>> 2] as number,
    triggerKind: v.u8[at + 76] as TriggerKind,
    isCut: v.u8[at + 77] !== 0,
  }),
  write: (v: Views, at: number, fields: Omit<OrderReplacedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.order;
    v.f64[(at + 24) >>> 3] = fields.prioritySequence;
    v.f64[(at + 32) >>> 3] = fields.price;
    v.f64[(at + 40) >>> 3] = fields.quantity;
    v.u64[(at + 48) >>> 3] = fields.timestampNs;
    v.f64[(at + 56) >>> 3] = fields.requestId;
    v.f64[(at + 64) >>> 3] = fields.triggerPrice;
    v.u32[(at + 72) >>> 2] = fields.marketIndex;
    v.u8[at + 76] = fields.triggerKind;
    v.u8[at + 77] = fields.isCut ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 80),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 48) >>> 3] as bigint);
    to.number(v.f64[(at + 56) >>> 3] as number);
    to.number(v.f64[(at + 64) >>> 3] as number);
    to.number(v.u32[(at + 72) >>> 2] as number);
    to.number(v.u8[at + 76] as number);
    to.number(v.u8[at + 77] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderReplaced.read(v, at)),
} as const;

/** The plain form of OrderRestored. */
export interface OrderRestoredFields {
  readonly kind: 'restored';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly order: Sequence;
  readonly prioritySequence: Sequence;
  readonly quantity: number;
  readonly marketIndex: number;
}

export const OrderRestored = {
  typeId: 14,
  bytes: 48,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  order: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): Sequence => v.f64[(at + 24) >>> 3] as Sequence,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  read: (v: Views, at: number): OrderRestoredFields => ({
    kind: 'restored',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: v.f64[(at + 16) >>> 3] as Sequence,
    prioritySequence: v.f64[(at + 24) >>> 3] as Sequence,
    quantity: v.f64[(at + 32) >>> 3] as number,
    marketIndex: v.u32[(at + 40) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: Omit<OrderRestoredFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.order;
    v.f64[(at + 24) >>> 3] = fields.prioritySequence;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.u32[(at + 40) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.u32[(at + 40) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderRestored.read(v, at)),
} as const;

/** The plain form of OrderTriggered. */
export interface OrderTriggeredFields {
  readonly kind: 'triggered';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly order: Sequence;
  readonly triggerPrice: RawPrice;
  readonly quantity: number;
  readonly marketIndex: number;
}

/** A trigger fired, or a fired child may release more: `quantity` lots of it altogether, which can be 0 (AMB-29). */
export const OrderTriggered = {
  typeId: 15,
  bytes: 48,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  order: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  triggerPrice: (v: Views, at: number): RawPrice => v.f64[(at + 24) >>> 3] as RawPrice,
  setTriggerPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  read: (v: Views, at: number): OrderTriggeredFields => ({
    kind: 'triggered',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: v.f64[(at + 16) >>> 3] as Sequence,
    triggerPrice: v.f64[(at + 24) >>> 3] as RawPrice,
    quantity: v.f64[(at + 32) >>> 3] as number,
    marketIndex: v.u32[(at + 40) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: Omit<OrderTriggeredFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.order;
    v.f64[(at + 24) >>> 3] = fields.triggerPrice;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.u32[(at + 40) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.u32[(at + 40) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderTriggered.read(v, at)),
} as const;

/** The plain form of OrderActivated. */
export interface OrderActivatedFields {
  readonly kind: 'activated';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly order: Sequence;
  readonly prioritySequence: Sequence;
  readonly quantity: number;
  readonly marketIndex: number;
}

/** A released order is in the main book, or about to match: `quantity` lots of it altogether. */
export const OrderActivated = {
  typeId: 16,
  bytes: 48,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  order: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): Sequence => v.f64[(at + 24) >>> 3] as Sequence,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  read: (v: Views, at: number): OrderActivatedFields => ({
    kind: 'activated',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: v.f64[(at + 16) >>> 3] as Sequence,
    prioritySequence: v.f64[(at + 24) >>> 3] as Sequence,
    quantity: v.f64[(at + 32) >>> 3] as number,
    marketIndex: v.u32[(at + 40) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: Omit<OrderActivatedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.order;
    v.f64[(at + 24) >>> 3] = fields.prioritySequence;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.u32[(at + 40) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.u32[(at + 40) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderActivated.read(v, at)),
} as const;

/** The plain form of OrderCancelPending. */
export interface OrderCancelPendingFields {
  readonly kind: 'cancelPending';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly order: Sequence;
  readonly marketIndex: number;
}

/** A cancel came while all of the order was pending: it never comes back (AMB-23). */
export const OrderCancelPending = {
  typeId: 17,
  bytes: 32,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  order: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  read: (v: Views, at: number): OrderCancelPendingFields => ({
    kind: 'cancelPending',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    order: v.f64[(at + 16) >>> 3] as Sequence,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: Omit<OrderCancelPendingFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.order;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 32),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.u32[(at + 24) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderCancelPending.read(v, at)),
} as const;

/** The plain form of TradeIdsReserved. */
export interface TradeIdsReservedFields {
  readonly kind: 'tradeIdsReserved';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly firstTradeId: Sequence;
  readonly count: number;
  readonly marketIndex: number;
}

/**
 * Trade ids that the market gives away, for trades that are not matched in its book (auto-deleveraging): `count` of them from
 * `first_trade_id` on. Its next match has a later one.
 */
export const TradeIdsReserved = {
  typeId: 18,
  bytes: 40,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  firstTradeId: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setFirstTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  count: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setCount: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 32) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 32) >>> 2] = value;
  },
  read: (v: Views, at: number): TradeIdsReservedFields => ({
    kind: 'tradeIdsReserved',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    firstTradeId: v.f64[(at + 16) >>> 3] as Sequence,
    count: v.f64[(at + 24) >>> 3] as number,
    marketIndex: v.u32[(at + 32) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: Omit<TradeIdsReservedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.firstTradeId;
    v.f64[(at + 24) >>> 3] = fields.count;
    v.u32[(at + 32) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 40),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.u32[(at + 32) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(TradeIdsReserved.read(v, at)),
} as const;

/** The plain form of QuoteSetChange. */
export interface QuoteSetChangeFields {
  readonly order: Sequence | 0;
  readonly prioritySequence: Sequence | 0;
  readonly price: RawPrice;
  readonly rests: number;
  readonly number: number;
  readonly change: QuoteChangeKind;
  readonly side: Side;
}

/**
 * One thing that a quote set did to an entry, by `change` (QUOTE_CHANGE):
 *   1 created    `order` is its sequence, `number` the number in its id `<set_id>:<number>`; `rests` lots at `price`
 *   2 resized    `rests` lots from here on; its place in the queue is `priority_sequence`, which has changed if it rests more
 *   3 left       it ended, as its price left the set or none of it may rest: `rests` lots of it were cancelled (Canceled, UserRequested)
 *   4 refused    no order: it would cross (PostOnlyWouldCross)
 *   5 out        an order of the set that was filled and is not in it any more, some fills undecided: it never comes back
 *   6 kept       it is as it was, `rests` lots, and some of its fills are undecided
 * The total of an entry that is resized or kept is what of it is filled and `rests`, in each receiver's own count of its fills.
 */
export const QuoteSetChange = {
  bytes: 48,
  order: (v: Views, at: number): Sequence | 0 => v.f64[at >>> 3] as Sequence | 0,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  prioritySequence: (v: Views, at: number): Sequence | 0 => v.f64[(at + 8) >>> 3] as Sequence | 0,
  setPrioritySequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 16) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  rests: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setRests: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  number: (v: Views, at: number): number => v.f64[(at + 32) >>> 3] as number,
  setNumber: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  change: (v: Views, at: number): QuoteChangeKind => v.u8[at + 40] as QuoteChangeKind,
  setChange: (v: Views, at: number, value: number): void => {
    v.u8[at + 40] = value;
  },
  side: (v: Views, at: number): Side => v.u8[at + 41] as Side,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 41] = value;
  },
  read: (v: Views, at: number): QuoteSetChangeFields => ({
    order: v.f64[at >>> 3] as Sequence | 0,
    prioritySequence: v.f64[(at + 8) >>> 3] as Sequence | 0,
    price: v.f64[(at + 16) >>> 3] as RawPrice,
    rests: v.f64[(at + 24) >>> 3] as number,
    number: v.f64[(at + 32) >>> 3] as number,
    change: v.u8[at + 40] as QuoteChangeKind,
    side: v.u8[at + 41] as Side,
  }),
  write: (v: Views, at: number, fields: QuoteSetChangeFields): void => {
    v.f64[at >>> 3] = fields.order;
    v.f64[(at + 8) >>> 3] = fields.prioritySequence;
    v.f64[(at + 16) >>> 3] = fields.price;
    v.f64[(at + 24) >>> 3] = fields.rests;
    v.f64[(at + 32) >>> 3] = fields.number;
    v.u8[at + 40] = fields.change;
    v.u8[at + 41] = fields.side;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.u8[at + 40] as number);
    to.number(v.u8[at + 41] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(QuoteSetChange.read(v, at)),
} as const;

/** The plain form of QuoteSetApplied. */
export interface QuoteSetAppliedFields {
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly requestId: number;
  readonly revisionNs: TimestampNs;
  readonly goodUntilNs: TimestampNs;
  readonly lastTradeId: Sequence;
  /** The largest number of an entry's id so far. */
  readonly lastNumber: number;
  /** Of sets of this user that the market has forgotten: their largest mark and number. */
  readonly markFloorNs: TimestampNs;
  readonly numberFloor: number;
  readonly sequences: number;
  readonly maxFeeRate: number;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly setId: string;
  readonly signature: Uint8Array;
  readonly subAccount: number;
  readonly flags: number;
  readonly textBytes: number;
  readonly signaturesBytes: number;
  readonly changes: number;
  readonly kept: number;
  readonly addCode: number;
  readonly slot: number;
  readonly protectionGroup: number;
  readonly termsChanged: boolean;
  readonly isOver: boolean;
}

/**
 * A quote set is in force: the only event of all that it did to its entries, in one step, and the answer to its request. It takes
 * `sequences` numbers of the market from `sequence` on, which is the name of this revision: its created orders have the others.
 * Tail: `changes` of QuoteSetChange; to clearing then the signed text and the signatures; to the gateway neither.
 * 
 * `last_trade_id`: trades up to it are of revisions before. One that is rolled back lowers what is filled of its entry and its total alike,
 * and restores nothing (QTE-07). `add_code`: why what the set adds was not applied (MARKET_HALTED, MMP_FROZEN, INVALID_ORDER for a
 * level or a market that is full); 0: all of it was, or the gateway left it out. `terms_changed`: fee limit, good-until or group of the entries that
 * were kept are from here on those of this message. `is_over`: nothing of the set lives, it was empty.
 */
export const QuoteSetApplied = {
  typeId: 19,
  bytes: 240,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  requestId: (v: Views, at: number): number => v.f64[(at + 16) >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  revisionNsAt: 24,
  revisionNs: (v: Views, at: number): TimestampNs => v.u64[(at + 24) >>> 3] as TimestampNs,
  setRevisionNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  revisionNsHigh: (v: Views, at: number): number => v.u32[(at + 28) >>> 2] as number,
  revisionNsLow: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setRevisionNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 24) >>> 2] = low;
    v.u32[(at + 28) >>> 2] = high;
  },
  goodUntilNsAt: 32,
  goodUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 32) >>> 3] as TimestampNs,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 32) >>> 3] = value;
  },
  goodUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 36) >>> 2] as number,
  goodUntilNsLow: (v: Views, at: number): number => v.u32[(at + 32) >>> 2] as number,
  setGoodUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 32) >>> 2] = low;
    v.u32[(at + 36) >>> 2] = high;
  },
  lastTradeId: (v: Views, at: number): Sequence => v.f64[(at + 40) >>> 3] as Sequence,
  setLastTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  lastNumber: (v: Views, at: number): number => v.f64[(at + 48) >>> 3] as number,
  setLastNumber: (v: Views, at: number, value: number): void => {
    v.f64[(at + 48) >>> 3] = value;
  },
  markFloorNsAt: 56,
  markFloorNs: (v: Views, at: number): TimestampNs => v.u64[(at + 56) >>> 3] as TimestampNs,
  setMarkFloorNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 56) >>> 3] = value;
  },
  markFloorNsHigh: (v: Views, at: number): number => v.u32[(at + 60) >>> 2] as number,
  markFloorNsLow: (v: Views, at: number): number => v.u32[(at + 56) >>> 2] as number,
  setMarkFloorNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 56) >>> 2] = low;
    v.u32[(at + 60) >>> 2] = high;
  },
  numberFloor: (v: Views, at: number): number => v.f64[(at + 64) >>> 3] as number,
  setNumberFloor: (v: Views, at: number, value: number): void => {
    v.f64[(at + 64) >>> 3] = value;
  },
  sequences: (v: Views, at: number): number => v.u32[(at + 72) >>> 2] as number,
  setSequences: (v: Views, at: number, value: number): void => {
    v.u32[(at + 72) >>> 2] = value;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 76) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 76) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 80) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 80) >>> 2] = value;
  },
  userAt: 84,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 84),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 84, value);
  },
  setIdAt: 116,
  setIdLength: 40,
  setId: (v: Views, at: number): string => readText(v, at + 116, v.u8[at + 234] as number),
  setSetId: (v: Views, at: number, value: string): void => {
    v.u8[at + 234] = writeTextField(v, at + 116, 40, value);
  },
  signatureAt: 156,
  signatureLength: 64,
  signature: (v: Views, at: number): Uint8Array => readBytes(v, at + 156, 64),
  setSignature: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at + 156, 64, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 220) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 220) >>> 1] = value;
  },
  flags: (v: Views, at: number): number => v.u16[(at + 222) >>> 1] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u16[(at + 222) >>> 1] = value;
  },
  textBytes: (v: Views, at: number): number => v.u16[(at + 224) >>> 1] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 224) >>> 1] = value;
  },
  signaturesBytes: (v: Views, at: number): number => v.u16[(at + 226) >>> 1] as number,
  setSignaturesBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 226) >>> 1] = value;
  },
  changes: (v: Views, at: number): number => v.u16[(at + 228) >>> 1] as number,
  setChanges: (v: Views, at: number, value: number): void => {
    v.u16[(at + 228) >>> 1] = value;
  },
  kept: (v: Views, at: number): number => v.u16[(at + 230) >>> 1] as number,
  setKept: (v: Views, at: number, value: number): void => {
    v.u16[(at + 230) >>> 1] = value;
  },
  addCode: (v: Views, at: number): number => v.u16[(at + 232) >>> 1] as number,
  setAddCode: (v: Views, at: number, value: number): void => {
    v.u16[(at + 232) >>> 1] = value;
  },
  setIdBytes: (v: Views, at: number): number => v.u8[at + 234] as number,
  setSetIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 234] = value;
  },
  slot: (v: Views, at: number): number => v.u8[at + 235] as number,
  setSlot: (v: Views, at: number, value: number): void => {
    v.u8[at + 235] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u8[at + 236] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 236] = value;
  },
  termsChanged: (v: Views, at: number): boolean => v.u8[at + 237] !== 0,
  setTermsChanged: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 237] = value ? 1 : 0;
  },
  isOver: (v: Views, at: number): boolean => v.u8[at + 238] !== 0,
  setIsOver: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 238] = value ? 1 : 0;
  },
  read: (v: Views, at: number): QuoteSetAppliedFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    requestId: v.f64[(at + 16) >>> 3] as number,
    revisionNs: v.u64[(at + 24) >>> 3] as TimestampNs,
    goodUntilNs: v.u64[(at + 32) >>> 3] as TimestampNs,
    lastTradeId: v.f64[(at + 40) >>> 3] as Sequence,
    lastNumber: v.f64[(at + 48) >>> 3] as number,
    markFloorNs: v.u64[(at + 56) >>> 3] as TimestampNs,
    numberFloor: v.f64[(at + 64) >>> 3] as number,
    sequences: v.u32[(at + 72) >>> 2] as number,
    maxFeeRate: v.u32[(at + 76) >>> 2] as number,
    marketIndex: v.u32[(at + 80) >>> 2] as number,
    user: readUser(v, at + 84),
    setId: readText(v, at + 116, v.u8[at + 234] as number),
    signature: readBytes(v, at + 156, 64),
    subAccount: v.u16[(at + 220) >>> 1] as number,
    flags: v.u16[(at + 222) >>> 1] as number,
    textBytes: v.u16[(at + 224) >>> 1] as number,
    signaturesBytes: v.u16[(at + 226) >>> 1] as number,
    changes: v.u16[(at + 228) >>> 1] as number,
    kept: v.u16[(at + 230) >>> 1] as number,
    addCode: v.u16[(at + 232) >>> 1] as number,
    slot: v.u8[at + 235] as number,
    protectionGroup: v.u8[at + 236] as number,
    termsChanged: v.u8[at + 237] !== 0,
    isOver: v.u8[at + 238] !== 0,
  }),
  write: (v: Views, at: number, fields: QuoteSetAppliedFields): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.requestId;
    v.u64[(at + 24) >>> 3] = fields.revisionNs;
    v.u64[(at + 32) >>> 3] = fields.goodUntilNs;
    v.f64[(at + 40) >>> 3] = fields.lastTradeId;
    v.f64[(at + 48) >>> 3] = fields.lastNumber;
    v.u64[(at + 56) >>> 3] = fields.markFloorNs;
    v.f64[(at + 64) >>> 3] = fields.numberFloor;
    v.u32[(at + 72) >>> 2] = fields.sequences;
    v.u32[(at + 76) >>> 2] = fields.maxFeeRate;
    v.u32[(at + 80) >>> 2] = fields.marketIndex;
    writeUser(v, at + 84, fields.user);
    v.u8[at + 234] = writeTextField(v, at + 116, 40, fields.setId);
    writeBytes(v, at + 156, 64, fields.signature);
    v.u16[(at + 220) >>> 1] = fields.subAccount;
    v.u16[(at + 222) >>> 1] = fields.flags;
    v.u16[(at + 224) >>> 1] = fields.textBytes;
    v.u16[(at + 226) >>> 1] = fields.signaturesBytes;
    v.u16[(at + 228) >>> 1] = fields.changes;
    v.u16[(at + 230) >>> 1] = fields.kept;
    v.u16[(at + 232) >>> 1] = fields.addCode;
    v.u8[at + 235] = fields.slot;
    v.u8[at + 236] = fields.protectionGroup;
    v.u8[at + 237] = fields.termsChanged ? 1 : 0;
    v.u8[at + 238] = fields.isOver ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 240),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 24) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 32) >>> 3] as bigint);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.f64[(at + 48) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 56) >>> 3] as bigint);
    to.number(v.f64[(at + 64) >>> 3] as number);
    to.number(v.u32[(at + 72) >>> 2] as number);
    to.number(v.u32[(at + 76) >>> 2] as number);
    to.number(v.u32[(at + 80) >>> 2] as number);
    to.text(readUser(v, at + 84));
    to.text(readText(v, at + 116, v.u8[at + 234] as number));
    to.hex(v.u8.subarray(at + 156, at + 220));
    to.number(v.u16[(at + 220) >>> 1] as number);
    to.number(v.u16[(at + 222) >>> 1] as number);
    to.number(v.u16[(at + 224) >>> 1] as number);
    to.number(v.u16[(at + 226) >>> 1] as number);
    to.number(v.u16[(at + 228) >>> 1] as number);
    to.number(v.u16[(at + 230) >>> 1] as number);
    to.number(v.u16[(at + 232) >>> 1] as number);
    to.number(v.u8[at + 235] as number);
    to.number(v.u8[at + 236] as number);
    to.number(v.u8[at + 237] as number);
    to.number(v.u8[at + 238] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(QuoteSetApplied.read(v, at)),
} as const;

/** The plain form of QuoteSetEnded. */
export interface QuoteSetEndedFields {
  readonly kind: 'quoteSetEnded';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly markNs: TimestampNs;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly slot: number;
  readonly end: OrderEnd | 0;
}

/**
 * The high-water mark of a quote set was raised: no revision up to `mark_ns` is applied any more. `end`: how the set ended, whose entries
 * ended before with events of their own; 0: it has not.
 */
export const QuoteSetEnded = {
  typeId: 22,
  bytes: 64,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  markNsAt: 16,
  markNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setMarkNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  markNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  markNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarkNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  userAt: 28,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 28),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 28, value);
  },
  slot: (v: Views, at: number): number => v.u8[at + 60] as number,
  setSlot: (v: Views, at: number, value: number): void => {
    v.u8[at + 60] = value;
  },
  end: (v: Views, at: number): OrderEnd | 0 => v.u8[at + 61] as OrderEnd | 0,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 61] = value;
  },
  read: (v: Views, at: number): QuoteSetEndedFields => ({
    kind: 'quoteSetEnded',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    markNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
    user: readUser(v, at + 28),
    slot: v.u8[at + 60] as number,
    end: v.u8[at + 61] as OrderEnd | 0,
  }),
  write: (v: Views, at: number, fields: Omit<QuoteSetEndedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.u64[(at + 16) >>> 3] = fields.markNs;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
    writeUser(v, at + 28, fields.user);
    v.u8[at + 60] = fields.slot;
    v.u8[at + 61] = fields.end;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.u32[(at + 24) >>> 2] as number);
    to.text(readUser(v, at + 28));
    to.number(v.u8[at + 60] as number);
    to.number(v.u8[at + 61] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(QuoteSetEnded.read(v, at)),
} as const;

/** The plain form of ProtectionTriggered. */
export interface ProtectionTriggeredFields {
  readonly kind: 'protectionTriggered';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly frozenUntilNs: TimestampNs;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly slot: number;
  readonly limit: ProtectionLimit;
}

/**
 * A fill, the last event of the market before this, took a group of orders to a limit (MMP-03): its members are off the book from here
 * on, and end behind the fills of the same taker. `sequence` names the trip; `frozen_until_ns` is 0 where only a reset ends the freeze.
 */
export const ProtectionTriggered = {
  typeId: 23,
  bytes: 64,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  frozenUntilNsAt: 16,
  frozenUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setFrozenUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  frozenUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  frozenUntilNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setFrozenUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  userAt: 28,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 28),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 28, value);
  },
  slot: (v: Views, at: number): number => v.u8[at + 60] as number,
  setSlot: (v: Views, at: number, value: number): void => {
    v.u8[at + 60] = value;
  },
  limit: (v: Views, at: number): ProtectionLimit => v.u8[at + 61] as ProtectionLimit,
  setLimit: (v: Views, at: number, value: number): void => {
    v.u8[at + 61] = value;
  },
  read: (v: Views, at: number): ProtectionTriggeredFields => ({
    kind: 'protectionTriggered',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    frozenUntilNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
    user: readUser(v, at + 28),
    slot: v.u8[at + 60] as number,
    limit: v.u8[at + 61] as ProtectionLimit,
  }),
  write: (v: Views, at: number, fields: Omit<ProtectionTriggeredFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.u64[(at + 16) >>> 3] = fields.frozenUntilNs;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
    writeUser(v, at + 28, fields.user);
    v.u8[at + 60] = fields.slot;
    v.u8[at + 61] = fields.limit;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.u32[(at + 24) >>> 2] as number);
    to.text(readUser(v, at + 28));
    to.number(v.u8[at + 60] as number);
    to.number(v.u8[at + 61] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(ProtectionTriggered.read(v, at)),
} as const;

/** The plain form of ProtectionEnded. */
export interface ProtectionEndedFields {
  readonly kind: 'protectionEnded';
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly trip: Sequence;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly slot: number;
}

/** Fills that were rolled back took a frozen group below its limits: the freeze of this trip is over. */
export const ProtectionEnded = {
  typeId: 24,
  bytes: 64,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  trip: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setTrip: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  userAt: 28,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 28),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 28, value);
  },
  slot: (v: Views, at: number): number => v.u8[at + 60] as number,
  setSlot: (v: Views, at: number, value: number): void => {
    v.u8[at + 60] = value;
  },
  read: (v: Views, at: number): ProtectionEndedFields => ({
    kind: 'protectionEnded',
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    trip: v.f64[(at + 16) >>> 3] as Sequence,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
    user: readUser(v, at + 28),
    slot: v.u8[at + 60] as number,
  }),
  write: (v: Views, at: number, fields: Omit<ProtectionEndedFields, 'kind'>): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.f64[(at + 16) >>> 3] = fields.trip;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
    writeUser(v, at + 28, fields.user);
    v.u8[at + 60] = fields.slot;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.u32[(at + 24) >>> 2] as number);
    to.text(readUser(v, at + 28));
    to.number(v.u8[at + 60] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(ProtectionEnded.read(v, at)),
} as const;

/** The plain form of MarketAck. */
export interface MarketAckFields {
  readonly requestId: number;
  readonly order: Sequence | 0;
  readonly sequence: Sequence | 0;
  readonly timeNs: TimestampNs;
  readonly takenNs: TimestampNs;
  readonly marketIndex: number;
  readonly rejectCode: number;
  readonly isAdmission: boolean;
}

/**
 * The market's answer to a request. `order` is 0 when there is none (refused, or a parked cancel). `is_admission`: the
 * request was a create and `order` is the order's name from now on, also when a crossing post-only was refused.
 * `taken_ns`: when the market took the request up, if a note asked for that, else 0.
 */
export const MarketAck = {
  typeId: 20,
  bytes: 48,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  order: (v: Views, at: number): Sequence | 0 => v.f64[(at + 8) >>> 3] as Sequence | 0,
  setOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  sequence: (v: Views, at: number): Sequence | 0 => v.f64[(at + 16) >>> 3] as Sequence | 0,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  timeNsAt: 24,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 24) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 28) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 24) >>> 2] = low;
    v.u32[(at + 28) >>> 2] = high;
  },
  takenNsAt: 32,
  takenNs: (v: Views, at: number): TimestampNs => v.u64[(at + 32) >>> 3] as TimestampNs,
  setTakenNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 32) >>> 3] = value;
  },
  takenNsHigh: (v: Views, at: number): number => v.u32[(at + 36) >>> 2] as number,
  takenNsLow: (v: Views, at: number): number => v.u32[(at + 32) >>> 2] as number,
  setTakenNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 32) >>> 2] = low;
    v.u32[(at + 36) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 40) >>> 2] = value;
  },
  rejectCode: (v: Views, at: number): number => v.u16[(at + 44) >>> 1] as number,
  setRejectCode: (v: Views, at: number, value: number): void => {
    v.u16[(at + 44) >>> 1] = value;
  },
  isAdmission: (v: Views, at: number): boolean => v.u8[at + 46] !== 0,
  setIsAdmission: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 46] = value ? 1 : 0;
  },
  read: (v: Views, at: number): MarketAckFields => ({
    requestId: v.f64[at >>> 3] as number,
    order: v.f64[(at + 8) >>> 3] as Sequence | 0,
    sequence: v.f64[(at + 16) >>> 3] as Sequence | 0,
    timeNs: v.u64[(at + 24) >>> 3] as TimestampNs,
    takenNs: v.u64[(at + 32) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 40) >>> 2] as number,
    rejectCode: v.u16[(at + 44) >>> 1] as number,
    isAdmission: v.u8[at + 46] !== 0,
  }),
  write: (v: Views, at: number, fields: MarketAckFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.f64[(at + 8) >>> 3] = fields.order;
    v.f64[(at + 16) >>> 3] = fields.sequence;
    v.u64[(at + 24) >>> 3] = fields.timeNs;
    v.u64[(at + 32) >>> 3] = fields.takenNs;
    v.u32[(at + 40) >>> 2] = fields.marketIndex;
    v.u16[(at + 44) >>> 1] = fields.rejectCode;
    v.u8[at + 46] = fields.isAdmission ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 24) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 32) >>> 3] as bigint);
    to.number(v.u32[(at + 40) >>> 2] as number);
    to.number(v.u16[(at + 44) >>> 1] as number);
    to.number(v.u8[at + 46] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(MarketAck.read(v, at)),
} as const;

/** The plain form of RequestTaken. */
export interface RequestTakenFields {
  readonly requestId: number;
  readonly takenNs: TimestampNs;
}

/**
 * When the market took up a request that another event than MarketAck answers, if a note asked for that. Comes before the event.
 */
export const RequestTaken = {
  typeId: 25,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  takenNsAt: 8,
  takenNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTakenNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  takenNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  takenNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTakenNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  read: (v: Views, at: number): RequestTakenFields => ({
    requestId: v.f64[at >>> 3] as number,
    takenNs: v.u64[(at + 8) >>> 3] as TimestampNs,
  }),
  write: (v: Views, at: number, fields: RequestTakenFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.takenNs;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(RequestTaken.read(v, at)),
} as const;

/** The plain form of ParkedCancelExpired. */
export interface ParkedCancelExpiredFields {
  readonly timeNs: TimestampNs;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly orderId: OrderId;
}

/**
 * A parked cancel has expired: its create did not arrive (AMB-25).
 * User and id are written by words: they begin at multiples of 4.
 */
export const ParkedCancelExpired = {
  typeId: 21,
  bytes: 112,
  timeNsAt: 0,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[at >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[at >>> 2] = low;
    v.u32[(at + 4) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  userAt: 12,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 12),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 12, value);
  },
  orderIdAt: 44,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 44, v.u8[at + 108] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 108] = writeTextField(v, at + 44, 64, value);
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 108] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 108] = value;
  },
  read: (v: Views, at: number): ParkedCancelExpiredFields => ({
    timeNs: v.u64[at >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 8) >>> 2] as number,
    user: readUser(v, at + 12),
    orderId: readText(v, at + 44, v.u8[at + 108] as number) as OrderId,
  }),
  write: (v: Views, at: number, fields: ParkedCancelExpiredFields): void => {
    v.u64[at >>> 3] = fields.timeNs;
    v.u32[(at + 8) >>> 2] = fields.marketIndex;
    writeUser(v, at + 12, fields.user);
    v.u8[at + 108] = writeTextField(v, at + 44, 64, fields.orderId);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 112),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.nanoseconds(v.u64[at >>> 3] as bigint);
    to.number(v.u32[(at + 8) >>> 2] as number);
    to.text(readUser(v, at + 12));
    to.text(readText(v, at + 44, v.u8[at + 108] as number));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(ParkedCancelExpired.read(v, at)),
} as const;

/** The plain form of LevelChanged. */
export interface LevelChangedFields {
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly marketIndex: number;
  readonly side: Side;
}

/** Absolute quantity of one level; 0 removes it. */
export const LevelChanged = {
  typeId: 30,
  bytes: 24,
  price: (v: Views, at: number): RawPrice => v.f64[at >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 8) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  side: (v: Views, at: number): Side => v.u8[at + 20] as Side,
  setSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 20] = value;
  },
  read: (v: Views, at: number): LevelChangedFields => ({
    price: v.f64[at >>> 3] as RawPrice,
    quantity: v.f64[(at + 8) >>> 3] as RawQuantity,
    marketIndex: v.u32[(at + 16) >>> 2] as number,
    side: v.u8[at + 20] as Side,
  }),
  write: (v: Views, at: number, fields: LevelChangedFields): void => {
    v.f64[at >>> 3] = fields.price;
    v.f64[(at + 8) >>> 3] = fields.quantity;
    v.u32[(at + 16) >>> 2] = fields.marketIndex;
    v.u8[at + 20] = fields.side;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 24),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.u32[(at + 16) >>> 2] as number);
    to.number(v.u8[at + 20] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(LevelChanged.read(v, at)),
} as const;

/** The plain form of DepthCommitted. */
export interface DepthCommittedFields {
  readonly commits: number;
  readonly timeNs: TimestampNs;
  readonly marketIndex: number;
}

/** All level changes of one command have been sent. `commits` counts commands that changed the market, contiguous. */
export const DepthCommitted = {
  typeId: 31,
  bytes: 24,
  commits: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setCommits: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  read: (v: Views, at: number): DepthCommittedFields => ({
    commits: v.f64[at >>> 3] as number,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 16) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: DepthCommittedFields): void => {
    v.f64[at >>> 3] = fields.commits;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.u32[(at + 16) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 24),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.u32[(at + 16) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(DepthCommitted.read(v, at)),
} as const;

/** The plain form of DepthReset. */
export interface DepthResetFields {
  readonly sequence: Sequence;
  readonly marketIndex: number;
}

/** What follows up to the next DepthCommitted is the whole book. */
export const DepthReset = {
  typeId: 32,
  bytes: 16,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  read: (v: Views, at: number): DepthResetFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
    marketIndex: v.u32[(at + 8) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: DepthResetFields): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u32[(at + 8) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(DepthReset.read(v, at)),
} as const;

/** The plain form of FillConfirmed. */
export interface FillConfirmedFields {
  readonly tradeId: Sequence;
  readonly makerOrder: Sequence;
  readonly takerOrder: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly matchedNs: TimestampNs;
  readonly makerFee: Amount18;
  readonly takerFee: Amount18;
  readonly marketIndex: number;
  readonly takerSide: Side;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
}

export const FillConfirmed = {
  typeId: 40,
  bytes: 88,
  tradeId: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 24) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 32) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  matchedNsAt: 40,
  matchedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 40) >>> 3] as TimestampNs,
  setMatchedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 40) >>> 3] = value;
  },
  matchedNsHigh: (v: Views, at: number): number => v.u32[(at + 44) >>> 2] as number,
  matchedNsLow: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMatchedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 40) >>> 2] = low;
    v.u32[(at + 44) >>> 2] = high;
  },
  makerFeeAt: 48,
  makerFee: (v: Views, at: number): Amount18 => readInt128(v, at + 48) as Amount18,
  setMakerFee: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 48, value);
  },
  takerFeeAt: 64,
  takerFee: (v: Views, at: number): Amount18 => readInt128(v, at + 64) as Amount18,
  setTakerFee: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 64, value);
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 80) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 80) >>> 2] = value;
  },
  takerSide: (v: Views, at: number): Side => v.u8[at + 84] as Side,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 84] = value;
  },
  isLiquidation: (v: Views, at: number): boolean => v.u8[at + 85] !== 0,
  setIsLiquidation: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 85] = value ? 1 : 0;
  },
  isAutoDeleverage: (v: Views, at: number): boolean => v.u8[at + 86] !== 0,
  setIsAutoDeleverage: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 86] = value ? 1 : 0;
  },
  read: (v: Views, at: number): FillConfirmedFields => ({
    tradeId: v.f64[at >>> 3] as Sequence,
    makerOrder: v.f64[(at + 8) >>> 3] as Sequence,
    takerOrder: v.f64[(at + 16) >>> 3] as Sequence,
    price: v.f64[(at + 24) >>> 3] as RawPrice,
    quantity: v.f64[(at + 32) >>> 3] as RawQuantity,
    matchedNs: v.u64[(at + 40) >>> 3] as TimestampNs,
    makerFee: readInt128(v, at + 48) as Amount18,
    takerFee: readInt128(v, at + 64) as Amount18,
    marketIndex: v.u32[(at + 80) >>> 2] as number,
    takerSide: v.u8[at + 84] as Side,
    isLiquidation: v.u8[at + 85] !== 0,
    isAutoDeleverage: v.u8[at + 86] !== 0,
  }),
  write: (v: Views, at: number, fields: FillConfirmedFields): void => {
    v.f64[at >>> 3] = fields.tradeId;
    v.f64[(at + 8) >>> 3] = fields.makerOrder;
    v.f64[(at + 16) >>> 3] = fields.takerOrder;
    v.f64[(at + 24) >>> 3] = fields.price;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.u64[(at + 40) >>> 3] = fields.matchedNs;
    writeInt128(v, at + 48, fields.makerFee);
    writeInt128(v, at + 64, fields.takerFee);
    v.u32[(at + 80) >>> 2] = fields.marketIndex;
    v.u8[at + 84] = fields.takerSide;
    v.u8[at + 85] = fields.isLiquidation ? 1 : 0;
    v.u8[at + 86] = fields.isAutoDeleverage ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 88),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 40) >>> 3] as bigint);
    to.amount(readInt128(v, at + 48));
    to.amount(readInt128(v, at + 64));
    to.number(v.u32[(at + 80) >>> 2] as number);
    to.number(v.u8[at + 84] as number);
    to.number(v.u8[at + 85] as number);
    to.number(v.u8[at + 86] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(FillConfirmed.read(v, at)),
} as const;

/** The plain form of FillRolledBack. */
export interface FillRolledBackFields {
  readonly tradeId: Sequence;
  readonly makerOrder: Sequence;
  readonly takerOrder: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly matchedNs: TimestampNs;
  readonly marketIndex: number;
  readonly makerReason: RollbackReason;
  readonly takerReason: RollbackReason;
  readonly takerSide: Side;
}

export const FillRolledBack = {
  typeId: 41,
  bytes: 56,
  tradeId: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 24) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 32) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  matchedNsAt: 40,
  matchedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 40) >>> 3] as TimestampNs,
  setMatchedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 40) >>> 3] = value;
  },
  matchedNsHigh: (v: Views, at: number): number => v.u32[(at + 44) >>> 2] as number,
  matchedNsLow: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setMatchedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 40) >>> 2] = low;
    v.u32[(at + 44) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  makerReason: (v: Views, at: number): RollbackReason => v.u8[at + 52] as RollbackReason,
  setMakerReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 52] = value;
  },
  takerReason: (v: Views, at: number): RollbackReason => v.u8[at + 53] as RollbackReason,
  setTakerReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 53] = value;
  },
  takerSide: (v: Views, at: number): Side => v.u8[at + 54] as Side,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 54] = value;
  },
  read: (v: Views, at: number): FillRolledBackFields => ({
    tradeId: v.f64[at >>> 3] as Sequence,
    makerOrder: v.f64[(at + 8) >>> 3] as Sequence,
    takerOrder: v.f64[(at + 16) >>> 3] as Sequence,
    price: v.f64[(at + 24) >>> 3] as RawPrice,
    quantity: v.f64[(at + 32) >>> 3] as RawQuantity,
    matchedNs: v.u64[(at + 40) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 48) >>> 2] as number,
    makerReason: v.u8[at + 52] as RollbackReason,
    takerReason: v.u8[at + 53] as RollbackReason,
    takerSide: v.u8[at + 54] as Side,
  }),
  write: (v: Views, at: number, fields: FillRolledBackFields): void => {
    v.f64[at >>> 3] = fields.tradeId;
    v.f64[(at + 8) >>> 3] = fields.makerOrder;
    v.f64[(at + 16) >>> 3] = fields.takerOrder;
    v.f64[(at + 24) >>> 3] = fields.price;
    v.f64[(at + 32) >>> 3] = fields.quantity;
    v.u64[(at + 40) >>> 3] = fields.matchedNs;
    v.u32[(at + 48) >>> 2] = fields.marketIndex;
    v.u8[at + 52] = fields.makerReason;
    v.u8[at + 53] = fields.takerReason;
    v.u8[at + 54] = fields.takerSide;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 56),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 40) >>> 3] as bigint);
    to.number(v.u32[(at + 48) >>> 2] as number);
    to.number(v.u8[at + 52] as number);
    to.number(v.u8[at + 53] as number);
    to.number(v.u8[at + 54] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(FillRolledBack.read(v, at)),
} as const;

/** The plain form of MarketDecided. */
export interface MarketDecidedFields {
  readonly tradeId: Sequence;
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly marketIndex: number;
}

/** Everything of this market up to these numbers is decided and flushed. */
export const MarketDecided = {
  typeId: 42,
  bytes: 32,
  tradeId: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  sequence: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  timeNsAt: 16,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  read: (v: Views, at: number): MarketDecidedFields => ({
    tradeId: v.f64[at >>> 3] as Sequence,
    sequence: v.f64[(at + 8) >>> 3] as Sequence,
    timeNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 24) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: MarketDecidedFields): void => {
    v.f64[at >>> 3] = fields.tradeId;
    v.f64[(at + 8) >>> 3] = fields.sequence;
    v.u64[(at + 16) >>> 3] = fields.timeNs;
    v.u32[(at + 24) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 32),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.u32[(at + 24) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(MarketDecided.read(v, at)),
} as const;

/** The plain form of UserChanged. */
export interface UserChangedFields {
  readonly user: UserId;
  readonly isMarketMaker: boolean;
}

/** A user is known, or has become a market maker or none. */
export const UserChanged = {
  typeId: 72,
  bytes: 33,
  userAt: 0,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at, value);
  },
  isMarketMaker: (v: Views, at: number): boolean => v.u8[at + 32] !== 0,
  setIsMarketMaker: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 32] = value ? 1 : 0;
  },
  read: (v: Views, at: number): UserChangedFields => ({
    user: readUser(v, at),
    isMarketMaker: v.u8[at + 32] !== 0,
  }),
  write: (v: Views, at: number, fields: UserChangedFields): void => {
    writeUser(v, at, fields.user);
    v.u8[at + 32] = fields.isMarketMaker ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 33),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.text(readUser(v, at));
    to.number(v.u8[at + 32] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(UserChanged.read(v, at)),
} as const;

/** The plain form of BalanceChanged. */
export interface BalanceChangedFields {
  readonly owned: Amount18;
  readonly locked: Amount18;
  readonly subAccount: number;
  readonly assetBytes: number;
  readonly user: UserId;
}

/** Absolute spot balance after a flushed batch. Tail: `asset_bytes` of the asset id. */
export const BalanceChanged = {
  typeId: 43,
  bytes: 72,
  ownedAt: 0,
  owned: (v: Views, at: number): Amount18 => readInt128(v, at) as Amount18,
  setOwned: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at, value);
  },
  lockedAt: 16,
  locked: (v: Views, at: number): Amount18 => readInt128(v, at + 16) as Amount18,
  setLocked: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 16, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 32) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 32) >>> 1] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u8[at + 34] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 34] = value;
  },
  userAt: 36,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 36),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 36, value);
  },
  read: (v: Views, at: number): BalanceChangedFields => ({
    owned: readInt128(v, at) as Amount18,
    locked: readInt128(v, at + 16) as Amount18,
    subAccount: v.u16[(at + 32) >>> 1] as number,
    assetBytes: v.u8[at + 34] as number,
    user: readUser(v, at + 36),
  }),
  write: (v: Views, at: number, fields: BalanceChangedFields): void => {
    writeInt128(v, at, fields.owned);
    writeInt128(v, at + 16, fields.locked);
    v.u16[(at + 32) >>> 1] = fields.subAccount;
    v.u8[at + 34] = fields.assetBytes;
    writeUser(v, at + 36, fields.user);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 72),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.amount(readInt128(v, at));
    to.amount(readInt128(v, at + 16));
    to.number(v.u16[(at + 32) >>> 1] as number);
    to.number(v.u8[at + 34] as number);
    to.text(readUser(v, at + 36));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(BalanceChanged.read(v, at)),
} as const;

/** The plain form of PositionChanged. */
export interface PositionChangedFields {
  readonly base: Amount18;
  readonly quote: Amount18;
  readonly entry: Amount18;
  readonly subAccount: number;
  readonly assetBytes: number;
  readonly user: UserId;
}

/**
 * Absolute legs of a margin position after a flushed batch, `entry` as in PositionRow. Tail: `asset_bytes` of the asset id.
 */
export const PositionChanged = {
  typeId: 49,
  bytes: 88,
  baseAt: 0,
  base: (v: Views, at: number): Amount18 => readInt128(v, at) as Amount18,
  setBase: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at, value);
  },
  quoteAt: 16,
  quote: (v: Views, at: number): Amount18 => readInt128(v, at + 16) as Amount18,
  setQuote: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 16, value);
  },
  entryAt: 32,
  entry: (v: Views, at: number): Amount18 => readInt128(v, at + 32) as Amount18,
  setEntry: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 32, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 48) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 48) >>> 1] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u8[at + 50] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 50] = value;
  },
  userAt: 52,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 52),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 52, value);
  },
  read: (v: Views, at: number): PositionChangedFields => ({
    base: readInt128(v, at) as Amount18,
    quote: readInt128(v, at + 16) as Amount18,
    entry: readInt128(v, at + 32) as Amount18,
    subAccount: v.u16[(at + 48) >>> 1] as number,
    assetBytes: v.u8[at + 50] as number,
    user: readUser(v, at + 52),
  }),
  write: (v: Views, at: number, fields: PositionChangedFields): void => {
    writeInt128(v, at, fields.base);
    writeInt128(v, at + 16, fields.quote);
    writeInt128(v, at + 32, fields.entry);
    v.u16[(at + 48) >>> 1] = fields.subAccount;
    v.u8[at + 50] = fields.assetBytes;
    writeUser(v, at + 52, fields.user);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 88),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.amount(readInt128(v, at));
    to.amount(readInt128(v, at + 16));
    to.amount(readInt128(v, at + 32));
    to.number(v.u16[(at + 48) >>> 1] as number);
    to.number(v.u8[at + 50] as number);
    to.text(readUser(v, at + 52));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(PositionChanged.read(v, at)),
} as const;

/** The plain form of MarketRiskChanged. */
export interface MarketRiskChangedFields {
  readonly mark: Amount18;
  readonly credits: Amount18;
  readonly borrows: Amount18;
  readonly holdings: Amount18;
  readonly matchedNs: TimestampNs;
  readonly marketIndex: number;
  readonly goodUpdates: number;
  readonly isTripped: boolean;
  readonly hasMark: boolean;
}

/**
 * What margin needs of a market beside its risk row and oracle: the mark (`has_mark` false for none) with its breaker, and the
 * sums of margin legs over all users.
 */
export const MarketRiskChanged = {
  typeId: 50,
  bytes: 88,
  markAt: 0,
  mark: (v: Views, at: number): Amount18 => readInt128(v, at) as Amount18,
  setMark: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at, value);
  },
  creditsAt: 16,
  credits: (v: Views, at: number): Amount18 => readInt128(v, at + 16) as Amount18,
  setCredits: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 16, value);
  },
  borrowsAt: 32,
  borrows: (v: Views, at: number): Amount18 => readInt128(v, at + 32) as Amount18,
  setBorrows: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 32, value);
  },
  holdingsAt: 48,
  holdings: (v: Views, at: number): Amount18 => readInt128(v, at + 48) as Amount18,
  setHoldings: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 48, value);
  },
  matchedNsAt: 64,
  matchedNs: (v: Views, at: number): TimestampNs => v.u64[(at + 64) >>> 3] as TimestampNs,
  setMatchedNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 64) >>> 3] = value;
  },
  matchedNsHigh: (v: Views, at: number): number => v.u32[(at + 68) >>> 2] as number,
  matchedNsLow: (v: Views, at: number): number => v.u32[(at + 64) >>> 2] as number,
  setMatchedNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 64) >>> 2] = low;
    v.u32[(at + 68) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 72) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 72) >>> 2] = value;
  },
  goodUpdates: (v: Views, at: number): number => v.u32[(at + 76) >>> 2] as number,
  setGoodUpdates: (v: Views, at: number, value: number): void => {
    v.u32[(at + 76) >>> 2] = value;
  },
  isTripped: (v: Views, at: number): boolean => v.u8[at + 80] !== 0,
  setIsTripped: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 80] = value ? 1 : 0;
  },
  hasMark: (v: Views, at: number): boolean => v.u8[at + 81] !== 0,
  setHasMark: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 81] = value ? 1 : 0;
  },
  read: (v: Views, at: number): MarketRiskChangedFields => ({
    mark: readInt128(v, at) as Amount18,
    credits: readInt128(v, at + 16) as Amount18,
    borrows: readInt128(v, at + 32) as Amount18,
    holdings: readInt128(v, at + 48) as Amount18,
    matchedNs: v.u64[(at + 64) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 72) >>> 2] as number,
    goodUpdates: v.u32[(at + 76) >>> 2] as number,
    isTripped: v.u8[at + 80] !== 0,
    hasMark: v.u8[at + 81] !== 0,
  }),
  write: (v: Views, at: number, fields: MarketRiskChangedFields): void => {
    writeInt128(v, at, fields.mark);
    writeInt128(v, at + 16, fields.credits);
    writeInt128(v, at + 32, fields.borrows);
    writeInt128(v, at + 48, fields.holdings);
    v.u64[(at + 64) >>> 3] = fields.matchedNs;
    v.u32[(at + 72) >>> 2] = fields.marketIndex;
    v.u32[(at + 76) >>> 2] = fields.goodUpdates;
    v.u8[at + 80] = fields.isTripped ? 1 : 0;
    v.u8[at + 81] = fields.hasMark ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 88),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.amount(readInt128(v, at));
    to.amount(readInt128(v, at + 16));
    to.amount(readInt128(v, at + 32));
    to.amount(readInt128(v, at + 48));
    to.nanoseconds(v.u64[(at + 64) >>> 3] as bigint);
    to.number(v.u32[(at + 72) >>> 2] as number);
    to.number(v.u32[(at + 76) >>> 2] as number);
    to.number(v.u8[at + 80] as number);
    to.number(v.u8[at + 81] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(MarketRiskChanged.read(v, at)),
} as const;

/** The plain form of JournalFlushed. */
export interface JournalFlushedFields {
  readonly sequence: number;
  readonly checkpoint: number;
  readonly timeNs: TimestampNs;
}

/** The journal is flushed through `sequence`; `checkpoint` is the last sequence that the tables reflect. */
export const JournalFlushed = {
  typeId: 44,
  bytes: 24,
  sequence: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  checkpoint: (v: Views, at: number): number => v.f64[(at + 8) >>> 3] as number,
  setCheckpoint: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  timeNsAt: 16,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  read: (v: Views, at: number): JournalFlushedFields => ({
    sequence: v.f64[at >>> 3] as number,
    checkpoint: v.f64[(at + 8) >>> 3] as number,
    timeNs: v.u64[(at + 16) >>> 3] as TimestampNs,
  }),
  write: (v: Views, at: number, fields: JournalFlushedFields): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.f64[(at + 8) >>> 3] = fields.checkpoint;
    v.u64[(at + 16) >>> 3] = fields.timeNs;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 24),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(JournalFlushed.read(v, at)),
} as const;

/** The plain form of OrderRestoredAtBoot. */
export interface OrderRestoredAtBootFields {
  readonly inForce: number;
  readonly parent: Sequence | 0;
  readonly order: OrderRecordFields;
}

/**
 * At boot: one live order with its record. `in_force`: lots that its market has released, or never kept back. `parent`: the
 * sequence of its parent, 0 when there is none or it lives no more. Tail: the id of its parent as signed, as long as the
 * record's `parent_id_bytes`.
 */
export const OrderRestoredAtBoot = {
  typeId: 45,
  bytes: 312,
  inForce: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setInForce: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  parent: (v: Views, at: number): Sequence | 0 => v.f64[(at + 8) >>> 3] as Sequence | 0,
  setParent: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  orderAt: 16,
  order: (v: Views, at: number): OrderRecordFields => OrderRecord.read(v, at + 16),
  setOrder: (v: Views, at: number, value: OrderRecordFields): void => {
    OrderRecord.write(v, at + 16, value);
  },
  read: (v: Views, at: number): OrderRestoredAtBootFields => ({
    inForce: v.f64[at >>> 3] as number,
    parent: v.f64[(at + 8) >>> 3] as Sequence | 0,
    order: OrderRecord.read(v, at + 16),
  }),
  write: (v: Views, at: number, fields: OrderRestoredAtBootFields): void => {
    v.f64[at >>> 3] = fields.inForce;
    v.f64[(at + 8) >>> 3] = fields.parent;
    OrderRecord.write(v, at + 16, fields.order);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 312),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    OrderRecord.hash(v, at + 16, to);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderRestoredAtBoot.read(v, at)),
} as const;

/** The plain form of OrderIdRemembered. */
export interface OrderIdRememberedFields {
  readonly creationNs: TimestampNs;
  readonly marketIndex: number;
  readonly wasCancelled: boolean;
  readonly user: UserId;
  readonly orderId: OrderId;
}

/** At boot: an order id that is taken (AMB-08). */
export const OrderIdRemembered = {
  typeId: 46,
  bytes: 112,
  creationNsAt: 0,
  creationNs: (v: Views, at: number): TimestampNs => v.u64[at >>> 3] as TimestampNs,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  creationNsHigh: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  creationNsLow: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setCreationNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[at >>> 2] = low;
    v.u32[(at + 4) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  orderIdBytes: (v: Views, at: number): number => v.u8[at + 12] as number,
  setOrderIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 12] = value;
  },
  wasCancelled: (v: Views, at: number): boolean => v.u8[at + 13] !== 0,
  setWasCancelled: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 13] = value ? 1 : 0;
  },
  userAt: 16,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 16),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 16, value);
  },
  orderIdAt: 48,
  orderIdLength: 64,
  orderId: (v: Views, at: number): OrderId => readText(v, at + 48, v.u8[at + 12] as number) as OrderId,
  setOrderId: (v: Views, at: number, value: OrderId): void => {
    v.u8[at + 12] = writeTextField(v, at + 48, 64, value);
  },
  read: (v: Views, at: number): OrderIdRememberedFields => ({
    creationNs: v.u64[at >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 8) >>> 2] as number,
    wasCancelled: v.u8[at + 13] !== 0,
    user: readUser(v, at + 16),
    orderId: readText(v, at + 48, v.u8[at + 12] as number) as OrderId,
  }),
  write: (v: Views, at: number, fields: OrderIdRememberedFields): void => {
    v.u64[at >>> 3] = fields.creationNs;
    v.u32[(at + 8) >>> 2] = fields.marketIndex;
    v.u8[at + 13] = fields.wasCancelled ? 1 : 0;
    writeUser(v, at + 16, fields.user);
    v.u8[at + 12] = writeTextField(v, at + 48, 64, fields.orderId);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 112),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.nanoseconds(v.u64[at >>> 3] as bigint);
    to.number(v.u32[(at + 8) >>> 2] as number);
    to.number(v.u8[at + 13] as number);
    to.text(readUser(v, at + 16));
    to.text(readText(v, at + 48, v.u8[at + 12] as number));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OrderIdRemembered.read(v, at)),
} as const;

/** The plain form of IdWatermark. */
export interface IdWatermarkFields {
  readonly creationNs: TimestampNs;
  readonly marketIndex: number;
  readonly user: UserId;
}

/** At boot: creates of this user signed at or before `creation_ns` may be replays (AMB-08). */
export const IdWatermark = {
  typeId: 48,
  bytes: 48,
  creationNsAt: 0,
  creationNs: (v: Views, at: number): TimestampNs => v.u64[at >>> 3] as TimestampNs,
  setCreationNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  creationNsHigh: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  creationNsLow: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setCreationNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[at >>> 2] = low;
    v.u32[(at + 4) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  userAt: 12,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 12),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 12, value);
  },
  read: (v: Views, at: number): IdWatermarkFields => ({
    creationNs: v.u64[at >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 8) >>> 2] as number,
    user: readUser(v, at + 12),
  }),
  write: (v: Views, at: number, fields: IdWatermarkFields): void => {
    v.u64[at >>> 3] = fields.creationNs;
    v.u32[(at + 8) >>> 2] = fields.marketIndex;
    writeUser(v, at + 12, fields.user);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 48),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.nanoseconds(v.u64[at >>> 3] as bigint);
    to.number(v.u32[(at + 8) >>> 2] as number);
    to.text(readUser(v, at + 12));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(IdWatermark.read(v, at)),
} as const;

/** The plain form of QuoteSetRestored. */
export interface QuoteSetRestoredFields {
  readonly revisionNs: TimestampNs;
  readonly markNs: TimestampNs;
  readonly goodUntilNs: TimestampNs;
  readonly lastNumber: number;
  readonly markFloorNs: TimestampNs;
  readonly numberFloor: number;
  readonly maxFeeRate: number;
  readonly marketIndex: number;
  readonly user: UserId;
  readonly setId: string;
  readonly subAccount: number;
  readonly flags: number;
  readonly slot: number;
  readonly protectionGroup: number;
  readonly isOver: boolean;
}

/**
 * At boot, before the orders: a quote set that is known; `is_over`: only its mark and its numbers are left. Its entries follow as orders.
 */
export const QuoteSetRestored = {
  typeId: 51,
  bytes: 136,
  revisionNsAt: 0,
  revisionNs: (v: Views, at: number): TimestampNs => v.u64[at >>> 3] as TimestampNs,
  setRevisionNs: (v: Views, at: number, value: bigint): void => {
    v.u64[at >>> 3] = value;
  },
  revisionNsHigh: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  revisionNsLow: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setRevisionNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[at >>> 2] = low;
    v.u32[(at + 4) >>> 2] = high;
  },
  markNsAt: 8,
  markNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setMarkNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  markNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  markNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarkNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  goodUntilNsAt: 16,
  goodUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  goodUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  goodUntilNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setGoodUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  lastNumber: (v: Views, at: number): number => v.f64[(at + 24) >>> 3] as number,
  setLastNumber: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  markFloorNsAt: 32,
  markFloorNs: (v: Views, at: number): TimestampNs => v.u64[(at + 32) >>> 3] as TimestampNs,
  setMarkFloorNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 32) >>> 3] = value;
  },
  markFloorNsHigh: (v: Views, at: number): number => v.u32[(at + 36) >>> 2] as number,
  markFloorNsLow: (v: Views, at: number): number => v.u32[(at + 32) >>> 2] as number,
  setMarkFloorNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 32) >>> 2] = low;
    v.u32[(at + 36) >>> 2] = high;
  },
  numberFloor: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setNumberFloor: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 52) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 52) >>> 2] = value;
  },
  userAt: 56,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 56),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 56, value);
  },
  setIdAt: 88,
  setIdLength: 40,
  setId: (v: Views, at: number): string => readText(v, at + 88, v.u8[at + 132] as number),
  setSetId: (v: Views, at: number, value: string): void => {
    v.u8[at + 132] = writeTextField(v, at + 88, 40, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 128) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 128) >>> 1] = value;
  },
  flags: (v: Views, at: number): number => v.u16[(at + 130) >>> 1] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u16[(at + 130) >>> 1] = value;
  },
  setIdBytes: (v: Views, at: number): number => v.u8[at + 132] as number,
  setSetIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 132] = value;
  },
  slot: (v: Views, at: number): number => v.u8[at + 133] as number,
  setSlot: (v: Views, at: number, value: number): void => {
    v.u8[at + 133] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u8[at + 134] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 134] = value;
  },
  isOver: (v: Views, at: number): boolean => v.u8[at + 135] !== 0,
  setIsOver: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 135] = value ? 1 : 0;
  },
  read: (v: Views, at: number): QuoteSetRestoredFields => ({
    revisionNs: v.u64[at >>> 3] as TimestampNs,
    markNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    goodUntilNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    lastNumber: v.f64[(at + 24) >>> 3] as number,
    markFloorNs: v.u64[(at + 32) >>> 3] as TimestampNs,
    numberFloor: v.f64[(at + 40) >>> 3] as number,
    maxFeeRate: v.u32[(at + 48) >>> 2] as number,
    marketIndex: v.u32[(at + 52) >>> 2] as number,
    user: readUser(v, at + 56),
    setId: readText(v, at + 88, v.u8[at + 132] as number),
    subAccount: v.u16[(at + 128) >>> 1] as number,
    flags: v.u16[(at + 130) >>> 1] as number,
    slot: v.u8[at + 133] as number,
    protectionGroup: v.u8[at + 134] as number,
    isOver: v.u8[at + 135] !== 0,
  }),
  write: (v: Views, at: number, fields: QuoteSetRestoredFields): void => {
    v.u64[at >>> 3] = fields.revisionNs;
    v.u64[(at + 8) >>> 3] = fields.markNs;
    v.u64[(at + 16) >>> 3] = fields.goodUntilNs;
    v.f64[(at + 24) >>> 3] = fields.lastNumber;
    v.u64[(at + 32) >>> 3] = fields.markFloorNs;
    v.f64[(at + 40) >>> 3] = fields.numberFloor;
    v.u32[(at + 48) >>> 2] = fields.maxFeeRate;
    v.u32[(at + 52) >>> 2] = fields.marketIndex;
    writeUser(v, at + 56, fields.user);
    v.u8[at + 132] = writeTextField(v, at + 88, 40, fields.setId);
    v.u16[(at + 128) >>> 1] = fields.subAccount;
    v.u16[(at + 130) >>> 1] = fields.flags;
    v.u8[at + 133] = fields.slot;
    v.u8[at + 134] = fields.protectionGroup;
    v.u8[at + 135] = fields.isOver ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 136),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.nanoseconds(v.u64[at >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 32) >>> 3] as bigint);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.u32[(at + 48) >>> 2] as number);
    to.number(v.u32[(at + 52) >>> 2] as number);
    to.text(readUser(v, at + 56));
    to.text(readText(v, at + 88, v.u8[at + 132] as number));
    to.number(v.u16[(at + 128) >>> 1] as number);
    to.number(v.u16[(at + 130) >>> 1] as number);
    to.number(v.u8[at + 133] as number);
    to.number(v.u8[at + 134] as number);
    to.number(v.u8[at + 135] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(QuoteSetRestored.read(v, at)),
} as const;

/** The plain form of MarketRestored. */
export interface MarketRestoredFields {
  readonly sequence: Sequence;
  readonly lastTradeId: Sequence;
  readonly marketIndex: number;
}

/** At boot: everything of this market has been sent. */
export const MarketRestored = {
  typeId: 47,
  bytes: 24,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  lastTradeId: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setLastTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  read: (v: Views, at: number): MarketRestoredFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
    lastTradeId: v.f64[(at + 8) >>> 3] as Sequence,
    marketIndex: v.u32[(at + 16) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: MarketRestoredFields): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.f64[(at + 8) >>> 3] = fields.lastTradeId;
    v.u32[(at + 16) >>> 2] = fields.marketIndex;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 24),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.u32[(at + 16) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(MarketRestored.read(v, at)),
} as const;

/** The plain form of NodeCommand. */
export interface NodeCommandFields {
  readonly requestId: number;
  readonly timeNs: TimestampNs;
  readonly textBytes: number;
}

/**
 * Gateway → clearing: an input that is not an order, typed and valid in itself. Tail: `text_bytes` of plain-value JSON.
 */
export const NodeCommand = {
  typeId: 60,
  bytes: 24,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  read: (v: Views, at: number): NodeCommandFields => ({
    requestId: v.f64[at >>> 3] as number,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    textBytes: v.u32[(at + 16) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: NodeCommandFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.u32[(at + 16) >>> 2] = fields.textBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 24),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.u32[(at + 16) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(NodeCommand.read(v, at)),
} as const;

/** The plain form of NodeReply. */
export interface NodeReplyFields {
  readonly requestId: number;
  readonly textBytes: number;
}

/** Clearing → gateway: the answer to a NodeCommand, after its flush. Tail as above. */
export const NodeReply = {
  typeId: 61,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  read: (v: Views, at: number): NodeReplyFields => ({
    requestId: v.f64[at >>> 3] as number,
    textBytes: v.u32[(at + 8) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: NodeReplyFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u32[(at + 8) >>> 2] = fields.textBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(NodeReply.read(v, at)),
} as const;

/** The plain form of NodeEvent. */
export interface NodeEventFields {
  readonly textBytes: number;
}

/** Clearing → everyone: a row of the registry or of an account changed, or restoring is over. Tail as above. */
export const NodeEvent = {
  typeId: 62,
  bytes: 4,
  textBytes: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  read: (v: Views, at: number): NodeEventFields => ({
    textBytes: v.u32[at >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: NodeEventFields): void => {
    v.u32[at >>> 2] = fields.textBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 4),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(NodeEvent.read(v, at)),
} as const;

/** The plain form of VerifyJob. */
export interface VerifyJobFields {
  readonly ticket: number;
  readonly textBytes: number;
  /** Of the master key; not read unless `is_signed`. */
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly isSigned: boolean;
  /** 0 to 16. */
  readonly coSigners: number;
  /** Of a create, which clearing books: a valid verdict is attested to it. */
  readonly isCreate: boolean;
}

/**
 * "Are these signatures by these keys over these bytes?" Tail: `text_bytes` of the signed text, then `co_signers` entries
 * (src/codec/co-signer-bytes.ts).
 */
export const VerifyJob = {
  typeId: 70,
  bytes: 112,
  ticket: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTicket: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u16[(at + 8) >>> 1] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 8) >>> 1] = value;
  },
  signatureAt: 10,
  signatureLength: 64,
  signature: (v: Views, at: number): Uint8Array => readBytes(v, at + 10, 64),
  setSignature: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at + 10, 64, value);
  },
  publicKeyAt: 74,
  publicKeyLength: 32,
  publicKey: (v: Views, at: number): Uint8Array => readBytes(v, at + 74, 32),
  setPublicKey: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at + 74, 32, value);
  },
  isSigned: (v: Views, at: number): boolean => v.u8[at + 106] !== 0,
  setIsSigned: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 106] = value ? 1 : 0;
  },
  coSigners: (v: Views, at: number): number => v.u8[at + 107] as number,
  setCoSigners: (v: Views, at: number, value: number): void => {
    v.u8[at + 107] = value;
  },
  isCreate: (v: Views, at: number): boolean => v.u8[at + 108] !== 0,
  setIsCreate: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 108] = value ? 1 : 0;
  },
  read: (v: Views, at: number): VerifyJobFields => ({
    ticket: v.f64[at >>> 3] as number,
    textBytes: v.u16[(at + 8) >>> 1] as number,
    signature: readBytes(v, at + 10, 64),
    publicKey: readBytes(v, at + 74, 32),
    isSigned: v.u8[at + 106] !== 0,
    coSigners: v.u8[at + 107] as number,
    isCreate: v.u8[at + 108] !== 0,
  }),
  write: (v: Views, at: number, fields: VerifyJobFields): void => {
    v.f64[at >>> 3] = fields.ticket;
    v.u16[(at + 8) >>> 1] = fields.textBytes;
    writeBytes(v, at + 10, 64, fields.signature);
    writeBytes(v, at + 74, 32, fields.publicKey);
    v.u8[at + 106] = fields.isSigned ? 1 : 0;
    v.u8[at + 107] = fields.coSigners;
    v.u8[at + 108] = fields.isCreate ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 112),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.u16[(at + 8) >>> 1] as number);
    to.hex(v.u8.subarray(at + 10, at + 74));
    to.hex(v.u8.subarray(at + 74, at + 106));
    to.number(v.u8[at + 106] as number);
    to.number(v.u8[at + 107] as number);
    to.number(v.u8[at + 108] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(VerifyJob.read(v, at)),
} as const;

/** The plain form of Attestation. */
export interface AttestationFields {
  /** SHA-256 of key, text and signatures. */
  readonly digest: Uint8Array;
  /** Attestations that were dropped since the last one, as the ring was full. */
  readonly dropped: number;
}

/** Verifier → clearing: signatures that are valid, published before the verdict (src/crypto/attestations.ts). */
export const Attestation = {
  typeId: 73,
  bytes: 36,
  digestAt: 0,
  digestLength: 32,
  digest: (v: Views, at: number): Uint8Array => readBytes(v, at, 32),
  setDigest: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at, 32, value);
  },
  dropped: (v: Views, at: number): number => v.u32[(at + 32) >>> 2] as number,
  setDropped: (v: Views, at: number, value: number): void => {
    v.u32[(at + 32) >>> 2] = value;
  },
  read: (v: Views, at: number): AttestationFields => ({
    digest: readBytes(v, at, 32),
    dropped: v.u32[(at + 32) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: AttestationFields): void => {
    writeBytes(v, at, 32, fields.digest);
    v.u32[(at + 32) >>> 2] = fields.dropped;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 36),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.hex(v.u8.subarray(at, at + 32));
    to.number(v.u32[(at + 32) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(Attestation.read(v, at)),
} as const;

/** The plain form of Verdict. */
export interface VerdictFields {
  readonly ticket: number;
  /** All of them. */
  readonly valid: boolean;
  /** Signatures of the job, as they were counted when it was submitted: its co-signers and one. */
  readonly signatures: number;
}

export const Verdict = {
  typeId: 71,
  bytes: 16,
  ticket: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setTicket: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  valid: (v: Views, at: number): boolean => v.u8[at + 8] !== 0,
  setValid: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 8] = value ? 1 : 0;
  },
  signatures: (v: Views, at: number): number => v.u8[at + 9] as number,
  setSignatures: (v: Views, at: number, value: number): void => {
    v.u8[at + 9] = value;
  },
  read: (v: Views, at: number): VerdictFields => ({
    ticket: v.f64[at >>> 3] as number,
    valid: v.u8[at + 8] !== 0,
    signatures: v.u8[at + 9] as number,
  }),
  write: (v: Views, at: number, fields: VerdictFields): void => {
    v.f64[at >>> 3] = fields.ticket;
    v.u8[at + 8] = fields.valid ? 1 : 0;
    v.u8[at + 9] = fields.signatures;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.u8[at + 8] as number);
    to.number(v.u8[at + 9] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(Verdict.read(v, at)),
} as const;

/** The plain form of LogMessage. */
export interface LogMessageFields {
  readonly textBytes: number;
  readonly recordBytes: number;
}

/**
 * What one end of the seam gives the other (src/clearing/log-codec.ts). Tail: `text_bytes` of plain JSON, then
 * `record_bytes` of a journal record, from a multiple of 8 on.
 */
export const LogMessage = {
  typeId: 80,
  bytes: 8,
  textBytes: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  recordBytes: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setRecordBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  read: (v: Views, at: number): LogMessageFields => ({
    textBytes: v.u32[at >>> 2] as number,
    recordBytes: v.u32[(at + 4) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: LogMessageFields): void => {
    v.u32[at >>> 2] = fields.textBytes;
    v.u32[(at + 4) >>> 2] = fields.recordBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 8),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(LogMessage.read(v, at)),
} as const;

/** The plain form of MarketDataMessage. */
export interface MarketDataMessageFields {
  readonly textBytes: number;
  readonly dataBytes: number;
}

/**
 * src/market-data/tap-codec.ts; the same bytes are a message of the subjects `rb.C.md.*`. Tail: `text_bytes` of plain JSON, then
 * `data_bytes` of other bytes, from a multiple of 8 on.
 */
export const MarketDataMessage = {
  typeId: 81,
  bytes: 8,
  textBytes: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  dataBytes: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setDataBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  read: (v: Views, at: number): MarketDataMessageFields => ({
    textBytes: v.u32[at >>> 2] as number,
    dataBytes: v.u32[(at + 4) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: MarketDataMessageFields): void => {
    v.u32[at >>> 2] = fields.textBytes;
    v.u32[(at + 4) >>> 2] = fields.dataBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 8),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(MarketDataMessage.read(v, at)),
} as const;

/** The plain form of RecordOutcomes. */
export interface RecordOutcomesFields {
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
  readonly epoch: number;
  readonly part: number;
  readonly parts: number;
  readonly outcomeBytes: number;
  readonly recordHash: Uint8Array;
}

/**
 * Clearing → evidence, one for each journal record in the order of their sequences, after it is flushed and, in a cluster, stored; in
 * several parts where it is long. Tail: `outcome_bytes` bytes of outcomes, those of the parts one behind the other (OutcomeHead). `record_hash` is that of
 * the journal record.
 */
export const RecordOutcomes = {
  typeId: 90,
  bytes: 64,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  timeNsAt: 8,
  timeNs: (v: Views, at: number): TimestampNs => v.u64[(at + 8) >>> 3] as TimestampNs,
  setTimeNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 8) >>> 3] = value;
  },
  timeNsHigh: (v: Views, at: number): number => v.u32[(at + 12) >>> 2] as number,
  timeNsLow: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTimeNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 8) >>> 2] = low;
    v.u32[(at + 12) >>> 2] = high;
  },
  epoch: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setEpoch: (v: Views, at: number, value: number): void => {
    v.u32[(at + 16) >>> 2] = value;
  },
  part: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  setPart: (v: Views, at: number, value: number): void => {
    v.u32[(at + 20) >>> 2] = value;
  },
  parts: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setParts: (v: Views, at: number, value: number): void => {
    v.u32[(at + 24) >>> 2] = value;
  },
  outcomeBytes: (v: Views, at: number): number => v.u32[(at + 28) >>> 2] as number,
  setOutcomeBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 28) >>> 2] = value;
  },
  recordHashAt: 32,
  recordHashLength: 32,
  recordHash: (v: Views, at: number): Uint8Array => readBytes(v, at + 32, 32),
  setRecordHash: (v: Views, at: number, value: Uint8Array): void => {
    writeBytes(v, at + 32, 32, value);
  },
  read: (v: Views, at: number): RecordOutcomesFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
    timeNs: v.u64[(at + 8) >>> 3] as TimestampNs,
    epoch: v.u32[(at + 16) >>> 2] as number,
    part: v.u32[(at + 20) >>> 2] as number,
    parts: v.u32[(at + 24) >>> 2] as number,
    outcomeBytes: v.u32[(at + 28) >>> 2] as number,
    recordHash: readBytes(v, at + 32, 32),
  }),
  write: (v: Views, at: number, fields: RecordOutcomesFields): void => {
    v.f64[at >>> 3] = fields.sequence;
    v.u64[(at + 8) >>> 3] = fields.timeNs;
    v.u32[(at + 16) >>> 2] = fields.epoch;
    v.u32[(at + 20) >>> 2] = fields.part;
    v.u32[(at + 24) >>> 2] = fields.parts;
    v.u32[(at + 28) >>> 2] = fields.outcomeBytes;
    writeBytes(v, at + 32, 32, fields.recordHash);
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.nanoseconds(v.u64[(at + 8) >>> 3] as bigint);
    to.number(v.u32[(at + 16) >>> 2] as number);
    to.number(v.u32[(at + 20) >>> 2] as number);
    to.number(v.u32[(at + 24) >>> 2] as number);
    to.number(v.u32[(at + 28) >>> 2] as number);
    to.hex(v.u8.subarray(at + 32, at + 64));
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(RecordOutcomes.read(v, at)),
} as const;

/** The plain form of EvidenceWanted. */
export interface EvidenceWantedFields {
  readonly sequence: Sequence;
}

/** Clearing → evidence: a checkpoint waits until all that was sent before is durable. */
export const EvidenceWanted = {
  typeId: 91,
  bytes: 8,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  read: (v: Views, at: number): EvidenceWantedFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
  }),
  write: (v: Views, at: number, fields: EvidenceWantedFields): void => {
    v.f64[at >>> 3] = fields.sequence;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 8),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(EvidenceWanted.read(v, at)),
} as const;

/** The plain form of EvidenceDurable. */
export interface EvidenceDurableFields {
  readonly sequence: Sequence;
}

/** Evidence → clearing: the last journal record whose rows and leaf are durable. */
export const EvidenceDurable = {
  typeId: 92,
  bytes: 8,
  sequence: (v: Views, at: number): Sequence => v.f64[at >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  read: (v: Views, at: number): EvidenceDurableFields => ({
    sequence: v.f64[at >>> 3] as Sequence,
  }),
  write: (v: Views, at: number, fields: EvidenceDurableFields): void => {
    v.f64[at >>> 3] = fields.sequence;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 8),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(EvidenceDurable.read(v, at)),
} as const;

/** The plain form of OutcomeHead. */
export interface OutcomeHeadFields {
  readonly size: number;
  readonly kind: number;
}

/**
 * What every outcome begins with: its size with its tail, padded to 8, and what it is (OUTCOME in src/core/outcomes.ts). The outcomes
 * of a record stand by themselves: users, assets and markets are defined by the first outcome that is about them. Written by
 * src/clearing/outcomes.ts, read by src/evidence/row-bytes.ts; no file keeps them.
 */
export const OutcomeHead = {
  bytes: 8,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  read: (v: Views, at: number): OutcomeHeadFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeHeadFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 8),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeHead.read(v, at)),
} as const;

/** The plain form of OutcomeMarket. */
export interface OutcomeMarketFields {
  readonly size: number;
  readonly kind: number;
  readonly marketIndex: number;
  readonly assetBytes: number;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
}

/** A market that outcomes behind it name by its index. Tail: `asset_bytes` of its base asset. */
export const OutcomeMarket = {
  bytes: 16,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u16[(at + 12) >>> 1] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 12) >>> 1] = value;
  },
  priceDecimals: (v: Views, at: number): number => v.u8[at + 14] as number,
  setPriceDecimals: (v: Views, at: number, value: number): void => {
    v.u8[at + 14] = value;
  },
  quantityDecimals: (v: Views, at: number): number => v.u8[at + 15] as number,
  setQuantityDecimals: (v: Views, at: number, value: number): void => {
    v.u8[at + 15] = value;
  },
  read: (v: Views, at: number): OutcomeMarketFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    marketIndex: v.u32[(at + 8) >>> 2] as number,
    assetBytes: v.u16[(at + 12) >>> 1] as number,
    priceDecimals: v.u8[at + 14] as number,
    quantityDecimals: v.u8[at + 15] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeMarketFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    v.u32[(at + 8) >>> 2] = fields.marketIndex;
    v.u16[(at + 12) >>> 1] = fields.assetBytes;
    v.u8[at + 14] = fields.priceDecimals;
    v.u8[at + 15] = fields.quantityDecimals;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
    to.number(v.u16[(at + 12) >>> 1] as number);
    to.number(v.u8[at + 14] as number);
    to.number(v.u8[at + 15] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeMarket.read(v, at)),
} as const;

/** The plain form of OutcomeBalance. */
export interface OutcomeBalanceFields {
  readonly size: number;
  readonly kind: number;
  readonly before: Amount18;
  readonly user: UserId;
  readonly subAccount: number;
  readonly assetBytes: number;
}

/**
 * A balance, locks included, as it is before the outcomes behind this one. Balances and positions of a record are named by numbers, from 0 in
 * the order of their definitions. Tail: `asset_bytes` of the asset.
 */
export const OutcomeBalance = {
  bytes: 64,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  beforeAt: 8,
  before: (v: Views, at: number): Amount18 => readInt128(v, at + 8) as Amount18,
  setBefore: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 8, value);
  },
  userAt: 24,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 24),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 24, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 56) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 56) >>> 1] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u16[(at + 58) >>> 1] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 58) >>> 1] = value;
  },
  read: (v: Views, at: number): OutcomeBalanceFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    before: readInt128(v, at + 8) as Amount18,
    user: readUser(v, at + 24),
    subAccount: v.u16[(at + 56) >>> 1] as number,
    assetBytes: v.u16[(at + 58) >>> 1] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeBalanceFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    writeInt128(v, at + 8, fields.before);
    writeUser(v, at + 24, fields.user);
    v.u16[(at + 56) >>> 1] = fields.subAccount;
    v.u16[(at + 58) >>> 1] = fields.assetBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.amount(readInt128(v, at + 8));
    to.text(readUser(v, at + 24));
    to.number(v.u16[(at + 56) >>> 1] as number);
    to.number(v.u16[(at + 58) >>> 1] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeBalance.read(v, at)),
} as const;

/** The plain form of OutcomePosition. */
export interface OutcomePositionFields {
  readonly size: number;
  readonly kind: number;
  readonly base: Amount18;
  readonly quote: Amount18;
  readonly user: UserId;
  readonly subAccount: number;
  readonly assetBytes: number;
}

/** The same of a position. Tail: `asset_bytes` of the asset of its base leg. */
export const OutcomePosition = {
  bytes: 80,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  baseAt: 8,
  base: (v: Views, at: number): Amount18 => readInt128(v, at + 8) as Amount18,
  setBase: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 8, value);
  },
  quoteAt: 24,
  quote: (v: Views, at: number): Amount18 => readInt128(v, at + 24) as Amount18,
  setQuote: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 24, value);
  },
  userAt: 40,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 40),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 40, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 72) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 72) >>> 1] = value;
  },
  assetBytes: (v: Views, at: number): number => v.u16[(at + 74) >>> 1] as number,
  setAssetBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 74) >>> 1] = value;
  },
  read: (v: Views, at: number): OutcomePositionFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    base: readInt128(v, at + 8) as Amount18,
    quote: readInt128(v, at + 24) as Amount18,
    user: readUser(v, at + 40),
    subAccount: v.u16[(at + 72) >>> 1] as number,
    assetBytes: v.u16[(at + 74) >>> 1] as number,
  }),
  write: (v: Views, at: number, fields: OutcomePositionFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    writeInt128(v, at + 8, fields.base);
    writeInt128(v, at + 24, fields.quote);
    writeUser(v, at + 40, fields.user);
    v.u16[(at + 72) >>> 1] = fields.subAccount;
    v.u16[(at + 74) >>> 1] = fields.assetBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 80),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.amount(readInt128(v, at + 8));
    to.amount(readInt128(v, at + 24));
    to.text(readUser(v, at + 40));
    to.number(v.u16[(at + 72) >>> 1] as number);
    to.number(v.u16[(at + 74) >>> 1] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomePosition.read(v, at)),
} as const;

/** The plain form of OutcomeOrder. */
export interface OutcomeOrderFields {
  readonly size: number;
  readonly kind: number;
  readonly order: OrderRecordFields;
  readonly textBytes: number;
  readonly signaturesBytes: number;
  readonly event: number;
}

/**
 * Something happened to an order (ORDER_OUTCOME): its record after that. Tail: `text_bytes` of the signed text and `signatures_bytes` of the
 * signatures, both 0 unless it was admitted now.
 */
export const OutcomeOrder = {
  bytes: 312,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  orderAt: 8,
  order: (v: Views, at: number): OrderRecordFields => OrderRecord.read(v, at + 8),
  setOrder: (v: Views, at: number, value: OrderRecordFields): void => {
    OrderRecord.write(v, at + 8, value);
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 304) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 304) >>> 2] = value;
  },
  signaturesBytes: (v: Views, at: number): number => v.u16[(at + 308) >>> 1] as number,
  setSignaturesBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 308) >>> 1] = value;
  },
  event: (v: Views, at: number): number => v.u8[at + 310] as number,
  setEvent: (v: Views, at: number, value: number): void => {
    v.u8[at + 310] = value;
  },
  read: (v: Views, at: number): OutcomeOrderFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    order: OrderRecord.read(v, at + 8),
    textBytes: v.u32[(at + 304) >>> 2] as number,
    signaturesBytes: v.u16[(at + 308) >>> 1] as number,
    event: v.u8[at + 310] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeOrderFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    OrderRecord.write(v, at + 8, fields.order);
    v.u32[(at + 304) >>> 2] = fields.textBytes;
    v.u16[(at + 308) >>> 1] = fields.signaturesBytes;
    v.u8[at + 310] = fields.event;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 312),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    OrderRecord.hash(v, at + 8, to);
    to.number(v.u32[(at + 304) >>> 2] as number);
    to.number(v.u16[(at + 308) >>> 1] as number);
    to.number(v.u8[at + 310] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeOrder.read(v, at)),
} as const;

/** The plain form of OutcomeFill. */
export interface OutcomeFillFields {
  readonly size: number;
  readonly kind: number;
  readonly tradeId: Sequence;
  readonly makerOrder: Sequence;
  readonly takerOrder: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly eventNs: TimestampNs;
  readonly marketIndex: number;
  readonly makerFeeRate: number;
  readonly takerFeeRate: number;
  readonly makerBase: number;
  readonly makerUsd: number;
  readonly takerBase: number;
  readonly takerUsd: number;
  readonly feeAccount: number;
  readonly makerReason: RollbackReason;
  readonly takerReason: RollbackReason;
  readonly takerSide: Side;
  readonly makerIdBytes: number;
  readonly takerIdBytes: number;
  readonly isLiquidation: boolean;
  readonly isAutoDeleverage: boolean;
}

/**
 * A fill that was decided. `…_base` and `…_usd` are the numbers of the balances that it moves; a margin order has its position in `…_base`
 * and 0xffffffff in `…_usd`. Reasons are 0 of a confirmed one. The ledger rows of a confirmed one follow from it, unless
 * `is_auto_deleverage`. `fee_account`: the balance that gets the fees of this fill and of those before it in its match, 0xffffffff if it is not the
 * last of them or there are none. Tail: the ids of the two orders, each padded to 4.
 */
export const OutcomeFill = {
  bytes: 96,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  tradeId: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  makerOrder: (v: Views, at: number): Sequence => v.f64[(at + 16) >>> 3] as Sequence,
  setMakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 16) >>> 3] = value;
  },
  takerOrder: (v: Views, at: number): Sequence => v.f64[(at + 24) >>> 3] as Sequence,
  setTakerOrder: (v: Views, at: number, value: number): void => {
    v.f64[(at + 24) >>> 3] = value;
  },
  price: (v: Views, at: number): RawPrice => v.f64[(at + 32) >>> 3] as RawPrice,
  setPrice: (v: Views, at: number, value: number): void => {
    v.f64[(at + 32) >>> 3] = value;
  },
  quantity: (v: Views, at: number): RawQuantity => v.f64[(at + 40) >>> 3] as RawQuantity,
  setQuantity: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  eventNsAt: 48,
  eventNs: (v: Views, at: number): TimestampNs => v.u64[(at + 48) >>> 3] as TimestampNs,
  setEventNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 48) >>> 3] = value;
  },
  eventNsHigh: (v: Views, at: number): number => v.u32[(at + 52) >>> 2] as number,
  eventNsLow: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setEventNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 48) >>> 2] = low;
    v.u32[(at + 52) >>> 2] = high;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 56) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 56) >>> 2] = value;
  },
  makerFeeRate: (v: Views, at: number): number => v.i32[(at + 60) >>> 2] as number,
  setMakerFeeRate: (v: Views, at: number, value: number): void => {
    v.i32[(at + 60) >>> 2] = value;
  },
  takerFeeRate: (v: Views, at: number): number => v.i32[(at + 64) >>> 2] as number,
  setTakerFeeRate: (v: Views, at: number, value: number): void => {
    v.i32[(at + 64) >>> 2] = value;
  },
  makerBase: (v: Views, at: number): number => v.u32[(at + 68) >>> 2] as number,
  setMakerBase: (v: Views, at: number, value: number): void => {
    v.u32[(at + 68) >>> 2] = value;
  },
  makerUsd: (v: Views, at: number): number => v.u32[(at + 72) >>> 2] as number,
  setMakerUsd: (v: Views, at: number, value: number): void => {
    v.u32[(at + 72) >>> 2] = value;
  },
  takerBase: (v: Views, at: number): number => v.u32[(at + 76) >>> 2] as number,
  setTakerBase: (v: Views, at: number, value: number): void => {
    v.u32[(at + 76) >>> 2] = value;
  },
  takerUsd: (v: Views, at: number): number => v.u32[(at + 80) >>> 2] as number,
  setTakerUsd: (v: Views, at: number, value: number): void => {
    v.u32[(at + 80) >>> 2] = value;
  },
  feeAccount: (v: Views, at: number): number => v.u32[(at + 84) >>> 2] as number,
  setFeeAccount: (v: Views, at: number, value: number): void => {
    v.u32[(at + 84) >>> 2] = value;
  },
  makerReason: (v: Views, at: number): RollbackReason => v.u8[at + 88] as RollbackReason,
  setMakerReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 88] = value;
  },
  takerReason: (v: Views, at: number): RollbackReason => v.u8[at + 89] as RollbackReason,
  setTakerReason: (v: Views, at: number, value: number): void => {
    v.u8[at + 89] = value;
  },
  takerSide: (v: Views, at: number): Side => v.u8[at + 90] as Side,
  setTakerSide: (v: Views, at: number, value: number): void => {
    v.u8[at + 90] = value;
  },
  makerIdBytes: (v: Views, at: number): number => v.u8[at + 91] as number,
  setMakerIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 91] = value;
  },
  takerIdBytes: (v: Views, at: number): number => v.u8[at + 92] as number,
  setTakerIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 92] = value;
  },
  isLiquidation: (v: Views, at: number): boolean => v.u8[at + 93] !== 0,
  setIsLiquidation: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 93] = value ? 1 : 0;
  },
  isAutoDeleverage: (v: Views, at: number): boolean => v.u8[at + 94] !== 0,
  setIsAutoDeleverage: (v: Views, at: number, value: boolean): void => {
    v.u8[at + 94] = value ? 1 : 0;
  },
  read: (v: Views, at: number): OutcomeFillFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    tradeId: v.f64[(at + 8) >>> 3] as Sequence,
    makerOrder: v.f64[(at + 16) >>> 3] as Sequence,
    takerOrder: v.f64[(at + 24) >>> 3] as Sequence,
    price: v.f64[(at + 32) >>> 3] as RawPrice,
    quantity: v.f64[(at + 40) >>> 3] as RawQuantity,
    eventNs: v.u64[(at + 48) >>> 3] as TimestampNs,
    marketIndex: v.u32[(at + 56) >>> 2] as number,
    makerFeeRate: v.i32[(at + 60) >>> 2] as number,
    takerFeeRate: v.i32[(at + 64) >>> 2] as number,
    makerBase: v.u32[(at + 68) >>> 2] as number,
    makerUsd: v.u32[(at + 72) >>> 2] as number,
    takerBase: v.u32[(at + 76) >>> 2] as number,
    takerUsd: v.u32[(at + 80) >>> 2] as number,
    feeAccount: v.u32[(at + 84) >>> 2] as number,
    makerReason: v.u8[at + 88] as RollbackReason,
    takerReason: v.u8[at + 89] as RollbackReason,
    takerSide: v.u8[at + 90] as Side,
    makerIdBytes: v.u8[at + 91] as number,
    takerIdBytes: v.u8[at + 92] as number,
    isLiquidation: v.u8[at + 93] !== 0,
    isAutoDeleverage: v.u8[at + 94] !== 0,
  }),
  write: (v: Views, at: number, fields: OutcomeFillFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    v.f64[(at + 8) >>> 3] = fields.tradeId;
    v.f64[(at + 16) >>> 3] = fields.makerOrder;
    v.f64[(at + 24) >>> 3] = fields.takerOrder;
    v.f64[(at + 32) >>> 3] = fields.price;
    v.f64[(at + 40) >>> 3] = fields.quantity;
    v.u64[(at + 48) >>> 3] = fields.eventNs;
    v.u32[(at + 56) >>> 2] = fields.marketIndex;
    v.i32[(at + 60) >>> 2] = fields.makerFeeRate;
    v.i32[(at + 64) >>> 2] = fields.takerFeeRate;
    v.u32[(at + 68) >>> 2] = fields.makerBase;
    v.u32[(at + 72) >>> 2] = fields.makerUsd;
    v.u32[(at + 76) >>> 2] = fields.takerBase;
    v.u32[(at + 80) >>> 2] = fields.takerUsd;
    v.u32[(at + 84) >>> 2] = fields.feeAccount;
    v.u8[at + 88] = fields.makerReason;
    v.u8[at + 89] = fields.takerReason;
    v.u8[at + 90] = fields.takerSide;
    v.u8[at + 91] = fields.makerIdBytes;
    v.u8[at + 92] = fields.takerIdBytes;
    v.u8[at + 93] = fields.isLiquidation ? 1 : 0;
    v.u8[at + 94] = fields.isAutoDeleverage ? 1 : 0;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 96),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.number(v.f64[(at + 16) >>> 3] as number);
    to.number(v.f64[(at + 24) >>> 3] as number);
    to.number(v.f64[(at + 32) >>> 3] as number);
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 48) >>> 3] as bigint);
    to.number(v.u32[(at + 56) >>> 2] as number);
    to.number(v.i32[(at + 60) >>> 2] as number);
    to.number(v.i32[(at + 64) >>> 2] as number);
    to.number(v.u32[(at + 68) >>> 2] as number);
    to.number(v.u32[(at + 72) >>> 2] as number);
    to.number(v.u32[(at + 76) >>> 2] as number);
    to.number(v.u32[(at + 80) >>> 2] as number);
    to.number(v.u32[(at + 84) >>> 2] as number);
    to.number(v.u8[at + 88] as number);
    to.number(v.u8[at + 89] as number);
    to.number(v.u8[at + 90] as number);
    to.number(v.u8[at + 91] as number);
    to.number(v.u8[at + 92] as number);
    to.number(v.u8[at + 93] as number);
    to.number(v.u8[at + 94] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeFill.read(v, at)),
} as const;

/** The plain form of OutcomeLedger. */
export interface OutcomeLedgerFields {
  readonly size: number;
  readonly kind: number;
  readonly change: Amount18;
  readonly fee: Amount18;
  readonly tradeId: number;
  readonly account: number;
  readonly marketIndex: number;
  readonly referenceBytes: number;
  readonly entry: number;
  readonly leg: number;
}

/**
 * A balance or a leg (LEG) changes by `change`, for a reason that follows from no fill. `fee`: the part of the change that is a fee
 * of rebalancing, signed as the change is. What it belongs to is the trade `trade_id` of the market, or the text of the tail, of
 * `reference_bytes`; `trade_id` 0 and an empty text for nothing.
 */
export const OutcomeLedger = {
  bytes: 64,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  changeAt: 8,
  change: (v: Views, at: number): Amount18 => readInt128(v, at + 8) as Amount18,
  setChange: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 8, value);
  },
  feeAt: 24,
  fee: (v: Views, at: number): Amount18 => readInt128(v, at + 24) as Amount18,
  setFee: (v: Views, at: number, value: bigint): void => {
    writeInt128(v, at + 24, value);
  },
  tradeId: (v: Views, at: number): number => v.f64[(at + 40) >>> 3] as number,
  setTradeId: (v: Views, at: number, value: number): void => {
    v.f64[(at + 40) >>> 3] = value;
  },
  account: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setAccount: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 52) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 52) >>> 2] = value;
  },
  referenceBytes: (v: Views, at: number): number => v.u16[(at + 56) >>> 1] as number,
  setReferenceBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 56) >>> 1] = value;
  },
  entry: (v: Views, at: number): number => v.u8[at + 58] as number,
  setEntry: (v: Views, at: number, value: number): void => {
    v.u8[at + 58] = value;
  },
  leg: (v: Views, at: number): number => v.u8[at + 59] as number,
  setLeg: (v: Views, at: number, value: number): void => {
    v.u8[at + 59] = value;
  },
  read: (v: Views, at: number): OutcomeLedgerFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    change: readInt128(v, at + 8) as Amount18,
    fee: readInt128(v, at + 24) as Amount18,
    tradeId: v.f64[(at + 40) >>> 3] as number,
    account: v.u32[(at + 48) >>> 2] as number,
    marketIndex: v.u32[(at + 52) >>> 2] as number,
    referenceBytes: v.u16[(at + 56) >>> 1] as number,
    entry: v.u8[at + 58] as number,
    leg: v.u8[at + 59] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeLedgerFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    writeInt128(v, at + 8, fields.change);
    writeInt128(v, at + 24, fields.fee);
    v.f64[(at + 40) >>> 3] = fields.tradeId;
    v.u32[(at + 48) >>> 2] = fields.account;
    v.u32[(at + 52) >>> 2] = fields.marketIndex;
    v.u16[(at + 56) >>> 1] = fields.referenceBytes;
    v.u8[at + 58] = fields.entry;
    v.u8[at + 59] = fields.leg;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 64),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.amount(readInt128(v, at + 8));
    to.amount(readInt128(v, at + 24));
    to.number(v.f64[(at + 40) >>> 3] as number);
    to.number(v.u32[(at + 48) >>> 2] as number);
    to.number(v.u32[(at + 52) >>> 2] as number);
    to.number(v.u16[(at + 56) >>> 1] as number);
    to.number(v.u8[at + 58] as number);
    to.number(v.u8[at + 59] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeLedger.read(v, at)),
} as const;

/** The plain form of OutcomeQuoteSet. */
export interface OutcomeQuoteSetFields {
  readonly size: number;
  readonly kind: number;
  readonly sequence: Sequence;
  readonly eventNs: TimestampNs;
  readonly revisionNs: TimestampNs;
  readonly markNs: TimestampNs;
  readonly goodUntilNs: TimestampNs;
  readonly maxFeeRate: number;
  readonly marketIndex: number;
  readonly textBytes: number;
  readonly user: UserId;
  readonly setId: string;
  readonly subAccount: number;
  readonly flags: number;
  readonly changes: number;
  readonly signaturesBytes: number;
  readonly event: number;
  readonly end: OrderEnd | 0;
  readonly protectionGroup: number;
}

/**
 * A revision of a quote set is in force, its mark was raised, or it ended (QUOTE_SET_OUTCOME). Tail: `changes` of QuoteSetChange, the signed
 * text, the signatures.
 */
export const OutcomeQuoteSet = {
  bytes: 144,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  sequence: (v: Views, at: number): Sequence => v.f64[(at + 8) >>> 3] as Sequence,
  setSequence: (v: Views, at: number, value: number): void => {
    v.f64[(at + 8) >>> 3] = value;
  },
  eventNsAt: 16,
  eventNs: (v: Views, at: number): TimestampNs => v.u64[(at + 16) >>> 3] as TimestampNs,
  setEventNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 16) >>> 3] = value;
  },
  eventNsHigh: (v: Views, at: number): number => v.u32[(at + 20) >>> 2] as number,
  eventNsLow: (v: Views, at: number): number => v.u32[(at + 16) >>> 2] as number,
  setEventNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 16) >>> 2] = low;
    v.u32[(at + 20) >>> 2] = high;
  },
  revisionNsAt: 24,
  revisionNs: (v: Views, at: number): TimestampNs => v.u64[(at + 24) >>> 3] as TimestampNs,
  setRevisionNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 24) >>> 3] = value;
  },
  revisionNsHigh: (v: Views, at: number): number => v.u32[(at + 28) >>> 2] as number,
  revisionNsLow: (v: Views, at: number): number => v.u32[(at + 24) >>> 2] as number,
  setRevisionNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 24) >>> 2] = low;
    v.u32[(at + 28) >>> 2] = high;
  },
  markNsAt: 32,
  markNs: (v: Views, at: number): TimestampNs => v.u64[(at + 32) >>> 3] as TimestampNs,
  setMarkNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 32) >>> 3] = value;
  },
  markNsHigh: (v: Views, at: number): number => v.u32[(at + 36) >>> 2] as number,
  markNsLow: (v: Views, at: number): number => v.u32[(at + 32) >>> 2] as number,
  setMarkNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 32) >>> 2] = low;
    v.u32[(at + 36) >>> 2] = high;
  },
  goodUntilNsAt: 40,
  goodUntilNs: (v: Views, at: number): TimestampNs => v.u64[(at + 40) >>> 3] as TimestampNs,
  setGoodUntilNs: (v: Views, at: number, value: bigint): void => {
    v.u64[(at + 40) >>> 3] = value;
  },
  goodUntilNsHigh: (v: Views, at: number): number => v.u32[(at + 44) >>> 2] as number,
  goodUntilNsLow: (v: Views, at: number): number => v.u32[(at + 40) >>> 2] as number,
  setGoodUntilNsWords: (v: Views, at: number, high: number, low: number): void => {
    v.u32[(at + 40) >>> 2] = low;
    v.u32[(at + 44) >>> 2] = high;
  },
  maxFeeRate: (v: Views, at: number): number => v.u32[(at + 48) >>> 2] as number,
  setMaxFeeRate: (v: Views, at: number, value: number): void => {
    v.u32[(at + 48) >>> 2] = value;
  },
  marketIndex: (v: Views, at: number): number => v.u32[(at + 52) >>> 2] as number,
  setMarketIndex: (v: Views, at: number, value: number): void => {
    v.u32[(at + 52) >>> 2] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 56) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 56) >>> 2] = value;
  },
  userAt: 60,
  userLength: 32,
  user: (v: Views, at: number): UserId => readUser(v, at + 60),
  setUser: (v: Views, at: number, value: UserId): void => {
    writeUser(v, at + 60, value);
  },
  setIdAt: 92,
  setIdLength: 40,
  setId: (v: Views, at: number): string => readText(v, at + 92, v.u8[at + 143] as number),
  setSetId: (v: Views, at: number, value: string): void => {
    v.u8[at + 143] = writeTextField(v, at + 92, 40, value);
  },
  subAccount: (v: Views, at: number): number => v.u16[(at + 132) >>> 1] as number,
  setSubAccount: (v: Views, at: number, value: number): void => {
    v.u16[(at + 132) >>> 1] = value;
  },
  flags: (v: Views, at: number): number => v.u16[(at + 134) >>> 1] as number,
  setFlags: (v: Views, at: number, value: number): void => {
    v.u16[(at + 134) >>> 1] = value;
  },
  changes: (v: Views, at: number): number => v.u16[(at + 136) >>> 1] as number,
  setChanges: (v: Views, at: number, value: number): void => {
    v.u16[(at + 136) >>> 1] = value;
  },
  signaturesBytes: (v: Views, at: number): number => v.u16[(at + 138) >>> 1] as number,
  setSignaturesBytes: (v: Views, at: number, value: number): void => {
    v.u16[(at + 138) >>> 1] = value;
  },
  event: (v: Views, at: number): number => v.u8[at + 140] as number,
  setEvent: (v: Views, at: number, value: number): void => {
    v.u8[at + 140] = value;
  },
  end: (v: Views, at: number): OrderEnd | 0 => v.u8[at + 141] as OrderEnd | 0,
  setEnd: (v: Views, at: number, value: number): void => {
    v.u8[at + 141] = value;
  },
  protectionGroup: (v: Views, at: number): number => v.u8[at + 142] as number,
  setProtectionGroup: (v: Views, at: number, value: number): void => {
    v.u8[at + 142] = value;
  },
  setIdBytes: (v: Views, at: number): number => v.u8[at + 143] as number,
  setSetIdBytes: (v: Views, at: number, value: number): void => {
    v.u8[at + 143] = value;
  },
  read: (v: Views, at: number): OutcomeQuoteSetFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    sequence: v.f64[(at + 8) >>> 3] as Sequence,
    eventNs: v.u64[(at + 16) >>> 3] as TimestampNs,
    revisionNs: v.u64[(at + 24) >>> 3] as TimestampNs,
    markNs: v.u64[(at + 32) >>> 3] as TimestampNs,
    goodUntilNs: v.u64[(at + 40) >>> 3] as TimestampNs,
    maxFeeRate: v.u32[(at + 48) >>> 2] as number,
    marketIndex: v.u32[(at + 52) >>> 2] as number,
    textBytes: v.u32[(at + 56) >>> 2] as number,
    user: readUser(v, at + 60),
    setId: readText(v, at + 92, v.u8[at + 143] as number),
    subAccount: v.u16[(at + 132) >>> 1] as number,
    flags: v.u16[(at + 134) >>> 1] as number,
    changes: v.u16[(at + 136) >>> 1] as number,
    signaturesBytes: v.u16[(at + 138) >>> 1] as number,
    event: v.u8[at + 140] as number,
    end: v.u8[at + 141] as OrderEnd | 0,
    protectionGroup: v.u8[at + 142] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeQuoteSetFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    v.f64[(at + 8) >>> 3] = fields.sequence;
    v.u64[(at + 16) >>> 3] = fields.eventNs;
    v.u64[(at + 24) >>> 3] = fields.revisionNs;
    v.u64[(at + 32) >>> 3] = fields.markNs;
    v.u64[(at + 40) >>> 3] = fields.goodUntilNs;
    v.u32[(at + 48) >>> 2] = fields.maxFeeRate;
    v.u32[(at + 52) >>> 2] = fields.marketIndex;
    v.u32[(at + 56) >>> 2] = fields.textBytes;
    writeUser(v, at + 60, fields.user);
    v.u8[at + 143] = writeTextField(v, at + 92, 40, fields.setId);
    v.u16[(at + 132) >>> 1] = fields.subAccount;
    v.u16[(at + 134) >>> 1] = fields.flags;
    v.u16[(at + 136) >>> 1] = fields.changes;
    v.u16[(at + 138) >>> 1] = fields.signaturesBytes;
    v.u8[at + 140] = fields.event;
    v.u8[at + 141] = fields.end;
    v.u8[at + 142] = fields.protectionGroup;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 144),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.number(v.f64[(at + 8) >>> 3] as number);
    to.nanoseconds(v.u64[(at + 16) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 24) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 32) >>> 3] as bigint);
    to.nanoseconds(v.u64[(at + 40) >>> 3] as bigint);
    to.number(v.u32[(at + 48) >>> 2] as number);
    to.number(v.u32[(at + 52) >>> 2] as number);
    to.number(v.u32[(at + 56) >>> 2] as number);
    to.text(readUser(v, at + 60));
    to.text(readText(v, at + 92, v.u8[at + 143] as number));
    to.number(v.u16[(at + 132) >>> 1] as number);
    to.number(v.u16[(at + 134) >>> 1] as number);
    to.number(v.u16[(at + 136) >>> 1] as number);
    to.number(v.u16[(at + 138) >>> 1] as number);
    to.number(v.u8[at + 140] as number);
    to.number(v.u8[at + 141] as number);
    to.number(v.u8[at + 142] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeQuoteSet.read(v, at)),
} as const;

/** The plain form of OutcomeFact. */
export interface OutcomeFactFields {
  readonly size: number;
  readonly kind: number;
  readonly textBytes: number;
}

/**
 * A cold outcome: a row of a kind that is no order, fill or balance. Tail: `text_bytes` of plain-value JSON, the members of the row by their
 * names, with `kind`, and `user` of a private one.
 */
export const OutcomeFact = {
  bytes: 12,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  read: (v: Views, at: number): OutcomeFactFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    textBytes: v.u32[(at + 8) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeFactFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    v.u32[(at + 8) >>> 2] = fields.textBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 12),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeFact.read(v, at)),
} as const;

/** The plain form of OutcomeClosing. */
export interface OutcomeClosingFields {
  readonly size: number;
  readonly kind: number;
  readonly accounts: number;
}

/**
 * The last outcome of a record that has balances or positions: what each of them is now, in the order of their definitions. Tail: an Int128
 * for a balance, and three for a position: base, quote, entry.
 */
export const OutcomeClosing = {
  bytes: 12,
  size: (v: Views, at: number): number => v.u32[at >>> 2] as number,
  setSize: (v: Views, at: number, value: number): void => {
    v.u32[at >>> 2] = value;
  },
  kind: (v: Views, at: number): number => v.u32[(at + 4) >>> 2] as number,
  setKind: (v: Views, at: number, value: number): void => {
    v.u32[(at + 4) >>> 2] = value;
  },
  accounts: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setAccounts: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  read: (v: Views, at: number): OutcomeClosingFields => ({
    size: v.u32[at >>> 2] as number,
    kind: v.u32[(at + 4) >>> 2] as number,
    accounts: v.u32[(at + 8) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: OutcomeClosingFields): void => {
    v.u32[at >>> 2] = fields.size;
    v.u32[(at + 4) >>> 2] = fields.kind;
    v.u32[(at + 8) >>> 2] = fields.accounts;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 12),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.u32[at >>> 2] as number);
    to.number(v.u32[(at + 4) >>> 2] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(OutcomeClosing.read(v, at)),
} as const;

/** The plain form of NodeQuery. */
export interface NodeQueryFields {
  readonly requestId: number;
  readonly textBytes: number;
}

/** Gateway → clearing: a question about applied state, answered by a NodeReply. Tail: `text_bytes` of plain JSON. */
export const NodeQuery = {
  typeId: 63,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  read: (v: Views, at: number): NodeQueryFields => ({
    requestId: v.f64[at >>> 3] as number,
    textBytes: v.u32[(at + 8) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: NodeQueryFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u32[(at + 8) >>> 2] = fields.textBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(NodeQuery.read(v, at)),
} as const;

/** The plain form of NodeHook. */
export interface NodeHookFields {
  readonly requestId: number;
  readonly textBytes: number;
}

/** Gateway → clearing or market: a test hook of operator-api.md 7.3 that is not part of the state. Tail as above. */
export const NodeHook = {
  typeId: 64,
  bytes: 16,
  requestId: (v: Views, at: number): number => v.f64[at >>> 3] as number,
  setRequestId: (v: Views, at: number, value: number): void => {
    v.f64[at >>> 3] = value;
  },
  textBytes: (v: Views, at: number): number => v.u32[(at + 8) >>> 2] as number,
  setTextBytes: (v: Views, at: number, value: number): void => {
    v.u32[(at + 8) >>> 2] = value;
  },
  read: (v: Views, at: number): NodeHookFields => ({
    requestId: v.f64[at >>> 3] as number,
    textBytes: v.u32[(at + 8) >>> 2] as number,
  }),
  write: (v: Views, at: number, fields: NodeHookFields): void => {
    v.f64[at >>> 3] = fields.requestId;
    v.u32[(at + 8) >>> 2] = fields.textBytes;
  },
  copy: (from: Views, fromAt: number, to: Views, toAt: number): void =>
    copyStruct(from, fromAt, to, toAt, 16),
  /** Its fields one by one. */
  hash: (v: Views, at: number, to: FieldSink): void => {
    to.number(v.f64[at >>> 3] as number);
    to.number(v.u32[(at + 8) >>> 2] as number);
  },
  /** For logs and debuggers. */
  toJson: (v: Views, at: number): unknown => plainJson(NodeHook.read(v, at)),
} as const;
