/** Directories that live as long as the test process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

process.on('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true, maxRetries: 30, retryDelay: 50 });
});

/** A fresh empty directory, removed when the process ends. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-test-'));
  made.push(directory);
  return directory;
}
