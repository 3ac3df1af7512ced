/**
 * The margin-type sub-accounts of all users, made when clearing or an order first speaks of one.
 *
 * Who asks for one wakes its user first (sleepers.ts). Not here: which sub-accounts there are and of which type (accounts.ts), what one is worth (margin-account.ts).
 */
import type { AssetId, UserId } from '../../core/ids.ts';
import type { MarketDefinition } from '../../core/market-definition.ts';
import { SIDE, type Side } from '../../core/order-terms.ts';
import type { Amount18 } from '../../core/units.ts';
import { offsetLots } from '../../risk/pressure.ts';
import type { AssetDesk } from './asset-desk.ts';
import { laneOf, type Seat } from './exposure.ts';
import type { Holds, WordCount } from './holds.ts';
import { isReduceOnly, isSpot, type LiveOrder } from './live-order.ts';
import { MarginAccount, optimisticBase, type Position } from './margin-account.ts';
import type { OrderFault } from './order-events.ts';
import { newLaneEntry } from './pressure-lane.ts';
import type { Sleepers } from './sleepers.ts';

/** Clearing's word on a position, flushed and absolute. */
export interface PositionWord {
  readonly user: UserId;
  readonly subAccount: number;
  readonly asset: AssetId;
  readonly base: Amount18;
  readonly quote: Amount18;
  /** What the open base cost, without fees; not negative. */
  readonly entry: Amount18;
}

export interface MarginAccountsParts {
  readonly holds: Holds;
  readonly desk: AssetDesk;
  readonly words: WordCount;
  readonly sleepers: Sleepers;
}

/** Slots of orders on their way lie behind every market sequence. */
const ON_THE_WAY = 2 ** 52;

export class MarginAccounts {
  readonly desk: AssetDesk;
  /** Accounts of which an order has weighed something since this was last tidied (auto-reduce.ts). */
  readonly withOrders: Set<MarginAccount> = new Set();
  /** Positions that reduce-only orders have named since this was last tidied (reduce-only-excess.ts). */
  readonly withReduceOnly: Set<Position> = new Set();
  readonly #users = new Map<UserId, Map<number, MarginAccount>>();
  readonly #holds: Holds;
  readonly #words: WordCount;
  readonly #sleepers: Sleepers;
  #slot = ON_THE_WAY;

  constructor({ holds, desk, words, sleepers }: MarginAccountsParts) {
    this.desk = desk;
    this.#sleepers = sleepers;
    this.#holds = holds;
    this.#words = words;
  }

  /** Only for accounts of a margin type. */
  account(user: UserId, index: number): MarginAccount {
    this.#sleepers.wake(user);
    const own = this.#users.get(user) ?? new Map<number, MarginAccount>();
    this.#users.set(user, own);
    const known = own.get(index);
    if (known !== undefined) return known;
    const fresh = new MarginAccount(user, index, this.#holds.account(user, index), this.desk);
    own.set(index, fresh);
    return fresh;
  }

  find(user: UserId, index: number): MarginAccount | undefined {
    this.#sleepers.wake(user);
    return this.#users.get(user)?.get(index);
  }

  /** For a question about one that may not exist, or be of no margin type: none is made. */
  peek(user: UserId, index: number): MarginAccount {
    return this.find(user, index) ?? new MarginAccount(user, index, this.#holds.peek(user, index), this.desk);
  }

  /**
   * Whether a price on which the margin of this fill depends is younger than its match: of the asset traded or of anything
   * else in the account.
   */
  pricedSinceMatch({ user, subAccount, asset, matchedNs }: OrderFault): boolean {
    return this.desk.pricedSince(asset, matchedNs) || this.peek(user, subAccount).pricedSince(matchedNs);
  }

  /** What all margin-type accounts own of an asset, fills on their way included (CAP-08). */
  collateral(asset: AssetId): bigint {
    return this.#holds.collateral(asset);
  }

  /** Of one user, by no order. */
  of(user: UserId): Iterable<MarginAccount> {
    this.#sleepers.wake(user);
    return this.#users.get(user)?.values() ?? [];
  }

  /** Lots by which orders of this side may reduce the optimistic position. */
  reducibleLots(user: UserId, index: number, { assetId, quantityDecimals }: MarketDefinition, side: Side): number {
    const position = this.find(user, index)?.find(assetId);
    return position === undefined ? 0 : offsetLots(side, optimisticBase(position), quantityDecimals);
  }

  /** @returns the position as it is now. */
  setPosition(word: PositionWord): Position {
    const account = this.account(word.user, word.subAccount);
    const position = account.position(word.asset);
    this.#holds.funded.changed(word.user, isOpen(position), isOpen(word));
    account.setLegs(position, word, this.#words.next());
    return position;
  }

  /**
   * The place of an order of a margin-type account; it weighs nothing before it is added.
   *
   * @returns null for a spot sell, which frees collateral.
   */
  seat(order: LiveOrder): Seat | null {
    const { terms, market } = order;
    const account = this.account(terms.user, terms.subAccount);
    const position = account.position(market.definition.assetId);
    if (isSpot(terms) && terms.side === SIDE.sell) return null;
    account.enter(position, market);
    if (isReduceOnly(terms)) this.withReduceOnly.add(position);
    this.withOrders.add(account);
    this.#slot += 1;
    return { position, lane: laneOf(position, terms), entry: newLaneEntry(order, this.#slot), marketPrice: 0n };
  }
}

function isOpen({ base, quote }: Pick<Position, 'base' | 'quote'>): boolean {
  return base !== 0n || quote !== 0n;
}
