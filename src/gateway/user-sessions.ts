/** Sessions of users: nonces, logins, tokens (wire.md 3). Not here: their rules (sessions/login.ts, tokens.ts, nonces.ts). */
import { createHash, randomBytes } from 'node:crypto';
import type { AuthRequest } from '../codec/auth-request.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import { NONCES_MAX } from '../core/limits.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import type { TimestampNs } from '../core/units.ts';
import { verify } from '../crypto/ed25519.ts';
import { checkNonce, completeLogin } from './sessions/login.ts';
import { Nonces } from './sessions/nonces.ts';
import { Tokens } from './sessions/tokens.ts';
import type { UserEventStreams } from './user-streams.ts';

const NONCE_BYTES = 32;
const TOKEN_BYTES = 32;

export interface UserSessionsParts {
  readonly nowNs: () => TimestampNs;
  /** Whether the user has a balance or a position: places are kept for these. */
  readonly isFunded: (user: UserId) => boolean;
  /** Users with a private key that is public: their signature proves nothing. */
  readonly refusedUsers: ReadonlySet<string>;
  /** Sessions of users without funds from one address. */
  readonly perAddressMax: number;
  readonly streams: () => Pick<UserEventStreams, 'endSessions'>;
}

export class UserSessions {
  readonly #parts: UserSessionsParts;
  readonly #nonces: Nonces;
  readonly #tokens: Tokens;

  constructor(parts: UserSessionsParts) {
    const { isFunded, perAddressMax } = parts;
    this.#parts = parts;
    this.#nonces = new Nonces(NONCES_MAX, isFunded);
    this.#tokens = new Tokens({ isFunded, perAddressMax });
  }

  issueNonce(user: UserId): { readonly value: string; readonly ceNonce: number } {
    const { value } = this.#nonces.issue(user, this.#parts.nowNs(), randomBytes(NONCE_BYTES).toString('base64url'));
    return { value, ceNonce: 0 };
  }

  /** @param address of the client; '' where addresses are not limited. */
  login(request: AuthRequest, address: string): Outcome<{ readonly token: string; readonly expiryNs: TimestampNs }> {
    const claim = { user: request.userId, nonce: request.nonce };
    const now = this.#parts.nowNs();
    // The nonce comes first: a stranger without one cannot make the node verify.
    const nonce = checkNonce(this.#nonces, claim, now);
    if (!nonce.ok) return nonce;
    const key = must(parseHex(request.userId, 32), 'a user id is 32 bytes of hex');
    const isProof = !this.#parts.refusedUsers.has(request.userId);
    const signatureIsValid = isProof && verify(request.signature, Buffer.from(request.nonce, 'utf8'), key);
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const proof = { signatureIsValid, tokenHash: hashToken(token), address, now };
    const expiry = completeLogin({ nonces: this.#nonces, tokens: this.#tokens }, claim, proof);
    return expiry.ok ? accepted({ token, expiryNs: expiry.value }) : expiry;
  }

  logout(user: UserId): void {
    this.#tokens.revokeAll(user);
    this.#parts.streams().endSessions(user);
  }

  /** Whether this token is a live session of this user. */
  isSession(user: UserId, token: string): boolean {
    return this.#tokens.isValid(user, hashToken(token), this.#parts.nowNs());
  }

  /** Valid tokens of a user. */
  countOf(user: UserId): number {
    return this.#tokens.countOf(user, this.#parts.nowNs());
  }

  /** Drops sessions that are over. */
  sweep(): void {
    this.#tokens.sweep(this.#parts.nowNs());
  }
}

/** Only the hash of a token is kept. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
