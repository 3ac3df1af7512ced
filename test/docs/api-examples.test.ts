// tier: full, 4 s
/**
 * Every example of `/api-doc.json` and `/async-api.json`, on a running dev node: requests are sent, signed from the
 * published schemas alone, and replies and frames are held against them.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { devKey } from '../../src/client/keys.ts';
import { must } from '../../src/core/assert.ts';
import { ApiRunner, assertTold, soonTold, type Told } from '../support/api-runner.ts';
import { bareEnvironment } from '../support/bare-environment.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { eventually } from '../support/patience.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const WITH_EVIDENCE = fileURLToPath(new URL('../../../test/fixtures/dev-with-evidence.json', import.meta.url));
const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const run = promisify(execFile);
/** What is answered once a head covers it, or a statement was made. */
const isOfEvidence = ({ path }: { readonly path: string }): boolean => /^\/(?:evidence|proof)\//.test(path);

let node: NodeProcess;
let seller: ApiRunner;
let buyer: ApiRunner;
let market: ApiRunner;
const told: Told[] = [];

/** Sends the example until it is not 404: a head covers an order within a second or two. */
async function whenThere(operation: ApiRunner['operations'][number]): Promise<void> {
  await eventually(async () => {
    try {
      await seller.send(operation);
      return true;
    } catch (error) {
      if (error instanceof assert.AssertionError && /: 404 /.test(error.message)) return false;
      throw error;
    }
  });
}

function toldBy(path: string, isV1 = false): Told {
  return must(
    told.find(({ stream, isV1: version }) => stream.path === path && version === isV1),
    path,
  );
}

before(async () => {
  node = await startNode({ profile: 'dev', env: { RINGBOOK_CONFIG: WITH_EVIDENCE } });
  const { status } = await operator(node, 'PUT', '/operator/stream-caps', { default: 40, market_maker: 40 });
  assert.equal(status, 200);
  seller = await ApiRunner.of(node.oms, devKey('a'));
  buyer = await ApiRunner.of(node.oms, devKey('b'));
  market = await ApiRunner.of(node.mds, devKey('a'));
  await seller.logIn();
  await buyer.logIn();
  for (const stream of seller.streams) {
    told.push(await seller.listen(stream, false));
    if (stream.sends.some(({ name }) => name === 'Envelope') && stream.receives.length === 0) {
      told.push(await seller.listen(stream, true));
    }
  }
  for (const stream of market.streams) told.push(await market.listen(stream, false));
});

after(async () => {
  for (const { socket } of told) socket.terminate();
  if (node === undefined) return;
  await stopNode(node, 'SIGKILL');
  removeDirectory(node.dataDirectory);
});

