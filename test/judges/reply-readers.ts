/**
 * Frozen judge: the SDK's readers of replies as they were written by hand, before they came from the shapes
 * (src/client/reply-reader.ts). test/client/reply-readers.test.ts compares the two.
 */

import type { AccountEvent, SettlementApproval, Withdrawal } from '../../src/client/account.ts';
import { invalidResponse, malformed } from '../../src/client/errors.ts';
import type {
  AtRisk,
  CloseOrder,
  MarginAccounts,
  MarginFigures,
  MarginWarning,
  Position,
  SideAtRisk,
  Simulation,
} from '../../src/client/margin.ts';
import type { OrderEvent } from '../../src/client/order-events.ts';
import { readObject } from '../../src/client/read-members.ts';
import type { AssetName } from '../../src/client/registry.ts';
import type {
  ActionTiming,
  BatchResult,
  DepthLevel,
  Inventory,
  Kline,
  Market,
  OpenInterest,
  OperationResponse,
  OrderRecord,
  PublicTrade,
  RejectionDetail,
  SubAccount,
  Ticker,
  UserTrade,
} from '../../src/client/replies.ts';
import type { PositionBasis, SubAccountName, UserOrder } from '../../src/client/user-reads.ts';
import { isJsonObject, type JsonObject, type JsonValue, MemberReader } from '../../src/codec/json-tree.ts';

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
const COUNT_MAX = 0xffff_ffff;

function stringOrNull(reader: MemberReader, name: string): string | null {
  return reader.has(name) ? reader.string(name) : null;
}

function choice<T extends string>(reader: MemberReader, name: string, choices: readonly T[]): T {
  const word = reader.string(name);
  const found = choices.find((candidate) => candidate === word);
  return found ?? reader.fail(name, `expected one of ${choices.join(', ')}`, choices[0] as T);
}

export function readOperationResponse(value: JsonValue): OperationResponse {
  return readObject(value, 'operation response', (reader) => ({
    orderId: reader.string('order_id'),
    status: choice(reader, 'status', ['Received', 'Rejected']),
    reason: stringOrNull(reader, 'reason'),
    processedAtNs: reader.has('processed_at_ns') ? reader.u64('processed_at_ns') : null,
    ...(reader.has('detail') ? { detail: readDetail(reader.value('detail') ?? null) } : {}),
    ...(reader.has('timing') ? { timing: readTiming(reader.value('timing') ?? null) } : {}),
  }));
}

function readDetail(value: JsonValue): RejectionDetail {
  return readObject(value, 'detail', (reader) => ({
    code: reader.string('code'),
    field: stringOrNull(reader, 'field'),
    message: reader.string('message'),
    ...(reader.has('authorization_revision') || reader.isNull('authorization_revision')
      ? { authorizationRevision: u64OrNull(reader, 'authorization_revision') }
      : {}),
  }));
}

function u64OrNull(reader: MemberReader, name: string): bigint | null {
  return reader.isNull(name) ? null : reader.u64(name);
}

function readTiming(value: JsonValue): ActionTiming {
  return readObject(value, 'timing', (reader) => ({
    receivedNs: reader.u64('received_ns'),
    verifiedNs: u64OrNull(reader, 'verified_ns'),
    sentNs: u64OrNull(reader, 'sent_ns'),
    matchedNs: u64OrNull(reader, 'matched_ns'),
    answeredNs: reader.u64('answered_ns'),
  }));
}

/** The reply to a batch over REST, in the order of its actions. */
export function readBatchResults(value: JsonValue): readonly BatchResult[] {
  return readObject(value, 'batch reply', (reader) =>
    reader.array('results').map((item) =>
      readObject(
        item,
        'result',
        (result): BatchResult => ({
          orderId: result.string('order_id'),
          status: choice(result, 'status', ['Received', 'Rejected']),
          reason: stringOrNull(result, 'reason'),
        }),
      ),
    ),
  );
}

/** The reply to a dead-man timer: when it expires. */
export function readFiresAt(value: JsonValue): bigint | null {
  return readObject(value, 'cancel-all-after reply', (reader) => u64OrNull(reader, 'fires_at_ns'));
}

