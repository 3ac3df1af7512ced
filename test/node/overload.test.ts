// tier: full, 6 s
/**
 * A node whose market or clearing does not keep up: a full queue is answered before anything has changed, a held fill
 * is reported as pending only, what fails is rolled back, and afterwards everything adds up.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, suite, test } from 'node:test';
import WebSocket from 'ws';
import { RingbookClient } from '../../src/client/client.ts';
import type { EventStream } from '../../src/client/event-stream.ts';
import { devKey } from '../../src/client/keys.ts';
import type { OrderEvent } from '../../src/client/order-events.ts';
import type { OperationResponse, UserTrade } from '../../src/client/replies.ts';
import type { OrderTicket } from '../../src/client/signed-actions.ts';

import { HEARTBEAT_LOST_MS } from '../../src/core/limits.ts';
import { BTC, ETH } from '../support/names.ts';
import { barrier, metricOf, type NodeProcess, operator, startNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { choke, nudge } from '../support/stalled-reader.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const SMALL_RINGS = { commandBytes: 65_536, commandReservedBytes: 8_192 };

suite('a node under more than it can take', () => {
  const dataDirectory = temporaryDirectory();
  const streams: { close(): void }[] = [];
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  before(async () => {
    const config = `${dataDirectory}/small-rings.json`;
    writeFileSync(
      config,
      JSON.stringify({ extends: 'dev', rateLimits: 'lifted', addresses: null, orderWaitMsMax: 0, rings: SMALL_RINGS }),
    );
    node = await startNode({ dataDirectory, env: { RINGBOOK_CONFIG: config, RINGBOOK_LOG_LEVEL: 'info' } });
    const { oms, mds } = node;
    a = new RingbookClient({ oms, mds, key: devKey('a') });
    b = new RingbookClient({ oms, mds, key: devKey('b') });
    await Promise.all([a.login(), b.login()]);
  });

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    await hook({ release: true });
  });

  after(() => {
    a?.close();
    b?.close();
    node?.child.kill('SIGKILL');
    removeDirectory(dataDirectory);
  });

  async function hook(body: object): Promise<Record<string, unknown>> {
    const answer = await operator(node, 'POST', '/operator/clearing', body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  const rest = (): Promise<number> => barrier(node);

  /** What of an asset the user's account 1 holds for orders. */
  async function held(client: RingbookClient, asset: string): Promise<string> {
    const view = await operator(node, 'GET', `/operator/users/${client.userId}`);
    const accounts = view.body['sub_accounts'] as Record<string, { balances: Record<string, { held: string }> }>;
    return accounts['1']?.balances[asset]?.held ?? 'nothing';
  }

  async function ledgerAddsUp(): Promise<void> {
    const ledger = await operator(node, 'GET', '/operator/ledger');
    const rows = Object.entries(ledger.body['assets'] as Record<string, { difference: string }>);
    for (const [asset, { difference }] of rows) assert.equal(difference, '0', `asset ${asset} adds up`);
  }

  const metric = (name: string): Promise<number> => metricOf(node, name);

  async function mailbox(name: string): Promise<number> {
    const answer = await operator(node, 'GET', '/operator/actors');
    const actors = answer.body['actors'] as readonly { name: string; mailbox: { depth: number } }[];
    return actors.find((actor) => actor.name === name)?.mailbox.depth ?? -1;
  }

  async function place(client: RingbookClient, ticket: Omit<OrderTicket, 'assetId'>): Promise<string> {
    const order = await client.order({ assetId: ETH, ...ticket });
    assert.equal((await client.create(order)).status, 'Received');
    return order.orderId;
  }

  async function watch<T>(opening: Promise<EventStream<T>>): Promise<T[]> {
    const stream = await opening;
    streams.push(stream);
    const seen: T[] = [];
    stream.listen((event) => seen.push(event));
    return seen;
  }

  test('a full command ring answers ServiceUnavailable before anything changes; cancels still get in; all of it drains', async () => {
    const resting = await place(a, { side: 'Sell', price: '3500', quantity: '1' });
    await hook({ fault: { kind: 'stall_market', asset_id: ETH } });
    const control = await a.control({ version: 'v1' });
    const orders = await Promise.all(
      Array.from({ length: 400 }, () => a.order({ assetId: ETH, side: 'Sell', price: '3600', quantity: '0.01' })),
    );
    const answers: (OperationResponse | null)[] = orders.map(() => null);
    const sent = orders.map((order, index) =>
      control.send(a.signCreate(order)).then((answer) => {
        answers[index] = answer;
      }),
    );
    const waiting = (): number => answers.filter((answer) => answer === null).length;
    // Read behind the orders, so they have all been read; answered behind the refusals that followed from them.
    for (let answer = 0; answer < 2; answer += 1) {
      const beyond = await a.order({ assetId: ETH, side: 'Sell', price: '3600', quantity: '1000000' });
      assert.equal((await control.send(a.signCreate(beyond))).status, 'Rejected');
      await rest();
    }
    assert.ok(waiting() > 10 && waiting() < 200, `${waiting()} wait in a ring of 64 KiB`);
    for (const answer of answers) if (answer !== null) assert.equal(answer.reason, 'ServiceUnavailable');
    // The first in line were taken in, nothing behind the first refusal was.
    assert.equal(answers.indexOf(null), 0);
    assert.equal(answers.lastIndexOf(null), waiting() - 1);

    const inFlight = waiting();
    const again = await a.order({ assetId: ETH, side: 'Sell', price: '3600', quantity: '0.01' });
    await assert.rejects(a.create(again), { code: 'SERVICE_UNAVAILABLE', status: 503, retryable: true });

    const cancelled = control.send(a.signCancel(ETH, resting));
    const cancelledToo = control.send(a.signCancel(ETH, orders[0]?.orderId ?? ''));
    assert.equal((await a.depth(ETH)).asks[0]?.price, '3500', 'other requests are answered');
    assert.ok((await a.orders({ openOnly: true })).items.length >= 1);
    await rest();
    assert.equal(await mailbox('market-0'), inFlight + 2, 'both cancels are in the ring');

    const residentBytes = residentBytesOf(node.pid);
    for (let burst = 0; burst < 10; burst += 1) {
      await Promise.all(
        orders.slice(0, 200).map(async () => {
          const order = await a.order({ assetId: ETH, side: 'Sell', price: '3600', quantity: '0.01' });
          assert.equal((await control.send(a.signCreate(order))).reason, 'ServiceUnavailable');
        }),
      );
    }
    assert.equal(await mailbox('market-0'), inFlight + 2);
    assert.ok(residentBytesOf(node.pid) - residentBytes < 64 * 1_048_576, 'refusals are not kept');

    await hook({ release: true });
    await Promise.all([...sent, cancelled, cancelledToo]);
    assert.equal((await cancelled).status, 'Received');
    assert.equal((await cancelledToo).status, 'Received');
    assert.equal(answers.filter((answer) => answer?.status === 'Received').length, inFlight);
    await rest();
    const open = await a.orders({ openOnly: true, limit: 1000 });
    assert.equal(open.items.length, inFlight - 1);
    assert.equal(await held(a, ETH), String((inFlight - 1) / 100));
    for (const order of open.items) await a.cancel(ETH, order.orderId);
    await rest();
    assert.equal(await held(a, ETH), '0');
    assert.deepEqual((await a.depth(ETH)).asks, []);
    // Had one of the refused orders left a hold behind, the whole balance could not be sold.
    const everything = await place(a, { side: 'Sell', price: '3500', quantity: '100' });
    await a.cancel(ETH, everything);
    await ledgerAddsUp();
    control.close();
  });

  test('held fills are reported as Pending and nothing else; released they are Confirmed (FIL-02 to FIL-04)', async () => {
    const trades = await watch(a.userTrades());
    await hook({ hold: { asset_id: ETH } });
    await place(a, { side: 'Sell', price: '3000', quantity: '0.5' });
    await place(b, { side: 'Buy', price: '3000', quantity: '0.5' });
    await rest();
    await eventually(() => trades.length > 0);
    assert.deepEqual(statusesOf(trades), ['Pending']);
    assert.equal((await a.trades()).items.length, 0, 'history has confirmed trades only');
    const view = await operator(node, 'GET', '/operator/clearing');
    assert.equal(view.body['held_fills'], 1);
    await hook({ release: { fills: 1 } });
    await eventually(async () => trades.length === 2);
    assert.deepEqual(statusesOf(trades), ['Pending', 'Confirmed']);
    await hook({ release: true });
    assert.equal((await a.trades()).items.length, 1);
    await ledgerAddsUp();
  });

  test('a fill that fails at clearing is rolled back: reasons for both, the innocent maker is back in the book (FIL-14, AMB-32, AMB-128)', async () => {
    const seen = { a: await watch(a.userTrades()), b: await watch(b.userTrades()) };
    const events = { a: await watch(a.orderEvents()), b: await watch(b.orderEvents()) };
    await hook({ fault: { kind: 'reject_fill', party: 'taker', reason: 'InsufficientInventory', asset_id: ETH } });
    const maker = await place(a, { side: 'Sell', price: '3000', quantity: '0.5' });
    const taker = await place(b, { side: 'Buy', price: '3000', quantity: '0.5' });
    await eventually(async () => seen.a.length === 2 && seen.b.length === 2);
    await rest();
    assert.deepEqual(statusesOf(seen.a), ['Pending', 'Rollbacked']);
    assert.deepEqual(statusesOf(seen.b), ['Pending', 'Rollbacked']);
    assert.equal(seen.a[1]?.rollbackReason, 'CounterpartyAtFault');
    assert.equal(seen.b[1]?.rollbackReason, 'InsufficientInventory');
    assert.deepEqual(await a.depth(ETH).then(({ asks, bids }) => ({ asks, bids })), {
      asks: [{ price: '3000', quantity: '0.5' }],
      bids: [],
    });
    await eventually(() => eventsOf(events.b, taker).length === 2 && events.a.length > 0);
    assert.deepEqual(eventsOf(events.a, maker), ['Created']);
    assert.deepEqual(eventsOf(events.b, taker), ['Created', 'Canceled InsufficientInventory']);
    assert.equal((await a.orderRecord(ETH, maker)).status, 'Open');
    assert.equal(await held(b, '0'), '0');
    await place(b, { side: 'Buy', price: '3000', quantity: '0.5' });
    await eventually(async () => seen.a.length === 4);
    assert.equal(seen.a[3]?.status, 'Confirmed', 'the restored maker trades');
    await eventually(async () => events.a.length === 2);
    assert.deepEqual(eventsOf(events.a, maker), ['Created', 'Removed Filled']);
    await ledgerAddsUp();
  });

  test('durable acks are sent after the flush, optimistic ones before it', async () => {
    // One answer that was there first is enough: a slow machine may look at the journal too late.
    let isFlushedFirst = true;
    for (let delayMs = 400; isFlushedFirst && delayMs < HEARTBEAT_LOST_MS; delayMs += 300) {
      await hook({ delay_ms: delayMs });
      isFlushedFirst = await flushedBeforeAck();
    }
    assert.ok(!isFlushedFirst, 'an optimistic answer does not wait for clearing');
    const settings = await operator(node, 'PATCH', '/operator/settings', { acks: 'durable' });
    assert.equal(settings.status, 200, settings.text);
    assert.ok((await flushedBeforeAck()) === true, 'a durable answer comes when the flush is done');
    await hook({ delay_ms: 0 });
    await operator(node, 'PATCH', '/operator/settings', { acks: 'optimistic' });
  });

  /** Whether the journal has grown by the order when its create is answered. */
  async function flushedBeforeAck(): Promise<boolean> {
    await rest();
    // Read from shared memory: no question that clearing answers when it is done.
    const before = await metric('ringbook_journal_sequence');
    const order = await a.order({ assetId: BTC, side: 'Sell', price: '70000', quantity: '0.001' });
    await a.create(order);
    return (await metric('ringbook_journal_sequence')) > before;
  }

  test('a client that stops reading its order events is told to resync and closed with 1013 and one line of the log; others go on (AMB-94, MCH-08)', async () => {
    const head = await sessionHeaders(node, 'a');
    const slow = new WebSocket(`${node.oms.replace('http', 'ws')}/orders`, { headers: head });
    const closed = new Promise<string>((resolve) => {
      slow.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`));
    });
    await new Promise((resolve) => slow.once('open', resolve));
    const events = await watch(a.orderEvents());
    const control = await a.control();
    let made = 0;
    const make = async (count: number): Promise<void> => {
      const batch = await Promise.all(Array.from({ length: count }, () => immediate(a)));
      const answers = await Promise.all(batch.map((order) => control.send(a.signCreate(order))));
      made += answers.filter(({ status }) => status === 'Received').length;
    };
    await choke(slow, {
      tell: () =>
        make(1)
          .then(rest)
          .then(() => undefined),
      backlogBytes: () => metric('ringbook_socket_backlog_bytes{service="oms"}'),
    });
    const lagged = (): boolean => node.stderr().includes('a socket fell behind');
    while (!lagged() && made < 20_000) {
      await make(60);
      nudge(slow);
    }
    assert.ok(lagged(), `${made} orders did not make it fall behind`);
    const lines = node
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"socket-lagged"'));
    assert.equal(lines.length, 1, 'one line for each connection');
    const { level, path, address, user, bytes } = JSON.parse(lines[0] ?? '') as Readonly<Record<string, unknown>>;
    // Addresses have no limits in this profile, so none is known.
    assert.deepEqual([level, path, address, user], ['info', '/orders', '', a.userId]);
    assert.ok(Number.isSafeInteger(bytes) && Number(bytes) > 0, `${String(bytes)} bytes`);
    // It has some seconds to read what waits before it is cut off.
    slow.resume();
    assert.equal(await closed, '1013 resync_required');
    await eventually(() => events.length === 2 * made);
    await place(a, { side: 'Sell', price: '3900', quantity: '0.01', timeInForce: { kind: 'IOC' } }).catch(() => '');
    await eventually(async () => events.length === 2 * made + 2);
    control.close();
  });
});

async function immediate(client: RingbookClient): Promise<Awaited<ReturnType<RingbookClient['order']>>> {
  return client.order({
    assetId: ETH,
    side: 'Sell',
    price: '3900',
    quantity: '0.01',
    timeInForce: { kind: 'IOC' },
  });
}

function statusesOf(trades: readonly UserTrade[]): readonly string[] {
  return trades.map(({ status }) => status);
}

function eventsOf(events: readonly OrderEvent[], orderId: string): readonly string[] {
  return events
    .filter((event) => event.orderId === orderId)
    .map((event) => ('reason' in event ? `${event.kind} ${event.reason}` : event.kind));
}

async function sessionHeaders(node: NodeProcess, name: 'a' | 'b'): Promise<Record<string, string>> {
  const key = devKey(name);
  const { value } = (await (await fetch(`${node.oms}/nonce/${key.userId}`)).json()) as { value: string };
  const signature = [...key.sign(Buffer.from(value))];
  const answer = await fetch(`${node.oms}/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user_id: key.userId, nonce: value, signature }),
  });
  const { token } = (await answer.json()) as { token: string };
  return { authorization: `Bearer ${token}`, 'user-id': key.userId };
}

function residentBytesOf(pid: number): number {
  const pages = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1];
  return Number(pages) * 4096;
}
