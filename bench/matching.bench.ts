/**
 * The market engine compared with two order books from npm, on the same flows in the same run; every round uses a fresh
 * book, filled untimed. Traded quantity and notional must be equal.
 *
 * Ours processes a complete command: user and order id of 24 characters found by their bytes, the expiry tracked, every
 * event written into a record of 64 bytes, trades settled at the end of every batch of 64 commands. Commands are consecutive in memory, as in
 * a market's ring, each with the hash of its id, which the gateway computes; as in production the hash of the next
 * command is read before a command is handled. Theirs: ids as strings or numbers as they require, results read for
 * trades only. All run complete flows; of `wall` they run a first part.
 *
 * Latency: every command between two readings of the clock, which are included; the ends of batches have their own row.
 */
import { OrderBook, Side as TheirSide } from 'nodejs-order-book';
import matchEngine from 'orderbook-match-engine';
import { assert } from '../src/core/assert.ts';
import { type HashKey, hashId, hashKeyOf } from '../src/core/key-words.ts';
import { ORDER_LIFE_NS } from '../src/core/limits.ts';
import type { Side } from '../src/core/order-terms.ts';
import { highWord, lowWord } from '../src/core/time-words.ts';
import { CancelCommand, type MarketEvents, NewOrderCommand } from '../src/matching/commands.ts';
import { MarketEngine } from '../src/matching/market-engine.ts';
import {
  type BenchResult,
  type BenchRow,
  checksumText,
  interleave,
  median,
  percentile,
  type Scale,
} from './bench-kit.ts';
import { CREATE, type Flow, makeFlows } from './matching-flows.ts';

const RECORD_CELLS = 8;
/** A ring of 512 KiB, like a channel between threads. */
const RECORDS = 8_192;
const USERS = 200;
const ID_BYTES = 24;
/** Words of a command: kind, side, price, quantity, hash of the id; from the ninth on the user, then the order id. */
const COMMAND_WORDS = 24;
const SIDE = 1;
const PRICE = 2;
const QUANTITY = 3;
const HASH = 4;
const USER = 8;
const ID = 16;
/** Commands of a batch. */
const BATCH = 64;
const SEED = 1n;
const KEY: HashKey = hashKeyOf(SEED);
const NOW_NS = 1_764_000_000_000_000_000n;
const END_NS: bigint = NOW_NS + ORDER_LIFE_NS;

/** Writes every event as a record of eight numbers into a ring, like a channel to clearing. */
class RecordingEvents implements MarketEvents {
  quantity = 0;
  notional = 0;
  readonly #cells: Float64Array = new Float64Array(RECORDS * RECORD_CELLS);
  #at = 0;

