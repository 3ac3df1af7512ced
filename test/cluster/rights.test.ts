// tier: full, 30 s
/**
 * What users of the servers can do to the nodes of a cluster (cluster.md 10; config/cluster/rights.conf), with a client that asks for
 * answers at any subject; skipped where no server can be had.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterAdmin } from '../../src/cluster/cluster-admin.ts';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { NatsServers, natsServer, type User } from '../support/nats-servers.ts';
import { PlainNats } from '../support/plain-nats.ts';

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;
/** What only nodes may send. */
const OF_NODES = ['rb.venue.journal', 'rb.venue.log', 'rb.venue.handover', 'rb.venue.applied', 'rb.venue.status.a'];
const READS: Readonly<Record<Exclude<User, 'node'>, string>> = {
  follower: '$JS.API.DIRECT.GET.RB_VENUE_JOURNAL',
  replica: '$JS.API.DIRECT.GET.RB_VENUE_TAPE',
};

suite('rights on the servers', { skip, timeout: 120_000 }, () => {
  let servers: NatsServers;
  let nodes: StreamLog;
  let node: PlainNats;
  const heard: string[] = [];

  function connect(user: User): Promise<StreamLog> {
    const credentialsFile = servers.credentialsOf(user);
    return StreamLog.connect({
      ...{ cluster: 'venue', node: user, servers: servers.addresses },
      ...{ credentialsFile, tls: null, dataVersion: '15' },
    });
  }

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'venue' });
    nodes = await connect('node');
    for (let tries = 0; ; tries += 1) {
      try {
        await nodes.createJournal({ firstSequence: 1, replicas: 3, bytesMax: 1 << 28 });
        await nodes.createTapeAndSnapshots(3, 1 << 26);
        break;
      } catch (error) {
        if (tries > 20) throw error;
        await sleep(500);
      }
    }
    assert.deepEqual(await nodes.append(Buffer.from('a record'), 0), { kind: 'stored', sequence: 1 });
    assert.ok(await nodes.putTrades(1, Buffer.from('{"a":"trade"}')));
    node = await PlainNats.open(servers.addresses[0] ?? '', 'node');
    for (const subject of OF_NODES) node.subscribe(subject, () => heard.push(subject));
    await node.flush();
  });

  after(async () => {
    node?.close();
    await nodes?.close();
    servers?.close();
  });

  for (const user of ['follower', 'replica'] as const) {
    test(`a ${user} that has answers sent to subjects of the nodes appends nothing and is not heard by them`, async () => {
      const foe = await PlainNats.open(servers.addresses[1] ?? '', user);
      const before = heard.length;
      for (const subject of OF_NODES) {
        // A record that is there, one that is not, and a question that cannot be read.
        for (const question of ['{"seq":1}', '{"seq":99}', 'x']) foe.publish(READS[user], question, subject);
        foe.publish(subject, '{"command":"stepDown"}');
      }
      await foe.flush();
      await sleep(500);
      await node.flush();
      assert.deepEqual(heard.slice(before), []);
      assert.equal((await nodes.info())?.end, 1);
      assert.equal(foe.errors.length, OF_NODES.length, 'the publishing itself is refused');
      foe.close();
    });

    test(`a ${user} hears nothing of what nodes are answered`, async () => {
      const spy = await PlainNats.open(servers.addresses[2] ?? '', user);
      const seen: string[] = [];
      spy.subscribe('_INBOX.>', ({ data }) => seen.push(data));
      await spy.flush();
      assert.equal((await nodes.info())?.end, 1);
      assert.equal((await nodes.get(1)).length, 1);
      await sleep(200);
      await spy.flush();
      assert.deepEqual(seen, []);
      // Its own questions are answered.
      spy.publish(READS[user], '{"seq":1}', '_INBOX.spy');
      await spy.flush();
      await sleep(200);
      assert.deepEqual(seen, [user === 'follower' ? 'a record' : '{"a":"trade"}']);
      spy.close();
    });
  }

  test('nodes do not publish what is stored: a forged record in the log ends no leadership', async () => {
    const before = heard.length;
    node.publish('rb.venue.log', 'forged');
    node.publish('rb.venue.applied', 'a report');
    await node.flush();
    await sleep(300);
    assert.deepEqual(heard.slice(before), ['rb.venue.applied']);
    assert.equal(node.errors.length, 1);
  });

  test('a replica that answers as a node hides no node, is none, and writes nothing on the terminal of an operator', async () => {
    const status = (node: string, rest: object): string =>
      JSON.stringify({ node, role: 'node', state: 'following', epoch: 1, sequence: 1, dropped: 0, ...rest });
    node.subscribe('rb.venue.status', ({ reply }) => node.publish(reply ?? '', status('a', { state: 'leading' })));
    await node.flush();
    const lies = { state: 'leading', epoch: 99, dropped: 7, version: '\u001b[2J' };
    // A connection answers a question once.
    const answers = [
      status('a', lies),
      status('b', lies),
      status('\u001b[2J', {}),
      status('c', { state: 'sound' }),
      status('d', { hash: 'x'.repeat(100_000) }),
      'x',
    ];
    const foes = await Promise.all(answers.map(() => PlainNats.open(servers.addresses[2] ?? '', 'replica')));
    for (const [at, foe] of foes.entries()) {
      for (const subject of ['rb.venue.status', 'rb.venue.replicas'])
        foe.subscribe(subject, ({ reply }) => foe.publish(reply ?? '', answers[at] ?? ''));
      await foe.flush();
    }
    await sleep(500);
    const admin = await ClusterAdmin.connect({
      ...{ cluster: 'venue', node: 'operator', servers: servers.addresses },
      ...{ credentialsFile: servers.credentialsOf('node'), tls: null, dataVersion: '15' },
    });
    const { leader, members, isSound } = await admin.status();
    await admin.close();
    for (const foe of foes) foe.close();
    assert.deepEqual(members.map((member) => [member.node, member.role, member.epoch, member.dropped]).sort(), [
      ['a', 'node', 1, 0],
      ['a', 'replica', 99, 0],
      ['b', 'replica', 99, 0],
    ]);
    assert.deepEqual([leader, isSound], ['a', false], 'the node leads, and no standby follows');
    assert.doesNotMatch(JSON.stringify(members), /\\u001b/);
    for (const { errors } of foes) assert.equal(errors.length, 1, 'the question to nodes is not heard');
  });

  test('nodes and replicas answer a question to all of them; a replica gets snapshots of books and the data of markets', async () => {
    node.subscribe('rb.venue.md.snapshot', ({ reply }) => node.publish(reply ?? '', 'a book'));
    await node.flush();
    assert.deepEqual(await nodes.askReplicas(500), [], 'without a replica');
    assert.equal((await nodes.askStatus(500)).length, 1);
    const replicas = await Promise.all([0, 1].map((at) => PlainNats.open(servers.addresses[at] ?? '', 'replica')));
    const seen: string[] = [];
    for (const replica of replicas) {
      replica.subscribe('rb.venue.replicas', ({ reply }) => replica.publish(reply ?? '', 'a replica'));
      replica.subscribe('rb.venue.md.1.book', ({ data }) => seen.push(data));
      await replica.flush();
    }
    await sleep(500);
    const answers = (await nodes.askReplicas(500)).map((bytes) => Buffer.from(bytes).toString());
    assert.deepEqual(answers, ['a replica', 'a replica']);
    const [replica] = replicas;
    assert.ok(replica !== undefined);
    replica.subscribe('_INBOX.own', ({ data }) => seen.push(data));
    replica.publish('rb.venue.md.snapshot', 'market 1', '_INBOX.own');
    await replica.flush();
    await sleep(200);
    node.publish('rb.venue.md.1.book', 'a change');
    await node.flush();
    await sleep(300);
    assert.deepEqual(seen, ['a book', 'a change', 'a change']);
    for (const each of replicas) each.close();
  });
});
