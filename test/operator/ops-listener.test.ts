// tier: quick, 6 s
/** The ops listener over real HTTP: conventions, open routes, metrics (operator-api.md 2, 3). */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { AssetId } from '../../src/core/ids.ts';
import { ONE_18, type TimestampNs } from '../../src/core/units.ts';
import { METRIC_TABLE } from '../../src/operator/metric-table.ts';
import { PROCESS_TABLE } from '../../src/operator/process-metrics.ts';
import { MARK_STALE_NS, ORACLE_STALE_NS, type PriceSource } from '../../src/risk/prices.ts';
import { MetricsWriter } from '../../src/runtime/metrics.ts';
import { parseExposition } from '../support/exposition.ts';
import { OpsFixture } from '../support/ops-client.ts';

describe('conventions of the operator API', () => {
  let fixture: OpsFixture;
  before(async () => {
    fixture = await new OpsFixture().open();
  });
  after(() => fixture.close());

  test('every path under /operator needs the token, known or not, and open routes do not', async () => {
    for (const authorization of [undefined, 'Bearer wrong', 'ringbook-dev', 'Basic ringbook-dev', 'Bearer ']) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      for (const path of ['/operator/assets', '/operator/clock', '/operator/nothing', '/operator']) {
        const answer = await fixture.send('GET', path, undefined, headers);
        assert.equal(answer.status, 401, `${path} with ${authorization}`);
        assert.equal(answer.json.error.code, 'UNAUTHORIZED');
        assert.equal(answer.headers['www-authenticate'], 'Bearer');
      }
      assert.equal((await fixture.send('GET', '/livez', undefined, headers)).status, 200);
    }
    assert.equal((await fixture.call('GET', '/operator/assets')).status, 200);
  });

  test('a host name that is neither loopback nor configured is 403 on every route; addresses are served (MCH-06)', async () => {
    for (const host of [
      'evil.example',
      'evil.example:9464',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a b',
    ]) {
      for (const path of ['/livez', '/metrics', '/', '/operator/assets', '/nothing']) {
        const { status, json } = await fixture.send('GET', path, undefined, {
          host,
          authorization: 'Bearer ringbook-dev',
        });
        assert.deepEqual([status, json.error.code], [403, 'HOST_NOT_SERVED'], `${host} ${path}`);
      }
    }
    const served = [
      'localhost',
      'LOCALHOST:1',
      'node.localhost',
      '127.0.0.1:9464',
      '[::1]:9464',
      '10.0.0.7',
      '[fd00::1]',
    ];
    for (const host of served) {
      assert.equal((await fixture.send('GET', '/livez', undefined, { host })).status, 200, host);
    }
  });

  test('a body with a Content-Encoding is 415, two Host headers are 400 (MCH-05)', async () => {
    const headers = { authorization: 'Bearer ringbook-dev', 'content-encoding': 'gzip' };
    const coded = await fixture.send('POST', '/operator/prices', '{"prices":[]}', headers);
    assert.deepEqual([coded.status, coded.json.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE']);
    const plain = await fixture.send('POST', '/operator/prices', '{"prices":[]}', {
      ...headers,
      'content-encoding': 'identity',
    });
    assert.notEqual(plain.status, 415);
  });

  test('unknown routes are 404, known ones with another method 405 with what they take', async () => {
    for (const path of [
      '/operator',
      '/operator/nothing',
      '/operator/assets/',
      '/operator/assets/%zz',
      '/livez/x',
      '/assets',
      '/assets/page/ops/../../package.json',
      '/assets/page/main.js',
      '/assets/a/b/c/d/e/f',
    ]) {
      await fixture.refused(404, 'NOT_FOUND', 'GET', path);
    }
    const answer = await fixture.call('DELETE', '/operator/assets/2');
    assert.deepEqual([answer.status, answer.json.error.code], [405, 'METHOD_NOT_ALLOWED']);
    assert.equal(answer.headers['allow'], 'GET, HEAD, PUT, PATCH');
    await fixture.refused(405, 'METHOD_NOT_ALLOWED', 'POST', '/livez');
  });

  test('HEAD has the status and headers of GET and no body, wherever there is GET', async () => {
    for (const path of ['/livez', '/readyz', '/metrics', '/version', '/', '/operator/assets', '/operator/nothing']) {
      const get = await fixture.call('GET', path);
      const head = await fixture.call('HEAD', path);
      assert.deepEqual([head.status, head.text], [get.status, ''], path);
      assert.equal(head.headers['content-type'], get.headers['content-type'], path);
      // The figures of `/metrics` change from one to the next.
      if (path !== '/metrics') assert.equal(head.headers['content-length'], `${Buffer.byteLength(get.text)}`, path);
    }
    assert.equal((await fixture.send('HEAD', '/operator/assets', undefined, {})).status, 401);
    assert.equal((await fixture.call('HEAD', '/operator/barrier')).status, 405);
    assert.ok(!fixture.logged.some((line) => line.includes('"method":"HEAD"')), 'a read is no audited call');
  });

  test('no query member is ignored: an unknown one, one given twice and an empty one are 400 and named', async () => {
    for (const [path, name] of [
      ['/livez?verbose', 'verbose'],
      ['/metrics?name=a', 'name'],
      ['/operator/assets?page=1', 'page'],
      ['/operator/accounts-at-risk?limit=1&limit=2', 'limit'],
      ['/operator/accounts-at-risk?limit=', 'limit'],
      ['/operator/accounts-at-risk?Limit=1', 'Limit'],
      ['/operator/chains/000000000000007a69/balances?user=a', 'user'],
    ] as const) {
      assert.equal(await fixture.refused(400, 'INVALID_REQUEST', 'GET', path), name, path);
    }
    assert.equal(
      await fixture.refused(400, 'INVALID_REQUEST', 'POST', '/operator/barrier?timeout_ms=1', {}),
      'timeout_ms',
    );
    await fixture.refused(404, 'NOT_FOUND', 'GET', '/nothing?page=1');
  });

  test('the page at / and its files need no token, name their types, and allow no other host', async () => {
    const page = await fixture.send('GET', '/', undefined, {});
    assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; .*connect-src 'self'; /);
    assert.match(policy, /frame-ancestors 'none'/);
    const links = [...page.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, link = '']) => link);
    assert.ok(links.length >= 4);
    for (const link of [...links, '/assets/src/client/page/metric-window.js', '/assets/page/dom.js']) {
      const file = await fixture.send('GET', link, undefined, {});
      assert.equal(file.status, 200, link);
      assert.equal(file.headers['x-content-type-options'], 'nosniff');
      assert.match(
        String(file.headers['content-type']),
        /^(?:text\/(?:css|javascript); charset=utf-8|image\/svg\+xml)$/,
        link,
      );
    }
    await fixture.refused(405, 'METHOD_NOT_ALLOWED', 'POST', '/');
  });

  test('a body over 1 MiB is 413, one of 1 MiB is read', async () => {
    const body = (bytes: number): string => `{"symbol":"A"}${' '.repeat(bytes - 14)}`;
    await fixture.refused(413, 'PAYLOAD_TOO_LARGE', 'PUT', '/operator/assets/7', body(1_048_577));
    assert.equal((await fixture.call('PUT', '/operator/assets/7', body(1_048_576))).status, 200);
  });

  test('bodies are strict JSON objects', async () => {
    const bodies = [
      '[]',
      '{',
      '{"symbol":"A","symbol":"B"}',
      '{"symbol":"A"} x',
      '{"symbol":1.5}',
      '{"symbol":NaN}',
      '"x"',
    ];
    for (const body of bodies) await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/assets/7', body);
  });

  test('members that mean something between threads never come in', async () => {
    for (const body of ['{"$n":"x"}', '{"symbol":{"$n":"x"}}', '{"tokens":[{"$b":"AA=="}]}']) {
      const field = await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/assets/7', body);
      assert.match(String(field), /^\$[nb]$/);
    }
    assert.equal(
      await fixture.refused(400, 'INVALID_REQUEST', 'PUT', '/operator/assets/7', '{"__proto__":{}}'),
      '__proto__',
    );
  });

  test('a call that throws is 500, is logged, and the listener goes on', async () => {
    fixture.world.breaks = true;
    await fixture.refused(500, 'INTERNAL_ERROR', 'PUT', '/operator/assets/7', {});
    fixture.world.breaks = false;
    assert.ok(fixture.logged.some((line) => line.includes('broken on purpose')));
    await fixture.ok('PUT', '/operator/assets/7', {});
  });

  test('LDG-03: each changing call leaves one line with who made it and what it changed, without a token', async () => {
    fixture.logged.length = 0;
    await fixture.ok('PUT', '/operator/assets/7', { symbol: 'WORD' });
    await fixture.ok('GET', '/operator/assets');
    assert.equal(fixture.logged.length, 1);
    const line = fixture.logged[0] ?? '';
    assert.ok(!line.includes(fixture.world.config.token));
    const { method, path, route, status, by, changes } = JSON.parse(line) as Record<string, unknown>;
    const listed = changes as readonly { readonly member: string; readonly after: string }[];
    assert.equal(listed.find(({ member }) => member === 'symbol')?.after, '"WORD"');
    const seen = { method, path, route, status, by };
    assert.deepEqual(seen, {
      method: 'PUT',
      path: '/operator/assets/7',
      route: '/operator/assets/{asset_id}',
      status: 200,
      by: 'operator',
    });
  });

  test('the trace of the caller comes back in the envelope (AMB-103)', async () => {
    const traceparent = `00-${'12'.repeat(16)}-${'34'.repeat(8)}-01`;
    const answer = await fixture.call('GET', '/operator/nothing', undefined, { traceparent });
    assert.deepEqual([answer.json.error.trace_id, answer.json.error.span_id], ['12'.repeat(16), '34'.repeat(8)]);
  });

  test('while clearing recovers operator calls are 503, and what needs no clearing is answered', async () => {
    fixture.world.waiting = ['clearing', 'markets'];
    const ready = await fixture.call('GET', '/readyz');
    assert.equal(ready.status, 503);
    assert.equal(ready.text, '{"ready":false,"waiting_for":["clearing","markets"]}');
    fixture.world.starting = { step: 'verifying', done: 4_096, of: 16_384 };
    const progress = '"progress":{"step":"verifying","done":4096,"of":16384}';
    assert.equal(
      (await fixture.call('GET', '/readyz')).text,
      `{"ready":false,"waiting_for":["clearing","markets"],${progress}}`,
    );
    const answer = await fixture.call('GET', '/operator/assets');
    assert.deepEqual([answer.status, answer.json.error.retryable], [503, true]);
    await fixture.refused(503, 'SERVICE_UNAVAILABLE', 'PUT', '/operator/assets/7', {});
    for (const path of ['/livez', '/version', '/metrics', '/operator/actors', '/operator/clock']) {
      assert.equal((await fixture.call('GET', path)).status, 200, path);
    }
    fixture.world.waiting = [];
    assert.equal((await fixture.call('GET', '/readyz')).text, '{"ready":true,"waiting_for":[]}');
  });

  test('liveness and version', async () => {
    assert.equal((await fixture.call('GET', '/livez')).text, '{"alive":true}');
    assert.deepEqual(await fixture.ok('GET', '/version'), {
      name: 'ringbook',
      version: '0.1.0',
      commit: 'abc',
      profile: 'test',
      protocol_version: 1,
    });
  });
});

