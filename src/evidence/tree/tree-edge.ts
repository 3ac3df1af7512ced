/**
 * The right edge of a growing RFC 6962 tree: all that an append and a root need, at most 53 hashes. It is what an upgrade, a
 * backup and a snapshot carry (EVD-03).
 *
 *     0  size                     8   u64
 *     8  perfect subtrees        32 each, the largest first: one for each bit of the size that is set
 */
import { assert } from '../../core/assert.ts';
import { EMPTY_TREE_ROOT, nodeHash, TREE_HASH_BYTES } from './hashes.ts';
import { readU64, writeU64 } from './record-leaf.ts';

/** A node that an append has completed. @param height 0 for a leaf. @param index among the nodes of this height. */
type NodeListener = (height: number, index: number, hash: Uint8Array) => void;

export class TreeEdge {
  #size = 0;
  /** Perfect subtrees, the largest first. */
  readonly #nodes: Uint8Array[] = [];

  /** @param nodes the perfect subtrees of `size` leaves, the largest first. */
  static of(size: number, nodes: readonly Uint8Array[]): TreeEdge {
    assert(nodes.length === onesOf(size), 'tree: one node for each bit of the size');
    const edge = new TreeEdge();
    edge.#size = size;
    edge.#nodes.push(...nodes);
    return edge;
  }

  /** The edge of the bytes of `encode`. @returns null when they are none. */
  static decode(bytes: Uint8Array): TreeEdge | null {
    const size = bytes.length < 8 ? null : readU64(bytes, 0);
    if (size === null || bytes.length !== 8 + TREE_HASH_BYTES * onesOf(size)) return null;
    const nodes: Uint8Array[] = [];
    for (let at = 8; at < bytes.length; at += TREE_HASH_BYTES) nodes.push(bytes.slice(at, at + TREE_HASH_BYTES));
    return TreeEdge.of(size, nodes);
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds a leaf, by its hash; `onNode` is called with each node that it completes, from the leaf up. */
  append(hash: Uint8Array, onNode?: NodeListener): void {
    assert(hash.length === TREE_HASH_BYTES, 'tree: a hash has 32 bytes');
    let [height, index, node] = [0, this.#size, hash];
    onNode?.(height, index, node);
    while (index % 2 === 1) {
      node = nodeHash(this.#nodes.pop() as Uint8Array, node);
      height += 1;
      index = (index - 1) / 2;
      onNode?.(height, index, node);
    }
    this.#nodes.push(node);
    this.#size += 1;
  }

  /** 32 bytes. */
  root(): Uint8Array {
    const last = this.#nodes.length - 1;
    let root = this.#nodes[last];
    if (root === undefined) return EMPTY_TREE_ROOT;
    for (let index = last - 1; index >= 0; index -= 1) root = nodeHash(this.#nodes[index] as Uint8Array, root);
    return root;
  }

  encode(): Uint8Array {
    const bytes = new Uint8Array(8 + TREE_HASH_BYTES * this.#nodes.length);
    writeU64(bytes, 0, this.#size);
    this.#nodes.forEach((node, index) => {
      bytes.set(node, 8 + TREE_HASH_BYTES * index);
    });
    return bytes;
  }
}

function onesOf(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}
