/**
 * Damages the map under a node that runs (live-damage.ts), and checks the result. Each run begins with a copy of one
 * directory that a node has lived in:
 *
 *   start ─▶ load ─▶ damage ─▶ load goes on ─▶ it ends by itself, or everything is compared and it is killed or stopped
 *         ─▶ verify ─▶ start ─▶ it refuses, or everything is compared again
 *
 * Compared is what was published with what is read: every side that was reported as confirmed, what both users own, the
 * book. What a damaged directory has lost may be missing, but not be silent: then the node ends, answers with an error,
 * or refuses to start, and `verify` refuses the directory. Nothing wrong is ever reported as confirmed, before or
 * after.
 */
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Order } from '../../src/client/canonical.ts';
import { RingbookError } from '../../src/client/errors.ts';
import { format18, parseDecimal18 } from '../../src/core/decimal.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { isAccepted } from './damage-campaign.ts';
import { LIVE_DAMAGES } from './live-damage.ts';
import { checkBook, checkHistory, Load } from './node-load.ts';
import { barrier, type NodeProcess, startNode, stopNode } from './node-process.ts';
import { aMoment, eventually } from './patience.ts';
import { recoveredAndReplayed } from './recovered.ts';
import { SeededRandom } from './simulation.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

export interface LiveDamageCounts {
  runs: number;
  /** Sides that were reported as confirmed. */
  confirmed: number;
  /** The node ended by itself, with 70 and a line with the reason. */
  ended: number;
  /** Mapped memory was gone, or lmdb followed damage out of its pages: the process died by a signal. */
  crashed: number;
  /** A read was answered with an error. */
  answered: number;
  /** The next start refused. */
  refused: number;
  /** The next start was one, with everything right, and only `verify` refuses: older history, which is verified on demand. */
  late: number;
  /** Nothing that is in use was hit, or it was written anew: the directory verifies, and everything is right. */
  harmless: number;
  /** Each names what has to be repeated. */
  readonly problems: string[];
}

const SIDES_BEFORE = 40;
const SIDES_AROUND = 20;
const EXIT_FAILED = 70;
const EXIT_REFUSED = 78;
const SIGNALS: readonly (number | string)[] = ['SIGBUS', 'SIGSEGV', 'SIGABRT'];
/** A node that dies of damage is gone by then; one that is not goes on. */
const LAST_WORDS_MS = 10_000;

/** A directory of a node that was stopped, and what was reported to its users. */
interface Before {
  readonly dataDirectory: string;
  readonly map: Buffer;
  readonly marginIds: Set<string>;
  readonly load: Load;
}

export async function liveDamageCampaign(seed: number, runs: number): Promise<LiveDamageCounts> {
  const counts: LiveDamageCounts = {
    runs,
    confirmed: 0,
    ended: 0,
    crashed: 0,
    answered: 0,
    refused: 0,
    late: 0,
    harmless: 0,
    problems: [],
  };
  const before = await lived(seed);
  for (let run = 0; run < runs; run += 1) await new Run(before, { seed, run, counts }).go();
  removeDirectory(before.dataDirectory);
  return counts;
}

async function lived(seed: number): Promise<Before> {
  const node = await startNode({ profile: 'dev' });
  const marginIds = new Set<string>();
  const load = new Load(node, new SeededRandom(seed), marginIds);
  const running = load.run();
  await load.untilTold(SIDES_BEFORE);
  load.stop();
  await running;
  await barrier(node);
  assert.equal(await stopNode(node), 0, node.stderr());
  load.close();
  const map = readFileSync(join(node.dataDirectory, MAP_FILE_NAME));
  return { dataDirectory: node.dataDirectory, map, marginIds, load };
}

class Run {
  readonly #before: Before;
  readonly #counts: LiveDamageCounts;
  readonly #random: SeededRandom;
  /** Its own, as what the load draws depends on timing. */
  readonly #ofDamage: SeededRandom;
  readonly #run: number;
  readonly #name: string;
  readonly #directory = temporaryDirectory();
  readonly #marginIds: Set<string>;
  #what = 'nothing';
  #node: NodeProcess | null = null;

  constructor(
    before: Before,
    { seed, run, counts }: { readonly seed: number; readonly run: number; readonly counts: LiveDamageCounts },
  ) {
    this.#before = before;
    this.#counts = counts;
    this.#run = run;
    this.#random = new SeededRandom(seed + run);
    this.#ofDamage = new SeededRandom(seed + run);
    this.#name = `seed ${seed}, run ${run}`;
    this.#marginIds = new Set(before.marginIds);
  }

