// tier: quick
/** `/sync/pending_settlements`: for market makers, with a short buffer and no replay (STR-07, WS-17, AMB-137, wire.md G14). */

import assert from 'node:assert/strict';
import { afterEach, suite, test } from 'node:test';
import type { SettlementEvent } from '../../src/codec/settlement-events.ts';
import type { AssetId } from '../../src/core/ids.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { ask, askUpgrade, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';
import { choke } from '../support/stalled-reader.ts';

const PATH = '/sync/pending_settlements';
const oms = new ScriptedOms();
oms.makers.add(ALICE);
const listener = listenTo(oms);
const { server } = listener;
const { streams } = server;

afterEach(async () => {
  streams.endSessions(ALICE);
  streams.endSessions(BOB);
  while (server.socketCount > 0) await new Promise(setImmediate);
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const open = (version: 0 | 1 = 0, user = ALICE): Promise<SocketReader> =>
  SocketReader.open(listener.port, PATH, version === 1 ? ['svc.ws.v1'] : [], as(user));

function event(number: number, price: bigint | null = 3n * 10n ** 18n): SettlementEvent {
  return {
    settlementId: `000000000000007a69:${BOB}:0:${number}`,
    asset: '2' as AssetId,
    side: 'Buy',
    quantity: (5n * 10n ** 17n) as Amount18,
    price: price as Amount18 | null,
    user: BOB,
    subAccount: 0,
    timestampNs: NOW,
  };
}

const textOf = (number: number, price = '"3"'): string =>
  `{"settlement_id":"000000000000007a69:${BOB}:0:${number}","asset_id":"2","side":"Buy","quantity":"0.5","price":${price},` +
  `"user":"${BOB}","sub_account":0,"timestamp_ns":${NOW}}`;

suite('the stream of pending settlements', () => {
  test('STR-07: every market maker gets every settlement, bare on v0 and in an envelope on v1; nothing is kept for later', async () => {
    const [bare, enveloped] = [await open(0), await open(1)];
    streams.pendingSettlement(event(0));
    streams.pendingSettlement(event(1, null));
    assert.deepEqual([await bare.frame(), await bare.frame()], [textOf(0), textOf(1, 'null')]);
    assert.equal(
      await enveloped.frame(),
      `{"type":"event","channel":"pending_settlements","request_id":null,"timestamp_ns":${NOW},"data":${textOf(0)},"error":null}`,
    );
    const late = await open(0);
    streams.pendingSettlement(event(2));
    assert.equal(await late.frame(), textOf(2), 'a new reader gets what comes from now on');
  });

  test('STR-07, STR-08: it needs a session of a market maker, and ends with either', async () => {
    assert.equal((await askUpgrade(listener.port, PATH)).status, 401);
    assert.equal((await ask(listener.port, PATH, { headers: as() })).status, 426);
    const other = await open(1, BOB);
    streams.pendingSettlement(event(0));
    const { channel, error } = JSON.parse(await other.frame());
    assert.deepEqual([channel, error.code], ['pending_settlements', 'unauthorized']);
    assert.equal((await other.closed).code, 1000);
    const reader = await open();
    oms.makers.delete(ALICE);
    streams.pendingSettlement(event(0));
    assert.match(await reader.frame(), /"unauthorized"/);
    assert.equal((await reader.closed).code, 1000);
    oms.makers.add(ALICE);
  });

  test('WS-17, AMB-106: a reader that is 256 frames behind has to connect again; others get every frame', async () => {
    const steady = await open();
    const slow = await open();
    let published = 0;
    const publish = (): void => {
      streams.pendingSettlement(event(published));
      streams.flush();
      published += 1;
    };
    await choke(slow.socket, {
      tell: async () => {
        publish();
        await new Promise(setImmediate);
      },
      backlogBytes: async () => server.backlogBytes,
    });
    const before = published;
    while (published < before + 256 + 2) publish();
    slow.socket.resume();
    assert.deepEqual((await slow.closed).code, 1013);
    const kept = slow.unread;
    assert.ok(kept > 0 && kept < published, `${kept} of ${published} frames: a prefix`);
    for (let number = 0; number < kept; number += 1) assert.equal(await slow.frame(), textOf(number));
    for (let number = 0; number < published; number += 1) assert.equal(await steady.frame(), textOf(number));
  });
});
