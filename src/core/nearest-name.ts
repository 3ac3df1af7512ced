/**
 * The known name that a misspelt one was most likely meant to be: for settings, variables and commands.
 *
 * Distance is the number of single characters inserted, removed, replaced or swapped with their neighbour (Damerau and
 * Levenshtein, without overlapping swaps); case and `_` count nothing, so `MARKET_SHARDS` is `marketShards`.
 */

/** Longer names are compared by their beginnings: the table of distances has the square of this many cells. */
const COMPARED_LENGTH_MAX = 64;

/** @returns null when no known name is closer than a third of the length of the given one. */
export function nearestName(given: string, known: Iterable<string>): string | null {
  const wanted = plain(given);
  const distanceMax = Math.max(1, Math.floor(wanted.length / 3));
  let nearest: string | null = null;
  let smallest = distanceMax + 1;
  for (const name of known) {
    const distance = distanceOf(wanted, plain(name));
    if (distance >= smallest) continue;
    nearest = name;
    smallest = distance;
  }
  return nearest;
}

function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase().slice(0, COMPARED_LENGTH_MAX);
}

function distanceOf(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1);
      const removed = (previous[column] ?? 0) + 1;
      const inserted = (current[column - 1] ?? 0) + 1;
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swapped = isSwap ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, removed, inserted, swapped));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
