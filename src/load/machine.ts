/** Where and when a measurement was made: what its figures depend on. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMIT, IS_COMMIT_BUILT, VERSION } from '../runtime/version.ts';

interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly os: string;
  readonly node: string;
}

export interface Circumstances {
  readonly version: string;
  /** Of the measuring program; `+` after a commit with changes. */
  readonly commit: string;
  /** ISO 8601, UTC. */
  readonly date: string;
  readonly machine: Machine;
  /** Load averages of 1, 5 and 15 minutes. */
  readonly load: readonly number[];
}

function gitOf(args: readonly string[]): string | null {
  const folder = dirname(fileURLToPath(import.meta.url));
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** The commit of an image, or of the checkout that was built. */
function commit(): string {
  if (IS_COMMIT_BUILT) return COMMIT;
  const head = gitOf(['rev-parse', '--short=10', 'HEAD']);
  if (head === null) return COMMIT;
  return gitOf(['status', '--porcelain', '--untracked-files=no']) === '' ? head : `${head}+`;
}

export function circumstances(): Circumstances {
  return {
    version: VERSION,
    commit: commit(),
    date: new Date().toISOString(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryMiB: Math.round(totalmem() / 1_048_576),
      os: `${process.platform} ${release()}`,
      node: process.version,
    },
    load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}
