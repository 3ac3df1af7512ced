/**
 * Replays a journal and compares the evidence with it, record by record: rows, their chains, entries and leaves (EVD-05).
 *
 * Only records that both have are compared: the journal may have been pruned, and the files of old rows removed.
 */
import { recordOpening } from '../clearing/outcome-opening.ts';
import { OutcomeRecorder } from '../clearing/outcomes.ts';
import { applyRecord } from '../clearing/records.ts';
import { assert } from '../core/assert.ts';
import { toHex } from '../core/hex.ts';
import type { Sequence } from '../core/units.ts';
import { viewsOf } from '../core/views.ts';
import { evidenceFolder } from '../evidence/evidence-files.ts';
import { RecordMaker } from '../evidence/record-maker.ts';
import { tilesFolder } from '../evidence/row-log/evidence-paths.ts';
import { rowHead } from '../evidence/row-log/row-head.ts';
import { RowLogReader } from '../evidence/row-log/row-log-reader.ts';
import type { StoredRecord } from '../evidence/row-log/stored-records.ts';
import { leafHash } from '../evidence/tree/hashes.ts';
import { entriesRoot, entryHash, recordLeaf, Salts } from '../evidence/tree/record-leaf.ts';
import { TileFiles } from '../evidence/tree/tile-files.ts';
import { readJournal } from '../storage/journal.ts';
import { StorageError } from '../storage/storage-error.ts';
import { mustHoldData, type Progress, replayStart, withReader } from './audit-data.ts';

export interface EvidenceAudit {
  readonly first: number;
  readonly last: number;
  readonly records: number;
  readonly rows: number;
}

/**
 * @param snapshot where the replay begins: as that of replayData.
 * @param secret the 32 bytes of the log.
 * @throws InvariantError at the first record that differs, StorageError when there is no evidence.
 */
export async function auditEvidence(
  directory: string,
  { snapshot, secret }: { readonly snapshot: string | null; readonly secret: Uint8Array },
  progress: Progress,
): Promise<EvidenceAudit> {
  mustHoldData(directory);
  const log = RowLogReader.open(evidenceFolder(directory));
  const bounds = log?.bounds() ?? null;
  if (log === null || bounds === null) throw new StorageError(`${directory} has no evidence`);
  const tiles = new TileFiles(tilesFolder(evidenceFolder(directory)), 'read');
  try {
    return await withReader(directory, async (reader) => {
      const start = await replayStart(directory, reader, snapshot);
      const { state } = start;
      const recorder = new OutcomeRecorder();
      const maker = new RecordMaker(new Salts(secret));
      const check = new RecordCheck(secret);
      const from = Math.max(bounds.kept, start.sequence + 1);
      const stored = log.records(from);
      let [records, rows, last] = [0, 0, from - 1];
      for (const record of readJournal(reader, (start.sequence + 1) as Sequence)) {
        const { sequence } = record;
        if (sequence > bounds.last) break;
        // Nothing is recorded of what is not compared.
        state.outcomes = sequence < from ? null : recorder;
        if (sequence === bounds.first) recordOpening(state, recorder, sequence);
        applyRecord(state, record, []);
        if (sequence < from) continue;
        const value: StoredRecord | undefined = stored.next().value ?? undefined;
        const bytes = Uint8Array.from(recorder.bytes);
        const padded = new Uint8Array((bytes.length + 7) & ~7);
        padded.set(bytes);
        const views = viewsOf(padded.buffer, 0, padded.length);
        maker.compare(record, { views, from: 0, bytes: bytes.length }, value);
        if (value === undefined) break;
        check.check(value, tiles, sequence - bounds.first);
        records += 1;
        rows += value.rows.length;
        last = sequence;
        progress('replaying', sequence - from + 1, bounds.last - from + 1);
      }
      return { first: bounds.first, last, records, rows };
    });
  } finally {
    tiles.close();
    await log.close();
  }
}

/** That hashes are those of the rows, and each row of a user follows on the one before. */
class RecordCheck {
  readonly #salts: Salts;
  /** The last row of users that were seen. */
  readonly #ends = new Map<string, { readonly n: number; readonly hash: string }>();

  constructor(secret: Uint8Array) {
    this.#salts = new Salts(secret);
  }

  check(record: StoredRecord, tiles: TileFiles, leaf: number): void {
    const { sequence } = record;
    const hashes = record.rows.map((row, index) =>
      entryHash({ sequence, index, salt: this.#salts.salt(sequence, index) }, row),
    );
    for (const [index, row] of record.rows.entries()) {
      const { chain } = rowHead(row);
      if (chain === null) continue;
      const before = this.#ends.get(chain.user);
      const follows = before === undefined || (chain.n === before.n + 1 && chain.previous === before.hash);
      assert(follows, `the evidence of record ${sequence}: row ${index} does not follow on the row before of its user`);
      this.#ends.set(chain.user, { n: chain.n, hash: toHex(hashes[index] ?? new Uint8Array()) });
    }
    const isRoot = toHex(entriesRoot(hashes)) === toHex(record.entriesRoot);
    assert(isRoot, `the evidence of record ${sequence}: the root of its entries is not that of its rows`);
    if (leaf >= tiles.size) return;
    const isLeaf = toHex(tiles.read(0, leaf, 1)) === toHex(leafHash(recordLeaf(record)));
    assert(isLeaf, `the evidence of record ${sequence}: its leaf in the tree is another one`);
  }
}
