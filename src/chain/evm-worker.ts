/**
 * The thread that watches EVM chains and signs approvals: one loop for each chain, providers of its own, cursors in files. It
 * holds no balance and decides no credit; evm-thread.ts passes the events of vaults to clearing.
 *
 *   loop ─▶ watches of forced withdrawals, deposits, withdrawals and settlements, over the same providers; when one is stopped, all rest
 *
 * A loop polls twice a second while the head moves, and every 2 s when it stands; it reads ranges without a pause while it
 * is behind. Chains do not wait for each other.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { assert, must } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { LogLane } from '../runtime/log-buffer.ts';
import { createLogger } from '../runtime/logging.ts';
import { KeySigner } from './approval-signer.ts';
import type { VaultEventKind } from './chain-events.ts';
import { type EvmChainSettings, vmIdOf } from './chain-rows.ts';
import type { ConfirmedDeposit } from './deposit-watcher.ts';
import { EvmCursorStore } from './evm-cursor.ts';
import { heldBy } from './evm-holdings.ts';
import { EvmProvider } from './evm-provider.ts';
import type { BlocksAgain, EscapeAnswer, EvmWorkerData, FromWatcher, ToWatcher } from './evm-thread.ts';
import { type CounterAt, type DepositReply, EvmWatch, type Poll, type WatchLog, type WatchState } from './evm-watch.ts';
import { PUBLIC_APPROVAL_KEY, readKeyFile } from './key-file.ts';
import { majorityHash } from './range-verdict.ts';

const POLL_MS_MIN = 500;
const POLL_MS_MAX = 2_000;
/** Between two readings of what the vault holds, without events. */
const HELD_MS = 5_000;

type Log = (bindings: object) => WatchLog;
type Watches = Readonly<Record<VaultEventKind, EvmWatch>>;

interface LoopParts {
  readonly chainId: ChainId;
  readonly store: EvmCursorStore;
  readonly log: Log;
  readonly send: (message: FromWatcher) => void;
  /** Resolves when no other loop of this chain writes its files. */
  readonly after: Promise<void>;
}

/** One chain: its watches are opened anew when vault or providers change. */
class ChainLoop {
  readonly #parts: LoopParts;
  #settings: EvmChainSettings;
  #watches: Watches | null = null;
  /** What the watches were opened with. */
  #opened = '';
  #replied: ((replies: readonly (DepositReply | null)[]) => void) | null = null;
  /** Messages with events since the thread began. */
  #messages = 0;
  #heldMs = Number.NEGATIVE_INFINITY;
  #heldMessages = -1;
  #providers: readonly EvmProvider[] = [];
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

