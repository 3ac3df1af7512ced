// tier: quick
/** Statements of random ledgers, against balances that are kept by hand. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { format18 } from '../../src/core/decimal.ts';
import { DAY_NS } from '../../src/core/units.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { isoTime, parseIsoTime } from '../../src/tools/iso-time.ts';
import { STATEMENT_COLUMNS, statementOf } from '../../src/tools/statement.ts';
import { appendRows, Draw, type PlainRow, type PlannedMembers } from '../support/random-rows.ts';
import { freshFolder, openLog, userOf } from '../support/row-log-fixture.ts';
import { parsedCsv, writtenTable } from '../support/written-tables.ts';

const DAY = parseIsoTime('2026-11-27') ?? 0n;
const USERS = 3;
/** Three days, of 60 records each. */
const timeOf = (sequence: number): bigint => DAY - DAY_NS + (BigInt(sequence) * DAY_NS) / 60n;

type Line = Readonly<Record<string, string>>;

/** Keeps balances, and makes the ledger row of a change. */
class Ledger {
  readonly balances = new Map<string, bigint>();

  change(draw: Draw): PlannedMembers {
    const user = draw.below(USERS);
    const leg = draw.below(3) === 0 ? { leg: draw.of(['2', '3']) } : {};
    const place = { sub_account: draw.below(2), asset: draw.of(['0', '2']), ...leg };
    const key = JSON.stringify([userOf(user), place.sub_account, place.asset, 'leg' in place ? place.leg : null]);
    const now = this.balances.get(key) ?? 0n;
    // Some end at exactly nothing.
    const amount = draw.below(6) === 0 ? -now : BigInt(draw.below(1_000_000) - 500_000) * 10n ** 13n;
    this.balances.set(key, now + amount);
    const figures = { entry: 'trade', amount: format18(amount), balance_after: format18(now + amount) };
    return { kind: 'ledger', user, members: { ...place, ...figures, reference: '2/1' } };
  }
}

