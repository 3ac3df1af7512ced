/**
 * Which certificates and ends of keys this node has stated in its log (EVD-01): a file with one hash a line. A statement that was made
 * and not noted, at a kill between the two, is made again, which says the same twice.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../storage/data-files.ts';

export class Statements {
  readonly #path: string;
  readonly #known: Set<string>;

  constructor(folder: string) {
    makeDirectory(folder);
    this.#path = join(folder, 'stated');
    this.#known = new Set(existsSync(this.#path) ? readFileSync(this.#path, 'latin1').split('\n') : []);
  }

  /** Those that are not stated yet, which counts as done from here on. */
  missing(notes: readonly string[]): readonly string[] {
    return notes.filter((note) => {
      const hash = createHash('sha256').update(note).digest('hex');
      if (this.#known.has(hash)) return false;
      this.#known.add(hash);
      appendFileSync(this.#path, `${hash}\n`, { mode: 0o600 });
      return true;
    });
  }
}
