// tier: full, 90 s
/** What survives a takeover, row by row of cluster.md 8, on real nodes: two of them, three servers, chains that both see. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import test from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { CHAIN_DEV, seedAddress } from '../../src/operator/seed-data.ts';
import { inVenue, PATIENT, TOKEN } from '../support/cluster-venue.ts';
import { SocketReader } from '../support/edge-client.ts';
import { barrier, operator } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { errorOf, type PlainClient } from '../support/plain-client.ts';

const ASSET = `${TOKEN}@${CHAIN_DEV}`;
const JUMP = 1_000_000;
const UNIT = 10n ** 18n;

/** The trades of a user, the newest first, of one status. */
async function tradesOf(user: PlainClient): Promise<readonly { readonly trade_id: number; readonly status: string }[]> {
  const page = (await user.read(`/trades/user/${user.id}?limit=100`)) as { trades?: never[]; items?: never[] };
  return (page.trades ?? page.items ?? (page as never)) as readonly { trade_id: number; status: string }[];
}

/** Reads of users and of markets that a takeover changes nothing of: what is shown of time now is left out. */
async function reads(users: readonly PlainClient[]): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const user of users) {
    for (const path of [
      `/inventory/user/${user.id}`,
      `/orders/user/${user.id}?limit=100`,
      `/orders/user/${user.id}?limit=100&open_only=true`,
      `/trades/user/${user.id}?limit=100`,
      `/positions/${user.id}`,
      `/withdrawal/queue/${user.id}`,
      `/sub-accounts/user/${user.id}`,
      `/account/nonces/${user.id}/${CHAIN_DEV}`,
    ])
      all[path] = await user.read(path);
  }
  const [reader] = users;
  assert.ok(reader !== undefined);
  for (const path of ['/klines/2', '/trades/2', '/marketdepth/2']) {
    const { status, text } = await reader.market(path);
    assert.equal(status, 200, `${path}: ${text}`);
    all[path] = JSON.parse(text);
  }
  return all;
}

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, one) =>
      /^(?:sequence|sequence_number|as_of_ns|timestamp_ns)$/.test(name) ? undefined : one,
    ),
  );

async function trade(maker: PlainClient, taker: PlainClient, price: number): Promise<void> {
  for (const [user, side] of [
    [maker, 'Sell'],
    [taker, 'Buy'],
  ] as const) {
    const answer = await user.create({ side, price, quantity: 1_000 });
    assert.equal(answer.status, 200, answer.text);
  }
}

