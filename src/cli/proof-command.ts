/** `ringbook proof`: states what a venue owes, fetches a user's part in it, and verifies that offline (LIA-01, LIA-05, LIA-06). */
import { writeFileSync } from 'node:fs';
import { RingbookClient } from '../client/client.ts';
import { parseUserId } from '../core/ids.ts';
import { LIABILITY_BYTES_MAX } from '../evidence/liabilities/liability-file.ts';
import { verifyLiabilities } from '../evidence/liabilities/verify-liabilities.ts';
import {
  ADDRESS_HELP,
  ADDRESS_OPTIONS,
  type Command,
  checkAddresses,
  EXIT,
  type ExitCode,
  parseOptions,
  usageError,
} from './command.ts';
import { PROGRESS_OPTION, withProgress } from './data-command.ts';
import { fileBytes, PINNED_OPTIONS, pinnedOf, sayVerdict } from './evidence-files.ts';
import { SIGNER_HELP, SIGNER_OPTIONS, signersOf } from './signer-options.ts';

const OPTIONS = { ...PINNED_OPTIONS, user: { type: 'string' }, units: { type: 'string', multiple: true } } as const;

const UNITS_FORM = /^([!-~]+):([!-~]+):([!-~]+)=(0|[1-9][0-9]{0,77})$/;

/** Units that the caller has read from the chain itself. @throws CliError 64. */
function unitsOf(given: readonly string[]): ReadonlyMap<string, bigint> {
  return new Map(
    given.map((text) => {
      const [, chain = '', vault = '', token = '', units = ''] = UNITS_FORM.exec(text) ?? [];
      if (units === '') throw usageError(`--units takes CHAIN:VAULT:TOKEN=BASE_UNITS, not "${text}"`);
      return [`${chain} ${vault} ${token}`, BigInt(units)];
    }),
  );
}

function verify(argv: readonly string[]): ExitCode {
  const { values, positionals } = parseOptions(argv, OPTIONS);
  const [path, ...more] = positionals;
  if (path === undefined || more.length > 0) throw usageError('verify takes one file, of GET /proof/liabilities/USER');
  const user = parseUserId(values.user ?? '');
  if (user === null) throw usageError('--user is missing, or is no user id: the user that you are');
  const options = { ...pinnedOf(values), user, units: unitsOf(values.units ?? []) };
  return sayVerdict(verifyLiabilities(fileBytes(path, LIABILITY_BYTES_MAX), options));
}

const MAKE_OPTIONS = { ...PROGRESS_OPTION, secret: { type: 'string' } } as const;

async function make(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, MAKE_OPTIONS);
  const [directory, ...more] = positionals;
  if (directory === undefined || more.length > 0) throw usageError('make takes one data directory');
  // Copies of a ledger are for their owner, as the ledger is (MCH-04).
  process.umask(0o077);
  const { makeSnapshot } = await import('../tools/snapshot-data.ts');
  const { makeLiabilities } = await import('../tools/make-liabilities.ts');
  const made = await withProgress(values.progress, async (progress) =>
    makeLiabilities(directory, await makeSnapshot(directory, progress), values.secret ?? null),
  );
  process.stdout.write(`${JSON.stringify(made)}\n`);
  return EXIT.done;
}

const GET_OPTIONS = { ...ADDRESS_OPTIONS, ...SIGNER_OPTIONS, out: { type: 'string' } } as const;

async function get(argv: readonly string[]): Promise<ExitCode> {
  const { values, positionals } = parseOptions(argv, GET_OPTIONS);
  if (positionals.length > 0) throw usageError('get takes options alone');
  const client = new RingbookClient({ oms: checkAddresses(values.oms, 'oms'), ...signersOf(values) });
  try {
    const text = await client.liabilities();
    if (values.out === undefined) process.stdout.write(text);
    else writeFileSync(values.out, text, { flag: 'wx', mode: 0o600 });
  } finally {
    client.close();
  }
  return EXIT.done;
}

export const proofCommand: Command = {
  name: 'proof',
  summary: 'verify that what you are owed is in what the venue says it owes; state what a venue owes',
  help: `usage: ringbook proof verify FILE --venue-key VKEY --user ID [--witness VKEY]… [--quorum N] [--units CHAIN:VAULT:TOKEN=N]…
       ringbook proof get [--out FILE] [options]
       ringbook proof make DIR [--secret FILE] [--progress]

verify says, offline, what the file of "GET /proof/liabilities/ID" proves: exit code 0, a sentence, and what you are owed of
each asset, to be compared with what you know; 1 when it is false; 2 when it cannot be read.
  --venue-key VKEY     the verifier key of the venue that you pinned, or a file with it
  --user ID            the user that you are
  --witness VKEY       a witness whose cosignature counts; --quorum N of them must have signed
  --end FILE           an end of a key that you know of
  --units CHAIN:VAULT:TOKEN=N   base units that you have read from the chain at the block of the statement

get fetches your part of the newest statement, for "verify".
  --out FILE           a new file  (default: standard output)
${SIGNER_HELP}
${ADDRESS_HELP}

make takes what the venue owes from a new snapshot of DIR, whose node may be running, and puts trees and the statement into the
evidence of DIR: the node signs it, puts its hash into the log, and answers users from it, at once or when it is started.
  --secret FILE        the evidence secret  (default: the one in the directory)

example:
  ringbook proof get --as a --out mine.json
  ringbook proof verify mine.json --venue-key venue.pub --user 8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c
`,
  async run(argv) {
    const [verb, ...rest] = argv;
    if (verb === 'verify') return verify(rest);
    if (verb === 'get') return get(rest);
    if (verb === 'make') return make(rest);
    throw usageError('proof has "verify", "get" and "make"');
  },
};
