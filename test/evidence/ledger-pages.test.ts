// tier: quick
/** Pages of a user's ledger, against a plain selection of the same rows. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { parseJson } from '../../src/codec/json-tree.ts';
import { type LedgerSelection, ledgerReply } from '../../src/codec/ledger-page.ts';
import { LEDGER_PAGE } from '../../src/codec/shapes/ledger-shapes.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import { LEDGER_ENTRIES } from '../../src/core/ledger-entries.ts';
import { LedgerPages } from '../../src/evidence/ledger-pages.ts';
import { rowsFile } from '../../src/evidence/row-log/evidence-paths.ts';
import { appendRows, Draw, type PlainRow, randomRow } from '../support/random-rows.ts';
import { freshFolder, openLog, userOf } from '../support/row-log-fixture.ts';

const START_NS = 1_795_945_286_000_000_000n;
const timeOf = (sequence: number): bigint => START_NS + BigInt(sequence) * 1_000_000_007n;
const RECORDS = 220;
const ALL = { subAccount: null, asset: null, entry: null, fromNs: null, toNs: null, before: null } as const;

suite('LDG-01 pages of a ledger', () => {
  const folder = freshFolder();
  const all: PlainRow[] = [];
  let pages: LedgerPages;

  before(async () => {
    const log = openLog(folder);
    const draw = new Draw(3);
    for (let sequence = 1; sequence <= RECORDS; sequence += 1) {
      const planned = Array.from({ length: draw.below(7) }, () =>
        randomRow(draw, 3, ['ledger', 'ledger', 'fill', 'trade']),
      );
      all.push(...appendRows(log, sequence, timeOf(sequence), planned));
      if (sequence % 90 !== 0) continue;
      log.flush();
      while (log.hasWork) log.step(timeOf(sequence));
    }
    log.flush();
    await log.close();
    pages = new LedgerPages(folder);
  });
  after(() => pages.close());

  /** All pages, one after the other. */
  function read(
    query: Omit<LedgerSelection, 'before'>,
    from: LedgerPages = pages,
  ): { rows: Record<string, unknown>[]; count: number } {
    const rows: Record<string, unknown>[] = [];
    let count = 0;
    for (let next: number | null | undefined; next !== null; count += 1) {
      const found = from.read({ ...query, before: next ?? null });
      assert.ok(found !== null && found.rows.length <= query.limit);
      assert.ok(next === undefined || found.nextBefore === null || found.nextBefore < Number(next), 'pages go on');
      rows.push(...found.rows.map((row) => JSON.parse(row) as Record<string, unknown>));
      next = found.nextBefore;
    }
    return { rows, count };
  }

  /** The same by hand. */
  function expected({ user, subAccount, asset, entry, fromNs, toNs }: Omit<LedgerSelection, 'before'>): unknown[] {
    return all
      .filter((row) => row['kind'] === 'ledger' && row['user'] === user)
      .filter((row) => subAccount === null || row['sub_account'] === subAccount)
      .filter((row) => asset === null || row['asset'] === asset)
      .filter((row) => entry === null || row['entry'] === entry)
      .filter((row) => fromNs === null || BigInt(String(row['time_ns'])) >= fromNs)
      .filter((row) => toNs === null || BigInt(String(row['time_ns'])) <= toNs)
      .reverse()
      .map((row) => ({
        n: row['n'],
        sequence: Number(row['sequence']),
        timestamp_ns: Number(row['time_ns']),
        sub_account: row['sub_account'],
        asset: row['asset'],
        leg: row['leg'] ?? null,
        kind: row['entry'],
        amount: row['amount'],
        balance_after: row['balance_after'],
        reference: row['reference'] ?? null,
      }));
  }

  test('LDG-01 all pages together are the ledger rows of the user, newest first, whatever the limit', () => {
    for (const user of [userOf(0), userOf(1), userOf(2), userOf(77)]) {
      for (const limit of user === userOf(1) ? [1, 7, 100, 1_000] : [40]) {
        const { rows, count } = read({ ...ALL, user, limit });
        assert.deepEqual(rows, expected({ ...ALL, user, limit }));
        assert.ok(count <= rows.length / limit + 2, `${count} pages of ${limit} for ${rows.length} rows`);
      }
    }
    assert.ok(expected({ ...ALL, user: userOf(1), limit: 1 }).length > 80);
  });

  test('LDG-01 filters of account, asset, kind and times select, alone and together', () => {
    const user = userOf(1);
    const draw = new Draw(9);
    const some = (): PlainRow => {
      for (;;) {
        const row = draw.of(all);
        if (row['kind'] === 'ledger' && row['user'] === user) return row;
      }
    };
    for (let round = 0; round < 40; round += 1) {
      const row = some();
      const times = [some(), some()].map((one) => BigInt(String(one['time_ns']))).sort((a, b) => (a < b ? -1 : 1));
      const shift = BigInt(draw.below(3) - 1);
      const query = {
        user,
        subAccount: draw.below(3) === 0 ? Number(row['sub_account']) : null,
        asset: draw.below(3) === 0 ? String(row['asset']) : null,
        entry: draw.below(3) === 0 ? draw.of(LEDGER_ENTRIES) : null,
        fromNs: draw.below(2) === 0 ? (times[0] ?? 0n) + shift : null,
        toNs: draw.below(2) === 0 ? (times[1] ?? 0n) + shift : null,
        limit: 5 + draw.below(40),
      };
      assert.deepEqual(
        read(query).rows,
        expected(query),
        JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
      );
    }
  });

  test('LDG-01 a page that takes too long ends, and the next one goes on', () => {
    let ms = 0;
    const slow = new LedgerPages(folder, undefined, () => {
      ms += 200;
      return ms;
    });
    const query = { ...ALL, user: userOf(2), entry: LEDGER_ENTRIES[0] ?? '', limit: 20 };
    const { rows, count } = read(query, slow);
    assert.deepEqual(rows, expected(query));
    assert.ok(count > 1, `${count} pages`);
    return slow.close();
  });

  test('LDG-01 the reply of a page has its shape', () => {
    const found = pages.read({ ...ALL, user: userOf(0), limit: 5 });
    assert.ok(found !== null);
    const tree = parseJson(Buffer.from(ledgerReply(found, 5)), { fractions: 'text' });
    assert.ok(tree.ok);
    const fit = checkShape(LEDGER_PAGE, tree.value, { strangers: 'refuse' });
    assert.ok(fit.ok);
    assert.equal(
      ledgerReply({ rows: [], nextBefore: null }, 9),
      '{"ledger":[],"limit":9,"has_next_page":false,"next_before":null}',
    );
  });

  test('LDG-01 without a row log there are no pages, and there are as soon as it begins', async () => {
    const late = freshFolder();
    const reader = new LedgerPages(late);
    assert.equal(reader.read({ ...ALL, user: userOf(0), limit: 1 }), null);
    const log = openLog(late);
    appendRows(log, 1, timeOf(1), [randomRow(new Draw(1), 1, ['ledger'])]);
    log.flush();
    assert.equal(reader.read({ ...ALL, user: userOf(0), limit: 1 })?.rows.length, 1);
    await log.close();
    await reader.close();
  });

  test('LDG-01 a file of rows that is gone is an error that names it', async () => {
    const lost = freshFolder();
    const log = openLog(lost);
    for (let sequence = 1; sequence <= 60; sequence += 1)
      appendRows(
        log,
        sequence,
        timeOf(sequence),
        Array.from({ length: 4 }, () => randomRow(new Draw(sequence), 1, ['ledger'])),
      );
    log.flush();
    log.settleAll();
    await log.close();
    rmSync(rowsFile(lost, 1));
    const reader = new LedgerPages(lost);
    assert.throws(() => reader.read({ ...ALL, user: userOf(0), limit: 1_000 }), { name: 'StorageError' });
    await reader.close();
  });
});
