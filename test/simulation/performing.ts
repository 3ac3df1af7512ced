/**
 * Carries an action out as the edge of the node would: session, budget, then the gateway; commands of operators go
 * to clearing, calls of vaults to the chains (chains.ts). Every pending answer is counted.
 *
 * Not here: which action comes next (drawing.ts), what must hold then (invariants.ts).
 */
import assert from 'node:assert/strict';
import type { ProtectionLimits } from '../../src/clearing/rows.ts';
import type { CreateRequest, ReplaceRequest } from '../../src/codec/order-actions.ts';
import { must } from '../../src/core/assert.ts';
import { parseDecimal18 } from '../../src/core/decimal.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import type { Reject } from '../../src/core/reject.ts';
import type { Amount18, TimestampNs } from '../../src/core/units.ts';
import type { ActionOrigin } from '../../src/gateway/actions/order-entry.ts';
import { DisconnectGroup } from '../../src/gateway/orders/entry/disconnect-group.ts';
import type { ActionAnswer } from '../../src/gateway/orders/entry/pending-requests.ts';
import { type Cost, priceOf, STANDARD_PRICES } from '../../src/gateway/sessions/costs.ts';
import type { RateSettings } from '../../src/gateway/sessions/rate-limits.ts';
import { sessionOf } from '../../src/http/oms-session.ts';
import { noHeaders, type RequestHead } from '../../src/http/request-head.ts';
import type { Asked } from '../support/asked.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import type { Action, ChangePlan, OrderPlan, ProtectionPlan } from './actions.ts';
import type { LifeChains } from './chains.ts';
import type { Listeners } from './listening.ts';
import { PEOPLE, userAt } from './people.ts';
import {
  amendOf,
  cancelOf,
  closeOf,
  createOf,
  forgedSet,
  quotesOf,
  replaceOf,
  settlementOf,
  transferOf,
  withdrawalCancelOf,
  withdrawalOf,
} from './signing.ts';
import { putTokens, vaultAt } from './vaults.ts';

// What operators and oracles do, as the commands that clearing gets.

function commandOf(action: Action): Asked {
  switch (action.kind) {
    case 'price':
      return { kind: 'setPrices', body: { prices: [{ asset_id: action.asset, price: action.price }] } };
    case 'faucet': {
      const { who, account, asset, amount } = action;
      return { kind: 'faucet', body: { user_id: userAt(who), sub_account: account, asset_id: asset, amount } };
    }
    case 'tokens':
      return putTokens(action.asset, action.registered);
    case 'creditUnclaimed': {
      const { chainId } = vaultAt(action.vault);
      return { kind: 'creditUnclaimed', chainId, user: userAt(action.who), counter: action.counter };
    }
    case 'patchMarket':
      return { kind: 'putMarket', method: 'patch', assetId: action.asset, body: action.body };
    case 'patchRisk':
      return { kind: 'putRisk', method: 'patch', assetId: action.asset, body: action.body };
    case 'patchUser':
      return { kind: 'patchUser', user: userAt(action.who), body: { is_mm: action.isMarketMaker } };
    case 'fault': {
      const { party, reason, count } = action;
      return { kind: 'fault', fault: { party, reason: reason as never, asset: null, skip: 0, count } };
    }
    case 'hold':
      return { kind: 'hold', asset: action.asset };
    case 'release':
      return { kind: 'release', fills: action.fills };
    default:
      return assert.fail(`no operator does ${action.kind}`);
  }
}

type UserAction = Extract<Action, { isControl: boolean }> | Extract<Action, { kind: 'cancelAll' | 'cancelBatch' }>;

/** Some of a hundred requests are beyond them. */
export const SIMULATED_RATES: RateSettings = {
  default: { unitsPerSecond: 3_000n, capacity: 150n },
  marketMaker: { unitsPerSecond: 9_000n, capacity: 300n },
  global: { unitsPerSecond: 18_000n, capacity: 600n },
  prices: STANDARD_PRICES,
};
const NS_PER_SECOND = 1_000_000_000n;

