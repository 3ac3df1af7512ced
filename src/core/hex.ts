/** Hexadecimal text and bytes. Lower case without `0x` on output, any case with an optional `0x` on input (AMB-12). */

const HEX_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX_OF_BYTE[byte];
  return text;
}

/** By character code below 128: the value of the digit, or −1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);

/** The value of one hex digit's character code, or −1. */
function digit(code: number): number {
  return DIGITS[code] ?? -1;
}

/** @returns null unless `text` is exactly `byteCount` bytes of hex, with or without `0x`, in any case. */
export function parseHex(text: string, byteCount: number): Uint8Array | null {
  const start = text.startsWith('0x') || text.startsWith('0X') ? 2 : 0;
  if (text.length - start !== byteCount * 2) return null;
  const bytes = new Uint8Array(byteCount);
  for (let index = 0; index < byteCount; index += 1) {
    const high = digit(text.charCodeAt(start + 2 * index));
    const low = digit(text.charCodeAt(start + 2 * index + 1));
    if (high < 0 || low < 0) return null;
    bytes[index] = high * 16 + low;
  }
  return bytes;
}

/**
 * Decodes the hex digits of `text` into `to`, without allocating.
 *
 * @param text digits only, in any case. @returns the number of bytes written: half the length, or −1 if the text is not
 * hex
 *   or does not fit; the bytes written until then are undefined.
 */
export function writeHex(to: Uint8Array, at: number, text: string): number {
  const byteCount = text.length / 2;
  if (!Number.isInteger(byteCount) || at + byteCount > to.length) return -1;
  for (let index = 0; index < byteCount; index += 1) {
    const high = digit(text.charCodeAt(2 * index));
    const low = digit(text.charCodeAt(2 * index + 1));
    if (high < 0 || low < 0) return -1;
    to[at + index] = high * 16 + low;
  }
  return byteCount;
}
