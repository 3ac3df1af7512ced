/**
 * Frozen judge: how this was read and written by hand before shapes did.
 *
 * Signed settlements: the body of `POST /settlement/init`, the texts that the user and the market maker sign (wire.md 4.2,
 * 7.19, 14 C2), and the replies with approvals.
 *
 *   {"inner":{…},"signature":[…],"additional_signers":[…],"maker_order":{"inner":{…},"signature":[…]}}
 *
 * Amounts are texts of 18-decimal units, in hex unless the node is set to decimal; the received text is what is verified
 * (AMB-11). Without a nonce two texts verify: one without the member, and one that ends with `"nonce":null`; only `request_id`
 * stands behind that.
 */

import { type Draft, decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import { readAdditionalSigners, readSignature, type Signatures } from '../../src/codec/signatures.ts';
import {
  readUser,
  type Spelled,
  type SpelledUser,
  STRING_DECODED_MAX,
  signedString,
  signingBytes,
} from '../../src/codec/signed-text.ts';
import { type ChainId, parseAddress, parseChainId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { ActionRequest } from './signed-transfer.ts';
import { readAmountText, readRequestId, requestIdMember } from './signed-withdrawal.ts';

export type SettlementMode = 'margin' | 'spot';

/** As received, and 64 hex digits of it, right-padded. */
interface SpelledAddress {
  readonly text: string;
  readonly address: string;
}

export interface SignedSettlement {
  readonly user: SpelledUser;
  readonly subAccount: number;
  readonly settler: SpelledUser | null;
  readonly mode: SettlementMode;
  readonly assetIn: SpelledAddress;
  /** Both as received: 1 to 78 visible characters. */
  readonly amountIn: string;
  readonly assetOut: SpelledAddress;
  readonly amountOut: string;
  readonly chainId: Spelled<ChainId>;
  /** null: the next managed one. */
  readonly nonce: number | null;
  readonly expiresNs: bigint | null;
  /** `mm_pubkey`. */
  readonly maker: SpelledUser | null;
  readonly vault: SpelledAddress | null;
  /** Tells it from an equal request (MON-01); null without one. */
  readonly requestId: string | null;
}

/** What a market maker signs. */
export interface MakerOrder {
  readonly maker: SpelledUser;
  readonly settler: SpelledUser;
  readonly expiresNs: bigint;
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
}

export interface SettlementRequest extends ActionRequest<SignedSettlement> {
  /** The other text that verifies; null with a nonce. */
  readonly otherText: Uint8Array | null;
  readonly makerOrder: MakerOrder | null;
}

const WRAPPER = objectShape('skip', ['inner', 'signature', 'additional_signers?', 'maker_order?']);
const SETTLEMENT = objectShape('refuse', [
  'mode?',
  'asset_in',
  'amount_in',
  'asset_out',
  'amount_out',
  'tplus_user',
  'sub_account_index',
  'settler?',
  'chain_id',
  'nonce?',
  'expires_at?',
  'mm_pubkey?',
  'vault?',
  'request_id?',
]);
const MAKER_WRAPPER = objectShape('skip', ['inner', 'signature']);
const MAKER_ORDER = objectShape('refuse', ['mm_pubkey', 'settler', 'expires_at']);

const ACCOUNT_INDEX_MAX = 65_535;
const NO_ADDRESS: SpelledAddress = { text: '', address: '' };

export function decodeSettlement(bytes: Uint8Array, start: number, end: number): Outcome<SettlementRequest> {
  return decodeText(bytes, start, end, readRequest);
}

function readRequest(cursor: JsonCursor): SettlementRequest | null {
  let read: { readonly inner: SignedSettlement; readonly isNonceGiven: boolean } | null = null;
  let signature: Uint8Array = new Uint8Array();
  let additionalSigners: Signatures['additionalSigners'] = [];
  let makerOrder: MakerOrder | null = null;
  cursor.enterObject();
  for (let name = cursor.nextMember(WRAPPER); name !== null; name = cursor.nextMember(WRAPPER)) {
    if (name === 'inner') read = readSettlement(cursor);
    else if (name === 'signature') signature = readSignature(cursor);
    else if (name === 'additional_signers') additionalSigners = readAdditionalSigners(cursor);
    else makerOrder = cursor.readNull() ? null : readMakerOrder(cursor);
  }
  if (cursor.hasFailed || read === null) return null;
  const { inner, isNonceGiven } = read;
  const text = signingBytes(settlementText(inner, isNonceGiven));
  const otherText = inner.nonce === null ? signingBytes(settlementText(inner, !isNonceGiven)) : null;
  return { inner, signature, additionalSigners, text, otherText, makerOrder };
}

function readSettlement(cursor: JsonCursor): { readonly inner: SignedSettlement; readonly isNonceGiven: boolean } {
  const inner: Partial<Draft<SignedSettlement>> = {
    mode: 'margin',
    settler: null,
    nonce: null,
    expiresNs: null,
    maker: null,
    vault: null,
    requestId: null,
  };
  let isNonceGiven = false;
  cursor.enterObject();
  for (let name = cursor.nextMember(SETTLEMENT); name !== null; name = cursor.nextMember(SETTLEMENT)) {
    if (name === 'mode') inner.mode = readMode(cursor);
    else if (name === 'asset_in') inner.assetIn = readAddress(cursor);
    else if (name === 'amount_in') inner.amountIn = readAmountText(cursor);
    else if (name === 'asset_out') inner.assetOut = readAddress(cursor);
    else if (name === 'amount_out') inner.amountOut = readAmountText(cursor);
    else if (name === 'tplus_user') inner.user = readUser(cursor);
    else if (name === 'sub_account_index') inner.subAccount = cursor.readInteger(0, ACCOUNT_INDEX_MAX);
    else if (name === 'settler') inner.settler = readUserOrNull(cursor);
    else if (name === 'chain_id') inner.chainId = readChain(cursor);
    else if (name === 'expires_at') inner.expiresNs = cursor.readNull() ? null : cursor.readTime();
    else if (name === 'mm_pubkey') inner.maker = readUserOrNull(cursor);
    else if (name === 'request_id') inner.requestId = readRequestId(cursor);
    else if (name === 'vault') inner.vault = cursor.readNull() ? null : readAddress(cursor);
    else {
      isNonceGiven = true;
      inner.nonce = cursor.readNull() ? null : cursor.readInteger(0, Number.MAX_SAFE_INTEGER);
    }
  }
  return { inner: inner as SignedSettlement, isNonceGiven };
}

function readMakerOrder(cursor: JsonCursor): MakerOrder | null {
  let inner: Pick<MakerOrder, 'maker' | 'settler' | 'expiresNs'> | null = null;
  let signature: Uint8Array = new Uint8Array();
  cursor.enterObject();
  for (let name = cursor.nextMember(MAKER_WRAPPER); name !== null; name = cursor.nextMember(MAKER_WRAPPER)) {
    if (name === 'inner') inner = readMakerInner(cursor);
    else signature = readSignature(cursor);
  }
  if (cursor.hasFailed || inner === null) return null;
  return { ...inner, signature, text: signingBytes(makerOrderText(inner)) };
}

function readMakerInner(cursor: JsonCursor): Pick<MakerOrder, 'maker' | 'settler' | 'expiresNs'> {
  const inner: Partial<Draft<MakerOrder>> = {};
  cursor.enterObject();
  for (let name = cursor.nextMember(MAKER_ORDER); name !== null; name = cursor.nextMember(MAKER_ORDER)) {
    if (name === 'mm_pubkey') inner.maker = readUser(cursor);
    else if (name === 'settler') inner.settler = readUser(cursor);
    else inner.expiresNs = cursor.readTime();
  }
  return inner as MakerOrder;
}

function readUserOrNull(cursor: JsonCursor): SpelledUser | null {
  return cursor.readNull() ? null : readUser(cursor);
}

function readMode(cursor: JsonCursor): SettlementMode {
  const mode = cursor.readString();
  if (mode === 'margin' || mode === 'spot') return mode;
  cursor.fail('expected margin or spot');
  return 'margin';
}

/** An address of the chain, without `@chain`. */
function readAddress(cursor: JsonCursor): SpelledAddress {
  const text = cursor.readString(STRING_DECODED_MAX);
  const address = parseAddress(text);
  if (address === null) cursor.fail('expected an address of 64 hex digits');
  return address === null ? NO_ADDRESS : { text, address };
}

function readChain(cursor: JsonCursor): Spelled<ChainId> {
  const text = cursor.readString(STRING_DECODED_MAX);
  const id = parseChainId(text);
  if (id === null) cursor.fail('expected a chain id of 18 hex digits');
  return { id: id ?? ('' as ChainId), text };
}

/** Canonical text of a settlement. @param isNonceNamed whether a nonce that is not set is named, at the end (C2). */
export function settlementText(inner: SignedSettlement, isNonceNamed: boolean): string {
  const { user, settler, mode, assetIn, assetOut, amountIn, amountOut, chainId, nonce, expiresNs, maker, vault } =
    inner;
  return (
    `{"tplus_user":"${signedString(user.text)}","sub_account_index":${inner.subAccount},` +
    `"settler":${signedStringOrNull(settler?.text ?? null)},"mode":"${mode}",` +
    `"asset_in":"${signedString(assetIn.text)}","amount_in":"${signedString(amountIn)}",` +
    `"asset_out":"${signedString(assetOut.text)}","amount_out":"${signedString(amountOut)}",` +
    `"chain_id":"${signedString(chainId.text)}"${nonce === null ? '' : `,"nonce":${nonce}`},` +
    `"expires_at":${expiresNs},"mm_pubkey":${signedStringOrNull(maker?.text ?? null)}` +
    `${vault === null ? '' : `,"vault":"${signedString(vault.text)}"`}` +
    `${nonce === null && isNonceNamed ? ',"nonce":null' : ''}${requestIdMember(inner.requestId)}}`
  );
}

/** Canonical text of a maker's order. */
function makerOrderText({ maker, settler, expiresNs }: Pick<MakerOrder, 'maker' | 'settler' | 'expiresNs'>): string {
  return (
    `{"mm_pubkey":"${signedString(maker.text)}","settler":"${signedString(settler.text)}",` +
    `"expires_at":${expiresNs}}`
  );
}

/** A signed string or null. */
function signedStringOrNull(text: string | null): string {
  return text === null ? 'null' : `"${signedString(text)}"`;
}