/** A user's side of the wire: a token, and the `/control` connection that is open. */
interface Seat {
  token: string;
  connection: number;
  group: DisconnectGroup;
  /** Orders sent on this connection. */
  sent: number;
}

export class Performer {
  /** Answers that are still to come. */
  owed = 0;
  /** Something was acknowledged since the last call. */
  #promised = false;
  /** Of a withdrawal or settlement: each is a text of its own. */
  #requests = 0;
  /** Orders with a closed connection. */
  readonly cut: Set<string> = new Set();
  /** Milli-units granted since this life began. */
  readonly #granted = new Map<UserId | 'all', bigint>();
  readonly #startNs: bigint;
  readonly #node: SimulatedNode;
  readonly #listeners: Listeners;
  readonly #chains: Pick<LifeChains, 'perform'>;
  readonly #forged: Set<string>;
  readonly #count: (what: string) => void;
  readonly #seats = new Map<number, Seat>();
  readonly #tied = new Map<DisconnectGroup, string[]>();

  constructor(
    node: SimulatedNode,
    parts: {
      readonly listeners: Listeners;
      readonly chains: Pick<LifeChains, 'perform'>;
      readonly forged: Set<string>;
      readonly count: (what: string) => void;
    },
  ) {
    this.#node = node;
    this.#chains = parts.chains;
    this.#startNs = node.nowNs;
    this.#listeners = parts.listeners;
    this.#forged = parts.forged;
    this.#count = parts.count;
    for (const who of PEOPLE.keys()) this.#login(who);
  }

  /** Whether anything was acknowledged since the last call: they need a turn of the event loop to go on. */
  get hasPromises(): boolean {
    const promised = this.#promised;
    this.#promised = false;
    return promised;
  }

  perform(action: Action): void {
    this.#count(action.kind);
    switch (action.kind) {
      case 'login':
        this.#login(action.who);
        break;
      case 'logout':
        this.#node.gateway.sessions.logout(userAt(action.who));
        break;
      case 'hangUp':
        this.#hangUp(action.who);
        break;
      case 'pass':
        this.#node.pass(BigInt(action.seconds) * NS_PER_SECOND);
        break;
      case 'deposit':
      case 'mine':
      case 'execute':
      case 'executeSettlement':
      case 'reorg':
      case 'provider':
      case 'replay':
      case 'resume':
        this.#chains.perform(action);
        break;
      case 'tokens':
      case 'creditUnclaimed':
      case 'price':
      case 'faucet':
      case 'patchMarket':
      case 'patchRisk':
      case 'patchUser':
      case 'fault':
      case 'hold':
      case 'release':
        this.#operate(action);
        break;
      default:
        if (this.#isAdmitted(action)) this.#act(action);
    }
  }

  /** Session, then budget. Who has no session any more gets one for the next time. */
  #isAdmitted(action: Action & { readonly who: number }): boolean {
    const user = userAt(action.who);
    const session = sessionOf(this.#node.gateway, headOf(user, this.#seat(action.who).token));
    if (!session.ok) {
      this.#count(session.reject.code);
      this.#login(action.who);
      return false;
    }
    assert.equal(session.value.user, user);
    return this.#isPaid(user, costOf(action));
  }

  #isPaid(user: UserId, cost: Cost): boolean {
    const refusal = this.#node.gateway.entry.admit(user, cost);
    if (refusal !== null) this.#count(refusal.code);
    else this.#checkBudget(user, priceOf(cost, STANDARD_PRICES));
    return refusal === null;
  }

