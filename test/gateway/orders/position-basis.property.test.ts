// tier: quick
/** What positions cost: against a plain recomputation, in exact fractions too, and however the trades are cut into pieces. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { TradeRow } from '../../../src/clearing/rows.ts';
import type { OrderId } from '../../../src/core/ids.ts';
import { ORDER_FLAG, SIDE } from '../../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity } from '../../../src/core/units.ts';
import { userTradeOfRow } from '../../../src/gateway/orders/book/trade-view.ts';
import type { HistorySnapshot, HistoryTrade } from '../../../src/gateway/orders/history/order-history.ts';
import {
  averagePrice,
  BasisFolds,
  type BasisLine,
  BasisPlan,
  type BasisTrade,
  CostBasis,
} from '../../../src/gateway/orders/history/position-basis.ts';
import type { UncheckpointedTrade } from '../../../src/gateway/orders/history/uncheckpointed.ts';
import { ALICE, BOB } from '../../support/names.ts';
import { MARKET, NO_HISTORY } from '../../support/order-fixture.ts';
import { propertyParameters } from '../../support/property.ts';

const ONE = 10n ** 18n;
const CENTS = 10n ** 16n;
const LOT = 10n ** 14n;

const TRADE: fc.Arbitrary<BasisTrade> = fc.record({
  subAccount: fc.constantFrom(0, 1),
  isSpot: fc.boolean(),
  isBuyer: fc.boolean(),
  price: fc.integer({ min: 1, max: 400_000 }).map((price) => price as RawPrice),
  // Few sizes, so that positions are closed exactly now and then.
  quantity: fc
    .oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 90_000 }))
    .map((lots) => lots as RawQuantity),
});
const TRADES = fc.array(TRADE, { maxLength: 60, size: 'max' });

/** The trade in two parts: what it closes of the position, then what it opens. */
function plainBasis(trades: readonly BasisTrade[]): BasisLine[] {
  const lines = new Map<string, { line: BasisLine; exact: readonly [bigint, bigint] }>();
  for (const { subAccount, isSpot, isBuyer, price, quantity } of trades) {
    const name = `${subAccount} ${isSpot}`;
    const known = lines.get(name)?.line ?? { subAccount, isSpot, quantity: 0n, cost: 0n };
    let [over, under] = lines.get(name)?.exact ?? [0n, 1n];
    let { quantity: held, cost } = known;
    const size = BigInt(quantity) * LOT;
    const isAgainst = isBuyer ? held < 0n : held > 0n;
    const has = held < 0n ? -held : held;
    const closed = isAgainst ? (size < has ? size : has) : 0n;
    if (closed > 0n) {
      cost -= (cost * closed) / has;
      [over, under] = [over * (has - closed), under * has];
      held += isBuyer ? closed : -closed;
    }
    const opened = isSpot && !isBuyer ? 0n : size - closed;
    const paid = (BigInt(price) * CENTS * opened) / ONE;
    cost += paid;
    over += paid * under;
    held += isBuyer ? opened : -opened;
    lines.set(name, { line: { ...known, quantity: held, cost }, exact: [over, under] });
  }
  for (const { line, exact } of lines.values()) {
    const error = line.cost * exact[1] - exact[0];
    assert.ok(error >= 0n && error <= BigInt(trades.length) * exact[1], 'each reduction rounds by less than 10^-18');
  }
  return sorted([...lines.values()].map(({ line }) => line));
}

/** Those with a position. */
function sorted(lines: readonly BasisLine[]): BasisLine[] {
  const keyOf = ({ subAccount, isSpot }: BasisLine): number => 2 * subAccount + Number(isSpot);
  return lines.filter(({ quantity }) => quantity !== 0n).sort((a, b) => keyOf(a) - keyOf(b));
}

