// tier: full, 6 s
/** `ringbook export` as a command, of a node that runs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { ETH } from '../support/names.ts';
import { barrier, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { parsedCsv } from '../support/written-tables.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

function ringbook(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 });
}

suite('ringbook export', () => {
  const home = temporaryDirectory();
  let node: NodeProcess;
  let data = '';

  before(async () => {
    node = await startNode({ profile: 'dev' });
    data = node.dataDirectory;
    const [a, b] = (['a', 'b'] as const).map((name) => {
      return new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
    });
    assert.ok(a !== undefined && b !== undefined);
    await Promise.all([a.login(), b.login()]);
    await a.create(await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '0.02' }));
    await b.create(await b.order({ assetId: ETH, side: 'Buy', price: '3000', quantity: '0.01' }));
    a.close();
    b.close();
    await barrier(node);
  });

  after(async () => {
    await stopNode(node, 'SIGKILL');
    removeDirectory(data);
  });

  test('EXP-05 the journal of a running node is printed for readers, whole or from a time on, to a file', () => {
    const whole = ringbook('export', 'journal', data);
    assert.equal(whole.status, 0, whole.stderr);
    const records = whole.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.equal(records[0]?.['sequence'], 1);
    const matched = records.find(({ inputs }) =>
      (inputs as Record<string, unknown>[]).some(({ kind }) => kind === 'matched'),
    );
    assert.ok(matched !== undefined, 'the trade is in it');

    const file = join(home, 'journal.jsonl');
    const part = ringbook('export', 'journal', data, '--from', String(matched['time']), '--out', file);
    assert.deepEqual([part.status, part.stdout, part.stderr], [0, '', '']);
    assert.equal(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '').sequence, matched['sequence']);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(existsSync(`${file}.part`), false);
  });

  test('EXP-05 the lines that restore takes are what they were', () => {
    const { status, stdout } = ringbook('export', data, 'journal');
    assert.equal(status, 0);
    const [first = ''] = stdout.split('\n');
    assert.deepEqual(Object.keys(JSON.parse(first) as object), ['sequence', 'time_ns', 'hash', 'payload']);
    assert.equal(ringbook('export', data, 'trades').stdout.split('\n').length, 2);
  });

  test('EXP-01 rows are written in each format, to a file or standard output, and where they are from is said', () => {
    const file = join(home, 'fills.csv');
    const { status, stdout, stderr } = ringbook('export', 'fills', data, '--format', 'csv', '--out', file);
    assert.deepEqual([status, stderr], [0, '']);
    const said = JSON.parse(stdout) as Record<string, unknown>;
    const [header, ...rows] = parsedCsv(readFileSync(file, 'utf8'));
    assert.deepEqual(
      [said['what'], said['format'], said['rows'], said['bytes']],
      ['fills', 'csv', rows.length, statSync(file).size],
    );
    assert.ok(['row log', 'tables'].includes(String(said['source'])));
    assert.equal(rows.filter((row) => row[header?.indexOf('status') ?? 0] === 'Confirmed').length, 2);
    assert.ok(rows.every((row) => row[header?.indexOf('price') ?? 0] === '3000'));

    const lines = ringbook('export', 'fills', data, '--market', 'ETH', '--user', devKey('b').userId);
    assert.equal(lines.status, 0, lines.stderr);
    const [fill] = lines.stdout
      .split('\n')
      .map((line) => (line === '' ? {} : (JSON.parse(line) as Record<string, unknown>)));
    assert.deepEqual([fill?.['side'], fill?.['role'], fill?.['quantity']], ['Buy', 'Taker', '0.01']);
    const other = ringbook('export', 'fills', data, '--market', 'BTC');
    assert.deepEqual([other.status, other.stdout], [0, '']);

    const parquet = spawnSync(process.execPath, [CLI, 'export', 'trades', data, '--format', 'parquet'], {
      maxBuffer: 1 << 26,
    });
    assert.equal(parquet.status, 0);
    assert.equal(parquet.stdout.subarray(0, 4).toString(), 'PAR1');
    assert.equal(parquet.stdout.subarray(-4).toString(), 'PAR1');
  });

  test('EXP-05 wrong usage is one line and exit code 64, and leaves no file', () => {
    const file = join(home, 'none.jsonl');
    for (const args of [
      ['journal'],
      ['journal', data, '--from', 'yesterday', '--out', file],
      [data, 'everything'],
      [data, 'trades', '--from', '2026-11-29'],
      ['trades', data, '--user', 'ab'.repeat(32)],
      ['fills', data, '--user', 'me'],
      ['fills', data, '--market', 'NONE'],
      ['deposits', data, '--market', 'ETH'],
      ['fills', data, '--format', 'xlsx'],
      ['fills', data, '--from', '7', '--out', file],
    ]) {
      const { status, stderr } = ringbook('export', ...args);
      assert.deepEqual([status, stderr.split('\n').length], [64, 2], stderr);
    }
    assert.equal(existsSync(file), false);
  });
});
