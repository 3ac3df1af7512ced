// tier: full, 35 s
/** `ringbook bench` against a real node: every flow, its files, the users it makes and those it is given. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { RingbookClient } from '../../src/client/client.ts';
import { keyFromSeed, loadKey, saveSeed } from '../../src/client/keys.ts';
import { OperatorClient } from '../../src/client/operator.ts';
import type { Figure } from '../../src/load/figures.ts';
import type { SweepStep } from '../../src/load/sweep.ts';
import { lateGenerator } from '../support/late-generator.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { CLI, type Ended, ringbook } from '../support/ringbook-command.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

interface Written {
  readonly name: string;
  readonly commit: string;
  readonly date: string;
  readonly machine: { readonly cores: number };
  readonly load: readonly number[];
  readonly steps: readonly SweepStep[];
  readonly rows: readonly Figure[];
}

/** A machine that runs other tests makes the generator late: a verdict on the machine, and none on the program. */
const DONE_OR_LATE: readonly (number | null)[] = [0, 1];

suite('ringbook bench', () => {
  let node: NodeProcess;
  const directory = temporaryDirectory();
  const file = (name: string): string => join(directory, name);

  before(async () => {
    node = await startNode({ profile: 'dev', rateLimits: 'standard' });
  });
  after(async () => {
    await stopNode(node);
    removeDirectory(node.dataDirectory);
    removeDirectory(directory);
  });

  const bench = (more: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    ringbook(['bench', 'control', '--target', node.oms, '--mds', node.mds, '--ops', node.ops, ...more], env);

  test('measures every flow, writes JSON with its circumstances and one page, and leaves the budgets as they were', async () => {
    const operator = new OperatorClient(node.ops);
    const limits = await operator.rateLimits();
    const options = ['--rates', '100,200', '--seconds', '1', '--pid', `${node.pid}`];
    const ended = await bench([...options, '--json', file('a.json'), '--html', file('a.html')]);
    assert.ok(DONE_OR_LATE.includes(ended.code), ended.stderr);
    const { name, commit, date, machine, load, steps, rows } = JSON.parse(
      readFileSync(file('a.json'), 'utf8'),
    ) as Written;
    assert.equal(name, 'control');
    assert.ok(commit.length > 0 && date.length > 0 && machine.cores > 0 && load.length === 3);
    assert.deepEqual(
      steps.map(({ label }) => label),
      [
        'creates, 256 in flight',
        'creates, 100/s',
        'creates, 200/s',
        'mix, 100/s',
        'replaces, 100/s',
        'batches, 100/s',
        'margin, 100/s',
      ],
    );
    assert.equal(ended.code, steps.some(({ fault }) => fault !== null) ? 1 : 0);
    for (const { label, result, fault } of steps) {
      assert.equal(result === null, fault !== null);
      if (result === null) continue;
      assert.deepEqual([result.unanswered, result.rejections], [0, {}], label);
      assert.match(result.ledger ?? '', /owns exactly/);
      assert.ok((result.cpu?.total ?? 0) > 0, label);
      assert.ok(rows.some((row) => row.label === `${label}, create to Received, p99` && row.value > 0));
    }
    const timed = (flow: string): readonly string[] =>
      Object.keys(steps.findLast((step) => step.flow === flow && step.result !== null)?.result?.latencies ?? {});
    const expected = {
      creates: ['create', 'pending', 'confirmed'],
      mix: ['create', 'cancel', 'depth'],
      replaces: ['create', 'replace', 'cancel', 'depth'],
      batches: ['create', 'batch', 'pending', 'confirmed'],
      margin: ['create', 'pending', 'confirmed'],
    };
    for (const [flow, kinds] of Object.entries(expected)) {
      if (steps.some((step) => step.flow === flow && step.result !== null)) assert.deepEqual(timed(flow), kinds, flow);
    }
    const creates = steps[1]?.result;
    if (creates !== null && creates !== undefined) assert.equal(Object.keys(creates.hops).length, 5);
    assert.deepEqual(await operator.rateLimits(), limits);
    operator.close();
  });

  test('the page has everything in itself: no script, no address, a chart for every step', () => {
    const page = readFileSync(file('a.html'), 'utf8');
    assert.match(page, /^<!DOCTYPE html>\n/);
    assert.doesNotMatch(page, /<script|<link|<img|<iframe|@import|url\(|\ssrc=|\shref=/i);
    const addresses = [...page.matchAll(/https?:\/\/[^\s"<,]+/g)].map(([address]) => address);
    assert.deepEqual([...new Set(addresses)], [node.oms]);
    assert.ok((page.match(/<svg /g) ?? []).length > 6);
    assert.match(page, /<rect [^>]+><title>[^<]*: [0-9]+<\/title>/);
    assert.match(page, /99\.999 %/);
  });

  test('a measurement is compared with another', async () => {
    const ended = await ringbook(['bench', '--compare', file('a.json'), file('a.json')]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.match(ended.stdout, /creates, 256 in flight, received .+ 1\.000 ×/);
    assert.doesNotMatch(ended.stdout, /only in/);
  });

  test('a generator that was late gives no figures, the exit code is 1, and the reason is printed', async () => {
    const options = ['--rates', '100', '--seconds', '1', '--flows', 'creates', '--json', file('late.json')];
    const ended = await bench(options, lateGenerator(directory));
    assert.equal(ended.code, 1, ended.stdout);
    assert.match(ended.stderr, /ringbook: creates, 100\/s: no figures, the generator was [0-9]+ µs late/);
    const { steps } = JSON.parse(readFileSync(file('late.json'), 'utf8')) as Written;
    assert.equal(steps.find(({ label }) => label === 'creates, 100/s')?.result, null);
  });

  test('users of your own trade in a market that exists; what is missing is named before anything is sent', async () => {
    const [seller, buyer] = [file('seller.key'), file('buyer.key')];
    saveSeed(seller, new Uint8Array(32).fill(0xa1));
    saveSeed(buyer, new Uint8Array(32).fill(0xa2));
    const keys = ['--key', seller, '--key', buyer, '--market', '2', '--price', '3000'];
    const short = ['--seconds', '1', '--flows', 'creates'];
    const poor = await bench([...keys, ...short, '--rates', '5000']);
    assert.equal(poor.code, 1);
    assert.match(poor.stderr, /the seller \(first key\) needs [0-9.]+ of asset 2 in account 0 and has 0/);
    assert.match(poor.stderr, /the buyer \(second key\) needs [0-9.]+ of asset 0 in account 0 and has 0/);
    assert.match(poor.stderr, /may send [0-9]+ orders a second/);
    const operator = new OperatorClient(node.ops);
    for (const seed of [0xa1, 0xa2]) {
      const { userId } = keyFromSeed(new Uint8Array(32).fill(seed));
      for (const assetId of ['0', '2']) await operator.faucet({ userId, subAccount: 0, assetId, amount: '1000000' });
    }
    await operator.barrier();
    operator.close();
    const rich = await bench([...keys, ...short, '--rates', '50', '--json', file('own.json')]);
    assert.ok(DONE_OR_LATE.includes(rich.code), rich.stderr);
    assert.ok(existsSync(file('own.json')));
    assert.match(rich.stdout, /creates, 50\/s/);
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: loadKey(buyer) });
    const resting = await client.order({
      assetId: '2',
      side: 'Buy',
      price: '2000',
      quantity: '0.01',
      target: { account: 0, isSpot: true },
    });
    assert.equal((await client.create(resting)).status, 'Received');
    client.close();
    const crowded = await bench([...keys, ...short, '--rates', '50']);
    assert.equal(crowded.code, 1);
    assert.match(crowded.stderr, /the buyer \(second key\) has 1 open orders in market 2/);
  });

  test('a signal ends a measurement after the budgets are as they were', async () => {
    const operator = new OperatorClient(node.ops);
    const limits = await operator.rateLimits();
    const argv = [CLI, 'bench', 'control', '--target', node.oms, '--mds', node.mds, '--ops', node.ops];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit');
    // The first line names the saturation: the budgets are lifted before it.
    await once(child.stderr, 'data');
    assert.notDeepEqual(await operator.rateLimits(), limits);
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [null, 'SIGTERM']);
    assert.deepEqual(await operator.rateLimits(), limits);
    operator.close();
  });
});
