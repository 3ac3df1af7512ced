/** Arbitrary rows of every table, for properties: each field over its whole legal range. */
import fc from 'fast-check';
import type {
  AdlUsageRow,
  AssetRow,
  AssetTotalsRow,
  BackstopRow,
  BalanceRow,
  ConfigRow,
  DepositRow,
  LiquidationRow,
  LotRow,
  MarketRow,
  MarkRow,
  NodeOrder,
  OrderRow,
  PositionRow,
  PriceRow,
  RowWrite,
  SettlementRow,
  SignedTextRow,
  SignerConfigRow,
  SubAccountRow,
  TableName,
  Tables,
  TallyRow,
  TradeRow,
  TradeSide,
  UnclaimedRow,
  UserRow,
  WithdrawalRow,
} from '../../src/clearing/rows.ts';
import type { ConfiguredSigner } from '../../src/clearing/signers/signer-config.ts';
import type { AssetId, ChainId, OrderId, UserId } from '../../src/core/ids.ts';
import { AMOUNT18_MAX } from '../../src/core/limits.ts';
import {
  MARKET_STATUS,
  ORDER_END,
  ORDER_KIND,
  type OrderEnd,
  SIDE,
  SIGNATURE_VERDICT,
  TIF,
  TRIGGER,
  TRIGGER_STATE,
} from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';

type Arbitrary<T> = fc.Arbitrary<T>;

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => Buffer.from(b).toString('hex'));
/** Records like those of an object literal. */
function record<T>(fields: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<T> {
  return fc.record<T>(fields, { noNullPrototype: true }) as Arbitrary<T>;
}

const user = hex(32) as Arbitrary<UserId>;
const chain = hex(9) as Arbitrary<ChainId>;
const index = fc.integer({ min: 0, max: 65_535 }).map(String);
const asset = fc.oneof(
  index,
  fc.tuple(hex(32), hex(9)).map(([a, c]) => `${a}@${c}`),
) as Arbitrary<AssetId>;
const ORDER_ID_LETTERS = 'ABCXYZabcxyz0189+/=_-.:';
const orderId = fc.string({
  unit: fc.constantFrom(...ORDER_ID_LETTERS),
  minLength: 1,
  maxLength: 64,
}) as Arbitrary<OrderId>;
const safe = fc.maxSafeNat();
const sequence = safe as Arbitrary<Sequence>;
const raw = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const u8 = fc.integer({ min: 0, max: 255 });
const time = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) as Arbitrary<TimestampNs>;
const amount = fc.bigInt({ min: -AMOUNT18_MAX - 1n, max: AMOUNT18_MAX }) as Arbitrary<Amount18>;
const wide = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }) as Arbitrary<Amount18>;
const text = fc.string({ unit: 'binary', maxLength: 40 });
const side = fc.constantFrom(...Object.values(SIDE));

const userRow: Arbitrary<UserRow> = record({
  user,
  isMarketMaker: fc.boolean(),
  configNonce: safe,
  transferNonce: time,
  closePositionNonce: time,
  hasTimer: fc.boolean(),
});

const subAccountRow: Arbitrary<SubAccountRow> = record({
  user,
  subAccount: u8,
  kind: fc.constantFrom('spot', 'cross_margin', 'isolated_margin'),
  name: text,
  asset: fc.option(asset),
});

const balanceRow: Arbitrary<BalanceRow> = record({ user, subAccount: u8, asset, owned: amount, locked: amount });

export const orderRow: Arbitrary<OrderRow> = record({
  marketIndex: u32,
  orderSequence: sequence,
  prioritySequence: sequence,
  user,
  subAccount: u8,
  orderId,
  side,
  kind: fc.constantFrom(...Object.values(ORDER_KIND)),
  tif: fc.constantFrom(...Object.values(TIF)),
  flags: u16,
  price: safe as Arbitrary<RawPrice>,
  quantity: safe as Arbitrary<RawQuantity>,
  amount: safe,
  budget: safe,
  triggerKind: fc.constantFrom(...Object.values(TRIGGER)),
  triggerPrice: safe as Arbitrary<RawPrice>,
  triggerState: fc.constantFrom(...Object.values(TRIGGER_STATE)),
  parentSequence: fc.oneof(fc.constant<0>(0), sequence),
  parentIdAt: u16,
  parentIdBytes: u8,
  enabledQuantity: safe,
  activatedQuantity: safe,
  droppedQuantity: safe,
  maxFeeRate: u32,
  creationNs: time,
  timestampNs: time,
  goodUntilNs: time,
  admittedNs: time,
  lastUpdateNs: time,
  filledQuantity: safe,
  filledNotional: amount,
  fees: amount,
  end: fc.constantFrom<OrderEnd | 0>(0, ...Object.values(ORDER_END)),
  faultReason: fc.constantFrom(0, 1, 10),
  verdict: fc.constantFrom(...Object.values(SIGNATURE_VERDICT)),
  quoteSet: fc.nat(4),
  protectionGroup: fc.nat(8),
});

