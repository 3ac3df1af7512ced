// tier: quick
/** No setting without a reader (MON-10): what an operator may set changes what the node does, or is published as it was set. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { DEFAULT_WITHDRAWAL_DELAY } from '../../src/clearing/registry/registry-config.ts';
import { DEFAULT_RISK } from '../../src/clearing/registry/risk-parameters.ts';
import { DEFAULT_SETTINGS } from '../../src/clearing/registry/settings.ts';

/** Files in which a setting is defined, validated, seeded or documented: to be named there is not to be read. */
const DEFINED_IN = [
  'src/clearing/registry/settings.ts',
  'src/clearing/registry/risk-parameters.ts',
  'src/operator/config-bodies.ts',
  'src/operator/registry-bodies.ts',
  'src/operator/seed-data.ts',
  'src/codec/shapes/',
  'src/http/api/',
  // Examples and shapes of the routes that show them.
  'src/http/registry-routes.ts',
  'src/operator/operator-registry-routes.ts',
  'src/operator/reply-shapes.ts',
];

/** Rate parameters of wire.md 7.3: stored and shown to clients as they were set; no funding and no interest is charged (AMB-40). */
const PUBLISHED = [
  ...['max_funding_rate', 'max_utilization_rate', 'utilization_kinks', 'rate_at_kinks', 'quote_utilization_kinks'],
  ...['quote_rate_at_kinks', 'skew_factor', 'base_funding_rate', 'skew_cliff', 'premium_clamp', 'buffer_multiplier'],
];

/** Members of bodies that no default lists: of assets with their tokens, markets and chains (operator-api.md 4.1, 4.3, 4.4). */
const OTHERS = [
  ...['symbol', 'max_adl', 'rebalancing', 'mark_band', 'mark_min_notional', 'minWeight', 'minFirstDepositBaseUnits'],
  ...[
    'maxDeposits',
    'max1hrDeposits',
    'tickSize',
    'minimumQuantity',
    'minimumNotional',
    'makerFeeRate',
    'takerFeeRate',
  ],
  ...['selfTradePrevention', 'priceCollar', 'block_time_ms', 'auto_mine', 'rpc_urls', 'checkpoint_interval_ms'],
  ...['approval_validity_s', 'escape_timeout_s', 'quorum', 'administrators', 'executor'],
];

function sources(): readonly string[] {
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((name) => `src/${name}`);
  const files = names.filter((name) => name.endsWith('.ts') && !DEFINED_IN.some((path) => name.startsWith(path)));
  return files.map((name) => readFileSync(name, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''));
}

suite('settings', () => {
  const read = sources();
  const isRead = (name: string): boolean => read.some((text) => new RegExp(`\\b${name}\\b`).test(text));

  test('MON-10: each is read by something that does not only define it', () => {
    const names = [DEFAULT_SETTINGS, DEFAULT_RISK, DEFAULT_WITHDRAWAL_DELAY].flatMap((defaults) =>
      Object.keys(defaults),
    );
    const unread = [...names, ...OTHERS].filter((name) => !PUBLISHED.includes(name) && !isRead(name));
    assert.deepEqual(unread, [], 'settings that nothing reads');
  });

  test('MON-10: what is only published is no member that something reads by now', () => {
    assert.deepEqual(PUBLISHED.filter(isRead), []);
    for (const name of PUBLISHED) assert.ok(name in DEFAULT_RISK, name);
  });
});
