// tier: quick, 3 s
/** What a node prints to try next reaches that node: its own ports and addresses are in the commands. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { welcomeOf } from '../../src/node/addresses.ts';
import { startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { ringbook } from '../support/ringbook-command.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const DEFAULTS = { oms: 'http://127.0.0.1:3032', mds: 'http://127.0.0.1:8011', ops: 'http://127.0.0.1:9464' };

function commandsOf(text: string): readonly string[] {
  return [...text.matchAll(/^ *npx ringbook (.+)$/gm)].map(([, command = '']) => command);
}

suite('the welcome of a node', () => {
  test('with the default addresses the commands need no option', () => {
    assert.deepEqual(commandsOf(welcomeOf(DEFAULTS, false)), [
      'order sell 0.5 2 --price 3000 --as a',
      'order buy 0.5 2 --price 3000 --as b --control',
      'book 2',
    ]);
  });

  test('a listener on all addresses is named by the loopback address', () => {
    const text = welcomeOf({ oms: 'http://0.0.0.0:3032', mds: 'http://[::]:8012', ops: 'http://0.0.0.0:9464' }, false);
    assert.doesNotMatch(text, /0\.0\.0\.0|\[::\]/);
    assert.deepEqual(commandsOf(text)[2], 'book 2 --mds http://[::1]:8012');
  });

  test('each command does what it says on the node that printed it, which has ports of its own', async () => {
    const node = await startNode({ profile: 'dev' });
    try {
      const commands = commandsOf(node.stderr());
      assert.equal(commands.length, 3, node.stderr());
      const outputs: string[] = [];
      for (const command of commands) {
        const { code, stdout, stderr } = await ringbook(command.split(' '));
        assert.equal(code, 0, `${command}\n${stderr}`);
        outputs.push(stdout);
      }
      assert.match(outputs[1] ?? '', /^Confirmed +0\.5 at 3000/m);
      assert.match(outputs[2] ?? '', /^market 2, /);
      await eventually(() => node.stderr().includes(`${node.oms}/api-reference`), node.stderr);
    } finally {
      await stopNode(node, 'SIGKILL');
      removeDirectory(node.dataDirectory);
    }
  });
});
