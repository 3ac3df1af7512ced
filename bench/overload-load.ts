/**
 * The load generator of overload.bench.ts, a separate process. It shares the machine with the node, so it costs little:
 * every frame is signed and framed beforehand, what is due in a millisecond is one write to a plain socket, and of an
 * answer only the order id and the verdict are read.
 *
 * In an open loop every latency counts from the intended send time, whatever the generator or its socket did later.
 *
 *   two users, one connection each     creates that cross at one price, alternately a sell and a buy
 *   the first of them, same connection cancels of orders that rest since before the run
 *   a third user, over REST            cancel-all
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import type { LimitOrder, SideWord } from '../src/client/canonical.ts';
import { HttpTransport } from '../src/client/http-transport.ts';
import { generateSeed, keyFromSeed, type SigningKey } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import { Session } from '../src/client/session.ts';
import { signCancel, signCreate } from '../src/client/signed-actions.ts';
import { systemClock } from '../src/client/time.ts';
import { assert, must } from '../src/core/assert.ts';
import type { AssetId } from '../src/core/ids.ts';
import type { OverloadPlan, OverloadResult, Waits } from './overload-plan.ts';

const PRICE = 300_000;
const RESTING_PRICE = 200_000;
const QUANTITY = 10;
const FUNDS = '1000000000';
/** Creates unanswered at any time while the resting orders are made. */
const WINDOW = 32;
/** A batch of due messages is written together. */
const TICK_MS = 1;
/** After the last message: the time in which every answer must have come. */
const GRACE_MS = 20_000;
const FIN_TEXT = 0x81;
const MASKED = 0x80;
const LENGTH_16 = 126;
const ORDER_ID = Buffer.from('"order_id":"L');
const STATUS = Buffer.from('"status":"');
const REASON = Buffer.from('"reason":"');
const DIGITS = 8;
const QUOTE = 0x22;
const LETTER_A = 0x61;
const LETTER_C = 0x63;

const nowNs = systemClock();

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function histogram(): Histogram {
  const range = { lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 };
  return buildHistogram({ ...range, numberOfSignificantValueDigits: 3 });
}

function waits(source: Histogram): Waits {
  const at = (percentile: number): number => source.getValueAtPercentile(percentile);
  return { count: source.totalCount, p50: at(50), p99: at(99), p999: at(99.9), max: source.maxValue };
}

function record(target: Histogram, ms: number): void {
  target.recordValue(Math.max(1, Math.round(ms * 1_000)));
}

/** A masked text frame, with a key of zeros: the payload is its own mask (RFC 6455 5.3). */
function framed(text: string): Buffer {
  const payload = Buffer.from(text);
  assert(payload.length >= LENGTH_16 && payload.length < 65_536, 'a frame has a length of 16 bits');
  const head = Buffer.alloc(8);
  head[0] = FIN_TEXT;
  head[1] = MASKED | LENGTH_16;
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

/** A plain socket with as much of the WebSocket protocol as the answers of `/control` need. */
class RawControl {
  readonly socket: Socket;
  onText: (bytes: Buffer, start: number) => void = () => undefined;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  static async open(base: string, headers: Readonly<Record<string, string>>): Promise<RawControl> {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const key = randomBytes(16).toString('base64');
    const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`;
    socket.write(`GET /control HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${lines.join('')}${upgrade}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert(answer.includes('101 Switching'), `the socket opens: ${answer.toString()}`);
    return new RawControl(socket);
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= 4) {
      const short = must(bytes[at + 1], 'a length');
      const head = short < LENGTH_16 ? 2 : 4;
      const length = short < LENGTH_16 ? short : bytes.readUInt16BE(at + 2);
      if (bytes.length - at < head + length) break;
      const isText = bytes[at] === FIN_TEXT;
      assert(isText || bytes[at] === 0x89, `the node sends texts and pings, not ${bytes[at]}`);
      if (isText) this.onText(bytes, at + head);
      at += head + length;
    }
    this.#rest = bytes.subarray(at);
  }
}

interface User {
  readonly key: SigningKey;
  readonly headers: Readonly<Record<string, string>>;
}

