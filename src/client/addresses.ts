/**
 * Where a service is: one address, or several of a cluster (cluster.md 11).
 *
 *   several addresses ── GET /system/leader of all ──▶ the one that leads with the highest epoch, or, where none that answers
 *                                                      leads, the address that the answer with the highest epoch names
 *
 * The address in use is kept until it fails: a connection that is refused or lost, 1012, `NOT_LEADER`, or three seconds without
 * any sign of life. Then all are asked again. With one address nothing is ever asked.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../codec/json-tree.ts';
import { invalidArgument, RingbookError } from './errors.ts';
import type { SocketTarget } from './http-transport.ts';
import { Lifetime } from './lifetime.ts';

/** Whom a client uses in a cluster. */
export interface LeaderAddress {
  readonly base: string;
  /** 0 where no answer named one. */
  readonly epoch: number;
}

/** Reads a path of a base without a session, within `PROBE_MS`. */
export type Probe = (base: string, path: string) => Promise<JsonValue>;

/** One answer, or none, of an address that is asked. */
export const PROBE_MS = 1_000;
/** How long a call looks for an address that serves, and the pauses between two searches. */
const SEARCH_MS_MAX = 15_000;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 500;
const ADDRESSES_MAX = 32;
/** Between two pings of a socket, and how long it may be silent, where there are several addresses. */
export const WATCH: SocketWatch = { pingMs: 1_000, silenceMs: 3_000 };

/** How a socket finds out that its connection is dead. */
export interface SocketWatch {
  readonly pingMs: number;
  readonly silenceMs: number;
}

/** `leader`: only the leader serves. `any`: the leader and every replica do. */
export type Served = 'leader' | 'any';

export class Addresses {
  /** As the caller gave them. */
  readonly all: readonly string[];
  /** Of the client that has them. */
  readonly lifetime: Lifetime;
  readonly #served: Served;
  readonly #probe: Probe;
  readonly #onMoved: (leader: LeaderAddress) => void;
  #base: string;
  #epoch = 0;
  #search: Promise<boolean> | null = null;

  /** @param all one or more base addresses. @throws RingbookError INVALID_ARGUMENT. */
  constructor(
    all: readonly string[],
    served: Served,
    probe: Probe,
    onMoved: (leader: LeaderAddress) => void = () => undefined,
    lifetime: Lifetime = new Lifetime(),
  ) {
    const [first] = all;
    if (first === undefined || all.length > ADDRESSES_MAX) throw invalidArgument(`1 to ${ADDRESSES_MAX} addresses`);
    this.all = all;
    this.lifetime = lifetime;
    this.#served = served;
    this.#probe = probe;
    this.#onMoved = onMoved;
    this.#base = first;
  }

  /** Of a service with one address. */
  static one(base: string): Addresses {
    return new Addresses([base], 'leader', () => Promise.resolve(null));
  }

  /** The one in use. */
  get base(): string {
    return this.#base;
  }

  get isCluster(): boolean {
    return this.all.length > 1;
  }

  /** For connections; null: the service's own pings are enough. */
  get watch(): SocketWatch | null {
    return this.isCluster ? WATCH : null;
  }

  /** Where a socket is opened; when it is lost, another address is looked for. */
  target(base: string, path: string, headers: SocketTarget['headers']): SocketTarget {
    const { watch, lifetime } = this;
    const target = { base, path, headers, lifetime };
    return watch === null ? target : { ...target, watch, onLost: () => this.failed(base) };
  }

