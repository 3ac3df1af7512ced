/** Converts shapes to the schemas of a document: a shape with a title becomes a component and is referred to by it. */
import type { TSchema } from '@sinclair/typebox';
import type { JsonWritable } from '../../codec/json-writer.ts';
import { INNER_WORDS } from '../../codec/shapes/shape-kit.ts';
import { assert } from '../../core/assert.ts';

type SchemaText = { readonly [word: string]: JsonWritable };

/** Collects the components of one document. */
export class Components {
  readonly #schemas = new Map<string, SchemaText>();
  readonly #sources = new Map<string, TSchema>();

  /** The schema in the document: a reference if it has a title. */
  refer(shape: TSchema): SchemaText {
    const { title } = shape;
    if (title === undefined) return this.#written(shape);
    const known = this.#sources.get(title);
    assert(known === undefined || known === shape, `one shape only is called ${title}`);
    if (known === undefined) {
      this.#sources.set(title, shape);
      this.#schemas.set(title, this.#written(shape));
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  all(): ReadonlyMap<string, SchemaText> {
    return new Map([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #written(shape: TSchema): SchemaText {
    const words: [string, JsonWritable][] = [];
    for (const [word, value] of Object.entries(shape)) {
      const isPublished = word !== 'title' && !INNER_WORDS.includes(word);
      if (isPublished && value !== undefined) words.push([word, this.#part(word, value)]);
    }
    return Object.fromEntries(words);
  }

  #part(word: string, value: unknown): JsonWritable {
    if (word === 'properties') {
      const members = Object.entries(value as Readonly<Record<string, TSchema>>);
      return new Map(members.map(([name, shape]) => [name, this.refer(shape)]));
    }
    if (Array.isArray(value) && (word === 'anyOf' || word === 'oneOf' || word === 'allOf')) {
      return (value as readonly TSchema[]).map((shape) => this.refer(shape));
    }
    const isSchema = word === 'items' || word === 'propertyNames' || word === 'additionalProperties';
    return isSchema && typeof value === 'object' ? this.refer(value as TSchema) : (value as JsonWritable);
  }
}
