// tier: quick
/** What the gateway refuses before the signature, and in which order. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SignedOrder, SignedReplace } from '../../../src/codec/order-actions.ts';
import { type AssetId, USD } from '../../../src/core/ids.ts';
import { ORDER_LIFE_NS } from '../../../src/core/limits.ts';
import { orderExpiryNs, TIF } from '../../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, TimestampNs } from '../../../src/core/units.ts';
import type { PreparedCreate } from '../../../src/gateway/orders/entry/pending-requests.ts';
import { DEFAULT_ORDER_SETTINGS } from '../../../src/gateway/orders/settings.ts';
import { ALICE, BOB } from '../../support/names.ts';
import {
  BASE,
  cancelRequest,
  codeOf,
  createRequest,
  MARKET,
  mustPass,
  NOW,
  OrderFixture,
  type OrderWish,
  replaceRequest,
} from '../../support/order-fixture.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: true };

/** `CODE field` of a create, or `ok`. */
function verdict(
  wish: OrderWish,
  change: Partial<SignedOrder> = {},
  fixture: OrderFixture = new OrderFixture(),
): string {
  const outcome = fixture.manager.requests.checkCreate(createRequest(wish, change), CALLER);
  return outcome.ok ? 'ok' : [outcome.reject.code, outcome.reject.field].filter((part) => part !== undefined).join(' ');
}

function replaceVerdict(change: Partial<SignedReplace>, fixture: OrderFixture = new OrderFixture()): string {
  const outcome = fixture.manager.requests.checkReplace(replaceRequest(change), { ...CALLER, looksUp: false });
  return outcome.ok ? 'ok' : [outcome.reject.code, outcome.reject.field].filter((part) => part !== undefined).join(' ');
}

function expiryOf({ terms }: PreparedCreate): bigint {
  return orderExpiryNs(terms.creationNs, terms.goodUntilNs);
}

