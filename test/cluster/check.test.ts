// tier: full, 20 s
/** `ringbook cluster check` (cluster.md 12): what it finds equal, other and incomplete, and what it prints of nodes that differ. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { comparedHashes, type NodeHash } from '../../src/cluster/cluster-admin.ts';
import { StreamLog } from '../../src/cluster/stream-log.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { ClusterCommands } from '../support/cluster-commands.ts';
import { NatsServers, natsServer } from '../support/nats-servers.ts';

const program = natsServer();
const skip = 'missing' in program ? program.missing : false;
const RECORD = 'ab'.repeat(32);
const [ONE, OTHER] = ['11'.repeat(32), '22'.repeat(32)];

function hash(state: string | null, why: string | null = null, more: Partial<NodeHash> = {}): NodeHash {
  return { sequence: 7, record: RECORD, state, why, ...more };
}

suite('the comparison of nodes', () => {
  const verdict = (...hashes: readonly (NodeHash | null)[]): string => {
    const { isEqual, isComplete, wasPassed } = comparedHashes(hashes, 7);
    return `${isEqual ? 'equal' : 'other'} ${isComplete ? 'complete' : 'incomplete'}${wasPassed ? ' passed' : ''}`;
  };

  test('states that differ behind one record are not equal, nor are two records', () => {
    assert.equal(verdict(hash(ONE), hash(ONE)), 'equal complete');
    assert.equal(verdict(hash(ONE), hash(OTHER)), 'other complete');
    assert.equal(verdict(hash(ONE), hash(ONE, null, { record: 'cd'.repeat(32) })), 'other complete');
  });

  test('a node without a hash, or without an answer, leaves it incomplete; others are compared all the same', () => {
    assert.equal(verdict(hash(ONE), hash(null, 'TOO_MANY_ORDERS')), 'equal incomplete');
    assert.equal(verdict(hash(ONE), null), 'equal incomplete');
    assert.equal(verdict(hash(ONE), hash(OTHER), null), 'other incomplete');
  });

  test('a record that a node had passed is compared with none', () => {
    assert.equal(
      verdict(hash(ONE), hash(null, 'PASSED', { sequence: 9, record: 'ee'.repeat(32) })),
      'equal incomplete passed',
    );
  });
});

suite('the command, over real servers', { skip, timeout: 120_000 }, () => {
  test('it exits with 1 and names both states where they differ, and why a node has none', async (t) => {
    assert.ok('path' in program);
    const servers = await NatsServers.start(program.path, { cluster: 'venue' });
    const nodes: StreamLog[] = [];
    t.after(async () => {
      for (const log of nodes) await log.close();
      servers.close();
    });
    const commands = new ClusterCommands(servers);
    const made = await commands.run('a', 'cluster', 'init', '--max-gib', '1');
    assert.equal(made.code, 0, made.stderr);
    // Two programs that answer as nodes do.
    const states: Record<string, Pick<NodeHash, 'state' | 'why'>> = {
      a: { state: ONE, why: null },
      b: { state: OTHER, why: null },
    };
    for (const node of ['a', 'b']) {
      const log = await StreamLog.connect({
        ...{ cluster: 'venue', node, servers: servers.addresses, tls: null },
        credentialsFile: servers.credentialsOf('node'),
        dataVersion: String(DATA_VERSION),
      });
      nodes.push(log);
      log.answer(node, (bytes, respond) => {
        const { command, sequence } = JSON.parse(Buffer.from(bytes).toString('utf8') || '{}') as Record<
          string,
          unknown
        >;
        const status = {
          node,
          role: 'node',
          state: 'following',
          epoch: 1,
          sequence: 5,
          hash: '',
          version: '',
          data: '',
        };
        const answer = command === 'hash' ? { ok: true, sequence, record: RECORD, ...states[node] } : status;
        respond(Buffer.from(JSON.stringify(answer)));
      });
    }
    const differ = await commands.run('a', 'cluster', 'check');
    assert.equal(differ.code, 1);
    assert.deepEqual(differ.lines, [
      {
        equal: false,
        complete: true,
        nodes: [
          { node: 'a', ...hash(ONE) },
          { node: 'b', ...hash(OTHER) },
        ],
      },
    ]);
    states['b'] = { state: null, why: 'TOO_MANY_ORDERS' };
    const incomplete = await commands.run('a', 'cluster', 'check');
    assert.equal(incomplete.code, 1);
    assert.deepEqual(incomplete.lines[0]?.['nodes'], [
      { node: 'a', ...hash(ONE) },
      { node: 'b', ...hash(null, 'TOO_MANY_ORDERS') },
    ]);
    states['b'] = { state: ONE, why: null };
    assert.equal((await commands.run('a', 'cluster', 'check')).code, 0);
  });
});
