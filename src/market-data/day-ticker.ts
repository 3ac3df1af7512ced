/**
 * The rolling 24 hours of one market, exact to the nanosecond, including the current second (TKR-01, KLN-07, AMB-100).
 *
 *        leaving │ edge second: trade by trade │ edge hour: second by second │ whole hours │ now
 *   ─────────────┼─────────────────────────────┼─────────────────────────────┼─────────────▶
 *            now − 24 h
 *
 * A trade is in the window while less than 24 hours have passed since its match. There are no running sums: the window
 * is computed from the history when it is read, once per change, so every trade is counted exactly once.
 */
import { must } from '../core/assert.ts';
import type { TickerFigures, TradeFigures } from '../core/market-figures.ts';
import { DAY_NS, type RawPrice, SECOND_NS, type TimestampNs } from '../core/units.ts';
import { secondOf, type TradeHistory } from './trade-history.ts';
import { HOUR_SECONDS, type TradeHour } from './trade-hour.ts';

/** The sum of a window, oldest part first. */
interface Sum {
  open: RawPrice;
  high: RawPrice;
  low: RawPrice;
  volume: bigint;
  /** Match time of its first trade. */
  readonly firstNs: bigint;
}
type Part = Pick<Sum, 'high' | 'low' | 'volume'>;

export class DayTicker {
  readonly #history: TradeHistory;
  #last: TradeFigures | null = null;
  #cached: TickerFigures | null = null;
  /** When the oldest trade of the cached window leaves it; null if none will. */
  #leavesNs: bigint | null = null;

  constructor(history: TradeHistory) {
    this.#history = history;
  }

  /** Called after the trade was added to the history, or was too old for it. */
  tradeAdded(trade: TradeFigures): void {
    const last = this.#last;
    const isLatest =
      last === null ||
      trade.matchedNs > last.matchedNs ||
      (trade.matchedNs === last.matchedNs && trade.tradeId > last.tradeId);
    if (isLatest) this.#last = trade;
    this.#cached = null;
  }

  /** Whether the figures may differ from what `at` returned last. */
  isStale(nowNs: TimestampNs): boolean {
    // mutant: ticker-day
    return this.#cached === null || (this.#leavesNs !== null && nowNs >= this.#leavesNs);
  }

  /** @param nowNs at least that of the previous call. */
  at(nowNs: TimestampNs): TickerFigures {
    if (this.#cached !== null && !this.isStale(nowNs)) return this.#cached;
    const edgeNs = nowNs > DAY_NS ? nowNs - DAY_NS : -1n;
    const sum = this.#sumAfter(edgeNs);
    const lastPrice = this.#last?.price ?? null;
    this.#leavesNs = sum === null ? null : sum.firstNs + DAY_NS;
    const day =
      sum === null
        ? null
        : {
            open: sum.open,
            high: sum.high,
            low: sum.low,
            volume: sum.volume,
            changeMilliPercent: milliPercent(must(lastPrice, 'a window with trades has a last price'), sum.open),
          };
    this.#cached = { lastPrice, day, asOfNs: nowNs };
    return this.#cached;
  }

  /** The sum of all trades matched after `edgeNs`; −1 for all. */
  #sumAfter(edgeNs: bigint): Sum | null {
    const newestHour = this.#history.newestHour;
    if (newestHour < 0) return null;
    const edgeSecond = edgeNs < 0n ? 0 : secondOf(edgeNs);
    const edgeHour = Math.floor(edgeSecond / HOUR_SECONDS);
    let sum = this.#sumOfEdgeHour(
      edgeHour,
      edgeSecond - edgeHour * HOUR_SECONDS,
      edgeNs < 0n ? -1n : edgeNs % SECOND_NS,
    );
    const oldestHour = edgeNs < 0n ? newestHour - 24 : edgeHour + 1;
    for (let hourIndex = oldestHour; hourIndex <= newestHour; hourIndex += 1) {
      const hour = hourIndex === edgeHour ? undefined : this.#history.hour(hourIndex);
      if (hour !== undefined) sum = extended(sum, hour, () => begun(hour, hourIndex, hour.firstSecond(0)));
    }
    return sum;
  }

  #sumOfEdgeHour(hourIndex: number, edgeSecond: number, edgeNs: bigint): Sum | null {
    const hour = this.#history.hour(hourIndex);
    if (hour === undefined) return null;
    const rest = hour.barAfter(edgeSecond, Number(edgeNs));
    const restNs = BigInt(hourIndex * HOUR_SECONDS + edgeSecond) * SECOND_NS + BigInt(rest?.firstNs ?? 0);
    let sum: Sum | null = rest === null ? null : { ...pick(rest.bar), open: rest.bar.open, firstNs: restNs };
    for (let second = hour.firstSecond(edgeSecond + 1); second < HOUR_SECONDS; second = hour.firstSecond(second + 1)) {
      const at = second;
      sum = extended(sum, hour.bar(at), () => begun(hour, hourIndex, at));
    }
    return sum;
  }
}

function pick({ high, low, volume }: Part): Part {
  return { high, low, volume };
}

function begun(hour: TradeHour, hourIndex: number, second: number): Pick<Sum, 'open' | 'firstNs'> {
  const firstNs = BigInt(hourIndex * HOUR_SECONDS + second) * SECOND_NS + BigInt(hour.firstNs(second));
  return { open: hour.bar(second).open, firstNs };
}

function extended(sum: Sum | null, part: Part, begin: () => Pick<Sum, 'open' | 'firstNs'>): Sum {
  if (sum === null) return { ...pick(part), ...begin() };
  sum.high = Math.max(sum.high, part.high) as RawPrice;
  sum.low = Math.min(sum.low, part.low) as RawPrice;
  sum.volume += part.volume;
  return sum;
}

/** (last − open) / open in thousandths of a percent, half away from zero. */
function milliPercent(last: RawPrice, open: RawPrice): bigint {
  const change = (BigInt(last) - BigInt(open)) * 100_000n;
  const magnitude = change < 0n ? -change : change;
  const rounded = (2n * magnitude + BigInt(open)) / (2n * BigInt(open));
  return change < 0n ? -rounded : rounded;
}
