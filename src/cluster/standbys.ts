/** What nodes that follow have reported, and which of them is the best to hand over to. */
import type { StandbyReport } from './events.ts';

const NODES_MAX = 64;

/** Sets what a node has reported last. Anyone with the rights of a node may report under any name: beyond 64 the oldest goes. */
export function rememberNode<T>(reported: Map<string, T>, node: string, value: T): void {
  reported.delete(node);
  reported.set(node, value);
  const [oldest] = reported.keys();
  if (reported.size > NODES_MAX && oldest !== undefined) reported.delete(oldest);
}

interface Seen {
  readonly report: StandbyReport;
  readonly receivedNs: bigint;
}

export class Standbys {
  readonly #seen = new Map<string, Seen>();

  /** The last report of each node counts. */
  take(report: StandbyReport, nowNs: bigint): void {
    rememberNode(this.#seen, report.node, { report, receivedNs: nowNs });
  }

  /** The lowest rank, then the one that has most, of those that reported within `withinNs`; null for none. */
  best(nowNs: bigint, withinNs: bigint): string | null {
    const fresh = [...this.#seen.values()].filter(({ receivedNs }) => nowNs - receivedNs <= withinNs);
    const [best] = fresh
      .map(({ report }) => report)
      .sort((a, b) => a.rank - b.rank || b.sequence - a.sequence || (a.node < b.node ? -1 : 1));
    return best?.node ?? null;
  }
}
