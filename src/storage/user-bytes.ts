/**
 * Users as bytes: a checkpoint writes some users thousands of times, and reading sixty-four hex digits takes longer than
 * writing what they say. What is known is kept for as many users as a checkpoint usually has, then forgotten.
 */
import { assert } from '../core/assert.ts';
import { writeHex } from '../core/hex.ts';

export const USER_BYTES = 32;
const KNOWN_MAX = 4_096;
const WORDS = USER_BYTES / 4;

const scratch = new Uint8Array(USER_BYTES);
const scratchView = new DataView(scratch.buffer);
/** The words of a user's bytes. */
const known = new Map<string, Int32Array>();

/** @param user 64 hex digits. @throws InvariantError where it is something else. */
export function writeUserBytes(to: DataView, at: number, user: string): void {
  const words = known.get(user) ?? wordsOf(user);
  for (let word = 0; word < WORDS; word += 1) to.setInt32(at + 4 * word, words[word] ?? 0);
}

function wordsOf(user: string): Int32Array {
  assert(writeHex(scratch, 0, user) === USER_BYTES, 'storage: hex digits');
  const words = Int32Array.from({ length: WORDS }, (_, word) => scratchView.getInt32(4 * word));
  if (known.size === KNOWN_MAX) known.clear();
  known.set(user, words);
  return words;
}
