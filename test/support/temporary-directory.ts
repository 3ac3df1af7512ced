/** Directories that live as long as the test process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TRIES = 100;
const BETWEEN_TRIES_MS = 50;
const made: string[] = [];
const sleeper = new Int32Array(new SharedArrayBuffer(4));

process.on('exit', () => {
  for (const directory of made) removeDirectory(directory);
});

/**
 * Helpers of a process that was killed may still write while they end: then it is removed again from the start. (Retries
 * of `rmSync` itself do not look for new files.)
 */
export function removeDirectory(path: string): void {
  for (let tries = 1; ; tries += 1) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === TRIES) throw error;
      Atomics.wait(sleeper, 0, 0, BETWEEN_TRIES_MS);
    }
  }
}

/** A fresh empty directory, removed when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-test-'));
  made.push(directory);
  return directory;
}
