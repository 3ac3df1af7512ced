/** What operators read (operator-api.md 4 to 8): the shapes of replies, which documents print and tests hold replies against. */
import type { TSchema } from '@sinclair/typebox';
import {
  ASSET_ID,
  COUNT,
  closed,
  DECIMAL,
  either,
  FLAG,
  listOf,
  mapOf,
  NANOSECONDS,
  named,
  nullable,
  open,
  optional,
  type Shape,
  TEXT,
  TOKEN_ID,
  U64,
  USER_ID,
  WHOLE,
  words,
} from '../codec/shapes/shape-kit.ts';
import { Type } from '../codec/shapes/type-builder.ts';

const HASH: Shape<string> = Type.String({ pattern: '^[0-9a-f]{64}$', description: '64 hex digits' });
const ADDRESS: Shape<string> = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: '64 hex digits, padded on the right',
});
const SHORT_ADDRESS: Shape<string> = Type.String({ pattern: '^[0-9a-f]{40}$', description: '40 hex digits' });
const CHAIN_ID: Shape<string> = Type.String({ pattern: '^[0-9a-f]{18}$', description: '18 hex digits' });
const INTEGER: Shape<number> = Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
const INTEGERS = listOf(INTEGER);
const ANY_MAP = mapOf('.', Type.Unknown() as Shape);
const INDEX = '^[0-9]+$';

function byAsset(values: TSchema): Shape {
  return mapOf('.', values as Shape);
}

/** @param all members of one shape. */
function each(shape: TSchema, ...all: readonly string[]): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(all.map((name) => [name, shape]));
}

export const NOTHING: Shape = named('Nothing', 'No members', closed({}));

export const ALIVE: Shape = named('Alive', 'While the process serves', open({ alive: FLAG }));
export const READY: Shape = named(
  'Readiness',
  'Status 200 when nothing is waited for, else 503',
  open({
    ready: FLAG,
    waiting_for: listOf(words('clearing', 'markets', 'market_data', 'chains', 'clock')),
    reason: optional(TEXT),
    progress: optional(ANY_MAP),
  }),
);
export const VERSION_SHOWN: Shape = named(
  'Version',
  'What runs',
  open({ name: TEXT, version: TEXT, commit: TEXT, profile: TEXT, protocol_version: COUNT }),
);
export const METRICS: Shape = named('Metrics', 'The exposition format of Prometheus', TEXT);
export const DOCUMENT: Shape = named('Document', 'A JSON document', ANY_MAP);

const TOKEN = open({
  token: ADDRESS,
  chain_id: CHAIN_ID,
  decimals: COUNT,
  max_deposits: nullable(WHOLE),
  max_1hr_deposits: nullable(WHOLE),
  min_weight: WHOLE,
  min_first_deposit_base_units: WHOLE,
});
export const ASSET_SHOWN: Shape = named(
  'OperatorAsset',
  'An asset with its tokens',
  open({
    asset_id: ASSET_ID,
    symbol: nullable(TEXT),
    max_adl: nullable(DECIMAL),
    rebalancing: either(
      open({ mode: words('fixed'), deposit_rate: DECIMAL, withdrawal_rate: DECIMAL }),
      open({ mode: words('curve'), k: DECIMAL, target_weights: mapOf('.', DECIMAL) }),
    ),
    mark_band: nullable(TEXT),
    mark_min_notional: DECIMAL,
    tokens: listOf(TOKEN),
    ...each(optional(TEXT), 'name', 'asset_class'),
    token_symbols: optional(mapOf('.', TEXT)),
  }),
);
export const ASSETS_SHOWN: Shape = named('OperatorAssets', 'In numeric order', open({ assets: listOf(ASSET_SHOWN) }));

export const RISK_SHOWN: Shape = named(
  'OperatorRisk',
  'Risk parameters as operators set them: null is no cap',
  open({
    ...each(COUNT, 'collateral_factor', 'liability_factor'),
    ...each(nullable(WHOLE), 'max_collateral', 'max_total_open_interest_notional', 'max_spot_open_interest'),
    max_utilization: WHOLE,
    isolated_only: FLAG,
    ...each(INTEGERS, 'initial_margin_clamps', 'initial_margin_factors'),
    ...each(COUNT, 'max_funding_rate', 'max_utilization_rate'),
    ...each(INTEGERS, 'utilization_kinks', 'rate_at_kinks', 'quote_utilization_kinks', 'quote_rate_at_kinks'),
    ...each(INTEGER, 'skew_factor', 'base_funding_rate', 'skew_cliff', 'premium_clamp', 'buffer_multiplier'),
    min_sub_account_balance: WHOLE,
  }),
);
export const RISKS_SHOWN: Shape = named('OperatorRisks', 'By asset', byAsset(RISK_SHOWN));

