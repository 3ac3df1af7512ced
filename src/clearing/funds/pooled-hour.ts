/**
 * What was pooled of a token in the last hour (DEP-13, AMB-73): a credit counts while it is younger than 3600 s.
 *
 * Exact and bounded: CREDITS_MAX credits of different times are kept as they are. When there are more, those of the same
 * 4 seconds become one with the latest of their times; 901 such cells span an hour. So a credit counts at most 4 s longer
 * than an hour, never shorter: the cap holds in any case.
 */
import { add18 } from '../../core/arithmetic.ts';
import type { AssetId } from '../../core/ids.ts';
import { type Amount18, HOUR_NS, SECOND_NS, type TimestampNs } from '../../core/units.ts';
import type { PooledCredit, PooledCreditsRow } from '../rows.ts';

export const CREDITS_MAX = 1_024;
const CELL_NS = 4n * SECOND_NS;

export class PooledHour {
  readonly asset: AssetId;
  /** Oldest first; those before `#young` have left the hour. */
  #credits: PooledCredit[];
  /** The result of the last look; derived, so not part of the state. */
  #young = 0;
  #sum: bigint;

  constructor({ asset, credits }: PooledCreditsRow) {
    this.asset = asset;
    this.#credits = [...credits];
    this.#sum = credits.reduce((sum, { amount }) => sum + amount, 0n);
  }

  get row(): PooledCreditsRow {
    return { asset: this.asset, credits: [...this.#credits] };
  }

  add(timeNs: TimestampNs, amount: Amount18): void {
    this.pooled(timeNs);
    this.#credits.splice(0, this.#young);
    this.#young = 0;
    this.#sum += amount;
    const last = this.#credits.at(-1);
    if (last?.timeNs === timeNs) this.#credits[this.#credits.length - 1] = joined(last, { timeNs, amount });
    else this.#credits.push({ timeNs, amount });
    if (this.#credits.length > CREDITS_MAX) this.#joinCells();
  }

  /** The sum of what is younger than an hour; time never goes back. */
  pooled(nowNs: TimestampNs): bigint {
    for (let oldest = this.#credits[this.#young]; oldest !== undefined; oldest = this.#credits[this.#young]) {
      // mutant: hour-of-credits
      if (nowNs - oldest.timeNs < HOUR_NS) break;
      this.#sum -= oldest.amount;
      this.#young += 1;
    }
    return this.#sum;
  }

  /** When the sum will be `most` at the latest, without further credits. @param most from 0 on. */
  fallsTo(most: bigint, nowNs: TimestampNs): bigint {
    let sum = this.pooled(nowNs);
    let whenNs: bigint = nowNs;
    for (let at = this.#young; sum > most; at += 1) {
      const { amount, timeNs } = this.#credits[at] as PooledCredit;
      sum -= amount;
      whenNs = timeNs + HOUR_NS;
    }
    return whenNs;
  }

  #joinCells(): void {
    const cells: PooledCredit[] = [];
    for (const credit of this.#credits) {
      const last = cells.at(-1);
      const isSame = last !== undefined && last.timeNs / CELL_NS === credit.timeNs / CELL_NS;
      if (isSame) cells[cells.length - 1] = joined(last, credit);
      else cells.push(credit);
    }
    this.#credits = cells;
  }
}

/** Two credits as one of the later time. */
function joined(earlier: PooledCredit, { timeNs, amount }: PooledCredit): PooledCredit {
  return { timeNs, amount: add18(earlier.amount, amount) };
}
