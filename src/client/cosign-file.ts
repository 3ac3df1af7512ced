/**
 * Co-signing on several machines by a file: one side writes the canonical text of an action with what it means in human terms; each
 * co-signer reads it, checks it, and adds its signature; any of them sends it.
 *
 * The description in the file is not trusted: the meaning is read from the text anew, and a file with another description is
 * refused. Nothing secret is in it.
 */
import { isJsonObject, type JsonValue, MemberReader, parseJsonObject } from '../codec/json-tree.ts';
import { type AdditionalSigner, ASSERTION_BYTES_MAX, type Signatures } from '../codec/signatures.ts';
import { toHex } from '../core/hex.ts';
import { parseAssetId, parseUserId, type UserId } from '../core/ids.ts';
import { checkSignatures } from './action-signers.ts';
import { parsePublicKey, publicKeyText } from './co-signer-files.ts';
import { type CoSigner, coSign } from './co-signers.ts';
import { invalidArgument } from './errors.ts';
import { type MeaningLine, type ReadOptions, readAction } from './read-action.ts';
import type { UnsignedAction } from './signed-actions.ts';

/** An action with the signatures that it has so far. */
export interface CosignRequest {
  readonly action: UnsignedAction;
  readonly meaning: readonly MeaningLine[];
  readonly signatures: Signatures;
}

const VERSION = 1n;
const NO_SIGNATURES: Signatures = { signature: new Uint8Array(), additionalSigners: [] };

/** A request to co-sign an action; it may have signatures already. @throws RingbookError INVALID_ARGUMENT. */
export function cosignRequest(
  action: UnsignedAction,
  { amountText }: Pick<ReadOptions, 'amountText'>,
  signatures: Signatures = NO_SIGNATURES,
): CosignRequest {
  const { meaning } = readAction(action.text, { amountText, assetId: action.assetId });
  return { action, meaning, signatures };
}

/** The same with one signature more. @throws RingbookError INVALID_ARGUMENT when the key has signed it. */
export function withCoSigner(request: CosignRequest, coSigner: CoSigner): CosignRequest {
  return withSignatures(request, { ...NO_SIGNATURES, additionalSigners: coSign([coSigner], request.action.text) });
}

/** The same with the signatures of two copies, which different co-signers signed. @throws RingbookError INVALID_ARGUMENT. */
export function merged(request: CosignRequest, other: CosignRequest): CosignRequest {
  if (request.action.text !== other.action.text || request.action.user !== other.action.user) {
    throw invalidArgument('the files are of different actions');
  }
  const have = new Set(request.signatures.additionalSigners.map(publicKeyText));
  const additionalSigners = other.signatures.additionalSigners.filter((entry) => !have.has(publicKeyText(entry)));
  return withSignatures(request, { signature: other.signatures.signature, additionalSigners });
}

function withSignatures(request: CosignRequest, more: Signatures): CosignRequest {
  const { signature, additionalSigners } = request.signatures;
  const signatures = {
    signature: signature.length === 0 ? more.signature : signature,
    additionalSigners: [...additionalSigners, ...more.additionalSigners],
  };
  checkSignatures(signatures);
  return { ...request, signatures };
}

/** The content of the file. */
export function cosignFile({ action, meaning, signatures }: CosignRequest): string {
  const content = {
    ringbook_cosign: Number(VERSION),
    account: action.user,
    ...(action.assetId === undefined ? {} : { asset_id: action.assetId }),
    meaning: meaning.map(lineText),
    text: action.text,
    signature: toHex(signatures.signature),
    additional_signers: signatures.additionalSigners.map((entry) => ({
      signer: publicKeyText(entry),
      signature: toHex(entry.signature),
    })),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** One line of the meaning. */
export function lineText([name, value]: MeaningLine): string {
  return `${name}: ${value}`;
}

/** @throws RingbookError INVALID_ARGUMENT for anything but a file whose text is an action with the meaning that the file describes. */
export function readCosignFile(bytes: Uint8Array, { amountText }: Pick<ReadOptions, 'amountText'>): CosignRequest {
  const parsed = parseJsonObject(bytes);
  if (!parsed.ok) throw invalidArgument(`this is no file to co-sign: ${parsed.reject.message}`);
  const reader = new MemberReader(parsed.value);
  if (reader.value('ringbook_cosign') !== VERSION) throw invalidArgument('this is no file to co-sign of version 1');
  const user = parseUserId(reader.string('account')) ?? reader.fail('account', 'expected a user id', '' as UserId);
  const assetId = reader.has('asset_id') ? (parseAssetId(reader.string('asset_id')) ?? undefined) : undefined;
  const text = reader.string('text');
  const described = reader.array('meaning').map(String);
  const signature = bytesOf(reader.string('signature'));
  const additionalSigners = reader.array('additional_signers').map(readEntry);
  const fault = reader.finish('refuse');
  if (fault !== null) throw invalidArgument(`this is no file to co-sign: ${fault.field ?? ''}: ${fault.message}`);
  const { action, meaning } = readAction(text, { amountText, assetId });
  // A replace does not name its account in the text.
  if (action.kind !== 'replace' && action.user !== user) {
    throw invalidArgument('the file names another account than its text: do not sign it');
  }
  if (meaning.map(lineText).join('\n') !== described.join('\n')) {
    throw invalidArgument('the text does not mean what the file describes: do not sign it');
  }
  return { action: { ...action, user }, meaning, signatures: { signature, additionalSigners } };
}

function readEntry(value: JsonValue): AdditionalSigner {
  const reader = new MemberReader(isJsonObject(value) ? value : new Map());
  const signer = parsePublicKey(reader.string('signer'));
  const signature = bytesOf(reader.string('signature'));
  if (signer === null || reader.finish('refuse') !== null)
    throw invalidArgument('a signature in the file is malformed');
  return { ...signer, signature };
}

function bytesOf(hex: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})*$/.test(hex) || hex.length > 2 * ASSERTION_BYTES_MAX) {
    throw invalidArgument('a signature in the file is malformed');
  }
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
