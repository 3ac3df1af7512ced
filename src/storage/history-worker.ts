/**
 * The thread that reads the tables for pages of orders and trades, and the row log for pages of the ledger: readers of its own,
 * one question at a time, rows answered as JSON. A question costs what it reads, up to some 100 ms for the last page of a long list; here that delays
 * other pages only.
 *
 * It answers every question or dies: a damaged table is no answer. The row log alone, by which nothing is decided, may be damaged.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { assert, must } from '../core/assert.ts';
import { answerHistory, jsonOf } from '../gateway/orders/history/history-request.ts';
import { BasisFolds } from '../gateway/orders/history/position-basis.ts';
import {
  type FromHistory,
  HISTORY_WORD,
  type HistorySettings,
  type LedgerAnswer,
  type LedgerRequest,
  type ToHistory,
} from '../gateway/queries/history-thread.ts';
import { DutyCycle } from '../runtime/duty-cycle.ts';
import { lowerOwnPriority, ownThread } from '../runtime/thread-times.ts';
import { openReader } from './environment.ts';
import { TableHistory } from './order-history.ts';

const HEARTBEAT_MS = 100;

/** Reads the row log for pages of the ledger. It is given by the entry of the thread: the row log is above storage. */
interface LedgerSource {
  read(query: LedgerRequest['query']): LedgerAnswer['found'];
  close(): Promise<void>;
}

/**
 * Runs until it receives null.
 *
 * @param ledgerOf the rows of a data directory. Its `passed` is to be called in long work.
 */
export function runHistoryThread(ledgerOf: (dataDirectory: string, passed: () => void) => LedgerSource): void {
  assert(!isMainThread, 'history is read on a thread of its own');
  const port = must(parentPort, 'a worker has a parent');
  const { dataDirectory, mapBytes, words } = workerData as HistorySettings;
  const life = new Int32Array(words);
  const heartbeat = (): void => void Atomics.add(life, HISTORY_WORD.heartbeat, 1);
  // A page may take 100 ms of CPU time: orders go first.
  lowerOwnPriority();
  Atomics.store(life, HISTORY_WORD.kernelThread, ownThread());
  // The thread is watched from its first heartbeat.
  heartbeat();
  const heartbeats = setInterval(heartbeat, HEARTBEAT_MS);
  const cycle = new DutyCycle(heartbeat);
  const reader = openReader(dataDirectory, { mapBytes });
  Atomics.store(life, HISTORY_WORD.isOpen, 1);
  const history = new TableHistory(reader, () => cycle.done());
  const basis = new BasisFolds();
  const ledger = ledgerOf(dataDirectory, heartbeat);
  port.on('message', (message: ToHistory) => {
    if (message === null) {
      port.close();
      clearInterval(heartbeats);
      // A thread that reads closes its reader before it ends.
      void ledger.close();
      void reader.close();
      return;
    }
    const { id, request } = message;
    if (request.kind === 'ledger') {
      port.postMessage({ id, answer: ledgerAnswer(ledger, request.query) } satisfies FromHistory);
      return;
    }
    const answer = history.read((snapshot) =>
      request.kind === 'basis' ? basis.answer(snapshot, request) : answerHistory(snapshot, request, jsonOf(request)),
    );
    port.postMessage({ id, answer } satisfies FromHistory);
  });
}

/** A file of rows that is gone or damaged is the reader's misfortune, not the node's. */
function ledgerAnswer(ledger: LedgerSource, query: LedgerRequest['query']): LedgerAnswer {
  try {
    return { kind: 'ledger', found: ledger.read(query) };
  } catch (error) {
    return { kind: 'ledger', found: null, fault: `the row log cannot be read: ${String(error)}` };
  }
}
