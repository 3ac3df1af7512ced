/** Whether the address space of this process is limited (`ulimit -v`): then large arrays must not reserve any. */
import { readFileSync } from 'node:fs';

/** @param limits of a process, as reported by the kernel; without a report the space counts as unlimited. */
export function areAddressesBounded(limits: string): boolean {
  const [, soft = 'unlimited'] = /^Max address space +(\S+)/m.exec(limits) ?? [];
  return soft !== 'unlimited';
}

/** The limits of this process; empty on systems without a report. */
export function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
