/**
 * A node of a seed on a real map, as a process of its own, to be killed or put under the shim (io-shim.c):
 *
 *   node life-child.js endless <seed> <home>                  lives on in <home>/data; says what it makes durable, and
 *                                                             each side of a fill that is reported as confirmed
 *   node life-child.js trace <seed> <home> <steps>              lives once; "record 7" and "checkpoint 5" are marks
 *   node life-child.js faults <seed> <home> <steps> <index> <plan>…   lives once for each plan "<n> <errno> <how>", each in a
 *                                                             directory <home>/<index>; a JSON line tells how it
 *                                                             ended, <home>/<index>.marks what was reported as durable
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
import { Life, live, WatchedDurability } from './lived-data.ts';

/** How one life ended. */
export interface Ended {
  /** Name of the error; null when no call failed. */
  readonly error: string | null;
}

const MAP_BYTES = 1 << 28;
const [, , program = '', seed = '', home = '', steps = '', ...plans] = process.argv;

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

async function liveForEver(directory: string): Promise<never> {
  const disk = new LmdbDurability(directory, { mapBytes: MAP_BYTES });
  const say = (what: string, sequence: number): void => void writeSync(1, `${what} ${sequence}\n`);
  const life = new Life(new WatchedDurability(disk, say), Number(seed));
  const { node } = life;
  for (let told = 0; ; ) {
    life.step();
    for (; told < node.told.length; told += 1) {
      const fill = node.told[told];
      if (fill?.trade.status !== 'Confirmed') continue;
      writeSync(1, `fill ${fill.trade.assetId} ${fill.trade.tradeId} ${fill.trade.isMaker ? 'maker' : 'taker'}\n`);
    }
  }
}

if (program === 'endless') {
  await liveForEver(join(home, 'data'));
} else if (program === 'trace') {
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
