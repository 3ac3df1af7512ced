/**
 * How far one kind of events of a vault is processed, and what was booked of it that a reorganisation must show again. Four files for
 * each chain, `evm/<chain id>.<kind of events>.json` in the data directory, always written completely.
 *
 *   anchors   ascending blocks with their hashes, the newest ones close together: where a reorganisation began
 *   recent    booked events behind the oldest anchor, at their places
 *   missing   booked events whose place a reorganisation has taken away: each has to be shown again, in a block that is read again
 *   stopped   why nothing more is booked, until the operator resumes the chain (AMB-74)
 *
 *   booked ──▶ recent ──its block is replaced──▶ missing ──shown again──▶ recent
 *                                                   └── a majority does not show it: the chain stops, and its resumption takes it back
 *
 * Invariants
 *   (1) Clearing has booked every event in blocks below `nextBlock` and flushed it, before the file passes them. A lost or
 *       older file costs time: events are read again and have been booked.
 *   (2) Every booked event is in `recent` or in `missing`, or is not behind the oldest anchor. The bound of `recent` removes anchors as well.
 *
 * Backups leave the files out: beside an older ledger they would be ahead of it. A restored node reads the chain again.
 */
import { join } from 'node:path';
import type { ChainId, UserId } from '../core/ids.ts';
import type { ConfirmedEvent, VaultEventKind } from './chain-events.ts';
import type { Anchor } from './chain-provider.ts';
import { type Json, loadStateFile, StateReader, saveStateFile } from './state-file.ts';

/** The name of the directory; storage/data-files.ts has it too. */
const DIRECTORY = 'evm';
const FORMAT = 1;
const READ = new StateReader('the cursor of a chain');
const ANCHORS_MAX = 256;
export const RECENT_MAX = 20_000;

/** A booked event at its last known place. */
interface RecentEvent {
  readonly block: number;
  /** User, counter, token and base units, with `/` between them; of a settlement also sub-account, token in and its base units. */
  readonly what: string;
}

/** A booked event without a place on the chain. */
export interface MissingEvent {
  readonly what: string;
  /** Of a settlement, seconds of the chain's time: later its approval cannot be used any more. 0: not known yet, and of any other event. */
  readonly until: number;
}

export interface Stopped {
  readonly reason: 'reorg' | 'gap' | 'unmatched';
  /** The last unchanged block, or the one before the gap; −1 without one. */
  readonly block: number;
  /** Events that are no longer on the chain, missing before a gap, or without an approved withdrawal; the file's name for them. */
  readonly deposits: number;
}

export interface EventCursor {
  readonly vault: string;
  readonly nextBlock: number;
  readonly anchors: readonly Anchor[];
  readonly recent: readonly RecentEvent[];
  readonly missing: readonly MissingEvent[];
  readonly stopped: Stopped | null;
}

export function freshCursor(vault: string): EventCursor {
  return { vault, nextBlock: 0, anchors: [], recent: [], missing: [], stopped: null };
}

export function recentOf({ user, nonce, token, baseUnits, block, settled }: ConfirmedEvent): RecentEvent {
  const into = settled === undefined ? '' : `/${settled.account}/${settled.tokenIn}/${settled.baseUnitsIn}`;
  return { block, what: `${user}/${nonce}/${token}/${baseUnits}${into}` };
}

/** Tokens and base units that an event brought into the vault; negative: took out of it. */
export function movesOf(event: VaultEventKind, what: string): readonly (readonly [string, bigint])[] {
  const [, , token = '', baseUnits = '0', , tokenIn, baseUnitsIn = '0'] = what.split('/');
  const move: readonly [string, bigint] = [token, event === 'deposit' ? BigInt(baseUnits) : -BigInt(baseUnits)];
  return tokenIn === undefined ? [move] : [move, [tokenIn, BigInt(baseUnitsIn)]];
}

/** The cursor behind a processed range. @param booked in the order of the chain. */
export function advanced(cursor: EventCursor, end: Anchor, booked: readonly RecentEvent[]): EventCursor {
  let anchors = thinned([...cursor.anchors, end]);
  let recent = [...cursor.recent, ...booked];
  const oldest = recent[recent.length - RECENT_MAX - 1]?.block;
  if (oldest !== undefined) {
    const kept = anchors.filter(({ number }) => number >= oldest);
    anchors = kept.length > 0 ? kept : [end];
  }
  const from = anchors[0]?.number ?? -1;
  if (recent.some(({ block }) => block <= from)) recent = recent.filter(({ block }) => block > from);
  return { ...cursor, nextBlock: end.number + 1, anchors, recent };
}

