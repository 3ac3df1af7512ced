/**
 * The account configuration in a `DepositedWithConfig` event (wire.md 12.1, 12.2, 12.4): its ABI form, the text that the master
 * key signs, and what clearing gets of it.
 *
 *   data   amount │ masterWeight │ low │ medium │ high │ offset of signers │ offset of the signature
 *          count │ key, keyType, keyPrefix, weight, expiresAtNs, maxSigningWindowNs each │ length │ signature
 *
 * The vault checks nothing of it, and any depositor chooses it: it counts with a valid Ed25519 signature of the account's key over
 * the compact text, and the first 16 signers of it. The deposit counts with or without. Rules of a configuration, and whether the
 * account has one already, are clearing's (clearing/signers/deposit-config.ts).
 */

import type { SignerSetup } from '../clearing/signers/deposit-config.ts';
import { SIGNERS_MAX } from '../clearing/signers/signer-config.ts';
import { SCHEMES, type SignerKey } from '../codec/signatures.ts';
import { must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import { verifyLong } from '../crypto/ed25519.ts';
import { SIGNATURE_BYTES } from '../crypto/ed25519-sizes.ts';
import { type ChainLog, DEPOSITED_WITH_CONFIG_TOPIC, decodeDeposit, type VaultEvent } from './chain-events.ts';

/** Signers of an event that are read; with more there is no configuration. Each costs its depositor gas. */
export const CONFIG_SIGNERS_MAX = 1_024;

/** One signer as the contract has it. */
export interface ConfigSigner {
  /** 64 hex: of a compressed point its x coordinate. */
  readonly key: string;
  /** u8: 0 Ed25519, 1 secp256k1, 2 P-256, 3 WebAuthn (wire.md G10). */
  readonly keyType: number;
  /** u8: of a compressed point 2 or 3. */
  readonly keyPrefix: number;
  /** u32. */
  readonly weight: number;
  /** u64; 0: none. */
  readonly expiresAtNs: bigint;
  /** u64; 0: none. */
  readonly maxSigningWindowNs: bigint;
}

export interface DepositConfig {
  /** u32, like the thresholds. */
  readonly masterWeight: number;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
  readonly signers: readonly ConfigSigner[];
  /** Hex, of any length. */
  readonly signature: string;
}

const WORD = 64;
const WORD_BYTES = 32;
/** Words before the signers: the amount, four figures and two offsets. */
const HEAD_WORDS = 7;
const SIGNER_WORDS = 6;
const U8 = 0xffn;
const U32 = 0xffff_ffffn;
const U64 = (1n << 64n) - 1n;

function word(value: bigint | number): string {
  return value.toString(16).padStart(WORD, '0');
}

/** The data of the event behind the amount. */
export function encodeConfig({ masterWeight, low, medium, high, signers, signature }: DepositConfig): string {
  const signaturesAt = HEAD_WORDS + 1 + SIGNER_WORDS * signers.length;
  const head = [masterWeight, low, medium, high, HEAD_WORDS * WORD_BYTES, signaturesAt * WORD_BYTES].map(word);
  const rows = signers.flatMap((one) => [
    one.key,
    ...[one.keyType, one.keyPrefix, one.weight, one.expiresAtNs, one.maxSigningWindowNs].map(word),
  ]);
  const padded = signature.padEnd(Math.ceil(signature.length / WORD) * WORD, '0');
  return [...head, word(signers.length), ...rows, word(signature.length / 2), padded].join('');
}

/** Reads words of hex; the first that is missing or too large for its type ends it. */
class WordReader {
  readonly #data: string;
  /** In digits. */
  #at: number;
  hasFailed = false;

  constructor(data: string, at = 0) {
    this.#data = data;
    this.#at = at;
  }

  hex(digits: number): string {
    const text = this.#data.slice(this.#at, this.#at + digits);
    this.#at += Math.ceil(digits / WORD) * WORD;
    if (text.length < digits) this.hasFailed = true;
    return text;
  }

  uint(max: bigint): bigint {
    const text = this.hex(WORD);
    const value = this.hasFailed ? 0n : BigInt(`0x${text}`);
    if (value > max) this.hasFailed = true;
    return value <= max ? value : 0n;
  }

  number(max: bigint): number {
    return Number(this.uint(max));
  }

  /** A reader at the place that the next word names, in bytes from the start of the data. */
  behindOffset(): WordReader {
    const at = this.number(BigInt(this.#data.length));
    return new WordReader(this.#data, at * 2);
  }
}

/** @param data hex digits of a whole event. @returns null for one that has no configuration, or none that can be read. */
export function decodeConfig(data: string): DepositConfig | null {
  const head = new WordReader(data, WORD);
  const [masterWeight, low, medium, high] = [head.number(U32), head.number(U32), head.number(U32), head.number(U32)];
  const list = head.behindOffset();
  const tail = head.behindOffset();
  const signers: ConfigSigner[] = [];
  const count = list.number(BigInt(CONFIG_SIGNERS_MAX));
  for (let index = 0; index < count && !list.hasFailed; index += 1) signers.push(readSigner(list));
  const signature = tail.hex(2 * tail.number(BigInt(SIGNATURE_BYTES)));
  if (head.hasFailed || list.hasFailed || tail.hasFailed) return null;
  return { masterWeight, low, medium, high, signers, signature };
}

function readSigner(reader: WordReader): ConfigSigner {
  return {
    key: reader.hex(WORD),
    keyType: reader.number(U8),
    keyPrefix: reader.number(U8),
    weight: reader.number(U32),
    expiresAtNs: reader.uint(U64),
    maxSigningWindowNs: reader.uint(U64),
  };
}

/** The text that the master key signs (wire.md 4.2). */
export function configText({ masterWeight, low, medium, high, signers }: Omit<DepositConfig, 'signature'>): string {
  const rows = signers.map(
    ({ key, keyType, keyPrefix, weight, expiresAtNs, maxSigningWindowNs }) =>
      `{"key":[${bytesOf(key).join(',')}],"key_type":${keyType},"key_prefix":${keyPrefix},"weight":${weight},` +
      `"expires_at_ns":${expiresAtNs},"max_signing_window_ns":${maxSigningWindowNs}}`,
  );
  return (
    `{"master_weight":${masterWeight},"low_threshold":${low},"medium_threshold":${medium},"high_threshold":${high},` +
    `"signers":[${rows.join(',')}]}`
  );
}

/** A deposit with what it configures. @returns null for a log that is not a well-formed deposit. */
export function decodeCredit(log: Pick<ChainLog, 'topics' | 'data'>): VaultEvent | null {
  const deposit = decodeDeposit(log);
  if (deposit === null || log.topics[0] !== DEPOSITED_WITH_CONFIG_TOPIC) return deposit;
  const setup = signerSetupOf(deposit.user, log.data);
  return setup === null ? deposit : { ...deposit, setup };
}

/** What an event configures for its user; null where nothing counts. @param data as of decodeConfig. */
function signerSetupOf(user: UserId, data: string): SignerSetup | null {
  const config = decodeConfig(data);
  if (config === null) return null;
  const text = Buffer.from(configText(config), 'latin1');
  // mutant: config-signature
  if (!verifyLong(bytesOf(config.signature), text, bytesOf(user))) return null;
  const { masterWeight, low, medium, high } = config;
  const signers: SignerSetup['signers'][number][] = [];
  for (const one of config.signers.slice(0, SIGNERS_MAX)) {
    const key = signerKeyOf(one);
    if (key === null) return null;
    const { weight, expiresAtNs, maxSigningWindowNs } = one;
    signers.push({
      ...key,
      weight,
      expiresAtNs: expiresAtNs === 0n ? null : expiresAtNs,
      maxSigningWindowNs: maxSigningWindowNs === 0n ? null : maxSigningWindowNs,
    });
  }
  return { masterWeight, thresholds: { low, medium, high }, signers };
}

/** Null for a type that is none, or a prefix that no compressed point has. Ed25519 keys have no prefix. */
function signerKeyOf({ key, keyType, keyPrefix }: ConfigSigner): SignerKey | null {
  const scheme = SCHEMES[keyType];
  if (scheme === undefined) return null;
  if (scheme === 'Ed25519') return { scheme, key: bytesOf(key) };
  return keyPrefix === 2 || keyPrefix === 3 ? { scheme, key: bytesOf(toHex(Uint8Array.of(keyPrefix)) + key) } : null;
}

function bytesOf(hex: string): Uint8Array {
  return must(parseHex(hex, hex.length / 2), 'hex digits of whole bytes');
}
