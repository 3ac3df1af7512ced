/**
 * An EVM chain and its providers as plain lists, for tests of the watch: blocks with hashes and deposits, forks of any
 * depth, and providers that lag, omit, forge, fork, refuse or are silent. And clearing's side: a counter per user.
 */
import { type ChainLog, type ConfirmedEvent, encodeDeposit, keccakText } from '../../src/chain/chain-events.ts';
import type { ChainProvider, RangeReply, Sight } from '../../src/chain/chain-provider.ts';
import type { CursorKeeper } from '../../src/chain/event-cursor.ts';
import { type BookingReply, EventWatch, type WatchLog } from '../../src/chain/event-watch.ts';
import type { LogFilter } from '../../src/chain/evm-answers.ts';
import type { SimulatedChain } from '../../src/chain/simulated-chain.ts';
import { SimulatedProvider } from '../../src/chain/simulated-provider.ts';
import type { Anchor, EventCursor } from '../../src/clearing/funds/chain-cursor.ts';
import type { ChainId, UserId } from '../../src/core/ids.ts';
import { chainAt, DEPOSIT, STARTED_NS } from './chain-world.ts';

export const PLAIN_VAULT: string = '0d'.repeat(20);
export const PLAIN_TOKEN: string = '5a'.repeat(20).padEnd(64, '0');
export const PLAIN_CHAIN: ChainId = '000000000000007a69' as ChainId;

interface PlainBlock {
  readonly hash: string;
  readonly logs: readonly ChainLog[];
}

type PlainDeposit = readonly [user: UserId, amount: bigint];

/** Blocks from 0, which is empty. */
export class PlainEvm {
  blocks: PlainBlock[] = [{ hash: keccakText('genesis'), logs: [] }];
  #made = 0;

  get head(): number {
    return this.blocks.length - 1;
  }

  mine(count: number): void {
    for (let index = 0; index < count; index += 1) this.#block([]);
  }

  /** All in one block. @returns its number. */
  deposit(...deposits: readonly PlainDeposit[]): number {
    this.#block(deposits);
    return this.head;
  }

  /** Replaces the last blocks; their deposits come again in the first new block, or never. */
  reorg(depth: number, keepsDeposits: boolean): void {
    const dropped = this.blocks.splice(this.blocks.length - depth);
    const deposits = dropped.flatMap(({ logs }) => logs.map(depositIn));
    this.#block(keepsDeposits ? deposits : []);
    this.mine(depth - 1);
  }

  /** `<user>/<counter>/<amount>` of all deposits up to a block, in the order of the chain. */
  deposits(through: number = this.head): readonly string[] {
    return this.blocks.slice(0, through + 1).flatMap(({ logs }) => logs.map(nameOf));
  }

  #block(deposits: readonly PlainDeposit[]): void {
    const number = this.blocks.length;
    this.#made += 1;
    const hash = keccakText(`${this.blocks.at(-1)?.hash}/${this.#made}`);
    const counts = new Map<string, number>();
    for (const { logs } of deposits.length === 0 ? [] : this.blocks)
      for (const log of logs) count(counts, log.topics[1] ?? '');
    const logs = deposits.map(([user, baseUnits], logIndex): ChainLog => {
      const nonce = count(counts, user);
      const tx = keccakText(`${hash}/${logIndex}`);
      const event = encodeDeposit({ user, nonce, token: PLAIN_TOKEN, baseUnits });
      return { blockNumber: number, blockHash: hash, tx, logIndex, address: PLAIN_VAULT, ...event };
    });
    this.blocks.push({ hash, logs });
  }
}

/** @returns the count before. */
function count(counts: Map<string, number>, key: string): number {
  const before = counts.get(key) ?? 0;
  counts.set(key, before + 1);
  return before;
}

function depositIn(log: ChainLog): PlainDeposit {
  return [(log.topics[1] ?? '') as UserId, BigInt(`0x${log.data}`)];
}

