/**
 * The steps of every changing operator call: send the command, await its flush, wait until every actor has processed
 * it.
 */
import type { ActionReply, OperatorCommand } from '../clearing/inputs.ts';
import { rejected } from '../core/outcome.ts';
import { type OperatorRequest, readRequest, targetFault } from './commands.ts';
import type { OpsParts } from './ops-parts.ts';

/** A node under load is never idle; after this time its actors have processed the change all the same. */
const SEEN_MS_MAX = 2_000;

/**
 * Resolves when the change is journaled, flushed and processed by every actor (operator-api.md 2).
 *
 * @param by name of the token that asked, which is journaled with it (LDG-03); absent for test hooks.
 */
export async function change(parts: OpsParts, command: OperatorCommand, by?: string): Promise<ActionReply> {
  const reply = await parts.command(by === undefined ? command : { ...command, by });
  if (reply.ok) await parts.settle(SEEN_MS_MAX);
  return reply;
}

/** The same for a request with its unparsed body; a malformed one reaches neither journal nor clearing. */
export async function request(parts: OpsParts, asked: OperatorRequest, by?: string): Promise<ActionReply> {
  const command = readRequest(asked);
  if (command.ok) return change(parts, command.value, by);
  return rejected(targetFault(parts.gateway.registry.rows(), asked) ?? command.reject);
}

/** Waits after a change that is not a command. */
export async function seenByAll(parts: OpsParts): Promise<void> {
  await parts.settle(SEEN_MS_MAX);
}
