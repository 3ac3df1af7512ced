/**
 * The serial executor of one simulated chain: runs its calls one after another, saves each before it is answered or
 * processed, and then lets the watch of its vault (vault-watch.ts) process what has become final.
 *
 *   call ─▶ chain changes ─▶ file flushed ─▶ watch polls until nothing is due ─▶ clearing: booked, flushed ─▶ cursors ─▶ approvals ─▶ reply
 *                                │after a kill here the next start finds the event due and not booked
 *
 * Invariants
 *   (1) Clearing receives an event only after the file contains it, so a counter is never used twice.
 *   (2) One call at a time; a bounded number waits.
 *   (3) A call ends after what was booked, and a stop, are in the cursors. A kill before that costs nothing: no block is
 *       replaced meanwhile, and the next start is answered for the same events.
 */

import type { Stopped } from '../clearing/funds/chain-cursor.ts';
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import { assert, must } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Clock, MILLISECOND_NS, SECOND_NS } from '../core/units.ts';
import type { View } from './bookings.ts';
import { STAYS_STOPPED } from './chain-operations.ts';
import type { SimulatedSettings } from './chain-rows.ts';
import type { ChainFiles } from './chain-store.ts';
import { keptInFiles } from './event-cursor.ts';
import type { CounterAt, WatchLog, WatchState } from './event-watch.ts';
import type { Held } from './held-units.ts';
import { emptyChain, SimulatedChain } from './simulated-chain.ts';
import { headOf, SimulatedProvider } from './simulated-provider.ts';
import { type BlocksAgain, VaultWatch } from './vault-watch.ts';

/** Maximum number of waiting calls per chain. */
const WAITING_MAX = 1_024;
/** Clearing may be busy for a short time: number and interval of the attempts to pass an event. */
const OFFERS_MAX = 400;
const OFFER_MS = 25;
/** The heartbeat in the file is at most so much behind that of the vault. */
const HEARTBEAT_SAVED_NS = 60n * SECOND_NS;

const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'the chain is busy, try again');
const STOPPED: Reject = reject('SERVICE_UNAVAILABLE', 'the node stops');
const NO_LEASE: Reject = reject('SERVICE_UNAVAILABLE', 'the node has no answer of its cluster, try again');
/** The node logs a stop and a resumption by itself (`stopped`). */
const QUIET: WatchLog = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface ExecutorParts {
  readonly chainId: ChainId;
  readonly store: ChainFiles;
  readonly clock: Clock;
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  readonly fail: (reason: string) => void;
  /** The steps of approvals that are due on the chain. */
  readonly approvals: {
    readonly isDue: (chainId: ChainId) => boolean;
    readonly step: (chainId: ChainId) => Promise<void>;
  };
  /** The chain is stopped from now on, or was at the start; null: it is resumed. */
  readonly stopped: (chainId: ChainId, stopped: Stopped | null) => void;
  /** Escape mode of the vault has begun, or the operator has ended it. */
  readonly escaped: (chainId: ChainId, isOpen: boolean) => void;
  /** Whether the operator accepts a start on a vault in escape mode. */
  readonly acceptsEscape: boolean;
  /** Whether this node may answer for the chain now: in a cluster, a leader with its lease. By default always. */
  readonly leads?: (() => boolean) | undefined;
}

export class SimulatedExecutor {
  readonly #parts: ExecutorParts;
  #current: SimulatedSettings;
  #chain: SimulatedChain | null = null;
  #watch: VaultWatch | null = null;
  /** What the watch was opened with. */
  #opened = '';
  #held: Held | null = null;
  /** The head up to which everything was done. */
  #actedHead = -1;
  /** Clearing did not accept a command in time. */
  #isRefused = false;
  #isWithheld = false;
  #heartbeatSavedNs = 0n;
  /** Commands that were offered to clearing since the start. */
  #offers = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isStopped = false;

  constructor(parts: ExecutorParts, settings: SimulatedSettings) {
    this.#parts = parts;
    this.#current = settings;
  }

