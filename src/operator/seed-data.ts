/**
 * The seed of operator-api.md §9: the contents of an empty dev or test data directory, as the bodies that an operator
 * would send. The keys are publicly known; production refuses to seed.
 *
 * Not here: how the seed is applied (seed.ts).
 */

const zeros = (count: number): string => '0'.repeat(count);

/** 20 bytes of one value, right-padded to 32: the format of every seeded address. */
export function seedAddress(byte: string): string {
  return byte.repeat(20) + zeros(24);
}

export const CHAIN_ONE = '000000000000000001';
export const CHAIN_DEV = '000000000000007a69';

interface SeedChain {
  readonly chainId: string;
  readonly vault: string;
  readonly confirmations: number;
  readonly blockTimeMs: number;
}

export const SEED_CHAINS: readonly SeedChain[] = [
  { chainId: CHAIN_ONE, vault: seedAddress('0e'), confirmations: 4, blockTimeMs: 1000 },
  { chainId: CHAIN_DEV, vault: seedAddress('0d'), confirmations: 1, blockTimeMs: 250 },
];

/** The JSON body of one operator call. */
type Body = Readonly<Record<string, unknown>>;
type BodyByAsset = Readonly<Record<string, Body>>;

function token(chainId: string, byte: string, decimals: number, caps: readonly [string, string], first = '0'): Body {
  return {
    token: seedAddress(byte),
    chain_id: chainId,
    decimals,
    max_deposits: caps[0] + zeros(18),
    max_1hr_deposits: caps[1] + zeros(18),
    min_weight: '0',
    min_first_deposit_base_units: first,
  };
}

const USD_CAPS: readonly [string, string] = ['1000000000', '100000000'];

/** Bodies of `PUT /operator/assets/{asset_id}`. */
export const SEED_ASSETS: BodyByAsset = {
  '0': {
    symbol: 'USD',
    tokens: [token(CHAIN_ONE, 'c0', 6, USD_CAPS, '1000000'), token(CHAIN_DEV, '5a', 6, USD_CAPS, '1000000')],
  },
  '1': { symbol: 'BTC', tokens: [token(CHAIN_DEV, 'b1', 8, ['10000', '1000'])] },
  '2': { symbol: 'ETH', tokens: [token(CHAIN_DEV, '6b', 18, ['200000', '20000'])] },
  '3': { symbol: 'ISO', tokens: [token(CHAIN_DEV, 'd3', 18, ['50000000', '5000000'])] },
};

const CLAMPS = [0, 500000, 750000, 900000];
const FACTORS = [1000000, 950000, 900000, 800000];

/** What the risk rows of BTC and ETH have in common. */
const OF_MAJORS = {
  max_utilization: '900000000000000000',
  isolated_only: false,
  initial_margin_clamps: CLAMPS,
  initial_margin_factors: FACTORS,
  max_funding_rate: 1000,
  max_utilization_rate: 1000,
  utilization_kinks: [0, 800000, 1000000],
  quote_utilization_kinks: [0, 800000, 1000000],
  quote_rate_at_kinks: [0, 10, 400],
  skew_factor: 100000,
  base_funding_rate: 10,
  skew_cliff: 500000,
  premium_clamp: 500,
  buffer_multiplier: 1020000,
  min_sub_account_balance: '0',
};

/** Bodies of `PUT /operator/risk-parameters/{asset_id}`; USD is fixed and needs none. */
export const SEED_RISK: BodyByAsset = {
  '1': {
    ...OF_MAJORS,
    collateral_factor: 95,
    liability_factor: 96,
    max_collateral: '5000000000000000000000',
    max_total_open_interest_notional: '500000000000000000000000000',
    max_spot_open_interest: '2000000000000000000000',
    rate_at_kinks: [0, 20, 800],
  },
  '2': {
    ...OF_MAJORS,
    collateral_factor: 90,
    liability_factor: 95,
    max_collateral: '100000000000000000000000',
    max_total_open_interest_notional: '300000000000000000000000000',
    max_spot_open_interest: '40000000000000000000000',
    rate_at_kinks: [0, 25, 900],
  },
  '3': {
    collateral_factor: 60,
    liability_factor: 65,
    max_collateral: '10000000000000000000000000',
    max_total_open_interest_notional: '20000000000000000000000000',
    max_spot_open_interest: '4000000000000000000000000',
    max_utilization: '700000000000000000',
    isolated_only: true,
    initial_margin_clamps: CLAMPS,
    initial_margin_factors: [950000, 900000, 800000, 700000],
    max_funding_rate: 1100,
    max_utilization_rate: 1100,
    utilization_kinks: [0, 700000, 1000000],
    rate_at_kinks: [0, 50, 1100],
    quote_utilization_kinks: [0, 800000, 1000000],
    quote_rate_at_kinks: [0, 20, 600],
    skew_factor: 200000,
    base_funding_rate: 20,
    skew_cliff: 400000,
    premium_clamp: 800,
    buffer_multiplier: 1050000,
    min_sub_account_balance: '0',
  },
};

