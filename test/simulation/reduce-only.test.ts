// tier: full
/**
 * Reduce-only orders in random histories of a whole node (MON-09): every kind of order, replaces, cancels, transfers, rollbacks of
 * forged orders, liquidations, deleveraging, kills and restarts.
 *
 *   whenever the node is quiet   the resting reduce-only orders of a side are at most the position, in gateway, market and ledger
 *   every confirmed fill         of a reduce-only order makes its position smaller, and flips none
 *   another life on the disk     has the same orders, books and room
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClearingState } from '../../src/clearing/state.ts';
import { NODE_ORDER_PREFIX } from '../../src/core/ids.ts';
import { ORDER_FLAG, ORDER_KIND, SIDE, type Side, TIF, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import { offsetLots } from '../../src/risk/exposure.ts';
import { MemoryDurability } from '../support/memory-durability.ts';
import { prepareMarkets } from '../support/simulated-markets.ts';
import { SIMULATION_START_NS, SimulatedNode } from '../support/simulated-node.ts';
import { Traders } from '../support/simulated-traders.ts';

const SEEDS = 40;
const ROUNDS = 60;
const REDUCE_ONLY_SHARE = 2;

interface Counts {
  /** Sides of a position with resting ones at a quiet moment. */
  rested: number;
  fills: number;
  undone: number;
  cut: number;
  cancelled: number;
}

test('resting reduce-only orders never exceed their position when all is quiet, and no fill grows or flips one (MON-09)', () => {
  const counts: Counts = { rested: 0, fills: 0, undone: 0, cut: 0, cancelled: 0 };
  for (let seed = 1; seed <= SEEDS; seed += 1) history(seed, counts);
  const { undone, ...seen } = counts;
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 20, `${what}: ${count}`);
  assert.ok(undone * 4 < counts.fills, `${undone} of ${counts.fills} were undone`);
});

function history(seed: number, counts: Counts): void {
  const durability = new MemoryDurability();
  let life = 1;
  let traders = new Traders(seed, `l${life}-`, REDUCE_ONLY_SHARE);
  const forged = new Set<string>();
  const fills = new Fills();
  const begin = (startNs: bigint): SimulatedNode => new SimulatedNode({ durability, forged, startNs, seed });
  let node = begin(SIMULATION_START_NS);
  prepareMarkets(node);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let step = 0; step < 40; step += 1) {
      if (traders.random.below(3) === 0) traders.act(node);
      for (const id of traders.forged) forged.add(id);
      for (const [id, reduceOnly] of traders.margin) fills.margin.set(id, reduceOnly);
      node.simulation.step();
    }
    if (traders.random.below(3) > 0) continue;
    node.settleLiquidations();
    fills.look(node, counts);
    checkQuiet(node, seed, counts);
    if (traders.random.below(6) > 0) continue;
    count(node, counts);
    const [rested, books] = [[...restingByPosition(node.clearing.ledger)], node.bookHashes()];
    const before = node;
    life += 1;
    traders = new Traders(seed * 100 + life, `l${life}-`, REDUCE_ONLY_SHARE);
    node = begin(before.nowNs);
    assert.deepEqual([...restingByPosition(node.clearing.ledger)], rested, `seed ${seed}: what rests in another life`);
    assert.deepEqual(node.bookHashes(), books, `seed ${seed}: the books of another life`);
    node.settleLiquidations();
    fills.look(node, counts);
    checkQuiet(node, seed, counts);
  }
  count(node, counts);
}

function count(node: SimulatedNode, counts: Counts): void {
  for (const { event } of node.events) {
    if (event.kind === 'Replaced') counts.cut += 1;
    if (event.kind === 'Canceled' && event.reason === 'ReduceOnly') counts.cancelled += 1;
  }
}

/** What was published about fills, against positions that are counted anew from them. */
class Fills {
  /** Orders on margin, by id: whether they may only reduce. */
  readonly margin = new Map<string, boolean>();
  /** Confirmed bases since the last quiet moment, by user and asset. */
  readonly #bases = new Map<string, bigint>();
  #node: SimulatedNode | null = null;
  #seen = 0;

