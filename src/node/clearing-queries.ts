/** Questions about applied state, answered on the clearing thread between two batches (operator-api.md 4.7, 6). */
import { hooksView } from '../clearing/hooks.ts';
import type { ClearingState } from '../clearing/state.ts';
import { stateHash } from '../clearing/state-hash.ts';
import { countsView, ledgerView, userView } from '../clearing/views.ts';
import { unreachable } from '../core/assert.ts';
import { format18 } from '../core/decimal.ts';
import type { UserId } from '../core/ids.ts';
import { accepted, type Outcome } from '../core/outcome.ts';

export type ClearingQuery =
  | { readonly kind: 'ledger' }
  | { readonly kind: 'state' }
  | { readonly kind: 'journal' }
  | { readonly kind: 'hooks' }
  | { readonly kind: 'prices' }
  | { readonly kind: 'user'; readonly user: UserId };

/** Where the journal stands. */
export interface JournalPlace {
  readonly sequence: number;
  readonly checkpoint: number;
  readonly delayMs: number;
}

export function answerQuery(
  query: ClearingQuery,
  state: ClearingState,
  place: JournalPlace,
): Outcome<Readonly<Record<string, unknown>>> {
  switch (query.kind) {
    case 'ledger':
      return accepted(ledgerView(state));
    case 'user':
      return userView(state, query.user);
    case 'journal':
      return accepted({ sequence: place.sequence });
    case 'prices':
      return accepted({
        prices: Object.fromEntries(
          [...state.prices.values()].map((row) => [
            row.asset,
            { price: format18(row.price), publishNs: row.publishNs },
          ]),
        ),
      });
    case 'hooks':
      return accepted({ ...hooksView(state), delay_ms: place.delayMs });
    case 'state':
      return accepted({
        journal: {
          sequence: place.sequence,
          flushed_sequence: place.sequence,
          snapshot_sequence: place.checkpoint,
        },
        state_hash: stateHash(state),
        markets: Object.fromEntries(
          state.markets.map((market) => [
            market.definition.assetId,
            {
              sequence: market.sequence,
              last_trade_id: market.lastTradeId,
              open_orders: market.orders.size,
              untriggered_orders: 0,
            },
          ]),
        ),
        counts: { ...countsView(state), withdrawals_live: 0, settlements_live: 0 },
      });
    default:
      return unreachable(query);
  }
}
