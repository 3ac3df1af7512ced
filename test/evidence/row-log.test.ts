// tier: full
/** The row log: what was flushed is there after a cut at any byte, and is read by sequence, time, user and order. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { DAY_NS, SECOND_NS } from '../../src/core/units.ts';
import { rowsFile, rowsFolder, tailFile, tailFolder } from '../../src/evidence/row-log/evidence-paths.ts';
import { rowHead, rowOrder } from '../../src/evidence/row-log/row-head.ts';
import { inspectRowLog, type RowLog } from '../../src/evidence/row-log/row-log.ts';
import { RowLogReader, type RowOfUser } from '../../src/evidence/row-log/row-log-reader.ts';
import { tailRecords } from '../../src/evidence/row-log/stored-records.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
import { propertyParameters } from '../support/property.ts';
import { appendRecord, freshFolder, openLog, type PlannedRow, userOf } from '../support/row-log-fixture.ts';

const START_NS = 1_800_000_000_000_000_000n;
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** Appends records, each with some rows of a few users and orders. */
function fill(log: RowLog, from: number, count: number, padding = 100): string[] {
  const rows: string[] = [];
  for (let sequence = from; sequence < from + count; sequence += 1) {
    const planned = Array.from({ length: sequence % 4 }, (_, index): PlannedRow => {
      const user = index === 3 ? null : (sequence + index) % 5;
      return user !== null && index === 0 ? { user, order: `o${sequence % 50}`, padding } : { user, padding };
    });
    rows.push(...appendRecord(log, sequence, START_NS + BigInt(sequence) * SECOND_NS, planned));
  }
  return rows;
}

function settle(log: RowLog): void {
  log.flush();
  while (log.hasWork) log.step(START_NS);
}

async function rowsOf(folder: string, from: number): Promise<string[]> {
  const reader = RowLogReader.open(folder);
  assert.ok(reader !== null);
  const rows = [...reader.records(from)].flatMap((record) => record.rows.map(text));
  await reader.close();
  return rows;
}

