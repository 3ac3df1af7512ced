// tier: full, 60 s
/** The adapter of the journal stream over three real servers (cluster.md 4, 6, 7.6, 10); skipped where no server can be had. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamMessage } from '../../src/cluster/events.ts';
import { fitnessOf } from '../../src/cluster/server-fitness.ts';
import { StreamError, StreamLog } from '../../src/cluster/stream-log.ts';
import { NatsServers, natsServer, selfSigned, type User } from '../support/nats-servers.ts';

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;
const FIRST = 5_001;

function textOf(sequence: number, writer = 'a'): Uint8Array {
  return Buffer.from(`record ${sequence} of ${writer}`);
}

async function until(what: string, isSo: () => Promise<boolean> | boolean, withinMs = 20_000): Promise<void> {
  const endMs = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > endMs) assert.fail(`not within ${withinMs} ms: ${what}`);
    await sleep(20);
  }
}

suite('the journal stream on three servers', { skip, timeout: 120_000 }, () => {
  let servers: NatsServers;
  let a: StreamLog;
  let b: StreamLog;
  let end = FIRST - 1;

  function connect(user: User, dataVersion = '15'): Promise<StreamLog> {
    const credentialsFile = servers.credentialsOf(user);
    return StreamLog.connect({
      cluster: 'c-1',
      node: user,
      servers: servers.addresses,
      credentialsFile,
      tls: null,
      dataVersion,
    });
  }

  /** Appends records, each tried until it is known to be stored. */
  async function store(log: StreamLog, count: number): Promise<void> {
    for (let stored = 0; stored < count; ) {
      const answer = await log.append(textOf(end + 1), end);
      if (answer.kind === 'stored') {
        assert.equal(answer.sequence, end + 1);
        end += 1;
        stored += 1;
      } else if (answer.kind === 'refused') assert.fail(`refused with ${answer.end}, at ${end}`);
      else await sleep(25);
    }
  }

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'c-1' });
    a = await connect('node');
    b = await connect('node');
    await until('the servers take a stream', async () => {
      try {
        await a.createJournal({ firstSequence: FIRST, replicas: 3, bytesMax: 1 << 30 });
        return true;
      } catch (error) {
        if (error instanceof StreamError && error.code === 10_058) return true;
        return false;
      }
    });
  });

  after(async () => {
    await a?.close();
    await b?.close();
    servers?.close();
  });

  test('a process is connected to the server at home while that answers, else to another one', async () => {
    const options = {
      cluster: 'c-1',
      node: 'node',
      servers: servers.addresses,
      credentialsFile: servers.credentialsOf('node'),
      tls: null,
      dataVersion: '15',
    };
    for (const home of servers.names) {
      const log = await StreamLog.connect({ ...options, home });
      assert.equal(log.server, home);
      await log.close();
    }
    const elsewhere = await StreamLog.connect({ ...options, home: 'nats9' });
    assert.ok(servers.names.includes(elsewhere.server ?? ''));
    await elsewhere.close();
  });

  test('its first record has the sequence that was given, and the stream is made once', async () => {
    await until('there is a leader', async () => (await a.info()) !== null);
    const info = await a.info();
    assert.deepEqual([info?.first, info?.end, info?.bytesMax], [FIRST, FIRST - 1, 1 << 30]);
    await store(a, 1);
    assert.equal((await a.info())?.first, FIRST);
    await assert.rejects(a.createJournal({ firstSequence: 1, replicas: 3, bytesMax: 1 << 20 }), { code: 10_058 });
  });

  test('an append with another expected end is refused with the true one, and nothing is stored', async () => {
    for (const expected of [0, end - 1, end + 1, end + 5]) {
      assert.deepEqual(await b.append(textOf(expected + 1, 'b'), expected), { kind: 'refused', end });
    }
    assert.equal((await a.info())?.end, end);
  });

  test('of two writers that race for one sequence one succeeds', async () => {
    for (let race = 0; race < 100; race += 1) {
      const answers = await Promise.all([a.append(textOf(end + 1), end), b.append(textOf(end + 1, 'b'), end)]);
      assert.deepEqual(answers.map(({ kind }) => kind).sort(), ['refused', 'stored'], JSON.stringify(answers));
      end += 1;
    }
  });

  test('direct gets give records in batches of 256, each with its data version', async () => {
    await store(a, 200);
    const found: StreamMessage[] = [];
    await until('all are read', async () => {
      const batch = await b.get(FIRST + found.length);
      assert.ok(batch.length <= 256);
      found.push(...batch);
      return found.length === end - FIRST + 1;
    });
    assert.deepEqual(
      found.map(({ sequence }) => sequence),
      found.map((_, at) => FIRST + at),
    );
    assert.deepEqual(new Set(found.map(({ dataVersion }) => dataVersion)), new Set(['15']));
    assert.deepEqual(await b.get(end + 1), []);
    const [last] = (await b.get(end)).slice(-1);
    if (last !== undefined) assert.deepEqual(Buffer.from(last.bytes), Buffer.from(textOf(end)));
  });

  test('what is stored comes through the log, in order, with its bytes', async () => {
    const heard: StreamMessage[] = [];
    b.follow((message) => heard.push(message));
    await sleep(100);
    const from = end + 1;
    await store(a, 50);
    await until('all are heard', () => heard.length === 50);
    heard.forEach(({ sequence, bytes }, at) => {
      assert.equal(sequence, from + at);
      assert.deepEqual(Buffer.from(bytes), Buffer.from(textOf(sequence)));
    });
  });

  test('1,000,000 bytes pass, one more is a fault of this program', async () => {
    const answer = await a.append(new Uint8Array(1_000_000), end);
    assert.deepEqual(answer, { kind: 'stored', sequence: end + 1 });
    end += 1;
    await assert.rejects(a.append(new Uint8Array(1_000_001), end), /1,000,000 bytes/);
  });

  test('records below a sequence are removed, and the numbering goes on', async () => {
    await a.purgeBelow(FIRST + 10);
    assert.equal((await a.info())?.first, FIRST + 10);
    await store(a, 1);
    await until('a get begins behind what is gone', async () => (await b.get(FIRST + 10)).length > 0);
    assert.deepEqual(await b.get(FIRST), []);
  });

  test('the leader of the stream moves to the server that is asked for, while records go on', async () => {
    const info = await a.info();
    const to = info?.others.find(({ isCurrent }) => isCurrent)?.name;
    assert.ok(to !== undefined);
    const beganMs = Date.now();
    assert.equal(await a.stepDown(to), true);
    await store(a, 5);
    await until('it leads', async () => (await a.info())?.leader === to, 5_000);
    assert.ok(Date.now() - beganMs < 5_000);
  });

  test('the bucket keeps snapshots, and the tape trades', async () => {
    await a.createTapeAndSnapshots(3, 1 << 28);
    const bytes = Buffer.alloc(300_000, 7);
    await a.putSnapshot('15/5001', new Blob([bytes]).stream());
    await until('it is listed', async () => (await b.snapshots()).length === 1);
    const [kept] = await b.snapshots();
    assert.deepEqual({ name: kept?.name, bytes: kept?.bytes }, { name: '15/5001', bytes: bytes.length });
    assert.ok(Math.abs(Date.now() - (kept?.storedMs ?? 0)) < 60_000);
    const stream = await b.snapshot('15/5001');
    assert.ok(stream !== null);
    assert.deepEqual(Buffer.from(await new Response(stream).arrayBuffer()), bytes);
    assert.equal(await b.snapshot('15/1'), null);
    await a.deleteSnapshot('15/5001');
    await until('it is not listed', async () => (await b.snapshots()).length === 0);
    await until('the tape takes a trade', () => a.putTrades(3, Buffer.from('{}')));
  });

  test('nodes answer for their state, and are heard by their reports', async () => {
    a.answer('a', (_, respond) => respond(Buffer.from('state of a')));
    b.answer('b', (_, respond) => respond(Buffer.from('state of b')));
    const reports: string[] = [];
    a.onApplied((report) => reports.push(Buffer.from(report).toString()));
    await sleep(100);
    const answers = await b.askStatus(500);
    assert.deepEqual(answers.map((answer) => Buffer.from(answer).toString()).sort(), ['state of a', 'state of b']);
    b.publishApplied(Buffer.from('7'));
    await until('the report is heard', () => reports.length === 1);
  });

  test('a follower program reads and cannot append; a replica reads no journal', async () => {
    const follower = await connect('follower');
    assert.deepEqual(await follower.append(textOf(end + 1, 'follower'), end), { kind: 'unknown' });
    await until('it reads', async () => (await follower.get(end)).length === 1);
    const replica = await connect('replica');
    assert.deepEqual(await replica.append(textOf(end + 1, 'replica'), end), { kind: 'unknown' });
    assert.deepEqual(await replica.get(end), []);
    assert.equal((await a.info())?.end, end);
    await follower.close();
    await replica.close();
  });

  test('servers are fit, by their monitoring', async () => {
    for (const address of servers.monitoring) assert.deepEqual((await fitnessOf(address)).faults, []);
    assert.deepEqual((await fitnessOf('http://127.0.0.1:1')).faults, ['its monitoring does not answer']);
  });

  test('killing the server with the stream’s leader: no answer for seconds, nothing lost, nothing doubled', async (t) => {
    const leader = (await a.info())?.leader;
    assert.ok(leader !== undefined);
    servers.kill(leader);
    const beganMs = Date.now();
    let longestMs = 0;
    for (let records = 0; records < 20; records += 1) {
      const fromMs = Date.now();
      await storeKnown();
      longestMs = Math.max(longestMs, Date.now() - fromMs);
    }
    t.diagnostic(`${longestMs} ms without an acknowledgement, all 20 after ${Date.now() - beganMs} ms`);
    assert.ok(longestMs < 20_000);
    servers.launch(leader);
    await servers.ready();
    await until('three servers are current', async () => {
      const info = await a.info();
      return info?.others.filter(({ isCurrent }) => isCurrent).length === 2;
    });
    assert.equal((await a.info())?.end, end);

    /** As the protocol does: the same bytes again, until stored or found. */
    async function storeKnown(): Promise<void> {
      for (;;) {
        const answer = await a.append(textOf(end + 1), end);
        if (answer.kind === 'stored') break;
        if (answer.kind === 'refused' && answer.end > end) {
          const [there] = await a.get(end + 1);
          if (there === undefined) continue;
          assert.deepEqual(Buffer.from(there.bytes), Buffer.from(textOf(end + 1)));
          break;
        }
        await sleep(25);
      }
      end += 1;
    }
  });
});

