/**
 * What a journal record decided, as bytes: recorded by the handlers in the order of their decisions, for the row log
 * (EXP-00). A state without a recorder records nothing and decides the same.
 *
 *   begin ─▶ orders, fills, balances with their causes, facts ─▶ close ─▶ bytes of the record ─▶ rows (src/evidence/row-bytes.ts)
 *
 * Bytes of a record stand by themselves: a market, a balance or a position is defined by the first outcome about it, a
 * balance with what it was before. Of a confirmed fill one outcome is recorded, from which its ledger rows follow; every
 * other change of a balance has an outcome of its own, with the cause that its handler has set before. The closing
 * outcome has what each balance is in the end, so the reader finds a change without an outcome.
 *
 * Nothing is allocated for an outcome of an order, a fill or a balance: they are written into one buffer, which grows and
 * stays. Others are cold and are plain values.
 */
import { assert, InvariantError } from '../core/assert.ts';
import { LEDGER_ENTRY, type LedgerEntry } from '../core/ledger-entries.ts';
import { ORDER_FLAG, type OrderEnd, ROLLBACK_REASON, type RollbackReason, type Side } from '../core/order-terms.ts';
import { LEG, type Leg, type OrderOutcome, OUTCOME, type QuoteSetOutcome } from '../core/outcomes.ts';
import { type RawPrice, type RawQuantity, type Sequence, type TimestampNs, ZERO_18 } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { type Legs, NO_LEGS } from '../risk/position.ts';
import { writeText } from '../schema/fields.ts';
import {
  OrderRecord,
  OrderRecordView,
  OutcomeBalance,
  OutcomeClosing,
  OutcomeFact,
  OutcomeFill,
  OutcomeHead,
  OutcomeLedger,
  OutcomeMarket,
  OutcomeOrder,
  OutcomePosition,
  OutcomeQuoteSet,
  QuoteSetChange,
} from '../schema/generated/messages.ts';
import { writeInt128 } from '../schema/int128.ts';
import { encodePlain } from '../schema/plain-values.ts';
import type { Fill, Party } from './fill-plan.ts';
import type { QuoteSetChangeInput } from './inputs.ts';
import type { OrderRow, QuoteSetRow, SignedText } from './rows.ts';
import type { BalanceSlot, ClearingMarket, PositionSlot } from './state.ts';

const INITIAL_BYTES = 1 << 16;
const INT128_BYTES = 16;
/** A change without a cause. */
const NO_CAUSE = -1;
/** The changes follow from the fills that are recorded behind them. */
const OF_FILLS = -2;
const NO_ACCOUNT = 0xffff_ffff;
const NO_BYTES = new Uint8Array();
export const NO_SIGNED: SignedText = { text: '', signatures: NO_BYTES };

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** What was decided of a quote set. */
interface QuoteSetDecision {
  readonly timeNs: TimestampNs;
  readonly end: OrderEnd | 0;
  readonly changes: readonly QuoteSetChangeInput[];
  readonly signed: SignedText;
}

/** A trade of auto-deleveraging. */
interface DeleveragedTrade {
  readonly tradeId: Sequence;
  readonly price: RawPrice;
  readonly quantity: RawQuantity;
  readonly timeNs: TimestampNs;
  readonly takerSide: Side;
  readonly maker: PositionSlot;
  readonly taker: PositionSlot;
}

export class OutcomeRecorder {
  #v: Views = viewsOf(new ArrayBuffer(INITIAL_BYTES), 0, INITIAL_BYTES);
  /** Where the next outcome begins. */
  #at = 0;
  /** Balances and positions of this record, in the order of their numbers; those behind `#count` are of records before. */
  readonly #accounts: (BalanceSlot | PositionSlot)[] = [];
  #count = 0;
  /** By market index: the record that has defined it. */
  readonly #markets: number[] = [];
  #record = 0;
  #isOpening = false;
  #entry: number = NO_CAUSE;
  #reference = '';
  #marketIndex = 0;
  #tradeId = 0;
  /** The part of the next change that is a fee of rebalancing. */
  #fee: bigint = ZERO_18;
  /** Before the change that is being made: of a balance, or of the legs of a position. */
  #before: bigint = ZERO_18;
  #quoteBefore: bigint = ZERO_18;

