// tier: quick
/** Answers to requests, a restart, and inventory. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ProtectionRow } from '../../../src/clearing/rows.ts';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_LIFE_NS } from '../../../src/core/limits.ts';
import { ORDER_END, PROTECTION_LIMIT, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { type Amount18, ONE_18, type RawQuantity, type Sequence, type TimestampNs } from '../../../src/core/units.ts';
import { DEFAULT_ORDER_SETTINGS } from '../../../src/gateway/orders/settings.ts';
import { ALICE, BOB } from '../../support/names.ts';
import {
  BASE,
  cancelRequest,
  codeOf,
  createRequest,
  mustPass,
  NO_HISTORY,
  NOW,
  OrderFixture,
  replaceRequest,
  restoreRow,
} from '../../support/order-fixture.ts';
import { orderPage } from '../../support/pages.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;
const FROZEN_UNTIL = (NOW + 5n) as TimestampNs;

/** Group `g` of Alice in the market of the fixture. */
function groupRow(): ProtectionRow {
  return {
    ...{ user: ALICE, marketIndex: 3, slot: 1, group: 'g', windowMs: 1_000, frozenMs: 5 },
    ...{ maxFills: 2, maxQuantity: null, maxNotional: null, minFillNotional: 0n as Amount18 },
    ...{ trip: 0 as Sequence, endedTrip: 0 as Sequence, frozenUntilNs: 0n as TimestampNs, isGone: false },
  };
}