/** The cursor with events of processed blocks that were booked late: a reorganisation must show them again as well (CHN-04). */
export function joined(cursor: EventCursor, late: readonly RecentEvent[]): EventCursor {
  const from = cursor.anchors[0]?.number ?? -1;
  const known = new Set(cursor.recent.map(({ block, what }) => `${block}/${what}`));
  const added = late.filter(({ block, what }) => {
    return block > from && block < cursor.nextBlock && !known.has(`${block}/${what}`);
  });
  if (added.length === 0) return cursor;
  return { ...cursor, recent: [...cursor.recent, ...added].sort((a, b) => a.block - b.block) };
}

/** The cursor at a block from which the chain is read again. What was booked behind it has to be shown again. */
export function rewound(cursor: EventCursor, { number, hash }: Anchor): EventCursor {
  const kept = cursor.anchors.filter((anchor) => anchor.number <= number);
  const anchors = kept.at(-1)?.hash === hash ? kept : [{ number, hash }];
  const gone = cursor.recent.filter(({ block }) => block > number).map(({ what }) => ({ what, until: 0 }));
  const recent = cursor.recent.filter(({ block }) => block <= number);
  return { ...cursor, nextBlock: number + 1, anchors, recent, missing: merged(cursor.missing, gone) };
}

/** Each once: an event that is shown twice, with one counter, was booked once. */
function merged(missing: readonly MissingEvent[], gone: readonly MissingEvent[]): readonly MissingEvent[] {
  const known = new Map([...gone, ...missing].map((event) => [event.what, event]));
  return [...known.values()];
}

/** An event of a settlement or a withdrawal, as `what` has it. */
export interface BookedTerms {
  readonly user: UserId;
  readonly nonce: number;
  readonly token: string;
  readonly baseUnits: bigint;
  /** Of a settlement; 0 of any other. */
  readonly account: number;
  readonly tokenIn: string;
  readonly baseUnitsIn: bigint;
}

/** @param what made by `recentOf`. */
export function termsOf(what: string): BookedTerms {
  const [user = '', nonce = '', token = '', baseUnits = '0', account = '0', tokenIn = '', baseUnitsIn = '0'] =
    what.split('/');
  const counts = { nonce: Number(nonce), account: Number(account) };
  return {
    user: user as UserId,
    ...counts,
    token,
    baseUnits: BigInt(baseUnits),
    tokenIn,
    baseUnitsIn: BigInt(baseUnitsIn),
  };
}

/** Beyond the bound every second of the older half goes. */
function thinned(anchors: readonly Anchor[]): readonly Anchor[] {
  if (anchors.length <= ANCHORS_MAX) return anchors;
  return anchors.filter((_, index) => index >= ANCHORS_MAX / 2 || index % 2 === 0);
}

export class CursorStore {
  readonly #directory: string;

  /** @param dataDirectory exists; the cursors get a subdirectory. */
  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, DIRECTORY);
  }

  /** @returns null if nothing was saved. @throws InvariantError for a damaged file, Error when it cannot be read. */
  async load(chainId: ChainId, event: VaultEventKind): Promise<EventCursor | null> {
    const text = await loadStateFile(this.#path(chainId, event));
    return text === null ? null : decodeCursor(text);
  }

  /** One call at a time per file. @throws Error when writing fails; the old file is then still there. */
  async save(chainId: ChainId, event: VaultEventKind, cursor: EventCursor): Promise<void> {
    await saveStateFile(this.#path(chainId, event), encodeCursor(cursor));
  }

  #path(chainId: ChainId, event: VaultEventKind): string {
    return join(this.#directory, `${chainId}.${event}.json`);
  }
}

function encodeCursor(cursor: EventCursor): string {
  return `${JSON.stringify({ format: FORMAT, ...cursor })}\n`;
}

/** @throws InvariantError unless `text` is a cursor that was saved. */
export function decodeCursor(text: string): EventCursor {
  const { format, vault, nextBlock, anchors, recent, missing, stopped } = READ.root(text);
  READ.check(format === FORMAT, 'its format is known');
  return {
    vault: READ.hex(vault, 20),
    nextBlock: READ.count(nextBlock),
    anchors: READ.list(anchors).map((item) => {
      const { number, hash } = READ.object(item);
      return { number: READ.count(number), hash: READ.hex(hash, 32) };
    }),
    recent: READ.list(recent).map((item) => {
      const { block, what } = READ.object(item);
      return { block: READ.count(block), what: READ.string(what) };
    }),
    missing: READ.list(missing ?? []).map((item) => {
      const { what, until } = READ.object(item);
      return { what: READ.string(what), until: READ.count(until) };
    }),
    stopped: stopped === null ? null : readStopped(READ.object(stopped)),
  };
}

/** @throws InvariantError for anything but a saved stop. */
export function readStopped({ reason, block, deposits }: Json): Stopped {
  READ.check(isReason(reason), 'a reason is known');
  READ.check(Number.isSafeInteger(block), 'a block is one');
  return { reason: reason as Stopped['reason'], block: block as number, deposits: READ.count(deposits) };
}

function isReason(value: unknown): boolean {
  return value === 'reorg' || value === 'gap' || value === 'unmatched';
}
