/** Deliberate bugs of rooms that decide and read: sessions, margin, orders, market data, wire, rings; see mutants.ts. */
import type { Mutant } from './mutants.ts';

const SESSIONS: readonly Mutant[] = [
  {
    breaks: 'a request takes its price from both budgets or from neither',
    file: 'src/sessions/rate-limits',
    find: "        if (price + missing > capacity)\n            return this.#refused('user', price, capacity - missing);",
    put: "        if (price + missing > capacity && this.#shared.take(price, now) !== undefined)\n            return this.#refused('user', price, capacity - missing);",
    caughtBy: 'test/sessions/rate-limits',
  },
  {
    breaks: 'a budget does not hold more than its capacity',
    file: 'src/sessions/rate-limits',
    find: 'if (ahead <= 0n)',
    put: 'if (ahead === null)',
    caughtBy: 'test/sessions/rate-limits',
  },
  {
    breaks: 'the price of a bulk is rounded up',
    file: 'src/sessions/costs',
    find: '((items + UNIT - 1n) / UNIT) * UNIT',
    put: '(items / UNIT) * UNIT',
    caughtBy: 'test/sessions/rate-limits',
  },
  {
    breaks: 'a session is over at its expiry',
    file: 'src/sessions/tokens',
    find: '        if (now < expiryNs)\n            return true;',
    put: '        if (now <= expiryNs)\n            return true;',
    caughtBy: 'test/sessions/sessions',
  },
  {
    breaks: 'a login consumes its nonce',
    file: 'src/sessions/login',
    find: 'sessions.nonces.consume(claim.user);',
    put: '',
    caughtBy: 'test/sessions/sessions',
  },
  {
    breaks: 'a nonce is good for the one who asked',
    file: 'src/sessions/login',
    find: 'if (outstanding.value !== claim.nonce) {',
    put: 'if (claim.nonce === undefined) {',
    caughtBy: 'test/sessions/sessions',
  },
];

const MARGIN: readonly Mutant[] = [
  {
    breaks: 'a shield needs a broken price',
    file: 'src/margin/account',
    find: 'else if (terms.prices.isBroken && legAtMark(terms, amount) >= SHIELD_MINIMUM)',
    put: 'else if (legAtMark(terms, amount) >= SHIELD_MINIMUM)',
    caughtBy: 'test/margin/equals-reference',
  },
  {
    breaks: 'quote legs count for equity',
    file: 'src/margin/account',
    find: '    addUsd(sums, quote);',
    put: '',
    caughtBy: 'test/margin/equals-reference',
  },
  {
    breaks: 'a trade that crosses the position is no reduction',
    file: 'src/margin/position',
    find: 'magnitude(delta) <= magnitude(base)',
    put: 'magnitude(delta) <= 2n * magnitude(base)',
    caughtBy: 'test/margin/equals-reference',
  },
  {
    breaks: 'the fee of a margin trade leaves the quote leg',
    file: 'src/margin/position',
    find: '(delta > 0n ? -notional : notional) - fee)',
    put: '(delta > 0n ? -notional : notional))',
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'pressure is rounded up',
    file: 'src/margin/pressure',
    find: 'return mulDivCeil(notional, weight, WEIGHT_ONE);',
    put: 'return mulDivCeil(notional - 1n, weight, WEIGHT_ONE);',
    caughtBy: 'test/margin/equals-reference',
  },
  {
    breaks: 'a position offsets orders once',
    file: 'src/margin/pressure',
    find: '        offset -= used;',
    put: '',
    caughtBy: 'test/margin/equals-reference',
  },
  {
    breaks: 'the margin factor falls with what is open',
    file: 'src/margin/risk-terms',
    find: 'if ((clamps[at] ?? 0n) * maxSpotInterest > used)',
    put: 'if ((clamps[at] ?? 0n) * maxSpotInterest >= used)',
    caughtBy: 'test/margin/equals-reference',
  },
  {
    breaks: 'a mark that is old is not used',
    file: 'src/margin/prices',
    find: 'const usableMark = isUsable(mark, MARK_STALE_NS, nowNs) ? mark.price : null;',
    put: 'const usableMark = mark?.price ?? null;',
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a breaker recovers after so many good prices',
    file: 'src/margin/prices',
    find: 'if (goodUpdates >= recoveryUpdates)',
    put: 'if (goodUpdates >= 1)',
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'only what is flat is folded',
    file: 'src/clearing/close-position',
    find: '    if (legs.base !== 0n)',
    put: '    if (legs.base === null)',
    caughtBy: 'test/clearing/sub-accounts',
  },
  {
    breaks: 'open interest follows every leg',
    file: 'src/clearing/positions',
    find: 'credits: credits + positive(after) - positive(before),',
    put: 'credits: credits + positive(after),',
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'an oracle price is newer than the last',
    file: 'src/clearing/prices',
    find: 'if (last !== undefined && publishNs <= last.publishNs)',
    put: 'if (last !== undefined && publishNs < last.publishNs)',
    caughtBy: 'test/clearing/registry',
  },
];

