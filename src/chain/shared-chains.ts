/**
 * Simulated chains of a cluster, in one directory that all its nodes see (`chainsDirectory`, cluster.md 3). The leader of an epoch writes
 * below a name of that epoch alone, so one that is over, and was stopped in the middle of a write, changes nothing of its successor's:
 *
 *   <directory>/epoch-4/…   of the leader before
 *   <directory>/epoch-5/…   made when the leader of epoch 5 opens the chains: a copy of the newest before, cursors first
 *
 * Cursors are copied before chains, so none is ahead of its chain. What a leader without its lease has mined later is in no copy: it
 * has answered nothing of it (simulated-executor.ts).
 *
 * Not here: what the files hold (chain-store.ts, event-cursor.ts).
 */
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ChainStore } from './chain-store.ts';
import { saveStateFile } from './state-file.ts';

const EPOCH = /^epoch-([1-9][0-9]{0,15})$/;
/** Below a directory of chains: cursors, then chains. */
const PARTS = ['evm', 'chains'] as const;
/** Epochs that are kept: the own one, and the one that it was copied from. */
const KEPT = 2;

/**
 * The chains for the leader of this epoch. Call when its takeover is stored.
 *
 * @param directory exists, or is made; one of a node that was alone is taken as it is. @throws Error when it cannot be read or written.
 */
export async function openSharedChains(directory: string, epoch: number): Promise<ChainStore> {
  await mkdir(directory, { recursive: true });
  const own = join(directory, nameOf(epoch));
  const before = (await epochsIn(directory)).filter((one) => one <= epoch);
  if (!before.includes(epoch)) {
    const [newest] = before;
    await adopt(newest === undefined ? directory : join(directory, nameOf(newest)), own);
    await syncDirectory(directory);
  }
  const kept = [...new Set([epoch, ...before])].slice(0, KEPT);
  for (const one of before) {
    if (!kept.includes(one)) await rm(join(directory, nameOf(one)), { recursive: true, force: true });
  }
  return new ChainStore(own);
}

function nameOf(epoch: number): string {
  return `epoch-${epoch}`;
}

/** The newest first. */
async function epochsIn(directory: string): Promise<readonly number[]> {
  const found = (await readdir(directory)).flatMap((name) => EPOCH.exec(name)?.[1] ?? []);
  return found.map(Number).sort((a, b) => b - a);
}

/** Appears whole, or not. */
async function adopt(from: string, to: string): Promise<void> {
  const made = `${to}.new`;
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { recursive: true });
  for (const part of PARTS) {
    for (const name of await namesIn(join(from, part))) {
      if (!name.endsWith('.json')) continue;
      await saveStateFile(join(made, part, name), await readFile(join(from, part, name), 'utf8'));
    }
  }
  await syncDirectory(made);
  await rename(made, to);
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
