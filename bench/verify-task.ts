/** The piscina task of `verify.bench.ts`: signatures as messages, one or many per task. */
import { verify } from '../src/crypto/ed25519.ts';

export interface SignedJob {
  readonly signature: Uint8Array;
  readonly text: Uint8Array;
  readonly publicKey: Uint8Array;
}

export function verifyOne(job: SignedJob): boolean {
  return verify(job.signature, job.text, job.publicKey);
}

export function verifyMany(jobs: readonly SignedJob[]): boolean[] {
  return jobs.map(verifyOne);
}
