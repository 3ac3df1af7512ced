/**
 * What a leader removes from the journal's stream (cluster.md 9): the records below the oldest snapshot that is kept, and of those only
 * what every node has flushed that was seen within a day.
 *
 * Which nodes were seen is in the bucket as the object `nodes`, so that a node that takes over has those that are away as well.
 */
import { SnapshotBucket } from './snapshot-bucket.ts';
import { rememberNode } from './standbys.ts';
import type { StreamLog } from './stream-log.ts';

const NODES = 'nodes';
const NODES_BYTES_MAX = 65_536;
const SEEN_WITHIN_MS = 86_400_000;
const NAME_FORM = /^[a-z0-9-]{1,32}$/;

interface Seen {
  /** The last record that it has flushed. */
  readonly sequence: number;
  /** By the wall clock of the leader that received its report. */
  readonly atMs: number;
}

type Stream = Pick<StreamLog, 'info' | 'purgeBelow' | 'snapshots' | 'snapshot' | 'putSnapshot' | 'deleteSnapshot'>;

export class Truncation {
  readonly #stream: Stream;
  readonly #bucket: SnapshotBucket;
  readonly #keep: number;
  readonly #seen = new Map<string, Seen>();

  /** @param keep snapshots that stay. */
  constructor(stream: Stream, dataVersion: number, keep: number) {
    this.#stream = stream;
    this.#bucket = new SnapshotBucket(stream, dataVersion);
    this.#keep = keep;
  }

  /** A node reports what it has flushed; the last report counts, of 64 nodes at most. */
  see(node: string, sequence: number, atMs: number): void {
    const known = this.#seen.get(node);
    if (known !== undefined && known.atMs > atMs) return;
    rememberNode(this.#seen, node, { sequence, atMs });
  }

  /** Of a leader, now and then. @returns where the stream begins now; null when nothing was removed. @throws Error without an answer. */
  async pass(nowMs: number): Promise<number | null> {
    await this.#remember(nowMs);
    // mutant: truncation-keeps-snapshots
    const kept = (await this.#bucket.list()).slice(-this.#keep);
    const oldest = kept[0]?.sequence;
    const info = await this.#stream.info();
    if (oldest === undefined || info === null) return null;
    // The last record of a node stays: it compares it when it starts.
    // mutant: truncation-waits-for-nodes
    const below = Math.min(oldest, ...[...this.#seen.values()].map(({ sequence }) => sequence));
    if (below <= info.first) return null;
    await this.#stream.purgeBelow(below);
    return below;
  }

  async #remember(nowMs: number): Promise<void> {
    const before = await this.#stream.snapshot(NODES);
    // mutant: truncation-of-the-next-leader
    for (const [node, { sequence, atMs }] of before === null ? [] : await seenOf(before))
      this.see(node, sequence, atMs);
    for (const [node, { atMs }] of this.#seen) if (nowMs - atMs > SEEN_WITHIN_MS) this.#seen.delete(node);
    const text = JSON.stringify(Object.fromEntries(this.#seen));
    await this.#stream.putSnapshot(NODES, new Blob([text]).stream());
  }
}

/** What is no such object is none. */
async function seenOf(stream: ReadableStream<Uint8Array>): Promise<readonly (readonly [string, Seen])[]> {
  const text = await new Response(stream).text();
  if (text.length > NODES_BYTES_MAX) return [];
  return Object.entries(objectOf(text)).flatMap(([node, value]) => {
    if (!NAME_FORM.test(node) || typeof value !== 'object' || value === null) return [];
    const { sequence, atMs } = value as Partial<Record<keyof Seen, unknown>>;
    if (!Number.isSafeInteger(sequence) || typeof atMs !== 'number') return [];
    return [[node, { sequence: Number(sequence), atMs }] as const];
  });
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
