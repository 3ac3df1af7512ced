/**
 * The `/control` socket: sends signed actions and matches replies by (kind, asset, order id) in v0, and by request id too
 * in v1 (wire.md 10; CTL; short requests: wire-additions.md 2) and in FlatBuffers (binary-control.ts).
 *
 *   action ──▶ pending[key] ──reply──▶ resolved
 *                  └─ no reply in time, or the connection ends ─▶ rejected: the outcome is unknown, read the state
 *
 * The rejection of one action is a reply with status `Rejected`, not an error. v0 allows one action in flight per kind,
 * asset and order id; a second one is rejected here before it is sent.
 */
import { isJsonObject, type JsonObject, parseJsonObject } from '../codec/json-tree.ts';
import { writeJson } from '../codec/json-writer.ts';
import type { UnsignedRequest } from '../codec/unsigned-cancels.ts';
import type { AssetId, OrderId } from '../core/ids.ts';
import { SIDE } from '../core/order-terms.ts';
import type { TimestampNs } from '../core/units.ts';
import {
  BINARY_PROTOCOL,
  binaryBatch,
  binaryQuotes,
  binaryRequest,
  readBinaryReply,
  unsignedRequest,
} from './binary-control.ts';
import { type ConnectionEvents, ConnectionReport, ENVELOPE_PROTOCOL, readEnvelope } from './connection-events.ts';
import { errorOfEnvelope, invalidArgument, invalidResponse, RingbookError } from './errors.ts';
import type { Socket, SocketTarget } from './http-transport.ts';
import type { Lifetime } from './lifetime.ts';
import { openSocket } from './platform.ts';
import {
  type OperationResponse,
  type QuoteSetResponse,
  readOperationResponse,
  readQuoteSetResponse,
} from './replies.ts';
import type { OrderAction, SignedAction, SignedQuotes } from './signed-actions.ts';
import { Reconnection } from './socket.ts';

/**
 * The form of frames: JSON, bare, in an envelope or as short requests, or FlatBuffers, which costs the node the least. Of short
 * requests what is refused before the rules of order, account and market is thrown, with the path of the member as `field`.
 */
export type ControlVersion = 'v0' | 'v1' | 'short' | 'binary';

export interface ControlOptions extends ConnectionEvents {
  /** Default v1 with `onShutdown`, which v0 has no frame for, otherwise v0. */
  readonly version?: ControlVersion;
  /** Whether the node cancels the orders created or replaced over this connection when it ends. */
  readonly cancelOnDisconnect?: boolean;
  /** Idempotent retry: a create sent again, byte for byte, gets the reply of the first. */
  readonly resend?: boolean;
  /** Replies include the time at which the action passed each hop. */
  readonly timing?: boolean;
  /**
   * A lost connection is replaced until it is closed: what was in flight fails with an unknown outcome, and nothing can be sent until
   * `onReconnected`. `client.control` has it unless it is false.
   */
  readonly reconnect?: boolean;
  /** Connected again, perhaps with another leader: read the state of what was in flight. */
  onReconnected?(): void;
  /** Called for errors that belong to no action of this connection. */
  onError?(error: RingbookError): void;
}

