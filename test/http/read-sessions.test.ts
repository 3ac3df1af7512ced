// tier: quick
/** Sessions that only read, and the list of a user's sessions, over real connections (RDO-01, RDO-02). */
import assert from 'node:assert/strict';
import { beforeEach, suite, test } from 'node:test';
import { devKey } from '../../src/client/keys.ts';
import { isRefusedToReaders, type RouteDoc } from '../../src/http/api/route-doc.ts';
import { OMS_ROUTES } from '../../src/http/oms-routes.ts';
import { MARKET_DATA_PATH, MARKET_DATA_USER_ROUTES } from '../../src/http/user-read-routes.ts';
import { ask, askUpgrade, type HttpAnswer, SocketReader } from '../support/edge-client.ts';
import { listenTo } from '../support/listeners.ts';
import { ScriptedOms } from '../support/scripted-oms.ts';

const oms = new ScriptedOms();
const listener = listenTo(oms);
const KEY = devKey('a');
const USER = KEY.userId;
type Headers = Readonly<Record<string, string>>;

beforeEach(() => {
  oms.script = 'received';
  oms.cap = 10;
});

async function nonceOf(below: string): Promise<string> {
  return JSON.parse((await ask(listener.port, `${below}/nonce/${USER}`)).text).value;
}

function auth(nonce: string, signed: string, scope: string | null, below = ''): Promise<HttpAnswer> {
  const word = scope === null ? '' : `,"scope":${JSON.stringify(scope)}`;
  const signature = KEY.sign(Buffer.from(signed)).join(',');
  const body = Buffer.from(`{"user_id":"${USER}","nonce":"${nonce}","signature":[${signature}]${word}}`);
  return ask(listener.port, `${below}/auth`, { method: 'POST', body });
}

async function login(scope: 'read' | 'full', below = ''): Promise<Headers> {
  const nonce = await nonceOf(below);
  const answer = await auth(nonce, scope === 'read' ? `read:${nonce}` : nonce, scope, below);
  assert.equal(answer.status, 200, answer.text);
  return { authorization: `Bearer ${JSON.parse(answer.text).token}`, 'user-id': USER };
}

const codeOf = ({ status, text }: HttpAnswer): string => `${status} ${JSON.parse(text).error?.code ?? ''}`;

/** A route as a client would call it, with the example of the documents. */
function sent({ method, path, example }: RouteDoc, headers: Headers, below = ''): Promise<HttpAnswer> {
  const filled = (text: string): string =>
    text.replaceAll('{user_id}', USER).replaceAll('"signature":[]', `"signature":[${'0,'.repeat(63)}0]`);
  const names = example.path ?? {};
  const where = filled(path).replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '1');
  const query = example.query === undefined ? '' : `?${example.query}`;
  const body = example.body === undefined ? undefined : Buffer.from(filled(example.body));
  return ask(listener.port, `${below}${where}${query}`, { method, headers, ...(body === undefined ? {} : { body }) });
}

