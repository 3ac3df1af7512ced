// tier: full, 6 s
/** A traced node, whole: every single action has its path over all threads, and a node that is not traced says so. */
import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { explainTail } from '../../src/cli/tail-causes.ts';
import { type Path, pathsOf } from '../../src/cli/tail-paths.ts';
import { recordTrace, traceReport } from '../../src/cli/trace-command.ts';
import { OperatorClient } from '../../src/client/operator.ts';
import { ConfigError } from '../../src/core/config-error.ts';
import { HOP } from '../../src/core/hops.ts';
import { makeSpotMarket } from '../../src/load/load-market.ts';
import type { LoadPlan } from '../../src/load/plan.ts';
import { runPlan } from '../../src/load/run-plan.ts';
import { loadConfig } from '../../src/node/config.ts';
import { type NodeProcess, OPERATOR_TOKEN, startNode, stopNode } from '../support/node-process.ts';
import { ringbook } from '../support/ringbook-command.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const WARM_UP = 20;
const COUNT = 400;

test('RINGBOOK_TRACE is 1, 0 or left out; anything else is refused at the start', () => {
  assert.equal(loadConfig({ RINGBOOK_TRACE: '1' }).isTraced, true);
  for (const environment of [{}, { RINGBOOK_TRACE: '' }, { RINGBOOK_TRACE: '0' }])
    assert.equal(loadConfig(environment).isTraced, false);
  assert.throws(() => loadConfig({ RINGBOOK_TRACE: 'yes' }), new ConfigError('RINGBOOK_TRACE is "yes": give 1 or 0'));
});

suite('a traced node', { timeout: 120_000 }, () => {
  const nodes: NodeProcess[] = [];
  after(async () => {
    for (const node of nodes) {
      await stopNode(node);
      removeDirectory(node.dataDirectory);
    }
  });

  async function start(env: Readonly<Record<string, string>>): Promise<NodeProcess> {
    const node = await startNode({ profile: 'dev', env });
    nodes.push(node);
    return node;
  }

  async function createsPlan(node: NodeProcess, operator: OperatorClient): Promise<LoadPlan> {
    return {
      target: {
        kind: 'node',
        oms: node.oms,
        mds: null,
        users: { kind: 'new', ops: node.ops, token: OPERATOR_TOKEN },
        market: await makeSpotMarket(operator),
      },
      flow: 'creates',
      pace: { kind: 'closed', inFlight: 16 },
      warmUp: WARM_UP,
      count: COUNT,
      streams: false,
      hops: false,
      pid: null,
    };
  }

  test('each create has a path whose hops are in order, from its thread to its market and back', async () => {
    const node = await start({ RINGBOOK_TRACE: '1' });
    const operator = new OperatorClient(node.ops);
    let isOver = false;
    const recorded = recordTrace(operator, () => isOver);
    const { unanswered, firstRejection } = await runPlan(await createsPlan(node, operator));
    await operator.barrier();
    isOver = true;
    const recording = await recorded;
    operator.close();
    assert.deepEqual([unanswered, firstRejection, recording.lost], [0, null, 0]);

    const paths = pathsOf(recording.threads);
    // When it is done, the load cancels what is left of each user: answered without a signature or a market.
    const [creates, massCancels] = [paths.slice(0, WARM_UP + COUNT), paths.slice(WARM_UP + COUNT)];
    const order = Object.values(HOP);
    const hopsOf = ({ steps }: Path): number[] =>
      steps
        .map(({ hop }) => order.indexOf(hop as (typeof order)[number]))
        .filter((hop) => order[hop] !== HOP.published);
    assert.equal(massCancels.length, 2);
    for (const path of massCancels)
      assert.deepEqual(
        hopsOf(path).map((hop) => order[hop]),
        [undefined, HOP.read, HOP.parsed, HOP.answered],
      );
    for (const path of creates) {
      const hops = hopsOf(path);
      assert.deepEqual(
        hops,
        hops.toSorted((a, b) => a - b),
      );
      for (const hop of [
        HOP.read,
        HOP.parsed,
        HOP.verified,
        HOP.sent,
        HOP.taken,
        HOP.matched,
        HOP.acknowledged,
        HOP.answered,
      ])
        assert.ok(hops.includes(order.indexOf(hop)), `hop ${hop}`);
    }
    const entriesOf = (code: number): number =>
      recording.threads.reduce((sum, { entries }) => sum + entries.filter((entry) => entry.code === code).length, 0);
    assert.ok(entriesOf(HOP.verdict) > 0 && entriesOf(HOP.flushed) > 0 && entriesOf(HOP.decided) > 0);
    const { late, causes } = explainTail(recording.threads, paths, 0);
    assert.equal(late, paths.length);
    assert.equal(
      causes.reduce((sum, { answers }) => sum + answers, 0),
      paths.length,
    );
    assert.match(traceReport(recording, null), /^422 answers, in the node: p50 [\d.]+, .*\n\n5 answers took /);
  });

  test('`since` of another node and a node that is not traced are refused with their reason', async () => {
    const node = await start({ RINGBOOK_TRACE: '1' });
    const operator = new OperatorClient(node.ops);
    for (const since of ['1', 'x.y', '-1.0.0.0.0'])
      await assert.rejects(operator.trace(since), { code: 'INVALID_REQUEST', message: /since is "next"/ });
    operator.close();

    const plain = await start({});
    const run = await ringbook(['trace', '--seconds', '1', '--ops', plain.ops]);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /start it with RINGBOOK_TRACE=1/);
  });
});
