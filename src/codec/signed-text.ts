/**
 * Converts canonical text to the signed bytes (wire.md 4.1), and checks the strings allowed in such a text.
 *
 * Clients delete the bytes 0x20, 0x0D and 0x0A from the whole text before they sign. The templates of this module
 * contain none of them, and every string that goes into a template has passed its strict form (AMB-03), so there is
 * nothing to delete: `signedString` asserts exactly that, so `"a b"` can never sign like `"ab"`.
 */
import { assert } from '../core/assert.ts';
import {
  type AssetId,
  type ChainId,
  parseAddress,
  parseAssetId,
  parseChainId,
  parseUserId,
  type UserId,
} from '../core/ids.ts';
import { SIGNED_TEXT_BYTES_MAX } from '../core/limits.ts';
import type { Amount18 } from '../core/units.ts';
import type { JsonCursor } from './json-cursor.ts';
import { KnownTexts } from './known-texts.ts';

/** Longer ids are not decoded; the validation of shorter ones has its own error. */
export const STRING_DECODED_MAX = 1_024;

/** Visible ASCII without `"` and `\`: needs no escape and contains no stripped byte. */
const SIGNED_STRING_FORM = /^[!#-[\]-~]*$/;
const PLAIN_USER_FORM = /^[0-9a-f]{64}$/;
const PLAIN_ASSET_FORM = /^[0-9a-f]{64}@[0-9a-f]{18}$/;

/** @returns `text`, for use between quotes in a canonical text. */
export function signedString(text: string): string {
  assert(SIGNED_STRING_FORM.test(text), 'a signed string is visible ASCII that needs no escape');
  return text;
}

/** The bytes of a canonical text. It is ASCII, so a byte is a character. */
export function signingBytes(text: string): Uint8Array {
  assert(text.length <= SIGNED_TEXT_BYTES_MAX, 'a signed text is within its limit');
  return Buffer.from(text, 'latin1');
}

/** An id in normal form with its received spelling, which is what was signed (AMB-12). */
export interface Spelled<Id extends string> {
  readonly id: Id;
  readonly text: string;
}

export type SpelledUser = Spelled<UserId>;
export type SpelledAsset = Spelled<AssetId>;
export type SpelledChain = Spelled<ChainId>;

/** As received, and 64 hex digits of it, right-padded. */
export interface SpelledAddress {
  readonly text: string;
  readonly address: string;
}

/** Of this thread. */
const knownUsers = new KnownTexts<SpelledUser>();
const knownAssets = new KnownTexts<SpelledAsset>();

/** The value before an id is read. */
export const NO_USER: SpelledUser = { id: '' as UserId, text: '' };
export const NO_ASSET: SpelledAsset = { id: '' as AssetId, text: '' };

/** Reads a user id in any accepted spelling. The normal one, the usual case, takes one check. */
export function readUser(cursor: JsonCursor): SpelledUser {
  const known = cursor.readKnown(knownUsers);
  if (known !== null) return known;
  const text = cursor.readString(STRING_DECODED_MAX);
  const id = PLAIN_USER_FORM.test(text) ? (text as UserId) : parseUserId(text);
  if (id === null) cursor.fail('expected a user id of 64 hex digits');
  return id === null ? NO_USER : remembered(knownUsers, { id, text });
}

/** Reads an asset id in any accepted spelling. */
export function readAsset(cursor: JsonCursor): SpelledAsset {
  const known = cursor.readKnown(knownAssets);
  if (known !== null) return known;
  const asset = assetIn(cursor.readString(STRING_DECODED_MAX));
  if (asset === null) cursor.fail('expected an asset id');
  return asset === null ? NO_ASSET : remembered(knownAssets, asset);
}

/** Reads a string that has only one value. */
export function readWord(cursor: JsonCursor, word: string): void {
  if (cursor.readString(STRING_DECODED_MAX) !== word) cursor.fail(`expected "${word}"`);
}

/** An asset id in any accepted spelling; null for any other text. */
export function assetIn(text: string): SpelledAsset | null {
  const id = PLAIN_ASSET_FORM.test(text) ? (text as AssetId) : parseAssetId(text);
  return id === null ? null : { id, text };
}

/** Reads a token on its chain: an index is none. */
export function readToken(cursor: JsonCursor): SpelledAsset {
  const asset = readAsset(cursor);
  if (asset.id !== '' && !asset.id.includes('@')) cursor.fail('expected <token>@<chain id>');
  return asset;
}

/** Reads an address of a chain, without `@chain`. */
export function readAddress(cursor: JsonCursor): SpelledAddress {
  const text = cursor.readString(STRING_DECODED_MAX);
  const address = parseAddress(text);
  if (address === null) cursor.fail('expected an address of 64 hex digits');
  return { text, address: address ?? '' };
}

/** Reads a chain id in any accepted spelling. */
export function readChain(cursor: JsonCursor): SpelledChain {
  const text = cursor.readString(STRING_DECODED_MAX);
  const id = parseChainId(text);
  if (id === null) cursor.fail('expected a chain id of 18 hex digits');
  return { id: id ?? ('' as ChainId), text };
}

function remembered<Id extends string>(table: KnownTexts<Spelled<Id>>, spelled: Spelled<Id>): Spelled<Id> {
  table.add(spelled);
  return spelled;
}

// ---- amounts: texts of 18-decimal units, verified as they were received (AMB-11)

const U256_FORM = /^(?:0|[1-9][0-9]{0,77})$/;
const U256_LIMIT = 1n << 256n;

/** Reads a base-10 text below 2^256. */
export function readU256Text(cursor: JsonCursor): string {
  const text = cursor.readString();
  if (!U256_FORM.test(text) || BigInt(text) >= U256_LIMIT) cursor.fail('expected a base-10 integer below 2^256');
  return text;
}

/** How withdrawal and settlement amounts are written (setting `amount_text`). */
export type AmountText = 'hex' | 'decimal';

const HEX_FORM = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;
const DECIMAL_FORM = /^[0-9]{1,78}$/;

/** The amount that a text stands for; null when it is none, zero, or above 256 bits. */
export function parseAmountText(text: string, form: AmountText): Amount18 | null {
  const digits = form === 'hex' ? HEX_FORM.exec(text)?.[1] : DECIMAL_FORM.exec(text)?.[0];
  if (digits === undefined) return null;
  const amount = BigInt(form === 'hex' ? `0x${digits}` : digits);
  return amount > 0n && amount < U256_LIMIT ? (amount as Amount18) : null;
}

/** The text of an amount: lower-case hex without prefix, or decimal. */
export function amountText(amount: Amount18, form: AmountText): string {
  return amount.toString(form === 'hex' ? 16 : 10);
}
