/**
 * Confirmed fills a second on clearing's thread, from ring records to effects written: read, journaled and flushed,
 * applied, told, with a checkpoint whenever it is due. Beside it a bare lmdb loop that flushes the same bytes. Every fill
 * comes with the order that takes it; signatures are not checked here (verify.bench.ts).
 *
 * And what a price concerns: the maintenance margin of 10,000 accounts that owe the asset, computed anew.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { maintenanceOf } from '../src/clearing/account-margin.ts';
import { dirtyRowCount, drainDirtyRows } from '../src/clearing/checkpoint.ts';
import { checkLedger } from '../src/clearing/checks.ts';
import { applyBatch } from '../src/clearing/clearing.ts';
import type { Effect } from '../src/clearing/effects.ts';
import type { NewOrder, Verdict } from '../src/clearing/inputs.ts';
import { positionSlot, setLegs } from '../src/clearing/positions.ts';
import { riskSlot } from '../src/clearing/risks.ts';
import { type ClearingState, createClearingState } from '../src/clearing/state.ts';
import { InvariantError, must } from '../src/core/assert.ts';
import type { AssetId, OrderId, UserId } from '../src/core/ids.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, type Side, TIF, TRIGGER } from '../src/core/order-terms.ts';
import {
  type Amount18,
  ONE_18,
  type RawPrice,
  type RawQuantity,
  type Sequence,
  type TimestampNs,
} from '../src/core/units.ts';
import { type Views, viewsOf } from '../src/core/views.ts';
import { isLiquidatable } from '../src/margin/account.ts';
import { Matched, OrderAdmitted } from '../src/messages/generated/messages.ts';
import { type EffectSinks, type RecordSink, writeEffect } from '../src/node/effect-codec.ts';
import { BatchBuffer } from '../src/node/journal-batch.ts';
import { newOrderBytes, writeNewOrder } from '../src/node/order-codec.ts';
import { CheckpointWriter } from '../src/storage/checkpoint.ts';
import { openWriter, type StorageWriter } from '../src/storage/environment.ts';
import { Journal } from '../src/storage/journal.ts';
import { type BenchResult, interleave, median, type Scale } from './bench-kit.ts';

const T0 = 1_800_000_000_000_000_000n as TimestampNs;
const ETH = '2' as AssetId;
const USD = '0' as AssetId;
const TRADERS = Array.from({ length: 50 }, (_, at) => (at + 16).toString(16).padStart(64, 'a') as UserId);
const TEXT = '{"order":"a signed text of usual length"}'.padEnd(450, ' ');
const FILLS_PER_BATCH = 500;
/** As a node is configured: a checkpoint is due with so many changed rows. */
const CHECKPOINT_ROWS = 4_000;
const MAKER_LOTS = 10_000_000_000_000;

const BATCHES: Readonly<Record<Scale, number>> = { small: 8, full: 60 };
const ROUNDS: Readonly<Record<Scale, number>> = { small: 3, full: 9 };
const TICKS: Readonly<Record<Scale, number>> = { small: 20, full: 200 };
const HOLDERS = 10_000;

export async function run(scale: Scale): Promise<BenchResult> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-bench-'));
  try {
    const spot = new Desk(join(directory, 'spot'), ORDER_FLAG.isSpot);
    const margin = new Desk(join(directory, 'margin'), 0);
    const bare = bareLoop(join(directory, 'bare.mdb'), Buffer.alloc(spot.batchBytes(), 0x5a));
    const batches = BATCHES[scale];
    const [bareFigures = [], spotFigures = [], marginFigures = []] = await interleave(
      [
        { label: 'bare', round: () => perSecond(batches, bare.commit) },
        { label: 'spot', round: () => perSecond(batches, () => spot.batch()) },
        { label: 'margin', round: () => perSecond(batches, () => margin.batch()) },
      ],
      ROUNDS[scale],
    );
    await bare.close();
    const fills = [await spot.end(), await margin.end()];
    const tick = recheck(TICKS[scale]);
    const label = `batches of ${FILLS_PER_BATCH}`;
    return {
      name: 'clearing',
      rows: [
        { label: `${label}, bare loop of the same bytes`, value: median(bareFigures), unit: 'fills/s' },
        { label: `${label}, spot, checkpoints included`, value: median(spotFigures), unit: 'fills/s' },
        { label: `${label}, margin, checkpoints included`, value: median(marginFigures), unit: 'fills/s' },
        { label: `margin of ${HOLDERS} accounts after a price`, value: tick.ms, unit: 'ms' },
      ],
      checks: `${fills.join(' and ')} fills confirmed, both ledgers recounted; ${tick.liquidatable} accounts below maintenance`,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function perSecond(batches: number, batch: () => void): number {
  const startedMs = performance.now();
  for (let count = 0; count < batches; count += 1) batch();
  return (batches * FILLS_PER_BATCH) / ((performance.now() - startedMs) / 1_000);
}

function bareLoop(path: string, value: Buffer): { commit(): void; close(): Promise<void> } {
  const map = open<Uint8Array, Uint8Array>({
    path,
    noSubdir: true,
    mapSize: 64 * 2 ** 30,
    keyEncoding: 'binary',
    encoding: 'binary',
    overlappingSync: false,
  });
  const key = Buffer.alloc(9);
  let sequence = 0;
  return {
    commit: () => {
      sequence += 1;
      key.writeBigUInt64BE(BigInt(sequence), 1);
      map.transactionSync(() => map.putSync(key, value));
    },
    close: () => map.close(),
  };
}

/** Takes everything and keeps nothing. */
class Sink implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(1 << 16), 0, 1 << 16);
  claim(): number {
    return 0;
  }
  commit(): void {}
}

