/**
 * Markets that the load generator trades in: made through the operator API of a dev or test node, or one that exists.
 */
import type { RingbookClient } from '../client/client.ts';
import { feeLimitOf } from '../client/fee-limit.ts';
import type { OperatorClient } from '../client/operator.ts';
import { must } from '../core/assert.ts';
import { parseScaled } from '../core/decimal.ts';
import type { LoadMarket } from './plan.ts';

/** The markets that are made: one for spot, one with a risk row for positions. */
const SPOT_ASSET = '900';
const MARGIN_ASSET = '901';
const PRICE = '3000';
const SETTINGS = {
  priceDecimals: 2,
  quantityDecimals: 4,
  tickSize: '0.01',
  minOrderSize: '0.001',
  makerFeeRate: 0,
  takerFeeRate: 0,
} as const;
/** Percent. */
const RISK = { collateral_factor: 90, liability_factor: 95 } as const;

function made(assetId: string, account: number): LoadMarket {
  const { priceDecimals, quantityDecimals } = SETTINGS;
  return { assetId, priceDecimals, quantityDecimals, price: 300_000, tick: 1, quantity: 10, account, feeLimit: 0 };
}

/** An empty market without fees. Made once per node; its book must be empty. */
export async function makeSpotMarket(operator: OperatorClient): Promise<LoadMarket> {
  await operator.putAsset(SPOT_ASSET, 'BENCH');
  await operator.putMarket(SPOT_ASSET, SETTINGS);
  return made(SPOT_ASSET, 0);
}

/** The same for margin accounts, with an oracle price as of now: prices become stale, so it is called before each run. */
export async function makeMarginMarket(operator: OperatorClient): Promise<LoadMarket> {
  await operator.putAsset(MARGIN_ASSET, 'BENCHM');
  await operator.putMarket(MARGIN_ASSET, SETTINGS);
  await operator.call('PUT', `/operator/risk-parameters/${MARGIN_ASSET}`, RISK);
  await operator.setPrice(MARGIN_ASSET, PRICE);
  return made(MARGIN_ASSET, 1);
}

/** An existing market. @param price human decimal. @throws RingbookError MARKET_NOT_FOUND. */
export async function existingMarket(
  client: RingbookClient,
  assetId: string,
  price: string,
  account: number,
): Promise<LoadMarket | string> {
  const market = await client.market(assetId);
  const { priceDecimals, quantityDecimals, tickSize, minOrderSize, status } = market;
  const tick = Number(must(parseScaled(tickSize, priceDecimals), 'a tick in raw units'));
  const quantity = Number(must(parseScaled(minOrderSize, quantityDecimals), 'a minimum in raw units'));
  const raw = parseScaled(price, priceDecimals);
  if (status !== 'Active') return `market ${assetId} is ${status}`;
  if (raw === null || raw <= 0n || Number(raw) % tick !== 0)
    return `${price} is no price of market ${assetId}: its tick is ${tickSize}`;
  const feeLimit = feeLimitOf(market, true);
  return { assetId, priceDecimals, quantityDecimals, price: Number(raw), tick, quantity, account, feeLimit };
}
