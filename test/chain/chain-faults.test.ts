// tier: quick, 5 s
/**
 * Simulated chains against a real clearing state and a plain model, with faults from a seed: reorganisations of any depth,
 * replayed logs, providers with every fault, kills and starts. And the files that earlier versions have written.
 */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { DepositRequest } from '../../src/chain/chain-operations.ts';
import { ChainStore } from '../../src/chain/chain-store.ts';
import { PROVIDER_FAULTS } from '../../src/chain/simulated-chain.ts';
import type { ChainId, UserId } from '../../src/core/ids.ts';
import { CHAIN_ONE, SEED_USER_A, SEED_USER_B, seedAddress } from '../../src/operator/seed-data.ts';
import { ClearingFixture, mined } from '../support/clearing-fixture.ts';
import { USD } from '../support/names.ts';
import { propertyParameters } from '../support/property.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ONE = CHAIN_ONE as ChainId;
const USERS = [SEED_USER_A as UserId, SEED_USER_B as UserId];
const UNIT = 10n ** 18n;
/** Of chain 1. */
const CONFIRMATIONS = 4;
const PROVIDERS = 3;

interface PlainDeposit {
  readonly tx: string;
  readonly user: UserId;
  readonly usd: number;
}

/** Blocks with at most one deposit each; what a node must credit of them while a majority of its providers answers truly. */
class PlainNode {
  blocks: (PlainDeposit | null)[] = [];
  readonly next = new Map<UserId, number>();
  readonly credited = new Map<UserId, bigint>();
  /** What was answered for, in the place of its counter: user, counter, amount. */
  booked = new Set<string>();
  isStopped = false;

  /** User, counter and amount of each deposit of the first `count` blocks, with the amount. */
  deposits(count: number): readonly (readonly [string, PlainDeposit, number])[] {
    const counts = new Map<UserId, number>();
    return this.blocks.slice(0, count).flatMap((deposit) => {
      if (deposit === null) return [];
      const counter = counts.get(deposit.user) ?? 0;
      counts.set(deposit.user, counter + 1);
      return [[`${deposit.user}/${counter}/${deposit.usd}`, deposit, counter] as const];
    });
  }

  look(): void {
    const all = new Set(this.deposits(this.blocks.length).map(([what]) => what));
    if ([...this.booked].some((what) => !all.has(what))) this.isStopped = true;
    if (this.isStopped) return;
    for (const [what, { user, usd }, counter] of this.deposits(Math.max(this.blocks.length - CONFIRMATIONS + 1, 0))) {
      this.booked.add(what);
      if (counter !== (this.next.get(user) ?? 0)) continue;
      this.next.set(user, counter + 1);
      this.credited.set(user, (this.credited.get(user) ?? 0n) + BigInt(usd) * UNIT);
    }
  }

  resume(): void {
    const all = new Set(this.deposits(this.blocks.length).map(([what]) => what));
    this.booked = new Set([...this.booked].filter((what) => all.has(what)));
    this.isStopped = false;
    this.look();
  }
}

const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('deposit' as const),
      user: fc.nat(1),
      usd: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 7 }),
      more: fc.integer({ min: 0, max: 2 }),
      keep: fc.nat(255),
      isReversed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replay' as const), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      provider: fc.nat(PROVIDERS - 1),
      fault: fc.constantFrom(...PROVIDER_FAULTS),
      lagBlocks: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('resume' as const) }) },
);
type Step = typeof STEP extends fc.Arbitrary<infer One> ? One : never;

class Played {
  readonly fixture: ClearingFixture;
  readonly plain: PlainNode = new PlainNode();
  readonly #sent: string[] = [];

  constructor(fixture: ClearingFixture) {
    this.fixture = fixture;
  }

