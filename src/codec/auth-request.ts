/** The body of `POST /auth` (wire.md 3.2): user, nonce, and 64 bytes of signature over the nonce's UTF-8 bytes. */
import type { UserId } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import { decodeText } from './decode-text.ts';
import type { JsonCursor } from './json-cursor.ts';
import { objectShape } from './json-shape.ts';
import { SIGNATURE_BYTES } from './signatures.ts';
import { readUser, STRING_DECODED_MAX } from './signed-text.ts';

export interface AuthRequest {
  readonly userId: UserId;
  readonly nonce: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

const BODY = objectShape('skip', ['user_id', 'nonce', 'signature']);

export function decodeAuth(bytes: Uint8Array, start: number, end: number): Outcome<AuthRequest> {
  return decodeText(bytes, start, end, readAuth);
}

function readAuth(cursor: JsonCursor): AuthRequest | null {
  let userId = '' as UserId;
  let nonce = '';
  let signature: Uint8Array = new Uint8Array();
  cursor.enterObject();
  for (let name = cursor.nextMember(BODY); name !== null; name = cursor.nextMember(BODY)) {
    if (name === 'user_id') userId = readUser(cursor).id;
    else if (name === 'nonce') nonce = cursor.readString(STRING_DECODED_MAX);
    else signature = cursor.readBytes(SIGNATURE_BYTES);
  }
  if (signature.length !== SIGNATURE_BYTES) cursor.fail('expected 64 integers', 'signature');
  return cursor.hasFailed ? null : { userId, nonce, signature };
}
