/**
 * A journal as JSON lines of what was decided, record after record: for drop copies, surveillance and analytics. The records are
 * applied by clearing's own code, so a line is what the exchange booked, and any number of readers cost the leader nothing.
 *
 *   trades   {"sequence":7,"index":0,"market":"2","trade_id":7,…,"maker":{…},"taker":{…}}         as `export DIR trades` prints them
 *   fills    {"sequence":7,"index":0,"market":"2","trade_id":7,"liquidity":"Maker","user_id":…}   two of each trade
 *   events   {"sequence":7,"index":0,"event":"created","market":"2","order_id":"…",…}              everything that was decided
 *
 * `sequence` is the journal's, `index` counts the lines of a record from 0: a reader goes on behind the last pair that it has. The
 * same records give the same lines anywhere, at any time.
 *
 * Not here: where records come from (cluster/journal-reader.ts).
 */
import { applyBatch } from '../clearing/clearing.ts';
import type { Effect } from '../clearing/effects.ts';
import { type ClearingInput, isOfMarket, type MarketInput, type QuoteSetAppliedInput } from '../clearing/inputs.ts';
import { decodeBatch } from '../clearing/journal-batch.ts';
import { checkRecord } from '../clearing/records.ts';
import { recoverState } from '../clearing/recovery.ts';
import type { TradeRow, TradeSide } from '../clearing/rows.ts';
import { nativeBytesHash, nativeSha256 } from '../clearing/sha256.ts';
import type { ClearingMarket, ClearingState } from '../clearing/state.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { canCheckpoint, drainDirtyRows, loadState } from '../clearing/tables.ts';
import { must } from '../core/assert.ts';
import { format18, formatRaw } from '../core/decimal.ts';
import { toHex } from '../core/hex.ts';
import type { OrderId } from '../core/ids.ts';
import { ORDER_END_WORD, QUOTE_CHANGE, ROLLBACK_REASON_WORD, SIDE } from '../core/order-terms.ts';
import type { Sequence } from '../core/units.ts';
import { DATA_VERSION } from '../storage/environment.ts';
import { journalHashAt } from '../storage/journal.ts';
import { decodeRecord, GENESIS, type RecordBefore } from '../storage/journal-record.ts';
import { recoveryOf } from '../storage/lmdb-durability.ts';
import { StorageError } from '../storage/storage-error.ts';
import { withReader } from './audit-data.ts';
import { tradeMembers } from './export-data.ts';
import { snakeOf } from './readable-journal.ts';

export const FOLLOWED = ['trades', 'fills', 'events'] as const;
export type Followed = (typeof FOLLOWED)[number];

/** Rows that a checkpoint would write are let go after so many records. */
const RECORDS_PER_DRAIN = 1_000;

type Members = Readonly<Record<string, unknown>>;

/** A state and the record that led to it. */
interface FollowStart {
  readonly state: ClearingState;
  readonly sequence: Sequence;
  readonly before: RecordBefore;
}

function fromTheFirst(): FollowStart {
  return { state: loadState([], nativeSha256), sequence: 0 as Sequence, before: GENESIS };
}

/** A snapshot or a backup: its tables, and the records of its own journal behind them. @throws StorageError when it is none. */
function fromSnapshot(directory: string): Promise<FollowStart> {
  return withReader(directory, (reader) => {
    const { state, sequence } = recoverState({ recover: () => recoveryOf(reader) });
    return { state, sequence, before: { hash: journalHashAt(reader, sequence), epoch: state.leadership.epoch } };
  });
}

export class JournalFollower {
  /** Of the records that it applies. */
  static readonly dataVersion: string = String(DATA_VERSION);
  readonly #what: Followed;
  readonly #state: ClearingState;
  #sequence: Sequence;
  #before: RecordBefore;

  private constructor(what: Followed, { state, sequence, before }: FollowStart) {
    this.#what = what;
    this.#state = state;
    this.#sequence = sequence;
    this.#before = before;
  }

  /** @param snapshot a snapshot or a backup of a node; null: the empty state before the first record. @throws StorageError */
  static async begin(what: Followed, snapshot: string | null): Promise<JournalFollower> {
    return new JournalFollower(what, snapshot === null ? fromTheFirst() : await fromSnapshot(snapshot));
  }

  /** The last record that was applied; 0 for none. */
  get sequence(): Sequence {
    return this.#sequence;
  }

