/**
 * Plays a script, life after life of a node on one disk, and holds everything to its invariants.
 *
 *   events ─▶ performer ─▶ node ─▶ listeners, readers          at rest: invariants.ts
 *                            └─▶ disk ─▶ shadow ledger          at the end of a life: the journal is the truth
 *
 * A shadow ledger applies each life's part of the journal once: its hash must be that of the ledger that lived, and
 * what users were reported as confirmed must be confirmed in it.
 */
import assert from 'node:assert/strict';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { Stopped } from '../../src/clearing/funds/chain-cursor.ts';
import { isLive } from '../../src/clearing/funds/withdrawal-book.ts';
import { decodeBatch } from '../../src/clearing/journal-batch.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { loadState } from '../../src/clearing/tables.ts';
import { CLEARING } from '../../src/core/actor-names.ts';
import { type AssetId, type ChainId, type OrderId, USD, type UserId } from '../../src/core/ids.ts';
import { MARKET_STATUS, ORDER_END_WORD, ROLLBACK_REASON_WORD } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { liftedLimits } from '../support/lifted-limits.ts';
import { createRequest } from '../support/order-fixture.ts';
import { RowLedger } from '../support/row-ledger.ts';
import { RowMirror } from '../support/row-mirror.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { SeededRandom } from '../support/simulation.ts';
import { type Action, type ActionKind, operationsOf } from './actions.ts';
import { ChainDisk, LifeChains } from './chains.ts';
import { Disk, historyOfDisk, PowerLost } from './disk.ts';
import { isLiquidating } from './drawing.ts';
import { placeOf } from './drawing-funds.ts';
import { FundsBook } from './funds-book.ts';
import { checkAtRest, checkMargins, reread, rereadAccount } from './invariants.ts';
import { isOfNode, Listeners } from './listening.ts';
import { MARKETS, USERS } from './people.ts';
import { Performer, SIMULATED_RATES } from './performing.ts';
import { ProtectionWatch } from './protection-watch.ts';
import { Readers } from './reading.ts';
import type { LifeOptions, Script, ScriptEvent } from './script.ts';
import { PROVIDERS, prepareVaults, VAULTS } from './vaults.ts';

const BATCH_RECORDS_MAX = 64;
/** Of the ledger that is loaded again and again. */
const BATCHES_PER_LOAD = 37;
/** Of the ids that a life used, those that are sent again after it. */
const SENT_AGAIN = 5;
/** More than what 10 lots at a price of 10 USD, the minimum notional, hold with a fee. */
const SMALLEST_ORDER = 11n * 10n ** 15n;
/** At the end of a history of funds: a request lives one, an approval less. */
const DRAINING_DAYS = 4;

/** Actions after which something may be due on a chain. */
const WAKES: ReadonlySet<ActionKind> = new Set([
  ...['deposit', 'mine', 'execute', 'reorg', 'provider', 'replay', 'resume', 'pass'],
] as const);

/** What happened, by name, so that no invariant holds for want of cases. */
export class Tally {
  readonly counts: Map<string, number> = new Map();

  add(name: string, count = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }
}

/** One node, from its start to its end. */
interface Life {
  readonly node: SimulatedNode;
  readonly listeners: Listeners;
  readonly readers: Readers;
  readonly performer: Performer;
  readonly chains: LifeChains;
}

/** Writes and commands of chains that follow one another until they rest. */
const CHAIN_STEPS_MAX = 5_000;

export class Player {
  readonly tally: Tally;
  readonly #disk: Disk = new Disk();
  readonly #chainDisk: ChainDisk = new ChainDisk();
  readonly #book: FundsBook = new FundsBook();
  readonly #seed: number;
  readonly #forged = new Set<string>();
  readonly #shadow: ClearingState = loadState([]);
  /** The rows of the shadow (EXP-00), and a ledger that is loaded from its tables now and then. */
  readonly #rows = new RowLedger();
  readonly #mirror = new RowMirror(BATCHES_PER_LOAD);
  readonly #protections = new ProtectionWatch();
  #shadowed = 0;
  /** `market trade` of this life. */
  readonly #confirmed = new Set<string>();
  #life: Life;
  #lives = 0;
  /** Actions until a slow actor goes on. */
  readonly #slow = new Map<string, number>();

