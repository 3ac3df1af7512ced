/**
 * Order entry: every signed action, batch and cancel on its way from a socket to its market. `/control`, REST and test
 * hooks come in here, and every answer goes back through the callback that came with the request.
 *
 *   action ─▶ validate ─▶ verify ─▶ capacity of the shard's ring ─▶ reserve (hold, request id) ─▶ message ─▶ market
 *   sender ◀────────────────────────────────────────────────── OrderRequests.onAck ◀──────────────────────┘
 *
 *   batch ─▶ every item validated ─▶ all signatures, side by side in the pool ─▶ markets, one after the other
 *                                      capacity for all of its items, or none is sent
 *                                      each reserved, in order of submission
 *                                      [batch begins] item item … [batch ends]      (BAT-01 to BAT-10, AMB-26)
 *
 * A full ring, a closed market or a full pool is an answer before anything changed.
 *
 * Invariants
 *   (1) Nothing is reserved unless the ring of the market can take the message; of a batch, all its items there.
 *   (2) Items of one market stay in their order, and are framed by two notes, so that the market publishes its levels
 *       once (BAT-07).
 *   (3) On `/control` a batch stays between what its connection sent before and after it: it goes when its last
 *       signature is verified, and signatures of a connection are verified in order. A REST request is a connection of
 *       its own, so its signatures go to all threads of the pool.
 *
 * Not here: sockets and frames (src/http), cancels without a signature (order-cancels.ts), the rules on a request (orders/entry/pre-flight.ts) and its hold
 * (orders/entry/order-requests.ts), the form of messages (command-codec.ts).
 */
import { createHash } from 'node:crypto';
import {
  MASTER_ALONE,
  refuseCancelSigners,
  refuseCoSigners,
  refuseOrderSigners,
  refuseSigners,
} from '../../clearing/signers/signer-config.ts';
import type { ActionHops } from '../../codec/hop-times.ts';
import type { QuoteOutcome } from '../../codec/operation-replies.ts';
import type {
  AmendRequest,
  CancelRequest,
  CreateRequest,
  QuoteSetRequest,
  ReplaceRequest,
} from '../../codec/order-actions.ts';
import { furtherSignatures, isUnsigned, SIGNATURE_BYTES } from '../../codec/signatures.ts';
import { storedSignatures } from '../../codec/stored-signatures.ts';
import { must } from '../../core/assert.ts';
import { parseHex } from '../../core/hex.ts';
import { HOP } from '../../core/hops.ts';
import type { OrderId, UserId } from '../../core/ids.ts';
import type { HashKey } from '../../core/key-words.ts';
import { ORDER_FLAG } from '../../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { Views } from '../../core/views.ts';
import { COMMAND_NOTE, NOTE_BYTES, sendNote } from '../../order/command-notes.ts';
import { type InjectedFill, writeInjectedFill } from '../../order/fill-injection.ts';
import type { Publication } from '../../runtime/publication.ts';
import { recordBytes } from '../../runtime/ring-layout.ts';
import {
  AmendOrder,
  ApplyQuoteSet,
  CancelOrder,
  NewOrder,
  type OrderRecordView,
  ReplaceOrder,
} from '../../schema/generated/messages.ts';
import {
  createMessageBytes,
  quoteSetMessageBytes,
  type Stamp,
  writeAmend,
  writeCancel,
  writeCreate,
  writeQuoteSet,
  writeReplace,
} from '../command-codec.ts';
import { type DisconnectGroup, Membership } from '../orders/entry/disconnect-group.ts';
import type { Caller, OrderRequests } from '../orders/entry/order-requests.ts';
import {
  type ActionAnswer,
  type EntryAnswer,
  type EntryReply,
  NO_SKIPS,
  type PreparedCreate,
  type PreparedQuoteSet,
  type PreparedReplace,
  type PreparedRequest,
  type SkippedCheck,
} from '../orders/entry/pending-requests.ts';
import { TOO_OLD } from '../orders/entry/quote-requests.ts';
import type { SignerQueries } from '../queries/signers.ts';
import { type Cost, isCancelCost } from '../sessions/costs.ts';
import { CreateRetries } from '../sessions/create-retries.ts';
import type { UserLimits } from '../sessions/user-limits.ts';
import { MARKET_BUSY, MARKET_CLOSED } from './order-cancels.ts';
import type { ReleaseQueue } from './release-queue.ts';
import { BAD_SIGNATURE, POOL_FULL, type SignatureJob, type SignatureVerifier } from './signature-verifier.ts';
import { UnverifiedOrders } from './unverified-orders.ts';

export type SignedEntry =
  | { readonly kind: 'create'; readonly request: CreateRequest }
  | { readonly kind: 'replace'; readonly request: ReplaceRequest }
  | { readonly kind: 'cancel'; readonly request: CancelRequest }
  | { readonly kind: 'amend'; readonly request: AmendRequest }
  | { readonly kind: 'quotes'; readonly request: QuoteSetRequest };

/** Several of one kind in one request. */
export type SignedBatch =
  | { readonly kind: 'batch-create'; readonly requests: readonly CreateRequest[] }
  | { readonly kind: 'batch-replace'; readonly requests: readonly ReplaceRequest[] };

