// tier: quick
/** Exports of the row log, against a plain selection of the same rows; and of the tables, where there is no row log. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { recoverState } from '../../src/clearing/recovery.ts';
import { formatRaw } from '../../src/core/decimal.ts';
import { ROW_KINDS, rowMembersOf } from '../../src/evidence/row-kinds.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { openReader, type StorageReader } from '../../src/storage/environment.ts';
import { LmdbDurability, recoveryOf } from '../../src/storage/lmdb-durability.ts';
import {
  columnsOf,
  type ExportRow,
  ROW_EXPORT_NAMES,
  ROW_EXPORTS,
  RowCells,
  type RowExportName,
} from '../../src/tools/export-columns.ts';
import { type ExportFilter, type ExportSource, exportSource } from '../../src/tools/export-rows.ts';
import { isoTime } from '../../src/tools/iso-time.ts';
import { assetOfName, MarketFinder, marketsOfTables } from '../../src/tools/market-tables.ts';
import type { Cells } from '../../src/tools/table-writers.ts';
import { live } from '../support/lived-data.ts';
import { appendRows, Draw, type PlainRow, randomRow } from '../support/random-rows.ts';
import { openLog, userOf } from '../support/row-log-fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { writtenTable } from '../support/written-tables.ts';

const START_NS = 1_795_945_286_123_456_789n;
const STEP_NS = 1_000_000_007n;
const EVERYTHING: ExportFilter = { fromNs: null, toNs: null, user: null, market: null };
const SCALES = new Map([
  ['2', { priceDecimals: 2, quantityDecimals: 4 }],
  ['3', { priceDecimals: 0, quantityDecimals: 1 }],
]);
const timeOf = (sequence: number): bigint => START_NS + BigInt(sequence) * STEP_NS;

/** A cell by the words of the document, written out once more. */
function plainObject(what: RowExportName, row: PlainRow): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { name, type } of rowMembersOf(ROW_EXPORTS[what])) {
    if (['v', 'kind', 'previous'].includes(name)) continue;
    const value = row[name];
    if (type === 'flag') object[name] = value === true;
    if (value === undefined || type === 'flag') continue;
    const market = SCALES.get(String(row['asset_id']));
    if (type === 'raw') {
      const decimals = name.endsWith('price') ? market?.priceDecimals : market?.quantityDecimals;
      object[name] = formatRaw(Number(value), decimals ?? 0);
    } else if (type === 'time') {
      const column = name === 'time_ns' ? 'time' : name === 'timestamp_ns' ? 'timestamp' : name.replace('_ns', '_time');
      object[column] = isoTime(BigInt(String(value)));
    } else if (name === 'sequence') object[name] = Number(value);
    else object[name] = type === 'json' ? JSON.stringify(value) : value;
  }
  return object;
}

