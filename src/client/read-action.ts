/**
 * The other way of canonical.ts: what a canonical text means, in human terms, for a co-signer.
 *
 * A text is accepted only if writing what was read gives exactly its bytes: nothing can stand in it that is not shown. So a co-signer
 * signs no other bytes than those of an action, and never the nonce of a login.
 */
import { isJsonObject, type JsonObject, type JsonValue, MemberReader, parseJsonObject } from '../codec/json-tree.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import { toHex } from '../core/hex.ts';
import { type AssetId, parseAssetId, parseUserId, type UserId } from '../core/ids.ts';
import { signerKeyIn } from './action-signers.ts';
import type {
  LimitOrder,
  MarketOrder,
  MarketSize,
  Order,
  SettlementRequest,
  TargetAccountType,
  TimeInForce,
  Trigger,
  WithdrawalRequest,
} from './canonical.ts';
import { invalidArgument } from './errors.ts';
import {
  type ActionKind,
  type UnsignedAction,
  unsignedAddSigner,
  unsignedCancel,
  unsignedClosePosition,
  unsignedCreate,
  unsignedReplace,
  unsignedSettlement,
  unsignedTransfer,
  unsignedWithdrawal,
  unsignedWithdrawalCancel,
} from './signed-actions.ts';

/** One line of what an action does: a name and its value. */
export type MeaningLine = readonly [name: string, value: string];

export interface ActionRead {
  readonly action: UnsignedAction;
  readonly meaning: readonly MeaningLine[];
}

export interface ReadOptions {
  /** How the node writes amounts of withdrawals, its setting `amount_text`: the text alone does not show it. */
  readonly amountText: 'hex' | 'decimal';
  /** The market of a replace whose text does not name it. */
  readonly assetId?: AssetId | undefined;
}

const COUNT_MAX = Number.MAX_SAFE_INTEGER;
/** No smallest unit of a book is below this many decimals. */
const DECIMALS = 127;

