/**
 * How many live orders there may be (AMB-124): in a sub-account and market, of a user, and of all users. Parked triggers and
 * children are live.
 *
 * The bound of the node is memory that all share, so the fuller it is the fewer orders a user may have for one more. The
 * cost of an order to its user decides its part:
 *
 *   waits for its trigger, holds nothing                          up to a quarter of the bound
 *   holds at least the minimum notional of its market, or margin  up to half
 *   of a user with fewer than 1,000 live orders                   up to three quarters
 *   of a user with fewer than 10                                  up to 15 of 16 parts
 *   of a market maker, registered by the operator                 all of it
 *
 * A waiting order needs a user with a balance or a position: a free key parks nothing.
 */
import type { UserId } from '../../../core/ids.ts';
import { accepted, type Outcome, rejected } from '../../../core/outcome.ts';
import { reject } from '../../../core/reject.ts';
import type { OrderSettings } from '../settings.ts';

/** What the bounds look at. */
export interface OpenOrderCounts {
  readonly settings: OrderSettings;
  isMarketMaker(user: UserId): boolean;
  openCount(user: UserId, subAccount: number, marketIndex: number): number;
  openCountOf(user: UserId): number;
  openCountOfAll(): number;
}

/** One more order. */
export interface OneMore {
  readonly user: UserId;
  readonly subAccount: number;
  readonly marketIndex: number;
  /** It waits for a trigger. */
  readonly isParked: boolean;
}

/** Of 16 parts of the node's bound. */
const PARTS = 16;
const PARKED_PARTS = 4;
const ANY_PARTS = 8;
const FEWER_PARTS = 12;
const FEW_PARTS = 15;
const FEWER_ORDERS = 1_000;
const FEW_ORDERS = 10;

const FINE: Outcome<null> = accepted(null);

/** @returns TOO_MANY_OPEN_ORDERS with the setting that bounds. */
export function checkOpenOrders(counts: OpenOrderCounts, order: OneMore): Outcome<null> {
  const { settings } = counts;
  const { user, subAccount, marketIndex } = order;
  const isMaker = counts.isMarketMaker(user);
  const inMarket = isMaker ? settings.openOrdersMarketMakerMax : settings.openOrdersMax;
  if (counts.openCount(user, subAccount, marketIndex) >= inMarket) {
    return tooMany(`at most ${inMarket} open orders in a sub-account and market`);
  }
  const own = counts.openCountOf(user);
  const ofUser = isMaker ? settings.openOrdersUserMarketMakerMax : settings.openOrdersUserMax;
  if (own >= ofUser) return tooMany(`at most ${ofUser} open orders of a user`);
  const parts = isMaker ? PARTS : partsFor(own, order.isParked);
  const ofNode = settings.openOrdersNodeMax;
  return counts.openCountOfAll() * PARTS < ofNode * parts
    ? FINE
    : tooMany(`the node has room for ${Math.floor((ofNode * parts) / PARTS)} of such open orders, of ${ofNode} in all`);
}

/** How far the node may be filled for one more order of a user with `own` orders. */
function partsFor(own: number, isParked: boolean): number {
  if (own < FEW_ORDERS) return FEW_PARTS;
  if (isParked) return PARKED_PARTS;
  return own < FEWER_ORDERS ? FEWER_PARTS : ANY_PARTS;
}

function tooMany(message: string): Outcome<null> {
  return rejected(reject('TOO_MANY_OPEN_ORDERS', message));
}
