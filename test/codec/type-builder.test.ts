// tier: quick
/** Shapes are TypeBox's, although no start loads it (docs/decisions/0039-no-start-loads-typebox.md). */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { type TSchema, Type as TypeBox } from '@sinclair/typebox';
import { Type } from '../../src/codec/shapes/type-builder.ts';

/** The same schema, made by each of the two. */
const KINDS: readonly ((type: typeof Type) => TSchema)[] = [
  (type) => type.Array(type.String(), { minItems: 1 }),
  (type) => type.Boolean(),
  (type) => type.Integer({ minimum: 1, type: 'number' }),
  (type) => type.Literal('a', { description: 'a word' }),
  (type) => type.Literal(7),
  (type) => type.Null(),
  (type) => type.Number({ title: 'N' }),
  (type) => type.Object({}),
  (type) => type.Object({ a: type.Null(), b: type.Optional(type.String()) }, { additionalProperties: false }),
  (type) => type.Object({ b: type.Optional(type.String({ pattern: 'x' })) }),
  (type) => type.Record(type.String({ pattern: '^a+$' }), type.Integer(), { maxProperties: 2 }),
  (type) => type.String({ minLength: 1 }),
  (type) => type.Union([type.Literal('a'), type.Null()], { writeOnly: true }),
  (type) => type.Unknown(),
  (type) => type.Unsafe({ oneOf: [type.Null()] }),
];

suite('shapes', () => {
  test('each kind is the schema that TypeBox makes, members in the same order', () => {
    for (const made of KINDS) {
      const [ours, theirs] = [made(Type), made(TypeBox)];
      assert.deepStrictEqual(ours, theirs);
      assert.equal(JSON.stringify(ours), JSON.stringify(theirs));
    }
  });

  test('the sources take types of TypeBox, and nothing that is loaded', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const found = files.flatMap((file) => {
      // Statements over several lines too, and `import(…)`.
      const uses =
        readFileSync(join('src', file), 'utf8').match(/\b(?:import|export)\b[^;]*?'@sinclair\/typebox[^']*'/g) ?? [];
      return uses.map((use) => `${file}: ${use}`);
    });
    assert.ok(found.length > 3, 'it finds them');
    assert.deepEqual(
      found.filter((use) => !/: import type /.test(use)),
      [],
    );
  });
});