/** USD and ETH with a market, an oracle price, and traders with plenty in account 1. */
function world(): ClearingState {
  const state = createClearingState();
  const put = { request: 0, method: 'put' as const };
  const inputs = [
    { kind: 'putAsset' as const, ...put, assetId: USD, body: { symbol: 'USD' } },
    { kind: 'putAsset' as const, ...put, assetId: ETH, body: { symbol: 'ETH' } },
    { kind: 'putRisk' as const, ...put, assetId: ETH, body: { collateral_factor: 90, liability_factor: 95 } },
    {
      kind: 'putMarket' as const,
      ...put,
      assetId: ETH,
      body: { book_price_decimals: 2, book_quantity_decimals: 4, taker_fee_rate: 450 },
    },
    { kind: 'setPrices' as const, request: 0, body: { prices: [{ asset_id: ETH, price: '2000' }] } },
    ...TRADERS.flatMap((user) =>
      [USD, ETH].map((asset) => ({
        kind: 'faucet' as const,
        request: 0,
        body: { user_id: user, sub_account: 1, asset_id: asset, amount: '10000000000' },
      })),
    ),
  ];
  applyBatch(state, { timeNs: T0, inputs, verdicts: [] }, []);
  return state;
}

function orderOf(user: UserId, side: Side, flags: number, name: string, quantity: number): NewOrder {
  return {
    user,
    subAccount: 1,
    orderId: name as OrderId,
    side,
    kind: ORDER_KIND.limit,
    tif: TIF.gtc,
    flags,
    price: 200_000 as RawPrice,
    quantity: quantity as RawQuantity,
    amount: 0,
    budget: 0,
    triggerKind: TRIGGER.none,
    triggerPrice: 0 as RawPrice,
    parentId: '',
    maxFeeRate: 1_000,
    creationNs: T0,
    goodUntilNs: 0n as TimestampNs,
    expiryNs: (T0 + 2_592_000_000_000_000n) as TimestampNs,
    text: TEXT,
    signature: new Uint8Array(64),
  };
}

/** Clearing without its thread: two resting makers, one a side, and takers that each match one lot of 1. */
class Desk {
  private readonly state = world();
  private readonly writer: StorageWriter;
  private readonly journal: Journal;
  private readonly checkpoints: CheckpointWriter;
  private readonly buffer = new BatchBuffer();
  private readonly record = viewsOf(new ArrayBuffer(4_096), 0, 4_096);
  private readonly sinks: EffectSinks;
  private readonly flags: number;
  private sequence = 0;
  private trades = 0;
  private confirmed = 0;
  private verdicts: Verdict[] = [];
  private timeNs: bigint = T0;

  constructor(directory: string, flags: number) {
    this.writer = openWriter(directory);
    this.journal = new Journal(this.writer);
    this.checkpoints = new CheckpointWriter(this.writer);
    this.flags = flags;
    const sink = new Sink();
    this.sinks = { door: sink, data: sink, shards: [sink], market: () => sink };
    for (const side of [SIDE.sell, SIDE.buy]) this.admit(must(TRADERS[0], 'a maker'), side, MAKER_LOTS);
    this.commit();
  }

