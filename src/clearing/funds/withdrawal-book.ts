/**
 * All withdrawals that clearing knows: live ones, and those that ended within a day (AMB-135). Plain storage with its
 * indexes; the rules are in withdrawals.ts.
 *
 *   user ──▶ places 0 … 63, a row each on disk; the place of a row that has gone is used again
 *   asset@chain ──▶ queued rows whose turn it is, in the order of their requests (AMB-78): of a user on a chain one at most, the one
 *                   with the lowest number from the vault's counter up that is not filled (MON-04)
 *   times ──▶ rows by the next instant at which something is due of them, once each
 *
 * Bounded: WITHDRAWALS_PER_USER places a user; a new request displaces the oldest row that has ended, never a live one. What
 * is kept of a row by time goes with it: requests and their cancels, repeated for a day, take no more than the places.
 */
import { smaller } from '../../core/arithmetic.ts';
import { assert } from '../../core/assert.ts';
import type { AssetId, ChainId, UserId } from '../../core/ids.ts';
import { type Amount18, DAY_NS, type TimestampNs, ZERO_18 } from '../../core/units.ts';
import type { WithdrawalRow } from '../rows.ts';

/** Places of a user. */
export const WITHDRAWALS_PER_USER = 64;
/**
 * A queued row, or one that is filled but not to be signed (MON-04), expires so long after its request, a finished one
 * is shown so long after its end (WDR-12, AMB-135).
 */
export const WITHDRAWAL_LIFE_NS: bigint = DAY_NS;

/** The part of the amount that the pool pays: isolated lots cover the amount first, then the fee. */
export function pooledAmount({ amount, isolated }: Pick<WithdrawalRow, 'amount' | 'isolated'>): Amount18 {
  return isolated >= amount ? ZERO_18 : ((amount - isolated) as Amount18);
}

/** What vaults will pay of a token. */
interface Promised {
  /** Base units. */
  readonly units: bigint;
  /** The part of it, fees included, that is locked in isolated lots: 18 decimals. */
  readonly isolated: bigint;
}

const NOTHING_PROMISED: Promised = { units: 0n, isolated: 0n };
const NO_SLOTS: readonly WithdrawalSlot[] = [];
const NOTHING_REQUESTED: ReadonlyMap<ChainId, bigint> = new Map();

export interface WithdrawalSlot {
  row: WithdrawalRow;
  /** When something is due of it next, ns; null for not by time. Derived. */
  dueNs: bigint | null;
  /** Where it is in the heap of these times, while there is one. */
  dueAt: number;
}

/** Whether it still locks funds. */
export function isLive({ status }: WithdrawalRow): boolean {
  return status === 'queued' || status === 'filled' || status === 'signing' || status === 'approved';
}

/** Something is due of the row since then. */
export interface Due {
  readonly ns: bigint;
  readonly slot: WithdrawalSlot;
}

/** When something is due of a row next; null for not by time. */
function nextDueOf(row: WithdrawalRow): bigint | null {
  const expiresNs = row.requestedNs + WITHDRAWAL_LIFE_NS;
  if (row.status === 'queued') return smaller(row.dueNs as bigint, expiresNs);
  if (row.status === 'filled') return expiresNs;
  return isLive(row) ? null : row.endedNs + WITHDRAWAL_LIFE_NS;
}

/**
 * Rows by the time at which something is due of them: a binary heap, in which each row knows its place. Every operation
 * takes the logarithm of the rows there are. What comes first depends on times, requests and places alone, not on how
 * rows came.
 */
class DueRows {
  readonly #slots: WithdrawalSlot[] = [];

  get size(): number {
    return this.#slots.length;
  }

  get first(): WithdrawalSlot | null {
    return this.#slots[0] ?? null;
  }

  /** The row is due then, and at no other time. @param ns null for never. */
  set(slot: WithdrawalSlot, ns: bigint | null): void {
    if (slot.dueNs !== null) this.#remove(slot);
    slot.dueNs = ns;
    if (ns === null) return;
    this.#slots.push(slot);
    this.#rise(slot, this.#slots.length - 1);
  }

  #remove({ dueAt }: WithdrawalSlot): void {
    const last = this.#slots.pop() as WithdrawalSlot;
    if (dueAt === this.#slots.length) return;
    this.#rise(last, dueAt);
    this.#sink(last, last.dueAt);
  }

  #rise(slot: WithdrawalSlot, from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = this.#slots[parent] as WithdrawalSlot;
      if (!isDueBefore(slot, above)) break;
      this.#put(above, at);
      at = parent;
    }
    this.#put(slot, at);
  }

  #sink(slot: WithdrawalSlot, from: number): void {
    let at = from;
    for (let child = 2 * at + 1; child < this.#slots.length; child = 2 * at + 1) {
      const [left, right] = [this.#slots[child] as WithdrawalSlot, this.#slots[child + 1]];
      const below = right !== undefined && isDueBefore(right, left) ? right : left;
      if (!isDueBefore(below, slot)) break;
      const next = below.dueAt;
      this.#put(below, at);
      at = next;
    }
    this.#put(slot, at);
  }

  #put(slot: WithdrawalSlot, at: number): void {
    this.#slots[at] = slot;
    slot.dueAt = at;
  }
}