export const MARKET_SHOWN: Shape = named(
  'OperatorMarket',
  'A market',
  open({
    asset_id: ASSET_ID,
    ...each(COUNT, 'book_price_decimals', 'book_quantity_decimals'),
    ...each(DECIMAL, 'tick_size', 'min_order_size', 'min_notional'),
    ...each(INTEGER, 'maker_fee_rate', 'taker_fee_rate'),
    status: words('Active', 'CancelOnly', 'Halted'),
    self_trade_prevention: FLAG,
    price_collar: nullable(DECIMAL),
  }),
);
export const MARKETS_SHOWN: Shape = named('OperatorMarkets', 'By asset', open({ markets: listOf(MARKET_SHOWN) }));

const CONFIRMATIONS = open({ deposit: COUNT, withdrawal: COUNT, settlement: COUNT });
export const CHAIN_SHOWN: Shape = named(
  'OperatorChain',
  'A chain: `rpc_urls` of an EVM chain, the others of a simulated one',
  open({
    chain_id: CHAIN_ID,
    kind: words('simulated', 'evm'),
    block_time_ms: optional(COUNT),
    auto_mine: optional(FLAG),
    providers: optional(COUNT),
    rpc_urls: optional(listOf(TEXT)),
    confirmations: CONFIRMATIONS,
    ...each(COUNT, 'checkpoint_interval_ms', 'approval_validity_s', 'escape_timeout_s'),
  }),
);
export const CHAINS_SHOWN: Shape = named('OperatorChains', 'By id', open({ chains: listOf(CHAIN_SHOWN) }));
export const VAULT_SHOWN: Shape = named(
  'OperatorVault',
  'A vault; `confirmations` null: those of its chain',
  open({
    vault: TOKEN_ID,
    administrators: listOf(SHORT_ADDRESS),
    quorum: COUNT,
    confirmations: nullable(CONFIRMATIONS),
    abi: words('v1', 'v2'),
  }),
);
export const VAULTS_SHOWN: Shape = named('OperatorVaults', 'As registered', open({ vaults: listOf(VAULT_SHOWN) }));
export const SETTLER_SHOWN: Shape = named(
  'OperatorSettler',
  'A settler and its executor',
  open({ settler: USER_ID, chain_id: CHAIN_ID, executor: SHORT_ADDRESS }),
);
export const SETTLERS_SHOWN: Shape = named('OperatorSettlers', 'By key', open({ settlers: listOf(SETTLER_SHOWN) }));
export const DELAY_SHOWN: Shape = named(
  'WithdrawalDelay',
  'Seconds, and millionths',
  open({
    ...each(COUNT, 'min_delay', 'max_delay'),
    ...each(listOf(COUNT), 'delay_clamps', 'delay_values'),
    cap_floor: COUNT,
  }),
);
/** @param members the shapes in which settings are given. */
export function settingsShown(members: Readonly<Record<string, TSchema>>): Shape {
  const { webauthn, ...others } = {
    ...members,
    ...each(COUNT, 'fault_orders', 'fault_orders_market_maker'),
    approval_keys: listOf(SHORT_ADDRESS),
    webauthn: nullable(open({ rp_id: TEXT, origins: listOf(TEXT) })),
  };
  return named('OperatorSettings', 'Every setting', open({ ...others, webauthn }));
}

const BALANCE = open(each(DECIMAL, 'owned', 'held', 'locked'));
const POSITION = open(each(DECIMAL, 'base', 'quote', 'pending_base', 'pending_quote'));
export const USER_SHOWN: Shape = named(
  'OperatorUser',
  'A user: balances, positions and what is counted of it',
  open({
    user_id: USER_ID,
    is_mm: FLAG,
    config_nonce: COUNT,
    sub_accounts: mapOf(
      INDEX,
      open({ kind: TEXT, name: TEXT, balances: byAsset(BALANCE), positions: byAsset(POSITION) }),
    ),
    isolated_lots: listOf(open({ asset: TEXT, amount: DECIMAL, credited_at_ns: NANOSECONDS })),
    pressure: mapOf(INDEX, open({ buy: DECIMAL, sell: DECIMAL })),
    withdrawal_usage: byAsset(open({ usage: DECIMAL, started_at_ns: NANOSECONDS })),
    action_nonces: mapOf('.', U64),
    ...each(COUNT, 'sessions', 'streams'),
  }),
);

