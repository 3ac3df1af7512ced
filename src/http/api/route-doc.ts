/**
 * What documents say of a route or a stream; the rest of the same object is how it is served (publicRoute, sessionRoute in
 * oms-kit.ts, marketDataRoute in mds-reads.ts). The listener registers these objects and the documents print them, so each
 * fact stands once.
 *
 * Tests compare them with a running node: every example is sent, and every reply has the shape of its route.
 *
 * Examples are JSON texts, not values: their integers pass 2^53. In paths and bodies `{user_id}` stands for the
 * reader's id.
 */

import type { Shape } from '../../codec/shapes/shape-kit.ts';
import type { RejectName } from '../../core/reject.ts';
import { NO_MEMBERS, type QueryMembers } from '../query.ts';
import type { HttpRoute, RouteMethod } from '../uws-http.ts';

/** `operator`: the token of the operator API. `signed`: a session, and an Ed25519 signature over the canonical bytes of a member of the body. */
type Auth = 'public' | 'session' | 'signed' | 'operator';

/** The cost of a request (LIM-08 to LIM-15), as written in the documents. */
export const COST_WORDS = {
  action: '2 units',
  cancel: '1 unit',
  cancelAll: '50 units',
  quotes: '2 units; of a set that adds 0.1 more per entry, rounded up',
  bulk: '1.5 units per item, rounded up, at least 2',
  historyPage: '25 units',
  publicRead: '2 units of the shared budget',
  free: 'nothing but a share of the limits of your address',
} as const;
type CostName = keyof typeof COST_WORDS;

export interface QueryDoc {
  readonly name: string;
  readonly shape: Shape;
  readonly summary: string;
  /** Whether it may be repeated. */
  readonly repeats?: boolean;
}

interface RouteExample {
  /** Path parameters other than `user_id`; names as in the path. */
  readonly path?: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query?: string;
  /** JSON text. */
  readonly body?: string;
  /** JSON text of an actual reply. */
  readonly reply: string;
}

export interface RouteDoc {
  readonly method: RouteMethod;
  /** OpenAPI form: `/orders/user/{user_id}`. */
  readonly path: string;
  /** Its section heading. */
  readonly area: string;
  readonly auth: Auth;
  /** Null: it is charged to no budget. */
  readonly cost: CostName | null;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly QueryDoc[];
  readonly body?: Shape;
  /** Limit of the body, beyond which 413; by default SMALL_BODY_BYTES_MAX. */
  readonly bodyBytesMax?: number;
  /** The signed member of the body; in a batch, of every item. */
  readonly signs?: string;
  readonly status?: 200 | 202;
  readonly reply: Shape;
  /** By default `application/json`. */
  readonly media?: 'text/html' | 'text/plain' | 'application/octet-stream';
  /** Whether replies have `Deprecation: true` (VER-03). */
  readonly isDeprecated?: boolean;
  /**
   * Whether a session that only reads may send it, though its method is not GET: it changes nothing, or it is the session's
   * own logout (RDO-01). By default it may not.
   */
  readonly isForReaders?: boolean;
  /** In addition to those of every route of its kind. */
  readonly errors?: readonly RejectName[];
  /** Codes of a reply with status 200: of a rejection by clearing in `details.code`, of one item of a batch in PascalCase. */
  readonly rejections?: readonly RejectName[];
  readonly example: RouteExample;
}

export interface MessageDoc {
  readonly name: string;
  readonly summary: string;
  readonly shape: Shape;
  /** JSON text of a frame. */
  readonly example: string;
}

export interface StreamDoc {
  readonly path: string;
  readonly area: string;
  readonly auth: 'public' | 'session';
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly QueryDoc[];
  /** Values of path parameters other than `user_id`, for trying it. */
  readonly pathExample?: Readonly<Record<string, string>>;
  /** The messages of the service; on v0. */
  readonly sends: readonly MessageDoc[];
  /** The messages that the client may send. */
  readonly receives?: readonly MessageDoc[];
  /** The channel's name in v1 envelopes; null where there is no v1 (market data). */
  readonly channel: string | null;
  /** What to read again after a gap (wire.md 9.8). */
  readonly resync: string;
}

/** The query members that a listener takes. */
export function membersOf(query: readonly QueryDoc[] | undefined): QueryMembers {
  if (query === undefined) return NO_MEMBERS;
  return Object.fromEntries(query.map(({ name, repeats }) => [name, repeats === true ? 'repeats' : 'once']));
}

/** `/orders/user/{user_id}` → `/orders/user/:user_id`. */
export function patternOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** What a listener needs to know of a route beside its handler. */
export function requestOf({ method, path, query, body, bodyBytesMax }: RouteDoc): Omit<HttpRoute, 'handler'> {
  return {
    method,
    pattern: patternOf(path),
    query: membersOf(query),
    readsBody: method === 'GET' && body !== undefined,
    ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }),
  };
}

/** Whether sessions that only read are refused with READ_ONLY_SESSION (RDO-01). */
export function isRefusedToReaders({ auth, method, isForReaders = false }: RouteDoc): boolean {
  return (auth === 'session' || auth === 'signed') && method !== 'GET' && !isForReaders;
}
