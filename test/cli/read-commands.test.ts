// tier: full, 25 s
/** What a user has and what markets do, on the command line, against a real node: by symbols, as tables and as JSON. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { type Ended, ringbook } from '../support/ringbook-command.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

suite('reads on the command line', () => {
  let node: NodeProcess;
  let a: RingbookClient;
  let b: RingbookClient;

  before(async () => {
    node = await startNode({ profile: 'dev' });
    a = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('a') });
    b = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey('b') });
  });

  after(async () => {
    a?.close();
    b?.close();
    if (node === undefined) return;
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  });

  const command = (...argv: readonly string[]): Promise<Ended> =>
    ringbook([...argv, '--oms', node.oms], { RINGBOOK_MDS_PORT: new URL(node.mds).port });
  const good = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await command(...argv);
    assert.equal(code, 0, `${argv.join(' ')}: ${stderr}`);
    return stdout;
  };
  const json = async (...argv: readonly string[]): Promise<readonly Record<string, unknown>[]> =>
    JSON.parse(await good(...argv, '--json')) as readonly Record<string, unknown>[];
  const linesOf = (output: string): readonly (readonly string[])[] =>
    output
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/));

  test('the lines of an order are in the order of their times', async () => {
    await good('order', 'sell', '0.5', 'ETH', '--price', '2950', '--as', 'a', '--wait', '100');
    const output = await good('order', 'buy', '0.5', 'eth', '--price', '2950', '--as', 'b', '--control');
    const words = output
      .split('\n')
      .flatMap((line) => /^(Received|Created|Pending|Confirmed|Removed) /.exec(line)?.[1] ?? []);
    assert.deepEqual(words, ['Received', 'Created', 'Pending', 'Confirmed', 'Removed']);
    assert.match(await good('book', 'ETH', '--mds', node.mds), /^market ETH/);
  });

  test('trades has what was traded, of one market or of all', async () => {
    const [trade] = await json('trades', 'ETH', '--as', 'b');
    assert.deepEqual(
      [trade?.['assetId'], trade?.['price'], trade?.['quantity'], trade?.['isMaker']],
      ['2', '2950', '0.5', false],
    );
    assert.match(String(trade?.['timestampNs']), /^\d{19}$/);
    const [titles, row] = linesOf(await good('trades', '--limit', '1', '--as', 'b'));
    assert.deepEqual(titles?.slice(0, 5), ['time', 'market', 'side', 'price', 'quantity']);
    assert.deepEqual(row?.slice(1, 5), ['ETH', 'Buy', '2950', '0.5']);
    assert.equal(row?.[6], 'taker');
    assert.deepEqual(await json('trades', 'BTC', '--as', 'b'), []);
  });

  test('balances has every asset by its symbol, and what margin accounts are worth', async () => {
    const rows = linesOf(await good('balances', '--as', 'a'));
    assert.ok(rows.some((row) => row.includes('ETH')) && rows.some((row) => row.includes('USD')));
    const inventory = await a.inventory();
    const accounts = await json('balances', '--as', 'a');
    assert.deepEqual(accounts[0]?.['spot'], Object.fromEntries(inventory.get(0)?.spot ?? []));
    assert.equal(accounts.length, inventory.size);
  });

  test('orders has those that live, or those of a status; cancel ends them by their ids', async () => {
    for (const [assetId, orderId] of [
      ['ETH', 'cli-1'],
      ['ETH', 'cli-2'],
      ['BTC', 'cli-3'],
    ] as const) {
      await a.create(await a.order({ assetId, orderId, side: 'Sell', price: '99000', quantity: '0.01' }));
    }
    const ids = async (...argv: readonly string[]) =>
      (await json('orders', ...argv, '--as', 'a')).map(({ orderId }) => String(orderId)).toSorted();
    assert.deepEqual(await ids(), ['cli-1', 'cli-2', 'cli-3']);
    assert.deepEqual(await ids('eth'), ['cli-1', 'cli-2']);
    assert.equal((await ids('--limit', '2')).length, 2);
    const [, row] = linesOf(await good('orders', 'BTC', '--as', 'a'));
    assert.deepEqual([row?.[1], row?.[2], row?.[3], row?.[6], row?.[8]], ['BTC', 'Sell', '99000', 'Open', 'cli-3']);

    assert.equal(await good('cancel', 'ETH', 'cli-1', 'cli-2', '--as', 'a'), 'Received   cli-1\nReceived   cli-2\n');
    const refused = await command('cancel', 'ETH', 'cli-1', '--json', '--as', 'a');
    assert.equal(refused.code, 1);
    const [answer] = JSON.parse(refused.stdout) as readonly { readonly status: string; readonly reason: string }[];
    assert.equal(answer?.status, 'Rejected');
    assert.match(answer?.reason ?? '', /ALREADY_CANCELLED|ORDER_NOT_FOUND|AlreadyCancelled/);
    assert.deepEqual(await ids('--status', 'cancelled'), ['cli-1', 'cli-2']);
    assert.deepEqual(await ids(), ['cli-3']);
  });

  test('positions has what margin orders opened', async () => {
    assert.deepEqual(await json('positions', '--as', 'a'), []);
    await good('order', 'buy', '0.1', 'ETH', '--price', '3000', '--margin', '--as', 'a', '--wait', '100');
    await good('order', 'sell', '0.1', 'ETH', '--price', '3000', '--margin', '--tif', 'ioc', '--as', 'b');
    const [, row] = linesOf(await good('positions', 'ETH', '--as', 'a'));
    assert.deepEqual(row?.slice(0, 4), ['1', 'ETH', 'long', '0.1']);
    assert.deepEqual(await json('positions', 'BTC', '--as', 'a'), []);
  });

  test('markets has rules and prices; klines has candles', async () => {
    const rows = linesOf(await good('markets', '--mds', node.mds));
    const eth = rows.find((row) => row[1] === 'ETH');
    assert.deepEqual(eth?.slice(0, 3), ['2', 'ETH', 'Active']);
    const markets = await json('markets');
    assert.deepEqual(
      markets.map(({ symbol }) => symbol),
      ['BTC', 'ETH', 'ISO'],
    );
    // A candle follows its trade by what market data waits for.
    const candle = async () => (await json('klines', 'ETH', '--interval', '1D', '--limit', '1'))[0];
    await eventually(async () => (await candle())?.['high'] === '3000');
    const [titles, row] = linesOf(await good('klines', 'ETH', '--interval', '1D', '--limit', '1'));
    assert.equal(titles?.[0], 'from');
    assert.equal(row?.[2], '3000');
  });

  test('reads use a session that only reads, and end it; sessions lists and ends others', async () => {
    await b.login();
    const before = await b.sessions();
    await good('balances', '--as', 'b');
    assert.deepEqual(
      (await b.sessions()).map(({ id }) => id),
      before.map(({ id }) => id),
    );
    const listed = await json('sessions', '--as', 'b');
    assert.equal(listed.length, before.length + 1);
    assert.equal(listed.at(-1)?.['scope'], 'read');
    const reader = new RingbookClient({ oms: node.oms, key: devKey('b'), scope: 'read' });
    await reader.login();
    const id = (await reader.sessions()).findLast(({ scope }) => scope === 'read')?.id ?? '';
    reader.close();
    const left = await json('sessions', '--end', id, '--as', 'b');
    assert.ok(!left.some((session) => session['id'] === id));
    const missing = await command('sessions', '--end', id, '--as', 'b');
    assert.deepEqual([missing.code, /NOT_FOUND/.test(missing.stderr)], [1, true]);
  });

  test('quote makes what rests of a set what it is given, and --end cancels it', async () => {
    const quotes = ['--bid', '2300:1', '--bid', '2299:2', '--ask', '4600:1'];
    assert.equal(
      await good('quote', 'ETH', ...quotes, '--as', 'b'),
      'Received   set cli: 3 created, 0 changed, 0 kept, 0 cancelled\n',
    );
    assert.equal(
      await good('quote', 'eth', '--bid', '2300:1', '--ask', '4601:1', '--as', 'b'),
      'Received   set cli: 1 created, 0 changed, 1 kept, 2 cancelled\n',
    );
    const rest = await json('orders', 'ETH', '--as', 'b');
    assert.deepEqual(rest.map(({ orderId, limitPrice }) => `${orderId} ${limitPrice}`).toSorted(), [
      'cli:1 2300',
      'cli:4 4601',
    ]);
    const ended = await good('quote', 'ETH', '--end', '--as', 'b');
    assert.equal(ended, 'Received   set cli: 0 created, 0 changed, 0 kept, 2 cancelled\n');
    assert.deepEqual(await json('orders', 'ETH', '--as', 'b'), []);
  });

  test('an unknown symbol is refused with the nearest one', async () => {
    for (const argv of [
      ['trades', 'ETG', '--as', 'a'],
      ['klines', 'ETG'],
      ['cancel', 'ETG', 'x', '--as', 'a'],
    ]) {
      const { code, stderr } = await command(...argv);
      assert.equal(code, 1, argv.join(' '));
      assert.match(stderr, /"ETG" is no asset: .*did you mean ETH\?/);
    }
  });
});
