// tier: full, 15 s
/**
 * What quote sets cost and how many there may be, over random sets against a plain account of what rests (QTE-04, QTE-10, MMP-02).
 * The seed is in the message of what fails.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { PlainClient } from '../support/plain-client.ts';
import {
  openOrders,
  type Quotes,
  type QuoteWords,
  quoteBody,
  quoteOutcome,
  sendQuotes,
} from '../support/quote-texts.ts';
import { SeededRandom } from '../support/simulation.ts';
import { TestNode } from '../support/test-node.ts';

const SETS = 80;
const LIFTED = { units_per_second: 1_000_000_000 };
/** A bid that its owner can pay, and one that nobody can. */
const CHEAP = 100;
const DEAR = 90_000_000_000;
const CODES = /TOO_MANY_OPEN_ORDERS|TooManyOpenOrders/;

/** What rests of each set, by its price. */
type Resting = Map<string, Map<number, number>>;

interface Drawn {
  readonly id: string;
  readonly bids: readonly (readonly [number, number])[];
}

/** Up to `most` bids of one set, some of them as they rest, smaller, larger or gone. */
function draw(random: SeededRandom, most: number, lots: number = CHEAP): Drawn {
  const from = 100_000 + random.below(20);
  const count = random.below(4) === 0 ? 0 : 1 + random.below(most);
  const bids = Array.from({ length: count }, (_, at): readonly [number, number] => {
    return [from - at, lots * (1 + random.below(3))];
  });
  return { id: `s${random.below(3)}`, bids };
}

const restOf = (resting: Resting, { id }: Drawn): Map<number, number> => resting.get(id) ?? new Map();
const addsTo = (resting: Resting, set: Drawn): number =>
  set.bids.filter(([price, lots]) => lots > (restOf(resting, set).get(price) ?? 0)).length;
const newIn = (resting: Resting, set: Drawn): number =>
  set.bids.filter(([price]) => !restOf(resting, set).has(price)).length;
/** What is left of what rests: prices that stay, with the smaller quantity. */
function takenAway(resting: Resting, set: Drawn): Map<number, number> {
  const before = restOf(resting, set);
  const kept = set.bids.filter(([price]) => before.has(price));
  return new Map(kept.map(([price, lots]) => [price, Math.min(lots, before.get(price) ?? 0)]));
}
const countOf = (resting: Resting): number => [...resting.values()].reduce((sum, prices) => sum + prices.size, 0);

