// tier: full, 36 s
/** The `ringbook` command as its users meet it: child processes, their output and their exit codes. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { loadKey } from '../../src/client/keys.ts';
import { eventFrame } from '../../src/codec/stream-frames.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { loadConfig } from '../../src/node/config.ts';
import { CLI, ringbook } from '../support/ringbook-command.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { startWireServer, type WireHandlers, withLogin } from '../support/wire-server.ts';

const COMMANDS = [
  'start',
  'keygen',
  'order',
  'quote',
  'cancel',
  'cancel-all',
  'balances',
  'orders',
  'trades',
  'positions',
  'sessions',
  'markets',
  'klines',
  'withdraw',
  'signers',
  'cosign',
  'book',
  'risk',
  'demo',
  'replay-flow',
  'bench',
  'ready',
  'doctor',
  'slim',
  'evidence',
];

suite('the command', () => {
  const isScripts = CLI.includes('/dist/') ? false : 'only the scripts of package.json build into dist';

  test('may be run by its name, however often it was built anew', { skip: isScripts }, () => {
    assert.notEqual(
      statSync(CLI).mode & 0o111,
      0,
      'npx runs the file itself, and makes it executable only the first time',
    );
  });
});

suite('help', () => {
  test('the command lists its subcommands, and each has help with an example', async () => {
    const main = await ringbook(['--help']);
    assert.equal(main.code, 0);
    for (const name of COMMANDS) {
      assert.match(main.stdout, new RegExp(`^ {2}${name} +\\w`, 'm'));
      const help = await ringbook([name, '--help']);
      assert.equal(help.code, 0, name);
      assert.match(help.stdout, new RegExp(`^usage: ringbook ${name}`), name);
      assert.match(help.stdout, /^example:\n {2}\S/m, name);
      assert.equal(help.stderr, '', name);
    }
  });
});

suite('version', () => {
  test('version and commit are those of GET /version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    for (const option of ['--version', '-v', 'version']) {
      const { code, stdout } = await ringbook([option], { RINGBOOK_COMMIT: 'of-the-test' });
      assert.deepEqual([code, stdout], [0, `ringbook ${version}, commit of-the-test\n`], option);
    }
  });
});

suite('usage errors', () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /which command/],
    [['destroy'], /no command "destroy"; "ringbook --help"/],
    [['strat'], /no command "strat"; did you mean "start"\?/],
    [['start', '--port', '1'], /--port/],
    [['start', 'production'], /start takes no argument/],
    [['ready', '--wait', '1.5'], /--wait takes whole seconds/],
    [['ready', 'now'], /ready takes no argument/],
    [['keygen'], /keygen takes one FILE/],
    [['book', '2', '--levels', '0'], /--levels takes a whole number/],
    [['book', '2', '--invented'], /--invented/],
    [['book', '2', '--mds', 'localhost'], /--mds takes an address/],
    [['order', 'buy', '1', '2', '--as', 'a'], /--price is missing/],
    [['order', 'hold', '1', '2', '--price', '3', '--as', 'a'], /buy or sell/],
    [['order', 'buy', '1', '2', '--price', '3'], /the user is missing/],
    [['order', 'buy', '1', '2', '--price', '3', '--as', 'c'], /--as takes a or b/],
    [['order', 'buy', '1', '2', '--price', '3', '--as', 'a', '--tif', 'day'], /--tif takes/],
    [['order', 'buy', '1', '2', '--price', '3', '--cap', '5', '--as', 'a'], /go with --market/],
    [['order', 'buy', '1', '2', '--price', '3', '--market', '--as', 'a'], /not both/],
    [['order', 'buy', '1', '2', '--market', '--tif', 'gtc', '--as', 'a'], /ioc or fok/],
    [['order', 'buy', '1', '2', '--market', '--amount', '5', '--as', 'a'], /a side, a quantity and a market/],
    [['order', 'buy', '1', '2', '--price', '3', '--parent', 'x', '--as', 'a'], /--parent goes with/],
    [
      ['order', 'buy', '1', '2', '--price', '3', '--trigger-above', '1', '--trigger-below', '1', '--as', 'a'],
      /one trigger/,
    ],
    [['withdraw'], /the user is missing/],
    [['withdraw', '--as', 'a', '--amount-text', 'octal'], /--amount-text takes/],
    [['withdraw', '--as', 'a', '--request', 'x.json'], /--request goes with a withdrawal/],
    [['withdraw', '--as', 'a', '--execute', '0', '--request', 'x.json'], /--request goes with a withdrawal/],
    [['withdraw', '--as', 'a', '--cancel', '0'], /a token is an asset or/],
    [['withdraw', '--as', 'a', '--user', 'f'.repeat(64)], /--user goes without --as/],
    [['withdraw', '--user', 'f'], /64 hex digits/],
    [['keygen', 'x', '--scheme', 'rsa'], /--scheme takes ed25519/],
    [['keygen', 'x', '--scheme', 'p256', '--approval'], /--approval goes without --scheme/],
    [['keygen', 'x', '--scheme', 'webauthn', '--rp-id', 'localhost'], /needs both/],
    [['keygen', 'x', '--scheme', 'p256', '--rp-id', 'a', '--origin', 'b'], /needs both/],
    [['signers', 'add', 'rsa:00', '--as', 'a'], /a public key is written as/],
    [['signers', 'add', `p256:${'02'.repeat(33)}`, '--weight', '0', '--as', 'a'], /--weight takes a whole number/],
    [['signers', 'add', `p256:${'02'.repeat(33)}`, '--for', '1y', '--as', 'a'], /--for takes a duration/],
    [['signers'], /the user is missing: .*--user USER_ID/],
    [['signers', 'add', '--as', 'a'], /a public key, or the file of a key, is missing/],
    [['signers', 'remove', '--as', 'a'], /has "add" and "of"/],
    [['bench', 'control', '--json', '/missing-folder/a.json'], /cannot be written/],
    [['bench', 'control', '--pid', '4194305'], /no process 4194305/],
    [['cosign'], /cosign takes a FILE/],
    [['cancel-all', '2', '3', '--as', 'a'], /one market or none/],
    [['cancel', 'ETH', '--as', 'a'], /a market and order ids/],
    [['balances', 'ETH', '--as', 'a'], /balances takes no argument/],
    [['balances'], /the user is missing/],
    [['orders', '--status', 'dead', '--as', 'a'], /--status takes one of open/],
    [['trades', '--limit', '1001', '--as', 'a'], /--limit is at most 1000/],
    [['trades', '--end', 'x', '--as', 'a'], /--end/],
    [['positions', 'ETH', 'BTC', '--as', 'a'], /one MARKET or none/],
    [['klines'], /klines takes one MARKET/],
    [['markets', '--as', 'a'], /--as/],
    [['cancel-all'], /the user is missing/],
    [['bench'], /bench measures one thing/],
    [['bench', 'control', '--rates', '3000,1000'], /ascending order/],
    [['bench', 'control', '--rates', '0'], /--rates takes a whole number/],
    [['bench', 'control', '--rates', '90000', '--seconds', '30'], /at most 300000 orders/],
    [['bench', 'control', '--seconds', '31'], /--seconds is 1 to 30/],
    [['bench', 'control', '--flows', 'creates,swaps'], /--flows takes creates, mix/],
    [['bench', 'control', '--key', 'a.key'], /two users trade/],
    [['bench', 'control', '--key', 'a.key', '--key', 'b.key'], /--key needs --market ID and --price/],
    [['bench', 'control', '--market', '2'], /go with two users of your own/],
    [['bench', '--compare', 'a.json'], /--compare takes two files/],
    [['bench', '--compare', 'a.json', 'b.json'], /a.json cannot be read/],
    [['replay-flow'], /which flow/],
    [['replay-flow', 'missing.csv'], /missing.csv cannot be read/],
    [['replay-flow', 'x.csv', '--synthetic', '1'], /not both/],
  ];

  test('each prints what to do and exits with 64', async () => {
    for (const [argv, reason] of wrong) {
      const ended = await ringbook(argv);
      assert.equal(ended.code, 64, argv.join(' '));
      assert.match(ended.stderr, reason);
      assert.equal(ended.stdout, '');
    }
  });
});

suite('a node that is not there', () => {
  test('exits with 69 and prints how to start one', async () => {
    const nowhere = 'http://127.0.0.1:9';
    for (const argv of [
      ['book', '2', '--mds', nowhere],
      ['order', 'buy', '1', '2', '--price', '3', '--as', 'a', '--oms', nowhere],
      ['cancel-all', '--as', 'a', '--oms', nowhere],
      ['replay-flow', '--synthetic', '1', '--events', '5', '--oms', nowhere, '--ops', nowhere],
      ['bench', 'control', '--target', nowhere, '--ops', nowhere],
    ]) {
      const ended = await ringbook(argv);
      assert.equal(ended.code, 69, argv.join(' '));
      assert.match(ended.stderr, /ringbook start/);
    }
  });
});

suite('keygen', () => {
  test('writes a private key file once and prints its user id', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'me.key');
    try {
      const made = await ringbook(['keygen', path]);
      assert.equal(made.code, 0);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.equal(made.stdout, `${loadKey(path).userId}\n`);
      const before = readFileSync(path, 'utf8');
      const again = await ringbook(['keygen', path]);
      assert.equal(again.code, 1);
      assert.match(again.stderr, /never overwritten/);
      assert.equal(readFileSync(path, 'utf8'), before);
    } finally {
      removeDirectory(directory);
    }
  });
});

suite('keygen --approval', () => {
  test('writes the key of a node that its configuration takes, and prints its address', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'approval.key');
    try {
      const made = await ringbook(['keygen', path, '--approval']);
      assert.equal(made.code, 0, made.stderr);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const config = join(directory, 'config.json');
      writeFileSync(config, JSON.stringify({ extends: 'dev', approval_keys: [path] }));
      const [address] = loadConfig({ RINGBOOK_CONFIG: config }).approvalAddresses;
      assert.equal(made.stdout, `${address}\n`);
      assert.match(made.stdout, /^[0-9a-f]{40}\n$/);
      assert.equal((await ringbook(['keygen', path, '--approval'])).code, 1);
    } finally {
      removeDirectory(directory);
    }
  });
});

suite('ready', () => {
  const starting = '{"ready":false,"waiting_for":["clearing"]}';

  test('exits with 0 when the node is, with 1 while it is not, and with 69 when there is none', async () => {
    const server = await startWireServer({ answer: () => ({ body: '{"ready":true,"waiting_for":[]}' }) });
    const recovering = await startWireServer({ answer: () => ({ status: 503, body: starting }) });
    try {
      assert.deepEqual(await ringbook(['ready', '--ops', server.base]), { code: 0, stdout: '', stderr: '' });
      const early = await ringbook(['ready', '--ops', recovering.base]);
      assert.equal(early.code, 1);
      assert.match(early.stderr, /waits for clearing$/m);
    } finally {
      await server.close();
      await recovering.close();
    }
    const none = await ringbook(['ready', '--ops', 'http://127.0.0.1:9']);
    assert.equal(none.code, 69);
    assert.match(none.stderr, /no node answers at http:\/\/127\.0\.0\.1:9/);
  });

  test('with --wait it looks until the node is ready, and no longer than that', async () => {
    let looks = 0;
    const server = await startWireServer({
      answer: () => {
        looks += 1;
        return looks < 3 ? { status: 503, body: starting } : { body: '{"ready":true,"waiting_for":[]}' };
      },
    });
    try {
      // Reached through the variables of the node, whose listener is on all addresses.
      const port = new URL(server.base).port;
      const { code } = await ringbook(['ready', '--wait', '60'], { RINGBOOK_OPS_PORT: port, RINGBOOK_HOST: '0.0.0.0' });
      assert.equal(code, 0);
      assert.equal(looks, 3);
    } finally {
      await server.close();
    }
    assert.equal((await ringbook(['ready', '--wait', '1', '--ops', 'http://127.0.0.1:9'])).code, 69);
  });

  test('reaches the public listeners over TLS where the configuration file has it', async () => {
    const folder = temporaryDirectory();
    const file = join(folder, 'node.json');
    try {
      const publicListeners = { tls: { certFile: 'cert.pem', keyFile: 'key.pem' } };
      writeFileSync(file, JSON.stringify({ extends: 'production', publicListeners }));
      const env = { RINGBOOK_CONFIG: file, RINGBOOK_MDS_PORT: '9', RINGBOOK_OPS_PORT: '9' };
      assert.match((await ringbook(['book', '1'], env)).stderr, /https:\/\/127\.0\.0\.1:9/);
      assert.match((await ringbook(['ready'], env)).stderr, /http:\/\/127\.0\.0\.1:9/);
    } finally {
      removeDirectory(folder);
    }
  });

  test('finds the operations listener where the configuration file has it, and a broken file does not stop it', async () => {
    const folder = temporaryDirectory();
    const file = join(folder, 'node.json');
    const server = await startWireServer({ answer: () => ({ body: '{"ready":true,"waiting_for":[]}' }) });
    try {
      writeFileSync(file, JSON.stringify({ extends: 'production', hosts: { ops: '127.0.0.1' } }));
      const port = new URL(server.base).port;
      const env = { RINGBOOK_CONFIG: file, RINGBOOK_HOST: '192.0.2.1', RINGBOOK_OPS_PORT: port };
      assert.deepEqual(await ringbook(['ready'], env), { code: 0, stdout: '', stderr: '' });
      writeFileSync(file, '{');
      assert.equal((await ringbook(['ready', '--ops', server.base], env)).code, 0);
    } finally {
      await server.close();
      removeDirectory(folder);
    }
  });
});

suite('the token of the operator API', () => {
  test('is read of the file that a variable names, by every command that needs it', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'token');
    writeFileSync(path, 'of-a-file\n');
    const tokens: (string | undefined)[] = [];
    const server = await startWireServer({
      answer: ({ headers }) => {
        tokens.push(headers.authorization);
        return { status: 401, body: '{"error":{"code":"UNAUTHORIZED","message":"no"}}' };
      },
    });
    try {
      const environment = { RINGBOOK_OPERATOR_TOKEN_FILE: path };
      for (const argv of [['risk'], ['trace', '--seconds', '1']]) {
        assert.equal((await ringbook([...argv, '--ops', server.base], environment)).code, 1, argv.join(' '));
      }
      assert.ok(tokens.length >= 2);
      assert.deepEqual(new Set(tokens), new Set(['Bearer of-a-file']));
      const missing = await ringbook(['risk', '--ops', server.base], { RINGBOOK_OPERATOR_TOKEN_FILE: `${path}.none` });
      assert.deepEqual([missing.code, /ENOENT/.test(missing.stderr)], [64, true]);
    } finally {
      await server.close();
      removeDirectory(directory);
    }
  });
});

suite('a node that answers', () => {
  test('book prints asks above bids with the best in the middle', async () => {
    const body = '{"asks":[[3150.25,2.5],[3151,1]],"bids":[[3149.75,1],[3149,20]],"sequence_number":9001}';
    const server = await startWireServer({ answer: () => ({ body }) });
    try {
      const { code, stdout } = await ringbook(['book', '12', '--mds', server.base]);
      assert.equal(code, 0);
      const lines = stdout.split('\n').map((line) => line.trim().replace(/ +/g, ' '));
      assert.deepEqual(lines, [
        'market 12, sequence 9001',
        'price quantity',
        'ask 3151 1',
        'ask 3150.25 2.5',
        '----------------------',
        'bid 3149.75 1',
        'bid 3149 20',
        '',
      ]);
    } finally {
      await server.close();
    }
  });

  test('order follows its fills from Pending to Confirmed, and ignores other orders', async () => {
    const market =
      '{"asset_id":"2","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":100,"taker_fee_rate":450,"status":"Active"}';
    const sockets = new Map<string, (frame: string) => void>();
    const follow = (orderId: string): void => {
      const trade = (id: string, status: string): string =>
        `{"asset_id":"2","trade_id":7,"order_id":"${id}","price":"3000","quantity":"0.5","timestamp_ns":1,"is_maker":false,"is_buyer":true,"status":"${status}","rollback_reason":null,"trading_fee":"0.675"}`;
      const trades = [...sockets].find(([path]) => path.startsWith('/trades/user/events/'))?.[1];
      const orders = sockets.get('/orders');
      // Its end comes over another socket, and here first; it is printed last.
      orders?.(
        `{"Removed":{"order_id":"${orderId}","asset_id":"2","user_id":"u","timestamp_ns":1,"reason":"Filled","filled_quantity":5000,"confirmed_quantity":5000}}`,
      );
      setTimeout(() => {
        trades?.(trade('another', 'Pending'));
        trades?.(trade(orderId, 'Pending'));
        trades?.(trade(orderId, 'Confirmed'));
      }, 30);
    };
    const handlers: WireHandlers = {
      answer: withLogin((request) => {
        if (request.path === '/market/2') return { body: market };
        const orderId = (JSON.parse(request.body) as { order: { order_id: string } }).order.order_id;
        setTimeout(() => follow(orderId), 20);
        return { body: `{"order_id":"${orderId}","status":"Received","reason":null,"processed_at_ns":1}` };
      }),
      socket: (socket, path) =>
        sockets.set(path, (frame) =>
          socket.send(eventFrame(1, path === '/orders' ? 'orders' : 'trades', 1n as TimestampNs, frame)),
        ),
    };
    const server = await startWireServer(handlers);
    try {
      const argv = ['order', 'buy', '0.5', '2', '--price', '3000', '--as', 'b', '--oms', server.base];
      const { code, stdout, stderr } = await ringbook(argv);
      assert.equal(stderr, '');
      assert.equal(code, 0);
      const words = stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]);
      assert.deepEqual(words, ['Signed', 'Received', 'Pending', 'Confirmed', 'Removed']);
      assert.match(stdout, /Confirmed +0\.5 at 3000, fee 0\.675 USD, trade 7/);
    } finally {
      await server.close();
    }
  });

  test('order sends market orders and triggers, cancel-all its one request', async () => {
    const market =
      '{"asset_id":"2","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":100,"taker_fee_rate":450,"status":"Active"}';
    const sent: string[] = [];
    const answer = withLogin(({ method, path, body }) => {
      if (path === '/market/2') return { body: market };
      if (path !== '/orders/create') return { status: 202, body: `{"status":"${sent.push(`${method} ${path}`)}"}` };
      const { order } = JSON.parse(body) as { order: { details: unknown; trigger: unknown } };
      sent.push(JSON.stringify([order.details, order.trigger]));
      return { status: 400, body: '{"error":{"code":"INVALID_ORDER","message":"no","retryable":false}}' };
    });
    const server = await startWireServer({ answer, socket: () => undefined });
    try {
      const runs = [
        'order buy 0.5 2 --market --cap 1500.5',
        'order sell 2 --market --amount 100 --cap 0.5 --tif fok',
        'order sell 0.5 2 --price 2800 --trigger-below 2850 --parent p-1',
        'cancel-all',
        'cancel-all 2',
      ];
      for (const line of runs) await ringbook([...line.split(' '), '--as', 'a', '--oms', server.base]);
      const base = '"BaseAsset":{"quantity":5000,"max_sellable_amount":15005000}';
      const quote = '"QuoteAsset":{"quantity":1000000,"max_sellable_quantity":5000}';
      const limit = '"limit_price":280000,"quantity":5000,"time_in_force":{"GTC":{"post_only":false}}';
      assert.deepEqual(sent, [
        `[{"Market":{"quantity":{${base}},"fill_or_kill":false}},null]`,
        `[{"Market":{"quantity":{${quote}},"fill_or_kill":true}},null]`,
        `[{"Limit":{${limit}}},{"parent_order_id":"p-1","condition":{"PriceBelow":{"price":285000}}}]`,
        'DELETE /orders/cancel-all',
        'DELETE /orders/cancel-all/2',
      ]);
    } finally {
      await server.close();
    }
  });

  test('doctor shows what a node waits for, and what is wrong with a data directory', async () => {
    const body = '{"ready":false,"waiting_for":["clearing","markets"]}';
    const server = await startWireServer({ answer: () => ({ status: 503, body }) });
    const directory = temporaryDirectory();
    const file = join(directory, 'file');
    writeFileSync(file, '');
    try {
      const port = new URL(server.base).port;
      const { code, stdout } = await ringbook(['doctor'], {
        RINGBOOK_OPS_PORT: port,
        RINGBOOK_DATA_DIR: join(file, 'x'),
      });
      assert.equal(code, 1);
      assert.match(stdout, /^FAIL +running node +at \S+ waits for clearing, markets/m);
      assert.match(stdout, /^FAIL +data directory +\S+ cannot be written/m);
      assert.match(stdout, /^ok +configuration +profile dev/m);
      const refused = await ringbook(['doctor'], { RINGBOOK_OPS_PORT: port, RINGBOOK_ACK: 'durable' });
      assert.match(refused.stdout, /^FAIL +configuration +there is no variable RINGBOOK_ACK: /m);
      for (const environment of [{ RINGBOOK_OPS_PORT: 'abc' }, { RINGBOOK_HOST: '127.0.0.1:3032' }]) {
        const { code, stdout, stderr } = await ringbook(['doctor'], environment);
        const [[name = '', value = ''] = []] = Object.entries(environment);
        assert.deepEqual([code, stderr], [1, '']);
        assert.match(stdout, new RegExp(`^FAIL +configuration +${name} is "${value}": give `, 'm'));
        assert.doesNotMatch(stdout, /data directory/);
      }
      // With another program in its place on the operators' port, and an address of another machine.
      const taken = await ringbook(['doctor'], { RINGBOOK_OMS_PORT: port, RINGBOOK_OPS_PORT: '0' });
      assert.match(taken.stdout, new RegExp(`^FAIL +127\\.0\\.0\\.1:${port} +taken .*RINGBOOK_OMS_PORT`, 'm'));
      const config = join(directory, 'node.json');
      writeFileSync(config, JSON.stringify({ extends: 'production', publicListeners: 'plain-behind-terminator' }));
      const away = await ringbook(['doctor'], {
        RINGBOOK_CONFIG: config,
        RINGBOOK_OPERATOR_TOKEN: 'f'.repeat(32),
        RINGBOOK_HOST: '192.0.2.1',
        RINGBOOK_OPS_PORT: '0',
      });
      assert.match(away.stdout, /^FAIL +192\.0\.2\.1:3032 +192\.0\.2\.1 is no address of this machine .*hosts\.oms/m);
      for (const name of ['uWebSockets.js', 'lmdb', 'sodium-native', 'tiny-secp256k1']) {
        assert.match(stdout, new RegExp(`^ok +${name} +loads`, 'm'));
      }
    } finally {
      await server.close();
      removeDirectory(directory);
    }
  });
});
