/**
 * What must hold when all actors are at rest: the gateway's view equals the state of clearing, books are their levels,
 * and what streams have shown is what reads return.
 *
 * All of the ledger, the books, balances, positions and figures is compared each time; of orders those with an event
 * since the last time, and all that are open.
 *
 * Not here: what holds after every step (the node's own assertions, best prices, listening.ts).
 */
import assert from 'node:assert/strict';
import {
  CONFIRMED,
  capacityWith,
  initialOf,
  initialOfDebts,
  maintenanceOf,
  storedEquityOf,
  storedEquityOfDebts,
} from '../../src/clearing/account-margin.ts';
import { checkLedger } from '../../src/clearing/checks.ts';
import { heldOf } from '../../src/clearing/holds.ts';
import { endOfMember, isFrozen, protectionKey } from '../../src/clearing/protections.ts';
import { assetTermsOf } from '../../src/clearing/risks.ts';
import type { ProtectionRow } from '../../src/clearing/rows.ts';
import type { ClearingState, SubAccountSlot } from '../../src/clearing/state.ts';
import { parseDecimal18 } from '../../src/core/decimal.ts';
import { type AssetId, type OrderId, USD, type UserId } from '../../src/core/ids.ts';
import { ORDER_FLAG, SIDE, TRIGGER_STATE } from '../../src/core/order-terms.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import type { CreditsAndLiabilities } from '../../src/gateway/orders/balances/inventory.ts';
import { isLiquidatable } from '../../src/risk/account.ts';
import { human } from '../contract/order-fold.ts';
import type { SimulatedNode } from '../support/simulated-node.ts';
import { keyOf, type Listener, type Listeners, type ReceivedOrder } from './listening.ts';
import { MARKETS, USERS } from './people.ts';
import type { Readers } from './reading.ts';
import { nameOf, pooledOf, TOKENS } from './vaults.ts';

/** The interval of LIQ-01, and the time that a check takes. */
const CHECK_INTERVAL_NS = 1_100_000_000n;
const PRICE_DECIMALS = 2;
const QUANTITY_DECIMALS = 4;

export interface Watched {
  readonly node: SimulatedNode;
  readonly listeners: Listeners;
  readonly readers: Readers;
}

export function checkAtRest({ node, listeners, readers }: Watched): void {
  const { ledger } = node.clearing;
  // Before anything looks at orders: some are untouched since the last start, and reads of them must not differ.
  checkMargins(node);
  checkLedger(ledger);
  checkOrdersAtRest(ledger);
  checkBooks(node, readers);
  checkHolds(node);
  checkProtections(node);
  checkLiquidations(ledger, node.nowNs as TimestampNs);
  for (const listener of listeners.all) {
    assert.equal(listener.undecided, 0, 'every fill is decided and told');
    checkHeardOrders(node, listener);
    checkHeardMoney(node, listener);
  }
  checkHeardPositions(node, listeners);
}

/** No answer is pending: what fired was released or ended, and what was cancel pending is gone (AMB-28, AMB-23). */
function checkOrdersAtRest(ledger: ClearingState): void {
  for (const market of ledger.markets) {
    for (const row of market.orders.rows()) {
      const name = `order ${row.orderSequence} ${row.orderId}`;
      if (row.triggerState === TRIGGER_STATE.fired) {
        assert.ok(row.parentIdBytes !== 0 && row.enabledQuantity === 0, `${name} fired and was never released`);
      }
      assert.equal(row.flags & ORDER_FLAG.cancelPending, 0, `${name} was cancel pending and lives`);
    }
  }
}

/** Books are sound, and readers who follow diffs have them (MD-01 to MD-04, AMB-98); every confirmed trade was read. */
function checkBooks(node: SimulatedNode, readers: Readers): void {
  for (const shard of node.shards) {
    for (const [marketIndex, engine] of shard.engines()) {
      engine.checkInvariants();
      for (const side of [SIDE.buy, SIDE.sell]) {
        const levels: (readonly [number, number])[] = [];
        engine.forEachLevel(side, (price, quantity) => levels.push([price, quantity]));
        assert.deepEqual(readers.book(marketIndex, side), levels, 'diffs rebuild the book');
      }
    }
  }
}

