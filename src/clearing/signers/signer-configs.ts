/**
 * The configured accounts, by user: one row each, nothing for every other (MSG-01). Plain storage; the rules are in
 * signer-config.ts.
 */
import type { UserId } from '../../core/ids.ts';
import type { Reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { NodeInput, SignedInput } from '../inputs.ts';
import type { SignerConfigRow } from '../rows.ts';
import { DEFAULT_SIGNERS, MASTER_ALONE, refuseSigners, type SignerConfig, type SignerTier } from './signer-config.ts';

/** MSG-13 to MSG-15. */
export const ACTION_TIERS: Readonly<Record<SignedInput['kind'], SignerTier>> = {
  closePosition: 'low',
  transfer: 'medium',
  settle: 'medium',
  withdraw: 'high',
  cancelWithdrawal: 'high',
  addSigner: 'high',
};

export function isSigned(input: NodeInput): input is SignedInput {
  return Object.hasOwn(ACTION_TIERS, input.kind);
}

export class SignerConfigs {
  readonly #rows = new Map<UserId, SignerConfigRow>();
  #unfunded = 0;

  /** Undefined: nothing was ever configured. */
  rowOf(user: UserId): SignerConfigRow | undefined {
    return this.#rows.get(user);
  }

  configOf(user: UserId): SignerConfig {
    return this.#rows.get(user) ?? DEFAULT_SIGNERS;
  }

  /** Whether these signers may act so for this user: SIGNER_… and INSUFFICIENT_SIGNER_WEIGHT, or null. */
  refuseAction(action: Pick<SignedInput, 'kind' | 'user' | 'signedBy'>, nowNs: TimestampNs): Reject | null {
    const { kind, user, signedBy = MASTER_ALONE } = action;
    // mutant: signers-of-account
    return refuseSigners(this.configOf(user), signedBy, ACTION_TIERS[kind], nowNs);
  }

  rows(): Iterable<SignerConfigRow> {
    return this.#rows.values();
  }

  /** Accounts that were configured before clearing knew their user. */
  get unfunded(): number {
    return this.#unfunded;
  }

  /** Also replaces the row that was there. */
  place(row: SignerConfigRow): void {
    if (row.isUnfunded && !this.#rows.has(row.user)) this.#unfunded += 1;
    this.#rows.set(row.user, row);
  }
}
