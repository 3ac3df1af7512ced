// tier: quick
/** When a node is at rest (operator-api.md 7.2): not after a length of time, but when every thread has looked. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { whenAtRest } from '../../src/node/quiescence.ts';
import { ThreadBlock } from '../../src/runtime/heartbeat.ts';
import { type Plan, planTopology } from '../../src/runtime/topology.ts';
import { RELAY_TOPOLOGY } from '../support/relay-actors.ts';

const QUIET = { isBusy: () => false, wakeAll: () => undefined, ignored: new Set<string>() };
const LONG_MS = 600_000;

function threads(): { readonly plan: Plan; readonly blocks: readonly ThreadBlock[] } {
  const plan = planTopology(RELAY_TOPOLOGY, { mode: 'manual', notBeforeNs: 0n });
  const blocks = plan.threads.map((_, index) => new ThreadBlock(plan.threadBlocks, index));
  for (const block of blocks) block.setState('running');
  return { plan, blocks };
}

function tick(block: ThreadBlock | undefined): void {
  block?.beginTicks();
  block?.endTicks();
}

/** Time enough for a wrong answer; a slow machine makes it no less right. */
async function aWhile(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 40));
}

suite('rest', () => {
  test('is reported once every running thread has begun and ended a tick since nothing moved', async () => {
    const { plan, blocks } = threads();
    const [relay, main] = blocks;
    relay?.beginTicks();
    let isSaid = false;
    const rest = whenAtRest(plan, { ...QUIET, timeoutMs: LONG_MS }).then((answer) => {
      isSaid = true;
      return answer;
    });
    tick(main);
    relay?.endTicks();
    await aWhile();
    assert.equal(isSaid, false, 'the tick that ended had begun before');
    relay?.beginTicks();
    await aWhile();
    assert.equal(isSaid, false, 'a tick that has not ended may still say something');
    relay?.endTicks();
    assert.equal(await rest, true);
  });

  test('does not wait for threads that do not run', async () => {
    const { plan, blocks } = threads();
    const [relay, main] = blocks;
    relay?.setState('starting');
    const rest = whenAtRest(plan, { ...QUIET, timeoutMs: LONG_MS });
    tick(main);
    assert.equal(await rest, true);
  });

  test('is looked for again when something began meanwhile, and is not reported of a thread that never ticks', async () => {
    const { plan, blocks } = threads();
    let isBusy = false;
    const rest = whenAtRest(plan, { ...QUIET, isBusy: () => isBusy, timeoutMs: LONG_MS });
    isBusy = true;
    for (const block of blocks) tick(block);
    await aWhile();
    isBusy = false;
    const ticking = setInterval(() => {
      for (const block of blocks) tick(block);
    }, 1);
    assert.equal(await rest, true);
    clearInterval(ticking);
    assert.equal(await whenAtRest(plan, { ...QUIET, timeoutMs: 10 }), false);
  });
});
