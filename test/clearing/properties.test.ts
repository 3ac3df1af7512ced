/**
 * Random worlds. The ledger against a plain one of maps and snapshots; a journal against itself, cut, merged, loaded
 * from checkpoints and held up.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { canCheckpoint } from '../../src/clearing/checkpoint.ts';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Batch } from '../../src/clearing/inputs.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash, stateLines } from '../../src/clearing/state-hash.ts';
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ORDER_END, SIDE, type Side, TIF } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence } from '../../src/core/units.ts';
import {
  ALICE,
  BOB,
  balancesOf,
  CAROL,
  CHAIN,
  ClearingWorld,
  ETH,
  effectsOf,
  PlainTables,
  TOKEN,
  USD,
} from '../support/clearing-world.ts';
import { PlainClearing } from '../support/plain-clearing.ts';

const RUNS = Number(process.env['RINGBOOK_PROPERTY_RUNS'] ?? 60);
const USERS: readonly UserId[] = [ALICE, BOB, CAROL];
const ASSETS: readonly AssetId[] = [USD, ETH];

const who = fc.constantFrom(...USERS);
const pick = fc.nat({ max: 1_000 });
/** Prices around 10.00, in cents, and quantities around 1, in 1e-4: small, so that money runs out and orders overfill. */
const price = fc.integer({ min: 980, max: 1_020 });
const quantity = fc.integer({ min: 1, max: 30_000 });

const create = fc.record({
  kind: fc.constant('create' as const),
  user: who,
  subAccount: fc.constantFrom(0, 0, 0, 1),
  side: fc.constantFrom<Side>(SIDE.buy, SIDE.sell),
  tif: fc.constantFrom(TIF.gtc, TIF.gtc, TIF.gtc, TIF.ioc, TIF.fok),
  price,
  quantity,
  maxFeeRate: fc.constantFrom(1_000, 1_000, 1_000, 450, 100),
  forged: fc.constantFrom(false, false, false, false, false, true),
});
const match = fc.record({
  kind: fc.constant('match' as const),
  makers: fc.array(pick, { minLength: 1, maxLength: 4 }),
  taker: pick,
  price,
  quantity: fc.integer({ min: 1, max: 20_000 }),
});
const replace = fc.record({ kind: fc.constant('replace' as const), order: pick, price, quantity });
const end = fc.record({ kind: fc.constant('end' as const), order: pick });
const faucet = fc.record({
  kind: fc.constant('faucet' as const),
  user: who,
  subAccount: fc.constantFrom(0, 1),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.integer({ min: -20, max: 60 }),
});
const deposit = fc.record({
  kind: fc.constant('deposit' as const),
  user: who,
  baseUnits: fc.bigInt({ min: 0n, max: 50_000_000n }),
  nonceStep: fc.constantFrom(0, 0, 0, -1, 1),
});
const transfer = fc.record({
  kind: fc.constant('transfer' as const),
  user: who,
  from: fc.constantFrom(0, 1),
  asset: fc.constantFrom(...ASSETS),
  amount: fc.bigInt({ min: 0n, max: 30n * 10n ** 18n }),
});
const fees = fc.record({
  kind: fc.constant('fees' as const),
  taker: fc.integer({ min: 0, max: 900 }),
  maker: fc.integer({ min: -900, max: 900 }),
});

const moves = fc.oneof(
  { weight: 8, arbitrary: create },
  { weight: 10, arbitrary: match },
  { weight: 2, arbitrary: replace },
  { weight: 1, arbitrary: end },
);
const money = fc.oneof(
  { weight: 4, arbitrary: faucet },
  { weight: 2, arbitrary: deposit },
  { weight: 2, arbitrary: transfer },
  { weight: 1, arbitrary: fees },
);
const step = fc.oneof({ weight: 3, arbitrary: moves }, { weight: 1, arbitrary: money });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Drives a world and, when there is one, the plain ledger beside it. */
class Player {
  readonly world: ClearingWorld = ClearingWorld.withMarket({ maker_fee_rate: -50 });
  readonly plain = new PlainClearing();
  /** Orders that a market would still speak of: not ended by it, and not filled. */
  private names: Sequence[] = [];
  private readonly depositNonces = new Map<UserId, number>();
  private transferNonce = 0n;

  constructor() {
    this.plain.fees = { maker: -50, taker: 450 };
    for (const user of USERS) {
      for (const asset of ASSETS) this.faucet(user, 0, asset, 40);
    }
  }

  private faucet(user: UserId, subAccount: number, asset: AssetId, amount: number): void {
    const outcome = this.world.fund(user, asset, String(amount), subAccount);
    assert.equal(outcome.ok, this.plain.faucet(user, subAccount, asset, BigInt(amount) * 10n ** 18n));
  }

  private live(at: number): Sequence | undefined {
    this.names = this.names.filter((name) => this.world.order(name) !== undefined || this.isWaiting(name));
    return this.names[at % Math.max(1, this.names.length)];
  }

