/**
 * The node's own messages to clearing: commands (journaled), queries and hooks, each answered once by a NodeReply. Orders
 * never go through here.
 */

import type { ClearingHook } from '../clearing/clearing-hooks.ts';
import type { AnswerTo, ClearingQuery } from '../clearing/clearing-queries.ts';
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import { must } from '../core/assert.ts';
import { type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Publication } from '../runtime/publication.ts';
import { NodeCommand, NodeHook, NodeQuery } from '../schema/generated/messages.ts';
import { encodePlain } from '../schema/plain-values.ts';

/** Messages that may wait for clearing at one time; the operator API and the chains together stay far below. */
const WAITING_MAX = 4_096;
const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'clearing is busy, try again');

export class ClearingClient {
  readonly #publication: Publication;
  readonly #nowNs: () => TimestampNs;
  readonly #wakeUp: () => void;
  readonly #waiting = new Map<number, (reply: ActionReply) => void>();
  #nextRequest = 1;

  constructor(publication: Publication, nowNs: () => TimestampNs, wakeUp: () => void) {
    this.#publication = publication;
    this.#nowNs = nowNs;
    this.#wakeUp = wakeUp;
  }

  /** Messages without an answer yet. */
  get inFlight(): number {
    return this.#waiting.size;
  }

  command(command: OperatorCommand): Promise<ActionReply> {
    return this.#send(NodeCommand.typeId, NodeCommand.bytes, (request) => ({ ...command, request }));
  }

  ask<Query extends ClearingQuery>(query: Query): Promise<Outcome<AnswerTo<Query>>> {
    // clearing-queries.ts answers each query with the type of its kind.
    const reply = this.#send(NodeQuery.typeId, NodeQuery.bytes, () => query);
    return reply as Promise<Outcome<AnswerTo<Query>>>;
  }

  hook(hook: ClearingHook): Promise<ActionReply> {
    return this.#send(NodeHook.typeId, NodeHook.bytes, () => hook);
  }

  replied(request: number, reply: ActionReply): void {
    const resolve = must(this.#waiting.get(request), 'a reply belongs to a message');
    this.#waiting.delete(request);
    resolve(reply);
  }

  #send(typeId: number, headBytes: number, value: (request: number) => unknown): Promise<ActionReply> {
    const request = this.#nextRequest;
    const text = encodePlain(value(request));
    const at = this.#waiting.size < WAITING_MAX ? this.#publication.claim(typeId, headBytes + text.length, true) : -1;
    if (at < 0) return Promise.resolve(rejected(BUSY));
    this.#nextRequest += 1;
    const v = this.#publication.views;
    if (typeId === NodeCommand.typeId) {
      NodeCommand.setRequestId(v, at, request);
      NodeCommand.setTimeNs(v, at, this.#nowNs());
      NodeCommand.setTextBytes(v, at, text.length);
    } else {
      // Queries and hooks share one layout.
      NodeQuery.setRequestId(v, at, request);
      NodeQuery.setTextBytes(v, at, text.length);
    }
    v.u8.set(text, at + headBytes);
    this.#publication.commit();
    this.#wakeUp();
    return new Promise((resolve) => this.#waiting.set(request, resolve));
  }
}
