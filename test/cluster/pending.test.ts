// tier: full, 40 s
/**
 * Fills that were told as Pending and are in no stored decision when the leader dies (cluster.md 8): their owners see them gone or
 * confirmed once under the next leader, and what they had asked for ends.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { inVenue, PATIENT, type Venue } from '../support/cluster-venue.ts';
import { SocketReader } from '../support/edge-client.ts';
import { barrier, operator } from '../support/node-process.ts';
import { eventually, PATIENCE_MS } from '../support/patience.ts';
import type { PlainClient } from '../support/plain-client.ts';

const QUANTITY = 1_000;

/** How a request ended: its status, or that its socket was closed. */
function fateOf(request: Promise<{ readonly status: number }>): Promise<string> {
  const asked = request.then(
    ({ status }) => `${status}`,
    () => 'closed',
  );
  return Promise.race([asked, new Promise<string>((done) => setTimeout(done, PATIENCE_MS, 'never').unref())]);
}

interface OrderShown {
  readonly order_id: string;
  readonly status: string;
  readonly confirmed_filled_quantity: string;
  readonly pending_filled_quantity: string;
}

/** Null for an order that the node does not have. */
async function orderOf(user: PlainClient, id: string): Promise<OrderShown | null> {
  const answer = await user.get(`/orders/user/${user.id}/2/${id}`);
  if (answer.status === 404) return null;
  assert.equal(answer.status, 200, answer.text);
  return JSON.parse(answer.text) as OrderShown;
}

/** Its fill is told, and not decided. */
async function isPending(user: PlainClient, id: string): Promise<void> {
  let shown: OrderShown | null = null;
  await eventually(
    async () => {
      shown = await orderOf(user, id);
      return shown?.pending_filled_quantity === '0.1';
    },
    () => `no fill is pending: ${JSON.stringify(shown)}`,
  );
}

/** Status and fills; null for an order that the node does not have. */
async function figuresOf(user: PlainClient, id: string): Promise<readonly string[] | null> {
  const order = await orderOf(user, id);
  return order === null ? null : [order.status, order.confirmed_filled_quantity, order.pending_filled_quantity];
}

/** Both sides have these trades, each once and Confirmed. */
async function tradesAre(users: readonly PlainClient[], count: number): Promise<void> {
  const lists: string[] = [];
  for (const user of users) {
    const trades = await tradesOf(user);
    assert.deepEqual(
      trades.map(({ status }) => status),
      Array.from({ length: count }, () => 'Confirmed'),
    );
    assert.equal(new Set(trades.map(({ trade_id }) => trade_id)).size, count);
    lists.push(
      trades
        .map(({ trade_id }) => trade_id)
        .sort()
        .join(),
    );
  }
  assert.equal(new Set(lists).size, 1, lists.join(' and '));
}

function portOf(venue: Venue): number {
  return Number(new URL(venue.node.oms).port);
}

async function tradesOf(user: PlainClient): Promise<readonly { trade_id: number; status: string; price: string }[]> {
  const page = (await user.read(`/trades/user/${user.id}?limit=100`)) as { trades?: never[]; items?: never[] };
  return (page.trades ?? page.items ?? page) as never;
}

async function ledgerAddsUp(venue: Venue): Promise<void> {
  const ledger = await venue.operate('GET', '/operator/ledger');
  for (const figures of Object.values(ledger['assets'] as Record<string, { difference: string }>))
    assert.equal(figures.difference, '0');
}

