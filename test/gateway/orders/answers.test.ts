/** Answers to requests, a restart, and inventory. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { USD } from '../../../src/core/ids.ts';
import { ORDER_LIFE_NS } from '../../../src/core/limits.ts';
import { ORDER_END, SIDE } from '../../../src/core/order-terms.ts';
import { REJECT_CODE } from '../../../src/core/reject.ts';
import { type Amount18, ONE_18, type RawQuantity, type TimestampNs } from '../../../src/core/units.ts';
import { DEFAULT_SETTINGS } from '../../../src/gateway/orders/settings.ts';
import {
  ALICE,
  BASE,
  BOB,
  cancelRequest,
  codeOf,
  createRequest,
  mustPass,
  NO_HISTORY,
  NOW,
  OrderDesk,
  replaceRequest,
  restoreRow,
} from '../../support/order-desk.ts';
import { orderPage } from '../../support/pages.ts';

const CALLER = { user: ALICE, now: NOW, looksUp: false };
const CENT = ONE_18 / 100n;

suite('answers', () => {
  test('optimistic: a create is answered when the market has decided, before clearing has (ORD-28, AMB-16)', () => {
    const desk = new OrderDesk();
    desk.place();
    assert.deepEqual(
      desk.sink.answers.map(({ answer }) => answer.refusal),
      [null],
    );
  });

  test('durable: it waits until clearing has flushed its market sequence (AMB-16)', () => {
    const desk = new OrderDesk();
    desk.manager.onSettingsChanged({ ...DEFAULT_SETTINGS, acks: 'durable' });
    const first = desk.place();
    const second = desk.place({ id: 'o2' });
    assert.equal(desk.manager.requests.count, 2);
    desk.manager.onMarketDecided({ marketIndex: 3, sequence: first });
    assert.deepEqual(
      desk.sink.answers.map(({ orderId }) => orderId),
      ['order-1'],
    );
    desk.manager.onMarketDecided({ marketIndex: 3, sequence: second });
    assert.equal(desk.sink.answers.length, 2);
    desk.manager.onMarketDecided({ marketIndex: 3, sequence: 50 });
    desk.place({ id: 'o3' });
    assert.equal(desk.sink.answers.length, 3);
  });

  test('durable: a refusal that changed nothing does not wait, and turning durable off sends what waited', () => {
    const desk = new OrderDesk();
    desk.manager.onSettingsChanged({ ...DEFAULT_SETTINGS, acks: 'durable' });
    desk.answer(mustPass(desk.request()), 0, REJECT_CODE.DUPLICATE_ORDER);
    desk.place();
    assert.equal(desk.sink.answers.length, 1);
    desk.manager.onSettingsChanged(DEFAULT_SETTINGS);
    assert.equal(desk.sink.answers.length, 2);
  });

  test('while several creates of an id are on their way a replace of it is refused: it is open which it will meet (AMB-112)', () => {
    const replace = (desk: OrderDesk) => {
      const checked = desk.manager.requests.checkReplace(
        replaceRequest({ newQuantity: 20_000 as RawQuantity }),
        CALLER,
      );
      return desk.manager.requests.reserveReplace(mustPass(checked));
    };
    const desk = new OrderDesk();
    // The first would hold nothing whatever it is replaced to.
    const first = mustPass(desk.request({ above: 210_000 }));
    const second = mustPass(desk.request({ quantity: 10 }));
    assert.equal(codeOf(replace(desk)), 'SERVICE_UNAVAILABLE');
    desk.answer(first, 0, REJECT_CODE.ALREADY_CANCELLED);
    mustPass(replace(desk));
    assert.equal(desk.held(ALICE, USD), 400_200n * (ONE_18 / 100n), 'the second is what its id names now');
    desk.manager.onAccepted({ requestId: second, marketIndex: 3, sequence: 1, timeNs: NOW, refusal: 0 });
    desk.answer(second, 1);
    mustPass(replace(desk));
  });

  test('a replace after one of two creates was admitted meets that one (AMB-08, AMB-112)', () => {
    const desk = new OrderDesk();
    const [first, second] = [mustPass(desk.request({ above: 210_000 })), mustPass(desk.request({ quantity: 10 }))];
    desk.manager.onAccepted({ requestId: second, marketIndex: 3, sequence: 1, timeNs: NOW, refusal: 0 });
    const checked = desk.manager.requests.checkReplace(replaceRequest({ newQuantity: 20_000 as RawQuantity }), CALLER);
    mustPass(desk.manager.requests.reserveReplace(mustPass(checked)));
    assert.equal(desk.held(ALICE, USD), 400_200n * (ONE_18 / 100n));
    desk.answer(first, 0, REJECT_CODE.DUPLICATE_ORDER);
    assert.equal(desk.status(ALICE), 'Open');
  });

  test('an id that is live is a duplicate before it takes a hold; one on its way is for the market to judge (AMB-08)', () => {
    const desk = new OrderDesk();
    const twins = [mustPass(desk.request({ quantity: 10 })), mustPass(desk.request({ quantity: 10 }))];
    desk.answer(twins[0] ?? 0, 0, REJECT_CODE.ALREADY_CANCELLED);
    desk.manager.onAccepted({ requestId: twins[1] ?? 0, marketIndex: 3, sequence: 1, timeNs: NOW, refusal: 0 });
    desk.answer(twins[1] ?? 0, 1);
    assert.equal(desk.status(ALICE), 'Open');
    assert.equal(codeOf(desk.request({ quantity: 10 })), 'DUPLICATE_ORDER');
  });

  test('the id of a finished order is free 30 days after its creation, though the order is still in memory (AMB-08)', () => {
    const desk = new OrderDesk();
    const anew = (now: bigint, quantity = 20) => {
      const at = now as TimestampNs;
      const request = createRequest({ quantity, postSignNs: now }, { creationNs: at });
      const checked = desk.manager.requests.checkCreate(request, { user: ALICE, now: at, looksUp: true });
      const reserved = checked.ok ? desk.manager.requests.reserveCreate(checked.value, at) : checked;
      return reserved.ok ? { ok: true as const, value: reserved.value.requestId } : reserved;
    };
    const [before, after] = [NOW + ORDER_LIFE_NS - 1n, NOW + ORDER_LIFE_NS];
    const old = desk.place({ quantity: 10 });
    assert.equal(codeOf(anew(after)), 'DUPLICATE_ORDER', 'it is live');
    desk.end(old, ORDER_END.userRequested);
    assert.equal(codeOf(anew(before)), 'DUPLICATE_ORDER');

    // The market refuses the first and admits the second; meanwhile the id may name either.
    const first = mustPass(anew(after));
    const query = { user: ALICE, marketIndex: null, subAccounts: null, page: 0, limit: 10, openOnly: false };
    const sizes = (openOnly: boolean) =>
      orderPage(desk.manager, NO_HISTORY, { ...query, openOnly }).rows.map(({ status, quantity }) => [
        status,
        quantity,
      ]);
    const checked = desk.manager.requests.checkReplace(replaceRequest({ newQuantity: 30 as RawQuantity }), CALLER);
    assert.equal(codeOf(desk.manager.requests.reserveReplace(mustPass(checked))), 'SERVICE_UNAVAILABLE');
    desk.answer(first, 0, REJECT_CODE.MARKET_HALTED);
    assert.equal(desk.status(ALICE), 'Canceled');
    const second = mustPass(anew(after));
    const sequence = desk.nextSequence;
    desk.manager.onAccepted({ requestId: second, marketIndex: 3, sequence, timeNs: NOW, refusal: 0 });
    desk.answer(second, sequence);
    assert.equal(desk.status(ALICE), 'Open');
    assert.equal(codeOf(anew(after)), 'DUPLICATE_ORDER');
    mustPass(desk.manager.requests.reserveReplace(mustPass(checked)));
    assert.equal(sizes(true).length, 1);
    assert.equal(sizes(false).length, 2, 'the finished one is read until a checkpoint has it');

    // A checkpoint takes the finished one out of memory; the live one keeps the id.
    desk.decide();
    desk.manager.onJournalFlushed({ sequence: 5, checkpoint: 5 });
    desk.manager.onJournalFlushed({ sequence: 6, checkpoint: 6 });
    assert.equal(desk.status(ALICE), 'Open');
    assert.equal(sizes(false).length, 1);
  });

  test('a parked cancel that met no create publishes CancelFailed (AMB-25)', () => {
    const desk = new OrderDesk();
    const { orderId } = mustPass(desk.manager.requests.checkCancel(cancelRequest(), CALLER));
    desk.manager.onParkedCancelExpired({ marketIndex: 3, user: ALICE, orderId });
    assert.deepEqual(desk.told(ALICE), ['CancelFailed OrderNotFound']);
  });
});

suite('restart and inventory', () => {
  test('a restored order holds for what is unconfirmed and has no pending event (AMB-110)', () => {
    const desk = new OrderDesk();
    restoreRow(desk.manager, {
      side: SIDE.buy,
      timestampNs: (NOW + 1n) as TimestampNs,
      filledQuantity: 4_000,
      filledNotional: (800n * ONE_18) as Amount18,
    });
    assert.equal(desk.available(ALICE, USD), (1_000_000n - 120_060n) * CENT);
    assert.deepEqual([desk.status(ALICE), desk.told(ALICE)], ['PartiallyFilled', []]);
    desk.end(40, 1);
    assert.deepEqual(desk.told(ALICE), ['Canceled UserRequested']);
  });

  test('inventory shows what is owned, holds included; zeros only for USD (wire.md 7.13, AMB-72, AMB-139)', () => {
    const desk = new OrderDesk();
    desk.place();
    desk.setOwned(ALICE, BASE, 0n);
    const { is_mm, accounts } = desk.manager.inventory(ALICE, null);
    assert.equal(is_mm, false);
    assert.deepEqual([...accounts.keys()], ['0', '1']);
    assert.deepEqual([...(accounts.get('0')?.spot ?? [])], [['0', '10000']]);
    assert.deepEqual(accounts.get('1'), {
      kind: 'cross_margin',
      name: 'Margin',
      spot: new Map([['0', '0']]),
      margins: new Map(),
    });
    assert.deepEqual([...desk.manager.inventory(BOB, [1]).accounts.keys()], ['1']);
  });
});
