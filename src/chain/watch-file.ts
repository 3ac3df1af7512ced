/**
 * The file `chains/<chain id>.watch.json` of before the one watch of all chains: what was booked of a simulated chain, by kinds of events.
 * It becomes cursors that begin at the first block and expect everything that was booked: what the chain has no longer stops it, as before.
 */
import { type EventCursor, freshCursor, type MissingEvent, type Stopped } from '../clearing/funds/chain-cursor.ts';
import type { VaultEventKind } from './chain-events.ts';
import { readStopped } from './event-cursor.ts';
import { type Json, StateReader } from './state-file.ts';

const FORMAT = 1;
const READ = new StateReader('the file of what was booked of a simulated chain');

/** @param vault 40 hex. @throws InvariantError unless `text` is such a file. */
export function convertedWatch(text: string, vault: string): Readonly<Record<VaultEventKind, EventCursor>> {
  const { format, deposits, withdrawals, forced, settlements, missing, stopped } = READ.root(text);
  READ.check(format === FORMAT, 'its format is known');
  const end = stopped === null ? null : readStopped(READ.object(stopped));
  const from = (list: unknown, isStopped: Stopped | null, more: unknown = []): EventCursor => {
    const booked = [...READ.list(list ?? []), ...READ.list(more ?? [])].map((item) => bookedEvent(READ.object(item)));
    return { ...freshCursor(vault), nextBlock: 1, missing: booked, stopped: isStopped };
  };
  return {
    // One kind that is stopped stops the chain.
    deposit: from(deposits, end),
    withdrawal: from(withdrawals, null),
    // The oldest files have none: settlements are then read from the first block.
    settlement: from(settlements, null, missing),
    forced: from(forced, null),
  };
}

function bookedEvent(json: Json): MissingEvent {
  const until = json['until'] === undefined ? 0 : READ.count(json['until']);
  return { what: `${READ.user(json['user'])}/${READ.string(json['what'])}`, until };
}
