/**
 * Reads the subset of FlatBuffers that schemas/messages.fbs uses and lays its structs out by the FlatBuffers rules:
 * every field at a multiple of its own alignment, in declaration order, the struct padded to its largest alignment.
 *
 * Not here: tables, vectors, unions. A message is one struct, so that it can be read in place in a ring.
 */

export interface FieldLayout {
  readonly name: string;
  readonly type: string;
  /** 0 for a scalar or struct field, else the element count of a fixed array. */
  readonly arrayLength: number;
  readonly offset: number;
}

export interface StructLayout {
  readonly name: string;
  /** 0 for helper structs such as Int128. */
  readonly typeId: number;
  readonly comment: string;
  readonly fields: readonly FieldLayout[];
  readonly bytes: number;
}

const SCALAR_BYTES: Readonly<Record<string, number>> = {
  ubyte: 1,
  ushort: 2,
  int: 4,
  uint: 4,
  double: 8,
  long: 8,
  ulong: 8,
  Int128: 16,
};

const STRUCT_FORM = /((?:^\/\/\/[^\n]*\n)*)^struct (\w+)(?: \(type_id: (\d+)\))? \{([^}]*)\}/gm;
const FIELD_FORM = /^(\w+): (?:\[(\w+):(\d+)\]|(\w+))$/;

/** @throws Error naming the line when the schema leaves the subset. */
export function readSchema(text: string): readonly StructLayout[] {
  const structs: StructLayout[] = [];
  for (const [, comment = '', name = '', typeId = '0', body = ''] of text.matchAll(STRUCT_FORM)) {
    structs.push({
      ...layOut(name, body),
      name,
      typeId: Number(typeId),
      comment: comment.replace(/^\/\/\/ ?/gm, '').trim(),
    });
  }
  assertUnique(structs);
  return structs;
}

function layOut(structName: string, body: string): { readonly fields: FieldLayout[]; readonly bytes: number } {
  const fields: FieldLayout[] = [];
  let end = 0;
  let largest = 1;
  for (const declaration of body
    .split(';')
    .map((line) => line.trim())
    .filter((line) => line !== '')) {
    const match = FIELD_FORM.exec(declaration);
    if (match === null) throw new Error(`${structName}: cannot read the field "${declaration}"`);
    const [, name = '', element, length = '0', scalar] = match;
    const type = element ?? scalar ?? '';
    const size = SCALAR_BYTES[type];
    if (size === undefined) throw new Error(`${structName}.${name}: unknown type ${type}`);
    const alignment = Math.min(size, 8);
    const offset = Math.ceil(end / alignment) * alignment;
    fields.push({ name, type, arrayLength: Number(length), offset });
    end = offset + size * Math.max(1, Number(length));
    largest = Math.max(largest, alignment);
  }
  return { fields, bytes: Math.ceil(end / largest) * largest };
}

function assertUnique(structs: readonly StructLayout[]): void {
  const ids = structs.map((struct) => struct.typeId).filter((id) => id !== 0);
  if (new Set(ids).size !== ids.length) throw new Error('two structs have one type id');
}
