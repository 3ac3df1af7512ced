/**
 * Requests that the listener of one thread passes to the other thread, which has the state (wire-additions.md 8).
 *
 *   client ─▶ listener A ── PassedRequest ─▶ routes of thread B ─▶ handler
 *   client ◀─ listener A ◀─ PassedReply ──── captured response ◀─────┘
 *
 * The market-data listener passes logins and reads of users to the gateway; the order listener passes public reads of
 * market data to market data. The thread that answers checks and charges a request as if it had come to its own listener;
 * the listener that has its connection charges the address for an error.
 *
 * Invariants
 *   (1) At most PASSED_MAX requests of a listener are without an answer; further ones are 503.
 *   (2) A request is answered once: by the other thread, or by its own deadline when that thread has ended.
 *       A reply to a request of an earlier life of its thread is dropped: ids are never used again.
 *   (3) Bodies and replies are copied, so neither thread sees the memory of the other.
 *
 * Not here: the transport of messages (node/peer-channel.ts), sockets (passed-sockets.ts).
 */
import { randomInt } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { type Reject, type RejectName, reject } from '../core/reject.ts';
import type { HttpRoutes } from './http-routes.ts';
import type { RequestHead } from './request-head.ts';
import type { HttpCall, HttpRoute, RouteMethod } from './uws-http.ts';

/** Requests of a listener that wait for the other thread. */
const PASSED_MAX = 1_024;
/** The largest range that the random source has. */
const FIRST_ID_MAX = 2 ** 48 - 1;
const TOO_MANY: Reject = reject('SERVICE_UNAVAILABLE', 'too many requests wait for another thread, try again');
const NO_ROUTE: Reject = reject('NOT_FOUND', 'no such path');

export interface PassedRequest {
  readonly kind: 'request';
  readonly id: number;
  /** GET for HEAD too. */
  readonly method: RouteMethod;
  /** A pattern of the thread that answers; `head` has its parameters. */
  readonly pattern: string;
  readonly head: RequestHead;
  /** The address of the client; '' if addresses are not limited. */
  readonly address: string;
  readonly body: Uint8Array;
}

export interface PassedReply {
  readonly kind: 'reply';
  readonly id: number;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** The code of an error; null for none. */
  readonly refusal: RejectName | null;
}

/** One end of the connection of two threads: structured clones, in order, without an answer of their own. */
export interface PeerChannel<Message = PassedRequest | PassedReply> {
  post(message: Message): void;
  /** Sets the receiver; until then messages are dropped. */
  receive(receiver: (message: Message) => void): void;
  close(): void;
}

/** The requests of one listener that go to the other thread, and those of the other listener that are answered here. */
export class PassedRequests {
  readonly #routes: HttpRoutes;
  readonly #channel: PeerChannel | null;
  readonly #waitingMax: number;
  readonly #waiting = new Map<number, HttpCall>();
  /** From a random number on: a restarted thread must not take a reply to its predecessor, such as a token, for its own. */
  #nextId = randomInt(FIRST_ID_MAX);

  /** @param channel null: no other thread; what would be passed is 503. */
  constructor(routes: HttpRoutes, channel: PeerChannel | null, waitingMax: number = PASSED_MAX) {
    this.#waitingMax = waitingMax;
    this.#routes = routes;
    this.#channel = channel;
    channel?.receive((message) => {
      if (message.kind === 'reply') this.#replied(message);
      else this.#answer(message);
    });
  }

