/**
 * Signed account actions: `inner` of a transfer between sub-accounts and of a close-position (wire.md 4.2, 7.17).
 * `target_account_type` is verified in the received shape (C10); if omitted it signs as null (AMB-15).
 */
import type { Outcome } from '../core/outcome.ts';
import { CLOSE_POSITION_REQUEST, TRANSFER_REQUEST } from './shapes/account-shapes.ts';
import { type ActionRequest, decodeAction } from './signed-action.ts';
import type { SpelledAsset, SpelledUser } from './signed-text.ts';

/** The kind of a sub-account that a transfer creates. */
export type TargetAccountType =
  | { readonly kind: 'Spot' | 'CrossMargin' }
  | { readonly kind: 'Isolated'; readonly asset: SpelledAsset };

export interface SignedTransfer {
  readonly user: SpelledUser;
  readonly sourceIndex: number;
  readonly targetIndex: number;
  readonly transferAsset: SpelledAsset;
  /** Base-10 text of 18-decimal units, below 2^256. */
  readonly transferAmount: string;
  readonly targetAccountType: TargetAccountType | null;
  /** u64. */
  readonly nonce: bigint;
}

export interface SignedClosePosition {
  readonly user: SpelledUser;
  readonly account: number;
  readonly asset: SpelledAsset;
  /** u64. */
  readonly nonce: bigint;
}

/** As received: `target_account_type` has two spellings of some kinds. */
export type TransferRead = Omit<SignedTransfer, 'targetAccountType'> & { readonly targetAccountType: TypeRead | null };
type TypeRead =
  | 'Spot'
  | 'CrossMargin'
  | { readonly Spot: null }
  | { readonly CrossMargin: null }
  | { readonly Isolated: { readonly asset: SpelledAsset } };

export function decodeTransfer(bytes: Uint8Array, start: number, end: number): Outcome<ActionRequest<SignedTransfer>> {
  return decodeAction(TRANSFER_REQUEST, [bytes, start, end], (read) => ({
    ...read,
    targetAccountType: read.targetAccountType === null ? null : accountType(read.targetAccountType),
  }));
}

function accountType(type: TypeRead): TargetAccountType {
  if (typeof type === 'string') return { kind: type };
  if ('Isolated' in type) return { kind: 'Isolated', asset: type.Isolated.asset };
  return { kind: 'Spot' in type ? 'Spot' : 'CrossMargin' };
}

export function decodeClosePosition(
  bytes: Uint8Array,
  start: number,
  end: number,
): Outcome<ActionRequest<SignedClosePosition>> {
  return decodeAction(CLOSE_POSITION_REQUEST, [bytes, start, end], (inner) => inner);
}
