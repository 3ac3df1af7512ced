/**
 * How far one kind of events of a vault is processed, and what was booked of it that a reorganisation must show again; and the steps that
 * lead from one such cursor to the next. Pure.
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
 *   (1) Clearing has booked every event in blocks below `nextBlock` and flushed it, before the cursor passes them. A lost or
 *       older cursor costs time: events are read again and have been booked.
 *   (2) Every booked event is in `recent` or in `missing`, or is not behind the oldest anchor. The bound of `recent` removes anchors as well.
 *
 * Of an EVM chain a cursor is rows of the journal (chain-cursors.ts), of a simulated one a file beside its chain (chain/event-cursor.ts).
 */
export const ANCHORS_MAX = 256;
export const RECENT_MAX = 20_000;
/** Events in one step: what a record of the journal has room for. */
export const STEP_EVENTS_MAX = 500;
/** Processed ranges in one step. */
export const STEP_RANGES_MAX = 256;

/** A block of a chain. */
export interface Anchor {
  readonly number: number;
  /** 64 hex. */
  readonly hash: string;
}

/** A booked event at its last known place. */
export interface RecentEvent {
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

/** What a cursor goes on by. */
export type CursorStep =
  /** A cursor that was not kept before, or one of another vault. Its events and anchors are bounded as those of any step. */
  | { readonly kind: 'begin'; readonly cursor: EventCursor }
  /** Ranges were processed one behind the other; the last one had these events, those before none. */
  | {
      readonly kind: 'advance';
      /** The last blocks of the ranges. */
      readonly ends: readonly Anchor[];
      readonly booked: readonly RecentEvent[];
      /** Of settlements: until when what is missing may come again, seconds; 0 of other events. */
      readonly until: number;
    }
  /** Events of processed blocks that were booked late (CHN-04). */
  | { readonly kind: 'join'; readonly late: readonly RecentEvent[] }
  /** The chain is read again behind a block. */
  | { readonly kind: 'rewind'; readonly to: Anchor }
  | { readonly kind: 'stop'; readonly stopped: Stopped }
  /** Before a resumption: these events behind the block are expected no longer. */
  | { readonly kind: 'forget'; readonly behind: number; readonly events: readonly string[] }
  /** The end of a stop: the chain is read again behind a block. */
  | { readonly kind: 'resume'; readonly same: Anchor };

/** The cursor behind a step. */
export function stepped(cursor: EventCursor, step: CursorStep): EventCursor {
  switch (step.kind) {
    case 'begin':
      return step.cursor;
    case 'advance':
      return behindRanges(cursor, step);
    case 'join': {
      const found = new Set(step.late.map(({ what }) => what));
      return { ...joined(cursor, step.late), missing: cursor.missing.filter(({ what }) => !found.has(what)) };
    }
    case 'rewind':
      return rewound(cursor, step.to);
    case 'stop':
      return { ...cursor, stopped: step.stopped };
    case 'forget': {
      const gone = new Set(step.events);
      return {
        ...cursor,
        recent: cursor.recent.filter(({ block, what }) => block <= step.behind || !gone.has(what)),
        missing: cursor.missing.filter(({ what }) => !gone.has(what)),
      };
    }
    case 'resume':
      return { ...rewound(cursor, step.same), stopped: null };
  }
}

function behindRanges(
  cursor: EventCursor,
  { ends, booked, until }: Extract<CursorStep, { readonly kind: 'advance' }>,
): EventCursor {
  const [last] = ends.slice(-1);
  if (last === undefined) return cursor;
  const empty = ends.slice(0, -1).reduce((before, end) => advanced(before, end, []), cursor);
  const next = advanced(empty, last, booked);
  if (cursor.missing.length === 0) return next;
  const found = new Set(booked.map(({ what }) => what));
  const missing = cursor.missing
    .filter(({ what }) => !found.has(what))
    .map((event) => (event.until === 0 ? { what: event.what, until } : event));
  return { ...next, missing };
}

/** The cursor behind a processed range. @param booked in the order of the chain. */
function advanced(cursor: EventCursor, end: Anchor, booked: readonly RecentEvent[]): EventCursor {
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
function joined(cursor: EventCursor, late: readonly RecentEvent[]): EventCursor {
  const from = cursor.anchors[0]?.number ?? -1;
  const known = new Set(cursor.recent.map(({ block, what }) => `${block}/${what}`));
  const added = late.filter(({ block, what }) => {
    return block > from && block < cursor.nextBlock && !known.has(`${block}/${what}`);
  });
  if (added.length === 0) return cursor;
  return { ...cursor, recent: [...cursor.recent, ...added].sort((a, b) => a.block - b.block) };
}

/** The cursor at a block from which the chain is read again. What was booked behind it has to be shown again. */
function rewound(cursor: EventCursor, { number, hash }: Anchor): EventCursor {
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

/** Beyond the bound every second of the older half goes. */
function thinned(anchors: readonly Anchor[]): readonly Anchor[] {
  if (anchors.length <= ANCHORS_MAX) return anchors;
  return anchors.filter((_, index) => index >= ANCHORS_MAX / 2 || index % 2 === 0);
}
