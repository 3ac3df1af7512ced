/**
 * The load generator of control.bench.ts, a separate process: signs everything before timing starts, sends over
 * `/control`, and measures every reply from the scheduled time of its message. A stall of the node therefore counts for
 * every message scheduled during it (no coordinated omission).
 *
 * Against the floor it sends the same frames and reads the replies in the same way.
 *
 * The comparison is in control.bench.ts.
 */
import { Worker } from 'node:worker_threads';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import type { WebSocket } from 'ws';
import type { LimitOrder, SideWord } from '../src/client/canonical.ts';
import { RingbookClient } from '../src/client/client.ts';
import { HttpTransport } from '../src/client/http-transport.ts';
import { generateSeed, keyFromSeed, type SigningKey } from '../src/client/keys.ts';
import { OperatorClient } from '../src/client/operator.ts';
import { Session } from '../src/client/session.ts';
import { signCancel, signCreate } from '../src/client/signed-actions.ts';
import { openSocket } from '../src/client/socket.ts';
import { type NowNs, systemClock } from '../src/client/time.ts';
import { assert, must } from '../src/core/assert.ts';
import { format18, formatRaw } from '../src/core/decimal.ts';
import type { AssetId } from '../src/core/ids.ts';
import type { ControlPlan, ControlResult, Latency } from './control-plan.ts';

const PRICE_DECIMALS = 2;
const QUANTITY_DECIMALS = 4;
const PRICE = 300_000;
const QUANTITY = 10;
/** Number of creates of the mix that rest before they are cancelled. */
const RESTING = 50;
/** Time without any reply after which the run fails. */
const GRACE_MS = 60_000;
/** Fewer than the jobs per connection that the verifier pool accepts. */
const UNANSWERED_MAX = 512;
const FUNDS = '1000000000';

interface User {
  readonly key: SigningKey;
  readonly socket: WebSocket;
}

/** One frame and its user. Replies contain the order id, with the message's number as digits. */
interface Message {
  readonly user: 0 | 1;
  readonly frame: string;
}

async function connect(plan: ControlPlan, key: SigningKey, nowNs: NowNs): Promise<User> {
  const { target } = plan;
  if (target.kind === 'floor') {
    const socket = await openSocket({ base: target.base, path: '/control', headers: {} }, (open) => open);
    return { key, socket };
  }
  const transport = new HttpTransport(target.oms);
  const headers = await new Session(transport, key, nowNs).headers();
  transport.close();
  const operator = new OperatorClient(target.ops);
  await operator.setMarketMaker(key.userId, true);
  for (const assetId of ['0', target.assetId]) {
    await operator.faucet({ userId: key.userId, subAccount: 0, assetId, amount: FUNDS });
  }
  operator.close();
  const socket = await openSocket({ base: target.oms, path: '/control', headers }, (open) => open);
  return { key, socket };
}

const orderIdOf = (number: number): string => `L${String(number).padStart(8, '0')}`;

function createFrame(
  key: SigningKey,
  number: number,
  side: SideWord,
  limitPrice: number,
  assetId: AssetId,
  nowNs: NowNs,
): string {
  const order: LimitOrder = {
    signer: key.userId,
    orderId: orderIdOf(number),
    assetId,
    priceDecimals: PRICE_DECIMALS,
    quantityDecimals: QUANTITY_DECIMALS,
    side,
    limitPrice,
    quantity: QUANTITY,
    timeInForce: { kind: 'GTC' },
    creationTimestampNs: nowNs(),
    target: { account: 0, isSpot: true },
    reduceOnly: false,
    maxTradingFeesRate: 50_000,
  };
  return `{"CreateOrderRequest":${signCreate(key, order, nowNs()).body}}`;
}

/** Alternating sells and buys at one price: every pair trades. */
function crossingPairs(plan: ControlPlan, users: readonly [User, User], assetId: AssetId, nowNs: NowNs): Message[] {
  return Array.from({ length: plan.warmUp + plan.count }, (_, number) => {
    const user = number % 2 === 0 ? 0 : 1;
    const side = user === 0 ? 'Sell' : 'Buy';
    return { user, frame: createFrame(users[user].key, number, side, PRICE, assetId, nowNs) };
  });
}

