/**
 * Signers of accounts as the gateway has them: what clearing has published, and for every other account the default, its
 * master key alone (MSG-01). Reads of wire.md 7.20, and the first check of who signed (MSG-37).
 */
import type { SignerConfigRow } from '../../clearing/rows.ts';
import type { SignedBy, SignerConfig } from '../../clearing/signers/signer-config.ts';
import { SignerConfigs } from '../../clearing/signers/signer-configs.ts';
import type { MultisigView } from '../../codec/multisig.ts';
import type { Signatures, SignerKey } from '../../codec/signatures.ts';
import { toHex } from '../../core/hex.ts';
import type { UserId } from '../../core/ids.ts';
import type { Reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';

/** Accounts in one answer to "which accounts list this key": any account may list any key. */
const ACCOUNTS_OF_KEY_MAX = 1_000;

const NO_ACCOUNTS: ReadonlySet<UserId> = new Set();

/** The keys of a request that carries these signatures, before these are verified. */
export function signedByOf({ signature, additionalSigners }: Signatures): SignedBy {
  const coSigners = additionalSigners.map(({ scheme, key }) => ({ scheme, key }));
  return { hasMaster: signature.length > 0, coSigners };
}

export class SignerQueries {
  readonly #configs = new SignerConfigs();
  /** The configuration nonces of configured accounts. */
  readonly #nonces = new Map<UserId, number>();
  /** Accounts by the keys that they list, in the order in which they listed it. */
  readonly #accounts = new Map<string, Set<UserId>>();

  /** Clearing has made this durable. */
  changed(row: SignerConfigRow, configNonce: number): void {
    // A signer is never taken out (MSG-42).
    const listed = this.#configs.configOf(row.user).signers.length;
    this.#configs.place(row);
    this.#nonces.set(row.user, configNonce);
    for (const signer of row.signers.slice(listed)) this.#list(signer, row.user);
  }

  /** One look-up, and the same object for every account without a configuration. */
  configOf(user: UserId): SignerConfig {
    return this.#configs.configOf(user);
  }

  /** The check that clearing makes again (MSG-37). */
  refuseAction(action: Parameters<SignerConfigs['refuseAction']>[0], nowNs: TimestampNs): Reject | null {
    return this.#configs.refuseAction(action, nowNs);
  }

  /** The `ce_nonce` that the next change carries (NON-05). */
  configNonceOf(user: UserId): number {
    return this.#nonces.get(user) ?? 0;
  }

  /** Accounts that were configured before clearing knew their user. */
  get unfunded(): number {
    return this.#configs.unfunded;
  }

  viewOf(user: UserId): MultisigView {
    return { ...this.configOf(user), configNonce: this.configNonceOf(user) };
  }

  /** Accounts that list this key as a signer, those that listed it first, at most ACCOUNTS_OF_KEY_MAX (MSG-41). */
  accountsOf(key: SignerKey): readonly UserId[] {
    const accounts: UserId[] = [];
    for (const user of this.#accounts.get(nameOf(key)) ?? NO_ACCOUNTS) {
      if (accounts.length === ACCOUNTS_OF_KEY_MAX) break;
      accounts.push(user);
    }
    return accounts;
  }

  #list(key: SignerKey, user: UserId): void {
    const name = nameOf(key);
    const accounts = this.#accounts.get(name);
    if (accounts === undefined) this.#accounts.set(name, new Set([user]));
    else accounts.add(user);
  }
}

function nameOf({ scheme, key }: SignerKey): string {
  return `${scheme}:${toHex(key)}`;
}
