/** Accounts: sessions, inventory, positions, margin, solvency, simulation, transfers, names, multisig (wire.md 3, 7.11 to 7.17, 7.20). */
import type {
  AddSignerRead,
  AuthRead,
  MakerOrderRead,
  SettlementRead,
  SettlementRequestRead,
  SignedClosePosition,
  SignedRead,
  SignedWithdrawal,
  SignedWithdrawalCancel,
  TransferRead,
} from '../action-types.ts';
import type {
  ApprovalReply,
  AtRisk,
  ClosePreview,
  Inventory,
  MarginReply,
  NextNonces,
  Position,
  PositionBasis,
  Renaming,
  Simulation,
  SubAccountName,
  Withdrawal,
} from '../reply-types.ts';
import type { SignerKey } from '../signatures.ts';
import type { SpelledAsset, SpelledChain } from '../signed-text.ts';
import { pageOf } from './order-reply-shapes.ts';
import { ACTION_SIGNING, SIGNER_KEY } from './order-shapes.ts';
import {
  ASSET_ID,
  ASSET_ID_GIVEN,
  before,
  COUNT,
  choice,
  closed,
  DECIMAL,
  DECIMALS,
  defaulted,
  described,
  either,
  FLAG,
  INSTANT,
  inside,
  leftOut,
  listOf,
  mapByNumber,
  mapOf,
  NANOSECONDS,
  NULL,
  named,
  nullable,
  open,
  openWord,
  optional,
  readAs,
  type Shape,
  SIDE_WORDS,
  SIGNATURE,
  SUB_ACCOUNT,
  sent,
  TEXT,
  U64,
  USER_ID,
  USER_ID_GIVEN,
  unread,
  WHOLE,
  words,
} from './shape-kit.ts';
import { Type } from './type-builder.ts';

const INDEX_NAME = '^(?:0|[1-9][0-9]{0,2})$';
const ASSET_NAME = ASSET_ID['pattern'] as string;

// ---- sessions

export const NONCE: Shape = named(
  'Nonce',
  'What a login signs: its own UTF-8 bytes. Lives five minutes; the same until it is used',
  Type.Object({ value: TEXT, ce_nonce: described(COUNT, 'config_nonce of the multisig configuration') }),
);
export const AUTH_REQUEST: Shape<unknown, AuthRead> = named(
  'AuthRequest',
  'A login',
  open({
    user_id: inside('user', USER_ID_GIVEN),
    nonce: Type.String({ maxLength: 1_024 }),
    ...ACTION_SIGNING,
    scope: described(
      optional(words('full', 'read')),
      '`full` unless it is given; for `read` the signed bytes are `read:` and the nonce',
    ),
  }),
);
export const TOKEN: Shape = named(
  'Token',
  'A session of 24 hours',
  Type.Object({ token: TEXT, expiry_ns: NANOSECONDS }),
);
export const EMPTY: Shape = named('Empty', 'Done', Type.Object({}));
export const SESSION_ID: Shape<string> = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' });
export const SESSIONS: Shape = named(
  'Sessions',
  'Your sessions, oldest first. No token is among them',
  listOf(
    Type.Object({
      id: described(TEXT, 'for `DELETE /sessions/{session_id}`; it opens nothing'),
      scope: words('full', 'read'),
      created_ns: NANOSECONDS,
      last_used_ns: NANOSECONDS,
      address: described(nullable(TEXT), 'of the client that logged in; null where addresses are not limited'),
    }),
  ),
);

// ---- balances

const LEGS = closed({ credits: DECIMAL, liabilities: DECIMAL });

interface MarginLegsView {
  readonly credits: string;
  readonly liabilities: string;
}

export interface InventoryAccountView {
  /** `spot`, `cross_margin`, `isolated_margin`. */
  readonly kind: string;
  readonly name: string;
  /** Isolated accounts only. */
  readonly asset?: string;
  /** Available decimal amounts by asset id: owned and not locked. */
  readonly spot: ReadonlyMap<string, string>;
  readonly margins: ReadonlyMap<string, { readonly base: MarginLegsView; readonly quote: MarginLegsView }>;
}

