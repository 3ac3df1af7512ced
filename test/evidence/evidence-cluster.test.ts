// tier: full, 60 s
/** Every node of a cluster has the same rows and the same tree (EVD-05). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { evidenceFolder } from '../../src/evidence/evidence-files.ts';
import { tilesFolder } from '../../src/evidence/row-log/evidence-paths.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { TileFiles } from '../../src/evidence/tree/tile-files.ts';
import { auditEvidence } from '../../src/tools/audit-evidence.ts';
import { ClusterCommands } from '../support/cluster-commands.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;
const SECRET = new Uint8Array(32).fill(9);

async function rowsOf(directory: string): Promise<ReadonlyMap<number, string>> {
  const reader = RowLogReader.open(evidenceFolder(directory));
  assert.ok(reader !== null);
  const rows = new Map<number, string>();
  for (const { sequence, rows: own } of reader.records(1))
    rows.set(sequence, own.map((row) => `${Buffer.from(row)}\n`).join(''));
  await reader.close();
  return rows;
}

suite('evidence of a cluster', { skip, timeout: 200_000 }, () => {
  let servers: NatsServers;
  let commands: ClusterCommands;
  const home = temporaryDirectory();
  const [a, b] = [join(home, 'a'), join(home, 'b')];

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: 'venue' });
    const secret = join(home, 'secret');
    writeFileSync(secret, Buffer.from(SECRET).toString('hex'), { mode: 0o600 });
    commands = new ClusterCommands(servers, {}, { evidence: { keepDays: 1, refusals: false, secret } });
  });

  after(() => {
    commands?.close();
    servers?.close();
  });

  test('EVD-05: a standby has the rows and the leaves of its leader, over a kill and a takeover', async () => {
    const init = await commands.run('a', 'cluster', 'init', '--max-gib', '1');
    assert.equal(init.code, 0, init.stderr);
    const first = commands.launch('a', a);
    await first.until('leading');
    const second = commands.launch('b', b);
    await second.until('following');
    first.signal('SIGKILL');
    await first.ended;
    await second.until('leading');
    const again = commands.launch('a', a);
    await again.until('following');
    assert.equal(await second.stop(), 0, second.stderr);
    await again.until('leading');
    assert.equal(await again.stop(), 0, again.stderr);
    const [ofA, ofB] = [await rowsOf(a), await rowsOf(b)];
    assert.ok(ofB.size > 30, `${ofB.size} records`);
    assert.ok(ofA.size > ofB.size);
    for (const [sequence, rows] of ofB) assert.equal(rows, ofA.get(sequence), `record ${sequence}`);
    const [one, other] = [a, b].map((directory) => new TileFiles(tilesFolder(evidenceFolder(directory)), 'read'));
    assert.deepEqual(one?.read(0, 0, ofB.size), other?.read(0, 0, ofB.size));
    for (const directory of [a, b]) {
      const audit = await auditEvidence(directory, { snapshot: null, secret: SECRET }, () => undefined);
      assert.equal(audit.records, audit.last);
    }
  });
});
