/**
 * What one market's engine says, written into the rings: everything that happened to clearing, the same plus the
 * answers to the front door, changed levels to market data.
 *
 * To clearing and the front door nothing is ever dropped: what a full ring does not take waits in the outbox. To
 * market data a full ring drops; the edge remembers the gap and is healed by whole books (design rule 3).
 */
import { must } from '../core/assert.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { OrderEnd, RollbackReason, Side } from '../core/order-terms.ts';
import type { RejectCode } from '../core/reject.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { CancelCommand, FillUnit, MarketEvents, NewOrderCommand, ReplaceCommand } from '../matching/commands.ts';
import {
  DepthCommitted,
  DepthReset,
  HeldCancelExpired,
  LevelChanged,
  MarketAck,
  Matched,
  OrderAdmitted,
  OrderEnded,
  OrderReplaced,
  OrderRestored,
} from '../messages/generated/messages.ts';
import type { Outbox, Outlet } from './outbox.ts';

export interface MarketOutlets {
  readonly clearing: Outbox;
  readonly door: Outbox;
  readonly data: Outlet;
}

interface Answer {
  readonly order: number;
  readonly sequence: number;
  readonly code: RejectCode | 0;
  readonly isAdmission: boolean;
}

export class MarketOutput implements MarketEvents {
  definition: MarketDefinition;
  /** Time of the command that is being handled; every event carries it. */
  timeNs: TimestampNs = 0n as TimestampNs;
  /** The create that is being handled, as it lies in the command ring. */
  source: { views: Views; at: number; bytes: number } | null = null;

  private readonly to: MarketOutlets;
  private readonly marketIndex: number;
  private commits = 0;

  constructor(definition: MarketDefinition, to: MarketOutlets) {
    this.definition = definition;
    this.marketIndex = definition.marketIndex;
    this.to = to;
  }

  accepted(sequence: Sequence, command: NewOrderCommand): void {
    this.admitted(sequence, 0);
    this.ack(command.requestId, { order: sequence, sequence, code: 0, isAdmission: true });
  }

  createRefused(sequence: Sequence | 0, command: NewOrderCommand, code: RejectCode): void {
    if (sequence !== 0) this.admitted(sequence, code);
    this.ack(command.requestId, { order: sequence, sequence, code, isAdmission: sequence !== 0 });
  }

  matched(
    sequence: Sequence,
    tradeId: Sequence,
    makerOrder: Sequence,
    takerOrder: Sequence,
    price: number,
    quantity: number,
    takerSide: Side,
    unit: FillUnit,
  ): void {
    for (const outlet of [this.to.clearing, this.to.door]) {
      const at = outlet.claim(Matched.typeId, Matched.bytes);
      const v = outlet.views;
      Matched.setSequence(v, at, sequence);
      Matched.setTimeNs(v, at, this.timeNs);
      Matched.setTradeId(v, at, tradeId);
      Matched.setMakerOrder(v, at, makerOrder);
      Matched.setTakerOrder(v, at, takerOrder);
      Matched.setPrice(v, at, price);
      Matched.setQuantity(v, at, quantity);
      Matched.setMarketIndex(v, at, this.marketIndex);
      Matched.setMakerFeeRate(v, at, this.definition.makerFeeRate);
      Matched.setTakerFeeRate(v, at, this.definition.takerFeeRate);
      Matched.setTakerSide(v, at, takerSide);
      Matched.setUnit(v, at, unit);
      outlet.commit();
    }
  }

  ended(
    sequence: Sequence,
    order: Sequence,
    end: OrderEnd,
    faultReason: RollbackReason,
    remaining: number,
    requestId: number,
  ): void {
    for (const outlet of [this.to.clearing, this.to.door]) {
      const at = outlet.claim(OrderEnded.typeId, OrderEnded.bytes);
      const v = outlet.views;
      OrderEnded.setSequence(v, at, sequence);
      OrderEnded.setTimeNs(v, at, this.timeNs);
      OrderEnded.setOrder(v, at, order);
      OrderEnded.setRemaining(v, at, remaining);
      OrderEnded.setRequestId(v, at, requestId);
      OrderEnded.setMarketIndex(v, at, this.marketIndex);
      OrderEnded.setEnd(v, at, end);
      OrderEnded.setFaultReason(v, at, faultReason);
      outlet.commit();
    }
  }

  replaced(
    sequence: Sequence,
    order: Sequence,
    prioritySequence: Sequence,
    price: number,
    quantityTotal: number,
    timestampNs: TimestampNs,
    requestId: number,
  ): void {
    for (const outlet of [this.to.clearing, this.to.door]) {
      const at = outlet.claim(OrderReplaced.typeId, OrderReplaced.bytes);
      const v = outlet.views;
      OrderReplaced.setSequence(v, at, sequence);
      OrderReplaced.setTimeNs(v, at, this.timeNs);
      OrderReplaced.setOrder(v, at, order);
      OrderReplaced.setPrioritySequence(v, at, prioritySequence);
      OrderReplaced.setPrice(v, at, price);
      OrderReplaced.setQuantity(v, at, quantityTotal);
      OrderReplaced.setTimestampNs(v, at, timestampNs);
      OrderReplaced.setRequestId(v, at, requestId);
      OrderReplaced.setMarketIndex(v, at, this.marketIndex);
      outlet.commit();
    }
    this.ack(requestId, { order, sequence, code: 0, isAdmission: false });
  }

