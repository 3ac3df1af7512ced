// tier: quick
/** compose.yaml, as far as it can be judged without Docker: what it mounts, publishes and runs exists. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { ringbook } from '../support/ringbook-command.ts';

const COMPOSE = readFileSync('compose.yaml', 'utf8');

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

function commandOf(service: string): readonly string[] {
  const [, list = ''] = /^ {4}command: \[(.*)\]$/m.exec(services().get(service) ?? '') ?? [];
  return list.split(', ').map((word) => word.replaceAll('"', ''));
}

suite('compose.yaml', () => {
  test('it has a node, a quoting bot, Prometheus, Grafana and a chain', () => {
    assert.deepEqual([...services().keys()].sort(), ['anvil', 'bot', 'grafana', 'node', 'prometheus']);
  });

  test('every file that it mounts exists, and every image has a version', () => {
    const mounted = [...COMPOSE.matchAll(/^ {6}- (\.\/[^:\n]+):/gm)].map(([, path = '']) => path);
    assert.ok(mounted.length >= 4);
    for (const path of mounted) assert.ok(existsSync(path), path);
    for (const [, image = ''] of COMPOSE.matchAll(/^ {4}image: (\S+)$/gm)) {
      assert.match(image, /^(?:ringbook|\S+:v?\d+\.\d+\.\d+)$/, image);
    }
  });

  test('every port is published to loopback only: the keys of the dev profile are public', () => {
    const ports = [...COMPOSE.matchAll(/^ {4}ports: \[(.*)\]$/gm)].flatMap(([, list = '']) => list.split(', '));
    assert.ok(ports.length >= 6);
    for (const port of ports) assert.match(port, /^"127\.0\.0\.1:(\d+):\1"$/);
  });

  test('the configuration of the node exists, and the bot is a command that ringbook has', async () => {
    const [, config = ''] = /RINGBOOK_CONFIG: (\S+) \}/.exec(services().get('node') ?? '') ?? [];
    assert.ok(existsSync(config), config);
    assert.deepEqual(commandOf('node'), ['start']);
    const [name = '', play = '', ...options] = commandOf('bot');
    const { stdout } = await ringbook([name, '--help']);
    assert.ok(stdout.includes(`ringbook ${name} ${play}`), stdout);
    for (const option of options.filter((word) => word.startsWith('--'))) assert.ok(stdout.includes(option), option);
  });

  test('Prometheus scrapes the node under the name that rules and dashboard expect, where its operations listener is', () => {
    const config = readFileSync('config/prometheus.yml', 'utf8');
    assert.match(config, /^ {2}- job_name: ringbook$/m);
    const [, service = '', port = ''] = /targets: \["([a-z]+):(\d+)"\]/.exec(config) ?? [];
    assert.ok(services().get(service)?.includes(`"127.0.0.1:${port}:${port}"`), `${service}:${port}`);
    assert.match(
      readFileSync('config/grafana/provisioning/datasources/prometheus.yml', 'utf8'),
      /http:\/\/prometheus:9090$/m,
    );
  });
});
