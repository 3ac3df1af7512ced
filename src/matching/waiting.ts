/** State of orders that wait for a trigger, or for more fills of their parent (triggers.ts). */
import type { TriggerKind, TriggerState } from '../core/order-terms.ts';
import type { Room } from '../order/order-codec.ts';
import type { Money } from './placement.ts';
import type { BookedTrigger } from './trigger-book.ts';

/** An order while it waits, or while more of it may be activated. */
export interface Waiting extends BookedTrigger<Waiting> {
  readonly index: number;
  money: Money;
  /** Null: no child, or a child whose parent is over. */
  parent: Parent | null;
  /** The order's total lots, activated or not. */
  total: number;
  enabled: number;
  /** Lots released to the main book. */
  released: number;
  /** Quantity of the last published `triggered`; −1 before the first. */
  published: number;
  /** Sequence of that event; 0 for a restored order. */
  publishedAt: number;
  /** Whether the gateway's answer to the last `triggered` is pending. */
  isAnswerPending: boolean;
  /** Lots released by the gateway that are not placed yet, their budget and their worst price (0: no limit). */
  granted: number;
  grantedBudget: number;
  grantedRoom: Readonly<Room>;
  /** Lots that its parent's fills enabled and releases had no room for (MON-09); they were taken off the total. */
  lost: number;
  grantedBound: number;
  isOver: boolean;
}

export interface Parent {
  readonly index: number;
  /** Its order sequence. */
  readonly order: number;
  confirmed: number;
  readonly children: Set<Waiting>;
}

/** Initial state of an order with a trigger, new or restored. */
export interface Beginning {
  readonly kind: TriggerKind;
  readonly price: number;
  readonly money: Money;
  /** The parent's index, or null. */
  readonly parent: number | null;
  readonly state: TriggerState;
  /** Lots released before a restart. */
  readonly released: number;
}
