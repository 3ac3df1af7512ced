/**
 * The chains of a node. Simulated ones (operator-api.md 8): one ChainLane per simulated chain of the registry, opened at the
 * start or when the chain is put, and the real-time timer that mines blocks automatically. EVM chains: one thread watches
 * them (evm-thread.ts). The deposits of both are the same command to clearing.
 *
 * Vaults, tokens and policies are read from the registry at each call, so the operator's latest values apply.
 *
 * Not on the path of an order.
 */

import type { ClearingEvent } from '../clearing/effect-codec.ts';
import type { OperatorCommand, Reply } from '../clearing/inputs.ts';
import type { SettlementRow, WithdrawalRow } from '../clearing/rows.ts';
import { ConfigError } from '../core/config-error.ts';
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Amount18, type Clock, MILLISECOND_NS, type TimestampNs } from '../core/units.ts';
import type { LogMemory } from '../runtime/log-buffer.ts';
import type { ConfirmedBlock } from '../runtime/wall-follower.ts';
import { domainHash, settlementDigest, withdrawalDigest } from './approval-digests.ts';
import type { AmountLimits, KeySigner, Signer, SigningRequest } from './approval-signer.ts';
import { ChainLane } from './chain-lane.ts';
import type {
  ChainCounters,
  ChainOperations,
  ChainProvider,
  ChainTransaction,
  ChainVault,
  DepositRequest,
  ExecuteSettlement,
  ExecuteWithdrawal,
  ForceWithdrawRequest,
  MintRequest,
  Reorganised,
  SignedCheckpoint,
} from './chain-operations.ts';
import {
  type ChainRegistry,
  type EvmChainSettings,
  evmChains,
  executorOf,
  simulatedChains,
  tokenOnChain,
  unregistered,
  type VaultSettings,
} from './chain-rows.ts';
import type { ChainFiles } from './chain-store.ts';
import { encodeConfig } from './deposit-config.ts';
import type { Stopped } from './event-cursor.ts';
import { EvmThread, type WatchedChain } from './evm-thread.ts';
import { PUBLIC_APPROVAL_ADDRESS, PUBLIC_APPROVAL_KEY } from './key-file.ts';
import { BLOCKS_AGAIN, LateReads } from './late-reads.ts';
import { SettlementApprovals, settlementApprovalOf } from './settlement-approvals.ts';
import { type Mined, type ProviderFault, type Reorganisation, SimulatedChain } from './simulated-chain.ts';
import { faultOf } from './simulated-providers.ts';
import { type ApprovalStop, type HoldingsParts, type Units, VaultHoldings } from './vault-holdings.ts';
import type { BlocksAgain } from './vault-watch.ts';
import { type WithdrawableEntry, WithdrawableTree } from './withdrawable-tree.ts';
import { approvalOf, WithdrawalApprovals } from './withdrawal-approvals.ts';

const TICK_MS_MIN = 10;
const TICK_MS_MAX = 250;
/** Between two comparisons of chains and ledger. */
const COMPARE_MS = 1_000;

/** How long a start waits for a majority of an EVM chain, and how often it is requested. */
const ESCAPE_MS_MAX = 5_000;
const ESCAPE_POLL_MS = 100;
/** Between two questions whether the vault of an EVM chain is in escape mode. */
const ESCAPE_WATCH_MS = 30_000;

const NO_ADDRESS = '0'.repeat(64);
const NO_SETTLEMENT: Reject = reject('SETTLEMENT_NOT_FOUND', 'this counter never had an approval', 'nonce');
const NO_APPROVAL: Reject = reject('WITHDRAWAL_NOT_FOUND', 'there is no live approval for this nonce', 'nonce');
const FULL: Reject = reject('SERVICE_UNAVAILABLE', 'this simulated chain accepts no more transactions');
const NOT_READ: Reject = reject('SERVICE_UNAVAILABLE', 'the chain is stopped, or is not read up to this block');
const STAYS_STOPPED: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'the chain stays stopped: a majority of its providers, or clearing, does not answer; try again',
);
const NOT_SIGNED: Reject = reject('SERVICE_UNAVAILABLE', 'no checkpoint of this chain can be signed now');
const SIMULATED: Reject = reject('INVALID_REQUEST', 'simulated vaults have checkpoints by themselves', 'chain_id');
const TOO_MUCH: Reject = reject('INVALID_REQUEST', 'a balance is a uint256', 'amount_base_units');

