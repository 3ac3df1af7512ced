/** Entry of the thread of a cluster's protocol; it runs only where a cluster is configured. */
import { replicatorFactories } from '../src/node/replicator-factory.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(replicatorFactories);