const REQUEST_TAG: Readonly<Record<OrderAction, string>> = {
  Create: 'CreateOrderRequest',
  Replace: 'ReplaceOrderRequest',
  Cancel: 'CancelOrderRequest',
  Amend: 'AmendOrderRequest',
};
const QUOTES_DEADLINE_MS = 15_000;
const BATCH_TAG = { Create: 'BatchCreateRequest', Replace: 'BatchReplaceRequest' } as const;
/** The member that contains the items of a batch. */
export const BATCH_LIST = { Create: 'orders', Replace: 'requests' } as const;
const ACTION_OF_RESPONSE: ReadonlyMap<string, OrderAction> = new Map([
  ['CreateOrderResponse', 'Create'],
  ['ReplaceOrderResponse', 'Replace'],
  ['CancelOrderResponse', 'Cancel'],
  ['AmendOrderResponse', 'Amend'],
]);
const DEADLINE_MS: Readonly<Record<OrderAction, number>> = {
  Create: 15_000,
  Replace: 15_000,
  Cancel: 10_000,
  Amend: 15_000,
};
const PROTOCOLS: Readonly<Record<ControlVersion, readonly string[]>> = {
  v0: [],
  v1: [ENVELOPE_PROTOCOL],
  short: [ENVELOPE_PROTOCOL],
  binary: [BINARY_PROTOCOL],
};
const UNSIGNED_OF_RESPONSE: ReadonlyMap<string, UnsignedName> = new Map([
  ['CancelAllResponse', 'CancelAll'],
  ['CancelBatchResponse', 'CancelBatch'],
  ['CancelAllAfterResponse', 'CancelAllAfter'],
]);
const UNSIGNED_DEADLINE_MS = 10_000;
const SIDES = { Buy: SIDE.buy, Sell: SIDE.sell } as const;
const BATCH_MAX = 50;

interface ActionIdentity {
  readonly action: OrderAction;
  readonly assetId: string;
  readonly orderId: string;
}

/** Which orders a cancel of all of them means: those in every scope that is given. */
export interface CancelAllScope {
  readonly assetId?: string;
  readonly side?: 'Buy' | 'Sell';
  readonly protectionGroup?: string;
  readonly quoteSetId?: string;
  /** Orders that are strictly older. */
  readonly beforeNs?: bigint;
}

type UnsignedName = 'CancelAll' | 'CancelBatch' | 'CancelAllAfter';

interface PendingUnsigned {
  /** @param firesAtNs of a timer; null for none. */
  resolve(firesAtNs: bigint | null): void;
  reject(error: RingbookError): void;
  readonly timer: ReturnType<typeof setTimeout>;
}

interface Pending<Response = OperationResponse> {
  resolve(response: Response): void;
  reject(error: RingbookError): void;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Opens a connection with a valid token. */
export type ControlConnecting = <S>(opening: (target: SocketTarget) => Promise<S>) => Promise<S>;

export class ControlConnection {
  readonly #options: ControlOptions;
  readonly #connecting: ControlConnecting;
  readonly #reconnection: Reconnection<void>;
  #socket: Socket | null = null;
  #hasEnded = false;
  readonly #version: ControlVersion;
  readonly #onError: (error: RingbookError) => void;
  readonly #pending = new Map<string, Pending>();
  readonly #pendingQuotes = new Map<string, Pending<QuoteSetResponse>>();
  /** Unsigned requests without a reply, by request id, in v0 by name. */
  readonly #unsigned = new Map<string, PendingUnsigned>();
  #report: ConnectionReport;
  #lastRequest = 0;
  readonly #ended: (() => void) | undefined;

  private constructor(connecting: ControlConnecting, options: ControlOptions, lifetime?: Lifetime) {
    this.#connecting = connecting;
    this.#options = options;
    this.#version = versionOf(options);
    this.#onError = options.onError ?? (() => {});
    this.#report = new ConnectionReport(options);
    this.#reconnection = new Reconnection(
      () => this.#connect(),
      () => {
        if (!this.#hasEnded) options.onReconnected?.();
      },
    );
    this.#ended = lifetime?.add(() => this.close());
  }

  /**
   * @param at one address, or what opens a connection at the one that serves.
   * @param lifetime of the client, which closes the connection at its end.
   * @throws RingbookError when the handshake is rejected.
   */
  static async open(
    at: SocketTarget | ControlConnecting,
    options: ControlOptions = {},
    lifetime?: Lifetime,
  ): Promise<ControlConnection> {
    const connecting: ControlConnecting = typeof at === 'function' ? at : (opening) => opening(at);
    const connection = new ControlConnection(connecting, options, lifetime);
    try {
      await connection.#connect();
    } catch (error) {
      connection.close();
      throw error;
    }
    return connection;
  }

