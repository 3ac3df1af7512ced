/**
 * What a chain has to answer so that a vault on it can be watched: one provider of it, which is not trusted. A kind of chain is a class
 * that implements this (evm-provider.ts, simulated-provider.ts); whether an answer is true is decided by a majority (range-verdict.ts).
 *
 * A call never rejects and ends by itself: no answer is null.
 */
import type { Anchor } from '../clearing/funds/chain-cursor.ts';
import type { LogFilter } from './evm-answers.ts';
import type { RangeAnswer } from './range-verdict.ts';

export interface Sight {
  readonly head: number;
  /** 64 hex, of the given block; null when the provider has no such block. */
  readonly hash: string | null;
  /** Seconds, of the same block; 0 without it. */
  readonly time: number;
}

/** `refused`: the range is longer than the provider's span, or became it by a refusal. */
export type RangeReply = RangeAnswer | 'refused' | null;

export interface ChainProvider {
  /** Blocks that one range may have now. */
  readonly span: number;
  /** Answers beyond their bounds since the start. */
  readonly bombs: number;
  /** The head, and the hash of one block. null: no answer. */
  look(block: number): Promise<Sight | null>;
  /** @param anchor a provider with another hash for it gives no answer. */
  range(filter: LogFilter, anchor: Anchor): Promise<RangeReply>;
  /**
   * `balanceOf(vault)` of each token at a block; null in the place of a token that has no such answer.
   *
   * @param vault 40 hex. @param tokens 64 hex each, right-padded. null: no answer, or another block.
   */
  balances(vault: string, tokens: readonly string[], at: Anchor): Promise<readonly (bigint | null)[] | null>;
  /** The vault's `withdrawalCounts(user)` at a block. @param vault 40 hex. null: no answer, or another block. */
  withdrawalCount(vault: string, user: string, at: Anchor): Promise<number | null>;
  /** The vault's `escapeMode()` at the newest block; false for a vault without an escape hatch. null: no answer. */
  escapeMode(vault: string): Promise<boolean | null>;
  /** The same of `settlementCounts(user, account)`. */
  settlementCount(vault: string, user: string, account: number, at: Anchor): Promise<number | null>;
}
