/** `ringbook keygen`: creates a user: a key file readable only by its owner. */
import { generateSeed, keyFromSeed, saveSeed } from '../client/keys.ts';
import { CliError, type Command, EXIT, parseOptions, usageError } from './command.ts';

export const keygenCommand: Command = {
  name: 'keygen',
  summary: 'make a key file and print its user id',
  help: `usage: ringbook keygen FILE

Writes a new Ed25519 key to FILE (mode 0600, never overwritten) and prints the user id, its public key.

example:
  ringbook keygen me.key
`,
  async run(argv) {
    const { positionals } = parseOptions(argv, {});
    const [path] = positionals;
    if (path === undefined || positionals.length !== 1)
      throw usageError('keygen takes one FILE: ringbook keygen me.key');
    const seed = generateSeed();
    try {
      saveSeed(path, seed);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST')
        throw new CliError(EXIT.fault, `${path} exists; a key is never overwritten, choose another name`);
      throw error;
    }
    process.stdout.write(`${keyFromSeed(seed).userId}\n`);
    return EXIT.done;
  },
};
