/** The thread of the evidence, made from its wiring and the node's settings; workers/evidence.ts boots it. */

import { CLEARING, EVIDENCE } from '../core/actor-names.ts';
import { must } from '../core/assert.ts';
import { DAY_NS } from '../core/units.ts';
import { EvidenceActor } from '../evidence/evidence-actor.ts';
import { begunAt, evidenceFolder, evidenceSecret, markBegun } from '../evidence/evidence-files.ts';
import { RowLog } from '../evidence/row-log/row-log.ts';
import { entryHash, Salts } from '../evidence/tree/record-leaf.ts';
import type { ActorFactories, ActorWiring } from '../runtime/actor.ts';
import { NodeWords } from './node-words.ts';
import { settingsOf } from './worker-settings.ts';

export const evidenceFactories: ActorFactories = { [EVIDENCE]: createEvidence };

function createEvidence(wiring: ActorWiring): EvidenceActor {
  const { dataDirectory, evidence, mapBytes, words } = settingsOf(wiring);
  const settings = must(evidence, 'the thread runs where evidence is kept');
  const durable = wiring.metrics.gauge('durable_sequence');
  const rows = wiring.metrics.counter('rows');
  const rowBytes = wiring.metrics.counter('row_bytes');
  const flushNs = wiring.metrics.histogram('flush_ns');
  // Until then nothing in the directory is touched.
  new NodeWords(words).waitUntilChecked(() => wiring.heartbeat());
  const salts = new Salts(evidenceSecret(dataDirectory, settings.secret ?? null));
  let counted = { rows: 0, bytes: 0 };
  return new EvidenceActor({
    openLog: () =>
      RowLog.open(evidenceFolder(dataDirectory), {
        mapBytes,
        hashRow: (sequence, index, row) => entryHash({ sequence, index, salt: salts.salt(sequence, index) }, row),
        keepNs: BigInt(settings.keepDays) * DAY_NS,
        elapsedMs: () => performance.now(),
        step: () => wiring.heartbeat(),
      }),
    salts,
    clearing: wiring.publication(CLEARING),
    elapsedMs: () => performance.now(),
    heartbeat: () => wiring.heartbeat(),
    flushedNs: (nanoseconds) => flushNs.record(nanoseconds),
    figures: (figures) => {
      durable.set(figures.durable);
      rows.add(figures.rows - counted.rows);
      rowBytes.add(figures.bytes - counted.bytes);
      counted = figures;
    },
    begun: (first) => {
      if (begunAt(dataDirectory) === null) markBegun(dataDirectory, first);
    },
  });
}
