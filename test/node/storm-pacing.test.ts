// tier: quick
/** A storm of triggers waits while its market's words are unread, so that an answer never stands behind all of it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CLEARING, GATEWAY, marketActor } from '../../src/core/actor-names.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { SIDE, type Side } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { createRequest } from '../support/order-fixture.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode, simulatedUser } from '../support/simulated-node.ts';

const TRIGGERS = 600;
const PRICE = 3_000;
/** Words of 4 KiB, and of the turn that went past it. */
const UNREAD_MAX = 4_096 / 48 + 64 + 64;
const [OWNER, SELLER, BUYER] = [simulatedUser(1), simulatedUser(2), simulatedUser(3)];
const MARKET = marketActor(0);
const ASSET = must(SIMULATED_MARKETS[0], 'there is a market');

function openNode(): SimulatedNode {
  const node = new SimulatedNode({
    seed: 1,
    durability: new MemoryDurability(),
    forged: new Set(),
    startNs: SIMULATION_START_NS,
  });
  for (const assetId of ['0' as AssetId, ASSET]) node.command({ kind: 'putAsset', method: 'put', assetId, body: {} });
  const body = { book_price_decimals: 2, book_quantity_decimals: 4 };
  node.command({ kind: 'putMarket', method: 'put', assetId: ASSET, body });
  for (const user of [OWNER, SELLER, BUYER]) {
    for (const asset of ['0', ASSET]) {
      node.command({ kind: 'faucet', body: { user_id: user, sub_account: 0, asset_id: asset, amount: '1000000' } });
    }
  }
  return node;
}

function create(node: SimulatedNode, user: UserId, id: string, side: Side, price: number, more: object = {}): void {
  const wish = { user, id, side, price, quantity: 100, postSignNs: node.nowNs, ...more };
  const change = { baseAsset: { id: ASSET, text: ASSET }, creationNs: node.nowNs as TimestampNs };
  const request = createRequest(wish, change);
  node.gateway.entry.submit({ kind: 'create', request }, { user, connection: 1, isControl: true }, (answer) =>
    node.answers.push(answer),
  );
}

function triggered(node: SimulatedNode): number {
  return node.events.filter(({ event }) => event.kind === 'Triggered').length;
}

suite('a storm of triggers', () => {
  test('is sent no faster than the gateway reads, and all of it in the end (AMB-28)', () => {
    const node = openNode();
    for (let order = 0; order < TRIGGERS; order += 1) {
      create(node, OWNER, `t${order}`, SIDE.buy, 1_000, { above: PRICE });
      if (order % 50 === 49) node.settle();
    }
    create(node, SELLER, 'sell', SIDE.sell, PRICE);
    node.settle();
    assert.ok(node.answers.every(({ refusal }) => refusal === null));
    create(node, BUYER, 'buy', SIDE.buy, PRICE);
    node.pass(0n);
    for (const actor of [MARKET, CLEARING, MARKET]) node.pollAlone(actor);
    const { records } = node.unread(MARKET, GATEWAY);
    assert.ok(records > 0 && records <= UNREAD_MAX, `${records} words are unread`);
    assert.equal(triggered(node), 0);
    node.settle();
    assert.equal(triggered(node), TRIGGERS);
  });
});
