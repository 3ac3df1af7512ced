/**
 * Typed views of one buffer: messages are written and read in place through them, in a ring, a scratch buffer or a
 * journal record. Every message starts at a multiple of 8, so each field is naturally aligned.
 */
export interface Views {
  readonly u8: Uint8Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  readonly u64: BigUint64Array;
  readonly i64: BigInt64Array;
}

/** @param byteOffset a multiple of 8. @param byteLength a multiple of 8. */
export function viewsOf(buffer: ArrayBufferLike, byteOffset: number, byteLength: number): Views {
  return {
    u8: new Uint8Array(buffer, byteOffset, byteLength),
    u16: new Uint16Array(buffer, byteOffset, byteLength >> 1),
    i32: new Int32Array(buffer, byteOffset, byteLength >> 2),
    u32: new Uint32Array(buffer, byteOffset, byteLength >> 2),
    f64: new Float64Array(buffer, byteOffset, byteLength >> 3),
    u64: new BigUint64Array(buffer, byteOffset, byteLength >> 3),
    i64: new BigInt64Array(buffer, byteOffset, byteLength >> 3),
  };
}
