/** Order entry over a real order manager and real rings, with signatures that wait for the test. */
import { hashKeyOf } from '../../src/core/key-words.ts';
import type { Reject } from '../../src/core/reject.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { Views } from '../../src/core/views.ts';
import { OrderCancels } from '../../src/gateway/actions/order-cancels.ts';
import { OrderEntry } from '../../src/gateway/actions/order-entry.ts';
import { ReleaseQueue } from '../../src/gateway/actions/release-queue.ts';
import type { SignatureJob } from '../../src/gateway/actions/signature-verifier.ts';
import { SignerQueries } from '../../src/gateway/queries/signers.ts';
import type { Cost } from '../../src/gateway/sessions/costs.ts';
import { COMMAND_NOTE } from '../../src/order/command-notes.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Publication } from '../../src/runtime/publication.ts';
import { createRing, RingReader, RingWriter } from '../../src/runtime/spsc-ring.ts';
import { CancelOrder, CommandNote, NewOrder, OrderRecord, ReplaceOrder } from '../../src/schema/generated/messages.ts';
import { MARKET, NOW, OrderFixture } from './order-fixture.ts';

const FILLER = 9;
const NOTE_WORD = { [COMMAND_NOTE.batchBegins]: '[', [COMMAND_NOTE.batchEnds]: ']' } as Record<number, string>;

/** A message that a market reads; notes around a batch have no request. */
export interface ReadMessage {
  readonly requestId: number;
  /** The order id, `[` or `]`. */
  readonly word: string;
}

/** The command ring of one shard. */
export class CommandRing {
  readonly publication: Publication;
  readonly #reader: RingReader;

  constructor(capacityBytes = 65_536, reservedBytes = 256) {
    const ring = createRing({ capacityBytes, reservedBytes });
    const bell = new Doorbell(new Int32Array(new SharedArrayBuffer(4)), 0);
    this.publication = new Publication(new RingWriter(ring), bell, 'reject');
    this.#reader = new RingReader(ring);
  }

  /** Leaves space for so many bytes. */
  fill(leave = 0): void {
    while (this.publication.hasRoom(leave + 16) && this.publication.claim(FILLER, 8) >= 0) this.publication.commit();
  }

  read(): readonly ReadMessage[] {
    this.publication.flush();
    const messages: ReadMessage[] = [];
    this.#reader.drain((typeId, at) => {
      const { views } = this.#reader;
      if (typeId === CommandNote.typeId) {
        messages.push({ requestId: 0, word: NOTE_WORD[CommandNote.kind(views, at)] ?? '?' });
      } else if (typeId !== FILLER) {
        messages.push(readRequest(views, typeId, at));
      }
      return true;
    }, 10_000);
    return messages;
  }

  /** The signatures of the creates that wait, as codec/stored-signatures.ts has them. */
  creates(): readonly Uint8Array[] {
    this.publication.flush();
    const found: Uint8Array[] = [];
    this.#reader.drain((typeId, at) => {
      const { views: v } = this.#reader;
      if (typeId !== NewOrder.typeId) return true;
      const from = at + NewOrder.bytes + NewOrder.textBytes(v, at);
      const bytes = NewOrder.signaturesBytes(v, at);
      found.push(bytes === 0 ? NewOrder.signature(v, at) : v.u8.slice(from, from + bytes));
      return true;
    }, 10_000);
    return found;
  }

  /** Order ids and the notes around a batch. */
  words(): string {
    return this.read()
      .map(({ word }) => word)
      .join(' ');
  }
}

function readRequest(v: Views, typeId: number, at: number): ReadMessage {
  if (typeId === NewOrder.typeId) {
    return { requestId: NewOrder.requestId(v, at), word: OrderRecord.orderId(v, at + NewOrder.orderAt) };
  }
  const message = typeId === ReplaceOrder.typeId ? ReplaceOrder : CancelOrder;
  return { requestId: message.requestId(v, at), word: message.orderId(v, at) };
}

export class EntryWorld {
  readonly fixture: OrderFixture = new OrderFixture();
  readonly openMarkets: Set<number> = new Set([MARKET.marketIndex]);
  /** Jobs with verdicts that the test gives; none are kept while `capacity` is null: they are valid at once. */
  readonly jobs: { readonly job: SignatureJob; readonly done: (valid: boolean) => void }[] = [];
  capacity: number | null = null;
  wakeUps = 0;
  readonly rings: readonly CommandRing[];
  readonly entry: OrderEntry;
  readonly cancels: OrderCancels;
  /** Configurations of accounts; every other has the default. */
  readonly signers: SignerQueries = new SignerQueries();
  /** Charged beside what an action itself costs, and what the next charge is refused with. */
  readonly charged: Cost[] = [];
  refusal: Reject | null = null;

  constructor(rings: readonly CommandRing[] = [new CommandRing()]) {
    this.rings = rings;
    const shards = rings.map(({ publication }) => publication);
    const nowNs = (): TimestampNs => NOW;
    const wakeUp = (): void => {
      this.wakeUps += 1;
    };
    const { requests } = this.fixture.manager;
    const shared = { requests, shards, idKey: hashKeyOf(0n), nowNs, openMarkets: this.openMarkets, wakeUp };
    this.cancels = new OrderCancels(shared);
    this.entry = new OrderEntry({
      ...shared,
      verifier: { verify: (job, done) => this.#verify(job, done) },
      limits: {
        charge: (_user, cost) => {
          this.charged.push(cost);
          return this.refusal;
        },
        partOf: () => 'user',
      },
      signers: this.signers,
      releases: new ReleaseQueue(shards, nowNs),
      createRefusal: () => null,
      counted: { order: () => undefined },
    });
  }

  #verify(job: SignatureJob, done: (valid: boolean) => void): boolean {
    if (this.capacity === null) done(true);
    else if (this.jobs.length >= this.capacity) return false;
    else this.jobs.push({ job, done });
    return true;
  }
}
