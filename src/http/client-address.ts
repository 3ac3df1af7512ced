/**
 * The key of an address: an IPv4 address, or the first 64 bits of an IPv6 address, because one household has that many.
 * An IPv4 address inside IPv6 counts as the IPv4 address.
 */
import { isIP } from 'node:net';
import { toHex } from '../core/hex.ts';

const V4_BYTES = 4;
const V6_BYTES = 16;
const V6_GROUPS = 8;
const PREFIX_BYTES = 8;
const MAPPED_PREFIX = '00000000000000000000ffff';

/** @param bytes 4 or 16, as the server supplies them. '' for anything else. */
export function addressKey(bytes: Uint8Array): string {
  if (bytes.length === V4_BYTES) return bytes.join('.');
  if (bytes.length !== V6_BYTES) return '';
  if (toHex(bytes.subarray(0, V6_BYTES - V4_BYTES)) === MAPPED_PREFIX) return bytes.subarray(-V4_BYTES).join('.');
  return toHex(bytes.subarray(0, PREFIX_BYTES));
}

/**
 * The key of the last element of an `X-Forwarded-For` header, which the terminator in front has written. Earlier
 * elements are part of the request and can be forged.
 *
 * @returns null when the last element is not an address.
 */
export function lastForwardedKey(header: string): string | null {
  const text = bare(header.slice(header.lastIndexOf(',') + 1).trim());
  const version = isIP(text);
  if (version === 0) return null;
  return addressKey(version === 4 ? Uint8Array.from(text.split('.'), Number) : v6Bytes(text));
}

/** Without brackets and port. */
function bare(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::[0-9]+)?$/.exec(text)?.[1];
  return bracketed ?? /^([0-9.]+):[0-9]+$/.exec(text)?.[1] ?? text;
}

/** @param text a valid IPv6 address. */
function v6Bytes(text: string): Uint8Array {
  const [address = ''] = text.split('%', 1);
  const lastColon = address.lastIndexOf(':');
  const dotted = address.slice(lastColon + 1);
  const plain = dotted.includes('.') ? address.slice(0, lastColon + 1) + groupsOfV4(dotted) : address;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: V6_GROUPS - before.length - after.length }, () => '0');
  const groups = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** `1.2.3.4` as two groups. */
function groupsOfV4(text: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
