/** Runs one plan in a process of the load generator, within a bounded time. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { GeneratorMessage, LoadPlan, LoadResult } from './plan.ts';

const GENERATOR = fileURLToPath(new URL('./generator-main.js', import.meta.url));
/** For logins, signing and the last replies; beside the time that the schedule takes. */
const OVERHEAD_MS = 180_000;
/** Lines of the generator's standard error in the message of a failure. */
const STDERR_LINES = 12;

function limitMs({ pace, warmUp, count }: LoadPlan): number {
  return OVERHEAD_MS + (pace.kind === 'open' ? ((warmUp + count) * 1_000) / pace.perSecond : 0);
}

/** @throws Error when the generator fails or takes too long. */
export async function runPlan(plan: LoadPlan, onProgress: (text: string) => void = () => {}): Promise<LoadResult> {
  const child = fork(GENERATOR, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).split('\n').slice(-STDERR_LINES).join('\n');
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs(plan));
  try {
    return await new Promise((resolve, reject) => {
      child.on('message', (report: GeneratorMessage) => {
        if (report.kind === 'progress') onProgress(report.text);
        else resolve(report.result);
      });
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        reject(new Error(`the load generator ended with ${code ?? signal}\n${stderr}`)),
      );
      child.send(plan);
    });
  } finally {
    clearTimeout(timer);
    if (child.exitCode === null && child.connected) child.once('disconnect', () => child.kill());
  }
}
