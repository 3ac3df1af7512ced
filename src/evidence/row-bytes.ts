/**
 * The rows of a journal record, from what clearing recorded of it (EXP-00): exact JSON bytes, each row with a newline behind
 * it. The same outcomes give the same rows anywhere, but for the chain of each user, which the caller keeps (EVD-04).
 *
 *   outcome bytes (src/clearing/outcomes.ts) ─▶ orders, fills, ledger, facts ─▶ rows in the order of decision ─▶ positions
 *
 * The ledger rows of a confirmed fill follow from it: what each side moves, and its fee. The closing outcome has every
 * balance and leg as it is in clearing; one that differs from what the rows add up to is a change that no row has, and a
 * broken invariant.
 */
import { createHash } from 'node:crypto';
import { quote } from '../codec/json-writer.ts';
import { notional18, quantity18, tradingFee18 } from '../core/arithmetic.ts';
import { assert, InvariantError, must } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import { LEDGER_ENTRY, LEDGER_ENTRY_WORD, type LedgerEntry } from '../core/ledger-entries.ts';
import {
  FILL_STATUS,
  ORDER_END,
  ORDER_END_WORD,
  ORDER_FLAG,
  type OrderEnd,
  ROLLBACK_REASON_WORD,
  type RollbackReason,
  SIDE,
  SIDE_WORD,
  type Side,
  TRIGGER,
} from '../core/order-terms.ts';
import { LEG, ORDER_OUTCOME, OUTCOME, QUOTE_SET_OUTCOME } from '../core/outcomes.ts';
import type { Amount18 } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { readText } from '../schema/fields.ts';
import {
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
import { readInt128 } from '../schema/int128.ts';
import { decodePlain } from '../schema/plain-values.ts';
import {
  ORDER_EVENT_WORDS,
  ORDER_TYPE_WORDS,
  QUOTE_CHANGE_WORDS,
  QUOTE_SET_EVENTS,
  ROW_KINDS,
  ROW_VERSION,
  type RowKindName,
  type RowMember,
  TIF_WORDS,
} from './row-kinds.ts';

const INITIAL_BYTES = 1 << 16;
const INT128_BYTES = 16;
const NO_ACCOUNT = 0xffff_ffff;
const NEWLINE = 0x0a;

/** Where the next row of a user stands. */
interface NextOfUser {
  readonly n: number;
  /** The leaf hash of the row before: 64 hex digits. */
  readonly previous: string;
}

/** What takes the rows of a record, in their order. */
export interface RowSink {
  /** @param user 64 hex digits. @returns the place of the private row that comes next. */
  nextOf(user: string): NextOfUser;
  /**
   * @param row its bytes without the newline, valid until the next record. @param user its user; null of a public one.
   */
  row(row: Uint8Array, index: number, user: string | null): void;
}

/** The journal record that the rows are of. */
interface RowPlace {
  readonly sequence: number;
  readonly timeNs: bigint;
}

interface RecordRows {
  readonly count: number;
  /** All rows, each with a newline behind it; valid until the next record. */
  readonly bytes: Uint8Array;
}

interface Market {
  readonly asset: string;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
}

/** A balance or a position of the record, with what the rows so far leave of it. */
interface Account {
  readonly user: string;
  readonly subAccount: number;
  readonly asset: string;
  readonly isPosition: boolean;
  /** The balance, or the base leg. */
  amount: bigint;
  quote: bigint;
  /** As they were defined. */
  readonly amountBefore: bigint;
  readonly quoteBefore: bigint;
}

/** What both sides of a fill have in common; texts are members of rows. */
interface Trade {
  readonly tradeId: number;
  readonly isConfirmed: boolean;
  readonly isAutoDeleverage: boolean;
  readonly base: bigint;
  readonly notional: Amount18;
  readonly head: string;
  readonly terms: string;
  readonly when: string;
  /** Up to the fee. */
  readonly worth: string;
  readonly flags: string;
  /** In quotes. */
  readonly reference: string;
}

/** One side of a fill. `base` and `usd` are the numbers of its accounts. */
interface FillParty {
  readonly role: 'Maker' | 'Taker';
  readonly id: string;
  readonly order: number;
  readonly side: Side;
  readonly rate: number;
  readonly reason: RollbackReason;
  readonly base: number;
  readonly usd: number;
}

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** One for each log: it keeps its buffers. */
export class RowWriter {
  #bytes: Buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  #end = 0;
  #count = 0;
  /** What every row of the record begins with, before and behind its index. */
  #head = '';
  #tail = '';
  #sink: RowSink | null = null;
  readonly #markets: Market[] = [];
  readonly #accounts: Account[] = [];
  /** Of the fills so far of a match. */
  #fees = 0n;

  /**
   * Encodes the rows of a record.
   *
   * @param v @param at where its outcomes begin, a multiple of 8. @param bytes of them.
   * @throws InvariantError when the ledger rows do not add up to the balances of clearing.
   */
  write({ sequence, timeNs }: RowPlace, v: Views, at: number, bytes: number, sink: RowSink): RecordRows {
    this.#end = 0;
    this.#count = 0;
    this.#head = `{"v":${ROW_VERSION},"sequence":"${sequence}","index":`;
    this.#tail = `,"time_ns":"${timeNs}","kind":"`;
    this.#sink = sink;
    this.#accounts.length = 0;
    this.#fees = 0n;
    let isClosed = false;
    for (let place = at; place < at + bytes; place += OutcomeHead.size(v, place)) {
      assert(!isClosed, 'the outcomes of a record end with its balances');
      const kind = OutcomeHead.kind(v, place);
      isClosed = kind === OUTCOME.closing;
      this.#outcome(kind, v, place);
    }
    assert(isClosed || this.#accounts.length === 0, 'the outcomes of a record with balances end with them');
    this.#sink = null;
    return { count: this.#count, bytes: this.#bytes.subarray(0, this.#end) };
  }

  #outcome(kind: number, v: Views, at: number): void {
    switch (kind) {
      case OUTCOME.market:
        this.#markets[OutcomeMarket.marketIndex(v, at)] = {
          asset: quote(readText(v, at + OutcomeMarket.bytes, OutcomeMarket.assetBytes(v, at))),
          priceDecimals: OutcomeMarket.priceDecimals(v, at),
          quantityDecimals: OutcomeMarket.quantityDecimals(v, at),
        };
        break;
      case OUTCOME.balance: {
        const amount = OutcomeBalance.before(v, at);
        const asset = readText(v, at + OutcomeBalance.bytes, OutcomeBalance.assetBytes(v, at));
        this.#define(OutcomeBalance.user(v, at), OutcomeBalance.subAccount(v, at), asset, amount, null);
        break;
      }
      case OUTCOME.position: {
        const asset = readText(v, at + OutcomePosition.bytes, OutcomePosition.assetBytes(v, at));
        const [base, quoteLeg] = [OutcomePosition.base(v, at), OutcomePosition.quote(v, at)];
        this.#define(OutcomePosition.user(v, at), OutcomePosition.subAccount(v, at), asset, base, quoteLeg);
        break;
      }
      case OUTCOME.order:
        this.#order(v, at);
        break;
      case OUTCOME.fill:
        this.#fill(v, at);
        break;
      case OUTCOME.ledger:
        this.#ledgerOf(v, at);
        break;
      case OUTCOME.quoteSet:
        this.#quoteSet(v, at);
        break;
      case OUTCOME.fact: {
        const from = at + OutcomeFact.bytes;
        this.#fact(decodePlain(v.u8.subarray(from, from + OutcomeFact.textBytes(v, at))));
        break;
      }
      case OUTCOME.closing:
        this.#close(v, at);
        break;
      default:
        throw new InvariantError(`an outcome of kind ${kind}`);
    }
  }

  #define(user: string, subAccount: number, asset: string, amount: bigint, quoteLeg: bigint | null): void {
    this.#accounts.push({
      user,
      subAccount,
      asset: quote(asset),
      isPosition: quoteLeg !== null,
      amount,
      quote: quoteLeg ?? 0n,
      amountBefore: amount,
      quoteBefore: quoteLeg ?? 0n,
    });
  }

  #account(number: number): Account {
    return must(this.#accounts[number], 'an outcome is about an account that is defined');
  }

  #market(index: number): Market {
    return must(this.#markets[index], 'an outcome is about a market that is defined');
  }

  // ---- orders

  #order(v: Views, at: number): void {
    const event = OutcomeOrder.event(v, at);
    const row = new OrderRecordView(v, at + OutcomeOrder.orderAt);
    const { asset } = this.#market(row.marketIndex);
    const isAdmission = event === ORDER_OUTCOME.accepted || event === ORDER_OUTCOME.refused;
    let members = `"event":"${ORDER_EVENT_WORDS[event]}","asset_id":${asset},"order_id":${quote(row.orderId)}`;
    members += `,"order_sequence":${row.orderSequence}`;
    if (event !== ORDER_OUTCOME.cutAtRestart)
      members += `,"event_ns":"${isAdmission ? row.admittedNs : row.lastUpdateNs}"`;
    if (isAdmission) members += termsOf(row, v, at);
    else if (event === ORDER_OUTCOME.replaced || event === ORDER_OUTCOME.cut || event === ORDER_OUTCOME.cutAtRestart)
      members += changedTermsOf(row);
    else if (event === ORDER_OUTCOME.ended) members += endOf(row);
    this.#private('order', row.user, members);
  }

  #quoteSet(v: Views, at: number): void {
    const event = OutcomeQuoteSet.event(v, at);
    const { asset } = this.#market(OutcomeQuoteSet.marketIndex(v, at));
    let members = `"event":"${QUOTE_SET_EVENTS[event]}","asset_id":${asset},"set_id":${quote(OutcomeQuoteSet.setId(v, at))}`;
    members += `,"revision_sequence":${OutcomeQuoteSet.sequence(v, at)},"event_ns":"${OutcomeQuoteSet.eventNs(v, at)}"`;
    if (event === QUOTE_SET_OUTCOME.applied) members += revisionOf(v, at);
    else {
      members += `,"mark_ns":"${OutcomeQuoteSet.markNs(v, at)}"`;
      const end = OutcomeQuoteSet.end(v, at);
      if (end !== 0) members += `,"reason":"${ORDER_END_WORD[end]}"`;
    }
    this.#private('quote_set', OutcomeQuoteSet.user(v, at), members);
  }

  // ---- fills

  #fill(v: Views, at: number): void {
    const market = this.#market(OutcomeFill.marketIndex(v, at));
    const isConfirmed = OutcomeFill.makerReason(v, at) === 0 && OutcomeFill.takerReason(v, at) === 0;
    const [price, quantity, tradeId] = [
      OutcomeFill.price(v, at),
      OutcomeFill.quantity(v, at),
      OutcomeFill.tradeId(v, at),
    ];
    const takerSide = OutcomeFill.takerSide(v, at);
    const isAutoDeleverage = OutcomeFill.isAutoDeleverage(v, at);
    const notional = notional18(price, quantity, market);
    const trade: Trade = {
      tradeId,
      isConfirmed,
      isAutoDeleverage,
      base: quantity18(quantity, market.quantityDecimals),
      notional,
      head: `"asset_id":${market.asset},"trade_id":${tradeId}`,
      terms: `,"price":${price},"quantity":${quantity}`,
      when: `,"event_ns":"${OutcomeFill.eventNs(v, at)}"`,
      worth: isConfirmed ? `,"amount":"${format18(notional)}","fee":"` : '',
      flags:
        (OutcomeFill.isLiquidation(v, at) ? ',"is_liquidation":true' : '') +
        (isAutoDeleverage ? ',"is_auto_deleverage":true' : ''),
      reference: referenceOf(market, tradeId),
    };
    const { head, terms, when, flags, reference } = trade;
    if (isConfirmed) this.#public('trade', `${head}${terms},"taker_side":"${SIDE_WORD[takerSide]}"${when}${flags}`);
    const makerIdAt = at + OutcomeFill.bytes;
    const makerIdBytes = OutcomeFill.makerIdBytes(v, at);
    const takerIdAt = makerIdAt + ((makerIdBytes + 3) & ~3);
    this.#party(trade, {
      role: 'Maker',
      id: readText(v, makerIdAt, makerIdBytes),
      order: OutcomeFill.makerOrder(v, at),
      side: takerSide === SIDE.buy ? SIDE.sell : SIDE.buy,
      rate: OutcomeFill.makerFeeRate(v, at),
      reason: OutcomeFill.makerReason(v, at),
      base: OutcomeFill.makerBase(v, at),
      usd: OutcomeFill.makerUsd(v, at),
    });
    this.#party(trade, {
      role: 'Taker',
      id: readText(v, takerIdAt, OutcomeFill.takerIdBytes(v, at)),
      order: OutcomeFill.takerOrder(v, at),
      side: takerSide,
      rate: OutcomeFill.takerFeeRate(v, at),
      reason: OutcomeFill.takerReason(v, at),
      base: OutcomeFill.takerBase(v, at),
      usd: OutcomeFill.takerUsd(v, at),
    });
    const feeAccount = OutcomeFill.feeAccount(v, at);
    if (feeAccount === NO_ACCOUNT) return;
    const fees = this.#fees;
    this.#fees = 0n;
    this.#move(this.#account(feeAccount), LEG.balance, LEDGER_ENTRY.feeIncome, fees, reference);
  }

  /** One side: its fill, and what a confirmed one moves. */
  #party(trade: Trade, { role, id, order, side, rate, reason, base, usd }: FillParty): void {
    const account = this.#account(base);
    const isSpot = usd !== NO_ACCOUNT;
    const fee = trade.isConfirmed ? tradingFee18(trade.notional, rate) : 0n;
    const orderId = trade.isAutoDeleverage ? `"sys-adl-${trade.tradeId}"` : quote(id);
    const status = trade.isConfirmed ? FILL_STATUS.confirmed : FILL_STATUS.rolledBack;
    const outcome = trade.isConfirmed
      ? `${trade.worth}${format18(fee)}"`
      : `,"reason":"${ROLLBACK_REASON_WORD[reason]}"`;
    const place = `,"order_id":${orderId},"order_sequence":${order},"sub_account":${account.subAccount}`;
    const which = `,"side":"${SIDE_WORD[side]}","role":"${role}"${trade.terms}${trade.when}${outcome}`;
    const flags = `${isSpot ? ',"is_spot":true' : ''}${trade.flags}`;
    this.#private('fill', account.user, `"status":"${status}",${trade.head}${place}${which}${flags}`);
    if (!trade.isConfirmed || trade.isAutoDeleverage) return;
    this.#fees += fee;
    const { reference, notional } = trade;
    const bought = side === SIDE.buy ? trade.base : -trade.base;
    const paid = side === SIDE.buy ? -notional : notional;
    const money = isSpot ? this.#account(usd) : account;
    const leg = isSpot ? LEG.balance : LEG.quote;
    this.#move(account, isSpot ? LEG.balance : LEG.base, LEDGER_ENTRY.trade, bought, reference);
    this.#move(money, leg, LEDGER_ENTRY.trade, paid, reference);
    this.#move(money, leg, LEDGER_ENTRY.tradingFee, -fee, reference);
  }

  // ---- ledger

  #ledgerOf(v: Views, at: number): void {
    const account = this.#account(OutcomeLedger.account(v, at));
    const leg = OutcomeLedger.leg(v, at);
    const entry = OutcomeLedger.entry(v, at) as LedgerEntry;
    const tradeId = OutcomeLedger.tradeId(v, at);
    const text = readText(v, at + OutcomeLedger.bytes, OutcomeLedger.referenceBytes(v, at));
    const reference =
      tradeId === 0
        ? text === ''
          ? ''
          : quote(text)
        : referenceOf(this.#market(OutcomeLedger.marketIndex(v, at)), tradeId);
    const fee = OutcomeLedger.fee(v, at);
    this.#move(account, leg, entry, OutcomeLedger.change(v, at) - fee, reference);
    this.#move(account, leg, LEDGER_ENTRY.rebalancingFee, fee, reference);
  }

  /** A change of a balance or a leg. @param reference in quotes, or empty. */
  #move(account: Account, leg: number, entry: LedgerEntry, amount: bigint, reference: string): void {
    if (amount === 0n) return;
    const { user, subAccount, asset } = account;
    let after: bigint;
    if (leg === LEG.quote) {
      account.quote += amount;
      after = account.quote;
    } else {
      account.amount += amount;
      after = account.amount;
    }
    let members = `"sub_account":${subAccount},"asset":${leg === LEG.quote ? '"0"' : asset}`;
    if (leg !== LEG.balance) members += `,"leg":${asset}`;
    members += `,"entry":"${LEDGER_ENTRY_WORD[entry]}","amount":"${format18(amount)}","balance_after":"${format18(after)}"`;
    if (reference !== '') members += `,"reference":${reference}`;
    this.#private('ledger', user, members);
  }

  /** Compares what the rows have added up to with clearing, and shows the positions that have changed. */
  #close(v: Views, at: number): void {
    const count = OutcomeClosing.accounts(v, at);
    assert(count === this.#accounts.length, 'every account of a record is closed');
    let from = at + padded(OutcomeClosing.bytes);
    for (const account of this.#accounts) {
      const amount = readInt128(v, from);
      from += INT128_BYTES;
      if (account.isPosition) {
        const quoteLeg = readInt128(v, from);
        const entry = readInt128(v, from + INT128_BYTES);
        from += 2 * INT128_BYTES;
        if (amount !== account.amount || quoteLeg !== account.quote) throw unbalanced(account);
        if (amount !== account.amountBefore || quoteLeg !== account.quoteBefore) this.#position(account, entry);
      } else if (amount !== account.amount) throw unbalanced(account);
    }
  }

  #position({ user, subAccount, asset, amount, quote: quoteLeg }: Account, entry: bigint): void {
    const legs = `"base":"${format18(amount)}","quote":"${format18(quoteLeg)}","entry":"${format18(entry)}"`;
    this.#private('position', user, `"sub_account":${subAccount},"asset_id":${asset},${legs}`);
  }

  // ---- others

  #fact(fact: Readonly<Record<string, unknown>>): void {
    const kind = fact['kind'] as RowKindName;
    const { members, isPrivate } = must(ROW_KINDS[kind], 'a fact is a row of a known kind');
    let text = '';
    let given = 0;
    for (const member of members) {
      const value = fact[member.name];
      if (value === undefined || value === false) {
        assert(member.isOptional, `a row of ${kind} has ${member.name}`);
        continue;
      }
      given += 1;
      text += `${text === '' ? '' : ','}"${member.name}":${encoded(member, value)}`;
    }
    const names = Object.entries(fact).filter(([name, value]) => name !== 'kind' && name !== 'user' && value !== false);
    assert(names.length === given, `a row of ${kind} has members of its kind alone`);
    if (isPrivate) this.#private(kind, fact['user'] as string, text);
    else this.#public(kind, text);
  }

  #private(kind: RowKindName, user: string, members: string): void {
    const { n, previous } = must(this.#sink, 'rows are written into a sink').nextOf(user);
    const chain = `","user":"${user}","n":${n},"previous":"${previous}",`;
    this.#write(`${this.#head}${this.#count}${this.#tail}${kind}${chain}${members}}`, user);
  }

  #public(kind: RowKindName, members: string): void {
    this.#write(`${this.#head}${this.#count}${this.#tail}${kind}",${members}}`, null);
  }

  #write(text: string, user: string | null): void {
    const from = this.#end;
    // A character has at most three bytes, two of them where it is half of a pair.
    if (from + 3 * text.length + 1 > this.#bytes.length) this.#grow(from + 3 * text.length + 1);
    const to = from + this.#bytes.write(text, from, 'utf8');
    this.#bytes[to] = NEWLINE;
    this.#end = to + 1;
    this.#count += 1;
    must(this.#sink, 'rows are written into a sink').row(this.#bytes.subarray(from, to), this.#count - 1, user);
  }

  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafe(Math.max(bytes, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }
}

function unbalanced({ user, subAccount, asset }: Account): InvariantError {
  return new InvariantError(`a change of the balance ${asset} of ${user}/${subAccount} has no row`);
}

/** A trade as a reference, in quotes. */
function referenceOf({ asset }: Market, tradeId: number): string {
  return `${asset.slice(0, -1)}/${tradeId}"`;
}

function encoded({ name, type, words }: RowMember, value: unknown): string {
  switch (type) {
    case 'raw':
    case 'integer':
      assert(Number.isSafeInteger(value), `${name} is an integer`);
      return String(value);
    case 'amount':
      return `"${format18(value as bigint)}"`;
    case 'units':
    case 'time':
      return `"${value as bigint}"`;
    case 'flag':
      return 'true';
    case 'json':
      return value as string;
    case 'enum':
      assert(words?.includes(value as string) === true, `${name} has a word of its list`);
      return quote(value as string);
    default:
      return quote(value as string);
  }
}

/** All that was signed, and what the node adds to it. */
function termsOf(row: OrderRecordView, v: Views, at: number): string {
  const { flags } = row;
  const text = readText(v, at + OutcomeOrder.bytes, OutcomeOrder.textBytes(v, at));
  let terms = `,"sub_account":${row.subAccount},"side":"${SIDE_WORD[row.side]}","order_type":"${ORDER_TYPE_WORDS[row.kind]}"`;
  if (row.price !== 0) terms += `,"price":${row.price}`;
  if (row.quantity !== 0) terms += `,"quantity":${row.quantity}`;
  if (row.amount !== 0) terms += `,"amount":${row.amount}`;
  terms += `,"time_in_force":"${TIF_WORDS[row.tif]}"`;
  if ((flags & ORDER_FLAG.postOnly) !== 0) terms += ',"post_only":true';
  if ((flags & ORDER_FLAG.reduceOnly) !== 0) terms += ',"reduce_only":true';
  if ((flags & ORDER_FLAG.isSpot) !== 0) terms += ',"is_spot":true';
  if ((flags & ORDER_FLAG.liquidation) !== 0) terms += ',"is_liquidation":true';
  if ((flags & ORDER_FLAG.nodeMade) !== 0) terms += ',"is_node_made":true';
  terms += triggerOf(row);
  if (row.parentIdBytes > 0)
    terms += `,"parent_id":${quote(text.slice(row.parentIdAt, row.parentIdAt + row.parentIdBytes))}`;
  if (row.protectionGroup !== 0) terms += `,"protection_slot":${row.protectionGroup}`;
  terms += `,"max_fee_rate":${row.maxFeeRate},"creation_ns":"${row.creationNs}"`;
  if (row.goodUntilNs !== 0n) terms += `,"good_until_ns":"${row.goodUntilNs}"`;
  if (row.end !== 0) terms += `,"reason":"${ORDER_END_WORD[row.end]}"`;
  return terms + signedOf(v, text, at + OutcomeOrder.bytes + text.length, OutcomeOrder.signaturesBytes(v, at));
}

/** What was signed: nothing of an order that the node made. */
function signedOf(v: Views, text: string, signaturesAt: number, signaturesBytes: number): string {
  if (text === '') return '';
  const hash = createHash('sha256').update(text, 'latin1').digest('hex');
  const signatures = Buffer.from(v.u8.buffer, v.u8.byteOffset + signaturesAt, signaturesBytes).toString('base64');
  return `,"text_hash":"${hash}","text":${quote(text)},"signatures":"${signatures}"`;
}

function triggerOf({ triggerKind, triggerPrice }: OrderRecordView): string {
  if (triggerKind === TRIGGER.none) return '';
  return `,"trigger":"${triggerKind === TRIGGER.above ? 'above' : 'below'}","trigger_price":${triggerPrice}`;
}

/** What a replace, or the node, can change. */
function changedTermsOf(row: OrderRecordView): string {
  const price = row.price === 0 ? '' : `,"price":${row.price}`;
  const size = row.quantity === 0 ? '' : `,"quantity":${row.quantity}`;
  return `${price}${size}${triggerOf(row)},"timestamp_ns":"${row.timestampNs}"`;
}

function endOf(row: OrderRecordView): string {
  const { end, faultReason } = row;
  const fills = `,"filled_quantity":${row.filledQuantity},"filled_amount":"${format18(row.filledNotional)}"`;
  const fault = end === ORDER_END.atFault ? `,"fault":"${ROLLBACK_REASON_WORD[faultReason]}"` : '';
  return `${fills},"fees":"${format18(row.fees)}","reason":"${ORDER_END_WORD[end as OrderEnd]}"${fault}`;
}

/** A revision of a quote set. */
function revisionOf(v: Views, at: number): string {
  const flags = OutcomeQuoteSet.flags(v, at);
  const group = OutcomeQuoteSet.protectionGroup(v, at);
  const goodUntilNs = OutcomeQuoteSet.goodUntilNs(v, at);
  let terms = `,"sub_account":${OutcomeQuoteSet.subAccount(v, at)}`;
  if ((flags & ORDER_FLAG.postOnly) !== 0) terms += ',"post_only":true';
  if ((flags & ORDER_FLAG.isSpot) !== 0) terms += ',"is_spot":true';
  if (group !== 0) terms += `,"protection_slot":${group}`;
  terms += `,"max_fee_rate":${OutcomeQuoteSet.maxFeeRate(v, at)},"revision_ns":"${OutcomeQuoteSet.revisionNs(v, at)}"`;
  if (goodUntilNs !== 0n) terms += `,"good_until_ns":"${goodUntilNs}"`;
  let from = at + padded(OutcomeQuoteSet.bytes);
  let entries = '';
  for (let left = OutcomeQuoteSet.changes(v, at); left > 0; left -= 1) {
    const { change, number, side, price, rests, order } = QuoteSetChange.read(v, from);
    entries += `${entries === '' ? '' : ','}["${QUOTE_CHANGE_WORDS[change]}",${number},"${SIDE_WORD[side]}",${price},${rests},${order}]`;
    from += QuoteSetChange.bytes;
  }
  terms += `,"entries":[${entries}]`;
  const text = readText(v, from, OutcomeQuoteSet.textBytes(v, at));
  return terms + signedOf(v, text, from + text.length, OutcomeQuoteSet.signaturesBytes(v, at));
}
