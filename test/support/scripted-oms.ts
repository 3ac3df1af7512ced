/**
 * The services behind the order listener without markets and clearing: sessions, reads of orders, margin and signers are
 * the real ones over a real order manager; order entry, limits and account actions record what they get and answer as the
 * test sets.
 */

import type { OperatorCommand } from '../../src/clearing/inputs.ts';
import { ActionHops } from '../../src/codec/hop-times.ts';
import type { LedgerRows, LedgerSelection } from '../../src/codec/ledger-page.ts';
import type { MarketView } from '../../src/codec/market-reply.ts';
import { HOP } from '../../src/core/hops.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import type { AtRiskFigures } from '../../src/core/market-figures.ts';
import { accepted, type Outcome, rejected } from '../../src/core/outcome.ts';
import { type Reject, reject } from '../../src/core/reject.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import type { ClearingVerdict } from '../../src/gateway/actions/account-actions.ts';
import type { OrderCancels } from '../../src/gateway/actions/order-cancels.ts';
import { type ActionOrigin, type SignedEntry, STOPPING } from '../../src/gateway/actions/order-entry.ts';
import { ProtectionActions } from '../../src/gateway/actions/protection-actions.ts';
import type { GatewayServices } from '../../src/gateway/gateway.ts';
import type { EntryAnswer } from '../../src/gateway/orders/entry/pending-requests.ts';
import { MarginQueries } from '../../src/gateway/queries/margin-queries.ts';
import { OrderQueries } from '../../src/gateway/queries/order-queries.ts';
import { SignerQueries } from '../../src/gateway/queries/signers.ts';
import type { Cost } from '../../src/gateway/sessions/costs.ts';
import { UserSessions } from '../../src/gateway/user-sessions.ts';
import type { UserEventStreams } from '../../src/gateway/user-streams.ts';
import { BASE, MARKET, NO_HISTORY, NOW, OrderFixture } from './order-fixture.ts';
import { pagesOf } from './pages.ts';

export interface TakenAction {
  readonly kind: SignedEntry['kind'];
  readonly signer: UserId;
  readonly orderId: string;
  /** Of a quote set; null of every other action. */
  readonly revisionNs: bigint | null;
  readonly origin: ActionOrigin;
  readonly answer: EntryAnswer;
}

type CancelAll = Parameters<OrderCancels['cancelAll']>[0];
type CancelBatch = Parameters<OrderCancels['cancelBatch']>[0];

const MARKET_VIEW: MarketView = {
  definition: MARKET,
  maxLeverage: 10,
  isolatedOnly: false,
  feeAccount: '9a'.repeat(32),
};
const NO_MARKET = reject('MARKET_NOT_FOUND', 'there is no such market');

export class ScriptedOms implements GatewayServices {
  readonly unfunded: Set<UserId> = new Set();
  readonly fixture: OrderFixture = new OrderFixture();
  readonly actions: TakenAction[] = [];
  readonly timers: [UserId, number][] = [];
  readonly bulkCancels: (CancelAll | CancelBatch)[] = [];
  /** The answer to actions; `later` leaves it to the test. */
  script: Reject | 'received' | 'later' = 'received';
  cap = 10;
  /** The answer to charges, and all charges. */
  budget: Reject | null = null;
  readonly charged: [UserId | null, Cost][] = [];
  /** How long the frames of `/control` waited to be read. */
  readonly waitedMs: number[] = [];
  now: bigint = NOW;
  streams: UserEventStreams | undefined;
  /** What is at risk over all accounts. */
  risk: AtRiskFigures | null = null;
  /** What proofs are read from; null: no evidence is kept. */
  proofs: GatewayServices['proofs'] = null;
  readonly #tokens = new Map<UserId, Set<string>>();
  #issued = 0;
  #connections = 0;
  #isStopping = false;
  /** Whether it is a leader of a cluster whose lease is over. */
  isStalled = false;
  /** What is called when a mass cancel of a stalled leader is stored. */
  readonly unstored: (() => void)[] = [];

