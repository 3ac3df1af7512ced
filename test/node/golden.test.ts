// tier: quick
/** Golden data: what a version of the data has left is replayed by all later code of that version to the same states. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import { decodeBatch } from '../../src/clearing/journal-batch.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import type { Sequence } from '../../src/core/units.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { readJournal } from '../../src/storage/journal.ts';
import { auditData, replayData, withReader } from '../../src/tools/audit-data.ts';
import { upgradeData } from '../../src/tools/upgrade-data.ts';
import { type Golden, hasGolden, INPUT_KINDS, placeGolden, readGolden, TOLD, toldIn } from '../support/golden-data.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** The first version of which there is golden data. */
const FIRST = 7;
const MAKE = 'node dist/test/reliability/make-golden.js';
const ADVICE =
  'data that nodes have left would no longer be what they said. If the change is meant: raise DATA_VERSION ' +
  `(src/storage/environment.ts), add a step to src/storage/upgrade-steps.ts, and make golden data by "${MAKE}"`;
const quiet = (): void => undefined;

/** Everything from one directory, which is read-only. */
async function placed(version: number): Promise<{ golden: Golden; directory: string }> {
  const golden = readGolden(version);
  const directory = temporaryDirectory();
  placeGolden(golden, directory);
  return { golden, directory };
}

function lastHash({ hashes }: Golden): string {
  return hashes.at(-1)?.[1] ?? assert.fail('golden data knows states');
}

/** A position of nothing is the same fact as none: a slot of it is made where an order is looked at. */
function isFact(line: string): boolean {
  return !line.endsWith('"base":"0","quote":"0"}');
}

suite('golden data', () => {
  test('there is some of this version of the data, with inputs of every kind', async () => {
    assert.ok(hasGolden(DATA_VERSION), `version ${DATA_VERSION} of the data has no golden data: "${MAKE}"`);
    const { directory } = await placed(DATA_VERSION);
    const kinds = await withReader(directory, (reader) => {
      return [...readJournal(reader, 1 as Sequence)].flatMap(({ payload }) => {
        return decodeBatch(payload).inputs.map(({ kind }) => kind);
      });
    });
    assert.deepEqual([...new Set(kinds)].sort(), Object.keys(INPUT_KINDS).sort());
  });

  test('its journal leads to the states that it led to when it was made (design 4)', async () => {
    const { golden, directory } = await placed(DATA_VERSION);
    const state = createClearingState();
    const known = new Map(golden.hashes);
    const effects: Effect[] = [];
    await withReader(directory, (reader) => {
      let from = 1;
      for (const { sequence, payload } of readJournal(reader, 1 as Sequence)) {
        applyBatch(state, decodeBatch(payload), effects);
        const hash = known.get(sequence as Sequence);
        if (hash === undefined) continue;
        assert.equal(stateHash(state), hash, `records ${from} to ${sequence} lead to another state: ${ADVICE}`);
        from = sequence + 1;
      }
    });
    // An order is taken only for what its worst fills can cost (MON-07), so that few of them are undone.
    for (const [kind, least] of [
      ['fillConfirmed', 20],
      ['fillRolledBack', 5],
    ] as const) {
      const count = effects.filter((effect) => effect.kind === kind).length;
      assert.ok(count >= least, `${count} ${kind}`);
    }
  });

  test('its tables are read, verified and replayed, and return what they returned', async () => {
    const { golden, directory } = await placed(DATA_VERSION);
    const { stateHash: hash, clean } = await auditData(directory, quiet);
    assert.deepEqual([hash, clean], [lastHash(golden), true], ADVICE);
    assert.equal((await replayData(directory, null, quiet)).stateHash, hash);
    for (const what of TOLD) assert.deepEqual(await toldIn(directory, what), golden.told[what], `${what}: ${ADVICE}`);
  });

  for (let version = FIRST; version < DATA_VERSION; version += 1) {
    test(`that of version ${version} is upgraded, and returns what it returned`, async () => {
      const { golden, directory } = await placed(version);
      const upgraded = await upgradeData(directory, quiet);
      assert.deepEqual([upgraded?.from, upgraded?.to], [version, DATA_VERSION]);
      const { stateHash: hash, clean } = await auditData(directory, quiet);
      assert.deepEqual([hash, clean], [upgraded?.stateHash, true]);
      for (const what of TOLD) {
        assert.deepEqual((await toldIn(directory, what)).filter(isFact), golden.told[what].filter(isFact), what);
      }
    });
  }
});
