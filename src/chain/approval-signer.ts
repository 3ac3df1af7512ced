/**
 * Signs approvals of withdrawals (APR-01 to APR-05, WDR-07, WDR-08) with the keys of the configuration: secp256k1 over the
 * digest of wire.md 12.3, deterministic (RFC 6979) and low-s, so that the same row has the same signature after any kill.
 *
 * Invariants
 *   (1) Two approvals for one counter of a vault never live at one time: another approval for a counter is signed only if
 *       its validity begins after the end of the one before. (Clearing ends a row by the chain alone; this holds besides.)
 *   (2) Nothing is signed for the zero address or amount, and at most APPROVALS_PER_HOUR_MAX approvals an hour.
 *
 * Keys stay in this object: never in a log, a message or a file of the node. Another signer, with a module of hardware or on
 * another machine, has the same method.
 */
import { compactSignatureToSignature, type Hex, parseCompactSignature, recoverAddress, serializeSignature } from 'viem';
import { privateKeyToAddress, sign } from 'viem/accounts';
import type { ChainId } from '../core/ids.ts';
import { domainHash, type WithdrawalApproval, withdrawalDigest } from './approval-digests.ts';
import type { VaultSettings } from './chain-rows.ts';

export const APPROVALS_PER_HOUR_MAX = 3_600;
const HOUR_MS = 3_600_000;
/** Counters that are remembered, the latest ones. */
const SIGNED_MAX = 100_000;
const NOTHING = '0'.repeat(64);

export interface SigningRequest {
  readonly chainId: ChainId;
  readonly vault: VaultSettings;
  readonly approval: WithdrawalApproval;
  /** Seconds: `validUntil` less this is when the approval begins. */
  readonly validity: number;
}

/** `signatures`: 130 hex each, one for each administrator of the quorum. */
export type Signed =
  | { readonly kind: 'signed'; readonly signatures: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

export interface Signer {
  sign(request: SigningRequest): Promise<Signed>;
}

export class KeySigner implements Signer {
  /** Keys by their address, 40 hex. */
  readonly #keys: ReadonlyMap<string, Hex>;
  readonly #nowMs: () => number;
  readonly #signed = new Map<string, { readonly digest: string; readonly validUntil: bigint }>();
  #hourStartedMs: number;
  #inHour = 0;

  /** @param keys 64 hex each. @param nowMs real time that never goes back. */
  constructor(keys: readonly string[], nowMs: () => number) {
    this.#keys = new Map(keys.map((key) => [privateKeyToAddress(`0x${key}`).slice(2).toLowerCase(), `0x${key}`]));
    this.#nowMs = nowMs;
    this.#hourStartedMs = nowMs();
  }

  /** 40 hex each. */
  get addresses(): readonly string[] {
    return [...this.#keys.keys()];
  }

  async sign(request: SigningRequest): Promise<Signed> {
    const { vault, approval, chainId } = request;
    const keys = vault.administrators.map((address) => this.#keys.get(address)).filter((key) => key !== undefined);
    if (keys.length < vault.quorum) return { kind: 'refused', reason: 'too few keys of administrators of the vault' };
    if (approval.target === NOTHING || approval.baseUnits <= 0n) return { kind: 'refused', reason: 'it pays nothing' };
    const digest = withdrawalDigest(domainHash(vault.address, chainId), approval);
    const refusal = this.#remember(request, digest);
    if (refusal !== null) return { kind: 'refused', reason: refusal };
    const wanted = keys.slice(0, vault.quorum);
    const signatures = await Promise.all(
      wanted.map((privateKey) => sign({ hash: `0x${digest}`, privateKey, to: 'hex' })),
    );
    return { kind: 'signed', signatures: signatures.map((signature) => signature.slice(2)) };
  }

  /** @returns why it is refused; null when it is remembered. The same digest again is no other approval. */
  #remember({ chainId, vault, approval, validity }: SigningRequest, digest: string): string | null {
    const place = `${chainId}/${vault.address}/${approval.user}/${approval.nonce}`;
    const before = this.#signed.get(place);
    if (before?.digest === digest) return null;
    // mutant: approval-of-one-counter
    if (before !== undefined && approval.validUntil - BigInt(validity) < before.validUntil) {
      return 'another approval for this counter may still live';
    }
    const nowMs = this.#nowMs();
    if (nowMs - this.#hourStartedMs >= HOUR_MS) {
      this.#hourStartedMs = nowMs;
      this.#inHour = 0;
    }
    if (this.#inHour >= APPROVALS_PER_HOUR_MAX) return 'too many approvals in an hour';
    this.#inHour += 1;
    this.#signed.delete(place);
    this.#signed.set(place, { digest, validUntil: approval.validUntil });
    for (const oldest of this.#signed.keys()) {
      if (this.#signed.size <= SIGNED_MAX) break;
      this.#signed.delete(oldest);
    }
    return null;
  }
}

/** Who signed a digest, 40 hex; null for what is no signature. @param signature hex, 65 bytes or 64 in compact form. */
export async function signerOf(digest: string, signature: string): Promise<string | null> {
  const isWhole = signature.length === 130 && (signature.endsWith('1b') || signature.endsWith('1c'));
  if (!isWhole && signature.length !== 128) return null;
  try {
    const given: Hex = `0x${signature}`;
    const whole = isWhole ? given : serializeSignature(compactSignatureToSignature(parseCompactSignature(given)));
    return (await recoverAddress({ hash: `0x${digest}`, signature: whole })).slice(2).toLowerCase();
  } catch {
    return null;
  }
}
