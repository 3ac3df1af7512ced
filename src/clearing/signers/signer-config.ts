/**
 * The signers of an account: which keys may sign for it, with which weight, and whether the keys that signed an action
 * suffice for it (service spec 5.3, MSG-01 to MSG-37). Pure: the gateway decides by it first, clearing again (MSG-37).
 *
 *   keys that signed ─▶ each registered, once, unexpired, inside its window ─▶ sum of weights ≥ threshold of the tier
 *
 * Whether the signatures themselves are valid is verified elsewhere. Not here: how a configuration is changed
 * (add-signer.ts) or comes from a deposit (deposit-config.ts).
 */
import type { SignerKey } from '../../codec/signatures.ts';
import { parseHex } from '../../core/hex.ts';
import type { UserId } from '../../core/ids.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { SECOND_NS, type TimestampNs } from '../../core/units.ts';

/** Additional signers of an account (AMB-124). */
export const SIGNERS_MAX = 16;
/** From the creation of an order to its arrival, where a co-signer may sign no more by then (MON-12). */
export const CO_SIGNED_AGE_MAX_NS: bigint = 60n * SECOND_NS;
/** Weights and thresholds are u32 (wire.md 12.1). */
export const WEIGHT_MAX = 4_294_967_295;

export interface ConfiguredSigner extends SignerKey {
  /** u32. */
  readonly weight: number;
  readonly addedNs: TimestampNs;
  /** It signs before this instant; null for ever. u64. */
  readonly expiresAtNs: bigint | null;
  /** It signs for so long from `addedNs` on; null without an end. u64. */
  readonly maxSigningWindowNs: bigint | null;
}

