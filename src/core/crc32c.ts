/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78): finds flipped bits and swapped rows. It is no protection
 * against intent; the journal's hash chain is.
 *
 * Sixteen tables let one step take sixteen bytes: table k advances a byte over k further bytes of zeros.
 */
const POLYNOMIAL = 0x82f63b78;
const TABLES = 16;

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
 * The checksum of `bytes`, or of the part from index `from` up to, but not including, `to`.
 *
 * @param seed the checksum of the bytes before, 0 at the start: crc32c(b, crc32c(a)) is that of a followed by b.
 * @param view of the same bytes, where there is one: of hundreds of them it saves a quarter of the time.
 * @returns u32.
 */
export function crc32c(
  bytes: Uint8Array,
  seed = 0,
  from = 0,
  to: number = bytes.length,
  view: DataView | null = null,
): number {
  let crc = ~seed;
  let index = from;
  if (view !== null) {
    const words = (to - from) & ~15;
    crc = crcOfWords(view, crc, from, from + words);
    index += words;
  }
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

/** Four words of four bytes a step. @param crc inverted, as is what is returned. */
function crcOfWords(view: DataView, crc: number, from: number, to: number): number {
  let state = crc;
  for (let index = from; index < to; index += 16) {
    const a = state ^ view.getInt32(index, true);
    const b = view.getInt32(index + 4, true);
    const c = view.getInt32(index + 8, true);
    const d = view.getInt32(index + 12, true);
    state =
      (T[3840 + (a & 0xff)] ?? 0) ^
      (T[3584 + ((a >>> 8) & 0xff)] ?? 0) ^
      (T[3328 + ((a >>> 16) & 0xff)] ?? 0) ^
      (T[3072 + (a >>> 24)] ?? 0) ^
      (T[2816 + (b & 0xff)] ?? 0) ^
      (T[2560 + ((b >>> 8) & 0xff)] ?? 0) ^
      (T[2304 + ((b >>> 16) & 0xff)] ?? 0) ^
      (T[2048 + (b >>> 24)] ?? 0) ^
      (T[1792 + (c & 0xff)] ?? 0) ^
      (T[1536 + ((c >>> 8) & 0xff)] ?? 0) ^
      (T[1280 + ((c >>> 16) & 0xff)] ?? 0) ^
      (T[1024 + (c >>> 24)] ?? 0) ^
      (T[768 + (d & 0xff)] ?? 0) ^
      (T[512 + ((d >>> 8) & 0xff)] ?? 0) ^
      (T[256 + ((d >>> 16) & 0xff)] ?? 0) ^
      (T[d >>> 24] ?? 0);
  }
  return state;
}
