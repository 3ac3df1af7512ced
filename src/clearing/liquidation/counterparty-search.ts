/**
 * The search for counterparties in a market with more positions than a step looks at: in slices, between batches, on
 * clearing's thread. It is part of no decision: what it found goes into the step as an input (FoundCounterparties), and
 * the step ranks those accounts by the state as it is then. So a position that changes during the search may be missed
 * until the next one.
 *
 * Rows are searched for one after the other; a row with several such markets is searched in one after the other, until
 * counterparties are found.
 */
import type { TimestampNs } from '../../core/units.ts';
import type { FoundCounterparties } from '../inputs.ts';
import type { BackstopRow } from '../rows.ts';
import type { ClearingState, PositionSlot } from '../state.ts';
import { accountOfRow } from './backstop-capital.ts';
import { type ClosingTarget, type Counterparty, offer } from './counterparties.ts';
import { unsearchedOf } from './deleveraging.ts';

/** Positions of a slice: less than a millisecond. */
const SLICE = 1_024;

interface Search {
  readonly target: ClosingTarget;
  readonly slots: Iterator<PositionSlot>;
  /** Positions that may still be looked at: those that come and go at the end of the set lengthen no search. */
  left: number;
  readonly first: Counterparty[];
}

export class CounterpartySearch {
  /** The row that is searched for. */
  #index = -1;
  #found: FoundCounterparties[] = [];
  #search: Search | null = null;

  get isActive(): boolean {
    return this.#search !== null;
  }

  /**
   * What a row needs to be deleveraged beside the state; begins the search for it.
   *
   * @returns empty where the step looks at all by itself; null while counterparties of this row, or of another one, are searched.
   */
  resultFor(state: ClearingState, row: BackstopRow, nowNs: TimestampNs): readonly FoundCounterparties[] | null {
    const account = accountOfRow(state, row);
    if (this.#search !== null || account === undefined) return account === undefined ? [] : null;
    if (this.#index !== row.index) this.#found = [];
    this.#index = row.index;
    const target = unsearchedOf(state, account, nowNs, this.#found);
    if (target === null) {
      const found = this.#found;
      this.#found = [];
      return found;
    }
    const { open } = target.position.risk;
    this.#search = { target, slots: open.values(), left: 2 * open.size, first: [] };
    return null;
  }

  /** One slice. */
  advance(state: ClearingState, nowNs: TimestampNs): void {
    const search = this.#search;
    if (search === null) return;
    for (let looked = 0; looked < SLICE; looked += 1) {
      const next = search.slots.next();
      if (next.done === true || search.left === 0) {
        this.#end(search);
        return;
      }
      search.left -= 1;
      offer(state, search.target, { slot: next.value, first: search.first }, nowNs);
    }
  }

  #end({ target, first }: Search): void {
    const accounts = first.map(({ slot: { user, subAccount } }) => ({ user, subAccount }));
    this.#found.push({ marketIndex: target.market.definition.marketIndex, accounts });
    this.#search = null;
  }
}
