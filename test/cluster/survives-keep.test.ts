// tier: full, 80 s
/**
 * What goes on across takeovers beside orders and trades (cluster.md 7.3, 8), on real nodes: stop orders that wait, a liquidation that
 * has begun, prices, the marks of connections and timers with `on_takeover` keep and cancel, and what operators have set.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { inVenue, PATIENT, type Venue } from '../support/cluster-venue.ts';
import { SocketReader } from '../support/edge-client.ts';
import { barrier, operator } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { below } from '../support/wire-texts.ts';

const MINUTE_NS = 60_000_000_000n;
const MARGIN = { account: 1, isSpot: false } as const;
const LIFTED = { units_per_second: 1_000_000_000 };

async function statusOf(user: PlainClient, id: string): Promise<string> {
  const answer = await user.get(`/orders/user/${user.id}/2/${id}`);
  return answer.status === 200 ? (JSON.parse(answer.text) as { status: string }).status : `${answer.status}`;
}

async function untilStatus(user: PlainClient, id: string, wanted: string): Promise<void> {
  let status = '';
  await eventually(
    async () => {
      status = await statusOf(user, id);
      return status === wanted;
    },
    () => `${id} is ${status}, not ${wanted}`,
  );
}

async function received(user: PlainClient, words: Parameters<PlainClient['create']>[0]): Promise<string> {
  const id = user.newId();
  const answer = await user.create({ id, ...words });
  assert.equal(answer.status, 200, answer.text);
  return id;
}

function positionsOf(user: PlainClient): Promise<string> {
  return user.get(`/positions/${user.id}`).then(({ text }) => text);
}

async function oraclePrice(venue: Venue, price: string): Promise<void> {
  await venue.operate('POST', '/operator/prices', { prices: [{ asset_id: '2', price }] });
  await barrier(venue.node);
}

async function oracleOf(venue: Venue): Promise<{ price: string | null; publish_time_ns: number; age_ns: number }> {
  const { prices } = (await venue.operate('GET', '/operator/prices')) as {
    prices: Record<string, { oracle: { price: string | null; publish_time_ns: number; age_ns: number } }>;
  };
  const oracle = prices['2']?.oracle;
  assert.ok(oracle !== undefined);
  return oracle;
}

/** A connection of this user on which an order is made that ends with it. @returns the order's id. */
async function boundOrder(venue: Venue, user: PlainClient): Promise<string> {
  const port = Number(new URL(venue.node.oms).port);
  const control = await SocketReader.open(port, '/control?cancel_on_disconnect=true', [], user.headers);
  const id = user.newId();
  control.socket.send(`{"CreateOrderRequest":${user.createBody({ id, side: 'Sell', price: 410_000 })}}`);
  assert.match(await control.frame(), /Received/);
  return id;
}

async function ledgerAddsUp(venue: Venue): Promise<void> {
  const ledger = await venue.operate('GET', '/operator/ledger');
  for (const figures of Object.values(ledger['assets'] as Record<string, { difference: string }>))
    assert.equal(figures.difference, '0');
}

