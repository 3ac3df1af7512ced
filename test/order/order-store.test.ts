// tier: quick
/** The order store beside plain maps and lists, step by step. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { hashKeyOf } from '../../src/core/key-words.ts';
import { NONE } from '../../src/core/pools.ts';
import { viewsOf } from '../../src/core/views.ts';
import { OrderStore } from '../../src/order/order-store.ts';
import { writeText, writeUser } from '../../src/schema/fields.ts';
import { OrderRecord } from '../../src/schema/generated/messages.ts';
import { propertyParameters } from '../support/property.ts';

const ORDERS_MAX = 40;
const KEY = hashKeyOf(0x5eed_0123_4567_89abn);
/** The first two differ in their last byte alone: their hashes are equal, as a hash covers the first eight bytes. */
const USERS = ['11'.repeat(32), `${'11'.repeat(31)}12`, 'ab'.repeat(32), '00'.repeat(32)] as UserId[];
const IDS = ['a', 'a-1', 'a-2', 'abcd', 'abcde', 'z'.repeat(64), `${'z'.repeat(63)}y`] as OrderId[];
const MARKETS = [0, 1, 7];

interface Plain {
  readonly index: number;
  readonly user: UserId;
  readonly orderId: OrderId;
  readonly market: number;
  sequence: number;
  parent: Plain | null;
  readonly children: Plain[];
}

