/**
 * The simulated chains of a node (operator-api.md 8): one executor per chain of the registry, opened at the start or when the chain is
 * put, the real-time timer that mines blocks automatically, and the operator's calls.
 *
 * Vaults, tokens and policies are those of the registry at each call, so the operator's latest values apply.
 */

import type { Stopped } from '../clearing/funds/chain-cursor.ts';
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import type { SettlementRow, WithdrawalRow } from '../clearing/rows.ts';
import { ConfigError } from '../core/config-error.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Clock, MILLISECOND_NS, type TimestampNs } from '../core/units.ts';
import { domainHash, settlementDigest, withdrawalDigest } from './approval-digests.ts';
import type { ApprovedBefore, KeySigner, Signed, SigningRequest } from './approval-signer.ts';
import { type ChainKind, escapeText, type WatchedChain } from './chain-kind.ts';
import {
  type ChainCounters,
  type ChainTransaction,
  type ChainVault,
  type DepositRequest,
  type ExecuteSettlement,
  type ExecuteWithdrawal,
  type ForceWithdrawRequest,
  type MintRequest,
  noVault,
  type ProviderEntry,
  type Reorganised,
  type SimulatedOperations,
} from './chain-operations.ts';
import {
  type ChainRegistry,
  executorOf,
  type SimulatedSettings,
  simulatedChains,
  tokenOnChain,
  unregistered,
  type VaultSettings,
} from './chain-rows.ts';
import type { ChainFiles } from './chain-store.ts';
import { encodeConfig } from './deposit-config.ts';
import type { CounterAt } from './event-watch.ts';
import type { Held } from './held-units.ts';
import { PUBLIC_APPROVAL_ADDRESS, PUBLIC_APPROVAL_KEY } from './key-file.ts';
import { settlementApprovalOf } from './settlement-approvals.ts';
import { type Mined, type ProviderFault, type Reorganisation, SimulatedChain } from './simulated-chain.ts';
import { type ExecutorParts, SimulatedExecutor } from './simulated-executor.ts';
import { faultOf } from './simulated-provider.ts';
import type { BlocksAgain } from './vault-watch.ts';
import { approvalOf } from './withdrawal-approvals.ts';

const TICK_MS_MIN = 10;
const TICK_MS_MAX = 250;
/** Approvals that `settlements/execute` finds, the latest ones: also of ended ones, which the vault refuses by itself. */
const APPROVALS_MAX = 1_024;

const NO_ADDRESS = '0'.repeat(64);
const NO_SETTLEMENT: Reject = reject('SETTLEMENT_NOT_FOUND', 'this counter never had an approval', 'nonce');
const NO_APPROVAL: Reject = reject('WITHDRAWAL_NOT_FOUND', 'there is no live approval for this nonce', 'nonce');
const FULL: Reject = reject('SERVICE_UNAVAILABLE', 'this simulated chain accepts no more transactions');
const TOO_MUCH: Reject = reject('INVALID_REQUEST', 'a balance is a uint256', 'amount_base_units');

interface SimulatedChainsParts {
  readonly files: ChainFiles;
  readonly clock: Clock;
  /** Whether a timer mines due blocks; otherwise they are mined when the chain is read. */
  readonly minesByItself: boolean;
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
  readonly registry: () => ChainRegistry;
  readonly fail: (reason: string) => void;
  readonly acceptsEscape: readonly string[];
  readonly escaped: (chainId: ChainId, isOpen: boolean) => void;
  readonly stopped: (chainId: ChainId, stopped: Stopped | null) => void;
  readonly approvals: ExecutorParts['approvals'] & {
    readonly ofWithdrawal: (chainId: ChainId, user: UserId, nonce: number) => WithdrawalRow | null;
  };
  /** Those of before the start. */
  readonly settlements: () => Iterable<SettlementRow>;
  readonly leads?: ExecutorParts['leads'];
  readonly approvedBefore: () => Promise<ApprovedBefore>;
}

export class SimulatedChains implements ChainKind, SimulatedOperations {
  readonly #parts: SimulatedChainsParts;
  readonly #executors = new Map<ChainId, SimulatedExecutor>();
  /** The last approved settlements by chain, user, sub-account and nonce. */
  readonly #approved = new Map<string, SettlementRow>();
  #loadedSigner: Promise<KeySigner> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  readonly isTimed: boolean = false;
  /** Dev and test have one key, which is public. */
  readonly signerAddresses: ReadonlySet<string> = new Set([PUBLIC_APPROVAL_ADDRESS]);