test('every row of cluster.md 8: kill -9 of the leader with `on_takeover` cancel, then a handover with keep', {
  timeout: 180_000,
}, async (t) => {
  await inVenue(t, PATIENT, async (venue) => {
    const alice = venue.user(1);
    const bob = venue.user(2);
    await alice.login();
    await bob.login();
    await venue.operate('PATCH', '/operator/settings', { on_takeover: 'cancel', acks: 'durable' });

    // Confirmed trades, resting orders, one of a connection that cancels on disconnect, and a timer of Bob's.
    for (let price = 300_000; price < 300_500; price += 100) await trade(alice, bob, price);
    const resting = alice.newId();
    assert.equal((await alice.create({ id: resting, side: 'Sell', price: 400_000 })).status, 200);
    const control = await SocketReader.open(
      Number(new URL(venue.node.oms).port),
      '/control?cancel_on_disconnect=true',
      [],
      alice.headers,
    );
    const bound = alice.newId();
    control.socket.send(`{"CreateOrderRequest":${alice.createBody({ id: bound, side: 'Sell', price: 410_000 })}}`);
    assert.match(await control.frame(), /Received/);
    const timed = bob.newId();
    assert.equal((await bob.create({ id: timed, side: 'Buy', price: 200_000 })).status, 200);
    assert.equal((await bob.post('/orders/cancel-all-after', '{"timeout_ms":3600000}')).status, 200);
    // A numbered stream.
    const numbered = await SocketReader.open(
      Number(new URL(venue.node.oms).port),
      '/orders?sequence=true',
      ['svc.ws.v1'],
      alice.headers,
    );
    const from = JSON.parse(await numbered.frame()).sequence as number;

    // A deposit, and a withdrawal whose approval is out.
    await venue.deposit(alice.id, 5_000_000);
    assert.equal(
      (await alice.withdraw({ asset: ASSET, amount: (2n * UNIT).toString(), target: seedAddress('7c') })).status,
      200,
    );
    await venue.operate('POST', '/operator/clock', { advance_ns: 31_000_000_000 });
    venue.aheadNs = 31_000_000_000n;
    const queue = async (): Promise<readonly { status: string; approvals: unknown }[]> =>
      (await alice.read(`/withdrawal/queue/${alice.id}`)) as never;
    await eventually(
      async () => (await queue()).some((row) => JSON.stringify(row).includes('signature')),
      () => 'no approval',
    );
    await barrier(venue.node);
    await eventually(
      async () => (await tradesOf(alice)).every(({ status }) => status === 'Confirmed'),
      () => 'trades are pending',
    );
    const before = await reads([alice, bob]);
    const chainBefore = await venue.operate('GET', `/operator/chains/${CHAIN_DEV}/counters?user=${alice.id}`);
    const newest = Math.max(...(await tradesOf(alice)).map(({ trade_id }) => trade_id));

    // A follower's listener of operators (docs/reference/operator-api.md 2).
    const b = venue.world.node('b');
    for (const [method, path, code] of [
      ['GET', '/operator/actors', 200],
      ['GET', '/operator/wall-clock', 200],
      ['GET', '/operator/ledger', 503],
      ['PATCH', '/operator/settings', 503],
      ['POST', '/operator/barrier', 503],
      ['POST', `/operator/chains/${CHAIN_DEV}/mine`, 503],
    ] as const) {
      const answer = await operator(b, method, path, method === 'GET' ? undefined : {});
      assert.equal(answer.status, code, `${method} ${path}: ${answer.text}`);
      if (code === 503) assert.match(answer.text, /"NOT_LEADER".*"epoch":1/, path);
    }
    assert.match(await (await fetch(`${b.ops}/metrics`)).text(), /ringbook_cluster_state\{state="following"\} 1/);
    assert.equal((await fetch(`${b.ops}/`)).status, 200);

    // ---- the leader dies
    const oldToken = alice.token;
    await venue.world.node('a').kill();
    await venue.follows('b', 2);
    // Time goes on from the last record: the seconds without a leader are not in it.
    venue.aheadNs -= 10_000_000_000n;

    const over = await alice.get(`/inventory/user/${alice.id}`);
    assert.deepEqual([over.status, errorOf(over).code], [401, 'UNAUTHORIZED'], 'sessions are gone');
    await alice.login();
    await bob.login();
    assert.notEqual(alice.token, oldToken);

    const open = async (user: PlainClient): Promise<readonly string[]> => {
      const page = JSON.stringify(await user.read(`/orders/user/${user.id}?limit=100&open_only=true`));
      return [resting, bound, timed].filter((id) => page.includes(`"${id}"`));
    };
    assert.deepEqual(await open(alice), [resting], 'the order of the connection is cancelled, the other rests');
    assert.deepEqual(await open(bob), [], 'the orders of a user with a timer are cancelled');
    const taken = await alice.create({ id: resting, side: 'Sell', price: 420_000 });
    assert.match(taken.text, /DUPLICATE_ORDER|DuplicateOrder/, `ids stay taken: ${taken.status} ${taken.text}`);
    const again = await alice.create({ id: bound, side: 'Sell', price: 420_000 });
    assert.match(again.text, /DUPLICATE_ORDER|DuplicateOrder/, 'also of what was cancelled');

    const after = await reads([alice, bob]);
    for (const path of Object.keys(before)) {
      if (/open_only|marketdepth|orders\/user|inventory/.test(path)) continue;
      assert.deepEqual(withoutTimes(after[path]), withoutTimes(before[path]), path);
    }
    const late = await SocketReader.open(
      Number(new URL(venue.node.oms).port),
      `/orders?from_sequence=${from}`,
      ['svc.ws.v1'],
      alice.headers,
    );
    assert.equal(JSON.parse(await late.frame()).error.code, 'RESYNC_REQUIRED');
    const anew = await SocketReader.open(
      Number(new URL(venue.node.oms).port),
      '/orders?sequence=true',
      ['svc.ws.v1'],
      alice.headers,
    );
    assert.ok(JSON.parse(await anew.frame()).sequence > from);

    await trade(alice, bob, 299_000);
    await eventually(
      async () => Math.max(...(await tradesOf(alice)).map(({ trade_id }) => trade_id)) > newest,
      () => 'no trade',
    );
    const jumped = Math.max(...(await tradesOf(alice)).map(({ trade_id }) => trade_id));
    assert.ok(jumped - newest >= JUMP, `trade ids jump: ${newest}, ${jumped}`);

    // The chain goes on where it was, and the approval is the one from before.
    assert.deepEqual(
      await venue.operate('GET', `/operator/chains/${CHAIN_DEV}/counters?user=${alice.id}`),
      chainBefore,
    );
    const owned = await venue.owned();
    await venue.deposit(alice.id, 3_000_000);
    assert.equal((await venue.owned()) - owned, 3);
    const payout = { user: alice.id, nonce: 0 };
    const paid = await operator(venue.node, 'POST', `/operator/chains/${CHAIN_DEV}/withdrawals/execute`, payout);
    assert.deepEqual([paid.status, paid.body['status']], [200, 'mined'], paid.text);
    assert.equal(
      JSON.stringify(after[`/withdrawal/queue/${alice.id}`]).includes('signature'),
      true,
      'it was shown, and equal, above',
    );

    // ---- a handover, with the marks kept
    venue.world.node('a').launch();
    await venue.world.node('a').until('following');
    await venue.operate('PATCH', '/operator/settings', { on_takeover: 'keep' });
    await bob.post('/orders/cancel-all-after', '{"timeout_ms":3600000}');
    const kept = bob.newId();
    assert.equal((await bob.create({ id: kept, side: 'Buy', price: 200_000 })).status, 200);
    const newestOfB = Math.max(...(await tradesOf(alice)).map(({ trade_id }) => trade_id));
    await barrier(venue.node);
    const beforeHandover = await reads([alice, bob]);
    assert.equal(await b.stop(), 0, b.stderr);
    await venue.follows('a', 3);
    await alice.login();
    await bob.login();
    assert.match(JSON.stringify(await bob.read(`/orders/user/${bob.id}?limit=100&open_only=true`)), new RegExp(kept));
    assert.deepEqual(withoutTimes(await reads([alice, bob])), withoutTimes(beforeHandover), 'every read is as it was');
    await trade(alice, bob, 298_000);
    await eventually(
      async () => Math.max(...(await tradesOf(alice)).map(({ trade_id }) => trade_id)) > newestOfB,
      () => 'no trade',
    );
    const next = Math.max(...(await tradesOf(alice)).map(({ trade_id }) => trade_id));
    assert.ok(next - newestOfB < JUMP, `no jump after a handover: ${newestOfB}, ${next}`);
    const ledger = await venue.operate('GET', '/operator/ledger');
    for (const figures of Object.values(ledger['assets'] as Record<string, { difference: string }>))
      assert.equal(figures.difference, '0');
    control.socket.terminate();
  });
});

