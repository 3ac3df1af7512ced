/**
 * How a test makes one thread of a running node fail: a file that names the thread and the fault. The thread takes the
 * file away before it obeys, so a successor of the thread is well again.
 */
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `throws`: a broken promise. `loops`: JavaScript that never returns. `waits`: asleep for ever. `exits`: gone.
 * `stalls`: the next write to the map does not return, where the shim is loaded (io-shim.c). */
export type Fault = 'throws' | 'loops' | 'waits' | 'exits' | 'stalls';

const CUE_FILE = 'FAULTY_NODE_CUE';
/** How a broken promise reads in the node's last line. */
export const BROKEN_PROMISE = 'a promise is broken on cue';

export function cueEnvironment(path: string): Readonly<Record<string, string>> {
  return { [CUE_FILE]: path };
}

export function giveCue(path: string, thread: string, fault: Fault): void {
  writeFileSync(path, `${thread} ${fault}`);
}

/** Fails if the cue is for this thread; else returns at once. */
export function obeyCue(thread: string): void {
  const path = process.env[CUE_FILE] ?? '';
  let cue: string;
  try {
    cue = readFileSync(path, 'utf8');
  } catch {
    return;
  }
  if (!cue.startsWith(`${thread} `)) return;
  unlinkSync(path);
  misbehave(cue.slice(thread.length + 1));
}

function misbehave(fault: string): void {
  if (fault === 'throws') throw new Error(BROKEN_PROMISE);
  if (fault === 'exits') process.exit(3);
  if (fault === 'waits') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (fault === 'stalls') writeFileSync(join(process.env['RINGBOOK_DATA_DIR'] ?? '', 'stall.plan'), '1 5 3');
  while (fault === 'loops');
}