function nameOf(log: ChainLog): string {
  const [user, amount] = depositIn(log);
  return `${user}/${BigInt(`0x${log.topics[2]}`)}/${amount}`;
}

export const FAULTS = [
  'none',
  'unreachable',
  'lagging',
  'omits',
  'forges',
  'invents',
  'forked',
  'boasts',
  'refuses',
] as const;
export type Fault = (typeof FAULTS)[number];

export class PlainProvider implements ChainProvider {
  fault: Fault = 'none';
  /** Distinguishes the lies of two providers; those with the same salt lie alike. */
  salt: string;
  asked = 0;
  /** No logs of this block are shown. */
  hides: number | null = null;
  readonly bombs = 0;
  readonly #chain: PlainEvm;

  get span(): number {
    return this.fault === 'refuses' ? 1 : 65_536;
  }

  constructor(chain: PlainEvm, salt: string) {
    this.#chain = chain;
    this.salt = salt;
  }

  async look(block: number): Promise<Sight | null> {
    this.asked += 1;
    if (this.fault === 'unreachable') return null;
    const head = this.fault === 'boasts' ? this.#head + 1_000_000 : this.#head;
    return { head, hash: this.#hash(block), time: block };
  }

  async range(filter: LogFilter, anchor: Anchor): Promise<RangeReply> {
    this.asked += 1;
    if (this.fault === 'unreachable') return null;
    if (this.fault === 'refuses' && filter.toBlock > filter.fromBlock) return 'refused';
    const endHash = this.#hash(filter.toBlock);
    if (endHash === null || this.#hash(anchor.number) !== anchor.hash) return null;
    const logs = this.#chain.blocks
      .slice(filter.fromBlock, filter.toBlock + 1)
      .flatMap((block) => block.logs)
      .filter((log) => log.blockNumber !== this.hides)
      .filter((log) => filter.user === null || log.topics[1] === filter.user);
    return { endHash, endTime: filter.toBlock, logs: this.#falsified(logs, filter) };
  }

  /** The vault holds what was deposited. */
  async balances(_vault: string, tokens: readonly string[], at: Anchor): Promise<readonly bigint[] | null> {
    if (this.fault === 'unreachable' || this.#hash(at.number) !== at.hash) return null;
    const sum = this.#chain.deposits(at.number).reduce((units, name) => units + BigInt(name.split('/')[2] ?? '0'), 0n);
    return tokens.map(() => (this.fault === 'forges' ? sum + BigInt(`0x${this.salt}`) : sum));
  }

  async withdrawalCount(_vault: string, _user: string, at: Anchor): Promise<number | null> {
    return this.fault === 'unreachable' || this.#hash(at.number) !== at.hash ? null : 0;
  }

  async escapeMode(): Promise<boolean | null> {
    return this.fault === 'unreachable' ? null : false;
  }

  async settlementCount(vault: string, user: string, _account: number, at: Anchor): Promise<number | null> {
    return this.withdrawalCount(vault, user, at);
  }

  get #head(): number {
    return this.fault === 'lagging' ? Math.max(0, this.#chain.head - 3) : this.#chain.head;
  }

  #hash(block: number): string | null {
    if (block > this.#head) return null;
    const hash = this.#chain.blocks[block]?.hash ?? null;
    return this.fault === 'forked' ? keccakText(`${hash}/${this.salt}`) : hash;
  }

  #falsified(logs: readonly ChainLog[], { fromBlock }: LogFilter): readonly ChainLog[] {
    if (this.fault === 'omits') return logs.slice(1);
    if (this.fault === 'forges') return logs.map((log) => ({ ...log, data: `${'0'.repeat(56)}${this.salt}` }));
    if (this.fault !== 'invents') return logs;
    const event = encodeDeposit({
      user: 'ff'.repeat(32) as UserId,
      nonce: 0,
      token: PLAIN_TOKEN,
      baseUnits: BigInt(`0x${this.salt}`),
    });
    const blockHash = this.#hash(fromBlock) ?? '';
    const place = { blockNumber: fromBlock, blockHash, tx: keccakText(this.salt), logIndex: 99_999 };
    const invented: ChainLog = { ...place, address: PLAIN_VAULT, ...event };
    return [...logs, invented].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
  }
}

/** Clearing's side of deposits: contiguous counters, and what was credited. */
export class PlainCredits {
  readonly credited: string[] = [];
  readonly #next = new Map<string, number>();
  /** So many of the next deposits are not accepted. */
  refuses = 0;
  offers = 0;

  take({ user, nonce, baseUnits }: ConfirmedEvent): BookingReply | null {
    this.offers += 1;
    if (this.refuses > 0) {
      this.refuses -= 1;
      return null;
    }
    const next = this.#next.get(user) ?? 0;
    if (nonce !== next) return { result: nonce < next ? 'duplicate' : 'gap', nextNonce: next };
    this.credited.push(`${user}/${nonce}/${baseUnits}`);
    this.#next.set(user, next + 1);
    return { result: 'credited', nextNonce: next + 1 };
  }
}

/** A chain as the tests of a watch move it, of any kind. */
export interface MovableChain {
  readonly head: number;
  mine(count: number): void;
  deposit(...deposits: readonly PlainDeposit[]): number;
  reorg(depth: number, keepsDeposits: boolean): void;
  deposits(through?: number): readonly string[];
}

interface FaultyProvider extends ChainProvider {
  fault: Fault;
}

/** A simulated chain; each deposit is in a block of its own. */
class MovableSimulatedChain implements MovableChain {
  readonly chain: SimulatedChain = chainAt(0);

  get head(): number {
    return this.chain.head;
  }

  mine(count: number): void {
    this.chain.mine(count, STARTED_NS);
  }

  deposit(...deposits: readonly PlainDeposit[]): number {
    for (const [user, baseUnits] of deposits) this.chain.deposit({ ...DEPOSIT, user, baseUnits }, STARTED_NS);
    return this.head;
  }

  reorg(depth: number, keepsDeposits: boolean): void {
    const from = this.head - depth;
    const last = this.chain.state().blocks.filter(({ number }) => number > from);
    const keep = keepsDeposits ? last.map(({ tx }) => tx) : [];
    const done = this.chain.reorganise({ depth, keep, blocks: depth }, STARTED_NS);
    if (!done.ok) throw new Error(done.reject.message);
  }

  deposits(through: number = this.head): readonly string[] {
    return this.chain
      .logsFrom(0)
      .filter(({ blockNumber }) => blockNumber <= through)
      .map(nameOf);
  }
}

const SIMULATED_FAULTS = {
  none: 'none',
  unreachable: 'unreachable',
  lagging: 'lagging',
  omits: 'omit_logs',
  forges: 'forge_amount',
} as const;

/** A provider of the product, with a fault by the name of the tests. */
class FaultySimulatedProvider extends SimulatedProvider implements FaultyProvider {
  readonly #chain: SimulatedChain;
  readonly #index: number;
  #fault: Fault = 'none';

  constructor(chain: SimulatedChain, index: number) {
    super(chain, index);
    this.#chain = chain;
    this.#index = index;
  }

  get fault(): Fault {
    return this.#fault;
  }

  set fault(name: Fault) {
    const fault = SIMULATED_FAULTS[name as keyof typeof SIMULATED_FAULTS] ?? 'none';
    this.#fault = name;
    this.#chain.setProvider(this.#index, { fault, lagBlocks: fault === 'lagging' ? 3 : 0 });
  }
}

/** A watch over plain providers, with every saved cursor, so that a restart can begin at any of them. */
export class WatchFixture<Chain extends MovableChain = MovableChain, Provider extends FaultyProvider = FaultyProvider> {
  readonly chain: Chain;
  readonly providers: readonly Provider[];
  /** Those that a provider of this kind can have. */
  readonly faults: readonly Fault[];
  readonly #isForkWhole: boolean;
  readonly credits: PlainCredits = new PlainCredits();
  readonly saved: EventCursor[] = [];
  readonly alarms: string[] = [];
  confirmations: number;
  nowMs = 0;
  savedEveryMs = 0;
  #watch: EventWatch | null = null;

  constructor(
    chain: Chain,
    providers: readonly Provider[],
    kind: { readonly faults: readonly Fault[]; readonly isForkWhole: boolean; readonly confirmations: number },
  ) {
    this.chain = chain;
    this.providers = providers;
    this.faults = kind.faults;
    this.#isForkWhole = kind.isForkWhole;
    this.confirmations = kind.confirmations;
  }

  get watch(): EventWatch {
    if (this.#watch === null) throw new Error('start the watch first');
    return this.#watch;
  }

  /** A new process. @param lost saved cursors that the disk does not have: an older file. */
  async start(lost = 0): Promise<void> {
    this.saved.splice(Math.max(0, this.saved.length - lost));
    const log: WatchLog = {
      info: () => undefined,
      warn: () => undefined,
      error: (_details, message) => void this.alarms.push(message),
    };
    this.#watch = await EventWatch.open({
      chainId: PLAIN_CHAIN,
      event: 'deposit',
      vault: PLAIN_VAULT,
      store: this.keeper(),
      providers: this.providers,
      confirmations: () => this.confirmations,
      isForkWhole: this.#isForkWhole,
      approvalEnds: null,
      offer: async (deposits) => deposits.map((deposit) => this.credits.take(deposit)),
      log,
      nowMs: () => this.nowMs,
      savedEveryMs: this.savedEveryMs,
    });
  }

  /** What keeps cursors: the last one of `saved`. */
  protected keeper(): CursorKeeper {
    return {
      load: async () => this.saved.at(-1) ?? null,
      save: async (_chainId, _event, _step, cursor) => {
        this.saved.push(cursor);
        return cursor;
      },
    };
  }

  /** Ends a stop, as the vault's watch does. @returns what has vanished. */
  async resume(): Promise<readonly string[]> {
    const vanished = await this.watch.vanished(0);
    if (vanished === null) throw new Error('no majority decides what has vanished');
    await this.watch.resume(vanished);
    return vanished.events;
  }

  /** As `settle`, over the minutes in which late logs are waited for. */
  async settleLate(): Promise<void> {
    for (let time = 0; time < 10; time += 1) {
      await this.settle();
      this.nowMs += 300_000;
    }
  }

  /** Polls until nothing more can be done. @returns the number of polls. */
  async settle(): Promise<number> {
    for (let polls = 1; polls < 10_000; polls += 1) if ((await this.watch.poll()) === 'idle') return polls;
    throw new Error('polling does not come to an end');
  }
}

/** Over the simplest chain and providers. */
export class EvmFixture extends WatchFixture<PlainEvm, PlainProvider> {
  constructor(providers = 3, confirmations = 1) {
    const chain = new PlainEvm();
    const all = Array.from({ length: providers }, (_, index) => {
      return new PlainProvider(chain, (index + 1).toString(16).padStart(8, 'a'));
    });
    super(chain, all, { faults: FAULTS, isForkWhole: false, confirmations });
  }
}

/** Over a simulated chain and its providers. */
export class SimulatedFixture extends WatchFixture {
  constructor(providers = 3, confirmations = 1) {
    const chain = new MovableSimulatedChain();
    const all = Array.from({ length: providers }, (_, index) => new FaultySimulatedProvider(chain.chain, index));
    const faults = Object.keys(SIMULATED_FAULTS) as readonly Fault[];
    super(chain, all, { faults, isForkWhole: true, confirmations });
  }
}
