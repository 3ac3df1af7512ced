/**
 * The state hash (operator-api.md 6): SHA-256 over every durable fact, as lines of text in one fixed order. The same
 * journal gives the same hash on any machine; a state loaded from rows hashes like the one that never stopped. Where two
 * hashes differ, the lines show where.
 *
 * Facts that left memory, and signed texts, are covered by their tallies (tallies.ts). Nothing derived and nothing transient
 * is covered.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../core/hex.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { TRIGGER_STATE } from '../core/order-terms.ts';
import { viewsOf } from '../core/views.ts';
import { isOpen } from '../risk/position.ts';
import { OrderRecord, OrderRecordView } from '../schema/generated/messages.ts';
import { FactText, type TakeBytes } from './fact-text.ts';
import { unclaimedRows } from './funds/unclaimed.ts';
import { liquidationRow } from './liquidation/liquidation-rows.ts';
import type { LiveOrder } from './live-orders.ts';
import type { AccountPlace, AssetQuantity, NodeOrder, OrderRow, SignerConfigRow } from './rows.ts';
import type { ClearingState, MarketSlot, SubAccountSlot } from './state.ts';
import { isFired } from './trigger-heaps.ts';

/** Sorting a million ids takes seconds: it is done in runs, which are merged. */
const RUN = 4_096;

type Entry<V> = readonly [string, V];

function compare([a]: Entry<unknown>, [b]: Entry<unknown>): number {
  return a < b ? -1 : 1;
}

