/**
 * What a canonical text means, in human terms, for a co-signer. Texts of account actions are read by their shapes, those of orders by
 * the generated readers.
 *
 * A text is accepted only if writing what was read gives exactly its bytes: nothing can stand in it that is not shown. So a co-signer
 * signs no other bytes than those of an action, and never the nonce of a login.
 */
import type {
  AddSignerRead,
  SettlementRead,
  SignedClosePosition,
  SignedWithdrawal,
  SignedWithdrawalCancel,
  TransferRead,
} from '../codec/action-types.ts';
import { canonicalText } from '../codec/canonical-text.ts';
import { decodeText } from '../codec/decode-text.ts';
import {
  readSignedCancel,
  readSignedOrder,
  readSignedQuoteSet,
  readSignedReplace,
  type SignedCancel,
  type SignedOrder,
  type SignedQuoteSet,
  type SignedReplace,
  writeSignedCancel,
  writeSignedOrder,
  writeSignedQuoteSet,
  writeSignedReplace,
} from '../codec/generated/order-json.ts';
import type { JsonCursor } from '../codec/json-cursor.ts';
import { type JsonObject, parseJsonObject } from '../codec/json-tree.ts';
import type { LimitDetails, TriggerCondition } from '../codec/order-details.ts';
import { cancelFault, orderFault, quoteSetFault, replaceFault } from '../codec/order-rules.ts';
import { decodeShape } from '../codec/shape-reader.ts';
import {
  ADD_SIGNER,
  CLOSE_POSITION,
  SETTLEMENT,
  TRANSFER,
  WITHDRAWAL,
  WITHDRAWAL_CANCEL,
} from '../codec/shapes/account-shapes.ts';
import type { Shape } from '../codec/shapes/shape-kit.ts';
import { type AmountText, parseAmountText, type SpelledUser } from '../codec/signed-text.ts';
import { type TextWriter, textBytes } from '../codec/text-writer.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import { toHex } from '../core/hex.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import { QUOTE_TEXT_BYTES_MAX } from '../core/limits.ts';
import { SIDE_WORD, TIF } from '../core/order-terms.ts';
import { type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { Amount18 } from '../core/units.ts';
import { invalidArgument } from './errors.ts';
import type { ActionKind, UnsignedAction } from './signed-actions.ts';

/** One line of what an action does: a name and its value. */
export type MeaningLine = readonly [name: string, value: string];

export interface ActionRead {
  readonly action: UnsignedAction;
  readonly meaning: readonly MeaningLine[];
}

export interface ReadOptions {
  /** How the node writes amounts of withdrawals, its setting `amount_text`: the text alone does not show it. */
  readonly amountText: AmountText;
  /** The market of a replace whose text does not name it. */
  readonly assetId?: AssetId | undefined;
}

/** No figure of a book has more zeros before its point. */
const DECIMALS_SHOWN_MAX = 78;

/** How the text of one kind of action is read and written, and what it means. */
type Reader = (text: string, options: ReadOptions) => ActionRead;

const READERS: Readonly<Record<ActionKind, Reader>> = {
  create: reader('create', ordersForm(readSignedOrder, orderFault, writeSignedOrder), createMeaning),
  replace: reader('replace', ordersForm(readSignedReplace, replaceFault, writeSignedReplace), replaceMeaning),
  cancel: reader('cancel', ordersForm(readSignedCancel, cancelFault, writeSignedCancel), cancelMeaning),
  quotes: reader(
    'quotes',
    ordersForm(readSignedQuoteSet, quoteSetFault, writeSignedQuoteSet, QUOTE_TEXT_BYTES_MAX),
    quotesMeaning,
  ),
  transfer: reader('transfer', shapeForm(TRANSFER), transferMeaning),
  'close-position': reader('close-position', shapeForm(CLOSE_POSITION), closePositionMeaning),
  withdrawal: reader('withdrawal', shapeForm(WITHDRAWAL), withdrawalMeaning),
  'withdrawal-cancel': reader('withdrawal-cancel', shapeForm(WITHDRAWAL_CANCEL), withdrawalCancelMeaning),
  settlement: reader('settlement', shapeForm(SETTLEMENT), settlementMeaning),
  'add-signer': reader('add-signer', shapeForm(ADD_SIGNER), addSignerMeaning),
};

/** @throws RingbookError INVALID_ARGUMENT unless the text is exactly that of one action. */
export function readAction(text: string, options: ReadOptions): ActionRead {
  const parsed = parseJsonObject(Buffer.from(text, 'utf8'));
  if (!parsed.ok) throw invalidArgument(`the text is no action: ${parsed.reject.message}`);
  const kind = kindOf(parsed.value);
  if (kind === null) throw invalidArgument('the text is no action that this version knows; it is not signed');
  return READERS[kind](text, options);
}

/** The members that only one kind of action has. */
const KIND_OF_MEMBER: readonly (readonly [member: string, kind: ActionKind])[] = [
  ['set_id', 'quotes'],
  ['details', 'create'],
  ['new_quantity', 'replace'],
  ['source_index', 'transfer'],
  ['asset_identifier', 'close-position'],
  ['target', 'withdrawal'],
  ['asset_address', 'withdrawal-cancel'],
  ['asset_out', 'settlement'],
  ['session_duration_ns', 'add-signer'],
  ['order_id', 'cancel'],
];

function kindOf(object: JsonObject): ActionKind | null {
  return KIND_OF_MEMBER.find(([member]) => object.has(member))?.[1] ?? null;
}

// ---- reading

interface Form<Read> {
  read(text: Uint8Array): Outcome<Read>;
  write(read: Read): string;
}

function shapeForm<Read>(shape: Shape<unknown, Read>): Form<Read> {
  return { read: (text) => decodeShape(shape, text), write: (read) => canonicalText(shape, read) };
}

/** @param faultOf finds what no shape expresses. */
function ordersForm<Read>(
  readOrder: (cursor: JsonCursor) => Read,
  faultOf: (order: Read) => Reject | null,
  writeOrder: (text: TextWriter, order: Read) => void,
  bytesMax?: number,
): Form<Read> {
  return {
    read(text) {
      const order = decodeText(text, 0, text.length, readOrder);
      const fault = order.ok ? faultOf(order.value) : null;
      return fault === null ? order : rejected(fault);
    },
    write: (order) => Buffer.from(textBytes(order, writeOrder, bytesMax)).toString('latin1'),
  };
}

/** @param meaning what is shown of an action; it may refuse what cannot be shown. */
function reader<Read extends object>(
  kind: ActionKind,
  form: Form<Read>,
  meaning: (read: Read, options: ReadOptions) => readonly MeaningLine[],
): Reader {
  return (text, options) => {
    const read = form.read(Buffer.from(text, 'utf8'));
    if (!read.ok) throw invalidArgument(`the text is no ${kind}: ${read.reject.field ?? ''}: ${read.reject.message}`);
    const lines = meaning(read.value, options);
    if (!isSpelledAsShown(read.value) || form.write(read.value) !== text) throw notCanonical(kind);
    return {
      action: { kind, user: userOf(read.value), text, ...marketBeside(kind, read.value, options) },
      meaning: lines,
    };
  };
}

/** A replace does not name its account in the text: it comes with the request. */
function userOf(read: { readonly user?: SpelledUser; readonly signer?: unknown }): UserId {
  return (read.user ?? (read.signer as SpelledUser | undefined))?.id ?? ('' as UserId);
}

function notCanonical(kind: ActionKind): Error {
  return invalidArgument(`the text is not the canonical one of its ${kind}; it is not signed`);
}

/** Whether every id in it has the spelling in which it is shown. */
function isSpelledAsShown(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true;
  const { text, id, address } = value as { readonly text?: string; readonly id?: string; readonly address?: string };
  return text === undefined ? Object.values(value).every(isSpelledAsShown) : text === (id ?? address);
}

/** The lines that every meaning of an account action begins with. */
function lines(action: string, user: SpelledUser, ...rest: readonly MeaningLine[]): readonly MeaningLine[] {
  return [['action', action], ['account', user.id], ...rest];
}

// ---- actions of accounts

function transferMeaning({ user, targetAccountType: type, ...transfer }: TransferRead): readonly MeaningLine[] {
  const amount = BigInt(transfer.transferAmount) as Amount18;
  if (amount === 0n) throw invalidArgument('nothing is transferred');
  const made = type === null ? '' : `, made as ${accountTypeText(type)} if it is not there`;
  return lines(
    'transfer between sub-accounts',
    user,
    ['amount', format18(amount)],
    ['asset', transfer.transferAsset.id],
    ['from', `sub-account ${transfer.sourceIndex}`],
    ['to', `sub-account ${transfer.targetIndex}${made}`],
  );
}

function accountTypeText(type: NonNullable<TransferRead['targetAccountType']>): string {
  if (typeof type === 'string') return type;
  if ('Isolated' in type) return `isolated margin of asset ${type.Isolated.asset.id}`;
  throw notCanonical('transfer');
}

function closePositionMeaning({ user, account, asset }: SignedClosePosition): readonly MeaningLine[] {
  return lines('fold a flat position into spot USD', user, ['sub-account', String(account)], ['asset', asset.id]);
}

function withdrawalMeaning(read: SignedWithdrawal, { amountText }: ReadOptions): readonly MeaningLine[] {
  return lines(
    'withdraw to a chain',
    read.user,
    ['amount', `${format18(amountOf(read.amount, amountText))} (the text is ${amountText})`],
    ['token', read.asset.id],
    ['paid to', read.target.address],
    ['nonce', read.nonce === null ? 'the smallest that is free' : String(read.nonce)],
    ['request id', read.requestId ?? 'none: an equal request is the same one'],
  );
}

/** Only in the spelling of its setting, so that no amount is shown that the node does not read. */
function amountOf(text: string, form: AmountText): Amount18 {
  const amount = parseAmountText(text, form);
  if (amount === null || amount.toString(form === 'hex' ? 16 : 10) !== text) {
    throw invalidArgument(`the amount "${text}" is not ${form}: is the node's setting amount_text another one?`);
  }
  return amount;
}

function withdrawalCancelMeaning({ user, asset, nonce, requestedNs }: SignedWithdrawalCancel): readonly MeaningLine[] {
  return lines(
    'cancel a withdrawal',
    user,
    ['token', asset.id],
    ['nonce', String(nonce)],
    ['requested', requestedNs === null ? 'whenever: the live one of this nonce' : `${requestedNs} ns`],
  );
}

function settlementMeaning(read: SettlementRead, { amountText }: ReadOptions): readonly MeaningLine[] {
  const chain = read.chainId.id;
  const given = format18(amountOf(read.amountOut, amountText));
  return lines(
    `settle with a vault (${read.mode})`,
    read.user,
    ['sub-account', String(read.subAccount)],
    ['gives', `${given} of ${read.assetOut.address}@${chain} (the text is ${amountText})`],
    ['gets', `${format18(amountOf(read.amountIn, amountText))} of ${read.assetIn.address}@${chain}`],
    ['settler', read.settler?.id ?? (read.maker === null ? 'the account itself' : `as ${read.maker.id} has signed`)],
    ['nonce', read.nonce == null ? 'the next managed one' : String(read.nonce)],
    ['expires', read.expiresNs === null ? 'as the node decides' : `${read.expiresNs} ns`],
    ['vault', read.vault?.address ?? 'the one of the chain'],
    ['request id', read.requestId ?? 'none: an equal request is the same one'],
  );
}

/** As nodes make them. */
const OMS_NONCE_FORM = /^[A-Za-z0-9_-]{43}$/;

function addSignerMeaning(read: AddSignerRead): readonly MeaningLine[] {
  const { user, signer, weight, sessionDurationNs, ceNonce } = read;
  const omsNonce = 'omsNonce' in read ? read.omsNonce : null;
  if (omsNonce !== null && !OMS_NONCE_FORM.test(omsNonce)) throw invalidArgument('the text has no nonce of a node');
  const window = sessionDurationNs === null ? 'for ever' : `for ${formatDuration(sessionDurationNs)} from then on`;
  return lines(
    'add a co-signer to the account',
    user,
    ['new signer', `${signer.scheme} ${toHex(signer.key)}`],
    ['weight', String(weight)],
    ['may sign', window],
    ['config nonce', String(ceNonce)],
  );
}

/** Nanoseconds in seconds, exactly. */
function formatDuration(ns: bigint): string {
  const fraction = (ns % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${ns / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`} s`;
}

// ---- orders

/** A raw figure in human units, where its decimals are those of a book. */
function rawText(raw: number, decimals: number): string {
  if (decimals < -DECIMALS_SHOWN_MAX) throw invalidArgument(`no book has ${decimals} decimals`);
  return formatRaw(raw, decimals);
}

function createMeaning(order: SignedOrder): readonly MeaningLine[] {
  const { trigger, bookPriceDecimals, maxTradingFeesRate, reduceOnly } = order;
  return [
    ['action', 'place an order'],
    ['account', `${order.signer.id}, sub-account ${order.account}${order.isSpot ? '' : ', margin'}`],
    ['market', order.baseAsset.id],
    ['order', order.orderId],
    [SIDE_WORD[order.side].toLowerCase(), sizeText(order)],
    ...(trigger === null ? [] : [waitsFor(trigger.condition, bookPriceDecimals, trigger.parentOrderId)]),
    ['highest fee', `${maxTradingFeesRate} millionths${reduceOnly ? ', reduce only' : ''}`],
  ];
}

function quotesMeaning(quotes: SignedQuoteSet): readonly MeaningLine[] {
  const { bids, asks, goodUntilNs, protectionGroup, maxTradingFeesRate } = quotes;
  const side = (entries: SignedQuoteSet['bids']): string => {
    const parts: string[] = [];
    for (let at = 0; at < entries.length; at += 2) {
      const quantity = rawText(entries[at + 1] as number, quotes.bookQuantityDecimals);
      parts.push(`${quantity} at ${rawText(entries[at] as number, quotes.bookPriceDecimals)}`);
    }
    return parts.length === 0 ? 'nothing' : parts.join(', ');
  };
  return [
    ['action', 'make the quotes of a set, in place of those that it has'],
    ['account', `${quotes.signer.id}, sub-account ${quotes.account}${quotes.isSpot ? '' : ', margin'}`],
    ['market', quotes.baseAsset.id],
    ['set', quotes.setId],
    ['revision', `${quotes.revisionNs} ns`],
    ['buys', side(bids)],
    ['sells', side(asks)],
    ['until', goodUntilNs === null ? '30 days from its revision' : `${goodUntilNs} ns`],
    ['highest fee', `${maxTradingFeesRate} millionths`],
    ...(protectionGroup === null ? [] : [['protection group', protectionGroup] as const]),
  ];
}

function sizeText({ details, bookPriceDecimals, bookQuantityDecimals }: SignedOrder): string {
  const raw = (value: number): string => rawText(value, bookQuantityDecimals);
  if (details.kind === 'limit') {
    return `${raw(details.quantity)} at ${rawText(details.limitPrice, bookPriceDecimals)}, ${timeText(details)}`;
  }
  const isBase = details.kind === 'market-base';
  const size = isBase ? raw(details.quantity) : `${raw(details.amount)} USD worth`;
  const cap = isBase ? details.maxSellableAmount : details.maxSellableQuantity;
  const limit = cap === null ? 'at any price' : `at most ${raw(cap)}${isBase ? ' USD' : ''}`;
  return `${size} at the market, ${limit}, ${details.fillOrKill ? 'all or nothing' : 'as far as it goes'}`;
}

function timeText({ tif, postOnly, goodUntilNs }: LimitDetails): string {
  if (tif === TIF.ioc) return 'IOC';
  if (tif === TIF.fok) return 'FOK';
  return `${goodUntilNs === null ? 'GTC' : `good until ${goodUntilNs} ns`}${postOnly ? ', post only' : ''}`;
}

function waitsFor({ direction, price }: TriggerCondition, decimals: number, parentOrderId: string | null): MeaningLine {
  const side = direction === 'PriceAbove' ? 'at or above' : 'at or below';
  const parent = parentOrderId === null ? '' : `, child of ${parentOrderId}`;
  return ['waits for', `a trade ${side} ${rawText(price, decimals)}${parent}`];
}

function cancelMeaning({ signer, asset, orderId }: SignedCancel): readonly MeaningLine[] {
  return lines('cancel an order', signer, ['market', asset.id], ['order', orderId]);
}

/** Its market is in the text only with complete terms; else it comes with the request, like the account. */
function marketBeside(kind: ActionKind, read: object, { assetId }: ReadOptions): Pick<UnsignedAction, 'assetId'> {
  const isBeside = kind === 'replace' && (read as SignedReplace).baseAsset === null && assetId !== undefined;
  return isBeside ? { assetId } : {};
}

function replaceMeaning(request: SignedReplace, { assetId }: ReadOptions): readonly MeaningLine[] {
  const { baseAsset, newTrigger, newPriceLimit, newQuantity, bookPriceDecimals, bookQuantityDecimals } = request;
  if (baseAsset === null && assetId === undefined) throw invalidArgument('the market of a replace is missing');
  if (newTrigger?.shape === 'wrapped') throw notCanonical('replace');
  const shown = (raw: number | null, decimals: number): string => (raw === null ? 'as it is' : rawText(raw, decimals));
  const noTrigger: readonly MeaningLine[] = baseAsset === null ? [] : [['new trigger', 'none']];
  return [
    ['action', 'change an order'],
    ['market', baseAsset?.id ?? `${assetId} (not in the signed text)`],
    ['order', request.orderId],
    ['new price', shown(newPriceLimit, bookPriceDecimals)],
    ['new quantity', shown(newQuantity, bookQuantityDecimals)],
    ...(newTrigger === null ? noTrigger : [waitsFor(newTrigger.condition, bookPriceDecimals, null)]),
  ];
}
