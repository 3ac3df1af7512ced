/** Names of sub-accounts (SUB-10 to SUB-13, AMB-64). */

const LENGTH_MAX = 32;
/** Names of accounts 0 and 1; compared exactly. */
const RESERVED: ReadonlySet<string> = new Set(['Spot', 'Margin']);
/** Control characters, and halves of surrogate pairs, which no UTF-8 text can hold. */
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u;

export const NAME_RULE = 'a name has 1 to 32 characters, no control characters, and is not Spot or Margin';

/** Whether the name is allowed: 1 to 32 code points as sent, no control characters, not reserved. */
export function isSubAccountName(name: string): boolean {
  const length = [...name].length;
  return length >= 1 && length <= LENGTH_MAX && !FORBIDDEN.test(name) && !RESERVED.has(name);
}
