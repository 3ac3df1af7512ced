/**
 * Margin accounts over several assets, kept plainly: balances and legs in maps, every figure summed anew from all of them
 * at every query. What the plain liquidation (plain-liquidation.ts) and the plain backstop (plain-backstop.ts) work on.
 */
import type { AssetId, UserId } from '../../src/core/ids.ts';
import { USD } from '../../src/core/ids.ts';
import { MARKET_STATUS, type MarketStatus } from '../../src/core/order-terms.ts';
import { equity, initial, maintenance, type PlainAsset, type PlainLeg } from './plain-margin.ts';
import { PLAIN_ROW, PlainRisk, type PlainRow } from './plain-risk.ts';

export const E18: bigint = 10n ** 18n;
/** Prices of two decimals and lots of four, in 10^-18. */
export const RAW_PRICE: bigint = 10n ** 16n;
export const LOT: bigint = 10n ** 14n;

export interface PlainLegs {
  base: bigint;
  quote: bigint;
  /** Average cost of the open base, without fees. */
  entry: bigint;
}

export interface PlainAccount {
  readonly user: UserId;
  readonly subAccount: number;
  /** Of an isolated account, else null. */
  readonly asset: AssetId | null;
  readonly spot: Map<AssetId, bigint>;
  readonly legs: Map<AssetId, PlainLegs>;
}

export interface PlainMarket {
  readonly index: number;
  readonly asset: AssetId;
  readonly risk: PlainRisk;
  takerRate: number;
  status: MarketStatus;
  /** Asset units in rolling 24 hours; null for no cap. */
  maxAdl: bigint | null;
  /** Whether the oracle was updated since the last start. */
  isUpdated: boolean;
}

/** Initial surplus and requirement at one price. */
export interface Margin {
  readonly surplus: bigint;
  readonly requirement: bigint;
}

