/**
 * Inventory: what is owned and not locked, per sub-account (wire.md 7.13, QRY-09, AMB-72). Order holds do not reduce
 * it. Zero entries are left out, except USD's. An unknown user has accounts 0 and 1 (AMB-139).
 */
import { format18 } from '../../../core/decimal.ts';
import { compareAssetIds, USD, type UserId } from '../../../core/ids.ts';
import { isOpen } from '../../../risk/position.ts';
import type { AccountPosition, MarginAccount } from '../margin/margin-account.ts';
import type { UserMarginAccounts } from '../margin/margin-accounts.ts';
import type { Accounts } from './accounts.ts';
import type { Balance } from './balance.ts';
import type { Holds } from './holds.ts';

interface InventoryAccount {
  readonly kind: string;
  readonly name: string;
  /** Isolated accounts only. */
  readonly asset?: string;
  /** By asset id; a Map, because objects would sort the indices their own way. */
  readonly spot: ReadonlyMap<string, string>;
  readonly margins: ReadonlyMap<string, MarginLegs>;
}

/** Signed legs as credits and liabilities; at least one of the two is `"0"`. */
interface MarginLegs {
  readonly base: CreditsAndLiabilities;
  readonly quote: CreditsAndLiabilities;
}

export interface CreditsAndLiabilities {
  readonly credits: string;
  readonly liabilities: string;
}

export interface InventoryBody {
  readonly is_mm: boolean;
  readonly accounts: ReadonlyMap<string, InventoryAccount>;
}

/** @param subAccounts which to show; null for all. Those that do not exist are left out. */
export function inventoryOf(
  sources: { readonly accounts: Accounts; readonly holds: Holds; readonly margins: UserMarginAccounts },
  user: UserId,
  subAccounts: readonly number[] | null,
): InventoryBody {
  const accounts = new Map<string, InventoryAccount>();
  for (const [index, { kind, name, asset }] of sources.accounts.of(user)) {
    if (subAccounts !== null && !subAccounts.includes(index)) continue;
    const spot = spotOf(sources.holds.balancesOf(user, index));
    const margins = marginsOf(sources.margins.find(user, index));
    accounts.set(String(index), { kind, name, ...(asset === null ? {} : { asset }), spot, margins });
  }
  return { is_mm: sources.accounts.isMarketMaker(user), accounts };
}

/** Flushed positions with a leg that is not zero (AMB-72). */
function marginsOf(account: MarginAccount | undefined): ReadonlyMap<string, MarginLegs> {
  const margins = new Map<string, MarginLegs>();
  for (const { asset, base, quote } of openPositions(account)) {
    margins.set(asset, { base: creditsAndLiabilities(base), quote: creditsAndLiabilities(quote) });
  }
  return margins;
}

/** Positions that are listed, by asset. */
function openPositions(account: MarginAccount | undefined): readonly AccountPosition[] {
  const open = [...(account?.positions() ?? [])].filter(isOpen);
  return open.sort((a, b) => compareAssetIds(a.asset, b.asset));
}

function creditsAndLiabilities(leg: bigint): CreditsAndLiabilities {
  return leg < 0n ? { credits: '0', liabilities: format18(-leg) } : { credits: format18(leg), liabilities: '0' };
}

function spotOf(balances: readonly Balance[]): ReadonlyMap<string, string> {
  const spot = new Map<string, string>([[USD, '0']]);
  const shown = balances.filter((balance) => balance.owned !== 0n);
  for (const { asset, owned } of [...shown].sort((a, b) => compareAssetIds(a.asset, b.asset))) {
    spot.set(asset, format18(owned));
  }
  return spot;
}
