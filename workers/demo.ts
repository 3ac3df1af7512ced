/** Entry of the thread on which the demo traders of the dev profile trade. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { assert, must } from '../src/core/assert.ts';
import { type DemoSettings, DemoTraders } from '../src/load/demo-traders.ts';
import { lowerOwnPriority } from '../src/runtime/thread-times.ts';

assert(!isMainThread, 'the demo traders have a thread of their own');
const port = must(parentPort, 'a worker has a parent');
// Orders of users go first.
lowerOwnPriority();
const traders = new DemoTraders(workerData as DemoSettings, (report) => port.postMessage(report));
port.once('message', () => traders.stop());
await traders.run();
port.close();
