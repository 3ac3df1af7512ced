/** Payloads that follow from their sequence: another length and other bytes for each. */
export function payloadOf(sequence: number): Uint8Array {
  return Uint8Array.from({ length: sequence % 300 }, (_, index) => (sequence + index) & 0xff);
}
