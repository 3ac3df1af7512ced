/** Questions about applied state, answered on the clearing thread between two batches (operator-api.md 4.7, 6). */

import type { ChainId, UserId } from '../core/ids.ts';
import { TRIGGER_STATE } from '../core/order-terms.ts';
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import type { PriceSources } from '../risk/asset-terms.ts';
import type { MarkRule } from '../risk/prices.ts';
import { MARGIN_ACCOUNT, SPOT_ACCOUNT } from './balances.ts';
import type { CursorPage } from './funds/chain-cursors.ts';
import { managedNonce } from './funds/settlements.ts';
import { type ApprovalsPage, approvalsOfHour } from './funds/signed-approvals.ts';
import { unclaimedView } from './funds/unclaimed.ts';
import { type KnownDeviation, knownDeviations } from './funds/vault-deviations.ts';
import { type WithdrawableUnits, withdrawables } from './funds/withdrawables.ts';
import { isLive } from './funds/withdrawal-book.ts';
import { freeNonce } from './funds/withdrawal-rows.ts';
import { type HooksView, hooksView } from './hooks.ts';
import type { AtRiskAccounts } from './liquidation/at-risk-accounts.ts';
import { configOf } from './registry/registry-config.ts';
import type { CursorKind, VaultTokenRow } from './rows.ts';
import { nativeBytesHash } from './sha256.ts';
import type { ClearingState } from './state.ts';
import { hashState } from './state-hash.ts';
import { backstopView, countsView, type LedgerView, ledgerView, userView } from './views.ts';

type View = Readonly<Record<string, unknown>>;

/** Both sources by asset id, of assets that ever had one. */
export interface KnownPrices {
  readonly [assetId: string]: PriceSources & { readonly markRule: MarkRule };
}

/** What each question is answered with. */
interface Answers {
  readonly ledger: LedgerView;
  readonly backstop: View;
  readonly state: {
    readonly journal: View;
    readonly state_hash: string;
    readonly markets: Readonly<Record<string, View>>;
    readonly counts: View;
  };
  readonly journal: { readonly sequence: number };
  readonly vaultTokens: BookedUnits;
  readonly hooks: HooksView & { readonly delay_ms: number };
  readonly prices: { readonly prices: KnownPrices };
  readonly accountsAtRisk: View;
  readonly user: View;
  readonly unclaimed: View;
  readonly withdrawables: { readonly entries: readonly WithdrawableUnits[] };
  readonly nonces: ChainNonces;
  readonly approvalsOfHour: ApprovalsPage;
  readonly chainCursor: { readonly page: CursorPage | null };
}

/** The next number that no live row holds, of withdrawals and by sub-account of settlements (MON-02). */
export interface ChainNonces {
  readonly withdrawal: number;
  readonly settlements: readonly (readonly [subAccount: number, next: number])[];
}

/** What the ledger says of vaults, and what it was told that they lack (MON-05). */
export interface BookedUnits {
  readonly tokens: readonly VaultUnits[];
  readonly deviations: readonly KnownDeviation[];
}

/** Units that a vault has of a token by booked events, credited or unclaimed: one entry for each row. */
type VaultUnits = Pick<VaultTokenRow, 'token' | 'chainId' | 'baseUnits'>;

/** Queries with members of their own. */
type OwnQuery =
  | { readonly kind: 'user'; readonly user: UserId; readonly isInSession: boolean }
  /** Deposits that were not credited. */
  | { readonly kind: 'unclaimed'; readonly chainId: ChainId }
  | { readonly kind: 'nonces'; readonly user: UserId; readonly chainId: ChainId }
  /** Approvals that were signed within the last hour; `from`: the page. */
  | { readonly kind: 'approvalsOfHour'; readonly from: number }
  /** How far a kind of events of an EVM chain is processed; `from`: the page. */
  | { readonly kind: 'chainCursor'; readonly chainId: ChainId; readonly event: CursorKind; readonly from: number }
  /** What can be withdrawn from the vault of a chain (CHN-07). */
  | { readonly kind: 'withdrawables'; readonly chainId: ChainId }
  /** The accounts with the smallest maintenance surplus. @param limit 1 … ACCOUNTS_AT_RISK_MAX. */
  | { readonly kind: 'accountsAtRisk'; readonly limit: number };
type PlainKind = Exclude<keyof Answers, OwnQuery['kind']>;

export type ClearingQuery = { [Kind in PlainKind]: { readonly kind: Kind } }[PlainKind] | OwnQuery;
export type AnswerTo<Query extends ClearingQuery> = Answers[Query['kind']];

/** Where the journal and the clock stand, and what the actor derives from the state. */
export interface QueryContext {
  readonly sequence: number;
  readonly checkpoint: number;
  readonly delayMs: number;
  readonly nowNs: TimestampNs;
  readonly atRisk: AtRiskAccounts;
}

