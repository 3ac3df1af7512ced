/**
 * The cursors of EVM chains as rows, so that every node that has applied the same record has the same ones (cluster.md 8): one for each
 * chain and kind of events, with a row for each event that it expects.
 *
 *   chain/cursor-rows.ts ── step, journaled ──▶ here: the cursor behind it (chain-cursor.ts) ──▶ the rows that it changed
 *                        ◀── its events, in pages ── a query, when a chain is opened
 *
 *   place   a row of an event has the lowest place that is free; one that is not expected any more is `gone`, and its place is free
 *
 * A step names the revision of the cursor that it follows: one that was made of another cursor, as of a thread that died, changes nothing.
 * Until when a missing settlement may come again counts from the time of the record, which never falls: approvals ended by that time on every
 * leader.
 *
 * Bounded: by the chains of the registry; RECENT_MAX events of a cursor in blocks, and those that were there and are missing.
 */
import { assert, must } from '../../core/assert.ts';
import type { ChainId } from '../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { reject } from '../../core/reject.ts';
import { SECOND_NS, type TimestampNs } from '../../core/units.ts';
import type { ChainStep } from '../inputs.ts';
import { configOf } from '../registry/registry-config.ts';
import type { ChainCursorRow, CursorEventRow, CursorKind } from '../rows.ts';
import type { ClearingState } from '../state.ts';
import {
  ANCHORS_MAX,
  type CursorStep,
  type EventCursor,
  freshCursor,
  type MissingEvent,
  type RecentEvent,
  STEP_EVENTS_MAX,
  STEP_RANGES_MAX,
  stepped,
} from './chain-cursor.ts';

type View = Readonly<Record<string, unknown>>;
type Name = Pick<ChainCursorRow, 'chainId' | 'event'>;

/** What an event of a vault is called (chain/event-cursor.ts): user, counter, token and base units, of a settlement three more. */
const WHAT = /^[0-9a-f]{64}\/[0-9]{1,16}\/[0-9a-f]{64}\/[0-9]{1,78}(\/[0-9]{1,16}\/[0-9a-f]{64}\/[0-9]{1,78})?$/;
const HASH = /^[0-9a-f]{64}$/;
const VAULT = /^[0-9a-f]{40}$/;
const KINDS: ReadonlySet<CursorKind> = new Set(['deposit', 'withdrawal', 'settlement', 'forced']);
const REASONS: ReadonlySet<string> = new Set(['reorg', 'gap', 'unmatched']);

/** One cursor, and where its events stand. */
class Kept {
  #cursor: EventCursor;
  revision: number;
  /** By the events of the cursor themselves: one that a step leaves as it is stays the same object. */
  readonly places = new Map<RecentEvent | MissingEvent, number>();
  readonly #used = new Set<number>();
  /** No lower place is free. */
  #lowest = 0;
  /** Loaded, and not sorted yet. */
  #loaded: { readonly recent: RecentEvent[]; readonly missing: MissingEvent[] } | null = null;

  constructor(cursor: EventCursor, revision: number) {
    this.#cursor = cursor;
    this.revision = revision;
  }