export interface InventoryView {
  readonly is_mm: boolean;
  /** By sub-account index. */
  readonly accounts: ReadonlyMap<string, InventoryAccountView>;
}

export const INVENTORY: Shape<InventoryView, { readonly accounts: Inventory }> = named(
  'Inventory',
  'What is owned and not locked, by sub-account; order holds do not reduce it',
  open({
    is_mm: unread(described(FLAG, 'a market maker')),
    accounts: mapByNumber(
      INDEX_NAME,
      open({
        kind: openWord(words('spot', 'cross_margin', 'isolated_margin')),
        name: TEXT,
        asset: unread(optional(described(ASSET_ID, 'isolated accounts only'))),
        spot: mapOf(ASSET_NAME, DECIMAL),
        margins: unread(mapOf(ASSET_NAME, Type.Object({ base: LEGS, quote: LEGS }))),
      }),
    ),
  }),
);

export const USER_POSITION: Shape<unknown, Position> = named(
  'Position',
  'A margin position with its two legs; `closed` while only a quote rest is left',
  open({
    asset_id: ASSET_ID,
    name: unread(described(TEXT, "the sub-account's")),
    sub_account_index: inside('subAccount', SUB_ACCOUNT),
    side: words('long', 'short', 'closed'),
    size: DECIMAL,
    base_credits: unread(DECIMAL),
    base_liabilities: unread(DECIMAL),
    quote_credits: DECIMAL,
    quote_liabilities: DECIMAL,
    entry_price: optional(nullable(DECIMAL)),
    mark_price: optional(nullable(DECIMAL)),
    unrealized_pnl: optional(nullable(DECIMAL)),
    margin: optional(nullable(DECIMAL)),
    leverage: optional(nullable(DECIMAL)),
    liquidation_price: optional(nullable(DECIMAL)),
  }),
);
export const POSITIONS: Shape = listOf(USER_POSITION);
export const POSITION_PAGE: Shape = pageOf('PositionPage', 'positions', 'total_positions', USER_POSITION);

export const CLOSE_ALL_PREVIEW: Shape<unknown, ClosePreview> = named(
  'CloseAllPreview',
  'The market orders that would close every position of a sub-account; an asset without a price stands under `errors`',
  open({
    orders: listOf(
      open({
        asset_id: ASSET_ID,
        side: SIDE_WORDS,
        quantity: described(COUNT, 'raw book units'),
        suggested_max_sellable_amount: unread(nullable(COUNT)),
        oracle_price: DECIMAL,
        book_price_decimals: unread(DECIMALS),
        book_quantity_decimals: unread(DECIMALS),
        sub_account_index: inside('subAccount', SUB_ACCOUNT),
        reduce_only: unread(FLAG),
      }),
    ),
    errors: mapOf(ASSET_NAME, TEXT),
  }),
);

const MARGIN_POSITION = Type.Object({
  asset_id: ASSET_ID,
  side: words('Long', 'Short'),
  size: DECIMAL,
  notional_value: DECIMAL,
  margin: described(DECIMAL, 'its part of `mm_requirement`'),
});

export const MARGIN: Shape<unknown, MarginReply> = named(
  'Margin',
  'The margin accounts: equity at mark, the surpluses at the worse of oracle and mark. `available_margin` is trading capacity',
  open({
    accounts: mapByNumber(
      INDEX_NAME,
      open({
        account_equity: inside('equity', DECIMAL),
        available_margin: inside('available', DECIMAL),
        utilized_margin: inside('utilized', DECIMAL),
        maintenance_margin_surplus: inside('maintenanceSurplus', DECIMAL),
        account_leverage: inside('leverage', nullable(DECIMAL)),
        is_solvent: FLAG,
        is_liquidatable: FLAG,
        im_surplus: inside('initialSurplus', DECIMAL),
        unrealized_pnl: DECIMAL,
        positions: unread(optional(nullable(listOf(MARGIN_POSITION)))),
        total_upnl: unread(DECIMAL),
        mm_requirement: inside(
          'maintenanceRequirement',
          nullable(described(DECIMAL, 'maintenance requirement; null while a price is missing')),
        ),
        net_apy: unread(nullable(DECIMAL)),
        margin_calls: unread(listOf(TEXT)),
        netting: unread(nullable(listOf(TEXT))),
      }),
    ),
    warnings: before(
      [],
      listOf(
        open({
          sub_account: SUB_ACCOUNT,
          code: openWord(words('PRICE_MISSING', 'PRICE_STALE')),
          message: TEXT,
          asset: inside('assetId', nullable(ASSET_ID)),
        }),
      ),
    ),
  }),
);

