// tier: full, 7 s
/**
 * The `test` profile over a whole node (operator-api.md 1, 7.1, 8): a clock that stands still until it is moved, chains
 * that mine on request, no seeded user; everything with a meaning happens by that clock alone.
 */

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { OrderEvent } from '../../src/client/order-events.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { ETH, USD } from '../support/names.ts';
import { barrier, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const START_NS = 1_800_000_000_000_000_000n;
const SECOND_NS = 1_000_000_000n;
const DEV_CHAIN = '000000000000007a69';
const SLOW_CHAIN = '000000000000000001';
const token = (byte: string): string => byte.repeat(20);
const A = devKey('a');
const B = devKey('b');

suite('a test node', () => {
  const dataDirectory = temporaryDirectory();
  let node: NodeProcess;
  let nowNs = START_NS;

  before(async () => {
    node = await startNode({ profile: 'test', dataDirectory });
  });

  after(async () => {
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    removeDirectory(dataDirectory);
  });

  /** A client on the node's clock; no two of its stamps are equal. */
  function clientOf(key: typeof A): RingbookClient {
    let stamps = 0n;
    return new RingbookClient({
      oms: node.oms,
      mds: node.mds,
      key,
      nowNs: () => {
        stamps += 1n;
        return nowNs + stamps;
      },
    });
  }

  /** Exact digits: nanoseconds exceed what JSON.parse keeps. */
  async function clock(body?: string): Promise<{ status: number; nowNs: bigint; text: string }> {
    const { status, text } = await operator(node, body === undefined ? 'GET' : 'POST', '/operator/clock', body);
    return { status, nowNs: BigInt(/"now_ns":(\d+)/.exec(text)?.[1] ?? '0'), text };
  }

  async function advance(byNs: bigint): Promise<void> {
    const moved = await clock(`{"advance_ns":${byNs}}`);
    assert.equal(moved.status, 200, moved.text);
    nowNs += byNs;
    assert.equal(moved.nowNs, nowNs);
  }

  async function nonceOf(key: typeof A): Promise<string> {
    const answer = await fetch(`${node.oms}/nonce/${key.userId}`);
    return ((await answer.json()) as { value: string }).value;
  }

  async function auth(key: typeof A, nonce: string): Promise<{ status: number; text: string }> {
    const signature = [...key.sign(Buffer.from(nonce))];
    const answer = await fetch(`${node.oms}/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: key.userId, nonce, signature }),
    });
    return { status: answer.status, text: await answer.text() };
  }

  async function chain(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await operator(node, 'POST', `/operator/chains/${path}`, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async function owned(key: typeof A, asset: AssetId): Promise<string> {
    const view = await operator(node, 'GET', `/operator/users/${key.userId}`);
    const accounts = view.body['sub_accounts'] as Record<string, { balances: Record<string, { owned: string }> }>;
    return accounts?.['0']?.balances[asset]?.owned ?? '0';
  }

  test('the clock stands at its start, moves on request only, and never back', async () => {
    assert.equal((await clock()).text, `{"mode":"manual","now_ns":${START_NS}}`);
    await aMoment(30);
    assert.equal((await clock()).nowNs, START_NS);
    await advance(61n * SECOND_NS);
    const back = await clock(`{"set_ns":${START_NS}}`);
    assert.equal(back.status, 409);
    assert.match(back.text, /CLOCK_BACKWARDS/);
    for (const body of [
      '{}',
      '{"advance_ns":1,"set_ns":1}',
      '{"advance_ns":-1}',
      '{"advance_ns":1.5}',
      '{"ahead":1}',
    ]) {
      assert.equal((await clock(body)).status, 400, body);
    }
    nowNs += 1n;
    assert.equal((await clock(`{"set_ns":${nowNs}}`)).nowNs, nowNs);
  });

  test('no user is seeded, the markets are', async () => {
    for (const key of [A, B]) assert.equal((await operator(node, 'GET', `/operator/users/${key.userId}`)).status, 404);
    assert.equal((await clientOf(A).markets()).length, 3);
  });

  test('a market that has done nothing yet can be changed, and opens once (operator-api.md 4.3)', async () => {
    for (const status of ['Halted', 'Active']) {
      const changed = await operator(node, 'PATCH', '/operator/markets/3', { status });
      assert.deepEqual([changed.status, changed.body['status']], [200, status], changed.text);
    }
    await barrier(node);
  });

  test('a nonce is the same until 10 s before its end, then a new one; it ends after 5 minutes (SES-03 to SES-05)', async () => {
    const first = await nonceOf(A);
    await advance(290n * SECOND_NS - 1n);
    assert.equal(await nonceOf(A), first);
    await advance(1n);
    const second = await nonceOf(A);
    assert.notEqual(second, first);
    await advance(300n * SECOND_NS);
    const late = await auth(A, second);
    assert.deepEqual([late.status, /NONCE_EXPIRED/.test(late.text)], [400, true], late.text);
  });

  test('a token lives for 24 hours of the clock, to the nanosecond (SES-09, AMB-86)', async () => {
    const { status, text } = await auth(A, await nonceOf(A));
    assert.equal(status, 200, text);
    const expiryNs = BigInt(/"expiry_ns":(\d+)/.exec(text)?.[1] ?? '0');
    assert.equal(expiryNs, nowNs + 86_400n * SECOND_NS);
    const bearer = (JSON.parse(text) as { token: string }).token;
    const headers = { authorization: `Bearer ${bearer}`, 'user-id': A.userId };
    const ask = async (): Promise<number> =>
      (await fetch(`${node.oms}/inventory/user/${A.userId}`, { headers })).status;
    await advance(86_400n * SECOND_NS - 1n);
    assert.equal(await ask(), 200);
    await advance(1n);
    assert.equal(await ask(), 401);
  });

  test('a deposit counts after its confirmations, once, also after a restart (DEP-08, DEP-10)', async () => {
    const deposit = { user: A.userId, token: token('c0'), amount_base_units: '5000000' };
    const unconfirmed = await chain(`${SLOW_CHAIN}/deposits`, { ...deposit, confirm: false });
    assert.equal(unconfirmed['status'], 'mined');
    assert.equal(await owned(A, USD), '0');
    await chain(`${SLOW_CHAIN}/mine`, { blocks: 2 });
    assert.equal(await owned(A, USD), '0', 'three of four confirmations');
    await chain(`${SLOW_CHAIN}/mine`, { blocks: 1 });
    assert.equal(await owned(A, USD), '5');
    await chain(`${DEV_CHAIN}/deposits`, { ...deposit, token: token('5a'), amount_base_units: '995000000' });
    assert.equal(await owned(A, USD), '1000');
    for (const [key, asset, byte, units] of [
      [A, ETH, '6b', 2],
      [B, ETH, '6b', 3],
    ] as const) {
      const amount = (BigInt(units) * 10n ** 18n).toString();
      await chain(`${DEV_CHAIN}/deposits`, { user: key.userId, token: token(byte), amount_base_units: amount });
      assert.equal(await owned(key, asset), String(units));
    }
    assert.equal(await stopNode(node, 'SIGKILL'), 'SIGKILL');
    node = await startNode({ profile: 'test', dataDirectory });
    assert.deepEqual([await owned(A, USD), await owned(A, ETH), await owned(B, ETH)], ['1000', '2', '3']);
    await chain(`${SLOW_CHAIN}/mine`, { blocks: 5 });
    assert.deepEqual([await owned(A, USD), await owned(A, ETH), await owned(B, ETH)], ['1000', '2', '3']);
    const counters = await operator(node, 'GET', `/operator/chains/${SLOW_CHAIN}/counters?user=${A.userId}`);
    assert.equal(counters.body['depositCounts'], 1);
  });

  test('a restart does not put the clock back, killed or stopped', async () => {
    assert.equal((await clock()).nowNs, nowNs);
    await advance(7n * SECOND_NS);
    await stopNode(node, 'SIGKILL');
    node = await startNode({ profile: 'test', dataDirectory });
    assert.equal((await clock()).nowNs, nowNs);
    await advance(SECOND_NS);
    assert.equal(await stopNode(node), 0, node.stderr());
    node = await startNode({ profile: 'test', dataDirectory });
    assert.equal((await clock()).nowNs, nowNs);
  });

  test('a GTD order ends when the clock reaches its time, not a nanosecond before (TIF-03)', async () => {
    const a = clientOf(A);
    await a.login();
    const stream = await a.orderEvents();
    const events: OrderEvent[] = [];
    stream.listen((event) => events.push(event));
    const goodUntilNs = nowNs + 100n * SECOND_NS;
    const order = await a.order({
      assetId: ETH,
      side: 'Sell',
      price: '3000',
      quantity: '1',
      target: { account: 0, isSpot: true },
      timeInForce: { kind: 'GTD', timestampNs: goodUntilNs },
    });
    assert.equal((await a.create(order)).status, 'Received');
    await advance(100n * SECOND_NS - 1n);
    assert.equal((await a.orderRecord(ETH, order.orderId)).status, 'Open');
    await eventually(() => events.length === 1);
    assert.equal(events[0]?.kind, 'Created');
    await advance(1n);
    assert.equal((await a.orderRecord(ETH, order.orderId)).status, 'Expired');
    await eventually(() => events.length === 2);
    assert.deepEqual(
      events.map((event) => ('reason' in event ? `${event.kind} ${event.reason}` : event.kind)),
      ['Created', 'Removed Expired'],
    );
    assert.deepEqual((await a.depth(ETH)).asks, []);
    stream.close();
    a.close();
  });

  test('the ledger adds up (AMB-116)', async () => {
    const ledger = await operator(node, 'GET', '/operator/ledger');
    const rows = Object.entries(ledger.body['assets'] as Record<string, { difference: string }>);
    assert.deepEqual(
      rows.map(([asset]) => asset),
      [USD, ETH],
    );
    for (const [asset, { difference }] of rows) assert.equal(difference, '0', `asset ${asset}`);
  });
});
