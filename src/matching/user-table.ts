/**
 * Users of one market: 32-byte keys to small numbers, dense from 0, given once and never taken back.
 *
 * Beside each user stand the counters that bound what its ids may use: held cancels (AMB-25) and the queue of
 * remembered ids with its watermark (AMB-08); order-id-table.ts keeps them.
 *
 * Open addressing over Int32Array, at most half full. Bounded by the number of registered users.
 */
import { USER_BYTES } from './commands.ts';
import { finishHash, mixWord } from './key-bytes.ts';
import { grown, NONE } from './pools.ts';

const WORDS = USER_BYTES / 4;

export class UserTable {
  /** The keys, one after the other. */
  keys: Uint8Array<ArrayBuffer>;
  heldCount: Int32Array<ArrayBuffer>;
  rememberedHead: Int32Array<ArrayBuffer>;
  rememberedTail: Int32Array<ArrayBuffer>;
  rememberedCount: Int32Array<ArrayBuffer>;
  /** Creation time of the youngest id evicted before its 30 days; 0n for none. */
  watermarkNs: BigUint64Array<ArrayBuffer>;
  hasWatermark: Uint8Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;
  #table: Int32Array<ArrayBuffer>;
  #count = 0;
  readonly #seed: number;

  constructor(capacity: number, seed: number) {
    this.#seed = seed;
    this.keys = new Uint8Array(capacity * USER_BYTES);
    this.#words = new Uint32Array(this.keys.buffer);
    this.heldCount = new Int32Array(capacity);
    this.rememberedHead = new Int32Array(capacity);
    this.rememberedTail = new Int32Array(capacity);
    this.rememberedCount = new Int32Array(capacity);
    this.watermarkNs = new BigUint64Array(capacity);
    this.hasWatermark = new Uint8Array(capacity);
    this.#table = new Int32Array(capacity * 2).fill(NONE);
  }

  get count(): number {
    return this.#count;
  }

  /** @returns the user's number, or NONE. */
  find(view: DataView, at: number): number {
    const table = this.#table;
    const mask = table.length - 1;
    for (let place = this.#hash(view, at) & mask; ; place = (place + 1) & mask) {
      const user = table[place] as number;
      if (user === NONE || this.#equals(user, view, at)) return user;
    }
  }

  /** @returns the user's number, a new one if need be. */
  intern(view: DataView, at: number): number {
    const known = this.find(view, at);
    if (known !== NONE) return known;
    if (this.#count === this.heldCount.length) this.#grow();
    const user = this.#count++;
    for (let i = 0; i < WORDS; i++) this.#words[user * WORDS + i] = view.getUint32(at + i * 4, true);
    this.rememberedHead[user] = NONE;
    this.rememberedTail[user] = NONE;
    this.#enter(user);
    return user;
  }

  /** Keys are points of a curve, which nobody can shape at will: two words are enough to spread them. */
  #hash(view: DataView, at: number): number {
    return finishHash(mixWord(this.#seed ^ view.getUint32(at, true), view.getUint32(at + 4, true)));
  }

  #equals(user: number, view: DataView, at: number): boolean {
    const words = this.#words;
    const from = user * WORDS;
    for (let i = 0; i < WORDS; i++) if (words[from + i] !== view.getUint32(at + i * 4, true)) return false;
    return true;
  }

  #enter(user: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    const words = this.#words;
    const hash = finishHash(mixWord(this.#seed ^ (words[user * WORDS] as number), words[user * WORDS + 1] as number));
    let place = hash & mask;
    while (table[place] !== NONE) place = (place + 1) & mask;
    table[place] = user;
  }

  #grow(): void {
    const capacity = this.heldCount.length * 2;
    this.keys = grown(this.keys, capacity * USER_BYTES);
    this.#words = new Uint32Array(this.keys.buffer);
    this.heldCount = grown(this.heldCount, capacity);
    this.rememberedHead = grown(this.rememberedHead, capacity);
    this.rememberedTail = grown(this.rememberedTail, capacity);
    this.rememberedCount = grown(this.rememberedCount, capacity);
    this.watermarkNs = grown(this.watermarkNs, capacity);
    this.hasWatermark = grown(this.hasWatermark, capacity);
    this.#table = new Int32Array(capacity * 2).fill(NONE);
    for (let user = 0; user < this.#count; user++) this.#enter(user);
  }
}
