/**
 * The lines of one order in the order in which things happened. Its answer, its events and its fills come over three
 * connections, so any can overtake another; within one they are in order. A line is held back until what comes before it
 * has been printed:
 *
 *   answer ─▶ Created ─▶ Triggered, where it waits for one ─▶ fills ─▶ Removed or Canceled, once every fill is decided
 *
 * `Created` comes before the end on the same connection, so an end without one shows that there is none (wire.md 9.5).
 * What is missing when the order is given up holds nothing back.
 */
import type { Order } from '../client/canonical.ts';
import type { OrderEvent } from '../client/order-events.ts';
import type { OperationResponse, UserTrade } from '../client/replies.ts';
import { formatRaw, parseDecimal18 } from '../core/decimal.ts';

type Step = 'answer' | 'created' | 'triggered' | 'fill' | 'end';
const STEPS: readonly Step[] = ['answer', 'created', 'triggered', 'fill', 'end'];
/** After a cancel, which does not say how much was filled, fills may still come over their connection. */
const AFTER_CANCEL_MS = 100;

export class OrderFollower {
  readonly #order: Order;
  readonly #say: (line: string) => void;
  /** Lines of the steps that are not printed, each in the order in which they came. */
  readonly #held: Readonly<Record<Step, string[]>> = { answer: [], created: [], triggered: [], fill: [], end: [] };
  readonly #printed = new Set<Step>();
  #waits: boolean;
  #pending = 0;
  /** Confirmed quantity so far, and in the end, in 10^-18. */
  #confirmed = 0n;
  #confirmedInAll = 0n;
  #end: 'Removed' | 'Canceled' | null = null;
  #wake: () => void = () => {};

  constructor(order: Order, say: (line: string) => void) {
    this.#order = order;
    this.#say = say;
    this.#waits = (order.trigger ?? null) !== null;
    if (!this.#waits) this.#printed.add('triggered');
  }

  takeAnswer({ status, orderId, reason }: OperationResponse): void {
    this.#take('answer', `${status.padEnd(10)} order ${orderId}${reason === null ? '' : `: ${reason}`}`);
  }

  takeTrade(trade: UserTrade): void {
    if (trade.orderId !== this.#order.orderId) return;
    const fee = trade.tradingFee === null ? '' : `, fee ${trade.tradingFee} USD`;
    const reason = trade.rollbackReason === null ? '' : ` (${trade.rollbackReason})`;
    this.#pending += trade.status === 'Pending' ? 1 : -1;
    if (trade.status === 'Confirmed') this.#confirmed += parseDecimal18(trade.quantity) ?? 0n;
    this.#take(
      'fill',
      `${trade.status.padEnd(10)} ${trade.quantity} at ${trade.price}${fee}${reason}, trade ${trade.tradeId}`,
    );
  }

  takeEvent(event: OrderEvent): void {
    if (event.orderId !== this.#order.orderId) return;
    if (event.kind === 'Created') {
      this.#take('created', this.#waits ? 'Created    it waits for its trigger' : 'Created    in the market');
    } else if (event.kind === 'Triggered') {
      this.#waits = false;
      this.#take('triggered', 'Triggered  released to the book');
    } else if (event.kind === 'Removed' || event.kind === 'Canceled') {
      this.#end = event.kind;
      if (event.kind === 'Removed') {
        const inAll = formatRaw(event.confirmedQuantity, this.#order.quantityDecimals);
        this.#confirmedInAll = parseDecimal18(inAll) ?? 0n;
      }
      // Neither comes after the end.
      if (this.#held.created.length === 0) this.#printed.add('created');
      if (this.#held.triggered.length === 0) this.#printed.add('triggered');
      this.#take('end', `${event.kind.padEnd(10)} ${event.reason ?? ''}`);
    }
  }

  /** Whether it has not been released. */
  get waits(): boolean {
    return this.#waits;
  }

  /** Whether it has ended, as far as is known, and so has every fill of it. */
  get isOver(): boolean {
    return this.#end !== null && this.#pending <= 0 && this.#confirmed >= this.#confirmedInAll;
  }

  /** Waits until the order has ended, or has no event for `quietMs`; then nothing is held back any more. */
  async wait(quietMs: number): Promise<void> {
    let isQuiet = false;
    while (!isQuiet && !(this.isOver && this.#end === 'Removed')) {
      const forMs = this.isOver ? Math.min(quietMs, AFTER_CANCEL_MS) : quietMs;
      isQuiet = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), forMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve(false);
        };
      });
    }
    for (const step of STEPS) this.#print(step);
  }

  #take(step: Step, line: string): void {
    this.#held[step].push(line);
    for (const [at, each] of STEPS.entries()) {
      const isFree = STEPS.slice(0, at).every((before) => before === 'fill' || this.#printed.has(before));
      // After a cancel its fills may come yet: `wait` prints it.
      if (isFree && (each !== 'end' || (this.isOver && this.#end === 'Removed'))) this.#print(each);
    }
    this.#wake();
  }

  #print(step: Step): void {
    for (const line of this.#held[step].splice(0)) {
      this.#printed.add(step);
      this.#say(line);
    }
  }
}
