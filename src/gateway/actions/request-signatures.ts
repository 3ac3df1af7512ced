/**
 * The signatures of one request, master key and co-signers over the same bytes, as one question to the verifier. Requests
 * that arrive on a connection of their own: they may overtake each other.
 */
import type { Signatures } from '../../codec/signatures.ts';
import { must } from '../../core/assert.ts';
import { parseHex } from '../../core/hex.ts';
import type { UserId } from '../../core/ids.ts';
import type { Reject } from '../../core/reject.ts';
import type { Part } from '../sessions/shared-budget.ts';
import { BAD_SIGNATURE, POOL_FULL, type SignatureVerifier } from './signature-verifier.ts';

interface RequestSignaturesParts {
  readonly verifier: Pick<SignatureVerifier, 'verify'>;
  /** What a request of this user may take of what all share. */
  readonly partOf: (user: UserId) => Part;
  /** Requests a flush at the end of this turn of the event loop. */
  readonly wakeUp: () => void;
}

export class RequestSignatures {
  readonly #parts: RequestSignaturesParts;
  /** Signatures of one connection are verified in order; every request here is a connection of its own. */
  #connections = 0;

  constructor(parts: RequestSignaturesParts) {
    this.#parts = parts;
  }

  /**
   * INVALID_SIGNATURE unless all signatures given are valid, SERVICE_UNAVAILABLE when the pool is full, or null. @param
   * payer whose part of the verifier it takes.
   */
  verify(
    request: Signatures & { readonly text: Uint8Array },
    user: UserId,
    payer: UserId = user,
  ): Promise<Reject | null> {
    const { verifier, partOf, wakeUp } = this.#parts;
    const publicKey = must(parseHex(user, 32), 'a user is 32 bytes of hex');
    this.#connections += 1;
    const { signature, additionalSigners: coSigners, text } = request;
    const job = { connection: this.#connections, signature, coSigners, text, publicKey, part: partOf(payer) };
    return new Promise((resolve) => {
      const isTaken = verifier.verify(job, (isValid) => resolve(isValid ? null : BAD_SIGNATURE));
      if (!isTaken) resolve(POOL_FULL);
      wakeUp();
    });
  }
}
