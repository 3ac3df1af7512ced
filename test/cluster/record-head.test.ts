// tier: quick
/** What the protocol reads of real records of the journal (cluster.md 5). */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ClearingInput } from '../../src/clearing/inputs.ts';
import { BatchBuffer } from '../../src/clearing/journal-batch.ts';
import { readHead } from '../../src/cluster/record-head.ts';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { GENESIS_HASH, RecordEncoder } from '../../src/storage/journal-record.ts';

const NOW = 5n as TimestampNs;

function recordOf(inputs: readonly ClearingInput[], epoch: number): Uint8Array {
  const batch = new BatchBuffer();
  for (const input of inputs) batch.addPlain(input, NOW);
  const payload = batch.seal(NOW, []);
  const record = { sequence: 7 as Sequence, timeNs: NOW, epoch, payload };
  return new Uint8Array(new RecordEncoder().encode(record, GENESIS_HASH));
}

suite('heads of records', () => {
  test('a takeover, a handover and an alive record are what they are', () => {
    const takeover = { kind: 'takeover', epoch: 3, node: 'a', run: 'r1', clean: false, oms: 'o', mds: null } as const;
    const bytes = recordOf([takeover], 3);
    const head = readHead(bytes, 7);
    assert.deepEqual(head?.takeover, { node: 'a', run: 'r1', oms: 'o', mds: null });
    assert.equal(head?.epoch, 3);
    assert.deepEqual(Buffer.from(head?.hash ?? []), Buffer.from(bytes.slice(-32)));
    assert.deepEqual(Buffer.from(head?.previousHash ?? []), Buffer.from(GENESIS_HASH));
    assert.deepEqual(readHead(recordOf([{ kind: 'handover', to: 'b' }], 3), 7)?.handover, { to: 'b' });
    const alive = readHead(recordOf([], 3), 7);
    assert.deepEqual([alive?.takeover, alive?.handover], [null, null]);
  });

  test('a record that is damaged, cut or of another sequence has none', () => {
    const bytes = recordOf([], 1);
    assert.equal(readHead(bytes, 8), null);
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      assert.equal(readHead(damaged, 7), null, `byte ${at}`);
      assert.equal(readHead(bytes.subarray(0, at), 7), null, `${at} bytes`);
    }
  });
});
