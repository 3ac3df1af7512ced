/**
 * Tests of what a takeover changes for users, on real nodes: a cluster, users of the wire and the operator, who follow the leader.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { CHAIN_DEV, seedAddress } from '../../src/operator/seed-data.ts';
import { ClusterWorld, type ClusterWorldOptions } from './cluster-world.ts';
import { natsServer } from './nats-servers.ts';
import { operator } from './node-process.ts';
import { eventually } from './patience.ts';
import { PlainClient } from './plain-client.ts';
import { PlainKey } from './wire-texts.ts';

/** Of the dev seed's USD. */
export const TOKEN: string = seedAddress('5a');
/** On a machine with other work a leader of the default lease is stalled now and then, and refuses orders. */
export const PATIENT: ClusterWorldOptions = { members: { leaseMs: 6_000 } };

export class Venue {
  readonly world: ClusterWorld;
  /** The leader, as far as the test has followed it. */
  name = 'a';
  /** By how much the clock of the nodes was pushed. */
  aheadNs = 0n;
  #lastNs = 0n;

  constructor(world: ClusterWorld) {
    this.world = world;
  }

  get node(): ReturnType<ClusterWorld['node']> {
    return this.world.node(this.name);
  }

  user(seed: number): PlainClient {
    const ports = (): { oms: number; mds: number } => ({
      oms: Number(new URL(this.node.oms).port),
      mds: Number(new URL(this.node.mds).port),
    });
    return new PlainClient(new PlainKey(seed), ports, () => this.#nowNs());
  }

  async operate(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const { status, text, body: answer } = await operator(this.node, method, path, body);
    assert.equal(status, 200, `${method} ${path}: ${text}`);
    return answer;
  }

  deposit(user: string, units: number): Promise<Record<string, unknown>> {
    const body = { user, token: TOKEN, amount_base_units: `${units}` };
    return this.operate('POST', `/operator/chains/${CHAIN_DEV}/deposits`, body);
  }

  /** All users' USD. */
  async owned(): Promise<number> {
    const { assets } = (await this.operate('GET', '/operator/ledger')) as { assets: Record<string, { spot: string }> };
    return Number(assets['0']?.spot);
  }

  /** The other node leads, is ready, and chains are watched. */
  async follows(name: string, epoch: number): Promise<void> {
    const leader = await this.world.untilLeading(epoch);
    assert.deepEqual([leader.node.name, leader.epoch], [name, epoch]);
    this.name = name;
    await eventually(
      async () => (await fetch(`${this.node.ops}/readyz`)).status === 200,
      () => `${name} is not ready: ${this.node.stderr}`,
    );
    const lifted = { units_per_second: 1_000_000_000 };
    await this.operate('PUT', '/operator/rate-limits', { default: lifted, market_maker: lifted, global: lifted });
  }

  #nowNs(): bigint {
    const nowNs = BigInt(Date.now()) * 1_000_000n + this.aheadNs;
    this.#lastNs = nowNs > this.#lastNs ? nowNs : this.#lastNs + 1n;
    return this.#lastNs;
  }
}

/** A venue whose nodes run, the first of them as the leader. Skips the test where no server can be had. */
export async function inVenue(
  t: TestContext,
  options: ClusterWorldOptions,
  run: (venue: Venue) => Promise<void>,
): Promise<void> {
  const server = natsServer();
  if ('missing' in server) return t.skip(server.missing);
  const world = await ClusterWorld.start(server.path, options);
  try {
    await world.startNodes();
    await run(new Venue(world));
  } catch (error) {
    t.diagnostic(await world.story());
    throw error;
  } finally {
    await world.close();
  }
}