export const SOLVENCY: Shape = named(
  'Solvency',
  'How far every margin account is from liquidation, in USD',
  Type.Object({
    accounts: mapOf(
      INDEX_NAME,
      open({ is_solvent: FLAG, distance_from_liquidation: inside('maintenanceSurplus', DECIMAL) }),
    ),
  }),
);

/** A signed base-10 integer as a string. */
const SIGNED_WHOLE: Shape<string> = Type.String({
  pattern: '^(?:0|-?[1-9][0-9]{0,77})$',
  description: 'base-10 integer as a string',
});

export interface SimulateRead {
  readonly subAccount: number;
  readonly trade: {
    readonly asset: SpelledAsset;
    readonly isBuy: boolean;
    readonly size: string;
    readonly limitPrice: string | null;
    readonly tradeType: 'margin' | 'spot' | null;
  };
  readonly pendingTransfers: readonly { readonly asset: SpelledAsset; readonly amount: string }[] | null;
}

export const SIMULATE_REQUEST: Shape<unknown, SimulateRead> = named(
  'SimulateRequest',
  'A trade to try on. Integers are strings of 18-decimal units',
  open({
    sub_account: SUB_ACCOUNT,
    trade: open({
      asset: ASSET_ID_GIVEN,
      is_buy: FLAG,
      size: WHOLE,
      limit_price: optional(described(nullable(WHOLE), 'USD of one unit; without it the higher of oracle and mark')),
      trade_type: optional(words('margin', 'spot')),
    }),
    pending_transfers: optional(
      listOf(open({ asset: ASSET_ID_GIVEN, amount: described(SIGNED_WHOLE, 'negative leaves the account') })),
    ),
  }),
);

export const SIMULATION: Shape<unknown, Simulation> = named(
  'Simulation',
  'The margin account as it would be after the trade, and whether the trade would be admitted',
  open({
    account_equity: inside('equity', DECIMAL),
    available_margin: inside('available', DECIMAL),
    mm_surplus: inside('maintenanceSurplus', DECIMAL),
    account_leverage: inside('leverage', nullable(DECIMAL)),
    utilized_margin: unread(DECIMAL),
    margin_required: DECIMAL,
    margin_impact: DECIMAL,
    is_solvent: FLAG,
    trade_accepted: inside('isAccepted', FLAG),
    liquidation_price: optional(nullable(DECIMAL)),
    positions: unread(
      listOf(
        Type.Object({
          asset_id: ASSET_ID,
          side: words('Long', 'Short'),
          size: DECIMAL,
          notional_value: DECIMAL,
          margin: DECIMAL,
        }),
      ),
    ),
  }),
);

const SIDE_AT_RISK = open({
  quantity: described(DECIMAL, 'all positions of these accounts on this side'),
  liquidation_price: nullable(
    described(DECIMAL, 'average by quantity of the prices that liquidate an account while all other prices stay'),
  ),
});

/** wire.md G14. */
export const AT_RISK: Shape<unknown, AtRisk> = named(
  'AtRisk',
  'Positions of all accounts that borrow and have a maintenance surplus below a tenth of their maintenance requirement; assets without any are left out',
  open({
    timestamp_ns: NANOSECONDS,
    assets: mapOf(ASSET_NAME, open({ long: SIDE_AT_RISK, short: SIDE_AT_RISK })),
  }),
);

