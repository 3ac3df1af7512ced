// tier: quick
/** What a stalled leader owes on `/control` and cannot answer (cluster.md 7.4): 5 s, then TIMEOUT_UNKNOWN_STATE, once. */
import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import fc from 'fast-check';
import type { TimestampNs } from '../../src/core/units.ts';
import type { ActionAnswer } from '../../src/gateway/orders/entry/pending-requests.ts';
import { LateAnswers } from '../../src/http/late-answers.ts';
import { Leadership } from '../../src/runtime/leadership.ts';
import { ask, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ALICE } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';
import { cancelBody, createBody, ScriptedOms } from '../support/scripted-oms.ts';

const WITHIN_MS = 60;
const oms = new ScriptedOms();
const leadership = new Leadership();
const listener = listenTo(oms, {
  place: { role: 'node', leadership, isCluster: true },
  answersWithinMs: WITHIN_MS,
});
const session = (): Record<string, string> => ({ authorization: `Bearer ${oms.token(ALICE)}`, 'user-id': ALICE });
const cancel = (id: string): string => `{"CancelOrderRequest":${cancelBody(ALICE, id)}}`;
const batch = (ids: readonly string[]): string =>
  `{"BatchCreateRequest":{"orders":[${ids.map((id) => createBody(ALICE, id)).join(',')}]}}`;
const reasonOf = (frame: string): string => {
  const [body] = Object.values(JSON.parse(frame) as Record<string, { response: Record<string, string> }>);
  return `${body?.response['order_id']} ${body?.response['reason']}`;
};
const given: ActionAnswer = { refusal: null, processedAtNs: 1n as TimestampNs };

beforeEach(() => {
  oms.actions.length = 0;
  oms.script = 'later';
  leadership.setState('leading');
});

suite('answers of a stalled leader', () => {
  test('a cancel and the orders of a batch that no record answers in time are TimeoutUnknownState, once (cluster.md 7.4)', async () => {
    const socket = await SocketReader.open(listener.port, '/control', [], session());
    socket.socket.send(cancel('a'));
    socket.socket.send(batch(['b', 'c']));
    assert.equal(await socket.frame(), '{"request":{"status":"submitted"}}');
    while (oms.actions.length < 1) await new Promise((done) => setTimeout(done, 2));
    // A leader with its lease waits for its record, however long that takes.
    await new Promise((done) => setTimeout(done, 3 * WITHIN_MS));
    leadership.setState('stalled');
    const late = [await socket.frame(), await socket.frame(), await socket.frame()].map(reasonOf).sort();
    assert.deepEqual(
      late,
      ['a', 'b', 'c'].map((id) => `${id} TimeoutUnknownState`),
    );
    // The record is stored after all: nothing is answered twice.
    for (const { answer } of oms.actions) answer(given);
    oms.script = 'received';
    socket.socket.send(cancel('d'));
    assert.equal(reasonOf(await socket.frame()), 'd null');
    socket.socket.close();
  });

  test('reads go on while it is stalled', async () => {
    leadership.setState('stalled');
    assert.equal((await ask(listener.port, '/markets')).status, 200);
    assert.equal((await ask(listener.port, `/inventory/user/${ALICE}`, { headers: session() })).status, 200);
  });

  test('each request is answered once, late ones by the time of their request alone', () => {
    const event = fc.oneof(
      fc.record({ kind: fc.constant('asked' as const) }),
      fc.record({ kind: fc.constant('answered' as const), at: fc.nat(30) }),
      fc.record({ kind: fc.constant('looked' as const), isOver: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let isOver = false;
        const late = new LateAnswers({ isOver: () => isOver, nowNs: () => 0n as TimestampNs, afterMs: 0 });
        const answers: string[][] = [];
        const callbacks: ((answer: ActionAnswer) => void)[] = [];
        for (const one of events) {
          if (one.kind === 'asked') {
            const own: string[] = [];
            answers.push(own);
            callbacks.push(late.once(({ refusal }) => own.push(refusal?.code ?? 'answered')));
          } else if (one.kind === 'answered') callbacks[one.at]?.(given);
          else {
            isOver = one.isOver;
            late.look();
            if (isOver) assert.equal(late.count, 0);
          }
        }
        assert.ok(answers.every(({ length }) => length <= 1));
        assert.equal(late.count, answers.filter(({ length }) => length === 0).length);
        late.close();
      }),
      propertyParameters(),
    );
  });
});
