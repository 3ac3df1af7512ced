/**
 * Sends a recorded order flow through a running node as signed orders over `/control`, and can compare the node's book
 * with the recorded one after every event.
 *
 *   operator API: market, two fresh users, funds
 *        │
 *        ▼                         provider: seed, add ▶ GTC   cancel ▶ cancel   reduce, trim ▶ replace
 *   one event after the other ────▶
 *        │                         taker:    take ▶ IOC
 *        ▼
 *   barrier, depth, compare (verify) … barrier, traded total of the taker's confirmed fills
 *
 * Each user has its own socket, and the node keeps the order of requests per socket only. So events of one user are
 * sent without waiting (up to `window` in flight), and before the user changes, every reply is awaited: after the reply
 * the action is sent to the market, in order.
 *
 * `reduce` sets the remaining quantity; a replace sets the total. The plain book has each order's filled quantity.
 */
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import { RingbookClient } from '../client/client.ts';
import type { ControlConnection } from '../client/control.ts';
import { generateSeed, keyFromSeed } from '../client/keys.ts';
import { OperatorClient } from '../client/operator.ts';
import type { Depth, DepthLevel, UserTrade } from '../client/replies.ts';
import { rawOf, type SignedAction } from '../client/signed-actions.ts';
import { formatScaled } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import { FlowBook } from './flow-book.ts';
import {
  BOOK_LEVELS,
  type FlowBookRow,
  type FlowEvent,
  type FlowLevel,
  PRICE_DECIMALS,
  QUANTITY_DECIMALS,
} from './flow-format.ts';
import { FLOW_TARGET, type FlowUsers, prepareMarket, unusedAsset } from './flow-market.ts';

interface ReplayOptions {
  readonly oms: string;
  readonly mds: string;
  readonly ops: string;
  readonly operatorToken?: string;
  readonly events: readonly FlowEvent[];
  /** Rows to compare with after their event; null for no comparison. */
  readonly book: readonly FlowBookRow[] | null;
  /** The market to create; default: the first unused id from 1000. */
  readonly assetId?: AssetId;
  /** Default fast. */
  readonly pace?: ReplayPace;
  /** Maximum number of actions in flight. Default 64. */
  readonly window?: number;
  onProgress?(done: number): void;
}

export interface ReplayReport {
  readonly assetId: AssetId;
  readonly events: number;
  readonly rejects: readonly string[];
  readonly comparedRows: number;
  /** Whole units: the total of the `take` events, and that of the taker's confirmed fills. */
  readonly expectedQuantity: bigint;
  readonly tradedQuantity: bigint;
  /** Human decimal, of the confirmed fills. */
  readonly tradedNotional: string;
  readonly expectedNotional: string;
  readonly elapsedMs: number;
  /** Microseconds from send to reply. */
  readonly latency: Histogram;
}

const WINDOW = 64;
const CONFIRM_MS_MAX = 10_000;
const REJECTS_KEPT = 100;

/** @throws RingbookError when the node rejects the set-up or disconnects, ReplayDifference with `book`. */
export async function replayFlow(options: ReplayOptions): Promise<ReplayReport> {
  const operator = new OperatorClient(options.ops, options.operatorToken);
  const provider = newUser(options);
  const taker = newUser(options);
  try {
    const assetId = options.assetId ?? (await unusedAsset(provider));
    await prepareMarket(operator, { provider, taker }, assetId, options.events);
    const replay = new Replay(options, { operator, provider, taker, assetId });
    return await unlimited(operator, () => replay.run());
  } finally {
    for (const client of [operator, provider, taker]) client.close();
  }
}

/** Runs with lifted budgets, and restores them afterwards. */
async function unlimited<T>(operator: OperatorClient, run: () => Promise<T>): Promise<T> {
  const limits = await operator.rateLimits();
  await operator.liftRateLimits();
  try {
    return await run();
  } finally {
    await operator.putRateLimits(limits);
  }
}

function newUser(options: ReplayOptions): RingbookClient {
  return new RingbookClient({ oms: options.oms, mds: options.mds, key: keyFromSeed(generateSeed()) });
}

interface Parts extends FlowUsers {
  readonly operator: OperatorClient;
  readonly assetId: AssetId;
}

/** One run: its sent, answered and traded events. */
class Replay {
  readonly #options: ReplayOptions;
  readonly #parts: Parts;
  readonly #plain = new FlowBook();
  readonly #latency = buildHistogram({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 });
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #rejects: string[] = [];
  readonly #rows: readonly FlowBookRow[];
  /** The first row that is not compared yet. */
  #nextRow = 0;
  #compared = 0;
  #expected = { quantity: 0n, notional: 0n };
  #traded = { quantity: 0n, notional: 0n };
  #failure: unknown = null;
  #onTraded: () => void = () => {};

  constructor(options: ReplayOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#rows = options.book ?? [];
  }

