/** Entry of the process that makes snapshots for a running node: `node keep-data.js <directory> <snapshots that stay> <cluster> <what is stated>`. */
import { writeSync } from 'node:fs';
import { runKeeper } from '../src/tools/keeper-child.ts';

const [, , directory = '', keep = '', cluster = '', liabilities = ''] = process.argv;
process.exitCode = await runKeeper({
  directory,
  keep: Number(keep),
  // The client of the servers is loaded in a cluster alone.
  share:
    cluster === ''
      ? null
      : async (snapshot) => (await import('../src/node/shared-snapshots.ts')).shareSnapshot(cluster, snapshot),
  liabilities: liabilities === '' ? null : JSON.parse(liabilities),
  say: (line) => writeSync(1, `${line}\n`),
});
