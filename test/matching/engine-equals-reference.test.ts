// tier: quick, 14 s
/**
 * The engine and the reference take the same random commands and must emit the same events, one by one, while every
 * invariant holds after every command and both books hash alike, also when rebuilt from what clearing keeps.
 *
 * A command is three random words; what they mean depends on the state only where a command needs something that exists
 * (an undecided trade, an order to be released). Some 500,000 commands in CI (shares.ts), more with RINGBOOK_PROPERTY_RUNS. A failure
 * prints its seed at once; with RINGBOOK_PROPERTY_SEED set to it, the failing commands are shrunk, which takes minutes.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { Dealer, MarketPlayer } from '../support/market-player.ts';
import { propertyParameters } from '../support/property.ts';
import { shareOf } from '../support/shares.ts';

const COMMANDS_PER_RUN_MAX = 1_100;
const WORDS_PER_COMMAND = 3;
const PARAMETERS = propertyParameters(shareOf('runs of the engine against its reference'));
/** Events that a run must have seen at least once. */
const EVERYTHING: readonly string[] = [
  'accepted',
  'activated',
  'allCancelled',
  'cancelAccepted',
  'cancelRefused ALREADY_CANCELLED',
  'cancelRefused ORDER_NOT_FOUND',
  'cancelPending',
  'createRefused ALREADY_CANCELLED',
  'createRefused DUPLICATE_ORDER',
  'createRefused INVALID_ORDER',
  'createRefused MARKET_HALTED',
  'createRefused MMP_FROZEN',
  'createRefused ORDER_EXPIRED',
  'createRefused ORDER_NOT_FOUND',
  'createRefused REQUEST_TOO_OLD',
  'createRefused WOULD_CROSS',
  'depthCommitted',
  'ended AtFault',
  'ended Expired',
  'ended FillOrKill',
  'ended Filled',
  'ended ImmediateOrCancel',
  'ended Liquidation',
  'ended MarginInsufficient',
  'ended MarketMakerProtection',
  'ended ParentCanceled',
  'ended PostOnlyWouldCross',
  'ended RateLimited',
  'ended ReduceOnly',
  'ended RolledBack',
  'ended SelfTradePrevented',
  'ended UserRequested',
  'parkedCancelExpired',
  'protectionEnded',
  'protectionTriggered',
  'levelChanged',
  'matched',
  'replaceRefused ALREADY_CANCELLED',
  'replaceRefused INVALID_ORDER',
  'replaceRefused MARKET_HALTED',
  'replaceRefused ORDER_NOT_FOUND',
  'replaceRefused ORDER_REVISION_MISMATCH',
  'replaceRefused REQUEST_TOO_OLD',
  'replaceRefused WOULD_CROSS',
  'replaceUnchanged',
  'replaced on demand',
  'replaced unasked',
  'restored',
  'tradeIdsReserved',
  'triggered lots',
  'triggered nothing',
];

suite('the market engine equals the reference', () => {
  test('event for event, with every invariant after every command', () => {
    let commands = 0;
    const seen = new Set<string>();
    const words = fc.uint32Array({ maxLength: COMMANDS_PER_RUN_MAX * WORDS_PER_COMMAND, size: 'max' });
    fc.assert(
      fc.property(words, (values) => {
        const player = new MarketPlayer(seen, values[0] ?? 0);
        for (let at = 0; at + WORDS_PER_COMMAND <= values.length; at += WORDS_PER_COMMAND) {
          player.step(new Dealer(values.subarray(at, at + WORDS_PER_COMMAND)));
          commands++;
        }
      }),
      {
        ...PARAMETERS,
        includeErrorInReport: true,
        endOnFailure: process.env['RINGBOOK_PROPERTY_SEED'] === undefined,
      },
    );
    if (PARAMETERS.numRuns >= 900) assert.deepEqual([...seen].sort(), [...EVERYTHING].sort());
    assert.ok(commands >= PARAMETERS.numRuns * 400, `only ${commands} commands`);
  });
});
