/**
 * Prepares a replay: a market without fees, created through the operator API, and two users with the maximum funds that
 * the flow can require.
 */
import type { RingbookClient } from '../client/client.ts';
import { RingbookError } from '../client/errors.ts';
import type { OperatorClient } from '../client/operator.ts';
import { formatScaled } from '../core/decimal.ts';
import type { AssetId } from '../core/ids.ts';
import { type FlowEvent, PRICE_DECIMALS, QUANTITY_DECIMALS } from './flow-format.ts';

const FIRST_FREE_ASSET = 1_000;
const LAST_FREE_ASSET = 65_535;
/** The spot sub-account that every user has initially. */
export const FLOW_TARGET: { readonly account: number; readonly isSpot: boolean } = { account: 0, isSpot: true };

export interface FlowUsers {
  /** Sends everything except the takes. */
  readonly provider: RingbookClient;
  readonly taker: RingbookClient;
}

/** @throws Error when every asset from 1000 has a market. */
export async function unusedAsset(client: RingbookClient): Promise<AssetId> {
  for (let index = FIRST_FREE_ASSET; index <= LAST_FREE_ASSET; index += 1) {
    const isUnused = await client.market(String(index)).then(
      () => false,
      (error: unknown) => {
        if (error instanceof RingbookError && error.code === 'MARKET_NOT_FOUND') return true;
        throw error;
      },
    );
    if (isUnused) return String(index) as AssetId;
  }
  throw new Error('every asset id from 1000 has a market: name one with its book empty');
}

/** Creates the market without fees, and credits both users with the maximum that the flow can require. */
export async function prepareMarket(
  operator: OperatorClient,
  { provider, taker }: FlowUsers,
  assetId: AssetId,
  events: readonly FlowEvent[],
): Promise<void> {
  await operator.putAsset(assetId, `FLOW${assetId}`);
  await operator.putMarket(assetId, {
    priceDecimals: PRICE_DECIMALS,
    quantityDecimals: QUANTITY_DECIMALS,
    tickSize: '0.0001',
    minOrderSize: '1',
    makerFeeRate: 0,
    takerFeeRate: 0,
  });
  for (const user of [provider, taker]) {
    await user.login();
    await operator.setMarketMaker(user.userId, true);
    const isTaker = user === taker;
    const orders = events.filter((event) =>
      isTaker ? event.action === 'take' : event.action === 'seed' || event.action === 'add',
    );
    await fund(operator, user.userId, assetId, orders);
  }
}

async function fund(
  operator: OperatorClient,
  userId: string,
  assetId: AssetId,
  orders: readonly FlowEvent[],
): Promise<void> {
  let cost = 0n;
  let quantity = 0n;
  for (const order of orders) {
    if (order.side === 'buy') cost += BigInt(order.price) * BigInt(order.quantity);
    else quantity += BigInt(order.quantity);
  }
  const grants = [
    { assetId: '0', amount: formatScaled(cost, PRICE_DECIMALS + QUANTITY_DECIMALS) },
    { assetId, amount: formatScaled(quantity, QUANTITY_DECIMALS) },
  ];
  for (const grant of grants) {
    if (grant.amount !== '0') await operator.faucet({ userId, subAccount: FLOW_TARGET.account, ...grant });
  }
}
