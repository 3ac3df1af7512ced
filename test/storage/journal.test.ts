// tier: quick
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Sequence, TimestampNs } from '../../src/core/units.ts';
import { openWriter, type StorageWriter } from '../../src/storage/environment.ts';
import { Journal, journalBounds, readJournal, readJournalStored, recordBytesAfter } from '../../src/storage/journal.ts';
import { RecordEncoder } from '../../src/storage/journal-record.ts';
import { keyWriter } from '../../src/storage/key-layout.ts';
import { verifyMap } from '../../src/storage/verify-map.ts';
import { payloadOf } from '../support/journal-payloads.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CHILD = fileURLToPath(new URL('../support/storage-child.js', import.meta.url));
const at = (sequence: number) => sequence as Sequence;
const time = (ns: number) => BigInt(ns) as TimestampNs;

function filled(records: number, directory = temporaryDirectory()): StorageWriter {
  const writer = openWriter(directory);
  const journal = new Journal(writer);
  for (let sequence = 1; sequence <= records; sequence += 1) journal.append(time(sequence), payloadOf(sequence));
  return writer;
}

/** Puts other bytes where a record is, or removes it. */
function tamper(writer: StorageWriter, sequence: number, change: (bytes: Uint8Array) => Uint8Array | null): void {
  const key = keyWriter().journal(sequence);
  const bytes = writer.get(key);
  assert.ok(bytes !== null);
  writer.commit([{ key, value: change(Uint8Array.from(bytes)) }]);
}

function flip(bytes: Uint8Array, index: number): Uint8Array {
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes;
}