  resume(): Promise<null> {
    return this.#between(async (watches) => {
      for (const watch of allOf(watches)) await watch.resume();
      return null;
    });
  }

  /** @returns the blocks that are read again; null: there are none so far, or the chain is stopped. */
  readAgain(from: number): Promise<BlocksAgain | null> {
    return this.#between(async (watches) => {
      const ends = allOf(watches).map((watch) => watch.readAgain(from));
      const read = ends.filter((end) => end !== null);
      return read.length === 0 ? null : { from, to: Math.max(...read) };
    });
  }

  /** Forced withdrawals are booked when all final blocks are read, as far as the vault's answer is about. */
  escape(): Promise<EscapeAnswer | null> {
    return this.#between(async (watches) => {
      const { vault, withdrawalConfirmations } = this.#settings;
      if (watches === null || vault === null) return null;
      const address = vault.address.slice(0, 40);
      const answers = await Promise.all(this.#providers.map((provider) => provider.escapeMode(address)));
      const agreed = majorityHash(answers.map((answer) => answer?.toString() ?? null));
      const { head, processed } = watches.forced.state();
      const isBooked = head >= 0 && processed >= head - Math.max(withdrawalConfirmations, 1) + 1;
      return agreed === null ? null : { isOpen: agreed === 'true', isBooked };
    });
  }

  withdrawalCount(user: UserId): Promise<CounterAt | null> {
    return this.#between(async (watches) => watches?.withdrawal.withdrawalCount(user) ?? null);
  }

  /**
   * Of a block with the confirmations of withdrawals, as settlements are booked at once: a block that may still be replaced
   * does not end an approval. null while settlements are not booked up to that block.
   */
  settlementCount(user: UserId, account: number): Promise<CounterAt | null> {
    return this.#between(async (watches) => {
      if (watches === null) return null;
      const { withdrawal, settlement } = watches;
      if (settlement.state().processed < withdrawal.state().processed) return null;
      return withdrawal.settlementCount(user, account);
    });
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

  #between<T>(work: (watches: Watches | null) => Promise<T | null>): Promise<T | null> {
    if (this.#isEnding) return Promise.resolve(null);
    this.#wakeUp?.();
    return new Promise((resolve) => this.#jobs.push(async () => resolve(await work(this.#watches))));
  }

  async #run(): Promise<void> {
    try {
      await this.#parts.after;
      let pauseMs = POLL_MS_MIN;
      while (!this.#isEnding) {
        const head = this.#watches?.deposit.state().head ?? -1;
        const poll = await this.#step();
        pauseMs = this.#watches?.deposit.state().head === head ? Math.min(pauseMs * 2, POLL_MS_MAX) : POLL_MS_MIN;
        if (poll === 'idle') await this.#pause(pauseMs);
      }
      await this.#close();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.send({ kind: 'failed', reason: `chain ${this.#parts.chainId}: ${reason}` });
    }
    this.#isEnding = true;
    this.#watches = null;
    for (const job of this.#jobs.splice(0)) await job();
  }

  async #step(): Promise<Poll> {
    const watches = await this.#current();
    for (const job of this.#jobs.splice(0)) await job();
    if (watches === null) return 'idle';
    const polls: Poll[] = [];
    for (const watch of pollable(watches)) polls.push(await watch.poll());
    this.#parts.send({ kind: 'state', chainId: this.#parts.chainId, state: stateOf(watches) });
    if (!polls.includes('again')) await this.#readHoldings(watches);
    return polls.includes('again') ? 'again' : 'idle';
  }

  /** After events, and else every HELD_MS: between two polls, so that nothing is booked meanwhile. */
  async #readHoldings(watches: Watches): Promise<void> {
    const { vault, tokens } = this.#settings;
    const isRecent = performance.now() - this.#heldMs < HELD_MS && this.#heldMessages === this.#messages;
    if (vault === null || isRecent || this.#isEnding) return;
    this.#heldMs = performance.now();
    const list = Object.values(watches);
    const held = await heldBy(list, this.#providers, vault.address.slice(0, 40), tokens);
    if (held === null) return;
    this.#heldMessages = this.#messages;
    const { block, units } = held;
    const messages = this.#messages;
    this.#parts.send({ kind: 'held', chainId: this.#parts.chainId, block, units: [...units], messages });
  }

  /** null while the chain has no vault. */
  async #current(): Promise<Watches | null> {
    const { vault, rpcUrls } = this.#settings;
    const wanted = JSON.stringify([vault?.address ?? null, rpcUrls]);
    if (wanted === this.#opened) return this.#watches;
    await this.#close();
    this.#opened = wanted;
    this.#watches = vault === null ? null : await this.#open(vault.address.slice(0, 40));
    return this.#watches;
  }

  async #close(): Promise<void> {
    for (const watch of allOf(this.#watches)) await watch.close();
  }

  async #open(vault: string): Promise<Watches> {
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
    this.#providers = providers;
    const open = (event: VaultEventKind, confirmations: () => number): Promise<EvmWatch> =>
      EvmWatch.open({
        chainId,
        event,
        vault,
        store,
        providers,
        confirmations,
        approvalValidityS: () => (event === 'settlement' ? this.#settings.approvalValidityS : null),
        offer: (events) => this.#offer(event, events),
        log: log({ chain: chainId, event }),
        nowMs: () => performance.now(),
      });
    return {
      deposit: await open('deposit', () => this.#settings.depositConfirmations),
      withdrawal: await open('withdrawal', () => this.#settings.withdrawalConfirmations),
      settlement: await open('settlement', () => this.#settings.settlementConfirmations),
      forced: await open('forced', () => this.#settings.withdrawalConfirmations),
    };
  }

  #offer(event: VaultEventKind, events: readonly ConfirmedDeposit[]): Promise<readonly (DepositReply | null)[]> {
    if (this.#isEnding || events.length === 0) return Promise.resolve([]);
    this.#messages += 1;
    this.#parts.send({ kind: 'events', chainId: this.#parts.chainId, event, events });
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

function allOf(watches: Watches | null): readonly EvmWatch[] {
  // What left the vault without the node is debited first.
  return watches === null ? [] : [watches.forced, watches.deposit, watches.withdrawal, watches.settlement];
}

/** When one kind of events is stopped, the others are not read either: credits and approvals end together (AMB-74). */
function pollable(watches: Watches): readonly EvmWatch[] {
  const stopped = allOf(watches).filter((watch) => watch.state().stopped !== null);
  return stopped.length > 0 ? stopped : allOf(watches);
}

function stateOf(watches: Watches): WatchState {
  const states = allOf(watches).map((watch) => watch.state());
  return {
    ...watches.deposit.state(),
    head: Math.max(...states.map(({ head }) => head)),
    stopped: states.find(({ stopped }) => stopped !== null)?.stopped ?? null,
    blockTime: watches.withdrawal.state().blockTime,
    answering: Math.min(...states.map(({ answering }) => answering)),
    agreeing: Math.min(...states.map(({ agreeing }) => agreeing)),
  };
}

function workOf(
  loop: ChainLoop | undefined,
  message: Extract<ToWatcher, { readonly kind: 'count' | 'resume' | 'readAgain' | 'escape' }>,
): Promise<CounterAt | BlocksAgain | EscapeAnswer | null> | undefined {
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
  const store = new EvmCursorStore(dataDirectory);
  const signer = new KeySigner(
    approvalKeys?.map(readKeyFile) ?? [PUBLIC_APPROVAL_KEY],
    () => performance.now(),
    approvalLimits,
  );
  const loops = new Map<ChainId, ChainLoop>();
  const ending = new Map<ChainId, Promise<void>>();
  const send = (message: FromWatcher): void => port.postMessage(message);
  send({ kind: 'addresses', addresses: signer.addresses });
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

  const answer = async (message: Extract<ToWatcher, { readonly request: number }>): Promise<void> => {
    const { request } = message;
    if (message.kind === 'sign') send({ kind: 'answer', request, value: await signer.sign(message.signing) });
    else if (message.kind === 'signCheckpoint') {
      const { vault, chainId, terms } = message;
      send({ kind: 'answer', request, value: await signer.signCheckpoint(vault, chainId, terms) });
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