/** Alternating a create that rests and the cancel of an earlier one. */
function mixed(plan: ControlPlan, users: readonly [User, User], assetId: AssetId, nowNs: NowNs): Message[] {
  return Array.from({ length: plan.warmUp + plan.count }, (_, number) => {
    const cancelled = number - 2 * RESTING - 1;
    if (number % 2 === 1 && cancelled >= 0) {
      const { key } = users[0];
      const cancel = signCancel(key, { assetId, orderId: orderIdOf(cancelled) }, nowNs());
      return { user: 0, frame: `{"CancelOrderRequest":${cancel.body}}` };
    }
    const price = PRICE - 1 - (number % 97);
    return { user: 0, frame: createFrame(users[0].key, number, 'Buy', price, assetId, nowNs) };
  });
}

/** Sends messages and records their replies. */
class Exchange {
  readonly #plan: ControlPlan;
  readonly #users: readonly [User, User];
  readonly #messages: readonly Message[];
  readonly #intendedMs: Float64Array;
  readonly creates: Histogram = histogram();
  readonly cancels: Histogram = histogram();
  readonly lateness: Histogram = histogram();
  rejected = 0;
  /** The first rejection, as received. */
  firstRefusal: string | null = null;
  answered = 0;
  sent = 0;
  #lastAnswerMs = 0;
  onAnswer: () => void = () => {};