/**
 * No order of the node is outstanding. What the backstop holds with prices known stands at or above its initial margin:
 * counterparties were closed, or collateral was posted (BKS-06, BKS-07); so none has negative equity and an open position while
 * an account on the other side is worth something. An account below maintenance is under liquidation (LIQ-01 to LIQ-03).
 */
function checkLiquidations(ledger: ClearingState, nowNs: TimestampNs): void {
  const backstop = ledger.users.get(ledger.settings.backstop_account);
  for (const { index, state, order } of ledger.backstopRows.values()) {
    assert.equal(order, null, `a clip of row ${index} is outstanding`);
    const account = backstop?.subAccounts.get(index);
    if (state === 'closed' || account === undefined || !isPriced(account, nowNs)) continue;
    const { initialOracle, initialMark } = initialOf(account, nowNs, CONFIRMED);
    assert.ok(initialOracle >= 0n && initialMark >= 0n, `row ${index} is below its initial margin`);
  }
  for (const { subAccounts } of ledger.users.values()) {
    for (const account of subAccounts.values()) {
      const name = `account ${account.row.subAccount} of ${account.row.user.slice(0, 4)}`;
      assert.equal(account.liquidation?.order ?? null, null, `an order of the node for ${name} is outstanding`);
      if (account.row.user === ledger.settings.backstop_account || !isPriced(account, nowNs)) continue;
      assert.ok(
        !hasStoodBelow(account, nowNs) || account.liquidation !== null,
        `${name} is below maintenance, and not under liquidation`,
      );
    }
  }
}

/**
 * Whether the account is below maintenance, and would have been an interval ago: what time alone makes of prices is found
 * once in an interval (LIQ-01).
 */
export function hasStoodBelow(account: SubAccountSlot, nowNs: TimestampNs): boolean {
  const before = (nowNs - CHECK_INTERVAL_NS) as TimestampNs;
  return [before, nowNs].every((timeNs) => isLiquidatable(maintenanceOf(account, timeNs)));
}

/** Whether the oracle of everything that the account holds is usable and was updated since the start. */
function isPriced({ balances, positions }: SubAccountSlot, nowNs: TimestampNs): boolean {
  const risks = [
    ...[...balances.values()].flatMap(({ collateral, owned }) =>
      collateral !== null && owned > 0n ? [collateral] : [],
    ),
    ...[...positions.values()].flatMap(({ risk, legs }) => (legs.base === 0n ? [] : [risk])),
  ];
  return risks.every((risk) => risk.isPricedSinceStart && !assetTermsOf(risk, nowNs).prices.isBroken);
}

/**
 * Gateway and clearing have the same groups, freezes and counts of members; what was a member at a trip is over, and so no member
 * of a frozen group lives (MMP-02, MMP-03).
 */
function checkProtections(node: SimulatedNode): void {
  const { ledger } = node.clearing;
  const { protections } = node.gateway.orders;
  const nowNs = node.nowNs as TimestampNs;
  for (const user of USERS) {
    for (const { definition } of ledger.markets) {
      const { marketIndex } = definition;
      const rows = [...ledger.protections.values()].filter(
        (row) => row.user === user && row.marketIndex === marketIndex,
      );
      const known = protections.of(user, marketIndex);
      const name = `groups of ${user.slice(0, 4)} in market ${marketIndex}`;
      assert.deepEqual([...known].map(factsOf), rows.sort((a, b) => a.slot - b.slot).map(factsOf), name);
      for (const row of known) {
        const members = ledger.protectedOrders.get(protectionKey(row)) ?? 0;
        assert.equal(protections.liveOrders(row), members, `${name}: live orders of ${row.group}`);
        assert.ok(!isFrozen(row, nowNs) || members === 0, `${name}: ${row.group} is frozen and has members`);
      }
    }
  }
  for (const market of ledger.markets)
    for (const row of market.orders.rows())
      assert.equal(endOfMember(ledger, market, row), null, `${row.orderId} was a member at a trip and lives`);
}

function factsOf(row: ProtectionRow): object {
  return { ...row };
}

