/**
 * Liquidation of accounts as a plain machine, written from LIQ-01 to LIQ-14, AMB-56, AMB-57 and decisions-liquidation.md:
 * one row an account, every question answered anew from all accounts. The judge of src/clearing/liquidation.
 *
 *   below maintenance ─▶ cancelling ─cleared─▶ settling ─decided─▶ ordering ─┬─▶ waiting ─interval─▶ cancelling
 *                                                                            └─last round, or no position─▶ taken over
 *
 * Not here: what the backstop makes of what it takes over (plain-backstop.ts).
 */
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { ROLLBACK_REASON, type RollbackReason, SIDE, type Side } from '../../src/core/order-terms.ts';
import { LOT, magnitudeOf, type PlainAccount, type PlainAccounts } from './plain-accounts.ts';

/** An IOC limit order that the node made for an account. */
export interface PlainNodeOrder {
  readonly user: UserId;
  readonly subAccount: number;
  readonly orderId: string;
  readonly asset: AssetId;
  readonly side: Side;
  /** Raw price and lots. */
  readonly price: number;
  readonly quantity: number;
  readonly isSpot: boolean;
  readonly isLiquidation: boolean;
}

/** What the machine publishes, in order. */
export type PlainEffect =
  | { readonly kind: 'liquidationChanged'; readonly account: string; readonly stage: 'begun' | 'ended' }
  | { readonly kind: 'cancelAccount'; readonly account: string }
  | { readonly kind: 'nodeOrder'; readonly order: PlainNodeOrder }
  | { readonly kind: 'positionCleared'; readonly account: string; readonly asset: AssetId }
  | PlainDeleveraging;

/** A trade of the backstop with a counterparty, without the market. */
export interface PlainDeleveraging {
  readonly kind: 'deleveraged';
  readonly asset: AssetId;
  readonly price: number;
  readonly quantity: number;
  readonly buyer: string;
  readonly seller: string;
}

export interface PlainLiquidationRow {
  readonly account: PlainAccount;
  readonly startedNs: bigint;
  round: number;
  roundNs: bigint;
  stage: 'cancelling' | 'settling' | 'ordering' | 'waiting';
  /** Sequences by market index through which fills must be decided. */
  through: ReadonlyMap<number, number>;
  readonly ordered: Set<AssetId>;
  order: PlainNodeOrder | null;
}

export interface PlainLiquidationSettings {
  intervalNs: bigint;
  rounds: number;
}

export function accountKey({ user, subAccount }: { readonly user: UserId; readonly subAccount: number }): string {
  return `${user}/${subAccount}`;
}

export class PlainLiquidation {
  readonly rows: Map<string, PlainLiquidationRow> = new Map();
  readonly settings: PlainLiquidationSettings = { intervalNs: 1_000_000_000n, rounds: 3 };
  readonly #accounts: PlainAccounts;
  readonly #backstopUser: UserId;
  readonly #effects: PlainEffect[];
  readonly #takeOver: (account: PlainAccount) => void;

  constructor(parts: {
    readonly accounts: PlainAccounts;
    readonly backstopUser: UserId;
    readonly effects: PlainEffect[];
    readonly takeOver: (account: PlainAccount) => void;
  }) {
    this.#accounts = parts.accounts;
    this.#backstopUser = parts.backstopUser;
    this.#effects = parts.effects;
    this.#takeOver = parts.takeOver;
  }

