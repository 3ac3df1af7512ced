/** Conversions of Node's Buffer at offsets, without a view in between; in every Node, but not in the typings. */
interface Buffer {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
  hexSlice(start: number, end: number): string;
  latin1Write(text: string, offset: number, length: number): number;
  hexWrite(text: string, offset: number, length: number): number;
}
