// tier: full, 40 s
/** `ringbook demo failover`: one command, whose last line is the figures. Skipped where no server can be had. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '../support/bare-environment.ts';
import { natsServer } from '../support/nats-servers.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

function demo(env: NodeJS.ProcessEnv): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn(process.execPath, [CLI, 'demo', 'failover'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code, text })));
}

test('demo failover prints what was confirmed before and after the death of the leader', async (t) => {
  const server = natsServer();
  if ('missing' in server) return t.skip(server.missing);
  const { code, text } = await demo({ ...bareEnvironment(), RINGBOOK_NATS_SERVER: server.path });
  assert.equal(code, 0, text);
  const report = JSON.parse(text.trim().split('\n').at(-1) ?? '') as Record<string, number>;
  assert.deepEqual(Object.keys(report), ['confirmed_before', 'confirmed_after', 'lost', 'doubled', 'rto_ms']);
  assert.ok((report['confirmed_before'] ?? 0) >= 400 && (report['confirmed_after'] ?? 0) >= 200, text);
  assert.deepEqual([report['lost'], report['doubled']], [0, 0]);
  // A standby waits for a lease of silence; a shorter time would be no takeover.
  assert.ok((report['rto_ms'] ?? 0) > 1_000, text);
});

test('demo failover says what to do where no server can be had', async () => {
  const { code, text } = await demo({ ...bareEnvironment(), RINGBOOK_NATS_SERVER: '/nowhere/nats-server' });
  assert.equal(code, 1);
  assert.match(text, /RINGBOOK_NATS_SERVER is "\/nowhere\/nats-server", which is no program/);
});
