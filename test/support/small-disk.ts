/** A disk of its own that can be full: a tmpfs. Needs the right to mount, which root has. */
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

const FILLER = 'filler';
const CHUNK = Buffer.alloc(1 << 20);

export class SmallDisk {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Null where it cannot be mounted. */
  static mount(mib: number): SmallDisk | null {
    const directory = temporaryDirectory();
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', directory], {
      stdio: 'ignore',
    });
    return status === 0 ? new SmallDisk(directory) : null;
  }

  /** Takes all space that is left. */
  fill(): void {
    const path = join(this.directory, FILLER);
    writeFileSync(path, '');
    const { bsize, bavail } = statfsSync(this.directory);
    // Written, not only made longer: an empty part of a file takes no space.
    for (let left = bsize * bavail; left > 0; left -= CHUNK.length) {
      try {
        writeFileSync(path, CHUNK.subarray(0, Math.min(left, CHUNK.length)), { flag: 'a' });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
        throw error;
      }
    }
  }

  empty(): void {
    rmSync(join(this.directory, FILLER), { force: true });
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.directory], { stdio: 'ignore' });
  }
}
