/**
 * What a majority of independent providers agrees on (DEP-07, AMB-84): more than half of the *configured* ones, where one
 * that did not answer agrees with none.
 *
 *   heads          ─▶ the highest block that a majority has reached
 *   hash of a block ─▶ the same as before, another one, or no majority
 *   a range        ─▶ its last hash by majority ─▶ every place of a log in it: a majority shows the same log there, or a
 *                     majority shows none, or it is undecided, and then the range ends before it
 *
 * A minority changes none of these, whatever it answers. A majority that agrees on every hash and every log is the chain as
 * far as the node can see; one that agrees on less credits nothing.
 *
 * Pure.
 */
import type { ChainLog } from './chain-events.ts';
import { logKey } from './evm-answers.ts';

export interface RangeAnswer {
  /** 64 hex: of the last block of the range, the same before and after the logs were read. */
  readonly endHash: string;
  /** Seconds, of the same block. */
  readonly endTime: number;
  /** In the order of the chain. */
  readonly logs: readonly ChainLog[];
}

export type RangeVerdict =
  | ({ readonly kind: 'agreed' } & RangeAnswer)
  /** At one place of this block no majority shows the same log, and none shows no log. */
  | { readonly kind: 'undecided'; readonly block: number }
  /** No hash of the last block has a majority. */
  | { readonly kind: 'noMajority' };

export function isMajority(votes: number, configured: number): boolean {
  // mutant: evm-majority
  return votes * 2 > configured;
}

/** The highest block that a majority has reached; −1 when too few answered. @param heads one for each configured provider. */
export function majorityHead(heads: readonly (number | null)[]): number {
  const sorted = heads.map((head) => head ?? -1).sort((a, b) => b - a);
  return sorted[Math.floor(heads.length / 2)] ?? -1;
}

/** @param hashes one for each configured provider. @returns the hash of a majority, or null. */
export function majorityHash(hashes: readonly (string | null)[]): string | null {
  const votes = new Map<string, number>();
  for (const hash of hashes) if (hash !== null) votes.set(hash, (votes.get(hash) ?? 0) + 1);
  for (const [hash, count] of votes) if (isMajority(count, hashes.length)) return hash;
  return null;
}

/** Whether a majority has another hash for this block, the same or different ones. */
export function isReplaced(hash: string, hashes: readonly (string | null)[]): boolean {
  return isMajority(hashes.filter((other) => other !== null && other !== hash).length, hashes.length);
}

/** @param answers one for each configured provider. */
export function rangeVerdict(answers: readonly (RangeAnswer | null)[]): RangeVerdict {
  const end = majorityHash(answers.map(endOf));
  const counted = answers.filter((answer) => answer !== null && endOf(answer) === end) as readonly RangeAnswer[];
  const [first] = counted;
  if (end === null || first === undefined) return { kind: 'noMajority' };
  // A place in a block has one log; providers may show different ones there.
  const places = new Map<
    string,
    { shown: number; readonly logs: Map<string, { readonly log: ChainLog; count: number }> }
  >();
  for (const { logs } of counted) {
    for (const log of logs) {
      const key = `${log.blockNumber}/${log.logIndex}`;
      const place = places.get(key) ?? { shown: 0, logs: new Map() };
      places.set(key, place);
      place.shown += 1;
      const vote = place.logs.get(logKey(log)) ?? { log, count: 0 };
      vote.count += 1;
      place.logs.set(logKey(log), vote);
    }
  }
  const agreed: ChainLog[] = [];
  let undecided: number | null = null;
  for (const { shown, logs } of places.values()) {
    const votes = [...logs.values()];
    const winner = votes.find(({ count }) => isMajority(count, answers.length));
    const block = votes[0]?.log.blockNumber ?? 0;
    if (winner !== undefined) agreed.push(winner.log);
    else if (!isMajority(counted.length - shown, answers.length)) undecided = Math.min(undecided ?? block, block);
  }
  if (undecided !== null) return { kind: 'undecided', block: undecided };
  agreed.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  return { kind: 'agreed', endHash: first.endHash, endTime: first.endTime, logs: agreed };
}

/** Whether no further answer can change the verdict: a majority has answered the same in every part. */
export function isConclusive(answers: readonly (RangeAnswer | null)[]): boolean {
  const whole = answers.map((answer) => (answer === null ? null : [endOf(answer), ...answer.logs.map(logKey)].join()));
  return majorityHash(whole) !== null;
}

function endOf(answer: RangeAnswer | null): string | null {
  return answer === null ? null : `${answer.endHash}/${answer.endTime}`;
}