  async #connect(): Promise<void> {
    const protocols = PROTOCOLS[this.#version];
    const query = queryOf(this.#options);
    await this.#connecting((target) =>
      openSocket({ ...target, path: `${target.path}${query}`, protocols }, (socket) => this.#opened(socket)),
    );
  }

  #opened(socket: Socket): void {
    this.#socket = socket;
    this.#report = new ConnectionReport(this.#options);
    socket.on('message', (data: Uint8Array) => this.#receive(data));
    socket.on('close', (code, reason) => {
      this.#failAll(code);
      this.#report.closed(code, reason.toString());
      if (this.#options.reconnect === true && !this.#hasEnded) this.#reconnection.begin();
      else this.#ended?.();
    });
    if (this.#hasEnded) socket.close(1000);
  }

  /** False from when the connection ends; nothing can be sent then. */
  get isOpen(): boolean {
    const socket = this.#socket;
    return socket !== null && socket.readyState === socket.OPEN;
  }

  /** Number of actions sent without a reply. */
  get inFlight(): number {
    return this.#pending.size + this.#pendingQuotes.size + this.#unsigned.size;
  }

  /**
   * Sends one action.
   *
   * @returns the reply, `Received` or `Rejected`.
   * @throws RingbookError CLIENT_TIMEOUT or CONNECTION_CLOSED: the outcome is unknown, unless `isOpen` was false before.
   */
  async send(action: SignedAction): Promise<OperationResponse> {
    const requestId = this.#nextRequestId();
    const frame =
      this.#version === 'binary'
        ? binaryRequest(BigInt(requestId), action)
        : this.#jsonFrame(requestId, `{"${REQUEST_TAG[action.action]}":${action.body}}`);
    this.#checkSendable(requestId, [action]);
    const answer = this.#await(this.#key(requestId, action), action);
    this.#socket?.send(frame);
    return answer;
  }

  /**
   * Sends 1 to 50 creates, or as many replaces, as one frame.
   *
   * @returns the replies in the order of the actions.
   */
  async sendBatch(kind: 'Create' | 'Replace', actions: readonly SignedAction[]): Promise<OperationResponse[]> {
    const items = batchItems(kind, actions);
    const requestId = this.#nextRequestId();
    const frame =
      this.#version === 'binary'
        ? binaryBatch(BigInt(requestId), kind, actions)
        : this.#jsonFrame(requestId, `{"${BATCH_TAG[kind]}":{"${BATCH_LIST[kind]}":[${items}]}}`);
    // mutant: batch-checked-first
    this.#checkSendable(requestId, actions);
    const answers = actions.map((action) => this.#await(this.#key(requestId, action), action));
    this.#socket?.send(frame);
    return Promise.all(answers);
  }

  /** Sends one quote set. @returns and throws as `send`. */
  async sendQuotes(quotes: SignedQuotes): Promise<QuoteSetResponse> {
    const requestId = this.#nextRequestId();
    const frame =
      this.#version === 'binary'
        ? binaryQuotes(BigInt(requestId), quotes)
        : this.#jsonFrame(requestId, `{"QuoteSetRequest":${quotes.body}}`);
    if (!this.isOpen) throw notSent();
    const key = this.#quotesKey(requestId, quotes);
    if (this.#pendingQuotes.has(key)) throw invalidArgument(`quotes of ${quotes.setId} are already in flight`);
    const answer = new Promise<QuoteSetResponse>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pendingQuotes.delete(key);
        reject(new RingbookError({ code: 'CLIENT_TIMEOUT', message: `no answer to quotes ${quotes.setId}` }));
      }, QUOTES_DEADLINE_MS);
      this.#pendingQuotes.set(key, { resolve, reject, timer });
    });
    this.#socket?.send(frame);
    return answer;
  }

  #quotesKey(requestId: string, { assetId, setId }: Pick<SignedQuotes, 'assetId' | 'setId'>): string {
    const identity = `Quotes|${setId}|${assetId}`;
    return this.#version === 'v0' ? identity : `${requestId}|${identity}`;
  }

