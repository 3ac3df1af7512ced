/**
 * The backstop and auto-deleveraging as a plain machine, written from BKS-01 to BKS-07, ADL-01 to ADL-09, AMB-58 to AMB-60
 * and decisions-liquidation.md. The judge of src/clearing/liquidation.
 *
 *   take-over ─▶ net ─▶ clip ─▶ below initial margin? ─▶ counterparties, best score first ─▶ posting ─▶ closed when flat
 */
import { type AssetId, USD, type UserId } from '../../src/core/ids.ts';
import { SIDE } from '../../src/core/order-terms.ts';
import {
  ceilOf,
  E18,
  floorOf,
  LOT,
  leastOf,
  magnitudeOf,
  type PlainAccount,
  type PlainAccounts,
  RAW_PRICE,
} from './plain-accounts.ts';
import { accountKey, type PlainEffect, type PlainNodeOrder } from './plain-liquidation.ts';

const CLIP_EVERY_NS = 1_000_000_000n;
const DAY_NS = 86_400_000_000_000n;
/** The indices below are given to every user. */
const FIRST_INDEX = 2;

export interface PlainBackstopRow {
  readonly index: number;
  readonly account: PlainAccount;
  readonly source: string;
  readonly takenNs: bigint;
  state: 'working' | 'deleveraging' | 'closed';
  provisional: bigint;
  posted: bigint;
  /** Magnitudes at the take-over, by asset, of legs and of spot. */
  readonly taken: ReadonlyMap<string, bigint>;
  readonly adlClosed: Map<AssetId, bigint>;
  /** In which it is deleveraged: one market at a time. */
  adlAsset: AssetId | null;
  clipNs: bigint;
  order: PlainNodeOrder | null;
}

interface Candidate {
  readonly account: PlainAccount;
  /** Score as a fraction; null for an account without equity, which comes first. */
  readonly score: { readonly n: bigint; readonly d: bigint } | null;
  readonly notional: bigint;
}

export class PlainBackstop {
  readonly rows: Map<number, PlainBackstopRow> = new Map();
  readonly settings: { clipPercent: bigint; clipUsd: bigint } = { clipPercent: 10n, clipUsd: 50_000n * E18 };
  /** Credits given and not returned, negative. */
  credits: bigint = 0n;
  readonly #closedByAdl: { readonly asset: AssetId; readonly quantity: bigint; readonly timeNs: bigint }[] = [];
  readonly #accounts: PlainAccounts;
  readonly #user: UserId;
  readonly #effects: PlainEffect[];

  constructor(parts: {
    readonly accounts: PlainAccounts;
    readonly user: UserId;
    readonly effects: PlainEffect[];
  }) {
    this.#accounts = parts.accounts;
    this.#user = parts.user;
    this.#effects = parts.effects;
  }

  /** Everything of the account moves to a sub-account of the backstop, which is then credited (BKS-02, BKS-03). */
  takeOver(from: PlainAccount): void {
    const index = this.#freeIndex(from.asset);
    const account = this.#accounts.account(this.#user, index, from.asset);
    const taken = new Map<string, bigint>();
    for (const [asset, amount] of from.spot) {
      this.#accounts.credit(account, asset, amount);
      if (asset !== USD && amount !== 0n) taken.set(`spot ${asset}`, amount);
    }
    from.spot.clear();
    for (const [asset, legs] of [...from.legs].sort(([a], [b]) => Number(a) - Number(b))) {
      if (legs.base === 0n && legs.quote === 0n) continue;
      account.legs.set(asset, { ...legs });
      if (legs.base !== 0n) taken.set(`leg ${asset}`, magnitudeOf(legs.base));
      this.#effects.push({ kind: 'positionCleared', account: accountKey(from), asset });
    }
    from.legs.clear();
    const provisional = this.#accounts.shortfall(account);
    this.#accounts.credit(account, USD, provisional);
    this.credits -= provisional;
    this.rows.set(index, {
      index,
      account,
      source: accountKey(from),
      takenNs: this.#accounts.now,
      state: 'working',
      provisional,
      posted: 0n,
      taken,
      adlClosed: new Map(),
      adlAsset: null,
      clipNs: 0n,
      order: null,
    });
  }

