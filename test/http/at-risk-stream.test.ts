// tier: quick
/** `/liquidation/at_risk/ws`: one aggregate for all users, behind a session (STR-06, AMB-62, wire.md G14). */

import assert from 'node:assert/strict';
import { afterEach, suite, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import type { AtRiskFigures } from '../../src/core/market-figures.ts';
import type { Amount18 } from '../../src/core/units.ts';
import { ask, askUpgrade, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';
import { NOW } from '../support/order-fixture.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const PATH = '/liquidation/at_risk/ws';
const oms = new ScriptedOms();
const listener = listenTo(oms);
const { server } = listener;
const { streams } = server;

afterEach(async () => {
  streams.endSessions(ALICE);
  streams.endSessions(BOB);
  while (server.socketCount > 0) await new Promise(setImmediate);
  oms.risk = null;
});

const as = (user = ALICE): Record<string, string> => ({ authorization: `Bearer ${oms.token(user)}`, 'user-id': user });
const open = (version: 0 | 1 = 0, user = ALICE): Promise<SocketReader> =>
  SocketReader.open(listener.port, PATH, version === 1 ? ['svc.ws.v1'] : [], as(user));

const NOTHING = { quantity: 0n as Amount18, liquidationPrice: null };
const SHORT = { quantity: (15n * 10n ** 17n) as Amount18, liquidationPrice: (3_100n * 10n ** 18n + 5n) as Amount18 };
const LONG = { quantity: (4n * 10n ** 18n) as Amount18, liquidationPrice: null };
const VIEW: AtRiskFigures = {
  timestampNs: NOW,
  assets: [
    { assetId: '2' as AssetId, long: NOTHING, short: SHORT },
    { assetId: '12' as AssetId, long: LONG, short: NOTHING },
  ],
};
const TEXT =
  `{"timestamp_ns":${NOW},"assets":{` +
  '"2":{"long":{"quantity":"0","liquidation_price":null},"short":{"quantity":"1.5","liquidation_price":"3100.000000000000000005"}},' +
  '"12":{"long":{"quantity":"4","liquidation_price":null},"short":{"quantity":"0","liquidation_price":null}}}}';

/** As the gateway does it. */
function publish(view: AtRiskFigures): void {
  oms.risk = view;
  streams.atRisk(view);
}

suite('the stream of what is at risk', () => {
  test('STR-06: every reader gets the same frame, bare on v0 and in an envelope on v1, without a user id', async () => {
    const readers = [await open(0), await open(0, BOB)];
    const enveloped = await open(1, BOB);
    publish(VIEW);
    for (const reader of readers) assert.equal(await reader.frame(), TEXT);
    assert.equal(
      await enveloped.frame(),
      `{"type":"event","channel":"at_risk","request_id":null,"timestamp_ns":${NOW},"data":${TEXT},"error":null}`,
    );
    assert.ok(!TEXT.includes(ALICE) && !TEXT.includes(BOB));
  });

  test('STR-06: a new reader gets what is at risk at once, and nothing where nothing is; the end is a frame without assets', async () => {
    const early = await open();
    publish(VIEW);
    assert.equal(await early.frame(), TEXT);
    const late = await open();
    assert.equal(await late.frame(), TEXT);
    publish({ timestampNs: NOW, assets: [] });
    const empty = `{"timestamp_ns":${NOW},"assets":{}}`;
    assert.deepEqual([await early.frame(), await late.frame()], [empty, empty]);
    const last = await open();
    publish(VIEW);
    assert.equal(await last.frame(), TEXT, 'no empty frame came before it');
  });

  test('STR-08, AMB-88: it needs a session, and ends with it', async () => {
    assert.equal((await askUpgrade(listener.port, PATH)).status, 401);
    const mismatched = { ...as(ALICE), 'user-id': BOB };
    assert.equal((await askUpgrade(listener.port, PATH, mismatched)).status, 401);
    assert.equal((await ask(listener.port, PATH, { headers: as() })).status, 426);
    const reader = await open();
    streams.endSessions(ALICE);
    const { channel, error } = JSON.parse(await reader.frame());
    assert.deepEqual([channel, error.code], ['at_risk', 'unauthorized']);
    assert.equal((await reader.closed).code, 1000);
    publish(VIEW);
    assert.equal(reader.unread, 0);
  });

  test('AMB-96: its sockets count against the cap of the user; a text ping is answered on its channel', async () => {
    oms.cap = 1;
    const reader = await open(1);
    assert.equal((await askUpgrade(listener.port, PATH, as())).status, 429);
    assert.equal((await askUpgrade(listener.port, '/orders', as())).status, 429);
    reader.socket.send('{"type":"ping"}');
    assert.match(await reader.frame(), /^\{"type":"pong","channel":"at_risk",/);
    oms.cap = 10;
  });
});
