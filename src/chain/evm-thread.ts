/**
 * The node's end of the thread that watches EVM chains and signs approvals (evm-worker.ts), and the messages between them.
 * JSON of thousands of logs is read there; here an event of a vault is one command to clearing (bookings.ts).
 *
 *   main thread                         watching thread
 *   chains of the registry ───────────▶ providers, watches
 *   clearing ◀──────────── commands ◀───┘      ▲
 *      └── replies ────────────────────────────┘   only then the cursor moves
 *   clearing ◀──────────── step of a cursor, journaled: cursor-rows.ts
 *   rows to be signed ────────────────▶ signer ─▶ signatures; keys never leave that thread
 *
 * Bounded: at most one message with commands of each chain is unanswered, of at most 256 commands, and one step of a cursor.
 *
 * The thread owns nothing: when it dies, a new one begins at the cursors of the rows. A broken
 * invariant or a full disk ends the node.
 */
import { Worker } from 'node:worker_threads';
import type { CursorPage } from '../clearing/funds/chain-cursors.ts';
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import { assert } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import type { LogMemory } from '../runtime/log-buffer.ts';
import type { CheckpointTerms } from './approval-digests.ts';
import type { AmountLimits, ApprovedBefore, Signed, SigningRequest } from './approval-signer.ts';
import type { View } from './bookings.ts';
import type { VaultEventKind } from './chain-events.ts';
import type { WatchedChain } from './chain-kind.ts';
import type { EvmChainSettings, VaultSettings } from './chain-rows.ts';
import type { CursorStepMessage, StepReply } from './cursor-rows.ts';
import type { CounterAt, WatchState } from './event-watch.ts';
import type { Held } from './held-units.ts';
import type { BlocksAgain, EscapeAnswer } from './vault-watch.ts';

const RESTART_MS = 2_000;
const END_MS_MAX = 10_000;
const END_STEP_MS = 1_000;
/** A hostile provider may make an answer of 32 MiB; there are at most 15 of a chain. */
const HEAP_MIB = 2_048;

export interface EvmWorkerData {
  readonly dataDirectory: string;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  readonly logs: LogMemory;
  /** Files of approval keys; null: the key of dev and test. */
  readonly approvalKeys: readonly string[] | null;
  /** Base units an hour, by `<token>@<chain id>`: at most so much of a token is approved. */
  readonly approvalLimits: AmountLimits;
}

type Answer = Signed | CounterAt | BlocksAgain | EscapeAnswer | boolean | null;

export type ToWatcher =
  | { readonly kind: 'chains'; readonly chains: readonly (readonly [ChainId, EvmChainSettings])[] }
  | { readonly kind: 'replies'; readonly chainId: ChainId; readonly replies: readonly (View | null)[] }
  | { readonly kind: 'resume'; readonly chainId: ChainId; readonly request: number }
  | {
      readonly kind: 'signCheckpoint';
      readonly chainId: ChainId;
      readonly vault: VaultSettings;
      readonly terms: CheckpointTerms;
      readonly request: number;
    }
  | { readonly kind: 'escape'; readonly chainId: ChainId; readonly request: number }
  | { readonly kind: 'readAgain'; readonly chainId: ChainId; readonly from: number; readonly request: number }
  | { readonly kind: 'sign'; readonly signing: SigningRequest; readonly request: number }
  | {
      readonly kind: 'count';
      readonly chainId: ChainId;
      readonly user: UserId;
      /** Of settlements; null: of withdrawals. */
      readonly account: number | null;
      readonly request: number;
    }
  /** What was approved before the thread began. */
  | { readonly kind: 'approved'; readonly before: ApprovedBefore }
  /** The answer to a page or a step. */
  | { readonly kind: 'told'; readonly request: number; readonly value: CursorPage | StepReply | undefined }
  | { readonly kind: 'end' };

export type FromWatcher =
  /** What books events of a vault, or takes them back. */
  | { readonly kind: 'commands'; readonly chainId: ChainId; readonly commands: readonly OperatorCommand[] }
  | { readonly kind: 'state'; readonly chainId: ChainId; readonly state: WatchState }
  /** What the vault holds after so many messages with events of the chain. */
  | {
      readonly kind: 'held';
      readonly chainId: ChainId;
      readonly block: number;
      readonly units: readonly (readonly [string, bigint])[];
      readonly messages: number;
    }
  /** A part of a cursor is asked for. */
  | {
      readonly kind: 'page';
      readonly request: number;
      readonly chainId: ChainId;
      readonly event: VaultEventKind;
      readonly from: number;
    }
  | { readonly kind: 'step'; readonly request: number; readonly step: CursorStepMessage }
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'answer'; readonly request: number; readonly value: Answer }
  | { readonly kind: 'failed'; readonly reason: string };

/** @returns null: there is no such cursor; undefined: not now. */
export type CursorPages = (
  chainId: ChainId,
  event: VaultEventKind,
  from: number,
) => Promise<CursorPage | null | undefined>;

