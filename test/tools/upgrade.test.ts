// tier: full, 5 s
/** Data of older versions, made by the nodes that wrote it, as today's node finds it after `ringbook upgrade`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { must } from '../../src/core/assert.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { ByteWriter } from '../../src/schema/byte-writer.ts';
import { snapshotsIn } from '../../src/storage/data-files.ts';
import { DATA_VERSION, dataVersionOf, openWriter } from '../../src/storage/environment.ts';
import { encodeFrame } from '../../src/storage/frames.ts';
import { Journal } from '../../src/storage/journal.ts';
import { keyWriter, META } from '../../src/storage/key-layout.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { readVerifiedMark, writeVerifiedMark } from '../../src/storage/verified-mark.ts';
import { auditData, replayData, withReader } from '../../src/tools/audit-data.ts';
import { type ExportName, exportLines } from '../../src/tools/export-data.ts';
import { pruneData } from '../../src/tools/snapshot-data.ts';
import { upgradeData } from '../../src/tools/upgrade-data.ts';
import { damagedRecords } from '../support/damage.ts';
import { live } from '../support/lived-data.ts';
import { startNode, stopNode } from '../support/node-process.ts';
import { OLD_VERSIONS, oldData, type Said } from '../support/old-data.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const quiet = (): void => undefined;

function lines(directory: string, what: ExportName): Promise<readonly string[]> {
  return withReader(directory, (reader) => [...exportLines(reader, what)]);
}

/** The rows and the history that the old node reported, from the new map. */
async function saysTheSame(directory: string, said: Said): Promise<void> {
  for (const what of ['trades', 'balances', 'positions'] as const) {
    assert.deepEqual(await lines(directory, what), said[what], what);
  }
}

suite('upgrade of the data', () => {
  for (const version of OLD_VERSIONS) {
    test(`version ${version}: everything that its node reported is there, verified, and the old map stays beside it`, async () => {
      const { directory, said } = oldData(version);
      const before = readFileSync(join(directory, MAP_FILE_NAME));
      const upgraded = await upgradeData(directory, quiet);
      assert.ok(upgraded !== null);
      assert.deepEqual(
        [upgraded.from, upgraded.to, await dataVersionOf(directory)],
        [version, DATA_VERSION, DATA_VERSION],
      );
      const { clean, sequence, stateHash, map } = await auditData(directory, quiet);
      assert.deepEqual([clean, sequence, stateHash], [true, upgraded.sequence, upgraded.stateHash]);
      assert.deepEqual([map.firstSequence, map.records], [sequence, 1], 'the journal goes on from the last record');
      await saysTheSame(directory, said);
      assert.deepEqual(readFileSync(join(upgraded.kept, MAP_FILE_NAME)), before);
      assert.deepEqual((await replayData(directory, null, quiet)).fromSequence, sequence);
      assert.equal(existsSync(join(directory, 'upgrade.half')), false);
      assert.equal(await upgradeData(directory, quiet), null, 'a second time there is nothing to do');
      assert.equal((await pruneData(directory, 1, quiet)).firstSequence, sequence);
    });
  }

  test('a start refuses older data with 78 and what to do; upgraded, it shows every order and takes new ones', async () => {
    const { directory, said } = oldData(5);
    await assert.rejects(
      startNode({ profile: 'dev', dataDirectory: directory }),
      /ended with 78.*holds "ringbook data 5".*"ringbook upgrade/s,
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'upgrade', directory], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.equal((JSON.parse(stdout) as { from: number }).from, 5);
    const node = await startNode({ profile: 'dev', dataDirectory: directory });
    try {
      const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
      await client.login();
      const orders = (await client.orders({ limit: 1_000 })).items;
      const text = JSON.stringify(orders, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
      const rows = JSON.parse(text) as readonly Readonly<Record<string, unknown>>[];
      const reported = must(said.orders[client.userId], 'the golden data has orders of a');
      // With the members that the client of that version had.
      const names = Object.keys(reported[0] ?? {});
      const known = rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
      assert.deepEqual(known, reported);
      const { status: answer } = await client.create(
        await client.order({ assetId: '2', side: 'Buy', price: '2000', quantity: '0.01' }),
      );
      assert.equal(answer, 'Received');
      client.close();
      assert.equal(await stopNode(node), 0);
      await replayData(directory, null, quiet);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(directory);
    }
  });

  test('refused and left as it was: damaged, held, not stopped in order, too old, newer', async () => {
    const refused = async (directory: string, why: RegExp): Promise<void> => {
      const path = join(directory, MAP_FILE_NAME);
      const bytes = readFileSync(path);
      await assert.rejects(upgradeData(directory, quiet), why);
      assert.deepEqual(readFileSync(path), bytes);
      assert.deepEqual(snapshotsIn(directory), []);
    };
    const damaged = oldData(6).directory;
    const path = join(damaged, MAP_FILE_NAME);
    writeFileSync(path, damagedRecords(readFileSync(path)));
    await refused(damaged, /InvariantError|wrong hash/);

    const held = oldData(6).directory;
    const holder = openWriter(held, { version: 6 });
    await refused(held, /is in use/);
    await holder.close();

    const killed = oldData(6).directory;
    await appendRecord(killed);
    await refused(killed, /was not stopped in order.*"ringbook data 6".*SIGTERM/);

    for (const [version, why] of [
      [4, /upgrades from "ringbook data 5" on/],
      [DATA_VERSION + 1, /newer than this version/],
    ] as const) {
      const other = temporaryDirectory();
      await openWriter(other, { version }).close();
      await refused(other, why);
    }
  });

  test('a directory that was stopped before its first input is upgraded to one whose journal begins with record 1', async () => {
    const directory = temporaryDirectory();
    await stoppedAtNothing(directory);
    const upgraded = await upgradeData(directory, quiet);
    assert.deepEqual([upgraded?.from, upgraded?.sequence], [6, 0]);
    assert.deepEqual(snapshotsIn(directory), []);
    const durability = new LmdbDurability(directory);
    live(durability, 11, 60);
    await durability.close();
    const { stateHash, map } = await auditData(directory, quiet);
    assert.equal(map.firstSequence, 1);
    assert.equal((await replayData(directory, null, quiet)).stateHash, stateHash);
  });

  test('a mark of what was verified of the old map vouches for nothing of the new one', async () => {
    const { directory } = oldData(6);
    writeVerifiedMark(directory, { txn: 1_000_000, sequence: 1, hash: new Uint8Array(32) });
    await upgradeData(directory, quiet);
    assert.equal(readVerifiedMark(directory), null);
  });
});

/** As a node of version 6 leaves a directory in which nothing ever happened. */
async function stoppedAtNothing(directory: string): Promise<void> {
  const nothing = new Uint8Array(32);
  const key = keyWriter().meta(META.checkpoint);
  const bytes = new ByteWriter(1 << 10);
  const value = encodeFrame(bytes, key, () => {
    bytes.safe(0);
    bytes.raw(nothing);
    bytes.raw(nothing);
    bytes.flag(true);
  });
  const writer = openWriter(directory, { version: 6 });
  writer.commit([{ key, value }]);
  await writer.close();
}

/** As a kill leaves a directory of version 6: a record behind the checkpoint. */
async function appendRecord(directory: string): Promise<void> {
  const writer = openWriter(directory, { version: 6 });
  new Journal(writer).append(1n as TimestampNs, new Uint8Array(16));
  await writer.close();
}
