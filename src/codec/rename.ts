/** `PATCH /account/{user_id}/sub-account/{account_index}/name`: its body and its reply (wire.md 7.17, AMB-64). */
import { accepted, type Outcome } from '../core/outcome.ts';
import { quote } from './json-writer.ts';
import { RENAME_REQUEST } from './shapes/account-shapes.ts';
import { readShape } from './shapes/read-shape.ts';

/** @returns the name; INVALID_REQUEST when it is not allowed. */
export function decodeRename(body: Uint8Array): Outcome<string> {
  const request = readShape(RENAME_REQUEST, body);
  return request.ok ? accepted(request.value.name) : request;
}

export function renameReply(subAccount: number, name: string): string {
  return `{"sub_account_index":${subAccount},"name":${quote(name)}}`;
}
