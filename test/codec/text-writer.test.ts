// tier: quick
/** Canonical texts as bytes, and ids that are found again by their bytes. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { JsonCursor } from '../../src/codec/json-cursor.ts';
import { KnownTexts } from '../../src/codec/known-texts.ts';
import { readUser } from '../../src/codec/signed-text.ts';
import { requestBytes, type TextWriter, textBytes, TextWriter as Writer } from '../../src/codec/text-writer.ts';
import { propertyParameters } from '../support/property.ts';

const U64_MAX = 2n ** 64n - 1n;
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

suite('canonical texts as bytes', () => {
  test('an integer is written as String writes it, up to 2^53−1 and 2^64−1 (wire.md 4.1)', () => {
    const integers = (text: TextWriter, [safe, wide]: readonly [number, bigint]): void => {
      text.integer(safe);
      text.ascii(' ');
      text.u64(wide);
    };
    const whole = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -128, max: 127 }), fc.nat());
    const wide = fc.oneof(fc.bigInt({ min: 0n, max: U64_MAX }), fc.bigInt({ min: 0n, max: 2_000_000_000n }));
    fc.assert(
      fc.property(whole, wide, (safe, big) => latin1(textBytes([safe, big], integers)) === `${safe} ${big}`),
      propertyParameters(500),
    );
    for (const power of Array.from({ length: 20 }, (_, exponent) => 10n ** BigInt(exponent))) {
      for (const value of [power - 1n, power, U64_MAX])
        assert.equal(latin1(textBytes([0, value], integers)), `0 ${value}`);
    }
  });

  test('a text keeps its bytes while later ones are written, through any number of chunks', () => {
    const write = (text: TextWriter, value: string): void => text.signed(value);
    const texts = Array.from({ length: 500 }, (_, at) => String(at % 10).repeat(1 + ((at * 37) % 1_024)));
    const written = texts.map((text) => textBytes(text, write));
    const copied = texts.map((text) => requestBytes(Buffer.from(text), text.length));
    assert.deepEqual(written.map(latin1), texts);
    assert.deepEqual(copied.map(latin1), texts);
  });

  test('a text that is too long, or not visible ASCII without escapes, is none (AMB-03)', () => {
    const write = (text: TextWriter, value: string): void => text.signed(value);
    for (const bad of ['a b', 'a\rb', 'é', '"', '\\', '\t', '\x7f', 'x'.repeat(1_025)]) {
      assert.throws(() => textBytes(bad, write));
      assert.equal(latin1(textBytes('next', write)), 'next', 'the next one does not contain it');
    }
    const writer = new Writer();
    writer.begin();
    writer.ascii('dropped');
    writer.begin();
    writer.ascii('kept');
    assert.equal(latin1(writer.end()), 'kept');
  });
});

suite('ids that were read before', () => {
  test('an id is found by exactly its bytes, whatever shares its place', () => {
    const table = new KnownTexts<{ readonly text: string }>();
    const id = fc.string({ unit: fc.constantFrom(...'abc019@'), minLength: 1, maxLength: 100 });
    fc.assert(
      fc.property(fc.array(id, { maxLength: 50 }), id, (added, wanted) => {
        for (const text of added) table.add({ text });
        const found = table.find(Buffer.from(`${wanted}",`), 0, wanted.length + 2);
        return found === null || found.text === wanted;
      }),
      propertyParameters(200),
    );
    table.add({ text: 'found' });
    assert.equal(table.find(Buffer.from('"found"'), 1, 7)?.text, 'found');
    for (const other of ['found', 'foun"', 'founds"', 'found\\"', 'Found"']) {
      assert.equal(table.find(Buffer.from(other), 0, other.length), null, other);
    }
  });

  test('a user in any spelling is read twice with the same id and its own spelling (AMB-12)', () => {
    const cursor = new JsonCursor();
    const plain = 'ab'.repeat(32);
    for (const text of [plain, plain.toUpperCase(), plain, plain.toUpperCase()]) {
      const bytes = Buffer.from(JSON.stringify(text));
      cursor.reset(bytes, 0, bytes.length);
      assert.deepEqual(readUser(cursor), { id: plain, text });
      assert.ok(cursor.finish());
    }
  });
});