  /** Of the record that was closed last, valid until the next begins. */
  get bytes(): Uint8Array {
    return this.#v.u8.subarray(0, this.#at);
  }

  /** What was before the first record of a log goes with it: the next `begin` begins nothing anew. */
  beginOpening(): void {
    this.begin();
    this.#isOpening = true;
  }

  /** A record is applied from here on. */
  begin(): void {
    if (this.#isOpening) {
      this.#isOpening = false;
      this.noCause();
      return;
    }
    this.#at = 0;
    this.#count = 0;
    this.#record += 1;
    this.noCause();
  }

  /** All of the record is applied. */
  close(): void {
    const count = this.#count;
    if (count === 0) return;
    let bytes = padded(OutcomeClosing.bytes);
    for (let number = 0; number < count; number += 1)
      bytes += isPosition(this.#accounts[number] as BalanceSlot | PositionSlot) ? 3 * INT128_BYTES : INT128_BYTES;
    let to = this.#claimClean(OUTCOME.closing, bytes);
    const v = this.#v;
    OutcomeClosing.setAccounts(v, to, count);
    to += padded(OutcomeClosing.bytes);
    for (let number = 0; number < count; number += 1) {
      const slot = this.#accounts[number] as BalanceSlot | PositionSlot;
      if (isPosition(slot)) {
        writeInt128(v, to, slot.legs.base);
        writeInt128(v, to + INT128_BYTES, slot.legs.quote);
        writeInt128(v, to + 2 * INT128_BYTES, slot.legs.entry);
        to += 3 * INT128_BYTES;
      } else {
        writeInt128(v, to, slot.owned + slot.locked);
        to += INT128_BYTES;
      }
    }
  }

  // ---- causes

  /** No change of a balance may follow. Before each input. */
  noCause(): void {
    this.#entry = NO_CAUSE;
    this.#fee = ZERO_18;
  }

  /**
   * Why the changes that follow are made, and what they belong to.
   *
   * @param fee the part of the next change that is a fee of rebalancing, signed as that change is.
   */
  cause(entry: LedgerEntry, reference: string, fee: bigint = ZERO_18): void {
    this.#entry = entry;
    this.#reference = reference;
    this.#tradeId = 0;
    this.#fee = fee;
  }

  /** The same of a trade. */
  causeOfTrade(entry: LedgerEntry, market: ClearingMarket, tradeId: Sequence): void {
    this.cause(entry, '');
    this.#defineMarket(market);
    this.#marketIndex = market.definition.marketIndex;
    this.#tradeId = tradeId;
  }

  /** The changes that follow are those of fills, which are recorded when all of them are booked. */
  causeOfFills(): void {
    this.#entry = OF_FILLS;
  }

  // ---- balances and positions

  /** A balance is about to change. */
  balanceMoves(slot: BalanceSlot): void {
    this.#balance(slot);
    if (this.#entry !== OF_FILLS) this.#before = slot.owned + slot.locked;
  }

  /** It has changed. @throws InvariantError for a change without a cause. */
  balanceMoved(slot: BalanceSlot): void {
    if (this.#entry === OF_FILLS) return;
    const after = slot.owned + slot.locked;
    if (after !== this.#before) this.#ledger(slot.outcomeAt, LEG.balance, after - this.#before);
  }

  /** The legs of a position are about to change. */
  legsMove(slot: PositionSlot): void {
    this.#position(slot);
    if (this.#entry === OF_FILLS) return;
    this.#before = slot.legs.base;
    this.#quoteBefore = slot.legs.quote;
  }

  /** They have changed. @throws InvariantError for a change without a cause. */
  legsMoved(slot: PositionSlot): void {
    if (this.#entry === OF_FILLS) return;
    const { base, quote } = slot.legs;
    if (base !== this.#before) this.#ledger(slot.outcomeAt, LEG.base, base - this.#before);
    if (quote !== this.#quoteBefore) this.#ledger(slot.outcomeAt, LEG.quote, quote - this.#quoteBefore);
  }

  /** The balance when the row log begins; the position with both legs. */
  openBalance(slot: BalanceSlot): void {
    const owned = slot.owned + slot.locked;
    if (owned === 0n) return;
    this.cause(LEDGER_ENTRY.opening, '');
    this.#ledger(this.#defineBalance(slot, ZERO_18), LEG.balance, owned);
  }

  openPosition(slot: PositionSlot): void {
    const { base, quote } = slot.legs;
    if (base === 0n && quote === 0n) return;
    this.cause(LEDGER_ENTRY.opening, '');
    this.#definePosition(slot, NO_LEGS);
    if (base !== 0n) this.#ledger(slot.outcomeAt, LEG.base, base);
    if (quote !== 0n) this.#ledger(slot.outcomeAt, LEG.quote, quote);
  }

  #ledger(account: number, leg: Leg, change: bigint): void {
    if (this.#entry < 0) throw new InvariantError('a balance changes for a reason');
    const reference = this.#tradeId === 0 ? this.#reference : '';
    const at = this.#claimClean(OUTCOME.ledger, OutcomeLedger.bytes + reference.length);
    const v = this.#v;
    OutcomeLedger.setChange(v, at, change);
    OutcomeLedger.setFee(v, at, this.#fee);
    OutcomeLedger.setTradeId(v, at, this.#tradeId);
    OutcomeLedger.setAccount(v, at, account);
    OutcomeLedger.setMarketIndex(v, at, this.#marketIndex);
    OutcomeLedger.setReferenceBytes(v, at, reference.length);
    OutcomeLedger.setEntry(v, at, this.#entry);
    OutcomeLedger.setLeg(v, at, leg);
    if (reference.length > 0) writeText(v, at + OutcomeLedger.bytes, reference);
    this.#fee = ZERO_18;
  }

  #isDefined(slot: BalanceSlot | PositionSlot): boolean {
    return slot.outcomeAt < this.#count && this.#accounts[slot.outcomeAt] === slot;
  }

  /** The number of a balance, which is defined if it is not yet. */
  #balance(slot: BalanceSlot): number {
    return this.#isDefined(slot) ? slot.outcomeAt : this.#defineBalance(slot, slot.owned + slot.locked);
  }

  #defineBalance(slot: BalanceSlot, before: bigint): number {
    const { user, subAccount, asset } = slot;
    const at = this.#claimClean(OUTCOME.balance, OutcomeBalance.bytes + asset.length);
    const v = this.#v;
    OutcomeBalance.setBefore(v, at, before);
    OutcomeBalance.setUser(v, at, user);
    OutcomeBalance.setSubAccount(v, at, subAccount);
    OutcomeBalance.setAssetBytes(v, at, asset.length);
    writeText(v, at + OutcomeBalance.bytes, asset);
    return this.#define(slot);
  }

  #position(slot: PositionSlot): number {
    return this.#isDefined(slot) ? slot.outcomeAt : this.#definePosition(slot, slot.legs);
  }

  #definePosition(slot: PositionSlot, legs: Pick<Legs, 'base' | 'quote'>): number {
    const { user, subAccount, asset } = slot;
    const at = this.#claimClean(OUTCOME.position, OutcomePosition.bytes + asset.length);
    const v = this.#v;
    OutcomePosition.setBase(v, at, legs.base);
    OutcomePosition.setQuote(v, at, legs.quote);
    OutcomePosition.setUser(v, at, user);
    OutcomePosition.setSubAccount(v, at, subAccount);
    OutcomePosition.setAssetBytes(v, at, asset.length);
    writeText(v, at + OutcomePosition.bytes, asset);
    return this.#define(slot);
  }

  #define(slot: BalanceSlot | PositionSlot): number {
    const number = this.#count;
    this.#accounts[number] = slot;
    slot.outcomeAt = number;
    this.#count += 1;
    return number;
  }

  #defineMarket({ definition }: ClearingMarket): void {
    const { marketIndex, assetId, priceDecimals, quantityDecimals } = definition;
    if (this.#markets[marketIndex] === this.#record) return;
    this.#markets[marketIndex] = this.#record;
    const at = this.#claimClean(OUTCOME.market, OutcomeMarket.bytes + assetId.length);
    const v = this.#v;
    OutcomeMarket.setMarketIndex(v, at, marketIndex);
    OutcomeMarket.setAssetBytes(v, at, assetId.length);
    OutcomeMarket.setPriceDecimals(v, at, priceDecimals);
    OutcomeMarket.setQuantityDecimals(v, at, quantityDecimals);
    writeText(v, at + OutcomeMarket.bytes, assetId);
  }

  // ---- orders

  /**
   * Something has happened to an order.
   *
   * @param row its record after that. @param signed what was signed of an order that was admitted now.
   */
  order(
    market: ClearingMarket,
    event: OrderOutcome,
    row: OrderRow,
    { text, signatures }: SignedText = NO_SIGNED,
  ): void {
    this.#defineMarket(market);
    const at = this.#claim(OUTCOME.order, OutcomeOrder.bytes + text.length + signatures.length);
    const v = this.#v;
    v.u32[(at + OutcomeOrder.bytes - 4) >>> 2] = 0;
    if (row instanceof OrderRecordView) OrderRecord.copy(row.v, row.at, v, at + OutcomeOrder.orderAt);
    else OrderRecord.write(v, at + OutcomeOrder.orderAt, row);
    OutcomeOrder.setTextBytes(v, at, text.length);
    OutcomeOrder.setSignaturesBytes(v, at, signatures.length);
    OutcomeOrder.setEvent(v, at, event);
    const textAt = at + OutcomeOrder.bytes;
    if (text.length > 0) writeText(v, textAt, text);
    if (signatures.length > 0) v.u8.set(signatures, textAt + text.length);
  }

  /** A quote set was applied with these changes, or is marked, or has ended. */
  quoteSet(
    market: ClearingMarket,
    event: QuoteSetOutcome,
    row: QuoteSetRow,
    { timeNs, end, changes, signed }: QuoteSetDecision,
  ): void {
    this.#defineMarket(market);
    const { text, signatures } = signed;
    const changesAt = padded(OutcomeQuoteSet.bytes);
    const textAt = changesAt + changes.length * QuoteSetChange.bytes;
    const at = this.#claimClean(OUTCOME.quoteSet, textAt + text.length + signatures.length);
    const v = this.#v;
    OutcomeQuoteSet.setSequence(v, at, row.sequence);
    OutcomeQuoteSet.setEventNs(v, at, timeNs);
    OutcomeQuoteSet.setRevisionNs(v, at, row.revisionNs);
    OutcomeQuoteSet.setMarkNs(v, at, row.markNs);
    OutcomeQuoteSet.setGoodUntilNs(v, at, row.goodUntilNs);
    OutcomeQuoteSet.setMaxFeeRate(v, at, row.maxFeeRate);
    OutcomeQuoteSet.setMarketIndex(v, at, row.marketIndex);
    OutcomeQuoteSet.setTextBytes(v, at, text.length);
    OutcomeQuoteSet.setUser(v, at, row.user);
    OutcomeQuoteSet.setSetId(v, at, row.setId);
    OutcomeQuoteSet.setSubAccount(v, at, row.subAccount);
    OutcomeQuoteSet.setFlags(v, at, row.flags);
    OutcomeQuoteSet.setChanges(v, at, changes.length);
    OutcomeQuoteSet.setSignaturesBytes(v, at, signatures.length);
    OutcomeQuoteSet.setEvent(v, at, event);
    OutcomeQuoteSet.setEnd(v, at, end);
    OutcomeQuoteSet.setProtectionGroup(v, at, row.protectionGroup);
    let to = at + changesAt;
    for (const change of changes) {
      QuoteSetChange.write(v, to, change);
      to += QuoteSetChange.bytes;
    }
    if (text.length > 0) writeText(v, to, text);
    if (signatures.length > 0) v.u8.set(signatures, to + text.length);
  }

  // ---- fills

  /**
   * A fill is confirmed: its balances were booked under `causeOfFills`.
   *
   * @param fees the balance that got the fees of its match, of the last fill of one that has fees; else null.
   */
  filled(market: ClearingMarket, fill: Fill, fees: BalanceSlot | null): void {
    this.#fill(market, fill, ROLLBACK_REASON.none, ROLLBACK_REASON.none, fees);
  }

  /** A fill was rolled back. */
  rolledBack(market: ClearingMarket, fill: Fill, maker: RollbackReason, taker: RollbackReason): void {
    this.#fill(market, fill, maker, taker, null);
  }

  #fill(
    market: ClearingMarket,
    { input, maker, taker }: Fill,
    makerReason: number,
    takerReason: number,
    fees: BalanceSlot | null,
  ): void {
    this.#defineMarket(market);
    const makerBase = this.#baseOf(maker);
    const makerUsd = this.#usdOf(maker);
    const takerBase = this.#baseOf(taker);
    const takerUsd = this.#usdOf(taker);
    const ofMaker = maker.slot.row;
    const ofTaker = taker.slot.row;
    const feeAccount = fees === null ? NO_ACCOUNT : this.#balance(fees);
    const makerIdBytes = OrderRecord.orderIdBytes(ofMaker.v, ofMaker.at);
    const takerIdBytes = OrderRecord.orderIdBytes(ofTaker.v, ofTaker.at);
    const takerIdAt = OutcomeFill.bytes + ((makerIdBytes + 3) & ~3);
    const at = this.#claim(OUTCOME.fill, takerIdAt + takerIdBytes);
    const v = this.#v;
    v.u32[(at + OutcomeFill.bytes - 8) >>> 2] = 0;
    v.u32[(at + OutcomeFill.bytes - 4) >>> 2] = 0;
    OutcomeFill.setTradeId(v, at, input.tradeId);
    OutcomeFill.setMakerOrder(v, at, input.makerOrder);
    OutcomeFill.setTakerOrder(v, at, input.takerOrder);
    OutcomeFill.setPrice(v, at, input.price);
    OutcomeFill.setQuantity(v, at, input.quantity);
    OutcomeFill.setEventNs(v, at, input.timeNs);
    OutcomeFill.setMarketIndex(v, at, input.marketIndex);
    OutcomeFill.setMakerFeeRate(v, at, maker.feeRate);
    OutcomeFill.setTakerFeeRate(v, at, taker.feeRate);
    OutcomeFill.setMakerBase(v, at, makerBase);
    OutcomeFill.setMakerUsd(v, at, makerUsd);
    OutcomeFill.setTakerBase(v, at, takerBase);
    OutcomeFill.setTakerUsd(v, at, takerUsd);
    OutcomeFill.setFeeAccount(v, at, feeAccount);
    OutcomeFill.setMakerReason(v, at, makerReason);
    OutcomeFill.setTakerReason(v, at, takerReason);
    OutcomeFill.setTakerSide(v, at, OrderRecord.side(ofTaker.v, ofTaker.at));
    OutcomeFill.setMakerIdBytes(v, at, makerIdBytes);
    OutcomeFill.setTakerIdBytes(v, at, takerIdBytes);
    const isLiquidation = (OrderRecord.flags(ofTaker.v, ofTaker.at) & ORDER_FLAG.liquidation) !== 0;
    if (isLiquidation) OutcomeFill.setIsLiquidation(v, at, true);
    this.#copyId(ofMaker, makerIdBytes, at + OutcomeFill.bytes);
    this.#copyId(ofTaker, takerIdBytes, at + takerIdAt);
  }

  /** By words: behind an id its field is zeros. */
  #copyId(row: OrderRecordView, bytes: number, to: number): void {
    const target = this.#v.u32;
    const source = row.v.u32;
    const from = (row.at + OrderRecord.orderIdAt) >>> 2;
    const words = (bytes + 3) >>> 2;
    for (let word = 0; word < words; word += 1) target[(to >>> 2) + word] = source[from + word] as number;
  }

  #baseOf({ slot }: Party): number {
    return slot.position === null ? this.#balance(slot.base) : this.#position(slot.position);
  }

  #usdOf({ slot }: Party): number {
    return slot.position === null ? this.#balance(slot.usd) : NO_ACCOUNT;
  }

  /** A trade of auto-deleveraging, whose legs were recorded before. */
  deleveraged(market: ClearingMarket, trade: DeleveragedTrade): void {
    this.#defineMarket(market);
    const makerBase = this.#position(trade.maker);
    const takerBase = this.#position(trade.taker);
    const at = this.#claimClean(OUTCOME.fill, OutcomeFill.bytes);
    OutcomeFill.write(this.#v, at, {
      size: OutcomeFill.bytes,
      kind: OUTCOME.fill,
      tradeId: trade.tradeId,
      makerOrder: 0 as Sequence,
      takerOrder: 0 as Sequence,
      price: trade.price,
      quantity: trade.quantity,
      eventNs: trade.timeNs,
      marketIndex: market.definition.marketIndex,
      makerFeeRate: 0,
      takerFeeRate: 0,
      makerBase,
      makerUsd: NO_ACCOUNT,
      takerBase,
      takerUsd: NO_ACCOUNT,
      feeAccount: NO_ACCOUNT,
      makerReason: ROLLBACK_REASON.none,
      takerReason: ROLLBACK_REASON.none,
      takerSide: trade.takerSide,
      makerIdBytes: 0,
      takerIdBytes: 0,
      isLiquidation: false,
      isAutoDeleverage: true,
    });
  }

  // ---- others

  /** A row of a cold kind: its members by their names, with `kind`, and `user` of a private one; a json is its text. */
  fact(row: Readonly<Record<string, unknown>>): void {
    const text = encodePlain(row);
    const at = this.#claimClean(OUTCOME.fact, OutcomeFact.bytes + text.length);
    OutcomeFact.setTextBytes(this.#v, at, text.length);
    this.#v.u8.set(text, at + OutcomeFact.bytes);
  }

  /** Room for an outcome of so many bytes, at a multiple of 8. */
  #claim(kind: number, bytes: number): number {
    const size = padded(bytes);
    const at = this.#at;
    if (at + size > this.#v.u8.length) this.#grow(at + size);
    // What pads it is of no record before; its fields are the caller's.
    this.#v.u32[(at + size - 8) >>> 2] = 0;
    this.#v.u32[(at + size - 4) >>> 2] = 0;
    this.#v.u32[at >>> 2] = size;
    this.#v.u32[(at >>> 2) + 1] = kind;
    this.#at = at + size;
    return at;
  }

  /** The same, all of it zeros. */
  #claimClean(kind: number, bytes: number): number {
    const at = this.#claim(kind, bytes);
    this.#v.u8.fill(0, at + OutcomeHead.bytes, this.#at);
    return at;
  }

  #grow(bytes: number): void {
    let capacity = this.#v.u8.length;
    while (capacity < bytes) capacity *= 2;
    assert(capacity < 2 ** 32, 'the outcomes of a record fit into memory');
    const grown = viewsOf(new ArrayBuffer(capacity), 0, capacity);
    grown.u8.set(this.#v.u8.subarray(0, this.#at));
    this.#v = grown;
  }
}

function isPosition(slot: BalanceSlot | PositionSlot): slot is PositionSlot {
  return 'legs' in slot;
}
