// tier: quick
/** Klines by interval: spellings, rows, pages, what is no longer kept (wire-additions.md 7). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { klineJson, widePageJson } from '../../src/codec/market-data-json.ts';
import { bucketStart, KLINE_WIDTHS, parseInterval } from '../../src/core/kline-intervals.ts';
import type { KlineFigures, TradeFigures, WidePage } from '../../src/core/market-figures.ts';
import type { RawPrice, TimestampNs } from '../../src/core/units.ts';
import { BarSum, VolumeColumn } from '../../src/market-data/bars.ts';
import { MarketData, type MarketDataSink } from '../../src/market-data/market-data.ts';
import { TradeHistory } from '../../src/market-data/trade-history.ts';
import { WideKlines } from '../../src/market-data/wide-klines.ts';
import { marketOf, SECOND, START_NS, tradeOf } from '../support/market-figures.ts';
import { propertyParameters } from '../support/property.ts';

const DAY = 86_400;
const START = Number(START_NS / SECOND);

/** The table of wire-additions.md 7.1. */
const SPELLINGS = [
  ...['1: 1S', '5: 5S', '15: 15S', '30: 30S', '60: 1 1m 60S', '180: 3 3m 180S', '300: 5 5m 300S', '900: 15 15m 900S'],
  ...['1800: 30 30m 1800S', '3600: 60 1h 3600S', '7200: 120 2h 7200S', '14400: 240 4h 14400S', '21600: 360 6h 21600S'],
  ...['28800: 480 8h 28800S', '43200: 720 12h 43200S', '86400: 1D 86400S', '259200: 3D 259200S', '604800: 1W 604800S'],
  '2592000: 1M 2592000S',
].map((line): [number, string[]] => {
  const [width = '', texts = ''] = line.split(': ');
  return [Number(width), texts.split(' ')];
});

function widthOf(text: string): number | string {
  const width = parseInterval(text);
  return width.ok ? width.value : `${width.reject.code} ${width.reject.field}: ${width.reject.message}`;
}

interface World {
  readonly data: MarketData;
  /** Rows that were sent at this width, in order. */
  readonly sent: Map<number, KlineFigures[]>;
  tick(nowNs: bigint, passedNs?: bigint): void;
  page(width: number, options?: { endNs?: bigint; page?: number; limit?: number; nowNs?: bigint }): WidePage;
}

function worldWith(widths: readonly number[]): World {
  const nothing = (): void => undefined;
  const sent = new Map(widths.map((width) => [width, [] as KlineFigures[]]));
  const sink: MarketDataSink = {
    depthDiff: nothing,
    klines: (_market, _rows, ofWidth) => {
      for (const [width, rows] of sent) rows.push(...ofWidth(width));
    },
    trade: nothing,
    tradeEvent: nothing,
    ticker: nothing,
    tickers: nothing,
    resyncWanted: nothing,
  };
  const data = new MarketData(sink);
  data.upsertMarket(marketOf(0, '12'));
  let now = START_NS;
  return {
    data,
    sent,
    tick(nowNs, passedNs = nowNs) {
      now = nowNs;
      data.clearingPassed(0, passedNs as TimestampNs);
      data.tick({ nowNs: nowNs as TimestampNs, pacingNs: nowNs });
    },
    page: (width, { endNs, page = 0, limit = 1_000, nowNs = now } = {}) =>
      data.widePage(0, {
        width,
        page,
        limit,
        nowNs: nowNs as TimestampNs,
        endNs: (endNs ?? nowNs) as TimestampNs,
      }),
  };
}

