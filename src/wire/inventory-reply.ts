/**
 * What a user owns, by sub-account (wire.md 7.13). Zero balances are left out except USD's, which is always there; a
 * margin position is listed while one of its legs is not zero.
 */
import { format18 } from '../core/decimal.ts';
import { type AssetId, compareAssetIds, USD } from '../core/ids.ts';
import type { Amount18 } from '../core/units.ts';
import { quote } from './json-writer.ts';

export interface MarginLegsView {
  readonly baseCredits: Amount18;
  readonly baseLiabilities: Amount18;
  readonly quoteCredits: Amount18;
  readonly quoteLiabilities: Amount18;
}

export interface InventoryAccountView {
  readonly subAccount: number;
  readonly kind: 'spot' | 'cross_margin' | 'isolated_margin';
  readonly name: string;
  /** Set for isolated accounts only. */
  readonly asset: AssetId | null;
  /** Owned and not locked, by asset, in any order. */
  readonly spot: Iterable<readonly [AssetId, Amount18]>;
  readonly margins: Iterable<readonly [AssetId, MarginLegsView]>;
}

export interface InventoryView {
  readonly isMarketMaker: boolean;
  readonly accounts: readonly InventoryAccountView[];
}

export function inventoryReply(view: InventoryView): string {
  const accounts = [...view.accounts].sort((a, b) => a.subAccount - b.subAccount).map(accountMember);
  return `{"is_mm":${view.isMarketMaker},"accounts":{${accounts.join(',')}}}`;
}

function accountMember(account: InventoryAccountView): string {
  const balances = new Map<AssetId, Amount18>([[USD, 0n as Amount18], ...account.spot]);
  const spot = byAsset(balances)
    .filter(([asset, amount]) => asset === USD || amount !== 0n)
    .map(([asset, amount]) => `"${asset}":"${format18(amount)}"`);
  const margins = byAsset(account.margins)
    .filter(([, legs]) => legs.baseCredits || legs.baseLiabilities || legs.quoteCredits || legs.quoteLiabilities)
    .map(([asset, legs]) => `"${asset}":${marginLegs(legs)}`);
  return (
    `"${account.subAccount}":{"kind":"${account.kind}","name":${quote(account.name)},` +
    `${account.asset === null ? '' : `"asset":"${account.asset}",`}` +
    `"spot":{${spot.join(',')}},"margins":{${margins.join(',')}}}`
  );
}

function byAsset<T>(entries: Iterable<readonly [AssetId, T]>): (readonly [AssetId, T])[] {
  return [...entries].sort(([a], [b]) => compareAssetIds(a, b));
}

function marginLegs(legs: MarginLegsView): string {
  return (
    `{"base":{"credits":"${format18(legs.baseCredits)}","liabilities":"${format18(legs.baseLiabilities)}"},` +
    `"quote":{"credits":"${format18(legs.quoteCredits)}","liabilities":"${format18(legs.quoteLiabilities)}"}}`
  );
}