/** The gateway and clearing set the same aside for the same orders (AMB-52, AMB-112). */
function checkHolds(node: SimulatedNode): void {
  for (const user of USERS) {
    for (const [subAccount, { balances }] of node.clearing.ledger.users.get(user)?.subAccounts ?? []) {
      for (const asset of [USD, ...MARKETS]) {
        const funds = node.gateway.orders.funds({ user, subAccount, asset });
        const slot = balances.get(asset);
        const held = slot === undefined ? 0n : heldOf(slot);
        const name = `what ${user.slice(0, 4)} holds of ${asset} in ${subAccount}`;
        const { pending, settling, setAside } = funds;
        assert.deepEqual([funds.held, pending, settling, setAside], [held, 0n, 0n, 0n], name);
      }
    }
  }
}

/**
 * With nothing pending the optimistic view is clearing's truth: legs, surplus, pressure (AMB-112, AMB-142, MRG-16). So it
 * is at rest, and when a start has come to its end.
 */
export function checkMargins(node: SimulatedNode): void {
  const nowNs = node.nowNs as TimestampNs;
  const room = node.gateway.orders.margin;
  for (const user of USERS) {
    for (const [index, account] of node.clearing.ledger.users.get(user)?.subAccounts ?? []) {
      if (!room.isMarginAccount(user, index)) continue;
      const name = `account ${index} of ${user.slice(0, 4)}`;
      for (const { asset, legs } of account.positions.values()) {
        const position = room.accounts.find(user, index)?.find(asset);
        const told = [position?.base ?? 0n, position?.quote ?? 0n, position?.entry ?? 0n];
        assert.deepEqual(told, [legs.base, legs.quote, legs.entry], `${name}: the position in ${asset}`);
      }
      checkDebtsFirst(account, nowNs, name);
      const usd = account.balances.get(USD);
      if (usd === undefined) continue;
      const capacity = capacityWith(account, { slot: usd, owned: usd.owned }, nowNs);
      assert.equal(room.capacity(user, index, nowNs), capacity, `${name}: what is left for more risk`);
    }
  }
}

/** What a trade is let through by at once is never more than what it is judged by (MRG-11, MRG-14). */
function checkDebtsFirst(account: SubAccountSlot, nowNs: TimestampNs, name: string): void {
  const initial = initialOf(account, nowNs, CONFIRMED);
  const ofDebts = initialOfDebts(account, nowNs, CONFIRMED);
  assert.ok(
    ofDebts.initialOracle <= initial.initialOracle && ofDebts.initialMark <= initial.initialMark,
    `${name}: what else it owns is worth nothing or more`,
  );
  assert.equal(ofDebts.hasBorrows, initial.hasBorrows, name);
  const stored = storedEquityOf(account, nowNs, CONFIRMED);
  const storedOfDebts = storedEquityOfDebts(account, nowNs, CONFIRMED);
  assert.ok(
    storedOfDebts.oracle <= stored.oracle && storedOfDebts.mark <= stored.mark,
    `${name}: at stored prices too`,
  );
  assert.equal(storedOfDebts.hasBorrows, stored.hasBorrows, name);
}

// ---- what listeners believe

const STATUS_OF_REASON: Readonly<Record<string, string>> = {
  Canceled: 'Canceled',
  Filled: 'Filled',
  Expired: 'Expired',
  ImmediateOrCancel: 'Canceled',
  FillOrKill: 'Canceled',
  RolledBack: 'Canceled',
};

/** Orders by events alone are what reads return, and the open ones are those of clearing (STR-01, QRY-01, WS-16). */
function checkHeardOrders(node: SimulatedNode, listener: Listener): void {
  for (const id of listener.touched) {
    const received = listener.orders.get(id);
    if (received === undefined) continue;
    assert.equal(received.pending, 0, `nothing of ${id} is pending`);
    const record = recordOf(node, listener, id);
    // An entry that left its set and never traded is kept nowhere (QTE-06).
    if (record === null && received.leftSet && received.confirmed === 0) continue;
    assert.deepEqual(record, lineOf(received), `${id} as its owner received of it`);
  }
  const open = new Set<string>();
  for (const [id, { wasCreated, end }] of listener.orders) if (wasCreated && end === null) open.add(id);
  const live = new Set<string>();
  for (const market of node.clearing.ledger.markets) {
    for (const row of market.orders.rows())
      if (row.user === listener.user) live.add(keyOf(row.orderId, market.definition.assetId));
  }
  assert.deepEqual([...open].sort(), [...live].sort(), 'open orders by events are those that live');
  listener.touched.clear();
  for (const [id, { end }] of listener.orders) if (end !== null || !live.has(id)) listener.orders.delete(id);
}

