/**
 * The state hash (operator-api.md 6): SHA-256 over every durable fact, as lines of text in one fixed order. The same
 * journal gives the same hash on any machine; a state loaded from rows hashes like the one that never stopped. Where two
 * hashes differ, the lines show where.
 *
 * A line is a table and the members of a row in the order of its layout (row-layouts.ts), so a member cannot be forgotten; `FACTS` has
 * every table, or does not compile. Facts that left memory, and signed texts, are covered by their tallies (tallies.ts). Nothing derived and nothing transient
 * is covered.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../core/hex.ts';
import { TRIGGER_STATE } from '../core/order-terms.ts';
import { viewsOf } from '../core/views.ts';
import { isOpen } from '../risk/position.ts';
import { FactText, type TakeBytes } from '../schema/fact-text.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import type { Struct } from '../schema/row-fields.ts';
import { balanceRow } from './balances.ts';
import { unclaimedRows } from './funds/unclaimed.ts';
import { liquidationRow } from './liquidation/liquidation-rows.ts';
import type { ClearingOrder } from './live-orders.ts';
import { positionRow } from './positions.ts';
import { quoteSetRows } from './quote-set-slots.ts';
import { marketRow } from './registry/registry-markets.ts';
import { markRow } from './risks.ts';
import { ROW_LAYOUTS, type RowTableName, type StructTable } from './row-layouts.ts';
import type { MarketRow, OrderRow, Tables } from './rows.ts';
import type { ClearingState, SubAccountSlot } from './state.ts';
import { counterRow, poolRow, settlementCounterRow, totalsRow } from './tables.ts';
import { isFired } from './trigger-heaps.ts';

/** Sorting a million ids takes seconds: it is done in runs, which are merged. */
const RUN = 4_096;

type Entry<V, K extends string = string> = readonly [K, V];

function compare([a]: Entry<unknown>, [b]: Entry<unknown>): number {
  return a < b ? -1 : 1;
}

/** Sorted by key; for a small map. */
function sorted<K extends string, V>(map: ReadonlyMap<K, V>): readonly Entry<V, K>[] {
  return map.size < 2 ? [...map] : [...map].sort(compare);
}

