/**
 * JSON-RPC over HTTP to one provider that is not trusted and whose rules are not known (CHN-01 to 03). Every exchange ends: within 5 s,
 * and within the bounds of its kind of answer, which are measured before a byte becomes an object (answer-bounds.ts).
 *
 *   calls ─▶ batches of the learnt size ──refused, cut, or answered in part──▶ half the size … single calls
 *              └─ one failing call spoils no other: it is sent again alone
 *
 *   a reply of JSON-RPC   a value, or the code of an error
 *   RpcFault              no reply: no connection, time, a status of HTTP, a text that is no JSON-RPC, an answer beyond its bounds
 *
 * Texts of the provider, and its address, which contains a key, are in no fault.
 */
import { type AnswerBounds, AnswerMeter } from './answer-bounds.ts';
import { LearntSize } from './learnt-size.ts';

const TIMEOUT_MS = 5_000;
/** Of all requests that one set of calls takes. */
const ALL_MS_MAX = 20_000;
const BATCH_MAX = 64;
const MIB = 1_048_576;
/** Of a rest that a 429 demands. */
const RETRY_AFTER_MS_MAX = 60_000;
const BATCH_BYTES_MAX = 32 * MIB;

/** Bounds of an answer to one call. */
const BOUNDS: Readonly<Record<'word' | 'header' | 'logs', AnswerBounds>> = {
  /** A number, or the return data of a view of one word. */
  word: { bytes: 65_536, depth: 8, values: 64 },
  /** Without transactions a block still has their ids, 10,000 and more of them. */
  header: { bytes: 8 * MIB, depth: 12, values: 200_000 },
  /** 20,000 logs take some 15 MB and 600,000 values. */
  logs: { bytes: 32 * MIB, depth: 8, values: 1_000_000 },
};

export interface RpcCall {
  /** Of its answer. */
  readonly kind: 'word' | 'header' | 'logs';
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * `isRate`: the words of an error say that too much was requested in some time. `isMissing`: that there is no such block.
 * `isReverted`: that a contract refused the call.
 */
export type RpcReply =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: number;
      readonly isReverted: boolean;
      readonly isRate: boolean;
      readonly isMissing: boolean;
    };

type FaultKind = 'unreachable' | 'timeout' | 'status' | 'malformed' | 'bytes' | 'depth' | 'values';

/** The provider has not replied. */
export class RpcFault extends Error {
  readonly kind: FaultKind;
  /** Of HTTP; 0 without one. */
  readonly status: number;
  /** What a 429 asks for; 0 for nothing. */
  readonly retryAfterMs: number;

  constructor(kind: FaultKind, text: string, status = 0, retryAfterMs = 0) {
    super(text);
    this.name = 'RpcFault';
    this.kind = kind;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether an answer was beyond its bounds. */
  get isBomb(): boolean {
    return this.kind === 'bytes' || this.kind === 'depth' || this.kind === 'values';
  }

  /** Whether the provider refuses this request and may take a smaller one. 401 and 429 concern any request. */
  get isRefusal(): boolean {
    return (
      this.kind === 'status' && this.status >= 400 && this.status < 500 && this.status !== 401 && this.status !== 429
    );
  }
}

type Json = Readonly<Record<string, unknown>>;
type Replies = readonly (RpcReply | null)[];

export class RpcClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #batch: LearntSize = new LearntSize(BATCH_MAX, BATCH_MAX);
  #nextId = 1;

  /** @param url may have a user and a password. */
  constructor(url: string) {
    const parsed = new URL(url);
    const { username, password } = parsed;
    parsed.username = '';
    parsed.password = '';
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const basic = username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
    this.#url = parsed.toString();
    this.#headers = { 'content-type': 'application/json', accept: 'application/json', ...basic };
  }

  /** Calls in one request; 1: single ones. */
  get batchSize(): number {
    return this.#batch.value;
  }

