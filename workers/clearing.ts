/** Entry of the clearing engine's thread. */
import { clearingFactories } from '../src/node/actor-factories.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(clearingFactories);
