/**
 * Protection groups as the journal alone shows them: which orders are members, and that none of them trades as maker after a
 * trip at which it was one (MMP-03).
 */
import assert from 'node:assert/strict';
import type { ClearingInput, MatchedInput, QuoteSetAppliedInput } from '../../src/clearing/inputs.ts';
import { protectionKey } from '../../src/clearing/protections.ts';
import { quoteSetKey } from '../../src/clearing/quote-set-slots.ts';
import { QUOTE_CHANGE } from '../../src/core/order-terms.ts';

/** In which group an order is, and since which event of the market. */
interface Membership {
  group: string;
  since: number;
}

export class ProtectionWatch {
  /** By `market order`; entries of a set have one in common. */
  readonly #members = new Map<string, Membership>();
  /** By market, user and slot of the set. */
  readonly #sets = new Map<string, Membership>();
  /** Sequence of the last trip, by group. */
  readonly #trips = new Map<string, number>();

  follow(input: ClearingInput): void {
    switch (input.kind) {
      case 'created': {
        const { user, protectionGroup: slot, orderSequence: since } = input.order;
        const group = protectionKey({ user, marketIndex: input.marketIndex, slot });
        if (slot !== 0) this.#members.set(`${input.marketIndex} ${since}`, { group, since });
        break;
      }
      case 'quoteSetApplied':
        this.#applied(input);
        break;
      case 'protectionTriggered':
        this.#trips.set(protectionKey(input), input.sequence);
        break;
      case 'matched': {
        const maker = this.#members.get(`${input.marketIndex} ${input.makerOrder}`);
        const trip = maker === undefined ? 0 : (this.#trips.get(maker.group) ?? 0);
        assert.ok(
          maker === undefined || maker.since > trip,
          `order ${input.makerOrder} trades at ${input.sequence}, and was a member at trip ${trip} of ${maker?.group}`,
        );
        break;
      }
      default:
    }
  }

  /** Whether the maker of a match is in a group. */
  isMember({ marketIndex, makerOrder }: MatchedInput): boolean {
    return (this.#members.get(`${marketIndex} ${makerOrder}`)?.group ?? '') !== '';
  }

  #applied({
    marketIndex,
    user,
    slot,
    protectionGroup,
    sequence: since,
    changes,
    termsChanged,
  }: QuoteSetAppliedInput): void {
    const key = `${marketIndex} ${quoteSetKey(user, slot)}`;
    const group = protectionGroup === 0 ? '' : protectionKey({ user, marketIndex, slot: protectionGroup });
    const known = this.#sets.get(key);
    const set = known ?? { group, since };
    this.#sets.set(key, set);
    const isCreating = changes.some(({ change }) => change === QUOTE_CHANGE.created);
    // A set that only takes away keeps its group.
    if (isCreating || termsChanged) Object.assign(set, { group, since });
    for (const { change, order } of changes)
      if (change === QUOTE_CHANGE.created) this.#members.set(`${marketIndex} ${order}`, set);
  }
}
