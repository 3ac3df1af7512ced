/** The operator's settings that the order manager reads (operator-api.md 4.10), in its own units. */

import {
  CLOCK_SKEW_NS,
  OPEN_ORDERS_MARKET_MAKER_MAX,
  OPEN_ORDERS_MAX,
  OPEN_ORDERS_NODE_MAX,
  OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  OPEN_ORDERS_USER_MAX,
  POST_SIGN_AGE_MAX_NS,
} from '../../core/limits.ts';
import { type Amount18, ONE_18, SECOND_NS } from '../../core/units.ts';

export interface OrderSettings {
  /** `optimistic`: a request is answered when the market has decided; `durable`: when that is flushed (AMB-16). */
  readonly acks: 'optimistic' | 'durable';
  readonly postSignAgeMaxNs: bigint;
  readonly clockSkewNs: bigint;
  /** Live orders per sub-account and market. */
  readonly openOrdersMax: number;
  readonly openOrdersMarketMakerMax: number;
  /** Live orders per user, and of all users. */
  readonly openOrdersUserMax: number;
  readonly openOrdersUserMarketMakerMax: number;
  readonly openOrdersNodeMax: number;
  /** USD: what an order that adds risk must leave of its account's capacity, exclusive (AMB-49). */
  readonly preflightMinimum: Amount18;
  /** Whether open orders of an account with negative capacity are reduced (AR-01), at most once in so long (AR-03). */
  readonly autoReduces: boolean;
  readonly autoReduceCooldownNs: bigint;
  /** Fraction, 10^-18: how much worse than oracle and mark an uncapped market order is given money for (AMB-39). */
  readonly marketOrderBand: bigint;
}

export const DEFAULT_ORDER_SETTINGS: OrderSettings = {
  acks: 'optimistic',
  postSignAgeMaxNs: POST_SIGN_AGE_MAX_NS,
  clockSkewNs: CLOCK_SKEW_NS,
  openOrdersMax: OPEN_ORDERS_MAX,
  openOrdersMarketMakerMax: OPEN_ORDERS_MARKET_MAKER_MAX,
  openOrdersUserMax: OPEN_ORDERS_USER_MAX,
  openOrdersUserMarketMakerMax: OPEN_ORDERS_USER_MARKET_MAKER_MAX,
  openOrdersNodeMax: OPEN_ORDERS_NODE_MAX,
  preflightMinimum: (ONE_18 / 100n) as Amount18,
  autoReduces: true,
  autoReduceCooldownNs: SECOND_NS,
  marketOrderBand: ONE_18 / 10n,
};
