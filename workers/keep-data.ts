/** Entry of the process that makes snapshots for a running node: `node keep-data.js <directory> <snapshots that stay>`. */
import { writeSync } from 'node:fs';
import { runKeeper } from '../src/tools/keeper-child.ts';

const [, , directory = '', keep = ''] = process.argv;
process.exitCode = await runKeeper(directory, Number(keep), (line) => writeSync(1, `${line}\n`));
