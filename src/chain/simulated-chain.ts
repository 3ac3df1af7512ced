/**
 * A chain with one vault, for dev and test (operator-api.md 8): blocks, tokens, deposits, and the vault's rules in the
 * vault's order (wire.md 12.1, 12.2).
 *
 *   blocks   │ 1 │ · │ · │ 4 │ · │ 6 │ · │ ·        a dot is an empty block: counted, not stored
 *                ▲           ▲       ▲       ▲ head
 *                └── hash ◀──┴─ hash ┘       └ timeNs: when the head was mined; blocks due by now follow from it
 *
 * Invariants
 *   (1) The head and the time of the head never decrease.
 *   (2) The counters of a user are the numbers of its `Deposited` and of its `Withdrew` logs.
 *   (3) The vault's balance of a token is what its `Deposited` logs brought, less what its `Withdrew` logs took, plus what
 *       was minted to it.
 *   (4) A block's hash covers its number, its transactions and the hash of the stored block before it.
 *
 * Every transaction is mined immediately, in its own block, so its log has index 0. The sender approves exactly the
 * deposited amount, directly before, so no allowance remains after a call.
 *
 * Reorganisations, provider faults and settlements are not simulated; chain-store.ts stores the state.
 */
import { powerOfTen } from '../core/arithmetic.ts';
import { assert } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { SECOND_NS } from '../core/units.ts';
import {
  type ChainLog,
  encodeDeposit,
  encodeWithdrawal,
  keccakText,
  U256_MAX,
  WITHDREW_TOPIC,
} from './chain-events.ts';

/** Maximum number of transactions per chain; further ones are rejected. */
export const TRANSACTIONS_MAX = 5_000;
/** Maximum number of blocks mined by one call. */
export const MINE_MAX = 1_000_000;

const NORMAL_DECIMALS = 18;
/** Heads whose times are kept. */
const HEADS_MAX = 1_024;
const HEAD_MAX = Number.MAX_SAFE_INTEGER - MINE_MAX;
const NO_BLOCK = '0'.repeat(64);

/** Error names of wire.md 12.2 for deposits. */
export type DepositRevert =
  | 'DepositorNotApproved'
  | 'ZeroAmount'
  | 'FirstDepositBelowMinimum'
  | 'NormalizationOverflow'
  | 'NormalizationRoundsToZero'
  | 'TransferFromFailed';

/** Error names of wire.md 12.2 for withdrawals. */
export type WithdrawalRevert = 'Expired' | 'MissedQuorum' | 'InvalidNonce' | 'InvalidSignature' | 'TransferFailed';

/** The vault's data of a token: its `decimals()` and the configured minimum. */
export interface TokenTerms {
  /** 64 hex, right-padded. */
  readonly token: string;
  /** 0 to 77. */
  readonly decimals: number;
  readonly minFirstDepositBaseUnits: bigint;
}

export interface DepositCall {
  /** 64 hex, right-padded. */
  readonly vault: string;
  readonly user: UserId;
  readonly token: TokenTerms;
  /** A uint256. */
  readonly baseUnits: bigint;
  /** 64 hex, right-padded: the payer, which gets missing funds minted. */
  readonly from: string;
  readonly approve: boolean;
  readonly senderAllowed: boolean;
}

export interface WithdrawCall {
  /** 64 hex, right-padded. */
  readonly vault: string;
  readonly user: UserId;
  /** 64 hex, right-padded. */
  readonly token: string;
  /** A uint256. */
  readonly baseUnits: bigint;
  readonly nonce: bigint;
  /** 64 hex, right-padded. */
  readonly target: string;
  /** Unix seconds. */
  readonly validUntil: bigint;
  /** Who signed each signature over the digest of the call, 40 hex; null for one that nobody could have made. */
  readonly signers: readonly (string | null)[];
  readonly administrators: readonly string[];
  readonly quorum: number;
}

