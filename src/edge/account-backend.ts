/** What the routes of multisig reads ask of the node (wire.md 7.20). */
import type { UserId } from '../core/ids.ts';
import type { MultisigView } from '../wire/multisig.ts';
import type { SignerKey } from '../wire/signatures.ts';

export interface MultisigReads {
  multisigConfig(user: UserId): MultisigView;
  /** Accounts that list this key as a signer. */
  accountsOfSigner(key: SignerKey): readonly UserId[];
}
