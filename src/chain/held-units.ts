/**
 * What the vault of a chain holds (AMB-116): `balanceOf` by majority at the lowest block that all watches of the chain
 * have processed, and the events that a watch has processed behind it. That is what the ledger has booked, whatever the
 * confirmations of each kind of event are.
 *
 *   block     ··· B (lowest) ············ processed deposits
 *   balance       │ at B                   + deposits in (B, there]
 *                 └ processed withdrawals  − withdrawals behind B, none here
 */
import type { Anchor } from '../clearing/funds/chain-cursor.ts';
import type { ChainProvider } from './chain-provider.ts';
import type { EventWatch } from './event-watch.ts';
import { majorityHash } from './range-verdict.ts';
import type { Units } from './vault-holdings.ts';

/** Tokens of one chain that are read; a chain with more has no reading. */
const HELD_TOKENS_MAX = 256;

/** Base units by token, without events that are not processed at `block`, and with those that are processed behind it. */
export interface Held {
  readonly block: number;
  readonly units: Units;
}

/**
 * @param vault 40 hex. @param tokens 64 hex each, right-padded.
 * @returns null without a majority for each token, or when a watch has not processed a block.
 */
export async function heldBy(
  watches: readonly EventWatch[],
  providers: readonly ChainProvider[],
  vault: string,
  tokens: readonly string[],
): Promise<Held | null> {
  const at = lowest(watches);
  if (at === null) return null;
  const moves = watches.map((watch) => watch.movesBehind(at.number));
  const held = await balancesAt(providers, vault, tokens, at);
  if (held === null) return null;
  const units = new Map(held.units);
  for (const list of moves) {
    if (list === null) return null;
    for (const [token, change] of list) units.set(token, (units.get(token) ?? 0n) + change);
  }
  return { block: at.number, units };
}

/** The balances at a block. @returns null without a majority for each token. */
export async function balancesAt(
  providers: readonly ChainProvider[],
  vault: string,
  tokens: readonly string[],
  at: Anchor,
): Promise<Held | null> {
  if (tokens.length > HELD_TOKENS_MAX) return null;
  const answers = await Promise.all(providers.map((provider) => provider.balances(vault, tokens, at)));
  const units = new Map<string, bigint>();
  for (const [index, token] of tokens.entries()) {
    const agreed = majorityHash(answers.map((answer) => answer?.[index]?.toString() ?? null));
    if (agreed === null) return null;
    units.set(token, BigInt(agreed));
  }
  return { block: at.number, units };
}

function lowest(watches: readonly EventWatch[]): Anchor | null {
  let found: Anchor | null = null;
  for (const watch of watches) {
    const place = watch.place();
    if (place === null) return null;
    if (found === null || place.number < found.number) found = place;
  }
  return found;
}