type Answering<Query extends ClearingQuery> = (
  state: ClearingState,
  place: QueryContext,
  query: Query,
) => Outcome<AnswerTo<Query>> | Generator<number, Outcome<AnswerTo<Query>>>;

const ANSWERING: { readonly [Kind in keyof Answers]: Answering<Extract<ClearingQuery, { kind: Kind }>> } = {
  *ledger(state) {
    return accepted(yield* ledgerView(state));
  },
  backstop: (state, { nowNs }) => accepted(backstopView(state, nowNs)),
  user: (state, { nowNs }, query) => userView(state, query.user, nowNs, query.isInSession),
  nonces: (state, _, { user, chainId }) => nextNonces(state, user, chainId),
  unclaimed: (state, _, { chainId }) => accepted(unclaimedView(state, chainId)),
  approvalsOfHour: (state, { nowNs }, { from }) => accepted({ ...approvalsOfHour(state, from, nowNs) }),
  chainCursor: ({ chainCursors }, _, { from, ...name }) => accepted({ page: chainCursors.page(name, from) }),
  *withdrawables(state, { nowNs }, { chainId }) {
    return accepted({ entries: yield* withdrawables(state, chainId, nowNs) });
  },
  vaultTokens: (state) =>
    accepted({
      tokens: [...state.vaultTokens.values(), ...state.unclaimed.values()],
      deviations: knownDeviations(state),
    }),
  journal: (_, place) => accepted({ sequence: place.sequence }),
  *accountsAtRisk(_, { atRisk, nowNs }, { limit }) {
    return accepted(yield* atRisk.query(limit, nowNs));
  },
  prices: (state) => accepted({ prices: knownPrices(state) }),
  hooks: (state, place) => accepted({ ...hooksView(state), delay_ms: place.delayMs }),
  *state(state, place) {
    return accepted(yield* stateView(state, place));
  },
};

/** Answers a query, as a job: some walk through all users and orders. */
export function* answerQuery<Query extends ClearingQuery>(
  query: Query,
  state: ClearingState,
  place: QueryContext,
): Generator<number, Outcome<AnswerTo<Query>>> {
  // The table holds the answering of this kind; TypeScript does not follow a generic index that far.
  const answering = ANSWERING[query.kind] as unknown as Answering<Query>;
  const answer = answering(state, place, query);
  return 'ok' in answer ? answer : yield* answer;
}

/** @returns CHAIN_NOT_FOUND. A user that was never seen has accounts 0 and 1. */
function nextNonces(state: ClearingState, user: UserId, chainId: ChainId): Outcome<ChainNonces> {
  if (configOf(state, 'chain', chainId) === null) {
    return rejected(reject('CHAIN_NOT_FOUND', `chain ${chainId} is unknown`, 'chain_id'));
  }
  const accounts = new Set([SPOT_ACCOUNT, MARGIN_ACCOUNT, ...(state.users.get(user)?.subAccounts.keys() ?? [])]);
  const settlements = [...accounts]
    .sort((a, b) => a - b)
    .map((subAccount) => [subAccount, managedNonce(state, { user, chainId, subAccount })] as const);
  return accepted({ withdrawal: freeNonce(state, user, chainId), settlements });
}

function knownPrices(state: ClearingState): KnownPrices {
  const priced = [...state.risks.values()].filter(({ oracle, mark }) => oracle !== null || mark !== null);
  return Object.fromEntries(
    priced.map(({ asset, oracle, mark, risk: { markRule } }) => [asset, { oracle, mark, markRule }]),
  );
}

/** All orders are walked once. */
function* stateView(state: ClearingState, place: QueryContext): Generator<number, Answers['state']> {
  /** For each market, how many orders wait for their trigger or for their release. */
  const untriggered = state.markets.map(() => 0);
  const hash = yield* hashState(state, nativeBytesHash(), ({ marketIndex, triggerState }) => {
    if (triggerState !== TRIGGER_STATE.live) untriggered[marketIndex] = (untriggered[marketIndex] ?? 0) + 1;
  });
  let withdrawals = 0;
  for (const { row } of state.withdrawals.all()) if (isLive(row)) withdrawals += 1;
  return {
    journal: {
      sequence: place.sequence,
      flushed_sequence: place.sequence,
      snapshot_sequence: place.checkpoint,
    },
    state_hash: hash,
    markets: Object.fromEntries(
      state.markets.map((market, index) => [
        market.definition.assetId,
        {
          sequence: market.sequence,
          last_trade_id: market.lastTradeId,
          open_orders: market.orders.size,
          untriggered_orders: untriggered[index] ?? 0,
        },
      ]),
    ),
    counts: { ...countsView(state), withdrawals_live: withdrawals, settlements_live: state.settlements.size },
  };
}