test('stop orders, a liquidation, prices, marks of connections and timers, and what operators set, across takeovers (cluster.md 7.3, 8)', {
  timeout: 300_000,
}, async (t) => {
  await inVenue(t, { ...PATIENT, config: { oracleFeedMs: 0 } }, async (venue) => {
    const { world } = venue;
    const [alice, bob, maker, owner] = await Promise.all([1, 2, 3, 4].map((seed) => venue.user(seed).login()));
    assert.ok(alice !== undefined && bob !== undefined && maker !== undefined && owner !== undefined);
    const users = [alice, bob, maker, owner];
    await venue.operate('PATCH', '/operator/settings', {
      on_takeover: 'keep',
      acks: 'durable',
      max_open_orders_user: 77,
    });
    await venue.operate('PATCH', '/operator/markets/2', { maker_fee_rate: 0, taker_fee_rate: 0 });
    for (const [user, amount] of [
      [maker, '1000000'],
      [owner, '400'],
    ] as const)
      await venue.operate('POST', '/operator/faucet', { user_id: user.id, sub_account: 1, asset_id: '0', amount });

    // A position that a lower price puts at risk; the mark is not usable any more, so the oracle alone counts.
    await oraclePrice(venue, '2000');
    await received(maker, { side: 'Sell', price: 200_000, quantity: 10_000, ...MARGIN });
    const bought = await received(owner, { side: 'Buy', price: 200_000, quantity: 10_000, ...MARGIN });
    await untilStatus(owner, bought, 'Filled');
    await venue.operate('POST', '/operator/clock', { advance_ns: Number(2n * MINUTE_NS) });
    venue.aheadNs = 2n * MINUTE_NS;
    await oraclePrice(venue, '2000');

    // A stop order that waits, one of a connection, one of a user with a timer; limits that an operator has set.
    const stop = await received(alice, { side: 'Sell', price: 180_000, quantity: 1_000, trigger: below(195_000) });
    await untilStatus(alice, stop, 'Untriggered');
    const bound = await boundOrder(venue, alice);
    const timed = await received(bob, { side: 'Buy', price: 150_000, quantity: 1_000 });
    assert.equal((await bob.post('/orders/cancel-all-after', '{"timeout_ms":3600000}')).status, 200);
    await venue.operate('PUT', '/operator/rate-limits', {
      default: { units_per_second: 123_456 },
      market_maker: LIFTED,
      global: LIFTED,
    });

    // The liquidation begins: its order is matched, and clearing decides nothing.
    await venue.operate('POST', '/operator/clearing', { hold: { asset_id: '2' } });
    await received(maker, { side: 'Buy', price: 169_000, quantity: 20_000, ...MARGIN });
    await oraclePrice(venue, '1700');
    const refused = await owner.create({ side: 'Buy', price: 100_000, quantity: 1_000, ...MARGIN });
    assert.match(refused.text, /INSUFFICIENT_MARGIN/);
    assert.match(await positionsOf(owner), /"side":"long","size":"1"/);
    await eventually(
      async () => Number((await venue.operate('GET', '/operator/clearing'))['held_fills']) >= 1,
      () => 'the liquidation has no fill',
    );
    const priceBefore = await oracleOf(venue);

    // ---- kill -9 with `keep`
    await world.node('a').kill();
    const leader = await world.untilLeading(2);
    venue.name = leader.node.name;
    const limits = await operator(venue.node, 'GET', '/operator/rate-limits');
    assert.doesNotMatch(limits.text, /123456/, 'limits of requests are those of a start: operators set them again');
    await venue.follows('b', 2);
    venue.aheadNs -= 20_000_000_000n;
    for (const user of users) await user.login();
    assert.equal(
      (await venue.operate('GET', '/operator/settings'))['max_open_orders_user'],
      77,
      'settings are journaled',
    );
    assert.deepEqual(
      [await statusOf(alice, bound), await statusOf(bob, timed), await statusOf(alice, stop)],
      ['Open', 'Open', 'Untriggered'],
      'with keep they stay',
    );

    // Prices are those of the record, older by the time since; nothing is decided by them before a new one comes.
    const priceAfter = await oracleOf(venue);
    assert.deepEqual(
      [priceAfter.price, priceAfter.publish_time_ns],
      [priceBefore.price, priceBefore.publish_time_ns],
      'the price and its time are kept',
    );
    assert.ok(priceAfter.age_ns >= priceBefore.age_ns, `${priceBefore.age_ns}, ${priceAfter.age_ns}`);
    assert.match(
      (await owner.create({ side: 'Buy', price: 100_000, quantity: 1_000, ...MARGIN })).text,
      /INSUFFICIENT_MARGIN/,
    );
    await barrier(venue.node);
    assert.match(await positionsOf(owner), /"side":"long","size":"1"/, 'no price has come since the takeover');

    // The next leader finishes the liquidation with the first price.
    await oraclePrice(venue, '1700');
    await venue.operate('POST', '/operator/clock', { advance_ns: 2_000_000_000 });
    venue.aheadNs += 2_000_000_000n;
    await eventually(
      async () => !/"side":"long"/.test(await positionsOf(owner)),
      () => 'the position is not closed',
    );
    await ledgerAddsUp(venue);

    // The stop order fires by a trade under the next leader.
    await received(maker, { side: 'Sell', price: 194_000, quantity: 1_000, ...MARGIN });
    await received(bob, { side: 'Buy', price: 194_000, quantity: 1_000 });
    await eventually(
      async () => (await statusOf(alice, stop)) !== 'Untriggered',
      () => 'the stop order has not fired',
    );

    // ---- a handover with `cancel`
    world.node('a').launch();
    await world.node('a').until('following');
    await venue.operate('PATCH', '/operator/settings', { on_takeover: 'cancel' });
    const kept = await received(alice, { side: 'Sell', price: 420_000, quantity: 1_000 });
    assert.equal((await bob.post('/orders/cancel-all-after', '{"timeout_ms":3600000}')).status, 200);
    assert.equal(await statusOf(bob, timed), 'Open');
    await barrier(venue.node);
    assert.equal(await world.node('b').stop(), 0, world.node('b').stderr);
    await venue.follows('a', 3);
    for (const user of users) await user.login();
    assert.deepEqual(
      [await statusOf(alice, kept), await statusOf(bob, timed)],
      ['Open', 'Canceled'],
      'with cancel the orders of a user with a timer are cancelled',
    );
    await ledgerAddsUp(venue);
  });
});