/** The result of a transaction: mined in block `block`, with a log or with the name of an error. */
export interface Mined {
  /** 64 hex. */
  readonly tx: string;
  readonly revert: DepositRevert | WithdrawalRevert | null;
  readonly block: number;
  /** The user's counter that the call used; null without one. */
  readonly nonce: number | null;
}

/** A block with a transaction. */
export interface Block {
  readonly number: number;
  /** 64 hex. */
  readonly hash: string;
  readonly timeNs: bigint;
  /** 64 hex. */
  readonly tx: string;
  readonly log: ChainLog | null;
}

/** The complete state of a chain, in order. */
export interface ChainState {
  readonly chainId: ChainId;
  readonly head: number;
  readonly headNs: bigint;
  readonly blocks: readonly Block[];
  /** Base units by `<token>/<holder>`, both 64 hex. */
  readonly balances: readonly (readonly [string, bigint])[];
}

/** The data of one RPC provider about the chain. */
export interface ProviderView {
  readonly head: number;
  /** Logs of blocks from this number on, in chain order. */
  logsFrom(block: number): readonly ChainLog[];
  /** Hash of the canonical block at this height; null when it is unknown or empty. */
  hashOf(block: number): string | null;
}

export function emptyChain(chainId: ChainId, nowNs: bigint): ChainState {
  return { chainId, head: 0, headNs: nowNs, blocks: [], balances: [] };
}

export class SimulatedChain implements ProviderView {
  readonly chainId: ChainId;
  #headNumber: number;
  #headNs: bigint;
  readonly #blocks: Block[];
  readonly #balances: Map<string, bigint>;
  readonly #counters = new Map<string, number>();
  readonly #withdrawals = new Map<string, number>();
  /** Heads since the start, with their times: those of blocks without a transaction are not stored. */
  readonly #heads: { readonly number: number; readonly timeNs: bigint }[] = [];

