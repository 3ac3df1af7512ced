// tier: quick
/** The member `cluster` and its variables (cluster.md 3): defaults, what variables set over members, and every refusal. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { ConfigError } from '../../src/core/config-error.ts';
import { loadConfig, type NodeConfig } from '../../src/node/config.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const MEMBER = { name: 'venue', node: 'a', servers: ['nats://127.0.0.1:4222', 'tls://n2.example:4222'] };

suite('the cluster of a configuration', () => {
  const folder = temporaryDirectory();
  const path = join(folder, 'config.json');
  after(() => removeDirectory(folder));

  function cluster(member: object | undefined, environment: Record<string, string> = {}): NodeConfig['cluster'] {
    writeFileSync(path, JSON.stringify({ extends: 'dev', ...(member === undefined ? {} : { cluster: member }) }));
    return loadConfig({ RINGBOOK_CONFIG: path, ...environment }).cluster;
  }

  test('is none without the member and its variables, and with replication off', () => {
    assert.equal(cluster(undefined), null);
    assert.equal(cluster({ ...MEMBER, replication: 'off' }), null);
    assert.equal(cluster(MEMBER, { RINGBOOK_REPLICATION: 'off' }), null);
  });

  test('has the defaults of the contract', () => {
    assert.deepEqual(cluster(MEMBER), {
      ...MEMBER,
      role: 'node',
      credentialsFile: null,
      tls: null,
      home: null,
      confirm: ['stream'],
      leaseMs: 1_500,
      takeover: 'automatic',
      rank: 0,
      advertise: { oms: null, mds: null },
      monitoring: [],
      snapshots: { everyMs: 86_400_000, keep: 2 },
      chainsDirectory: null,
    });
  });

  test('takes variables over members, and is made of variables alone', () => {
    const file = join(folder, 'user.creds');
    writeFileSync(file, 'none');
    const variables = {
      RINGBOOK_CLUSTER: 'other',
      RINGBOOK_NODE: 'b',
      RINGBOOK_ROLE: 'replica',
      RINGBOOK_NATS: 'nats://127.0.0.12:4222,nats://127.0.0.13:4222',
      RINGBOOK_NATS_CREDENTIALS_FILE: file,
      RINGBOOK_REPLICATION: 'sync',
      RINGBOOK_CLUSTER_HOME: 'n2',
      RINGBOOK_LEASE_MS: '3000',
    };
    for (const member of [undefined, { ...MEMBER, replication: 'off', leaseMs: 500 }]) {
      const { name, node, role, servers, credentialsFile, home, leaseMs } = cluster(member, variables) ?? assert.fail();
      assert.deepEqual(
        { name, node, role, servers, credentialsFile, home, leaseMs },
        {
          name: 'other',
          node: 'b',
          role: 'replica',
          servers: ['nats://127.0.0.12:4222', 'nats://127.0.0.13:4222'],
          credentialsFile: file,
          home: 'n2',
          leaseMs: 3_000,
        },
      );
    }
  });

  for (const [what, { member, environment, line }] of Object.entries<{
    member: object;
    environment?: Record<string, string>;
    line: RegExp;
  }>({
    'without a name': { member: { node: 'a', servers: MEMBER.servers }, line: /"cluster.name" or RINGBOOK_CLUSTER/ },
    'without a node': { member: { name: 'v', servers: MEMBER.servers }, line: /"cluster.node" or RINGBOOK_NODE/ },
    'without servers': { member: { name: 'v', node: 'a' }, line: /"cluster.servers" or RINGBOOK_NATS/ },
    'with a name in capitals': {
      member: { ...MEMBER, name: 'Venue' },
      line: /cluster.name is "Venue": give 1 to 32 of/,
    },
    'with a server without a port': {
      member: { ...MEMBER, servers: ['nats://host'] },
      line: /cluster.servers.0 is "nats:\/\/host": give nats:\/\/host:port or/,
    },
    'with confirm without the stream': { member: { ...MEMBER, confirm: ['standby'] }, line: /"cluster.confirm" is/ },
    'with confirm twice the stream': {
      member: { ...MEMBER, confirm: ['stream', 'stream'] },
      line: /"cluster.confirm"/,
    },
    'with a short lease': { member: { ...MEMBER, leaseMs: 499 }, line: /cluster.leaseMs is 499: give a whole number/ },
    'with a certificate without its key': {
      member: { ...MEMBER, tls: { certFile: 'a.pem' } },
      line: /"cluster.tls" has one of "certFile" and "keyFile"/,
    },
    'with credentials that cannot be read': {
      member: { ...MEMBER, credentialsFile: join(folder, 'none') },
      line: /"cluster.credentialsFile" is ".*", which cannot be read \(ENOENT\)/,
    },
    'with an unknown member': {
      member: { ...MEMBER, leases: 1 },
      line: /cluster has no member "leases": did you mean/,
    },
    'with a variable of another form': {
      member: MEMBER,
      environment: { RINGBOOK_NATS: 'nats://a:1,b' },
      line: /RINGBOOK_NATS has "b": give 1 to 15 addresses/,
    },
    'with a lease variable out of range': {
      member: MEMBER,
      environment: { RINGBOOK_LEASE_MS: '30001' },
      line: /RINGBOOK_LEASE_MS is "30001": give milliseconds/,
    },
    'with another role': {
      member: MEMBER,
      environment: { RINGBOOK_ROLE: 'leader' },
      line: /RINGBOOK_ROLE is "leader": give node or replica/,
    },
  })) {
    test(`is refused ${what}`, () => {
      assert.throws(
        () => cluster(member, environment),
        (error) => error instanceof ConfigError && line.test(error.message) && !error.message.includes('\n'),
      );
    });
  }
});
