// tier: full, 8 s
/**
 * The ops listener is open to every address that reaches its port: what a stranger sends there takes no thread and no
 * memory of the node.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { aMoment, SLOWEST } from '../support/patience.ts';

const FLOOD_MS = 3_000;
/** How long the order service may leave a read unanswered meanwhile, on a quiet machine. */
const ANSWER_MS_MAX = 250;
/** Pages that are not collected yet. */
const GAINED_MIB_MAX = 192;

suite('floods of the ops listener', () => {
  let node: NodeProcess;
  before(async () => {
    node = await startNode({ profile: 'dev' });
  });
  after(() => stopNode(node, 'SIGKILL'));

  const portOf = (base: string): number => Number(new URL(base).port);

  function memoryMiB(): number {
    const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${node.pid}/status`, 'utf8'));
    return Number(line?.[1]) / 1_024;
  }

  /** Keeps so many connections sending bursts for some seconds. @returns the slowest read of the order service meanwhile. */
  async function flood(
    connections: number,
    burst: string,
    reads: boolean,
  ): Promise<{ slowestMs: number; cut: number }> {
    const port = portOf(node.ops);
    const open = new Set<Socket>();
    let cut = 0;
    const endsAt = performance.now() + FLOOD_MS;
    const start = (): void => {
      const socket = connect(port, '127.0.0.1');
      open.add(socket);
      if (reads) socket.resume();
      socket.on('error', () => undefined);
      socket.on('connect', () => socket.write(burst));
      socket.on('close', () => {
        open.delete(socket);
        cut += 1;
        if (performance.now() < endsAt) setTimeout(start, 50);
      });
    };
    for (let index = 0; index < connections; index += 1) start();
    let slowestMs = 0;
    while (performance.now() < endsAt) {
      const askedAt = performance.now();
      const answer = await fetch(`${node.oms}/system/time`);
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
      slowestMs = Math.max(slowestMs, performance.now() - askedAt);
      await aMoment(20);
    }
    // On a busy machine the listener comes to the last of them later.
    for (let waits = 0; waits < 500 && cut < connections; waits += 1) await aMoment(20);
    for (const socket of open) socket.destroy();
    return { slowestMs, cut };
  }

  const request = (path: string, token = ''): string => {
    return `GET ${path} HTTP/1.1\r\nHost: x\r\n${token === '' ? '' : `Authorization: Bearer ${token}\r\n`}\r\n`;
  };

  for (const [what, connections, burst, reads] of [
    ['2,000 reads of the metrics in one piece', 1, request('/metrics').repeat(2_000), true],
    ['32 connections that pipeline reads of the metrics', 32, request('/metrics').repeat(200), true],
    ['32 connections that read no answer', 32, request('/metrics').repeat(200), false],
    ['64 connections with wrong tokens', 64, request('/operator/state', 'wrong').repeat(500), true],
  ] as const) {
    test(`${what}: orders are answered, memory is bounded, the connections are cut (I18, I19)`, async () => {
      const beforeMiB = memoryMiB();
      const { slowestMs, cut } = await flood(connections, burst, reads);
      assert.equal(node.child.exitCode, null, node.stderr());
      assert.ok(cut >= connections, `${cut} connections were cut`);
      assert.ok(slowestMs < ANSWER_MS_MAX * SLOWEST, `a read waited ${Math.round(slowestMs)} ms`);
      assert.ok(memoryMiB() - beforeMiB < GAINED_MIB_MAX, `from ${beforeMiB} to ${memoryMiB()} MiB`);
      const alive = await fetch(`${node.ops}/livez`);
      assert.equal(alive.status, 200);
      process.stdout.write(`# ${what}: slowest read ${Math.round(slowestMs)} ms\n`);
    });
  }
});
