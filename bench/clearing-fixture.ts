/**
 * Clearing without its thread, for clearing.bench.ts: reads ring records as a market writes them; journals and flushes,
 * applies and publishes them; makes a checkpoint when one is due, like clearing-actor.ts. Every fill comes with its
 * taker order. Signatures count as valid without verification (verify.bench.ts).
 *
 *   prepare(n)   writes the records of n batches as in the ring; not measured
 *   batch()      processes the next batch
 */

import { checkLedger } from '../src/clearing/checks.ts';
import { applyBatch, verdictsNeeded } from '../src/clearing/clearing.ts';
import { type EffectSinks, type RecordSink, writeEffect } from '../src/clearing/effect-codec.ts';
import type { Effect } from '../src/clearing/effects.ts';
import { BatchBuffer } from '../src/clearing/journal-batch.ts';
import { OutcomeRecorder } from '../src/clearing/outcomes.ts';
import type { OrderRow } from '../src/clearing/rows.ts';
import { nativeSha256 } from '../src/clearing/sha256.ts';
import { type ClearingState, createClearingState } from '../src/clearing/state.ts';
import { dirtyRowCount, drainDirtyRows } from '../src/clearing/tables.ts';
import { InvariantError, must } from '../src/core/assert.ts';
import type { OrderId, UserId } from '../src/core/ids.ts';
import { ORDER_KIND, SIDE, type Side, TIF, TRIGGER, TRIGGER_STATE } from '../src/core/order-terms.ts';
import {
  type Amount18,
  ONE_18,
  type RawPrice,
  type RawQuantity,
  type Sequence,
  type TimestampNs,
} from '../src/core/units.ts';
import { type Views, viewsOf } from '../src/core/views.ts';
import { writeText } from '../src/schema/fields.ts';
import { Matched, NewOrder, OrderAdmitted } from '../src/schema/generated/messages.ts';
import { CheckpointWriter } from '../src/storage/checkpoint.ts';
import { openWriter, type StorageWriter } from '../src/storage/environment.ts';
import { Journal } from '../src/storage/journal.ts';
import { EMPTY_ORDER } from '../test/support/empty-order.ts';
import { ETH, USD } from '../test/support/names.ts';

export const T0 = 1_800_000_000_000_000_000n as TimestampNs;
export const FILLS_PER_BATCH = 500;
const TRADERS = Array.from({ length: 50 }, (_, at) => (at + 16).toString(16).padStart(64, 'a') as UserId);
const TEXT = '{"order":"a signed text of usual length"}'.padEnd(450, ' ');
const SIGNATURE = new Uint8Array(NewOrder.signatureLength);
/** The node's default: a checkpoint is due after this many changed rows. */
const CHECKPOINT_ROWS = 6_000;
const MAKER_LOTS = 10_000_000_000_000;
/** Upper bound of the records made here. */
const RECORD_BYTES_MAX = 1_024;

/** Accepts every record and discards it. */
class Sink implements RecordSink {
  readonly views: Views = viewsOf(new ArrayBuffer(1 << 16), 0, 1 << 16);
  claim(): number {
    return 0;
  }
  commit(): void {}
}

/** USD and ETH with a market, an oracle price, and traders with plenty in account 1. */
export function world(): ClearingState {
  const state = createClearingState(nativeSha256);
  const put = { request: 0, method: 'put' as const };
  const inputs = [
    { kind: 'putAsset' as const, ...put, assetId: USD, change: { symbol: 'USD' } },
    { kind: 'putAsset' as const, ...put, assetId: ETH, change: { symbol: 'ETH' } },
    { kind: 'putRisk' as const, ...put, assetId: ETH, change: { collateral_factor: 90, liability_factor: 95 } },
    {
      kind: 'putMarket' as const,
      ...put,
      assetId: ETH,
      change: { priceDecimals: 2, quantityDecimals: 4, takerFeeRate: 450 },
    },
    {
      kind: 'setPrices' as const,
      request: 0,
      prices: [{ asset: ETH, price: (2_000n * ONE_18) as Amount18, publishNs: null, source: 'bench' }],
    },
    ...TRADERS.flatMap((user) =>
      [USD, ETH].map((asset) => ({
        kind: 'faucet' as const,
        request: 0,
        user,
        subAccount: 1,
        asset,
        amount: (10_000_000_000n * ONE_18) as Amount18,
      })),
    ),
  ];
  applyBatch(state, { timeNs: T0, inputs, verdicts: [] }, []);
  return state;
}

