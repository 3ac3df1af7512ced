// tier: quick
/** The lines of one order: however its three connections overtake one another, they are printed in the order of what happened. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { OrderFollower } from '../../src/cli/order-follower.ts';
import type { Order } from '../../src/client/canonical.ts';
import type { OrderEvent } from '../../src/client/order-events.ts';
import type { OperationResponse, UserTrade } from '../../src/client/replies.ts';
import { propertyParameters } from '../support/property.ts';

const QUIET_MS = 5;
const ID = { orderId: 'mine', assetId: '2', timestampNs: 1n };
const ORDER = { orderId: 'mine', quantityDecimals: 4, priceDecimals: 2, trigger: null } as unknown as Order;
const WAITING = { ...ORDER, trigger: { condition: {} } } as unknown as Order;

const answer: OperationResponse = { orderId: 'mine', status: 'Received', reason: null, processedAtNs: 1n } as never;
const trade = (tradeId: number, status: UserTrade['status']): UserTrade =>
  ({ ...ID, tradeId, status, price: '3000', quantity: '0.25', rollbackReason: null, tradingFee: null }) as never;
const created = { ...ID, kind: 'Created' } as unknown as OrderEvent;
const triggered = { ...ID, kind: 'Triggered' } as unknown as OrderEvent;
const removed = {
  ...ID,
  kind: 'Removed',
  reason: 'Filled',
  filledQuantity: 5000,
  confirmedQuantity: 5000,
} as OrderEvent;
const canceled = { ...ID, kind: 'Canceled', reason: 'ImmediateOrCancel' } as OrderEvent;
const FILLS = [trade(1, 'Pending'), trade(2, 'Pending'), trade(1, 'Confirmed'), trade(2, 'Confirmed')];
const FILL_WORDS = ['Pending 1', 'Pending 2', 'Confirmed 1', 'Confirmed 2'];

type Take = (follower: OrderFollower) => void;

/** Three connections, each in order. */
function connections(events: readonly OrderEvent[], trades: readonly UserTrade[]): readonly (readonly Take[])[] {
  return [
    [(follower) => follower.takeAnswer(answer)],
    events.map((event) => (follower) => follower.takeEvent(event)),
    trades.map((each) => (follower) => follower.takeTrade(each)),
  ];
}

/** @param picks which connection is read next, as far as it has something. */
async function linesOf(order: Order, from: readonly (readonly Take[])[], picks: readonly number[]): Promise<string[]> {
  const lines: string[] = [];
  const follower = new OrderFollower(order, (line) => lines.push(line));
  const left = from.map((takes) => [...takes]);
  for (const pick of [...picks, ...left.flatMap((takes, at) => takes.map(() => at))]) left[pick]?.shift()?.(follower);
  await follower.wait(QUIET_MS);
  return lines.map((line) =>
    line.replace(/^(\w+).*?(?:trade (\d+))?$/, (_, word, id) => (id ? `${word} ${id}` : word)),
  );
}

const picks = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 12 });

suite('the lines of one order', () => {
  const cases: readonly (readonly [string, Order, readonly OrderEvent[], readonly UserTrade[], readonly string[]])[] = [
    ['filled', ORDER, [created, removed], FILLS, ['Received', 'Created', ...FILL_WORDS, 'Removed']],
    [
      'released and filled',
      WAITING,
      [created, triggered, removed],
      FILLS,
      ['Received', 'Created', 'Triggered', ...FILL_WORDS, 'Removed'],
    ],
    [
      'filled in part, the rest cancelled',
      ORDER,
      [created, canceled],
      [trade(1, 'Pending'), trade(1, 'Confirmed')],
      ['Received', 'Created', 'Pending 1', 'Confirmed 1', 'Canceled'],
    ],
    ['a crossing post-only, which is never created', ORDER, [canceled], [], ['Received', 'Canceled']],
    ['cancelled before its trigger', WAITING, [created, canceled], [], ['Received', 'Created', 'Canceled']],
    ['resting', ORDER, [created], [], ['Received', 'Created']],
    ['a fill that stays undecided', ORDER, [created], [trade(1, 'Pending')], ['Received', 'Created', 'Pending 1']],
    [
      'a stream of orders without its first event',
      ORDER,
      [],
      [trade(1, 'Pending'), trade(1, 'Confirmed')],
      ['Received', 'Pending 1', 'Confirmed 1'],
    ],
  ];
  for (const [name, order, events, trades, expected] of cases) {
    test(`${name}: ${expected.join(', ')}`, async () => {
      await fc.assert(
        fc.asyncProperty(picks, async (given) => {
          assert.deepEqual(await linesOf(order, connections(events, trades), given), expected);
        }),
        propertyParameters(60),
      );
    });
  }

  test('a line whose predecessors are there is printed at once', () => {
    const lines: string[] = [];
    const follower = new OrderFollower(ORDER, (line) => lines.push(line.split(' ')[0] ?? ''));
    follower.takeTrade(trade(1, 'Pending'));
    assert.deepEqual(lines, []);
    follower.takeAnswer(answer);
    assert.deepEqual(lines, ['Received']);
    follower.takeEvent(created);
    assert.deepEqual(lines, ['Received', 'Created', 'Pending']);
    follower.takeEvent({ ...removed, confirmedQuantity: 2_500 } as OrderEvent);
    assert.equal(lines.length, 3, 'its fill is undecided');
    follower.takeTrade(trade(1, 'Confirmed'));
    assert.deepEqual(lines.slice(3), ['Confirmed', 'Removed']);
    assert.ok(follower.isOver);
  });

  test('other orders have no lines', async () => {
    const lines: string[] = [];
    const follower = new OrderFollower(ORDER, (line) => lines.push(line));
    follower.takeEvent({ ...created, orderId: 'other' } as OrderEvent);
    follower.takeTrade({ ...trade(1, 'Pending'), orderId: 'other' });
    await follower.wait(QUIET_MS);
    assert.deepEqual(lines, []);
  });
});