async function newUser(plan: OverloadPlan): Promise<User> {
  const key = keyFromSeed(generateSeed());
  const transport = new HttpTransport(plan.oms);
  const headers = await new Session(transport, key, nowNs).headers();
  transport.close();
  const operator = new OperatorClient(plan.ops);
  await operator.setMarketMaker(key.userId, true);
  for (const assetId of ['0', plan.assetId]) {
    await operator.faucet({ userId: key.userId, subAccount: 0, assetId, amount: FUNDS });
  }
  operator.close();
  return { key, headers };
}

const orderIdOf = (number: number): string => `L${String(number).padStart(DIGITS, '0')}`;

function createFrame(key: SigningKey, number: number, side: SideWord, limitPrice: number, assetId: AssetId): Buffer {
  const order: LimitOrder = {
    ...{ signer: key.userId, orderId: orderIdOf(number), assetId, priceDecimals: 2, quantityDecimals: 4 },
    ...{ side, limitPrice, quantity: QUANTITY, timeInForce: { kind: 'GTC' }, creationTimestampNs: nowNs() },
    ...{ target: { account: 0, isSpot: true }, reduceOnly: false, maxTradingFeesRate: 50_000 },
  };
  return framed(`{"CreateOrderRequest":${signCreate(key, order, nowNs()).body}}`);
}

/** The order of an answer, and whether it is `Received`. Of `{"Cancel…` the letter at index 3 is an `a`. */
function readAnswer(bytes: Buffer, start: number): { number: number; isReceived: boolean; reason: string } {
  const idAt = bytes.indexOf(ORDER_ID, start) + ORDER_ID.length;
  assert(idAt > ORDER_ID.length, 'an answer has its order');
  const number = Number(bytes.latin1Slice(idAt, idAt + DIGITS));
  const statusAt = bytes.indexOf(STATUS, idAt) + STATUS.length;
  if (bytes[statusAt + 2] === LETTER_C) return { number, isReceived: true, reason: '' };
  const reasonAt = bytes.indexOf(REASON, idAt) + REASON.length;
  return { number, isReceived: false, reason: bytes.toString('latin1', reasonAt, bytes.indexOf(QUOTE, reasonAt)) };
}

/** What was sent and answered; message numbers are order numbers. */
class Ledger {
  readonly accepted: Histogram = histogram();
  readonly refused: Histogram = histogram();
  readonly answers: Histogram = histogram();
  readonly cancels: Histogram = histogram();
  readonly lateness: Histogram = histogram();
  readonly reasons: Record<string, number> = {};
  readonly intendedMs: Float64Array;
  readonly cancelIntendedMs: Float64Array;
  readonly #answered: Uint8Array;
  readonly #cancelAnswered: Uint8Array;
  sentCreates = 0;
  sentCancels = 0;
  answeredCreates = 0;
  answeredCancels = 0;
  acceptedInTime = 0;
  cancelsRefused = 0;
  repeated = 0;
  untilMs = Number.POSITIVE_INFINITY;
  onAnswer: () => void = () => undefined;

  constructor(numbers: number) {
    this.intendedMs = new Float64Array(numbers);
    this.cancelIntendedMs = new Float64Array(numbers);
    this.#answered = new Uint8Array(numbers);
    this.#cancelAnswered = new Uint8Array(numbers);
  }

  read(bytes: Buffer, start: number): void {
    const receivedMs = nowMs();
    const { number, isReceived, reason } = readAnswer(bytes, start);
    if (!isReceived) this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    if (bytes[start + 3] === LETTER_A) this.#cancelled(number, isReceived, receivedMs);
    else this.#created(number, isReceived, receivedMs);
    this.onAnswer();
  }

  #created(number: number, isReceived: boolean, receivedMs: number): void {
    this.repeated += this.#answered[number] ?? 0;
    this.#answered[number] = 1;
    this.answeredCreates += 1;
    const ms = receivedMs - (this.intendedMs[number] ?? 0);
    record(isReceived ? this.accepted : this.refused, ms);
    record(this.answers, ms);
    if (isReceived && receivedMs < this.untilMs) this.acceptedInTime += 1;
  }

  #cancelled(number: number, isReceived: boolean, receivedMs: number): void {
    this.repeated += this.#cancelAnswered[number] ?? 0;
    this.#cancelAnswered[number] = 1;
    this.answeredCancels += 1;
    if (!isReceived) this.cancelsRefused += 1;
    record(this.cancels, receivedMs - (this.cancelIntendedMs[number] ?? 0));
  }
}

