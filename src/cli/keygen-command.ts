/**
 * `ringbook keygen`: creates a user, or a key that co-signs for one: a key file readable only by its owner.
 */
import { writeFileSync } from 'node:fs';
import { createCoSigner, KEY_KINDS, publicKeyText } from '../client/co-signer-files.ts';
import { generateSecret } from '../client/co-signers.ts';
import { generateSeed, keyFromSeed, saveSeed } from '../client/keys.ts';
import { hashOfToken, parseTokens, ROLES } from '../operator/operator-tokens.ts';
import { CliError, type Command, EXIT, parseOptions, usageError } from './command.ts';
import { createEvidenceSecret, createLogKey, createVenueKey } from './evidence-keys.ts';

const OPTIONS = {
  scheme: { type: 'string' },
  'rp-id': { type: 'string' },
  origin: { type: 'string' },
  approval: { type: 'boolean', default: false },
  operator: { type: 'string' },
  role: { type: 'string' },
  venue: { type: 'boolean', default: false },
  log: { type: 'boolean', default: false },
  'evidence-secret': { type: 'boolean', default: false },
  use: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

/** Makes the file of a key of the evidence; null when the key is another. @returns what is public of it. */
function createOfEvidence(path: string, values: Values): string | null {
  const { venue, log, 'evidence-secret': isSecret, origin, use, scheme, approval } = values;
  const kinds = [venue, log, isSecret].filter((kind) => kind).length;
  if (use !== undefined && !log) throw usageError('--use goes with --log');
  if (kinds === 0) return null;
  if (kinds > 1 || approval || scheme !== undefined) {
    throw usageError('--venue, --log, --evidence-secret, --approval and --scheme are each a key of its own');
  }
  if (isSecret) return createEvidenceSecret(path);
  if (origin === undefined) throw usageError('--origin is missing: the name of the log, like ringbook.example/log/1');
  return venue ? createVenueKey(path, origin) : createLogKey(path, origin, use ?? 'heads');
}

/** Makes the file. @returns what is public of the key. */
async function create(path: string, values: Values): Promise<string> {
  if (values.operator !== undefined || values.role !== undefined) return createToken(path, values);
  const ofEvidence = createOfEvidence(path, values);
  if (ofEvidence !== null) return ofEvidence;
  const { scheme, 'rp-id': rpId, origin, approval } = values;
  if (approval) {
    if (scheme !== undefined) throw usageError('--approval goes without --scheme: the key is one of secp256k1');
    const { addressOfKey } = await import('../crypto/secp256k1.ts');
    const secret = generateSecret('Secp256k1');
    saveSeed(path, secret);
    return addressOfKey(secret);
  }
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

/** A token of the operator API. @returns its entry for the file that RINGBOOK_OPERATOR_TOKENS_FILE names. */
function createToken(path: string, { operator: name, role, scheme, approval }: Values): string {
  if (scheme !== undefined || approval) throw usageError('--operator goes with --role alone');
  const token = generateSeed();
  const text = Buffer.from(token).toString('base64url');
  const entry = { name, role, sha256: hashOfToken(text).toString('hex') };
  const tokens = parseTokens(JSON.stringify({ tokens: [entry] }));
  if (typeof tokens === 'string')
    throw usageError(`--operator takes a name and --role one of ${ROLES.join(', ')}: this ${tokens}`);
  writeFileSync(path, `${text}\n`, { mode: 0o600, flag: 'wx' });
  return JSON.stringify(entry);
}

export const keygenCommand: Command = {
  name: 'keygen',
  summary: 'make a key file and print its user id',
  help: `usage: ringbook keygen FILE [--scheme SCHEME | --approval | --operator NAME --role ROLE]
       ringbook keygen FILE --venue --origin NAME
       ringbook keygen FILE --log --origin NAME [--use heads|answers]
       ringbook keygen FILE --evidence-secret

Writes a new Ed25519 key to FILE (mode 0600, never overwritten) and prints the user id, its public key.

With --scheme the key is for a co-signer, and its public key is printed as "ringbook signers add" takes it:
  ed25519, p256      keys of 32 bytes
  secp256k1          signs over SHA-256; secp256k1-personal signs personal messages, as wallets do
  webauthn           an authenticator in software; --rp-id and --origin are those of the node's
                     configuration, which "GET /operator/settings" shows

With --approval the key is one of a node: a production node signs approvals of withdrawals with the files in
"approval_keys" of its configuration. Its address is printed, 40 hex digits, which is an administrator of the vault.

With --operator the file is a token of the operator API, one line, and what is printed is its entry in the
file that RINGBOOK_OPERATOR_TOKENS_FILE names: {"tokens":[…]}. ROLE is read, operate, or funds. A node reads that file again on SIGHUP.

Keys of the evidence (docs/evidence.md). --venue makes the key of a venue, which is kept offline: its verifier key is
printed, which users pin. --log makes a key with which one node signs heads (or answers), and prints the request that
"ringbook evidence certify" signs with the venue key. --evidence-secret makes the 32 bytes of which salts are made, the
same for all nodes of a log.

example:
  ringbook keygen me.key
  ringbook keygen phone.key --scheme secp256k1
  ringbook keygen web.key --scheme webauthn --rp-id localhost --origin http://localhost
  ringbook keygen approval.key --approval
  ringbook keygen desk.token --operator desk --role operate
  ringbook keygen venue.key --venue --origin ringbook.example/log/1
  ringbook keygen log.key --log --origin ringbook.example/log/1 > log.request
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const [path] = positionals;
    if (path === undefined || positionals.length !== 1)
      throw usageError('keygen takes one FILE: ringbook keygen me.key');
    try {
      const text = await create(path, values);
      process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST')
        throw new CliError(EXIT.fault, `${path} exists; a key is never overwritten, choose another name`);
      throw error;
    }
    return EXIT.done;
  },
};