  get cursor(): EventCursor {
    if (this.#loaded === null) return this.#cursor;
    const { recent, missing } = this.#loaded;
    this.#loaded = null;
    this.#cursor = { ...this.#cursor, recent: recent.sort(byBlock), missing: missing.sort(byName) };
    return this.#cursor;
  }

  set cursor(cursor: EventCursor) {
    this.#loaded = null;
    this.#cursor = cursor;
  }

  load({ place, state, block, what, until }: CursorEventRow): void {
    this.#loaded ??= { recent: [], missing: [] };
    const recent = { block, what };
    const missing = { what, until };
    if (state === 'recent') this.#loaded.recent.push(recent);
    else this.#loaded.missing.push(missing);
    this.take(state === 'recent' ? recent : missing, place);
  }

  take(event: RecentEvent | MissingEvent, place: number): void {
    assert(!this.#used.has(place), 'an event of a cursor has a place of its own');
    this.#used.add(place);
    this.places.set(event, place);
  }

  free(event: RecentEvent | MissingEvent): number {
    const place = must(this.places.get(event), 'an event of a cursor has a place');
    this.places.delete(event);
    this.#used.delete(place);
    this.#lowest = Math.min(this.#lowest, place);
    return place;
  }

  freePlace(): number {
    while (this.#used.has(this.#lowest)) this.#lowest += 1;
    return this.#lowest;
  }
}

function nameOf({ chainId, event }: Name): string {
  return `${chainId}/${event}`;
}

/** A part of a cursor: its events in pages. */
export interface CursorPage {
  readonly revision: number;
  /** Without its events. */
  readonly cursor: EventCursor;
  readonly recent: readonly RecentEvent[];
  readonly missing: readonly MissingEvent[];
  /** Where the next page begins; null: this is the last one. */
  readonly next: number | null;
}

/** Plain storage with its indexes. */
export class ChainCursors {
  readonly #kept = new Map<string, Kept>();

  find(name: Name): EventCursor | null {
    return this.#kept.get(nameOf(name))?.cursor ?? null;
  }

  revision(name: Name): number {
    return this.#kept.get(nameOf(name))?.revision ?? 0;
  }

  /** A row of a checkpoint; its events come behind it, in the order of their places. */
  load({ vault, nextBlock, anchors, stopped, revision, ...name }: ChainCursorRow): void {
    const end =
      stopped === null ? null : { reason: stopped.reason, block: stopped.next - 1, deposits: stopped.deposits };
    const cursor = { ...freshCursor(vault), nextBlock, anchors, stopped: end };
    this.#kept.set(nameOf(name), new Kept(cursor, revision));
  }

  loadEvent(row: CursorEventRow): void {
    if (row.state === 'gone') return;
    must(this.#kept.get(nameOf(row)), 'the cursor of an event is loaded').load(row);
  }

  /** The cursor behind a step. @returns the rows of events that it changed. */
  put(name: Name, cursor: EventCursor): readonly CursorEventRow[] {
    const kept = this.#kept.get(nameOf(name)) ?? new Kept(freshCursor(cursor.vault), 0);
    this.#kept.set(nameOf(name), kept);
    const { recent, missing } = kept.cursor;
    const changed = new Map<number, CursorEventRow>();
    const still = new Set<RecentEvent | MissingEvent>([...cursor.recent, ...cursor.missing]);
    for (const event of [...recent, ...missing]) {
      if (still.has(event)) continue;
      const place = kept.free(event);
      changed.set(place, { ...name, place, state: 'gone', block: 0, what: '', until: 0 });
    }
    // In one order on every node: that of the cursor itself is another one where it was loaded.
    // mutant: cursor-places
    const added = [
      ...cursor.recent.filter((event) => !kept.places.has(event)).sort(byBlock),
      ...cursor.missing.filter((event) => !kept.places.has(event)).sort(byName),
    ];
    for (const event of added) {
      const place = kept.freePlace();
      kept.take(event, place);
      changed.set(place, rowOf(name, event, place));
    }
    kept.cursor = cursor;
    kept.revision += 1;
    return [...changed.values()];
  }

  row(name: Name): ChainCursorRow {
    const { cursor, revision } = must(this.#kept.get(nameOf(name)), 'a dirty cursor exists');
    const { vault, nextBlock, anchors, stopped } = cursor;
    const end =
      stopped === null ? null : { reason: stopped.reason, next: stopped.block + 1, deposits: stopped.deposits };
    return { ...name, vault, nextBlock, anchors, stopped: end, revision };
  }

  rows(): readonly ChainCursorRow[] {
    return [...this.#kept.keys()].sort().map((key) => this.row(nameIn(key)));
  }

  /** Of every event that is expected, cursor by cursor, in the order of places. */
  eventRows(): readonly CursorEventRow[] {
    return [...this.#kept.keys()].sort().flatMap((key) => {
      const { places } = must(this.#kept.get(key), 'a key of the map');
      return [...places].sort(([, a], [, b]) => a - b).map(([event, place]) => rowOf(nameIn(key), event, place));
    });
  }

  /** @param from where the page begins: 0 of the first one. @returns null: there is no such cursor. */
  page(name: Name, from: number): CursorPage | null {
    const kept = this.#kept.get(nameOf(name));
    if (kept === undefined) return null;
    const { recent, missing } = kept.cursor;
    const through = from + STEP_EVENTS_MAX;
    const behind = Math.max(0, from - recent.length);
    const room = Math.max(0, through - recent.length);
    return {
      revision: kept.revision,
      cursor: { ...kept.cursor, recent: [], missing: [] },
      recent: recent.slice(from, through),
      missing: missing.slice(behind, room),
      next: through < recent.length + missing.length ? through : null,
    };
  }
}

function byName(a: { readonly what: string }, b: { readonly what: string }): number {
  return a.what < b.what ? -1 : a.what > b.what ? 1 : 0;
}

function byBlock(a: RecentEvent, b: RecentEvent): number {
  return a.block - b.block || byName(a, b);
}

function nameIn(key: string): Name {
  const [chainId = '', event = ''] = key.split('/');
  return { chainId: chainId as ChainId, event: event as CursorKind };
}

function rowOf(name: Name, event: RecentEvent | MissingEvent, place: number): CursorEventRow {
  return 'block' in event
    ? { ...name, place, state: 'recent', block: event.block, what: event.what, until: 0 }
    : { ...name, place, state: 'missing', block: 0, what: event.what, until: event.until };
}

/**
 * A cursor goes on. A step that names another revision than that of the cursor changes nothing.
 *
 * @returns `{"result":"kept","until"}` or `{"result":"moved"}`; CHAIN_NOT_FOUND, INVALID_REQUEST for a step that is beyond its bounds.
 */
export function applyChainStep(state: ClearingState, input: ChainStep, nowNs: TimestampNs): Outcome<View> {
  const { chainId, event, revision } = input;
  const chain = configOf(state, 'chain', chainId);
  if (chain === null) return rejected(reject('CHAIN_NOT_FOUND', `chain ${chainId} is unknown`, 'chain_id'));
  const { chainCursors, dirty } = state;
  const name = { chainId, event };
  // mutant: cursor-revision
  if (revision !== chainCursors.revision(name)) return accepted({ result: 'moved' });
  if (!KINDS.has(event) || !isStep(input.step) || (revision === 0 && input.step.kind !== 'begin')) {
    return rejected(reject('INVALID_REQUEST', 'this is no step of a cursor', 'step'));
  }
  const ended = Number(nowNs / SECOND_NS) + Number(chain['approval_validity_s']);
  // mutant: missing-by-record-time
  const until = input.step.kind === 'advance' && event === 'settlement' ? Math.max(input.step.until, ended) : 0;
  const step = input.step.kind === 'advance' ? { ...input.step, until } : input.step;
  const before = chainCursors.find(name) ?? freshCursor('');
  for (const row of chainCursors.put(name, stepped(before, step))) {
    dirty.cursorEvents.set(`${chainId}/${event}/${row.place}`, row);
  }
  dirty.chainCursors.add(`${chainId}/${event}`);
  return accepted({ result: 'kept', until });
}

/** The row of a dirty cursor. */
export function cursorRow({ chainCursors }: ClearingState, key: string): ChainCursorRow {
  return chainCursors.row(nameIn(key));
}

function isStep(step: CursorStep): boolean {
  switch (step.kind) {
    case 'begin': {
      const { vault, nextBlock, anchors, recent, missing, stopped } = step.cursor;
      const isBounded = recent.length + missing.length <= STEP_EVENTS_MAX && anchors.length <= ANCHORS_MAX;
      const isSound = VAULT.test(vault) && isCount(nextBlock) && anchors.every(isAnchor) && recent.every(isRecent);
      return isBounded && isSound && missing.every(isMissing) && (stopped === null || isStopped(stopped));
    }
    case 'advance': {
      const isBounded = step.ends.length <= STEP_RANGES_MAX && step.booked.length <= STEP_EVENTS_MAX;
      return isBounded && isCount(step.until) && step.ends.every(isAnchor) && step.booked.every(isRecent);
    }
    case 'join':
      return step.late.length <= STEP_EVENTS_MAX && step.late.every(isRecent);
    case 'rewind':
      return isAnchor(step.to);
    case 'stop':
      return isStopped(step.stopped);
    case 'forget':
      return step.events.length <= STEP_EVENTS_MAX && step.events.every((what) => WHAT.test(what));
    case 'resume':
      return isAnchor(step.same);
    default:
      return false;
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isAnchor({ number, hash }: EventCursor['anchors'][number]): boolean {
  return isCount(number) && HASH.test(hash);
}

function isRecent({ block, what }: RecentEvent): boolean {
  return isCount(block) && WHAT.test(what);
}

function isMissing({ what, until }: MissingEvent): boolean {
  return isCount(until) && WHAT.test(what);
}

function isStopped({ reason, block, deposits }: NonNullable<EventCursor['stopped']>): boolean {
  return REASONS.has(reason) && Number.isSafeInteger(block) && block >= -1 && isCount(deposits);
}
