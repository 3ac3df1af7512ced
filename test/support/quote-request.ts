/** Quote sets as the listener decodes them; their signatures are the test's to judge. */
import type { QuoteSetRequest, SignedQuoteSet } from '../../src/codec/order-actions.ts';
import { quoteSetFault } from '../../src/codec/order-rules.ts';
import { ALICE } from './names.ts';
import { BASE, NOW } from './order-fixture.ts';

/** Price and quantity, the best price first. */
export type QuoteWordsOfSide = readonly (readonly [price: number, quantity: number])[];

/** Of ALICE, in the market of the fixture; its revision is now. */
export function setRequest(
  bids: QuoteWordsOfSide,
  asks: QuoteWordsOfSide,
  change: Partial<SignedQuoteSet> = {},
): QuoteSetRequest {
  const quotes: SignedQuoteSet = {
    signer: { id: ALICE, text: ALICE },
    setId: 'mm',
    baseAsset: { id: BASE, text: BASE },
    bookPriceDecimals: 2,
    bookQuantityDecimals: 4,
    revisionNs: NOW,
    bids: bids.flat(),
    asks: asks.flat(),
    account: 0,
    isSpot: true,
    maxTradingFeesRate: 500,
    protectionGroup: null,
    goodUntilNs: null,
    protocolVersion: 1,
    ...change,
  };
  const fault = quoteSetFault(quotes);
  return {
    quotes,
    signature: new Uint8Array(64),
    additionalSigners: [],
    postSignNs: NOW,
    fault,
    text: new Uint8Array(),
  };
}