const NUMBER: Shape = Type.Unsafe({ type: 'number' });
const BUCKET = open({ units_per_second: U64, capacity: U64 });
export const RATES_SHOWN: Shape = named(
  'RateLimits',
  'Budgets and prices; `shares` after they were set',
  open({
    ...each(BUCKET, 'default', 'market_maker', 'global'),
    costs: mapOf('.', NUMBER),
    shares: optional(open({ public_percent: U64, reserve_percent: U64 })),
  }),
);
export const BUDGET_SHOWN: Shape = named(
  'UserBudget',
  'What is left to a user, and to all',
  open({ tier: TEXT, user_units: DECIMAL, global_units: DECIMAL }),
);
export const CAPS_SHOWN: Shape = named('StreamCaps', 'Streams a user', open({ default: COUNT, market_maker: COUNT }));

export const PRICES_TAKEN: Shape = named(
  'PricesTaken',
  'Which prices are in force now',
  open({
    accepted: listOf(open({ asset_id: ASSET_ID, price: DECIMAL, publish_time_ns: NANOSECONDS })),
    rejected: listOf(
      open({ asset_id: ASSET_ID, reason: words('UnknownAsset', 'NotPositive', 'NotNewer', 'TooFarAhead', 'Jump') }),
    ),
  }),
);
function source(time: string): TSchema {
  return open({
    price: nullable(DECIMAL),
    [time]: nullable(NANOSECONDS),
    age_ns: nullable(NANOSECONDS),
    state: words('none', 'healthy', 'stale', 'recovering'),
    fresh_updates: COUNT,
  });
}
export const PRICES_SHOWN: Shape = named(
  'OperatorPrices',
  'Oracle and mark by asset',
  open({
    prices: byAsset(open({ oracle: source('publish_time_ns'), mark: source('timestamp_ns'), circuit_broken: FLAG })),
  }),
);
export const CLOCK_SHOWN: Shape = named(
  'Clock',
  'The clock of the node',
  open({ mode: words('manual', 'system'), now_ns: NANOSECONDS }),
);
export const STATE_SHOWN: Shape = named(
  'State',
  'Where the node stands',
  open({
    profile: TEXT,
    clock: CLOCK_SHOWN,
    journal: open(each(COUNT, 'sequence', 'flushed_sequence', 'snapshot_sequence')),
    state_hash: HASH,
    markets: byAsset(
      open(each(U64, 'sequence', 'last_trade_id', 'depth_sequence', 'open_orders', 'untriggered_orders')),
    ),
    counts: open(
      each(
        COUNT,
        ...[
          'users',
          'sub_accounts',
          'open_orders',
          'pending_fills',
          'confirmed_trades',
          'rolled_back_fills',
          'deposits',
        ],
        ...['withdrawals_live', 'settlements_live'],
      ),
    ),
  }),
);
export const ACTORS_SHOWN: Shape = named(
  'Actors',
  'Every actor with its mailbox',
  open({
    actors: listOf(
      open({
        name: TEXT,
        thread: TEXT,
        state: words('starting', 'running', 'stalled', 'stopped'),
        mailbox: open(each(COUNT, 'depth', 'capacity', 'high_water', 'reserved')),
        batches: open({ ...each(COUNT, 'count', 'last', 'max'), mean: DECIMAL }),
        ...each(COUNT, 'messages_in', 'messages_out'),
      }),
    ),
  }),
);
export const LEDGER_SHOWN: Shape = named(
  'Ledger',
  'The sums of all users by asset; `difference` is 0',
  open({
    assets: byAsset(
      open({
        ...each(
          DECIMAL,
          ...[
            'spot',
            'margin_legs',
            'locks',
            'fees',
            'rebalancing_pool',
            'backstop_capital',
            'isolated',
            'faucet',
            'dust',
          ],
          ...['claims', 'vault_holdings'],
        ),
        on_chain: nullable(DECIMAL),
        difference: DECIMAL,
      }),
    ),
  }),
);
export const BACKSTOP_SHOWN: Shape = named(
  'Backstop',
  'What the backstop account took over',
  open({
    account: USER_ID,
    capital: DECIMAL,
    sub_accounts: listOf(
      open({
        index: COUNT,
        source_user: USER_ID,
        source_index: COUNT,
        state: words('working', 'deleveraging', 'closed'),
        spot: byAsset(DECIMAL),
        positions: byAsset(open({ base: DECIMAL, quote: DECIMAL })),
        ...each(DECIMAL, 'provisional_collateral', 'posted_collateral'),
        ...each(nullable(DECIMAL), 'equity', 'im_surplus', 'im_requirement'),
        adl_closed: byAsset(DECIMAL),
      }),
    ),
  }),
);
export const AT_RISK_SHOWN: Shape = named(
  'AccountsAtRisk',
  'The accounts with the smallest maintenance surplus',
  open({ timestamp_ns: NANOSECONDS, accounts_at_risk: COUNT, shielded_accounts: COUNT, accounts: listOf(ANY_MAP) }),
);
export const TRACE_SHOWN: Shape = named(
  'Trace',
  'Records in base64, and where to go on',
  open({ next: TEXT, threads: listOf(open({ thread: TEXT, lost: COUNT, records: TEXT })) }),
);
export const WALL_CLOCK_SHOWN: Shape = named(
  'WallClock',
  'How the clock of the node follows the system clock',
  open({ follows: FLAG, now_ns: NANOSECONDS, difference_seconds: DECIMAL, held: FLAG, reason: nullable(TEXT) }),
);

