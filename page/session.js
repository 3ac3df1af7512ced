// @ts-check
/**
 * One key and one login, in the memory of this page only: the seed is never sent or stored, and is lost when the page is
 * closed. Only signatures, the token, and the user id are sent.
 */
import { getPublicKey, hashes, sign } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { parseJsonText } from '../src/client/page/json-text.js';

hashes.sha512 = sha512;

/** @param {Uint8Array} bytes */
export function hexOf(bytes) {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function newSeed() {
  return hexOf(crypto.getRandomValues(new Uint8Array(32)));
}

export class Session {
  /** @type {Uint8Array | null} */
  #seed = null;
  /** The public key of the seed; '' without one. */
  userId = '';
  /** The key before this one: its id in forms is replaced by the new one. */
  userIdBefore = '{user_id}';
  token = '';
  /** The id of the last created order: the default for replace and cancel. */
  lastOrderId = '';
  /** Offset of the service's clock to this computer's. */
  #aheadNs = 0n;
  /** @type {Set<() => void>} */
  #listeners = new Set();

  /** @param {() => void} listener called after every change */
  watch(listener) {
    this.#listeners.add(listener);
  }

  changed() {
    for (const listener of this.#listeners) listener();
  }

  /** @param {string} seedText 64 hex digits */
  useSeed(seedText) {
    const text = seedText.trim();
    if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new Error('a seed is 64 hex digits');
    this.#seed = Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    if (this.userId !== '') this.userIdBefore = this.userId;
    this.userId = hexOf(getPublicKey(this.#seed));
    this.token = '';
    this.lastOrderId = '';
    this.changed();
  }

  forget() {
    this.#seed = null;
    if (this.userId !== '') this.userIdBefore = this.userId;
    this.userId = '';
    this.token = '';
    this.changed();
  }

  /** @param {Uint8Array} bytes @returns {Uint8Array} */
  sign(bytes) {
    if (this.#seed === null) throw new Error('give the page a key first');
    return sign(bytes, this.#seed);
  }

  /** The time of the service, with which it compares timestamps. */
  nowNs() {
    return BigInt(Date.now()) * 1_000_000n + this.#aheadNs;
  }

  /** A computer whose clock is wrong trades all the same. */
  async #setClock() {
    const response = await fetch('/system/time');
    if (!response.ok) return;
    const time = /** @type {Map<string, bigint>} */ (parseJsonText(await response.text())).get('now_ns');
    if (typeof time === 'bigint') this.#aheadNs = time - BigInt(Date.now()) * 1_000_000n;
  }

  async logIn() {
    const { userId } = this;
    await this.#setClock();
    const nonce = await answerOf(await fetch(`/nonce/${userId}`));
    const value = String(nonce['value']);
    // An order could be hidden in a nonce: nothing else than 43 characters of this alphabet is signed as one.
    if (!/^[A-Za-z0-9_-]{43}$/.test(value)) throw new Error('the service gave a nonce that is none');
    const signature = [...this.sign(new TextEncoder().encode(value))];
    const body = JSON.stringify({ user_id: userId, nonce: value, signature });
    const headers = { 'Content-Type': 'application/json' };
    const token = await answerOf(await fetch('/auth', { method: 'POST', headers, body }));
    if (this.userId !== userId) return;
    this.token = String(token['token']);
    this.changed();
  }

  /** @returns {Record<string, string>} */
  headers() {
    return this.token === '' ? {} : { Authorization: `Bearer ${this.token}`, 'User-Id': this.userId };
  }

  /**
   * Browsers send no headers with a WebSocket, so the session travels as subprotocols.
   *
   * @param {string} path
   * @param {boolean} isV1
   */
  open(path, isV1) {
    const protocols = this.token === '' ? [] : [`Bearer-${this.token}`, `User-${this.userId}`];
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${path}`;
    return new WebSocket(url, isV1 && protocols.length > 0 ? ['svc.ws.v1', ...protocols] : protocols);
  }
}

/** @param {Response} response @returns {Promise<Record<string, unknown>>} */
async function answerOf(response) {
  const body = await response.json();
  if (response.ok) return body;
  throw new Error(`${body.error?.code ?? response.status}: ${body.error?.message ?? ''}`);
}
