// tier: full, 6 s
/**
 * A checkout and a data directory at a path with a space, `é`, `%` and `#`: all that a node does with paths works there. And a check
 * that could not run is not called damage: an operator would restore a backup over sound data.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { checkBeforeStart } from '../../src/node/start-check.ts';
import { type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const ODD_NAME = 'a b é 100%25 #1?';

suite('odd paths', () => {
  const root = temporaryDirectory();
  const nodes: NodeProcess[] = [];
  after(() => {
    for (const { child } of nodes) child.kill('SIGKILL');
    removeDirectory(root);
  });
  const checkout = join(root, ODD_NAME, 'checkout');
  const dataDirectory = join(root, ODD_NAME, 'data');
  const program = join(checkout, 'dist/src/cli/main.js');
  mkdirSync(checkout, { recursive: true });
  for (const part of ['dist/src', 'dist/workers', 'config', 'page', 'package.json', 'docs/reference']) {
    cpSync(part, join(checkout, part), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));

  test('a node in such a checkout, on such data, starts again and again, makes snapshots, and serves its page', async () => {
    const config = join(root, ODD_NAME, 'config.json');
    writeFileSync(config, JSON.stringify({ extends: 'dev', logLevel: 'info', snapshots: { everyMs: 200, keep: 1 } }));
    for (let start = 0; start < 2; start += 1) {
      const env = { RINGBOOK_CONFIG: config };
      const node = await startNode({ profile: 'dev', program, dataDirectory, env });
      nodes.push(node);
      if (start === 1) await eventually(() => node.stderr().includes('snapshot made'), node.stderr);
      for (const path of ['/api-reference', '/api-doc.json'])
        assert.equal((await fetch(`${node.oms}${path}`)).status, 200, path);
      assert.equal(await stopNode(node), 0, node.stderr());
    }
  });

  test('the tools take such a path: verify, backup, and verify of the copy', () => {
    const copy = join(root, ODD_NAME, 'copy');
    for (const command of [
      ['verify', dataDirectory],
      ['backup', dataDirectory, copy],
      ['verify', copy],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [program, ...command], { encoding: 'utf8' });
      assert.equal(status, 0, `${command[0]}: ${stderr}`);
    }
  });

  for (const [what, text] of [
    ['is not there', null],
    ['throws before it reads', "throw new Error('no memory')"],
    ['is killed', "process.kill(process.pid, 'SIGKILL')"],
    ['cannot open a file', "console.log('unchecked EACCES: permission denied, open')"],
  ] as const) {
    test(`a check that ${what}: could not be checked, nothing damaged, no advice to restore at once`, async () => {
      const entry = join(root, ODD_NAME, `check ${what}.mjs`);
      if (text !== null) writeFileSync(entry, text);
      await assert.rejects(
        checkBeforeStart(dataDirectory, pathToFileURL(entry), { progress: () => undefined, printed: () => undefined }),
        (error: Error) => {
          assert.match(error.message, /could not be checked: .*; nothing was found damaged: remove the cause/);
          assert.doesNotMatch(error.message, /is damaged/);
          return true;
        },
      );
    });
  }
});
