/**
 * Inventory: what is owned and not locked, per sub-account (wire.md 7.13, QRY-09, AMB-72). Order holds do not reduce
 * it. Zero entries are left out, except USD's. A user nobody knows has accounts 0 and 1 (AMB-139).
 */
import { format18 } from '../core/decimal.ts';
import { compareAssetIds, USD, type UserId } from '../core/ids.ts';
import type { Accounts } from './accounts.ts';
import type { Balance, Holds } from './holds.ts';

export interface InventoryAccount {
  readonly kind: string;
  readonly name: string;
  /** Isolated accounts only. */
  readonly asset?: string;
  /** By asset id; a Map, because objects would sort the indices their own way. */
  readonly spot: ReadonlyMap<string, string>;
  readonly margins: ReadonlyMap<string, never>;
}

export interface InventoryBody {
  readonly is_mm: boolean;
  readonly accounts: ReadonlyMap<string, InventoryAccount>;
}

/** @param subAccounts which to show; null for all. Those that do not exist are left out. */
export function inventoryOf(
  sources: { readonly accounts: Accounts; readonly holds: Holds },
  user: UserId,
  subAccounts: readonly number[] | null,
): InventoryBody {
  const balances = sources.holds.balancesOf(user);
  const accounts = new Map<string, InventoryAccount>();
  const margins = new Map<string, never>();
  for (const [index, { kind, name, asset }] of sources.accounts.of(user)) {
    if (subAccounts !== null && !subAccounts.includes(index)) continue;
    const spot = spotOf(balances.filter((balance) => balance.subAccount === index));
    accounts.set(String(index), { kind, name, ...(asset === null ? {} : { asset }), spot, margins });
  }
  return { is_mm: sources.accounts.isMarketMaker(user), accounts };
}

function spotOf(balances: readonly Balance[]): ReadonlyMap<string, string> {
  const spot = new Map<string, string>([[USD, '0']]);
  const shown = balances.filter((balance) => balance.owned !== 0n);
  for (const { asset, owned } of [...shown].sort((a, b) => compareAssetIds(a.asset, b.asset))) {
    spot.set(asset, format18(owned));
  }
  return spot;
}
