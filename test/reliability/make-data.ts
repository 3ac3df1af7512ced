/**
 * Makes the fixture of a version of the data: what a node of that version leaves after a small life and an orderly
 * stop, with its answers about it. Run in a checkout of the version in question:
 *
 *   node dist/test/reliability/make-data.js test/fixtures/data-6.json.gz
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';

import { withReader } from '../../src/tools/audit-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';
import { BTC, ETH } from '../support/names.ts';
import { type NodeProcess, operator, startNode, stopNode } from '../support/node-process.ts';
import { removeDirectory } from '../support/temporary-directory.ts';

const ROUNDS = 12;
const MARGIN = { account: 1, isSpot: false } as const;

/** Spot and margin trades, resting, waiting, cancelled and partly filled orders of two users. */
async function trade(node: NodeProcess): Promise<Readonly<Record<string, unknown>>> {
  const clients = (['a', 'b'] as const).map((name) => {
    return new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
  });
  const [a, b] = clients;
  if (a === undefined || b === undefined) throw new Error('there are two users');
  for (const client of clients) await client.login();
  for (let round = 0; round < ROUNDS; round += 1) {
    await a.create(await a.order({ assetId: ETH, side: 'Sell', price: `${3_000 + round}`, quantity: '0.02' }));
    await b.create(await b.order({ assetId: ETH, side: 'Buy', price: `${3_000 + round}`, quantity: '0.01' }));
    await b.create(await b.order({ assetId: BTC, side: 'Sell', price: `${60_000 + 100 * round}`, quantity: '0.001' }));
  }
  for (const [client, side] of [
    [a, 'Sell'],
    [b, 'Buy'],
  ] as const) {
    await client.create(await client.order({ assetId: ETH, side, price: '2999', quantity: '0.5', target: MARGIN }));
    const cancelled = await client.order({ assetId: BTC, side: 'Buy', price: '50000', quantity: '0.01' });
    await client.create(cancelled);
    await client.cancel(BTC, cancelled.orderId);
    const trigger = { when: 'above', price: '3900' } as const;
    await client.create(await client.order({ assetId: ETH, side: 'Buy', price: '3950', quantity: '0.1', trigger }));
  }
  await operator(node, 'POST', '/operator/barrier', {});
  const orders: Record<string, unknown> = {};
  for (const client of clients) orders[client.userId] = (await client.orders({ limit: 1_000 })).items;
  for (const client of clients) client.close();
  return orders;
}

function filesOf(directory: string): Readonly<Record<string, string>> {
  const names = ['ledger.mdb', ...readdirSync(join(directory, 'chains')).map((name) => `chains/${name}`)];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name)).toString('base64')]));
}

const [, , to = ''] = process.argv;
const node = await startNode({ profile: 'dev' });
const orders = await trade(node);
const how = await stopNode(node);
if (how !== 0) throw new Error(`the node ended with ${how}: ${node.stderr()}`);
const said = await withReader(node.dataDirectory, (reader) => ({
  trades: [...exportLines(reader, 'trades')],
  balances: [...exportLines(reader, 'balances')],
  positions: [...exportLines(reader, 'positions')],
}));
const made = { files: filesOf(node.dataDirectory), said: { ...said, orders } };
const text = JSON.stringify(made, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
writeFileSync(to, gzipSync(text));
removeDirectory(node.dataDirectory);
process.stdout.write(`${said.trades.length} trades, ${said.positions.length} positions, ${text.length} bytes\n`);
