// tier: full
/** `ringbook risk` and `ringbook demo`: tables of what the operator API answers, and their usage errors. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ringbook as runCommand } from '../support/ringbook-command.ts';
import { startWireServer } from '../support/wire-server.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

const AT_RISK =
  '{"timestamp_ns":1800000000000000000,"accounts_at_risk":3,"shielded_accounts":1,"accounts":[' +
  `{"user_id":"${A}","sub_account":1,"maintenance_surplus":"-172.129","maintenance_requirement":"380","is_shielded":false,` +
  '"liquidation":{"stage":"waiting","round":2,"started_ns":1800000000000000000,"order_id":null},' +
  '"positions":{"2":{"base":"2","quote":"-4002","mark_price":"1900","liquidation_price":"1995.555555555555555555"},' +
  '"12":{"base":"-0.5","quote":"30","mark_price":"60","liquidation_price":null}}},' +
  `{"user_id":"${B}","sub_account":12,"maintenance_surplus":"-1","maintenance_requirement":"9.5","is_shielded":true,` +
  '"liquidation":null,"positions":{}}]}';
const BACKSTOP =
  `{"account":"${B}","capital":"-1020.5","sub_accounts":[{"index":2,"source_user":"${A}","source_index":1,"state":"working",` +
  '"spot":{"0":"2020"},"positions":{"110":{"base":"-10","quote":"19000"}},"provisional_collateral":"1020.5",' +
  '"posted_collateral":"0","equity":"1020","im_surplus":"20","im_requirement":"1000","adl_closed":{"110":"0"}},' +
  `{"index":3,"source_user":"${A}","source_index":4,"state":"closed","spot":{},"positions":{},"provisional_collateral":"1",` +
  '"posted_collateral":"0","equity":"0","im_surplus":"0","im_requirement":"0","adl_closed":{}}]}';

interface Lines {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

async function ringbook(...argv: readonly string[]): Promise<Lines> {
  const { code, stdout, stderr } = await runCommand(argv);
  return { code, lines: stdout.trimEnd().split('\n'), stderr };
}

suite('ringbook risk', () => {
  test('accounts are a table with surplus, requirement, the state of a liquidation and the positions', async () => {
    const asked: string[] = [];
    const server = await startWireServer({
      answer: ({ path }) => {
        asked.push(path);
        return { body: path.startsWith('/operator/backstop') ? BACKSTOP : AT_RISK };
      },
    });
    try {
      const all = await ringbook('risk', '--ops', server.base, '--limit', '7');
      assert.deepEqual([all.code, all.stderr], [0, '']);
      assert.deepEqual(all.lines, [
        'accounts at risk 3, shielded 1, listed 2',
        `${'account'.padEnd(67)}  surplus  requirement  liquidation       positions (market: size @ liquidation price)`,
        `${A}/1   -172.12          380  round 2, waiting  2: 2 @ 1995.55, 12: -0.5 @ -`,
        `${B}/12       -1          9.5  shielded`,
      ]);
      const liquidations = await ringbook('risk', 'liquidations', '--ops', server.base);
      assert.equal(liquidations.lines.length, 3);
      assert.match(liquidations.lines[2] ?? '', new RegExp(`^${A}/1 `));
      const backstop = await ringbook('risk', 'backstop', '--ops', server.base);
      assert.deepEqual(backstop.lines, [
        `backstop ${B}`,
        'capital -1020.5 USD, open 1, closed 1',
        'account  state    equity  surplus  requirement  credited  posted  positions  taken from',
        `      2  working    1020       20         1000    1020.5       0  110: -10   ${A}/1`,
      ]);
      assert.deepEqual(asked, [
        '/operator/accounts-at-risk?limit=7',
        '/operator/accounts-at-risk?limit=100',
        '/operator/backstop',
      ]);
    } finally {
      await server.close();
    }
  });

  test('wrong usage says what is right and exits with 64, a node that is not there with 69', async () => {
    for (const [argv, reason] of [
      [['risk', 'nothing'], /accounts, liquidations, backstop/],
      [['risk', 'accounts', 'backstop'], /one of/],
      [['risk', '--limit', '0'], /--limit takes a whole number/],
      [['risk', '--limit', '1001'], /at most 1000/],
      [['demo'], /ringbook demo crash/],
      [['demo', 'boom'], /ringbook demo crash/],
      [['demo', 'crash', '--accounts', '3'], /--accounts is 4 to 200/],
      [['demo', 'crash', '--accounts', '201'], /--accounts is 4 to 200/],
    ] as const) {
      const ended = await ringbook(...argv);
      assert.equal(ended.code, 64, argv.join(' '));
      assert.match(ended.stderr, reason);
    }
    const { code, stderr } = await ringbook('risk', '--ops', 'http://127.0.0.1:9');
    assert.equal(code, 69);
    assert.match(stderr, /ringbook start/);
  });
});