/** Rows of all trades, the plain way. */
function plainRows(trades: readonly TradeFigures[], width: number): KlineFigures[] {
  const sorted = [...trades].sort((a, b) => Number(a.matchedNs - b.matchedNs) || a.tradeId - b.tradeId);
  const rows = new Map<number, KlineFigures>();
  for (const { price, quantity, matchedNs } of sorted) {
    const start = bucketStart(Number(matchedNs / SECOND), width);
    const volume = BigInt(price) * BigInt(quantity);
    const row = rows.get(start);
    const openNs = (BigInt(start) * SECOND) as TimestampNs;
    const high = Math.max(row?.high ?? 0, price) as RawPrice;
    const low = Math.min(row?.low ?? price, price) as RawPrice;
    rows.set(start, {
      openNs,
      open: row?.open ?? price,
      high,
      low,
      close: price,
      volume: (row?.volume ?? 0n) + volume,
    });
  }
  return [...rows.values()].sort((a, b) => Number(a.openNs - b.openNs));
}

suite('kline intervals', () => {
  test('a bare number is minutes, seconds take S; nothing else is taken (wire-additions.md 7.1)', () => {
    assert.deepEqual(
      SPELLINGS.map(([width]) => width),
      KLINE_WIDTHS,
    );
    for (const [width, texts] of SPELLINGS) {
      for (const text of texts) {
        assert.equal(widthOf(text), width, text);
        if (!/m$/i.test(text)) assert.equal(widthOf(text.toLowerCase()), width, text);
      }
    }
    assert.equal(widthOf('4H'), 14_400);
    assert.equal(widthOf('1m'), 60);
    assert.equal(widthOf('1M'), 30 * DAY);
    for (const text of [
      '',
      '0',
      '2',
      '90S',
      '60m',
      '1Y',
      '01',
      '1 m',
      '5M',
      '30M',
      's',
      'm',
      '1.5m',
      '4hh',
      'constructor',
    ]) {
      assert.match(String(widthOf(text)), /^INVALID_REQUEST interval: /, text);
    }
    for (const text of ['180', '300', '900', '86400']) {
      assert.match(String(widthOf(text)), new RegExp(`${text} seconds are spelled ${text}S$`), text);
    }
  });

  test('buckets start at multiples of the width from the epoch, weeks on Monday 00:00 UTC (wire-additions.md 7.2)', () => {
    for (const width of KLINE_WIDTHS) {
      const start = bucketStart(START, width);
      assert.ok(start <= START && START < start + width);
      if (width !== 7 * DAY) assert.equal(start % width, 0);
    }
    assert.equal(new Date(bucketStart(START, 7 * DAY) * 1_000).getUTCDay(), 1);
  });
});

