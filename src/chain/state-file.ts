/**
 * A state in a file of JSON, always written completely, and the checks of what is read from it.
 *
 *   text ─▶ <path>.new ─fsync─▶ rename over <path> ─▶ fsync of the directory ─▶ saveStateFile resolves
 *
 * A file contains the old state or the new one, never a part; a state for which the save has resolved survives a kill and a
 * power cut.
 */
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvariantError } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import { parseUserId, type UserId } from '../core/ids.ts';

const WHOLE_FORM = /^(?:0|[1-9][0-9]{0,77})$/;

export type Json = Readonly<Record<string, unknown>>;

/** @returns null if nothing was saved. @throws Error when it cannot be read. */
export async function loadStateFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** One call at a time for each path; makes the directory. @throws Error when writing fails; the old file is then still there. */
export async function saveStateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Reads values of one kind of file. Every method but `damaged` throws an InvariantError for a value of another kind. */
export class StateReader {
  readonly #what: string;

  /** @param what the file, for errors: `the file of a simulated chain`. */
  constructor(what: string) {
    this.#what = what;
  }

  damaged(how: string): InvariantError {
    return new InvariantError(`${this.#what} is damaged: ${how}`);
  }

  check(condition: boolean, promise: string): void {
    if (!condition) throw this.damaged(`expected that ${promise}`);
  }

  /** A file's content. */
  root(text: string): Json {
    let root: unknown;
    try {
      root = JSON.parse(text);
    } catch {
      throw this.damaged('it is no JSON');
    }
    return this.object(root);
  }

  object(value: unknown): Json {
    this.check(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object is one');
    return value as Json;
  }

  list(value: unknown): readonly unknown[] {
    this.check(Array.isArray(value), 'a list is one');
    return value as readonly unknown[];
  }

  string(value: unknown): string {
    this.check(typeof value === 'string', 'a text is one');
    return value as string;
  }

  /** Hex of so many bytes, with 0x. */
  hex(value: unknown, bytes: number): string {
    const text = this.string(value);
    this.check(parseHex(text, bytes) !== null, `hex has ${bytes} bytes`);
    return text;
  }

  user(value: unknown): UserId {
    const user = parseUserId(this.string(value));
    if (user === null) throw this.damaged('a user id is none');
    return user;
  }

  /** From 0 to 2^53 − 1. */
  count(value: unknown): number {
    this.check(Number.isSafeInteger(value) && (value as number) >= 0, 'a count is one');
    return value as number;
  }

  /** A decimal string of at most 78 digits. */
  whole(value: unknown): bigint {
    const text = this.string(value);
    this.check(WHOLE_FORM.test(text), 'a whole number is one');
    return BigInt(text);
  }
}
