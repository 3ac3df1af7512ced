/** `ringbook signers`: shows the signers of an account, adds one, and finds the accounts that list a key. */
import { existsSync } from 'node:fs';
import type { MultisigConfig } from '../client/account.ts';
import { RingbookClient } from '../client/client.ts';
import { loadCoSigner, parsePublicKey, publicKeyText } from '../client/co-signer-files.ts';
import type { SignerKey } from '../codec/signatures.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  durationNs,
  EXIT,
  parseOptions,
  positiveInteger,
  usageError,
} from './command.ts';
import { SIGNER_HELP, SIGNER_OPTIONS, signersOf, writeRequest } from './signer-options.ts';
import { textTable } from './table.ts';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  ...SIGNER_OPTIONS,
  weight: { type: 'string', default: '1' },
  for: { type: 'string' },
  request: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseOptions<typeof OPTIONS>>['values'];

/** A public key, or the file of a key: what is public of it. @throws CliError 64. */
function keyArgument(text: string | undefined): SignerKey {
  if (text === undefined)
    throw usageError('a public key, or the file of a key, is missing: ringbook signers add phone.key --as a');
  const key = parsePublicKey(text);
  if (key !== null) return key;
  if (!existsSync(text)) {
    throw usageError(
      `a public key is written as secp256k1:02…, also ed25519, p256, webauthn; not "${text}", and no file has this name`,
    );
  }
  return loadCoSigner(text).signer;
}

/** The configuration as a table. */
export function signersTable({ masterWeight, signers, thresholds, configNonce }: MultisigConfig): string {
  const until = (ns: bigint | null): string => (ns === null ? '-' : new Date(Number(ns / 1_000_000n)).toISOString());
  const rows = signers.map((signer) => [
    publicKeyText(signer),
    String(signer.weight),
    until(signer.expiresAtNs),
    signer.maxSigningWindowNs === null ? '-' : `${signer.maxSigningWindowNs / 1_000_000_000n} s`,
  ]);
  const master = ['the key of the account', String(masterWeight), '-', '-'];
  const table = textTable([['signer', 'weight', 'until', 'window'], master, ...rows], new Set([1]));
  const { low, medium, high } = thresholds;
  return `${table}orders and logins need ${low}, transfers and settlements ${medium}, withdrawals and signers ${high}; config nonce ${configNonce}\n`;
}

async function add(client: RingbookClient, text: string | undefined, values: Values): Promise<void> {
  const request = {
    signer: keyArgument(text),
    weight: positiveInteger(values.weight, '--weight'),
    sessionDurationNs: durationNs(values.for),
  };
  if (values.request === undefined) {
    await client.account.addSigner(request);
    process.stdout.write(signersTable(await client.account.multisigConfig()));
    return;
  }
  const { ceNonce: _nonce, ...action } = await client.account.unsignedSigner(request);
  writeRequest(values.request, action, { ...signersOf(values), amountText: 'hex' });
}

async function accountsOf(client: RingbookClient, text: string | undefined): Promise<void> {
  const accounts = await client.account.accountsOfSigner(keyArgument(text));
  process.stdout.write(accounts.length === 0 ? 'no account lists this key\n' : `${accounts.join('\n')}\n`);
}

export const signersCommand: Command = {
  name: 'signers',
  summary: 'show and add the co-signers of an account',
  help: `usage: ringbook signers [options]
       ringbook signers add PUBLIC_KEY --weight N [--for DURATION] [--request FILE] [options]
       ringbook signers of PUBLIC_KEY [--oms URL]

Without arguments: who may sign for the account, with what weight, and what its actions need. PUBLIC_KEY is printed by
"ringbook keygen FILE --scheme …", e.g. secp256k1:02ab…; the key file itself will do. "of" lists the accounts that list a key, without a login.

  --weight N         what the new signer's signature counts  (default 1)
  --for DURATION     how long it may sign, from now on: 90s, 15m, 12h, 30d  (default: for ever)
  --request FILE     writes a file for "ringbook cosign" in place of sending
${SIGNER_HELP}
${ADDRESS_HELP}

example:
  ringbook signers --as a
  ringbook signers add secp256k1:0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798 --as b
`,
  async run(argv) {
    const { values, positionals } = parseOptions(argv, OPTIONS);
    const [verb, key, ...rest] = positionals;
    if (rest.length > 0) throw usageError('signers takes nothing, "add PUBLIC_KEY", or "of PUBLIC_KEY"');
    const oms = checkAddresses(values.oms, 'oms');
    const client = new RingbookClient(verb === 'of' ? { oms } : { oms, ...signersOf(values) });
    try {
      if (verb === 'add') await add(client, key, values);
      else if (verb === 'of') await accountsOf(client, key);
      else if (verb === undefined) process.stdout.write(signersTable(await client.account.multisigConfig()));
      else throw usageError(`signers has "add" and "of", not "${verb}"`);
    } finally {
      client.close();
    }
    return EXIT.done;
  },
};
