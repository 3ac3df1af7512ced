/**
 * A whole node under a mixed load of minutes to hours, with what happens to machines, in lives of one data directory:
 *
 *   start ─▶ orders and fills, deposits, transfers, withdrawals, settlements ─▶ kill -9 or SIGTERM ─▶ recount, replay ─▶ start …
 *                 ▲ at random: the reader of its log stalls; its system clock steps; one of its providers fails;
 *                 │ other providers, drawn from the table of real companies
 *
 * The load of orders is that of the other campaigns (node-load.ts), with durable acknowledgements; the chain is an anvil
 * (soak-funds.ts); the clock is moved by a shim before the process, and users sign by the node's time. At intervals the ledger must add up
 * and memory is looked at; at each start, and at the end, every acknowledged order is there, what was published follows from history, the
 * book is that of the open orders, and at the end funds are what the chain shows.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RingbookClient } from '../../src/client/client.ts';
import { devKey } from '../../src/client/keys.ts';
import { buildShim } from './io-shim.ts';
import { checkBook, checkHistory, Load } from './node-load.ts';
import { metricOf, type NodeProcess, operator, startNode, stopNode } from './node-process.ts';
import { aMoment, eventually } from './patience.ts';
import { recoveredAndReplayed } from './recovered.ts';
import { SeededRandom } from './simulation.ts';
import { COLLECTS_OFTEN, SHORT_RINGS } from './soak.ts';
import { SoakFunds } from './soak-funds.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

export interface FaultSoakWish {
  readonly seed: number;
  /** Of load, all lives together. */
  readonly minutes: number;
  readonly lives: number;
  /** Orders. */
  readonly perSecond: number;
}

export interface FaultSoakResult {
  readonly problems: readonly string[];
  /** How often what happened, by its name. */
  readonly events: Readonly<Record<string, number>>;
  readonly funds: Readonly<Record<string, number>>;
  /** Orders by the reason of their refusal. */
  readonly refused: Readonly<Record<string, number>>;
  readonly acknowledged: number;
  readonly confirmed: number;
  readonly lives: readonly LifeFigures[];
}

/** Memory is anonymous, in MiB: the least of the first and of the second half of what comes after a third of the life. */
interface LifeFigures {
  readonly seconds: number;
  readonly orders: number;
  readonly firstMiB: number;
  readonly secondMiB: number;
  readonly mostMiB: number;
  /** Least squares over the last two thirds. */
  readonly mibPerMinute: number;
  readonly ended: 'SIGKILL' | 'SIGTERM';
}

const CLOCK_SHIM = 'test/support/clock-shim.c';
const S = 1_000_000_000n;
const POLL_MS = 100;
const CHECK_MS = 5_000;
const SAMPLE_MS = 1_000;
const CALLS_AT_ONCE = 50;
/** Calls with an audit line each: more than the pipe and the buffer of the log hold. */
const CALLS_OF_A_STALL = 4_000;
const STEP_S_MAX = 8;
const LARGE_STEP_S = { min: 70, spread: 60 };
/** Lives that are shorter have no memory to judge, nor large steps. */
const LONG_LIFE_MS = 60_000;
/** Beside the ids and trades of orders (soak.ts): what collectors leave. */
const MORE_MIB_MAX = 48;
const BYTES_PER_ORDER = 160;
const START_ATTEMPTS = 3;

/** The node's time, as its operator reads it: what its users sign by. */
class NodeTime {
  #aheadNs = 0n;
  #last = 0n;
  #isStopped = false;

  readonly nowNs = (): bigint => {
    const now = BigInt(Date.now()) * 1_000_000n + this.#aheadNs;
    this.#last = now > this.#last ? now : this.#last + 1n;
    return this.#last;
  };

  async follow(node: NodeProcess): Promise<void> {
    this.#isStopped = false;
    while (!this.#isStopped) {
      await this.look(node).catch(() => undefined);
      await aMoment(POLL_MS);
    }
  }

  async look(node: NodeProcess): Promise<void> {
    const { body } = await operator(node, 'GET', '/operator/wall-clock');
    this.#aheadNs = BigInt(String(body['now_ns'])) - BigInt(Date.now()) * 1_000_000n;
  }

  stop(): void {
    this.#isStopped = true;
  }
}

export async function faultSoak(wish: FaultSoakWish): Promise<FaultSoakResult> {
  const soak = new FaultSoak(wish);
  try {
    await soak.run();
  } catch (error) {
    soak.problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await soak.end();
  }
  return soak.result();
}