export function readMarket(value: JsonValue): Market {
  return readObject(value, 'market', (reader) => ({
    assetId: reader.string('asset_id'),
    priceDecimals: reader.integer('book_price_decimals', -128, 127),
    quantityDecimals: reader.integer('book_quantity_decimals', -128, 127),
    tickSize: reader.string('tick_size'),
    minOrderSize: reader.string('min_order_size'),
    makerFeeRate: reader.integer('maker_fee_rate', -SAFE_MAX, SAFE_MAX),
    takerFeeRate: reader.integer('taker_fee_rate', 0, SAFE_MAX),
    status: reader.string('status'),
  }));
}

export function readOrderRecord(value: JsonValue): OrderRecord {
  return readObject(value, 'order record', (reader) => ({
    orderId: reader.string('order_id'),
    assetId: reader.string('base_asset'),
    side: choice(reader, 'side', ['Buy', 'Sell']),
    limitPrice: stringOrNull(reader, 'limit_price'),
    quantity: stringOrNull(reader, 'quantity'),
    amount: stringOrNull(reader, 'amount'),
    triggerAbovePrice: stringOrNull(reader, 'trigger_above_price'),
    triggerBelowPrice: stringOrNull(reader, 'trigger_below_price'),
    parentId: stringOrNull(reader, 'parent_id'),
    confirmedFilledQuantity: reader.string('confirmed_filled_quantity'),
    pendingFilledQuantity: reader.string('pending_filled_quantity'),
    confirmedFilledAmount: reader.string('confirmed_filled_amount'),
    pendingFilledAmount: reader.string('pending_filled_amount'),
    confirmedTradingFees: reader.string('confirmed_trading_fees_amount'),
    pendingTradingFees: reader.string('pending_trading_fees_amount'),
    isReduceOnly: reader.has('is_reduce_only') && reader.boolean('is_reduce_only'),
    goodUntilNs: reader.has('good_until_timestamp_ns') ? reader.u64('good_until_timestamp_ns') : null,
    status: reader.string('status'),
    timestampNs: reader.u64('timestamp_ns'),
    quoteSetId: reader.has('quote_set_id') ? reader.string('quote_set_id') : null,
  }));
}

export function readUserTrade(value: JsonValue): UserTrade {
  return readObject(value, 'user trade', (reader) => ({
    assetId: reader.string('asset_id'),
    orderId: reader.string('order_id'),
    tradeId: reader.integer('trade_id', 0, SAFE_MAX),
    price: reader.string('price'),
    quantity: reader.string('quantity'),
    timestampNs: reader.u64('timestamp_ns'),
    isMaker: reader.boolean('is_maker'),
    isBuyer: reader.boolean('is_buyer'),
    status: choice(reader, 'status', ['Pending', 'Confirmed', 'Rollbacked']),
    rollbackReason: stringOrNull(reader, 'rollback_reason'),
    tradingFee: stringOrNull(reader, 'trading_fee'),
    isLiquidation: reader.has('is_liquidation') && reader.boolean('is_liquidation'),
    isAutoDeleverage: reader.has('is_auto_deleverage') && reader.boolean('is_auto_deleverage'),
    subAccount: reader.has('sub_account') ? reader.integer('sub_account', 0, 255) : 0,
  }));
}

export function readPublicTrade(value: JsonValue): PublicTrade {
  return readObject(value, 'trade', (reader) => ({
    assetId: reader.string('asset_id'),
    tradeId: reader.integer('trade_id', 0, SAFE_MAX),
    price: reader.string('price'),
    quantity: reader.string('quantity'),
    timestampNs: reader.u64('timestamp_ns'),
    buyerIsMaker: reader.boolean('buyer_is_maker'),
  }));
}

export function readKline(value: JsonValue): Kline {
  return readObject(value, 'kline', (reader) => ({
    open: reader.string('open'),
    high: reader.string('high'),
    low: reader.string('low'),
    close: reader.string('close'),
    volume: reader.string('volume'),
    openTimestampNs: reader.u64('open_timestamp_ns'),
    closeTimestampNs: reader.u64('close_timestamp_ns'),
  }));
}