/** @throws RingbookError INVALID_ARGUMENT unless the text is exactly that of one action. */
export function readAction(text: string, options: ReadOptions): ActionRead {
  const parsed = parseJsonObject(Buffer.from(text, 'utf8'));
  if (!parsed.ok) throw invalidArgument(`the text is no action: ${parsed.reject.message}`);
  const kind = kindOf(parsed.value);
  if (kind === null) throw invalidArgument('the text is no action that this version knows; it is not signed');
  const reader = new TextReader(kind, parsed.value);
  const read = READERS[kind](reader, options);
  reader.finish();
  if (read.action.text !== text) {
    throw invalidArgument(`the text is not the canonical one of its ${kind}; it is not signed`);
  }
  return read;
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

type Reader = (reader: TextReader, options: ReadOptions) => ActionRead;

const READERS: Readonly<Record<ActionKind, Reader>> = {
  create: readCreate,
  replace: readReplace,
  cancel(reader) {
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
  },
  transfer: readTransfer,
  'close-position'(reader) {
    const user = reader.user('user');
    const request = {
      account: reader.count('account'),
      assetId: reader.asset('asset_identifier'),
      nonce: reader.u64('nonce'),
    };
    return {
      action: unsignedClosePosition(user, request),
      meaning: [
        ['action', 'fold a flat position into spot USD'],
        ['account', user],
        ['sub-account', String(request.account)],
        ['asset', request.assetId],
      ],
    };
  },
  withdrawal: readWithdrawal,
  'withdrawal-cancel'(reader) {
    const user = reader.user('tplus_user');
    const token = tokenOf(reader.text('asset_address'));
    const nonce = reader.count('nonce');
    const named = reader.has('requested_at_ns') ? { requestedNs: reader.u64('requested_at_ns') } : {};
    return {
      action: unsignedWithdrawalCancel(user, { ...token, nonce, ...named }),
      meaning: [
        ['action', 'cancel a withdrawal'],
        ['account', user],
        ['token', `${token.token}@${token.chainId}`],
        ['nonce', String(nonce)],
        [
          'requested',
          named.requestedNs === undefined ? 'whenever: the live one of this nonce' : `${named.requestedNs} ns`,
        ],
      ],
    };
  },
  settlement: readSettlement,
  'add-signer': readAddSigner,
};

function readWithdrawal(reader: TextReader, { amountText }: ReadOptions): ActionRead {
  const user = reader.user('tplus_user');
  const token = tokenOf(reader.text('asset'));
  const amount18 = amountOf(reader.text('amount'), amountText);
  const nonce = reader.optionalCount('nonce');
  const request: Omit<WithdrawalRequest, 'user'> = {
    ...token,
    amount18,
    target: reader.text('target'),
    nonce,
    amountText,
    ...requestIdOf(reader),
  };
  return {
    action: unsignedWithdrawal(user, request),
    meaning: [
      ['action', 'withdraw to a chain'],
      ['account', user],
      ['amount', `${format18(amount18)} (the text is ${amountText})`],
      ['token', `${token.token}@${token.chainId}`],
      ['paid to', request.target],
      ['nonce', nonce === null ? 'the smallest that is free' : String(nonce)],
      ['request id', request.requestId ?? 'none: an equal request is the same one'],
    ],
  };
}

function requestIdOf(reader: TextReader): Pick<WithdrawalRequest, 'requestId'> {
  return reader.has('request_id') ? { requestId: reader.text('request_id') } : {};
}

function amountOf(text: string, amountText: ReadOptions['amountText']): bigint {
  const form = amountText === 'hex' ? /^[0-9a-f]{1,32}$/ : /^[0-9]{1,39}$/;
  if (!form.test(text)) {
    throw invalidArgument(`the amount "${text}" is not ${amountText}: is the node's setting amount_text another one?`);
  }
  return BigInt(amountText === 'hex' ? `0x${text}` : text);
}

function readSettlement(reader: TextReader, { amountText }: ReadOptions): ActionRead {
  const user = reader.user('tplus_user');
  const orNull = <T>(name: string, read: () => T): T | null => (reader.value(name) === null ? null : read());
  const mode = reader.text('mode') === 'margin' ? 'margin' : 'spot';
  const request: Omit<SettlementRequest, 'user'> = {
    subAccount: reader.count('sub_account_index'),
    settler: orNull('settler', () => reader.user('settler')),
    mode,
    tokenIn: reader.text('asset_in'),
    amountIn18: amountOf(reader.text('amount_in'), amountText),
    tokenOut: reader.text('asset_out'),
    amountOut18: amountOf(reader.text('amount_out'), amountText),
    chainId: reader.text('chain_id'),
    ...(reader.has('nonce') ? { nonce: reader.count('nonce') } : {}),
    expiresNs: orNull('expires_at', () => reader.u64('expires_at')),
    maker: orNull('mm_pubkey', () => reader.user('mm_pubkey')),
    ...(reader.has('vault') ? { vault: reader.text('vault') } : {}),
    ...requestIdOf(reader),
    amountText,
  };
  return {
    action: unsignedSettlement(user, request),
    meaning: [
      ['action', `settle with a vault (${mode})`],
      ['account', user],
      ['sub-account', String(request.subAccount)],
      [
        'gives',
        `${format18(request.amountOut18)} of ${request.tokenOut}@${request.chainId} (the text is ${amountText})`,
      ],
      ['gets', `${format18(request.amountIn18)} of ${request.tokenIn}@${request.chainId}`],
      ['settler', request.settler ?? (request.maker == null ? 'the account itself' : `as ${request.maker} has signed`)],
      ['nonce', request.nonce == null ? 'the next managed one' : String(request.nonce)],
      ['expires', request.expiresNs == null ? 'as the node decides' : `${request.expiresNs} ns`],
      ['vault', request.vault ?? 'the one of the chain'],
      ['request id', request.requestId ?? 'none: an equal request is the same one'],
    ],
  };
}

function readTransfer(reader: TextReader): ActionRead {
  const user = reader.user('user');
  const amount = reader.text('transfer_amount');
  const targetAccountType = accountTypeOf(reader.value('target_account_type'));
  const request = {
    sourceIndex: reader.count('source_index'),
    targetIndex: reader.count('target_index'),
    assetId: reader.asset('transfer_asset'),
    amount18: /^[0-9]{1,39}$/.test(amount) ? BigInt(amount) : 0n,
    targetAccountType,
    nonce: reader.u64('nonce'),
  };
  const made = targetAccountType === null ? '' : `, made as ${accountTypeText(targetAccountType)} if it is not there`;
  return {
    action: unsignedTransfer(user, request),
    meaning: [
      ['action', 'transfer between sub-accounts'],
      ['account', user],
      ['amount', format18(request.amount18)],
      ['asset', request.assetId],
      ['from', `sub-account ${request.sourceIndex}`],
      ['to', `sub-account ${request.targetIndex}${made}`],
    ],
  };
}

function accountTypeOf(value: JsonValue | undefined): TargetAccountType {
  if (value === 'Spot' || value === 'CrossMargin') return value;
  const isolated = isJsonObject(value) ? value.get('Isolated') : undefined;
  const asset = isJsonObject(isolated) ? parseAssetId(String(isolated.get('asset'))) : null;
  return asset === null ? null : { isolated: asset };
}

function accountTypeText(type: Exclude<TargetAccountType, null>): string {
  return typeof type === 'string' ? type : `isolated margin of asset ${type.isolated}`;
}

function readAddSigner(reader: TextReader): ActionRead {
  const user = reader.user('user');
  const signer = signerKeyIn(reader.value('signer'));
  if (signer === null) throw invalidArgument('the text names no signer of a known scheme');
  const duration = reader.value('session_duration_ns');
  const request = {
    signer,
    weight: reader.count('weight'),
    sessionDurationNs: duration === null ? null : reader.u64('session_duration_ns'),
    ceNonce: reader.count('ce_nonce'),
    ...(reader.has('oms_nonce') ? { omsNonce: reader.text('oms_nonce') } : {}),
  };
  const window =
    request.sessionDurationNs === null ? 'for ever' : `for ${formatDuration(request.sessionDurationNs)} from then on`;
  return {
    action: unsignedAddSigner(user, request),
    meaning: [
      ['action', 'add a co-signer to the account'],
      ['account', user],
      ['new signer', `${signer.scheme} ${toHex(signer.key)}`],
      ['weight', String(request.weight)],
      ['may sign', window],
      ['config nonce', String(request.ceNonce)],
    ],
  };
}

/** Nanoseconds in seconds, exactly. */
function formatDuration(ns: bigint): string {
  const fraction = (ns % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${ns / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`} s`;
}

function tokenOf(text: string): Pick<WithdrawalRequest, 'token' | 'chainId'> {
  const [token = '', chainId = ''] = text.split('@');
  return { token, chainId };
}

// ---- orders

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
