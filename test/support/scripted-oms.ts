/**
 * An order service without a node: real sessions, a real order manager for reads, and signed actions that are recorded
 * and answered by the test.
 */

import type { AuthRequest } from '../../src/codec/auth-request.ts';
import type { MarketView } from '../../src/codec/market-reply.ts';
import { DEFAULT_MULTISIG } from '../../src/codec/multisig.ts';
import { type OrderRecordView, orderRecord } from '../../src/codec/order-record.ts';
import type { CancelRequest } from '../../src/codec/signed-cancel.ts';
import type { CreateRequest } from '../../src/codec/signed-order.ts';
import type { ReplaceRequest } from '../../src/codec/signed-replace.ts';
import { userTrade } from '../../src/codec/user-trade.ts';
import type { AssetId, OrderId, UserId } from '../../src/core/ids.ts';
import { accepted, type Outcome, rejected } from '../../src/core/outcome.ts';
import { type Reject, reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { verify } from '../../src/crypto/ed25519.ts';
import { MarginDesk } from '../../src/gateway/margin-desk.ts';
import type { InventoryBody } from '../../src/gateway/orders/inventory.ts';
import type { Lifeline } from '../../src/gateway/orders/lifeline.ts';
import type { Page, PageQuery } from '../../src/gateway/orders/pages.ts';
import type { Answer } from '../../src/gateway/orders/requests.ts';
import type { Cost } from '../../src/gateway/sessions/costs.ts';
import { checkNonce, completeLogin } from '../../src/gateway/sessions/login.ts';
import { Nonces } from '../../src/gateway/sessions/nonces.ts';
import { Tokens } from '../../src/gateway/sessions/tokens.ts';
import type { AccountActionBackend, ClearingVerdict, MultisigReads } from '../../src/http/account-backend.ts';
import type { ActionOrigin, ItemAnswer, OmsBackend, OmsStreams, PageRequest } from '../../src/http/oms-backend.ts';
import type { RegistryBackend } from '../../src/http/registry-backend.ts';
import type { SystemReads } from '../../src/http/system-routes.ts';
import { BASE, MARKET, NO_HISTORY, NOW, OrderDesk } from './order-desk.ts';
import { orderPage, tradePage } from './pages.ts';

export interface TakenAction {
  readonly kind: 'create' | 'replace' | 'cancel';
  readonly signer: UserId;
  readonly orderId: string;
  readonly origin: ActionOrigin;
  readonly answer: Answer;
}

type CancelAll = Parameters<OmsBackend['cancelAll']>[0];
type CancelBatch = Parameters<OmsBackend['cancelBatch']>[0];

const MARKET_VIEW: MarketView = {
  definition: MARKET,
  maxLeverage: 10,
  isolatedOnly: false,
  feeAccount: '9a'.repeat(32),
};
const NO_MARKET = reject('MARKET_NOT_FOUND', 'there is no such market');

export class ScriptedOms implements OmsBackend {
  readonly penniless: Set<UserId> = new Set();
  readonly desk: OrderDesk = new OrderDesk();
  readonly margin: MarginDesk = new MarginDesk(
    this.desk.manager,
    () => this.nowNs(),
    (asset) => asset === MARKET.assetId,
  );
  readonly actions: TakenAction[] = [];
  readonly timers: [UserId, number][] = [];
  readonly bulkCancels: (CancelAll | CancelBatch)[] = [];
  /** What actions are answered; `later` leaves the answer to the test. */
  script: Reject | 'received' | 'later' = 'received';
  cap = 10;
  /** The answer to charges, and the charges so far. */
  budget: Reject | null = null;
  readonly charged: [UserId | null, Cost][] = [];
  now: bigint = NOW;
  streams: OmsStreams | undefined;
  readonly #nonces = new Nonces();
  readonly #tokens = new Tokens();
  #issued = 0;

  /** A live token of this user. */
  token(user: UserId): string {
    this.#issued += 1;
    const token = `token-${this.#issued}`;
    this.#tokens.issue(user, token, this.nowNs());
    return token;
  }

  /** Sessions end without a word, as at their expiry. */
  expire(user: UserId): void {
    this.#tokens.revokeAll(user);
  }

  nowNs(): TimestampNs {
    return this.now as TimestampNs;
  }

  issueNonce(user: UserId): { readonly value: string; readonly ceNonce: number } {
    return { value: this.#nonces.issue(user, this.nowNs(), `nonce-${user.slice(0, 8)}`).value, ceNonce: 0 };
  }

  login(request: AuthRequest): Outcome<{ readonly token: string; readonly expiryNs: TimestampNs }> {
    const claim = { user: request.userId, nonce: request.nonce };
    const nonce = checkNonce(this.#nonces, claim, this.nowNs());
    if (!nonce.ok) return nonce;
    const key = Buffer.from(request.userId, 'hex');
    const signatureIsValid = verify(request.signature, Buffer.from(request.nonce), key);
    this.#issued += 1;
    const token = `token-${this.#issued}`;
    const proof = { signatureIsValid, tokenHash: token, now: this.nowNs() };
    const expiry = completeLogin({ nonces: this.#nonces, tokens: this.#tokens }, claim, proof);
    return expiry.ok ? accepted({ token, expiryNs: expiry.value }) : expiry;
  }

  logout(user: UserId): void {
    this.#tokens.revokeAll(user);
    this.streams?.endSessions(user);
  }

  isSession(user: UserId, token: string): boolean {
    return this.#tokens.isValid(user, token, this.nowNs());
  }

  streamCap(): number {
    return this.cap;
  }

  charge(user: UserId | null, cost: Cost): Reject | null {
    this.charged.push([user, cost]);
    return this.budget;
  }

  isFunded(user: UserId): boolean {
    return !this.penniless.has(user);
  }

  chargeLogin(): Reject | null {
    return this.charge(null, 'publicRead');
  }

  create({ order }: CreateRequest, origin: ActionOrigin, answer: Answer): void {
    this.#take({ kind: 'create', signer: order.signer.id, orderId: order.orderId, origin, answer });
  }

  replace({ request, signer }: ReplaceRequest, origin: ActionOrigin, answer: Answer): void {
    this.#take({ kind: 'replace', signer: signer.id, orderId: request.orderId, origin, answer });
  }

  cancel({ cancel }: CancelRequest, origin: ActionOrigin, answer: Answer): void {
    this.#take({ kind: 'cancel', signer: cancel.signer.id, orderId: cancel.orderId, origin, answer });
  }

  createBatch(requests: readonly CreateRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    requests.forEach((request, index) => {
      this.create(request, origin, (told) => answer(index, told));
    });
  }

  replaceBatch(requests: readonly ReplaceRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    requests.forEach((request, index) => {
      this.replace(request, origin, (told) => answer(index, told));
    });
  }

  cancelAllAfter(user: UserId, timeoutMs: number): Outcome<TimestampNs | null> {
    if (typeof this.script !== 'string') return rejected(this.script);
    this.timers.push([user, timeoutMs]);
    return accepted(timeoutMs === 0 ? null : ((this.now + BigInt(timeoutMs) * 1_000_000n) as TimestampNs));
  }

  cut(lifeline: Lifeline): void {
    lifeline.cut();
  }

  cancelAll(request: CancelAll): Reject | null {
    return this.#bulk(request, this.desk.manager.requests.checkCancelAll(request));
  }

  cancelBatch(request: CancelBatch): Reject | null {
    return this.#bulk(request, this.desk.manager.requests.ordersToCancel(request));
  }

  #bulk(request: CancelAll | CancelBatch, checked: Outcome<unknown>): Reject | null {
    if (!checked.ok) return checked.reject;
    if (typeof this.script !== 'string') return this.script;
    this.bulkCancels.push(request);
    return null;
  }

  readonly registry: RegistryBackend = {
    assets: () => accepted('{}'),
    vaults: () => accepted('[]'),
    riskParameters: () => accepted('{}'),
    decimals: () => accepted(new Map()),
    createMarket: async (assetId) => (assetId === BASE ? accepted(MARKET_VIEW) : rejected(NO_MARKET)),
  };

  /** Account actions come here with their requests. */
  readonly accountAsks: unknown[] = [];
  /** The verdict of clearing on account actions; null never comes. */
  verdict: ClearingVerdict | null = accepted(null);
  readonly accountActions: AccountActionBackend = {
    transfer: async (request, user) => this.#account('transfer', request.inner, user),
    closePosition: async (request, user) => this.#account('closePosition', request.inner, user),
    rename: async (request) => {
      const verdict = await this.#account('rename', request, request.user);
      return verdict.ok ? accepted(null) : verdict;
    },
  };
  #account(kind: string, asked: unknown, user: UserId): Promise<ClearingVerdict> {
    this.accountAsks.push([kind, asked, user]);
    return this.verdict === null ? new Promise(() => undefined) : Promise.resolve(this.verdict);
  }

  readonly system: SystemReads = {
    version: '0.0.0',
    limitsOf: () => ({
      tier: 'default',
      available: 198_500n,
      capacity: 200n,
      unitsPerSecond: 200n,
      costs: new Map([['bulk_item', 1_500n]]),
      streamCap: this.cap,
    }),
  };

  readonly multisig: MultisigReads = { multisigConfig: () => DEFAULT_MULTISIG, accountsOfSigner: () => [] };

  markets(): readonly MarketView[] {
    return [MARKET_VIEW];
  }

  market(assetId: AssetId): MarketView | null {
    return assetId === BASE ? MARKET_VIEW : null;
  }

  inventory(user: UserId, subAccounts: readonly number[] | null): InventoryBody {
    return this.desk.manager.inventory(user, subAccounts);
  }

  async orderPage(request: PageRequest & { readonly openOnly: boolean }): Promise<Outcome<Page<string>>> {
    const query = queryOf(request);
    if (!query.ok) return query;
    const { rows, total } = orderPage(this.desk.manager, NO_HISTORY, { ...query.value, openOnly: request.openOnly });
    return accepted({ rows: rows.map(orderRecord), total });
  }

  order(user: UserId, assetId: AssetId, orderId: OrderId): Outcome<OrderRecordView> {
    if (assetId !== BASE) return rejected(NO_MARKET);
    const record = this.desk.manager.order({ user, marketIndex: MARKET.marketIndex, orderId });
    return record === undefined ? rejected(reject('ORDER_NOT_FOUND', 'there is no such order')) : accepted(record);
  }

  async tradePage(request: PageRequest): Promise<Outcome<Page<string>>> {
    const query = queryOf(request);
    if (!query.ok) return query;
    const { rows, total } = tradePage(this.desk.manager, NO_HISTORY, query.value);
    return accepted({ rows: rows.map(userTrade), total });
  }

  #take(action: TakenAction): void {
    this.actions.push(action);
    if (action.signer !== action.origin.user) {
      const refusal = reject('SIGNER_MISMATCH', 'the signer is not the user of the session', 'signer');
      action.answer({ refusal, processedAtNs: this.nowNs() });
    } else if (this.script !== 'later') {
      action.answer({ refusal: this.script === 'received' ? null : this.script, processedAtNs: this.nowNs() });
    }
  }
}

function queryOf({ user, assetId, subAccounts, page, limit }: PageRequest): Outcome<PageQuery> {
  if (assetId !== null && assetId !== BASE) return rejected(NO_MARKET);
  const marketIndex = assetId === null ? null : MARKET.marketIndex;
  return accepted({ user, marketIndex, subAccounts, page, limit });
}

// ---- bodies; signatures are the backend's business

const SIGNATURE = `[${new Array(64).fill(7).join(',')}]`;

export function createBody(signer: UserId, orderId: string, asset = '12'): string {
  return (
    `{"order":{"signer":"${signer}","order_id":"${orderId}","base_asset":"${asset}","book_price_decimals":2,` +
    '"book_quantity_decimals":4,"details":{"Limit":{"limit_price":200000,"quantity":10000,"time_in_force":' +
    `{"GTC":{"post_only":false}}}},"side":"Buy","trigger":null,"creation_timestamp_ns":${NOW},` +
    '"target":{"account":0,"is_spot":true},"reduce_only":false,"max_trading_fees_rate":500,"protocol_version":1},' +
    `"signature":${SIGNATURE},"post_sign_timestamp":${NOW}}`
  );
}

export function replaceBody(signer: UserId, orderId: string): string {
  return (
    `{"request":{"order_id":"${orderId}","timestamp_ns":${NOW},"new_price_limit":200005,"new_quantity":null,` +
    '"new_trigger":null,"book_quantity_decimals":4,"book_price_decimals":2,"protocol_version":1},' +
    `"signer":"${signer}","asset_id":"12","signature":${SIGNATURE},"post_sign_timestamp":${NOW}}`
  );
}

export function cancelBody(signer: UserId, orderId: string): string {
  return (
    `{"cancel":{"order_id":"${orderId}","asset_id":"12","signer":"${signer}","protocol_version":1},` +
    `"signature":${SIGNATURE},"post_sign_timestamp":${NOW}}`
  );
}
