/**
 * What the main thread of a node and the thread of its stream exchange, over a port with a name (node/peer-channel.ts): rare and
 * small messages. State, epoch and lease are in shared memory (runtime/leadership.ts), records in rings.
 *
 *   main                                                     stream's thread
 *   ready ────── all is sent, the listeners answer ─────────▶  restoring ─▶ leading
 *        ◀────── drain: a handover was requested, with its reason
 *   drained ──── nothing is in flight at the gateway ────────▶  handover record, or the end of the process
 *        ◀────── end: the process ends with this code
 *   terminate ── SIGTERM, from any state; drained ───────────▶
 */

/** To the stream's thread. */
export type ToStream =
  | { readonly kind: 'ready' }
  /** `to` of the `drain` that it follows; null: the best standby. */
  | { readonly kind: 'drained'; readonly to: string | null }
  | { readonly kind: 'terminate' }
  /** From an operator of this node: see cluster.md 12. */
  | { readonly kind: 'confirm'; readonly standby: boolean };

/** To the main thread. */
export type ToMain =
  /** New work is to be refused, and what is pending answered: `drained` follows. */
  | { readonly kind: 'drain'; readonly to: string | null }
  | { readonly kind: 'state'; readonly state: string; readonly epoch: number; readonly sequence: number }
  | { readonly kind: 'end'; readonly code: 0 | 70 | 75 | 78; readonly reason: string; readonly text: string };
