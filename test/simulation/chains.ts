/**
 * The simulated chains of a node in the simulation: the node's own chain actor with its executors and signer, driven by the history.
 *
 *   call ─▶ executor ─▶ write ──step()──▶ disk          a kill in between keeps the write or loses it
 *                     command ──step()──▶ ring of clearing, offered again while it is full
 *
 * What was written outlives the node, while its ledger falls back to its last flush. Every command is judged against the
 * disk when it is sent (funds-book.ts). Nothing here waits for a timer: an executor goes on when its write or its command is done.
 */

import assert from 'node:assert/strict';
import { ChainActor } from '../../src/chain/chain-actor.ts';
import type { VaultEventKind } from '../../src/chain/chain-events.ts';
import { type ChainFiles, decodeChain, encodeChain } from '../../src/chain/chain-store.ts';
import { decodeCursor } from '../../src/chain/event-cursor.ts';
import type { ChainState, Reorganisation } from '../../src/chain/simulated-chain.ts';
import { approvalOf } from '../../src/chain/withdrawal-approvals.ts';
import type { ClearingEvent } from '../../src/clearing/effect-codec.ts';
import type { EventCursor, Stopped } from '../../src/clearing/funds/chain-cursor.ts';
import { approvalsOfHour } from '../../src/clearing/funds/signed-approvals.ts';
import { knownDeviations } from '../../src/clearing/funds/vault-deviations.ts';
import type { ActionReply, OperatorCommand } from '../../src/clearing/inputs.ts';
import type { WithdrawalRow } from '../../src/clearing/rows.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, ChainId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { createLogs } from '../../src/runtime/log-buffer.ts';
import type { Asked } from '../support/asked.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import type { FundsAction } from './actions.ts';
import type { FundsBook } from './funds-book.ts';
import { userAt } from './people.ts';
import { tokenAt, vaultAt } from './vaults.ts';

const SENDER = 'aa'.repeat(20).padEnd(64, '0');
/** Approvals of a life that a user may present again. */
const ARCHIVE_MAX = 256;

interface Write {
  readonly write: () => void;
  readonly done: () => void;
}

/** The chains' files, over all lives. */
export class ChainDisk implements ChainFiles {
  readonly #chains = new Map<ChainId, ChainState>();
  /** By chain and kind of events, as written. */
  readonly #cursors = new Map<string, string>();
  #writes: Write[] = [];

  /** As it was written; null before the first time. */
  state(chainId: ChainId): ChainState | null {
    return this.#chains.get(chainId) ?? null;
  }

  async load(chainId: ChainId): Promise<ChainState | null> {
    const state = this.#chains.get(chainId);
    return state === undefined ? null : decodeChain(encodeChain(state));
  }

  save(state: ChainState): Promise<void> {
    return this.#begin(() => this.#chains.set(state.chainId, state));
  }

  readonly cursors = {
    load: async (chainId: ChainId, event: VaultEventKind): Promise<EventCursor | null> => {
      const text = this.#cursors.get(`${chainId}.${event}`);
      return text === undefined ? null : decodeCursor(text);
    },
    save: (chainId: ChainId, event: VaultEventKind, cursor: EventCursor): Promise<void> =>
      this.#begin(() => this.#cursors.set(`${chainId}.${event}`, JSON.stringify({ format: 1, ...cursor }))),
  };

  /** No file of an earlier version. */
  async convertWatch(): Promise<void> {}

  /** Writes that were begun. */
  writes = 0;

  /** What is being written is whole. */
  flush(): void {
    const writes = this.#writes;
    this.#writes = [];
    for (const { write, done } of writes) {
      write();
      done();
    }
  }