suite('the examples of the API documents', () => {
  test('every request of the order service is answered as its document describes, and one is deprecated (DOC-01, VER-03)', async () => {
    const last = 'post_logout';
    // Of these two the first is ended by the example that ends a session; the streams have an older one.
    for (let count = 0; count < 2; count += 1) await seller.logIn();
    for (const operation of seller.operations) {
      if (operation.id === last || operation.id === 'post_auth' || isOfEvidence(operation)) continue;
      // The example before it removes the group.
      if (operation.id === 'post_account_protection_asset_id_group_reset')
        await seller.send(seller.operation('put_account_protection_asset_id'));
      await seller.send(operation);
    }
    await buyer.send(buyer.operation(last));
    await buyer.logIn();
  });

  test('heads, tiles, proofs, the evidence of the order of the example and what is owed are served as documented', async () => {
    // Tiles below several folders are of logs with more than 256,000 records.
    const evidence = seller.operations.filter((one) => isOfEvidence(one) && !one.path.includes('{further}'));
    assert.ok(evidence.length >= 6, `${evidence.length} of them`);
    // The tile of the example has the leaves of 256 records.
    const fund = { user_id: seller.key.userId, sub_account: 0, asset_id: '0', amount: '1' };
    for (let count = 0; count < 256; count += 1) await operator(node, 'POST', '/operator/faucet', fund);
    for (const operation of evidence.filter(({ path }) => path.startsWith('/evidence/'))) await whenThere(operation);
    await run(process.execPath, [CLI, 'proof', 'make', node.dataDirectory], { env: bareEnvironment() });
    for (const operation of evidence.filter(({ path }) => path.startsWith('/proof/'))) await whenThere(operation);
  });

  test('the example of a create, sent once more and met by another user, is a trade that is reported to both', async () => {
    const create = seller.operation('post_orders_create');
    await seller.send(create, (text) => text.replace('demo-order-1', 'demo-order-5'));
    const buy = (text: string): string => text.replace('demo-order-1', 'demo-order-6').replace('"Sell"', '"Buy"');
    await buyer.send(create, buy);
    const trades = toldBy('/trades/user/events/{user_id}');
    await soonTold(trades, 'demo-order-5', '"Pending"');
    await soonTold(trades, 'demo-order-5', '"Confirmed"');
    await soonTold(toldBy('/orders'), 'demo-order-5', '"Removed"', '"Filled"');
    for (const operation of seller.operations.filter(({ id }) => id.startsWith('get_trades')))
      await seller.send(operation);
  });

  test('the same on margin is a position of each, in streams and reads', async () => {
    const create = seller.operation('post_orders_create');
    const onMargin = (text: string): string => text.replace('"is_spot":true', '"is_spot":false');
    await seller.send(create, (text) => onMargin(text.replace('demo-order-1', 'demo-order-7')));
    await buyer.send(create, (text) =>
      onMargin(text.replace('demo-order-1', 'demo-order-8').replace('"Sell"', '"Buy"')),
    );
    await soonTold(toldBy('/positions/ws/{user_id}'), '"side":"short"');
    await soonTold(toldBy('/positions/ws/{user_id}', true), '"side":"short"');
    await soonTold(toldBy('/account/stats/{user_id}'), '"account_equity"');
    const margin = seller.operations.filter(({ area }) => area === 'Margin');
    assert.ok(margin.length >= 6);
    for (const operation of margin) await seller.send(operation);
  });

  test('every request of the market-data service is answered as its document describes (DOC-02)', async () => {
    await soonTold(toldBy('/trades'), '"trade_id"');
    for (const operation of market.operations) await market.send(operation);
  });

  test('what is refused is refused with a code that the route documents (ERR-01, ERR-02, ERR-04, ERR-10)', async () => {
    for (const operation of [...seller.operations, ...market.operations]) {
      const runner = seller.operations.includes(operation) ? seller : market;
      if (operation.needsSession) assert.equal(await runner.refused(operation, 'without session'), 'UNAUTHORIZED');
      if (operation.body !== null) assert.equal(await runner.refused(operation, 'half a body'), 'INVALID_REQUEST');
      if (operation.path.includes('{asset_id}') && !isOfEvidence(operation)) {
        assert.equal(await runner.refused(operation, 'unknown market'), 'MARKET_NOT_FOUND');
      }
    }
  });

  test('the frames of /control are answered in both versions', async () => {
    const control = must(
      seller.streams.find(({ path }) => path === '/control'),
      'the stream of orders',
    );
    for (const message of control.receives) {
      const received = await seller.listen(control, message.name.endsWith('V1'));
      received.socket.send(seller.controlFrame(message));
      await soonTold(received, '"CancelOrderResponse"', '"Received"');
      assertTold(received);
      received.socket.close();
    }
  });

  test('what the streams sent has the shapes of their documents, bare and in envelopes', async () => {
    for (const word of ['"Created"', '"Replaced"', '"Canceled"', '"Removed"']) {
      await soonTold(toldBy('/orders'), word);
      await soonTold(toldBy('/orders', true), word);
    }
    await soonTold(toldBy('/account/events/{user_id}'), '"SubAccountAssetTransferred"');
    await soonTold(toldBy('/trades/user/{user_id}'), '"Confirmed"');
    for (const path of ['/trades/events', '/marketdepth/diff/{asset_id}', '/klines/diff/{asset_id}', '/tickers/ws']) {
      await soonTold(toldBy(path), '"subscriptions"');
    }
    await soonTold(toldBy('/trades/events'), '"Confirmed"');
    await soonTold(toldBy('/marketdepth/diff/{asset_id}'), '"bids"');
    for (const one of told) assertTold(one);
    const silent = told.filter(({ frames }) => frames.length === 0).map(({ stream }) => stream.path);
    assert.deepEqual(silent, SILENT);
  });
});

/** No account is at risk, on either version; `/control` only answers. */
const SILENT: readonly string[] = ['/liquidation/at_risk/ws', '/liquidation/at_risk/ws', '/control'];
