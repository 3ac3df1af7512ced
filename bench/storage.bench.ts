/**
 * The journal against a bare lmdb loop that writes the same bytes, and the cost of a checkpoint.
 *
 * Both write one value per flushed commit under an increasing key, in environments with the same options, in turn. The
 * journal adds a header, a copy and two SHA-256: of the payload, chained to the previous record.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrderRow, RowWrite, TradeRow } from '../src/clearing/rows.ts';
import { InvariantError } from '../src/core/assert.ts';
import type { OrderId, UserId } from '../src/core/ids.ts';
import { ORDER_END, ORDER_FLAG, ORDER_KIND, SIDE, TIF, TRIGGER, TRIGGER_STATE } from '../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../src/core/units.ts';
import { CheckpointWriter } from '../src/storage/checkpoint.ts';
import { openWriter, type StorageWriter } from '../src/storage/environment.ts';
import { History } from '../src/storage/history.ts';
import { Journal, readJournal } from '../src/storage/journal.ts';
import { EMPTY_ORDER } from '../test/support/empty-order.ts';
import { bareLoop } from './bare-lmdb.ts';
import { type BenchResult, type BenchRow, interleave, median, type Scale } from './bench-kit.ts';

const EVENT_BYTES = 200;
/** Header and hash of a journal record. */
const RECORD_BYTES = 96;
const TIME = 1n as TimestampNs;

interface Plan {
  readonly events: number;
  readonly commits: number;
}

const PLANS: Readonly<Record<Scale, readonly Plan[]>> = {
  small: [
    { events: 1, commits: 150 },
    { events: 100, commits: 100 },
    { events: 1_000, commits: 60 },
  ],
  full: [
    { events: 1, commits: 2_000 },
    { events: 100, commits: 1_500 },
    { events: 1_000, commits: 1_000 },
  ],
};
const ROUNDS: Readonly<Record<Scale, number>> = { small: 5, full: 9 };
/** Fills per checkpoint: of an ordinary one, and of a delayed one. */
const FILLS: readonly number[] = [2_000, 20_000];

