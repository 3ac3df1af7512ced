/**
 * The thread that watches EVM chains and signs approvals: one loop for each chain, providers of its own, cursors in rows of the journal
 * (cursor-rows.ts). It holds no balance and decides no credit; evm-thread.ts passes the events of vaults to clearing.
 *
 *   loop ─▶ vault-watch.ts over the providers of the chain ─▶ state, holdings, commands for clearing
 *
 * A loop polls twice a second while the head moves, and every 2 s when it stands; it reads ranges without a pause while it
 * is behind. Chains do not wait for each other.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { CursorPage } from '../clearing/funds/chain-cursors.ts';
import type { OperatorCommand } from '../clearing/inputs.ts';
import { assert, must } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { createLogger } from '../runtime/logging.ts';
import { type ApprovedBefore, KeySigner } from './approval-signer.ts';
import type { View } from './bookings.ts';
import { type EvmChainSettings, vmIdOf } from './chain-rows.ts';
import { CursorMoved, CursorRows, type StepReply } from './cursor-rows.ts';
import { type CursorKeeper, CursorStore } from './event-cursor.ts';
import type { CounterAt, Poll, WatchLog } from './event-watch.ts';
import { EvmProvider } from './evm-provider.ts';
import type { EvmWorkerData, FromWatcher, ToWatcher } from './evm-thread.ts';
import { PUBLIC_APPROVAL_KEY, readKeyFile } from './key-file.ts';
import { type BlocksAgain, type EscapeAnswer, VaultWatch } from './vault-watch.ts';

const POLL_MS_MIN = 500;
const POLL_MS_MAX = 2_000;
/** Between two readings of what the vault holds, without events. */
const HELD_MS = 5_000;
/** Between two records with the cursor of a kind of events in which nothing is booked; a start reads so much of a chain again. */
const CURSOR_MS = 60_000;

type Log = (bindings: object) => WatchLog;

interface LoopParts {
  readonly chainId: ChainId;
  /** Its cursors; `isEnding`: nothing is waited for any more. */
  readonly store: (isEnding: () => boolean) => CursorKeeper;
  readonly log: Log;
  readonly send: (message: FromWatcher) => void;
  /** Resolves when no other loop of this chain moves its cursors. */
  readonly after: Promise<void>;
}

/** One chain: its watch is opened anew when vault or providers change. */
class ChainLoop {
  readonly #parts: LoopParts;
  #settings: EvmChainSettings;
  #watch: VaultWatch | null = null;
  /** What the watch was opened with. */
  #opened = '';
  #replied: ((replies: readonly (View | null)[]) => void) | null = null;
  /** Messages with events since the thread began. */
  #messages = 0;
  #heldMs = Number.NEGATIVE_INFINITY;
  #heldMessages = -1;
  /** Between two polls, in order. */
  readonly #jobs: (() => Promise<void>)[] = [];
  #wakeUp: (() => void) | null = null;
  #isEnding = false;
  readonly ended: Promise<void>;

  constructor(parts: LoopParts, settings: EvmChainSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.ended = this.#run();
  }

  retune(settings: EvmChainSettings): void {
    this.#settings = settings;
    this.#wakeUp?.();
  }

  /** @returns whether the chain is not stopped. */
  resume(): Promise<boolean | null> {
    return this.#between(async (watch) => (await watch?.resume()) ?? true);
  }

  /** @returns the blocks that are read again; null: there are none so far, or the chain is stopped. */
  readAgain(from: number): Promise<BlocksAgain | null> {
    return this.#between(async (watch) => watch?.readAgain(from) ?? null);
  }

  escape(): Promise<EscapeAnswer | null> {
    return this.#between(async (watch) => (await watch?.escape()) ?? null);
  }

  withdrawalCount(user: UserId): Promise<CounterAt | null> {
    return this.#between(async (watch) => (await watch?.withdrawalCount(user)) ?? null);
  }

  settlementCount(user: UserId, account: number): Promise<CounterAt | null> {
    return this.#between(async (watch) => (await watch?.settlementCount(user, account)) ?? null);
  }

  replied(replies: readonly (View | null)[]): void {
    this.#replied?.(replies);
    this.#replied = null;
  }

  end(): void {
    this.#isEnding = true;
    this.#replied?.([]);
    this.#wakeUp?.();
  }