/** The sender of a signed action, and its connection. */
export interface ActionOrigin {
  /** The session's user. */
  readonly user: UserId;
  /** Any number that stays the same for one connection: its actions keep their order. */
  readonly connection: number;
  /** True on `/control`: no look-up first, and a cancel may wait for its create (AMB-92). */
  readonly isControl: boolean;
  /** The sender may repeat a create: one that equals an earlier one gets the answer of that; false unless given. */
  readonly mayRetry?: boolean;
  /** Records the hops of an action or a batch; none are recorded unless given. */
  readonly hops?: ActionHops | null;
  /** The cancel-on-disconnect group of its connection; none unless given. */
  readonly group?: DisconnectGroup | null;
  /**
   * Co-signers of the account opened the session: its cancels need no signature, nor weight (AMB-136). False unless
   * given.
   */
  readonly byCoSigners?: boolean;
  /**
   * Whether a cancel of all orders of its connection has overtaken this create or quote set: the market cancels a create with
   * its admission, a set is too old (UNS-01, QTE-09). None is unless given.
   */
  readonly isOvertaken?: (action: PreparedCreate | PreparedQuoteSet) => boolean;
  /** Since when a quote set may have waited; real milliseconds, monotonic. It has not unless given. */
  readonly sinceMs?: number;
  /** Called when a quote set has gone to its market, before its answer; never for one that is refused or skipped. */
  readonly setSent?: () => void;
}

/** The answer to the item of a batch at this index. */
type ItemAnswer = (index: number, answer: ActionAnswer) => void;

interface OrderEntryParts {
  readonly requests: OrderRequests;
  readonly verifier: Pick<SignatureVerifier, 'verify'>;
  readonly limits: Pick<UserLimits, 'charge' | 'partOf'>;
  /** The keys that may sign for an account. */
  readonly signers: Pick<SignerQueries, 'configOf'>;
  /** One per shard; market m lives on shard m mod shards. */
  readonly shards: readonly Publication[];
  /** The key of the hashes of ids. */
  readonly idKey: HashKey;
  readonly nowNs: () => TimestampNs;
  /** Markets that have been restored and take orders. */
  readonly openMarkets: ReadonlySet<number>;
  /** Sent before new orders. */
  readonly releases: Pick<ReleaseQueue, 'send'>;
  /** The refusal of every new order of a user, or null (AMB-124). */
  readonly createRefusal: (user: UserId) => Reject | null;
  /** Requests a flush at the end of this turn of the event loop. */
  readonly wakeUp: () => void;
  /** As Gateway's. */
  readonly isCluster?: boolean;
  /** Called with each action that is refused before the journal; absent: none of it is kept. */
  readonly refused?: ((action: RefusedAction) => void) | null;
  readonly counted: {
    /** @param elapsedMs from the decoded create to its answer. */
    readonly order: (isReceived: boolean, elapsedMs: number) => void;
  };
}

/** A signed action that was refused (EXP-01). */
export interface RefusedAction {
  readonly user: UserId;
  readonly kind: SignedEntry['kind'];
  readonly reject: Reject;
  /** The signed text; null of a request that has none because it is faulty. */
  readonly text: Uint8Array | null;
  readonly timeNs: TimestampNs;
}

export const STOPPING: Reject = reject('SERVICE_UNAVAILABLE', 'the service is stopping');
/** A leader whose lease is over refuses what adds or moves anything; what takes away is executed (cluster.md 7.4). */
const STALLED: Reject = reject('SERVICE_UNAVAILABLE', 'the node has no answer of its cluster, try again');
export const CONNECTION_ENDED: Reject = reject('SERVICE_UNAVAILABLE', 'the connection of this order has ended');
const RETRIED_TOO_OFTEN: Reject = reject('SERVICE_UNAVAILABLE', 'this create is on its way, wait for its answer');
const REPEATED: Reject = reject('DUPLICATE_ORDER', 'the batch names this order before', 'order_id');

/** Of a set that was skipped for a newer one. */
const SUPERSEDED: QuoteOutcome = {
  ...{ created: 0, changed: 0, kept: 0, cancelled: 0 },
  refused: [],
  isSuperseded: true,
};
/** Stands for the master signature where none is needed. */
const NO_MASTER: Uint8Array = new Uint8Array(SIGNATURE_BYTES);
const NO_TIME = 0n as TimestampNs;
/** Public keys kept as bytes; when full it starts over, which costs one conversion a user. */
const PUBLIC_KEYS_KEPT = 65_536;

/** The largest fee limit that a message has. */
const FEE_RATE_MAX = 0xffff_ffff;

/** What every signed request has. */
type SignedRequest = CreateRequest | ReplaceRequest | CancelRequest | AmendRequest | QuoteSetRequest;

/** An item of a batch that was validated; its signature may be on its way. */
interface Item<Prepared extends PreparedRequest = PreparedRequest> {
  readonly index: number;
  readonly prepared: Prepared;
}

/** What was taken for a request. */
interface Reserved {
  readonly requestId: number;
  /** The record of a create; null for every other action. */
  readonly order: OrderRecordView | null;
}

/**
 * The origin of a create that may be retried, with its membership: a retry may move it to the group of its own
 * connection.
 */
interface CreateOrigin extends ActionOrigin {
  readonly membership?: Membership;
}

