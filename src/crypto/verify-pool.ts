/**
 * The verifier pool: signatures are verified off the event loop, on threads that piscina manages, fed over rings.
 *
 *   submit ─▶ job ring of the channel ─▶ thread ─▶ verdict ring ─▶ onVerdict, in the order of the channel
 *
 * A caller that needs order (all requests of one connection) uses one channel. A job costs the event loop one copy; for
 * a full ring `submit` returns false before any state changed.
 *
 * Valid creates are also attested to clearing, over a ring of its own for each thread (attestations.ts).
 */
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { coSignersBytes, writeCoSigners } from '../codec/co-signer-bytes.ts';
import { type AdditionalSigner, CO_SIGNERS_BYTES_MAX } from '../codec/signatures.ts';
import { assert, must } from '../core/assert.ts';
import { VERIFIED_TEXT_BYTES_MAX } from '../core/limits.ts';
import { Doorbell, Sleeper } from '../runtime/doorbell.ts';
import type { Watchable } from '../runtime/heartbeat.ts';
import { createRing, RING_FULL, RingReader, RingWriter } from '../runtime/spsc-ring.ts';
import type { TraceMemory } from '../runtime/trace-log.ts';
import { Verdict, VerifyJob } from '../schema/generated/messages.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from './ed25519-sizes.ts';
import { VERIFY_WORD, VERIFY_WORDS, type VerifyThread } from './verify-loop.ts';
import type { WebAuthnPolicy } from './webauthn.ts';

/** Capacity for about 500 orders in flight per thread: 25 ms of work, beyond which "busy" is the better reply. */
const RING_BYTES = 524_288;
const VERDICTS_PER_TURN = 4_096;
const NO_CO_SIGNERS: readonly AdditionalSigner[] = [];
/** Heartbeat count of a thread that has not started. */
const NOT_STARTED = 0;
const ENTRY = new URL('../../workers/verify.js', import.meta.url);

interface VerifyPoolOptions {
  /** At least 1. */
  readonly threads: number;
  readonly onVerdict: (ticket: number, valid: boolean) => void;
  /** Called when a thread of the pool ended by itself: the node cannot continue. */
  readonly onDeath: (error: Error) => void;
  /** The compiled entry file of a thread; its default export calls runVerifyLoop. */
  readonly entry?: URL;
  /** What WebAuthn co-signatures are judged by; none is valid without it. */
  readonly webauthn?: WebAuthnPolicy | null;
  /** One for each thread; none is traced unless given. */
  readonly traces?: readonly TraceMemory[];
  /** Rings made by createAttestationRing, one for each thread; without them nothing is attested. */
  readonly attestations?: readonly SharedArrayBuffer[];
}

/** Signatures over one text. */
export interface PoolJob {
  /** The signature of the master key, 64 bytes; absent if there are co-signers. */
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
  /** The master key. */
  readonly publicKey: Uint8Array;
  readonly coSigners?: readonly AdditionalSigner[];
  /** A valid create is attested to clearing. False unless given. */
  readonly isCreate?: boolean;
}

interface Channel {
  readonly jobs: RingWriter;
  readonly verdicts: RingReader;
  readonly bell: Doorbell;
  readonly sleeper: Sleeper;
  readonly words: Int32Array;
  readonly port: MessagePort;
  /** Signatures, not jobs. */
  inFlight: number;
}

export class VerifyPool {
  readonly channels: number;
  readonly #pool: Piscina;
  readonly #open: readonly Channel[];
  readonly #options: VerifyPoolOptions;
  readonly #tasks: Promise<unknown>[] = [];
  #closing = false;

