/**
 * Programs that storage tests start as processes of their own, to kill them or to let the disk refuse:
 *
 *   node storage-child.js append <directory>     appends for ever; prints each sequence once it is durable
 *   node storage-child.js fill <directory>       the same with large records, until storage fails; prints the error's name
 *   node storage-child.js hold <directory>       opens the directory, prints "held", waits
 */
import { writeSync } from 'node:fs';
import type { TimestampNs } from '../../src/core/units.ts';
import { openWriter } from '../../src/storage/environment.ts';
import { Journal } from '../../src/storage/journal.ts';
import { StorageError } from '../../src/storage/storage-error.ts';
import { payloadOf } from './journal-payloads.ts';

const [, , program, directory = ''] = process.argv;
const journal = new Journal(openWriter(directory));

switch (program) {
  case 'append':
    for (;;) append(payloadOf(journal.lastSequence + 1));
  case 'fill':
    try {
      for (;;) append(Buffer.alloc(100_000, journal.lastSequence));
    } catch (error) {
      const name = error instanceof StorageError ? error.name : String(error);
      writeSync(1, `${name} ${journal.lastSequence}\n`);
    }
    break;
  case 'hold':
    writeSync(1, 'held\n');
    setInterval(() => {}, 1_000);
    break;
  default:
    throw new Error(`unknown program ${program}`);
}

function append(payload: Uint8Array): void {
  const sequence = journal.append(BigInt(journal.lastSequence) as TimestampNs, payload);
  writeSync(1, `${sequence}\n`);
}
