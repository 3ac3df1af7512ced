/**
 * A program that keeps the journal of a node of a cluster for ever, to be killed: `node replicating-child.js <directory>`. It
 * leads (records that are flushed, then known to be stored by the next one), follows (records of another) and drops, and
 * prints each step once it is done:
 *
 *   began S      record S is being written, and is in no stream yet
 *   stored S H   the stream has record S, with the hash H
 *   dropped S H  record S with the hash H is out of the journal
 */
import { writeSync } from 'node:fs';
import { toHex } from '../../src/core/hex.ts';
import type { TimestampNs } from '../../src/core/units.ts';
import { RecordEncoder } from '../../src/storage/journal-record.ts';
import { LmdbDurability } from '../../src/storage/lmdb-durability.ts';
import { payloadOf } from './journal-payloads.ts';

const durability = new LmdbDurability(process.argv[2] ?? '');
const encoder = new RecordEncoder();

function print(text: string): void {
  writeSync(1, `${text}\n`);
}

// What a kill has left unknown counts as not stored.
const tail = durability.unknownTail();
if (tail !== null) {
  durability.dropTail();
  print(`dropped ${tail.sequence} ${toHex(tail.hash)}`);
}
for (;;) {
  const sequence = durability.lastSequence + 1;
  const timeNs = BigInt(sequence) as TimestampNs;
  if (sequence % 3 === 0) {
    const before = durability.placeAt(durability.lastSequence);
    const record = { sequence, timeNs, epoch: before.epoch, payload: payloadOf(sequence) };
    const [followed] = durability.appendStored([Uint8Array.from(encoder.encode(record, before.hash))]);
    print(`stored ${sequence} ${toHex(followed?.hash ?? new Uint8Array())}`);
    continue;
  }
  const { epoch } = durability.placeAt(durability.lastSequence);
  const isLost = Math.floor(Number(process.hrtime.bigint() % 5n)) === 0;
  const payload = isLost ? Buffer.concat([payloadOf(sequence), Buffer.from('lost')]) : payloadOf(sequence);
  const sealed = durability.seal(timeNs, payload, epoch);
  print(`began ${sequence}`);
  durability.appendSealed(sealed, false);
  if (isLost) {
    durability.dropTail();
    print(`dropped ${sequence} ${toHex(sealed.hash)}`);
  } else {
    durability.markStored();
    print(`stored ${sequence} ${toHex(sealed.hash)}`);
  }
}