test('what is no HTTP, too long a head, or one that does not arrive is answered with an envelope and cut', async () => {
  const fixture = await new OpsFixture().open();
  const answerTo = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(fixture.port, '127.0.0.1', () => socket.write(bytes));
      let seen = '';
      socket.on('data', (chunk) => {
        seen += chunk.toString('utf8');
      });
      socket.on('close', () => resolve(seen));
      socket.on('error', reject);
    });
  const head = 'GET /livez HTTP/1.1\r\nHost: a\r\n';
  const cases = [
    ['nonsense\r\n\r\n', 400, 'INVALID_REQUEST'],
    [`${head}X-Long: ${'a'.repeat(16_384)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
    [head, 504, 'TIMEOUT'],
  ] as const;
  for (const [index, text] of (await Promise.all(cases.map(([bytes]) => answerTo(bytes)))).entries()) {
    const [, status, code] = cases[index] ?? assert.fail();
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.ok(text.includes(`"code":"${code}"`), text);
  }
  await fixture.close();
});

/**
 * A listener on a port that another one has just freed; another process may take it first, so there are several tries.
 */
async function reopened(): Promise<OpsFixture> {
  for (let tries = 1; ; tries += 1) {
    const before = await new OpsFixture().open();
    const { port } = before;
    await before.close();
    try {
      return await new OpsFixture().open(port);
    } catch (error) {
      assert.ok(tries < 10, String(error));
    }
  }
}

test('a port that is taken rejects, and closing frees it', async () => {
  const first = await new OpsFixture().open();
  const second = new OpsFixture();
  await assert.rejects(second.open(first.port), { code: 'EADDRINUSE' });
  await second.close();
  await first.close();
  await assert.rejects(first.call('GET', '/livez'));
  const third = await reopened();
  assert.equal((await third.call('GET', '/livez')).status, 200);
  await third.close();
});

describe('metrics', () => {
  test('the page is valid exposition text with every family, and counters move', async () => {
    const fixture = await new OpsFixture().open();
    const { plan, requests } = fixture.world;
    const writer = (actor: string): MetricsWriter => {
      const found = plan.actors.find((candidate) => candidate.name === actor);
      assert.ok(found !== undefined);
      return new MetricsWriter(found.metricsPlan);
    };
    const gateway = writer('front-door');
    const page = async () => parseExposition((await fixture.call('GET', '/metrics')).text);
    const before = await page();
    for (const { name, kind } of METRIC_TABLE) assert.equal(before.get(name)?.type, kind, name);
    const named = new Set([...METRIC_TABLE, ...PROCESS_TABLE].map(({ name }) => name));
    assert.deepEqual(
      [...before.keys()].filter((name) => !named.has(name)),
      ['nodejs_gc_duration_seconds'],
    );

    gateway.counter('orders_received').add(3);
    gateway.counter('fills_rolled_back').add(2);
    gateway.counter('rollback_Overfill').add(2);
    gateway.counter('lag_closes').add(1);
    writer('market-data').counter('lag_closes').add(4);
    writer('market-data').gauge('socket_backlog_bytes').set(77);
    for (const ns of [5, 1_023, 1_024, 2_047, 3_000_000_000, 2 ** 45]) gateway.histogram('answer_ns').record(ns);
    writer('clearing').gauge('journal_sequence').set(1042);
    requests.set('/orders/:user_id 200', 7);

    const after = await page();
    const value = (family: string, key: string): number | undefined => after.get(family)?.samples.get(`${key}`);
    assert.equal(value('ringbook_orders_total', 'ringbook_orders_total{result="received"}'), 3);
    assert.equal(value('ringbook_fills_total', 'ringbook_fills_total{status="Rollbacked"}'), 2);
    assert.equal(value('ringbook_rollbacks_total', 'ringbook_rollbacks_total{reason="Overfill"}'), 2);
    assert.equal(value('ringbook_lag_closes_total', 'ringbook_lag_closes_total{service="oms"}'), 1);
    assert.equal(value('ringbook_lag_closes_total', 'ringbook_lag_closes_total{service="mds"}'), 4);
    const backlog = 'ringbook_socket_backlog_bytes';
    assert.deepEqual(
      [value(backlog, `${backlog}{service="oms"}`), value(backlog, `${backlog}{service="mds"}`)],
      [0, 77],
    );
    assert.equal(value('ringbook_journal_sequence', 'ringbook_journal_sequence{}'), 1042);
    assert.equal(value('ringbook_open_orders', 'ringbook_open_orders{}'), 17);
    assert.equal(value('ringbook_open_orders_limit', 'ringbook_open_orders_limit{}'), 2_000_000);
    assert.equal(value('ringbook_verifier_signatures_limit', 'ringbook_verifier_signatures_limit{}'), 96);
    assert.equal(value('ringbook_data_disk_bytes', 'ringbook_data_disk_bytes{}'), 65_536);
    assert.equal(value('ringbook_data_disk_free_bytes', 'ringbook_data_disk_free_bytes{}'), 8_192);
    const certificate = 'ringbook_tls_certificate_expiry_timestamp_seconds';
    assert.equal(value(certificate, `${certificate}{}`), 1_900_000_000);
    assert.equal(value('ringbook_snapshots_total', 'ringbook_snapshots_total{result="made"}'), 3);
    assert.equal(value('ringbook_snapshots_total', 'ringbook_snapshots_total{result="failed"}'), 1);
    assert.equal(value('ringbook_ready', 'ringbook_ready{}'), 1);
    assert.equal(value('ringbook_market_events_total', 'ringbook_market_events_total{market="2"}'), 9);
    assert.equal(after.get('ringbook_market_pending_trades')?.samples.size, 256, 'of 300 markets');
    assert.equal(value('ringbook_unflushed_seconds', 'ringbook_unflushed_seconds{}'), 0.25);
    const requestsKey = (code: string, route: string) => `ringbook_requests_total{code="${code}",route="${route}"}`;
    assert.equal(value('ringbook_requests_total', requestsKey('200', '/orders/:user_id')), 7);
    assert.equal(value('ringbook_requests_total', requestsKey('200', '/metrics')), 1);
    await fixture.close();
  });

  test('a breaker is open from when its source is stale until enough fresh prices came (CB-01 to 03, AMB-44)', async () => {
    const fixture = await new OpsFixture().open();
    const nowNs = fixture.world.clock.nowNs();
    const source = (ageNs: bigint, isTripped: boolean, goodUpdates = 0): PriceSource => {
      return { price: ONE_18, timeNs: (nowNs - ageNs) as TimestampNs, isTripped, goodUpdates };
    };
    fixture.world.prices = [
      ['1' as AssetId, { oracle: source(0n, false), mark: null }],
      ['2' as AssetId, { oracle: source(ORACLE_STALE_NS + 1n, false), mark: source(MARK_STALE_NS, false) }],
      ['3' as AssetId, { oracle: source(0n, true, 2), mark: source(MARK_STALE_NS + 1n, true) }],
    ];
    const page = parseExposition((await fixture.call('GET', '/metrics')).text);
    const name = 'ringbook_breaker_open';
    const samples = page.get(name)?.samples ?? new Map<string, number>();
    const value = (asset: string) =>
      ['oracle', 'mark'].map((of) => samples.get(`${name}{asset="${asset}",source="${of}"}`));
    assert.deepEqual(['1', '2', '3'].map(value), [
      [0, 0],
      [1, 0],
      [1, 1],
    ]);
    const ages = page.get('ringbook_oracle_age_seconds')?.samples;
    assert.deepEqual(
      ['1', '2', '3'].map((asset) => ages?.get(`ringbook_oracle_age_seconds{asset="${asset}"}`)),
      [0, 3_600.000000001, 0],
    );
    await fixture.close();
  });

  test('a bucket of the page holds exactly what was recorded up to its bound', async () => {
    const fixture = await new OpsFixture().open();
    const gateway = fixture.world.plan.actors.find((actor) => actor.name === 'front-door');
    assert.ok(gateway !== undefined);
    const histogram = new MetricsWriter(gateway.metricsPlan).histogram('answer_ns');
    const values = Array.from({ length: 400 }, (_, at) => Math.floor(1.07 ** at) % 2 ** 38);
    for (const value of values) histogram.record(value);
    const page = parseExposition((await fixture.call('GET', '/metrics')).text);
    const samples = page.get('ringbook_stage_seconds')?.samples ?? new Map<string, number>();
    let bounds = 0;
    for (const [key, count] of samples) {
      const le = /le="([^"]+)",stage="answer"/.exec(key)?.[1];
      if (le === undefined || le === '+Inf') continue;
      bounds += 1;
      const ns = Math.round(Number(le) * 1e9);
      assert.equal(count, values.filter((value) => value <= ns).length, key);
    }
    assert.equal(bounds, 26);
    assert.equal(samples.get('ringbook_stage_seconds_count{stage="answer"}'), 400);
    await fixture.close();
  });
});