const signedTextRow: Arbitrary<SignedTextRow> = record({
  marketIndex: u32,
  orderSequence: sequence,
  text: fc.string({ unit: 'grapheme-ascii', maxLength: 400 }),
  signatures: fc.oneof(
    fc.uint8Array({ minLength: 64, maxLength: 64 }),
    fc.uint8Array({ minLength: 65, maxLength: 5_000 }),
  ),
});

const tradeSide: Arbitrary<TradeSide> = record({
  user,
  subAccount: u8,
  orderId,
  orderSequence: sequence,
  fee: amount,
});

const tradeRow: Arbitrary<TradeRow> = record({
  marketIndex: u32,
  tradeId: sequence,
  price: raw as Arbitrary<RawPrice>,
  quantity: raw as Arbitrary<RawQuantity>,
  matchedNs: time,
  takerSide: side,
  isLiquidation: fc.boolean(),
  isAutoDeleverage: fc.boolean(),
  maker: tradeSide,
  taker: tradeSide,
});

const assetRow: Arbitrary<AssetRow> = record({
  assetId: asset,
  symbol: fc.option(text),
  settingsJson: text,
  tokens: fc.array(
    record({
      token: hex(32),
      chainId: chain,
      decimals: u8,
      maxDeposits: fc.option(wide),
      max1hrDeposits: fc.option(wide),
      minWeight: wide,
      minFirstDepositBaseUnits: wide,
    }),
    { maxLength: 3 },
  ),
  riskJson: fc.option(text),
});

const marketRow: Arbitrary<MarketRow> = record({
  definition: record({
    marketIndex: u32,
    assetId: asset,
    priceDecimals: fc.integer({ min: 0, max: 18 }),
    quantityDecimals: fc.integer({ min: 0, max: 18 }),
    tickSize: raw as Arbitrary<RawPrice>,
    minimumQuantity: raw as Arbitrary<RawQuantity>,
    makerFeeRate: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    takerFeeRate: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    status: fc.constantFrom(...Object.values(MARKET_STATUS)),
    selfTradePrevention: fc.boolean(),
    minimumNotional: wide,
    priceCollar: fc.option(wide),
  }),
  sequence,
  lastTradeId: sequence,
  match: record({ takerOrder: sequence, timeNs: time, notional: amount }),
});

const priceRow: Arbitrary<PriceRow> = record({
  asset,
  price: wide,
  publishNs: time,
  source: text,
  jump: fc.option(record({ price: wide, source: text })),
  isTripped: fc.boolean(),
  goodUpdates: u32,
  isSinceStart: fc.boolean(),
});

const markRow: Arbitrary<MarkRow> = record({
  asset,
  price: wide,
  timeNs: time,
  isTripped: fc.boolean(),
  goodUpdates: u32,
});

const depositRow: Arbitrary<DepositRow> = record({
  chainId: chain,
  tx: hex(32),
  logIndex: u32,
  user,
  asset,
  amount,
  depositNonce: safe,
  creditedNs: time,
});

const configRow: Arbitrary<ConfigRow> = record({
  kind: fc.constantFrom('chain', 'vault', 'settler', 'settings', 'withdrawal-delay'),
  key: text,
  json: text,
});

const positionRow: Arbitrary<PositionRow> = record({
  user,
  subAccount: fc.integer({ min: 0, max: 255 }),
  asset,
  base: amount,
  quote: amount,
  entry: wide,
});

const totalsRow: Arbitrary<AssetTotalsRow> = record({
  asset,
  vaultHoldings: wide,
  faucet: wide,
  backstopCredits: wide,
});

const nodeOrder: Arbitrary<NodeOrder | null> = fc.option(
  record<NodeOrder>({
    orderId,
    marketIndex: u32,
    side,
    price: raw as Arbitrary<RawPrice>,
    quantity: raw as Arbitrary<RawQuantity>,
    isSpot: fc.boolean(),
  }),
);

const liquidationRow: Arbitrary<LiquidationRow> = record({
  user,
  subAccount: u8,
  startedNs: time,
  round: u32,
  roundNs: time,
  stage: fc.constantFrom('cancelling', 'settling', 'ordering', 'waiting', 'ended'),
  through: fc.array(record({ marketIndex: u32, sequence }), { maxLength: 3 }),
  ordered: fc.array(asset, { maxLength: 3 }),
  order: nodeOrder,
});

const quantities = fc.array(record({ asset, quantity: amount }), { maxLength: 3 });

