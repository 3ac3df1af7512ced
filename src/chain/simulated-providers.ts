/**
 * The RPC providers of a simulated chain with their faults (operator-api.md 8), and what a majority of the configured ones
 * shows of the chain (DEP-07, AMB-84). The node reads a simulated chain through this alone.
 *
 *   unreachable    no answer: it disagrees
 *   lagging        the chain as it was `lagBlocks` blocks ago
 *   omit_logs      heads, hashes and counters, and no log
 *   forge_amount   every log with another amount, another one for each provider: two of them do not agree
 */
import type { UserId } from '../core/ids.ts';
import { SECOND_NS } from '../core/units.ts';
import { type ChainLog, SETTLED_TOPIC, U256_MAX, WITHDREW_TOPIC } from './chain-events.ts';
import { majorityHash, majorityHead } from './range-verdict.ts';
import { NO_FAULT, type ProviderFault, type ProviderView, type SimulatedChain } from './simulated-chain.ts';

const WORD_DIGITS = 64;

export class ChainSight {
  /** One for each configured provider. */
  readonly views: readonly (ProviderView | null)[];
  /** The highest block that a majority has reached; −1 when too few answer. */
  readonly head: number;
  readonly #chain: SimulatedChain;

  /** @param providers the configured number. */
  constructor(chain: SimulatedChain, providers: number) {
    this.#chain = chain;
    this.views = Array.from({ length: providers }, (_, index) => viewOf(chain, index));
    this.head = majorityHead(this.views.map((view) => view?.head ?? null));
  }

  /** The last block with so many confirmations; the block itself is the first. */
  confirmed(confirmations: number): number {
    return this.head - Math.max(confirmations, 1) + 1;
  }

  /** Time of the last block with so many confirmations, seconds; 0 when too few providers answer. */
  confirmedTime(confirmations: number): number {
    return this.head < 0 ? 0 : Number(this.#chain.timeOf(this.confirmed(confirmations)) / SECOND_NS);
  }

  /** The vault's counter of a user's withdrawals; null without a majority. */
  withdrawalCount(user: UserId): number | null {
    return this.#counterOf(({ topics }) => topics[0] === WITHDREW_TOPIC && topics[1] === user);
  }

  /** The same of the settlements of a sub-account. */
  settlementCount(user: UserId, subAccount: number): number | null {
    const account = subAccount.toString(16).padStart(WORD_DIGITS, '0');
    return this.#counterOf(({ topics }) => topics[0] === SETTLED_TOPIC && topics[1] === user && topics[2] === account);
  }

  #counterOf(counts: (log: ChainLog) => boolean): number | null {
    const logs = this.#chain.logsFrom(0).filter(counts);
    // A counter is read from the vault, not from logs: one that omits logs returns it too.
    const count = ({ head }: ProviderView): string => `${logs.filter(({ blockNumber }) => blockNumber <= head).length}`;
    const agreed = majorityHash(this.views.map((view) => (view === null ? null : count(view))));
    return agreed === null ? null : Number(agreed);
  }
}

export function faultOf(chain: SimulatedChain, provider: number): ProviderFault {
  return chain.providers[provider] ?? NO_FAULT;
}

function viewOf(chain: SimulatedChain, provider: number): ProviderView | null {
  const { fault, lagBlocks } = faultOf(chain, provider);
  switch (fault) {
    case 'none':
      return chain;
    case 'unreachable':
      return null;
    case 'lagging': {
      const head = Math.max(chain.head - lagBlocks, 0);
      return {
        head,
        logsFrom: (block) => chain.logsFrom(block).filter(({ blockNumber }) => blockNumber <= head),
        hashOf: (block) => (block <= head ? chain.hashOf(block) : null),
      };
    }
    case 'omit_logs':
      return { head: chain.head, logsFrom: () => [], hashOf: (block) => chain.hashOf(block) };
    case 'forge_amount':
      return {
        head: chain.head,
        logsFrom: (block) => chain.logsFrom(block).map((log) => forged(log, provider)),
        hashOf: (block) => chain.hashOf(block),
      };
  }
}

/** The amount is the first word of a deposit, and behind a token in every other event (wire.md 12.2). */
function forged(log: ChainLog, provider: number): ChainLog {
  const at = log.topics.length === 4 && log.data.length !== 6 * WORD_DIGITS ? 0 : WORD_DIGITS;
  const amount = BigInt(`0x${log.data.slice(at, at + WORD_DIGITS)}`);
  const other = ((amount + BigInt(provider) + 1n) & U256_MAX).toString(16).padStart(WORD_DIGITS, '0');
  return { ...log, data: log.data.slice(0, at) + other + log.data.slice(at + WORD_DIGITS) };
}
