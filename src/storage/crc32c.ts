/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78): finds flipped bits and swapped rows. It is no protection
 * against intent; the journal's hash chain is.
 *
 * Four tables let one step take four bytes: table k advances a byte over k further bytes of zeros.
 */
const POLYNOMIAL = 0x82f63b78;

function tableOfBytes(): Uint32Array {
  const table = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    table[byte] = value;
  }
  return table;
}

function shifted(previous: Uint32Array, first: Uint32Array): Uint32Array {
  return previous.map((value) => (value >>> 8) ^ (first[value & 0xff] ?? 0));
}

const T0 = tableOfBytes();
const T1 = shifted(T0, T0);
const T2 = shifted(T1, T0);
const T3 = shifted(T2, T0);

/**
 * Of `bytes`, or of those from index `from` up to but without `to`.
 *
 * @param seed the checksum of the bytes before, 0 at the start: crc32c(b, crc32c(a)) is that of a followed by b.
 * @returns u32.
 */
export function crc32c(bytes: Uint8Array, seed = 0, from = 0, to: number = bytes.length): number {
  let crc = ~seed;
  let index = from;
  // Indices are masked to the tables' 256 entries, so `?? 0` only satisfies the compiler.
  for (const end = to - 3; index < end; index += 4) {
    crc ^=
      (bytes[index] ?? 0) |
      ((bytes[index + 1] ?? 0) << 8) |
      ((bytes[index + 2] ?? 0) << 16) |
      ((bytes[index + 3] ?? 0) << 24);
    crc =
      (T3[crc & 0xff] ?? 0) ^ (T2[(crc >>> 8) & 0xff] ?? 0) ^ (T1[(crc >>> 16) & 0xff] ?? 0) ^ (T0[crc >>> 24] ?? 0);
  }
  for (; index < to; index += 1) crc = (crc >>> 8) ^ (T0[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}
