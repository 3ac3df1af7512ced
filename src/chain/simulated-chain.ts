/**
 * A chain with one vault, for dev and test (operator-api.md 8): blocks, tokens, deposits, and the vault's rules in the
 * vault's order (wire.md 12.1, 12.2).
 *
 *   blocks   │ 1 │ · │ · │ 4 │ · │ 6 │ · │ ·        a dot is an empty block: counted, not stored
 *                ▲           ▲       ▲       ▲ head
 *                └── hash ◀──┴─ hash ┘       └ timeNs: when the head was mined; blocks due by now follow from it
 *
 * A reorganisation undoes the last blocks, newest first, and mines others: each stored block has the call that was sent,
 * which is executed again if it is kept, and the balances that it changed.
 *
 * Invariants
 *   (1) The time of the head never decreases; the head does only by a reorganisation.
 *   (2) The counters of a user are the numbers of its `Deposited` and of its `Withdrew` logs, that of a sub-account the number
 *       of its `Settled` logs.
 *   (3) The vault's balance of a token is what its `Deposited` logs brought, less what its `Withdrew` logs took, plus what
 *       settlements pulled, less what they sent, plus what was minted to it. It is the sum of the changes of the stored
 *       blocks, and of those of a file of format 1.
 *   (4) A block's hash covers its number, its transactions, the reorganisations that replaced it, and the hash of the stored
 *       block before it: it is the same again only if nothing below was replaced.
 *   (5) No two transactions have one id.
 *
 * Every transaction is mined immediately, in its own block, so its log has index 0. The sender approves exactly the
 * deposited amount, directly before, so no allowance remains after a call.
 *
 * Faults of providers: simulated-provider.ts. chain-store.ts stores the state.
 */
import { powerOfTen } from '../core/arithmetic.ts';
import { assert, must } from '../core/assert.ts';
import type { ChainId, UserId } from '../core/ids.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import { SECOND_NS } from '../core/units.ts';
import {
  type ChainLog,
  encodeDeposit,
  encodeSettlement,
  encodeWithdrawal,
  FORCED_TOPIC,
  keccakText,
  SETTLED_TOPIC,
  U256_MAX,
  WITHDREW_TOPIC,
} from './chain-events.ts';
import { pulledBy, type SettleCall, type SettlementRevert, settlementRefusal } from './simulated-settlement.ts';

/** Maximum number of transactions per chain; further ones are rejected. */
const TRANSACTIONS_MAX = 5_000;
/** Maximum number of blocks mined by one call. */
const MINE_MAX = 1_000_000;

const NORMAL_DECIMALS = 18;
/** Runs of blocks whose times are kept. */
const RUNS_MAX = 1_024;
const HEAD_MAX = Number.MAX_SAFE_INTEGER - MINE_MAX;
/** Reorganisations that are visible in the hashes of blocks: a deeper one covers those above it. */
const FORKS_MAX = 1_024;
/** Blocks that were replaced and are still known, the latest ones. */
const REPLACED_MAX = 1_024;
const NO_BLOCK = '0'.repeat(64);
export const NO_ESCAPE: EscapeState = { checkpointNs: null, isOpen: false };
export const NO_FAULT: ProviderFault = { fault: 'none', lagBlocks: 0 };

/** Error names of wire.md 12.2 for deposits. */
type DepositRevert =
  | 'DepositorNotApproved'
  | 'ZeroAmount'
  | 'FirstDepositBelowMinimum'
  | 'NormalizationOverflow'
  | 'NormalizationRoundsToZero'
  | 'TransferFromFailed';

/** Error names of wire.md 12.2 for withdrawals. */
type ForcedRevert = 'EscapeClosed' | 'ZeroAmount' | 'TransferFailed';
type WithdrawalRevert = 'Expired' | 'MissedQuorum' | 'InvalidNonce' | 'InvalidSignature' | 'TransferFailed';

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
  /** Of the configured overload: its arguments behind the amount (deposit-config.ts). */
  readonly config?: string;
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
  /** Who signed each signature over the digest of the call, 40 hex; null for what is no signature. */
  readonly signers: readonly (string | null)[];
  readonly administrators: readonly string[];
  readonly quorum: number;
}

interface MintCall {
  /** 64 hex, right-padded. */
  readonly token: string;
  readonly to: string;
  readonly baseUnits: bigint;
}

