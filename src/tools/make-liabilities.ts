/**
 * What the venue owes, from a snapshot, as trees and a statement in the folder of the evidence (LIA-01, LIA-02). The thread of proofs of a node
 * that leads signs it, has its hash journaled, and answers users from it: at once, or once the node is started.
 *
 *   snapshot ─▶ conservation and sums counted anew ─▶ vaults compared ─▶ owed, with the last row of each user ─▶ trees ─▶ the folder
 */
import { checkSums } from '../clearing/checks.ts';
import { owedOf } from '../clearing/owed.ts';
import { nativeSha256 } from '../clearing/sha256.ts';
import { loadState } from '../clearing/tables.ts';
import { evidenceFolder, storedSecret } from '../evidence/evidence-files.ts';
import { newestHead } from '../evidence/heads/head-store.ts';
import { Liabilities } from '../evidence/liabilities/liabilities.ts';
import { StoredLiabilities, storedSequences, storeLiabilities } from '../evidence/liabilities/stored-liabilities.ts';
import { headsFolder, liabilitiesFolder } from '../evidence/row-log/evidence-paths.ts';
import { RowLogReader } from '../evidence/row-log/row-log-reader.ts';
import { entryHash, Salts } from '../evidence/tree/record-leaf.ts';
import type { SnapshotPlace } from '../storage/data-files.ts';
import { loadRows } from '../storage/load-rows.ts';
import { StorageError } from '../storage/storage-error.ts';
import { withReader } from './audit-data.ts';
import { comparedVaults, NoStatement } from './compared-vaults.ts';

const NS_PER_MS = 1_000_000n;
/** Snapshots are made at about the same distance: one that comes a little early is not left out. */
const EARLY_MS = 60_000;

export interface MadeLiabilities {
  readonly sequence: number;
  readonly assets: number;
  /** Chunks of all trees. */
  readonly leaves: number;
  readonly vaults: number;
}

/** Whether the newest statement is at least so old. */
export function isStatementDue(directory: string, everyMs: number, nowMs: number): boolean {
  const folder = liabilitiesFolder(evidenceFolder(directory));
  const newest = storedSequences(folder).at(-1);
  if (newest === undefined) return true;
  const { timeNs } = new StoredLiabilities(folder, newest).statement;
  return nowMs - Number(timeNs / NS_PER_MS) >= everyMs - EARLY_MS;
}

/**
 * @param snapshot of the directory's journal, of which the evidence is durable, as it is of every checkpoint.
 * @param secret the file of the evidence secret; null for the one in the directory.
 * @throws NoStatement where ledger and chains do not agree, or one waits; StorageError where there is no evidence, or no head yet.
 */
export async function makeLiabilities(
  directory: string,
  { sequence, path }: SnapshotPlace,
  secret: string | null,
): Promise<MadeLiabilities> {
  const folder = evidenceFolder(directory);
  const home = liabilitiesFolder(folder);
  const newest = storedSequences(home).at(-1);
  if (newest === sequence) throw new NoStatement(`there is a statement of record ${sequence} already`);
  if (newest !== undefined && new StoredLiabilities(home, newest).place === null)
    throw new NoStatement(`the statement of record ${newest} is not in the log yet: a node that leads puts it there`);
  const log = RowLogReader.open(folder);
  const head = newestHead(headsFolder(folder));
  if (log === null || head === null)
    throw new StorageError(`${directory} has no log of the evidence with a head: a node with "evidence" makes both`);
  try {
    const at = log.meta(sequence);
    if (at === null) throw new NoStatement(`record ${sequence} is not in the row log`);
    const state = await withReader(path, (reader) => loadState(loadRows(reader), nativeSha256));
    checkSums(state);
    const vaults = comparedVaults(state);
    const key = storedSecret(directory, secret);
    const salts = new Salts(key);
    const assets = owedOf(state);
    const users = new Set(assets.flatMap(({ accounts }) => accounts.map(({ user }) => user)));
    const lastRows = log.lastRowsAt(users, sequence, ({ sequence: of, index, bytes }) =>
      entryHash({ sequence: of, index, salt: salts.salt(of, index) }, bytes),
    );
    const { origin } = head.head;
    const lastRowOf = (user: string): { readonly n: number; readonly hash: Uint8Array } | null =>
      lastRows.get(user) ?? null;
    const ledger = { origin, sequence, timeNs: at.timeNs, secret: key, assets, lastRowOf, vaults };
    const liabilities = new Liabilities(ledger);
    storeLiabilities(home, liabilities);
    const leaves = liabilities.trees.reduce((sum, { tree }) => sum + tree.leaves, 0);
    return { sequence, assets: assets.length, leaves, vaults: vaults.length };
  } finally {
    await log.close();
  }
}
