// @ts-check
/**
 * Requests to the two listeners of the node, and replies as plain objects: integers as bigints, numbers with a fraction as
 * their text, so that no figure passes through a double before it is drawn.
 */

import { parseJsonText } from '../../src/client/page/json-text.js';
import { JsonFraction } from '../../src/codec/json-tree.js';

/** The node answers each request within 15 seconds, or with a fault (wire.md 1). */
const REQUEST_MS_MAX = 20_000;

/** @typedef {any} Plain a reply: objects, arrays, strings, bigints, booleans, null */

/** @param {any} value @returns {Plain} */
function plain(value) {
  if (value instanceof Map) {
    const object = Object.create(null);
    for (const [name, member] of value) object[name] = plain(member);
    return object;
  }
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof JsonFraction ? value.text : value;
}

/** @param {string} text @returns {Plain} */
export function readJson(text) {
  return plain(parseJsonText(text));
}

/** A refusal of the node (the envelope of wire.md 5.1), or no reply at all: code `UNREACHABLE`. */
export class Refusal extends Error {
  /** @param {string} code @param {string} message @param {string} field '' when it is not one member */
  constructor(code, message, field = '') {
    super(message);
    this.code = code;
    this.field = field;
  }
}

/** A fault as people read it. @param {unknown} error */
export function faultText(error) {
  if (error instanceof Refusal) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** No reply at all. */
export function unreachable() {
  return new Refusal('UNREACHABLE', 'the node does not answer');
}

/** @param {string} url @param {RequestInit} [init] @returns {Promise<Plain>} @throws {Refusal} */
export async function request(url, init = {}) {
  /** @type {Response} */
  let response;
  /** @type {string} */
  let text;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS_MAX), ...init });
    text = await response.text();
  } catch {
    throw unreachable();
  }
  /** @type {Plain} */
  let body = null;
  try {
    body = text === '' ? null : readJson(text);
  } catch {
    throw new Refusal('INVALID_RESPONSE', `status ${response.status} without JSON`);
  }
  const error = body?.error;
  if (!response.ok) {
    throw new Refusal(
      String(error?.code ?? response.status),
      String(error?.message ?? 'the request failed'),
      String(error?.details?.field ?? ''),
    );
  }
  // Refusals of the clearing engine arrive with status 200 (wire.md 5.1).
  if (body !== null && body.success === false) {
    throw new Refusal(String(body.details?.code ?? 'REFUSED'), String(body.details?.message ?? 'refused'));
  }
  return body;
}

export const MARKET_STREAMS = `${location.origin}/market-data`.replace(/^http/, 'ws');
