/**
 * The trades of a user from a rank on, found by counting: each run has the number of sides of its list that are older than it, so
 * how many sides are newer than an instant is one look into each list, and the instant of a rank is searched for by
 * halving. A page of a million trades back so costs what a page costs.
 *
 *   sides of (user, market), oldest first   │ run: 0 older │ run: 256 older │ run: 512 older │ …
 *
 * That needs lists with runs that follow one another, as they do: match times of a market rise with trade ids. Where they do
 * not, the runs are marked (UNRANKED), or the last of them does not add up to the count of its list; such a list is read from
 * its beginning instead (history.ts).
 */
import type { UserId } from '../core/ids.ts';
import type { TimestampNs } from '../core/units.ts';
import type { Entry, StorageReader } from './environment.ts';
import { endOf, keyWriter, TABLE } from './key-layout.ts';
import { decodeTradeRun, type Listed, leastOf, TRADE_RUNS, type TradeEntry, type TradeRun } from './runs.ts';

/** What is passed over one by one costs less than another halving. */
const NEAR = 512;
const RUNS_PER_STEP = 2;

/** A list of a user and a market, and how many sides it has. */
interface CountedList {
  readonly marketIndex: number;
  readonly count: number;
}

/** Sides of trades, newest first, from the one of that rank on. */
interface RankedTrades {
  readonly rank: number;
  readonly entries: Generator<Listed<TradeEntry>, void, undefined>;
}

/** Runs of a list do not follow one another. */
export class RunsOverlap extends Error {}

/**
 * From `skip` on, or from a little before it. @param lists those of one user with a count above 0.
 *
 * @throws RunsOverlap
 */
export function tradesFrom(
  reader: StorageReader,
  user: UserId,
  lists: readonly CountedList[],
  skip: number,
): RankedTrades {
  const own = lists.map((list) => new TradeList(reader, user, list));
  const newerThan = (timeNs: bigint): number => own.reduce((sum, list) => sum + list.newerThan(timeNs), 0);
  let low = 0n;
  let high = 0n;
  for (const { newestNs } of own) if (newestNs > high) high = newestNs;
  let rank = 0;
  while (skip - rank > NEAR && high - low > 1n) {
    const middle = (low + high) >> 1n;
    const newer = newerThan(middle);
    if (newer > skip) low = middle;
    else [high, rank] = [middle, newer];
  }
  return { rank, entries: merged(own.map((list) => list.upTo(high))) };
}

class TradeList {
  readonly #reader: StorageReader;
  readonly #user: UserId;
  readonly #list: CountedList;
  /** Match time of the newest side. */
  readonly newestNs: bigint;

  constructor(reader: StorageReader, user: UserId, list: CountedList) {
    this.#reader = reader;
    this.#user = user;
    this.#list = list;
    const [newest] = this.#reader.range({ ...this.#bounds(), newestFirst: true, limit: 1 });
    const run = newest === undefined ? null : decodeTradeRun(newest);
    // A list that overlaps somewhere has more sides than its ranked runs add up to.
    if (run === null || run.older + run.items.length !== list.count) throw new RunsOverlap();
    this.newestNs = run.items[0]?.matchedNs ?? 0n;
  }

  /** How many sides were matched after that instant. */
  newerThan(timeNs: bigint): number {
    const run = this.#straddling(timeNs);
    if (run === null) return 0;
    return this.#list.count - run.older - run.items.filter(({ matchedNs }) => matchedNs <= timeNs).length;
  }

  /** Sides that were matched at that instant or before, newest first. */
  *upTo(timeNs: bigint): Generator<Listed<TradeEntry>, void, undefined> {
    const { marketIndex } = this.#list;
    for (const item of this.#straddling(timeNs)?.items ?? []) if (item.matchedNs <= timeNs) yield { marketIndex, item };
    const { from } = this.#bounds();
    const range = { from, to: this.#from(timeNs + 1n), newestFirst: true, perStep: RUNS_PER_STEP };
    for (const entry of this.#reader.entries(range)) {
      for (const item of decodeTradeRun(entry).items) yield { marketIndex, item };
    }
  }

  /** The first run with a newest side matched after that instant: it alone may reach over it. */
  #straddling(timeNs: bigint): TradeRun | null {
    const [entry]: readonly Entry[] = this.#reader.range({
      ...this.#bounds(),
      from: this.#from(timeNs + 1n),
      limit: 1,
    });
    return entry === undefined ? null : decodeTradeRun(entry);
  }

  /** The least key of a run with that match time. */
  #from(timeNs: bigint): Uint8Array {
    const name = { user: this.#user, marketIndex: this.#list.marketIndex };
    return keyWriter().run(TABLE.tradeRun, name, (to) => to.u64(timeNs as TimestampNs));
  }

  #bounds(): { readonly from: Uint8Array; readonly to: Uint8Array } {
    const from = keyWriter().ofUser(TABLE.tradeRun, this.#user, this.#list.marketIndex);
    return { from, to: endOf(from) };
  }
}

/** Newest first; of equals the one of the higher market index first, as `newestFirst` of runs.ts has it. */
function* merged(
  lists: readonly Generator<Listed<TradeEntry>, void, undefined>[],
): Generator<Listed<TradeEntry>, void, undefined> {
  const heads = lists.flatMap((list) => {
    const first = list.next();
    return first.done === true ? [] : [{ list, listed: first.value }];
  });
  for (;;) {
    const head = leastOf(heads, (a, b) => compareListed(a.listed, b.listed));
    if (head === undefined) return;
    yield head.listed;
    const next = head.list.next();
    if (next.done === true) heads.splice(heads.indexOf(head), 1);
    else head.listed = next.value;
  }
}

function compareListed(a: Listed<TradeEntry>, b: Listed<TradeEntry>): number {
  return TRADE_RUNS.compareRanks(a.item, b.item) || b.marketIndex - a.marketIndex || TRADE_RUNS.compare(a.item, b.item);
}