  /**
   * Calls `attempt` with the address in use, and with the one that is found where that does not serve: only for what had no
   * effect (`isUnserved`), so it may be called again.
   *
   * @throws RingbookError the last refusal, when no address served within 15 s; CLIENT_CLOSED.
   */
  async serve<T>(attempt: (base: string) => Promise<T>, mayRepeat: (error: RingbookError) => boolean): Promise<T> {
    const untilMs = performance.now() + SEARCH_MS_MAX;
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      this.lifetime.check();
      const base = this.#base;
      try {
        return await attempt(base);
      } catch (error) {
        if (!this.isCluster || !(error instanceof RingbookError)) throw error;
        if (!mayRepeat(error) || performance.now() > untilMs) {
          if (isLost(error)) void this.failed(base);
          throw error;
        }
      }
      const isFound = await this.failed(base);
      if (!isFound || this.#base === base) await this.lifetime.pause(pauseMs);
    }
  }

  /**
   * Looks for another address, unless the one in use is another already; concurrent searches are one.
   *
   * @returns whether one serves.
   */
  failed(base: string): Promise<boolean> {
    if (!this.isCluster) return Promise.resolve(false);
    if (this.#base !== base && this.#search === null) return Promise.resolve(true);
    this.#search ??= this.#find().finally(() => {
      this.#search = null;
    });
    return this.#search;
  }

  async #find(): Promise<boolean> {
    const known = this.all.includes(this.#base) ? this.all : [...this.all, this.#base];
    const answers = await Promise.all(known.map((base) => this.#ask(base)));
    const all = answers.flatMap((answer) => answer ?? []);
    const found = this.#served === 'leader' ? leaderOf(all) : servingOf(all, this.#base);
    if (found === null) return false;
    const hasMoved = found.base !== this.#base || found.epoch !== this.#epoch;
    this.#base = found.base;
    this.#epoch = found.epoch;
    if (hasMoved) this.#onMoved(found);
    return true;
  }

  async #ask(base: string): Promise<Answer | null> {
    try {
      const answer = await this.#probe(base, '/system/leader');
      return isJsonObject(answer) ? answerOf(base, answer) : null;
    } catch (error) {
      if (error instanceof RingbookError) return null;
      throw error;
    }
  }
}

interface Answer {
  readonly base: string;
  readonly role: string;
  readonly state: string;
  readonly epoch: number;
  /** What it names as the leader's address for orders. */
  readonly leader: string | null;
}

function answerOf(base: string, answer: JsonObject): Answer {
  const text = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);
  const leader = answer.get('leader');
  const epoch = answer.get('epoch');
  return {
    base,
    role: text(answer.get('role')) ?? '',
    state: text(answer.get('state')) ?? '',
    epoch: typeof epoch === 'bigint' ? Number(epoch) : 0,
    leader: isJsonObject(leader) ? text(leader.get('oms')) : null,
  };
}

function newest(answers: readonly Answer[]): Answer | null {
  return answers.reduce<Answer | null>((best, one) => (best === null || one.epoch > best.epoch ? one : best), null);
}

/** A leader that is over may still answer: the highest epoch counts. */
function leaderOf(answers: readonly Answer[]): LeaderAddress | null {
  const leading = newest(answers.filter(({ state }) => state === 'leading'));
  const best = newest(answers);
  if (leading !== null && best !== null && leading.epoch >= best.epoch) return leading;
  if (best?.leader === null || best?.leader === undefined || !URL.canParse(best.leader)) return null;
  return { base: best.leader.replace(/\/+$/, ''), epoch: best.epoch };
}

/** The next one behind the one in use that serves market data. */
function servingOf(answers: readonly Answer[], current: string): LeaderAddress | null {
  const serving = answers.filter(({ role, state }) => state === 'leading' || role === 'replica');
  const others = serving.filter(({ base }) => base !== current);
  return others[0] ?? serving[0] ?? null;
}

/** Refused before anything happened: no connection was made, or the node does not lead. */
export function isUnserved({ code }: RingbookError): boolean {
  return code === 'UNREACHABLE' || code === 'NOT_LEADER';
}

/** No answer of a node that leads: what was asked may have happened. */
export function isLost(error: RingbookError): boolean {
  return isUnserved(error) || error.code === 'CONNECTION_CLOSED' || error.code === 'CLIENT_TIMEOUT';
}
