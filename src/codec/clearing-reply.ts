/**
 * The body of a write that clearing decides (wire.md 5.1, AMB-67): status 200 in both cases.
 *
 *   {"success":true}
 *   {"success":false,"details":{"code":"INVALID_NONCE","message":"…","retryable":false,"field":"nonce","last_nonce":7}}
 */
import { isRetryable, type Reject } from '../core/reject.ts';
import { type JsonWritable, writeJson } from './json-writer.ts';

/** @param refusal null for success. */
export function clearingReply(refusal: Reject | null): string {
  if (refusal === null) return '{"success":true}';
  const { code, message, field, details } = refusal;
  const told: JsonWritable = { code, message, retryable: isRetryable(code), field, ...details };
  return writeJson({ success: false, details: told });
}
