// tier: full, 20 s
/**
 * A client with the addresses of a cluster (cluster.md 11) finds the leader with the highest epoch, moves when it is lost, and
 * repeats only what had no effect.
 */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, suite, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { RingbookClient } from '../../src/client/client.ts';
import { generateSeed, keyFromSeed } from '../../src/client/keys.ts';
import { eventually } from '../support/patience.ts';

type State = 'following' | 'leading' | 'stalled';
const NOT_LEADER = { error: { code: 'NOT_LEADER', message: 'another node leads', retryable: true, details: null } };

const UNKNOWN_TOKEN = [401, { error: { ...NOT_LEADER.error, code: 'UNAUTHORIZED' } }] as const;

/** A process of a cluster, as far as clients see it. */
class Service {
  state: State = 'following';
  epoch = 1;
  /** What `/system/leader` names. */
  leader: string | null = null;
  role: 'node' | 'replica' = 'node';
  /** Requests by method and path, those for the leader not counted. */
  readonly requests: string[] = [];
  readonly sockets: WebSocket[] = [];
  logins = 0;
  /** Closes the connection of a request without an answer. */
  drops = false;
  readonly #server: Server;
  base = '';

  constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      request.resume();
      const isKnown = request.headers.authorization?.startsWith(`Bearer ${this.base}`) ?? true;
      request.on('end', () => this.#answer(`${request.method} ${path.split('?')[0]}`, isKnown, response));
    });
    const webSockets = new WebSocketServer({
      server: this.#server,
      handleProtocols: (offered) => [...offered][0] ?? false,
    });
    webSockets.on('connection', (socket) => this.sockets.push(socket));
  }

  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    this.base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  close(): void {
    for (const socket of this.sockets) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: string, isKnown: boolean, response: ServerResponse): void {
    if (request !== 'GET /system/leader') this.requests.push(request);
    if (this.drops) response.destroy();
    else reply(response, ...(isKnown ? this.#replyTo(request) : UNKNOWN_TOKEN));
  }

  #replyTo(request: string): readonly [status: number, body: unknown] {
    const { role, state, epoch } = this;
    const leader = this.leader === null ? null : { node: 'a', oms: this.leader, mds: null };
    if (request === 'GET /system/leader') return [200, { role, state, epoch, sequence: 5, leader }];
    if (state === 'following' && role === 'node') return [503, NOT_LEADER];
    if (request.startsWith('GET /nonce')) return [200, { value: 'n'.repeat(43) }];
    if (request !== 'POST /auth') return [200, []];
    this.logins += 1;
    return [200, { token: `${this.base}-${this.logins}`, expiry_ns: 9_000_000_000_000_000_000 }];
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

suite('a client with several addresses', () => {
  const open: Service[] = [];
  after(() => {
    for (const service of open) service.close();
  });

  async function services(count: number): Promise<readonly Service[]> {
    const made = await Promise.all(Array.from({ length: count }, () => new Service().open()));
    open.push(...made);
    return made;
  }

  function pair(made: readonly Service[]): readonly [Service, Service] {
    const [first, second] = made;
    assert.ok(first !== undefined && second !== undefined);
    return [first, second];
  }

  function clientOf(made: readonly Service[], epochs: number[] = []): RingbookClient {
    return new RingbookClient({
      oms: made.map(({ base }) => base),
      mds: made.map(({ base }) => base),
      key: keyFromSeed(generateSeed()),
      onReconnected: ({ epoch }) => epochs.push(epoch),
    });
  }

  test('asks nothing of one address', async () => {
    const [service] = await services(1);
    assert.ok(service !== undefined);
    const client = new RingbookClient({ oms: service.base });
    await assert.rejects(client.markets(), { code: 'NOT_LEADER' });
    assert.deepEqual(service.requests, ['GET /markets']);
    client.close();
  });

  test('repeats at the leader what a follower refused with NOT_LEADER', async () => {
    const made = await services(2);
    const [first, second] = pair(made);
    second.state = 'leading';
    second.epoch = 3;
    const epochs: number[] = [];
    const client = clientOf(made, epochs);
    await client.markets();
    await client.markets();
    assert.deepEqual(first.requests, ['GET /markets'], 'one question, then the leader is known');
    assert.deepEqual(epochs, [3]);
    client.close();
  });

  test('uses the leader with the highest epoch where two say that they lead', async () => {
    const made = await services(3);
    const [first, second] = pair(made);
    const third = made[2];
    assert.ok(third !== undefined);
    for (const [service, epoch] of [
      [second, 4],
      [third, 5],
    ] as const) {
      service.state = 'leading';
      service.epoch = epoch;
    }
    const client = clientOf(made);
    await client.markets();
    assert.deepEqual([first.requests.length, second.requests.length, third.requests.length], [1, 0, 1]);
    client.close();
  });

  test('uses an address that is not in its list where an answer names it', async () => {
    const made = await services(2);
    const [leader] = await services(1);
    assert.ok(leader !== undefined);
    leader.state = 'leading';
    leader.epoch = 2;
    for (const service of made) {
      service.epoch = 2;
      service.leader = leader.base;
    }
    const client = clientOf(made);
    await client.markets();
    assert.deepEqual(leader.requests, ['GET /markets']);
    client.close();
  });

  test('logs in again at the next leader when the one before is gone, and repeats no action that may have happened', async () => {
    const made = await services(2);
    const [first, second] = pair(made);
    first.state = 'leading';
    const epochs: number[] = [];
    const client = clientOf(made, epochs);
    await client.login();
    assert.equal(first.logins, 1);

    // An action that the leader received and did not answer is not sent again.
    first.drops = true;
    second.state = 'leading';
    second.epoch = 2;
    await assert.rejects(client.logout(), { code: 'CONNECTION_CLOSED' });
    assert.equal(second.requests.length, 0);

    first.close();
    await client.orders().catch(() => undefined);
    assert.equal(second.logins, 1);
    assert.ok(second.requests.some((request) => request.startsWith('GET /orders/user/')));
    assert.deepEqual(epochs.at(-1), 2);
    client.close();
  });

  test('gives up after its time when no address leads, with the last refusal', { timeout: 60_000 }, async () => {
    const made = await services(2);
    const client = clientOf(made);
    const fromMs = performance.now();
    await assert.rejects(client.markets(), { code: 'NOT_LEADER' });
    assert.ok(performance.now() - fromMs < 30_000);
    client.close();
  });

  test('opens /control again at the next leader, and what was in flight fails with an unknown outcome', async () => {
    const made = await services(2);
    const [first, second] = pair(made);
    first.state = 'leading';
    const client = clientOf(made);
    let reconnections = 0;
    const control = await client.control({ onReconnected: () => (reconnections += 1) });
    await eventually(
      () => first.sockets.length === 1,
      () => 'no socket',
    );
    const pending = control.send(client.signCancel('1', 'o-1'));
    second.state = 'leading';
    second.epoch = 2;
    first.close();
    await assert.rejects(pending, { code: 'CONNECTION_CLOSED' });
    await eventually(
      () => control.isOpen && reconnections === 1,
      () => 'not connected again',
    );
    assert.equal(second.sockets.length, 1);
    control.close();
    client.close();
  });

  test('finds out within seconds that a leader is silent', { timeout: 30_000 }, async () => {
    const made = await services(2);
    const [first, second] = pair(made);
    first.state = 'leading';
    const client = clientOf(made);
    const control = await client.control();
    await eventually(
      () => first.sockets.length === 1,
      () => 'no socket',
    );
    // A machine that is gone: it answers no ping, and closes nothing.
    for (const socket of first.sockets) socket.pause();
    second.state = 'leading';
    second.epoch = 2;
    const fromMs = performance.now();
    await eventually(
      () => second.sockets.length === 1,
      () => 'it stays at the silent one',
    );
    assert.ok(performance.now() - fromMs < 8_000);
    control.close();
    client.close();
  });
});
