/**
 * The part of Node's Buffer that the readers of frames and replies use, for the client in a browser. The build of the package puts it
 * in the place of the global (packaging/browser-client.ts).
 */

type Encoding = 'latin1' | 'utf8';

export class Buffer extends Uint8Array {
  static alloc(bytes: number): Buffer {
    return new Buffer(bytes);
  }

  /** A view of memory; a copy of bytes or of a text. */
  static override from(
    source: ArrayBufferLike | ArrayLike<number> | Iterable<number> | string,
    second?: unknown,
    length?: number,
  ): Buffer {
    if (source instanceof ArrayBuffer) return new Buffer(source, Number(second ?? 0), length);
    if (typeof source !== 'string') return new Buffer(Uint8Array.from(source as ArrayLike<number>).buffer);
    const bytes =
      second === 'latin1' ? Array.from(source, (each) => each.charCodeAt(0)) : new TextEncoder().encode(source);
    return new Buffer(Uint8Array.from(bytes).buffer);
  }

  static compare(left: Uint8Array, right: Uint8Array): number {
    const at = left.findIndex((byte, index) => byte !== right[index]);
    if (at < 0) return Math.sign(left.length - right.length);
    return (left[at] ?? 0) < (right[at] ?? -1) ? -1 : 1;
  }

  override toString(encoding: Encoding = 'utf8', start = 0, end: number = this.length): string {
    return encoding === 'latin1' ? this.latin1Slice(start, end) : this.utf8Slice(start, end);
  }

  utf8Slice(start: number, end: number): string {
    return new TextDecoder().decode(this.subarray(start, end));
  }

  latin1Slice(start: number, end: number): string {
    let text = '';
    for (let at = start; at < end; at += 1) text += String.fromCharCode(this[at] ?? 0);
    return text;
  }

  hexSlice(start: number, end: number): string {
    let text = '';
    for (let at = start; at < end; at += 1) text += (this[at] ?? 0).toString(16).padStart(2, '0');
    return text;
  }
}
