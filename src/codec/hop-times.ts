/**
 * When a signed action passed each hop of its road, for those who asked (docs/trading.md): nanoseconds of the node's
 * clock.
 *
 *   received ─▶ verified ─▶ sent to its market ─▶ taken up by the market ─▶ answered
 */
import type { TimestampNs } from '../core/units.ts';

/** Filled in on the way; null for a hop that the action did not reach. */
export interface HopTimes {
  readonly receivedNs: TimestampNs;
  verifiedNs: TimestampNs | null;
  sentNs: TimestampNs | null;
  /** When the market began with it; what it then matched, it matched within microseconds. */
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
