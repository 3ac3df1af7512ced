/** The mark with which editors of some systems begin a text file: no part of its text (MCH-09). */

const MARK = [0xef, 0xbb, 0xbf] as const;

/** @returns the bytes of a text file in UTF-8, without the mark at its beginning. */
export function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(MARK.length) : bytes;
}
