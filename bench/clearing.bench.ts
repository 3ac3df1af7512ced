/**
 * Confirmed fills per second on clearing's thread (clearing-fixture.ts), spot and margin; for comparison a bare lmdb loop
 * that flushes the same bytes. The CPU time of a fill includes the threads of the garbage collector, but not waits for
 * the disk.
 *
 * The same with what is decided recorded for the row log (src/clearing/outcomes.ts), in turn; and rows made of that.
 *
 * Also the effect of a price change: the maintenance margin of 10,000 accounts with a debt in the asset, recomputed.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { maintenanceOf } from '../src/clearing/account-margin.ts';
import { applyBatch } from '../src/clearing/clearing.ts';
import { positionSlot, setLegs } from '../src/clearing/positions.ts';
import { riskSlot } from '../src/clearing/risks.ts';
import { must } from '../src/core/assert.ts';
import type { UserId } from '../src/core/ids.ts';
import { ORDER_FLAG } from '../src/core/order-terms.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../src/core/units.ts';
import { viewsOf } from '../src/core/views.ts';
import { RowWriter } from '../src/evidence/row-bytes.ts';
import { CLEARING_YOUNG_MEBIBYTES } from '../src/node/topology.ts';
import { isLiquidatable } from '../src/risk/account.ts';
import { ETH, USD } from '../test/support/names.ts';
import { bareLoop } from './bare-lmdb.ts';
import { type BenchResult, type BenchRow, interleave, median, type Scale } from './bench-kit.ts';
import { FILLS_PER_BATCH, T0, world } from './clearing-fixture.ts';
import type { FixtureRound, FixtureSetUp } from './clearing-fixture-task.ts';

const BATCHES: Readonly<Record<Scale, number>> = { small: 3, full: 60 };
const ROUNDS: Readonly<Record<Scale, number>> = { small: 1, full: 9 };
const TICKS: Readonly<Record<Scale, number>> = { small: 5, full: 200 };
const HOLDERS = 10_000;

export async function run(scale: Scale): Promise<BenchResult> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-bench-'));
  try {
    const spot = new Contest(join(directory, 'spot'), ORDER_FLAG.isSpot, 'spot');
    const spotRows = new Contest(
      join(directory, 'spot-rows'),
      ORDER_FLAG.isSpot,
      'spot, recorded for the row log',
      true,
    );
    const margin = new Contest(join(directory, 'margin'), 0, 'margin');
    const marginRows = new Contest(join(directory, 'margin-rows'), 0, 'margin, recorded for the row log', true);
    await spot.round(1);
    const bare = bareLoop(join(directory, 'bare.mdb'), Buffer.alloc(spot.batchBytes, 0x5a));
    const batches = BATCHES[scale];
    const [bareFigures = [], spotFigures = [], spotRowsFigures = [], marginFigures = [], marginRowsFigures = []] =
      await interleave(
        [
          { label: 'bare', round: () => perSecond(batches, bare.commit) },
          { label: 'spot', round: () => spot.round(batches) },
          { label: 'spot rows', round: () => spotRows.round(batches) },
          { label: 'margin', round: () => margin.round(batches) },
          { label: 'margin rows', round: () => marginRows.round(batches) },
        ],
        ROUNDS[scale],
      );
    await bare.close();
    const fills = [await spot.end(), await spotRows.end(), await margin.end(), await marginRows.end()];
    const tick = recheck(TICKS[scale]);
    const label = `batches of ${FILLS_PER_BATCH}`;
    return {
      name: 'clearing',
      rows: [
        { label: `${label}, bare loop of the same bytes`, value: median(bareFigures), unit: 'fills/s' },
        ...spot.rows(label, spotFigures),
        ...spotRows.rows(label, spotRowsFigures),
        ...margin.rows(label, marginFigures),
        ...marginRows.rows(label, marginRowsFigures),
        ...encoding('spot', must(spotRows.outcomes, 'what was recorded'), scale),
        ...encoding('margin', must(marginRows.outcomes, 'what was recorded'), scale),
        { label: `margin of ${HOLDERS} accounts after a price`, value: tick.ms, unit: 'ms' },
      ],
      checks: `${fills.join(', ')} fills confirmed, all ledgers recounted; ${tick.liquidatable} accounts below maintenance`,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The rounds of one rig, on a thread with clearing's memory settings. */
class Contest {
  batchBytes = 0;
  /** Of its last batch. */
  outcomes: Uint8Array | null = null;
  readonly #worker: Worker;
  readonly #label: string;
  readonly #cpuMicros: number[] = [];

  /** @param flags bits of ORDER_FLAG. @param records whether what is decided is recorded for the row log. */
  constructor(directory: string, flags: number, label: string, records = false) {
    const workerData: FixtureSetUp = { directory, flags, records };
    const resourceLimits = { maxYoungGenerationSizeMb: CLEARING_YOUNG_MEBIBYTES };
    this.#worker = new Worker(new URL('./clearing-fixture-task.js', import.meta.url), { workerData, resourceLimits });
    this.#label = label;
  }

