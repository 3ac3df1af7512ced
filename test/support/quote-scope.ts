/** The steps of the small scope around quote sets: one user makes, another one takes. */
import { MARKET_STATUS, ORDER_END, ROLLBACK_REASON, SIDE, TIF, TRIGGER } from '../../src/core/order-terms.ts';
import type { MarketPair } from './market-pair.ts';
import { LIFE_NS, PLAIN_TERMS, START_NS, type Terms } from './market-recorder.ts';
import type { EndWords } from './quote-fixture.ts';
import type { ReferenceProtection } from './reference-protection.ts';
import { type ReferenceQuoteCommand, setNamed } from './reference-quotes.ts';
import type { Step } from './small-scope.ts';

export type QuoteScope = 'one' | 'two' | 'protected';

const MAKER = 'ada';
const TAKER = 'bob';
/** So that what is inserted at another revision lives as long. */
const GOOD_UNTIL_NS = START_NS + LIFE_NS / 2n;
const { buy, sell } = SIDE;

/** @param lag lots of each side that the gateway has not seen. */
interface Quotes extends Partial<ReferenceQuoteCommand> {
  readonly lag?: number;
  readonly isLate?: boolean;
}

const NARROW: Quotes = { bids: [[100, 1]], asks: [[101, 2]] };
const WIDE: Quotes = {
  bids: [
    [100, 2],
    [99, 1],
  ],
  asks: [[101, 1]],
};
const CROSSED: Quotes = {
  bids: [
    [101, 1],
    [100, 1],
  ],
  asks: [],
};
const SOLD: Quotes = {
  bids: [],
  asks: [
    [100, 1],
    [101, 1],
  ],
};
const NONE: Quotes = { bids: [], asks: [] };

export function quoteSteps(scope: QuoteScope): readonly Step[] {
  const protectionGroup = scope === 'protected' ? 1 : 0;
  const quoted = (what: string, quotes: Quotes, name = 'mm'): Step => {
    const command = { protectionGroup, ...quotes };
    return { name: `${name} quotes ${what}`, play: (pair) => quote(pair, name, command) };
  };
  const of = (user: string, terms: Partial<Terms>): Step => ({
    name: `${user} creates ${JSON.stringify(terms)}`,
    play: (pair) => create(pair, user, terms),
  });
  const { ioc, fok } = TIF;
  const quotes = [
    quoted('narrow', NARROW),
    quoted('wide', WIDE),
    quoted('crossed', CROSSED),
    quoted('asks only', SOLD),
    quoted('nothing', NONE),
    quoted('wide, with a lot unseen', { ...WIDE, lag: 1 }),
    quoted('narrow, to take away only', { ...NARROW, onlyTakes: true }),
  ];
  const takes = [
    of(TAKER, { side: buy, price: 101, quantity: 1, tif: ioc }),
    of(TAKER, { side: buy, price: 101, quantity: 2, tif: fok }),
    of(TAKER, { side: sell, price: 100, quantity: 2 }),
    of(TAKER, { side: sell, price: 99, quantity: 3, tif: ioc }),
  ];
  const common = [...ends(), ...decisions(), { name: 'five nanoseconds pass', play: pass }];
  if (scope === 'two') {
    const others = [quoted('crossed', CROSSED, 'nn'), quoted('asks only', SOLD, 'nn'), quoted('nothing', NONE, 'nn')];
    return [...quotes, ...others, ...takes, ...common];
  }
  if (scope === 'protected')
    return [
      ...quotes,
      quoted('narrow, out of its group', { ...NARROW, protectionGroup: 0 }),
      of(MAKER, { side: sell, price: 101, quantity: 1, protectionGroup: 1 }),
      ...takes,
      ...common,
      ...limits(),
      { name: 'the group is reset', play: reset },
    ];
  const rare = [
    quoted('narrow, with other terms', { ...NARROW, maxFeeRate: 200, goodUntilNs: 0n }),
    quoted('wide, too late', { ...WIDE, isLate: true }),
    quoted('narrow, of another account', { ...NARROW, subAccount: 1 }),
    of(MAKER, { side: sell, price: 100, quantity: 1 }),
    of(MAKER, { side: buy, price: 101, quantity: 2, tif: ioc }),
    ...[0, 1].flatMap(changes),
    { name: 'mm quotes wide while the market is halted', play: quoteHalted },
    cancelled('its bids', () => ({ sideOnly: 1 })),
    cancelled('what is older than now', ({ nowNs }) => ({ beforeNs: nowNs })),
  ];
  return [...quotes, ...takes, ...common, ...rare];
}

