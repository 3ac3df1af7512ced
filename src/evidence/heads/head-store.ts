/**
 * The heads that this node has signed, durable before anyone sees them (EVD-06, EVD-07):
 *
 *   heads/<hour since 1970, 10 digits>.jsonl   every head of that hour, one JSON object a line; kept for 48 h
 *   heads/kept.jsonl                           of hours before that the last head, and for ever those in issued proofs
 *
 *   {"at_ms":1795945858000,"size":70,"note":"…"}
 *
 * A head whose witnesses have cosigned it is written again, with their signatures: of the same size the last line holds. One owner.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../codec/json-tree.ts';
import { flush, makeDirectory } from '../../storage/data-files.ts';
import { StorageError, storageError } from '../../storage/storage-error.ts';
import { readSignedHead, type SignedHead } from '../venue-notes.ts';

const HOUR_MS = 3_600_000;
const KEPT_HOURS = 48;
const KEPT = 'kept.jsonl';
/** Sizes of issued heads that are remembered, so that a head is written once. */
const ISSUED_MAX = 4_096;

/** A head with its note and the time of the node at which it was signed. */
export interface StoredHead extends SignedHead {
  readonly atMs: number;
  /** The text of the note. */
  readonly text: string;
}

export class HeadStore {
  readonly #folder: string;
  #newest: StoredHead | null;
  #cosigned: StoredHead | null = null;
  readonly #issued = new Set<number>();

  /** @param folder is made. @throws StorageError for a file that is damaged elsewhere than at its torn end. */
  constructor(folder: string) {
    this.#folder = folder;
    makeDirectory(folder);
    cutTornLines(folder);
    this.#newest = newestHead(folder);
  }

  get newest(): StoredHead | null {
    return this.#newest;
  }

  /** The newest head since this start that as many witnesses have cosigned as the venue promises. */
  get cosigned(): StoredHead | null {
    return this.#cosigned;
  }

  /** Durable when it returns. @param text a note of a head, of a larger size than the newest. */
  append(text: string, atMs: number): StoredHead {
    const head = this.#store(text, atMs);
    this.#newest = head;
    return head;
  }

  /** The same head with cosignatures. @param isEnough whether they are as many as the venue promises. */
  cosign(text: string, { atMs }: StoredHead, isEnough: boolean): StoredHead {
    const head = this.#store(text, atMs);
    if (head.head.size === this.#newest?.head.size) this.#newest = head;
    if (isEnough && head.head.size >= (this.#cosigned?.head.size ?? 0)) this.#cosigned = head;
    return head;
  }

  #store(text: string, atMs: number): StoredHead {
    const signed = readSignedHead(text);
    if (signed === null) throw new StorageError('a head that was signed cannot be read');
    const head = { ...signed, text, atMs };
    this.#write(`${hourOf(atMs)}.jsonl`, head);
    return head;
  }

  /** A head stands in an issued proof: it is kept for ever. Durable when it returns. */
  issue(head: StoredHead): void {
    if (this.#issued.has(head.head.size)) return;
    this.#write(KEPT, head);
    if (this.#issued.size >= ISSUED_MAX) this.#issued.clear();
    this.#issued.add(head.head.size);
  }

  /** Of hours that are two days old the last head stays. */
  forget(nowMs: number): void {
    const oldest = hourOf(nowMs - KEPT_HOURS * HOUR_MS);
    for (const name of hourFiles(this.#folder)) {
      if (name.slice(0, -'.jsonl'.length) >= oldest) return;
      const last = lastHead(join(this.#folder, name));
      if (last !== null) this.#write(KEPT, last);
      rmSync(join(this.#folder, name));
    }
  }

  #write(name: string, { atMs, head, text }: StoredHead): void {
    const path = join(this.#folder, name);
    try {
      const isNew = !existsSync(path);
      const descriptor = openSync(path, 'a', 0o600);
      try {
        const line = Buffer.from(`{"at_ms":${atMs},"size":${head.size},"note":${JSON.stringify(text)}}\n`, 'utf8');
        for (let done = 0; done < line.length; ) done += writeSync(descriptor, line, done);
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      if (isNew) flush(this.#folder);
    } catch (error) {
      throw storageError('writing a head of the evidence', error, this.#folder);
    }
  }
}

function hourOf(atMs: number): string {
  return String(Math.max(0, Math.floor(atMs / HOUR_MS))).padStart(10, '0');
}

/** Rising. */
function hourFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[0-9]{10}\.jsonl$/.test(name))
    .sort();
}

/** A kill while a line was written: nobody has seen it. */
function cutTornLines(folder: string): void {
  for (const name of [...hourFiles(folder), KEPT]) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    const bytes = readFileSync(path);
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end < bytes.length) truncateSync(path, end);
  }
}

/** All heads of a file, in their order. @throws StorageError for a line that is none. */
function headsIn(path: string): readonly StoredHead[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  // What stands behind the last newline is a line that was not written whole.
  lines.pop();
  return lines.map((line) => {
    const parsed = parseJson(Buffer.from(line, 'utf8'));
    const members = parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
    const [text, atMs] = [members?.get('note'), members?.get('at_ms')];
    const signed = typeof text === 'string' ? readSignedHead(text) : null;
    if (signed === null || typeof text !== 'string' || typeof atMs !== 'bigint')
      throw new StorageError(`${path} has a line that is no head`);
    return { ...signed, text, atMs: Number(atMs) };
  });
}

function lastHead(path: string): StoredHead | null {
  return headsIn(path).at(-1) ?? null;
}

/** The head of the largest size that a folder has; of the same size the last. Null for none. */
export function newestHead(folder: string): StoredHead | null {
  let newest: StoredHead | null = null;
  for (const name of [KEPT, ...hourFiles(folder).slice(-2)]) {
    for (const head of headsIn(join(folder, name))) if (head.head.size >= (newest?.head.size ?? 0)) newest = head;
  }
  return newest;
}
