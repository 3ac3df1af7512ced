/**
 * Publication of margin accounts: changed positions after every flushed batch of clearing, and the
 * figures of an account when they have changed, at most ten times a second (STR-03, STR-04, AMB-118, AMB-141).
 *
 *   clearing ── position, balance ─▶ changed ──end of the batch──▶ positions stream
 *   tick ─▶ readers of stats, in rotation ─▶ figures that differ from those published last ─▶ stats stream
 *
 * Nothing is kept for users without a reader. Figures move with every price, so they are polled; one tick polls a bounded
 * number of accounts.
 */

import { marginReply } from '../codec/margin-replies.ts';
import type { AssetId, UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import type { OrderManager } from './orders/order-manager.ts';
import type { UserEventStreams } from './user-streams.ts';

interface MarginPublisherParts {
  readonly orders: OrderManager;
  readonly streams: () => UserEventStreams;
  readonly nowNs: () => TimestampNs;
  /** Real time: sockets are paced by it. */
  readonly nowMs: () => number;
}

/** What changed in one sub-account: some positions, or its balances and with them the figures of all. */
interface Changed {
  readonly assets: Set<AssetId>;
  isWhole: boolean;
}

/** What was published last for one user and account. */
interface Published {
  version: number;
  text: string;
}

export const STATS_INTERVAL_MS = 100;
/** Users that one tick polls. */
const LISTENERS_PER_TICK = 16;

export class MarginPublisher {
  readonly #parts: MarginPublisherParts;
  readonly #changed = new Map<UserId, Map<number, Changed>>();
  readonly #published = new Map<UserId, Map<number, Published>>();
  #waiting: UserId[] = [];
  #roundMs = Number.NEGATIVE_INFINITY;
  #hasListeners = false;

  constructor(parts: MarginPublisherParts) {
    this.#parts = parts;
  }

  /** Clearing has booked something in a position. */
  positionChanged(user: UserId, subAccount: number, asset: AssetId): void {
    this.#changedIn(user, subAccount)?.assets.add(asset);
  }

  /** Clearing has booked something in the spot balances of a margin-type account. */
  balanceChanged(user: UserId, subAccount: number): void {
    const changed = this.#changedIn(user, subAccount);
    if (changed !== null) changed.isWhole = true;
  }

  #changedIn(user: UserId, subAccount: number): Changed | null {
    if (!this.#parts.streams().listens(user, 'positions')) return null;
    const own = this.#changed.get(user) ?? new Map<number, Changed>();
    this.#changed.set(user, own);
    const known = own.get(subAccount) ?? { assets: new Set<AssetId>(), isWhole: false };
    own.set(subAccount, known);
    return known;
  }

  /** At the end of every batch: what changed in it. */
  publishPositions(): void {
    if (this.#changed.size === 0) return;
    const nowNs = this.#parts.nowNs();
    const view = this.#parts.orders.margin.view(nowNs);
    for (const [user, accounts] of this.#changed) {
      const positions = [...accounts]
        .sort(([a], [b]) => a - b)
        .flatMap(([index, { assets, isWhole }]) => view.changed(user, index, { assets, isWhole }, nowNs));
      if (positions.length > 0) this.#parts.streams().positions(user, positions, nowNs);
    }
    this.#changed.clear();
  }

  /** Milliseconds until `publishStats` may publish something, from 0; Infinity where the last round found no reader. */
  get nextRoundMs(): number {
    if (this.#waiting.length > 0) return 0;
    return this.#hasListeners ? this.#roundMs + STATS_INTERVAL_MS - this.#parts.nowMs() : Number.POSITIVE_INFINITY;
  }

  /** Every tick: figures that have changed, of some users with a reader. */
  publishStats(): void {
    if (this.#waiting.length === 0) this.#startRound();
    for (const user of this.#waiting.splice(0, LISTENERS_PER_TICK)) this.#publishStatsOf(user);
  }

  /** Rounds begin no faster than figures may be published. */
  #startRound(): void {
    const nowMs = this.#parts.nowMs();
    if (nowMs - this.#roundMs < STATS_INTERVAL_MS) return;
    this.#roundMs = nowMs;
    this.#waiting = [...this.#parts.streams().listenersOf('account-stats')];
    this.#hasListeners = this.#waiting.length > 0;
    const listening = new Set(this.#waiting);
    for (const user of this.#published.keys()) if (!listening.has(user)) this.#published.delete(user);
  }

  #publishStatsOf(user: UserId): void {
    const { orders, nowNs, streams } = this.#parts;
    const at = nowNs();
    const view = orders.margin.view(at);
    const published = this.#published.get(user) ?? new Map<number, Published>();
    this.#published.set(user, published);
    for (const index of view.indices(user)) {
      const last = published.get(index);
      const version = view.versionOf(user, index);
      if (last?.version === version) continue;
      const text = marginReply(view.figures(user, [index], at), false);
      if (text !== last?.text) streams().accountStats(user, text, at);
      published.set(index, { version, text });
    }
  }
}