  constructor(options: VerifyPoolOptions) {
    assert(options.threads >= 1, 'a verify pool has a thread');
    this.#options = options;
    this.channels = options.threads;
    this.#pool = new Piscina({
      filename: fileURLToPath(options.entry ?? ENTRY),
      // Each task starts its own thread. A minimum would replace one that died, while the process ends for that death.
      minThreads: 0,
      maxThreads: options.threads,
      maxQueue: options.threads,
      atomics: 'disabled',
    });
    this.#open = Array.from({ length: options.threads }, (_, index) => this.#startChannel(index));
  }

  /** Number of submitted signatures without a verdict: a job with n co-signers is n + 1. */
  get inFlight(): number {
    return this.#open.reduce((sum, channel) => sum + channel.inFlight, 0);
  }

  /** Whether a thread has not loaded its modules yet. */
  get isLoading(): boolean {
    return this.#open.some(({ words }) => Atomics.load(words, VERIFY_WORD.heartbeat) === NOT_STARTED);
  }

  /**
   * The threads for supervision: each records a heartbeat at least every 100 ms once it has started, with or without
   * jobs.
   */
  watchables(): readonly Watchable[] {
    return this.#open.map(({ words }) => ({
      lastHeartbeat: () => Atomics.load(words, VERIFY_WORD.heartbeat),
      kernelThread: () => Atomics.load(words, VERIFY_WORD.kernelThread),
      isWatched: () => Atomics.load(words, VERIFY_WORD.heartbeat) !== NOT_STARTED,
    }));
  }

  /** The same for one channel, with an index as for `submit`. */
  inFlightOf(channelIndex: number): number {
    return must(this.#open[channelIndex % this.channels], 'the channel exists').inFlight;
  }

  /**
   * Submits a job; `flush` sends it. @returns false, without effect, when the channel is full.
   *
   * @param channelIndex any integer from 0; taken modulo the number of channels.
   */
  submit(channelIndex: number, ticket: number, job: PoolJob): boolean {
    const { signature, text, publicKey, coSigners = NO_CO_SIGNERS, isCreate = false } = job;
    const isSigned = signature.length === SIGNATURE_BYTES;
    assert(isSigned || (signature.length === 0 && coSigners.length > 0), 'a verify job has a signature');
    assert(publicKey.length === PUBLIC_KEY_BYTES, 'size of the key of a verify job');
    assert(text.length <= VERIFIED_TEXT_BYTES_MAX, 'a signed text is within its limit');
    const channel = must(this.#open[channelIndex % this.channels], 'the channel exists');
    const { jobs } = channel;
    const tailBytes = coSigners.length === 0 ? 0 : coSignersBytes(coSigners);
    assert(tailBytes <= CO_SIGNERS_BYTES_MAX, 'co-signers are within their limit');
    const at = jobs.claim(VerifyJob.typeId, VerifyJob.bytes + text.length + tailBytes);
    if (at === RING_FULL) return false;
    VerifyJob.setTicket(jobs.views, at, ticket);
    VerifyJob.setTextBytes(jobs.views, at, text.length);
    VerifyJob.setIsSigned(jobs.views, at, isSigned);
    VerifyJob.setCoSigners(jobs.views, at, coSigners.length);
    VerifyJob.setIsCreate(jobs.views, at, isCreate);
    jobs.views.u8.set(signature, at + VerifyJob.signatureAt);
    jobs.views.u8.set(publicKey, at + VerifyJob.publicKeyAt);
    jobs.views.u8.set(text, at + VerifyJob.bytes);
    if (tailBytes > 0) writeCoSigners(coSigners, jobs.views.u8, at + VerifyJob.bytes + text.length);
    jobs.commit();
    channel.inFlight += 1 + coSigners.length;
    return true;
  }

  /** Sends the submitted jobs: once per pass of the event loop, so that a burst costs one notification. */
  flush(): void {
    for (const channel of this.#open) {
      if (channel.jobs.publish()) channel.bell.ring();
    }
  }

  /** Completes every job in flight, then ends the threads. */
  async close(): Promise<void> {
    this.#closing = true;
    this.flush();
    for (const channel of this.#open) {
      Atomics.store(channel.words, VERIFY_WORD.stop, 1);
      channel.bell.ring();
    }
    await Promise.all(this.#tasks);
    for (const channel of this.#open) {
      this.#drain(channel);
      channel.port.close();
    }
    await this.#pool.destroy();
  }

  #startChannel(index: number): Channel {
    const words = new SharedArrayBuffer(VERIFY_WORDS * Int32Array.BYTES_PER_ELEMENT);
    const jobs = createRing({ capacityBytes: RING_BYTES, reservedBytes: 0 });
    const verdicts = createRing({ capacityBytes: RING_BYTES, reservedBytes: 0 });
    const ports = new MessageChannel();
    const { webauthn = null, attestations: rings = [], traces = [] } = this.#options;
    const attestations = rings[index] ?? null;
    const trace = traces[index] ?? null;
    const thread: VerifyThread = { jobs, verdicts, attestations, words, port: ports.port2, webauthn, trace };
    this.#tasks.push(this.#run(thread));
    const shared = new Int32Array(words);
    const channel: Channel = {
      jobs: new RingWriter(jobs),
      verdicts: new RingReader(verdicts),
      bell: new Doorbell(shared, VERIFY_WORD.workerBell),
      sleeper: new Sleeper(shared, VERIFY_WORD.ownerBell),
      words: shared,
      port: ports.port1,
      inFlight: 0,
    };
    channel.port.on('message', () => this.#drain(channel));
    channel.sleeper.prepare();
    return channel;
  }

  async #run(thread: VerifyThread): Promise<void> {
    try {
      await this.#pool.run(thread, { transferList: [thread.port] });
    } catch (error) {
      if (!this.#closing) this.#options.onDeath(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Handles verdicts until none waits, then lets the thread ring the doorbell again. */
  #drain(channel: Channel): void {
    const take = (_typeId: number, at: number): undefined => {
      const { views } = channel.verdicts;
      channel.inFlight -= Verdict.signatures(views, at);
      this.#options.onVerdict(Verdict.ticket(views, at), Verdict.valid(views, at));
    };
    do {
      channel.sleeper.wake();
      while (channel.verdicts.drain(take, VERDICTS_PER_TURN) > 0);
      channel.sleeper.prepare();
    } while (channel.verdicts.hasRecords());
  }
}