  /**
   * Registers a route that the other thread answers, unless this listener has one of that method and pattern; before
   * `seal()`.
   *
   * @param there the pattern that the other thread has for it.
   */
  add(route: Omit<HttpRoute, 'handler'>, there: string = route.pattern): void {
    if (this.#routes.has(route)) return;
    this.#routes.add({
      ...route,
      handler: (call, body) => this.pass(call, { method: route.method, pattern: there }, body),
    });
  }

  /** Passes one request. */
  pass(call: HttpCall, to: Pick<PassedRequest, 'method' | 'pattern'>, body: Uint8Array): void {
    if (this.#waiting.size >= this.#waitingMax) this.#forgetEnded();
    // mutant: passed-requests-bounded
    if (this.#waiting.size >= this.#waitingMax || this.#channel === null) {
      call.refuse(TOO_MANY);
      return;
    }
    const id = this.#nextId;
    this.#nextId += 1;
    this.#waiting.set(id, call);
    const { address } = call;
    // For HEAD, the listener of the connection drops the body.
    const head = { ...call.head, method: to.method };
    this.#channel.post({ kind: 'request', id, ...to, head, address, body: ownBytes(body) });
  }

  close(): void {
    this.#waiting.clear();
    this.#channel?.close();
  }

  #replied(reply: PassedReply): void {
    const call = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    call?.relay(reply);
  }

  #answer(request: PassedRequest): void {
    const { id } = request;
    const response = new CapturedResponse((reply) => this.#channel?.post({ kind: 'reply', id, ...reply }));
    this.#routes.answer(request, response, NO_ROUTE);
  }

  /**
   * Calls that were answered late. A call that its client has left counts until its deadline: the other thread has its
   * request still, and clients that leave must not fill the queue between the threads.
   */
  #forgetEnded(): void {
    const nowMs = performance.now();
    for (const [id, call] of this.#waiting) {
      // mutant: passed-requests-of-leavers
      if (!call.open && nowMs >= call.deadlineMs) this.#waiting.delete(id);
    }
  }
}

/** What a call and its reply use of a response of the server, or of one that is captured for another thread. */
export interface ReplyTarget {
  onAborted(handler: () => void): unknown;
  onWritable(handler: (offset: number) => boolean): unknown;
  cork(work: () => void): unknown;
  close(): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body: string | Uint8Array, closeConnection?: boolean): unknown;
  endWithoutBody(): unknown;
  tryEnd(body: Uint8Array, totalBytes: number): [boolean, boolean];
  getWriteOffset(): number;
  /** Called with the code of an error before it is written. */
  refusing?(code: RejectName): void;
}

/** A response that is kept instead of written; sent as one message when it is complete. */
class CapturedResponse implements ReplyTarget {
  readonly #send: (reply: Omit<PassedReply, 'kind' | 'id'>) => void;
  readonly #headers: [string, string][] = [];
  #status = 200;
  #refusal: RejectName | null = null;
  #isSent = false;

  constructor(send: (reply: Omit<PassedReply, 'kind' | 'id'>) => void) {
    this.#send = send;
  }

  refusing(code: RejectName): void {
    this.#refusal = code;
  }

  /** The client is connected to the other thread: a reply that it has left is dropped there. */
  onAborted(): void {}

  onWritable(): void {}

  cork(work: () => void): void {
    work();
  }

  writeStatus(status: string): void {
    this.#status = Number.parseInt(status, 10);
  }

  writeHeader(name: string, value: string): void {
    this.#headers.push([name, value]);
  }

  end(body: string | Uint8Array): void {
    this.#finish(typeof body === 'string' ? Buffer.from(body) : body);
  }

  endWithoutBody(): void {
    this.#finish(new Uint8Array(0));
  }

  /** Without a reply: the deadline of the other thread answers. */
  close(): void {
    this.#isSent = true;
  }

  tryEnd(body: Uint8Array): [boolean, boolean] {
    this.#finish(body);
    return [true, true];
  }

  getWriteOffset(): number {
    return 0;
  }

  #finish(body: Uint8Array): void {
    assert(!this.#isSent, 'a response ends once');
    this.#isSent = true;
    this.#send({ status: this.#status, headers: this.#headers, body: ownBytes(body), refusal: this.#refusal });
  }
}

/** Bytes that own their memory: a message has all of the memory that a view is of. */
function ownBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
