/**
 * The plain judge of signers: the rules of the requirements one after the other, over sets, maps and whole numbers of any size,
 * and an account that keeps what was configured.
 */
import type { SignedBy, SignerConfig, SignerTier } from '../../src/clearing/signers/signer-config.ts';
import type { SignerKey } from '../../src/codec/signatures.ts';

export function nameOf({ scheme, key }: SignerKey): string {
  return `${scheme} ${Buffer.from(key).toString('hex')}`;
}

/** Who signed may act in the tier: null, or the code of the refusal (MSG-11 to MSG-36). */
export function plainCode(
  of: Pick<SignerConfig, 'masterWeight' | 'thresholds' | 'signers'>,
  { hasMaster, coSigners }: SignedBy,
  tier: SignerTier,
  at: bigint,
): string | null {
  const registered = new Map(of.signers.map((one) => [nameOf(one), one]));
  const counted = new Set<string>();
  let weight = BigInt(hasMaster ? of.masterWeight : 0);
  for (const name of coSigners.map(nameOf)) {
    const found = registered.get(name);
    if (found === undefined) return 'SIGNER_UNKNOWN';
    if (counted.has(name)) return 'SIGNER_DUPLICATE';
    counted.add(name);
    const ends = [
      found.expiresAtNs,
      found.maxSigningWindowNs === null ? null : found.addedNs + found.maxSigningWindowNs,
    ];
    if (ends.some((end) => end !== null && end <= at)) return 'SIGNER_EXPIRED';
    weight += BigInt(found.weight);
  }
  return weight >= BigInt(of.thresholds[tier]) ? null : 'INSUFFICIENT_SIGNER_WEIGHT';
}

/** A P-256 key is the same key when it makes assertions (MSG-09). */
function holderOf(key: SignerKey): string {
  return nameOf({ ...key, scheme: key.scheme === 'WebAuthn' ? 'P256' : key.scheme });
}

type Signer = SignerConfig['signers'][number];

/** One account. */
export class PlainAccount {
  readonly #master: string;
  masterWeight = 1;
  thresholds = { low: 1, medium: 1, high: 1 };
  signers: Signer[] = [];
  configNonce = 0;
  setNs = 0n;
  #isConfigured = false;

  constructor(user: string) {
    this.#master = nameOf({ scheme: 'Ed25519', key: Buffer.from(user, 'hex') });
  }

  /** MSG-39: the code of the refusal, or null when it was added. */
  add(signer: Signer, by: SignedBy, ceNonce: number, at: bigint): string | null {
    const refusal = plainCode(this, by, 'high', at);
    if (refusal !== null) return refusal;
    if (ceNonce !== this.configNonce) return 'INVALID_NONCE';
    if (nameOf(signer) === this.#master) return 'INVALID_REQUEST';
    if (this.signers.some((one) => holderOf(one) === holderOf(signer))) return 'SIGNER_DUPLICATE';
    if (this.signers.length === 16) return 'INVALID_REQUEST';
    this.signers = [...this.signers, signer];
    this.configNonce += 1;
    this.#isConfigured = true;
    return null;
  }

  /** AMB-132: taken, or ignored. */
  setUp(given: Pick<SignerConfig, 'masterWeight' | 'thresholds' | 'signers'>, at: bigint): void {
    const { low, medium, high } = given.thresholds;
    const holders = new Set(given.signers.map(holderOf));
    const total = given.signers.reduce((sum, { weight }) => sum + BigInt(weight), BigInt(given.masterWeight));
    const isSound =
      Math.min(low, medium, high) >= 1 &&
      given.signers.length <= 16 &&
      holders.size === given.signers.length &&
      given.signers.every((one) => nameOf(one) !== this.#master) &&
      total >= BigInt(high);
    if (this.#isConfigured || !isSound) return;
    this.masterWeight = given.masterWeight;
    this.thresholds = given.thresholds;
    this.signers = [...given.signers];
    this.setNs = at;
    this.#isConfigured = true;
  }
}
