/** The worker entry of the relay. */
import { bootThread } from '../../src/runtime/thread-boot.ts';
import { RELAY_FACTORIES } from './relay-actors.ts';

bootThread(RELAY_FACTORIES);
