/** A real node as a process, whose verifier takes long to load; started as the CLI's `start` is. */
import { main } from '../../src/node/main.ts';
import { workerEntry } from '../../src/node/node-threads.ts';
import { Signals } from '../../src/node/signals.ts';

await main({}, new Signals(), (thread) =>
  thread === 'verify' ? new URL('./slow-verify.js', import.meta.url) : workerEntry(thread),
);