export class OrderEntry {
  readonly #parts: OrderEntryParts;
  readonly #retries = new CreateRetries<ActionAnswer, Membership>();
  readonly #unverified = new UnverifiedOrders();
  readonly #publicKeys = new Map<UserId, Uint8Array>();
  #lastSentId = 0;
  #lastSentMs = 0;
  #lastConnection = 0;
  #isStopping = false;

  constructor(parts: OrderEntryParts) {
    this.#parts = parts;
  }

  // ---- admission

  /** The newest order that was sent to a market; 0 before the first. */
  get lastSentId(): number {
    return this.#lastSentId;
  }

  /** When it was sent; real milliseconds, monotonic. */
  get lastSentMs(): number {
    return this.#lastSentMs;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Whether this leader's lease is over: cancels are answered when they are stored (cluster.md 7.4). */
  get isStalled(): boolean {
    return this.#parts.requests.isStalled();
  }

  /** From now on every change is refused with SERVICE_UNAVAILABLE; those under way are still answered. */
  stop(): void {
    this.#isStopping = true;
  }

  /** A number for one `/control` connection or one REST request. */
  newConnection(): number {
    this.#lastConnection += 1;
    return this.#lastConnection;
  }

  /**
   * Whether one more change of this user's may begin; charges it.
   *
   * @returns SERVICE_UNAVAILABLE once order entry stops, and of what is no cancel while the leader is stalled; RATE_LIMITED; or
   *   null: it has been paid for.
   */
  admit(user: UserId, cost: Cost): Reject | null {
    if (this.#isStopping) return STOPPING;
    // What a quote set adds is judged apart from what it takes away (QTE-04).
    // mutant: stalled-leader
    if (!isCancelCost(cost) && cost !== 'quotes' && this.#parts.requests.isStalled()) return STALLED;
    return this.#parts.limits.charge(user, cost, this.#parts.nowNs());
  }

  // ---- signed actions

  /** Takes an action that was admitted in the same turn. Answers once, now or later. */
  submit(action: SignedEntry, origin: ActionOrigin, answered: EntryAnswer): void {
    const { refused = null } = this.#parts;
    const answer = refused === null ? answered : this.#keepingRefusal(action, origin, answered);
    if (action.kind === 'create') {
      const { request } = action;
      if (origin.mayRetry === true && request.fault === null) this.#createOnce(request, origin, answer);
      else this.#create(request, origin, answer);
    } else if (action.kind === 'replace') {
      const prepared = this.#parts.requests.checkReplace(action.request, this.#caller(origin));
      this.#process(prepared, action.request, origin, answer);
    } else if (action.kind === 'cancel') {
      const prepared = this.#parts.requests.checkCancel(action.request, this.#caller(origin));
      this.#process(prepared, action.request, origin, answer);
    } else if (action.kind === 'amend') {
      const prepared = this.#parts.requests.checkAmend(action.request, this.#caller(origin));
      this.#process(prepared, action.request, origin, answer);
    } else this.#quoteSet(action.request, origin, answer);
  }

  /** As `submit`, for every order of a batch; the answers come one by one, in any order. */
  submitBatch(batch: SignedBatch, origin: ActionOrigin, answered: ItemAnswer): void {
    const kind = batch.kind === 'batch-create' ? 'create' : 'replace';
    const { refused = null } = this.#parts;
    const answer: ItemAnswer =
      refused === null
        ? answered
        : (index, result) => {
            const request = must(batch.requests[index], 'an item of the batch');
            this.#keepRefusal({ kind, request }, origin, result);
            answered(index, result);
          };
    if (batch.kind === 'batch-create') this.#createBatch(batch.requests, origin, answer);
    else {
      const caller = this.#caller(origin);
      this.#processAll(batch.requests, origin, answer, (request) => this.#parts.requests.checkReplace(request, caller));
    }
  }

  #keepingRefusal(action: SignedEntry, origin: ActionOrigin, answered: EntryAnswer): EntryAnswer {
    return (result) => {
      this.#keepRefusal(action, origin, result);
      answered(result);
    };
  }

  /** What a market refuses because it would cross is journaled, and no refusal before it. */
  #keepRefusal(
    { kind, request }: { readonly kind: SignedEntry['kind']; readonly request: SignedRequest },
    { user }: ActionOrigin,
    { refusal }: { readonly refusal: Reject | null },
  ): void {
    if (refusal === null || refusal.code === 'WOULD_CROSS') return;
    const text = request.fault === null ? request.text : null;
    this.#parts.refused?.({ user, kind, reject: refusal, text, timeNs: this.#parts.nowNs() });
  }

  // ---- creates

  #create(request: CreateRequest, origin: CreateOrigin, answer: EntryAnswer): void {
    const startedMs = performance.now();
    this.#process(this.#checkCreate(request, origin), request, origin, (first) => {
      this.#parts.counted.order(first.refusal === null, performance.now() - startedMs);
      answer(first);
    });
  }

  /**
   * An equal create of the same sender gets the answer of the first, once that is known; only an answer that left the id
   * free lets it begin anew. The order is in the group of the latest retry that has one.
   */
  #createOnce(request: CreateRequest, origin: ActionOrigin, answer: EntryAnswer): void {
    const { user, group = null } = origin;
    const nowNs = this.#parts.nowNs();
    const identity = { user, signature: signatureIdentity(request), text: request.text };
    // The end of one connection stops no other: a sender that is still connected begins anew.
    const first = (result: ActionAnswer): void => {
      if (result.refusal === CONNECTION_ENDED && group?.isEnded !== true) this.#createOnce(request, origin, answer);
      else answer(result);
    };
    const known = this.#retries.find(identity, nowNs);
    if (known === null) {
      const membership = new Membership(group);
      const sent = this.#retries.begin(identity, membership, nowNs, first);
      this.#create(request, { ...origin, membership }, (result) => {
        this.#retries.settle(sent, result, result.refusal === null || result.refusal.code === 'WOULD_CROSS');
      });
    } else if (!this.#retries.join(known, first)) this.#refuse(answer, RETRIED_TOO_OFTEN);
    else if (group?.isEnded === false) known.shared.moveTo(group);
  }

  /**
   * The second order of an id in its market fails alone, whatever becomes of the first; its own faults come before
   * (AMB-26, AMB-91).
   */
  #createBatch(requests: readonly CreateRequest[], origin: ActionOrigin, answer: ItemAnswer): void {
    const startedMs = performance.now();
    const named = new Set<string>();
    const counted: ItemAnswer = (index, result) => {
      this.#parts.counted.order(result.refusal === null, performance.now() - startedMs);
      answer(index, result);
    };
    this.#processAll(requests, origin, counted, (request) => {
      const { orderId, baseAsset } = request.order;
      const name = `${baseAsset.id} ${orderId}`;
      const isRepeated = named.has(name);
      named.add(name);
      const prepared = this.#checkCreate(request, origin);
      return prepared.ok && isRepeated ? rejected(REPEATED) : prepared;
    });
  }

  #checkCreate(
    request: CreateRequest,
    origin: ActionOrigin,
    skips: ReadonlySet<SkippedCheck> = NO_SKIPS,
  ): Outcome<PreparedCreate> {
    const refusal = this.#parts.createRefusal(origin.user);
    if (refusal !== null) return rejected(refusal);
    return this.#parts.requests.checkCreate(request, this.#caller(origin), skips);
  }

  /** A create past some of the checks, which are left to clearing (operator-api.md 7.3 `inject_order`). */
  inject(request: CreateRequest, skips: ReadonlySet<SkippedCheck>, answer: EntryAnswer): void {
    const origin = { user: request.order.signer.id, connection: 0, isControl: false };
    const prepared = this.#checkCreate(request, origin, skips);
    if (!prepared.ok) {
      this.#refuse(answer, prepared.reject);
      return;
    }
    const isUnweighed = skips.has('multisig') || (skips.has('signature') && isUnsigned(request));
    const refusal = isUnweighed ? null : this.#refuseSigners(request, origin);
    const settle = (bad: Reject | null): void => {
      if (bad === null) this.#send(prepared.value, origin, answer);
      else this.#refuse(answer, bad);
    };
    if (refusal !== null || skips.has('signature')) settle(refusal);
    else this.#verifySignatures(request, origin, settle);
  }

  /** A fill as if the market had matched it (operator-api.md 7.3 `inject_fill`). @returns why not, or null. */
  injectFill(fill: InjectedFill): Reject | null {
    const isSent = writeInjectedFill(this.#publicationOf(fill.marketIndex), fill);
    this.#parts.wakeUp();
    return isSent ? null : MARKET_BUSY;
  }

  // ---- quote sets

  /** What it adds is charged and judged apart from what it takes away (QTE-04, QTE-10). */
  #quoteSet(request: QuoteSetRequest, origin: ActionOrigin, answer: EntryAnswer): void {
    const { requests, limits, nowNs, createRefusal } = this.#parts;
    const { user, hops = null } = origin;
    const entries = requests.quotes.priced(request, user);
    const notPaid = entries === 0 ? null : limits.charge(user, { furtherQuotes: entries }, nowNs());
    const given = notPaid ?? (requests.isStalled() ? STALLED : createRefusal(user));
    const prepared = requests.quotes.check(request, this.#caller(origin), given);
    if (!prepared.ok) {
      this.#refuseSet(request, prepared.reject, origin, answer);
      return;
    }
    const verified = (refusal: Reject | null): void => {
      hops?.pass(HOP.verified);
      if (refusal === null) this.#sendQuoteSet(prepared.value, origin, answer, entries);
      else this.#refuse(answer, refusal);
    };
    this.#verify(request, origin, verified, entries === 0);
  }

  /** A set that adds nothing to what is known to rest: it is as urgent as a cancel. */
  onlyTakes(request: QuoteSetRequest, user: UserId): boolean {
    return request.quotes.signer.id === user && this.#parts.requests.quotes.priced(request, user) === 0;
  }

  /** One that is too old because a newer one has gone to its market while it waited is skipped, which is no refusal (QTE-09). */
  #refuseSet(
    request: Pick<QuoteSetRequest, 'quotes'>,
    refusal: Reject,
    { user, sinceMs = Number.POSITIVE_INFINITY }: ActionOrigin,
    answer: EntryAnswer,
  ): void {
    const { requests, nowNs } = this.#parts;
    if (refusal === TOO_OLD && requests.quotes.isSuperseded(request, user, sinceMs))
      answer({ refusal: null, processedAtNs: nowNs(), quotes: SUPERSEDED });
    else this.#refuse(answer, refusal);
  }

  /**
   * A set that only takes away may use the reserved capacity of its ring, as a cancel.
   *
   * @param paid entries that were charged before the signature; while it was checked the sets in front may have gone, and what they take
   *   away is added by this one.
   */
  #sendQuoteSet(prepared: PreparedQuoteSet, origin: ActionOrigin, answer: EntryAnswer, paid: number): void {
    const { requests, openMarkets, shards, releases, wakeUp, nowNs, createRefusal } = this.#parts;
    const { user, market, quotes, text, signature, signatures } = prepared;
    const { marketIndex } = market.definition;
    const { hops = null, group = null } = origin;
    // mutant: overtaken-quote-set
    if (origin.isOvertaken?.(prepared) === true) {
      this.#refuse(answer, TOO_OLD);
      return;
    }
    const { bids, asks } = quotes;
    const shard = marketIndex % shards.length;
    const publication = must(shards[shard], 'a shard for every market');
    const bytes = quoteSetMessageBytes({ bids, asks, text, signatures });
    const isTimed = hops?.isTimed === true;
    const room = recordBytes(bytes) + (isTimed ? NOTE_BYTES : 0);
    const closed = !openMarkets.has(marketIndex) ? MARKET_CLOSED : group?.isEnded === true ? CONNECTION_ENDED : null;
    if (closed !== null || !publication.hasRoom(room, true)) {
      this.#refuse(answer, closed ?? MARKET_BUSY);
      return;
    }
    // Released orders go before new ones.
    const mayAdd = releases.send(shard) && publication.hasRoom(room);
    const stalled = requests.isStalled() ? STALLED : null;
    const receivedNs = nowNs();
    const entries = paid > 0 ? 0 : requests.quotes.priced(prepared, user);
    const notPaid = entries === 0 ? null : this.#parts.limits.charge(user, { furtherQuotes: entries }, receivedNs);
    const given = mayAdd ? (notPaid ?? stalled ?? createRefusal(user)) : MARKET_BUSY;
    const reserved = requests.quotes.reserve(prepared, receivedNs, { answer, hops }, given, group);
    if (!reserved.ok) {
      this.#refuseSet(prepared, reserved.reject, origin, answer);
      return;
    }

    // After this point the set must go.
    const { requestId, boughtSeen, soldSeen, protectionGroup, onlyTakes } = reserved.value;
    this.#sent(requestId);
    reserved.value.set.sentMs = this.#lastSentMs;
    const { set } = reserved.value;
    if (group !== null) group.holdSet(set);
    // Another leader ends it, if it is to (leader-marks.ts): the connection is not known there.
    const tied = this.#parts.isCluster === true && group !== null ? ORDER_FLAG.cancelOnDisconnect : 0;
    if (isTimed) sendNote(publication, marketIndex, COMMAND_NOTE.timed, onlyTakes);
    const at = claimed(publication.claim(ApplyQuoteSet.typeId, bytes, onlyTakes));
    const { setId, revisionNs, goodUntilNs, maxTradingFeesRate, account: subAccount } = quotes;
    writeQuoteSet(
      publication.views,
      at,
      {
        ...{ user, setId, marketIndex, revisionNs, goodUntilNs: goodUntilNs ?? NO_TIME, boughtSeen, soldSeen },
        ...{ maxFeeRate: Math.min(maxTradingFeesRate, FEE_RATE_MAX), subAccount, flags: set.flags | tied },
        ...{ protectionGroup, onlyTakes, bids, asks, text, signature, signatures },
      },
      { requestId, receivedNs },
    );
    hops?.pass(HOP.sent, requestId);
    publication.commit();
    wakeUp();
    origin.setSent?.();
  }

  // ---- one request

  #process(
    prepared: Outcome<PreparedRequest>,
    request: SignedRequest,
    origin: CreateOrigin,
    answer: EntryAnswer,
  ): void {
    if (!prepared.ok) {
      this.#refuse(answer, prepared.reject);
      return;
    }
    const { hops = null } = origin;
    this.#verify(request, origin, (refusal) => {
      hops?.pass(HOP.verified);
      if (refusal === null) this.#send(prepared.value, origin, answer);
      else this.#refuse(answer, refusal);
    });
  }

  /**
   * First the signers and their weight, then their signatures (AMB-91).
   *
   * @param done gets the refusal, or null; once, at once or later. Those of one connection come in order.
   * @param onlyTakes of a quote set that may overtake what waits for its signature, as a cancel does.
   */
  #verify(
    request: SignedRequest,
    origin: ActionOrigin,
    done: (refusal: Reject | null) => void,
    onlyTakes = false,
  ): void {
    const refusal = this.#refuseSigners(request, origin);
    if (refusal === null) this.#verifySignatures(request, origin, done, onlyTakes);
    else done(refusal);
  }

  /**
   * Signers of an order are judged at its creation (MSG-34, MON-12), those of a replace or a cancel now. An amend has
   * none.
   */
  #refuseSigners(request: SignedRequest, { user, byCoSigners = false }: ActionOrigin): Reject | null {
    if ('amend' in request) return null;
    const { signers, nowNs } = this.#parts;
    const config = signers.configOf(user);
    const { signature, additionalSigners: coSigners } = request;
    const hasMaster = signature.length > 0;
    const signedBy = hasMaster && coSigners.length === 0 ? MASTER_ALONE : { hasMaster, coSigners };
    if ('order' in request || 'quotes' in request) {
      const creationNs = 'order' in request ? request.order.creationNs : request.quotes.revisionNs;
      const arrivalNs = coSigners.length === 0 ? creationNs : nowNs();
      return refuseOrderSigners(config, signedBy, { creationNs, arrivalNs });
    }
    const atNs = coSigners.length === 0 ? NO_TIME : nowNs();
    if ('request' in request) return refuseSigners(config, signedBy, 'low', atNs);
    // mutant: cancel-of-co-signers
    if (byCoSigners) return refuseCoSigners(config, coSigners, atNs);
    return refuseCancelSigners(config, signedBy, atNs);
  }

  /** @param done as of `#verify`. */
  #verifySignatures(
    request: SignedRequest,
    { user, connection, hops = null }: ActionOrigin,
    done: (refusal: Reject | null) => void,
    onlyTakes = false,
  ): void {
    const { limits, wakeUp, nowNs } = this.#parts;
    const { signature, text, additionalSigners: coSigners } = request;
    const part = limits.partOf(user, 'cancel' in request || onlyTakes ? 'cancel' : 'action');
    const isCreate = 'order' in request || 'quotes' in request;
    // What is in front of a set of the same name is older: that one is skipped for it.
    const isUrgent = onlyTakes || ('cancel' in request && !this.#unverified.has(request.cancel.orderId));
    const job = { connection, signature, text, publicKey: this.#publicKey(user), part, isCreate, isUrgent, hops };
    // mutant: signatures-are-paid
    const further = furtherSignatures(request);
    const notPaid = further > 0 ? limits.charge(user, { furtherSignatures: further }, nowNs()) : null;
    if (notPaid !== null) done(notPaid);
    // A request that needs no signature keeps its place behind what its connection sent before: its verdict is not used.
    else if (isUnsigned(request)) {
      const place = { ...job, signature: NO_MASTER, isUnsigned: true };
      this.#inTurn(place, () => done(null), done);
    } else {
      const isFor = coSigners.length === 0 ? job : { ...job, coSigners };
      const isOrder = 'order' in request || 'request' in request || 'quotes' in request;
      const place = isOrder ? this.#unverified.begun(orderIdOf(request)) : null;
      const ended = (refusal: Reject | null): void => {
        if (place !== null) this.#unverified.ended(place);
        done(refusal);
      };
      this.#inTurn(isFor, (valid) => ended(valid ? null : BAD_SIGNATURE), ended);
    }
    wakeUp();
  }

  #inTurn(job: SignatureJob, verdict: (valid: boolean) => void, refused: (refusal: Reject) => void): void {
    if (!this.#parts.verifier.verify(job, verdict)) refused(POOL_FULL);
  }

  #send(prepared: PreparedRequest, origin: CreateOrigin, answer: EntryAnswer): void {
    const { openMarkets, shards, releases, wakeUp, nowNs, idKey } = this.#parts;
    const { marketIndex } = prepared.market.definition;
    if (!openMarkets.has(marketIndex)) {
      this.#refuse(answer, MARKET_CLOSED);
      return;
    }
    const { hops = null } = origin;
    const isUrgent = prepared.kind === 'cancel';
    const typeId = typeOf(prepared);
    const bytes = bytesOf(prepared);
    const shard = marketIndex % shards.length;
    const publication = must(shards[shard], 'a shard for every market');
    // Released orders go before new ones, and cancels before both. A claim that is not committed is dropped by the next
    // one, so a refusal after it leaves nothing behind.
    let at = isUrgent || releases.send(shard) ? publication.claim(typeId, bytes, isUrgent) : -1;
    const isTimed = hops?.isTimed === true;
    const isOvertaken = prepared.kind === 'create' && origin.isOvertaken?.(prepared) === true;
    const noteBytes = ((isTimed ? 1 : 0) + (isOvertaken ? 1 : 0)) * NOTE_BYTES;
    if (at < 0 || (noteBytes > 0 && !publication.hasRoom(noteBytes + recordBytes(bytes), isUrgent))) {
      this.#refuse(answer, MARKET_BUSY);
      return;
    }
    const receivedNs = nowNs();
    const reserved = this.#reserve(prepared, origin, receivedNs, { answer, hops });
    if (!reserved.ok) {
      this.#refuse(answer, reserved.reject);
      return;
    }

    // After this point the action must succeed.
    this.#sent(reserved.value.requestId);
    if (isTimed) sendNote(publication, marketIndex, COMMAND_NOTE.timed, isUrgent);
    if (isOvertaken) sendNote(publication, marketIndex, COMMAND_NOTE.overtaken);
    if (noteBytes > 0) at = publication.claim(typeId, bytes, isUrgent);
    const stamp = { requestId: reserved.value.requestId, receivedNs, key: idKey };
    write(publication.views, at, prepared, reserved.value.order, origin.isControl, stamp);
    hops?.pass(HOP.sent, stamp.requestId);
    publication.commit();
    wakeUp();
  }

  /** Checks again what may have changed, then takes the hold and the request id. Refused: nothing was taken. */
  #reserve(
    prepared: PreparedRequest,
    origin: CreateOrigin,
    receivedNs: TimestampNs,
    reply: EntryReply,
  ): Outcome<Reserved> {
    const { requests, createRefusal } = this.#parts;
    if (prepared.kind === 'cancel') return withoutOrder(requests.reserveCancel(prepared, reply));
    if (prepared.kind === 'amend') return withoutOrder(requests.reserveAmend(prepared, reply));
    const { user, group = null } = origin;
    const membership = origin.membership ?? (group === null ? null : new Membership(group));
    if (membership?.group?.isEnded === true) return rejected(CONNECTION_ENDED);
    const refusal = prepared.kind === 'create' ? createRefusal(user) : null;
    if (refusal !== null) return rejected(refusal);
    if (prepared.kind === 'create' && this.#parts.isCluster === true && (membership?.group ?? null) !== null)
      prepared.terms = { ...prepared.terms, flags: prepared.terms.flags | ORDER_FLAG.cancelOnDisconnect };
    const reserved =
      prepared.kind === 'create'
        ? requests.reserveCreate(prepared, receivedNs, reply)
        : withoutOrder(requests.reserveReplace(prepared, reply));
    if (reserved.ok && membership !== null) requests.join(reserved.value.requestId, membership);
    return reserved;
  }

  // ---- batches

  #processAll<Request extends CreateRequest | ReplaceRequest>(
    requests: readonly Request[],
    origin: ActionOrigin,
    answer: ItemAnswer,
    check: (request: Request) => Outcome<PreparedCreate | PreparedReplace>,
  ): void {
    const verified: Item[] = [];
    // Places of the verified orders until the batch is sent: a cancel of one of them does not overtake the batch.
    const unsent: number[] = [];
    // One more than the signatures that are out, until all are.
    let awaited = 1;
    // The hop of the batch as a whole, not of each signature.
    const signer = { ...origin, hops: null };
    const arrived = (): void => {
      awaited -= 1;
      if (awaited > 0) return;
      origin.hops?.verified();
      this.#sendAll(verified, origin, answer);
      for (const place of unsent) this.#unverified.ended(place);
    };
    requests.forEach((request, index) => {
      const prepared = check(request);
      if (!prepared.ok) {
        this.#refuse((result) => answer(index, result), prepared.reject);
        return;
      }
      awaited += 1;
      this.#verify(request, poolOrigin(signer, index), (refusal) => {
        origin.hops?.itemPassed(index, HOP.verified);
        if (refusal === null) {
          verified.push({ index, prepared: prepared.value });
          unsent.push(this.#unverified.begun(orderIdOf(request)));
        } else this.#refuse((result) => answer(index, result), refusal);
        arrived();
      });
    });
    arrived();
  }

  /** Signatures may have been verified in any order; the batch goes in its own. */
  #sendAll(verified: Item[], origin: ActionOrigin, answer: ItemAnswer): void {
    const byMarket = new Map<number, Item[]>();
    for (const item of verified.sort((a, b) => a.index - b.index)) {
      const { marketIndex } = item.prepared.market.definition;
      const items = byMarket.get(marketIndex);
      if (items === undefined) byMarket.set(marketIndex, [item]);
      else items.push(item);
    }
    let sent = 0;
    for (const [marketIndex, items] of byMarket) sent += this.#sendItems(marketIndex, items, origin, answer);
    if (sent > 0) origin.hops?.sent(sent);
    this.#parts.wakeUp();
  }

  /** @returns how many were sent. */
  #sendItems(marketIndex: number, items: readonly Item[], origin: ActionOrigin, answer: ItemAnswer): number {
    const { nowNs, idKey: key } = this.#parts;
    const { hops = null } = origin;
    const isTimed = hops?.isTimed === true;
    const receivedNs = nowNs();
    const overtaken = new Set(
      items.filter(({ prepared }) => prepared.kind === 'create' && origin.isOvertaken?.(prepared) === true),
    );
    const refusal = this.#batchRefusal(marketIndex, items, overtaken.size + (isTimed ? items.length : 0));
    const taken: (Item & { readonly reserved: Reserved; readonly isOvertaken: boolean })[] = [];
    for (const item of items) {
      const { index, prepared } = item;
      const itemAnswer = (result: ActionAnswer): void => answer(index, result);
      const reply = { answer: itemAnswer, hops: hops?.ofItem(index) ?? null };
      const reserved = refusal === null ? this.#reserve(prepared, origin, receivedNs, reply) : rejected(refusal);
      if (reserved.ok) taken.push({ index, prepared, reserved: reserved.value, isOvertaken: overtaken.has(item) });
      else this.#refuse(itemAnswer, reserved.reject);
    }
    if (taken.length === 0) return 0;

    // After this point all that was taken must go.
    const publication = this.#publicationOf(marketIndex);
    sendNote(publication, marketIndex, COMMAND_NOTE.batchBegins);
    for (const { index, prepared, reserved, isOvertaken } of taken) {
      if (isTimed) sendNote(publication, marketIndex, COMMAND_NOTE.timed);
      if (isOvertaken) sendNote(publication, marketIndex, COMMAND_NOTE.overtaken);
      const at = claimed(publication.claim(typeOf(prepared), bytesOf(prepared)));
      const { requestId, order } = reserved;
      write(publication.views, at, prepared, order, origin.isControl, { requestId, receivedNs, key });
      publication.commit();
      this.#sent(requestId);
      hops?.itemPassed(index, HOP.sent);
    }
    sendNote(publication, marketIndex, COMMAND_NOTE.batchEnds);
    return taken.length;
  }

  /** Why nothing can go to this market now, or null. Released orders go before new ones. */
  #batchRefusal(marketIndex: number, items: readonly Item[], notes: number): Reject | null {
    const { openMarkets, releases, shards } = this.#parts;
    if (!openMarkets.has(marketIndex)) return MARKET_CLOSED;
    if (!releases.send(marketIndex % shards.length)) return MARKET_BUSY;
    const bytes = items.reduce((sum, { prepared }) => sum + recordBytes(bytesOf(prepared)), (2 + notes) * NOTE_BYTES);
    return this.#publicationOf(marketIndex).hasRoom(bytes) ? null : MARKET_BUSY;
  }

  // ---- orders of the node (AMB-57)

  /**
   * An order that no client signed. It may use the capacity reserved for cancels, and is past every check of clients'
   * orders.
   *
   * @returns false: the ring or a table is full, or the market is not open; nothing was taken.
   */
  sendNodeOrder(prepared: PreparedCreate, answer: EntryAnswer): boolean {
    const { requests, openMarkets, nowNs, wakeUp, idKey: key } = this.#parts;
    const { marketIndex } = prepared.market.definition;
    if (!openMarkets.has(marketIndex)) return false;
    const publication = this.#publicationOf(marketIndex);
    const at = publication.claim(NewOrder.typeId, bytesOf(prepared), true);
    if (at < 0) return false;
    const receivedNs = nowNs();
    const reserved = requests.reserveNodeOrder(prepared, receivedNs, { answer, hops: null });
    if (reserved === null) return false;

    // After this point the order must go.
    const { requestId, order } = reserved;
    writeCreate(publication.views, at, order, prepared, { requestId, receivedNs, key });
    publication.commit();
    wakeUp();
    return true;
  }

  // ---- helpers

  #sent(requestId: number): void {
    this.#lastSentId = requestId;
    this.#lastSentMs = performance.now();
  }

  #caller({ user, isControl }: ActionOrigin): Caller {
    return { user, now: this.#parts.nowNs(), looksUp: !isControl };
  }

  #refuse(answer: EntryAnswer, refusal: Reject): void {
    answer({ refusal, processedAtNs: this.#parts.nowNs() });
  }

  #publicationOf(marketIndex: number): Publication {
    const { shards } = this.#parts;
    return must(shards[marketIndex % shards.length], 'a shard for every market');
  }

  /** The bytes of a session's user, kept: a user sends many actions. */
  #publicKey(user: UserId): Uint8Array {
    const known = this.#publicKeys.get(user);
    if (known !== undefined) return known;
    const key = must(parseHex(user, 32), 'a session user is 32 bytes of hex');
    if (this.#publicKeys.size >= PUBLIC_KEYS_KEPT) this.#publicKeys.clear();
    this.#publicKeys.set(user, key);
    return key;
  }
}