  atRisk(): AtRiskFigures | null {
    return this.risk;
  }

  /** A token of this user that is valid until the session ends. */
  token(user: UserId): string {
    this.#issued += 1;
    const token = `token-${this.#issued}`;
    this.#tokens.set(user, (this.#tokens.get(user) ?? new Set()).add(token));
    return token;
  }

  /** Sessions end without an event, as at their expiry. */
  expire(user: UserId): void {
    this.#tokens.delete(user);
  }

  nowNs(): TimestampNs {
    return this.now as TimestampNs;
  }

  newHops(isTimed: boolean, sinceMs: number | null = null): ActionHops {
    if (sinceMs !== null) this.waitedMs.push(performance.now() - sinceMs);
    const hops = new ActionHops(1, null, isTimed ? () => this.nowNs() : null);
    hops.pass(HOP.read);
    return hops;
  }

  isFunded(user: UserId): boolean {
    return !this.unfunded.has(user);
  }

  readonly #sessions = new UserSessions({
    nowNs: () => this.nowNs(),
    isFunded: (user) => this.isFunded(user),
    refusedUsers: new Set(),
    perAddressMax: Number.POSITIVE_INFINITY,
    streams: () => ({ endSessions: (user, tokenHash) => this.streams?.endSessions(user, tokenHash) }),
    signers: new SignerQueries(),
    signatures: { verify: async () => null },
  });
  readonly sessions: GatewayServices['sessions'] = {
    issueNonce: (user, place) => this.#sessions.issueNonce(user, place),
    coSignedLogin: (request, address, place) => this.#sessions.coSignedLogin(request, address, place),
    login: (request, address, place) => this.#sessions.login(request, address, place),
    logout: (user, session) => {
      if (session?.isReadOnly !== true) this.expire(user);
      this.#sessions.logout(user, session);
    },
    find: (user, token) =>
      this.#tokens.get(user)?.has(token) === true
        ? { byCoSigners: false, isReadOnly: false, tokenHash: token }
        : this.#sessions.find(user, token),
    listOf: (user) => this.#sessions.listOf(user),
    endById: (user, id) => this.#sessions.endById(user, id),
    isLive: (user, tokenHash) =>
      this.#tokens.get(user)?.has(tokenHash) === true || this.#sessions.isLive(user, tokenHash),
  };

  readonly limits: GatewayServices['limits'] = {
    charge: (user, cost) => this.#charge(user, cost),
    chargeRead: (user, cost) => this.#charge(user, cost),
    streamCap: () => this.cap,
    viewOf: () => ({
      tier: 'default',
      available: 198_500n,
      capacity: 200n,
      unitsPerSecond: 200n,
      costs: new Map([['bulk_item', 1_500n]]),
      streamCap: this.cap,
    }),
  };

  readonly entry: GatewayServices['entry'] = this.#scriptedEntry();

  readonly cancels: GatewayServices['cancels'] = {
    cancelAll: (request, _hops, stored) =>
      this.#bulk(request, this.fixture.manager.requests.checkCancelAll(request), stored),
    cancelBatch: (request, _hops, stored) =>
      this.#bulk(request, this.fixture.manager.requests.ordersToCancel(request), stored),
  };

  readonly automaticCancels: GatewayServices['automaticCancels'] = {
    cancelAllAfter: (user, timeoutMs) => {
      if (typeof this.script !== 'string') return rejected(this.script);
      this.timers.push([user, timeoutMs]);
      return accepted(timeoutMs === 0 ? null : ((this.now + BigInt(timeoutMs) * 1_000_000n) as TimestampNs));
    },
    connectionEnded: (group) => void group.end(),
  };

  /** The row log; null for none. */
  ledger: (query: LedgerSelection) => LedgerRows | null = () => null;

  readonly queries: OrderQueries = new OrderQueries({
    orders: this.fixture.manager,
    registry: { definitions: new Map([[BASE, MARKET]]) },
    isFunded: (user) => this.isFunded(user),
    pages: { ...pagesOf(NO_HISTORY), ledger: async (query) => accepted(this.ledger(query)) },
  });
  readonly margin: MarginQueries = new MarginQueries(
    this.fixture.manager,
    () => this.nowNs(),
    (asset) => asset === BASE,
  );
  readonly signers: SignerQueries = new SignerQueries();

  readonly registry: GatewayServices['registry'] = {
    assets: () => accepted('{}'),
    vaults: () => accepted('[]'),
    riskParameters: () => accepted('{}'),
    nettingParameters: () => accepted('[]'),
    symbols: () => accepted('{}'),
    decimals: () => accepted(new Map()),
    createMarket: async (assetId) => (assetId === BASE ? accepted(MARKET_VIEW) : rejected(NO_MARKET)),
    markets: () => [MARKET_VIEW],
    market: (assetId: AssetId) => (assetId === BASE ? MARKET_VIEW : null),
  };

  /** Account actions with their parameters. */
  readonly accountAsks: unknown[] = [];
  /** Clearing's verdict on account actions; null never comes. */
  verdict: ClearingVerdict | null = accepted(null);
  /** Clearing does what it is sent, and refuses nothing. */
  readonly protections: ProtectionActions = new ProtectionActions({
    groups: this.fixture.manager.protections,
    command: async (command) => {
      if (command.kind === 'putProtection') this.#putGroup(command);
      return accepted({});
    },
    marketIndexOf: (asset) => (asset === MARKET.assetId ? MARKET.marketIndex : null),
    isOpen: () => true,
    settled: () => null,
    isKnown: () => true,
    nowNs: () => this.nowNs(),
  });

  #putGroup({ user, group, terms }: Extract<OperatorCommand, { readonly kind: 'putProtection' }>): void {
    const { protections } = this.fixture.manager;
    const slot = protections.find(user, MARKET.marketIndex, group)?.slot ?? 1;
    const none = { trip: 0 as Sequence, endedTrip: 0 as Sequence, frozenUntilNs: 0n as TimestampNs, isGone: false };
    protections.changed({ user, marketIndex: MARKET.marketIndex, slot, group, ...terms, ...none });
  }

  readonly accountActions: GatewayServices['accountActions'] = {
    transfer: async (request, user) => this.#account('transfer', request.inner, user),
    closePosition: async (request, user) => this.#account('closePosition', request.inner, user),
    withdraw: async (request, user) => this.#account('withdraw', request.inner, user),
    addSigner: async (request, user) => this.#account('addSigner', request.inner, user),
    cancelWithdrawal: async (request, user) => this.#account('cancelWithdrawal', request.inner, user),
    settle: async (request, user) => {
      const verdict = await this.#account('settle', request.inner, user);
      if (!verdict.ok) return verdict;
      return verdict.value === null || verdict.value === 'duplicate'
        ? rejected(STOPPING)
        : accepted({ kind: 'refused' as const, refusal: verdict.value });
    },
    nonces: async () => accepted({ withdrawal: 0, settlements: [] }),
    rename: async (request) => {
      const verdict = await this.#account('rename', request, request.user);
      return verdict.ok ? accepted(null) : verdict;
    },
  };

  readonly withdrawals: GatewayServices['withdrawals'] = { queueOf: () => '[]' };
  readonly settlements: GatewayServices['settlements'] = { signaturesOf: () => '[]' };
  readonly makers: Set<UserId> = new Set();

  isMarketMaker(user: UserId): boolean {
    return this.makers.has(user);
  }

  #scriptedEntry(): GatewayServices['entry'] {
    const isStopping = (): boolean => this.#isStopping;
    const isStalled = (): boolean => this.isStalled;
    return {
      get isStalled() {
        return isStalled();
      },
      get isStopping() {
        return isStopping();
      },
      stop: () => {
        this.#isStopping = true;
      },
      newConnection: () => {
        this.#connections += 1;
        return this.#connections;
      },
      admit: (user, cost) => (this.#isStopping ? STOPPING : this.#charge(user, cost)),
      // Nothing rests here: every set that names a price adds.
      onlyTakes: ({ quotes }, user) => quotes.signer.id === user && quotes.bids.length + quotes.asks.length === 0,
      submit: (action, origin, answer) => this.#take(action, origin, answer),
      submitBatch: (batch, origin, answer) => {
        const kind = batch.kind === 'batch-create' ? 'create' : 'replace';
        batch.requests.forEach((request, index) => {
          this.#take({ kind, request } as SignedEntry, origin, (told) => answer(index, told));
        });
      },
    };
  }

  #charge(user: UserId | null, cost: Cost): Reject | null {
    this.charged.push([user, cost]);
    return this.budget;
  }

  #bulk(
    request: CancelAll | CancelBatch,
    checked: Outcome<unknown>,
    stored: (() => void) | null | undefined,
  ): Reject | null {
    if (!checked.ok) return checked.reject;
    if (typeof this.script !== 'string') return this.script;
    this.bulkCancels.push(request);
    if (stored) this.unstored.push(stored);
    return null;
  }

  #account(kind: string, asked: unknown, user: UserId): Promise<ClearingVerdict> {
    this.accountAsks.push([kind, asked, user]);
    return this.verdict === null ? new Promise(() => undefined) : Promise.resolve(this.verdict);
  }

  #take(action: SignedEntry, origin: ActionOrigin, answer: EntryAnswer): void {
    const { signer, orderId } = nameOf(action);
    const revisionNs = action.kind === 'quotes' ? action.request.quotes.revisionNs : null;
    this.actions.push({ kind: action.kind, signer, orderId, revisionNs, origin, answer });
    if (signer !== origin.user) {
      const refusal = reject('SIGNER_MISMATCH', 'the signer is not the user of the session', 'signer');
      answer({ refusal, processedAtNs: this.nowNs() });
    } else if (this.script !== 'later') {
      answer({ refusal: this.script === 'received' ? null : this.script, processedAtNs: this.nowNs() });
    }
  }
}