export const BARRIER_SHOWN: Shape = named('Barrier', 'At rest', open({ quiescent: FLAG, journal_sequence: COUNT }));
export const CLEARING_SHOWN: Shape = named(
  'ClearingHooks',
  'Holds, delays and faults that are not used yet',
  open({
    hold: open({ all: FLAG, assets: listOf(ASSET_ID) }),
    held_fills: COUNT,
    delay_ms: COUNT,
    faults: listOf(open({ kind: TEXT, remaining: COUNT, asset_id: optional(ASSET_ID), chain_id: optional(CHAIN_ID) })),
  }),
);
export const CREDITED: Shape = named('Credited', 'The balance after the credit', open({ balance: DECIMAL }));

export const TRANSACTION: Shape = named(
  'Transaction',
  '`revert` is the name of the error',
  open({
    tx: HASH,
    status: words('mined', 'reverted', 'pending'),
    revert: nullable(TEXT),
    block: nullable(COUNT),
    head: COUNT,
    nonce: nullable(COUNT),
  }),
);
export const HEAD: Shape = named('Head', 'The newest block', open({ head: COUNT }));
export const REORGANISED: Shape = named(
  'Reorganised',
  'Transactions that are in no block any more',
  open({ head: COUNT, dropped: listOf(HASH) }),
);
export const PROVIDERS: Shape = named(
  'Providers',
  'The providers of a simulated chain',
  open({ providers: listOf(open({ provider: COUNT, fault: TEXT, lag_blocks: optional(COUNT) })) }),
);
export const COUNTERS: Shape = named(
  'Counters',
  "The vault's counters of a user",
  open(each(COUNT, 'depositCounts', 'withdrawalCounts', 'settlementCounts')),
);
export const BALANCE_SHOWN: Shape = named('TokenBalance', 'Base units', open({ balance_base_units: WHOLE }));
export const VAULT_STATE: Shape = named(
  'VaultState',
  'A simulated vault',
  open({
    vault: TOKEN_ID,
    head: COUNT,
    balances: mapOf('.', WHOLE),
    administrators: listOf(SHORT_ADDRESS),
    quorum: COUNT,
    escape_mode: FLAG,
    last_checkpoint_ns: nullable(NANOSECONDS),
  }),
);
export const UNCLAIMED: Shape = named(
  'Unclaimed',
  'Deposits of unregistered tokens; `units`: all of a token',
  open({
    unclaimed: listOf(open({ user: USER_ID, counter: COUNT, token: ADDRESS, amount_base_units: WHOLE })),
    units: optional(listOf(open({ token: ADDRESS, amount_base_units: WHOLE }))),
  }),
);
export const CHECKPOINT: Shape = named(
  'Checkpoint',
  'The signed root of a vault, and its leaves',
  open({ root: TEXT, number: WHOLE, signatures: listOf(TEXT), withdrawable: listOf(ANY_MAP) }),
);
export const BLOCKS_READ: Shape = named(
  'BlocksRead',
  'The blocks that are read again',
  open({ from: COUNT, to: COUNT }),
);