suite('row log', () => {
  test('EXP-00: rows are read back as they were written, from the tail and from the files', async () => {
    const folder = freshFolder();
    let log = openLog(folder);
    const rows = fill(log, 1, 300);
    log.flush();
    assert.deepEqual(await rowsOf(folder, 1), rows, 'from the tail');
    settle(log);
    assert.ok(readdirSync(rowsFolder(folder)).length > 0, 'blocks are in a file');
    rows.push(...fill(log, 301, 500, 400));
    settle(log);
    rows.push(...fill(log, 801, 20));
    log.flush();
    assert.deepEqual(await rowsOf(folder, 1), rows, 'from both');
    const behind = rows.filter((row) => rowHead(Buffer.from(row)).sequence >= 555);
    assert.deepEqual(await rowsOf(folder, 555), behind);
    log.settleAll();
    await log.close();
    assert.deepEqual(await rowsOf(folder, 1), rows, 'from files alone');
    const zcat = execFileSync('sh', ['-c', `zcat ${rowsFolder(folder)}/*.gz`], { maxBuffer: 1 << 28 }).toString();
    assert.deepEqual(zcat.split('\n').slice(0, -1), rows, 'any gunzip reads them');
    log = openLog(folder);
    assert.deepEqual(log.extent, { first: 1, durable: 820 });
    assert.equal(log.edge.size, 820);
    await log.close();
  });

  test('EXP-00: a torn tail loses what was not whole and nothing else, at each byte of its last record', async () => {
    const folder = freshFolder();
    const log = openLog(folder);
    const rows = fill(log, 1, 8, 10);
    log.flush();
    const whole = statSync(tailFile(folder, 1)).size;
    const last = fill(log, 9, 1, 10);
    log.flush();
    const full = statSync(tailFile(folder, 1)).size;
    await log.close();
    assert.ok(last.length > 0);
    const path = tailFile(folder, 1);
    const all = readFileSync(path);
    const torn = freshFolder();
    cpSync(tailFolder(folder), tailFolder(torn), { recursive: true });
    for (let bytes = 0; bytes <= full; bytes += bytes < whole ? Math.min(17, whole - bytes) : 1) {
      writeFileSync(tailFile(torn, 1), all.subarray(0, bytes));
      const records = tailRecords(torn, null);
      if (bytes >= whole) assert.equal(records.length, bytes === full ? 9 : 8);
      const isPrefix = records.every(({ rows: own }, place) =>
        own.every((row) => rowHead(row).sequence === place + 1 && [...rows, ...last].includes(text(row))),
      );
      assert.ok(isPrefix, `${bytes} bytes`);
    }
    for (const bytes of [0, 10, 16, whole, whole + 1, whole + 150, full - 1, full]) {
      const copy = freshFolder();
      cpSync(folder, copy, { recursive: true });
      truncateSync(tailFile(copy, 1), bytes);
      const expected = bytes === full ? 9 : bytes < whole ? 0 : 8;
      assert.deepEqual(await inspectRowLog(copy), expected === 0 ? null : { first: 1, durable: expected });
      const opened = openLog(copy);
      assert.deepEqual(opened.extent, expected === 0 ? null : { first: 1, durable: expected });
      // It goes on where it ends.
      const more = fill(opened, expected + 1, 3, 10);
      opened.flush();
      await opened.close();
      const before = expected === 0 ? [] : rows;
      assert.deepEqual(await rowsOf(copy, 1), [...before, ...(bytes === full ? last : []), ...more]);
    }
  });

  test('EXP-00: a flipped bit in the tail ends it there', async () => {
    const folder = freshFolder();
    const log = openLog(folder);
    fill(log, 1, 12, 10);
    log.flush();
    await log.close();
    const path = tailFile(folder, 1);
    const bytes = readFileSync(path);
    bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
    writeFileSync(path, bytes);
    assert.deepEqual(await inspectRowLog(folder), { first: 1, durable: 11 });
  });

  test('EXP-00: a settle that is killed after any step leaves all that was flushed', async () => {
    for (let steps = 0; ; steps += 1) {
      const folder = freshFolder();
      const log = openLog(folder);
      const rows = fill(log, 1, 400, 300);
      log.flush();
      for (let step = 0; step < steps && log.hasWork; step += 1) log.step(START_NS);
      const isDone = !log.hasWork;
      const killed = freshFolder();
      cpSync(folder, killed, { recursive: true });
      await log.close();
      const opened = openLog(killed);
      assert.deepEqual(opened.extent, { first: 1, durable: 400 }, `after ${steps} steps`);
      assert.equal(text(opened.edge.root()), text(log.edge.root()));
      rows.push(...fill(opened, 401, 30, 300));
      opened.settleAll();
      await opened.close();
      assert.deepEqual(await rowsOf(killed, 1), rows, `after ${steps} steps`);
      if (isDone) break;
    }
  });

  test('EXP-00: an older index cuts the files; a missing folder is no log; missing or short files are refused', async () => {
    const folder = freshFolder();
    assert.equal(await inspectRowLog(folder), null);
    assert.equal(RowLogReader.open(folder), null);
    let log = openLog(folder);
    const rows = fill(log, 1, 400, 300);
    settle(log);
    log.settleAll();
    await log.close();
    const oldIndex = freshFolder();
    cpSync(join(folder, 'index'), oldIndex, { recursive: true });
    log = openLog(folder);
    fill(log, 401, 400, 300);
    log.settleAll();
    await log.close();
    const copy = freshFolder();
    cpSync(folder, copy, { recursive: true });
    rmSync(join(copy, 'index'), { recursive: true });
    cpSync(oldIndex, join(copy, 'index'), { recursive: true });
    assert.deepEqual(await inspectRowLog(copy), { first: 1, durable: 400 });
    log = openLog(copy);
    assert.deepEqual(log.extent, { first: 1, durable: 400 });
    await log.close();
    assert.deepEqual(await rowsOf(copy, 1), rows, 'what the index does not name is cut');

    const file = rowsFile(folder, 1);
    const { size } = statSync(file);
    truncateSync(file, size - 1);
    assert.throws(
      () => openLog(folder),
      (error) => error instanceof StorageError && /restore the folder/.test(error.message),
    );
    rmSync(file);
    assert.throws(() => openLog(folder), /is missing and the index/);
  });

  test('EXP-00: rows are found by time', async () => {
    const folder = freshFolder();
    const log = openLog(folder);
    const rows = fill(log, 1, 500, 300);
    settle(log);
    log.flush();
    const reader = RowLogReader.open(folder);
    assert.ok(reader !== null);
    const within = (from: number, to: number): string[] =>
      rows.filter((row) => {
        const { sequence } = rowHead(Buffer.from(row));
        return sequence >= from && sequence < to;
      });
    for (const [from, to] of [
      [1, 2],
      [100, 101],
      [3, 480],
      [490, 1_000],
      [501, 600],
      [-5, 7],
    ] as const) {
      const [fromNs, toNs] = [START_NS + BigInt(from) * SECOND_NS, START_NS + BigInt(to) * SECOND_NS];
      const found: readonly string[] = [...reader.recordsByTime(fromNs, toNs)].flatMap((record) =>
        record.rows.map(text),
      );
      assert.deepEqual(found, within(from, to), `${from} to ${to}`);
    }
    const half = [...reader.recordsByTime(START_NS + SECOND_NS + 1n, START_NS + 2n * SECOND_NS + 1n)];
    assert.deepEqual(
      half.map(({ sequence }) => sequence),
      [2],
      'the start is included, the end is not',
    );
    await reader.close();
    await log.close();
  });

  test('EVD-04: rows of a user are numbered without a gap, over a restart, and found by number and by order', async () => {
    const folder = freshFolder();
    let log = openLog(folder);
    const rows = fill(log, 1, 450, 300);
    settle(log);
    await log.close();
    log = openLog(folder);
    rows.push(...fill(log, 451, 50, 300));
    log.flush();
    const reader = RowLogReader.open(folder);
    assert.ok(reader !== null);
    for (let user = 0; user < 5; user += 1) {
      const own = rows.filter((row) => rowHead(Buffer.from(row)).chain?.user === userOf(user));
      assert.equal(reader.lastOf(userOf(user)), own.length);
      const all: readonly RowOfUser[] = [...reader.userRows(userOf(user), 1, own.length)];
      assert.deepEqual(
        all.map(({ bytes }) => text(bytes)),
        own,
      );
      assert.deepEqual(
        all.map(({ link }) => link.n),
        own.map((_, place) => place + 1),
      );
      const part: readonly RowOfUser[] = [...reader.userRows(userOf(user), 7, 90)];
      assert.deepEqual(
        part.map(({ bytes }) => text(bytes)),
        own.slice(6, 90),
      );
      const of = (id: string) => own.filter((row) => rowOrder(Buffer.from(row), 'order')?.orderId === id);
      for (const id of ['o0', 'o7', 'o49', 'nothing']) {
        const found: readonly RowOfUser[] = reader.orderRows(userOf(user), { assetId: 'BTC', orderId: id });
        assert.deepEqual(
          found.map(({ bytes }) => text(bytes)),
          of(id),
          id,
        );
      }
    }
    assert.equal(reader.lastOf(userOf(77)), 0);
    await reader.close();
    await log.close();
  });

  test('EXP-00: a file is closed with its day, and removed when all of it is older than is kept', async () => {
    const folder = freshFolder();
    let elapsedMs = 0;
    const log = openLog(folder, { keepNs: 2n * DAY_NS, elapsedMs: () => elapsedMs });
    let sequence = 0;
    for (let day = 0n; day < 6n; day += 1n) {
      for (let record = 0; record < 300; record += 1) {
        sequence += 1;
        const user = sequence % 3;
        const timeNs = START_NS + day * DAY_NS + BigInt(record) * SECOND_NS;
        appendRecord(log, sequence, timeNs, [{ user, order: `d${day}`, padding: 300, ends: record > 297 }]);
      }
      log.flush();
      elapsedMs += 2_000;
      while (log.hasWork) log.step(START_NS + day * DAY_NS);
    }
    log.flush();
    assert.deepEqual(
      readdirSync(rowsFolder(folder)).map((name) => Number(name.slice(0, 20))),
      [901, 1_201, 1_501],
    );
    const reader = RowLogReader.open(folder);
    assert.ok(reader !== null);
    assert.deepEqual(reader.bounds(), { first: 1, kept: 901, last: 1_800 });
    assert.equal([...reader.userRows(userOf(1), 1, 600)].length, 300);
    assert.deepEqual(reader.orderRows(userOf(1), { assetId: 'BTC', orderId: 'd0' }), []);
    assert.equal(reader.orderRows(userOf(1), { assetId: 'BTC', orderId: 'd4' }).length, 100);
    assert.equal(reader.record(5), null);
    assert.throws(() => [...reader.records(5)], /any more/);
    assert.equal(reader.meta(5), null);
    assert.equal(reader.meta(1_000)?.count, 1);
    await reader.close();
    log.settleAll();
    await log.close();
    const opened = openLog(folder);
    assert.equal(opened.edge.size, 1_800, 'the tree stays whole');
    await opened.close();
  });

  test('EXP-00: a record of many rows takes several blocks, one without rows none', async () => {
    const folder = freshFolder();
    const log = openLog(folder);
    const rows = [
      ...appendRecord(log, 1, START_NS, []),
      ...appendRecord(
        log,
        2,
        START_NS,
        Array.from({ length: 2_000 }, (_, user) => ({ user, padding: 300 })),
      ),
      ...appendRecord(log, 3, START_NS, []),
      ...appendRecord(log, 4, START_NS, [{ user: 1_999 }]),
    ];
    settle(log);
    log.settleAll();
    await log.close();
    assert.deepEqual(await rowsOf(folder, 1), rows);
    assert.deepEqual(await rowsOf(folder, 3), rows.slice(-1));
    const reader = RowLogReader.open(folder);
    assert.equal([...(reader?.userRows(userOf(1_999), 1, 2) ?? [])].length, 2);
    assert.equal(reader?.record(2)?.rows.length, 2_000);
    assert.equal(reader?.record(3)?.rows.length, 0);
    await reader?.close();
  });

  test('EXP-00: whatever was appended, flushed, settled, killed and opened, the log is what was flushed', async () => {
    const step = fc.tuple(fc.constantFrom('append', 'flush', 'settle', 'kill', 'stop'), fc.nat(40));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const folder = freshFolder();
        let log = openLog(folder);
        let rows: string[] = [];
        let flushed: string[] = [];
        let next = 1;
        for (const [kind, pick] of steps) {
          if (kind === 'append') {
            rows.push(...fill(log, next, pick, 500));
            next += pick;
          } else if (kind === 'flush') log.flush();
          else if (kind === 'settle') {
            log.flush();
            for (let done = 0; done < pick && log.hasWork; done += 1) log.step(START_NS);
          } else {
            if (kind === 'stop') log.settleAll();
            await log.close();
            log = openLog(folder);
            next = (log.extent?.durable ?? 0) + 1;
            rows = rows.filter((row) => rowHead(Buffer.from(row)).sequence < next);
            assert.ok(rows.length >= flushed.length, 'nothing that was flushed is lost');
          }
          if (kind !== 'append') flushed = [...rows];
        }
        log.flush();
        assert.deepEqual(existsSync(tailFolder(folder)) ? await rowsOf(folder, 1) : [], rows);
        await log.close();
        rmSync(folder, { recursive: true });
      }),
      propertyParameters(20),
    );
  });
});
