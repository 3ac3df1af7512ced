/**
 * The thread that watches EVM chains: one loop for each chain, providers of its own, cursors in files. It holds no balance
 * and decides no credit; evm-thread.ts passes its deposits to clearing.
 *
 * A loop polls twice a second while the head moves, and every 2 s when it stands; it reads ranges without a pause while it
 * is behind. Chains do not wait for each other.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { assert, must } from '../core/assert.ts';
import type { ChainId } from '../core/ids.ts';
import { createLogger } from '../runtime/logging.ts';
import { type EvmChainSettings, vmIdOf } from './chain-rows.ts';
import type { ConfirmedDeposit } from './deposit-watcher.ts';
import { EvmCursorStore } from './evm-cursor.ts';
import { EvmProvider } from './evm-provider.ts';
import type { EvmWorkerData, FromWatcher, ToWatcher } from './evm-thread.ts';
import { type DepositReply, EvmWatch, type WatchLog } from './evm-watch.ts';

const POLL_MS_MIN = 500;
const POLL_MS_MAX = 2_000;

type Log = (bindings: object) => WatchLog;

interface LoopParts {
  readonly chainId: ChainId;
  readonly store: EvmCursorStore;
  readonly log: Log;
  readonly send: (message: FromWatcher) => void;
  /** Resolves when no other loop of this chain writes its file. */
  readonly after: Promise<void>;
}

/** One chain: its watch is opened anew when vault or providers change. */
class ChainLoop {
  readonly #parts: LoopParts;
  #settings: EvmChainSettings;
  #watch: EvmWatch | null = null;
  /** What the watch was opened with. */
  #opened = '';
  #replied: ((replies: readonly (DepositReply | null)[]) => void) | null = null;
  readonly #resumes: number[] = [];
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

  resume(request: number): void {
    this.#resumes.push(request);
    this.#wakeUp?.();
  }

  replied(replies: readonly (DepositReply | null)[]): void {
    this.#replied?.(replies);
    this.#replied = null;
  }

  end(): void {
    this.#isEnding = true;
    this.#replied?.([]);
    this.#wakeUp?.();
  }

  async #run(): Promise<void> {
    try {
      await this.#parts.after;
      let pauseMs = POLL_MS_MIN;
      while (!this.#isEnding) {
        const head = this.#watch?.state().head ?? -1;
        const poll = await this.#step();
        pauseMs = this.#watch?.state().head === head ? Math.min(pauseMs * 2, POLL_MS_MAX) : POLL_MS_MIN;
        if (poll === 'idle') await this.#pause(pauseMs);
      }
      await this.#watch?.close();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.send({ kind: 'failed', reason: `chain ${this.#parts.chainId}: ${reason}` });
    }
  }

  async #step(): Promise<'again' | 'idle'> {
    const watch = await this.#current();
    for (const request of this.#resumes.splice(0)) {
      await watch?.resume();
      this.#parts.send({ kind: 'resumed', request });
    }
    if (watch === null) return 'idle';
    const poll = await watch.poll();
    this.#parts.send({ kind: 'state', chainId: this.#parts.chainId, state: watch.state() });
    return poll;
  }

  /** null while the chain has no vault. */
  async #current(): Promise<EvmWatch | null> {
    const { vault, rpcUrls } = this.#settings;
    const wanted = JSON.stringify([vault?.address ?? null, rpcUrls]);
    if (wanted === this.#opened) return this.#watch;
    await this.#watch?.close();
    this.#opened = wanted;
    this.#watch = vault === null ? null : await this.#open(vault.address.slice(0, 40));
    return this.#watch;
  }

  #open(vault: string): Promise<EvmWatch> {
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
    return EvmWatch.open({
      chainId,
      vault,
      store,
      providers,
      confirmations: () => this.#settings.depositConfirmations,
      offer: (deposits) => this.#offer(deposits),
      log: log({ chain: chainId }),
    });
  }

  #offer(deposits: readonly ConfirmedDeposit[]): Promise<readonly (DepositReply | null)[]> {
    if (this.#isEnding) return Promise.resolve([]);
    this.#parts.send({ kind: 'deposits', chainId: this.#parts.chainId, deposits });
    return new Promise((resolve) => {
      this.#replied = resolve;
    });
  }

  #pause(ms: number): Promise<void> {
    if (this.#isEnding) return Promise.resolve();
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

/** Runs until it receives `end`. */
export function runEvmWorker(): void {
  assert(!isMainThread, 'EVM chains are watched on their own thread');
  const port = must(parentPort, 'a worker has a parent');
  const { dataDirectory, logLevel } = workerData as EvmWorkerData;
  const logger = createLogger({ name: 'chain', level: logLevel });
  const store = new EvmCursorStore(dataDirectory);
  const loops = new Map<ChainId, ChainLoop>();
  const ending = new Map<ChainId, Promise<void>>();
  const send = (message: FromWatcher): void => port.postMessage(message);

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
      if (loop !== undefined) loop.retune(settings);
      else {
        const log: Log = (bindings) => logger.child(bindings);
        const after = ending.get(chainId) ?? Promise.resolve();
        loops.set(chainId, new ChainLoop({ chainId, store, log, send, after }, settings));
      }
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
      case 'resume': {
        const loop = loops.get(message.chainId);
        if (loop === undefined) send({ kind: 'resumed', request: message.request });
        else loop.resume(message.request);
        return;
      }
      case 'end':
        for (const loop of loops.values()) loop.end();
        void Promise.all([...ending.values(), ...[...loops.values()].map((loop) => loop.ended)]).then(() =>
          port.close(),
        );
    }
  });
}
