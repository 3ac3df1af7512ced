/**
 * What a canonical text means, in human terms, for a co-signer: the text of an account action is read by its shape.
 *
 * A text is accepted only if writing what was read gives exactly its bytes: nothing can stand in it that is not shown. So a co-signer
 * signs no other bytes than those of an action, and never the nonce of a login.
 */
import { canonicalText } from '../codec/canonical-text.ts';
import { type JsonObject, type JsonValue, MemberReader, parseJsonObject } from '../codec/json-tree.ts';
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
import type { AddSignerRead } from '../codec/signed-add-signer.ts';
import type { SettlementRead } from '../codec/signed-settlement.ts';
import type { SpelledUser } from '../codec/signed-text.ts';
import type { SignedClosePosition, TransferRead } from '../codec/signed-transfer.ts';
import {
  type AmountText,
  parseAmountText,
  type SignedWithdrawal,
  type SignedWithdrawalCancel,
} from '../codec/signed-withdrawal.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import { toHex } from '../core/hex.ts';
import { type AssetId, parseAssetId, parseUserId, type UserId } from '../core/ids.ts';
import type { Amount18 } from '../core/units.ts';
import type { LimitOrder, MarketOrder, MarketSize, Order, TimeInForce, Trigger } from './canonical.ts';
import { invalidArgument } from './errors.ts';
import {
  type ActionKind,
  type UnsignedAction,
  unsignedCancel,
  unsignedCreate,
  unsignedReplace,
} from './signed-actions.ts';

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

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
/** No smallest unit of a book is below this many decimals. */
const DECIMALS = 127;

type Reader = (text: string, options: ReadOptions) => ActionRead;

/** How the text of each kind of action is read, and what it means. */
const READERS: Readonly<Record<ActionKind, Reader>> = {
  create: (text) => readOrderText('create', text, readCreate),
  replace: (text, options) => readOrderText('replace', text, (reader) => readReplace(reader, options)),
  cancel: (text) => readOrderText('cancel', text, readCancel),
  transfer: reads('transfer', TRANSFER, transferMeaning),
  'close-position': reads('close-position', CLOSE_POSITION, closePositionMeaning),
  withdrawal: reads('withdrawal', WITHDRAWAL, withdrawalMeaning),
  'withdrawal-cancel': reads('withdrawal-cancel', WITHDRAWAL_CANCEL, withdrawalCancelMeaning),
  settlement: reads('settlement', SETTLEMENT, settlementMeaning),
  'add-signer': reads('add-signer', ADD_SIGNER, addSignerMeaning),
};

/** @throws RingbookError INVALID_ARGUMENT unless the text is exactly that of one action. */
export function readAction(text: string, options: ReadOptions): ActionRead {
  const parsed = parseJsonObject(Buffer.from(text, 'utf8'));
  if (!parsed.ok) throw invalidArgument(`the text is no action: ${parsed.reject.message}`);
  const kind = kindOf(parsed.value);
  if (kind === null) throw invalidArgument('the text is no action that this version knows; it is not signed');
  const read = READERS[kind](text, options);
  if (read.action.text !== text) throw notCanonical(kind);
  return read;
}

function notCanonical(kind: ActionKind): Error {
  return invalidArgument(`the text is not the canonical one of its ${kind}; it is not signed`);
}