  get settings(): SimulatedSettings {
    return this.#current;
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  get isEscaped(): boolean {
    return this.#chain?.escape.isOpen === true;
  }

  /** Number of bookings; null while a call may make others. */
  get bookings(): number | null {
    return this.isBusy ? null : this.#offers;
  }

  /** What the vault holds; the last reading while too few providers answer, null before the first. */
  get held(): Held | null {
    return this.#held;
  }

  /** Loads or creates the chain and processes what is due, before any other work. */
  async open(): Promise<void> {
    await this.#run(async () => {
      const { store, chainId, clock } = this.#parts;
      const saved = await store.load(chainId);
      const state = saved ?? emptyChain(chainId, clock.nowNs());
      this.#chain = new SimulatedChain(state);
      if (saved === null) await store.save(state);
      this.#mineDue(this.#chain);
      const stopped = (await this.#watched())?.state().stopped ?? null;
      if (stopped !== null) this.#parts.stopped(chainId, stopped);
      if (this.#parts.acceptsEscape) {
        // What the vault has paid meanwhile is debited before anything else, and then escape mode ends.
        await this.#act();
        await this.#endEscape(this.#chain);
      }
      await this.#act();
    });
  }

  /** Hook: no checkpoint, no heartbeat (operator-api.md 7.3). */
  withhold(isWithheld: boolean): Promise<Outcome<void>> {
    this.#isWithheld = isWithheld;
    return this.read(() => undefined);
  }