export class WithdrawalBook {
  readonly #users = new Map<UserId, (WithdrawalSlot | null)[]>();
  readonly #counters: ReadonlyMap<string, number>;
  readonly #queues = new Map<string, WithdrawalSlot[]>();
  /** The row whose turn it is, by `<chain>/<user>`; beside it the users for whom it must be found anew. */
  readonly #turns = new Map<string, WithdrawalSlot>();
  readonly #stale = new Set<string>();
  /** Promised units by `token@chain`; then the amount of the pool that is locked, without fees, by asset, 18 decimals. */
  readonly #promised = new Map<string, Promised>();
  readonly #pending = new Map<AssetId, Amount18>();
  /** Amounts of live rows, isolated lots included, by asset and chain. */
  readonly #requested = new Map<AssetId, Map<ChainId, bigint>>();
  readonly #due = new DueRows();
  #sequence = 0;

  /** @param counters of executed withdrawals by `<chain>/<user>`; after a change of one its user is `moved`. */
  constructor(counters: ReadonlyMap<string, number> = new Map()) {
    this.#counters = counters;
  }

  /** The next number of a request; they rise. */
  nextSequence(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  /** A row that has gone had this number. */
  seen(sequence: number): void {
    // mutant: withdrawal-number-of-gone
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  /** Every row of a user, in the order of their requests. */
  ofUser(user: UserId): WithdrawalSlot[] {
    const slots = (this.#users.get(user) ?? []).filter((slot) => slot !== null);
    return slots.sort((a, b) => a.row.sequence - b.row.sequence || a.row.nonce - b.row.nonce);
  }

  /** Rows of a user on a chain that still lock funds, in the order of their requests. */
  liveOf(user: UserId, chainId: ChainId): WithdrawalSlot[] {
    return this.ofUser(user).filter(({ row }) => row.chainId === chainId && isLive(row));
  }

  /** Queued rows of an asset on a chain whose turn it is, in the order of their requests. */
  queue(asset: AssetId, chainId: ChainId): readonly WithdrawalSlot[] {
    this.#findTurns();
    return this.#queues.get(`${asset}@${chainId}`) ?? NO_SLOTS;
  }

  /** The queued row of the user whose turn it is on the chain. */
  turnOf(user: UserId, chainId: ChainId): WithdrawalSlot | null {
    this.#findTurns();
    return this.#turns.get(`${chainId}/${user}`) ?? null;
  }

  /** The vault's counter of the user has changed. */
  moved(user: UserId, chainId: ChainId): void {
    this.#stale.add(`${chainId}/${user}`);
  }

  #findTurns(): void {
    for (const key of this.#stale) {
      this.#stale.delete(key);
      const [chainId, user] = key.split('/') as [ChainId, UserId];
      const before = this.#turns.get(key);
      const slot = this.#nextOf(user, chainId, this.#counters.get(key) ?? 0);
      if (before !== undefined) this.#dequeue(before);
      if (slot === null) this.#turns.delete(key);
      else {
        this.#turns.set(key, slot);
        this.#enqueue(slot);
      }
    }
  }

  #nextOf(user: UserId, chainId: ChainId, counter: number): WithdrawalSlot | null {
    const byNonce = new Map<number, WithdrawalSlot>();
    for (const slot of this.#users.get(user) ?? []) {
      if (slot !== null && slot.row.chainId === chainId && isLive(slot.row)) byNonce.set(slot.row.nonce, slot);
    }
    let nonce = counter;
    let slot = byNonce.get(nonce);
    while (slot !== undefined && slot.row.status !== 'queued') {
      nonce += 1;
      slot = byNonce.get(nonce);
    }
    return slot ?? null;
  }

  /** Every row, user by user. */
  *all(): Generator<WithdrawalSlot> {
    for (const slots of this.#users.values()) for (const slot of slots) if (slot !== null) yield slot;
  }

  get size(): number {
    let size = 0;
    for (const slots of this.#users.values()) for (const slot of slots) if (slot !== null) size += 1;
    return size;
  }

  /** What live rows behind the queue will be paid of a token. */
  promised(token: string, chainId: ChainId): Promised {
    return this.#promised.get(`${token}@${chainId}`) ?? NOTHING_PROMISED;
  }

  /** Amounts of live rows of an asset, what is of isolated lots and fees apart. */
  pending(asset: AssetId): Amount18 {
    return this.#pending.get(asset) ?? ZERO_18;
  }

  /** Amounts of live rows of an asset by chain, those of isolated lots included, fees apart: 18 decimals (MON-03). */
  requested(asset: AssetId): ReadonlyMap<ChainId, bigint> {
    return this.#requested.get(asset) ?? NOTHING_REQUESTED;
  }

  /** A place for a new row of the user, or null: all are taken by live rows. */
  freePlace(user: UserId): number | null {
    const slots = this.#users.get(user) ?? [];
    for (let place = 0; place < WITHDRAWALS_PER_USER; place += 1) if ((slots[place] ?? null) === null) return place;
    let oldest: WithdrawalRow | null = null;
    for (const slot of slots) {
      if (slot === null || isLive(slot.row)) continue;
      if (oldest === null || slot.row.endedNs < oldest.endedNs) oldest = slot.row;
    }
    return oldest?.place ?? null;
  }

  /** Adds a row in its place, also when it is loaded; what was there has ended. */
  add(row: WithdrawalRow): WithdrawalSlot {
    const slot: WithdrawalSlot = { row, dueNs: null, dueAt: 0 };
    const slots = this.#users.get(row.user) ?? [];
    const before = slots[row.place] ?? null;
    assert(before === null || !isLive(before.row), 'a live withdrawal keeps its place');
    // mutant: displaced-is-not-due
    if (before !== null) this.#due.set(before, null);
    while (slots.length < row.place) slots.push(null);
    slots[row.place] = slot;
    this.#users.set(row.user, slots);
    this.seen(row.sequence);
    this.#index(slot);
    return slot;
  }

  /** The row changes; its place, user and token stay. */
  change(slot: WithdrawalSlot, row: WithdrawalRow): void {
    this.#unindex(slot);
    slot.row = row;
    this.#index(slot);
  }

  /** A finished row that is not shown any more leaves memory; its row on disk has status `gone`. */
  remove(slot: WithdrawalSlot): void {
    assert(!isLive(slot.row), 'only finished withdrawals leave');
    const slots = this.#users.get(slot.row.user);
    if (slots === undefined) return;
    this.#due.set(slot, null);
    slots[slot.row.place] = null;
    if (slots.every((other) => other === null)) this.#users.delete(slot.row.user);
  }

  /** When something is due next, null for never. */
  get nextDueNs(): bigint | null {
    return this.#due.first?.dueNs ?? null;
  }

  /** Rows for which something will be due at a later time. */
  get dueCount(): number {
    return this.#due.size;
  }

  /** Takes what is due first, null for nothing yet. A queued row expires later, unless it goes on before. */
  takeDue(nowNs: TimestampNs): Due | null {
    const slot = this.#due.first;
    const ns = slot?.dueNs ?? null;
    if (slot === null || ns === null || ns > nowNs) return null;
    const expiresNs = slot.row.requestedNs + WITHDRAWAL_LIFE_NS;
    this.#due.set(slot, slot.row.status === 'queued' && ns < expiresNs ? expiresNs : null);
    return { ns, slot };
  }

  #index(slot: WithdrawalSlot): void {
    const { row } = slot;
    this.moved(row.user, row.chainId);
    if (isLive(row)) this.#count(row, 1n);
    this.#due.set(slot, nextDueOf(row));
  }

  #unindex(slot: WithdrawalSlot): void {
    const { row } = slot;
    this.moved(row.user, row.chainId);
    if (isLive(row)) this.#count(row, -1n);
  }

  /** Its asset, chain and age stay as they are while it lives. */
  #dequeue(slot: WithdrawalSlot): void {
    const key = `${slot.row.asset}@${slot.row.chainId}`;
    const queue = this.#queues.get(key) ?? [];
    queue.splice(queue.indexOf(slot), 1);
    if (queue.length === 0) this.#queues.delete(key);
  }

