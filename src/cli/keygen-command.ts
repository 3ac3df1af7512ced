/**
 * `ringbook keygen`: creates a user, or a key that co-signs for one: a key file readable only by its owner.
 */
import { createCoSigner, KEY_KINDS, publicKeyText } from '../client/co-signer-files.ts';
import { generateSeed, keyFromSeed, saveSeed } from '../client/keys.ts';
import { CliError, type Command, EXIT, parseOptions, usageError } from './command.ts';

const OPTIONS = {
  scheme: { type: 'string' },
  'rp-id': { type: 'string' },
  origin: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

/** Makes the file. @returns what is public of the key. */
function create(path: string, { scheme, 'rp-id': rpId, origin }: Values): string {
  if (scheme === undefined) {
    const seed = generateSeed();
    saveSeed(path, seed);
    return keyFromSeed(seed).userId;
  }
  const kind = KEY_KINDS.find((known) => known === scheme);
  if (kind === undefined) throw usageError(`--scheme takes ${KEY_KINDS.join(', ')}, not "${scheme}"`);
  if ((kind === 'webauthn') !== (rpId !== undefined && origin !== undefined)) {
    throw usageError('--rp-id and --origin go with --scheme webauthn, which needs both');
  }
  const party = rpId === undefined || origin === undefined ? null : { rpId, origin };
  return publicKeyText(createCoSigner(path, kind, party).signer);
}

export const keygenCommand: Command = {
  name: 'keygen',
  summary: 'make a key file and print its user id',
  help: `usage: ringbook keygen FILE [--scheme SCHEME]

Writes a new Ed25519 key to FILE (mode 0600, never overwritten) and prints the user id, its public key.

With --scheme the key is for a co-signer, and its public key is printed as "ringbook signers add" takes it:
  ed25519, p256      keys of 32 bytes
  secp256k1          signs over SHA-256; secp256k1-personal signs personal messages, as wallets do
  webauthn           an authenticator in software; --rp-id and --origin are those of the node's
                     configuration, which "GET /operator/settings" shows

example:
  ringbook keygen me.key
  ringbook keygen phone.key --scheme secp256k1
  ringbook keygen web.key --scheme webauthn --rp-id localhost --origin http://localhost
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const [path] = positionals;
    if (path === undefined || positionals.length !== 1)
      throw usageError('keygen takes one FILE: ringbook keygen me.key');
    try {
      process.stdout.write(`${create(path, values)}\n`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST')
        throw new CliError(EXIT.fault, `${path} exists; a key is never overwritten, choose another name`);
      throw error;
    }
    return EXIT.done;
  },
};
