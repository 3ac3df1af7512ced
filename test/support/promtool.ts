/** `promtool` of an installed Prometheus: at PROMTOOL, or on the path; null where there is none. */
import { spawnSync } from 'node:child_process';

export interface PromtoolAnswer {
  readonly status: number | null;
  readonly text: string;
}

export type Promtool = (args: readonly string[], input?: string) => PromtoolAnswer;

export function promtool(): Promtool | null {
  const program = process.env['PROMTOOL'] ?? 'promtool';
  const run: Promtool = (args, input = '') => {
    const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' });
    return { status, text: `${stdout}${stderr}` };
  };
  return run(['--version']).status === 0 ? run : null;
}
