/** Laws of creates that are sent again (docs/trading.md, "Sending again"). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { UserId } from '../../../src/core/ids.ts';
import { RESENT_WINDOW_NS } from '../../../src/core/limits.ts';
import type { TimestampNs } from '../../../src/core/units.ts';
import { type CreateIdentity, ResentCreates } from '../../../src/gateway/sessions/resent-creates.ts';

const NOW = 1_770_000_000_000_000_000n as TimestampNs;
const later = (ns: bigint): TimestampNs => (NOW + ns) as TimestampNs;

const nobody = (): void => undefined;

function create(text = 'text', { user = 'ada', seed = 1 } = {}): CreateIdentity {
  return {
    user: user as UserId,
    signature: new Uint8Array(64).map((_, index) => (seed * 31 + index) % 256),
    text: new TextEncoder().encode(text),
  };
}

suite('a create that may be sent again', () => {
  test('is known by user, signature and text, all of them', () => {
    const resent = new ResentCreates<string, null>();
    const sent = resent.begin(create(), null, NOW, nobody);
    assert.equal(resent.find(create(), NOW), sent);
    for (const other of [
      create('texu'),
      create('text '),
      create('text', { user: 'bob' }),
      create('text', { seed: 2 }),
    ]) {
      assert.equal(resent.find(other, NOW), null);
    }
  });

  test('is not forgotten because of what another user sends', () => {
    const resent = new ResentCreates<string, null>();
    const sent = resent.begin(create(), null, NOW, nobody);
    const other = resent.begin(create('text', { user: 'bob' }), null, NOW, nobody);
    assert.deepEqual([resent.find(create(), NOW), resent.count], [sent, 2]);
    resent.settle(other, 'InvalidSignature', false);
    assert.equal(resent.find(create(), NOW), sent);
  });

  test('hears what the first was answered, at once or when it comes', () => {
    const resent = new ResentCreates<string, null>();
    const heard: string[] = [];
    const sent = resent.begin(create(), null, NOW, (answer) => heard.push(`first ${answer}`));
    resent.join(sent, (answer) => heard.push(`waiting ${answer}`));
    resent.settle(sent, 'Received', true);
    resent.join(sent, (answer) => heard.push(`later ${answer}`));
    assert.deepEqual(heard, ['first Received', 'waiting Received', 'later Received']);
  });

  test('begins anew after an answer that left its id free', () => {
    const resent = new ResentCreates<string, null>();
    const heard: string[] = [];
    const sent = resent.begin(create(), null, NOW, nobody);
    resent.join(sent, (answer) => heard.push(answer));
    resent.settle(sent, 'InsufficientInventory', false);
    assert.deepEqual([heard, resent.find(create(), NOW), resent.count], [['InsufficientInventory'], null, 0]);
  });

  test('waits with at most sixteen others', () => {
    const resent = new ResentCreates<string, null>();
    const sent = resent.begin(create(), null, NOW, nobody);
    const joined = Array.from({ length: 17 }, () => resent.join(sent, () => undefined));
    assert.deepEqual([joined.filter(Boolean).length, joined.at(-1)], [16, false]);
  });

  test('is forgotten after the window, and the oldest where there is no room', () => {
    const resent = new ResentCreates<string, null>(2);
    const first = resent.begin(create('first', { seed: 1 }), null, NOW, nobody);
    assert.equal(resent.find(create('first', { seed: 1 }), later(RESENT_WINDOW_NS)), first);
    assert.equal(resent.find(create('first', { seed: 1 }), later(RESENT_WINDOW_NS + 1n)), null);
    resent.begin(create('second', { seed: 2 }), null, NOW, nobody);
    resent.begin(create('third', { seed: 3 }), null, NOW, nobody);
    assert.deepEqual(
      [1, 2, 3].map((seed) => resent.find(create(['first', 'second', 'third'][seed - 1], { seed }), NOW) !== null),
      [false, true, true],
    );
    assert.equal(resent.count, 2);
    // Its answer still goes to whom it belongs, and brings nothing back.
    const heard: string[] = [];
    resent.join(first, (answer) => heard.push(answer));
    resent.settle(first, 'Received', true);
    assert.deepEqual([heard, resent.find(create('first', { seed: 1 }), NOW), resent.count], [['Received'], null, 2]);
  });

  test('one user who fills the table takes no room of the others', () => {
    const resent = new ResentCreates<string, null>(10, 6);
    const known = (seed: number, user: string): boolean => resent.find(create('x', { seed, user }), NOW) !== null;
    for (const seed of [1, 2]) resent.begin(create('x', { seed, user: 'honest' }), null, NOW, nobody);
    for (let seed = 10; seed < 60; seed += 1) resent.begin(create('x', { seed, user: 'filler' }), null, NOW, nobody);
    assert.deepEqual([known(1, 'honest'), known(2, 'honest'), resent.count], [true, true, 8]);
    for (let seed = 100; seed < 103; seed += 1) resent.begin(create('x', { seed, user: 'other' }), null, NOW, nobody);
    assert.equal(resent.count, 10, 'full: a user with the most has made room');
    assert.deepEqual([known(1, 'honest'), known(2, 'honest')], [true, true]);
    assert.deepEqual(
      [100, 101, 102].map((seed) => known(seed, 'other')),
      [true, true, true],
    );
    assert.deepEqual([known(54, 'filler'), known(55, 'filler'), known(59, 'filler')], [false, true, true]);
  });
});
