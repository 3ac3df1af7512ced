/**
 * Golden data: a directory that a version of ringbook left after a life with inputs of every kind, and what it knew of it
 * (test/reliability/make-golden.ts). Its journal, replayed by any later code of the same version of the data, must give
 * the same states; code that gives others has another version, and an upgrade.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { ClearingInput } from '../../src/clearing/inputs.ts';
import { decodeBatch } from '../../src/clearing/journal-batch.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { canCheckpoint, drainDirtyRows } from '../../src/clearing/tables.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { MAP_FILE_NAME } from '../../src/storage/map-file.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { exportLines } from '../../src/tools/export-data.ts';

/** Records between two states that are kept. */
const HASHED_EVERY = 25;
const CHECKPOINT_EVERY = 150;
export const TOLD = ['trades', 'balances', 'positions'] as const;

/** Every kind of input; complete by type, so that a new kind needs new golden data. */
export const INPUT_KINDS: Readonly<Record<ClearingInput['kind'], true>> = {
  created: true,
  createRefused: true,
  replaced: true,
  ended: true,
  restored: true,
  triggered: true,
  activated: true,
  cancelPending: true,
  matched: true,
  putAsset: true,
  putRisk: true,
  putMarket: true,
  patchUser: true,
  putConfig: true,
  operatorCall: true,
  statement: true,
  setPrices: true,
  faucet: true,
  deposit: true,
  creditUnclaimed: true,
  vaultDeviation: true,
  acceptDeviation: true,
  lotsDue: true,
  transfer: true,
  closePosition: true,
  withdraw: true,
  cancelWithdrawal: true,
  withdrawalsDue: true,
  vaultCheckpoint: true,
  approvalSigned: true,
  approvalLapsed: true,
  withdrew: true,
  settle: true,
  settlementSigned: true,
  settlementRefused: true,
  settlementLapsed: true,
  settled: true,
  payoutVanished: true,
  settlementVanished: true,
  forcedWithdrawal: true,
  chainStep: true,
  renameSubAccount: true,
  putProtection: true,
  deleteProtection: true,
  resetProtection: true,
  protectionTriggered: true,
  protectionEnded: true,
  addSigner: true,
  hold: true,
  release: true,
  fault: true,
  clockMoved: true,
  tradeIdsReserved: true,
  quoteSetApplied: true,
  quoteSetEnded: true,
  accountCleared: true,
  nodeOrderRefused: true,
  liquidationStep: true,
  backstopStep: true,
  restarted: true,
  takeover: true,
  markTimer: true,
  handover: true,
};

export interface Golden {
  readonly version: number;
  /** Base64. */
  readonly map: string;
  /** State hashes by journal sequence, the last one of the end. */
  readonly hashes: readonly (readonly [Sequence, string])[];
  readonly told: Readonly<Record<(typeof TOLD)[number], readonly string[]>>;
}

function pathOf(version: number): string {
  return `test/fixtures/golden-${version}.json.gz`;
}

export function hasGolden(version: number): boolean {
  return existsSync(pathOf(version));
}

export function readGolden(version: number): Golden {
  return JSON.parse(gunzipSync(readFileSync(pathOf(version))).toString('utf8')) as Golden;
}

/** @returns the bytes of the file. */
export function writeGolden(golden: Golden): number {
  const bytes = gzipSync(JSON.stringify(golden), { level: 9 });
  writeFileSync(pathOf(golden.version), bytes);
  return bytes.length;
}

/** Lays the golden data into a directory. */
export function placeGolden({ map }: Golden, directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, MAP_FILE_NAME), Buffer.from(map, 'base64'));
}

export interface GoldenRecord {
  readonly timeNs: TimestampNs;
  readonly payload: Uint8Array;
}

/** Writes these records as a node would have, checkpoints and an orderly stop included. */
export async function goldenOf(version: number, records: readonly GoldenRecord[], directory: string): Promise<Golden> {
  const durability = new LmdbDurability(directory);
  const state = createClearingState();
  const hashes: [Sequence, string][] = [];
  for (const { timeNs, payload } of records) {
    const batch = decodeBatch(payload);
    const [first] = batch.inputs;
    const epoch = first?.kind === 'takeover' ? first.epoch : state.leadership.epoch;
    const sealed = durability.seal(timeNs, payload, epoch);
    durability.appendSealed(sealed, false);
    const { sequence } = sealed;
    applyBatch(state, batch, []);
    const isLast = sequence === records.length;
    if (isLast || sequence % HASHED_EVERY === 0) hashes.push([sequence, stateHash(state)]);
    if (isLast || (sequence % CHECKPOINT_EVERY === 0 && canCheckpoint(state))) {
      const hash = isLast ? stateHash(state) : null;
      durability.checkpoint({ timeNs, sequence, clean: isLast, stateHash: hash }, drainDirtyRows(state));
    }
  }
  await durability.close();
  const map = readFileSync(join(directory, MAP_FILE_NAME)).toString('base64');
  const [trades, balances, positions] = await Promise.all(TOLD.map((what) => toldIn(directory, what)));
  return { version, map, hashes, told: { trades: trades ?? [], balances: balances ?? [], positions: positions ?? [] } };
}

/** The content of the data, line by line. */
export function toldIn(directory: string, what: (typeof TOLD)[number]): Promise<readonly string[]> {
  return withReader(directory, (reader) => [...exportLines(reader, what)]);
}
