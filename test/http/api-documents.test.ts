// tier: quick
/** The documents describe what the listeners do: every route and stream, every code, every example, and no more. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { parseJson } from '../../src/codec/json-tree.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import { INNER_WORDS, type Shape } from '../../src/codec/shapes/shape-kit.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ORDER_END_WORD, ROLLBACK_REASON_WORD } from '../../src/core/order-terms.ts';
import { pascalCase, REJECT_CODE, type RejectName } from '../../src/core/reject.ts';
import type { Clock, TimestampNs } from '../../src/core/units.ts';
import { SharedBudget } from '../../src/gateway/sessions/shared-budget.ts';
import { ApiDocuments, type ServiceName } from '../../src/http/api/api-documents.ts';
import { ERROR_MEANINGS, errorTable } from '../../src/http/api/error-table.ts';
import { bodyBytesMaxOf, errorsOf, operationId } from '../../src/http/api/open-api.ts';
import type { RouteDoc } from '../../src/http/api/route-doc.ts';
import { MarketStreams, MdsServer } from '../../src/http/mds-server.ts';
import { OmsServer } from '../../src/http/oms-server.ts';
import { MarketData } from '../../src/market-data/market-data.ts';
import { ask } from '../support/edge-client.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';
import { SERVICE_TABLES } from '../support/service-tables.ts';

const observer = {
  answered: () => undefined,
  failed: (_: string, error: unknown) => assert.fail(String(error)),
  lagged: () => undefined,
};
const clock: Clock = { nowNs: () => 1n as TimestampNs };
const scripted = new ScriptedOms();
const oms = new OmsServer({ services: scripted, observer });
scripted.streams = oms.streams;
const streams = new MarketStreams(() => undefined);
const mds = new MdsServer({
  marketData: new MarketData(streams),
  streams,
  clock,
  budget: new SharedBudget(),
  observer,
});
const SERVERS = { orders: oms, 'market-data': mds } as const;
const NAMES: readonly ServiceName[] = ['orders', 'market-data'];
const USER = 'ab'.repeat(32);
const ports = new Map<ServiceName, number>();

before(async () => {
  for (const name of NAMES) ports.set(name, await SERVERS[name].listen({ host: '127.0.0.1', port: 0 }));
});
after(() => {
  for (const name of NAMES) SERVERS[name].close();
});

function portOf(name: ServiceName): number {
  return ports.get(name) ?? assert.fail(name);
}

/** `/orders/user/:user_id` as documents write it. */
function documented(pattern: string): string {
  return pattern.replace(/:([a-z_]+)/g, '{$1}');
}

/** Registered for their own sake: the files of the page, and plain GETs of paths that are streams only. */
const NOT_DOCUMENTED = new Set([
  'GET /api-reference/*',
  'GET /',
  'GET /assets/*',
  'GET /trades/user/events/{user_id}',
  'GET /positions/ws/{user_id}',
  'GET /trades/events',
]);

function sorted(texts: Iterable<string>): readonly string[] {
  return [...texts].sort();
}

suite('tables and listeners', () => {
  for (const name of NAMES) {
    test(`${name}: every route has its row and every row its route (DOC-01, DOC-02)`, () => {
      const served = SERVERS[name].served.routes.map(documented).filter((route) => !NOT_DOCUMENTED.has(route));
      const rows = SERVICE_TABLES[name].routes.map(({ method, path }) => `${method} ${path}`);
      assert.ok(served.length > 5);
      assert.deepEqual(sorted(rows), sorted(served));
    });

    test(`${name}: every stream has its row and every row its stream`, () => {
      const rows = SERVICE_TABLES[name].streams.map(({ path }) => path);
      assert.deepEqual(sorted(rows), sorted(SERVERS[name].served.sockets.map(documented)));
    });
  }

  test('no route refreshes a token, none changes a key, none has a prefix or a version (SES-13, SES-14, VER-01, VER-02)', () => {
    // The public keys of the log, which are read and never changed (EVD-01).
    const routes = [...oms.served.routes, ...mds.served.routes].filter((route) => route !== 'GET /system/key');
    const paths = routes.join('\n');
    assert.doesNotMatch(paths, /refresh|rotat|\/v\d|\/api\/|key/);
  });
});

