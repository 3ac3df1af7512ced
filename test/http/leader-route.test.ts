// tier: quick
/** What a node of a cluster answers in each of its states (cluster.md 7, 11). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Leadership, NODE_STATES } from '../../src/runtime/leadership.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE } from '../support/names.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const leadership = new Leadership();
const listener = listenTo(oms, { place: { role: 'node', leadership, isCluster: true } });
const alone = listenTo(new ScriptedOms());
const session = (): Record<string, string> => ({ authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE });

suite('a node of a cluster', () => {
  test('answers /system/leader in every state, with the leader that it knows', async () => {
    leadership.setSequence(1_042);
    for (const state of NODE_STATES) {
      leadership.setState(state);
      leadership.setLeader(0, null);
      const shown = JSON.parse((await ask(listener.port, '/system/leader')).text);
      assert.deepEqual(shown, { role: 'node', state, epoch: 0, sequence: 1_042, leader: null });
    }
    leadership.setLeader(7, { node: 'b', oms: 'https://b:3032', mds: null });
    const shown = JSON.parse((await ask(listener.port, '/system/leader')).text);
    assert.deepEqual(shown.leader, { node: 'b', oms: 'https://b:3032', mds: null });
    assert.equal(shown.epoch, 7);
  });

  test('refuses all but /system and documents with NOT_LEADER and the addresses of the leader while it follows', async () => {
    leadership.setLeader(7, { node: 'b', oms: 'https://b:3032', mds: 'https://b:8011' });
    for (const state of ['joining', 'following', 'campaigning', 'ended'] as const) {
      leadership.setState(state);
      for (const path of ['/markets', `/inventory/user/${ALICE}`, '/no/such/asset', `/nonce/${ALICE}`]) {
        const { status, text } = await ask(listener.port, path, { headers: session() });
        const isUnknown = path === '/no/such/asset';
        assert.equal(status, isUnknown ? 404 : 503, `${state} ${path}`);
        if (isUnknown) continue;
        const { error } = JSON.parse(text);
        assert.deepEqual([error.code, error.retryable], ['NOT_LEADER', true]);
        assert.deepEqual(error.details, { epoch: 7, oms: 'https://b:3032', mds: 'https://b:8011' });
      }
      await assert.rejects(SocketReader.open(listener.port, '/control', [], session()), /503/);
      for (const path of ['/system/time', '/system/status', '/api-doc.json', '/api-reference'])
        assert.equal((await ask(listener.port, path)).status, 200, `${state} ${path}`);
    }
  });

  test('names no addresses while there is no leader', async () => {
    leadership.setState('following');
    leadership.setLeader(0, null);
    const { error } = JSON.parse((await ask(listener.port, '/markets')).text);
    assert.deepEqual(error.details, { epoch: 0, oms: null, mds: null });
  });

  test('is SERVICE_UNAVAILABLE while it takes over, and answers while it leads, is stalled or hands over', async () => {
    for (const state of ['starting', 'restoring'] as const) {
      leadership.setState(state);
      const { status, text } = await ask(listener.port, '/markets');
      assert.deepEqual([status, JSON.parse(text).error.code], [503, 'SERVICE_UNAVAILABLE'], state);
    }
    for (const state of ['leading', 'stalled', 'handing-over'] as const) {
      leadership.setState(state);
      assert.equal((await ask(listener.port, '/markets')).status, 200, state);
    }
  });

  test('of one machine leads without a leader’s address', async () => {
    const shown = JSON.parse((await ask(alone.port, '/system/leader')).text);
    assert.deepEqual(shown, { role: 'node', state: 'leading', epoch: 0, sequence: 0, leader: null });
  });
});
