/**
 * The road of an order under a seeded scheduler, with kills: real actors over real rings on one thread.
 *
 * A failing seed is repeated with RINGBOOK_SIMULATION_SEED=<seed>; RINGBOOK_SIMULATION_RUNS=<n> tries more.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { loadState } from '../../src/clearing/checkpoint.ts';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import type { UserId } from '../../src/core/ids.ts';
import { SIDE, TIF, type Tif } from '../../src/core/order-terms.ts';
import { decodeBatch } from '../../src/node/journal-batch.ts';
import { SeededRandom } from '../../src/runtime/simulation.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { cancelRequest, createRequest, replaceRequest } from '../support/order-desk.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode, simulatedUser } from '../support/simulated-node.ts';

const RUNS = Number(process.env['RINGBOOK_SIMULATION_RUNS'] ?? '6');
const FIRST_SEED = Number(process.env['RINGBOOK_SIMULATION_SEED'] ?? '1');
const USERS = [1, 2, 3, 4].map(simulatedUser);
const STEPS_PER_LIFE = 900;
const LIVES = 3;

/** Random traders who remember what they sent. */
class Traders {
  readonly random: SeededRandom;
  readonly forged = new Set<string>();
  private readonly sent: { readonly user: UserId; readonly id: string; readonly market: number }[] = [];
  private count = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed ^ 0x5eed);
  }

  act(node: SimulatedNode): void {
    const draw = this.random.below(10);
    if (draw < 7 || this.sent.length === 0) this.create(node);
    else if (draw < 9) this.cancel(node);
    else this.replace(node);
  }

  private create(node: SimulatedNode): void {
    const { random } = this;
    this.count += 1;
    const id = `o-${this.count}`;
    const user = USERS[random.below(USERS.length)] ?? USERS[0];
    assert.ok(user !== undefined);
    const market = random.below(SIMULATED_MARKETS.length);
    if (random.below(40) === 0) this.forged.add(id);
    const asset = SIMULATED_MARKETS[market];
    assert.ok(asset !== undefined);
    const tif = ([TIF.gtc, TIF.gtc, TIF.gtc, TIF.gtd, TIF.ioc, TIF.fok] as const)[random.below(6)] as Tif;
    const request = createRequest(
      {
        user,
        id,
        side: random.below(2) === 0 ? SIDE.buy : SIDE.sell,
        price: 200_000 + 5 * random.below(8),
        quantity: 10 + random.below(200),
        tif,
        postOnly: (tif === TIF.gtc || tif === TIF.gtd) && random.below(5) === 0,
        goodUntilNs: node.nowNs + BigInt(1 + random.below(40_000_000)),
        postSignNs: node.nowNs,
      },
      { baseAsset: { id: asset, text: asset }, creationNs: node.nowNs as never },
    );
    this.sent.push({ user, id, market });
    node.door.create(request, { user, connection: 1, isControl: true }, (answer) => node.answers.push(answer));
  }

  private pick(): { readonly user: UserId; readonly id: string; readonly market: number } {
    const recent = Math.min(this.sent.length, 30);
    const chosen = this.sent[this.sent.length - 1 - this.random.below(recent)];
    assert.ok(chosen !== undefined);
    return chosen;
  }

  private cancel(node: SimulatedNode): void {
    const { user, id, market } = this.pick();
    const asset = SIMULATED_MARKETS[market];
    assert.ok(asset !== undefined);
    const request = cancelRequest(id, user);
    const aimed = {
      ...request,
      cancel: { ...request.cancel, asset: { id: asset, text: asset } },
      postSignNs: node.nowNs as never,
    };
    const isControl = this.random.below(2) === 0;
    node.door.cancel(aimed, { user, connection: 1, isControl }, (answer) => node.answers.push(answer));
  }

  private replace(node: SimulatedNode): void {
    const { user, id, market } = this.pick();
    const asset = SIMULATED_MARKETS[market];
    assert.ok(asset !== undefined);
    const request = replaceRequest({
      user,
      orderId: id as never,
      timestampNs: node.nowNs as never,
      newPriceLimit: this.random.below(2) === 0 ? null : ((200_000 + 5 * this.random.below(8)) as never),
      newQuantity: this.random.below(2) === 0 ? null : ((10 + this.random.below(200)) as never),
    });
    const aimed = { ...request, asset: { id: asset, text: asset }, postSignNs: node.nowNs as never };
    node.door.replace(aimed, { user, connection: 1, isControl: true }, (answer) => node.answers.push(answer));
  }
}

function prepare(node: SimulatedNode): void {
  node.command({ kind: 'putAsset', method: 'put', assetId: '0' as never, body: { symbol: 'USD' } });
  for (const assetId of SIMULATED_MARKETS) {
    node.command({ kind: 'putAsset', method: 'put', assetId, body: { symbol: `A${assetId}` } });
    const body = {
      book_price_decimals: 2,
      book_quantity_decimals: 4,
      tick_size: '0.05',
      min_order_size: '0.001',
      maker_fee_rate: -100,
      taker_fee_rate: 500,
    };
    node.command({ kind: 'putMarket', method: 'put', assetId, body });
  }
  for (const user of USERS) {
    for (const [asset, amount] of [['0', '60'], ...SIMULATED_MARKETS.map((id) => [id, '0.05'])] as [string, string][]) {
      node.command({ kind: 'faucet', body: { user_id: user, sub_account: 0, asset_id: asset, amount } });
    }
  }
}

