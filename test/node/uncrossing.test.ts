// tier: full
/** Rollbacks that cross a book, through the whole node: no innocent order is lost, and no turn is long (AMB-32, AMB-111). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CLEARING, marketActor } from '../../src/core/actor-names.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { FILL_STATUS, SIDE, type Side } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { createRequest } from '../support/order-fixture.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode, simulatedUser } from '../support/simulated-node.ts';

const ASSET = must(SIMULATED_MARKETS[0], 'there is a market');
const MARKET = marketActor(0);
/** Of 1,000 orders each (AMB-124). */
const MAKERS = [1, 2].map(simulatedUser);
const THIEVES = [3, 4, 5].map(simulatedUser);
const HONEST = simulatedUser(6);
const ORDERS_EACH = 1_000;
const PRICE = 3_000;
const LOTS = 100;
const RING = 1 << 22;
/** Words to clearing of one turn of the market: 256 steps of uncrossing, and what one batch of rollbacks brings back. */
const TURN_MAX = 256 + 16 * 4;

class World {
  readonly forged: Set<string> = new Set();
  readonly durability = new MemoryDurability();
  node: SimulatedNode;

  constructor() {
    this.node = this.#start(SIMULATION_START_NS);
    const { node } = this;
    for (const assetId of ['0' as AssetId, ASSET]) node.command({ kind: 'putAsset', method: 'put', assetId, body: {} });
    // The cool-down of thieves is tested elsewhere (node/faults.test.ts).
    node.command({ kind: 'putConfig', config: 'settings', key: '', method: 'patch', body: { fault_budget: 100_000 } });
    const body = { book_price_decimals: 2, book_quantity_decimals: 4 };
    node.command({ kind: 'putMarket', method: 'put', assetId: ASSET, body });
    for (const user of [...MAKERS, ...THIEVES, HONEST])
      for (const asset of ['0', ASSET])
        node.command({ kind: 'faucet', body: { user_id: user, sub_account: 0, asset_id: asset, amount: '1000000' } });
  }

  #start(startNs: bigint): SimulatedNode {
    const { durability, forged } = this;
    return new SimulatedNode({ seed: 1, durability, forged, startNs, ringBytes: RING, checkpointAfter: 100_000 });
  }

  /** The process is gone; what was flushed is there again. */
  restart(): void {
    this.node = this.#start(this.node.nowNs);
  }

  create(user: UserId, id: string, side: Side, price: number, quantity: number): void {
    const { node } = this;
    const request = createRequest(
      { user, id, side, price, quantity, postSignNs: node.nowNs },
      { baseAsset: { id: ASSET, text: ASSET }, creationNs: node.nowNs as TimestampNs },
    );
    node.gateway.entry.submit({ kind: 'create', request }, { user, connection: 1, isControl: true }, (answer) =>
      node.answers.push(answer),
    );
  }

  /** Asks of both makers over twenty prices. @returns their ids. */
  quote(): string[] {
    const ids: string[] = [];
    for (let at = 0; at < ORDERS_EACH; at++)
      for (const [maker, user] of MAKERS.entries()) {
        const id = `h${maker}-${at}`;
        ids.push(id);
        this.create(user, id, SIDE.sell, PRICE + (at % 20), LOTS);
        if (at % 25 === 24) this.node.settle();
      }
    this.node.settle();
    assert.ok(this.node.answers.every(({ refusal }) => refusal === null));
    this.node.answers.length = 0;
    return ids;
  }

  /** How orders of these ids ended. */
  endsOf(ids: readonly string[]): readonly string[] {
    const known = new Set(ids);
    return this.node.events
      .filter(({ event }) => known.has(event.orderId) && (event.kind === 'Canceled' || event.kind === 'Removed'))
      .map(({ event }) => `${event.orderId} ${event.kind} ${'reason' in event ? event.reason : ''}`);
  }

  asks(): readonly (readonly [number, number])[] {
    return this.node.depth.book(0, SIDE.sell);
  }
}

