/**
 * When blocks of a chain are read again, because logs may have come after their blocks (CHN-04): while the vault holds other units than
 * the ledger has at the same block, or a counter of the vault is ahead of what is booked.
 *
 *   a difference ─▶ read again after 1 s, 2 s, 4 s … 128 s, from the last block at which there was none ─▶ booked: no difference
 *        └─ another difference begins anew                     └─ after 8 times: units beyond the ledger are listed as unclaimed
 *                                                                 and counted out; missing ones stay a deviation
 *
 * Anybody can change a difference by a transfer to the vault, for the fee of the chain: changes within ten minutes go on with the pause they
 * have reached, so that a chain is read again at most 8 times for each, and every 128 s however often it changes.
 *
 * Pure: what was listed is lost with a start, and is found again by 8 reads.
 */
import type { ChainId } from '../core/ids.ts';
import type { Units } from './vault-holdings.ts';

/** Of one difference, or one counter. */
export const READS_MAX = 8;
const PAUSE_MS_MIN = 1_000;
/** Blocks that are read again at most, without an operator. */
export const BLOCKS_AGAIN = 16_384;
/** Counters that are followed of one chain. */
const COUNTERS_MAX = 1_024;
const QUIET_MS = 600_000;

/** The pause before a read. @param reads how many there were. */
export function pauseMs(reads: number): number {
  return PAUSE_MS_MIN * 2 ** Math.min(reads, READS_MAX - 1);
}

interface Tries {
  reads: number;
  nextMs: number;
}

interface Late extends Tries {
  /** The last block without a difference that is not listed; −1: not known. */
  sameAt: number;
  /** The difference that the reads are for. */
  difference: string;
  changedMs: number;
  /** Reads since it was quiet: they make the pause. */
  recent: number;
  listed: Units;
  readonly counters: Map<string, Tries>;
}

export class LateReads {
  readonly #chains = new Map<ChainId, Late>();

  /** Units that no event explains, by token; they are more than 0. */
  listed(chainId: ChainId): Units {
    return this.#chains.get(chainId)?.listed ?? new Map();
  }

  /**
   * Takes a comparison of vault and ledger.
   *
   * @param block at which both were. @param differences by token, the vault's units less the ledger's; none is 0.
   * @returns the block from which the chain is read again now; null: it is not.
   */
  compared(chainId: ChainId, block: number, differences: Units, nowMs: number): number | null {
    const late = this.#of(chainId);
    const listed = [...late.listed].map(
      ([token, units]) => [token, smallerOf(units, differences.get(token) ?? 0n)] as const,
    );
    late.listed = new Map(listed.filter(([, units]) => units > 0n));
    const isExplained = [...differences].every(([token, units]) => units === (late.listed.get(token) ?? 0n));
    if (isExplained) {
      late.sameAt = block;
      late.difference = '';
      return null;
    }
    const difference = textOf(differences);
    if (difference !== late.difference) {
      if (nowMs - late.changedMs >= QUIET_MS) {
        late.recent = 0;
        late.nextMs = 0;
      }
      late.difference = difference;
      late.changedMs = nowMs;
      late.reads = 0;
      late.nextMs = Math.max(late.nextMs, nowMs + PAUSE_MS_MIN);
    }
    if (nowMs < late.nextMs) return null;
    // mutant: late-reads-end
    if (late.reads >= READS_MAX) {
      late.listed = new Map([...differences].filter(([, units]) => units > 0n));
      return null;
    }
    late.reads += 1;
    late.recent += 1;
    // mutant: late-reads-pause
    late.nextMs = nowMs + pauseMs(late.recent);
    return Math.max(late.sameAt + 1, block - BLOCKS_AGAIN + 1, 1);
  }

  /**
   * A counter of the vault is ahead of what is booked.
   *
   * @param owner whose counter, and which. @returns whether the chain is read again now; `over` after the last read.
   */
  isAhead(chainId: ChainId, owner: string, nowMs: number): boolean | 'over' {
    const { counters } = this.#of(chainId);
    const tries = counters.get(owner) ?? { reads: 0, nextMs: nowMs };
    counters.set(owner, tries);
    if (counters.size > COUNTERS_MAX) for (const key of [...counters.keys()].slice(0, 1)) counters.delete(key);
    if (nowMs < tries.nextMs) return false;
    if (tries.reads >= READS_MAX) return 'over';
    tries.reads += 1;
    tries.nextMs = nowMs + pauseMs(tries.reads);
    return true;
  }

  #of(chainId: ChainId): Late {
    const late = this.#chains.get(chainId) ?? {
      reads: 0,
      nextMs: 0,
      sameAt: -1,
      difference: '',
      changedMs: Number.NEGATIVE_INFINITY,
      recent: 0,
      listed: new Map(),
      counters: new Map(),
    };
    this.#chains.set(chainId, late);
    return late;
  }
}

function smallerOf(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function textOf(units: Units): string {
  return [...units]
    .map(([token, difference]) => `${token}/${difference}`)
    .sort()
    .join();
}