// ---- actions of an account

const ACCOUNT_TYPE = either(
  NULL,
  words('Spot', 'CrossMargin'),
  choice({ Spot: NULL, CrossMargin: NULL, Isolated: closed({ asset: ASSET_ID_GIVEN }) }),
);
const ACCOUNT_INDEX: Shape<number> = Type.Integer({ minimum: 0, maximum: 65_535, description: 'sub-account index' });
const NONCE_NUMBER = described(U64, 'strictly growing per user and kind of action; the SDK uses milliseconds');

export const TRANSFER: Shape<unknown, TransferRead> = named(
  'Transfer',
  'The signed object of a transfer. A target that does not exist is created with the kind `target_account_type`, else null',
  closed({
    user: USER_ID_GIVEN,
    source_index: ACCOUNT_INDEX,
    target_index: ACCOUNT_INDEX,
    transfer_asset: ASSET_ID_GIVEN,
    transfer_amount: readAs('u256 text', described(WHOLE, 'integer of 18-decimal units, as a string')),
    target_account_type: optional(ACCOUNT_TYPE),
    nonce: NONCE_NUMBER,
  }),
);
export const TRANSFER_REQUEST: Shape<unknown, SignedRead<TransferRead>> = named(
  'TransferRequest',
  'A signed transfer between sub-accounts',
  open({ inner: TRANSFER, ...ACTION_SIGNING }),
);

export const CLOSE_POSITION: Shape<unknown, SignedClosePosition> = named(
  'ClosePosition',
  'The signed object of a close-position: folds what is left of a flat position into the spot balance',
  closed({
    user: USER_ID_GIVEN,
    account: ACCOUNT_INDEX,
    asset_identifier: inside('asset', ASSET_ID_GIVEN),
    nonce: NONCE_NUMBER,
  }),
);
export const CLOSE_POSITION_REQUEST: Shape<unknown, SignedRead<SignedClosePosition>> = named(
  'ClosePositionRequest',
  'A signed close-position',
  open({ inner: CLOSE_POSITION, ...ACTION_SIGNING }),
);

const AMOUNT_TEXT = Type.String({
  pattern: '^[0-9a-zA-Z]{1,78}$',
  description: 'hex of 18-decimal units: `"10"` is sixteen; decimal where the node has `amount_text` `decimal`',
});
const TOKEN_ASSET = readAs(
  'token',
  Type.String({
    pattern: '^(?:0[xX])?(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})@(?:0[xX])?[0-9a-fA-F]{18}$',
    description: '`<token>@<chain id>`: an index names no token',
  }),
);
const ADDRESS_TEXT = Type.String({
  pattern: '^(?:0[xX])?(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$',
  description: '64 hex digits, an address of 20 bytes first',
});
const ADDRESS = readAs('address', ADDRESS_TEXT);

const REQUEST_ID = Type.String({
  pattern: '^[A-Za-z0-9+/=_\\-.:]{1,40}$',
  description: 'tells the request from an equal one: a signed text is accepted once. Signed, the last member',
});

export const WITHDRAWAL: Shape<unknown, SignedWithdrawal> = named(
  'Withdrawal',
  'The signed object of a withdrawal from account 0. Without a nonce the smallest one that is free; it signs as null',
  closed({
    tplus_user: inside('user', USER_ID_GIVEN),
    asset: TOKEN_ASSET,
    amount: AMOUNT_TEXT,
    nonce: optional(nullable(COUNT)),
    target: described(ADDRESS, 'who is paid; not the zero address, a vault or a token of the exchange'),
    request_id: optional(REQUEST_ID),
  }),
);
/** wire-additions: the next numbers of a chain (MON-02). */
export const NEXT_NONCES: Shape<unknown, NextNonces> = named(
  'NextNonces',
  'The next number that no live row holds: the `nonce` that the next withdrawal, and the next settlement of a sub-account, may sign',
  open({
    withdrawal: COUNT,
    settlements: mapByNumber(INDEX_NAME, COUNT),
  }),
);