suite('orders of others, when fills roll back', () => {
  test(`three crossing orders, again and again, cost honest makers none of ${2 * ORDERS_EACH} orders (A3, AMB-32)`, () => {
    const world = new World();
    const ids = world.quote();
    const before = world.asks();
    for (let round = 0; round < 2; round++) {
      for (const [at, user] of THIEVES.entries()) {
        const id = `r${round}-${at}`;
        world.forged.add(id);
        world.create(user, id, SIDE.buy, PRICE + 40 - at, 2 * ORDERS_EACH * LOTS);
      }
      world.node.settle();
    }
    assert.ok(world.node.toldAs(FILL_STATUS.rolledBack).length >= 2 * 2 * 2 * ORDERS_EACH, 'fills were rolled back');
    assert.deepEqual(world.endsOf(ids), []);
    assert.deepEqual([world.asks(), world.node.depth.book(0, SIDE.buy)], [before, []]);
    for (const shard of world.node.shards) for (const engine of shard.engines().values()) engine.checkInvariants();
    world.create(HONEST, 'sweep', SIDE.buy, PRICE + 40, 2 * ORDERS_EACH * LOTS);
    world.node.settle();
    assert.equal(world.node.toldAs(FILL_STATUS.confirmed).length, 2 * 2 * ORDERS_EACH, 'and each can still be traded');
  });

  /** `large` was taken whole by a thief; behind that rest asks that it crosses, and clearing has just refused the fill. */
  function crossed(world: World): void {
    const { node } = world;
    world.create(HONEST, 'large', SIDE.buy, PRICE + 40, ORDERS_EACH * LOTS);
    node.settle();
    world.forged.add('steal');
    world.create(must(THIEVES[0], 'a thief'), 'steal', SIDE.sell, PRICE + 40, ORDERS_EACH * LOTS);
    for (let at = 0; at < ORDERS_EACH; at++)
      world.create(must(MAKERS[0], 'a maker'), `a${at}`, SIDE.sell, PRICE + (at % 20), LOTS);
    node.pass(0n);
    node.pollAlone(MARKET);
    node.pollAlone(CLEARING);
  }

  test('an order that comes back to thousands is uncrossed some a turn; a command waits until it is done (AMB-111)', () => {
    const world = new World();
    const { node } = world;
    crossed(world);
    let [longest, turns] = [0, 0];
    for (let handled = 1; handled > 0; turns++) {
      if (turns === 1) {
        world.create(must(MAKERS[1], 'a maker'), 'late', SIDE.sell, PRICE, LOTS);
        node.pass(0n);
      }
      const before = node.unread(MARKET, CLEARING).records;
      handled = node.poll(MARKET);
      longest = Math.max(longest, node.unread(MARKET, CLEARING).records - before);
    }
    assert.ok(longest <= TURN_MAX, `a turn says ${longest} words`);
    assert.ok(turns > ORDERS_EACH / 256, `${turns} turns`);
    node.settle();
    assert.equal(node.toldAs(FILL_STATUS.confirmed).length, 2 * ORDERS_EACH);
    assert.ok(
      node.toldAs(FILL_STATUS.confirmed).every(({ trade }) => trade.price === PRICE + 40),
      'at the older price',
    );
    assert.deepEqual(world.asks(), [[PRICE, LOTS]], 'the command found nothing to take');
  });

  test('a kill in between leaves a book that is uncrossed at the start, by the same rule (AMB-32, AMB-110)', () => {
    const world = new World();
    crossed(world);
    world.node.poll(MARKET);
    world.restart();
    const { node } = world;
    for (const shard of node.shards) for (const engine of shard.engines().values()) engine.checkInvariants();
    node.settle();
    assert.deepEqual(world.asks(), []);
    assert.equal(node.toldAs(FILL_STATUS.confirmed).length, 2 * ORDERS_EACH);
    assert.ok(node.toldAs(FILL_STATUS.confirmed).every(({ trade }) => trade.price === PRICE + 40));
  });
});
