/**
 * Damages the map of a lived directory in every way of damage.ts and runs the verification on it.
 *
 *   detected    the verification refuses it
 *   harmless    it accepts it, and every entry is as it was: the damage hit free or unused bytes
 *   silent      it accepts it, and an entry is not as it was: there must be none
 */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { InvariantError } from '../../src/core/assert.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { walkMap } from '../../src/storage/map-pages.ts';
import { verifyMap } from '../../src/storage/verify-map.ts';
import { DAMAGES, stalePage } from './damage.ts';
import { directoryOf, livedImages } from './lived-data.ts';
import { SeededRandom } from './simulation.ts';

export interface DamageCounts {
  detected: number;
  harmless: number;
  /** What was done, each. */
  readonly silent: string[];
}

const STEPS = 500;

export async function damageCampaign(seed: number, images: number): Promise<DamageCounts> {
  const { earlier, bytes } = await livedImages(seed, STEPS);
  const directory = directoryOf(bytes);
  const path = join(directory, MAP_FILE_NAME);
  const sound = digest(path);
  const random = new SeededRandom(seed);
  const damages = [...DAMAGES, stalePage(earlier)];
  const counts: DamageCounts = { detected: 0, harmless: 0, silent: [] };
  for (let image = 0; image < images; image += 1) {
    const damage = damages[image % damages.length] ?? stalePage(earlier);
    const damaged = damage(bytes, random);
    directoryOf(damaged.bytes, directory);
    if (!isAccepted(directory)) counts.detected += 1;
    else if (digest(path) === sound) counts.harmless += 1;
    else counts.silent.push(damaged.what);
  }
  rmSync(directory, { recursive: true });
  return counts;
}

/** Whether a verification of the whole directory finds nothing. */
export function isAccepted(directory: string): boolean {
  try {
    verifyMap(directory, { since: null });
    return true;
  } catch (error) {
    if (error instanceof InvariantError) return false;
    throw error;
  }
}

/** Of every entry in its order. */
function digest(path: string): string {
  const hash = createHash('sha256');
  walkMap(path, {
    since: 0,
    entry: (key, value) => hash.update(`${key.length} ${value.length} `).update(key).update(value),
  });
  return hash.digest('hex');
}
