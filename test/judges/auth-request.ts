/**
 * Frozen judge: how this was read and written by hand before shapes did.
 *
 * The body of `POST /auth` (wire.md 3.2): user, nonce, and signatures over the nonce's UTF-8 bytes: the master key's, those of
 * co-signers, or both.
 */

import { decodeText } from '../../src/codec/decode-text.ts';
import type { JsonCursor } from '../../src/codec/json-cursor.ts';
import { objectShape } from '../../src/codec/json-shape.ts';
import { readAdditionalSigners, readSignature, type Signatures } from '../../src/codec/signatures.ts';
import { readUser, STRING_DECODED_MAX } from '../../src/codec/signed-text.ts';
import type { UserId } from '../../src/core/ids.ts';
import type { Outcome } from '../../src/core/outcome.ts';

export interface AuthRequest extends Signatures {
  readonly userId: UserId;
  readonly nonce: string;
  /** Came with RDO-01, when shapes read this already. */
  readonly scope: 'full' | 'read';
}

const BODY = objectShape('skip', ['user_id', 'nonce', 'signature', 'additional_signers?', 'scope?']);

export function decodeAuth(bytes: Uint8Array, start: number, end: number): Outcome<AuthRequest> {
  return decodeText(bytes, start, end, readAuth);
}

function readAuth(cursor: JsonCursor): AuthRequest | null {
  let userId = '' as UserId;
  let nonce = '';
  let signature: Uint8Array = new Uint8Array();
  let additionalSigners: Signatures['additionalSigners'] = [];
  let scope: 'full' | 'read' = 'full';
  cursor.enterObject();
  for (let name = cursor.nextMember(BODY); name !== null; name = cursor.nextMember(BODY)) {
    if (name === 'user_id') userId = readUser(cursor).id;
    else if (name === 'nonce') nonce = cursor.readString(STRING_DECODED_MAX);
    else if (name === 'signature') signature = readSignature(cursor);
    else if (name === 'scope') scope = readScope(cursor);
    else additionalSigners = readAdditionalSigners(cursor);
  }
  return cursor.hasFailed ? null : { userId, nonce, signature, additionalSigners, scope };
}

function readScope(cursor: JsonCursor): 'full' | 'read' {
  const word = cursor.readString(STRING_DECODED_MAX);
  if (word !== 'full' && word !== 'read') cursor.fail('expected "full" or "read"');
  return word === 'read' ? 'read' : 'full';
}
