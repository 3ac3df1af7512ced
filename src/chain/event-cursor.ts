/**
 * Names of booked events in cursors (clearing/funds/chain-cursor.ts), and cursors in files: of simulated chains, beside the chain. Four files for
 * each chain, `evm/<chain id>.<kind of events>.json` in the data directory, always written completely.
 *
 * Up to version 15 of the data those of EVM chains were such files too: they are read once, when there are no rows yet (cursor-rows.ts),
 * and then left.
 *
 * Backups leave the files out: beside an older ledger they would be ahead of it. A restored node reads a simulated chain again.
 */
import { join } from 'node:path';
import type { CursorStep, EventCursor, RecentEvent, Stopped } from '../clearing/funds/chain-cursor.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import type { ConfirmedEvent, VaultEventKind } from './chain-events.ts';
import { type Json, loadStateFile, StateReader, saveStateFile } from './state-file.ts';

/** The name of the directory; storage/data-files.ts has it too. */
const DIRECTORY = 'evm';
const FORMAT = 1;
const READ = new StateReader('the cursor of a chain');

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

/** What keeps cursors: rows of the journal (cursor-rows.ts), or files beside a simulated chain. */
export interface CursorKeeper {
  /** null: nothing is kept. */
  load(chainId: ChainId, event: VaultEventKind): Promise<EventCursor | null>;
  /**
   * Keeps a step. The first one of a watch that loaded nothing, or a cursor of another vault, is `begin`.
   *
   * @param cursor the one behind the step. @returns it as it is kept: a missing settlement may be waited for longer.
   */
  save(chainId: ChainId, event: VaultEventKind, step: CursorStep, cursor: EventCursor): Promise<EventCursor>;
}

/** Keeps whole cursors in files, of which the last one counts. */
export function keptInFiles(files: Pick<CursorStore, 'load' | 'save'>): CursorKeeper {
  return {
    load: (chainId, event) => files.load(chainId, event),
    save: async (chainId, event, _step, cursor) => {
      await files.save(chainId, event, cursor);
      return cursor;
    },
  };
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
