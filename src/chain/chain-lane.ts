/**
 * The serial executor of one simulated chain: runs its calls one after another, saves each before it is answered or
 * processed, and passes confirmed deposits to clearing.
 *
 *   call ─▶ chain changes ─▶ file flushed ─▶ watcher: due deposits ─▶ clearing: credited, flushed ─▶ watch file ─▶ reply
 *                                │after a kill here the next start finds the deposit due and not credited
 *
 * Invariants
 *   (1) Clearing receives a deposit only after the file contains it, so a counter is never used twice.
 *   (2) One call at a time; a bounded number waits.
 *   (3) A call ends after what was booked, and a stop, are in the watch file. A kill before that costs nothing: no block is
 *       replaced meanwhile, and the next start is answered for the same deposits.
 */

import type { OperatorCommand, Reply } from '../clearing/inputs.ts';
import { assert, must } from '../core/assert.ts';
import type { ChainId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Clock, MILLISECOND_NS, SECOND_NS } from '../core/units.ts';
import type { Signer } from './approval-signer.ts';
import { bookingOf } from './bookings.ts';
import { type ChainLog, type ConfirmedEvent, FORCED_TOPIC, SETTLED_TOPIC, WITHDREW_TOPIC } from './chain-events.ts';
import type { ChainSettings } from './chain-rows.ts';
import type { ChainFiles } from './chain-store.ts';
import type { WatchPolicy } from './deposit-watcher.ts';
import type { Stopped } from './event-cursor.ts';
import type { WatchState } from './event-watch.ts';
import { type Block, emptyChain, SimulatedChain } from './simulated-chain.ts';
import { ChainSight } from './simulated-providers.ts';
import { SimulatedSettlements } from './simulated-settlements.ts';
import { type ChainTimes, VaultWatch } from './simulated-watch.ts';
import { SimulatedWithdrawals } from './simulated-withdrawals.ts';
import type { Units } from './vault-holdings.ts';
import type { BlocksAgain } from './vault-watch.ts';

/** Maximum number of waiting calls per chain. */
const WAITING_MAX = 1_024;
/** Clearing may be busy for a short time: number and interval of the attempts to pass a deposit. */
const OFFERS_MAX = 400;
const OFFER_MS = 25;
/** The heartbeat in the file is at most so much behind that of the vault. */
const HEARTBEAT_SAVED_NS = 60n * SECOND_NS;

const BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'the chain is busy, try again');
const STOPPED: Reject = reject('SERVICE_UNAVAILABLE', 'the node stops');
const STAYS_STOPPED: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'the chain stays stopped: a majority of its providers, or clearing, does not answer; try again',
);

interface LaneParts {
  readonly chainId: ChainId;
  readonly store: ChainFiles;
  readonly clock: Clock;
  readonly command: (command: OperatorCommand) => Promise<Reply>;
  readonly fail: (reason: string) => void;
  readonly signer: Signer;
  readonly refused: (chainId: ChainId, reason: string) => void;
  /** Whether nothing of a token, 64 hex, is approved on the chain (MON-05). */
  readonly isHeld: (token: string) => boolean;
  /** The chain is stopped from now on, or was at the start; null: it is resumed. */
  readonly stopped: (chainId: ChainId, stopped: Stopped | null) => void;
  /** Escape mode of the vault has begun, or the operator has ended it. */
  readonly escaped: (chainId: ChainId, isOpen: boolean) => void;
  /** Whether the operator accepts a start on a vault in escape mode. */
  readonly acceptsEscape: boolean;
}

export class ChainLane {
  readonly #parts: LaneParts;
  #watch = new VaultWatch(null);
  #savedChanges = 0;
  #held: Units | null = null;
  #isWithheld = false;
  #heartbeatSavedNs = 0n;
  /** Events that were offered to clearing since the start. */
  #offers = 0;
  readonly withdrawals: SimulatedWithdrawals;
  readonly settlements: SimulatedSettlements;
  #current: ChainSettings;
  #chain: SimulatedChain | null = null;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isStopped = false;

