/**
 * One `Matched` message written and read back: our generated accessors in place, the same bytes through the FlatBuffers
 * runtime, and JSON. Timed by tinybench; every task must give the same sum of fields.
 */
import { ByteBuffer } from 'flatbuffers';
import { Bench } from 'tinybench';
import { assert, must } from '../src/core/assert.ts';
import { viewsOf } from '../src/core/views.ts';
import { Matched } from '../src/schema/generated/messages.ts';
import type { BenchResult, Scale } from './bench-kit.ts';

const TIME_MS: Readonly<Record<Scale, number>> = { small: 100, full: 1_000 };
const MESSAGES_A_CALL = 64;
const MATCHED_AT_NS = 1_770_000_000_000_000_001n;
/** Offsets of the FlatBuffers layout, which the generated accessors follow (test/messages). */
const AT = { sequence: 0, timeNs: 8, tradeId: 16, price: 40, quantity: 48, marketIndex: 56 } as const;

/** price + quantity + trade id + market of every message written in one call. */
type Task = () => number;

function inPlace(): Task {
  const v = viewsOf(new ArrayBuffer(Matched.bytes * MESSAGES_A_CALL), 0, Matched.bytes * MESSAGES_A_CALL);
  return () => {
    let sum = 0;
    for (let index = 0; index < MESSAGES_A_CALL; index += 1) {
      const at = index * Matched.bytes;
      Matched.setSequence(v, at, index);
      Matched.setTimeNs(v, at, MATCHED_AT_NS);
      Matched.setTradeId(v, at, index + 1);
      Matched.setPrice(v, at, 300_000 + index);
      Matched.setQuantity(v, at, 10);
      Matched.setMarketIndex(v, at, 3);
      sum += Matched.price(v, at) + Matched.quantity(v, at) + Matched.tradeId(v, at) + Matched.marketIndex(v, at);
    }
    return sum;
  };
}

function throughFlatBuffers(): Task {
  const buffer = new ByteBuffer(new Uint8Array(Matched.bytes * MESSAGES_A_CALL));
  return () => {
    let sum = 0;
    for (let index = 0; index < MESSAGES_A_CALL; index += 1) {
      const at = index * Matched.bytes;
      buffer.writeFloat64(at + AT.sequence, index);
      buffer.writeUint64(at + AT.timeNs, MATCHED_AT_NS);
      buffer.writeFloat64(at + AT.tradeId, index + 1);
      buffer.writeFloat64(at + AT.price, 300_000 + index);
      buffer.writeFloat64(at + AT.quantity, 10);
      buffer.writeUint32(at + AT.marketIndex, 3);
      sum += buffer.readFloat64(at + AT.price) + buffer.readFloat64(at + AT.quantity);
      sum += buffer.readFloat64(at + AT.tradeId) + buffer.readUint32(at + AT.marketIndex);
    }
    return sum;
  };
}

function asJson(): Task {
  return () => {
    let sum = 0;
    for (let index = 0; index < MESSAGES_A_CALL; index += 1) {
      const text = JSON.stringify({
        sequence: index,
        tradeId: index + 1,
        price: 300_000 + index,
        quantity: 10,
        marketIndex: 3,
      });
      const read = JSON.parse(text) as { price: number; quantity: number; tradeId: number; marketIndex: number };
      sum += read.price + read.quantity + read.tradeId + read.marketIndex;
    }
    return sum;
  };
}

export async function run(scale: Scale): Promise<BenchResult> {
  const tasks: Readonly<Record<string, Task>> = {
    'in place': inPlace(),
    'FlatBuffers runtime': throughFlatBuffers(),
    'JSON, without the timestamp': asJson(),
  };
  const sums = Object.values(tasks).map((task) => task());
  assert(new Set(sums).size === 1, 'every task reads what it wrote');
  const bench = new Bench({ time: TIME_MS[scale], warmupTime: TIME_MS[scale] / 2 });
  for (const [name, task] of Object.entries(tasks)) bench.add(name, () => void task());
  await bench.run();
  const rows = bench.tasks.map(({ name, result }) => {
    assert('latency' in result, `${name} was measured`);
    return { label: name, value: (result.latency.p50 * 1e6) / MESSAGES_A_CALL, unit: 'ns/message' };
  });
  return { name: 'messages', rows, checks: `every task sums to ${must(sums[0], 'a sum')}` };
}