  #between<T>(work: (watch: VaultWatch | null) => Promise<T | null>): Promise<T | null> {
    if (this.#isEnding) return Promise.resolve(null);
    this.#wakeUp?.();
    return new Promise((resolve) => {
      this.#jobs.push(async () => {
        let result: T | null = null;
        try {
          result = await work(this.#watch);
        } finally {
          resolve(result);
        }
      });
    });
  }

  async #run(): Promise<void> {
    try {
      await this.#parts.after;
      let pauseMs = POLL_MS_MIN;
      while (!this.#isEnding) {
        const head = this.#watch?.state().head ?? -1;
        const poll = await this.#step().catch((error: unknown) => this.#reopened(error));
        pauseMs = this.#watch?.state().head === head ? Math.min(pauseMs * 2, POLL_MS_MAX) : POLL_MS_MIN;
        if (poll === 'idle') await this.#pause(pauseMs);
      }
      await this.#closed();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.send({ kind: 'failed', reason: `chain ${this.#parts.chainId}: ${reason}` });
    }
    this.#isEnding = true;
    this.#watch = null;
    for (const job of this.#jobs.splice(0)) await job();
  }

  /** The cursors are loaded again for the next poll. @throws unless another thread moved one, or the thread ends. */
  #reopened(error: unknown): Poll {
    if (!(error instanceof CursorMoved)) throw error;
    this.#watch = null;
    this.#opened = '';
    return 'idle';
  }

  /** What is not kept by then is read again. */
  async #closed(): Promise<void> {
    try {
      await this.#watch?.close();
    } catch (error) {
      this.#reopened(error);
    }
  }

  async #step(): Promise<Poll> {
    const watch = await this.#current();
    for (const job of this.#jobs.splice(0)) await job();
    if (watch === null) return 'idle';
    const poll = await watch.poll();
    this.#parts.send({ kind: 'state', chainId: this.#parts.chainId, state: watch.state() });
    if (poll === 'idle') await this.#readHoldings(watch);
    return poll;
  }

  /** After events, and else every HELD_MS: between two polls, so that nothing is booked meanwhile. */
  async #readHoldings(watch: VaultWatch): Promise<void> {
    const isRecent = performance.now() - this.#heldMs < HELD_MS && this.#heldMessages === this.#messages;
    if (isRecent || this.#isEnding) return;
    this.#heldMs = performance.now();
    const held = await watch.held(this.#settings.tokens);
    if (held === null) return;
    this.#heldMessages = this.#messages;
    const { block, units } = held;
    const messages = this.#messages;
    this.#parts.send({ kind: 'held', chainId: this.#parts.chainId, block, units: [...units], messages });
  }

  /** null while the chain has no vault. */
  async #current(): Promise<VaultWatch | null> {
    const { vault, rpcUrls } = this.#settings;
    const wanted = JSON.stringify([vault?.address ?? null, rpcUrls]);
    if (wanted === this.#opened) return this.#watch;
    await this.#closed();
    this.#opened = wanted;
    this.#watch = vault === null ? null : await this.#open(vault.address.slice(0, 40));
    return this.#watch;
  }

  #open(vault: string): Promise<VaultWatch> {
    const { chainId, store, log } = this.#parts;
    const providers = this.#settings.rpcUrls.map((url, provider) => {
      const lines = log({ chain: chainId, provider });
      return new EvmProvider({
        url,
        vmId: vmIdOf(chainId),
        nowMs: () => performance.now(),
        changed: (fault) => {
          if (fault === null) lines.info({}, 'the provider answers again');
          else lines.warn({ fault }, 'the provider does not answer');
        },
      });
    });
    return VaultWatch.open({
      chainId,
      vault,
      store: store(() => this.#isEnding),
      providers,
      policy: () => this.#settings,
      isForkWhole: false,
      book: (commands) => this.#book(commands),
      log,
      nowS: () => 0,
      nowMs: () => performance.now(),
      savedEveryMs: CURSOR_MS,
    });
  }

  #book(commands: readonly OperatorCommand[]): Promise<readonly (View | null)[]> {
    if (this.#isEnding) return Promise.resolve([]);
    this.#messages += 1;
    this.#parts.send({ kind: 'commands', chainId: this.#parts.chainId, commands });
    return new Promise((resolve) => {
      this.#replied = resolve;
    });
  }

  #pause(ms: number): Promise<void> {
    if (this.#isEnding || this.#jobs.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wakeUp?.(), ms);
      this.#wakeUp = () => {
        clearTimeout(timer);
        this.#wakeUp = null;
        resolve();
      };
    });
  }
}