  /** @returns the first cell of the next record; each kind has its own fields. */
  #begin(type: number): number {
    const at = this.#at;
    this.#cells[at] = type;
    this.#at = (at + RECORD_CELLS) & (RECORDS * RECORD_CELLS - 1);
    return at;
  }
  #write(type: number, a: number, b: number, c: number, d: number, e: number, f: number, g: number): void {
    const at = this.#begin(type);
    const cells = this.#cells;
    cells[at + 1] = a;
    cells[at + 2] = b;
    cells[at + 3] = c;
    cells[at + 4] = d;
    cells[at + 5] = e;
    cells[at + 6] = f;
    cells[at + 7] = g;
  }
  #writeShort(type: number, a: number, b: number, c: number): void {
    const at = this.#begin(type);
    const cells = this.#cells;
    cells[at + 1] = a;
    cells[at + 2] = b;
    cells[at + 3] = c;
  }
  accepted(sequence: number, command: NewOrderCommand): void {
    const { requestId, side, tif, price, quantity, flags } = command;
    this.#write(10, sequence, requestId, side, tif, price, quantity, flags);
  }
  createRefused(sequence: number, command: NewOrderCommand, code: number): void {
    this.#writeShort(20, sequence, command.requestId, code);
  }
  matched(
    sequence: number,
    tradeId: number,
    maker: number,
    taker: number,
    price: number,
    quantity: number,
    side: Side,
    group: number,
  ): void {
    this.quantity += quantity;
    this.notional += quantity * price;
    this.#write(11, sequence, tradeId, maker, taker, price, quantity, side * 4 + group);
  }
  ended(sequence: number, order: number, end: number, fault: number, remaining: number, requestId: number): void {
    this.#write(12, sequence, order, end, fault, remaining, requestId, 0);
  }
  protectionTriggered(sequence: number, _user: Int32Array, slot: number, limit: number): void {
    this.#writeShort(23, sequence, slot, limit);
  }
  protectionEnded(sequence: number, _user: Int32Array, slot: number, trip: number): void {
    this.#writeShort(24, sequence, slot, trip);
  }
  replaced(...[sequence, order, priority, price, quantity, , , requestId]: Parameters<MarketEvents['replaced']>): void {
    this.#write(13, sequence, order, priority, price, quantity, requestId, 0);
  }
  quoteSetApplied(...[command, , { first, sequences, count }]: Parameters<MarketEvents['quoteSetApplied']>): void {
    this.#write(19, first, command.requestId, sequences, count, 0, 0, 0);
  }
  quoteSetRefused(requestId: number, code: number): void {
    this.#writeShort(20, requestId, code, 0);
  }
  quoteSetEnded(sequence: number): void {
    this.#writeShort(22, sequence, 0, 0);
  }
  quoteSetsEnded(requestId: number, code: number): void {
    this.#writeShort(20, requestId, code, 0);
  }
  replaceUnchanged(requestId: number, order: number): void {
    this.#writeShort(20, requestId, 0, order);
  }
  replaceRefused(command: { readonly requestId: number }, code: number): void {
    this.#writeShort(20, command.requestId, code, 0);
  }
  cancelAccepted(requestId: number, order: number): void {
    this.#writeShort(20, requestId, 0, order);
  }
  cancelRefused(command: { readonly requestId: number }, code: number): void {
    this.#writeShort(20, command.requestId, code, 0);
  }
  cancelPending(sequence: number, order: number): void {
    this.#writeShort(17, sequence, order, 0);
  }
  allCancelled(requestId: number): void {
    this.#writeShort(20, 0, requestId, 0);
  }
  triggered(sequence: number, order: number, price: number, quantity: number): void {
    this.#write(15, sequence, order, price, quantity, 0, 0, 0);
  }
  activated(sequence: number, order: number, priority: number, quantity: number): void {
    this.#write(16, sequence, order, priority, quantity, 0, 0, 0);
  }
  parkedCancelExpired(): void {
    this.#writeShort(21, 0, 0, 0);
  }
  restored(sequence: number, order: number, priority: number, quantity: number): void {
    this.#write(14, sequence, order, priority, quantity, 0, 0, 0);
  }
  tradeIdsReserved(sequence: number, first: number, count: number): void {
    this.#writeShort(18, sequence, first, count);
  }
  levelChanged(side: number, price: number, quantity: number): void {
    this.#writeShort(30, side, price, quantity);
  }
  depthCommitted(sequence: number): void {
    this.#writeShort(31, sequence, 0, 0);
  }
}

/** The commands of a flow. The other engines have one id string per order, hashed before. */
function commandsOf(flow: Flow): Int32Array {
  const words = new Int32Array(flow.length * COMMAND_WORDS);
  const bytes = new Uint8Array(words.buffer);
  const encoder = new TextEncoder();
  for (let at = 0; at < flow.length; at++) {
    const order = flow.order[at] as number;
    const start = at * COMMAND_WORDS;
    words[start] = flow.kind[at] as number;
    words[start + SIDE] = flow.side[at] as number;
    words[start + PRICE] = flow.price[at] as number;
    words[start + QUANTITY] = flow.quantity[at] as number;
    for (let word = 0; word < 8; word++)
      words[start + USER + word] = Math.imul((order % USERS) * 8 + word + 1, 0x9e3779b1);
    encoder.encodeInto(idOf(order), bytes.subarray((start + ID) * 4));
    words[start + HASH] = hashId(KEY, words, start + USER, start + ID, ID_BYTES);
  }
  return words;
}

function idOf(order: number): string {
  return `${Math.imul(order, 0x85ebca6b) >>> 0}-${order}`.padEnd(ID_BYTES, '=');
}

/** Our engine with the two command records that its caller reuses. */
class Ours {
  readonly events: RecordingEvents = new RecordingEvents();
  readonly engine: MarketEngine = new MarketEngine({ events: this.events, priceDecimals: 2, hashSeed: SEED });
  readonly #commands: Int32Array;
  readonly #create = new NewOrderCommand();
  readonly #cancel = new CancelCommand();

  constructor(commands: Int32Array) {
    this.#commands = commands;
    const create = this.#create;
    const cancel = this.#cancel;
    for (const command of [create, cancel]) {
      command.words = commands;
      command.orderIdBytes = ID_BYTES;
      command.receivedHigh = highWord(NOW_NS);
      command.receivedLow = lowWord(NOW_NS);
    }
    create.creationHigh = highWord(NOW_NS);
    create.creationLow = lowWord(NOW_NS);
    create.expiryHigh = highWord(END_NS);
    create.expiryLow = lowWord(END_NS);
  }

