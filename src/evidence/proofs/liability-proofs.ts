/**
 * Statements of what the venue owes: signed, journaled, found again in the log, and served (LIA-04, LIA-05).
 *
 *   a folder (liabilities/stored-liabilities.ts) ─▶ signed ─▶ its hash to clearing ─▶ its row found ─▶ under a head: served
 *
 * One at a time; the newest that is under a head is served, and of older ones two are kept. One owner.
 */
import { isJsonObject, parseJson } from '../../codec/json-tree.ts';
import { headSigner, type LogKeys } from '../heads/log-keys.ts';
import {
  removeStatement,
  type StatementPlace,
  StoredLiabilities,
  storedSequences,
} from '../liabilities/stored-liabilities.ts';
import { LIABILITIES_SUBJECT, statementHash } from '../liabilities/verify-liabilities.ts';
import { signNote } from '../notes.ts';
import { rowHead } from '../row-log/row-head.ts';
import type { RowLogReader } from '../row-log/row-log-reader.ts';

/** Statements that stay, the newest. */
const KEPT = 3;
/** Clearing was asked, and no row has come: it is asked again. */
const ASK_AGAIN_MS = 60_000;
/** Records that are looked through at a time, and for how long at most. */
const RECORDS_PER_LOOK = 4_096;
const LOOK_MS_MAX = 100;

interface Options {
  /** Of all statements. */
  readonly folder: string;
  /** The evidence secret. */
  readonly secret: Uint8Array;
  readonly rows: Pick<RowLogReader, 'bounds' | 'records'>;
  readonly nowMs: () => number;
  readonly warn: (text: string) => void;
  /** Has clearing make a row of kind statement. */
  readonly state: (subject: string, text: string) => void;
}

interface Waiting {
  readonly stored: StoredLiabilities;
  readonly hash: string;
  /** The first record that was not looked through. */
  next: number;
  askedMs: number;
}

export class LiabilityProofs {
  readonly #options: Options;
  /** The statement that is not in the log yet. */
  #waiting: Waiting | null = null;
  /** Statements with a place, the newest first. */
  #placed: readonly StoredLiabilities[] | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Call it each second while this node leads. */
  tick(keys: LogKeys): void {
    const { folder } = this.#options;
    const newest = storedSequences(folder).at(-1);
    if (newest === undefined) return;
    if (this.#waiting?.stored.sequence !== newest) this.#waiting = this.#take(newest, keys);
    const waiting = this.#waiting;
    if (waiting === null) return;
    const { nowMs, state } = this.#options;
    const place = this.#look(waiting);
    if (place !== null) {
      waiting.stored.place = place;
      this.#waiting = null;
      this.#placed = null;
      for (const old of storedSequences(folder).slice(0, -KEPT)) removeStatement(folder, old);
      return;
    }
    if (nowMs() - waiting.askedMs < ASK_AGAIN_MS) return;
    waiting.askedMs = nowMs();
    state(LIABILITIES_SUBJECT, waiting.hash);
  }

  /** Null for one that is in the log, or that cannot be signed, which is removed. */
  #take(sequence: number, keys: LogKeys): Waiting | null {
    const { folder, warn } = this.#options;
    if (this.#placed?.some((one) => one.sequence === sequence) === true) return null;
    const stored = new StoredLiabilities(folder, sequence);
    if (stored.place !== null) return null;
    const { origin, timeNs } = stored.statement;
    const signer = origin === keys.origin ? headSigner(keys, Number.MAX_SAFE_INTEGER, timeNs) : null;
    if (stored.note === null && signer === null) {
      warn(
        `the statement of record ${sequence} is removed: no key of this node is certified for ${origin} at its time`,
      );
      removeStatement(folder, sequence);
      return null;
    }
    if (stored.note === null && signer !== null) stored.note = signNote(stored.text, signer);
    return { stored, hash: statementHash(stored.text), next: sequence + 1, askedMs: Number.NEGATIVE_INFINITY };
  }

  /** Looks through records behind those that it has looked through. */
  #look(waiting: Waiting): StatementPlace | null {
    const { rows, nowMs } = this.#options;
    const untilMs = nowMs() + LOOK_MS_MAX;
    const last = rows.bounds()?.last ?? 0;
    while (waiting.next <= last && nowMs() < untilMs) {
      const to = Math.min(waiting.next + RECORDS_PER_LOOK, last + 1);
      for (const record of rows.records(waiting.next, to)) {
        const index = record.rows.findIndex((row) => isRowOf(row, waiting.hash));
        if (index >= 0) return { sequence: record.sequence, index };
      }
      waiting.next = to;
    }
    return null;
  }

  /** The newest statement whose row is under a head of the records up to `last`; null for none. */
  under(last: number): StoredLiabilities | null {
    this.#placed ??= storedSequences(this.#options.folder)
      .map((sequence) => new StoredLiabilities(this.#options.folder, sequence))
      .filter(({ place, note }) => place !== null && note !== null)
      .reverse();
    return this.#placed.find(({ place }) => place !== null && place.sequence <= last) ?? null;
  }

  /** @returns every chunk of a user in a statement. */
  partOf(stored: StoredLiabilities, user: string): ReturnType<StoredLiabilities['partOf']> {
    return stored.partOf(user, this.#options.secret);
  }
}

function isRowOf(row: Uint8Array, hash: string): boolean {
  const { kind } = rowHead(row);
  if (kind !== 'statement') return false;
  const parsed = parseJson(row, { fractions: 'text' });
  const members = parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
  return members?.get('subject') === LIABILITIES_SUBJECT && members.get('text') === hash;
}
