/**
 * Sessions of users: nonces, logins, tokens (wire.md 3). Not here: their rules (sessions/login.ts, tokens.ts,
 * nonces.ts).
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  endOfSigners,
  MASTER_ALONE,
  refuseCancelSigners,
  refuseCoSigners,
  refuseWeight,
  refuseWeightless,
  type SignedBy,
  UNSIGNED,
} from '../clearing/signers/signer-config.ts';
import type { AuthRequest } from '../codec/action-types.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import { NONCES_MAX } from '../core/limits.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import type { Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { verify } from '../crypto/ed25519.ts';
import type { RequestSignatures } from './actions/request-signatures.ts';
import { BAD_SIGNATURE } from './actions/signature-verifier.ts';
import { type SignerQueries, signedByOf } from './queries/signers.ts';
import { checkLoginNonce, completeLogin, type LoginProof, loginBytes } from './sessions/login.ts';
import { Nonces } from './sessions/nonces.ts';
import { type LiveSession, type SessionView, Tokens } from './sessions/tokens.ts';
import type { UserEventStreams } from './user-streams.ts';

const NONCE_BYTES = 32;
const TOKEN_BYTES = 32;
/** Of base64url: 132 bits. */
const SESSION_ID_LENGTH = 22;

interface UserSessionsParts {
  readonly nowNs: () => TimestampNs;
  /** Whether the user has a balance or a position: places are kept for these. */
  readonly isFunded: (user: UserId) => boolean;
  /** Users with a private key that is public: their signature proves nothing. */
  readonly refusedUsers: ReadonlySet<string>;
  /** Sessions of users without funds from one address. */
  readonly perAddressMax: number;
  readonly streams: () => Pick<UserEventStreams, 'endSessions'>;
  readonly signers: Pick<SignerQueries, 'configNonceOf' | 'configOf'>;
  readonly signatures: Pick<RequestSignatures, 'verify'>;
}

/** Each listener has a nonce of its own per user: a login at one does not spend the other's (wire-additions.md 8.1). */
export type LoginPlace = 'orders' | 'market-data';

interface Login {
  readonly token: string;
  readonly expiryNs: TimestampNs;
}

export class UserSessions {
  readonly #parts: UserSessionsParts;
  readonly #nonces: Readonly<Record<LoginPlace, Nonces>>;
  readonly #tokens: Tokens;

