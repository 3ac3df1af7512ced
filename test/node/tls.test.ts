// tier: full, 9 s
/**
 * A node of the `production` profile behind its own certificate: both public listeners accept TLS and nothing else
 * (GEN-02, AMB-114).
 */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { after, before, suite, test } from 'node:test';
import WebSocket from 'ws';
import { metricOf, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { TLS_CERTIFICATE, writeTlsPair } from '../support/tls-pair.ts';
import { PlainKey } from '../support/wire-texts.ts';

const TOKEN = 't'.repeat(32);
const TRUST = { ca: TLS_CERTIFICATE, servername: 'localhost' };

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request over TLS on a connection of its own. */
function ask(url: string, body?: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const request = https.request(url, { ...TRUST, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Opens a stream over TLS. @returns the socket and its first frame, '' when none is awaited. */
async function stream(
  url: string,
  headers: Readonly<Record<string, string>>,
  awaitsFrame: boolean,
): Promise<readonly [WebSocket, string]> {
  const socket = new WebSocket(url.replace('https', 'wss'), { ...TRUST, headers });
  const first = awaitsFrame
    ? new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))))
    : Promise.resolve('');
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return [socket, await first];
}

suite('a production node with a certificate', () => {
  const dataDirectory = temporaryDirectory();
  const folder = temporaryDirectory();
  const key = new PlainKey(0x51);
  let node: NodeProcess;

  before(async () => {
    const config = `${folder}/config.json`;
    const accounts = { feeAccount: 'f1'.repeat(32), backstopAccount: 'b1'.repeat(32) };
    const production = { extends: 'production', ...accounts, publicListeners: { tls: writeTlsPair(folder) } };
    writeFileSync(config, JSON.stringify({ ...production, storage: { mapSizeMiB: 1024 } }));
    node = await startNode({ dataDirectory, env: { RINGBOOK_CONFIG: config, RINGBOOK_OPERATOR_TOKEN: TOKEN } });
  });
  after(async () => {
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    removeDirectory(dataDirectory);
    removeDirectory(folder);
  });

  test('its end is on the metrics page', async () => {
    const { validTo } = new X509Certificate(TLS_CERTIFICATE);
    const expiry = await metricOf(node, 'ringbook_tls_certificate_expiry_timestamp_seconds');
    assert.equal(expiry, Date.parse(validTo) / 1_000);
  });

  test('is on its ready line', () => {
    assert.match(node.oms, /^https:\/\//);
    assert.match(node.mds, /^https:\/\//);
    assert.match(node.ops, /^http:\/\//);
  });

  test('a user logs in, reads and opens /control over TLS; market data is read and streamed over TLS (GEN-02)', async () => {
    const { value } = JSON.parse((await ask(`${node.oms}/nonce/${key.id}`)).text);
    const signature = [...key.sign(value)].join(',');
    const login = await ask(
      `${node.oms}/auth`,
      `{"user_id":"${key.id}","nonce":"${value}","signature":[${signature}]}`,
    );
    assert.equal(login.status, 200, login.text);
    const session = { authorization: `Bearer ${JSON.parse(login.text).token}`, 'user-id': key.id };
    assert.equal((await ask(`${node.oms}/inventory/user/${key.id}`, undefined, session)).status, 200);
    const [control] = await stream(`${node.oms}/control`, session, false);
    const answer = new Promise<string>((resolve) => control.once('message', (data) => resolve(String(data))));
    control.send('{"CancelOrderRequest":5}');
    assert.match(await answer, /INVALID_REQUEST/);
    control.close();

    assert.deepEqual(await ask(`${node.mds}/tickers`), { status: 200, text: '[]' });
    const [tickers, welcome] = await stream(`${node.mds}/tickers/ws`, {}, true);
    assert.match(welcome, /tickers/);
    tickers.close();
  });

  test('plain HTTP gets no answer on either (AMB-114)', async () => {
    for (const base of [node.oms, node.mds]) {
      const plain = new Promise((resolve, reject) => {
        http.get(base.replace('https', 'http'), { agent: false }, resolve).on('error', reject);
      });
      await assert.rejects(plain);
    }
  });

  test('budgets are those of G23, and every address has its own (LIM-24, AMB-91)', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const rates = (await (await fetch(`${node.ops}/operator/rate-limits`, { headers })).json()) as {
      readonly default: unknown;
    };
    assert.deepEqual(rates.default, { units_per_second: 200, capacity: 200 });
    const metric = (): Promise<number> => metricOf(node, 'ringbook_rate_limited_total{bucket="address"}');
    assert.equal(await metric(), 0);
    // A budget of 2000 units refills with 100 a second; each of these costs one for the connection and two for the 401.
    for (const base of [node.oms, node.mds]) {
      const before = await metric();
      const agent = new https.Agent({ ...TRUST, keepAlive: true, maxSockets: 8 });
      const path = base === node.oms ? '/orders/user/x' : '/nothing';
      const statuses = await Promise.all(
        Array.from(
          { length: 4_000 },
          () =>
            new Promise<number>((resolve, reject) => {
              https
                .get(`${base}${path}`, { agent, servername: 'localhost' }, (response) => {
                  response.resume().on('end', () => resolve(response.statusCode ?? 0));
                })
                .on('error', reject);
            }),
        ),
      );
      agent.destroy();
      assert.ok(statuses.includes(429));
      assert.equal((await metric()) - before, statuses.filter((status) => status === 429).length);
    }
  });
});
