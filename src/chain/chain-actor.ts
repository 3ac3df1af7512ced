/**
 * The chains of a node, of every kind: approvals of withdrawals and settlements, what the vaults hold beside the ledger, blocks that are
 * read again, escape modes. What differs between kinds is behind ChainKind; the table of kinds is in the constructor.
 *
 *   registry ─▶ kinds ─▶ vault-watch.ts ─▶ commands ─▶ clearing ─▶ rows ─▶ approvals ─▶ signatures ─▶ clearing
 *
 * Not on the path of an order.
 */

import type { ClearingEvent } from '../clearing/effect-codec.ts';
import type { Stopped } from '../clearing/funds/chain-cursor.ts';
import type { ApprovalsPage } from '../clearing/funds/signed-approvals.ts';
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import type { SettlementRow, SignedApprovalRow, WithdrawalRow } from '../clearing/rows.ts';
import type { AssetId, ChainId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import { type Amount18, type Clock, SECOND_NS } from '../core/units.ts';
import type { LogMemory } from '../runtime/log-buffer.ts';
import type { ConfirmedBlock } from '../runtime/wall-follower.ts';
import type { AmountLimits, ApprovedBefore, Signed, SigningRequest } from './approval-signer.ts';
import { approvedBefore } from './approved-before.ts';
import type { ChainKind, WatchedChain } from './chain-kind.ts';
import { type ChainOperations, noVault, type SignedCheckpoint, type SimulatedOperations } from './chain-operations.ts';
import type { ChainRegistry, VaultSettings } from './chain-rows.ts';
import type { ChainFiles } from './chain-store.ts';
import type { CounterAt } from './event-watch.ts';
import { EvmChains } from './evm-chains.ts';
import type { CursorPages } from './evm-thread.ts';
import { BLOCKS_AGAIN, LateReads } from './late-reads.ts';
import { SettlementApprovals } from './settlement-approvals.ts';
import { SimulatedChains } from './simulated-chains.ts';
import { type ApprovalStop, type HoldingsParts, type Units, VaultHoldings } from './vault-holdings.ts';
import type { BlocksAgain } from './vault-watch.ts';
import { type WithdrawableEntry, WithdrawableTree } from './withdrawable-tree.ts';
import { WithdrawalApprovals } from './withdrawal-approvals.ts';

/** Between two comparisons of chains and ledger. */
const COMPARE_MS = 1_000;
/** Between two questions to clearing that it did not answer. */
const ASK_AGAIN_MS = 250;

const NOT_SIGNED: Reject = reject('SERVICE_UNAVAILABLE', 'no checkpoint of this chain can be signed now');
const SIMULATED: Reject = reject('INVALID_REQUEST', 'simulated vaults have checkpoints by themselves', 'chain_id');
const NO_CHAIN: Reject = reject('CHAIN_NOT_FOUND', 'the node watches no such chain', 'chain_id');

interface ChainActorParts {
  /** The data directory, which exists. */
  readonly directory: string;
  /** Of simulated chains. */
  readonly files: ChainFiles;
  readonly clock: Clock;
  /** Whether this node answers for simulated chains: in a cluster, a leader with its lease. By default always. */
  readonly leads?: (() => boolean) | undefined;
  /** Whether a timer mines due blocks; otherwise they are mined when the chain is read. */
  readonly minesByItself: boolean;
  /** Resolves when clearing has flushed the command. */
  readonly command: (command: OperatorCommand) => Promise<ActionReply>;
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
    readonly cursorPage: CursorPages;
    /** The thread died and begins anew. */
    readonly died: (reason: string) => void;
    /** An approval is not signed. */
    readonly refused: (chainId: ChainId, reason: string) => void;
  };
  /** Chains on whose vault in escape mode the operator accepts a start (AMB-85). */
  readonly acceptsEscape: readonly string[];
  /** Escape mode of a vault has begun, or has ended. */
  readonly escaped: (chainId: ChainId, isOpen: boolean) => void;
  /** What can be withdrawn from the vault of a chain; null: not now. */
  readonly withdrawables: (chainId: ChainId) => Promise<readonly WithdrawableEntry[] | null>;
  readonly holdings: Pick<HoldingsParts, 'booked' | 'changed' | 'approvals'>;
  /** A simulated chain is stopped (AMB-74), or resumed: then null. The thread of EVM chains logs that by itself. */
  readonly stopped: (chainId: ChainId, stopped: Stopped | null) => void;
  /** Those that clearing published before this actor was made. */
  readonly withdrawals: () => Iterable<WithdrawalRow>;
  readonly settlements: () => Iterable<SettlementRow>;
  /** A page of what was signed within the last hour; null: clearing does not answer now. */
  readonly approvalsOfHour: (from: number) => Promise<ApprovalsPage | null>;
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
  readonly #simulated: SimulatedChains;
  readonly #evm: EvmChains;
  /** One line for each kind of chain. */
  readonly #kinds: readonly ChainKind[];
  readonly #approvals: WithdrawalApprovals;
  readonly #settlements: SettlementApprovals;
  readonly #holdings: VaultHoldings;
  readonly #late: LateReads = new LateReads();
  readonly #withheld = new Set<ChainId>();
  #comparing: NodeJS.Timeout | null = null;

  constructor(parts: ChainActorParts) {
    this.#parts = parts;
    const { directory, evm } = parts;
    const before = (): Promise<ApprovedBefore> => this.#approvedBefore();
    this.#simulated = new SimulatedChains({
      ...parts,
      approvedBefore: before,
      approvals: {
        isDue: (chainId) => this.#approvals.isDue(chainId) || this.#settlements.isDue(chainId),
        step: async (chainId) => {
          await this.#approvals.step(chainId);
          await this.#settlements.step(chainId);
        },
        ofWithdrawal: (chainId, user, nonce) => this.#approvals.approved(chainId, user, nonce),
      },
    });
    this.#evm = new EvmChains({ ...parts, ...evm, dataDirectory: directory, approvedBefore: before });
    this.#kinds = [this.#simulated, this.#evm];
    this.#approvals = new WithdrawalApprovals({
      ...this.#stepParts(),
      settings: (chainId) => this.#of(chainId)?.settings(chainId) ?? null,
      state: (chainId) => this.#state(chainId),
      canSign: (chainId, { administrators, quorum }) => {
        const addresses = this.#of(chainId)?.signerAddresses;
        return administrators.filter((address) => addresses?.has(address)).length >= quorum;
      },
      isWithheld: (chainId) => this.#isWithheld(chainId),
      isHeld: (chainId, token) => this.#holdings.isStopped(chainId, token),
      withdrawalCount: (chainId, user) => this.#counter(chainId, (kind) => kind.withdrawalCount(chainId, user)),
      isHidden: ({ chainId, user, nonce }) => this.#isAhead(chainId, `${user}/${nonce}`),
      nowMs: (chainId) => this.#nowMs(chainId),
    });
    this.#settlements = new SettlementApprovals({
      ...this.#stepParts(),
      vault: (chainId) => this.#signingVault(chainId),
      progress: (chainId) => this.#state(chainId),
      settlementCount: (chainId, user, subAccount) =>
        this.#counter(chainId, (kind) => kind.settlementCount(chainId, user, subAccount)),
      isHidden: ({ chainId, user, subAccount, nonce }) => this.#isAhead(chainId, `${user}/${subAccount}/${nonce}`),
    });
    this.#holdings = new VaultHoldings({
      ...parts.holdings,
      registry: parts.registry,
      held: () => this.#held(),
      explained: (chainId, differences) => this.#compared(chainId, differences),
      lacks: (chainId, asset, missing) => this.#lacks(chainId, asset, missing as Amount18),
      bookings: (chainId) => this.#of(chainId)?.bookings(chainId) ?? null,
    });
  }

  /** What the steps of both kinds of approvals have in common. */
  #stepParts(): {
    readonly command: ChainActorParts['command'];
    readonly refused: ChainActorParts['evm']['refused'];
    readonly isTimed: (chainId: ChainId) => boolean;
    readonly sign: (request: SigningRequest) => Promise<Signed | null>;
  } {
    const { command, evm } = this.#parts;
    return {
      command,
      refused: evm.refused,
      isTimed: (chainId) => this.#of(chainId)?.isTimed === true,
      sign: async (request) => (this.#isHeld(request) ? null : (this.#of(request.chainId)?.sign(request) ?? null)),
    };
  }

  /** What was approved before, as stored rows have it. While clearing does not answer nothing is signed. */
  async #approvedBefore(): Promise<ApprovedBefore> {
    const { clock, withdrawals, settlements, approvalsOfHour } = this.#parts;
    const signed: SignedApprovalRow[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const page: ApprovalsPage | null = await approvalsOfHour(from);
      if (page === null) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS).unref());
      signed.push(...(page?.approvals ?? []));
      if (page !== null) from = page.next;
    }
    return approvedBefore({
      signed,
      withdrawals: withdrawals(),
      settlements: settlements(),
      settings: (chainId) => this.#of(chainId)?.settings(chainId) ?? null,
      nowS: Number(clock.nowNs() / SECOND_NS),
    });
  }

  /** The kind of a chain; undefined for one that the node does not watch. */
  #of(chainId: ChainId): ChainKind | undefined {
    return this.#kinds.find((kind) => kind.settings(chainId) !== null);
  }

  #state(chainId: ChainId): WatchedChain | undefined {
    return this.#of(chainId)?.state(chainId);
  }

  #vault(chainId: ChainId): VaultSettings | null {
    return this.#of(chainId)?.settings(chainId)?.vault ?? null;
  }

  #nowMs(chainId: ChainId): number {
    return this.#of(chainId)?.nowMs() ?? 0;
  }

  async #counter(chainId: ChainId, read: (kind: ChainKind) => Promise<CounterAt | null>): Promise<CounterAt | null> {
    const kind = this.#of(chainId);
    return kind === undefined ? null : read(kind);
  }

  get simulated(): SimulatedOperations {
    return this.#simulated;
  }

  /** Nothing is approved while checkpoints are withheld, while users withdraw without the node, or while booked events are not on the chain. */
  #isWithheld(chainId: ChainId): boolean {
    const kind = this.#of(chainId);
    return this.#withheld.has(chainId) || kind?.isEscaped(chainId) === true || kind?.state(chainId)?.isWhole === false;
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
        return [chainId, this.#of(chainId)?.held(chainId)?.units ?? null];
      }),
    );
  }

  /** Reads a chain again while its vault holds other units than the ledger has. @returns what is listed as unclaimed. */
  #compared(chainId: ChainId, differences: Units): Units {
    const block = this.#of(chainId)?.held(chainId)?.block ?? -1;
    const from = this.#late.compared(chainId, block, differences, performance.now());
    if (from !== null) void this.readAgain(chainId, from);
    return this.#late.listed(chainId);
  }

  /** A counter of the vault is ahead of a row. @returns whether its event stays hidden after all reads. */
  #isAhead(chainId: ChainId, owner: string): boolean {
    const isDue = this.#late.isAhead(chainId, owner, this.#nowMs(chainId));
    const processed = this.#state(chainId)?.processed ?? 0;
    if (isDue === true) void this.readAgain(chainId, Math.max(processed - BLOCKS_AGAIN, 1));
    return isDue === 'over';
  }

  async readAgain(chainId: ChainId, from: number): Promise<Outcome<BlocksAgain>> {
    return this.#of(chainId)?.readAgain(chainId, from) ?? rejected(NO_CHAIN);
  }

  async checkpoint(chainId: ChainId): Promise<Outcome<SignedCheckpoint>> {
    if (this.#of(chainId) === this.#simulated) return rejected(SIMULATED);
    const vault = this.#vault(chainId);
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

  /** Opens every chain of the registry; resolves when deposits of simulated chains confirmed earlier are credited. */
  async start(): Promise<void> {
    for (const row of this.#parts.withdrawals()) this.#approvals.changed(row);
    this.#approvals.start();
    this.#settlements.start(this.#parts.settlements());
    await Promise.all(this.#kinds.map((kind) => kind.start()));
    this.#settlements.tick();
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
  }

  /** Chains and vaults that do not exist are clearing's to refuse. */
  readiness(chainId: ChainId): ChainReadiness {
    const kind = this.#of(chainId);
    const vault = this.#vault(chainId);
    if (kind === undefined || vault === null) return { kind: 'ready', blockTime: 0 };
    const state = kind.state(chainId);
    if (state === undefined || state.head < 0 || state.blockTime === 0) {
      return { kind: 'notReady', reason: 'the chain has not been read since the start' };
    }
    if (state.stopped !== null) return { kind: 'notReady', reason: 'the chain is stopped' };
    // mutant: settled-while-withheld
    if (this.#isWithheld(chainId)) {
      return { kind: 'notReady', reason: 'approvals of this chain are withheld' };
    }
    return vault.administrators.some((address) => kind.signerAddresses.has(address))
      ? { kind: 'ready', blockTime: state.blockTime }
      : { kind: 'notReady', reason: 'there is no key of an administrator of the vault' };
  }

  /** A changed chain or vault takes effect at once, and so do the tokens of the assets. */
  onClearingEvent(event: ClearingEvent): void {
    if (event.kind === 'withdrawalChanged') {
      this.#approvals.changed(event.row);
      this.#of(event.row.chainId)?.rowChanged(event.row.chainId);
    }
    if (event.kind === 'settlementChanged') {
      this.#settlements.changed(event.row);
      this.#simulated.settlementChanged(event.row);
      this.#of(event.row.chainId)?.rowChanged(event.row.chainId);
    }
    if (event.kind === 'registryChanged' && isOfChains(event.change))
      for (const kind of this.#kinds) void kind.follow();
  }

  /** The vault of a chain on which approvals are signed: it is not stopped. */
  #signingVault(chainId: ChainId): VaultSettings | null {
    const state = this.#state(chainId);
    return state?.stopped === null && !this.#isWithheld(chainId) ? this.#vault(chainId) : null;
  }

  /** Whether a call or a booking is in progress. */
  isBusy(): boolean {
    return this.#approvals.isBusy || this.#settlements.isBusy || this.#kinds.some((kind) => kind.isBusy);
  }

  /** Whether the thread of EVM chains has not loaded its modules yet. */
  get isLoading(): boolean {
    return this.#evm.isLoading;
  }

  /** Resolves when all started work is complete. */
  async stop(): Promise<void> {
    if (this.#comparing !== null) clearInterval(this.#comparing);
    await Promise.all([this.#approvals.stop(), this.#settlements.stop()]);
    await Promise.all(this.#kinds.map((kind) => kind.stop()));
  }

  watched(): readonly WatchedChain[] {
    const all = this.#kinds.flatMap((kind) => [...kind.chainIds()].map((chainId) => kind.state(chainId)));
    return all.filter((state) => state !== undefined);
  }

  /** Of each EVM chain that was read: the blocks of the others have the node's own clock. */
  confirmedBlocks(): readonly ConfirmedBlock[] {
    const states = [...this.#evm.chainIds()].map((chainId) => this.#evm.state(chainId));
    const read = states.filter((state) => state !== undefined && state.blockTime > 0) as readonly WatchedChain[];
    return read.map(({ chainId, blockTime }) => ({ chain: chainId, timeS: blockTime }));
  }

  /** EVM chains that are watched, read or not. */
  get evmChainCount(): number {
    return [...this.#evm.chainIds()].length;
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
    return this.#of(chainId)?.resume(chainId) ?? rejected(NO_CHAIN);
  }

  /** The node's clock was moved by hand: checkpoints and blocks may be due. */
  wake(): void {
    this.#simulated.wake();
    this.#settlements.tick();
  }

  /** Hook: no checkpoint, heartbeat or approval on a chain from now on, or on all of them again: then null. */
  async withhold(chainId: ChainId | null): Promise<void> {
    if (chainId === null) this.#withheld.clear();
    else this.#withheld.add(chainId);
    await this.#simulated.withhold(this.#withheld);
  }

  get withheld(): readonly ChainId[] {
    return [...this.#withheld];
  }
}

function isOfChains(change: Extract<ClearingEvent, { readonly kind: 'registryChanged' }>['change']): boolean {
  if (change.table === 'asset') return true;
  return change.table === 'config' && (change.row.kind === 'chain' || change.row.kind === 'vault');
}
