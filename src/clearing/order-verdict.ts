/**
 * Clearing's own look at an order before its first fill (GEN-05, FIL-09, MSG-35): who signed and what they weigh, every
 * signature over the text, and the text against the record of the order. All of it must hold; gateway and market are not
 * trusted: a signature is verified here unless the verifier has attested exactly these bytes (crypto/attestations.ts).
 *
 * Signers are judged by the configuration of now, except for an order that was admitted before weights and thresholds
 * came into force: by the default, which the account had then (docs/decisions/0031). Their windows are judged at the
 * order's creation, and where they had ended by its admission it was not created long before (MSG-34, MON-12).
 */

import { orderOfText, quoteSetOfText, type SignedOrder } from '../codec/order-actions.ts';
import type { OrderDetails } from '../codec/order-details.ts';
import type { Signatures } from '../codec/signatures.ts';
import { signaturesOf } from '../codec/stored-signatures.ts';
import { must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { AssetId } from '../core/ids.ts';
import { QUOTE_TEXT_BYTES_MAX, SIGNED_TEXT_BYTES_MAX, VERIFIED_TEXT_BYTES_MAX } from '../core/limits.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { ORDER_FLAG, ORDER_KIND, TIF, TRIGGER } from '../core/order-terms.ts';
import { SECOND_NS } from '../core/units.ts';
import { verifyCoSignatures } from '../crypto/co-signature.ts';
import { verify } from '../crypto/ed25519.ts';
import type { WebAuthnPolicy } from '../crypto/webauthn.ts';
import type { OrderRow, RevisionTerms, SignedText } from './rows.ts';
import {
  CO_SIGNED_AGE_MAX_NS,
  DEFAULT_SIGNERS,
  refuseOrderSigners,
  type SignerConfig,
} from './signers/signer-config.ts';

export interface OrderToVerify {
  readonly row: OrderRow;
  readonly signed: SignedText;
  /** The asset of its market. */
  readonly asset: AssetId;
  /** The signers of its account now. */
  readonly config: SignerConfig;
}

/** A revision of a quote set, with what its market has (QTE-07). */
export interface QuoteSetToVerify {
  readonly set: RevisionTerms;
  readonly market: Pick<MarketDefinition, 'assetId' | 'priceDecimals' | 'quantityDecimals'>;
  readonly config: SignerConfig;
}

/** The text that is being verified. */
const textBytes = Buffer.alloc(VERIFIED_TEXT_BYTES_MAX);

/** What signatures are judged by. */
export interface OrderVerifiers {
  /** The policy for WebAuthn assertions; null: none is valid. */
  readonly webauthn: WebAuthnPolicy | null;
  /** Whether the verifier has found these signatures, as they are stored, over this text valid. */
  readonly isAttested: (key: Uint8Array, text: Uint8Array, signatures: Uint8Array) => boolean;
}

/** @returns the verdict that is journaled; the check is made once per order. */
export function verifyOrder({ row, signed, asset, config }: OrderToVerify, verifiers: OrderVerifiers): boolean {
  const { text } = signed;
  if (text.length > SIGNED_TEXT_BYTES_MAX) return false;
  const bytes = textBytes.subarray(0, textBytes.write(text, 'latin1'));
  const signatures = signaturesOf(signed.signatures);
  return (
    mayPlace(row, signatures, config) &&
    isSigned(row, { text: bytes, signatures, stored: signed.signatures }, verifiers) &&
    isOfText(row, asset, text, bytes)
  );
}

/** @returns the verdict on a revision, journaled: the check is made once, with its first fill. */
export function verifyQuoteSet({ set, market, config }: QuoteSetToVerify, verifiers: OrderVerifiers): boolean {
  const { text, user, appliedNs: admittedNs, revisionNs: creationNs } = set;
  if (text.length === 0 || text.length > QUOTE_TEXT_BYTES_MAX) return false;
  const bytes = textBytes.subarray(0, textBytes.write(text, 'latin1'));
  const signatures = signaturesOf(set.signatures);
  return (
    mayPlace({ admittedNs, creationNs }, signatures, config) &&
    isSigned({ user }, { text: bytes, signatures, stored: set.signatures }, verifiers) &&
    isOfQuoteText(set, market, bytes)
  );
}

/** The text is the canonical one of a set with these terms; its prices and lots are compared with each fill (quote-sets.ts). */
function isOfQuoteText(set: RevisionTerms, market: QuoteSetToVerify['market'], bytes: Uint8Array): boolean {
  const quotes = quoteSetOfText(bytes);
  // mutant: quote-text-terms
  return (
    quotes !== null &&
    quotes.signer.id === set.user &&
    quotes.setId === set.setId &&
    quotes.baseAsset.id === market.assetId &&
    quotes.bookPriceDecimals === market.priceDecimals &&
    quotes.bookQuantityDecimals === market.quantityDecimals &&
    quotes.revisionNs === set.revisionNs &&
    quotes.account === set.subAccount &&
    Math.min(quotes.maxTradingFeesRate, FEE_RATE_MAX) === set.maxFeeRate &&
    (quotes.goodUntilNs ?? 0n) === set.goodUntilNs &&
    (ORDER_FLAG.postOnly | (quotes.isSpot ? ORDER_FLAG.isSpot : 0)) === (set.flags & ~ORDER_FLAG.cancelOnDisconnect)
  );
}

/** A limit above every rate is kept as the largest uint. */
const FEE_RATE_MAX = 0xffff_ffff;
/** What an order may have spent between the gateway, which judges its age first, and its market. */
const ADMISSION_MAX_NS = 60n * SECOND_NS;

/** Registered, each once, unexpired, and together heavy enough (MSG-35, MSG-37). */
function mayPlace(
  { admittedNs, creationNs }: Pick<OrderRow, 'admittedNs' | 'creationNs'>,
  signatures: Signatures,
  config: SignerConfig,
): boolean {
  // mutant: order-before-configuration
  const inForce = admittedNs < config.setNs ? DEFAULT_SIGNERS : config;
  const signedBy = { hasMaster: signatures.signature.length > 0, coSigners: signatures.additionalSigners };
  const times = { creationNs, arrivalNs: admittedNs };
  // mutant: order-signers-in-clearing
  return refuseOrderSigners(inForce, signedBy, times, CO_SIGNED_AGE_MAX_NS + ADMISSION_MAX_NS) === null;
}

interface SignedBytes {
  readonly text: Buffer;
  readonly signatures: Signatures;
  /** The same as bytes (codec/stored-signatures.ts). */
  readonly stored: Uint8Array;
}

/**
 * All signatures that there are: attested by the verifier, or verified here. The digest of an attestation is computed over
 * what is booked: the key is that of the order's user, text and signatures are those that are stored with the order.
 */
function isSigned(
  row: Pick<OrderRow, 'user'>,
  { text, signatures, stored }: SignedBytes,
  verifiers: OrderVerifiers,
): boolean {
  const key = must(parseHex(row.user, 32), 'a user id is 32 bytes of hex');
  if (verifiers.isAttested(key, text, stored)) return true;
  const { signature, additionalSigners } = signatures;
  // mutant: unattested-is-verified
  if (signature.length > 0 && !verify(signature, text, key)) return false;
  return verifyCoSignatures(additionalSigners, text, verifiers.webauthn);
}

/** The text is the canonical one of an order with exactly these terms. A replace has moved some of them on. */
function isOfText(row: OrderRow, asset: AssetId, text: string, bytes: Uint8Array): boolean {
  const order = orderOfText(bytes);
  if (order === null) return false;
  const isReplaced = row.timestampNs !== row.creationNs;
  return (
    isSameOrder(order, row, { asset, text }) && (isReplaced || (isSameSize(order, row) && isSameTrigger(order, row)))
  );
}

/** Flags that the node sets on its own. */
const OWN_FLAGS = ORDER_FLAG.cancelPending | ORDER_FLAG.rolledBack | ORDER_FLAG.entering;

/** What no replace can change. */
function isSameOrder(
  order: SignedOrder,
  row: OrderRow,
  { asset, text }: { readonly asset: AssetId; readonly text: string },
): boolean {
  return (
    order.signer.id === row.user &&
    order.orderId === row.orderId &&
    order.baseAsset.id === asset &&
    order.side === row.side &&
    order.account === row.subAccount &&
    order.creationNs === row.creationNs &&
    order.maxTradingFeesRate === row.maxFeeRate &&
    flagsOf(order) === (row.flags & ~OWN_FLAGS) &&
    (order.trigger?.parentOrderId ?? '') === parentIdIn(text, row) &&
    isSameKind(order.details, row)
  );
}

/** The id of its parent as the record refers to it. */
function parentIdIn(text: string, { parentIdAt, parentIdBytes }: OrderRow): string {
  return text.slice(parentIdAt, parentIdAt + parentIdBytes);
}

function flagsOf({ details, reduceOnly, isSpot }: SignedOrder): number {
  const postOnly = details.kind === 'limit' && details.postOnly ? ORDER_FLAG.postOnly : 0;
  return postOnly | (reduceOnly ? ORDER_FLAG.reduceOnly : 0) | (isSpot ? ORDER_FLAG.isSpot : 0);
}

/** Kind and time in force, and the figures of a market order, which never change. */
function isSameKind(details: OrderDetails, row: OrderRow): boolean {
  if (details.kind === 'limit') {
    const goodUntilNs = details.tif === TIF.gtd ? details.goodUntilNs : 0n;
    return row.kind === ORDER_KIND.limit && details.tif === row.tif && goodUntilNs === row.goodUntilNs;
  }
  const tif = details.fillOrKill ? TIF.fok : TIF.ioc;
  if (tif !== row.tif || row.goodUntilNs !== 0n) return false;
  if (details.kind === 'market-base') {
    return row.kind === ORDER_KIND.marketBase && (details.maxSellableAmount ?? 0) === row.amount;
  }
  return (
    row.kind === ORDER_KIND.marketQuote &&
    details.amount === row.amount &&
    (details.maxSellableQuantity ?? 0) === row.quantity
  );
}

/**
 * What the node reduces keeps its time and is smaller than it was signed: a child by what its parent cannot activate any
 * more (AMB-29), a limit order that rests by auto-reduce (AR-01, AMB-61), a reduce-only order that a trigger released by
 * its room (MON-09).
 */
function isSameSize({ details }: SignedOrder, row: OrderRow): boolean {
  if (details.kind === 'market-quote') return true;
  const isResting = row.tif === TIF.gtc || row.tif === TIF.gtd;
  const isReleased = (row.flags & ORDER_FLAG.reduceOnly) !== 0 && row.triggerKind !== TRIGGER.none;
  const mayBeSmaller = row.parentIdBytes !== 0 || isReleased || (details.kind === 'limit' && isResting);
  const isSigned = mayBeSmaller ? row.quantity <= details.quantity : row.quantity === details.quantity;
  return isSigned && (details.kind !== 'limit' || details.limitPrice === row.price);
}

function isSameTrigger({ trigger }: SignedOrder, row: OrderRow): boolean {
  if (trigger === null) return row.triggerKind === TRIGGER.none;
  const kind = trigger.condition.direction === 'PriceAbove' ? TRIGGER.above : TRIGGER.below;
  return row.triggerKind === kind && row.triggerPrice === trigger.condition.price;
}