suite('LDG-02 statements', () => {
  const folder = freshFolder();
  const all: PlainRow[] = [];
  /** Balances at the begin of each day. */
  const begins = new Map<bigint, ReadonlyMap<string, bigint>>();
  let log: RowLogReader;

  before(async () => {
    const rows = openLog(folder);
    const draw = new Draw(5);
    const ledger = new Ledger();
    for (let sequence = 0; sequence < 180; sequence += 1) {
      const timeNs = timeOf(sequence);
      if (timeNs % DAY_NS === 0n) begins.set(timeNs, new Map(ledger.balances));
      const planned = Array.from({ length: draw.below(5) }, () => ledger.change(draw));
      all.push(...appendRows(rows, sequence + 1, timeNs, planned));
    }
    begins.set(DAY + 2n * DAY_NS, new Map(ledger.balances));
    rows.flush();
    rows.settleAll();
    await rows.close();
    const opened = RowLogReader.open(folder);
    assert.ok(opened !== null);
    log = opened;
  });
  after(() => log.close());

  async function read(
    user: string,
    day: bigint,
    from: RowLogReader = log,
  ): Promise<{ lines: Line[]; note: string | null; faults: readonly string[] }> {
    const { lines, note, faults } = statementOf(from, user, day);
    const [header = [], ...rows] = parsedCsv((await writtenTable('csv', STATEMENT_COLUMNS, lines)).toString());
    assert.deepEqual(
      header,
      STATEMENT_COLUMNS.map(({ name }) => name),
    );
    return {
      lines: rows.map((row) => Object.fromEntries(row.map((cell, place) => [header[place], cell]))),
      note,
      faults: faults(),
    };
  }

  /** Balances that are not 0, by place. */
  function balancesOf(user: string, timeNs: bigint): [string, string][] {
    const of = [...(begins.get(timeNs) ?? assert.fail())].filter(
      ([key, amount]) => key.includes(user) && amount !== 0n,
    );
    return of.map(([key, amount]): [string, string] => [key, format18(amount)]).sort();
  }
  const keyOf = (user: string, line: Line): string =>
    JSON.stringify([user, Number(line['sub_account']), line['asset'], line['leg'] === '' ? null : line['leg']]);

  test('LDG-02 opening balances, all rows of the day, closing balances, and a difference of 0', async () => {
    for (const day of [DAY - DAY_NS, DAY, DAY + DAY_NS]) {
      for (let number = 0; number < USERS; number += 1) {
        const user = userOf(number);
        const { lines, faults } = await read(user, day);
        assert.deepEqual(faults, []);
        const part = (name: string): Line[] => lines.filter((line) => line['part'] === name);
        assert.deepEqual(
          lines.map((line) => line['part']),
          [...part('opening'), ...part('row'), ...part('closing')].map((line) => line['part']),
        );
        const figures = (name: string): [string, string][] =>
          part(name)
            .filter((line) => line['balance'] !== '0')
            .map((line): [string, string] => [keyOf(user, line), line['balance'] ?? ''])
            .sort();
        assert.deepEqual(figures('opening'), balancesOf(user, day));
        assert.deepEqual(figures('closing'), balancesOf(user, day + DAY_NS));
        assert.ok(part('closing').length > 0 && part('closing').every((line) => line['difference'] === '0'));
        const own = all.filter(
          (row) =>
            row['user'] === user &&
            BigInt(String(row['time_ns'])) >= day &&
            BigInt(String(row['time_ns'])) < day + DAY_NS,
        );
        assert.deepEqual(
          part('row').map((line) => [line['n'], line['time'], line['amount'], line['balance'], line['reference']]),
          own.map((row) => [
            String(row['n']),
            isoTime(BigInt(String(row['time_ns']))),
            row['amount'],
            row['balance_after'],
            '2/1',
          ]),
        );
      }
    }
  });

  test('LDG-02 a row that does not follow from the balance before it is named, and so is a difference', async () => {
    const broken = freshFolder();
    const rows = openLog(broken);
    const row = (amount: string, balance_after: string): PlannedMembers => {
      return {
        kind: 'ledger',
        user: 0,
        members: { sub_account: 1, asset: '0', entry: 'trade', amount, balance_after },
      };
    };
    appendRows(rows, 1, DAY + 1n, [row('5', '5')]);
    appendRows(rows, 2, DAY + 2n, [row('2', '8')]);
    appendRows(rows, 3, DAY + 3n, [row('-1', '7')]);
    rows.flush();
    await rows.close();
    const from = RowLogReader.open(broken);
    assert.ok(from !== null);
    const { lines, faults } = await read(userOf(0), DAY, from);
    assert.deepEqual(faults, [
      'sub-account 1, asset 0: row 2 does not follow from the balance before it',
      'sub-account 1, asset 0: the difference is -1',
    ]);
    assert.equal(lines.at(-1)?.['difference'], '-1');
    await from.close();
  });

  test('LDG-02 a day that the row log does not have is refused, and one that it has in part is said', async () => {
    assert.throws(
      () => statementOf(log, userOf(0), DAY - 2n * DAY_NS),
      /^StorageError: the row log has 2026-11-26T00:00:00.000000000Z to .*nothing of this day$/,
    );
    assert.throws(() => statementOf(log, userOf(0), DAY + 2n * DAY_NS), { name: 'StorageError' });
    assert.throws(() => statementOf(null, userOf(0), DAY), /there is no row log here/);
    assert.equal((await read(userOf(0), DAY)).note, null);
    assert.match(
      String((await read(userOf(0), DAY + DAY_NS)).note),
      /^The row log ends at .* within the day: closing balances are of then\.$/,
    );
    assert.deepEqual((await read(userOf(50), DAY)).lines, [], 'a user without rows has a header');
  });
});
