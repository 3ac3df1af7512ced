/** What the protocol reads of a record of the journal: its place in the chain, and whether a leadership begins or ends with it. */
import { decodeBatch } from '../clearing/journal-batch.ts';
import { InvariantError } from '../core/assert.ts';
import { decodeStandalone, HASH_BYTES } from '../storage/journal-record.ts';
import type { RecordHead } from './events.ts';

/** Takeovers and handovers are alone in their records: a larger payload is a batch of users, which is not decoded here. */
const LEADERS_PAYLOAD_BYTES_MAX = 8_192;
const TIME_AT = 16;
const PREVIOUS_HASH_AT = 24;

/** @returns null when the record is damaged, or has another sequence. */
export function readHead(bytes: Uint8Array, sequence: number): RecordHead | null {
  try {
    const { epoch, hash, payload } = decodeStandalone(bytes, sequence);
    const previousHash = bytes.slice(PREVIOUS_HASH_AT, PREVIOUS_HASH_AT + HASH_BYTES);
    const head = { sequence, epoch, hash, previousHash, takeover: null, handover: null };
    if (payload.length > LEADERS_PAYLOAD_BYTES_MAX) return head;
    const [input] = decodeBatch(payload).inputs;
    if (input?.kind === 'takeover') {
      const { node, run, oms, mds } = input;
      return { ...head, takeover: { node, run, oms, mds } };
    }
    return input?.kind === 'handover' ? { ...head, handover: { to: input.to } } : head;
  } catch (error) {
    if (error instanceof InvariantError || error instanceof RangeError) return null;
    throw error;
  }
}

/** Seconds since a record was made, by the clocks of its maker and of this machine. */
export function recordAgeSeconds(bytes: Uint8Array): number {
  const timeNs = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64BE(TIME_AT);
  return Math.max(0, Date.now() - Number(timeNs / 1_000_000n)) / 1_000;
}
