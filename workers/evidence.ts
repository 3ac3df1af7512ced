/** Entry of the thread of the evidence; it runs only where evidence is kept. */
import { evidenceFactories } from '../src/node/evidence-factory.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(evidenceFactories);
