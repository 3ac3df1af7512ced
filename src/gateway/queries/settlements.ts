/**
 * Settlements at the gateway: what clearing has published of them, for requests that wait for their approval and for the
 * list of signatures (wire.md 7.19). The rows are a copy of clearing's, flushed.
 *
 *   init ─▶ signatures, weight, amount set aside (account-actions.ts) ─▶ clearing: locked ─▶ signer ─▶ clearing: approved
 *                                                     reply with the approval ◀──────────────────────────┘
 *
 * A request waits at most APPROVAL_WAIT_MS, which is below the deadline of its connection. Bounded: a request and its
 * repeats wait only for the row that the text has made, and each is an action of the user (account-actions.ts).
 */

import type { SettlementName } from '../../clearing/inputs.ts';
import type { SettlementRow } from '../../clearing/rows.ts';
import { settlementApprovals } from '../../codec/funds-replies.ts';
import type { SettlementEvent } from '../../codec/settlement-events.ts';
import { mulDivFloor } from '../../core/arithmetic.ts';
import { type ChainId, USD, type UserId } from '../../core/ids.ts';
import { type Amount18, ONE_18, type TimestampNs } from '../../core/units.ts';

const APPROVAL_WAIT_MS = 4_500;

/** What has to hold of a chain before an amount is locked. */
type ChainReadiness =
  | {
      readonly kind: 'ready';
      /** The time of the last confirmed block, seconds. */
      readonly blockTime: number;
    }
  /** No approval would be signed now, or would ever lapse. */
  | { readonly kind: 'notReady'; readonly reason: string };

/** The chains, as far as settlements need them; before they have started none is ready. */
export type SettlementChains = (chainId: ChainId) => ChainReadiness;

export const NO_CHAINS: SettlementChains = () => ({ kind: 'notReady', reason: 'the chains have not started' });

export class SettlementRows {
  /** Live rows by place. */
  readonly #users = new Map<UserId, Map<number, SettlementRow>>();
  /** Requests that wait, by the name of their row: the one that made it, and repeats of it. */
  readonly #waiting = new Map<string, Set<(row: SettlementRow | null) => void>>();
  readonly #publish: (event: SettlementEvent) => void;
  readonly #nowNs: () => TimestampNs;

  constructor(publish: (event: SettlementEvent) => void, nowNs: () => TimestampNs) {
    this.#publish = publish;
    this.#nowNs = nowNs;
  }

  /** Requests that wait for an approval. */
  get waiting(): number {
    let waiting = 0;
    for (const requests of this.#waiting.values()) waiting += requests.size;
    return waiting;
  }

  /** Clearing has flushed the row. @param isNew false for what a start has found. */
  changed(row: SettlementRow, isNew: boolean): void {
    const rows = this.#users.get(row.user) ?? new Map<number, SettlementRow>();
    if (row.status === 'locked' || row.status === 'approved') rows.set(row.place, row);
    else rows.delete(row.place);
    if (rows.size === 0) this.#users.delete(row.user);
    else this.#users.set(row.user, rows);
    if (row.status === 'locked') return;
    if (row.status === 'approved' && isNew) this.#publish(settlementEventOf(row, this.#nowNs()));
    for (const answer of [...(this.#waiting.get(nameOf(row)) ?? [])]) answer(row);
  }

  /** Whether the user has a live row. */
  hasLive(user: UserId): boolean {
    return this.#users.has(user);
  }

  /** Every live row. */
  *all(): Iterable<SettlementRow> {
    for (const rows of this.#users.values()) yield* rows.values();
  }

  /** The row once it is no longer only locked; null when that takes longer than a request waits. */
  decided(name: SettlementName): Promise<SettlementRow | null> {
    const row = this.#users.get(name.user)?.get(name.place);
    if (row !== undefined && row.requestedNs === name.requestedNs && row.status !== 'locked')
      return Promise.resolve(row);
    const key = nameOf(name);
    return new Promise((resolve) => {
      const answer = (found: SettlementRow | null): void => {
        clearTimeout(timer);
        requests.delete(answer);
        if (requests.size === 0) this.#waiting.delete(key);
        resolve(found);
      };
      const timer = setTimeout(() => answer(null), APPROVAL_WAIT_MS);
      const requests = this.#waiting.get(key) ?? new Set();
      this.#waiting.set(key, requests.add(answer));
    });
  }

  /**
   * The reply of `GET /settlement/signatures/{user_id}`: outstanding approvals, by chain, sub-account and nonce
   * (STL-03).
   */
  signaturesOf(user: UserId): string {
    const rows = [...(this.#users.get(user)?.values() ?? [])].filter(({ status }) => status === 'approved');
    rows.sort((a, b) =>
      a.chainId < b.chainId ? -1 : a.chainId > b.chainId ? 1 : a.subAccount - b.subAccount || a.nonce - b.nonce,
    );
    return settlementApprovals(rows);
  }
}

function nameOf({ user, place, requestedNs }: SettlementName): string {
  return `${user}/${place}/${requestedNs}`;
}

/**
 * What market makers see of an approved settlement (AMB-137).
 *
 *   token in is USD     Buy of the out asset, quantity out, price in/out
 *   token out is USD    Sell of the in asset, quantity in, price out/in
 *   neither             Buy of the out asset, quantity out, price null
 */
function settlementEventOf(row: SettlementRow, timestampNs: TimestampNs): SettlementEvent {
  const { chainId, user, subAccount, nonce, assetIn, assetOut, amountIn, amountOut } = row;
  const settlementId = `${chainId}:${user}:${subAccount}:${nonce}`;
  const common = { settlementId, user, subAccount, timestampNs };
  if (assetIn !== USD && assetOut === USD) {
    return { ...common, asset: assetIn, side: 'Sell', quantity: amountIn, price: ratio(amountOut, amountIn) };
  }
  const price = assetIn === USD ? ratio(amountIn, amountOut) : null;
  return { ...common, asset: assetOut, side: 'Buy', quantity: amountOut, price };
}

function ratio(usd: Amount18, units: Amount18): Amount18 {
  return mulDivFloor(usd, ONE_18, units) as Amount18;
}