suite('servers that are not fit', { skip, timeout: 60_000 }, () => {
  test('one without sync_interval: always is found', async () => {
    assert.ok('path' in program);
    const servers = await NatsServers.start(program.path, { cluster: 'c-2', count: 1, syncAlways: false });
    const [address = ''] = servers.monitoring;
    assert.deepEqual((await fitnessOf(address)).faults, ['sync_interval is not always']);
    servers.close();
  });
});

test('a server with TLS is reached with a certificate for its address that is trusted, and with no other', {
  skip,
}, async (t) => {
  assert.ok('path' in program);
  const [own, others] = [selfSigned('127.0.0.1'), selfSigned('10.9.9.9')];
  if (own === null || others === null) return t.skip('no openssl');
  for (const tls of [own, others]) {
    const servers = await NatsServers.start(program.path, { cluster: 'c-2', count: 1, tls });
    const connect = (trusted: { readonly caFile: string } | null): Promise<StreamLog> =>
      StreamLog.connect({
        cluster: 'c-2',
        node: 'node',
        servers: servers.addresses,
        credentialsFile: servers.credentialsOf('node'),
        dataVersion: '16',
        tls: trusted,
      });
    try {
      await assert.rejects(connect(null), 'nothing is trusted');
      if (tls === others) {
        await assert.rejects(connect({ caFile: tls.certFile }), /altnames/);
        continue;
      }
      const log = await connect({ caFile: tls.certFile });
      await until('a stream is made', () =>
        log.createJournal({ firstSequence: 1, replicas: 1, bytesMax: 1 << 20 }).then(
          () => true,
          () => false,
        ),
      );
      assert.deepEqual(await log.append(textOf(1), 0), { kind: 'stored', sequence: 1 });
      await log.close();
    } finally {
      servers.close();
    }
  }
});
