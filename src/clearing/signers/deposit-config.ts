/**
 * The first set-up of an account's signers, by the deposit overload (MSG-04 to MSG-10, AMB-132). It counts if nothing was
 * ever configured for the account and the configuration breaks no rule; else the deposit is credited and no more.
 * `config_nonce` stays 0.
 *
 * The signature of the master key was verified before (chain/deposit-config.ts).
 */
import type { UserId } from '../../core/ids.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { Effect } from '../effects.ts';
import type { ClearingState } from '../state.ts';
import { placeSigners } from './add-signer.ts';
import { type ConfiguredSigner, checkConfig, type Thresholds } from './signer-config.ts';

/** A configuration before it is in force: its signers are added by the deposit. */
export interface SignerSetup {
  /** u32. */
  readonly masterWeight: number;
  readonly thresholds: Thresholds;
  /** At most SIGNERS_MAX. */
  readonly signers: readonly Omit<ConfiguredSigner, 'addedNs'>[];
}

/** Configures a known user, or changes nothing. */
export function setUpSigners(
  state: ClearingState,
  user: UserId,
  { masterWeight, thresholds, signers }: SignerSetup,
  nowNs: TimestampNs,
  effects: Effect[],
): void {
  // mutant: configured-once
  if (state.signers.rowOf(user) !== undefined) return;
  const added = signers.map((signer): ConfiguredSigner => ({ ...signer, addedNs: nowNs }));
  const config = { masterWeight, thresholds, setNs: nowNs, signers: added };
  // mutant: config-rules
  if (checkConfig(config, user) !== null) return;
  placeSigners(state, { ...config, user, isUnfunded: false }, effects);
}