  step(at: number): void {
    const commands = this.#commands;
    const start = at * COMMAND_WORDS;
    const next = start + COMMAND_WORDS;
    if (next < commands.length) this.engine.expect(commands[next + HASH] as number);
    if (commands[start] === CREATE) {
      const create = this.#create;
      create.requestId = at;
      create.userAt = start + USER;
      create.orderIdAt = start + ID;
      create.idHash = commands[start + HASH] as number;
      create.side = commands[start + SIDE] as Side;
      create.price = commands[start + PRICE] as number;
      create.quantity = commands[start + QUANTITY] as number;
      this.engine.create(create);
    } else {
      const cancel = this.#cancel;
      cancel.requestId = at;
      cancel.userAt = start + USER;
      cancel.orderIdAt = start + ID;
      cancel.idHash = commands[start + HASH] as number;
      this.engine.cancel(cancel);
    }
  }

  /** Ends a batch: clearing has decided its trades, and memory is touched ahead. */
  endBatch(): void {
    this.engine.settled(this.engine.lastTradeId);
    this.engine.touchAhead();
  }

  runTo(from: number, to: number): void {
    for (let at = from; at < to; at++) {
      this.step(at);
      if ((at & (BATCH - 1)) === 0) this.endBatch();
    }
  }
}

/** What was traded: lots, and lots times ticks. Both stay far below 2^53. */
interface Traded {
  quantity: number;
  notional: number;
}

interface Result {
  readonly megaOpsPerSecond: number;
  /** In the flow's first part, preload included. */
  readonly traded: Traded;
}

/** How many of the timed commands the others run. */
interface Lengths {
  readonly part: number;
}

function roundOfOurs(flow: Flow, commands: Int32Array, { part }: Lengths): Result {
  const ours = new Ours(commands);
  ours.runTo(0, flow.preload);
  const start = performance.now();
  ours.runTo(flow.preload, flow.preload + part);
  const { quantity, notional } = ours.events;
  ours.runTo(flow.preload + part, flow.length);
  const elapsedMs = performance.now() - start;
  ours.engine.checkInvariants();
  return {
    megaOpsPerSecond: megaOps(flow.length - flow.preload, elapsedMs),
    traded: { quantity, notional },
  };
}

function roundOfNodejsOrderBook(flow: Flow, ids: readonly string[], { part }: Lengths): Result {
  const book = new OrderBook();
  const traded: Traded = { quantity: 0, notional: 0 };
  const step = (at: number): void => {
    const id = ids[flow.order[at] as number] as string;
    if (flow.kind[at] === CREATE) {
      const size = flow.quantity[at] as number;
      const side = flow.side[at] === 0 ? TheirSide.BUY : TheirSide.SELL;
      const result = book.limit({ id, side, size, price: flow.price[at] as number });
      traded.quantity += size - result.quantityLeft;
      // The taker is among the done or partly done orders, like the makers.
      for (const maker of result.done)
        if (maker.id !== id && 'price' in maker) traded.notional += maker.price * maker.size;
      const { partial } = result;
      if (partial !== null && partial.id !== id) traded.notional += partial.price * result.partialQuantityProcessed;
    } else book.cancel(id);
  };
  return timed(flow, part, step, traded);
}

function roundOfMatchEngine(flow: Flow, { part }: Lengths): Result {
  const { ASK, BID } = matchEngine.TRADE_SIDE;
  const book = new matchEngine.Orderbook();
  const traded: Traded = { quantity: 0, notional: 0 };
  const step = (at: number): void => {
    const order = flow.order[at] as number;
    if (flow.kind[at] === CREATE) {
      const side = flow.side[at] === 0 ? BID : ASK;
      const { trades } = book.add(order, side, flow.price[at] as number, flow.quantity[at] as number);
      for (const { tradeQuantity, tradePrice } of trades) {
        traded.quantity += Number(tradeQuantity);
        traded.notional += Number(tradeQuantity) * Number(tradePrice);
      }
    } else book.cancel(order);
  };
  return timed(flow, part, step, traded);
}

function timed(flow: Flow, part: number, step: (at: number) => void, traded: Traded): Result {
  for (let at = 0; at < flow.preload; at++) step(at);
  const start = performance.now();
  for (let at = flow.preload; at < flow.preload + part; at++) step(at);
  const elapsedMs = performance.now() - start;
  return { megaOpsPerSecond: megaOps(part, elapsedMs), traded };
}