  async round(batches: number): Promise<number> {
    const { elapsedMs, cpuMicros, batchBytes, outcomes } = (await this.#request(batches)) as FixtureRound;
    this.batchBytes = batchBytes;
    this.outcomes = outcomes;
    this.#cpuMicros.push(cpuMicros / (batches * FILLS_PER_BATCH));
    return (batches * FILLS_PER_BATCH) / (elapsedMs / 1_000);
  }

  /** @returns the number of confirmed fills; the thread throws unless all are. */
  async end(): Promise<number> {
    const confirmed = (await this.#request(0)) as number;
    await this.#worker.terminate();
    return confirmed;
  }

  rows(label: string, figures: readonly number[]): readonly BenchRow[] {
    // As many as there are figures: earlier ones are warm-up.
    const cpu = median(this.#cpuMicros.slice(-figures.length));
    return [
      { label: `${label}, ${this.#label}, checkpoints included`, value: median(figures), unit: 'fills/s' },
      { label: `${label}, ${this.#label}, CPU time of a fill`, value: cpu, unit: 'µs' },
    ];
  }

  /** `once` throws the error of the thread. */
  async #request(batches: number): Promise<unknown> {
    const answer = once(this.#worker, 'message');
    this.#worker.postMessage(batches);
    const [value] = (await answer) as [unknown];
    return value;
  }
}

/** What recorded outcomes take, and rows made of them (src/evidence/row-bytes.ts), which is another thread's work. */
function encoding(label: string, outcomes: Uint8Array, scale: Scale): readonly BenchRow[] {
  const copy = outcomes.slice();
  const views = viewsOf(copy.buffer, 0, copy.length);
  const writer = new RowWriter();
  const next = { n: 1, previous: '0'.repeat(64) };
  const sink = { nextOf: () => next, row: (): void => undefined };
  const encode = (): { readonly count: number; readonly bytes: Uint8Array } =>
    writer.write({ sequence: 1, timeNs: T0 }, views, 0, copy.length, sink);
  const { count, bytes } = encode();
  const times = Array.from({ length: TICKS[scale] }, () => {
    const startedMs = performance.now();
    encode();
    return ((performance.now() - startedMs) * 1_000) / count;
  });
  return [
    { label: `${label}, outcomes of a fill with its taker order`, value: copy.length / FILLS_PER_BATCH, unit: 'bytes' },
    { label: `${label}, rows of it`, value: count / FILLS_PER_BATCH, unit: 'rows' },
    { label: `${label}, their bytes`, value: bytes.length / FILLS_PER_BATCH, unit: 'bytes' },
    { label: `${label}, the same deflated`, value: gzipSync(bytes).length / FILLS_PER_BATCH, unit: 'bytes' },
    { label: `${label}, a row made`, value: median(times), unit: 'µs' },
  ];
}

function perSecond(batches: number, batch: () => void): number {
  const startedMs = performance.now();
  for (let count = 0; count < batches; count += 1) batch();
  return (batches * FILLS_PER_BATCH) / ((performance.now() - startedMs) / 1_000);
}

/** Accounts with spot USD and a short position, found through the asset's index and recomputed at each price. */
function recheck(ticks: number): { readonly ms: number; readonly liquidatable: number } {
  const state = world();
  const users = Array.from({ length: HOLDERS }, (_, at) => at.toString(16).padStart(64, '0') as UserId);
  const fund = { kind: 'faucet' as const, request: 0, subAccount: 1, asset: USD, amount: (300n * ONE_18) as Amount18 };
  const inputs = users.map((user) => ({ ...fund, user }));
  applyBatch(state, { timeNs: T0, inputs, verdicts: [] }, []);
  const accounts = users.map((user) => must(state.users.get(user)?.subAccounts.get(1), 'a funded account'));
  for (const account of accounts) {
    const legs = {
      base: -ONE_18 as Amount18,
      quote: (2_000n * ONE_18) as Amount18,
      entry: (2_000n * ONE_18) as Amount18,
    };
    setLegs(state, positionSlot(state, account, ETH), legs);
  }
  const risk = riskSlot(state, ETH);
  const times: number[] = [];
  let liquidatable = 0;
  for (let tick = 0; tick < ticks; tick += 1) {
    const price = ((2_000n + 20n * BigInt(tick)) * ONE_18) as Amount18;
    const nowNs = (T0 + BigInt(tick)) as TimestampNs;
    risk.oracle = { price, timeNs: nowNs, isTripped: false, goodUpdates: 0 };
    risk.terms = null;
    const startedMs = performance.now();
    liquidatable = 0;
    for (const account of accounts) if (isLiquidatable(maintenanceOf(account, nowNs))) liquidatable += 1;
    times.push(performance.now() - startedMs);
  }
  return { ms: median(times), liquidatable };
}
