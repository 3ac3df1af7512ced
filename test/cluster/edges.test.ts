// tier: full, 30 s
/**
 * What is in front of a cluster and beside it: the load balancers of config/cluster, and the pages of operators of a leader and of
 * its standby. Each part runs where its program is; without a NATS server nothing does.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { browserOptions, launchBrowser, openPage } from '../support/browser.ts';
import { type ClusterNode, ClusterWorld } from '../support/cluster-world.ts';
import { faintTexts } from '../support/contrast.ts';
import { natsServer, quietPorts } from '../support/nats-servers.ts';
import { eventually } from '../support/patience.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const nats = natsServer();
const skip = 'missing' in nats ? nats.missing : false;

interface Proxy {
  readonly program: string;
  readonly file: string;
  /** @param path of the configuration. */
  readonly args: (path: string) => readonly string[];
}

const PROXIES: readonly Proxy[] = [
  { program: 'haproxy', file: 'haproxy.cfg', args: (path) => ['-db', '-f', path] },
  {
    program: 'nginx',
    file: 'nginx.conf',
    args: (path) => ['-e', 'stderr', '-g', `daemon off; pid ${path}.pid;`, '-c', path],
  },
];
const INSTALLED = PROXIES.filter(({ program }) => spawnSync(program, ['-v']).status === 0);
const SIZES = [
  { width: 1_280, height: 900 },
  { width: 390, height: 844 },
];

suite('in front of a cluster', { skip }, () => {
  let world: ClusterWorld;
  /** Of orders, by program. */
  const fronts = new Map<string, string>();
  const children: ChildProcess[] = [];
  const portOf = (address: string): string => new URL(address).port;

  before(async () => {
    world = await ClusterWorld.start('path' in nats ? nats.path : '');
    await world.startNodes();
    for (const proxy of INSTALLED) fronts.set(proxy.program, await started(proxy));
  });
  after(async () => {
    for (const child of children) child.kill('SIGTERM');
    await world.close();
  });

  /** With the file as it is, but for addresses and ports. @returns where it takes orders. */
  async function started({ program, file, args }: Proxy): Promise<string> {
    const [orders = 0, marketData = 0] = await quietPorts(2);
    let text = readFileSync(join('config/cluster', file), 'utf8')
      .replace('127.0.0.1:8080', `127.0.0.1:${orders}`)
      .replace('127.0.0.1:8081', `127.0.0.1:${marketData}`)
      .replace(/^ *server r1 .*\n/m, '');
    for (const [at, node] of world.nodes.entries()) {
      for (const [port, address] of [
        ['3032', node.oms],
        ['8011', node.mds],
      ] as const) {
        text = text.replace(
          new RegExp(`10\\.0\\.0\\.${at + 1}:${port}(.*)9464`),
          `127.0.0.1:${portOf(address)}$1${portOf(node.ops)}`,
        );
        text = text.replace(`10.0.0.${at + 1}:${port}`, `127.0.0.1:${portOf(address)}`);
      }
    }
    assert.doesNotMatch(text, /10\.0\.0\.|9464$/m);
    const path = join(temporaryDirectory(), file);
    writeFileSync(path, text);
    const child = spawn(program, args(path), { stdio: ['ignore', 'ignore', 'pipe'] });
    children.push(child);
    let log = '';
    child.stderr?.on('data', (data: Buffer) => {
      log += data.toString();
    });
    const front = `http://127.0.0.1:${orders}`;
    await eventually(
      async () => child.exitCode !== null || (await statusOf(front)) === 200,
      () => `${program}: ${log}`,
    );
    assert.equal(child.exitCode, null, log);
    return front;
  }

  function statusOf(front: string): Promise<number> {
    return fetch(`${front}/markets`).then(
      ({ status }) => status,
      () => 0,
    );
  }

  /** A client that has one address: logs in and places an order. */
  async function trades(front: string): Promise<void> {
    const [{ mds }] = world.nodes as readonly [ClusterNode];
    const client = new RingbookClient({ oms: front, mds, key: devKey('a') });
    try {
      await client.login();
      const order = await client.order({ assetId: '2', side: 'Buy', price: '10', quantity: '1' });
      await client.create(order);
    } finally {
      client.close();
    }
  }

  for (const { program } of PROXIES) {
    const lacks = INSTALLED.some((one) => one.program === program) ? false : `${program} is not installed`;
    test(`${program}: every request reaches the node that leads, and a client with one address trades`, {
      skip: lacks,
    }, async () => {
      const front = fronts.get(program) ?? '';
      const all = async (): Promise<readonly number[]> => [
        ...new Set(await Promise.all(Array.from({ length: 20 }, () => statusOf(front)))),
      ];
      // A load balancer that has just started takes every node for ready until its first checks.
      await eventually(
        async () => isDeepStrictEqual(await all(), [200]),
        () => program,
      );
      for (let times = 0; times < 5; times += 1) assert.deepEqual(await all(), [200]);
      await trades(front);
    });
  }

  test('the page of operators has the place, the epoch, the lease and the stream of a leader, at two widths', {
    ...browserOptions,
  }, async () => {
    const browser = await launchBrowser();
    try {
      for (const [node, place, line] of [
        [world.node('a'), 'Leader', /Servers that are current\s+3/],
        [world.node('b'), 'Standby', /Lag\s+[0-9.]+ (?:µs|ms|s)/],
      ] as const) {
        for (const viewport of SIZES) {
          const { page } = await openPage(browser, { viewport, colorScheme: 'light' });
          await page.goto(`${node.ops}/`);
          const panel = page.locator('#cluster');
          await panel.waitFor({ state: 'visible' });
          const text = (await panel.allInnerTexts()).join('\n');
          assert.match(text, new RegExp(`Place\\s+${place}\\s`));
          assert.match(text, /Epoch\s+1\s/);
          assert.match(text, line);
          await page.locator('#state', { hasText: place === 'Leader' ? 'Ready' : 'Standby' }).waitFor();
          const attention = (await page.locator('#attention').allInnerTexts()).join('\n');
          assert.doesNotMatch(attention, /stream|leader|lease|standby|lead|served/, `${place}, ${viewport.width}`);
          assert.deepEqual(await faintTexts(page), [], `${place}, ${viewport.width}`);
          const beyond = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
          assert.ok(beyond <= 0, `${place}, ${viewport.width} px wide: ${beyond} px too much`);
          await page.close();
        }
      }
    } finally {
      await browser.close();
    }
  });

  test('the leader is killed: behind each load balancer a client with one address trades again', async () => {
    const leader = world.node('a');
    await leader.kill();
    await world.untilLeading(2);
    for (const [program, front] of fronts) {
      await eventually(
        async () => (await statusOf(front)) === 200,
        () => program,
      );
      // nginx tries the machine that is gone once a second, and that request is 502.
      await eventually(
        () =>
          trades(front).then(
            () => true,
            () => false,
          ),
        () => program,
      );
    }
  });
});
