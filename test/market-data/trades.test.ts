// tier: quick
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import type { KlineFigures, TickerFigures, TradeFigures } from '../../src/core/market-figures.ts';
import type { RawPrice, TimestampNs } from '../../src/core/units.ts';
import { DAY_NS } from '../../src/core/units.ts';
import { DayTicker } from '../../src/market-data/day-ticker.ts';
import { Klines } from '../../src/market-data/klines.ts';
import { Tape, tapePage } from '../../src/market-data/tape.ts';
import { TradeHistory } from '../../src/market-data/trade-history.ts';
import { SECOND, START_NS, tradeOf } from '../support/market-figures.ts';
import { propertyParameters } from '../support/property.ts';

const at = (ns: bigint): TimestampNs => ns as TimestampNs;
const byTime = (a: TradeFigures, b: TradeFigures): number =>
  a.matchedNs < b.matchedNs ? -1 : a.matchedNs > b.matchedNs ? 1 : a.tradeId - b.tradeId;

/** Bars by plain recomputation over all trades. */
function plainBar(trades: readonly TradeFigures[]): Omit<KlineFigures, 'openNs'> | null {
  const sorted = [...trades].sort(byTime);
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return null;
  return {
    open: first.price,
    high: Math.max(...sorted.map((trade) => trade.price)) as RawPrice,
    low: Math.min(...sorted.map((trade) => trade.price)) as RawPrice,
    close: last.price,
    volume: sorted.reduce((sum, trade) => sum + BigInt(trade.price) * BigInt(trade.quantity), 0n),
  };
}

function plainTicker(trades: readonly TradeFigures[], nowNs: bigint): Pick<TickerFigures, 'lastPrice' | 'day'> {
  const bar = plainBar(trades.filter((trade) => nowNs - trade.matchedNs < DAY_NS));
  const last = [...trades].sort(byTime).at(-1)?.price ?? null;
  if (bar === null || last === null) return { lastPrice: last, day: null };
  const scaled = Math.abs(last - bar.open) * 100_000;
  const halfAway = Math.trunc(scaled / bar.open) + ((scaled % bar.open) * 2 >= bar.open ? 1 : 0);
  const changeMilliPercent = BigInt(last < bar.open ? -halfAway : halfAway);
  return {
    lastPrice: last,
    day: { open: bar.open, high: bar.high, low: bar.low, volume: bar.volume, changeMilliPercent },
  };
}

/** Trades over a little more than two days, many of them in the same few seconds. */
const someTrades = fc
  .array(
    fc.record({
      second: fc.oneof(
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 86_390, max: 86_410 }),
        fc.integer({ min: 0, max: 180_000 }),
      ),
      ns: fc.constantFrom(0n, 1n, 500_000_000n, 999_999_999n),
      price: fc.integer({ min: 1, max: 1_000 }),
      quantity: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.constant(Number.MAX_SAFE_INTEGER)),
    }),
    { maxLength: 60 },
  )
  .map((rows) =>
    rows.map((row, index) =>
      tradeOf(index + 1, START_NS + BigInt(row.second) * SECOND + row.ns, row.price, row.quantity),
    ),
  );

