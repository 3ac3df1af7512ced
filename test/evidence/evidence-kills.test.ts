// tier: full
/** The evidence of a whole node: killed at any moment, each journal record has its rows, once, and a replay gives the same. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { evidenceFolder, evidenceSecret } from '../../src/evidence/evidence-files.ts';
import { headsFolder } from '../../src/evidence/row-log/evidence-paths.ts';
import { RowLogReader } from '../../src/evidence/row-log/row-log-reader.ts';
import { checkpointSequence } from '../../src/storage/checkpoint.ts';
import { journalBounds } from '../../src/storage/journal.ts';
import { withReader } from '../../src/tools/audit-data.ts';
import { auditEvidence, type EvidenceAudit } from '../../src/tools/audit-evidence.ts';
import { backupData, restoreData } from '../../src/tools/copy-data.ts';
import { rebuildFrom } from '../../src/tools/export-data.ts';
import { checkBook, checkHistory, Load } from '../support/node-load.ts';
import { barrier, type NodeProcess, OPERATOR_TOKEN, startNode, stopNode } from '../support/node-process.ts';
import { aMoment } from '../support/patience.ts';
import { SeededRandom } from '../support/simulation.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const WITH_EVIDENCE = fileURLToPath(new URL('../../../test/fixtures/dev-with-evidence.json', import.meta.url));
const KILLS = 20;
const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}` };
const KILL_MS_MAX = 900;

function start(dataDirectory: string, killAfterMs?: number): Promise<NodeProcess> {
  const kill = killAfterMs === undefined ? {} : { killAfterMs };
  return startNode({ profile: 'dev', dataDirectory, env: { RINGBOOK_CONFIG: WITH_EVIDENCE }, ...kill });
}

async function audited(
  dataDirectory: string,
): Promise<EvidenceAudit & { readonly journal: number; readonly checkpoint: number }> {
  const secret = evidenceSecret(dataDirectory, null);
  const audit = await auditEvidence(dataDirectory, { snapshot: null, secret }, () => undefined);
  const [journal, checkpoint] = await withReader(dataDirectory, (reader) => [
    journalBounds(reader).lastSequence,
    checkpointSequence(reader),
  ]);
  return { ...audit, journal: journal ?? 0, checkpoint: checkpoint ?? 0 };
}

suite('evidence of a node', () => {
  test('EXP-00: after 20 kills under load each record has its rows, once, and a replay of the journal gives them', async () => {
    const dataDirectory = temporaryDirectory();
    const random = new SeededRandom(34);
    const marginIds = new Set<string>();
    try {
      let node = await start(dataDirectory);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const load = new Load(node, random, marginIds);
        void load.run().catch(() => undefined);
        await load.untilTold(5);
        await aMoment(random.below(KILL_MS_MAX));
        await stopNode(node, 'SIGKILL');
        load.close();
        const after = await audited(dataDirectory);
        assert.ok(after.last >= after.checkpoint, `rows up to ${after.last}, tables up to ${after.checkpoint}`);
        // Also while it recovers from the kill before.
        if (kill % 3 === 2)
          await start(dataDirectory, 100 + random.below(1_500)).then(
            (early) => stopNode(early, 'SIGKILL'),
            () => undefined,
          );
        node = await start(dataDirectory);
        if (kill % 5 === 0) {
          await barrier(node);
          await checkHistory(node, load, marginIds);
          await checkBook(node);
        }
      }
      assert.equal(await stopNode(node), 0, node.stderr());
      const all = await audited(dataDirectory);
      assert.equal(all.first, 1);
      assert.equal(all.last, all.journal, 'a node that was stopped has the rows of its whole journal');
      assert.equal(all.records, all.journal);
      assert.ok(all.rows > 2 * all.records, `${all.rows} rows`);
    } finally {
      removeDirectory(dataDirectory);
    }
  });

  test('EXP-00: no checkpoint of the tables passes what is durable in the evidence', async () => {
    const dataDirectory = temporaryDirectory();
    const node = await start(dataDirectory);
    const load = new Load(node, new SeededRandom(3), new Set());
    void load.run().catch(() => undefined);
    const checkpoints = new Set<number>();
    try {
      for (let look = 0; look < 3_000 && checkpoints.size < 8; look += 1) {
        const page = await (await fetch(`${node.ops}/metrics`, { headers: OPERATOR })).text();
        const figure = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1]);
        const checkpoint = figure('ringbook_checkpoint_sequence');
        const durable = figure('ringbook_evidence_durable_sequence');
        assert.ok(durable >= checkpoint, `the tables have record ${checkpoint}, the evidence ${durable}`);
        checkpoints.add(checkpoint);
        await aMoment(5);
      }
      assert.equal(checkpoints.size, 8);
    } finally {
      load.close();
      await stopNode(node, 'SIGKILL');
      removeDirectory(dataDirectory);
    }
  });

  test('LDG-01: turned on over existing data the log begins with opening rows, also when it is killed right then', async () => {
    const dataDirectory = temporaryDirectory();
    try {
      let node = await startNode({ profile: 'dev', dataDirectory });
      const load = new Load(node, new SeededRandom(7), new Set());
      void load.run().catch(() => undefined);
      await load.untilTold(20);
      // Its tables hold everything: nothing of it is replayed.
      await stopNode(node);
      load.close();
      assert.ok(!existsSync(evidenceFolder(dataDirectory)));
      for (const ms of [700, 900, 1_100, 1_300])
        await start(dataDirectory, ms).then(
          (early) => stopNode(early, 'SIGKILL'),
          () => undefined,
        );
      node = await start(dataDirectory);
      assert.equal(await stopNode(node), 0, node.stderr());
      const audit = await audited(dataDirectory);
      assert.ok(audit.first > 1);
      assert.equal(audit.last, audit.journal);
      const reader = RowLogReader.open(evidenceFolder(dataDirectory));
      assert.ok(reader !== null);
      const rows = reader.record(audit.first)?.rows.map((row) => Buffer.from(row).toString()) ?? [];
      assert.match(
        rows[0] ?? '',
        new RegExp(`"kind":"statement","subject":"log","text":"ringbook/log/v1\\\\nfirst ${audit.first}\\\\n"`),
      );
      assert.ok(rows.filter((row) => row.includes('"entry":"opening"')).length > 4);
      await reader.close();
    } finally {
      removeDirectory(dataDirectory);
    }
  });

  test('EXP-00: a backup of a running node, a restore of it and a rebuild of its journal carry the evidence', async () => {
    const home = temporaryDirectory();
    const dataDirectory = join(home, 'data');
    try {
      let node = await start(dataDirectory);
      const load = new Load(node, new SeededRandom(11), new Set());
      void load.run().catch(() => undefined);
      mkdirSync(headsFolder(evidenceFolder(dataDirectory)), { recursive: true });
      writeFileSync(join(headsFolder(evidenceFolder(dataDirectory)), 'kept.jsonl'), '');
      for (let copy = 0; copy < 4; copy += 1) {
        await load.untilTold(30 * (copy + 1));
        await backupData(dataDirectory, join(home, `backup-${copy}`), () => undefined);
      }
      await stopNode(node, 'SIGKILL');
      load.close();
      for (let copy = 0; copy < 4; copy += 1) {
        const restored = join(home, `restored-${copy}`);
        await restoreData(join(home, `backup-${copy}`), restored, () => undefined);
        assert.ok(existsSync(join(headsFolder(evidenceFolder(restored)), 'kept.jsonl')), 'heads go along');
        const before = await audited(restored);
        assert.ok(before.last >= before.checkpoint && before.last <= before.journal);
        node = await start(restored);
        assert.equal(await stopNode(node), 0, node.stderr());
        const after = await audited(restored);
        assert.equal(after.last, after.journal);
        assert.equal(after.records, after.journal);
      }
      const rebuilt = join(home, 'rebuilt');
      const killed = await audited(dataDirectory);
      await rebuildFrom(dataDirectory, rebuilt, null, () => undefined);
      const found = await audited(rebuilt);
      assert.deepEqual([found.last, found.journal], [killed.last, killed.journal]);
      assert.ok(found.checkpoint <= found.last);
      node = await start(rebuilt);
      assert.equal(await stopNode(node), 0, node.stderr());
      const started = await audited(rebuilt);
      assert.equal(started.records, started.journal);
    } finally {
      removeDirectory(home);
    }
  });

  test('EVD-05: a log that is gone, or ends before the tables, refuses the start with 78 and what to do', async () => {
    const dataDirectory = temporaryDirectory();
    const old = temporaryDirectory();
    try {
      let node = await start(dataDirectory);
      assert.equal(await stopNode(node), 0, node.stderr());
      cpSync(evidenceFolder(dataDirectory), join(old, 'evidence'), { recursive: true });
      node = await start(dataDirectory);
      assert.equal(await stopNode(node), 0, node.stderr());
      rmSync(evidenceFolder(dataDirectory), { recursive: true });
      await assert.rejects(start(dataDirectory), /ended with 78(?:.|\n)*began with record 1 and is gone: restore/);
      cpSync(join(old, 'evidence'), evidenceFolder(dataDirectory), { recursive: true });
      await assert.rejects(
        start(dataDirectory),
        /ended with 78(?:.|\n)*ends with record \d+, and the tables hold everything up to/,
      );
    } finally {
      removeDirectory(dataDirectory);
      removeDirectory(old);
    }
  });
});