/** Sorted by key; for a small map. */
function sorted<V>(map: ReadonlyMap<string, V>): readonly Entry<V>[] {
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

function* writeAccounts(state: ClearingState, to: FactText): Generator<number, void> {
  for (const [id, { row, subAccounts }] of yield* sortedLarge(state.users)) {
    to.text('user').text(id).text(`${row.isMarketMaker}`).number(row.configNonce);
    to.amount(row.transferNonce).amount(row.closePositionNonce);
    if (row.hasTimer) to.text('timer');
    to.endLine();
    const signers = state.signers.rowOf(row.user);
    if (signers !== undefined) to.text(signersLine(signers)).endLine();
    for (const [index, account] of [...subAccounts].sort(([a], [b]) => a - b)) writeAccount(id, index, account, to);
    yield 1;
  }
}

function signersLine({ user, isUnfunded, masterWeight, thresholds, setNs, signers }: SignerConfigRow): string {
  const keys = signers.map(
    ({ scheme, key, weight, addedNs, expiresAtNs, maxSigningWindowNs }) =>
      `${scheme}:${toHex(key)}:${weight}:${addedNs}:${expiresAtNs ?? ''}:${maxSigningWindowNs ?? ''}`,
  );
  const { low, medium, high } = thresholds;
  return `signers|${user}|${isUnfunded}|${masterWeight}|${low}|${medium}|${high}|${setNs}|${keys.join('+')}`;
}

function writeAccount(user: string, index: number, { row, balances, positions }: SubAccountSlot, to: FactText): void {
  to.text('account').text(user).number(index).text(row.kind);
  to.text(JSON.stringify(row.name))
    .text(row.asset ?? '')
    .endLine();
  for (const [asset, { owned, locked }] of sorted(balances)) {
    // An empty balance is the same fact as none.
    if (owned === 0n && locked === 0n) continue;
    to.text('balance').text(user).number(index).text(asset).amount(owned).amount(locked).endLine();
  }
  for (const [asset, { legs }] of sorted(positions)) {
    if (!isOpen(legs)) continue;
    to.text('position').text(user).number(index).text(asset);
    to.amount(legs.base).amount(legs.quote).amount(legs.entry).endLine();
  }
}

function definitionLine(market: MarketDefinition): string {
  return (
    `${market.assetId}|${market.priceDecimals}|${market.quantityDecimals}|${market.tickSize}|` +
    `${market.minimumQuantity}|${market.makerFeeRate}|${market.takerFeeRate}|${market.status}|` +
    `${market.selfTradePrevention}|${market.priceCollar ?? ''}|${market.minimumNotional}`
  );
}

function marketLine({ definition, sequence, lastTradeId, match }: MarketSlot): string {
  const line = `market|${definition.marketIndex}|${sequence}|${lastTradeId}|${definitionLine(definition)}`;
  const { takerOrder, timeNs, notional } = match;
  return notional === 0n ? line : `${line}|${takerOrder}|${timeNs}|${notional}`;
}

function* registryLines(state: ClearingState): Generator<string> {
  for (const [id, row] of sorted(state.assets)) {
    yield `asset|${id}|${JSON.stringify(row.symbol)}|${row.settingsJson}|${row.riskJson ?? ''}`;
    for (const token of row.tokens) {
      const caps = `${token.maxDeposits ?? ''}|${token.max1hrDeposits ?? ''}|${token.minWeight}`;
      yield `token|${token.token}|${token.chainId}|${token.decimals}|${caps}|${token.minFirstDepositBaseUnits}`;
    }
  }
  for (const [key, row] of sorted(state.configs)) if (row.kind !== 'start') yield `config|${key}|${row.json}`;
  for (const [id, row] of sorted(state.prices)) {
    const jump = row.jump === null ? '' : `${row.jump.price}|${JSON.stringify(row.jump.source)}`;
    const breaker = `${row.isTripped}|${row.goodUpdates}`;
    yield `price|${id}|${row.price}|${row.publishNs}|${JSON.stringify(row.source)}|${jump}|${breaker}`;
  }
  // Every start trips the marks, and a start after a clean stop changes no fact: their breakers are left out. So is whether
  // a price came since the start.
  for (const [id, { mark }] of sorted(state.risks)) if (mark !== null) yield `mark|${id}|${mark.price}|${mark.timeNs}`;
}

/** Vault holdings by asset. */
function* totalsLines(state: ClearingState): Generator<string> {
  for (const [asset, totals] of sorted(state.totals)) {
    const { vaultHoldings, faucet, backstopCredits, rebalancingPool, rebalancingUnpaid } = totals;
    if (vaultHoldings !== 0n || faucet !== 0n || backstopCredits !== 0n) {
      yield `totals|${asset}|${vaultHoldings}|${faucet}|${backstopCredits}`;
    }
    if (rebalancingPool !== 0n) yield `rebalancing pool|${asset}|${rebalancingPool}`;
    if (rebalancingUnpaid !== 0n) yield `rebalancing unpaid|${asset}|${rebalancingUnpaid}`;
  }
  for (const [asset, chains] of sorted(state.netDeposits)) {
    for (const [chain, amount] of sorted(chains)) {
      if (amount !== 0n) yield `net deposits|${asset}|${chain}|${amount}`;
    }
  }
}

function nodeOrderText(order: NodeOrder | null): string {
  if (order === null) return '';
  const { orderId, marketIndex, side, price, quantity, isSpot } = order;
  return [orderId, marketIndex, side, price, quantity, isSpot].join(',');
}

function accountsText(accounts: readonly AccountPlace[]): string {
  return accounts.map(({ user, subAccount }) => `${user}/${subAccount}`).join(',');
}

function quantitiesText(quantities: readonly AssetQuantity[]): string {
  return quantities.map(({ asset, quantity }) => `${asset}:${quantity}`).join(',');
}

/** Accounts under liquidation by user and index, rows of the backstop by index, uses of auto-deleveraging by market. */
function* liquidationLines({ liquidations, backstopRows, adlUsage }: ClearingState): Generator<string> {
  const rows = [...liquidations].map((account) => liquidationRow(account));
  rows.sort((a, b) => (a.user === b.user ? a.subAccount - b.subAccount : a.user < b.user ? -1 : 1));
  for (const row of rows) {
    const through = row.through.map(({ marketIndex, sequence }) => `${marketIndex}:${sequence}`).join(',');
    const { user, subAccount, startedNs, round, roundNs, stage, ordered, order } = row;
    yield `liquidation|${user}|${subAccount}|${startedNs}|${round}|${roundNs}|${stage}|${through}|${ordered}|${nodeOrderText(order)}`;
  }
  for (const row of [...backstopRows.values()].sort((a, b) => a.index - b.index)) {
    const taken = `${quantitiesText(row.taken)}|${quantitiesText(row.takenSpot)}`;
    const sums = `${row.provisional}|${row.posted}|${taken}|${quantitiesText(row.adlClosed)}`;
    const source = `${row.sourceUser}|${row.sourceIndex}|${row.startedNs}`;
    yield `backstop|${row.index}|${source}|${row.state}|${sums}|${row.clipNs}|${nodeOrderText(row.order)}|${row.adlMarket}|${accountsText(row.counterparties)}`;
  }
  for (const { marketIndex, minutes } of [...adlUsage.values()].sort((a, b) => a.marketIndex - b.marketIndex)) {
    if (minutes.length === 0) continue;
    yield `adl|${marketIndex}|${minutes.map(({ minute, quantity }) => `${minute}:${quantity}`).join(',')}`;
  }
}

/** Withdrawals that are shown, units in vaults, counters and usage. */
function* withdrawalLines(state: ClearingState): Generator<string> {
  const rows = [...state.withdrawals.all()].map(({ row }) => row);
  for (const row of rows.sort((a, b) => a.sequence - b.sequence || a.place - b.place)) {
    const amounts = `${row.amount}|${row.fee}|${row.isolated}|${row.payout}`;
    const terms = `${row.token}|${row.chainId}|${row.asset}|${amounts}|${row.target}`;
    const place = `${row.user}|${row.place}|${row.sequence}|${row.nonce}|${row.isExplicit}`;
    const times = `${row.requestedNs}|${row.dueNs}|${row.endedNs}`;
    const approval = `${row.validUntil}|${row.epochHash}|${row.signatures.join('+')}`;
    yield `withdrawal|${place}|${row.status}|${terms}|${times}|${approval}`;
  }
  for (const [key, { asset, baseUnits }] of sorted(state.vaultTokens)) yield `vault token|${key}|${asset}|${baseUnits}`;
  for (const [key, { missing, accepted }] of sorted(state.vaultDeviations))
    yield `vault deviation|${key}|${missing}|${accepted}`;
  for (const [key, { units, free }] of sorted(state.payoutReserves)) yield `payout reserve|${key}|${units}|${free}`;
  for (const [key, next] of sorted(state.withdrawalCounters)) yield `withdrawal counter|${key}|${next}`;
  for (const [key, next] of sorted(state.forcedCounters)) yield `forced counter|${key}|${next}`;
  for (const [key, { usage, startedNs }] of sorted(state.withdrawalUsage)) {
    if (usage !== 0n) yield `withdrawal usage|${key}|${usage}|${startedNs}`;
  }
}

/** Isolated lots, what was pooled in the last hour, deposits that wait for an operator. */
function* depositLines(state: ClearingState): Generator<string> {
  for (const { user, place, asset, sequence, amount, creditedNs } of state.lots.rows()) {
    yield `lot|${asset}|${sequence}|${user}|${place}|${amount}|${creditedNs}`;
  }
  for (const [asset, hour] of sorted(state.pooledHours)) {
    yield `pooled|${asset}|${hour.row.credits.map(({ timeNs, amount }) => `${timeNs}:${amount}`).join(',')}`;
  }
  for (const row of unclaimedRows(state)) {
    const { chainId, user, counter, token, baseUnits, tx, logIndex } = row;
    yield `unclaimed|${chainId}|${user}|${counter}|${token}|${baseUnits}|${tx}|${logIndex}`;
  }
}

/** Settlements that lock funds, and counters of executed ones. */
function* settlementLines(state: ClearingState): Generator<string> {
  const rows = [...state.settlements.all()];
  rows.sort((a, b) => (a.user === b.user ? a.place - b.place : a.user < b.user ? -1 : 1));
  for (const row of rows) {
    const name = `${row.user}|${row.place}|${row.subAccount}|${row.chainId}|${row.nonce}|${row.requestedNs}`;
    const out = `${row.tokenOut}|${row.assetOut}|${row.amountOut}|${row.baseUnitsOut}`;
    const into = `${row.tokenIn}|${row.assetIn}|${row.amountIn}|${row.baseUnitsIn}`;
    const approval = `${row.settler}|${row.validFrom}|${row.validUntil}|${row.signature}`;
    yield `settlement|${name}|${row.status}|${row.mode}|${out}|${into}|${approval}`;
  }
  for (const [key, next] of sorted(state.settlementCounters)) yield `settlement counter|${key}|${next}`;
}

/** Signed texts that were accepted. */
function* usedTextLines(state: ClearingState): Generator<string> {
  const rows = [...state.usedTexts.all()];
  rows.sort((a, b) => (a.user === b.user ? a.place - b.place : a.user < b.user ? -1 : 1));
  for (const row of rows) {
    const text = `${row.user}|${row.place}|${row.kind}|${row.digest}|${row.chainId}|${row.subAccount}|${row.nonce}|${row.expiresNs}`;
    const made = `${row.owner}|${row.sequence}|${row.requestedNs}`;
    yield `used text|${text}|${made}|${row.status}|${row.endedNs}|${row.isPaid}|${row.floorOf}`;
  }
}

function* tallyLines(state: ClearingState): Generator<string> {
  for (const [name, tally] of sorted(new Map(Object.entries(state.tallies)))) {
    const { count, digest, pending } = tally.row;
    yield `tally|${name}|${count}|${digest}|${toHex(pending)}`;
  }
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
  /** The names of all markets; the first `#begun` of them are written. */
  readonly #markets: readonly string[];
  #begun = 0;
  /** What stands behind the orders, before and behind the counters of deposits. */
  readonly #registry: readonly string[];
  readonly #last: readonly string[];
  /** A copy of the record of a fired order that is still dormant there. */
  readonly #fired: OrderRecordView = recordView();

  constructor(state: ClearingState, take: TakeBytes) {
    this.#state = state;
    this.#to = new FactText(take);
    this.#markets = state.markets.map(marketLine);
    this.#registry = [
      ...registryLines(state),
      ...totalsLines(state),
      ...withdrawalLines(state),
      ...depositLines(state),
      ...settlementLines(state),
      ...usedTextLines(state),
    ];
    this.#last = [...liquidationLines(state), ...tallyLines(state)];
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
  order({ index, row, market }: Omit<LiveOrder, 'account'>): void {
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
    this.#writeLines(this.#registry);
    for (const [key, next] of yield* sortedLarge(state.depositCounters)) {
      this.#to.text(`deposits|${key}|${next}`).endLine();
      yield 1;
    }
    this.#writeLines(this.#last);
    this.#to.flush();
  }

  /** The lines of the markets up to this one. */
  #begin(marketIndex: number): void {
    for (; this.#begun <= marketIndex; this.#begun += 1) this.#to.text(this.#markets[this.#begun] as string).endLine();
  }

  #firedCopy(row: OrderRecordView): OrderRecordView {
    OrderRecord.copy(row.v, row.at, this.#fired.v, 0);
    this.#fired.triggerState = TRIGGER_STATE.fired;
    return this.#fired;
  }

  #writeLines(lines: readonly string[]): void {
    for (const line of lines) this.#to.text(line).endLine();
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
  order(order: Omit<LiveOrder, 'account'>): void {
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