function workOf(
  loop: ChainLoop | undefined,
  message: Extract<ToWatcher, { readonly kind: 'count' | 'resume' | 'readAgain' | 'escape' }>,
): Promise<CounterAt | BlocksAgain | EscapeAnswer | boolean | null> | undefined {
  if (message.kind === 'resume') return loop?.resume();
  if (message.kind === 'escape') return loop?.escape();
  if (message.kind === 'readAgain') return loop?.readAgain(message.from);
  const { user, account } = message;
  return account === null ? loop?.withdrawalCount(user) : loop?.settlementCount(user, account);
}

/** Runs until it receives `end`. */
export function runEvmWorker(): void {
  assert(!isMainThread, 'EVM chains are watched on their own thread');
  const port = must(parentPort, 'a worker has a parent');
  const { dataDirectory, logLevel, logs, approvalKeys, approvalLimits } = workerData as EvmWorkerData;
  const logger = createLogger({ name: 'chain', level: logLevel, stream: new LogLane(logs, 'chain') });
  const files = new CursorStore(dataDirectory);
  const asked = new Map<number, (value: never) => void>();
  let nextRequest = 1;
  const keys = approvalKeys?.map(readKeyFile) ?? [PUBLIC_APPROVAL_KEY];
  const signerAfter = (before?: ApprovedBefore): KeySigner =>
    new KeySigner(keys, () => performance.now(), approvalLimits, before);
  let begin: (before: ApprovedBefore) => void = () => undefined;
  const signing = new Promise<ApprovedBefore>((resolve) => {
    begin = resolve;
  }).then(signerAfter);
  const loops = new Map<ChainId, ChainLoop>();
  const ending = new Map<ChainId, Promise<void>>();
  const send = (message: FromWatcher): void => port.postMessage(message);
  const ask = <T>(message: (request: number) => FromWatcher): Promise<T> => {
    const request = nextRequest;
    nextRequest += 1;
    return new Promise((resolve) => {
      asked.set(request, resolve as (value: never) => void);
      send(message(request));
    });
  };
  const store = (isEnding: () => boolean): CursorKeeper =>
    new CursorRows({
      page: (chainId, event, from) =>
        ask<CursorPage | null | undefined>((request) => ({ kind: 'page', request, chainId, event, from })),
      step: (step) => ask<StepReply>((request) => ({ kind: 'step', request, step })),
      files,
      isEnding,
    });
  send({ kind: 'addresses', addresses: signerAfter().addresses });
  const log: Log = (bindings) => logger.child(bindings);

  const follow = (chains: readonly (readonly [ChainId, EvmChainSettings])[]): void => {
    const wanted = new Map(chains);
    for (const [chainId, loop] of loops) {
      if (wanted.has(chainId)) continue;
      loops.delete(chainId);
      loop.end();
      ending.set(chainId, loop.ended);
    }
    for (const [chainId, settings] of wanted) {
      const loop = loops.get(chainId);
      const after = ending.get(chainId) ?? Promise.resolve();
      if (loop !== undefined) loop.retune(settings);
      else loops.set(chainId, new ChainLoop({ chainId, store, log, send, after }, settings));
    }
  };

  const answer = async (
    message: Exclude<Extract<ToWatcher, { readonly request: number }>, { readonly kind: 'told' }>,
  ): Promise<void> => {
    const { request } = message;
    if (message.kind === 'sign') send({ kind: 'answer', request, value: await (await signing).sign(message.signing) });
    else if (message.kind === 'signCheckpoint') {
      const { vault, chainId, terms } = message;
      send({ kind: 'answer', request, value: await (await signing).signCheckpoint(vault, chainId, terms) });
    } else {
      const loop = loops.get(message.chainId);
      send({ kind: 'answer', request, value: (await workOf(loop, message)) ?? null });
    }
  };

  port.on('message', (message: ToWatcher) => {
    switch (message.kind) {
      case 'chains':
        follow(message.chains);
        return;
      case 'replies':
        loops.get(message.chainId)?.replied(message.replies);
        return;
      case 'approved':
        begin(message.before);
        return;
      case 'told':
        asked.get(message.request)?.(message.value as never);
        asked.delete(message.request);
        return;
      case 'end':
        for (const loop of loops.values()) loop.end();
        void Promise.all([...ending.values(), ...[...loops.values()].map((loop) => loop.ended)]).then(() =>
          port.close(),
        );
        return;
      default:
        void answer(message);
    }
  });
}
