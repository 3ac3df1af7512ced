/** Quote sets as inputs of clearing, with the text that their user signs, written from the contract alone (wire-additions 16). */
import type { QuoteSetAppliedInput } from '../../src/clearing/inputs.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ORDER_FLAG, QUOTE_CHANGE, type QuoteChangeKind, SIDE, type Side } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';

export type Pairs = readonly (readonly [price: number, quantity: number])[];

export interface QuoteText {
  readonly user: string;
  readonly setId?: string;
  readonly asset?: string;
  readonly revisionNs: bigint;
  readonly bids: Pairs;
  readonly asks: Pairs;
  readonly account?: number;
  readonly isSpot?: boolean;
  readonly maxFeeRate?: number;
  readonly goodUntilNs?: bigint | null;
  readonly decimals?: readonly [price: number, quantity: number];
}

export function quoteText(words: QuoteText): string {
  const { user, setId = 'mm', asset = '2', account = 0, isSpot = true, maxFeeRate = 1_000 } = words;
  const [priceDecimals, quantityDecimals] = words.decimals ?? [2, 4];
  const pairs = (side: Pairs): string => `[${side.map(([price, lots]) => `[${price},${lots}]`).join(',')}]`;
  return (
    `{"signer":"${user}","set_id":"${setId}","base_asset":"${asset}","book_price_decimals":${priceDecimals},` +
    `"book_quantity_decimals":${quantityDecimals},"revision":${words.revisionNs},"bids":${pairs(words.bids)},` +
    `"asks":${pairs(words.asks)},"target":{"account":${account},"is_spot":${isSpot}},` +
    `"max_trading_fees_rate":${maxFeeRate},"protection_group":null,` +
    `"good_until_timestamp_ns":${words.goodUntilNs ?? null},"protocol_version":1}`
  );
}

/** [what, side, price, rests, order, number or priority] */
export type ChangeWords = readonly [
  what: keyof typeof QUOTE_CHANGE,
  side: Side,
  price: number,
  rests: number,
  order?: number,
  last?: number,
];

export interface AppliedWords extends Omit<QuoteText, 'user'> {
  readonly user: UserId;
  readonly slot?: number;
  readonly changes: readonly ChangeWords[];
  readonly text?: string;
  readonly lastNumber?: number;
  readonly termsChanged?: boolean;
  readonly protectionGroup?: number;
}

/** @param place its sequence is that of the event; created entries have those behind it. */
export function quoteSetApplied(
  words: AppliedWords,
  place: { readonly marketIndex: number; readonly sequence: Sequence; readonly timeNs: TimestampNs },
): QuoteSetAppliedInput {
  let taken = 0;
  let number = words.lastNumber ?? 0;
  const changes = words.changes.map(([what, side, price, rests, order = 0, last = order]) => {
    const change: QuoteChangeKind = QUOTE_CHANGE[what];
    const common = { price: price as RawPrice, rests, change, side };
    if (what === 'created') {
      taken += 1;
      number += 1;
      const sequence = (place.sequence + taken) as Sequence;
      return { ...common, order: sequence, prioritySequence: sequence, number };
    }
    return { ...common, order: order as Sequence, prioritySequence: last as Sequence, number: 0 };
  });
  const { user, bids, asks, maxFeeRate = 1_000, account = 0, isSpot = true } = words;
  return {
    kind: 'quoteSetApplied',
    ...place,
    sequences: 1 + taken,
    revisionNs: words.revisionNs as TimestampNs,
    goodUntilNs: (words.goodUntilNs ?? 0n) as TimestampNs,
    lastTradeId: 0 as Sequence,
    lastNumber: number,
    markFloorNs: 0n as TimestampNs,
    numberFloor: 0,
    maxFeeRate,
    user,
    setId: words.setId ?? 'mm',
    subAccount: account,
    flags: ORDER_FLAG.postOnly | (isSpot ? ORDER_FLAG.isSpot : 0),
    kept: 0,
    addCode: 0,
    slot: words.slot ?? 1,
    protectionGroup: words.protectionGroup ?? 0,
    termsChanged: words.termsChanged ?? false,
    isOver: bids.length + asks.length === 0,
    changes,
    text: words.text ?? quoteText(words),
    signatures: new Uint8Array(64).fill(7),
  };
}

export const BID: Side = SIDE.buy;
export const ASK: Side = SIDE.sell;
