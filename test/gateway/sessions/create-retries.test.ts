// tier: quick
/** Idempotent retries of creates (docs/safety.md). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { RETRY_WINDOW_NS } from '../../../src/core/limits.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { type CreateIdentity, CreateRetries } from '../../../src/gateway/sessions/create-retries.ts';

const NOW = 1_770_000_000_000_000_000n as TimestampNs;
const later = (ns: bigint): TimestampNs => (NOW + ns) as TimestampNs;

const ignore = (): void => undefined;

function create(text = 'text', { user = 'ada', seed = 1 } = {}): CreateIdentity {
  return {
    user: user as UserId,
    signature: new Uint8Array(64).map((_, index) => (seed * 31 + index) % 256),
    text: new TextEncoder().encode(text),
  };
}

suite('a create that may be retried', () => {
  test('is found by user, signature and text, all of them', () => {
    const retries = new CreateRetries<string, null>();
    const sent = retries.begin(create(), null, NOW, ignore);
    assert.equal(retries.find(create(), NOW), sent);
    for (const other of [
      create('texu'),
      create('text '),
      create('text', { user: 'bob' }),
      create('text', { seed: 2 }),
    ]) {
      assert.equal(retries.find(other, NOW), null);
    }
  });

  test('stays, whatever another user sends', () => {
    const retries = new CreateRetries<string, null>();
    const sent = retries.begin(create(), null, NOW, ignore);
    const other = retries.begin(create('text', { user: 'bob' }), null, NOW, ignore);
    assert.deepEqual([retries.find(create(), NOW), retries.count], [sent, 2]);
    retries.settle(other, 'InvalidSignature', false);
    assert.equal(retries.find(create(), NOW), sent);
  });

  test('gets the answer of the first, at once or when it comes', () => {
    const retries = new CreateRetries<string, null>();
    const answers: string[] = [];
    const sent = retries.begin(create(), null, NOW, (answer) => answers.push(`first ${answer}`));
    retries.join(sent, (answer) => answers.push(`waiting ${answer}`));
    retries.settle(sent, 'Received', true);
    retries.join(sent, (answer) => answers.push(`later ${answer}`));
    assert.deepEqual(answers, ['first Received', 'waiting Received', 'later Received']);
  });

  test('begins anew after an answer that left its id free', () => {
    const retries = new CreateRetries<string, null>();
    const answers: string[] = [];
    const sent = retries.begin(create(), null, NOW, ignore);
    retries.join(sent, (answer) => answers.push(answer));
    retries.settle(sent, 'InsufficientInventory', false);
    assert.deepEqual([answers, retries.find(create(), NOW), retries.count], [['InsufficientInventory'], null, 0]);
  });

  test('waits with at most sixteen others', () => {
    const retries = new CreateRetries<string, null>();
    const sent = retries.begin(create(), null, NOW, ignore);
    const joined = Array.from({ length: 17 }, () => retries.join(sent, () => undefined));
    assert.deepEqual([joined.filter(Boolean).length, joined.at(-1)], [16, false]);
  });

  test('is dropped after the window, and the oldest where it is full', () => {
    const retries = new CreateRetries<string, null>(2);
    const first = retries.begin(create('first', { seed: 1 }), null, NOW, ignore);
    assert.equal(retries.find(create('first', { seed: 1 }), later(RETRY_WINDOW_NS)), first);
    assert.equal(retries.find(create('first', { seed: 1 }), later(RETRY_WINDOW_NS + 1n)), null);
    retries.begin(create('second', { seed: 2 }), null, NOW, ignore);
    retries.begin(create('third', { seed: 3 }), null, NOW, ignore);
    assert.deepEqual(
      [1, 2, 3].map((seed) => retries.find(create(['first', 'second', 'third'][seed - 1], { seed }), NOW) !== null),
      [false, true, true],
    );
    assert.equal(retries.count, 2);
    // Its waiters still get its answer, and it does not come back.
    const answers: string[] = [];
    retries.join(first, (answer) => answers.push(answer));
    retries.settle(first, 'Received', true);
    assert.deepEqual(
      [answers, retries.find(create('first', { seed: 1 }), NOW), retries.count],
      [['Received'], null, 2],
    );
  });

  test('one user who fills the table takes no place of the others', () => {
    const retries = new CreateRetries<string, null>(10, 6);
    const isKnown = (seed: number, user: string): boolean => retries.find(create('x', { seed, user }), NOW) !== null;
    for (const seed of [1, 2]) retries.begin(create('x', { seed, user: 'honest' }), null, NOW, ignore);
    for (let seed = 10; seed < 60; seed += 1) retries.begin(create('x', { seed, user: 'filler' }), null, NOW, ignore);
    assert.deepEqual([isKnown(1, 'honest'), isKnown(2, 'honest'), retries.count], [true, true, 8]);
    for (let seed = 100; seed < 103; seed += 1) retries.begin(create('x', { seed, user: 'other' }), null, NOW, ignore);
    assert.equal(retries.count, 10, 'full: a user with the most has made room');
    assert.deepEqual([isKnown(1, 'honest'), isKnown(2, 'honest')], [true, true]);
    assert.deepEqual(
      [100, 101, 102].map((seed) => isKnown(seed, 'other')),
      [true, true, true],
    );
    assert.deepEqual([isKnown(54, 'filler'), isKnown(55, 'filler'), isKnown(59, 'filler')], [false, true, true]);
  });
});
