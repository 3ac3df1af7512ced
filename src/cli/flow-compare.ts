/** Compares the node's ten best levels with the recorded ones, and formats the difference as a table. */
import type { Depth, DepthLevel } from '../client/replies.ts';
import { rawOf } from '../client/signed-actions.ts';
import { formatScaled } from '../core/decimal.ts';
import { BOOK_LEVELS, type FlowBookRow, type FlowLevel, PRICE_DECIMALS, QUANTITY_DECIMALS } from './flow-format.ts';

/** The node's book or its replies differ from the recording; the message is for people. */
export class ReplayDifference extends Error {
  override readonly name = 'ReplayDifference';
}

/** The best ten levels of a node's depth, in the flow's raw units. */
export function rowOf(depth: Depth, afterSeq: number): FlowBookRow {
  const levels = (side: readonly DepthLevel[]): readonly FlowLevel[] =>
    side.slice(0, BOOK_LEVELS).map(({ price, quantity }) => ({
      price: rawOf(price, PRICE_DECIMALS, 'price'),
      quantity: rawOf(quantity, QUANTITY_DECIMALS, 'quantity'),
    }));
  return { afterSeq, asks: levels(depth.asks), bids: levels(depth.bids) };
}

/** @returns null for equal books, else a table of the levels that differ. */
export function differenceOf(expected: FlowBookRow, actual: FlowBookRow): string | null {
  const lines: string[] = [];
  for (const side of ['asks', 'bids'] as const) {
    for (let index = 0; index < BOOK_LEVELS; index += 1) {
      const wanted = levelText(expected[side][index]);
      const found = levelText(actual[side][index]);
      if (wanted !== found) lines.push(`  ${side.slice(0, 3)} ${String(index + 1).padStart(2)}  ${wanted}  ${found}`);
    }
  }
  if (lines.length === 0) return null;
  const head = `  level   ${'recorded'.padStart(22)}  ${'node'.padStart(22)}`;
  return [`after event ${expected.afterSeq} the node shows another book:`, head, ...lines].join('\n');
}

function levelText(level: FlowLevel | undefined): string {
  const text =
    level === undefined ? 'none' : `${level.quantity} at ${formatScaled(BigInt(level.price), PRICE_DECIMALS)}`;
  return text.padStart(22);
}