  #freeIndex(asset: AssetId | null): number {
    for (let index = FIRST_INDEX; ; index += 1) {
      const row = this.rows.get(index);
      if (row === undefined) return index;
      if (row.state === 'closed' && row.account.asset === asset) return index;
    }
  }

  /**
   * One step of a row (decision 16): once it is below initial margin counterparties come before clips. @returns whether
   * anything changed.
   */
  step(index: number): boolean {
    const row = this.rows.get(index);
    if (row === undefined || row.state === 'closed' || row.order !== null) return false;
    if (this.#net(row)) return true;
    if (row.state === 'deleveraging' && this.#protect(row)) return true;
    return this.#clip(row) || this.#protect(row) || this.#close(row);
  }

  // ---- netting

  /** The oldest long with the oldest short of an asset that the row holds, of all rows without an outstanding order. */
  #net(row: PlainBackstopRow): boolean {
    for (const { asset, isUpdated } of this.#accounts.markets) {
      const { broken, mark } = this.#accounts.terms(asset);
      if (this.#accounts.legsOf(row.account, asset).base === 0n || broken || !isUpdated) continue;
      const [long, short] = [this.#oldest(asset, true), this.#oldest(asset, false)];
      if (long === undefined || short === undefined) continue;
      const sizeOf = (account: PlainAccount): bigint => magnitudeOf(this.#accounts.legsOf(account, asset).base);
      const size = leastOf(sizeOf(long), sizeOf(short));
      this.#cross(short, long, { asset, size, notional: floorOf(size * mark, E18) });
      return true;
    }
    return false;
  }

  #oldest(asset: AssetId, isLong: boolean): PlainAccount | undefined {
    const live = [...this.rows.values()].filter(({ state, order }) => state !== 'closed' && order === null);
    live.sort((a, b) => (a.takenNs === b.takenNs ? a.index - b.index : a.takenNs < b.takenNs ? -1 : 1));
    return live
      .map(({ account }) => account)
      .find((account) => {
        const { base } = this.#accounts.legsOf(account, asset);
        return isLong ? base > 0n : base < 0n;
      });
  }

  /** A trade without fee: the buyer was short or the seller was long, or both. */
  #cross(
    buyer: PlainAccount,
    seller: PlainAccount,
    { asset, size, notional }: { readonly asset: AssetId; readonly size: bigint; readonly notional: bigint },
  ): void {
    this.#accounts.trade(buyer, asset, size, notional, 0n);
    this.#accounts.trade(seller, asset, -size, notional, 0n);
  }

  // ---- clips

  #clip(row: PlainBackstopRow): boolean {
    const { now } = this.#accounts;
    if (now < row.clipNs + CLIP_EVERY_NS || !this.#accounts.hasOracleRound(row.account)) return false;
    const [order] = this.#holdings(row)
      .map((holding) => this.#clipOf(row, holding))
      .filter((clip) => clip !== null);
    if (order === undefined) return false;
    row.clipNs = now;
    row.order = order;
    this.#effects.push({ kind: 'nodeOrder', order });
    return true;
  }

  /** Legs and spot assets that are open, the largest value at the mark first. */
  #holdings({ account }: PlainBackstopRow): readonly { asset: AssetId; amount: bigint; isSpot: boolean }[] {
    const holdings = this.#accounts.markets.flatMap(({ asset }) => [
      { asset, amount: this.#accounts.legsOf(account, asset).base, isSpot: false },
      { asset, amount: this.#accounts.owned(account, asset), isSpot: true },
    ]);
    const value = ({ asset, amount }: { asset: AssetId; amount: bigint }): bigint =>
      magnitudeOf(amount) * this.#accounts.mark(asset);
    return holdings
      .filter(({ amount }) => magnitudeOf(amount) >= LOT)
      .sort((a, b) => (value(b) > value(a) ? 1 : value(b) < value(a) ? -1 : 0));
  }

  #clipOf(
    row: PlainBackstopRow,
    { asset, amount, isSpot }: { asset: AssetId; amount: bigint; isSpot: boolean },
  ): PlainNodeOrder | null {
    const sells = amount > 0n;
    const reference = this.#accounts.reference(asset, sells);
    const price = this.#accounts.liquidationPrice(asset, sells);
    if (reference === null || price === null || !this.#accounts.isOpen(asset)) return null;
    const taken = row.taken.get(`${isSpot ? 'spot' : 'leg'} ${asset}`) ?? 0n;
    const fraction = ceilOf(taken * this.settings.clipPercent, 100n * LOT);
    const affordable = (this.settings.clipUsd * E18) / (reference * LOT);
    const lots = leastOf(fraction, affordable === 0n ? 1n : affordable, magnitudeOf(amount) / LOT);
    return {
      user: this.#user,
      subAccount: row.index,
      orderId: `sys-clip-${row.index}-${this.#accounts.sequenceOf(asset)}`,
      asset,
      side: sells ? SIDE.sell : SIDE.buy,
      price,
      quantity: Number(lots),
      isSpot,
      isLiquidation: false,
    };
  }

  orderEnded(index: number): void {
    const row = this.rows.get(index);
    if (row !== undefined) row.order = null;
  }

  // ---- deleveraging and posting

  /** Below initial margin: counterparties first, then collateral (BKS-06, BKS-07). */
  #protect(row: PlainBackstopRow): boolean {
    const isPriced = this.#accounts.assetsOf(row.account).every((asset) => !this.#accounts.terms(asset).broken);
    if (!isPriced || !this.#accounts.hasOracleRound(row.account)) return false;
    if (row.state === 'working') {
      if (!this.#accounts.isBelowInitial(row.account)) return false;
      row.state = 'deleveraging';
      return true;
    }
    if (!this.#accounts.isRestored(row.account)) {
      if (this.#deleverage(row)) return true;
      if (this.#accounts.isBelowInitial(row.account)) this.#post(row);
    }
    row.state = 'working';
    row.adlAsset = null;
    return true;
  }

  #post(row: PlainBackstopRow): void {
    const lacks = this.#accounts.shortfall(row.account);
    this.#accounts.credit(row.account, USD, lacks);
    this.credits -= lacks;
    row.posted += lacks;
  }

  /** One counterparty: in the market of the one before, else in that with the largest exposure that has one (ADL-04). */
  #deleverage(row: PlainBackstopRow): boolean {
    const exposures = this.#holdings(row).filter(({ isSpot }) => !isSpot);
    const current = exposures.filter(({ asset }) => asset === row.adlAsset);
    for (const { asset, amount } of [...current, ...exposures]) {
      const left = this.#adlLeft(asset);
      const [best] = this.candidates(asset, amount > 0n);
      if (best === undefined || left === 0n || !this.#accounts.isOpen(asset)) continue;
      row.adlAsset = asset;
      this.#closeAgainst(row, best.account, { asset, base: amount, lotsMax: left });
      return true;
    }
    return false;
  }

  /** Lots of the market that may still be closed by auto-deleveraging; null for no bound. */
  #adlLeft(asset: AssetId): bigint | null {
    const { maxAdl } = this.#accounts.market(asset);
    if (maxAdl === null) return null;
    const since = this.#accounts.now - DAY_NS;
    const used = this.#closedByAdl.filter((each) => each.asset === asset && each.timeNs > since);
    const left = used.reduce((sum, { quantity }) => sum - quantity, maxAdl);
    return left < LOT ? 0n : left / LOT;
  }

  /** Profitable positions of the other side, by score (EX-09). @param isLong of the backstop. */
  candidates(asset: AssetId, isLong: boolean): readonly Candidate[] {
    const mark = this.#accounts.mark(asset);
    const candidates: Candidate[] = [];
    for (const account of this.#accounts.held()) {
      const { base, entry } = this.#accounts.legsOf(account, asset);
      if (account.user === this.#user || base === 0n || base > 0n === isLong) continue;
      const value = magnitudeOf(base) * mark;
      const profit = base > 0n ? value - entry * E18 : entry * E18 - value;
      if (profit <= 0n) continue;
      const { equity, notional } = this.#leverage(account);
      const score = equity <= 0n ? null : { n: notional * profit, d: equity * entry };
      candidates.push({ account, score, notional });
    }
    return candidates.sort(compareCandidates);
  }

  #leverage(account: PlainAccount): { readonly equity: bigint; readonly notional: bigint } {
    const { surplus, requirement } = this.#accounts.marginAt(account, 'mark');
    let notional = 0n;
    for (const [asset, { base }] of account.legs) {
      notional += (magnitudeOf(base) * this.#accounts.mark(asset)) / E18;
    }
    return { equity: surplus + requirement, notional };
  }

  #closeAgainst(
    row: PlainBackstopRow,
    victim: PlainAccount,
    { asset, base, lotsMax }: { readonly asset: AssetId; readonly base: bigint; readonly lotsMax: bigint | null },
  ): void {
    const { oracle, mark } = this.#accounts.terms(asset);
    const isShort = base < 0n;
    // To the finest price of the market, and to the good of the backstop.
    const binding = isShort === oracle < mark ? oracle : mark;
    const raw = isShort ? floorOf(binding, RAW_PRICE) : ceilOf(binding, RAW_PRICE);
    const price = raw * RAW_PRICE;
    const own = magnitudeOf(base) / LOT;
    const most = leastOf(own, magnitudeOf(this.#accounts.legsOf(victim, asset).base) / LOT, lotsMax ?? own);
    const lots = this.#leastLots(row, { asset, price, isShort, most });
    const size = lots * LOT;
    const [buyer, seller] = isShort ? [row.account, victim] : [victim, row.account];
    this.#cross(buyer, seller, { asset, size, notional: (size * price) / E18 });
    row.adlClosed.set(asset, (row.adlClosed.get(asset) ?? 0n) + size);
    this.#closedByAdl.push({ asset, quantity: size, timeNs: this.#accounts.now });
    this.#effects.push({
      kind: 'deleveraged',
      asset,
      price: Number(raw),
      quantity: Number(lots),
      buyer: accountKey(buyer),
      seller: accountKey(seller),
    });
  }

  /** The fewest lots that restore the row, at most `most`: tried on, by halving. */
  #leastLots(
    row: PlainBackstopRow,
    { asset, price, isShort, most }: { asset: AssetId; price: bigint; isShort: boolean; most: bigint },
  ): bigint {
    let [low, high] = [1n, most];
    while (low < high) {
      const half = (low + high) / 2n;
      const size = half * LOT;
      const before = this.#accounts.legsOf(row.account, asset);
      this.#accounts.trade(row.account, asset, isShort ? size : -size, (size * price) / E18, 0n);
      const isEnough = this.#accounts.isRestored(row.account);
      row.account.legs.set(asset, before);
      if (isEnough) high = half;
      else low = half + 1n;
    }
    return low;
  }

  // ---- the end of a row

  /** Flat: quote legs fold, USD pays back credits first and is capital beyond that (decision 17). */
  #close(row: PlainBackstopRow): boolean {
    const { account } = row;
    if (this.#accounts.assetsOf(account).length > 0) return false;
    let usd = this.#accounts.owned(account, USD);
    for (const { quote } of account.legs.values()) usd += quote;
    if (usd < 0n) return false;
    account.legs.clear();
    account.spot.clear();
    const repaid = leastOf(-this.credits, usd);
    this.credits += repaid;
    this.#accounts.credit(this.#accounts.account(this.#user, 0), USD, usd - repaid);
    row.state = 'closed';
    return true;
  }

  /** A start: clips that were sent are gone. */
  restarted(): void {
    for (const row of this.rows.values()) row.order = null;
  }
}

/** No equity first, then the score; then the larger notional, the user, the index (AMB-59). */
function compareCandidates(a: Candidate, b: Candidate): number {
  if ((a.score === null) !== (b.score === null)) return a.score === null ? -1 : 1;
  if (a.score !== null && b.score !== null) {
    const [left, right] = [a.score.n * b.score.d, b.score.n * a.score.d];
    if (left !== right) return left > right ? -1 : 1;
  }
  if (a.notional !== b.notional) return a.notional > b.notional ? -1 : 1;
  const [one, other] = [a.account, b.account];
  if (one.user !== other.user) return one.user < other.user ? -1 : 1;
  return one.subAccount - other.subAccount;
}
