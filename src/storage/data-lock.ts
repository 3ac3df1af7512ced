/**
 * One node per data directory. A node claims it with an empty file, named by its owner:
 *
 *   claim.<epoch>.<pid>.<start>.<boot>     start: clock ticks after boot (/proc/<pid>/stat, field 22)
 *                                          boot:  first 8 digits of /proc/sys/kernel/random/boot_id
 *
 * Claim first, look at the others afterwards, withdraw if one of them lives. Two that start at the same moment both
 * claim before they look, so at least one sees the other: never two owners, at worst none. There is nothing to read,
 * so no claim can be torn; a claim of a dead process is recognised by its name and removed by the next owner.
 *
 * The epoch counts the openings of a directory and only grows: a released claim stays as one of process 0, which never
 * lives, until the next owner sweeps it.
 *
 * Not here: two machines or two process namespaces on one shared directory; they cannot see each other's processes.
 */
import { closeSync, openSync, readdirSync, readFileSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from './data-files.ts';
import { StorageError, storageError } from './storage-error.ts';

const CLAIM_FORM = /^claim\.([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9a-f]{8})$/;

interface Claim {
  readonly fileName: string;
  readonly epoch: number;
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
}

export interface DataLock {
  readonly epoch: number;
  /** Gives the directory free. The claim of a process that dies without it is recognised as dead. */
  release(): void;
}

/**
 * Claims a data directory, which is created when it is missing.
 *
 * @throws StorageError when a living process, this one included, holds it.
 */
export function lockDirectory(directory: string): DataLock {
  try {
    makeDirectory(directory);
    return claimDirectory(directory);
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw storageError(`cannot lock the data directory ${directory}`, error);
  }
}

/** Whether a living process holds the directory. */
export function isHeld(directory: string): boolean {
  try {
    return claimsIn(directory).some(isAlive);
  } catch {
    return false;
  }
}

function claimDirectory(directory: string): DataLock {
  const earlier = claimsIn(directory);
  const living = earlier.find(isAlive);
  if (living !== undefined) throw inUse(directory, living);

  const epoch = 1 + earlier.reduce((highest, claim) => Math.max(highest, claim.epoch), 0);
  const start = startOf(process.pid);
  if (start === null) throw new StorageError('cannot read the start time of this process from /proc');
  const fileName = `claim.${epoch}.${process.pid}.${start}.${bootId()}`;
  const path = join(directory, fileName);
  // Fails when another thread of this process is just as far.
  closeSync(openSync(path, 'wx'));

  const others = claimsIn(directory).filter((claim) => claim.fileName !== fileName);
  const rival = others.find(isAlive);
  if (rival !== undefined) {
    unlinkSync(path);
    throw inUse(directory, rival);
  }
  for (const dead of others) unlinkSync(join(directory, dead.fileName));
  return { epoch, release: () => renameSync(path, join(directory, `claim.${epoch}.0.0.00000000`)) };
}

function claimsIn(directory: string): readonly Claim[] {
  return readdirSync(directory).flatMap((fileName) => {
    const match = CLAIM_FORM.exec(fileName);
    if (match === null) return [];
    const [, epoch, pid, start = '', boot = ''] = match;
    return [{ fileName, epoch: Number(epoch), pid: Number(pid), start, boot }];
  });
}

function isAlive(claim: Claim): boolean {
  // mutant: directory-claim
  return claim.boot === bootId() && claim.start === startOf(claim.pid);
}

/** When the process started, in ticks after boot: with its id the one name of a process. Null when there is none. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the command in brackets and may hold anything; the 22nd is the 20th after it.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? null);
  } catch {
    return null;
  }
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').slice(0, 8);
}

function inUse(directory: string, claim: Claim): StorageError {
  return new StorageError(
    `the data directory ${directory} is in use by process ${claim.pid} (${claim.fileName}); stop that node first`,
  );
}
