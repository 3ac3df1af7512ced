/**
 * What a price costs clearing's thread where many accounts borrow (LIQ-02): the time until the last account that it concerns has
 * been judged, and how long a fill can have to wait meanwhile.
 *
 *   a small tick      0.05 %: one pass over the thresholds of all, few accounts are judged
 *   a tick for all    every account is judged exactly, as after a gap or a changed risk row
 *
 * Work is done as in clearing-actor.ts, in the slices of Pacing and the steps of AtRiskAccounts; between two of them fills are
 * read. A wait is one such turn. Goals: 10,000 accounts in 20 ms, no wait above 5 ms with 100,000. All in CPU time of the process,
 * so that a busy machine changes little; the longest wait also by the clock.
 */

import { riskOf } from '../src/clearing/account-margin.ts';
import { applyBatch } from '../src/clearing/clearing.ts';
import { AtRiskAccounts } from '../src/clearing/liquidation/at-risk-accounts.ts';
import { type DetectionListener, Pacing } from '../src/clearing/liquidation/pacing.ts';
import { positionSlot, setLegs } from '../src/clearing/positions.ts';
import { riskSlot } from '../src/clearing/risks.ts';
import type { ClearingState, RiskSlot, SubAccountSlot } from '../src/clearing/state.ts';
import { InvariantError, must } from '../src/core/assert.ts';
import type { UserId } from '../src/core/ids.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../src/core/units.ts';
import { isAtRisk } from '../src/risk/at-risk.ts';
import { ETH, USD } from '../test/support/names.ts';
import { type BenchResult, type BenchRow, median, percentile, type Scale } from './bench-kit.ts';
import { T0, world } from './clearing-fixture.ts';

const ACCOUNTS: Readonly<Record<Scale, readonly number[]>> = { small: [1_000, 2_000], full: [10_000, 100_000] };
const TICKS: Readonly<Record<Scale, number>> = { small: 4, full: 8 };
const WARM_UP_TICKS = 3;
const PRICE = 2_000n;
/** A turn below this has found nothing to do. */
const IDLE_MS = 0.01;
/** Inputs of one batch while the accounts are made. */
const PER_BATCH = 1_000;

/** One tick, from the price to the last account judged. */
interface Tick {
  /** Of each turn: CPU milliseconds, and those of the clock. */
  readonly cpu: readonly number[];
  readonly waits: readonly number[];
  readonly judged: number;
}