  constructor(state: ChainState) {
    this.chainId = state.chainId;
    this.#headNumber = state.head;
    this.#headNs = state.headNs;
    this.#blocks = [...state.blocks];
    this.#balances = new Map(state.balances);
    for (const { log } of this.#blocks) if (log !== null) this.#count(log);
  }

  /** Number of the newest block; 0 before the first. */
  get head(): number {
    return this.#headNumber;
  }

  /** Whether the next transaction is rejected. */
  get isFull(): boolean {
    return this.#blocks.length >= TRANSACTIONS_MAX;
  }

  state(): ChainState {
    const { chainId } = this;
    const head = this.#headNumber;
    const headNs = this.#headNs;
    return { chainId, head, headNs, blocks: [...this.#blocks], balances: [...this.#balances] };
  }

  /** Mines empty blocks. @param count 0 to MINE_MAX. */
  mine(count: number, nowNs: bigint): void {
    assert(count >= 0 && count <= MINE_MAX && this.#headNumber + count <= HEAD_MAX, 'a chain grows within its bounds');
    if (count === 0) return;
    this.#headNumber += count;
    if (nowNs > this.#headNs) this.#headNs = nowNs;
    this.#seeHead();
  }

  #seeHead(): void {
    this.#heads.push({ number: this.#headNumber, timeNs: this.#headNs });
    if (this.#heads.length > HEADS_MAX) this.#heads.splice(0, HEADS_MAX / 2);
  }

  /** When a block was mined, or something before that where it is not known any more. */
  timeOf(block: number): bigint {
    for (const head of this.#heads) if (head.number >= block) return head.timeNs;
    return this.#blocks.findLast(({ number }) => number <= block)?.timeNs ?? 0n;
  }

  /** Mines the blocks that became due since the newest one, one each `blockTimeNs`. @returns whether there were any. */
  advance(nowNs: bigint, blockTimeNs: bigint): boolean {
    assert(blockTimeNs > 0n, 'blocks take time');
    if (nowNs < this.#headNs + blockTimeNs) return false;
    const due = (nowNs - this.#headNs) / blockTimeNs;
    assert(BigInt(this.#headNumber) + due <= BigInt(HEAD_MAX), 'a chain grows within its bounds');
    this.#headNumber += Number(due);
    this.#headNs += due * blockTimeNs;
    this.#seeHead();
    return true;
  }

  /**
   * Calls `deposit(user, token, amount)` of the vault in its own block. Mints the sender's missing funds first.
   *
   * @returns the revert, in the vault's order of checks, or the counter that the deposit used (DEP-01 to DEP-05).
   */
  deposit(call: DepositCall, nowNs: bigint): Mined {
    assert(!this.isFull, 'a full chain accepts no transaction');
    const { token, vault, from, baseUnits } = call;
    const fromKey = balanceKey(token.token, from);
    if (this.#balanceAt(fromKey) < baseUnits) this.#balances.set(fromKey, baseUnits);
    const revert = this.#refusal(call);
    if (revert !== null) return this.#mineTransaction(null, nowNs, revert);

    const nonce = this.depositCount(call.user);
    this.#move(token.token, { from, to: vault, baseUnits });
    const event = encodeDeposit({ user: call.user, nonce, token: token.token, baseUnits });
    return this.#mineTransaction({ address: vault.slice(0, 40), nonce, ...event }, nowNs, null);
  }

  /**
   * Calls `withdraw` of the vault in its own block.
   *
   * @returns the revert, in the vault's order of checks, or the counter that the withdrawal used (WDR-08).
   */
  withdraw(call: WithdrawCall, nowNs: bigint): Mined {
    assert(!this.isFull, 'a full chain accepts no transaction');
    const { user, token, vault, target, baseUnits } = call;
    const revert = this.#withdrawalRefusal(call, nowNs);
    if (revert !== null) return this.#mineTransaction(null, nowNs, revert);
    const nonce = this.withdrawalCount(user);
    this.#move(token, { from: vault, to: target, baseUnits });
    const event = encodeWithdrawal({ user, nonce, token, baseUnits });
    return this.#mineTransaction({ address: vault.slice(0, 40), nonce, ...event }, nowNs, null);
  }

  /** Mints in its own block. @returns null, without a change, when the holder's balance would exceed a uint256. */
  mint(token: string, to: string, baseUnits: bigint, nowNs: bigint): Mined | null {
    assert(!this.isFull, 'a full chain accepts no transaction');
    const key = balanceKey(token, to);
    const balance = this.#balanceAt(key) + baseUnits;
    if (balance > U256_MAX) return null;
    this.#balances.set(key, balance);
    return this.#mineTransaction(null, nowNs, null);
  }

  /** @returns base units. */
  balanceOf(token: string, holder: string): bigint {
    return this.#balanceAt(balanceKey(token, holder));
  }

  /** All balances of an address, by token. */
  holdings(holder: string): ReadonlyMap<string, bigint> {
    const held = new Map<string, bigint>();
    for (const [key, balance] of this.#balances) {
      const [token = '', owner] = key.split('/');
      if (owner === holder) held.set(token, balance);
    }
    return held;
  }

  /** The vault's `depositCounts(user)`. */
  depositCount(user: UserId): number {
    return this.#counters.get(user) ?? 0;
  }

  /** The vault's `withdrawalCounts(user)`. */
  withdrawalCount(user: UserId): number {
    return this.#withdrawals.get(user) ?? 0;
  }

  logsFrom(block: number): readonly ChainLog[] {
    const logs: ChainLog[] = [];
    for (let at = this.#firstFrom(block); at < this.#blocks.length; at += 1) {
      const log = this.#blocks[at]?.log;
      if (log !== null && log !== undefined) logs.push(log);
    }
    return logs;
  }

  hashOf(block: number): string | null {
    const found = this.#blocks[this.#firstFrom(block)];
    return found?.number === block ? found.hash : null;
  }

  #refusal(call: DepositCall): DepositRevert | null {
    const { token, baseUnits } = call;
    if (!call.senderAllowed) return 'DepositorNotApproved';
    if (baseUnits === 0n) return 'ZeroAmount';
    const isFirst = this.depositCount(call.user) === 0;
    if (isFirst && baseUnits < token.minFirstDepositBaseUnits) return 'FirstDepositBelowMinimum';
    if (token.decimals <= NORMAL_DECIMALS) {
      if (baseUnits * powerOfTen(NORMAL_DECIMALS - token.decimals) > U256_MAX) return 'NormalizationOverflow';
    } else if (baseUnits < powerOfTen(token.decimals - NORMAL_DECIMALS)) {
      return 'NormalizationRoundsToZero';
    }
    // The vault itself gives no approval.
    const isApproved = call.approve && call.from !== call.vault;
    const fits = this.balanceOf(token.token, call.vault) + baseUnits <= U256_MAX;
    return isApproved && fits ? null : 'TransferFromFailed';
  }

  #withdrawalRefusal(call: WithdrawCall, nowNs: bigint): WithdrawalRevert | null {
    const { validUntil, signers, quorum, administrators, nonce, user, token, vault, baseUnits } = call;
    if (nowNs / SECOND_NS > validUntil) return 'Expired';
    if (signers.length < quorum) return 'MissedQuorum';
    if (nonce !== BigInt(this.withdrawalCount(user))) return 'InvalidNonce';
    const seen = new Set<string>();
    for (const signer of signers) {
      if (seen.size >= quorum) break;
      if (signer === null || !administrators.includes(signer) || seen.has(signer)) return 'InvalidSignature';
      seen.add(signer);
    }
    if (seen.size < quorum) return 'MissedQuorum';
    return this.balanceOf(token, vault) >= baseUnits ? null : 'TransferFailed';
  }

  #move(token: string, { from, to, baseUnits }: { from: string; to: string; baseUnits: bigint }): void {
    const fromKey = balanceKey(token, from);
    const left = this.#balanceAt(fromKey) - baseUnits;
    assert(left >= 0n, 'a sender owns what it pays');
    this.#balances.set(fromKey, left);
    const toKey = balanceKey(token, to);
    this.#balances.set(toKey, this.#balanceAt(toKey) + baseUnits);
  }

  #mineTransaction(
    event: (Pick<ChainLog, 'address' | 'topics' | 'data'> & { readonly nonce: number }) | null,
    nowNs: bigint,
    revert: Mined['revert'],
  ): Mined {
    this.mine(1, nowNs);
    const number = this.#headNumber;
    const tx = keccakText(`${this.chainId}/transaction/${this.#blocks.length}`);
    const hash = keccakText(`${this.chainId}/block/${number}/${tx}/${this.#blocks.at(-1)?.hash ?? NO_BLOCK}`);
    let log: ChainLog | null = null;
    if (event !== null) {
      const { address, topics, data } = event;
      log = { blockNumber: number, blockHash: hash, tx, logIndex: 0, address, topics, data };
      this.#count(log);
    }
    this.#blocks.push({ number, hash, timeNs: this.#headNs, tx, log });
    return { tx, revert, block: number, nonce: event === null ? null : event.nonce };
  }

  #count({ topics: [topic0, user = ''] }: ChainLog): void {
    const counters = topic0 === WITHDREW_TOPIC ? this.#withdrawals : this.#counters;
    counters.set(user, (counters.get(user) ?? 0) + 1);
  }

  #balanceAt(key: string): bigint {
    return this.#balances.get(key) ?? 0n;
  }

  /** Index of the first stored block with at least this number. */
  #firstFrom(block: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[middle]?.number ?? block) < block) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function balanceKey(token: string, holder: string): string {
  return `${token}/${holder}`;
}
