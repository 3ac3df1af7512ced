// tier: quick
/** What the SDK puts on the wire and what it makes of the answers, against real sockets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { LimitOrder } from '../../src/client/canonical.ts';
import { RingbookClient } from '../../src/client/client.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { keyFromSeed, loadKey } from '../../src/client/keys.ts';
import type { UserTrade } from '../../src/client/replies.ts';
import { checkNonce } from '../../src/client/session.ts';
import type { AssetId } from '../../src/core/ids.ts';
import { TLS_CERTIFICATE, TLS_KEY } from '../support/tls-pair.ts';
import {
  type Answer,
  NONCE,
  startWireServer,
  type WireHandlers,
  type WireServer,
  withLogin,
} from '../support/wire-server.ts';

const KEY = keyFromSeed(new Uint8Array(32).fill(7));
const RECEIVED = '{"order_id":"o-1","status":"Received","reason":null,"processed_at_ns":1770000000001200000}';

async function withServer(
  handlers: WireHandlers,
  body: (client: RingbookClient, server: WireServer) => Promise<void>,
): Promise<void> {
  const server = await startWireServer(handlers);
  const client = new RingbookClient({ oms: server.base, mds: server.base, key: KEY });
  try {
    await body(client, server);
  } finally {
    client.close();
    await server.close();
  }
}

function order(orderId: string): LimitOrder {
  return {
    signer: KEY.userId,
    orderId,
    assetId: '12' as AssetId,
    priceDecimals: 2,
    quantityDecimals: 4,
    side: 'Buy',
    limitPrice: 315_025,
    quantity: 25_000,
    timeInForce: { kind: 'GTC' },
    creationTimestampNs: 1n,
    target: { account: 1, isSpot: true },
    reduceOnly: false,
    maxTradingFeesRate: 50_000,
  };
}

const rejectsWith = (code: string) => (error: unknown) => error instanceof RingbookError && error.code === code;

suite('login', () => {
  test('a nonce that could be anything but a nonce is not signed (hazard of raw login signatures)', async () => {
    const refused = [
      '',
      '{"order":1}',
      `{${'a'.repeat(42)}`,
      'a'.repeat(42),
      'a'.repeat(44),
      `${'a'.repeat(42)} `,
      `${'a'.repeat(42)}é`,
      `${'a'.repeat(43)}\n`,
    ];
    for (const nonce of refused) assert.throws(() => checkNonce(nonce), rejectsWith('UNSAFE_NONCE'), nonce);
    assert.equal(checkNonce(NONCE), NONCE);

    const answer = (): Answer => ({ body: '{"value":"{\\"signer\\":\\"x\\"}","ce_nonce":0}' });
    await withServer({ answer }, async (client, server) => {
      await assert.rejects(client.login(), rejectsWith('UNSAFE_NONCE'));
      assert.deepEqual(
        server.requests.map((request) => request.path),
        [`/nonce/${KEY.userId}`],
      );
    });
  });

  test('the exact requests of a login and of a protected read (wire.md 1, 3)', async () => {
    const answer = withLogin(() => ({
      body: '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"1.5"},"margins":{}}}}',
    }));
    await withServer({ answer }, async (client, server) => {
      const inventory = await client.inventory();
      assert.equal(inventory.get(0)?.spot.get('0'), '1.5');
      const [nonce, auth, read] = server.requests;
      assert.equal(nonce?.headers['content-type'], 'application/json');
      assert.equal(nonce?.headers.accept, 'application/json');
      const signature = [...KEY.sign(Buffer.from(NONCE))].join(',');
      assert.equal(auth?.body, `{"user_id":"${KEY.userId}","nonce":"${NONCE}","signature":[${signature}]}`);
      assert.equal(read?.headers.authorization, 'Bearer token-1');
      assert.equal(read?.headers['user-id'], KEY.userId);
    });
  });

  test('calls that come together share one login', async () => {
    const answer = withLogin(() => ({ body: '{"accounts":{}}' }));
    await withServer({ answer }, async (client, server) => {
      await Promise.all([client.inventory(), client.inventory(), client.inventory()]);
      assert.equal(server.requests.filter((request) => request.path === '/auth').length, 1);
    });
  });

  test('after a 401 it logs in again and sends the identical request once more, not twice (wire.md 3.4)', async () => {
    let refusals = 1;
    const answer = withLogin((): Answer => {
      refusals -= 1;
      if (refusals < 0) return { body: RECEIVED };
      return { status: 401, body: '{"error":{"code":"UNAUTHORIZED","message":"token","retryable":false}}' };
    });
    await withServer({ answer }, async (client, server) => {
      const action = client.signCreate(order('o-1'));
      assert.equal((await client.send(action)).status, 'Received');
      const sent = server.requests
        .filter((request) => request.path === '/orders/create')
        .map((request) => request.body);
      assert.deepEqual(sent, [action.body, action.body]);
      refusals = 10;
      await assert.rejects(client.send(action), rejectsWith('UNAUTHORIZED'));
      assert.equal(refusals, 8);
    });
  });
});

suite('REST', () => {
  test('a cancel is a DELETE with a body, a replace a PATCH (wire.md 7.5, 7.6)', async () => {
    const answer = withLogin((request) =>
      request.path.startsWith('/market/')
        ? {
            body: '{"asset_id":"12","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":-5,"taker_fee_rate":450,"status":"Active"}',
          }
        : { body: RECEIVED },
    );
    await withServer({ answer }, async (client, server) => {
      const assetId = '12' as AssetId;
      const response = await client.cancel(assetId, 'o-1');
      assert.deepEqual(response, {
        orderId: 'o-1',
        status: 'Received',
        reason: null,
        processedAtNs: 1_770_000_000_001_200_000n,
      });
      await client.replace({ assetId, orderId: 'o-1', price: '3151' });
      const [cancel, , replace] = server.requests.slice(2);
      assert.equal(`${cancel?.method} ${cancel?.path}`, 'DELETE /orders/cancel');
      assert.match(cancel?.body ?? '', /^\{"cancel":\{"order_id":"o-1","asset_id":"12",/);
      assert.equal(`${replace?.method} ${replace?.path}`, 'PATCH /orders/replace');
      assert.match(replace?.body ?? '', /"new_price_limit":315100,"new_quantity":null,/);
    });
  });

  test('cancels of many are DELETEs that a session authorizes, answered 202 (wire.md 7.8)', async () => {
    const answer = withLogin(() => ({ status: 202, body: '{"status":"accepted"}' }));
    await withServer({ answer }, async (client, server) => {
      await client.cancelAll();
      await client.cancelAll({ assetId: '12', beforeNs: 1_770_000_000_000_000_001n });
      await client.cancelBatch(['o-1', 'o-2']);
      await client.cancelBatch(['o-1'], '12');
      assert.deepEqual(
        server.requests.slice(2).map(({ method, path, body }) => `${method} ${path} ${body}`),
        [
          'DELETE /orders/cancel-all ',
          'DELETE /orders/cancel-all/12?max_ts=1770000000000000001 ',
          'DELETE /orders/cancel-batch {"order_ids":["o-1","o-2"]}',
          'DELETE /orders/cancel-batch {"order_ids":["o-1"],"asset_id":"12"}',
        ],
      );
    });
  });

  test('batches are one request, answered order by order; mistakes are reported before anything is sent (wire.md 7.7)', async () => {
    const body =
      '{"results":[{"order_id":"o-1","status":"Received","reason":null},{"order_id":"o-2","status":"Rejected","reason":"WouldCross"}]}';
    await withServer({ answer: withLogin(() => ({ body })) }, async (client, server) => {
      const creates = [client.signCreate(order('o-1')), client.signCreate(order('o-2'))];
      assert.deepEqual(await client.batchCreate(creates), [
        { orderId: 'o-1', status: 'Received', reason: null },
        { orderId: 'o-2', status: 'Rejected', reason: 'WouldCross' },
      ]);
      const change = { assetId: '12', orderId: 'o-1', newLimitPrice: 315_100, newQuantity: null, newTrigger: null };
      const replace = client.signReplaceRaw({ ...change, priceDecimals: 2, quantityDecimals: 4 });
      await client.batchReplace([replace]);
      const [create, replaced] = server.requests.slice(2);
      assert.equal(
        `${create?.method} ${create?.path} ${create?.body}`,
        `POST /orders/batch-create {"orders":[${creates.map((item) => item.body)}]}`,
      );
      assert.equal(
        `${replaced?.method} ${replaced?.path} ${replaced?.body}`,
        `PATCH /orders/batch-replace {"requests":[${replace.body}]}`,
      );
      for (const wrong of [[], [replace], [...creates, ...creates], new Array(51).fill(creates[0])]) {
        await assert.rejects(async () => client.batchCreate(wrong), { code: 'INVALID_ARGUMENT' });
      }
      assert.equal(server.requests.length, 4);
    });
  });

  test('what is opted into is sent: re-send and hop times of an action, the dead-man timer', async () => {
    const timing = '"timing":{"received_ns":1,"verified_ns":2,"sent_ns":3,"matched_ns":null,"answered_ns":5}';
    const answer = withLogin(({ path }) =>
      path.endsWith('after')
        ? { body: '{"timeout_ms":60000,"fires_at_ns":1770000060000000000}' }
        : { body: `{"order_id":"o-1","status":"Received","reason":null,"processed_at_ns":4,${timing}}` },
    );
    await withServer({ answer }, async (client, server) => {
      const told = await client.send(client.signCreate(order('o-1')), { resend: true, timing: true });
      assert.deepEqual(told.timing, { receivedNs: 1n, verifiedNs: 2n, sentNs: 3n, matchedNs: null, answeredNs: 5n });
      await client.send(client.signCreate(order('o-2')));
      assert.equal(await client.cancelAllAfter(60_000), 1_770_000_060_000_000_000n);
      const [first, second, timer] = server.requests.slice(2);
      const wishes = ['x-ringbook-resend', 'x-ringbook-timing', 'authorization'];
      assert.deepEqual(
        [first, second].map((request) => wishes.map((name) => request?.headers[name] !== undefined)),
        [
          [true, true, true],
          [false, false, true],
        ],
      );
      assert.equal(
        `${timer?.method} ${timer?.path} ${timer?.body}`,
        'POST /orders/cancel-all-after {"timeout_ms":60000}',
      );
    });
  });

  test('a refusal is a RingbookError with code, status, retryable and details (wire.md 5.1)', async () => {
    const answer = withLogin(() => ({
      status: 503,
      body: '{"error":{"code":"SERVICE_UNAVAILABLE","message":"busy","retryable":true,"details":{"order_id":"o-1"}}}',
    }));
    await withServer({ answer }, async (client) => {
      const error = await client.create(order('o-1')).catch((reason: unknown) => reason);
      assert.ok(error instanceof RingbookError);
      assert.equal(error.code, 'SERVICE_UNAVAILABLE');
      assert.equal(error.status, 503);
      assert.equal(error.retryable, true);
      assert.deepEqual(error.details, { order_id: 'o-1' });
      assert.equal(error.field, null);
    });
  });

  test('a connection that is kept gets no listener for each of its requests', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    const answer = withLogin(() => ({
      status: 503,
      body: '{"error":{"code":"SERVICE_UNAVAILABLE","message":"busy"}}',
    }));
    await withServer({ answer }, async (client) => {
      for (let index = 0; index < 30; index += 1) await assert.rejects(client.create(order(`o-${index}`)));
    });
    process.off('warning', note);
    assert.deepEqual(warnings, []);
  });

  test('a refusal prints as plain JSON with code, field, message and details (wire.md 5.1)', async () => {
    const answer = withLogin(() => ({
      status: 400,
      body: '{"error":{"code":"INVALID_ORDER","message":"off the tick","retryable":false,"details":{"field":"limit_price","limit":9223372036854775808}}}',
    }));
    await withServer({ answer }, async (client) => {
      const error = await client.create(order('o-1')).catch((reason: unknown) => reason);
      assert.ok(error instanceof RingbookError);
      assert.equal(error.field, 'limit_price');
      assert.deepEqual(JSON.parse(JSON.stringify(error)), {
        name: 'RingbookError',
        code: 'INVALID_ORDER',
        field: 'limit_price',
        message: 'INVALID_ORDER: off the tick',
        retryable: false,
        status: 400,
        details: { field: 'limit_price', limit: '9223372036854775808' },
      });
    });
  });

  test('an order has what its fills cost, and its terms (wire.md 7.9)', async () => {
    const [record = ''] =
      readFileSync('docs/reference/wire.md', 'utf8').match(/^\{"order_id":"demo-order-1","base_asset".*$/m) ?? [];
    await withServer({ answer: withLogin(() => ({ body: record })) }, async (client) => {
      const known = await client.orderRecord('12', 'demo-order-1');
      assert.deepEqual(known, {
        orderId: 'demo-order-1',
        assetId: '12',
        side: 'Sell',
        limitPrice: '3150.25',
        quantity: '2.5',
        amount: null,
        triggerAbovePrice: null,
        triggerBelowPrice: null,
        parentId: null,
        confirmedFilledQuantity: '0.5',
        pendingFilledQuantity: '0',
        confirmedFilledAmount: '1575.125',
        pendingFilledAmount: '0',
        confirmedTradingFees: '0.31',
        pendingTradingFees: '0',
        isReduceOnly: false,
        goodUntilNs: null,
        quoteSetId: null,
        status: 'PartiallyFilled',
        timestampNs: 1_770_000_000_001_000_000n,
      });
    });
  });

  test('depth numbers keep every digit (G8, AMB-98)', async () => {
    const answer = (): Answer => ({
      body: '{"asks":[[9007199254740993.01,0.1]],"bids":[[3149,1]],"sequence_number":9001}',
    });
    await withServer({ answer }, async (client) => {
      assert.deepEqual(await client.depth('12'), {
        asks: [{ price: '9007199254740993.01', quantity: '0.1' }],
        bids: [{ price: '3149', quantity: '1' }],
        sequenceNumber: 9_001,
      });
    });
  });

  test('an address of another form is an error of the SDK, which names the form', () => {
    for (const oms of ['127.0.0.1:3032', 'localhost:3032', '', 'ftp://127.0.0.1', 'http://127.0.0.1:3032/?x=1']) {
      const refused = { name: 'RingbookError', code: 'INVALID_ARGUMENT' };
      assert.throws(() => new RingbookClient({ oms }), { ...refused, field: 'oms' }, oms);
      assert.throws(() => new RingbookClient({ oms: 'http://127.0.0.1', mds: oms }), { ...refused, field: 'mds' }, oms);
    }
  });

  test('a mistake in an order is an error of the SDK with the member at fault, in plain JavaScript too', async () => {
    const answer = withLogin(() => ({
      body: '{"asset_id":"12","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":-5,"taker_fee_rate":450,"status":"Active"}',
    }));
    await withServer({ answer }, async (client) => {
      const ticket = { assetId: '12', side: 'Buy', price: '3150.25', quantity: '0.5' };
      for (const [member, wrong] of [
        ['assetId', 'ETH/USD'],
        ['side', 'buy'],
        ['price', undefined],
        ['price', '3150.255'],
        ['quantity', '-1'],
        ['quantity', '0'],
        ['orderId', ''],
        ['orderId', 7],
        ['timeInForce', 'IOC'],
        ['timeInForce', { kind: 'GTD' }],
        ['trigger', { when: 'above', price: '' }],
        ['trigger', { when: 'over', price: '3150' }],
        ['postOnly', true],
      ] as const) {
        const send = async () => client.create(await client.order({ ...ticket, [member]: wrong } as never));
        await assert.rejects(send(), { name: 'RingbookError', code: 'INVALID_ARGUMENT', field: member }, String(wrong));
      }
      assert.throws(() => client.signCancel(undefined as never, 'o-1'), { code: 'INVALID_ARGUMENT', field: 'assetId' });
      assert.throws(() => client.signCancel('12', undefined as never), { code: 'INVALID_ARGUMENT', field: 'orderId' });
    });
  });

  test('a mistake in any other call is an error of the SDK with the member at fault, and nothing is sent', async () => {
    const answer = withLogin(() => ({
      body: '{"asset_id":"12","book_price_decimals":2,"book_quantity_decimals":4,"tick_size":"0.01","min_order_size":"0.001","maker_fee_rate":-5,"taker_fee_rate":450,"status":"Active"}',
    }));
    await withServer({ answer }, async (client, server) => {
      await client.market('12');
      const order = { assetId: '12', orderId: 'o-1' };
      const market = { assetId: '12', side: 'Buy' } as const;
      const transfer = {
        sourceIndex: 0,
        targetIndex: 1,
        assetId: '0',
        amount18: 1n,
        nonce: 1n,
        targetAccountType: null,
      };
      const calls: readonly (readonly [string, () => unknown])[] = [
        ['maxAmount', () => client.marketOrder({ ...market, quantity: '1', maxAmount: 'x' })],
        ['maxQuantity', () => client.marketOrder({ ...market, amount: '1', maxQuantity: '-1' })],
        ['maxAmount', () => client.marketOrder({ ...market, amount: '1', maxAmount: '1' } as never)],
        ['timeInForce', () => client.marketOrder({ ...market, amount: '1', timeInForce: { kind: 'IOC' } } as never)],
        ['price', () => client.signReplace({ ...order, quantity: '1', isComplete: true })],
        ['quantity', () => client.signReplace({ ...order, price: '1', isComplete: true })],
        ['newPrice', () => client.signReplace({ ...order, newPrice: '1' } as never)],
        ['expectedRevisionNs', () => client.amend({ ...order, quantity: '1' } as never)],
        ['assetId', () => client.market('ETH/USD')],
        ['assetId', () => client.depth('../tickers')],
        ['assetId', () => client.tradeStream('1?x=y')],
        ['assetId', () => client.orderRecord('1/2', 'o-1')],
        ['assetId', () => client.history.trades({ assetId: '1/2' })],
        ['amount18', () => client.account.transfer({ ...transfer, amount18: 0n } as never)],
        ['amount18', () => client.account.transfer({ ...transfer, amount18: '1' } as never)],
        ['assetId', () => client.account.transfer({ ...transfer, assetId: undefined } as never)],
        ['nonce', () => client.account.transfer({ ...transfer, nonce: 1 } as never)],
        ['key', () => new RingbookClient({ oms: server.base }).orders()],
        ['mds', () => new RingbookClient({ oms: server.base }).tickers()],
      ];
      const before = server.requests.length;
      for (const [index, [field, call]] of calls.entries()) {
        const refused = { name: 'RingbookError', code: 'INVALID_ARGUMENT', field };
        await assert.rejects(async () => call(), refused, `${index} ${field}`);
      }
      assert.equal(server.requests.length, before);
      assert.equal(server.upgrades.length, 0);
    });
  });

  test('a request that was not sent is UNREACHABLE with the reason; one that may have been received is not', async () => {
    const sockets = new Set<Socket>();
    const secure = createServer({ cert: TLS_CERTIFICATE, key: TLS_KEY }, (_request, response) => response.end('[]'));
    // It answers what arrives first, and ends the connection of what comes next on it.
    const plain = createPlainServer((request, response) => {
      if (sockets.has(request.socket)) request.socket.destroy();
      else response.end('[]');
      sockets.add(request.socket);
    });
    const at = async (server: Server): Promise<string> => {
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      return `127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const [secureAt, plainAt] = [await at(secure), await at(plain)];
    const refused = { code: 'UNREACHABLE', retryable: true };
    try {
      for (const [base, message] of [
        [`https://${secureAt}`, /DEPTH_ZERO_SELF_SIGNED_CERT/],
        [`https://${plainAt}`, /TLS/],
        ['http://127.0.0.1:1', /ECONNREFUSED/],
      ] as const) {
        const client = new RingbookClient({ oms: base, mds: base });
        await assert.rejects(client.markets(), { ...refused, message });
        await assert.rejects(client.marketFeed(), { ...refused, message });
      }
      const client = new RingbookClient({ oms: `http://${plainAt}` });
      const calls = await Promise.allSettled(Array.from({ length: 17 }, () => client.systemTime()));
      const codes = calls.map((call) => (call.status === 'rejected' ? (call.reason as RingbookError).code : ''));
      assert.equal(codes.filter((code) => code === 'INVALID_RESPONSE').length, 16);
      assert.equal(codes.at(-1), 'CONNECTION_CLOSED');
      client.close();
    } finally {
      plain.close();
      secure.close();
    }
  });

  test('a stream that its reader closes reports 1000', async () => {
    await withServer({ socket: () => undefined }, async (client) => {
      const codes: number[] = [];
      const stream = await client.tradeEvents({ onClosed: ({ code }) => void codes.push(code) });
      stream.close();
      while (codes.length === 0) await new Promise((done) => setTimeout(done, 5));
      assert.deepEqual(codes, [1000]);
    });
  });

  test('an address may end with a slash, or with the path before the routes of a service', async () => {
    const socket: WireHandlers['socket'] = (ws) => ws.close(1000);
    await withServer({ answer: () => ({ body: '[]' }), socket }, async (_client, server) => {
      for (const [oms, path] of [
        [`${server.base}/`, ''],
        [`${server.base}/orders-of/x/`, '/orders-of/x'],
      ] as const) {
        const client = new RingbookClient({ oms, mds: oms });
        await client.markets();
        await (await client.tradeEvents()).next();
        assert.deepEqual(
          [server.requests.at(-1)?.path, server.upgrades.at(-1)?.path],
          [`${path}/markets`, `${path}/trades/events`],
        );
        client.close();
      }
    });
  });

  test('a key file that is not there, or is no key, is an error of the SDK', () => {
    assert.throws(() => loadKey('/nowhere/me.key'), rejectsWith('INVALID_ARGUMENT'));
    assert.throws(() => loadKey('/dev/null'), rejectsWith('INVALID_ARGUMENT'));
  });

  test('an unreachable service is an error, retryable', async () => {
    const client = new RingbookClient({ oms: 'http://127.0.0.1:9', key: KEY });
    const error = await client.markets().catch((reason: unknown) => reason);
    assert.ok(error instanceof RingbookError && error.retryable);
    assert.equal(error.code, 'UNREACHABLE');
  });

  test('a page requests what it needs and ends with the last one (wire.md 6)', async () => {
    const answer = withLogin(() => ({
      body: '{"orders":[],"page":3,"limit":40,"total_orders":0,"total_pages":0,"cursor_size":0,"has_next_page":false,"next_page":null}',
    }));
    await withServer({ answer }, async (client, server) => {
      const page = await client.orders({ page: 3, limit: 40, openOnly: true });
      assert.equal(page.nextPage, null);
      assert.equal(server.requests.at(-1)?.path, `/orders/user/${KEY.userId}?page=3&limit=40&open_only=true`);
    });
  });
});

const answerTo = (frame: string, status: string): string => {
  const id = /"order_id":"([^"]+)"/.exec(frame)?.[1] ?? '';
  const kind = /"(Create|Cancel|Replace)OrderRequest"/.exec(frame)?.[1] ?? 'Create';
  return `{"${kind}OrderResponse":{"response":{"order_id":"${id}","status":"${status}","reason":null,"processed_at_ns":5},"asset_id":"12"}}`;
};

suite('/control', () => {
  const answer = withLogin(() => ({ body: '{}' }));

  test('v0 answers are distinguished by kind, asset and order id, in any order (wire.md 10.2)', async () => {
    const frames: string[] = [];
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', (data: Buffer) => {
        frames.push(data.toString());
        if (frames.length === 3) for (const frame of frames.toReversed()) ws.send(answerTo(frame, 'Received'));
      });
    };
    await withServer({ answer, socket }, async (client, server) => {
      const control = await client.control();
      const create = client.signCreate(order('a'));
      const cancel = client.signCancel('12' as AssetId, 'a');
      const answers = await Promise.all([
        control.send(create),
        control.send(client.signCreate(order('b'))),
        control.send(cancel),
      ]);
      assert.deepEqual(
        answers.map((response) => response.orderId),
        ['a', 'b', 'a'],
      );
      assert.equal(frames[0], `{"CreateOrderRequest":${create.body}}`);
      assert.equal(frames[2], `{"CancelOrderRequest":${cancel.body}}`);
      assert.equal(control.inFlight, 0);
      const upgrade = server.upgrades[0];
      assert.equal(upgrade?.headers.authorization, 'Bearer token-1');
      assert.equal(upgrade?.headers['sec-websocket-protocol'], undefined);
      assert.equal(upgrade?.headers.origin, server.base);
      control.close();
    });
  });

  test('a rejection is an answer, and a second action of the same identity waits for the first (wire.md 10.2)', async () => {
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', (data: Buffer) => ws.send(answerTo(data.toString(), 'Rejected')));
    };
    await withServer({ answer, socket }, async (client) => {
      const control = await client.control();
      const action = client.signCreate(order('a'));
      const first = control.send(action);
      await assert.rejects(control.send(action), rejectsWith('INVALID_ARGUMENT'));
      assert.equal((await first).status, 'Rejected');
      assert.equal((await control.send(action)).status, 'Rejected');
      control.close();
    });
  });

  test('a rejection over /control carries the reason, and is empty where the service sent none (wire.md 10.2)', async () => {
    const detail = { code: 'INVALID_ORDER', field: 'limit_price', message: 'off the tick' };
    let isTold = true;
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', (data: Buffer) => {
        const frame = answerTo(data.toString(), 'Rejected');
        ws.send(isTold ? frame.replace('"status"', `"detail":${JSON.stringify(detail)},"status"`) : frame);
      });
    };
    await withServer({ answer, socket }, async (client) => {
      const control = await client.control();
      assert.deepEqual((await control.send(client.signCreate(order('a')))).detail, detail);
      isTold = false;
      assert.equal((await control.send(client.signCreate(order('b')))).detail, undefined);
      control.close();
    });
  });

  test('v1 is offered as subprotocol and correlates by request id (wire.md 10.3)', async () => {
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', (data: Buffer) => {
        const frame = data.toString();
        const id = /"request_id":"([^"]+)"/.exec(frame)?.[1];
        const envelope = (body: string): string =>
          `{"type":"response","channel":"control","request_id":"${id}","timestamp_ns":1770000004000000000,"data":${body},"error":null}`;
        ws.send(envelope(answerTo(frame, 'Received')));
      });
    };
    await withServer({ answer, socket }, async (client, server) => {
      const control = await client.control({ version: 'v1' });
      const response = await control.send(client.signCreate(order('a')));
      assert.equal(response.orderId, 'a');
      assert.equal(server.upgrades[0]?.headers['sec-websocket-protocol'], 'svc.ws.v1');
      control.close();
    });
  });

  test('what a connection opts into stands in the query of its upgrade', async () => {
    await withServer({ answer, socket: () => undefined }, async (client, server) => {
      for (const options of [{}, { cancelOnDisconnect: true, timing: false }, { resend: true, timing: true }]) {
        (await client.control(options)).close();
      }
      assert.deepEqual(
        server.upgrades.map(({ path }) => path),
        ['/control', '/control?cancel_on_disconnect=true', '/control?resend=true&timing=true'],
      );
    });
  });

  test('a batch gathers one answer per order and ignores the acknowledgment (wire.md 10.2)', async () => {
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', () => {
        ws.send('{"request":{"status":"submitted"}}');
        for (const id of ['b', 'a']) ws.send(answerTo(`"CreateOrderRequest" "order_id":"${id}"`, 'Received'));
      });
    };
    await withServer({ answer, socket }, async (client) => {
      const control = await client.control();
      const actions = ['a', 'b'].map((id) => client.signCreate(order(id)));
      const answers = await control.sendBatch('Create', actions);
      assert.deepEqual(
        answers.map((response) => response.orderId),
        ['a', 'b'],
      );
      await assert.rejects(control.sendBatch('Create', []), rejectsWith('INVALID_ARGUMENT'));
      control.close();
    });
  });

  test('when the connection ends, what is pending fails with the reason that was given (wire.md 10.4)', async () => {
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', () => {
        ws.send('{"error":{"code":"UNAUTHORIZED","message":"another signer","retryable":false}}');
        ws.close(1000);
      });
    };
    await withServer({ answer, socket }, async (client) => {
      const control = await client.control();
      await assert.rejects(control.send(client.signCreate(order('a'))), rejectsWith('UNAUTHORIZED'));
      assert.equal(control.isOpen, false);
      await assert.rejects(control.send(client.signCreate(order('b'))), rejectsWith('CONNECTION_CLOSED'));
    });
  });

  test('an item of a batch that is in flight already rejects the batch, and leaves nothing of it pending', async () => {
    const sent: string[] = [];
    const socket: WireHandlers['socket'] = (ws) => {
      ws.on('message', (data: Buffer) => sent.push(data.toString()));
    };
    await withServer({ answer, socket }, async (client) => {
      const control = await client.control();
      const [first, second] = ['a', 'b'].map((id) => client.signCreate(order(id)));
      assert.ok(first !== undefined && second !== undefined);
      const pending = control.send(second);
      await assert.rejects(control.sendBatch('Create', [first, second]), rejectsWith('INVALID_ARGUMENT'));
      assert.equal(control.inFlight, 1);
      control.close();
      await assert.rejects(pending, rejectsWith('CONNECTION_CLOSED'));
      assert.equal(sent.length, 1);
    });
  });

  test('with onShutdown it is v1; the announcement and the end of the connection are reported', async () => {
    const socket: WireHandlers['socket'] = (ws) => {
      ws.send(event('null', 'server_shutdown'));
      ws.close(1001, 'shutdown');
    };
    await withServer({ answer, socket }, async (client, server) => {
      const seen: unknown[] = [];
      await new Promise<void>((resolve) => {
        void client.control({
          onShutdown: (shutdown) => seen.push(shutdown),
          onClosed: (closed) => resolve(void seen.push(closed)),
        });
      });
      assert.equal(server.upgrades[0]?.headers['sec-websocket-protocol'], 'svc.ws.v1');
      assert.deepEqual(seen, [
        { timestampNs: 1_770_000_004_000_000_777n },
        { code: 1001, reason: 'shutdown', error: null, isShutdown: true },
      ]);
    });
  });

  test('a refused handshake returns its code (wire.md 9.1)', async () => {
    const refuse = (): Answer => ({
      status: 429,
      body: '{"error":{"code":"RATE_LIMITED","message":"streams","retryable":true}}',
    });
    await withServer({ answer, refuse }, async (client) => {
      await assert.rejects(client.control(), rejectsWith('RATE_LIMITED'));
    });
  });
});

const trade = (id: number, status: string): string =>
  `{"asset_id":"12","trade_id":${id},"order_id":"o-1","price":"3150.25","quantity":"0.5","timestamp_ns":1770000004000000001,"is_maker":true,"is_buyer":false,"status":"${status}","rollback_reason":null,"is_liquidation":false,"is_auto_deleverage":false,"sub_account":1,"trading_fee":"0.31"}`;

/** An event as a private stream sends it to the SDK (wire.md 9.2). */
const event = (payload: string, type = 'event'): string =>
  `{"type":"${type}","channel":"orders","request_id":null,"timestamp_ns":1770000004000000777,"data":${payload},"error":null}`;

