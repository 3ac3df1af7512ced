/** What the gateway publishes to the sockets of users; src/http writes the frames (wire.md 9). */
import type { AccountEventView } from '../codec/account-events.ts';
import type { PositionView } from '../codec/margin-replies.ts';
import type { ProtectionTriggeredView } from '../codec/order-events.ts';
import type { SettlementEvent } from '../codec/settlement-events.ts';
import type { UserId } from '../core/ids.ts';
import type { AtRiskFigures } from '../core/market-figures.ts';
import type { TimestampNs } from '../core/units.ts';
import type { BookEvent, UserTradeEvent } from './orders/book/order-events.ts';

/** Streams of figures that are computed only for users with a reader. */
export type MarginStream = 'positions' | 'account-stats';
/** Streams of events that are made only for users with a reader. */
type EventStream = 'orders' | 'trades' | 'confirmed-trades';

/** Events for the streams of users: of one user, but for what is at risk over all. */
export interface UserEventStreams {
  orderEvent(user: UserId, event: BookEvent, timestampNs: TimestampNs): void;
  /** On the stream of order events. */
  protectionTriggered(user: UserId, event: ProtectionTriggeredView): void;
  userTrade(user: UserId, trade: UserTradeEvent, timestampNs: TimestampNs): void;
  /** After its flush. */
  accountEvent(user: UserId, event: AccountEventView): void;
  /** Positions that changed, flushed (STR-03). */
  positions(user: UserId, views: readonly PositionView[], timestampNs: TimestampNs): void;
  /** Figures of one margin account that changed: the reply object of `/margin` (STR-04). */
  accountStats(user: UserId, reply: string, timestampNs: TimestampNs): void;
  /** What is at risk over all accounts has changed (STR-06). */
  atRisk(view: AtRiskFigures): void;
  /** A settlement was approved: for market makers (STR-07). */
  pendingSettlement(event: SettlementEvent): void;
  /** Whether the user has a reader of this stream. */
  listens(user: UserId, stream: MarginStream): boolean;
  /** Whether an event of this stream would be written or kept; without that none need be made. */
  isRead(user: UserId, stream: EventStream): boolean;
  listenersOf(stream: MarginStream): Iterable<UserId>;
  /**
   * A logout or an expiry: sockets of this user end with `unauthorized` (AMB-88).
   *
   * @param tokenHash of the one session that has ended (RDO-02); by default all have.
   */
  endSessions(user: UserId, tokenHash?: string): void;
  /** Writes all events since the last call to the sockets, in order. */
  flush(): void;
}

/** Before the public listener opens there is no reader. */
export const NO_STREAMS: UserEventStreams = {
  orderEvent: () => undefined,
  protectionTriggered: () => undefined,
  userTrade: () => undefined,
  accountEvent: () => undefined,
  positions: () => undefined,
  accountStats: () => undefined,
  atRisk: () => undefined,
  pendingSettlement: () => undefined,
  listens: () => false,
  isRead: () => false,
  listenersOf: () => [],
  endSessions: () => undefined,
  flush: () => undefined,
};
