/** An order as it lies in its table and its block. Fields in the order written. */
import type { OrderRow } from '../clearing/rows.ts';
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
import type { Field } from './row-tables.ts';

export const orderCodec: Field<OrderRow> = {
  write(to, row) {
    to.u32(row.marketIndex);
    to.safe(row.orderSequence);
    to.safe(row.prioritySequence);
    to.hex(row.user, 32);
    to.u8(row.subAccount);
    to.text(row.orderId);
    to.u8(row.side);
    to.u8(row.kind);
    to.u8(row.tif);
    to.u32(row.flags);
    to.safe(row.price);
    to.safe(row.quantity);
    to.safe(row.amount);
    to.safe(row.budget);
    to.u8(row.triggerKind);
    to.safe(row.triggerPrice);
    to.u8(row.triggerState);
    to.safe(row.parentSequence);
    to.text(row.parentId);
    to.safe(row.enabledQuantity);
    to.safe(row.activatedQuantity);
    to.safe(row.droppedQuantity);
    to.safe(row.maxFeeRate);
    to.u64(row.creationNs);
    to.u64(row.timestampNs);
    to.u64(row.goodUntilNs);
    to.u64(row.expiryNs);
    to.u64(row.admittedNs);
    to.u64(row.lastUpdateNs);
    to.safe(row.filledQuantity);
    to.i128(row.filledNotional);
    to.i128(row.fees);
    to.u8(row.end);
    to.u8(row.faultReason);
    to.u8(row.verdict);
    to.text(row.text);
    to.bytes(row.signature);
  },
  read(from) {
    return {
      marketIndex: from.u32(),
      orderSequence: from.safe() as Sequence,
      prioritySequence: from.safe() as Sequence,
      user: from.hex(32) as UserId,
      subAccount: from.u8(),
      orderId: from.text() as OrderId,
      side: from.u8() as Side,
      kind: from.u8() as OrderKind,
      tif: from.u8() as Tif,
      flags: from.u32(),
      price: from.safe() as RawPrice,
      quantity: from.safe() as RawQuantity,
      amount: from.safe(),
      budget: from.safe(),
      triggerKind: from.u8() as TriggerKind,
      triggerPrice: from.safe() as RawPrice,
      triggerState: from.u8() as TriggerState,
      parentSequence: from.safe() as Sequence | 0,
      parentId: from.text() as OrderId | '',
      enabledQuantity: from.safe(),
      activatedQuantity: from.safe(),
      droppedQuantity: from.safe(),
      maxFeeRate: from.safe(),
      creationNs: from.u64() as TimestampNs,
      timestampNs: from.u64() as TimestampNs,
      goodUntilNs: from.u64() as TimestampNs,
      expiryNs: from.u64() as TimestampNs,
      admittedNs: from.u64() as TimestampNs,
      lastUpdateNs: from.u64() as TimestampNs,
      filledQuantity: from.safe(),
      filledNotional: from.i128() as Amount18,
      fees: from.i128() as Amount18,
      end: from.u8() as OrderEnd | 0,
      faultReason: from.u8() as RollbackReason,
      verdict: from.u8() as SignatureVerdict,
      text: from.text(),
      signature: from.bytes(),
    };
  },
};
