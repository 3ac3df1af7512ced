/**
 * Account actions inside the node (wire.md 4.2, 7.17 to 7.20): what is signed, and the request around it. What ends in `Read` is
 * what the reader of a shape gives, where that differs; the compiler checks both against shapes/account-shapes.ts.
 */
import type { UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import type { AdditionalSigner, Signatures, SignerKey } from './signatures.ts';
import type { SpelledAddress, SpelledAsset, SpelledChain, SpelledUser } from './signed-text.ts';

/** An action wrapper: `inner`, its signatures, and the signed bytes. */
export interface ActionRequest<Inner> extends Signatures {
  readonly inner: Inner;
  readonly text: Uint8Array;
}

/** What is read of an action: its signed object and the signatures over it. */
export interface SignedRead<Inner> {
  readonly inner: Inner;
  readonly signature: Uint8Array;
  /** Null: absent. */
  readonly additionalSigners: readonly AdditionalSigner[] | null;
}

/** A login (wire.md 3.2): signatures over the UTF-8 bytes of the nonce, of the master key, of co-signers, or both. */
/** What a session may do: everything its user may, or only read (RDO-01). */
export type SessionScope = 'full' | 'read';

export interface AuthRequest extends Signatures {
  readonly userId: UserId;
  readonly nonce: string;
  readonly scope: SessionScope;
}

export type AuthRead = Omit<SignedRead<never>, 'inner'> & {
  readonly user: SpelledUser;
  readonly nonce: string;
  readonly scope: SessionScope | null;
};

// ---- between sub-accounts (wire.md 7.17)

/** The kind of a sub-account that a transfer creates. */
export type AccountTypeRead =
  | { readonly kind: 'Spot' | 'CrossMargin' }
  | { readonly kind: 'Isolated'; readonly asset: SpelledAsset };

export interface SignedTransfer {
  readonly user: SpelledUser;
  readonly sourceIndex: number;
  readonly targetIndex: number;
  readonly transferAsset: SpelledAsset;
  /** Base-10 text of 18-decimal units, below 2^256. */
  readonly transferAmount: string;
  readonly targetAccountType: AccountTypeRead | null;
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

// ---- withdrawals (wire.md 7.18)

export interface SignedWithdrawal {
  readonly user: SpelledUser;
  readonly asset: SpelledAsset;
  /** As received: 1 to 78 visible characters. */
  readonly amount: string;
  /** null: the smallest one free. */
  readonly nonce: number | null;
  readonly target: SpelledAddress;
  /** Tells it from an equal request (MON-01); null without one. */
  readonly requestId: string | null;
}

export interface SignedWithdrawalCancel {
  readonly user: SpelledUser;
  readonly asset: SpelledAsset;
  readonly nonce: number;
  /** When the row was requested, u64 (MON-01); null: the live row of that number. */
  readonly requestedNs: bigint | null;
}

// ---- settlements (wire.md 7.19)

export interface SignedSettlement {
  readonly user: SpelledUser;
  readonly subAccount: number;
  readonly settler: SpelledUser | null;
  readonly mode: 'margin' | 'spot';
  readonly assetIn: SpelledAddress;
  /** Both as received: 1 to 78 visible characters. */
  readonly amountIn: string;
  readonly assetOut: SpelledAddress;
  readonly amountOut: string;
  readonly chainId: SpelledChain;
  /** null: the next managed one. */
  readonly nonce: number | null;
  readonly expiresNs: bigint | null;
  /** `mm_pubkey`. */
  readonly maker: SpelledUser | null;
  readonly vault: SpelledAddress | null;
  /** Tells it from an equal request (MON-01); null without one. */
  readonly requestId: string | null;
}

/** What a market maker signs. */
export interface AttachedMakerOrder {
  readonly maker: SpelledUser;
  readonly settler: SpelledUser;
  readonly expiresNs: bigint;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
}

export interface SettlementAction extends ActionRequest<SignedSettlement> {
  /** The other text that verifies; null with a nonce. */
  readonly otherText: Uint8Array | null;
  readonly makerOrder: AttachedMakerOrder | null;
}

/** A `nonce` or `vault` that is undefined is absent. */
export type SettlementRead = Omit<SignedSettlement, 'nonce' | 'vault'> & {
  readonly nonce: number | null | undefined;
  readonly vault: SpelledAddress | null | undefined;
};

export interface MakerOrderRead {
  readonly maker: SpelledUser;
  readonly settler: SpelledUser;
  readonly expiresNs: TimestampNs;
}

export interface SettlementRequestRead extends SignedRead<SettlementRead> {
  readonly makerOrder: { readonly inner: MakerOrderRead; readonly signature: Uint8Array } | null;
}

// ---- signers (wire.md 7.20)

export interface SignedAddSigner {
  readonly user: SpelledUser;
  readonly signer: SignerKey;
  /** u32, at least 1. */
  readonly weight: number;
  /** u64; null for ever. */
  readonly sessionDurationNs: bigint | null;
  /** The `config_nonce` of the account. */
  readonly ceNonce: number;
  /** Null: absent. */
  readonly omsNonce: string | null;
}

/** The members of either text. */
export type AddSignerRead = Omit<SignedAddSigner, 'omsNonce'> | (SignedAddSigner & { readonly omsNonce: string });
