/**
 * The operator API's interface to the chains (operator-api.md 4.4, 8). Chains, tokens and vaults come from the registry; the
 * routes have checked that the chain exists, and for its simulation that it is simulated.
 *
 * Implemented by chain-actor.ts and simulated-chains.ts; the routes are in operator/operator-chain-routes.ts.
 */
import type { AssetId, ChainId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import { type Reject, reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { SettlementApproval } from './approval-digests.ts';
import type { WatchedChain } from './chain-kind.ts';
import type { DepositConfig } from './deposit-config.ts';
import type { ProviderFault, Reorganisation } from './simulated-chain.ts';
import type { ExecutorConduct } from './simulated-settlement.ts';
import type { ApprovalStop } from './vault-holdings.ts';
import type { BlocksAgain } from './vault-watch.ts';
import type { WithdrawableEntry } from './withdrawable-tree.ts';

/** The default sender of deposits. */
export const DEFAULT_SENDER: string = 'aa'.repeat(20).padEnd(64, '0');

/** Addresses are 64 hex, right-padded. */
export interface DepositRequest {
  readonly user: UserId;
  readonly token: string;
  readonly baseUnits: bigint;
  readonly from: string;
  readonly approve: boolean;
  readonly senderAllowed: boolean;
  /** Of the configured overload; absent: the plain one. */
  readonly config?: DepositConfig;
  /**
   * True: mines the confirmations that the policy requires and waits until the node has processed the event; false:
   * mines one block.
   */
  readonly confirm: boolean;
}

/** A call of `withdraw` with the live approval of a counter; what an override names is taken in place of the approval's. */
export interface ExecuteWithdrawal {
  readonly user: UserId;
  readonly nonce: number;
  readonly overrides: {
    readonly baseUnits?: bigint;
    readonly target?: string;
    readonly nonce?: bigint;
    readonly validUntil?: bigint;
    readonly epochHash?: string;
    /** Hex, of 64 or 65 bytes. */
    readonly signatures?: readonly string[];
  };
  readonly confirm: boolean;
}

/** A call of `executeAtomicSettlement` with the last approval of a counter; what an override names is taken in its place. */
export interface ExecuteSettlement {
  readonly user: UserId;
  readonly subAccount: number;
  readonly nonce: number;
  readonly overrides: Partial<
    Pick<
      SettlementApproval,
      'settler' | 'tokenIn' | 'baseUnitsIn' | 'tokenOut' | 'baseUnitsOut' | 'mode' | 'nonce' | 'validUntil'
    >
  > & {
    /** 64 hex, right-padded; else the registered executor of the settler. */
    readonly caller?: string;
    /** Hex, of 64 or 65 bytes. */
    readonly signature?: string;
  };
  readonly executor: ExecutorConduct;
  readonly confirm: boolean;
}

export interface MintRequest {
  readonly token: string;
  readonly to: string;
  readonly baseUnits: bigint;
}

/** A withdrawal without approval, to `to`. */
export interface ForceWithdrawRequest extends MintRequest {
  readonly user: UserId;
  readonly confirm: boolean;
}

/** Members have their names on the wire. */
export interface ChainTransaction {
  /** 64 hex. */
  readonly tx: string;
  readonly status: 'mined' | 'reverted' | 'pending';
  /** Error name of wire.md 12.2 when reverted. */
  readonly revert: string | null;
  /** null while pending. */
  readonly block: number | null;
  readonly head: number;
  /** The vault's counter that the transaction used; 0 without one. */
  readonly nonce: number;
}

export interface ChainCounters {
  readonly depositCounts: number;
  readonly withdrawalCounts: number;
  readonly settlementCounts: number;
}

export interface ChainVault {
  /** `<address>@<chain id>`. */
  readonly vault: string;
  readonly head: number;
  /** Base units by token. */
  readonly balances: ReadonlyMap<string, bigint>;
  /** 40 hex. */
  readonly administrators: readonly string[];
  readonly quorum: number;
  readonly escapeMode: boolean;
  readonly lastCheckpointNs: TimestampNs | null;
}

/** Members have their names on the wire. */
export interface ProviderEntry {
  readonly provider: number;
  readonly fault: string;
  /** Of a lagging one. */
  readonly lag_blocks?: number;
}

/** What anybody may send to the vault as a checkpoint, and what its root is over. */
export interface SignedCheckpoint {
  /** 64 hex. */
  readonly root: string;
  readonly number: bigint;
  /** Hex, one for each administrator of the quorum. */
  readonly signatures: readonly string[];
  readonly entries: readonly WithdrawableEntry[];
}

/** What a reorganisation left: the new head, and the transactions that are no longer on the chain. */
export interface Reorganised {
  readonly head: number;
  readonly dropped: readonly string[];
}

/** Of simulated chains. Rejects are the operator's mistakes; a rejection by the chain itself is a reverted transaction. */
export interface SimulatedOperations {
  deposit(chain: ChainId, request: DepositRequest): Promise<Outcome<ChainTransaction>>;
  /** WITHDRAWAL_NOT_FOUND without a live approval for the counter. */
  withdraw(chain: ChainId, request: ExecuteWithdrawal): Promise<Outcome<ChainTransaction>>;
  /** SETTLEMENT_NOT_FOUND when the counter never had an approval. */
  settle(chain: ChainId, request: ExecuteSettlement): Promise<Outcome<ChainTransaction>>;
  /** @returns the new head. */
  mine(chain: ChainId, blocks: number): Promise<Outcome<number>>;
  mint(chain: ChainId, request: MintRequest): Promise<Outcome<ChainTransaction>>;
  counters(chain: ChainId, user: UserId, subAccount: number): Promise<Outcome<ChainCounters>>;
  /** @returns base units. */
  balance(chain: ChainId, address: string, token: string): Promise<Outcome<bigint>>;
  /** VAULT_NOT_FOUND when the chain has none. */
  vault(chain: ChainId): Promise<Outcome<ChainVault>>;
  providers(chain: ChainId): Promise<Outcome<readonly ProviderEntry[]>>;
  /** The vault allows forced withdrawals from now on. VAULT_NOT_FOUND. */
  escape(chain: ChainId): Promise<Outcome<ChainVault>>;
  forceWithdraw(chain: ChainId, request: ForceWithdrawRequest): Promise<Outcome<ChainTransaction>>;
  /** INVALID_REQUEST with its field; a waiting withdrawal or deposit is acted on before the answer. */
  reorganise(chain: ChainId, request: Reorganisation): Promise<Outcome<Reorganised>>;
  /** INVALID_REQUEST for a provider that is not configured. @returns all of them. */
  setProvider(chain: ChainId, provider: number, fault: ProviderFault): Promise<Outcome<readonly ProviderEntry[]>>;
  /** INVALID_REQUEST for an unknown transaction. @param tx 64 hex. */
  replay(chain: ChainId, tx: string): Promise<Outcome<void>>;
}

/** Of chains of every kind. */
export interface ChainOperations {
  readonly simulated: SimulatedOperations;
  /** No checkpoint, heartbeat or approval on this chain any more; null: on all chains again. */
  withhold(chain: ChainId | null): Promise<void>;
  /** Chains without checkpoints. */
  readonly withheld: readonly ChainId[];
  /** Of every chain that was polled. */
  watched(): readonly WatchedChain[];
  /** What the vaults hold of each asset, 18 decimals; null: a chain with a token of it was not read yet. */
  onChain(): ReadonlyMap<AssetId, bigint | null>;
  /**
   * What the chains hold beyond the ledger, negative for less, of each asset with a token, 18 decimals: compared now, or the
   * last comparison while events are booked.
   */
  deviations(): Promise<ReadonlyMap<AssetId, bigint>>;
  /** Assets of which nothing is approved on a chain, as of the last comparison (MON-05). */
  approvalStops(): readonly ApprovalStop[];
  /** Those of the last comparison, at most a second old while clearing answers: metrics do not wait for it. */
  lastDeviations(): ReadonlyMap<AssetId, bigint>;
  /**
   * Ends the stop of a chain (AMB-74); nothing for one that is not stopped. SERVICE_UNAVAILABLE while what a resumption takes
   * back cannot be decided or booked: the chain stays stopped.
   */
  resume(chain: ChainId): Promise<Outcome<void>>;
  /**
   * Reads processed blocks again (CHN-04). SERVICE_UNAVAILABLE for a stopped chain, and for one that is not read up to `from`.
   *
   * @param from 1 or more.
   */
  readAgain(chain: ChainId, from: number): Promise<Outcome<BlocksAgain>>;
  /**
   * The root over what can be withdrawn from the vault of an EVM chain, signed for it (CHN-07). INVALID_REQUEST for a simulated chain,
   * VAULT_NOT_FOUND, SERVICE_UNAVAILABLE without keys of the quorum, for a stopped chain, and while the vault is in escape mode.
   */
  checkpoint(chain: ChainId): Promise<Outcome<SignedCheckpoint>>;
  /** Base units by token that the vault holds beyond the ledger, without an event that a majority shows. */
  unclaimedUnits(chain: ChainId): ReadonlyMap<string, bigint>;
  /** The node's clock was moved by hand. */
  wake(): void;
}

export const STAYS_STOPPED: Reject = reject(
  'SERVICE_UNAVAILABLE',
  'the chain stays stopped: a majority of its providers, or clearing, does not answer; try again',
);

export function noVault(chainId: ChainId): Reject {
  return reject('VAULT_NOT_FOUND', `chain ${chainId} has no vault`);
}
