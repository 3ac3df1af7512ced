/** What every changing operator call does: the command, flushed, and then time for every actor to see it. */
import type { OperatorCommand, Reply } from '../clearing/inputs.ts';
import { rejected } from '../core/outcome.ts';
import { type OperatorRequest, readRequest, targetFault } from './commands.ts';
import type { OpsParts } from './ops-parts.ts';

/** A node under load never rests; after so long its actors have seen the change all the same. */
const SEEN_MS_MAX = 2_000;

/** Answers when the change is journaled, flushed and seen by every actor (operator-api.md 2). */
export async function change(parts: OpsParts, command: OperatorCommand): Promise<Reply> {
  const reply = await parts.command(command);
  if (reply.ok) await parts.settle(SEEN_MS_MAX);
  return reply;
}

/** The same from a request with its unread body; a malformed one reaches neither journal nor clearing. */
export async function request(parts: OpsParts, asked: OperatorRequest): Promise<Reply> {
  const command = readRequest(asked);
  if (command.ok) return change(parts, command.value);
  return rejected(targetFault(parts.gateway.registry.rows(), asked) ?? command.reject);
}

/** After a change that is no command. */
export async function seenByAll(parts: OpsParts): Promise<void> {
  await parts.settle(SEEN_MS_MAX);
}
