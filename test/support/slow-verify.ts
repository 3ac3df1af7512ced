/** A verify thread that takes longer to load than all other threads of a node. */
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import verify from '../../workers/verify.ts';

const LOADING_MS = 2_000;

writeFileSync(join(process.env['RINGBOOK_DATA_DIR'] ?? '', 'loading'), '');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOADING_MS);
writeSync(2, 'the slow verifier has loaded\n');

// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its entry.
export default verify;
