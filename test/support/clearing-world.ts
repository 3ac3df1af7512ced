/**
 * A clearing state with the world around it: a market that numbers its messages, a signature check with a list of
 * forged orders, a journal of every batch, and tables that checkpoints write into. The ledger is recounted after every
 * batch.
 */

import assert from 'node:assert/strict';
import { allBalances, balanceRow } from '../../src/clearing/balances.ts';
import { checkLedger } from '../../src/clearing/checks.ts';
import { applyBatch, type UnverifiedQuoteSet, verdictsNeeded } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { heldOf as heldByOrders } from '../../src/clearing/holds.ts';
import type { Batch, ClearingInput, Created, FillVerdict, MatchedInput, Replaced } from '../../src/clearing/inputs.ts';
import { allPositions } from '../../src/clearing/positions.ts';
import { type OrderRow, plainRow, type RowWrite, type SignedText, type TableName } from '../../src/clearing/rows.ts';
import { type ClearingState, createClearingState } from '../../src/clearing/state.ts';
import { drainDirtyRows, LOAD_ORDER, loadState } from '../../src/clearing/tables.ts';
import type { AssetId, OrderId, UserId } from '../../src/core/ids.ts';
import {
  ORDER_FLAG,
  ORDER_KIND,
  type OrderEnd,
  type RollbackReason,
  SIDE,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../../src/core/order-terms.ts';
import type { RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { isOpen } from '../../src/risk/position.ts';
import { type AskedInput, inputOf } from './asked.ts';
import { EMPTY_ORDER } from './empty-order.ts';
import { ALICE, ETH, USD } from './names.ts';
import { RowLedger } from './row-ledger.ts';

export const T0: TimestampNs = 1_800_000_000_000_000_000n as TimestampNs;
export const DAYS_30: bigint = 2_592_000_000_000_000n;
export function user(byte: string): UserId {
  return byte.repeat(32) as UserId;
}
export const FEES: UserId = 'ca987f7a6cd863424641d4500dc7deba9782533ee071c5f00bc300bc85452437' as UserId;
export const CHAIN = '000000000000007a69';
export const TOKEN: string = '5a'.repeat(20) + '00'.repeat(12);

/** Of a create; what is not given is as of a limit buy of Alice. */
export type OrderTerms = Partial<Omit<OrderRow, 'price' | 'quantity' | 'triggerPrice'> & SignedText> & {
  price?: number;
  quantity?: number;
  triggerPrice?: number;
  /** As the text names it. */
  parentId?: string;
};
/** Numbers of a market's event. */
interface Place {
  readonly marketIndex: number;
  readonly sequence: Sequence;
  readonly timeNs: TimestampNs;
}

export type Answer = Extract<Effect, { kind: 'replied' }>['outcome'];
type EffectOf<K extends Effect['kind']> = Extract<Effect, { kind: K }>;

export class ClearingWorld {
  state: ClearingState = createClearingState();
  nowNs: TimestampNs = T0;
  readonly journal: Batch[] = [];
  /** The rows of its batches (EXP-00). */
  readonly rowLog: RowLedger = new RowLedger();
  /** Orders with a wrong signature, by order key. */
  readonly forged: Set<string> = new Set();
  /** Revisions of quote sets that were verified. */
  setsVerified = 0;
  #requests = 0;
  #orders = 0;

  /** USD, and ETH with a market of 2 price and 4 quantity decimals at 100 and 450 (operator-api.md 9). */
  static withMarket(market: Readonly<Record<string, unknown>> = {}): ClearingWorld {
    const world = new ClearingWorld();
    const token = { token: TOKEN, chain_id: CHAIN, decimals: 6 };
    world.put('putAsset', USD, { symbol: 'USD', tokens: [token] });
    world.put('putAsset', ETH, { symbol: 'ETH', tokens: [{ ...token, token: '6b'.repeat(32), decimals: 18 }] });
    world.put('putRisk', ETH, { collateral_factor: 90 });
    world.put('putMarket', ETH, {
      book_price_decimals: 2,
      book_quantity_decimals: 4,
      maker_fee_rate: 100,
      taker_fee_rate: 450,
      ...market,
    });
    return world;
  }

  /** One batch, journaled, with the verdicts that it needs. */
  send(...asked: readonly AskedInput[]): Effect[] {
    const inputs: ClearingInput[] = [];
    const refused: Effect[] = [];
    for (const one of asked) {
      const input = inputOf(one);
      if (input.ok) inputs.push(input.value);
      else refused.push({ kind: 'replied', request: 'request' in one ? one.request : 0, outcome: input });
    }
    // A malformed request never reaches clearing.
    return inputs.length === 0 && refused.length > 0 ? refused : [...refused, ...this.#apply(inputs)];
  }

  #apply(inputs: readonly ClearingInput[]): Effect[] {
    const sets: UnverifiedQuoteSet[] = [];
    const verdicts = verdictsNeeded(this.state, inputs, sets).map(({ row }) => this.#judge(row));
    for (const { set } of sets) {
      this.setsVerified += 1;
      const key = `${set.marketIndex}/${set.sequence}`;
      verdicts.push({ marketIndex: set.marketIndex, order: set.sequence, valid: !this.forged.has(key) });
    }
    const batch = { timeNs: this.nowNs, inputs, verdicts };
    this.journal.push(batch);
    const effects: Effect[] = [];
    this.rowLog.begin(this.state);
    applyBatch(this.state, batch, effects);
    checkLedger(this.state);
    this.rowLog.check(this.state, batch.timeNs);
    return effects;
  }

  #judge(row: OrderRow): FillVerdict {
    const key = `${row.marketIndex}/${row.orderSequence}`;
    return { marketIndex: row.marketIndex, order: row.orderSequence, valid: !this.forged.has(key) };
  }

  request(): number {
    this.#requests += 1;
    return this.#requests;
  }

  put(
    kind: 'putAsset' | 'putRisk' | 'putMarket',
    assetId: AssetId,
    body: unknown,
    method: 'put' | 'patch' = 'put',
  ): Answer {
    return reply(this.send({ kind, request: this.request(), method, assetId, body }));
  }

  fund(to: UserId, asset: AssetId, amount: string, subAccount = 0): Answer {
    const body = { user_id: to, sub_account: subAccount, asset_id: asset, amount };
    return reply(this.send({ kind: 'faucet', request: this.request(), body }));
  }

  /** Numbers of the next market message. */
  next(marketIndex = 0, ahead = 1): Place {
    const sequence = ((this.state.markets[marketIndex]?.sequence ?? 0) + ahead) as Sequence;
    return { marketIndex, sequence, timeNs: this.nowNs };
  }

  /** What a market sends of an order that it admitted, or refused. */
  admission(terms: OrderTerms = {}, place: Place = this.next(), parent: Sequence | 0 = 0): Omit<Created, 'kind'> {
    const { marketIndex, sequence, timeNs } = place;
    this.#orders += 1;
    const { price = 200_000, quantity = 10_000, triggerPrice = 0, parentId = '', ...rest } = terms;
    const { text = '{"signer":""}', signatures = new Uint8Array(64).fill(7), ...given } = rest;
    const triggerKind = given.triggerKind ?? TRIGGER.none;
    const creationNs = given.creationNs ?? this.nowNs;
    const order: OrderRow = {
      ...EMPTY_ORDER,
      orderSequence: sequence,
      prioritySequence: sequence,
      parentSequence: parent,
      price: price as RawPrice,
      quantity: quantity as RawQuantity,
      triggerPrice: triggerPrice as RawPrice,
      enabledQuantity: quantity,
      creationNs,
      timestampNs: creationNs,
      admittedNs: timeNs,
      lastUpdateNs: timeNs,
      maxFeeRate: 1_000,
      marketIndex,
      parentIdAt: Math.max(0, text.indexOf(parentId)),
      flags: ORDER_FLAG.isSpot,
      side: SIDE.buy,
      kind: ORDER_KIND.limit,
      tif: TIF.gtc,
      triggerKind,
      triggerState: triggerKind === TRIGGER.none ? TRIGGER_STATE.live : TRIGGER_STATE.dormant,
      parentIdBytes: parentId.length,
      user: ALICE,
      orderId: `order-${this.#orders}` as OrderId,
      ...given,
    };
    return { ...place, order, text, signatures };
  }

  /** An admitted order. @returns its name. */
  create(terms: OrderTerms = {}, marketIndex = 0): Sequence {
    const input: Created = { kind: 'created', ...this.admission(terms, this.next(marketIndex)) };
    this.send(input);
    return input.sequence;
  }

  /** An admitted child. @returns its name. */
  createChild(parent: Sequence, terms: OrderTerms): Sequence {
    const parentId = this.order(parent)?.orderId ?? ('gone' as OrderId);
    const text = `{"parent_order_id":"${parentId}"}`;
    const admission = this.admission({ parentId, text, ...terms }, this.next(), parent);
    const input: Created = { kind: 'created', ...admission };
    this.send(input);
    return input.sequence;
  }

  /** A replace that keeps what is not given, and the place in the queue. */
  replace(order: Sequence, more: Partial<Replaced>): Effect[] {
    const row = this.order(order);
    const input = {
      kind: 'replaced' as const,
      ...this.next(),
      order,
      prioritySequence: row?.prioritySequence ?? order,
      price: row?.price ?? (1 as RawPrice),
      quantity: row?.quantity ?? (1 as RawQuantity),
      timestampNs: this.nowNs,
      triggerKind: TRIGGER.none,
      triggerPrice: 0 as RawPrice,
      isCut: false,
      ...more,
    };
    return this.send(input);
  }

  triggered(order: Sequence, quantity: number): Effect[] {
    return this.send({ kind: 'triggered', ...this.next(), order, quantity });
  }

  activated(order: Sequence, quantity: number): Effect[] {
    const next = this.next();
    return this.send({ kind: 'activated', ...next, order, prioritySequence: next.sequence, quantity });
  }

  cancelPending(order: Sequence): Effect[] {
    return this.send({ kind: 'cancelPending', ...this.next(), order });
  }

  matchInput(maker: Sequence, taker: Sequence, quantity: number, more: Partial<MatchedInput> = {}): MatchedInput {
    const market = this.state.markets[more.marketIndex ?? 0];
    return {
      kind: 'matched',
      ...this.next(more.marketIndex),
      tradeId: ((market?.lastTradeId ?? 0) + 1) as Sequence,
      makerOrder: maker,
      takerOrder: taker,
      price: 200_000 as RawPrice,
      quantity: quantity as RawQuantity,
      makerFeeRate: market?.definition.makerFeeRate ?? 0,
      takerFeeRate: market?.definition.takerFeeRate ?? 0,
      group: 0,
      ...more,
    };
  }

  match(maker: Sequence, taker: Sequence, quantity: number, more: Partial<MatchedInput> = {}): Effect[] {
    return this.send(this.matchInput(maker, taker, quantity, more));
  }

  end(order: Sequence, end: OrderEnd, faultReason: RollbackReason = 0): Effect[] {
    return this.send({ kind: 'ended', ...this.next(), order, end, faultReason });
  }

  order(order: Sequence, marketIndex = 0): OrderRow | undefined {
    const row = this.state.markets[marketIndex]?.orders.get(order);
    return row === undefined ? undefined : plainRow(row);
  }

  /** The finished row of an order, which waits for a checkpoint. */
  finished(order: Sequence): OrderRow | undefined {
    for (const row of this.state.dirty.finishedOrders) if (row.orderSequence === order) return plainRow(row);
    return undefined;
  }

  owned(of: UserId, asset: AssetId, subAccount = 0): bigint {
    return this.state.users.get(of)?.subAccounts.get(subAccount)?.balances.get(asset)?.owned ?? 0n;
  }

  held(of: UserId, asset: AssetId, subAccount = 0): bigint {
    const slot = this.state.users.get(of)?.subAccounts.get(subAccount)?.balances.get(asset);
    return slot === undefined ? 0n : heldByOrders(slot);
  }
}

export function reply(effects: readonly Effect[]): Answer {
  const [effect] = effectsOf(effects, 'replied');
  assert.ok(effect !== undefined, 'a node input is answered');
  return effect.outcome;
}

export function effectsOf<K extends Effect['kind']>(effects: readonly Effect[], kind: K): readonly EffectOf<K>[] {
  return effects.filter((effect): effect is EffectOf<K> => effect.kind === kind);
}

/** Maker's and taker's reason of every fill that was rolled back. */
export function reasonsOf(effects: readonly Effect[]): readonly (readonly [RollbackReason, RollbackReason])[] {
  return effectsOf(effects, 'fillRolledBack').map((fill) => [fill.makerReason, fill.takerReason]);
}

/** The rejects' code, or null for an accepted outcome. */
export function codeOf(outcome: Answer): string | null {
  return outcome.ok ? null : outcome.reject.code;
}

/** Value of an accepted outcome. */
export function acceptedValue(outcome: Answer): Readonly<Record<string, unknown>> {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.reject.message);
  return outcome.value;
}

function keyOf(write: RowWrite): string {
  switch (write.table) {
    case 'user':
    case 'signers':
      return write.row.user;
    case 'subAccount':
      return `${write.row.user}/${write.row.subAccount}`;
    case 'balance':
    case 'position':
      return `${write.row.user}/${write.row.subAccount}/${write.row.asset}`;
    case 'order':
    case 'signedText':
      return `${write.row.marketIndex}/${String(write.row.orderSequence).padStart(16, '0')}`;
    case 'trade':
      return `${write.row.marketIndex}/${String(write.row.tradeId).padStart(16, '0')}`;
    case 'market':
      return String(write.row.definition.marketIndex).padStart(6, '0');
    case 'withdrawal':
    case 'settlement':
      return `${write.row.user}/${String(write.row.place).padStart(3, '0')}`;
    case 'usedText':
      return `${write.row.user}/${String(write.row.place).padStart(8, '0')}`;
    case 'signedApproval':
      return String(write.row.place).padStart(8, '0');
    case 'chainCursor':
      return `${write.row.chainId}/${write.row.event}`;
    case 'cursorEvent':
      return `${write.row.chainId}/${String(write.row.place).padStart(8, '0')}/${write.row.event}`;
    case 'protection':
      return `${write.row.user}/${write.row.marketIndex}/${write.row.slot}`;
    case 'lot':
      return `${write.row.user}/${String(write.row.place).padStart(3, '0')}/${write.row.asset}`;
    case 'netDeposit':
    case 'vaultDeviation':
      return `${write.row.chainId}/${write.row.asset}`;
    case 'unclaimed':
      return `${write.row.chainId}/${write.row.user}/${String(write.row.counter).padStart(16, '0')}`;
    case 'pooledCredits':
    case 'rebalancingPool':
      return write.row.asset;
    case 'withdrawalUsage':
      return `${write.row.user}/${write.row.asset}`;
    case 'forcedCounter':
    case 'withdrawalCounter':
      return `${write.row.chainId}/${write.row.user}`;
    case 'settlementCounter':
      return `${write.row.chainId}/${write.row.user}/${String(write.row.subAccount).padStart(3, '0')}`;
    case 'vaultToken':
    case 'payoutReserve':
      return `${write.row.chainId}/${write.row.token}`;
    case 'asset':
      return write.row.assetId;
    case 'price':
    case 'mark':
    case 'totals':
      return write.row.asset;
    case 'deposit':
      return `${write.row.chainId}/${write.row.tx}/${write.row.logIndex}`;
    case 'config':
      return `${write.row.kind}/${write.row.key}`;
    case 'tally':
      return write.row.name;
    case 'liquidation':
      return `${write.row.user}/${String(write.row.subAccount).padStart(3, '0')}`;
    case 'backstop':
      return String(write.row.index).padStart(3, '0');
    case 'quoteSet':
      return `${String(write.row.marketIndex).padStart(8, '0')}/${write.row.user}/${write.row.slot}`;
    case 'adlUsage':
      return String(write.row.marketIndex).padStart(6, '0');
  }
}

/** Tables as storage keeps them: a row replaces the one with its key, and reading is in key order. */
export class PlainTables {
  readonly #rows = new Map<string, RowWrite>();

  checkpoint(state: ClearingState): void {
    for (const write of drainDirtyRows(state)) {
      if (write.isForgotten === true) {
        this.#rows.delete(`${write.table}|${keyOf(write)}`);
        continue;
      }
      const kept = write.table === 'order' ? { ...write, row: plainRow(write.row) } : write;
      this.#rows.set(`${write.table}|${keyOf(write)}`, kept);
    }
  }

  of(table: TableName): readonly RowWrite[] {
    const writes = [...this.#rows.values()].filter((write) => write.table === table);
    return writes.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  load(): ClearingState {
    return loadState(this.rows());
  }

  /** All of them, as a start reads them. */
  rows(): readonly RowWrite[] {
    return LOAD_ORDER.flatMap((table) => this.of(table));
  }
}

/** Every non-empty balance as text, for comparing. */
export function balancesOf(state: ClearingState): Readonly<Record<string, bigint>> {
  const balances: Record<string, bigint> = {};
  for (const of of state.users.values())
    for (const account of of.subAccounts.values())
      for (const slot of account.balances.values()) {
        const row = balanceRow(slot);
        if (row.owned !== 0n) balances[`${row.user.slice(0, 2)}/${row.subAccount}/${row.asset}`] = row.owned;
      }
  return balances;
}

/** What every balance holds. */
export function heldOf(state: ClearingState): Readonly<Record<string, bigint>> {
  const held: Record<string, bigint> = {};
  for (const slot of allBalances(state)) {
    const own = heldByOrders(slot);
    if (own !== 0n) held[`${slot.user}/${slot.subAccount}/${slot.asset}`] = own;
  }
  return held;
}

/** Open positions by `user/account`: the two legs. There is one market. */
export function positionsOf(state: ClearingState): Readonly<Record<string, readonly bigint[]>> {
  const open: Record<string, readonly bigint[]> = {};
  for (const { user: of, subAccount, legs } of allPositions(state)) {
    if (isOpen(legs)) open[`${of.slice(0, 2)}/${subAccount}`] = [legs.base, legs.quote];
  }
  return open;
}
