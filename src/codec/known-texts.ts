/**
 * Values of ids that were read before, found by the bytes of a frame: users and assets come again and again, and one
 * that is known costs neither a string nor a check of its form.
 *
 * Direct-mapped: an id that has the same place as another one takes it. Users may choose ids that collide; such an id is
 * read as if it were new.
 */

/** ASCII without quote and backslash, so that its bytes are its characters. */
export interface KnownText {
  readonly text: string;
}

const ENTRIES = 1_024;
/** Longer texts are not kept: an asset id has 83 characters. */
const LENGTH_MAX = 96;
const QUOTE = 0x22;
const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const PLAIN = /^[!#-[\]-~]+$/;

export class KnownTexts<Entry extends KnownText> {
  readonly #entries: (Entry | null)[] = new Array<Entry | null>(ENTRIES).fill(null);

  /** @returns the entry with the text of bytes[start … its closing quote), or null. */
  find(bytes: Uint8Array, start: number, end: number): Entry | null {
    let hash = FNV_BASIS;
    let at = start;
    while (at < end && at - start <= LENGTH_MAX) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) break;
      hash = Math.imul(hash ^ byte, FNV_PRIME);
      at += 1;
    }
    const entry = this.#entries[placeOf(hash)] ?? null;
    if (entry === null || at === end || entry.text.length !== at - start) return null;
    for (let index = 0; index < entry.text.length; index += 1) {
      if (entry.text.charCodeAt(index) !== bytes[start + index]) return null;
    }
    return entry;
  }

  add(entry: Entry): void {
    const { text } = entry;
    if (text.length > LENGTH_MAX || !PLAIN.test(text)) return;
    let hash = FNV_BASIS;
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
    this.#entries[placeOf(hash)] = entry;
  }
}

function placeOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (ENTRIES - 1);
}
