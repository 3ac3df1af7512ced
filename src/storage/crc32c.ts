/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78): finds flipped bits and swapped rows. It is no protection
 * against intent; the journal's hash chain is.
 *
 * Eight tables let one step take eight bytes: table k advances a byte over k further bytes of zeros.
 */
const POLYNOMIAL = 0x82f63b78;
const TABLES = 8;

/** Table k at 256 × k. */
function tablesOfBytes(): Int32Array {
  const tables = new Int32Array(TABLES * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    tables[byte] = value;
  }
  for (let index = 256; index < tables.length; index += 1) {
    const previous = tables[index - 256] ?? 0;
    tables[index] = (previous >>> 8) ^ (tables[previous & 0xff] ?? 0);
  }
  return tables;
}

const T = tablesOfBytes();

/**
 * Of `bytes`, or of those from index `from` up to but without `to`.
 *
 * @param seed the checksum of the bytes before, 0 at the start: crc32c(b, crc32c(a)) is that of a followed by b.
 * @returns u32.
 */
export function crc32c(bytes: Uint8Array, seed = 0, from = 0, to: number = bytes.length): number {
  let crc = ~seed;
  let index = from;
  // Indices stay within the tables and the bytes, so `?? 0` only satisfies the compiler.
  for (const end = to - 7; index < end; index += 8) {
    crc ^=
      (bytes[index] ?? 0) |
      ((bytes[index + 1] ?? 0) << 8) |
      ((bytes[index + 2] ?? 0) << 16) |
      ((bytes[index + 3] ?? 0) << 24);
    crc =
      (T[1792 + (crc & 0xff)] ?? 0) ^
      (T[1536 + ((crc >>> 8) & 0xff)] ?? 0) ^
      (T[1280 + ((crc >>> 16) & 0xff)] ?? 0) ^
      (T[1024 + (crc >>> 24)] ?? 0) ^
      (T[768 + (bytes[index + 4] ?? 0)] ?? 0) ^
      (T[512 + (bytes[index + 5] ?? 0)] ?? 0) ^
      (T[256 + (bytes[index + 6] ?? 0)] ?? 0) ^
      (T[bytes[index + 7] ?? 0] ?? 0);
  }
  for (; index < to; index += 1) crc = (crc >>> 8) ^ (T[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}