/** The terms of an order; its market, sequence and times are those of its admission. */
function orderOf(user: UserId, side: Side, flags: number, sequence: Sequence, quantity: number): OrderRow {
  return {
    ...EMPTY_ORDER,
    orderSequence: sequence,
    prioritySequence: sequence,
    user,
    subAccount: 1,
    orderId: `order-${sequence}` as OrderId,
    side,
    kind: ORDER_KIND.limit,
    tif: TIF.gtc,
    flags,
    price: 200_000 as RawPrice,
    quantity: quantity as RawQuantity,
    triggerKind: TRIGGER.none,
    triggerState: TRIGGER_STATE.live,
    enabledQuantity: quantity,
    maxFeeRate: 1_000,
    creationNs: T0,
    timestampNs: T0,
    admittedNs: T0,
    lastUpdateNs: T0,
  };
}

/** Consecutive ring records, as written by a market. */
class Records {
  #views: Views = viewsOf(new ArrayBuffer(0), 0, 0);
  #places: { readonly typeId: number; readonly at: number; readonly bytes: number }[] = [];
  #end = 0;
  #next = 0;

  /** Allocates space for so many records and discards earlier ones. */
  begin(count: number): void {
    const bytes = count * RECORD_BYTES_MAX;
    if (this.#views.u8.length < bytes) this.#views = viewsOf(new ArrayBuffer(bytes), 0, bytes);
    this.#places = [];
    this.#end = 0;
    this.#next = 0;
  }

  add(typeId: number, bytes: number, write: (v: Views, at: number) => void): void {
    write(this.#views, this.#end);
    this.#places.push({ typeId, at: this.#end, bytes });
    this.#end += (bytes + 7) & ~7;
  }

  take(count: number, into: BatchBuffer): void {
    for (const end = this.#next + count; this.#next < end; this.#next += 1) {
      const { typeId, at, bytes } = must(this.#places[this.#next], 'a record that was prepared');
      into.add(typeId, this.#views, at, bytes);
    }
  }
}

/** Two resting makers, one a side, and takers that each match one lot of 1. */
export class ClearingFixture {
  readonly #state = world();
  readonly #writer: StorageWriter;
  readonly #journal: Journal;
  readonly #checkpoints: CheckpointWriter;
  readonly #records = new Records();
  readonly #buffer = new BatchBuffer();
  readonly #sinks: EffectSinks;
  readonly #flags: number;
  #sequence = 0;
  #trades = 0;
  #confirmed = 0;
  #timeNs: bigint = T0;

  /** @param flags bits of ORDER_FLAG: spot or margin. @param records whether what is decided is recorded. */
  constructor(directory: string, flags: number, records: boolean) {
    if (records) this.#state.outcomes = new OutcomeRecorder();
    this.#writer = openWriter(directory);
    this.#journal = new Journal(this.#writer);
    this.#checkpoints = new CheckpointWriter(this.#writer);
    this.#flags = flags;
    const sink = new Sink();
    this.#sinks = { gateway: sink, data: sink, shards: [sink], market: () => sink };
    this.#records.begin(2);
    for (const side of [SIDE.sell, SIDE.buy]) this.#admit(must(TRADERS[0], 'a maker'), side, MAKER_LOTS);
    this.#records.take(2, this.#buffer);
    this.#commit();
  }

  prepare(batches: number): void {
    this.#records.begin(2 * FILLS_PER_BATCH * batches);
    for (let count = 0; count < FILLS_PER_BATCH * batches; count += 1) {
      const user = must(TRADERS[1 + (count % (TRADERS.length - 1))], 'a taker');
      const side = count % 2 === 0 ? SIDE.buy : SIDE.sell;
      const taker = this.#admit(user, side, 10_000);
      this.#match(side === SIDE.buy ? 1 : 2, taker, side);
    }
  }

  /** @returns the size of its journal record. */
  batch(): number {
    this.#records.take(2 * FILLS_PER_BATCH, this.#buffer);
    return this.#commit();
  }

  /** What the last batch decided, as bytes; null where nothing is recorded. */
  outcomes(): Uint8Array | null {
    return this.#state.outcomes?.bytes.slice() ?? null;
  }

  /** @returns the number of confirmed fills; throws unless all are. */
  async end(): Promise<number> {
    checkLedger(this.#state);
    if (this.#confirmed !== this.#trades) throw new InvariantError('bench: a fill was not confirmed');
    await this.#writer.close();
    return this.#confirmed;
  }

  #admit(user: UserId, side: Side, lots: number): number {
    this.#sequence += 1;
    const sequence = this.#sequence as Sequence;
    const order = orderOf(user, side, this.#flags, sequence, lots);
    this.#records.add(OrderAdmitted.typeId, OrderAdmitted.bytes + NewOrder.bytes + TEXT.length, (v, at) => {
      OrderAdmitted.write(v, at, { sequence, timeNs: this.#timeNs as TimestampNs, marketIndex: 0, refusal: 0 });
      const create = at + OrderAdmitted.bytes;
      NewOrder.write(v, create, {
        requestId: 0,
        receivedNs: T0,
        order,
        signature: SIGNATURE,
        textBytes: TEXT.length,
        signaturesBytes: 0,
      });
      writeText(v, create + NewOrder.bytes, TEXT);
    });
    return this.#sequence;
  }

  #match(maker: number, taker: number, takerSide: Side): void {
    this.#sequence += 1;
    this.#trades += 1;
    this.#records.add(Matched.typeId, Matched.bytes, (v, at) => {
      Matched.setSequence(v, at, this.#sequence);
      Matched.setTimeNs(v, at, this.#timeNs);
      Matched.setTradeId(v, at, this.#trades);
      Matched.setMakerOrder(v, at, maker);
      Matched.setTakerOrder(v, at, taker);
      Matched.setPrice(v, at, 200_000);
      Matched.setQuantity(v, at, 10_000);
      Matched.setMarketIndex(v, at, 0);
      Matched.setMakerFeeRate(v, at, 0);
      Matched.setTakerFeeRate(v, at, 450);
      Matched.setTakerSide(v, at, takerSide);
      Matched.setGroup(v, at, 0);
    });
  }

  /** Commits a drained batch like the thread (clearing-actor.ts). */
  #commit(): number {
    this.#timeNs += 1_000_000n;
    const timeNs = this.#timeNs as TimestampNs;
    const inputs = this.#buffer.inputs();
    const verdicts = verdictsNeeded(this.#state, inputs).map(({ row }) => ({
      marketIndex: row.marketIndex,
      order: row.orderSequence,
      valid: true,
    }));
    const payload = this.#buffer.seal(timeNs, verdicts);
    const sequence = this.#journal.append(timeNs, payload);
    this.#buffer.clear();
    const effects: Effect[] = [];
    applyBatch(this.#state, { timeNs, inputs, verdicts }, effects);
    for (const effect of effects) {
      writeEffect(effect, this.#sinks);
      if (effect.kind === 'fillConfirmed') this.#confirmed += 1;
    }
    if (dirtyRowCount(this.#state) >= CHECKPOINT_ROWS) {
      const { lastHash } = this.#journal;
      const rows = drainDirtyRows(this.#state);
      this.#checkpoints.write({
        sequence,
        journalHash: lastHash,
        stateHash: lastHash,
        clean: false,
        journalBytes: 0,
        rows,
      });
    }
    return payload.length;
  }
}
