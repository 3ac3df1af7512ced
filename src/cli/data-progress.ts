/** How far a long command is, on standard error: a line that is written over on a terminal, one line a second elsewhere. */
import { writeSync } from 'node:fs';
import type { Progress } from '../node/audit-data.ts';

const STDERR = 2;
const EVERY_MS = { terminal: 100, log: 1_000 } as const;

/** @returns what a command reports to, and what ends the line. */
export function dataProgress(): { readonly report: Progress; end(): void } {
  const isTerminal = process.stderr.isTTY === true;
  const everyMs = isTerminal ? EVERY_MS.terminal : EVERY_MS.log;
  let saidMs = performance.now();
  let isOpen = false;
  return {
    report: (step, done, of) => {
      const nowMs = performance.now();
      if (nowMs - saidMs < everyMs) return;
      saidMs = nowMs;
      const share = of > 0 ? ` of ${of} (${Math.floor((100 * done) / of)} %)` : '';
      const text = `${step}: ${done}${share}`;
      writeSync(STDERR, isTerminal ? `\r\u001b[K${text}` : `${text}\n`);
      isOpen = isTerminal;
    },
    end: () => {
      if (isOpen) writeSync(STDERR, '\n');
    },
  };
}
