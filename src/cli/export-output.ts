/** Common parts of the commands that write what a data directory holds for others. */
import { createWriteStream, renameSync, rmSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { usageError } from './command.ts';

/** 64 hex digits. @throws CliError 64. */
export function userGiven(text: string): string {
  const user = text.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(user)) throw usageError(`--user takes the id of a user, 64 hex digits, not "${text}"`);
  return user;
}

/** A file appears when it is whole, in the place of an earlier one, for its owner alone. @param file undefined: standard output. */
export async function toOutput<T>(file: string | undefined, write: (to: Writable) => Promise<T>): Promise<T> {
  if (file === undefined) return write(process.stdout);
  const part = `${file}.part`;
  const stream = createWriteStream(part, { mode: 0o600 });
  // A disk that is full is reported between two writes.
  const failed = new Promise<never>((_, reject) => stream.once('error', reject));
  try {
    const result = await Promise.race([write(stream), failed]);
    stream.end();
    await finished(stream);
    renameSync(part, file);
    return result;
  } catch (error) {
    stream.destroy();
    rmSync(part, { force: true });
    throw error;
  }
}