  constructor(parts: UserSessionsParts) {
    const { isFunded, perAddressMax } = parts;
    this.#parts = parts;
    this.#nonces = {
      orders: new Nonces(NONCES_MAX, isFunded),
      'market-data': new Nonces(NONCES_MAX, isFunded),
    };
    this.#tokens = new Tokens({ isFunded, perAddressMax });
  }

  issueNonce(user: UserId, place: LoginPlace = 'orders'): { readonly value: string; readonly ceNonce: number } {
    const fresh = randomBytes(NONCE_BYTES).toString('base64url');
    const { value } = this.#nonces[place].issue(user, this.#parts.nowNs(), fresh);
    return { value, ceNonce: this.#parts.signers.configNonceOf(user) };
  }

  /** Whether this is the user's nonce now: NONCE_NOT_FOUND, NONCE_EXPIRED, INVALID_NONCE, or null. */
  refuseNonce(user: UserId, nonce: string, place: LoginPlace = 'orders'): Reject | null {
    // mutant: nonce-of-its-listener
    const checked = checkLoginNonce(this.#nonces[place], { user, nonce }, this.#parts.nowNs());
    return checked.ok ? null : checked.reject;
  }

  /** It was used by something else than a login. */
  consumeNonce(user: UserId, nonce: string): void {
    const { orders } = this.#nonces;
    if (orders.find(user)?.value === nonce) orders.consume(user);
  }

  /**
   * By the master key alone: without weight it is refused, with less than `low` the session reads (MON-13). The nonce
   * comes first: a client without one cannot make the node verify.
   *
   * @param address of the client; '' where addresses are not limited.
   */
  login(
    request: Omit<AuthRequest, 'additionalSigners'>,
    address: string,
    place: LoginPlace = 'orders',
  ): Outcome<Login> {
    const { userId, nonce, signature, scope } = request;
    const refusal = this.refuseNonce(userId, nonce, place);
    if (refusal !== null) return rejected(refusal);
    if (signature.length === 0) return rejected(UNSIGNED);
    const key = must(parseHex(userId, 32), 'a user id is 32 bytes of hex');
    const isProof = !this.#parts.refusedUsers.has(userId);
    const isValid = isProof && verify(signature, loginBytes(request), key);
    const config = this.#parts.signers.configOf(userId);
    const weightless = isValid ? refuseWeightless(config, MASTER_ALONE) : BAD_SIGNATURE;
    const isReadOnly = scope === 'read' || refuseWeight(config, MASTER_ALONE, 'low') !== null;
    return this.#complete(request, { address, byCoSigners: false, isReadOnly, refusal: weightless }, place);
  }

  /**
   * A login with co-signers (wire.md 3.2, AMB-86) checks the nonce, whether they are signers of the account, the
   * signatures, the weight.
   *
   * @param address as of `login`.
   */
  async coSignedLogin(request: AuthRequest, address: string, place: LoginPlace = 'orders'): Promise<Outcome<Login>> {
    const nonce = this.refuseNonce(request.userId, request.nonce, place);
    if (nonce !== null) return rejected(nonce);
    const refusal = await this.#refuseCoSigned(request);
    const config = this.#parts.signers.configOf(request.userId);
    const signedBy = signedByOf(request);
    return this.#complete(
      request,
      {
        address,
        byCoSigners: true,
        key: keyOf(signedBy),
        endNs: endOfSigners(config, signedBy.coSigners),
        isReadOnly: request.scope === 'read' || refuseWeight(config, signedBy, 'low') !== null,
        refusal,
      },
      place,
    );
  }

  #complete(
    { userId: user, nonce }: Pick<AuthRequest, 'userId' | 'nonce'>,
    proof: Omit<LoginProof, 'tokenHash' | 'now'>,
    place: LoginPlace,
  ): Outcome<Login> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const sessions = { nonces: this.#nonces[place], tokens: this.#tokens };
    const tokenHash = hashToken(token);
    const whole = { ...proof, tokenHash, id: sessionIdOf(tokenHash), now: this.#parts.nowNs() };
    const expiry = completeLogin(sessions, { user, nonce }, whole);
    return expiry.ok ? accepted({ token, expiryNs: expiry.value }) : expiry;
  }

  async #refuseCoSigned(request: AuthRequest): Promise<Reject | null> {
    const { userId: user, signature, additionalSigners } = request;
    const { signers, signatures, nowNs, refusedUsers } = this.#parts;
    if (refusedUsers.has(user)) return BAD_SIGNATURE;
    const signedBy = signedByOf(request);
    const text = loginBytes(request);
    return (
      refuseCoSigners(signers.configOf(user), signedBy.coSigners, nowNs()) ??
      (await signatures.verify({ signature, additionalSigners, text }, user)) ??
      refuseCancelSigners(signers.configOf(user), signedBy, nowNs())
    );
  }

  /**
   * One that only reads ends itself and its sockets alone; every other one ends all of the user's (RDO-01).
   *
   * @param session that asks for it; null for none.
   */
  logout(user: UserId, session: LiveSession | null = null): void {
    if (session?.isReadOnly === true) {
      this.#end(user, session.tokenHash);
      return;
    }
    this.#tokens.revokeAll(user);
    this.#parts.streams().endSessions(user);
  }

  /** The user's sessions, oldest first (RDO-02). */
  listOf(user: UserId): readonly SessionView[] {
    return this.#tokens.listOf(user, this.#parts.nowNs());
  }

  /** Ends one session of the user, and its sockets (RDO-02). @returns false if there is none with this id. */
  endById(user: UserId, id: string): boolean {
    const found = this.#tokens.listOf(user, this.#parts.nowNs()).find((session) => session.id === id);
    if (found === undefined) return false;
    this.#end(user, found.tokenHash);
    return true;
  }

  #end(user: UserId, tokenHash: string): void {
    this.#tokens.revoke(user, tokenHash);
    this.#parts.streams().endSessions(user, tokenHash);
  }

  /** The live session of this user with this token; null without one. */
  find(user: UserId, token: string): LiveSession | null {
    return this.#tokens.find(user, hashToken(token), this.#parts.nowNs());
  }

  /** Whether the session of a token that `find` has hashed is still valid. */
  isLive(user: UserId, tokenHash: string): boolean {
    return this.#tokens.find(user, tokenHash, this.#parts.nowNs()) !== null;
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

/**
 * The key whose sessions count as one: the master's where it signed, else the first co-signer's. Nothing but its
 * signature makes a session of a key, so no key ends another's (MON-13).
 */
function keyOf({ hasMaster, coSigners: [first] }: SignedBy): string {
  return hasMaster || first === undefined ? '' : `${first.scheme} ${Buffer.from(first.key).toString('hex')}`;
}

/** The name of a session: of its token's hash, so that it is found again and leads to no token. */
function sessionIdOf(tokenHash: string): string {
  return createHash('sha256').update(`session ${tokenHash}`).digest('base64url').slice(0, SESSION_ID_LENGTH);
}

/** Only the hash of a token is kept. */
function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
