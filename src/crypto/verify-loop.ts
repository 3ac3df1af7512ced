/**
 * The loop of a verifier thread, until it is stopped: take jobs from its ring in order, verify (co-signature.ts), write
 * the verdicts, park when there are none. A job without co-signers is read in place.
 *
 * That a create is valid is attested to clearing before the verdict is published (attestations.ts).
 *
 * One ring in and one out per thread, so verdicts have the order of the jobs. Runs as one long task of the pool
 * (verify-pool.ts); a task per signature would cost the thread two fifths of its rate (docs/decisions/0005).
 */
import type { MessagePort } from 'node:worker_threads';
import { readCoSigners } from '../codec/co-signer-bytes.ts';
import type { AdditionalSigner } from '../codec/signatures.ts';
import { storedSignatures } from '../codec/stored-signatures.ts';
import { assert } from '../core/assert.ts';
import { HOP } from '../core/hops.ts';
import { Doorbell, PARK_MS_MAX, Sleeper } from '../runtime/doorbell.ts';
import { RING_FULL, RingReader, RingWriter } from '../runtime/spsc-ring.ts';
import { ownThread } from '../runtime/thread-times.ts';
import { TraceLog, type TraceMemory } from '../runtime/trace-log.ts';
import { Verdict, VerifyJob } from '../schema/generated/messages.ts';
import { AttestationWriter } from './attestations.ts';
import { verifyCoSignatures } from './co-signature.ts';
import { verifyRange } from './ed25519.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from './ed25519-sizes.ts';
import type { WebAuthnPolicy } from './webauthn.ts';

/** Jobs between two checks of the stop word. */
const JOBS_PER_TURN = 64;
const NO_CO_SIGNERS: readonly AdditionalSigner[] = [];

/** Words of `VerifyThread.words`. */
export const VERIFY_WORD = { workerBell: 0, ownerBell: 1, stop: 2, heartbeat: 3, kernelThread: 4 } as const;
export const VERIFY_WORDS = 5;

/** The arguments of a verifier thread; a structured clone except for the transferred port. */
export interface VerifyThread {
  readonly jobs: SharedArrayBuffer;
  readonly verdicts: SharedArrayBuffer;
  /** To clearing; null: nothing is attested. */
  readonly attestations: SharedArrayBuffer | null;
  readonly words: SharedArrayBuffer;
  /** Notifies the owner's event loop. */
  readonly port: MessagePort;
  /** The policy of the configuration; null: no WebAuthn co-signature is valid. */
  readonly webauthn: WebAuthnPolicy | null;
  /** Null while the node is not traced. */
  readonly trace: TraceMemory | null;
}

/** Runs until the stop word is set and all jobs published before are answered. */
export function runVerifyLoop(thread: VerifyThread): void {
  const words = new Int32Array(thread.words);
  const jobs = new RingReader(thread.jobs);
  const verdicts = new RingWriter(thread.verdicts);
  const sleeper = new Sleeper(words, VERIFY_WORD.workerBell);
  const bell = new Doorbell(words, VERIFY_WORD.ownerBell);
  bell.connect(thread.port);
  Atomics.store(words, VERIFY_WORD.kernelThread, ownThread());
  const attestations = thread.attestations === null ? null : new AttestationWriter(thread.attestations);
  const trace = thread.trace === null ? null : new TraceLog(thread.trace);
  const answer = (_typeId: number, at: number): undefined => {
    const ticket = VerifyJob.ticket(jobs.views, at);
    trace?.mark(HOP.verifying, ticket);
    const count = VerifyJob.coSigners(jobs.views, at);
    const coSigners = count === 0 ? NO_CO_SIGNERS : coSignersOf(jobs, at, count);
    const valid = verifyJob(jobs, at) && (count === 0 || verifyCoSigned(jobs, at, coSigners, thread.webauthn));
    if (valid && attestations !== null && VerifyJob.isCreate(jobs.views, at)) attest(attestations, jobs, at, coSigners);
    const to = verdicts.claim(Verdict.typeId, Verdict.bytes);
    assert(to !== RING_FULL, 'the verdict ring holds a verdict for every job of the job ring');
    Verdict.setTicket(verdicts.views, to, ticket);
    Verdict.setValid(verdicts.views, to, valid);
    Verdict.setSignatures(verdicts.views, to, count + 1);
    verdicts.commit();
    trace?.mark(HOP.verdict, ticket);
  };
  for (;;) {
    Atomics.add(words, VERIFY_WORD.heartbeat, 1);
    const count = jobs.drain(answer, JOBS_PER_TURN);
    if (count > 0) {
      // mutant: attested-before-verdict
      attestations?.publish();
      if (verdicts.publish()) bell.ring();
      continue;
    }
    if (Atomics.load(words, VERIFY_WORD.stop) === 1) break;
    trace?.look();
    sleeper.prepare();
    if (jobs.hasRecords()) sleeper.wake();
    else sleeper.park(PARK_MS_MAX);
  }
  bell.close();
}

/** The signature of the master key; true where it is left out, which needs co-signers. */
function verifyJob(jobs: RingReader, at: number): boolean {
  const { u8 } = jobs.views;
  if (!VerifyJob.isSigned(jobs.views, at)) return VerifyJob.coSigners(jobs.views, at) > 0;
  return verifyRange(
    { bytes: u8, at: at + VerifyJob.signatureAt, length: SIGNATURE_BYTES },
    { bytes: u8, at: at + VerifyJob.bytes, length: VerifyJob.textBytes(jobs.views, at) },
    { bytes: u8, at: at + VerifyJob.publicKeyAt, length: PUBLIC_KEY_BYTES },
  );
}

/** Copied out of the ring: OpenSSL reads no shared memory. */
function coSignersOf(jobs: RingReader, at: number, count: number): readonly AdditionalSigner[] {
  return readCoSigners(jobs.views.u8, at + VerifyJob.bytes + VerifyJob.textBytes(jobs.views, at), count);
}

function verifyCoSigned(
  jobs: RingReader,
  at: number,
  coSigners: readonly AdditionalSigner[],
  webauthn: WebAuthnPolicy | null,
): boolean {
  return verifyCoSignatures(coSigners, textOf(jobs, at).slice(), webauthn);
}

/** In shared memory. */
function textOf({ views }: RingReader, at: number): Uint8Array {
  return views.u8.subarray(at + VerifyJob.bytes, at + VerifyJob.bytes + VerifyJob.textBytes(views, at));
}

/** The signatures are attested as they are stored with the order. */
function attest(
  to: AttestationWriter,
  jobs: RingReader,
  at: number,
  additionalSigners: readonly AdditionalSigner[],
): void {
  const { u8 } = jobs.views;
  const keyAt = at + VerifyJob.publicKeyAt;
  const signatureAt = at + VerifyJob.signatureAt;
  const isSigned = VerifyJob.isSigned(jobs.views, at);
  const signature = u8.subarray(signatureAt, signatureAt + (isSigned ? SIGNATURE_BYTES : 0));
  const key = u8.subarray(keyAt, keyAt + PUBLIC_KEY_BYTES);
  to.attest(key, textOf(jobs, at), storedSignatures({ signature, additionalSigners }));
}
