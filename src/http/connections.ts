/**
 * Connections of one listener, counted from accept to close, whether or not they ever say something.
 *
 * The server ends a connection that has sent no complete head ten seconds after it was made, and one that is idle
 * between requests likewise. So with a bound on how fast one address may open them (AddressGate) and one on all of them,
 * half-open connections cannot use up the process's descriptors. The fuller the table, the more a connection costs its
 * address, so that the last of it is for addresses that have made few (address-limits.ts). The server does not say whose
 * connection has ended, so they cannot be counted by address.
 */
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { AddressGate } from './address-gate.ts';

/** Twice the sockets of a listener: half of it stays for requests. */
const CONNECTIONS_MAX = 32_768;

/** The native function is there; the package's types leave it out. */
interface FiltersConnections {
  filter(changed: (response: HttpResponse, change: 1 | -1) => void): void;
}

export class Connections {
  readonly #gate: AddressGate | null;
  #count = 0;

  constructor(app: TemplatedApp, gate: AddressGate | null) {
    this.#gate = gate;
    (app as unknown as FiltersConnections).filter((response, change) => this.#changed(response, change));
  }

  get count(): number {
    return this.#count;
  }

  /** A connection that had become a WebSocket is closed; the server does not tell those. */
  socketClosed(): void {
    this.#count -= 1;
  }

  #changed(response: HttpResponse, change: 1 | -1): void {
    this.#count += change;
    if (change === -1) return;
    const isTaken =
      this.#count <= CONNECTIONS_MAX && this.#gate?.connected(response, this.#count / CONNECTIONS_MAX) !== false;
    if (!isTaken) response.close();
  }
}
