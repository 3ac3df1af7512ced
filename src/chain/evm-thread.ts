/**
 * The node's end of the thread that watches EVM chains (evm-worker.ts), and the messages between them. JSON of thousands of
 * logs is read there; here a deposit is one command to clearing.
 *
 *   main thread                         watching thread
 *   chains of the registry ───────────▶ providers, cursors
 *   clearing ◀── commands ◀── deposits ◀┘      ▲
 *      └── replies ────────────────────────────┘   only then the cursor moves
 *
 * Bounded: at most one message with deposits of each chain is unanswered, of at most 256 deposits.
 *
 * The thread owns nothing but files that can be lost: when it dies, a new one begins at the cursors of the files. A broken
 * invariant or a full disk ends the node.
 */
import { Worker } from 'node:worker_threads';
import type { OperatorCommand, Reply } from '../clearing/inputs.ts';
import { assert } from '../core/assert.ts';
import type { ChainId } from '../core/ids.ts';
import type { EvmChainSettings } from './chain-rows.ts';
import type { ConfirmedDeposit } from './deposit-watcher.ts';
import type { DepositReply, WatchState } from './evm-watch.ts';

const RESTART_MS = 2_000;
const END_MS_MAX = 10_000;
/** A hostile provider may make an answer of 32 MiB; there are at most 15 of a chain. */
const HEAP_MIB = 2_048;

export interface EvmWorkerData {
  readonly dataDirectory: string;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
}

export type ToWatcher =
  | { readonly kind: 'chains'; readonly chains: readonly (readonly [ChainId, EvmChainSettings])[] }
  | { readonly kind: 'replies'; readonly chainId: ChainId; readonly replies: readonly (DepositReply | null)[] }
  | { readonly kind: 'resume'; readonly chainId: ChainId; readonly request: number }
  | { readonly kind: 'end' };

export type FromWatcher =
  | { readonly kind: 'deposits'; readonly chainId: ChainId; readonly deposits: readonly ConfirmedDeposit[] }
  | { readonly kind: 'state'; readonly chainId: ChainId; readonly state: WatchState }
  | { readonly kind: 'resumed'; readonly request: number }
  | { readonly kind: 'failed'; readonly reason: string };

export interface EvmThreadParts extends EvmWorkerData {
  /** Its compiled program, which calls runEvmWorker. */
  readonly entry: URL;
  /** Resolves when clearing has flushed the command. */
  readonly command: (command: OperatorCommand) => Promise<Reply>;
  /** Called when the node must stop. */
  readonly fail: (reason: string) => void;
  /** The thread died and begins anew. */
  readonly died: (reason: string) => void;
}

/** The last reported state of a chain. */
export interface WatchedChain extends WatchState {
  readonly chainId: ChainId;
  /** `performance.now()` of the last poll. */
  readonly polledMs: number;
}

export class EvmThread {
  readonly #parts: EvmThreadParts;
  readonly #states = new Map<ChainId, WatchedChain>();
  readonly #resumes = new Map<number, () => void>();
  #chains: readonly (readonly [ChainId, EvmChainSettings])[] = [];
  #worker: Worker | null = null;
  #ended: Promise<void> = Promise.resolve();
  #nextRequest = 1;
  #offers = 0;
  #isEnding = false;

  constructor(parts: EvmThreadParts) {
    this.#parts = parts;
  }

  /** Whether deposits are with clearing. */
  get isBusy(): boolean {
    return this.#offers > 0;
  }

  states(): readonly WatchedChain[] {
    return [...this.#states.values()];
  }

  /** The chains to watch from now on; the thread exists while there are any. */
  watch(chains: ReadonlyMap<ChainId, EvmChainSettings>): void {
    this.#chains = [...chains];
    for (const chainId of this.#states.keys()) if (!chains.has(chainId)) this.#states.delete(chainId);
    if (this.#isEnding || (this.#worker === null && chains.size === 0)) return;
    if (this.#worker === null) this.#begin();
    else this.#send({ kind: 'chains', chains: this.#chains });
  }

  /** Resolves when the chain is no longer stopped. */
  resume(chainId: ChainId): Promise<void> {
    const request = this.#nextRequest;
    this.#nextRequest += 1;
    this.#send({ kind: 'resume', chainId, request });
    return new Promise((resolve) => this.#resumes.set(request, resolve));
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
    const { dataDirectory, logLevel, entry } = this.#parts;
    const worker = new Worker(entry, {
      workerData: { dataDirectory, logLevel } satisfies EvmWorkerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    this.#worker = worker;
    worker.on('message', (message: FromWatcher) => this.#received(message));
    let fault = '';
    worker.on('error', (error: Error) => {
      fault = error.message;
    });
    this.#ended = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#worker = null;
        this.#answerResumes();
        resolve();
        if (!this.#isEnding) this.#restart(fault === '' ? `it ended with ${code}` : fault);
      });
    });
    this.#send({ kind: 'chains', chains: this.#chains });
  }

  #restart(reason: string): void {
    this.#parts.died(reason);
    setTimeout(() => {
      if (this.#worker === null && !this.#isEnding && this.#chains.length > 0) this.#begin();
    }, RESTART_MS).unref();
  }

  #received(message: FromWatcher): void {
    switch (message.kind) {
      case 'deposits':
        void this.#offer(message.chainId, message.deposits);
        return;
      case 'state':
        if (!this.#chains.some(([chainId]) => chainId === message.chainId)) return;
        this.#states.set(message.chainId, {
          ...message.state,
          chainId: message.chainId,
          polledMs: performance.now(),
        });
        return;
      case 'resumed':
        this.#resumes.get(message.request)?.();
        this.#resumes.delete(message.request);
        return;
      case 'failed':
        this.#parts.fail(message.reason);
    }
  }

  async #offer(chainId: ChainId, deposits: readonly ConfirmedDeposit[]): Promise<void> {
    this.#offers += 1;
    try {
      const replies = await Promise.all(deposits.map((deposit) => this.#credit(chainId, deposit)));
      this.#send({ kind: 'replies', chainId, replies });
    } catch (error) {
      this.#parts.fail(`chain ${chainId}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#offers -= 1;
    }
  }

  /** @returns null when clearing is too busy, or the node stops. */
  async #credit(chainId: ChainId, deposit: ConfirmedDeposit): Promise<DepositReply | null> {
    if (this.#isEnding) return null;
    const { block: _block, nonce: depositNonce, ...event } = deposit;
    const reply = await this.#parts.command({ kind: 'deposit', chainId, ...event, depositNonce });
    if (!reply.ok) {
      const { code, message } = reply.reject;
      assert(code === 'SERVICE_UNAVAILABLE', `clearing refuses no deposit: ${message}`);
      return null;
    }
    const { result, next_nonce: nextNonce } = reply.value;
    assert(typeof result === 'string' && typeof nextNonce === 'number', 'clearing returns what it did');
    return { result, nextNonce };
  }

  #answerResumes(): void {
    for (const resolve of this.#resumes.values()) resolve();
    this.#resumes.clear();
  }

  #send(message: ToWatcher): void {
    this.#worker?.postMessage(message);
  }
}
