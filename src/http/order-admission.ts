/** When the listener of the order service reads orders, and when it refuses them, by the load behind it. */
import { type Reject, reject } from '../core/reject.ts';
import { OPEN_GATE, type OrderGate } from './reading-turns.ts';

export interface OrderAdmission extends OrderGate {
  /** Counts orders that were refused because they had waited too long. */
  refused(orders: number): void;
}

/** Reads every order in its turn. */
export const ADMITS_ALL: OrderAdmission = { ...OPEN_GATE, refused: () => undefined };

/** The answer to an order that was not read in time: nothing of it was kept, so the same bytes may be sent again. */
export const WAITED_TOO_LONG: Reject = reject('SERVICE_UNAVAILABLE', 'the order waited too long to be read, try again');