/** Bytes that lie in the socket of a process that is stopped. */
async function sendTo(
  port: number,
  request: string,
): Promise<{ readonly socket: Socket; readonly text: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.write(request);
  await wait(1);
  return { socket, text: () => text };
}

test('a leader that is stopped for longer than its lease with requests in its sockets, and goes on, takes none of them (cluster.md 7.2, 7.4)', {
  timeout: 120_000,
}, async (t) => {
  await inVenue(t, {}, async (venue) => {
    const alice = venue.user(1);
    await alice.login();
    await venue.operate('PATCH', '/operator/settings', { acks: 'optimistic' });
    const resting = alice.newId();
    assert.equal((await alice.create({ id: resting, price: 400_000 })).status, 200);
    await barrier(venue.node);
    const a = venue.node;
    const port = Number(new URL(a.oms).port);
    const control = await SocketReader.open(port, '/control', [], alice.headers);
    const request = (method: string, path: string, body: string): string =>
      `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: ${alice.headers['authorization']}\r\n` +
      `user-id: ${alice.id}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    a.pause();
    const rest = await Promise.all(
      Array.from({ length: 20 }, () =>
        sendTo(port, request('POST', '/orders/create', alice.createBody({ price: 410_000 }))),
      ),
    );
    const cancelled = await sendTo(port, request('DELETE', '/orders/cancel', alice.cancelBody(resting)));
    const ids = Array.from({ length: 20 }, () => alice.newId());
    for (const id of ids) control.socket.send(`{"CreateOrderRequest":${alice.createBody({ id, price: 420_000 })}}`);
    await venue.world.untilLeading(2);
    const frames: string[] = [];
    control.socket.on('message', (frame) => frames.push(String(frame)));
    a.resume();
    assert.equal(await a.ended, 75, a.stderr);
    await wait(50);
    for (const { text } of rest) assert.doesNotMatch(text(), /^HTTP\/1\.1 200/, 'a create is not received');
    assert.doesNotMatch(cancelled.text(), /^HTTP\/1\.1 200/, 'a cancel is answered when it is stored, and it never is');
    for (const frame of frames) assert.doesNotMatch(frame, /"Received"/);
    t.diagnostic(
      `answers: ${rest.filter(({ text }) => text().startsWith('HTTP/1.1 503')).length} times 503, ${frames.length} frames`,
    );
    venue.name = 'b';
    await venue.follows('b', 2);
    await alice.login();
    const page = JSON.stringify(await alice.read(`/orders/user/${alice.id}?limit=100&open_only=true`));
    assert.match(page, new RegExp(`"${resting}"`));
    for (const id of ids) assert.doesNotMatch(page, new RegExp(`"${id}"`));
  });
});
