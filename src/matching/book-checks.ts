/** What can be said of a whole book: that it is sound, and a hash of what it holds. For tests, replay and boot. */
import { assert } from '../core/assert.ts';
import { isBefore } from '../core/time-words.ts';
import type { Book } from './book.ts';
import { finishHash, mixWord, wordCount } from './key-words.ts';
import type { OrderIds } from './order-ids.ts';
import { ORDER_STATE } from './order-pool.ts';
import { USER_WORDS, type UserTable } from './user-table.ts';

/** Walks everything. @throws InvariantError when an invariant of the book or of a side is broken. */
export function checkBook(book: Book, ids: OrderIds): void {
  assert(!book.isCrossed(), 'book: the best bid is below the best ask');
  assert(book.isDepthHeld || (book.buys.isTold && book.sells.isTold), 'book: every change of a level was told');
  book.buys.check();
  book.sells.check();
  checkUndecided(book);
  const { orders } = book;
  for (const side of [book.buys, book.sells])
    side.forEachOrder((slot) => {
      const { live } = ids;
      const [words, at] = [live.wordsOf(slot), live.atOf(slot)];
      const found = live.find(orders.idHashOf(slot), orders.userOf(slot), words, at, orders.idBytesOf(slot));
      assert(found === slot, 'book: an order and its id know each other');
      const { lastHigh, lastLow } = book.expiries;
      assert(
        isBefore(lastHigh, lastLow, orders.expiryHigh(slot), orders.expiryLow(slot)),
        'book: what is past its expiry does not rest',
      );
    });
}

function checkUndecided(book: Book): void {
  const { orders, trades } = book;
  const counts = new Map<number, number>();
  for (let tradeId = trades.settledThrough + 1; tradeId <= trades.lastTradeId; tradeId++) {
    const at = trades.indexOf(tradeId);
    if (trades.quantity[at] === 0) continue;
    for (const slot of [trades.maker[at] as number, trades.taker[at] as number])
      counts.set(slot, (counts.get(slot) ?? 0) + 1);
  }
  for (const [slot, count] of counts) {
    assert(orders.pendingOf(slot) === count, 'book: pending counts the undecided trades of an order');
    assert(orders.stateOf(slot) !== ORDER_STATE.free, 'book: an order with a pending fill is not forgotten');
  }
}

/**
 * The resting orders in priority order, bids first, all their terms, their users and ids, and nothing of how they are
 * stored: equal for two engines with the same book. Not in it: pending fills, remembered ids, and what waits for a
 * trigger, as a restart may begin a release anew.
 *
 * @returns 53 bits, a safe integer.
 */
export function hashBook(book: Book, ids: OrderIds, users: UserTable): number {
  const { orders } = book;
  let low = 1;
  let high = 2;
  const add = (word: number): void => {
    low = mixWord(low, word);
    high = mixWord(high, ~word);
  };
  const addNumber = (value: number): void => {
    add(value | 0);
    add(Math.floor(value / 4_294_967_296) | 0);
  };
  for (const side of [book.buys, book.sells])
    side.forEachOrder((slot) => {
      const user = orders.userOf(slot) * USER_WORDS;
      for (const word of users.words.subarray(user, user + USER_WORDS)) add(word);
      const from = ids.live.atOf(slot);
      const bytes = orders.idBytesOf(slot);
      add(bytes);
      for (const word of ids.live.wordsOf(slot).subarray(from, from + wordCount(bytes))) add(word);
      add(orders.sideOf(slot) * 65_536 + orders.tifOf(slot) * 256 + orders.flagsOf(slot));
      add(orders.subAccountOf(slot) * 16 + orders.kindOf(slot));
      for (const value of [orders.sequenceOf, orders.priorityOf, orders.priceOf, orders.quantityOf, orders.filledOf])
        addNumber(value.call(orders, slot));
      for (const time of [orders.timestampHigh, orders.timestampLow, orders.expiryHigh, orders.expiryLow])
        add(time.call(orders, slot) | 0);
    });
  return (finishHash(high) >>> 0) * 2_097_152 + (finishHash(low) >>> 11);
}
