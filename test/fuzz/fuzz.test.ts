/**
 * The bounded share of the fuzzer that runs with the tests; `node dist/test/fuzz/fuzz-main.js --forever` goes on. First
 * that the fuzzer finds what it should, then the node.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, type TestContext, test } from 'node:test';
import { type Campaign, findingText, runCampaign } from './campaign.ts';
import { Dice } from './dice.ts';
import { FuzzNode } from './fuzz-node.ts';
import { bodyCampaign, headCampaign } from './http-campaigns.ts';
import { exchange } from './http-target.ts';
import { SignedFuzz } from './signed-campaign.ts';
import { controlCampaign, frameCampaign } from './socket-campaigns.ts';

const SEED = 20_260_731;
const FOR_MS = 2_500;

suite('the fuzzer', () => {
  let server: Server;
  let port = 0;

  /** Answers 500 to a body with a zero byte, 200 to any other. */
  before(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        response.writeHead(body.includes(0) ? 500 : 200, { 'content-length': '0' });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => server.closeAllConnections());
  after(() => void server.close());

  test('a fault is found, told with its seed, and shrunk to the byte that makes it', async () => {
    const target = { ports: () => ({ oms: port, mds: port }), token: () => 't', bodies: [] };
    const broken = bodyCampaign(target, 4);
    const bare: Campaign = {
      ...broken,
      run: async ({ pieces: [body = new Uint8Array()] }) => {
        const head = Buffer.from(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.byteLength}\r\n\r\n`);
        const { statuses } = await exchange(port, [head, body], { answers: 1, idleMs: 20, pauseMs: 0 });
        return (statuses[0] ?? 0) === 500 ? 'answered 500' : null;
      },
      make: (dice) => ({ frame: '', pieces: [dice.bytes(40)] }),
    };
    const { finding, cases } = await runCampaign(bare, { seed: 1, casesMax: 2_000, forMs: 5_000 });
    assert.ok(finding !== null && cases > 0);
    assert.equal(finding.fault, 'answered 500');
    assert.deepEqual([...finding.bytes], [0]);
    const again = await runCampaign(bare, { seed: 1, casesMax: 2_000, forMs: 5_000 });
    assert.equal(again.finding?.seed, finding.seed, 'the same seed finds the same case');
  });
});

suite('a node under the fuzzer', () => {
  let fuzzed: FuzzNode;

  before(async () => {
    fuzzed = await FuzzNode.start();
  });
  after(() => fuzzed?.stop());

  /** So many milliseconds of a campaign without a finding, and a sound node behind it. */
  async function survives(campaign: Campaign, t: TestContext): Promise<void> {
    await fuzzed.login();
    const { cases, finding } = await runCampaign(campaign, { seed: SEED, casesMax: 100_000, forMs: FOR_MS });
    t.diagnostic(`${cases} cases`);
    assert.ok(finding === null, finding === null ? '' : findingText(finding));
    assert.ok(cases > 100);
    await fuzzed.isSound();
  }

  test('nearly right bodies on every route get one answer each, none of them 500 (ERR-02, AMB-01, AMB-91)', (t) =>
    survives(bodyCampaign(fuzzed.target, 8), t));

  test('nearly right heads, lengths and chunks get a clear answer or a close (ERR-01, ERR-02)', (t) =>
    survives(headCampaign(fuzzed.target, 24), t));

  test('nearly right frames on /control leave the socket alive and answered (CTL-02, CTL-03, AMB-95)', (t) =>
    survives(controlCampaign(fuzzed.target, 4), t));

  test('nearly right WebSocket frames on every stream close it lawfully or not at all (WS-08, AMB-95)', (t) =>
    survives(frameCampaign(fuzzed.target, 4), t));
});

suite('a node under signed actions that say strange things', () => {
  let signed: SignedFuzz;

  before(async () => {
    signed = await SignedFuzz.start();
  });
  after(() => signed?.node.stop());

  test('every kind of action with figures at every edge is answered, while prices jump and the clock moves (ORD-25, AMB-01, AMB-116)', async (t) => {
    const dice = new Dice(SEED);
    const endMs = performance.now() + FOR_MS;
    let cases = 0;
    while (performance.now() < endMs) {
      const result = await runCampaign(signed.campaign(6), { seed: dice.seed(), casesMax: 40, forMs: FOR_MS });
      cases += result.cases;
      assert.ok(
        result.finding === null,
        `${result.finding === null ? '' : findingText(result.finding)}\n${signed.recent.join('\n')}`,
      );
      await signed.disturb(dice);
    }
    await signed.settle();
    t.diagnostic(`${cases} cases`);
  });
});