suite('pre-flight of a create', () => {
  test('a lawful order passes with its expiry at creation + 30 days (ORD-20)', () => {
    const prepared = mustPass(new OrderFixture().manager.requests.checkCreate(createRequest(), CALLER));
    assert.equal(expiryOf(prepared), NOW + ORDER_LIFE_NS);
  });

  test('a good-until date before that is the expiry, one after it is not (AMB-127)', () => {
    const expiry = (goodUntilNs: bigint) =>
      expiryOf(
        mustPass(new OrderFixture().manager.requests.checkCreate(createRequest({ tif: TIF.gtd, goodUntilNs }), CALLER)),
      );
    assert.equal(expiry(NOW + 1n), NOW + 1n);
    assert.equal(expiry(NOW + 2n * ORDER_LIFE_NS), NOW + ORDER_LIFE_NS);
  });

  const rows: readonly (readonly [string, OrderWish, Partial<SignedOrder>, string])[] = [
    ['the signer is the session user (ORD-01)', {}, { signer: { id: BOB, text: BOB } }, 'SIGNER_MISMATCH signer'],
    ['an id has its alphabet (ORD-02, AMB-07)', { id: 'a b' }, {}, 'INVALID_ORDER order_id'],
    ['an id of the node is refused (ORD-02, AMB-07)', { id: 'sys-1' }, {}, 'INVALID_ORDER order_id'],
    ['the version is 1 (ORD-13)', {}, { protocolVersion: 2 }, 'INVALID_ORDER protocol_version'],
    ['the market exists (ORD-03)', {}, { baseAsset: { id: '9' as AssetId, text: '9' } }, 'MARKET_NOT_FOUND'],
    ['price decimals are the market’s (ORD-04)', {}, { bookPriceDecimals: 3 }, 'INVALID_ORDER book_price_decimals'],
    ['quantity decimals too (ORD-05)', {}, { bookQuantityDecimals: 3 }, 'INVALID_ORDER book_quantity_decimals'],
    ['a price is on the tick (ORD-29, AMB-42)', { price: 200_001 }, {}, 'INVALID_ORDER limit_price'],
    ['a quantity reaches the minimum (ORD-29, AMB-42)', { quantity: 9 }, {}, 'INVALID_ORDER quantity'],
    ['the minimum itself is enough', { quantity: 10 }, {}, 'ok'],
    ['a price of zero is no price (wire.md 2.2)', { price: 0 }, {}, 'INVALID_ORDER limit_price'],
    ['a sub-account exists (ORD-10, AMB-42)', {}, { account: 2 }, 'INVALID_ORDER target'],
    ['spot is not reduce-only (ORD-11, AMB-27)', {}, { reduceOnly: true }, 'INVALID_ORDER reduce_only'],
    ['a Spot sub-account has no margin positions (AMB-30)', {}, { isSpot: false }, 'INVALID_ORDER target'],
    [
      'the fee limit covers the taker rate (AMB-09)',
      {},
      { maxTradingFeesRate: 499 },
      'INVALID_ORDER max_trading_fees_rate',
    ],
    ['for post-only the maker rate is enough (AMB-09)', { postOnly: true }, { maxTradingFeesRate: 0 }, 'ok'],
    [
      'an order created 30 days ago has expired (AMB-10)',
      {},
      { creationNs: (NOW - ORDER_LIFE_NS) as TimestampNs },
      'ORDER_EXPIRED',
    ],
    ['one nanosecond less has not', {}, { creationNs: (NOW - ORDER_LIFE_NS + 1n) as TimestampNs }, 'ok'],
    ['5 s ahead may be created', {}, { creationNs: (NOW + 5_000_000_000n) as TimestampNs }, 'ok'],
    [
      'more than 5 s ahead may not (AMB-10)',
      {},
      { creationNs: (NOW + 5_000_000_001n) as TimestampNs },
      'INVALID_ORDER creation_timestamp_ns',
    ],
    ['good-until lies in the future (AMB-127)', { tif: TIF.gtd, goodUntilNs: NOW }, {}, 'INVALID_ORDER timestamp_ns'],
    ['signed 60 s ago is young enough', { postSignNs: NOW - 60_000_000_000n }, {}, 'ok'],
    [
      'signed over 60 s ago is too old (AMB-10)',
      { postSignNs: NOW - 60_000_000_001n },
      {},
      'REQUEST_TOO_OLD post_sign_timestamp',
    ],
    [
      'signed over 5 s ahead is refused too (AMB-10)',
      { postSignNs: NOW + 5_000_000_001n },
      {},
      'REQUEST_TOO_OLD post_sign_timestamp',
    ],
  ];
  for (const [name, wish, change, expected] of rows) {
    test(name, () => assert.equal(verdict(wish, change), expected));
  }

  const marketRows: readonly (readonly [string, OrderWish, string])[] = [
    ['sized in base or in quote (ORD-14)', { market: { base: 10 } }, 'ok'],
    ['sized in quote, of any size (ORD-14)', { market: { quote: 1 } }, 'ok'],
    ['the minimum binds a base size (AMB-42)', { market: { base: 9 } }, 'INVALID_ORDER quantity'],
    ['a quote cap is for a buy (ORD-15)', { market: { base: 10, cap: 5 } }, 'ok'],
    ['… and for no sell (AMB-05)', { side: 1, market: { base: 10, cap: 5 } }, 'INVALID_ORDER max_sellable_amount'],
    ['a base cap is for a sell (ORD-16)', { side: 1, market: { quote: 10, cap: 5 } }, 'ok'],
    ['… and for no buy (AMB-05)', { market: { quote: 10, cap: 5 } }, 'INVALID_ORDER max_sellable_quantity'],
    ['a cap of zero is no cap (wire.md 2.2)', { market: { base: 10, cap: 0 } }, 'INVALID_ORDER max_sellable_amount'],
    ['a target of zero is no target (wire.md 2.2)', { market: { quote: 0 } }, 'INVALID_ORDER quantity'],
    ['a trigger price need not lie on the tick (AMB-42)', { above: 200_001 }, 'ok'],
    ['a trigger price of zero is none (wire.md 2.2)', { below: 0 }, 'INVALID_ORDER price'],
    [
      'an order sized in quote has no parent (AMB-29)',
      { market: { quote: 5 }, above: 5, parent: 'p' },
      'INVALID_ORDER details',
    ],
    ['one sized in base may (AMB-29)', { market: { base: 10 }, above: 5, parent: 'p' }, 'ok'],
    ['a parent has the id of an order (AMB-07)', { above: 5, parent: 'a b' }, 'INVALID_ORDER parent_order_id'],
  ];
  for (const [name, wish, expected] of marketRows) {
    test(`a market order or trigger: ${name}`, () => assert.equal(verdict(wish), expected));
  }

  test('a market order needs a limit of the taker rate (AMB-09)', () => {
    const change = { maxTradingFeesRate: 499 };
    assert.equal(verdict({ market: { quote: 5 } }, change), 'INVALID_ORDER max_trading_fees_rate');
  });

  test('the figures travel as the contract of the market has them (AMB-05, AMB-06)', () => {
    const prepared = (wish: OrderWish) =>
      mustPass(new OrderFixture().manager.requests.checkCreate(createRequest({ side: 1, ...wish }), CALLER));
    const figures = (wish: OrderWish) => {
      const { price, quantity, triggerPrice, terms } = prepared(wish);
      return [terms.kind, terms.tif, price, quantity, terms.amount, terms.triggerKind, triggerPrice, terms.parentId];
    };
    assert.deepEqual(figures({}), [0, TIF.gtc, 200_000, 10_000, 0, 0, 0, '']);
    assert.deepEqual(figures({ side: 0, market: { base: 10, cap: 7 } }), [1, TIF.ioc, 0, 10, 7, 0, 0, '']);
    assert.deepEqual(figures({ market: { quote: 9, cap: 7, fok: true } }), [2, TIF.fok, 0, 7, 9, 0, 0, '']);
    assert.deepEqual(figures({ market: { quote: 9 }, above: 5 }), [2, TIF.ioc, 0, 0, 9, 1, 5, '']);
    assert.deepEqual(figures({ below: 5, parent: 'p-1' }), [0, TIF.gtc, 200_000, 10_000, 0, 2, 5, 'p-1']);
  });

  test('the checks run in their order: each broken rule hides those after it (ORD-25, AMB-91)', () => {
    const broken: readonly [Partial<SignedOrder>, string][] = [
      [{ signer: { id: BOB, text: BOB } }, 'SIGNER_MISMATCH signer'],
      [{ protocolVersion: 2 }, 'INVALID_ORDER protocol_version'],
      [{ baseAsset: { id: '9' as AssetId, text: '9' } }, 'MARKET_NOT_FOUND'],
      [{ bookPriceDecimals: 3 }, 'INVALID_ORDER book_price_decimals'],
      [{ creationNs: (NOW - ORDER_LIFE_NS) as TimestampNs }, 'ORDER_EXPIRED'],
      [{ maxTradingFeesRate: 0 }, 'INVALID_ORDER max_trading_fees_rate'],
      [{ reduceOnly: true }, 'INVALID_ORDER reduce_only'],
      [{ account: 9 }, 'INVALID_ORDER target'],
    ];
    for (const [index, [, expected]] of broken.entries()) {
      const rest = Object.assign({}, ...broken.slice(index).map(([change]) => change));
      assert.equal(verdict({}, rest), expected);
    }
  });

  test('outside Active no create and no replace passes, a cancel does (AMB-109)', () => {
    for (const status of [1, 2] as const) {
      const fixture = new OrderFixture();
      fixture.place();
      fixture.manager.onMarketChanged({ ...MARKET, status });
      assert.equal(verdict({ id: 'x' }, {}, fixture), 'MARKET_HALTED');
      assert.equal(replaceVerdict({}, fixture), 'MARKET_HALTED');
      assert.equal(codeOf(fixture.manager.requests.checkCancel(cancelRequest(), CALLER)), 'ok');
    }
  });

  test('a market that halts while the signature is verified takes no hold (AMB-109)', () => {
    const fixture = new OrderFixture();
    const prepared = mustPass(fixture.manager.requests.checkCreate(createRequest(), CALLER));
    fixture.manager.onMarketChanged({ ...MARKET, status: 2 });
    assert.equal(codeOf(fixture.manager.requests.reserveCreate(prepared, NOW)), 'MARKET_HALTED');
  });

  test('the cap counts live orders of the sub-account and market; market makers have their own (AMB-124)', () => {
    const fixture = new OrderFixture();
    fixture.manager.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, openOrdersMax: 2, openOrdersMarketMakerMax: 3 });
    const first = fixture.place({ id: 'o1', quantity: 10 });
    fixture.place({ id: 'o2', quantity: 10 });
    assert.equal(verdict({ id: 'o3' }, {}, fixture), 'TOO_MANY_OPEN_ORDERS');
    assert.equal(verdict({ id: 'o3' }, { account: 1 }, fixture), 'ok');
    fixture.end(first, 1);
    assert.equal(verdict({ id: 'o3' }, {}, fixture), 'ok');
    fixture.place({ id: 'o3', quantity: 10 });
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    assert.equal(verdict({ id: 'o4' }, {}, fixture), 'ok');
  });

  test('a user has so many live orders over all sub-accounts and markets, parked ones too; market makers more (AMB-124)', () => {
    const fixture = new OrderFixture();
    fixture.manager.onSettingsChanged({
      ...DEFAULT_ORDER_SETTINGS,
      openOrdersUserMax: 2,
      openOrdersUserMarketMakerMax: 3,
    });
    const first = fixture.place({ id: 'o1', quantity: 10 });
    fixture.place({ id: 'parked', above: 210_000 });
    assert.equal(verdict({ id: 'o3' }, { account: 1 }, fixture), 'TOO_MANY_OPEN_ORDERS');
    const refused = fixture.manager.requests.checkCreate(createRequest({ id: 'o3' }), CALLER);
    assert.match(refused.ok ? '' : refused.reject.message, /at most 2 open orders of a user/);
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    assert.equal(verdict({ id: 'o3' }, {}, fixture), 'ok');
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: false });
    fixture.end(first, 1);
    assert.equal(verdict({ id: 'o3' }, {}, fixture), 'ok');
  });

  test('the fuller the node the fewer orders a user may have, and a market maker has the last part (AMB-124)', () => {
    const fixture = new OrderFixture();
    fixture.manager.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, openOrdersNodeMax: 64 });
    const parked = (id: string) => verdict({ id, above: 210_000 }, {}, fixture);
    for (let at = 0; at < 16; at += 1) fixture.place({ id: `a${at}`, quantity: 10 });
    assert.equal(parked('p'), 'TOO_MANY_OPEN_ORDERS', 'a quarter is full: what holds nothing has no more room');
    assert.equal(verdict({ id: 'a16' }, {}, fixture), 'ok', 'what holds something has');
    for (let at = 16; at < 48; at += 1) fixture.place({ id: `a${at}`, quantity: 10 });
    assert.equal(verdict({ id: 'a48' }, {}, fixture), 'TOO_MANY_OPEN_ORDERS');
    for (let at = 0; at < 9; at += 1) fixture.place({ id: `b${at}`, user: BOB, quantity: 10 });
    const bobs = () => codeOf(fixture.request({ id: 'b9', user: BOB, quantity: 10 }));
    assert.equal(fixture.manager.openOrders(null), 57);
    assert.equal(bobs(), 'ok', 'who has few has a share that others cannot take');
    assert.equal(codeOf(fixture.request({ id: 'b10', user: BOB, quantity: 10 })), 'TOO_MANY_OPEN_ORDERS');
    fixture.manager.onUserChanged({ user: ALICE, isMarketMaker: true });
    for (let at = 48; at < 54; at += 1) fixture.place({ id: `a${at}`, quantity: 10 });
    assert.equal(verdict({ id: 'a54' }, {}, fixture), 'TOO_MANY_OPEN_ORDERS', 'and then the node is full');
  });

  test('an order that waits for its trigger needs a user who owns something (AMB-124)', () => {
    const fixture = new OrderFixture();
    for (const asset of [USD, '12' as AssetId]) fixture.setOwned(ALICE, asset, 0n);
    assert.equal(verdict({ above: 210_000 }, {}, fixture), 'INSUFFICIENT_INVENTORY');
    fixture.setOwned(ALICE, '12' as AssetId, 1n);
    assert.equal(verdict({ above: 210_000 }, {}, fixture), 'ok');
  });

  test('an order that may rest is worth the minimum notional at its price, and a replaced one too (AMB-124)', () => {
    const fixture = new OrderFixture();
    // Quantities of 0.0001 at prices of 0.01 USD.
    fixture.manager.onMarketChanged({ ...MARKET, minimumNotional: (3n * 10n ** 17n) as Amount18 });
    assert.equal(verdict({ price: 200, quantity: 1_500 }, {}, fixture), 'ok', '0.15 of 2 USD');
    assert.equal(verdict({ price: 195, quantity: 1_500 }, {}, fixture), 'INVALID_ORDER quantity');
    assert.equal(verdict({ price: 200, quantity: 1_499 }, {}, fixture), 'INVALID_ORDER quantity');
    assert.equal(verdict({ price: 100, quantity: 1_500, above: 400 }, {}, fixture), 'INVALID_ORDER quantity');
    assert.equal(verdict({ market: { base: 10 } }, {}, fixture), 'ok', 'what never rests may be of any size');
    assert.equal(verdict({ market: { quote: 1 } }, {}, fixture), 'ok');
    fixture.place({ price: 200, quantity: 1_500 });
    const change = (newPriceLimit: number | null, newQuantity: number | null): string =>
      replaceVerdict({ newPriceLimit: newPriceLimit as RawPrice, newQuantity: newQuantity as RawQuantity }, fixture);
    assert.equal(change(195, null), 'INVALID_ORDER new_price_limit');
    assert.equal(change(null, 1_499), 'INVALID_ORDER new_quantity');
    assert.equal(change(300, 1_000), 'ok');
    const unknown = (newQuantity: number): string =>
      replaceVerdict(
        { orderId: 'unknown' as never, newPriceLimit: 200 as RawPrice, newQuantity: newQuantity as RawQuantity },
        fixture,
      );
    assert.deepEqual([unknown(1_499), unknown(1_500)], ['INVALID_ORDER new_quantity', 'ok']);
  });

  test('an operator may leave out the checks of fees and inventory, for one order (operator-api.md 7.3)', () => {
    const fixture = new OrderFixture();
    const request = createRequest({ quantity: 90_000 }, { maxTradingFeesRate: 0 });
    const skips = (...words: string[]): ReadonlySet<string> => new Set(words);
    assert.equal(codeOf(fixture.manager.requests.checkCreate(request, CALLER, skips('inventory'))), 'INVALID_ORDER');
    const onlyFees = mustPass(fixture.manager.requests.checkCreate(request, CALLER, skips('fees')));
    assert.equal(codeOf(fixture.manager.requests.reserveCreate(onlyFees, NOW)), 'INSUFFICIENT_INVENTORY');
    const both = mustPass(fixture.manager.requests.checkCreate(request, CALLER, skips('fees', 'inventory')));
    assert.equal(codeOf(fixture.manager.requests.reserveCreate(both, NOW)), 'ok');
    assert.ok(fixture.available(ALICE, USD) < 0n, 'the hold is taken all the same');
    assert.equal(codeOf(fixture.request({ id: 'next', quantity: 10 })), 'INSUFFICIENT_INVENTORY');
  });

  test('two orders whose signatures were verified together do not both pass the cap', () => {
    const fixture = new OrderFixture();
    fixture.manager.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, openOrdersMax: 1 });
    const [one, two] = ['o1', 'o2'].map((id) =>
      mustPass(fixture.manager.requests.checkCreate(createRequest({ id }), CALLER)),
    );
    assert.ok(one !== undefined && two !== undefined);
    assert.equal(codeOf(fixture.manager.requests.reserveCreate(one, NOW)), 'ok');
    assert.equal(codeOf(fixture.manager.requests.reserveCreate(two, NOW)), 'TOO_MANY_OPEN_ORDERS');
  });
});

