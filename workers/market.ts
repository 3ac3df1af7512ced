/** Entry of a market shard's thread. */
import { marketFactories } from '../src/node/market-factory.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(marketFactories);
