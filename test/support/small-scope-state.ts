/**
 * What of the reference's state decides everything that can still happen, as a text; and a set of such texts.
 *
 * Two states with one text differ in names and distances alone: of sequences and trade ids only the order counts, users
 * are called by their first appearance, and steps never look at the size of a timestamp. All columns of an order stand
 * in a table that the compiler holds complete. Not in it: ids of finished orders (steps never use one again), levels
 * (they follow from the orders), the clock and the rules (one walk has one of each).
 */
import { createHash } from 'node:crypto';
import type { ReferenceOrder } from './reference-order.ts';
import type { ReferenceState } from './reference-state.ts';

type Columns = {
  readonly [Name in keyof ReferenceOrder]: ((value: ReferenceOrder[Name]) => string | number | bigint) | null;
};

const asItIs = <T extends string | number | bigint>(value: T): T => value;

/** Null: told as a rank below, or never looked at. */
const COLUMNS: Columns = {
  user: null,
  orderId: null,
  sequence: null,
  priority: null,
  parent: null,
  creationNs: null,
  timestampNs: null,
  toldAt: null,
  subAccount: asItIs,
  side: asItIs,
  kind: asItIs,
  tif: asItIs,
  flags: asItIs,
  price: asItIs,
  quantity: asItIs,
  amount: asItIs,
  budget: asItIs,
  budgetFrom: ({ filled, spent }) => `${filled},${spent}`,
  filled: asItIs,
  spent: asItIs,
  confirmed: asItIs,
  paid: asItIs,
  activated: asItIs,
  triggerKind: asItIs,
  triggerPrice: asItIs,
  expiryNs: asItIs,
  fault: asItIs,
  state: asItIs,
  end: asItIs,
  told: (lots) => lots ?? '-',
  wasTold: Number,
  isAwaited: Number,
  granted: (lots) => lots ?? '-',
  grantedBudget: asItIs,
};

const TOLD_COLUMNS = Object.entries(COLUMNS).filter(([, column]) => column !== null) as [
  keyof ReferenceOrder,
  (value: unknown) => string | number | bigint,
][];

export function stateOf(state: ReferenceState): string {
  const { orders, undecided, tellQueue, placeQueue, faults, isUncrossing, leaving } = state;
  const users = [...new Set(orders.map(({ user }) => user))];
  const placeOf = (order: ReferenceOrder): number => orders.indexOf(order);
  let text = '';
  for (const order of orders) {
    for (const [name, column] of TOLD_COLUMNS) text += `${column(order[name])} `;
    text += `${users.indexOf(order.user)} ${order.parent === null ? '-' : placeOf(order.parent)}\n`;
  }
  for (const { maker, taker, quantity, price, legs } of undecided)
    text += `${placeOf(maker)} ${placeOf(taker)} ${quantity} ${price} ${legs.length}\n`;
  const guilty = [...faults]
    .filter(([user]) => users.includes(user))
    .map(([user, why]) => `${users.indexOf(user)} ${why}`);
  text += `${isUncrossing} ${guilty.sort().join(',')} ${leaving === null ? '?' : leaving.map(placeOf).join(' ')}\n`;
  const byPriority = [...orders].sort((a, b) => a.priority - b.priority);
  return text + [byPriority, tellQueue, placeQueue].map((queue) => queue.map(placeOf).join(' ')).join('\n');
}

const WORDS = 4;
const FIRST_PLACES: number = 1 << 16;

/** Texts by 128 bits of their SHA-256: of a hundred million texts two are taken for one once in 10^22 walks. */
export class StateSet {
  #words: Int32Array<ArrayBuffer> = new Int32Array(FIRST_PLACES * WORDS);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** @returns whether it is new. */
  add(text: string): boolean {
    const digest = createHash('sha256').update(text).digest();
    const key = Int32Array.from({ length: WORDS }, (_, word) => digest.readInt32LE(word * 4));
    // A place of four zeros is free: no text of a walk hashes to it.
    if (!this.#put(key)) return false;
    this.#count++;
    if (this.#count * 2 * WORDS > this.#words.length) this.#grow();
    return true;
  }

  #put(key: Int32Array): boolean {
    const places = this.#words.length / WORDS;
    for (let place = (key[0] as number) & (places - 1); ; place = (place + 1) & (places - 1)) {
      const there = this.#words.subarray(place * WORDS, (place + 1) * WORDS);
      if (there.every((word) => word === 0)) {
        there.set(key);
        return true;
      }
      if (there.every((word, at) => word === key[at])) return false;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Int32Array(old.length * 2);
    for (let at = 0; at < old.length; at += WORDS) {
      const key = old.subarray(at, at + WORDS);
      if (key.some((word) => word !== 0)) this.#put(key);
    }
  }
}
