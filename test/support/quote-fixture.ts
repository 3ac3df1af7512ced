/** Quote sets for tests of matching: a set in one call. */
import { ORDER_END, ORDER_FLAG, type OrderEnd } from '../../src/core/order-terms.ts';
import { highWord, lowWord } from '../../src/core/time-words.ts';
import { type EndQuoteSetCommand, QuoteSetCommand } from '../../src/matching/commands.ts';
import { received } from './market-recorder.ts';

const ENCODER = new TextEncoder();
const USER_WORDS = 8;
const NAME_WORDS = 10;

export interface QuoteWords {
  readonly user?: string;
  readonly name?: string;
  readonly revisionNs: bigint;
  readonly receivedNs: bigint;
  readonly requestId?: number;
  /** Price and quantity, best price first. */
  readonly bids: readonly (readonly [number, number])[];
  readonly asks: readonly (readonly [number, number])[];
  readonly goodUntilNs?: bigint;
  readonly boughtSeen?: number;
  readonly soldSeen?: number;
  readonly subAccount?: number;
  readonly maxFeeRate?: number;
  readonly protectionGroup?: number;
  readonly onlyTakes?: boolean;
}

function named(user: string, name: string): Pick<QuoteSetCommand, 'words' | 'userAt' | 'nameAt' | 'nameBytes'> {
  const words = new Int32Array(USER_WORDS + NAME_WORDS);
  const bytes = new Uint8Array(words.buffer);
  bytes.set(ENCODER.encode(user.padEnd(32, '.')));
  bytes.set(ENCODER.encode(name), USER_WORDS * 4);
  return { words, userAt: 0, nameAt: USER_WORDS, nameBytes: name.length };
}

export function quoteSet(words: QuoteWords): QuoteSetCommand {
  const { user = 'ada', name = 'mm', requestId = 1, goodUntilNs = 0n, bids, asks, revisionNs } = words;
  const command = Object.assign(new QuoteSetCommand(), named(user, name), received(requestId, words.receivedNs), {
    revisionHigh: highWord(revisionNs),
    revisionLow: lowWord(revisionNs),
    goodUntilHigh: highWord(goodUntilNs),
    goodUntilLow: lowWord(goodUntilNs),
    boughtSeen: words.boughtSeen ?? 0,
    soldSeen: words.soldSeen ?? 0,
    subAccount: words.subAccount ?? 0,
    maxFeeRate: words.maxFeeRate ?? 100,
    flags: ORDER_FLAG.postOnly | ORDER_FLAG.isSpot,
    protectionGroup: words.protectionGroup ?? 0,
    onlyTakes: words.onlyTakes ?? false,
    bids: bids.length,
    asks: asks.length,
  });
  for (const [at, [price, quantity]] of [...bids, ...asks].entries()) {
    command.prices[at] = price;
    command.quantities[at] = quantity;
  }
  return command;
}

/** Which entries a cancel is about; of any where a member is left out. */
export interface EndWords {
  readonly end?: OrderEnd;
  readonly beforeNs?: bigint;
  /** 1: buys; 2: sells. */
  readonly sideOnly?: number;
  readonly protectionGroup?: number;
}

/** @param name '': every set of the user. */
export function endOfSets(
  user: string,
  name: string,
  { receivedNs, end = ORDER_END.userRequested, ...words }: EndWords & { readonly receivedNs: bigint },
): EndQuoteSetCommand {
  const { beforeNs = 0n, sideOnly = 0, protectionGroup = 0 } = words;
  const bounds = { beforeHigh: highWord(beforeNs), beforeLow: lowWord(beforeNs), sideOnly, protectionGroup };
  return { ...named(user, name), ...received(2, receivedNs), subAccount: 0, anyAccount: true, end, ...bounds };
}
