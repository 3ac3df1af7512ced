/**
 * Rejects: the closed list of codes a client can receive, with the HTTP status and whether a retry can succeed (wire.md
 * 5.3, AMB-103). The numbers are part of ring messages: explicit, never reused, a range per module.
 */

export const REJECT_CODE = {
  // 100: shape and transport
  INVALID_REQUEST: 100,
  NOT_FOUND: 101,
  METHOD_NOT_ALLOWED: 102,
  PAYLOAD_TOO_LARGE: 103,
  UPGRADE_REQUIRED: 104,
  INTERNAL_ERROR: 105,
  TIMEOUT: 106,
  TIMEOUT_UNKNOWN_STATE: 107,
  CE_COMMUNICATION_ERROR: 108,
  SERVICE_UNAVAILABLE: 109,
  RATE_LIMITED: 110,
  URI_TOO_LONG: 111,
  HEADERS_TOO_LARGE: 112,
  UNSUPPORTED_MEDIA_TYPE: 113,
  NOT_LEADER: 114,
  // 200: sessions and signatures
  UNAUTHORIZED: 200,
  NONCE_NOT_FOUND: 201,
  NONCE_EXPIRED: 202,
  INVALID_NONCE: 203,
  INVALID_SIGNATURE: 204,
  SIGNER_MISMATCH: 205,
  INSUFFICIENT_SIGNER_WEIGHT: 206,
  SIGNER_UNKNOWN: 207,
  SIGNER_EXPIRED: 208,
  SIGNER_DUPLICATE: 209,
  ACTION_ALREADY_USED: 210,
  READ_ONLY_SESSION: 211,
  // 300: orders
  INVALID_ORDER: 300,
  ORDER_EXPIRED: 301,
  REQUEST_TOO_OLD: 302,
  DUPLICATE_ORDER: 303,
  ORDER_NOT_FOUND: 304,
  ALREADY_CANCELLED: 305,
  WOULD_CROSS: 306,
  REDUCE_ONLY_WOULD_INCREASE: 307,
  INSUFFICIENT_MARGIN: 308,
  INSUFFICIENT_INVENTORY: 309,
  TOO_MANY_OPEN_ORDERS: 310,
  TOO_MANY_SUB_ACCOUNTS: 311,
  MARKET_NOT_FOUND: 312,
  MARKET_HALTED: 313,
  PRICING_UNAVAILABLE: 314,
  ORDERS_NOT_FOUND: 315,
  ORDER_REVISION_MISMATCH: 316,
  MMP_FROZEN: 317,
  QUOTE_ENTRY: 318,
  TOO_MANY_QUOTES: 319,
  PROTECTION_IN_USE: 320,
  EVIDENCE_EXPIRED: 321,
  // 400: clearing, only in 200 bodies (AMB-67)
  POSITION_NOT_FOUND: 400,
  POSITION_NOT_FLAT: 401,
  POSITION_BUSY: 402,
  PROTOCOL_CAP_EXCEEDED: 403,
  // 500: operator API (operator-api.md 2)
  ASSET_NOT_FOUND: 500,
  CHAIN_NOT_FOUND: 501,
  VAULT_NOT_FOUND: 502,
  SETTLER_NOT_FOUND: 503,
  USER_NOT_FOUND: 504,
  WITHDRAWAL_NOT_FOUND: 505,
  SETTLEMENT_NOT_FOUND: 506,
  IMMUTABLE_FIELD: 507,
  VAULT_EXISTS: 508,
  CLOCK_BACKWARDS: 509,
  HOST_NOT_SERVED: 510,
  ROLE_REQUIRED: 511,
} as const;

export type RejectName = keyof typeof REJECT_CODE;
export type RejectCode = (typeof REJECT_CODE)[RejectName];