  replaceUnchanged(requestId: number, order: Sequence): void {
    this.ack(requestId, { order, sequence: 0, code: 0, isAdmission: false });
  }

  replaceRefused(command: ReplaceCommand, code: RejectCode): void {
    this.ack(command.requestId, { order: 0, sequence: 0, code, isAdmission: false });
  }

  cancelAccepted(requestId: number, order: Sequence | 0): void {
    this.ack(requestId, { order, sequence: 0, code: 0, isAdmission: false });
  }

  cancelRefused(command: CancelCommand, code: RejectCode): void {
    this.ack(command.requestId, { order: 0, sequence: 0, code, isAdmission: false });
  }

  heldCancelExpired(
    user: Uint8Array,
    userAt: number,
    orderId: Uint8Array,
    orderIdAt: number,
    orderIdBytes: number,
  ): void {
    const outlet = this.to.door;
    const at = outlet.claim(HeldCancelExpired.typeId, HeldCancelExpired.bytes);
    const v = outlet.views;
    HeldCancelExpired.setTimeNs(v, at, this.timeNs);
    HeldCancelExpired.setMarketIndex(v, at, this.marketIndex);
    HeldCancelExpired.setOrderIdBytes(v, at, orderIdBytes);
    v.u8.set(user.subarray(userAt, userAt + HeldCancelExpired.userLength), at + HeldCancelExpired.userAt);
    v.u8.set(orderId.subarray(orderIdAt, orderIdAt + orderIdBytes), at + HeldCancelExpired.orderIdAt);
    outlet.commit();
  }

  restored(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void {
    for (const outlet of [this.to.clearing, this.to.door]) {
      const at = outlet.claim(OrderRestored.typeId, OrderRestored.bytes);
      const v = outlet.views;
      OrderRestored.setSequence(v, at, sequence);
      OrderRestored.setTimeNs(v, at, this.timeNs);
      OrderRestored.setOrder(v, at, order);
      OrderRestored.setPrioritySequence(v, at, prioritySequence);
      OrderRestored.setQuantity(v, at, quantity);
      OrderRestored.setMarketIndex(v, at, this.marketIndex);
      outlet.commit();
    }
  }

  levelChanged(side: Side, price: number, quantity: number): void {
    const outlet = this.to.data;
    const at = outlet.claim(LevelChanged.typeId, LevelChanged.bytes);
    if (at < 0) return;
    LevelChanged.setPrice(outlet.views, at, price);
    LevelChanged.setQuantity(outlet.views, at, quantity);
    LevelChanged.setMarketIndex(outlet.views, at, this.marketIndex);
    LevelChanged.setSide(outlet.views, at, side);
    outlet.commit();
  }

  depthCommitted(): void {
    this.commits += 1;
    const outlet = this.to.data;
    const at = outlet.claim(DepthCommitted.typeId, DepthCommitted.bytes);
    if (at < 0) return;
    DepthCommitted.setCommits(outlet.views, at, this.commits);
    DepthCommitted.setTimeNs(outlet.views, at, this.timeNs);
    DepthCommitted.setMarketIndex(outlet.views, at, this.marketIndex);
    outlet.commit();
  }

  /** Announces that the whole book follows; the caller then tells every level and commits. */
  startDepthReset(sequence: Sequence): void {
    const outlet = this.to.data;
    const at = outlet.claim(DepthReset.typeId, DepthReset.bytes);
    if (at < 0) return;
    DepthReset.setSequence(outlet.views, at, sequence);
    DepthReset.setMarketIndex(outlet.views, at, this.marketIndex);
    outlet.commit();
  }

  private admitted(sequence: Sequence, refusal: number): void {
    const source = must(this.source, 'an admission happens while its create is handled');
    const outlet = this.to.clearing;
    const at = outlet.claim(OrderAdmitted.typeId, OrderAdmitted.bytes + source.bytes);
    const v = outlet.views;
    OrderAdmitted.setSequence(v, at, sequence);
    OrderAdmitted.setTimeNs(v, at, this.timeNs);
    OrderAdmitted.setMarketIndex(v, at, this.marketIndex);
    OrderAdmitted.setRefusal(v, at, refusal);
    v.u8.set(source.views.u8.subarray(source.at, source.at + source.bytes), at + OrderAdmitted.bytes);
    outlet.commit();
  }

  private ack(requestId: number, { order, sequence, code, isAdmission }: Answer): void {
    const outlet = this.to.door;
    const at = outlet.claim(MarketAck.typeId, MarketAck.bytes);
    const v = outlet.views;
    MarketAck.setRequestId(v, at, requestId);
    MarketAck.setOrder(v, at, order);
    MarketAck.setSequence(v, at, sequence);
    MarketAck.setTimeNs(v, at, this.timeNs);
    MarketAck.setMarketIndex(v, at, this.marketIndex);
    MarketAck.setRejectCode(v, at, code);
    MarketAck.setIsAdmission(v, at, isAdmission ? 1 : 0);
    outlet.commit();
  }
}