/** Orders that rest far from the others, so that cancels have something to cancel. What is refused is sent again. */
async function restOrders(control: RawControl, frames: readonly Buffer[]): Promise<void> {
  const left = [...frames.keys()];
  let unanswered = 0;
  await new Promise<void>((resolve) => {
    const fill = (): void => {
      for (let number = left[0]; number !== undefined && unanswered < WINDOW; number = left[0]) {
        left.shift();
        unanswered += 1;
        control.socket.write(must(frames[number], 'a frame'));
      }
      if (left.length + unanswered === 0) resolve();
    };
    control.onText = (bytes, start) => {
      const answer = readAnswer(bytes, start);
      if (!answer.isReceived) left.push(answer.number);
      unanswered -= 1;
      fill();
    };
    fill();
  });
}

/** `DELETE /orders/cancel-all` over one connection, one after the other, from the intended time. */
class MassCancels {
  readonly waits: Histogram = histogram();
  readonly #socket: Socket;
  readonly #request: string;
  readonly #intendedMs: number[] = [];

  constructor(socket: Socket, request: string) {
    this.#socket = socket;
    this.#request = request;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  static async open(plan: OverloadPlan, user: User): Promise<MassCancels> {
    const { hostname, port } = new URL(plan.oms);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const lines = Object.entries(user.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return new MassCancels(socket, `DELETE /orders/cancel-all HTTP/1.1\r\nHost: ${hostname}\r\n${lines.join('')}\r\n`);
  }

  get unanswered(): number {
    return this.#intendedMs.length;
  }

  send(intendedMs: number): void {
    this.#intendedMs.push(intendedMs);
    // One at a time: a connection has one request in progress.
    if (this.#intendedMs.length === 1) this.#socket.write(this.#request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    assert(chunk.includes('HTTP/1.1 202'), `a mass cancel is accepted: ${chunk.toString()}`);
    record(this.waits, nowMs() - must(this.#intendedMs.shift(), 'a request waits'));
    if (this.#intendedMs.length > 0) this.#socket.write(this.#request);
  }
}

interface Frames {
  /** By number: the user of a create is its parity. */
  readonly creates: readonly Buffer[];
  readonly cancels: readonly Buffer[];
  readonly firstCreate: number;
}

/** Sends what is due, each user's messages in one write. */
class Sender {
  readonly #ledger: Ledger;
  readonly #frames: Frames;
  readonly #controls: readonly [RawControl, RawControl];
  readonly #createsPerCancel: number;

  constructor(ledger: Ledger, frames: Frames, controls: readonly [RawControl, RawControl], createsPerCancel: number) {
    this.#ledger = ledger;
    this.#frames = frames;
    this.#controls = controls;
    this.#createsPerCancel = createsPerCancel;
  }

  /** @param intendedMs of the n-th create of the run. */
  send(count: number, intendedMs: (index: number) => number): void {
    const ledger = this.#ledger;
    const { creates, cancels, firstCreate } = this.#frames;
    const batches: [Buffer[], Buffer[]] = [[], []];
    const sentMs = nowMs();
    for (let index = ledger.sentCreates; index < Math.min(count, creates.length); index += 1) {
      const dueMs = intendedMs(index);
      record(ledger.lateness, Math.max(0, sentMs - dueMs));
      ledger.intendedMs[firstCreate + index] = dueMs;
      batches[index % 2 === 0 ? 0 : 1].push(must(creates[index], 'a create'));
      const cancel = index / this.#createsPerCancel;
      if (Number.isInteger(cancel) && cancel < cancels.length) {
        ledger.cancelIntendedMs[cancel] = dueMs;
        batches[0].push(must(cancels[cancel], 'a cancel'));
        ledger.sentCancels += 1;
      }
      ledger.sentCreates += 1;
    }
    batches.forEach((batch, user) => {
      if (batch.length > 0) must(this.#controls[user], 'a connection').socket.write(Buffer.concat(batch));
    });
  }
}

/** Everything of a run but the measured time itself. */
interface Run {
  readonly plan: OverloadPlan;
  readonly ledger: Ledger;
  readonly sender: Sender;
  readonly mass: MassCancels;
}

async function prepare(plan: OverloadPlan): Promise<Run & { close(): void }> {
  const users = [await newUser(plan), await newUser(plan)] as const;
  const canceller = await newUser(plan);
  const assetId = plan.assetId as AssetId;
  const firstCreate = Math.ceil(plan.creates / plan.createsPerCancel);
  const resting = Array.from({ length: firstCreate }, (_, number) =>
    createFrame(users[0].key, number, 'Buy', RESTING_PRICE - (number % 97), assetId),
  );
  const controls = [
    await RawControl.open(plan.oms, users[0].headers),
    await RawControl.open(plan.oms, users[1].headers),
  ] as const;
  await restOrders(controls[0], resting);
  const cancels = resting.map((_, number) => {
    const cancel = signCancel(users[0].key, { assetId, orderId: orderIdOf(number) }, nowNs());
    return framed(`{"CancelOrderRequest":${cancel.body}}`);
  });
  const creates = Array.from({ length: plan.creates }, (_, index) => {
    const user = index % 2 === 0 ? 0 : 1;
    return createFrame(users[user].key, firstCreate + index, user === 0 ? 'Sell' : 'Buy', PRICE, assetId);
  });
  const mass = await MassCancels.open(plan, canceller);
  const ledger = new Ledger(firstCreate + plan.creates);
  for (const control of controls) control.onText = (bytes, start) => ledger.read(bytes, start);
  const sender = new Sender(ledger, { creates, cancels, firstCreate }, controls, plan.createsPerCancel);
  const close = (): void => {
    for (const { socket } of controls) socket.destroy();
    mass.close();
  };
  return { plan, ledger, sender, mass, close };
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TICK_MS));
}

/** Creates are due at a steady rate. */
async function sendOpen({ plan, ledger, sender, mass }: Run, perSecond: number, startMs: number): Promise<void> {
  let massSent = 0;
  while (ledger.sentCreates < plan.creates) {
    await tick();
    const elapsedMs = nowMs() - startMs;
    sender.send(Math.floor((elapsedMs * perSecond) / 1_000), (index) => startMs + (index * 1_000) / perSecond);
    for (; massSent < (elapsedMs * plan.massCancelsPerSecond) / 1_000; massSent += 1) {
      mass.send(startMs + (massSent * 1_000) / plan.massCancelsPerSecond);
    }
  }
}

/** Keeps `inFlight` creates unanswered. */
async function sendClosed({ plan, ledger, sender }: Run, inFlight: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const fill = (): void => {
      const sentMs = nowMs();
      sender.send(ledger.answeredCreates + inFlight, () => sentMs);
      if (ledger.answeredCreates === plan.creates) resolve();
    };
    ledger.onAnswer = fill;
    fill();
  });
}

async function untilAnswered({ ledger, mass }: Run): Promise<number> {
  const missing = (): number =>
    ledger.sentCreates + ledger.sentCancels + mass.unanswered - ledger.answeredCreates - ledger.answeredCancels;
  const endMs = nowMs() + GRACE_MS;
  while (missing() > 0 && nowMs() < endMs) await tick();
  return missing();
}

async function perform(plan: OverloadPlan): Promise<OverloadResult> {
  const run = await prepare(plan);
  const { ledger, mass } = run;
  const startMs = nowMs();
  if (plan.load.kind === 'open') {
    ledger.untilMs = startMs + (plan.creates * 1_000) / plan.load.perSecond;
    await sendOpen(run, plan.load.perSecond, startMs);
  } else await sendClosed(run, plan.load.inFlight);
  const sentMs = nowMs() - startMs;
  const unanswered = await untilAnswered(run);
  run.close();
  return {
    accepted: waits(ledger.accepted),
    refused: waits(ledger.refused),
    cancels: waits(ledger.cancels),
    massCancels: waits(mass.waits),
    answers: waits(ledger.answers),
    reasons: ledger.reasons,
    cancelsRefused: ledger.cancelsRefused,
    unanswered,
    repeated: ledger.repeated,
    sentPerSecond: (ledger.sentCreates * 1_000) / sentMs,
    acceptedPerSecond: (ledger.acceptedInTime * 1_000) / sentMs,
    latenessP99: ledger.lateness.getValueAtPercentile(99),
  };
}

process.once('message', (plan: OverloadPlan) => {
  perform(plan).then(
    (result) => process.send?.(result, () => process.disconnect()),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
