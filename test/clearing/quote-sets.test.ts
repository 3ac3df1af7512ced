// tier: quick
/** Quote sets in clearing: what a revision covers, counted by side and price; marks, texts, restarts (QTE-07 to QTE-09). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { verifyQuoteSet } from '../../src/clearing/order-verdict.ts';
import { DEFAULT_SIGNERS } from '../../src/clearing/signers/signer-config.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import type { UserId } from '../../src/core/ids.ts';
import { ORDER_END, ROLLBACK_REASON, SIDE } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence, TimestampNs } from '../../src/core/units.ts';
import { ClearingWorld, effectsOf, PlainTables, reasonsOf, T0 } from '../support/clearing-world.ts';
import { ALICE, BOB, ETH, USD } from '../support/names.ts';
import { type AppliedWords, ASK, BID, quoteSetApplied, quoteText } from '../support/quote-inputs.ts';

const R = ROLLBACK_REASON;
const PRICE = 200_000;
const OTHER = 201_000;

function world(): ClearingWorld {
  const made = ClearingWorld.withMarket();
  made.fund(ALICE, USD, '100000');
  made.fund(ALICE, ETH, '100');
  made.fund(BOB, USD, '100000');
  made.fund(BOB, ETH, '100');
  return made;
}

function apply(of: ClearingWorld, words: Omit<AppliedWords, 'user'> & { readonly user?: UserId }): Sequence {
  const place = of.next();
  of.send(quoteSetApplied({ user: ALICE, ...words }, place));
  return (place.sequence + 1) as Sequence;
}

/** A bid of 1 ETH at 2000. */
function bid(of: ClearingWorld, lots = 10_000, more: Partial<AppliedWords> = {}): Sequence {
  return apply(of, {
    revisionNs: T0 + 1n,
    bids: [[PRICE, lots]],
    asks: [],
    changes: [['created', BID, PRICE, lots]],
    ...more,
  });
}

function sell(of: ClearingWorld, quantity = 100_000): Sequence {
  return of.create({ user: BOB, side: SIDE.sell, quantity, price: PRICE });
}

