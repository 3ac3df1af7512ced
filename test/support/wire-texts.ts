/**
 * Keys and canonical texts written from wire.md alone (sections 4 and 7), so that a test of the contract does not lean on
 * the code under test. Prices, quantities and quote amounts are raw integers.
 */
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { getPublicKey, hashes } from '@noble/ed25519';

hashes.sha512 = (bytes) => new Uint8Array(createHash('sha512').update(bytes).digest());

// ---- keys and canonical texts (wire.md 4)

/** What stands before the seed in a private key of this kind (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** An Ed25519 key from a seed of 32 equal bytes, as the vectors have them. */
export class PlainKey {
  /** 64 lower-case hex digits. */
  readonly id: string;
  readonly #key: KeyObject;

  constructor(seedByte: number) {
    const seed = Buffer.alloc(32, seedByte);
    this.id = Buffer.from(getPublicKey(seed)).toString('hex');
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  }

  /** Over the bytes as they are; a text is its UTF-8 bytes. */
  sign(message: string | Uint8Array): Uint8Array {
    return sign(null, typeof message === 'string' ? Buffer.from(message, 'utf8') : message, this.#key);
  }

  /** Over the canonical bytes of a signable text; the wire form is 64 integers. */
  signature(text: string): string {
    return `[${this.sign(canonical(text)).join(',')}]`;
  }
}

/** Bytes 0x20, 0x0D and 0x0A are deleted, also inside strings; a tab stays. */
export function canonical(text: string): string {
  return text.replace(/[ \r\n]/g, '');
}

export type Decimals = readonly [price: number, quantity: number];

/** Of the seeded markets. */
const DECIMALS: Readonly<Record<string, Decimals>> = {
  '1': [1, 5],
  '2': [2, 4],
  '3': [4, 1],
};

// ---- details and triggers of orders (wire.md 7.4)

export type Tif = 'GTC' | 'POST' | 'IOC' | 'FOK' | { readonly gtd: bigint };

function tifText(tif: Tif): string {
  if (typeof tif === 'object') return `{"GTD":{"post_only":false,"timestamp_ns":${tif.gtd}}}`;
  if (tif === 'IOC' || tif === 'FOK') return `{"IOC":{"fill_or_kill":${tif === 'FOK'}}}`;
  return `{"GTC":{"post_only":${tif === 'POST'}}}`;
}

export function limit(price: number, quantity: number, tif: Tif = 'GTC'): string {
  return limitDetails(price, quantity, tifText(tif));
}

function limitDetails(price: number, quantity: number, tif: string): string {
  return `{"Limit":{"limit_price":${price},"quantity":${quantity},"time_in_force":${tif}}}`;
}

interface MarketTerms {
  readonly cap?: number;
  readonly isFok?: boolean;
}

/** Sized in base; the cap is a quote integer. */
export function marketBase(quantity: number, { cap, isFok = false }: MarketTerms = {}): string {
  const sized = `{"BaseAsset":{"quantity":${quantity},"max_sellable_amount":${cap ?? null}}}`;
  return `{"Market":{"quantity":${sized},"fill_or_kill":${isFok}}}`;
}

/** Sized in quote; the cap is a base quantity. */
export function marketQuote(amount: number, { cap, isFok = false }: MarketTerms = {}): string {
  const sized = `{"QuoteAsset":{"quantity":${amount},"max_sellable_quantity":${cap ?? null}}}`;
  return `{"Market":{"quantity":${sized},"fill_or_kill":${isFok}}}`;
}

export function above(price: number, parent: string | null = null): string {
  return triggerText('PriceAbove', price, parent);
}

export function below(price: number, parent: string | null = null): string {
  return triggerText('PriceBelow', price, parent);
}

function triggerText(condition: string, price: number, parent: string | null): string {
  const parentText = parent === null ? 'null' : `"${parent}"`;
  return `{"parent_order_id":${parentText},"condition":{"${condition}":{"price":${price}}}}`;
}

// ---- texts

export type Side = 'Buy' | 'Sell';

/** Raw integers; everything else has the default a plain spot order has. */
export interface OrderWords {
  readonly id: string;
  readonly side?: Side;
  readonly price?: number;
  readonly quantity?: number;
  readonly tif?: string;
  /** In place of the limit details. */
  readonly details?: string;
  readonly asset?: string;
  readonly account?: number;
  readonly isSpot?: boolean;
  readonly reduceOnly?: boolean;
  readonly trigger?: string;
  readonly maxFee?: number;
  readonly createdNs: bigint;
  /** Of the market; a seeded one has its own. */
  readonly decimals?: Decimals;
}

export const GTC: string = tifText('GTC');
export const POST_ONLY: string = tifText('POST');
export const IOC: string = tifText('IOC');
export const FOK: string = tifText('FOK');

export function orderText(signer: string, words: OrderWords): string {
  const { asset = '2', side = 'Sell', price = 300_000, quantity = 1_000, tif = GTC } = words;
  const [priceDecimals, quantityDecimals] = words.decimals ?? DECIMALS[asset] ?? [2, 4];
  return (
    `{"signer":"${signer}","order_id":"${words.id}","base_asset":"${asset}","book_price_decimals":${priceDecimals},` +
    `"book_quantity_decimals":${quantityDecimals},"details":${words.details ?? limitDetails(price, quantity, tif)},"side":"${side}",` +
    `"trigger":${words.trigger ?? 'null'},"creation_timestamp_ns":${words.createdNs},` +
    `"target":{"account":${words.account ?? 0},"is_spot":${words.isSpot ?? true}},` +
    `"reduce_only":${words.reduceOnly ?? false},"max_trading_fees_rate":${words.maxFee ?? 50_000},"protocol_version":1}`
  );
}

export interface ReplaceWords {
  readonly id: string;
  readonly asset?: string;
  readonly price?: number | null;
  readonly quantity?: number | null;
  /** The bare condition. */
  readonly trigger?: string;
  readonly timestampNs: bigint;
  readonly decimals?: Decimals;
  /** Complete terms (wire-additions.md 3): the market is in the text. */
  readonly isComplete?: boolean;
}

/** Quantity decimals stand before price decimals here, the reverse of a create. */
export function replaceText(words: ReplaceWords): string {
  const [priceDecimals, quantityDecimals] = words.decimals ?? DECIMALS[words.asset ?? '2'] ?? [2, 4];
  const market = words.isComplete === true ? `"base_asset":"${words.asset ?? '2'}",` : '';
  return (
    `{"order_id":"${words.id}",${market}"timestamp_ns":${words.timestampNs},"new_price_limit":${words.price ?? null},` +
    `"new_quantity":${words.quantity ?? null},"new_trigger":${words.trigger ?? null},"book_quantity_decimals":${quantityDecimals},` +
    `"book_price_decimals":${priceDecimals},"protocol_version":1}`
  );
}

export function cancelText(signer: string, id: string, asset = '2'): string {
  return `{"order_id":"${id}","asset_id":"${asset}","signer":"${signer}","protocol_version":1}`;
}

export interface TransferWords {
  readonly source: number;
  readonly target: number;
  readonly asset?: string;
  readonly amount: string;
  /** As JSON: `null`, `"CrossMargin"`, `{"Isolated":{"asset":"3"}}`. */
  readonly type?: string;
  readonly nonce: number | bigint;
}

export function transferText(user: string, words: TransferWords): string {
  return (
    `{"user":"${user}","source_index":${words.source},"target_index":${words.target},` +
    `"transfer_asset":"${words.asset ?? '0'}","transfer_amount":"${words.amount}",` +
    `"target_account_type":${words.type ?? 'null'},"nonce":${words.nonce}}`
  );
}

export function closePositionText(user: string, account: number, asset: string, nonce: number): string {
  return `{"user":"${user}","account":${account},"asset_identifier":"${asset}","nonce":${nonce}}`;
}

export interface WithdrawalWords {
  readonly asset: string;
  readonly amount: string;
  /** As JSON; `null` when left out. */
  readonly nonce?: number | null;
  readonly target: string;
  /** Signed as the last member; none when left out. */
  readonly requestId?: string;
}

export function withdrawalText(user: string, words: WithdrawalWords): string {
  const { asset, amount, nonce = null, target, requestId } = words;
  return (
    `{"tplus_user":"${user}","asset":"${asset}","amount":"${amount}","nonce":${nonce},"target":"${target}"` +
    `${requestIdMember(requestId)}}`
  );
}

function requestIdMember(requestId: string | undefined): string {
  return requestId === undefined ? '' : `,"request_id":"${requestId}"`;
}

/** @param requestedNs of the row; signed as the last member. */
export function withdrawalCancelText(user: string, asset: string, nonce: number, requestedNs?: bigint): string {
  const named = requestedNs === undefined ? '' : `,"requested_at_ns":${requestedNs}`;
  return `{"tplus_user":"${user}","asset_address":"${asset}","nonce":${nonce}${named}}`;
}

export interface SettlementWords {
  readonly subAccount?: number;
  readonly settler?: string | null;
  readonly mode?: 'margin' | 'spot';
  readonly assetIn: string;
  readonly amountIn: string;
  readonly assetOut: string;
  readonly amountOut: string;
  readonly chainId?: string;
  readonly nonce?: number;
  readonly expiresNs?: bigint | null;
  readonly maker?: string | null;
  readonly vault?: string;
  /** Signed as the last member; none when left out. */
  readonly requestId?: string;
}

const quoted = (text: string | null): string => (text === null ? 'null' : `"${text}"`);

/** What is signed (wire.md 4.2); a nonce stands between chain and expiry. */
export function settlementText(user: string, words: SettlementWords): string {
  const { subAccount = 0, settler = null, mode = 'spot', assetIn, amountIn, assetOut, amountOut } = words;
  const { chainId = '000000000000007a69', nonce, expiresNs = null, maker = null, vault, requestId } = words;
  return (
    `{"tplus_user":"${user}","sub_account_index":${subAccount},"settler":${quoted(settler)},"mode":"${mode}",` +
    `"asset_in":"${assetIn}","amount_in":"${amountIn}","asset_out":"${assetOut}","amount_out":"${amountOut}",` +
    `"chain_id":"${chainId}"${nonce === undefined ? '' : `,"nonce":${nonce}`},"expires_at":${expiresNs},` +
    `"mm_pubkey":${quoted(maker)}${vault === undefined ? '' : `,"vault":"${vault}"`}${requestIdMember(requestId)}}`
  );
}

export function makerOrderText(maker: string, settler: string, expiresNs: bigint): string {
  return `{"mm_pubkey":"${maker}","settler":"${settler}","expires_at":${expiresNs}}`;
}

export interface NewSignerWords {
  /** As JSON: `{"P256":[2,…]}`. */
  readonly signer: string;
  readonly weight: number;
  readonly durationNs?: bigint | null;
  readonly ceNonce: number;
  /** With it the second text of G9. */
  readonly omsNonce?: string;
}

/** The two texts of wire.md G9; their members have another order. */
export function addSignerText(user: string, words: NewSignerWords): string {
  const { signer, weight, durationNs = null, ceNonce, omsNonce } = words;
  const terms = `"signer":${signer},"weight":${weight},"session_duration_ns":${durationNs}`;
  return omsNonce === undefined
    ? `{"user":"${user}",${terms},"ce_nonce":${ceNonce}}`
    : `{"user":"${user}","oms_nonce":"${omsNonce}","ce_nonce":${ceNonce},${terms}}`;
}

// ---- wrappers (wire.md 7.4 to 7.6, 7.17)

export function createBody(
  key: PlainKey,
  text: string,
  nowNs: bigint,
  signature: string = key.signature(text),
): string {
  return `{"order":${text},"signature":${signature},"post_sign_timestamp":${nowNs}}`;
}

/** @param signed in place of the text itself. */
export function replaceBody(key: PlainKey, text: string, nowNs: bigint, asset = '2', signed: string = text): string {
  const market = text.includes('"base_asset":') ? '' : `,"asset_id":"${asset}"`;
  const outer = `"signer":"${key.id}"${market}`;
  return `{"request":${text},${outer},"signature":${key.signature(signed)},"post_sign_timestamp":${nowNs}}`;
}

export function cancelBody(key: PlainKey, text: string, nowNs: bigint): string {
  return `{"cancel":${text},"signature":${key.signature(text)},"post_sign_timestamp":${nowNs}}`;
}

export function innerBody(key: PlainKey, text: string): string {
  return `{"inner":${text},"signature":${key.signature(text)},"additional_signers":[]}`;
}
