/**
 * The tree whose root a checkpoint commits to a vault (WDR-24, AMB-85, CHN-07): what each account can withdraw of each token in this vault.
 *
 *   leaf   keccak256(keccak256(user │ account │ token │ base units │ withdrawals │ settlements)), words of 32 bytes, an address in
 *          the first 20 of its word; the last two are the counters that are booked, so that the vault takes off what it paid since
 *   node   keccak256(lower │ higher) of two; one without a second goes up as it is
 *
 * Leaves are ordered by their hashes, so that the same entries have one root, whatever their order.
 *
 * Pure. What is withdrawable is decided by clearing/funds/withdrawables.ts; who may claim it by the vault.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';

export interface WithdrawableEntry {
  /** 64 hex. */
  readonly user: string;
  readonly account: number;
  /** 64 hex, right-padded. */
  readonly token: string;
  /** More than 0. */
  readonly baseUnits: bigint;
  /** Booked of the user in this vault, and of the account. */
  readonly withdrawals: number;
  readonly settlements: number;
}

/** Of a vault in which nothing can be withdrawn. */
export const EMPTY_ROOT: string = '0'.repeat(64);

export class WithdrawableTree {
  /** Levels of hashes, 64 hex each: leaves first, the root last. */
  readonly #levels: readonly (readonly string[])[];
  readonly #places: ReadonlyMap<string, number>;

  /** @param entries one for each user, account and token. */
  constructor(entries: readonly WithdrawableEntry[]) {
    const leaves = entries.map(leafHash).sort();
    const levels: string[][] = [leaves];
    for (let level = leaves; level.length > 1; ) {
      const next: string[] = [];
      for (let index = 0; index < level.length; index += 2) {
        const [one, other] = [must(level[index], 'an index of the level'), level[index + 1]];
        next.push(other === undefined ? one : pairHash(one, other));
      }
      levels.push(next);
      level = next;
    }
    this.#levels = levels;
    this.#places = new Map(leaves.map((leaf, index) => [leaf, index]));
  }

  /** 64 hex. */
  get root(): string {
    return this.#levels.at(-1)?.[0] ?? EMPTY_ROOT;
  }

  /** The hashes beside the way from an entry to the root; null for one that is not in the tree. */
  proof(entry: WithdrawableEntry): readonly string[] | null {
    let place = this.#places.get(leafHash(entry));
    if (place === undefined) return null;
    const proof: string[] = [];
    for (const level of this.#levels.slice(0, -1)) {
      const beside = level[place ^ 1];
      if (beside !== undefined) proof.push(beside);
      place >>= 1;
    }
    return proof;
  }
}

/** Whether a proof leads from an entry to a root: what the vault computes. */
export function isProven(root: string, entry: WithdrawableEntry, proof: readonly string[]): boolean {
  return proof.reduce(pairHash, leafHash(entry)) === root && root !== EMPTY_ROOT;
}

function leafHash({ user, account, token, baseUnits, withdrawals, settlements }: WithdrawableEntry): string {
  const number = (value: number | bigint): string => value.toString(16).padStart(64, '0');
  const counters = number(withdrawals) + number(settlements);
  return hashed(hashed(user + number(account) + token + number(baseUnits) + counters));
}

function pairHash(one: string, other: string): string {
  return hashed(one < other ? one + other : other + one);
}

/** keccak256 of bytes in hex. */
function hashed(text: string): string {
  return toHex(keccak_256(must(parseHex(text, text.length / 2), 'words are hex')));
}