  constructor(seed: number, first: LifeOptions, tally: Tally = new Tally()) {
    this.#seed = seed;
    this.tally = tally;
    this.#life = this.#born(first, null);
    this.#life.chains.start();
  }

  get node(): SimulatedNode {
    return this.#life.node;
  }

  /** What the disk holds of all its lives. */
  get journal(): Disk['journal'] {
    return this.#disk.journal;
  }

  /** @throws whatever invariant is broken. */
  async play(event: ScriptEvent): Promise<void> {
    try {
      await this.#playUnharmed(event);
    } catch (error) {
      if (!(error instanceof PowerLost) || this.#disk.next === null) throw error;
      this.tally.add(`power lost, ${this.#disk.next.write}`);
      await this.#die(this.#disk.next.options, this.#disk.next.write);
    }
  }

  /** The last rest, and the end of the last life. */
  async finish(topic: Script['topic']): Promise<void> {
    await this.play({ do: 'rest' });
    if (topic === 'funds') await this.#drain();
    this.#checkJournal();
    this.#life.chains.abandon();
  }

  /**
   * Providers are healthy and chains resumed, users cancel what they may, blocks come and days pass: nothing stays locked, whatever has happened (WDR-10,
   * WDR-12, STL-14).
   */
  async #drain(): Promise<void> {
    const act = (action: Action): Promise<void> => this.play({ do: 'act', action, turns: 0, seed: 1 });
    for (let day = 0; day < DRAINING_DAYS; day += 1) {
      for (const vault of VAULTS.keys()) {
        for (let provider = 0; provider < PROVIDERS; provider += 1) {
          await act({ kind: 'provider', vault, provider, fault: 'none', lagBlocks: 0 });
        }
        await this.play({ do: 'rest' });
        await act({ kind: 'resume', vault });
        await act({ kind: 'mine', vault, blocks: 4 });
      }
      await this.play({ do: 'rest' });
      // The last counter first: those behind one that ends move down.
      const rows = [...this.node.gateway.withdrawals.all()].sort((a, b) => b.nonce - a.nonce);
      for (const row of rows) {
        // A session that has ended begins again with the first refusal.
        const isOpen = row.status === 'queued' || row.status === 'filled';
        for (let turn = 0; isOpen && turn < 2; turn += 1) await act({ kind: 'cancelWithdrawal', ...placeOf(row) });
      }
      await this.play({ do: 'rest' });
      await act({ kind: 'pass', seconds: 90_000 });
    }
    const { withdrawals, settlements } = this.node.clearing.ledger;
    const live = [...withdrawals.all()].filter(({ row }) => isLive(row)).map(({ row }) => row.status);
    assert.deepEqual([...live, ...[...settlements.all()].map(({ status }) => status)], [], 'nothing is outstanding');
  }

