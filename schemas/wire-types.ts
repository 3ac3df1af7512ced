/**
 * The types inside the node that members of requests are read into, by the word `x-as` of a shape (shape-kit.ts). Program
 * text, in which stand
 *
 *   @        the value            $1, $2   the fields of its table            #   its name on the wire, in quotes
 *   «…»      in a text: a statement among the characters that are written
 *
 * Where more than a call is needed, a function written by hand has it.
 */
export interface WireType {
  /** In the node. */
  readonly type: string;
  /** The value before it is read, and of an absent member. */
  readonly none: string;
  /** Reads it at a JsonCursor. */
  readonly read: string;
  /** Its canonical text, by a TextWriter; none for what is never signed. */
  readonly text?: string;
  /** The fields of its table; one of its own name unless given. @param name in camel case. */
  fields?(name: string): readonly string[];
  /** Reads it from a table, and where it may be null. */
  readonly at?: string;
  readonly atOrNull?: string;
  /** Entries of a table that is written, and where it may be null. */
  readonly put?: string;
  readonly putOrNull?: string;
  /** Whether it is never null in the node: absent and null are read as `none`. */
  readonly isNeverNull?: boolean;
}

const ASSET: WireType = {
  type: 'SpelledAsset',
  none: 'NO_ASSET',
  read: 'readAsset(cursor)',
  text: '"«text.signed(@.text);»"',
  at: 'assetAt(at, $1, #)',
  put: '[$1, builder.createString(@.text)]',
};

function rawType(type: string): WireType {
  return {
    type,
    none: `0 as ${type}`,
    read: `cursor.readRaw() as ${type}`,
    text: '«text.integer(@);»',
    at: `rawAt(at, $1) as ${type}`,
    atOrNull: `rawOrNullAt(at, $1) as ${type} | null`,
    put: '[$1, BigInt(@)]',
    putOrNull: '[$1, rawOrUnset(@)]',
  };
}

