/**
 * Timestamps of clients: nanoseconds since 1970, strictly increasing, so that no two actions of a process are equal.
 */

export type NowNs = () => bigint;

/** @returns a clock on the system time that never returns the same time twice (RPL: a replace must be newer). */
export function systemClock(): NowNs {
  let last = 0n;
  return () => {
    const now = BigInt(Date.now()) * 1_000_000n;
    last = now > last ? now : last + 1n;
    return last;
  };
}
