/**
 * One stream's subscribers: a frame is serialised once and the same bytes are sent to all of them.
 *
 * Frames published between two flushes reach each socket in one write. A socket that lags or closes during a flush
 * leaves the set without affecting the others.
 */
import type { StreamSocket } from './uws-socket.ts';

/** Maximum number of unflushed frames; the next one flushes immediately. */
const FRAMES_MAX = 1_024;

export class StreamChannel<T> {
  readonly #sockets = new Set<StreamSocket<T>>();
  #frames: Uint8Array[] = [];

  get size(): number {
    return this.#sockets.size;
  }

  /** Adds a socket, which receives frames published from now on. */
  join(socket: StreamSocket<T>): void {
    this.flush();
    this.#sockets.add(socket);
  }

  /** Closes every socket, after all published frames. */
  finishAll(code: number, reason: string): void {
    this.flush();
    for (const socket of [...this.#sockets]) socket.finish(code, reason);
  }

  leave(socket: StreamSocket<T>): void {
    this.#sockets.delete(socket);
  }

  /** @param text creates the frame; not called without subscribers. */
  publish(text: () => string): void {
    if (this.#sockets.size > 0) this.publishBytes(Buffer.from(text(), 'utf8'));
  }

  /** As `publish`, for an existing frame. */
  publishBytes(frame: Uint8Array): void {
    if (this.#sockets.size === 0) return;
    this.#frames.push(frame);
    if (this.#frames.length >= FRAMES_MAX) this.flush();
  }

  /** Sends the frames published since the last flush to every socket, in order. */
  flush(): void {
    if (this.#frames.length === 0) return;
    const frames = this.#frames;
    this.#frames = [];
    for (const socket of this.#sockets) socket.sendAll(frames);
  }
}
