/** What the routes of account actions and of multisig reads ask of the node (wire.md 7.17, 7.20). */

import type { MultisigView } from '../codec/multisig.ts';
import type { SignerKey } from '../codec/signatures.ts';
import type { ActionRequest, SignedClosePosition, SignedTransfer } from '../codec/signed-transfer.ts';
import type { UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';

/**
 * Refused at the door (a reject), or decided by clearing: null when it was done, else clearing's refusal, which is told
 * with status 200 (AMB-67).
 */
export type ClearingVerdict = Outcome<Reject | null>;

export interface AccountActionBackend {
  transfer(request: ActionRequest<SignedTransfer>, user: UserId): Promise<ClearingVerdict>;
  closePosition(request: ActionRequest<SignedClosePosition>, user: UserId): Promise<ClearingVerdict>;
  /** The name has its form. INVALID_REQUEST for accounts 0 and 1 and for one that does not exist (SUB-14). */
  rename(request: {
    readonly user: UserId;
    readonly subAccount: number;
    readonly name: string;
  }): Promise<Outcome<null>>;
}

export interface MultisigReads {
  multisigConfig(user: UserId): MultisigView;
  /** Accounts that list this key as a signer. */
  accountsOfSigner(key: SignerKey): readonly UserId[];
}