export function magnitudeOf(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

export function leastOf(first: bigint, ...others: readonly bigint[]): bigint {
  let least = first;
  for (const each of others) if (each < least) least = each;
  return least;
}

/** The quotient towards minus infinity, of a divisor above zero. */
export function floorOf(n: bigint, d: bigint): bigint {
  const quotient = n / d;
  return n < 0n && quotient * d !== n ? quotient - 1n : quotient;
}

export function ceilOf(n: bigint, d: bigint): bigint {
  return -floorOf(-n, d);
}

export class PlainAccounts {
  now: bigint = 0n;
  readonly markets: PlainMarket[] = [];
  readonly accounts: Map<string, PlainAccount> = new Map();
  /** Through which sequence each market is decided, which is all that it has sent. */
  readonly decided: Map<number, number> = new Map();

  addMarket(asset: AssetId, row: Partial<PlainRow>, takerRate: number): PlainMarket {
    const risk = new PlainRisk();
    risk.row = { ...PLAIN_ROW, ...row };
    const market: PlainMarket = {
      index: this.markets.length,
      asset,
      risk,
      takerRate,
      status: MARKET_STATUS.active,
      maxAdl: null,
      isUpdated: false,
    };
    this.markets.push(market);
    return market;
  }

  market(asset: AssetId): PlainMarket {
    const found = this.markets.find((market) => market.asset === asset);
    if (found === undefined) throw new Error(`no market of ${asset}`);
    return found;
  }

  account(user: UserId, subAccount: number, asset: AssetId | null = null): PlainAccount {
    const key = `${user}/${subAccount}`;
    const found = this.accounts.get(key) ?? { user, subAccount, asset, spot: new Map(), legs: new Map() };
    this.accounts.set(key, found);
    return found;
  }

  /** Margin accounts that hold something, by user and index. */
  held(): readonly PlainAccount[] {
    const all = [...this.accounts.values()].filter(({ subAccount }) => subAccount > 0);
    return all.sort((a, b) => (a.user === b.user ? a.subAccount - b.subAccount : a.user < b.user ? -1 : 1));
  }

  owned({ spot }: PlainAccount, asset: AssetId): bigint {
    return spot.get(asset) ?? 0n;
  }

  credit(account: PlainAccount, asset: AssetId, amount: bigint): void {
    account.spot.set(asset, this.owned(account, asset) + amount);
  }

  legsOf({ legs }: PlainAccount, asset: AssetId): PlainLegs {
    return legs.get(asset) ?? { base: 0n, quote: 0n, entry: 0n };
  }

  /** What a fill makes of a position: the cost of what stays open is its share of the cost before. */
  trade(account: PlainAccount, asset: AssetId, delta: bigint, notional: bigint, fee: bigint): void {
    const { base, quote, entry } = this.legsOf(account, asset);
    const after = base + delta;
    const cash = delta > 0n ? -notional : notional;
    let cost = entry + notional;
    if (base !== 0n && base > 0n !== delta > 0n) {
      if (after === 0n) cost = 0n;
      else if (after > 0n === base > 0n) cost = (entry * magnitudeOf(after)) / magnitudeOf(base);
      else cost = (notional * magnitudeOf(after)) / magnitudeOf(delta);
    }
    account.legs.set(asset, { base: after, quote: quote + cash - fee, entry: cost });
  }

  /** The asset now, with the legs of all accounts. */
  terms(asset: AssetId): PlainAsset {
    const legs = [...this.accounts.values()].map((account) => this.legsOf(account, asset).base);
    return this.market(asset).risk.asset(this.now, legs);
  }

  figureLegs(account: PlainAccount): readonly PlainLeg[] {
    const legs: PlainLeg[] = [];
    for (const [asset, raw] of account.spot) legs.push({ asset: asset === USD ? null : this.terms(asset), raw });
    for (const [asset, { base, quote }] of account.legs) {
      legs.push({ asset: this.terms(asset), raw: base }, { asset: null, raw: quote });
    }
    return legs;
  }

  maintenanceOf(account: PlainAccount): bigint {
    return maintenance(this.figureLegs(account));
  }

  /** LIQ-03, MON-11: borrows, and below maintenance even with broken credits at their last oracle prices. */
  isLiquidatable(account: PlainAccount): boolean {
    const legs = this.figureLegs(account);
    if (!legs.some(({ raw }) => raw < 0n)) return false;
    const surplus = maintenance(legs);
    return surplus < 0n && surplus + this.#shield(account) < 0n;
  }

  /** What broken credits would count at CF × the last oracle price, each leg floored. */
  #shield(account: PlainAccount): bigint {
    let sum = 0n;
    for (const { asset, risk } of this.markets) {
      const { broken, cf } = this.terms(asset);
      if (!broken) continue;
      for (const held of [this.owned(account, asset), this.legsOf(account, asset).base]) {
        if (held > 0n) sum += (held * risk.shield(this.now) * BigInt(cf)) / (100n * E18);
      }
    }
    return sum;
  }

  /** Assets other than USD that the account holds or has borrowed. */
  assetsOf(account: PlainAccount): readonly AssetId[] {
    return this.markets
      .map(({ asset }) => asset)
      .filter((asset) => this.owned(account, asset) !== 0n || this.legsOf(account, asset).base !== 0n);
  }

  startedNs = 0n;

  /** An hour since the start is over: no first price is waited for any more (MON-11). */
  get waitedLong(): boolean {
    return this.now > this.startedNs + 3_600_000_000_000n;
  }

  /** One price of every asset since the start; a credit that counts nothing needs none (decision 10). */
  hasOracleRound(account: PlainAccount): boolean {
    if (this.waitedLong) return true;
    return this.assetsOf(account).every((asset) => {
      const isOwed = this.legsOf(account, asset).base < 0n;
      return this.market(asset).isUpdated || (!isOwed && this.terms(asset).broken);
    });
  }

  sequenceOf(asset: AssetId): number {
    return this.decided.get(this.market(asset).index) ?? 0;
  }

  /** Equity at a price, less the initial surplus at it, is the requirement at it (AMB-48). */
  marginAt(account: PlainAccount, at: 'oracle' | 'mark'): Margin {
    const legs = this.figureLegs(account);
    const surplus = initial(legs, at);
    return { surplus, requirement: equity(legs, at) - surplus };
  }

  margins(account: PlainAccount): readonly Margin[] {
    return [this.marginAt(account, 'oracle'), this.marginAt(account, 'mark')];
  }

  /** What brings the account to 2 % above its requirement at both prices (AMB-58); not below zero. */
  shortfall(account: PlainAccount): bigint {
    let most = 0n;
    for (const { surplus, requirement } of this.margins(account)) {
      const lacks = ceilOf(2n * requirement, 100n) - surplus;
      if (lacks > most) most = lacks;
    }
    return most;
  }

  isBelowInitial(account: PlainAccount): boolean {
    return this.margins(account).some(({ surplus }) => surplus < 0n);
  }

  isRestored(account: PlainAccount): boolean {
    return this.margins(account).every(({ surplus, requirement }) => 100n * surplus >= 2n * requirement);
  }

  /**
   * A young oracle alone, else usable last trade and usable oracle; deeper is lower for a sale and higher for a buy (LIQ-07 to
   * LIQ-09). Only a buy is priced without an oracle (AMB-126).
   */
  reference(asset: AssetId, sells: boolean): bigint | null {
    if (sells && this.terms(asset).broken) return null;
    const prices = this.market(asset).risk.usable(this.now);
    let deepest: bigint | null = null;
    for (const price of prices) {
      if (deepest === null || (sells ? price < deepest : price > deepest)) deepest = price;
    }
    return deepest;
  }

  /** Halfway from the reference to its weighed price, in raw price units: sales floor, buys ceil (LIQ-06, AMB-56). */
  liquidationPrice(asset: AssetId, sells: boolean): number | null {
    const reference = this.reference(asset, sells);
    return reference === null ? null : this.#halfway(asset, sells, reference);
  }

  /** Whether a price of the node is worse than the one that the oracle alone would give; without an oracle each is (LIQ-12). */
  isWorseThanOracle(asset: AssetId, sells: boolean, price: number): boolean {
    const oracle = this.market(asset).risk.usableOracle(this.now);
    if (oracle === null) return true;
    const bound = this.#halfway(asset, sells, oracle);
    return sells ? price < bound : price > bound;
  }

  #halfway(asset: AssetId, sells: boolean, reference: bigint): number {
    const { cf, lf } = this.market(asset).risk.row;
    return sells
      ? Math.max(1, Number(floorOf(reference * BigInt(100 + cf), 200n * RAW_PRICE)))
      : Number(ceilOf(reference * BigInt(300 - lf), 200n * RAW_PRICE));
  }

  /** Whether the node may send orders to the market of the asset. */
  isOpen(asset: AssetId): boolean {
    return this.market(asset).status !== MARKET_STATUS.halted;
  }

  mark(asset: AssetId): bigint {
    return this.terms(asset).mark;
  }
}