export const WITHDRAWAL_REQUEST: Shape<unknown, SignedRead<SignedWithdrawal>> = named(
  'WithdrawalRequest',
  'A signed withdrawal',
  open({ inner: WITHDRAWAL, ...ACTION_SIGNING }),
);

export const WITHDRAWAL_CANCEL: Shape<unknown, SignedWithdrawalCancel> = named(
  'WithdrawalCancel',
  'The signed object of a withdrawal cancel',
  closed({
    tplus_user: inside('user', USER_ID_GIVEN),
    asset_address: inside('asset', TOKEN_ASSET),
    nonce: COUNT,
    requested_at_ns: inside(
      'requestedNs',
      optional(
        described(
          INSTANT,
          'of the row in the queue: that row and no later one with its nonce. Signed, the last member',
        ),
      ),
    ),
  }),
);
export const WITHDRAWAL_CANCEL_REQUEST: Shape<unknown, SignedRead<SignedWithdrawalCancel>> = named(
  'WithdrawalCancelRequest',
  'A signed cancel of a withdrawal that is queued or filled',
  open({ inner: WITHDRAWAL_CANCEL, ...ACTION_SIGNING }),
);

const APPROVAL = Type.Object({
  inner: Type.Object({ nonce: COUNT, signature: described(TEXT, '65 bytes in hex') }),
  expiry: described(COUNT, '`validUntil` of the vault call, seconds'),
  epoch_hash: Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), { minItems: 32, maxItems: 32 }),
});
export const WITHDRAWAL_QUEUE: Shape<unknown, readonly Omit<Withdrawal, 'status' | 'approvals'>[]> = named(
  'WithdrawalQueue',
  'Withdrawals that live or ended within a day, oldest first; an approved one has every signature that its vault asks for',
  listOf(
    open({
      tplus_user: unread(USER_ID),
      asset: ASSET_ID,
      amount: AMOUNT_TEXT,
      nonce: COUNT,
      target: ADDRESS_TEXT,
      status: unread(
        either(
          Type.Object({ type: words('queued', 'filled', 'executed', 'expired', 'cancelled') }),
          Type.Object({ type: Type.Literal('approved'), approvals: Type.Array(APPROVAL, { minItems: 1 }) }),
        ),
      ),
      requested_at_ns: inside('requestedNs', NANOSECONDS),
    }),
  ),
);

export const CHAIN_GIVEN: Shape<string, SpelledChain> = readAs(
  'chain',
  Type.String({ pattern: '^(?:0[xX])?[0-9a-fA-F]{18}$', description: 'chain id, 18 hex digits' }),
);

/** As wire.md 7.19 shows it: the signed text has another order. */
const SENT_SETTLEMENT = ['mode', 'asset_in', 'amount_in', 'asset_out', 'amount_out', 'tplus_user'];

export const SETTLEMENT: Shape<unknown, SettlementRead> = named(
  'Settlement',
  'The signed object of a settlement, in this order. `asset_in` enters the vault, `asset_out` leaves it',
  sent(
    SENT_SETTLEMENT,
    closed({
      tplus_user: inside('user', USER_ID_GIVEN),
      sub_account_index: inside('subAccount', ACCOUNT_INDEX),
      settler: optional(
        nullable(described(USER_ID_GIVEN, 'registered on the chain; without it and a maker order, the user')),
      ),
      mode: defaulted(described(words('margin', 'spot'), 'margin settles in a margin account'), 'margin'),
      asset_in: ADDRESS,
      amount_in: AMOUNT_TEXT,
      asset_out: ADDRESS,
      amount_out: described(
        AMOUNT_TEXT,
        'locked in the sub-account, and bound in the vault, until the settlement ends',
      ),
      chain_id: CHAIN_GIVEN,
      nonce: leftOut(described(COUNT, 'of this sub-account and chain; left out or null: the next managed one')),
      expires_at: inside(
        'expiresNs',
        optional(nullable(described(INSTANT, 'the approval does not outlive it. Needed with `mm_pubkey`'))),
      ),
      mm_pubkey: inside(
        'maker',
        optional(nullable(described(USER_ID_GIVEN, 'delegated flow: equals that of `maker_order`'))),
      ),
      vault: leftOut(described(ADDRESS, 'the vault of the chain; any other is refused')),
      request_id: optional(REQUEST_ID),
    }),
  ),
);
/** What a market maker signs. */
export const MAKER_ORDER: Shape<unknown, MakerOrderRead> = closed({
  mm_pubkey: inside('maker', USER_ID_GIVEN),
  settler: USER_ID_GIVEN,
  expires_at: inside('expiresNs', INSTANT),
});
export const SETTLEMENT_REQUEST: Shape<unknown, SettlementRequestRead> = named(
  'SettlementRequest',
  'A signed settlement; with `maker_order` the settler is the one that the market maker has signed',
  open({
    inner: SETTLEMENT,
    ...ACTION_SIGNING,
    maker_order: optional(nullable(open({ inner: MAKER_ORDER, signature: readAs('signature', SIGNATURE) }))),
  }),
);

