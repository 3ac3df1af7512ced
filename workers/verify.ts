/** Entry of a verify thread: one long task of the pool. */
import { runVerifyLoop, type VerifyThread } from '../src/crypto/verify-loop.ts';

// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its entry.
export default function verify(thread: VerifyThread): void {
  runVerifyLoop(thread);
}
