/** Decodes one JSON text: the thread's cursor and a reader of some shape; returns an outcome. */
import { accepted, type Outcome, rejected } from '../core/outcome.ts';
import { JsonCursor } from './json-cursor.ts';

/** A record while its members are being read. */
export type Draft<Shape> = { -readonly [Member in keyof Shape]: Shape[Member] };

/** Decodes do not overlap, so one cursor serves the whole thread. */
const threadCursor = new JsonCursor();

/** Reads bytes[start … end) as one JSON text. @param read returns null only when the cursor has failed. */
export function decodeText<T>(
  bytes: Uint8Array,
  start: number,
  end: number,
  read: (cursor: JsonCursor) => T | null,
): Outcome<T> {
  threadCursor.reset(bytes, start, end);
  const value = read(threadCursor);
  return threadCursor.finish() && value !== null ? accepted(value) : rejected(threadCursor.reject());
}
