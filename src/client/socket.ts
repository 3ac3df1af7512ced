/** `Reconnection` replaces a connection that was lost. */

/** Pauses between attempts to connect. */
export const RECONNECT_MS = 100;
export const RECONNECT_MS_MAX = 5_000;

/** Connects until it succeeds, with pauses that double, up to 5 s. */
export class Reconnection<T> {
  readonly #connect: () => Promise<T>;
  readonly #onConnected: (result: T) => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #hasEnded = false;

  constructor(connect: () => Promise<T>, onConnected: (result: T) => void) {
    this.#connect = connect;
    this.#onConnected = onConnected;
  }

  /** @param delayMs the first pause. */
  begin(delayMs: number = RECONNECT_MS): void {
    this.#timer = setTimeout(() => {
      this.#connect().then(this.#onConnected, () => {
        if (!this.#hasEnded) this.begin(Math.min(2 * delayMs, RECONNECT_MS_MAX));
      });
    }, delayMs);
  }

  /** A connection that is on its way is still reported. */
  end(): void {
    this.#hasEnded = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}