  /**
   * Cancels all orders of the user that are in every scope which is given, and with them what this connection has sent
   * before and what is not in its market yet. Not signed.
   *
   * @throws RingbookError: the service's, as of `send`. On v0 a refusal is a CLIENT_TIMEOUT and an `onError`.
   */
  async cancelAll(scope: CancelAllScope = {}): Promise<void> {
    const { assetId = null, side, protectionGroup, quoteSetId, beforeNs = null } = scope;
    const body = {
      asset_id: assetId,
      ...(side === undefined ? {} : { side }),
      ...(protectionGroup === undefined ? {} : { protection_group: protectionGroup }),
      ...(quoteSetId === undefined ? {} : { quote_set_id: quoteSetId }),
      max_ts: beforeNs,
    };
    const wanted = {
      assetId: assetId as AssetId | null,
      beforeNs: beforeNs as TimestampNs | null,
      ...(side === undefined ? {} : { side: SIDES[side] }),
      ...(protectionGroup === undefined ? {} : { protectionGroup }),
      ...(quoteSetId === undefined ? {} : { quoteSetId }),
    };
    await this.#sendUnsigned('CancelAll', writeJson(body), { kind: 'cancel-all', scope: wanted });
  }

  /** Cancels up to 50 orders by their ids; unknown ones are ignored. As `cancelAll`. */
  async cancelBatch(orderIds: readonly string[], assetId: string | null = null): Promise<void> {
    const batch = {
      orderIds: orderIds as readonly OrderId[],
      asked: orderIds.length,
      assetId: assetId as AssetId | null,
    };
    const body = writeJson({ order_ids: orderIds, asset_id: assetId });
    await this.#sendUnsigned('CancelBatch', body, { kind: 'cancel-batch', batch });
  }

  /**
   * Starts the user's dead-man timer, or starts it again; 0 ends it. As `cancelAll`.
   *
   * @returns when it fires, on the clock of the node; null: no timer runs.
   */
  async cancelAllAfter(timeoutMs: number): Promise<bigint | null> {
    const body = writeJson({ timeout_ms: timeoutMs });
    return this.#sendUnsigned('CancelAllAfter', body, { kind: 'cancel-all-after', timeoutMs });
  }

