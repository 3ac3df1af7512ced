/**
 * Bodies of requests while they arrive and until they are read, and the memory that all of them take together.
 *
 * An honest body is there at once; what has been arriving the longest is what gives way when there is no room.
 */
import { LinkedList, ListEntry } from '../core/linked-list.ts';

/** What each owner holds, and the sum. An owner that holds nothing has no entry. */
export class HeldBodies<Owner extends object> {
  readonly #held = new Map<Owner, number>();
  readonly #entries = new Map<Owner, ListEntry<Owner>>();
  /** By their beginning. */
  readonly #arriving = new LinkedList<Owner>();
  #bytes = 0;

  /** Bodies that have begun and not come to their end. */
  get arrivingCount(): number {
    return this.#arriving.size;
  }

  /** Whose body has been arriving the longest; null when none is. */
  get longestArriving(): Owner | null {
    return this.#arriving.first;
  }

  /** A body begins; once for an owner. */
  begin(owner: Owner): void {
    const entry = new ListEntry(owner);
    this.#entries.set(owner, entry);
    this.#arriving.append(entry);
  }

  /** The body is whole, or given up. */
  end(owner: Owner): void {
    const entry = this.#entries.get(owner);
    if (entry === undefined) return;
    this.#arriving.remove(entry);
    this.#entries.delete(owner);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** From now on `owner` holds so many bytes; 0: it lets go. */
  hold(owner: Owner, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(owner) ?? 0);
    if (bytes > 0) this.#held.set(owner, bytes);
    else this.#held.delete(owner);
  }
}

/** Copies chunks, whose memory uWebSockets.js takes back, into one buffer that only grows with what has arrived. */
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

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#buffer.byteLength;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }
}
