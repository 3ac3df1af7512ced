/** Reads `/api-doc.json` and `/async-api.json` into lists of operations and streams, with references resolved. */
import { isJsonObject, JsonFraction, type JsonObject, type JsonValue } from '../../codec/json-tree.ts';
import type { Shape } from '../../codec/shapes/shape-kit.ts';
import { isList } from './json-text.ts';

export interface Parameter {
  readonly name: string;
  readonly place: 'path' | 'query';
  readonly description: string;
  readonly schema: Shape;
  readonly example: string;
}

interface Reply {
  readonly status: string;
  readonly description: string;
  readonly schema: Shape | null;
  readonly example: JsonValue | undefined;
}

export interface Operation {
  readonly id: string;
  readonly area: string;
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly cost: string;
  readonly needsSession: boolean;
  /** Whether its replies have a `Deprecation` header. */
  readonly isDeprecated: boolean;
  /** The signed member of the body; null for none. */
  readonly signs: string | null;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Shape; readonly example: JsonValue } | null;
  readonly replies: readonly Reply[];
}

export interface Message {
  readonly name: string;
  readonly description: string;
  readonly schema: Shape;
  readonly example: JsonValue | undefined;
}

export interface Stream {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly needsSession: boolean;
  readonly sends: readonly Message[];
  readonly receives: readonly Message[];
}

/** Reads a member of a document; throws with the path of a missing one. */
function member(object: JsonValue | undefined, ...path: readonly string[]): JsonValue {
  let at: JsonValue | undefined = object;
  for (const name of path) at = isJsonObject(at) ? at.get(name) : undefined;
  if (at === undefined) throw new Error(`the document has no ${path.join('.')}`);
  return at;
}

function entries(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return isJsonObject(value) ? [...value] : [];
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  return isList(value) ? value : [];
}

function text(object: JsonValue, name: string): string {
  const value = isJsonObject(object) ? object.get(name) : undefined;
  return typeof value === 'string' ? value : '';
}

/** Converts schemas of one document into plain ones without references. Each component is created once and shared. */
class Schemas {
  readonly #document: JsonValue;
  readonly #known = new Map<string, Shape>();

  constructor(document: JsonValue) {
    this.#document = document;
  }

  resolved(schema: JsonValue): Shape {
    return this.#plain(schema) as Shape;
  }

  #plain(value: JsonValue): unknown {
    if (isJsonObject(value)) return this.#object(value);
    if (isList(value)) return value.map((item) => this.#plain(item));
    if (value instanceof JsonFraction) return Number(value.text);
    return typeof value === 'bigint' ? Number(value) : value;
  }

  #object(value: JsonObject): unknown {
    const target = value.get('$ref');
    if (typeof target !== 'string') {
      return Object.fromEntries([...value].map(([name, part]) => [name, this.#plain(part)]));
    }
    const known = this.#known.get(target);
    if (known !== undefined) return known;
    const [, ...path] = target.split('/');
    const shape = { title: path.at(-1), ...(this.#plain(member(this.#document, ...path)) as object) } as Shape;
    this.#known.set(target, shape);
    return shape;
  }
}

export function readOperations(document: JsonValue): readonly Operation[] {
  const schemas = new Schemas(document);
  return entries(member(document, 'paths')).flatMap(([path, methods]) =>
    entries(methods).map(([method, operation]) => readOperation(schemas, method.toUpperCase(), path, operation)),
  );
}

function readOperation(schemas: Schemas, method: string, path: string, operation: JsonValue): Operation {
  const signs = text(operation, 'x-signed-member');
  const content = isJsonObject(operation) ? operation.get('requestBody') : undefined;
  const media = content === undefined ? null : member(content, 'content', 'application/json');
  return {
    id: text(operation, 'operationId'),
    area: String(list(member(operation, 'tags'))[0]),
    method,
    path,
    summary: text(operation, 'summary'),
    description: text(operation, 'description'),
    cost: text(operation, 'x-cost'),
    needsSession: list(member(operation, 'security')).length > 0,
    isDeprecated: isJsonObject(operation) && operation.get('deprecated') === true,
    signs: signs === '' ? null : signs,
    parameters: list(member(operation, 'parameters')).map((one) => readParameter(schemas, one)),
    body:
      media === null ? null : { schema: schemas.resolved(member(media, 'schema')), example: member(media, 'example') },
    replies: entries(member(operation, 'responses')).map(([status, reply]) => readReply(schemas, status, reply)),
  };
}

function readParameter(schemas: Schemas, parameter: JsonValue): Parameter {
  return {
    name: text(parameter, 'name'),
    place: text(parameter, 'in') === 'path' ? 'path' : 'query',
    description: text(parameter, 'description'),
    schema: schemas.resolved(member(parameter, 'schema')),
    example: text(parameter, 'example'),
  };
}

function readReply(schemas: Schemas, status: string, reply: JsonValue): Reply {
  const [media] = entries(member(reply, 'content'));
  const content = media?.[1];
  const schema = isJsonObject(content) ? content.get('schema') : undefined;
  return {
    status,
    description: text(reply, 'description'),
    schema: schema === undefined ? null : schemas.resolved(schema),
    example: isJsonObject(content) ? content.get('example') : undefined,
  };
}

export function readStreams(document: JsonValue): readonly Stream[] {
  const schemas = new Schemas(document);
  return entries(member(document, 'channels')).map(([id, channel]) => {
    const messages = entries(member(channel, 'messages')).map(([name, one]) => readMessage(schemas, name, one));
    const received = new Set(
      list(
        entries(member(document, 'operations')).find(([name]) => name === `receive_${id}`)?.[1] === undefined
          ? []
          : list(member(document, 'operations', `receive_${id}`, 'messages')),
      ).map((reference) => text(reference, '$ref').split('/').at(-1)),
    );
    const description = text(channel, 'description');
    return {
      id,
      path: text(channel, 'address'),
      summary: text(channel, 'title'),
      description,
      needsSession: description.includes('Needs a session'),
      sends: messages.filter(({ name }) => !received.has(name)),
      receives: messages.filter(({ name }) => received.has(name)),
    };
  });
}

function readMessage(schemas: Schemas, name: string, message: JsonValue): Message {
  const [example] = list(isJsonObject(message) ? message.get('examples') : undefined);
  return {
    name,
    description: text(message, 'summary'),
    schema: schemas.resolved(member(message, 'payload')),
    example: isJsonObject(example) ? example.get('payload') : undefined,
  };
}