  async run(): Promise<ReplayReport> {
    const { provider, taker } = this.#parts;
    const trades = await taker.userTrades();
    trades.listen((trade) => this.#takeTrade(trade));
    const [provides, takes] = await Promise.all([provider.control(), taker.control()]);
    try {
      const startedAt = performance.now();
      await this.#sendAll(provides, takes);
      const elapsedMs = performance.now() - startedAt;
      await this.#parts.operator.barrier();
      await this.#allConfirmed();
      return this.#report(elapsedMs);
    } finally {
      trades.close();
      provides.close();
      takes.close();
    }
  }

  async #sendAll(provides: ControlConnection, takes: ControlConnection): Promise<void> {
    const pacer = new Pacer(this.#options.pace ?? { kind: 'fast' }, this.#options.events[0]?.timeNs ?? 0n);
    let last: ControlConnection | null = null;
    for (const [index, event] of this.#options.events.entries()) {
      await pacer.until(index, event.timeNs);
      const control = event.action === 'take' ? takes : provides;
      if (control !== last) await this.#drain(0);
      last = control;
      await this.#drain((this.#options.window ?? WINDOW) - 1);
      // An order's next action waits for the reply to the previous one: replies to two replaces of one order are not
      // distinguishable.
      await this.#inFlight.get(event.id);
      this.#send(control, event);
      if (this.#options.book !== null) await this.#compare(event);
      this.#options.onProgress?.(index + 1);
    }
    await this.#drain(0);
  }

  #send(control: ControlConnection, event: FlowEvent): void {
    const action = this.#actionOf(event);
    const traded = this.#plain.apply(event);
    this.#expected.quantity += traded.quantity;
    this.#expected.notional += traded.notional;
    const sentAt = performance.now();
    const answered = control.send(action).then(
      (response) => {
        this.#latency.recordValue(Math.max(1, Math.round((performance.now() - sentAt) * 1_000)));
        if (response.status === 'Rejected') this.#rejected(event, response.reason ?? 'no reason given');
      },
      (error: unknown) => {
        this.#failure ??= error;
      },
    );
    const done = answered.then(() => {
      this.#inFlight.delete(event.id);
    });
    this.#inFlight.set(event.id, done);
  }

  #actionOf(event: FlowEvent): SignedAction {
    const { provider, taker, assetId } = this.#parts;
    switch (event.action) {
      case 'seed':
      case 'add':
        return this.#create(provider, event, 'GTC');
      case 'take':
        return this.#create(taker, event, 'IOC');
      case 'cancel':
        return provider.signCancel(assetId, event.id);
      case 'reduce':
      case 'trim': {
        const filled = this.#plain.order(event.id)?.filled ?? 0;
        return provider.signReplaceRaw({
          assetId,
          orderId: event.id,
          newLimitPrice: null,
          newQuantity: event.quantity + filled,
          priceDecimals: PRICE_DECIMALS,
          quantityDecimals: QUANTITY_DECIMALS,
        });
      }
    }
  }

  #create(user: RingbookClient, event: FlowEvent, tif: 'GTC' | 'IOC'): SignedAction {
    return user.signCreate({
      signer: user.userId,
      orderId: event.id,
      assetId: this.#parts.assetId,
      priceDecimals: PRICE_DECIMALS,
      quantityDecimals: QUANTITY_DECIMALS,
      side: event.side === 'buy' ? 'Buy' : 'Sell',
      limitPrice: event.price,
      quantity: event.quantity,
      timeInForce: { kind: tif },
      creationTimestampNs: user.nowNs(),
      target: FLOW_TARGET,
      reduceOnly: false,
      // The market of a replay has no fees.
      maxTradingFeesRate: 0,
    });
  }

  /** Waits until at most `count` actions have no reply. @throws the error of a failed action. */
  async #drain(count: number): Promise<void> {
    while (this.#inFlight.size > count) await Promise.race(this.#inFlight.values());
    if (this.#failure !== null) throw this.#failure;
  }

  #rejected(event: FlowEvent, reason: string): void {
    const line = `event ${event.seq}, ${event.action} of ${event.id}: ${reason}`;
    if (this.#rejects.length < REJECTS_KEPT) this.#rejects.push(line);
    if (this.#options.book !== null) this.#failure ??= new ReplayDifference(`the node refused ${line}`);
  }

  async #compare(event: FlowEvent): Promise<void> {
    const due = this.#rowsAfter(event.seq);
    await this.#drain(0);
    if (due.length === 0) return;
    await this.#parts.operator.barrier();
    const actual = rowOf(await this.#parts.provider.depth(this.#parts.assetId), event.seq);
    for (const row of due) {
      const difference = differenceOf(row, actual);
      if (difference !== null) throw new ReplayDifference(difference);
      this.#compared += 1;
    }
  }

  /** The rows recorded after this event; several if events without visible effect followed. */
  #rowsAfter(seq: number): readonly FlowBookRow[] {
    const first = this.#nextRow;
    while ((this.#rows[this.#nextRow]?.afterSeq ?? Number.POSITIVE_INFINITY) <= seq) this.#nextRow += 1;
    return this.#rows.slice(first, this.#nextRow);
  }

  #takeTrade(trade: UserTrade): void {
    if (trade.status !== 'Confirmed' || trade.assetId !== this.#parts.assetId) return;
    const quantity = BigInt(rawOf(trade.quantity, QUANTITY_DECIMALS, 'traded quantity'));
    this.#traded.quantity += quantity;
    this.#traded.notional += quantity * BigInt(rawOf(trade.price, PRICE_DECIMALS, 'traded price'));
    this.#onTraded();
  }

  /** Waits until the taker's confirmed fills reach the total of the flow, or no more arrive. */
  #allConfirmed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CONFIRM_MS_MAX);
      this.#onTraded = () => {
        if (this.#traded.quantity < this.#expected.quantity) return;
        clearTimeout(timer);
        resolve();
      };
      this.#onTraded();
    });
  }

  #report(elapsedMs: number): ReplayReport {
    const scale = PRICE_DECIMALS + QUANTITY_DECIMALS;
    const report: ReplayReport = {
      assetId: this.#parts.assetId,
      events: this.#options.events.length,
      rejects: this.#rejects,
      comparedRows: this.#compared,
      expectedQuantity: this.#expected.quantity,
      tradedQuantity: this.#traded.quantity,
      tradedNotional: formatScaled(this.#traded.notional, scale),
      expectedNotional: formatScaled(this.#expected.notional, scale),
      elapsedMs,
      latency: this.#latency,
    };
    const isSame =
      this.#traded.quantity === this.#expected.quantity && this.#traded.notional === this.#expected.notional;
    if (this.#options.book !== null && !isSame) {
      throw new ReplayDifference(
        `traded ${report.tradedQuantity} for ${report.tradedNotional}, recorded ${report.expectedQuantity} for ${report.expectedNotional}`,
      );
    }
    return report;
  }
}

