/**
 * The settlements that lock funds, with their indexes; the rules are in settlements.ts. A row that has ended leaves memory
 * at once; on disk it stays in its place until a later one takes it.
 *
 *   user ──▶ places 0 … 63, a row each
 *   token@chain ──▶ base units of the vault that live rows bind; asset ──▶ the same with 18 decimals
 *
 * Bounded: SETTLEMENTS_PER_USER live rows a user.
 */
import { assert, must } from '../../core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../core/ids.ts';
import { type Amount18, ZERO_18 } from '../../core/units.ts';
import type { SettlementRow } from '../rows.ts';

/** Live settlements of a user over all chains and sub-accounts. */
export const SETTLEMENTS_PER_USER = 64;

/** Whether it locks funds and binds vault units. */
export function isLiveSettlement({ status }: Pick<SettlementRow, 'status'>): boolean {
  return status === 'locked' || status === 'approved';
}

export class SettlementBook {
  readonly #users = new Map<UserId, Map<number, SettlementRow>>();
  readonly #bound = new Map<string, bigint>();
  readonly #boundAmounts = new Map<AssetId, Amount18>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  find(user: UserId, place: number): SettlementRow | null {
    return this.#users.get(user)?.get(place) ?? null;
  }

  /** Live rows of a sub-account on a chain. */
  liveOf(user: UserId, chainId: ChainId, subAccount: number): readonly SettlementRow[] {
    const rows = [...(this.#users.get(user)?.values() ?? [])];
    return rows.filter((row) => row.chainId === chainId && row.subAccount === subAccount);
  }

  /** Every live row, user by user. */
  *all(): Generator<SettlementRow> {
    for (const rows of this.#users.values()) yield* rows.values();
  }

  /** The lowest free place of a user, or null. */
  freePlace(user: UserId): number | null {
    const rows = this.#users.get(user);
    for (let place = 0; place < SETTLEMENTS_PER_USER; place += 1) if (rows?.has(place) !== true) return place;
    return null;
  }

  /** Base units of a token that live rows may take out of the vault. */
  bound(token: string, chainId: ChainId): bigint {
    return this.#bound.get(`${token}@${chainId}`) ?? 0n;
  }

  /** The same of an asset on all chains, as locked amounts. */
  boundAmount(asset: AssetId): Amount18 {
    return this.#boundAmounts.get(asset) ?? ZERO_18;
  }

  /** Adds a live row in a free place, also when it is loaded. */
  add(row: SettlementRow): void {
    assert(
      isLiveSettlement(row) && this.find(row.user, row.place) === null,
      'a live settlement has a place of its own',
    );
    const rows = this.#users.get(row.user) ?? new Map<number, SettlementRow>();
    rows.set(row.place, row);
    this.#users.set(row.user, rows);
    this.#count(row, 1n);
    this.#size += 1;
  }

  /** A row goes on, or ends and leaves. */
  replace(row: SettlementRow): void {
    const rows = must(this.#users.get(row.user), 'a live settlement has a user');
    assert(rows.has(row.place), 'only a live settlement changes');
    if (isLiveSettlement(row)) {
      rows.set(row.place, row);
      return;
    }
    rows.delete(row.place);
    if (rows.size === 0) this.#users.delete(row.user);
    this.#count(row, -1n);
    this.#size -= 1;
  }

  #count({ tokenOut, chainId, assetOut, baseUnitsOut, amountOut }: SettlementRow, sign: bigint): void {
    this.#bound.set(`${tokenOut}@${chainId}`, this.bound(tokenOut, chainId) + sign * baseUnitsOut);
    this.#boundAmounts.set(assetOut, (this.boundAmount(assetOut) + sign * amountOut) as Amount18);
  }
}
