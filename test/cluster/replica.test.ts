// tier: full, 60 s
/**
 * Replicas of market data, and the tape, in a cluster of real processes on real servers (cluster.md 2, 4, 11). Skipped where no server
 * can be had.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { journalBounds } from '../../src/storage/journal.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';
import { type ClusterProcess, clusterEnvironment, initCluster, startProcess } from '../support/cluster-processes.ts';
import { BTC, ETH } from '../support/names.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { OPERATOR_TOKEN } from '../support/node-process.ts';
import { CLI } from '../support/ringbook-command.ts';

const CLUSTER = 'c-1';
const program = natsServer();
const skip = 'missing' in program ? program.missing : false;

async function until(what: string, isSo: () => Promise<boolean> | boolean, withinMs = 30_000): Promise<void> {
  const endMs = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > endMs) assert.fail(`not within ${withinMs} ms: ${what}`);
    await sleep(50);
  }
}

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function get(url: string): Promise<Reply> {
  const reply = await fetch(url);
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

/** The book without its number, which each process counts by itself. */
async function bookOf(mds: string, asset: string): Promise<string> {
  const { body } = await get(`${mds}/marketdepth/${asset}`);
  const { asks, bids } = body;
  return JSON.stringify({ asks, bids });
}

async function operate(ops: string, method: string, path: string, body?: object): Promise<void> {
  const reply = await fetch(`${ops}${path}`, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${await reply.text()}`);
}

suite('a replica of market data', { skip, timeout: 240_000 }, () => {
  let servers: NatsServers;
  let stream: StreamLog;
  let a: ClusterProcess;
  let b: ClusterProcess;
  let replica: ClusterProcess;
  let leader: { readonly oms: string; readonly mds: string; readonly ops: string };
  let mds = '';
  let ops = '';

  /** Both users trade and leave orders in the book. */
  async function trade(rounds: number): Promise<void> {
    const clients = (['a', 'b'] as const).map(
      (name) => new RingbookClient({ oms: leader.oms, mds: leader.mds, key: devKey(name) }),
    );
    const [one, other] = clients;
    assert.ok(one !== undefined && other !== undefined);
    await Promise.all(clients.map((client) => client.login()));
    for (let round = 0; round < rounds; round += 1) {
      const price = 3_000 + (round % 40);
      await one.create(await one.order({ assetId: ETH, side: 'Sell', price: `${price}`, quantity: '0.02' }));
      await other.create(await other.order({ assetId: ETH, side: 'Buy', price: `${price}`, quantity: '0.01' }));
      await other.create(
        await other.order({ assetId: BTC, side: 'Buy', price: `${50_000 - round}`, quantity: '0.0001' }),
      );
    }
    for (const client of clients) client.close();
  }

  async function sameBooks(): Promise<void> {
    for (const asset of [ETH, BTC])
      await until(
        `the replica has the leader's book of ${asset}`,
        async () => (await bookOf(leader.mds, asset)) === (await bookOf(mds, asset)),
      );
    assert.ok((await bookOf(mds, BTC)).length > 100, 'the books have orders');
  }

  /** The last public trades of a process, newest first. */
  async function tradesOf(at: string): Promise<readonly unknown[]> {
    return (await get(`${at}/trades/${ETH}?limit=1000`)).body as unknown as readonly unknown[];
  }

  /** Ids of the trades on the tape, by market, and how often each is there. */
  async function tape(): Promise<ReadonlyMap<string, number>> {
    const ids = new Map<string, number>();
    for (let from = 1; ; ) {
      const messages = await stream.getTape(from);
      const last = messages.at(-1);
      if (last === undefined) return ids;
      for (const { lines } of messages)
        for (const line of Buffer.from(lines).toString('utf8').trimEnd().split('\n')) {
          const { market, trade_id } = JSON.parse(line) as { readonly market: string; readonly trade_id: number };
          ids.set(`${market} ${trade_id}`, (ids.get(`${market} ${trade_id}`) ?? 0) + 1);
        }
      from = last.sequence + 1;
    }
  }

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: CLUSTER, count: 1 });
    initCluster(servers, 1);
    stream = await StreamLog.connect({
      cluster: CLUSTER,
      node: 'test',
      servers: servers.addresses,
      credentialsFile: servers.credentialsOf('replica'),
      tls: null,
      dataVersion: '16',
    });
    a = startProcess(servers, 'a');
    leader = await a.ready();
    await operate(leader.ops, 'PATCH', '/operator/settings', { rate_limits: 'lifted' }).catch(() => undefined);
    b = startProcess(servers, 'b');
    await b.line(({ state }) => state === 'following');
    await trade(20);
    replica = startProcess(servers, 'r1', 'replica');
    ({ mds, ops } = await replica.ready());
  });

  after(async () => {
    await stream?.close();
    for (const one of [a, b, replica]) one?.child.kill('SIGKILL');
    servers?.close();
  });

  test('has the books, trades and klines of the leader, also what is from before it was started', async () => {
    await sameBooks();
    await until(
      'the trades',
      async () => JSON.stringify(await tradesOf(mds)) === JSON.stringify(await tradesOf(leader.mds)),
    );
    assert.equal((await tradesOf(mds)).length, 20);
    await trade(20);
    await sameBooks();
    await until('the new trades', async () => (await tradesOf(mds)).length === 40);
    const rows = async (at: string): Promise<string> =>
      JSON.stringify((await get(`${at}/klines/${ETH}?limit=1000`)).body);
    await until('the klines', async () => (await rows(mds)) === (await rows(leader.mds)));
  });

  test('serves public reads alone, and names the leader', async () => {
    const { body } = await get(`${mds}/system/leader`);
    assert.equal(body['role'], 'replica');
    assert.equal(body['state'], 'following');
    assert.equal((body['leader'] as { readonly node?: string } | null)?.node, 'a');
    const own = await get(`${mds}/orders/user/${devKey('a').userId}`);
    assert.equal(own.status, 503);
    assert.match(JSON.stringify(own.body), /NOT_LEADER/);
    assert.equal((await get(`${ops}/readyz`)).status, 200);
    assert.equal((await get(`${ops}/system/leader`)).body['role'], 'replica');
    const metrics = await (await fetch(`${ops}/metrics`)).text();
    assert.match(metrics, /^ringbook_replica_gaps_total 0$/m);
    assert.match(metrics, /^ringbook_replica_lag_seconds [0-9.e-]+$/m);
    assert.match(metrics, /^ringbook_cluster_state\{state="following"\} 1$/m);
  });

  test('after a takeover it follows the new leader, and the tape has every confirmed trade', async () => {
    a.child.kill('SIGKILL');
    await a.ended;
    leader = await b.ready();
    await trade(20);
    await sameBooks();
    assert.equal((await get(`${mds}/system/leader`)).body['epoch'], 2);
    await until('the trades of both leaders', async () => (await tradesOf(mds)).length >= 60);
    assert.deepEqual(await tradesOf(mds), await tradesOf(leader.mds));
    const { exported, last } = await withReader(b.dataDirectory, (reader) => ({
      last: journalBounds(reader).lastSequence,
      exported: [...exportLines(reader, 'trades')],
    }));
    const followed = spawnSync(process.execPath, [CLI, 'follow', '--to', `${last}`, 'trades'], {
      env: clusterEnvironment(servers, 'f', 'follower'),
      encoding: 'utf8',
    });
    assert.equal(followed.status, 0, followed.stderr);
    const lines = followed.stdout.trimEnd().split('\n');
    assert.deepEqual(lines.map((line) => line.replace(/"sequence":\d+,"index":\d+,/, '')).sort(), [...exported].sort());
    const wanted = await withReader(b.dataDirectory, (reader) =>
      [...exportLines(reader, 'trades')].map((line) => {
        const { market, trade_id } = JSON.parse(line) as { readonly market: string; readonly trade_id: number };
        return `${market} ${trade_id}`;
      }),
    );
    assert.ok(wanted.length >= 60, `${wanted.length} trades`);
    await until('the tape is whole', async () => {
      const there = await tape();
      return wanted.every((id) => there.has(id));
    });
    assert.equal((await tape()).size, wanted.length, 'and nothing else');
    const metrics = await (await fetch(`${ops}/metrics`)).text();
    const lag = Number(/^ringbook_replica_lag_seconds (.*)$/m.exec(metrics)?.[1]);
    assert.ok(lag < 2, `the replica is ${lag} s behind`);
  });
});
