// tier: quick
/** What is counted and logged of liquidations: every one is counted, and of each second a bounded number of lines written. */

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { LiquidationEvent } from '../../src/clearing/liquidation/liquidation-events.ts';
import type { UserId } from '../../src/core/ids.ts';
import { type Amount18, ONE_18 } from '../../src/core/units.ts';
import { CLEARING_METRICS } from '../../src/gateway/metrics/metric-names.ts';
import { LINES_PER_WINDOW, LiquidationMonitor } from '../../src/node/liquidation-monitor.ts';
import { createMetrics, MetricsWriter, snapshotMetrics } from '../../src/runtime/metrics.ts';
import { ETH } from '../support/names.ts';

const USER = 'a1'.repeat(32) as UserId;
const amount = (usd: bigint): Amount18 => (usd * ONE_18) as Amount18;

const BEGUN: LiquidationEvent = {
  kind: 'begun',
  user: USER,
  subAccount: 1,
  surplus: (-5n * 10n ** 17n) as Amount18,
  requirement: amount(90n),
  positions: [{ asset: ETH, quantity: amount(-2n) }],
};
const TAKEN_OVER: LiquidationEvent = {
  kind: 'takenOver',
  user: USER,
  subAccount: 1,
  index: 2,
  provisional: amount(1_020n),
  shortfall: amount(20n),
  taken: [{ asset: ETH, quantity: amount(-10n) }],
};
const DELEVERAGED: LiquidationEvent = {
  kind: 'deleveraged',
  user: USER,
  subAccount: 1,
  index: 2,
  asset: ETH,
  tradeId: 7,
  quantity: amount(3n),
  notional: amount(6_000n),
};

interface Line {
  readonly level: string;
  readonly values: Readonly<Record<string, unknown>>;
}

class Watched {
  readonly lines: Line[] = [];
  nowMs = 0;
  readonly #plan = createMetrics(CLEARING_METRICS);
  readonly monitor: LiquidationMonitor = new LiquidationMonitor(
    new MetricsWriter(this.#plan),
    {
      info: (values) => this.lines.push({ level: 'info', values: { ...values } }),
      warn: (values) => this.lines.push({ level: 'warn', values: { ...values } }),
    },
    () => this.nowMs,
  );

  value(name: string): unknown {
    return snapshotMetrics(this.#plan).find((metric) => metric.name === name)?.value;
  }
}

suite('the monitor of liquidations', () => {
  test('every event is counted, with its USD', () => {
    const watched = new Watched();
    for (const event of [BEGUN, BEGUN, { ...BEGUN, kind: 'healthy' as const }, TAKEN_OVER, TAKEN_OVER, DELEVERAGED]) {
      watched.monitor.event(event);
    }
    watched.monitor.counts({ atRisk: 12, shielded: 3 });
    watched.monitor.rounds({ liquidating: 7, blocked: 2 });
    const [equity, capital] = [amount(-900n), amount(-2_040n)];
    watched.monitor.backstop({ equity, capital, shortfall: amount(2_040n), working: 3, deleveraging: 1 });
    const expected = {
      liquidations_begun: 2,
      liquidations_healthy: 1,
      liquidations_taken_over: 2,
      adl_trades: 1,
      adl_usd: 6_000,
      backstop_credited_usd: 2_040,
      shortfall_usd: 40,
      accounts_at_risk: 12,
      accounts_shielded: 3,
      accounts_liquidating: 7,
      liquidations_blocked: 2,
      backstop_equity_usd: -900,
      backstop_capital_usd: -2_040,
      backstop_accounts: 4,
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(watched.value(name), value, name);
  });

  test('a line has the account and its figures as decimals; what concerns other traders is a warning', () => {
    const watched = new Watched();
    for (const event of [BEGUN, TAKEN_OVER, DELEVERAGED]) watched.monitor.event(event);
    assert.deepEqual(watched.lines, [
      {
        level: 'info',
        values: {
          event: 'begun',
          user: USER,
          subAccount: 1,
          surplus: '-0.5',
          requirement: '90',
          positions: { 2: '-2' },
        },
      },
      {
        level: 'warn',
        values: {
          event: 'takenOver',
          user: USER,
          subAccount: 1,
          index: 2,
          provisional: '1020',
          shortfall: '20',
          taken: { 2: '-10' },
        },
      },
      {
        level: 'warn',
        values: {
          event: 'deleveraged',
          user: USER,
          subAccount: 1,
          index: 2,
          asset: '2',
          tradeId: 7,
          quantity: '3',
          notional: '6000',
        },
      },
    ]);
  });

  test('of each second a bounded number of lines is written, then how many were left out (hazards I21)', () => {
    const watched = new Watched();
    for (let events = 0; events < LINES_PER_WINDOW + 30; events += 1) watched.monitor.event(BEGUN);
    assert.equal(watched.lines.length, LINES_PER_WINDOW);
    assert.equal(watched.value('liquidations_begun'), LINES_PER_WINDOW + 30);
    watched.nowMs = 1_000;
    watched.monitor.event(BEGUN);
    assert.deepEqual(
      watched.lines.slice(LINES_PER_WINDOW).map(({ level, values }) => [level, values['left'] ?? values['event']]),
      [
        ['warn', 30],
        ['info', 'begun'],
      ],
    );
    watched.nowMs = 2_000;
    watched.monitor.event(BEGUN);
    assert.equal(watched.lines.length, LINES_PER_WINDOW + 3);
  });
});
