/**
 * The memory layout of one ring: offsets and bit pictures. The protocol is in spsc-ring.ts.
 *
 *   byte     0  magic · capacityBytes · reservedBytes                     written once, by createRing
 *          128  tail  ·  records written                                  written by the producer only
 *          256  head  ·  records read                                     written by the consumer only
 *          384  space wanted · resync wanted                               set by one side, cleared by the other
 *          512  data, capacityBytes long, a power of two
 *
 * Words of different writers are two cache lines apart, because processors fetch lines in pairs.
 *
 * `tail` and `head` are byte positions that only grow, as 32-bit integers that wrap after 4 GiB; the offset in the data
 * is `position & (capacityBytes − 1)`. A record starts at a multiple of 8 and never crosses the end of the data:
 *
 *   ┌──────────────────────────┬─────────────┬─────────────┬────────────────────────────────┬──────────┐
 *   │ u32 payload bytes        │ u16 type    │ u16 check   │ payload                        │ 0–7 fill │
 *   └──────────────────────────┴─────────────┴─────────────┴────────────────────────────────┴──────────┘
 *   0                          4             6             8                          multiple of 8
 *
 * A record that would cross the end is preceded by padding, a record of type 0xFFFF that fills the rest.
 *
 * `check` is a hash of position, length and type. It detects a flipped bit in a header, a header that was never written
 * and a header of an earlier lap, before a byte of the payload is used.
 */

/** "RING" and the version of this layout. */
export const RING_MAGIC: number = 0x474e4952 ^ 1;

/** Word (4-byte) indices of the control part. */
export const MAGIC_WORD = 0;
export const CAPACITY_WORD = 1;
export const RESERVED_WORD = 2;
export const TAIL_WORD = 32;
export const WRITTEN_WORD = 33;
export const HEAD_WORD = 64;
export const READ_WORD = 65;
export const ROOM_WANTED_WORD = 96;
export const RESYNC_WANTED_WORD = 97;

/** Offset of the data. */
export const DATA_OFFSET = 512;
export const RECORD_HEADER_BYTES = 8;
export const PADDING_TYPE = 0xffff;

export const CAPACITY_BYTES_MIN = 1_024;
export const CAPACITY_BYTES_MAX: number = 2 ** 30;

/** Size of a record in the ring, including header and fill; a multiple of 8. */
export function recordBytes(payloadBytes: number): number {
  return ((payloadBytes + 7) & ~7) + RECORD_HEADER_BYTES;
}

/** The second header word: type in the low half, check in the high half. Both multipliers are odd, hence bijective. */
export function typeAndCheck(position: number, payloadBytes: number, typeId: number): number {
  const mixed = Math.imul(Math.imul(position, 0x2c1b3c6d) ^ payloadBytes ^ (typeId << 16), 0x9e3779b1);
  return (mixed & 0xffff0000) | typeId;
}