export function readTicker(value: JsonValue): Ticker {
  return readObject(value, 'ticker', (reader) => ({
    assetId: reader.string('asset_id'),
    lastPrice: stringOrNull(reader, 'last_price'),
    open: stringOrNull(reader, 'open'),
    high: stringOrNull(reader, 'high'),
    low: stringOrNull(reader, 'low'),
    volume: reader.string('volume'),
    priceChange: stringOrNull(reader, 'price_change'),
    priceChangePercent: stringOrNull(reader, 'price_change_percent'),
    timestampNs: reader.u64('timestamp_ns'),
    markPrice: stringOrNull(reader, 'mark_price'),
    indexPrice: stringOrNull(reader, 'index_price'),
    bestBid: bestLevel(reader, 'best_bid'),
    bestAsk: bestLevel(reader, 'best_ask'),
    openInterest: reader.has('open_interest') ? readInterest(reader.object('open_interest')) : null,
  }));
}

/** `{"price","size"}` or null. */
function bestLevel(reader: MemberReader, name: string): DepthLevel | null {
  if (!reader.has(name)) return null;
  return readObject(reader.object(name), name, (level) => ({
    price: level.string('price'),
    quantity: level.string('size'),
  }));
}

function readInterest(value: JsonValue): OpenInterest {
  return readObject(value, 'open interest', (reader) => ({
    long: reader.string('long'),
    short: reader.string('short'),
    timestampNs: reader.u64('timestamp_ns'),
  }));
}

/** A row of `/openinterest`: its asset, and null for a market that never had a position. */
export function readOpenInterest(value: JsonValue): {
  readonly assetId: string;
  readonly interest: OpenInterest | null;
} {
  return readObject(value, 'open interest', (reader) => ({
    assetId: reader.string('asset_id'),
    interest: ['long', 'short', 'timestamp_ns'].every((name) => reader.has(name)) ? readInterest(value) : null,
  }));
}

export function readInventory(value: JsonValue): Inventory {
  const accounts = readObject(value, 'inventory', (reader) => reader.object('accounts'));
  return new Map([...accounts].map(([index, account]) => [Number(index), readSubAccount(account)]));
}

function readSubAccount(value: JsonValue): SubAccount {
  return readObject(value, 'sub-account', (reader) => ({
    kind: reader.string('kind'),
    name: reader.string('name'),
    spot: readBalances(reader.object('spot')),
  }));
}

function readBalances(balances: JsonObject): ReadonlyMap<string, string> {
  return new Map(
    [...balances].map(([asset, amount]) => {
      if (typeof amount !== 'string') throw invalidResponse('inventory', 'a balance is a decimal string');
      return [asset, amount];
    }),
  );
}

export function readPosition(value: JsonValue): Position {
  return readObject(value, 'position', (reader) => ({
    assetId: reader.string('asset_id'),
    subAccount: reader.integer('sub_account_index', 0, 255),
    side: wordOf(reader.string('side'), ['long', 'short', 'closed']),
    size: reader.string('size'),
    quoteCredits: reader.string('quote_credits'),
    quoteLiabilities: reader.string('quote_liabilities'),
    entryPrice: stringOrNull(reader, 'entry_price'),
    markPrice: stringOrNull(reader, 'mark_price'),
    unrealizedPnl: stringOrNull(reader, 'unrealized_pnl'),
    margin: stringOrNull(reader, 'margin'),
    leverage: stringOrNull(reader, 'leverage'),
    liquidationPrice: stringOrNull(reader, 'liquidation_price'),
  }));
}

export function readFigures(value: JsonValue): MarginAccounts {
  const { accounts, warnings } = readObject(value, 'margin', (reader) => ({
    accounts: reader.object('accounts'),
    // A service of before has none.
    warnings: reader.has('warnings') ? reader.array('warnings').map(readWarning) : [],
  }));
  return new Map(
    [...accounts].map(([index, account]) => {
      const own = warnings.filter(({ subAccount }) => subAccount === Number(index));
      return [
        Number(index),
        readAccount(
          account,
          own.map(({ warning }) => warning),
        ),
      ];
    }),
  );
}

