/**
 * How tests wait: for the event itself, never for a guess of how long it takes.
 *
 * The one length of time here is when a test gives up on what must come. No test is about it, so it is far beyond what
 * the slowest and most crowded machine needs.
 */
import assert from 'node:assert/strict';

export const PATIENCE_MS = 240_000;
/** The slowest machine on which tests must hold, in times of a quiet one: bounds of what a test measures are stretched by it. */
export const SLOWEST = 10;
const LOOK_MS = 5;

export async function aMoment(ms: number = LOOK_MS): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until it is true, and fails with these words when it never is. */
export async function eventually(
  isTrue: () => boolean | Promise<boolean>,
  what: () => string = () => 'it never came true',
): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadlineMs) assert.fail(what());
    await aMoment();
  }
}

/** Waits until there is something to see. @returns it; null when nothing ever came. */
export async function seenAtLast<T>(look: () => T | undefined): Promise<T | null> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = look();
    if (seen !== undefined) return seen;
    if (performance.now() > deadlineMs) return null;
    await aMoment();
  }
}