suite('streams', () => {
  const answer = withLogin(() => ({ body: '{}' }));

  test('events come in order and the iterator ends with a normal close (wire.md 9.1)', async () => {
    const socket: WireHandlers['socket'] = (ws) => {
      ws.send(event('null', 'pong'));
      ws.send(event(trade(1, 'Pending')));
      ws.send(event(trade(1, 'Confirmed')));
      ws.close(1000);
    };
    await withServer({ answer, socket }, async (client, server) => {
      const seen: UserTrade[] = [];
      for await (const fill of await client.userTrades()) seen.push(fill);
      assert.deepEqual(
        seen.map(({ status }) => status),
        ['Pending', 'Confirmed'],
      );
      assert.equal(seen[0]?.timestampNs, 1_770_000_004_000_000_001n);
      assert.equal(seen[0]?.subAccount, 1);
      assert.equal(server.upgrades[0]?.path, `/trades/user/events/${KEY.userId}`);
      assert.equal(server.upgrades[0]?.headers['sec-websocket-protocol'], 'svc.ws.v1');
    });
  });

  test('a lagging stream ends with RESYNC_REQUIRED, an error frame with its code (wire.md 9.1, 9.2)', async () => {
    const endings: ((ws: Parameters<NonNullable<WireHandlers['socket']>>[0]) => void)[] = [
      (ws) => ws.close(1013, 'resync_required'),
      (ws) => ws.send(event('null', 'error').replace('"error":null', '"error":{"code":"unauthorized","message":"m"}')),
    ];
    const socket: WireHandlers['socket'] = (ws) => endings.shift()?.(ws);
    await withServer({ answer, socket }, async (client) => {
      await assert.rejects((await client.userTrades()).next(), rejectsWith('RESYNC_REQUIRED'));
      await assert.rejects((await client.userTrades()).next(), rejectsWith('unauthorized'));
    });
  });

  test('with reconnect a stream outlives its connection and reports a gap (wire.md 9.8)', async () => {
    let connections = 0;
    const socket: WireHandlers['socket'] = (ws) => {
      connections += 1;
      ws.send(event(trade(connections, 'Confirmed')));
      if (connections === 1) ws.terminate();
    };
    await withServer({ answer, socket }, async (client) => {
      let gaps = 0;
      const onReconnected = (): void => {
        gaps += 1;
      };
      const stream = await client.userTrades({ delayMs: 1, onReconnected });
      const ids: number[] = [];
      const isDone = new Promise<void>((resolve) => {
        const stop = stream.listen(({ tradeId }) => {
          ids.push(tradeId);
          if (tradeId === 2) setImmediate(() => resolve(stop()));
        });
      });
      await isDone;
      assert.equal(ids.at(-1), 2);
      assert.equal(gaps, 1);
    });
  });

  test('order events are read by their tag, unknown tags are skipped (wire.md 9.4)', async () => {
    const identity = '"order_id":"o-1","asset_id":"12","user_id":"u","timestamp_ns":1770000009000000000';
    const socket: WireHandlers['socket'] = (ws) => {
      for (const payload of [
        '{"Invented":{"order_id":"o-1"}}',
        `{"Canceled":{${identity},"reason":"UserRequested"}}`,
        `{"Removed":{${identity},"operator_pubkey":null,"reason":"Filled","filled_quantity":25000,"confirmed_quantity":25000}}`,
        '{"CreateFailed":{"order_id":"o-2","user_id":"u","reason":"WouldCross"}}',
      ]) {
        ws.send(event(payload));
      }
      ws.close(1000);
    };
    await withServer({ answer, socket }, async (client) => {
      const seen: [string, bigint][] = [];
      for await (const told of await client.orderEvents()) {
        seen.push([told.kind, told.timestampNs]);
        if (told.kind === 'Removed') assert.equal(told.confirmedQuantity, 25_000);
      }
      // A failure has no time of its own: it is that of its frame.
      assert.deepEqual(seen, [
        ['Canceled', 1_770_000_009_000_000_000n],
        ['Removed', 1_770_000_009_000_000_000n],
        ['CreateFailed', 1_770_000_004_000_000_777n],
      ]);
    });
  });

  test('the end of each connection is reported with its code, its reason and the error sent before it', async () => {
    const lagging = event('null', 'error').replace('"error":null', '"error":{"code":"RESYNC_REQUIRED","message":"m"}');
    const endings: ((ws: Parameters<NonNullable<WireHandlers['socket']>>[0]) => void)[] = [
      (ws) => ws.terminate(),
      (ws) => {
        ws.send(lagging);
        ws.close(1013, 'resync_required');
      },
      (ws) => {
        ws.send(event('null', 'server_shutdown'));
        ws.close(1001, 'shutdown');
      },
      (ws) => ws.send(event(trade(7, 'Confirmed'))),
    ];
    const socket: WireHandlers['socket'] = (ws) => endings.shift()?.(ws);
    await withServer({ answer, socket }, async (client) => {
      const ends: unknown[] = [];
      const announced: bigint[] = [];
      const stream = await client.userTrades({
        delayMs: 1,
        onClosed: ({ code, reason, error, isShutdown }) => ends.push([code, reason, error?.code ?? null, isShutdown]),
        onShutdown: ({ timestampNs }) => announced.push(timestampNs),
      });
      assert.equal((await stream.next()).value?.tradeId, 7);
      assert.deepEqual(ends, [
        [1006, '', null, false],
        [1013, 'resync_required', 'RESYNC_REQUIRED', false],
        [1001, 'shutdown', null, true],
      ]);
      assert.deepEqual(announced, [1_770_000_004_000_000_777n]);
      stream.close();
    });
  });

  test('a stream that shall not reconnect ends with its connection, whatever it reports', async () => {
    const socket: WireHandlers['socket'] = (ws) => ws.close(4_000, 'enough');
    await withServer({ answer, socket }, async (client, server) => {
      const codes: number[] = [];
      const stream = await client.userTrades({ reconnect: false, onClosed: ({ code }) => codes.push(code) });
      await assert.rejects(stream.next(), rejectsWith('CONNECTION_CLOSED'));
      assert.deepEqual(codes, [4_000]);
      assert.equal(server.upgrades.length, 1);
    });
  });
});