export const WIRE_TYPES: Readonly<Record<string, WireType>> = {
  user: {
    type: 'SpelledUser',
    none: 'NO_USER',
    read: 'readUser(cursor)',
    text: '"«text.signed(@.text);»"',
    at: 'userAt(at, $1, #)',
    put: '[$1, userVector(builder, @)]',
  },
  asset: ASSET,
  /** The market of a replace that names it in the signed object; in its table by a flag. */
  'market of complete terms': {
    ...ASSET,
    fields: () => ['complete', 'assetId'],
    atOrNull: 'marketOfTermsAt(at, $1, $2, #)',
    putOrNull: '[$1, @ !== null]',
  },
  /** The market of any other replace. */
  'market beside the terms': {
    ...ASSET,
    fields: () => ['complete', 'assetId'],
    at: 'marketBesideAt(at, $1, $2, #)',
    put: '[$2, builder.createString(@.text)]',
    isNeverNull: true,
  },
  'order id': {
    type: 'OrderId',
    none: "'' as OrderId",
    read: 'cursor.readString(STRING_DECODED_MAX) as OrderId',
    text: '"«text.signed(@);»"',
    at: 'textAt(at, $1, #) as OrderId',
    put: '[$1, builder.createString(@)]',
  },
  nanoseconds: {
    type: 'TimestampNs',
    none: '0n as TimestampNs',
    read: 'cursor.readTime()',
    text: '«text.u64(@);»',
    at: 'timeAt(at, $1, #)',
    atOrNull: 'timeOrNullAt(at, $1, #)',
    put: '[$1, @]',
    putOrNull: '[$1, @ ?? 0n]',
  },
  'raw price': rawType('RawPrice'),
  'raw quantity': rawType('RawQuantity'),
  side: {
    type: 'Side',
    none: 'SIDE.buy',
    read: 'readSide(cursor)',
    text: '"«text.ascii(SIDE_WORD[@]);»"',
    at: 'sideAt(at, $1, #)',
    put: '[$1, SIDE_VALUE[@]]',
  },
  /** Any number: the only valid one is a rule of the domain. */
  'protocol version': {
    type: 'number',
    none: 'NO_VERSION',
    read: 'cursor.readInteger(0, Number.MAX_SAFE_INTEGER)',
    text: '«text.integer(@);»',
    at: 'reader.unsigned(at, $1)',
    put: '[$1, @]',
    isNeverNull: true,
  },
  'order details': {
    type: 'OrderDetails',
    none: 'NO_DETAILS',
    read: 'readDetails(cursor)',
    text: '«writeDetails(text, @);»',
    fields: (name) => [`${name}Type`, name],
    at: 'detailsAt(at, $1, $2)',
    put: '[$1, DETAILS_TYPE[@.kind]], [$2, detailsTable(builder, @)]',
  },
  trigger: {
    type: 'Trigger',
    none: 'null',
    read: 'readTrigger(cursor)',
    text: '«writeTrigger(text, @);»',
    atOrNull: 'triggerOrNullAt(at, $1)',
    putOrNull: '[$1, triggerOrNone(builder, @)]',
  },
  'new trigger': {
    type: 'NewTrigger',
    none: 'null',
    read: 'readNewTrigger(cursor)',
    text: '«writeNewTrigger(text, @);»',
    fields: (name) => [name, `${name}Form`],
    atOrNull: 'newTriggerOrNullAt(at, $1, $2, #)',
    putOrNull: '[$1, triggerOrNone(builder, @)], [$2, formOf(@)]',
  },
  'set id': {
    type: 'string',
    none: "''",
    read: 'cursor.readString(STRING_DECODED_MAX)',
    text: '"«text.signed(@);»"',
    at: 'textAt(at, $1, #)',
    put: '[$1, builder.createString(@)]',
  },
  'protection group': {
    type: 'string',
    none: 'null',
    read: 'cursor.readString(STRING_DECODED_MAX)',
    text: '"«text.signed(@);»"',
    atOrNull: 'textOrNullAt(at, $1, #)',
    putOrNull: '[$1, textOrNone(builder, @)]',
  },
  'quote entries': {
    type: 'QuoteEntries',
    none: 'NO_QUOTES',
    read: 'readQuoteEntries(cursor)',
    text: '«writeQuoteEntries(text, @);»',
    at: 'quoteEntriesAt(at, $1, #)',
    put: '[$1, quotesVector(builder, @)]',
  },
  signature: {
    type: 'Uint8Array',
    none: 'NO_BYTES',
    read: 'readOrderSignature(cursor)',
    at: 'signatureAt(at, $1, #)',
    put: '[$1, bytesOrNone(builder, @)]',
  },
  'co-signers': {
    type: 'readonly AdditionalSigner[]',
    none: 'NO_SIGNERS',
    read: 'readAdditionalSigners(cursor)',
    at: 'coSignersAt(at, $1, #)',
    put: '[$1, coSignersOrNone(builder, @)]',
    isNeverNull: true,
  },
};

const FLAG: WireType = {
  type: 'boolean',
  none: 'false',
  read: 'cursor.readBoolean()',
  text: '«text.flag(@);»',
  at: 'flagAt(at, $1, #)',
  put: '[$1, @]',
};

/** The type of a member without a word: by its JSON Schema. Texts and 64 bits are only checked (x-inside ''). */
export function plainType(schema: Readonly<Record<string, unknown>>): WireType | null {
  const { type, format, minimum, maximum, enum: words } = schema;
  if (type === 'boolean') return FLAG;
  if (type === 'string') {
    const read = words === undefined ? 'cursor.readString(STRING_DECODED_MAX)' : `readWord(cursor, '${String(words)}')`;
    return { ...FLAG, read };
  }
  if (type !== 'integer') return null;
  if (format === 'uint64') return { ...FLAG, read: 'cursor.readU64()' };
  const at = (minimum as number) < 0 ? 'signedByte' : 'unsigned';
  const read = `cursor.readInteger(${String(minimum)}, ${String(maximum)})`;
  return { type: 'number', none: '0', read, text: '«text.integer(@);»', at: `reader.${at}(at, $1)`, put: '[$1, @]' };
}
