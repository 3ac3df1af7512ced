/**
 * A ping to every socket each SOCKET_PING_MS, whatever its client sends (WS-07), with one timer for all sockets.
 *
 * Sockets lie in as many groups as the timer has steps in that time; a socket joins the group that was pinged last, so its
 * first ping comes after SOCKET_PING_MS, and each step pings one group.
 */
import { SOCKET_PING_MS } from '../core/limits.ts';

const STEP_MS = 250;

export interface Pinged {
  ping(): void;
}

export class SocketPings<Socket extends Pinged> {
  readonly #groups: readonly Set<Socket>[];
  readonly #timer: NodeJS.Timeout;
  /** The group that was pinged last. */
  #last = 0;

  /** @param periodMs between two pings of a socket. */
  constructor(periodMs: number = SOCKET_PING_MS, stepMs: number = STEP_MS) {
    this.#groups = Array.from({ length: Math.max(1, Math.round(periodMs / stepMs)) }, () => new Set<Socket>());
    this.#timer = setInterval(() => this.#step(), stepMs);
    this.#timer.unref();
  }

  /** @returns its group, for `remove`. */
  add(socket: Socket): Set<Socket> {
    const group = this.#groups[this.#last] ?? new Set<Socket>();
    group.add(socket);
    return group;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #step(): void {
    this.#last = (this.#last + 1) % this.#groups.length;
    for (const socket of this.#groups[this.#last] ?? []) socket.ping();
  }
}
