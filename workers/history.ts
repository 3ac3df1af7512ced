/** Entry of the thread that reads history for pages. */
import { join } from 'node:path';
import { LedgerPages } from '../src/evidence/ledger-pages.ts';
import { runHistoryThread } from '../src/storage/history-worker.ts';

runHistoryThread((dataDirectory, passed) => new LedgerPages(join(dataDirectory, 'evidence'), passed));
