// tier: quick
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import { coSign, ed25519CoSigner, p256CoSigner, secp256k1CoSigner } from '../../src/client/co-signers.ts';
import { keyFromSeed } from '../../src/client/keys.ts';
import { storedSignatures } from '../../src/codec/stored-signatures.ts';
import { Attestations, AttestationWriter, createAttestationRing } from '../../src/crypto/attestations.ts';
import { type PoolJob, VerifyPool } from '../../src/crypto/verify-pool.ts';
import { propertyParameters } from '../support/property.ts';

const SEED = new Uint8Array(32).fill(7);
const KEY = keyFromSeed(SEED);
const publicKey = Buffer.from(KEY.userId, 'hex');
const NONE = new Uint8Array();

interface Signed {
  readonly key: Uint8Array;
  readonly text: Uint8Array;
  readonly signatures: Uint8Array;
}

/** A verifier thread, and clearing's end of its ring. */
class Pair {
  readonly ring: SharedArrayBuffer = createAttestationRing();
  readonly attestations: Attestations = new Attestations([this.ring]);
  readonly verdicts: boolean[] = [];
  onVerdict: (ticket: number) => void = () => undefined;
  readonly #pool: VerifyPool;
  #tickets = 0;

  constructor() {
    this.#pool = new VerifyPool({
      threads: 1,
      onVerdict: (ticket, valid) => {
        this.verdicts.push(valid);
        this.onVerdict(ticket);
      },
      onDeath: (error) => assert.fail(error),
      attestations: [this.ring],
    });
  }

  submit(job: PoolJob): void {
    assert.ok(this.#pool.submit(0, this.#tickets++, job));
  }

  /** Until every job has its verdict. */
  async answered(): Promise<void> {
    this.#pool.flush();
    while (this.#pool.inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** @returns the verdict on one job. */
  async judged(job: PoolJob): Promise<boolean> {
    this.verdicts.length = 0;
    this.submit(job);
    await this.answered();
    this.attestations.drain();
    return this.verdicts[0] === true;
  }

  has({ key, text, signatures }: Signed): boolean {
    return this.attestations.has(key, text, signatures);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] as number) ^ (1 << bit);
  return copy;
}

/** Every change of one bit of it, and every one that moves the border between its parts. */
function* changes(signed: Signed): Generator<Signed, void, undefined> {
  for (const part of ['key', 'text', 'signatures'] as const) {
    for (let bit = 0; bit < 8 * signed[part].length; bit += 1) {
      yield { ...signed, [part]: flipped(signed[part], bit >> 3, bit & 7) };
    }
  }
  const { text, signatures } = signed;
  yield { ...signed, text: text.subarray(1) };
  yield { ...signed, text: text.subarray(0, -1) };
  yield { ...signed, text: Buffer.concat([text, Buffer.alloc(1)]) };
  yield { ...signed, signatures: Buffer.concat([signatures, Buffer.alloc(1)]) };
  yield { ...signed, signatures: NONE };
  yield { ...signed, text: Buffer.concat([text, signatures.subarray(0, 1)]), signatures: signatures.subarray(1) };
  yield { ...signed, text: text.subarray(0, -1), signatures: Buffer.concat([text.subarray(-1), signatures]) };
}

suite('attestations of the verifier', () => {
  let pair: Pair;

  before(() => {
    pair = new Pair();
  });
  after(() => pair.close());

  test('GEN-05: exactly the bytes that were verified are attested, whichever bit of key, text or signatures differs', async () => {
    const text = Buffer.from('{"order_id":"attested-1"}');
    const additionalSigners = coSign([ed25519CoSigner(SEED), secp256k1CoSigner(SEED), p256CoSigner(SEED)], text);
    const signature = KEY.sign(text);
    for (const signatures of [
      { signature, additionalSigners: [] },
      { signature, additionalSigners },
      { signature: NONE, additionalSigners },
    ]) {
      const { additionalSigners: coSigners } = signatures;
      const signed = { key: publicKey, text, signatures: storedSignatures(signatures) };
      assert.equal(pair.has(signed), false, 'nothing is attested before it is verified');
      assert.equal(await pair.judged({ ...signatures, coSigners, text, publicKey, isCreate: true }), true);
      assert.equal(pair.has(signed), true);
      for (const changed of changes(signed)) assert.equal(pair.has(changed), false);
    }
  });

  test('GEN-05: what was attested for one order of a user is not attested for another text, key or signature', async () => {
    const texts = fc.uint8Array({ minLength: 1, maxLength: 1_024 });
    await fc.assert(
      fc.asyncProperty(texts, texts, fc.uint8Array({ minLength: 32, maxLength: 32 }), async (text, other, otherKey) => {
        const signature = KEY.sign(text);
        assert.equal(await pair.judged({ signature, text, publicKey, isCreate: true }), true);
        const signed = { key: publicKey, text, signatures: signature };
        assert.equal(pair.has(signed), true);
        const isOther = Buffer.compare(text, other) !== 0;
        assert.equal(isOther && pair.has({ ...signed, text: other }), false);
        assert.equal(pair.has({ ...signed, key: otherKey }), false);
        assert.equal(isOther && pair.has({ ...signed, signatures: KEY.sign(other) }), false);
      }),
      propertyParameters(100),
    );
  });

  test('GEN-05: what does not verify is not attested, whether the key, a co-signer or the text is wrong', async () => {
    const text = Buffer.from('{"order_id":"forged-1"}');
    const signature = KEY.sign(text);
    const coSigners = coSign([ed25519CoSigner(SEED), p256CoSigner(SEED)], text);
    const bad = coSign([ed25519CoSigner(SEED), p256CoSigner(SEED)], Buffer.from('another text'));
    const jobs: readonly Omit<PoolJob, 'publicKey' | 'isCreate'>[] = [
      { signature: flipped(signature, 3, 1), text },
      { signature: flipped(signature, 3, 1), text, coSigners },
      { signature, text, coSigners: bad },
      { signature: NONE, text, coSigners: bad },
      { signature, text: Buffer.from('{"order_id":"forged-2"}') },
    ];
    for (const job of jobs) {
      assert.equal(await pair.judged({ ...job, publicKey, isCreate: true }), false);
      const signatures = storedSignatures({ ...job, additionalSigners: job.coSigners ?? [] });
      assert.equal(pair.has({ key: publicKey, text: job.text, signatures }), false);
    }
    assert.equal(await pair.judged({ signature, text, publicKey: flipped(publicKey, 0, 0), isCreate: true }), false);
    assert.equal(pair.has({ key: publicKey, text, signatures: signature }), false);
  });

  test('only creates are attested: clearing judges no other signature of a request to a market', async () => {
    const text = Buffer.from('{"order_id":"cancelled-1"}');
    const signature = KEY.sign(text);
    assert.equal(await pair.judged({ signature, text, publicKey }), true);
    assert.equal(pair.has({ key: publicKey, text, signatures: signature }), false);
  });

  test('an attestation has arrived when its verdict arrives', async () => {
    const jobs = Array.from({ length: 1_024 }, (_, index) => {
      const text = Buffer.from(`{"order_id":"early-${index}"}`);
      return { text, signature: KEY.sign(text), publicKey, isCreate: true };
    });
    let next = 0;
    let missing = 0;
    pair.onVerdict = () => {
      const { text, signature } = jobs[next++] as (typeof jobs)[number];
      pair.attestations.drain();
      if (!pair.has({ key: publicKey, text, signatures: signature })) missing += 1;
    };
    for (const [index, job] of jobs.entries()) {
      pair.submit(job);
      // Single jobs and bursts.
      if (index % 128 > 64 || index % 16 === 0) await pair.answered();
    }
    await pair.answered();
    assert.equal(next, jobs.length);
    assert.equal(missing, 0);
  });
});

suite('the ring and the table of attestations', () => {
  const numbered = (number: number): Signed => ({
    key: publicKey,
    text: Buffer.from(`text ${number}`),
    signatures: new Uint8Array(64),
  });
  const attest = (writer: AttestationWriter, { key, text, signatures }: Signed): void =>
    writer.attest(key, text, signatures);
  const found = (attestations: Attestations, { key, text, signatures }: Signed): boolean =>
    attestations.has(key, text, signatures);

  test('a full ring drops what has no room, which is counted when there is room again, and keeps the rest', () => {
    const ring = createAttestationRing();
    const writer = new AttestationWriter(ring);
    const attestations = new Attestations([ring]);
    const count = 30_000;
    for (let number = 0; number < count; number += 1) attest(writer, numbered(number));
    writer.publish();
    assert.equal(attestations.drain(), 0, 'none is reported before there is room');
    const kept = Array.from({ length: count }, (_, number) => found(attestations, numbered(number)));
    const room = kept.indexOf(false);
    assert.ok(room > 20_000, `${room} attestations have room`);
    assert.ok(!kept.includes(true, room), 'those that were dropped are not attested');
    attest(writer, numbered(count));
    writer.publish();
    assert.equal(attestations.drain(), count - room);
    assert.ok(found(attestations, numbered(count)));
    assert.equal(attestations.drain(), 0, 'each is counted once');
  });

  test('the table is bounded: the oldest attestations give way, the latest 60,000 are found', () => {
    const ring = createAttestationRing();
    const writer = new AttestationWriter(ring);
    const attestations = new Attestations([ring]);
    const count = 300_000;
    for (let number = 0; number < count; number += 1) {
      attest(writer, numbered(number));
      writer.publish();
      attestations.drain();
    }
    let [old, late] = [0, 0];
    for (let number = 0; number < 60_000; number += 1) {
      if (found(attestations, numbered(number))) old += 1;
      if (found(attestations, numbered(count - 1 - number))) late += 1;
    }
    assert.ok(old < 1_200, `${old} of the oldest 60,000 are left`);
    assert.ok(late > 58_800, `${late} of the latest 60,000 are found`);
  });

  test('attestations of several verifier threads are found alike', () => {
    const rings = [createAttestationRing(), createAttestationRing(), createAttestationRing()];
    const attestations = new Attestations(rings);
    for (const [index, ring] of rings.entries()) {
      const writer = new AttestationWriter(ring);
      attest(writer, numbered(index));
      assert.equal(found(attestations, numbered(index)), false);
      writer.publish();
    }
    attestations.drain();
    for (const index of rings.keys()) assert.ok(found(attestations, numbered(index)));
  });
});