  async #playUnharmed(event: ScriptEvent): Promise<void> {
    switch (event.do) {
      case 'act': {
        const { node, performer, chains } = this.#life;
        this.tally.add('operations', operationsOf(event.action));
        chains.step();
        performer.perform(event.action);
        if (WAKES.has(event.action.kind)) chains.wake();
        if (performer.hasPromises || chains.isBusy) await turnOfPromises();
        node.simulation.random = new SeededRandom(event.seed);
        for (let turn = 0; turn < event.turns; turn += 1) node.simulation.step();
        this.#hurry();
        break;
      }
      case 'slow':
        this.#life.node.simulation.stalled.add(event.actor);
        this.#slow.set(event.actor, event.actions);
        this.tally.add(`slow ${event.actor}`);
        break;
      case 'rest':
        await this.#rest();
        break;
      case 'kill':
        this.tally.add('kill');
        if (isLiquidating(this.node.clearing.ledger)) this.tally.add('kill in a liquidation');
        await this.#die(event.next, event.files);
        break;
      case 'powerCut':
        this.#disk.cutPower({ ...event.cut, options: event.next });
        break;
    }
  }

  /** One action less for who is slow. */
  #hurry(): void {
    for (const [actor, left] of this.#slow) {
      if (left > 0) this.#slow.set(actor, left - 1);
      else {
        this.#slow.delete(actor);
        this.#life.node.simulation.stalled.delete(actor);
      }
    }
  }

  async #rest(): Promise<void> {
    const { node, performer, chains } = this.#life;
    this.#slow.clear();
    node.simulation.stalled.clear();
    node.settle();
    // What a market that does not trade keeps waiting goes on.
    for (const asset of MARKETS) performer.perform({ kind: 'patchMarket', asset, body: { status: 'Active' } });
    performer.perform({ kind: 'release', fills: null });
    node.settle();
    await turnOfPromises();
    await this.#settleChains();
    node.settleLiquidations();
    await turnOfPromises();
    const deviations = await this.#deviations();
    assert.equal(performer.owed, 0, 'everything is answered');
    this.#noteTakeOvers();
    this.#followJournal();
    this.#noteReversals();
    checkAtRest(this.#life);
    this.#book.check(node.clearing.ledger, this.#chainDisk, chains.stopped);
    this.#book.checkDeviations(deviations, this.#chainDisk, chains.stopped);
    await this.#book.checkSignatures();
    this.#checkCut();
    this.tally.add('rests');
  }

  /** Compared now; what vaults lack goes to clearing, which answers when the node goes on (MON-05). */
  async #deviations(): Promise<ReadonlyMap<AssetId, bigint>> {
    const { node, chains } = this.#life;
    const seen: ReadonlyMap<AssetId, bigint>[] = [];
    void chains.deviations().then((deviations) => seen.push(deviations));
    for (let step = 0; step < CHAIN_STEPS_MAX; step += 1) {
      await turnOfPromises();
      const [deviations] = seen;
      if (deviations !== undefined) {
        await this.#settleChains();
        return deviations;
      }
      chains.step();
      node.settle();
    }
    return assert.fail('chains and ledger are compared');
  }

  /** What is due on the chains is done. */
  async #settleChains(): Promise<void> {
    const { node, chains } = this.#life;
    let done = -1;
    for (let step = 0; step < CHAIN_STEPS_MAX; step += 1) {
      if (!chains.isBusy) {
        if (chains.progress === done) return;
        done = chains.progress;
        chains.wake();
      }
      await turnOfPromises();
      chains.step();
      node.settle();
    }
    assert.fail('the chains go on and on');
  }

  /** What an account held is not on its streams when the backstop takes it over: a reader then reads anew. */
  #noteTakeOvers(): void {
    const { node, listeners } = this.#life;
    const rows = [...node.clearing.ledger.backstopRows.values()];
    const taken = rows.filter(({ startedNs }) => startedNs > this.#restNs);
    this.tally.add('taken over', taken.length);
    this.#restNs = node.nowNs;
    for (const listener of listeners.all) {
      if (taken.length > 0) for (const account of listener.cleared) rereadAccount(node, listener, account);
      listener.cleared.clear();
    }
  }

  #restNs = 0n;

  /** No stream has the reversal of a settlement (decision 0035): its owner reads both accounts anew. */
  #noteReversals(): void {
    const { node, listeners } = this.#life;
    for (const { user, account } of this.#book.takeReversed()) {
      this.tally.add('settlement reversed');
      const listener = listeners.of(user as UserId);
      for (const index of new Set([0, account])) rereadAccount(node, listener, index);
    }
  }

  /** Orders go with their connection. */
  #checkCut(): void {
    const { listeners, performer } = this.#life;
    for (const { orders } of listeners.all) {
      for (const id of performer.cut) assert.ok(orders.get(id)?.wasCreated !== true, `${id} went with its connection`);
    }
    performer.cut.clear();
  }

  async #die(next: LifeOptions, files: 'kept' | 'lost'): Promise<void> {
    const { node, listeners } = this.#life;
    await turnOfPromises();
    this.#chainDisk.kill(files === 'kept');
    this.#life.chains.abandon();
    this.#checkJournal();
    this.#disk.restorePower();
    this.#slow.clear();
    this.#life = this.#born(next, { listeners, nowNs: node.nowNs });
    // A market that takes no orders has not placed what fired in it, which only the gateway counts until then.
    const { markets } = this.#life.node.clearing.ledger;
    if (markets.every(({ definition }) => definition.status === MARKET_STATUS.active)) checkMargins(this.#life.node);
    this.#checkIdsAreTaken();
    this.#life.chains.start();
  }

  /** @param before the life that ended, null for the first. */
  #born(options: LifeOptions, before: { listeners: Listeners; nowNs: bigint } | null): Life {
    const disk = this.#disk;
    const forged = this.#forged;
    const startNs = before?.nowNs ?? SIMULATION_START_NS;
    const listeners = new Listeners();
    const made: { readers?: Readers; chains?: LifeChains } = {};
    this.#lives += 1;
    const node = new SimulatedNode({
      seed: this.#seed * 31 + this.#lives,
      durability: disk,
      forged,
      startNs,
      ...options,
      history: historyOfDisk(disk),
      limits: liftedLimits(startNs as TimestampNs, SIMULATED_RATES),
      batchRecordsMax: BATCH_RECORDS_MAX,
      published: (news) => {
        if (news.kind === 'settlementChanged') listeners.settlementChanged(news.row);
        if (news.kind === 'withdrawalChanged') listeners.withdrawalChanged(news.row);
        made.chains?.onClearingEvent(news);
      },
      listeners: {
        streams: listeners,
        data: (wiring) => {
          made.readers = new Readers(wiring.clock, wiring.channelOf(CLEARING), disk);
          return made.readers;
        },
      },
    });
    if (before === null) {
      prepareMarkets(node, USERS);
      prepareVaults(node);
    }
    for (const [at, listener] of listeners.all.entries()) {
      for (const [id, order] of before?.listeners.all[at]?.orders ?? []) listener.orders.set(id, { ...order });
    }
    node.settle();
    reread(node, listeners);
    assert.ok(made.readers !== undefined);
    const count = (what: string): void => this.tally.add(what);
    const resumed = (chainId: ChainId): void => {
      this.#followJournal();
      this.#book.accept(chainId, this.#chainDisk);
    };
    const stops = (chainId: ChainId, stopped: Stopped): void => {
      this.#followJournal();
      this.#book.stops(chainId, stopped, this.#chainDisk);
    };
    const chains = new LifeChains({ node, disk: this.#chainDisk, book: this.#book, count, stops, resumed });
    made.chains = chains;
    const performer = new Performer(node, { listeners, chains, forged, count });
    return { node, listeners, readers: made.readers, performer, chains };
  }

  /** The shadow ledger and the book of funds read what was journaled since the last time. */
  #followJournal(): void {
    for (; this.#shadowed < this.#disk.journal.length; this.#shadowed += 1) {
      const record = this.#disk.journal[this.#shadowed];
      assert.ok(record !== undefined);
      const effects: Effect[] = [];
      const batch = decodeBatch(record.payload);
      for (const input of batch.inputs) this.#protections.follow(input);
      this.#rows.begin(this.#shadow);
      applyBatch(this.#shadow, batch, effects);
      this.#mirror.apply(decodeBatch(record.payload), this.#rows.check(this.#shadow, batch.timeNs));
      this.#book.noted(batch, effects);
      for (const effect of effects) this.#noteEffect(effect, this.#confirmed);
      for (const input of batch.inputs) {
        if (input.kind === 'ended') this.tally.add(ORDER_END_WORD[input.end]);
        else if (input.kind === 'matched' && this.#protections.isMember(input)) this.tally.add('matched member');
        else this.tally.add(input.kind);
      }
    }
  }

  /** The journal is the truth: it gives the ledger that lived, and holds all that users were reported as confirmed. */
  #checkJournal(): void {
    const { node, listeners } = this.#life;
    this.#followJournal();
    const confirmed = this.#confirmed;
    // A write that was kept while the power went was never applied by the one that lived.
    if (this.#disk.next?.write !== 'kept' || !this.#disk.isDark) {
      assert.equal(stateHash(this.#shadow), stateHash(node.clearing.ledger), 'the journal is the truth');
    }
    for (const listener of listeners.all) {
      for (const side of listener.confirmed) {
        const [asset = '', tradeId] = side.split(' ');
        assert.ok(confirmed.has(`${asset} ${tradeId}`), `what is told as confirmed is durable: ${side}`);
      }
      this.tally.add('confirmed sides', listener.confirmed.size);
      this.tally.add('amended', listener.amended);
      listener.amended = 0;
    }
    confirmed.clear();
  }

  #noteEffect(effect: Effect, confirmed: Set<string>): void {
    if (effect.kind === 'deleveraged') {
      confirmed.add(`${MARKETS[effect.trade.marketIndex]} ${effect.trade.tradeId}`);
      this.tally.add('deleveraged');
    } else if (effect.kind === 'fillConfirmed') {
      confirmed.add(`${MARKETS[effect.trade.marketIndex]} ${effect.trade.tradeId}`);
      this.tally.add('fill confirmed');
    } else if (effect.kind === 'fillRolledBack') {
      for (const reason of [effect.makerReason, effect.takerReason]) {
        this.tally.add(`fill ${ROLLBACK_REASON_WORD[reason]}`);
      }
    } else if (effect.kind !== 'replied') this.tally.add(effect.kind);
  }

  /** Ids of the life that ended stay taken (AMB-08). */
  #checkIdsAreTaken(): void {
    const { node } = this.#life;
    for (const { user, id, market } of this.#lastCreated()) {
      const nowNs = node.nowNs as TimestampNs;
      const order = { baseAsset: { id: market, text: market }, creationNs: nowNs, maxTradingFeesRate: 3_000 };
      // A user who cannot pay for the smallest order is refused before its id is looked up.
      if (node.gateway.orders.funds({ user, subAccount: 0, asset: USD }).available < SMALLEST_ORDER) continue;
      let code = 'no answer';
      const request = createRequest({ user, id, price: 1_000, quantity: 10, postSignNs: nowNs }, order);
      node.gateway.entry.submit(
        { kind: 'create', request },
        { user, connection: 1, isControl: true },
        ({ refusal }) => {
          code = refusal?.code ?? 'Received';
        },
      );
      node.drain();
      assert.ok(['DUPLICATE_ORDER', 'MARKET_HALTED'].includes(code), `${id} stays taken, but was answered ${code}`);
    }
  }

  /** The last orders that the journal has seen. */
  #lastCreated(): readonly { user: UserId; id: OrderId; market: AssetId }[] {
    const taken: { user: UserId; id: OrderId; market: AssetId }[] = [];
    for (let at = this.#disk.journal.length - 1; at >= 0 && taken.length < SENT_AGAIN; at -= 1) {
      const record = this.#disk.journal[at];
      for (const input of record === undefined ? [] : decodeBatch(record.payload).inputs) {
        const market = input.kind === 'created' ? MARKETS[input.marketIndex] : undefined;
        // No client can use an id of the node.
        if (input.kind === 'created' && market !== undefined && !isOfNode(input.order.orderId)) {
          taken.push({ user: input.order.user, id: input.order.orderId, market });
        }
      }
    }
    return taken;
  }
}

/** Promises that can go on do so: nothing in a simulation waits for timers or for I/O. */
function turnOfPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