interface ChainActorParts {
  /** The data directory, which exists. */
  readonly directory: string;
  /** Of simulated chains. */
  readonly files: ChainFiles;
  readonly clock: Clock;
  /** Whether a timer mines due blocks; otherwise they are mined when the chain is read. */
  readonly minesByItself: boolean;
  /** Resolves when clearing has flushed the command. */
  readonly command: (command: OperatorCommand) => Promise<Reply>;
  readonly registry: () => ChainRegistry;
  /** Called when the node must stop. */
  readonly fail: (reason: string) => void;
  readonly evm: {
    /** The program of the thread that watches EVM chains. */
    readonly entry: URL;
    readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error';
    readonly logs: LogMemory;
    /** Files of approval keys; null: the key of dev and test. */
    readonly approvalKeys: readonly string[] | null;
    /** As the signer's. */
    readonly approvalLimits: AmountLimits;
    /** The thread died and begins anew. */
    readonly died: (reason: string) => void;
    /** An approval is not signed. */
    readonly refused: (chainId: ChainId, reason: string) => void;
  };
  /** Chains on whose vault in escape mode the operator accepts a start (AMB-85). */
  readonly acceptsEscape: readonly string[];
  /** Escape mode of a simulated vault has begun, or the operator has ended it. */
  readonly escaped: (chainId: ChainId, isOpen: boolean) => void;
  /** What can be withdrawn from the vault of a chain; null: not now. */
  readonly withdrawables: (chainId: ChainId) => Promise<readonly WithdrawableEntry[] | null>;
  readonly holdings: Pick<HoldingsParts, 'booked' | 'changed' | 'approvals'>;
  /** A simulated chain is stopped (AMB-74), or resumed: then null. */
  readonly stopped: (chainId: ChainId, stopped: Stopped | null) => void;
  /** Those that clearing published before this actor was made. */
  readonly withdrawals: () => Iterable<WithdrawalRow>;
  readonly settlements: () => Iterable<SettlementRow>;
}

/** Whether an approval would be signed now, and would lapse at last: what has to hold before an amount is locked. */
type ChainReadiness =
  | {
      readonly kind: 'ready';
      /** Of the last confirmed block, seconds. */
      readonly blockTime: number;
    }
  | { readonly kind: 'notReady'; readonly reason: string };

