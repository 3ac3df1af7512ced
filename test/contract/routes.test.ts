// tier: quick
/**
 * Every route and stream that wire.md lists resolves, answers its method, demands what its auth column requires, and
 * refuses everything else in one envelope (wire.md 1, 5, 7.1, 8, 9; GEN, ERR, VER). The lists are read from the
 * document.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { ask, askUpgrade, type HttpAnswer, type HttpAsk } from '../support/edge-client.ts';
import { operator } from '../support/node-process.ts';
import { errorOf, type PlainClient, toldBy } from '../support/plain-client.ts';
import { TestNode } from '../support/test-node.ts';

interface Route {
  readonly service: 'oms' | 'mds';
  readonly method: string;
  readonly pattern: string;
  /** P public, A session, S session and signature. */
  readonly auth: string;
}

interface Stream {
  readonly service: 'oms' | 'mds';
  readonly pattern: string;
}

const WIRE = readFileSync('docs/reference/wire.md', 'utf8');

function section(from: string, to: string): string {
  const text = WIRE.slice(WIRE.indexOf(from), WIRE.indexOf(to));
  assert.ok(text.length > 500, from);
  return text;
}

function omsRoutes(): Route[] {
  const rows = section('### 7.1 Index', '### 7.2').matchAll(
    /^\| (?:GET, )?(GET|POST|PATCH|DELETE) \| `([^`]+)` \| (\w+) \|/gm,
  );
  return [...rows].map(([, method = '', pattern = '', auth = '']) => ({ service: 'oms', method, pattern, auth }));
}

function mdsRoutes(): Route[] {
  const rows = section('## 8. MDS REST', '## 9. WebSocket').matchAll(/^\| (`GET [^|]+) \|/gm);
  const patterns = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`GET ([^`]+)`|`(\/[^`]+)`/g)]);
  return patterns.map(([, first, other]) => {
    return { service: 'mds', method: 'GET', pattern: first ?? other ?? '', auth: 'P' };
  });
}

