// tier: full, 150 s
/** Servers that have lost what they acknowledged (cluster.md 12, 14): the nodes stop, and the stream gets it back from a journal. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import type { Sequence } from '../../src/core/units.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { journalBounds, readWholeRecords } from '../../src/storage/journal.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { ClusterCommands } from '../support/cluster-commands.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { eventually } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;

function logOf(servers: NatsServers): Promise<StreamLog> {
  return StreamLog.connect({
    ...{ cluster: 'venue', node: 'test', servers: servers.addresses, tls: null },
    credentialsFile: servers.credentialsOf('node'),
    dataVersion: String(DATA_VERSION),
  });
}

suite('a stream that has lost records', { skip, timeout: 300_000 }, () => {
  test('nodes stop, and it gets them back from the longest journal that goes on from its end', async () => {
    assert.ok('path' in program);
    const home = temporaryDirectory();
    const [a, b] = [join(home, 'a'), join(home, 'b')];
    const servers = await NatsServers.start(program.path, { cluster: 'venue' });
    const commands = new ClusterCommands(servers);
    const made = await commands.run('a', 'cluster', 'init', '--max-gib', '1');
    assert.equal(made.code, 0, made.stderr);
    const leader = commands.launch('a', a);
    await leader.until('leading');
    const standby = commands.launch('b', b);
    await standby.until('following');
    standby.signal('SIGKILL');
    await standby.ended;
    const { lastSequence: ofB } = await withReader(b, journalBounds);
    await eventually(async () => (await withReader(a, journalBounds)).lastSequence >= ofB + 5);
    leader.signal('SIGKILL');
    await leader.ended;
    servers.close();
    const { lastSequence: ofA } = await withReader(a, journalBounds);

    // The same stream on other servers, as far as they still have it.
    const damaged = await NatsServers.start(program.path, { cluster: 'venue' });
    const again = new ClusterCommands(damaged);
    const remade = await again.run('a', 'cluster', 'init', '--max-gib', '1');
    assert.equal(remade.code, 0, remade.stderr);
    const log = await logOf(damaged);
    const kept = ofB - 3;
    await withReader(a, async (reader) => {
      for (const { sequence, bytes } of readWholeRecords(reader, 1 as Sequence)) {
        if (sequence > kept) break;
        await eventually(
          async () => (await log.append(bytes, sequence - 1)).kind === 'stored' || (await log.get(sequence)).length > 0,
        );
      }
    });
    const lost = again.launch('a', a);
    assert.equal(await lost.ended, 78, lost.stderr);
    assert.match(lost.stderr, /STREAM_LOST_RECORDS/);

    const restore = (...names: readonly string[]) => again.run('a', 'cluster', 'restore-stream', ...names);
    assert.equal((await restore(a)).code, 64, 'the other directories are named, or there is none');
    const shorter = await restore(b, a);
    assert.equal(shorter.code, 1);
    assert.match(shorter.stderr, /restore from the longest journal/);
    assert.equal((await log.info())?.end, kept, 'what is refused has appended nothing');

    const restored = await restore(a, b);
    assert.equal(restored.code, 0, restored.stderr);
    const named = restored.lines.slice(0, -1).map(({ restored: sequence }) => sequence);
    assert.deepEqual(
      named,
      Array.from({ length: ofA - kept }, (_, at) => kept + 1 + at),
    );
    assert.deepEqual(restored.lines.at(-1), { restored_records: ofA - kept, first: kept + 1, last: ofA });
    const twice = await restore(a, b);
    assert.deepEqual(twice.lines, [{ restored_records: 0, first: null, last: ofA }]);

    const next = again.launch('a', a);
    await next.until('leading');
    const running = await restore(b, '--only');
    assert.equal(running.code, 1);
    assert.match(running.stderr, /stop all nodes first: a runs/);
    const follower = again.launch('b', b);
    await follower.until('following');
    assert.equal((await again.run('a', 'cluster', 'check')).code, 0);

    // A journal of another history is not taken.
    const stranger = join(home, 'stranger');
    again.close();
    await Promise.all([next.ended, follower.ended]);
    const alone = again.launch('a', stranger, { replication: 'off' });
    await eventually(async () => {
      try {
        return (await withReader(stranger, journalBounds)).lastSequence > 3;
      } catch {
        return false;
      }
    });
    alone.signal('SIGKILL');
    await alone.ended;
    const foreign = await restore(a, stranger);
    assert.equal(foreign.code, 1);
    assert.match(foreign.stderr, /two histories/);
    await log.close();
    damaged.close();
  });

  test('a foreign record at its end ends every node, and the stream is made anew from the longest journal', async () => {
    assert.ok('path' in program);
    const home = temporaryDirectory();
    const [a, b] = [join(home, 'a'), join(home, 'b')];
    const servers = await NatsServers.start(program.path, { cluster: 'venue' });
    const commands = new ClusterCommands(servers);
    const made = await commands.run('a', 'cluster', 'init', '--max-gib', '1');
    assert.equal(made.code, 0, made.stderr);
    const leader = commands.launch('a', a);
    await leader.until('leading');
    const standby = commands.launch('b', b);
    await standby.until('following');
    const log = await logOf(servers);
    // A program with the credentials of a node, between two records of the leader.
    const foreign = Buffer.from('not a record');
    await eventually(async () => {
      const info = await log.info();
      return info !== null && (await log.append(foreign, info.end)).kind === 'stored';
    });
    const { end = 0 } = (await log.info()) ?? {};
    assert.equal(await leader.ended, 75, leader.stderr);
    assert.equal(await standby.ended, 78, standby.stderr);
    assert.match(standby.stderr, /DIVERGED/);
    // Started again, the one that led is refused as well: it neither leads nor waits for ever.
    for (const [name, directory] of [
      ['a', a],
      ['b', b],
    ] as const) {
      const again = commands.launch(name, directory);
      assert.equal(await again.ended, 78, again.stderr);
      assert.match(again.stderr, /DIVERGED/);
    }
    const restored = await commands.run('a', 'cluster', 'restore-stream', a, b);
    assert.equal(restored.code, 1, 'the stream has lost nothing');
    await log.close();
    servers.close();

    // Three servers with empty stores, and the node with the longest journal, alone and without clients.
    const { lastSequence: ofA } = await withReader(a, journalBounds);
    const { lastSequence: ofB } = await withReader(b, journalBounds);
    assert.ok(ofA >= ofB && ofB === end - 1 && ofA <= end, `${ofA}, ${ofB}, ${end}`);
    const empty = await NatsServers.start(program.path, { cluster: 'venue' });
    const anew = new ClusterCommands(empty);
    const alone = anew.launch('a', a, { replication: 'off' });
    await eventually(async () => (await withReader(a, journalBounds)).lastSequence > ofA);
    await eventually(() => alone.isReady);
    assert.equal(await alone.stop(), 0, alone.stderr);
    const remade = await anew.run('a', 'cluster', 'init', a, '--max-gib', '1');
    assert.equal(remade.code, 0, remade.stderr);
    const next = anew.launch('a', a);
    await next.until('leading');
    // The other directory ends before the new stream begins, and is made anew.
    const late = anew.launch('b', b);
    assert.equal(await late.ended, 78, late.stderr);
    assert.match(late.stderr, /SNAPSHOT_NEEDED/);
    const joined = join(home, 'joined');
    const done = await anew.run('b', 'cluster', 'join', joined);
    assert.equal(done.code, 0, done.stderr);
    const follower = anew.launch('b', joined);
    await follower.until('following');
    assert.equal((await anew.run('a', 'cluster', 'check')).code, 0);
    anew.close();
    await Promise.all([next.ended, follower.ended]);
    empty.close();
  });
});
