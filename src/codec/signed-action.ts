/** Signed account actions: a wrapper with `inner`, the object that is signed, and its signatures (wire.md 4.2). */
import type { TSchema } from '@sinclair/typebox';
import { accepted, type Outcome } from '../core/outcome.ts';
import { canonicalText } from './canonical-text.ts';
import { decodeShape } from './shape-reader.ts';
import type { ActionRead } from './shapes/account-shapes.ts';
import type { Shape } from './shapes/shape-kit.ts';
import { NO_SIGNERS, type Signatures } from './signatures.ts';
import { signingBytes } from './signed-text.ts';

/** An action wrapper: `inner`, its signatures, and the signed bytes. */
export interface ActionRequest<Inner> extends Signatures {
  readonly inner: Inner;
  readonly text: Uint8Array;
}

/**
 * Reads bytes[start … end) as the wrapper of an action.
 *
 * @param toDomain makes of `inner` as it was read, and signed, what the node works with.
 */
export function decodeAction<Read, Inner>(
  shape: Shape<unknown, ActionRead<Read>>,
  [bytes, start, end]: readonly [bytes: Uint8Array, start: number, end: number],
  toDomain: (read: Read) => Inner,
): Outcome<ActionRequest<Inner>> {
  const read = decodeShape(shape, bytes, start, end);
  return read.ok ? accepted(actionOf(shape, read.value, toDomain)) : read;
}

/** The request that was read with `shape`. */
export function actionOf<Read, Inner>(
  shape: TSchema,
  { inner, signature, additionalSigners }: ActionRead<Read>,
  toDomain: (read: Read) => Inner,
): ActionRequest<Inner> {
  const text = signingBytes(canonicalText(signedMember(shape), inner));
  return { inner: toDomain(inner), signature, additionalSigners: additionalSigners ?? NO_SIGNERS, text };
}

/** The shape of `inner`. */
function signedMember(shape: TSchema): TSchema {
  return (shape['properties'] as { readonly inner: TSchema }).inner;
}
