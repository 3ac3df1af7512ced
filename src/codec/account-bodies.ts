/** Bodies of account actions: names of sub-accounts, and the reply of a write that clearing decides. */

import { accepted, type Outcome } from '../core/outcome.ts';
import { isRetryable, type Reject } from '../core/reject.ts';
import type { TimestampNs } from '../core/units.ts';
import { type JsonWritable, quote, writeJson } from './json-writer.ts';
import { decodeShape } from './shape-reader.ts';
import { RENAME_REQUEST } from './shapes/account-shapes.ts';

// `PATCH /account/{user_id}/sub-account/{account_index}/name`: its body and its reply (wire.md 7.17, AMB-64).

/** @returns the name; INVALID_REQUEST when it is not allowed. */
export function decodeRename(body: Uint8Array): Outcome<string> {
  const request = decodeShape(RENAME_REQUEST, body);
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

/** A session as its user sees it. `address` is '' where addresses are not limited. */
interface SessionRow {
  readonly id: string;
  readonly isReadOnly: boolean;
  readonly createdNs: TimestampNs;
  readonly lastUsedNs: TimestampNs;
  readonly address: string;
}

/** `GET /sessions` (RDO-02). */
export function sessionsReply(sessions: readonly SessionRow[]): string {
  const rows = sessions.map(
    ({ id, isReadOnly, createdNs, lastUsedNs, address }) =>
      `{"id":${quote(id)},"scope":"${isReadOnly ? 'read' : 'full'}","created_ns":${createdNs},` +
      `"last_used_ns":${lastUsedNs},"address":${address === '' ? 'null' : quote(address)}}`,
  );
  return `[${rows.join(',')}]`;
}

/** `GET /account/nonces/{user_id}/{chain_id}` (MON-02). @param settlements by sub-account, ascending. */
export function nextNonces(
  withdrawal: number,
  settlements: readonly (readonly [subAccount: number, next: number])[],
): string {
  const members = settlements.map(([subAccount, next]) => `"${subAccount}":${next}`);
  return `{"withdrawal":${withdrawal},"settlements":{${members.join(',')}}}`;
}

/**
 * The body of a write that clearing decides (wire.md 5.1, AMB-67): status 200 in both cases.
 *
 *   {"success":true}
 *   {"success":true,"duplicate":true}
 *   {"success":false,"details":{"code":"INVALID_NONCE","message":"…","retryable":false,"field":"nonce","last_nonce":7}}
 *
 * @param verdict null for success, `duplicate` for a text that was accepted before and whose row is live (MON-01).
 */
export function clearingReply(verdict: Reject | 'duplicate' | null): string {
  if (verdict === null) return '{"success":true}';
  if (verdict === 'duplicate') return '{"success":true,"duplicate":true}';
  const { code, message, field, details } = verdict;
  const reason: JsonWritable = { code, message, retryable: isRetryable(code), field, ...details };
  return writeJson({ success: false, details: reason });
}