  constructor(parts: SimulatedChainsParts) {
    this.#parts = parts;
  }

  /**
   * A vault that was silent because the node was off is not in escape mode: nothing but this node calls a simulated vault, and
   * its checkpoint comes first. One that was open when the node ended still is.
   */
  async start(): Promise<void> {
    const { files, acceptsEscape, registry, settlements } = this.#parts;
    for (const row of settlements()) this.settlementChanged(row);
    for (const [chainId, { vault }] of simulatedChains(registry())) {
      const state = vault === null || acceptsEscape.includes(chainId) ? null : await files.load(chainId);
      if (state === null || !new SimulatedChain(state).escape.isOpen) continue;
      throw new ConfigError(escapeText(chainId));
    }
    await this.follow();
  }

  async follow(): Promise<void> {
    if (this.#isStopped) return;
    const work: Promise<void>[] = [];
    const chains = simulatedChains(this.#parts.registry());
    for (const [chainId, executor] of this.#executors) {
      if (chains.has(chainId)) continue;
      this.#executors.delete(chainId);
      work.push(executor.stop());
    }
    for (const [chainId, settings] of chains) {
      const executor = this.#executors.get(chainId);
      if (executor !== undefined) {
        work.push(executor.retune(settings));
        continue;
      }
      const { files: store, acceptsEscape, ...shared } = this.#parts;
      const isAccepted = acceptsEscape.includes(chainId);
      const opened = new SimulatedExecutor({ ...shared, chainId, store, acceptsEscape: isAccepted }, settings);
      this.#executors.set(chainId, opened);
      work.push(opened.open());
    }
    this.#setTimer();
    await Promise.all(work);
  }

  settings(chainId: ChainId): SimulatedSettings | null {
    return this.#executors.get(chainId)?.settings ?? null;
  }

  chainIds(): Iterable<ChainId> {
    return this.#executors.keys();
  }

  state(chainId: ChainId): WatchedChain | undefined {
    const state = this.#executors.get(chainId)?.state() ?? null;
    return state === null ? undefined : { ...state, chainId, polledMs: performance.now() };
  }

  /** Loaded with the first signature: viem would cost every start some 0.3 s. */
  async sign(request: SigningRequest): Promise<Signed | null> {
    this.#loadedSigner ??= import('./approval-signer.ts').then(async ({ KeySigner: Loaded }) => {
      const before = await this.#parts.approvedBefore();
      return new Loaded([PUBLIC_APPROVAL_KEY], () => performance.now(), undefined, before);
    });
    return (await this.#loadedSigner).sign(request);
  }

  async withdrawalCount(chainId: ChainId, user: UserId): Promise<CounterAt | null> {
    return this.#executors.get(chainId)?.withdrawalCount(user) ?? null;
  }

  async settlementCount(chainId: ChainId, user: UserId, subAccount: number): Promise<CounterAt | null> {
    return this.#executors.get(chainId)?.settlementCount(user, subAccount) ?? null;
  }

  held(chainId: ChainId): Held | null {
    return this.#executors.get(chainId)?.held ?? null;
  }

  bookings(chainId: ChainId): number | null {
    return this.#executors.get(chainId)?.bookings ?? null;
  }

  isEscaped(chainId: ChainId): boolean {
    return this.#executors.get(chainId)?.isEscaped === true;
  }

  async resume(chainId: ChainId): Promise<Outcome<void>> {
    return this.#executors.get(chainId)?.resume() ?? rejected(unknownChain(chainId));
  }

  async readAgain(chainId: ChainId, from: number): Promise<Outcome<BlocksAgain>> {
    return this.#executors.get(chainId)?.readAgain(from) ?? rejected(unknownChain(chainId));
  }

  rowChanged(chainId: ChainId): void {
    this.#executors.get(chainId)?.tick();
  }

  /** Keeps the approval for `settle`. */
  settlementChanged(row: SettlementRow): void {
    if (row.status !== 'approved') return;
    const key = approvalKey(row.chainId, row);
    this.#approved.delete(key);
    this.#approved.set(key, row);
    for (const oldest of this.#approved.keys()) {
      if (this.#approved.size <= APPROVALS_MAX) break;
      this.#approved.delete(oldest);
    }
  }

  nowMs(): number {
    return Number(this.#parts.clock.nowNs() / MILLISECOND_NS);
  }

  get isBusy(): boolean {
    return [...this.#executors.values()].some((executor) => executor.isBusy);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all([...this.#executors.values()].map((executor) => executor.stop()));
  }

  /** The node's clock was moved by hand: checkpoints and blocks may be due. */
  wake(): void {
    for (const executor of this.#executors.values()) executor.tick();
  }

  /** Checkpoints of these chains are withheld, and of no other. */
  async withhold(chains: ReadonlySet<ChainId>): Promise<void> {
    await Promise.all([...this.#executors].map(([id, executor]) => executor.withhold(chains.has(id))));
  }

  /**
   * CHAIN_NOT_FOUND, VAULT_NOT_FOUND; a rejection by the vault is a reverted transaction. A token that no asset has is one of
   * 18 decimals: clearing lists the deposit as unclaimed (AMB-74).
   */
  async deposit(chainId: ChainId, request: DepositRequest): Promise<Outcome<ChainTransaction>> {
    const found = this.#withVault(chainId);
    if (!found.ok) return found;
    const { executor, vault } = found.value;
    const token = tokenOnChain(this.#parts.registry(), chainId, request.token) ?? unregistered(chainId, request.token);
    const { confirm, config, ...terms } = request;
    const call = config === undefined ? terms : { ...terms, config: encodeConfig(config) };
    const confirmations = confirm ? executor.settings.depositConfirmations : 1;
    return this.#mined(executor, confirmations, (chain, nowNs) =>
      chain.deposit({ ...call, token, vault: vault.address }, nowNs),
    );
  }

  /** Pays out a live approval. CHAIN_NOT_FOUND, VAULT_NOT_FOUND, WITHDRAWAL_NOT_FOUND; a rejection by the vault reverts. */
  async withdraw(chainId: ChainId, request: ExecuteWithdrawal): Promise<Outcome<ChainTransaction>> {
    const found = this.#withVault(chainId);
    if (!found.ok) return found;
    const { executor, vault } = found.value;
    const row = this.#parts.approvals.ofWithdrawal(chainId, request.user, request.nonce);
    if (row === null) return rejected(NO_APPROVAL);
    const { signatures = row.signatures, ...changed } = request.overrides;
    const approval = { ...approvalOf(row), ...changed };
    const digest = withdrawalDigest(domainHash(vault.address, chainId), approval);
    const { signerOf } = await import('./approval-signer.ts');
    const signers = await Promise.all(signatures.map((signature) => signerOf(digest, signature)));
    const { administrators, quorum } = vault;
    const call = { ...approval, vault: vault.address, signers, administrators, quorum };
    const confirmations = request.confirm ? executor.settings.withdrawalConfirmations : 1;
    return this.#mined(executor, confirmations, (chain, nowNs) => chain.withdraw(call, nowNs));
  }

  /** Executes an approval. CHAIN_NOT_FOUND, VAULT_NOT_FOUND, SETTLEMENT_NOT_FOUND; a rejection by the vault reverts. */
  async settle(chainId: ChainId, request: ExecuteSettlement): Promise<Outcome<ChainTransaction>> {
    const found = this.#withVault(chainId);
    if (!found.ok) return found;
    const { executor, vault } = found.value;
    const row = this.#approved.get(approvalKey(chainId, request)) ?? null;
    if (row === null) return rejected(NO_SETTLEMENT);
    const { signature = row.signature, caller, ...changed } = request.overrides;
    const approval = { ...settlementApprovalOf(row), ...changed };
    const { signerOf } = await import('./approval-signer.ts');
    const signer = await signerOf(settlementDigest(domainHash(vault.address, chainId), approval), signature);
    const registered = executorOf(this.#parts.registry(), chainId, approval.settler);
    const parties = { vault: vault.address, caller: caller ?? registered ?? NO_ADDRESS, registered, signer };
    const call = { ...approval, ...parties, administrators: vault.administrators, conduct: request.executor };
    const confirmations = request.confirm ? executor.settings.settlementConfirmations : 1;
    return this.#mined(executor, confirmations, (chain, nowNs) => chain.settle(call, nowNs));
  }

  async mine(chainId: ChainId, blocks: number): Promise<Outcome<number>> {
    return this.#with(chainId, (executor) =>
      executor.change((chain) => {
        chain.mine(blocks, this.#parts.clock.nowNs());
        return chain.head;
      }),
    );
  }

  /** CHAIN_NOT_FOUND, ASSET_NOT_FOUND, INVALID_REQUEST for more than a token can represent. */
  async mint(chainId: ChainId, { token, to, baseUnits }: MintRequest): Promise<Outcome<ChainTransaction>> {
    return this.#with(chainId, async (executor) => {
      if (tokenOnChain(this.#parts.registry(), chainId, token) === null) return rejected(unknownToken(chainId));
      return this.#mined(executor, 1, (chain, nowNs) => chain.mint({ token, to, baseUnits }, nowNs));
    });
  }

  async counters(chainId: ChainId, user: UserId, subAccount: number): Promise<Outcome<ChainCounters>> {
    return this.#with(chainId, (executor) =>
      executor.read((chain) => ({
        depositCounts: chain.depositCount(user),
        withdrawalCounts: chain.withdrawalCount(user),
        settlementCounts: chain.settlementCount(user, subAccount),
      })),
    );
  }

  async balance(chainId: ChainId, address: string, token: string): Promise<Outcome<bigint>> {
    return this.#with(chainId, (executor) => executor.read((chain) => chain.balanceOf(token, address)));
  }

  async vault(chainId: ChainId): Promise<Outcome<ChainVault>> {
    const found = this.#withVault(chainId);
    if (!found.ok) return found;
    const { executor, vault } = found.value;
    return executor.read((chain) => ({
      vault: vault.key,
      head: chain.head,
      balances: chain.holdings(vault.address),
      administrators: vault.administrators,
      quorum: vault.quorum,
      escapeMode: chain.escape.isOpen,
      lastCheckpointNs: chain.escape.checkpointNs as TimestampNs | null,
    }));
  }

  async escape(chainId: ChainId): Promise<Outcome<ChainVault>> {
    const found = this.#withVault(chainId);
    if (!found.ok) return found;
    const wasOpen = await found.value.executor.change((chain) => {
      const { isOpen } = chain.escape;
      chain.setEscape(true);
      return isOpen;
    });
    if (!wasOpen.ok) return wasOpen;
    if (!wasOpen.value) this.#parts.escaped(chainId, true);
    return this.vault(chainId);
  }

  /** CHAIN_NOT_FOUND, VAULT_NOT_FOUND, ASSET_NOT_FOUND; a vault that is not in escape mode reverts. */
  async forceWithdraw(chainId: ChainId, request: ForceWithdrawRequest): Promise<Outcome<ChainTransaction>> {
    const found = this.#withVault(chainId);
    if (!found.ok) return found;
    const { executor, vault } = found.value;
    const { confirm, ...call } = request;
    if (tokenOnChain(this.#parts.registry(), chainId, call.token) === null) return rejected(unknownToken(chainId));
    const confirmations = confirm ? executor.settings.withdrawalConfirmations : 1;
    return this.#mined(executor, confirmations, (chain, nowNs) =>
      chain.forceWithdraw({ ...call, vault: vault.address }, nowNs),
    );
  }

  async reorganise(chainId: ChainId, request: Reorganisation): Promise<Outcome<Reorganised>> {
    return this.#with(chainId, async (executor) => {
      const done = await executor.change((chain): Outcome<Reorganised> => {
        const dropped = chain.reorganise(request, this.#parts.clock.nowNs());
        return dropped.ok ? accepted({ head: chain.head, dropped: dropped.value }) : dropped;
      }, 'again');
      return done.ok ? done.value : done;
    });
  }

  async providers(chainId: ChainId): Promise<Outcome<readonly ProviderEntry[]>> {
    return this.#with(chainId, (executor) =>
      executor.read((chain) => providerList(chain, executor.settings.providers)),
    );
  }

  async setProvider(
    chainId: ChainId,
    provider: number,
    fault: ProviderFault,
  ): Promise<Outcome<readonly ProviderEntry[]>> {
    return this.#with(chainId, async (executor) => {
      const { providers } = executor.settings;
      if (provider >= providers) return rejected(reject('INVALID_REQUEST', `there are ${providers}`, 'provider'));
      return executor.change((chain) => {
        chain.setProvider(provider, fault);
        return providerList(chain, providers);
      }, 'again');
    });
  }

  async replay(chainId: ChainId, tx: string): Promise<Outcome<void>> {
    return this.#with(chainId, async (executor) => {
      const logs = await executor.read((chain) => chain.logsOf(tx));
      if (!logs.ok) return logs;
      if (logs.value === null) return rejected(reject('INVALID_REQUEST', 'this chain has no such transaction', 'tx'));
      for (const { blockNumber } of logs.value) {
        const done = await executor.replay(blockNumber);
        if (!done.ok) return done;
      }
      return accepted(undefined);
    });
  }

  #setTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    const blockTimesMs = [...this.#executors.values()]
      .filter(({ settings }) => settings.autoMine)
      .map(({ settings }) => Number(settings.blockTimeNs / MILLISECOND_NS));
    if (!this.#parts.minesByItself || blockTimesMs.length === 0) return;
    const everyMs = Math.max(TICK_MS_MIN, Math.min(TICK_MS_MAX, ...blockTimesMs));
    this.#timer = setInterval(() => this.wake(), everyMs);
    this.#timer.unref();
  }

  /**
   * Mines a transaction, and blocks behind it until it has so many confirmations; its own block is the first. One that
   * reverts gets none. @param transact null: a balance would be more than a uint256.
   */
  async #mined(
    executor: SimulatedExecutor,
    confirmations: number,
    transact: (chain: SimulatedChain, nowNs: bigint) => Mined | null,
  ): Promise<Outcome<ChainTransaction>> {
    const done = await executor.change((chain): Outcome<ChainTransaction> => {
      if (chain.isFull) return rejected(FULL);
      const nowNs = this.#parts.clock.nowNs();
      const mined = transact(chain, nowNs);
      if (mined === null) return rejected(TOO_MUCH);
      if (mined.revert === null) chain.mine(Math.max(confirmations, 1) - 1, nowNs);
      return accepted(transaction(mined, chain.head));
    });
    return done.ok ? done.value : done;
  }

  async #with<T>(chainId: ChainId, work: (executor: SimulatedExecutor) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const executor = this.#executors.get(chainId);
    return executor === undefined ? rejected(unknownChain(chainId)) : work(executor);
  }