suite('charges and caps of quote sets', () => {
  let node: TestNode;

  before(async () => {
    node = await TestNode.start();
  });
  after(() => node?.stop());

  const put = async (client: PlainClient, words: QuoteWords): Promise<string> =>
    quoteOutcome(await sendQuotes(client, quoteBody(client, words)));
  const rates = (own: object, global: object): Promise<unknown> =>
    node.operate('PUT', '/operator/rate-limits', { default: own, market_maker: own, global });
  const linesOf = (resting: Resting): readonly string[] =>
    [...resting].flatMap(([, prices]) => [...prices].map(([price, lots]) => `${price / 100} ${lots / 10_000}`)).sort();
  const shown = async (client: PlainClient): Promise<readonly string[]> =>
    (await openOrders(client)).map((line) => line.slice(line.indexOf(' ') + 1)).sort();

  for (const seed of [1, 2])
    test(`QTE-10: a set costs 2 and 0.1 an entry, rounded up, refused or not; one that only takes away costs 2 (seed ${seed})`, async () => {
      const random = new SeededRandom(seed);
      const maker = await node.user();
      await rates({ units_per_second: 1, capacity: 100_000 }, LIFTED);
      const level = async (): Promise<number> =>
        Number((await node.operate('GET', `/operator/rate-limits/${maker.id}`))['user_units']);
      const resting: Resting = new Map();
      for (let at = 0; at < SETS; at += 1) {
        // Some are beyond all money: what adds is refused, and paid.
        const isPoor = random.below(3) === 0;
        const set = draw(random, 50, isPoor ? DEAR : CHEAP);
        const adds = addsTo(resting, set);
        const before = await level();
        const outcome = await put(maker, set);
        const price = before - (await level());
        const name = `seed ${seed}, set ${at} of ${set.bids.length} bids, ${adds} of them more: ${outcome}`;
        assert.equal(price, adds === 0 ? 2 : 2 + Math.ceil(set.bids.length / 10), name);
        const isApplied = outcome.startsWith('Received');
        assert.equal(isApplied, !isPoor || adds === 0, name);
        resting.set(set.id, isApplied ? new Map(set.bids) : takenAway(resting, set));
        assert.deepEqual(await shown(maker), linesOf(resting), name);
      }
      await rates(LIFTED, LIFTED);
    });

  test('QTE-10: a set of 100 entries that is refused is paid by its sender, who is refused then', async () => {
    const maker = await node.user({ '0': '1' });
    await rates({ units_per_second: 1, capacity: 40 }, LIFTED);
    const side = (sign: number): Quotes =>
      Array.from({ length: 50 }, (_, at) => [200_000 + sign * (at + 1), 100] as const);
    const outcomes: string[] = [];
    for (let at = 0; at < 4; at += 1) outcomes.push(await put(maker, { bids: side(-1), asks: side(1) }));
    assert.deepEqual(
      outcomes.slice(0, 3),
      Array.from({ length: 3 }, () => '400 INSUFFICIENT_INVENTORY'),
    );
    assert.equal(outcomes[3], '429 RATE_LIMITED', 'three times 12 of 40 units');
    await rates(LIFTED, LIFTED);
  });

  for (const [what, setting] of [
    ['an account in a market', 'max_open_orders'],
    ['a user', 'max_open_orders_user'],
  ] as const)
    test(`QTE-10: what a set adds beyond the open orders of ${what} is refused whole, what it takes away is applied`, async () => {
      const random = new SeededRandom(3);
      const maker = await node.user();
      const most = 12;
      await node.operate('PATCH', '/operator/settings', { [setting]: most });
      const resting: Resting = new Map();
      let [refused, applied] = [0, 0];
      for (let at = 0; at < SETS; at += 1) {
        const set = draw(random, 10);
        // What leaves by the same set makes room for what comes.
        const added = newIn(resting, set);
        const left = restOf(resting, set).size - (set.bids.length - added);
        const isBeyond = added > 0 && countOf(resting) - left + added > most;
        const outcome = await put(maker, set);
        const name = `set ${at}, ${countOf(resting)} rest, ${JSON.stringify(set)}: ${outcome}`;
        if (isBeyond) {
          assert.match(outcome, CODES, name);
          refused += 1;
        } else {
          assert.match(outcome, /^Received /, name);
          applied += 1;
        }
        resting.set(set.id, isBeyond ? takenAway(resting, set) : new Map(set.bids));
        assert.deepEqual(await shown(maker), linesOf(resting), name);
        assert.ok(countOf(resting) <= most, name);
      }
      assert.ok(refused > 5 && applied > 5, `${refused} refused, ${applied} applied`);
      await node.operate('PATCH', '/operator/settings', { [setting]: 100_000 });
    });

  test('MMP-02, QTE-10: a group has 400 live orders, and what a set adds beyond is refused whole; a ninth group and a fifth set are refused', async () => {
    const maker = await node.user();
    const limits = '"window_ms":1000,"frozen_ms":0,"max_fills":9';
    const group = (name: string): Promise<{ status: number }> =>
      maker.send('PUT', '/account/protection/2', `{"group":"${name}",${limits}}`);
    for (let at = 0; at < 8; at += 1) assert.equal((await group(`g${at}`)).status, 200);
    assert.equal((await group('g8')).status, 400);
    const side = (from: number, count: number): Quotes =>
      Array.from({ length: count }, (_, at) => [from - at, 10] as const);
    const of = (id: string, bids: number, asks: number): QuoteWords => ({
      ...{ id, group: 'g0', bids: side(200_000, bids) },
      asks: side(300_000, asks).map(([price, lots]) => [600_000 - price, lots] as const),
    });
    for (const id of ['a', 'b', 'c']) assert.equal(await put(maker, of(id, 50, 50)), 'Received 100 0 0 0');
    assert.equal(await put(maker, of('d', 50, 49)), 'Received 99 0 0 0');
    const more = maker.createBody({ side: 'Buy', price: 100_000, quantity: 100 });
    const member = `${more.slice(0, -1)},"protection_group":"g0"}`;
    assert.equal((await maker.post('/orders/create', member)).status, 200, 'the 400th');
    assert.equal(await put(maker, of('d', 50, 50)), '400 TOO_MANY_OPEN_ORDERS');
    assert.equal(await put(maker, of('d', 50, 49)), 'Received 0 0 99 0', 'what rests stays');
    const moved = { ...of('d', 0, 49), bids: side(199_900, 50) };
    assert.equal(await put(maker, moved), 'Received 50 0 49 50', 'a full group moves its prices');
    assert.equal(await put(maker, of('d', 50, 49)), 'Received 50 0 49 50');
    assert.equal(
      await put(maker, { ...of('d', 50, 49), group: null }),
      'Received 0 0 99 0',
      'all of them leave the group',
    );
    const others = Array.from({ length: 2 }, () => maker.createBody({ side: 'Buy', price: 99_000, quantity: 100 }));
    for (const body of others)
      assert.equal((await maker.post('/orders/create', `${body.slice(0, -1)},"protection_group":"g0"}`)).status, 200);
    assert.equal(await put(maker, of('d', 50, 50)), '400 TOO_MANY_OPEN_ORDERS', 'entries that stay would join it');
    assert.equal(await put(maker, of('d', 50, 47)), 'Received 0 0 97 2', 'fewer do');
    assert.equal(await put(maker, { ...of('d', 50, 50), group: null }), 'Received 3 0 97 0', 'outside of the group');
    assert.equal(await put(maker, { id: 'e', bids: [[100_000, 100]] }), '409 TOO_MANY_QUOTES');
    assert.equal((await maker.send('DELETE', '/orders/cancel-all', '')).status, 202);
    await node.rest();
    assert.deepEqual(await openOrders(maker), []);
    for (let at = 0; at < 8; at += 1)
      assert.equal((await maker.send('DELETE', `/account/protection/2/g${at}`)).status, 200, `g${at}`);
  });
});
