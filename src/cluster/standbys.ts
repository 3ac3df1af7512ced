/** What nodes that follow have reported, and which of them is the best to hand over to. */
import type { StandbyReport } from './events.ts';

const NODES_MAX = 64;

interface Seen {
  readonly report: StandbyReport;
  readonly receivedNs: bigint;
}

export class Standbys {
  readonly #seen = new Map<string, Seen>();

  /** The last report of each node counts; beyond 64 nodes the one heard of longest ago goes. */
  take(report: StandbyReport, nowNs: bigint): void {
    this.#seen.delete(report.node);
    this.#seen.set(report.node, { report, receivedNs: nowNs });
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > NODES_MAX && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** The lowest rank, then the one that has most, of those heard of within `withinNs`; null for none. */
  best(nowNs: bigint, withinNs: bigint): string | null {
    const fresh = [...this.#seen.values()].filter(({ receivedNs }) => nowNs - receivedNs <= withinNs);
    const [best] = fresh
      .map(({ report }) => report)
      .sort((a, b) => a.rank - b.rank || b.sequence - a.sequence || (a.node < b.node ? -1 : 1));
    return best?.node ?? null;
  }
}
