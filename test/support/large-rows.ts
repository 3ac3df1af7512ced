/**
 * A large data directory in seconds: a small one that was lived (large-data.ts); its users, balances and orders are
 * then written again and again as rows of checkpoints, under other names. A start finds what it would find after as
 * many orders on their normal path; only the journal does not have them, so nothing of it can be replayed from the
 * first record.
 */
import { createHash } from 'node:crypto';
import { balanceRow } from '../../src/clearing/balances.ts';
import { recoverState } from '../../src/clearing/recovery.ts';
import { marketRow } from '../../src/clearing/registry/registry-markets.ts';
import type { AssetTotalsRow } from '../../src/clearing/rows.ts';
import { type OrderRow, plainRow, type RowWrite, type SignedText } from '../../src/clearing/rows.ts';
import type { ClearingState } from '../../src/clearing/state.ts';
import { drainDirtyRows } from '../../src/clearing/tables.ts';
import { must } from '../../src/core/assert.ts';
import type { OrderId, UserId } from '../../src/core/ids.ts';
import { TIF, TRIGGER } from '../../src/core/order-terms.ts';
import type { RawPrice, Sequence } from '../../src/core/units.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { type LargeSize, makeLargeData } from './large-data.ts';

/** Orders and triggers that are lived, one of each side in each market and two levels. */
const LIVED = 16;
const ROWS_PER_CHECKPOINT = 50_000;
const TICK = 5;
/** Fewer than the levels that lie between the buys and the sells of a lived market. */
const LEVELS = 4_900;

/** What a node that was killed may have besides. */
export interface LargeRowsSize extends LargeSize {
  /** Dormant ones, each of a resting order of its own as long as there are enough. */
  readonly children?: number;
  /** Immediate-or-cancel orders without a published end. */
  readonly leftovers?: number;
}

/** @param size at least 16 orders and 16 triggers. */
export async function makeLargeRows(directory: string, size: LargeRowsSize): Promise<void> {
  await makeLargeData(directory, { users: 1, orders: LIVED, triggers: LIVED }, () => undefined);
  const durability = new LmdbDurability(directory);
  const { state, sequence, timeNs } = recoverState(durability);
  let chunk = drainDirtyRows(state);
  const write = (): void => {
    durability.checkpoint({ timeNs, sequence, clean: false, stateHash: null }, chunk);
    chunk = [];
  };
  write();
  const signed = (row: OrderRow): SignedText =>
    must(durability.signedText(row.marketIndex, row.orderSequence), 'what users send is signed');
  for (const row of rowsOf(state, size, signed)) {
    chunk.push(row);
    if (chunk.length >= ROWS_PER_CHECKPOINT) write();
  }
  write();
  await durability.close();
}

type SignedTextOf = (model: OrderRow) => SignedText;

function* rowsOf(state: ClearingState, size: LargeRowsSize, signed: SignedTextOf): Generator<RowWrite> {
  const [lived] = state.users.values();
  const model = must(lived, 'somebody lives');
  for (let index = 1; index < size.users; index += 1) {
    const user = userOf(index);
    yield { table: 'user', row: { ...model.row, user } };
    for (const account of model.subAccounts.values()) {
      yield { table: 'subAccount', row: { ...account.row, user } };
      for (const slot of account.balances.values()) yield { table: 'balance', row: { ...balanceRow(slot), user } };
    }
  }
  const times = BigInt(size.users);
  for (const { asset, vaultHoldings, faucet, backstopCredits } of state.totals.values()) {
    const sums = { vaultHoldings: vaultHoldings * times, faucet: faucet * times, backstopCredits };
    yield { table: 'totals', row: { asset, ...sums } as AssetTotalsRow };
  }
  yield* orderRows(state, size, signed);
}

function* orderRows(state: ClearingState, size: LargeRowsSize, signed: SignedTextOf): Generator<RowWrite> {
  const { users, orders, triggers, children = 0, leftovers = 0 } = size;
  const models = state.markets.map((market) => Array.from(market.orders.rows(), plainRow));
  const lastOf = state.markets.map((market) => market.sequence as number);
  const all = models.flat();
  const perKind = (waits: boolean): OrderRow[] =>
    all.filter(({ triggerKind }) => (triggerKind !== TRIGGER.none) === waits);
  const [resting, waiting] = [perKind(false), perKind(true)];
  const nextOf = ({ marketIndex }: OrderRow): Pick<OrderRow, 'orderSequence' | 'prioritySequence'> => {
    const orderSequence = ((lastOf[marketIndex] ?? 0) + 1) as Sequence;
    lastOf[marketIndex] = orderSequence;
    return { orderSequence, prioritySequence: orderSequence };
  };
  const parents: OrderRow[] = [];
  for (const [rows, count] of [
    [resting, orders],
    [waiting, triggers],
  ] as const) {
    for (let index = rows.length; index < count; index += 1) {
      const model = must(rows[index % rows.length], 'an order of each kind is lived');
      const orderId = `${model.orderId}-${index}` as OrderId;
      const user = index % users === 0 ? model.user : userOf(index % users);
      const moved = movedBy(model, Math.floor(index / rows.length));
      const row: OrderRow = { ...model, user, orderId, ...nextOf(model), ...moved };
      if (rows === resting && parents.length < children) parents.push(row);
      yield { table: 'order', row };
      yield textRow(row, signed(model));
    }
  }
  for (let index = 0; index < children; index += 1) {
    const parent = must(parents[index % parents.length], 'there are orders beside those that are lived');
    const { user, marketIndex, orderSequence: parentSequence, orderId: parentId } = parent;
    const model = must(
      waiting.find((row) => row.marketIndex === marketIndex),
      'each market has triggers',
    );
    const orderId = `${model.orderId}-child-${index}` as OrderId;
    const text = `{"parent_order_id":"${parentId}"}`;
    const named = { parentSequence, parentIdAt: text.indexOf(parentId), parentIdBytes: parentId.length };
    const child = { ...model, user, orderId, ...nextOf(model), ...named, enabledQuantity: 0 };
    yield { table: 'order', row: child };
    yield textRow(child, { text, signatures: signed(model).signatures });
  }
  for (let index = 0; index < leftovers; index += 1) {
    const model = must(resting[index % resting.length], 'an order of each kind is lived');
    const orderId = `${model.orderId}-left-${index}` as OrderId;
    const row: OrderRow = { ...model, tif: TIF.ioc, orderId, ...nextOf(model) };
    yield { table: 'order', row };
    yield textRow(row, signed(model));
  }
  for (const market of state.markets) {
    const sequence = lastOf[market.definition.marketIndex] as Sequence;
    yield { table: 'market', row: { ...marketRow(market), sequence } };
  }
}

/** The text of the model under another order: it has other terms, which no test here reads. */
function textRow({ marketIndex, orderSequence }: OrderRow, signed: SignedText): RowWrite {
  return { table: 'signedText', row: { marketIndex, orderSequence, ...signed } };
}

/** Another level of the same side, or another trigger. */
function movedBy(model: OrderRow, levels: number): Pick<OrderRow, 'price' | 'triggerPrice'> {
  const step = TICK * (levels % LEVELS);
  const { price, triggerKind, triggerPrice } = model;
  return triggerKind === TRIGGER.none
    ? { price: (price + step) as RawPrice, triggerPrice }
    : { price, triggerPrice: (triggerPrice + step) as RawPrice };
}

function userOf(index: number): UserId {
  return createHash('sha256').update(`user ${index}`).digest('hex') as UserId;
}