  /**
   * No user gets more than a full bucket and what has refilled since: of the best tier, and of all together (LIM-06).
   */
  #checkBudget(user: UserId, price: bigint): void {
    const elapsedNs = this.#node.nowNs - this.#startNs;
    const own = (this.#granted.get(user) ?? 0n) + price;
    const all = (this.#granted.get('all') ?? 0n) + price;
    this.#granted.set(user, own).set('all', all);
    const { marketMaker, global } = SIMULATED_RATES;
    for (const [granted, { unitsPerSecond, capacity }] of [[own, marketMaker] as const, [all, global] as const]) {
      const most = capacity * 1_000n + (unitsPerSecond * elapsedNs) / 1_000_000n + 1n;
      assert.ok(granted <= most, `${granted} milli-units were granted, of at most ${most}`);
    }
  }

  #act(action: Action): void {
    const { entry, automaticCancels } = this.#node.gateway;
    switch (action.kind) {
      case 'create':
        entry.submit(
          { kind: 'create', request: this.#create(action.who, action.order) },
          this.#origin(action),
          this.#answer(1),
        );
        break;
      case 'quotes': {
        const request = quotesOf(action.quotes, userAt(action.who), this.#node.nowNs);
        if (action.quotes.forged === true) this.#forged.add(forgedSet(action.quotes.set, request.quotes.revisionNs));
        entry.submit({ kind: 'quotes', request }, this.#origin(action), this.#answer(1));
        break;
      }
      case 'createBatch': {
        const requests = action.orders.map((order) => this.#create(action.who, order));
        const answer = this.#answer(requests.length);
        entry.submitBatch({ kind: 'batch-create', requests }, this.#origin(action), (_index, told) => answer(told));
        break;
      }
      case 'replace':
        entry.submit(
          { kind: 'replace', request: this.#replace(action.who, action.change) },
          this.#origin(action),
          this.#answer(1),
        );
        break;
      case 'replaceBatch': {
        const requests = action.changes.map((change) => this.#replace(action.who, change));
        const answer = this.#answer(requests.length);
        entry.submitBatch({ kind: 'batch-replace', requests }, this.#origin(action), (_index, told) => answer(told));
        break;
      }
      case 'amend':
        this.#amend(action);
        break;
      case 'cancel':
        this.#cancel(action);
        break;
      case 'cancelAll':
      case 'cancelBatch':
        this.#cancelMany(action);
        break;
      case 'cancelAllAfter':
        automaticCancels.cancelAllAfter(userAt(action.who), action.timeoutMs);
        return;
      case 'read':
        this.#read(action);
        break;
      default:
        this.#actOnAccounts(action);
        break;
    }
  }

  // ---- sessions and connections

  #login(who: number): void {
    const { sessions } = this.#node.gateway;
    const key = PEOPLE[who];
    assert.ok(key !== undefined);
    const { value } = sessions.issueNonce(key.userId);
    const signature = key.sign(Buffer.from(value, 'utf8'));
    const session = sessions.login({ userId: key.userId, nonce: value, signature, scope: 'full' }, '');
    assert.ok(session.ok, 'whoever signs the nonce gets a session');
    this.#seats.set(who, { ...this.#newConnection(), token: session.value.token });
  }

  #hangUp(who: number): void {
    const seat = this.#seat(who);
    this.#node.gateway.automaticCancels.connectionEnded(seat.group);
    for (const id of this.#tied.get(seat.group) ?? []) this.cut.add(id);
    this.#tied.delete(seat.group);
    Object.assign(seat, this.#newConnection());
  }

  #newConnection(): Omit<Seat, 'token'> {
    const connection = this.#node.gateway.entry.newConnection();
    return { connection, group: new DisconnectGroup(), sent: 0 };
  }

  #seat(who: number): Seat {
    const seat = this.#seats.get(who);
    assert.ok(seat !== undefined, 'everybody sits somewhere');
    return seat;
  }

  #origin(action: UserAction & { readonly isControl: boolean }): ActionOrigin {
    const seat = this.#seat(action.who);
    const user = userAt(action.who);
    const { isControl } = action;
    const orders = action.kind === 'create' ? [action.order] : action.kind === 'createBatch' ? action.orders : [];
    for (const plan of orders) {
      seat.sent += 1;
      const place = isControl ? { connection: seat.connection, number: seat.sent } : null;
      this.#listeners.of(user).sent(plan, place);
    }
    if (action.kind !== 'create' || action.isTied !== true) {
      return { user, connection: isControl ? seat.connection : this.#node.gateway.entry.newConnection(), isControl };
    }
    this.#tied.set(seat.group, [...(this.#tied.get(seat.group) ?? []), action.order.id]);
    return { user, connection: seat.connection, isControl, group: seat.group };
  }

  // ---- signed actions

  /** So many answers are pending from now on, and not one more. */
  #answer(count: number): (answer: ActionAnswer) => void {
    this.owed += count;
    let left = count;
    return ({ refusal }) => {
      assert.ok(left > 0, 'every action is answered once');
      left -= 1;
      this.owed -= 1;
      this.#refused(refusal);
    };
  }

  #refused(refusal: Reject | null): void {
    this.#count(refusal === null ? 'Received' : refusal.code);
  }

  #create(who: number, plan: OrderPlan): CreateRequest {
    if (plan.forged === true) this.#forged.add(plan.id);
    return createOf(plan, userAt(who), this.#node.nowNs);
  }

  #replace(who: number, change: ChangePlan): ReplaceRequest {
    return replaceOf(change, userAt(who), this.#node.nowNs);
  }

  #amend(action: Extract<Action, { kind: 'amend' }>): void {
    const { entry, queries } = this.#node.gateway;
    const { id, market, isFirst } = action.amend;
    const user = userAt(action.who);
    const record = isFirst ? null : queries.order(user, market, id as OrderId);
    const revisionNs = record?.ok === true ? record.value.timestamp_ns : null;
    const request = amendOf(action.amend, user, { revisionNs, nowNs: this.#node.nowNs });
    entry.submit({ kind: 'amend', request }, this.#origin(action), this.#answer(1));
  }

  #cancel(action: Extract<Action, { kind: 'cancel' }>): void {
    const request = cancelOf(action, userAt(action.who), this.#node.nowNs);
    this.#node.gateway.entry.submit({ kind: 'cancel', request }, this.#origin(action), this.#answer(1));
  }

  #cancelMany(action: Extract<Action, { kind: 'cancelAll' | 'cancelBatch' }>): void {
    const { gateway, nowNs } = this.#node;
    const user = userAt(action.who);
    if (action.kind === 'cancelAll') {
      const beforeNs = action.olderNs === null ? null : ((nowNs - BigInt(action.olderNs)) as TimestampNs);
      const { market: assetId, side, group, set } = action;
      const scope = {
        ...(side === undefined ? {} : { side }),
        ...(group === undefined ? {} : { protectionGroup: group }),
        ...(set === undefined ? {} : { quoteSetId: set }),
      };
      this.#refused(gateway.cancels.cancelAll({ user, assetId, beforeNs, ...scope }));
    } else {
      this.#refused(
        gateway.cancels.cancelBatch({ user, assetId: action.market, orderIds: action.ids as readonly OrderId[] }),
      );
    }
  }

  /** Reads answer for every account, at any time. */
  #read({ who, account, market, lots }: Extract<Action, { kind: 'read' }>): void {
    const { queries, margin } = this.#node.gateway;
    const user = userAt(who);
    queries.inventory(user, null);
    assert.ok(margin.positions(user, { assetId: null, subAccounts: null }).ok);
    margin.figures(user, null);
    margin.closePreview(user, account);
    const size = (BigInt(lots) * 10n ** 14n) as Amount18;
    const side = lots % 2 === 0 ? 0 : 1;
    margin.simulate(user, {
      subAccount: account,
      asset: market,
      side,
      isSpot: false,
      size,
      price: null,
      transfers: [],
    });
  }

  // ---- accounts

  #actOnAccounts(action: Action): void {
    const { accountActions, protections } = this.#node.gateway;
    switch (action.kind) {
      case 'protect': {
        const { who, market: asset, group, plan } = action;
        this.#later(protections.put({ user: userAt(who), asset, group }, limitsOf(plan)), action.kind);
        break;
      }
      case 'unprotect':
      case 'unfreeze': {
        const name = { user: userAt(action.who), asset: action.market, group: action.group };
        const reply = action.kind === 'unprotect' ? protections.remove(name) : protections.reset(name);
        this.#later(reply, action.kind);
        break;
      }
      case 'transfer': {
        const user = userAt(action.who);
        this.#later(accountActions.transfer(transferOf(action, user), user));
        break;
      }
      case 'close': {
        const user = userAt(action.who);
        this.#later(accountActions.closePosition(closeOf(action, user), user));
        break;
      }
      case 'withdraw': {
        const user = userAt(action.who);
        this.#later(accountActions.withdraw(withdrawalOf(action, user, this.#requestId()), user));
        break;
      }
      case 'settle': {
        const user = userAt(action.who);
        this.#wait(accountActions.settle(settlementOf(action, user, this.#requestId()), user));
        break;
      }
      case 'cancelWithdrawal': {
        const user = userAt(action.who);
        this.#later(accountActions.cancelWithdrawal(withdrawalCancelOf(action, user), user));
        break;
      }
      case 'rename': {
        const { account: subAccount, name } = action;
        this.#later(accountActions.rename({ user: userAt(action.who), subAccount, name }));
        break;
      }
      default:
        assert.fail(`nobody carries out ${action.kind}`);
    }
  }

  /** This life's start is in it: another life has other texts. */
  #requestId(): string {
    this.#requests += 1;
    return `${this.#startNs}-${this.#requests}`;
  }

  /** @param what is counted with the outcome, if anything. */
  #later(
    promise: Promise<{ readonly ok: boolean; readonly value?: unknown; readonly reject?: Reject }>,
    what?: string,
  ): void {
    this.owed += 1;
    this.#promised = true;
    void promise.then(({ ok, reject, value }) => {
      this.owed -= 1;
      const refusal = ok ? ((value ?? null) as Reject | null) : (reject ?? null);
      this.#refused(refusal?.code === undefined ? null : refusal);
      if (what !== undefined) this.#count(`${what} ${reject?.code ?? 'done'}`);
    });
  }

