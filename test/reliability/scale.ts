/**
 * How long a node takes to be ready on a large data directory:
 *
 *   node dist/test/reliability/scale.js make DIR [--orders N] [--triggers N] [--users N] [--road]
 *   node dist/test/reliability/scale.js start DIR [--times N]
 *
 * `start` kills the node each time, so every start replays nothing but marks a restart, and verifies what the one before
 * it wrote; the first verifies everything. Prints one JSON line a start.
 */
import { parseArgs } from 'node:util';
import { makeLargeData } from '../support/large-data.ts';
import { makeLargeRows } from '../support/large-rows.ts';
import { startNode, stopNode } from '../support/node-process.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    orders: { type: 'string', default: '1000000' },
    triggers: { type: 'string', default: '200000' },
    users: { type: 'string', default: '100000' },
    road: { type: 'boolean', default: false },
    times: { type: 'string', default: '3' },
  },
});
const [what, directory = ''] = positionals;
const READY_MS_MAX = 600_000;

if (what === 'make') {
  const size = { users: Number(values.users), orders: Number(values.orders), triggers: Number(values.triggers) };
  const startedMs = performance.now();
  if (values.road) await makeLargeData(directory, size, (orders) => process.stderr.write(`${orders}\n`));
  else await makeLargeRows(directory, size);
  process.stdout.write(`${JSON.stringify({ ...size, seconds: Math.round((performance.now() - startedMs) / 1000) })}\n`);
} else if (what === 'start') {
  for (let time = 0; time < Number(values.times); time += 1) {
    const node = await startNode({
      profile: 'dev',
      dataDirectory: directory,
      rateLimits: 'standard',
      readyMsMax: READY_MS_MAX,
    });
    const steps = node
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"starting"'));
    process.stdout.write(`${JSON.stringify({ start: time + 1, readyMs: Math.round(node.readyMs) })}\n`);
    for (const step of steps) process.stderr.write(`${step}\n`);
    await stopNode(node, 'SIGKILL');
  }
} else {
  process.stderr.write('usage: scale.js make|start DIR\n');
  process.exitCode = 64;
}