export interface EvmThreadParts extends EvmWorkerData {
  /** What was approved before, of rows; nothing is signed until it resolves. */
  readonly approvedBefore: () => Promise<ApprovedBefore>;
  /** Its compiled program, which calls runEvmWorker. */
  readonly entry: URL;
  /** Resolves when clearing has flushed the command. */
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  /** A part of a cursor, from the rows; undefined: clearing does not answer now. */
  readonly cursorPage: CursorPages;
  /** Called when the node must stop. */
  readonly fail: (reason: string) => void;
  /** The thread died and begins anew. */
  readonly died: (reason: string) => void;
}

export class EvmThread {
  readonly #parts: EvmThreadParts;
  readonly #states = new Map<ChainId, WatchedChain>();
  readonly #requests = new Map<number, (value: Answer) => void>();
  #chains: readonly (readonly [ChainId, EvmChainSettings])[] = [];
  #worker: Worker | null = null;
  #ended: Promise<void> = Promise.resolve();
  #nextRequest = 1;
  #offers = 0;
  /** Steps of cursors that are with clearing. */
  #steps = 0;
  /** Messages with events of each chain since the thread began, and how many there were when its vault was read last. */
  readonly #messages = new Map<ChainId, number>();
  readonly #held = new Map<ChainId, Held & { readonly messages: number }>();
  #addresses: ReadonlySet<string> = new Set();
  #isEnding = false;
  #isLoading = false;

  constructor(parts: EvmThreadParts) {
    this.#parts = parts;
  }

  /** Whether the thread has not loaded its modules yet. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Whether events, or steps of cursors, are with clearing. */
  get isBusy(): boolean {
    return this.#offers > 0 || this.#steps > 0;
  }

  /** Of the approval keys, 40 hex; none before the thread has read them. */
  get signerAddresses(): ReadonlySet<string> {
    return this.#addresses;
  }

  /** undefined before the first poll of the chain. */
  state(chainId: ChainId): WatchedChain | undefined {
    return this.#states.get(chainId);
  }

  /** What the vault of a chain was last seen to hold; null before that. */
  held(chainId: ChainId): Held | null {
    return this.#held.get(chainId) ?? null;
  }

  /** Messages with events of a chain; null while any is with clearing, or one came after the vault was read. */
  bookings(chainId: ChainId): number | null {
    const messages = this.#messages.get(chainId) ?? null;
    return this.#offers === 0 && this.#held.get(chainId)?.messages === messages ? messages : null;
  }

