/** Entry of the thread that reads history for pages. */
import { runHistoryThread } from '../src/node/history-worker.ts';

runHistoryThread();
