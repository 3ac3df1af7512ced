/**
 * What a run of the load generator sends, and what it returns: plain data, exchanged between two processes.
 *
 * A message is one frame on `/control`: a signed action, or a batch of them.
 */

/**
 * What is sent:
 *
 *   creates   two users alternately sell and buy one lot at one price: every pair trades
 *   margin    the same with positions of margin accounts
 *   batches   the same in batches of BATCH_ORDERS: a batch of sells, then a batch of buys
 *   mix       one user: a create that rests, and the cancel of an earlier one
 *   replaces  one user: a create that rests, the replace of an earlier one, the cancel of a still earlier one
 */
export const FLOWS = ['creates', 'mix', 'replaces', 'batches', 'margin'] as const;
export type Flow = (typeof FLOWS)[number];
/** Orders of one message of the flow `batches`. */
export const BATCH_ORDERS = 10;

/** Where a run trades, in raw book units. The two users must be able to trade at `price`: no other orders are there. */
export interface LoadMarket {
  readonly assetId: string;
  readonly priceDecimals: number;
  readonly quantityDecimals: number;
  readonly price: number;
  /** One price step, and the quantity of every order. */
  readonly tick: number;
  readonly quantity: number;
  /** The sub-account of the orders. */
  readonly account: number;
  /** What orders sign as their limit of fees (MON-15). */
  readonly feeLimit: number;
}

/** `new`: keys of this run, funded by the faucet of the operator API. `own`: two key files, the seller first. */
type LoadUsers =
  | { readonly kind: 'new'; readonly ops: string; readonly token: string }
  | { readonly kind: 'own'; readonly keyFiles: readonly [string, string] };

export interface NodeTarget {
  readonly kind: 'node';
  readonly oms: string;
  /** Null: depth updates are not timed. */
  readonly mds: string | null;
  readonly users: LoadUsers;
  readonly market: LoadMarket;
}

/** A server that echoes the head of each frame: the lower bound that a node is compared with. */
export interface FloorTarget {
  readonly kind: 'floor';
  readonly base: string;
}

/**
 * `open`: messages are due at a steady rate, independent of replies. With `unansweredMax` messages unanswered the next
 * ones wait, and the wait is part of their latency. `closed`: limited by `inFlight` unanswered messages alone.
 */
export type Pace =
  | { readonly kind: 'open'; readonly perSecond: number; readonly unansweredMax: number }
  | { readonly kind: 'closed'; readonly inFlight: number };

/** Below the number of frames of one socket that a node lets wait (limits.ts). */
export const UNANSWERED_MAX = 4_000;

export interface LoadPlan {
  readonly target: NodeTarget | FloorTarget;
  readonly flow: Flow;
  readonly pace: Pace;
  /** Messages sent but not counted, then messages counted. */
  readonly warmUp: number;
  readonly count: number;
  /** Times fills on the stream of the buyer's trades, and resting orders on the stream of depth updates. */
  readonly streams: boolean;
  /** Requests the time at which each action passed each hop of the node. */
  readonly hops: boolean;
  /** Process of the node on this machine, for the CPU time of its threads; null where it is not known. */
  readonly pid: number | null;
}

/** What is timed, each from the intended send time of its message (open) or from the send (closed). */
export const TIMED = ['create', 'replace', 'cancel', 'batch', 'pending', 'confirmed', 'depth', 'refused'] as const;
export type Timed = (typeof TIMED)[number];

/** Microseconds. */
export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
  readonly max: number;
  /** Pairs of percentile and microseconds, ascending. */
  readonly curve: readonly (readonly [percentile: number, us: number])[];
}

/**
 * Replies of one kind over time: `columns[i][j]` counts the replies to messages that were due in interval i and had a
 * latency in band `from + j`. Band b begins at 2^(b/4) microseconds.
 */
export interface HeatMap {
  readonly columnMs: number;
  readonly from: number;
  readonly columns: readonly (readonly number[])[];
}

/** CPU time of the counted part of a run, by name of the thread, in microseconds per order. */
export interface CpuPerOrder {
  readonly total: number;
  readonly threads: Readonly<Record<string, number>>;
}

export interface LoadResult {
  /** What was timed; kinds without any are missing. */
  readonly latencies: Readonly<Partial<Record<Timed, Latency>>>;
  /** Between two hops of the node, and outside of the node; empty unless requested. */
  readonly hops: Readonly<Record<string, Latency>>;
  /** Delay of the generator itself, from the time at which a message was due and could be sent until it was sent. */
  readonly lateness: Latency;
  readonly heat: HeatMap;
  /** Rejections by code; a cancel or replace of a rejected create counts too. */
  readonly rejections: Readonly<Record<string, number>>;
  /** The first rejection, as received. */
  readonly firstRejection: string | null;
  /** Actions without a reply, and why their connection ended, if it did. */
  readonly unanswered: number;
  readonly closed: string | null;
  /** Orders of counted messages answered with `Received`, per second from the first counted message to the last reply. */
  readonly perSecond: number;
  readonly cpu: CpuPerOrder | null;
  /** The check of the node's ledger; null where none was made. */
  readonly ledger: string | null;
}

/** Sent by the generator's process while it runs, and then once its result. */
export type GeneratorMessage =
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'result'; readonly result: LoadResult };

/** Replies that a message of the flow gets. */
export function actionsOf(flow: Flow): number {
  return flow === 'batches' ? BATCH_ORDERS : 1;
}
