/**
 * A kind of chains, as the rest of the node uses it: chain-actor.ts has one line for each. What differs between kinds is where blocks come from,
 * which thread watches them, by which clock, and which keys sign; the watch itself is the same (vault-watch.ts).
 */
import type { ChainId, UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Signed, SigningRequest } from './approval-signer.ts';
import type { CommonSettings } from './chain-rows.ts';
import type { CounterAt, WatchState } from './event-watch.ts';
import type { Held } from './held-units.ts';
import type { BlocksAgain } from './vault-watch.ts';

/** The last reported state of a chain. */
export interface WatchedChain extends WatchState {
  readonly chainId: ChainId;
  /** `performance.now()` of the last poll. */
  readonly polledMs: number;
}

export interface ChainKind {
  /**
   * Begins with the chains of the registry. Resolves when what was final before is booked, as far as the node waits for it.
   *
   * @throws ConfigError for a vault in escape mode that the operator has not accepted (AMB-85).
   */
  start(): Promise<void>;
  /** Takes chains, vaults and tokens from the registry again. Resolves when what that made due is done. */
  follow(): Promise<void>;
  /** null: the chain is not of this kind. */
  settings(chainId: ChainId): CommonSettings | null;
  /** Every chain of this kind. */
  chainIds(): Iterable<ChainId>;
  /** undefined before the first poll. */
  state(chainId: ChainId): WatchedChain | undefined;
  /** Of the keys that sign, 40 hex. */
  readonly signerAddresses: ReadonlySet<string>;
  /** null: not now. */
  sign(request: SigningRequest): Promise<Signed | null>;
  /** At a block with the confirmations of withdrawals; null: not now. */
  withdrawalCount(chainId: ChainId, user: UserId): Promise<CounterAt | null>;
  settlementCount(chainId: ChainId, user: UserId, subAccount: number): Promise<CounterAt | null>;
  /** What the vault was last seen to hold; null before that. */
  held(chainId: ChainId): Held | null;
  /** Another number after each booking; null while one is in progress, or while `held` is older than the last. */
  bookings(chainId: ChainId): number | null;
  /** Whether the vault is in escape mode. */
  isEscaped(chainId: ChainId): boolean;
  resume(chainId: ChainId): Promise<Outcome<void>>;
  readAgain(chainId: ChainId, from: number): Promise<Outcome<BlocksAgain>>;
  /** A row has changed whose approval the chain may make due. */
  rowChanged(chainId: ChainId): void;
  /** Whether the timer of approvals makes their steps; else the chain does, whenever it moves. */
  readonly isTimed: boolean;
  /** Of checkpoints, milliseconds. */
  nowMs(): number;
  /** Whether a call or a booking is in progress. */
  readonly isBusy: boolean;
  /** Resolves when all started work is complete. */
  stop(): Promise<void>;
}

/** What a refused start prints for a vault in escape mode. */
export function escapeText(chainId: ChainId): string {
  return (
    `the vault of chain ${chainId} is in escape mode: its users may have withdrawn without the node; set ` +
    `RINGBOOK_ACCEPT_ESCAPE=${chainId} to debit that and to end escape mode`
  );
}
