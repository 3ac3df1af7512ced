/** Clearing's disk: the journal, checkpoints and remembered ids in one LMDB environment (durability.ts). */
import type { IdWatermark, Tombstone } from '../clearing/checkpoint.ts';
import type { RowWrite } from '../clearing/rows.ts';
import { must } from '../core/assert.ts';
import { parseHex, toHex } from '../core/hex.ts';
import { CLOCK_SKEW_NS, ORDER_LIFE_NS } from '../core/limits.ts';
import type { Sequence, TimestampNs } from '../core/units.ts';
import { CheckpointWriter, readCheckpoint } from '../storage/checkpoint.ts';
import { openWriter, type StorageWriter } from '../storage/environment.ts';
import { loadIdWatermarks, loadRememberedIds } from '../storage/id-runs.ts';
import { Journal, readJournal } from '../storage/journal.ts';
import { HASH_BYTES } from '../storage/journal-record.ts';
import { loadRows } from '../storage/load-rows.ts';
import type { CheckpointMark, Durability, JournaledBatch, Recovery } from './durability.ts';

/** A checkpoint that is not the last of a stop carries no state hash: zeros. */
const NO_HASH = new Uint8Array(HASH_BYTES);

/** A finished order may be forgotten once a create with its id would be too old in any case (AMB-08, AMB-10). */
const FORGET_AFTER_NS = ORDER_LIFE_NS + CLOCK_SKEW_NS;

export class LmdbDurability implements Durability {
  private readonly writer: StorageWriter;
  private readonly journal: Journal;
  private readonly checkpoints: CheckpointWriter;

  /** @throws StorageError when the directory is held by another node, damaged or not writable. */
  constructor(directory: string, options: { readonly mapBytes: number }) {
    this.writer = openWriter(directory, options);
    this.journal = new Journal(this.writer);
    this.checkpoints = new CheckpointWriter(this.writer);
  }

  recover(): Recovery {
    const found = readCheckpoint(this.writer);
    const from = ((found?.sequence ?? 0) + 1) as Sequence;
    return {
      checkpoint:
        found === null
          ? null
          : {
              timeNs: this.lastTimeNs(),
              sequence: found.sequence,
              clean: found.clean,
              stateHash: found.clean ? toHex(found.stateHash) : null,
            },
      rows: loadRows(this.writer),
      lastTimeNs: this.lastTimeNs(),
      batches: this.journal.lastSequence >= from ? this.batches(from) : [],
    };
  }

  append(timeNs: TimestampNs, payload: Uint8Array): Sequence {
    return this.journal.append(timeNs, payload);
  }

  checkpoint(mark: CheckpointMark, rows: readonly RowWrite[]): void {
    const hash = mark.stateHash === null ? NO_HASH : must(parseHex(mark.stateHash, HASH_BYTES), 'a state hash is hex');
    this.checkpoints.write({
      sequence: mark.sequence,
      journalHash: this.journal.lastHash,
      stateHash: hash,
      clean: mark.clean,
      rows,
      forgetBeforeNs: (mark.timeNs - FORGET_AFTER_NS) as TimestampNs,
    });
  }

  rememberedIds(nowNs: TimestampNs): Iterable<Tombstone> {
    return loadRememberedIds(this.writer, nowNs);
  }

  idWatermarks(): Iterable<IdWatermark> {
    return loadIdWatermarks(this.writer);
  }

  close(): void {
    void this.writer.close();
  }

  private lastTimeNs(): TimestampNs {
    const { lastSequence } = this.journal;
    if (lastSequence === 0) return 0n as TimestampNs;
    const [last] = readJournal(this.writer, lastSequence);
    return must(last, 'the last record of the journal is there').timeNs;
  }

  private *batches(from: Sequence): Generator<JournaledBatch> {
    for (const record of readJournal(this.writer, from)) {
      yield { sequence: record.sequence as Sequence, payload: record.payload };
    }
  }
}
