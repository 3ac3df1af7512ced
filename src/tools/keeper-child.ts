/**
 * The child of the journal's keeper (journal-keeper.ts): makes a snapshot, proves it, and prints where the journal may begin.
 */
import { constants, setPriority } from 'node:os';
import { checkpointSequence } from '../storage/checkpoint.ts';
import type { SnapshotPlace } from '../storage/data-files.ts';
import { StorageError } from '../storage/storage-error.ts';
import { withReader } from './audit-data.ts';
import { makeSnapshot, oldestKept } from './snapshot-data.ts';

const EXIT_FAILED = 65;

interface KeeperWork {
  readonly directory: string;
  /** Snapshots that stay. */
  readonly keep: number;
  /** For what keeps snapshots elsewhere as well; null for nothing. */
  readonly share: ((snapshot: SnapshotPlace) => Promise<unknown>) | null;
  /** A line on standard output. */
  readonly say: (line: string) => void;
}

/** Prints nothing where there is no checkpoint yet. @returns the exit code. */
export async function runKeeper({ directory, keep, share, say }: KeeperWork): Promise<number> {
  setPriority(constants.priority.PRIORITY_LOW);
  const { ppid } = process;
  // A node that was killed cannot end its child: the child looks now and then whether it is still wanted.
  const look = (): void => {
    if (process.ppid !== ppid) throw new StorageError('its node is gone');
  };
  try {
    if ((await withReader(directory, (reader) => checkpointSequence(reader))) === 0) return 0;
    const snapshot = await makeSnapshot(directory, look);
    await share?.(snapshot);
    say(`prune ${await oldestKept(directory, keep, look)}`);
    return 0;
  } catch (error) {
    say(`failed ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_FAILED;
  }
}
