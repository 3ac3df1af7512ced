/** Entry of the thread that watches EVM chains. */
import { runEvmWorker } from '../src/chain/evm-worker.ts';

runEvmWorker();