/** Measures in a temporary directory. */
export async function run(scale: Scale): Promise<BenchResult> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-bench-'));
  try {
    const rows: BenchRow[] = [];
    const checks: string[] = [];
    for (const plan of PLANS[scale]) {
      const measured = await appends(join(directory, `${plan.events}`), plan, ROUNDS[scale]);
      rows.push(...measured.rows);
      checks.push(measured.check);
    }
    for (const fills of FILLS) {
      const checkpoints = await checkpointCost(join(directory, `checkpoints-${fills}`), fills, ROUNDS[scale]);
      rows.push(...checkpoints.rows);
      checks.push(checkpoints.check);
    }
    return { name: 'storage', rows, checks: checks.join('; ') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Measured {
  readonly rows: readonly BenchRow[];
  readonly check: string;
}

async function appends(directory: string, { events, commits }: Plan, rounds: number): Promise<Measured> {
  const payload = Buffer.alloc(events * EVENT_BYTES, 0x5a);
  const writer = openWriter(join(directory, 'journal'));
  const journal = new Journal(writer);
  const bare = bareLoop(join(directory, 'bare.mdb'), Buffer.alloc(payload.length + RECORD_BYTES, 0x5a));
  const perSecond = (round: () => void): number => {
    const startedMs = performance.now();
    for (let commit = 0; commit < commits; commit += 1) round();
    return (events * commits) / ((performance.now() - startedMs) / 1_000);
  };
  const [bareFigures = [], journalFigures = []] = await interleave(
    [
      { label: 'bare', round: () => perSecond(bare.commit) },
      { label: 'journal', round: () => perSecond(() => journal.append(TIME, payload)) },
    ],
    rounds,
  );
  let records = 0;
  for (const record of readJournal(writer, 1 as Sequence)) {
    if (Buffer.compare(record.payload, payload) !== 0) throw new InvariantError('bench: a payload came back changed');
    records += 1;
  }
  if (records !== commits * (rounds + 1)) throw new InvariantError('bench: a record is missing');
  await bare.close();
  await writer.close();
  const label = `${events} events of ${EVENT_BYTES} bytes a commit`;
  const ratios = journalFigures.map((figure, round) => figure / (bareFigures[round] ?? Number.NaN));
  return {
    rows: [
      { label: `${label}, bare loop`, value: median(bareFigures), unit: 'events/s' },
      { label: `${label}, journal`, value: median(journalFigures), unit: 'events/s' },
      { label: `${label}, journal over bare loop`, value: 100 * median(ratios), unit: '%' },
    ],
    check: `${records} records of ${events} events read back with their chain`,
  };
}

/** Checkpoints of fills between 50 users in 3 markets: each with its trade and one finished order. */
async function checkpointCost(directory: string, fills: number, rounds: number): Promise<Measured> {
  const writer = openWriter(directory);
  const journal = new Journal(writer);
  const checkpoints = new CheckpointWriter(writer);
  let written = 0;
  const round = (): number => {
    const rows = rowsOfFills(written, fills);
    const sequence = journal.append(TIME, Buffer.alloc(8));
    const startedMs = performance.now();
    const hash = journal.lastHash;
    checkpoints.write({ sequence, journalHash: hash, stateHash: hash, clean: false, journalBytes: 0, rows });
    written += fills;
    return performance.now() - startedMs;
  };
  const [figures = []] = await interleave([{ label: 'checkpoint', round }], rounds);
  checkTotal(writer, written);
  await writer.close();
  const ms = median(figures);
  return {
    rows: [
      { label: `checkpoint of ${fills} fills`, value: ms, unit: 'ms' },
      { label: `a fill in a checkpoint of ${fills}`, value: (1_000 * ms) / fills, unit: 'µs' },
    ],
    check: `${written} fills counted in the tables`,
  };
}

const MARKET_COUNT = 3;
const USERS = Array.from({ length: 50 }, (_, index) => index.toString(16).padStart(64, '0') as UserId);

function userAt(index: number): UserId {
  return USERS[index % USERS.length] as UserId;
}

function rowsOfFills(from: number, fills: number): readonly RowWrite[] {
  const rows: RowWrite[] = [];
  for (let fill = from + 1; fill <= from + fills; fill += 1) {
    const order = orderOf(fill);
    const { marketIndex, orderSequence } = order;
    rows.push({ table: 'trade', row: tradeOf(fill) }, { table: 'order', row: order });
    rows.push({ table: 'signedText', row: { marketIndex, orderSequence, text: TEXT, signatures: SIGNATURE } });
  }
  return rows;
}

function tradeOf(fill: number): TradeRow {
  const side = { subAccount: 1, orderSequence: fill as Sequence, fee: 1n as Amount18 };
  return {
    marketIndex: fill % MARKET_COUNT,
    tradeId: fill as Sequence,
    price: 300_000 as RawPrice,
    quantity: 10_000 as RawQuantity,
    matchedNs: BigInt(fill) as TimestampNs,
    takerSide: SIDE.buy,
    isLiquidation: false,
    isAutoDeleverage: false,
    maker: { ...side, user: userAt(fill * 7), orderId: `maker-order-${fill}` as OrderId },
    taker: { ...side, user: userAt(fill), orderId: `taker-order-${fill}` as OrderId },
  };
}

const TEXT = '{"order":"a signed text of usual length"}'.padEnd(450, ' ');
const SIGNATURE = new Uint8Array(64);

function orderOf(fill: number): OrderRow {
  const time = BigInt(fill) as TimestampNs;
  return {
    ...EMPTY_ORDER,
    marketIndex: fill % MARKET_COUNT,
    orderSequence: fill as Sequence,
    prioritySequence: fill as Sequence,
    user: userAt(fill),
    subAccount: 1,
    orderId: `taker-order-${fill}` as OrderId,
    side: SIDE.buy,
    kind: ORDER_KIND.limit,
    tif: TIF.ioc,
    flags: ORDER_FLAG.isSpot,
    price: 300_000 as RawPrice,
    quantity: 10_000 as RawQuantity,
    triggerKind: TRIGGER.none,
    triggerState: TRIGGER_STATE.live,
    enabledQuantity: 10_000,
    maxFeeRate: 1_000,
    creationNs: time,
    timestampNs: time,
    admittedNs: time,
    lastUpdateNs: time,
    filledQuantity: 10_000,
    filledNotional: (3_000n * 10n ** 18n) as Amount18,
    fees: 1n as Amount18,
    end: ORDER_END.filled,
    verdict: 1,
  };
}

/** Every fill must be in the lists of its taker. */
function checkTotal(writer: StorageWriter, fills: number): void {
  const history = new History(writer);
  const counted = USERS.reduce((sum, user) => {
    return sum + history.finishedOrders({ user, marketIndex: null, skip: 0, limit: 1 }).total;
  }, 0);
  if (counted !== fills) throw new InvariantError(`bench: ${fills} fills were written, ${counted} are counted`);
}
