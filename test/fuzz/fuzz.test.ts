// tier: full, 7 s
/**
 * The bounded share of the fuzzer that runs with the tests; `node dist/test/fuzz/fuzz-main.js --forever` goes on. With the
 * texts of decoders.test.ts, the frames of frames.test.ts and the actions of signed.test.ts it is the share of
 * shares.ts, however long it takes. First that the fuzzer finds what it should, then requests to a node.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { shareOf } from '../support/shares.ts';
import { type Campaign, runCampaign } from './campaign.ts';
import { FuzzNode } from './fuzz-node.ts';
import { bodyCampaign, headCampaign } from './http-campaigns.ts';
import { exchange } from './http-target.ts';

const BODIES = shareOf('bodies of requests');
const HEADS = shareOf('heads of requests');
const FOR_EVER_MS = Number.POSITIVE_INFINITY;

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

  test('a fault is found, reported with its seed, and shrunk to the byte that makes it', async () => {
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
    const { finding, cases } = await runCampaign(bare, { seed: 1, casesMax: 2_000, forMs: FOR_EVER_MS });
    assert.ok(finding !== null && cases > 0);
    assert.equal(finding.fault, 'answered 500');
    assert.deepEqual([...finding.bytes], [0]);
    const again = await runCampaign(bare, { seed: 1, casesMax: 2_000, forMs: FOR_EVER_MS });
    assert.equal(again.finding?.seed, finding.seed, 'the same seed finds the same case');
  });
});

suite('a node under nearly right requests', () => {
  let fuzzed: FuzzNode;

  before(async () => {
    fuzzed = await FuzzNode.start();
  });
  after(() => fuzzed?.stop());

  test('nearly right bodies on every route get one answer each, none of them 500 (ERR-02, AMB-01, AMB-91)', () =>
    fuzzed.survives(bodyCampaign(fuzzed.target, 8), BODIES));

  test('nearly right heads, lengths and chunks get a clear answer or a close (ERR-01, ERR-02)', () =>
    fuzzed.survives(headCampaign(fuzzed.target, 48), HEADS));
});
