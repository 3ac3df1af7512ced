// tier: full, 40 s
/**
 * What a back office gets of a node that keeps a row log, beside it and after a kill: exports that equal the state, a ledger whose
 * rows add up, statements, in CSV that Python reads and Parquet that pyarrow reads.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import type { LedgerRow } from '../../src/client/ledger.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { USD } from '../../src/core/ids.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { ETH } from '../support/names.ts';
import { barrier, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { parsedCsv } from '../support/written-tables.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const WITH_EVIDENCE = fileURLToPath(new URL('../../../test/fixtures/dev-with-evidence.json', import.meta.url));
const PYARROW = 'pyarrow==21.0.0';
const ROUNDS = 12;
const A = devKey('a');
const B = devKey('b');

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Ran {
  const { status, stdout, stderr } = spawnSync(command, args, {
    env: { ...bareEnvironment(), ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    timeout: 300_000,
  });
  return { status, stdout, stderr };
}

type Row = Readonly<Record<string, unknown>>;

suite('back office', () => {
  const home = temporaryDirectory();
  let node: NodeProcess;
  let data = '';

  const ringbook = (...args: string[]): Ran =>
    run(process.execPath, [CLI, ...args], {
      RINGBOOK_OMS_PORT: new URL(node.oms).port,
      RINGBOOK_MDS_PORT: new URL(node.mds).port,
    });

  function rows(...args: string[]): Row[] {
    const { status, stdout, stderr } = ringbook('export', ...args);
    assert.equal(status, 0, stderr);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  }

  before(async () => {
    node = await startNode({ profile: 'dev', env: { RINGBOOK_CONFIG: WITH_EVIDENCE } });
    data = node.dataDirectory;
    const [a, b] = [A, B].map((key) => new RingbookClient({ oms: node.oms, mds: node.mds, key }));
    assert.ok(a !== undefined && b !== undefined);
    await Promise.all([a.login(), b.login()]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const isSpot = round % 2 === 0;
      const price = String(3_000 + round);
      await a.create(
        await a.order({
          assetId: ETH,
          side: 'Sell',
          price,
          quantity: '0.02',
          target: { account: isSpot ? 0 : 1, isSpot },
        }),
      );
      await b.create(
        await b.order({
          assetId: ETH,
          side: 'Buy',
          price,
          quantity: '0.01',
          target: { account: isSpot ? 0 : 1, isSpot },
        }),
      );
    }
    await a.account.transfer({
      ...{ user: A.userId, sourceIndex: 0, targetIndex: 1, assetId: USD, targetAccountType: null },
      ...{ amount18: 125n * 10n ** 17n, nonce: BigInt(Date.now()) },
    });
    a.close();
    b.close();
    await barrier(node);
    await settled();
  });
  after(async () => {
    await stopNode(node, 'SIGKILL');
    removeDirectory(data);
  });

  /** Until the rows of all that was confirmed are durable. */
  async function settled(): Promise<void> {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: A, scope: 'read' });
    for (let tries = 0; tries < 100; tries += 1) {
      const { rows: found } = await client.ledger({ kind: 'transfer', limit: 10 });
      if (found.length >= 2) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    client.close();
  }

  /** Every ledger row of a user, over the API. */
  async function ledgerOf(key: typeof A): Promise<LedgerRow[]> {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key, scope: 'read' });
    const found: LedgerRow[] = [];
    for (let next: number | null | undefined; next !== null; ) {
      const page = await client.ledger({ limit: 13, ...(next === undefined ? {} : { before: next }) });
      found.push(...page.rows);
      next = page.nextBefore;
    }
    client.close();
    return found;
  }

  const spotOf = async (): Promise<Row[]> =>
    (await withReader(data, (reader) => [...exportLines(reader, 'balances')])).map((line) => JSON.parse(line) as Row);

  test('EXP-01 balances of the row log are those of the state, and so are positions', async () => {
    const spot = (await spotOf()).filter((row) => row['owned'] !== '0');
    const exported = rows('balances', data);
    assert.deepEqual(
      exported
        .filter((row) => row['leg'] === undefined)
        .map((row) => `${row['user']} ${row['sub_account']} ${row['asset']} ${row['balance']}`)
        .sort(),
      spot.map((row) => `${row['user_id']} ${row['sub_account']} ${row['asset_id']} ${row['owned']}`).sort(),
    );
    const legs = (await withReader(data, (reader) => [...exportLines(reader, 'positions')])).map(
      (line) => JSON.parse(line) as Row,
    );
    assert.ok(legs.length >= 2);
    for (const { user_id: user, sub_account: account, asset_id: market, base, quote } of legs) {
      const legOf = (asset: unknown): unknown =>
        exported.find(
          (row) =>
            row['user'] === user && row['sub_account'] === account && row['leg'] === market && row['asset'] === asset,
        )?.['balance'] ?? '0';
      assert.deepEqual([legOf(market), legOf('0')], [base, quote]);
    }
  });

  test('EXP-01 fills and trades of the row log are those that were confirmed', () => {
    const trades = rows('trades', data);
    const fills = rows('fills', data, '--market', 'ETH');
    assert.equal(trades.length, ROUNDS);
    assert.ok(trades.every((row) => row['quantity'] === '0.01' && /^30(?:0\d|1[01])$/.test(String(row['price']))));
    assert.equal(fills.filter((row) => row['status'] === 'Confirmed').length, 2 * ROUNDS);
    const own = rows('fills', data, '--user', B.userId);
    assert.deepEqual(
      own,
      fills.filter((row) => row['user'] === B.userId),
    );
    assert.ok(own.every((row) => row['side'] === 'Buy' && row['quantity'] === '0.01'));
    const orders = rows('orders', data, '--user', A.userId);
    assert.equal(orders.filter((row) => row['event'] === 'accepted').length, ROUNDS);
  });

  test('EXP-04 order records of MiCA have every order and every execution', () => {
    const file = join(home, 'orders.mica.jsonl');
    const { status, stdout, stderr } = ringbook('export', 'orders', data, '--format', 'mica', '--out', file);
    assert.equal(status, 0, stderr);
    const records = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    assert.equal((JSON.parse(stdout) as Row)['rows'], records.length);
    const of = (event: string): Row[] => records.filter((record) => record['order_event'] === event);
    assert.equal(of('NEWO').length, 2 * ROUNDS);
    assert.equal(of('PARF').length, 2 * ROUNDS);
    assert.ok(of('FILL').length >= ROUNDS);
    const orders = new Set(of('NEWO').map((record) => record['order_code']));
    assert.ok(of('PARF').every((record) => orders.has(record['order_code']) && record['traded_quantity'] === '0.01'));
    assert.equal(ringbook('export', 'trades', data, '--format', 'mica').status, 64);
  });

  test('LDG-01 over the API a ledger has the rows of the export, and the amounts of each balance add up to it', async () => {
    for (const key of [A, B]) {
      const found = await ledgerOf(key);
      const exported = rows('ledger', data, '--user', key.userId).reverse();
      assert.deepEqual(
        found.map(({ n, kind, amount, balanceAfter }) => [n, kind, amount, balanceAfter]),
        exported.map((row) => [row['n'], row['entry'], row['amount'], row['balance_after']]),
      );
      const sums = new Map<string, { sum: bigint; last: string }>();
      for (const { subAccount, asset, leg, amount, balanceAfter } of [...found].reverse()) {
        const place = `${subAccount} ${asset} ${leg}`;
        const sum = (sums.get(place)?.sum ?? 0n) + (parseDecimal18(amount) ?? assert.fail(amount));
        assert.equal(format18(sum), balanceAfter);
        sums.set(place, { sum, last: balanceAfter });
      }
      assert.ok(sums.size >= 3);
      for (const row of (await spotOf()).filter((row) => row['user_id'] === key.userId))
        assert.equal(sums.get(`${row['sub_account']} ${row['asset_id']} null`)?.last ?? '0', row['owned']);
    }
    const shown = ringbook('ledger', 'USD', '--kind', 'transfer', '--json', '--as', 'a');
    assert.equal(shown.status, 0, shown.stderr);
    const transfers = JSON.parse(shown.stdout) as { amount: string }[];
    assert.deepEqual(
      transfers
        .slice(0, 2)
        .map(({ amount }) => amount)
        .sort(),
      ['-12.5', '12.5'],
    );
    assert.match(ringbook('ledger', '--limit', '5', '--as', 'b').stdout, /time +account +balance +kind/);
  });

  test('LDG-02 a statement of today has a difference of 0, and closes with the balances of now', async () => {
    const day = String(rows('trades', data)[0]?.['time']).slice(0, 10);
    const file = join(home, 'statement.csv');
    const { status, stderr } = ringbook('statement', data, '--user', A.userId, '--day', day, '--out', file);
    assert.equal(status, 0, stderr);
    const [header = [], ...lines] = parsedCsv(readFileSync(file, 'utf8'));
    const at = (name: string): number => header.indexOf(name);
    const closing = lines.filter((line) => line[at('part')] === 'closing');
    assert.ok(closing.length >= 3 && closing.every((line) => line[at('difference')] === '0'));
    const owned = (await spotOf()).filter((row) => row['user_id'] === A.userId && row['owned'] !== '0');
    assert.deepEqual(
      closing
        .filter((line) => line[at('leg')] === '' && line[at('balance')] !== '0')
        .map((line) => [Number(line[at('sub_account')]), line[at('asset')], line[at('balance')]])
        .sort(),
      owned.map((row) => [row['sub_account'], row['asset_id'], row['owned']]).sort(),
    );
    assert.equal(ringbook('statement', data, '--user', A.userId, '--day', '2001-01-01').status, 1);
  });

  test('EXP-02 the same range gives the same bytes, before and after a kill', async () => {
    const [first] = rows('trades', data);
    const to = String(rows('trades', data).at(-1)?.['time']);
    const range = ['--from', String(first?.['time']).slice(0, 10), '--to', to];
    const whole = (format: string): string =>
      run(process.execPath, [CLI, 'export', 'ledger', data, '--format', format, ...range]).stdout;
    const before = ['csv', 'jsonl'].map(whole);
    assert.ok((before[0]?.split('\r\n').length ?? 0) > 10);
    await stopNode(node, 'SIGKILL');
    assert.deepEqual(['csv', 'jsonl'].map(whole), before, 'of a stopped node');
    node = await startNode({ profile: 'dev', env: { RINGBOOK_CONFIG: WITH_EVIDENCE }, dataDirectory: data });
    assert.deepEqual(['csv', 'jsonl'].map(whole), before, 'of the next run');
  });

  suite('in Python', { skip: lacksPython(home) }, () => {
    const python = join(home, 'venv', 'bin', 'python');

    test('EXP-03 the csv module reads CSV, and pyarrow Parquet, as the JSON lines are', () => {
      for (const what of ['orders', 'fills', 'trades', 'ledger', 'balances', 'config']) {
        const expected = rows(what, data);
        const [csv, parquet] = [join(home, `${what}.csv`), join(home, `${what}.parquet`)];
        assert.equal(ringbook('export', what, data, '--format', 'csv', '--out', csv).status, 0);
        assert.equal(ringbook('export', what, data, '--format', 'parquet', '--out', parquet).status, 0);
        const read = run(python, ['-c', READER, csv, parquet]);
        assert.equal(read.status, 0, read.stderr);
        const [ofCsv, ofParquet] = read.stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Row[]);
        // Of CSV an empty text is no value.
        const plain = (row: Row): Row => {
          const cells = Object.entries(row).map(([name, value]) => [name, String(value)]);
          return Object.fromEntries(cells.filter(([, text]) => text !== ''));
        };
        assert.deepEqual(ofCsv, expected.map(plain), what);
        assert.deepEqual(ofParquet, expected, what);
      }
    });
  });
});

/** Reads both files and prints them as JSON: of CSV what is not empty as text, of Parquet what is not null. */
const READER = `
import csv, json, sys
import pyarrow.parquet
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    print(json.dumps([{k: v for k, v in row.items() if v != ""} for row in csv.DictReader(file)]))
rows = pyarrow.parquet.read_table(sys.argv[2]).to_pylist()
print(json.dumps([{k: v for k, v in row.items() if v is not None} for row in rows]))
`;

/** @returns why there is no pyarrow; false where there is. */
function lacksPython(folder: string): string | false {
  if (run('python3', ['-c', 'import venv, ensurepip']).status !== 0) return 'there is no Python with venv';
  const venv = join(folder, 'venv');
  const made = run('python3', ['-m', 'venv', venv]);
  if (made.status !== 0) return `no virtual environment can be made: ${made.stderr}`;
  const pip = run(join(venv, 'bin', 'pip'), [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--only-binary=:all:',
    PYARROW,
  ]);
  return pip.status === 0 ? false : `the package index cannot be had: ${pip.stderr.split('\n').slice(-3).join(' ')}`;
}
