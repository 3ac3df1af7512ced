/**
 * The road of an order under a seeded scheduler, with kills: real actors over real rings on one thread.
 *
 * A failing seed is repeated with RINGBOOK_SIMULATION_SEED=<seed>; RINGBOOK_SIMULATION_RUNS=<n> tries more.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { capacityWith } from '../../src/clearing/account-margin.ts';
import { loadState } from '../../src/clearing/checkpoint.ts';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { USD } from '../../src/core/ids.ts';
import { ORDER_END_WORD, ORDER_FLAG, ROLLBACK_REASON_WORD, SIDE, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { decodeBatch } from '../../src/node/journal-batch.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATED_MARKETS, SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { type Sent, SIMULATED_USERS, Traders } from '../support/simulated-traders.ts';

const RUNS = Number(process.env['RINGBOOK_SIMULATION_RUNS'] ?? '6');
const FIRST_SEED = Number(process.env['RINGBOOK_SIMULATION_SEED'] ?? '1');
const STEPS_PER_LIFE = 900;
const LIVES = 3;

function replayFromGenesis(durability: MemoryDurability): ClearingState {
  const state = loadState([]);
  for (const record of durability.journal) applyBatch(state, decodeBatch(record.payload), []);
  return state;
}

/** Confirmed trades by market and id, in the journal's own words. */
function confirmedTrades(
  durability: MemoryDurability,
  told: (effect: Effect) => void = () => undefined,
): ReadonlySet<string> {
  const state = loadState([]);
  const confirmed = new Set<string>();
  for (const record of durability.journal) {
    const effects: Parameters<typeof applyBatch>[2] = [];
    applyBatch(state, decodeBatch(record.payload), effects);
    for (const effect of effects) {
      if (effect.kind === 'fillConfirmed') confirmed.add(`${effect.trade.marketIndex} ${effect.trade.tradeId}`);
      told(effect);
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
  const { ledger } = node.clearing;
  checkLedger(ledger);
  checkOrdersAtRest(ledger);
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
  checkHolds(node);
  checkMargins(node);
}

/** Nobody is owed a word: what fired was released or ended, and what was covered is gone (AMB-28, AMB-23). */
function checkOrdersAtRest(ledger: ClearingState): void {
  for (const market of ledger.markets) {
    for (const { row } of market.orders.values()) {
      const name = `order ${row.orderSequence} ${row.orderId}`;
      if (row.triggerState === TRIGGER_STATE.fired) {
        assert.ok(row.parentId !== '' && row.enabledQuantity === 0, `${name} fired and was never released`);
      }
      assert.equal(row.flags & ORDER_FLAG.covered, 0, `${name} was covered and lives`);
    }
  }
}

/** The front door and clearing set the same aside for the same orders (AMB-52, AMB-112). */
function checkHolds(node: SimulatedNode): void {
  for (const user of SIMULATED_USERS) {
    for (const asset of [USD, ...SIMULATED_MARKETS]) {
      for (const subAccount of [0, 1]) {
        const slot = node.clearing.ledger.users.get(user)?.subAccounts.get(subAccount)?.balances.get(asset);
        const funds = node.door.orders.funds({ user, subAccount, asset });
        assert.deepEqual(
          [funds.held, funds.pending],
          [slot?.held ?? 0n, 0n],
          `what ${user.slice(0, 4)} holds of ${asset} in ${subAccount}`,
        );
      }
    }
  }
}

/** With nothing pending the optimistic view is clearing's truth: legs, surplus, pressure (AMB-112, AMB-142, MRG-16). */
function checkMargins(node: SimulatedNode): void {
  const nowNs = node.nowNs as TimestampNs;
  for (const user of SIMULATED_USERS) {
    const account = node.clearing.ledger.users.get(user)?.subAccounts.get(1);
    if (account === undefined) continue;
    const name = `account 1 of ${user.slice(0, 4)}`;
    const room = node.door.orders.margin;
    for (const { asset, legs } of account.positions.values()) {
      const position = room.accounts.find(user, 1)?.find(asset);
      const told = [position?.base ?? 0n, position?.quote ?? 0n, position?.entry ?? 0n];
      assert.deepEqual(told, [legs.base, legs.quote, legs.entry], `${name}: the position in ${asset}`);
    }
    const usd = account.balances.get(USD);
    if (usd === undefined) continue;
    const capacity = capacityWith(account, { slot: usd, owned: usd.owned }, nowNs);
    assert.equal(room.capacity(user, 1, nowNs), capacity, `${name}: what is left for more risk`);
  }
}

/** Orders whose ids the journal has seen: they are taken for good (AMB-08). */
function takenIds(durability: MemoryDurability): Pick<Sent, 'user' | 'id' | 'market'>[] {
  const taken: Pick<Sent, 'user' | 'id' | 'market'>[] = [];
  for (const record of durability.journal) {
    for (const input of decodeBatch(record.payload).inputs) {
      if (input.kind !== 'created' && input.kind !== 'createRefused') continue;
      const market = SIMULATED_MARKETS[input.marketIndex];
      assert.ok(market !== undefined);
      taken.push({ user: input.order.user, id: input.order.orderId, market });
    }
  }
  return taken;
}

function checkIdsAreTaken(node: SimulatedNode, traders: Traders, durability: MemoryDurability): void {
  for (const sent of takenIds(durability).slice(-40)) {
    const before = node.answers.length;
    traders.again(node, sent);
    node.settle();
    assert.equal(node.answers.length, before + 1);
    assert.equal(node.answers.at(-1)?.refusal?.code, 'DUPLICATE_ORDER', sent.id);
  }
}

/** What happened in a run, by name, so that no law holds for want of cases. */
class Tally {
  private readonly counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  addJournal(durability: MemoryDurability): void {
    confirmedTrades(durability, (effect) => {
      if (effect.kind === 'replied') this.add(effect.outcome.ok ? 'done' : effect.outcome.reject.code);
      else if (effect.kind === 'fillRolledBack') {
        for (const reason of [effect.makerReason, effect.takerReason]) this.add(`fill ${ROLLBACK_REASON_WORD[reason]}`);
      } else this.add(effect.kind);
    });
    for (const record of durability.journal) {
      for (const input of decodeBatch(record.payload).inputs) {
        this.add(input.kind);
        if (input.kind === 'ended') this.add(ORDER_END_WORD[input.end]);
        if (input.kind === 'created') this.add(`${KIND_NAMES[input.order.kind]}${input.parent === 0 ? '' : ' child'}`);
      }
    }
  }

  has(name: string): void {
    assert.ok((this.counts.get(name) ?? 0) > 0, `${name} happens: ${JSON.stringify([...this.counts])}`);
  }
}

const KIND_NAMES = ['limit', 'market in base', 'market in quote'] as const;
const HAPPENINGS = [
  ...KIND_NAMES,
  'limit child',
  'confirmed',
  'rolled back',
  'triggered',
  'activated',
  'covered',
  'replaced',
  'restored',
  'restarted',
  'UserRequested',
  'SelfTradePrevented',
  'PostOnlyWouldCross',
  'MarginInsufficient',
  'ParentCanceled',
  'Filled',
  'Expired',
  'ImmediateOrCancel',
  'FillOrKill',
  'positionChanged',
  'positionCleared',
  'transferDone',
  'priceAccepted',
  'fill ReduceOnlyViolation',
  'POSITION_NOT_FLAT',
];

function live(seed: number, tally: Tally): void {
  const traders = new Traders(seed);
  let durability = new MemoryDurability();
  let startNs = SIMULATION_START_NS;
  for (let life = 0; life < LIVES; life += 1) {
    const options = { durability, forged: traders.forged, startNs };
    const node = new SimulatedNode({ ...options, seed: seed * 31 + life });
    if (life === 0) prepareMarkets(node);
    for (let step = 0; step < STEPS_PER_LIFE; step += 1) {
      if (traders.random.below(3) === 0) traders.act(node);
      node.simulation.step();
    }
    // Some lives end in the middle of things, some at rest.
    if (life !== 0) {
      node.settle();
      checkAtRest(node);
      checkIdsAreTaken(node, traders, durability);
    }
    tally.add('confirmed', checkTold(node, durability));
    tally.add('rolled back', node.toldAs('Rollbacked').length);
    const books = node.bookHashes();
    startNs = node.nowNs;
    const killed = durability.afterKill();
    assert.equal(stateHash(replayFromGenesis(durability)), stateHash(node.clearing.ledger), 'the journal is the truth');
    if (life !== 0) {
      const again = new SimulatedNode({ ...options, durability: killed.afterKill(), startNs, seed });
      assert.deepEqual(again.bookHashes(), books, 'a rebuilt book equals the one before the kill');
      checkAtRest(again);
      checkIdsAreTaken(again, traders, durability);
    }
    durability = killed;
  }
  tally.addJournal(durability);
}

suite('the whole node, simulated', () => {
  test('confirmed is durable, told once and conserved; triggers that fired are released, covered orders stay gone and ids stay taken, over random schedules and kills (FIL-02 to 05, AMB-08, AMB-23, AMB-28, AMB-32, AMB-110, AMB-116)', () => {
    const tally = new Tally();
    for (let run = 0; run < RUNS; run += 1) {
      const seed = FIRST_SEED + run;
      try {
        live(seed, tally);
      } catch (error) {
        const why = error instanceof Error ? error.stack : String(error);
        throw new Error(`RINGBOOK_SIMULATION_SEED=${seed} RINGBOOK_SIMULATION_RUNS=1: ${why}`, { cause: error });
      }
    }
    if (RUNS >= 6) for (const name of HAPPENINGS) tally.has(name);
  });

  test('the same seed gives the same node', () => {
    const hashes = [1, 2].map(() => {
      const traders = new Traders(7);
      const durability = new MemoryDurability();
      const options = { durability, forged: traders.forged, startNs: SIMULATION_START_NS };
      const node = new SimulatedNode({ ...options, seed: 7 });
      prepareMarkets(node);
      for (let step = 0; step < 300; step += 1) {
        traders.act(node);
        node.simulation.step();
      }
      return `${node.simulation.schedule()} ${stateHash(node.clearing.ledger)}`;
    });
    assert.equal(hashes[0], hashes[1]);
  });
});