function orderIdOf(request: CreateRequest | ReplaceRequest | QuoteSetRequest): OrderId {
  if ('quotes' in request) return request.quotes.setId as OrderId;
  return 'order' in request ? request.order.orderId : request.request.orderId;
}

function typeOf({ kind }: PreparedRequest): number {
  if (kind === 'create') return NewOrder.typeId;
  if (kind === 'amend') return AmendOrder.typeId;
  return kind === 'replace' ? ReplaceOrder.typeId : CancelOrder.typeId;
}

function bytesOf(prepared: PreparedRequest): number {
  if (prepared.kind === 'create') return createMessageBytes(prepared);
  if (prepared.kind === 'amend') return AmendOrder.bytes;
  return prepared.kind === 'replace' ? ReplaceOrder.bytes : CancelOrder.bytes;
}

/** @param isControl a cancel may wait for its create (AMB-25). */
function write(
  v: Views,
  at: number,
  prepared: PreparedRequest,
  order: OrderRecordView | null,
  isControl: boolean,
  stamp: Stamp,
): void {
  if (prepared.kind === 'create') writeCreate(v, at, must(order, 'a create has its record'), prepared, stamp);
  else if (prepared.kind === 'replace') writeReplace(v, at, prepared, stamp);
  else if (prepared.kind === 'amend') writeAmend(v, at, prepared, stamp);
  else writeCancel(v, at, prepared, isControl, stamp);
}

function withoutOrder(reserved: Outcome<number>): Outcome<Reserved> {
  return reserved.ok ? accepted({ requestId: reserved.value, order: null }) : reserved;
}

function claimed(at: number): number {
  return must(at < 0 ? undefined : at, 'the room for a batch was checked before');
}

/** What a repeated create has as well: its signature, or of an order with co-signers a digest of all of them. */
function signatureIdentity(request: CreateRequest): Uint8Array {
  const { signature, additionalSigners } = request;
  // mutant: retry-of-all-signatures
  return additionalSigners.length === 0 ? signature : createHash('sha256').update(storedSignatures(request)).digest();
}

/** Signatures of a REST batch go to all threads of the pool; on `/control` they keep to the thread of their connection. */
function poolOrigin(origin: ActionOrigin, index: number): ActionOrigin {
  return origin.isControl ? origin : { ...origin, connection: origin.connection + index };
}
