/** A thread of the verify pool that misbehaves on cue. It looks for its cue whenever it has nothing to verify. */
import { runVerifyLoop, type VerifyThread } from '../../src/crypto/verify-loop.ts';
import { RingReader } from '../../src/runtime/spsc-ring.ts';
import { obeyCue } from './fault-cue.ts';

const drain = RingReader.prototype.drain;
RingReader.prototype.drain = function (this: RingReader, ...call) {
  obeyCue('verify');
  return drain.apply(this, call);
};

// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its entry.
export default function verify(thread: VerifyThread): void {
  runVerifyLoop(thread);
}