function readWarning(value: JsonValue): { readonly subAccount: number; readonly warning: MarginWarning } {
  return readObject(value, 'margin warning', (reader) => ({
    subAccount: reader.integer('sub_account', 0, 255),
    warning: {
      code: reader.string('code'),
      message: reader.string('message'),
      assetId: stringOrNull(reader, 'asset'),
    },
  }));
}

function readAccount(value: JsonValue, warnings: readonly MarginWarning[]): MarginFigures {
  return readObject(value, 'margin account', (reader) => ({
    equity: reader.string('account_equity'),
    available: reader.string('available_margin'),
    utilized: reader.string('utilized_margin'),
    maintenanceSurplus: reader.string('maintenance_margin_surplus'),
    leverage: stringOrNull(reader, 'account_leverage'),
    isSolvent: reader.boolean('is_solvent'),
    isLiquidatable: reader.boolean('is_liquidatable'),
    initialSurplus: reader.string('im_surplus'),
    unrealizedPnl: reader.string('unrealized_pnl'),
    maintenanceRequirement: stringOrNull(reader, 'mm_requirement'),
    warnings,
  }));
}

export function readAtRisk(value: JsonValue): AtRisk {
  return readObject(value, 'at risk', (reader) => ({
    timestampNs: reader.u64('timestamp_ns'),
    assets: new Map([...reader.object('assets')].map(([asset, sides]) => [asset, readSides(sides)])),
  }));
}

function readSides(value: JsonValue): { readonly long: SideAtRisk; readonly short: SideAtRisk } {
  const side = (sideValue: JsonValue): SideAtRisk =>
    readObject(sideValue, 'side at risk', (reader) => ({
      quantity: reader.string('quantity'),
      liquidationPrice: stringOrNull(reader, 'liquidation_price'),
    }));
  return readObject(value, 'asset at risk', (reader) => ({
    long: side(reader.object('long')),
    short: side(reader.object('short')),
  }));
}

export function readCloseOrder(value: JsonValue): CloseOrder {
  return readObject(value, 'close order', (reader) => ({
    assetId: reader.string('asset_id'),
    side: wordOf(reader.string('side'), ['Buy', 'Sell']),
    quantity: reader.integer('quantity', 1, Number.MAX_SAFE_INTEGER),
    oraclePrice: reader.string('oracle_price'),
    subAccount: reader.integer('sub_account_index', 0, 255),
  }));
}

export function readSimulation(value: JsonValue): Simulation {
  return readObject(value, 'simulation', (reader) => ({
    equity: reader.string('account_equity'),
    available: reader.string('available_margin'),
    maintenanceSurplus: reader.string('mm_surplus'),
    leverage: stringOrNull(reader, 'account_leverage'),
    marginRequired: reader.string('margin_required'),
    marginImpact: reader.string('margin_impact'),
    isSolvent: reader.boolean('is_solvent'),
    isAccepted: reader.boolean('trade_accepted'),
    liquidationPrice: stringOrNull(reader, 'liquidation_price'),
  }));
}

function wordOf<Word extends string>(text: string, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw invalidResponse('margin', `${JSON.stringify(text)} is none of ${words.join(', ')}`);
  return word;
}

export function textsOf(members: JsonObject): ReadonlyMap<string, string> {
  if (!isJsonObject(members)) throw invalidResponse('preview', 'errors is an object');
  return new Map([...members].map(([name, text]) => [name, String(text)]));
}

export function readUserOrder(value: JsonValue): UserOrder {
  const record = readOrderRecord(value);
  return readObject(value, 'order record', (reader) => ({
    ...record,
    subAccount: reader.integer('account_index', 0, 255),
    isSpot: reader.boolean('is_spot'),
    lastUpdateNs: reader.u64('last_update_timestamp_ns'),
    revisionNs: reader.has('authorization_revision') ? reader.u64('authorization_revision') : null,
  }));
}

export function readSubAccountNames(value: JsonValue): readonly SubAccountName[] {
  return readObject(value, 'sub-account names', (reader) =>
    reader.array('names').map((row) =>
      readObject(row, 'sub-account name', (named) => ({
        subAccount: named.integer('account_index', 0, 255),
        name: named.string('name'),
      })),
    ),
  );
}

