// tier: quick
/** The operator listener documents all of its routes: every example is sent, and every reply has the shape that stands beside it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { parseJson } from '../../src/codec/json-tree.ts';
import { checkShape } from '../../src/codec/shapes/read-shape.ts';
import { errorsOf, operationId } from '../../src/http/api/open-api.ts';
import type { RouteDoc } from '../../src/http/api/route-doc.ts';
import { documentOf } from '../../src/operator/ops-http.ts';
import { OpsFixture } from '../support/ops-client.ts';

const fixture = new OpsFixture();
let routes: readonly RouteDoc[] = [];

before(async () => {
  await fixture.open();
  routes = fixture.routes.map(documentOf);
});
after(() => fixture.close());

function assertFits(route: RouteDoc, text: string): void {
  const tree = parseJson(Buffer.from(text), { fractions: 'text' });
  assert.ok(tree.ok, `${operationId(route)}: ${text}`);
  const fit = checkShape(route.reply, tree.value, { strangers: 'refuse' });
  assert.ok(fit.ok, `${operationId(route)}: ${fit.ok ? '' : `${fit.reject.field}: ${fit.reject.message}`} in ${text}`);
}

async function sendExample({ method, path, query, body, example }: RouteDoc): Promise<readonly [number, string]> {
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => example.path?.[name] ?? assert.fail(path + name));
  const asked = example.query === undefined ? '' : `?${example.query}`;
  assert.ok(query === undefined || example.query !== undefined || path.endsWith('/trace'), path);
  assert.equal(body === undefined, example.body === undefined, path);
  const { status, text } = await fixture.call(method, `${target}${asked}`, example.body);
  return [status, text];
}

/** Calls for which there is nothing here: these refusals are their replies. */
const REFUSED: Readonly<Record<string, string>> = {
  get_operator_trace: 'INVALID_REQUEST',
  post_operator_chains_chain_id_unclaimed_counter_credit: 'NOT_FOUND',
  post_operator_wall_clock_accept: 'INVALID_REQUEST',
};

suite('the document of the operator listener', () => {
  test('every example has the shape that stands beside it', () => {
    assert.ok(routes.length > 60, String(routes.length));
    for (const route of routes) assertFits(route, route.example.reply);
  });

  test('every example is taken, and every reply has its shape', async () => {
    await fixture.ok('PUT', '/operator/assets/0', { symbol: 'USD' });
    const order = ['assets', 'chains/{chain_id}', 'risk-parameters', 'markets', 'vaults', 'settlers', 'users'];
    const puts = order.flatMap((part) =>
      routes.filter(({ method, path }) => method === 'PUT' && path.startsWith(`/operator/${part}`)),
    );
    for (const route of puts) assert.equal((await sendExample(route))[0], 200, operationId(route));
    const refused: Record<string, string> = {};
    for (const route of routes) {
      const [status, text] = await sendExample(route);
      if (status === 200) {
        if (route.media === undefined && route.path !== '/api-doc.json') assertFits(route, text);
        continue;
      }
      const { error } = JSON.parse(text) as { error: { code: string } };
      assert.ok((errorsOf(route) as readonly string[]).includes(error.code), `${operationId(route)}: ${text}`);
      refused[operationId(route)] = error.code;
    }
    assert.deepEqual(refused, REFUSED);
  });

  test('it is OpenAPI 3.1 of exactly the routes, needs no token, and every reference leads somewhere', async () => {
    const { status, text } = await fixture.send('GET', '/api-doc.json', undefined, {});
    assert.equal(status, 200);
    const document = JSON.parse(text) as {
      openapi: string;
      paths: Record<string, Record<string, { operationId: string; security: unknown[] }>>;
    };
    assert.equal(document.openapi, '3.1.0');
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    assert.deepEqual(operations.map((each) => each.operationId).sort(), routes.map(operationId).sort());
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { security } of Object.values(methods)) {
        assert.deepEqual(security, path.startsWith('/operator/') ? [{ operator: [] }] : [], path);
      }
    }
    for (const [, ref = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      let at: unknown = document;
      for (const step of ref.split('/')) at = Reflect.get(at as object, step);
      assert.ok(typeof at === 'object' && at !== null, ref);
    }
    assert.doesNotMatch(text, /x-parse|x-expected|x-inside/);
  });

  test('without hooks it has none of them', async () => {
    const production = new OpsFixture('production');
    await production.open();
    const { text } = await production.send('GET', '/api-doc.json', undefined, {});
    await production.close();
    assert.doesNotMatch(text, /operator\/(?:clock|clearing|faucet|barrier)"|tokens\/mint/);
    assert.match(text, /operator\/settings"/);
  });
});
