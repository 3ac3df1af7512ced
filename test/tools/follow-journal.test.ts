// tier: full, 20 s
/**
 * `ringbook follow` over a real server: the journal of a node that traded, in a stream, gives the lines that an export of its
 * directory gives. Skipped where no server can be had.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import type { Sequence } from '../../src/core/units.ts';
import { readJournal } from '../../src/storage/journal.ts';
import { GENESIS_HASH, RecordEncoder } from '../../src/storage/journal-record.ts';
import { auditData, withReader } from '../../src/tools/audit-data.ts';
import { backupData } from '../../src/tools/copy-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';
import { JournalFollower } from '../../src/tools/follow-journal.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { BTC, ETH } from '../support/names.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';
import { barrier, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const CLUSTER = 'c-1';
const program = natsServer();
const skip = 'missing' in program ? program.missing : false;
const quiet = (): void => undefined;

interface Line {
  readonly sequence: number;
  readonly index: number;
  readonly [member: string]: unknown;
}

/** Trades, a partly filled order, one that is cancelled, one that is refused. */
async function trade(node: NodeProcess, rounds: number): Promise<string> {
  const [a, b] = (['a', 'b'] as const).map(
    (name) => new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) }),
  );
  assert.ok(a !== undefined && b !== undefined);
  await Promise.all([a.login(), b.login()]);
  for (let round = 0; round < rounds; round += 1) {
    await a.create(await a.order({ assetId: ETH, side: 'Sell', price: '3000', quantity: '0.02' }));
    await b.create(await b.order({ assetId: ETH, side: 'Buy', price: '3000', quantity: '0.01' }));
  }
  const cancelled = await b.order({ assetId: BTC, side: 'Buy', price: '50000', quantity: '0.01' });
  await b.create(cancelled);
  await b.cancel(BTC, cancelled.orderId);
  a.close();
  b.close();
  await barrier(node);
  return cancelled.orderId;
}

/** The records of a directory, as the stream of a cluster has them. */
function recordsOf(directory: string): Promise<readonly Uint8Array[]> {
  return withReader(directory, (reader) => {
    const encoder = new RecordEncoder();
    let before: Uint8Array = GENESIS_HASH;
    return [...readJournal(reader, 1 as Sequence)].map((record) => {
      const bytes = new Uint8Array(encoder.encode(record, before));
      before = record.hash;
      return bytes;
    });
  });
}

/** A line without its place. */
function bare({ sequence: _, index: __, ...members }: Line): string {
  return JSON.stringify(members);
}

