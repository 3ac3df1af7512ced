// tier: full
/** The replay itself, against a far end that keeps a plain book: mapping, order, comparison, and stopping at a fault. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FlowBookRow } from '../../src/cli/flow-format.ts';
import { ReplayDifference, type ReplayReport, replayFlow } from '../../src/cli/replay-flow.ts';
import { summaryOf } from '../../src/cli/replay-flow-command.ts';
import { syntheticFlow } from '../../src/cli/synthetic-flow.ts';
import { type FlowServer, type FlowServerFaults, startFlowServer } from '../support/flow-server.ts';

const FLOW = syntheticFlow(3, 300);
const TAG = { seed: 'Create', add: 'Create', take: 'Create', cancel: 'Cancel', reduce: 'Replace', trim: 'Replace' };
const TAKEN = FLOW.events.filter((event) => event.action === 'take').reduce((sum, event) => sum + event.quantity, 0);

async function withReplay(
  faults: FlowServerFaults,
  book: readonly FlowBookRow[] | null,
  body: (replay: Promise<ReplayReport>, server: FlowServer) => Promise<void>,
): Promise<void> {
  const server = await startFlowServer(faults);
  const { base } = server.wire;
  try {
    await body(replayFlow({ oms: base, mds: base, ops: base, events: FLOW.events, book, window: 8 }), server);
  } finally {
    await server.wire.close();
  }
}

suite('replay', () => {
  test('sends every event in the recorded order from two users, and adds up the confirmed fills', async () => {
    await withReplay({}, null, async (replay, server) => {
      const report = await replay;
      assert.deepEqual(
        server.tags,
        FLOW.events.map((event) => TAG[event.action]),
      );
      assert.equal(server.signers.size, 2);
      assert.equal(report.events, 300);
      assert.equal(report.comparedRows, 0);
      assert.deepEqual(report.rejects, []);
      assert.ok(TAKEN > 0);
      assert.equal(report.tradedQuantity, BigInt(TAKEN));
      assert.equal(report.tradedNotional, report.expectedNotional);
      assert.equal(report.latency.totalCount, 300);
      assert.match(summaryOf(report), new RegExp(`^traded +${TAKEN} for `, 'm'));
    });
  });

  test('makes a market without fees and pays the faucet exactly what the flow can cost', async () => {
    await withReplay({}, null, async (replay, server) => {
      await replay;
      const calls = server.wire.requests.filter((request) => request.path.startsWith('/operator/'));
      for (const call of calls) assert.equal(call.headers.authorization, 'Bearer ringbook-dev');
      const market = calls.find((call) => call.path === '/operator/markets/1000');
      assert.equal(
        market?.body,
        '{"book_price_decimals":4,"book_quantity_decimals":0,"tick_size":"0.0001","min_order_size":"1","maker_fee_rate":0,"taker_fee_rate":0}',
      );
      const grants = calls
        .filter((call) => call.path === '/operator/faucet')
        .map((call) => JSON.parse(call.body) as { asset_id: string; amount: string; sub_account: number });
      assert.ok(grants.every((grant) => grant.sub_account === 0));
      const sold = FLOW.events.filter((event) => event.side === 'sell' && TAG[event.action] === 'Create');
      const wanted = sold.reduce((sum, event) => sum + event.quantity, 0);
      const given = grants
        .filter((grant) => grant.asset_id === '1000')
        .reduce((sum, grant) => sum + Number(grant.amount), 0);
      assert.equal(given, wanted);
    });
  });

  test('compares the ten best levels after every event', async () => {
    await withReplay({}, FLOW.book, async (replay) => {
      assert.equal((await replay).comparedRows, 300);
    });
  });

  test('stops at the first event after which the book differs, with its position', async () => {
    const cancel = FLOW.events.find((event) => event.action === 'cancel' && event.seq > 50) ?? assert.fail('no cancel');
    await withReplay({ ignoreCancelOf: cancel.id }, FLOW.book, async (replay, server) => {
      const error = await replay.catch((reason: unknown) => reason);
      assert.ok(error instanceof ReplayDifference, String(error));
      const seq = Number(/^after event (\d+) the node shows another book:\n/.exec(error.message)?.[1]);
      assert.ok(seq >= cancel.seq);
      assert.equal(server.tags.length, seq);
    });
  });

  test('a refused order ends a verified replay, and is counted by a plain one', async () => {
    const last = FLOW.events.findLast((event) => event.action === 'add') ?? assert.fail('no add');
    await withReplay({ rejectOrder: last.id }, FLOW.book, async (replay) => {
      await assert.rejects(replay, /the node refused event \d+, add of \S+: WouldCross/);
    });
    await withReplay({ rejectOrder: last.id }, null, async (replay) => {
      const report = await replay.catch((reason: unknown) => reason as Error);
      assert.ok(!(report instanceof Error), String(report));
      assert.equal(report.rejects.length, 1);
    });
  });
});
