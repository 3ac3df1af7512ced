/** The reply of a user's ledger (LDG-01). */
import { LEDGER_ENTRIES } from '../../core/ledger-entries.ts';
import type { LedgerPage, LedgerRow } from '../reply-types.ts';
import {
  COUNT,
  DECIMAL,
  described,
  FLAG,
  inside,
  listOf,
  NANOSECONDS,
  named,
  nullable,
  open,
  type Shape,
  SUB_ACCOUNT,
  TEXT,
  words,
} from './shape-kit.ts';

export const LEDGER_KIND: Shape<string> = words(...LEDGER_ENTRIES);

const LEDGER_ROW: Shape<unknown, LedgerRow> = named(
  'LedgerRow',
  'A change of one balance',
  open({
    n: described(
      COUNT,
      'the number of the row among all of your rows in the row log, of which orders and fills are others',
    ),
    sequence: described(COUNT, 'the journal record that decided it'),
    timestamp_ns: described(NANOSECONDS, 'the time of that record'),
    sub_account: SUB_ACCOUNT,
    asset: described(TEXT, 'the asset of the balance, `0` for USD; `token@chain` for a lot that is kept apart'),
    leg: described(nullable(TEXT), 'the market whose position has this leg; null for a spot balance'),
    kind: described(LEDGER_KIND, 'why it changed'),
    amount: described(DECIMAL, 'signed'),
    balance_after: described(DECIMAL, 'locks included, signed'),
    reference: described(nullable(TEXT), 'what it belongs to, of a trade the market and the trade id'),
  }),
);

export const LEDGER_PAGE: Shape<unknown, LedgerPage> = named(
  'LedgerPage',
  'Changes of your balances, newest first: the sum of the amounts of a balance is the balance',
  open({
    ledger: inside('rows', listOf(LEDGER_ROW)),
    limit: COUNT,
    has_next_page: FLAG,
    next_before: described(nullable(COUNT), '`before` of the next page, which may be empty; null at the oldest row'),
  }),
);
