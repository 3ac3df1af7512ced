/**
 * Whether the last time that a data directory records is ahead of the system clock, before a node starts on it (MCH-02). Time of
 * a node never goes backwards, so one that recorded times of next week would stamp orders with them until then.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EnvironmentOptions, openReader } from '../storage/environment.ts';
import { journalBounds, readJournal } from '../storage/journal.ts';
import { MAP_FILE_NAME } from '../storage/map-file.ts';
import { StorageError } from '../storage/storage-error.ts';

const SECOND_NS = 1_000_000_000n;
/** Two machines, or a clock before and after its first correction, may be so far apart. */
const AHEAD_NS_MAX = 5n * SECOND_NS;

/** @returns the time of the last journal record; null where there is none. @throws StorageError */
function lastRecordedNs(directory: string, options: EnvironmentOptions): bigint | null {
  if (!existsSync(join(directory, MAP_FILE_NAME))) return null;
  const reader = openReader(directory, options);
  try {
    const { lastSequence } = journalBounds(reader);
    if (lastSequence === 0) return null;
    for (const { timeNs } of readJournal(reader, lastSequence)) return timeNs;
    return null;
  } finally {
    void reader.close();
  }
}

/**
 * @param nowNs the system clock. @param acceptedAheadS the operator's word.
 * @returns by how many nanoseconds the recorded time is ahead; the node's clock begins there and runs slower until the system
 * clock has come to it.
 * @throws StorageError when it is more than 5 s, and more than is accepted.
 */
export function checkRecordedTime(
  directory: string,
  options: EnvironmentOptions,
  { nowNs, acceptedAheadS }: { readonly nowNs: bigint; readonly acceptedAheadS: number },
): bigint {
  const recordedNs = lastRecordedNs(directory, options);
  const aheadNs = recordedNs === null || recordedNs <= nowNs ? 0n : recordedNs - nowNs;
  if (aheadNs <= AHEAD_NS_MAX || aheadNs <= BigInt(acceptedAheadS) * SECOND_NS) return aheadNs;
  const seconds = aheadNs / SECOND_NS + 1n;
  const times = `${isoOf(recordedNs ?? 0n)}, and the system clock says ${isoOf(nowNs)}`;
  const ways = `correct the system clock; or, when it is right, start once with RINGBOOK_ACCEPT_CLOCK=${seconds}`;
  throw new StorageError(`the data directory ${directory} ends at ${times}, ${seconds} s before that: ${ways}`);
}

function isoOf(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}
