/**
 * One drained batch as bytes: the payload of one journal record.
 *
 *   0   time_ns   u64
 *   8   inputs    u32 count │ verdicts u32 count
 *   16  inputs    each: type u32 │ bytes u32 │ the ring record, padded to 8
 *   …   verdicts  each: order f64 │ market_index u32 │ valid u32
 *
 * A batch is filled straight from the rings, so recording costs one copy. Decoding gives what clearing applies, live
 * and on replay.
 */
import { assert, InvariantError } from '../core/assert.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { type Views, viewsOf } from '../core/views.ts';
import { readText } from '../schema/fields.ts';
import {
  Matched,
  NewOrder,
  NodeCommand,
  OrderActivated,
  OrderAdmitted,
  OrderCancelPending,
  OrderEnded,
  OrderRecordView,
  OrderReplaced,
  OrderRestored,
  OrderTriggered,
  ProtectionEnded,
  ProtectionTriggered,
  QuoteSetApplied,
  QuoteSetChange,
  QuoteSetEnded,
  TradeIdsReserved,
} from '../schema/generated/messages.ts';
import { decodePlain, encodePlain } from '../schema/plain-values.ts';
import type { Batch, ClearingInput, FillVerdict, NodeInput, QuoteSetChangeInput } from './inputs.ts';

// Ring messages as inputs of the clearing engine. The bytes of a message are what the journal keeps, so the same function
// serves live operation and replay.

/** @throws InvariantError for a type that no producer of clearing writes. */
function readInput(typeId: number, v: Views, at: number): ClearingInput {
  switch (typeId) {
    case OrderAdmitted.typeId:
      return readAdmitted(v, at);
    case Matched.typeId:
      return Matched.read(v, at);
    case OrderEnded.typeId:
      return OrderEnded.read(v, at);
    case OrderReplaced.typeId:
      return OrderReplaced.read(v, at);
    case OrderRestored.typeId:
      return OrderRestored.read(v, at);
    case OrderTriggered.typeId:
      return OrderTriggered.read(v, at);
    case OrderActivated.typeId:
      return OrderActivated.read(v, at);
    case OrderCancelPending.typeId:
      return OrderCancelPending.read(v, at);
    case TradeIdsReserved.typeId:
      return TradeIdsReserved.read(v, at);
    case ProtectionTriggered.typeId:
      return ProtectionTriggered.read(v, at);
    case ProtectionEnded.typeId:
      return ProtectionEnded.read(v, at);
    case QuoteSetApplied.typeId:
      return readQuoteSet(v, at);
    case QuoteSetEnded.typeId:
      return QuoteSetEnded.read(v, at);
    case NodeCommand.typeId: {
      const start = at + NodeCommand.bytes;
      return decodePlain<NodeInput>(v.u8.subarray(start, start + NodeCommand.textBytes(v, at)));
    }
    default:
      throw new InvariantError(`clearing received a message of type ${typeId}`);
  }
}

/** The order stays where it lies: it is copied when it is applied. */
function readAdmitted(v: Views, at: number): ClearingInput {
  const { marketIndex, sequence, timeNs, refusal } = OrderAdmitted.read(v, at);
  const create = at + OrderAdmitted.bytes;
  const order = new OrderRecordView(v, create + NewOrder.orderAt);
  const textBytes = NewOrder.textBytes(v, create);
  const signaturesBytes = NewOrder.signaturesBytes(v, create);
  const text = readText(v, create + NewOrder.bytes, textBytes);
  const signaturesAt = create + NewOrder.bytes + textBytes;
  const signatures =
    signaturesBytes === 0 ? NewOrder.signature(v, create) : v.u8.slice(signaturesAt, signaturesAt + signaturesBytes);
  const kind = refusal === 0 ? 'created' : 'createRefused';
  return { kind, marketIndex, sequence, timeNs, order, text, signatures };
}

function readQuoteSet(v: Views, at: number): ClearingInput {
  const { signature, textBytes, signaturesBytes, changes: count, requestId: _, ...set } = QuoteSetApplied.read(v, at);
  const changes = new Array<QuoteSetChangeInput>(count);
  let end = at + QuoteSetApplied.bytes;
  for (let place = 0; place < count; place += 1, end += QuoteSetChange.bytes)
    changes[place] = QuoteSetChange.read(v, end);
  const text = readText(v, end, textBytes);
  const signaturesAt = end + textBytes;
  const signatures = signaturesBytes === 0 ? signature : v.u8.slice(signaturesAt, signaturesAt + signaturesBytes);
  return { kind: 'quoteSetApplied', ...set, changes, text, signatures };
}

const HEADER_BYTES = 16;
const INPUT_HEADER_BYTES = 8;
const VERDICT_BYTES = 16;
/** Messages of at most this size are copied word by word. */
const SHORT_BYTES = 256;
const INITIAL_BYTES = 1 << 20;

function padded(bytes: number): number {
  return (bytes + 7) & ~7;
}

