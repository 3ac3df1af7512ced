/**
 * What an answer of a provider may be, measured over its bytes while they arrive and before any of them becomes an object (CHN-03):
 * 30 MiB of `[[[[` are 30 MiB of text and gigabytes of arrays.
 *
 *   bytes    of the body, after decompression
 *   depth    of nested lists and objects
 *   values   lists, objects, members and items: what `JSON.parse` allocates for
 *
 * No JSON is validated here: `JSON.parse` does that with what stayed within the bounds.
 */

export interface AnswerBounds {
  readonly bytes: number;
  readonly depth: number;
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export class AnswerMeter {
  readonly #bounds: AnswerBounds;
  #bytes = 0;
  #depth = 0;
  #values = 1;
  #isInText = false;
  #isEscaped = false;

  constructor(bounds: AnswerBounds) {
    this.#bounds = bounds;
  }

  /** Takes the next bytes of a body. @returns the bound that it is beyond, null while it is within all. */
  take(chunk: Uint8Array): keyof AnswerBounds | null {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bounds.bytes) return 'bytes';
    for (const byte of chunk) {
      if (this.#isInText) this.#takeText(byte);
      else if (!this.#takeStructure(byte)) return this.#values > this.#bounds.values ? 'values' : 'depth';
    }
    return null;
  }

  #takeText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInText = false;
  }

  /** @returns whether the body is within the bounds. */
  #takeStructure(byte: number): boolean {
    switch (byte) {
      case QUOTE:
        this.#isInText = true;
        return true;
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.#depth += 1;
        this.#values += 1;
        return this.#depth <= this.#bounds.depth && this.#values <= this.#bounds.values;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        this.#depth -= 1;
        return true;
      case COMMA:
      case COLON:
        this.#values += 1;
        return this.#values <= this.#bounds.values;
      default:
        return true;
    }
  }
}
