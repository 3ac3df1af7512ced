/** Entry of the thread that writes the lines of the log. */
import { workerData } from 'node:worker_threads';
import type { LogMemory } from '../src/runtime/log-buffer.ts';
import { runLogWriter } from '../src/runtime/log-writer.ts';

runLogWriter(workerData as LogMemory);
