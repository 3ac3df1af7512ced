/**
 * Which certificates and ends of keys are stated in the log of this node (EVD-01): a file with one hash a line, which is written when the
 * statement is journaled. One that was journaled and not noted, at a kill between the two, is made again, and stands twice; none is lost.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../storage/data-files.ts';

export class Statements {
  readonly #path: string;
  readonly #known: Set<string>;
  /** Handed out by this process, and not journaled yet. */
  readonly #asked = new Set<string>();

  constructor(folder: string) {
    makeDirectory(folder);
    this.#path = join(folder, 'stated');
    this.#known = new Set(existsSync(this.#path) ? readFileSync(this.#path, 'latin1').split('\n') : []);
  }

  /** Those that are not stated yet; each is handed out once. */
  missing(notes: readonly string[]): readonly string[] {
    return notes.filter((note) => {
      const hash = hashOf(note);
      if (this.#known.has(hash) || this.#asked.has(hash)) return false;
      this.#asked.add(hash);
      return true;
    });
  }

  /** It is journaled and flushed. */
  journaled(note: string): void {
    const hash = hashOf(note);
    if (this.#known.has(hash)) return;
    appendFileSync(this.#path, `${hash}\n`, { mode: 0o600 });
    this.#known.add(hash);
  }
}

function hashOf(note: string): string {
  return createHash('sha256').update(note).digest('hex');
}
