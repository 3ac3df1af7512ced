// tier: quick
/** When the gateway takes orders, by what the pipeline behind it still has to do. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Admission, SIGNATURES_IN_FLIGHT, type Stage } from '../../src/gateway/actions/admission.ts';

const BOUND_MS = 50;

class ScriptedPipeline {
  nowMs = 0;
  inFlight = 0;
  unflushedSeconds = 0;
  acks: 'optimistic' | 'durable' = 'optimistic';
  lastSentId = 0;
  lastSentMs = 0;
  readonly atMarket = new Set<number>();
  readonly refused: [Stage, number][] = [];
  readonly admission: Admission;

  constructor(waitMsMax = BOUND_MS) {
    const pipeline = this;
    this.admission = new Admission({
      waitMsMax,
      verifyThreads: 2,
      verifier: this,
      entry: this,
      requests: {
        isAtMarket: (requestId) => this.atMarket.has(requestId),
        get settings() {
          return { acks: pipeline.acks };
        },
      },
      unflushedSeconds: () => this.unflushedSeconds,
      nowMs: () => this.nowMs,
      refused: (stage, orders) => this.refused.push([stage, orders]),
    });
  }

  send(): void {
    this.lastSentId += 1;
    this.lastSentMs = this.nowMs;
    this.atMarket.add(this.lastSentId);
  }
}

suite('admission of orders', () => {
  test('a verifier with as many signatures as take some milliseconds takes no order, and one fewer does', () => {
    const pipeline = new ScriptedPipeline();
    pipeline.inFlight = 2 * SIGNATURES_IN_FLIGHT;
    assert.equal(pipeline.admission.isOpen(), false);
    pipeline.admission.refused(3);
    pipeline.inFlight -= 1;
    assert.equal(pipeline.admission.isOpen(), true);
    assert.deepEqual(pipeline.refused, [['signatures', 3]]);
  });

  test('a market that answers nothing for half of the bound takes no more, until it answers', () => {
    const pipeline = new ScriptedPipeline();
    const { admission, atMarket } = pipeline;
    pipeline.send();
    assert.equal(admission.isOpen(), true);
    pipeline.nowMs = BOUND_MS / 2;
    assert.equal(admission.isOpen(), true);
    pipeline.send();
    pipeline.nowMs += 1;
    assert.equal(admission.isOpen(), false, 'the first is unanswered for too long');
    atMarket.delete(1);
    assert.equal(admission.isOpen(), true);
    pipeline.nowMs += BOUND_MS / 2;
    assert.equal(admission.isOpen(), false, 'now the second, from when it was sent');
    atMarket.delete(2);
    pipeline.nowMs += 1_000;
    assert.equal(admission.isOpen(), true, 'an idle market takes orders');
  });

  test('steady answers keep the gate open, however many orders are under way', () => {
    const pipeline = new ScriptedPipeline();
    for (let number = 1; number <= 500; number += 1) {
      pipeline.send();
      pipeline.atMarket.delete(number - 10);
      pipeline.nowMs += 1;
      assert.equal(pipeline.admission.isOpen(), true, `order ${number}`);
    }
  });

  test('a backlog of clearing closes it at the bound where answers wait for the flush, else at twenty times the bound', () => {
    for (const [acks, multiple] of [['durable', 1] as const, ['optimistic', 20] as const]) {
      const pipeline = new ScriptedPipeline();
      pipeline.acks = acks;
      const { admission } = pipeline;
      pipeline.unflushedSeconds = (multiple * BOUND_MS) / 1_000;
      assert.equal(admission.isOpen(), true, acks);
      pipeline.unflushedSeconds += 0.001;
      pipeline.nowMs += 1;
      assert.equal(admission.isOpen(), false, acks);
      admission.refused(1);
      pipeline.nowMs += BOUND_MS + 1;
      admission.refused(2);
      assert.deepEqual(
        pipeline.refused,
        [
          ['clearing', 1],
          ['gateway', 2],
        ],
        'later the gateway itself was too busy',
      );
    }
  });

  test('with the bound 0 every order is taken', () => {
    const pipeline = new ScriptedPipeline(0);
    Object.assign(pipeline, { inFlight: 10_000, unflushedSeconds: 60 });
    pipeline.send();
    assert.equal(pipeline.admission.isOpen(), true);
    pipeline.nowMs = 60_000;
    assert.equal(pipeline.admission.isOpen(), true);
  });
});
