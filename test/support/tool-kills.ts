/**
 * kill -9 of the commands that change a data directory, at any moment of their work: upgrade and prune.
 *
 *   a directory ─▶ command ✂ ─▶ usable: of the old version, untouched, or of the new one, whole ─▶ command ─▶ as if nothing
 *
 * Whatever the moment, everything that the directory held is there after the command was run once more, and its journal
 * leads to its state.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DATA_VERSION, dataVersionOf } from '../../src/storage/environment.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { auditData, replayData, withReader } from '../../src/tools/audit-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';
import { makeSnapshot, pruneData } from '../../src/tools/snapshot-data.ts';
import { upgradeData } from '../../src/tools/upgrade-data.ts';
import { live } from './lived-data.ts';
import { OLD_VERSIONS, oldData } from './old-data.ts';
import { SeededRandom } from './simulation.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const STEPS = 400;
const SAID = ['trades', 'balances', 'positions'] as const;
/** Points that a command passes, in its order. */
const UPGRADE_MARKS = [
  /^upgrade\.half.6/,
  /^upgrade\.half.7/,
  /^upgrade\.half.8/,
  /^data-[567]-at-/,
  /^snapshots.[0-9]{16}/,
];
const PRUNE_MARKS = [/^snapshots.new\.half.ledger\.mdb$/, /^snapshots.new$/];
const AFTER_MARK_MS = 150;
const quiet = (): void => undefined;

export interface ToolKills {
  kills: number;
  /** Kills before the command had changed anything that counts. */
  before: number;
  /** Kills after which the work was done, but for the command's last words. */
  done: number;
  readonly problems: string[];
}

/** Kills `ringbook upgrade` of directories of older versions. */
export async function killUpgrades(seed: number, kills: number): Promise<ToolKills> {
  const random = new SeededRandom(seed);
  const counts: ToolKills = { kills, before: 0, done: 0, problems: [] };
  const wholeMs = await timeOf(
    (directory) => ['upgrade', directory],
    () => oldData(5).directory,
  );
  for (let kill = 0; kill < kills; kill += 1) {
    const version = OLD_VERSIONS[random.below(OLD_VERSIONS.length)] ?? 5;
    const { directory, said } = oldData(version);
    const old = readFileSync(join(directory, MAP_FILE_NAME));
    const moment = momentOf(directory, UPGRADE_MARKS, { wholeMs, random });
    const problem = await killed(['upgrade', directory], moment, async () => {
      const found = await dataVersionOf(directory);
      if (found === DATA_VERSION) counts.done += 1;
      else if (!readFileSync(join(directory, MAP_FILE_NAME)).equals(old)) return 'the old map is changed';
      else counts.before += 1;
      await upgradeData(directory, quiet);
      const holds = await heldBy(directory);
      const missing = SAID.find((what) => holds[what] !== said[what].join('\n'));
      return missing === undefined ? null : `its ${missing} are others`;
    });
    if (problem !== null) counts.problems.push(`seed ${seed}, kill ${kill} of version ${version}: ${problem}`);
  }
  return counts;
}

/** Kills `ringbook prune` of a directory with two snapshots and a journal behind them. */
export async function killPrunes(seed: number, kills: number): Promise<ToolKills> {
  const random = new SeededRandom(seed);
  const counts: ToolKills = { kills, before: 0, done: 0, problems: [] };
  const whole = await livedDirectory(seed);
  const copy = (): string => {
    const directory = join(temporaryDirectory(), 'data');
    cpSync(whole, directory, { recursive: true });
    return directory;
  };
  const wholeMs = await timeOf((directory) => ['prune', directory, '--keep', '1'], copy);
  const expected = await heldBy(whole);
  for (let kill = 0; kill < kills; kill += 1) {
    const directory = copy();
    const moment = momentOf(directory, PRUNE_MARKS, { wholeMs, random });
    const problem = await killed(['prune', directory, '--keep', '1'], moment, async () => {
      const { map, stateHash } = await auditData(directory, quiet);
      if (map.firstSequence === 1) counts.before += 1;
      const replayed = await replayData(directory, null, quiet);
      if (replayed.stateHash !== stateHash) return 'its journal leads elsewhere';
      const { firstSequence } = await pruneData(directory, 1, quiet);
      if (firstSequence === map.firstSequence) counts.done += 1;
      const holds = await heldBy(directory);
      const missing = [...SAID, 'stateHash' as const].find((what) => holds[what] !== expected[what]);
      return missing === undefined ? null : `its ${missing} are others`;
    });
    if (problem !== null) counts.problems.push(`seed ${seed}, kill ${kill}: ${problem}`);
  }
  return counts;
}

async function livedDirectory(seed: number): Promise<string> {
  const directory = temporaryDirectory();
  for (const part of [0, 1]) {
    const durability = new LmdbDurability(directory, { mapBytes: 1 << 28 });
    live(durability, seed + part, STEPS);
    await durability.close();
    if (part === 0) await makeSnapshot(directory, quiet);
  }
  return directory;
}

type Held = Readonly<Record<(typeof SAID)[number] | 'stateHash', string>>;

/** The content of a directory, after an audit and a replay of its journal. */
async function heldBy(directory: string): Promise<Held> {
  const { stateHash } = await auditData(directory, quiet);
  await replayData(directory, null, quiet);
  return withReader(directory, (reader) => {
    const [trades = '', balances = '', positions = ''] = SAID.map((what) => [...exportLines(reader, what)].join('\n'));
    return { trades, balances, positions, stateHash };
  });
}

async function timeOf(args: (directory: string) => readonly string[], make: () => string): Promise<number> {
  const directory = make();
  const startedMs = performance.now();
  const child = spawn(process.execPath, [CLI, ...args(directory)], { stdio: ['ignore', 'ignore', 'inherit'] });
  await once(child, 'exit');
  return performance.now() - startedMs;
}

/** When a command is killed: so long after its start, or after there is a file with a matching name. */
interface Moment {
  readonly directory: string;
  readonly mark: RegExp | null;
  readonly afterMs: number;
}

/** Two of three times shortly after the command has come to a certain point, else anywhere in its work. */
function momentOf(
  directory: string,
  marks: readonly RegExp[],
  { wholeMs, random }: { readonly wholeMs: number; readonly random: SeededRandom },
): Moment {
  const share = random.below(1_000) / 1_000;
  const mark = marks[random.below(Math.ceil(1.5 * marks.length))];
  if (mark !== undefined) return { directory, mark, afterMs: share * AFTER_MARK_MS };
  // The first fifth is the start of the process.
  return { directory, mark: null, afterMs: wholeMs * (0.2 + 0.85 * share) };
}

async function untilMoment({ directory, mark, afterMs }: Moment, isOver: () => boolean): Promise<void> {
  const isThere = (): boolean => {
    return (
      mark === null || readdirSync(directory, { recursive: true, encoding: 'utf8' }).some((name) => mark.test(name))
    );
  };
  const look = (): boolean => {
    try {
      return isThere();
    } catch {
      // What was being listed is gone meanwhile.
      return false;
    }
  };
  while (!isOver() && !look()) await new Promise((resolve) => setTimeout(resolve, 1));
  await new Promise((resolve) => setTimeout(resolve, afterMs));
}

/** @returns what is wrong afterwards; null for nothing. */
async function killed(
  args: readonly string[],
  moment: Moment,
  check: () => Promise<string | null>,
): Promise<string | null> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  await untilMoment(moment, () => child.exitCode !== null);
  child.kill('SIGKILL');
  const [code] = (await ended) as [number | null];
  if (code !== null && code !== 0) return `it ended with ${code}`;
  return check().catch(String);
}