export function readPositionBasis(value: JsonValue): PositionBasis {
  return readObject(value, 'position basis', (reader) => ({
    subAccount: reader.integer('sub_account', 0, 255),
    assetId: reader.string('asset_id'),
    domain: choice(reader, 'domain', ['margin', 'spot']),
    side: reader.has('side') ? choice<'long' | 'short'>(reader, 'side', ['long', 'short']) : null,
    quantity: reader.string('quantity'),
    cost: reader.string('cost'),
    entryPrice: stringOrNull(reader, 'entry_price'),
    averageAcquisitionPrice: stringOrNull(reader, 'avg_acquisition_price'),
    markPrice: stringOrNull(reader, 'mark_price'),
    unrealizedPnl: stringOrNull(reader, 'unrealized_pnl'),
  }));
}

export function readAssetName(value: JsonValue): AssetName {
  return readObject(value, 'symbol map', (reader) => ({
    index: reader.integer('index', 0, Number.MAX_SAFE_INTEGER),
    symbol: reader.string('symbol'),
    name: reader.string('name'),
    assetClass: reader.string('asset_class'),
    representations: reader.array('representations').map(String),
  }));
}

/**
 * @param publishedNs of the frame.
 * @returns null for a tag unknown to this version: a newer service may have more.
 */
export function readOrderEvent(value: JsonValue, publishedNs: bigint): OrderEvent | null {
  if (!isJsonObject(value) || value.size !== 1) throw invalidResponse('order event', 'expected one tag');
  const [[tag, content] = ['', null]] = value;
  if (!isJsonObject(content)) throw invalidResponse('order event', 'a tag holds an object');
  const reader = new MemberReader(content);
  const event = readTaggedOrder(tag, reader, publishedNs);
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('order event', fault);
  return event;
}

function readTaggedOrder(tag: string, reader: MemberReader, publishedNs: bigint): OrderEvent | null {
  switch (tag) {
    case 'Created':
      return { ...readCreated(reader.object('user_order')), timestampNs: reader.u64('book_timestamp_ns') };
    case 'Canceled':
      return { kind: tag, ...identity(reader), timestampNs: reader.u64('timestamp_ns'), reason: reasonOf(reader) };
    case 'Removed':
      return {
        kind: tag,
        ...identity(reader),
        timestampNs: reader.u64('timestamp_ns'),
        reason: reader.string('reason'),
        filledQuantity: countOrZero(reader, 'filled_quantity'),
        confirmedQuantity: countOrZero(reader, 'confirmed_quantity'),
      };
    case 'Replaced':
      return {
        kind: tag,
        ...identity(reader),
        timestampNs: publishedNs,
        newPrice: reader.integer('new_price', 0, SAFE_MAX),
        newQuantity: reader.integer('new_quantity', 0, SAFE_MAX),
      };
    case 'Amended':
      return {
        kind: tag,
        ...identity(reader),
        newQuantity: reader.integer('new_quantity', 0, SAFE_MAX),
        remainingQuantity: reader.integer('remaining_quantity', 0, SAFE_MAX),
        revisionNs: reader.u64('authorization_revision'),
        timestampNs: reader.u64('timestamp_ns'),
      };
    case 'Triggered':
      return {
        kind: tag,
        ...identity(reader),
        timestampNs: reader.u64('timestamp_ns'),
        triggerPrice: reader.integer('trigger_price', 0, SAFE_MAX),
        quantity: reader.has('quantity') ? reader.integer('quantity', 0, SAFE_MAX) : null,
      };
    case 'ProtectionTriggered':
      return {
        kind: tag,
        assetId: reader.string('asset_id'),
        group: reader.string('group'),
        limit: reader.string('limit'),
        frozenUntilNs: reader.isNull('frozen_until_ns') ? null : reader.u64('frozen_until_ns'),
        timestampNs: reader.u64('timestamp_ns'),
      };
    case 'CreateFailed':
    case 'ReplaceFailed':
    case 'CancelFailed':
    case 'AmendFailed':
      return { kind: tag, orderId: reader.string('order_id'), timestampNs: publishedNs, reason: reasonOf(reader) };
    default:
      return null;
  }
}

