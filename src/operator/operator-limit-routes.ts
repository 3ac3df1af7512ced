/**
 * Rate limits and stream caps (operator-api.md 4.8, 4.9): in memory only, lost when the process ends (LIM-16, LIM-18).
 *
 * Members absent from a PUT get the numbers of G23, whatever the profile started with. `shares`, the division of the
 * global bucket, is an extension of this node: it is returned only after a PUT has set it.
 */

import type { Reply } from '../clearing/inputs.ts';
import { JsonFraction } from '../codec/json-tree.ts';
import { formatScaled } from '../core/decimal.ts';
import { parseUserId } from '../core/ids.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { BUDGET_MAX, type BucketSize, bucketOf } from '../gateway/sessions/bucket.ts';
import { PRICE_NAMES, type Prices, STANDARD_PRICES } from '../gateway/sessions/costs.ts';
import { type RateSettings, STANDARD_RATES, TIER_NAME, unitsText } from '../gateway/sessions/rate-limits.ts';
import { type Shares, sharesOf } from '../gateway/sessions/shared-budget.ts';
import { STANDARD_STREAM_CAPS, type UserLimits } from '../gateway/sessions/user-limits.ts';
import { BodyReader } from './body-reader.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';

type View = Readonly<Record<string, unknown>>;

const UNITS = { min: 0, max: Number(BUDGET_MAX) };
/** Milli-units: a price with at most three decimals. */
const PRICE_DECIMALS = 3;
const PRICE_FORM = /^(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{1,3})?$/;
const PERCENT = { min: 0, max: 100 };
const STREAMS = { min: 0, max: 10_000 };

export function limitRoutes(parts: OpsParts): readonly OpsRoute[] {
  const limits = (): UserLimits => parts.gateway.limits;
  const rates = '/operator/rate-limits';
  const caps = '/operator/stream-caps';
  return [
    { method: 'GET', pattern: rates, handler: () => accepted(ratesView(limits().rates.settings)) },
    {
      method: 'PUT',
      pattern: rates,
      fractions: 'text',
      handler: ({ body }) => putRates(parts, body),
    },
    {
      method: 'GET',
      pattern: `${rates}/{user_id}`,
      handler: ({ param }) => {
        const user = parseUserId(param('user_id'));
        if (user === null) return rejected(reject('INVALID_REQUEST', 'a user id is expected', 'user_id'));
        const tier = limits().tierOf(user);
        const { user: own, global } = limits().rates.available(user, tier, parts.clock.nowNs());
        return accepted({ tier: TIER_NAME[tier], user_units: unitsText(own), global_units: unitsText(global) });
      },
    },
    { method: 'GET', pattern: caps, handler: () => accepted(capsView(limits())) },
    {
      method: 'PUT',
      pattern: caps,
      handler: ({ body }) => {
        const reader = new BodyReader(body, ['default', 'market_maker']);
        const streamCaps = {
          default: reader.integer('default', STREAMS, STANDARD_STREAM_CAPS.default),
          marketMaker: reader.integer('market_maker', STREAMS, STANDARD_STREAM_CAPS.marketMaker),
        };
        if (reader.failure !== null) return reader.failure;
        limits().streamCaps = streamCaps;
        return accepted(capsView(limits()));
      },
    },
  ];
}

function putRates(parts: OpsParts, body: View): Reply {
  const reader = new BodyReader(body, ['default', 'market_maker', 'global', 'costs', 'shares']);
  const global = readSize(reader, 'global', STANDARD_RATES.global);
  const settings: RateSettings = {
    default: readSize(reader, 'default', STANDARD_RATES.default),
    marketMaker: readSize(reader, 'market_maker', STANDARD_RATES.marketMaker),
    global,
    prices: readPrices(reader),
    ...(reader.has('shares') ? { shares: readShares(reader, sharesOf(global)) } : {}),
  };
  if (reader.failure !== null) return reader.failure;
  parts.gateway.limits.rates.change(settings, parts.clock.nowNs());
  return accepted(ratesView(settings));
}

function readSize(parent: BodyReader, name: string, standard: BucketSize): BucketSize {
  if (!parent.has(name)) return standard;
  const reader = new BodyReader(parent.raw(name), ['units_per_second', 'capacity'], `${name}.`);
  const rate = BigInt(reader.integer('units_per_second', UNITS, Number(standard.unitsPerSecond)));
  const unasked = bucketOf(rate);
  const capacity = BigInt(reader.integer('capacity', UNITS, Number(unasked.capacity)));
  if (reader.failure !== null) parent.keep(reader.failure.reject);
  return { unitsPerSecond: rate, capacity };
}

function readShares(parent: BodyReader, standard: Shares): Shares {
  const reader = new BodyReader(parent.raw('shares'), ['public_percent', 'reserve_percent'], 'shares.');
  const publicPercent = BigInt(reader.integer('public_percent', PERCENT, Number(standard.publicPercent)));
  const reservePercent = BigInt(reader.integer('reserve_percent', PERCENT, Number(standard.reservePercent)));
  if (reader.failure !== null) parent.keep(reader.failure.reject);
  return { publicPercent, reservePercent };
}

function readPrices(parent: BodyReader): Prices {
  if (!parent.has('costs')) return STANDARD_PRICES;
  const reader = new BodyReader(
    parent.raw('costs'),
    PRICE_NAMES.map(([, name]) => name),
    'costs.',
  );
  const prices: Record<keyof Prices, bigint> = { ...STANDARD_PRICES };
  for (const [price, name] of PRICE_NAMES) {
    if (!reader.has(name)) continue;
    const milli = readPrice(reader.raw(name));
    if (milli === null) reader.fail(name, 'a number of units with at most three decimals is expected');
    else prices[price] = milli;
  }
  if (reader.failure !== null) parent.keep(reader.failure.reject);
  return prices;
}

/** A number of units as milli-units; null for anything else. */
function readPrice(value: unknown): bigint | null {
  const text = value instanceof JsonFraction ? value.text : typeof value === 'bigint' ? value.toString() : '';
  if (!PRICE_FORM.test(text)) return null;
  const [whole = '', fraction = ''] = text.split('.');
  const milli = BigInt(whole + fraction.padEnd(PRICE_DECIMALS, '0'));
  return milli <= BUDGET_MAX * 1_000n ? milli : null;
}

function ratesView({ default: standard, marketMaker, global, prices, shares }: RateSettings): View {
  const costs = PRICE_NAMES.map(([price, name]): [string, JsonFraction] => [
    name,
    new JsonFraction(formatScaled(prices[price], PRICE_DECIMALS)),
  ]);
  return {
    default: sizeView(standard),
    market_maker: sizeView(marketMaker),
    global: sizeView(global),
    costs: Object.fromEntries(costs),
    ...(shares === undefined
      ? {}
      : { shares: { public_percent: shares.publicPercent, reserve_percent: shares.reservePercent } }),
  };
}

function sizeView({ unitsPerSecond, capacity }: BucketSize): View {
  return { units_per_second: unitsPerSecond, capacity };
}

function capsView({ streamCaps }: UserLimits): View {
  return { default: streamCaps.default, market_maker: streamCaps.marketMaker };
}
