/**
 * Bodies of the order actions (wire.md 4.2, 4.3, 7.4 to 7.8): signed objects, their wrappers, and batches.
 *
 * These actions are hot: schemas/generate-wire.ts writes their readers, texts and tables from the shapes here, a test compares
 * both. Both reject an invalid figure or id, the readers as INVALID_ORDER after session and rate (AMB-91).
 */
import type { TOptional } from '@sinclair/typebox';
import {
  BATCH_ITEMS_MAX,
  DEAD_MAN_MS_MAX,
  DEAD_MAN_MS_MIN,
  PROTECTION_GROUP_BYTES_MAX,
  QUOTE_SET_ID_BYTES_MAX,
  QUOTES_PER_SIDE_MAX,
} from '../../core/limits.ts';
import type { TimestampNs } from '../../core/units.ts';
import {
  ADDITIONAL_SIGNERS_MAX,
  type AdditionalSigner,
  ASSERTION_BYTES_MAX,
  PERSONAL_SIGNATURE_BYTES,
  SIGNATURE_BYTES,
  type SignerKey,
} from '../signatures.ts';
import { type SpelledAsset, STRING_DECODED_MAX } from '../signed-text.ts';
import {
  ASSET_ID_GIVEN,
  byteList,
  choice,
  closed,
  DECIMALS,
  described,
  either,
  FLAG,
  INSTANT,
  inside,
  listOf,
  NANOSECONDS,
  named,
  nullable,
  ORDER_ID_GIVEN,
  open,
  optional,
  RAW,
  readAs,
  type Shape,
  SIDE_WORDS,
  SIGNATURE,
  USER_ID_GIVEN,
  words,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

const TIME_IN_FORCE: Shape = named(
  'TimeInForce',
  'Good till cancelled, good till a time, immediate or cancel; fill or kill is IOC with `fill_or_kill`',
  choice({
    GTC: closed({ post_only: FLAG }),
    GTD: closed({ post_only: FLAG, timestamp_ns: INSTANT }),
    IOC: closed({ fill_or_kill: FLAG }),
  }),
);

const QUOTE_INTEGER = described(RAW, 'USD as an integer of scale 10^-book_quantity_decimals');

const DETAILS: Shape = readAs(
  'order details',
  named(
    'OrderDetails',
    'A limit order, or a market order sized in base or in quote with an optional cap in the other',
    choice({
      Limit: closed({ limit_price: RAW, quantity: RAW, time_in_force: TIME_IN_FORCE }),
      Market: closed({
        quantity: choice({
          BaseAsset: closed({ quantity: RAW, max_sellable_amount: optional(nullable(QUOTE_INTEGER)) }),
          QuoteAsset: closed({ quantity: QUOTE_INTEGER, max_sellable_quantity: optional(nullable(RAW)) }),
        }),
        fill_or_kill: FLAG,
      }),
    }),
  ),
);

const CONDITION: Shape = named(
  'TriggerCondition',
  'Holds once a confirmed trade reaches the price',
  choice({ PriceAbove: closed({ price: RAW }), PriceBelow: closed({ price: RAW }) }),
);

const TRIGGER: Shape = readAs(
  'trigger',
  named(
    'Trigger',
    'Releases the order when its condition holds; with a parent also as the parent fills',
    closed({ parent_order_id: optional(nullable(ORDER_ID_GIVEN)), condition: CONDITION }),
  ),
);

const PROTOCOL_VERSION = readAs('protocol version', described(Type.Integer({ minimum: 1, maximum: 1 }), 'always 1'));
const PRICE = readAs('raw price', RAW);
const QUANTITY = readAs('raw quantity', RAW);

const TARGET = closed({
  account: Type.Integer({ minimum: 0, maximum: 65_535, description: 'sub-account index' }),
  is_spot: described(FLAG, 'true moves balances, false a margin position'),
});
const FEE_LIMIT = Type.Integer({
  minimum: 0,
  maximum: 4_294_967_295,
  description: 'the most you pay, 1e-6 of notional; must cover the market’s rate',
});

/** The name of a protection group (MMP-01). */
export const PROTECTION_GROUP_NAME: Shape<string> = Type.String({
  pattern: `^[A-Za-z0-9+/=_\\-.:]{1,${PROTECTION_GROUP_BYTES_MAX}}$`,
  description: `a protection group of yours in this market: 1 to ${PROTECTION_GROUP_BYTES_MAX} characters of an order id`,
});
const PROTECTION_GROUP: Shape<string> = readAs('protection group', PROTECTION_GROUP_NAME);

export const ORDER: Shape = named(
  'Order',
  'The signed object of a create. Canonical bytes: compact JSON, members in this order, unset ones null',
  closed({
    signer: USER_ID_GIVEN,
    order_id: ORDER_ID_GIVEN,
    base_asset: ASSET_ID_GIVEN,
    book_price_decimals: described(DECIMALS, "the market's own"),
    book_quantity_decimals: described(DECIMALS, "the market's own"),
    details: DETAILS,
    side: readAs('side', SIDE_WORDS),
    trigger: optional(nullable(TRIGGER)),
    creation_timestamp_ns: inside('creationNs', INSTANT),
    target: TARGET,
    reduce_only: FLAG,
    max_trading_fees_rate: FEE_LIMIT,
    protocol_version: PROTOCOL_VERSION,
  }),
);

export const REPLACE_TERMS: Shape = named(
  'Replace',
  'The signed object of a replace; null leaves a member unchanged. Quantity decimals stand before price decimals',
  closed({
    order_id: ORDER_ID_GIVEN,
    timestamp_ns: described(INSTANT, 'a replace older than the last one applied is refused'),
    new_price_limit: optional(nullable(PRICE)),
    new_quantity: optional(nullable(described(QUANTITY, 'the new total, the filled part included'))),
    new_trigger: readAs('new trigger', optional(nullable(either(CONDITION, TRIGGER)))),
    book_quantity_decimals: DECIMALS,
    book_price_decimals: DECIMALS,
    protocol_version: PROTOCOL_VERSION,
  }),
);

export const COMPLETE_REPLACE: Shape = named(
  'CompleteReplace',
  'The signed object of a replace with complete terms, its market among them; no trigger: the order has none',
  closed({
    order_id: ORDER_ID_GIVEN,
    base_asset: readAs('market of complete terms', ASSET_ID_GIVEN),
    timestamp_ns: described(INSTANT, 'a replace older than the last one applied is refused'),
    new_price_limit: PRICE,
    new_quantity: described(QUANTITY, 'the new total, the filled part included'),
    new_trigger: readAs('new trigger', optional(nullable(CONDITION))),
    book_quantity_decimals: DECIMALS,
    book_price_decimals: DECIMALS,
    protocol_version: optional({ ...PROTOCOL_VERSION, default: 1 }),
  }),
);

export const CANCEL_TERMS: Shape = named(
  'Cancel',
  'The signed object of a cancel',
  closed({
    order_id: ORDER_ID_GIVEN,
    asset_id: inside('asset', ASSET_ID_GIVEN),
    signer: USER_ID_GIVEN,
    protocol_version: PROTOCOL_VERSION,
  }),
);

/** Raw price and quantity of an entry of a quote set. */
const QUOTE: Shape = listOf(RAW, { minItems: 2, maxItems: 2 });

const QUOTES: Shape = readAs(
  'quote entries',
  described(
    listOf(QUOTE, { maxItems: QUOTES_PER_SIDE_MAX }),
    '`[price, quantity]` each, raw; the best price first, no price twice. The quantity is what shall rest',
  ),
);

const QUOTE_SET: Shape = named(
  'QuoteSet',
  'The signed object of a quote set: what shall rest in one market, in place of what the set has there. Both sides empty: the set ends',
  closed({
    signer: USER_ID_GIVEN,
    set_id: readAs(
      'set id',
      Type.String({
        pattern: `^(?!sys-)[A-Za-z0-9+/=_\\-.]{1,${QUOTE_SET_ID_BYTES_MAX}}$`,
        description: `1 to ${QUOTE_SET_ID_BYTES_MAX} of A-Z a-z 0-9 + / = _ - . and not sys-…; its entries are the orders <set_id>:<n>`,
      }),
    ),
    base_asset: ASSET_ID_GIVEN,
    book_price_decimals: described(DECIMALS, "the market's own"),
    book_quantity_decimals: described(DECIMALS, "the market's own"),
    revision: inside('revisionNs', described(INSTANT, 'above that of the set before; at most 60 s old, 5 s ahead')),
    bids: QUOTES,
    asks: QUOTES,
    target: TARGET,
    max_trading_fees_rate: FEE_LIMIT,
    protection_group: optional(nullable(PROTECTION_GROUP)),
    good_until_timestamp_ns: inside(
      'goodUntilNs',
      optional(nullable(described(INSTANT, 'then the set ends; null: 30 days after its revision'))),
    ),
    protocol_version: PROTOCOL_VERSION,
  }),
);

const BYTE = Type.Integer({ minimum: 0, maximum: 255 });
const CO_SIGNATURE = byteList(SIGNATURE_BYTES);

/** A key of a co-signer (wire.md 4.4, 7.20). */
export const SIGNER_KEY: Shape<unknown, SignerKey> = readAs(
  'signer key',
  named(
    'SignerKey',
    'The key of a co-signer, compressed',
    choice({ Ed25519: byteList(32), Secp256k1: byteList(33), P256: byteList(33), WebAuthn: byteList(33) }),
  ),
);

const PLAIN_KEY = choice({ Ed25519: byteList(32), P256: byteList(33) });

const ADDITIONAL_SIGNERS: Shape = named(
  'AdditionalSigners',
  'Co-signers, all over the same canonical bytes; a secp256k1 signature of 65 bytes is over their personal-message hash, a WebAuthn signature is the bytes of its assertion in JSON',
  listOf(
    either(
      Type.Object({ signer: PLAIN_KEY, signature: CO_SIGNATURE }),
      Type.Object({
        signer: choice({ Secp256k1: byteList(33) }),
        signature: either(CO_SIGNATURE, byteList(PERSONAL_SIGNATURE_BYTES)),
      }),
      Type.Object({
        signer: choice({ WebAuthn: byteList(33) }),
        signature: listOf(BYTE, { maxItems: ASSERTION_BYTES_MAX }),
      }),
    ),
    { maxItems: ADDITIONAL_SIGNERS_MAX },
  ),
);

/** 64 integers, or none where co-signers sign. */
const MASTER_SIGNATURE = either(SIGNATURE, listOf(BYTE, { maxItems: 0 }));

/** The members beside every signed object of an order action. */
const SIGNING = {
  signature: readAs('signature', MASTER_SIGNATURE),
  additional_signers: readAs('co-signers', optional(nullable(ADDITIONAL_SIGNERS))),
  post_sign_timestamp: inside('postSignNs', described(INSTANT, 'when it was sent: at most 60 s old; not signed')),
};

/** The members beside the `inner` of an account action. */
export const ACTION_SIGNING: {
  readonly signature: Shape<unknown, Uint8Array>;
  readonly additional_signers: TOptional<Shape<unknown, readonly AdditionalSigner[]>>;
} = { signature: SIGNING.signature, additional_signers: optional(readAs('co-signers', nullable(ADDITIONAL_SIGNERS))) };

export const CREATE_REQUEST: Shape = named(
  'CreateRequest',
  'A signed order. `protection_group` is not signed',
  Type.Object({ order: ORDER, ...SIGNING, protection_group: optional(nullable(PROTECTION_GROUP)) }),
);
const MARKET_BESIDE = inside('asset', readAs('market beside the terms', ASSET_ID_GIVEN));

export const REPLACE_REQUEST: Shape = named(
  'ReplaceRequest',
  'A signed change of an order. `signer` and `asset_id` are not signed; with `base_asset` in `request` there is no `asset_id`',
  either(
    Type.Object({ request: REPLACE_TERMS, signer: USER_ID_GIVEN, asset_id: MARKET_BESIDE, ...SIGNING }),
    Type.Object({ request: COMPLETE_REPLACE, signer: USER_ID_GIVEN, ...SIGNING }),
  ),
);
export const CANCEL_REQUEST: Shape = named(
  'CancelRequest',
  'A signed cancel',
  Type.Object({ cancel: CANCEL_TERMS, ...SIGNING }),
);

export const QUOTE_SET_REQUEST: Shape = named(
  'QuoteSetRequest',
  'A signed quote set',
  Type.Object({ quotes: QUOTE_SET, ...SIGNING }),
);

/** What of an amend the SDK writes: nothing of it is signed. */
export const AMEND_BODY: ReturnType<typeof closed> = closed({
  order_id: ORDER_ID_GIVEN,
  base_asset: inside('asset', ASSET_ID_GIVEN),
  new_quantity: described(QUANTITY, 'the new total, the filled part included; below the total in force'),
  book_quantity_decimals: described(DECIMALS, "the market's own"),
  expected_authorization_revision: inside(
    'expectedRevisionNs',
    optional(
      nullable(
        described(INSTANT, '`timestamp_ns` of the last replace or amend of the order; null: none since its create'),
      ),
    ),
  ),
  timestamp_ns: described(INSTANT, 'above the revision, at most 60 s old; becomes the revision'),
  source: inside('', optional(words('User'))),
});

export const AMEND_REQUEST: Shape = named(
  'AmendRequest',
  'Lowers the total of an order; not signed. `target`, `oms_operator_pubkey` and `receive_timestamp_ns` are not used',
  closed({
    request: inside('amend', AMEND_BODY),
    user_id: inside('user', USER_ID_GIVEN),
    target: inside('', optional(closed({ account: Type.Integer({ minimum: 0, maximum: 65_535 }), is_spot: FLAG }))),
    oms_operator_pubkey: inside('', optional(Type.String({ maxLength: STRING_DECODED_MAX }))),
    receive_timestamp_ns: inside('', optional(nullable(NANOSECONDS))),
  }),
);

const BATCH = { minItems: 1, maxItems: BATCH_ITEMS_MAX };

export const BATCH_CREATE_REQUEST: Shape = named(
  'BatchCreateRequest',
  'Up to 50 signed orders; an order that is refused fails alone',
  Type.Object({ orders: listOf(CREATE_REQUEST, BATCH) }),
);
const REPLACES = listOf(REPLACE_REQUEST, BATCH);
export const BATCH_REPLACE_REQUEST: Shape = named(
  'BatchReplaceRequest',
  'Up to 50 signed changes, no order id twice; `orders`, `replaces` or a bare array are read too',
  either(
    Type.Object({ requests: REPLACES }),
    Type.Object({ orders: REPLACES }),
    Type.Object({ replaces: REPLACES }),
    REPLACES,
  ),
);

const ORDER_IDS = listOf(Type.String({ maxLength: STRING_DECODED_MAX, description: 'unknown ids are ignored' }), BATCH);
/** Both spellings of a cancel-batch. */
export type CancelBatchRead =
  | { readonly orderIds: readonly string[]; readonly asset: SpelledAsset | null }
  | readonly string[];

export const CANCEL_BATCH_REQUEST: Shape<unknown, CancelBatchRead> = named(
  'CancelBatchRequest',
  '1 to 50 ids, duplicates collapse; without `asset_id` in every market; a bare array of ids is read too',
  either(open({ order_ids: ORDER_IDS, asset_id: inside('asset', optional(nullable(ASSET_ID_GIVEN))) }), ORDER_IDS),
);

/** A cancel of all orders in a scope; null: of any. */
export interface CancelAllRead {
  readonly asset: SpelledAsset | null;
  readonly side: 'Buy' | 'Sell' | null;
  readonly protectionGroup: string | null;
  readonly quoteSetId: string | null;
  readonly maxNs: TimestampNs | null;
}

export const QUOTE_SET_ID: Shape<string> = Type.String({
  pattern: `^(?!sys-)[A-Za-z0-9+/=_\\-.]{1,${QUOTE_SET_ID_BYTES_MAX}}$`,
  description: 'the id of a quote set',
});

export const CANCEL_ALL_REQUEST: Shape<unknown, CancelAllRead> = named(
  'CancelAllRequest',
  'Cancels all orders that are in every scope which is given; without any, all orders',
  closed({
    asset_id: inside('asset', optional(nullable(ASSET_ID_GIVEN))),
    side: optional(nullable(SIDE_WORDS)),
    protection_group: optional(nullable(PROTECTION_GROUP_NAME)),
    quote_set_id: optional(nullable(QUOTE_SET_ID)),
    max_ts: inside('maxNs', optional(nullable(described(INSTANT, 'cancels orders strictly older than this')))),
  }),
);

export const CANCEL_ALL_AFTER_REQUEST: Shape<unknown, { readonly timeoutMs: number }> = named(
  'CancelAllAfterRequest',
  `Starts the user's dead-man timer, or starts it again: ${DEAD_MAN_MS_MIN} to ${DEAD_MAN_MS_MAX} ms; 0 ends it`,
  open({ timeout_ms: Type.Integer({ minimum: 0, maximum: DEAD_MAN_MS_MAX }) }),
);
