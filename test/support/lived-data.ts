/**
 * Data directories that a node has lived in: the simulated node of a seed on a real map, with trades, finished orders,
 * checkpoints and a tail behind the last one. What was promised is noted as it happens.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointMark, Durability, JournalSize, Recovery } from '../../src/clearing/durability.ts';
import type { RowWrite } from '../../src/clearing/rows.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { prepareMarkets } from './simulated-markets.ts';
import { SIMULATION_START_NS, SimulatedNode } from './simulated-node.ts';
import { Traders } from './simulated-traders.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const EARLIER_CHECKPOINTS = 8;

/** A disk that reports when a record or a checkpoint has become durable. */
export class WatchedDurability implements Durability {
  readonly disk: LmdbDurability;
  readonly #durable: (what: 'record' | 'checkpoint', sequence: Sequence) => void;

  constructor(disk: LmdbDurability, durable: (what: 'record' | 'checkpoint', sequence: Sequence) => void) {
    this.disk = disk;
    this.#durable = durable;
  }

  recover(): Recovery {
    return this.disk.recover();
  }

  append(timeNs: TimestampNs, payload: Uint8Array): Sequence {
    const sequence = this.disk.append(timeNs, payload);
    this.#durable('record', sequence);
    return sequence;
  }

  checkpoint(mark: CheckpointMark, rows: readonly RowWrite[]): void {
    this.disk.checkpoint(mark, rows);
    this.#durable('checkpoint', mark.sequence);
  }

  prune(below: Sequence, recordsMax: number): boolean {
    return this.disk.prune(below, recordsMax);
  }

  get lastRecord(): Durability['lastRecord'] {
    return this.disk.lastRecord;
  }

  get journalSize(): JournalSize {
    return this.disk.journalSize;
  }

  signedText(marketIndex: number, orderSequence: Sequence): ReturnType<Durability['signedText']> {
    return this.disk.signedText(marketIndex, orderSequence);
  }

  rememberedIds(nowNs: TimestampNs): ReturnType<Durability['rememberedIds']> {
    return this.disk.rememberedIds(nowNs);
  }

  idWatermarks(): ReturnType<Durability['idWatermarks']> {
    return this.disk.idWatermarks();
  }

  close(): Promise<void> {
    return this.disk.close();
  }
}

/** Runs a node of a seed on a disk for so many steps. */
export function live(durability: Durability, seed: number, steps: number): void {
  const life = new Life(durability, seed);
  for (let step = 0; step < steps; step += 1) life.step();
}

/** A simulated node with its traders on what a disk holds, an empty one or that of an earlier life. */
export class Life {
  readonly node: SimulatedNode;
  readonly #traders: Traders;

  constructor(durability: Durability, seed: number) {
    const { lastTimeNs } = durability.recover();
    const isFirst = lastTimeNs === 0n;
    this.#traders = new Traders(seed, isFirst ? 'o-' : `o-${seed}-`);
    this.node = new SimulatedNode({
      durability,
      forged: this.#traders.forged,
      startNs: isFirst ? SIMULATION_START_NS : lastTimeNs,
      seed,
    });
    if (isFirst) prepareMarkets(this.node);
  }

  step(): void {
    if (this.#traders.random.below(3) === 0) this.#traders.act(this.node);
    this.node.simulation.step();
  }
}

/** The map of a lived directory in the middle of its life and at its end, as a kill would leave it. */
export async function livedImages(
  seed: number,
  steps: number,
): Promise<{ readonly earlier: Buffer; readonly bytes: Buffer }> {
  const home = temporaryDirectory();
  const durability = new LmdbDurability(home);
  let checkpoints = 0;
  let earlier = Buffer.alloc(0);
  const watched = new WatchedDurability(durability, (what) => {
    if (what === 'checkpoint') checkpoints += 1;
    if (checkpoints === EARLIER_CHECKPOINTS && earlier.length === 0) earlier = readFileSync(join(home, MAP_FILE_NAME));
  });
  live(watched, seed, steps);
  const bytes = readFileSync(join(home, MAP_FILE_NAME));
  await durability.close();
  return { earlier, bytes };
}

/** A directory that holds this map and nothing else. */
export function directoryOf(bytes: Uint8Array, directory: string = temporaryDirectory()): string {
  writeFileSync(join(directory, MAP_FILE_NAME), bytes);
  return directory;
}
