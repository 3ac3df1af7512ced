/** What every changing operator call does: the command, flushed, and then time for every actor to see it. */
import type { OperatorCommand, Reply } from '../clearing/inputs.ts';
import type { OpsParts } from './ops-parts.ts';

/** A node under load never rests; after so long its actors have seen the change all the same. */
const SEEN_MS_MAX = 2_000;

/** Answers when the change is journaled, flushed and seen by every actor (operator-api.md 2). */
export async function change(parts: OpsParts, command: OperatorCommand): Promise<Reply> {
  const reply = await parts.command(command);
  if (reply.ok) await parts.settle(SEEN_MS_MAX);
  return reply;
}

/** After a change that is no command. */
export async function seenByAll(parts: OpsParts): Promise<void> {
  await parts.settle(SEEN_MS_MAX);
}