/** A withdrawal without approval, of a vault in escape mode (AMB-85). */
interface ForceWithdrawCall extends MintCall {
  /** 64 hex, right-padded. */
  readonly vault: string;
  readonly user: UserId;
}

/** A transaction as it was sent; a reorganisation that keeps it executes it again. */
export type ChainCall =
  | { readonly kind: 'deposit'; readonly call: DepositCall }
  | { readonly kind: 'withdraw'; readonly call: WithdrawCall }
  | { readonly kind: 'settle'; readonly call: SettleCall }
  | { readonly kind: 'mint'; readonly call: MintCall }
  | { readonly kind: 'forceWithdraw'; readonly call: ForceWithdrawCall };

/** Base units that a balance, `<token>/<holder>`, got; negative: lost. */
export type BalanceChange = readonly [string, bigint];

/** What a call did before it was mined. */
interface Executed {
  readonly revert: Mined['revert'];
  readonly event: (Pick<ChainLog, 'address' | 'topics' | 'data'> & { readonly nonce: number }) | null;
}

/** The last `depth` blocks are replaced by `blocks` new ones. */
export interface Reorganisation {
  /** 1 to the head. */
  readonly depth: number;
  /** Transactions of the replaced blocks, executed again in this order, in the first of the new blocks. */
  readonly keep: readonly string[];
  /** 1 to MINE_MAX. */
  readonly blocks: number;
}

/** The result of a transaction: mined in block `block`, with a log or with the name of an error. */
export interface Mined {
  /** 64 hex. */
  readonly tx: string;
  readonly revert: DepositRevert | WithdrawalRevert | SettlementRevert | ForcedRevert | null;
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
  /** null for a block of a file of format 1: it cannot be replaced. */
  readonly sent: { readonly call: ChainCall; readonly changes: readonly BalanceChange[] } | null;
}

/** Blocks from `from` on were replaced by the reorganisation of this number, and by none after it. */
export interface Fork {
  readonly from: number;
  readonly fork: number;
}

export const PROVIDER_FAULTS = ['none', 'unreachable', 'lagging', 'omit_logs', 'forge_amount'] as const;

export interface ProviderFault {
  readonly fault: (typeof PROVIDER_FAULTS)[number];
  /** Blocks by which a lagging provider is behind; 0 for any other. */
  readonly lagBlocks: number;
}

/** The vault's side of the escape hatch (AMB-85). */
export interface EscapeState {
  /** The last checkpoint that the node committed, its heartbeat; null before the first. */
  readonly checkpointNs: bigint | null;
  /** Whether forced withdrawals are allowed: then no checkpoint is accepted. */
  readonly isOpen: boolean;
}

/** Blocks that were mined one after another. */
interface BlockRun {
  readonly from: number;
  readonly through: number;
  /** Of the last one. */
  readonly timeNs: bigint;
  /** Between two of them. */
  readonly stepNs: bigint;
}

/** The complete state of a chain, in order. */
export interface ChainState {
  readonly chainId: ChainId;
  readonly head: number;
  readonly headNs: bigint;
  readonly blocks: readonly Block[];
  /** Base units by `<token>/<holder>`, both 64 hex. */
  readonly balances: readonly BalanceChange[];
  /** Transactions ever mined, those of replaced blocks included. */
  readonly transactions: number;
  /** Both members increase. */
  readonly forks: readonly Fork[];
  /** The latest replaced blocks. */
  readonly replaced: readonly Block[];
  /** By number; those beyond the list have no fault. */
  readonly providers: readonly ProviderFault[];
  readonly escape: EscapeState;
}

/** The data of one RPC provider about the chain. */
export interface ProviderView {
  readonly head: number;
  /** Logs of blocks from this number on, in chain order. */
  logsFrom(block: number): readonly ChainLog[];
  /** Hash of the canonical block at this height; null when the provider has no such block. */
  hashOf(block: number): string | null;
}

export function emptyChain(chainId: ChainId, nowNs: bigint): ChainState {
  const nothing = {
    blocks: [],
    balances: [],
    transactions: 0,
    forks: [],
    replaced: [],
    providers: [],
    escape: NO_ESCAPE,
  };
  return { chainId, head: 0, headNs: nowNs, ...nothing };
}

