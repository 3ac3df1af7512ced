/** An accepted value or a reject: how a client's mistake is returned. Never thrown. */
import type { Reject } from './reject.ts';

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reject: Reject };

export function accepted<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function rejected(reject: Reject): { readonly ok: false; readonly reject: Reject } {
  return { ok: false, reject };
}
