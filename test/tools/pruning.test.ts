// tier: full
/** Snapshots and the journal below them: what goes, what stays possible, what is refused. */
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { forgetSnapshots, SNAPSHOTS, snapshotPath, snapshotsIn } from '../../src/storage/data-files.ts';
import { journalBounds } from '../../src/storage/journal.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { auditData, replayData, withReader } from '../../src/tools/audit-data.ts';
import { backupData, restoreData } from '../../src/tools/copy-data.ts';
import { EXPORTS, type ExportName, exportLines, rebuildFrom } from '../../src/tools/export-data.ts';
import { runKeeper } from '../../src/tools/keeper-child.ts';
import { makeSnapshot, pruneData } from '../../src/tools/snapshot-data.ts';
import { damagedRecords } from '../support/damage.ts';
import { live } from '../support/lived-data.ts';
import { SIMULATION_START_NS } from '../support/simulated-node.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const quiet = (): void => undefined;
const SEED = 11;

async function lived(directory: string, steps: number, seed = SEED): Promise<void> {
  const durability = new LmdbDurability(directory, { mapBytes: 1 << 28 });
  live(durability, seed, steps);
  await durability.close();
}

function bounds(directory: string): Promise<readonly [number, number]> {
  return withReader(directory, (reader) => {
    const { firstSequence, lastSequence } = journalBounds(reader);
    return [firstSequence, lastSequence] as const;
  });
}

function lines(directory: string, what: ExportName): Promise<readonly string[]> {
  return withReader(directory, (reader) => [...exportLines(reader, what)]);
}

