/**
 * Identifiers in their one normal form (wire.md 2.1, AMB-07, AMB-12).
 *
 *   UserId    64 lower-case hex digits: an Ed25519 public key
 *   AssetId   decimal index "0" … "65535", or "<64 hex>@<18 hex>" for a token on its chain; a market has its asset's id
 *   ChainId   18 lower-case hex digits: 1 byte routing id, 8 bytes big-endian vm id
 *   OrderId   1 to 64 of A-Z a-z 0-9 + / = _ - . :
 *
 * Inside the node they are compared as plain strings; only the HTTP layer accepts other spellings.
 */
import { parseHex, toHex } from './hex.ts';

declare const idBrand: unique symbol;
type Id<Name extends string> = string & { readonly [idBrand]: Name };

export type UserId = Id<'UserId'>;
export type AssetId = Id<'AssetId'>;
export type ChainId = Id<'ChainId'>;
export type OrderId = Id<'OrderId'>;

/** USD (IDN-03). */
export const USD: AssetId = '0' as AssetId;

const ASSET_INDEX_MAX = 65_535;
const ASSET_INDEX_FORM = /^(?:0|[1-9][0-9]{0,4})$/;
const ORDER_ID_FORM = /^[A-Za-z0-9+/=_\-.:]{1,64}$/;
/** Prefix of orders made by the node; rejected from clients (AMB-07). */
export const NODE_ORDER_PREFIX = 'sys-';

/** @returns null unless `text` is 32 bytes of hex. */
export function parseUserId(text: string): UserId | null {
  const bytes = parseHex(text, 32);
  return bytes === null ? null : (toHex(bytes) as UserId);
}

/** The id of 32 public-key bytes. */
export function userIdOf(publicKey: Uint8Array): UserId {
  return toHex(publicKey) as UserId;
}

export function parseChainId(text: string): ChainId | null {
  const bytes = parseHex(text, 9);
  return bytes === null ? null : (toHex(bytes) as ChainId);
}

/** 32 bytes of hex; 20 bytes are padded with zeros on the right (IDN-05). */
export function parseAddress(text: string): string | null {
  const whole = parseHex(text, 32);
  if (whole !== null) return toHex(whole);
  const short = parseHex(text, 20);
  return short === null ? null : toHex(short).padEnd(64, '0');
}

const NO_ADDRESS = '0'.repeat(64);
/** Behind an address of 20 bytes. */
const ADDRESS_PADDING = '0'.repeat(24);

/** Whether a vault may pay it: 20 bytes padded on the right, so that what is signed is what is paid, and not zero. */
export function isPayable(address: string): boolean {
  return address !== NO_ADDRESS && address.endsWith(ADDRESS_PADDING);
}

/** An index without a leading zero and at most 65535, or `<address>@<chain id>` in any accepted spelling. */
export function parseAssetId(text: string): AssetId | null {
  const at = text.indexOf('@');
  if (at < 0) return ASSET_INDEX_FORM.test(text) && Number(text) <= ASSET_INDEX_MAX ? (text as AssetId) : null;
  const address = parseAddress(text.slice(0, at));
  const chain = parseChainId(text.slice(at + 1));
  return address === null || chain === null ? null : (`${address}@${chain}` as AssetId);
}

/** Whether the id is a token on its chain, not an index. */
export function isToken(id: AssetId): boolean {
  return id.includes('@');
}

/** The halves of an asset in address form. */
export function tokenOfAsset(id: AssetId): { readonly token: string; readonly chainId: ChainId } {
  const [token = '', chainId = ''] = id.split('@');
  return { token, chainId: chainId as ChainId };
}

/** Whether the asset has an oracle: USD is 1 by definition, and a token on its chain has none (AMB-108). */
export function hasOracle(id: AssetId): boolean {
  return id !== USD && !isToken(id);
}

/** Parses a client's order id: alphabet, length, and not the node's prefix. */
export function parseOrderId(text: string): OrderId | null {
  return ORDER_ID_FORM.test(text) && !text.startsWith(NODE_ORDER_PREFIX) ? (text as OrderId) : null;
}

/** Whether the text is the id of an order that the node made: alphabet, length and prefix (AMB-07). */
export function isNodeOrderId(text: string): boolean {
  return text.startsWith(NODE_ORDER_PREFIX) && ORDER_ID_FORM.test(text);
}

/** Numerically, addresses after all indices, by bytes (AMB-105). */
export function compareAssetIds(a: AssetId, b: AssetId): number {
  const aIsIndex = !a.includes('@');
  const bIsIndex = !b.includes('@');
  if (aIsIndex && bIsIndex) return Number(a) - Number(b);
  if (aIsIndex !== bIsIndex) return aIsIndex ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