export class SimulatedChain implements ProviderView {
  readonly chainId: ChainId;
  #headNumber: number;
  #headNs: bigint;
  readonly #blocks: Block[];
  readonly #balances: Map<string, bigint>;
  /** Of the call that is executed, by balance. */
  readonly #changes = new Map<string, bigint>();
  #transactions: number;
  #forks: readonly Fork[];
  #replaced: readonly Block[];
  #providers: readonly ProviderFault[];
  #escape: EscapeState;
  readonly #forced = new Map<string, number>();
  readonly #counters = new Map<string, number>();
  readonly #withdrawals = new Map<string, number>();
  /** By user and sub-account. */
  readonly #settlements = new Map<string, number>();
  /** Blocks since the start with their times, without a gap: those of blocks without a transaction are not stored. */
  #runs: BlockRun[];

  constructor(state: ChainState) {
    this.chainId = state.chainId;
    this.#headNumber = state.head;
    this.#headNs = state.headNs;
    this.#runs = [{ from: state.head, through: state.head, timeNs: state.headNs, stepNs: 0n }];
    this.#blocks = [...state.blocks];
    this.#balances = new Map(state.balances);
    this.#transactions = state.transactions;
    this.#forks = state.forks;
    this.#replaced = state.replaced;
    this.#providers = state.providers;
    this.#escape = state.escape;
    for (const { log } of this.#blocks) if (log !== null) this.#count(log, 1);
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
    const lists = { blocks: [...this.#blocks], balances: [...this.#balances] };
    const past = { transactions: this.#transactions, forks: this.#forks, replaced: this.#replaced };
    return { chainId, head, headNs, ...lists, ...past, providers: this.#providers, escape: this.#escape };
  }

  /** Mines empty blocks. @param count 0 to MINE_MAX. */
  mine(count: number, nowNs: bigint): void {
    assert(count >= 0 && count <= MINE_MAX && this.#headNumber + count <= HEAD_MAX, 'a chain grows within its bounds');
    if (count === 0) return;
    this.#headNumber += count;
    if (nowNs > this.#headNs) this.#headNs = nowNs;
    this.#mined(this.#headNumber - count + 1, 0n);
  }

  /** @param from the lowest of the blocks that were mined up to the head. @param stepNs between two of them. */
  #mined(from: number, stepNs: bigint): void {
    this.#runs.push({ from, through: this.#headNumber, timeNs: this.#headNs, stepNs });
    if (this.#runs.length > RUNS_MAX) this.#runs.splice(0, RUNS_MAX / 2);
  }

  /** When a block was mined, or something before that where it is not known any more; never a later time. */
  timeOf(block: number): bigint {
    const run = this.#runs.findLast(({ from }) => from <= block);
    if (run !== undefined) return run.timeNs - BigInt(Math.max(run.through - block, 0)) * run.stepNs;
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
    this.#mined(this.#headNumber - Number(due) + 1, blockTimeNs);
    return true;
  }

  /**
   * Calls `deposit(user, token, amount)` of the vault in its own block. Mints the sender's missing funds first.
   *
   * @returns the revert, in the vault's order of checks, or the counter that the deposit used (DEP-01 to DEP-05).
   */
  deposit(call: DepositCall, nowNs: bigint): Mined {
    return this.#transact({ kind: 'deposit', call }, nowNs);
  }

  /**
   * Calls `withdraw` of the vault in its own block.
   *
   * @returns the revert, in the vault's order of checks, or the counter that the withdrawal used (WDR-08).
   */
  withdraw(call: WithdrawCall, nowNs: bigint): Mined {
    return this.#transact({ kind: 'withdraw', call }, nowNs);
  }

  /**
   * Calls `executeAtomicSettlement` of the vault in its own block. Mints what the executor lacks, when the vault settles.
   *
   * @returns the revert, in the vault's order of checks, or the counter that the settlement used (STL-07 to STL-12).
   */
  settle(call: SettleCall, nowNs: bigint): Mined {
    return this.#transact({ kind: 'settle', call }, nowNs);
  }

  /** Calls `forceWithdraw` of the vault in its own block. */
  forceWithdraw(call: ForceWithdrawCall, nowNs: bigint): Mined {
    return this.#transact({ kind: 'forceWithdraw', call }, nowNs);
  }

  get escape(): EscapeState {
    return this.#escape;
  }

  /** Commits a checkpoint of the node. @returns whether the vault accepts it: not in escape mode. */
  checkpoint(nowNs: bigint): boolean {
    if (this.#escape.isOpen) return false;
    this.#escape = { checkpointNs: nowNs, isOpen: false };
    return true;
  }

  /** Whether there was no checkpoint for so long; never before the first. */
  isSilent(nowNs: bigint, timeoutNs: bigint): boolean {
    const { checkpointNs } = this.#escape;
    return checkpointNs !== null && nowNs - checkpointNs > timeoutNs;
  }

  /** Escape mode begins, or the operator ends it. */
  setEscape(isOpen: boolean): void {
    this.#escape = { ...this.#escape, isOpen };
  }

  /** Mints in its own block. @returns null, without a change, when the holder's balance would exceed a uint256. */
  mint(call: MintCall, nowNs: bigint): Mined | null {
    if (this.balanceOf(call.token, call.to) + call.baseUnits > U256_MAX) return null;
    return this.#transact({ kind: 'mint', call }, nowNs);
  }

  /**
   * Replaces the last blocks. Kept transactions are executed again in the order given, each in a block of its own: they have
   * the same id, use the counters that are next then, and may revert.
   *
   * @returns the ids of the transactions that are no longer on the chain; INVALID_REQUEST, SERVICE_UNAVAILABLE, then
   *   nothing changed.
   */
  reorganise({ depth, keep, blocks }: Reorganisation, nowNs: bigint): Outcome<readonly string[]> {
    const from = this.#headNumber - depth + 1;
    if (from < 1) return refused('depth', `there are ${this.#headNumber} blocks`);
    if (keep.length > blocks) return refused('blocks', 'each kept transaction is mined in a block of its own');
    const last = this.#blocks.slice(this.#firstFrom(from));
    if (last.some(({ sent }) => sent === null)) {
      return refused('depth', 'blocks that an earlier version of the node has written cannot be replaced');
    }
    const kept = keep.map((tx) => last.find((block) => block.tx === tx));
    if (kept.includes(undefined) || new Set(keep).size < keep.length) {
      return refused('keep', 'different transactions of the replaced blocks are expected');
    }
    const forks = this.#forks.filter((fork) => fork.from < from);
    if (forks.length >= FORKS_MAX) return rejected(reject('SERVICE_UNAVAILABLE', 'too many reorganisations'));

    // After this point the blocks must be replaced.
    const below = { from: from - 1, through: from - 1, timeNs: this.timeOf(from - 1), stepNs: 0n };
    for (const block of last.toReversed()) this.#undo(block);
    const lower = this.#runs.filter((run) => run.from < below.from);
    const cut = (run: BlockRun): BlockRun => ({ ...run, through: from - 2, timeNs: this.timeOf(from - 2) });
    this.#runs = [...lower.map((run) => (run.through < below.from ? run : cut(run))), below];
    this.#headNumber = from - 1;
    this.#forks = [...forks, { from, fork: (this.#forks.at(-1)?.fork ?? 0) + 1 }];
    for (const block of kept) {
      const { tx, sent } = must(block, 'kept transactions were found');
      this.#transact(must(sent, 'a block without its call is not replaced').call, nowNs, tx);
    }
    this.mine(blocks - keep.length, nowNs);
    const dropped = last.filter(({ tx }) => !keep.includes(tx));
    this.#replaced = [...this.#replaced, ...dropped].slice(-REPLACED_MAX);
    return accepted(dropped.map(({ tx }) => tx));
  }

  /** The logs of a transaction as its block had them, also of a replaced one; null for an unknown one. */
  logsOf(tx: string): readonly ChainLog[] | null {
    const isIt = (block: Block): boolean => block.tx === tx;
    const block = this.#blocks.find(isIt) ?? this.#replaced.find(isIt);
    if (block === undefined) return null;
    return block.log === null ? [] : [block.log];
  }

  /** The fault of each provider that ever had one. */
  get providers(): readonly ProviderFault[] {
    return this.#providers;
  }

  setProvider(provider: number, fault: ProviderFault): void {
    const count = Math.max(this.#providers.length, provider + 1);
    const faults = Array.from({ length: count }, (_, index) => this.#providers[index] ?? NO_FAULT);
    this.#providers = faults.with(provider, fault);
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

  /** The vault's `settlementCounts(user, account)`. */
  settlementCount(user: UserId, account: number): number {
    return this.#settlements.get(`${user}/${account}`) ?? 0;
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
    if (block > this.#headNumber) return null;
    const at = this.#firstFrom(block);
    const found = this.#blocks[at];
    return found?.number === block ? found.hash : this.#hash(block, 'empty', this.#blocks[at - 1]);
  }

  /** The balance that a holder had at a block. @returns base units. */
  balanceAt(token: string, holder: string, block: number): bigint {
    const key = balanceKey(token, holder);
    let balance = this.#balanceAt(key);
    for (let at = this.#firstFrom(block + 1); at < this.#blocks.length; at += 1) {
      for (const [changed, change] of this.#blocks[at]?.sent?.changes ?? []) if (changed === key) balance -= change;
    }
    return balance;
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
    const { validUntil, signers, quorum, administrators, nonce, user } = call;
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
    return this.#canPay(call, call.target) ? null : 'TransferFailed';
  }

  /** Whether the vault has the amount, and the receiver's balance stays a uint256. */
  #canPay({ token, vault, baseUnits }: Pick<WithdrawCall, 'token' | 'vault' | 'baseUnits'>, to: string): boolean {
    return this.balanceOf(token, vault) >= baseUnits && this.balanceOf(token, to) + baseUnits <= U256_MAX;
  }

  #move(token: string, { from, to, baseUnits }: { from: string; to: string; baseUnits: bigint }): void {
    this.#add(balanceKey(token, from), -baseUnits);
    this.#add(balanceKey(token, to), baseUnits);
  }

  /** The only change of a balance. */
  #add(key: string, change: bigint): void {
    const balance = this.#balanceAt(key) + change;
    assert(balance >= 0n && balance <= U256_MAX, 'a balance is a uint256');
    this.#balances.set(key, balance);
    this.#changes.set(key, (this.#changes.get(key) ?? 0n) + change);
  }

  /** @param tx of a kept transaction; a new one gets its own. */
  #transact(call: ChainCall, nowNs: bigint, tx: string | null = null): Mined {
    assert(!this.isFull, 'a full chain accepts no transaction');
    this.#changes.clear();
    const { revert, event } = this.#execute(call, nowNs);
    const changes = [...this.#changes].filter(([, change]) => change !== 0n);
    this.mine(1, nowNs);
    const number = this.#headNumber;
    const id = tx ?? keccakText(`${this.chainId}/transaction/${this.#transactions}`);
    if (tx === null) this.#transactions += 1;
    const hash = this.#hash(number, id, this.#blocks.at(-1));
    let log: ChainLog | null = null;
    if (event !== null) {
      const { address, topics, data } = event;
      log = { blockNumber: number, blockHash: hash, tx: id, logIndex: 0, address, topics, data };
      this.#count(log, 1);
    }
    this.#blocks.push({ number, hash, timeNs: this.#headNs, tx: id, log, sent: { call, changes } });
    return { tx: id, revert, block: number, nonce: event === null ? null : event.nonce };
  }

  #execute(sent: ChainCall, nowNs: bigint): Executed {
    switch (sent.kind) {
      case 'deposit':
        return this.#executeDeposit(sent.call);
      case 'withdraw':
        return this.#executeWithdrawal(sent.call, nowNs);
      case 'settle':
        return this.#executeSettlement(sent.call, nowNs);
      case 'forceWithdraw':
        return this.#executeForced(sent.call);
      case 'mint': {
        const { token, to, baseUnits } = sent.call;
        // Executed again, it may find a balance that has grown.
        if (this.balanceOf(token, to) + baseUnits > U256_MAX) return { revert: 'TransferFailed', event: null };
        this.#add(balanceKey(token, to), baseUnits);
        return { revert: null, event: null };
      }
    }
  }

  /** The sender's missing funds are minted first, also for a call that reverts. */
  #executeDeposit(call: DepositCall): Executed {
    const { token, vault, from, user, baseUnits } = call;
    const missing = baseUnits - this.balanceOf(token.token, from);
    if (missing > 0n) this.#add(balanceKey(token.token, from), missing);
    const revert = this.#refusal(call);
    if (revert !== null) return { revert, event: null };
    const nonce = this.depositCount(user);
    this.#move(token.token, { from, to: vault, baseUnits });
    const event = encodeDeposit({ user, nonce, token: token.token, baseUnits }, call.config);
    return { revert, event: { address: vault.slice(0, 40), nonce, ...event } };
  }

  #executeWithdrawal(call: WithdrawCall, nowNs: bigint): Executed {
    const { user, token, vault, target, baseUnits } = call;
    const revert = this.#withdrawalRefusal(call, nowNs);
    if (revert !== null) return { revert, event: null };
    const nonce = this.withdrawalCount(user);
    this.#move(token, { from: vault, to: target, baseUnits });
    const event = encodeWithdrawal({ user, nonce, token, baseUnits });
    return { revert, event: { address: vault.slice(0, 40), nonce, ...event } };
  }

  #executeSettlement(call: SettleCall, nowNs: bigint): Executed {
    const { user, account, vault, caller, tokenOut, baseUnitsOut, tokenIn, baseUnitsIn, mode, settler } = call;
    const nonce = this.settlementCount(user, account);
    const balance = (token: string, holder: string): bigint => this.balanceOf(token, holder);
    const revert = settlementRefusal(call, { nowS: nowNs / SECOND_NS, counter: nonce, balance });
    if (revert !== null) return { revert, event: null };
    const pulled = pulledBy(call);
    const missing = pulled - this.balanceOf(tokenIn, caller);
    if (missing > 0n) this.#add(balanceKey(tokenIn, caller), missing);
    this.#move(tokenIn, { from: caller, to: vault, baseUnits: pulled });
    this.#move(tokenOut, { from: vault, to: caller, baseUnits: baseUnitsOut });
    const settled = { account, tokenIn, baseUnitsIn, mode, settler };
    const event = encodeSettlement({ user, nonce, token: tokenOut, baseUnits: baseUnitsOut, settled });
    return { revert, event: { address: vault.slice(0, 40), nonce, ...event } };
  }

  #executeForced(call: ForceWithdrawCall): Executed {
    const { vault, user, token, baseUnits, to } = call;
    if (!this.#escape.isOpen) return { revert: 'EscapeClosed', event: null };
    if (baseUnits === 0n) return { revert: 'ZeroAmount', event: null };
    if (!this.#canPay(call, to)) return { revert: 'TransferFailed', event: null };
    const nonce = this.#forced.get(user) ?? 0;
    this.#move(token, { from: vault, to, baseUnits });
    const event = encodeWithdrawal({ user, nonce, token, baseUnits }, FORCED_TOPIC);
    return { revert: null, event: { address: vault.slice(0, 40), nonce, ...event } };
  }

  /** Undoes the newest stored block. */
  #undo(block: Block): void {
    assert(this.#blocks.pop() === block && block.sent !== null, 'the newest block is undone, which has its changes');
    for (const [key, change] of block.sent.changes) this.#balances.set(key, this.#balanceAt(key) - change);
    if (block.log !== null) this.#count(block.log, -1);
  }

  /** @param before the stored block below. Hashes of before the first reorganisation are those of format 1. */
  #hash(number: number, content: string, before: Block | undefined): string {
    const fork = this.#forks.findLast(({ from }) => from <= number)?.fork;
    const named = fork === undefined ? content : `${content}/${fork}`;
    return keccakText(`${this.chainId}/block/${number}/${named}/${before?.hash ?? NO_BLOCK}`);
  }

  #count({ topics: [topic0, user = '', account = ''] }: ChainLog, change: 1 | -1): void {
    const owner = topic0 === SETTLED_TOPIC ? `${user}/${Number(`0x${account}`)}` : user;
    const counters = this.#countersOf(topic0);
    counters.set(owner, (counters.get(owner) ?? 0) + change);
  }

  #countersOf(topic: string | undefined): Map<string, number> {
    if (topic === SETTLED_TOPIC) return this.#settlements;
    if (topic === WITHDREW_TOPIC) return this.#withdrawals;
    return topic === FORCED_TOPIC ? this.#forced : this.#counters;
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

function refused(field: string, message: string): Outcome<never> {
  return rejected(reject('INVALID_REQUEST', message, field));
}

function balanceKey(token: string, holder: string): string {
  return `${token}/${holder}`;
}
