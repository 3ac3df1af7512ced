// tier: full
/**
 * Every sequence of four commands around quote sets, beside the reference book: sets against takers, decisions of clearing, cancels,
 * ends and restarts (QTE-01 to QTE-09, MMP-03); the steps are quote-scope.ts, what is compared is small-scope-walk.ts.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { SMALL_SCOPE } from '../support/small-scope.ts';
import { SmallScopeWalk } from '../support/small-scope-walk.ts';

const SEQUENCES_MIN = 10_000;

/** What every walk has to meet, so that silence is not taken for agreement. */
const MET: readonly string[] = [
  ...['quoteCreated', 'quoteResized', 'quoteLeft', 'quoteOut', 'quoteKept', 'quotesEnded ', 'cancelPending'],
  ...['restored', 'ended RolledBack', 'ended AtFault', 'ended PostOnlyWouldCross', 'quotesEnded Expired'],
];

const SCOPES = {
  one: ['quotesRefused REQUEST_TOO_OLD', 'quotesRefused INVALID_ORDER', 'quotesApplied MARKET_HALTED'],
  two: ['quotesEnded Liquidation'],
  protected: ['quotesEnded MarketMakerProtection', 'protectionEnded', 'quotesApplied MMP_FROZEN'],
} as const;

suite('every short sequence around quote sets', () => {
  for (const quotes of ['one', 'two', 'protected'] as const)
    for (const isPrevented of [false, true])
      test(`${quotes}, self-trade prevention ${isPrevented ? 'on' : 'off'} (QTE-02, QTE-07, QTE-09, MMP-03)`, () => {
        const walk = new SmallScopeWalk({ ...SMALL_SCOPE, depth: 4, quotes, isPrevented });
        const { sequences } = walk.walk();
        assert.ok(sequences > SEQUENCES_MIN, `only ${sequences} sequences`);
        for (const event of [...MET, ...SCOPES[quotes]]) assert.ok(walk.seen.has(event), event);
        assert.equal(walk.seen.has('ended SelfTradePrevented'), isPrevented);
      });
});