  #sendUnsigned(name: UnsignedName, body: string, request: UnsignedRequest): Promise<bigint | null> {
    const requestId = this.#nextRequestId();
    const frame =
      this.#version === 'binary'
        ? unsignedRequest(BigInt(requestId), request)
        : this.#jsonFrame(requestId, `{"${name}Request":${body}}`);
    this.#checkSendable(requestId, []);
    const key = this.#version === 'v0' ? name : requestId;
    if (this.#unsigned.has(key)) throw invalidArgument(`${name} is already in flight`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#unsigned.delete(key);
        reject(new RingbookError({ code: 'CLIENT_TIMEOUT', message: `no answer to ${name}` }));
      }, UNSIGNED_DEADLINE_MS);
      this.#unsigned.set(key, { resolve, reject, timer });
      this.#socket?.send(frame);
    });
  }

  #takeUnsigned(key: string): PendingUnsigned | undefined {
    const pending = this.#unsigned.get(key);
    if (pending !== undefined) clearTimeout(pending.timer);
    this.#unsigned.delete(key);
    return pending;
  }

  close(): void {
    this.#hasEnded = true;
    this.#ended?.();
    this.#reconnection.end();
    this.#socket?.close(1000);
  }

  #nextRequestId(): string {
    this.#lastRequest += 1;
    return this.#version === 'binary' ? String(this.#lastRequest) : `r-${this.#lastRequest}`;
  }

  /** The request id is part of the key, but in v0; the order id distinguishes the items of a batch. */
  #key(requestId: string, action: ActionIdentity): string {
    return this.#version === 'v0' ? identityOf(action) : `${requestId}|${identityOf(action)}`;
  }

  /** All of a frame, before any of it is pending. */
  #checkSendable(requestId: string, actions: readonly SignedAction[]): void {
    if (!this.isOpen) throw notSent();
    const inFlight = actions.find((action) => this.#pending.has(this.#key(requestId, action)));
    if (inFlight === undefined) return;
    throw invalidArgument(`${inFlight.action} of ${inFlight.orderId} is already in flight`);
  }

  #await(key: string, action: SignedAction): Promise<OperationResponse> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(key);
        reject(
          new RingbookError({ code: 'CLIENT_TIMEOUT', message: `no answer to ${action.action} ${action.orderId}` }),
        );
      }, DEADLINE_MS[action.action]);
      this.#pending.set(key, { resolve, reject, timer });
    });
  }

  #jsonFrame(requestId: string, data: string): string {
    if (this.#version === 'v0') return data;
    const members = `"request_id":"${requestId}","data":${data}`;
    return this.#version === 'short' ? `{${members}}` : `{"type":"request","channel":"control",${members}}`;
  }

  #receive(data: Uint8Array): void {
    if (this.#version === 'binary') this.#receiveBinary(data);
    else this.#receiveJson(data);
  }

  #receiveBinary(data: Uint8Array): void {
    try {
      const reply = readBinaryReply(data);
      if (reply.kind === 'error') this.#refuse(reply.requestId === 0n ? null : String(reply.requestId), reply.error);
      if (reply.kind === 'shutdown') this.#report.announceShutdown(reply.timestampNs);
      if (reply.kind === 'quotes') {
        const key = this.#quotesKey(String(reply.requestId), { ...reply, setId: reply.response.setId });
        taken(this.#pendingQuotes, key)?.resolve(reply.response);
      }
      if (reply.kind === 'accepted') this.#takeUnsigned(String(reply.requestId))?.resolve(null);
      if (reply.kind === 'timer') this.#takeUnsigned(String(reply.requestId))?.resolve(reply.firesAtNs);
      if (reply.kind !== 'answer') return;
      const { action, assetId, response } = reply;
      this.#take(this.#key(String(reply.requestId), { action, orderId: response.orderId, assetId }))?.resolve(response);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  #receiveJson(data: Uint8Array): void {
    const outcome = parseJsonObject(data);
    if (!outcome.ok) {
      this.#onError(invalidResponse('control frame', outcome.reject.message));
      return;
    }
    const refusal = errorOfEnvelope(outcome.value, null);
    if (refusal !== null) this.#refuse(requestIdOf(outcome.value), refusal);
    else if (this.#version === 'v0') this.#answered(null, outcome.value);
    else this.#receiveEnvelope(outcome.value);
  }

  #receiveEnvelope(frame: JsonObject): void {
    try {
      const { type, timestampNs, data } = readEnvelope(frame);
      if (type === 'server_shutdown') this.#report.announceShutdown(timestampNs);
      const requestId = requestIdOf(frame);
      if (requestId !== null && isJsonObject(data)) this.#answered(requestId, data);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  /** @param requestId null in v0. Frames without `response`, such as a batch's acknowledgment, are not replies. */
  #answered(requestId: string | null, frame: JsonObject): void {
    const [tag, content] = frame.size === 1 ? ([...frame][0] ?? []) : [];
    const unsigned = UNSIGNED_OF_RESPONSE.get(tag ?? '');
    if (unsigned !== undefined && isJsonObject(content)) {
      const firesAtNs = content.get('fires_at_ns');
      this.#takeUnsigned(requestId ?? unsigned)?.resolve(typeof firesAtNs === 'bigint' ? firesAtNs : null);
    }
    const action = ACTION_OF_RESPONSE.get(tag ?? '');
    if ((action === undefined && tag !== 'QuoteSetResponse') || !isJsonObject(content)) return;
    const assetId = content.get('asset_id');
    const response = content.get('response');
    if (typeof assetId !== 'string' || response === undefined) return;
    try {
      if (action === undefined) {
        const quotes = readQuoteSetResponse(response);
        const named = { assetId: assetId as AssetId, setId: quotes.setId };
        taken(this.#pendingQuotes, this.#quotesKey(requestId ?? '', named))?.resolve(quotes);
        return;
      }
      const answer = readOperationResponse(response);
      const key = this.#key(requestId ?? '', { action, orderId: answer.orderId, assetId });
      this.#take(key)?.resolve(answer);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  #unreadable(error: unknown): void {
    if (!(error instanceof RingbookError)) throw error;
    this.#onError(error);
  }

  /** An error frame. With the id of a request, which v0 has not, it refers to that; otherwise to the connection. */
  #refuse(requestId: string | null, refusal: RingbookError): void {
    const isOfRequest = (key: string): boolean =>
      this.#version !== 'v0' && requestId !== null && key.startsWith(`${requestId}|`);
    const keys = [...this.#pending.keys(), ...this.#pendingQuotes.keys()].filter(isOfRequest);
    for (const key of keys) (this.#take(key) ?? taken(this.#pendingQuotes, key))?.reject(refusal);
    const unsigned = requestId === null ? undefined : this.#takeUnsigned(requestId);
    unsigned?.reject(refusal);
    if (keys.length > 0 || unsigned !== undefined) return;
    this.#report.announceError(refusal);
    this.#onError(refusal);
  }

  #take(key: string): Pending | undefined {
    return taken(this.#pending, key);
  }

  #failAll(code: number): void {
    const message = `the connection closed with ${code} before the answer; the outcome is unknown`;
    const error = this.#report.error ?? new RingbookError({ code: 'CONNECTION_CLOSED', message });
    for (const key of [...this.#pending.keys()]) this.#take(key)?.reject(error);
    for (const key of [...this.#pendingQuotes.keys()]) taken(this.#pendingQuotes, key)?.reject(error);
    for (const key of [...this.#unsigned.keys()]) this.#takeUnsigned(key)?.reject(error);
  }
}

function taken<Response>(all: Map<string, Pending<Response>>, key: string): Pending<Response> | undefined {
  const pending = all.get(key);
  if (pending === undefined) return undefined;
  clearTimeout(pending.timer);
  all.delete(key);
  return pending;
}

function notSent(): RingbookError {
  return new RingbookError({ code: 'CONNECTION_CLOSED', message: 'the connection is closed; nothing was sent' });
}

function versionOf({ version, onShutdown }: ControlOptions): ControlVersion {
  return version ?? (onShutdown === undefined ? 'v0' : 'v1');
}

function requestIdOf(envelope: JsonObject): string | null {
  const requestId = envelope.get('request_id');
  return typeof requestId === 'string' ? requestId : null;
}

function identityOf(action: ActionIdentity): string {
  return `${action.action}|${action.orderId}|${action.assetId}`;
}

/** The connection's options as a query; '' for none. */
function queryOf({ cancelOnDisconnect, resend, timing }: ControlOptions): string {
  const wishes = { cancel_on_disconnect: cancelOnDisconnect, resend, timing };
  const given = Object.entries(wishes).flatMap(([name, isWished]) => (isWished === true ? [`${name}=true`] : []));
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

/**
 * The items of a batch as JSON. @throws RingbookError INVALID_ARGUMENT for none, more than 50, another kind, a repeated
 * order.
 */
export function batchItems(kind: 'Create' | 'Replace', actions: readonly SignedAction[]): string {
  if (actions.length < 1 || actions.length > BATCH_MAX) throw invalidArgument(`a batch holds 1 to ${BATCH_MAX} items`);
  if (actions.some((action) => action.action !== kind)) throw invalidArgument(`a ${kind} batch holds nothing else`);
  if (new Set(actions.map(identityOf)).size !== actions.length) throw invalidArgument('a batch names an order twice');
  return actions.map((action) => action.body).join(',');
}
