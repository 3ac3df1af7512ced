/** What the simulated node trades, and what its users own at the start. */
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { SIMULATED_MARKETS, type SimulatedNode } from './simulated-node.ts';
import { SIMULATED_USERS } from './simulated-traders.ts';

const COLLARED = '13' as AssetId;

/** Some steps of the factor are within reach, and so is the cap of open interest. */
const RISK = {
  collateral_factor: 90,
  liability_factor: 95,
  max_spot_open_interest: '100000000000000000',
  max_total_open_interest_notional: '200000000000000000000',
  initial_margin_clamps: [0, 200_000, 500_000],
  initial_margin_factors: [1_000_000, 950_000, 900_000],
};

/** Two markets and some users with little money, so that some orders are refused and some fills roll back. */
export function prepareMarkets(node: SimulatedNode, users: readonly UserId[] = SIMULATED_USERS): void {
  node.command({ kind: 'putAsset', method: 'put', assetId: '0' as never, body: { symbol: 'USD' } });
  for (const assetId of SIMULATED_MARKETS) {
    node.command({ kind: 'putAsset', method: 'put', assetId, body: { symbol: `A${assetId}` } });
    node.command({ kind: 'putRisk', method: 'put', assetId, body: RISK });
    const body = {
      book_price_decimals: 2,
      book_quantity_decimals: 4,
      tick_size: '0.05',
      min_order_size: '0.001',
      maker_fee_rate: -100,
      taker_fee_rate: 500,
      // One market prevents self-trades, the other has a collar that some prices lie beyond.
      ...(assetId === COLLARED ? { price_collar: '0.00012' } : { self_trade_prevention: true }),
    };
    node.command({ kind: 'putMarket', method: 'put', assetId, body });
  }
  const prices = SIMULATED_MARKETS.map((asset_id) => ({ asset_id, price: '2000.2' }));
  node.command({ kind: 'setPrices', body: { prices } });
  for (const user of users) {
    for (const [asset, amount] of [['0', '60'], ...SIMULATED_MARKETS.map((id) => [id, '0.05'])] as [string, string][]) {
      node.command({ kind: 'faucet', body: { user_id: user, sub_account: 0, asset_id: asset, amount } });
    }
    node.command({ kind: 'faucet', body: { user_id: user, sub_account: 1, asset_id: '0', amount: '9' } });
  }
}