/** The text of an example as a client would send it. */
function filled(text: string): string {
  return text.replaceAll('{user_id}', USER).replaceAll('"signature":[]', `"signature":[${'0,'.repeat(63)}0]`);
}

function assertFits(shape: Shape, text: string, what: string): void {
  const tree = parseJson(Buffer.from(filled(text)), { fractions: 'text' });
  assert.ok(tree.ok, `${what}: ${text}`);
  const fit = checkShape(shape, tree.value, { strangers: 'refuse' });
  assert.ok(fit.ok, `${what}: ${fit.ok ? '' : `${fit.reject.field}: ${fit.reject.message}`}`);
}

test('a body is read to the length of its row, and not a byte further (AMB-124)', async () => {
  for (const route of SERVICE_TABLES.orders.routes) {
    if (route.body === undefined) continue;
    const path = route.path.replace('{user_id}', USER).replace(/\{\w+\}/g, '1');
    const most = bodyBytesMaxOf(route);
    const told = async (bytes: number): Promise<readonly [number, string]> => {
      const { status, text } = await ask(portOf('orders'), path, {
        method: route.method,
        body: Buffer.alloc(bytes, ' '),
      });
      return [status, text];
    };
    const what = operationId(route);
    assert.equal((await told(most))[0], 400, what);
    const [status, text] = await told(most + 1);
    assert.equal(status, 413, what);
    assert.match(text, new RegExp(`"PAYLOAD_TOO_LARGE".*at most ${most} bytes`), what);
  }
});

suite('examples', () => {
  for (const name of NAMES) {
    test(`${name}: every example has the shape that stands beside it`, () => {
      for (const route of SERVICE_TABLES[name].routes) {
        const what = operationId(route);
        if (route.body !== undefined) assertFits(route.body, route.example.body ?? assert.fail(what), what);
        if (!what.includes('api')) assertFits(route.reply, route.example.reply, what);
      }
      for (const { path, sends, receives } of SERVICE_TABLES[name].streams) {
        for (const message of [...sends, ...(receives ?? [])])
          assertFits(message.shape, message.example, path + message.name);
      }
    });
  }
});

suite('costs', () => {
  test('the cost in a row is what is charged (LIM-08 to LIM-14)', async () => {
    const authorization = { authorization: `Bearer ${scripted.token(USER as UserId)}`, 'user-id': USER };
    for (const route of SERVICE_TABLES.orders.routes.filter(({ path }) => path !== '/logout')) {
      const { auth, body, cost, example, method } = route;
      scripted.charged.length = 0;
      const values: Readonly<Record<string, string>> = { user_id: USER, ...example.path };
      const path = route.path.replace(/\{([a-z_]+)\}/g, (_, name: string) => values[name] ?? '');
      await ask(portOf('orders'), `${path}?${example.query ?? ''}`, {
        method,
        ...(auth === 'public' ? {} : { headers: authorization }),
        ...(body === undefined ? {} : { body: Buffer.from(filled(example.body ?? '')) }),
      });
      if (cost === 'free') {
        assert.deepEqual(scripted.charged, [], path);
        continue;
      }
      const [charge, ...more] = scripted.charged;
      assert.deepEqual([charge?.[0], more], [auth === 'public' ? null : USER, []], path);
      const asked = charge?.[1];
      const items =
        typeof asked === 'object' ? ('bulk' in asked ? asked.bulk : 'bulkCancel' in asked ? asked.bulkCancel : 0) : 0;
      if (cost === 'bulk') assert.ok(items >= 1, path);
      else assert.equal(asked === 'deadMan' ? 'action' : asked, cost, path);
    }
  });
});

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

