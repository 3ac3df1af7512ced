/** Orders that wait for a trigger, or for more of their parent, as triggers.ts knows them. */
import type { TriggerKind, TriggerState } from '../core/order-terms.ts';
import type { Money } from './placement.ts';
import type { BookedTrigger } from './trigger-book.ts';

/** What is known of an order while it waits, or while more of it may be activated. */
export interface Waiting extends BookedTrigger<Waiting> {
  readonly slot: number;
  money: Money;
  /** Null: no child, or a child whose parent is over. */
  parent: Parent | null;
  /** The lots that the order is about, activated or not. */
  total: number;
  enabled: number;
  /** Lots that were released to the main book. */
  inForce: number;
  /** As the last `triggered` said; −1 before. */
  told: number;
  /** Sequence of that; 0 for what was restored. */
  toldAt: number;
  /** The front door owes a word about what was told. */
  isAwaited: boolean;
  /** Lots that it let go and that are not placed yet, and what they may use (0: no bound). */
  granted: number;
  grantedBudget: number;
  isOver: boolean;
}

export interface Parent {
  readonly slot: number;
  /** Its name. */
  readonly order: number;
  confirmed: number;
  readonly children: Set<Waiting>;
}

/** How an order with a trigger begins, or is restored. */
export interface Beginning {
  readonly kind: TriggerKind;
  readonly price: number;
  readonly money: Money;
  /** The parent's slot, or null. */
  readonly parent: number | null;
  readonly state: TriggerState;
  /** Lots that were released before a restart. */
  readonly inForce: number;
}
