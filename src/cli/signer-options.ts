/**
 * The signers of a command: the account's own key, co-signers from their files, or both; and the file of an action that
 * waits for co-signers elsewhere. Keys come from files, never from arguments, which other processes of the machine see.
 */
import { writeFileSync } from 'node:fs';
import { type Signers, signText } from '../client/action-signers.ts';
import type { ClientOptions } from '../client/client.ts';
import { loadCoSigner } from '../client/co-signer-files.ts';
import type { CoSigner } from '../client/co-signers.ts';
import { type CosignRequest, cosignFile, cosignRequest, lineText } from '../client/cosign-file.ts';
import type { UnsignedAction } from '../client/signed-actions.ts';
import { parseUserId } from '../core/ids.ts';
import { CliError, callerKey, EXIT, usageError } from './command.ts';

interface TextOption {
  readonly type: 'string';
}

interface TextsOption extends TextOption {
  readonly multiple: true;
}

export const SIGNER_OPTIONS: Readonly<Record<'as' | 'key' | 'user', TextOption> & Record<'co-signer', TextsOption>> = {
  as: { type: 'string' },
  key: { type: 'string' },
  user: { type: 'string' },
  'co-signer': { type: 'string', multiple: true },
};

export const SIGNER_HELP = `  --as a|b           one of the two funded users of the dev profile
  --key FILE         the key file of the account
  --user USER_ID     the account, where its key is not here: co-signers alone sign
  --co-signer FILE   the key file of a co-signer; may be given several times`;

const NO_USER = usageError(
  'the user is missing: --as a, --as b, --key FILE, or --user USER_ID with --co-signer FILE (make keys with "ringbook keygen")',
);

interface SignerValues {
  readonly as?: string | undefined;
  readonly key?: string | undefined;
  readonly user?: string | undefined;
  readonly 'co-signer'?: readonly string[] | undefined;
}

/** What a client signs with. @throws CliError 64 unless the account is named once. */
export function signersOf(values: SignerValues): Pick<ClientOptions, 'key' | 'account' | 'coSigners'> {
  const coSigners = coSignersOf(values);
  if (values.user === undefined) {
    if (values.as === undefined && values.key === undefined) throw NO_USER;
    return { key: callerKey(values), coSigners };
  }
  if (values.as !== undefined || values.key !== undefined) {
    throw usageError('--user goes without --as and --key: it is for an account whose key is not here');
  }
  const account = parseUserId(values.user);
  if (account === null) throw usageError(`--user takes a user id of 64 hex digits, not "${values.user}"`);
  return { account, coSigners };
}

/** The co-signers whose key files are given. */
export function coSignersOf(values: Pick<SignerValues, 'co-signer'>): readonly CoSigner[] {
  return (values['co-signer'] ?? []).map(loadCoSigner);
}

/** The user id of the account. */
export function accountOf({ key, account }: Pick<ClientOptions, 'key' | 'account'>): Signers['userId'] {
  const user = key?.userId ?? account;
  if (user === undefined) throw usageError('the account is missing: --as, --key or --user');
  return user;
}

/**
 * Writes an action for co-signers elsewhere, signed by everything that is here. @throws CliError 1 for a file that
 * exists.
 */
export function writeRequest(
  path: string,
  action: UnsignedAction,
  {
    key,
    coSigners = [],
    amountText,
  }: Pick<ClientOptions, 'key' | 'coSigners'> & { readonly amountText: 'hex' | 'decimal' },
): void {
  const isSigned = key !== undefined || coSigners.length > 0;
  const signers = { userId: action.user, master: key ?? null, coSigners };
  const signatures = isSigned ? signText(signers, action.text) : undefined;
  const request = cosignRequest(action, { amountText }, signatures);
  writeNew(path, cosignFile(request));
  process.stdout.write(`${describe(request)}\nwritten to ${path}; "ringbook cosign ${path}" shows and signs it\n`);
}

function writeNew(path: string, content: string): void {
  try {
    writeFileSync(path, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CliError(EXIT.fault, `${path} exists; choose another name`);
  }
}

/** What an action does and what has signed it, one line each. */
export function describe({ meaning, signatures }: CosignRequest): string {
  const { signature, additionalSigners } = signatures;
  const signed = [
    ...(signature.length === 0 ? [] : ['the key of the account']),
    ...additionalSigners.map(({ scheme, key }) => `${scheme} ${Buffer.from(key).toString('hex')}`),
  ];
  const lines = [...meaning.map(lineText), ...signed.map((signer) => `signed by: ${signer}`)];
  return lines.map((line) => `  ${line}`).join('\n');
}
