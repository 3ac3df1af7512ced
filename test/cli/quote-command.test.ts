// tier: full, 6 s
/** `ringbook quote`: the set that it signs and sends, what it prints of the answer, and its exit codes. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type Ended, ringbook } from '../support/ringbook-command.ts';
import { type Answer, startWireServer, type WireServer, withLogin } from '../support/wire-server.ts';

const MARKET =
  '{"asset_id":"2","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":100,"taker_fee_rate":450,"status":"Active"}';
const SYMBOLS = '{"2":{"index":2,"symbol":"ETH","name":"ETH","asset_class":"crypto","representations":[]}}';
const COUNTS =
  '"created":3,"changed":1,"kept":2,"cancelled":4,"superseded":false,"processed_at_ns":1770000000000000009';

/** A node's answer to a set. */
const answerOf = (status: string, reason: string, refused: string): string =>
  `{"set_id":"mm","revision":1770000000000000001,"status":"${status}","reason":${reason},${COUNTS},"refused":[${refused}]}`;

suite('ringbook quote', () => {
  let server: WireServer;
  let answer: Answer = { body: '' };

  before(async () => {
    server = await startWireServer({
      answer: withLogin(({ path }) => {
        if (path === '/market/2') return { body: MARKET };
        if (path.startsWith('/markets')) {
          return { body: `{"markets":[${MARKET}],"page":0,"limit":1,"next_page":null,"symbol_map":${SYMBOLS}}` };
        }
        return path === '/orders/quotes' ? answer : { body: '{}' };
      }),
    });
  });

  after(() => server.close());

  const quote = (...argv: readonly string[]): Promise<Ended> =>
    ringbook(['quote', 'ETH', ...argv, '--as', 'a', '--oms', server.base]);
  const lastSet = (): { readonly quotes: Record<string, unknown>; readonly signature: readonly number[] } =>
    JSON.parse(server.requests.findLast(({ path }) => path === '/orders/quotes')?.body ?? '{}');

  test('signs both sides, best price first in whatever order they are given, in raw units of the market (QTE-01)', async () => {
    answer = { body: answerOf('Received', 'null', '{"side":"Buy","price":299000,"reason":"PostOnlyWouldCross"}') };
    const entries = ['--bid', '2989:2', '--ask', '3011:2', '--bid', '2990:1', '--ask', '3010.5:1'];
    const { code, stdout, stderr } = await quote(...entries, '--set', 'mm', '--group', 'g1', '--for', '90s');
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      'Received   set mm: 3 created, 1 changed, 2 kept, 4 cancelled\nRefused    Buy at 2990: PostOnlyWouldCross\n',
    );
    const { quotes, signature } = lastSet();
    assert.equal(signature.length, 64);
    assert.deepEqual(quotes['bids'], [
      [299_000, 10_000],
      [298_900, 20_000],
    ]);
    assert.deepEqual(quotes['asks'], [
      [301_050, 10_000],
      [301_100, 20_000],
    ]);
    assert.deepEqual(
      [quotes['set_id'], quotes['base_asset'], quotes['protection_group'], quotes['target']],
      ['mm', '2', 'g1', { account: 1, is_spot: true }],
    );
    assert.equal(quotes['max_trading_fees_rate'], 900, 'twice the rate of a taker (MON-15)');
    assert.equal(server.requests.findLast(({ path }) => path === '/orders/quotes')?.method, 'PUT');
  });

  test('--end sends the empty set', async () => {
    answer = { body: answerOf('Received', 'null', '') };
    assert.equal((await quote('--end', '--set', 'mm')).code, 0);
    assert.deepEqual([lastSet().quotes['bids'], lastSet().quotes['asks']], [[], []]);
  });

  test('what the set adds is refused as a whole: exit code 1, and what it took away is printed', async () => {
    answer = { body: answerOf('Rejected', '"InsufficientMargin"', '') };
    const refused = await quote('--bid', '2990:1', '--margin');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stdout,
      /^Rejected +set mm: .*4 cancelled: InsufficientMargin, what it takes away was applied/,
    );
    assert.deepEqual(lastSet().quotes['target'], { account: 1, is_spot: false });
    const { stdout } = await quote('--bid', '2990:1', '--json');
    assert.equal((JSON.parse(stdout) as { readonly revisionNs: string }).revisionNs, '1770000000000000001');
  });

  test('a refusal of the service is its message and exit code 1', async () => {
    answer = { status: 409, body: '{"error":{"code":"MMP_FROZEN","message":"the group is frozen","retryable":false}}' };
    const { code, stderr } = await quote('--bid', '2990:1');
    assert.deepEqual([code, stderr], [1, 'ringbook: MMP_FROZEN: the group is frozen\n']);
  });

  test('wrong usage prints what to do and exits with 64', async () => {
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /--bid and --ask, or --end/],
      [['--end', '--bid', '1:1'], /--bid and --ask, or --end/],
      [['--bid', '2990'], /PRICE:QUANTITY, like 2990.5:1.25, not "2990"/],
      [['--bid', '1:1', '--for', '1y'], /--for takes a duration/],
      [['BTC', '--bid', '1:1'], /quote takes one MARKET/],
    ];
    for (const [argv, reason] of wrong) {
      const { code, stderr } = await quote(...argv);
      assert.equal(code, 64, argv.join(' '));
      assert.match(stderr, reason);
    }
  });
});
