/**
 * What a client has opened and not ended: requests in flight, handshakes, sockets, pauses. Closing the client ends all of it, so
 * that a program ends by itself.
 */
import { RingbookError } from './errors.ts';

export class Lifetime {
  /** Each ends one thing; bounded by what the client has open. */
  readonly #open = new Set<() => void>();
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws RingbookError CLIENT_CLOSED. */
  check(): void {
    if (this.#isOver) throw clientClosed();
  }

  /**
   * @param end called once, when the client is closed; at once where it is closed already.
   * @returns what to call when the thing has ended by itself.
   */
  add(end: () => void): () => void {
    if (this.#isOver) {
      end();
      return () => undefined;
    }
    const once = (): void => end();
    this.#open.add(once);
    return () => void this.#open.delete(once);
  }

  /** Waits, but not longer than the client is open. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        ended();
        resolve();
      }, ms);
      const ended = this.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  end(): void {
    this.#isOver = true;
    const all = [...this.#open];
    this.#open.clear();
    for (const end of all) end();
  }
}

export function clientClosed(): RingbookError {
  return new RingbookError({ code: 'CLIENT_CLOSED', message: 'the client is closed; nothing was sent' });
}
