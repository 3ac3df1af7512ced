/**
 * Liquidations for those who operate the node: counters in shared memory and one log line each. A crash of the market may end in
 * thousands of them within a second, and a line is written synchronously: of each second the first lines are written, and
 * the number of the others.
 *
 * Not here: what happened (clearing/liquidation/liquidation-events.ts), the metrics page (operator/metrics-page.ts).
 */
import type { AtRiskCounts } from '../clearing/liquidation/at-risk-accounts.ts';
import type { BackstopFigures } from '../clearing/liquidation/backstop-capital.ts';
import type { LiquidationEvent } from '../clearing/liquidation/liquidation-events.ts';
import type { LiquidationCounts } from '../clearing/liquidation/pacing.ts';
import { format18 } from '../core/decimal.ts';
import type { Amount18 } from '../core/units.ts';
import type { Counter, Gauge, MetricsWriter } from '../runtime/metrics.ts';

/** The methods of a logger that are used. */
interface LiquidationLog {
  info(values: object, message: string): void;
  warn(values: object, message: string): void;
}

const WINDOW_MS = 1_000;
export const LINES_PER_WINDOW = 50;

const MESSAGES: Readonly<Record<LiquidationEvent['kind'], string>> = {
  begun: 'liquidation begins: the account is below its maintenance margin',
  healthy: 'liquidation ends: the account is healthy again',
  takenOver: 'liquidation ends: the backstop has taken the account over',
  deleveraged: 'auto-deleveraging: a position was closed against the backstop',
};

export class LiquidationMonitor {
  readonly #log: LiquidationLog;
  readonly #elapsedMs: () => number;
  readonly #counters: Readonly<Record<LiquidationEvent['kind'], Counter>>;
  readonly #deleveragedUsd: Counter;
  readonly #creditedUsd: Counter;
  readonly #shortfallUsd: Counter;
  readonly #atRisk: Gauge;
  readonly #shielded: Gauge;
  readonly #liquidating: Gauge;
  readonly #blocked: Gauge;
  readonly #backstopEquity: Gauge;
  readonly #backstopCapital: Gauge;
  readonly #backstopAccounts: Gauge;
  #windowMs = Number.NEGATIVE_INFINITY;
  #lines = 0;

  /** @param elapsedMs monotonic, of real time. */
  constructor(metrics: MetricsWriter, log: LiquidationLog, elapsedMs: () => number) {
    this.#log = log;
    this.#elapsedMs = elapsedMs;
    this.#counters = {
      begun: metrics.counter('liquidations_begun'),
      healthy: metrics.counter('liquidations_healthy'),
      takenOver: metrics.counter('liquidations_taken_over'),
      deleveraged: metrics.counter('adl_trades'),
    };
    this.#deleveragedUsd = metrics.counter('adl_usd');
    this.#creditedUsd = metrics.counter('backstop_credited_usd');
    this.#shortfallUsd = metrics.counter('shortfall_usd');
    this.#atRisk = metrics.gauge('accounts_at_risk');
    this.#shielded = metrics.gauge('accounts_shielded');
    this.#liquidating = metrics.gauge('accounts_liquidating');
    this.#blocked = metrics.gauge('liquidations_blocked');
    this.#backstopEquity = metrics.gauge('backstop_equity_usd');
    this.#backstopCapital = metrics.gauge('backstop_capital_usd');
    this.#backstopAccounts = metrics.gauge('backstop_accounts');
  }

  counts({ atRisk, shielded }: AtRiskCounts): void {
    this.#atRisk.set(atRisk);
    this.#shielded.set(shielded);
  }

  rounds({ liquidating, blocked }: LiquidationCounts): void {
    this.#liquidating.set(liquidating);
    this.#blocked.set(blocked);
  }

  backstop({ equity, capital, working, deleveraging }: BackstopFigures): void {
    this.#backstopEquity.set(usd(equity));
    this.#backstopCapital.set(usd(capital));
    this.#backstopAccounts.set(working + deleveraging);
  }

  event(event: LiquidationEvent): void {
    this.#counters[event.kind].add(1);
    if (event.kind === 'deleveraged') this.#deleveragedUsd.add(usd(event.notional));
    if (event.kind === 'takenOver') {
      this.#creditedUsd.add(usd(event.provisional));
      this.#shortfallUsd.add(usd(event.shortfall));
    }
    if (this.#mayWrite()) this.#write(event);
  }

  #mayWrite(): boolean {
    const nowMs = this.#elapsedMs();
    if (nowMs >= this.#windowMs + WINDOW_MS) {
      const left = this.#lines - LINES_PER_WINDOW;
      this.#windowMs = nowMs;
      this.#lines = 0;
      if (left > 0) this.#log.warn({ left }, 'more lines about liquidations were left out');
    }
    this.#lines += 1;
    return this.#lines <= LINES_PER_WINDOW;
  }

  #write(event: LiquidationEvent): void {
    const values = valuesOf(event);
    // Traders who did nothing are concerned by the last two.
    if (event.kind === 'takenOver' || event.kind === 'deleveraged') this.#log.warn(values, MESSAGES[event.kind]);
    else this.#log.info(values, MESSAGES[event.kind]);
  }
}

/** Members as decimal strings in human units. */
function valuesOf({ kind, ...members }: LiquidationEvent): object {
  return { event: kind, ...Object.fromEntries(Object.entries(members).map(([name, value]) => [name, shown(value)])) };
}

function shown(value: unknown): unknown {
  if (typeof value === 'bigint') return format18(value);
  if (!Array.isArray(value)) return value;
  return Object.fromEntries(
    (value as readonly { asset: string; quantity: bigint }[]).map(({ asset, quantity }) => [asset, format18(quantity)]),
  );
}

/** The amount for a counter, where whole USD and cents matter and the last of 18 decimals does not. */
function usd(amount: Amount18): number {
  return Number(amount) / 1e18;
}
