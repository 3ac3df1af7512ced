// tier: full, 8 s
/** The commands about data directories, beside a node that runs and on what it leaves. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';

import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { auditData, replayData, withReader } from '../../src/tools/audit-data.ts';
import { backupData, restoreData } from '../../src/tools/copy-data.ts';
import { EXPORTS, type ExportName, exportLines, rebuildFrom } from '../../src/tools/export-data.ts';
import { damagedRecords } from '../support/damage.ts';
import { ETH } from '../support/names.ts';
import { barrier, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const OUTPUT_BYTES_MAX = 1 << 26;

/** Runs a command to its end. */
function ringbook(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX });
}

/** The JSON line of a command that succeeds. */
function told(...args: string[]): Record<string, unknown> {
  const { status, stdout, stderr } = ringbook(...args);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

const quiet = (): void => undefined;

/** An export, in this process: a command costs a third of a second. */
function lines(directory: string, what: ExportName): Promise<readonly string[]> {
  return withReader(directory, (reader) => [...exportLines(reader, what)]);
}

async function trade(node: NodeProcess, times: number): Promise<void> {
  const [a, b] = (['a', 'b'] as const).map((name) => {
    return new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
  });
  assert.ok(a !== undefined && b !== undefined);
  await Promise.all([a.login(), b.login()]);
  for (let round = 0; round < times; round += 1) {
    await a.create(await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '0.02' }));
    await b.create(await b.order({ assetId: ETH, side: 'Buy', price: '3000', quantity: '0.01' }));
  }
  a.close();
  b.close();
  await barrier(node);
}

suite('commands about data directories', () => {
  const home = temporaryDirectory();
  const backup = join(home, 'backup');
  let node: NodeProcess;
  let data = '';
  let saved: Record<string, unknown> = {};

  before(async () => {
    node = await startNode({ profile: 'dev' });
    data = node.dataDirectory;
    await trade(node, 10);
    saved = told('backup', data, backup);
    await trade(node, 10);
  });

  after(async () => {
    await stopNode(node, 'SIGKILL');
    removeDirectory(data);
  });

  test('a node that runs is backed up at one sequence, and its directory is not verified under its hands', async () => {
    const sequence = Number(saved['sequence']);
    const now = await barrier(node);
    assert.ok(sequence > 0 && sequence < now, `${sequence} of ${now}`);
    const refused = ringbook('verify', data);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /^ringbook: .* is in use by a node; verify a backup of it\n$/);
    await assert.rejects(backupData(data, backup, quiet), /is not empty/, 'nothing is written over');
  });

  test('what a node left verifies, and its journal leads to the same state, from the first record and from a backup', async () => {
    const hash = (await operator(node, 'GET', '/operator/state')).body['state_hash'];
    await stopNode(node, 'SIGKILL');
    const verified = told('verify', data);
    assert.equal(verified['state_hash'], hash, 'the state after a kill is the one that was told');
    const replayed = told('replay', '--verify', data);
    assert.deepEqual([replayed['from_sequence'], replayed['state_hash']], [0, hash]);
    const resumed = await replayData(data, backup, quiet);
    assert.equal(resumed.fromSequence, (await auditData(backup, quiet)).map.checkpoint);
    assert.equal(resumed.stateHash, hash);
  });

  test('a directory made of the journal alone, or of an export of it, holds the same rows and history', async () => {
    const rebuilt = join(home, 'rebuilt');
    const again = join(home, 'again');
    const file = join(home, 'journal.jsonl');
    const { stateHash } = await auditData(data, quiet);
    assert.equal((await rebuildFrom(data, rebuilt, null, quiet)).stateHash, stateHash);
    const { status, stdout } = ringbook('export', data, 'journal');
    assert.equal(status, 0);
    writeFileSync(file, stdout);
    assert.equal(told('restore', '--from-journal', file, again)['state_hash'], stateHash);
    for (const what of EXPORTS) {
      const expected = await lines(data, what);
      assert.deepEqual(await lines(rebuilt, what), expected, what);
      assert.deepEqual(await lines(again, what), expected, what);
    }
    assert.equal((await lines(data, 'trades')).length, 20);
  });

  test('a journal that was changed by one digit makes no directory', async () => {
    const file = join(home, 'changed.jsonl');
    const [first = '', ...rest] = await lines(data, 'journal');
    const { payload } = JSON.parse(first) as { payload: string };
    const changed = `${payload.slice(0, 20)}${payload[20] === 'A' ? 'B' : 'A'}${payload.slice(21)}`;
    writeFileSync(file, [first.replace(payload, changed), ...rest].join('\n'));
    await assert.rejects(rebuildFrom(file, join(home, 'none'), null, quiet), /record 1 is not what it was/);
    assert.equal(existsSync(join(home, 'none')), false);
  });

  test('a damaged backup is not restored, and a node runs on a sound one as it was then', async () => {
    const damaged = join(home, 'damaged');
    await restoreData(backup, damaged, quiet);
    const path = join(damaged, MAP_FILE_NAME);
    writeFileSync(path, damagedRecords(readFileSync(path)));
    await assert.rejects(restoreData(damaged, join(home, 'none'), quiet), { name: 'InvariantError' });
    assert.equal(existsSync(join(home, 'none')), false);

    const restored = join(home, 'restored');
    assert.equal(told('restore', backup, restored)['state_hash'], saved['state_hash']);
    const second = await startNode({ profile: 'dev', dataDirectory: restored });
    const client = new RingbookClient({ oms: second.oms, mds: second.mds, key: devKey('a') });
    await client.login();
    assert.equal((await client.trades({ limit: 1000 })).items.length, 10);
    client.close();
    assert.equal(await stopNode(second), 0);
    assert.equal((await auditData(restored, quiet)).clean, true);
  });

  test('wrong usage is 64, a directory that is none is 1', () => {
    assert.equal(ringbook('verify').status, 64);
    assert.equal(ringbook('export', data, 'secrets').status, 64);
    assert.match(ringbook('prune', data, '--keep', '-1').stderr, /^ringbook: [^\n]*--keep[^\n]*\n$/);
    const commands = [['verify'], ['replay', '--verify'], ['snapshot'], ['prune'], ['upgrade']];
    const making = [['backup'], ['restore'], ['restore', '--from-journal']];
    for (const command of [...commands, ...making, ['export']]) {
      const made = making.includes(command) ? [join(home, 'made')] : command.includes('export') ? ['journal'] : [];
      const nowhere = ringbook(...command, join(home, 'nowhere'), ...made);
      assert.equal(nowhere.status, 1);
      assert.match(
        nowhere.stderr,
        /^ringbook: .*nowhere is no data directory of a node: there is no ledger\.mdb in it\n$/,
      );
      assert.deepEqual([existsSync(join(home, 'made')), existsSync(join(home, 'nowhere'))], [false, false]);
    }
  });
});