suite('following a journal stream', { skip, timeout: 120_000 }, () => {
  const home = temporaryDirectory();
  const backup = join(home, 'backup');
  let servers: NatsServers;
  let stream: StreamLog;
  let data = '';
  let records: readonly Uint8Array[] = [];
  let cancelled = '';
  let trades: readonly string[] = [];

  /** Runs the command to its end. */
  function follow(...args: string[]): Promise<{ status: number | null; lines: readonly Line[]; stderr: string }> {
    const child = spawn(process.execPath, [CLI, 'follow', ...args], {
      env: {
        ...bareEnvironment(),
        RINGBOOK_CLUSTER: CLUSTER,
        RINGBOOK_NATS: servers.addresses.join(','),
        RINGBOOK_NATS_CREDENTIALS_FILE: servers.credentialsOf('follower'),
      },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    return new Promise((resolve) => {
      child.once('close', (status) => {
        const lines = stdout.split('\n').filter((line) => line !== '');
        resolve({ status, lines: lines.map((line) => JSON.parse(line) as Line), stderr });
      });
    });
  }

  async function append(bytes: Uint8Array, sequence: number): Promise<void> {
    for (;;) {
      const answer = await stream.append(bytes, sequence - 1);
      if (answer.kind === 'stored') return;
      assert.equal(answer.kind, 'unknown', JSON.stringify(answer));
      await sleep(20);
    }
  }

  before(async () => {
    assert.ok('path' in program);
    servers = await NatsServers.start(program.path, { cluster: CLUSTER, count: 1 });
    stream = await StreamLog.connect({
      cluster: CLUSTER,
      node: 'a',
      servers: servers.addresses,
      credentialsFile: servers.credentialsOf('node'),
      tls: null,
      dataVersion: JournalFollower.dataVersion,
    });
    const node = await startNode({ profile: 'dev' });
    data = node.dataDirectory;
    await trade(node, 10);
    await backupData(data, backup, quiet);
    cancelled = await trade(node, 5);
    await stopNode(node);
    records = await recordsOf(data);
    trades = await withReader(data, (reader) => [...exportLines(reader, 'trades')]);
    await stream.createJournal({ firstSequence: 1, replicas: 1, bytesMax: 1 << 30 });
    for (const [at, bytes] of records.entries()) await append(bytes, at + 1);
  });

  after(async () => {
    await stream?.close();
    servers?.close();
    removeDirectory(data);
    removeDirectory(home);
  });

  test('trades are those of an export, each once, and the state is the one of the directory', async () => {
    const { status, lines, stderr } = await follow('--to', `${records.length}`, 'trades');
    assert.equal(status, 0, stderr);
    assert.deepEqual(lines.map(bare).sort(), [...trades].sort());
    const places = lines.map(({ sequence, index }) => `${sequence} ${index}`);
    assert.equal(new Set(places).size, trades.length, 'a pair of sequence and index is one line');
    const follower = await JournalFollower.begin('trades', null);
    for (const bytes of records) follower.apply(bytes, JournalFollower.dataVersion);
    assert.equal(follower.stateHash(), (await auditData(data, quiet)).stateHash);
  });

  test('a reader goes on behind its last pair; a snapshot replaces the records before it', async () => {
    const all = await follow('--to', `${records.length}`, 'fills');
    assert.equal(all.lines.length, 2 * trades.length, 'each trade has two sides');
    const last = all.lines[20];
    assert.ok(last !== undefined);
    const isBehind = ({ sequence, index }: Line): boolean =>
      sequence > last.sequence || (sequence === last.sequence && index > last.index);
    const rest = await follow('--from', `${last.sequence}`, '--to', `${records.length}`, 'fills');
    assert.deepEqual(rest.lines.filter(isBehind), all.lines.slice(21));
    const { sequence } = await JournalFollower.begin('fills', backup);
    assert.ok(sequence > 1 && sequence < records.length, `the backup is of record ${sequence}`);
    const later = await follow('--snapshot', backup, '--to', `${records.length}`, 'fills');
    assert.deepEqual(
      later.lines,
      all.lines.filter((line) => line.sequence > sequence),
    );
  });

  test('events name orders, those too that have ended', async () => {
    const { lines } = await follow('--to', `${records.length}`, 'events');
    const of = (event: string): readonly Line[] => lines.filter((line) => line['event'] === event);
    assert.equal(of('confirmed').length, trades.length);
    const its = lines
      .filter((line) => line['order_id'] === cancelled)
      .map((line) => `${String(line['event'])} ${String(line['end'])}`);
    assert.deepEqual(its, ['created undefined', 'ended UserRequested']);
    const orders = lines.filter((line) => 'order_id' in line);
    assert.ok(
      orders.every((line) => typeof line['order_id'] === 'string'),
      'every order has its id',
    );
    for (const [at, line] of lines.entries()) {
      const before = lines[at - 1];
      assert.equal(line.index, before?.sequence === line.sequence ? before.index + 1 : 0, 'indexes count the lines');
    }
  });

  test('a record that does not follow ends it with 1, a truncated stream names what is missing', async () => {
    const last = records.at(-1);
    assert.ok(last !== undefined);
    const forged = new Uint8Array(
      new RecordEncoder().encode(
        { sequence: records.length + 1, timeNs: 1n as never, epoch: 0, payload: new Uint8Array(16) },
        GENESIS_HASH,
      ),
    );
    await append(forged, records.length + 1);
    const { status, lines, stderr } = await follow('trades');
    assert.equal(status, 1);
    assert.equal(lines.length, trades.length, 'everything before it was printed');
    assert.match(stderr, /does not follow the record before it/);
    await stream.purgeBelow(5);
    const cut = await follow('trades');
    assert.equal(cut.status, 1);
    assert.match(cut.stderr, /the stream was truncated: its first record is 5 and there is no state before it/);
    const from = await follow('--snapshot', backup, '--to', `${records.length}`, 'trades');
    assert.equal(from.status, 0, from.stderr);
  });

  test('without a server it ends with 69', async () => {
    servers.kill('nats1');
    assert.equal((await follow('trades')).status, 69);
  });
});
