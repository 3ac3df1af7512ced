/**
 * Rate limits and stream caps (operator-api.md 4.8, 4.9): in memory only, lost when the process ends (LIM-16, LIM-18).
 *
 * Members absent from a PUT get the numbers of G23, whatever the profile started with. `shares`, the division of the
 * global bucket, is an extension of this node: it is returned only after a PUT has set it.
 */

import type { ActionReply } from '../clearing/inputs.ts';
import { JsonFraction } from '../codec/json-tree.ts';
import { defaulted, type InsideOf, inside, optional, type Shape } from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';
import { formatScaled } from '../core/decimal.ts';
import { parseUserId } from '../core/ids.ts';
import { accepted, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { BUDGET_MAX, type BucketSize, bucketOf } from '../gateway/sessions/bucket.ts';
import { PRICE_NAMES, type Prices, STANDARD_PRICES } from '../gateway/sessions/costs.ts';
import { type RateSettings, STANDARD_RATES, TIER_NAME, unitsText } from '../gateway/sessions/rate-limits.ts';
import { sharesOf } from '../gateway/sessions/shared-budget.ts';
import { STANDARD_STREAM_CAPS, type UserLimits } from '../gateway/sessions/user-limits.ts';
import { readBody } from './body-reader.ts';
import { body, integer, parsed } from './body-shapes.ts';
import type { OpsRoute } from './ops-http.ts';
import type { OpsParts } from './ops-parts.ts';
import { BUDGET_SHOWN, CAPS_SHOWN, RATES_SHOWN } from './reply-shapes.ts';

type View = Readonly<Record<string, unknown>>;

const UNITS = optional(integer(0, Number(BUDGET_MAX)));
const SIZE = body({ units_per_second: inside('rate', UNITS), capacity: UNITS });
const STREAMS_MAX = 10_000;
/** Milli-units: a price with at most three decimals. */
const PRICE_DECIMALS = 3;
const PRICE_FORM = /^(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{1,3})?$/;
const PERCENT = optional(integer(0, 100));
/** A number of units, read as milli-units. */
const PRICE = parsed(
  Type.Number({ minimum: 0, description: 'units, with at most three decimals' }),
  readPrice,
  'a number of units with at most three decimals',
);
const COSTS = Object.fromEntries(PRICE_NAMES.map(([price, name]) => [name, inside(price, optional(PRICE))]));

const RATES_BODY = body({
  default: optional(SIZE),
  market_maker: inside('marketMaker', optional(SIZE)),
  global: optional(SIZE),
  costs: optional(body(COSTS) as Shape<unknown, Partial<Prices>>),
  shares: optional(
    body({ public_percent: inside('publicPercent', PERCENT), reserve_percent: inside('reservePercent', PERCENT) }),
  ),
});

const CAPS_BODY = body({
  default: defaulted(integer(0, STREAMS_MAX), STANDARD_STREAM_CAPS.default),
  market_maker: inside('marketMaker', defaulted(integer(0, STREAMS_MAX), STANDARD_STREAM_CAPS.marketMaker)),
});

const RATES_EXAMPLE =
  '{"default":{"units_per_second":200,"capacity":200},"market_maker":{"units_per_second":2000,"capacity":2000},"global":{"units_per_second":20000,"capacity":20000},"costs":{"action":2,"cancel":1,"cancel_all":50,"bulk_item":1.5,"bulk_minimum":2,"history_page":25,"public_read":2}}';

export function limitRoutes(parts: OpsParts): readonly OpsRoute[] {
  const limits = (): UserLimits => parts.gateway.limits;
  const rates = '/operator/rate-limits';
  const caps = '/operator/stream-caps';
  return [
    {
      method: 'GET',
      path: rates,
      area: 'Limits',
      summary: 'Budgets and prices of requests',
      reply: RATES_SHOWN,
      example: { reply: RATES_EXAMPLE },
      handler: () => accepted(ratesView(limits().rates.settings)),
    },
    {
      method: 'PUT',
      path: rates,
      area: 'Limits',
      isJournaled: true,
      summary: 'Set budgets and prices of requests',
      description: 'In memory only. All buckets start full.',
      body: RATES_BODY,
      reply: RATES_SHOWN,
      example: { body: '{"default":{"units_per_second":200}}', reply: RATES_EXAMPLE },
      fractions: 'text',
      handler: (call) => putRates(parts, call.body),
    },
    {
      method: 'GET',
      path: `${rates}/{user_id}`,
      area: 'Limits',
      summary: 'What is left to a user',
      reply: BUDGET_SHOWN,
      example: {
        path: { user_id: '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c' },
        reply: '{"tier":"default","user_units":"125","global_units":"19875"}',
      },
      handler: ({ param }) => {
        const user = parseUserId(param('user_id'));
        if (user === null) return rejected(reject('INVALID_REQUEST', 'a user id is expected', 'user_id'));
        const tier = limits().tierOf(user);
        const { user: own, global } = limits().rates.available(user, tier, parts.clock.nowNs());
        return accepted({ tier: TIER_NAME[tier], user_units: unitsText(own), global_units: unitsText(global) });
      },
    },
    {
      method: 'GET',
      path: caps,
      area: 'Limits',
      summary: 'How many streams a user may have',
      reply: CAPS_SHOWN,
      example: { reply: '{"default":10,"market_maker":20}' },
      handler: () => accepted(capsView(limits())),
    },
    {
      method: 'PUT',
      path: caps,
      area: 'Limits',
      isJournaled: true,
      summary: 'Set how many streams a user may have',
      description: 'In memory only; lowering concerns new streams.',
      body: CAPS_BODY,
      reply: CAPS_SHOWN,
      example: { body: '{"default":10}', reply: '{"default":10,"market_maker":20}' },
      handler: (call) => {
        const read = readBody(CAPS_BODY, call.body);
        if (!read.ok) return read;
        limits().streamCaps = read.value;
        return accepted(capsView(limits()));
      },
    },
  ];
}

function putRates(parts: OpsParts, given: View): ActionReply {
  const read = readBody(RATES_BODY, given);
  if (!read.ok) return read;
  const { costs = {}, shares } = read.value;
  const global = sizeOf(read.value.global, STANDARD_RATES.global);
  const standardShares = sharesOf(global);
  const settings: RateSettings = {
    default: sizeOf(read.value.default, STANDARD_RATES.default),
    marketMaker: sizeOf(read.value.marketMaker, STANDARD_RATES.marketMaker),
    global,
    prices: { ...STANDARD_PRICES, ...costs },
    ...(shares === undefined
      ? {}
      : {
          shares: {
            publicPercent: shareOf(shares.publicPercent, standardShares.publicPercent),
            reservePercent: shareOf(shares.reservePercent, standardShares.reservePercent),
          },
        }),
  };
  parts.gateway.limits.rates.change(settings, parts.clock.nowNs());
  return accepted(ratesView(settings));
}

function sizeOf(given: InsideOf<typeof SIZE> | undefined, standard: BucketSize): BucketSize {
  if (given === undefined) return standard;
  const unitsPerSecond = given.rate === undefined ? standard.unitsPerSecond : BigInt(given.rate);
  const capacity = given.capacity === undefined ? bucketOf(unitsPerSecond).capacity : BigInt(given.capacity);
  return { unitsPerSecond, capacity };
}

function shareOf(given: number | undefined, standard: bigint): bigint {
  return given === undefined ? standard : BigInt(given);
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
