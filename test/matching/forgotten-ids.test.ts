/** Ids of orders that ended in a crowd, while they wait to be written down: what they cost, and what they say (AMB-08). */
import assert from 'node:assert/strict';
import { type Mock, mock, suite, test } from 'node:test';
import { PastIds } from '../../src/matching/past-ids.ts';
import { ends, MarketDesk } from '../support/market-desk.ts';
import { LIFE_NS, START_NS } from '../support/market-recorder.ts';

const CROWD = 400;
/** Two in turn; and one out of turn for the id, and for the parent's. A command may hold one more. */
const WRITTEN_MAX = 5;

/** Hears what goes into the memory of finished ids, and what leaves it. */
class Spy {
  readonly #added: Mock<PastIds['add']> = mock.method(PastIds.prototype, 'add');
  readonly #removed: Mock<PastIds['remove']> = mock.method(PastIds.prototype, 'remove');

  /** Calls since the last time. */
  take(): { added: number; removed: number } {
    const counts = { added: this.#added.mock.callCount(), removed: this.#removed.mock.callCount() };
    this.#added.mock.resetCalls();
    this.#removed.mock.resetCalls();
    return counts;
  }

  restore(): void {
    this.#added.mock.restore();
    this.#removed.mock.restore();
  }
}

/** @returns how many ids were written down by the one command that wrote down most. */
function mostWritten(spy: Spy, commands: readonly (() => void)[]): number {
  spy.take();
  return Math.max(
    ...commands.map((command) => {
      command();
      return spy.take().added;
    }),
  );
}

/** Ids `id 0` to `id 399` end in one command. */
function endCrowd(desk: MarketDesk, user = 'ada', creationNs = (i: number): bigint => START_NS + BigInt(i)): void {
  for (let i = 0; i < CROWD; i++) desk.buy(`id ${i}`, 1, 100, { user, creationNs: creationNs(i) });
  desk.cancelAll({ user });
}

suite('ids that wait to be written down', () => {
  test('no command after a cancel-all writes down more than a few of its ids, whatever it asks for (AMB-08)', () => {
    const spy = new Spy();
    try {
      const desk = new MarketDesk();
      endCrowd(desk);
      assert.ok(spy.take().added <= CROWD, 'each create may write down two');
      const most = mostWritten(spy, [
        () => assert.equal(desk.cancel(`id ${CROWD - 1}`)[0]?.[2], 'ALREADY_CANCELLED'),
        () => assert.equal(desk.cancel(`id ${CROWD - 1}`, { hold: true })[0]?.[2], 'ALREADY_CANCELLED'),
        () => assert.equal(desk.replace(`id ${CROWD - 2}`, { price: 99 })[0]?.[2], 'ALREADY_CANCELLED'),
        () => assert.equal(desk.buy(`id ${CROWD - 3}`, 1, 100)[0]?.[3], 'DUPLICATE_ORDER'),
        () =>
          assert.equal(desk.sell('c', 1, 200, { above: 150, parent: `id ${CROWD - 4}` })[0]?.[3], 'ORDER_NOT_FOUND'),
        () => assert.equal(desk.cancel('unknown', { hold: true })[0]?.[0], 'cancelAccepted'),
        () => assert.equal(desk.buy('new', 1, 100)[0]?.[0], 'accepted'),
      ]);
      assert.ok(most >= 2 && most <= WRITTEN_MAX, `${most}`);
    } finally {
      spy.restore();
    }
  });

  test('an end beyond the bound of a user makes room for itself alone, however many ids of others wait (AMB-08)', () => {
    const spy = new Spy();
    try {
      const desk = new MarketDesk({ rememberedIdsPerUserMax: CROWD });
      endCrowd(desk, 'bob');
      for (let i = 0; i < CROWD; i++) desk.cancel('none');
      for (let i = 0; i < 3; i++) desk.buy(`more ${i}`, 1, 100, { user: 'bob', creationNs: START_NS + 1_000n });
      endCrowd(desk);
      for (let i = 0; i < 3; i++) {
        spy.take();
        assert.deepEqual(desk.cancel(`more ${i}`, { user: 'bob' })[0]?.[0], 'ended');
        const { added, removed } = spy.take();
        assert.ok(added <= 2, `${added}`);
        assert.equal(removed, 1);
        assert.equal(desk.cancel(`id ${i}`, { user: 'bob' })[0]?.[2], 'ORDER_NOT_FOUND', 'the one that ended first');
      }
      assert.equal(desk.cancel('id 3', { user: 'bob' })[0]?.[2], 'ALREADY_CANCELLED');
      assert.equal(desk.buy('x', 1, 100, { user: 'bob', creationNs: START_NS + 2n })[0]?.[3], 'REQUEST_TOO_OLD');
      assert.equal(desk.buy('x', 1, 100, { user: 'bob', creationNs: START_NS + 3n })[0]?.[0], 'accepted');
    } finally {
      spy.restore();
    }
  });

  test('a crowd beyond the bound leaves the ids that ended last, written down or not (AMB-08)', () => {
    const desk = new MarketDesk({ rememberedIdsPerUserMax: 3 });
    endCrowd(desk);
    assert.equal(desk.cancel(`id ${CROWD - 4}`)[0]?.[2], 'ORDER_NOT_FOUND');
    for (const i of [1, 2, 3]) assert.equal(desk.cancel(`id ${CROWD - i}`)[0]?.[2], 'ALREADY_CANCELLED');
  });

  test('no end writes down a second id, when more of one user end at once than may be remembered and others wait before them (AMB-08)', () => {
    const spy = new Spy();
    try {
      const desk = new MarketDesk({ rememberedIdsPerUserMax: CROWD / 4 });
      for (const user of ['bob', 'ada']) {
        for (let i = 0; i < CROWD; i++) desk.buy(`id ${i}`, 1, 100, { user, creationNs: START_NS + BigInt(i) });
      }
      desk.cancelAll({ user: 'bob' });
      spy.take();
      desk.cancelAll({ user: 'ada' });
      assert.ok(spy.take().added <= CROWD + WRITTEN_MAX, 'one for each end');
      for (let i = 1; i < CROWD; i += 50) {
        const [told] = desk.cancel(`id ${CROWD - i}`, { user: 'ada' });
        assert.equal(told?.[2], i <= CROWD / 4 ? 'ALREADY_CANCELLED' : 'ORDER_NOT_FOUND');
      }
    } finally {
      spy.restore();
    }
  });

  test('ids that ended in a crowd take no more memory when they are written down than ids that ended one by one (AMB-08)', () => {
    const [crowd, single] = [new MarketDesk(), new MarketDesk()];
    for (const desk of [crowd, single]) for (let i = 0; i < CROWD; i++) desk.buy(`id ${i}`, 1, 100);
    const [before, after] = [crowd.engine.bytes, single.engine.bytes];
    assert.equal(before, after);
    crowd.cancelAll();
    assert.ok(crowd.engine.bytes > before, 'they wait');
    for (let i = 0; i < CROWD; i++) single.cancel(`id ${i}`);
    for (const desk of [crowd, single]) for (let i = 0; i < CROWD; i++) desk.cancel('none');
    assert.equal(crowd.engine.bytes, single.engine.bytes);
  });

  test('an id that was asked for makes room when it would have, not later and not sooner (AMB-08)', () => {
    const desk = new MarketDesk({ rememberedIdsPerUserMax: CROWD });
    endCrowd(desk);
    for (const i of [5, CROWD - 1, 4]) assert.equal(desk.cancel(`id ${i}`)[0]?.[2], 'ALREADY_CANCELLED');
    for (let i = 0; i < CROWD; i++) {
      desk.buy(`later ${i}`, 1, 100, { creationNs: START_NS + 1_000n });
      desk.cancel(`later ${i}`);
      assert.equal(desk.cancel(`id ${i}`)[0]?.[2], 'ORDER_NOT_FOUND');
      if (i + 1 < CROWD) assert.equal(desk.cancel(`id ${i + 1}`)[0]?.[2], 'ALREADY_CANCELLED');
    }
  });

  test('an id that waits is free 30 days after its creation, and counts once when it has ended again (AMB-08)', () => {
    const desk = new MarketDesk({ rememberedIdsPerUserMax: CROWD });
    for (let i = 0; i < CROWD; i++) desk.buy(`id ${i}`, 1, 100);
    desk.nowNs += LIFE_NS;
    const told = desk.buy('id 7', 1, 100);
    assert.equal(ends(told).length, CROWD);
    assert.equal(told.filter(([name]) => name === 'accepted').length, 1, 'all have expired in this command');
    assert.equal(desk.cancel('id 7')[0]?.[0], 'ended');
    assert.equal(desk.cancel('id 7')[0]?.[2], 'ALREADY_CANCELLED');
    for (let i = 0; i < CROWD; i++) desk.cancel('none');
    assert.equal(desk.cancel('id 7')[0]?.[2], 'ALREADY_CANCELLED', 'the first of that name left its place alone');
    assert.equal(desk.buy('id 8', 1, 100)[0]?.[0], 'accepted');
  });
});
