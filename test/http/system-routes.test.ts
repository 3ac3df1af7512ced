// tier: quick
/** What the service reports about itself: its time, its status, a user's limits, and that it stops. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { VERSION } from '../../src/runtime/version.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE, BOB } from '../support/names.ts';

import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);

const session = (): Record<string, string> => ({ authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE });

suite('the service about itself', () => {
  test('its clock in nanoseconds, for all users', async () => {
    assert.equal((await ask(listener.port, '/system/time')).text, `{"now_ns":${oms.now}}`);
    assert.deepEqual(oms.charged.at(-1), [null, 'publicRead']);
  });

  test('what a user may still request, and no other user sees it', async () => {
    const path = `/limits/${ALICE}`;
    const stream = await SocketReader.open(listener.port, '/orders', [], session());
    assert.equal(
      (await ask(listener.port, path, { headers: session() })).text,
      '{"tier":"default","units":"198.5","capacity":200,"units_per_second":200,"costs":{"bulk_item":1.5},' +
        '"streams":{"open":1,"cap":10}}',
    );
    assert.deepEqual(oms.charged.at(-1), [ALICE, 'action']);
    stream.socket.close();
    await stream.closed;
    assert.equal((await ask(listener.port, path)).status, 401);
    assert.equal((await ask(listener.port, `/limits/${BOB}`, { headers: session() })).status, 401);
    assert.equal((await ask(listener.port, '/limits/nobody', { headers: session() })).status, 400);
  });

  test('before it stops version 1 sockets are notified and version 0 receives nothing new; the status says so', async () => {
    const status = async (): Promise<string> => (await ask(listener.port, '/system/status')).text;
    const running = `{"name":"ringbook","version":"${VERSION}","protocol_version":1,"takes_orders":`;
    assert.equal(await status(), `${running}true,"markets":{"12":"Active"}}`);
    const v0 = await SocketReader.open(listener.port, '/orders', [], session());
    const v1 = await SocketReader.open(listener.port, '/orders', ['svc.ws.v1'], session());
    const control = await SocketReader.open(listener.port, '/control', ['svc.ws.v1'], session());
    listener.server.stopAccepting();
    const told = (channel: string): string =>
      `{"type":"server_shutdown","channel":"${channel}","request_id":null,"timestamp_ns":${oms.now},"data":null,"error":null}`;
    assert.equal(await v1.frame(), told('orders'));
    assert.equal(await control.frame(), told('control'));
    assert.equal(await status(), `${running}false,"markets":{"12":"Active"}}`);
    listener.server.close();
    for (const { closed } of [v0, v1, control]) assert.deepEqual(await closed, { code: 1001, reason: 'going_away' });
    assert.equal(v0.unread, 0);
  });
});