function replayFromGenesis(durability: MemoryDurability): ClearingState {
  const state = loadState([]);
  for (const record of durability.journal) applyBatch(state, decodeBatch(record.payload), []);
  return state;
}

/** Confirmed trades by market and id, in the journal's own words. */
function confirmedTrades(durability: MemoryDurability): ReadonlySet<string> {
  const state = loadState([]);
  const confirmed = new Set<string>();
  for (const record of durability.journal) {
    const effects: Parameters<typeof applyBatch>[2] = [];
    applyBatch(state, decodeBatch(record.payload), effects);
    for (const effect of effects) {
      if (effect.kind === 'fillConfirmed') confirmed.add(`${effect.trade.marketIndex} ${effect.trade.tradeId}`);
    }
  }
  return confirmed;
}

function checkTold(node: SimulatedNode, durability: MemoryDurability): number {
  const confirmed = confirmedTrades(durability);
  const pending = new Map<string, number>();
  let confirmedSides = 0;
  for (const { trade } of node.told) {
    const marketIndex = SIMULATED_MARKETS.indexOf(trade.assetId);
    const key = `${marketIndex} ${trade.tradeId}`;
    const side = `${key} ${trade.isMaker}`;
    if (trade.status === 'Pending') {
      assert.equal(pending.has(side), false, `a side is pending once: ${side}`);
      pending.set(side, 0);
      continue;
    }
    assert.equal(pending.get(side), 0, `pending comes before the outcome, which comes once: ${side}`);
    pending.set(side, 1);
    assert.equal(confirmed.has(key), trade.status === 'Confirmed', `what is told as confirmed is durable: ${key}`);
    confirmedSides += trade.status === 'Confirmed' ? 1 : 0;
  }
  return confirmedSides;
}

function checkAtRest(node: SimulatedNode): void {
  checkLedger(node.clearing.ledger);
  for (const shard of node.shards) {
    for (const [marketIndex, engine] of shard.engines()) {
      engine.checkInvariants();
      for (const side of [SIDE.buy, SIDE.sell]) {
        const levels: (readonly [number, number])[] = [];
        engine.forEachLevel(side, (price, quantity) => levels.push([price, quantity]));
        assert.deepEqual(node.depth.book(marketIndex, side), levels, 'market data shows the book');
      }
    }
  }
}

function live(seed: number): { readonly confirmedSides: number; readonly rolledBack: number } {
  const traders = new Traders(seed);
  let durability = new MemoryDurability();
  let startNs = SIMULATION_START_NS;
  let confirmedSides = 0;
  let rolledBack = 0;
  for (let life = 0; life < LIVES; life += 1) {
    const options = { durability, forged: traders.forged, startNs };
    const node = new SimulatedNode({ ...options, seed: seed * 31 + life });
    if (life === 0) prepare(node);
    for (let step = 0; step < STEPS_PER_LIFE; step += 1) {
      if (traders.random.below(3) === 0) traders.act(node);
      node.simulation.step();
    }
    // Some lives end in the middle of things, some at rest.
    if (life !== 0) {
      node.settle();
      checkAtRest(node);
    }
    confirmedSides += checkTold(node, durability);
    rolledBack += node.toldAs('Rollbacked').length;
    const books = node.bookHashes();
    startNs = node.nowNs;
    const killed = durability.afterKill();
    assert.equal(stateHash(replayFromGenesis(durability)), stateHash(node.clearing.ledger), 'the journal is the truth');
    if (life !== 0) {
      const again = new SimulatedNode({ ...options, durability: killed.afterKill(), startNs, seed });
      assert.deepEqual(again.bookHashes(), books, 'a rebuilt book equals the one before the kill');
      checkAtRest(again);
    }
    durability = killed;
  }
  return { confirmedSides, rolledBack };
}

suite('the whole node, simulated', () => {
  test('confirmed is durable, told once and conserved, over random schedules and kills (FIL-02 to 05, AMB-32, AMB-110, AMB-116)', () => {
    let confirmedSides = 0;
    let rolledBack = 0;
    for (let run = 0; run < RUNS; run += 1) {
      const seed = FIRST_SEED + run;
      try {
        const outcome = live(seed);
        confirmedSides += outcome.confirmedSides;
        rolledBack += outcome.rolledBack;
      } catch (error) {
        const why = error instanceof Error ? error.stack : String(error);
        throw new Error(`RINGBOOK_SIMULATION_SEED=${seed} RINGBOOK_SIMULATION_RUNS=1: ${why}`, { cause: error });
      }
    }
    assert.ok(confirmedSides > 100, `the schedules trade: ${confirmedSides}`);
    assert.ok(rolledBack > 0, 'forged orders roll back');
  });

  test('the same seed gives the same node', () => {
    const hashes = [1, 2].map(() => {
      const traders = new Traders(7);
      const durability = new MemoryDurability();
      const options = { durability, forged: traders.forged, startNs: SIMULATION_START_NS };
      const node = new SimulatedNode({ ...options, seed: 7 });
      prepare(node);
      for (let step = 0; step < 300; step += 1) {
        traders.act(node);
        node.simulation.step();
      }
      return `${node.simulation.schedule()} ${stateHash(node.clearing.ledger)}`;
    });
    assert.equal(hashes[0], hashes[1]);
  });
});
