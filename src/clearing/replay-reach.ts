/**
 * Which orders of the tables the journal behind them may change, known from its inputs before a row is loaded: so a start
 * tells all others while it loads them.
 *
 *   a word of a market, or a verdict, names an order    that order
 *   a match                                             both of its orders, and what waits for its price
 *   anything that happens to a parent                   its children: whoever loads them looks at their parent
 *
 * More than are changed, as a match may be rolled back, and never fewer: that is asserted when all is applied
 * (restoring.ts).
 */
import { unreachable } from '../core/assert.ts';
import { TRIGGER, TRIGGER_STATE } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { type Batch, isOfMarket, type MarketInput, type Matched } from './inputs.ts';
import type { OrderRow } from './rows.ts';

interface MarketReach {
  readonly named: Set<Sequence>;
  /** Of all matches: the lowest and the highest price. */
  lowest: number;
  highest: number;
}

export class ReplayReach {
  readonly #markets = new Map<number, MarketReach>();

  /** A batch that will be applied. */
  add({ inputs, verdicts }: Batch): void {
    for (const { marketIndex, order } of verdicts) this.#of(marketIndex).named.add(order);
    for (const input of inputs) if (isOfMarket(input)) this.#addInput(input);
  }

  /** Whether something of it may change the order, its parent apart. */
  reaches(row: OrderRow): boolean {
    const reach = this.#markets.get(row.marketIndex);
    if (reach === undefined) return false;
    return reach.named.has(row.orderSequence) || mayFire(reach, row);
  }

  #addInput(input: MarketInput): void {
    const reach = this.#of(input.marketIndex);
    switch (input.kind) {
      // What they create is in no table yet.
      case 'created':
      case 'createRefused':
        break;
      case 'replaced':
      case 'ended':
      case 'restored':
      case 'triggered':
      case 'activated':
      case 'covered':
        reach.named.add(input.order);
        break;
      case 'matched':
        addMatch(reach, input);
        break;
      default:
        unreachable(input);
    }
  }

  #of(marketIndex: number): MarketReach {
    const known = this.#markets.get(marketIndex);
    if (known !== undefined) return known;
    const reach: MarketReach = {
      named: new Set(),
      lowest: Number.POSITIVE_INFINITY,
      highest: Number.NEGATIVE_INFINITY,
    };
    this.#markets.set(marketIndex, reach);
    return reach;
  }
}

function addMatch(reach: MarketReach, { makerOrder, takerOrder, price }: Matched): void {
  reach.named.add(makerOrder);
  reach.named.add(takerOrder);
  reach.lowest = Math.min(reach.lowest, price);
  reach.highest = Math.max(reach.highest, price);
}

function mayFire({ lowest, highest }: MarketReach, row: OrderRow): boolean {
  if (row.triggerState !== TRIGGER_STATE.dormant) return false;
  return row.triggerKind === TRIGGER.above ? row.triggerPrice <= highest : row.triggerPrice >= lowest;
}
