/**
 * How far the events of an EVM chain are processed: three files for each chain, `evm/<chain id>.deposit.json`,
 * `….withdrawal.json` and `….settlement.json` in the data directory, always written completely. Deposits stand for both below.
 *
 *   anchors   ascending blocks with their hashes, the newest ones close together: where a reorganisation began
 *   recent    deposits behind the oldest anchor: what a reorganisation must show again
 *   missing   settlements that a reorganisation has taken away and that have to come again: they were booked at once (DEP-23)
 *   stopped   why nothing more is credited, until the operator resumes the chain (AMB-74)
 *
 * Invariants
 *   (1) Clearing has credited every deposit in blocks below `nextBlock` and flushed it, before the file passes them. A lost or
 *       older file costs time: deposits are read again and have been credited.
 *   (2) `recent` has every credited deposit behind the oldest anchor. Its bound removes anchors as well.
 *
 * Backups leave the file out: beside an older ledger it would be ahead of it. A restored node reads the chain again.
 */
import { join } from 'node:path';
import type { ChainId } from '../core/ids.ts';
import type { VaultEventKind } from './chain-events.ts';
import type { ConfirmedDeposit } from './deposit-watcher.ts';
import type { Anchor } from './evm-provider.ts';
import { type Json, loadStateFile, StateReader, saveStateFile } from './state-file.ts';

/** The name of the directory; storage/data-files.ts has it too. */
const DIRECTORY = 'evm';
const FORMAT = 1;
const READ = new StateReader('the cursor of an EVM chain');
const ANCHORS_MAX = 256;
export const RECENT_MAX = 20_000;

/** What must be there again after a reorganisation. */
export interface RecentDeposit {
  readonly block: number;
  /** User, counter, token and base units, with `/` between them. */
  readonly what: string;
}

/** A booked settlement that is not on the chain now: its approval is valid until it comes again, or the chain stops. */
export interface MissingEvent {
  readonly what: string;
  /** Seconds of the chain's time: later its approval cannot be used any more. 0: not known yet. */
  readonly until: number;
}

export interface Stopped {
  readonly reason: 'reorg' | 'gap' | 'unmatched';
  /** The last unchanged block, or the one before the gap; −1 without one. */
  readonly block: number;
  /** Events that are no longer on the chain, missing before a gap, or without an approved withdrawal. */
  readonly deposits: number;
}

export interface EvmCursor {
  readonly vault: string;
  readonly nextBlock: number;
  readonly anchors: readonly Anchor[];
  readonly recent: readonly RecentDeposit[];
  readonly missing: readonly MissingEvent[];
  readonly stopped: Stopped | null;
}

export function freshCursor(vault: string): EvmCursor {
  return { vault, nextBlock: 0, anchors: [], recent: [], missing: [], stopped: null };
}

export function recentOf({ user, nonce, token, baseUnits, block, settled }: ConfirmedDeposit): RecentDeposit {
  const into = settled === undefined ? '' : `/${settled.account}/${settled.tokenIn}/${settled.baseUnitsIn}`;
  return { block, what: `${user}/${nonce}/${token}/${baseUnits}${into}` };
}

/** Tokens and base units that an event brought into the vault; negative: took out of it. */
export function movesOf(event: VaultEventKind, what: string): readonly (readonly [string, bigint])[] {
  const [, , token = '', baseUnits = '0', , tokenIn, baseUnitsIn = '0'] = what.split('/');
  const move: readonly [string, bigint] = [token, event === 'deposit' ? BigInt(baseUnits) : -BigInt(baseUnits)];
  return tokenIn === undefined ? [move] : [move, [tokenIn, BigInt(baseUnitsIn)]];
}

/** The cursor behind a processed range. @param credited in the order of the chain. */
export function advanced(cursor: EvmCursor, end: Anchor, credited: readonly RecentDeposit[]): EvmCursor {
  let anchors = thinned([...cursor.anchors, end]);
  let recent = [...cursor.recent, ...credited];
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
export function joined(cursor: EvmCursor, late: readonly RecentDeposit[]): EvmCursor {
  const from = cursor.anchors[0]?.number ?? -1;
  const known = new Set(cursor.recent.map(({ block, what }) => `${block}/${what}`));
  const added = late.filter(({ block, what }) => {
    return block > from && block < cursor.nextBlock && !known.has(`${block}/${what}`);
  });
  if (added.length === 0) return cursor;
  return { ...cursor, recent: [...cursor.recent, ...added].sort((a, b) => a.block - b.block) };
}

/** The cursor at a block from which the chain is read again. @param block −1: every anchor is replaced. */
export function rewound(cursor: EvmCursor, block: number): EvmCursor {
  const anchors = cursor.anchors.filter(({ number }) => number <= block);
  const recent = cursor.recent.filter((deposit) => deposit.block <= block);
  const nextBlock = block < 0 ? cursor.nextBlock : block + 1;
  return { ...cursor, nextBlock, anchors, recent };
}

/** Beyond the bound every second of the older half goes. */
function thinned(anchors: readonly Anchor[]): readonly Anchor[] {
  if (anchors.length <= ANCHORS_MAX) return anchors;
  return anchors.filter((_, index) => index >= ANCHORS_MAX / 2 || index % 2 === 0);
}

export class EvmCursorStore {
  readonly #directory: string;

  /** @param dataDirectory exists; the cursors get a subdirectory. */
  constructor(dataDirectory: string) {
    this.#directory = join(dataDirectory, DIRECTORY);
  }

  /** @returns null if nothing was saved. @throws InvariantError for a damaged file, Error when it cannot be read. */
  async load(chainId: ChainId, event: VaultEventKind): Promise<EvmCursor | null> {
    const text = await loadStateFile(this.#path(chainId, event));
    return text === null ? null : decodeCursor(text);
  }

  /** One call at a time per file. @throws Error when writing fails; the old file is then still there. */
  async save(chainId: ChainId, event: VaultEventKind, cursor: EvmCursor): Promise<void> {
    await saveStateFile(this.#path(chainId, event), `${JSON.stringify({ format: FORMAT, ...cursor })}\n`);
  }

  #path(chainId: ChainId, event: VaultEventKind): string {
    return join(this.#directory, `${chainId}.${event}.json`);
  }
}

/** @throws InvariantError unless `text` is a cursor that was saved. */
export function decodeCursor(text: string): EvmCursor {
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