const order = fc.record({
  user: fc.constantFrom(...USERS),
  orderId: fc.constantFrom(...IDS),
  market: fc.constantFrom(...MARKETS),
  isAdmitted: fc.boolean(),
});
const pick = fc.nat({ max: 1_000 });
const step = fc.oneof(
  { weight: 5, arbitrary: order.map((from) => ({ do: 'copy' as const, from })) },
  { weight: 4, arbitrary: order.map((from) => ({ do: 'claim' as const, from })) },
  { weight: 1, arbitrary: fc.constant({ do: 'abandon' as const }) },
  { weight: 3, arbitrary: pick.map((which) => ({ do: 'admit' as const, which })) },
  { weight: 6, arbitrary: pick.map((which) => ({ do: 'remove' as const, which })) },
  { weight: 3, arbitrary: fc.tuple(pick, pick).map(([which, parent]) => ({ do: 'link' as const, which, parent })) },
  { weight: 1, arbitrary: pick.map((which) => ({ do: 'unlink' as const, which })) },
  { weight: 2, arbitrary: pick.map((which) => ({ do: 'putFirst' as const, which })) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Plays steps on a store and on plain lists. */
class Compared {
  readonly #store = new OrderStore({ ordersMax: ORDERS_MAX, key: KEY });
  /** By insertion. */
  #orders: Plain[] = [];
  /** Orders of one user, market and id, as `findId` and `nextOfId` give them. */
  readonly #named = new Map<string, Plain[]>();
  #sequence = 2 ** 32 - 8;
  readonly #message = viewsOf(new ArrayBuffer(OrderRecord.bytes + 8), 0, OrderRecord.bytes + 8);

  play(next: Step): void {
    if (next.do === 'copy' || next.do === 'claim') this.#insert(next.from, next.do);
    else if (next.do === 'abandon') this.#abandon();
    else if (this.#orders.length > 0) this.#change(next);
  }

  #insert(from: { user: UserId; orderId: OrderId; market: number; isAdmitted: boolean }, how: 'copy' | 'claim'): void {
    this.#sequence += 1;
    const sequence = from.isAdmitted ? this.#sequence : 0;
    const store = this.#store;
    const isFull = this.#orders.length === ORDERS_MAX;
    const index = how === 'claim' ? store.claim() : this.#copy(from, sequence);
    assert.equal(index === NONE, isFull, 'the store is full with its last order, not before');
    if (index === NONE) return;
    if (how === 'claim') {
      const v = store.viewsOf(index);
      assert.ok(v.u8.subarray(store.at(index), store.at(index) + OrderRecord.bytes).every((byte) => byte === 0));
      this.#fill(v, store.at(index), from, sequence);
      store.add(index);
    }
    const plain: Plain = { ...from, index, sequence, parent: null, children: [] };
    this.#orders.push(plain);
    this.#sameName(plain).push(plain);
  }

  #copy(from: { user: UserId; orderId: OrderId; market: number }, sequence: number): number {
    this.#message.u8.fill(0xff);
    this.#fill(this.#message, 8, from, sequence);
    return this.#store.insertCopy(this.#message, 8);
  }

  #fill(
    v: ReturnType<typeof viewsOf>,
    at: number,
    { user, orderId, market }: { user: UserId; orderId: OrderId; market: number },
    sequence: number,
  ): void {
    OrderRecord.setUser(v, at, user);
    OrderRecord.setOrderId(v, at, orderId);
    OrderRecord.setMarketIndex(v, at, market);
    OrderRecord.setOrderSequence(v, at, sequence);
    OrderRecord.setPrice(v, at, this.#sequence);
  }

  #abandon(): void {
    const index = this.#store.claim();
    if (index !== NONE) this.#store.abandon(index);
  }

  #change(next: Exclude<Step, { do: 'copy' | 'claim' | 'abandon' }>): void {
    const plain = this.#orders[next.which % this.#orders.length] as Plain;
    const store = this.#store;
    if (next.do === 'remove') this.#remove(plain);
    else if (next.do === 'admit' && plain.sequence === 0) {
      this.#sequence += 1;
      plain.sequence = this.#sequence;
      store.setSequence(plain.index, plain.sequence);
    } else if (next.do === 'putFirst') {
      store.putFirstOfId(plain.index);
      const same = this.#sameName(plain);
      same.splice(same.indexOf(plain), 1);
      same.unshift(plain);
    } else if (next.do === 'unlink' && plain.parent !== null) {
      store.unlinkChild(plain.index);
      leave(plain);
    } else if (next.do === 'link') {
      const parent = this.#orders[next.parent % this.#orders.length] as Plain;
      if (parent === plain || plain.parent !== null) return;
      store.linkChild(plain.index, parent.index);
      plain.parent = parent;
      parent.children.push(plain);
    }
  }

  #remove(plain: Plain): void {
    this.#store.remove(plain.index);
    for (const child of [...plain.children]) leave(child);
    if (plain.parent !== null) leave(plain);
    this.#orders = this.#orders.filter((other) => other !== plain);
    const same = this.#sameName(plain);
    same.splice(same.indexOf(plain), 1);
  }

  #sameName({ user, market, orderId }: Pick<Plain, 'user' | 'market' | 'orderId'>): Plain[] {
    const key = `${user}/${market}/${orderId}`;
    const same = this.#named.get(key) ?? [];
    this.#named.set(key, same);
    return same;
  }

  compare(): void {
    const store = this.#store;
    store.check();
    assert.equal(store.size, this.#orders.length);
    for (const plain of this.#orders) this.#compareOrder(plain);
    for (const user of USERS) this.#compareUser(user);
    for (const market of MARKETS) {
      const expected = this.#orders.filter((plain) => plain.market === market).map(({ index }) => index);
      assert.deepEqual(
        walk(store.firstOfMarket(market), (index) => store.nextOfMarket(index)),
        expected,
      );
      assert.equal(store.countOfMarket(market), expected.length);
    }
    assert.deepEqual(
      store.markets(),
      MARKETS.filter((market) => this.#orders.some((plain) => plain.market === market)),
    );
    assert.deepEqual(
      [...store.indexes()],
      MARKETS.flatMap((market) => this.#orders.filter((plain) => plain.market === market)).map(({ index }) => index),
    );
  }

  #compareOrder({ index, user, orderId, market, sequence, parent, children }: Plain): void {
    const store = this.#store;
    const view = store.view(index);
    assert.deepEqual(
      [view.user, view.orderId, view.marketIndex, view.orderSequence],
      [user, orderId, market, sequence],
    );
    if (sequence !== 0) assert.equal(store.findSequence(market, sequence), index);
    assert.equal(store.parentOf(index), parent?.index ?? NONE);
    assert.deepEqual(
      walk(store.firstChild(index), (child) => store.nextChild(child)),
      children.map((child) => child.index),
    );
  }

  #compareUser(user: UserId): void {
    const store = this.#store;
    const expected = this.#orders.filter((plain) => plain.user === user).map(({ index }) => index);
    const number = store.findUser(user);
    assert.equal(number === NONE, expected.length === 0);
    if (number !== NONE) {
      const newest = walk(store.newestOfUser(number), (index) => store.olderOfUser(index));
      assert.deepEqual(newest, expected.reverse());
      assert.equal(store.countOfUser(number), expected.length);
    }
    for (const orderId of IDS) {
      for (const market of MARKETS) {
        const same = this.#sameName({ user, market, orderId });
        const found = walk(store.findId(user, market, orderId), (index) => store.nextOfId(index));
        assert.deepEqual(
          found,
          same.map(({ index }) => index),
        );
        assert.equal(this.#findInMessage(user, market, orderId), same[0]?.index ?? NONE);
      }
    }
  }

  /** By the key as a message has it: what stands behind the id means nothing. */
  #findInMessage(user: UserId, market: number, orderId: OrderId): number {
    const v = this.#message;
    v.u8.fill(0xff);
    writeUser(v, 4, user);
    writeText(v, 36, orderId);
    return this.#store.findIdAt(v, 4, market, 36, orderId.length);
  }

  get store(): OrderStore {
    return this.#store;
  }
}

function leave(child: Plain): void {
  const { parent } = child;
  parent?.children.splice(parent.children.indexOf(child), 1);
  child.parent = null;
}

function walk(first: number, next: (index: number) => number): number[] {
  const seen: number[] = [];
  for (let index = first; index !== NONE; index = next(index)) {
    seen.push(index);
    assert.ok(seen.length <= ORDERS_MAX, 'a list ends');
  }
  return seen;
}

suite('the order store', () => {
  test('whatever happens to it, it finds the orders that plain lists have, and its invariants hold', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
        const compared = new Compared();
        for (const next of steps) {
          compared.play(next);
          compared.compare();
        }
      }),
      propertyParameters(60),
    );
  });

  test('it grows beyond a chunk, keeps what it has, and gives removed records again before new ones', () => {
    const count = 9_000;
    const store = new OrderStore({ ordersMax: count, key: KEY });
    const user = (n: number): UserId => n.toString(16).padStart(64, '0') as UserId;
    const add = (n: number): number => {
      const index = store.claim();
      const view = store.view(index);
      view.user = user(n % 1_000);
      view.orderId = `order-${n}` as OrderId;
      view.marketIndex = n % 3;
      OrderRecord.setOrderSequence(view.v, view.at, n + 1);
      store.add(index);
      return index;
    };
    const indexes = Array.from({ length: count }, (_, n) => add(n));
    assert.equal(store.claim(), NONE);
    for (const [n, index] of indexes.entries()) {
      assert.equal(store.findSequence(n % 3, n + 1), index);
      assert.equal(store.findId(user(n % 1_000), n % 3, `order-${n}` as OrderId), index);
      assert.equal(store.view(index).orderSequence, n + 1);
    }
    store.check();
    for (const index of indexes.slice(0, 5_000)) store.remove(index);
    assert.equal(store.userEnd, 1_000);
    for (let n = 0; n < 5_000; n += 1) add(count + n);
    assert.equal(store.indexEnd, count);
    store.check();
  });

  test('an order without an id, twice the same sequence and a second admission are broken invariants', () => {
    const store = new OrderStore({ ordersMax: 4, key: KEY });
    const fill = (orderId: string, sequence: number): number => {
      const index = store.claim();
      const view = store.view(index);
      view.user = USERS[0] as UserId;
      view.orderId = orderId as OrderId;
      OrderRecord.setOrderSequence(view.v, view.at, sequence);
      return index;
    };
    assert.throws(() => store.add(fill('', 1)), /an order has an id/);
    const first = fill('a', 7);
    store.add(first);
    assert.throws(() => store.add(first), /claimed before it is added/);
    assert.throws(() => store.setSequence(first, 8), /gets its sequence once/);
    assert.throws(() => store.add(fill('b', 7)), /a sequence belongs to one order/);
    assert.throws(() => store.abandon(first), /only a claimed record/);
    store.remove(first);
    assert.throws(() => store.remove(first), /only an added order is removed/);
  });

  test('a walk over all orders may remove the one that it gave', () => {
    const compared = new Compared();
    for (let n = 0; n < 12; n += 1) {
      const [user, orderId, market] = [USERS[n % 4] as UserId, IDS[n % 7] as OrderId, MARKETS[n % 3] as number];
      compared.play({ do: 'copy', from: { user, orderId, market, isAdmitted: true } });
    }
    let seen = 0;
    for (const index of compared.store.indexes()) {
      compared.store.remove(index);
      seen += 1;
    }
    assert.equal(seen, 12);
    assert.equal(compared.store.size, 0);
    compared.store.check();
  });
});
