/** The operator's settings that the order manager reads (operator-api.md 4.10), in its own units. */
import { CLOCK_SKEW_NS, OPEN_ORDERS_MARKET_MAKER_MAX, OPEN_ORDERS_MAX, POST_SIGN_AGE_MAX_NS } from '../core/limits.ts';

export interface OrderSettings {
  /** `optimistic`: a request is answered when the market has decided; `durable`: when that is flushed (AMB-16). */
  readonly acks: 'optimistic' | 'durable';
  readonly postSignAgeMaxNs: bigint;
  readonly clockSkewNs: bigint;
  /** Live orders per sub-account and market. */
  readonly openOrdersMax: number;
  readonly openOrdersMarketMakerMax: number;
}

export const DEFAULT_SETTINGS: OrderSettings = {
  acks: 'optimistic',
  postSignAgeMaxNs: POST_SIGN_AGE_MAX_NS,
  clockSkewNs: CLOCK_SKEW_NS,
  openOrdersMax: OPEN_ORDERS_MAX,
  openOrdersMarketMakerMax: OPEN_ORDERS_MARKET_MAKER_MAX,
};
