/**
 * Tracks request bodies from their first byte until they are parsed, and their total memory.
 *
 * Normal bodies arrive at once; when memory is exhausted, the one that has been arriving for the longest time is
 * dropped.
 */
import { LinkedList, ListEntry } from '../core/linked-list.ts';

/** Bytes per owner, and their sum. An owner without bytes has no entry. */
export class HeldBodies<Owner extends object> {
  readonly #held = new Map<Owner, number>();
  readonly #entries = new Map<Owner, ListEntry<Owner>>();
  /** By the time of their first byte. */
  readonly #arriving = new LinkedList<Owner>();
  #bytes = 0;

  /** Number of incomplete bodies. */
  get arrivingCount(): number {
    return this.#arriving.size;
  }

  /** The owner of the longest arriving body; null when there is none. */
  get longestArriving(): Owner | null {
    return this.#arriving.first;
  }

  /** Called at the start of a body, once per owner. */
  begin(owner: Owner): void {
    const entry = new ListEntry(owner);
    this.#entries.set(owner, entry);
    this.#arriving.append(entry);
  }

  /** Called when the body is complete or dropped. */
  end(owner: Owner): void {
    const entry = this.#entries.get(owner);
    if (entry === undefined) return;
    this.#arriving.remove(entry);
    this.#entries.delete(owner);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the bytes of `owner`; 0 removes it. */
  hold(owner: Owner, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(owner) ?? 0);
    if (bytes > 0) this.#held.set(owner, bytes);
    else this.#held.delete(owner);
  }
}

/**
 * Copies chunks, which are valid only during uWebSockets.js' callback, into one buffer that grows with the received
 * bytes.
 */
export class GrowingBody {
  #buffer: Uint8Array = new Uint8Array(0);
  #length = 0;

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.byteLength;
    if (length > this.#buffer.byteLength) {
      const larger = new Uint8Array(this.#length === 0 ? length : Math.max(length, 2 * this.#buffer.byteLength));
      larger.set(this.bytes());
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** Allocated bytes. */
  get heldBytes(): number {
    return this.#buffer.byteLength;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}
