/**
 * kill -9 of a process that lives on a real map, at moments of its own, again and again on one directory; some kills
 * come while the process still recovers from the one before.
 *
 * After each: what was reported as durable is there, every side that was reported as confirmed is a trade of history,
 * none was reported twice, sequences went on, everything adds up, and the journal replayed gives the same state.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';
import { live } from './lived-data.ts';
import { type Promised, takeMark } from './power-loss.ts';
import { recoveredAndReplayed } from './recovered.ts';
import { SeededRandom } from './simulation.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const CHILD = fileURLToPath(new URL('./life-child.js', import.meta.url));
/** Its output before it is killed. */
const LINES_MAX = 200;
const STEPS_OF_THE_FIRST = 100;
/** From the start of the process on: within what it takes to load and recover. */
const EARLY_MS_MAX = 350;

export interface KillCounts {
  kills: number;
  /** Kills before the process had made anything durable: while it started or recovered. */
  early: number;
  /** Sides of fills that were reported as confirmed. */
  confirmed: number;
  records: number;
  readonly problems: string[];
}

export interface KillPlan {
  readonly kills: number;
  /** Each kill is followed by one while the next process starts or recovers; else a quarter of all come so early. */
  readonly isDouble?: boolean;
}

export async function killCampaign(seed: number, { kills, isDouble = false }: KillPlan): Promise<KillCounts> {
  const home = temporaryDirectory();
  const random = new SeededRandom(seed);
  const counts: KillCounts = { kills, early: 0, confirmed: 0, records: 0, problems: [] };
  const told = new Set<string>();
  // The first life makes the markets, and ends in order.
  const first = new LmdbDurability(join(home, 'data'));
  live(first, seed, STEPS_OF_THE_FIRST);
  await first.close();
  for (let kill = 0; kill < kills; kill += 1) {
    const isEarly = isDouble ? kill % 2 === 1 : random.below(4) === 0;
    const lines = await killedLife(random, { seed: seed + kill, home, isEarly });
    const problem = lines === null ? 'it ended by itself' : await problemAfter(lines, join(home, 'data'), told, counts);
    if (problem !== null) counts.problems.push(`seed ${seed}, kill ${kill}: ${problem}`);
    if (lines === null) break;
  }
  counts.confirmed = told.size;
  return counts;
}

/** The output of a process before it was killed; null when it ended by itself, as none should. */
async function killedLife(
  random: SeededRandom,
  { seed, home, isEarly }: { readonly seed: number; readonly home: string; readonly isEarly: boolean },
): Promise<readonly string[] | null> {
  const child = spawn(process.execPath, [CHILD, 'endless', String(seed), home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let said = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    said += text;
  });
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  const linesMin = 1 + random.below(LINES_MAX);
  const earlyMs = 1 + random.below(EARLY_MS_MAX);
  if (isEarly) await new Promise((resolve) => setTimeout(resolve, earlyMs));
  else while (isAlive() && said.split('\n').length <= linesMin) await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGKILL');
  const [code] = (await ended) as [number | null];
  if (code !== null) return null;
  // The last line may be cut: it was not reported.
  return said.split('\n').slice(0, -1);
}

async function problemAfter(
  lines: readonly string[],
  directory: string,
  told: Set<string>,
  counts: KillCounts,
): Promise<string | null> {
  const promised: Promised = { record: counts.records, checkpoint: 0 };
  const before = counts.records;
  for (const line of lines) {
    takeMark(line, promised);
    if (!line.startsWith('fill ')) continue;
    if (told.has(line)) return `${line} was told twice`;
    told.add(line);
  }
  if (promised.record === before) counts.early += 1;
  if (promised.record === 0) return null;
  try {
    const found = await recoveredAndReplayed(directory);
    counts.records = found.sequence;
    if (found.sequence < promised.record) return `record ${found.sequence}, promised ${promised.record}`;
    if (found.checkpoint < promised.checkpoint)
      return `checkpoint ${found.checkpoint}, promised ${promised.checkpoint}`;
    const trades = await tradesIn(directory);
    const lost = [...told].find((line) => !trades.has(line.split(' ').slice(1, 3).join(' ')));
    return lost === undefined ? null : `${lost} is not in history`;
  } catch (error) {
    return String(error);
  }
}

function tradesIn(directory: string): Promise<ReadonlySet<string>> {
  return withReader(directory, (reader) => {
    const trades = new Set<string>();
    for (const line of exportLines(reader, 'trades')) {
      const { market, trade_id: id } = JSON.parse(line) as { market: string; trade_id: number };
      trades.add(`${market} ${id}`);
    }
    return trades;
  });
}