/** Sorted by key, as a job; for a map with an entry for each user, or more. */
function* sortedLarge<V>(map: ReadonlyMap<string, V>): Generator<number, readonly Entry<V>[]> {
  const entries = [...map];
  let runs: Entry<V>[][] = [];
  for (let from = 0; from < entries.length; from += RUN) {
    runs.push(entries.slice(from, from + RUN).sort(compare));
    yield RUN;
  }
  while (runs.length > 1) {
    const longer: Entry<V>[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(merged(runs[at] ?? [], runs[at + 1] ?? []));
      yield longer.at(-1)?.length ?? 0;
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

function merged<V>(a: readonly Entry<V>[], b: readonly Entry<V>[]): Entry<V>[] {
  const all: Entry<V>[] = [];
  let at = 0;
  for (const entry of a) {
    for (let other = b[at]; other !== undefined && compare(other, entry) < 0; other = b[at]) {
      all.push(other);
      at += 1;
    }
    all.push(entry);
  }
  for (; at < b.length; at += 1) all.push(b[at] as Entry<V>);
  return all;
}

/** Rows of users, which are written user by user. */
type AccountTable = 'user' | 'signers' | 'subAccount' | 'balance' | 'position';
/** Orders and markets are written market by market; of deposits the counters and the tally are facts. */
type PlainTable = Exclude<RowTableName, AccountTable | 'order' | 'market' | 'deposit'>;

/**
 * Members of rows that are no facts. Every start trips the marks, and a start after a clean stop changes no fact: their breakers
 * are left out. So is whether a price came since the start.
 */
const NOT_FACTS: { readonly [T in StructTable]?: readonly (keyof Tables[T])[] } = {
  price: ['isSinceStart'],
  mark: ['isTripped', 'goodUpdates'],
};

type Printers = { readonly [T in StructTable]: Pick<Struct<Tables[T]>, 'print'> };
const PRINTERS = Object.fromEntries(
  Object.entries(ROW_LAYOUTS).flatMap(([table, layout]) =>
    'without' in layout
      ? [[table, layout.without((NOT_FACTS as Readonly<Record<string, readonly never[]>>)[table] ?? [])]]
      : [],
  ),
) as unknown as Printers;

/** One line: the table, and the members of its row in the order of the layout. */
function writeRow<T extends keyof Printers>(to: FactText, table: T, row: Tables[T]): void {
  to.text(table);
  PRINTERS[table].print(to, row);
  to.endLine();
}

function* writeAccounts(state: ClearingState, to: FactText): Generator<number, void> {
  for (const [, { row, subAccounts }] of yield* sortedLarge(state.users)) {
    writeRow(to, 'user', row);
    const signers = state.signers.rowOf(row.user);
    if (signers !== undefined) writeRow(to, 'signers', signers);
    for (const [, account] of [...subAccounts].sort(([a], [b]) => a - b)) writeAccount(account, to);
    yield 1;
  }
}

function writeAccount({ row, balances, positions }: SubAccountSlot, to: FactText): void {
  writeRow(to, 'subAccount', row);
  for (const [, slot] of sorted(balances)) {
    // An empty balance is the same fact as none.
    if (slot.owned !== 0n || slot.locked !== 0n) writeRow(to, 'balance', balanceRow(slot));
  }
  for (const [, slot] of sorted(positions)) if (isOpen(slot.legs)) writeRow(to, 'position', positionRow(slot));
}

function valuesOf<V>(map: ReadonlyMap<string, V>): readonly V[] {
  return sorted(map).map(([, value]) => value);
}

function byUserAndPlace<Row extends { readonly user: string; readonly place: number }>(rows: Iterable<Row>): Row[] {
  return [...rows].sort((a, b) => (a.user === b.user ? a.place - b.place : a.user < b.user ? -1 : 1));
}

/** The rows of each table that are facts, in one order; a row that means the same as none is left out. */
const FACTS: { readonly [T in PlainTable]: (state: ClearingState) => readonly Tables[T][] } = {
  asset: ({ assets }) => valuesOf(assets),
  config: ({ configs }) => valuesOf(configs).filter(({ kind }) => kind !== 'start'),
  price: ({ prices }) => valuesOf(prices),
  mark: ({ risks }) => valuesOf(risks).flatMap((slot) => (slot.mark === null ? [] : [markRow(slot)])),
  totals: ({ totals }) =>
    valuesOf(totals)
      .map(totalsRow)
      .filter((row) => row.vaultHoldings !== 0n || row.faucet !== 0n || row.backstopCredits !== 0n),
  rebalancingPool: ({ totals }) =>
    valuesOf(totals)
      .map(poolRow)
      .filter(({ amount, unpaid }) => amount !== 0n || unpaid !== 0n),
  netDeposit: ({ netDeposits }) =>
    sorted(netDeposits).flatMap(([asset, chains]) =>
      sorted(chains).flatMap(([chainId, amount]) => (amount === 0n ? [] : [{ chainId, asset, amount }])),
    ),
  withdrawal: ({ withdrawals }) =>
    [...withdrawals.all()].map(({ row }) => row).sort((a, b) => a.sequence - b.sequence || a.place - b.place),
  vaultToken: ({ vaultTokens }) => valuesOf(vaultTokens),
  vaultDeviation: ({ vaultDeviations }) => valuesOf(vaultDeviations),
  payoutReserve: ({ payoutReserves }) => valuesOf(payoutReserves),
  withdrawalCounter: ({ withdrawalCounters }) => sorted(withdrawalCounters).map(([key, next]) => counterRow(key, next)),
  forcedCounter: ({ forcedCounters }) => sorted(forcedCounters).map(([key, next]) => counterRow(key, next)),
  withdrawalUsage: ({ withdrawalUsage }) => valuesOf(withdrawalUsage).filter(({ usage }) => usage !== 0n),
  lot: ({ lots }) => [...lots.rows()],
  pooledCredits: ({ pooledHours }) => valuesOf(pooledHours).map(({ row }) => row),
  unclaimed: (state) => unclaimedRows(state),
  settlement: ({ settlements }) => byUserAndPlace(settlements.all()),
  settlementCounter: ({ settlementCounters }) =>
    sorted(settlementCounters).map(([key, next]) => settlementCounterRow(key, next)),
  chainCursor: ({ chainCursors }) => chainCursors.rows(),
  cursorEvent: ({ chainCursors }) => chainCursors.eventRows(),
  signedApproval: ({ signedApprovals }) => signedApprovals.all(),
  usedText: ({ usedTexts }) => byUserAndPlace(usedTexts.all()),
  protection: ({ protections }) => valuesOf(protections),
  liquidation: ({ liquidations }) =>
    [...liquidations]
      .map((account) => liquidationRow(account))
      .sort((a, b) => (a.user === b.user ? a.subAccount - b.subAccount : a.user < b.user ? -1 : 1)),
  backstop: ({ backstopRows }) => [...backstopRows.values()].sort((a, b) => a.index - b.index),
  quoteSet: (state) => quoteSetRows(state),
  adlUsage: ({ adlUsage }) =>
    [...adlUsage.values()].filter(({ minutes }) => minutes.length > 0).sort((a, b) => a.marketIndex - b.marketIndex),
  tally: ({ tallies }) => valuesOf(new Map(Object.entries(tallies))).map(({ row }) => row),
};

interface Fact {
  readonly table: PlainTable;
  readonly row: Tables[PlainTable];
}

function factsOf(state: ClearingState): readonly Fact[] {
  return (Object.keys(FACTS) as PlainTable[]).flatMap((table) => FACTS[table](state).map((row) => ({ table, row })));
}

/** Called with the row of each live order. */
type SeeOrder = (row: OrderRow) => void;

/**
 * Writes every durable fact, one a line: first `accounts`, then every order of every market in the order of sequences, at
 * last `end`. What stands behind the orders is as it was when this began, so that orders may be written while they are
 * loaded, and changed behind that.
 */
class FactLines {
  readonly #state: ClearingState;
  readonly #to: FactText;
  /** Of all markets; the first `#begun` of them are written. */
  readonly #markets: readonly MarketRow[];
  #begun = 0;
  /** What stands behind the orders. */
  readonly #facts: readonly Fact[];
  /** A copy of the record of a fired order that is still dormant there. */
  readonly #fired: OrderRecordView = recordView();

  constructor(state: ClearingState, take: TakeBytes) {
    this.#state = state;
    this.#to = new FactText(take);
    this.#markets = state.markets.map(marketRow);
    this.#facts = factsOf(state);
  }

  /** A job: a unit is a user or an order. */
  *writeAll(see: SeeOrder): Generator<number, void> {
    yield* this.accounts();
    for (const market of this.#state.markets) {
      for (const index of market.orders.indexes()) {
        const row = market.orders.row(index);
        see(row);
        this.order({ index, row, market });
        yield 1;
      }
    }
    yield* this.end();
  }

  /** A job. */
  *accounts(): Generator<number, void> {
    yield* writeAccounts(this.#state, this.#to);
  }

  /** A price has fired an order before its record is updated (trigger-heaps.ts). */
  order({ index, row, market }: Omit<ClearingOrder, 'account'>): void {
    this.#begin(market.definition.marketIndex);
    this.#to.text('order');
    const { v, at } = isFired({ index, row, market }) ? this.#firedCopy(row) : row;
    OrderRecord.hash(v, at, this.#to);
    this.#to.endLine();
  }

  /** A job. */
  *end(): Generator<number, void> {
    const state = this.#state;
    this.#begin(state.markets.length - 1);
    for (const { table, row } of this.#facts) writeRow<PlainTable>(this.#to, table, row);
    for (const [key, next] of yield* sortedLarge(state.depositCounters)) {
      this.#to.text(`deposits|${key}|${next}`).endLine();
      yield 1;
    }
    this.#to.flush();
  }

  /** The lines of the markets up to this one. */
  #begin(marketIndex: number): void {
    for (; this.#begun <= marketIndex; this.#begun += 1)
      writeRow(this.#to, 'market', this.#markets[this.#begun] as MarketRow);
  }

  #firedCopy(row: OrderRecordView): OrderRecordView {
    OrderRecord.copy(row.v, row.at, this.#fired.v, 0);
    this.#fired.triggerState = TRIGGER_STATE.fired;
    return this.#fired;
  }
}

function recordView(): OrderRecordView {
  return new OrderRecordView(viewsOf(new ArrayBuffer(OrderRecord.bytes), 0, OrderRecord.bytes), 0);
}

/** Every durable fact, one a line. */
export function stateLines(state: ClearingState): readonly string[] {
  const decoder = new TextDecoder();
  let text = '';
  const take: TakeBytes = (bytes) => {
    text += decoder.decode(bytes, { stream: true });
  };
  finish(new FactLines(state, take).writeAll(() => undefined));
  return text.split('\n').slice(0, -1);
}

/** SHA-256 over much in pieces. */
export interface BytesHash {
  /** The next piece. */
  update(bytes: Uint8Array): void;
  /** 64 hex digits. */
  digest(): string;
}

/** In plain code: the same digits, an order of magnitude later. */
function portableBytesHash(): BytesHash {
  const hash = sha256.create();
  return { update: (bytes) => void hash.update(bytes), digest: () => toHex(hash.digest()) };
}

/**
 * A job: it takes time in proportion to users and live orders.
 *
 * @param hash a faster one, where there is one. @param see for a caller that would walk through all orders as well.
 * @returns 64 hex digits.
 */
export function* hashState(
  state: ClearingState,
  hash: BytesHash = portableBytesHash(),
  see: SeeOrder = () => undefined,
): Generator<number, string> {
  yield* new FactLines(state, (bytes) => hash.update(bytes)).writeAll(see);
  return hash.digest();
}

/** The state hash of a state whose orders are being loaded: every other row is loaded when this begins. */
export class LoadingHash {
  readonly #hash: BytesHash;
  readonly #lines: FactLines;

  constructor(state: ClearingState, hash: BytesHash = portableBytesHash()) {
    this.#hash = hash;
    this.#lines = new FactLines(state, (bytes) => hash.update(bytes));
    finish(this.#lines.accounts());
  }

  /** The next order, in the order of markets and sequences, as it was loaded. */
  order(order: Omit<ClearingOrder, 'account'>): void {
    this.#lines.order(order);
  }

  /** All orders were loaded. @returns 64 hex digits. */
  digest(): string {
    finish(this.#lines.end());
    return this.#hash.digest();
  }
}

/** The same at once. @returns 64 hex digits. */
export function stateHash(state: ClearingState, hash: BytesHash = portableBytesHash()): string {
  return finish(hashState(state, hash));
}

function finish<Result>(job: Generator<number, Result>): Result {
  for (;;) {
    const next = job.next();
    if (next.done === true) return next.value;
  }
}