export const SETTLEMENT_APPROVAL: Shape<unknown, ApprovalReply> = open({
  inner: open({ nonce: COUNT, signature: described(TEXT, '65 bytes in hex') }),
  expiry: described(COUNT, '`validUntil` of the vault call, seconds'),
});
export const SETTLEMENT_APPROVALS: Shape<unknown, readonly ApprovalReply[]> = named(
  'SettlementApprovals',
  'Approvals that were neither executed nor expired, by chain, sub-account and nonce',
  listOf(SETTLEMENT_APPROVAL),
);

/** wire.md 9.3, G14. */
export const PENDING_SETTLEMENT: Shape = named(
  'PendingSettlement',
  'An approved settlement as market makers see it',
  Type.Object({
    settlement_id: described(TEXT, '`<chain>:<user>:<sub_account>:<nonce>`'),
    asset_id: inside('asset', ASSET_ID),
    side: SIDE_WORDS,
    quantity: DECIMAL,
    price: nullable(described(DECIMAL, 'USD of one unit, rounded down; null when neither asset is USD')),
    user: USER_ID,
    sub_account: SUB_ACCOUNT,
    timestamp_ns: NANOSECONDS,
  }),
);

/** MON-01. */
const DUPLICATE = described(
  Type.Literal(true),
  'the same signed text was accepted before, and what it made is live; nothing moved',
);

const REFUSED_BY_CLEARING = Type.Object({
  success: Type.Literal(false),
  details: Type.Object({
    code: TEXT,
    message: TEXT,
    retryable: FLAG,
    field: optional(TEXT),
    last_nonce: optional(described(U64, 'of INVALID_NONCE: the last one used')),
  }),
});

export const SETTLEMENT_RESULT: Shape = named(
  'SettlementResult',
  'Approved: the arguments of the vault call; or rejected by clearing',
  either(
    Type.Object({ success: Type.Literal(true), approval: SETTLEMENT_APPROVAL, duplicate: optional(DUPLICATE) }),
    REFUSED_BY_CLEARING,
  ),
);

/** wire.md 5.1: a rejection by clearing has status 200. */
export const ACTION_RESULT: Shape = named(
  'ActionResult',
  'Done, or rejected by clearing: then `success` is false and `details` contain the reason',
  either(Type.Object({ success: Type.Literal(true), duplicate: optional(DUPLICATE) }), REFUSED_BY_CLEARING),
);

export const RENAME_REQUEST: Shape<{ readonly name: string }> = named(
  'RenameRequest',
  'A name for a sub-account',
  open({
    name: Type.String({
      pattern: '^(?!(?:Spot|Margin)$)[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]{1,32}$',
      description: '1 to 32 characters, no control characters, not Spot or Margin',
    }),
  }),
);
export const RENAMED: Shape<unknown, Renaming> = named(
  'Renamed',
  'The sub-account with its new name',
  open({
    sub_account_index: unread(SUB_ACCOUNT),
    name: unread(TEXT),
    account_index: unread(SUB_ACCOUNT),
    old_name: described(TEXT, 'the name before, the given or the default one'),
    new_name: TEXT,
  }),
);
export const ACCOUNT_NAMES: Shape<unknown, { readonly names: readonly SubAccountName[] }> = named(
  'AccountNames',
  'Names that the user gave to sub-accounts, ascending by index',
  open({ names: listOf(open({ account_index: inside('subAccount', SUB_ACCOUNT), name: TEXT })) }),
);