function readCreated(order: JsonObject): Omit<OrderEvent & { readonly kind: 'Created' }, 'timestampNs'> {
  const reader = new MemberReader(order);
  const event = {
    kind: 'Created' as const,
    orderId: reader.string('order_id'),
    assetId: reader.string('base_asset'),
    order,
  };
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('order event', fault);
  return event;
}

function identity(reader: MemberReader): { readonly orderId: string; readonly assetId: string } {
  return { orderId: reader.string('order_id'), assetId: reader.string('asset_id') };
}

function reasonOf(reader: MemberReader): string | null {
  return reader.has('reason') ? reader.string('reason') : null;
}

function countOrZero(reader: MemberReader, name: string): number {
  return reader.has(name) ? reader.integer(name, 0, SAFE_MAX) : 0;
}

export function readWithdrawal(value: JsonValue): Withdrawal {
  return readObject(value, 'withdrawal', (reader) => ({
    asset: reader.string('asset'),
    amount: reader.string('amount'),
    nonce: reader.integer('nonce', 0, Number.MAX_SAFE_INTEGER),
    target: reader.string('target'),
    requestedNs: reader.u64('requested_at_ns'),
    ...readStatus(reader.object('status')),
  }));
}

export function readApproval(value: JsonValue): SettlementApproval {
  return readObject(value, 'approval', (reader) => ({
    ...readObject(reader.object('inner'), 'inner', (inner) => ({
      nonce: inner.integer('nonce', 0, Number.MAX_SAFE_INTEGER),
      signature: inner.string('signature'),
    })),
    expiry: reader.integer('expiry', 0, Number.MAX_SAFE_INTEGER),
  }));
}

function readStatus(value: JsonValue): Pick<Withdrawal, 'status' | 'approvals'> {
  return readObject(value, 'status', (reader) => {
    const status = reader.string('type');
    if (status !== 'approved') return { status, approvals: [] };
    const approvals = reader.array('approvals').map((approval) =>
      readObject(approval, 'approval', (inner) => ({
        signature: readObject(inner.object('inner'), 'inner', (signed) => signed.string('signature')),
        expiry: inner.integer('expiry', 0, Number.MAX_SAFE_INTEGER),
        epochHash: Buffer.from(inner.array('epoch_hash').map(Number)).toString('hex'),
      })),
    );
    return { status, approvals };
  });
}

/** @returns null for a tag unknown to this version. */
export function readAccountEvent(value: JsonValue): AccountEvent | null {
  if (!isJsonObject(value) || value.size !== 1) throw invalidResponse('account event', 'expected one tag');
  const [[tag, content] = ['', null]] = value;
  if (!isJsonObject(content)) throw invalidResponse('account event', 'a tag holds an object');
  const reader = new MemberReader(content);
  const event = readTaggedAccount(tag, reader);
  const fault = reader.finish('skip');
  if (fault !== null) throw malformed('account event', fault);
  return event;
}

function readTaggedAccount(tag: string, reader: MemberReader): AccountEvent | null {
  const common = (): { asset: string; timestampNs: bigint } => ({
    asset: reader.string('asset'),
    timestampNs: reader.u64('timestamp_ns'),
  });
  switch (tag) {
    case 'DepositLanded':
    case 'WithdrawalCompleted': {
      const nonce = reader.u64(tag === 'DepositLanded' ? 'deposit_nonce' : 'withdrawal_nonce');
      return { kind: tag, ...common(), amount18: amountOf(reader), chainId: reader.string('chain_id'), nonce };
    }
    case 'PositionCleared':
      return { kind: tag, ...common(), subAccount: reader.integer('sub_account_index', 0, COUNT_MAX) };
    case 'SubAccountAssetTransferred':
      return {
        kind: tag,
        ...common(),
        amount18: amountOf(reader),
        sourceIndex: reader.integer('source_sub_account_index', 0, COUNT_MAX),
        targetIndex: reader.integer('target_sub_account_index', 0, COUNT_MAX),
      };
    default:
      return null;
  }
}

function amountOf(reader: MemberReader): bigint {
  const text = reader.string('amount');
  return /^0x[0-9a-f]{1,64}$/.test(text) ? BigInt(text) : reader.fail('amount', 'expected 0x hex', 0n);
}
