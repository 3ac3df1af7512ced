/**
 * Makes the golden data of this version of the data (test/node/golden.test.ts): the journal of a simulated history with
 * two kills, behind it what operators may do, and the states that it leads to. The same code makes the same journal.
 *
 *   node dist/test/reliability/make-golden.js
 *
 * Once a version has its golden data it is never made anew: code that replays it to other states is another version.
 */
import { applyBatch } from '../../src/clearing/clearing.ts';
import type { NodeInput } from '../../src/clearing/inputs.ts';
import { BatchBuffer, decodeBatch } from '../../src/clearing/journal-batch.ts';
import { createClearingState } from '../../src/clearing/state.ts';
import { keyBytesOf } from '../../src/codec/signatures.ts';
import { storedSignatures } from '../../src/codec/stored-signatures.ts';
import { must } from '../../src/core/assert.ts';
import type { AssetId, ChainId, OrderId, UserId } from '../../src/core/ids.ts';
import { ORDER_FLAG, QUOTE_CHANGE, SIDE, TIF } from '../../src/core/order-terms.ts';
import type { Amount18, RawPrice, RawQuantity, Sequence, TimestampNs } from '../../src/core/units.ts';
import { viewsOf } from '../../src/core/views.ts';
import { writeText } from '../../src/schema/fields.ts';
import {
  NewOrder,
  OrderAdmitted,
  type OrderRecordFields,
  ProtectionEnded,
  ProtectionTriggered,
  QuoteSetApplied,
  QuoteSetChange,
  QuoteSetEnded,
  TradeIdsReserved,
} from '../../src/schema/generated/messages.ts';
import { DATA_VERSION } from '../../src/storage/environment.ts';
import { playSeed } from '../simulation/campaign.ts';
import { type AskedInput, mustInputs } from '../support/asked.ts';
import { EMPTY_ORDER } from '../support/empty-order.ts';
import { type GoldenRecord, goldenOf, hasGolden, INPUT_KINDS, writeGolden } from '../support/golden-data.ts';
import { removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const SEED = 23;
const OPERATIONS = 2_600;
const CHAIN = '000000000000007a69';
const VAULT = `${'0d'.repeat(20)}${'0'.repeat(24)}@${CHAIN}`;
/** Of an asset that nothing else is about. */
const TOKEN = '77'.repeat(20).padEnd(64, '0');
const OTHER_TOKEN = '78'.repeat(20).padEnd(64, '0');
const SETTLER = '5e'.repeat(32) as UserId;

/** A deposit of the settler. */
function deposited(
  request: number,
  event: { readonly token: string; readonly baseUnits: bigint; readonly depositNonce: number },
): AskedInput {
  const tx = String(event.depositNonce).repeat(64);
  return { kind: 'deposit', request, chainId: CHAIN as ChainId, tx, logIndex: 0, user: SETTLER, ...event };
}

/** The name of the settlement before; its time is filled in. */
const SETTLEMENT = { user: SETTLER, place: 0, requestedNs: 0n as TimestampNs };

function settlement(request: number): AskedInput {
  const amount = (10n ** 17n) as Amount18;
  return {
    kind: 'settle',
    request,
    user: SETTLER,
    subAccount: 0,
    chainId: CHAIN as ChainId,
    vault: null,
    mode: 'spot',
    tokenOut: TOKEN,
    amountOut: amount,
    tokenIn: TOKEN,
    amountIn: amount,
    settler: SETTLER,
    maker: null,
    nonce: null,
    expiresNs: null,
    blockTime: 1,
    shortfall: null,
  };
}

/** What no simulated user or operator does. */
const OPERATING: readonly AskedInput[] = [
  { kind: 'putConfig', request: 1, config: 'chain', key: CHAIN, method: 'put', body: { kind: 'simulated' } },
  {
    kind: 'putConfig',
    request: 2,
    config: 'vault',
    key: VAULT,
    method: 'put',
    body: { administrators: ['5d5c99edf529335160ff180fa141dd4967fc00d2'], quorum: 1, confirmations: null },
  },
  {
    kind: 'putConfig',
    request: 3,
    config: 'settler',
    key: SETTLER,
    method: 'put',
    body: { chain_id: CHAIN, executor: 'e3'.repeat(20) },
  },
  {
    kind: 'putConfig',
    request: 4,
    config: 'settings',
    key: '',
    method: 'patch',
    body: { oracle_max_jump: '0.5', preflight_minimum: '0.02' },
  },
  { kind: 'setPrices', request: 5, body: { prices: [{ asset_id: '1', price: '1', source: 'far' }] } },
  { kind: 'clockMoved', request: 7 },
  {
    kind: 'operatorCall',
    request: 8,
    by: 'desk',
    method: 'PUT',
    path: '/operator/stream-caps',
    changes: [{ member: 'default', before: '10', after: '11' }],
  },
  { kind: 'statement', request: 8, subject: 'golden', text: 'ringbook/golden/v1\n' },
  { kind: 'renameSubAccount', request: 8, user: 'd4'.repeat(32) as UserId, index: 0, name: 'golden' },
  {
    kind: 'addSigner',
    request: 8,
    user: SETTLER,
    signer: { scheme: 'Secp256k1', key: new Uint8Array(33).fill(2) },
    weight: 1,
    sessionDurationNs: 10n ** 18n,
    ceNonce: 0,
  },
  {
    kind: 'addSigner',
    request: 8,
    user: SETTLER,
    signedBy: { hasMaster: false, coSigners: [{ scheme: 'Secp256k1', key: new Uint8Array(33).fill(2) }] },
    signer: { scheme: 'WebAuthn', key: new Uint8Array(33).fill(3) },
    weight: 2,
    sessionDurationNs: null,
    ceNonce: 1,
  },
  { kind: 'liquidationStep', user: SETTLER, subAccount: 1 },
  { kind: 'accountCleared', request: 9, user: SETTLER, subAccount: 1, through: [] },
  {
    kind: 'nodeOrderRefused',
    request: 10,
    user: SETTLER,
    subAccount: 1,
    orderId: 'sys-liq-1-1' as OrderId,
    isFinal: true,
  },
  { kind: 'backstopStep', index: 2 },
  {
    kind: 'putAsset',
    request: 11,
    assetId: '77' as AssetId,
    method: 'put',
    body: { symbol: 'GLD', tokens: [{ token: TOKEN, chain_id: CHAIN, decimals: 6 }] },
  },
  { kind: 'putConfig', request: 12, config: 'withdrawal-delay', key: '', method: 'put', body: { min_delay: 0 } },
  deposited(13, { token: TOKEN, baseUnits: 1_000_000n, depositNonce: 0 }),
  ...[300n, 200n].map((thousandths, at) => ({
    kind: 'withdraw' as const,
    request: 14 + at,
    user: SETTLER,
    token: TOKEN,
    chainId: CHAIN as ChainId,
    amount: (thousandths * 10n ** 15n) as Amount18,
    target: '7c'.repeat(20).padEnd(64, '0'),
    nonce: at === 0 ? null : 1,
    isShort: false,
  })),
  {
    kind: 'deposit',
    request: 13,
    chainId: CHAIN as ChainId,
    tx: 'de'.repeat(32),
    logIndex: 0,
    user: 'e4'.repeat(32) as UserId,
    token: TOKEN,
    baseUnits: 1_000_000n,
    depositNonce: 0,
    setup: {
      masterWeight: 2,
      thresholds: { low: 1, medium: 2, high: 3 },
      signers: [
        { scheme: 'P256', key: new Uint8Array(33).fill(2), weight: 1, expiresAtNs: null, maxSigningWindowNs: 1n },
        { scheme: 'Ed25519', key: new Uint8Array(32).fill(4), weight: 1, expiresAtNs: 1n, maxSigningWindowNs: null },
      ],
    },
  },
  { kind: 'withdrawalsDue' },
  { kind: 'vaultCheckpoint', request: 16, chainId: CHAIN as ChainId, blockTime: 1 },
  { kind: 'approvalSigned', request: 17, user: SETTLER, place: 0, sequence: 1, signatures: ['11'.repeat(65)] },
  {
    kind: 'withdrew',
    request: 18,
    chainId: CHAIN as ChainId,
    user: SETTLER,
    token: TOKEN,
    nonce: 0,
    baseUnits: 300_000n,
  },
  // A reorganisation drops it, and it is executed again.
  {
    kind: 'payoutVanished',
    request: 18,
    chainId: CHAIN as ChainId,
    user: SETTLER,
    token: TOKEN,
    nonce: 0,
    baseUnits: 300_000n,
    counter: 0,
  },
  {
    kind: 'withdrew',
    request: 18,
    chainId: CHAIN as ChainId,
    user: SETTLER,
    token: TOKEN,
    nonce: 0,
    baseUnits: 300_000n,
  },
  {
    kind: 'forcedWithdrawal',
    request: 18,
    chainId: CHAIN as ChainId,
    user: SETTLER,
    token: TOKEN,
    nonce: 0,
    baseUnits: 1_000n,
  },
  { kind: 'vaultCheckpoint', request: 19, chainId: CHAIN as ChainId, blockTime: 1 },
  { kind: 'approvalLapsed', request: 20, user: SETTLER, place: 1, sequence: 2, blockTime: 2 ** 40, counter: 1 },
  {
    kind: 'withdraw',
    request: 21,
    user: SETTLER,
    token: TOKEN,
    chainId: CHAIN as ChainId,
    amount: (10n ** 17n) as Amount18,
    target: '7c'.repeat(20).padEnd(64, '0'),
    nonce: null,
    isShort: false,
  },
  { kind: 'cancelWithdrawal', request: 22, user: SETTLER, token: TOKEN, chainId: CHAIN as ChainId, nonce: 1 },
  {
    kind: 'putAsset',
    request: 23,
    assetId: '77' as AssetId,
    method: 'patch',
    body: {
      rebalancing: { mode: 'fixed', deposit_rate: '0.01', withdrawal_rate: '0.02' },
      tokens: [{ token: TOKEN, chain_id: CHAIN, decimals: 6, max_deposits: '2000000000000000000' }],
    },
  },
  // Over the cap: a lot, of which a withdrawal takes some.
  deposited(24, { token: TOKEN, baseUnits: 5_000_000n, depositNonce: 1 }),
  {
    kind: 'withdraw',
    request: 25,
    user: SETTLER,
    token: TOKEN,
    chainId: CHAIN as ChainId,
    amount: (10n ** 18n) as Amount18,
    target: '7c'.repeat(20).padEnd(64, '0'),
    nonce: null,
    isShort: false,
  },
  deposited(26, { token: OTHER_TOKEN, baseUnits: 7n, depositNonce: 2 }),
  {
    kind: 'putAsset',
    request: 27,
    assetId: '77' as AssetId,
    method: 'patch',
    body: {
      tokens: [
        { token: TOKEN, chain_id: CHAIN, decimals: 6 },
        { token: OTHER_TOKEN, chain_id: CHAIN, decimals: 0 },
      ],
    },
  },
  { kind: 'lotsDue' },
  {
    kind: 'vaultDeviation',
    request: 27,
    chainId: CHAIN as ChainId,
    asset: '77' as AssetId,
    missing: (10n ** 17n) as Amount18,
  },
  {
    kind: 'acceptDeviation',
    request: 27,
    chainId: CHAIN as ChainId,
    asset: '77' as AssetId,
    amount: (10n ** 17n) as Amount18,
  },
  {
    kind: 'chainStep',
    request: 27,
    chainId: CHAIN as ChainId,
    event: 'deposit',
    revision: 0,
    step: {
      kind: 'begin',
      cursor: {
        vault: '0d'.repeat(20),
        nextBlock: 1,
        anchors: [{ number: 0, hash: 'ab'.repeat(32) }],
        recent: [],
        missing: [],
        stopped: null,
      },
    },
  },
  {
    kind: 'chainStep',
    request: 27,
    chainId: CHAIN as ChainId,
    event: 'deposit',
    revision: 1,
    step: {
      kind: 'advance',
      ends: [{ number: 7, hash: 'cd'.repeat(32) }],
      booked: [{ block: 7, what: `${SETTLER}/2/${OTHER_TOKEN}/7` }],
      until: 0,
    },
  },
  { kind: 'creditUnclaimed', request: 28, chainId: CHAIN as ChainId, user: SETTLER, counter: 2 },
  settlement(31),
  { kind: 'settlementSigned', request: 32, ...SETTLEMENT, signature: '11'.repeat(65) },
  {
    kind: 'settled',
    request: 33,
    chainId: CHAIN as ChainId,
    user: SETTLER,
    subAccount: 0,
    nonce: 0,
    tokenOut: TOKEN,
    baseUnitsOut: 100_000n,
    tokenIn: TOKEN,
    baseUnitsIn: 100_000n,
    mode: 'spot',
    settler: SETTLER,
  },
  {
    kind: 'settlementVanished',
    request: 33,
    chainId: CHAIN as ChainId,
    user: SETTLER,
    subAccount: 0,
    nonce: 0,
    tokenOut: TOKEN,
    baseUnitsOut: 100_000n,
    tokenIn: TOKEN,
    baseUnitsIn: 100_000n,
    counter: 0,
  },
  settlement(34),
  { kind: 'settlementRefused', request: 35, ...SETTLEMENT },
  settlement(36),
  { kind: 'settlementLapsed', request: 37, ...SETTLEMENT, blockTime: 2 ** 40, counter: 1 },
  { kind: 'restarted', clean: false },
  { kind: 'takeover', epoch: 1, node: 'a', run: 'a1', clean: false, oms: 'http://a:3000', mds: null },
  { kind: 'markTimer', request: 38, user: SETTLER, runs: true },
  { kind: 'handover', to: 'b' },
  { kind: 'takeover', epoch: 2, node: 'b', run: 'b1', clean: true, oms: null, mds: null },
];

/** The first market gives trade ids away. */
function reserved(before: readonly GoldenRecord[], timeNs: TimestampNs): GoldenRecord {
  const state = createClearingState();
  for (const { payload } of before) applyBatch(state, decodeBatch(payload), []);
  const { sequence, lastTradeId } = must(state.markets[0], 'there is a market');
  const views = viewsOf(new ArrayBuffer(TradeIdsReserved.bytes), 0, TradeIdsReserved.bytes);
  const [next, firstTradeId] = [(sequence + 1) as Sequence, (lastTradeId + 1) as Sequence];
  TradeIdsReserved.write(views, 0, { marketIndex: 0, sequence: next, timeNs, firstTradeId, count: 4 });
  const batch = new BatchBuffer();
  batch.add(TradeIdsReserved.typeId, views, 0, TradeIdsReserved.bytes);
  return { timeNs, payload: batch.seal(timeNs, []).slice() };
}

/** An order with co-signers is admitted; its signatures are in its message, its record in the tables. */
function coSigned(before: readonly GoldenRecord[], timeNs: TimestampNs): GoldenRecord {
  const state = createClearingState();
  for (const { payload } of before) applyBatch(state, decodeBatch(payload), []);
  const sequence = (must(state.markets[0], 'there is a market').sequence + 1) as Sequence;
  const text = '{"order_id":"co-signed"}';
  const signers = (['Ed25519', 'Secp256k1', 'P256', 'WebAuthn'] as const).map((scheme, at) => {
    return {
      scheme,
      key: new Uint8Array(keyBytesOf(scheme)).fill(at),
      signature: new Uint8Array(64 + 400 * at).fill(at),
    };
  });
  const signatures = storedSignatures({ signature: new Uint8Array(), additionalSigners: signers });
  const bytes = OrderAdmitted.bytes + NewOrder.bytes + text.length + signatures.length;
  const v = viewsOf(new ArrayBuffer((bytes + 7) & ~7), 0, (bytes + 7) & ~7);
  const order: OrderRecordFields = {
    ...EMPTY_ORDER,
    ...{ orderSequence: sequence, prioritySequence: sequence, marketIndex: 0, user: SETTLER, kind: 0, tif: TIF.gtc },
    ...{
      orderId: 'co-signed' as OrderId,
      creationNs: timeNs,
      timestampNs: timeNs,
      admittedNs: timeNs,
      lastUpdateNs: timeNs,
    },
    ...{ price: 100 as RawPrice, quantity: 1_000 as RawQuantity, enabledQuantity: 1_000, side: SIDE.sell },
    flags: ORDER_FLAG.isSpot,
    maxFeeRate: 50_000,
  };
  OrderAdmitted.write(v, 0, { marketIndex: 0, sequence, timeNs, refusal: 0 });
  const lengths = { textBytes: text.length, signaturesBytes: signatures.length };
  NewOrder.write(v, OrderAdmitted.bytes, {
    requestId: 0,
    receivedNs: timeNs,
    order,
    signature: new Uint8Array(),
    ...lengths,
  });
  writeText(v, OrderAdmitted.bytes + NewOrder.bytes, text);
  v.u8.set(signatures, OrderAdmitted.bytes + NewOrder.bytes + text.length);
  const batch = new BatchBuffer();
  batch.add(OrderAdmitted.typeId, v, 0, bytes);
  return { timeNs, payload: batch.seal(timeNs, []).slice() };
}

/** A protection group is defined, trips, has its freeze ended and reset, and is removed; another one stays frozen. */
function protectedBy(before: readonly GoldenRecord[], timeNs: TimestampNs): GoldenRecord {
  const state = createClearingState();
  for (const { payload } of before) applyBatch(state, decodeBatch(payload), []);
  const { sequence, definition } = must(state.markets[0], 'there is a market');
  const { assetId: asset, marketIndex } = definition;
  const amount = (10n ** 18n) as Amount18;
  const terms = {
    ...{ windowMs: 1_000, frozenMs: 0, maxFills: 20, maxQuantity: amount, maxNotional: null },
    minFillNotional: (10n * amount) as Amount18,
  };
  const of = (group: string): { request: number; user: UserId; asset: AssetId; group: string } => {
    return { request: 40, user: SETTLER, asset, group };
  };
  const batch = new BatchBuffer();
  batch.addPlain({ kind: 'putProtection', ...of('g1'), terms }, timeNs);
  batch.addPlain({ kind: 'putProtection', ...of('g2'), terms: { ...terms, maxFills: null } }, timeNs);
  const triggered = viewsOf(new ArrayBuffer(ProtectionTriggered.bytes), 0, ProtectionTriggered.bytes);
  const [first, second, third] = [1, 2, 3].map((more) => (sequence + more) as Sequence) as [
    Sequence,
    Sequence,
    Sequence,
  ];
  const trip = { marketIndex, timeNs, user: SETTLER, limit: 1 as const, frozenUntilNs: 0n as TimestampNs };
  for (const [slot, of] of [first, second].entries()) {
    ProtectionTriggered.write(triggered, 0, { ...trip, sequence: of, slot: slot + 1 });
    batch.add(ProtectionTriggered.typeId, triggered, 0, ProtectionTriggered.bytes);
  }
  const ended = viewsOf(new ArrayBuffer(ProtectionEnded.bytes), 0, ProtectionEnded.bytes);
  ProtectionEnded.write(ended, 0, { marketIndex, timeNs, user: SETTLER, sequence: third, slot: 1, trip: first });
  batch.add(ProtectionEnded.typeId, ended, 0, ProtectionEnded.bytes);
  batch.addPlain({ kind: 'resetProtection', ...of('g1'), trip: first }, timeNs);
  batch.addPlain({ kind: 'deleteProtection', ...of('g1') }, timeNs);
  return { timeNs, payload: batch.seal(timeNs, []).slice() };
}

/** A quote set of two entries comes into force, and its mark is raised. */
function quoted(before: readonly GoldenRecord[], timeNs: TimestampNs): GoldenRecord {
  const state = createClearingState();
  for (const { payload } of before) applyBatch(state, decodeBatch(payload), []);
  const { sequence, lastTradeId } = must(state.markets[0], 'there is a market');
  const first = (sequence + 1) as Sequence;
  const text = '{"set_id":"golden"}';
  const bytes = (QuoteSetApplied.bytes + 2 * QuoteSetChange.bytes + text.length + 7) & ~7;
  const v = viewsOf(new ArrayBuffer(bytes), 0, bytes);
  QuoteSetApplied.write(v, 0, {
    ...{ sequence: first, timeNs, requestId: 0, revisionNs: timeNs, goodUntilNs: 0n as TimestampNs, lastTradeId },
    ...{ lastNumber: 2, markFloorNs: 0n as TimestampNs, numberFloor: 0, sequences: 3, maxFeeRate: 500 },
    ...{ marketIndex: 0, user: SETTLER, setId: 'golden', signature: new Uint8Array(64).fill(5), subAccount: 0 },
    ...{ flags: ORDER_FLAG.isSpot | ORDER_FLAG.postOnly, textBytes: text.length, signaturesBytes: 0, changes: 2 },
    ...{ kept: 0, addCode: 0, slot: 1, protectionGroup: 0, termsChanged: true, isOver: false },
  });
  for (const [at, side] of [SIDE.buy, SIDE.sell].entries()) {
    const order = (first + 1 + at) as Sequence;
    QuoteSetChange.write(v, QuoteSetApplied.bytes + at * QuoteSetChange.bytes, {
      ...{ order, prioritySequence: order, price: (100 + at) as RawPrice, rests: 7, number: 1 + at, side },
      change: QUOTE_CHANGE.created,
    });
  }
  writeText(v, QuoteSetApplied.bytes + 2 * QuoteSetChange.bytes, text);
  const batch = new BatchBuffer();
  batch.add(QuoteSetApplied.typeId, v, 0, QuoteSetApplied.bytes + 2 * QuoteSetChange.bytes + text.length);
  const marked = viewsOf(new ArrayBuffer(QuoteSetEnded.bytes), 0, QuoteSetEnded.bytes);
  const markNs = (timeNs + 1n) as TimestampNs;
  const raised = { sequence: (first + 3) as Sequence, timeNs, markNs, marketIndex: 0, user: SETTLER, slot: 1 };
  QuoteSetEnded.write(marked, 0, { ...raised, end: 0 });
  batch.add(QuoteSetEnded.typeId, marked, 0, QuoteSetEnded.bytes);
  return { timeNs, payload: batch.seal(timeNs, []).slice() };
}

/** One record each. */
function operated(after: TimestampNs): GoldenRecord[] {
  let requestedNs = after;
  return mustInputs(OPERATING).map((input, at) => {
    const timeNs = (after + BigInt(at + 1)) as TimestampNs;
    if (input.kind === 'settle') requestedNs = timeNs;
    const batch = new BatchBuffer();
    batch.addPlain(('requestedNs' in input ? { ...input, requestedNs } : input) as NodeInput, timeNs);
    return { timeNs, payload: batch.seal(timeNs, []).slice() };
  });
}

if (hasGolden(DATA_VERSION)) throw new Error(`version ${DATA_VERSION} has its golden data`);
const records: GoldenRecord[] = [];
await playSeed({ seed: SEED, operations: OPERATIONS }, undefined, (journal) => records.push(...journal));
records.push(reserved(records, records.at(-1)?.timeNs ?? (0n as TimestampNs)));
records.push(coSigned(records, records.at(-1)?.timeNs ?? (0n as TimestampNs)));
records.push(protectedBy(records, records.at(-1)?.timeNs ?? (0n as TimestampNs)));
records.push(quoted(records, records.at(-1)?.timeNs ?? (0n as TimestampNs)));
records.push(...operated(records.at(-1)?.timeNs ?? (0n as TimestampNs)));
const kinds = new Set(records.flatMap(({ payload }) => decodeBatch(payload).inputs.map(({ kind }) => kind)));
const missing = Object.keys(INPUT_KINDS).filter((kind) => !kinds.has(kind as keyof typeof INPUT_KINDS));
if (missing.length > 0) throw new Error(`no input of the kinds ${missing.join(', ')}: draw another seed`);
const directory = temporaryDirectory();
const golden = await goldenOf(DATA_VERSION, records, directory);
removeDirectory(directory);
process.stdout.write(`${records.length} records, ${golden.hashes.length} states, ${writeGolden(golden)} bytes\n`);