suite('answers', () => {
  test('optimistic: a create is answered when the market has decided, before clearing has (ORD-28, AMB-16)', () => {
    const fixture = new OrderFixture();
    fixture.place();
    assert.deepEqual(
      fixture.sink.answers.map(({ answer }) => answer.refusal),
      [null],
    );
  });

  test('durable: it waits until clearing has flushed its market sequence (AMB-16)', () => {
    const fixture = new OrderFixture();
    fixture.manager.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, acks: 'durable' });
    const first = fixture.place();
    const second = fixture.place({ id: 'o2' });
    assert.equal(fixture.manager.requests.count, 2);
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence: first });
    assert.deepEqual(
      fixture.sink.answers.map(({ orderId }) => orderId),
      ['order-1'],
    );
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence: second });
    assert.equal(fixture.sink.answers.length, 2);
    fixture.manager.onMarketDecided({ marketIndex: 3, sequence: 50 });
    fixture.place({ id: 'o3' });
    assert.equal(fixture.sink.answers.length, 3);
  });

  test('durable: a refusal that changed nothing does not wait, and turning durable off sends what waited', () => {
    const fixture = new OrderFixture();
    fixture.manager.onSettingsChanged({ ...DEFAULT_ORDER_SETTINGS, acks: 'durable' });
    fixture.answer(mustPass(fixture.request()), 0, REJECT_CODE.DUPLICATE_ORDER);
    fixture.place();
    assert.equal(fixture.sink.answers.length, 1);
    fixture.manager.onSettingsChanged(DEFAULT_ORDER_SETTINGS);
    assert.equal(fixture.sink.answers.length, 2);
  });

  const CODES = ['MMP_FROZEN', 'INVALID_ORDER', 'MARKET_HALTED', 'DUPLICATE_ORDER', 'ALREADY_CANCELLED'] as const;
  for (const code of CODES)
    test(`the market refuses the only order of a user, a member of a group, with ${code}: it is answered, and nothing stays (MMP-02)`, () => {
      const fixture = new OrderFixture();
      const place = { user: ALICE, marketIndex: 3, slot: 1 };
      fixture.manager.protections.changed(groupRow());
      const requestId = mustPass(fixture.request({ protectionGroup: 'g' }));
      // The trip comes in front of the refusal: the order was on its way.
      const tripped = {
        kind: 'protectionTriggered',
        ...place,
        sequence: 1 as Sequence,
        timeNs: NOW,
        limit: PROTECTION_LIMIT.fills,
      } as const;
      if (code === 'MMP_FROZEN') fixture.manager.onProtectionTriggered({ ...tripped, frozenUntilNs: FROZEN_UNTIL });
      fixture.answer(requestId, 0, REJECT_CODE[code]);
      const [told] = fixture.sink.answers;
      assert.equal(told?.answer.refusal?.code, code);
      const details = code === 'MMP_FROZEN' ? { frozen_until_ns: FROZEN_UNTIL } : undefined;
      assert.deepEqual(told?.answer.refusal?.details, details);
      assert.deepEqual([fixture.held(ALICE, USD), fixture.record(ALICE)], [0n, undefined]);
      assert.equal(fixture.manager.protections.liveOrders(groupRow()), 0);
    });

  test('while several creates of an id are on their way a replace of it is refused: it is open which it will meet (AMB-112)', () => {
    const replace = (fixture: OrderFixture) => {
      const checked = fixture.manager.requests.checkReplace(
        replaceRequest({ newQuantity: 20_000 as RawQuantity }),
        CALLER,
      );
      return fixture.manager.requests.reserveReplace(mustPass(checked));
    };
    const fixture = new OrderFixture();
    // The first would hold nothing whatever it is replaced to.
    const first = mustPass(fixture.request({ above: 210_000 }));
    const second = mustPass(fixture.request({ quantity: 10 }));
    assert.equal(codeOf(replace(fixture)), 'SERVICE_UNAVAILABLE');
    fixture.answer(first, 0, REJECT_CODE.ALREADY_CANCELLED);
    mustPass(replace(fixture));
    assert.equal(fixture.held(ALICE, USD), 400_200n * (ONE_18 / 100n), 'the second is what its id names now');
    fixture.manager.onAccepted({ requestId: second, marketIndex: 3, sequence: 1, timeNs: NOW, rejectCode: 0 });
    fixture.answer(second, 1);
    mustPass(replace(fixture));
  });

  test('a replace after one of two creates was admitted meets that one (AMB-08, AMB-112)', () => {
    const fixture = new OrderFixture();
    const [first, second] = [
      mustPass(fixture.request({ above: 210_000 })),
      mustPass(fixture.request({ quantity: 10 })),
    ];
    fixture.manager.onAccepted({ requestId: second, marketIndex: 3, sequence: 1, timeNs: NOW, rejectCode: 0 });
    const checked = fixture.manager.requests.checkReplace(
      replaceRequest({ newQuantity: 20_000 as RawQuantity }),
      CALLER,
    );
    mustPass(fixture.manager.requests.reserveReplace(mustPass(checked)));
    assert.equal(fixture.held(ALICE, USD), 400_200n * (ONE_18 / 100n));
    fixture.answer(first, 0, REJECT_CODE.DUPLICATE_ORDER);
    assert.equal(fixture.status(ALICE), 'Open');
  });

  test('an id that is live is a duplicate before it takes a hold; one on its way is for the market to judge (AMB-08)', () => {
    const fixture = new OrderFixture();
    const twins = [mustPass(fixture.request({ quantity: 10 })), mustPass(fixture.request({ quantity: 10 }))];
    fixture.answer(twins[0] ?? 0, 0, REJECT_CODE.ALREADY_CANCELLED);
    fixture.manager.onAccepted({ requestId: twins[1] ?? 0, marketIndex: 3, sequence: 1, timeNs: NOW, rejectCode: 0 });
    fixture.answer(twins[1] ?? 0, 1);
    assert.equal(fixture.status(ALICE), 'Open');
    assert.equal(codeOf(fixture.request({ quantity: 10 })), 'DUPLICATE_ORDER');
  });

  test('the id of a finished order is free 30 days after its creation, though the order is still in memory (AMB-08)', () => {
    const fixture = new OrderFixture();
    const anew = (now: bigint, quantity = 20) => {
      const at = now as TimestampNs;
      const request = createRequest({ quantity, postSignNs: now }, { creationNs: at });
      const checked = fixture.manager.requests.checkCreate(request, { user: ALICE, now: at, looksUp: true });
      const reserved = checked.ok ? fixture.manager.requests.reserveCreate(checked.value, at) : checked;
      return reserved.ok ? { ok: true as const, value: reserved.value.requestId } : reserved;
    };
    const [before, after] = [NOW + ORDER_LIFE_NS - 1n, NOW + ORDER_LIFE_NS];
    const old = fixture.place({ quantity: 10 });
    assert.equal(codeOf(anew(after)), 'DUPLICATE_ORDER', 'it is live');
    fixture.end(old, ORDER_END.userRequested);
    assert.equal(codeOf(anew(before)), 'DUPLICATE_ORDER');

    // The market refuses the first and admits the second; meanwhile the id may name either.
    const first = mustPass(anew(after));
    const query = { user: ALICE, marketIndex: null, subAccounts: null, page: 0, limit: 10, openOnly: false };
    const sizes = (openOnly: boolean) =>
      orderPage(fixture.manager, NO_HISTORY, { ...query, openOnly }).rows.map(({ status, quantity }) => [
        status,
        quantity,
      ]);
    const checked = fixture.manager.requests.checkReplace(replaceRequest({ newQuantity: 30 as RawQuantity }), CALLER);
    assert.equal(codeOf(fixture.manager.requests.reserveReplace(mustPass(checked))), 'SERVICE_UNAVAILABLE');
    fixture.answer(first, 0, REJECT_CODE.MARKET_HALTED);
    assert.equal(fixture.status(ALICE), 'Canceled');
    const second = mustPass(anew(after));
    const sequence = fixture.nextSequence;
    fixture.manager.onAccepted({ requestId: second, marketIndex: 3, sequence, timeNs: NOW, rejectCode: 0 });
    fixture.answer(second, sequence);
    assert.equal(fixture.status(ALICE), 'Open');
    assert.equal(codeOf(anew(after)), 'DUPLICATE_ORDER');
    mustPass(fixture.manager.requests.reserveReplace(mustPass(checked)));
    assert.equal(sizes(true).length, 1);
    assert.equal(sizes(false).length, 2, 'the finished one is read until a checkpoint has it');

    // A checkpoint takes the finished one out of memory; the live one keeps the id.
    fixture.decide();
    fixture.manager.onJournalFlushed({ sequence: 5, checkpoint: 5 });
    fixture.manager.onJournalFlushed({ sequence: 6, checkpoint: 6 });
    assert.equal(fixture.status(ALICE), 'Open');
    assert.equal(sizes(false).length, 1);
  });

  test('a parked cancel that met no create publishes CancelFailed (AMB-25)', () => {
    const fixture = new OrderFixture();
    const { orderId } = mustPass(fixture.manager.requests.checkCancel(cancelRequest(), CALLER));
    fixture.manager.onParkedCancelExpired({ marketIndex: 3, user: ALICE, orderId });
    assert.deepEqual(fixture.told(ALICE), ['CancelFailed OrderNotFound']);
  });
});