class RiskBench {
  readonly #state: ClearingState = world();
  readonly #accounts: SubAccountSlot[] = [];
  readonly #risk: RiskSlot;
  readonly #pacing = new Pacing();
  readonly #atRisk = new AtRiskAccounts();
  #judged = 0;
  #ticks = 0n;
  readonly #listener: DetectionListener = {
    judged: (account, mayBeAtRisk) => {
      this.#judged += 1;
      this.#atRisk.judged(account, mayBeAtRisk);
    },
    pricesMoved: () => this.#atRisk.pricesMoved(),
  };

  constructor(count: number) {
    this.#risk = riskSlot(this.#state, ETH);
    for (let from = 0; from < count; from += PER_BATCH) this.#fund(from, Math.min(PER_BATCH, count - from));
    for (const account of this.#accounts) this.#sellShort(account);
    this.#run();
  }

  /** Accounts with spot USD, of which one in a hundred is close to liquidation when it is short 1. */
  #fund(from: number, count: number): void {
    const users = Array.from({ length: count }, (_, at) => (from + at).toString(16).padStart(64, '0') as UserId);
    const fund = { kind: 'faucet' as const, request: 0, subAccount: 1, asset: USD };
    const inputs = users.map((user, at) => ({
      ...fund,
      user,
      amount: (((from + at) % 100 === 0 ? 105n : 400n + BigInt((from + at) % 997)) * ONE_18) as Amount18,
    }));
    applyBatch(this.#state, { timeNs: T0, inputs, verdicts: [] }, []);
    for (const user of users) {
      this.#accounts.push(must(this.#state.users.get(user)?.subAccounts.get(1), 'a funded account'));
    }
  }

  /** Behind all batches: the other side of these legs is nowhere, so the ledger does not add up from here on. */
  #sellShort(account: SubAccountSlot): void {
    const usd = (PRICE * ONE_18) as Amount18;
    const legs = { base: -ONE_18 as Amount18, quote: usd, entry: usd };
    setLegs(this.#state, positionSlot(this.#state, account, ETH), legs);
  }

  /** @param price USD, 18 decimals. @param isForAll every account is judged. */
  tick(price: bigint, isForAll: boolean): Tick {
    this.#ticks += 1n;
    this.#risk.oracle = { price: price as Amount18, timeNs: this.#nowNs(), isTripped: false, goodUpdates: 0 };
    this.#risk.terms = null;
    if (isForAll) this.#risk.watchers.invalidate();
    this.#state.detection.assetChanged(this.#risk);
    this.#judged = 0;
    return { ...this.#run(), judged: this.#judged };
  }

  #nowNs(): TimestampNs {
    return (T0 + this.#ticks) as TimestampNs;
  }

  /** Turns until nothing waits to be judged. */
  #run(): Pick<Tick, 'cpu' | 'waits'> {
    const cpu: number[] = [];
    const waits: number[] = [];
    const elapsedMs = (): number => performance.now();
    const nowNs = this.#nowNs();
    while (this.#state.detection.hasWork) {
      const startedMs = elapsedMs();
      const before = process.cpuUsage();
      const steps = this.#pacing.poll(this.#state, { nowNs, elapsedMs }, this.#listener);
      if (steps.length > 0) throw new InvariantError('bench: an account is liquidated');
      this.#atRisk.poll(this.#state, { nowNs: () => nowNs, elapsedMs });
      const { user, system } = process.cpuUsage(before);
      const ms = elapsedMs() - startedMs;
      // A turn before the check is due does nothing.
      if (ms < IDLE_MS) continue;
      waits.push(ms);
      cpu.push((user + system) / 1_000);
    }
    return { cpu, waits };
  }

  /** @returns accounts at risk, by a walk through all. */
  countAtRisk(): number {
    return this.#accounts.filter((account) => isAtRisk(riskOf(account, this.#nowNs()))).length;
  }
}

export async function run(scale: Scale): Promise<BenchResult> {
  const rows: BenchRow[] = [];
  const checks: string[] = [];
  for (const count of ACCOUNTS[scale]) {
    const bench = new RiskBench(count);
    for (let warmUp = 0; warmUp < WARM_UP_TICKS; warmUp += 1) bench.tick(PRICE * ONE_18, true);
    const small: Tick[] = [];
    const all: Tick[] = [];
    for (let tick = 0; tick < TICKS[scale]; tick += 1) {
      // Up and down by 0.05 %: a surplus of 5 is the smallest.
      const price = tick % 2 === 0 ? PRICE * ONE_18 : (PRICE * ONE_18 * 10_005n) / 10_000n;
      small.push(bench.tick(price, false));
      all.push(bench.tick(price, true));
    }
    for (const { judged } of all)
      if (judged !== count) throw new InvariantError(`bench: ${judged} of ${count} were judged`);
    const ticks = [...small, ...all];
    const cpu = ticks.flatMap((tick) => tick.cpu);
    const total = (tick: Tick): number => tick.cpu.reduce((sum, ms) => sum + ms, 0);
    const label = `${count.toLocaleString('en-US')} accounts with borrows`;
    rows.push(
      { label: `${label}, a tick of 0.05 %`, value: median(small.map(total)), unit: 'ms' },
      { label: `${label}, a tick for all`, value: median(all.map(total)), unit: 'ms' },
      { label: `${label}, wait of a fill, p99`, value: percentile(cpu, 0.99), unit: 'ms' },
      { label: `${label}, wait of a fill, longest`, value: Math.max(...cpu), unit: 'ms' },
      { label: `${label}, the same by the clock`, value: Math.max(...ticks.flatMap((tick) => tick.waits)), unit: 'ms' },
    );
    checks.push(
      `${bench.countAtRisk()} of ${count} at risk, ${median(small.map(({ judged }) => judged))} judged after a small tick`,
    );
  }
  return { name: 'liquidation', rows, checks: checks.join('; ') };
}
