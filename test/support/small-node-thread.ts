/** The worker entry of the small node. */
import { bootThread } from '../../src/runtime/thread-boot.ts';
import { WORKER_FACTORIES } from './small-node.ts';

bootThread(WORKER_FACTORIES);
