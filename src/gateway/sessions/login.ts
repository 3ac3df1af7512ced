/**
 * Logging in: a signed nonce becomes a token. The checks run in the order not found, expired, different, signature, weight
 * (AMB-86, SES-08, SES-10, SES-11).
 *
 * The signature is verified elsewhere, possibly on another thread, so a login has two halves. The nonce may be consumed
 * or replaced between them; then the second half returns what the first would return now.
 *
 * Ed25519, SHA-256, random bytes and JSON belong to the caller.
 */
import type { AuthRequest } from '../../codec/action-types.ts';
import type { UserId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import type { TimestampNs } from '../../core/units.ts';
import type { Nonces } from './nonces.ts';
import type { Tokens } from './tokens.ts';

interface LoginClaim {
  readonly user: UserId;
  /** The nonce value that the client signed. */
  readonly nonce: string;
}

/**
 * First half. After it the caller verifies the signature over `loginBytes`.
 *
 * @returns rejects NONCE_NOT_FOUND, NONCE_EXPIRED, INVALID_NONCE.
 */
export function checkLoginNonce(nonces: Nonces, claim: LoginClaim, now: TimestampNs): Outcome<null> {
  const outstanding = nonces.find(claim.user);
  if (outstanding === undefined) return rejected(reject('NONCE_NOT_FOUND', 'no nonce is outstanding for this user'));
  if (now >= outstanding.expiryNs) return rejected(reject('NONCE_EXPIRED', 'the nonce has expired'));
  // mutant: nonce-of-user
  if (outstanding.value !== claim.nonce) {
    return rejected(reject('INVALID_NONCE', 'this is not the outstanding nonce', 'nonce'));
  }
  return accepted(null);
}

/**
 * The bytes that a login signs: the nonce, of one that only reads `read:` and the nonce, so that a signature for reading
 * never opens more (RDO-01). A nonce has no colon.
 */
export function loginBytes({ nonce, scope }: Pick<AuthRequest, 'nonce' | 'scope'>): Uint8Array {
  // mutant: read-scope-signed
  return Buffer.from(scope === 'read' ? `read:${nonce}` : nonce, 'utf8');
}

/** The further arguments of `completeLogin`. */
export interface LoginProof {
  /** Why who signed may not log in: INVALID_SIGNATURE, SIGNER_…, INSUFFICIENT_SIGNER_WEIGHT; or null. */
  readonly refusal: Reject | null;
  /**
   * Whether co-signers of the account opened it (AMB-136), its name, which key, for how long and for what: as of a token
   * (tokens.ts).
   */
  readonly byCoSigners?: boolean;
  readonly id?: string;
  readonly key?: string;
  readonly endNs?: bigint | null;
  readonly isReadOnly?: boolean;
  /** SHA-256 of the token that the caller will return to the client. */
  readonly tokenHash: string;
  /** The client's address; '' where addresses are not limited. */
  readonly address?: string;
  readonly now: TimestampNs;
}

/**
 * Second half: consumes the nonce and issues the token. A failure consumes nothing.
 *
 * @returns the token's expiry; rejects as `checkLoginNonce`, then the refusal of the proof, then SERVICE_UNAVAILABLE if no session
 * can
 *   be evicted for it (tokens.ts).
 */
export function completeLogin(
  sessions: { readonly nonces: Nonces; readonly tokens: Tokens },
  claim: LoginClaim,
  proof: LoginProof,
): Outcome<TimestampNs> {
  const nonce = checkLoginNonce(sessions.nonces, claim, proof.now);
  if (!nonce.ok) return nonce;
  if (proof.refusal !== null) return rejected(proof.refusal);
  const { address = '', byCoSigners = false, id = '', key = '', endNs = null, isReadOnly = false } = proof;
  const opening = { address, byCoSigners, id, key, endNs, isReadOnly };
  if (!sessions.tokens.makeRoom(claim.user, opening, proof.now)) {
    return rejected(reject('SERVICE_UNAVAILABLE', 'too many sessions'));
  }

  // After this point the command must succeed.
  // mutant: login-consumes-nonce
  sessions.nonces.consume(claim.user);
  return accepted(sessions.tokens.issue(claim.user, proof.tokenHash, proof.now, opening));
}