  constructor(plan: ControlPlan, users: readonly [User, User], messages: readonly Message[]) {
    this.#plan = plan;
    this.#users = users;
    this.#messages = messages;
    this.#intendedMs = new Float64Array(messages.length);
    for (const { socket } of new Set(users)) socket.on('message', (data: Buffer) => this.#receive(data));
  }

  get isDone(): boolean {
    return this.answered === this.#messages.length;
  }

  get unanswered(): number {
    return this.#messages.length - this.answered;
  }

  /** Replies per second since the first counted message was due. */
  get perSecond(): number {
    const startedMs = this.#intendedMs[this.#plan.warmUp] ?? 0;
    const counted = this.answered - this.#plan.warmUp;
    return (counted * 1_000) / (this.#lastAnswerMs - startedMs);
  }

  send(intendedMs: number): void {
    const message = must(this.#messages[this.sent], 'a message is left to send');
    this.#intendedMs[this.sent] = intendedMs;
    if (this.sent >= this.#plan.warmUp) record(this.lateness, nowMs() - intendedMs);
    this.sent += 1;
    this.#users[message.user].socket.send(message.frame);
  }

  /** Matches `{"Create…` or `{"Cancel…`, and the digits after `"order_id":"L`, from a node or from the floor. */
  #receive(data: Buffer): void {
    const receivedMs = nowMs();
    const at = data.indexOf('"order_id":"L');
    assert(at > 0, `an answer names its order: ${data.toString('utf8', 0, 200)}`);
    const isCancel = data[3] === 0x61;
    const orderNumber = Number(data.toString('latin1', at + 13, at + 21));
    const number = isCancel ? orderNumber + 2 * RESTING + 1 : orderNumber;
    if (this.#plan.target.kind === 'node' && data.includes('"Rejected"')) {
      this.rejected += 1;
      this.firstRefusal ??= data.toString();
    }
    if (number >= this.#plan.warmUp) {
      record(isCancel ? this.cancels : this.creates, receivedMs - (this.#intendedMs[number] ?? 0));
    }
    this.answered += 1;
    this.#lastAnswerMs = receivedMs;
    this.onAnswer();
  }
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function histogram(): Histogram {
  return buildHistogram({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  });
}

/** In whole microseconds. */
function record(target: Histogram, ms: number): void {
  target.recordValue(Math.max(1, Math.round(ms * 1_000)));
}

function summary(source: Histogram): Latency {
  const at = (percentile: number): number => source.getValueAtPercentile(percentile);
  return {
    count: source.totalCount,
    p50: at(50),
    p90: at(90),
    p99: at(99),
    p999: at(99.9),
    p9999: at(99.99),
    max: source.maxValue,
  };
}

/**
 * Sends at a steady rate, timed by the pacer's thread. On a machine that cannot sustain the rate it limits the
 * unanswered messages, because the node would reject more; that wait is part of every latency, which counts from the
 * scheduled time.
 */
async function sendOpen(exchange: Exchange, total: number, perSecond: number): Promise<void> {
  const startNs = process.hrtime.bigint() + 100_000_000n;
  const startMs = Number(startNs) / 1e6;
  const workerData = { startNs, perSecond, count: total };
  const pacer = new Worker(new URL('./control-pacer.js', import.meta.url), { workerData });
  let due = 0;
  const send = (): void => {
    while (exchange.sent < due && exchange.sent - exchange.answered < UNANSWERED_MAX) {
      exchange.send(startMs + (exchange.sent * 1_000) / perSecond);
    }
  };
  exchange.onAnswer = send;
  pacer.on('message', (count: number) => {
    due = count;
    send();
  });
  await new Promise<void>((resolve, reject) => pacer.once('error', reject).once('exit', () => resolve()));
}

/** Keeps `inFlight` messages unanswered until all are sent. */
function sendClosed(exchange: Exchange, total: number, inFlight: number): void {
  const fill = (): void => {
    while (exchange.sent < total && exchange.sent - exchange.answered < inFlight) exchange.send(nowMs());
  };
  exchange.onAnswer = fill;
  fill();
}

async function untilAnswered(exchange: Exchange): Promise<void> {
  let answered = -1;
  while (!exchange.isDone && exchange.answered !== answered) {
    answered = exchange.answered;
    const endMs = nowMs() + GRACE_MS;
    while (!exchange.isDone && nowMs() < endMs) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Checks the buyer's balance after every pair has traded; with the mix nothing may have traded. */
async function checkLedger(plan: ControlPlan, buyer: User, rejected: number): Promise<string | null> {
  if (plan.target.kind !== 'node' || rejected > 0) return null;
  const operator = new OperatorClient(plan.target.ops);
  await operator.barrier(30_000);
  operator.close();
  const client = new RingbookClient({ oms: plan.target.oms, key: buyer.key });
  const owned = (await client.inventory()).get(0)?.spot.get(plan.target.assetId);
  client.close();
  const bought = plan.flow === 'creates' ? Math.floor((plan.warmUp + plan.count) / 2) * QUANTITY : 0;
  const expected = format18(BigInt(FUNDS) * 10n ** 18n + BigInt(bought) * 10n ** BigInt(18 - QUANTITY_DECIMALS));
  assert(owned === expected, `the buyer owns ${owned}, expected ${expected}`);
  return `the buyer owns exactly ${formatRaw(bought, QUANTITY_DECIMALS)} more`;
}

async function perform(plan: ControlPlan): Promise<ControlResult> {
  const nowNs = systemClock();
  const users: readonly [User, User] = [
    await connect(plan, keyFromSeed(generateSeed()), nowNs),
    await connect(plan, keyFromSeed(generateSeed()), nowNs),
  ];
  const assetId = (plan.target.kind === 'node' ? plan.target.assetId : '900') as AssetId;
  const messages = (plan.flow === 'creates' ? crossingPairs : mixed)(plan, users, assetId, nowNs);
  const exchange = new Exchange(plan, users, messages);
  if (plan.load.kind === 'open') await sendOpen(exchange, messages.length, plan.load.perSecond);
  else sendClosed(exchange, messages.length, plan.load.inFlight);
  await untilAnswered(exchange);
  const ledger = exchange.isDone ? await checkLedger(plan, users[1], exchange.rejected) : null;
  for (const user of users) user.socket.close();
  return {
    creates: summary(exchange.creates),
    cancels: summary(exchange.cancels),
    lateness: summary(exchange.lateness),
    rejected: exchange.rejected,
    firstRefusal: exchange.firstRefusal,
    unanswered: exchange.unanswered,
    perSecond: exchange.perSecond,
    ledger,
  };
}

process.once('message', (plan: ControlPlan) => {
  perform(plan).then(
    (result) => process.send?.(result, () => process.disconnect()),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
