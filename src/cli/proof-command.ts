/** `ringbook proof`: verifies a user's part in what a venue owes, offline (LIA-06). */
import { parseUserId } from '../core/ids.ts';
import { LIABILITY_BYTES_MAX } from '../evidence/liabilities/liability-file.ts';
import { verifyLiabilities } from '../evidence/liabilities/verify-liabilities.ts';
import { type Command, type ExitCode, parseOptions, usageError } from './command.ts';
import { fileBytes, PINNED_OPTIONS, pinnedOf, sayVerdict } from './evidence-files.ts';

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

export const proofCommand: Command = {
  name: 'proof',
  summary: 'verify that what you are owed is in what the venue says it owes',
  help: `usage: ringbook proof verify FILE --venue-key VKEY --user ID [--witness VKEY]… [--quorum N] [--units CHAIN:VAULT:TOKEN=N]…

verify says, offline, what the file of "GET /proof/liabilities/ID" proves: exit code 0, a sentence, and what you are owed of
each asset, to be compared with what you know; 1 when it is false; 2 when it cannot be read.
  --venue-key VKEY     the verifier key of the venue that you pinned, or a file with it
  --user ID            the user that you are
  --witness VKEY       a witness whose cosignature counts; --quorum N of them must have signed
  --end FILE           an end of a key that you know of
  --units CHAIN:VAULT:TOKEN=N   base units that you have read from the chain at the block of the statement

example:
  ringbook proof verify mine.json --venue-key venue.pub --user 8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c
`,
  async run(argv) {
    const [verb, ...rest] = argv;
    if (verb === 'verify') return verify(rest);
    throw usageError('proof has "verify"');
  },
};