/** One number of an entry is taken. A group has limits. */
export function quoteBeginning(scope: QuoteScope): readonly Step[] {
  const named = { ...PLAIN_TERMS, user: MAKER, orderId: 'mm:3', side: buy, price: 1, quantity: 1 };
  const taken: Step = {
    name: 'mm:3 is created and cancelled',
    play: (pair) => {
      const { nowNs } = pair;
      const times = { creationNs: nowNs, expiryNs: nowNs + LIFE_NS };
      pair.create({ ...named, ...pair.named(MAKER, 'mm:3'), ...times });
      pair.cancel({ ...pair.named(MAKER, 'mm:3'), mayPark: false });
      return true;
    },
  };
  return scope === 'protected' ? [taken, ...limits().slice(0, 1)] : [taken];
}

function quote(pair: MarketPair, name: string, { lag = 0, isLate = false, ...quotes }: Quotes): boolean {
  const { nowNs, reference } = pair;
  const set = setNamed(reference, MAKER, name);
  const markNs = set?.markNs ?? 0n;
  const next = markNs < nowNs ? nowNs : markNs + 1n;
  const traded = set?.traded ?? { 0: 0, 1: 0 };
  if (isLate && set === undefined) return false;
  if (lag > 0 && traded[0] + traded[1] === 0) return false;
  const { requestId, receivedNs } = pair.named(MAKER, name);
  pair.applyQuotes({
    ...{ user: MAKER, name, requestId, receivedNs, bids: [], asks: [], onlyTakes: false },
    ...{ subAccount: 0, maxFeeRate: 100, goodUntilNs: GOOD_UNTIL_NS, protectionGroup: 0 },
    revisionNs: isLate ? markNs : next,
    boughtSeen: Math.max(0, traded[0] - lag),
    soldSeen: Math.max(0, traded[1] - lag),
    ...quotes,
  });
  return true;
}

/** Entries of the set within bounds. */
function cancelled(what: string, bounds: (pair: MarketPair) => EndWords): Step {
  return {
    name: `mm cancels of its set ${what}`,
    play: (pair) => {
      if (setNamed(pair.reference, MAKER, 'mm') === undefined) return false;
      pair.endQuotes(MAKER, 'mm', ORDER_END.userRequested, bounds(pair));
      return true;
    },
  };
}

function quoteHalted(pair: MarketPair): boolean {
  pair.setStatus(MARKET_STATUS.halted);
  quote(pair, 'mm', WIDE);
  pair.setStatus(MARKET_STATUS.active);
  return true;
}

function create(pair: MarketPair, user: string, terms: Partial<Terms>): boolean {
  const { nowNs, reference } = pair;
  const named = pair.named(user, `o${reference.sequence}`);
  pair.create({ ...PLAIN_TERMS, side: buy, ...named, creationNs: nowNs, expiryNs: nowNs + LIFE_NS, ...terms });
  return true;
}