/** HTTP status per code. Codes that occur only in 200 bodies have 200. */
export const REJECT_STATUS: Readonly<Record<RejectName, number>> = {
  INVALID_REQUEST: 400,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  PAYLOAD_TOO_LARGE: 413,
  UPGRADE_REQUIRED: 426,
  INTERNAL_ERROR: 500,
  TIMEOUT: 504,
  TIMEOUT_UNKNOWN_STATE: 504,
  CE_COMMUNICATION_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
  RATE_LIMITED: 429,
  URI_TOO_LONG: 414,
  HEADERS_TOO_LARGE: 431,
  UNSUPPORTED_MEDIA_TYPE: 415,
  NOT_LEADER: 503,
  UNAUTHORIZED: 401,
  NONCE_NOT_FOUND: 400,
  NONCE_EXPIRED: 400,
  INVALID_NONCE: 400,
  INVALID_SIGNATURE: 401,
  SIGNER_MISMATCH: 403,
  INSUFFICIENT_SIGNER_WEIGHT: 400,
  SIGNER_UNKNOWN: 400,
  SIGNER_EXPIRED: 400,
  SIGNER_DUPLICATE: 400,
  ACTION_ALREADY_USED: 409,
  READ_ONLY_SESSION: 403,
  INVALID_ORDER: 400,
  ORDER_EXPIRED: 400,
  REQUEST_TOO_OLD: 400,
  DUPLICATE_ORDER: 409,
  ORDER_NOT_FOUND: 404,
  ALREADY_CANCELLED: 409,
  WOULD_CROSS: 400,
  REDUCE_ONLY_WOULD_INCREASE: 400,
  INSUFFICIENT_MARGIN: 400,
  INSUFFICIENT_INVENTORY: 400,
  TOO_MANY_OPEN_ORDERS: 400,
  TOO_MANY_SUB_ACCOUNTS: 400,
  MARKET_NOT_FOUND: 404,
  MARKET_HALTED: 503,
  PRICING_UNAVAILABLE: 503,
  ORDERS_NOT_FOUND: 404,
  ORDER_REVISION_MISMATCH: 409,
  MMP_FROZEN: 409,
  QUOTE_ENTRY: 409,
  TOO_MANY_QUOTES: 409,
  PROTECTION_IN_USE: 409,
  EVIDENCE_EXPIRED: 410,
  POSITION_NOT_FOUND: 200,
  POSITION_NOT_FLAT: 200,
  POSITION_BUSY: 200,
  PROTOCOL_CAP_EXCEEDED: 400,
  ASSET_NOT_FOUND: 404,
  CHAIN_NOT_FOUND: 404,
  VAULT_NOT_FOUND: 404,
  SETTLER_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  WITHDRAWAL_NOT_FOUND: 404,
  SETTLEMENT_NOT_FOUND: 404,
  IMMUTABLE_FIELD: 409,
  VAULT_EXISTS: 409,
  CLOCK_BACKWARDS: 409,
  HOST_NOT_SERVED: 403,
  ROLE_REQUIRED: 403,
};

const NAME_OF_CODE: ReadonlyMap<number, RejectName> = new Map(
  (Object.keys(REJECT_CODE) as RejectName[]).map((name) => [REJECT_CODE[name], name]),
);

/** A rejection with its code. `field` is the invalid member, `details` has further members for the envelope. */
export interface Reject {
  readonly code: RejectName;
  readonly message: string;
  readonly field?: string;
  readonly details?: Readonly<Record<string, string | number | bigint | null>>;
}

/** @param field the invalid member, in its wire spelling (`details.field`). */
export function reject(code: RejectName, message: string, field?: string): Reject {
  return field === undefined ? { code, message } : { code, message, field };
}

/** The name of a code received from a ring; undefined for an unknown number. */
export function rejectName(code: number): RejectName | undefined {
  return NAME_OF_CODE.get(code);
}

/** Whether the same request may succeed later: 429, 503 and POSITION_BUSY (AMB-103). */
export function isRetryable(name: RejectName): boolean {
  const status = REJECT_STATUS[name];
  return status === 429 || status === 503 || name === 'POSITION_BUSY';
}

/** `WOULD_CROSS` → `WouldCross`: the value of `reason` in batches, control results and streams (AMB-123). */
export function pascalCase(name: RejectName): string {
  return name
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}