suite('trades: klines, ticker, tape', () => {
  test('closed rows are the plain recomputation, whatever the order of confirmation (KLN-03, KLN-08, AMB-99)', () => {
    fc.assert(
      fc.property(someTrades, fc.integer({ min: 1, max: 7 }), (trades, limit) => {
        const history = new TradeHistory();
        const klines = new Klines(history);
        const endNs = at(START_NS + 200_000n * SECOND);
        for (const trade of trades) assert.ok(history.add(trade, endNs));
        klines.close(endNs, endNs);
        const bySecond = new Map<bigint, TradeFigures[]>();
        for (const trade of trades) {
          const second = trade.matchedNs / SECOND;
          bySecond.set(second, [...(bySecond.get(second) ?? []), trade]);
        }
        const expected = [...bySecond]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([second, group]) => ({ openNs: second * SECOND, ...plainBar(group) }));
        const rows: KlineFigures[] = [];
        for (let page = 0; ; page += 1) {
          const got = klines.page({ endNs, page, limit, nowNs: endNs });
          assert.equal(got.total, expected.length);
          if (got.rows.length === 0) break;
          rows.unshift(...got.rows);
        }
        assert.deepEqual(rows, expected);
      }),
      propertyParameters(60),
    );
  });

  test('the rolling day is the plain recomputation at every instant (TKR-01, KLN-07, AMB-100)', () => {
    fc.assert(
      fc.property(
        someTrades,
        fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 8 }),
        (trades, offsets) => {
          const history = new TradeHistory();
          const ticker = new DayTicker(history);
          for (const trade of trades) {
            history.add(trade, at(START_NS));
            ticker.tradeAdded(trade);
          }
          const edges = trades.flatMap((trade, index) => [
            trade.matchedNs + BigInt(offsets[index % offsets.length] ?? 0),
            trade.matchedNs + DAY_NS - 1n,
            trade.matchedNs + DAY_NS,
          ]);
          const newest = [...trades].sort(byTime).at(-1)?.matchedNs ?? START_NS;
          for (const nowNs of [newest, ...edges.filter((edge) => edge >= newest).sort((a, b) => (a < b ? -1 : 1))]) {
            const { lastPrice, day } = ticker.at(at(nowNs));
            assert.deepEqual({ lastPrice, day }, plainTicker(trades, nowNs));
          }
        },
      ),
      propertyParameters(60),
    );
  });

  test('a second closes when it is over and clearing has passed it, at most 5 s late (AMB-99, KLN-05, KLN-06)', () => {
    const history = new TradeHistory();
    const klines = new Klines(history);
    const add = (trade: TradeFigures): void => {
      assert.ok(history.add(trade, at(START_NS)));
      klines.tradeAdded(trade);
    };
    const opens = (rows: readonly KlineFigures[]): bigint[] => rows.map((row) => (row.openNs - START_NS) / SECOND);
    const after = (seconds: bigint): TimestampNs => at(START_NS + seconds * SECOND);
    assert.deepEqual(klines.close(at(START_NS), at(START_NS)), []);
    add(tradeOf(1, START_NS + 10n));
    assert.deepEqual(klines.close(at(START_NS + SECOND - 1n), after(9n)), [], 'not over yet');
    assert.equal(klines.page({ endNs: after(9n), page: 0, limit: 9, nowNs: after(0n) }).total, 0);
    assert.deepEqual(klines.close(after(1n), at(START_NS + SECOND - 1n)), [], 'clearing has not passed it');
    assert.deepEqual(opens(klines.close(after(1n), after(1n))), [0n]);
    assert.equal(klines.page({ endNs: after(9n), page: 0, limit: 9, nowNs: after(1n) }).total, 1);
    add(tradeOf(2, START_NS + 2n * SECOND));
    assert.deepEqual(klines.close(at(START_NS + 8n * SECOND - 1n), after(1n)), []);
    assert.deepEqual(opens(klines.close(after(8n), after(1n))), [2n], '5 s after its end it closes without clearing');
    add(tradeOf(3, START_NS + 20n, 1));
    add(tradeOf(4, START_NS + 1n * SECOND));
    const amended = klines.close(after(8n), after(1n));
    assert.deepEqual(opens(amended), [0n, 1n], 'a late confirmation sends the amended row');
    assert.equal(amended[0]?.low, 1);
    assert.deepEqual(klines.close(after(8n), after(8n)), [], 'once');
  });

  test('rows end with their close time, and are kept for 7 days (KLN-04, G19)', () => {
    const history = new TradeHistory();
    const klines = new Klines(history);
    for (const second of [0n, 1n, 604_800n])
      assert.ok(history.add(tradeOf(1, START_NS + second * SECOND), at(START_NS)));
    const after = (seconds: bigint): TimestampNs => at(START_NS + seconds * SECOND);
    klines.close(after(604_801n), after(604_801n));
    const total = (endNs: bigint, nowNs: bigint): number =>
      klines.page({ endNs: at(endNs), page: 0, limit: 10, nowNs: at(nowNs) }).total;
    assert.equal(total(after(1n), after(604_800n)), 1);
    assert.equal(total(after(1n) - 1n, after(604_800n)), 0);
    assert.equal(total(after(700_000n), after(604_800n)), 3);
    assert.equal(total(after(700_000n), after(604_801n)), 2);
    assert.equal(total(after(700_000n), after(604_802n)), 1);
    assert.equal(history.add(tradeOf(2, START_NS - 1n), after(604_800n)), false, 'too old to be kept');
  });

  test('above its budget the ticker is exact to the second, and its memory stays bounded', () => {
    const history = new TradeHistory(100);
    const ticker = new DayTicker(history);
    const trades = Array.from({ length: 1_000 }, (_, index) =>
      tradeOf(index + 1, START_NS + BigInt(index) * 30n * SECOND + 7n),
    );
    for (const trade of trades) {
      history.add(trade, trade.matchedNs);
      ticker.tradeAdded(trade);
    }
    for (const index of [0, 1, 500, 999]) {
      const nowNs = (trades[index]?.matchedNs ?? 0n) + DAY_NS;
      const { lastPrice, day } = ticker.at(at(nowNs));
      assert.deepEqual({ lastPrice, day }, plainTicker(trades, nowNs));
    }
  });

  test('trade pages are newest first over all markets, ties by market, deep pages too (PTR-01, AMB-35, AMB-101)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 6 })), { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 3, max: 12 }),
        (rows, limit, capacity) => {
          const trades = rows.map(([market, second], index) =>
            tradeOf(index + 1, START_NS + BigInt(second), 1, 1, market),
          );
          const tapes = [new Tape(capacity), new Tape(capacity), new Tape(capacity)];
          for (const trade of trades) tapes[trade.marketIndex]?.add(trade);
          const newestFirst = [...trades].sort((a, b) => byTime(b, a));
          const kept = newestFirst.filter(
            (trade) => newestFirst.filter((other) => other.marketIndex === trade.marketIndex).indexOf(trade) < capacity,
          );
          const paged: TradeFigures[] = [];
          for (let page = 0; page * limit <= kept.length; page += 1) paged.push(...tapePage(tapes, page, limit));
          assert.deepEqual(paged, kept);
          assert.deepEqual(tapePage(tapes, 1_000_000, limit), []);
        },
      ),
      propertyParameters(60),
    );
  });

  test('a tape that is made shorter or longer keeps the newest of what it has, and goes on (PTR-02)', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 9 })), { maxLength: 60 }), (steps) => {
        const tape = new Tape(4);
        let capacity = 4;
        let plain: number[] = [];
        steps.forEach((step, index) => {
          if (step === null) {
            tape.add(tradeOf(index + 1, START_NS + BigInt(index), 1, 1));
            plain.unshift(index + 1);
          } else {
            tape.resize(step);
            capacity = step;
          }
          plain = plain.slice(0, capacity);
          assert.deepEqual(
            plain.map((_, rank) => tape.at(rank).tradeId),
            plain,
          );
          assert.equal(tape.length, plain.length);
        });
      }),
      propertyParameters(60),
    );
  });
});
