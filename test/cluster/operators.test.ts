// tier: full, 90 s
/** What operators do with a cluster, and what they are shown (cluster.md 7.1, 9, 12), with real nodes over real servers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { keepDropped } from '../../src/storage/dropped-records.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { ClusterCommands, type LaunchedNode } from '../support/cluster-commands.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { eventually } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Hashed {
  readonly node: string;
  readonly sequence: number;
  readonly record: string;
  readonly state: string;
}

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;

suite('operators of a cluster', { skip, timeout: 300_000 }, () => {
  let servers: NatsServers;
  let commands: ClusterCommands;
  let log: StreamLog;
  let a: LaunchedNode;
  const home = temporaryDirectory();

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'venue' });
    // The first snapshot after a second, and a look at what can be removed each half second.
    const snapshots = { everyMs: 24_000, keep: 1 };
    commands = new ClusterCommands(servers, { snapshots, monitoring: servers.monitoring });
    log = await StreamLog.connect({
      ...{ cluster: 'venue', node: 'test', servers: servers.addresses, tls: null },
      credentialsFile: servers.credentialsOf('node'),
      dataVersion: String(DATA_VERSION),
    });
  });

  after(async () => {
    commands?.close();
    await log?.close();
    servers?.close();
  });

  test('doctor checks the servers, their clocks and the stream', async () => {
    const early = await commands.run('a', 'doctor');
    assert.equal(early.code, 1, early.text);
    assert.match(early.text, /FAIL {2}journal stream +is not there: make it with "ringbook cluster init"/);
    const made = await commands.run('a', 'cluster', 'init', '--max-gib', '1');
    assert.equal(made.code, 0, made.stderr);
    const { text } = await commands.run('a', 'doctor');
    for (const server of servers.names) {
      assert.match(text, new RegExp(`ok    server ${server} +fit, version 2.15.`));
      assert.match(text, new RegExp(`ok    clock of ${server} +of this machine`));
    }
    assert.match(text, /ok {4}journal stream +records 1 to 0 on 3 servers, led by nats[123]/);
  });

  test('a record that was dropped makes status exit with 1 until it is acknowledged; it stays on the disk', async () => {
    a = commands.launch('a', join(home, 'a'));
    await a.until('leading');
    keepDropped(join(home, 'b'), 7, Buffer.alloc(100, 3));
    const b = commands.launch('b', join(home, 'b'));
    await b.until('following');
    const found = await commands.run('a', 'cluster', 'status', '--json');
    assert.equal(found.code, 1);
    const members = found.lines[0]?.['members'] as readonly { readonly node: string; readonly dropped: number }[];
    assert.deepEqual(
      members.map(({ node, dropped }) => ({ node, dropped })),
      [
        { node: 'a', dropped: 0 },
        { node: 'b', dropped: 1 },
      ],
    );
    const shown = await commands.run('a', 'cluster', 'status');
    assert.match(shown.text, /^b .*1 dropped records/m);
    const acknowledged = await commands.run('a', 'cluster', 'acknowledge', 'b');
    assert.deepEqual(acknowledged.lines, [{ node: 'b', acknowledged: ['0000000000000007-0303030303030303'] }]);
    await eventually(async () => (await commands.run('a', 'cluster', 'status')).code === 0);
    const twice = await commands.run('a', 'cluster', 'acknowledge', 'b');
    assert.deepEqual(twice.lines, [{ node: 'b', acknowledged: [] }]);
    assert.equal((await commands.run('a', 'cluster', 'acknowledge', 'x')).code, 1);
  });

  test('the leader removes the stream below the snapshot; a new node joins, an empty one is sent to do so', async () => {
    await eventually(async () => ((await log.info())?.first ?? 0) > 1);
    // A server that is behind may still list a snapshot that was deleted.
    await eventually(async () => {
      const first = (await log.info())?.first ?? Number.POSITIVE_INFINITY;
      const names = (await log.snapshots()).flatMap(({ name }) => (name === 'nodes' ? [] : [name]));
      return names.length > 0 && names.every((name) => first <= Number(name.split('/')[1]));
    });
    const empty = commands.launch('c', join(home, 'c'));
    assert.equal(await empty.ended, 78);
    assert.match(empty.stderr, /ringbook cluster join DIR/);
    const joined = await commands.run('c', 'cluster', 'join', join(home, 'c2'));
    assert.equal(joined.code, 0, joined.stderr);
    await commands.launch('c', join(home, 'c2')).until('following');
    await eventually(async () => {
      const [line] = (await commands.run('a', 'cluster', 'status', '--json')).lines;
      return (line?.['members'] as readonly object[] | undefined)?.length === 3;
    });
    const checked = await commands.run('a', 'cluster', 'check');
    assert.equal(checked.code, 0, checked.text + checked.stderr);
    const { equal, complete, nodes } = checked.lines[0] as {
      equal: boolean;
      complete: boolean;
      nodes: readonly Hashed[];
    };
    assert.deepEqual({ equal, complete, count: nodes.length }, { equal: true, complete: true, count: 3 });
    const [one, ...others] = nodes;
    assert.match(one?.state ?? '', /^[0-9a-f]{64}$/);
    assert.match(one?.record ?? '', /^[0-9a-f]{64}$/);
    for (const { node: _, ...other } of others) assert.deepEqual({ node: one?.node, ...other }, one);
  });
});

suite('servers that are not fit', { skip, timeout: 120_000 }, () => {
  test('a node of production ends with 78 and does not lead; one of dev follows with an alert', async () => {
    assert.ok('path' in program);
    const servers = await NatsServers.start(program.path, { cluster: 'venue', count: 1, syncAlways: false });
    const members = { monitoring: servers.monitoring };
    const dev = new ClusterCommands(servers, members);
    const made = await dev.run('a', 'cluster', 'init', '--replicas', '1', '--max-gib', '1');
    assert.equal(made.code, 0, made.stderr);
    // Its evidence would need the same secret on all nodes.
    const evidence = null;
    const config = { extends: 'production', publicListeners: 'plain-behind-terminator', orderWaitMsMax: 50, evidence };
    const production = new ClusterCommands(servers, members, config);
    const refused = production.launch('a', temporaryDirectory());
    assert.equal(await refused.ended, 78);
    assert.match(refused.stderr, /SERVERS_NOT_FIT/);
    const blind = new ClusterCommands(servers, {}, config).launch('a', temporaryDirectory());
    assert.equal(await blind.ended, 78);
    assert.match(blind.stderr, /give "cluster.monitoring"/);
    const found = await dev.run('a', 'doctor');
    assert.equal(found.code, 1);
    assert.match(found.text, /FAIL {2}server nats1 +sync_interval is not always/);
    const node = dev.launch('a', temporaryDirectory());
    await node.until('following');
    assert.match(node.stderr, /unfit/);
    for (const commands of [dev, production]) commands.close();
    servers.close();
  });
});