/** The members that only one kind of action has. */
const KIND_OF_MEMBER: readonly (readonly [member: string, kind: ActionKind])[] = [
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

// ---- actions of accounts

/** Reads the text of an action by its shape, ids in their own spelling alone. @param meaning of what was read. */
function reads<Read extends { readonly user: SpelledUser }>(
  kind: ActionKind,
  shape: Shape<unknown, Read>,
  meaning: (read: Read, options: ReadOptions) => readonly MeaningLine[],
): Reader {
  return (text, options) => {
    const read = decodeShape(shape, Buffer.from(text, 'utf8'));
    if (!read.ok) throw invalidArgument(`the text is no ${kind}: ${read.reject.field ?? ''}: ${read.reject.message}`);
    if (!isSpelledAsShown(read.value)) throw notCanonical(kind);
    const action = { kind, user: read.value.user.id, text: canonicalText(shape, read.value) };
    return { action, meaning: meaning(read.value, options) };
  };
}

/** Whether every id in it has the spelling in which it is shown. */
function isSpelledAsShown(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true;
  const { text, id, address } = value as { readonly text?: string; readonly id?: string; readonly address?: string };
  return text === undefined ? Object.values(value).every(isSpelledAsShown) : text === (id ?? address);
}

/** The lines that every meaning begins with. */
function lines(action: string, user: SpelledUser, ...rest: readonly MeaningLine[]): readonly MeaningLine[] {
  return [['action', action], ['account', user.id], ...rest];
}

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

function readOrderText(kind: ActionKind, text: string, read: (reader: TextReader) => ActionRead): ActionRead {
  const parsed = parseJsonObject(Buffer.from(text, 'utf8'));
  if (!parsed.ok) throw invalidArgument(`the text is no ${kind}: ${parsed.reject.message}`);
  const reader = new TextReader(kind, parsed.value);
  const action = read(reader);
  reader.finish();
  return action;
}

/** Reads members and remembers the first fault; what is written again afterwards decides about the rest. */
class TextReader {
  readonly #what: string;
  readonly #members: MemberReader;

  constructor(what: string, object: JsonObject) {
    this.#what = what;
    this.#members = new MemberReader(object);
  }

  text(name: string): string {
    return this.#members.string(name);
  }

  flag(name: string): boolean {
    return this.#members.boolean(name);
  }

  count(name: string): number {
    return this.#members.integer(name, 0, COUNT_MAX);
  }

  decimals(name: string): number {
    return this.#members.integer(name, -DECIMALS - 1, DECIMALS);
  }

  u64(name: string): bigint {
    return this.#members.u64(name);
  }

  object(name: string): TextReader {
    return new TextReader(`${this.#what} ${name}`, this.#members.object(name));
  }

  /** The members of one that is an object, null where it is null. */
  optional(name: string): TextReader | null {
    return this.#members.isNull(name) ? null : this.object(name);
  }

  optionalCount(name: string): number | null {
    return this.#members.isNull(name) ? null : this.count(name);
  }

  value(name: string): JsonValue | undefined {
    return this.#members.value(name);
  }

  has(name: string): boolean {
    return this.#members.has(name);
  }

  user(name: string): UserId {
    return parseUserId(this.text(name)) ?? this.#members.fail(name, 'expected a user id', '' as UserId);
  }

  asset(name: string): AssetId {
    return parseAssetId(this.text(name)) ?? this.#members.fail(name, 'expected an asset', '' as AssetId);
  }

  /** @throws RingbookError INVALID_ARGUMENT. */
  finish(): void {
    const fault = this.#members.finish('skip');
    if (fault !== null) throw invalidArgument(`the text is no ${this.#what}: ${fault.field ?? ''}: ${fault.message}`);
  }
}

function readCancel(reader: TextReader): ActionRead {
  const [user, assetId, orderId] = [reader.user('signer'), reader.asset('asset_id'), reader.text('order_id')];
  return {
    action: unsignedCancel(user, { orderId, assetId }),
    meaning: [
      ['action', 'cancel an order'],
      ['account', user],
      ['market', assetId],
      ['order', orderId],
    ],
  };
}

function readCreate(reader: TextReader): ActionRead {
  const [priceDecimals, quantityDecimals] = [
    reader.decimals('book_price_decimals'),
    reader.decimals('book_quantity_decimals'),
  ];
  const target = reader.object('target');
  const trigger = reader.optional('trigger');
  const common = {
    signer: reader.user('signer'),
    orderId: reader.text('order_id'),
    assetId: reader.asset('base_asset'),
    ...({ priceDecimals, quantityDecimals, side: reader.text('side') === 'Buy' ? 'Buy' : 'Sell' } as const),
    trigger: trigger === null ? null : readTrigger(trigger),
    creationTimestampNs: reader.u64('creation_timestamp_ns'),
    target: { account: target.count('account'), isSpot: target.flag('is_spot') },
    reduceOnly: reader.flag('reduce_only'),
    maxTradingFeesRate: reader.count('max_trading_fees_rate'),
  };
  const order: Order = { ...common, ...readDetails(reader.object('details')) };
  return {
    action: unsignedCreate(order),
    meaning: [
      ['action', 'place an order'],
      ['account', `${order.signer}, sub-account ${order.target.account}${order.target.isSpot ? '' : ', margin'}`],
      ['market', order.assetId],
      ['order', order.orderId],
      ...sizeLines(order),
      ...triggerLines(order.trigger ?? null, order.priceDecimals),
      ['highest fee', `${order.maxTradingFeesRate} millionths${order.reduceOnly ? ', reduce only' : ''}`],
    ],
  };
}

function sizeLines(order: Order): readonly MeaningLine[] {
  const raw = (value: number): string => formatRaw(value, order.quantityDecimals);
  if ('size' in order) {
    const { unit, quantity, cap } = order.size;
    const size = unit === 'base' ? raw(quantity) : `${raw(quantity)} USD worth`;
    const limit = cap === null ? 'at any price' : `at most ${raw(cap)}${unit === 'base' ? ' USD' : ''}`;
    return [
      [
        order.side.toLowerCase(),
        `${size} at the market, ${limit}, ${order.fillOrKill ? 'all or nothing' : 'as far as it goes'}`,
      ],
    ];
  }
  const price = formatRaw(order.limitPrice, order.priceDecimals);
  return [[order.side.toLowerCase(), `${raw(order.quantity)} at ${price}, ${timeText(order.timeInForce)}`]];
}

function timeText(time: TimeInForce): string {
  const postOnly = 'postOnly' in time && time.postOnly === true ? ', post only' : '';
  return time.kind === 'GTD' ? `good until ${time.timestampNs} ns${postOnly}` : `${time.kind}${postOnly}`;
}

function triggerLines(trigger: Trigger | null, priceDecimals: number): readonly MeaningLine[] {
  if (trigger === null) return [];
  const parent = trigger.parentOrderId === undefined ? '' : `, child of ${trigger.parentOrderId}`;
  const side = trigger.kind === 'PriceAbove' ? 'at or above' : 'at or below';
  return [['waits for', `a trade ${side} ${formatRaw(trigger.price, priceDecimals)}${parent}`]];
}

function readTrigger(reader: TextReader): Trigger {
  const condition = readCondition(reader.object('condition'));
  return reader.has('parent_order_id') ? { ...condition, parentOrderId: reader.text('parent_order_id') } : condition;
}

function readCondition(reader: TextReader): Trigger {
  const kind = reader.has('PriceAbove') ? 'PriceAbove' : 'PriceBelow';
  return { kind, price: reader.object(kind).count('price') };
}

type Details = Pick<LimitOrder, 'limitPrice' | 'quantity' | 'timeInForce'> | Pick<MarketOrder, 'size' | 'fillOrKill'>;

function readDetails(reader: TextReader): Details {
  if (reader.has('Limit')) {
    const limit = reader.object('Limit');
    return {
      limitPrice: limit.count('limit_price'),
      quantity: limit.count('quantity'),
      timeInForce: readTime(limit.object('time_in_force')),
    };
  }
  const market = reader.object('Market');
  return { size: readSize(market.object('quantity')), fillOrKill: market.flag('fill_or_kill') };
}

function readTime(reader: TextReader): TimeInForce {
  if (reader.has('IOC')) return { kind: reader.object('IOC').flag('fill_or_kill') ? 'FOK' : 'IOC' };
  if (reader.has('GTC')) return { kind: 'GTC', postOnly: reader.object('GTC').flag('post_only') };
  const until = reader.object('GTD');
  return { kind: 'GTD', postOnly: until.flag('post_only'), timestampNs: until.u64('timestamp_ns') };
}

function readSize(reader: TextReader): MarketSize {
  if (reader.has('BaseAsset')) {
    const base = reader.object('BaseAsset');
    return { unit: 'base', quantity: base.count('quantity'), cap: base.optionalCount('max_sellable_amount') };
  }
  const quote = reader.object('QuoteAsset');
  return { unit: 'quote', quantity: quote.count('quantity'), cap: quote.optionalCount('max_sellable_quantity') };
}

/** A replace does not name its account in the text, and its market only with complete terms: they come with the request. */
function readReplace(reader: TextReader, options: ReadOptions): ActionRead {
  const isComplete = reader.value('base_asset') !== undefined;
  const assetId = isComplete ? (parseAssetId(reader.text('base_asset')) ?? undefined) : options.assetId;
  if (assetId === undefined) throw invalidArgument('the market of a replace is missing');
  const trigger = reader.optional('new_trigger');
  const request = {
    orderId: reader.text('order_id'),
    timestampNs: reader.u64('timestamp_ns'),
    newLimitPrice: reader.optionalCount('new_price_limit'),
    newQuantity: reader.optionalCount('new_quantity'),
    newTrigger: trigger === null ? null : readCondition(trigger),
    quantityDecimals: reader.decimals('book_quantity_decimals'),
    priceDecimals: reader.decimals('book_price_decimals'),
    assetId,
    isComplete,
  };
  const price = request.newLimitPrice === null ? 'as it is' : formatRaw(request.newLimitPrice, request.priceDecimals);
  const quantity = request.newQuantity === null ? 'as it is' : formatRaw(request.newQuantity, request.quantityDecimals);
  return {
    action: unsignedReplace('' as UserId, request),
    meaning: [
      ['action', 'change an order'],
      ['market', isComplete ? assetId : `${assetId} (not in the signed text)`],
      ['order', request.orderId],
      ['new price', price],
      ['new quantity', quantity],
      ...triggerLines(request.newTrigger, request.priceDecimals),
      ...(isComplete && request.newTrigger === null ? [['new trigger', 'none'] as const] : []),
    ],
  };
}
