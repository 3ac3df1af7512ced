/** The campaigns under the shim: power loss over recorded traces, and an error at the n-th call (docs/reliability.md). */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvariantError } from '../../src/core/assert.ts';
import { readTrace, type TracedCall } from './io-shim.ts';
import type { Ended } from './life-child.ts';
import { directoryOf } from './lived-data.ts';
import { type Image, type Promised, powerLosses, takeMark } from './power-loss.ts';
import { hashesOf, recovered, recoveredAndReplayed } from './recovered.ts';
import { SeededRandom } from './simulation.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const CHILD = fileURLToPath(new URL('./life-child.js', import.meta.url));
const STEPS = 300;
const EIO = 5;
const ENOSPC = 28;
const ONCE = 0;
const FOR_EVER = 1;
const HALF = 2;
const LIVES_PER_CHILD = 25;
const MEMORY = '/dev/shm';

export interface PowerLossCounts {
  images: number;
  /** Started, with everything that was promised. */
  whole: number;
  /** Refused as damaged: only a disk that lies leaves such. */
  refused: number;
  /** Neither: what was wrong. */
  readonly problems: string[];
}

/** Records a life of the seed and takes the power away so many times. */
export async function powerLossCampaign(
  shim: string,
  { seed, images, lies }: { readonly seed: number; readonly images: number; readonly lies: boolean },
): Promise<PowerLossCounts> {
  const home = temporaryDirectory();
  const trace = recordedLife(shim, seed, home);
  const hashes = await hashesOf(join(home, 'data'));
  const counts: PowerLossCounts = { images: 0, whole: 0, refused: 0, problems: [] };
  const directory = temporaryDirectory();
  for (const image of powerLosses(trace, { images, random: new SeededRandom(seed), lies })) {
    counts.images += 1;
    const problem = await problemOf(image, directoryOf(image.bytes, directory), hashes);
    if (problem === null) counts.whole += 1;
    else if (problem === 'refused') counts.refused += 1;
    else counts.problems.push(`seed ${seed}, after call ${image.call}: ${problem}`);
  }
  return counts;
}

function recordedLife(shim: string, seed: number, home: string): readonly TracedCall[] {
  const trace = join(home, 'trace');
  const { how } = child(shim, ['trace', String(seed), home, String(STEPS)], { RINGBOOK_IO_TRACE: trace });
  if (how !== 0) throw new Error(`the life of seed ${seed} ended with ${how}`);
  return readTrace(trace);
}

/** Null when the image starts and holds all that was promised; the record that was being written may be there too. */
async function problemOf(image: Image, directory: string, hashes: readonly string[]): Promise<string | null> {
  try {
    const { sequence, checkpoint, hash } = await recovered(directory);
    if (sequence < image.record || sequence > image.record + 1) return `record ${sequence}, promised ${image.record}`;
    if (checkpoint < image.checkpoint) return `checkpoint ${checkpoint}, promised ${image.checkpoint}`;
    return hash === hashes[sequence] ? null : `the state of record ${sequence} is another`;
  } catch (error) {
    // A new map is written in one piece: torn before its first commit it is refused, and nothing was promised.
    if (image.record === 0) return null;
    return error instanceof InvariantError ? 'refused' : String(error);
  }
}

export interface FaultCounts {
  readonly points: number;
  /** Lives that a fault ended with a StorageError. */
  ended: number;
  /** Lives in which the process crashed on lmdb's way out of the error. */
  crashed: number;
  readonly problems: string[];
}

/** Calls that write in a life of this seed: the points at which one can fail. */
export function callsOf(shim: string, seed: number): number {
  const trace = recordedLife(shim, seed, temporaryDirectory());
  return trace.filter((call) => call.kind !== 'mark' && !(call.kind === 'write' && !call.isFirstOfCall)).length;
}

/** Lets the n-th call fail, once, for ever, or half done, for every n of `points`. */
export async function faultCampaign(shim: string, seed: number, points: readonly number[]): Promise<FaultCounts> {
  const random = new SeededRandom(seed);
  const counts: FaultCounts = { points: points.length, ended: 0, crashed: 0, problems: [] };
  const plans = points.map((point) => {
    const errno = random.below(2) === 0 ? EIO : ENOSPC;
    return `${point} ${errno} ${[ONCE, FOR_EVER, HALF][random.below(3)]}`;
  });
  // In memory where there is such a place: the shim makes the faults, a disk would only take its time.
  const home = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'ringbook-faults-'));
  for (let next = 0; next < plans.length; ) {
    const ends = faultedLives(shim, seed, home, { first: next, plans: plans.slice(next, next + LIVES_PER_CHILD) });
    for (const { error } of ends) {
      if (error === 'StorageError') counts.ended += 1;
      if (error !== null && CRASHES.includes(error)) counts.crashed += 1;
      const problem = await problemAfterFault(join(home, String(next)), error);
      if (problem !== null) counts.problems.push(`seed ${seed}, plan "${plans[next]}": ${problem}`);
      next += 1;
    }
  }
  rmSync(home, { recursive: true });
  return counts;
}

/** lmdb's way out of an error writes beyond its heap now and then: the process is gone, which is what a node would be. */
const CRASHES: readonly string[] = ['SIGABRT', 'SIGSEGV', 'SIGBUS'];

/** How the lives of one process ended; where it crashed, the last of them is the one that was. */
function faultedLives(
  shim: string,
  seed: number,
  home: string,
  { first, plans }: { readonly first: number; readonly plans: readonly string[] },
): readonly Ended[] {
  const args = ['faults', String(seed), home, String(STEPS), String(first), ...plans];
  const { stdout, how } = child(shim, args);
  const ends = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Ended);
  // A heap that an earlier life has broken may also show at the very end.
  return how === 0 || ends.length === plans.length ? ends : [...ends, { error: String(how) }];
}

async function problemAfterFault(directory: string, error: string | null): Promise<string | null> {
  if (error !== null && error !== 'StorageError' && !CRASHES.includes(error)) return `it ended with ${error}`;
  const { record, checkpoint } = promisedIn(`${directory}.marks`);
  try {
    const found = await recoveredAndReplayed(directory);
    if (found.sequence < record || found.sequence > record + 1) return `record ${found.sequence}, promised ${record}`;
    return found.checkpoint < checkpoint ? `checkpoint ${found.checkpoint}, promised ${checkpoint}` : null;
  } catch (thrown) {
    // A first commit that failed leaves nothing to open.
    return record === 0 ? null : String(thrown);
  }
}

function promisedIn(path: string): Promised {
  const promised = { record: 0, checkpoint: 0 };
  for (const line of readFileSync(path, 'latin1').split('\n')) takeMark(line, promised);
  return promised;
}

function child(
  shim: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): { readonly stdout: string; readonly how: number | string } {
  const { stdout, status, signal } = spawnSync(process.execPath, [CHILD, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env, LD_PRELOAD: shim },
    maxBuffer: 1 << 26,
  });
  return { stdout, how: status ?? signal ?? 'nothing' };
}