  private isWaiting(name: Sequence): boolean {
    const { waiting } = this.world.state.hooks;
    return waiting.some((input) => input.kind === 'created' && input.sequence === name);
  }

  play(step: Step): void {
    switch (step.kind) {
      case 'create':
        this.create(step);
        break;
      case 'match':
        this.match(step);
        break;
      case 'replace':
        this.replace(step);
        break;
      case 'end':
        this.end(step);
        break;
      case 'faucet':
        this.faucet(step.user, step.subAccount, step.asset, step.amount);
        break;
      case 'deposit':
        this.deposit(step);
        break;
      case 'transfer':
        this.transfer(step);
        break;
      case 'fees':
        this.setFees(step);
        break;
    }
  }

  private create(step: Extract<Step, { kind: 'create' }>): void {
    const { kind: _, forged, ...terms } = step;
    const { sequence } = this.world.next();
    if (forged) this.world.forged.add(`0/${sequence}`);
    this.world.create(terms);
    this.plain.create(sequence, { ...terms, forged });
    this.names.push(sequence);
  }

  private match(step: Extract<Step, { kind: 'match' }>): void {
    const taker = this.live(step.taker);
    const makers = step.makers.map((at) => this.live(at)).filter((name) => name !== undefined && name !== taker);
    if (taker === undefined || makers.length === 0) return;
    // A market never matches more of an order than it has left, but for an injected fill; so does this one now and then.
    const fok = this.plain.orders.get(taker)?.tif === TIF.fok;
    const unit = fok ? makers : makers.slice(0, 1);
    const fills = unit.map((maker) => ({ maker: maker as Sequence, quantity: Math.ceil(step.quantity / unit.length) }));
    const expected = this.plain.decide(fills, taker, step.price);
    const told: unknown[] = [];
    fills.forEach((fill, at) => {
      const place = fills.length === 1 ? 0 : at === fills.length - 1 ? 2 : 1;
      const effects = this.world.match(fill.maker, taker, fill.quantity, {
        price: step.price as RawPrice,
        unit: place,
        makerFeeRate: this.plain.fees.maker,
        takerFeeRate: this.plain.fees.taker,
      });
      told.push(...effectsOf(effects, 'fillConfirmed').map(() => 'confirmed'));
      told.push(...effectsOf(effects, 'fillRolledBack').map((fill) => [fill.makerReason, fill.takerReason]));
    });
    if (this.compares) assert.deepEqual(told, expected);
  }

  /** False while fills are held: then only the end is compared. */
  compares = true;

  private replace(step: Extract<Step, { kind: 'replace' }>): void {
    const order = this.live(step.order);
    if (order === undefined) return;
    this.world.replace(order, {
      prioritySequence: this.world.next().sequence,
      price: step.price as RawPrice,
      quantity: step.quantity as RawQuantity,
      timestampNs: this.world.nowNs,
    });
    this.plain.replace(order, step.price, step.quantity);
  }

  private end(step: Extract<Step, { kind: 'end' }>): void {
    const order = this.live(step.order);
    if (order === undefined) return;
    this.world.end(order, ORDER_END.userRequested);
    this.plain.orders.delete(order);
    this.names = this.names.filter((name) => name !== order);
  }

  private deposit(step: Extract<Step, { kind: 'deposit' }>): void {
    const next = this.depositNonces.get(step.user) ?? 0;
    const depositNonce = next + step.nonceStep;
    if (depositNonce < 0) return;
    if (step.nonceStep === 0) {
      this.depositNonces.set(step.user, next + 1);
      this.plain.credit(step.user, 0, USD, step.baseUnits * 10n ** 12n);
    }
    this.world.send({
      kind: 'deposit',
      request: this.world.request(),
      chainId: CHAIN as never,
      tx: String(depositNonce).padStart(64, '0'),
      logIndex: USERS.indexOf(step.user),
      user: step.user,
      token: TOKEN,
      baseUnits: step.baseUnits,
      depositNonce,
    });
  }

  private transfer(step: Extract<Step, { kind: 'transfer' }>): void {
    this.transferNonce += 1n;
    const { user, from, asset, amount } = step;
    const effects = this.world.send({
      kind: 'transfer',
      request: this.world.request(),
      user,
      sourceIndex: from,
      targetIndex: 1 - from,
      asset,
      amount: amount as Amount18,
      nonce: this.transferNonce,
    });
    const done = effectsOf(effects, 'transferDone').length === 1;
    assert.equal(done, this.plain.transfer(user, from, 1 - from, asset, amount));
  }

  private setFees(step: Extract<Step, { kind: 'fees' }>): void {
    const maker = Math.max(step.maker, -step.taker);
    this.world.put('putMarket', ETH, { maker_fee_rate: maker, taker_fee_rate: step.taker }, 'patch');
    this.plain.fees = { maker, taker: step.taker };
  }
}

function replayed(batches: readonly Batch[], state = createClearingState()): typeof state {
  for (const batch of batches) applyBatch(state, batch, []);
  return state;
}

