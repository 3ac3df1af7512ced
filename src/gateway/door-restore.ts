/** Restored orders on their way into the front door: as bytes where they may sleep, else into memory at once. */

import { readRestoredRow } from '../clearing/restored-word.ts';
import type { UserId } from '../core/ids.ts';
import type { OrderKind, TriggerState } from '../core/order-terms.ts';
import type { Views } from '../core/views.ts';
import { OrderRestoredAtBoot } from '../schema/generated/messages.ts';
import type { KeptOrderBytes } from './kept-orders.ts';
import type { OrderManager } from './orders/order-manager.ts';
import { maySleep } from './orders/sleepers.ts';

export class DoorRestore {
  readonly #orders: OrderManager;
  readonly #kept: KeptOrderBytes;
  readonly #isAwake = (user: UserId): boolean => this.#orders.isAwake(user);

  /** @param kept those of `orders`. */
  constructor(orders: OrderManager, kept: KeptOrderBytes) {
    this.#orders = orders;
    this.#kept = kept;
  }

  /** The order of the OrderRestoredAtBoot at `at`. */
  order(v: Views, at: number): void {
    const kind = OrderRestoredAtBoot.kind(v, at) as OrderKind;
    const state = OrderRestoredAtBoot.triggerState(v, at) as TriggerState;
    const user = maySleep(kind, state) ? this.#kept.add(v, at, this.#isAwake) : null;
    if (user === null) this.#orders.restoreOrder(readRestoredRow(v, at));
    else this.#orders.fellAsleep(user, OrderRestoredAtBoot.subAccount(v, at));
  }
}
