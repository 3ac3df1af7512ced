/**
 * Times the commands of a market shard for the metrics: how long each is matched, and of each poll how long its first command has
 * waited, which is the longest wait. Of a batch of orders, which stands between two notes (order/command-notes.ts), also the wait of
 * its first order and the sum of the times of all: the part of the batch that this shard's market gets.
 *
 * One clock reading a command: what follows another begins when that ended.
 */
import type { MarketAction } from '../core/hops.ts';
import type { Clock } from '../core/units.ts';
import type { Views } from '../core/views.ts';
import { COMMAND_NOTE } from '../order/command-notes.ts';
import {
  AmendOrder,
  CancelAllOrders,
  CancelOrder,
  CommandNote,
  NewOrder,
  OrderRecord,
  ReplaceOrder,
} from '../schema/generated/messages.ts';

/** Where the times go. */
export interface CommandTimes {
  /** Real milliseconds, monotonic. */
  nowMs(): number;
  /** From the receipt at the gateway until it is taken, on the node's clock. */
  waited(action: MarketAction, ns: number): void;
  /** @param ns whole nanoseconds, so that recording them allocates nothing. */
  matched(action: MarketAction, ns: number): void;
  /** The same of each command, for the sum of its market. */
  matchedIn(marketIndex: number, ns: number): void;
}

interface Command {
  readonly action: MarketAction;
  /** When the gateway received it. */
  receivedNs(v: Views, at: number): bigint;
  marketIndex(v: Views, at: number): number;
}

/** A create has its market in the order's record. */
const CREATE: Command = {
  action: 'create',
  receivedNs: NewOrder.receivedNs,
  marketIndex: (v, at) => OrderRecord.marketIndex(v, at + NewOrder.orderAt),
};

/** By type. */
const COMMANDS: ReadonlyMap<number, Command> = new Map<number, Command>([
  [NewOrder.typeId, CREATE],
  [ReplaceOrder.typeId, { ...ReplaceOrder, action: 'replace' }],
  [CancelOrder.typeId, { ...CancelOrder, action: 'cancel' }],
  [AmendOrder.typeId, { ...AmendOrder, action: 'amend' }],
  [CancelAllOrders.typeId, { ...CancelAllOrders, action: 'cancel-all' }],
]);

export class CommandTimer {
  readonly #times: CommandTimes;
  readonly #clock: Clock;
  /** Whether a command of this poll was taken. */
  #hasTaken = false;
  /** When the last record was handled; 0 unless that was a command. */
  #handledMs = 0;
  #isInBatch = false;
  /** The batch, from its first order on. */
  #batch: MarketAction | null = null;
  #batchNs = 0;

  constructor(times: CommandTimes, clock: Clock) {
    this.#times = times;
    this.#clock = clock;
  }

  /** Before a record is handled. @returns when; to be passed to `end`. */
  begin(typeId: number, v: Views, at: number): number {
    const command = COMMANDS.get(typeId);
    if (command === undefined) return 0;
    const { action } = command;
    const isFirstOfBatch = this.#isInBatch && this.#batch === null;
    if (!this.#hasTaken || isFirstOfBatch) {
      const waitedNs = Number(this.#clock.nowNs() - command.receivedNs(v, at));
      if (!this.#hasTaken) this.#times.waited(action, waitedNs);
      if (isFirstOfBatch) {
        this.#batch = action === 'create' ? 'batch-create' : 'batch-replace';
        this.#times.waited(this.#batch, waitedNs);
      }
    }
    this.#hasTaken = true;
    return this.#handledMs === 0 ? this.#times.nowMs() : this.#handledMs;
  }

  /** After a record was handled. */
  end(typeId: number, v: Views, at: number, beganMs: number): void {
    const command = COMMANDS.get(typeId);
    if (command === undefined) {
      this.#handledMs = 0;
      if (typeId === CommandNote.typeId) this.#note(CommandNote.kind(v, at));
      return;
    }
    this.#handledMs = this.#times.nowMs();
    const ns = Math.round((this.#handledMs - beganMs) * 1e6);
    this.#times.matched(command.action, ns);
    // mutant: matched-by-market
    this.#times.matchedIn(command.marketIndex(v, at), ns);
    if (this.#isInBatch) this.#batchNs += ns;
  }

  endPoll(): void {
    this.#hasTaken = false;
    this.#handledMs = 0;
  }

  #note(kind: number): void {
    if (kind === COMMAND_NOTE.batchBegins) {
      this.#isInBatch = true;
      this.#batch = null;
      this.#batchNs = 0;
    } else if (kind === COMMAND_NOTE.batchEnds) {
      this.#isInBatch = false;
      if (this.#batch !== null) this.#times.matched(this.#batch, this.#batchNs);
    }
  }
}