function refsOf(text: string): readonly string[] {
  return [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
}

suite('documents', () => {
  for (const name of NAMES) {
    test(`${name}: /api-doc.json is OpenAPI 3.1 of exactly the rows, and every reference leads somewhere (DOC-01, DOC-02)`, async () => {
      const { status, text, headers } = await ask(portOf(name), '/api-doc.json');
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/json');
      const document = JSON.parse(text) as OpenApi;
      assert.equal(document.openapi, '3.1.0');
      const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
      const ids = operations.map((operation) => operation.operationId);
      assert.deepEqual(sorted(ids), sorted(SERVICE_TABLES[name].routes.map(operationId)));
      assert.equal(new Set(ids).size, ids.length);
      assertRefs(text);
    });

    test(`${name}: /async-api.json is AsyncAPI 3.0 of exactly the streams`, async () => {
      const { status, text } = await ask(portOf(name), '/async-api.json');
      assert.equal(status, 200);
      const document = JSON.parse(text) as { asyncapi: string; channels: Record<string, { address: string }> };
      assert.equal(document.asyncapi, '3.0.0');
      const addresses = Object.values(document.channels).map(({ address }) => address);
      assert.deepEqual(sorted(addresses), sorted(SERVICE_TABLES[name].streams.map(({ path }) => path)));
      assertRefs(text);
    });

    test(`${name}: who has a document already is answered 304 and nothing else`, async () => {
      const first = await ask(portOf(name), '/api-doc.json');
      const etag = first.headers['etag'] ?? '';
      assert.match(etag, /^"[0-9a-f]{32}"$/);
      const again = await ask(portOf(name), '/api-doc.json', { headers: { 'if-none-match': etag } });
      assert.deepEqual([again.status, again.text], [304, '']);
      const other = await ask(portOf(name), '/api-doc.json', { headers: { 'if-none-match': '"old"' } });
      assert.deepEqual([other.status, other.text.length], [200, first.text.length]);
    });
  }

  test('the names and types inside the node are in no document', async () => {
    for (const name of NAMES) {
      for (const file of ['/api-doc.json', '/async-api.json']) {
        const { text } = await ask(portOf(name), file);
        assert.ok(text.includes('"x-unset"') || name !== 'orders' || file !== '/api-doc.json', 'x-unset is published');
        assert.deepEqual(
          INNER_WORDS.filter((word) => text.includes(`"${word}"`)),
          [],
        );
      }
    }
  });

  test('the operator API is in no document', async () => {
    for (const name of NAMES) {
      for (const path of ['/api-doc.json', '/async-api.json']) {
        assert.doesNotMatch((await ask(portOf(name), path)).text, /operator\//);
      }
    }
  });

  test('documents are read only: another method is 405, an unknown file 404 (ERR-06)', async () => {
    for (const name of NAMES) {
      assert.equal((await ask(portOf(name), '/api-doc.json', { method: 'POST' })).status, 405);
      assert.equal((await ask(portOf(name), '/api-reference/page/nothing.js')).status, 404);
      assert.equal((await ask(portOf(name), '/api-reference/page/../../package.json')).status, 404);
    }
  });
});

function assertRefs(text: string): void {
  const document: unknown = JSON.parse(text);
  const refs = refsOf(text);
  assert.ok(refs.length > 10);
  for (const ref of refs) {
    let at = document;
    for (const step of ref.split('/')) at = Reflect.get(at as object, step);
    assert.ok(typeof at === 'object' && at !== null, ref);
  }
}

suite('the page', () => {
  for (const name of NAMES) {
    test(`${name}: /api-reference and all that it loads is served here, under a policy that allows nothing else (DOC-03, DOC-04)`, async () => {
      const seen = new Set<string>();
      const left = ['/api-reference'];
      for (let path = left.pop(); path !== undefined; path = left.pop()) {
        if (seen.has(path)) continue;
        seen.add(path);
        const { status, text, headers } = await ask(portOf(name), path);
        assert.equal(status, 200, path);
        assert.match(String(headers['content-security-policy']), /default-src 'none'.*connect-src 'self'/);
        assert.equal(headers['x-content-type-options'], 'nosniff');
        if (!path.includes('/noble/')) {
          assert.doesNotMatch(
            text.replace('http://www.w3.org/2000/svg', ''),
            /https?:\/\/|[("']\/\/|@import|data:/,
            path,
          );
        }
        left.push(...linksOf(path, text));
      }
      assert.ok(seen.size >= 8, [...seen].join());
      assert.match(String((await ask(portOf(name), '/api-reference')).headers['content-type']), /^text\/html/);
    });
  }

  test('keys of seeded users are offered where they exist, and nowhere else', () => {
    const pageOf = (offersKeys: boolean): string => {
      let text = '';
      new ApiDocuments('orders', SERVICE_TABLES.orders, offersKeys).answer({
        head: { path: '/api-reference' },
        replyDocument: ({ body }: { body: Uint8Array }) => {
          text = Buffer.from(body).toString('utf8');
        },
      } as never);
      return text;
    };
    assert.match(pageOf(true), /<body data-keys="dev">/);
    assert.match(pageOf(false), /<body>/);
  });

  test('what the page loads has the type that browsers want', () => {
    const types = new Map<string, string>();
    const record = (path: string): void => {
      new ApiDocuments('orders', SERVICE_TABLES.orders).answer({
        head: { path },
        refuse: () => assert.fail(path),
        replyDocument: (document: { contentType: string }) => types.set(path, document.contentType),
      } as never);
    };
    record('/api-reference/page/main.js');
    record('/api-reference/page/page.css');
    record('/api-reference/noble/ed25519/index.js');
    assert.deepEqual(
      [...types.values()],
      ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8'],
    );
  });
});

/** The paths that a file of the page loads. */
function linksOf(path: string, text: string): readonly string[] {
  if (path.endsWith('.js')) {
    const targets = [...text.matchAll(/^(?:import|export)\s(?:[^'"`;()]*?\sfrom\s)?['"]([^'"]+)['"]/gm)].map(
      ([, target = '']) => target,
    );
    return targets
      .filter((target) => target.startsWith('.'))
      .map((target) => new URL(target, `http://x${path}`).pathname);
  }
  return [...text.matchAll(/(?:src|href)="([^"]+)"|":"(\/[^"]+)"/g)].map(([, link, mapped]) => link ?? mapped ?? '');
}

suite('codes', () => {
  test('the table of codes has exactly the public ones, and docs/errors.md is that table (ERR-10, ERR-11)', () => {
    // The operator API has the others, and some that users get too, in results.
    const both: readonly RejectName[] = SERVICE_TABLES.orders.routes.flatMap(({ rejections = [] }) => rejections);
    const isPublic = (code: RejectName): boolean => REJECT_CODE[code] < 500 || both.includes(code);
    const codes = (Object.keys(REJECT_CODE) as RejectName[]).filter(isPublic);
    assert.deepEqual(sorted(Object.keys(ERROR_MEANINGS)), sorted(codes));
    assert.ok(readFileSync('docs/errors.md', 'utf8').includes(errorTable()));
  });

  test('every word of the streams stands in docs/errors.md (ERR-12, G20, G21, G22)', () => {
    const page = readFileSync('docs/errors.md', 'utf8');
    const ends = Object.values(ORDER_END_WORD).filter((word) => word !== 'AtFault');
    const rollbacks = Object.values(ROLLBACK_REASON_WORD).filter((word) => word !== null);
    const words = [...ends, ...rollbacks, 'RESYNC_REQUIRED', 'unauthorized', 'UNAUTHORIZED'];
    assert.deepEqual(
      words.filter((word) => !page.includes(`\`${word}\``)),
      [],
    );
  });

  /** The codes of `reject('…'` in these files below src. */
  const rejectsOf = (...files: readonly string[]): readonly RejectName[] => {
    const sources = files.map((file) => readFileSync(`src/${file}.ts`, 'utf8')).join('\n');
    const codes = [...sources.matchAll(/\breject\(\s*'([A-Z_]+)'/g)].map(([, code = '']) => code as RejectName);
    assert.ok(codes.length > 0, files.join());
    return codes;
  };
  const rowOf = (path: string): RouteDoc =>
    SERVICE_TABLES.orders.routes.find((row) => row.path === path) ?? assert.fail(path);

  test('what clearing refuses of an action stands among the rejections of its route (AMB-67, AMB-103)', () => {
    const funds = 'clearing/funds';
    const files: Readonly<Record<string, readonly string[]>> = {
      '/account/transfer/sub-account': [`${funds}/transfers`, `${funds}/sub-accounts`],
      '/account/transfer/close-position': [`${funds}/close-position`],
      '/withdrawal/init': [`${funds}/withdrawals`],
      '/settlement/init': [`${funds}/settlements`],
      '/multisig/add-signer': ['clearing/signers/add-signer', 'clearing/signers/signer-config'],
    };
    // Of functions in the same files that serve operators, the chain, a cancel, and orders.
    const others: Readonly<Record<string, readonly RejectName[]>> = {
      '/withdrawal/init': ['WITHDRAWAL_NOT_FOUND', 'CHAIN_NOT_FOUND'],
      '/settlement/init': ['SETTLEMENT_NOT_FOUND'],
      '/multisig/add-signer': ['REQUEST_TOO_OLD'],
    };
    for (const [path, sources] of Object.entries(files)) {
      const told = [...(rowOf(path).rejections ?? []), ...errorsOf(rowOf(path)), ...(others[path] ?? [])];
      const missing = rejectsOf(...sources).filter((code) => !told.includes(code));
      assert.deepEqual(missing, [], path);
    }
    assert.deepEqual(rowOf('/withdrawal/cancel').rejections, ['WITHDRAWAL_NOT_FOUND']);
    for (const path of ['/account/transfer/sub-account', '/settlement/init'])
      assert.ok(rowOf(path).rejections?.includes('PROTOCOL_CAP_EXCEEDED'), path);
  });

  test('what order entry refuses stands at the creates or the replaces, and alike at their batches (AMB-112, AMB-103)', () => {
    const entry = ['entry/order-requests', 'entry/pre-flight', 'margin/margin-check', 'balances/set-asides'];
    const [create, replace] = [rowOf('/orders/create'), rowOf('/orders/replace')];
    const told = [...errorsOf(create), ...errorsOf(replace)];
    assert.deepEqual(
      rejectsOf(...entry.map((file) => `gateway/orders/${file}`)).filter((code) => !told.includes(code)),
      [],
    );
    for (const [single, batch] of [
      [create, rowOf('/orders/batch-create')],
      [replace, rowOf('/orders/batch-replace')],
    ] as const) {
      assert.ok(single.errors?.includes('PROTOCOL_CAP_EXCEEDED'), single.path);
      assert.deepEqual(batch.rejections, single.errors, batch.path);
    }
  });

  test('the codes of every row are codes that an envelope can carry', () => {
    const rows: readonly RouteDoc[] = NAMES.flatMap((name) => SERVICE_TABLES[name].routes);
    const wrong = rows.flatMap(({ path, errors = [] }) =>
      errors.filter((code) => REJECT_CODE[code] >= 400 && code !== 'PROTOCOL_CAP_EXCEEDED').map((code) => path + code),
    );
    assert.deepEqual(wrong, []);
    assert.equal(pascalCase('WOULD_CROSS'), 'WouldCross');
  });
});
