// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import type { FullPolicy } from '../../src/runtime/publication.ts';
import { type EdgeSpec, planTopology, type Topology } from '../../src/runtime/topology.ts';
import { RELAY_TOPOLOGY } from '../support/relay-actors.ts';

const CLOCK = { mode: 'manual', notBeforeNs: 0n } as const;

function edge(from: string, to: string, full: FullPolicy): EdgeSpec {
  return { from, to, full, capacityBytes: 1_024, reservedBytes: 0 };
}

function refused(change: Partial<Topology>, why: RegExp): void {
  assert.throws(
    () => planTopology({ ...RELAY_TOPOLOGY, ...change }, CLOCK),
    (error) => error instanceof InvariantError && why.test(error.message),
  );
}

suite('topology', () => {
  test('contradictions are refused at birth', () => {
    const [relayThread, mainThread] = RELAY_TOPOLOGY.threads;
    assert.ok(relayThread && mainThread);
    refused({ threads: [relayThread] }, /one main thread/);
    refused({ threads: [mainThread, mainThread] }, /two threads are named main/);
    refused({ threads: [mainThread] }, /its thread relay exists/);
    refused({ threads: [relayThread, { ...mainThread, waiting: 'park' }] }, /main thread runs its event loop/);
    refused({ threads: [{ ...relayThread, ownsListener: true }, mainThread] }, /listener needs an event loop/);
    refused({ threads: [{ ...relayThread, onDeath: 'restart' }, mainThread] }, /its channels resync/);
    refused({ edges: [edge('source', 'nobody', 'reject')] }, /an actor named nobody/);
    refused({ edges: [edge('source', 'relay', 'reject'), edge('source', 'relay', 'reject')] }, /two edges/);
    refused({ tickMs: 101 }, /tickMs/);
  });

  test('the plan survives a structured clone with its memory shared', () => {
    const plan = planTopology(RELAY_TOPOLOGY, CLOCK);
    const clone = structuredClone(plan);
    const [here, there] = [plan.edges[0]?.ring, clone.edges[0]?.ring];
    assert.ok(here && there);
    new Uint8Array(here)[600] = 77;
    assert.equal(new Uint8Array(there)[600], 77);
  });
});
