// tier: quick
/** compose.cluster.yaml, as far as it can be judged without Docker: what it mounts, publishes, configures and runs exists and fits together. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { loadConfig } from '../../src/node/config.ts';
import { promtool } from '../support/promtool.ts';

const COMPOSE = readFileSync('compose.cluster.yaml', 'utf8');
const NODES = ['node-a', 'node-b', 'replica'] as const;

/** The text of each service, by its name. */
function services(): ReadonlyMap<string, string> {
  const [, section = ''] = /^services:\n([\s\S]*?)^volumes:/m.exec(COMPOSE) ?? [];
  return new Map(
    section
      .split(/^ {2}(?=[a-z])/m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf(':')), text]),
  );
}

function serviceOf(name: string): string {
  return services().get(name) ?? assert.fail(name);
}

/** The variables that are in braces behind `environment:`. */
function environmentOf(name: string): Readonly<Record<string, string>> {
  const [, list = ''] = /^ {4}environment: \{ (.*) \}$/m.exec(serviceOf(name)) ?? [];
  return Object.fromEntries(
    list.split(', ').map((pair) => {
      const colon = pair.indexOf(': ');
      return [pair.slice(0, colon), pair.slice(colon + 2).replaceAll('"', '')];
    }),
  );
}

/** What the servers have in common. */
function serverVariable(name: string): string {
  return new RegExp(`^ {2}${name}: "?(.+?)"?$`, 'm').exec(COMPOSE)?.[1] ?? assert.fail(name);
}

suite('compose.cluster.yaml', () => {
  test('it has three servers, what makes the streams, two nodes, a replica, Prometheus and Grafana', () => {
    const expected = ['grafana', 'init', 'n1', 'n2', 'n3', 'node-a', 'node-b', 'prometheus', 'replica'];
    assert.deepEqual([...services().keys()].sort(), expected);
  });

  test('every file that it mounts exists, and every image has a version', () => {
    const mounted = [...COMPOSE.matchAll(/^ {6}- (\.\/[^:\n]+):/gm)].map(([, path = '']) => path);
    assert.ok(mounted.length >= 10);
    for (const path of mounted) assert.ok(existsSync(path), path);
    for (const [, image = ''] of COMPOSE.matchAll(/^ +image: (\S+)$/gm)) {
      assert.match(image, /^(?:ringbook|\S+:v?\d+\.\d+\.\d+)$/, image);
    }
  });

  test('its servers have the version that the project pins', () => {
    const [, pinned = ''] = /nats-server\/v2 v(\S+)/.exec(readFileSync('tools/nats/go.mod', 'utf8')) ?? [];
    assert.ok(COMPOSE.includes(`image: nats:${pinned}\n`), pinned);
  });

  test('every port is published to loopback only: keys, tokens and passwords of the trial are public', () => {
    const ports = [...COMPOSE.matchAll(/^ {4}ports: \[(.*)\]$/gm)].flatMap(([, list = '']) => list.split(', '));
    assert.ok(ports.length >= 10);
    for (const port of ports) assert.match(port, /^"127\.0\.0\.1:(\d+):\1"$/);
    assert.equal(new Set(ports).size, ports.length);
  });

  test('the servers have every variable of their configuration, each a name of its own and one password a user', () => {
    const files = ['server.conf', 'rights.conf'].map((name) => readFileSync(`config/cluster/${name}`, 'utf8'));
    const named = [...files.join('\n').matchAll(/[ :]\$(NATS_[A-Z_]+)/g)].map(([, name = '']) => name);
    for (const name of new Set(named)) assert.match(COMPOSE, new RegExp(`^ +(?:.*[ {])?${name}: `, 'm'), name);
    for (const name of ['n1', 'n2', 'n3']) {
      assert.ok(serviceOf(name).includes(`NATS_NAME: ${name} }`), name);
      assert.ok(serverVariable('NATS_ROUTES').includes(`@${name}:6222`), name);
    }
  });

  test('the configurations of nodes and replica are valid, fit each other, and know the servers and their passwords', () => {
    const loaded = NODES.map((name) => {
      const env: Readonly<Record<string, string>> = {
        RINGBOOK_HOST: '0.0.0.0',
        RINGBOOK_DATA_DIR: '/data',
        ...environmentOf(name),
      };
      const config = loadConfig(env);
      const { cluster } = config;
      assert.ok(cluster !== null, name);
      assert.deepEqual(
        cluster.servers,
        ['n1', 'n2', 'n3'].map((server) => `nats://${server}:4222`),
      );
      const user = cluster.role === 'replica' ? 'replica' : 'node';
      const password = serverVariable(`NATS_${user.toUpperCase()}_PASSWORD`);
      assert.equal(readFileSync(cluster.credentialsFile ?? '', 'utf8'), `${user}:${password}\n`);
      const [, target = ''] = /127\.0\.0\.1:(\d+)\/livez/.exec(serviceOf(name)) ?? [];
      assert.equal(target, env['RINGBOOK_OPS_PORT'] ?? '9464', name);
      assert.ok(config.opsNames?.includes(name), `${name}: Prometheus reads it under this name`);
      for (const address of [cluster.advertise.oms, cluster.advertise.mds])
        if (address !== null) assert.ok(serviceOf(name).includes(`"${new URL(address).host}:`), address);
      return cluster;
    });
    assert.equal(new Set(loaded.map(({ node }) => node)).size, 3);
    assert.deepEqual(
      loaded.map(({ home }) => home),
      ['n1', 'n2', null],
    );
    assert.equal(new Set(loaded.slice(0, 2).map(({ chainsDirectory }) => chainsDirectory)).size, 1);
  });

  test('Prometheus scrapes every node and the replica under the name that rules and dashboard expect', () => {
    const config = readFileSync('config/prometheus.cluster.yml', 'utf8');
    assert.match(config, /^ {2}- job_name: ringbook$/m);
    const [, list = ''] = /targets: \[(.*)\]/.exec(config) ?? [];
    const targets = list.split(', ').map((target) => target.replaceAll('"', ''));
    assert.deepEqual(
      targets,
      NODES.map((name) => `${name}:${environmentOf(name)['RINGBOOK_OPS_PORT'] ?? '9464'}`),
    );
  });

  const tool = promtool();
  const skip = tool === null ? 'promtool is not installed; PROMTOOL names its program' : false;

  test('promtool finds no fault in the configuration', { skip }, () => {
    const answer = tool?.(['check', 'config', 'config/prometheus.cluster.yml']);
    assert.equal(answer?.status, 0, answer?.text);
  });
});
