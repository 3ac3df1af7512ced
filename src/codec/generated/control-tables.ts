/** Generated from schemas/control.fbs by `npm run generate`. Do not edit. */
import type { FieldLayout, TableLayout } from '../flat-layout.ts';

export const Side = {
  Unset: 0,
  Buy: 1,
  Sell: 2,
} as const;

/** FOK is JSON's `{"IOC":{"fill_or_kill":true}}`. */
export const TimeInForce = {
  Unset: 0,
  GTC: 1,
  GTD: 2,
  IOC: 3,
  FOK: 4,
} as const;

/** At or above, or at or below, a confirmed trade price. */
export const Condition = {
  Unset: 0,
  PriceAbove: 1,
  PriceBelow: 2,
} as const;

/** The form in which the trigger of a replace was signed: the bare condition, or with `parent_order_id` around it. */
export const TriggerForm = {
  Bare: 0,
  Wrapped: 1,
} as const;

export const Scheme = {
  Ed25519: 0,
  Secp256k1: 1,
  P256: 2,
  WebAuthn: 3,
} as const;

export const Action = {
  Unset: 0,
  Create: 1,
  Replace: 2,
  Cancel: 3,
  Amend: 4,
  QuoteSet: 5,
} as const;

export const Status = {
  Unset: 0,
  Received: 1,
  Rejected: 2,
} as const;

/** Codes of rejections and errors; docs/errors.md says what each means. New ones are added. */
export const Code = {
  Unset: 0,
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
  POSITION_NOT_FOUND: 400,
  POSITION_NOT_FLAT: 401,
  POSITION_BUSY: 402,
  PROTOCOL_CAP_EXCEEDED: 403,
} as const;

interface LimitFields {
  readonly limitPrice: FieldLayout;
  readonly quantity: FieldLayout;
  readonly timeInForce: FieldLayout;
  readonly postOnly: FieldLayout;
  readonly timestampNs: FieldLayout;
}