suite('journal', () => {
  test('records come back in order, from any of them, also after closing and opening', async () => {
    const directory = temporaryDirectory();
    await filled(40, directory).close();
    const writer = openWriter(directory);
    const journal = new Journal(writer);
    assert.equal(journal.firstSequence, 1);
    assert.equal(journal.lastSequence, 40);
    for (const from of [1, 2, 40]) {
      const records = [...readJournal(writer, at(from))];
      assert.equal(records.length, 41 - from);
      for (const [index, record] of records.entries()) {
        assert.equal(record.sequence, from + index);
        assert.equal(record.timeNs, BigInt(from + index));
        assert.deepEqual(record.payload, payloadOf(from + index));
        assert.equal(record.payload.byteOffset % 8, 0);
      }
      assert.deepEqual(records.at(-1)?.hash, journal.lastHash);
    }
    assert.deepEqual([...readJournal(writer, at(41))], []);
    assert.equal(journal.append(time(9), payloadOf(41)), 41);
    await writer.close();
  });

  test('an empty journal has nothing to read and names zeros as its last hash', async () => {
    const writer = openWriter(temporaryDirectory());
    assert.deepEqual(journalBounds(writer), {
      firstSequence: 0,
      lastSequence: 0,
      lastHash: new Uint8Array(32),
      lastEpoch: 0,
    });
    assert.deepEqual([...readJournal(writer, at(1))], []);
    assert.throws(() => [...readJournal(writer, at(2))], { name: 'InvariantError' });
    await writer.close();
  });

  test('a payload is copied: the caller may reuse its buffer, and it may be shared memory', async () => {
    const writer = openWriter(temporaryDirectory());
    const journal = new Journal(writer);
    const payload = new Uint8Array(new SharedArrayBuffer(16)).fill(1);
    journal.append(time(1), payload);
    payload.fill(2);
    const [record] = readJournal(writer, at(1));
    assert.deepEqual(record?.payload, new Uint8Array(16).fill(1));
    await writer.close();
  });

  test('every flipped byte of a record is found', async () => {
    const writer = filled(5);
    const original = writer.get(keyWriter().journal(3));
    assert.ok(original !== null);
    for (let index = 0; index < original.length; index += 1) {
      tamper(writer, 3, () => flip(Uint8Array.from(original), index));
      assert.throws(() => [...readJournal(writer, at(1))], { name: 'InvariantError', message: /journal: record 3/ });
    }
    tamper(writer, 3, () => original);
    assert.equal([...readJournal(writer, at(1))].length, 5);
    await writer.close();
  });

  test('a missing record is a gap and not an end', async () => {
    const writer = filled(5);
    tamper(writer, 3, () => null);
    assert.throws(() => [...readJournal(writer, at(1))], { message: 'journal: record 3 is missing' });
    assert.throws(() => [...readJournal(writer, at(4))], { message: 'journal: record 3 is missing' });
    await writer.close();
  });

  test('a record of another journal does not fit, though it is whole', async () => {
    const other = openWriter(temporaryDirectory());
    const journal = new Journal(other);
    for (let sequence = 1; sequence <= 3; sequence += 1) journal.append(time(sequence), payloadOf(sequence + 100));
    const foreign = other.get(keyWriter().journal(3));
    await other.close();

    const writer = filled(5);
    tamper(writer, 3, () => foreign);
    assert.throws(() => [...readJournal(writer, at(1))], { message: /record 3 does not follow the record before it/ });
    await writer.close();
  });

  test('a cut record and a record under another number are found', async () => {
    const writer = filled(5);
    const second = writer.get(keyWriter().journal(2));
    tamper(writer, 3, (bytes) => bytes.subarray(0, bytes.length - 1));
    assert.throws(() => [...readJournal(writer, at(1))], { message: 'journal: record 3 has the wrong length' });
    tamper(writer, 3, () => second);
    assert.throws(() => [...readJournal(writer, at(1))], { message: 'journal: record 3 calls itself 2' });
    await writer.close();
  });

  test('a damaged last record is found at opening', async () => {
    const writer = filled(5);
    tamper(writer, 5, (bytes) => flip(bytes, bytes.length - 1));
    assert.throws(() => new Journal(writer), { name: 'InvariantError', message: /record 5 has a wrong hash/ });
    await writer.close();
  });

  test('after kill -9 every reported record is there and the chain holds', async () => {
    const directory = temporaryDirectory();
    let before = 0;
    for (const killAfter of [1, 60, 200]) {
      const child = spawn(process.execPath, [CHILD, 'append', directory], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      let output = '';
      for await (const text of child.stdout.setEncoding('utf8')) {
        output += text;
        if (output.split('\n').length > killAfter) child.kill('SIGKILL');
      }
      await ended;
      // The last line may be cut by the kill; a whole one ends with a line feed.
      const reported = Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1));
      assert.ok(reported >= before + killAfter);

      const writer = openWriter(directory);
      const records = [...readJournal(writer, at(1))];
      assert.ok(records.length >= reported, `${reported} were reported, ${records.length} are there`);
      for (const record of records) assert.deepEqual(record.payload, payloadOf(record.sequence));
      before = records.length;
      await writer.close();
    }
  });

  test('pruned in steps, each commit leaves a journal that verifies, counts its bytes and goes on, at any later opening', async () => {
    const directory = temporaryDirectory();
    await filled(20, directory).close();
    for (const [below, first, isDone] of [
      [9, 4, false],
      [9, 7, false],
      [9, 9, true],
      [9, 9, true],
      [21, 12, false],
    ] as const) {
      const writer = openWriter(directory);
      const journal = new Journal(writer);
      if (journal.lastSequence < below) journal.append(time(below), payloadOf(below));
      const before = recordBytesAfter(writer, at(0)) + journal.prunedBytes;
      assert.equal(journal.prune(at(below), 3), isDone);
      assert.equal(recordBytesAfter(writer, at(0)) + journal.prunedBytes, before);
      assert.equal(journalBounds(writer).firstSequence, first);
      assert.equal([...readJournal(writer, at(first))].length, journal.lastSequence - first + 1);
      await writer.close();
      const { firstSequence, mark } = verifyMap(directory, { since: null });
      assert.deepEqual([firstSequence, mark.sequence], [first, journal.lastSequence]);
      assert.equal(verifyMap(directory, { since: mark }).mark.sequence, journal.lastSequence);
    }
  });

  test('a step of a prune is bounded by bytes as well: large records go a few at a time, and one always goes', async () => {
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    const journal = new Journal(writer);
    const MIB = 1 << 20;
    const sizes = [5 * MIB, MIB, MIB, MIB, MIB, 64, 3 * MIB, 64, 64];
    for (const [index, bytes] of sizes.entries()) journal.append(time(index + 1), new Uint8Array(bytes).fill(index));
    const steps: number[] = [];
    for (let isDone = false; !isDone; ) {
      isDone = journal.prune(at(9), 64);
      steps.push(journal.firstSequence);
    }
    assert.deepEqual(steps, [2, 6, 9]);
    await writer.close();
    assert.equal(verifyMap(directory, { since: null }).firstSequence, 9);
  });

  test('a base that is another record, or is not there, is damage; so is a record below it', async () => {
    for (const [sequence, change, message] of [
      [5, null, /record 5 is missing/],
      [5, 9, /wrong hash/],
      [4, 1, /record 4 was pruned/],
    ] as const) {
      const directory = temporaryDirectory();
      const writer = filled(8, directory);
      const record = writer.get(keyWriter().journal(4));
      new Journal(writer).prune(at(5), 10);
      if (sequence === 4) writer.commit([{ key: keyWriter().journal(4), value: record }]);
      else tamper(writer, sequence, (bytes) => (change === null ? null : flip(bytes, change)));
      await writer.close();
      assert.throws(() => verifyMap(directory, { since: null }), { name: 'InvariantError', message });
    }
  });

  test('on one machine the place of the epoch is zeros, in a cluster it is in the hash', async () => {
    const writer = filled(2);
    const journal = new Journal(writer);
    const bytesOf = (sequence: number): Buffer => Buffer.from(writer.get(keyWriter().journal(sequence)) ?? []);
    assert.deepEqual(bytesOf(2).subarray(56, 64), Buffer.alloc(8));
    journal.appendSealed(journal.seal(time(3), payloadOf(3), 1));
    assert.equal(bytesOf(3).readBigUInt64BE(56), 1n);
    assert.equal(journal.append(time(4), payloadOf(4)), 4);
    assert.deepEqual(
      [...readJournal(writer, at(1))].map(({ epoch }) => epoch),
      [0, 0, 1, 1],
    );
    tamper(writer, 4, (bytes) => flip(bytes, 63));
    assert.throws(() => [...readJournal(writer, at(1))], { message: 'journal: record 4 has a wrong hash' });
    await writer.close();
  });

  test('epochs never fall and rise only by one: in seal, in a copy, in what the stream gives, in a read and in verify', async () => {
    const source = openWriter(temporaryDirectory());
    const made = new Journal(source);
    for (const [sequence, epoch] of [
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 2],
    ] as const)
      made.appendSealed(made.seal(time(sequence), payloadOf(sequence), epoch));
    for (const epoch of [0, 1, 4])
      assert.throws(() => made.seal(time(5), payloadOf(5), epoch), /does not follow one of/);
    const records = [...readJournal(source, at(1))];
    const bytes = records.map(({ sequence }) => made.bytesAt(sequence));

    // A record like the third, whole in itself and chained, but of an epoch that leaves one out, or falls.
    for (const epoch of [3, 0]) {
      const directory = temporaryDirectory();
      const writer = openWriter(directory);
      const journal = new Journal(writer);
      journal.appendStored(bytes.slice(0, 2));
      const forged = Uint8Array.from(
        new RecordEncoder().encode({ sequence: 3, timeNs: time(3), epoch, payload: payloadOf(3) }, journal.lastHash),
      );
      const hash = forged.subarray(forged.length - 32);
      const wrong = { message: `journal: record 3 of epoch ${epoch} does not follow one of epoch 1` };
      assert.throws(() => journal.appendStored([forged]), wrong);
      assert.throws(() => journal.copy([{ sequence: 3, timeNs: time(3), epoch, payload: payloadOf(3), hash }]), wrong);
      assert.equal(journal.lastSequence, 2);
      writer.commit([{ key: keyWriter().journal(3), value: forged }]);
      assert.throws(() => [...readJournal(writer, at(1))], wrong);
      await writer.close();
      assert.throws(() => verifyMap(directory, { since: null }), wrong);
    }
    await source.close();
  });

  test('what the stream gives is appended byte for byte, all of a commit or nothing, and is stored', async () => {
    const source = filled(6);
    const given = [1, 2, 3, 4, 5, 6].map((sequence) => new Journal(source).bytesAt(at(sequence)));
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    const journal = new Journal(writer);
    assert.deepEqual(
      journal.appendStored(given.slice(0, 3)).map(({ sequence }) => sequence),
      [1, 2, 3],
    );
    assert.equal(readJournalStored(writer), 3);
    assert.throws(() => journal.appendStored([given[3] as Uint8Array, given[5] as Uint8Array]), /calls itself 6/);
    assert.equal(journal.lastSequence, 3);
    journal.appendStored(given.slice(3));
    for (const [index, bytes] of given.entries()) assert.deepEqual(journal.bytesAt(at(index + 1)), bytes);
    assert.deepEqual(journal.lastHash, new Journal(source).lastHash);
    await writer.close();
    assert.equal(verifyMap(directory, { since: null }).records, 6);
    await source.close();
  });

  test('only a last record that is not known to be stored can be dropped; then another takes its place', async () => {
    const source = filled(3);
    const given = [1, 2, 3].map((sequence) => new Journal(source).bytesAt(at(sequence)));
    const directory = temporaryDirectory();
    const writer = openWriter(directory);
    const journal = new Journal(writer);
    journal.appendStored(given.slice(0, 2));
    assert.throws(() => journal.dropLast(), { message: 'journal: record 2 is stored' });
    journal.append(time(9), payloadOf(9));
    journal.dropLast();
    assert.equal(new Journal(writer).lastSequence, 2);
    journal.appendStored(given.slice(2));
    assert.throws(() => journal.dropLast(), { message: 'journal: record 3 is stored' });
    journal.append(time(9), payloadOf(9));
    journal.markStored();
    assert.throws(() => journal.dropLast(), { message: 'journal: record 4 is stored' });
    await writer.close();
    await source.close();
  });
});
