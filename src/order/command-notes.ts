/**
 * What the front door notes before a command to a market (schemas/messages.fbs, CommandNote). The numbers travel in
 * rings: written out, never reused.
 */
import { assert } from '../core/assert.ts';
import type { Publication } from '../runtime/publication.ts';
import { recordBytes } from '../runtime/ring-layout.ts';
import { CommandNote } from '../schema/generated/messages.ts';

export const COMMAND_NOTE = {
  /** The levels of the commands that follow are told together (BAT-07). */
  batchBegins: 1,
  batchEnds: 2,
  /** The answer to the next command says when it was taken up. */
  timed: 3,
} as const;

export type CommandNoteKind = (typeof COMMAND_NOTE)[keyof typeof COMMAND_NOTE];

/** What one note takes of a ring. */
export const NOTE_BYTES: number = recordBytes(CommandNote.bytes);

/** The caller has made sure that there is room. */
export function sendNote(publication: Publication, marketIndex: number, kind: CommandNoteKind, isUrgent = false): void {
  const at = publication.claim(CommandNote.typeId, CommandNote.bytes, isUrgent);
  assert(at >= 0, 'a note has its room');
  CommandNote.setMarketIndex(publication.views, at, marketIndex);
  CommandNote.setKind(publication.views, at, kind);
  publication.commit();
}