  /** CHAIN_NOT_FOUND, VAULT_NOT_FOUND. */
  #withVault(chainId: ChainId): Outcome<{ readonly executor: SimulatedExecutor; readonly vault: VaultSettings }> {
    const executor = this.#executors.get(chainId);
    if (executor === undefined) return rejected(unknownChain(chainId));
    const { vault } = executor.settings;
    return vault === null ? rejected(noVault(chainId)) : accepted({ executor, vault });
  }
}

function providerList(chain: SimulatedChain, count: number): readonly ProviderEntry[] {
  return Array.from({ length: count }, (_, provider) => {
    const { fault, lagBlocks } = faultOf(chain, provider);
    return { provider, fault, ...(fault === 'lagging' ? { lag_blocks: lagBlocks } : {}) };
  });
}

function transaction(mined: Mined, head: number): ChainTransaction {
  const { tx, revert, block, nonce } = mined;
  return { tx, status: revert === null ? 'mined' : 'reverted', revert, block, head, nonce: nonce ?? 0 };
}

function approvalKey(
  chainId: ChainId,
  { user, subAccount, nonce }: Pick<SettlementRow, 'user' | 'subAccount' | 'nonce'>,
): string {
  return `${chainId}/${user}/${subAccount}/${nonce}`;
}

function unknownChain(chainId: ChainId): Reject {
  return reject('CHAIN_NOT_FOUND', `chain ${chainId} is not simulated here`, 'chain_id');
}

function unknownToken(chainId: ChainId): Reject {
  return reject('ASSET_NOT_FOUND', `no asset has this token on chain ${chainId}`, 'token');
}