const backstopRow: Arbitrary<BackstopRow> = record({
  index: u8,
  sourceUser: user,
  sourceIndex: u8,
  startedNs: time,
  state: fc.constantFrom('working', 'deleveraging', 'closed'),
  provisional: amount,
  posted: amount,
  taken: quantities,
  takenSpot: quantities,
  adlMarket: fc.option(fc.nat(1_000), { nil: null }),
  counterparties: fc.array(record({ user, subAccount: u8 }), { maxLength: 3 }),
  adlClosed: quantities,
  clipNs: time,
  order: nodeOrder,
});

const adlUsageRow: Arbitrary<AdlUsageRow> = record({
  marketIndex: u32,
  minutes: fc.array(record({ minute: u32, quantity: amount }), { maxLength: 3 }),
});

const withdrawalRow: Arbitrary<WithdrawalRow> = record({
  user,
  place: fc.integer({ min: 0, max: 63 }),
  sequence: safe,
  chainId: chain,
  token: hex(32),
  asset,
  amount,
  fee: amount,
  payout: wide,
  target: hex(32),
  nonce: safe,
  isExplicit: fc.boolean(),
  status: fc.constantFrom('queued', 'filled', 'signing', 'approved', 'executed', 'expired', 'cancelled', 'gone'),
  requestedNs: time,
  dueNs: time,
  endedNs: time,
  validUntil: safe,
  epochHash: fc.oneof(fc.constant(''), hex(32)),
  signatures: fc.array(hex(65), { maxLength: 3 }),
  isolated: amount,
});

const lotRow: Arbitrary<LotRow> = record({ user, asset, place: u8, sequence: safe, amount, creditedNs: time });

const unclaimedRow: Arbitrary<UnclaimedRow> = record({
  chainId: chain,
  user,
  counter: safe,
  token: hex(32),
  baseUnits: wide,
  tx: hex(32),
  logIndex: u32,
  credited: fc.boolean(),
});

const settlementRow: Arbitrary<SettlementRow> = record({
  user,
  place: fc.integer({ min: 0, max: 63 }),
  subAccount: fc.integer({ min: 0, max: 255 }),
  chainId: chain,
  mode: fc.constantFrom('spot', 'margin'),
  tokenOut: hex(32),
  assetOut: asset,
  amountOut: amount,
  baseUnitsOut: wide,
  tokenIn: hex(32),
  assetIn: asset,
  amountIn: amount,
  baseUnitsIn: wide,
  settler: user,
  nonce: safe,
  status: fc.constantFrom('locked', 'approved', 'executed', 'expired', 'refused'),
  requestedNs: time,
  validFrom: safe,
  validUntil: safe,
  signature: fc.oneof(fc.constant(''), hex(65)),
});

const tallyRow: Arbitrary<TallyRow> = record({
  name: fc.constantFrom(
    'trades',
    'rolled_back_fills',
    'finished_orders',
    'signed_texts',
    'deposits',
    'unclaimed_credits',
  ),
  count: safe,
  digest: hex(32),
  pending: fc.uint8Array({ maxLength: 64 }),
});

const signer: Arbitrary<ConfiguredSigner> = fc
  .constantFrom('Ed25519' as const, 'Secp256k1' as const, 'P256' as const, 'WebAuthn' as const)
  .chain((scheme) => {
    const length = scheme === 'Ed25519' ? 32 : 33;
    return record({
      scheme: fc.constant(scheme),
      key: fc.uint8Array({ minLength: length, maxLength: length }),
      weight: u32,
      addedNs: time,
      expiresAtNs: fc.option(time),
      maxSigningWindowNs: fc.option(time),
    });
  });

const signersRow: Arbitrary<SignerConfigRow> = record({
  user,
  isUnfunded: fc.boolean(),
  masterWeight: u32,
  thresholds: record({ low: u32, medium: u32, high: u32 }),
  setNs: time,
  signers: fc.array(signer, { maxLength: 16 }),
});

const usedTextRow: Arbitrary<Tables['usedText']> = record({
  user,
  place: u32,
  kind: fc.constantFrom(
    'withdrawal' as const,
    'cancel' as const,
    'settlement' as const,
    'makerOrder' as const,
    'floor' as const,
  ),
  digest: hex(32),
  chainId: chain,
  subAccount: fc.integer({ min: 0, max: 255 }),
  nonce: fc.option(safe),
  expiresNs: time,
  owner: user,
  sequence: safe,
  requestedNs: time,
  status: fc.constantFrom(
    'live' as const,
    'executed' as const,
    'cancelled' as const,
    'expired' as const,
    'gone' as const,
  ),
  endedNs: time,
  isPaid: fc.boolean(),
  floorOf: fc.constantFrom('', 'withdrawal', 'settlement'),
});

const cursorKind = fc.constantFrom('deposit' as const, 'withdrawal' as const, 'settlement' as const, 'forced' as const);

