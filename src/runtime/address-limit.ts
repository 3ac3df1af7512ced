/** Whether this process may have only so many addresses (`ulimit -v`): then large arrays are not to reserve any. */
import { readFileSync } from 'node:fs';

/** @param limits of a process, as the kernel tells them; where it tells none, addresses are not bounded. */
export function areAddressesBounded(limits: string): boolean {
  const [, soft = 'unlimited'] = /^Max address space +(\S+)/m.exec(limits) ?? [];
  return soft !== 'unlimited';
}

/** Of this process; empty on systems that do not tell. */
export function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