const ORDERS: readonly Mutant[] = [
  {
    breaks: 'what fills will cost cannot be spent again',
    file: 'src/orders/holds',
    find: 'balance.owned - heldOf(balance) - balance.pending - balance.settling',
    put: 'balance.owned - heldOf(balance) - balance.settling',
    caughtBy: 'test/orders/order-manager',
  },
  {
    breaks: 'an order is removed when nothing of it is pending',
    file: 'src/orders/order-life',
    find: '    if (order.pendingFills > 0)\n        return null;',
    put: '',
    caughtBy: 'test/orders/order-manager',
  },
  {
    breaks: 'a terminal event is told once',
    file: 'src/orders/order-life',
    find: 'if (order.sequence === 0 || order.isTold)',
    put: 'if (order.sequence === 0)',
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'an order needs more than the least capacity',
    file: 'src/orders/margin-check',
    find: 'position.account.capacity([{ lane, counted }]) > this.minimum',
    put: 'position.account.capacity([{ lane, counted }]) >= this.minimum',
    caughtBy: 'test/orders/margin-orders',
  },
  {
    breaks: 'a reduce-only order that takes is no larger than its position',
    file: 'src/orders/margin-check',
    find: 'return lots <= reducible ? null : WOULD_INCREASE;',
    put: 'return lots <= reducible + 1 ? null : WOULD_INCREASE;',
    caughtBy: 'test/orders/reduce-only',
  },
  {
    breaks: 'a released order has its hold',
    file: 'src/orders/releases',
    find: 'if (hold > held && hold > available)',
    put: 'if (hold > held && hold > available + 1n)',
    caughtBy: 'test/orders/triggers',
  },
  {
    breaks: 'orders that are farthest from the price give way first',
    file: 'src/orders/reduction-plan',
    find: 'return gap;',
    put: 'return -gap;',
    caughtBy: 'test/orders/auto-reduce',
  },
  {
    breaks: 'of orders equally far the newest gives way first',
    file: 'src/orders/reduction-plan',
    find: 'a.order.timestampNs > b.order.timestampNs ? -1 : 1',
    put: 'a.order.timestampNs > b.order.timestampNs ? 1 : -1',
    caughtBy: 'test/orders/auto-reduce',
  },
  {
    breaks: 'a simulated spot trade pays its fee',
    file: 'src/orders/simulation',
    find: '-notional - fee : notional - fee',
    put: '-notional : notional',
    caughtBy: 'test/edge/margin-routes',
  },
];

const MARKET_DATA: readonly Mutant[] = [
  {
    breaks: 'a gap in the depth is noticed',
    file: 'src/market-data/depth-replica',
    find: 'marketSequence !== this.#marketSequence + 1',
    put: 'marketSequence < this.#marketSequence + 1',
    caughtBy: 'test/market-data/depth-replica',
  },
  {
    breaks: 'numbers of diffs have no gaps',
    file: 'src/market-data/depth-replica',
    find: 'this.#sequenceNumber += 1;',
    put: 'this.#sequenceNumber += 2;',
    caughtBy: 'test/market-data/depth-replica',
  },
  {
    breaks: 'a new image of the book takes away what is not in it',
    file: 'src/market-data/depth-side',
    find: '        for (let index = this.#windowStart(); index < this.#count; index += 1)\n            this.#touch(index);\n        const keys',
    put: '        const keys',
    caughtBy: 'test/market-data/depth-replica',
  },
  {
    breaks: 'the day of a ticker rolls',
    file: 'src/market-data/day-ticker',
    find: 'return this.#cached === null || (this.#leavesNs !== null && nowNs >= this.#leavesNs);',
    put: 'return this.#cached === null;',
    caughtBy: 'test/market-data/market-data',
  },
  {
    breaks: 'a trade is public once',
    file: 'src/node/market-data-feed',
    find: 'if (trade.tradeId <= last)',
    put: 'if (trade.tradeId < last)',
    caughtBy: 'test/node/market-data-feed',
  },
];