  /** One step of an account. @returns whether anything changed. */
  step(account: PlainAccount): boolean {
    const row = this.rows.get(accountKey(account));
    if (row === undefined) return this.#begin(account);
    // What was sent to the gateway is answered before anything else is decided.
    if (row.order !== null || row.stage === 'cancelling') return false;
    if (!this.#accounts.isLiquidatable(account)) {
      this.#end(row);
      return true;
    }
    switch (row.stage) {
      case 'settling':
        if ([...row.through].some(([market, sequence]) => (this.#accounts.decided.get(market) ?? 0) < sequence))
          return false;
        row.stage = 'ordering';
        return true;
      case 'ordering':
        return this.#order(row);
      case 'waiting':
        return this.#nextRound(row);
    }
  }

  #begin(account: PlainAccount): boolean {
    if (account.user === this.#backstopUser || !this.#accounts.isLiquidatable(account)) return false;
    if (!this.#accounts.hasOracleRound(account)) return false;
    const now = this.#accounts.now;
    const row: PlainLiquidationRow = {
      account,
      startedNs: now,
      round: 1,
      roundNs: now,
      stage: 'cancelling',
      through: new Map(),
      ordered: new Set(),
      order: null,
    };
    this.rows.set(accountKey(account), row);
    this.#effects.push({ kind: 'liquidationChanged', account: accountKey(account), stage: 'begun' });
    this.#cancel(row);
    return true;
  }

  #cancel(row: PlainLiquidationRow): void {
    row.stage = 'cancelling';
    row.through = new Map();
    row.ordered.clear();
    this.#effects.push({ kind: 'cancelAccount', account: accountKey(row.account) });
  }

  #end(row: PlainLiquidationRow): void {
    this.rows.delete(accountKey(row.account));
    this.#effects.push({ kind: 'liquidationChanged', account: accountKey(row.account), stage: 'ended' });
  }

  /** The gateway holds no order of the account any more, and all that concerns it is decided through these sequences. */
  cleared(account: string, through: ReadonlyMap<number, number>): void {
    const row = this.rows.get(account);
    if (row?.stage !== 'cancelling') return;
    row.stage = 'settling';
    row.through = through;
  }

  /**
   * The next order of the round, or its end (AMB-57, decisions 1, 2, 5 and 10). After the last round, or without an open
   * position, the account is taken over, if every position could be ordered now.
   */
  #order(row: PlainLiquidationRow): boolean {
    const { account } = row;
    const isPriced = this.#accounts.hasOracleRound(account);
    const open = this.#open(account);
    const [next] = open.filter((asset) => isPriced && !row.ordered.has(asset) && this.#canOrder(account, asset));
    if (next !== undefined) {
      row.order = this.#orderOf(row, next);
      this.#effects.push({ kind: 'nodeOrder', order: row.order });
      return true;
    }
    const isLast = open.length === 0 || row.round >= this.settings.rounds;
    if (
      isPriced &&
      isLast &&
      open.every((asset) => this.#isUnpriced(account, asset) || this.#canOrder(account, asset))
    ) {
      this.#takeOver(account);
      this.#end(row);
    } else row.stage = 'waiting';
    return true;
  }

  /** Assets of open positions, the largest value at the mark first. */
  #open(account: PlainAccount): readonly AssetId[] {
    const value = (asset: AssetId): bigint =>
      magnitudeOf(this.#accounts.legsOf(account, asset).base) * this.#accounts.mark(asset);
    const open = this.#accounts.markets
      .map(({ asset }) => asset)
      .filter((asset) => this.#accounts.legsOf(account, asset).base !== 0n);
    return open.sort((a, b) => (value(b) > value(a) ? 1 : value(b) < value(a) ? -1 : 0));
  }

  /** No order can be made for it, be its market open or not (MON-11). */
  #isUnpriced(account: PlainAccount, asset: AssetId): boolean {
    return this.#accounts.reference(asset, this.#accounts.legsOf(account, asset).base > 0n) === null;
  }

  #canOrder(account: PlainAccount, asset: AssetId): boolean {
    const sells = this.#accounts.legsOf(account, asset).base > 0n;
    return this.#accounts.liquidationPrice(asset, sells) !== null && this.#accounts.isOpen(asset);
  }

  #orderOf({ account }: PlainLiquidationRow, asset: AssetId): PlainNodeOrder {
    const { base } = this.#accounts.legsOf(account, asset);
    return {
      user: account.user,
      subAccount: account.subAccount,
      orderId: `sys-liq-${account.subAccount}-${this.#accounts.sequenceOf(asset)}`,
      asset,
      side: base > 0n ? SIDE.sell : SIDE.buy,
      price: this.#accounts.liquidationPrice(asset, base > 0n) ?? 0,
      quantity: Number(magnitudeOf(base) / LOT),
      isSpot: false,
      isLiquidation: true,
    };
  }

  #nextRound(row: PlainLiquidationRow): boolean {
    const now = this.#accounts.now;
    if (now < row.roundNs + this.settings.intervalNs) return false;
    // A round in which a position with a price had no order is repeated under its number (decision 5).
    const { account } = row;
    const isWhole = this.#open(account).every((asset) => row.ordered.has(asset) || this.#isUnpriced(account, asset));
    if (isWhole) row.round = Math.min(row.round + 1, this.settings.rounds);
    row.roundNs = now;
    this.#cancel(row);
    return true;
  }

  /** The order is over: filled, cancelled by its market, or refused; one that was never tried makes the round wait. */
  orderEnded(account: string, wasTried: boolean): void {
    const row = this.rows.get(account);
    if (row === undefined || row.order === null) return;
    if (wasTried) row.ordered.add(row.order.asset);
    else row.stage = 'waiting';
    row.order = null;
  }

  /** What clearing finds of the liquidated party of a fill (LIQ-11 to LIQ-13, decision 3). */
  judge(order: PlainNodeOrder, quantity: number): RollbackReason {
    const account = this.#accounts.account(order.user, order.subAccount);
    const { base } = this.#accounts.legsOf(account, order.asset);
    const delta = (order.side === SIDE.buy ? 1n : -1n) * BigInt(quantity) * LOT;
    if (this.#accounts.maintenanceOf(account) >= 0n) return ROLLBACK_REASON.invalidOrder;
    if (base === 0n || base > 0n === delta > 0n) return ROLLBACK_REASON.invalidOrder;
    return magnitudeOf(delta) > magnitudeOf(base) ? ROLLBACK_REASON.reduceOnlyViolation : ROLLBACK_REASON.none;
  }

  /** A start: what was sent and never admitted is sent again, and what was not cleared is cleared anew. */
  restarted(): void {
    for (const row of this.rows.values()) {
      row.order = null;
      if (row.stage === 'settling') row.stage = 'cancelling';
    }
  }
}
