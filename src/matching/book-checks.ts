/** Checks of a whole book and a hash of its content. For tests, replay and boot. */
import { assert } from '../core/assert.ts';
import { finishHash, mixWord, wordCount } from '../core/key-words.ts';
import { isBefore } from '../core/time-words.ts';
import type { Book } from './book.ts';
import type { OrderIds } from './order-ids.ts';
import type { OrderPool } from './order-pool.ts';
import { ORDER_STATE } from './order-records.ts';
import type { Triggers } from './triggers.ts';
import { USER_WORDS, type UserTable } from './user-table.ts';

/** Walks everything. @throws InvariantError when an invariant of the book or of a side is broken. */
export function checkBook(book: Book, ids: OrderIds): void {
  assert(book.isUncrossing || !book.isCrossed(), 'book: the best bid is below the best ask');
  assert(
    book.isDepthDeferred || book.isUncrossing || (book.buys.isPublished && book.sells.isPublished),
    'book: every change of a level was published',
  );
  book.buys.check();
  book.sells.check();
  checkUndecided(book);
  const { orders } = book;
  for (const side of [book.buys, book.sells])
    side.forEachOrder((index) => {
      const [words, at] = [orders.idWordsOf(index), orders.idAt(index)];
      const entry = ids.find(orders.idHashOf(index), orders.userOf(index), words, at, orders.idBytesOf(index));
      assert(ids.indexOf(entry) === index, 'book: the id of an order leads to the order');
      ids.checkHash(index);
      const { lastHigh, lastLow } = book.expiries;
      assert(
        book.expiries.isBehind || isBefore(lastHigh, lastLow, orders.expiryHigh(index), orders.expiryLow(index)),
        'book: no expired order rests once all due orders have ended',
      );
    });
}

function checkUndecided(book: Book): void {
  const { orders, trades } = book;
  const counts = new Map<number, number>();
  for (let tradeId = trades.settledThrough + 1; tradeId <= trades.lastTradeId; tradeId++) {
    const at = trades.indexOf(tradeId);
    if (trades.quantity[at] === 0) continue;
    for (const index of [trades.maker[at] as number, trades.taker[at] as number])
      counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  for (const [index, count] of counts) {
    assert(orders.pendingOf(index) === count, 'book: pending counts the undecided trades of an order');
    assert(orders.stateOf(index) !== ORDER_STATE.free, 'book: an order with a pending fill stays in the pool');
  }
}

/**
 * Hash over the resting orders by priority, bids first, then the orders that wait for a trigger or for their parent, by
 * acceptance: all terms, users, ids and released quantities, and nothing about their storage. Equal for two engines
 * with the same book. It excludes state that is transient and empty after a restart (pending fills, messages between
 * market and gateway, parked cancels), and remembered ids, which are not part of the book.
 *
 * @returns 53 bits, a safe integer.
 */
export function hashBook(book: Book, users: UserTable, triggers: Triggers): number {
  const { orders } = book;
  const hash = new BookHash();
  for (const side of [book.buys, book.sells])
    side.forEachOrder((index) => {
      addOrder(hash, index, orders, users);
      hash.addNumber(orders.quantityOf(index));
    });
  triggers.forEach((waiting) => {
    const { index, kind, price, total, enabled, released, money, parent } = waiting;
    addOrder(hash, index, orders, users);
    for (const value of [kind, price, total, enabled, released]) hash.addNumber(value);
    hash.addNumber(parent === null ? 0 : parent.order);
    hash.add(triggers.hasFired(waiting) ? 1 : 0);
    hash.addText(`${money.target}`);
  });
  return hash.value;
}

/** Adds everything but the quantity: the pool's quantity is meaningful only for orders in the book. */
function addOrder(hash: BookHash, index: number, orders: OrderPool, users: UserTable): void {
  const user = orders.userOf(index) * USER_WORDS;
  for (const word of users.words.subarray(user, user + USER_WORDS)) hash.add(word);
  const from = orders.idAt(index);
  const bytes = orders.idBytesOf(index);
  hash.add(bytes);
  for (const word of orders.idWordsOf(index).subarray(from, from + wordCount(bytes))) hash.add(word);
  hash.add(orders.sideOf(index) * 65_536 + orders.tifOf(index) * 256 + orders.flagsOf(index));
  hash.add(orders.subAccountOf(index) * 16 + orders.kindOf(index));
  for (const value of [orders.sequenceOf, orders.priorityOf, orders.priceOf, orders.filledOf])
    hash.addNumber(value.call(orders, index));
  for (const time of [orders.timestampHigh, orders.timestampLow, orders.expiryHigh, orders.expiryLow])
    hash.add(time.call(orders, index) | 0);
}

/** A 53-bit hash over 32-bit words. */
class BookHash {
  #low = 1;
  #high = 2;

  get value(): number {
    return (finishHash(this.#high) >>> 0) * 2_097_152 + (finishHash(this.#low) >>> 11);
  }

  add(word: number): void {
    this.#low = mixWord(this.#low, word);
    this.#high = mixWord(this.#high, ~word);
  }

  addNumber(value: number): void {
    this.add(value | 0);
    this.add(Math.floor(value / 4_294_967_296) | 0);
  }

  addText(text: string): void {
    for (let at = 0; at < text.length; at++) this.add(text.charCodeAt(at));
    this.add(-1);
  }
}
