/** Entry of the thread that reads history for pages. */
import { runHistoryThread } from '../src/storage/history-worker.ts';

runHistoryThread();