// The schedule of a flow's events: at once, at the recorded times, or at a steady rate.

export type ReplayPace =
  | { readonly kind: 'fast' }
  /** At the recorded times, `speed` times as fast. */
  | { readonly kind: 'recorded'; readonly speed: number }
  | { readonly kind: 'rate'; readonly perSecond: number };

/** Waits until an event is due; time starts at construction. */
class Pacer {
  readonly #pace: ReplayPace;
  readonly #firstNs: bigint;
  readonly #startedAt = performance.now();

  constructor(pace: ReplayPace, firstNs: bigint) {
    this.#pace = pace;
    this.#firstNs = firstNs;
  }

  async until(index: number, timeNs: bigint): Promise<void> {
    const delayMs = this.#startedAt + this.#dueMs(index, timeNs) - performance.now();
    if (delayMs > 1) await new Promise((resolve) => setTimeout(resolve, delayMs));
  }

  #dueMs(index: number, timeNs: bigint): number {
    switch (this.#pace.kind) {
      case 'fast':
        return 0;
      case 'recorded':
        return Number(timeNs - this.#firstNs) / 1e6 / this.#pace.speed;
      case 'rate':
        return (index * 1_000) / this.#pace.perSecond;
    }
  }
}

// Compares the node's ten best levels with the recorded ones, and formats the difference as a table.

/** The node's book or its replies differ from the recording; the message is for people. */
export class ReplayDifference extends Error {
  override readonly name = 'ReplayDifference';
}

/** The best ten levels of a node's depth, in the flow's raw units. */
export function rowOf(depth: Depth, afterSeq: number): FlowBookRow {
  const levels = (side: readonly DepthLevel[]): readonly FlowLevel[] =>
    side.slice(0, BOOK_LEVELS).map(({ price, quantity }) => ({
      price: rawOf(price, PRICE_DECIMALS, 'price'),
      quantity: rawOf(quantity, QUANTITY_DECIMALS, 'quantity'),
    }));
  return { afterSeq, asks: levels(depth.asks), bids: levels(depth.bids) };
}

/** @returns null for equal books, else a table of the levels that differ. */
export function differenceOf(expected: FlowBookRow, actual: FlowBookRow): string | null {
  const lines: string[] = [];
  for (const side of ['asks', 'bids'] as const) {
    for (let index = 0; index < BOOK_LEVELS; index += 1) {
      const wanted = levelText(expected[side][index]);
      const found = levelText(actual[side][index]);
      if (wanted !== found) lines.push(`  ${side.slice(0, 3)} ${String(index + 1).padStart(2)}  ${wanted}  ${found}`);
    }
  }
  if (lines.length === 0) return null;
  const head = `  level   ${'recorded'.padStart(22)}  ${'node'.padStart(22)}`;
  return [`after event ${expected.afterSeq} the node shows another book:`, head, ...lines].join('\n');
}

function levelText(level: FlowLevel | undefined): string {
  const text =
    level === undefined ? 'none' : `${level.quantity} at ${formatScaled(BigInt(level.price), PRICE_DECIMALS)}`;
  return text.padStart(22);
}
