/**
 * Makes the same schema objects as TypeBox, for the kinds that shapes have, with TypeBox's types.
 *
 * TypeBox is 266 files. Loaded by three threads they were 30 % of all files that a start reads, and 18 % of its processor
 * time (docs/decisions/0039-no-start-loads-typebox.md); so the sources take its types, and tests take the whole.
 */
import type { JavaScriptTypeBuilder } from '@sinclair/typebox';

/** Keys that TypeBox registers for its marks: a schema of this builder is one for TypeBox too. */
const KIND = Symbol.for('TypeBox.Kind');
const OPTIONAL = Symbol.for('TypeBox.Optional');

type Kind =
  | ('Array' | 'Boolean' | 'Integer' | 'Literal' | 'Null' | 'Number' | 'Object' | 'Optional')
  | ('Record' | 'String' | 'Union' | 'Unknown' | 'Unsafe');
type Words = Readonly<Record<PropertyKey, unknown>>;
type Members = Readonly<Record<string, Words>>;

/** The options come first, and what the kind defines stands over them. */
function made(schema: Words, options: Words | undefined): Words {
  return options === undefined ? schema : { ...options, ...schema };
}

function plain(kind: Kind, type: string): (options?: Words) => Words {
  return (options) => made({ [KIND]: kind, type }, options);
}

function object(properties: Members, options?: Words): Words {
  const required = Object.keys(properties).filter((name) => properties[name]?.[OPTIONAL] !== 'Optional');
  const names = required.length > 0 ? { required } : {};
  return made({ [KIND]: 'Object', type: 'object', ...names, properties }, options);
}

const BUILDERS: Readonly<Record<Kind, (...given: never[]) => Words>> = {
  Array: (items: Words, options?: Words) => made({ [KIND]: 'Array', type: 'array', items }, options),
  Boolean: plain('Boolean', 'boolean'),
  Integer: plain('Integer', 'integer'),
  Literal: (value: string | number, options?: Words) =>
    made({ [KIND]: 'Literal', const: value, type: typeof value }, options),
  Null: plain('Null', 'null'),
  Number: plain('Number', 'number'),
  Object: object,
  Optional: (schema: Words) => ({ ...schema, [OPTIONAL]: 'Optional' }),
  /** @param key a text with a pattern. */
  Record: (key: { readonly pattern: string }, values: Words, options?: Words) =>
    made({ [KIND]: 'Record', type: 'object', patternProperties: { [key.pattern]: values } }, options),
  String: plain('String', 'string'),
  /** @param types at least two. */
  Union: (types: readonly Words[], options?: Words) => made({ [KIND]: 'Union', anyOf: types }, options),
  Unknown: (options?: Words) => made({ [KIND]: 'Unknown' }, options),
  Unsafe: (options: Words) => made({ [KIND]: options[KIND] ?? 'Unsafe' }, options),
};

/** What TypeBox calls `Type`. */
export const Type: Pick<JavaScriptTypeBuilder, Kind> = BUILDERS as unknown as Pick<JavaScriptTypeBuilder, Kind>;