  /** The chains to watch from now on; the thread exists while there are any. */
  watch(chains: ReadonlyMap<ChainId, EvmChainSettings>): void {
    this.#chains = [...chains];
    for (const chainId of this.#states.keys()) {
      if (chains.has(chainId)) continue;
      for (const map of [this.#states, this.#messages, this.#held]) map.delete(chainId);
    }
    if (this.#isEnding || (this.#worker === null && chains.size === 0)) return;
    if (this.#worker === null) this.#begin();
    else this.#send({ kind: 'chains', chains: this.#chains });
  }

  /** @returns whether the chain is not stopped; null: the thread does not run. */
  resume(chainId: ChainId): Promise<boolean | null> {
    return this.#request((request) => ({ kind: 'resume', chainId, request })) as Promise<boolean | null>;
  }

  /** @param from 1 or more. @returns null: nothing is read again, as the chain is stopped or not read so far. */
  readAgain(chainId: ChainId, from: number): Promise<BlocksAgain | null> {
    return this.#request((request) => ({ kind: 'readAgain', chainId, from, request })) as Promise<BlocksAgain | null>;
  }

  /** null: the thread does not run. */
  signCheckpoint(chainId: ChainId, vault: VaultSettings, terms: CheckpointTerms): Promise<Signed | null> {
    return this.#request((request) => ({
      kind: 'signCheckpoint',
      chainId,
      vault,
      terms,
      request,
    })) as Promise<Signed | null>;
  }

  /** null: no majority says so now. */
  escape(chainId: ChainId): Promise<EscapeAnswer | null> {
    return this.#request((request) => ({ kind: 'escape', chainId, request })) as Promise<EscapeAnswer | null>;
  }

  /** null: the thread does not run. */
  sign(signing: SigningRequest): Promise<Signed | null> {
    return this.#request((request) => ({ kind: 'sign', signing, request })) as Promise<Signed | null>;
  }

  /** null: no majority, or the thread does not run. */
  withdrawalCount(chainId: ChainId, user: UserId): Promise<CounterAt | null> {
    return this.#request((request) => ({
      kind: 'count',
      chainId,
      user,
      account: null,
      request,
    })) as Promise<CounterAt | null>;
  }

  /** null: no majority, or the thread does not run. */
  settlementCount(chainId: ChainId, user: UserId, account: number): Promise<CounterAt | null> {
    return this.#request((request) => ({
      kind: 'count',
      chainId,
      user,
      account,
      request,
    })) as Promise<CounterAt | null>;
  }

  #request(message: (request: number) => ToWatcher): Promise<Answer> {
    if (this.#worker === null) return Promise.resolve(null);
    const request = this.#nextRequest;
    this.#nextRequest += 1;
    this.#send(message(request));
    return new Promise((resolve) => this.#requests.set(request, resolve));
  }

  /** Takes no more deposits; resolves when the thread has saved its cursors and ended. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    const worker = this.#worker;
    if (worker === null) return;
    this.#send({ kind: 'end' });
    const timer = setTimeout(() => void worker.terminate(), END_MS_MAX);
    await this.#ended;
    clearTimeout(timer);
  }

  #begin(): void {
    const { dataDirectory, logLevel, logs, approvalKeys, approvalLimits, approvedBefore, entry } = this.#parts;
    const data = { dataDirectory, logLevel, logs, approvalKeys, approvalLimits };
    // The new thread counts anew; readings of before are not compared.
    for (const chainId of this.#held.keys()) this.#messages.set(chainId, Number.POSITIVE_INFINITY);
    const worker = new Worker(entry, {
      workerData: data satisfies EvmWorkerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker = worker;
    this.#isLoading = true;
    worker.on('message', (message: FromWatcher) => this.#received(message, worker));
    let fault = '';
    worker.on('error', (error: Error) => {
      fault = error.message;
    });
    this.#ended = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#worker = null;
        this.#isLoading = false;
        for (const answer of this.#requests.values()) answer(null);
        this.#requests.clear();
        resolve();
        if (!this.#isEnding) this.#restart(fault === '' ? `it ended with ${code}` : fault);
      });
    });
    this.#send({ kind: 'chains', chains: this.#chains });
    void approvedBefore().then((before) => worker.postMessage({ kind: 'approved', before } satisfies ToWatcher));
  }

  #restart(reason: string): void {
    this.#parts.died(reason);
    setTimeout(() => {
      if (this.#worker === null && !this.#isEnding && this.#chains.length > 0) this.#begin();
    }, RESTART_MS).unref();
  }

  #received(message: FromWatcher, from: Worker): void {
    this.#isLoading = false;
    switch (message.kind) {
      case 'commands':
        void this.#offer(message);
        return;
      case 'state':
        if (!this.#chains.some(([chainId]) => chainId === message.chainId)) return;
        this.#states.set(message.chainId, {
          ...message.state,
          chainId: message.chainId,
          polledMs: performance.now(),
        });
        return;
      case 'held':
        if (!this.#chains.some(([chainId]) => chainId === message.chainId)) return;
        this.#messages.set(message.chainId, message.messages);
        this.#held.set(message.chainId, { ...message, units: new Map(message.units) });
        return;
      case 'page':
        void this.#parts
          .cursorPage(message.chainId, message.event, message.from)
          .then((value) => tell(from, message.request, value));
        return;
      case 'step':
        void this.#keep(message.step).then((value) => tell(from, message.request, value));
        return;
      case 'addresses':
        this.#addresses = new Set(message.addresses);
        return;
      case 'answer':
        this.#requests.get(message.request)?.(message.value);
        this.#requests.delete(message.request);
        return;
      case 'failed':
        this.#parts.fail(message.reason);
    }
  }

  async #offer({ chainId, commands }: Extract<FromWatcher, { readonly kind: 'commands' }>): Promise<void> {
    this.#offers += 1;
    this.#messages.set(chainId, (this.#messages.get(chainId) ?? 0) + 1);
    try {
      const replies = await Promise.all(commands.map((command) => this.#book(command)));
      this.#send({ kind: 'replies', chainId, replies });
    } catch (error) {
      this.#parts.fail(`chain ${chainId}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#offers -= 1;
    }
  }

  /** The last step of an ending thread is not waited for longer than END_STEP_MS: what it covers is read again. */
  async #keep(step: CursorStepMessage): Promise<StepReply> {
    this.#steps += 1;
    try {
      const reply = this.#parts.command({ kind: 'chainStep', ...step });
      const settled = await (this.#isEnding ? Promise.race([reply, after(END_STEP_MS)]) : reply);
      if (settled === null) return null;
      if (settled.ok) return settled.value as unknown as StepReply;
      const { code, message } = settled.reject;
      if (code !== 'SERVICE_UNAVAILABLE' && code !== 'CHAIN_NOT_FOUND') {
        this.#parts.fail(`chain ${step.chainId}: clearing refuses no step of a cursor: ${message}`);
      }
      return null;
    } finally {
      this.#steps -= 1;
    }
  }

  /** @returns null when clearing is too busy, or the node stops. */
  async #book(command: OperatorCommand): Promise<View | null> {
    if (this.#isEnding) return null;
    const reply = await this.#parts.command(command);
    if (reply.ok) return reply.value;
    const { code, message } = reply.reject;
    assert(code === 'SERVICE_UNAVAILABLE', `clearing refuses no event of a vault: ${message}`);
    return null;
  }

  #send(message: ToWatcher): void {
    this.#worker?.postMessage(message);
  }
}

/** To the thread that asked: it may have ended meanwhile. */
function tell(worker: Worker, request: number, value: CursorPage | StepReply | undefined): void {
  worker.postMessage({ kind: 'told', request, value } satisfies ToWatcher);
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), ms).unref());
}
