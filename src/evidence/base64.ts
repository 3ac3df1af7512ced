/** Canonical base64 with padding (RFC 4648 section 4), in Node.js and in a browser: one text for each piece of bytes. */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

export function base64Of(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const [one = 0, two = 0, three = 0] = bytes.subarray(at, at + 3);
    const bits = one * 0x1_0000 + two * 0x100 + three;
    const digits = [18, 12, 6, 0].map((shift) => DIGITS.charAt((bits >> shift) & 63)).join('');
    const left = bytes.length - at;
    pieces.push(left >= 3 ? digits : digits.slice(0, left + 1).padEnd(4, '='));
  }
  return pieces.join('');
}

/** @returns null unless `text` is exactly what `base64Of` writes of some bytes. */
export function readBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let at = 0; at < text.length; at += 4) {
    const bits = [0, 1, 2, 3].reduce((sum, index) => sum * 64 + (VALUES.get(text.charAt(at + index)) ?? 0), 0);
    const to = (at / 4) * 3;
    // A write behind the end of a typed array is none.
    bytes[to] = bits >> 16;
    bytes[to + 1] = bits >> 8;
    bytes[to + 2] = bits;
    const unused = at + 4 < text.length ? 0 : padding;
    if (unused === 1 && (bits & 0xff) !== 0) return null;
    if (unused === 2 && (bits & 0xffff) !== 0) return null;
  }
  return bytes;
}
