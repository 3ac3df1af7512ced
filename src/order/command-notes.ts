/**
 * What the front door notes before a command to a market (schemas/messages.fbs, CommandNote). The numbers travel in
 * rings: written out, never reused.
 */
import { assert } from '../core/assert.ts';
import type { Outlet } from '../runtime/outlet.ts';
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
export function sendNote(outlet: Outlet, marketIndex: number, kind: CommandNoteKind, isUrgent = false): void {
  const at = outlet.claim(CommandNote.typeId, CommandNote.bytes, isUrgent);
  assert(at >= 0, 'a note has its room');
  CommandNote.setMarketIndex(outlet.views, at, marketIndex);
  CommandNote.setKind(outlet.views, at, kind);
  outlet.commit();
}