suite('klines by interval', () => {
  test('rows of every width are those of the plain way, sent ones and pages alike, whenever a trade is confirmed', () => {
    const arrival = fc.record({
      afterMs: fc.nat(40_000_000),
      lateSeconds: fc.constantFrom(0, 0, 0, 3, 40, 4_000),
      price: fc.integer({ min: 1, max: 1_000 }),
    });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 40 }), (arrivals) => {
        const widths = KLINE_WIDTHS.filter((width) => width > 1);
        const world = worldWith(widths);
        world.tick(START_NS);
        let matchedNs = START_NS;
        const trades = arrivals.map(({ afterMs, lateSeconds, price }, index) => {
          matchedNs += BigInt(afterMs) * 1_000_000n;
          return {
            trade: tradeOf(index + 1, matchedNs, price, index + 1),
            atNs: matchedNs + BigInt(lateSeconds) * SECOND,
          };
        });
        const order = [...trades].sort((a, b) => Number(a.atNs - b.atNs) || a.trade.tradeId - b.trade.tradeId);
        for (const { trade, atNs } of order) {
          world.tick(atNs, START_NS);
          world.data.tradeConfirmed(trade);
        }
        world.tick(matchedNs + 100_000n * SECOND);
        for (const width of widths) {
          const expected = plainRows(
            trades.map(({ trade }) => trade),
            width,
          );
          assert.deepEqual(world.page(width).rows, expected, `width ${width}`);
          const last = new Map((world.sent.get(width) ?? []).map((row) => [row.openNs, row]));
          assert.deepEqual(
            [...last.values()].sort((a, b) => Number(a.openNs - b.openNs)),
            expected,
            `sent ${width}`,
          );
        }
      }),
      propertyParameters(30),
    );
  });

  test('a page of buckets is that slice of all of them, with their number, whatever part of the hours it needs', () => {
    const width = fc.constantFrom(5, 15, 30);
    const args = [
      fc.array(fc.nat(14_000), { maxLength: 300 }),
      width,
      fc.nat(14_000),
      fc.nat(14_000),
      fc.nat(40),
      fc.nat(40),
    ] as const;
    fc.assert(
      fc.property(...args, (offsets, width, low, high, skip, limit) => {
        const history = new TradeHistory();
        const start = Number(START_NS / SECOND) - 1_500;
        const first = bucketStart(start + Math.min(low, high), width);
        const [from, to] = [first, start + Math.max(low, high)];
        const add = (offset: number, index: number): void => {
          history.add(
            tradeOf(index + 1, BigInt(start + offset) * SECOND),
            (START_NS + 20_000n * SECOND) as TimestampNs,
          );
        };
        // Counts that were made before the last trades are not kept.
        offsets.forEach((offset, index) => {
          add(offset, index);
          if (index % 50 === 0) history.bucketsBefore({ to, from, width, skip: 0, limit: 1 });
        });
        const seconds = [...history.secondsBefore(to, from)];
        const all = [...new Set(seconds.map((second) => bucketStart(second, width)))];
        const found = history.bucketsBefore({ to, from, width, skip, limit });
        assert.deepEqual(found, { starts: all.slice(skip, skip + limit), total: all.length });
      }),
      propertyParameters(200),
    );
  });

  test('a page of seven busy days does not cost more than its rows', () => {
    const history = new TradeHistory();
    const end = Number(START_NS / SECOND);
    for (let second = end - 400_000; second < end; second += 1) {
      history.add(tradeOf(second, BigInt(second) * SECOND), (BigInt(second) * SECOND) as TimestampNs);
    }
    const range = { to: end, from: end - 400_000, width: 5, skip: 0, limit: 1 };
    history.bucketsBefore(range);
    const before = process.cpuUsage();
    for (let read = 0; read < 100; read += 1) assert.equal(history.bucketsBefore(range).total, 80_000);
    const { user, system } = process.cpuUsage(before);
    // A walk over all seconds takes 16 ms a read.
    assert.ok(user + system < 400_000, `${(user + system) / 100} µs a read`);
  });

  test('a sum of bars is the plain sum, however large the volumes', () => {
    const bar = fc.record({ price: fc.nat(1_000), volume: fc.bigInt({ min: 1n, max: 2n ** 127n }) });
    fc.assert(
      fc.property(fc.array(bar, { minLength: 1, maxLength: 60 }), (bars) => {
        const column = (more: number): Float64Array => Float64Array.from(bars, ({ price }) => price + more);
        const prices = { open: column(3), high: column(9), low: column(0), close: column(5) };
        const small = new VolumeColumn(1);
        small.add(0, bars[0]?.volume ?? 0n);
        const volumes = new VolumeColumn(bars.length, small);
        for (const [row, { volume }] of bars.entries()) if (row > 0) volumes.add(row, volume);
        const sum = new BarSum();
        for (let time = 0; time < 2; time += 1) {
          for (const row of bars.keys()) sum.add(prices, volumes, row);
          const all = bars.map(({ price }) => price);
          assert.deepEqual(sum.take(), {
            open: (all[0] ?? 0) + 3,
            high: Math.max(...all) + 9,
            low: Math.min(...all),
            close: (all.at(-1) ?? 0) + 5,
            volume: bars.reduce((total, { volume }) => total + volume, 0n),
          });
          assert.equal(sum.take(), undefined);
        }
      }),
      propertyParameters(200),
    );
  });

  test('a page of a thousand rows of 30 s costs little more than one of a thousand seconds', () => {
    const history = new TradeHistory();
    const end = Number(START_NS / SECOND);
    for (let second = end - 31_000; second < end; second += 1) {
      history.add(tradeOf(second, BigInt(second) * SECOND), (BigInt(second) * SECOND) as TimestampNs);
    }
    const wide = new WideKlines(history, () => end);
    const nowNs = START_NS as TimestampNs;
    const read = (): number => wide.page({ width: 30, endNs: nowNs, page: 0, limit: 1_000, nowNs }).rows.length;
    for (let warm = 0; warm < 20; warm += 1) assert.equal(read(), 1_000);
    const before = process.cpuUsage();
    for (let count = 0; count < 20; count += 1) read();
    const { user, system } = process.cpuUsage(before);
    // With an object and a bigint for each second it is 13 ms.
    assert.ok(user + system < 120_000, `${(user + system) / 20} µs a read`);
  });

  test('the forming bucket is there once one of its seconds has closed, with its close in the future', () => {
    const world = worldWith([60]);
    world.tick(START_NS);
    world.data.tradeConfirmed(tradeOf(1, START_NS + 1n, 100));
    world.tick(START_NS + 2n);
    assert.deepEqual(world.page(60).rows, [], 'its second is open');
    world.tick(START_NS + SECOND);
    world.data.tradeConfirmed(tradeOf(2, START_NS + SECOND + 1n, 90));
    const [row] = world.page(60).rows;
    assert.equal(row?.close, 100, 'closed seconds only');
    assert.match(
      klineJson(marketOf(0, '12'), row ?? assert.fail(), 60),
      new RegExp(`"close_timestamp_ns":${START_NS + 60n * SECOND}}$`),
    );
    world.tick(START_NS + 3n * SECOND);
    assert.deepEqual(
      world.sent.get(60)?.map(({ close }) => close),
      [100, 90],
      'one frame for each second that closes',
    );
    assert.deepEqual(world.page(1).rows.length, 2);
  });

  test('pages are windows from the newest on; the envelope has two more members (wire-additions.md 7.3)', () => {
    const world = worldWith([]);
    world.tick(START_NS);
    for (let index = 0; index < 5; index += 1) {
      world.data.tradeConfirmed(tradeOf(index + 1, START_NS + BigInt(index) * 60n * SECOND, 100 + index));
    }
    world.tick(START_NS + 600n * SECOND);
    const closes = (page: WidePage): readonly number[] => page.rows.map(({ close }) => close);
    assert.deepEqual(closes(world.page(60, { limit: 2 })), [103, 104]);
    assert.deepEqual(closes(world.page(60, { limit: 2, page: 2 })), [100]);
    const end = START_NS + 60n * SECOND;
    assert.deepEqual(closes(world.page(60, { endNs: end })), [100, 101], 'rows that open at or before it');
    assert.deepEqual(closes(world.page(60, { endNs: end - 1n })), [100]);
    const text = widePageJson(marketOf(0, '12'), world.page(60, { limit: 2 }));
    const tail = '"page":0,"limit":2,"total_pages":3,"cursor_size":2,"has_next_page":true,"next_page":1';
    assert.ok(text.endsWith(`,${tail},"interval_s":60,"truncated_before_ns":null}`), text);
  });

  test('a row of four hours is that of the contract (wire-additions.md 7.3)', () => {
    const sample =
      '{"open":"3150","high":"3188","low":"3080.5","close":"3151","volume":"41230.77","open_timestamp_ns":1769990400000000000,"close_timestamp_ns":1770004800000000000}';
    const row: KlineFigures = {
      openNs: 1_769_990_400_000_000_000n as TimestampNs,
      open: 315_000 as RawPrice,
      high: 318_800 as RawPrice,
      low: 308_050 as RawPrice,
      close: 315_100 as RawPrice,
      volume: 41_230_770_000n,
    };
    assert.equal(klineJson(marketOf(0, '12'), row, 14_400), sample);
    assert.equal(bucketStart(1_769_990_400, 14_400), 1_769_990_400);
  });

  test('what is no longer kept is named, and the loop of the contract ends (wire-additions.md 7.3)', () => {
    const world = worldWith([]);
    world.tick(START_NS);
    // One trade in each ten days, for 100 days.
    for (let index = 0; index < 11; index += 1) {
      world.tick(START_NS + BigInt(index * 10 * DAY) * SECOND);
      world.data.tradeConfirmed(tradeOf(index + 1, START_NS + BigInt(index * 10 * DAY) * SECOND, 100 + index));
    }
    const nowNs = START_NS + BigInt(100 * DAY + 60) * SECOND;
    world.tick(nowNs);
    const all = (width: number): { closes: number[]; requests: number } => {
      const closes: number[] = [];
      let endNs: bigint = nowNs;
      for (let requests = 1; ; requests += 1) {
        assert.ok(requests < 10, 'the loop ends');
        const { rows, truncatedBeforeNs } = world.page(width, { endNs });
        closes.unshift(...rows.map(({ close }) => close));
        if (truncatedBeforeNs === null || truncatedBeforeNs > endNs) return { closes, requests };
        for (const { openNs } of rows) assert.ok(openNs >= truncatedBeforeNs);
        endNs = truncatedBeforeNs - 1n;
      }
    };
    assert.deepEqual(all(15), { closes: [110], requests: 2 }, 'seven days');
    assert.deepEqual(all(300), { closes: [105, 106, 107, 108, 109, 110], requests: 2 }, 'sixty days');
    assert.deepEqual(all(7_200).closes.length, 11);
    assert.deepEqual(all(DAY), { closes: Array.from({ length: 11 }, (_, index) => 100 + index), requests: 1 });
    assert.equal(world.page(DAY).truncatedBeforeNs, null);
  });

  test('older trades of the tables make rows as far as they were read, and nothing is counted twice', () => {
    const world = worldWith([]);
    const recent = tradeOf(900, START_NS - 10n * SECOND, 500);
    world.data.tradeConfirmed(recent);
    world.data.olderTrades(0, [], START - 7 * DAY, START_NS as TimestampNs);
    world.tick(START_NS);
    const at = (daysAgo: number, tradeId: number, price: number): TradeFigures =>
      tradeOf(tradeId, START_NS - BigInt(daysAgo * DAY) * SECOND, price);
    const days = (): readonly number[] => world.page(DAY).rows.map(({ close }) => close);
    assert.deepEqual(days(), [500]);
    const boundary = world.page(DAY).truncatedBeforeNs ?? assert.fail();
    assert.ok(boundary > START_NS - BigInt(7 * DAY) * SECOND && boundary < START_NS);
    world.data.olderTrades(0, [at(9, 800, 400), at(20, 700, 300)], START - 20 * DAY + 1, START_NS as TimestampNs);
    assert.deepEqual(days(), [400, 500], 'the day of the last one may have more trades');
    world.data.olderTrades(0, [at(20, 699, 290), at(400, 600, 200)], 0, START_NS as TimestampNs);
    assert.deepEqual(days(), [200, 300, 400, 500]);
    assert.equal(world.page(DAY).rows[1]?.open, 290, 'the earlier trade opens its day');
    assert.equal(world.page(DAY).truncatedBeforeNs, null);
    assert.deepEqual(
      world.page(3_600).rows.map(({ close }) => close),
      [200, 300, 400, 500],
    );
    const minutes = world.page(60);
    assert.deepEqual(
      minutes.rows.map(({ close }) => close),
      [300, 400, 500],
    );
    assert.notEqual(minutes.truncatedBeforeNs, null, 'rows of a minute are kept for 60 days');
  });
});
