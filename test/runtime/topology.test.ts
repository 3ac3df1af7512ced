// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import type { FullPolicy } from '../../src/runtime/publication.ts';
import { type EdgeSpec, holdBackCycle, planTopology, type Topology } from '../../src/runtime/topology.ts';
import { propertyParameters } from '../support/property.ts';
import { RELAY_TOPOLOGY } from '../support/relay-actors.ts';

const CLOCK = { mode: 'manual', notBeforeNs: 0n } as const;
const PARAMETERS = propertyParameters(200);

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
  test('a cycle of edges that hold back is refused, and named', () => {
    const edges = [edge('source', 'relay', 'hold-back'), edge('relay', 'sink', 'hold-back')];
    refused({ edges: [...edges, edge('sink', 'source', 'hold-back')] }, /cycle: source → relay → sink → source/);
    refused({ edges: [edge('relay', 'relay', 'hold-back')] }, /cycle: relay → relay/);
  });

  test('a cycle with one edge that does not hold back is accepted', () => {
    const edges = [edge('source', 'relay', 'hold-back'), edge('relay', 'sink', 'hold-back')];
    for (const full of ['reject', 'drop-and-resync', 'never-full'] as const) {
      planTopology({ ...RELAY_TOPOLOGY, edges: [...edges, edge('sink', 'source', full)] }, CLOCK);
    }
  });

  test('a cycle is found in any graph that has one, and only there', () => {
    const nodes = fc.integer({ min: 0, max: 6 }).map(String);
    fc.assert(
      fc.property(fc.array(fc.tuple(nodes, nodes), { maxLength: 14 }), (pairs) => {
        const edges = pairs.map(([from, to]) => edge(from, to, 'hold-back'));
        assert.equal(holdBackCycle(edges) !== null, hasCycleByRemoval(pairs));
      }),
      PARAMETERS,
    );
  });

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

/** The plain judge: take away edges into nowhere until nothing changes; what is left is a cycle. */
function hasCycleByRemoval(pairs: readonly (readonly [string, string])[]): boolean {
  let left = pairs;
  for (;;) {
    const starts = new Set(left.map(([from]) => from));
    const next = left.filter(([, to]) => starts.has(to));
    if (next.length === left.length) return left.length > 0;
    left = next;
  }
}