suite('what positions cost', () => {
  test('a sequence of trades costs what a plain recomputation has: additions, reductions, flips, spot sales beyond purchases', () => {
    fc.assert(
      fc.property(TRADES, (trades) => {
        const basis = new CostBasis();
        for (const trade of trades) basis.add(trade, MARKET);
        assert.deepEqual(sorted(basis.lines), plainBasis(trades));
        for (const { isSpot, quantity, cost } of basis.lines) {
          assert.ok(cost >= 0n && (quantity !== 0n || cost === 0n), 'nothing held costs nothing');
          assert.ok(!isSpot || quantity >= 0n, 'no short in spot');
        }
      }),
      propertyParameters(200),
    );
  });

  test('a flip begins at its price, a reduction keeps the average, and what is sold beyond purchases is forgotten', () => {
    const basis = new CostBasis();
    const trade = (isSpot: boolean, isBuyer: boolean, price: number, quantity: number): void =>
      basis.add(
        { subAccount: 1, isSpot, isBuyer, price: price as RawPrice, quantity: quantity as RawQuantity },
        MARKET,
      );
    const averageOf = (isSpot: boolean): readonly [bigint, bigint] => {
      const line = basis.lines.find((each) => each.isSpot === isSpot) ?? assert.fail('it was traded');
      const size = line.quantity < 0n ? -line.quantity : line.quantity;
      return [line.quantity / LOT, size === 0n ? 0n : averagePrice(line.cost, size) / CENTS];
    };
    trade(false, true, 10_000, 30);
    trade(false, true, 20_000, 30);
    assert.deepEqual(averageOf(false), [60n, 15_000n]);
    trade(false, false, 99_999, 40);
    assert.deepEqual(averageOf(false), [20n, 15_000n], 'reduced');
    trade(false, false, 30_000, 50);
    assert.deepEqual(averageOf(false), [-30n, 30_000n], 'flipped');
    trade(true, true, 10_000, 10);
    trade(true, false, 50_000, 40);
    assert.deepEqual(averageOf(true), [0n, 0n], 'sold beyond what was bought');
    trade(true, true, 20_000, 5);
    assert.deepEqual(averageOf(true), [5n, 20_000n]);
  });

  test('a history is added in pieces of any size, with trades in between, in memory and in both: the same figures', () => {
    const SIDES = fc.array(fc.record({ trade: TRADE, kind: fc.nat(5) }), { minLength: 1, maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(
        SIDES,
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.nat(40), { maxLength: 4 }),
        (made, piece, reads) => {
          const { rows, trades, flags } = historyOf(made);
          const folds = new BasisFolds(piece);
          for (const count of [...reads.sort((a, b) => a - b), rows.length]) {
            const known = rows.slice(0, Math.min(count, rows.length));
            // The tables have a part of it, and memory some of that and all the rest.
            const inTables = Math.floor((known.length * 2) / 3);
            const snapshot = snapshotOf(known.slice(0, inTables), flags);
            const uncheckpointed = tailOf(known.slice(Math.floor(inTables / 2)), flags);
            const plan = new BasisPlan(
              {
                markets: { at: () => ({ definition: MARKET }) } as never,
                uncheckpointed: { tradesOf: () => uncheckpointed },
              },
              { user: ALICE, marketIndexes: [MARKET.marketIndex], spotAccounts: [0] },
            );
            for (let steps = 0; plan.request !== null; steps += 1) {
              assert.ok(steps <= known.length + 1, 'each question adds some');
              plan.take(folds.answer(snapshot, structuredClone(plan.request)));
              while (plan.add(3));
            }
            const expected = plainBasis(known.flatMap((_, at) => sidesAt(trades, rows, at)));
            assert.deepEqual(sorted(plan.rows(null).map(({ assetId: _, ...line }) => line)), expected);
          }
        },
      ),
      propertyParameters(100),
    );
  });

  test('where the record of an order is gone, its account decides: spot in a spot account, margin in any other', () => {
    const { rows } = historyOf([0, 1].map((subAccount) => ({ trade: buy(subAccount), kind: 0 })));
    const { markets } = new BasisFolds().answer(snapshotOf(rows, new Map()), {
      ...{ kind: 'basis', user: ALICE, marketIndexes: [MARKET.marketIndex], spotAccounts: [0] },
    });
    assert.deepEqual(
      markets[0]?.lines.map(({ subAccount, isSpot }) => [subAccount, isSpot]),
      [
        [0, true],
        [1, false],
      ],
    );
  });
});