  /** @throws RpcFault. */
  async one(call: RpcCall): Promise<RpcReply> {
    const id = this.#takeId();
    const answer = await this.#post(
      { jsonrpc: '2.0', id, method: call.method, params: call.params },
      BOUNDS[call.kind],
    );
    const reply = replyOf(Array.isArray(answer) && answer.length === 1 ? answer[0] : answer);
    if (reply === null) throw new RpcFault('malformed', 'its answer is no JSON-RPC');
    return reply;
  }

  /** @returns a reply for each call. @throws RpcFault. */
  async all(calls: readonly RpcCall[]): Promise<readonly RpcReply[]> {
    const replies: RpcReply[] = [];
    const end = AbortSignal.timeout(ALL_MS_MAX);
    while (replies.length < calls.length) {
      if (end.aborted) throw new RpcFault('timeout', 'it answers too slowly');
      const part = calls.slice(replies.length, replies.length + this.#batch.value);
      const [first] = part;
      if (part.length === 1 && first !== undefined) {
        replies.push(await this.one(first));
        continue;
      }
      const given = await this.#batched(part);
      if (given === null) this.#batch.refused(part.length);
      else replies.push(...(await this.#completed(part, given)));
    }
    return replies;
  }

  /** Sends failed calls of a batch again, alone: an error may concern the batch. */
  async #completed(part: readonly RpcCall[], given: Replies): Promise<readonly RpcReply[]> {
    const replies: RpcReply[] = [];
    let wasSpoilt = false;
    for (const [index, call] of part.entries()) {
      const reply = given[index] ?? null;
      const isFinal = reply !== null && (reply.ok || reply.isReverted || reply.isMissing);
      const last = isFinal ? reply : await this.one(call);
      if (!isFinal && last.ok) wasSpoilt = true;
      replies.push(last);
    }
    if (wasSpoilt) this.#batch.refused(part.length);
    else this.#batch.answered(part.length);
    return replies;
  }

  /** @returns null when the provider refuses this batch, or answers no call of it. */
  async #batched(part: readonly RpcCall[]): Promise<Replies | null> {
    const ids = part.map(() => this.#takeId());
    const body = part.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: ids[index], method, params }));
    let answer: unknown;
    try {
      answer = await this.#post(body, boundsOf(part));
    } catch (error) {
      if (error instanceof RpcFault && error.isRefusal) return null;
      // A batch may be what makes it slow, or breaks it: the next one is smaller, after the rest.
      if (error instanceof RpcFault && error.kind !== 'unreachable') this.#batch.refused(part.length);
      throw error;
    }
    if (!Array.isArray(answer)) return null;
    const byId = new Map<unknown, RpcReply | null>();
    for (const item of answer) {
      const id = object(item)?.['id'];
      const key = typeof id === 'string' ? Number(id) : id;
      if (byId.has(key)) throw new RpcFault('malformed', 'it answers a call twice');
      byId.set(key, replyOf(item));
    }
    const replies = ids.map((id) => byId.get(id) ?? null);
    const isRefused = replies.every((reply) => reply === null || !(reply.ok || reply.isReverted || reply.isMissing));
    return isRefused ? null : replies;
  }

  #takeId(): number {
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** @returns the JSON of the answer. @throws RpcFault. */
  async #post(body: unknown, bounds: AnswerBounds): Promise<unknown> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    try {
      const init = {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        redirect: 'error',
        signal,
      } as const;
      response = await fetch(this.#url, init);
    } catch {
      throw lost(signal);
    }
    if (!response.ok) {
      void response.body?.cancel().catch(() => undefined);
      throw new RpcFault('status', `HTTP ${response.status}`, response.status, retryAfterMs(response));
    }
    const text = await textOf(response, bounds, signal);
    try {
      return JSON.parse(text);
    } catch {
      throw new RpcFault('malformed', 'its answer is no JSON');
    }
  }
}

/** Reads a body as far as it is within the bounds. @throws RpcFault. */
async function textOf(response: Response, bounds: AnswerBounds, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const meter = new AnswerMeter(bounds);
  const chunks: Uint8Array[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return Buffer.concat(chunks).toString('utf8');
      const beyond = meter.take(value);
      // mutant: rpc-bomb
      if (beyond !== null) throw new RpcFault(beyond, `its answer is beyond the bound of ${beyond}`);
      chunks.push(value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error instanceof RpcFault ? error : lost(signal);
  }
}

function lost(signal: AbortSignal): RpcFault {
  return signal.aborted
    ? new RpcFault('timeout', 'it does not answer in time')
    : new RpcFault('unreachable', 'no connection');
}

/** Of a batch: the sum of its calls, at most what one answer with logs may have. */
function boundsOf(calls: readonly RpcCall[]): AnswerBounds {
  const all = calls.map(({ kind }): AnswerBounds => BOUNDS[kind]);
  return {
    bytes: Math.min(
      all.reduce((sum, { bytes }) => sum + bytes, 0),
      BATCH_BYTES_MAX,
    ),
    depth: 1 + Math.max(...all.map(({ depth }) => depth)),
    values: Math.min(
      all.reduce((sum, { values }) => sum + values, 0),
      BOUNDS.logs.values,
    ),
  };
}

/** @returns null for what is no reply of JSON-RPC. A result beside an error counts as the error. */
function replyOf(item: unknown): RpcReply | null {
  const answer = object(item);
  if (answer === null) return null;
  const error = answer['error'] ?? null;
  if (error === null) return 'result' in answer ? { ok: true, value: answer['result'] } : null;
  const details = object(error);
  const code = Number(details?.['code']);
  const words = typeof error === 'string' ? error : String(details?.['message'] ?? '');
  return {
    ok: false,
    code: Number.isSafeInteger(code) ? code : 0,
    isReverted: code === 3 || /revert/i.test(words),
    isRate: code === 429 || /\brate\b|too many requests|per second|throttl|quota|credits/i.test(words),
    isMissing:
      code === -32_001 || (code !== -32_601 && /not found|unknown block|missing trie|no such block/i.test(words)),
  };
}

function retryAfterMs({ status, headers }: Response): number {
  if (status !== 429 && status !== 503) return 0;
  const seconds = Number(headers.get('retry-after') ?? '0');
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1_000, RETRY_AFTER_MS_MAX) : 0;
}

function object(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}
