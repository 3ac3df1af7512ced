/** The thread that reads history, which misbehaves on cue (fault-cue.ts). */
import { runHistoryThread } from '../../src/storage/history-worker.ts';
import { obeyCue } from './fault-cue.ts';

const LOOK_MS = 5;

runHistoryThread(() => ({ read: () => null, close: () => Promise.resolve() }));
// It ends on the cue: this timer does not keep it.
setInterval(() => obeyCue('history'), LOOK_MS).unref();