  async play(step: Step): Promise<void> {
    const { chains } = this.fixture;
    const { plain } = this;
    switch (step.kind) {
      case 'deposit': {
        const user = USERS[step.user] ?? (SEED_USER_A as UserId);
        const request: DepositRequest = {
          user,
          token: seedAddress('c0'),
          baseUnits: BigInt(step.usd) * 1_000_000n,
          from: seedAddress('aa'),
          approve: true,
          senderAllowed: true,
          confirm: false,
        };
        const { tx } = mined(await chains.simulated.deposit(ONE, request));
        this.#sent.push(tx);
        plain.blocks.push({ tx, user, usd: step.usd });
        return;
      }
      case 'mine':
        await chains.simulated.mine(ONE, step.blocks);
        plain.blocks.push(...Array.from({ length: step.blocks }, () => null));
        return;
      case 'reorg':
        return this.#reorganise(step);
      case 'replay': {
        const tx = this.#sent[step.pick % Math.max(this.#sent.length, 1)];
        if (tx !== undefined) assert.ok((await chains.simulated.replay(ONE, tx)).ok);
        return;
      }
      case 'fault': {
        // A minority: at most one of three has a fault.
        for (let provider = 0; provider < PROVIDERS; provider += 1) {
          const isIt = provider === step.provider;
          const lagBlocks = isIt && step.fault === 'lagging' ? step.lagBlocks : 0;
          assert.ok(
            (await chains.simulated.setProvider(ONE, provider, { fault: isIt ? step.fault : 'none', lagBlocks })).ok,
          );
        }
        return;
      }
      case 'kill':
        await this.fixture.restart();
        return;
      case 'resume':
        assert.ok((await chains.resume(ONE)).ok);
        plain.resume();
    }
  }

  async #reorganise({ depth, more, keep, isReversed }: Extract<Step, { kind: 'reorg' }>): Promise<void> {
    const { plain } = this;
    if (depth > plain.blocks.length) return;
    const replaced = plain.blocks.slice(-depth).filter((block) => block !== null);
    const kept = replaced.filter((_, at) => ((keep >> at) & 1) === 1);
    if (isReversed) kept.reverse();
    const blocks = depth + more;
    const done = await this.fixture.chains.simulated.reorganise(ONE, { depth, keep: kept.map(({ tx }) => tx), blocks });
    assert.ok(done.ok);
    assert.deepEqual(
      done.value.dropped,
      replaced.filter((deposit) => !kept.includes(deposit)).map(({ tx }) => tx),
    );
    plain.blocks = [
      ...plain.blocks.slice(0, -depth),
      ...kept,
      ...Array.from({ length: blocks - kept.length }, () => null),
    ];
    assert.equal(done.value.head, plain.blocks.length);
  }

  check(): void {
    const { fixture, plain } = this;
    plain.look();
    for (const user of USERS) assert.equal(fixture.usd(user), plain.credited.get(user) ?? 0n, `credits of ${user}`);
    const state = fixture.chains.watched().find(({ chainId }) => chainId === ONE);
    assert.ok(state !== undefined);
    assert.equal(state.stopped !== null, plain.isStopped, 'stopped');
  }
}