/** Of the order at this place. */
function changes(at: number): Step[] {
  return [
    {
      name: `order ${at} is cancelled`,
      play: (pair) => {
        const order = pair.reference.orders[at];
        if (order !== undefined) pair.cancel({ ...pair.named(order.user, order.orderId), mayPark: false });
        return order !== undefined;
      },
    },
    {
      name: `order ${at} is replaced and amended`,
      play: (pair) => {
        const order = pair.reference.orders[at];
        if (order === undefined || order.set === null) return false;
        const { user, orderId } = order;
        const terms = { timestampNs: order.timestampNs + 1n, quantity: 1 };
        const trigger = { triggerKind: TRIGGER.none, triggerPrice: 0 };
        pair.replace({ ...pair.named(user, orderId), price: 98, ...trigger, ...terms });
        pair.amend({ ...pair.named(user, orderId), ...terms, expectedNs: null });
        return true;
      },
    },
  ];
}

function ends(): Step[] {
  const hasSets = (pair: MarketPair): boolean => pair.reference.sets.length > 0;
  return [
    {
      name: 'mm ends',
      play: (pair) => {
        const isKnown = setNamed(pair.reference, MAKER, 'mm') !== undefined;
        if (isKnown) pair.endQuotes(MAKER, 'mm');
        return isKnown;
      },
    },
    {
      name: 'every set ends by liquidation',
      play: (pair) => {
        if (hasSets(pair)) pair.endQuotes(MAKER, '', ORDER_END.liquidation);
        return hasSets(pair);
      },
    },
    ...[ORDER_END.userRequested, ORDER_END.liquidation].map((end) => ({
      name: `all is cancelled, ${end}`,
      play: (pair: MarketPair): boolean => {
        if (hasSets(pair)) pair.cancelAll(MAKER, 0n, end);
        return hasSets(pair);
      },
    })),
    {
      name: 'what was made before this instant is cancelled',
      play: (pair) => {
        if (hasSets(pair)) pair.cancelAll(MAKER, pair.nowNs);
        return hasSets(pair);
      },
    },
  ];
}

function decisions(): Step[] {
  const { counterpartyAtFault: other, insufficientInventory: own } = ROLLBACK_REASON;
  const rollbacks = [
    [own, other],
    [other, own],
  ] as const;
  return [
    ...rollbacks.map(([maker, taker]) => ({
      name: `the first trade is rolled back, ${maker} and ${taker}`,
      play: (pair: MarketPair): boolean => {
        const trade = pair.reference.undecided[0];
        if (trade !== undefined) pair.rollback(trade, maker, taker);
        return trade !== undefined;
      },
    })),
    {
      name: 'the first trade is confirmed',
      play: (pair) => {
        const trade = pair.reference.undecided[0];
        if (trade !== undefined) pair.settle(trade.tradeId);
        return trade !== undefined;
      },
    },
    {
      name: 'one step of uncrossing',
      play: (pair) => {
        const { isUncrossing } = pair.reference;
        if (isUncrossing) pair.uncross(1);
        return isUncrossing;
      },
    },
    {
      name: 'kill and restart',
      play: (pair) => {
        if (pair.reference.sets.length === 0) return false;
        pair.restart();
        return true;
      },
    },
  ];
}

function limits(): Step[] {
  const none = { windowNs: 10n, frozenNs: 0n, maxFills: null, maxLots: null, maxMoney: null, minMoney: 0n };
  const each: readonly ReferenceProtection[] = [
    { ...none, maxFills: 2, frozenNs: 5n },
    { ...none, maxLots: 1n },
  ];
  return each.map((terms, at) => ({
    name: `the group gets limits ${at}`,
    play: (pair: MarketPair): boolean => {
      pair.setProtection(MAKER, 1, terms);
      return true;
    },
  }));
}

function reset(pair: MarketPair): boolean {
  const { terms = null, freeze = null } = pair.reference.groupOf(MAKER, 1) ?? {};
  if (freeze === null || terms === null) return false;
  pair.setProtection(MAKER, 1, terms, true);
  return true;
}

function pass(pair: MarketPair): boolean {
  if (pair.reference.sets.length === 0) return false;
  pair.nowNs += 5n;
  pair.tick();
  return true;
}