test('Pending fills at kill -9 of the leader: rolled back or confirmed once under the next one, no request waits without end (cluster.md 8)', {
  timeout: 300_000,
}, async (t) => {
  await inVenue(t, PATIENT, async (venue) => {
    const alice = await venue.user(1).login();
    const bob = await venue.user(2).login();
    await venue.operate('PATCH', '/operator/settings', { acks: 'durable' });
    const sell = alice.newId();
    assert.equal((await alice.create({ id: sell, side: 'Sell', price: 300_000, quantity: 3 * QUANTITY })).status, 200);
    const other = alice.newId();
    assert.equal((await alice.create({ id: other, side: 'Sell', price: 310_000, quantity: QUANTITY })).status, 200);

    // ---- held by clearing: matched, told as Pending, undecided
    await venue.operate('POST', '/operator/clearing', { hold: true });
    const control = await SocketReader.open(portOf(venue), '/control', [], bob.headers);
    const buy = bob.newId();
    const taken = fateOf(bob.create({ id: buy, side: 'Buy', price: 300_000, quantity: QUANTITY }));
    const late = bob.newId();
    control.socket.send(`{"CreateOrderRequest":${bob.createBody({ id: late, side: 'Buy', price: 290_000 })}}`);
    const cancelled = fateOf(alice.cancel(other));
    await isPending(alice, sell);
    // What waits behind the hold is journaled, so the standby has it as well, and the next leader must forget the match.
    const held = async (): Promise<unknown> => (await venue.operate('GET', '/operator/clearing'))['held_fills'];
    await eventually(
      async () => (await held()) === 1,
      () => 'clearing holds no fill',
    );
    await venue.world.node('a').kill();
    assert.deepEqual(await Promise.all([taken, cancelled]), ['200', 'closed'], 'the create is before its match');
    await control.closed;

    await venue.follows('b', 2);
    await alice.login();
    await bob.login();
    assert.equal(await held(), 0, 'nothing is held after a takeover');
    // What was stored before the match has happened: both orders are there, cross, and match again, once.
    await eventually(
      async () => (await figuresOf(bob, buy))?.join() === 'Filled,0.1,0',
      () => 'the order that was answered is not filled',
    );
    await barrier(venue.node);
    assert.deepEqual(await figuresOf(alice, sell), ['PartiallyFilled', '0.1', '0']);
    for (const figures of [await figuresOf(bob, late), await figuresOf(alice, other)])
      assert.ok(figures === null || figures.slice(1).join() === '0,0', 'behind the held fill nothing was filled');
    await tradesAre([alice, bob], 1);
    await ledgerAddsUp(venue);

    // ---- matched by a leader that reaches no server any more, and told as Pending
    assert.equal((await bob.send('DELETE', '/orders/cancel-all')).status, 202);
    await venue.operate('PATCH', '/operator/settings', { acks: 'optimistic' });
    venue.world.node('a').launch();
    await venue.world.node('a').until('following');
    const events = await SocketReader.open(portOf(venue), '/trades', ['svc.ws.v1'], bob.headers);
    venue.world.node('b').link('cut');
    const again = bob.newId();
    const filled = await bob.create({ id: again, side: 'Buy', price: 300_000, quantity: QUANTITY });
    assert.equal(filled.status, 200, filled.text);
    await isPending(alice, sell);
    // Its leader is stalled soon: a cancel, and what an operator asks for, are answered in a bounded time.
    const unstored = [
      fateOf(alice.cancel(sell)),
      fateOf(bob.send('DELETE', '/orders/cancel-all')),
      fateOf(operator(venue.node, 'PATCH', '/operator/settings', { acks: 'durable' })),
    ];
    await venue.world.node('b').until('stalled');
    unstored.push(fateOf(bob.send('DELETE', '/orders/cancel-batch', `{"order_ids":["${again}"]}`)));
    unstored.push(fateOf(bob.post('/orders/cancel-all-after', '{"timeout_ms":60000}')));
    const fates = await Promise.all(unstored);
    // The first two may have come before the lease was over: then they are answered as ever.
    for (const fate of fates.slice(0, 2)) assert.match(fate, /^(?:20[02]|504)$/, fates.join());
    assert.deepEqual(fates.slice(2), ['504', '504', '504']);
    await venue.world.node('b').kill();
    await events.closed;
    await venue.follows('a', 3);
    await alice.login();
    await bob.login();
    assert.deepEqual(await figuresOf(alice, sell), ['PartiallyFilled', '0.1', '0'], 'the quantity is back');
    assert.equal(await orderOf(bob, again), null, 'it was acknowledged before it was stored');
    await tradesAre([alice, bob], 1);

    // ---- and what has its quantity back matches, once
    assert.equal((await bob.create({ side: 'Buy', price: 300_000, quantity: 2 * QUANTITY })).status, 200);
    await eventually(
      async () => (await figuresOf(alice, sell))?.join() === 'Filled,0.3,0',
      () => 'no fill is confirmed',
    );
    await barrier(venue.node);
    await tradesAre([alice, bob], 2);
    await ledgerAddsUp(venue);
  });
});