export const ROW_ARBITRARIES: { readonly [T in TableName]: Arbitrary<Tables[T]> } = {
  user: userRow,
  subAccount: subAccountRow,
  balance: balanceRow,
  position: positionRow,
  order: orderRow,
  signedText: signedTextRow,
  trade: tradeRow,
  asset: assetRow,
  market: marketRow,
  price: priceRow,
  mark: markRow,
  deposit: depositRow,
  config: configRow,
  totals: totalsRow,
  tally: tallyRow,
  liquidation: liquidationRow,
  backstop: backstopRow,
  adlUsage: adlUsageRow,
  quoteSet: record({
    marketIndex: u32,
    user,
    slot: fc.integer({ min: 1, max: 4 }),
    setId: fc.stringMatching(/^[a-z0-9-]{1,40}$/),
    sequence,
    appliedNs: time,
    revisionNs: time,
    markNs: time,
    goodUntilNs: time,
    maxFeeRate: u32,
    subAccount: u8,
    flags: u16,
    protectionGroup: fc.nat(8),
    isOver: fc.boolean(),
    lastNumber: safe,
    markFloorNs: time,
    numberFloor: safe,
    verdict: fc.constantFrom(...Object.values(SIGNATURE_VERDICT)),
    fills: fc.array(record({ side, price: safe as Arbitrary<RawPrice>, lots: safe }), { maxLength: 3 }),
    signatures: fc.uint8Array({ maxLength: 200 }),
    text: fc.string({ unit: 'grapheme-ascii', maxLength: 4_608 }),
  }),
  withdrawal: withdrawalRow,
  vaultToken: record({ token: hex(32), chainId: chain, asset, baseUnits: wide }),
  withdrawalCounter: record({ chainId: chain, user, next: safe }),
  forcedCounter: record({ chainId: chain, user, next: safe }),
  withdrawalUsage: record({ user, asset, usage: amount, startedNs: time }),
  settlement: settlementRow,
  settlementCounter: record({ chainId: chain, user, subAccount: fc.integer({ min: 0, max: 255 }), next: safe }),
  usedText: usedTextRow,
  signedApproval: record({
    place: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    kind: fc.constantFrom('withdrawal' as const, 'settlement' as const),
    chainId: chain,
    user,
    subAccount: fc.integer({ min: 0, max: 255 }),
    nonce: safe,
    validUntil: safe,
    token: hex(32),
    baseUnits: wide,
    signedNs: time,
    isGone: fc.boolean(),
  }),
  chainCursor: record({
    chainId: chain,
    event: cursorKind,
    vault: hex(20),
    nextBlock: safe,
    anchors: fc.array(record({ number: safe, hash: hex(32) }), { maxLength: 3 }),
    stopped: fc.option(
      record({
        reason: fc.constantFrom('reorg' as const, 'gap' as const, 'unmatched' as const),
        next: safe,
        deposits: safe,
      }),
    ),
    revision: safe,
  }),
  cursorEvent: record({
    chainId: chain,
    event: cursorKind,
    place: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    state: fc.constantFrom('recent' as const, 'missing' as const, 'gone' as const),
    block: safe,
    what: fc.string({ maxLength: 40 }),
    until: safe,
  }),
  signers: signersRow,
  lot: lotRow,
  pooledCredits: record({ asset, credits: fc.array(record({ timeNs: time, amount }), { maxLength: 3 }) }),
  unclaimed: unclaimedRow,
  rebalancingPool: record({ asset, amount, unpaid: amount }),
  protection: record({
    user,
    marketIndex: fc.integer({ min: 0, max: 9 }),
    slot: fc.integer({ min: 1, max: 8 }),
    group: fc.stringMatching(/^[a-z0-9]{1,16}$/),
    windowMs: fc.integer({ min: 10, max: 60_000 }),
    frozenMs: fc.integer({ min: 0, max: 600_000 }),
    maxFills: fc.option(fc.integer({ min: 1, max: 1_000 })),
    maxQuantity: fc.option(amount),
    maxNotional: fc.option(amount),
    minFillNotional: amount,
    trip: safe as Arbitrary<Sequence>,
    endedTrip: safe as Arbitrary<Sequence>,
    frozenUntilNs: time,
    isGone: fc.boolean(),
  }),
  vaultDeviation: record({ chainId: chain, asset, missing: amount, accepted: amount }),
  payoutReserve: record({ token: hex(32), chainId: chain, asset, units: wide, free: wide, isClaimed: fc.boolean() }),
  netDeposit: record({ chainId: chain, asset, amount }),
};

/** A change of any table. */
export const rowWrite: Arbitrary<RowWrite> = fc.oneof(
  ...(Object.keys(ROW_ARBITRARIES) as TableName[]).map(
    (table) => ROW_ARBITRARIES[table].map((row) => ({ table, row })) as Arbitrary<RowWrite>,
  ),
);
