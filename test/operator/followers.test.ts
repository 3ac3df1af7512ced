// tier: quick
/** What the operators' listener of a node of a cluster serves in each of its states (cluster.md 7, docs/reference/operator-api.md 2). */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import pino from 'pino';
import { firstToken } from '../../src/operator/operator-tokens.ts';
import { OpsHttp, type OpsReply, type OpsRoute } from '../../src/operator/ops-http.ts';
import { Leadership, NODE_STATES, type NodeState } from '../../src/runtime/leadership.ts';
import { OpsFixture } from '../support/ops-client.ts';
import { aMoment, eventually } from '../support/patience.ts';

const FOLLOWS: ReadonlySet<NodeState> = new Set(['joining', 'following', 'campaigning', 'ended']);
const STARTS: ReadonlySet<NodeState> = new Set(['starting', 'restoring']);
const KEEPS: ReadonlySet<NodeState> = new Set(['stalled', 'handing-over']);

suite('the operators of a node of a cluster', () => {
  const leadership = new Leadership();
  const fixture = new OpsFixture('test', leadership);
  before(() => fixture.open());
  after(() => fixture.close());

  /** As in the example of the document. */
  const pathOf = ({ path, example }: OpsRoute): string => {
    const given = example?.path as Readonly<Record<string, string>> | undefined;
    const whole = path.replaceAll(/\{([^}]*)\}/g, (_, name: string) => given?.[name] ?? '1');
    return example?.query === undefined ? whole : `${whole}?${example.query}`;
  };

  test('every route in every state: a follower serves what is of its process, a stalled leader is read and not changed', async () => {
    const seen = { notLeader: 0, unavailable: 0, served: 0 };
    leadership.setLeader(7, { node: 'b', oms: 'https://b:3032', mds: null });
    for (const state of NODE_STATES) {
      leadership.setState(state);
      for (const route of fixture.routes) {
        const { method } = route;
        const before = [fixture.world.commands, fixture.world.hooks.length, fixture.world.stalls.length];
        const { status, json } = await fixture.call(
          method,
          pathOf(route),
          method === 'GET' || method === 'DELETE' ? undefined : {},
        );
        const code = status < 300 ? '' : (json.error?.code ?? '');
        const about = `${state} ${method} ${route.path}: ${status} ${code}`;
        const isOwn = !route.path.startsWith('/operator') || route.whileRecovering === true;
        if (!isOwn && FOLLOWS.has(state)) {
          assert.deepEqual([status, code], [503, 'NOT_LEADER'], about);
          assert.deepEqual(json.error.details, { epoch: 7, oms: 'https://b:3032', mds: null });
          seen.notLeader += 1;
        } else if (!isOwn && (STARTS.has(state) || (KEEPS.has(state) && method !== 'GET'))) {
          assert.deepEqual([status, code], [503, 'SERVICE_UNAVAILABLE'], about);
          assert.match(JSON.stringify(json), /takes over|no answer of its cluster|hands over/);
          seen.unavailable += 1;
        } else {
          assert.notEqual(code, 'NOT_LEADER', about);
          assert.doesNotMatch(JSON.stringify(json), /takes over|no answer of its cluster|hands over/, about);
          seen.served += 1;
          continue;
        }
        const now = [fixture.world.commands, fixture.world.hooks.length, fixture.world.stalls.length];
        assert.deepEqual(now, before, `${about} changed something`);
      }
    }
    assert.ok(seen.notLeader > 100 && seen.unavailable > 100 && seen.served > 100, JSON.stringify(seen));
  });

  test('a call that waits for a leader whose lease is over is answered after a time with 504, of one that leads it waits (cluster.md 7.4)', async (t) => {
    let isOver = false;
    const answers: (() => void)[] = [];
    const handler = () => new Promise<OpsReply>((done) => answers.push(() => done({ ok: true, value: {} })));
    const ops = new OpsHttp([{ method: 'POST', path: '/operator/settings', handler, isFile: true }], {
      ...{ tokens: [firstToken('token')], log: pino({ level: 'silent' }), isRecovering: () => false, names: [] },
      ...{ isOver: () => isOver, answersWithinMs: 20 },
    });
    t.after(() => ops.close());
    const port = await ops.listen({ host: '127.0.0.1', port: 0 });
    const post = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/operator/settings`, {
        method: 'POST',
        headers: { authorization: 'Bearer token' },
        signal: AbortSignal.timeout(10_000),
      });
    const waits = post();
    await eventually(() => answers.length === 1);
    await aMoment(100);
    answers.pop()?.();
    assert.equal((await waits).status, 200);
    isOver = true;
    const late = await post();
    assert.equal(late.status, 504);
    assert.match(await late.text(), /"TIMEOUT_UNKNOWN_STATE"/);
    answers.pop()?.();
  });

  test('a follower answers liveness, readiness, version, metrics, its actors, its clock and its page', async () => {
    leadership.setState('following');
    for (const path of [
      '/livez',
      '/version',
      '/metrics',
      '/',
      '/api-doc.json',
      '/operator/actors',
      '/operator/wall-clock',
    ])
      assert.equal((await fixture.call('GET', path)).status, 200, path);
    fixture.world.waiting = ['clearing', 'leadership'];
    const { status, json } = await fixture.call('GET', '/readyz');
    assert.deepEqual([status, json['ready'], json['waiting_for']], [503, false, ['clearing', 'leadership']]);
    assert.match((await fixture.call('GET', '/metrics')).text, /ringbook_cluster_state\{state="following"\} 1/);
  });
});
