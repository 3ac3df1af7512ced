/**
 * Writes the events of one market's engine into the rings: all events to clearing, the same plus replies to the
 * gateway.
 *
 * To clearing and the gateway nothing is ever dropped: what a full ring does not accept waits in the retry buffer.
 *
 * Market data receives matches, and the levels that `DepthOutput` writes.
 */
import { assert, must } from '../core/assert.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import type { FillGroup, OrderEnd, ProtectionLimit, RollbackReason, Side, TriggerKind } from '../core/order-terms.ts';
import { REJECT_CODE, type RejectCode } from '../core/reject.ts';
import { highWord, isBefore, lowWord } from '../core/time-words.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import type { RetriedPublication, RetryBuffer } from '../runtime/retry-buffer.ts';
import { copyStruct } from '../schema/fields.ts';
import {
  ApplyQuoteSet,
  DepthCommitted,
  DepthReset,
  LevelChanged,
  MarketAck,
  Matched,
  NewOrder,
  OrderActivated,
  OrderAdmitted,
  OrderCancelPending,
  OrderEnded,
  OrderRecord,
  OrderReplaced,
  OrderRestored,
  OrderTriggered,
  ParkedCancelExpired,
  ProtectionEnded,
  ProtectionTriggered,
  QuoteSetApplied,
  QuoteSetChange,
  QuoteSetEnded,
  QuoteSetEntry,
  RequestTaken,
  TradeIdsReserved,
} from '../schema/generated/messages.ts';
import type {
  CancelCommand,
  MarketEvents,
  NewOrderCommand,
  QuoteChanges,
  QuoteSetCommand,
  ReplaceCommand,
} from './commands.ts';
import { ConfirmedPrice } from './confirmed-price.ts';
import { PublishedLevels } from './published-levels.ts';
import type { MarketQuoteSet } from './quote-set.ts';

const SIGNATURE_BYTES: number = ApplyQuoteSet.signatureLength;

/** Copies bytes from word `from` on to a multiple of 4. */
function writeWords(v: Views, at: number, words: Int32Array, from: number, bytes: number): void {
  for (let word = 0; word << 2 < bytes; word += 1) v.i32[(at >>> 2) + word] = words[from + word] as number;
}

// Writes a market's levels to market data. A full ring drops them; the edge then has a gap, which is closed by a whole
// book (design rule 3).

class DepthOutput {
  readonly #marketIndex: number;
  readonly #publication: RetriedPublication;
  #commits = 0;

  constructor(marketIndex: number, publication: RetriedPublication) {
    this.#marketIndex = marketIndex;
    this.#publication = publication;
  }

