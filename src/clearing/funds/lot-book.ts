/**
 * Isolated lots (DEP-12 to DEP-15, AMB-73): which parts of `token@chain` balances of account 0 came from deposits over a
 * cap, and which of them may be pooled next. Plain storage with its indexes; the rules are in deposit-caps.ts.
 *
 *   user, token ──▶ lots, oldest first, LOTS_PER_TOKEN at most        a row each on disk, in places that are used again
 *   token       ──▶ lots of all users, oldest first, in a tree of the least free amounts:
 *
 *                     2          the oldest lot of at most 5 units: down to the left where the least is 5 or less
 *                   ┌─┴─┐
 *                   4   2
 *                  ┌┴┐ ┌┴┐
 *                  9 4 7 2       free amounts of lots by age
 *
 * Invariants
 *   (1) The lots of a balance are never more than what it owns and has locked; what is more came otherwise: bought on a
 *       market of the token, or from the faucet. When a balance becomes less than its lots, the oldest shrink first.
 *   (2) What withdrawals lock and orders hold is of what is no lot, then of the oldest lots. The rest of a lot is free.
 *
 * Bounded: LOTS_PER_TOKEN lots a user and token. A further deposit joins the user's youngest lot of the token, which is as
 * young as the deposit from then on: no money is lost, and no lot becomes older than it is.
 */
