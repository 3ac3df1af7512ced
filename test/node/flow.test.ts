// tier: full, 37 s
/** Real input: a recorded order flow through a whole node, the ten best levels compared after every event. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parseBook, parseFlow } from '../../src/cli/flow-format.ts';
import { replayFlow } from '../../src/cli/replay-flow.ts';
import { syntheticFlow } from '../../src/cli/synthetic-flow.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

/** Recorded data is never committed: it lies beside the checkout where there is any. */
const RECORDED = process.env['RINGBOOK_RECORDED_FLOW'] ?? join('..', 'shared', 'data');
const flowFile = join(RECORDED, 'aapl-flow.csv');
const bookFile = join(RECORDED, 'aapl-book.csv');
const isRecorded = existsSync(flowFile) && existsSync(bookFile);

suite('order flow through a node', () => {
  let node: NodeProcess;

  before(async () => {
    node = await startNode({ profile: 'dev' });
  });

  after(async () => {
    await stopNode(node, 'SIGKILL');
    removeDirectory(node.dataDirectory);
  });

  const addresses = () => ({ oms: node.oms, mds: node.mds, ops: node.ops });

  test('a synthetic flow gives the ten best levels after every event and the traded total', async () => {
    const { events, book } = syntheticFlow(20_120_621, 400);
    const report = await replayFlow({ ...addresses(), events, book });
    assert.deepEqual(report.rejects, []);
    assert.ok(report.comparedRows >= 300, `${report.comparedRows} rows`);
    assert.ok(report.tradedQuantity > 0n);
    assert.equal(report.tradedQuantity, report.expectedQuantity);
    assert.equal(report.tradedNotional, report.expectedNotional);
  });

  test('the recorded Nasdaq flow gives the recorded book after every event and the traded total', {
    skip: isRecorded ? false : `no recorded flow in ${RECORDED}`,
  }, async () => {
    const events = parseFlow(readFileSync(flowFile, 'utf8'));
    const book = parseBook(readFileSync(bookFile, 'utf8'));
    const report = await replayFlow({ ...addresses(), events, book });
    assert.deepEqual(report.rejects, []);
    assert.equal(report.comparedRows, book.length);
    assert.equal(report.tradedQuantity, report.expectedQuantity);
    assert.equal(report.tradedNotional, report.expectedNotional);
  });

  test('the ledger adds up after the flows (AMB-116)', async () => {
    const ledger = await operator(node, 'GET', '/operator/ledger');
    for (const row of Object.values(ledger.body['assets'] as Record<string, { difference: string }>)) {
      assert.equal(row.difference, '0');
    }
  });
});
