/**
 * The EVM chains of a node: one thread watches them and signs (evm-thread.ts). Here are its escape modes and what the registry says.
 */
import { ConfigError } from '../core/config-error.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { CheckpointTerms } from './approval-digests.ts';
import type { Signed, SigningRequest } from './approval-signer.ts';
import { type ChainKind, escapeText, type WatchedChain } from './chain-kind.ts';
import { STAYS_STOPPED } from './chain-operations.ts';
import { type ChainRegistry, type EvmChainSettings, evmChains, type VaultSettings } from './chain-rows.ts';
import type { CounterAt } from './event-watch.ts';
import { EvmThread, type EvmThreadParts } from './evm-thread.ts';
import type { Held } from './held-units.ts';
import type { BlocksAgain } from './vault-watch.ts';

/** How long a start waits for a majority, and how often it is requested. */
const ESCAPE_MS_MAX = 5_000;
const ESCAPE_POLL_MS = 100;
/** Between two questions whether a vault is in escape mode. */
const ESCAPE_WATCH_MS = 30_000;

const NOT_READ: Reject = reject('SERVICE_UNAVAILABLE', 'the chain is stopped, or is not read up to this block');

interface EvmChainsParts extends EvmThreadParts {
  readonly registry: () => ChainRegistry;
  /** Chains on whose vault in escape mode the operator accepts a start (AMB-85). */
  readonly acceptsEscape: readonly string[];
  /** Escape mode of a vault has begun, or has ended. */
  readonly escaped: (chainId: ChainId, isOpen: boolean) => void;
}

export class EvmChains implements ChainKind {
  readonly #parts: EvmChainsParts;
  readonly #thread: EvmThread;
  #chains: ReadonlyMap<ChainId, EvmChainSettings> = new Map();
  /** Those whose vault is in escape mode, as far as a majority has answered. */
  readonly #escaped = new Set<ChainId>();
  #escapes: NodeJS.Timeout | null = null;
  #isStopped = false;
  readonly isTimed: boolean = true;

  constructor(parts: EvmChainsParts) {
    this.#parts = parts;
    this.#thread = new EvmThread(parts);
  }

  async follow(): Promise<void> {
    if (this.#isStopped) return;
    this.#chains = evmChains(this.#parts.registry());
    this.#thread.watch(this.#chains);
  }

  async start(): Promise<void> {
    await this.follow();
    await Promise.all([...this.#chains].map(([chainId, { vault }]) => vault && this.#judgeEscape(chainId)));
    this.#escapes = setInterval(() => void this.#watchEscapes(), ESCAPE_WATCH_MS);
    this.#escapes.unref();
  }

  /**
   * What the vault has paid without the node is debited before any order (CHN-07). A majority that does not answer within
   * ESCAPE_MS_MAX delays no start: its forced withdrawals are debited when they are read.
   */
  async #judgeEscape(chainId: ChainId): Promise<void> {
    const endMs = performance.now() + ESCAPE_MS_MAX;
    for (let wasOpen = false; !this.#isStopped; ) {
      const found = await this.#thread.escape(chainId);
      if (found === null && !wasOpen && performance.now() > endMs) return;
      if (found?.isOpen === false) return;
      if (found?.isOpen === true && !wasOpen) {
        if (!this.#parts.acceptsEscape.includes(chainId)) throw new ConfigError(escapeText(chainId));
        wasOpen = true;
        this.#setEscaped(chainId, true);
      }
      if (found?.isBooked === true) return;
      await new Promise((resolve) => setTimeout(resolve, ESCAPE_POLL_MS));
    }
  }

  /** A vault without checkpoints opens while the node runs; its owner ends that. */
  async #watchEscapes(): Promise<void> {
    for (const [chainId, { vault }] of this.#chains) {
      const found = vault === null ? null : await this.#thread.escape(chainId);
      if (found !== null) this.#setEscaped(chainId, found.isOpen);
    }
  }

  #setEscaped(chainId: ChainId, isOpen: boolean): void {
    if (this.#escaped.has(chainId) === isOpen) return;
    if (isOpen) this.#escaped.add(chainId);
    else this.#escaped.delete(chainId);
    this.#parts.escaped(chainId, isOpen);
  }

  settings(chainId: ChainId): EvmChainSettings | null {
    return this.#chains.get(chainId) ?? null;
  }

  chainIds(): Iterable<ChainId> {
    return this.#chains.keys();
  }

  state(chainId: ChainId): WatchedChain | undefined {
    return this.#thread.state(chainId);
  }

  get signerAddresses(): ReadonlySet<string> {
    return this.#thread.signerAddresses;
  }

  sign(request: SigningRequest): Promise<Signed | null> {
    return this.#thread.sign(request);
  }

  /** null: the thread does not run. */
  signCheckpoint(chainId: ChainId, vault: VaultSettings, terms: CheckpointTerms): Promise<Signed | null> {
    return this.#thread.signCheckpoint(chainId, vault, terms);
  }

  withdrawalCount(chainId: ChainId, user: UserId): Promise<CounterAt | null> {
    return this.#thread.withdrawalCount(chainId, user);
  }

  settlementCount(chainId: ChainId, user: UserId, subAccount: number): Promise<CounterAt | null> {
    return this.#thread.settlementCount(chainId, user, subAccount);
  }

  held(chainId: ChainId): Held | null {
    return this.#thread.held(chainId);
  }

  bookings(chainId: ChainId): number | null {
    return this.#thread.bookings(chainId);
  }

  isEscaped(chainId: ChainId): boolean {
    return this.#escaped.has(chainId);
  }

  async resume(chainId: ChainId): Promise<Outcome<void>> {
    return (await this.#thread.resume(chainId)) === true ? accepted(undefined) : rejected(STAYS_STOPPED);
  }

  async readAgain(chainId: ChainId, from: number): Promise<Outcome<BlocksAgain>> {
    const read = await this.#thread.readAgain(chainId, from);
    return read === null ? rejected(NOT_READ) : accepted(read);
  }

  rowChanged(): void {
    // The timer of approvals finds it.
  }

  nowMs(): number {
    return performance.now();
  }

  get isBusy(): boolean {
    return this.#thread.isBusy;
  }

  /** Whether the thread has not loaded its modules yet. */
  get isLoading(): boolean {
    return this.#thread.isLoading;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#escapes !== null) clearInterval(this.#escapes);
    await this.#thread.stop();
  }
}