function nameOf(action: SignedEntry): { readonly signer: UserId; readonly orderId: string } {
  if (action.kind === 'create') {
    const { signer, orderId } = action.request.order;
    return { signer: signer.id, orderId };
  }
  if (action.kind === 'replace') return { signer: action.request.signer.id, orderId: action.request.request.orderId };
  if (action.kind === 'amend') return { signer: action.request.user.id, orderId: action.request.amend.orderId };
  if (action.kind === 'quotes') {
    const { signer, setId } = action.request.quotes;
    return { signer: signer.id, orderId: setId };
  }
  const { signer, orderId } = action.request.cancel;
  return { signer: signer.id, orderId };
}

// ---- bodies; their signatures are never verified here

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

/** @param bids best price first; none: the set ends. */
export function quotesBody(
  signer: UserId,
  setId: string,
  revisionNs: bigint,
  bids: readonly (readonly [price: number, quantity: number])[] = [[200_000, 100]],
): string {
  return (
    `{"quotes":{"signer":"${signer}","set_id":"${setId}","base_asset":"12","book_price_decimals":2,` +
    `"book_quantity_decimals":4,"revision":${revisionNs},"bids":${JSON.stringify(bids)},"asks":[],` +
    '"target":{"account":0,"is_spot":true},"max_trading_fees_rate":500,"protection_group":null,' +
    `"good_until_timestamp_ns":null,"protocol_version":1},"signature":${SIGNATURE},"post_sign_timestamp":${NOW}}`
  );
}

export function cancelBody(signer: UserId, orderId: string): string {
  return (
    `{"cancel":{"order_id":"${orderId}","asset_id":"12","signer":"${signer}","protocol_version":1},` +
    `"signature":${SIGNATURE},"post_sign_timestamp":${NOW}}`
  );
}
