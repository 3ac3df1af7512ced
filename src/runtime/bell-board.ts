/** The doorbells of all threads, as used by one thread. */
import type { MessagePort } from 'node:worker_threads';
import { must } from '../core/assert.ts';
import { Doorbell } from './doorbell.ts';
import { bellIndex } from './heartbeat.ts';
import type { Plan } from './topology.ts';

export class BellBoard {
  readonly #bells: ReadonlyMap<string, Doorbell>;

  constructor(plan: Plan) {
    const words = new Int32Array(plan.threadBlocks);
    this.#bells = new Map(plan.threads.map(({ name }, index) => [name, new Doorbell(words, bellIndex(index))]));
  }

  /** @throws InvariantError when there is no such thread. */
  of(thread: string): Doorbell {
    return must(this.#bells.get(thread), `there is a thread named ${thread}`);
  }

  /** Sets the port that notifies a thread with an event loop. */
  connect(thread: string, port: MessagePort): void {
    this.of(thread).connect(port);
  }

  /** Wakes up every parked thread except the calling one. */
  ringOthers(own: string): void {
    for (const [name, bell] of this.#bells) if (name !== own) bell.ring();
  }

  /** Closes the ports, because an open port keeps an event loop alive. */
  close(): void {
    for (const bell of this.#bells.values()) bell.close();
  }
}
