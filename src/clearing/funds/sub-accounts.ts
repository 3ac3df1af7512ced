/**
 * Sub-accounts beyond 0 and 1: created by a transfer, named by their user, never deleted (SUB-05, SUB-11 to SUB-14,
 * AMB-63, AMB-64).
 */
import { type AssetId, parseAssetId, USD } from '../../core/ids.ts';
import { SUB_ACCOUNTS_MAX } from '../../core/limits.ts';
import { accepted, type Outcome, rejected } from '../../core/outcome.ts';
import { type Reject, reject } from '../../core/reject.ts';
import { emptyAccount, MARGIN_ACCOUNT } from '../balances.ts';
import type { Effect } from '../effects.ts';
import type { RenameSubAccount, TargetType } from '../inputs.ts';
import { defaultAccountName, type SubAccountRow } from '../rows.ts';
import type { ClearingState, SubAccountSlot, UserSlot } from '../state.ts';

// Names of sub-accounts (SUB-10 to SUB-13, AMB-64).

const LENGTH_MAX = 32;
/** Names of accounts 0 and 1; compared exactly. */
const RESERVED: ReadonlySet<string> = new Set(['Spot', 'Margin']);
/** Control characters, and halves of surrogate pairs, which no UTF-8 text can hold. */
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u;

const NAME_RULE = 'a name has 1 to 32 characters, no control characters, and is not Spot or Margin';

/** Whether the name is allowed: 1 to 32 code points as sent, no control characters, not reserved. */
function isSubAccountName(name: string): boolean {
  const length = [...name].length;
  return length >= 1 && length <= LENGTH_MAX && !FORBIDDEN.test(name) && !RESERVED.has(name);
}

/** Why a new account cannot be of this type under this index, or null. */
export function refuseNewAccount(state: ClearingState, index: number, type: TargetType): Reject | null {
  if (!Number.isSafeInteger(index) || index <= MARGIN_ACCOUNT || index >= SUB_ACCOUNTS_MAX) {
    return reject('INVALID_REQUEST', `new accounts have indices 2 to ${SUB_ACCOUNTS_MAX - 1}`, 'target_index');
  }
  if (type.kind !== 'isolated_margin') return null;
  return isTradable(state, type.asset)
    ? null
    : reject('INVALID_REQUEST', 'an isolated account is of a registered asset index', 'target_account_type');
}

function isTradable(state: ClearingState, asset: AssetId): boolean {
  return asset !== USD && !asset.includes('@') && parseAssetId(asset) === asset && state.assets.has(asset);
}

/** Creates an account that was not refused. */
export function createAccount(
  state: ClearingState,
  user: UserSlot,
  index: number,
  type: TargetType,
  effects: Effect[],
): SubAccountSlot {
  const { kind, asset } = type;
  const slot = emptyAccount({ user: user.row.user, subAccount: index, kind, name: defaultAccountName(index), asset });
  user.subAccounts.set(index, slot);
  state.dirty.subAccounts.add(slot);
  effects.push({ kind: 'subAccountChanged', row: slot.row });
  return slot;
}

/**
 * @returns `{"sub_account_index","name"}`; INVALID_REQUEST for a bad name, for accounts 0 and 1, and for an unused
 * index.
 */
export function applyRename(
  state: ClearingState,
  { user, index, name }: RenameSubAccount,
  effects: Effect[],
): Outcome<Readonly<Record<string, unknown>>> {
  if (!isSubAccountName(name)) return rejected(reject('INVALID_REQUEST', NAME_RULE, 'name'));
  const account = index > MARGIN_ACCOUNT ? state.users.get(user)?.subAccounts.get(index) : undefined;
  if (account === undefined) {
    return rejected(reject('INVALID_REQUEST', 'only accounts that the user created are renamed', 'account_index'));
  }
  const row: SubAccountRow = { ...account.row, name };
  account.row = row;
  state.dirty.subAccounts.add(account);
  effects.push({ kind: 'subAccountChanged', row });
  return accepted({ sub_account_index: index, name });
}
