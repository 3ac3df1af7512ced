/**
 * Makes heads over what is durable (EVD-06), and never one that contradicts an earlier one (EVD-07): no smaller size, no other root.
 *
 *   durable ─▶ the tree continues the newest head? ─▶ root ─▶ signed ─▶ flushed ─▶ newest
 */
import { toHex } from '../../core/hex.ts';
import { StorageError } from '../../storage/storage-error.ts';
import { signNote } from '../notes.ts';
import type { DurableTree } from '../proofs/log-tiles.ts';
import { isSameHash } from '../tree/hashes.ts';
import { rootAt, type TileReader } from '../tree/proofs.ts';
import { headText } from '../venue-notes.ts';
import type { HeadStore, StoredHead } from './head-store.ts';
import { headSigner, type LogKeys } from './log-keys.ts';

/** The tree of this node does not continue a head that was signed. */
export class EvidenceFork extends StorageError {}

/**
 * Whether the tree of this node continues a head that is known.
 *
 * @param size of the tree. @param whose where the head is from. @throws EvidenceFork when it does not.
 */
export function checkContinues(
  tiles: TileReader,
  size: number,
  known: { readonly size: number; readonly root: Uint8Array },
  whose: string,
): void {
  const ways =
    'restore the backup that goes so far, or begin a new log with "ringbook evidence new-origin --reason TEXT"';
  if (known.size > size) {
    throw new EvidenceFork(
      `EVIDENCE_FORK: ${whose} has ${known.size} records, and the tree of this node ${size}: ${ways}`,
    );
  }
  if (isSameHash(rootAt(tiles, known.size), known.root)) return;
  throw new EvidenceFork(
    `EVIDENCE_FORK: ${whose} has another root of ${known.size} records, ${toHex(known.root)}: ${ways}`,
  );
}

export class HeadMaker {
  readonly #store: HeadStore;
  readonly #tiles: TileReader;
  readonly #keys: LogKeys;
  readonly #nowMs: () => number;
  #isChecked = false;

  constructor(store: HeadStore, tiles: TileReader, keys: LogKeys, nowMs: () => number) {
    this.#store = store;
    this.#tiles = tiles;
    this.#keys = keys;
    this.#nowMs = nowMs;
  }

  /** This node leads no more: before the next head its tree is compared again. */
  rest(): void {
    this.#isChecked = false;
  }

  /**
   * Makes a head when the tree has grown. Call it while this node leads.
   *
   * @returns the newest head; null when there is none, for want of records or of a certified key.
   * @throws EvidenceFork, and then nothing was signed.
   */
  make({ size, timeNs }: Pick<DurableTree, 'size' | 'timeNs'>): StoredHead | null {
    const { newest } = this.#store;
    if (newest !== null && !this.#isChecked)
      checkContinues(this.#tiles, size, newest.head, 'the newest head of this node');
    this.#isChecked = true;
    const known = newest?.head.size ?? 0;
    // Durable records are never taken back while the node runs.
    if (size < known) throw new EvidenceFork(`EVIDENCE_FORK: ${size} records after a head of ${known}`);
    if (size === known) return newest;
    const signer = headSigner(this.#keys, size, timeNs);
    if (signer === null) return newest;
    const { origin } = this.#keys;
    return this.#store.append(
      signNote(headText({ origin, size, root: rootAt(this.#tiles, size) }), signer),
      this.#nowMs(),
    );
  }
}
