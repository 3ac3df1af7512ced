/**
 * What the vault of a simulated chain does with a call of `executeAtomicSettlement` (wire.md 12.1).
 *
 *   expiry ─▶ settler approved ─▶ caller is its executor ─▶ exact nonce ─▶ signature ─▶ nonce bump ─▶ callback ─▶ pull token
 *   in ─▶ send token out ─▶ event
 */
import type { SettlementApproval } from './approval-digests.ts';
import { U256_MAX } from './chain-events.ts';

/** Error names of wire.md 12.2 for settlements. */
export type SettlementRevert =
  | 'Expired'
  | 'SettlerNotApproved'
  | 'NotExecutor'
  | 'InvalidNonce'
  | 'InvalidSignature'
  | 'InsufficientAmountFromExecutor'
  | 'TransferFromFailed'
  | 'TransferFailed';

/** What the executor does when the vault calls it back. null: exactly enough. */
export interface ExecutorConduct {
  /** Base units of token in that the vault may pull. */
  readonly allowance: bigint | null;
  /** What the callback returns, and the vault pulls. */
  readonly returns: bigint | null;
  /** Whether it calls the vault again from within. */
  readonly reenter: boolean;
}

/** A call of `executeAtomicSettlement`; addresses are 64 hex, right-padded. */
export interface SettleCall extends SettlementApproval {
  readonly vault: string;
  readonly caller: string;
  /** The executor that is registered for the settler; null for a settler that is not. */
  readonly registered: string | null;
  /** Who signed the digest of the call, 40 hex; null for what is no signature. */
  readonly signer: string | null;
  readonly administrators: readonly string[];
  readonly conduct: ExecutorConduct;
}

/** What the vault and its tokens are when a call comes. */
interface VaultAt {
  /** Unix seconds. */
  readonly nowS: bigint;
  /** `settlementCounts` of the call. */
  readonly counter: number;
  /** Base units of a token that an address has. */
  readonly balance: (token: string, holder: string) => bigint;
}

/** Why the vault reverts a call, in its order of checks; null when it settles. */
export function settlementRefusal(call: SettleCall, { nowS, counter, balance }: VaultAt): SettlementRevert | null {
  const { validUntil, registered, vault, caller, nonce, signer, administrators, conduct } = call;
  if (nowS > validUntil) return 'Expired';
  if (registered === null) return 'SettlerNotApproved';
  if (caller !== registered) return 'NotExecutor';
  if (nonce !== BigInt(counter)) return 'InvalidNonce';
  if (signer === null || !administrators.includes(signer)) return 'InvalidSignature';
  // The counter has moved before the callback, so the same call from within has a nonce of before.
  if (conduct.reenter) return 'InvalidNonce';
  const pulled = pulledBy(call);
  if (pulled < call.baseUnitsIn) return 'InsufficientAmountFromExecutor';
  if ((conduct.allowance ?? pulled) < pulled) return 'TransferFromFailed';
  // A token transfers nothing beyond the uint256 of the receiver.
  if (balance(call.tokenIn, vault) + pulled > U256_MAX) return 'TransferFromFailed';
  const inflow = call.tokenIn === call.tokenOut ? pulled : 0n;
  if (balance(call.tokenOut, vault) + inflow < call.baseUnitsOut) return 'TransferFailed';
  return balance(call.tokenOut, caller) + call.baseUnitsOut <= U256_MAX ? null : 'TransferFailed';
}

/** Base units of token in that the vault takes: what the callback returns. */
export function pulledBy({ baseUnitsIn, conduct }: Pick<SettleCall, 'baseUnitsIn' | 'conduct'>): bigint {
  return conduct.returns ?? baseUnitsIn;
}