function streams(): Stream[] {
  const rows = section('### 9.3 Paths', '### 9.4').matchAll(/^\| (OMS|MDS) \| ([^|]+) \|/gm);
  return [...rows].flatMap(([, service = '', cell = '']) =>
    [...cell.matchAll(/`(\/[^`]+)`/g)].map(([, pattern = '']) => {
      return { service: service === 'OMS' ? 'oms' : 'mds', pattern } as const;
    }),
  );
}

const ROUTES = [...omsRoutes(), ...mdsRoutes()];
const STREAMS = streams();
/** Both a REST route and a stream; the Upgrade header decides. */
const SHARED = new Set(STREAMS.map(({ pattern }) => pattern).filter((path) => ROUTES.some((r) => r.pattern === path)));

suite('the routes of the contract', () => {
  let node: TestNode;
  let alice: PlainClient;
  let bob: PlainClient;

  before(async () => {
    node = await TestNode.start();
    alice = await node.user();
    bob = await node.user({});
    await node.trade(alice, alice);
  });
  after(() => node?.stop());

  function pathOf(pattern: string): string {
    return pattern
      .replace('{user_id}', alice.id)
      .replace('{asset_id}', '2')
      .replace('{order_id}', 'none')
      .replace('{chain_id}', '000000000000007a69')
      .replace('{sub_account}', '1')
      .replace('{account_index}', '2');
  }

  /** One request of a route; users that it logged out log in again before the next. */
  async function call({ service, pattern }: Stream, options: HttpAsk): Promise<HttpAnswer> {
    const answer = await ask(node.ports[service], pathOf(pattern), options);
    if (pattern === '/logout' && answer.status === 200) await alice.login();
    return answer;
  }

  test('wire.md lists 44 routes of orders and 6 of market data, 9 and 7 streams', () => {
    const count = (rows: readonly Stream[]): number[] =>
      (['oms', 'mds'] as const).map((service) => rows.filter((row) => row.service === service).length);
    assert.deepEqual(
      [count(ROUTES), count(STREAMS)],
      [
        [44, 6],
        [9, 7],
      ],
    );
  });

  test('every listed path resolves at the root, with its method (GEN-01, GEN-03, VER-01)', async () => {
    for (const route of ROUTES) {
      const { method, pattern, auth } = route;
      const answer = await call(route, { method, headers: alice.headers });
      const told = answer.status < 400 ? 'fine' : errorOf(answer).code;
      assert.notEqual(told, 'NOT_FOUND', `${method} ${pattern}`);
      assert.equal(told === 'METHOD_NOT_ALLOWED', auth === 'any', `${method} ${pattern}`);
      assert.ok(answer.status < 500, `${method} ${pattern}: ${answer.text}`);
      const prefixed = await ask(node.ports[route.service], `/v1${pathOf(pattern)}`, { method });
      assert.equal(toldBy(prefixed), '404 NOT_FOUND', `/v1${pattern}`);
    }
  });

  test('what operators and a clearing engine of its own would serve is on no public listener (AMB-115, AMB-131)', async () => {
    const paths = [
      ...['/metrics', '/livez', '/readyz', '/version', '/operator/state', '/operator/ledger'],
      ...['/admin/settings/modify', '/admin/auto-reduce/force-run', '/admin/users'],
      ...['/verifying-key', '/checkpoint/root', '/registry', '/vaults', '/settlers', '/decimals', '/fee-account'],
    ];
    for (const path of paths) {
      for (const service of ['oms', 'mds'] as const) {
        for (const method of ['GET', 'POST']) {
          const answer = await ask(node.ports[service], path, { method, headers: alice.headers });
          assert.equal(toldBy(answer), '404 NOT_FOUND', `${service} ${method} ${path}`);
        }
      }
    }
  });

  test('every protected route is 401 without session and with a bad one, reads before anything else (ERR-04, AUT-01)', async () => {
    const isProtected = ({ auth }: Route): boolean => auth === 'A' || auth === 'S';
    for (const route of ROUTES.filter(isProtected)) {
      const hasBody = route.method !== 'GET' && !/cancel-all|logout/.test(route.pattern);
      if (hasBody) continue; // their shape is looked at first: sessions.test.ts
      for (const headers of [{}, { ...alice.headers, authorization: 'Bearer wrong' }, { 'user-id': alice.id }]) {
        const answer = await call(route, { method: route.method, headers });
        assert.equal(toldBy(answer), '401 UNAUTHORIZED', `${route.method} ${route.pattern}`);
      }
    }
  });

  test('the data of another user is 401 on every read (G25, AMB-89)', async () => {
    const reads = ROUTES.filter(
      ({ method, pattern, auth }) => auth === 'A' && method === 'GET' && pattern.includes('{user_id}'),
    );
    assert.ok(reads.length >= 6);
    for (const route of reads) {
      assert.equal(toldBy(await call(route, { headers: bob.headers })), '401 UNAUTHORIZED', route.pattern);
    }
  });

  test('market data needs no credentials and looks at none (GEN-04)', async () => {
    for (const route of ROUTES.filter(({ service }) => service === 'mds')) {
      for (const headers of [{}, { authorization: 'Bearer nonsense', 'user-id': 'x' }]) {
        assert.equal((await call(route, { headers })).status, 200, route.pattern);
      }
    }
    for (const stream of STREAMS.filter(({ service }) => service === 'mds')) {
      const reader = await alice.marketStream(pathOf(stream.pattern));
      assert.match(await reader.frame(), /^\{"type":"subscriptions"/, stream.pattern);
      reader.socket.terminate();
    }
  });

  test('every stream of the order service needs a session (STR-08, AUT-11)', async () => {
    for (const stream of STREAMS.filter(({ service }) => service === 'oms')) {
      for (const headers of [{}, { 'user-id': alice.id }, { ...alice.headers, authorization: 'Bearer x' }]) {
        const answer = await askUpgrade(node.ports.oms, pathOf(stream.pattern), headers);
        assert.equal(toldBy(answer), '401 UNAUTHORIZED', stream.pattern);
      }
      const reader = await alice.stream(pathOf(stream.pattern));
      reader.socket.terminate();
    }
  });

  test('a plain GET of a stream is 426, of a shared path it is the read (AMB-97, wire.md 1)', async () => {
    assert.deepEqual([...SHARED].sort(), ['/trades', '/trades/user/{user_id}', '/trades/{asset_id}']);
    for (const stream of STREAMS) {
      const answer = await call(stream, { headers: alice.headers });
      if (SHARED.has(stream.pattern)) assert.equal(answer.status, 200, stream.pattern);
      else {
        assert.equal(toldBy(answer), '426 UPGRADE_REQUIRED', stream.pattern);
        assert.equal(answer.headers['upgrade'], 'websocket');
      }
    }
  });

  test('an upgrade of a path that is no stream is no upgrade', async () => {
    for (const path of ['/markets', '/nonce', '/nowhere', `/inventory/user/${alice.id}`]) {
      const answer = await askUpgrade(node.ports.oms, path, alice.headers);
      assert.notEqual(answer.status, 101, path);
      assert.ok(answer.status < 500, path);
    }
  });

  test('static segments win over parameters (wire.md 1)', async () => {
    assert.equal(toldBy(await alice.get(`/trades/user/events/${alice.id}`)), '426 UPGRADE_REQUIRED');
    assert.equal(toldBy(await alice.get(`/trades/user/${alice.id}/2`)).slice(0, 3), '200');
  });

  test('another method is 405 and names those there are (ERR-06)', async () => {
    for (const route of ROUTES) {
      const own = ROUTES.filter(({ service, pattern }) => service === route.service && pattern === route.pattern);
      const allowed = own.filter(({ auth }) => auth !== 'any').map(({ method }) => method);
      for (const method of ['PUT', 'DELETE', 'POST', 'PATCH'].filter((each) => !allowed.includes(each))) {
        const answer = await call(route, { method });
        assert.equal(toldBy(answer), '405 METHOD_NOT_ALLOWED', `${method} ${route.pattern}`);
        if (allowed.length > 0) assert.ok(answer.headers['allow']?.includes(allowed[0] ?? ''), route.pattern);
      }
    }
  });

  test('unknown paths are 404, whatever the method, also with a slash too many (ERR-10)', async () => {
    for (const path of [
      '/page',
      '/orders',
      '/order/create',
      '/markets/',
      '/orders/create/',
      '//markets',
      '/operator/state',
      '/metrics',
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (path === '/orders' && method === 'GET') continue; // a stream
        const answer = await ask(node.ports.oms, path, { method });
        assert.ok([404, 405].includes(answer.status), `${method} ${path}: ${answer.status}`);
        if (path !== '/orders') assert.equal(toldBy(answer), '404 NOT_FOUND', `${method} ${path}`);
      }
    }
  });

  test('one envelope: code, message, retryable, trace and span, of the caller if given (ERR-01, AMB-103)', async () => {
    const refusals: [HttpAnswer, boolean][] = [
      [await alice.get('/nowhere'), false],
      [await alice.market('/nowhere'), false],
      [await alice.market('/ticker/77'), false],
      [await alice.get('/market/77'), false],
      [await alice.get(`/orders/user/${alice.id}?limit=0`), false],
      [await alice.get(`/inventory/user/${alice.id}`, {}), false],
      [await alice.post('/orders/create', '{'), false],
      [await alice.post('/auth', '{}', {}), false],
      [await alice.upgrade('/orders', {}), false],
      [await alice.send('PUT', '/markets'), false],
    ];
    await node.operate('PATCH', '/operator/markets/1', { status: 'Halted' });
    refusals.push([await alice.create({ asset: '1', side: 'Buy', price: 100_000 }), true]);
    await node.operate('PATCH', '/operator/markets/1', { status: 'Active' });
    for (const [answer, isRetryable] of refusals) {
      const told =
        /^\{"error":\{"code":"([A-Z_]+)","message":"[^"]+","retryable":(true|false),("details":\{.*\},)?"trace_id":"([0-9a-f]{32})","span_id":"([0-9a-f]{16})"\}\}$/.exec(
          answer.text,
        );
      assert.ok(told !== null, answer.text);
      assert.equal(told[2], String(isRetryable), answer.text);
      assert.equal(answer.headers['content-type'], 'application/json');
    }
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    for (const port of [node.ports.oms, node.ports.mds]) {
      const { trace_id } = errorOf(await ask(port, '/nowhere', { headers: { traceparent } }));
      assert.equal(trace_id, '0af7651916cd43dd8448eb211c80319c');
      const garbage = errorOf(await ask(port, '/nowhere', { headers: { traceparent: '00-zz-01' } }));
      assert.match(garbage.trace_id, /^[0-9a-f]{32}$/);
    }
  });

  test('Deprecation is a header of /margin and of nothing else (VER-03)', async () => {
    for (const route of ROUTES) {
      const answer = await call(route, { method: route.method, headers: alice.headers });
      const expected = route.pattern === '/margin/user/{user_id}' ? 'true' : undefined;
      if (route.pattern === '/margin/user/{user_id}' || answer.status < 400) {
        assert.equal(answer.headers['deprecation'], expected, route.pattern);
      }
    }
  });

  test('every reply is JSON with its content type (wire.md 1)', async () => {
    for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
      const answer = await call(route, { headers: alice.headers });
      assert.equal(answer.headers['content-type'], 'application/json', route.pattern);
      assert.doesNotThrow(() => JSON.parse(answer.text), route.pattern);
    }
  });

  interface ApiDocument {
    readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  }

  async function documentOf(service: 'oms' | 'mds'): Promise<ApiDocument> {
    const answer = await ask(node.ports[service], '/api-doc.json');
    assert.equal(answer.status, 200);
    return JSON.parse(answer.text) as ApiDocument;
  }

  test('the description of each service lists its routes and methods, and no versioned path (DOC-01, DOC-02, VER-01)', async () => {
    for (const service of ['oms', 'mds'] as const) {
      const { paths } = await documentOf(service);
      for (const { method, pattern, auth } of ROUTES.filter((route) => route.service === service)) {
        if (auth === 'any') continue; // a method that is always refused
        assert.ok(paths[pattern]?.[method.toLowerCase()] !== undefined, `${method} ${pattern}`);
      }
      for (const path of Object.keys(paths)) {
        assert.doesNotMatch(path, /^\/(v\d|api\/|operator|livez|readyz|metrics)/);
        assert.doesNotMatch(path, /refresh|rotate/, 'sessions are neither refreshed nor keys rotated (SES-13, SES-14)');
      }
    }
  });

  test('the reference is a page that fetches nothing from elsewhere (DOC-03, DOC-04)', async () => {
    for (const service of ['oms', 'mds'] as const) {
      const page = await ask(node.ports[service], '/api-reference');
      assert.equal(page.status, 200);
      assert.match(String(page.headers['content-type']), /^text\/html/);
      const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
      for (const link of links.filter((each) => !each.startsWith('#') && !each.startsWith('data:'))) {
        assert.doesNotMatch(link, /^(https?:)?\/\//, link);
        assert.equal((await ask(node.ports[service], link)).status, 200, link);
      }
      assert.ok(links.length > 0);
    }
  });

  test('no reply has a null body where the contract has an object, and none a version in its path (VER-02)', async () => {
    assert.equal((await operator(node.process, 'GET', '/version')).body['protocol_version'], 1);
    for (const path of ['/v0/markets', '/v1/markets', '/api/markets']) {
      assert.equal(toldBy(await alice.get(path)), '404 NOT_FOUND');
    }
  });
});
