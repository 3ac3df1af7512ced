/** Entry of the thread that reads history for pages. */
import { evidenceFolder } from '../src/evidence/evidence-files.ts';
import { LedgerPages } from '../src/evidence/ledger-pages.ts';
import { runHistoryThread } from '../src/storage/history-worker.ts';

runHistoryThread((dataDirectory, passed) => new LedgerPages(evidenceFolder(dataDirectory), passed));
