// tier: quick
/**
 * Orders that wait at the listener because the pipeline behind takes none: cancels overtake them, and those that wait too
 * long are refused unread, each with one answer that names it (docs/safety.md, budgets). The gate is the test's.
 */

import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import fc from 'fast-check';
import { reject } from '../../src/core/reject.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';

import { NOW } from '../support/order-fixture.ts';
import { eventually } from '../support/patience.ts';
import { propertyParameters } from '../support/property.ts';
import { cancelBody, createBody, quotesBody, replaceBody, ScriptedOms } from '../support/scripted-oms.ts';

const BOUND_MS = 40;
/** Longer than any of these tests: nothing is refused. */
const PATIENT_MS = 60_000;

const oms = new ScriptedOms();
const orders = {
  open: true,
  waitMsMax: BOUND_MS,
  shed: 0,
  isOpen: () => orders.open,
  refused: (count: number): void => {
    orders.shed += count;
  },
};
const listener = listenTo(oms, { orders });

beforeEach(() => {
  Object.assign(orders, { open: true, waitMsMax: BOUND_MS, shed: 0 });
  Object.assign(oms, { script: 'received', budget: null });
  oms.actions.length = 0;
  oms.charged.length = 0;
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const open = (user = ALICE, version: 0 | 1 = 0): Promise<SocketReader> =>
  SocketReader.open(listener.port, '/control', version === 1 ? ['svc.ws.v1'] : [], as(user));
const create = (id: string, user = ALICE): string => `{"CreateOrderRequest":${createBody(user, id)}}`;
const cancel = (id: string, user = ALICE): string => `{"CancelOrderRequest":${cancelBody(user, id)}}`;
const replace = (id: string, user = ALICE): string => `{"ReplaceOrderRequest":${replaceBody(user, id)}}`;
const batch = (ids: readonly string[]): string =>
  `{"BatchCreateRequest":{"orders":[${ids.map((id) => createBody(ALICE, id)).join(',')}]}}`;
const inEnvelope = (data: string, id: string): string =>
  `{"type":"request","channel":"control","request_id":"${id}","data":${data}}`;
const read = (): string[] => oms.actions.map(({ kind, orderId }) => `${kind} ${orderId}`);

interface Answered {
  readonly tag: string;
  readonly orderId: string;
  readonly verdict: string;
}

function answered(frame: string): Answered {
  const parsed = JSON.parse(frame) as Record<string, { response: Record<string, string> }>;
  const [tag = '', body] = Object.entries(parsed)[0] ?? [];
  const { order_id, set_id, status, reason } = body?.response ?? {};
  const orderId = order_id ?? set_id ?? '';
  return { tag, orderId, verdict: `${status} ${reason}` };
}

async function frames(socket: SocketReader, count: number): Promise<string[]> {
  const received: string[] = [];
  while (received.length < count) received.push(await socket.frame());
  return received;
}

suite('orders that wait', () => {
  test('a create, a replace and the orders of a batch that wait too long are refused, each in its own answer, unread', async () => {
    const socket = await open();
    orders.open = false;
    for (const frame of [create('a'), replace('b'), batch(['c', 'd'])]) socket.socket.send(frame);
    const [first, second, submitted, ...items] = await frames(socket, 5);
    const refused = 'Rejected ServiceUnavailable';
    assert.deepEqual(answered(first ?? ''), { tag: 'CreateOrderResponse', orderId: 'a', verdict: refused });
    assert.deepEqual(answered(second ?? ''), { tag: 'ReplaceOrderResponse', orderId: 'b', verdict: refused });
    assert.equal(submitted, '{"request":{"status":"submitted"}}');
    assert.deepEqual(
      items.map((item) => answered(item)),
      ['c', 'd'].map((orderId) => ({ tag: 'CreateOrderResponse', orderId, verdict: refused })),
    );
    assert.deepEqual([read(), orders.shed], [[], 4], 'order entry has seen none of them');
    assert.deepEqual(
      oms.charged,
      [
        [ALICE, 'action'],
        [ALICE, 'action'],
        [ALICE, { bulk: 2 }],
      ],
      'as if accepted',
    );
    orders.open = true;
    socket.socket.send(create('a'));
    assert.equal(answered(await socket.frame()).verdict, 'Received null', 'the same bytes again');
    socket.socket.close();
  });

  test('on v1 the refusal has the request id, wherever in the frame that is', async () => {
    const socket = await open(ALICE, 1);
    orders.open = false;
    const data = create('late');
    socket.socket.send(inEnvelope(data, 'r-1'));
    socket.socket.send(
      `{"type":"request","channel":"control","data":${data.replace('late', 'last')},"request_id":"r-2"}`,
    );
    for (const [requestId, orderId] of [
      ['r-1', 'late'],
      ['r-2', 'last'],
    ]) {
      const answer = JSON.parse(await socket.frame());
      const { response } = answer.data.CreateOrderResponse;
      assert.deepEqual(
        [answer.request_id, response.order_id, response.reason],
        [requestId, orderId, 'ServiceUnavailable'],
      );
    }
    socket.socket.close();
  });

  test('an order beyond the budget of its user is RateLimited, which is not counted as a wait', async () => {
    const socket = await open();
    orders.open = false;
    oms.budget = reject('RATE_LIMITED', 'slow down');
    socket.socket.send(create('poor'));
    assert.equal(answered(await socket.frame()).verdict, 'Rejected RateLimited');
    assert.equal(orders.shed, 0);
    socket.socket.close();
  });

  test('a malformed frame that waits gets its own error', async () => {
    const socket = await open();
    orders.open = false;
    socket.socket.send(create('ahead'));
    socket.socket.send(`{"CreateOrderRequest":{"order":[],"signature":[]},"padding":"${'x'.repeat(64)}"}`);
    const answers = await frames(socket, 2);
    assert.ok(
      answers.some((answer) => answer.includes('INVALID_REQUEST')),
      answers.join(),
    );
    socket.socket.close();
  });
});

suite('cancels', () => {
  test('a cancel overtakes creates that wait on the same connection', async () => {
    orders.waitMsMax = PATIENT_MS;
    const socket = await open();
    orders.open = false;
    for (const id of ['a', 'b', 'c']) socket.socket.send(create(id));
    socket.socket.send(cancel('old'));
    assert.equal(answered(await socket.frame()).orderId, 'old');
    assert.deepEqual(read(), ['cancel old'], 'while the creates still wait');
    orders.open = true;
    await frames(socket, 3);
    assert.deepEqual(read(), ['cancel old', 'create a', 'create b', 'create c']);
    socket.socket.close();
  });

  test('a cancel never overtakes the create, the replace or the batch of its own order', async () => {
    orders.waitMsMax = PATIENT_MS;
    const socket = await open();
    orders.open = false;
    socket.socket.send(create('own'));
    socket.socket.send(replace('changed'));
    socket.socket.send(batch(['one', 'two']));
    for (const id of ['own', 'changed', 'two', 'other']) socket.socket.send(cancel(id));
    assert.equal(answered(await socket.frame()).orderId, 'other');
    orders.open = true;
    await frames(socket, 8);
    const order = read();
    for (const [before, after] of [
      ['create own', 'cancel own'],
      ['replace changed', 'cancel changed'],
      ['create two', 'cancel two'],
    ] as const) {
      assert.ok(order.indexOf(before) >= 0 && order.indexOf(before) < order.indexOf(after), order.join());
    }
    socket.socket.close();
  });

  test('over REST a create waits and is refused with its order id, a cancel and a mass cancel are answered at once', async () => {
    orders.open = false;
    const headers = { ...as(), 'content-type': 'application/json' };
    const send = (method: string, path: string, body = ''): Promise<{ status: number; text: string }> =>
      ask(listener.port, path, { method, headers, body: Buffer.from(body) });
    const waiting = send('POST', '/orders/create', createBody(ALICE, 'rest'));
    assert.equal((await send('DELETE', '/orders/cancel', cancelBody(ALICE, 'old'))).status, 200);
    assert.equal((await send('DELETE', '/orders/cancel-all')).status, 202);
    const { status, text } = await waiting;
    assert.equal(status, 503);
    const { code, details, retryable } = JSON.parse(text).error;
    assert.deepEqual([code, details.order_id, retryable], ['SERVICE_UNAVAILABLE', 'rest', true]);
    assert.deepEqual(read(), ['cancel old']);
    const batched = await send('POST', '/orders/batch-create', `{"orders":[${createBody(ALICE, 'x')}]}`);
    assert.equal(batched.status, 503);
  });
});

suite('quote sets that wait', () => {
  const quotes = (id: string, revision: number, bids?: readonly [number, number][]): string =>
    `{"QuoteSetRequest":${quotesBody(ALICE, id, NOW + BigInt(revision), bids)}}`;
  const readSets = (): string[] =>
    oms.actions.map(
      ({ kind, orderId, revisionNs }) => `${kind} ${orderId} ${revisionNs === null ? '' : revisionNs - NOW}`,
    );

  test('QTE-09: the newest of a name is read in the turn of the oldest, which wait until it has gone to its market', async () => {
    orders.waitMsMax = PATIENT_MS;
    const socket = await open();
    orders.open = false;
    for (const frame of [quotes('mm', 1), create('x'), quotes('mm', 2), quotes('nn', 1), quotes('mm', 3)])
      socket.socket.send(frame);
    await socket.caughtUp();
    oms.script = 'later';
    orders.open = true;
    await eventually(() => oms.actions.length === 3);
    await socket.caughtUp();
    assert.deepEqual(readSets(), ['quotes mm 3', 'create x ', 'quotes nn 1'], 'those of mm that are older are held');
    oms.actions[0]?.origin.setSent?.();
    assert.deepEqual(readSets().slice(3), ['quotes mm 1', 'quotes mm 2']);
    assert.equal(oms.charged.filter(([, cost]) => cost === 'quotes').length, 4, 'each is paid for');
    for (const { origin } of oms.actions.filter(({ kind }) => kind === 'quotes'))
      assert.ok((origin.sinceMs ?? 0) < performance.now(), 'since when it waits is known');
    socket.socket.terminate();
  });

  test('QTE-09: a newest one that is refused lets the older ones be read as ever', async () => {
    orders.waitMsMax = PATIENT_MS;
    const socket = await open();
    orders.open = false;
    socket.socket.send(quotes('mm', 1));
    // Its bids are not in order; the preview has its name all the same.
    socket.socket.send(quotes('mm', 2).replace('[[200000,100]]', '[[200000]]'));
    await socket.caughtUp();
    orders.open = true;
    const answers = await frames(socket, 2);
    assert.ok(answers.some((answer) => answer.includes('Rejected')));
    assert.deepEqual(readSets(), ['quotes mm 1']);
    socket.socket.terminate();
  });

  test('QTE-04: one that only takes away is read as a cancel is, before older ones of its name', async () => {
    orders.waitMsMax = PATIENT_MS;
    const socket = await open();
    orders.open = false;
    for (const frame of [create('x'), quotes('mm', 1), quotes('mm', 2, [])]) socket.socket.send(frame);
    assert.equal(answered(await socket.frame()).tag, 'QuoteSetResponse');
    assert.deepEqual(readSets(), ['quotes mm 2']);
    orders.open = true;
    await frames(socket, 2);
    assert.deepEqual(readSets().slice(1), ['create x ', 'quotes mm 1']);
    socket.socket.terminate();
  });

  test('QTE-04, QTE-09: over REST one that adds waits and is refused, one that only takes away is answered at once', async () => {
    orders.open = false;
    const headers = { ...as(), 'content-type': 'application/json' };
    const send = (body: string): Promise<{ status: number; text: string }> =>
      ask(listener.port, '/orders/quotes', { method: 'PUT', headers, body: Buffer.from(body) });
    const waiting = send(quotesBody(ALICE, 'mm', NOW));
    assert.equal((await send(quotesBody(ALICE, 'mm', NOW + 1n, []))).status, 200);
    assert.deepEqual(readSets(), ['quotes mm 1']);
    const { status, text } = await waiting;
    assert.deepEqual([status, JSON.parse(text).error.code], [503, 'SERVICE_UNAVAILABLE']);
    assert.equal(oms.actions[0]?.origin.sinceMs !== undefined, true);
  });

  test('QTE-09: sets that wait too long are refused, each once', async () => {
    const socket = await open();
    orders.open = false;
    for (const revision of [1, 2, 3]) socket.socket.send(quotes('mm', revision));
    const answers = await frames(socket, 3);
    assert.ok(answers.every((answer) => answer.includes('"reason":"ServiceUnavailable"')));
    assert.deepEqual([readSets(), orders.shed], [[], 3]);
    socket.socket.terminate();
  });
});

suite('everything together', () => {
  test('one connection with hundreds of waiting creates delays another by one create', async () => {
    orders.waitMsMax = PATIENT_MS;
    const [flooding, honest] = [await open(BOB), await open()];
    orders.open = false;
    for (let number = 0; number < 400; number += 1) flooding.socket.send(create(`flood-${number}`, BOB));
    await flooding.caughtUp();
    honest.socket.send(create('honest'));
    await honest.caughtUp();
    orders.open = true;
    await frames(flooding, 400);
    const place = read().indexOf('create honest');
    assert.ok(place >= 0 && place <= 2, `the honest order is read as number ${place}`);
    flooding.socket.close();
    honest.socket.close();
  });

  test('every frame gets exactly one answer, read or refused, whenever the gate opens and closes', async () => {
    const step = fc.record({
      kind: fc.constantFrom('create', 'replace', 'cancel', 'quotes'),
      id: fc.integer({ min: 0, max: 5 }),
    });
    const steps = fc.array(fc.oneof(step, fc.boolean(), fc.integer({ min: 0, max: 60 })), { maxLength: 40 });
    const socket = await open();
    let revision = 0n;
    const quotes = (id: string): string => {
      revision += 1n;
      return `{"QuoteSetRequest":${quotesBody(ALICE, id, NOW + revision)}}`;
    };
    const form = { create, replace, cancel, quotes };
    const TAG = {
      ...{ create: 'CreateOrderResponse', replace: 'ReplaceOrderResponse', cancel: 'CancelOrderResponse' },
      quotes: 'QuoteSetResponse',
    };
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        Object.assign(orders, { open: true, shed: 0 });
        oms.actions.length = 0;
        const expected: string[] = [];
        for (const one of given) {
          if (typeof one === 'boolean') orders.open = one;
          else if (typeof one === 'number') await new Promise((resolve) => setTimeout(resolve, one));
          else {
            const kind = one.kind as keyof typeof form;
            socket.socket.send(form[kind](`id-${one.id}`));
            expected.push(`${TAG[kind]} id-${one.id}`);
          }
        }
        const answers = (await frames(socket, expected.length)).map(answered);
        await socket.caughtUp();
        assert.equal(socket.unread, 0);
        assert.deepEqual(answers.map(({ tag, orderId }) => `${tag} ${orderId}`).sort(), expected.sort());
        const refused = answers.filter(({ verdict }) => verdict === 'Rejected ServiceUnavailable');
        assert.equal(refused.length, orders.shed);
        assert.equal(refused.length + oms.actions.length, answers.length, 'refused or read, never both');
        assert.ok(
          refused.every(({ tag }) => tag !== 'CancelOrderResponse'),
          'no cancel is refused',
        );
      }),
      propertyParameters(25),
    );
    socket.socket.close();
  });
});