suite('simulated chains with faults', () => {
  test('every final deposit is credited once and in order, whatever a minority shows and whatever is replaced, replayed or killed; a credited one that is gone stops the chain (DEP-07 to DEP-10, AMB-74, AMB-84)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 25, size: 'max' }), async (steps) => {
        const fixture = await ClearingFixture.seeded();
        // Chains with so small deposits: no minimum.
        const played = new Played(fixture);
        for (const step of steps) {
          await played.play(step);
          played.check();
        }
        assert.deepEqual(fixture.failures, []);
        await fixture.chains.stop();
      }),
      propertyParameters(40),
    );
  });

  test('with any faults at any number of providers nothing false is credited, and all that is true once they are gone (DEP-07, DEP-10, AMB-84)', async () => {
    const faults = fc.array(
      fc.record({ fault: fc.constantFrom(...PROVIDER_FAULTS), lagBlocks: fc.integer({ min: 1, max: 5 }) }),
      { minLength: PROVIDERS, maxLength: PROVIDERS },
    );
    const rounds = fc.array(
      fc.record({
        faults,
        usd: fc.integer({ min: 1, max: 9 }),
        blocks: fc.integer({ min: 1, max: 5 }),
        kill: fc.boolean(),
      }),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    await fc.assert(
      fc.asyncProperty(rounds, async (list) => {
        const fixture = await ClearingFixture.seeded();
        const played = new Played(fixture);
        for (const { faults: chosen, usd, blocks, kill } of list) {
          for (const [provider, { fault, lagBlocks }] of chosen.entries()) {
            await fixture.chains.simulated.setProvider(ONE, provider, {
              fault,
              lagBlocks: fault === 'lagging' ? lagBlocks : 0,
            });
          }
          await played.play({ kind: 'deposit', user: 0, usd });
          await played.play({ kind: 'mine', blocks });
          if (kill) await fixture.restart();
          played.plain.look();
          const [user] = USERS;
          assert.ok(user !== undefined && fixture.usd(user) <= (played.plain.credited.get(user) ?? 0n));
        }
        for (let provider = 0; provider < PROVIDERS; provider += 1) {
          await fixture.chains.simulated.setProvider(ONE, provider, { fault: 'none', lagBlocks: 0 });
        }
        played.check();
        await fixture.chains.stop();
      }),
      propertyParameters(40),
    );
  });
});