/** Plays with holds, faults and restarts in between; they need no plain ledger. */
function playWild(steps: readonly (Step | Wild)[]): ClearingWorld {
  const player = new Player();
  player.compares = false;
  for (const step of steps) {
    if (isWild(step)) playHook(player.world, step);
    else if (step.kind !== 'transfer') player.play(step);
  }
  return player.world;
}

const wild = fc.oneof(
  fc.record({ kind: fc.constant('hold' as const), all: fc.boolean() }),
  fc.record({ kind: fc.constant('release' as const), fills: fc.constantFrom(null, null, 1, 2) }),
  fc.record({ kind: fc.constant('fault' as const), skip: fc.nat({ max: 2 }), count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ kind: fc.constant('restart' as const), clean: fc.boolean() }),
  fc.record({ kind: fc.constant('prices' as const), price: fc.integer({ min: 0, max: 9 }) }),
);
type Wild = typeof wild extends fc.Arbitrary<infer S> ? S : never;

function isWild(step: Step | Wild): step is Wild {
  return ['hold', 'release', 'fault', 'restart', 'prices'].includes(step.kind);
}

function playHook(world: ClearingWorld, step: Wild): void {
  const request = world.request();
  switch (step.kind) {
    case 'hold':
      world.send({ kind: 'hold', request, asset: step.all ? 'all' : ETH });
      break;
    case 'release':
      world.send({ kind: 'release', request, fills: step.fills });
      break;
    case 'fault': {
      const { skip, count } = step;
      world.send({ kind: 'fault', request, fault: { party: 'taker', reason: 1, asset: null, skip, count } });
      break;
    }
    case 'restart':
      world.send({ kind: 'restarted', clean: step.clean });
      break;
    case 'prices':
      world.send({ kind: 'setPrices', request, body: { prices: [{ asset_id: ETH, price: String(step.price) }] } });
      break;
  }
}

const wildSteps = fc.array(fc.oneof({ weight: 8, arbitrary: step }, { weight: 1, arbitrary: wild }), {
  minLength: 10,
  maxLength: 80,
});

suite('random worlds', () => {
  test('every balance, hold and decision is that of a plain ledger (AMB-41, AMB-52, AMB-116, FIL-17)', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 120 }), (steps) => {
        const player = new Player();
        for (const item of steps) {
          player.play(item);
          assert.deepEqual(balancesOf(player.world.state), player.plain.nonEmpty());
          for (const user of USERS) {
            assert.equal(player.world.held(user, USD), player.plain.held(user, 0, USD));
            assert.equal(player.world.held(user, ETH), player.plain.held(user, 0, ETH));
          }
        }
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });

  test('a journal replayed whole, one input a batch, or as one batch gives the same state (AMB-36, AMB-110)', () => {
    fc.assert(
      fc.property(wildSteps, (steps) => {
        const world = playWild(steps);
        const { journal, nowNs: timeNs } = world;
        const lines = [...stateLines(world.state)];
        assert.deepEqual([...stateLines(replayed(journal))], lines);
        const inputs = journal.flatMap((batch) => batch.inputs);
        const verdicts = journal.flatMap((batch) => batch.verdicts);
        assert.deepEqual([...stateLines(replayed([{ timeNs, inputs, verdicts }]))], lines);
        const single = journal.flatMap((batch): Batch[] => [
          { timeNs, inputs: [], verdicts: batch.verdicts },
          ...batch.inputs.map((input): Batch => ({ timeNs, inputs: [input], verdicts: [] })),
        ]);
        assert.equal(stateHash(replayed(single)), stateHash(world.state));
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });

  test('a checkpoint anywhere and the rest of the journal give the state that never stopped (AMB-110)', () => {
    fc.assert(
      fc.property(wildSteps, fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 4 }), (steps, cuts) => {
        const world = playWild(steps);
        const tables = new PlainTables();
        let state = createClearingState();
        world.journal.forEach((batch, at) => {
          applyBatch(state, batch, []);
          if (!canCheckpoint(state) || !cuts.includes(at)) return;
          tables.checkpoint(state);
          const loaded = tables.load();
          checkLedger(loaded);
          assert.deepEqual([...stateLines(loaded)], [...stateLines(state)]);
          state = loaded;
        });
        assert.deepEqual([...stateLines(state)], [...stateLines(world.state)]);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });

  test('holding fills back and letting them go changes nothing but the time (operator-api.md 7.3)', () => {
    fc.assert(
      fc.property(fc.array(moves, { minLength: 10, maxLength: 60 }), fc.nat({ max: 40 }), (steps, from) => {
        const player = new Player();
        player.compares = false;
        steps.forEach((item, at) => {
          if (at === from) player.world.send({ kind: 'hold', request: 0, asset: ETH });
          player.play(item);
        });
        player.world.send({ kind: 'release', request: 0, fills: null });
        const free = player.world.journal.map((batch) => ({
          ...batch,
          inputs: batch.inputs.filter((input) => input.kind !== 'hold' && input.kind !== 'release'),
        }));
        assert.deepEqual([...stateLines(replayed(free))], [...stateLines(player.world.state)]);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
  });
});
