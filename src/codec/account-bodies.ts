/** Bodies of account actions: names of sub-accounts, and the reply of a write that clearing decides. */

import { accepted, type Outcome } from '../core/outcome.ts';
import { isRetryable, type Reject } from '../core/reject.ts';
import { type JsonWritable, quote, writeJson } from './json-writer.ts';
import { RENAME_REQUEST } from './shapes/account-shapes.ts';
import { readShape } from './shapes/read-shape.ts';

// `PATCH /account/{user_id}/sub-account/{account_index}/name`: its body and its reply (wire.md 7.17, AMB-64).

/** @returns the name; INVALID_REQUEST when it is not allowed. */
export function decodeRename(body: Uint8Array): Outcome<string> {
  const request = readShape(RENAME_REQUEST, body);
  return request.ok ? accepted(request.value.name) : request;
}

/** @param oldName as it was shown before. */
export function renameReply(subAccount: number, name: string, oldName: string): string {
  return (
    `{"sub_account_index":${subAccount},"name":${quote(name)},"account_index":${subAccount},` +
    `"old_name":${quote(oldName)},"new_name":${quote(name)}}`
  );
}

/** `GET /sub-accounts/user/{user_id}` (wire-additions.md 8.4). @param names that the user gave, ascending by index. */
export function subAccountNames(names: readonly (readonly [index: number, name: string])[]): string {
  return `{"names":[${names.map(([index, name]) => `{"account_index":${index},"name":${quote(name)}}`).join(',')}]}`;
}

/**
 * The body of a write that clearing decides (wire.md 5.1, AMB-67): status 200 in both cases.
 *
 *   {"success":true}
 *   {"success":false,"details":{"code":"INVALID_NONCE","message":"…","retryable":false,"field":"nonce","last_nonce":7}}
 *
 * @param refusal null for success.
 */
export function clearingReply(refusal: Reject | null): string {
  if (refusal === null) return '{"success":true}';
  const { code, message, field, details } = refusal;
  const reason: JsonWritable = { code, message, retryable: isRetryable(code), field, ...details };
  return writeJson({ success: false, details: reason });
}
