// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type ControlFrame, decodeControlFrame, FRAME, type MalformedFrame } from '../../src/codec/control-frame.ts';
import { controlError, controlResponse, operationResponse } from '../../src/codec/operation-replies.ts';
import { controlUnauthorizedFrame } from '../../src/codec/stream-frames.ts';
import { ACTION_BYTES_MAX, BODY_BYTES_MAX, SALVAGED_BYTES_MAX } from '../../src/core/limits.ts';
import { reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { USER_42, utf8, vectorNamed, wrap } from '../support/wire-vectors.ts';

const CREATE = wrap('create', USER_42, vectorNamed('wire.md create').text);
const REPLACE = wrap('replace', USER_42, vectorNamed('wire.md replace').text);
const CANCEL = wrap('cancel', USER_42, vectorNamed('wire.md cancel').text);

function frameOf(text: string): ControlFrame {
  const bytes = utf8(text);
  return decodeControlFrame(bytes, 0, bytes.length);
}

function malformed(text: string): MalformedFrame {
  const frame = frameOf(text);
  assert.equal(frame.kind, 'malformed', text);
  return frame as MalformedFrame;
}

function envelope(data: string, requestId: string): string {
  return `{"type":"request","channel":"control","request_id":${requestId},"data":${data}}`;
}

suite('a long control frame', () => {
  const spaced = (text: string, bytes: number): string => text + ' '.repeat(bytes - text.length);

  test('is as long as the body of its request may be, else PAYLOAD_TOO_LARGE without looking at it (AMB-124)', () => {
    for (const [text, most] of [
      [`{"CreateOrderRequest":${CREATE}}`, ACTION_BYTES_MAX],
      [`{"CancelOrderRequest":${CANCEL}}`, ACTION_BYTES_MAX],
      [envelope(`{"ReplaceOrderRequest":${REPLACE}}`, '"r"'), ACTION_BYTES_MAX],
    ] as const) {
      assert.notEqual(frameOf(spaced(text, most)).kind, 'malformed', text);
      const { reject: told } = malformed(spaced(text, most + 1));
      assert.equal(told.code, 'PAYLOAD_TOO_LARGE');
      assert.match(told.message, new RegExp(`at most ${most} bytes`));
    }
    for (const batch of [
      `{"BatchCreateRequest":{"orders":[${CREATE}]}}`,
      envelope(`{"BatchReplaceRequest":[${REPLACE}]}`, '"r"'),
    ]) {
      assert.notEqual(frameOf(spaced(batch, BODY_BYTES_MAX)).kind, 'malformed', 'a longer frame closes its socket');
    }
  });

  test('a malformed one is searched for its orders up to a length, and beyond only answered with the fault', () => {
    const broken = `{"BatchCreateRequest":{"orders":[${CREATE},${CREATE.replace('"side"', '"edis"')}]}}`;
    assert.equal(malformed(spaced(broken, SALVAGED_BYTES_MAX)).correlations.length, 2);
    const { correlations, isAllFound, reject: told } = malformed(spaced(broken, SALVAGED_BYTES_MAX + 1));
    assert.deepEqual([correlations.length, isAllFound, told.code], [0, false, 'INVALID_REQUEST']);
  });

  test('a malformed one is short without `type` and `channel`, wherever they and the request id are (wire-additions.md 2.2)', () => {
    const broken = `{"BatchCreateRequest":{"orders":[${CREATE.replace('"Sell"', '"Sold"')}]}}`;
    const headOf = (members: readonly string[], isV1 = true): readonly unknown[] => {
      const bytes = utf8(spaced(`{${members.join(',')}}`, SALVAGED_BYTES_MAX + 1));
      const { kind, version, requestId, isShort, path } = decodeControlFrame(
        bytes,
        0,
        bytes.length,
        isV1,
      ) as MalformedFrame;
      assert.equal(kind, 'malformed');
      return [version, requestId, isShort ?? false, path ?? null];
    };
    const [id, data, type, channel] = [
      '"request_id":"r"',
      `"data":${broken}`,
      '"type":"request"',
      '"channel":"control"',
    ];
    const short = [1, 'r', true, 'BatchCreateRequest.orders[0].order.side'];
    const none = [0, null, false, null];
    assert.deepEqual(headOf([id, data]), short);
    assert.deepEqual(headOf([data, id]), short);
    assert.deepEqual(headOf([id, data, type]), short, 'one of the two is no full envelope');
    assert.deepEqual(headOf([id, type, channel, data]), none, 'the full form, as before');
    assert.deepEqual(headOf([id, data, channel, type]), none);
    assert.deepEqual(headOf([broken.slice(1, -1)]), none, 'a raw wrapper');
    assert.deepEqual(headOf([id, data], false), none, 'on a v0 socket');
    assert.deepEqual(
      headOf([id, ...Array<string>(FRAME.names.length).fill('"a":1'), data]),
      none,
      'no request has so many members',
    );
    const [, , escaped] = headOf([String.raw`"\"type\":":1`, id, data]);
    assert.equal(escaped, true, 'a name is what stands between quotes');
  });
});

suite('a control frame', () => {
  test('v0 tags decode into their actions, the batch tags are recognised (CTL-01, CTL-02)', () => {
    const cases: readonly [string, string][] = [
      [`{"CreateOrderRequest":${CREATE}}`, 'create'],
      [`{"ReplaceOrderRequest":${REPLACE}}`, 'replace'],
      [`{"CancelOrderRequest":${CANCEL}}`, 'cancel'],
      [`{"BatchCreateRequest":{"orders":[${CREATE}]}}`, 'batch-create'],
      [`{"BatchReplaceRequest":[${REPLACE}]}`, 'batch-replace'],
    ];
    for (const [text, kind] of cases) {
      const frame = frameOf(text);
      assert.deepEqual([frame.kind, frame.version, frame.requestId], [kind, 0, null]);
    }
  });

  test('JSON with spaces, as clients send it here, reads the same (wire.md 4.1)', () => {
    const text = `{"CreateOrderRequest":${CREATE}}`;
    const frame = frameOf(text.replace(/":/g, '": ').replace(/,"/g, ', "'));
    assert.ok(frame.kind === 'create');
    assert.equal(new TextDecoder().decode(frame.request.text), vectorNamed('wire.md create').text);
  });

  test('a v1 envelope gives its request id, whatever the order of its members (CTL-03)', () => {
    const data = `{"CancelOrderRequest":${CANCEL}}`;
    const frame = frameOf(envelope(data, '"r-1"'));
    assert.deepEqual([frame.kind, frame.version, frame.requestId], ['cancel', 1, 'r-1']);
    const reversed = frameOf(`{"data":${data},"error":null,"timestamp_ns":1,"request_id":"r-2","type":"request"}`);
    assert.deepEqual([reversed.kind, reversed.version, reversed.requestId], ['cancel', 1, 'r-2']);
    assert.equal(frameOf(envelope(data, 'null')).requestId, null);
  });

  test('a broken shape with an order id and an asset is correlated, on both versions (wire.md 10.2)', () => {
    const broken: readonly [string, string, string][] = [
      [`{"CreateOrderRequest":${CREATE.replace('315025', '"x"')}}`, 'create', 'limit_price'],
      [`{"CreateOrderRequest":${CREATE.replace('315025', '1.5')}}`, 'create', 'limit_price'],
      [`{"ReplaceOrderRequest":${REPLACE.replace('"signature"', '"signatures"')}}`, 'replace', 'signature'],
      [`{"CancelOrderRequest":${CANCEL.replace('"protocol_version":1', '"protocol_version":1,"x":1')}}`, 'cancel', 'x'],
    ];
    for (const [text, action, field] of broken) {
      for (const frame of [malformed(text), malformed(envelope(text, '"r-9"'))]) {
        assert.deepEqual(frame.correlations, [{ action, orderId: 'demo-order-1', assetText: '12' }]);
        assert.ok(frame.isAllFound);
        assert.deepEqual([frame.reject.code, frame.reject.field], ['INVALID_REQUEST', field]);
      }
      assert.deepEqual([malformed(text).version, malformed(envelope(text, '"r-9"')).requestId], [0, 'r-9']);
    }
  });

  test('what cannot be correlated is answered as such: no JSON, no id, no text for an asset, two requests, a ping (WS-10)', () => {
    const cases = [
      '',
      'hello',
      '[]',
      '{}',
      'null',
      '{"type":"ping"}',
      `{"CreateOrderRequest":${CREATE}`,
      '{"Other":{}}',
    ];
    const more = [
      `{"CreateOrderRequest":${CREATE.replace('"base_asset":"12"', '"base_asset":12')}}`,
      `{"CreateOrderRequest":${CREATE.replace('"order_id":"demo-order-1",', '')}}`,
      `{"CreateOrderRequest":${CREATE.replace('"demo-order-1"', `"${'x'.repeat(2_000)}"`)}}`,
      envelope('{}', '"r"'),
      '{"type":"request","channel":"control","request_id":"r"}',
      '{"CreateOrderRequest":null}',
    ];
    for (const text of [...cases, ...more]) {
      const { correlations, isAllFound } = malformed(text);
      assert.deepEqual([correlations, isAllFound], [[], false], text);
    }
  });

  test('exactly one request: two tags, a tag beside data, unknown members, another type or channel are refused', () => {
    const cancel = `"CancelOrderRequest":${CANCEL}`;
    malformed(`{${cancel},"CreateOrderRequest":${CREATE}}`);
    malformed(`{${cancel},"extra":1}`);
    malformed(`{${cancel},"request_id":"r"}`);
    malformed(`{"type":"request","channel":"control","data":{${cancel}},${cancel}}`);
    malformed(`{"type":"event","channel":"control","data":{${cancel}}}`);
    malformed(`{"type":"request","channel":"orders","data":{${cancel}}}`);
    malformed(`{"channel":"control","data":{${cancel}}}`);
    malformed(envelope(`{${cancel},"CreateOrderRequest":${CREATE}}`, '"r"'));
    malformed(envelope(`{${cancel}}`, '7'));
    malformed(envelope(`{${cancel}}`, `"${'r'.repeat(257)}"`));
  });
});

suite('a control answer', () => {
  const processedNs = 1770000000001200000n as TimestampNs;
  const view = { orderId: 'c1', reject: null, processedNs };

  test('v0 has one tag, the response and the asset exactly as received (CTL-02, wire.md 10.2)', () => {
    assert.equal(
      controlResponse({ version: 0, requestId: null }, 'create', view, '12'),
      '{"CreateOrderResponse":{"response":{"order_id":"c1","status":"Received","reason":null,"processed_at_ns":1770000000001200000},"asset_id":"12"}}',
    );
    const mismatch = reject('SIGNER_MISMATCH', 'no "x"', 'signer');
    const rejected = controlResponse({ version: 0, requestId: null }, 'cancel', { ...view, reject: mismatch }, 'A"@B');
    assert.equal(
      rejected,
      '{"CancelOrderResponse":{"response":{"order_id":"c1","status":"Rejected","reason":"SignerMismatch","processed_at_ns":1770000000001200000,"detail":{"code":"SIGNER_MISMATCH","field":"signer","message":"no \\"x\\""}},"asset_id":"A\\"@B"}}',
    );
  });

  test('a rejection without a member at fault has `field` null; REST answers have no `detail`', () => {
    const refused = { ...view, reject: reject('WOULD_CROSS', 'it would cross') };
    assert.match(
      controlResponse({ version: 0, requestId: null }, 'create', refused, '12'),
      /"detail":\{"code":"WOULD_CROSS","field":null,"message":"it would cross"\}\},"asset_id":"12"\}\}$/,
    );
    assert.doesNotMatch(operationResponse(refused), /detail/);
  });

  test('v1 wraps the same frame in an envelope that repeats the request id (CTL-03)', () => {
    const text = controlResponse({ version: 1, requestId: 'r-1' }, 'replace', view, '12');
    const parsed: unknown = JSON.parse(text.replace(/:(\d{17,})/g, ':"$1"'));
    assert.deepEqual(Object.entries(parsed as object), [
      ['type', 'response'],
      ['channel', 'control'],
      ['request_id', 'r-1'],
      ['timestamp_ns', '1770000000001200000'],
      [
        'data',
        {
          ReplaceOrderResponse: {
            response: { order_id: 'c1', status: 'Received', reason: null, processed_at_ns: '1770000000001200000' },
            asset_id: '12',
          },
        },
      ],
      ['error', null],
    ]);
  });

  test('what cannot be correlated is an error frame, with its field (ERR-01, ERR-12, AUT-13)', () => {
    const fault = reject('INVALID_REQUEST', 'expected an object', 'order');
    assert.equal(
      controlError({ version: 0, requestId: null }, processedNs, fault),
      '{"error":{"code":"INVALID_REQUEST","message":"expected an object","retryable":false,"details":{"field":"order"}}}',
    );
    const v1: unknown = JSON.parse(controlError({ version: 1, requestId: 'r' }, processedNs, fault));
    assert.deepEqual(Object.keys(v1 as object), ['type', 'channel', 'request_id', 'timestamp_ns', 'data', 'error']);
    const unauthorized: unknown = JSON.parse(controlUnauthorizedFrame(0, processedNs));
    assert.deepEqual(Object.keys(unauthorized as object), ['error']);
    assert.match(controlUnauthorizedFrame(1, processedNs), /^\{"type":"error","channel":"control",.*"UNAUTHORIZED"/);
  });
});
