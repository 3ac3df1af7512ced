/**
 * Attestations: what the verifier found valid, reported to clearing without the gateway in between, so that clearing
 * verifies no signature a second time (docs/decisions/0036).
 *
 *   verifier thread ──ring of its own──▶ Attestations (clearing's thread): the latest digests
 *          └──afterwards──▶ verdict ─▶ gateway ─▶ market ─▶ clearing: digest of what it is about to book
 *
 * An attestation is published before its verdict, so it has arrived when the order arrives. A digest covers key, text and
 * all signatures; clearing computes it over the bytes that it books. What is not found (never attested, dropped because
 * the ring was full, replaced by later ones) clearing verifies by itself: an attestation saves time and permits nothing.
 */
import { hash } from 'node:crypto';
import { STORED_SIGNATURES_BYTES_MAX } from '../codec/stored-signatures.ts';
import { assert } from '../core/assert.ts';
import { VERIFIED_TEXT_BYTES_MAX } from '../core/limits.ts';
import { createRing, RING_FULL, RingReader, RingWriter } from '../runtime/spsc-ring.ts';
import { Attestation } from '../schema/generated/messages.ts';
import { PUBLIC_KEY_BYTES } from './ed25519-sizes.ts';

/** The ring of each verifier thread: 21,000 attestations, more than a second of its work while clearing reads none. */
const RING_BYTES = 1_048_576;
const DIGEST_BYTES = 32;
const DIGEST_WORDS = DIGEST_BYTES / 4;
const ATTESTATIONS_PER_DRAIN = 65_536;
const LENGTHS_AT = PUBLIC_KEY_BYTES;
const TEXT_AT = LENGTHS_AT + 4;

export function createAttestationRing(): SharedArrayBuffer {
  return createRing({ capacityBytes: RING_BYTES, reservedBytes: 0 });
}

/**
 * The SHA-256 of what was signed, by which key and in which form:
 *
 *   0   key                32 bytes
 *   32  length of the text, of the signatures   u16 each
 *   36  text │ signatures (codec/stored-signatures.ts)
 *
 * The lengths come first, so no two different triples have the same bytes.
 */
class SignedDigest {
  /** The digest of the last call of `compute`. */
  readonly bytes: Buffer = Buffer.from(new ArrayBuffer(DIGEST_BYTES));
  /** The same. */
  readonly words: Int32Array = new Int32Array(this.bytes.buffer);
  readonly #frame: Buffer = Buffer.alloc(TEXT_AT + VERIFIED_TEXT_BYTES_MAX + STORED_SIGNATURES_BYTES_MAX);

  /** The bytes may lie in shared memory. @param signatures of `storedSignatures`. */
  compute(key: Uint8Array, text: Uint8Array, signatures: Uint8Array): this {
    assert(key.length === PUBLIC_KEY_BYTES, 'size of the key of a digest');
    assert(text.length <= VERIFIED_TEXT_BYTES_MAX, 'a signed text is within its limit');
    assert(signatures.length <= STORED_SIGNATURES_BYTES_MAX, 'the signatures of a text are within their limit');
    const frame = this.#frame;
    frame.set(key, 0);
    frame.writeUInt16LE(text.length, LENGTHS_AT);
    frame.writeUInt16LE(signatures.length, LENGTHS_AT + 2);
    frame.set(text, TEXT_AT);
    frame.set(signatures, TEXT_AT + text.length);
    // As a string it takes half the time that it takes as a buffer.
    const digest = hash('sha256', frame.subarray(0, TEXT_AT + text.length + signatures.length), 'binary');
    this.bytes.write(digest, 'latin1');
    return this;
  }
}

/** The verifier's end of its ring. */
export class AttestationWriter {
  readonly #ring: RingWriter;
  readonly #digest = new SignedDigest();
  #dropped = 0;

  constructor(ring: SharedArrayBuffer) {
    this.#ring = new RingWriter(ring);
  }

  /** Call it for valid signatures only. Visible with the next `publish`; dropped, and counted, while the ring is full. */
  attest(key: Uint8Array, text: Uint8Array, signatures: Uint8Array): void {
    const at = this.#ring.claim(Attestation.typeId, Attestation.bytes);
    if (at === RING_FULL) {
      this.#dropped += 1;
      return;
    }
    const { views } = this.#ring;
    views.u8.set(this.#digest.compute(key, text, signatures).bytes, at + Attestation.digestAt);
    Attestation.setDropped(views, at, this.#dropped);
    this.#ring.commit();
    this.#dropped = 0;
  }

  /** No bell: clearing looks when it has orders to book. */
  publish(): void {
    this.#ring.publish();
  }
}

/** Digests in a set; a new one replaces the oldest of its set. */
const WAYS = 8;
/** 131,072 digests: 13 s of 10,000 creates a second, in 4 MiB. */
const SETS = 16_384;

/**
 * Clearing's end: the latest attestations, in sets by their first word. Every step takes bounded time whatever the digests
 * are; who replaces another's attestation costs clearing one verification, and pays for one himself.
 */
export class Attestations {
  readonly #rings: readonly RingReader[];
  readonly #words = new Int32Array(SETS * WAYS * DIGEST_WORDS);
  /** For each set, the place that the next digest takes. */
  readonly #next = new Uint8Array(SETS);
  readonly #digest = new SignedDigest();
  /** Reported in this drain. */
  #dropped = 0;

  constructor(rings: readonly SharedArrayBuffer[]) {
    this.#rings = rings.map((ring) => new RingReader(ring));
  }

  /**
   * Takes what has arrived: before the inputs of a batch are judged.
   *
   * @returns how many were dropped because their ring was full; the next one after them reports them.
   */
  drain(): number {
    this.#dropped = 0;
    for (const ring of this.#rings) {
      if (ring.hasRecords()) ring.drain((_typeId, at) => this.#add(ring, at), ATTESTATIONS_PER_DRAIN);
    }
    return this.#dropped;
  }

  /** Whether the verifier has found exactly these signatures over exactly this text valid. */
  has(key: Uint8Array, text: Uint8Array, signatures: Uint8Array): boolean {
    if (this.#rings.length === 0) return false;
    const { words } = this.#digest.compute(key, text, signatures);
    const first = setOf(words[0] as number) * WAYS * DIGEST_WORDS;
    for (let at = first; at < first + WAYS * DIGEST_WORDS; at += DIGEST_WORDS) {
      if (this.#isAt(at, words)) return true;
    }
    return false;
  }

  #add(ring: RingReader, at: number): undefined {
    const { i32 } = ring.views;
    const word = (at + Attestation.digestAt) >>> 2;
    const set = setOf(i32[word] as number);
    const way = this.#next[set] as number;
    this.#next[set] = (way + 1) % WAYS;
    const to = (set * WAYS + way) * DIGEST_WORDS;
    for (let index = 0; index < DIGEST_WORDS; index += 1) this.#words[to + index] = i32[word + index] as number;
    this.#dropped += Attestation.dropped(ring.views, at);
  }

  #isAt(at: number, words: Int32Array): boolean {
    // mutant: attested-bytes
    for (let index = 0; index < DIGEST_WORDS; index += 1) {
      if (this.#words[at + index] !== words[index]) return false;
    }
    return true;
  }
}

function setOf(word: number): number {
  return word & (SETS - 1);
}