function megaOps(count: number, elapsedMs: number): number {
  return count / elapsedMs / 1_000;
}

/** Nanoseconds of every timed command, and of the end of every batch, after a warm book of the same flow. */
function latencies(flow: Flow, commands: Int32Array): { readonly commands: Float64Array; readonly ends: number[] } {
  const ours = new Ours(commands);
  ours.runTo(0, flow.preload);
  const tookNs = new Float64Array(flow.length - flow.preload);
  const ends: number[] = [];
  for (let at = flow.preload; at < flow.length; at++) {
    const start = performance.now();
    ours.step(at);
    const end = performance.now();
    tookNs[at - flow.preload] = (end - start) * 1e6;
    if ((at & (BATCH - 1)) !== 0) continue;
    ours.endBatch();
    ends.push((performance.now() - end) * 1e6);
  }
  return { commands: tookNs, ends };
}

/** Memory of an engine with so many resting orders on 10,000 levels, ids of 24 bytes, divided by their number. */
function bytesPerOrder(orders: number): number {
  const flow: Flow = {
    name: 'resting',
    kind: new Uint8Array(orders).fill(CREATE),
    order: Uint32Array.from({ length: orders }, (_, order) => order),
    side: Uint8Array.from({ length: orders }, (_, order) => order & 1),
    price: Uint32Array.from(
      { length: orders },
      (_, order) => 100_000 + (order & 1 ? 1 : -1) * (1 + ((order >> 1) % 5_000)),
    ),
    quantity: new Uint32Array(orders).fill(10),
    preload: 0,
    length: orders,
    orders,
    checksum: 0,
  };
  const ours = new Ours(commandsOf(flow));
  ours.runTo(0, orders);
  return ours.engine.bytes / orders;
}

async function measure(flow: Flow, rounds: number, lengths: Lengths): Promise<{ rows: BenchRow[]; check: string }> {
  const commands = commandsOf(flow);
  const ids = Array.from({ length: flow.orders }, (_, order) => idOf(order));
  const parts = new Set<string>();
  const note = ({ megaOpsPerSecond, traded: { quantity, notional } }: Result): number => {
    parts.add(`${quantity} for ${notional}`);
    return megaOpsPerSecond;
  };
  const contenders = [
    { label: 'ringbook', round: () => note(roundOfOurs(flow, commands, lengths)) },
    { label: 'orderbook-match-engine', round: () => note(roundOfMatchEngine(flow, lengths)) },
    { label: 'nodejs-order-book', round: () => note(roundOfNodejsOrderBook(flow, ids, lengths)) },
  ];
  const figures = (await interleave(contenders, rounds)).map(median);
  assert(parts.size === 1, `${flow.name}: everybody trades the same, not ${[...parts].join(', ')}`);
  const tookNs = latencies(flow, commands);
  const [ours = 0, second = 0, third = 0] = figures;
  const rows = contenders.map(({ label }, i) => ({
    label: `${flow.name}: ${label}`,
    value: figures[i] ?? 0,
    unit: 'M ops/s',
  }));
  rows.push({ label: `${flow.name}: times orderbook-match-engine`, value: ours / second, unit: '×' });
  rows.push({ label: `${flow.name}: times nodejs-order-book`, value: ours / third, unit: '×' });
  for (const [label, fraction] of [
    ['p50', 0.5],
    ['p99', 0.99],
    ['p99.9', 0.999],
  ] as const)
    rows.push({ label: `${flow.name}: ${label}`, value: percentile([...tookNs.commands], fraction), unit: 'ns' });
  rows.push({ label: `${flow.name}: end of a batch, p50`, value: percentile(tookNs.ends, 0.5), unit: 'ns' });
  return { rows, check: `${flow.name} traded ${[...parts].join()} (flow ${checksumText(flow.checksum)})` };
}

export async function run(scale: Scale): Promise<BenchResult> {
  const full = scale === 'full';
  const length = full ? 1_000_000 : 100_000;
  const rows: BenchRow[] = [];
  const checks: string[] = [];
  for (const flow of makeFlows(length)) {
    // One of the other engines walks through the queue for every cancel.
    const part = flow.name === 'wall' ? length / 100 : length;
    const measured = await measure(flow, full ? 7 : 1, { part });
    rows.push(...measured.rows);
    checks.push(measured.check);
  }
  const resting = full ? 1_000_000 : 100_000;
  rows.push({ label: `memory of each of ${resting} resting orders`, value: bytesPerOrder(resting), unit: 'B' });
  return { name: 'matching', rows, checks: checks.join('; ') };
}