  /** What was being written is there afterwards or is not; no caller gets an answer. */
  kill(isKept: boolean): void {
    if (isKept) for (const { write } of this.#writes) write();
    this.#writes = [];
  }

  #begin(write: () => void): Promise<void> {
    this.writes += 1;
    return new Promise((done) => this.#writes.push({ write, done }));
  }
}

export type ChainAction = Exclude<
  FundsAction,
  { readonly kind: 'withdraw' | 'cancelWithdrawal' | 'settle' | 'tokens' | 'creditUnclaimed' }
>;

interface Parts {
  readonly node: SimulatedNode;
  readonly disk: ChainDisk;
  readonly book: FundsBook;
  readonly count: (what: string) => void;
  readonly stops: (chainId: ChainId, stopped: Stopped) => void;
  /** The operator has accepted that what is not on the chain any more stays booked. */
  readonly resumed: (chainId: ChainId) => void;
}

interface Unsent {
  readonly command: OperatorCommand;
  readonly resolve: (reply: ActionReply) => void;
}

/** The chains of one life. */
export class LifeChains {
  readonly #parts: Parts;
  readonly #actor: ChainActor;
  /** Chains that are stopped. */
  readonly stopped: Set<ChainId> = new Set();
  /** Approvals that were published, oldest first. */
  readonly #archive: WithdrawalRow[] = [];
  #unsent: Unsent[] = [];
  #calls = 0;
  #commands = 0;
  #isStarted = false;
  #isOpen = false;
  #failure: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { node, disk, count } = parts;
    const fail = (reason: string): void => {
      this.#failure ??= reason;
    };
    this.#actor = new ChainActor({
      directory: '/nowhere',
      files: disk,
      clock: { nowNs: () => node.nowNs as never },
      acceptsEscape: [],
      escaped: () => undefined,
      minesByItself: false,
      command: (command) => this.#command(command),
      registry: () => node.gateway.registry.rows(),
      fail,
      stopped: (chainId, stopped) => {
        count(stopped === null ? 'resumed' : `stopped: ${stopped.reason}`);
        if (stopped === null) {
          this.stopped.delete(chainId);
          parts.resumed(chainId);
        } else {
          this.stopped.add(chainId);
          // One that was resumed shortly before a kill is still stopped after it.
          if (this.#isOpen) parts.stops(chainId, stopped);
        }
      },
      withdrawals: () => node.gateway.withdrawals.all(),
      settlements: () => node.gateway.settlements.all(),
      withdrawables: async () => null,
      holdings: {
        booked: async () => {
          const { ledger } = node.clearing;
          const tokens = [...ledger.vaultTokens.values(), ...ledger.unclaimed.values()];
          return { tokens, deviations: knownDeviations(ledger) };
        },
        changed: () => undefined,
        approvals: (_chain, _asset, _missing, isStopped) => count(`approvals ${isStopped ? 'stopped' : 'go on'}`),
      },
      approvalsOfHour: async (from) => approvalsOfHour(node.clearing.ledger, from, node.nowNs as TimestampNs),
      evm: {
        entry: new URL('file:///nowhere'),
        logLevel: 'error',
        logs: createLogs(),
        approvalKeys: null,
        approvalLimits: new Map(),
        cursorPage: async (chainId, event, from) => node.clearing.ledger.chainCursors.page({ chainId, event }, from),
        died: fail,
        refused: (_chain, reason) => count(`approval refused: ${reason}`),
      },
    });
  }

  /** Opens every chain of the registry; the history goes on meanwhile. */
  start(): void {
    this.#isStarted = true;
    for (const row of this.#parts.node.gateway.withdrawals.all()) this.#keep(row);
    const { gateway } = this.#parts.node;
    const opened = this.#actor.start().then(() => {
      gateway.settlementChains = (chainId) => this.#actor.readiness(chainId);
      this.#isOpen = true;
    });
    this.#call(opened);
  }

  onClearingEvent(news: ClearingEvent): void {
    if (!this.#isStarted) return;
    if (news.kind === 'withdrawalChanged') this.#keep(news.row);
    this.#actor.onClearingEvent(news);
  }

  /** Whether a call, a write or a command is not complete. */
  get isBusy(): boolean {
    return this.#calls > 0 || this.#actor.isBusy();
  }

  /** Writes and commands so far: an executor that wakes up need not do anything. */
  get progress(): number {
    return this.#commands + this.#parts.disk.writes;
  }

  /** Writes that were begun are complete; commands that did not fit go to clearing again. @throws what stops a node. */
  step(): void {
    assert.equal(this.#failure, null, 'no chain fails');
    this.#parts.disk.flush();
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const one of unsent) this.#offer(one);
  }

  /** What the chains hold beyond what the ledger says, as operators see it (AMB-116); nothing is in progress. */
  deviations(): Promise<ReadonlyMap<AssetId, bigint>> {
    return this.#actor.deviations();
  }

  /** The process is killed: its timers end with it. */
  abandon(): void {
    void this.#actor.stop();
  }

  /** As the node's timer does: what time has made due begins. */
  wake(): void {
    this.#actor.wake();
  }

  perform(action: ChainAction): void {
    const actor = this.#actor;
    switch (action.kind) {
      case 'deposit': {
        const { token, vault } = tokenAt(action.token);
        const { baseUnits, confirm } = action;
        const request = { user: userAt(action.who), token, baseUnits: BigInt(baseUnits), from: SENDER, confirm };
        const all = { approve: true, senderAllowed: true };
        this.#operate('deposit', actor.simulated.deposit(vaultAt(vault).chainId, { ...request, ...all }));
        break;
      }
      case 'mine':
        this.#operate('mine', actor.simulated.mine(vaultAt(action.vault).chainId, action.blocks));
        break;
      case 'execute': {
        const { vault, nonce, confirm } = action;
        const { chainId } = vaultAt(vault);
        const request = { user: userAt(action.who), nonce, overrides: this.#overrides(action), confirm };
        this.#operate('execute', actor.simulated.withdraw(chainId, request));
        break;
      }
      case 'executeSettlement': {
        const { vault, account: subAccount, nonce, confirm } = action;
        const name = { user: userAt(action.who), subAccount, nonce };
        const executor = { allowance: null, returns: null, reenter: false };
        const request = { ...name, overrides: {}, executor, confirm };
        this.#operate('executeSettlement', actor.simulated.settle(vaultAt(vault).chainId, request));
        break;
      }
      case 'reorg': {
        const { chainId } = vaultAt(action.vault);
        this.#operate('reorg', actor.simulated.reorganise(chainId, this.#reorganisation(action)));
        break;
      }
      case 'provider': {
        const { vault, provider, fault, lagBlocks } = action;
        const { chainId } = vaultAt(vault);
        this.#operate(`provider ${fault}`, actor.simulated.setProvider(chainId, provider, { fault, lagBlocks }));
        break;
      }
      case 'replay': {
        const { chainId } = vaultAt(action.vault);
        const tx = this.#parts.disk.state(chainId)?.blocks.at(-1 - action.back)?.tx;
        if (tx !== undefined) this.#operate('replay', actor.simulated.replay(chainId, tx));
        break;
      }
      case 'resume':
        this.#operate('resume', actor.resume(vaultAt(action.vault).chainId));
        break;
    }
  }

  #reorganisation({ vault, depth, keeps, isReversed, more }: Extract<ChainAction, { kind: 'reorg' }>): Reorganisation {
    const state = this.#parts.disk.state(vaultAt(vault).chainId);
    const from = (state?.head ?? 0) - depth;
    const last = (state?.blocks ?? []).filter(({ number }) => number > from).map(({ tx }) => tx);
    const keep = last.filter((_, at) => ((keeps >> at) & 1) === 1);
    return { depth, keep: isReversed ? keep.toReversed() : keep, blocks: Math.max(depth, keep.length) + more };
  }

  /** An earlier approval of the same user, presented in place of the live one. */
  #overrides({ who, vault, old }: Extract<ChainAction, { kind: 'execute' }>): object {
    if (old === null) return {};
    const { chainId } = vaultAt(vault);
    const own = this.#archive.filter((row) => row.user === userAt(who) && row.chainId === chainId);
    const row = own.at(-1 - old);
    if (row === undefined) return {};
    const { baseUnits, target, nonce, validUntil, epochHash } = approvalOf(row);
    return { baseUnits, target, nonce, validUntil, epochHash, signatures: row.signatures };
  }

  #keep(row: WithdrawalRow): void {
    if (row.status !== 'approved') return;
    this.#archive.push(row);
    if (this.#archive.length > ARCHIVE_MAX) this.#archive.shift();
  }

  #operate(name: string, call: Promise<Outcome<unknown>>): void {
    const { count } = this.#parts;
    this.#call(
      call.then((outcome) => {
        if (!outcome.ok) return count(`${name} ${outcome.reject.code}`);
        const { revert = null } = Object(outcome.value) as { readonly revert?: string | null };
        count(revert === null ? `${name} done` : `${name} ${revert}`);
      }),
    );
  }

  #call(call: Promise<unknown>): void {
    this.#calls += 1;
    void call.then(
      () => {
        this.#calls -= 1;
      },
      (error: unknown) => {
        this.#failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
      },
    );
  }

  #command(command: OperatorCommand): Promise<ActionReply> {
    this.#parts.book.sent(command, { ...this.#parts, stopped: this.stopped });
    this.#commands += 1;
    return new Promise((resolve) => this.#offer({ command, resolve }));
  }

  /** A command that does not fit is offered again at the next step. */
  #offer(one: Unsent): void {
    void this.#parts.node.errand(one.command as Asked).then((reply) => {
      const isFull = !reply.ok && reply.reject.code === 'SERVICE_UNAVAILABLE';
      if (isFull) this.#unsent.push(one);
      else one.resolve(reply);
    });
  }
}

/** Loads what the first signature and its check would load: a load takes real time, which no history depends on. */
export async function preloadSigner(): Promise<void> {
  const { KeySigner, signerOf } = await import('../../src/chain/approval-signer.ts');
  const signer = new KeySigner(['a1'.repeat(32)], () => 0);
  const address = must(signer.addresses[0], 'a key has an address');
  const vault = { key: '', address: SENDER, administrators: [address], quorum: 1 };
  const approval = {
    token: SENDER,
    baseUnits: 1n,
    user: userAt(0),
    nonce: 0n,
    validUntil: 1n,
    epochHash: SENDER,
    target: SENDER,
  };
  const { chainId } = vaultAt(0);
  const signed = await signer.sign({ kind: 'withdrawal', chainId, vault, approval, validFrom: 0 });
  assert.ok(signed.kind === 'signed');
  await signerOf(SENDER, must(signed.signatures[0], 'a quorum of one signs once'));
}
