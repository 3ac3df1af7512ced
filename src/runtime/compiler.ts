/**
 * What the JavaScript engine is told about the code of this process.
 *
 * A create, a match, a fill are many small functions. V8 puts callee into caller up to a budget that such a road
 * exceeds, and every call left over costs more than what it does. A larger budget made the market engine 15 to 25 %
 * faster in all flows (bench: matching); larger still made some of it slower again.
 */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that one optimised function may take in; V8's own default is 920. */
const INLINED_BYTES_MAX = 2_000;

/** Before the first hot function is compiled; for the whole process, worker threads included. */
export function tuneCompiler(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES_MAX}`);
}