class FaultSoak {
  readonly #wish: FaultSoakWish;
  readonly #random: SeededRandom;
  readonly #home = temporaryDirectory();
  readonly #dataDirectory = join(this.#home, 'data');
  readonly #clockFile = join(this.#home, 'clock');
  readonly #config = join(this.#home, 'config.json');
  readonly #shim = buildShim(CLOCK_SHIM);
  readonly #time = new NodeTime();
  readonly #marginIds = new Set<string>();
  readonly problems: string[] = [];
  readonly #events = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #figures: LifeFigures[] = [];
  #clockNs = 0n;
  #acknowledged = 0;
  #confirmed = 0;
  #node: NodeProcess | null = null;
  #funds: SoakFunds | null = null;

  constructor(wish: FaultSoakWish) {
    this.#wish = wish;
    this.#random = new SeededRandom(wish.seed);
  }

  async run(): Promise<void> {
    this.#moveClock(0n);
    const settings = { hooks: false, orderWaitMsMax: 0, rings: SHORT_RINGS, logLevel: 'info' };
    writeFileSync(this.#config, JSON.stringify({ extends: 'dev', ...settings }));
    this.#funds = await SoakFunds.open(new SeededRandom(this.#wish.seed + 1));
    const lifeMs = (this.#wish.minutes * 60_000) / this.#wish.lives;
    let load: Load | null = null;
    for (let life = 1; life <= this.#wish.lives; life += 1) {
      const node = await this.#start();
      if (load === null) {
        const acks = await operator(node, 'PATCH', '/operator/settings', { acks: 'durable' });
        assert.equal(acks.status, 200, acks.text);
        await this.#funds.register(node);
      } else await this.#compare(node, load);
      load = await this.#live(node, lifeMs, life);
      process.stderr.write(`life ${life}: ${JSON.stringify(this.#figures.at(-1))}\n`);
    }
    assert.ok(load !== null);
    const node = await this.#start();
    await this.#compare(node, load);
    await this.#funds.check(node);
    await ledgerAddsUp(node);
    assert.equal(await stopNode(node), 0, node.stderr().slice(-2_000));
    await recoveredAndReplayed(this.#dataDirectory);
  }

  result(): FaultSoakResult {
    return {
      problems: this.problems,
      events: Object.fromEntries([...this.#events].sort()),
      funds: Object.fromEntries([...(this.#funds?.tally ?? [])].sort()),
      refused: Object.fromEntries([...this.#refused].sort()),
      acknowledged: this.#acknowledged,
      confirmed: this.#confirmed,
      lives: this.#figures,
    };
  }

  async end(): Promise<void> {
    this.#time.stop();
    this.#funds?.stop();
    if (this.#node !== null) await stopNode(this.#node, 'SIGKILL');
    await this.#funds?.close();
    removeDirectory(this.#home);
  }

  #count(event: string): void {
    this.#events.set(event, (this.#events.get(event) ?? 0) + 1);
  }

  /** The system clock of the node is so far from that of this process. */
  #moveClock(byNs: bigint): void {
    this.#clockNs += byNs;
    writeFileSync(this.#clockFile, `${this.#clockNs}`);
  }

  /** A start that finds times of its data ahead of a clock that went back is told to accept it, as its refusal says. */
  async #start(): Promise<NodeProcess> {
    let accepted: Readonly<Record<string, string>> = {};
    for (let attempt = 1; ; attempt += 1) {
      try {
        const shim = this.#shim === null ? {} : { LD_PRELOAD: this.#shim, CLOCK_SHIM_FILE: this.#clockFile };
        this.#node = await startNode({
          profile: 'dev',
          dataDirectory: this.#dataDirectory,
          engine: COLLECTS_OFTEN,
          env: { RINGBOOK_CONFIG: this.#config, ...shim, ...accepted },
        });
        await this.#time.look(this.#node);
        return this.#node;
      } catch (error) {
        const seconds = /RINGBOOK_ACCEPT_CLOCK=([0-9]+)/.exec(error instanceof Error ? error.message : '')?.[1];
        if (seconds === undefined || attempt === START_ATTEMPTS) throw error;
        this.#count('starts with the clock behind, accepted');
        accepted = { RINGBOOK_ACCEPT_CLOCK: seconds };
      }
    }
  }

  /** One life of the node, to its end. */
  async #live(node: NodeProcess, forMs: number, life: number): Promise<Load> {
    const { nowNs } = this.#time;
    const load = new Load(node, this.#random, this.#marginIds, this.#wish.perSecond, { nowNs });
    const funds = this.#funds ?? assert.fail();
    const faults: unknown[] = [];
    const kept = (what: string) => (error: unknown) => {
      faults.push(new Error(`${what}: ${error instanceof Error ? error.stack : String(error)}`));
    };
    const following = this.#time.follow(node);
    const loading = load.run().catch(kept('orders'));
    const moving = funds.run(node, nowNs).catch(kept('funds'));
    const startedMs = performance.now();
    const isOver = (): boolean => performance.now() - startedMs >= forMs;
    const samples: [ms: number, mib: number][] = [];
    const sampling = setInterval(() => samples.push([performance.now() - startedMs, memoryMiB(node)]), SAMPLE_MS);
    try {
      const misfortunes = this.#misfortunes(node, isOver, forMs).catch(kept('misfortunes'));
      while (!isOver() && faults.length === 0) {
        assert.equal(node.child.exitCode, null, `the node ended: ${node.stderr().slice(-2_000)}`);
        await ledgerAddsUp(node);
        await aMoment(Math.min(CHECK_MS, forMs / 4));
      }
      if (faults.length > 0) throw faults[0];
      await misfortunes;
    } finally {
      clearInterval(sampling);
    }
    const ended = life < this.#wish.lives && this.#random.below(4) > 0 ? 'SIGKILL' : 'SIGTERM';
    const orders = load.orders.size;
    if (ended === 'SIGTERM') {
      load.stop();
      funds.stop();
      await Promise.all([loading, moving]);
    }
    const how = await stopNode(node, ended);
    assert.equal(how, ended === 'SIGTERM' ? 0 : 'SIGKILL', node.stderr().slice(-2_000));
    this.#count(ended === 'SIGTERM' ? 'orderly ends' : 'kill -9');
    load.stop();
    funds.stop();
    this.#time.stop();
    await Promise.all([loading, moving, following]);
    load.close();
    assert.deepEqual(faults, []);
    await recoveredAndReplayed(this.#dataDirectory);
    const figures = { seconds: Math.round(forMs / 1_000), orders, ...memoryFigures(samples, forMs), ended } as const;
    this.#figures.push(figures);
    const allowed = MORE_MIB_MAX + (orders * BYTES_PER_ORDER) / 1_048_576;
    if (forMs >= LONG_LIFE_MS && figures.secondMiB - figures.firstMiB > allowed) {
      this.problems.push(`life ${life}: memory grew from ${figures.firstMiB} to ${figures.secondMiB} MiB`);
    }
    for (const [reason, times] of load.refused) this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + times);
    this.#acknowledged += load.acknowledged.length;
    this.#confirmed += load.confirmed().length;
    return load;
  }

  /** Everything of the load that was acknowledged or published is there. */
  async #compare(node: NodeProcess, load: Load): Promise<void> {
    await missing(node, load.acknowledged).then((ids) => {
      assert.deepEqual(ids.slice(0, 10), [], `${ids.length} acknowledged orders are lost`);
    });
    // What was restored may still trade, and market data gets it last.
    let fault: unknown = null;
    await eventually(
      async () => {
        try {
          await checkHistory(node, load, this.#marginIds);
          await checkBook(node);
          return true;
        } catch (error) {
          if (!(error instanceof assert.AssertionError)) throw error;
          fault = error;
          await aMoment(500);
          return false;
        }
      },
      () => String(fault),
    );
  }

  /** One after the other, with pauses, until the life is over; the last one ends with it. */
  async #misfortunes(node: NodeProcess, isOver: () => boolean, lifeMs: number): Promise<void> {
    const random = this.#random;
    const longest = Math.min(40_000, lifeMs / 4);
    const kinds = this.#shim === null ? 3 : 5;
    while (!isOver()) {
      await aMoment(random.below(Math.min(15_000, lifeMs / 5)));
      if (isOver()) return;
      switch (random.below(kinds)) {
        case 0:
          await this.#stallLog(node, longest / 4 + random.below(longest / 2), isOver);
          break;
        case 1:
          this.#count(`a provider is ${await this.#funds?.failOne(random.below(longest / 2))}`);
          break;
        case 2:
          await this.#funds?.drawCompanies(node);
          this.#count('other providers');
          break;
        default:
          await this.#stepClock(node, lifeMs >= LONG_LIFE_MS && random.below(6) === 0, isOver);
      }
    }
  }

  /** Nobody reads the log, and calls with a line each are answered. */
  async #stallLog(node: NodeProcess, forMs: number, isOver: () => boolean): Promise<void> {
    const dropped = (): Promise<number> => metricOf(node, 'ringbook_log_lines_dropped_total');
    const [before, fromMs] = [await dropped(), performance.now()];
    node.child.stderr?.pause();
    try {
      for (
        let calls = 0;
        calls < CALLS_OF_A_STALL && !isOver() && (await dropped()) === before;
        calls += CALLS_AT_ONCE
      ) {
        const replies = Array.from({ length: CALLS_AT_ONCE }, () => operator(node, 'PATCH', '/operator/settings', {}));
        for (const { status } of await Promise.all(replies)) assert.ok(status === 200 || status === 400, `${status}`);
      }
      while (performance.now() - fromMs < forMs && !isOver()) await aMoment(POLL_MS);
      this.#count((await dropped()) > before ? 'stalls of the log, lines dropped' : 'stalls of the log');
    } finally {
      node.child.stderr?.resume();
    }
  }

  async #stepClock(node: NodeProcess, isLarge: boolean, isOver: () => boolean): Promise<void> {
    const random = this.#random;
    const seconds = isLarge ? LARGE_STEP_S.min + random.below(LARGE_STEP_S.spread) : 1 + random.below(STEP_S_MAX);
    const isForward = isLarge || random.below(2) === 0;
    this.#moveClock(BigInt(isForward ? seconds : -seconds) * S);
    this.#count(isLarge ? 'large steps of the clock' : isForward ? 'steps forward' : 'steps backward');
    // A step that is held waits for its operator; what is not held is followed by itself.
    const clock = async () => (await operator(node, 'GET', '/operator/wall-clock')).body;
    const untilMs = performance.now() + (isLarge ? 15_000 : 2_000);
    while (performance.now() < untilMs && !isOver()) {
      const { held, difference_seconds } = await clock();
      if (held === true) {
        const accepted = { difference_seconds: Math.round(Number(difference_seconds)) };
        const { status } = await operator(node, 'POST', '/operator/wall-clock/accept', accepted);
        if (status === 200) this.#count('steps that the operator bore out');
      }
      await aMoment(POLL_MS);
    }
    if (isOver()) return;
    const { held } = await clock();
    assert.equal(held, false, 'no step is held for ever');
  }
}

async function ledgerAddsUp(node: NodeProcess): Promise<void> {
  const { body } = await operator(node, 'GET', '/operator/ledger');
  for (const [asset, row] of Object.entries(body['assets'] as Record<string, { readonly difference: string }>)) {
    assert.equal(row.difference, '0', `asset ${asset} adds up`);
  }
}

/** Orders that no read of their owners returns. */
async function missing(node: NodeProcess, acknowledged: readonly string[]): Promise<readonly string[]> {
  const wanted = new Set(acknowledged);
  for (const name of ['a', 'b'] as const) {
    const client = new RingbookClient({ oms: node.oms, mds: node.mds, key: devKey(name) });
    await client.login();
    for (let page: number | null = 0; page !== null && wanted.size > 0; ) {
      const found: Awaited<ReturnType<RingbookClient['orders']>> = await client.orders({ page, limit: 1000 });
      for (const { orderId } of found.items) wanted.delete(orderId);
      page = found.nextPage;
    }
    client.close();
  }
  return [...wanted];
}

// ---- memory

function memoryMiB({ pid }: NodeProcess): number {
  try {
    const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1] ?? Number.NaN) / 1_024;
  } catch {
    return Number.NaN;
  }
}

function memoryFigures(
  all: readonly (readonly [number, number])[],
  forMs: number,
): Pick<LifeFigures, 'firstMiB' | 'secondMiB' | 'mostMiB' | 'mibPerMinute'> {
  const samples = all.filter(([ms, mib]) => ms > forMs / 3 && ms <= forMs && Number.isFinite(mib));
  const least = (from: number, to: number): number =>
    Math.round(Math.min(...samples.filter(([ms]) => ms > from && ms <= to).map(([, mib]) => mib)));
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanMs, meanMiB] = [mean(samples.map(([ms]) => ms)), mean(samples.map(([, mib]) => mib))];
  const both = samples.reduce((sum, [ms, mib]) => sum + (ms - meanMs) * (mib - meanMiB), 0);
  const squares = samples.reduce((sum, [ms]) => sum + (ms - meanMs) ** 2, 0);
  return {
    firstMiB: least(forMs / 3, (forMs * 2) / 3),
    secondMiB: least((forMs * 2) / 3, forMs),
    mostMiB: Math.round(Math.max(...samples.map(([, mib]) => mib))),
    mibPerMinute: Math.round((both / squares) * 60_000 * 10) / 10,
  };
}
