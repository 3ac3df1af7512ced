// tier: full
/**
 * Twenty times the budget, on a clock that stands still: exactly what the budget holds is done, the rest is refused
 * before anything is verified, others notice nothing, and with the clock the budget comes back.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import type { SocketReader } from '../support/edge-client.ts';
import { metricOf } from '../support/node-process.ts';
import { type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

const SECOND = 1_000_000_000n;
const BUDGET_ACTIONS = 100;
const SOCKETS = 8;
const PER_SOCKET = 250;

suite('a user who sends twenty times the budget', () => {
  let node: TestNode;
  let fast: PlainClient;
  let other: PlainClient;

  before(async () => {
    node = await TestNode.start();
    fast = await node.user();
    other = await node.user();
    await node.operate('PUT', '/operator/rate-limits', {});
  });
  after(() => node?.stop());

  const metric = (name: string): Promise<number> => metricOf(node.process, name);

  async function highWater(actor: string): Promise<number> {
    const { actors } = (await node.operate('GET', '/operator/actors')) as {
      readonly actors: readonly { readonly name: string; readonly mailbox: { readonly high_water: number } }[];
    };
    return actors.find(({ name }) => name === actor)?.mailbox.high_water ?? -1;
  }

  const residentBytes = (): number =>
    Number(readFileSync(`/proc/${node.process.pid}/statm`, 'utf8').split(' ')[1]) * 4_096;

  /** Sends the same create on a socket over and over, all at once, and reads an answer to each. */
  async function flood(socket: SocketReader, frames: readonly string[]): Promise<readonly string[]> {
    for (const frame of frames) socket.socket.send(frame);
    const answers: string[] = [];
    for (const _ of frames) answers.push(await socket.frame());
    return answers;
  }

  test('has exactly what the budget holds done, over any number of sockets; the rest is RateLimited and reaches nothing', async () => {
    const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => fast.stream('/control')));
    const frames = (count: number): readonly string[] =>
      Array.from({ length: count }, () => `{"CreateOrderRequest":${fast.createBody({ quantity: 10 })}}`);
    const before = residentBytes();
    const answers = (await Promise.all(sockets.map((socket) => flood(socket, frames(PER_SOCKET))))).flat();
    const have = (word: string): number => answers.filter((text) => text.includes(word)).length;
    assert.equal(have('"status":"Received"'), BUDGET_ACTIONS);
    assert.equal(have('"reason":"RateLimited"'), SOCKETS * PER_SOCKET - BUDGET_ACTIONS);
    assert.equal(await metric('ringbook_orders_total{result="received"}'), BUDGET_ACTIONS);
    assert.equal(await metric('ringbook_orders_total{result="rejected"}'), 0, 'none of the rest was looked at');
    assert.equal(await metric('ringbook_rate_limited_total{bucket="user"}'), SOCKETS * PER_SOCKET - BUDGET_ACTIONS);
    assert.ok((await highWater('market-0')) <= BUDGET_ACTIONS);
    assert.ok(residentBytes() - before < 64 * 1_048_576, 'refusals are not kept');

    assert.equal(toldBy(await fast.send('DELETE', '/orders/cancel-all')), '429 RATE_LIMITED');
    assert.equal((await other.create({ quantity: 10 })).status, 200, 'another user notices nothing');

    await node.advance(SECOND);
    const [first] = sockets;
    assert.ok(first !== undefined);
    const again = await flood(first, frames(3 * BUDGET_ACTIONS));
    const received = again.map((text) => text.includes('"status":"Received"'));
    assert.equal(received.filter(Boolean).length, BUDGET_ACTIONS, 'one second, one budget');
    for (const { socket } of sockets) socket.close();
    await node.advance(SECOND);
    assert.equal((await fast.send('DELETE', '/orders/cancel-all')).status, 202);
    await node.rest();
    await node.ledgerAddsUp();
    const book = JSON.parse((await fast.market('/marketdepth/2')).text) as { readonly asks: readonly unknown[] };
    assert.equal(book.asks.length, 1, 'only the other user is left in the book');
  });

  test('a budget for all that is too small refuses all users alike, and charges none', async () => {
    await node.operate('PUT', '/operator/rate-limits', { global: { units_per_second: 100, capacity: 100 } });
    const path = (client: PlainClient): string => `/inventory/user/${client.id}`;
    const statuses = await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const client = index % 2 === 0 ? fast : other;
        return (await client.get(path(client))).status;
      }),
    );
    assert.equal(statuses.filter((status) => status === 200).length, 50);
    assert.equal(statuses.filter((status) => status === 429).length, 350);
    const left = await Promise.all(
      [fast, other].map(async ({ id }) =>
        Number((await node.operate('GET', `/operator/rate-limits/${id}`))['user_units']),
      ),
    );
    assert.equal(
      left.reduce((sum, units) => sum + units, 0),
      300,
      'what was paid is what was done',
    );
    await node.advance(SECOND);
    assert.equal((await other.get(path(other))).status, 200);
  });
});
