/**
 * Assertions that stay on in production.
 *
 * A client's mistake is a value (outcome.ts). What is asserted here is a promise of this program to itself; when it
 * is broken the node stops with exit code 70 (operator-api.md §1) and a restart recovers. Nobody catches
 * `InvariantError` to go on.
 */

/** A broken promise of the program to itself. The process that throws it must not serve any further request. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** @throws InvariantError when `condition` is false. */
export function assert(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new InvariantError(promise);
}

/** Narrows away null and undefined; the message says which promise made the value certain. */
export function must<T>(value: T | null | undefined, promise: string): T {
  if (value === null || value === undefined) throw new InvariantError(promise);
  return value;
}

/** Closes a switch over a union: the compiler refuses a missing case, the runtime refuses a forged one. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable value: ${String(value)}`);
}
