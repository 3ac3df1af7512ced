/** What a start would find in a directory, and what it ought to find at each sequence. */

import { applyBatch } from '../../src/clearing/clearing.ts';
import { decodeBatch } from '../../src/clearing/journal-batch.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { loadState } from '../../src/clearing/tables.ts';
import { readJournal } from '../../src/storage/journal.ts';
import { auditData, replayData, withReader } from '../../src/tools/audit-data.ts';

const quiet = (): void => undefined;

/** Last sequence, last checkpoint and state, after everything that a start and an audit check. @throws at damage. */
export async function recovered(
  directory: string,
): Promise<{ readonly sequence: number; readonly checkpoint: number; readonly hash: string }> {
  const { sequence, stateHash: hash, map } = await auditData(directory, quiet);
  return { sequence, checkpoint: map.checkpoint, hash };
}

/** The same, and the journal replayed from its first record gives the same state. */
export async function recoveredAndReplayed(directory: string): ReturnType<typeof recovered> {
  const found = await recovered(directory);
  await replayData(directory, null, quiet);
  return found;
}

/** The hash of the state after each record of a directory's journal; index 0 is the empty state. */
export function hashesOf(directory: string): Promise<readonly string[]> {
  return withReader(directory, (reader) => {
    const state = loadState([]);
    const hashes = [stateHash(state)];
    for (const { payload } of readJournal(reader, 1 as never)) {
      applyBatch(state, decodeBatch(payload), []);
      hashes.push(stateHash(state));
    }
    return hashes;
  });
}