function lineOf(received: ReceivedOrder): readonly string[] {
  const { end, isWaiting, confirmed, price, quantity, plan } = received;
  const living = isWaiting ? 'Untriggered' : confirmed === 0 ? 'Open' : 'PartiallyFilled';
  const status = end === null ? living : (STATUS_OF_REASON[end] ?? `no status for ${end}`);
  const isLimit = plan.wish.market === undefined;
  const figures = isLimit ? [human(price, PRICE_DECIMALS), human(quantity, QUANTITY_DECIMALS)] : [];
  return [status, human(confirmed, QUANTITY_DECIMALS), ...figures];
}

/** As its owner reads it; null when there is no such order. */
function recordOf(node: SimulatedNode, { user, orders }: Listener, key: string): readonly string[] | null {
  const plan = orders.get(key)?.plan;
  assert.ok(plan !== undefined);
  const found = node.gateway.queries.order(user, plan.market, plan.id as OrderId);
  if (!found.ok) return null;
  const { status, confirmed_filled_quantity: filled, limit_price: price, quantity } = found.value;
  return [status, filled, ...(plan.wish.market === undefined ? [String(price), String(quantity)] : [])];
}

/**
 * Balances and positions added up from fills and account events are the inventory, lots included, and what withdrawals lock, as the queue
 * shows it (QRY-09, STR-05, FIL-01, WDR-01, WDR-25).
 */
function checkHeardMoney(node: SimulatedNode, { user, owned, bases }: Listener): void {
  const { accounts } = node.gateway.queries.inventory(user, null);
  const locked = lockedOf(node, user);
  const isLot = new Set(TOKENS.map(nameOf));
  for (const [index, { spot, margins }] of accounts) {
    for (const [asset, amount] of spot) {
      const key = `${index} ${pooledOf(asset as AssetId)}`;
      if (isLot.has(asset as AssetId)) locked.set(key, (locked.get(key) ?? 0n) + amountOf(amount));
    }
    const name = `by events, in account ${index} of ${user.slice(0, 4)}`;
    let usd = amountOf(spot.get(USD) ?? '0') + (locked.get(`${index} ${USD}`) ?? 0n);
    for (const asset of MARKETS) {
      const key = `${index} ${asset}`;
      assert.equal(
        amountOf(spot.get(asset) ?? '0') + (locked.get(key) ?? 0n),
        owned.get(key) ?? 0n,
        `spot ${asset}, ${name}`,
      );
      const legs = margins.get(asset);
      if (legs !== undefined) usd += netOf(legs.quote);
      assert.equal(legs === undefined ? 0n : netOf(legs.base), bases.get(key) ?? 0n, `position in ${asset}, ${name}`);
    }
    assert.equal(usd, owned.get(`${index} ${USD}`) ?? 0n, `USD, ${name}`);
  }
}

/** What the queue of a user shows as not ended and outstanding settlements, by `account asset`. */
function lockedOf(node: SimulatedNode, user: UserId): Map<string, bigint> {
  interface Shown {
    readonly asset: AssetId;
    readonly amount: string;
    readonly status: { readonly type: string };
  }
  const locked = new Map<string, bigint>();
  for (const { asset, amount, status } of JSON.parse(node.gateway.withdrawals.queueOf(user)) as readonly Shown[]) {
    if (['executed', 'expired', 'cancelled'].includes(status.type)) continue;
    const token = TOKENS.find((one) => nameOf(one) === asset);
    assert.ok(token !== undefined, 'a token of the world');
    const key = `0 ${token.asset}`;
    locked.set(key, (locked.get(key) ?? 0n) + BigInt(`0x${amount}`));
  }
  for (const row of node.gateway.settlements.all()) {
    const key = `${row.subAccount} ${row.assetOut}`;
    if (row.user === user) locked.set(key, (locked.get(key) ?? 0n) + row.amountOut);
  }
  return locked;
}

