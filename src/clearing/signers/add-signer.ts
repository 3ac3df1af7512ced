/**
 * Adding a signer to an account (MSG-39, wire.md 7.20, G9): the only change of a configuration after its first set-up
 * (MSG-05), and no signer is ever taken out (MSG-42). Who signed was judged before (clearing.ts).
 *
 * A user who never had funds may add signers as well and is durable from then on (AMB-139). Keys are free, so places of
 * these accounts are limited: UNFUNDED_SIGNERS_MAX. A user with funds needs none of them.
 */
import { must } from '../../core/assert.ts';
import { UNFUNDED_SIGNERS_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import { changeUser, ensureUser } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { AddSigner } from '../inputs.ts';
import type { SignerConfigRow } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import { type ConfiguredSigner, DEFAULT_SIGNERS, refuseKey, refuseRoom, type SignerConfig } from './signer-config.ts';

const U64_MAX = (1n << 64n) - 1n;

/** What decides about a new signer, beside the configuration. */
interface Account {
  readonly config: SignerConfig;
  readonly configNonce: number;
  /** Whether clearing has a row of the user. */
  readonly isKnown: boolean;
  /** Accounts that were configured without one. */
  readonly unfunded: number;
}

/** @returns INVALID_NONCE, INVALID_REQUEST, SIGNER_DUPLICATE for a key that the account has, or null. */
export function refuseNewSigner(
  { config, configNonce, isKnown, unfunded }: Account,
  { user, signer, ceNonce }: Pick<AddSigner, 'user' | 'signer' | 'ceNonce'>,
): Reject | null {
  // mutant: config-nonce
  if (ceNonce !== configNonce) return reject('INVALID_NONCE', `the config_nonce is ${configNonce}`, 'ce_nonce');
  const refusal = refuseKey(config.signers, signer, user) ?? refuseRoom(config.signers.length + 1);
  if (refusal !== null || isKnown || unfunded < UNFUNDED_SIGNERS_MAX) return refusal;
  return reject('INVALID_REQUEST', 'an account without funds gets no signers any more: deposit first', 'user');
}

/** `{"success":true}`, or as refuseNewSigner. */
export function applyAddSigner(
  state: ClearingState,
  input: AddSigner,
  nowNs: TimestampNs,
  effects: Effect[],
): Outcome<Readonly<Record<string, unknown>>> {
  const { user, signer, weight } = input;
  const known = state.users.get(user);
  const config = state.signers.configOf(user);
  const configNonce = known?.row.configNonce ?? 0;
  const account = { config, configNonce, isKnown: known !== undefined, unfunded: state.signers.unfunded };
  const refusal = refuseNewSigner(account, input);
  if (refusal !== null) return rejected(refusal);

  // After this point the signer must be added.
  const added: ConfiguredSigner = {
    ...signer,
    weight,
    addedNs: nowNs,
    expiresAtNs: endOf(nowNs, input.sessionDurationNs),
    maxSigningWindowNs: null,
  };
  const slot = ensureUser(state, user, effects);
  changeUser(state, slot, { ...slot.row, configNonce: configNonce + 1 }, effects);
  const row = state.signers.rowOf(user) ?? { ...DEFAULT_SIGNERS, user, isUnfunded: known === undefined };
  placeSigners(state, { ...row, signers: [...row.signers, added] }, effects);
  return accepted({ success: true });
}

/** Null when it is never, or beyond what 64 bits hold. */
function endOf(nowNs: TimestampNs, durationNs: bigint | null): bigint | null {
  if (durationNs === null) return null;
  const end = nowNs + durationNs;
  return end > U64_MAX ? null : end;
}

/** Makes a configuration durable, and publishes it. The user is known. */
export function placeSigners(state: ClearingState, row: SignerConfigRow, effects: Effect[]): void {
  state.signers.place(row);
  state.dirty.signers.add(row.user);
  const { configNonce } = must(state.users.get(row.user), 'who has signers is known').row;
  effects.push({ kind: 'signersChanged', row, configNonce });
}
