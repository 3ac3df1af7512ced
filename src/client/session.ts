/**
 * A user's session with the OMS (wire.md 3): logs in once, sends the token with every protected call, and on 401 or 403
 * logs in again and re-sends once.
 *
 * The account's key signs the login, or its co-signers do, or all of them (AMB-86).
 *
 * Safety: the login nonce is signed as raw bytes with the keys that sign orders, so a hostile server could send an
 * order as "nonce". Only nonces of 43 base64url characters are ever signed; an order's text cannot be one.
 */

import type { SessionScope } from '../codec/action-types.ts';
import { isJsonObject, type JsonValue, MemberReader } from '../codec/json-tree.ts';
import type { UserId } from '../core/ids.ts';
import { additionalSignersText, type Signers, signText } from './action-signers.ts';
import { invalidResponse, malformed, RingbookError } from './errors.ts';
import type { HttpExchange, HttpTransport } from './http-transport.ts';
import type { NowNs } from './time.ts';

const NONCE_FORM = /^[A-Za-z0-9_-]{43}$/;
/** A token counts as expired this long before its expiry. */
const EXPIRY_MARGIN_NS = 60_000_000_000n;

interface Token {
  readonly value: string;
  readonly expiryNs: bigint;
}

/** @returns `nonce`. @throws RingbookError UNSAFE_NONCE when its signature could be valid for anything but a login. */
export function checkNonce(nonce: string): string {
  if (!NONCE_FORM.test(nonce)) {
    throw new RingbookError({
      code: 'UNSAFE_NONCE',
      message: 'the service offered a login nonce that is not 43 characters of A-Z a-z 0-9 _ -; it was not signed',
    });
  }
  return nonce;
}

export class Session {
  readonly #transport: HttpTransport;
  readonly #signers: Signers;
  readonly #nowNs: NowNs;
  readonly #scope: SessionScope;
  /** The current or completed login; null before the first and after a token is dropped. */
  #login: Promise<Token> | null = null;

  /** @param scope `read`: it reads and streams, and changes nothing (RDO-01). */
  constructor(transport: HttpTransport, signers: Signers, nowNs: NowNs, scope: SessionScope = 'full') {
    this.#scope = scope;
    this.#transport = transport;
    this.#signers = signers;
    this.#nowNs = nowNs;
  }

  get userId(): UserId {
    return this.#signers.userId;
  }

  /** The two headers of wire.md 1, logging in first where needed. */
  async headers(): Promise<Readonly<Record<string, string>>> {
    const token = await this.#currentToken();
    return { authorization: `Bearer ${token.value}`, 'user-id': this.#signers.userId };
  }

  /**
   * Opens a connection with the headers of the session. When they are rejected it logs in again and opens once more: a
   * restarted node has no earlier tokens.
   */
  async open<T>(opening: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
    const headers = await this.headers();
    const login = this.#login;
    try {
      return await opening(headers);
    } catch (error) {
      if (!(error instanceof RingbookError) || (error.status !== 401 && error.status !== 403)) throw error;
      // Another login would read only, too.
      if (error.code === 'READ_ONLY_SESSION') throw error;
      if (this.#login === login) this.#login = null;
      return opening(await this.headers());
    }
  }

  /** A protected call. On 401 and 403 it logs in again and sends the identical request once more. */
  async exchange(exchange: HttpExchange): Promise<JsonValue> {
    return this.open((headers) =>
      this.#transport.exchange({ ...exchange, headers: { ...exchange.headers, ...headers } }),
    );
  }

  /** Revokes every token of the user; that of a session that only reads alone. */
  async logout(): Promise<void> {
    await this.exchange({ method: 'POST', path: '/logout' });
    this.#login = null;
  }

  /** Concurrent calls share one login: a nonce is shared until consumed, so one of two logins would fail. */
  async #currentToken(): Promise<Token> {
    const known = this.#login;
    if (known !== null) {
      const token = await known;
      if (this.#nowNs() < token.expiryNs - EXPIRY_MARGIN_NS) return token;
      if (this.#login !== null && this.#login !== known) return this.#login;
    }
    const login = this.#startLogin();
    this.#login = login;
    login.catch(() => {
      if (this.#login === login) this.#login = null;
    });
    return login;
  }

  /** A fresh nonce of the service: what a login or the text of a new co-signer takes. */
  async nonce(): Promise<string> {
    const offered = await this.#transport.exchange({ method: 'GET', path: `/nonce/${this.#signers.userId}` });
    if (!isJsonObject(offered)) throw invalidResponse('nonce', 'expected an object');
    const value = offered.get('value');
    if (typeof value !== 'string') throw invalidResponse('nonce', 'no value');
    return checkNonce(value);
  }

  async #startLogin(): Promise<Token> {
    const nonce = await this.nonce();
    const isReading = this.#scope === 'read';
    const { signature, additionalSigners } = signText(this.#signers, isReading ? `read:${nonce}` : nonce);
    const scope = isReading ? ',"scope":"read"' : '';
    const others =
      additionalSigners.length === 0 ? '' : `,"additional_signers":${additionalSignersText(additionalSigners)}`;
    const body = `{"user_id":"${this.#signers.userId}","nonce":"${nonce}","signature":[${signature.join(',')}]${others}${scope}}`;
    const granted = await this.#transport.exchange({ method: 'POST', path: '/auth', body });
    if (!isJsonObject(granted)) throw invalidResponse('auth', 'expected an object');
    const reader = new MemberReader(granted);
    const token = { value: reader.string('token'), expiryNs: reader.u64('expiry_ns') };
    const fault = reader.finish('skip');
    if (fault !== null) throw malformed('auth', fault);
    return token;
  }
}
