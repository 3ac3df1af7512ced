/** `PATCH /account/{user_id}/sub-account/{account_index}/name`: its body and its reply (wire.md 7.17, AMB-64). */
import { isSubAccountName, NAME_RULE } from '../core/names.ts';
import type { Outcome } from '../core/outcome.ts';
import { decodeText } from './decode-text.ts';
import { objectShape } from './json-shape.ts';
import { quote } from './json-writer.ts';

const BODY = objectShape('skip', ['name']);
/** Well above 32 code points, so that the rule of names says what is wrong with a longer one. */
const NAME_DECODED_MAX = 1_024;

/** @returns the name; INVALID_REQUEST when it cannot be one. */
export function decodeRename(bytes: Uint8Array): Outcome<string> {
  return decodeText(bytes, 0, bytes.length, (cursor) => {
    let name = '';
    cursor.enterObject();
    while (cursor.nextMember(BODY) !== null) {
      name = cursor.readString(NAME_DECODED_MAX);
      if (!isSubAccountName(name)) cursor.fail(NAME_RULE);
    }
    return cursor.hasFailed ? null : name;
  });
}

export function renameReply(subAccount: number, name: string): string {
  return `{"sub_account_index":${subAccount},"name":${quote(name)}}`;
}
