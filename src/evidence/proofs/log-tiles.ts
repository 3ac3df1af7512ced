/**
 * The tree over everything that is durable: hashes of the files, and behind them those of the tail, of which only the leaves are stored
 * (row-log/tail.ts). What is read between two calls of `refresh` is of one moment.
 */
import type { RowLogReader } from '../row-log/row-log-reader.ts';
import { TREE_HASH_BYTES } from '../tree/hashes.ts';
import { TILE_HEIGHT, TILE_WIDTH, type TileReader } from '../tree/proofs.ts';
import { edgeAt, type TileFiles } from '../tree/tile-files.ts';
import { TreeEdge } from '../tree/tree-edge.ts';

/** What is durable. */
export interface DurableTree {
  /** The sequence of leaf 0. */
  readonly first: number;
  /** Records. */
  readonly size: number;
  /** Of the newest record. */
  readonly timeNs: bigint;
}

export class LogTiles implements TileReader {
  readonly #reader: Pick<RowLogReader, 'leaves'>;
  readonly #files: TileFiles;
  /** Records in the files, and the edge of them. */
  #settled = 0;
  #edge: Uint8Array = new TreeEdge().encode();
  /** By level: hashes behind those of the files. */
  #behind: readonly (readonly Uint8Array[])[] = [];

  constructor(reader: Pick<RowLogReader, 'leaves'>, files: TileFiles) {
    this.#reader = reader;
    this.#files = files;
  }

  /** @returns what is durable now; null before the first record. */
  refresh(): DurableTree | null {
    const leaves = this.#reader.leaves();
    if (leaves === null) return null;
    const { first, settled, tail, timeNs } = leaves;
    if (settled !== this.#settled) this.#edge = edgeAt(this.#files, settled).encode();
    this.#settled = settled;
    const edge = TreeEdge.decode(this.#edge) ?? new TreeEdge();
    const behind: Uint8Array[][] = [];
    for (const hash of tail) {
      edge.append(hash, (height, _index, node) => {
        if (height % TILE_HEIGHT !== 0) return;
        const level = height / TILE_HEIGHT;
        while (behind.length <= level) behind.push([]);
        behind[level]?.push(node);
      });
    }
    this.#behind = behind;
    return { first, size: edge.size, timeNs };
  }

  read(level: number, index: number, count: number): Uint8Array {
    const inFiles = Math.floor(this.#settled / TILE_WIDTH ** level);
    const bytes = new Uint8Array(count * TREE_HASH_BYTES);
    const fromFiles = Math.max(0, Math.min(count, inFiles - index));
    if (fromFiles > 0) bytes.set(this.#files.read(level, index, fromFiles));
    const behind = this.#behind[level] ?? [];
    for (let at = fromFiles; at < count; at += 1) {
      const hash = behind[index + at - inFiles];
      if (hash === undefined) throw new Error(`the tree has no hash ${index + at} of level ${level}`);
      bytes.set(hash, at * TREE_HASH_BYTES);
    }
    return bytes;
  }

  close(): void {
    this.#files.close();
  }
}
