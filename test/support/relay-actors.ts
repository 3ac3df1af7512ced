/**
 * Three actors in a row for tests of the runtime: a source that counts up, a relay that holds back while the sink's ring
 * is full, and a sink that checks the order. `source → relay → sink`, and the sink may refuse to read.
 */
import { assert } from '../../src/core/assert.ts';
import type { Views } from '../../src/core/views.ts';
import type { Actor, ActorFactories, ActorWiring } from '../../src/runtime/actor.ts';
import type { Publication } from '../../src/runtime/publication.ts';
import { recordBytes } from '../../src/runtime/ring-layout.ts';
import { RING_FULL } from '../../src/runtime/spsc-ring.ts';
import type { Topology } from '../../src/runtime/topology.ts';

const NUMBER = 1;
const PLANNED_PER_TURN = 4;
const thread = { spinTurns: 0, onDeath: 'fail-stop', ownsListener: false } as const;
const ring = { capacityBytes: 1_024, reservedBytes: 0 };

export const RELAY_TOPOLOGY: Topology = {
  tickMs: 100,
  threads: [
    { name: 'relay', place: 'worker', waiting: 'park', ...thread },
    { name: 'main', place: 'main', waiting: 'event-loop', ...thread },
  ],
  actors: [
    { name: 'source', thread: 'main', batchRecordsMax: 16 },
    { name: 'relay', thread: 'relay', batchRecordsMax: 16 },
    { name: 'sink', thread: 'main', batchRecordsMax: 4 },
  ],
  edges: [
    { from: 'source', to: 'relay', full: 'reject', ...ring },
    { from: 'relay', to: 'sink', full: 'never-full', ...ring },
  ],
};

/** Does nothing. */
export class QuietActor implements Actor {
  readonly name: string;
  constructor(wiring: ActorWiring) {
    this.name = wiring.name;
  }
  start(): void {}
  ready(_lane: number): boolean {
    return true;
  }
  handle(_lane: number, _typeId: number, _views: Views, _at: number, _bytes: number): void {}
  endBatch(): void {}
  hasMore(): boolean {
    return false;
  }
  tick(_nowNs: bigint): void {}
  stop(): void {}
}

export class Source extends QuietActor {
  sent = 0;
  readonly relay: Publication;
  constructor(wiring: ActorWiring) {
    super(wiring);
    this.relay = wiring.publication('relay');
  }
  /** @returns false when the ring is full; then nothing was sent. */
  send(): boolean {
    if (!write(this.relay, this.sent)) return false;
    this.sent++;
    return true;
  }
  /** Numbers that it sends by itself, a few in each turn. */
  planned = 0;
  override hasMore(): boolean {
    return this.planned > 0 && this.relay.hasRoom(recordBytes(8));
  }
  override endBatch(): void {
    for (let sent = 0; sent < PLANNED_PER_TURN && this.hasMore(); sent++) {
      this.send();
      this.planned--;
    }
    this.relay.flush();
    if (this.planned > 0) this.relay.wantRoom();
  }
}

export class Relay extends QuietActor {
  relayed = 0;
  readonly #sink: Publication;
  constructor(wiring: ActorWiring) {
    super(wiring);
    this.#sink = wiring.publication('sink');
  }
  override ready(): boolean {
    return this.#sink.hasRoom(recordBytes(8));
  }
  override handle(_lane: number, _typeId: number, views: Views, at: number): void {
    write(this.#sink, views.f64[at >> 3] ?? -1);
    this.relayed++;
  }
  override endBatch(): void {
    this.#sink.flush();
  }
}

export class Sink extends QuietActor {
  received = 0;
  reads = true;
  onReceive: (received: number) => void = () => undefined;
  override ready(): boolean {
    return this.reads;
  }
  override handle(_lane: number, _typeId: number, views: Views, at: number): void {
    assert(views.f64[at >> 3] === this.received, 'numbers arrive in order');
    this.received++;
    this.onReceive(this.received);
  }
}

export const RELAY_FACTORIES: ActorFactories = {
  source: (wiring) => new Source(wiring),
  relay: (wiring) => new Relay(wiring),
  sink: (wiring) => new Sink(wiring),
};

function write(publication: Publication, value: number): boolean {
  const at = publication.claim(NUMBER, 8);
  if (at === RING_FULL) return false;
  publication.views.f64[at >> 3] = value;
  publication.commit();
  return true;
}
