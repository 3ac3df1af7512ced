// tier: quick, 3 s
/**
 * No query member is ignored, on any route or stream of either listener (wire-additions.md 11.3); HEAD is GET without its
 * body (11.1); heads, limits, pages and times have the bounds of 11.2.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { UserId } from '../../src/core/ids.ts';
import type { Clock, TimestampNs } from '../../src/core/units.ts';
import { SharedBudget } from '../../src/gateway/sessions/shared-budget.ts';
import type { ServiceName } from '../../src/http/api/api-documents.ts';
import type { QueryDoc, RouteDoc } from '../../src/http/api/route-doc.ts';
import { MarketStreams, MdsServer } from '../../src/http/mds-server.ts';
import { OmsServer } from '../../src/http/oms-server.ts';
import { queryFault } from '../../src/http/query.ts';
import { TARGET_BYTES_MAX } from '../../src/http/request-head.ts';
import { HEAD_BYTES_MAX } from '../../src/http/uws.ts';
import { MarketData } from '../../src/market-data/market-data.ts';
import { ask, askUpgrade, type HttpAnswer } from '../support/edge-client.ts';
import { marketOf, START_NS } from '../support/market-figures.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';
import { SERVICE_TABLES } from '../support/service-tables.ts';

const observer = {
  answered: () => undefined,
  failed: (_: string, error: unknown) => assert.fail(String(error)),
  lagged: () => undefined,
};
const clock: Clock = { nowNs: () => START_NS as TimestampNs };
const scripted = new ScriptedOms();
const oms = new OmsServer({ services: scripted, observer });
scripted.streams = oms.streams;
const streams = new MarketStreams(() => undefined);
const marketData = new MarketData(streams);
marketData.upsertMarket(marketOf(0, '1'));
const mds = new MdsServer({ marketData, streams, clock, budget: new SharedBudget(), observer });
const SERVERS = { orders: oms, 'market-data': mds } as const;
const NAMES: readonly ServiceName[] = ['orders', 'market-data'];
const USER = 'ab'.repeat(32) as UserId;
const ports = new Map<ServiceName, number>();
let credentials: Readonly<Record<string, string>> = {};

before(async () => {
  for (const name of NAMES) ports.set(name, await SERVERS[name].listen({ host: '127.0.0.1', port: 0 }));
  credentials = { authorization: `Bearer ${scripted.token(USER)}`, 'user-id': USER };
});
after(() => {
  for (const name of NAMES) SERVERS[name].close();
});

const portOf = (name: ServiceName): number => ports.get(name) ?? assert.fail(name);
/** A path of documents or of routes with values. */
const filled = (path: string): string =>
  path
    .replace(/[{:]user_id\}?/, USER)
    .replace(/[{:]\w+\}?/g, '1')
    .replace('*', 'page.css');
const sampleOf = ({ shape }: QueryDoc): string =>
  'anyOf' in shape || 'const' in shape || 'enum' in shape ? 'true' : '7';

function assertRefused(answer: HttpAnswer, name: string, what: string): void {
  assert.equal(answer.status, 400, `${what}: ${answer.text}`);
  const { error } = JSON.parse(answer.text) as { error: { code: string; message: string; details: { field: string } } };
  assert.deepEqual([error.code, error.details.field], ['INVALID_REQUEST', name], what);
  assert.ok(error.message.includes(name), what);
}

/** What is wrong with these queries, and the member that an error must name, for a path with these members. */
function* wrongQueries(members: readonly QueryDoc[]): Iterable<readonly [query: string, named: string]> {
  yield ['nonsense=1', 'nonsense'];
  yield ['__proto__=1', '__proto__'];
  yield ['=1', ''];
  yield ['?page=1', '?page'];
  for (const member of members) {
    const { name, repeats } = member;
    yield [`${name}=`, name];
    yield [name, name];
    yield [`${name.toUpperCase()}=1`, name.toUpperCase()];
    yield [`${name}=${sampleOf(member)}&nonsense=1`, 'nonsense'];
    if (repeats !== true) yield [`${name}=${sampleOf(member)}&${name}=${sampleOf(member)}`, name];
  }
}

