/**
 * Unparks threads: one word of shared memory per thread.
 *
 *   producer                              consumer
 *   publish                               word ← SLEEPING
 *   word = SLEEPING?  ──no──▶ done        check every mailbox once more: not empty → word ← AWAKE, continue
 *     │ yes                               otherwise park
 *   word ← AWAKE, notify the consumer
 *
 * Both sides store first and load afterwards, each in one total order, so at least one of them sees the other's store:
 * no notification is lost. A notification costs the producer about 8 µs, paid at most once per batch and only when the flag is
 * set.
 *
 * A plain thread parks in Atomics.wait, at most PARK_MS_MAX at a time, because it must also record heartbeats.
 * A thread with an event loop returns to its loop and is woken by a message on a port, one port per producer thread.
 */
import type { MessagePort } from 'node:worker_threads';

const AWAKE = 0;
const SLEEPING = 1;
/** Longest time without a heartbeat of a parked plain thread. */
export const PARK_MS_MAX = 100;

/** The producer's end: notifies one thread. */
export class Doorbell {
  readonly #words: Int32Array;
  readonly #index: number;
  #port: MessagePort | null = null;

  constructor(words: Int32Array, index: number) {
    this.#words = words;
    this.#index = index;
  }

  /** Sets the port of a thread with an event loop; replaces the port of a restarted thread's predecessor. */
  connect(port: MessagePort): void {
    this.#port?.close();
    this.#port = port;
  }

  /** Call after publishing. Notifies the thread only when its flag is set. */
  ring(): void {
    if (Atomics.load(this.#words, this.#index) !== SLEEPING) return;
    if (Atomics.compareExchange(this.#words, this.#index, SLEEPING, AWAKE) !== SLEEPING) return;
    if (this.#port === null) Atomics.notify(this.#words, this.#index);
    else this.#port.postMessage(null);
  }

  close(): void {
    this.#port?.close();
    this.#port = null;
  }
}

/** The consumer's end, used by the runner of the thread that owns the word. */
export class Sleeper {
  readonly #words: Int32Array;
  readonly #index: number;

  constructor(words: Int32Array, index: number) {
    this.#words = words;
    this.#index = index;
    this.wake();
  }

  /** Sets the flag. Check the mailboxes once more before parking. */
  prepare(): void {
    Atomics.store(this.#words, this.#index, SLEEPING);
  }

  /** Clears the flag: there is work, or the park time is over. */
  wake(): void {
    Atomics.store(this.#words, this.#index, AWAKE);
  }

  /**
   * Parks until the doorbell or the timeout. Blocks, so not for threads with an event loop.
   *
   * @param meanwhile - called after every PARK_MS_MAX, with the flag still set: heartbeats. Must not touch a mailbox.
   * @returns whether it was the doorbell.
   */
  park(timeoutMs: number, meanwhile: () => void = () => undefined): boolean {
    let leftMs = timeoutMs;
    while (Atomics.wait(this.#words, this.#index, SLEEPING, Math.min(leftMs, PARK_MS_MAX)) === 'timed-out') {
      leftMs -= PARK_MS_MAX;
      meanwhile();
      if (leftMs > 0) continue;
      this.wake();
      return false;
    }
    this.wake();
    return true;
  }
}
