// tier: full
/**
 * Random histories of clearing with their rows: they add up after every batch, they are the same from tables that are loaded
 * anywhere, a recorder decides nothing, and cuts of batches change only what is of a record. The golden history, which has
 * every kind of input, has rows of every kind.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { applyBatch, settleBatch } from '../../src/clearing/clearing.ts';
import type { Effect } from '../../src/clearing/effects.ts';
import type { Batch } from '../../src/clearing/inputs.ts';
import { decodeBatch } from '../../src/clearing/journal-batch.ts';
import { OutcomeRecorder } from '../../src/clearing/outcomes.ts';
import { TableLoad } from '../../src/clearing/recovery.ts';
import { placeStart } from '../../src/clearing/registry/registry-config.ts';
import { beginRestart, restartOrder } from '../../src/clearing/restart.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { stateHash } from '../../src/clearing/state-hash.ts';
import { canCheckpoint } from '../../src/clearing/tables.ts';
import type { Sequence } from '../../src/core/units.ts';
import { ROW_KIND_NAMES } from '../../src/evidence/row-kinds.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { readJournal } from '../../src/storage/journal.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { Player } from '../support/clearing-player.ts';
import { step } from '../support/clearing-steps.ts';
import { PlainTables } from '../support/clearing-world.ts';
import { placeGolden, readGolden } from '../support/golden-data.ts';
import { propertyParameters } from '../support/property.ts';
import { type ReadRow, RowLedger } from '../support/row-ledger.ts';
import { assertMirrored, RowMirror, rowsOf } from '../support/row-mirror.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PARAMETERS = propertyParameters(25);

suite('EXP-00, LDG-01 rows of random histories', () => {
  const steps = fc.array(step, { minLength: 20, maxLength: 100, size: '+1' });

  test('LDG-01 the rows add up to every balance and leg after each batch, and tables that are loaded anywhere give the same', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 9 }), (played, every) => {
        const player = new Player();
        player.compares = false;
        for (const item of played) player.play(item);
        const { journal, rowLog } = player.world;
        assertMirrored(journal, rowLog.outcomes, every);
        const ledger = new RowLedger(1);
        const state = createClearingState();
        for (const batch of journal) {
          ledger.begin(state);
          applyBatch(state, batch, []);
          ledger.check(state, batch.timeNs);
        }
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });

  test('EXP-00 a state with a recorder decides as one without', () => {
    fc.assert(
      fc.property(steps, (played) => {
        const player = new Player();
        player.compares = false;
        for (const item of played) player.play(item);
        const run = (recorder: OutcomeRecorder | null): readonly unknown[] => {
          const state = createClearingState();
          state.outcomes = recorder;
          const effects: Effect[] = [];
          for (const batch of player.world.journal) applyBatch(state, batch, effects);
          return [stateHash(state), effects];
        };
        assert.deepEqual(run(new OutcomeRecorder()), run(null));
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });

  test('EXP-00 a start that sends while it loads records what a replay of its record does', () => {
    let ended = 0;
    fc.assert(
      fc.property(steps, (played) => {
        const player = new Player();
        player.compares = false;
        for (const item of played) player.play(item);
        const { state, nowNs } = player.world;
        if (!canCheckpoint(state)) return;
        const tables = new PlainTables();
        tables.checkpoint(state);
        const rows = tables.rows();
        const orderCount = rows.filter(({ table }) => table === 'order').length;
        const live = new OutcomeRecorder();
        const checkpoint = { timeNs: nowNs, sequence: 1 as Sequence, clean: true, stateHash: stateHash(state) };
        const of = { rows, rowCount: rows.length, orderCount, lastTimeNs: nowNs, batches: [], batchCount: 0 };
        const load = new TableLoad({ checkpoint, ...of }, {});
        for (const _ of load.ledger(rows.length - orderCount)) assert.ok(true);
        load.state.outcomes = live;
        live.begin();
        beginRestart(load.state, { clean: true });
        for (const order of load.orders()) if (!restartOrder(load.state, order, nowNs, [])) ended += 1;
        placeStart(load.state, nowNs);
        settleBatch(load.state, nowNs, []);
        live.close();

        const replayed = tables.load();
        const again = new OutcomeRecorder();
        replayed.outcomes = again;
        applyBatch(replayed, { timeNs: nowNs, inputs: [{ kind: 'restarted', clean: true }], verdicts: [] }, []);
        assert.deepEqual(rowsOf(live.bytes), rowsOf(again.bytes));
        assert.equal(Buffer.compare(live.bytes, again.bytes), 0);
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
    assert.ok(ended > 0, 'orders end at a start');
  });

  test('EXP-00 other cuts of batches give the same rows, but for positions, which are those of a record', () => {
    fc.assert(
      fc.property(steps, (played) => {
        const player = new Player();
        player.compares = false;
        for (const item of played.filter(({ kind }) => kind !== 'pass')) player.play(item);
        const { journal, nowNs: timeNs } = player.world;
        const run = (batches: readonly Batch[]): unknown[] => {
          const state = createClearingState();
          const ledger = new RowLedger();
          return batches.flatMap((batch) => {
            ledger.begin(state);
            applyBatch(state, batch, []);
            ledger.check(state, batch.timeNs);
            return ledger.rows
              .filter((row) => row['kind'] !== 'position')
              .map(({ sequence, index, time_ns, ...row }) => row);
          });
        };
        const inputs = journal.flatMap((batch) => batch.inputs);
        const verdicts = journal.flatMap((batch) => batch.verdicts);
        const chained = run([{ timeNs, inputs, verdicts }]).map((row) => ({ ...(row as ReadRow), n: 0, previous: '' }));
        const single = run(journal).map((row) => ({ ...(row as ReadRow), n: 0, previous: '' }));
        assert.deepEqual(chained, single);
      }),
      { ...PARAMETERS, includeErrorInReport: true },
    );
  });

  test('EXP-00, LDG-01 the golden history: the same states, rows of every kind, and the same from tables', async () => {
    const golden = readGolden(DATA_VERSION);
    const directory = temporaryDirectory();
    placeGolden(golden, directory);
    const known = new Map(golden.hashes);
    const state = createClearingState();
    const ledger = new RowLedger(1);
    const mirror = new RowMirror(29);
    await withReader(directory, (reader) => {
      for (const { sequence, payload } of readJournal(reader, 1 as Sequence)) {
        const batch = decodeBatch(payload);
        ledger.begin(state);
        applyBatch(state, batch, []);
        mirror.apply(decodeBatch(payload), ledger.check(state, batch.timeNs));
        const hash = known.get(sequence as Sequence);
        if (hash !== undefined) assert.equal(stateHash(state), hash);
      }
    });
    const kinds = new Set([...ledger.counts.keys()].map((name) => name.split(' ')[0]));
    assert.deepEqual(
      ROW_KIND_NAMES.filter((kind) => !kinds.has(kind)),
      [],
      [...ledger.counts].join(' '),
    );
  });
});