const WIRE: readonly Mutant[] = [
  {
    breaks: 'a string of the wire has no control characters',
    file: 'src/wire/json-string',
    find: 'if (byte < 0x20)',
    put: 'if (byte < 0x09)',
    caughtBy: 'test/wire/json-reader',
  },
  {
    breaks: 'half a surrogate pair is no text',
    file: 'src/wire/json-string',
    find: 'if (unit < 0 || isLowSurrogate(unit))',
    put: 'if (unit < 0)',
    caughtBy: 'test/wire/json-reader',
  },
  {
    breaks: 'nothing follows a JSON value',
    file: 'src/wire/json-cursor',
    find: 'if (this.#failure === null && this.#skipSpace() !== NOTHING)',
    put: 'if (this.#failure === null && this.#skipSpace() === NOTHING - 1)',
    caughtBy: 'test/wire/json-reader',
  },
  {
    breaks: 'good-till-date orders keep their date',
    file: 'src/wire/order-details',
    find: 'goodUntilNs = cursor.readU64();',
    put: 'goodUntilNs = cursor.readU64() + 1n;',
    caughtBy: 'test/wire/signing-vectors',
  },
  {
    breaks: 'fill-or-kill is not immediate-or-cancel',
    file: 'src/wire/order-details',
    find: 'tif = cursor.readBoolean() ? TIF.fok : TIF.ioc;',
    put: 'tif = cursor.readBoolean() ? TIF.ioc : TIF.ioc;',
    caughtBy: 'test/wire/signed-requests',
  },
  {
    breaks: 'decimals have no zeros at their end',
    file: 'src/core/decimal',
    find: 'while (end > digits.length - scale && digits.charCodeAt(end - 1) === 0x30)',
    put: 'while (end > digits.length)',
    caughtBy: 'test/wire/replies',
  },
];

const RING_AND_BOOK: readonly Mutant[] = [
  {
    breaks: 'a ring reads what was published, and no more',
    file: 'src/runtime/spsc-ring',
    find: 'if (bytes > this.spare && !this.makeSpare(bytes, urgent))',
    put: 'if (bytes > this.spare + 8 && !this.makeSpare(bytes, urgent))',
    caughtBy: 'test/runtime/spsc-ring',
  },
  {
    breaks: 'who is at fault in a rollback does not come back',
    file: 'src/matching/rollback',
    find: 'if (isAtFault(reason) || !side.fits(orders.priceOf(slot), quantity)) {',
    put: 'if (!side.fits(orders.priceOf(slot), quantity)) {',
    caughtBy: 'test/matching/rollbacks',
  },
  {
    breaks: 'an order that comes back has the priority of its return',
    file: 'src/matching/rollback',
    find: '    orders.setPriority(slot, sequence);',
    put: '',
    caughtBy: 'test/matching/rollbacks',
  },
  {
    breaks: 'a child waits for the fills of its parent',
    file: 'src/matching/triggers',
    find: 'enabled: parent === null ? total : Math.min(total, parent.confirmed),',
    put: 'enabled: total,',
    caughtBy: 'test/matching/children',
  },
  {
    breaks: 'a child wants no more than a parent that is filled can activate',
    file: 'src/matching/triggers',
    find: 'return state !== ORDER_STATE.ended && lots <= orders.filledOf(parent);',
    put: 'return state !== ORDER_STATE.ended;',
    caughtBy: 'test/matching/children',
  },
  {
    breaks: 'a fill-or-kill order passes over its own orders',
    file: 'src/matching/sizing',
    find: 'if (!book.isSameOwner(maker, slot))',
    put: 'if (maker !== slot)',
    caughtBy: 'test/matching/self-trades',
  },
  {
    breaks: 'an order is over at its expiry',
    file: 'src/matching/expiry-watch',
    find: '!isBefore(high, low, this.#highs[0], this.#lows[0])',
    put: 'isBefore(this.#highs[0], this.#lows[0], high, low)',
    caughtBy: 'test/matching/orders',
  },
];

export const ROOM_MUTANTS: readonly Mutant[] = [
  ...SESSIONS,
  ...MARGIN,
  ...ORDERS,
  ...MARKET_DATA,
  ...WIRE,
  ...RING_AND_BOOK,
];
