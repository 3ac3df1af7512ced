/** `ringbook slim`: removes from the installed packages what this machine never loads. */

import { installedPackages, removable, remove } from '../node/slim-install.ts';
import { type Command, EXIT, parseOptions, usageError } from './command.ts';

const MEGABYTE = 1_000_000;

export const slimCommand: Command = {
  name: 'slim',
  summary: 'remove installed binaries of other machines',
  help: `usage: ringbook slim [--dry-run]

Removes from the installed packages what this machine and this Node.js never load: the native server's binaries for other
systems and versions, libsodium's, and the compiler once no development package is there. Of the 435 MB that npm installs without development
packages, less than 150 remain. After a change of the Node.js version install again: "npm ci" brings everything back.

  --dry-run          only print what would be removed

example:
  npm prune --omit=dev && ringbook slim
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, { 'dry-run': { type: 'boolean', default: false } });
    if (positionals.length > 0) throw usageError('slim takes no argument');
    const packages = installedPackages();
    const removals = removable(packages);
    if (!values['dry-run']) remove(packages, removals);
    for (const { path, bytes } of removals) process.stdout.write(`${path}  ${(bytes / MEGABYTE).toFixed(1)} MB\n`);
    const bytes = removals.reduce((sum, removal) => sum + removal.bytes, 0);
    const done = values['dry-run'] ? 'would be removed' : 'removed';
    process.stdout.write(`${removals.length} ${done}, ${Math.round(bytes / MEGABYTE)} MB, from ${packages.folder}\n`);
    return EXIT.done;
  },
};