  async go(): Promise<void> {
    try {
      cpSync(this.#before.dataDirectory, this.#directory, { recursive: true });
      const load = await this.#damaged();
      await this.#again(load);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      this.#counts.problems.push(`${this.#name}, ${this.#what}: ${words}`);
    } finally {
      if (this.#node !== null) await stopNode(this.#node, 'SIGKILL');
      removeDirectory(this.#directory);
    }
  }

  async #damaged(): Promise<Load> {
    const node = await startNode({ profile: 'dev', dataDirectory: this.#directory });
    this.#node = node;
    const load = new Load(node, this.#random, this.#marginIds);
    const running = load.run().catch(() => undefined);
    const isOver = (sides: number): boolean => hasEnded(node) || load.confirmed().length >= sides;
    await eventually(() => isOver(1 + SIDES_AROUND));
    const damage = LIVE_DAMAGES[this.#run % LIVE_DAMAGES.length];
    assert.ok(damage !== undefined && !hasEnded(node), node.stderr());
    this.#what = damage(join(this.#directory, MAP_FILE_NAME), this.#ofDamage, this.#before.map);
    const told = load.confirmed().length;
    await eventually(() => isOver(told + SIDES_AROUND));
    load.stop();
    if (!hasEnded(node)) {
      await running;
      await this.#compare(node, load, false);
    }
    if (!hasEnded(node)) await stopNode(node, this.#random.below(2) === 0 ? 'SIGTERM' : 'SIGKILL');
    load.close();
    await this.#judgeEnd(node);
    checkTold(load, this.#before.load);
    this.#counts.confirmed += load.confirmed().length;
    return load;
  }

  /**
   * What is read is what was published, or an error, or the end of the node. @param isSound nothing but the first will
   * do.
   */
  async #compare(node: NodeProcess, load: Load, isSound: boolean): Promise<void> {
    try {
      await barrier(node);
      for (const told of [this.#before.load, load]) await checkHistory(node, told, this.#marginIds);
      await checkBook(node);
    } catch (error) {
      if (isSound) throw error;
      if (error instanceof assert.AssertionError) throw new Error(`what is read is wrong: ${error.message}`);
      await Promise.race([node.ended, aMoment(LAST_WORDS_MS)]);
      if (hasEnded(node)) return;
      if (!(error instanceof RingbookError)) throw error;
      this.#counts.answered += 1;
    }
  }

  async #judgeEnd(node: NodeProcess): Promise<void> {
    const how = await node.ended;
    if (how === EXIT_FAILED) {
      assert.match(node.stderr(), /"reason":"/, 'it says why it ends');
      this.#counts.ended += 1;
    } else if (SIGNALS.includes(how)) this.#counts.crashed += 1;
    else assert.ok(how === 0 || how === 'SIGKILL', `it ended with ${how}: ${node.stderr()}`);
  }

  /** What a verification and a start make of the directory. */
  async #again(load: Load): Promise<void> {
    const isSound = isAccepted(this.#directory);
    if (isSound) await recoveredAndReplayed(this.#directory);
    let node: NodeProcess;
    try {
      node = await startNode({ profile: 'dev', dataDirectory: this.#directory });
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      assert.ok(!isSound, `it verifies and does not start: ${words}`);
      assert.match(words, new RegExp(`ended with (${EXIT_REFUSED}|${EXIT_FAILED}|SIG[A-Z]+) before`));
      if (words.includes(`ended with ${EXIT_REFUSED} `)) assert.match(words, /is damaged|could not be checked/);
      this.#counts.refused += 1;
      return;
    }
    this.#node = node;
    await this.#compare(node, load, isSound);
    if (isSound) this.#counts.harmless += 1;
    else this.#counts.late += 1;
  }
}

function hasEnded({ child }: NodeProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/**
 * The sides that were reported as confirmed, on their own: none twice, both of a trade alike, each within its order.
 */
function checkTold(load: Load, before: Load): void {
  const trades = new Map<string, string>();
  const filled = new Map<string, bigint>();
  const seen = new Set<string>();
  for (const { trade } of [...before.confirmed(), ...load.confirmed()]) {
    const side = `${trade.tradeId} ${trade.isMaker}`;
    assert.ok(!seen.has(side), `trade ${side} was told twice`);
    seen.add(side);
    const words = `${trade.price} ${trade.quantity} ${trade.isBuyer === trade.isMaker}`;
    assert.equal(trades.get(`${trade.tradeId}`) ?? words, words, `both sides of trade ${trade.tradeId}`);
    trades.set(`${trade.tradeId}`, words);
    const order = load.orders.get(trade.orderId) ?? before.orders.get(trade.orderId);
    assert.ok(order !== undefined, `trade ${trade.tradeId} is of an order that was sent`);
    const sum = (filled.get(trade.orderId) ?? 0n) + amount(trade.quantity);
    filled.set(trade.orderId, sum);
    checkWithin(order, { isBuyer: trade.isBuyer, price: amount(trade.price), filled: sum });
  }
}

function checkWithin(
  order: Order,
  { isBuyer, price, filled }: { readonly isBuyer: boolean; readonly price: bigint; readonly filled: bigint },
): void {
  assert.equal(isBuyer, order.side === 'Buy', `order ${order.orderId} is on its side`);
  const raw = 'limitPrice' in order ? order.quantity : order.size.quantity;
  const quantity = scaled(raw, order.quantityDecimals);
  assert.ok(filled <= quantity, `order ${order.orderId} filled ${format18(filled)} of ${format18(quantity)}`);
  if (!('limitPrice' in order)) return;
  const limit = scaled(order.limitPrice, order.priceDecimals);
  assert.ok(isBuyer ? price <= limit : price >= limit, `order ${order.orderId} traded at ${format18(price)}`);
}

/** A raw book number as 18 decimals. */
function scaled(raw: number, decimals: number): bigint {
  return BigInt(raw) * 10n ** BigInt(18 - decimals);
}

function amount(text: string): bigint {
  const parsed = parseDecimal18(text);
  assert.ok(parsed !== null, text);
  return parsed;
}
