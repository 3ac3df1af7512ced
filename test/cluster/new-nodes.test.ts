// tier: full, 90 s
/** Snapshots, new nodes and data directories of a cluster (cluster.md 9, 12), with real nodes over real servers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { journalBounds } from '../../src/storage/journal.ts';
import { auditData, withReader } from '../../src/tools/audit-data.ts';
import { ClusterCommands } from '../support/cluster-commands.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;

suite('a cluster that begins with the data of one machine', { skip, timeout: 240_000 }, () => {
  let servers: NatsServers;
  let commands: ClusterCommands;
  let log: StreamLog;
  const home = temporaryDirectory();
  const first = join(home, 'a');

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'venue' });
    // A node makes its first snapshot after a second.
    commands = new ClusterCommands(servers, { snapshots: { everyMs: 24_000, keep: 2 } });
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

  test('its stream begins behind the last record, its snapshot is stored, and other nodes begin with that', async () => {
    const node = await startNode({ profile: 'dev', dataDirectory: first });
    const early = await commands.run('a', 'cluster', 'init', first, '--max-gib', '1');
    assert.equal(early.code, 1, 'a node holds the directory');
    assert.equal(await stopNode(node), 0);
    const last = (await auditData(first, () => undefined)).sequence;

    const begun = await commands.run('a', 'cluster', 'init', first, '--max-gib', '1');
    assert.equal(begun.code, 0, begun.stderr);
    assert.deepEqual(begun.lines, [{ initialised: true, first_sequence: last + 1, replicas: 3 }]);
    assert.deepEqual(
      (await log.snapshots()).map(({ name }) => name),
      [`${DATA_VERSION}/${last}`],
    );
    const again = await commands.run('a', 'cluster', 'init', first, '--max-gib', '1');
    assert.equal(again.code, 1);
    assert.match(again.stderr, /is there/);

    const joined = await commands.run('b', 'cluster', 'join', join(home, 'b'));
    assert.equal(joined.code, 0, joined.stderr);
    assert.equal(joined.lines[0]?.['sequence'], last);
    const twice = await commands.run('b', 'cluster', 'join', join(home, 'b'));
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /is not empty/);

    const a = commands.launch('a', first);
    await a.until('leading');
    const b = commands.launch('b', join(home, 'b'));
    await b.until('following');
    await eventually(async () => (await commands.run('a', 'cluster', 'status', '--json')).code === 0);
    const checked = await commands.run('a', 'cluster', 'check');
    assert.equal(checked.code, 0, JSON.stringify(checked.lines));

    // Without a snapshot such a node cannot begin: the records below the stream are nowhere else.
    const c = commands.launch('c', join(home, 'c'));
    assert.equal(await c.ended, 78);
    assert.match(c.stderr, /ringbook cluster join DIR/);

    // A node puts a later snapshot into the bucket, and prunes its own journal below its oldest.
    await eventually(async () => (await log.snapshots()).length === 2);
    a.signal('SIGKILL');
    await b.until('leading');
    assert.equal(await b.stop(), 0);
    const { firstSequence } = await withReader(join(home, 'b'), journalBounds);
    assert.ok(firstSequence >= last, `the journal begins with ${firstSequence}, the snapshot was of ${last}`);
  });

  test('behind an upgrade the stream begins anew with the directory of the last leader, and others join that', async () => {
    const directory = join(home, 'b');
    // The leader was stopped by SIGTERM, without a standby: as after a step-down everything that was announced is in its directory.
    assert.equal((await auditData(directory, () => undefined)).clean, true);

    const b = commands.launch('b', directory);
    await b.until('leading');
    const held = await commands.run('b', 'cluster', 'init', '--next', directory);
    assert.equal(held.code, 1);
    assert.match(held.stderr, /stop all nodes first: b runs/);
    assert.equal((await commands.run('b', 'cluster', 'step-down')).code, 0);
    assert.equal(await b.ended, 75);
    const other = await commands.run('b', 'cluster', 'init', '--next', first);
    assert.equal(other.code, 1, 'the directory of a node that was killed');
    assert.match(other.stderr, /not stopped in order/);

    const { sequence, clean } = await auditData(directory, () => undefined);
    assert.equal(clean, true);
    const begun = await commands.run('b', 'cluster', 'init', '--next', directory);
    assert.equal(begun.code, 0, begun.stderr);
    assert.deepEqual(begun.lines, [{ initialised: true, first_sequence: sequence + 1 }]);
    const info = await log.info();
    assert.deepEqual({ first: info?.first, end: info?.end }, { first: sequence + 1, end: sequence });

    const joined = await commands.run('c', 'cluster', 'join', join(home, 'c2'));
    assert.equal(joined.lines[0]?.['sequence'], sequence, joined.stderr);
    await Promise.all([commands.launch('b', directory).until('leading')]);
    const c = commands.launch('c', join(home, 'c2'));
    await c.until('following');
    assert.equal((await commands.run('b', 'cluster', 'check')).code, 0);
  });
});
