/**
 * Signed texts that have moved money: each is accepted once (MON-01). Kept is the SHA-256 of the signed bytes of every
 * accepted withdrawal, settlement and maker's order, with its signer and the row that it made.
 *
 *   text ─▶ new ────────────────────▶ judged like any request, and kept with the row
 *     │─▶ kept, its row is live ────▶ the first answer; nothing moves
 *     └─▶ kept, its row has ended ──▶ ACTION_ALREADY_USED with the status of the row
 *
 *   kept until   it names a nonce     the vault's counter is above that, and the row ended a day ago: from then on the nonce refuses it
 *                it names an expiry   that is past: from then on the expiry refuses it
 *                it names neither     for ever: OPEN_TEXTS_PER_USER, then a request without a nonce is refused
 *   never        while its row is live. Of a settlement that was refused nothing was ever signed: its texts are new again
 *
 * A reorganisation may take a counter back below a nonce whose texts are no longer kept. A row of kind `floor` then
 * refuses the nonces below it, for good: such a request is sent without a nonce.
 *
 * A cancel that names the time of its request is kept while parts of that request are live: a part may get the number of
 * another one, and the cancel was about one of them.
 *
 * Bounded: OPEN_TEXTS_PER_USER and NAMED_TEXTS_PER_USER of a signer, a cancel a live row, a floor a counter. A row on
 * disk has a place, which is used again.
 */
import { assert, must } from '../../core/assert.ts';
import type { ChainId, UserId } from '../../core/ids.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { DAY_NS, type TimestampNs } from '../../core/units.ts';
import type { UsedTextRow, UsedTextStatus } from '../rows.ts';
import type { ClearingState } from '../state.ts';

/** Kept texts of a signer that name neither a nonce nor an expiry. */
export const OPEN_TEXTS_PER_USER = 1_000;
/** Kept texts of a signer that name one of them: only what was never executed stays longer than a day. */
export const NAMED_TEXTS_PER_USER = 4_096;

/** For a signer with that many texts or more, expired texts are searched once in this number of requests. */
const SWEEP_EVERY = 64;

/** A text as it was signed. */
export interface SignedUse extends Pick<UsedTextRow, 'kind' | 'user' | 'digest'> {
  readonly chainId: ChainId;
  /** The sub-account of a settlement; 0 for other actions. */
  readonly subAccount: number;
  /** The value as it was signed; null if the text has none. */
  readonly nonce: number | null;
  /** The value as it was signed; null if the text has none. */
  readonly expiresNs: bigint | null;
}

/** The row that a text has made: sequence of a withdrawal, place of a settlement. */
export interface MadeRow extends Pick<UsedTextRow, 'owner' | 'sequence' | 'requestedNs'> {
  readonly made: 'withdrawal' | 'settlement';
}

interface TextsOfUser {
  /** Texts and floors. */
  readonly places: Map<number, UsedTextRow>;
  /** The place of each digest. */
  readonly digests: Map<string, number>;
}

type Name = Pick<UsedTextRow, 'user' | 'place'>;

