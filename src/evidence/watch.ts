/**
 * Watches a log from outside (EVD-12): fetches heads, checks that certified keys have signed them and that each continues every head
 * that was kept, and compares with the heads of others. It decides; the loop and the files around it are cli/evidence-watch.ts.
 */

import { signedBy, type VerifierKey } from './notes.ts';
import { isSameHash } from './tree/hashes.ts';
import { isConsistent } from './tree/proofs.ts';
import { type LogHead, readSignedHead, readVenueNote } from './venue-notes.ts';

/** What is read of a log. */
export interface WatchedLog {
  /** The text of the newest head. */
  checkpoint(): Promise<string>;
  /** The hashes of a proof between two sizes. */
  consistency(from: number, to: number): Promise<readonly Uint8Array[]>;
}

export interface KeptHead extends LogHead {
  readonly note: string;
}

/** Heads that are kept: the newest ones, and of older ones fewer and fewer. */
const KEPT_MAX = 256;
const NS_PER_MS = 1_000_000n;

/** Both notes contradict each other: the venue signed two logs. */
export class ForkSeen extends Error {
  override readonly name = 'ForkSeen';
  readonly notes: readonly [string, string];

  constructor(reason: string, notes: readonly [string, string]) {
    super(reason);
    this.notes = notes;
  }
}

/** A head that no certified key has signed, or a log that gives no proof. */
export class BadLog extends Error {
  override readonly name = 'BadLog';
}

/** The head of a note. @param notes certificates and ends. @throws BadLog when no key that they certify has signed it now. */
export function checkedHead(
  text: string,
  {
    venueKey,
    notes,
    nowMs,
  }: { readonly venueKey: VerifierKey; readonly notes: readonly string[]; readonly nowMs: number },
): KeptHead {
  const signed = readSignedHead(text);
  if (signed === null || signed.head.origin !== venueKey.name) throw new BadLog(`no head of ${venueKey.name} came`);
  const read = notes.map((note) => readVenueNote(note, venueKey));
  const ends = read.filter((note) => note?.kind === 'end');
  const nowNs = BigInt(nowMs) * NS_PER_MS;
  const isSigned = read.some(
    (note) =>
      note?.kind === 'certificate' &&
      note.use === 'heads' &&
      note.fromNs <= nowNs &&
      nowNs < note.untilNs &&
      signedBy(signed.note, note.key) === 'valid' &&
      !ends.some((end) => end.key.id === note.key.id && signed.head.size > end.size),
  );
  if (!isSigned) throw new BadLog('no key that the venue key certifies has signed the head');
  return { ...signed.head, note: text };
}

/** @throws ForkSeen when one does not continue the other; BadLog when no proof comes. */
async function compareHeads(log: WatchedLog, one: KeptHead, other: KeptHead): Promise<void> {
  const [older, newer] = one.size <= other.size ? [one, other] : [other, one];
  if (older.size === newer.size) {
    if (isSameHash(older.root, newer.root)) return;
    throw new ForkSeen(`two trees of ${older.size} records are signed`, [older.note, newer.note]);
  }
  if (isConsistent(older, newer, await log.consistency(older.size, newer.size))) return;
  throw new ForkSeen(`the head of ${newer.size} records does not continue that of ${older.size}`, [
    older.note,
    newer.note,
  ]);
}

/**
 * One look: the newest head against every head that is kept, and against those of others.
 *
 * @param kept rising by size. @returns what is kept from here on; the same list when no larger head came.
 * @throws ForkSeen, BadLog
 */
export async function lookAt(
  log: WatchedLog,
  kept: readonly KeptHead[],
  others: readonly KeptHead[],
  checked: (text: string) => KeptHead,
): Promise<readonly KeptHead[]> {
  const head = checked(await log.checkpoint());
  const newest = kept.at(-1);
  const isNew = newest === undefined || head.size > newest.size;
  // A head that continues the newest one continues all that it continues: every one of them was compared when it came.
  for (const each of isNew ? kept.slice(-1) : kept.filter(({ size }) => size === head.size))
    await compareHeads(log, each, head);
  if (!isNew && newest !== undefined && head.size < newest.size) await compareHeads(log, head, newest);
  for (const other of others) await compareHeads(log, other, head);
  return isNew ? thinned([...kept, head]) : kept;
}

/** Every other one of the older half goes once there are too many. */
function thinned(heads: readonly KeptHead[]): readonly KeptHead[] {
  if (heads.length <= KEPT_MAX) return heads;
  const half = KEPT_MAX / 2;
  return heads.filter((_, at) => at === 0 || at >= half || at % 2 === 0);
}
