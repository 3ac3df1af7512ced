// tier: quick
/** Ids of orders that ended in a crowd: which of them are known afterwards, and what they leave behind (AMB-08). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ends, MarketFixture } from '../support/market-fixture.ts';
import { LIFE_NS, START_NS } from '../support/market-recorder.ts';

const CROWD = 400;

/** Ids `id 0` to `id 399` end in one command. */
function endCrowd(
  fixture: MarketFixture,
  user = 'ada',
  creationNs = (i: number): bigint => START_NS + BigInt(i),
): void {
  for (let i = 0; i < CROWD; i++) fixture.buy(`id ${i}`, 1, 100, { user, creationNs: creationNs(i) });
  fixture.cancelAll({ user });
}

suite('ids that ended in a crowd', () => {
  test('a crowd beyond the bound leaves the ids that ended last (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: 3 });
    endCrowd(fixture);
    assert.equal(fixture.cancel(`id ${CROWD - 4}`)[0]?.[2], 'ORDER_NOT_FOUND');
    for (const i of [1, 2, 3]) assert.equal(fixture.cancel(`id ${CROWD - i}`)[0]?.[2], 'ALREADY_CANCELLED');
  });

  test('in a market that remembers no more, a user with the most loses one, and no replay gets in (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsMax: 3 });
    const end = (id: string, user: string, creationNs: bigint): void => {
      fixture.buy(id, 1, 100, { user, creationNs });
      fixture.cancel(id, { user });
    };
    for (const i of [1, 2, 3]) end(`id ${i}`, 'bob', START_NS + BigInt(i));
    end('id 1', 'ada', START_NS + 1n);
    end('id 4', 'bob', START_NS + 4n);
    const words = ['bob', 'ada'].map((user) => [1, 2, 3, 4].map((i) => fixture.cancel(`id ${i}`, { user })[0]?.[2]));
    assert.deepEqual(words, [
      ['ORDER_NOT_FOUND', 'ORDER_NOT_FOUND', 'ALREADY_CANCELLED', 'ALREADY_CANCELLED'],
      ['ALREADY_CANCELLED', 'ORDER_NOT_FOUND', 'ORDER_NOT_FOUND', 'ORDER_NOT_FOUND'],
    ]);
    const again = (user: string) => fixture.buy('id 1', 1, 100, { user, creationNs: START_NS + 1n })[0]?.[3];
    assert.deepEqual([again('bob'), again('ada')], ['REQUEST_TOO_OLD', 'DUPLICATE_ORDER']);
  });

  test('of crowds of two users each leaves as many ids as one may have remembered, those that ended last (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: CROWD / 4 });
    for (const user of ['bob', 'ada']) {
      for (let i = 0; i < CROWD; i++) fixture.buy(`id ${i}`, 1, 100, { user, creationNs: START_NS + BigInt(i) });
    }
    fixture.cancelAll({ user: 'bob' });
    fixture.cancelAll({ user: 'ada' });
    for (const user of ['bob', 'ada'])
      for (let i = 1; i <= CROWD; i++) {
        const [told] = fixture.cancel(`id ${CROWD - i}`, { user });
        assert.equal(told?.[2], i <= CROWD / 4 ? 'ALREADY_CANCELLED' : 'ORDER_NOT_FOUND');
      }
  });

  test('an end beyond the bound of a user evicts only itself, and creates as old as what went are refused (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: CROWD });
    endCrowd(fixture, 'bob');
    for (let i = 0; i < 3; i++) fixture.buy(`more ${i}`, 1, 100, { user: 'bob', creationNs: START_NS + 1_000n });
    endCrowd(fixture);
    for (let i = 0; i < 3; i++) {
      assert.equal(fixture.cancel(`id ${i}`, { user: 'bob' })[0]?.[2], 'ALREADY_CANCELLED');
      assert.equal(fixture.cancel(`more ${i}`, { user: 'bob' })[0]?.[0], 'ended');
      assert.equal(fixture.cancel(`id ${i}`, { user: 'bob' })[0]?.[2], 'ORDER_NOT_FOUND', 'the one that ended first');
    }
    assert.equal(fixture.cancel('id 3', { user: 'bob' })[0]?.[2], 'ALREADY_CANCELLED');
    assert.equal(fixture.buy('x', 1, 100, { user: 'bob', creationNs: START_NS + 2n })[0]?.[3], 'REQUEST_TOO_OLD');
    assert.equal(fixture.buy('x', 1, 100, { user: 'bob', creationNs: START_NS + 3n })[0]?.[0], 'accepted');
  });

  test('ids that ended in a crowd take no more memory than ids that ended one by one (AMB-08)', () => {
    const [crowd, single] = [new MarketFixture(), new MarketFixture()];
    for (const fixture of [crowd, single]) for (let i = 0; i < CROWD; i++) fixture.buy(`id ${i}`, 1, 100);
    const [before, after] = [crowd.engine.bytes, single.engine.bytes];
    assert.equal(before, after);
    crowd.cancelAll();
    for (let i = 0; i < CROWD; i++) single.cancel(`id ${i}`);
    assert.equal(crowd.engine.bytes, single.engine.bytes);
  });

  test('an id is evicted in its turn, looked up or not (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: CROWD });
    endCrowd(fixture);
    for (const i of [5, CROWD - 1, 4]) assert.equal(fixture.cancel(`id ${i}`)[0]?.[2], 'ALREADY_CANCELLED');
    for (let i = 0; i < CROWD; i++) {
      fixture.buy(`later ${i}`, 1, 100, { creationNs: START_NS + 1_000n });
      fixture.cancel(`later ${i}`);
      assert.equal(fixture.cancel(`id ${i}`)[0]?.[2], 'ORDER_NOT_FOUND');
      if (i + 1 < CROWD) assert.equal(fixture.cancel(`id ${i + 1}`)[0]?.[2], 'ALREADY_CANCELLED');
    }
  });

  test('an id of a crowd is free 30 days after its creation, and counts once when it has ended again (AMB-08)', () => {
    const fixture = new MarketFixture({ rememberedIdsPerUserMax: CROWD, expiredPerPoll: CROWD });
    for (let i = 0; i < CROWD; i++) fixture.buy(`id ${i}`, 1, 100);
    fixture.nowNs += LIFE_NS;
    const told = fixture.buy('id 7', 1, 100);
    assert.equal(ends(told).length, CROWD);
    assert.equal(told.filter(([name]) => name === 'accepted').length, 1, 'all have expired in this command');
    assert.equal(fixture.cancel('id 7')[0]?.[0], 'ended');
    assert.equal(fixture.cancel('id 7')[0]?.[2], 'ALREADY_CANCELLED');
    assert.equal(fixture.cancel('id 7')[0]?.[2], 'ALREADY_CANCELLED', 'the first of that name left its place alone');
    assert.equal(fixture.buy('id 8', 1, 100)[0]?.[0], 'accepted');
  });
});
