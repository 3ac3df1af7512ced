/** What the front door answers when it cannot send to a market. */
import { type Reject, reject } from '../core/reject.ts';

export const MARKET_BUSY: Reject = reject('SERVICE_UNAVAILABLE', 'the market is busy, try again');
export const MARKET_CLOSED: Reject = reject('SERVICE_UNAVAILABLE', 'the market is starting, try again');
