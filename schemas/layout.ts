/**
 * Reads the subset of FlatBuffers that schemas/messages.fbs uses and lays its structs out by the FlatBuffers rules:
 * every field at a multiple of its own alignment, in declaration order, the struct padded to its largest alignment.
 *
 *   /// What the struct is.
 *   struct Name (type_id: 1) {
 *     /// What the field is.
 *     price: double (ts: "RawPrice");
 *     user: [ubyte:32] (hex, ts: "UserId");
 *     order_id: [ubyte:64] (ascii: "order_id_bytes", ts: "OrderId");
 *     order: OrderRecord;
 *   }
 *
 * Not here: tables, vectors, unions. A message is one struct, so that it can be read in place in a ring.
 */

/** Names with their values; an attribute without a value has the empty text. */
export type Attributes = ReadonlyMap<string, string>;

export interface FieldLayout {
  readonly name: string;
  readonly type: string;
  /** 0 for a scalar or struct field, else the element count of a fixed array. */
  readonly arrayLength: number;
  readonly offset: number;
  readonly comment: string;
  readonly attributes: Attributes;
}

export interface StructLayout {
  readonly name: string;
  /** 0 for what is only part of other structs. */
  readonly typeId: number;
  readonly comment: string;
  readonly attributes: Attributes;
  readonly fields: readonly FieldLayout[];
  readonly bytes: number;
  /** The largest alignment of its fields. */
  readonly alignment: number;
}

interface Size {
  readonly bytes: number;
  readonly alignment: number;
}

const SCALAR_BYTES: Readonly<Record<string, number>> = {
  bool: 1,
  ubyte: 1,
  ushort: 2,
  int: 4,
  uint: 4,
  double: 8,
  long: 8,
  ulong: 8,
};

const COMMENT = String.raw`((?:[ \t]*\/\/\/[^\n]*\n)*)`;
const ATTRIBUTES = String.raw`(?: \(([^)]*)\))?`;
const STRUCT_FORM = new RegExp(String.raw`^${COMMENT}struct (\w+)${ATTRIBUTES} \{([^}]*)\}`, 'gm');
const FIELD_FORM = new RegExp(String.raw`\s*${COMMENT}\s*(\w+): (?:\[(\w+):(\d+)\]|(\w+))${ATTRIBUTES};`, 'y');
const ATTRIBUTE_FORM = /^(\w+)(?:: (?:"([^"]*)"|(\d+)))?$/;
const DECLARED_FORM = /^attribute "(\w+)";/gm;

/** @throws Error naming the place when the schema leaves the subset. */
export function readSchema(text: string): readonly StructLayout[] {
  const declared = new Set(Array.from(text.matchAll(DECLARED_FORM), ([, name]) => name ?? ''));
  const structs = new Map<string, StructLayout>();
  for (const [, comment = '', name = '', list = '', body = ''] of text.matchAll(STRUCT_FORM)) {
    if (structs.has(name)) throw new Error(`two structs are called ${name}`);
    const attributes = readAttributes(list, declared, name);
    const typeId = Number(attributes.get('type_id') ?? '0');
    structs.set(name, {
      ...layOut(name, readFields(name, body, declared), structs),
      name,
      typeId,
      comment: plainComment(comment),
      attributes,
    });
  }
  assertUnique([...structs.values()]);
  return [...structs.values()];
}

function plainComment(lines: string): string {
  return lines.replace(/^[ \t]*\/\/\/ ?/gm, '').trim();
}

function readAttributes(list: string, declared: ReadonlySet<string>, where: string): Attributes {
  const attributes = new Map<string, string>();
  for (const item of list.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const match = ATTRIBUTE_FORM.exec(item);
    if (match === null) throw new Error(`${where}: cannot read the attribute "${item}"`);
    const [, name = '', text, digits] = match;
    if (!declared.has(name)) throw new Error(`${where}: the attribute "${name}" is not declared`);
    attributes.set(name, text ?? digits ?? '');
  }
  return attributes;
}

type Declared = Omit<FieldLayout, 'offset'>;

function readFields(structName: string, body: string, declared: ReadonlySet<string>): Declared[] {
  const fields: Declared[] = [];
  FIELD_FORM.lastIndex = 0;
  let end = 0;
  for (let match = FIELD_FORM.exec(body); match !== null; match = FIELD_FORM.exec(body)) {
    const [, comment = '', name = '', element, length = '0', scalar, list = ''] = match;
    end = FIELD_FORM.lastIndex;
    fields.push({
      name,
      type: element ?? scalar ?? '',
      arrayLength: Number(length),
      comment: plainComment(comment),
      attributes: readAttributes(list, declared, `${structName}.${name}`),
    });
  }
  const rest = body.slice(end).trim();
  if (rest !== '') throw new Error(`${structName}: cannot read the field "${rest.split(';')[0]}"`);
  return fields;
}

function layOut(
  structName: string,
  declared: readonly Declared[],
  structs: ReadonlyMap<string, StructLayout>,
): { readonly fields: FieldLayout[]; readonly bytes: number; readonly alignment: number } {
  const fields: FieldLayout[] = [];
  let end = 0;
  let largest = 1;
  for (const field of declared) {
    const { bytes, alignment } = sizeOf(field.type, structs, `${structName}.${field.name}`);
    const offset = Math.ceil(end / alignment) * alignment;
    fields.push({ ...field, offset });
    end = offset + bytes * Math.max(1, field.arrayLength);
    largest = Math.max(largest, alignment);
  }
  return { fields, bytes: Math.ceil(end / largest) * largest, alignment: largest };
}

function sizeOf(type: string, structs: ReadonlyMap<string, StructLayout>, where: string): Size {
  const scalar = SCALAR_BYTES[type];
  if (scalar !== undefined) return { bytes: scalar, alignment: scalar };
  const struct = structs.get(type);
  if (struct === undefined) throw new Error(`${where}: unknown type ${type}`);
  return struct;
}

function assertUnique(structs: readonly StructLayout[]): void {
  const ids = structs.map((struct) => struct.typeId).filter((id) => id !== 0);
  if (new Set(ids).size !== ids.length) throw new Error('two structs have one type id');
}
