/**
 * Files of approval keys: 64 hex digits, readable by the owner alone; and the public key of dev and test. Without viem, so
 * that the configuration can be checked before anything is loaded.
 */
import { readFileSync, statSync } from 'node:fs';

const KEY_FORM = /^[0-9a-f]{64}$/;
/** The order of secp256k1: a key is above 0 and below it. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The approval key of dev and test (operator-api.md 4.5), and its address: its private half is publicly known. */
export const PUBLIC_APPROVAL_KEY: string = 'a1'.repeat(32);
export const PUBLIC_APPROVAL_ADDRESS = '5d5c99edf529335160ff180fa141dd4967fc00d2';

/** @returns 64 hex. @throws Error with what is wrong, without the content. */
export function readKeyFile(path: string): string {
  const { mode } = statSync(path);
  if ((mode & 0o077) !== 0) throw new Error('others than its owner may read it: chmod 600');
  const text = readFileSync(path, 'utf8').trim().toLowerCase();
  if (!KEY_FORM.test(text)) throw new Error('it holds 64 hex digits and nothing else');
  const key = BigInt(`0x${text}`);
  if (key === 0n || key >= ORDER) throw new Error('it holds no key of secp256k1');
  return text;
}
