/**
 * A node of a seed on a real map, as a process of its own under the shim (io-shim.c):
 *
 *   node io-child.js trace <seed> <steps> <home>              lives once; "record 7" and "checkpoint 5" are marks
 *   node io-child.js faults <seed> <steps> <home> <index> <plan>…   lives once for each plan "<n> <errno> <how>", each in a
 *                                                             directory <home>/<index>; a JSON line tells how it
 *                                                             ended, <home>/<index>.marks what was said to be durable
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LmdbDurability } from '../../src/node/lmdb-durability.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
import { live, WatchedDurability } from './lived-data.ts';

/** How one life ended. */
export interface Ended {
  /** Name of the error; null when no call failed. */
  readonly error: string | null;
}

const MAP_BYTES = 1 << 28;
const [, , program = '', seed = '', steps = '', home = '', ...plans] = process.argv;

function liveOnce(directory: string, durable: (what: string, sequence: number) => void): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const disk = new LmdbDurability(directory, { mapBytes: MAP_BYTES });
  live(new WatchedDurability(disk, durable), Number(seed), Number(steps));
  return disk.close();
}

async function endOf(plan: string, directory: string, plansFile: number): Promise<Ended> {
  const marks = openSync(`${directory}.marks`, 'w');
  let error: string | null = null;
  try {
    mkdirSync(directory, { recursive: true });
    writeSync(plansFile, plan);
    await liveOnce(directory, (what, sequence) => writeSync(marks, `${what} ${sequence}\n`));
  } catch (thrown) {
    error = thrown instanceof StorageError ? thrown.name : String(thrown);
  }
  writeSync(plansFile, '0 0 0');
  closeSync(marks);
  return { error };
}

if (program === 'trace') {
  const marks = openSync(join(home, 'life.marks'), 'w');
  await liveOnce(join(home, 'data'), (what, sequence) => writeSync(marks, `${what} ${sequence}\n`));
} else {
  const plansFile = openSync(join(home, 'life.plan'), 'w');
  const [first = '0', ...rest] = plans;
  for (const [index, plan] of rest.entries()) {
    const directory = join(home, String(Number(first) + index));
    writeSync(1, `${JSON.stringify(await endOf(plan, directory, plansFile))}\n`);
  }
}