suite('sessions that only read', () => {
  test('RDO-01: the signed bytes are `read:` and the nonce, and neither signature opens the other scope', async () => {
    const nonce = await nonceOf('');
    assert.equal(codeOf(await auth(nonce, nonce, 'read')), '401 INVALID_SIGNATURE');
    assert.equal(codeOf(await auth(nonce, `read:${nonce}`, 'full')), '401 INVALID_SIGNATURE');
    assert.equal(codeOf(await auth(nonce, `read:${nonce}`, null)), '401 INVALID_SIGNATURE');
    assert.equal(codeOf(await auth(`read:${nonce}`, `read:${nonce}`, null)), '400 INVALID_NONCE');
    for (const scope of ['Read', 'write', '', 'trade']) {
      assert.equal(codeOf(await auth(nonce, `read:${nonce}`, scope)), '400 INVALID_REQUEST', scope);
    }
    assert.equal((await auth(nonce, `read:${nonce}`, 'read')).status, 200, 'what failed spent nothing');
  });

  for (const below of ['', MARKET_DATA_PATH]) {
    test(`RDO-01: a read session that tries every route is refused whatever changes something (login ${below}/auth)`, async () => {
      const headers = await login('read', below);
      const before = [oms.actions.length, oms.bulkCancels.length, oms.accountAsks.length, oms.timers.length];
      const passed: string[] = [];
      let refused = 0;
      const all = [
        ...OMS_ROUTES.map((route) => ({ route, at: '' })),
        ...MARKET_DATA_USER_ROUTES.map((route) => ({ route, at: MARKET_DATA_PATH })),
      ];
      for (const { route, at } of all) {
        const name = `${route.method} ${at}${route.path}`;
        if (route.path === '/logout') continue;
        const answer = await sent(route, headers, at);
        if (isRefusedToReaders(route)) {
          assert.equal(codeOf(answer), '403 READ_ONLY_SESSION', name);
          refused += 1;
        } else {
          assert.notEqual(answer.status, 403, name);
          assert.notEqual(answer.status, 401, name);
        }
        if (answer.status !== 403 && route.method !== 'GET' && route.auth !== 'public') passed.push(name);
      }
      assert.ok(refused >= 18, `${refused} routes change something`);
      // Every route that is no GET and that a read session passes stands here, by name: a new one has to be put here by hand.
      assert.deepEqual(passed, ['POST /account/simulate/{user_id}', 'POST /registry/decimals/update']);
      const after = [oms.actions.length, oms.bulkCancels.length, oms.accountAsks.length, oms.timers.length];
      assert.deepEqual(after, before, 'nothing was carried out');
    });
  }

  test('RDO-01: a refused request of a read session costs no budget, a read does', async () => {
    const headers = await login('read');
    oms.charged.length = 0;
    await ask(listener.port, '/orders/cancel-all', { method: 'DELETE', headers });
    assert.deepEqual(oms.charged, []);
    assert.equal((await ask(listener.port, `/inventory/user/${USER}`, { headers })).status, 200);
    assert.deepEqual(oms.charged, [[USER, 'action']]);
  });

  test('RDO-01: it cannot open /control in any form, and opens every stream', async () => {
    const headers = await login('read');
    for (const form of ['', 'svc.ws.v1', 'ringbook.fbs.v1']) {
      const offered = form === '' ? {} : { 'sec-websocket-protocol': form };
      const answer = await askUpgrade(listener.port, '/control', { ...headers, ...offered });
      assert.equal(codeOf(answer), '403 READ_ONLY_SESSION', form);
    }
    const open: SocketReader[] = [];
    for (const path of [
      '/orders',
      `/trades/user/${USER}`,
      `/positions/ws/${USER}`,
      `/account/events/${USER}`,
      '/liquidation/at_risk/ws',
    ]) {
      const { status } = await askUpgradeStatus(path, headers, open);
      assert.equal(status, 101, path);
    }
    for (const { socket } of open) socket.terminate();
  });

  test('RDO-01: it has a cap of streams of its own', async () => {
    oms.cap = 2;
    const [reading, trading] = [await login('read'), await login('full')];
    const open: SocketReader[] = [];
    const path = '/orders';
    for (let count = 0; count < 2; count += 1) {
      assert.equal((await askUpgradeStatus(path, reading, open)).status, 101);
    }
    assert.equal(codeOf(await askUpgrade(listener.port, path, reading)), '429 RATE_LIMITED');
    for (let count = 0; count < 2; count += 1) {
      assert.equal((await askUpgradeStatus(path, trading, open)).status, 101, 'its places are its own');
    }
    assert.equal(codeOf(await askUpgrade(listener.port, path, trading)), '429 RATE_LIMITED');
    for (const headers of [reading, trading]) {
      const { streams } = JSON.parse((await ask(listener.port, `/limits/${USER}`, { headers })).text);
      assert.deepEqual(streams, { open: 2, cap: 2 });
    }
    for (const { socket } of open) socket.terminate();
  });

  test('RDO-01: its logout ends itself and its streams alone, at once', async () => {
    const [reading, other, trading] = [await login('read'), await login('read'), await login('full')];
    const open: SocketReader[] = [];
    for (const headers of [reading, other, trading]) {
      assert.equal((await askUpgradeStatus('/orders', headers, open)).status, 101);
    }
    const out = await ask(listener.port, '/logout', { method: 'POST', headers: reading });
    assert.deepEqual([out.status, out.text], [200, '{}']);
    assert.equal((await open[0]?.closed)?.code, 1000);
    const statuses = [];
    for (const headers of [reading, other, trading]) {
      statuses.push((await ask(listener.port, `/inventory/user/${USER}`, { headers })).status);
    }
    assert.deepEqual(statuses, [401, 200, 200]);
    assert.deepEqual(
      open.map(({ socket }) => socket.readyState),
      [3, 1, 1],
    );
    assert.equal((await ask(listener.port, '/logout', { method: 'POST', headers: trading })).status, 200);
    assert.equal(
      (await ask(listener.port, `/inventory/user/${USER}`, { headers: other })).status,
      401,
      'a full one ends all',
    );
    for (const { socket } of open) socket.terminate();
  });

  test('RDO-01: 40 logins to read end no session that trades', async () => {
    const trading = await login('full');
    const first = await login('read');
    for (let count = 0; count < 40; count += 1) await login('read');
    assert.equal((await ask(listener.port, `/inventory/user/${USER}`, { headers: trading })).status, 200);
    assert.equal((await ask(listener.port, `/inventory/user/${USER}`, { headers: first })).status, 401);
    const rows = JSON.parse((await ask(listener.port, '/sessions', { headers: trading })).text);
    assert.equal(rows.filter(({ scope }: { scope: string }) => scope === 'read').length, 32);
    await ask(listener.port, '/logout', { method: 'POST', headers: trading });
  });
});

