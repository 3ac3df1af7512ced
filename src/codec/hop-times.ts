/**
 * Times at which a signed action passed each hop, returned on request (docs/trading.md): nanoseconds of the node's
 * clock.
 *
 *   received ─▶ verified ─▶ sent to its market ─▶ taken up by the market ─▶ answered
 */
import type { TimestampNs } from '../core/units.ts';

/** Filled in hop by hop; null for a hop that the action did not reach. */
export interface HopTimes {
  readonly receivedNs: TimestampNs;
  verifiedNs: TimestampNs | null;
  sentNs: TimestampNs | null;
  /** When the market began to process it; its fills follow within microseconds. */
  takenNs: TimestampNs | null;
}

export function newHopTimes(receivedNs: TimestampNs): HopTimes {
  return { receivedNs, verifiedNs: null, sentNs: null, takenNs: null };
}

/** The member `timing` of an operation response. */
export function timingObject({ receivedNs, verifiedNs, sentNs, takenNs }: HopTimes, answeredNs: TimestampNs): string {
  return (
    `{"received_ns":${receivedNs},"verified_ns":${verifiedNs},"sent_ns":${sentNs},"matched_ns":${takenNs},` +
    `"answered_ns":${answeredNs}}`
  );
}
