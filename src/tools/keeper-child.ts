/**
 * The child of the journal's keeper (journal-keeper.ts): makes a snapshot, proves it, and prints where the journal may begin.
 */
import { constants, setPriority } from 'node:os';
import { checkpointSequence } from '../storage/checkpoint.ts';
import type { SnapshotPlace } from '../storage/data-files.ts';
import { StorageError } from '../storage/storage-error.ts';
import { withReader } from './audit-data.ts';
import { isStatementDue, makeLiabilities } from './make-liabilities.ts';
import { makeSnapshot, oldestKept } from './snapshot-data.ts';

const EXIT_FAILED = 65;

interface KeeperWork {
  readonly directory: string;
  /** Snapshots that stay. */
  readonly keep: number;
  /** For what keeps snapshots elsewhere as well; null for nothing. */
  readonly share: ((snapshot: SnapshotPlace) => Promise<unknown>) | null;
  /** How old the newest statement of what is owed becomes, and the file of the evidence secret; null: nothing is stated. */
  readonly liabilities: { readonly everyMs: number; readonly secret: string | null } | null;
  /** A line on standard output. */
  readonly say: (line: string) => void;
}

/** Prints nothing where there is no checkpoint yet. @returns the exit code. */
export async function runKeeper({ directory, keep, share, liabilities, say }: KeeperWork): Promise<number> {
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
    if (liabilities !== null) say(`stated ${await stateOwed(directory, snapshot, liabilities)}`);
    say(`prune ${await oldestKept(directory, keep, look)}`);
    return 0;
  } catch (error) {
    say(`failed ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_FAILED;
  }
}

/** Without a statement the snapshot is a good one all the same. @returns in words what came of it. */
async function stateOwed(
  directory: string,
  snapshot: SnapshotPlace,
  { everyMs, secret }: NonNullable<KeeperWork['liabilities']>,
): Promise<string> {
  if (!isStatementDue(directory, everyMs, Date.now())) return 'nothing: the newest statement is not old enough';
  try {
    const { sequence, assets, leaves } = await makeLiabilities(directory, snapshot, secret);
    return `record ${sequence}: ${assets} assets, ${leaves} leaves`;
  } catch (error) {
    if (error instanceof StorageError) return `nothing: ${error.message}`;
    throw error;
  }
}