  constructor(parts: LaneParts, settings: ChainSettings) {
    this.#parts = parts;
    this.#current = settings;
    this.withdrawals = new SimulatedWithdrawals({
      chainId: parts.chainId,
      signer: parts.signer,
      offer: (command) => this.#offer(command, true),
      refused: parts.refused,
      isHeld: parts.isHeld,
    });
    this.settlements = new SimulatedSettlements(parts.chainId, (command) => this.#offer(command, true));
  }

  get settings(): ChainSettings {
    return this.#current;
  }

  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  /** Whether something may be signed: the chain is open and not stopped, its vault not in escape mode, nothing is withheld or missing. */
  get mayApprove(): boolean {
    return this.#chain !== null && this.#watch.stopped === null && this.#watch.mayApprove;
  }

  get offers(): number {
    return this.#offers;
  }

  /** Loads or creates the chain and processes due deposits, before any other work. */
  async open(): Promise<void> {
    await this.#run(async () => {
      const { store, chainId, clock } = this.#parts;
      const saved = await store.load(chainId);
      const state = saved ?? emptyChain(chainId, clock.nowNs());
      this.#chain = new SimulatedChain(state);
      if (saved === null) await store.save(state);
      this.#watch = new VaultWatch(await store.loadWatch(chainId));
      if (this.#watch.stopped !== null) this.#parts.stopped(chainId, this.#watch.stopped);
      this.#mineDue(this.#chain);
      if (this.#parts.acceptsEscape) {
        // What the vault has paid meanwhile is debited before anything else, and then escape mode ends.
        await this.#act(this.#chain);
        await this.#endEscape(this.#chain);
      }
      await this.#act(this.#chain);
    });
  }

  /** Hook: no checkpoint, no heartbeat, no approval (operator-api.md 7.3). */
  withhold(isWithheld: boolean): Promise<Outcome<void>> {
    this.#isWithheld = isWithheld;
    return this.read(() => undefined);
  }

