/**
 * The thread that reads the tables for pages of orders and trades: a reader of its own, one question at a time, rows
 * answered as JSON. A question costs what it reads, up to some 100 ms for the last page of a long list; here that delays
 * other pages only.
 *
 * It answers every question or dies: a damaged table is no answer.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { assert, must } from '../core/assert.ts';
import { answerHistory, jsonOf } from '../gateway/orders/history/history-request.ts';
import { BasisFolds } from '../gateway/orders/history/position-basis.ts';
import {
  type FromHistory,
  HISTORY_WORD,
  type HistorySettings,
  type ToHistory,
} from '../gateway/queries/history-thread.ts';
import { DutyCycle } from '../runtime/duty-cycle.ts';
import { lowerOwnPriority, ownThread } from '../runtime/thread-times.ts';
import { openReader } from './environment.ts';
import { TableHistory } from './order-history.ts';

const HEARTBEAT_MS = 100;

/** Runs until it receives null. */
export function runHistoryThread(): void {
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
  port.on('message', (message: ToHistory) => {
    if (message === null) {
      port.close();
      clearInterval(heartbeats);
      // A thread that reads closes its reader before it ends.
      void reader.close();
      return;
    }
    const { id, request } = message;
    const answer = history.read((snapshot) =>
      request.kind === 'basis' ? basis.answer(snapshot, request) : answerHistory(snapshot, request, jsonOf(request)),
    );
    port.postMessage({ id, answer } satisfies FromHistory);
  });
}
