/**
 * Co-signed requests as texts of the wire (wire.md 4.4, 7.20, G9): add-signer, and any `inner` signed by the master key, by
 * co-signers, or by both.
 */
import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { PlainKey } from './wire-texts.ts';

export type Scheme = 'Ed25519' | 'Secp256k1' | 'P256';

/** A key that signs beside the master key. */
export interface WireSigner {
  readonly scheme: Scheme | 'WebAuthn';
  readonly key: Uint8Array;
  sign(text: string): Uint8Array;
}

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** @param byte its secret, 32 times. */
export function wireSigner(byte: number, scheme: Scheme = 'Secp256k1'): WireSigner {
  const secret = new Uint8Array(32).fill(byte);
  if (scheme === 'Ed25519') {
    const own = new PlainKey(byte);
    return { scheme, key: Buffer.from(own.id, 'hex'), sign: (text) => own.sign(text) };
  }
  const curve = scheme === 'P256' ? p256 : secp256k1;
  const sign = (text: string): Uint8Array => curve.sign(sha256(text), secret, { lowS: true }).toCompactRawBytes();
  return { scheme, key: curve.getPublicKey(secret, true), sign };
}

/** The tagged key, as in bodies and texts. */
export function keyText({ scheme, key }: Pick<WireSigner, 'scheme' | 'key'>): string {
  return `{"${scheme}":[${[...key].join(',')}]}`;
}

/** The value of `additional_signers` over a text. */
export function coSignatures(signers: readonly WireSigner[], text: string): string {
  const entries = signers.map((one) => `{"signer":${keyText(one)},"signature":[${[...one.sign(text)].join(',')}]}`);
  return `[${entries.join(',')}]`;
}

/** Who signs an action. */
export interface Hands {
  /** Null: not the master key. */
  readonly master: PlainKey | null;
  readonly coSigners?: readonly WireSigner[];
}

/** The members `signature` and `additional_signers` over a text. */
export function signedMembers(text: string, { master, coSigners = [] }: Hands): string {
  const own = master === null ? '' : [...master.sign(text)].join(',');
  return `"signature":[${own}],"additional_signers":${coSignatures(coSigners, text)}`;
}

/** The body of an account action. */
export function actionBody(text: string, hands: Hands): string {
  return `{"inner":${text},${signedMembers(text, hands)}}`;
}

/** The body of a create, of a replace and of a cancel; each text as it is signed. */
export function createBodyOf(text: string, hands: Hands, nowNs: bigint): string {
  return `{"order":${text},${signedMembers(text, hands)},"post_sign_timestamp":${nowNs}}`;
}

export function replaceBodyOf(user: string, text: string, hands: Hands, nowNs: bigint, asset = '2'): string {
  const market = text.includes('"base_asset":') ? '' : `,"asset_id":"${asset}"`;
  const outer = `"signer":"${user}"${market}`;
  return `{"request":${text},${outer},${signedMembers(text, hands)},"post_sign_timestamp":${nowNs}}`;
}

export function cancelBodyOf(text: string, hands: Hands, nowNs: bigint): string {
  return `{"cancel":${text},${signedMembers(text, hands)},"post_sign_timestamp":${nowNs}}`;
}

export interface NewSigner {
  readonly signer: Pick<WireSigner, 'scheme' | 'key'>;
  readonly weight?: number;
  /** Nanoseconds. */
  readonly duration?: bigint | null;
  readonly ceNonce: number;
  readonly omsNonce?: string;
}

/** `inner` of add-signer in the order in which it is signed. */
export function addSignerText(
  user: string,
  { signer, weight = 1, duration = null, ceNonce, omsNonce }: NewSigner,
): string {
  const terms = `"signer":${keyText(signer)},"weight":${weight},"session_duration_ns":${duration}`;
  if (omsNonce === undefined) return `{"user":"${user}",${terms},"ce_nonce":${ceNonce}}`;
  return `{"user":"${user}","oms_nonce":"${omsNonce}","ce_nonce":${ceNonce},${terms}}`;
}

const KEY_TYPE: Readonly<Record<WireSigner['scheme'], number>> = { Ed25519: 0, Secp256k1: 1, P256: 2, WebAuthn: 3 };

/** A signer of a deposit's configuration; 0 is none. */
export interface ConfigRow {
  readonly signer: WireSigner;
  readonly weight?: number;
  readonly expiresAtNs?: bigint;
  readonly maxSigningWindowNs?: bigint;
}

export interface ConfigTerms {
  readonly master?: number;
  readonly low?: number;
  readonly medium?: number;
  readonly high?: number;
}

/** What the master key signs of a deposit's configuration (wire.md 4.2). */
export function configText(
  { master = 1, low = 1, medium = 1, high = 1 }: ConfigTerms,
  rows: readonly ConfigRow[],
): string {
  const signers = rows.map(({ signer: { scheme, key }, weight = 1, expiresAtNs = 0n, maxSigningWindowNs = 0n }) => {
    const isPoint = scheme !== 'Ed25519';
    return (
      `{"key":[${[...key.subarray(isPoint ? 1 : 0)].join(',')}],"key_type":${KEY_TYPE[scheme]},` +
      `"key_prefix":${isPoint ? key[0] : 0},"weight":${weight},"expires_at_ns":${expiresAtNs},` +
      `"max_signing_window_ns":${maxSigningWindowNs}}`
    );
  });
  return (
    `{"master_weight":${master},"low_threshold":${low},"medium_threshold":${medium},"high_threshold":${high},` +
    `"signers":[${signers.join(',')}]}`
  );
}

/** The member `config` of an operator's deposit: the signed text and its signature. */
export function depositConfig(text: string, signature: Uint8Array): string {
  return `${text.slice(0, -1)},"master_config_signature":[${[...signature].join(',')}]}`;
}
