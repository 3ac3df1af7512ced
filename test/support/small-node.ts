/**
 * A node in small, for the tests of the supervisor: a gateway on the main thread, a market that parks, and a data thread
 * with an event loop and an open uWebSockets.js listener. The gateway sends numbers, the market sends them back and
 * copies them to data. One record in the stream is an order to misbehave.
 */

import uws from 'uWebSockets.js';
import { writeSync } from 'node:fs';
import { assert, InvariantError } from '../../src/core/assert.ts';
import { HEARTBEAT_LOST_MS, WATCH_MS } from '../../src/core/limits.ts';
import type { Views } from '../../src/core/views.ts';
import type { ActorFactories, ActorWiring } from '../../src/runtime/actor.ts';
import type { Publication } from '../../src/runtime/publication.ts';
import { RING_FULL } from '../../src/runtime/spsc-ring.ts';
import type { Topology } from '../../src/runtime/topology.ts';
import { QuietActor } from './relay-actors.ts';

export const NUMBER = 1;
export const SNAPSHOT = 2;
/** Misbehaviours, as record types. */
export const MISBEHAVIOUR: Readonly<Record<string, number>> = {
  'market-throws': 10,
  'market-loops': 11,
  'market-waits': 12,
  'data-throws': 13,
  'data-loops': 14,
};

const ring = { capacityBytes: 16_384, reservedBytes: 1_024 };
export const SMALL_TOPOLOGY: Topology = {
  tickMs: 10,
  threads: [
    { name: 'market', place: 'worker', waiting: 'park', spinTurns: 0, onDeath: 'fail-stop', ownsListener: false },
    { name: 'data', place: 'worker', waiting: 'event-loop', spinTurns: 0, onDeath: 'restart', ownsListener: true },
    { name: 'main', place: 'main', waiting: 'event-loop', spinTurns: 0, onDeath: 'fail-stop', ownsListener: false },
  ],
  actors: [
    { name: 'gateway', thread: 'main', batchRecordsMax: 64 },
    { name: 'market', thread: 'market', batchRecordsMax: 64 },
    { name: 'data', thread: 'data', batchRecordsMax: 64 },
  ],
  edges: [
    { from: 'gateway', to: 'market', full: 'reject', ...ring },
    { from: 'market', to: 'gateway', full: 'never-full', ...ring },
    { from: 'market', to: 'data', full: 'drop-and-resync', ...ring },
  ],
};

export function say(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Prints its end. */
class SmallActor extends QuietActor {
  override stop(): void {
    say(`${this.name} stopped`);
  }
}

/** Keeps one number on its way; misbehaves on request. */
export class Door extends SmallActor {
  echoes = 0;
  readonly #market: Publication;
  readonly #onEcho: (echoes: number) => void;

  constructor(wiring: ActorWiring, onEcho: (echoes: number) => void) {
    super(wiring);
    this.#market = wiring.publication('market');
    this.#onEcho = onEcho;
  }
  override start(): void {
    this.send(NUMBER);
  }
  override handle(_lane: number, _typeId: number, views: Views, at: number): void {
    if (views.f64[at >> 3] !== this.echoes) throw new InvariantError('echoes come in order');
    this.echoes++;
    this.send(NUMBER);
    this.#onEcho(this.echoes);
  }
  override endBatch(): void {
    this.#market.flush();
  }
  send(typeId: number): void {
    const at = this.#market.claim(typeId, 8);
    if (at === RING_FULL) return;
    this.#market.views.f64[at >> 3] = this.echoes;
    this.#market.commit();
  }
}

class Market extends SmallActor {
  readonly #gateway: Publication;
  readonly #data: Publication;
  #recovering: boolean;

  constructor(wiring: ActorWiring) {
    super(wiring);
    this.#gateway = wiring.publication('gateway');
    this.#data = wiring.publication('data');
    this.#recovering = wiring.settings === 'market-recovers';
  }
  override ready(): boolean {
    return !this.#recovering && this.#gateway.hasRoom(64);
  }
  override hasMore(): boolean {
    return this.#recovering;
  }
  isRecovering(): boolean {
    return this.#recovering;
  }
  override handle(_lane: number, typeId: number, views: Views, at: number): void {
    if (typeId === MISBEHAVIOUR['market-throws']) throw new InvariantError('a market promise is broken');
    if (typeId === MISBEHAVIOUR['market-loops']) loopForEver();
    if (typeId === MISBEHAVIOUR['market-waits']) waitForEver();
    const value = views.f64[at >> 3] ?? -1;
    if (typeId === NUMBER) copy(this.#gateway, typeId, value);
    if (this.#data.needsResync()) {
      this.#data.beginResync();
      copy(this.#data, SNAPSHOT, value);
    }
    copy(this.#data, typeId, value);
  }
  override tick(): void {
    if (this.#recovering) this.#recover();
  }
  override endBatch(): void {
    this.#gateway.flush();
    this.#data.flush();
  }

  /** One step, longer than a running thread may be silent. */
  #recover(): void {
    waitFor(HEARTBEAT_LOST_MS + 5 * WATCH_MS);
    this.#recovering = false;
    say('market recovered');
  }
}

class Data extends SmallActor {
  #app: uws.TemplatedApp | null = null;

  override start(): void {
    const app = uws.App();
    app.get('/*', (response) => {
      response.end('data');
    });
    app.listen('127.0.0.1', 0, (socket) => {
      assert(socket !== false, 'there is a free port');
    });
    this.#app = app;
  }
  override handle(_lane: number, typeId: number): void {
    if (typeId === SNAPSHOT) say('data has a snapshot');
    if (typeId === MISBEHAVIOUR['data-throws']) throw new Error('data made a mistake');
    if (typeId === MISBEHAVIOUR['data-loops']) loopForEver();
  }
  override stop(): void {
    this.#app?.close();
    super.stop();
  }
  halt(): void {
    this.#app?.close();
  }
}

/** The actors of the workers. */
export const WORKER_FACTORIES: ActorFactories = {
  market: (wiring) => new Market(wiring),
  data: (wiring) => new Data(wiring),
};

function copy(publication: Publication, typeId: number, value: number): void {
  const at = publication.claim(typeId, 8);
  if (at === RING_FULL) return;
  publication.views.f64[at >> 3] = value;
  publication.commit();
}

export function loopForEver(): void {
  say('frozen');
  for (;;);
}

function waitForEver(): void {
  say('frozen');
  waitFor(Number.POSITIVE_INFINITY);
}

function waitFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
