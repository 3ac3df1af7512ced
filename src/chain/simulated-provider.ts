/**
 * The RPC providers of a simulated chain with their faults (operator-api.md 8): what the node sees of the chain, through the same
 * interface as that of any other kind.
 *
 *   unreachable    no answer: it disagrees
 *   lagging        the chain as it was `lagBlocks` blocks ago
 *   omit_logs      heads, hashes, counters and balances, and no log
 *   forge_amount   every log with another amount, another one for each provider: two of them do not agree
 */
import type { Anchor } from '../clearing/funds/chain-cursor.ts';
import { SECOND_NS } from '../core/units.ts';
import { type ChainLog, decodeVaultEvent, SETTLED_TOPIC, U256_MAX, WITHDREW_TOPIC } from './chain-events.ts';
import type { ChainProvider, RangeReply, Sight } from './chain-provider.ts';
import type { LogFilter } from './evm-answers.ts';
import { majorityHead } from './range-verdict.ts';
import { NO_FAULT, type ProviderFault, type ProviderView, type SimulatedChain } from './simulated-chain.ts';

const WORD_DIGITS = 64;

export class SimulatedProvider implements ChainProvider {
  readonly span: number = Number.MAX_SAFE_INTEGER;
  readonly bombs: number = 0;
  readonly #chain: SimulatedChain;
  readonly #index: number;

  constructor(chain: SimulatedChain, index: number) {
    this.#chain = chain;
    this.#index = index;
  }

  async look(block: number): Promise<Sight | null> {
    const view = viewOf(this.#chain, this.#index);
    if (view === null) return null;
    const hash = view.hashOf(block);
    return { head: view.head, hash, time: hash === null ? 0 : this.#timeOf(block) };
  }

  async range({ event, vault, fromBlock, toBlock, user }: LogFilter, anchor: Anchor): Promise<RangeReply> {
    const view = this.#at(anchor);
    const endHash = view?.hashOf(toBlock) ?? null;
    if (view === null || endHash === null) return null;
    const logs = view.logsFrom(fromBlock).filter((log) => {
      if (log.blockNumber > toBlock || log.address !== vault) return false;
      const found = decodeVaultEvent(event, log);
      return found !== null && (user === null || found.user === user);
    });
    return { endHash, endTime: this.#timeOf(toBlock), logs };
  }

  async balances(vault: string, tokens: readonly string[], at: Anchor): Promise<readonly bigint[] | null> {
    if (this.#at(at) === null) return null;
    const holder = vault.padEnd(WORD_DIGITS, '0');
    return tokens.map((token) => this.#chain.balanceAt(token, holder, at.number));
  }

  async withdrawalCount(vault: string, user: string, at: Anchor): Promise<number | null> {
    return this.#count(vault, at, ({ topics }) => topics[0] === WITHDREW_TOPIC && topics[1] === user);
  }

  async settlementCount(vault: string, user: string, subAccount: number, at: Anchor): Promise<number | null> {
    const account = subAccount.toString(16).padStart(WORD_DIGITS, '0');
    return this.#count(vault, at, ({ topics }) => {
      return topics[0] === SETTLED_TOPIC && topics[1] === user && topics[2] === account;
    });
  }

  async escapeMode(): Promise<boolean | null> {
    return viewOf(this.#chain, this.#index) === null ? null : this.#chain.escape.isOpen;
  }

  /** A counter is read from the vault, not from logs: a provider that omits logs returns it too. */
  #count(vault: string, at: Anchor, counts: (log: ChainLog) => boolean): number | null {
    if (this.#at(at) === null) return null;
    const logs = this.#chain.logsFrom(0).filter((log) => log.address === vault && log.blockNumber <= at.number);
    return logs.filter(counts).length;
  }

  /** The provider, when it has this block. */
  #at({ number, hash }: Anchor): ProviderView | null {
    const view = viewOf(this.#chain, this.#index);
    return view?.hashOf(number) === hash ? view : null;
  }

  #timeOf(block: number): number {
    return Number(this.#chain.timeOf(block) / SECOND_NS);
  }
}

/** The highest block that a majority of the configured providers has reached; −1 when too few answer. */
export function headOf(chain: SimulatedChain, providers: number): number {
  return majorityHead(Array.from({ length: providers }, (_, index) => viewOf(chain, index)?.head ?? null));
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