  levelChanged(side: Side, price: number, quantity: number): void {
    const publication = this.#publication;
    const at = publication.claim(LevelChanged.typeId, LevelChanged.bytes);
    if (at < 0) return;
    LevelChanged.setPrice(publication.views, at, price);
    LevelChanged.setQuantity(publication.views, at, quantity);
    LevelChanged.setMarketIndex(publication.views, at, this.#marketIndex);
    LevelChanged.setSide(publication.views, at, side);
    publication.commit();
  }

  /** Ends the levels of a command. */
  committed(timeHigh: number, timeLow: number): void {
    this.#commits += 1;
    const publication = this.#publication;
    const at = publication.claim(DepthCommitted.typeId, DepthCommitted.bytes);
    if (at < 0) return;
    DepthCommitted.setCommits(publication.views, at, this.#commits);
    DepthCommitted.setTimeNsWords(publication.views, at, timeHigh, timeLow);
    DepthCommitted.setMarketIndex(publication.views, at, this.#marketIndex);
    publication.commit();
  }

  /** Begins a whole book: the caller publishes every level and commits. */
  startReset(sequence: Sequence): void {
    const publication = this.#publication;
    const at = publication.claim(DepthReset.typeId, DepthReset.bytes);
    if (at < 0) return;
    DepthReset.setSequence(publication.views, at, sequence);
    DepthReset.setMarketIndex(publication.views, at, this.#marketIndex);
    publication.commit();
  }
}

export interface MarketOutlets {
  readonly clearing: RetryBuffer;
  readonly gateway: RetryBuffer;
  readonly data: RetriedPublication;
}

interface Answer {
  readonly order: number;
  readonly sequence: number;
  readonly code: RejectCode | 0;
  readonly isAdmission: boolean;
}

export class MarketOutput implements MarketEvents {
  definition: MarketDefinition;
  /** The create that is being handled, as it lies in the command ring. */
  source: { views: Views; at: number; bytes: number } | null = null;
  /** When the command being handled was taken up, for its reply; 0n unless the sender requested it. */
  takenNs = 0n;
  readonly confirmed: ConfirmedPrice = new ConfirmedPrice();

  readonly depth: DepthOutput;
  readonly published: PublishedLevels = new PublishedLevels();
  /** The last published sequence of the market. */
  lastSequence = 0;
  readonly #to: MarketOutlets;
  /** Receivers of every event with a sequence. */
  readonly #listeners: readonly RetryBuffer[];
  /** The same and market data, as pending trades are public. */
  readonly #tradeReaders: readonly Pick<RetriedPublication, 'views' | 'claim' | 'commit'>[];
  readonly #marketIndex: number;
  #timeHigh = 0;
  #timeLow = 0;

  constructor(definition: MarketDefinition, to: MarketOutlets) {
    this.definition = definition;
    this.#marketIndex = definition.marketIndex;
    this.#to = to;
    this.depth = new DepthOutput(definition.marketIndex, to.data);
    this.#listeners = [to.clearing, to.gateway];
    this.#tradeReaders = [to.clearing, to.gateway, to.data];
  }

  /**
   * Time of the next command; every event has it. It never decreases: a command that waited in its ring during
   * decisions of clearing is older than their events, and the times of trades must increase with their ids.
   */
  setTime(high: number, low: number): void {
    if (isBefore(high, low, this.#timeHigh, this.#timeLow)) return;
    this.#timeHigh = high;
    this.#timeLow = low;
  }

  setTimeNs(nowNs: bigint): void {
    this.setTime(highWord(nowNs), lowWord(nowNs));
  }

  /** Events published during `say` have this past time: used only by a test hook (FIL-16). */
  at(timeNs: bigint, say: () => void): void {
    const timeHigh = this.#timeHigh;
    const timeLow = this.#timeLow;
    this.#timeHigh = highWord(timeNs);
    this.#timeLow = lowWord(timeNs);
    say();
    this.#timeHigh = timeHigh;
    this.#timeLow = timeLow;
  }

  accepted(sequence: Sequence, command: NewOrderCommand, parent: Sequence | 0): void {
    this.#admitted(sequence, parent, 0);
    this.#ack(command.requestId, { order: sequence, sequence, code: 0, isAdmission: true });
  }

  createRefused(sequence: Sequence | 0, command: NewOrderCommand, code: RejectCode): void {
    if (sequence !== 0) this.#admitted(sequence, 0, code);
    this.#ack(command.requestId, { order: sequence, sequence, code, isAdmission: sequence !== 0 });
  }

  matched(
    sequence: Sequence,
    tradeId: Sequence,
    makerOrder: Sequence,
    takerOrder: Sequence,
    price: number,
    quantity: number,
    takerSide: Side,
    group: FillGroup,
  ): void {
    this.#count(sequence);
    this.confirmed.matched(tradeId, price, this.#timeHigh, this.#timeLow);
    for (const publication of this.#tradeReaders) {
      const at = publication.claim(Matched.typeId, Matched.bytes);
      // Only the edge to market data drops: it marks the gap and then gets the whole book.
      if (at < 0) continue;
      const v = publication.views;
      Matched.setSequence(v, at, sequence);
      Matched.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      Matched.setTradeId(v, at, tradeId);
      Matched.setMakerOrder(v, at, makerOrder);
      Matched.setTakerOrder(v, at, takerOrder);
      Matched.setPrice(v, at, price);
      Matched.setQuantity(v, at, quantity);
      Matched.setMarketIndex(v, at, this.#marketIndex);
      Matched.setMakerFeeRate(v, at, this.definition.makerFeeRate);
      Matched.setTakerFeeRate(v, at, this.definition.takerFeeRate);
      Matched.setTakerSide(v, at, takerSide);
      Matched.setGroup(v, at, group);
      publication.commit();
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
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(OrderEnded.typeId, OrderEnded.bytes);
      const v = publication.views;
      OrderEnded.setSequence(v, at, sequence);
      OrderEnded.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      OrderEnded.setOrder(v, at, order);
      OrderEnded.setRemaining(v, at, remaining);
      OrderEnded.setRequestId(v, at, requestId);
      OrderEnded.setMarketIndex(v, at, this.#marketIndex);
      OrderEnded.setEnd(v, at, end);
      OrderEnded.setFaultReason(v, at, faultReason);
      publication.commit();
    }
  }

  replaced(
    sequence: Sequence,
    order: Sequence,
    prioritySequence: Sequence,
    price: number,
    quantityTotal: number,
    timestampHigh: number,
    timestampLow: number,
    requestId: number,
    triggerKind: TriggerKind,
    triggerPrice: number,
    isCut: boolean,
  ): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(OrderReplaced.typeId, OrderReplaced.bytes);
      const v = publication.views;
      OrderReplaced.setSequence(v, at, sequence);
      OrderReplaced.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      OrderReplaced.setOrder(v, at, order);
      OrderReplaced.setPrioritySequence(v, at, prioritySequence);
      OrderReplaced.setPrice(v, at, price);
      OrderReplaced.setQuantity(v, at, quantityTotal);
      OrderReplaced.setTimestampNsWords(v, at, timestampHigh, timestampLow);
      OrderReplaced.setRequestId(v, at, requestId);
      OrderReplaced.setTriggerPrice(v, at, triggerPrice);
      OrderReplaced.setTriggerKind(v, at, triggerKind);
      OrderReplaced.setMarketIndex(v, at, this.#marketIndex);
      OrderReplaced.setIsCut(v, at, isCut);
      publication.commit();
    }
    if (requestId !== 0) this.#ack(requestId, { order, sequence, code: 0, isAdmission: false });
  }

  replaceUnchanged(requestId: number, order: Sequence): void {
    this.#ack(requestId, { order, sequence: 0, code: 0, isAdmission: false });
  }

  replaceRefused(command: ReplaceCommand, code: RejectCode): void {
    this.#ack(command.requestId, { order: 0, sequence: 0, code, isAdmission: false });
  }

  /** The answer rests on what the cancel caused, which was published before; a parked cancel has caused nothing yet. */
  cancelAccepted(requestId: number, order: Sequence | 0): void {
    // mutant: cancel-rests-on-its-end
    this.#ack(requestId, { order, sequence: order === 0 ? 0 : this.lastSequence, code: 0, isAdmission: false });
  }

  /** That an order is cancelled already rests on the cancel before, which may not be decided. */
  cancelRefused(command: CancelCommand, code: RejectCode): void {
    const sequence = code === REJECT_CODE.ALREADY_CANCELLED ? this.lastSequence : 0;
    this.#ack(command.requestId, { order: 0, sequence, code, isAdmission: false });
  }

  allCancelled(requestId: number): void {
    this.#ack(requestId, { order: 0, sequence: 0, code: 0, isAdmission: false });
  }

  parkedCancelExpired(
    user: Int32Array,
    userAt: number,
    orderId: Int32Array,
    orderIdAt: number,
    orderIdBytes: number,
  ): void {
    const publication = this.#to.gateway;
    const at = publication.claim(ParkedCancelExpired.typeId, ParkedCancelExpired.bytes);
    const v = publication.views;
    ParkedCancelExpired.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
    ParkedCancelExpired.setMarketIndex(v, at, this.#marketIndex);
    ParkedCancelExpired.setOrderIdBytes(v, at, orderIdBytes);
    const userWords = ParkedCancelExpired.userLength >>> 2;
    v.i32.set(user.subarray(userAt, userAt + userWords), (at + ParkedCancelExpired.userAt) >>> 2);
    const idWords = (orderIdBytes + 3) >>> 2;
    v.i32.set(orderId.subarray(orderIdAt, orderIdAt + idWords), (at + ParkedCancelExpired.orderIdAt) >>> 2);
    publication.commit();
  }

  restored(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(OrderRestored.typeId, OrderRestored.bytes);
      const v = publication.views;
      OrderRestored.setSequence(v, at, sequence);
      OrderRestored.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      OrderRestored.setOrder(v, at, order);
      OrderRestored.setPrioritySequence(v, at, prioritySequence);
      OrderRestored.setQuantity(v, at, quantity);
      OrderRestored.setMarketIndex(v, at, this.#marketIndex);
      publication.commit();
    }
  }

  triggered(sequence: Sequence, order: Sequence, triggerPrice: number, quantity: number): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(OrderTriggered.typeId, OrderTriggered.bytes);
      const v = publication.views;
      OrderTriggered.setSequence(v, at, sequence);
      OrderTriggered.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      OrderTriggered.setOrder(v, at, order);
      OrderTriggered.setTriggerPrice(v, at, triggerPrice);
      OrderTriggered.setQuantity(v, at, quantity);
      OrderTriggered.setMarketIndex(v, at, this.#marketIndex);
      publication.commit();
    }
  }

  activated(sequence: Sequence, order: Sequence, prioritySequence: Sequence, quantity: number): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(OrderActivated.typeId, OrderActivated.bytes);
      const v = publication.views;
      OrderActivated.setSequence(v, at, sequence);
      OrderActivated.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      OrderActivated.setOrder(v, at, order);
      OrderActivated.setPrioritySequence(v, at, prioritySequence);
      OrderActivated.setQuantity(v, at, quantity);
      OrderActivated.setMarketIndex(v, at, this.#marketIndex);
      publication.commit();
    }
  }

  cancelPending(sequence: Sequence, order: Sequence): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(OrderCancelPending.typeId, OrderCancelPending.bytes);
      const v = publication.views;
      OrderCancelPending.setSequence(v, at, sequence);
      OrderCancelPending.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      OrderCancelPending.setOrder(v, at, order);
      OrderCancelPending.setMarketIndex(v, at, this.#marketIndex);
      publication.commit();
    }
  }

  protectionTriggered(
    sequence: Sequence,
    user: Int32Array,
    slot: number,
    limit: ProtectionLimit,
    frozenUntilNs: bigint,
  ): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(ProtectionTriggered.typeId, ProtectionTriggered.bytes);
      const v = publication.views;
      ProtectionTriggered.setSequence(v, at, sequence);
      ProtectionTriggered.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      ProtectionTriggered.setFrozenUntilNs(v, at, frozenUntilNs as TimestampNs);
      ProtectionTriggered.setMarketIndex(v, at, this.#marketIndex);
      ProtectionTriggered.setSlot(v, at, slot);
      ProtectionTriggered.setLimit(v, at, limit);
      v.i32.set(user, (at + ProtectionTriggered.userAt) >>> 2);
      publication.commit();
    }
  }

  protectionEnded(sequence: Sequence, user: Int32Array, slot: number, trip: Sequence): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(ProtectionEnded.typeId, ProtectionEnded.bytes);
      const v = publication.views;
      ProtectionEnded.setSequence(v, at, sequence);
      ProtectionEnded.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      ProtectionEnded.setTrip(v, at, trip);
      ProtectionEnded.setMarketIndex(v, at, this.#marketIndex);
      ProtectionEnded.setSlot(v, at, slot);
      v.i32.set(user, (at + ProtectionEnded.userAt) >>> 2);
      publication.commit();
    }
  }

  tradeIdsReserved(sequence: Sequence, firstTradeId: Sequence, count: number): void {
    this.#count(sequence);
    for (let reserved = 0; reserved < count; reserved += 1) this.confirmed.skipped(firstTradeId + reserved);
    for (const publication of this.#listeners) {
      const at = publication.claim(TradeIdsReserved.typeId, TradeIdsReserved.bytes);
      const v = publication.views;
      TradeIdsReserved.setSequence(v, at, sequence);
      TradeIdsReserved.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      TradeIdsReserved.setFirstTradeId(v, at, firstTradeId);
      TradeIdsReserved.setCount(v, at, count);
      TradeIdsReserved.setMarketIndex(v, at, this.#marketIndex);
      publication.commit();
    }
  }

  quoteSetApplied(command: QuoteSetCommand, set: MarketQuoteSet, changes: QuoteChanges): void {
    assert(changes.first === this.lastSequence + 1, 'the numbers of a market are published without a gap');
    this.lastSequence += changes.sequences;
    // mutant: taken-of-a-quote-set
    if (this.takenNs !== 0n) this.#publishTaken(command.requestId);
    const source = must(this.source, 'a set is applied while its command is handled');
    const signedAt = source.at + ApplyQuoteSet.bytes + (command.bids + command.asks) * QuoteSetEntry.bytes;
    const signedBytes = source.bytes - (signedAt - source.at);
    for (const publication of this.#listeners) {
      const hasText = publication === this.#to.clearing;
      const tailAt = QuoteSetApplied.bytes + changes.count * QuoteSetChange.bytes;
      const at = publication.claim(QuoteSetApplied.typeId, tailAt + (hasText ? signedBytes : 0));
      const v = publication.views;
      this.#writeApplied(v, at, command, set, changes);
      if (hasText) {
        copyStruct(
          source.views,
          source.at + ApplyQuoteSet.signatureAt,
          v,
          at + QuoteSetApplied.signatureAt,
          SIGNATURE_BYTES,
        );
        v.u8.set(source.views.u8.subarray(signedAt, signedAt + signedBytes), at + tailAt);
      }
      QuoteSetApplied.setTextBytes(v, at, hasText ? ApplyQuoteSet.textBytes(source.views, source.at) : 0);
      QuoteSetApplied.setSignaturesBytes(v, at, hasText ? ApplyQuoteSet.signaturesBytes(source.views, source.at) : 0);
      publication.commit();
    }
  }

  #writeApplied(v: Views, at: number, command: QuoteSetCommand, set: MarketQuoteSet, changes: QuoteChanges): void {
    QuoteSetApplied.setSequence(v, at, changes.first);
    QuoteSetApplied.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
    QuoteSetApplied.setRequestId(v, at, command.requestId);
    QuoteSetApplied.setRevisionNsWords(v, at, set.revisionHigh, set.revisionLow);
    QuoteSetApplied.setGoodUntilNsWords(v, at, set.goodUntilHigh, set.goodUntilLow);
    QuoteSetApplied.setLastTradeId(v, at, set.appliedTrade);
    QuoteSetApplied.setLastNumber(v, at, set.lastNumber);
    QuoteSetApplied.setMarkFloorNsWords(v, at, set.markFloorHigh, set.markFloorLow);
    QuoteSetApplied.setNumberFloor(v, at, set.numberFloor);
    QuoteSetApplied.setSequences(v, at, changes.sequences);
    QuoteSetApplied.setMaxFeeRate(v, at, set.maxFeeRate);
    QuoteSetApplied.setMarketIndex(v, at, this.#marketIndex);
    writeWords(v, at + QuoteSetApplied.userAt, command.words, command.userAt, QuoteSetApplied.userLength);
    writeWords(v, at + QuoteSetApplied.setIdAt, set.nameWords, 0, QuoteSetApplied.setIdLength);
    QuoteSetApplied.setSetIdBytes(v, at, set.nameBytes);
    QuoteSetApplied.setSubAccount(v, at, set.subAccount);
    QuoteSetApplied.setFlags(v, at, set.flags);
    QuoteSetApplied.setChanges(v, at, changes.count);
    QuoteSetApplied.setKept(v, at, changes.kept);
    QuoteSetApplied.setAddCode(v, at, changes.addCode);
    QuoteSetApplied.setSlot(v, at, set.slot);
    QuoteSetApplied.setProtectionGroup(v, at, set.protectionGroup);
    QuoteSetApplied.setTermsChanged(v, at, changes.termsChanged);
    QuoteSetApplied.setIsOver(v, at, set.isOver);
    let change = at + QuoteSetApplied.bytes;
    for (let place = 0; place < changes.count; place += 1, change += QuoteSetChange.bytes) {
      QuoteSetChange.setOrder(v, change, changes.orders[place] as number);
      QuoteSetChange.setPrioritySequence(v, change, changes.priorities[place] as number);
      QuoteSetChange.setPrice(v, change, changes.prices[place] as number);
      QuoteSetChange.setRests(v, change, changes.rests[place] as number);
      QuoteSetChange.setNumber(v, change, changes.numbers[place] as number);
      QuoteSetChange.setChange(v, change, changes.kinds[place] as number);
      QuoteSetChange.setSide(v, change, changes.sides[place] as number);
    }
  }

  quoteSetRefused(requestId: number, code: RejectCode): void {
    // That it is too old rests on what was applied before, which may not be decided.
    this.#ack(requestId, { order: 0, sequence: this.lastSequence, code, isAdmission: false });
  }

  quoteSetEnded(sequence: Sequence, set: MarketQuoteSet, end: OrderEnd | 0): void {
    this.#count(sequence);
    for (const publication of this.#listeners) {
      const at = publication.claim(QuoteSetEnded.typeId, QuoteSetEnded.bytes);
      const v = publication.views;
      QuoteSetEnded.setSequence(v, at, sequence);
      QuoteSetEnded.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
      QuoteSetEnded.setMarkNsWords(v, at, set.markHigh, set.markLow);
      QuoteSetEnded.setMarketIndex(v, at, this.#marketIndex);
      writeWords(v, at + QuoteSetEnded.userAt, set.userWords, 0, QuoteSetEnded.userLength);
      QuoteSetEnded.setSlot(v, at, set.slot);
      QuoteSetEnded.setEnd(v, at, end);
      publication.commit();
    }
  }

  quoteSetsEnded(requestId: number, code: RejectCode | 0): void {
    this.#ack(requestId, { order: 0, sequence: code === 0 ? this.lastSequence : 0, code, isAdmission: false });
  }

  levelChanged(side: Side, price: number, quantity: number): void {
    this.published.note(side, price, quantity);
    this.depth.levelChanged(side, price, quantity);
  }

  depthCommitted(): void {
    this.depth.committed(this.#timeHigh, this.#timeLow);
  }

  /** Receivers of this market rely on contiguous sequences. */
  #count(sequence: Sequence): void {
    assert(sequence === this.lastSequence + 1, 'the numbers of a market are published without a gap');
    this.lastSequence = sequence;
  }

  #admitted(sequence: Sequence, parent: number, refusal: number): void {
    this.#count(sequence);
    const source = must(this.source, 'an admission happens while its create is handled');
    const publication = this.#to.clearing;
    const at = publication.claim(OrderAdmitted.typeId, OrderAdmitted.bytes + source.bytes);
    const v = publication.views;
    OrderAdmitted.setSequence(v, at, sequence);
    OrderAdmitted.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
    OrderAdmitted.setMarketIndex(v, at, this.#marketIndex);
    OrderAdmitted.setRefusal(v, at, refusal);
    copyStruct(source.views, source.at, v, at + OrderAdmitted.bytes, source.bytes);
    const record = at + OrderAdmitted.bytes + NewOrder.orderAt;
    OrderRecord.setOrderSequence(v, record, sequence);
    OrderRecord.setPrioritySequence(v, record, sequence);
    OrderRecord.setParentSequence(v, record, parent);
    OrderRecord.setAdmittedNsWords(v, record, this.#timeHigh, this.#timeLow);
    OrderRecord.setLastUpdateNsWords(v, record, this.#timeHigh, this.#timeLow);
    publication.commit();
  }

  #ack(requestId: number, { order, sequence, code, isAdmission }: Answer): void {
    const publication = this.#to.gateway;
    const at = publication.claim(MarketAck.typeId, MarketAck.bytes);
    const v = publication.views;
    MarketAck.setRequestId(v, at, requestId);
    MarketAck.setOrder(v, at, order);
    MarketAck.setSequence(v, at, sequence);
    MarketAck.setTimeNsWords(v, at, this.#timeHigh, this.#timeLow);
    if (this.takenNs === 0n) MarketAck.setTakenNsWords(v, at, 0, 0);
    else this.#writeTaken(v, at);
    MarketAck.setMarketIndex(v, at, this.#marketIndex);
    MarketAck.setRejectCode(v, at, code);
    MarketAck.setIsAdmission(v, at, isAdmission);
    publication.commit();
  }

  /** What answers a quote set goes to the journal too, which has no place for it. */
  #publishTaken(requestId: number): void {
    const publication = this.#to.gateway;
    const at = publication.claim(RequestTaken.typeId, RequestTaken.bytes);
    RequestTaken.setRequestId(publication.views, at, requestId);
    RequestTaken.setTakenNs(publication.views, at, this.takenNs);
    publication.commit();
    this.takenNs = 0n;
  }

  #writeTaken(v: Views, at: number): void {
    MarketAck.setTakenNs(v, at, this.takenNs);
    this.takenNs = 0n;
  }
}
