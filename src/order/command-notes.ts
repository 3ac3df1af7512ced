/**
 * Notes that the gateway writes before a command to a market (schemas/messages.fbs, CommandNote). The numbers are part
 * of the message format: assigned explicitly, never reused.
 */
import { assert } from '../core/assert.ts';
import type { Publication } from '../runtime/publication.ts';
import { recordBytes } from '../runtime/ring-layout.ts';
import { CommandNote } from '../schema/generated/messages.ts';

export const COMMAND_NOTE = {
  /** The levels changed by the following commands are published together (BAT-07). */
  batchBegins: 1,
  batchEnds: 2,
  /** The acknowledgement of the next command contains the time at which the market took it up. */
  timed: 3,
  /** The next create is canceled with its admission: a cancel of all orders of its user has overtaken it (UNS-01). */
  overtaken: 4,
} as const;

type CommandNoteKind = (typeof COMMAND_NOTE)[keyof typeof COMMAND_NOTE];

/** Bytes of one note in a ring. */
export const NOTE_BYTES: number = recordBytes(CommandNote.bytes);

/** The caller has checked that there is space. */
export function sendNote(publication: Publication, marketIndex: number, kind: CommandNoteKind, isUrgent = false): void {
  const at = publication.claim(CommandNote.typeId, CommandNote.bytes, isUrgent);
  assert(at >= 0, 'a note has its room');
  CommandNote.setMarketIndex(publication.views, at, marketIndex);
  CommandNote.setKind(publication.views, at, kind);
  publication.commit();
}