/** Plain storage with its indexes. */
export class UsedTexts {
  readonly #users = new Map<UserId, TextsOfUser>();
  /** By the row that they have made. */
  readonly #ofRows = new Map<string, Set<UsedTextRow>>();
  /** Rows of kind `floor`, by their counter. */
  readonly #floors = new Map<string, UsedTextRow>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  find(user: UserId, digest: string): UsedTextRow | null {
    const texts = this.#users.get(user);
    const place = texts?.digests.get(digest);
    return place === undefined ? null : must(texts?.places.get(place), 'a digest has its text');
  }

  /** In the order of places. */
  ofUser(user: UserId): UsedTextRow[] {
    return [...(this.#users.get(user)?.places.values() ?? [])].sort((a, b) => a.place - b.place);
  }

  /** The floor of the nonces that such a text names; null for none. */
  floorOf(text: Counted): UsedTextRow | null {
    return this.#floors.get(counterOf(text)) ?? null;
  }

  /** Texts and floors of a signer. */
  countOf(user: UserId): number {
    return this.#users.get(user)?.places.size ?? 0;
  }

  ofRow(row: MadeRow): UsedTextRow[] {
    return [...(this.#ofRows.get(nameOf(row)) ?? [])];
  }

  /** Every text, signer by signer. */
  *all(): Generator<UsedTextRow> {
    for (const { places } of this.#users.values()) yield* places.values();
  }

  /** The lowest place of a signer without a text. */
  freePlace(user: UserId): number {
    const places = this.#users.get(user)?.places;
    let place = 0;
    while (places?.has(place) === true) place += 1;
    return place;
  }

  /** Adds a text, also when it is loaded, or puts it in the place of the one before. */
  set(row: UsedTextRow): void {
    this.remove(row);
    const texts = this.#users.get(row.user) ?? { places: new Map(), digests: new Map() };
    texts.places.set(row.place, row);
    if (row.kind === 'floor') {
      this.#floors.set(counterOf({ ...row, kind: row.floorOf }), row);
    } else {
      assert(!texts.digests.has(row.digest), 'a text is kept once');
      texts.digests.set(row.digest, row.place);
      const name = nameOf(madeBy(row));
      this.#ofRows.set(name, (this.#ofRows.get(name) ?? new Set()).add(row));
    }
    this.#users.set(row.user, texts);
    this.#size += 1;
  }

  remove({ user, place }: Name): void {
    const texts = this.#users.get(user);
    const row = texts?.places.get(place);
    if (texts === undefined || row === undefined) return;
    texts.places.delete(place);
    if (texts.places.size === 0) this.#users.delete(user);
    this.#size -= 1;
    if (row.kind === 'floor') {
      this.#floors.delete(counterOf({ ...row, kind: row.floorOf }));
      return;
    }
    texts.digests.delete(row.digest);
    const name = nameOf(madeBy(row));
    const ofRow = must(this.#ofRows.get(name), 'a text is found by its row');
    ofRow.delete(row);
    if (ofRow.size === 0) this.#ofRows.delete(name);
  }
}

/** What a counter of a vault is about. */
interface Counted extends Pick<UsedTextRow, 'user' | 'chainId' | 'subAccount'> {
  readonly kind: string;
}

function counterOf({ kind, user, chainId, subAccount }: Counted): string {
  return `${kind}/${chainId}/${user}/${subAccount}`;
}

function madeBy({ kind, owner, sequence, requestedNs }: UsedTextRow): MadeRow {
  const made = kind === 'withdrawal' || kind === 'cancel' ? 'withdrawal' : 'settlement';
  return { made, owner, sequence, requestedNs };
}

function nameOf({ made, owner, sequence, requestedNs }: MadeRow): string {
  return `${made}/${owner}/${sequence}/${requestedNs}`;
}

// ---- rules

/** Whether the vault's counter is above the nonce that the text names. */
function isPassed(state: ClearingState, row: UsedTextRow): boolean {
  const { kind, user, chainId, subAccount, nonce } = row;
  if (nonce === null) return false;
  const counter =
    kind === 'withdrawal'
      ? state.withdrawalCounters.get(`${chainId}/${user}`)
      : state.settlementCounters.get(`${chainId}/${user}/${subAccount}`);
  return (counter ?? 0) > nonce;
}

/** Whether the nonce or the expiry refuses the text from now on, or nothing can be done with it. */
function isOver(state: ClearingState, row: UsedTextRow, nowNs: TimestampNs): boolean {
  if (row.status === 'live' || row.kind === 'floor') return false;
  if (row.kind === 'cancel') return true;
  if (row.expiresNs !== 0n && row.expiresNs <= nowNs) return true;
  // mutant: used-text-final-counter
  return isPassed(state, row) && nowNs - row.endedNs >= DAY_NS;
}

/** The text as it was accepted before; null for a new one. */
export function usedText(
  state: ClearingState,
  { user, digest }: Pick<SignedUse, 'user' | 'digest'>,
  nowNs: TimestampNs,
): UsedTextRow | null {
  const row = state.usedTexts.find(user, digest);
  return row === null || isOver(state, row, nowNs) ? null : row;
}

/** The row of the text has ended. */
export function alreadyUsed({ status }: Pick<UsedTextRow, 'status'>, field: string): Reject {
  const message = 'this signed text was accepted before; sign a new one, with another request_id or nonce';
  return { ...reject('ACTION_ALREADY_USED', message, field), details: { status } };
}

function isOpen({ nonce, expiresNs }: Pick<SignedUse, 'nonce' | 'expiresNs'>): boolean {
  return nonce === null && (expiresNs ?? 0n) === 0n;
}

/** Why one more text of the signer cannot be kept, or null: INVALID_NONCE, INVALID_REQUEST. */
export function refuseUse(state: ClearingState, use: SignedUse, nowNs: TimestampNs): Reject | null {
  const { kind, user, nonce } = use;
  // mutant: used-text-floor
  if (nonce !== null && nonce < (state.usedTexts.floorOf(use)?.nonce ?? 0)) {
    return reject('INVALID_NONCE', 'requests with this nonce are over; send null for the next one', 'nonce');
  }
  if (state.usedTexts.countOf(user) < OPEN_TEXTS_PER_USER) return null;
  let [open, named] = [0, 0];
  for (const row of state.usedTexts.ofUser(user)) {
    if (row.kind === 'floor' || row.kind === 'cancel' || isOver(state, row, nowNs)) continue;
    if (isOpen(row)) open += 1;
    else if (row.status === 'live' || !isPassed(state, row)) named += 1;
  }
  if (isOpen(use)) {
    // mutant: open-texts-bound
    return open < OPEN_TEXTS_PER_USER
      ? null
      : reject('INVALID_NONCE', `${OPEN_TEXTS_PER_USER} requests had no nonce: this one needs one`, 'nonce');
  }
  if (named < NAMED_TEXTS_PER_USER) return null;
  const message = `${NAMED_TEXTS_PER_USER} requests of this signer were not executed, and each is accepted once`;
  if (kind === 'makerOrder') return reject('INVALID_REQUEST', message, 'maker_order');
  return nonce === null ? reject('INVALID_REQUEST', message, 'expires_at') : reject('INVALID_NONCE', message, 'nonce');
}

/** Keeps an accepted text with the row that it made; refuseUse has found room. */
export function keepUse(state: ClearingState, use: SignedUse, row: MadeRow, nowNs: TimestampNs): void {
  const count = state.usedTexts.countOf(use.user);
  if (count < SWEEP_EVERY || count % SWEEP_EVERY === 0 || count >= NAMED_TEXTS_PER_USER) sweep(state, use.user, nowNs);
  const { kind, user, digest, chainId, subAccount, nonce, expiresNs } = use;
  write(state, {
    user,
    place: state.usedTexts.freePlace(user),
    kind,
    digest,
    chainId,
    subAccount,
    nonce,
    expiresNs: expiresNs ?? 0n,
    owner: row.owner,
    sequence: row.sequence,
    requestedNs: row.requestedNs,
    status: 'live',
    endedNs: 0n as TimestampNs,
    isPaid: false,
    floorOf: '',
  });
}

/** Drops what is over; of a signer with many texts also what the counter of the vault refuses already. */
function sweep(state: ClearingState, user: UserId, nowNs: TimestampNs): void {
  const texts = state.usedTexts.ofUser(user);
  const isCrowded = texts.length >= NAMED_TEXTS_PER_USER;
  for (const row of texts) {
    const isEnded = row.kind !== 'floor' && row.status !== 'live';
    if (isOver(state, row, nowNs) || (isCrowded && isEnded && isPassed(state, row))) drop(state, row);
  }
}

/**
 * A row has ended, or a part of it: the texts that made it are used up. @param isLast whether no other part of it is
 * live.
 */
export function endUses(
  state: ClearingState,
  made: MadeRow,
  { status, isLast, nowNs }: { readonly status: UsedTextStatus; readonly isLast: boolean; readonly nowNs: TimestampNs },
): void {
  for (const row of state.usedTexts.ofRow(made)) {
    if (row.status !== 'live') continue;
    const isPaid = row.isPaid || status === 'executed';
    if (!isLast) {
      if (isPaid !== row.isPaid) write(state, { ...row, isPaid });
    } else if (row.kind === 'cancel') {
      drop(state, row);
    } else {
      write(state, { ...row, status: isPaid ? 'executed' : status, endedNs: nowNs, isPaid });
    }
  }
}

/** A row that had ended is live again: a reorganisation took its payout back. */
export function reviveUses(state: ClearingState, made: MadeRow): void {
  for (const row of state.usedTexts.ofRow(made)) {
    if (row.status !== 'live') write(state, { ...row, status: 'live', endedNs: 0n as TimestampNs, isPaid: false });
  }
}

/** A row ended before anything was signed for it: its texts may be sent again. */
export function forgetUses(state: ClearingState, made: MadeRow): void {
  // mutant: refused-text-is-new
  for (const row of state.usedTexts.ofRow(made)) if (row.status === 'live') drop(state, row);
}

function write(state: ClearingState, row: UsedTextRow): void {
  state.usedTexts.set(row);
  state.dirty.usedTexts.set(`${row.user}/${row.place}`, row);
}

/** A text with a nonce leaves a floor, in case the counter is ever taken back. */
function drop(state: ClearingState, row: UsedTextRow): void {
  state.usedTexts.remove(row);
  state.dirty.usedTexts.set(`${row.user}/${row.place}`, { ...row, status: 'gone' });
  if (row.kind === 'cancel' || row.nonce === null || !isPassed(state, row)) return;
  const floor = state.usedTexts.floorOf(row);
  if (floor !== null && must(floor.nonce, 'a floor is a nonce') > row.nonce) return;
  const place = floor?.place ?? state.usedTexts.freePlace(row.user);
  const none = { digest: '0'.repeat(64), expiresNs: 0n, sequence: 0, requestedNs: 0n as TimestampNs, isPaid: false };
  write(state, { ...row, ...none, place, kind: 'floor', floorOf: row.kind, nonce: row.nonce + 1, status: 'live' });
}
