/**
 * Cursors of EVM chains as the thread that watches them keeps them: rows of the journal (clearing/funds/chain-cursors.ts), through the main
 * thread.
 *
 *   load   the rows, page by page ─▶ none: the file of an earlier version of the data, once ─▶ none: null
 *   save   a step with the revision that it follows ─▶ journaled ─▶ the same step here
 *            └ clearing is busy, or does not lead: the same step again, until the thread ends
 *
 * A step that clearing refuses, because the cursor was moved by an earlier thread whose step was on its way, is a `CursorMoved`: the watch is
 * opened anew with the cursor as it is.
 */
import {
  type CursorStep,
  type EventCursor,
  freshCursor,
  STEP_EVENTS_MAX,
  stepped,
} from '../clearing/funds/chain-cursor.ts';
import type { CursorPage } from '../clearing/funds/chain-cursors.ts';
import type { ChainStep } from '../clearing/inputs.ts';
import type { ChainId } from '../core/ids.ts';
import type { VaultEventKind } from './chain-events.ts';
import type { CursorKeeper, CursorStore } from './event-cursor.ts';

const RETRY_MS = 250;

export type CursorStepMessage = Pick<ChainStep, 'chainId' | 'event' | 'revision' | 'step'>;

/** What became of a step; null: clearing did not accept it now. */
export type StepReply = { readonly result: 'kept'; readonly until: number } | { readonly result: 'moved' } | null;

interface CursorRowsParts {
  /** undefined: clearing did not answer now. null: there is no cursor. */
  readonly page: (chainId: ChainId, event: VaultEventKind, from: number) => Promise<CursorPage | null | undefined>;
  readonly step: (step: CursorStepMessage) => Promise<StepReply>;
  /** Those of before version 16 of the data. */
  readonly files: Pick<CursorStore, 'load'>;
  /** Nothing is waited for any more. */
  readonly isEnding: () => boolean;
}

/** The cursor is not the one that the step follows. */
export class CursorMoved extends Error {}

interface Kept {
  readonly cursor: EventCursor;
  readonly revision: number;
}

export class CursorRows implements CursorKeeper {
  readonly #parts: CursorRowsParts;
  readonly #kept = new Map<string, Kept>();

  constructor(parts: CursorRowsParts) {
    this.#parts = parts;
  }

  /** @throws InvariantError for a damaged file, Error for one that cannot be read, CursorMoved while the node ends. */
  async load(chainId: ChainId, event: VaultEventKind): Promise<EventCursor | null> {
    const name = `${chainId}/${event}`;
    let kept: Kept | null = null;
    for (let from: number | null = 0; from !== null; ) {
      const page = await this.#page(chainId, event, from);
      if (page === null) break;
      // Nothing but the watch that is opened here moves the cursor; a step of an earlier thread begins the reading anew.
      if (kept !== null && kept.revision !== page.revision) {
        kept = null;
        from = 0;
        continue;
      }
      const before: EventCursor = kept?.cursor ?? page.cursor;
      const cursor: EventCursor = {
        ...page.cursor,
        recent: [...before.recent, ...page.recent],
        missing: [...before.missing, ...page.missing],
      };
      kept = { cursor, revision: page.revision };
      from = page.next;
    }
    if (kept === null) return this.#fromFile(chainId, event);
    this.#kept.set(name, kept);
    return kept.cursor;
  }

  async #page(chainId: ChainId, event: VaultEventKind, from: number): Promise<CursorPage | null> {
    for (;;) {
      const page = await this.#parts.page(chainId, event, from);
      if (page !== undefined) return page;
      await this.#pause();
    }
  }

  /** The file of an earlier version becomes the cursor; it stays where it is, and is not read again. */
  async #fromFile(chainId: ChainId, event: VaultEventKind): Promise<EventCursor | null> {
    const file = await this.#parts.files.load(chainId, event);
    if (file === null) return null;
    const cursor = bounded(file);
    return this.save(chainId, event, { kind: 'begin', cursor });
  }

  async save(chainId: ChainId, event: VaultEventKind, step: CursorStep): Promise<EventCursor> {
    const name = `${chainId}/${event}`;
    const { cursor, revision } = this.#kept.get(name) ?? { cursor: freshCursor(''), revision: 0 };
    for (;;) {
      const reply = await this.#parts.step({ chainId, event, revision, step });
      if (reply === null) {
        await this.#pause();
        continue;
      }
      if (reply.result === 'moved') throw new CursorMoved(`${name} is not at revision ${revision}`);
      const next = stepped(cursor, step.kind === 'advance' ? { ...step, until: reply.until } : step);
      this.#kept.set(name, { cursor: next, revision: revision + 1 });
      return next;
    }
  }

  async #pause(): Promise<void> {
    if (this.#parts.isEnding()) throw new CursorMoved('the thread ends');
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/**
 * A cursor as one step has room for: the older events go, with the anchors before them, as they do beyond any bound. One with more missing
 * events than that is read from the first block again: its events are duplicates, and a stop stays.
 */
function bounded(cursor: EventCursor): EventCursor {
  const { recent, missing, anchors, vault, stopped } = cursor;
  if (missing.length > STEP_EVENTS_MAX) return { ...freshCursor(vault), stopped };
  const room = STEP_EVENTS_MAX - missing.length;
  const sorted = [...recent].sort((a, b) => a.block - b.block);
  const oldest = sorted[sorted.length - room - 1]?.block;
  if (oldest === undefined) return cursor;
  const last = anchors.slice(-1);
  const kept = anchors.filter(({ number }) => number >= oldest);
  const from = kept.length > 0 ? kept : last;
  const behind = from[0]?.number ?? -1;
  return { ...cursor, anchors: from, recent: sorted.filter(({ block }) => block > behind) };
}
