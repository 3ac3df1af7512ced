/** Entry of the clearing engine's thread. */
import { clearingFactories } from '../src/node/clearing-factory.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(clearingFactories);
