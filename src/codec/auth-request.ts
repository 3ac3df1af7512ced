/**
 * The body of `POST /auth` (wire.md 3.2): user, nonce, and signatures over the nonce's UTF-8 bytes: the master key's, those of
 * co-signers, or both.
 */
import type { UserId } from '../core/ids.ts';
import { accepted, type Outcome } from '../core/outcome.ts';
import { decodeShape } from './shape-reader.ts';
import { type ActionRead, AUTH_REQUEST } from './shapes/account-shapes.ts';
import { NO_SIGNERS, type Signatures } from './signatures.ts';
import type { SpelledUser } from './signed-text.ts';

export interface AuthRequest extends Signatures {
  readonly userId: UserId;
  readonly nonce: string;
}

export type AuthRead = Omit<ActionRead<never>, 'inner'> & { readonly user: SpelledUser; readonly nonce: string };

export function decodeAuth(bytes: Uint8Array, start: number, end: number): Outcome<AuthRequest> {
  const read = decodeShape(AUTH_REQUEST, bytes, start, end);
  if (!read.ok) return read;
  const { user, nonce, signature, additionalSigners } = read.value;
  return accepted({ userId: user.id, nonce, signature, additionalSigners: additionalSigners ?? NO_SIGNERS });
}