export class BatchBuffer {
  #views: Views = viewsOf(new ArrayBuffer(INITIAL_BYTES), 0, INITIAL_BYTES);
  #end = HEADER_BYTES;
  #inputCount = 0;

  get count(): number {
    return this.#inputCount;
  }

  get bytes(): number {
    return this.#end;
  }

  /** Copies one ring record. */
  add(typeId: number, source: Views, at: number, bytes: number): void {
    this.#reserve(INPUT_HEADER_BYTES + padded(bytes));
    this.#views.u32[this.#end >>> 2] = typeId;
    this.#views.u32[(this.#end >>> 2) + 1] = bytes;
    this.#copy(source, at, bytes);
    this.#end += INPUT_HEADER_BYTES + padded(bytes);
    this.#inputCount += 1;
  }

  /** Adds an input that the clearing thread itself makes, such as the mark of a restart. */
  addPlain(input: ClearingInput, timeNs: TimestampNs): void {
    const text = encodePlain(input);
    const bytes = NodeCommand.bytes + text.length;
    const record = viewsOf(new ArrayBuffer(padded(bytes)), 0, padded(bytes));
    NodeCommand.setRequestId(record, 0, 0);
    NodeCommand.setTimeNs(record, 0, timeNs);
    NodeCommand.setTextBytes(record, 0, text.length);
    record.u8.set(text, NodeCommand.bytes);
    this.add(NodeCommand.typeId, record, 0, bytes);
  }

  inputs(): readonly ClearingInput[] {
    return readInputs(this.#views, this.#inputCount).inputs;
  }

  /** Closes the batch with its time and verdicts. The bytes are valid until the next `add`. */
  seal(timeNs: TimestampNs, verdicts: readonly FillVerdict[]): Uint8Array {
    this.#reserve(verdicts.length * VERDICT_BYTES);
    this.#views.u64[0] = timeNs;
    this.#views.u32[2] = this.#inputCount;
    this.#views.u32[3] = verdicts.length;
    let at = this.#end;
    for (const verdict of verdicts) {
      this.#views.f64[at >>> 3] = verdict.order;
      this.#views.u32[(at + 8) >>> 2] = verdict.marketIndex;
      this.#views.u32[(at + 12) >>> 2] = verdict.valid ? 1 : 0;
      at += VERDICT_BYTES;
    }
    return this.#views.u8.subarray(0, at);
  }

  clear(): void {
    this.#end = HEADER_BYTES;
    this.#inputCount = 0;
  }

  #copy(source: Views, at: number, bytes: number): void {
    const to = this.#end + INPUT_HEADER_BYTES;
    if (bytes > SHORT_BYTES) {
      this.#views.u8.set(source.u8.subarray(at, at + bytes), to);
      return;
    }
    // A call into the engine costs more than the few words of most messages.
    const { u32 } = this.#views;
    for (let word = 0; word < bytes >>> 2; word += 1) u32[(to >>> 2) + word] = source.u32[(at >>> 2) + word] as number;
    for (let byte = bytes & ~3; byte < bytes; byte += 1) this.#views.u8[to + byte] = source.u8[at + byte] as number;
  }

  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#views.u8.length) return;
    let capacity = this.#views.u8.length;
    while (capacity < this.#end + bytes) capacity *= 2;
    const grown = viewsOf(new ArrayBuffer(capacity), 0, capacity);
    grown.u8.set(this.#views.u8.subarray(0, this.#end));
    this.#views = grown;
  }
}

function readInputs(v: Views, count: number): { readonly inputs: ClearingInput[]; readonly end: number } {
  const inputs: ClearingInput[] = [];
  let at = HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    const typeId = v.u32[at >>> 2] as number;
    const bytes = v.u32[(at >>> 2) + 1] as number;
    inputs.push(readInput(typeId, v, at + INPUT_HEADER_BYTES));
    at += INPUT_HEADER_BYTES + padded(bytes);
  }
  return { inputs, end: at };
}

/** A journal record's payload as the batch it holds. @throws InvariantError when its lengths do not add up. */
export function decodeBatch(payload: Uint8Array): Batch {
  // A payload from the database may start anywhere; fields are read in place only from a multiple of 8.
  const copy = new ArrayBuffer(padded(payload.length));
  new Uint8Array(copy).set(payload);
  const v = viewsOf(copy, 0, copy.byteLength);
  const { inputs, end } = readInputs(v, v.u32[2] as number);
  const verdictCount = v.u32[3] as number;
  assert(end + verdictCount * VERDICT_BYTES === payload.length, 'a journal payload is as long as it says');
  const verdicts: FillVerdict[] = [];
  for (let at = end; at < payload.length; at += VERDICT_BYTES) {
    verdicts.push({
      order: v.f64[at >>> 3] as number as Sequence,
      marketIndex: v.u32[(at + 8) >>> 2] as number,
      // mutant: journaled-verdict
      valid: v.u32[(at + 12) >>> 2] === 1,
    });
  }
  return { timeNs: v.u64[0] as bigint as TimestampNs, inputs, verdicts };
}