suite('quote sets in clearing', () => {
  test('QTE-07: the revision is verified once, with its first fill, and its entries are orders', () => {
    const of = world();
    const entry = bid(of);
    assert.deepEqual(
      [of.order(entry)?.orderId, of.order(entry)?.quantity, of.order(entry)?.creationNs],
      ['mm:1', 10_000, T0 + 1n],
    );
    assert.equal(of.held(ALICE, USD) > 0n, true);
    const taker = sell(of);
    assert.equal(of.setsVerified, 0);
    assert.equal(effectsOf(of.match(entry, taker, 4_000), 'fillConfirmed').length, 1);
    assert.equal(effectsOf(of.match(entry, taker, 2_000), 'fillConfirmed').length, 1);
    assert.equal(of.setsVerified, 1);
    assert.equal(of.order(entry)?.filledQuantity, 6_000);
    const fills = of.state.markets[0]?.quoteSets.get(`${ALICE}/1`)?.row.fills;
    assert.deepEqual(fills, [{ side: SIDE.buy, price: PRICE, lots: 6_000 }]);
  });

  test('QTE-07: set, entry and fill in one batch: the revision is verified before it is applied', () => {
    const of = world();
    const taker = sell(of);
    const place = of.next();
    const set = quoteSetApplied(
      { user: ALICE, revisionNs: T0 + 1n, bids: [[PRICE, 9]], asks: [], changes: [['created', BID, PRICE, 9]] },
      place,
    );
    const entry = (place.sequence + 1) as Sequence;
    const fill = { ...of.matchInput(entry, taker, 9), sequence: (place.sequence + 2) as Sequence };
    assert.equal(effectsOf(of.send(set, fill), 'fillConfirmed').length, 1);
    assert.equal(of.setsVerified, 1);
  });

  test('QTE-07: a forged text covers nothing', () => {
    const of = world();
    const place = of.next();
    of.forged.add(`0/${place.sequence}`);
    const entry = bid(of);
    assert.deepEqual(reasonsOf(of.match(entry, sell(of), 1)), [[R.invalidSignature, R.counterpartyAtFault]]);
  });

  test('QTE-07: a fill belongs to the revision in force at its sequence; lots are counted anew for each', () => {
    const of = world();
    const entry = bid(of, 5);
    const taker = sell(of);
    of.match(entry, taker, 4);
    apply(of, {
      revisionNs: T0 + 2n,
      bids: [[PRICE, 5]],
      asks: [],
      changes: [['resized', BID, PRICE, 5, entry]],
      lastNumber: 1,
    });
    assert.deepEqual([of.order(entry)?.quantity, of.order(entry)?.filledQuantity], [9, 4]);
    assert.equal(effectsOf(of.match(entry, taker, 3), 'fillConfirmed').length, 1);
    assert.equal(of.setsVerified, 2, 'each revision has its own signature');
    // Another text covers other lots.
    apply(of, {
      revisionNs: T0 + 3n,
      bids: [[PRICE, 8]],
      asks: [],
      changes: [['resized', BID, PRICE, 8, entry]],
      lastNumber: 1,
    });
    assert.equal(effectsOf(of.match(entry, taker, 8), 'fillConfirmed').length, 1);
    assert.equal(of.order(entry), undefined, 'it is filled');
  });

  test('QTE-07: what rests beyond the text is an overfill, whichever orders have it', () => {
    const of = world();
    const first = bid(of, 5, {
      changes: [
        ['created', BID, PRICE, 5],
        ['created', BID, PRICE, 5],
      ],
    });
    const second = (first + 1) as Sequence;
    const taker = sell(of);
    assert.equal(effectsOf(of.match(first, taker, 3), 'fillConfirmed').length, 1);
    assert.deepEqual(reasonsOf(of.match(second, taker, 3)), [[R.overfill, R.counterpartyAtFault]]);
    assert.equal(effectsOf(of.match(second, taker, 2), 'fillConfirmed').length, 1);
    assert.deepEqual(reasonsOf(of.match(first, taker, 1)), [[R.overfill, R.counterpartyAtFault]]);
  });

  test('QTE-07: the lots of one fill-or-kill are counted together', () => {
    const of = world();
    const first = bid(of, 5, {
      changes: [
        ['created', BID, PRICE, 5],
        ['created', BID, PRICE, 5],
      ],
    });
    const taker = sell(of);
    const one = of.matchInput(first, taker, 4, { group: 1 });
    const two = of.matchInput((first + 1) as Sequence, taker, 4, { group: 2 });
    const next = { sequence: (one.sequence + 1) as Sequence, tradeId: (one.tradeId + 1) as Sequence };
    assert.equal(effectsOf(of.send(one, { ...two, ...next }), 'fillRolledBack').length, 2);
  });

  test('QTE-07: another side or price than was signed is covered by no lot', () => {
    for (const changes of [[['created', BID, OTHER, 5]], [['created', ASK, PRICE, 5]]] as const) {
      const of = world();
      const entry = bid(of, 5, { changes });
      const isBid = changes[0][1] === BID;
      const taker = of.create({ user: BOB, side: isBid ? SIDE.sell : SIDE.buy, quantity: 9, price: changes[0][2] });
      const effects = of.match(entry, taker, 1, { price: changes[0][2] as RawPrice });
      assert.deepEqual(reasonsOf(effects), [[R.overfill, R.counterpartyAtFault]]);
    }
  });

  test('QTE-07: a fill from before the revision that rolls back leaves what the new one rests', () => {
    const of = world();
    const entry = bid(of, 5);
    const taker = sell(of);
    // The taker has no fee limit for this.
    assert.equal(effectsOf(of.match(entry, taker, 4, { takerFeeRate: 900_000 }), 'fillRolledBack').length, 1);
    apply(of, {
      revisionNs: T0 + 2n,
      bids: [[PRICE, 3]],
      asks: [],
      changes: [['resized', BID, PRICE, 3, entry]],
      lastNumber: 1,
    });
    assert.deepEqual([of.order(entry)?.quantity, of.order(entry)?.filledQuantity], [3, 0]);
  });

  test('QTE-07: an order that is out of its set rests no longer behind a restart', () => {
    const of = world();
    const entry = bid(of, 5);
    of.match(entry, sell(of), 5, { takerFeeRate: 900_000 });
    const next = apply(of, {
      revisionNs: T0 + 2n,
      bids: [[PRICE, 2]],
      asks: [],
      changes: [
        ['out', BID, PRICE, 0, entry],
        ['created', BID, PRICE, 2],
      ],
      lastNumber: 1,
    });
    of.send({ kind: 'restarted', clean: true });
    assert.equal(of.order(entry), undefined);
    assert.equal(of.finished(entry)?.end, ORDER_END.userRequested);
    assert.deepEqual([of.order(next)?.quantity, of.order(next)?.orderId], [2, 'mm:2']);
  });

  test('QTE-09: what of an ended set was filled and rolled back rests no longer behind a restart', () => {
    for (const end of [ORDER_END.userRequested, ORDER_END.liquidation, ORDER_END.expired]) {
      const of = world();
      const entry = bid(of, 5);
      of.match(entry, sell(of), 5, { takerFeeRate: 900_000 });
      // The market has it as filled, so it publishes no end of it.
      of.send({ kind: 'quoteSetEnded', ...of.next(), markNs: (T0 + 9n) as TimestampNs, user: ALICE, slot: 1, end });
      assert.notEqual(of.held(ALICE, USD), 0n, 'until its market knows');
      of.send({ kind: 'restarted', clean: false });
      assert.equal(of.order(entry), undefined);
      assert.equal(of.finished(entry)?.end, ORDER_END.userRequested);
      assert.equal(of.held(ALICE, USD), 0n);
    }
  });

  test('QTE-09: a mark that is raised, and no end, leaves the entries to a restart', () => {
    const of = world();
    const entry = bid(of, 5);
    of.match(entry, sell(of), 5, { takerFeeRate: 900_000 });
    of.send({ kind: 'quoteSetEnded', ...of.next(), markNs: (T0 + 9n) as TimestampNs, user: ALICE, slot: 1, end: 0 });
    of.send({ kind: 'restarted', clean: false });
    assert.equal(of.order(entry)?.quantity, 5);
  });

  test('QTE-08: behind a crash an entry rests what was signed less its confirmed fills, in its place; numbers jump', () => {
    const of = world();
    const entry = bid(of, 5);
    of.match(entry, sell(of), 2);
    of.send({ kind: 'restarted', clean: false });
    const row = of.order(entry);
    assert.deepEqual([row?.quantity, row?.filledQuantity, row?.prioritySequence], [5, 2, entry]);
    assert.equal((of.state.markets[0]?.quoteSets.get(`${ALICE}/1`)?.row.lastNumber ?? 0) > 1_000, true);
  });

  test('QTE-02: an entry that grows has the place that its market gave it', () => {
    const of = world();
    const entry = bid(of, 5);
    const place = of.next().sequence;
    apply(of, {
      revisionNs: T0 + 2n,
      bids: [[PRICE, 9]],
      asks: [],
      changes: [['resized', BID, PRICE, 9, entry, place]],
      lastNumber: 1,
    });
    assert.equal(of.order(entry)?.prioritySequence, place);
  });

  test('QTE-09: a revision that is not above the durable mark breaks the contract of the market', () => {
    const of = world();
    bid(of);
    const again = (): unknown => bid(of, 5, { revisionNs: T0 + 1n });
    assert.throws(again, /above the mark/);
    const other = world();
    bid(other);
    const markNs = (T0 + 100n) as TimestampNs;
    other.send({ kind: 'quoteSetEnded', ...other.next(), markNs, user: ALICE, slot: 1, end: 0 });
    assert.throws(() => bid(other, 5, { revisionNs: T0 + 50n }), /above the mark/);
  });

  test('QTE-07: the text is kept until the set is over, and leaves with the last fill decided', () => {
    const of = world();
    const entry = bid(of, 5);
    const rowOf = (): string | undefined => of.state.markets[0]?.quoteSets.get(`${ALICE}/1`)?.row.text;
    of.match(entry, sell(of), 5);
    assert.match(rowOf() ?? '', /"set_id":"mm"/);
    const markNs = (T0 + 100n) as TimestampNs;
    of.send({ kind: 'quoteSetEnded', ...of.next(), markNs, user: ALICE, slot: 1, end: ORDER_END.userRequested });
    assert.equal(rowOf(), '');
    apply(of, { revisionNs: T0 + 200n, bids: [], asks: [], changes: [] });
    assert.equal(rowOf(), '');
  });

  test('QTE-07: rows of a checkpoint give the same state, with entries found by their set', () => {
    const of = world();
    const entry = bid(of, 5);
    const taker = sell(of);
    of.match(entry, taker, 2);
    const store = new PlainTables();
    store.checkpoint(of.state);
    const loaded = store.load();
    assert.equal(stateHash(loaded), stateHash(of.state));
    of.state = loaded;
    assert.equal(effectsOf(of.match(entry, taker, 3), 'fillConfirmed').length, 1);
    assert.equal(of.setsVerified, 1, 'the verdict is durable');
  });

  test('QTE-07: an entry that the node cuts after a fill of it was undone keeps what the market still counts as filled', () => {
    const of = world();
    const entry = bid(of, 5);
    const taker = sell(of);
    of.match(entry, taker, 1);
    of.send({
      kind: 'fault',
      request: of.request(),
      fault: { party: 'taker', reason: R.staleMatch, asset: null, skip: 0, count: 1 },
    });
    assert.equal(effectsOf(of.match(entry, taker, 3), 'fillRolledBack').length, 1);
    // Of the market 4 are filled and 1 rests: the node takes that off, and the order is over for it.
    of.replace(entry, { quantity: 1 as never, isCut: true });
    of.end(entry, ORDER_END.filled);
    assert.deepEqual([of.order(entry)?.quantity, of.order(entry)?.filledQuantity], [4, 1], 'it may come back');
    // It hears of the rollback.
    of.send({ kind: 'restored', ...of.next(), order: entry, prioritySequence: entry });
    assert.equal(effectsOf(of.match(entry, sell(of), 3), 'fillConfirmed').length, 1);
    assert.equal(of.order(entry), undefined, 'it is filled');
  });

  test('QTE-06: of an entry that leaves its set and never traded nothing is kept, also where tables have it', () => {
    const of = world();
    const unseen = bid(of, 5);
    apply(of, { revisionNs: T0 + 2n, bids: [], asks: [], changes: [['left', BID, PRICE, 5, unseen]], lastNumber: 1 });
    assert.equal(of.order(unseen), undefined);
    assert.equal(of.finished(unseen), undefined);
    assert.equal(of.held(ALICE, USD), 0n);
    assert.equal(of.state.dirty.forgottenEntries.length, 0, 'no checkpoint has seen it');
    const store = new PlainTables();
    const seen = bid(of, 5, { revisionNs: T0 + 3n, lastNumber: 2 });
    store.checkpoint(of.state);
    apply(of, { revisionNs: T0 + 4n, bids: [], asks: [], changes: [['left', BID, PRICE, 5, seen]], lastNumber: 2 });
    assert.equal(of.state.dirty.forgottenEntries.length, 1);
    store.checkpoint(of.state);
    const loaded = store.load();
    assert.equal(stateHash(loaded), stateHash(of.state));
    assert.equal(loaded.markets[0]?.orders.size, 0);
  });

  test('QTE-06: entries that traded end as cancelled when the set takes them away, and an auto-reduction says what it takes off', () => {
    const of = world();
    const entry = bid(of, 5);
    of.match(entry, sell(of), 1);
    of.replace(entry, { quantity: 1 as never, isCut: true });
    assert.equal(of.order(entry)?.quantity, 4);
    of.replace(entry, { quantity: 1 as never, isCut: true });
    assert.equal(of.order(entry)?.quantity, 3);
    apply(of, { revisionNs: T0 + 2n, bids: [], asks: [], changes: [['left', BID, PRICE, 2, entry]], lastNumber: 1 });
    assert.equal(of.finished(entry)?.end, ORDER_END.userRequested);
    assert.equal(of.held(ALICE, USD), 0n);
  });

  test('QTE-07: the text has to be the canonical one of exactly these terms, attested or signed', () => {
    const words = { user: ALICE, revisionNs: T0, bids: [[PRICE, 5]], asks: [[OTHER, 5]] } as const;
    const market = { assetId: ETH, priceDecimals: 2, quantityDecimals: 4 };
    const terms = {
      marketIndex: 0,
      user: ALICE,
      sequence: 1 as Sequence,
      setId: 'mm',
      appliedNs: T0,
      revisionNs: T0,
      goodUntilNs: 0n as TimestampNs,
      maxFeeRate: 1_000,
      subAccount: 0,
      flags: 5,
      text: quoteText(words),
      signatures: new Uint8Array(64),
    };
    const verify = (set: typeof terms, isAttested = true): boolean =>
      verifyQuoteSet({ set, market, config: DEFAULT_SIGNERS }, { webauthn: null, isAttested: () => isAttested });
    assert.equal(verify(terms), true);
    assert.equal(verify(terms, false), false, 'clearing verifies what was not attested');
    for (const wrong of [
      { user: BOB },
      { setId: 'mn' },
      { revisionNs: (T0 + 1n) as TimestampNs },
      { goodUntilNs: 1n as TimestampNs },
      { maxFeeRate: 999 },
      { subAccount: 1 },
      { flags: 1 },
      { text: '' },
      { text: terms.text.replace('"asks"', ' "asks"') },
      { text: quoteText({ ...words, asks: [[PRICE, 5]] }) },
      { text: quoteText({ ...words, decimals: [3, 4] }) },
      { text: quoteText({ ...words, asset: '3' }) },
    ])
      assert.equal(verify({ ...terms, ...wrong }), false, JSON.stringify(Object.keys(wrong)));
  });
});
