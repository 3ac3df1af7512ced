/**
 * What an event of a vault is for clearing: the command that books it, the reply to it, and the commands that take back what a
 * reorganisation has dropped (CHN-06).
 */
import type { OperatorCommand } from '../clearing/inputs.ts';
import { assert, must } from '../core/assert.ts';
import { parseHex } from '../core/hex.ts';
import type { ChainId } from '../core/ids.ts';
import { isValidKey } from '../crypto/ed25519.ts';
import type { ConfirmedEvent, VaultEventKind } from './chain-events.ts';
import type { BookedTerms } from './event-cursor.ts';
import type { BookingReply } from './event-watch.ts';

/** What clearing answered to a command. */
export type View = Readonly<Record<string, unknown>>;

/** The command that books an event of a vault. */
export function bookingOf(chainId: ChainId, kind: VaultEventKind, event: ConfirmedEvent): OperatorCommand {
  const { user, token, nonce, baseUnits, tx, logIndex, settled, setup } = event;
  const configured = setup === undefined ? {} : { setup };
  if (kind === 'deposit') {
    const isKey = isValidKey(must(parseHex(user, 32), 'a user is 32 bytes of hex'));
    const ofNone = isKey ? {} : { hasKey: false };
    return { kind, chainId, user, token, baseUnits, tx, logIndex, depositNonce: nonce, ...configured, ...ofNone };
  }
  if (kind === 'withdrawal') return { kind: 'withdrew', chainId, user, token, baseUnits, nonce };
  if (kind === 'forced') return { kind: 'forcedWithdrawal', chainId, user, token, baseUnits, nonce };
  const { account: subAccount, tokenIn, baseUnitsIn, mode, settler } = must(settled, 'a settlement has its terms');
  const out = { tokenOut: token, baseUnitsOut: baseUnits };
  return { kind: 'settled', chainId, user, subAccount, nonce, ...out, tokenIn, baseUnitsIn, mode, settler };
}

/** @param reply to the booking of the event. */
export function replyOf(kind: VaultEventKind, { nonce }: ConfirmedEvent, reply: View): BookingReply {
  const { result, next_nonce: afterDeposit, next } = reply;
  const nextNonce = kind === 'deposit' ? afterDeposit : next;
  assert(typeof result === 'string' && typeof nextNonce === 'number', 'clearing returns what it did');
  // An event behind a missing one is a gap; one without an approved row is not.
  return { result: result === 'unmatched' && nonce > nextNonce ? 'gap' : result, nextNonce };
}

/** Takes a payout back that is not on the chain any more. @param counter of the vault now. */
export function payoutVanished(chainId: ChainId, terms: BookedTerms, counter: number): OperatorCommand {
  const { user, nonce, token, baseUnits } = terms;
  return { kind: 'payoutVanished', chainId, user, nonce, token, baseUnits, counter };
}

/** The same of a settlement, whose approval has ended. */
export function settlementVanished(chainId: ChainId, terms: BookedTerms, counter: number): OperatorCommand {
  const { user, nonce, account: subAccount, token: tokenOut, baseUnits: baseUnitsOut, tokenIn, baseUnitsIn } = terms;
  const legs = { tokenOut, baseUnitsOut, tokenIn, baseUnitsIn };
  return { kind: 'settlementVanished', chainId, user, subAccount, nonce, ...legs, counter };
}