/** u32 each. That low ≤ medium ≤ high is not enforced (MSG-10). */
export interface Thresholds {
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

/** MSG-13 to MSG-15. */
export type SignerTier = keyof Thresholds;

export interface SignerConfig {
  /** u32; at 0 the master key adds nothing (MSG-36). */
  readonly masterWeight: number;
  readonly thresholds: Thresholds;
  /** Since when weight and thresholds are in force: what was decided before is judged by the default. 0 of the default. */
  readonly setNs: TimestampNs;
  /** At most SIGNERS_MAX, in the order in which they were added. */
  readonly signers: readonly ConfiguredSigner[];
}

/** The configuration of every account for which nothing was configured (MSG-01). */
export const DEFAULT_SIGNERS: SignerConfig = {
  masterWeight: 1,
  thresholds: { low: 1, medium: 1, high: 1 },
  setNs: 0n as TimestampNs,
  signers: [],
};

/** The keys whose verified signatures an action has. */
export interface SignedBy {
  readonly hasMaster: boolean;
  readonly coSigners: readonly SignerKey[];
}

export const MASTER_ALONE: SignedBy = { hasMaster: true, coSigners: [] };

const UNKNOWN: Reject = reject(
  'SIGNER_UNKNOWN',
  'a co-signer is not registered for this account',
  'additional_signers',
);
const DUPLICATE: Reject = reject('SIGNER_DUPLICATE', 'a co-signer is there twice', 'additional_signers');
const EXPIRED: Reject = reject(
  'SIGNER_EXPIRED',
  'a co-signer has expired, or is outside of its signing window',
  'additional_signers',
);
/** No signature at all (AMB-136). */
export const UNSIGNED: Reject = reject('INSUFFICIENT_SIGNER_WEIGHT', 'the action carries no signature', 'signature');
const WEIGHTLESS: Reject = reject(
  'INSUFFICIENT_SIGNER_WEIGHT',
  'the signers have no weight for this account',
  'signature',
);
const TOO_OLD: Reject = reject(
  'REQUEST_TOO_OLD',
  'a co-signer has expired since, or its window has ended, and the order was created more than 60 s ago',
  'creation_timestamp_ns',
);
const TOO_LIGHT: Readonly<Record<SignerTier, Reject>> = {
  low: tooLight('low'),
  medium: tooLight('medium'),
  high: tooLight('high'),
};

function tooLight(tier: SignerTier): Reject {
  return reject('INSUFFICIENT_SIGNER_WEIGHT', `the signers have less weight than the threshold "${tier}"`, 'signature');
}

/** Whether both name the same key: the same bytes of the same scheme (MSG-29). */
function isSameKey(a: SignerKey, b: SignerKey): boolean {
  return a.scheme === b.scheme && hasSameBytes(a.key, b.key);
}

function hasSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

/** Whether one holder could sign as both: a P-256 key also makes assertions of WebAuthn (MSG-09). */
function hasSameHolder(a: SignerKey, b: SignerKey): boolean {
  return curveOf(a) === curveOf(b) && hasSameBytes(a.key, b.key);
}

function curveOf({ scheme }: SignerKey): string {
  return scheme === 'WebAuthn' ? 'P256' : scheme;
}

/**
 * Whether these signers may act in this tier.
 *
 * @param atNs of an order its creation (MSG-34), else now.
 * @returns SIGNER_UNKNOWN, SIGNER_DUPLICATE or SIGNER_EXPIRED of the first such co-signer, INSUFFICIENT_SIGNER_WEIGHT, or null.
 */
export function refuseSigners(
  config: SignerConfig,
  signedBy: SignedBy,
  tier: SignerTier,
  atNs: TimestampNs,
): Reject | null {
  return refuseCoSigners(config, signedBy.coSigners, atNs) ?? refuseWeight(config, signedBy, tier);
}

/**
 * An order is judged by its co-signers at its creation, so one that was signed in time is taken later. Where a co-signer
 * would not be taken at its arrival any more, so much time must not have passed (MSG-34, MON-12): a key that has ended
 * signs nothing that is dated back.
 *
 * @param ageMaxNs from the creation to the arrival. @returns as refuseSigners, or REQUEST_TOO_OLD.
 */
export function refuseOrderSigners(
  config: SignerConfig,
  signedBy: SignedBy,
  { creationNs, arrivalNs }: { readonly creationNs: TimestampNs; readonly arrivalNs: TimestampNs },
  ageMaxNs: bigint = CO_SIGNED_AGE_MAX_NS,
): Reject | null {
  const refusal = refuseSigners(config, signedBy, 'low', creationNs);
  if (refusal !== null || signedBy.coSigners.length === 0 || arrivalNs - creationNs <= ageMaxNs) return refusal;
  // mutant: co-signers-at-arrival
  return refuseCoSigners(config, signedBy.coSigners, arrivalNs) === null ? null : TOO_OLD;
}

/** A cancel needs signers of the account with any weight (AMB-136, MON-13). @returns as refuseSigners. */
export function refuseCancelSigners(config: SignerConfig, signedBy: SignedBy, atNs: TimestampNs): Reject | null {
  return refuseCoSigners(config, signedBy.coSigners, atNs) ?? refuseWeightless(config, signedBy);
}

/**
 * Signers without any weight, or none, may do nothing: neither log in nor cancel (MON-13). The co-signers are
 * registered.
 */
export function refuseWeightless(config: SignerConfig, signedBy: SignedBy): Reject | null {
  // mutant: signers-without-weight
  if (weightOf(config, signedBy) > 0) return null;
  return signedBy.hasMaster || signedBy.coSigners.length > 0 ? WEIGHTLESS : UNSIGNED;
}

/** When the first of these registered co-signers may sign no more; null for never. */
export function endOfSigners(config: SignerConfig, coSigners: readonly SignerKey[]): bigint | null {
  let end: bigint | null = null;
  for (const key of coSigners) {
    const signer = signerOf(config, key);
    if (signer === undefined) continue;
    const { addedNs, expiresAtNs, maxSigningWindowNs } = signer;
    for (const own of [expiresAtNs, maxSigningWindowNs === null ? null : addedNs + maxSigningWindowNs]) {
      if (own !== null && (end === null || own < end)) end = own;
    }
  }
  return end;
}

/** Each co-signer on its own (MSG-30 to MSG-33). */
export function refuseCoSigners(
  config: SignerConfig,
  coSigners: readonly SignerKey[],
  atNs: TimestampNs,
): Reject | null {
  for (let index = 0; index < coSigners.length; index += 1) {
    const coSigner = coSigners[index] as SignerKey;
    const signer = signerOf(config, coSigner);
    if (signer === undefined) return UNKNOWN;
    for (let before = 0; before < index; before += 1) {
      // mutant: co-signer-once
      if (isSameKey(coSigners[before] as SignerKey, coSigner)) return DUPLICATE;
    }
    if (!maySign(signer, atNs)) return EXPIRED;
  }
  return null;
}

/** The co-signers are registered, each once. */
export function refuseWeight(
  config: SignerConfig,
  { hasMaster, coSigners }: SignedBy,
  tier: SignerTier,
): Reject | null {
  // mutant: signer-weight
  if (weightOf(config, { hasMaster, coSigners }) >= config.thresholds[tier]) return null;
  return hasMaster || coSigners.length > 0 ? TOO_LIGHT[tier] : UNSIGNED;
}

function weightOf(config: SignerConfig, { hasMaster, coSigners }: SignedBy): number {
  // 17 weights of 32 bits stay exact.
  let weight = hasMaster ? config.masterWeight : 0;
  for (const coSigner of coSigners) weight += signerOf(config, coSigner)?.weight ?? 0;
  return weight;
}

function signerOf({ signers }: SignerConfig, key: SignerKey): ConfiguredSigner | undefined {
  for (const signer of signers) if (isSameKey(signer, key)) return signer;
  return undefined;
}

function maySign({ addedNs, expiresAtNs, maxSigningWindowNs }: ConfiguredSigner, atNs: TimestampNs): boolean {
  // mutant: signer-expiry
  if (expiresAtNs !== null && atNs >= expiresAtNs) return false;
  return maxSigningWindowNs === null || atNs - addedNs < maxSigningWindowNs;
}

/**
 * Whether an account may have this configuration (MSG-06 to MSG-10).
 *
 * @param user its master key. @returns INVALID_REQUEST, or SIGNER_DUPLICATE for a key that is there twice.
 */
export function checkConfig({ masterWeight, thresholds, signers }: SignerConfig, user: UserId): Reject | null {
  const { low, medium, high } = thresholds;
  if (low < 1 || medium < 1 || high < 1) return reject('INVALID_REQUEST', 'each threshold is at least 1', 'thresholds');
  if (signers.length > SIGNERS_MAX) return refuseRoom(signers.length);
  for (let index = 0; index < signers.length; index += 1) {
    const refusal = refuseKey(signers.slice(0, index), signers[index] as ConfiguredSigner, user);
    if (refusal !== null) return refusal;
  }
  const total = signers.reduce((sum, { weight }) => sum + weight, masterWeight);
  if (total >= high) return null;
  return reject('INVALID_REQUEST', 'all keys together have less weight than the threshold "high"', 'thresholds');
}

/** Whether the key may join these signers of the account: it is not the master key, and none of theirs. */
export function refuseKey(signers: readonly SignerKey[], key: SignerKey, user: UserId): Reject | null {
  if (isMasterKey(key, user)) {
    return reject('INVALID_REQUEST', 'the key of the account is no additional signer', 'signer');
  }
  if (!signers.some((other) => hasSameHolder(other, key))) return null;
  return reject('SIGNER_DUPLICATE', 'the key is a signer of this account already', 'signer');
}

/** @param count additional signers that the account would have. */
export function refuseRoom(count: number): Reject | null {
  if (count <= SIGNERS_MAX) return null;
  return reject('INVALID_REQUEST', `an account has at most ${SIGNERS_MAX} additional signers`, 'signer');
}

function isMasterKey({ scheme, key }: SignerKey, user: UserId): boolean {
  const master = parseHex(user, 32);
  return scheme === 'Ed25519' && master !== null && hasSameBytes(key, master);
}
