/**
 * Who signs the actions of an account: its master key, co-signers, or both (wire.md 4.4). The account of the actions is named
 * apart, because its master key may be elsewhere.
 *
 * An entry that was signed on another machine comes ready-made; all sign the same text.
 */
import { isJsonObject, type JsonValue } from '../codec/json-tree.ts';
import {
  ADDITIONAL_SIGNERS_MAX,
  type AdditionalSigner,
  SCHEMES,
  type Signatures,
  type SignerKey,
  signerKeyText,
} from '../codec/signatures.ts';
import { toHex } from '../core/hex.ts';
import type { UserId } from '../core/ids.ts';
import { type CoSigner, coSign } from './co-signers.ts';
import { invalidArgument } from './errors.ts';
import type { SigningKey } from './keys.ts';

/** The signers of an account that are here. */
export interface AccountSigners {
  readonly userId: UserId;
  /** Null: the master key is not here, and co-signers alone sign. */
  readonly master: SigningKey | null;
  /** They sign every action and every login. */
  readonly coSigners: readonly CoSigner[];
}

/** A master key alone, or the signers of an account. */
export type Signers = SigningKey | AccountSigners;

/** Signatures of one action beside those of the account's signers. */
export interface CoSignatures {
  /** Keys that sign this action too. */
  readonly coSigners?: readonly CoSigner[];
  /** Signed elsewhere, over the same text. */
  readonly entries?: readonly AdditionalSigner[];
}

const NO_SIGNATURE = new Uint8Array();

/**
 * Signs a text with everything that is here.
 *
 * @throws RingbookError INVALID_ARGUMENT when nothing signs it, when a key signs it twice, or more than 16 co-signers do.
 */
export function signText(signers: Signers, text: string, also: CoSignatures = {}): Signatures {
  const bytes = new TextEncoder().encode(text);
  const { master, coSigners } = 'sign' in signers ? { master: signers, coSigners: [] } : signers;
  const additionalSigners = [...coSign([...coSigners, ...(also.coSigners ?? [])], bytes), ...(also.entries ?? [])];
  const signatures = { signature: master?.sign(bytes) ?? NO_SIGNATURE, additionalSigners };
  checkSignatures(signatures);
  return signatures;
}

/** @throws RingbookError INVALID_ARGUMENT for signatures that every node refuses. */
export function checkSignatures({ signature, additionalSigners }: Signatures): void {
  if (signature.length === 0 && additionalSigners.length === 0) {
    throw invalidArgument('nothing signs this: give the client the key of the account, or co-signers');
  }
  if (additionalSigners.length > ADDITIONAL_SIGNERS_MAX) {
    throw invalidArgument(`an action has at most ${ADDITIONAL_SIGNERS_MAX} co-signers`);
  }
  const seen = new Set<string>();
  for (const { scheme, key } of additionalSigners) {
    const name = `${scheme} ${toHex(key)}`;
    if (seen.has(name)) throw invalidArgument(`the co-signer ${name} signs twice; one signature of each is enough`);
    seen.add(name);
  }
}

/** The JSON of `additional_signers`. */
export function additionalSignersText(entries: readonly AdditionalSigner[]): string {
  const items = entries.map((entry) => `{"signer":${signerKeyText(entry)},"signature":[${entry.signature.join(',')}]}`);
  return `[${items.join(',')}]`;
}

/** A key that JSON holds, tagged with its scheme; null for anything else. Its length is not checked. */
export function signerKeyIn(value: JsonValue | undefined): SignerKey | null {
  const [[name, bytes] = ['', null]] = isJsonObject(value) ? value : new Map<string, JsonValue>();
  const scheme = SCHEMES.find((known) => known === name);
  return scheme === undefined || !Array.isArray(bytes) ? null : { scheme, key: Uint8Array.from(bytes.map(Number)) };
}
