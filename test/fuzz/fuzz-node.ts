/** The node under the fuzzer: a user with money and a valid session, and what must still be true afterwards. */
import assert from 'node:assert/strict';
import { metricsOf } from '../support/node-process.ts';
import { PlainClient } from '../support/plain-client.ts';
import { RICH, TestNode } from '../support/test-node.ts';
import { type Campaign, findingText, runCampaign } from './campaign.ts';
import type { HttpTarget } from './http-campaigns.ts';
import { FUZZ_KEY, seedBodies } from './seeds.ts';

const SEED = 20_260_731;

export class FuzzNode {
  readonly node: TestNode;
  readonly user: PlainClient;
  readonly target: HttpTarget;
  #token: string;

  private constructor(node: TestNode, user: PlainClient) {
    this.node = node;
    this.user = user;
    this.#token = user.token;
    this.target = { ports: () => node.ports, token: () => this.#token, bodies: seedBodies(node.nowNs) };
  }

  static async start(): Promise<FuzzNode> {
    const node = await TestNode.start();
    // More sockets at once than a user has: how many there may be is not tested by their frames.
    await node.operate('PUT', '/operator/stream-caps', { default: 1_000, market_maker: 1_000 });
    const user = await new PlainClient(
      FUZZ_KEY,
      () => node.ports,
      () => node.stamp(),
    ).login();
    await node.rest();
    for (const account of [0, 1]) await node.fund(user.id, RICH, account);
    await node.rest();
    return new FuzzNode(node, user);
  }

  /** A case may have logged the user out. */
  async login(): Promise<void> {
    this.#token = (await this.user.login()).token;
  }

  stop(): Promise<void> {
    return this.node.stop();
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode } = this.node.process.child;
    return exitCode !== null || signalCode !== null;
  }

  /** So many cases of a campaign without a finding, and a sound node behind it. */
  async survives(campaign: Campaign, casesMax: number): Promise<void> {
    await this.login();
    const { cases, finding } = await runCampaign(campaign, { seed: SEED, casesMax, forMs: Number.POSITIVE_INFINITY });
    assert.ok(finding === null, finding === null ? '' : findingText(finding));
    assert.equal(cases, casesMax);
    await this.isSound();
  }

  /** Alive, nothing answered 500, the ledger adds up, strangers trade as ever. */
  async isSound(): Promise<void> {
    assert.equal(this.hasEnded, false, this.node.process.stderr());
    const metrics = await metricsOf(this.node.process);
    const broken = metrics.split('\n').filter((line) => /^ringbook_requests_total\{.*code="50[0-2]"/.test(line));
    assert.deepEqual(broken, []);
    await this.login();
    for (const path of ['/orders/cancel-all']) assert.equal((await this.user.send('DELETE', path)).status, 202);
    await this.node.rest();
    const [maker, taker] = [await this.node.user(), await this.node.user()];
    await this.node.trade(maker, taker);
    const { total_trades } = (await maker.read(`/trades/user/${maker.id}`)) as { total_trades: number };
    assert.equal(total_trades, 1, 'a normal trade works');
    await this.node.ledgerAddsUp();
  }
}