suite('EXP-01 exports of the row log', () => {
  const data = temporaryDirectory();
  const folder = join(data, 'evidence');
  const all: PlainRow[] = [];
  let reader: StorageReader;
  let log: RowLogReader;

  before(async () => {
    const durability = new LmdbDurability(data, { mapBytes: 1 << 28 });
    live(durability, 9, 60);
    await durability.close();
    const rows = openLog(folder);
    const draw = new Draw(1);
    for (let sequence = 1; sequence <= 400; sequence += 1) {
      const planned = Array.from({ length: draw.below(6) }, () => randomRow(draw, 4));
      all.push(...appendRows(rows, sequence, timeOf(sequence), planned));
      if (sequence % 90 !== 0) continue;
      rows.flush();
      while (rows.hasWork) rows.step(timeOf(sequence));
    }
    rows.flush();
    await rows.close();
    reader = openReader(data);
    const opened = RowLogReader.open(folder);
    assert.ok(opened !== null);
    log = opened;
  });

  after(async () => {
    await log.close();
    await reader.close();
  });

  const exported = (what: RowExportName, filter: ExportFilter): ExportRow[] => [
    ...exportSource(reader, log, what, filter).rows,
  ];

  const FILTERS: readonly ExportFilter[] = [
    EVERYTHING,
    { ...EVERYTHING, fromNs: timeOf(100), toNs: timeOf(300) },
    { ...EVERYTHING, fromNs: timeOf(100) + 1n, toNs: timeOf(300) + 1n },
    { ...EVERYTHING, user: userOf(2) },
    { ...EVERYTHING, user: userOf(1), fromNs: timeOf(50), toNs: timeOf(395), market: '3' },
    { ...EVERYTHING, market: '2' },
    { ...EVERYTHING, user: userOf(99) },
    { ...EVERYTHING, fromNs: timeOf(300), toNs: timeOf(100) },
  ];

  function isSelected(row: PlainRow, { fromNs, toNs, user, market }: ExportFilter): boolean {
    const timeNs = BigInt(String(row['time_ns']));
    return (
      (fromNs === null || timeNs >= fromNs) &&
      (toNs === null || timeNs < toNs) &&
      (user === null || row['user'] === user) &&
      (market === null || row['asset_id'] === market || row['leg'] === market)
    );
  }

  for (const what of ROW_EXPORT_NAMES) {
    if (what === 'balances') continue;
    const kind = ROW_EXPORTS[what];
    test(`EXP-01 ${what}: the rows of the range, the user and the market, in the order of the journal`, async () => {
      assert.ok(all.some((row) => row['kind'] === kind));
      for (const filter of FILTERS) {
        if (filter.user !== null && !ROW_KINDS[kind].isPrivate) continue;
        const expected = all.filter((row) => row['kind'] === kind && isSelected(row, filter));
        assert.deepEqual(exported(what, filter), expected);
        const cells = new RowCells(what, SCALES);
        const table: Cells[] = exported(what, filter).map((row) => cells.of(row));
        const lines: string[] = (await writtenTable('jsonl', cells.columns, table)).toString().split('\n').slice(0, -1);
        const objects: unknown[] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
        assert.deepEqual(
          objects,
          expected.map((row) => plainObject(what, row)),
        );
        assert.deepEqual(columnsOf(what), cells.columns);
      }
    });
  }

  test('EXP-01 balances are those of the last ledger row before the end of the range', () => {
    for (const filter of FILTERS) {
      const last = new Map<string, PlainRow>();
      for (const row of all) {
        if (row['kind'] !== 'ledger' || !isSelected(row, { ...filter, fromNs: null })) continue;
        last.set(JSON.stringify([row['user'], row['sub_account'], row['asset'], row['leg']]), row);
      }
      const expected = [...last.values()].filter((row) => row['balance_after'] !== '0');
      const found = exported('balances', filter);
      const byPlace = (a: ExportRow, b: ExportRow): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
      assert.deepEqual([...found].sort(byPlace), expected.sort(byPlace));
    }
    const columns = columnsOf('balances').map(({ name }) => name);
    assert.deepEqual(columns, ['sequence', 'time', 'user', 'sub_account', 'asset', 'leg', 'balance']);
  });

  test('EXP-01 a range that begins before what is left is refused, with what is left', async () => {
    const late = join(temporaryDirectory(), 'evidence');
    const rows = openLog(late);
    for (let sequence = 7; sequence <= 9; sequence += 1)
      appendRows(rows, sequence, timeOf(sequence), [randomRow(new Draw(sequence), 1)]);
    rows.flush();
    await rows.close();
    const reader7 = RowLogReader.open(late);
    assert.ok(reader7 !== null);
    const from = (fromNs: bigint | null): ExportSource =>
      exportSource(reader, reader7, 'ledger', { ...EVERYTHING, fromNs });
    assert.throws(() => from(timeOf(7) - 1n), {
      name: 'StorageError',
      message: `the row log begins with record 7 of ${isoTime(timeOf(7))}: it was switched on then. Export from there on, or from a backup that is older`,
    });
    const end = `The row log ends with record 9 of ${isoTime(timeOf(9))}, and the journal with record 33: it was switched off.`;
    assert.equal(from(timeOf(7)).note, end);
    assert.equal(from(null).note, `The row log begins with record 7 of ${isoTime(timeOf(7))}. ${end}`);
    const before = { ...EVERYTHING, fromNs: timeOf(7), toNs: timeOf(9) };
    assert.equal(exportSource(reader, reader7, 'ledger', before).note, null, 'the end is not in the range');
    await reader7.close();
  });

  test('EXP-01 without a row log the tables are read, which is said', () => {
    const { state } = recoverState({ recover: () => recoveryOf(reader) });
    const scales = new MarketFinder(reader);
    for (const what of ['orders', 'fills', 'trades', 'balances', 'positions'] as const) {
      const { source, note, rows } = exportSource(reader, null, what, EVERYTHING);
      assert.equal(source, 'tables');
      assert.match(String(note), /^There is no row log here/);
      const cells = new RowCells(what, scales);
      const table = [...rows].map((row) => cells.of(row));
      assert.ok(table.length > 0, what);
      assert.ok(table.every((row) => row.length === cells.columns.length));
    }
    for (const what of ['ledger', 'deposits', 'config'] as const)
      assert.throws(
        () => exportSource(reader, null, what, EVERYTHING),
        /there is no row log here, so there is nothing to export of/,
      );
    assert.throws(
      () => exportSource(reader, null, 'balances', { ...EVERYTHING, toNs: 5n }),
      /the tables have balances of now alone/,
    );

    const fills = [...exportSource(reader, null, 'fills', EVERYTHING).rows];
    const trades = [...exportSource(reader, null, 'trades', EVERYTHING).rows];
    assert.ok(trades.length > 1);
    assert.equal(fills.length, 2 * trades.length);
    const [some = {}] = fills;
    const own = [...exportSource(reader, null, 'fills', { ...EVERYTHING, user: String(some['user']) }).rows];
    assert.deepEqual(
      own,
      fills.filter((row) => row['user'] === some['user']),
    );
    const fromNs = BigInt(String(trades.at(-1)?.['time_ns']));
    const late = [...exportSource(reader, null, 'trades', { ...EVERYTHING, fromNs }).rows];
    assert.deepEqual(
      late,
      trades.filter((row) => BigInt(String(row['time_ns'])) >= fromNs),
    );
    assert.deepEqual([...exportSource(reader, null, 'trades', { ...EVERYTHING, toNs: 1n }).rows], []);

    let owned = 0;
    for (const { subAccounts } of state.users.values())
      for (const account of subAccounts.values())
        for (const { owned: amount } of account.balances.values()) if (amount !== 0n) owned += 1;
    const balances = [...exportSource(reader, null, 'balances', EVERYTHING).rows];
    assert.equal(balances.filter((row) => row['leg'] === undefined).length, owned);
  });

  test('EXP-01 a market and an asset are found by id and by symbol', () => {
    const [market] = [...marketsOfTables(reader)];
    assert.ok(market !== undefined);
    assert.equal(assetOfName(reader, market.assetId), market.assetId);
    assert.equal(assetOfName(reader, 'none'), null);
    assert.equal(new MarketFinder(reader).get('none'), undefined);
    assert.deepEqual(new MarketFinder(reader).get(market.assetId), market);
  });

  test('EXP-02 every raw member is a price or a quantity', () => {
    for (const what of ROW_EXPORT_NAMES)
      for (const { name, type } of rowMembersOf(ROW_EXPORTS[what]))
        if (type === 'raw') assert.match(name, /^(?:price|trigger_price|quantity|filled_quantity|amount)$/);
  });
});
