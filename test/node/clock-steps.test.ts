// tier: full, 18 s
/** A whole node whose system clock is moved under it (MCH-02): by a shim before its process, as an operator or NTP would. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { buildShim } from '../support/io-shim.ts';
import { metricOf, type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const SHIM = buildShim('test/support/clock-shim.c');
const S = 1_000_000_000n;
const DIFFERENCE = 'ringbook_clock_difference_seconds';

/** A node of dev without hooks, so that nothing else moves its clock. */
class Fixture {
  readonly home = temporaryDirectory();
  readonly #file = join(this.home, 'offset');
  readonly #config = join(this.home, 'config.json');
  node: NodeProcess | null = null;

  constructor() {
    this.move(0n);
    writeFileSync(this.#config, JSON.stringify({ extends: 'dev', hooks: false }));
  }

  get running(): NodeProcess {
    return this.node ?? assert.fail('a node runs');
  }

  /** The system clock of the node is so far from that of this process. */
  move(seconds: bigint): void {
    writeFileSync(this.#file, `${seconds * S}`);
  }

  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.node = await startNode({
      dataDirectory: join(this.home, 'data'),
      rateLimits: 'standard',
      env: { RINGBOOK_CONFIG: this.#config, LD_PRELOAD: SHIM ?? '', CLOCK_SHIM_FILE: this.#file, ...env },
    });
  }

  /** Node clock − clock of this process, in seconds. */
  async ahead(): Promise<number> {
    const { body } = await operator(this.running, 'GET', '/operator/wall-clock');
    return Number(body['now_ns']) / 1e9 - Date.now() / 1e3;
  }

  async readyz(): Promise<{ readonly status: number; readonly text: string }> {
    const reply = await fetch(`${this.running.ops}/readyz`);
    return { status: reply.status, text: await reply.text() };
  }
}

suite('a node and the system clock', { skip: SHIM === null ? 'no C compiler' : false }, () => {
  const fixture = new Fixture();
  after(() => {
    fixture.node?.child.kill('SIGKILL');
    removeDirectory(fixture.home);
  });

  test('MCH-02: 30 s forward are followed at once, an hour when it stays, and the node is not ready meanwhile', async () => {
    await fixture.start();
    assert.ok(Math.abs(await fixture.ahead()) < 1);
    fixture.move(30n);
    await eventually(async () => Math.abs((await fixture.ahead()) - 30) < 1);
    assert.ok(Math.abs(await metricOf(fixture.running, DIFFERENCE)) < 1);
    assert.equal((await fixture.readyz()).status, 200);
    fixture.move(3_630n);
    await eventually(async () => (await fixture.readyz()).status === 503);
    assert.match(
      (await fixture.readyz()).text,
      /"waiting_for":\["clock"\],"reason":"the system clock is 3600 s ahead of the node/,
    );
    assert.ok((await metricOf(fixture.running, DIFFERENCE)) > 3_590);
    assert.equal(await metricOf(fixture.running, 'ringbook_clock_held'), 1);
    await eventually(async () => (await fixture.readyz()).status === 200);
    assert.ok(Math.abs((await fixture.ahead()) - 3_630) < 1);
  });

  test('MCH-02: the operator bears out a step that is held, by the seconds that it is, and by no other', async () => {
    fixture.move(90_000n);
    await eventually(async () => (await fixture.readyz()).text.includes('the system clock is 86370 s ahead'));
    const accept = (seconds: unknown): Promise<{ readonly status: number; readonly text: string }> =>
      operator(fixture.running, 'POST', '/operator/wall-clock/accept', { difference_seconds: seconds });
    for (const wrong of [1, 86_000, 0, -5, '86370', 1e12]) assert.equal((await accept(wrong)).status, 400, `${wrong}`);
    const { status, text } = await accept(86_370);
    assert.equal(status, 200, text);
    assert.equal((await fixture.readyz()).status, 200);
    assert.ok(Math.abs((await fixture.ahead()) - 90_000) < 1);
    assert.equal((await accept(86_370)).status, 400, 'nothing is held');
  });

  test('MCH-02: backwards it is given back slowly, and time goes on', async () => {
    const before = await fixture.ahead();
    fixture.move(89_000n);
    await eventually(async () => (await metricOf(fixture.running, DIFFERENCE)) < -900);
    const [first, atMs] = [await fixture.ahead(), performance.now()];
    await aMoment(2_000);
    const rate = 1 + ((await fixture.ahead()) - first) / ((performance.now() - atMs) / 1e3);
    assert.ok(rate > 0.88 && rate < 0.95, `${rate}`);
    assert.ok(first > before - 100);
    assert.equal((await fixture.readyz()).status, 200);
  });

  test('MCH-02: a start with recorded times ahead of the system clock ends with 78, says by how much, and how to accept it', async () => {
    // Something is recorded.
    const { status } = await operator(fixture.running, 'PUT', `/operator/users/${'ab'.repeat(32)}`, { is_mm: true });
    assert.equal(status, 200);
    assert.equal(await stopNode(fixture.running), 0);
    fixture.move(0n);
    const refusal = await fixture.start().then(
      () => assert.fail('it started'),
      (error: Error) => error.message,
    );
    assert.match(refusal, /ended with 78/);
    const seconds = Number(/RINGBOOK_ACCEPT_CLOCK=([0-9]+)/.exec(refusal)?.[1]);
    assert.ok(seconds > 80_000 && seconds < 90_100, refusal);
    await assert.rejects(fixture.start({ RINGBOOK_ACCEPT_CLOCK: `${seconds - 1_000}` }), /ended with 78/);
    await fixture.start({ RINGBOOK_ACCEPT_CLOCK: `${seconds + 100}` });
    assert.ok((await metricOf(fixture.running, DIFFERENCE)) < -80_000);
    assert.equal(await stopNode(fixture.running), 0);
  });
});