  /**
   * Applies new settings, which may make deposits due. A changed block time counts from a block that is mined now, so
   * that no earlier block becomes due.
   */
  async retune(settings: ChainSettings): Promise<void> {
    const isOtherPace =
      settings.blockTimeNs !== this.#current.blockTimeNs || settings.autoMine !== this.#current.autoMine;
    if (isOtherPace && this.#chain !== null) this.#mineDue(this.#chain);
    this.#current = settings;
    if (isOtherPace) await this.change((chain) => chain.mine(1, this.#parts.clock.nowNs()));
    else await this.read(() => undefined);
  }

  /** Mines the due blocks and processes the deposits they confirm, unless other work does so already. */
  tick(): void {
    if (this.isBusy || this.#chain === null || this.#isStopped) return;
    this.#mineDue(this.#chain);
    const chain = this.#chain;
    const sight = this.#sight(chain);
    if (this.#isHeartbeatDue(chain, sight)) void this.#run(() => this.#act(chain));
    if (this.#watch.stopped !== null || this.isBusy) return;
    const isDue = this.withdrawals.isDue(sight, this.#watch, this.#current, this.#parts.clock.nowNs());
    const isSettling = this.settlements.isDue(sight, this.#watch, this.#current, this.#times(sight));
    if (isDue || isSettling || this.#dueDeposits(sight).length > 0) void this.#run(() => this.#act(chain));
  }

  /** Reads the chain again from its first block: what is booked stays, what was hidden is booked (CHN-04). */
  readAgain(from: number): Promise<Outcome<BlocksAgain>> {
    return this.#run(async () => {
      this.#watch.rescan();
      await this.#act(this.#opened);
      return { from, to: Math.max(this.state()?.processed ?? 0, from) };
    });
  }

  /** Reads the chain as of now. */
  read<T>(look: (chain: SimulatedChain) => T): Promise<Outcome<T>> {
    return this.#run(async () => {
      this.#mineDue(this.#opened);
      await this.#act(this.#opened);
      return look(this.#opened);
    });
  }

  /**
   * Changes the chain, saves it, and processes the deposits that are confirmed by then.
   *
   * @param reading `again`: blocks or providers are others afterwards, so the chain is read from its first block.
   * @returns SERVICE_UNAVAILABLE without a change when too many calls wait; TIMEOUT_UNKNOWN_STATE when the chain
   *   is changed but clearing did not accept a confirmed deposit in time; it is passed again later.
   */
  async change<T>(work: (chain: SimulatedChain) => T, reading: 'on' | 'again' = 'on'): Promise<Outcome<T>> {
    const done = await this.#run(async () => {
      const chain = this.#opened;
      this.#mineDue(chain);
      const result = work(chain);
      // mutant: file-before-clearing
      await this.#parts.store.save(chain.state());
      if (reading === 'again') this.#watch.rescan();
      return { result, isActedOn: await this.#act(chain) };
    });
    if (!done.ok) return done;
    if (done.value.isActedOn) return accepted(done.value.result);
    return rejected(reject('TIMEOUT_UNKNOWN_STATE', 'the transaction is mined; clearing takes its deposits later'));
  }

  /** Offers the events of these logs to clearing again, as far as a majority shows them in final blocks. */
  async replay(logs: readonly ChainLog[]): Promise<Outcome<void>> {
    return this.#run(async () => {
      const sight = this.#sight(this.#opened);
      const { vault, depositConfirmations, withdrawalConfirmations, settlementConfirmations } = this.#current;
      if (vault === null || !this.#watch.mayBook(sight.views, this.#times(sight))) return;
      const policy = (confirmations: number): WatchPolicy => ({ vault: vault.address.slice(0, 40), confirmations });
      const { deposits, withdrawals, settlements } = this.#watch;
      for (const deposit of deposits.again(logs, sight.views, policy(depositConfirmations))) {
        await this.#offer(bookingOf(this.#parts.chainId, 'deposit', deposit));
      }
      for (const event of withdrawals.again(logs, sight.views, policy(withdrawalConfirmations))) {
        await this.#offer(bookingOf(this.#parts.chainId, 'withdrawal', event));
      }
      for (const event of settlements.again(logs, sight.views, policy(settlementConfirmations))) {
        await this.#offer(bookingOf(this.#parts.chainId, 'settlement', event));
      }
      await this.#act(this.#opened);
    });
  }

  /**
   * What the vault holds at the majority's head, without the events that are not final: 64 hex, base units. The last reading
   * while too few providers answer; null before the first, or without a vault.
   */
  held(): Units | null {
    const chain = this.#chain;
    const { vault, depositConfirmations, withdrawalConfirmations, settlementConfirmations } = this.#current;
    if (chain === null || vault === null) return null;
    const sight = this.#sight(chain);
    if (sight.head < 0) return this.#held;
    const counted = (block: Block): boolean => {
      if (block.number > sight.head || block.log === null) return block.number > sight.head;
      const [topic] = block.log.topics;
      if (topic === SETTLED_TOPIC) return block.number > sight.confirmed(settlementConfirmations);
      const isWithdrawal = topic === WITHDREW_TOPIC || topic === FORCED_TOPIC;
      return block.number > sight.confirmed(isWithdrawal ? withdrawalConfirmations : depositConfirmations);
    };
    const units = new Map(chain.holdings(vault.address));
    for (const [token, change] of chain.changesOf(vault.address, counted)) {
      units.set(token, (units.get(token) ?? 0n) - change);
    }
    this.#held = units;
    return units;
  }

  /**
   * Ends a stop (AMB-74): deposits that are no longer on the chain stay credited, withdrawals and settlements are taken back, and
   * the counters of both are those of the vault again (NON-04).
   * @returns SERVICE_UNAVAILABLE while clearing or a majority of the providers does not answer: the chain stays stopped.
   */
  async resume(): Promise<Outcome<void>> {
    const done = await this.#run(async () => {
      const wasStopped = this.#watch.stopped !== null;
      const sight = this.#sight(this.#opened);
      // mutant: counters-of-the-vault
      if (!(await this.#takeBack(sight))) return false;
      this.#watch.resume(sight.views, this.#times(sight));
      if (wasStopped) this.#parts.stopped(this.#parts.chainId, null);
      await this.#endEscape(this.#opened);
      await this.#act(this.#opened);
      return true;
    });
    if (!done.ok) return done;
    return done.value ? accepted(undefined) : rejected(STAYS_STOPPED);
  }

  /** Killed in between, the chain is still stopped; clearing takes each event back once. */
  async #takeBack(sight: ChainSight): Promise<boolean> {
    const { chainId } = this.#parts;
    const vanished = this.#watch.vanished(sight.views, this.#times(sight));
    if (vanished === null) return false;
    const { withdrawals, settlements } = vanished;
    for (const event of withdrawals) {
      const { user, nonce } = event;
      const counter = sight.withdrawalCount(user);
      const [, token = '', baseUnits = '0'] = event.what.split('/');
      const payout = { user, nonce, token, baseUnits: BigInt(baseUnits) };
      if (counter === null) return false;
      if ((await this.#offer({ kind: 'payoutVanished', chainId, ...payout, counter })) === null) return false;
      this.#watch.withdrawals.recount(event);
    }
    for (const event of settlements) {
      const { user, nonce, account } = event;
      const subAccount = must(account, 'a settlement has a sub-account');
      const counter = sight.settlementCount(user, subAccount);
      const [, tokenOut = '', unitsOut = '0', , tokenIn = '', unitsIn = '0'] = event.what.split('/');
      const legs = { tokenOut, baseUnitsOut: BigInt(unitsOut), tokenIn, baseUnitsIn: BigInt(unitsIn) };
      if (counter === null) return false;
      const command = { kind: 'settlementVanished', chainId, user, subAccount, nonce, ...legs, counter } as const;
      if ((await this.#offer(command)) === null) return false;
      this.#watch.settlements.recount(event);
    }
    return true;
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

  #mayCommit({ head }: ChainSight): boolean {
    return !this.#isWithheld && this.#watch.stopped === null && head >= 0;
  }

  #isHeartbeatDue(chain: SimulatedChain, sight: ChainSight): boolean {
    const { vault, checkpointIntervalMs, escapeTimeoutNs } = this.#current;
    const { checkpointNs, isOpen } = chain.escape;
    if (vault === null || isOpen) return false;
    const nowNs = this.#parts.clock.nowNs();
    if (!this.#mayCommit(sight)) return chain.isSilent(nowNs, escapeTimeoutNs);
    return checkpointNs === null || nowNs - checkpointNs >= BigInt(checkpointIntervalMs) * MILLISECOND_NS;
  }

  /**
   * Commits a checkpoint to the vault, or begins its escape mode when there was none for too long (AMB-85). A jump of the
   * clock is no silence of a node that runs: its checkpoint comes first. The file may be behind by HEARTBEAT_SAVED_NS.
   */
  async #heartbeat(chain: SimulatedChain, sight: ChainSight): Promise<void> {
    if (!this.#isHeartbeatDue(chain, sight)) return;
    const nowNs = this.#parts.clock.nowNs();
    const mayCommit = this.#mayCommit(sight);
    if (mayCommit) chain.checkpoint(nowNs);
    else chain.setEscape(true);
    const { escapeTimeoutNs } = this.#current;
    const savedNs = escapeTimeoutNs / 4n < HEARTBEAT_SAVED_NS ? escapeTimeoutNs / 4n : HEARTBEAT_SAVED_NS;
    if (mayCommit && nowNs - this.#heartbeatSavedNs < savedNs) return;
    this.#heartbeatSavedNs = nowNs;
    await this.#parts.store.save(chain.state());
    if (!mayCommit) this.#parts.escaped(this.#parts.chainId, true);
  }

  /** As for an EVM chain; null before the chain is open. */
  state(): WatchState | null {
    if (this.#chain === null) return null;
    const sight = this.#sight(this.#chain);
    const { depositConfirmations, withdrawalConfirmations, providers } = this.#current;
    return {
      head: sight.head,
      processed: sight.confirmed(Math.max(depositConfirmations, withdrawalConfirmations)),
      stopped: this.#watch.stopped,
      blockTime: sight.confirmedTime(withdrawalConfirmations),
      isWhole: this.#watch.mayApprove,
      providers,
      answering: sight.views.filter((view) => view !== null).length,
      agreeing: sight.views.filter((view) => view !== null && view.head >= sight.head).length,
      bombs: 0,
    };
  }

  /** Rejects further work and resolves when the running work is complete. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#tail;
  }

  get #opened(): SimulatedChain {
    return must(this.#chain, 'a chain is opened before it works');
  }

  async #run<T>(work: () => Promise<T>): Promise<Outcome<T>> {
    if (this.#isStopped) return rejected(STOPPED);
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

  #sight(chain: SimulatedChain): ChainSight {
    return new ChainSight(chain, this.#current.providers);
  }

  #times(sight: ChainSight): ChainTimes {
    const { withdrawalConfirmations, settlementConfirmations, approvalValidityS } = this.#current;
    const nowS = Number(this.#parts.clock.nowNs() / SECOND_NS);
    return {
      latest: Math.max(nowS, sight.confirmedTime(0)),
      final: sight.confirmedTime(Math.max(withdrawalConfirmations, settlementConfirmations)),
      approvalValidity: approvalValidityS,
    };
  }

  #dueDeposits({ views }: ChainSight): readonly ConfirmedEvent[] {
    const { vault, depositConfirmations: confirmations } = this.#current;
    if (vault === null) return [];
    return this.#watch.deposits.due(views, { vault: vault.address.slice(0, 40), confirmations });
  }

  /** Deposits and withdrawals, as far as they are due. @returns false when clearing did not answer in time. */
  async #act(chain: SimulatedChain): Promise<boolean> {
    const sight = this.#sight(chain);
    const wasStopped = this.#watch.stopped !== null;
    await this.#heartbeat(chain, sight);
    this.#watch.isWithheld = this.#isWithheld || chain.escape.isOpen;
    const isActedOn = !this.#watch.mayBook(sight.views, this.#times(sight)) || (await this.#book(sight));
    const { stopped } = this.#watch;
    if (this.#watch.changes > this.#savedChanges) {
      const { changes } = this.#watch;
      await this.#parts.store.saveWatch(chain.chainId, this.#watch.state());
      this.#savedChanges = changes;
    }
    if (stopped !== null && !wasStopped) this.#parts.stopped(chain.chainId, stopped);
    return isActedOn;
  }

  async #book(sight: ChainSight): Promise<boolean> {
    const areBooked = (await this.#actOnDeposits(sight)) && (await this.#actOnForced(sight));
    if (!areBooked) return false;
    const arePaid = await this.withdrawals.act(sight, this.#watch, this.#current, this.#parts.clock.nowNs());
    return arePaid && this.settlements.act(sight, this.#watch, this.#current, this.#times(sight));
  }

  /** @returns false when clearing did not answer in time. */
  async #actOnDeposits(sight: ChainSight): Promise<boolean> {
    for (;;) {
      const due = this.#dueDeposits(sight);
      if (due.length === 0) return true;
      for (const deposit of due) {
        const reply = await this.#offer(bookingOf(this.#parts.chainId, 'deposit', deposit));
        if (reply === null) return false;
        const nextNonce = reply['next_nonce'];
        assert(typeof nextNonce === 'number', 'clearing returns the next counter');
        this.#watch.deposits.answered(deposit, nextNonce);
      }
    }
  }

  /** Forced withdrawals, with the confirmations of withdrawals. @returns false when clearing did not answer in time. */
  async #actOnForced({ views }: ChainSight): Promise<boolean> {
    const { vault, withdrawalConfirmations: confirmations } = this.#current;
    if (vault === null) return true;
    for (;;) {
      const due = this.#watch.forced.due(views, { vault: vault.address.slice(0, 40), confirmations });
      if (due.length === 0) return true;
      for (const event of due) {
        const { user, token, nonce, baseUnits } = event;
        const { chainId } = this.#parts;
        const reply = await this.#offer({ kind: 'forcedWithdrawal', chainId, user, token, nonce, baseUnits });
        if (reply === null) return false;
        const { next } = reply;
        assert(typeof next === 'number', 'clearing returns the next counter');
        this.#watch.forced.answered(event, next);
      }
    }
  }

  /**
   * Repeats the command until clearing accepts it.
   *
   * @param mayRefuse whether clearing may refuse it for good: then the reply is empty.
   * @returns null when clearing stays busy or the node stops.
   */
  async #offer(command: OperatorCommand, mayRefuse = false): Promise<Readonly<Record<string, unknown>> | null> {
    this.#offers += 1;
    for (let offers = 0; offers < OFFERS_MAX && !this.#isStopped; offers += 1) {
      const reply = await this.#parts.command(command);
      if (reply.ok) return reply.value;
      const { code, message } = reply.reject;
      assert(code === 'SERVICE_UNAVAILABLE' || mayRefuse, `clearing refuses no event of a vault: ${message}`);
      if (code !== 'SERVICE_UNAVAILABLE') return {};
      await new Promise((resolve) => setTimeout(resolve, OFFER_MS));
    }
    return null;
  }
}
