/** Entry of the process that makes snapshots for a running node: `node keep-data.js <directory> <snapshots that stay> [<cluster>]`. */
import { writeSync } from 'node:fs';
import { runKeeper } from '../src/tools/keeper-child.ts';

const [, , directory = '', keep = '', cluster = null] = process.argv;
process.exitCode = await runKeeper({
  directory,
  keep: Number(keep),
  // The client of the servers is loaded in a cluster alone.
  share:
    cluster === null
      ? null
      : async (snapshot) => (await import('../src/node/shared-snapshots.ts')).shareSnapshot(cluster, snapshot),
  say: (line) => writeSync(1, `${line}\n`),
});
