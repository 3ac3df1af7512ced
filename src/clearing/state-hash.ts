/**
 * The state hash (operator-api.md 6): SHA-256 over every durable fact, as lines of text in one fixed order. The same
 * journal gives the same hash on any machine; a state loaded from rows hashes like the one that never stopped. Where two
 * hashes differ, the lines show where.
 *
 * Facts that left memory are covered by their tallies (tallies.ts). Nothing derived and nothing transient is covered.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { must } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import type { MarketDefinition } from '../core/market-definition.ts';
import { TRIGGER_STATE, type TriggerState } from '../core/order-terms.ts';
import { isOpen } from '../risk/position.ts';
import { FactText, type TakeBytes } from './fact-text.ts';
import type { OrderRow } from './rows.ts';
import type { ClearingState, MarketSlot, SubAccountSlot } from './state.ts';
import { isFired } from './trigger-heaps.ts';

/** Sorting a million names takes seconds: it says so often that somebody is working. */
const COMPARISONS_PER_BEAT = 65_536;

/** @param beat for a map with an entry a user or more; left out: of one that is small. */
function sorted<V>(map: ReadonlyMap<string, V>, beat: () => void = () => undefined): readonly (readonly [string, V])[] {
  if (map.size < 2) return [...map];
  let compared = 0;
  return [...map].sort(([a], [b]) => {
    compared += 1;
    if (compared % COMPARISONS_PER_BEAT === 0) beat();
    return a < b ? -1 : 1;
  });
}