/** The last word of the positions stream on each position is its legs (STR-03). */
function checkHeardPositions(node: SimulatedNode, { positionsTold }: Listeners): void {
  for (const user of USERS) {
    const read = node.gateway.margin.positions(user, { assetId: null, subAccounts: null });
    assert.ok(read.ok);
    for (const { subAccount, assetId, base, quote } of read.value) {
      const told = positionsTold.get(`${user} ${subAccount} ${assetId}`);
      if (told === undefined) continue;
      const name = `the position of ${user.slice(0, 4)} in ${assetId} of ${subAccount}, as streamed`;
      assert.deepEqual([told.base, told.quote], [base, quote], name);
    }
  }
}

/** Listeners who open their streams anew read first (wire.md 9.8): nothing is pending then. */
export function reread(node: SimulatedNode, listeners: Listeners): void {
  listeners.positionsTold.clear();
  for (const listener of listeners.all) {
    const { user, orders } = listener;
    for (const index of node.gateway.queries.inventory(user, null).accounts.keys()) {
      rereadAccount(node, listener, Number(index));
    }
    learnEntries(node, listener);
    for (const [key, received] of orders) if (!rereadOrder(node, user, received)) orders.delete(key);
  }
  for (const row of node.gateway.withdrawals.all()) {
    if (row.status === 'executed') listeners.of(row.user).withdrawalChanged(row);
  }
  listeners.isListening = true;
}

/** Ids of entries are the market's: one whose event was lost with the node is in the list of open orders alone. */
function learnEntries(node: SimulatedNode, listener: Listener): void {
  for (const { orders, definition } of node.clearing.ledger.markets)
    for (const row of orders.rows()) {
      if (row.user !== listener.user || row.quoteSet === 0) continue;
      const { orderId: id, subAccount: account, side, flags, price, quantity } = row;
      const place = { id, market: definition.assetId, side, account, isSpot: (flags & ORDER_FLAG.isSpot) !== 0 };
      listener.sent({ ...place, reduceOnly: false, wish: { price, quantity } }, null);
    }
}

/** What the inventory shows of one account is what its reader holds. */
export function rereadAccount(node: SimulatedNode, listener: Listener, index: number): void {
  listener.emptied(index);
  for (const [key, amount] of lockedOf(node, listener.user)) {
    const [account, asset] = key.split(' ');
    if (Number(account) === index) listener.credit(index, asset as AssetId, amount);
  }
  for (const [key, account] of node.gateway.queries.inventory(listener.user, null).accounts) {
    if (Number(key) !== index) continue;
    for (const [asset, amount] of account.spot) listener.credit(index, pooledOf(asset as AssetId), amountOf(amount));
    for (const [asset, { base, quote }] of account.margins) {
      listener.bases.set(`${index} ${asset}`, netOf(base));
      listener.credit(index, USD, netOf(quote));
    }
  }
}

/** @returns whether it lives. */
function rereadOrder(node: SimulatedNode, user: UserId, received: ReceivedOrder): boolean {
  const { market, id } = received.plan;
  const found = node.gateway.queries.order(user, market, id as OrderId);
  if (!found.ok) return false;
  const { status, confirmed_filled_quantity: filled, limit_price: price, quantity } = found.value;
  received.wasCreated = true;
  received.pending = 0;
  received.confirmed = rawOf(filled, QUANTITY_DECIMALS);
  received.price = rawOf(price ?? '0', PRICE_DECIMALS);
  received.quantity = rawOf(quantity ?? '0', QUANTITY_DECIMALS);
  received.isWaiting = status === 'Untriggered';
  received.end = null;
  return ['Open', 'PartiallyFilled', 'Untriggered'].includes(status);
}

function amountOf(text: string): bigint {
  const amount = parseDecimal18(text);
  assert.ok(amount !== null, `${text} is an amount`);
  return amount;
}

function netOf({ credits, liabilities }: CreditsAndLiabilities): bigint {
  return amountOf(credits) - amountOf(liabilities);
}

function rawOf(text: string, decimals: number): number {
  return Number(amountOf(text) / 10n ** BigInt(18 - decimals));
}
