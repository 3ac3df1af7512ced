/** Messages between ring.bench.ts and its peer, and the memory of the peer's results. */
import type { MessagePort } from 'node:worker_threads';

export type PeerTask =
  | {
      readonly kind: 'ring';
      readonly ring: SharedArrayBuffer;
      readonly control: SharedArrayBuffer;
      readonly records: number;
    }
  | {
      readonly kind: 'ringbuf';
      readonly storage: SharedArrayBuffer;
      readonly control: SharedArrayBuffer;
      readonly records: number;
      readonly cells: number;
      readonly batch: number;
    }
  | { readonly kind: 'postMessage'; readonly control: SharedArrayBuffer; readonly records: number }
  | {
      readonly kind: 'echo';
      readonly there: SharedArrayBuffer;
      readonly back: SharedArrayBuffer;
      readonly control: SharedArrayBuffer;
      readonly parks: boolean;
      readonly port: MessagePort | null;
    };

/** Words of the control memory, two cache lines apart; the sum is one f64. */
export const READY_WORD = 0;
export const WARM_WORD = 1;
export const DONE_WORD = 32;
export const SUM_CELL = 32;
export const BELL_OF_PEER = 96;
export const BELL_OF_MAIN = 128;
export const CONTROL_BYTES = 1_024;
/** The record type that ends an echo. */
export const LAST_TYPE = 2;
/** Records before the clock starts, so that both sides are compiled; multiples of the batch. */
export const WARM_UP_RECORDS = 320_000;
export const WARM_UP_MESSAGES = 8_000;
