/**
 * Requests that were refused before the journal, as JSON lines in files of their own (EXP-01): they are no rows, and in no tree.
 *
 *   evidence/refusals/<milliseconds since 1970, 15 digits>.jsonl
 *
 * Nothing waits for it: what a slow disk does not take in time is dropped and counted in the next line. Files are closed at some MiB, and
 * the oldest goes when there are too many.
 */
import { readdirSync } from 'node:fs';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../storage/data-files.ts';

const FILE_BYTES_MAX = 16 << 20;
const FILES_MAX = 64;
const WAITING_BYTES_MAX = 4 << 20;
const WRITE_MS = 1_000;

/** A request as it was refused. */
interface RefusedRequest {
  readonly timeNs: bigint;
  /** 64 hex digits. */
  readonly user: string;
  /** What it was, in the words of the gateway: create, replace, cancel, amend, quotes. */
  readonly action: string;
  /** The code of the refusal. */
  readonly code: string;
  readonly message: string;
  /** What was signed. */
  readonly text: string;
}

export class RefusalLog {
  readonly #folder: string;
  readonly #failed: (reason: string) => void;
  #file = '';
  #fileBytes = 0;
  #lines: string[] = [];
  #bytes = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  #isWriting = false;

  /** @param failed called when the disk refuses: lines are lost, and the next are tried again. */
  constructor(folder: string, failed: (reason: string) => void) {
    this.#folder = join(folder, 'refusals');
    this.#failed = failed;
  }

  write({ timeNs, user, action, code, message, text }: RefusedRequest): void {
    const line = `${JSON.stringify({ v: 1, time_ns: `${timeNs}`, user, action, code, message, text })}\n`;
    if (this.#bytes + line.length > WAITING_BYTES_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#flush();
    }, WRITE_MS);
  }

  /** What waits is written before it resolves. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#isWriting || this.#lines.length === 0) return;
    this.#isWriting = true;
    if (this.#dropped > 0) this.#lines.push(`${JSON.stringify({ v: 1, dropped: this.#dropped })}\n`);
    const text = this.#lines.join('');
    this.#lines = [];
    this.#bytes = 0;
    this.#dropped = 0;
    try {
      if (this.#file === '' || this.#fileBytes >= FILE_BYTES_MAX) await this.#rotate();
      await appendFile(this.#file, text, { mode: 0o600 });
      this.#fileBytes += text.length;
    } catch (error) {
      this.#failed(error instanceof Error ? error.message : String(error));
    } finally {
      this.#isWriting = false;
    }
  }

  async #rotate(): Promise<void> {
    makeDirectory(this.#folder);
    this.#file = join(this.#folder, `${String(Date.now()).padStart(15, '0')}.jsonl`);
    this.#fileBytes = 0;
    const files = readdirSync(this.#folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort();
    for (const name of files.slice(0, Math.max(0, files.length - FILES_MAX + 1))) await rm(join(this.#folder, name));
  }
}