suite('restart and inventory', () => {
  test('a restored order holds for what is unconfirmed and has no pending event (AMB-110)', () => {
    const fixture = new OrderFixture();
    restoreRow(fixture.manager, {
      side: SIDE.buy,
      timestampNs: (NOW + 1n) as TimestampNs,
      filledQuantity: 4_000,
      filledNotional: (800n * ONE_18) as Amount18,
    });
    assert.equal(fixture.available(ALICE, USD), (1_000_000n - 120_060n) * CENT);
    assert.deepEqual([fixture.status(ALICE), fixture.told(ALICE)], ['PartiallyFilled', []]);
    fixture.end(40, 1);
    assert.deepEqual(fixture.told(ALICE), ['Canceled UserRequested']);
  });

  test('inventory shows what is owned, holds included; zeros only for USD (wire.md 7.13, AMB-72, AMB-139)', () => {
    const fixture = new OrderFixture();
    fixture.place();
    fixture.setOwned(ALICE, BASE, 0n);
    const { is_mm, accounts } = fixture.manager.inventory(ALICE, null);
    assert.equal(is_mm, false);
    assert.deepEqual([...accounts.keys()], ['0', '1']);
    assert.deepEqual([...(accounts.get('0')?.spot ?? [])], [['0', '10000']]);
    assert.deepEqual(accounts.get('1'), {
      kind: 'cross_margin',
      name: 'Margin',
      spot: new Map([['0', '0']]),
      margins: new Map(),
    });
    assert.deepEqual([...fixture.manager.inventory(BOB, [1]).accounts.keys()], ['1']);
  });
});