  /** At a quiet moment: positions of accounts in which the node traded begin anew there. */
  look(node: SimulatedNode, counts: Counts): void {
    if (node !== this.#node) this.#seen = 0;
    this.#node = node;
    const byNode = new Set<string>();
    for (; this.#seen < node.told.length; this.#seen += 1) {
      const told = node.told[this.#seen];
      assert.ok(told !== undefined);
      const { user, trade } = told;
      const reduceOnly = this.margin.get(trade.orderId);
      if (trade.rollbackReason === 'ReduceOnlyViolation') counts.undone += 1;
      if (trade.subAccount !== 1 || trade.status !== 'Confirmed') continue;
      const key = `${user} ${trade.assetId}`;
      if (trade.isLiquidation || trade.isAutoDeleverage || trade.orderId.startsWith(NODE_ORDER_PREFIX)) byNode.add(key);
      if (reduceOnly === undefined || byNode.has(key)) continue;
      const base = this.#bases.get(key) ?? 0n;
      const after = base + BigInt(trade.isBuyer ? trade.quantity : -trade.quantity);
      this.#bases.set(key, after);
      if (!reduceOnly) continue;
      counts.fills += 1;
      const isSmaller = base > 0n ? after >= 0n && after < base : after <= 0n && after > base;
      assert.ok(isSmaller, `${trade.orderId} took ${key} from ${base} to ${after}`);
    }
    for (const [user, slot] of node.clearing.ledger.users) {
      for (const [asset, { legs }] of slot.subAccounts.get(1)?.positions ?? []) {
        const key = `${user} ${asset}`;
        const base = legs.base / 10n ** 14n;
        if (!byNode.has(key)) assert.equal(this.#bases.get(key) ?? 0n, base, `${key} is the sum of its fills`);
        this.#bases.set(key, base);
      }
    }
  }
}

interface Resting {
  readonly side: Side;
  readonly lots: number;
}

function checkQuiet(node: SimulatedNode, seed: number, counts: Counts): void {
  const { ledger } = node.clearing;
  for (const [key, resting] of restingByPosition(ledger)) {
    const [user = '', subAccount = '', marketIndex = ''] = key.split(' ');
    const market = ledger.markets[Number(marketIndex)];
    assert.ok(market !== undefined);
    const { assetId, quantityDecimals } = market.definition;
    const account = ledger.users.get(user as never)?.subAccounts.get(Number(subAccount));
    const base = account?.positions.get(assetId)?.legs.base ?? 0n;
    for (const side of [SIDE.buy, SIDE.sell]) {
      const lots = resting.filter((order) => order.side === side).reduce((sum, order) => sum + order.lots, 0);
      if (lots > 0) counts.rested += 1;
      assert.ok(
        lots <= offsetLots(side, base, quantityDecimals),
        `seed ${seed}, ${key}: ${lots} lots rest against ${base}`,
      );
    }
  }
}

/** Of all accounts by user, sub-account and market. */
function restingByPosition(ledger: ClearingState): ReadonlyMap<string, Resting[]> {
  const found = new Map<string, Resting[]>();
  for (const market of ledger.markets) {
    if (market === undefined) continue;
    for (const row of market.orders.rows()) {
      const rests = row.kind === ORDER_KIND.limit && (row.tif === TIF.gtc || row.tif === TIF.gtd);
      const isReduceOnly = (row.flags & ORDER_FLAG.reduceOnly) !== 0;
      if (!rests || !isReduceOnly || row.triggerState !== TRIGGER_STATE.live) continue;
      const inForce = row.activatedQuantity > 0 ? row.activatedQuantity : row.quantity;
      const lots = inForce - row.filledQuantity;
      const key = `${row.user} ${row.subAccount} ${row.marketIndex}`;
      found.set(key, [...(found.get(key) ?? []), { side: row.side, lots }]);
    }
  }
  return found;
}
