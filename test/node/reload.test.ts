// tier: full, 8 s
/** A supervisor's SIGHUP: a node reads its operators' tokens and its TLS files again, and open sockets stay (MCH-03, LDG-03). */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { after, before, suite, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import WebSocket from 'ws';
import { hashOfToken } from '../../src/operator/operator-tokens.ts';
import { metricOf, type NodeProcess, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { OTHER_TLS_CERTIFICATE, replaceTlsPair, TLS_CERTIFICATE, writeTlsPair } from '../support/tls-pair.ts';

const TRUST = { ca: TLS_CERTIFICATE, servername: 'localhost' };
const FIRST = 't'.repeat(32);
const tokensFile = (...names: readonly string[]): string =>
  JSON.stringify({
    tokens: names.map((name) => ({ name, role: 'operate', sha256: hashOfToken(secretOf(name)).toString('hex') })),
  });
const secretOf = (name: string): string => `${name}-secret`.padEnd(32, '.');
const body = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '');

suite('a node that is told to read again', () => {
  const folder = temporaryDirectory();
  const dataDirectory = temporaryDirectory();
  const tokens = `${folder}/tokens.json`;
  const config = `${folder}/config.json`;
  let files: ReturnType<typeof writeTlsPair>;
  let node: NodeProcess;

  before(async () => {
    files = writeTlsPair(folder);
    const accounts = { feeAccount: 'f1'.repeat(32), backstopAccount: 'b1'.repeat(32) };
    writeFileSync(
      config,
      JSON.stringify({
        extends: 'production',
        ...accounts,
        publicListeners: { tls: files },
        storage: { mapSizeMiB: 1024 },
      }),
    );
    writeFileSync(tokens, tokensFile('desk', 'night'));
    node = await startNode({
      dataDirectory,
      env: { RINGBOOK_CONFIG: config, RINGBOOK_OPERATOR_TOKEN: FIRST, RINGBOOK_OPERATOR_TOKENS_FILE: tokens },
    });
  });
  after(async () => {
    if (node !== undefined) await stopNode(node, 'SIGKILL');
    removeDirectory(folder);
    removeDirectory(dataDirectory);
  });

  async function statusOf(token: string): Promise<number> {
    const answer = await fetch(`${node.ops}/operator/assets`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    return answer.status;
  }

  const linesOf = (event: string): number => node.stderr().split(`"event":"${event}"`).length - 1;

  async function readAgain(): Promise<void> {
    const lines = linesOf('reloaded');
    node.child.kill('SIGHUP');
    await eventually(() => linesOf('reloaded') > lines);
  }

  /** The certificate that a new connection gets. */
  function certificateAt(url: string): Promise<string> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket: TLSSocket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate(true).raw.toString('base64'));
        socket.destroy();
      });
      socket.once('error', reject);
    });
  }

  test('LDG-03: names that are gone from the file are refused from then on, new ones are right, and the first token stays', async () => {
    for (const name of ['desk', 'night']) assert.equal(await statusOf(secretOf(name)), 200);
    writeFileSync(tokens, tokensFile('desk', 'day'));
    assert.equal(await statusOf(secretOf('night')), 200, 'until it is told');
    await readAgain();
    assert.equal(await statusOf(secretOf('night')), 401);
    for (const token of [FIRST, secretOf('desk'), secretOf('day')]) assert.equal(await statusOf(token), 200);
    assert.match(node.stderr(), /"operators":\["operator \(funds\)","desk \(operate\)","day \(operate\)"\]/);
    for (const name of ['desk', 'night', 'day'])
      assert.ok(!node.stderr().includes(secretOf(name)), 'no token is logged');
  });

  test('LDG-03: a file that is wrong changes nothing, and the log says what is wrong', async () => {
    writeFileSync(tokens, '{"tokens":[{"name":"desk"}]}');
    await readAgain();
    assert.equal(await statusOf(secretOf('day')), 200);
    assert.match(
      node.stderr(),
      /"event":"not-reloaded","reason":"RINGBOOK_OPERATOR_TOKENS_FILE is [^"]*\\"[^"]*\\", which has at/,
    );
    writeFileSync(tokens, tokensFile('desk', 'day'));
  });

  test('LDG-03: both listeners give new connections the new certificate; sockets that were open stay and are served', async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ...TRUST });
    const kept = (): Promise<number> =>
      new Promise((resolve, reject) => {
        https
          .get(`${node.oms}/system/health`, { agent }, (response) => {
            response.resume().once('end', () => resolve(response.statusCode ?? 0));
          })
          .once('error', reject);
      });
    const socket = new WebSocket(`${node.mds.replace('https', 'wss')}/ws`, { ...TRUST });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    let frames = 0;
    socket.on('message', () => {
      frames += 1;
    });
    const before = await kept();
    assert.deepEqual(
      [await certificateAt(node.oms), await certificateAt(node.mds)],
      [body(TLS_CERTIFICATE), body(TLS_CERTIFICATE)],
    );
    const ends = await metricOf(node, 'ringbook_tls_certificate_expiry_timestamp_seconds');
    replaceTlsPair(files);
    await readAgain();
    await eventually(async () => {
      const seen = await Promise.all([certificateAt(node.oms), certificateAt(node.mds)]).catch(() => []);
      return seen.length === 2 && seen.every((raw) => raw === body(OTHER_TLS_CERTIFICATE));
    });
    assert.notEqual(await metricOf(node, 'ringbook_tls_certificate_expiry_timestamp_seconds'), ends);
    const framesBefore = frames;
    socket.send('{"op":"ping"}');
    await eventually(() => frames > framesBefore);
    assert.equal(await kept(), before, 'on the connection of before');
    assert.equal(socket.readyState, WebSocket.OPEN);
    socket.terminate();
    agent.destroy();
  });

  test('LDG-03: a key that is not that of the certificate leaves the listeners as they were', async () => {
    const key = readFileSync(files.keyFile, 'utf8');
    writeTlsPair(folder);
    writeFileSync(files.keyFile, key);
    await readAgain();
    assert.match(node.stderr(), /"event":"not-reloaded","reason":"publicListeners\.tls\.keyFile/);
    assert.equal(await certificateAt(node.oms), body(OTHER_TLS_CERTIFICATE));
    assert.equal(await certificateAt(node.mds), body(OTHER_TLS_CERTIFICATE));
  });

  test('MCH-03: it ends in order by SIGTERM', async () => {
    assert.equal(await stopNode(node, 'SIGTERM'), 0);
  });
});