import { larger, smaller } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import type { AssetId, UserId } from '../../core/ids.ts';
import { AMOUNT18_MAX } from '../../core/limits.ts';
import { type Amount18, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import type { LotRow } from '../rows.ts';
import type { BalanceSlot } from '../state.ts';

/** Lots of a user and token. */
export const LOTS_PER_TOKEN = 16;
/** More than any amount: nothing is free. */
const NOTHING: bigint = AMOUNT18_MAX + 1n;
/** Leaves of the smallest tree. */
const WIDTH_MIN = 16;

export interface Lot {
  readonly owner: OwnedLots;
  readonly place: number;
  /** Rises with age order within the token. */
  readonly sequence: number;
  readonly creditedNs: TimestampNs;
  amount: bigint;
  /** The part that is neither locked nor held. */
  free: bigint;
  /** Where it is in the tree of its token. */
  at: number;
}

/** A lot as operators see it: without what withdrawals have locked of it. */
interface ShownLot {
  readonly amount: Amount18;
  readonly creditedNs: TimestampNs;
}

/** The lots of all users of a token. */
class TokenLots {
  /** By age; null for one that is gone. */
  #lots: (Lot | null)[] = [];
  /** The least free amount below each node; leaf i is at #width + i. */
  #least: bigint[] = [];
  #width = 0;
  #count = 0;
  #isSorted = true;

  get count(): number {
    return this.#count;
  }

  /** What the next lot gets. A function of the lots that there are, so that a state loaded from rows goes on alike. */
  nextSequence(): number {
    this.#sort();
    return (this.#lots.at(-1)?.sequence ?? 0) + 1;
  }

  add(lot: Lot): void {
    this.#sort();
    if (this.#lots.length === this.#width) this.#rebuild();
    lot.at = this.#lots.length;
    this.#lots.push(lot);
    this.#count += 1;
    this.changed(lot);
  }

  /** Adds a lot of a checkpoint; they may come in any order. */
  load(lot: Lot): void {
    this.#lots.push(lot);
    this.#count += 1;
    this.#isSorted = false;
  }

  remove(lot: Lot): void {
    this.#sort();
    this.#lots[lot.at] = null;
    this.#set(lot.at, NOTHING);
    while (this.#lots.length > 0 && this.#lots.at(-1) === null) this.#lots.pop();
    this.#count -= 1;
  }

  /** The free amount of the lot has changed. */
  changed(lot: Lot): void {
    if (this.#isSorted) this.#set(lot.at, leafOf(lot));
  }

  /** The least free amount; null when nothing is free. */
  least(): bigint | null {
    this.#sort();
    const least = this.#least[1] ?? NOTHING;
    return least === NOTHING ? null : least;
  }

  /** The oldest lot with a free amount above zero and at most `room`. */
  first(room: bigint): Lot | null {
    this.#sort();
    if ((this.#least[1] ?? NOTHING) > smaller(room, AMOUNT18_MAX)) return null;
    let node = 1;
    while (node < this.#width) node = (this.#least[2 * node] as bigint) <= room ? 2 * node : 2 * node + 1;
    return this.#lots[node - this.#width] ?? null;
  }

  #set(at: number, free: bigint): void {
    let node = this.#width + at;
    this.#least[node] = free;
    for (node >>>= 1; node >= 1; node >>>= 1) {
      this.#least[node] = smaller(this.#least[2 * node] as bigint, this.#least[2 * node + 1] as bigint);
    }
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#isSorted = true;
    this.#lots.sort((a, b) => (a?.sequence ?? 0) - (b?.sequence ?? 0));
    this.#rebuild();
  }

  /** Without gaps, and with as many leaves again. */
  #rebuild(): void {
    this.#lots = this.#lots.filter((lot) => lot !== null);
    let width = WIDTH_MIN;
    while (width < 2 * this.#lots.length) width *= 2;
    this.#width = width;
    this.#least = new Array<bigint>(2 * width).fill(NOTHING);
    for (const [at, lot] of this.#lots.entries()) {
      if (lot === null) continue;
      lot.at = at;
      this.#least[width + at] = leafOf(lot);
    }
    for (let node = width - 1; node >= 1; node -= 1) {
      this.#least[node] = smaller(this.#least[2 * node] as bigint, this.#least[2 * node + 1] as bigint);
    }
  }
}

function leafOf({ free }: Lot): bigint {
  return free > 0n ? free : NOTHING;
}

/** The lots of one balance. */
export class OwnedLots {
  readonly slot: BalanceSlot;
  readonly #book: LotBook;
  /** Oldest first. */
  readonly #lots: Lot[] = [];

  constructor(book: LotBook, slot: BalanceSlot) {
    this.#book = book;
    this.slot = slot;
  }

  get lots(): readonly Lot[] {
    return this.#lots;
  }

  /** What is owned, locked or held is another: the lots follow. */
  balanceChanged(): void {
    const { owned, locked, heldBySells } = this.slot;
    for (let excess = this.#sum() - owned - locked; excess > 0n; ) {
      const oldest = this.#lots[0];
      assert(oldest !== undefined, 'what is too much is of a lot');
      const taken = smaller(excess, oldest.amount);
      excess -= taken;
      this.#book.reduce(oldest, taken);
    }
    let covered = smaller(heldBySells, owned) + locked - this.#loose();
    for (const lot of this.#lots) {
      const free = lot.amount - larger(smaller(lot.amount, covered), 0n);
      covered -= lot.amount;
      if (free === lot.free) continue;
      lot.free = free;
      this.#book.freeChanged(lot);
    }
  }

  /** The lots as the operator API shows them, oldest first. */
  shown(): ShownLot[] {
    let locked = this.slot.locked - this.#loose();
    const shown: ShownLot[] = [];
    for (const { amount, creditedNs } of this.#lots) {
      const left = amount - larger(smaller(amount, locked), 0n);
      locked -= amount;
      if (left > 0n) shown.push({ amount: left as Amount18, creditedNs });
    }
    return shown;
  }

  /** The smallest place that no lot has. */
  freePlace(): number {
    let place = 0;
    while (this.#lots.some((lot) => lot.place === place)) place += 1;
    return place;
  }

  /** Called by LotBook. */
  insert(lot: Lot): void {
    let at = this.#lots.length;
    while (at > 0 && (this.#lots[at - 1] as Lot).sequence > lot.sequence) at -= 1;
    this.#lots.splice(at, 0, lot);
  }

  /** Called by LotBook. */
  drop(lot: Lot): void {
    this.#lots.splice(this.#lots.indexOf(lot), 1);
  }

  /** What the balance has beside its lots. */
  #loose(): bigint {
    return this.slot.owned + this.slot.locked - this.#sum();
  }

  #sum(): bigint {
    let sum = 0n;
    for (const { amount } of this.#lots) sum += amount;
    return sum;
  }
}

export class LotBook {
  readonly #tokens = new Map<AssetId, TokenLots>();
  readonly #byKey = new Map<string, Lot>();
  readonly #dirty: Set<string>;
  /** Whether what is due may be another than what was found last (deposit-caps.ts). Changes no decision. */
  isStale = true;
  /** When a lot may be pooled next, as found last; null for never. */
  dueNs: bigint | null = null;

  /** @param dirty keys of rows that changed. */
  constructor(dirty: Set<string>) {
    this.#dirty = dirty;
  }

  static keyOf(user: UserId, place: number, asset: AssetId): string {
    return `${user}/${place}/${asset}`;
  }

  /** Lots of all users and tokens. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Tokens with lots, in an order that does not depend on how they came. */
  tokens(): AssetId[] {
    return [...this.#tokens.keys()].sort();
  }

  /** The oldest lot of a token with a free amount above zero and at most `room`. */
  first(asset: AssetId, room: bigint): Lot | null {
    return this.#tokens.get(asset)?.first(room) ?? null;
  }

  /** The least that is free of a lot of the token; null for nothing. */
  least(asset: AssetId): bigint | null {
    return this.#tokens.get(asset)?.least() ?? null;
  }

  /** What was just credited to the balance is a lot. */
  add(slot: BalanceSlot, amount: Amount18, creditedNs: TimestampNs): void {
    if (amount === 0n) return;
    const owner = slot.lots ?? new OwnedLots(this, slot);
    slot.lots = owner;
    let joined: bigint = amount;
    if (owner.lots.length === LOTS_PER_TOKEN) {
      const youngest = owner.lots[LOTS_PER_TOKEN - 1] as Lot;
      joined += youngest.amount;
      this.reduce(youngest, youngest.amount);
    }
    const token = this.#tokenOf(slot.asset);
    const [place, sequence] = [owner.freePlace(), token.nextSequence()];
    const lot: Lot = { owner, place, sequence, creditedNs, amount: joined, free: 0n, at: 0 };
    this.#place(lot);
    token.add(lot);
    this.#changed(lot);
    owner.balanceChanged();
  }

  /** A row of a checkpoint. @param slot its balance, loaded. */
  load({ place, sequence, amount, creditedNs }: LotRow, slot: BalanceSlot): void {
    if (amount === 0n) return;
    const owner = slot.lots ?? new OwnedLots(this, slot);
    slot.lots = owner;
    const lot: Lot = { owner, place, sequence, creditedNs, amount, free: 0n, at: 0 };
    this.#place(lot);
    this.#tokenOf(slot.asset).load(lot);
    owner.balanceChanged();
    this.isStale = true;
  }

  /** Takes something of a lot; of nothing left it is gone. */
  reduce(lot: Lot, amount: bigint): void {
    assert(amount <= lot.amount, 'a lot is never negative');
    lot.amount -= amount;
    this.#changed(lot);
    if (lot.amount > 0n) return;
    const { owner } = lot;
    const { user, asset } = owner.slot;
    this.#byKey.delete(LotBook.keyOf(user, lot.place, asset));
    owner.drop(lot);
    if (owner.lots.length === 0) owner.slot.lots = null;
    const token = this.#tokenOf(asset);
    token.remove(lot);
    if (token.count === 0) this.#tokens.delete(asset);
  }

  /** The free amount of a lot has changed. */
  freeChanged(lot: Lot): void {
    this.#tokens.get(lot.owner.slot.asset)?.changed(lot);
    this.isStale = true;
  }

  /** Caps, units or credits are others. */
  capsChanged(): void {
    this.isStale = true;
  }

  /** The row of a key of `dirty`. */
  row(key: string): LotRow {
    const lot = this.#byKey.get(key);
    const [user, place, asset] = key.split('/') as [UserId, string, AssetId];
    const { sequence, amount, creditedNs } = lot ?? { sequence: 0, amount: ZERO_18, creditedNs: 0n as TimestampNs };
    return { user, asset, place: Number(place), sequence, amount: amount as Amount18, creditedNs };
  }

  /** Rows of all lots, by token and age. */
  *rows(): Generator<LotRow> {
    const lots = [...this.#byKey.entries()];
    const assetOf = ([, { owner }]: [string, Lot]): string => owner.slot.asset;
    lots.sort((a, b) => (assetOf(a) === assetOf(b) ? a[1].sequence - b[1].sequence : assetOf(a) < assetOf(b) ? -1 : 1));
    for (const [key] of lots) yield this.row(key);
  }

  #place(lot: Lot): void {
    const { user, asset } = lot.owner.slot;
    this.#byKey.set(LotBook.keyOf(user, lot.place, asset), lot);
    lot.owner.insert(lot);
  }

  #changed({ owner, place }: Lot): void {
    this.#dirty.add(LotBook.keyOf(owner.slot.user, place, owner.slot.asset));
    this.isStale = true;
  }

  #tokenOf(asset: AssetId): TokenLots {
    let token = this.#tokens.get(asset);
    if (token === undefined) {
      token = new TokenLots();
      this.#tokens.set(asset, token);
    }
    return token;
  }
}
