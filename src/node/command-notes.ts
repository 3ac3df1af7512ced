/**
 * What the front door notes before a command to a market (schemas/messages.fbs, CommandNote). The numbers travel in
 * rings: written out, never reused.
 */
import type { Views } from '../core/views.ts';
import { CommandNote } from '../messages/generated/messages.ts';

export const COMMAND_NOTE = {
  /** The levels of the commands that follow are told together (BAT-07). */
  batchBegins: 1,
  batchEnds: 2,
  /** The answer to the next command says when it was taken up. */
  timed: 3,
} as const;

export type CommandNoteKind = (typeof COMMAND_NOTE)[keyof typeof COMMAND_NOTE];

export function writeNote(v: Views, at: number, marketIndex: number, kind: CommandNoteKind): void {
  CommandNote.setMarketIndex(v, at, marketIndex);
  CommandNote.setKind(v, at, kind);
}