suite('query members', () => {
  for (const service of NAMES) {
    const { routes, streams: streamDocs } = SERVICE_TABLES[service];

    test(`${service}: an unknown member, one without a value and a repeated one are 400 on every route, before the session`, async () => {
      for (const { method, path, query = [] } of routes) {
        for (const [text, named] of wrongQueries(query)) {
          const what = `${method} ${path}?${text}`;
          assertRefused(await ask(portOf(service), `${filled(path)}?${text}`, { method }), named, what);
        }
      }
    });

    test(`${service}: every documented member is taken`, async () => {
      for (const { method, path, query = [] } of routes) {
        for (const member of query) {
          const target = `${filled(path)}?${member.name}=${sampleOf(member)}`;
          const answer = await ask(portOf(service), target, { method, headers: credentials });
          assert.ok(!answer.text.includes('query member'), `${method} ${target}: ${answer.text}`);
        }
      }
    });

    test(`${service}: so are streams before the upgrade`, async () => {
      for (const { path, query = [] } of streamDocs) {
        for (const [text, named] of wrongQueries(query)) {
          const answer = await askUpgrade(portOf(service), `${filled(path)}?${text}`);
          assertRefused(answer, named, `${path}?${text}`);
        }
      }
    });

    test(`${service}: no route is outside of the tables but files and plain GETs of streams`, async () => {
      const documented = new Set(routes.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`));
      for (const route of SERVERS[service].served.routes.filter((each) => !documented.has(each))) {
        const [method = '', pattern = ''] = route.split(' ');
        const answer = await ask(portOf(service), `${filled(pattern)}?nonsense=1`, { method });
        assert.ok(answer.status === 400 || answer.status === 426, `${route}: ${answer.text}`);
      }
    });

    test(`${service}: an unknown path is 404 and another method 405, whatever the query`, async () => {
      assert.equal((await ask(portOf(service), '/nowhere?nonsense=1')).status, 404);
      assert.equal((await ask(portOf(service), '/api-doc.json?nonsense=1', { method: 'PUT' })).status, 405);
    });
  }

  test('separators without a member are none', () => {
    assert.equal(queryFault('&&page=1&', { page: 'once' }), null);
    assert.equal(queryFault('page=1&page=2', { page: 'repeats' }), null);
    assert.equal(queryFault('p%61ge=1', { page: 'once' }), null);
  });
});

/** Headers that differ from one request to the next. */
function steady(headers: HttpAnswer['headers']): Record<string, unknown> {
  const { date: _, 'keep-alive': __, connection: ___, ...rest } = headers;
  return rest;
}

suite('HEAD', () => {
  const gets = (service: ServiceName): readonly RouteDoc[] =>
    SERVICE_TABLES[service].routes.filter(({ method, path }) => method === 'GET' && !path.startsWith('/nonce'));

  for (const service of NAMES) {
    test(`${service}: HEAD has the status and headers of GET, the length of its body, and no body`, async () => {
      for (const { path } of gets(service)) {
        for (const headers of [credentials, {}]) {
          const get = await ask(portOf(service), filled(path), { headers });
          const head = await ask(portOf(service), filled(path), { method: 'HEAD', headers });
          assert.equal(head.status, get.status, path);
          assert.equal(head.text, '', path);
          // Times differ in digits never, trace ids never in length.
          assert.deepEqual(steady(head.headers), steady(get.headers), path);
          assert.equal(head.headers['content-length'], String(Buffer.byteLength(get.text)), path);
        }
      }
    });

    test(`${service}: HEAD of a stream is 426, and Allow has it beside GET`, async () => {
      const served = SERVERS[service].served;
      const plain = served.sockets.filter((pattern) => !served.routes.includes(`GET ${pattern}`));
      assert.ok(plain.length > 2);
      for (const pattern of plain) {
        assert.equal((await ask(portOf(service), filled(pattern), { method: 'HEAD' })).status, 426, pattern);
        const { headers } = await ask(portOf(service), filled(pattern), { method: 'PUT' });
        assert.equal(headers.allow, 'GET, HEAD', pattern);
      }
      const { headers } = await ask(portOf(service), '/api-doc.json', { method: 'PUT' });
      assert.equal(headers.allow, 'GET, HEAD');
    });
  }

  test('HEAD costs what GET costs', async () => {
    const costOf = async (method: string): Promise<unknown> => {
      const before = scripted.charged.length;
      await ask(portOf('orders'), `/orders/user/${USER}`, { method, headers: credentials });
      return scripted.charged.slice(before);
    };
    assert.deepEqual(await costOf('HEAD'), await costOf('GET'));
  });

  test('HEAD of what ends its connection has no body and ends it at once', async () => {
    const beganMs = performance.now();
    const text = await raw([`HEAD /${'a'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n\r\n`], 9_000);
    assert.match(text, /^HTTP\/1\.1 414 .*\r\n\r\n$/s);
    // An idle connection ends after ten seconds.
    assert.ok(performance.now() - beganMs < 8_000);
  });

  test('a connection goes on after HEAD, and after one that waits behind it', async () => {
    const request = (method: string): string => `${method} /markets HTTP/1.1\r\nHost: x\r\n\r\n`;
    const text = await raw([request('HEAD'), request('HEAD') + request('GET').replace('\r\n\r\n', CLOSES)]);
    assert.equal(text.split('HTTP/1.1 200 OK').length - 1, 3);
    assert.match(text, /\r\n\r\n\[\{"asset_id"/);
  });
});

const CLOSES = '\r\nConnection: close\r\n\r\n';

/** What a connection receives until the server, or some silence after the first bytes, ends it. */
function raw(parts: readonly string[], silentMs = 2_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(portOf('orders'), '127.0.0.1');
    let text = '';
    socket.on('data', (data: Buffer) => {
      text += data.toString('latin1');
      socket.setTimeout(silentMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    void (async () => {
      for (const part of parts) {
        socket.write(part);
        await new Promise((next) => setTimeout(next, 20));
      }
    })();
  });
}

/** More than the limit of the native server itself (uws.ts). */
const BEYOND_NATIVE = 50_000;
const NODE_20_ABI = 115;

suite('lengths and numbers', () => {
  const codeOf = (text: string): string => /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? text.slice(0, 80);

  test('a target of 4,096 bytes is read, one byte more is 414 and ends the connection', async () => {
    const target = (bytes: number): string => `/markets?x=${'a'.repeat(bytes - 11)}`;
    const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    assert.equal(codeOf(await raw([request(target(TARGET_BYTES_MAX))])), 'INVALID_REQUEST');
    for (const bytes of [TARGET_BYTES_MAX + 1, 10_000, BEYOND_NATIVE]) {
      const text = await raw([request(target(bytes)), request('/markets')]);
      // The native server for Node 22 and later holds its own limit for a head in one piece as well, and answers by itself.
      const isNative = bytes === BEYOND_NATIVE && Number(process.versions.modules) > NODE_20_ABI;
      assert.match(text, isNative ? /^HTTP\/1\.1 431 / : /^HTTP\/1\.1 414 /, String(bytes));
      if (!isNative) assert.equal(codeOf(text), 'URI_TOO_LONG');
      assert.equal(text.split('HTTP/1.1 ').length, 2, 'nothing after it is answered');
    }
  });

  test('a head of 8,192 bytes is read, one byte more is 431 with the envelope, however it arrives', async () => {
    const head = (bytes: number): string => {
      const start = 'GET /markets HTTP/1.1\r\nHost: x\r\nx: ';
      return `${start}${'a'.repeat(bytes - start.length - 2)}\r\n\r\n`;
    };
    assert.match(await raw([head(HEAD_BYTES_MAX)]), /^HTTP\/1\.1 200 /);
    const tooLong = head(HEAD_BYTES_MAX + 1);
    for (const parts of [[tooLong], [tooLong.slice(0, 5_000), tooLong.slice(5_000)]]) {
      const text = await raw([...parts, head(100)]);
      assert.match(text, /^HTTP\/1\.1 431 /);
      assert.equal(codeOf(text), 'HEADERS_TOO_LARGE');
      assert.equal(text.split('HTTP/1.1 ').length, 2, 'nothing after it is answered');
    }
    // The target comes first: a head that is too long as well is 414.
    assert.match(await raw([`GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: x\r\n\r\n`]), /^HTTP\/1\.1 414 /);
  });

  test('a limit of any number of digits above the cap is the cap, 0 in any spelling is 400', async () => {
    const path = `/orders/user/${USER}`;
    const limitOf = async (text: string): Promise<unknown> =>
      JSON.parse((await ask(portOf('orders'), `${path}?limit=${text}`, { headers: credentials })).text).limit;
    for (const text of ['1001', '9'.repeat(20), '9'.repeat(21), '9'.repeat(400), `00${'9'.repeat(30)}`]) {
      assert.equal(await limitOf(text), 1_000, text);
    }
    assert.equal(await limitOf('007'), 7);
    for (const text of ['0', '000', '-1', '1.5', '1e3', 'x', '%20', '+1', '٣']) {
      const target = `${path}?limit=${encodeURIComponent(decodeURIComponent(text))}`;
      assertRefused(await ask(portOf('orders'), target, { headers: credentials }), 'limit', text);
    }
  });

  test('a page above 2^53-1 and a time above 2^63-1 are 400 and named', async () => {
    const path = `/orders/user/${USER}`;
    for (const page of ['9007199254740992', '9'.repeat(30)]) {
      assertRefused(await ask(portOf('orders'), `${path}?page=${page}`), 'page', page);
    }
    const last = await ask(portOf('orders'), `${path}?page=9007199254740991`, { headers: credentials });
    assert.equal(JSON.parse(last.text).orders.length, 0);
    for (const time of ['9223372036854775808', '9'.repeat(30), '-1']) {
      const answer = await ask(portOf('market-data'), `/klines/1?end_timestamp_ns=${time}`);
      assertRefused(answer, 'end_timestamp_ns', time);
      const fault = time === '-1' ? /is not a whole number/ : /is at most 2\^63-1|is out of range/;
      assert.match(answer.text, fault, 'the fault of a long number is its size');
    }
    assert.equal((await ask(portOf('market-data'), '/klines/1?end_timestamp_ns=9223372036854775807')).status, 200);
  });
});