function market(
  decimals: readonly [number, number],
  tick: string,
  minimum: string,
  fees: readonly [number, number],
): Body {
  return {
    book_price_decimals: decimals[0],
    book_quantity_decimals: decimals[1],
    tick_size: tick,
    min_order_size: minimum,
    maker_fee_rate: fees[0],
    taker_fee_rate: fees[1],
  };
}

/** Bodies of `PUT /operator/markets/{asset_id}`. */
export const SEED_MARKETS: BodyByAsset = {
  '1': market([1, 5], '0.1', '0.0001', [100, 450]),
  '2': market([2, 4], '0.01', '0.001', [100, 450]),
  '3': market([4, 1], '0.0001', '1', [200, 1000]),
};

/** Oracle prices at the start, in USD. */
export const SEED_PRICES: Readonly<Record<string, string>> = { '1': '60000', '2': '3000', '3': '2.5' };

/** Ed25519 seeds are 32 equal bytes of these values. */
export const SEED_BYTE = { userA: 0x01, userB: 0x02, settler: 0x03, backstop: 0xbb, fees: 0xfe } as const;
/** The demo traders of the dev profile, which are no part of the seed: they log in and are funded when they begin. */
export const DEMO_BYTE = { makers: [0xd1, 0xd2], taker: 0xd3 } as const;
const DEMO_USERS: readonly string[] = [
  '6ee091fd280a9b68554fa73c588125d47d3425c68a26ba236b4dad90f90a8f92',
  '41e8fde132ad670e534cd8b275d2cd7eec77733c66f8db48a1cada7fabfc4555',
  'b4740ba4e0f7e0576f11e8149dbbb2529c212213db679831fb5d1b221e84552d',
];

export const SEED_USER_A = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c';
export const SEED_USER_B = '8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394';
export const SEED_SETTLER = 'ed4928c628d1c2c6eae90338905995612959273a5c63f93636c14614ac8737d1';
export const SEED_BACKSTOP = '7d59c5623dd40a74aa4d5a32ac645d3b3f95daeae4c22be25476dd6a486f7382';
export const SEED_FEE_ACCOUNT = 'ca987f7a6cd863424641d4500dc7deba9782533ee071c5f00bc300bc85452437';
/** Keys whose private halves are publicly known: in production they can neither log in nor be named by an operator. */
export const PUBLIC_KEYS: ReadonlySet<string> = new Set([
  SEED_USER_A,
  SEED_USER_B,
  SEED_SETTLER,
  SEED_BACKSTOP,
  SEED_FEE_ACCOUNT,
  ...DEMO_USERS,
]);
/** Executor of the seeded settler: 20 bytes of e3. */
export const SEED_EXECUTOR: string = 'e3'.repeat(20);

/**
 * What A and B each deposit into account 0, and how much of it moves to account 1 (nonces 1 to 3). `units` are whole
 * asset units.
 */
export const SEED_FUNDS: readonly {
  readonly asset: string;
  readonly token: string;
  readonly decimals: number;
  readonly deposit: bigint;
  readonly toMargin: bigint;
}[] = [
  { asset: '0', token: seedAddress('5a'), decimals: 6, deposit: 1_000_000n, toMargin: 500_000n },
  { asset: '1', token: seedAddress('b1'), decimals: 8, deposit: 10n, toMargin: 5n },
  { asset: '2', token: seedAddress('6b'), decimals: 18, deposit: 200n, toMargin: 100n },
  { asset: '3', token: seedAddress('d3'), decimals: 18, deposit: 50_000n, toMargin: 0n },
];