  /**
   * Applies new settings, which may make events due. A changed block time counts from a block that is mined now, so
   * that no earlier block becomes due.
   */
  async retune(settings: SimulatedSettings): Promise<void> {
    const isOtherPace =
      settings.blockTimeNs !== this.#current.blockTimeNs || settings.autoMine !== this.#current.autoMine;
    if (isOtherPace && this.#chain !== null) this.#mineDue(this.#chain);
    this.#current = settings;
    if (isOtherPace) await this.change((chain) => chain.mine(1, this.#parts.clock.nowNs()));
    else await this.read(() => undefined);
  }

  /** Mines the due blocks and does what they make due, unless other work does so already. */
  tick(): void {
    const chain = this.#chain;
    if (this.isBusy || chain === null || this.#isStopped || !this.#leads) return;
    this.#mineDue(chain);
    const isDue = chain.head !== this.#actedHead || this.#isRefused || this.#isHeartbeatDue(chain);
    if (isDue || this.#parts.approvals.isDue(this.#parts.chainId)) void this.#run(() => this.#act());
  }

  /** Reads the chain again from its first block: what is booked stays, what was hidden is booked (CHN-04). */
  readAgain(from: number): Promise<Outcome<BlocksAgain>> {
    return this.#run(async () => {
      const read = (await this.#watched())?.readAgain(1) ?? { to: from };
      await this.#act();
      return { from, to: Math.max(read.to, from) };
    });
  }

  /** Reads the chain as of now. */
  read<T>(look: (chain: SimulatedChain) => T): Promise<Outcome<T>> {
    return this.#run(async () => {
      this.#mineDue(this.#present);
      await this.#act();
      return look(this.#present);
    });
  }

  /**
   * Changes the chain, saves it, and processes the events that are final by then.
   *
   * @param reading `again`: blocks or providers are others afterwards, so the chain is read from its first block.
   * @returns SERVICE_UNAVAILABLE without a change when too many calls wait; TIMEOUT_UNKNOWN_STATE when the chain
   *   is changed but clearing did not accept a final event in time; it is passed again later.
   */
  async change<T>(work: (chain: SimulatedChain) => T, reading: 'on' | 'again' = 'on'): Promise<Outcome<T>> {
    const done = await this.#run(async () => {
      const chain = this.#present;
      this.#mineDue(chain);
      const result = work(chain);
      // mutant: file-before-clearing
      await this.#parts.store.save(chain.state());
      if (reading === 'again') (await this.#watched())?.readAgain(1);
      return { result, isActedOn: await this.#act() };
    });
    if (!done.ok) return done;
    // Without a lease another leader may have taken the chain over before the transaction.
    if (done.value.isActedOn && this.#leads) return accepted(done.value.result);
    return rejected(reject('TIMEOUT_UNKNOWN_STATE', 'the transaction is mined; clearing takes its events later'));
  }

  /** Offers the events of a block to clearing again, as far as a majority shows them and the block is processed. */
  async replay(block: number): Promise<Outcome<void>> {
    return this.#run(async () => {
      await (await this.#watched())?.replay(block);
      await this.#act();
    });
  }

  /**
   * Ends a stop (AMB-74), as vault-watch.ts does; and escape mode.
   *
   * @returns SERVICE_UNAVAILABLE while clearing or a majority of the providers does not answer: the chain stays stopped.
   */
  async resume(): Promise<Outcome<void>> {
    const done = await this.#run(async () => {
      const watch = await this.#watched();
      const wasStopped = (watch?.state().stopped ?? null) !== null;
      if ((await watch?.resume()) === false) return false;
      if (wasStopped) this.#parts.stopped(this.#parts.chainId, null);
      await this.#endEscape(this.#present);
      await this.#act();
      return true;
    });
    if (!done.ok) return done;
    return done.value ? accepted(undefined) : rejected(STAYS_STOPPED);
  }

  /** null before the chain is open. */
  state(): WatchState | null {
    const chain = this.#chain;
    if (chain === null) return null;
    if (this.#watch !== null) return this.#watch.state();
    const { providers } = this.#current;
    const head = headOf(chain, providers);
    const all = { providers, answering: providers, agreeing: providers };
    return { head, processed: head, stopped: null, blockTime: 0, isWhole: true, ...all, bombs: 0 };
  }

  /** Not a call of its own: a step of approvals, which is part of one, reads it. */
  async withdrawalCount(user: UserId): Promise<CounterAt | null> {
    return (await this.#watch?.withdrawalCount(user)) ?? null;
  }

  async settlementCount(user: UserId, subAccount: number): Promise<CounterAt | null> {
    return (await this.#watch?.settlementCount(user, subAccount)) ?? null;
  }

  /** Rejects further work and resolves when the running work is complete. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#tail;
  }

  get #present(): SimulatedChain {
    return must(this.#chain, 'a chain is opened before it works');
  }

  get #leads(): boolean {
    return this.#parts.leads?.() ?? true;
  }

  async #run<T>(work: () => Promise<T>): Promise<Outcome<T>> {
    if (this.#isStopped) return rejected(STOPPED);
    // mutant: chain-of-a-stalled-leader
    if (!this.#leads) return rejected(NO_LEASE);
    if (this.#waiting >= WAITING_MAX) return rejected(BUSY);
    this.#waiting += 1;
    const turn = this.#tail.then(() => this.#guarded(work));
    this.#tail = turn;
    return turn;
  }

  /** A disk error or a broken invariant stops the node. */
  async #guarded<T>(work: () => Promise<T>): Promise<Outcome<T>> {
    try {
      return accepted(await work());
    } catch (error) {
      this.#isStopped = true;
      this.#parts.fail(`chain ${this.#parts.chainId}: ${error instanceof Error ? error.message : String(error)}`);
      return rejected(STOPPED);
    } finally {
      this.#waiting -= 1;
    }
  }

  #mineDue(chain: SimulatedChain): void {
    if (this.#current.autoMine) chain.advance(this.#parts.clock.nowNs(), this.#current.blockTimeNs);
  }

  /** The watch of the chain's vault; null while it has none. Opened anew when vault or providers change. */
  async #watched(): Promise<VaultWatch | null> {
    const { vault, providers } = this.#current;
    const wanted = `${vault?.address ?? ''}/${providers}`;
    if (wanted === this.#opened) return this.#watch;
    await this.#watch?.close();
    this.#opened = wanted;
    this.#watch = vault === null ? null : await this.#open(vault.address.slice(0, 40));
    return this.#watch;
  }

  async #open(vault: string): Promise<VaultWatch> {
    const { chainId, store, clock } = this.#parts;
    const chain = this.#present;
    await store.convertWatch(chainId, vault);
    const nowMs = (): number => Number(clock.nowNs() / MILLISECOND_NS);
    return VaultWatch.open({
      chainId,
      vault,
      store: keptInFiles(store.cursors),
      providers: Array.from({ length: this.#current.providers }, (_, index) => new SimulatedProvider(chain, index)),
      policy: () => this.#current,
      isForkWhole: true,
      book: (commands) => this.#book(commands),
      log: () => QUIET,
      savedEveryMs: 0,
      nowS: () => Math.floor(nowMs() / 1_000),
      nowMs,
    });
  }

  async #endEscape(chain: SimulatedChain): Promise<void> {
    const nowNs = this.#parts.clock.nowNs();
    const { isOpen } = chain.escape;
    if (!isOpen && !chain.isSilent(nowNs, this.#current.escapeTimeoutNs)) return;
    chain.setEscape(false);
    chain.checkpoint(nowNs);
    await this.#parts.store.save(chain.state());
    this.#parts.escaped(this.#parts.chainId, false);
  }

  #mayCommit(chain: SimulatedChain): boolean {
    const isStopped = (this.#watch?.state().stopped ?? null) !== null;
    return !this.#isWithheld && !isStopped && headOf(chain, this.#current.providers) >= 0;
  }

  #isHeartbeatDue(chain: SimulatedChain): boolean {
    const { vault, checkpointIntervalMs, escapeTimeoutNs } = this.#current;
    const { checkpointNs, isOpen } = chain.escape;
    if (vault === null || isOpen) return false;
    const nowNs = this.#parts.clock.nowNs();
    if (!this.#mayCommit(chain)) return chain.isSilent(nowNs, escapeTimeoutNs);
    return checkpointNs === null || nowNs - checkpointNs >= BigInt(checkpointIntervalMs) * MILLISECOND_NS;
  }

  /**
   * Commits a checkpoint to the vault, or begins its escape mode when there was none for too long (AMB-85). A jump of the
   * clock is no silence of a node that runs: its checkpoint comes first. The file may be behind by HEARTBEAT_SAVED_NS.
   */
  async #heartbeat(chain: SimulatedChain): Promise<void> {
    if (!this.#isHeartbeatDue(chain)) return;
    const nowNs = this.#parts.clock.nowNs();
    const mayCommit = this.#mayCommit(chain);
    if (mayCommit) chain.checkpoint(nowNs);
    else chain.setEscape(true);
    const { escapeTimeoutNs } = this.#current;
    const savedNs = escapeTimeoutNs / 4n < HEARTBEAT_SAVED_NS ? escapeTimeoutNs / 4n : HEARTBEAT_SAVED_NS;
    if (mayCommit && nowNs - this.#heartbeatSavedNs < savedNs) return;
    this.#heartbeatSavedNs = nowNs;
    await this.#parts.store.save(chain.state());
    if (!mayCommit) this.#parts.escaped(this.#parts.chainId, true);
  }

  /** Everything that is due. @returns false when clearing did not answer in time. */
  async #act(): Promise<boolean> {
    const chain = this.#present;
    const { chainId, stopped, approvals } = this.#parts;
    const watch = await this.#watched();
    await this.#heartbeat(chain);
    this.#actedHead = chain.head;
    if (watch === null) return true;
    const wasStopped = watch.state().stopped !== null;
    this.#isRefused = false;
    while ((await watch.poll()) === 'again');
    const state = watch.state();
    if (state.stopped !== null && !wasStopped) stopped(chainId, state.stopped);
    if (!this.#isRefused && !this.#isStopped) await approvals.step(chainId);
    this.#held = (await watch.held(this.#current.tokens)) ?? this.#held;
    return !this.#isRefused;
  }

  /** In order; nothing is offered behind one that was not accepted. */
  async #book(commands: readonly OperatorCommand[]): Promise<readonly (View | null)[]> {
    const replies: (View | null)[] = [];
    for (const command of commands) {
      const reply = await this.#offer(command);
      if (reply === null) break;
      replies.push(reply);
    }
    this.#isRefused ||= replies.length < commands.length;
    return replies;
  }

  /** Repeats the command until clearing accepts it. @returns null when clearing stays busy or the node stops. */
  async #offer(command: OperatorCommand): Promise<View | null> {
    this.#offers += 1;
    for (let offers = 0; offers < OFFERS_MAX && !this.#isStopped; offers += 1) {
      const reply = await this.#parts.command(command);
      if (reply.ok) return reply.value;
      const { code, message } = reply.reject;
      assert(code === 'SERVICE_UNAVAILABLE', `clearing refuses no event of a vault: ${message}`);
      await new Promise((resolve) => setTimeout(resolve, OFFER_MS));
    }
    return null;
  }
}