function writeAccounts(state: ClearingState, to: FactText): void {
  for (const [id, { row, subAccounts }] of sorted(state.users, state.beat)) {
    to.text('user').text(id).text(`${row.isMarketMaker}`).number(row.configNonce);
    to.amount(row.transferNonce).amount(row.closePositionNonce).endLine();
    for (const [index, account] of [...subAccounts].sort(([a], [b]) => a - b)) writeAccount(id, index, account, to);
  }
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

/** Every field of a live order, the signature standing for the text that it signs. */
function writeOrder(row: OrderRow, triggerState: TriggerState, to: FactText): void {
  to.text('order').number(row.marketIndex).number(row.orderSequence).number(row.prioritySequence).text(row.user);
  to.number(row.subAccount).text(row.orderId).number(row.side).number(row.kind).number(row.tif).number(row.flags);
  to.number(row.price).number(row.quantity).number(row.amount).number(row.budget).number(row.triggerKind);
  to.number(row.triggerPrice).number(triggerState).number(row.parentSequence).text(row.parentId);
  to.number(row.enabledQuantity).number(row.activatedQuantity).number(row.droppedQuantity).number(row.maxFeeRate);
  to.nanoseconds(row.creationNs).nanoseconds(row.timestampNs).nanoseconds(row.goodUntilNs).nanoseconds(row.expiryNs);
  to.nanoseconds(row.admittedNs).nanoseconds(row.lastUpdateNs).number(row.filledQuantity).amount(row.filledNotional);
  to.amount(row.fees).number(row.faultReason).number(row.verdict).hex(row.signature).endLine();
}

function marketLine({ definition, sequence, lastTradeId }: MarketSlot): string {
  return `market|${definition.marketIndex}|${sequence}|${lastTradeId}|${definitionLine(definition)}`;
}

function* registryLines(state: ClearingState): Generator<string> {
  for (const [id, row] of sorted(state.assets)) {
    yield `asset|${id}|${JSON.stringify(row.symbol)}|${row.settingsJson}|${row.riskJson ?? ''}`;
    for (const token of row.tokens) {
      const caps = `${token.maxDeposits ?? ''}|${token.max1hrDeposits ?? ''}|${token.minWeight}`;
      yield `token|${token.token}|${token.chainId}|${token.decimals}|${caps}|${token.minFirstDepositBaseUnits}`;
    }
  }
  for (const [key, row] of sorted(state.configs)) yield `config|${key}|${row.json}`;
  for (const [id, row] of sorted(state.prices)) {
    const jump = row.jump === null ? '' : `${row.jump.price}|${JSON.stringify(row.jump.source)}`;
    const breaker = `${row.isTripped}|${row.goodUpdates}`;
    yield `price|${id}|${row.price}|${row.publishNs}|${JSON.stringify(row.source)}|${jump}|${breaker}`;
  }
  // Every start trips the marks, and a start after a clean stop changes no fact: their breakers are left out.
  for (const [id, { mark }] of sorted(state.risks)) if (mark !== null) yield `mark|${id}|${mark.price}|${mark.timeNs}`;
}

function* sumLines(state: ClearingState): Generator<string> {
  for (const [asset, totals] of sorted(state.totals)) {
    if (totals.vaultHoldings !== 0n || totals.faucet !== 0n) {
      yield `totals|${asset}|${totals.vaultHoldings}|${totals.faucet}`;
    }
  }
  for (const [key, next] of sorted(state.depositCounters, state.beat)) yield `deposits|${key}|${next}`;
  for (const [name, tally] of sorted(new Map(Object.entries(state.tallies)))) {
    const { count, digest, pending } = tally.row;
    yield `tally|${name}|${count}|${digest}|${toHex(pending)}`;
  }
}

/** Told of the row of each live order, to look at only. */
export type SeeOrder = (row: OrderRow) => void;

/** Says every durable fact, one a line, as whoever goes through the orders comes by: `begin`, each `order`, `end`. */
class FactLines {
  readonly #state: ClearingState;
  readonly #to: FactText;
  /** Markets that were said. */
  #markets = 0;

  constructor(state: ClearingState, take: TakeBytes) {
    this.#state = state;
    this.#to = new FactText(take);
  }

  begin(): void {
    writeAccounts(this.#state, this.#to);
  }

  /** @param isFired that a price has fired the order is a fact before its row says so (trigger-heaps.ts). */
  order(row: OrderRow, isFired: boolean): void {
    this.#sayMarkets(Math.min(row.marketIndex + 1, this.#state.markets.length));
    writeOrder(row, isFired ? TRIGGER_STATE.fired : row.triggerState, this.#to);
  }

  end(): void {
    this.#sayMarkets(this.#state.markets.length);
    this.#sayAll(registryLines(this.#state));
    this.#sayAll(sumLines(this.#state));
    this.#to.flush();
  }

  #sayMarkets(until: number): void {
    for (; this.#markets < until; this.#markets += 1) {
      this.#to.text(marketLine(must(this.#state.markets[this.#markets], 'markets are dense'))).endLine();
    }
  }

  #sayAll(lines: Iterable<string>): void {
    for (const line of lines) this.#to.text(line).endLine();
  }
}

/** Those of a state that is all there. */
function sayAll(state: ClearingState, lines: Pick<FactLines, 'begin' | 'order' | 'end'>, see: SeeOrder): void {
  lines.begin();
  for (const { orders } of state.markets) {
    // Live orders stand in the order of their sequences.
    for (const row of orders.looks()) {
      const slot = orders.slotOf(row.orderSequence);
      see(row);
      lines.order(row, slot !== null && isFired(slot));
    }
  }
  lines.end();
}

/** Every durable fact, one a line. */
export function stateLines(state: ClearingState): readonly string[] {
  const decoder = new TextDecoder();
  let text = '';
  const take: TakeBytes = (bytes) => {
    text += decoder.decode(bytes, { stream: true });
  };
  sayAll(state, new FactLines(state, take), () => undefined);
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
export function portableBytesHash(): BytesHash {
  const hash = sha256.create();
  return { update: (bytes) => void hash.update(bytes), digest: () => toHex(hash.digest()) };
}

/**
 * The hash of a state that somebody else goes through: `begin` when everything but orders is there, `order` for each live
 * one in the order of markets and sequences, `end`, then `digest`. Beats now and then.
 */
export class StateHasher {
  readonly #hash: BytesHash;
  readonly #lines: FactLines;

  /** @param hash a faster one, where there is one. */
  constructor(state: ClearingState, hash: BytesHash = portableBytesHash()) {
    this.#hash = hash;
    this.#lines = new FactLines(state, (bytes) => {
      state.beat();
      hash.update(bytes);
    });
  }

  begin(): void {
    this.#lines.begin();
  }

  /** @param isFired whether a price has fired it, whatever its row says. */
  order(row: OrderRow, isFired = false): void {
    this.#lines.order(row, isFired);
  }

  end(): void {
    this.#lines.end();
  }

  /** @returns 64 hex digits. */
  digest(): string {
    return this.#hash.digest();
  }
}

/**
 * Takes time in proportion to users and live orders, and beats meanwhile.
 *
 * @param hash a faster one, where there is one. @param see for who would walk through all orders as well.
 * @returns 64 hex digits.
 */
export function stateHash(state: ClearingState, hash?: BytesHash, see: SeeOrder = () => undefined): string {
  const hasher = new StateHasher(state, hash);
  sayAll(state, hasher, see);
  return hasher.digest();
}
