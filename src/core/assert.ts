/**
 * Assertions that stay enabled in production.
 *
 * A client's mistake is a value (outcome.ts). An assertion states an invariant of this program; when it fails, the node
 * stops with exit code 70 (operator-api.md §1) and a restart recovers. No code catches `InvariantError` to continue.
 */

/** A broken invariant. The process that throws it must not serve any further request. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** @throws InvariantError when `condition` is false. */
export function assert(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new InvariantError(promise);
}

/** Narrows away null and undefined; the message states the invariant that guarantees the value. */
export function must<T>(value: T | null | undefined, promise: string): T {
  if (value === null || value === undefined) throw new InvariantError(promise);
  return value;
}

/** Closes a switch over a union: a missing case fails to compile, an invalid value throws. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable value: ${String(value)}`);
}
