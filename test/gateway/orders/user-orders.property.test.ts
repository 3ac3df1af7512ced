// tier: quick
/** What follows from all orders of a user is made at its first use: it is the same whenever that is (PAG-02, AMB-124). */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type OrderId, USD } from '../../../src/core/ids.ts';
import { ORDER_END } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { ONE_18, type Sequence, type TimestampNs } from '../../../src/core/units.ts';
import { COUNTED_ORDERS } from '../../../src/gateway/orders/book/live-orders.ts';
import { CHUNK_ORDERS } from '../../../src/gateway/orders/history/page-list.ts';
import { ALICE } from '../../support/names.ts';
import { codeOf, NO_HISTORY, NOW, OrderFixture, restoreRow } from '../../support/order-fixture.ts';
import { orderPage } from '../../support/pages.ts';
import { propertyParameters, storyOf } from '../../support/property.ts';

const IDS = 7;
const PAGE = 1_000;

/** One fixture, whose pages are read after every step or at the end alone. */
class Story {
  readonly market = new OrderFixture();
  /** Sequences of orders whose end was not published, oldest first; requests without an answer. */
  readonly #live: number[] = [];
  readonly #asked: number[] = [];
  #flushes = 0;

  constructor() {
    this.market.setOwned(ALICE, USD, 10n ** 9n * ONE_18);
  }

  /** As clearing sends it at a start, before any other step; times come in no order, and some of them twice. */
  restore(pick: number): void {
    const orderSequence = this.market.nextSequence as Sequence;
    const timestampNs = (NOW - BigInt(pick % 1_000)) as TimestampNs;
    const orderId = `restored-${orderSequence % 3}-${orderSequence}` as OrderId;
    restoreRow(this.market.manager, { orderSequence, orderId, creationNs: timestampNs, timestampNs });
    this.#live.push(orderSequence);
  }

  /** @returns what the step led to. */
  step(kind: (typeof STEPS)[number], pick: number): string {
    const { market } = this;
    const order = this.#live[pick % Math.max(1, this.#live.length)];
    const asked = this.#asked[pick % Math.max(1, this.#asked.length)];
    if (kind === 'ask') {
      const outcome = market.request({ id: `order-${pick % IDS}`, quantity: 100 });
      if (outcome.ok) this.#asked.push(outcome.value);
      return codeOf(outcome);
    }
    if (kind === 'accept' && asked !== undefined) {
      const sequence = market.admit(asked);
      market.answer(asked, sequence);
      this.#live.push(sequence);
      this.#asked.splice(this.#asked.indexOf(asked), 1);
    } else if (kind === 'refuse' && asked !== undefined) {
      market.answer(asked, 0, REJECT_CODE.MARKET_HALTED);
      this.#asked.splice(this.#asked.indexOf(asked), 1);
    } else if (kind === 'replace' && order !== undefined) market.replaced(order, 200_000, 20_000);
    else if (kind === 'end' && order !== undefined) {
      market.end(order, ORDER_END.userRequested);
      this.#live.splice(this.#live.indexOf(order), 1);
    } else if (kind === 'checkpoint') {
      market.decide();
      this.#flushes += 2;
      market.manager.onJournalFlushed({ sequence: this.#flushes - 1, checkpoint: this.#flushes - 2 });
      market.manager.onJournalFlushed({ sequence: this.#flushes, checkpoint: this.#flushes - 1 });
    }
    return kind;
  }

  /** The user's orders on pages as id, time and status. */
  pages(openOnly: boolean): readonly string[] {
    const filter = { user: ALICE, marketIndex: null, subAccounts: null, openOnly };
    return Array.from({ length: 2 }, (_, page) => {
      return orderPage(this.market.manager, NO_HISTORY, { ...filter, page, limit: PAGE }).rows;
    })
      .flat()
      .map((row) => `${row.order_id} ${row.timestamp_ns} ${row.status}`);
  }

  /** Everything that is made at its first use. Orders with one id and one time come in any order. */
  read(): unknown {
    const { manager } = this.market;
    const pages = [true, false].map((openOnly) => {
      const rows = this.pages(openOnly);
      return [rows.map((row) => row.slice(0, row.lastIndexOf(' '))), [...rows].sort()];
    });
    return [pages, manager.openOrders(ALICE), manager.openOrders(null), manager.openMarketsOf(ALICE)];
  }
}

const STEPS = ['ask', 'ask', 'accept', 'accept', 'refuse', 'replace', 'end', 'checkpoint'] as const;

suite('what follows from the orders of a user', () => {
  test('read after every step or once at the end, pages and counts are the same (PAG-02, AMB-124)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000), { maxLength: 30 }), storyOf(STEPS, [1, 60]), (restored, steps) => {
        const [early, late] = [new Story(), new Story()];
        for (const pick of restored) {
          early.restore(pick);
          late.restore(pick);
          early.read();
        }
        for (const [kind, pick] of steps) {
          const led = early.step(STEPS[kind] ?? 'ask', pick);
          assert.equal(late.step(STEPS[kind] ?? 'ask', pick), led);
          early.read();
        }
        assert.deepEqual(late.read(), early.read());
      }),
      propertyParameters(60),
    );
  });

  test('with many orders they are kept from then on, and pages are in the order of times and ids (PAG-02)', () => {
    for (const count of [CHUNK_ORDERS, CHUNK_ORDERS + 1, COUNTED_ORDERS - 1, COUNTED_ORDERS + 200]) {
      const story = new Story();
      for (let at = 0; at < count; at += 1) story.restore(at * 7_919);
      const open = story.pages(true);
      const keys = open.map((row) => row.split(' ') as [id: string, ns: string]);
      const newestFirst = ([a, aNs]: [string, string], [b, bNs]: [string, string]): number =>
        aNs === bNs ? (a > b ? -1 : 1) : aNs > bNs ? -1 : 1;
      assert.deepEqual([open.length, keys], [count, [...keys].sort(newestFirst)]);
      assert.deepEqual(story.pages(false), open);
      assert.deepEqual(
        [story.market.manager.openOrders(ALICE), story.market.manager.openMarketsOf(ALICE)],
        [count, [3]],
      );
    }
  });
});