suite('files of simulated chains', () => {
  const made = JSON.parse(readFileSync('test/fixtures/chain-watch-1.json', 'utf8')) as Readonly<
    Record<'running' | 'stopped', { readonly chain: string; readonly watch: string }>
  >;

  /** A node on the files of a version before the one watch of all chains; its ledger is a new one. */
  async function converted(which: 'running' | 'stopped'): Promise<ClearingFixture> {
    const fixture = await ClearingFixture.seeded();
    await fixture.chains.stop();
    fixture.directory = temporaryDirectory();
    const directory = join(fixture.directory, 'chains');
    mkdirSync(directory);
    writeFileSync(join(directory, `${ONE}.json`), made[which].chain);
    writeFileSync(join(directory, `${ONE}.watch.json`), made[which].watch);
    await fixture.restart();
    return fixture;
  }

  const [first, second] = USERS;

  test('a booked deposit that a shorter chain has not stops it at once, whatever its confirmations (AMB-74)', async () => {
    for (const [depth, blocks] of [
      [4, 1],
      [5, 2],
      [4, 4],
    ] as const) {
      const fixture = await converted('running');
      assert.ok((await fixture.chains.simulated.reorganise(ONE, { depth, keep: [], blocks })).ok);
      assert.deepEqual(fixture.stops, [[ONE, 'reorg']], `${depth} blocks are replaced by ${blocks}`);
      assert.ok((await fixture.chains.resume(ONE)).ok);
      assert.ok((await fixture.chains.simulated.mine(ONE, 9)).ok);
      assert.equal(fixture.stops.length, 2);
      await fixture.chains.stop();
    }
  });

  test('what an earlier version has booked of a chain stays expected: one that is dropped then stops it, after a start too (AMB-74)', async () => {
    const fixture = await converted('running');
    assert.deepEqual(
      readdirSync(join(fixture.directory, 'chains')).filter((name) => name.includes('watch')),
      [],
    );
    assert.deepEqual(fixture.stops, []);
    assert.deepEqual([fixture.usd(first), fixture.usd(second)], [5n * UNIT, 7n * UNIT]);
    await fixture.restart();
    assert.ok((await fixture.chains.simulated.reorganise(ONE, { depth: 4, keep: [], blocks: 5 })).ok);
    assert.deepEqual(fixture.stops, [[ONE, 'reorg']]);
    await fixture.chains.stop();
  });

  test('what an earlier version has booked and the chain has no longer stops it at the first start (AMB-74)', async () => {
    const fixture = await converted('running');
    await fixture.chains.stop();
    const { directory } = fixture;
    writeFileSync(join(directory, 'chains', `${ONE}.json`), made.stopped.chain);
    writeFileSync(join(directory, 'chains', `${ONE}.watch.json`), made.running.watch);
    rmSync(join(directory, 'evm'), { recursive: true });
    await fixture.restart();
    assert.deepEqual(fixture.stops, [[ONE, 'reorg']]);
    await fixture.chains.stop();
  });

  test('a chain that an earlier version has stopped is stopped until it is resumed, and stays resumed (AMB-74)', async () => {
    const fixture = await converted('stopped');
    assert.deepEqual(fixture.stops, [[ONE, 'reorg']]);
    assert.equal(fixture.usd(first), 0n, 'a stopped chain books nothing');
    assert.ok((await fixture.chains.resume(ONE)).ok);
    assert.deepEqual([fixture.usd(first), fixture.usd(second)], [5n * UNIT, 0n]);
    await fixture.restart();
    assert.deepEqual(fixture.stops, [
      [ONE, 'reorg'],
      [ONE, null],
    ]);
    await fixture.chains.stop();
  });

  test('a chain of format 1 is read: its deposits count, new ones come behind them, and its blocks are not replaced (DEP-10)', async () => {
    const fixture = await ClearingFixture.seeded();
    const deposit = async (confirm: boolean): Promise<void> => {
      const request = {
        user: USERS[0] as UserId,
        token: seedAddress('c0'),
        baseUnits: 5_000_000n,
        from: seedAddress('aa'),
      };
      mined(await fixture.chains.simulated.deposit(ONE, { ...request, approve: true, senderAllowed: true, confirm }));
    };
    await deposit(true);
    await deposit(false);
    await fixture.chains.stop();
    const store = new ChainStore(fixture.directory);
    const state = await store.load(ONE);
    assert.ok(state !== null);
    const { chainId, head, headNs, balances } = state;
    const blocks = state.blocks.map(({ sent: _sent, ...block }) => block);
    const exact = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
    const old = JSON.stringify({ format: 1, chainId, head, headNs, blocks, balances }, exact);
    const directory = join(temporaryDirectory(), 'chains');
    mkdirSync(directory);
    writeFileSync(join(directory, `${ONE}.json`), `${old}\n`);
    fixture.directory = join(directory, '..');
    await fixture.restart();
    assert.equal(fixture.usd(), 5n * UNIT);
    assert.deepEqual(await fixture.chains.simulated.counters(ONE, USERS[0] as UserId, 0), {
      ok: true,
      value: { depositCounts: 2, withdrawalCounts: 0, settlementCounts: 0 },
    });
    const refused = await fixture.chains.simulated.reorganise(ONE, { depth: 1, keep: [], blocks: 2 });
    assert.equal(refused.ok ? null : refused.reject.field, 'depth');
    await deposit(true);
    assert.equal(fixture.usd(), 15n * UNIT);
    const dropped = await fixture.chains.simulated.reorganise(ONE, { depth: 4, keep: [], blocks: 5 });
    assert.ok(dropped.ok && dropped.value.dropped.length === 1);
    assert.equal(fixture.world.owned(USERS[0] as UserId, USD), 15n * UNIT);
    assert.deepEqual(fixture.stops, [[ONE, 'reorg']]);
    // No majority decides about what was booked: the chain stays stopped, and the reply says so.
    for (const provider of [0, 1])
      assert.ok((await fixture.chains.simulated.setProvider(ONE, provider, { fault: 'unreachable', lagBlocks: 0 })).ok);
    const resumed = await fixture.chains.resume(ONE);
    assert.equal(resumed.ok ? null : resumed.reject.code, 'SERVICE_UNAVAILABLE');
    assert.deepEqual(fixture.stops, [[ONE, 'reorg']]);
    for (const provider of [0, 1])
      assert.ok((await fixture.chains.simulated.setProvider(ONE, provider, { fault: 'none', lagBlocks: 0 })).ok);
    assert.ok((await fixture.chains.resume(ONE)).ok);
    assert.deepEqual(fixture.stops, [
      [ONE, 'reorg'],
      [ONE, null],
    ]);
    await fixture.chains.stop();
  });
});