  /** Bytes of one batch, as journaled. */
  batchBytes(): number {
    const place = [this.sequence, this.trades] as const;
    this.fill();
    const { bytes } = this.buffer;
    this.buffer.clear();
    this.verdicts = [];
    [this.sequence, this.trades] = place;
    return bytes;
  }

  batch(): void {
    this.fill();
    this.commit();
  }

  /** @returns how many fills were confirmed; all of them, or it throws. */
  async end(): Promise<number> {
    checkLedger(this.state);
    if (this.confirmed !== this.trades) throw new InvariantError('bench: a fill was not confirmed');
    await this.writer.close();
    return this.confirmed;
  }

  private fill(): void {
    for (let count = 0; count < FILLS_PER_BATCH; count += 1) {
      const user = must(TRADERS[1 + (count % (TRADERS.length - 1))], 'a taker');
      const side = count % 2 === 0 ? SIDE.buy : SIDE.sell;
      const taker = this.admit(user, side, 10_000);
      this.match(side === SIDE.buy ? 1 : 2, taker, side);
    }
  }

  private admit(user: UserId, side: Side, lots: number): number {
    this.sequence += 1;
    const order = orderOf(user, side, this.flags, `order-${this.sequence}`, lots);
    const v = this.record;
    OrderAdmitted.setSequence(v, 0, this.sequence);
    OrderAdmitted.setTimeNs(v, 0, this.timeNs);
    OrderAdmitted.setParent(v, 0, 0);
    OrderAdmitted.setMarketIndex(v, 0, 0);
    OrderAdmitted.setRefusal(v, 0, 0);
    writeNewOrder(v, OrderAdmitted.bytes, order, { requestId: 0, receivedNs: T0, marketIndex: 0 });
    this.buffer.add(OrderAdmitted.typeId, v, 0, OrderAdmitted.bytes + newOrderBytes(order));
    this.verdicts.push({ marketIndex: 0, order: this.sequence as Sequence, valid: true });
    return this.sequence;
  }

  private match(maker: number, taker: number, takerSide: Side): void {
    this.sequence += 1;
    this.trades += 1;
    const v = this.record;
    Matched.setSequence(v, 0, this.sequence);
    Matched.setTimeNs(v, 0, this.timeNs);
    Matched.setTradeId(v, 0, this.trades);
    Matched.setMakerOrder(v, 0, maker);
    Matched.setTakerOrder(v, 0, taker);
    Matched.setPrice(v, 0, 200_000);
    Matched.setQuantity(v, 0, 10_000);
    Matched.setMarketIndex(v, 0, 0);
    Matched.setMakerFeeRate(v, 0, 0);
    Matched.setTakerFeeRate(v, 0, 450);
    Matched.setTakerSide(v, 0, takerSide);
    Matched.setUnit(v, 0, 0);
    this.buffer.add(Matched.typeId, v, 0, Matched.bytes);
  }

  /** What the thread does with a drained batch (clearing-actor.ts). */
  private commit(): void {
    this.timeNs += 1_000_000n;
    const timeNs = this.timeNs as TimestampNs;
    const { verdicts } = this;
    const inputs = this.buffer.inputs();
    const sequence = this.journal.append(timeNs, this.buffer.seal(timeNs, verdicts));
    const effects: Effect[] = [];
    applyBatch(this.state, { timeNs, inputs, verdicts }, effects);
    for (const effect of effects) {
      writeEffect(effect, this.sinks);
      if (effect.kind === 'fillConfirmed') this.confirmed += 1;
    }
    this.buffer.clear();
    this.verdicts = [];
    if (dirtyRowCount(this.state) < CHECKPOINT_ROWS) return;
    const { lastHash } = this.journal;
    const rows = drainDirtyRows(this.state);
    this.checkpoints.write({
      sequence,
      journalHash: lastHash,
      stateHash: lastHash,
      clean: false,
      journalBytes: 0,
      rows,
    });
  }
}

/** Accounts with spot USD and a short, found through the asset's index and computed anew at each price. */
function recheck(ticks: number): { readonly ms: number; readonly liquidatable: number } {
  const state = world();
  const users = Array.from({ length: HOLDERS }, (_, at) => at.toString(16).padStart(64, '0') as UserId);
  const fund = (user: UserId) => ({ user_id: user, sub_account: 1, asset_id: USD, amount: '300' });
  const inputs = users.map((user) => ({ kind: 'faucet' as const, request: 0, body: fund(user) }));
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