function buy(subAccount: number): BasisTrade {
  return { subAccount, isSpot: false, isBuyer: true, price: 100 as RawPrice, quantity: 1 as RawQuantity };
}

interface Made {
  readonly trade: BasisTrade;
  readonly kind: number;
}

/** Rows by trade id, the user's sides in the order in which they are added, and the flags of their orders. */
function historyOf(made: readonly Made[]): {
  readonly rows: readonly TradeRow[];
  readonly trades: readonly BasisTrade[];
  readonly flags: ReadonlyMap<number, number>;
} {
  const flags = new Map<number, number>();
  const trades: BasisTrade[] = [];
  const rows = made.map(({ trade, kind }, at): TradeRow => {
    const isMaker = kind % 2 === 0;
    const isSelf = kind === 5;
    const isAutoDeleverage = kind === 4;
    const [own, other] = [10 * at + 1, 10 * at + 2];
    flags.set(own, trade.isSpot ? ORDER_FLAG.isSpot : 0);
    flags.set(other, 0);
    const sideOf = (orderSequence: number, isOwn: boolean) => ({
      ...{ user: isOwn || isSelf ? ALICE : BOB, subAccount: trade.subAccount, orderId: `o${orderSequence}` as OrderId },
      ...{ orderSequence, fee: 0n },
    });
    const ofOwn = { ...trade, isSpot: trade.isSpot && !isAutoDeleverage };
    const ofOther = { ...trade, isSpot: false, isBuyer: !trade.isBuyer };
    // Of a self-match the maker's side is the older one.
    if (isSelf) trades.push(...(isMaker ? [ofOwn, ofOther] : [ofOther, ofOwn]));
    else trades.push(ofOwn);
    return {
      ...{ marketIndex: MARKET.marketIndex, tradeId: at + 1, price: trade.price, quantity: trade.quantity },
      ...{ matchedNs: BigInt(at), takerSide: trade.isBuyer === isMaker ? SIDE.sell : SIDE.buy },
      ...{ isLiquidation: false, isAutoDeleverage },
      maker: sideOf(isMaker ? own : other, isMaker),
      taker: sideOf(isMaker ? other : own, !isMaker),
    } as TradeRow;
  });
  return { rows, trades, flags };
}

/** The sides that the user has of one row. */
function sidesAt(trades: readonly BasisTrade[], rows: readonly TradeRow[], at: number): readonly BasisTrade[] {
  const countOf = (row: TradeRow): number => Number(row.maker.user === ALICE) + Number(row.taker.user === ALICE);
  const from = rows.slice(0, at).reduce((sum, row) => sum + countOf(row), 0);
  const row = rows[at];
  return row === undefined ? [] : trades.slice(from, from + countOf(row));
}

/** Newest first, of a self-match the taker's side first. */
function entriesOf(rows: readonly TradeRow[]): HistoryTrade[] {
  return [...rows]
    .reverse()
    .flatMap((row) => [
      ...(row.taker.user === ALICE ? [{ row, isMaker: false }] : []),
      ...(row.maker.user === ALICE ? [{ row, isMaker: true }] : []),
    ]);
}

function snapshotOf(rows: readonly TradeRow[], flags: ReadonlyMap<number, number>): HistorySnapshot {
  const entries = entriesOf(rows);
  return {
    ...NO_HISTORY.read((snapshot) => snapshot),
    lastTradeId: () => rows.length,
    trades: (_, offset, limit) => ({ rows: entries.slice(offset, offset + limit), total: entries.length }),
    orderFlags: (_user, _market, _id, sequence) => flags.get(sequence) ?? null,
  };
}

function tailOf(rows: readonly TradeRow[], flags: ReadonlyMap<number, number>): UncheckpointedTrade[] {
  return entriesOf(rows).map(({ row, isMaker }) => {
    const sequence = (isMaker ? row.maker : row.taker).orderSequence;
    const isSpot = !row.isAutoDeleverage && ((flags.get(sequence) ?? 0) & ORDER_FLAG.isSpot) !== 0;
    return { marketIndex: row.marketIndex, trade: userTradeOfRow(row, isMaker, MARKET), isSpot };
  });
}