  /** Answered when it is signed, which a stopped chain puts off: this answer is not counted on. */
  #wait(promise: Promise<{ readonly ok: boolean; readonly reject?: Reject }>): void {
    this.#promised = true;
    void promise.then(({ ok, reject }) => this.#count(ok ? 'settlement answered' : `settlement ${reject?.code}`));
  }

  // ---- operators, oracles

  #operate(action: Action): void {
    const command = commandOf(action);
    this.owed += 1;
    void this.#node.errand(command).then((reply) => {
      this.owed -= 1;
      this.#refused(reply.ok ? null : reply.reject);
      if (reply.ok && action.kind === 'faucet') this.#credited(action);
    });
  }

  #credited({ who, account, asset, amount }: Extract<Action, { kind: 'faucet' }>): void {
    const negative = amount.startsWith('-');
    const [whole = '0', part = ''] = amount.replace('-', '').split('.');
    const units = BigInt(whole) * 10n ** 18n + BigInt(part.padEnd(18, '0'));
    this.#listeners.of(userAt(who)).credit(account, asset, negative ? -units : units);
  }
}

function limitsOf({ maxQuantity, maxNotional, minFillNotional, ...times }: ProtectionPlan): ProtectionLimits {
  const amountOf = (text: string): Amount18 => must(parseDecimal18(text), 'an amount of a plan') as Amount18;
  return {
    ...times,
    maxQuantity: maxQuantity === null ? null : amountOf(maxQuantity),
    maxNotional: maxNotional === null ? null : amountOf(maxNotional),
    minFillNotional: amountOf(minFillNotional),
  };
}

function costOf(action: Action): Cost {
  switch (action.kind) {
    case 'createBatch':
      return { bulk: action.orders.length };
    case 'replaceBatch':
      return { bulk: action.changes.length };
    case 'cancelBatch':
      return { bulk: action.ids.length };
    case 'cancel':
    case 'cancelAll':
      return action.kind;
    default:
      return 'action';
  }
}

function headOf(user: UserId, token: string): RequestHead {
  const headers = { ...noHeaders(), authorization: `Bearer ${token}`, 'user-id': user };
  return { method: 'POST', path: '/', query: '', parameters: [], headers };
}