export class ChainActor implements ChainOperations {
  readonly #parts: ChainActorParts;
  readonly #lanes = new Map<ChainId, ChainLane>();
  readonly #evm: EvmThread;
  readonly #approvals: WithdrawalApprovals;
  readonly #holdings: VaultHoldings;
  readonly #late: LateReads = new LateReads();
  readonly #withheld = new Set<ChainId>();
  /** EVM chains whose vault is in escape mode, as far as a majority has answered. */
  readonly #escaped = new Set<ChainId>();
  #escapes: NodeJS.Timeout | null = null;
  #comparing: NodeJS.Timeout | null = null;
  readonly #settlements: SettlementApprovals;
  /** Of simulated vaults: dev and test have one key, which is public. */
  readonly #signer: Signer = { sign: async (request) => (await this.#publicSigner()).sign(request) };
  #loadedSigner: Promise<KeySigner> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: ChainActorParts) {
    this.#parts = parts;
    const { directory, command, fail, evm } = parts;
    this.#evm = new EvmThread({ dataDirectory: directory, command, fail, ...evm });
    this.#holdings = new VaultHoldings({
      ...parts.holdings,
      registry: parts.registry,
      held: () => this.#held(),
      explained: (chainId, differences) => this.#compared(chainId, differences),
      lacks: (chainId, asset, missing) => this.#lacks(chainId, asset, missing as Amount18),
      bookings: (chainId) => this.#bookings(chainId),
    });
    this.#approvals = new WithdrawalApprovals({
      command,
      state: (chainId) => this.#evm.state(chainId),
      canSign: ({ administrators, quorum }) => {
        const addresses = this.#evm.signerAddresses;
        return administrators.filter((address) => addresses.has(address)).length >= quorum;
      },
      sign: async (request) => (this.#isHeld(request) ? null : this.#evm.sign(request)),
      isWithheld: (chainId) => this.#isWithheld(chainId) || this.#evm.state(chainId)?.isWhole === false,
      withdrawalCount: (chainId, user) => this.#evm.withdrawalCount(chainId, user),
      isHidden: ({ chainId, user, nonce }) => this.#isAhead(chainId, `${user}/${nonce}`),
      refused: evm.refused,
      nowMs: () => performance.now(),
    });
    this.#settlements = new SettlementApprovals({
      command,
      vault: (chainId) => this.#signingVault(chainId),
      sign: async (request) => {
        if (this.#isHeld(request)) return null;
        return this.#lanes.has(request.chainId) ? this.#signer.sign(request) : this.#evm.sign(request);
      },
      progress: (chainId) => this.#evm.state(chainId),
      settlementCount: (chainId, user, subAccount) => this.#evm.settlementCount(chainId, user, subAccount),
      isHidden: ({ chainId, user, subAccount, nonce }) => this.#isAhead(chainId, `${user}/${subAccount}/${nonce}`),
      refused: evm.refused,
    });
  }

  /**
   * A vault that was silent because the node was off is not in escape mode: nothing but this node calls a simulated vault, and
   * its checkpoint comes first. One that was open when the node ended still is.
   *
   * @throws ConfigError for a vault in escape mode that the operator has not accepted (AMB-85).
   */
  async #refuseEscape(): Promise<void> {
    const { files, acceptsEscape } = this.#parts;
    for (const [chainId, { vault }] of simulatedChains(this.#parts.registry())) {
      const state = vault === null || acceptsEscape.includes(chainId) ? null : await files.load(chainId);
      if (state === null || !new SimulatedChain(state).escape.isOpen) continue;
      throw new ConfigError(escapeText(chainId));
    }
  }

  /**
   * Of an EVM chain (CHN-07): what its vault has paid without the node is debited before any order. A majority that does not answer within
   * ESCAPE_MS_MAX delays no start: its forced withdrawals are debited when they are read.
   *
   * @throws ConfigError for a vault in escape mode that the operator has not accepted (AMB-85).
   */
  async #judgeEscape(chainId: ChainId): Promise<void> {
    const endMs = performance.now() + ESCAPE_MS_MAX;
    for (let wasOpen = false; !this.#isStopped; ) {
      const found = await this.#evm.escape(chainId);
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

  /** Nothing is approved while checkpoints are withheld, or while users withdraw without the node. */
  #isWithheld(chainId: ChainId): boolean {
    return this.#withheld.has(chainId) || this.#escaped.has(chainId);
  }

  #setEscaped(chainId: ChainId, isOpen: boolean): void {
    if (this.#escaped.has(chainId) === isOpen) return;
    if (isOpen) this.#escaped.add(chainId);
    else this.#escaped.delete(chainId);
    this.#parts.escaped(chainId, isOpen);
  }

  /** A vault without checkpoints opens while the node runs; its owner ends that. */
  async #watchEscapes(): Promise<void> {
    for (const [chainId, { vault }] of evmChains(this.#parts.registry())) {
      const found = vault === null ? null : await this.#evm.escape(chainId);
      if (found !== null) this.#setEscaped(chainId, found.isOpen);
    }
  }

  async #lacks(chainId: ChainId, asset: AssetId, missing: Amount18): Promise<boolean | null> {
    const reply = await this.#parts.command({ kind: 'vaultDeviation', chainId, asset, missing });
    return reply.ok ? reply.value['is_stopped'] === true : null;
  }

  /** Nothing of its asset is approved on its chain (MON-05). Clearing refuses the signatures too. */
  #isHeld(request: SigningRequest): boolean {
    const token = request.kind === 'withdrawal' ? request.approval.token : request.approval.tokenOut;
    return this.#holdings.isStopped(request.chainId, token);
  }

  /** Of every chain with a vault. */
  #held(): ReadonlyMap<ChainId, Units | null> {
    const { configs } = this.#parts.registry();
    const chains = [...configs.values()].filter(({ kind }) => kind === 'vault').map(({ key }) => key.split('@')[1]);
    return new Map(
      chains.map((key) => {
        const chainId = key as ChainId;
        const lane = this.#lanes.get(chainId);
        return [chainId, lane === undefined ? (this.#evm.held(chainId)?.units ?? null) : lane.held()];
      }),
    );
  }

  /** Reads a chain again while its vault holds other units than the ledger has. @returns what is listed as unclaimed. */
  #compared(chainId: ChainId, differences: Units): Units {
    const block = this.#lanes.get(chainId)?.state()?.processed ?? this.#evm.held(chainId)?.block ?? -1;
    const from = this.#late.compared(chainId, block, differences, performance.now());
    if (from !== null) void this.readAgain(chainId, from);
    return this.#late.listed(chainId);
  }

  /** A counter of the vault is ahead of a row. @returns whether its event stays hidden after all reads. */
  #isAhead(chainId: ChainId, owner: string): boolean {
    const isDue = this.#late.isAhead(chainId, owner, performance.now());
    const processed = this.#evm.state(chainId)?.processed ?? 0;
    if (isDue === true) void this.readAgain(chainId, Math.max(processed - BLOCKS_AGAIN, 1));
    return isDue === 'over';
  }

  async readAgain(chainId: ChainId, from: number): Promise<Outcome<BlocksAgain>> {
    const lane = this.#lanes.get(chainId);
    if (lane !== undefined) return lane.readAgain(from);
    const read = await this.#evm.readAgain(chainId, from);
    return read === null ? rejected(NOT_READ) : accepted(read);
  }

  async checkpoint(chainId: ChainId): Promise<Outcome<SignedCheckpoint>> {
    if (this.#lanes.has(chainId)) return rejected(SIMULATED);
    const vault = this.#evmSettings(chainId)?.vault ?? null;
    if (vault === null) return rejected(noVault(chainId));
    if (this.#signingVault(chainId) === null) return rejected(NOT_SIGNED);
    const number = this.#parts.clock.nowNs() as bigint;
    const entries = await this.#parts.withdrawables(chainId);
    if (entries === null) return rejected(NOT_SIGNED);
    const { root } = new WithdrawableTree(entries);
    const signed = await this.#evm.signCheckpoint(chainId, vault, { root, number });
    if (signed?.kind !== 'signed') return rejected(NOT_SIGNED);
    return accepted({ root, number, signatures: signed.signatures, entries });
  }

  unclaimedUnits(chainId: ChainId): Units {
    return this.#late.listed(chainId);
  }

  #bookings(chainId: ChainId): number | null {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return this.#evm.bookings(chainId);
    return lane.isBusy ? null : lane.offers;
  }

  /** Opens every chain of the registry; resolves when deposits of simulated chains confirmed earlier are credited. */
  async start(): Promise<void> {
    for (const row of this.#parts.withdrawals()) this.#approvals.changed(row);
    await this.#refuseEscape();
    await this.#follow();
    await Promise.all(
      [...evmChains(this.#parts.registry())].map(([chainId, { vault }]) => vault && this.#judgeEscape(chainId)),
    );
    let isComparing = false;
    this.#comparing = setInterval(() => {
      // One at a time: clearing may answer late.
      if (isComparing) return;
      isComparing = true;
      void this.#holdings.compare().finally(() => {
        isComparing = false;
      });
    }, COMPARE_MS);
    this.#comparing.unref();
    this.#settlements.start(this.#parts.settlements());
    this.#escapes = setInterval(() => void this.#watchEscapes(), ESCAPE_WATCH_MS);
    this.#escapes.unref();
  }

  /** Chains and vaults that do not exist are clearing's to refuse. */
  readiness(chainId: ChainId): ChainReadiness {
    const lane = this.#lanes.get(chainId);
    const settings = lane?.settings ?? this.#evmSettings(chainId);
    if (settings === null || settings.vault === null) return { kind: 'ready', blockTime: 0 };
    const state = lane?.state() ?? this.#evm.state(chainId);
    const isRead = state !== undefined && state.head >= 0 && (lane !== undefined || state.blockTime > 0);
    if (!isRead) {
      return { kind: 'notReady', reason: 'the chain has not been read since the start' };
    }
    if (state.stopped !== null) return { kind: 'notReady', reason: 'the chain is stopped' };
    // mutant: settled-while-withheld
    if (lane === undefined ? this.#isWithheld(chainId) || !state.isWhole : !lane.mayApprove) {
      return { kind: 'notReady', reason: 'approvals of this chain are withheld' };
    }
    const addresses = lane === undefined ? this.#evm.signerAddresses : new Set([PUBLIC_APPROVAL_ADDRESS]);
    return settings.vault.administrators.some((address) => addresses.has(address))
      ? { kind: 'ready', blockTime: state.blockTime }
      : { kind: 'notReady', reason: 'there is no key of an administrator of the vault' };
  }

  /** A changed chain or vault takes effect at once; assets are read when needed. */
  onClearingEvent(event: ClearingEvent): void {
    if (event.kind === 'withdrawalChanged') this.#withdrawalChanged(event.row);
    if (event.kind === 'settlementChanged') this.#settlementChanged(event.row);
    if (event.kind !== 'registryChanged') return;
    // The tokens of EVM chains are those of the assets.
    if (event.change.table === 'asset') this.#evm.watch(evmChains(this.#parts.registry()));
    if (event.change.table !== 'config') return;
    const { kind } = event.change.row;
    if (kind === 'chain' || kind === 'vault') void this.#follow();
  }

  #withdrawalChanged(row: WithdrawalRow): void {
    this.#approvals.changed(row);
    const lane = this.#lanes.get(row.chainId);
    if (lane === undefined) return;
    lane.withdrawals.changed(row);
    lane.tick();
  }

  #settlementChanged(row: SettlementRow): void {
    this.#settlements.changed(row);
    const lane = this.#lanes.get(row.chainId);
    if (lane === undefined) return;
    lane.settlements.changed(row);
    lane.tick();
  }

  /** The vault of a chain on which approvals are signed: it is not stopped. */
  #signingVault(chainId: ChainId): VaultSettings | null {
    const lane = this.#lanes.get(chainId);
    if (lane !== undefined) return lane.mayApprove ? lane.settings.vault : null;
    if (this.#isWithheld(chainId)) return null;
    const state = this.#evm.state(chainId);
    return state?.stopped === null && state.isWhole ? (this.#evmSettings(chainId)?.vault ?? null) : null;
  }

  #evmSettings(chainId: ChainId): EvmChainSettings | null {
    return evmChains(this.#parts.registry()).get(chainId) ?? null;
  }

  /** Whether a call or a deposit is in progress. */
  isBusy(): boolean {
    const isApproving = this.#approvals.isBusy || this.#settlements.isBusy;
    return this.#evm.isBusy || isApproving || [...this.#lanes.values()].some((lane) => lane.isBusy);
  }

  /** Whether the thread of EVM chains has not loaded its modules yet. */
  get isLoading(): boolean {
    return this.#evm.isLoading;
  }

  /** Resolves when all started work is complete. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#comparing !== null) clearInterval(this.#comparing);
    if (this.#escapes !== null) clearInterval(this.#escapes);
    await Promise.all([this.#approvals.stop(), this.#settlements.stop()]);
    await Promise.all([this.#evm.stop(), ...[...this.#lanes.values()].map((lane) => lane.stop())]);
  }

  watched(): readonly WatchedChain[] {
    const polledMs = performance.now();
    const simulated = [...this.#lanes].flatMap(([chainId, lane]) => {
      const state = lane.state();
      return state === null ? [] : [{ ...state, chainId, polledMs }];
    });
    return [...simulated, ...this.#evm.states()];
  }

  /** Of each EVM chain that was read. */
  confirmedBlocks(): readonly ConfirmedBlock[] {
    const read = this.#evm.states().filter(({ blockTime }) => blockTime > 0);
    return read.map(({ chainId, blockTime }) => ({ chain: chainId, timeS: blockTime }));
  }

  /** EVM chains that are watched, read or not. */
  get evmChainCount(): number {
    return evmChains(this.#parts.registry()).size;
  }

  onChain(): ReadonlyMap<AssetId, bigint | null> {
    return this.#holdings.onChain();
  }

  approvalStops(): readonly ApprovalStop[] {
    return this.#holdings.stops;
  }

  lastDeviations(): ReadonlyMap<AssetId, bigint> {
    return this.#holdings.deviations;
  }

  async deviations(): Promise<ReadonlyMap<AssetId, bigint>> {
    await this.#holdings.compare();
    return this.#holdings.deviations;
  }

  async resume(chainId: ChainId): Promise<Outcome<void>> {
    const lane = this.#lanes.get(chainId);
    if (lane !== undefined) return lane.resume();
    return (await this.#evm.resume(chainId)) === true ? accepted(undefined) : rejected(STAYS_STOPPED);
  }

  /**
   * CHAIN_NOT_FOUND, VAULT_NOT_FOUND; a rejection by the vault is a reverted transaction. A token that no asset has is one of
   * 18 decimals: clearing lists the deposit as unclaimed (AMB-74).
   */
  async deposit(chainId: ChainId, request: DepositRequest): Promise<Outcome<ChainTransaction>> {
    const { lane, vault } = this.#laneWithVault(chainId);
    if (lane === null) return rejected(unknownChain(chainId));
    if (vault === null) return rejected(noVault(chainId));
    const token = tokenOnChain(this.#parts.registry(), chainId, request.token) ?? unregistered(chainId, request.token);
    const { confirm, config, ...terms } = request;
    const call = config === undefined ? terms : { ...terms, config: encodeConfig(config) };
    const confirmations = confirm ? lane.settings.depositConfirmations : 1;
    return this.#mined(lane, confirmations, (chain, nowNs) =>
      chain.deposit({ ...call, token, vault: vault.address }, nowNs),
    );
  }

  /** Pays out a live approval. CHAIN_NOT_FOUND, VAULT_NOT_FOUND, WITHDRAWAL_NOT_FOUND; a rejection by the vault reverts. */
  async withdraw(chainId: ChainId, request: ExecuteWithdrawal): Promise<Outcome<ChainTransaction>> {
    const { lane, vault } = this.#laneWithVault(chainId);
    if (lane === null) return rejected(unknownChain(chainId));
    if (vault === null) return rejected(noVault(chainId));
    const row = lane.withdrawals.approved(request.user, request.nonce);
    if (row === null) return rejected(NO_APPROVAL);
    const { signatures = row.signatures, ...changed } = request.overrides;
    const approval = { ...approvalOf(row), ...changed };
    const digest = withdrawalDigest(domainHash(vault.address, chainId), approval);
    const { signerOf } = await import('./approval-signer.ts');
    const signers = await Promise.all(signatures.map((signature) => signerOf(digest, signature)));
    const { administrators, quorum } = vault;
    const call = { ...approval, vault: vault.address, signers, administrators, quorum };
    const confirmations = request.confirm ? lane.settings.withdrawalConfirmations : 1;
    return this.#mined(lane, confirmations, (chain, nowNs) => chain.withdraw(call, nowNs));
  }

  /** Executes an approval. CHAIN_NOT_FOUND, VAULT_NOT_FOUND, SETTLEMENT_NOT_FOUND; a rejection by the vault reverts. */
  async settle(chainId: ChainId, request: ExecuteSettlement): Promise<Outcome<ChainTransaction>> {
    const { lane, vault } = this.#laneWithVault(chainId);
    if (lane === null) return rejected(unknownChain(chainId));
    if (vault === null) return rejected(noVault(chainId));
    const row = lane.settlements.approved(request.user, request.subAccount, request.nonce);
    if (row === null) return rejected(NO_SETTLEMENT);
    const { signature = row.signature, caller, ...changed } = request.overrides;
    const approval = { ...settlementApprovalOf(row), ...changed };
    const { signerOf } = await import('./approval-signer.ts');
    const signer = await signerOf(settlementDigest(domainHash(vault.address, chainId), approval), signature);
    const registered = executorOf(this.#parts.registry(), chainId, approval.settler);
    const parties = { vault: vault.address, caller: caller ?? registered ?? NO_ADDRESS, registered, signer };
    const call = { ...approval, ...parties, administrators: vault.administrators, conduct: request.executor };
    const confirmations = request.confirm ? lane.settings.settlementConfirmations : 1;
    return this.#mined(lane, confirmations, (chain, nowNs) => chain.settle(call, nowNs));
  }

  /** The node's clock was moved by hand: checkpoints and blocks may be due. */
  wake(): void {
    for (const lane of this.#lanes.values()) lane.tick();
    this.#settlements.tick();
  }

  async mine(chainId: ChainId, blocks: number): Promise<Outcome<number>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    return lane.change((chain) => {
      chain.mine(blocks, this.#parts.clock.nowNs());
      return chain.head;
    });
  }

  /** CHAIN_NOT_FOUND, ASSET_NOT_FOUND, INVALID_REQUEST for more than a token can represent. */
  async mint(chainId: ChainId, request: MintRequest): Promise<Outcome<ChainTransaction>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    const { token, to, baseUnits } = request;
    if (tokenOnChain(this.#parts.registry(), chainId, token) === null) return rejected(unknownToken(chainId));
    return this.#mined(lane, 1, (chain, nowNs) => chain.mint({ token, to, baseUnits }, nowNs));
  }

  async counters(chainId: ChainId, user: UserId, subAccount: number): Promise<Outcome<ChainCounters>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    return lane.read((chain) => ({
      depositCounts: chain.depositCount(user),
      withdrawalCounts: chain.withdrawalCount(user),
      settlementCounts: chain.settlementCount(user, subAccount),
    }));
  }

  async balance(chainId: ChainId, address: string, token: string): Promise<Outcome<bigint>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    return lane.read((chain) => chain.balanceOf(token, address));
  }

  async vault(chainId: ChainId): Promise<Outcome<ChainVault>> {
    const { lane, vault } = this.#laneWithVault(chainId);
    if (lane === null) return rejected(unknownChain(chainId));
    if (vault === null) return rejected(noVault(chainId));
    return lane.read((chain) => ({
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
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    if (lane.settings.vault === null) return rejected(noVault(chainId));
    const wasOpen = await lane.change((chain) => {
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
    const { lane, vault } = this.#laneWithVault(chainId);
    if (lane === null) return rejected(unknownChain(chainId));
    if (vault === null) return rejected(noVault(chainId));
    const { confirm, ...call } = request;
    if (tokenOnChain(this.#parts.registry(), chainId, call.token) === null) return rejected(unknownToken(chainId));
    const confirmations = confirm ? lane.settings.withdrawalConfirmations : 1;
    return this.#mined(lane, confirmations, (chain, nowNs) =>
      chain.forceWithdraw({ ...call, vault: vault.address }, nowNs),
    );
  }

  /** Hook: no checkpoint, heartbeat or approval on a chain from now on, or on all of them again: then null. */
  async withhold(chainId: ChainId | null): Promise<void> {
    if (chainId === null) this.#withheld.clear();
    else this.#withheld.add(chainId);
    await Promise.all([...this.#lanes].map(([id, lane]) => lane.withhold(this.#withheld.has(id))));
  }

  get withheld(): readonly ChainId[] {
    return [...this.#withheld];
  }

  async reorganise(chainId: ChainId, request: Reorganisation): Promise<Outcome<Reorganised>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    const done = await lane.change((chain): Outcome<Reorganised> => {
      const dropped = chain.reorganise(request, this.#parts.clock.nowNs());
      return dropped.ok ? accepted({ head: chain.head, dropped: dropped.value }) : dropped;
    }, 'again');
    return done.ok ? done.value : done;
  }

  async providers(chainId: ChainId): Promise<Outcome<readonly ChainProvider[]>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    return lane.read((chain) => providerList(chain, lane.settings.providers));
  }

  async setProvider(
    chainId: ChainId,
    provider: number,
    fault: ProviderFault,
  ): Promise<Outcome<readonly ChainProvider[]>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    const { providers } = lane.settings;
    if (provider >= providers) return rejected(reject('INVALID_REQUEST', `there are ${providers}`, 'provider'));
    return lane.change((chain) => {
      chain.setProvider(provider, fault);
      return providerList(chain, providers);
    }, 'again');
  }

  async replay(chainId: ChainId, tx: string): Promise<Outcome<void>> {
    const lane = this.#lanes.get(chainId);
    if (lane === undefined) return rejected(unknownChain(chainId));
    const logs = await lane.read((chain) => chain.logsOf(tx));
    if (!logs.ok) return logs;
    if (logs.value === null) return rejected(reject('INVALID_REQUEST', 'this chain has no such transaction', 'tx'));
    return lane.replay(logs.value);
  }

  /** Updates lanes and timer to the registry. Resolves when their work is complete. */
  async #follow(): Promise<void> {
    if (this.#isStopped) return;
    const work: Promise<void>[] = [];
    const registry = this.#parts.registry();
    const evm = evmChains(registry);
    this.#evm.watch(evm);
    this.#approvals.follow(evm);
    const chains = simulatedChains(registry);
    for (const [chainId, lane] of this.#lanes) {
      if (chains.has(chainId)) continue;
      this.#lanes.delete(chainId);
      work.push(lane.stop());
    }
    for (const [chainId, settings] of chains) {
      const lane = this.#lanes.get(chainId);
      if (lane !== undefined) {
        work.push(lane.retune(settings));
        continue;
      }
      const { clock, command, fail, stopped, files: store } = this.#parts;
      const { refused } = this.#parts.evm;
      const acceptsEscape = this.#parts.acceptsEscape.includes(chainId);
      const use = {
        acceptsEscape,
        escaped: this.#parts.escaped,
        clock,
        command,
        fail,
        stopped,
        refused,
        signer: this.#signer,
      };
      const isHeld = (token: string): boolean => this.#holdings.isStopped(chainId, token);
      const opened = new ChainLane({ chainId, store, isHeld, ...use }, settings);
      this.#lanes.set(chainId, opened);
      for (const row of this.#parts.withdrawals()) if (row.chainId === chainId) opened.withdrawals.changed(row);
      for (const row of this.#parts.settlements()) if (row.chainId === chainId) opened.settlements.changed(row);
      work.push(opened.open());
    }
    this.#setTimer();
    await Promise.all(work);
  }

  #setTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    const blockTimesMs = [...this.#lanes.values()]
      .filter((lane) => lane.settings.autoMine)
      .map((lane) => Number(lane.settings.blockTimeNs / MILLISECOND_NS));
    if (!this.#parts.minesByItself || blockTimesMs.length === 0) return;
    const everyMs = Math.max(TICK_MS_MIN, Math.min(TICK_MS_MAX, ...blockTimesMs));
    this.#timer = setInterval(() => {
      for (const lane of this.#lanes.values()) lane.tick();
    }, everyMs);
    this.#timer.unref();
  }

  /** Loaded with the first signature: viem would cost every start some 0.3 s. */
  #publicSigner(): Promise<KeySigner> {
    this.#loadedSigner ??= import('./approval-signer.ts').then(
      ({ KeySigner: Loaded }) => new Loaded([PUBLIC_APPROVAL_KEY], () => performance.now()),
    );
    return this.#loadedSigner;
  }

  /**
   * Mines a transaction, and blocks behind it until it has so many confirmations; its own block is the first. One that
   * reverts gets none. @param transact null: a balance would be more than a uint256.
   */
  async #mined(
    lane: ChainLane,
    confirmations: number,
    transact: (chain: SimulatedChain, nowNs: bigint) => Mined | null,
  ): Promise<Outcome<ChainTransaction>> {
    const done = await lane.change((chain): Outcome<ChainTransaction> => {
      if (chain.isFull) return rejected(FULL);
      const nowNs = this.#parts.clock.nowNs();
      const mined = transact(chain, nowNs);
      if (mined === null) return rejected(TOO_MUCH);
      if (mined.revert === null) chain.mine(Math.max(confirmations, 1) - 1, nowNs);
      return accepted(transaction(mined, chain.head));
    });
    return done.ok ? done.value : done;
  }

  #laneWithVault(chainId: ChainId): { readonly lane: ChainLane | null; readonly vault: VaultSettings | null } {
    const lane = this.#lanes.get(chainId) ?? null;
    return { lane, vault: lane?.settings.vault ?? null };
  }
}

function providerList(chain: SimulatedChain, count: number): readonly ChainProvider[] {
  return Array.from({ length: count }, (_, provider) => {
    const { fault, lagBlocks } = faultOf(chain, provider);
    return { provider, fault, ...(fault === 'lagging' ? { lag_blocks: lagBlocks } : {}) };
  });
}

function transaction(mined: Mined, head: number): ChainTransaction {
  const { tx, revert, block, nonce } = mined;
  return { tx, status: revert === null ? 'mined' : 'reverted', revert, block, head, nonce: nonce ?? 0 };
}

function unknownChain(chainId: ChainId): Reject {
  return reject('CHAIN_NOT_FOUND', `chain ${chainId} is not simulated here`, 'chain_id');
}

function noVault(chainId: ChainId): Reject {
  return reject('VAULT_NOT_FOUND', `chain ${chainId} has no vault`);
}

function unknownToken(chainId: ChainId): Reject {
  return reject('ASSET_NOT_FOUND', `no asset has this token on chain ${chainId}`, 'token');
}

function escapeText(chainId: ChainId): string {
  return (
    `the vault of chain ${chainId} is in escape mode: its users may have withdrawn without the node; set ` +
    `RINGBOOK_ACCEPT_ESCAPE=${chainId} to debit that and to end escape mode`
  );
}