  #enqueue(slot: WithdrawalSlot): void {
    const key = `${slot.row.asset}@${slot.row.chainId}`;
    const queue = this.#queues.get(key) ?? [];
    let at = queue.length;
    while (at > 0 && isBefore(slot.row, (queue[at - 1] as WithdrawalSlot).row)) at -= 1;
    queue.splice(at, 0, slot);
    this.#queues.set(key, queue);
  }

  #count(row: WithdrawalRow, sign: bigint): void {
    const { token, chainId, asset } = row;
    // What waits in the queue is promised by no vault unit yet.
    if (row.status !== 'queued') {
      const { units, isolated } = this.promised(token, chainId);
      const next = { units: units + sign * row.payout, isolated: isolated + sign * row.isolated };
      this.#promised.set(`${token}@${chainId}`, next);
    }
    const chains = this.#requested.get(asset) ?? new Map<ChainId, bigint>();
    chains.set(chainId, (chains.get(chainId) ?? 0n) + sign * row.amount);
    this.#requested.set(asset, chains);
    this.#pending.set(asset, ((this.#pending.get(asset) ?? ZERO_18) + sign * pooledAmount(row)) as Amount18);
  }
}

function isBefore(a: WithdrawalRow, b: WithdrawalRow): boolean {
  return a.requestedNs < b.requestedNs || (a.requestedNs === b.requestedNs && a.sequence < b.sequence);
}

/** By time, request and place; two rows of one request, parts of it, have different places. */
function isDueBefore(a: WithdrawalSlot, b: WithdrawalSlot): boolean {
  if (a.dueNs !== b.dueNs) return (a.dueNs as bigint) < (b.dueNs as bigint);
  // mutant: due-in-one-order
  if (a.row.sequence !== b.row.sequence) return a.row.sequence < b.row.sequence;
  return a.row.place < b.row.place;
}
