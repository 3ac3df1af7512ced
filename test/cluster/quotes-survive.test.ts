// tier: full, 60 s
/**
 * Quote sets, their marks and protection groups over takeovers of real nodes (cluster.md 8, QTE-08, QTE-09, MMP-04), and what
 * `on_takeover` ends.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { inVenue, PATIENT, type Venue } from '../support/cluster-venue.ts';
import { barrier } from '../support/node-process.ts';
import type { PlainClient } from '../support/plain-client.ts';
import { openOrders, type QuoteWords, quoteBody, quoteOutcome, sendQuotes } from '../support/quote-texts.ts';
import { IOC } from '../support/wire-texts.ts';

const GROUP = '"window_ms":60000,"frozen_ms":0,"max_fills":1,"min_fill_notional":"0"';

const put = async (client: PlainClient, words: QuoteWords): Promise<string> =>
  quoteOutcome(await sendQuotes(client, quoteBody(client, words)));

async function killed(venue: Venue, name: string, epoch: number, users: readonly PlainClient[]): Promise<void> {
  await barrier(venue.node);
  await venue.node.kill();
  await venue.follows(name, epoch);
  for (const user of users) await user.login();
}

test('kill -9 of the leader: sets rest in their places, marks and freezes stay, and nothing is given twice (QTE-08, QTE-09, MMP-04)', {
  timeout: 180_000,
}, async (t) => {
  await inVenue(t, PATIENT, async (venue) => {
    const [maker, taker] = [venue.user(1), venue.user(2)];
    await maker.login();
    await taker.login();
    await venue.operate('PATCH', '/operator/settings', { on_takeover: 'keep', acks: 'durable' });
    for (const group of ['f', 'g'])
      assert.equal((await maker.send('PUT', '/account/protection/2', `{"group":"${group}",${GROUP}}`)).status, 200);

    const kept = {
      id: 'kept',
      bids: [
        [200_000, 1_000],
        [199_000, 2_000],
      ],
      asks: [[400_000, 1_000]],
    } as const;
    assert.equal(await put(maker, kept), 'Received 3 0 0 0');
    assert.equal((await taker.create({ side: 'Sell', price: 200_000, quantity: 400, tif: IOC })).status, 200);
    // Its mark is above what is signed here.
    assert.equal(await put(maker, { id: 'gone', bids: [[150_000, 100]] }), 'Received 1 0 0 0');
    const signed = quoteBody(maker, { id: 'gone', bids: [[150_000, 100]] });
    assert.equal((await maker.send('DELETE', '/orders/cancel-all?quote_set_id=gone', '')).status, 202);
    // The group trips with the first of two asks.
    const asks = [
      [350_000, 100],
      [351_000, 100],
    ] as const;
    assert.equal(await put(maker, { id: 'tripped', asks, group: 'f' }), 'Received 2 0 0 0');
    const member = quoteBody(maker, { id: 'tripped', asks, group: 'f' });
    assert.equal((await taker.create({ side: 'Buy', price: 351_000, quantity: 200, tif: IOC })).status, 200);
    await barrier(venue.node);
    const before = await openOrders(maker);
    assert.deepEqual(before, ['kept:1 2000 0.1', 'kept:2 1990 0.2', 'kept:3 4000 0.1']);

    await killed(venue, 'b', 2, [maker, taker]);
    assert.deepEqual(await openOrders(maker), before);
    assert.equal(quoteOutcome(await sendQuotes(maker, signed)), '400 REQUEST_TOO_OLD', 'the mark of the cancelled set');
    assert.equal(quoteOutcome(await sendQuotes(maker, member)), '400 REQUEST_TOO_OLD', 'the mark of the tripped one');
    assert.equal(await put(maker, { id: 'tripped', asks, group: 'f' }), '409 MMP_FROZEN');
    assert.equal(await put(maker, { id: 'tripped', asks, group: 'g' }), 'Received 2 0 0 0', 'the other group is open');
    assert.equal((await maker.post('/account/protection/2/f/reset', '')).status, 200);
    assert.equal(await put(maker, { id: 'tripped' }), 'Received 0 0 0 2');
    assert.equal(await put(maker, { id: 'new', asks, group: 'f' }), 'Received 2 0 0 0');
    // Confirmed fills count: what rests is asked for again.
    assert.equal(await put(maker, kept), 'Received 0 1 2 0');
    const ids = (await openOrders(maker)).map((line) => line.split(' ')[0]);
    assert.deepEqual(ids, ['kept:1', 'kept:2', 'kept:3', ...ids.filter((id) => id?.startsWith('new:'))]);
    assert.equal(await put(maker, { id: 'kept' }), 'Received 0 0 0 3');
  });
});

test('`on_takeover` cancel: sets of connections that cancel on disconnect end with the leader, and their marks are above what was signed', {
  timeout: 180_000,
}, async (t) => {
  await inVenue(t, PATIENT, async (venue) => {
    const maker = venue.user(1);
    await maker.login();
    await venue.operate('PATCH', '/operator/settings', { on_takeover: 'cancel', acks: 'durable' });
    const control = await maker.stream('/control?cancel_on_disconnect=true');
    const tied = { id: 'tied', bids: [[200_000, 100]] } as const;
    control.socket.send(`{"QuoteSetRequest":${quoteBody(maker, tied)}}`);
    assert.match(await control.frame(), /"QuoteSetResponse".*"Received"/);
    const signed = quoteBody(maker, tied);
    assert.equal(await put(maker, { id: 'free', bids: [[199_000, 100]] }), 'Received 1 0 0 0');
    assert.deepEqual(await openOrders(maker), ['free:1 1990 0.01', 'tied:1 2000 0.01']);

    await killed(venue, 'b', 2, [maker]);
    assert.deepEqual(await openOrders(maker), ['free:1 1990 0.01']);
    assert.equal(quoteOutcome(await sendQuotes(maker, signed)), '400 REQUEST_TOO_OLD');
    assert.equal(await put(maker, tied), 'Received 1 0 0 0');
    control.socket.terminate();
  });
});