export const POSITION_BASIS: Shape<unknown, readonly PositionBasis[]> = named(
  'PositionBasis',
  'What positions cost: average cost of confirmed trades, by sub-account, asset and domain',
  listOf(
    open({
      sub_account: SUB_ACCOUNT,
      asset_id: ASSET_ID,
      domain: described(words('margin', 'spot'), 'target of the trades'),
      side: described(nullable(words('long', 'short')), 'null in spot'),
      quantity: described(DECIMAL, 'size; 0 is left out'),
      cost: described(DECIMAL, 'USD: quantity × average price'),
      entry_price: described(nullable(DECIMAL), 'average price in margin, null in spot'),
      avg_acquisition_price: inside(
        'averageAcquisitionPrice',
        described(nullable(DECIMAL), 'average price in spot, null in margin'),
      ),
      mark_price: described(nullable(DECIMAL), 'null without a stored price'),
      unrealized_pnl: described(nullable(DECIMAL), 'USD: (mark − average) × quantity, negated for a short'),
    }),
  ),
);

// ---- multisig

const WEIGHT_MAX = 4_294_967_295;
const WEIGHT = Type.Integer({ minimum: 0, maximum: WEIGHT_MAX });

const NEW_SIGNER = { signer: SIGNER_KEY, weight: Type.Integer({ minimum: 1, maximum: WEIGHT_MAX }) };
const DURATION = described(nullable(U64), 'the signer expires so long after it is added; null never');
const CE_NONCE = described(COUNT, 'the ce_nonce of GET /nonce');

const OMS_NONCE = Type.String({
  pattern: '^[!#-\\[\\]-~]{1,64}$',
  description: 'the value of GET /nonce; it is consumed when the signer was added',
});

/** The order of its members is that of the signed text. */
export const ADD_SIGNER: Shape<unknown, AddSignerRead> = either(
  closed({ user: USER_ID_GIVEN, ...NEW_SIGNER, session_duration_ns: optional(DURATION), ce_nonce: CE_NONCE }),
  closed({
    user: USER_ID_GIVEN,
    oms_nonce: OMS_NONCE,
    ce_nonce: CE_NONCE,
    ...NEW_SIGNER,
    session_duration_ns: optional(DURATION),
  }),
);
export const ADD_SIGNER_REQUEST: Shape<unknown, SignedRead<AddSignerRead>> = named(
  'AddSignerRequest',
  'A further signer of the account; the order of the members of `inner` is that of the signed text',
  open({ inner: ADD_SIGNER, ...ACTION_SIGNING }),
);

export const MULTISIG_CONFIG: Shape = named(
  'MultisigConfig',
  'The keys that may sign for the account and the weights required; an account without one has the default',
  Type.Object({
    master_weight: WEIGHT,
    signers: listOf(
      Type.Object({
        key: SIGNER_KEY,
        weight: WEIGHT,
        expires_at_ns: nullable(NANOSECONDS),
        max_signing_window_ns: nullable(NANOSECONDS),
      }),
    ),
    thresholds: Type.Object({ low: WEIGHT, medium: WEIGHT, high: WEIGHT }),
    config_nonce: COUNT,
  }),
);
export const SIGNER_SEARCH: Shape<unknown, SignerKey> = SIGNER_KEY;
export const SIGNER_ACCOUNTS: Shape = named(
  'SignerAccounts',
  'The accounts for which the key may sign; with `bare=true` the array alone',
  either(Type.Object({ accounts: listOf(USER_ID) }), listOf(USER_ID)),
);
