/**
 * Cold messages: plain objects as JSON between threads and in the journal. A bigint travels as {"$n":"digits"} and
 * bytes as {"$b":"base64"}, so nothing passes through a double. Never for client input: that is wire's reader.
 */
import { assert } from '../core/assert.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

function replaceExact(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { $n: value.toString() };
  if (value instanceof Uint8Array) return { $b: Buffer.from(value).toString('base64') };
  if (typeof value === 'number') assert(Number.isSafeInteger(value), 'a plain number is a safe integer');
  return value;
}

function reviveExact(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('$n' in value && typeof value.$n === 'string') return BigInt(value.$n);
  if ('$b' in value && typeof value.$b === 'string') return new Uint8Array(Buffer.from(value.$b, 'base64'));
  return value;
}

/** @param value plain objects, arrays, strings, booleans, null, safe integers, bigints, byte arrays. */
export function encodePlain(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value, replaceExact));
}

/** The value that was encoded. `bytes` may lie in shared memory: it is copied first. */
export function decodePlain<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(new Uint8Array(bytes)), reviveExact) as T;
}
