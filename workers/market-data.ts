/** Entry of the market-data thread. */
import { marketDataFactories } from '../src/node/market-data-factory.ts';
import { bootThread } from '../src/runtime/thread-boot.ts';

bootThread(marketDataFactories);