suite('pruning', () => {
  const data = temporaryDirectory();
  const whole = temporaryDirectory();

  before(async () => {
    await lived(data, 300);
    await makeSnapshot(data, quiet);
    await lived(data, 300, SEED + 1);
    await makeSnapshot(data, quiet);
    await lived(data, 300, SEED + 2);
    cpSync(data, whole, { recursive: true });
  });

  test('a snapshot is proven, packed, made once, and a data directory of its own', async () => {
    const [first, second] = snapshotsIn(data);
    assert.ok(first !== undefined && second !== undefined && second.sequence > first.sequence);
    for (const { path, sequence } of [first, second]) {
      const { map, sequence: last } = await auditData(path, quiet);
      assert.deepEqual([last, map.firstSequence], [sequence, sequence]);
      assert.ok(sizeOf(path) < sizeOf(data), 'it has no journal and no free pages');
      assert.equal((await replayData(data, path, quiet)).fromSequence, sequence);
    }
    const again = await makeSnapshot(data, quiet);
    assert.equal((await makeSnapshot(data, quiet)).path, again.path);
    assert.equal(snapshotsIn(data).length, 3);
    rmSync(again.path, { recursive: true });
  });

  test('pruned: the journal begins at the oldest snapshot that stays, and the state is replayed from there', async () => {
    const { stateHash } = await auditData(data, quiet);
    const [, second] = snapshotsIn(data);
    const { journalBytes, snapshots } = await pruneData(data, 2, quiet);
    const [first, last] = await bounds(data);
    assert.deepEqual([first, snapshots[0]], [second?.sequence, second?.sequence]);
    assert.equal(journalBytes, await recordBytes(data), 'the bytes of the journal are counted');
    assert.equal((await auditData(data, quiet)).stateHash, stateHash);
    assert.deepEqual(await replayData(data, null, quiet), { fromSequence: first, sequence: last, stateHash });
    const [tooOld] = snapshotsIn(whole);
    await assert.rejects(replayData(data, tooOld?.path ?? '', quiet), /record \d+ is missing/);
  });

  test('a rebuild from a pruned journal and its snapshot holds the same rows and history, and so does a backup', async () => {
    const rebuilt = join(temporaryDirectory(), 'rebuilt');
    const backup = join(temporaryDirectory(), 'backup');
    const restored = join(temporaryDirectory(), 'restored');
    const { stateHash } = await auditData(data, quiet);
    assert.equal((await rebuildFrom(data, rebuilt, null, quiet)).stateHash, stateHash);
    await backupData(data, backup, quiet);
    await restoreData(backup, restored, quiet);
    for (const copy of [rebuilt, backup, restored]) {
      for (const what of EXPORTS) assert.deepEqual(await lines(copy, what), await lines(data, what), what);
      assert.equal((await replayData(copy, null, quiet)).stateHash, stateHash, 'its journal can be replayed');
    }
    const file = join(temporaryDirectory(), 'journal.jsonl');
    writeFileSync(file, (await lines(data, 'journal')).join('\n'));
    const again = join(temporaryDirectory(), 'again');
    await assert.rejects(rebuildFrom(file, again, null, quiet), /begins with record \d+.*snapshot/);
    const snapshot = snapshotsIn(data)[0]?.path ?? '';
    assert.equal((await rebuildFrom(file, again, snapshot, quiet)).stateHash, stateHash);
    for (const what of EXPORTS) assert.deepEqual(await lines(again, what), await lines(data, what), what);
  });

  test('a journal that ends at a snapshot of another one is not taken for its own, nor one that goes on from there', async () => {
    const file = join(temporaryDirectory(), 'journal.jsonl');
    const snapshot = snapshotsIn(data)[0] ?? assert.fail('there is a snapshot');
    const own = (await lines(data, 'journal')).map((line) => JSON.parse(line) as Record<string, unknown>);
    const at = own.findIndex(({ sequence }) => sequence === snapshot.sequence);
    const rebuilt = (records: readonly object[]) => {
      writeFileSync(file, records.map((record) => JSON.stringify(record)).join('\n'));
      return rebuildFrom(file, join(temporaryDirectory(), 'rebuilt'), snapshot.path, quiet);
    };
    const upTo = own.slice(0, at + 1);
    assert.equal((await rebuilt(upTo)).sequence, snapshot.sequence);
    const changed = [
      { hash: '00'.repeat(32) },
      { payload: Buffer.from('another batch').toString('base64') },
      { time_ns: '1' },
    ];
    for (const change of changed) {
      const foreign = [...upTo.slice(0, -1), { ...upTo.at(-1), ...change }];
      await assert.rejects(rebuilt(foreign), /snapshot is not of this journal: record \d+ differs/);
      await assert.rejects(rebuilt([...foreign, ...own.slice(at + 1)]), /not of this journal/);
    }
  });

  test('space of what is pruned is used again: a directory that is pruned stays small while its journal goes on', async () => {
    const pruned = temporaryDirectory();
    const kept = temporaryDirectory();
    for (let round = 0; round < 4; round += 1) {
      for (const directory of [pruned, kept]) await lived(directory, 120, SEED + round);
      await pruneData(pruned, 1, quiet);
    }
    assert.equal(await hashOf(pruned), await hashOf(kept), 'pruning changes nothing that is remembered');
    const [first, last] = await bounds(pruned);
    assert.ok(first > 1 && first < last, `the journal goes from ${first} to ${last}`);
    assert.ok(sizeOf(pruned) < sizeOf(kept), `${sizeOf(pruned)} of ${sizeOf(kept)} bytes`);
  });

  test('nothing is pruned when a snapshot is damaged, when a record of the journal is, or when a node holds the directory', async () => {
    const directory = join(temporaryDirectory(), 'copy');
    cpSync(whole, directory, { recursive: true });
    const holder = new LmdbDurability(directory);
    await assert.rejects(pruneData(directory, 1, quiet), /is in use/);
    await holder.close();
    const oldest = join(snapshotsIn(directory)[0]?.path ?? '', MAP_FILE_NAME);
    const sound = readFileSync(oldest);
    writeFileSync(oldest, damagedRecords(sound));
    await assert.rejects(pruneData(directory, 3, quiet), { name: 'InvariantError' });
    assert.equal((await bounds(directory))[0], 1);
    writeFileSync(oldest, sound);
    const path = join(directory, MAP_FILE_NAME);
    await lived(directory, 50);
    writeFileSync(path, damagedRecords(readFileSync(path)));
    await assert.rejects(pruneData(directory, 1, quiet), { name: 'InvariantError' });
    assert.equal(existsSync(join(directory, SNAPSHOTS, 'new')), false);
    assert.deepEqual(
      readdirSync(join(directory, SNAPSHOTS)),
      snapshotsIn(directory).map(({ sequence }) => String(sequence).padStart(16, '0')),
      'nothing half is left',
    );
  });

  test('a snapshot that is younger than the journal stands for nothing: no backup, replay or rebuild begins with it', async () => {
    const directory = join(temporaryDirectory(), 'copy');
    cpSync(whole, directory, { recursive: true });
    const map = join(directory, MAP_FILE_NAME);
    await pruneData(directory, 1, quiet);
    const early = readFileSync(map);
    const [first, last] = await bounds(directory);
    const aside = join(temporaryDirectory(), 'snapshot');
    cpSync(snapshotPath(directory, first), aside, { recursive: true });
    await lived(directory, 300, SEED + 3);
    await pruneData(directory, 1, quiet);
    const [young] = snapshotsIn(directory);
    assert.ok(young !== undefined && young.sequence > last && first > 1);
    // As a copy finds it that read its map before the node made that snapshot and pruned.
    writeFileSync(map, early);
    const to = (): string => join(temporaryDirectory(), 'to');
    await assert.rejects(backupData(directory, to(), quiet), /was pruned while it was copied/);
    await assert.rejects(restoreData(directory, to(), quiet), /was pruned while it was copied/);
    await assert.rejects(replayData(directory, null, quiet), { name: 'StorageError', message: /no snapshot/ });
    await assert.rejects(rebuildFrom(directory, to(), null, quiet), /give the snapshot/);
    await assert.rejects(rebuildFrom(directory, to(), young.path, quiet), /the journal ends with record \d+.*younger/);

    cpSync(aside, snapshotPath(directory, first), { recursive: true });
    symlinkSync('removed', snapshotPath(directory, first + 1));
    const backup = to();
    const { stateHash } = await backupData(directory, backup, quiet);
    assert.deepEqual(
      snapshotsIn(backup).map(({ sequence }) => sequence),
      [first],
      'what is younger, or was removed meanwhile, is left out',
    );
    assert.deepEqual(await replayData(backup, null, quiet), { fromSequence: first, sequence: last, stateHash });
    assert.equal((await rebuildFrom(backup, to(), null, quiet)).stateHash, stateHash);
  });

  test('a journal that is pruned while a snapshot of it is made is no damage: the snapshot is not proven, which is reported', async () => {
    const directory = join(temporaryDirectory(), 'copy');
    cpSync(whole, directory, { recursive: true });
    for (const { path } of snapshotsIn(directory)) rmSync(path, { recursive: true });
    const durability = new LmdbDurability(directory);
    let hasPruned = false;
    const making = makeSnapshot(directory, (phase) => {
      if (phase !== 'copying' || hasPruned) return;
      hasPruned = true;
      const before = durability.lastSequence;
      live(durability, SEED + 3, 300);
      assert.ok(durability.prune((before + 1) as Sequence, Number.MAX_SAFE_INTEGER));
    });
    await assert.rejects(making, { name: 'StorageError', message: /no snapshot .* is left/ });
    assert.ok(hasPruned);
    await durability.close();
    assert.deepEqual(snapshotsIn(directory), []);
  });

  test('a snapshot is whole for as long as it has its name, also while it is removed; a removal that was killed is ended', async () => {
    const directory = join(temporaryDirectory(), 'copy');
    cpSync(whole, directory, { recursive: true });
    const [first, second] = snapshotsIn(directory);
    assert.ok(first !== undefined && second !== undefined);
    for (let index = 0; index < 200; index += 1) writeFileSync(join(first.path, `file-${index}`), '');
    let isDone = false;
    const removing = forgetSnapshots(directory, second.sequence).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      // What is not whole any more has lost its name before.
      const isWhole = existsSync(join(first.path, 'file-0'));
      assert.ok(isWhole || snapshotsIn(directory).every(({ path }) => path === second.path));
      await setImmediate();
    }
    await removing;
    assert.deepEqual(snapshotsIn(directory), [second]);

    const gone = join(directory, SNAPSHOTS, `gone-${String(first.sequence).padStart(16, '0')}`);
    mkdirSync(gone);
    assert.deepEqual(snapshotsIn(directory), [second], 'half removed, it is none');
    await pruneData(directory, 1, quiet);
    assert.equal(existsSync(gone), false);
  });

  test('a node that was stopped before its first input has nothing to snapshot or prune, and that is no damage', async () => {
    const directory = temporaryDirectory();
    const durability = new LmdbDurability(directory);
    const mark = { timeNs: SIMULATION_START_NS as TimestampNs, sequence: 0 as Sequence, clean: false, stateHash: null };
    durability.checkpoint(mark, []);
    await durability.close();
    for (const call of [() => makeSnapshot(directory, quiet), () => pruneData(directory, 1, quiet)]) {
      await assert.rejects(call, { name: 'StorageError', message: /no checkpoint yet/ });
    }
    assert.deepEqual(snapshotsIn(directory), []);
    assert.equal(
      await runKeeper({
        directory,
        keep: 1,
        share: null,
        liabilities: null,
        say: (line) => assert.fail(`a node would be told "${line}"`),
      }),
      0,
    );
    assert.equal((await auditData(directory, quiet)).sequence, 0);
  });
});

async function hashOf(directory: string): Promise<string> {
  return (await auditData(directory, quiet)).stateHash;
}

function sizeOf(directory: string): number {
  return statSync(join(directory, MAP_FILE_NAME)).size;
}

async function recordBytes(directory: string): Promise<number> {
  const HEADER_AND_HASH = 96;
  const records = (await lines(directory, 'journal')).map((line) => JSON.parse(line) as { payload: string });
  return records.reduce((sum, { payload }) => sum + HEADER_AND_HASH + Buffer.from(payload, 'base64').length, 0);
}
