/**
 * What a row of the API tables says: one route or one stream as its documents describe it.
 *
 * The tables (…-routes-table.ts, …-streams-table.ts) are held against what the listeners serve, and against a running
 * node: every route has its row, every row its route, every example is sent and every reply has the shape of its row.
 *
 * Examples are JSON texts, not values: their integers pass 2^53. In paths and bodies `{user_id}` stands for the reader's.
 */

import type { Shape } from '../../codec/shapes/shape-kit.ts';
import type { RejectName } from '../../core/reject.ts';
import type { HttpMethod } from '../uws-http.ts';

/** `signed`: a session, and an Ed25519 signature over the canonical bytes of a member of the body. */
export type Auth = 'public' | 'session' | 'signed';

/** What a request costs (LIM-08 to LIM-15), in the words of the documents. */
export const COST_WORDS = {
  action: '2 units',
  cancel: '1 unit',
  cancelAll: '50 units',
  bulk: '1.5 units an item, rounded up, at least 2',
  historyPage: '25 units',
  publicRead: '2 units of the budget that all share',
} as const;
export type CostName = keyof typeof COST_WORDS;

export interface QueryDoc {
  readonly name: string;
  readonly shape: Shape;
  readonly says: string;
  /** May stand several times. */
  readonly repeats?: boolean;
}

export interface RouteExample {
  /** Path parameters that are not `user_id`; their names as in the path. */
  readonly path?: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query?: string;
  /** JSON text. */
  readonly body?: string;
  /** JSON text of an answer, as it was given. */
  readonly reply: string;
}

export interface RouteDoc {
  readonly method: HttpMethod;
  /** OpenAPI form: `/orders/user/{user_id}`. */
  readonly path: string;
  /** The heading it stands under. */
  readonly area: string;
  readonly auth: Auth;
  readonly cost: CostName;
  readonly summary: string;
  readonly description?: string;
  readonly query?: readonly QueryDoc[];
  readonly body?: Shape;
  /** A longer one is 413; SMALL_BODY_BYTES_MAX unless given. */
  readonly bodyBytesMax?: number;
  /** The member of the body whose canonical bytes are signed; of a batch in every item. */
  readonly signs?: string;
  readonly status?: 200 | 202;
  readonly reply: Shape;
  /** `application/json` unless given. */
  readonly media?: 'text/html';
  /** Answers carry `Deprecation: true` (VER-03). */
  readonly isDeprecated?: boolean;
  /** Beyond those that every route of its kind can answer. */
  readonly errors?: readonly RejectName[];
  readonly example: RouteExample;
}

export interface MessageDoc {
  readonly name: string;
  readonly says: string;
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
  /** Values of path parameters that are not `user_id`, for a try. */
  readonly pathExample?: Readonly<Record<string, string>>;
  /** What the service tells; on v0. */
  readonly tells: readonly MessageDoc[];
  /** What the client may send. */
  readonly hears?: readonly MessageDoc[];
  /** The channel's name in v1 envelopes; null where there is no v1 (market data). */
  readonly channel: string | null;
  /** What to read again after a gap (wire.md 9.8). */
  readonly resync: string;
}