const LIMIT_FIELDS: LimitFields = {
  limitPrice: { slot: 4, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  quantity: { slot: 6, at: 16, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timeInForce: { slot: 8, at: 32, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  postOnly: { slot: 10, at: 33, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timestampNs: { slot: 12, at: 24, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** `details.Limit` of an order. Signed. */
export const Limit: LimitFields & { readonly table: TableLayout } = {
  ...LIMIT_FIELDS,
  table: { name: 'Limit', vtableBytes: 14, bytes: 40, fields: Object.values(LIMIT_FIELDS) },
};

interface MarketBaseFields {
  readonly quantity: FieldLayout;
  readonly maxSellableAmount: FieldLayout;
  readonly fillOrKill: FieldLayout;
}

const MARKET_BASE_FIELDS: MarketBaseFields = {
  quantity: { slot: 4, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  maxSellableAmount: { slot: 6, at: 16, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  fillOrKill: { slot: 8, at: 24, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** `details.Market` with a quantity in the base asset. Signed. */
export const MarketBase: MarketBaseFields & { readonly table: TableLayout } = {
  ...MARKET_BASE_FIELDS,
  table: { name: 'MarketBase', vtableBytes: 10, bytes: 32, fields: Object.values(MARKET_BASE_FIELDS) },
};

interface MarketQuoteFields {
  readonly quantity: FieldLayout;
  readonly maxSellableQuantity: FieldLayout;
  readonly fillOrKill: FieldLayout;
}

const MARKET_QUOTE_FIELDS: MarketQuoteFields = {
  quantity: { slot: 4, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  maxSellableQuantity: { slot: 6, at: 16, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  fillOrKill: { slot: 8, at: 24, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** `details.Market` with an amount of the quote asset. Signed. */
export const MarketQuote: MarketQuoteFields & { readonly table: TableLayout } = {
  ...MARKET_QUOTE_FIELDS,
  table: { name: 'MarketQuote', vtableBytes: 10, bytes: 32, fields: Object.values(MARKET_QUOTE_FIELDS) },
};

/** Types of the union; 0 is none. */
export const Details = {
  Limit: 1,
  MarketBase: 2,
  MarketQuote: 3,
} as const;

interface TriggerFields {
  readonly parentOrderId: FieldLayout;
  readonly condition: FieldLayout;
  readonly price: FieldLayout;
}

const TRIGGER_FIELDS: TriggerFields = {
  parentOrderId: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  condition: { slot: 6, at: 16, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  price: { slot: 8, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** Signed. */
export const Trigger: TriggerFields & { readonly table: TableLayout } = {
  ...TRIGGER_FIELDS,
  table: { name: 'Trigger', vtableBytes: 10, bytes: 24, fields: Object.values(TRIGGER_FIELDS) },
};

interface CoSignerFields {
  readonly scheme: FieldLayout;
  readonly key: FieldLayout;
  readonly signature: FieldLayout;
}

const CO_SIGNER_FIELDS: CoSignerFields = {
  scheme: { slot: 4, at: 12, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  key: { slot: 6, at: 4, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  signature: { slot: 8, at: 8, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** One entry of `additional_signers`. Not signed. */
export const CoSigner: CoSignerFields & { readonly table: TableLayout } = {
  ...CO_SIGNER_FIELDS,
  table: { name: 'CoSigner', vtableBytes: 10, bytes: 16, fields: Object.values(CO_SIGNER_FIELDS) },
};

interface CreateFields {
  readonly signer: FieldLayout;
  readonly orderId: FieldLayout;
  readonly baseAsset: FieldLayout;
  readonly bookPriceDecimals: FieldLayout;
  readonly bookQuantityDecimals: FieldLayout;
  readonly detailsType: FieldLayout;
  readonly details: FieldLayout;
  readonly side: FieldLayout;
  readonly trigger: FieldLayout;
  readonly creationTimestampNs: FieldLayout;
  readonly account: FieldLayout;
  readonly isSpot: FieldLayout;
  readonly reduceOnly: FieldLayout;
  readonly maxTradingFeesRate: FieldLayout;
  readonly protocolVersion: FieldLayout;
  readonly signature: FieldLayout;
  readonly additionalSigners: FieldLayout;
  readonly postSignTimestamp: FieldLayout;
  readonly protectionGroup: FieldLayout;
}

const CREATE_FIELDS: CreateFields = {
  signer: { slot: 4, at: 4, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  orderId: { slot: 6, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  baseAsset: { slot: 8, at: 12, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookPriceDecimals: { slot: 10, at: 66, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookQuantityDecimals: { slot: 12, at: 67, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  detailsType: { slot: 14, at: 68, kind: 'union-type', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  details: { slot: 16, at: 16, kind: 'union', bytes: 4, alignment: 4, initial: 0, tables: [Limit.table, MarketBase.table, MarketQuote.table], most: 0, entryBytes: 0 },
  side: { slot: 18, at: 69, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  trigger: { slot: 20, at: 20, kind: 'table', bytes: 4, alignment: 4, initial: 0, tables: [Trigger.table], most: 0, entryBytes: 0 },
  creationTimestampNs: { slot: 22, at: 48, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  account: { slot: 24, at: 64, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  isSpot: { slot: 26, at: 70, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  reduceOnly: { slot: 28, at: 71, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  maxTradingFeesRate: { slot: 30, at: 24, kind: 'scalar', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protocolVersion: { slot: 32, at: 28, kind: 'scalar', bytes: 4, alignment: 4, initial: 1, tables: [], most: 0, entryBytes: 0 },
  signature: { slot: 34, at: 32, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  additionalSigners: { slot: 36, at: 36, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [CoSigner.table], most: 16, entryBytes: 0 },
  postSignTimestamp: { slot: 38, at: 56, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protectionGroup: { slot: 40, at: 40, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

export const Create: CreateFields & { readonly table: TableLayout } = {
  ...CREATE_FIELDS,
  table: { name: 'Create', vtableBytes: 42, bytes: 72, fields: Object.values(CREATE_FIELDS) },
};

interface ReplaceFields {
  readonly orderId: FieldLayout;
  readonly timestampNs: FieldLayout;
  readonly newPriceLimit: FieldLayout;
  readonly newQuantity: FieldLayout;
  readonly newTrigger: FieldLayout;
  readonly newTriggerForm: FieldLayout;
  readonly bookQuantityDecimals: FieldLayout;
  readonly bookPriceDecimals: FieldLayout;
  readonly protocolVersion: FieldLayout;
  readonly signer: FieldLayout;
  readonly assetId: FieldLayout;
  readonly signature: FieldLayout;
  readonly additionalSigners: FieldLayout;
  readonly postSignTimestamp: FieldLayout;
  readonly complete: FieldLayout;
}

const REPLACE_FIELDS: ReplaceFields = {
  orderId: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timestampNs: { slot: 6, at: 32, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  newPriceLimit: { slot: 8, at: 40, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  newQuantity: { slot: 10, at: 48, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  newTrigger: { slot: 12, at: 8, kind: 'table', bytes: 4, alignment: 4, initial: 0, tables: [Trigger.table], most: 0, entryBytes: 0 },
  newTriggerForm: { slot: 14, at: 64, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookQuantityDecimals: { slot: 16, at: 65, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookPriceDecimals: { slot: 18, at: 66, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protocolVersion: { slot: 20, at: 12, kind: 'scalar', bytes: 4, alignment: 4, initial: 1, tables: [], most: 0, entryBytes: 0 },
  signer: { slot: 22, at: 16, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  assetId: { slot: 24, at: 20, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  signature: { slot: 26, at: 24, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  additionalSigners: { slot: 28, at: 28, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [CoSigner.table], most: 16, entryBytes: 0 },
  postSignTimestamp: { slot: 30, at: 56, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  complete: { slot: 32, at: 67, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

export const Replace: ReplaceFields & { readonly table: TableLayout } = {
  ...REPLACE_FIELDS,
  table: { name: 'Replace', vtableBytes: 34, bytes: 72, fields: Object.values(REPLACE_FIELDS) },
};

interface CancelFields {
  readonly orderId: FieldLayout;
  readonly assetId: FieldLayout;
  readonly signer: FieldLayout;
  readonly protocolVersion: FieldLayout;
  readonly signature: FieldLayout;
  readonly additionalSigners: FieldLayout;
  readonly postSignTimestamp: FieldLayout;
}

const CANCEL_FIELDS: CancelFields = {
  orderId: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  assetId: { slot: 6, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  signer: { slot: 8, at: 12, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protocolVersion: { slot: 10, at: 16, kind: 'scalar', bytes: 4, alignment: 4, initial: 1, tables: [], most: 0, entryBytes: 0 },
  signature: { slot: 12, at: 20, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  additionalSigners: { slot: 14, at: 24, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [CoSigner.table], most: 16, entryBytes: 0 },
  postSignTimestamp: { slot: 16, at: 32, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

export const Cancel: CancelFields & { readonly table: TableLayout } = {
  ...CANCEL_FIELDS,
  table: { name: 'Cancel', vtableBytes: 18, bytes: 40, fields: Object.values(CANCEL_FIELDS) },
};

interface BatchCreateFields {
  readonly orders: FieldLayout;
}

const BATCH_CREATE_FIELDS: BatchCreateFields = {
  orders: { slot: 4, at: 4, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [Create.table], most: 50, entryBytes: 0 },
};

/** 1 to 50 creates. `Submitted` comes first, then an `Answer` to each. */
export const BatchCreate: BatchCreateFields & { readonly table: TableLayout } = {
  ...BATCH_CREATE_FIELDS,
  table: { name: 'BatchCreate', vtableBytes: 6, bytes: 8, fields: Object.values(BATCH_CREATE_FIELDS) },
};

interface BatchReplaceFields {
  readonly requests: FieldLayout;
}

const BATCH_REPLACE_FIELDS: BatchReplaceFields = {
  requests: { slot: 4, at: 4, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [Replace.table], most: 50, entryBytes: 0 },
};

/** 1 to 50 replaces, each of another order. */
export const BatchReplace: BatchReplaceFields & { readonly table: TableLayout } = {
  ...BATCH_REPLACE_FIELDS,
  table: { name: 'BatchReplace', vtableBytes: 6, bytes: 8, fields: Object.values(BATCH_REPLACE_FIELDS) },
};

interface AmendFields {
  readonly orderId: FieldLayout;
  readonly baseAsset: FieldLayout;
  readonly newQuantity: FieldLayout;
  readonly bookQuantityDecimals: FieldLayout;
  readonly expectedAuthorizationRevision: FieldLayout;
  readonly timestampNs: FieldLayout;
  readonly userId: FieldLayout;
}

const AMEND_FIELDS: AmendFields = {
  orderId: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  baseAsset: { slot: 6, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  newQuantity: { slot: 8, at: 16, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookQuantityDecimals: { slot: 10, at: 40, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  expectedAuthorizationRevision: { slot: 12, at: 24, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timestampNs: { slot: 14, at: 32, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  userId: { slot: 16, at: 12, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** Lowers the total of an order; nothing is signed. */
export const Amend: AmendFields & { readonly table: TableLayout } = {
  ...AMEND_FIELDS,
  table: { name: 'Amend', vtableBytes: 18, bytes: 48, fields: Object.values(AMEND_FIELDS) },
};

/** One entry of a quote set: raw figures. */
export const Quote = {
  bytes: 16,
  price: 0,
  quantity: 8,
} as const;

interface QuoteSetFields {
  readonly signer: FieldLayout;
  readonly setId: FieldLayout;
  readonly baseAsset: FieldLayout;
  readonly bookPriceDecimals: FieldLayout;
  readonly bookQuantityDecimals: FieldLayout;
  readonly revision: FieldLayout;
  readonly bids: FieldLayout;
  readonly asks: FieldLayout;
  readonly account: FieldLayout;
  readonly isSpot: FieldLayout;
  readonly maxTradingFeesRate: FieldLayout;
  readonly protectionGroup: FieldLayout;
  readonly goodUntilTimestampNs: FieldLayout;
  readonly protocolVersion: FieldLayout;
  readonly signature: FieldLayout;
  readonly additionalSigners: FieldLayout;
  readonly postSignTimestamp: FieldLayout;
}

const QUOTE_SET_FIELDS: QuoteSetFields = {
  signer: { slot: 4, at: 4, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  setId: { slot: 6, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  baseAsset: { slot: 8, at: 12, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookPriceDecimals: { slot: 10, at: 74, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bookQuantityDecimals: { slot: 12, at: 75, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  revision: { slot: 14, at: 48, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bids: { slot: 16, at: 16, kind: 'structs', bytes: 4, alignment: 4, initial: 0, tables: [], most: 50, entryBytes: 16 },
  asks: { slot: 18, at: 20, kind: 'structs', bytes: 4, alignment: 4, initial: 0, tables: [], most: 50, entryBytes: 16 },
  account: { slot: 20, at: 72, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  isSpot: { slot: 22, at: 76, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  maxTradingFeesRate: { slot: 24, at: 24, kind: 'scalar', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protectionGroup: { slot: 26, at: 28, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  goodUntilTimestampNs: { slot: 28, at: 56, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protocolVersion: { slot: 30, at: 32, kind: 'scalar', bytes: 4, alignment: 4, initial: 1, tables: [], most: 0, entryBytes: 0 },
  signature: { slot: 32, at: 36, kind: 'bytes', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  additionalSigners: { slot: 34, at: 40, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [CoSigner.table], most: 16, entryBytes: 0 },
  postSignTimestamp: { slot: 36, at: 64, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** What shall rest in one market, in place of what the set has there. Signed, but for the last three. */
export const QuoteSet: QuoteSetFields & { readonly table: TableLayout } = {
  ...QUOTE_SET_FIELDS,
  table: { name: 'QuoteSet', vtableBytes: 38, bytes: 80, fields: Object.values(QUOTE_SET_FIELDS) },
};

interface CancelAllFields {
  readonly assetId: FieldLayout;
  readonly side: FieldLayout;
  readonly protectionGroup: FieldLayout;
  readonly quoteSetId: FieldLayout;
  readonly maxTs: FieldLayout;
}

const CANCEL_ALL_FIELDS: CancelAllFields = {
  assetId: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  side: { slot: 6, at: 24, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  protectionGroup: { slot: 8, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  quoteSetId: { slot: 10, at: 12, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  maxTs: { slot: 12, at: 16, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** Cancels all orders that are in every scope which is given; without any, all orders. Not signed. */
export const CancelAll: CancelAllFields & { readonly table: TableLayout } = {
  ...CANCEL_ALL_FIELDS,
  table: { name: 'CancelAll', vtableBytes: 14, bytes: 32, fields: Object.values(CANCEL_ALL_FIELDS) },
};

interface CancelledOrderFields {
  readonly orderId: FieldLayout;
}

const CANCELLED_ORDER_FIELDS: CancelledOrderFields = {
  orderId: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

export const CancelledOrder: CancelledOrderFields & { readonly table: TableLayout } = {
  ...CANCELLED_ORDER_FIELDS,
  table: { name: 'CancelledOrder', vtableBytes: 6, bytes: 8, fields: Object.values(CANCELLED_ORDER_FIELDS) },
};

interface CancelBatchFields {
  readonly orderIds: FieldLayout;
  readonly assetId: FieldLayout;
}

const CANCEL_BATCH_FIELDS: CancelBatchFields = {
  orderIds: { slot: 4, at: 4, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [CancelledOrder.table], most: 50, entryBytes: 0 },
  assetId: { slot: 6, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** Cancels orders by their ids; unknown ones are ignored. Not signed. */
export const CancelBatch: CancelBatchFields & { readonly table: TableLayout } = {
  ...CANCEL_BATCH_FIELDS,
  table: { name: 'CancelBatch', vtableBytes: 8, bytes: 16, fields: Object.values(CANCEL_BATCH_FIELDS) },
};

interface CancelAllAfterFields {
  readonly timeoutMs: FieldLayout;
}

const CANCEL_ALL_AFTER_FIELDS: CancelAllAfterFields = {
  timeoutMs: { slot: 4, at: 4, kind: 'scalar', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** Starts the dead-man timer of the user, or starts it again; 0 ends it. Not signed. */
export const CancelAllAfter: CancelAllAfterFields & { readonly table: TableLayout } = {
  ...CANCEL_ALL_AFTER_FIELDS,
  table: { name: 'CancelAllAfter', vtableBytes: 6, bytes: 8, fields: Object.values(CANCEL_ALL_AFTER_FIELDS) },
};

/** When the action passed each hop, nanoseconds of the node's clock; 0 for a hop that it did not reach. */
export const Timing = {
  bytes: 40,
  receivedNs: 0,
  verifiedNs: 8,
  sentNs: 16,
  matchedNs: 24,
  answeredNs: 32,
} as const;

interface AnswerFields {
  readonly action: FieldLayout;
  readonly status: FieldLayout;
  readonly orderId: FieldLayout;
  readonly assetId: FieldLayout;
  readonly processedAtNs: FieldLayout;
  readonly code: FieldLayout;
  readonly retryable: FieldLayout;
  readonly message: FieldLayout;
  readonly field: FieldLayout;
  readonly timing: FieldLayout;
}

const ANSWER_FIELDS: AnswerFields = {
  action: { slot: 4, at: 74, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  status: { slot: 6, at: 75, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  orderId: { slot: 8, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  assetId: { slot: 10, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  processedAtNs: { slot: 12, at: 24, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  code: { slot: 14, at: 72, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  retryable: { slot: 16, at: 76, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  message: { slot: 18, at: 12, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  field: { slot: 20, at: 16, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timing: { slot: 22, at: 32, kind: 'struct', bytes: 40, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/**
 * The answer to one create, replace, cancel or amend. `code`, `message`, `field` and `retryable` are those of a rejection.
 */
export const Answer: AnswerFields & { readonly table: TableLayout } = {
  ...ANSWER_FIELDS,
  table: { name: 'Answer', vtableBytes: 24, bytes: 80, fields: Object.values(ANSWER_FIELDS) },
};

interface RefusedQuoteFields {
  readonly side: FieldLayout;
  readonly price: FieldLayout;
  readonly code: FieldLayout;
}

const REFUSED_QUOTE_FIELDS: RefusedQuoteFields = {
  side: { slot: 4, at: 18, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  price: { slot: 6, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  code: { slot: 8, at: 16, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** An entry that was left out of its set. */
export const RefusedQuote: RefusedQuoteFields & { readonly table: TableLayout } = {
  ...REFUSED_QUOTE_FIELDS,
  table: { name: 'RefusedQuote', vtableBytes: 10, bytes: 24, fields: Object.values(REFUSED_QUOTE_FIELDS) },
};

interface QuoteSetAnswerFields {
  readonly status: FieldLayout;
  readonly setId: FieldLayout;
  readonly assetId: FieldLayout;
  readonly revision: FieldLayout;
  readonly processedAtNs: FieldLayout;
  readonly created: FieldLayout;
  readonly changed: FieldLayout;
  readonly kept: FieldLayout;
  readonly cancelled: FieldLayout;
  readonly refused: FieldLayout;
  readonly superseded: FieldLayout;
  readonly code: FieldLayout;
  readonly retryable: FieldLayout;
  readonly message: FieldLayout;
  readonly field: FieldLayout;
  readonly timing: FieldLayout;
}

const QUOTE_SET_ANSWER_FIELDS: QuoteSetAnswerFields = {
  status: { slot: 4, at: 90, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  setId: { slot: 6, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  assetId: { slot: 8, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  revision: { slot: 10, at: 24, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  processedAtNs: { slot: 12, at: 32, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  created: { slot: 14, at: 80, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  changed: { slot: 16, at: 82, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  kept: { slot: 18, at: 84, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  cancelled: { slot: 20, at: 86, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  refused: { slot: 22, at: 12, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [RefusedQuote.table], most: 100, entryBytes: 0 },
  superseded: { slot: 24, at: 91, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  code: { slot: 26, at: 88, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  retryable: { slot: 28, at: 92, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  message: { slot: 30, at: 16, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  field: { slot: 32, at: 20, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timing: { slot: 34, at: 40, kind: 'struct', bytes: 40, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** The answer to a quote set. What takes away is applied whatever `code` is, which is about what adds. */
export const QuoteSetAnswer: QuoteSetAnswerFields & { readonly table: TableLayout } = {
  ...QUOTE_SET_ANSWER_FIELDS,
  table: { name: 'QuoteSetAnswer', vtableBytes: 36, bytes: 96, fields: Object.values(QUOTE_SET_ANSWER_FIELDS) },
};

interface CancelsAnswerFields {
  readonly timing: FieldLayout;
}

const CANCELS_ANSWER_FIELDS: CancelsAnswerFields = {
  timing: { slot: 4, at: 8, kind: 'struct', bytes: 40, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** The cancels of a CancelAll or CancelBatch are on their way; `/orders` publishes what becomes of each order. */
export const CancelsAnswer: CancelsAnswerFields & { readonly table: TableLayout } = {
  ...CANCELS_ANSWER_FIELDS,
  table: { name: 'CancelsAnswer', vtableBytes: 6, bytes: 48, fields: Object.values(CANCELS_ANSWER_FIELDS) },
};

interface CancelAllAfterAnswerFields {
  readonly timeoutMs: FieldLayout;
  readonly firesAtNs: FieldLayout;
  readonly timing: FieldLayout;
}

const CANCEL_ALL_AFTER_ANSWER_FIELDS: CancelAllAfterAnswerFields = {
  timeoutMs: { slot: 4, at: 4, kind: 'scalar', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  firesAtNs: { slot: 6, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timing: { slot: 8, at: 16, kind: 'struct', bytes: 40, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** The answer to a CancelAllAfter. */
export const CancelAllAfterAnswer: CancelAllAfterAnswerFields & { readonly table: TableLayout } = {
  ...CANCEL_ALL_AFTER_ANSWER_FIELDS,
  table: { name: 'CancelAllAfterAnswer', vtableBytes: 10, bytes: 56, fields: Object.values(CANCEL_ALL_AFTER_ANSWER_FIELDS) },
};

interface SubmittedFields {
}

const SUBMITTED_FIELDS: SubmittedFields = {
};

/** The batch with the request id of this frame was read; an `Answer` to each of its orders follows. */
export const Submitted: SubmittedFields & { readonly table: TableLayout } = {
  ...SUBMITTED_FIELDS,
  table: { name: 'Submitted', vtableBytes: 4, bytes: 8, fields: Object.values(SUBMITTED_FIELDS) },
};

interface DetailFields {
  readonly name: FieldLayout;
  readonly value: FieldLayout;
}

const DETAIL_FIELDS: DetailFields = {
  name: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  value: { slot: 6, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** A further member of an error, such as `bucket` or `units_available` of RATE_LIMITED. */
export const Detail: DetailFields & { readonly table: TableLayout } = {
  ...DETAIL_FIELDS,
  table: { name: 'Detail', vtableBytes: 8, bytes: 16, fields: Object.values(DETAIL_FIELDS) },
};

interface FailureFields {
  readonly code: FieldLayout;
  readonly retryable: FieldLayout;
  readonly message: FieldLayout;
  readonly field: FieldLayout;
  readonly details: FieldLayout;
}

const FAILURE_FIELDS: FailureFields = {
  code: { slot: 4, at: 16, kind: 'scalar', bytes: 2, alignment: 2, initial: 0, tables: [], most: 0, entryBytes: 0 },
  retryable: { slot: 6, at: 18, kind: 'scalar', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  message: { slot: 8, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  field: { slot: 10, at: 8, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
  details: { slot: 12, at: 12, kind: 'tables', bytes: 4, alignment: 4, initial: 0, tables: [Detail.table], most: 16, entryBytes: 0 },
};

/** A request without answers to its orders, or, without a request id, the end of the connection. */
export const Failure: FailureFields & { readonly table: TableLayout } = {
  ...FAILURE_FIELDS,
  table: { name: 'Failure', vtableBytes: 14, bytes: 24, fields: Object.values(FAILURE_FIELDS) },
};

interface ShutdownFields {
}

const SHUTDOWN_FIELDS: ShutdownFields = {
};

/**
 * The service stops soon: earlier requests are answered, later ones rejected, then the connection is closed with 1001.
 */
export const Shutdown: ShutdownFields & { readonly table: TableLayout } = {
  ...SHUTDOWN_FIELDS,
  table: { name: 'Shutdown', vtableBytes: 4, bytes: 8, fields: Object.values(SHUTDOWN_FIELDS) },
};

interface ResyncFields {
  readonly message: FieldLayout;
}

const RESYNC_FIELDS: ResyncFields = {
  message: { slot: 4, at: 4, kind: 'text', bytes: 4, alignment: 4, initial: 0, tables: [], most: 0, entryBytes: 0 },
};

/** The client did not read fast enough: later answers are lost, and the connection is closed with 1013. */
export const Resync: ResyncFields & { readonly table: TableLayout } = {
  ...RESYNC_FIELDS,
  table: { name: 'Resync', vtableBytes: 6, bytes: 8, fields: Object.values(RESYNC_FIELDS) },
};

/** Types of the union; 0 is none. */
export const Body = {
  Create: 1,
  Replace: 2,
  Cancel: 3,
  BatchCreate: 4,
  BatchReplace: 5,
  Answer: 6,
  Submitted: 7,
  Failure: 8,
  Shutdown: 9,
  Resync: 10,
  Amend: 11,
  QuoteSet: 12,
  QuoteSetAnswer: 13,
  CancelAll: 14,
  CancelBatch: 15,
  CancelAllAfter: 16,
  CancelsAnswer: 17,
  CancelAllAfterAnswer: 18,
} as const;

interface FrameFields {
  readonly requestId: FieldLayout;
  readonly timestampNs: FieldLayout;
  readonly bodyType: FieldLayout;
  readonly body: FieldLayout;
}

const FRAME_FIELDS: FrameFields = {
  requestId: { slot: 4, at: 8, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  timestampNs: { slot: 6, at: 16, kind: 'scalar', bytes: 8, alignment: 8, initial: 0, tables: [], most: 0, entryBytes: 0 },
  bodyType: { slot: 8, at: 24, kind: 'union-type', bytes: 1, alignment: 1, initial: 0, tables: [], most: 0, entryBytes: 0 },
  body: { slot: 10, at: 4, kind: 'union', bytes: 4, alignment: 4, initial: 0, tables: [Create.table, Replace.table, Cancel.table, BatchCreate.table, BatchReplace.table, Answer.table, Submitted.table, Failure.table, Shutdown.table, Resync.table, Amend.table, QuoteSet.table, QuoteSetAnswer.table, CancelAll.table, CancelBatch.table, CancelAllAfter.table, CancelsAnswer.table, CancelAllAfterAnswer.table], most: 0, entryBytes: 0 },
};

export const Frame: FrameFields & { readonly table: TableLayout } = {
  ...FRAME_FIELDS,
  table: { name: 'Frame', vtableBytes: 12, bytes: 32, fields: Object.values(FRAME_FIELDS) },
};
