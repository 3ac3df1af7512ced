/**
 * Decodes JSON strings with escapes or with bytes above 0x7f. Accepts only well-formed UTF-8 (RFC 3629) and no lone
 * surrogate, raw or as `\u` (AMB-02): two different strings must never sign the same bytes.
 *
 * Plain ASCII strings, the usual case, are sliced by the cursor.
 */

/** The decoded text and the position after its closing quote, or the fault. */
type DecodedString =
  | { readonly ok: true; readonly text: string; readonly next: number }
  | { readonly ok: false; readonly fault: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

const SIMPLE_ESCAPES: ReadonlyMap<number, string> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, text]) => [letter.charCodeAt(0), text],
  ),
);

/** @param start the position after the opening quote. */
export function decodeString(bytes: Uint8Array, start: number, end: number): DecodedString {
  let text = '';
  let at = start;
  while (at < end) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) return { ok: true, text, next: at + 1 };
    // mutant: control-characters
    if (byte < 0x20) return { ok: false, fault: 'a control character in a string' };
    if (byte === BACKSLASH) {
      const escaped = decodeEscape(bytes, at + 1, end);
      if (escaped === null) return { ok: false, fault: 'a broken escape in a string' };
      text += escaped.text;
      at = escaped.next;
    } else if (byte < 0x80) {
      text += String.fromCharCode(byte);
      at += 1;
    } else {
      const length = sequenceLength(bytes, at, end);
      if (length === 0) return { ok: false, fault: 'bytes that are not UTF-8' };
      text += String.fromCodePoint(codePoint(bytes, at, length));
      at += length;
    }
  }
  return { ok: false, fault: 'a string without end' };
}

/** @param at the position after the backslash. @returns null for an unknown escape or half a surrogate pair. */
function decodeEscape(bytes: Uint8Array, at: number, end: number): { text: string; next: number } | null {
  if (at >= end) return null;
  const letter = bytes[at] as number;
  const simple = SIMPLE_ESCAPES.get(letter);
  if (simple !== undefined) return { text: simple, next: at + 1 };
  const unit = letter === LETTER_U ? hexUnit(bytes, at + 1, end) : -1;
  // mutant: surrogate-pairs
  if (unit < 0 || isLowSurrogate(unit)) return null;
  if (!isHighSurrogate(unit)) return { text: String.fromCharCode(unit), next: at + 5 };
  const isEscaped = at + 6 < end && bytes[at + 5] === BACKSLASH && bytes[at + 6] === LETTER_U;
  const low = isEscaped ? hexUnit(bytes, at + 7, end) : -1;
  return low >= 0 && isLowSurrogate(low) ? { text: String.fromCharCode(unit, low), next: at + 11 } : null;
}

/** Four hex digits as a code unit, or −1. */
function hexUnit(bytes: Uint8Array, at: number, end: number): number {
  if (at + 4 > end) return -1;
  let unit = 0;
  for (let index = at; index < at + 4; index += 1) {
    const byte = bytes[index] as number;
    const lower = byte | 0x20;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/**
 * The length of the well-formed UTF-8 sequence at `at`, or 0. The first continuation byte has a narrower range after
 * E0 and F0 (over-long forms), ED (surrogates) and F4 (beyond U+10FFFF).
 */
function sequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number;
  const length =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  if (length === 0 || at + length > end) return 0;
  const second = bytes[at + 1] as number;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let index = at + 2; index < at + length; index += 1) {
    if (((bytes[index] as number) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  let point = (bytes[at] as number) & (0x7f >> length);
  for (let index = at + 1; index < at + length; index += 1) point = point * 64 + ((bytes[index] as number) & 0x3f);
  return point;
}
