// tier: full, 19 s
/**
 * The end of a node, each in a process of its own. A market's death is the node's death; data's death is its own; what
 * freezes is noticed from the other side. See fail-stop.ts for why some ends are an exit and some a signal.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FREEZE_TO_END_MS } from '../../src/core/limits.ts';
import { PATIENCE_MS, SLOWEST } from '../support/patience.ts';

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  /** From the moment at which a thread reported that it freezes; 0 when none did. */
  readonly afterFreezeMs: number;
}

function runNode(scenario: string): Promise<Ending> {
  const program = fileURLToPath(new URL('../support/small-node-main.js', import.meta.url));
  const child = spawn(process.execPath, [program, scenario], { stdio: ['ignore', 'pipe', 'pipe'] });
  const timeout = setTimeout(() => child.kill('SIGABRT'), PATIENCE_MS);
  let [out, err, frozenAtMs] = ['', '', 0];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (text.includes('frozen')) frozenAtMs = performance.now();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timeout);
      const afterFreezeMs = frozenAtMs === 0 ? 0 : performance.now() - frozenAtMs;
      resolve({ code, signal, out, err, afterFreezeMs });
    });
  });
}

/** The time in which it had a CPU, as the last line counts it, and the time by the clock, as far as a slow machine may take. */
function inTime({ afterFreezeMs, err }: Ending): void {
  const counted = Number(/, ([0-9.]+) s of [0-9.]+ s without/.exec(err)?.[1]) * 1_000;
  assert.ok(counted < FREEZE_TO_END_MS, `${counted} ms: ${err}`);
  assert.ok(afterFreezeMs > 0 && afterFreezeMs < 4 * SLOWEST * FREEZE_TO_END_MS, `${afterFreezeMs} ms`);
}

async function endsWith70(scenario: string, reason: RegExp): Promise<Ending> {
  const ending = await runNode(scenario);
  assert.deepEqual([ending.code, ending.signal], [70, null], ending.err);
  assert.match(ending.err, /"event":"fail-stop"/);
  assert.match(ending.err, reason);
  return ending;
}

suite('supervisor', { concurrency: true }, () => {
  test('an orderly stop empties every mailbox, upstream first, and exits with 0', async () => {
    const { code, out, err } = await runNode('stop');
    assert.equal(code, 0, err);
    assert.equal(err, '');
    assert.deepEqual(out.trim().split('\n'), [
      'market stopped',
      'data stopped',
      'gateway stopped',
      'main stopped',
      'node stopped',
    ]);
  });

  test('a market that breaks a promise ends the node with 70, listeners on other threads or not', async () => {
    await endsWith70('market-throws', /a market promise is broken/);
  });

  test('an error that nobody catches on the main thread ends the node with 70', async () => {
    await endsWith70('main-throws', /the gateway made a mistake/);
  });

  test('a market that loops for ever ends the node within 3 s', async () => {
    inTime(await endsWith70('market-loops', /market: hung in computation/));
  });

  test('a market that waits for ever ends the node within 3 s', async () => {
    inTime(await endsWith70('market-waits', /market: waits without end/));
  });

  test('a thread that recovers may take longer for a step than a running one may be silent (AMB-110)', async () => {
    const { code, signal, out, err } = await runNode('market-recovers');
    assert.deepEqual([code, signal, err], [0, null, '']);
    assert.match(out, /market recovered\n(.*\n)*node stopped/);
  });

  test('market data that fails is restarted, gets a snapshot, and the node goes on', async () => {
    const { code, out, err } = await runNode('data-throws');
    assert.equal(code, 0, err);
    assert.match(out, /data restarted\n(.*\n)*data has a snapshot\n(.*\n)*data stopped/);
  });

  test('a frozen thread that owns a listener is ended by a signal within 3 s', async () => {
    const ending = await runNode('data-loops');
    assert.equal(ending.signal, 'SIGKILL', ending.err);
    assert.match(ending.err, /data: hung in computation/);
    inTime(ending);
  });

  test('a frozen main thread is noticed by the others and ended by a signal within 3 s', async () => {
    const ending = await runNode('main-loops');
    assert.equal(ending.signal, 'SIGKILL', ending.err);
    assert.match(ending.err, /thread main: hung in computation/);
    inTime(ending);
  });
});
