/** CPU time of the threads of a process on this machine, by name of the thread. Linux only: `/proc/<pid>/task`. */
import { readdirSync, readFileSync } from 'node:fs';
import type { CpuPerOrder } from './plan.ts';

/** Microseconds by thread id. */
export type CpuTimes = ReadonlyMap<number, { readonly name: string; readonly us: number }>;

/** @returns null where the accounting is unavailable. */
export function cpuTimes(pid: number): CpuTimes | null {
  const folder = `/proc/${pid}/task`;
  try {
    return new Map(
      readdirSync(folder).map((id) => {
        const [ns = ''] = readFileSync(`${folder}/${id}/schedstat`, 'latin1').split(' ');
        const name = readFileSync(`${folder}/${id}/comm`, 'latin1').trim();
        return [Number(id), { name, us: Number(ns) / 1_000 }];
      }),
    );
  } catch {
    return null;
  }
}

/** A thread that has ended meanwhile is missing from both. */
export function cpuPerOrder(before: CpuTimes, after: CpuTimes, orders: number): CpuPerOrder {
  const threads: Record<string, number> = {};
  let total = 0;
  for (const [id, { name, us }] of after) {
    const used = (us - (before.get(id)?.us ?? 0)) / orders;
    threads[name] = (threads[name] ?? 0) + used;
    total += used;
  }
  return { total, threads };
}
