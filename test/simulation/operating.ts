/** What operators, oracles and the chain do, as the commands that clearing gets. */
import assert from 'node:assert/strict';
import type { Asked } from '../support/asked.ts';
import { SIMULATED_CHAIN, SIMULATED_TOKEN } from '../support/simulated-markets.ts';
import type { Action } from './actions.ts';
import { userAt } from './people.ts';

export function commandOf(action: Action): Asked {
  switch (action.kind) {
    case 'price':
      return { kind: 'setPrices', body: { prices: [{ asset_id: action.asset, price: action.price }] } };
    case 'faucet': {
      const { who, account, asset, amount } = action;
      return { kind: 'faucet', body: { user_id: userAt(who), sub_account: account, asset_id: asset, amount } };
    }
    case 'deposit': {
      const { who, tx, baseUnits } = action;
      const name = { chainId: SIMULATED_CHAIN as never, tx: String(tx).padStart(64, '0'), logIndex: who };
      const what = { token: SIMULATED_TOKEN, baseUnits: BigInt(baseUnits), depositNonce: tx };
      return { kind: 'deposit', ...name, user: userAt(who), ...what };
    }
    case 'patchMarket':
      return { kind: 'putMarket', method: 'patch', assetId: action.asset, body: action.body };
    case 'patchRisk':
      return { kind: 'putRisk', method: 'patch', assetId: action.asset, body: action.body };
    case 'patchUser':
      return { kind: 'patchUser', user: userAt(action.who), body: { is_mm: action.isMarketMaker } };
    case 'fault': {
      const { party, reason, count } = action;
      return { kind: 'fault', fault: { party, reason: reason as never, asset: null, skip: 0, count } };
    }
    case 'hold':
      return { kind: 'hold', asset: action.asset };
    case 'release':
      return { kind: 'release', fills: action.fills };
    default:
      return assert.fail(`no operator does ${action.kind}`);
  }
}
