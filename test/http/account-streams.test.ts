// tier: quick
/** Account events (STR-05, wire.md 9.5) and sequence numbers with replay, which are additive and optional. */

import assert from 'node:assert/strict';
import { afterEach, suite, test } from 'node:test';
import type { AccountEventView } from '../../src/codec/account-events.ts';
import type { AssetId, ChainId } from '../../src/core/ids.ts';
import { FILL_STATUS } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity } from '../../src/core/units.ts';
import type { BookEvent, UserTradeEvent } from '../../src/gateway/orders/book/order-events.ts';
import { askUpgrade, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { BASE, NOW } from '../support/order-fixture.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const AFTER = 5 * 16_384;
const oms = new ScriptedOms();
const listener = listenTo(oms);
listener.server.streams.startBehind(AFTER);
const { server } = listener;
const { streams } = server;

afterEach(async () => {
  streams.endSessions(ALICE);
  streams.endSessions(BOB);
  while (server.socketCount > 0) await new Promise(setImmediate);
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const open = (path: string, version: 0 | 1 = 1, user = ALICE): Promise<SocketReader> =>
  SocketReader.open(listener.port, path, version === 1 ? ['svc.ws.v1'] : [], as(user));
const EVENTS = `/account/events/${ALICE}`;

const DEPOSIT: AccountEventView = {
  kind: 'depositLanded',
  asset: '0' as AssetId,
  amount: (10n ** 19n) as Amount18,
  chainId: '000000000000007a69' as ChainId,
  depositNonce: 0,
  timestampNs: NOW,
};
const CANCELED = {
  kind: 'Canceled',
  orderId: 'o-1',
  assetId: BASE,
  timestampNs: NOW,
  reason: 'UserRequested',
} as BookEvent;
const TRADE: UserTradeEvent = {
  assetId: BASE,
  tradeId: 1,
  orderId: 'o-1' as UserTradeEvent['orderId'],
  subAccount: 0,
  price: 200_000 as RawPrice,
  quantity: 10_000 as RawQuantity,
  priceDecimals: 2,
  quantityDecimals: 4,
  timestampNs: NOW,
  isMaker: true,
  isBuyer: false,
  status: FILL_STATUS.pending,
  rollbackReason: null,
  isLiquidation: false,
  isAutoDeleverage: false,
  fee: 0n as Amount18,
};
const cancel = (count = 1): void => {
  for (let told = 0; told < count; told += 1) streams.orderEvent(ALICE, CANCELED, NOW);
};
const sequenceOf = async (reader: SocketReader): Promise<[string, number]> => {
  const { type, sequence } = JSON.parse(await reader.frame());
  return [type, sequence];
};

suite('account events', () => {
  test('deposits, transfers and cleared positions are published with one tag and hex amounts (STR-05, G15, wire.md 9.5)', async () => {
    const plain = await open(EVENTS, 0);
    const enveloped = await open(EVENTS, 1);
    const asset = '2' as AssetId;
    const told: [AccountEventView, string][] = [
      [
        DEPOSIT,
        `{"DepositLanded":{"user":"${ALICE}","asset":"0","amount":"0x8ac7230489e80000",` +
          `"chain_id":"000000000000007a69","deposit_nonce":0,"timestamp_ns":${NOW}}}`,
      ],
      [
        { kind: 'transferred', asset, amount: 1n as Amount18, sourceIndex: 0, targetIndex: 1, timestampNs: NOW },
        `{"SubAccountAssetTransferred":{"user":"${ALICE}","asset":"2","amount":"0x1",` +
          `"source_sub_account_index":0,"target_sub_account_index":1,"timestamp_ns":${NOW}}}`,
      ],
      [
        { kind: 'positionCleared', asset, subAccount: 1, timestampNs: NOW },
        `{"PositionCleared":{"user":"${ALICE}","asset":"2","sub_account_index":1,"timestamp_ns":${NOW}}}`,
      ],
    ];
    for (const [event, text] of told) {
      streams.accountEvent(BOB, event);
      streams.accountEvent(ALICE, event);
      assert.equal(await plain.frame(), text);
      assert.equal(
        await enveloped.frame(),
        `{"type":"event","channel":"account_events","request_id":null,"timestamp_ns":${NOW},"data":${text},"error":null}`,
      );
    }
    assert.equal(plain.unread, 0, 'nothing of anybody else');
  });

  test('the path names its user, and the session must be theirs (STR-08, AUT-12)', async () => {
    const foreign = await open(EVENTS, 0, BOB);
    const { channel, error } = JSON.parse(await foreign.frame());
    assert.deepEqual([channel, error.code], ['account_events', 'unauthorized']);
    assert.equal((await foreign.closed).code, 1000);
    assert.equal((await askUpgrade(listener.port, EVENTS)).status, 401);
    assert.equal((await askUpgrade(listener.port, '/account/events/x', as())).status, 400);
  });
});

suite('sequence numbers', () => {
  test('without the option no frame changes by a byte; with it v1 frames carry a number behind everything else', async () => {
    const plain = [await open('/orders', 0), await open('/orders', 1)];
    const numbered = await open('/orders?sequence=true');
    const [type, last] = await sequenceOf(numbered);
    assert.deepEqual([type, last > AFTER], ['sequence', true]);
    cancel();
    const [v0, v1] = [await plain[0]?.frame(), await plain[1]?.frame()];
    assert.ok(!v0?.includes('sequence') && !v1?.includes('sequence'));
    assert.equal(await numbered.frame(), `${v1?.slice(0, -1)},"sequence":${last + 1}}`);
  });

  test('a reader that comes back has what it missed, in order, then what comes', async () => {
    for (const [path, tell] of [
      ['/orders', () => cancel()],
      [`/trades/user/events/${ALICE}`, () => streams.userTrade(ALICE, TRADE, NOW)],
      [EVENTS, () => streams.accountEvent(ALICE, DEPOSIT)],
    ] as const) {
      const first = await open(`${path}?sequence=true`);
      const [, start] = await sequenceOf(first);
      tell();
      const seen = await sequenceOf(first);
      assert.deepEqual(seen, ['event', start + 1]);
      first.socket.terminate();
      await first.closed;
      tell();
      tell();
      tell();
      const again = await open(`${path}?from_sequence=${start + 2}`);
      tell();
      const frames = [];
      for (let count = 0; count < 5; count += 1) frames.push(await sequenceOf(again));
      assert.deepEqual(frames, [
        ['sequence', start + 1],
        ['event', start + 2],
        ['event', start + 3],
        ['event', start + 4],
        ['event', start + 5],
      ]);
      const current = await open(`${path}?from_sequence=${start + 6}`);
      assert.deepEqual(await sequenceOf(current), ['sequence', start + 5], 'nothing was missed');
    }
  });

  test('a number that is not kept, of the future or of an earlier start is RESYNC_REQUIRED and 1013, without a frame in between', async () => {
    const reader = await open('/orders?sequence=true');
    const [, start] = await sequenceOf(reader);
    cancel(1_030);
    for (const from of [0, 1, AFTER - 3, start, start + 1, start + 2_000]) {
      const late = await open(`/orders?from_sequence=${from}`);
      const { type, error, sequence } = JSON.parse(await late.frame());
      assert.deepEqual([type, error.code, error.retryable, sequence], ['error', 'RESYNC_REQUIRED', true, undefined]);
      assert.deepEqual(await late.closed, { code: 1013, reason: 'resync_required' });
    }
    const stranger = await open('/orders?from_sequence=1', 1, BOB);
    assert.equal(JSON.parse(await stranger.frame()).error.code, 'RESYNC_REQUIRED', 'nobody kept anything for him');
  });

  test('numbers are of v1 only, and what is no number is refused before the upgrade', async () => {
    const refused = async (path: string, protocol: string): Promise<[number, string]> => {
      const { status, text } = await askUpgrade(listener.port, path, { ...as(), 'sec-websocket-protocol': protocol });
      return [status, JSON.parse(text).error.code];
    };
    const BAD: [number, string] = [400, 'INVALID_REQUEST'];
    assert.deepEqual(await refused('/orders?sequence=true', 'other'), BAD);
    assert.deepEqual(await refused('/orders?from_sequence=5', 'other'), BAD);
    for (const query of ['sequence=yes', 'from_sequence=-1', 'from_sequence=x', 'sequence=true&sequence=true']) {
      assert.deepEqual(await refused(`/orders?${query}`, 'svc.ws.v1'), BAD, query);
    }
    const off = await open('/orders?sequence=false', 0);
    cancel();
    assert.ok((await off.frame()).startsWith('{"Canceled"'));
  });

  test('numbers go on without listeners, and an event is numbered once however many listen', async () => {
    const readers = [await open('/orders?sequence=true'), await open('/orders?sequence=true')];
    const starts = [await sequenceOf(readers[0] as SocketReader), await sequenceOf(readers[1] as SocketReader)];
    assert.deepEqual(starts[0], starts[1]);
    cancel(2);
    for (const reader of readers) {
      await reader.frame();
      assert.deepEqual(await sequenceOf(reader), ['event', (starts[0]?.[1] ?? 0) + 2]);
    }
  });
});
