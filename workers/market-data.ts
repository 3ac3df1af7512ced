/** Entry of the market-data thread. */
import { marketDataFactories } from '../src/node/actor-factories.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(marketDataFactories);