  /** 64 hex digits, those that a node gives at this record. */
  stateHash(): string {
    return stateHash(this.#state, nativeBytesHash());
  }

  /**
   * Verifies and applies the next record.
   *
   * @param dataVersion of its writer.
   * @returns its lines, without line ends. @throws InvariantError when it does not follow the one before, or is damaged;
   *   StorageError when it is of another data version.
   */
  apply(bytes: Uint8Array, dataVersion: string): string[] {
    const sequence = (this.#sequence + 1) as Sequence;
    const own = JournalFollower.dataVersion;
    if (dataVersion !== own)
      throw new StorageError(
        `record ${sequence} is of data version ${dataVersion}, this program has ${own}: use the release of the cluster`,
      );
    const record = decodeRecord(bytes, sequence, this.#before);
    const batch = decodeBatch(record.payload);
    checkRecord(this.#state, record.epoch, batch);
    // Orders that end are gone when the batch is applied.
    const names = this.#what === 'events' ? this.#namesOf(batch.inputs) : null;
    const decided = names === null ? [] : batch.inputs.flatMap((input) => this.#ofInput(input, names));
    const effects: Effect[] = [];
    applyBatch(this.#state, batch, effects);
    for (const effect of effects) decided.push(...this.#ofEffect(effect, names));
    this.#sequence = sequence;
    this.#before = record;
    if (sequence % RECORDS_PER_DRAIN === 0 && canCheckpoint(this.#state)) drainDirtyRows(this.#state);
    const shared = names === null ? {} : { time_ns: `${record.timeNs}` };
    return decided.map((members, index) => JSON.stringify({ sequence, index, ...shared, ...members }));
  }

  #ofEffect(effect: Effect, names: OrderNames | null): Members[] {
    if (effect.kind === 'fillConfirmed' || effect.kind === 'deleveraged') return this.#ofTrade(effect.trade);
    if (names === null) return [];
    return effect.kind === 'fillRolledBack' ? [this.#ofRollback(effect, names)] : otherEffect(effect);
  }

  #ofTrade(trade: TradeRow): Members[] {
    const members = tradeMembers(this.#state, trade);
    if (this.#what === 'trades') return [members];
    if (this.#what === 'events') {
      const { isLiquidation: is_liquidation, isAutoDeleverage: is_auto_deleverage } = trade;
      return [{ event: 'confirmed', ...members, is_liquidation, is_auto_deleverage }];
    }
    return [this.#ofSide(trade, 'Maker', trade.maker), this.#ofSide(trade, 'Taker', trade.taker)];
  }

  #ofSide(trade: TradeRow, liquidity: 'Maker' | 'Taker', side: TradeSide): Members {
    const { market, price, quantity, matched_ns } = tradeMembers(this.#state, trade);
    const isBuy = (trade.takerSide === SIDE.buy) === (liquidity === 'Taker');
    return {
      market,
      trade_id: trade.tradeId,
      liquidity,
      user_id: side.user,
      sub_account: side.subAccount,
      order_id: side.orderId,
      side: isBuy ? 'Buy' : 'Sell',
      price,
      quantity,
      fee: format18(side.fee),
      matched_ns,
      is_liquidation: trade.isLiquidation,
      is_auto_deleverage: trade.isAutoDeleverage,
    };
  }

  #ofRollback(effect: Extract<Effect, { kind: 'fillRolledBack' }>, names: OrderNames): Members {
    const { marketIndex, tradeId, makerOrder, takerOrder, makerReason, takerReason, takerSide, matchedNs } = effect;
    const market = this.#market(marketIndex);
    return {
      event: 'rolledBack',
      market: market.definition.assetId,
      trade_id: tradeId,
      ...amounts(market, effect),
      matched_ns: `${matchedNs}`,
      taker_side: takerSide === SIDE.buy ? 'Buy' : 'Sell',
      maker: { ...this.#named(names, marketIndex, makerOrder), reason: ROLLBACK_REASON_WORD[makerReason] },
      taker: { ...this.#named(names, marketIndex, takerOrder), reason: ROLLBACK_REASON_WORD[takerReason] },
    };
  }

  #ofInput(input: ClearingInput, names: OrderNames): Members[] {
    if (!isOfMarket(input)) return [];
    const { marketIndex, timeNs } = input;
    const market = this.#market(marketIndex);
    const shared = { event: input.kind, market: market.definition.assetId, event_ns: `${timeNs}` };
    switch (input.kind) {
      case 'created':
      case 'createRefused': {
        const { orderSequence, side, end } = input.order;
        const ended = end === 0 ? {} : { end: ORDER_END_WORD[end] };
        const named = this.#named(names, marketIndex, orderSequence);
        return [
          { ...shared, ...named, side: side === SIDE.buy ? 'Buy' : 'Sell', ...amounts(market, input.order), ...ended },
        ];
      }
      case 'replaced':
        return [{ ...shared, ...this.#named(names, marketIndex, input.order), ...amounts(market, input) }];
      case 'ended':
        return [{ ...shared, ...this.#named(names, marketIndex, input.order), end: ORDER_END_WORD[input.end] }];
      case 'triggered':
      case 'activated': {
        const quantity = formatRaw(input.quantity, market.definition.quantityDecimals);
        return [{ ...shared, ...this.#named(names, marketIndex, input.order), quantity }];
      }
      case 'restored':
      case 'cancelPending':
        return [{ ...shared, ...this.#named(names, marketIndex, input.order) }];
      case 'matched': {
        const maker = this.#named(names, marketIndex, input.makerOrder);
        const taker = this.#named(names, marketIndex, input.takerOrder);
        return [{ ...shared, trade_id: input.tradeId, ...amounts(market, input), maker, taker }];
      }
      default:
        return [];
    }
  }

  #market(marketIndex: number): ClearingMarket {
    return must(this.#state.markets[marketIndex], 'an event is of a known market');
  }

  /** The orders that a batch names, before it is applied. */
  #namesOf(inputs: readonly ClearingInput[]): OrderNames {
    const names: OrderNames = new Map();
    for (const input of inputs)
      if (isOfMarket(input)) for (const [key, name] of this.#namesIn(input)) names.set(key, name);
    return names;
  }

  #namesIn(input: MarketInput): [string, OrderName][] {
    if (input.kind === 'quoteSetApplied') return this.#namesOfSet(input);
    if (!('order' in input) && input.kind !== 'matched') return [];
    const { marketIndex } = input;
    if (input.kind === 'created' || input.kind === 'createRefused') {
      const { orderSequence, orderId, user, subAccount } = input.order;
      return [[keyOf(marketIndex, orderSequence), nameOf({ orderId, user, subAccount })]];
    }
    const sequences = input.kind === 'matched' ? [input.makerOrder, input.takerOrder] : [input.order];
    return sequences.flatMap((sequence) => {
      const name = this.#live(marketIndex, sequence);
      return name === null ? [] : [[keyOf(marketIndex, sequence), name] as [string, OrderName]];
    });
  }

  /** Of the entries that a quote set changed: those that it created have their names from it. */
  #namesOfSet({ marketIndex, setId, user, subAccount, changes }: QuoteSetAppliedInput): [string, OrderName][] {
    return changes.flatMap(({ order, change, number }) => {
      if (order === 0) return [];
      const orderId = `${setId}:${number}` as OrderId;
      const isNew = change === QUOTE_CHANGE.created;
      const name = isNew ? nameOf({ orderId, user, subAccount }) : this.#live(marketIndex, order);
      return name === null ? [] : [[keyOf(marketIndex, order), name] as [string, OrderName]];
    });
  }

  #live(marketIndex: number, sequence: Sequence): OrderName | null {
    const order = this.#state.markets[marketIndex]?.orders.get(sequence);
    return order === undefined ? null : nameOf(order);
  }

  /** Null members for an order that clearing does not know any more: a parked cancel of a finished one. */
  #named(names: OrderNames, marketIndex: number, sequence: Sequence): OrderName {
    const found = names.get(keyOf(marketIndex, sequence)) ?? this.#live(marketIndex, sequence);
    return found ?? { order_id: null, user_id: null, sub_account: null };
  }
}

interface OrderName {
  readonly order_id: string | null;
  readonly user_id: string | null;
  readonly sub_account: number | null;
}
type OrderNames = Map<string, OrderName>;

function keyOf(marketIndex: number, sequence: Sequence): string {
  return `${marketIndex} ${sequence}`;
}

function nameOf(of: { readonly orderId: string; readonly user: string; readonly subAccount: number }): OrderName {
  return { order_id: of.orderId, user_id: of.user, sub_account: of.subAccount };
}

/** A price of 0 is none: that of a market order. */
function amounts(
  { definition }: ClearingMarket,
  { price, quantity }: { readonly price: number; readonly quantity: number },
): Members {
  return {
    price: price === 0 ? null : formatRaw(price, definition.priceDecimals),
    quantity: formatRaw(quantity, definition.quantityDecimals),
  };
}

/** What goes between the parts of a node alone, or is a figure that follows from all others. */
const INTERNAL: ReadonlySet<Effect['kind']> = new Set([
  'replied',
  'marketDecided',
  'marketRiskChanged',
  'tradeIdsWanted',
  'cancelAccount',
  'nodeOrder',
]);

/** Balances, positions, deposits, withdrawals, settings: the row as clearing has it, amounts as integers of 18 decimals. */
function otherEffect(effect: Effect): Members[] {
  if (INTERNAL.has(effect.kind)) return [];
  const { kind, ...members } = effect;
  return [{ event: kind, ...(plain(members) as Members) }];
}

/** Names with underscores, bigints as digits, bytes as hex. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`;
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return [...value].map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeOf(name), plain(member)]));
}