suite('pre-flight of a replace or cancel', () => {
  test('a replace has the market’s decimals, a price on the tick and a time that is not ahead (AMB-21, AMB-22)', () => {
    assert.equal(replaceVerdict({}), 'ok');
    assert.equal(replaceVerdict({ bookPriceDecimals: 4 }), 'INVALID_ORDER book_price_decimals');
    assert.equal(replaceVerdict({ newPriceLimit: 7 as RawPrice }), 'INVALID_ORDER new_price_limit');
    assert.equal(replaceVerdict({ timestampNs: (NOW + 5_000_000_001n) as TimestampNs }), 'INVALID_ORDER timestamp_ns');
  });

  test('a trigger is changed while the order waits for it, in either shape, and never after (AMB-06, AMB-20)', () => {
    for (const shape of ['bare', 'wrapped'] as const) {
      const condition = { direction: 'PriceBelow', price: 7 as RawPrice } as const;
      const newTrigger = { shape, parentOrderId: null, condition };
      const fixture = new OrderFixture();
      const request = replaceRequest({ newTrigger });
      const check = () => fixture.manager.requests.checkReplace(request, { ...CALLER, looksUp: false });
      assert.equal(codeOf(check()), 'ok', 'unknown here: the market decides');
      const order = fixture.place({ above: 210_000 });
      assert.deepEqual(mustPass(check()).newTrigger, { kind: 2, price: 7 });
      fixture.trigger(order, 10_000);
      fixture.activate(order, 10_000);
      assert.equal(replaceVerdict({ newTrigger }, fixture), 'INVALID_ORDER new_trigger');
    }
  });

  test('complete terms: none, the own or another trigger, by what became of it (wire-additions.md 3.3)', () => {
    const own = { direction: 'PriceAbove', price: 210_000 as RawPrice } as const;
    const other = { direction: 'PriceBelow', price: 7 as RawPrice } as const;
    const complete = {
      baseAsset: { id: BASE, text: BASE },
      newPriceLimit: 200_000 as RawPrice,
      newQuantity: 10_000 as RawQuantity,
    };
    const verdicts = (fixture: OrderFixture): string[] =>
      [null, own, other].map((condition) => {
        const newTrigger = condition === null ? null : ({ shape: 'bare', parentOrderId: null, condition } as const);
        return replaceVerdict({ ...complete, newTrigger }, fixture);
      });
    const refused = 'INVALID_ORDER new_trigger';
    const fixture = new OrderFixture();
    const order = fixture.place({ above: 210_000 });
    assert.deepEqual(verdicts(fixture), [refused, 'ok', 'ok'], 'dormant');
    fixture.trigger(order, 10_000, 210_000);
    assert.deepEqual(verdicts(fixture), ['ok', 'ok', refused], 'fired');
    fixture.activate(order, 10_000);
    assert.deepEqual(verdicts(fixture), ['ok', 'ok', refused], 'released');
    const plain = new OrderFixture();
    plain.place({});
    assert.deepEqual(verdicts(plain), ['ok', refused, refused], 'never had one');
  });

  test('a new total below the minimum is refused unless it completes the order (AMB-19, AMB-42)', () => {
    const fixture = new OrderFixture();
    const maker = fixture.place({ quantity: 100 });
    const taker = fixture.place({ id: 't', user: BOB, side: 1, quantity: 100 });
    assert.equal(replaceVerdict({ newQuantity: 9 as RawQuantity }, fixture), 'INVALID_ORDER new_quantity');
    fixture.match(maker, taker, 200_000, 9);
    assert.equal(replaceVerdict({ newQuantity: 9 as RawQuantity }, fixture), 'ok');
  });

  test('on REST an order is looked up: unknown 404, cancelled 409, filled 404 (CAN-03, CAN-04, RPL-10, RPL-11, AMB-23)', () => {
    const fixture = new OrderFixture();
    const cancel = () => codeOf(fixture.manager.requests.checkCancel(cancelRequest(), CALLER));
    const replace = () => codeOf(fixture.manager.requests.checkReplace(replaceRequest(), CALLER));
    assert.deepEqual([cancel(), replace()], ['ORDER_NOT_FOUND', 'ORDER_NOT_FOUND']);
    const order = fixture.place();
    assert.deepEqual([cancel(), replace()], ['ok', 'ok']);
    fixture.end(order, 1);
    assert.deepEqual([cancel(), replace()], ['ALREADY_CANCELLED', 'ALREADY_CANCELLED']);
    const other = new OrderFixture();
    other.end(other.place(), 33);
    assert.equal(codeOf(other.manager.requests.checkCancel(cancelRequest(), CALLER)), 'ORDER_NOT_FOUND');
  });

  test('the control channel skips the look-up (CTL-04)', () => {
    const { manager } = new OrderFixture();
    assert.equal(codeOf(manager.requests.checkCancel(cancelRequest(), { ...CALLER, looksUp: false })), 'ok');
  });

  test("another user's cancel is a signer mismatch (AMB-22)", () => {
    const { manager } = new OrderFixture();
    assert.equal(codeOf(manager.requests.checkCancel(cancelRequest('order-1', BOB), CALLER)), 'SIGNER_MISMATCH');
  });
});
