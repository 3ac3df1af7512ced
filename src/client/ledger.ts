/**
 * A user's ledger (LDG-01): every change of every balance, newest first, with the balance after it.
 *
 *   for (let before: number | null = null, more = true; more; more = before !== null) {
 *     const page = await client.ledger({ asset: 'USD', ...(before === null ? {} : { before }) });
 *     before = page.nextBefore;
 *   }
 */
import type { JsonValue } from '../codec/json-tree.ts';
import type { LedgerPage } from '../codec/reply-types.ts';
import { LEDGER_PAGE } from '../codec/shapes/ledger-shapes.ts';
import { replyReader } from './reply-reader.ts';

export type { LedgerPage, LedgerRow } from '../codec/reply-types.ts';

/** All that are given must hold. */
export interface LedgerQuery {
  /** Rows with a smaller number: `nextBefore` of the page before. */
  readonly before?: number;
  /** 1 to 1,000; default 100. */
  readonly limit?: number;
  /** Inclusive: the time of the record. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  /** 0 to 255. */
  readonly subAccount?: number;
  /** An id or a symbol; `0` or `USD`. */
  readonly asset?: string;
  /** Like `trade`, `trading_fee`, `deposit`. */
  readonly kind?: string;
}

/** The members of the query. @param asset its id. */
export function ledgerMembers(
  { before, limit, startNs, endNs, subAccount, kind }: LedgerQuery,
  asset?: string,
): object {
  return { before, limit, start_time: startNs, end_time: endNs, sub_account: subAccount, asset, kind };
}

export const readLedgerPage: (value: JsonValue) => LedgerPage = replyReader('ledger page', LEDGER_PAGE);
