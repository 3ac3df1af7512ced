/**
 * Lines of text as bytes, field by field, for who hashes a million of them: a line as a string costs three times what its
 * hash does. The bytes are those of a template string in UTF-8:
 *
 *   text('order').number(7).nanoseconds(12n).endLine()   ─▶   order|7|12⏎
 */

/** Takes the next bytes, which are valid until it returns. */
export type TakeBytes = (bytes: Uint8Array) => void;

const CHUNK_BYTES = 65_536;
/** Longer texts are handed on by themselves. */
const SHORT_TEXT_MAX = 4_096;
/** The largest field that is not a long text, with its end mark: at most three bytes a character. */
const FIELD_BYTES_MAX: number = 3 * SHORT_TEXT_MAX + 1;
const ASCII_MAX = 127;
const BILLION = 1_000_000_000;
const U32 = 0x1_0000_0000;
const U16 = 0x1_0000;
const [NEWLINE, MINUS, ZERO, BAR] = [10, 45, 48, 124];
/** Character codes of the digits of a byte. */
const HIGH_DIGITS: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (byte >> 4).toString(16).charCodeAt(0));
/** Character codes of the digits of a number below 100. */
const TENS: Uint8Array = Uint8Array.from({ length: 100 }, (_, pair) => ZERO + Math.floor(pair / 10));
const ONES: Uint8Array = Uint8Array.from({ length: 100 }, (_, pair) => ZERO + (pair % 10));
const LOW_DIGITS: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => (byte & 15).toString(16).charCodeAt(0));

export class FactText {
  readonly #take: TakeBytes;
  readonly #bytes = new Uint8Array(CHUNK_BYTES + FIELD_BYTES_MAX);
  readonly #encoder = new TextEncoder();
  readonly #words = new DataView(new ArrayBuffer(8));
  #end = 0;

  constructor(take: TakeBytes) {
    this.#take = take;
  }

  text(value: string): this {
    if (value.length > SHORT_TEXT_MAX) this.#longText(value);
    else this.#shortText(value);
    return this.#endField();
  }

  /** @param value a safe integer. */
  number(value: number): this {
    if (value < 0) this.#byte(MINUS);
    this.#digits(Math.abs(value));
    return this.#endField();
  }

  /** @param value from 0 to 2^64 − 1. */
  nanoseconds(value: bigint): this {
    this.#words.setBigUint64(0, value);
    const high = this.#words.getUint32(0);
    const low = this.#words.getUint32(4);
    if (high === 0) this.#digits(low);
    else this.#longDigits(high, low);
    return this.#endField();
  }

  amount(value: bigint): this {
    if (value === 0n) this.#byte(ZERO);
    else this.#shortText(value.toString());
    return this.#endField();
  }

  hex(bytes: Uint8Array): this {
    const to = this.#bytes;
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index] as number;
      to[this.#end] = HIGH_DIGITS[byte] as number;
      to[this.#end + 1] = LOW_DIGITS[byte] as number;
      this.#end += 2;
      if (this.#end >= CHUNK_BYTES) this.flush();
    }
    return this.#endField();
  }

  /** After a field: in place of its bar. */
  endLine(): void {
    this.#bytes[this.#end - 1] = NEWLINE;
    if (this.#end >= CHUNK_BYTES) this.flush();
  }

  /** Hands on what was written. */
  flush(): void {
    if (this.#end > 0) this.#take(this.#bytes.subarray(0, this.#end));
    this.#end = 0;
  }

  #endField(): this {
    // The bar stays, so that a line may still end there.
    if (this.#end >= CHUNK_BYTES) this.flush();
    this.#byte(BAR);
    return this;
  }

  #byte(code: number): void {
    this.#bytes[this.#end] = code;
    this.#end += 1;
  }

  #shortText(value: string): void {
    const from = this.#end;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > ASCII_MAX) {
        this.#end = from + (this.#encoder.encodeInto(value, this.#bytes.subarray(from)).written ?? 0);
        return;
      }
      this.#bytes[from + index] = code;
    }
    this.#end = from + value.length;
  }

  #longText(value: string): void {
    this.flush();
    this.#take(this.#encoder.encode(value));
  }

  /** @param value 0 or above. */
  #digits(value: number): void {
    if (value < BILLION) {
      this.#shortDigits(value, 1);
      return;
    }
    const billions = Math.floor(value / BILLION);
    this.#shortDigits(billions, 1);
    this.#shortDigits(value - billions * BILLION, 9);
  }

  /** Division by hand, 16 bits at a time: each step stays below 2^53. */
  #longDigits(high: number, low: number): void {
    const middle = (high % BILLION) * U16 + (low >>> 16);
    const last = (middle % BILLION) * U16 + (low & (U16 - 1));
    const billions = Math.floor(high / BILLION) * U32 + Math.floor(middle / BILLION) * U16 + Math.floor(last / BILLION);
    if (billions === 0) {
      this.#shortDigits(last % BILLION, 1);
      return;
    }
    this.#digits(billions);
    this.#shortDigits(last % BILLION, 9);
  }

  /** @param value below 2^31. @param digitsMin with zeros in front. */
  #shortDigits(value: number, digitsMin: number): void {
    let digits = digitsMin;
    for (let power = 10 ** digits; value >= power; power *= 10) digits += 1;
    const to = this.#bytes;
    let rest = value | 0;
    let at = this.#end + digits - 1;
    // Two at a time: divisions are most of the work.
    for (; at > this.#end; at -= 2) {
      const hundredth = (rest / 100) | 0;
      const pair = rest - 100 * hundredth;
      to[at - 1] = TENS[pair] as number;
      to[at] = ONES[pair] as number;
      rest = hundredth;
    }
    if (at === this.#end) to[at] = ZERO + rest;
    this.#end += digits;
  }
}
