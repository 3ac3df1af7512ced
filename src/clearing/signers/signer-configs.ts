/**
 * The configured accounts, by user: one row each, nothing for every other (MSG-01). Plain storage; the rules are in
 * signer-config.ts.
 */
import type { UserId } from '../../core/ids.ts';
import type { SignerConfigRow } from '../rows.ts';
import { DEFAULT_SIGNERS, type SignerConfig } from './signer-config.ts';

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
