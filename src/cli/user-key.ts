/** The user of a command: a user of the dev profile, or the owner of a key file. */
import { devKey, loadKey, type SigningKey } from '../client/keys.ts';
import { usageError } from './command.ts';

interface KeyOption {
  readonly type: 'string';
}

export const KEY_OPTIONS: Readonly<Record<'as' | 'key', KeyOption>> = {
  as: { type: 'string' },
  key: { type: 'string' },
};

export const KEY_HELP = `  --as a|b           one of the two funded users of the dev profile
  --key FILE         your own key file`;

/** @throws CliError 64 unless exactly one of the two options is given. */
export function keyOf(values: { readonly as?: string | undefined; readonly key?: string | undefined }): SigningKey {
  if ((values.as === undefined) === (values.key === undefined)) {
    throw usageError('the user is missing: --as a, --as b, or --key FILE (make one with "ringbook keygen")');
  }
  if (values.key !== undefined) return loadKey(values.key);
  if (values.as !== 'a' && values.as !== 'b') throw usageError('--as takes a or b, the users of the dev profile');
  return devKey(values.as);
}
