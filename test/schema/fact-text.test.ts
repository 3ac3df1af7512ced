// tier: quick
/** Lines as bytes equal template strings. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../src/core/hex.ts';
import { FactText } from '../../src/schema/fact-text.ts';
import { propertyParameters } from '../support/property.ts';

type Field =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'nanoseconds' | 'amount'; readonly value: bigint }
  | { readonly kind: 'hex'; readonly value: Uint8Array };

const near = (...values: readonly bigint[]): fc.Arbitrary<bigint> =>
  fc.tuple(fc.constantFrom(...values), fc.bigInt(-2n, 2n)).map(([value, by]) => value + by);

const u64 = fc
  .oneof(fc.bigInt(0n, 2n ** 64n - 1n), near(2n, 10n ** 9n, 2n ** 32n, 10n ** 18n, 2n ** 63n, 5n * 2n ** 32n))
  .filter((value) => value >= 0n && value < 2n ** 64n);

const field: fc.Arbitrary<Field> = fc.oneof(
  fc
    .oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', 'ä'.repeat(4_096), 'é'.repeat(5_000), 'x'.repeat(70_000)),
    )
    .map((value): Field => ({ kind: 'text', value })),
  fc
    .oneof(
      fc.maxSafeInteger(),
      fc.constantFrom(0, 9, 10, 999_999_999, 1_000_000_000, 2 ** 31, 2 ** 32, -1, 2 ** 53 - 1),
    )
    .map((value): Field => ({ kind: 'number', value })),
  u64.map((value): Field => ({ kind: 'nanoseconds', value })),
  fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n).map((value): Field => ({ kind: 'amount', value })),
  fc.uint8Array({ maxLength: 80 }).map((value): Field => ({ kind: 'hex', value })),
);

function write(to: FactText, { kind, value }: Field): void {
  if (kind === 'text') to.text(value);
  else if (kind === 'number') to.number(value);
  else if (kind === 'hex') to.hex(value);
  else to[kind](value);
}

function written(lines: readonly (readonly Field[])[]): string {
  const pieces: Buffer[] = [];
  const to = new FactText((bytes) => pieces.push(Buffer.from(bytes)));
  for (const fields of lines) {
    for (const one of fields) write(to, one);
    to.endLine();
  }
  to.flush();
  return Buffer.concat(pieces).toString('utf8');
}

describe('facts as bytes', () => {
  test('are the lines that template strings would be, whatever the fields and wherever a piece ends (AMB-116)', () => {
    fc.assert(
      fc.property(fc.array(fc.array(field, { minLength: 1, maxLength: 40 }), { maxLength: 40 }), (lines) => {
        const text = lines.map((fields) =>
          fields.map(({ kind, value }) => (kind === 'hex' ? toHex(value) : `${value}`)).join('|'),
        );
        assert.equal(written(lines), text.map((line) => `${line}\n`).join(''));
      }),
      propertyParameters(200),
    );
  });

  test('are handed on before a chunk is outgrown', () => {
    const line: Field[] = Array.from({ length: 60 }, () => ({ kind: 'text', value: 'ü'.repeat(4_096) }));
    const expected = `${line.map(({ value }) => `${value}`).join('|')}\n`;
    assert.equal(written([line, line, line]), expected.repeat(3));
  });
});
