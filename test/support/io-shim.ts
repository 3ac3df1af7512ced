/** The shim between lmdb and the disk (io-shim.c): built where there is a C compiler, and the trace that it writes. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

const SOURCE = 'test/support/io-shim.c';
const HEAD_BYTES = 16;

/** @returns the shared object, or null where there is no C compiler: the campaigns that need it are skipped there. */
export function buildShim(source: string = SOURCE): string | null {
  const path = join(temporaryDirectory(), basename(source).replace(/\.c$/, '.so'));
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', path, source, '-ldl'], { stdio: 'ignore' });
  return status === 0 ? path : null;
}

const CALL = { write: 1, sync: 2, writeThrough: 3, mark: 4, length: 5 } as const;

export type TracedCall =
  | { readonly kind: 'write'; readonly isFirstOfCall: boolean; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'writeThrough'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'sync' }
  | { readonly kind: 'mark'; readonly text: string }
  | { readonly kind: 'length'; readonly length: number };

export function readTrace(path: string): readonly TracedCall[] {
  const trace = readFileSync(path);
  const calls: TracedCall[] = [];
  for (let at = 0; at < trace.length; ) {
    const kind = trace.readUInt8(at);
    const length = trace.readUInt32LE(at + 4);
    const offset = Number(trace.readBigUInt64LE(at + 8));
    const bytes = trace.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length);
    if (kind === CALL.sync) calls.push({ kind: 'sync' });
    else if (kind === CALL.mark) calls.push({ kind: 'mark', text: bytes.toString('latin1').trim() });
    else if (kind === CALL.length) calls.push({ kind: 'length', length: offset });
    else if (kind === CALL.writeThrough) calls.push({ kind: 'writeThrough', offset, bytes });
    else calls.push({ kind: 'write', isFirstOfCall: kind === CALL.write, offset, bytes });
    at += HEAD_BYTES + length;
  }
  return calls;
}