suite('the list of sessions', () => {
  test('RDO-02: it has id, scope, times and address, and no token; one is ended by its id, with its streams', async () => {
    const trading = await login('full');
    oms.now += 5n;
    const reading = await login('read');
    const list = async (headers: Headers): Promise<HttpAnswer> => ask(listener.port, '/sessions', { headers });
    const { text } = await list(trading);
    for (const headers of [trading, reading]) {
      const token = headers['authorization']?.slice('Bearer '.length) ?? '';
      assert.ok(!text.includes(token) && !text.includes(token.slice(0, 12)));
    }
    const [first, second] = [...text.matchAll(/\{"id":"([\w-]{22})"[^}]*\}/g)];
    assert.match(
      first?.[0] ?? '',
      /^\{"id":"[\w-]{22}","scope":"full","created_ns":\d{19},"last_used_ns":\d{19},"address":null\}$/,
    );
    assert.match(second?.[0] ?? '', /"scope":"read"/);
    assert.equal(
      (await list(reading)).text.replace(/"last_used_ns":\d+/g, ''),
      text.replace(/"last_used_ns":\d+/g, ''),
    );
    const open: SocketReader[] = [];
    for (const headers of [trading, reading]) await askUpgradeStatus('/orders', headers, open);
    const end = (id: string, headers: Headers): Promise<HttpAnswer> =>
      ask(listener.port, `/sessions/${id}`, { method: 'DELETE', headers });
    assert.equal(codeOf(await end(first?.[1] ?? '', reading)), '403 READ_ONLY_SESSION');
    assert.equal(codeOf(await end('a'.repeat(22), trading)), '404 NOT_FOUND');
    assert.equal(codeOf(await end('%22', trading)), '400 INVALID_REQUEST');
    assert.equal((await end(second?.[1] ?? '', trading)).text, '{}');
    assert.equal((await open[1]?.closed)?.code, 1000);
    assert.equal(open[0]?.socket.readyState, 1);
    assert.equal((await list(reading)).status, 401);
    assert.equal((await end(first?.[1] ?? '', trading)).text, '{}', 'a session may end itself');
    assert.equal((await list(trading)).status, 401);
  });

  test('RDO-02: the last use is that of the last request', async () => {
    const watched = await login('full');
    const other = await login('full');
    oms.now += 1_000n;
    await ask(listener.port, `/inventory/user/${USER}`, { headers: watched });
    const usedNs = oms.now;
    oms.now += 1_000n;
    const { text } = await ask(listener.port, '/sessions', { headers: other });
    assert.equal(/"last_used_ns":(\d+)/.exec(text)?.[1], String(usedNs));
    await ask(listener.port, '/logout', { method: 'POST', headers: other });
  });

  test('RDO-02: the sessions of another user are neither listed nor ended', async () => {
    const mine = await login('full');
    const { text } = await ask(listener.port, '/sessions', { headers: mine });
    const id = /"id":"([\w-]+)"/.exec(text)?.[1] ?? '';
    const stranger = 'cd'.repeat(32) as typeof USER;
    const theirs = { authorization: `Bearer ${oms.token(stranger)}`, 'user-id': stranger };
    assert.equal((await ask(listener.port, '/sessions', { headers: theirs })).text, '[]');
    const ended = await ask(listener.port, `/sessions/${id}`, { method: 'DELETE', headers: theirs });
    assert.equal(codeOf(ended), '404 NOT_FOUND');
    assert.equal((await ask(listener.port, '/sessions', { headers: mine })).status, 200);
  });
});

/** 101 with the open socket in the list, or the status of the refusal. */
async function askUpgradeStatus(
  path: string,
  headers: Headers,
  open: SocketReader[],
): Promise<{ readonly status: number }> {
  try {
    open.push(await SocketReader.open(listener.port, path, [], headers));
    return { status: 101 };
  } catch {
    return askUpgrade(listener.port, path, headers);
  }
}
